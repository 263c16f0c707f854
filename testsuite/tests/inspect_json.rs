//! What `tiga inspect --format=json` prints is what docs/inspect.schema.json says, and all that the text form says.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use testsuite::lit::Tools;
use tiga_bundle::{Bundle, Contents, write};

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
    let schema = jsonschema::validator_for(&schema).unwrap();
    let text = inspect(tools, bundle, &["--format=json"]);
    let tree: Value = serde_json::from_str(&text).unwrap();
    let errors: Vec<String> = schema.iter_errors(&tree).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{}\n{text}", errors.join("\n"));
    let mut more = tree.clone();
    more["kernels"][0]["colour"] = "red".into();
    assert!(!schema.is_valid(&more), "the schema accepts anything");
    (text, tree)
}

/// The example compiled, in a folder of the test.
fn bundle(tools: &Tools, example: &str) -> PathBuf {
    let folder = tools.scratch(&format!("inspect-json-{example}")).unwrap();
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(format!("{example}.tg"));
    tools.succeeds(&folder, "tigac", &[model.to_str().unwrap(), "-o", "m.tgb"]);
    folder.join("m.tgb")
}

/// Every string of a document, and every number as text.
fn words(tree: &Value, out: &mut Vec<String>) {
    match tree {
        Value::Array(items) => items.iter().for_each(|item| words(item, out)),
        Value::Object(fields) => fields.values().for_each(|field| words(field, out)),
        Value::String(text) => out.push(text.clone()),
        other => out.push(other.to_string()),
    }
}

#[test]
fn examples_fit_the_schema_and_say_what_the_text_says() {
    let tools = tools();
    for example in ["pagerank", "gat", "cg"] {
        let bundle = bundle(&tools, example);
        let (json, tree) = document(&tools, &bundle);
        assert_eq!(json, document(&tools, &bundle).0, "the same bytes again");
        let mut all = Vec::new();
        words(&tree, &mut all);
        let all = all.join("\n");
        let text = inspect(&tools, &bundle, &[]);
        // Names, types, numbers: whatever is no word of the form itself.
        for line in text.lines().filter(|line| !line.trim_start().starts_with("plan: ")) {
            let known = ["format", "language", "made", "by", "floating", "point", "target", "needs", "program", "if"];
            let skip = |word: &&str| !known.contains(word) && !matches!(*word, "->" | "kernels" | "entries");
            let separators = |c: char| c.is_whitespace() || "():,".contains(c);
            for word in line.split(separators).filter(|word| !word.is_empty()).filter(skip) {
                assert!(all.contains(word), "{example}: `{word}` of `{line}` is not in\n{json}");
            }
        }
        for program in tree["programs"].as_array().unwrap() {
            let plan = &program["plan"];
            let line = format!(
                "  plan: {} tasks, {} in loops and branches, {} resources\n",
                plan["tasks"], plan["tasks_in_loops_and_branches"], plan["resources"]
            );
            assert!(text.contains(&line), "{line}");
        }
    }
}

#[test]
fn what_a_bundle_says_of_itself_cannot_steer_a_terminal() {
    let tools = tools();
    let path = bundle(&tools, "spmv");
    let whole = Bundle::from_bytes(std::fs::read(&path).unwrap()).unwrap();
    let mut manifest = whole.manifest().clone();
    let hostile = "\u{1b}]0;owned\u{7} \u{9b}2J \u{202e}txt \"},{\"\\\n\u{2028}";
    manifest.programs[0].doc = hostile.into();
    manifest.compiler = hostile.into();
    let kernel = |name: &String| (name.clone(), whole.kernels(name).unwrap().to_vec());
    let kernels: BTreeMap<_, _> = manifest.targets.iter().map(|target| kernel(&target.name)).collect();
    let plans = manifest.programs.iter().map(|program| whole.plan(&program.name).unwrap().clone()).collect();
    std::fs::write(&path, write(&Contents { manifest, plans, kernels, ir: BTreeMap::new() }).unwrap()).unwrap();
    let (text, tree) = document(&tools, &path);
    let steering = |c: char| c != '\n' && (c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c));
    assert!(!text.contains(steering), "{text:?}");
    assert_eq!(tree["programs"][0]["doc"], hostile);
    assert_eq!(tree["compiler"], hostile);
}
