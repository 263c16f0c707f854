//! The items of a file by name, with their signatures.

use super::error::SemaError;
use super::resolve::{computes, element_type};
use super::signature::{Owner, Param, Signature, duplicate, params, refuse_placement};
use super::{SemaOptions, resolve::Resolver, ty::Ty};
use indexmap::IndexMap;
use tiga_abi::DType;
use tiga_source::{Diagnostic, Span};
use tiga_syntax::ast::{self, BinaryOp, ExprKind, ItemKind, TypeKind};

/// What a name of a file means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    Message(usize),
    Reducer(usize),
    Function(usize),
    Program(usize),
    Constant(usize),
    /// `None` if what is wrong with it was reported.
    Alias(Option<DType>),
    /// It was reported; whatever uses it is no news.
    Broken,
}

impl Entry {
    /// What it is, with its article.
    pub(crate) fn sort(self) -> &'static str {
        match self {
            Entry::Message(_) => "a message",
            Entry::Reducer(_) => "a reducer",
            Entry::Function(_) => "a function",
            Entry::Program(_) => "a program",
            Entry::Constant(_) => "a constant",
            Entry::Alias(_) => "a type",
            Entry::Broken => "something unknown",
        }
    }
}

/// An item with a body.
#[derive(Debug)]
pub(crate) struct Callable<'a, A> {
    pub(crate) ast: &'a A,
    pub(crate) item: &'a ast::Item,
    pub(crate) signature: Signature,
}

/// A `reducer` item: its parameters are one message, its result that of a row.
#[derive(Debug)]
pub(crate) struct Reducer<'a> {
    pub(crate) callable: Callable<'a, ast::Reducer>,
    pub(crate) state: Vec<Param>,
}

/// A `const` item.
#[derive(Debug)]
pub(crate) struct Constant<'a> {
    pub(crate) ast: &'a ast::Constant,
    pub(crate) ty: Ty,
}

/// The items of a file.
#[derive(Debug, Default)]
pub(crate) struct Table<'a> {
    names: IndexMap<&'a str, (Entry, Span)>,
    pub(crate) messages: Vec<Callable<'a, ast::Message>>,
    pub(crate) reducers: Vec<Reducer<'a>>,
    pub(crate) functions: Vec<Callable<'a, ast::Function>>,
    pub(crate) programs: Vec<Callable<'a, ast::Program>>,
    pub(crate) constants: Vec<Constant<'a>>,
    /// Programs that a `vjp` item differentiates.
    pub(crate) vjps: Vec<&'a str>,
}

impl<'a> Table<'a> {
    /// What a name means.
    pub(crate) fn entry(&self, name: &str) -> Option<Entry> {
        self.names.get(name).map(|(entry, _)| *entry)
    }

    /// Where a name is declared.
    pub(crate) fn place(&self, name: &str) -> Option<Span> {
        self.names.get(name).map(|(_, span)| *span)
    }

