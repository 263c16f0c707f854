//! Habits from NumPy, PyTorch and Rust: what somebody meant who writes this language as one of those.

use super::super::error::SemaError;
use super::super::hir::{Expr, Kind, ReducerUse};
use super::super::infer::Domain;
use super::super::prelude;
use super::super::signature::Signature;
use super::super::ty::{Tensor, Ty};
use super::Checker;
use super::builtin::integer;
use super::expr::name_of;
use tiga_abi::Symbol;
use tiga_source::{Diagnostic, Span};
use tiga_syntax::ast::{self, ExprKind};

/// What is said before the name of this language.
pub(super) const NAME: &str = "this is its name here";

/// What other libraries call an axis.
const AXIS: [&str; 3] = ["dim", "dims", "axes"];

/// Functions with an `axis:`, beside the reductions of the prelude.
const ALONG_AN_AXIS: [&str; 10] =
    ["sum", "mean", "prod", "max", "min", "softmax", "log_softmax", "cumsum", "slice", "take"];

/// What other libraries call a reducer.
const REDUCERS: [(&str, &str); 14] = [
    ("add", "sum"),
    ("plus", "sum"),
    ("total", "sum"),
    ("average", "mean"),
    ("avg", "mean"),
    ("maximum", "max"),
    ("amax", "max"),
    ("minimum", "min"),
    ("amin", "min"),
    ("mul", "prod"),
    ("product", "prod"),
    ("var", "variance"),
    ("softmax", "online_softmax"),
    ("topk", "top<8>"),
];

/// What other libraries call a function.
const FUNCTIONS: [(&str, &str); 12] = [
    ("cat", "concat"),
    ("concatenate", "concat"),
    ("arange", "iota"),
    ("range", "iota"),
    ("view", "reshape"),
    ("permute", "transpose_axes"),
    ("swapaxes", "transpose_axes"),
    ("index_select", "take"),
    ("maximum", "max"),
    ("minimum", "min"),
    ("average", "mean"),
    ("full", "fill"),
];

fn meant(table: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    table.iter().find(|(habit, _)| *habit == name).map(|(_, ours)| *ours)
}

/// The reducer that a name of another library means.
pub(super) fn reducer(name: &str) -> Option<&'static str> {
    meant(&REDUCERS, name)
}

/// The function that a name of another library means.
pub(super) fn function(name: &str) -> Option<&'static str> {
    meant(&FUNCTIONS, name)
}

/// The parameter that a name of another library means.
pub(super) fn parameter<'n>(name: &str, free: &[&'n str]) -> Option<&'n str> {
    free.iter().copied().find(|free| *free == "axis" && AXIS.contains(&name))
}

/// One argument too many: an axis without its name, or extents without brackets.
pub(super) fn extra_argument(diagnostic: Diagnostic, callee: &str, args: &[ast::Arg], extra: &ast::Arg) -> Diagnostic {
    let along = ALONG_AN_AXIS.contains(&callee) || prelude::REDUCTIONS.contains(&callee);
    if along && integer(&extra.value).is_some() {
        return diagnostic.suggest(extra.span.before(), "an axis is named", "axis: ");
    }
    if callee != "reshape" {
        return diagnostic;
    }
    let [_, first, .., last] = args else { return diagnostic };
    match args[1..].iter().map(|arg| extent(&arg.value)).collect::<Option<Vec<String>>>() {
        Some(all) => diagnostic.suggest(
            first.span.to(last.span),
            "the new extents are one list",
            format!("[{}]", all.join(", ")),
        ),
        None => diagnostic.help("the new extents are one list: `reshape(x, [H, D])`"),
    }
}

/// An extent as it is written, if it is a number or a name.
fn extent(expr: &ast::Expr) -> Option<String> {
    match &expr.kind {
        ExprKind::Int { text, .. } => Some(text.clone()),
        ExprKind::Name(name) => Some(name.text.clone()),
        _ => None,
    }
}

/// Whether `reduce top<K>` stands where `top<3>` should.
pub(super) fn numbered_by_symbol(message: &ast::Message) -> bool {
    let reducers = match &message.reduce {
        Some(ast::Reduce::One(one)) => std::slice::from_ref(one),
        Some(ast::Reduce::Tuple(_, all)) => all.as_slice(),
        None => &[],
    };
    let generic = |name: &ast::Name| message.generics.iter().any(|g| g.name.text == name.text);
    let named = |arg: &ast::Expr| matches!(&arg.kind, ExprKind::Name(name) if generic(name));
    reducers.iter().flat_map(|reducer| &reducer.args).any(named)
}

