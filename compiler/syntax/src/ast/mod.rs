//! The tree of a `.tg` file: what was written, with its place, and nothing that was inferred.
//!
//! Every node has a [`Span`]. Literals keep their text. Redundant parentheses are not kept, and an `else if` is an
//! `else` block whose value is an `if`. What a syntax error hid stands as an `Error` node ([`ExprKind::Error`],
//! [`StmtKind::Error`]), as an item with [`Item::recovered`] set, or as [`ItemKind::Broken`].

mod erase;
mod expr;
mod item;
mod types;

pub use expr::{
    Arg, ArgKind, BinaryOp, Block, Expr, ExprKind, If, Let, Loop, LoopHead, LoopVar, Pattern, RecordField, Stmt,
    StmtKind, UnaryOp,
};
pub use item::{
    Adjoint, Alias, Broken, Clause, Constant, Function, Generic, GenericKind, Item, ItemKeyword, ItemKind, Message,
    MessageResult, Module, Program, Reduce, Reducer, ReducerRef, StateField, Vjp,
};
pub use types::{Annotation, Endpoints, Param, Type, TypeKind};

use tiga_source::Span;

/// A name as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// Its place.
    pub span: Span,
    /// Its text.
    pub text: String,
}

/// The lines of a doc comment, without their `///` and one space after it.
pub type Docs = Vec<String>;