    /// All names that satisfy a condition.
    pub(crate) fn names(&self, accept: impl Fn(Entry) -> bool) -> impl Iterator<Item = &'a str> {
        self.names.iter().filter(move |(_, (entry, _))| accept(*entry)).map(|(name, _)| *name)
    }

    /// The names of types.
    pub(crate) fn alias_names(&self) -> impl Iterator<Item = &'a str> {
        self.names(|entry| matches!(entry, Entry::Alias(_)))
    }

    /// Reads all items and their signatures.
    pub(crate) fn new(module: &'a ast::Module, options: &SemaOptions, errors: &mut Vec<Diagnostic>) -> Table<'a> {
        let mut table = Table::default();
        let (mut messages, mut functions, mut programs) = (vec![], vec![], vec![]);
        let (mut reducers, mut constants) = (vec![], vec![]);
        for item in &module.items {
            let entry = match &item.kind {
                ItemKind::Message(ast) => push(&mut messages, (ast, item), Entry::Message),
                ItemKind::Function(ast) => push(&mut functions, (ast, item), Entry::Function),
                ItemKind::Program(ast) => push(&mut programs, (ast, item), Entry::Program),
                ItemKind::Constant(ast) => push(&mut constants, (ast, item), Entry::Constant),
                ItemKind::Alias(_) => continue,
                ItemKind::Reducer(ast) => push(&mut reducers, (&**ast, item), Entry::Reducer),
                ItemKind::Vjp(vjp) => {
                    errors.push(SemaError::Vjp.at(item.span).help("write the gradient as a program of its own"));
                    table.vjps.push(&vjp.program.text);
                    continue;
                }
                ItemKind::Broken(_) => Entry::Broken,
            };
            if let Some(name) = item.name() {
                table.declare(name, entry, errors);
            }
        }
        table.aliases(module, options, errors);
        for (ast, _) in constants {
            let ty = constant_type(&table, ast, errors);
            table.constants.push(Constant { ast, ty });
        }
        table.signatures(messages, functions, programs, errors);
        table.reducers(reducers, errors);
        table
    }

    fn declare(&mut self, name: &'a ast::Name, entry: Entry, errors: &mut Vec<Diagnostic>) {
        match self.names.get(name.text.as_str()) {
            Some((_, first)) => errors.push(duplicate("item", name, *first)),
            None => {
                self.names.insert(&name.text, (entry, name.span));
            }
        }
    }

    /// Declares the aliases in order; one may name an earlier one.
    fn aliases(&mut self, module: &'a ast::Module, options: &SemaOptions, errors: &mut Vec<Diagnostic>) {
        let mut unused = options.set.clone();
        for item in &module.items {
            let ItemKind::Alias(alias) = &item.kind else { continue };
            let written = match &alias.ty.kind {
                TypeKind::Tensor { element, axes } if axes.is_empty() => element_type(self, element, errors),
                _ => {
                    let error = SemaError::AliasType.at(alias.ty.span).label("not an element type");
                    errors.push(error.help("write the shape where the type is used"));
                    None
                }
            };
            let dtype = unused.remove(&alias.name.text).or(written);
            self.declare(&alias.name, Entry::Alias(dtype), errors);
        }
        for name in unused.into_keys() {
            let start = Span::new(module.span.file, 0, 0);
            let error = SemaError::UnusedOverride { name: name.clone() }.at(start);
            let names: Vec<&str> = self.alias_names().collect();
            let error = match tiga_source::nearest(&name, names.iter().copied()) {
                Some(near) => error.help(format!("a type with a similar name exists: `--set {near}=…`")),
                None => error.help(format!("a file declares such a type as `type {name} = f32`")),
            };
            errors.push(error.label("in this file"));
        }
    }

    fn signatures(
        &mut self,
        messages: Vec<(&'a ast::Message, &'a ast::Item)>,
        functions: Vec<(&'a ast::Function, &'a ast::Item)>,
        programs: Vec<(&'a ast::Program, &'a ast::Item)>,
        errors: &mut Vec<Diagnostic>,
    ) {
        for (ast, item) in messages {
            let signature =
                self.signature(Owner::Message, &ast.name, &ast.generics, &ast.params, &ast.result.ty, errors);
            message_params(&signature, errors);
            self.messages.push(Callable { ast, item, signature });
        }
        for (ast, item) in functions {
            let signature = self.signature(Owner::Function, &ast.name, &ast.generics, &ast.params, &ast.result, errors);
            self.functions.push(Callable { ast, item, signature });
        }
        for (ast, item) in programs {
            let signature = self.program_signature(ast, errors);
            self.programs.push(Callable { ast, item, signature });
        }
    }

    fn reducers(&mut self, reducers: Vec<(&'a ast::Reducer, &'a ast::Item)>, errors: &mut Vec<Diagnostic>) {
        for (ast, item) in reducers {
            let signature = self.signature(Owner::Reducer, &ast.name, &ast.generics, &ast.params, &ast.result, errors);
            let mut state: Vec<Param> = Vec::new();
            for field in &ast.state {
                if let Some(first) = state.iter().find(|p| *p.name == *field.name.text) {
                    errors.push(duplicate("state", &field.name, first.span));
                }
                let generics = &signature.generics;
                let mut resolver = Resolver { table: self, generics, graphs: &|_| None, broken: &|_| false, errors };
                let ty = match resolver.ty(&field.ty) {
                    Ty::Tuple(_) => {
                        errors.push(SemaError::TypePlace { what: "tuple" }.at(field.ty.span).help("name each part"));
                        Ty::Error
                    }
                    one => one,
                };
                let name = field.name.text.as_str().into();
                state.push(Param { name, span: field.span, docs: field.docs.clone(), ty });
            }
            reducer_types(&signature, &state, ast, errors);
            self.reducers.push(Reducer { callable: Callable { ast, item, signature }, state });
        }
    }

    fn signature(
        &self,
        owner: Owner,
        name: &ast::Name,
        generics: &[ast::Generic],
        written: &[ast::Param],
        result: &ast::Type,
        errors: &mut Vec<Diagnostic>,
    ) -> Signature {
        let (generics, params) = params(self, owner, generics, written, errors);
        let graphs = graphs_of(&params);
        let result = Resolver {
            table: self,
            generics: &generics,
            graphs: &|n| graphs.get(n).cloned(),
            broken: &|_| false,
            errors,
        }
        .ty(result);
        Signature { name: name.text.clone(), span: name.span, generics, params, result }
    }

    /// Several results are a record.
    fn program_signature(&self, ast: &'a ast::Program, errors: &mut Vec<Diagnostic>) -> Signature {
        let (generics, params) = params(self, Owner::Program, &ast.generics, &ast.params, errors);
        let graphs = graphs_of(&params);
        // Callers bind parameters and results by name alike.
        let mut seen: IndexMap<&str, Span> = ast.params.iter().map(|p| (p.name.text.as_str(), p.name.span)).collect();
        let mut results = Vec::new();
        for result in &ast.results {
            if let Some(first) = seen.insert(&result.name.text, result.name.span) {
                errors.push(duplicate("result", &result.name, first));
            }
            refuse_placement(&result.placement, errors);
            let mut resolver = Resolver {
                table: self,
                generics: &generics,
                graphs: &|n| graphs.get(n).cloned(),
                broken: &|_| false,
                errors,
            };
            let mut ty = resolver.ty(&result.ty);
            if matches!(ty, Ty::Tuple(_)) {
                errors.push(SemaError::TypePlace { what: "tuple" }.at(result.ty.span).help("name each result"));
                ty = Ty::Error;
            }
            results.push((result.name.text.as_str().into(), ty));
        }
        if results.is_empty() {
            let error = SemaError::NoResult { name: ast.name.text.clone() }.at(ast.name.span);
            errors.push(error.label("gives nothing").help("name what it gives: `-> (out: f32[N])`"));
        }
        let result = match results.as_slice() {
            [] => Ty::Error,
            [(_, one)] => one.clone(),
            _ => Ty::Record(results),
        };
        Signature { name: ast.name.text.clone(), span: ast.name.span, generics, params, result }
    }

    /// The value of a constant that is a non-negative integer, made of literals and other such constants.
    pub(crate) fn constant_extent(&self, index: usize) -> Option<i64> {
        self.extent_value(&self.constants[index].ast.value, self.constants.len() + 1)
    }

    fn extent_value(&self, expr: &ast::Expr, fuel: usize) -> Option<i64> {
        match &expr.kind {
            ExprKind::Int { value, .. } => i64::try_from(*value).ok(),
            ExprKind::Name(name) => match self.entry(&name.text)? {
                Entry::Constant(i) => self.extent_value(&self.constants.get(i)?.ast.value, fuel.checked_sub(1)?),
                _ => None,
            },
            ExprKind::Binary { op, left, right, .. } if computes(*op) => {
                let (left, right) = (self.extent_value(left, fuel)?, self.extent_value(right, fuel)?);
                match op {
                    BinaryOp::Add => left.checked_add(right),
                    BinaryOp::Sub => left.checked_sub(right).filter(|v| *v >= 0),
                    _ => left.checked_mul(right),
                }
            }
            _ => None,
        }
    }
}

