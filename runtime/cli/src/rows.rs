//! What the rows of results are called: by `--labels`, by the graph they speak of, or by position.

use crate::inputs::Inputs;
use anyhow::{Context as _, Result, bail};
use std::path::{Path, PathBuf};
use tiga_abi::Poly;
use tiga_bundle::{Program, Type};
use tiga_formats::{Limits, Names, RowIds, open_names};

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

/// What the rows of a result of `rows` rows are called.
pub(crate) fn row_ids<'a>(
    program: &Program,
    inputs: &'a Inputs,
    labels: Option<&'a Labels>,
    result: &str,
    rows: usize,
) -> Result<RowIds<'a>> {
    if let Some(Labels { path, names }) = labels {
        if names.len() != rows {
            let found = names.len();
            bail!("--labels {}: {found} lines, expected one for each of the {rows} rows of `{result}`", path.display());
        }
        return Ok(RowIds::Names(names));
    }
    let ty = program.results.iter().find(|r| r.name == result).map(|r| &r.ty);
    let Some(Type::Tensor { shape, .. }) = ty else { return Ok(RowIds::Positions) };
    let Some(leading) = shape.first().and_then(Poly::as_symbol) else { return Ok(RowIds::Positions) };
    for param in &program.params {
        let (Type::Graph { src, dst, edges }, Some(open)) = (&param.ty, inputs.graphs.get(&param.name)) else {
            continue;
        };
        if leading == edges {
            return Ok(RowIds::Edges(&open.file));
        }
        if leading == src || leading == dst {
            return Ok(RowIds::Nodes(&open.file));
        }
    }
    Ok(RowIds::Positions)
}
