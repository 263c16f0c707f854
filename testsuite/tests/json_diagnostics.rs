//! What `tigac --error-format=json` writes is what docs/diagnostics.schema.json says, for the example of every code.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use testsuite::lit::Tools;

/// The lines that a check of a text writes, each an object.
fn findings(tools: &Tools, model: &Path, text: &str) -> Vec<Value> {
    std::fs::write(model, text).unwrap();
    let out = tools.command("tigac").args(["check", "--error-format=json"]).arg(model).output().unwrap();
    assert!(matches!(out.status.code(), Some(0 | 1)), "{:?}\n{text}", out.status);
    let lines = String::from_utf8(out.stderr).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_page_s_example_fits_the_schema() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tools = Tools::new(root, Path::new(env!("CARGO_TARGET_TMPDIR"))).unwrap();
    let schema = std::fs::read_to_string(root.join("../docs/diagnostics.schema.json")).unwrap();
    let schema = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("example.tg");
    let mut seen = BTreeSet::new();
    let (mut replacements, mut several) = (0, false);
    for page in std::fs::read_dir(root.join("../docs/errors")).unwrap() {
        let page = std::fs::read_to_string(page.unwrap().path()).unwrap();
        let Some(example) = page.split("```tg\n").nth(1) else { continue };
        for finding in findings(&tools, &model, example.split("```").next().unwrap()) {
            let errors: Vec<String> = schema.iter_errors(&finding).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{}\n{finding:#}", errors.join("\n"));
            let primary = |span: &Value| span["is_primary"].as_bool().unwrap();
            let which: Vec<bool> = finding["spans"].as_array().unwrap().iter().map(primary).collect();
            assert!(which.iter().enumerate().all(|(at, primary)| *primary == (at == 0)), "{finding:#}");
            several |= which.len() > 1;
            seen.extend(finding["code"]["code"].as_str().map(str::to_owned));
            replacements += finding["children"].as_array().unwrap().iter().flat_map(|c| c["spans"].as_array()).count();
        }
    }
    assert!(seen.len() >= 75, "only {} codes", seen.len());
    assert!(replacements > 0 && several);
    let mut other = findings(&tools, &model, "program p(x: f32) -> (y: f32) { z }\n").remove(0);
    assert!(schema.is_valid(&other));
    other["level"] = "fatal".into();
    assert!(!schema.is_valid(&other), "the schema accepts anything");
}
