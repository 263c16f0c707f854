//! What `--graph`, `--in` and `--dim` bind, read and converted to what a program takes.

use crate::sema::ProgramInfo;
use anyhow::{Context as _, Result, anyhow, bail};
use indexmap::IndexMap;
use std::path::Path;
use tiga_abi::{SizeError, Symbol};
use tiga_formats::{
    Array, Conversion, Counted, GraphFile, GraphSource, INPUT_ORDER, Limits, Named, RowIds, array_path,
    check_standard_input, is_array_file, open_array, parse_number,
};
use tiga_ir::interp::{ErrorKind, InterpError, Place, Relation, Tensor, Value};
use tiga_ir::{RelType, TensorType, Type};
use tiga_source::unknown;

/// The options that bind a program's inputs.
#[derive(Debug, clap::Args)]
pub(super) struct InputArgs {
    /// Binds a graph: .mtx, .npz, an edge list (.txt .tsv .csv .edges .el), or an array [2, E] of edges (.npy,
    /// .npz:NAME, .safetensors:NAME).
    #[arg(long = "graph", value_name = "G=FILE")]
    graphs: Vec<Named<GraphSource>>,
    /// Binds an array or number: FILE.npy, FILE.npz:NAME, FILE.safetensors:NAME, a number, or G.values for a graph's edge values. With
    /// `:input-order` behind it, an array has a row for each line of its graph's file.
    #[arg(long = "in", value_name = "X=FILE|NUMBER|G.values")]
    arrays: Vec<Named>,
    /// Gives a dimension that no input fixes.
    #[arg(long = "dim", value_name = "F=N")]
    dims: Vec<Counted>,
}

/// The arguments of a program, and the files of its graphs by parameter.
pub(super) struct Bound<'p> {
    pub(super) values: Vec<Value>,
    pub(super) graphs: Graphs<'p>,
}

/// Graph files by parameter.
type Graphs<'p> = IndexMap<&'p str, GraphFile>;

/// What the rows of a result are called, as `tiga run` calls them: by the graph whose edges or nodes they are.
pub(super) fn row_ids<'a>(program: &ProgramInfo, graphs: &'a Graphs<'_>, result: &Type) -> RowIds<'a> {
    let Type::Tensor(TensorType { set: Some(set), .. }) = result else { return RowIds::Positions };
    let graphs = program.params.iter().filter_map(|param| {
        let relation = param.ty.as_rel()?;
        Some(([&relation.src, &relation.dst, &relation.edges], graphs.get(&*param.name)?))
    });
    RowIds::of_graphs(set, graphs)
}

/// One value for each name, or the name that has two.
fn unique<'a, T>(option: &str, all: &'a [Named<T>]) -> Result<IndexMap<&'a str, &'a T>> {
    let mut out = IndexMap::new();
    for one in all {
        if out.insert(one.name.as_str(), &one.value).is_some() {
            bail!("`{}` is bound twice by {option}", one.name);
        }
    }
    Ok(out)
}

