//! What the parser of documents refuses beyond the worked examples, and that it reads what it writes.

use crate::plans::{TRANSFER, parse, tree};
use serde_json::{Value, json};
use tiga_plan::document::{Document, DocumentError};

#[test]
fn other_rules_of_parsing() {
    let refused = |change: &dyn Fn(&mut Value)| {
        let mut tree = tree(&["a: r(x)", "b: <- a"]);
        change(&mut tree);
        parse(&tree).unwrap_err()
    };
    assert_eq!(refused(&|t| t["invocations"] = json!({})), DocumentError::List("invocations"));
    assert_eq!(refused(&|t| t["resources"] = json!(1)), DocumentError::List("resources"));
    assert_eq!(refused(&|t| drop(t.as_object_mut().unwrap().remove("terminals"))), DocumentError::List("terminals"));
    assert!(matches!(refused(&|t| t["terminals"] = json!([""])), DocumentError::TerminalName(_)));
    assert_eq!(refused(&|t| t["invocations"] = json!([])), DocumentError::NoInvocations);
    let twice = |t: &mut Value| t["invocations"][1]["name"] = json!("a");
    assert_eq!(refused(&twice), DocumentError::InvocationName("a".into()));
    let silent = |t: &mut Value| t["invocations"][0]["executable_symbol"] = json!("");
    assert_eq!(refused(&silent), DocumentError::Symbol("a".into()));
    for version in [json!(-1), json!(1.5), json!("0"), json!(true)] {
        let negative = |t: &mut Value| t["invocations"][1]["snapshot_version"] = version.clone();
        assert!(matches!(refused(&negative), DocumentError::Version(_)), "{version}");
    }
    let mode = |t: &mut Value| t["invocations"][0]["accesses"][0]["mode"] = json!("peek");
    assert!(matches!(refused(&mode), DocumentError::Invocation(_)));
    let no_kind = |t: &mut Value| drop(t["invocations"][0].as_object_mut().unwrap().remove("task_kind"));
    assert!(matches!(refused(&no_kind), DocumentError::Invocation(_)));
    let twins = |t: &mut Value| {
        let resource = json!({
            "name": "x", "memory_space": "ram", "layout": "contiguous", "device": "host:0",
            "capacity_bytes": 8, "snapshot_version": 0, "external": true,
        });
        t["resources"] = json!([resource.clone(), resource]);
    };
    assert_eq!(refused(&twins), DocumentError::ResourceName("x".into()));
}

#[test]
fn a_document_comes_back_byte_for_byte() {
    for text in [TRANSFER.to_owned(), tree(&["a: w(x@p/0) rw(y)", "b: r(x) <- a"]).to_string()] {
        let mut tree: Value = serde_json::from_str(&text).unwrap();
        tree["invocations"][0]["bytes"] = json!({"z": [1, 0.1, null], "a": "\u{1}é"});
        let document = parse(&tree).unwrap();
        let written = document.to_json();
        let again = Document::parse(written.as_bytes()).unwrap();
        assert_eq!(again, document);
        assert_eq!(again.to_json(), written);
        assert_eq!(again.invocations[0].metadata["bytes"]["a"], json!("\u{1}é"));
    }
}
