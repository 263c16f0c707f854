//! The stored form comes back, and nothing else is accepted.

use super::*;
use crate::{passes, sample};

fn stored() -> String {
    let mut template = sample::looped();
    passes::complete(&mut template).unwrap();
    // The kinds and units that the sample has not; they keep their own laws.
    template.to_json()
}

#[test]
fn what_is_written_comes_back_byte_for_byte() {
    let text = stored();
    let template = Template::from_json(text.as_bytes()).unwrap();
    assert_eq!(template.to_json(), text);
    let mut complete = sample::looped();
    passes::complete(&mut complete).unwrap();
    assert_eq!(template, complete);
}

#[test]
fn every_kind_comes_back() {
    let size = |text| tiga_abi::SizeExpr::parse(text).unwrap();
    let (relation, leaf) = (|| "g".to_owned(), 512);
    let kernel = |units| TaskKind::Kernel { symbol: "k".into(), relation: Some("g".into()), units };
    let (id, body) = (ResourceId::from_u32(0), BodyId::from_u32(0));
    let looped = |trip| TaskKind::Loop { body, rotate: vec![Rotation { read: id, write: id, a: id, b: id }], trip };
    let kinds = [
        kernel(Units::Once),
        kernel(Units::Rows(size("N+1"))),
        kernel(Units::Blocks { extent: size("E"), size: 4096 }),
        kernel(Units::Leaves { relation: relation(), leaf }),
        kernel(Units::LongRows { relation: relation(), leaf }),
        looped(Trip::Counted(Count::Const(-1))),
        looped(Trip::Counted(Count::Resource(id))),
        looped(Trip::While { condition: id, at_most: Count::Const(200) }),
        TaskKind::Branch { condition: id, then_body: body, else_body: body },
        TaskKind::Join,
        TaskKind::Release,
        TaskKind::Transfer,
        TaskKind::Copy,
        TaskKind::BuildTranspose { relation: relation() },
        TaskKind::BuildJoined { relation: relation() },
        TaskKind::BuildUnits { relation: relation(), leaf },
    ];
    for kind in kinds {
        let tree = write_kind(&kind);
        assert_eq!(read_kind(Node::root(&tree), Limits { resources: 1, bodies: 1 }), Ok(kind));
    }
}

#[test]
fn another_version_is_refused_first() {
    let text = r#"{"schema": "tiga.plan-template.v2", "more": 1}"#;
    let TemplateError::Form(error) = Template::from_json(text.as_bytes()).unwrap_err() else { panic!() };
    assert!(matches!(error.problem, JsonProblem::Version { .. }));
}

/// Replaces each value of the tree in turn by something else; none may be accepted as if nothing had happened.
#[test]
fn hostile_values_are_refused_with_their_path() {
    let tree: Value = serde_json::from_str(&stored()).unwrap();
    let mut paths = Vec::new();
    collect(&tree, String::new(), &mut paths);
    assert!(paths.len() > 300);
    for path in paths {
        for evil in [json!(null), json!(-1), json!(u64::MAX), json!(1e300), json!("\u{0}"), json!({"x": [[]]})] {
            let mut changed = tree.clone();
            *changed.pointer_mut(&path).unwrap() = evil.clone();
            let text = changed.to_string();
            if let Ok(template) = Template::from_json(text.as_bytes()) {
                assert!(
                    Template::from_json(template.to_json().as_bytes()) == Ok(template),
                    "{path} = {evil} is accepted but does not come back"
                );
            }
        }
    }
}

fn collect(value: &Value, path: String, out: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().enumerate().for_each(|(i, v)| collect(v, format!("{path}/{i}"), out)),
        Value::Object(map) => map.iter().for_each(|(key, v)| collect(v, format!("{path}/{key}"), out)),
        _ => {}
    }
    out.push(path);
}

#[test]
fn text_cut_anywhere_is_refused() {
    let text = stored();
    for cut in (0..text.len() - 1).step_by(7) {
        assert!(matches!(Template::from_json(&text.as_bytes()[..cut]), Err(TemplateError::Form(_))), "{cut}");
    }
}
