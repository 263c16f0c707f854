//! Builders of expressions, statements and blocks.

use super::Builder;
use crate::ast::{
    Annotation, Arg, ArgKind, BinaryOp, Block, Expr, ExprKind, If, Loop, LoopHead, LoopVar, Name, Stmt, StmtKind, Type,
    UnaryOp,
};
use crate::error::{SyntaxError, clip};

impl Builder<'_> {
    pub fn expr(&self, l: usize, kind: ExprKind, r: usize) -> Expr {
        Expr { span: self.span(l, r), kind }
    }

    pub fn int(&mut self, l: usize, text: &str, r: usize) -> Expr {
        match text.replace('_', "").parse() {
            Ok(value) => self.expr(l, ExprKind::Int { value, text: text.to_owned() }, r),
            Err(_) => {
                self.report(SyntaxError::NumberTooLarge { text: clip(text) }, self.span(l, r));
                self.expr(l, ExprKind::Error, r)
            }
        }
    }

    pub fn float(&self, l: usize, text: &str, r: usize) -> Expr {
        self.expr(l, ExprKind::Float { text: text.replace('_', "") }, r)
    }

    pub fn unary(&self, l: usize, op: UnaryOp, operand: Expr) -> Expr {
        let r = operand.span.end as usize;
        self.expr(l, ExprKind::Unary { op, operand: Box::new(operand) }, r)
    }

    pub fn binary(&self, left: Expr, op: BinaryOp, at: usize, right: Expr) -> Expr {
        let op_span = self.span(at, at + op.symbol().len());
        let span = left.span.to(right.span);
        Expr { span, kind: ExprKind::Binary { op, op_span, left: Box::new(left), right: Box::new(right) } }
    }

    pub fn call(&self, callee: Expr, args: Vec<Arg>, r: usize) -> Expr {
        self.expr(callee.span.start as usize, ExprKind::Call { callee: Box::new(callee), args }, r)
    }

    pub fn index(&self, base: Expr, indices: Vec<Expr>, r: usize) -> Expr {
        self.expr(base.span.start as usize, ExprKind::Index { base: Box::new(base), indices }, r)
    }

    pub fn field(&self, base: Expr, name: Name) -> Expr {
        Expr { span: base.span.to(name.span), kind: ExprKind::Field { base: Box::new(base), name } }
    }

    pub fn element(&mut self, base: Expr, l: usize, text: &str, r: usize) -> Expr {
        let index_span = self.span(l, r);
        let span = base.span.to(index_span);
        match text.replace('_', "").parse() {
            Ok(index) => Expr { span, kind: ExprKind::Element { base: Box::new(base), index, index_span } },
            Err(_) => {
                self.report(SyntaxError::NumberTooLarge { text: clip(text) }, index_span);
                Expr { span, kind: ExprKind::Error }
            }
        }
    }

    pub fn arg(&self, l: usize, kind: ArgKind, value: Expr) -> Arg {
        Arg { span: self.span(l, value.span.end as usize), kind, value }
    }

    pub fn if_expr(&self, l: usize, condition: Expr, then_block: Block, else_block: Block) -> Expr {
        let r = else_block.span.end as usize;
        self.expr(l, ExprKind::If(Box::new(If { condition, then_block, else_block })), r)
    }

    pub fn else_if(&self, inner: Expr) -> Block {
        Block { span: inner.span, statements: Vec::new(), value: Box::new(inner) }
    }

    pub fn loop_expr(&self, l: usize, vars: Vec<LoopVar>, head: LoopHead, body: Block, result: Expr) -> Expr {
        let r = result.span.end as usize;
        self.expr(l, ExprKind::Loop(Box::new(Loop { vars, head, body, result })), r)
    }

    pub fn loop_var(&self, l: usize, placement: Vec<Annotation>, name: Name, ty: Option<Type>, init: Expr) -> LoopVar {
        LoopVar { span: self.span(l, init.span.end as usize), placement, name, ty, init }
    }

    pub fn block(&self, l: usize, statements: Vec<Stmt>, value: Expr, r: usize) -> Block {
        Block { span: self.span(l, r), statements, value: Box::new(value) }
    }

    pub fn stmt(&self, l: usize, kind: StmtKind, r: usize) -> Stmt {
        Stmt { span: self.span(l, r), kind }
    }
}
