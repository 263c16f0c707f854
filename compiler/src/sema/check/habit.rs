//! Habits from NumPy, PyTorch and Rust: what somebody meant who writes this language as one of those.

use super::super::error::SemaError;
use super::super::hir::{Expr, Kind, ReducerUse};
use super::super::infer::Domain;
use super::super::prelude;
use super::super::resolve::nearest_type;
use super::super::signature::Signature;
use super::super::ty::{Tensor, Ty};
use super::Checker;
use super::builtin::{self, integer};
use super::expr::name_of;
use std::ops::Range;
use tiga_abi::Symbol;
use tiga_source::{Diagnostic, Span};
use tiga_syntax::FOREIGN_AXES;
use tiga_syntax::ast::{self, ArgKind, ExprKind};

/// What is said before the name of this language.
pub(super) const NAME: &str = "this is its name here";

/// Functions that reduce over a set or an axis, beside those of the prelude.
const REDUCE: [&str; 5] = ["sum", "mean", "prod", "max", "min"];

/// Other functions with an `axis:`.
const ALONG_AN_AXIS: [&str; 5] = ["softmax", "log_softmax", "cumsum", "slice", "take"];

/// What a name of another library means.
#[derive(Clone, Copy)]
pub(super) enum Meant {
    /// This name, with the rest as it is written.
    Name(&'static str),
    /// Something that is written otherwise, said in a sentence.
    Otherwise(&'static str),
}

/// What other libraries call a reducer.
const REDUCERS: [(&str, Meant); 14] = [
    ("add", Meant::Name("sum")),
    ("plus", Meant::Name("sum")),
    ("total", Meant::Name("sum")),
    ("average", Meant::Name("mean")),
    ("avg", Meant::Name("mean")),
    ("maximum", Meant::Name("max")),
    ("amax", Meant::Name("max")),
    ("minimum", Meant::Name("min")),
    ("amin", Meant::Name("min")),
    ("mul", Meant::Name("prod")),
    ("product", Meant::Name("prod")),
    ("var", Meant::Name("variance")),
    (
        "softmax",
        Meant::Otherwise(
            "`online_softmax` reduces a score and a value, `edge { (score, value) }`, to the sum of the values, each \
             times the softmax of its score",
        ),
    ),
    ("topk", Meant::Otherwise("`top<K>` keeps the K greatest and where they stand, with a number for K: `top<3>`")),
];

/// What another library calls a function.
struct Function {
    theirs: &'static str,
    /// A function here; what is no function has none.
    ours: Option<&'static str>,
    /// With how many arguments before the named ones both are called alike; none if they never are.
    alike: Range<usize>,
    /// How it is called here.
    here: &'static str,
}

const fn function_of(theirs: &'static str, ours: &'static str, alike: Range<usize>, here: &'static str) -> Function {
    Function { theirs, ours: Some(ours), alike, here }
}

/// What is written without a function here.
const fn no_function(theirs: &'static str, here: &'static str) -> Function {
    Function { theirs, ours: None, alike: 0..0, here }
}

/// What other libraries call a function.
const FUNCTIONS: [Function; 28] = [
    function_of("cat", "concat", 1..usize::MAX, "`concat(a, b)` joins along the last axis"),
    function_of("concatenate", "concat", 1..usize::MAX, "`concat(a, b)` joins along the last axis"),
    function_of("arange", "iota", 1..2, "`iota(K)` counts from 0 to K - 1"),
    function_of("range", "iota", 1..2, "`iota(K)` counts from 0 to K - 1"),
    function_of("view", "reshape", 2..3, "`reshape(x, [H, D])` takes the new extents as one list"),
    function_of("permute", "transpose_axes", 0..0, "`transpose_axes(x, i, j)` exchanges two axes"),
    function_of("swapaxes", "transpose_axes", 3..4, "`transpose_axes(x, i, j)` exchanges two axes"),
    function_of("index_select", "take", 0..0, "`take(x, ids, axis: i)` takes the elements `ids` of an axis"),
    function_of("maximum", "max", 2..3, "`max(a, b)` gives the greater of two"),
    function_of("minimum", "min", 2..3, "`min(a, b)` gives the lesser of two"),
    function_of("average", "mean", 1..2, "`mean(x, axis: i)` gives the mean over an axis"),
    function_of("full", "fill", 2..3, "`fill([N, F], value)` repeats a scalar"),
    no_function("matmul", "`a @ b` multiplies by a matrix or a vector"),
    no_function("mm", "`a @ b` multiplies by a matrix or a vector"),
    no_function("einsum", "`a @ b` and `contract(a, b)` sum over an axis of both"),
    no_function("elu", "`where(x > 0, x, exp(x) - 1)` is one"),
    no_function("gelu", "`x / (1 + exp(-1.702 * x))` is near it"),
    no_function("log1p", "`log(1 + x)` is near it, and loses digits of small `x`"),
    no_function("zeros", "`fill([N, F], 0)` repeats a scalar"),
    no_function("ones", "`fill([N, F], 1)` repeats a scalar"),
    no_function("zeros_like", "`0 * x`, or `fill([N, F], 0)` of the same extents"),
    no_function("degree", "`in_degree(g)` and `out_degree(g)` count the edges of a node"),
    no_function("num_nodes", "`len(N)` is the size of a set"),
    no_function("clamp", "`min(max(x, low), high)` keeps a number within bounds"),
    no_function("clip", "`min(max(x, low), high)` keeps a number within bounds"),
    no_function("norm", "`sqrt(sum(x * x, axis: -1))` is one"),
    no_function("std", "`sqrt` of a mean of squares; of a row, `reduce variance` gives its square"),
    no_function("return", "a block's value is its last expression: leave `return` out"),
];

/// Functions that take extents in brackets.
const WITH_EXTENTS: [&str; 2] = ["reshape", "fill"];

/// Functions whose first argument is a set or extents, which are no values.
const OF_EXTENTS: [&str; 2] = ["iota", "fill"];

/// Whether a function reduces over a set, or over an axis that is given.
fn reduces(function: &str) -> bool {
    REDUCE.contains(&function) || prelude::REDUCTIONS.contains(&function)
}

/// Whether a function takes an axis.
fn has_axis(function: &str) -> bool {
    reduces(function) || ALONG_AN_AXIS.contains(&function)
}

/// The reducer that a name of another library means.
pub(super) fn reducer(name: &str) -> Option<Meant> {
    REDUCERS.iter().find(|(theirs, _)| *theirs == name).map(|(_, meant)| *meant)
}

/// Whether a name of another library means a function whose first argument is no value.
pub(super) fn is_of_extents(name: &str) -> bool {
    FUNCTIONS
        .iter()
        .any(|function| function.theirs == name && function.ours.is_some_and(|ours| OF_EXTENTS.contains(&ours)))
}

/// The function that a name of another library means with these arguments.
pub(super) fn function(name: &str, args: &[ast::Arg]) -> Option<Meant> {
    if let (Some(ours), [ast::Arg { kind: ArgKind::Positional, .. }]) = (nearest_type(name), args) {
        return Some(Meant::Name(ours));
    }
    let function = FUNCTIONS.iter().find(|function| function.theirs == name)?;
    let named = |arg: &&ast::Arg| matches!(arg.kind, ArgKind::Named(_));
    let places = args.iter().filter(|arg| !named(arg)).count();
    let among = |names: &[&str]| function.ours.is_some_and(|ours| names.contains(&ours));
    let fits = |arg: &ast::Arg| match (&arg.kind, &arg.value.kind) {
        (ArgKind::Named(name), _) => name.text == "axis" && function.ours.is_some_and(has_axis),
        (ArgKind::AtMost, _) | (_, ExprKind::Tuple(_)) => false,
        (ArgKind::Positional, ExprKind::List(_)) => among(&WITH_EXTENTS),
        (ArgKind::Positional, _) => true,
    };
    let alike = function.alike.contains(&places) && args.iter().all(fits);
    Some(match function.ours {
        Some(ours) if alike => Meant::Name(ours),
        _ => Meant::Otherwise(function.here),
    })
}

impl Meant {
    /// Says it of what stands at `span`.
    pub(super) fn say(self, diagnostic: Diagnostic, span: Span) -> Diagnostic {
        match self {
            Meant::Name(ours) => diagnostic.suggest(span, NAME, ours),
            Meant::Otherwise(how) => diagnostic.help(how),
        }
    }
}

/// The parameter that a name of another library means.
pub(super) fn parameter<'n>(name: &str, free: &[&'n str]) -> Option<&'n str> {
    free.iter().copied().find(|free| *free == "axis" && FOREIGN_AXES.contains(&name))
}

