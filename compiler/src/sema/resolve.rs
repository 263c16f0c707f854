//! Resolves written types and extents against the sets and dimensions in scope.

use super::error::SemaError;
use super::hir::Axis;
use super::infer::Elem;
use super::items::{Entry, Table};
use super::signature::Generics;
use super::ty::{Graph, Tensor, Ty};
use tiga_abi::{DType, Poly, Symbol};
use tiga_ir::SymKind;
use tiga_source::{Diagnostic, Span, nearest};
use tiga_syntax::ast::{self, BinaryOp, ExprKind};

/// Coefficients and literals of extents stay below this, so that computing with them cannot wrap.
const LIMIT: i64 = 1 << 24;
/// Terms of an extent stay below this, so that multiplying them out stays cheap.
const TERMS: usize = 64;

/// Element types of the language that this compiler does not have yet.
const LATER_TYPES: [&str; 2] = ["c64", "c128"];

/// What a type's names are looked up in.
pub(crate) struct Resolver<'a> {
    pub(crate) table: &'a Table<'a>,
    pub(crate) generics: &'a Generics,
    /// Graphs in scope.
    pub(crate) graphs: &'a dyn Fn(&str) -> Option<Graph>,
    /// Whether a name stands for something that was reported already.
    pub(crate) broken: &'a dyn Fn(&str) -> bool,
    pub(crate) errors: &'a mut Vec<Diagnostic>,
}

