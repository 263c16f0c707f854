//! Arguments of a call: by position and name, then types against the callee's symbols.

use super::super::error::SemaError;
use super::super::hir::Expr;
use super::super::signature::{Param, Signature};
use super::super::ty::{Graph, Substitution, Tensor, Ty};
use super::{Checker, count, habit};
use tiga_abi::{Poly, Symbol};
use tiga_ir::{RelKind, SymKind};
use tiga_source::{Diagnostic, Span, nearest};
use tiga_syntax::ast::{self, ArgKind};

/// Where a call stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site {
    /// The name that is called.
    pub(super) callee: Span,
    /// The call with its arguments.
    pub(super) whole: Span,
    /// Graphs among the arguments that are no parameter: 1 for a message that got its graph.
    pub(super) graphs: usize,
}

impl Site {
    pub(super) fn new(callee: Span, whole: Span) -> Site {
        Site { callee, whole, graphs: 0 }
    }

    /// Where another argument would be written.
    pub(super) fn end(self) -> Span {
        self.whole.inside_end()
    }
}

/// What the symbols of a callee stand for, with the argument that decided it.
#[derive(Default)]
pub(super) struct Bindings<'s> {
    pub(super) map: Substitution,
    places: Vec<(Symbol, Span)>,
    /// Arguments that were refused: what they decided is doubtful.
    refused: Vec<Span>,
    /// The function or program that is called, which may declare parameters over sets; a message may not.
    callee: Option<&'s Signature>,
}

impl Bindings<'_> {
    fn bind(&mut self, symbol: &Symbol, value: Poly, span: Span) {
        if !self.map.contains_key(symbol) {
            self.map.insert(symbol.clone(), value);
            self.places.push((symbol.clone(), span));
        }
    }

    /// Binds what stands alone in a parameter's type.
    pub(super) fn infer(&mut self, param: &Ty, arg: &Ty, span: Span) {
        match (param, arg) {
            (Ty::Tensor(p), Ty::Tensor(a)) => {
                if let (Some(p), Some(a)) = (&p.set, &a.set) {
                    self.bind(p, Poly::symbol(a.clone()), span);
                }
                if p.dims.len() == a.dims.len() {
                    for (p, a) in p.dims.iter().zip(&a.dims) {
                        if let Some(symbol) = p.as_symbol() {
                            self.bind(symbol, a.clone(), span);
                        }
                    }
                }
            }
            (Ty::Graph(p), Ty::Graph(a)) => {
                for (p, a) in p.symbols().into_iter().zip(a.symbols()) {
                    self.bind(p, Poly::symbol(a.clone()), span);
                }
            }
            _ => {
                if let (Some(p), Some(a)) = (param.members(), arg.members()) {
                    p.iter().zip(&a).for_each(|(p, a)| self.infer(p, a, span));
                }
            }
        }
    }
}

