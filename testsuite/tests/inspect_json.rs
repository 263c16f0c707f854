//! What `tiga inspect --format=json` prints is what docs/inspect.schema.json says, and all that the text form says.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use testsuite::lit::Tools;
use tiga_bundle::{Bundle, Contents, write};
use tiga_source::steers;

fn tools() -> Tools {
    Tools::new(Path::new(env!("CARGO_MANIFEST_DIR")), Path::new(env!("CARGO_TARGET_TMPDIR"))).unwrap()
}

/// What the command prints.
fn inspect(tools: &Tools, bundle: &Path, options: &[&str]) -> String {
    let out = tools.command("tiga").arg("inspect").arg(bundle).args(options).output().unwrap();
    assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

/// The document of a bundle, once it fits the schema; `text` is as it was printed.
fn document(tools: &Tools, bundle: &Path) -> (String, Value) {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/inspect.schema.json");
    let schema = serde_json::from_str(&std::fs::read_to_string(schema).unwrap()).unwrap();
    let open = jsonschema::validator_for(&schema).unwrap();
    let schema = jsonschema::validator_for(&closed(schema)).unwrap();
    let text = inspect(tools, bundle, &["--format=json"]);
    let tree: Value = serde_json::from_str(&text).unwrap();
    let errors: Vec<String> = schema.iter_errors(&tree).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{}\n{text}", errors.join("\n"));
    let mut more = tree.clone();
    more["kernels"][0]["colour"] = "red".into();
    assert!(!schema.is_valid(&more), "a field that is not described");
    assert!(open.is_valid(&more), "fields may be added: readers accept them");
    (text, tree)
}

/// The schema as published is open; here, what it does not describe is an error.
fn closed(mut schema: Value) -> Value {
    match &mut schema {
        Value::Object(fields) => {
            for part in fields.values_mut() {
                *part = closed(part.take());
            }
            if fields.get("type") == Some(&"object".into()) {
                fields.insert("additionalProperties".into(), false.into());
            }
        }
        Value::Array(parts) => parts.iter_mut().for_each(|part| *part = closed(part.take())),
        _ => {}
    }
    schema
}

/// The example compiled, in a folder of the test.
fn bundle(tools: &Tools, example: &str) -> PathBuf {
    let folder = tools.scratch(&format!("inspect-json-{example}")).unwrap();
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(format!("{example}.tg"));
    tools.succeeds(&folder, "tigac", &[model.to_str().unwrap(), "-o", "m.tgb"]);
    folder.join("m.tgb")
}

/// The items of a list.
fn list(tree: &Value) -> impl Iterator<Item = &Value> {
    tree.as_array().unwrap().iter()
}

/// A field that is text.
fn text<'a>(tree: &'a Value, field: &str) -> &'a str {
    tree[field].as_str().unwrap()
}

/// The text form, made of nothing but the fields of a document.
fn as_text(tree: &Value) -> String {
    let mut out = format!("format {}, language {}, ", tree["format"], text(tree, "language"));
    out += &format!("made by {}\nfloating point: {}\n", text(tree, "compiler"), text(tree, "floating_point"));
    for target in list(&tree["targets"]) {
        let features: Vec<&str> = list(&target["features"]).map(|feature| feature.as_str().unwrap()).collect();
        out += &format!("target {}: needs {}\n", text(target, "name"), features.join(" "));
    }
    list(&tree["programs"]).for_each(|program| out += &program_as_text(program));
    out += "kernels:\n";
    for kernel in list(&tree["kernels"]) {
        out += &format!("{}\n", format!("  {} {}", text(kernel, "symbol"), text(kernel, "shape")).trim_end());
        for variant in list(&kernel["variants"]) {
            let guard = variant["guard"].as_str().map(|guard| format!(" if {guard}")).unwrap_or_default();
            out += &format!("    {}{guard}\n", text(variant, "entry"));
        }
    }
    out += "entries:\n";
    for entry in list(&tree["entries"]) {
        out += &format!("  {:>10}  {}\n", entry["bytes"].as_u64().unwrap(), text(entry, "name"));
    }
    out
}

