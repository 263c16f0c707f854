//! The JSON form of `tiga inspect`, by hand: its names are a promise (`docs/inspect.schema.json`), those inside are not.

use crate::inspect::type_text;
use serde_json::{Value, json};
use tiga_bundle::{Bundle, Guard, Kernel, Param, Program, SymbolDecl, Target, Type, Variant};
use tiga_plan::Template;
use tiga_source::steers;

/// The version of this form: a new field leaves it, any other change raises it.
const VERSION: u32 = 1;

/// All that a bundle says of itself. The same bundle gives the same text.
pub fn document(bundle: &Bundle) -> String {
    let manifest = bundle.manifest();
    let entries = bundle.entries().map(|(name, bytes)| json!({"name": name, "bytes": bytes}));
    let mut tree = json!({
        "version": VERSION,
        "format": manifest.format,
        "language": manifest.language,
        "compiler": manifest.compiler,
        "floating_point": manifest.fp.name(),
        "targets": manifest.targets.iter().map(target).collect::<Vec<_>>(),
        "programs": manifest.programs.iter().map(|p| program(p, bundle.plan(&p.name))).collect::<Vec<_>>(),
        "kernels": manifest.kernels.iter().map(kernel).collect::<Vec<_>>(),
        "entries": entries.collect::<Vec<_>>(),
    });
    tree.sort_all_objects();
    harmless(&format!("{tree:#}\n"))
}

fn target(target: &Target) -> Value {
    json!({"name": target.name, "features": target.features})
}

fn program(program: &Program, plan: Option<&Template>) -> Value {
    let size = |decl: &SymbolDecl| json!({"name": &*decl.name, "kind": decl.kind.name(), "origin": decl.origin});
    let plan = plan.map(|plan| {
        json!({
            "tasks": plan.root.tasks.len(),
            "tasks_in_loops_and_branches": plan.bodies.values().map(|body| body.tasks.len()).sum::<usize>(),
            "resources": plan.resources.len(),
        })
    });
    json!({
        "name": program.name,
        "doc": program.doc,
        "sizes": program.symbols.iter().map(size).collect::<Vec<_>>(),
        "params": program.params.iter().map(param).collect::<Vec<_>>(),
        "results": program.results.iter().map(param).collect::<Vec<_>>(),
        "plan": plan,
    })
}

fn param(param: &Param) -> Value {
    let mut out = json!({"name": param.name, "doc": param.doc, "type": type_text(&param.ty)});
    match &param.ty {
        Type::Graph { src, dst, edges } => out["graph"] = json!({"src": &**src, "dst": &**dst, "edges": &**edges}),
        Type::Tensor { dtype, shape } => {
            let shape: Vec<String> = shape.iter().map(ToString::to_string).collect();
            out["array"] = json!({"dtype": dtype.name(), "shape": shape});
        }
    }
    out
}

fn kernel(kernel: &Kernel) -> Value {
    let variant = |variant: &Variant| {
        let guard = (variant.guard != Guard::ALWAYS).then(|| variant.guard.to_string());
        json!({"entry": variant.entry, "guard": guard})
    };
    let variants: Vec<Value> = kernel.variants.iter().map(variant).collect();
    json!({"symbol": kernel.symbol, "shape": kernel.shape, "variants": variants})
}

/// The text with those characters escaped that a terminal obeys, or that turn the direction of a line: whoever made
/// the bundle chose its names and comments. They stand in strings only, and JSON has an escape for each.
fn harmless(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        // Line ends in strings are escaped already: this one is the layout's.
        match steers(c) && c != '\n' {
            true => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            false => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_escaped_and_means_the_same() {
        let hostile = "\u{1b}[2J \u{9b}2J \u{202e}gpj\u{7f} \"\\ é \u{61c}\u{200f}\u{2066}\u{2028}\n";
        let text = harmless(&json!({ "doc": hostile }).to_string());
        assert!(!text.contains(steers), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap()["doc"], hostile);
    }
}
