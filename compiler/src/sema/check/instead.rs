//! What can be written instead of a function of the language that is not there yet.

use super::super::hir::{Expr, Kind};
use super::super::infer::{Domain, Elem};
use super::super::ty::Tensor;
use super::Checker;
use super::builtin::integer;
use tiga_syntax::ast::{self, ArgKind};

/// Functions for which there may be something.
const REPLACED: [&str; 5] = ["softmax", "log_softmax", "variance", "any", "all"];

/// Those whose values add up to one over what they go over.
const NORMALISERS: [&str; 2] = ["softmax", "log_softmax"];

/// What a function goes over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// The set of a field.
    Set,
    /// One of the feature axes.
    Feature(usize),
}

impl Checker<'_> {
    /// Advice to write a text that means the same for these arguments, if there is one that is defined for them and as
    /// exact.
    pub(super) fn instead(&mut self, function: &str, args: &[ast::Arg]) -> Option<String> {
        if !REPLACED.contains(&function) {
            return None;
        }
        let mut values: Vec<Expr> = Vec::new();
        let mut axis = None;
        for arg in args {
            match &arg.kind {
                ArgKind::Positional => values.push(self.expr(&arg.value)),
                ArgKind::Named(name) if name.text == "axis" => axis = Some(integer(&arg.value)?),
                _ => return None,
            }
        }
        let tensors: Vec<Tensor> = values.iter().map(|v| self.tensor(v)).collect::<Option<_>>()?;
        match (tensors.as_slice(), values.as_slice()) {
            // To normalise over the entities of a set is seldom what is meant where there are features.
            ([x], [value]) if axis.is_none() && !x.dims.is_empty() && NORMALISERS.contains(&function) => {
                let name = self.called(value, "x");
                let text = self.instead_of_one(function, x, name, Some(-1));
                let text = text.map_or(String::new(), |text| format!("; over the last one, write `{text}`"));
                Some(format!("say over which axis, as in `{function}({name}, axis: -1)`{text}"))
            }
            ([x], [value]) => self.instead_of_one(function, x, self.called(value, "x"), axis).as_deref().map(write),
            _ => None,
        }
    }

    /// For functions of one operand.
    fn instead_of_one(&self, function: &str, x: &Tensor, name: &str, axis: Option<i64>) -> Option<String> {
        let reach = reach(x, axis)?;
        let over = axis.map_or(String::new(), |axis| format!(", axis: {axis}"));
        let truth = self.elems.domain(x.elem) == Domain::BOOL;
        match function {
            "any" if truth => return Some(format!("max(f32({name}){over}) > 0")),
            "all" if truth => return Some(format!("min(f32({name}){over}) > 0")),
            _ => {}
        }
        // One value of many goes back to all of them only where axes still meet: they are aligned at the end.
        let back = reach == Reach::Set || x.dims.len() == 1;
        if !back || !self.is_float(x.elem) {
            return None;
        }
        Some(match function {
            "softmax" => format!("let e = exp({name} - max({name}{over})); e / sum(e{over})"),
            "log_softmax" => format!("let d = {name} - max({name}{over}); d - log(sum(exp(d){over}))"),
            "variance" => format!("let d = {name} - mean({name}{over}); mean(d * d{over})"),
            _ => return None,
        })
    }

    fn is_float(&self, elem: Elem) -> bool {
        let domain = self.elems.domain(elem);
        domain.and(Domain::FLOAT) == domain
    }

    /// The name of an operand, or one that stands for it.
    fn called(&self, value: &Expr, otherwise: &'static str) -> &str {
        match &value.kind {
            Kind::Local(id) => &self.locals[id.0].name,
            _ => otherwise,
        }
    }
}

fn write(text: &str) -> String {
    format!("write `{text}`")
}

/// What an axis means, by the rule of reductions; [`None`] if there is no such axis.
fn reach(tensor: &Tensor, axis: Option<i64>) -> Option<Reach> {
    let Some(axis) = axis else {
        return tensor.set.as_ref().map(|_| Reach::Set);
    };
    let rank = tensor.rank() as i64;
    let index = usize::try_from(if axis < 0 { axis + rank } else { axis }).ok().filter(|i| (*i as i64) < rank)?;
    match index.checked_sub(usize::from(tensor.set.is_some())) {
        Some(feature) => Some(Reach::Feature(feature)),
        None => Some(Reach::Set),
    }
}