/// The type of a parameter, made of the fields that say it to programs.
fn type_of(param: &Value) -> String {
    if let Some(graph) = param.get("graph") {
        let (src, dst) = (text(graph, "src"), text(graph, "dst"));
        return if src == dst { format!("graph<{src}>") } else { format!("graph<{src} -> {dst}>") };
    }
    let (dtype, shape) = (text(&param["array"], "dtype"), list(&param["array"]["shape"]));
    let axes = shape.map(|axis| axis.as_str().unwrap()).collect::<Vec<_>>().join(", ");
    if axes.is_empty() { dtype.to_owned() } else { format!("{dtype}[{axes}]") }
}

fn program_as_text(program: &Value) -> String {
    let params = |field: &str| {
        let one = |param: &Value| format!("{}: {}", text(param, "name"), text(param, "type"));
        list(&program[field]).map(one).collect::<Vec<_>>().join(", ")
    };
    let mut out = format!("program {}({}) -> ({})\n", text(program, "name"), params("params"), params("results"));
    text(program, "doc").lines().for_each(|line| out += &format!("  {line}\n"));
    for param in list(&program["params"]).chain(list(&program["results"])) {
        assert_eq!(text(param, "type"), type_of(param), "the two forms of a type");
        if !text(param, "doc").is_empty() {
            out += &format!("  {}: {}\n", text(param, "name"), text(param, "doc").replace('\n', " "));
        }
    }
    let plan = &program["plan"];
    let (all, inner, resources) = (&plan["tasks"], &plan["tasks_in_loops_and_branches"], &plan["resources"]);
    out + &format!("  plan: {all} tasks, {inner} in loops and branches, {resources} resources\n")
}

#[test]
fn examples_fit_the_schema_and_say_what_the_text_says() {
    let tools = tools();
    for example in ["pagerank", "gat", "cg", "rgcn"] {
        let bundle = bundle(&tools, example);
        let (json, tree) = document(&tools, &bundle);
        assert_eq!(json, document(&tools, &bundle).0, "the same bytes again");
        assert_eq!(as_text(&tree), inspect(&tools, &bundle, &[]), "{example}");
    }
}

#[test]
fn what_a_bundle_says_of_itself_cannot_steer_a_terminal() {
    let tools = tools();
    let path = bundle(&tools, "spmv");
    let whole = Bundle::from_bytes(std::fs::read(&path).unwrap()).unwrap();
    let mut manifest = whole.manifest().clone();
    let hostile =
        "\u{1b}]0;owned\u{7} \u{9b}2J \u{202e}txt \"},{\"\\\n\u{2028}\u{2029}\u{61c}\u{200e}\u{200f}\u{2066}\u{2069}";
    manifest.programs[0].doc = hostile.into();
    manifest.programs[0].params[0].doc = hostile.into();
    manifest.kernels[0].shape = hostile.into();
    let kernel = |name: &String| (name.clone(), whole.kernels(name).unwrap().to_vec());
    let kernels: BTreeMap<_, _> = manifest.targets.iter().map(|target| kernel(&target.name)).collect();
    let plans = manifest.programs.iter().map(|program| whole.plan(&program.name).unwrap().clone()).collect();
    let mut contents = Contents { manifest, plans, kernels, ir: BTreeMap::new() };
    std::fs::write(&path, write(&contents).unwrap()).unwrap();
    let (text, tree) = document(&tools, &path);
    assert!(!text.contains(|c| c != '\n' && steers(c)), "{text:?}");
    assert_eq!(tree["programs"][0]["doc"], hostile);
    let text = inspect(&tools, &path, &[]);
    assert!(!text.contains(|c| c != '\n' && steers(c)), "{text:?}");
    // Names are not even read.
    contents.manifest.compiler = hostile.into();
    assert!(write(&contents).unwrap_err().to_string().contains("is no name"));
}