impl Checker<'_> {
    /// Arguments in the order of the parameters; `None` where one is missing, which is reported.
    pub(super) fn arrange<'e>(
        &mut self,
        signature: &Signature,
        args: &'e [ast::Arg],
        site: Site,
    ) -> Vec<Option<&'e ast::Expr>> {
        let params = &signature.params;
        let callee = || signature.name.clone();
        let mut out: Vec<Option<&ast::Expr>> = vec![None; params.len()];
        let mut failed = false;
        for arg in args {
            let ArgKind::Named(name) = &arg.kind else { continue };
            match params.iter().position(|p| *p.name == name.text).map(|i| &mut out[i]) {
                Some(Some(first)) => {
                    let error = SemaError::RepeatedArgument { callee: callee(), name: name.text.clone() };
                    let again = error.at(arg.span).label("given again here").also(first.span, "first given here");
                    self.report(again);
                    failed = true;
                }
                Some(slot) => *slot = Some(&arg.value),
                None => {
                    let names: Vec<&str> = params.iter().map(|p| &*p.name).collect();
                    self.unknown_argument(&signature.name, &names, &free(&names, args), name);
                    failed = true;
                }
            }
        }
        let mut given = args.iter().filter(|a| !matches!(a.kind, ArgKind::Named(_)));
        for slot in out.iter_mut().filter(|slot| slot.is_none()) {
            *slot = given.next().map(|a| &a.value);
        }
        if let Some(extra) = given.next() {
            let expected = count(params.len() + site.graphs, "argument");
            let found = count(args.len() + site.graphs, "argument");
            let error = SemaError::ArgumentCount { callee: callee(), expected, found };
            self.report(error.at(extra.span).label("one too many").also(signature.span, "declared here"));
        } else if !failed {
            for (param, _) in params.iter().zip(&out).filter(|(_, slot)| slot.is_none()) {
                self.missing_argument(&signature.name, param, args.len() + site.graphs > 0, site);
            }
        }
        out
    }

    fn missing_argument(&mut self, callee: &str, param: &Param, after_others: bool, site: Site) {
        let error = SemaError::MissingArgument { callee: callee.to_owned(), name: param.name.to_string() };
        let comma = if after_others { ", " } else { "" };
        let value = match &param.ty {
            Ty::Record(fields) => {
                let fields: Vec<String> = fields.iter().map(|(name, _)| format!("{name}: …")).collect();
                format!("{{{}}}", fields.join(", "))
            }
            _ => "…".to_owned(),
        };
        let diagnostic = error
            .at(site.callee)
            .label(format!("`{}: {}` is missing", param.name, self.show(&param.ty)))
            .also(param.span, "declared here")
            .suggest(site.end(), "give it a value", format!("{comma}{}: {value}", param.name));
        self.report(diagnostic);
    }

    /// A named argument that is no parameter; `free` are the parameters that nothing gives yet.
    pub(super) fn unknown_argument(&mut self, callee: &str, names: &[&str], free: &[&str], name: &ast::Name) {
        let error = SemaError::UnknownArgument { callee: callee.to_owned(), name: name.text.clone() };
        let list: Vec<String> = names.iter().map(|n| format!("`{n}`")).collect();
        let mut diagnostic = error.at(name.span).label("unknown parameter");
        if list.is_empty() {
            diagnostic = diagnostic.note("it has no parameters");
        } else {
            diagnostic = diagnostic.note(format!("its parameters are {}", list.join(", ")));
        }
        if let Some(meant) = habit::parameter(&name.text, free) {
            diagnostic = diagnostic.suggest(name.span, habit::NAME, meant);
        } else if let Some(near) = nearest(&name.text, free.iter().copied()) {
            diagnostic = diagnostic.suggest(name.span, "a parameter with a similar name exists", near);
        }
        self.report(diagnostic);
    }

    /// Checks arguments against parameters; the callee's symbols, or `None` if something was reported.
    pub(super) fn unify(&mut self, signature: &Signature, args: &[Option<Expr>], site: Site) -> Option<Substitution> {
        let mut bindings = Bindings { callee: Some(signature), ..Bindings::default() };
        let pairs = || signature.params.iter().zip(args).filter_map(|(p, a)| Some((p, a.as_ref()?)));
        for (param, arg) in pairs() {
            bindings.infer(&param.ty, &arg.ty, arg.span);
        }
        let mut whole = args.iter().all(Option::is_some);
        for (param, arg) in pairs() {
            let text = format!("parameter `{}`: `{}`", param.name, self.show(&param.ty));
            whole &= self.argument(&mut bindings, &param.ty, arg, (param.span, &text));
        }
        let given: Vec<&Ty> = args.iter().flatten().map(|arg| &arg.ty).collect();
        (whole && self.all_bound(signature, &given, &bindings, site)).then_some(bindings.map)
    }

    /// One argument against a parameter's type.
    pub(super) fn argument(
        &mut self,
        bindings: &mut Bindings<'_>,
        param: &Ty,
        arg: &Expr,
        place: (Span, &str),
    ) -> bool {
        if arg.ty.is_error() || param.is_error() {
            return false;
        }
        let want = param.substitute(&bindings.map);
        let unbound = symbols_of(param).iter().any(|s| !bindings.map.contains_key(s));
        if unbound && matches!((param, &arg.ty), (Ty::Tensor(p), Ty::Tensor(a)) if p.rank() == a.rank()) {
            // What nothing fixes is reported for the call as a whole.
            return true;
        }
        if symbols_of(param).iter().any(|s| bindings.place(s).is_some_and(|p| bindings.refused.contains(&p))) {
            return false;
        }
        let found = match &arg.ty {
            // A relation that is made is one as any other, except for programs, which check that.
            Ty::Graph(graph) => Ty::Graph(Graph { kind: RelKind::Csr, ..graph.clone() }),
            other => other.clone(),
        };
        if self.fits(&found, &want) {
            return true;
        }
        bindings.refused.push(arg.span);
        // What this argument decided itself says nothing of what is expected.
        let by_others = symbols_of(param).iter().any(|s| bindings.place(s).is_some_and(|p| p != arg.span));
        let expected = self.show(if by_others { &want } else { param });
        let error = SemaError::Mismatch { expected, found: self.show(&arg.ty) };
        let mut diagnostic =
            error.at(arg.span).label(format!("this is `{}`", self.show(&arg.ty))).also(place.0, place.1);
        diagnostic = self.point_at_declarations(diagnostic, [arg]);
        for (symbol, decided) in symbols_of(param).into_iter().filter_map(|s| bindings.place(&s).map(|p| (s, p))) {
            if decided != arg.span && bindings.map[&symbol].as_symbol() != Some(&symbol) {
                diagnostic = diagnostic.also(decided, format!("`{symbol}` is `{}` here", bindings.map[&symbol]));
            }
        }
        diagnostic = match (bindings.callee, &arg.ty, param) {
            (Some(callee), Ty::Tensor(Tensor { set: Some(set), dims, .. }), Ty::Tensor(p))
                if p.set.is_none() && p.dims.len() == dims.len() =>
            {
                let param = callee.params.iter().find(|p| p.span == place.0);
                let name = param.map_or("x", |param| &*param.name);
                self.field_for_entity(diagnostic, callee, name, p, set)
            }
            (callee, found, wanted) => match callee.and_then(|callee| set_as_dim(callee, wanted, found)) {
                Some(help) => diagnostic.help(help),
                None => self.mismatch_help(diagnostic, arg, &want),
            },
        };
        self.report(diagnostic);
        false
    }

    /// Whether every symbol of the callee is known.
    pub(super) fn all_bound(
        &mut self,
        signature: &Signature,
        given: &[&Ty],
        bindings: &Bindings<'_>,
        site: Site,
    ) -> bool {
        for (symbol, generic) in &signature.generics {
            if bindings.map.contains_key(symbol) {
                continue;
            }
            let error = SemaError::Uninferred { callee: signature.name.clone(), symbol: symbol.to_string() };
            let what = if generic.kind == SymKind::Dim { "a dimension" } else { "a set" };
            let diagnostic = error
                .at(site.callee)
                .label(format!("no argument says what `{symbol}` is"))
                .also(generic.span, "declared here")
                .note(format!("{what} is known from an argument in whose type it stands alone"));
            let params = signature.params.iter().zip(given);
            let set = params.filter_map(|(param, found)| set_as_dim(signature, &param.ty, found)).next();
            self.report(set.into_iter().fold(diagnostic, Diagnostic::help));
            return false;
        }
        true
    }
}

