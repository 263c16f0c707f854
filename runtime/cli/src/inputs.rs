//! `--graph` and `--in`: what they name, read and converted to what the program takes.

use crate::inspect::type_text;
use crate::trace::Trace;
use anyhow::{Context as _, Result, bail};
use std::collections::BTreeMap;
use std::path::Path;
use tiga_abi::{DType, Poly};
use tiga_bundle::{Param, Program, Type};
use tiga_formats::{
    Array, Conversion, GraphFile, GraphSource, INPUT_ORDER, Limits, Named, is_array_file, open_array, parse_number,
};
use tiga_runtime::Graph;
use tiga_source::{say, unknown};

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

impl OpenGraph {
    fn read(source: &GraphSource) -> Result<Self> {
        // The file is named by the option already.
        let file = source.open(&Limits::of_this_machine()).map_err(|error| error.kind)?;
        let graph = Graph::new(&file.csr)?;
        Ok(Self { file, graph })
    }
}

impl Inputs {
    /// Reads what is bound; the names have been checked.
    pub(crate) fn read(
        program: &Program,
        graphs: &[Named<GraphSource>],
        arrays: &[Named],
        trace: &Trace,
    ) -> Result<Self> {
        let mut inputs = Inputs { graphs: BTreeMap::new(), arrays: BTreeMap::new() };
        for Named { name, value } in graphs {
            let place = || format!("--graph {name}={value}");
            let open = trace.step("read", place, || OpenGraph::read(value)).with_context(place)?;
            inputs.graphs.insert(name.clone(), open);
        }
        for param in &program.params {
            let Type::Tensor { dtype, shape } = &param.ty else { continue };
            let Some(Named { name, value }) = arrays.iter().find(|named| named.name == param.name) else { continue };
            let place = || format!("--in {name}={value}");
            let wanted = Wanted { inputs: &inputs, program, param, dtype: *dtype, shape };
            let array = trace.step("read", place, || wanted.array(value)).with_context(place)?;
            inputs.arrays.insert(name.clone(), (*dtype, array));
        }
        Ok(inputs)
    }
}

/// A parameter that takes an array or a number, with the graphs read so far, which are all.
struct Wanted<'a> {
    inputs: &'a Inputs,
    program: &'a Program,
    param: &'a Param,
    dtype: DType,
    shape: &'a [Poly],
}