impl Resolver<'_> {
    /// A written type that is no record.
    pub(crate) fn ty(&mut self, ty: &ast::Type) -> Ty {
        match &ty.kind {
            ast::TypeKind::Tensor { element, axes } => self.tensor(element, axes),
            ast::TypeKind::Tuple(all) => Ty::Tuple(all.iter().map(|t| self.ty(t)).collect()),
            ast::TypeKind::Graph(_) => {
                let error = SemaError::TypePlace { what: "graph" }.at(ty.span);
                self.errors.push(error.help("only parameters of programs and functions are graphs"));
                Ty::Error
            }
            ast::TypeKind::Record(_) => {
                let error = SemaError::TypePlace { what: "record" }.at(ty.span);
                self.errors.push(error.help("only `src`, `dst` and `edge` of a message are records"));
                Ty::Error
            }
        }
    }

    fn tensor(&mut self, element: &ast::Name, axes: &[ast::Expr]) -> Ty {
        let dtype = element_type(self.table, element, self.errors);
        let axes = self.axes(axes);
        match (dtype, axes) {
            (Some(dtype), Some((set, dims))) => Ty::Tensor(Tensor { elem: Elem::Known(dtype), set, dims }),
            _ => Ty::Error,
        }
    }

    /// The axes of a type: a set first, if any.
    pub(crate) fn axes(&mut self, axes: &[ast::Expr]) -> Option<(Option<Symbol>, Vec<Poly>)> {
        let mut set = None;
        let mut dims = Vec::new();
        let mut whole = true;
        for (i, axis) in axes.iter().enumerate() {
            match self.axis(axis) {
                Axis::Set(symbol) if i == 0 => set = Some(symbol),
                Axis::Set(symbol) => {
                    let error = SemaError::SetNotFirst { set: symbol.to_string() }.at(axis.span);
                    let error = match &set {
                        Some(first) => error.label(format!("`{first}` is its set already")),
                        None => error.label("not the first axis"),
                    };
                    self.errors.push(error.help("a field has one set, and its feature extents follow it"));
                    whole = false;
                }
                Axis::Extent(poly) => dims.push(poly),
                Axis::Error => whole = false,
            }
        }
        whole.then_some((set, dims))
    }

    /// One axis.
    pub(crate) fn axis(&mut self, expr: &ast::Expr) -> Axis {
        match &expr.kind {
            ExprKind::Name(name) => match self.generics.get_key_value(name.text.as_str()) {
                Some((symbol, generic)) if generic.kind == SymKind::Dim => Axis::Extent(Poly::symbol(symbol.clone())),
                Some((symbol, _)) => Axis::Set(symbol.clone()),
                None => self.constant(name),
            },
            ExprKind::Field { base, name } => self.set_of_graph(base, name),
            ExprKind::Int { value, .. } => match i64::try_from(*value).ok().filter(|v| *v <= LIMIT) {
                Some(value) => Axis::Extent(Poly::constant(value)),
                None => self.too_large(expr.span),
            },
            ExprKind::Binary { op, left, right, .. } if computes(*op) => {
                let (left, right) = (self.extent(left), self.extent(right));
                match (left, right) {
                    (Some(left), Some(right)) => self.combined(*op, &left, &right, expr.span),
                    _ => Axis::Error,
                }
            }
            ExprKind::Error => Axis::Error,
            _ => self.not_an_extent(expr.span),
        }
    }

    /// A feature extent.
    fn extent(&mut self, expr: &ast::Expr) -> Option<Poly> {
        match self.axis(expr) {
            Axis::Extent(poly) => Some(poly),
            Axis::Set(set) => {
                let error = SemaError::NotAnExtent.at(expr.span).label(format!("`{set}` is a set"));
                self.errors.push(error.help("sizes of sets are not known before a program runs; see `len`"));
                None
            }
            Axis::Error => None,
        }
    }

    fn combined(&mut self, op: BinaryOp, left: &Poly, right: &Poly, span: Span) -> Axis {
        let poly = match op {
            BinaryOp::Add => left.add(right),
            BinaryOp::Sub => left.sub(right),
            _ => left.mul(right),
        };
        let terms = poly.terms();
        if terms.len() > TERMS || terms.iter().any(|(c, symbols)| c.abs() > LIMIT || symbols.len() > TERMS) {
            return self.too_large(span);
        }
        if poly.as_constant().is_some_and(|c| c < 0) {
            self.errors.push(SemaError::NotAnExtent.at(span).label(format!("this is {poly}")));
            return Axis::Error;
        }
        Axis::Extent(poly)
    }

    fn too_large(&mut self, span: Span) -> Axis {
        let error = SemaError::ExtentTooLarge.at(span);
        self.errors.push(error.note(format!("numbers in extents go up to {LIMIT}")));
        Axis::Error
    }

    fn not_an_extent(&mut self, span: Span) -> Axis {
        let error = SemaError::NotAnExtent.at(span).label("an extent cannot be computed in this way");
        self.errors.push(
            error.help("an extent is a set, a dimension, an integer, or a sum, difference or product of such extents"),
        );
        Axis::Error
    }

    /// A `const` item as an extent.
    fn constant(&mut self, name: &ast::Name) -> Axis {
        match self.table.entry(&name.text) {
            Some(Entry::Constant(index)) => {
                let item = self.table.constants[index].ast;
                let value = self.table.constant_extent(index);
                match value {
                    Some(value) if value <= LIMIT => Axis::Extent(Poly::constant(value)),
                    Some(_) => self.too_large(name.span),
                    None => {
                        let error = SemaError::NotAnExtent.at(name.span);
                        let label = format!("`{}` is not a non-negative integer constant", name.text);
                        self.errors.push(error.also(item.value.span, label));
                        Axis::Error
                    }
                }
            }
            Some(Entry::Broken) => Axis::Error,
            _ if (self.graphs)(&name.text).is_some() => {
                let error = SemaError::NotAnExtent.at(name.span).label("this is a graph");
                self.errors.push(error.help(format!("its sets are `{0}.src`, `{0}.dst` and `{0}.edges`", name.text)));
                Axis::Error
            }
            _ => {
                self.unknown(name);
                Axis::Error
            }
        }
    }

    fn unknown(&mut self, name: &ast::Name) {
        let error = SemaError::UnknownExtent { name: name.text.clone() }.at(name.span).label("not found");
        let candidates = self.generics.keys().map(|s| &**s).filter(|s| !s.contains('.'));
        self.errors.push(match nearest(&name.text, candidates) {
            Some(near) => error.suggest(name.span, "a similar name exists", near),
            None => {
                let declare =
                    format!("declare a set with `<set {0}>` or `graph<{0}>`, a dimension with `<{0}>`", name.text);
                let edges = self.generics.keys().find(|set| set.ends_with(".edges"));
                let edges = edges.map(|set| format!("the edges of a graph are a set already: `{set}`"));
                edges.into_iter().fold(error.help(declare), Diagnostic::help)
            }
        });
    }

    fn set_of_graph(&mut self, base: &ast::Expr, field: &ast::Name) -> Axis {
        let ExprKind::Name(name) = &base.kind else {
            return self.not_an_extent(base.span.to(field.span));
        };
        let Some(graph) = (self.graphs)(&name.text) else {
            if (self.broken)(&name.text) {
                return Axis::Error;
            }
            let error =
                SemaError::UnknownValue { name: name.text.clone() }.at(name.span).label("no graph of this name");
            self.errors.push(error);
            return Axis::Error;
        };
        match graph.set(&field.text) {
            Some(set) => Axis::Set(set.clone()),
            None => {
                self.errors.push(unknown_graph_field(&name.text, &graph, field));
                Axis::Error
            }
        }
    }
}

