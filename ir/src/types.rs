//! Types of values, and the symbols that stand in them.

use crate::joined;
use indexmap::IndexMap;
use std::fmt;
use tiga_abi::{DType, Poly, SizeExpr, Symbol};

/// What a symbol counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SymKind {
    /// Entities of a set.
    Set,
    /// Edges of a relation.
    Edges,
    /// A feature extent.
    Dim,
    /// An upper bound on a number of rows that the runtime knows: partial results, blocks.
    Bound(SizeExpr),
}

/// The symbols of a function, in declaration order.
pub type Symbols = IndexMap<Symbol, SymKind>;

/// Elements over an optional set axis and feature axes: `f32[N, F]`, `f32[16, 7]`, `f32`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorType {
    /// Element type.
    pub dtype: DType,
    /// The set axis, always the first one; see [`joined`] for sets made of others.
    pub set: Option<Symbol>,
    /// Feature extents.
    pub dims: Vec<Poly>,
}

impl TensorType {
    /// A scalar.
    pub fn scalar(dtype: DType) -> Self {
        Self { dtype, set: None, dims: Vec::new() }
    }

    /// A tensor without a set axis.
    pub fn tensor(dtype: DType, dims: Vec<Poly>) -> Self {
        Self { dtype, set: None, dims }
    }

    /// A field over a set.
    pub fn field(dtype: DType, set: Symbol, dims: Vec<Poly>) -> Self {
        Self { dtype, set: Some(set), dims }
    }

    /// The same shape with another element type.
    pub fn with_dtype(&self, dtype: DType) -> Self {
        Self { dtype, ..self.clone() }
    }

    /// One entity's value: the type without its set axis.
    pub fn element(&self) -> Self {
        Self { set: None, ..self.clone() }
    }

    /// Number of axes, the set axis included.
    pub fn rank(&self) -> usize {
        self.dims.len() + usize::from(self.set.is_some())
    }

    /// Whether it has no axis at all.
    pub fn is_scalar(&self) -> bool {
        self.rank() == 0
    }

    /// All extents, the set's first; that of a set made of others is a sum.
    pub fn extents(&self) -> Vec<Poly> {
        self.set.iter().map(joined::size).chain(self.dims.iter().cloned()).collect()
    }
}

impl fmt::Display for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.dtype)?;
        if self.rank() > 0 {
            let axes = self.set.iter().map(Symbol::to_string).chain(self.dims.iter().map(Poly::to_string));
            write!(f, "[{}]", axes.collect::<Vec<_>>().join(", "))?;
        }
        Ok(())
    }
}

/// How a relation enumerates its neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RelKind {
    /// Rows by destination: `row_ptr`, `col`; the edge is the position.
    Csr,
    /// The stable transpose of a CSR relation: `row_ptr`, `col`, `perm`; the edge is `perm[position]`.
    Transpose,
    /// Edges of several origins, each row in ascending order of their numbers: `row_ptr`, `col`, `perm`, as for a
    /// transpose. Its transpose is of this kind too.
    Joined,
    /// Points within a cutoff, found through a cell list: candidates in cell order, kept by distance.
    Cells,
}

impl RelKind {
    /// All kinds.
    pub const ALL: [RelKind; 4] = [RelKind::Csr, RelKind::Transpose, RelKind::Joined, RelKind::Cells];

    /// Whether edges have numbers of their own, `perm`, beside their positions.
    pub const fn numbered(self) -> bool {
        matches!(self, RelKind::Transpose | RelKind::Joined)
    }

    /// The spelling in `.tir`.
    pub const fn name(self) -> &'static str {
        match self {
            RelKind::Csr => "csr",
            RelKind::Transpose => "transpose",
            RelKind::Joined => "joined",
            RelKind::Cells => "cells",
        }
    }
}

/// A relation `src -> dst` with its edge set.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RelType {
    /// How it is stored.
    pub kind: RelKind,
    /// Set of sources.
    pub src: Symbol,
    /// Set of destinations.
    pub dst: Symbol,
    /// Its edge set.
    pub edges: Symbol,
}

impl RelType {
    /// How many sources, destinations and edges there are, in terms of declared symbols.
    pub fn sizes(&self) -> [Poly; 3] {
        [&self.src, &self.dst, &self.edges].map(joined::size)
    }
}

impl fmt::Display for RelType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "graph<{}, {} -> {}, {}>", self.kind.name(), self.src, self.dst, self.edges)
    }
}

/// The type of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A field, tensor or scalar, as a value.
    Tensor(TensorType),
    /// A relation.
    Rel(RelType),
    /// Memory holding a tensor (loops level and host functions).
    Buffer(TensorType),
    /// A fixed number of lanes (kernel level).
    Vector(DType, u32),
    /// An address of elements (kernel level).
    Ptr(DType),
}

impl Type {
    /// A scalar value.
    pub fn scalar(dtype: DType) -> Type {
        Type::Tensor(TensorType::scalar(dtype))
    }

    /// The tensor type of a value that is one.
    pub fn as_tensor(&self) -> Option<&TensorType> {
        match self {
            Type::Tensor(t) => Some(t),
            _ => None,
        }
    }

    /// The tensor type of memory.
    pub fn as_buffer(&self) -> Option<&TensorType> {
        match self {
            Type::Buffer(t) => Some(t),
            _ => None,
        }
    }

    /// The relation type.
    pub fn as_rel(&self) -> Option<&RelType> {
        match self {
            Type::Rel(r) => Some(r),
            _ => None,
        }
    }

    /// The element type of whatever it holds.
    pub fn dtype(&self) -> Option<DType> {
        match self {
            Type::Tensor(t) | Type::Buffer(t) => Some(t.dtype),
            Type::Vector(d, _) | Type::Ptr(d) => Some(*d),
            Type::Rel(_) => None,
        }
    }

    /// Whether it is exactly a scalar of this type.
    pub fn is_scalar(&self, dtype: DType) -> bool {
        self.as_tensor().is_some_and(|t| t.is_scalar() && t.dtype == dtype)
    }
}

impl From<TensorType> for Type {
    fn from(t: TensorType) -> Type {
        Type::Tensor(t)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Tensor(t) => write!(f, "{t}"),
            Type::Rel(r) => write!(f, "{r}"),
            Type::Buffer(t) => write!(f, "buf<{t}>"),
            Type::Vector(d, n) => write!(f, "v{n}{d}"),
            Type::Ptr(d) => write!(f, "ptr<{d}>"),
        }
    }
}