impl Wanted<'_> {
    /// A number, `g.values`, or a file.
    fn array(&self, value: &str) -> Result<Array> {
        let is_file = is_array_file(value);
        if self.shape.is_empty() && !is_file {
            return Ok(parse_number(self.dtype, value)?);
        }
        if let Some((graph, field)) = value.rsplit_once('.').filter(|_| !is_file)
            && let Some(array) = self.values(graph, field)
        {
            return array;
        }
        if value.parse::<f64>().is_ok() {
            bail!("expected {}, found a number: give a file", type_text(&self.param.ty));
        }
        self.file(value)
    }

    /// The edge values of a graph's file; nothing if the text speaks of no graph, or names a file that there is.
    fn values(&self, graph: &str, field: &str) -> Option<Result<Array>> {
        let known: Vec<&str> = self.inputs.graphs.keys().map(String::as_str).collect();
        match (self.inputs.graphs.get(graph), field) {
            (Some(open), "values") => Some(open.file.values(self.dtype).map_err(Into::into)),
            (Some(_), _) if Path::new(&format!("{graph}.{field}")).exists() => None,
            (Some(_), _) => {
                Some(Err(anyhow::anyhow!("a graph has no `{field}`: the values of its edges are `{graph}.values`")))
            }
            (None, "values") => Some(Err(anyhow::Error::msg(unknown(&self.program.name, "graph", graph, &known)))),
            (None, _) => None,
        }
    }

    fn file(&self, value: &str) -> Result<Array> {
        let (spec, by_line) = match value.strip_suffix(INPUT_ORDER) {
            Some(spec) => (spec, Some(self.graph_of_edges()?)),
            None => (value, None),
        };
        if let Some((file, option)) = spec.rsplit_once(':')
            && file.ends_with(".npy")
            && !Path::new(spec).exists()
        {
            bail!("`:{option}`: behind {file} stands `{INPUT_ORDER}` or nothing");
        }
        let array = open_array(spec, &Limits::of_this_machine()).map_err(|error| error.kind)?;
        let found = format!("{} of shape {:?}", array.array_type(), array.shape());
        let expected = || format!("expected {}, found {found}", type_text(&self.param.ty));
        let fits = |(extent, found): (&Poly, &usize)| extent.as_constant().is_none_or(|n| n == *found as i64);
        if array.shape().len() != self.shape.len() || !self.shape.iter().zip(array.shape()).all(fits) {
            bail!(expected());
        }
        let copies = u64::from(array.array_type() != self.dtype.into()) + u64::from(by_line.is_some());
        Limits::room_for(copies * array.len() as u64 * self.dtype.bytes() as u64)?;
        let array = array.convert(self.dtype, Conversion::Widening);
        let array = array.map_err(|error| anyhow::anyhow!("{}: {error}", expected()))?;
        match by_line {
            Some(file) => Ok(file.from_input_order(&array)?),
            None => {
                if self.edges().is_some_and(|file| !file.in_input_order()) {
                    say(format_args!(
                        "note: --in {}={value}: read in the order of the graph's edges, by destination, which is not \
                         that of its file's lines; for a row a line, put `{INPUT_ORDER}` behind it",
                        self.param.name
                    ));
                }
                Ok(array)
            }
        }
    }

    /// The file of the graph over whose edges the parameter is a field.
    fn edges(&self) -> Option<&GraphFile> {
        let leading = self.shape.first().and_then(Poly::as_symbol);
        let over = |p: &&Param| matches!(&p.ty, Type::Graph { edges, .. } if Some(edges) == leading);
        let graph = self.program.params.iter().find(over)?;
        self.inputs.graphs.get(&graph.name).map(|open| &open.file)
    }

    fn graph_of_edges(&self) -> Result<&GraphFile> {
        let (name, ty) = (&self.param.name, type_text(&self.param.ty));
        self.edges().with_context(|| format!("`{INPUT_ORDER}` is for fields of edges, and `{name}` is none: {ty}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use tiga_formats::{Elements, save_arrays};

    fn program() -> Program {
        let extent = |size: &str| Poly::symbol(size);
        let graph = Type::Graph { src: "N".into(), dst: "N".into(), edges: "E".into() };
        let field = |shape| Type::Tensor { dtype: DType::F64, shape };
        let param = |name: &str, ty| Param { name: name.into(), doc: String::new(), ty };
        Program {
            name: "p".into(),
            doc: String::new(),
            symbols: Vec::new(),
            params: vec![
                param("g", graph),
                param("w", field(vec![extent("E")])),
                param("v", field(vec![extent("E"), Poly::constant(2)])),
                param("k", field(Vec::new())),
            ],
            results: Vec::new(),
            plan: String::new(),
        }
    }

    /// Reads `NAME=FILE` for each of the arrays, with a graph whose lines are not in the order of destinations.
    fn read(folder: &Path, arrays: &[(&str, &str)]) -> Result<Inputs> {
        let named = |name: &str, file: &str| format!("{name}={}", folder.join(file).display());
        std::fs::write(folder.join("g.txt"), "0 2\n1 0\n2 1\n").unwrap();
        let arrays: Vec<Named> = arrays.iter().map(|(name, file)| named(name, file).parse().unwrap()).collect();
        Inputs::read(&program(), &[named("g", "g.txt").parse().unwrap()], &arrays, &Trace::begin(None)?)
    }

    #[test]
    fn members_of_an_archive_are_put_in_the_order_of_edges() {
        let folder = tempfile::tempdir().unwrap();
        let w = Array::vector(Elements::F32(vec![10.0, 20.0, 30.0]));
        let v = Array::new(vec![3, 2], Elements::F64(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])).unwrap();
        let k = Array::new(Vec::new(), Elements::I32(vec![7])).unwrap();
        save_arrays(&folder.path().join("a.npz"), [("w", &w), ("v", &v), ("k", &k)]).unwrap();
        let bound = [("w", "a.npz:w:input-order"), ("v", "a.npz:v:input-order"), ("k", "a.npz:k")];
        let inputs = read(folder.path(), &bound).unwrap();
        let elements = |name: &str| inputs.arrays[name].1.elements();
        assert_eq!(elements("w"), &Elements::F64(vec![20.0, 30.0, 10.0]));
        assert_eq!(elements("v"), &Elements::F64(vec![3.0, 4.0, 5.0, 6.0, 1.0, 2.0]));
        assert_eq!(elements("k"), &Elements::F64(vec![7.0]));
        let inputs = read(folder.path(), &[("w", "a.npz:w")]).unwrap();
        assert_eq!(inputs.arrays["w"].1.elements(), &Elements::F64(vec![10.0, 20.0, 30.0]));
        for (name, file) in [("k", "a.npz:k:input-order"), ("v", "a.npz:w:input-order"), ("w", "a.npz:z")] {
            assert!(read(folder.path(), &[(name, file)]).is_err(), "{name}={file}");
        }
    }
}
