//! Modules and their items.

use super::{Block, Docs, Expr, Name, Param, Type};
use tiga_source::Span;

/// A file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// The whole text.
    pub span: Span,
    /// The `//!` lines at its head.
    pub docs: Docs,
    /// Its items, in order.
    pub items: Vec<Item>,
}

/// One item of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its place, without its doc comment.
    pub span: Span,
    /// Its doc comment.
    pub docs: Docs,
    /// A syntax error in it was reported and its tree may lack something: names that seem missing inside it are no
    /// news. Its name, and unless it is [`ItemKind::Broken`] its signature, are as written.
    pub recovered: bool,
    /// What it is.
    pub kind: ItemKind,
}

/// What an item is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ItemKind {
    /// `message …`
    Message(Message),
    /// `reducer …`
    Reducer(Box<Reducer>),
    /// `fn …`
    Function(Function),
    /// `program …`
    Program(Program),
    /// `vjp … wrt (…)`
    Vjp(Vjp),
    /// `type … = …`
    Alias(Alias),
    /// `const …: … = …`
    Constant(Constant),
    /// An item that could not be read; already reported.
    Broken(Broken),
}

/// The word an item starts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemKeyword {
    /// `message`
    Message,
    /// `reducer`
    Reducer,
    /// `fn`
    Function,
    /// `program`
    Program,
    /// `vjp`
    Vjp,
    /// `type`
    Alias,
    /// `const`
    Constant,
}

/// What is known of an item that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The word it starts with.
    pub keyword: ItemKeyword,
    /// Its name, if that could be read.
    pub name: Option<Name>,
}

/// `F` or `set P` of `<set P, F>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generic {
    /// Its place.
    pub span: Span,
    /// A set or a dimension.
    pub kind: GenericKind,
    /// Its name.
    pub name: Name,
}

/// What a generic parameter ranges over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GenericKind {
    /// Index spaces.
    Set,
    /// Feature extents.
    Dim,
}

/// A message: an edge function, an optional reducer and an optional node function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its name.
    pub name: Name,
    /// Sets and dimensions.
    pub generics: Vec<Generic>,
    /// `src`, `dst` and `edge` records, and parameters that are the same on every edge.
    pub params: Vec<Param>,
    /// What it returns.
    pub result: MessageResult,
    /// The edge function's body.
    pub edge: Block,
    /// How a row is reduced; without it, the result is one value per edge.
    pub reduce: Option<Reduce>,
    /// The node function, whose names are the reduced values.
    pub node: Option<Clause>,
}

/// `f32[F]`, `edges f32[F]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageResult {
    /// Where `edges` stands, if the result is declared to be one value per edge.
    pub edges: Option<Span>,
    /// The type of one value.
    pub ty: Type,
}

/// What stands after `reduce`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reduce {
    /// `reduce sum`
    One(ReducerRef),
    /// `reduce (mean, max)`: one for each element of a tuple message; the span holds the parentheses.
    Tuple(Span, Vec<ReducerRef>),
}

/// `top<8>`: a reducer and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReducerRef {
    /// Its place.
    pub span: Span,
    /// The reducer's name.
    pub name: Name,
    /// Extents between `<` and `>`, none without them.
    pub args: Vec<Expr>,
}

/// `combine(a, b) { … }`, `node(total) { … }`: names and a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// Its place, keyword included.
    pub span: Span,
    /// The names between the parentheses.
    pub names: Vec<Name>,
    /// The body.
    pub body: Block,
}

/// A reducer: state, lift or step, combine, finalize, the value of an empty row, laws, adjoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reducer {
    /// Its name.
    pub name: Name,
    /// Sets and dimensions.
    pub generics: Vec<Generic>,
    /// One element.
    pub params: Vec<Param>,
    /// What a row becomes.
    pub result: Type,
    /// `state { … }`; empty if not written.
    pub state: Vec<StateField>,
    /// `lift { … }`: one element as a state.
    pub lift: Option<Block>,
    /// `step(s, x) { … }`
    pub step: Option<Clause>,
    /// `combine(a, b) { … }`
    pub combine: Option<Clause>,
    /// `finalize(s) { … }`
    pub finalize: Option<Clause>,
    /// `empty e`
    pub empty: Option<Expr>,
    /// `laws associative, commutative`
    pub laws: Vec<Name>,
    /// `adjoint(s, out, out_bar) for (…) { … }`
    pub adjoint: Option<Adjoint>,
}

/// `m: f32 = -inf`: a component of a reducer's state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateField {
    /// Its place.
    pub span: Span,
    /// Its doc comment.
    pub docs: Docs,
    /// Its name.
    pub name: Name,
    /// Its type.
    pub ty: Type,
    /// How it starts.
    pub init: Expr,
}

/// `adjoint(s, out, out_bar) for (score, value) { … }`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adjoint {
    /// Its place, keyword included.
    pub span: Span,
    /// Final state, result, cotangent.
    pub names: Vec<Name>,
    /// The parameters whose gradients the body gives, in order.
    pub wrt: Vec<Name>,
    /// The body.
    pub body: Block,
}

/// `fn f(x: f32) -> f32 { … }`: called by name, inlined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: Name,
    /// Sets and dimensions.
    pub generics: Vec<Generic>,
    /// Its parameters.
    pub params: Vec<Param>,
    /// What it returns.
    pub result: Type,
    /// Its body.
    pub body: Block,
}

/// An exported entry point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Its name.
    pub name: Name,
    /// Sets and dimensions.
    pub generics: Vec<Generic>,
    /// Its parameters.
    pub params: Vec<Param>,
    /// Its named results.
    pub results: Vec<Param>,
    /// Its body: one value for one result, else a tuple.
    pub body: Block,
}

/// `vjp heat wrt (T, c, b) with value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vjp {
    /// The program to differentiate.
    pub program: Name,
    /// The parameters to differentiate by.
    pub wrt: Vec<Name>,
    /// Whether the result comes along.
    pub with_value: bool,
}

/// `type real = f32`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alias {
    /// The new name.
    pub name: Name,
    /// What it stands for.
    pub ty: Type,
}

/// `const pi: f64 = 3.141592653589793`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constant {
    /// Its name.
    pub name: Name,
    /// Its type.
    pub ty: Type,
    /// Its value.
    pub value: Expr,
}

impl Item {
    /// The name it declares, or for a `vjp` the program it differentiates; `None` if that could not be read.
    pub fn name(&self) -> Option<&Name> {
        match &self.kind {
            ItemKind::Message(item) => Some(&item.name),
            ItemKind::Reducer(item) => Some(&item.name),
            ItemKind::Function(item) => Some(&item.name),
            ItemKind::Program(item) => Some(&item.name),
            ItemKind::Vjp(item) => Some(&item.program),
            ItemKind::Alias(item) => Some(&item.name),
            ItemKind::Constant(item) => Some(&item.name),
            ItemKind::Broken(item) => item.name.as_ref(),
        }
    }
}

impl ItemKeyword {
    /// As written in the source.
    pub fn text(self) -> &'static str {
        match self {
            ItemKeyword::Message => "message",
            ItemKeyword::Reducer => "reducer",
            ItemKeyword::Function => "fn",
            ItemKeyword::Program => "program",
            ItemKeyword::Vjp => "vjp",
            ItemKeyword::Alias => "type",
            ItemKeyword::Constant => "const",
        }
    }
}
