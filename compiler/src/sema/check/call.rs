//! Calls: which of the things that can be called a name means.

use super::super::error::SemaError;
use super::super::hir::{Expr, Kind};
use super::super::items::Entry;
use super::super::ty::{Tensor, Ty};
use super::arguments::Site;
use super::{Callee, Checker, count, habit};
use tiga_ir::RelKind;
use tiga_source::{Span, nearest};
use tiga_syntax::ast::{self, ArgKind, ExprKind};

/// Relations of the language that this compiler cannot make yet.
const LATER_RELATIONS: [&str; 5] = ["dense", "triangular", "stencil", "radius", "knn"];

impl Checker<'_> {
    pub(super) fn call(&mut self, callee: &ast::Expr, args: &[ast::Arg], span: Span) -> Expr {
        let name = match &callee.kind {
            ExprKind::Name(name) => name,
            ExprKind::Error => return self.poison(span),
            ExprKind::Field { base, name } => {
                let base_name = super::expr::name_of(base);
                if matches!(self.table.entry(&base_name), Some(Entry::Program(_))) && name.text.contains("vjp") {
                    self.evaluate(args);
                    let owner = ast::Name { span: base.span, text: base_name };
                    return self.vjp(&owner, span);
                }
                return self.not_callable(callee, args, span);
            }
            _ => return self.not_callable(callee, args, span),
        };
        if let Some(id) = self.lookup(&name.text) {
            let what = self.locals[id.0].ty.sort().to_owned();
            let declared = self.locals[id.0].span;
            self.evaluate(args);
            let error = SemaError::NotCallable { name: name.text.clone(), what: what.clone() };
            let mut diagnostic = error.at(name.span).label(format!("this is {what}")).also(declared, "declared here");
            if matches!(self.locals[id.0].ty, Ty::Tensor(_)) {
                diagnostic = diagnostic.help(format!("products are written `{} * …`", name.text));
            }
            return self.fail(diagnostic, span);
        }
        match self.table.entry(&name.text) {
            Some(Entry::Message(index)) => self.message_call(index, args, Site::new(name.span, span)),
            Some(Entry::Function(index)) => self.function(index, args, Site::new(name.span, span)),
            Some(Entry::Program(index)) => self.program(index, args, Site::new(name.span, span)),
            Some(Entry::Broken) => {
                self.evaluate(args);
                self.poison(span)
            }
            Some(entry @ (Entry::Constant(_) | Entry::Reducer(_))) => {
                self.evaluate(args);
                let error = SemaError::NotCallable { name: name.text.clone(), what: entry.sort().to_owned() };
                self.fail(error.at(name.span).label(format!("this is {}", entry.sort())), span)
            }
            Some(Entry::Alias(_)) | None => match self.conversion_target(&name.text) {
                Some(dtype) => self.conversion(name, dtype, args, span),
                None => self.builtin(name, args, span),
            },
        }
    }

    fn not_callable(&mut self, callee: &ast::Expr, args: &[ast::Arg], span: Span) -> Expr {
        let value = self.expr(callee);
        self.evaluate(args);
        if value.ty == Ty::Error {
            return self.poison(span);
        }
        let error = SemaError::NotCallable { name: "this".into(), what: value.ty.sort().to_owned() };
        self.fail(error.at(callee.span).label(format!("this is {}", value.ty.sort())), span)
    }

    /// Checks arguments whose callee is unknown, for the mistakes inside them.
    pub(super) fn evaluate(&mut self, args: &[ast::Arg]) {
        for arg in args.iter().filter(|a| !matches!(a.value.kind, ExprKind::List(_))) {
            self.expr(&arg.value);
        }
    }

    /// `heat.vjp`, which the `vjp` item reported if there is one.
    pub(super) fn vjp(&mut self, program: &ast::Name, span: Span) -> Expr {
        if self.table.vjps.contains(&program.text.as_str()) {
            return self.poison(span);
        }
        self.fail(SemaError::Vjp.at(span), span)
    }

    fn conversion(&mut self, name: &ast::Name, dtype: Option<tiga_abi::DType>, args: &[ast::Arg], span: Span) -> Expr {
        let Some([value]) = self.positional(name, &[1], args).and_then(|v| <[Expr; 1]>::try_from(v).ok()) else {
            return self.poison(span);
        };
        match dtype {
            Some(dtype) => self.cast(value, dtype, span),
            None => self.poison(span),
        }
    }

    /// Arguments without names, as many as one of `counts`; `None` if something was reported.
    pub(super) fn positional(&mut self, callee: &ast::Name, counts: &[usize], args: &[ast::Arg]) -> Option<Vec<Expr>> {
        let mut whole = true;
        for arg in args {
            let name = match &arg.kind {
                ArgKind::Positional => continue,
                ArgKind::Named(name) => name.text.clone(),
                ArgKind::AtMost => "at most".to_owned(),
            };
            let error = SemaError::UnknownArgument { callee: callee.text.clone(), name };
            self.report(error.at(arg.span).label("unknown parameter").note("its arguments have no names"));
            whole = false;
        }
        let values: Vec<Expr> = args.iter().map(|a| self.expr(&a.value)).collect();
        if whole && !counts.contains(&values.len()) {
            let wanted: Vec<String> = counts.iter().map(|n| n.to_string()).collect();
            let noun = if counts == [1] { "argument" } else { "arguments" };
            let expected = format!("{} {noun}", wanted.join(" or "));
            let found = count(values.len(), "argument");
            let error = SemaError::ArgumentCount { callee: callee.text.clone(), expected, found };
            let extra = counts.iter().max().and_then(|n| args.get(*n));
            self.report(match extra {
                Some(extra) => {
                    habit::extra_argument(error.at(extra.span).label("one too many"), &callee.text, args, extra)
                }
                None => error.at(callee.span).label("too few arguments"),
            });
            whole = false;
        }
        whole.then_some(values)
    }

    fn arguments(
        &mut self,
        signature: &super::super::signature::Signature,
        args: &[ast::Arg],
        site: Site,
    ) -> Vec<Option<Expr>> {
        let arranged = self.arrange(signature, args, site);
        // What the call's value meets says nothing of its arguments.
        let meets = self.meets.take();
        let args = arranged.into_iter().map(|arg| arg.map(|a| self.expr(a))).collect();
        self.meets = meets;
        args
    }

    /// A `fn` item.
    fn function(&mut self, index: usize, args: &[ast::Arg], site: Site) -> Expr {
        let span = site.whole;
        let table = self.table;
        let signature = &table.functions[index].signature;
        self.calls.push((Callee::Function(index), site.callee));
        let args = self.arguments(signature, args, site);
        let Some(map) = self.unify(signature, &args, site) else {
            return Expr { ty: self.result_despite(&signature.result, &args), span, kind: Kind::Error };
        };
        let ty = signature.result.substitute(&map);
        Expr { ty, span, kind: Kind::Function(index, map, args.into_iter().flatten().collect()) }
    }

    /// A program; several results are a record.
    fn program(&mut self, index: usize, args: &[ast::Arg], site: Site) -> Expr {
        let span = site.whole;
        let table = self.table;
        let signature = &table.programs[index].signature;
        self.needs_whole_graph(site.callee, format!("a call of program `{}`", signature.name));
        self.calls.push((Callee::Program(index), site.callee));
        let args = self.arguments(signature, args, site);
        for arg in args.iter().flatten() {
            if let Ty::Graph(graph) = &arg.ty
                && !graph.is_param()
            {
                let what = if graph.kind == RelKind::Transpose { "a transposed graph" } else { "made of graphs" };
                let error = SemaError::MadeArgument.at(arg.span).label(format!("this is {what}"));
                let help = "call messages on it, or a `fn` with a graph parameter";
                self.report(error.help(help));
                return self.poison(span);
            }
        }
        let Some(map) = self.unify(signature, &args, site) else {
            return Expr { ty: self.result_despite(&signature.result, &args), span, kind: Kind::Error };
        };
        let ty = signature.result.substitute(&map);
        Expr { ty, span, kind: Kind::Program(index, args.into_iter().flatten().collect()) }
    }

    /// What is known of a result although the arguments are wrong: its type if it is a scalar, unless whoever gave a
    /// field expects one.
    fn result_despite(&self, result: &Ty, args: &[Option<Expr>]) -> Ty {
        let field = |arg: &Expr| matches!(&arg.ty, Ty::Tensor(Tensor { set: Some(_), .. }));
        match result {
            Ty::Tensor(t) if t.is_scalar() && !args.iter().flatten().any(field) => result.clone(),
            _ => Ty::Error,
        }
    }

    /// A name that nothing declares: not yet supported, misspelled or unknown.
    pub(super) fn unknown_function(&mut self, name: &ast::Name, args: &[ast::Arg], span: Span) -> Expr {
        if LATER_RELATIONS.contains(&name.text.as_str()) {
            let error = SemaError::Relation { name: name.text.clone() }.at(name.span);
            return self.fail(error.help("make it a parameter, `g: graph<N>`, and read it from a file"), span);
        }
        if !habit::is_of_extents(&name.text) {
            self.evaluate(args);
        }
        let error = SemaError::UnknownFunction { name: name.text.clone() }.at(name.span).label("not found");
        let items = self.table.names(|e| matches!(e, Entry::Message(_) | Entry::Function(_) | Entry::Program(_)));
        // Nothing calls itself.
        let mut candidates: Vec<&str> = items.filter(|n| self.item.as_deref() != Some(*n)).collect();
        for name in super::builtin::names() {
            candidates.push(name);
        }
        if let Some(help) = self.reducer_called(&name.text) {
            return self.fail(error.help(help), span);
        }
        let diagnostic = match (habit::function(&name.text, args), nearest(&name.text, candidates)) {
            (Some(meant), _) => meant.say(error, name.span),
            (None, Some(near)) => {
                let error = match self.table.place(near) {
                    Some(place) => error.also(place, format!("`{near}` is declared here")),
                    None => error,
                };
                error.suggest(name.span, "a function with a similar name exists", near)
            }
            (None, None) => error,
        };
        self.fail(diagnostic, span)
    }
}