impl Checker<'_> {
    /// A node function without a reducer before it: who writes one means to reduce.
    pub(super) fn reducer_missing(&mut self, node: &ast::Clause, values: &[Expr]) {
        let reducer = |value: &Expr| match &value.ty {
            Ty::Tensor(t) if self.elems.domain(t.elem) == Domain::BOOL => "any",
            _ => "sum",
        };
        let reducers = match values.iter().map(reducer).collect::<Vec<_>>().as_slice() {
            [one] => (*one).to_owned(),
            all => format!("({})", all.join(", ")),
        };
        let error = SemaError::EdgeResult { rule: "its node function has nothing to work on" };
        let error = error.at(node.span.first("node".len())).label("nothing is reduced before this");
        let message = "reduce the values of each row";
        self.report(error.suggest(node.span.before(), message, format!("reduce {reducers} ")));
    }

    /// `h.0` of what is no tuple: the element of an axis is taken.
    pub(super) fn element_of_axis(
        &self,
        diagnostic: Diagnostic,
        base: &ast::Expr,
        index: u32,
        span: Span,
        ty: &Ty,
    ) -> Diagnostic {
        match (ty, name_of(base)) {
            (Ty::Tensor(tensor), name) if !tensor.dims.is_empty() && !name.is_empty() => {
                let taken = format!("take({name}, {index}, axis: -1)");
                diagnostic.suggest(span, "`.` takes of tuples; of the last axis, `take` does", taken)
            }
            (Ty::Tensor(tensor), _) if !tensor.dims.is_empty() => {
                diagnostic.help(format!("`.` takes of tuples; of the last axis, `take(…, {index}, axis: -1)` does"))
            }
            _ => diagnostic,
        }
    }

    /// A reduction over the set where one over features of each entity was meant.
    pub(super) fn reduction_without_axis(&self, expr: &Expr, want: &Tensor) -> Option<(Span, String)> {
        let Kind::ReduceSet(reducer, value) = &expr.kind else { return None };
        let Ty::Tensor(of) = &value.ty else { return None };
        let (_, rest) = of.dims.split_last()?;
        let name = match reducer {
            ReducerUse::Builtin(reducer, _) => reducer.name(),
            ReducerUse::Prelude(name, _) => *name,
            _ => return None,
        };
        let message =
            format!("without an axis, `{name}` reduces over `{}`; this one over the last axis", of.set.as_ref()?);
        (of.set == want.set && rest == want.dims).then(|| (expr.span.inside_end(), message))
    }

    /// The one member of a tuple that has the type wanted.
    pub(super) fn member_that_fits(&self, expr: &Expr, members: &[Ty], want: &Tensor) -> Option<String> {
        let Kind::Local(id) = &expr.kind else { return None };
        let fits = |ty: &&Ty| matches!(ty, Ty::Tensor(t) if t.same_shape(want) && self.elems.name(t.elem) == self.elems.name(want.elem));
        let index = members.iter().position(|ty| fits(&ty))?;
        (members.iter().filter(fits).count() == 1).then(|| format!("{}.{index}", self.locals[id.0].name))
    }

    /// A field where the callee takes what one entity has: how the callee says that it takes fields.
    pub(super) fn field_for_entity(
        &self,
        diagnostic: Diagnostic,
        callee: &Signature,
        param: &str,
        want: &Tensor,
        set: &Symbol,
    ) -> Diagnostic {
        // Edges have no name of their own in the callee, and a name of the callee's may mean something else.
        let names = [if set.contains('.') { "E" } else { &**set }, "S", "T"];
        let name = names.into_iter().find(|name| !callee.generics.contains_key(*name)).unwrap_or("U");
        let declared = Tensor { set: Some(name.into()), ..want.clone() };
        let ty = self.show(&Ty::Tensor(declared));
        let others: Vec<String> = callee.generics.keys().map(|s| s.to_string()).collect();
        let generics = [vec![format!("set {name}")], others].concat().join(", ");
        diagnostic.help(format!(
            "to take a field, `{0}` declares its set: `{0}<{generics}>` and `{param}: {ty}`",
            callee.name
        ))
    }

    /// A reducer that stands where a function is called: `top(h, 3)`.
    pub(super) fn reducer_called(&self, name: &str) -> Option<&'static str> {
        (name == "top" || name == "topk")
            .then_some("`top<K>` is a reducer: a message keeps the K greatest of a row with `reduce top<3>`")
    }
}

/// A slice of constants that is certainly outside, in words for under the caret; nothing where sizes decide.
pub(super) fn outside(begin: Option<i64>, end: Option<i64>, extent: Option<i64>) -> Option<String> {
    match (begin, end, extent) {
        (Some(begin), Some(end), _) if begin > end => Some(format!("begins at {begin}, after its end at {end}")),
        (_, Some(end), Some(extent)) if end > extent => {
            Some(format!("ends at {end}, and the axis has {extent} elements"))
        }
        (Some(begin), _, Some(extent)) if begin > extent => {
            Some(format!("begins at {begin}, and the axis has {extent} elements"))
        }
        _ => None,
    }
}

/// What to do with a pair of a slice that sizes decide.
pub(super) fn slice_error(begin: String, end: String, extent: String, certain: bool) -> SemaError {
    if certain { SemaError::SliceOutside { begin, end, extent } } else { SemaError::Slice { begin, end, extent } }
}
