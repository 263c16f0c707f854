//! Expressions, statements and blocks.

use super::{Annotation, Name, Type};
use tiga_source::Span;

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expr {
    /// Its place.
    pub span: Span,
    /// What it is.
    pub kind: ExprKind,
}

/// What an expression is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExprKind {
    /// `42`, `1_000`.
    Int {
        /// Its value; a minus sign is a [`UnaryOp::Neg`] around it.
        value: u64,
        /// As written.
        text: String,
    },
    /// `1.0`, `1e-10`: as written, without underscores, so that each precision can round it once.
    Float {
        /// Digits that `str::parse` of any float type accepts.
        text: String,
    },
    /// `true`, `false`.
    Bool(bool),
    /// A name; `inf` and `nan` are names too.
    Name(Name),
    /// `-x`, `!x`.
    Unary {
        /// The operator.
        op: UnaryOp,
        /// What it applies to.
        operand: Box<Expr>,
    },
    /// `a + b`.
    Binary {
        /// The operator.
        op: BinaryOp,
        /// The operator's place.
        op_span: Span,
        /// Left operand.
        left: Box<Expr>,
        /// Right operand.
        right: Box<Expr>,
    },
    /// `f(x, axis: -1, at most 64)`, `heat.vjp(g)`.
    Call {
        /// A name or a field access.
        callee: Box<Expr>,
        /// The arguments, in order.
        args: Vec<Arg>,
    },
    /// `x[ids]`: one index or more.
    Index {
        /// What is indexed.
        base: Box<Expr>,
        /// The indices.
        indices: Vec<Expr>,
    },
    /// `src.h`, `heat.vjp`.
    Field {
        /// The record, graph or program.
        base: Box<Expr>,
        /// The field's name.
        name: Name,
    },
    /// `pair.0`.
    Element {
        /// The tuple.
        base: Box<Expr>,
        /// Which element, from 0.
        index: u32,
        /// The index's place.
        index_span: Span,
    },
    /// `{T, x: e}`.
    Record(Vec<RecordField>),
    /// `(a, b)`, two or more.
    Tuple(Vec<Expr>),
    /// `[H, D]`.
    List(Vec<Expr>),
    /// `if c { a } else { b }`: runs one branch.
    If(Box<If>),
    /// `loop (…) while … { … } in …`, `loop (…) for i < n { … } in …`.
    Loop(Box<Loop>),
    /// What a syntax error hid; already reported.
    Error,
}

/// An operator before its operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `-`
    Neg,
    /// `!`
    Not,
}

/// An operator between its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    /// `||`
    Or,
    /// `&&`
    And,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Rem,
    /// `@`, the matrix product
    MatMul,
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arg {
    /// Its place, name included.
    pub span: Span,
    /// How it is passed.
    pub kind: ArgKind,
    /// Its value.
    pub value: Expr,
}

/// How an argument is passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgKind {
    /// `x`
    Positional,
    /// `axis: x`
    Named(Name),
    /// `at most x`
    AtMost,
}

/// `T` or `x: e` of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordField {
    /// Its place.
    pub span: Span,
    /// The field's name.
    pub name: Name,
    /// Its value; `None` where the name stands for the value of that name.
    pub value: Option<Expr>,
}

/// `if c { a } else { b }`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct If {
    /// The condition.
    pub condition: Expr,
    /// The value when it holds.
    pub then_block: Block,
    /// The value when it does not; for `else if`, a block that holds only that `if`.
    pub else_block: Block,
}

/// A loop with carried values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The carried values and how they start.
    pub vars: Vec<LoopVar>,
    /// How long it goes on.
    pub head: LoopHead,
    /// The next round's values: one for a single carried value, else a tuple.
    pub body: Block,
    /// The loop's value, where the carried names mean their last values.
    pub result: Expr,
}

/// `@tier(nvme) r: f32[N] = fill(N, 0)`: a carried value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopVar {
    /// Its place, annotations included.
    pub span: Span,
    /// Where it lives.
    pub placement: Vec<Annotation>,
    /// Its name.
    pub name: Name,
    /// Its type, if written.
    pub ty: Option<Type>,
    /// How it starts.
    pub init: Expr,
}

/// How long a loop goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoopHead {
    /// `while c, at most n`
    While {
        /// Tested before each round.
        condition: Expr,
        /// The bound on rounds, if written.
        at_most: Option<Expr>,
    },
    /// `for i < n`
    For {
        /// Counts rounds from 0.
        index: Name,
        /// How many rounds.
        bound: Expr,
    },
}

/// `{ let a = …; value }`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its place, braces included.
    pub span: Span,
    /// The statements, in order.
    pub statements: Vec<Stmt>,
    /// Its value.
    pub value: Box<Expr>,
}

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stmt {
    /// Its place, `;` included.
    pub span: Span,
    /// What it is.
    pub kind: StmtKind,
}

/// What a statement is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StmtKind {
    /// `let x = e;`
    Let(Box<Let>),
    /// What a syntax error hid; already reported.
    Error,
}

/// `@paged let x: f32[N] = e;`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Let {
    /// Where the value lives.
    pub placement: Vec<Annotation>,
    /// What is named.
    pub pattern: Pattern,
    /// Its type, if written.
    pub ty: Option<Type>,
    /// The value.
    pub value: Expr,
}

/// The left side of a `let`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// `x`
    Name(Name),
    /// `(a, (b, c))`, two or more.
    Tuple(Span, Vec<Pattern>),
}

impl UnaryOp {
    /// As written in the source.
    pub fn symbol(self) -> &'static str {
        match self {
            UnaryOp::Neg => "-",
            UnaryOp::Not => "!",
        }
    }
}

impl BinaryOp {
    /// As written in the source.
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOp::Or => "||",
            BinaryOp::And => "&&",
            BinaryOp::Eq => "==",
            BinaryOp::Ne => "!=",
            BinaryOp::Lt => "<",
            BinaryOp::Le => "<=",
            BinaryOp::Gt => ">",
            BinaryOp::Ge => ">=",
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Rem => "%",
            BinaryOp::MatMul => "@",
        }
    }

    /// How tightly it binds: 1 for `||`, 2 for `&&`, 3 for comparisons (which do not chain), 4 for `+ -`,
    /// 5 for `* / % @`. All others associate to the left.
    pub fn precedence(self) -> u8 {
        match self {
            BinaryOp::Or => 1,
            BinaryOp::And => 2,
            BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => 3,
            BinaryOp::Add | BinaryOp::Sub => 4,
            BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem | BinaryOp::MatMul => 5,
        }
    }

    /// Whether it compares.
    pub fn is_comparison(self) -> bool {
        self.precedence() == 3
    }
}

impl Pattern {
    /// Its place.
    pub fn span(&self) -> Span {
        match self {
            Pattern::Name(name) => name.span,
            Pattern::Tuple(span, _) => *span,
        }
    }
}
