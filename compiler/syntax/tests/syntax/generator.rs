//! Random trees, for the printer: everything the grammar can say, a few levels deep.

use tiga_source::{FileId, Span};
use tiga_syntax::ast::*;

/// A source of choices.
pub struct Generator(u64);

const NAMES: [&str; 16] = [
    "x", "T", "edge", "value", "at", "most", "node", "state", "inf", "g", "total", "set", "laws", "with", "graph", "_9",
];

fn span() -> Span {
    Span::new(FileId(0), 0, 0)
}

impl Generator {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `bound` (xorshift64).
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }

    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    fn flip(&mut self) -> bool {
        self.below(2) == 0
    }

    /// `least` to `least + 2` of something.
    fn some<T>(&mut self, least: usize, mut one: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..least + self.below(3)).map(|_| one(self)).collect()
    }

    fn maybe<T>(&mut self, one: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.flip() { Some(one(self)) } else { None }
    }

    fn name(&mut self) -> Name {
        Name { span: span(), text: (*self.pick(&NAMES)).to_owned() }
    }

    fn names(&mut self) -> Vec<Name> {
        self.some(0, Self::name)
    }

    fn docs(&mut self) -> Docs {
        if self.below(6) > 0 {
            return Docs::new();
        }
        self.some(1, |gen_| (*gen_.pick(&["a line", "", "  indented", "/ slash", "µ"])).to_owned())
    }

    pub fn module(&mut self) -> Module {
        let docs = self.docs();
        Module { span: span(), docs, items: self.some(0, Self::item) }
    }

    fn item(&mut self) -> Item {
        let docs = self.docs();
        let kind = match self.below(7) {
            0 => ItemKind::Message(self.message()),
            1 => ItemKind::Reducer(Box::new(self.reducer())),
            2 => ItemKind::Function(Function {
                name: self.name(),
                generics: self.generics(),
                params: self.params(2),
                result: self.ty(2),
                body: self.block(4),
            }),
            3 => ItemKind::Program(Program {
                name: self.name(),
                generics: self.generics(),
                params: self.params(2),
                results: self.params(1),
                body: self.block(5),
            }),
            4 => ItemKind::Vjp(Vjp { program: self.name(), wrt: self.names(), with_value: self.flip() }),
            5 => ItemKind::Alias(Alias { name: self.name(), ty: self.ty(2) }),
            _ => ItemKind::Constant(Constant { name: self.name(), ty: self.ty(1), value: self.expr(3) }),
        };
        Item { span: span(), docs, recovered: false, kind }
    }

    fn generics(&mut self) -> Vec<Generic> {
        self.some(0, |gen_| Generic {
            span: span(),
            kind: if gen_.flip() { GenericKind::Set } else { GenericKind::Dim },
            name: gen_.name(),
        })
    }

    fn params(&mut self, depth: usize) -> Vec<Param> {
        self.some(0, |gen_| Param {
            span: span(),
            docs: gen_.docs(),
            placement: gen_.placement(),
            name: gen_.name(),
            ty: gen_.ty(depth),
        })
    }

    fn placement(&mut self) -> Vec<Annotation> {
        if self.below(5) > 0 {
            return Vec::new();
        }
        self.some(1, |gen_| Annotation { span: span(), name: gen_.name(), args: gen_.some(0, |gen_| gen_.expr(1)) })
    }

    fn ty(&mut self, depth: usize) -> Type {
        let kind = match self.below(if depth == 0 { 4 } else { 6 }) {
            0 => TypeKind::Graph(Endpoints::Fresh),
            1 => TypeKind::Graph(Endpoints::Same(self.name())),
            2 => TypeKind::Graph(Endpoints::Between(self.name(), self.name())),
            3 => {
                let element = Name { span: span(), text: (*self.pick(&["f32", "real", "i64"])).to_owned() };
                TypeKind::Tensor { element, axes: self.some(0, |gen_| gen_.expr(2)) }
            }
            4 => TypeKind::Record(self.params(depth - 1)),
            _ => TypeKind::Tuple(self.some(2, |gen_| gen_.ty(depth - 1))),
        };
        Type { span: span(), kind }
    }

    fn message(&mut self) -> Message {
        let reducer =
            |gen_: &mut Self| ReducerRef { span: span(), name: gen_.name(), args: gen_.some(0, |gen_| gen_.expr(2)) };
        Message {
            name: self.name(),
            generics: self.generics(),
            params: self.params(1),
            result: MessageResult { edges: self.maybe(|_| span()), ty: self.ty(1) },
            edge: self.block(4),
            reduce: match self.below(3) {
                0 => None,
                1 => Some(Reduce::One(reducer(self))),
                _ => Some(Reduce::Tuple(span(), self.some(0, reducer))),
            },
            node: self.maybe(Self::clause),
        }
    }

    fn clause(&mut self) -> Clause {
        Clause { span: span(), names: self.names(), body: self.block(3) }
    }

    fn reducer(&mut self) -> Reducer {
        Reducer {
            name: self.name(),
            generics: self.generics(),
            params: self.params(1),
            result: self.ty(1),
            state: self.some(0, |gen_| StateField {
                span: span(),
                docs: gen_.docs(),
                name: gen_.name(),
                ty: gen_.ty(1),
                init: gen_.expr(2),
            }),
            lift: self.maybe(|gen_| gen_.block(2)),
            step: self.maybe(Self::clause),
            combine: self.maybe(Self::clause),
            finalize: self.maybe(Self::clause),
            empty: self.maybe(|gen_| gen_.expr(2)),
            laws: self.names(),
            adjoint: self.maybe(|gen_| Adjoint {
                span: span(),
                names: gen_.names(),
                wrt: gen_.names(),
                body: gen_.block(2),
            }),
        }
    }

    fn block(&mut self, depth: usize) -> Block {
        let statements = self.some(0, |gen_| {
            let item = Let {
                placement: gen_.placement(),
                pattern: gen_.pattern(2),
                ty: gen_.maybe(|gen_| gen_.ty(1)),
                value: gen_.expr(depth.saturating_sub(1)),
            };
            Stmt { span: span(), kind: StmtKind::Let(Box::new(item)) }
        });
        Block { span: span(), statements, value: self.boxed(depth) }
    }

    fn pattern(&mut self, depth: usize) -> Pattern {
        if depth == 0 || self.below(3) > 0 {
            Pattern::Name(self.name())
        } else {
            Pattern::Tuple(span(), self.some(2, |gen_| gen_.pattern(depth - 1)))
        }
    }

    fn boxed(&mut self, depth: usize) -> Box<Expr> {
        Box::new(self.expr(depth))
    }

    fn expr(&mut self, depth: usize) -> Expr {
        let kind = if depth == 0 { self.leaf() } else { self.branch(depth - 1) };
        Expr { span: span(), kind }
    }

    fn leaf(&mut self) -> ExprKind {
        match self.below(4) {
            0 => {
                let value = self.below(1000) as u64;
                ExprKind::Int { value, text: value.to_string() }
            }
            1 => ExprKind::Float { text: (*self.pick(&["0.5", "1e-10", "2.5e3"])).to_owned() },
            2 => ExprKind::Bool(self.flip()),
            _ => ExprKind::Name(self.name()),
        }
    }

    fn branch(&mut self, depth: usize) -> ExprKind {
        use BinaryOp::*;
        match self.below(16) {
            0 => {
                let op = *self.pick(&[UnaryOp::Neg, UnaryOp::Not]);
                ExprKind::Unary { op, operand: self.boxed(depth) }
            }
            1..=4 => {
                let op = *self.pick(&[Or, And, Eq, Ne, Lt, Le, Gt, Ge, Add, Sub, Mul, Div, Rem, MatMul]);
                ExprKind::Binary { op, op_span: span(), left: self.boxed(depth), right: self.boxed(depth) }
            }
            5 => ExprKind::Call { callee: self.boxed(depth), args: self.some(0, |gen_| gen_.arg(depth)) },
            6 => ExprKind::Index { base: self.boxed(depth), indices: self.some(1, |gen_| gen_.expr(depth)) },
            7 => {
                let text = if self.flip() { "vjp".to_owned() } else { self.name().text };
                ExprKind::Field { base: self.boxed(depth), name: Name { span: span(), text } }
            }
            8 => {
                let index = self.below(12) as u32;
                ExprKind::Element { base: self.boxed(depth), index, index_span: span() }
            }
            9 => ExprKind::Record(self.some(0, |gen_| RecordField {
                span: span(),
                name: gen_.name(),
                value: gen_.maybe(|gen_| gen_.expr(depth)),
            })),
            10 => ExprKind::Tuple(self.some(2, |gen_| gen_.expr(depth))),
            11 => ExprKind::List(self.some(0, |gen_| gen_.expr(depth))),
            12 => ExprKind::If(Box::new(If {
                condition: self.expr(depth),
                then_block: self.block(depth),
                else_block: self.block(depth),
            })),
            13 => ExprKind::Loop(Box::new(self.loop_expr(depth))),
            _ => self.leaf(),
        }
    }

    fn arg(&mut self, depth: usize) -> Arg {
        let kind = match self.below(4) {
            0 => ArgKind::Named(self.name()),
            1 => ArgKind::AtMost,
            _ => ArgKind::Positional,
        };
        Arg { span: span(), kind, value: self.expr(depth) }
    }

    fn loop_expr(&mut self, depth: usize) -> Loop {
        let vars = self.some(0, |gen_| LoopVar {
            span: span(),
            placement: gen_.placement(),
            name: gen_.name(),
            ty: gen_.maybe(|gen_| gen_.ty(1)),
            init: gen_.expr(depth),
        });
        let head = if self.flip() {
            LoopHead::While { condition: self.expr(depth), at_most: self.maybe(|gen_| gen_.expr(depth)) }
        } else {
            LoopHead::For { index: self.name(), bound: self.expr(depth) }
        };
        Loop { vars, head, body: self.block(depth), result: self.expr(depth) }
    }
}