fn push<T>(all: &mut Vec<T>, one: T, entry: impl Fn(usize) -> Entry) -> Entry {
    all.push(one);
    entry(all.len() - 1)
}

fn graphs_of(params: &[super::signature::Param]) -> IndexMap<String, super::ty::Graph> {
    let graph = |p: &super::signature::Param| match &p.ty {
        Ty::Graph(graph) => Some((p.name.to_string(), graph.clone())),
        _ => None,
    };
    params.iter().filter_map(graph).collect()
}

fn constant_type(table: &Table<'_>, ast: &ast::Constant, errors: &mut Vec<Diagnostic>) -> Ty {
    match &ast.ty.kind {
        TypeKind::Tensor { element, axes } if axes.is_empty() => {
            element_type(table, element, errors).map_or(Ty::Error, Ty::scalar)
        }
        _ => {
            errors.push(SemaError::TypePlace { what: "tensor" }.at(ast.ty.span).help("a constant is one number"));
            Ty::Error
        }
    }
}

/// `src`, `dst` and `edge` are records of what is read there; all others are the same for every edge.
fn message_params(signature: &Signature, errors: &mut Vec<Diagnostic>) {
    for param in &signature.params {
        let reserved = matches!(&*param.name, "src" | "dst" | "edge");
        let rule = match &param.ty {
            Ty::Error => continue,
            Ty::Record(_) if !reserved => "is no record: only `src`, `dst` and `edge` are",
            Ty::Record(fields) => match fields.iter().find(|(_, ty)| is_over_set(ty) || matches!(ty, Ty::Tuple(_))) {
                Some(_) => "holds values of one entity, whose types have no set",
                None => continue,
            },
            _ if reserved => "is a record of fields, such as `{x: f32}`",
            Ty::Tensor(t) if t.set.is_none() => continue,
            _ => "is a tensor or scalar without a set",
        };
        errors.push(SemaError::MessageParam { name: param.name.to_string(), rule }.at(param.span).label(
            match &param.ty {
                Ty::Record(_) => "a record",
                other => other.sort(),
            },
        ));
    }
    if is_over_set(&signature.result) {
        let error = SemaError::TypePlace { what: "field" }.at(signature.span);
        errors.push(error.help("a message's result is the value of one row; its set comes from the graph"));
    }
}