/// A field that graphs do not have.
pub(crate) fn unknown_graph_field(name: &str, graph: &Graph, field: &ast::Name) -> Diagnostic {
    let error = SemaError::UnknownField { owner: format!("graph `{name}`"), field: field.text.clone() };
    unknown_field(error, field, graph.set_names().iter().copied())
}

/// The fields that something has, in words.
pub(crate) fn fields_there<'a>(fields: impl Iterator<Item = &'a str>) -> String {
    let list: Vec<String> = fields.map(|f| format!("`{f}`")).collect();
    if list.is_empty() { "it has no fields".to_owned() } else { format!("its fields are {}", list.join(", ")) }
}

/// Lists the fields there are, and the nearest spelling.
pub(crate) fn unknown_field<'a>(
    error: SemaError,
    field: &ast::Name,
    fields: impl Iterator<Item = &'a str> + Clone,
) -> Diagnostic {
    let diagnostic = error.at(field.span).label("unknown field").note(fields_there(fields.clone()));
    match nearest(&field.text, fields) {
        Some(near) => diagnostic.suggest(field.span, "a field with a similar name exists", near),
        None => diagnostic,
    }
}

/// The operators of extents.
pub(crate) const fn computes(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul)
}

/// What other languages call an element type.
pub(crate) fn nearest_type(name: &str) -> Option<&'static str> {
    Some(match name {
        "float" | "float32" | "single" => "f32",
        "double" | "float64" => "f64",
        "int" | "int32" => "i32",
        "long" | "int64" | "usize" | "isize" => "i64",
        "boolean" => "bool",
        _ => return None,
    })
}

/// The element type of a name: a scalar, or an alias of one.
pub(crate) fn element_type(table: &Table<'_>, name: &ast::Name, errors: &mut Vec<Diagnostic>) -> Option<DType> {
    match table.entry(&name.text) {
        Some(Entry::Alias(dtype)) => return dtype,
        Some(Entry::Broken) => return None,
        _ => {}
    }
    if let Ok(dtype) = name.text.parse() {
        return Some(dtype);
    }
    if LATER_TYPES.contains(&name.text.as_str()) {
        let error = SemaError::ElementType { name: name.text.clone() }.at(name.span);
        errors.push(error.help(format!("element types of this version are {}", DType::list("`"))));
        return None;
    }
    let error = SemaError::UnknownType { name: name.text.clone() }.at(name.span).label("not found");
    let candidates = DType::ALL.iter().map(|d| d.name()).chain(table.alias_names());
    errors.push(match nearest_type(&name.text).or_else(|| nearest(&name.text, candidates)) {
        Some(near) => error.suggest(name.span, "a similar element type exists", near),
        None => error.help(format!("element types are {}; `type` names more", DType::list("`"))),
    });
    None
}