/// That a field was given where the callee has a dimension in the place of a set.
fn set_as_dim(callee: &Signature, wanted: &Ty, found: &Ty) -> Option<String> {
    let (Ty::Tensor(wanted), Ty::Tensor(found)) = (wanted, found) else { return None };
    let first = wanted.dims.first()?.as_symbol()?;
    let dim = callee.generics.get(first).is_some_and(|generic| generic.kind == SymKind::Dim);
    let field = found.set.is_some() && wanted.set.is_none() && wanted.dims.len() == found.dims.len() + 1;
    (dim && field).then(|| format!("`{first}` is a set where a field is meant: declare it as `<set {first}>`"))
}

/// The parameters that neither a name nor a place gives a value.
fn free<'n>(names: &[&'n str], args: &[ast::Arg]) -> Vec<&'n str> {
    let named = |name: &str| args.iter().any(|a| matches!(&a.kind, ArgKind::Named(n) if n.text == name));
    let by_place = args.iter().filter(|a| !matches!(a.kind, ArgKind::Named(_))).count();
    names.iter().copied().filter(|name| !named(name)).skip(by_place).collect()
}

impl Bindings<'_> {
    fn place(&self, symbol: &Symbol) -> Option<Span> {
        self.places.iter().find(|(s, _)| s == symbol).map(|(_, span)| *span)
    }
}

/// The symbols in a type.
fn symbols_of(ty: &Ty) -> Vec<Symbol> {
    match ty {
        Ty::Tensor(Tensor { set, dims, .. }) => {
            set.iter().cloned().chain(dims.iter().flat_map(Poly::symbols)).collect()
        }
        Ty::Graph(graph) => graph.symbols().into_iter().cloned().collect(),
        _ => ty.members().unwrap_or_default().iter().flat_map(symbols_of).collect(),
    }
}
