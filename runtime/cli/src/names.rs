//! Names on the command line against those of the program: unknown, of another kind, twice, or not there at all.

use crate::inspect::type_text;
use anyhow::{Result, bail};
use std::collections::BTreeSet;
use tiga_bundle::{Param, Program, Type};
use tiga_formats::{Counted, GraphSource, Named, check_standard_input};
use tiga_source::unknown;

/// Every `--graph`, `--in` and `--dim` names what it may bind, once, and no parameter is left over.
pub(crate) fn check(
    program: &Program,
    graphs: &[Named<GraphSource>],
    arrays: &[Named],
    dims: &[Counted],
) -> Result<()> {
    let bound_graphs: Vec<&str> = graphs.iter().map(|g| g.name.as_str()).collect();
    let bound_arrays: Vec<&str> = arrays.iter().map(|a| a.name.as_str()).collect();
    let sizes: Vec<&str> = dims.iter().map(|d| d.name.as_str()).collect();
    for (option, all) in [("--graph", &bound_graphs), ("--in", &bound_arrays), ("--dim", &sizes)] {
        let mut seen = BTreeSet::new();
        if let Some(twice) = all.iter().find(|name| !seen.insert(**name)) {
            bail!("`{twice}` is bound twice by {option}");
        }
    }
    check_standard_input(graphs, arrays)?;
    for named in graphs {
        if !is_graph(find(program, "graph", &named.name)?) {
            bail!("`{0}` is an array or a number: bind it with --in {0}=…", named.name);
        }
    }
    for named in arrays {
        if is_graph(find(program, "input", &named.name)?) {
            bail!("`{0}` is a graph: bind it with --graph {0}=FILE", named.name);
        }
    }
    // Edges of a graph have a size, and a name that no model can write.
    let sizes: Vec<&str> = program.symbols.iter().map(|s| &*s.name).filter(|name| !name.contains('.')).collect();
    if let Some(named) = dims.iter().find(|named| !sizes.contains(&&*named.name)) {
        bail!("{}", unknown(&program.name, "size", &named.name, &sizes));
    }
    let bound: BTreeSet<&str> = bound_graphs.into_iter().chain(bound_arrays).collect();
    let missing = program.params.iter().filter(|p| !bound.contains(p.name.as_str()));
    let missing: Vec<String> = missing.map(how_to_bind).collect();
    if !missing.is_empty() {
        bail!("not bound: {}", missing.join("; "));
    }
    Ok(())
}

fn find<'p>(program: &'p Program, what: &str, name: &str) -> Result<&'p Param> {
    let found = program.params.iter().find(|p| p.name == name);
    let known = || {
        let of_kind = program.params.iter().filter(|p| is_graph(p) == (what == "graph"));
        of_kind.map(|p| p.name.as_str()).collect::<Vec<_>>()
    };
    found.ok_or_else(|| anyhow::Error::msg(unknown(&program.name, what, name, &known())))
}

fn is_graph(param: &Param) -> bool {
    matches!(param.ty, Type::Graph { .. })
}

/// `` `damping`: bind it with --in damping=NUMBER (f64)``.
fn how_to_bind(param: &Param) -> String {
    let name = &param.name;
    let option = match &param.ty {
        Type::Graph { .. } => format!("--graph {name}=FILE"),
        Type::Tensor { shape, .. } if shape.is_empty() => format!("--in {name}=NUMBER"),
        Type::Tensor { .. } => format!("--in {name}=FILE.npy"),
    };
    format!("`{name}`: bind it with {option} ({})", type_text(&param.ty))
}
