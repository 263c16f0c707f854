//! Types, parameters and placement annotations.

use super::{Docs, Expr, Name};
use tiga_source::Span;

/// A type as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Type {
    /// Its place.
    pub span: Span,
    /// What it is.
    pub kind: TypeKind,
}

/// What a type is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeKind {
    /// `graph`, `graph<N>`, `graph<U -> I>`.
    Graph(Endpoints),
    /// `f32`, `real`, `f32[F]`, `f32[N, 3*F]`, `f32[g.edges]`: a scalar name and the axes, none for a scalar.
    /// Whether the first axis is a set is for name resolution to say.
    Tensor {
        /// The scalar's name, or an alias of one.
        element: Name,
        /// Sets and extents, in order.
        axes: Vec<Expr>,
    },
    /// `{T: f32, d: f32}`: what a message reads of a source, destination or edge.
    Record(Vec<Param>),
    /// `(f32[K], i64[K])`, two or more.
    Tuple(Vec<Type>),
}

/// The sets of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoints {
    /// `graph`: two sets of its own.
    Fresh,
    /// `graph<N>`: one set.
    Same(Name),
    /// `graph<U -> I>`: source set, destination set.
    Between(Name, Name),
}

/// `@tier(nvme) x: f32[N, F]`: a parameter, a named result, or a field of a record type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its place, annotations included.
    pub span: Span,
    /// Its doc comment.
    pub docs: Docs,
    /// Where it lives.
    pub placement: Vec<Annotation>,
    /// Its name.
    pub name: Name,
    /// Its type.
    pub ty: Type,
}

/// `@paged`, `@tier(nvme)`: placement, which never changes meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// Its place.
    pub span: Span,
    /// The word after `@`.
    pub name: Name,
    /// The arguments, none without parentheses.
    pub args: Vec<Expr>,
}
