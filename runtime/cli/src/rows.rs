//! What the rows of results are called: by `--labels`, by the graph they speak of, or by position.

use crate::inputs::Inputs;
use anyhow::{Context as _, Result, bail};
use std::path::{Path, PathBuf};
use tiga_abi::{Poly, Symbol};
use tiga_bundle::{Program, Type};
use tiga_formats::{GraphFile, Limits, Names, RowIds, open_names};

/// `--labels`, read before anything runs.
pub(crate) struct Labels {
    path: PathBuf,
    names: Names,
}

impl Labels {
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let names = open_names(path, &Limits::of_this_machine());
        let names = names.map_err(|error| error.kind).with_context(|| format!("--labels {}", path.display()))?;
        Ok(Self { path: path.to_owned(), names })
    }
}

/// What the rows of a result of `rows` rows are called: by labels, which name nodes where the rows are edges.
pub(crate) fn row_ids<'a>(
    program: &Program,
    inputs: &'a Inputs,
    labels: Option<&'a Labels>,
    result: &str,
    rows: usize,
) -> Result<RowIds<'a>> {
    let leading = leading(program, result);
    let Some(Labels { path, names }) = labels else { return Ok(by_graph(program, inputs, leading)) };
    let (found, option) = (names.len(), format!("--labels {}", path.display()));
    if let Some((src, dst, file)) = graph_of_edges(program, inputs, leading) {
        if src != dst {
            bail!("{option}: the edges of `{result}` lead from one set to another, and labels name only one");
        }
        let nodes = file.csr.num_dst();
        if found != nodes {
            bail!("{option}: {found} lines, expected one for each of the {nodes} nodes at the edges of `{result}`");
        }
        return Ok(RowIds::NamedEdges(file, names));
    }
    if found != rows {
        bail!("{option}: {found} lines, expected one for each of the {rows} rows of `{result}`");
    }
    Ok(RowIds::Names(names))
}

/// What counts the rows of a result, if a set or the edges of a graph do.
fn leading<'p>(program: &'p Program, result: &str) -> Option<&'p Symbol> {
    match program.results.iter().find(|r| r.name == result).map(|r| &r.ty) {
        Some(Type::Tensor { shape, .. }) => shape.first().and_then(Poly::as_symbol),
        _ => None,
    }
}

/// The graph whose edges are counted, with its sets.
fn graph_of_edges<'a, 'p>(
    program: &'p Program,
    inputs: &'a Inputs,
    leading: Option<&Symbol>,
) -> Option<(&'p Symbol, &'p Symbol, &'a GraphFile)> {
    program.params.iter().find_map(|param| match &param.ty {
        Type::Graph { src, dst, edges } if Some(edges) == leading => {
            Some((src, dst, &inputs.graphs.get(&param.name)?.file))
        }
        _ => None,
    })
}

/// What the graph that a result speaks of calls its rows.
fn by_graph<'a>(program: &Program, inputs: &'a Inputs, leading: Option<&Symbol>) -> RowIds<'a> {
    let Some(leading) = leading else { return RowIds::Positions };
    let graphs = program.params.iter().filter_map(|param| match &param.ty {
        Type::Graph { src, dst, edges } => Some(([src, dst, edges], &inputs.graphs.get(&param.name)?.file)),
        Type::Tensor { .. } => None,
    });
    RowIds::of_graphs(leading, graphs)
}
