//! Signatures: generic sets and dimensions, parameters and results, with types resolved.

use super::error::SemaError;
use super::items::Table;
use super::resolve::Resolver;
use super::ty::{Graph, Ty};
use indexmap::IndexMap;
use std::sync::Arc;
use tiga_abi::Symbol;
use tiga_ir::{RelKind, SymKind};
use tiga_source::{Diagnostic, Span};
use tiga_syntax::ast;

/// A set, edge set or dimension of an item.
#[derive(Clone, Debug)]
pub(crate) struct Generic {
    pub(crate) kind: SymKind,
    /// Where it is declared.
    pub(crate) span: Span,
    /// Where it comes from, in words.
    pub(crate) origin: String,
}

/// The symbols of an item, in order of first use.
pub(crate) type Generics = IndexMap<Symbol, Generic>;

/// A parameter or named result.
#[derive(Clone, Debug)]
pub(crate) struct Param {
    pub(crate) name: Arc<str>,
    pub(crate) span: Span,
    pub(crate) docs: Vec<String>,
    pub(crate) ty: Ty,
}

/// What a call needs to know of an item.
#[derive(Clone, Debug)]
pub(crate) struct Signature {
    pub(crate) name: String,
    pub(crate) span: Span,
    pub(crate) generics: Generics,
    pub(crate) params: Vec<Param>,
    pub(crate) result: Ty,
}

/// Which item a signature belongs to; it decides which types may stand where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    Message,
    Reducer,
    Function,
    Program,
}

/// Reads generics and parameters.
pub(crate) fn params(
    table: &Table<'_>,
    owner: Owner,
    generics: &[ast::Generic],
    params: &[ast::Param],
    errors: &mut Vec<Diagnostic>,
) -> (Generics, Vec<Param>) {
    let mut symbols = Generics::new();
    for generic in generics {
        declare_generic(&mut symbols, generic, errors);
    }
    let mut graphs: IndexMap<String, Graph> = IndexMap::new();
    for param in params {
        if let ast::TypeKind::Graph(ends) = &param.ty.kind {
            let graph = declare_graph(&mut symbols, &param.name, &param.ty, ends, errors);
            graphs.insert(param.name.text.clone(), graph);
        }
    }
    let mut seen: IndexMap<&str, Span> = symbols.iter().map(|(name, g)| (&**name, g.span)).collect();
    let mut out = Vec::new();
    for param in params {
        if let Some(first) = seen.insert(&param.name.text, param.name.span) {
            errors.push(duplicate("parameter", &param.name, first));
        }
        refuse_placement(&param.placement, errors);
        let mut resolver = Resolver {
            table,
            generics: &symbols,
            graphs: &|name| graphs.get(name).cloned(),
            broken: &|_| false,
            errors,
        };
        let ty = match &param.ty.kind {
            ast::TypeKind::Graph(_) if matches!(owner, Owner::Message | Owner::Reducer) => {
                errors.push(type_place("graph", &param.ty).help("a message gets its graph where it is called"));
                Ty::Error
            }
            ast::TypeKind::Graph(_) => Ty::Graph(graphs[&param.name.text].clone()),
            ast::TypeKind::Record(fields) if owner == Owner::Message => record(&mut resolver, fields),
            _ => resolver.ty(&param.ty),
        };
        let name = param.name.text.as_str().into();
        out.push(Param { name, span: param.name.span.to(param.ty.span), docs: param.docs.clone(), ty });
    }
    (symbols, out)
}

/// The two places of a name that may stand only once.
pub(crate) fn duplicate(what: &'static str, name: &ast::Name, first: Span) -> Diagnostic {
    let error = SemaError::Duplicate { what, name: name.text.clone() };
    error.at(name.span).label("declared again here").also(first, "first declared here")
}

fn type_place(what: &'static str, ty: &ast::Type) -> Diagnostic {
    SemaError::TypePlace { what }.at(ty.span)
}

/// Placement is not supported yet, wherever it stands.
pub(crate) fn refuse_placement(placement: &[ast::Annotation], errors: &mut Vec<Diagnostic>) {
    for one in placement {
        let error = SemaError::Placement { name: one.name.text.clone() };
        errors.push(error.at(one.span).help("remove it: placement never changes what a program means"));
    }
}

fn declare_generic(symbols: &mut Generics, generic: &ast::Generic, errors: &mut Vec<Diagnostic>) {
    let (kind, word) = match generic.kind {
        ast::GenericKind::Set => (SymKind::Set, "set"),
        ast::GenericKind::Dim => (SymKind::Dim, "dimension"),
    };
    if let Some(first) = symbols.get(generic.name.text.as_str()) {
        errors.push(duplicate(word, &generic.name, first.span));
        return;
    }
    let origin = format!("{word} `{}`", generic.name.text);
    symbols.insert(generic.name.text.as_str().into(), Generic { kind, span: generic.name.span, origin });
}

/// The sets of a graph parameter; names that are new are declared by it.
fn declare_graph(
    symbols: &mut Generics,
    name: &ast::Name,
    ty: &ast::Type,
    ends: &ast::Endpoints,
    errors: &mut Vec<Diagnostic>,
) -> Graph {
    let graph = &name.text;
    let shown = match ends {
        ast::Endpoints::Fresh => format!("{graph}: graph"),
        ast::Endpoints::Same(set) => format!("{graph}: graph<{}>", set.text),
        ast::Endpoints::Between(from, to) => format!("{graph}: graph<{} -> {}>", from.text, to.text),
    };
    let mut add = |symbol: Symbol, kind: SymKind, span: Span, what: String| -> Symbol {
        let origin = format!("{what} of `{shown}`");
        symbols.entry(symbol.clone()).or_insert(Generic { kind, span, origin });
        symbol
    };
    let mut named =
        |set: &ast::Name| add(set.text.as_str().into(), SymKind::Set, set.span, format!("set `{}`", set.text));
    let (src, dst) = match ends {
        ast::Endpoints::Fresh => {
            let src = add(format!("{graph}.src").into(), SymKind::Set, ty.span, "the sources".into());
            (src, add(format!("{graph}.dst").into(), SymKind::Set, ty.span, "the destinations".into()))
        }
        ast::Endpoints::Same(set) => {
            let set = named(set);
            (set.clone(), set)
        }
        ast::Endpoints::Between(from, to) => {
            let from = named(from);
            (from, named(to))
        }
    };
    let edges = add(format!("{graph}.edges").into(), SymKind::Edges, ty.span, "the edges".into());
    for symbol in [&src, &dst] {
        if symbols[symbol].kind == SymKind::Dim {
            let error = SemaError::Mismatch { expected: "set".into(), found: "dimension".into() };
            let declared = symbols[symbol].span;
            errors.push(
                error
                    .at(ty.span)
                    .also(declared, format!("`{symbol}` is declared as a dimension here"))
                    .help(format!("declare it as `set {symbol}`, or leave it out: `graph<…>` declares its sets")),
            );
        }
    }
    Graph { src, dst, edges, kind: RelKind::Csr }
}

fn record(resolver: &mut Resolver<'_>, fields: &[ast::Param]) -> Ty {
    let mut seen: IndexMap<&str, Span> = IndexMap::new();
    let mut out = Vec::new();
    for field in fields {
        if let Some(first) = seen.insert(&field.name.text, field.name.span) {
            resolver.errors.push(duplicate("field", &field.name, first));
        }
        refuse_placement(&field.placement, resolver.errors);
        out.push((field.name.text.as_str().into(), resolver.ty(&field.ty)));
    }
    Ty::Record(out)
}
