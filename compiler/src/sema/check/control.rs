//! Blocks, `if` and loops.

use super::super::error::SemaError;
use super::super::hir::{Axis, Expr, Kind, LocalId, Loop, LoopHead, Pattern};
use super::super::signature::{duplicate, refuse_placement};
use super::super::ty::{Tensor, Ty};
use super::{Checker, count};
use indexmap::IndexMap;
use tiga_abi::DType;
use tiga_source::Span;
use tiga_syntax::ast::{self, StmtKind};

impl Checker<'_> {
    /// `{ let a = …; value }`.
    pub(super) fn block(&mut self, block: &ast::Block) -> Expr {
        self.scoped(|this| {
            let mut lets = Vec::new();
            for statement in &block.statements {
                if let StmtKind::Let(item) = &statement.kind {
                    lets.push(this.let_stmt(item));
                }
            }
            let value = this.expr(&block.value);
            if lets.is_empty() {
                return value;
            }
            Expr { ty: value.ty.clone(), span: value.span, kind: Kind::Block(lets, Box::new(value)) }
        })
    }

    fn let_stmt(&mut self, item: &ast::Let) -> (Pattern, Expr) {
        refuse_placement(&item.placement, self.errors);
        let mut value = self.expr(&item.value);
        if let Some(ty) = &item.ty {
            let want = self.resolve(|r| r.ty(ty));
            value = self.expect(value, &want, Some((ty.span, "declared here")));
            if value.ty.is_error() {
                value.ty = want;
            }
        }
        let ty = value.ty.clone();
        let pattern = self.pattern(&item.pattern, &ty, &value);
        (pattern, value)
    }

    fn pattern(&mut self, pattern: &ast::Pattern, ty: &Ty, value: &Expr) -> Pattern {
        match pattern {
            ast::Pattern::Name(name) => Pattern::One(self.bind(&name.text, ty.clone(), name.span)),
            ast::Pattern::Tuple(span, patterns) => {
                let mut members = ty.members().unwrap_or_default();
                if members.len() != patterns.len() {
                    if *ty != Ty::Error {
                        let found = if ty.members().is_some() { count(members.len(), "member") } else { self.show(ty) };
                        let error = SemaError::Pattern { expected: count(patterns.len(), "name"), found };
                        let label = format!("this is `{}`", self.show(ty));
                        let names = count(patterns.len(), "name");
                        self.report(error.at(*span).label(names).also(value.span, label));
                    }
                    members = vec![Ty::Error; patterns.len()];
                }
                let all = patterns.iter().zip(&members).map(|(p, ty)| self.pattern(p, ty, value)).collect();
                Pattern::Tuple(all)
            }
        }
    }

    /// A truth value.
    fn condition(&mut self, expr: &ast::Expr) -> Expr {
        let value = self.expr(expr);
        if let Ty::Tensor(tensor) = &value.ty
            && !tensor.is_scalar()
        {
            let error = SemaError::Mismatch { expected: "bool".into(), found: self.show(&value.ty) };
            let error = error.at(value.span).label("one condition decides for all entities");
            let diagnostic = self.point_at_declarations(error, [&value]);
            return self.fail(diagnostic.help("`where(c, a, b)` chooses for each entity"), value.span);
        }
        self.expect(value, &Ty::scalar(DType::Bool), None)
    }

    /// `if c { a } else { b }`.
    pub(super) fn branch(&mut self, item: &ast::If, span: Span) -> Expr {
        self.needs_whole_graph(span.first("if".len()), "`if`".to_owned());
        let condition = self.condition(&item.condition);
        let (then, other) = (self.block(&item.then_block), self.block(&item.else_block));
        if then.ty.is_error() || other.ty.is_error() {
            return self.poison(span);
        }
        for side in [&then, &other] {
            if let Some(found) = not_data(&side.ty) {
                let error =
                    SemaError::BranchValue { found: found.to_owned() }.at(side.span).label(format!("this is {found}"));
                return self.fail(error.help("choose between what is computed from each"), span);
            }
        }
        if !self.fits(&other.ty, &then.ty) {
            let (left, right) = (self.show(&then.ty), self.show(&other.ty));
            let error = SemaError::Branches { left: left.clone(), right: right.clone() };
            let diagnostic =
                error.at(other.span).label(format!("this is `{right}`")).also(then.span, format!("this is `{left}`"));
            let diagnostic = match (&then.ty, &other.ty) {
                (Ty::Tensor(t), _) if t.is_scalar() => self.mismatch_help(diagnostic, &then, &other.ty),
                _ => self.mismatch_help(diagnostic, &other, &then.ty),
            };
            return self.fail(diagnostic, span);
        }
        Expr { ty: then.ty.clone(), span, kind: Kind::If(Box::new([condition, then, other])) }
    }

    /// `loop (…) while … { … } in …` and `loop (…) for i < n { … } in …`.
    pub(super) fn loop_expr(&mut self, item: &ast::Loop, span: Span) -> Expr {
        self.needs_whole_graph(span.first("loop".len()), "a loop".to_owned());
        let init: Vec<Expr> = item.vars.iter().map(|v| self.initial(v)).collect();
        let count = match &item.head {
            ast::LoopHead::For { bound, .. } => {
                let bound = self.expr(bound);
                Some(self.expect(bound, &Ty::scalar(DType::I64), None))
            }
            ast::LoopHead::While { .. } => None,
        };
        self.scoped(|this| {
            let vars = this.carried(item, &init);
            let (head, body) = this.scoped(|this| {
                let head = this.loop_head(&item.head, count);
                (head, this.block(&item.body))
            });
            let body = this.next_values(item, &vars, &init, body);
            let result = this.expr(&item.result);
            let Some(head) = head else {
                return this.poison(span);
            };
            let ty = result.ty.clone();
            Expr { ty, span, kind: Kind::Loop(Box::new(Loop { vars, init, head, body, result })) }
        })
    }

    fn initial(&mut self, var: &ast::LoopVar) -> Expr {
        refuse_placement(&var.placement, self.errors);
        let mut init = self.expr(&var.init);
        if let Some(ty) = &var.ty {
            let want = self.resolve(|r| r.ty(ty));
            init = self.expect(init, &want, Some((ty.span, "declared here")));
            if init.ty.is_error() {
                init.ty = want;
            }
        }
        if let Some(found) = not_data(&init.ty).filter(|_| !init.ty.is_error()) {
            let error = SemaError::Carried { name: var.name.text.clone(), found: found.to_owned() };
            return self.fail(error.at(init.span).label(format!("this is {found}")), init.span);
        }
        init
    }

    /// The carried names, in scope of head, body and result.
    fn carried(&mut self, item: &ast::Loop, init: &[Expr]) -> Vec<LocalId> {
        let mut seen: IndexMap<&str, Span> = IndexMap::new();
        let mut vars = Vec::new();
        for (var, init) in item.vars.iter().zip(init) {
            if let Some(first) = seen.insert(&var.name.text, var.name.span) {
                self.report(duplicate("loop variable", &var.name, first));
            }
            vars.push(self.bind(&var.name.text, init.ty.clone(), var.name.span));
        }
        vars
    }

    fn loop_head(&mut self, head: &ast::LoopHead, count: Option<Expr>) -> Option<LoopHead> {
        match (head, count) {
            (ast::LoopHead::For { index, .. }, Some(count)) => {
                let index = self.bind(&index.text, Ty::scalar(DType::I64), index.span);
                Some(LoopHead::Repeat { index, count })
            }
            (ast::LoopHead::While { condition, at_most }, _) => {
                let place = condition.span;
                let condition = self.condition(condition);
                let Some(bound) = at_most else {
                    let error = SemaError::NoBound.at(place).label("this may stay true for ever");
                    self.report(error.suggest(place.after(), "end the loop after so many rounds", ", at most 1000"));
                    return None;
                };
                let at_most = self.bound(bound)?;
                Some(LoopHead::While { condition, at_most })
            }
            (ast::LoopHead::For { .. }, None) => None,
        }
    }

    /// A constant number of rounds: an integer literal or constant.
    fn bound(&mut self, expr: &ast::Expr) -> Option<i64> {
        let mut ignored = Vec::new();
        let value = match &expr.kind {
            ast::ExprKind::Int { value, .. } => i64::try_from(*value).ok(),
            _ => {
                let axis = super::Resolver {
                    table: self.table,
                    generics: &IndexMap::new(),
                    graphs: &|_| None,
                    broken: &|_| false,
                    errors: &mut ignored,
                }
                .axis(expr);
                match axis {
                    Axis::Extent(poly) => poly.as_constant(),
                    _ => None,
                }
            }
        };
        if value.is_none() {
            let error = SemaError::BoundNotConstant.at(expr.span).label("known only when the program runs");
            self.report(error.help("write an integer, or the name of an integer `const`"));
        }
        value
    }

    /// The body's value against the carried values.
    fn next_values(&mut self, item: &ast::Loop, vars: &[LocalId], init: &[Expr], body: Expr) -> Expr {
        // One name may carry a tuple or record; several names take one apart.
        let next: Vec<Ty> = match (init.len(), body.ty.members()) {
            (n, Some(members)) if n != 1 => members,
            _ => vec![body.ty.clone()],
        };
        if body.ty == Ty::Error {
            return body;
        }
        if next.len() != init.len() {
            let error =
                SemaError::NextCount { expected: count(init.len(), "value"), found: count(next.len(), "value") };
            let mut diagnostic = error.at(body.span).label(count(next.len(), "value"));
            if let (Some(first), Some(last)) = (item.vars.first(), item.vars.last()) {
                diagnostic = diagnostic.also(first.span.to(last.span), "carried here");
            }
            return self.fail(diagnostic.help("the body gives the next value of each name, in their order"), body.span);
        }
        for (i, ((var, init), next)) in item.vars.iter().zip(init).zip(&next).enumerate() {
            if self.fits(next, &init.ty) {
                continue;
            }
            let (start, found) = (self.show(&init.ty), self.show(next));
            let error = SemaError::NextType { name: var.name.text.clone(), start: start.clone(), next: found.clone() };
            let place = innermost(&body, vars.len(), i);
            let diagnostic = error
                .at(place)
                .label(format!("this is `{found}`"))
                .also(var.span, format!("`{}` starts here as `{start}`", var.name.text));
            let diagnostic = match (next, &init.ty) {
                (Ty::Tensor(a), Ty::Tensor(b)) if a.same_shape(b) => {
                    let part = Expr { ty: next.clone(), span: place, kind: Kind::Error };
                    self.convert(diagnostic, &part, a.elem, b.elem)
                }
                (Ty::Tensor(a), Ty::Tensor(b)) if b.is_scalar() && a.dims.is_empty() => match &a.set {
                    Some(set) => diagnostic.help(format!("start with a field: `fill({set}, …)`")),
                    None => diagnostic,
                },
                _ => diagnostic,
            };
            self.report(diagnostic);
            // What the loop gives is no news.
            self.locals[vars[i].0].ty = Ty::Error;
        }
        body
    }
}

/// Where member `index` of a block's tuple is written.
fn innermost(body: &Expr, members: usize, index: usize) -> Span {
    match &body.kind {
        Kind::Block(_, value) => innermost(value, members, index),
        Kind::Tuple(all) if all.len() == members => all[index].span,
        _ => body.span,
    }
}

/// What a type is, if no value of it can be carried by a loop or given by a branch.
fn not_data(ty: &Ty) -> Option<&'static str> {
    match ty {
        Ty::Tensor(Tensor { .. }) => None,
        Ty::Tuple(all) => all.iter().find_map(not_data),
        Ty::Record(all) => all.iter().find_map(|(_, ty)| not_data(ty)),
        Ty::Graph(_) | Ty::Error => Some(ty.sort()),
    }
}
