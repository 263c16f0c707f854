//! Who may import whom: the table in `docs/architecture.md` against the manifests.

use super::{Finding, Tree};
use std::collections::{BTreeMap, BTreeSet};

/// Where the table stands.
const TABLE: &str = "docs/architecture.md";

/// Foreign crates that only one of ours may use: what must be absent elsewhere stays absent.
const RESERVED: &[(&str, &str)] = &[
    ("cranelift-codegen", "tiga-backend-cranelift"),
    ("inkwell", "tiga-backend-llvm"),
    ("llvm-sys", "tiga-backend-llvm"),
    ("melior", "tiga-backend-mlir"),
    ("mlir-sys", "tiga-backend-mlir"),
];

/// A row of the table.
struct Row {
    line: usize,
    folder: String,
    /// Allowed imports, each with whether it must be optional; `None` for "anything".
    imports: Option<BTreeMap<String, bool>>,
}

/// A dependency as a manifest writes it.
struct Dependency {
    name: String,
    optional: bool,
    inherited: bool,
}

/// A crate of the workspace.
struct Manifest {
    path: String,
    name: String,
    regular: Vec<Dependency>,
    /// For tests and build scripts: exempt from the table, not from inheriting their version.
    other: Vec<Dependency>,
    lints: bool,
}

/// Every crate has a row and every row a crate; imports follow the row; versions and lints come from the root.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let (rows, manifests) = match (rows(tree), manifests(tree)) {
        (Ok(rows), Ok(manifests)) => (rows, manifests),
        (Err(finding), _) | (_, Err(finding)) => return vec![finding],
    };
    let ours: BTreeSet<&str> = manifests.iter().map(|manifest| manifest.name.as_str()).collect();
    for (name, row) in &rows {
        if !ours.contains(name.as_str()) {
            findings.push(Finding::new(TABLE, row.line, format!("the table has a row for `{name}`, no crate")));
        }
    }
    for manifest in &manifests {
        check_manifest(manifest, rows.get(&manifest.name), &ours, &mut findings);
    }
    findings
}

fn check_manifest(manifest: &Manifest, row: Option<&Row>, ours: &BTreeSet<&str>, findings: &mut Vec<Finding>) {
    let mut say = |message: String| findings.push(Finding::new(&manifest.path, 1, message));
    let name = &manifest.name;
    let Some(row) = row else {
        say(format!("crate `{name}` has no row in the table of {TABLE}"));
        return;
    };
    let folder = manifest.path.trim_end_matches("/Cargo.toml");
    if row.folder != folder {
        say(format!("`{name}` lies in {folder}, its row in {TABLE} says {}", row.folder));
    }
    for dependency in &manifest.regular {
        let other = dependency.name.as_str();
        if let Some((_, owner)) = RESERVED.iter().find(|(foreign, owner)| *foreign == other && owner != name) {
            say(format!("`{name}` imports `{other}`, which only `{owner}` may use"));
        }
        let (true, Some(imports)) = (ours.contains(other), &row.imports) else { continue };
        match imports.get(other) {
            None => say(format!("`{name}` imports `{other}`: the table of {TABLE} does not allow it")),
            Some(true) if !dependency.optional => say(format!("`{name}` must import `{other}` behind a feature")),
            Some(_) => {}
        }
    }
    for dependency in manifest.regular.iter().chain(&manifest.other).filter(|dependency| !dependency.inherited) {
        say(format!("`{}`: versions stand in the root; write `workspace = true`", dependency.name));
    }
    if !manifest.lints {
        say(format!("`{name}` does not take its lints from the root: `[lints] workspace = true`"));
    }
}

/// The rows of the table under `## Crates`: crate | folder | holds | may import.
fn rows(tree: &Tree) -> Result<BTreeMap<String, Row>, Finding> {
    let text = tree.get(TABLE).ok_or_else(|| Finding::new(TABLE, 1, "the table of crates is missing"))?;
    let mut rows = BTreeMap::new();
    let lines = text.lines().enumerate().skip_while(|(_, line)| *line != "## Crates").skip(1);
    for (number, line) in lines.take_while(|(_, line)| !line.starts_with("## ")) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, name, folder, _, imports, _] = cells[..] else { continue };
        let Some(name) = quoted(name).next() else { continue };
        let optional = |rest: &str| rest.trim_start().starts_with("(optional)");
        let imports = (imports != "anything").then(|| {
            let pieces = imports.split(',').filter_map(|piece| {
                let name = quoted(piece).next()?;
                Some((name.to_owned(), optional(piece.rsplit('`').next().unwrap_or_default())))
            });
            pieces.collect()
        });
        let folder = quoted(folder).next().unwrap_or_default().to_owned();
        rows.insert(name.to_owned(), Row { line: number + 1, folder, imports });
    }
    Ok(rows)
}

/// The parts of `text` between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The manifests of all crates: every `Cargo.toml` with a package. One that is a workspace of its own is no part of this
/// one: nothing here can import it, and its versions have no other place.
fn manifests(tree: &Tree) -> Result<Vec<Manifest>, Finding> {
    let files = tree.iter().filter(|(path, _)| *path == "Cargo.toml" || path.ends_with("/Cargo.toml"));
    files.filter_map(|(path, text)| manifest(path, text).transpose()).collect()
}

fn manifest(path: &str, text: &str) -> Result<Option<Manifest>, Finding> {
    let table: toml::Table = text.parse().map_err(|error| Finding::new(path, 1, format!("not TOML: {error}")))?;
    let Some(name) = table.get("package").and_then(|package| package.get("name")).and_then(|name| name.as_str()) else {
        return Ok(None);
    };
    if path != "Cargo.toml" && table.contains_key("workspace") {
        return Ok(None);
    }
    let mut regular = dependencies(table.get("dependencies"));
    let mut other: Vec<_> =
        ["dev-dependencies", "build-dependencies"].iter().flat_map(|key| dependencies(table.get(*key))).collect();
    for target in table.get("target").and_then(|targets| targets.as_table()).into_iter().flat_map(|t| t.values()) {
        regular.extend(dependencies(target.get("dependencies")));
        other.extend(dependencies(target.get("dev-dependencies")));
    }
    let lints = table.get("lints").and_then(|lints| lints.get("workspace")).and_then(|value| value.as_bool());
    let lints = lints == Some(true);
    Ok(Some(Manifest { path: path.to_owned(), name: name.to_owned(), regular, other, lints }))
}

fn dependencies(table: Option<&toml::Value>) -> Vec<Dependency> {
    let entries = table.and_then(|table| table.as_table()).into_iter().flatten();
    let flag = |value: &toml::Value, key: &str| value.get(key).and_then(|value| value.as_bool()) == Some(true);
    let dependency = |(name, value): (&String, &toml::Value)| Dependency {
        name: name.clone(),
        optional: flag(value, "optional"),
        inherited: flag(value, "workspace"),
    };
    entries.map(dependency).collect()
}
