//! Typed trees: names are resolved, overloads are chosen, every expression has a type.

use super::infer::Elem;
use super::ty::{Substitution, Ty};
use crate::builtin::BuiltinReducer;
use tiga_abi::{DType, Poly, Symbol};
use tiga_ir::{Op, Role};
use tiga_source::Span;

/// A name bound in a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LocalId(pub(crate) usize);

/// What is known of a bound name.
#[derive(Clone, Debug)]
pub(crate) struct Local {
    pub(crate) name: String,
    pub(crate) ty: Ty,
    pub(crate) span: Span,
}

/// What has a position that an edge function can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Entity {
    Edge,
    Src,
    Dst,
}

impl Entity {
    pub(crate) const ALL: [Entity; 3] = [Entity::Edge, Entity::Src, Entity::Dst];

    /// The record that holds its fields.
    pub(crate) const fn record(self) -> &'static str {
        match self {
            Entity::Edge => "edge",
            Entity::Src => "src",
            Entity::Dst => "dst",
        }
    }

    pub(crate) const fn role(self) -> Role {
        match self {
            Entity::Edge => Role::Edge,
            Entity::Src => Role::Src,
            Entity::Dst => Role::Dst,
        }
    }
}

/// A reducer that a message or reduction names.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ReducerUse {
    /// One of the language, of messages with an element type.
    Builtin(BuiltinReducer, Elem),
    /// One of the language, of what is computed from elements of a type: in that type's accumulator.
    Accumulator(BuiltinReducer, Elem),
    /// One of the language that is written in it, by name; with what `real` is, if it speaks of it.
    Prelude(&'static str, Option<Elem>),
    /// `top<K>`, of messages with an element type.
    Top(i64, Elem),
    /// A `reducer` item, by number.
    Declared(usize),
}

/// An item that computes on one edge or row at a time.
#[derive(Clone, Debug)]
pub(crate) enum Inside {
    Message(String),
    Reducer(String),
    /// The gradient of a reducer, which sees all axes.
    Adjoint(String),
}

impl std::fmt::Display for Inside {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Inside::Message(name) => write!(f, "message `{name}`"),
            Inside::Reducer(name) => write!(f, "reducer `{name}`"),
            Inside::Adjoint(name) => write!(f, "the adjoint of reducer `{name}`"),
        }
    }
}

/// An expression with its type.
#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub(crate) ty: Ty,
    pub(crate) span: Span,
    pub(crate) kind: Kind,
}

/// An axis as an expression may name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Axis {
    /// A set.
    Set(Symbol),
    /// A feature extent.
    Extent(Poly),
    /// Something wrong was reported.
    Error,
}

/// A function that is written with several ops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Composite {
    /// `x != x`.
    IsNan,
    /// `max(x, 0)`.
    Relu,
    /// `where(x > 0, x, slope * x)`.
    LeakyRelu,
    /// `e / sum(e)` of `e = exp(x - max(x))`, over a feature axis or the set.
    Softmax(Option<i64>),
    /// `d - log(sum(exp(d)))` of `d = x - max(x)`, over a feature axis or the set.
    LogSoftmax(Option<i64>),
    /// The sum over a feature axis of `x * y`.
    Dot(i64),
    /// `take(a, [1, 2, 0]) * take(b, [2, 0, 1]) - take(a, [2, 0, 1]) * take(b, [1, 2, 0])`.
    Cross,
}

/// What an expression does.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// A number as written, of the expression's element type.
    Literal(String),
    Bool(bool),
    Local(LocalId),
    /// A `const` item, by number.
    Constant(usize),
    /// Element by element.
    Op(Op, Vec<Expr>),
    Composite(Composite, Vec<Expr>),
    /// To the expression's element type.
    Cast(Box<Expr>),
    /// One scalar everywhere in the expression's shape.
    Fill(Box<Expr>),
    Len(Axis),
    ReduceSet(ReducerUse, Box<Expr>),
    /// Over one feature axis.
    ReduceAxis(ReducerUse, i64, Box<Expr>),
    /// 0, 1, 2, …
    Iota(Axis),
    /// Along a feature axis, from a position on.
    Slice(i64, Poly, Box<Expr>),
    /// Feature axes in another order; −1 is a new one.
    Permute(Vec<i64>, Box<Expr>),
    Reshape(Box<Expr>),
    /// Running sums along a feature axis.
    Scan(i64, Box<Expr>),
    Concat(Vec<Expr>),
    /// What stands at indices of a feature axis: the tensor, then the indices.
    GatherAxis(i64, Box<[Expr; 2]>),
    /// What stands at entities: the field, then their numbers.
    GatherSet(Box<[Expr; 2]>),
    /// The sum over a set of outer products.
    Contract(Box<[Expr; 2]>),
    /// The position of the edge, its source or its destination.
    Position(Entity),
    MatMul(Box<Expr>, Box<Expr>),
    InDegree(Box<Expr>),
    OutDegree(Box<Expr>),
    Transpose(Box<Expr>),
    SelfLoops(Box<Expr>),
    ConcatGraphs(Box<Expr>, Box<Expr>),
    /// A tuple or record.
    Tuple(Vec<Expr>),
    /// A member of a tuple or record.
    Member(Box<Expr>, usize),
    /// `let` after `let`, then the value.
    Block(Vec<(Pattern, Expr)>, Box<Expr>),
    If(Box<[Expr; 3]>),
    Loop(Box<Loop>),
    /// A `fn` item, inlined: its number, its symbols, the arguments.
    Function(usize, Substitution, Vec<Expr>),
    /// A program, by number.
    Program(usize, Vec<Expr>),
    /// A message, by number: its symbols, the graph, the operands in the order of its declaration.
    Message(usize, Substitution, Box<Expr>, Vec<Expr>),
    Error,
}

/// The left side of a `let`.
#[derive(Clone, Debug)]
pub(crate) enum Pattern {
    One(LocalId),
    Tuple(Vec<Pattern>),
}

/// A loop with carried values.
#[derive(Clone, Debug)]
pub(crate) struct Loop {
    pub(crate) vars: Vec<LocalId>,
    pub(crate) init: Vec<Expr>,
    pub(crate) head: LoopHead,
    /// A tuple of the next values, or the only one.
    pub(crate) body: Expr,
    pub(crate) result: Expr,
}

/// How long a loop goes on.
#[derive(Clone, Debug)]
pub(crate) enum LoopHead {
    While { condition: Expr, at_most: i64 },
    Repeat { index: LocalId, count: Expr },
}

/// What a body needs that stands outside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Callee {
    Constant(usize),
    Function(usize),
    Program(usize),
}

/// The code of an item.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    pub(crate) expr: Expr,
    /// Parameters first.
    pub(crate) locals: Vec<Local>,
    /// The element type of each [`Elem::Open`].
    pub(crate) decided: Vec<DType>,
    pub(crate) calls: Vec<(Callee, Span)>,
    /// Reducers of its reductions.
    pub(crate) reducers: Vec<ReducerUse>,
    /// The positions it asks for, sorted.
    pub(crate) positions: Vec<Entity>,
    /// The first thing in it that cannot stand inside a message, with its name.
    pub(crate) whole_graph: Option<(Span, String)>,
    /// The first thing in it that can stand inside a message, but not inside a reducer.
    pub(crate) tensor_op: Option<(Span, String)>,
}
