//! Plans in a line a task, for the tests of the format.

use serde_json::{Value, json};
use tiga_plan::bind::{BindError, Bound, bind};
use tiga_plan::document::{Document, DocumentError};

/// An invocation from `name: w(x@scheme/part) r(y) <- a b`; arguments follow from the accesses.
pub(crate) fn invocation(line: &str) -> Value {
    let (name, rest) = line.split_once(':').unwrap();
    let (touches, waits) = rest.split_once("<-").unwrap_or((rest, ""));
    let mut arguments: Vec<Value> = Vec::new();
    let accesses = touches.split_whitespace().map(|touch| {
        let (mode, what) = touch.strip_suffix(')').unwrap().split_once('(').unwrap();
        let (binding, part) = what.split_once('@').map_or((what, None), |(b, p)| (b, p.split_once('/')));
        let mode = match mode {
            "r" => "read",
            "w" => "write",
            "rw" => "read_write",
            other => panic!("{other}"),
        };
        let argument = json!({"parameter": binding, "resource": binding});
        if !arguments.contains(&argument) {
            arguments.push(argument);
        }
        let mut access = json!({"binding": binding, "mode": mode, "snapshot_version": 0});
        if let Some((scheme, part)) = part {
            access["partitioning"] = json!(scheme);
            access["partition"] = json!(part);
        }
        access
    });
    let accesses: Vec<Value> = accesses.collect();
    json!({
        "name": name.trim(), "task_kind": "local", "phase": "execute", "executable_symbol": "k",
        "depends_on": waits.split_whitespace().collect::<Vec<_>>(), "snapshot_version": 0,
        "arguments": arguments, "accesses": accesses,
    })
}

/// A document of these invocations with the terminals that follow from their dependencies.
pub(crate) fn tree(lines: &[&str]) -> Value {
    let invocations: Vec<Value> = lines.iter().map(|line| invocation(line)).collect();
    let waited: Vec<&Value> = invocations.iter().flat_map(|task| task["depends_on"].as_array().unwrap()).collect();
    let mut terminals: Vec<&Value> = invocations.iter().map(|t| &t["name"]).filter(|n| !waited.contains(n)).collect();
    if terminals.is_empty() {
        terminals.push(&invocations[0]["name"]);
    }
    json!({"schema": "tiga.executable-bundle-plan.v1", "invocations": invocations, "terminals": terminals})
}

pub(crate) fn parse(tree: &Value) -> Result<Document, DocumentError> {
    Document::parse(tree.to_string().as_bytes())
}

/// Whatever the symbol, it is executable.
pub(crate) fn bind_any(document: &Document) -> Result<Bound<'_, ()>, BindError> {
    bind(document, &mut |_| Ok(Some(())))
}

pub(crate) fn document(lines: &[&str]) -> Document {
    parse(&tree(lines)).unwrap()
}

#[track_caller]
pub(crate) fn runs(lines: &[&str], order: &[&str], terminals: &[&str]) {
    let document = document(lines);
    let bound = bind_any(&document).unwrap();
    assert_eq!(bound.execution_order(), order);
    assert_eq!(bound.terminals(), terminals);
}

#[track_caller]
pub(crate) fn hazard(lines: &[&str], pair: [&str; 2], on: &[&str]) {
    match bind_any(&document(lines)).unwrap_err() {
        BindError::Hazard { left, right, bindings } => {
            assert_eq!(([left.as_str(), right.as_str()], bindings), (pair, on.iter().map(|b| b.to_string()).collect()));
        }
        other => panic!("{other}"),
    }
}

/// The document of section 9.1.
pub(crate) const TRANSFER: &str = r#"{"schema":"tiga.executable-bundle-plan.v1",
 "resources":[],
 "invocations":[
  {"name":"stage","task_kind":"storage-transfer","phase":"materialize","executable_symbol":"__gf_transfer",
   "depends_on":[],"snapshot_version":4,
   "arguments":[{"parameter":"source","resource":"w@ram"},{"parameter":"destination","resource":"w@nvme"}],
   "accesses":[{"binding":"w@ram","mode":"read","snapshot_version":4},{"binding":"w@nvme","mode":"write","snapshot_version":4}]},
  {"name":"drop","task_kind":"release","phase":"execute","executable_symbol":"__gf_release",
   "depends_on":["stage"],"snapshot_version":4,
   "arguments":[{"parameter":"instance","resource":"w@ram"}],
   "accesses":[{"binding":"w@ram","mode":"read_write","snapshot_version":4}]},
  {"name":"end","task_kind":"join","phase":"execute","executable_symbol":"__gf_join",
   "depends_on":["drop"],"snapshot_version":4,"arguments":[],"accesses":[]}],
 "terminals":["end"]}"#;