/// A reducer computes on one message: nothing of it has a set, and a message fixes all extents.
fn reducer_types(signature: &Signature, state: &[Param], ast: &ast::Reducer, errors: &mut Vec<Diagnostic>) {
    let result = std::iter::once((&signature.result, ast.result.span));
    let places = signature.params.iter().chain(state).map(|p| (&p.ty, p.span)).chain(result);
    for (ty, span) in places {
        let parts = ty.members().unwrap_or_else(|| vec![ty.clone()]);
        if parts.iter().any(is_over_set) {
            let error = SemaError::TypePlace { what: "field" }.at(span);
            errors.push(error.help("a reducer sees the values of one message, whose types have no set"));
        }
    }
    for param in signature.params.iter().filter(|p| matches!(p.ty, Ty::Tuple(_))) {
        let error = SemaError::TypePlace { what: "tuple" }.at(param.span);
        errors.push(error.help("a parameter for each value: `(score: f32, value: f32)`"));
    }
    for (symbol, generic) in &signature.generics {
        let alone = |ty: &Ty| {
            matches!(ty, Ty::Tensor(t) if t.set.as_ref() == Some(symbol)
                || t.dims.iter().any(|d| d.as_symbol() == Some(symbol)))
        };
        let in_type = |ty: &Ty| matches!(ty, Ty::Tensor(t) if t.dims.iter().any(|d| d.symbols().contains(symbol)));
        let results = signature.result.members().unwrap_or_else(|| vec![signature.result.clone()]);
        let wanted = state.iter().any(|p| in_type(&p.ty)) || results.iter().any(in_type);
        if wanted && !state.iter().any(|p| alone(&p.ty)) && !state.iter().any(|p| p.ty.is_error()) {
            let error = SemaError::Uninferred { callee: signature.name.clone(), symbol: symbol.to_string() };
            let error = error.at(generic.span).label("no part of the state fixes it");
            let help = format!("where rows are cut, the state is all there is: give it a part `name: f32[{symbol}]`");
            errors.push(error.help(help));
        }
        if !signature.params.iter().any(|p| alone(&p.ty)) {
            let error = SemaError::Uninferred { callee: signature.name.clone(), symbol: symbol.to_string() };
            let error = error.at(generic.span).label("no parameter fixes it");
            errors.push(error.help(format!("a dimension stands alone as an axis of a parameter: `f32[{symbol}]`")));
        }
    }
}

fn is_over_set(ty: &Ty) -> bool {
    matches!(ty, Ty::Tensor(t) if t.set.is_some())
}
