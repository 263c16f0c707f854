//! Printing of expressions and blocks: with the parentheses that were written, or without a source with the fewest that
//! keep the tree.

use super::layout::Break;
use super::{Place, Printer, Source};
use crate::ast::{
    Arg, ArgKind, BinaryOp, Block, Expr, ExprKind, If, Let, Loop, LoopHead, LoopVar, Pattern, RecordField, Stmt,
    StmtKind,
};

/// How tightly an operand must bind to stand without parentheses; between 1 and 5 as [`BinaryOp::precedence`].
const ANY: u8 = 0;
const SUM: u8 = 4;
const UNARY: u8 = 6;
const POSTFIX: u8 = 7;
const PRIMARY: u8 = 8;

impl Printer<'_> {
    pub(super) fn expr(&mut self, expr: &Expr) {
        self.operand(expr, ANY);
    }

    /// An expression that ends before a `>`.
    pub(super) fn sum(&mut self, expr: &Expr) {
        self.operand(expr, SUM);
    }

    /// ` value`; on a line of its own, after a comment, it is indented.
    pub(super) fn value(&mut self, expr: &Expr) {
        self.space();
        let hangs = self.source.as_ref().is_some_and(Source::comments_ahead);
        if hangs {
            self.indent();
        }
        self.expr(expr);
        if hangs {
            self.dedent();
        }
    }

    /// Pairs of parentheses that were written around an expression.
    fn written(&self, expr: &Expr) -> usize {
        self.source.as_ref().map_or(0, |source| source.parentheses(expr))
    }

    fn operand(&mut self, expr: &Expr, least: u8) {
        match self.written(expr) {
            0 if self.source.is_none() && binding(expr) < least => {
                self.token("(");
                self.bare(expr);
                self.token(")");
            }
            0 => self.bare(expr),
            written => {
                self.token("(");
                (1..written).for_each(|_| self.skip());
                self.bare(expr);
                (1..written).for_each(|_| self.skip());
                self.token(")");
            }
        }
    }

    fn bare(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Int { text, .. } | ExprKind::Float { text } => self.token(text),
            ExprKind::Bool(value) => self.token(if *value { "true" } else { "false" }),
            ExprKind::Name(name) => self.name(name),
            ExprKind::Unary { op, operand } => {
                self.token(op.symbol());
                self.operand(operand, UNARY);
            }
            ExprKind::Binary { op, left, right, .. } => {
                self.open();
                self.binary(*op, left, right);
                self.close();
            }
            ExprKind::Call { callee, args } => {
                self.operand(callee, POSTFIX);
                self.list(["(", ")"], args, Printer::arg);
            }
            ExprKind::Index { base, indices } => {
                self.operand(base, POSTFIX);
                self.list(["[", "]"], indices, Printer::expr);
            }
            ExprKind::Field { base, name } => {
                self.before_dot(base);
                self.name(name);
            }
            ExprKind::Element { base, index, .. } => {
                self.before_dot(base);
                self.token(&index.to_string());
            }
            ExprKind::Record(fields) => self.list(["{", "}"], fields, Printer::record_field),
            ExprKind::Tuple(elements) => self.list(["(", ")"], elements, Printer::expr),
            ExprKind::List(elements) => self.list(["[", "]"], elements, Printer::expr),
            ExprKind::If(item) => {
                self.open();
                self.if_expr(item);
                self.close();
            }
            ExprKind::Loop(item) => self.loop_expr(item),
            ExprKind::Error => self.insert("?"),
        }
    }

    /// Operators that bind alike, as in `a + b - c`, stand on one line or begin a line each.
    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr) {
        let precedence = op.precedence();
        match &left.kind {
            ExprKind::Binary { op: inner, left: first, right: second, .. }
                if inner.precedence() == precedence && !op.is_comparison() && self.written(left) == 0 =>
            {
                self.binary(*inner, first, second);
            }
            _ => self.operand(left, if op.is_comparison() { precedence + 1 } else { precedence }),
        }
        self.indent();
        self.line(Break::Space);
        self.word(op.symbol());
        self.operand(right, precedence + 1);
        self.dedent();
    }

    /// `base.`; a number next to the dot would become another number.
    fn before_dot(&mut self, base: &Expr) {
        let number = matches!(base.kind, ExprKind::Int { .. } | ExprKind::Float { .. });
        self.operand(base, if number { PRIMARY + 1 } else { POSTFIX });
        if number && self.source.is_some() {
            self.space();
        }
        self.token(".");
    }

    fn arg(&mut self, arg: &Arg) {
        match &arg.kind {
            ArgKind::Positional => self.expr(&arg.value),
            ArgKind::Named(name) => {
                self.name(name);
                self.token(":");
                self.value(&arg.value);
            }
            ArgKind::AtMost => {
                self.word("at");
                self.token("most");
                self.value(&arg.value);
            }
        }
    }

    fn record_field(&mut self, field: &RecordField) {
        self.name(&field.name);
        if let Some(value) = &field.value {
            self.token(":");
            self.value(value);
        }
    }

    fn if_expr(&mut self, item: &If) {
        self.word("if");
        self.expr(&item.condition);
        self.space();
        self.block_lines(&item.then_block, Break::Space);
        self.space();
        self.word("else");
        match else_if(&item.else_block) {
            Some(next) if !self.at("{") => self.if_expr(next),
            _ => self.block_lines(&item.else_block, Break::Space),
        }
    }

    fn loop_expr(&mut self, item: &Loop) {
        // A long head has a carried value a line.
        self.open();
        self.word("loop");
        self.open_list(["(", ")"], Break::Soft, &item.vars, Printer::loop_var);
        self.space();
        match &item.head {
            LoopHead::While { condition, at_most } => {
                self.word("while");
                self.expr(condition);
                if let Some(bound) = at_most {
                    self.mark(",");
                    self.space();
                    self.word("at");
                    self.word("most");
                    self.expr(bound);
                }
            }
            LoopHead::For { index, bound } => {
                self.word("for");
                self.name(index);
                self.space();
                self.word("<");
                self.expr(bound);
            }
        }
        self.close();
        self.space();
        self.block(&item.body);
        self.space();
        self.word("in");
        self.expr(&item.result);
    }

    fn loop_var(&mut self, var: &LoopVar) {
        self.placement(&var.placement);
        self.name(&var.name);
        if let Some(ty) = &var.ty {
            self.typed(ty);
        }
        self.space();
        self.token("=");
        self.value(&var.init);
    }

    /// `{ value }` on one line if it fits, else a statement a line.
    pub(super) fn block(&mut self, block: &Block) {
        self.open();
        self.block_lines(block, Break::Space);
        self.close();
    }

    /// A block whose lines are those of the group around it; `line` is that of a block without statements.
    pub(super) fn block_lines(&mut self, block: &Block, line: Break) {
        let line = if block.statements.is_empty() { line } else { Break::Hard };
        self.token("{");
        self.indent();
        self.line(line);
        self.gap(Place::First);
        for statement in &block.statements {
            self.statement(statement);
            self.line(line);
            self.gap(Place::Next);
        }
        self.expr(&block.value);
        self.gap(Place::Last);
        self.dedent();
        self.line(line);
        self.token("}");
    }

    fn statement(&mut self, statement: &Stmt) {
        match &statement.kind {
            StmtKind::Let(item) => self.let_stmt(item),
            StmtKind::Error => self.insert("?;"),
        }
    }

    fn let_stmt(&mut self, item: &Let) {
        self.placement(&item.placement);
        self.word("let");
        self.pattern(&item.pattern);
        if let Some(ty) = &item.ty {
            self.typed(ty);
        }
        self.space();
        self.token("=");
        self.value(&item.value);
        self.mark(";");
    }

    pub(super) fn pattern(&mut self, pattern: &Pattern) {
        match pattern {
            Pattern::Name(name) => self.name(name),
            Pattern::Tuple(_, elements) => self.list(["(", ")"], elements, Printer::pattern),
        }
    }
}

/// The `if` of an `else` block that holds nothing else.
fn else_if(block: &Block) -> Option<&If> {
    match &block.value.kind {
        ExprKind::If(item) if block.statements.is_empty() => Some(item),
        _ => None,
    }
}

/// How tightly an expression binds as it is printed without parentheses.
fn binding(expr: &Expr) -> u8 {
    match &expr.kind {
        // An `if` could stand as an operand; parentheses say where it ends.
        ExprKind::Loop(_) | ExprKind::If(_) => ANY,
        ExprKind::Binary { op, .. } => op.precedence(),
        ExprKind::Unary { .. } => UNARY,
        ExprKind::Call { .. } | ExprKind::Index { .. } | ExprKind::Field { .. } | ExprKind::Element { .. } => POSTFIX,
        _ => PRIMARY,
    }
}
