//! `--graph`, `--in`, `--dim`: what they name, read and converted to what the program takes.

use anyhow::{Context as _, Result, bail};
use std::collections::BTreeMap;
use std::path::Path;
use tiga_abi::{DType, SizeError};
use tiga_bundle::{Program, Type};
use tiga_formats::{Array, Conversion, Elements, GraphFile, Limits, Named, open_array, open_graph};
use tiga_runtime::Graph;

/// A graph file with the handle made from it.
pub(crate) struct OpenGraph {
    pub(crate) file: GraphFile,
    pub(crate) graph: Graph,
}

/// Everything read from files and the command line, by parameter.
pub(crate) struct Inputs {
    pub(crate) graphs: BTreeMap<String, OpenGraph>,
    pub(crate) arrays: BTreeMap<String, (DType, Array)>,
}

impl Inputs {
    pub(crate) fn read(program: &Program, graphs: &[Named], arrays: &[Named]) -> Result<Self> {
        let limits = Limits::of_this_machine();
        let mut inputs = Inputs { graphs: BTreeMap::new(), arrays: BTreeMap::new() };
        for Named { name, value } in graphs {
            let file = open_graph(Path::new(value), &limits)?;
            let graph = Graph::new(&file.csr)?;
            if inputs.graphs.insert(name.clone(), OpenGraph { file, graph }).is_some() {
                bail!("`{name}` is bound twice");
            }
        }
        for Named { name, value } in arrays {
            let (dtype, rank) = tensor(program, name)?;
            let array = inputs.array(dtype, rank, value, &limits).with_context(|| format!("--in {name}={value}"))?;
            if inputs.arrays.insert(name.clone(), (dtype, array)).is_some() {
                bail!("`{name}` is bound twice");
            }
        }
        Ok(inputs)
    }

    /// A number, `g.values`, or a file.
    fn array(&self, dtype: DType, rank: usize, value: &str, limits: &Limits) -> Result<Array> {
        if rank == 0 {
            return scalar(dtype, value);
        }
        if let Some(graph) = value.strip_suffix(".values").and_then(|name| self.graphs.get(name)) {
            return Ok(graph.file.values(dtype)?);
        }
        if value.parse::<f64>().is_ok() {
            bail!("a number, but the parameter is an array of rank {rank}: give a file");
        }
        Ok(open_array(value, limits)?.convert(dtype, Conversion::Widening)?)
    }
}

/// Type and number of axes of an array parameter.
fn tensor(program: &Program, name: &str) -> Result<(DType, usize)> {
    match program.params.iter().find(|p| p.name == name).map(|p| &p.ty) {
        Some(Type::Tensor { dtype, shape }) => Ok((*dtype, shape.len())),
        Some(Type::Graph { .. }) => bail!("`{name}` is a graph: bind it with --graph {name}=FILE"),
        None => {
            let known: Vec<&str> = program.params.iter().map(|p| p.name.as_str()).collect();
            bail!("`{}` has no input `{name}`; it has {}", program.name, known.join(", "))
        }
    }
}

fn scalar(dtype: DType, text: &str) -> Result<Array> {
    let wrong = || format!("`{text}` is not a number of type {dtype}");
    let elements = match dtype {
        DType::Bool => Elements::Bool(vec![u8::from(text.parse::<bool>().with_context(wrong)?)]),
        DType::I32 => Elements::I32(vec![text.parse().with_context(wrong)?]),
        DType::I64 => Elements::I64(vec![text.parse().with_context(wrong)?]),
        DType::F32 => Elements::F32(vec![text.parse().with_context(wrong)?]),
        DType::F64 => Elements::F64(vec![text.parse().with_context(wrong)?]),
    };
    Ok(Array::new(Vec::new(), elements)?)
}

/// `--dim F=16`.
pub(crate) fn dims(dims: &[Named]) -> Result<Vec<(&str, i64)>> {
    let one = |d: &Named| d.value.parse::<i64>().ok().filter(|n| *n >= 0).ok_or(SizeError::Syntax(d.value.clone()));
    dims.iter().map(|d| Ok((d.name.as_str(), one(d).with_context(|| format!("--dim {}", d.name))?))).collect()
}