/// One argument too many: an axis without its name, or extents without brackets.
pub(super) fn extra_argument(diagnostic: Diagnostic, callee: &str, args: &[ast::Arg], extra: &ast::Arg) -> Diagnostic {
    if has_axis(callee) && integer(&extra.value).is_some() {
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

/// `h.sum(0)`, `h.T`: what other libraries have as members of an array is a function here.
pub(super) fn method(diagnostic: Diagnostic, base: &ast::Expr, name: &str, ty: &Ty) -> Diagnostic {
    if !matches!(ty, Ty::Tensor(_)) {
        return diagnostic;
    }
    let of = name_of(base);
    let of = if of.is_empty() { "…" } else { &of };
    let elsewhere = FUNCTIONS.iter().find(|function| function.theirs == name);
    if matches!(name, "T" | "t" | "mT" | "transpose") {
        diagnostic.help(format!("a function exchanges two axes: `transpose_axes({of}, i, j)`"))
    } else if matches!(name, "shape" | "size") {
        diagnostic.help("a function gives the size of a set or an axis by its name: `len(N)`")
    } else if reduces(name) {
        diagnostic.help(format!("it is a function: `{name}({of})` over the set, `{name}({of}, axis: -1)` over an axis"))
    } else if builtin::names().any(|function| function == name) {
        diagnostic.help(format!("it is a function: `{name}({of}, …)`"))
    } else if let Some(function) = elsewhere {
        diagnostic.help(function.here)
    } else {
        diagnostic
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::Front;
    use crate::sema::SemaOptions;

    fn front(text: &str) -> Front {
        Front::of_text("model.tg", text.to_owned(), &SemaOptions::default()).unwrap()
    }

    /// Whether the one finding has a suggestion, which then makes a right model of a wrong one, or else a help.
    #[track_caller]
    fn is_suggested(text: &str, ours: &str) -> bool {
        let wrong = front(text);
        let [finding] = wrong.diagnostics.as_slice() else { panic!("not one finding\n{text}") };
        let shown = finding.render(&wrong.sources, false);
        assert!(shown.contains(ours), "`{ours}` is not in\n{shown}");
        let [suggestion] = finding.suggestions.as_slice() else {
            assert!(finding.suggestions.is_empty() && shown.contains("help: "), "{shown}");
            return false;
        };
        let (start, end) = (suggestion.span.start as usize, suggestion.span.end as usize);
        let new = format!("{}{}{}", &text[..start], suggestion.replacement, &text[end..]);
        let right = front(&new);
        let errors: Vec<String> = right.diagnostics.iter().map(|d| d.render(&right.sources, false)).collect();
        assert!(errors.is_empty(), "{new}\n{}", errors.join("\n"));
        true
    }

    #[test]
    fn every_name_of_a_reducer_compiles_or_is_explained() {
        for (theirs, meant) in REDUCERS {
            let text = format!("message m(src: {{h: f32}}) -> f32 {{ edge {{ src.h }} reduce {theirs} }}\n");
            match meant {
                Meant::Name(ours) => assert!(is_suggested(&text, ours), "{theirs}"),
                Meant::Otherwise(how) => assert!(!is_suggested(&text, how), "{theirs}"),
            }
        }
    }

    /// Calls that are the same here but for the name, with the type of the result, and calls that are not.
    fn calls(theirs: &str) -> (&'static [(&'static str, &'static str)], &'static [&'static str]) {
        match theirs {
            "cat" | "concatenate" => (&[("f32[N, 12]", "(h, h, h)")], &["([h, h])", "((h, h))", "(h, h, axis: -1)"]),
            "arange" | "range" => (&[("i64[N]", "(N)"), ("i64[3]", "(3)")], &["(0, N)"]),
            "view" => (&[("f32[N, 2, 2]", "(h, [2, 2])")], &["(h, 2, 2)", "(h, (2, 2))"]),
            "permute" => (&[], &["(h, 0, 1)", "(h, [0, 1])"]),
            "swapaxes" => (&[("f32[N, 4]", "(h, 1, 1)")], &["(h)"]),
            "index_select" => (&[], &["(h, 1, iota(2))"]),
            "maximum" | "minimum" => (&[("f32[N, 4]", "(h, 0.0)")], &["(h)"]),
            "average" => (&[("f32[N]", "(h, axis: 1)"), ("f32[4]", "(h)")], &["(h, h)"]),
            "elu" | "gelu" | "log1p" | "zeros_like" | "norm" | "std" => (&[], &["(h)"]),
            "zeros" | "ones" => (&[], &["([N, 4])"]),
            "degree" | "num_nodes" => (&[], &["(h)"]),
            "clamp" | "clip" => (&[], &["(h, 0.0, 1.0)"]),
            "matmul" | "mm" | "einsum" => (&[], &["(h, h)"]),
            "return" => (&[], &["(h)"]),
            "full" => (&[("f32[N, 4]", "([N, 4], 0.0)"), ("f32[N]", "(N, 0.0)")], &["((N, 4), 0.0)"]),
            _ => panic!("`{theirs}` is not tried"),
        }
    }

    #[test]
    fn every_name_of_a_function_compiles_or_is_explained() {
        for function in FUNCTIONS {
            let program = |result: &str, rest: &str| {
                format!("program p<set N>(h: f32[N, 4]) -> (y: {result}) {{ {}{rest} }}\n", function.theirs)
            };
            let (alike, otherwise) = calls(function.theirs);
            assert_eq!(alike.is_empty(), function.alike.is_empty(), "{}", function.theirs);
            for (result, rest) in alike {
                assert!(is_suggested(&program(result, rest), function.ours.unwrap()), "{}{rest}", function.theirs);
            }
            for rest in otherwise {
                assert!(!is_suggested(&program("f32[N]", rest), function.here), "{}{rest}", function.theirs);
            }
        }
    }
}