impl InputArgs {
    /// The arguments of a program, in its order.
    pub(super) fn values<'p>(&self, program: &'p ProgramInfo) -> Result<Bound<'p>> {
        check_standard_input(&self.graphs, &self.arrays)?;
        let limits = Limits::of_this_machine();
        let mut graphs = unique("--graph", &self.graphs)?;
        let mut arrays = unique("--in", &self.arrays)?;
        let mut files: Graphs<'p> = IndexMap::new();
        for param in program.params.iter().filter(|p| p.ty.as_rel().is_some()) {
            let Some(source) = graphs.shift_remove(&*param.name) else {
                bail!("`{}` needs the graph `{1}`: bind it with --graph {1}=FILE", program.name, param.name);
            };
            let file = source.open(&limits).with_context(|| format!("--graph {}", param.name))?;
            files.insert(&param.name, file);
        }
        let reader = Reader { program, files: &files, limits };
        let mut out = Vec::new();
        for param in &program.params {
            out.push(match &param.ty {
                Type::Tensor(ty) => {
                    let Some(text) = arrays.shift_remove(&*param.name) else {
                        bail!("`{}` needs the input `{1}`: bind it with --in {1}=…", program.name, param.name);
                    };
                    let array = reader.array(ty, text);
                    array.with_context(|| format!("--in {}={text}", param.name))?.into()
                }
                _ => relation(&files[&*param.name])?.into(),
            });
        }
        let extra = graphs.keys().map(|n| ("graph", n)).chain(arrays.keys().map(|n| ("input", n))).next();
        match extra {
            Some((what, name)) => {
                let of_kind = program.params.iter().filter(|p| p.ty.as_rel().is_some() == (what == "graph"));
                let known: Vec<&str> = of_kind.map(|p| &*p.name).collect();
                bail!(unknown(&program.name, what, name, &known))
            }
            None => Ok(Bound { values: out, graphs: files }),
        }
    }

    /// The values of `--dim`.
    pub(super) fn dims(&self, program: &ProgramInfo) -> Result<IndexMap<Symbol, i64>> {
        // Edges of a graph have a size, and a name that no model can write.
        let known: Vec<&str> = program.symbols.iter().map(|s| &*s.name).filter(|name| !name.contains('.')).collect();
        let one = |d: &Counted| {
            if !known.contains(&d.name.as_str()) {
                bail!(unknown(&program.name, "size", &d.name, &known));
            }
            Ok((d.name.as_str().into(), d.value))
        };
        let mut out: IndexMap<Symbol, i64> = IndexMap::new();
        for (name, value) in self.dims.iter().map(one).collect::<Result<Vec<_>>>()? {
            if out.insert(Symbol::clone(&name), value).is_some() {
                bail!("`{name}` is bound twice by --dim");
            }
        }
        Ok(out)
    }

    /// Files that may be read.
    pub(super) fn files(&self) -> Vec<&Path> {
        let graphs = self.graphs.iter().filter_map(|graph| graph.value.path());
        graphs.chain(self.arrays.iter().filter_map(|array| array_path(&array.value))).collect()
    }
}

/// Says of sizes what is to be done on this command line.
pub(super) fn explain(error: InterpError) -> anyhow::Error {
    match &*error.kind {
        ErrorKind::Size(SizeError::Unbound(size)) => {
            anyhow!("no input fixes the size `{size}`: give it with --dim {size}=N")
        }
        ErrorKind::SizeConflict { symbol, first, first_place, second, second_place: Place::Options } => {
            anyhow!("`{symbol}` is {first} by {first_place}, but {second} by --dim {symbol}={second}")
        }
        _ => error.into(),
    }
}

fn relation(file: &GraphFile) -> Result<Relation> {
    let csr = &file.csr;
    Ok(Relation::csr(csr.num_src(), csr.row_ptr().to_vec(), csr.col().iter().collect())?)
}

struct Reader<'a> {
    program: &'a ProgramInfo,
    files: &'a IndexMap<&'a str, GraphFile>,
    limits: Limits,
}

impl Reader<'_> {
    /// A number, a graph's values, or a file.
    fn array(&self, ty: &TensorType, text: &str) -> Result<Tensor> {
        if ty.is_scalar() && !is_array_file(text) {
            return tensor(ty, &parse_number(ty.dtype, text)?);
        }
        if let Some(graph) = text.strip_suffix(".values").and_then(|name| self.files.get(name)) {
            return tensor(ty, &graph.values(ty.dtype)?);
        }
        if text.parse::<f64>().is_ok() {
            bail!("a number, but the parameter is an array of rank {}: give a file", ty.rank());
        }
        let (text, file) = match text.strip_suffix(INPUT_ORDER) {
            Some(text) => (text, Some(self.file_of(ty)?)),
            None => (text, None),
        };
        let array = open_array(text, &self.limits)?.convert(ty.dtype, Conversion::Widening)?;
        match file {
            Some(file) => tensor(ty, &file.from_input_order(&array)?),
            None => tensor(ty, &array),
        }
    }

    /// The graph whose edges a field is over.
    fn file_of(&self, ty: &TensorType) -> Result<&GraphFile> {
        let edges_of = |rel: &RelType| Some(&rel.edges) == ty.set.as_ref();
        let param = self.program.params.iter().find(|p| p.ty.as_rel().is_some_and(edges_of));
        let file = param.and_then(|p| self.files.get(&*p.name));
        file.context("`:input-order` is for edge fields, and the parameter is none")
    }
}

fn tensor(ty: &TensorType, array: &Array) -> Result<Tensor> {
    Ok(Tensor::from_bytes(ty.dtype, array.shape(), array.as_bytes())?)
}
