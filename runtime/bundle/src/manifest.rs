//! What a bundle says about itself: programs, types, kernels, targets.

use std::fmt;
use tiga_abi::{DType, FpMode, Poly, SizeExpr, Symbol};
use tiga_plan::Mode;

/// The version of the file format that this crate writes and reads.
pub const FORMAT: u32 = 1;

/// The table of contents of a bundle.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// Version of the file format, [`FORMAT`].
    pub format: u32,
    /// Version of the language, such as `0.1`.
    pub language: String,
    /// Name and version of the compiler.
    pub compiler: String,
    /// How floating-point arithmetic is arranged.
    pub fp: FpMode,
    /// The machines it has kernels for.
    pub targets: Vec<Target>,
    /// What can be run.
    pub programs: Vec<Program>,
    /// The kernels that plans name.
    pub kernels: Vec<Kernel>,
}

/// A machine that kernels were compiled for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// `x86-64-v3`, `native`.
    pub name: String,
    /// CPU features that the host must have, as `is_x86_feature_detected!` spells them.
    pub features: Vec<String>,
    /// The archive's entry with the shared object, `kernels/<name>.so`.
    pub entry: String,
}

/// An exported program.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// Its name, unique in the bundle.
    pub name: String,
    /// Its doc comment.
    pub doc: String,
    /// Sizes, in order of first use.
    pub symbols: Vec<SymbolDecl>,
    /// Inputs in order.
    pub params: Vec<Param>,
    /// Results in order; never graphs.
    pub results: Vec<Param>,
    /// The archive's entry with the plan template, `plans/<name>.json`.
    pub plan: String,
}

impl Program {
    /// The parameter that counts a size, a graph, and what of it does: `num_src`, `num_dst` or `num_edges`.
    pub fn counted_by(&self, size: &Symbol) -> Option<(usize, &'static str)> {
        self.params.iter().enumerate().find_map(|(i, param)| {
            let Type::Graph { src, dst, edges } = &param.ty else { return None };
            let counts = [(src, "num_src"), (dst, "num_dst"), (edges, "num_edges")];
            counts.into_iter().find(|(symbol, _)| *symbol == size).map(|(_, what)| (i, what))
        })
    }
}

/// A size and what it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolDecl {
    /// The symbol in types and capacities.
    pub name: Symbol,
    /// What it counts.
    pub kind: SymbolKind,
    /// Where it comes from, for messages: ``set `N` of `g: graph<N>` ``.
    pub origin: String,
}

/// What a symbol counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SymbolKind {
    /// Members of a set.
    Set,
    /// Edges of a graph.
    Edges,
    /// A feature extent.
    Dim,
}

impl SymbolKind {
    /// The word in manifests.
    pub const fn name(self) -> &'static str {
        match self {
            SymbolKind::Set => "set",
            SymbolKind::Edges => "edges",
            SymbolKind::Dim => "dim",
        }
    }
}

/// An input or a result.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// Its doc comment.
    pub doc: String,
    /// Its type.
    pub ty: Type,
}

/// The type of an input or a result.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// A graph in CSR by destination.
    Graph {
        /// The set of sources.
        src: Symbol,
        /// The set of destinations; the same symbol if homogeneous.
        dst: Symbol,
        /// The edge set.
        edges: Symbol,
    },
    /// A row-major array; no axes for a scalar.
    Tensor {
        /// Type of one element.
        dtype: DType,
        /// Extents, the set first.
        shape: Vec<Poly>,
    },
}

/// A kernel that plans name, with its variants. All variants take the same arguments and give the same bits.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// The name in plans.
    pub symbol: String,
    /// First match wins; the last one's guard is always true.
    pub variants: Vec<Variant>,
    /// What `sym[i]` holds.
    pub syms: Vec<Symbol>,
    /// What `ptr[i]` holds.
    pub ptrs: Vec<Pointer>,
    /// Bytes of private memory a worker.
    pub scratch: SizeExpr,
    /// The printed shape of its reduction, `shape(leaf 512, acc 4)`; empty without one.
    pub shape: String,
    /// The graph parameter it walks, if any.
    pub relation: Option<String>,
}

/// One compiled form of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// When it may be used.
    pub guard: Guard,
    /// The function's name in the shared object of every target.
    pub entry: String,
}

/// One array argument of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pointer {
    /// The parameter, as the plan's tasks bind it.
    pub parameter: String,
    /// Type of one element.
    pub dtype: DType,
    /// How it is touched.
    pub mode: Mode,
}

/// A conjunction of conditions on sizes; empty is always true.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guard(pub Vec<Condition>);

/// One condition on a size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// `extent == value`.
    Equal(SizeExpr, i64),
    /// `extent < value`.
    Less(SizeExpr, i64),
}

impl Guard {
    /// The guard of the generic variant.
    pub const ALWAYS: Guard = Guard(Vec::new());

    /// Whether it holds; an extent without a value fails its condition.
    pub fn holds(&self, value: &dyn Fn(&str) -> Option<i64>) -> bool {
        self.0.iter().all(|condition| match condition {
            Condition::Equal(extent, constant) => extent.eval(value) == Ok(*constant),
            Condition::Less(extent, constant) => extent.eval(value).is_ok_and(|v| v < *constant),
        })
    }
}

impl fmt::Display for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("true");
        }
        for (i, condition) in self.0.iter().enumerate() {
            let separator = if i == 0 { "" } else { " && " };
            match condition {
                Condition::Equal(extent, value) => write!(f, "{separator}{extent} == {value}")?,
                Condition::Less(extent, value) => write!(f, "{separator}{extent} < {value}")?,
            }
        }
        Ok(())
    }
}

impl Kernel {
    /// The first variant whose guard holds.
    pub fn select(&self, value: &dyn Fn(&str) -> Option<i64>) -> Option<&Variant> {
        self.variants.iter().find(|variant| variant.guard.holds(value))
    }
}

impl Manifest {
    /// The program of that name.
    pub fn program(&self, name: &str) -> Option<&Program> {
        self.programs.iter().find(|program| program.name == name)
    }

    /// The kernel of that name.
    pub fn kernel(&self, symbol: &str) -> Option<&Kernel> {
        self.kernels.iter().find(|kernel| kernel.symbol == symbol)
    }
}
