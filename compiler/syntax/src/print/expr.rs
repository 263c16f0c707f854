//! Printing of expressions and blocks, with the fewest parentheses that keep the tree.

use super::Printer;
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

impl Printer {
    pub(super) fn expr(&mut self, expr: &Expr) {
        self.operand(expr, ANY);
    }

    /// An expression that ends before a `>`.
    pub(super) fn sum(&mut self, expr: &Expr) {
        self.operand(expr, SUM);
    }

    fn operand(&mut self, expr: &Expr, least: u8) {
        let parentheses = binding(expr) < least;
        if parentheses {
            self.put("(");
        }
        self.bare(expr);
        if parentheses {
            self.put(")");
        }
    }

    fn bare(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Int { text, .. } | ExprKind::Float { text } => self.put(text),
            ExprKind::Bool(value) => self.put(if *value { "true" } else { "false" }),
            ExprKind::Name(name) => self.name(name),
            ExprKind::Unary { op, operand } => {
                self.put(op.symbol());
                self.operand(operand, UNARY);
            }
            ExprKind::Binary { op, left, right, .. } => self.binary(*op, left, right),
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
                self.put(&index.to_string());
            }
            ExprKind::Record(fields) => self.list(["{", "}"], fields, Printer::record_field),
            ExprKind::Tuple(elements) => self.list(["(", ")"], elements, Printer::expr),
            ExprKind::List(elements) => self.list(["[", "]"], elements, Printer::expr),
            ExprKind::If(item) => self.if_expr(item),
            ExprKind::Loop(item) => self.loop_expr(item),
            ExprKind::Error => self.put("?"),
        }
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr) {
        let precedence = op.precedence();
        self.operand(left, if op.is_comparison() { precedence + 1 } else { precedence });
        self.put(" ");
        self.put(op.symbol());
        self.put(" ");
        self.operand(right, precedence + 1);
    }

    /// `base.`; a number before a dot would become another number.
    fn before_dot(&mut self, base: &Expr) {
        let number = matches!(base.kind, ExprKind::Int { .. } | ExprKind::Float { .. });
        self.operand(base, if number { PRIMARY + 1 } else { POSTFIX });
        self.put(".");
    }

    fn arg(&mut self, arg: &Arg) {
        match &arg.kind {
            ArgKind::Positional => {}
            ArgKind::Named(name) => {
                self.name(name);
                self.put(": ");
            }
            ArgKind::AtMost => self.put("at most "),
        }
        self.expr(&arg.value);
    }

    fn record_field(&mut self, field: &RecordField) {
        self.name(&field.name);
        if let Some(value) = &field.value {
            self.put(": ");
            self.expr(value);
        }
    }

    fn if_expr(&mut self, item: &If) {
        self.put("if ");
        self.expr(&item.condition);
        self.put(" ");
        self.block(&item.then_block);
        self.put(" else ");
        match &item.else_block {
            Block { statements, value, .. } if statements.is_empty() && matches!(value.kind, ExprKind::If(_)) => {
                self.bare(value);
            }
            block => self.block(block),
        }
    }

    fn loop_expr(&mut self, item: &Loop) {
        self.put("loop ");
        self.list(["(", ")"], &item.vars, Printer::loop_var);
        match &item.head {
            LoopHead::While { condition, at_most } => {
                self.put(" while ");
                self.expr(condition);
                if let Some(bound) = at_most {
                    self.put(", at most ");
                    self.expr(bound);
                }
            }
            LoopHead::For { index, bound } => {
                self.put(" for ");
                self.name(index);
                self.put(" < ");
                self.expr(bound);
            }
        }
        self.put(" ");
        self.block(&item.body);
        self.put(" in ");
        self.expr(&item.result);
    }

    fn loop_var(&mut self, var: &LoopVar) {
        self.placement(&var.placement);
        self.name(&var.name);
        if let Some(ty) = &var.ty {
            self.put(": ");
            self.ty(ty);
        }
        self.put(" = ");
        self.expr(&var.init);
    }

    /// `{ value }` on one line if it fits, else a statement a line.
    pub(super) fn block(&mut self, block: &Block) {
        self.put("{");
        let inline = |printer: &mut Printer| {
            for statement in &block.statements {
                printer.statement(statement);
                printer.put(" ");
            }
            printer.expr(&block.value);
        };
        let trial = if self.flat || block.statements.is_empty() { self.fits(4, inline) } else { None };
        match trial {
            Some(text) => {
                self.put(" ");
                self.put(&text);
                self.put(" ");
            }
            None => self.block_lines(block),
        }
        self.put("}");
    }

    /// The inside of a block, on lines of its own.
    pub(super) fn block_lines(&mut self, block: &Block) {
        self.indent += 1;
        for statement in &block.statements {
            self.line();
            self.statement(statement);
        }
        self.line();
        self.expr(&block.value);
        self.indent -= 1;
        self.line();
    }

    fn statement(&mut self, statement: &Stmt) {
        match &statement.kind {
            StmtKind::Let(item) => self.let_stmt(item),
            StmtKind::Error => self.put("?;"),
        }
    }

    fn let_stmt(&mut self, item: &Let) {
        self.placement(&item.placement);
        self.put("let ");
        self.pattern(&item.pattern);
        if let Some(ty) = &item.ty {
            self.put(": ");
            self.ty(ty);
        }
        self.put(" = ");
        self.expr(&item.value);
        self.put(";");
    }

    pub(super) fn pattern(&mut self, pattern: &Pattern) {
        match pattern {
            Pattern::Name(name) => self.name(name),
            Pattern::Tuple(_, elements) => {
                self.put("(");
                self.separated(elements, Printer::pattern);
                self.put(")");
            }
        }
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
