//! Typed trees: names are resolved, overloads are chosen, every expression has a type.

use super::infer::Elem;
use super::ty::{Substitution, Ty};
use crate::builtin::BuiltinReducer;
use tiga_abi::{DType, Poly, Symbol};
use tiga_ir::Op;
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

/// A reducer that a message names.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ReducerUse {
    /// One of the language, of messages with an element type.
    Builtin(BuiltinReducer, Elem),
    /// One of the language that is written in it, by name; with what `real` is, if it speaks of it.
    Prelude(&'static str, Option<Elem>),
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
    ReduceSet(BuiltinReducer, Box<Expr>),
    /// Over one feature axis.
    ReduceAxis(BuiltinReducer, i64, Box<Expr>),
    MatMul(Box<Expr>, Box<Expr>),
    InDegree(Box<Expr>),
    OutDegree(Box<Expr>),
    Transpose(Box<Expr>),
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
    /// Reducers it names, with the element types they reduce.
    pub(crate) reducers: Vec<(BuiltinReducer, Elem)>,
    /// The first thing in it that cannot stand inside a message, with its name.
    pub(crate) whole_graph: Option<(Span, String)>,
    /// The first thing in it that can stand inside a message, but not inside a reducer.
    pub(crate) tensor_op: Option<(Span, String)>,
}
