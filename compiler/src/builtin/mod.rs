//! Reducers of the language itself, as `.tir` templates that are parsed when a program needs them.

pub mod top;

use tiga_abi::DType;
use tiga_ir::{Module, parse_module};

/// Reducers of the language that are written in it.
pub const PRELUDE: &str = include_str!("prelude.tg");

/// A reducer that needs no declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BuiltinReducer {
    /// Σ; the sum of nothing is 0.
    Sum,
    /// Σ / number of messages; of nothing 0.
    Mean,
    /// The greatest; of nothing −∞, or the smallest integer.
    Max,
    /// The least; of nothing +∞, or the greatest integer.
    Min,
    /// Π; the product of nothing is 1.
    Prod,
    /// The number of messages (`i64`).
    Count,
    /// The first in traversal order; of nothing 0.
    First,
}

impl BuiltinReducer {
    /// All of them.
    pub const ALL: [BuiltinReducer; 7] = [
        BuiltinReducer::Sum,
        BuiltinReducer::Mean,
        BuiltinReducer::Max,
        BuiltinReducer::Min,
        BuiltinReducer::Prod,
        BuiltinReducer::Count,
        BuiltinReducer::First,
    ];

    /// The name in `.tg`.
    pub const fn name(self) -> &'static str {
        match self {
            BuiltinReducer::Sum => "sum",
            BuiltinReducer::Mean => "mean",
            BuiltinReducer::Max => "max",
            BuiltinReducer::Min => "min",
            BuiltinReducer::Prod => "prod",
            BuiltinReducer::Count => "count",
            BuiltinReducer::First => "first",
        }
    }

    /// What it makes of messages, for lists.
    pub const fn about(self) -> &'static str {
        match self {
            BuiltinReducer::Sum => "the sum; of nothing 0",
            BuiltinReducer::Mean => "the sum divided by the number of messages; of nothing 0",
            BuiltinReducer::Max => "the greatest; of nothing -inf, or the smallest integer",
            BuiltinReducer::Min => "the least; of nothing inf, or the greatest integer",
            BuiltinReducer::Prod => "the product; of nothing 1",
            BuiltinReducer::Count => "the number of messages, an i64",
            BuiltinReducer::First => "the first in traversal order; of nothing 0 or false",
        }
    }

    /// The reducer of a name.
    pub fn named(name: &str) -> Option<BuiltinReducer> {
        BuiltinReducer::ALL.into_iter().find(|r| r.name() == name)
    }

    /// Whether it reduces elements of this type: all numbers, and anything is counted or comes first.
    pub fn accepts(self, dtype: DType) -> bool {
        matches!(self, BuiltinReducer::Count | BuiltinReducer::First) || dtype != DType::Bool
    }

    /// The element type of the result, if not that of the messages.
    pub const fn result(self) -> Option<DType> {
        match self {
            BuiltinReducer::Count => Some(DType::I64),
            _ => None,
        }
    }

    /// Its name in the IR: `sum.f32`.
    pub fn symbol(self, dtype: DType) -> String {
        format!("{}.{dtype}", self.name())
    }

    /// Adds it to a module that may have it already.
    pub fn add_to(self, module: &mut Module, dtype: DType) {
        let symbol = self.symbol(dtype);
        if module.reducers.contains_key(symbol.as_str()) {
            return;
        }
        let parsed = parse_module("builtin.tir", &self.text(dtype)).expect("the templates are well-formed");
        module.reducers.extend(parsed.reducers);
    }

    /// The template's text for an element type.
    ///
    /// The identities are exact: −0 for a sum of floats (`−0 + x = x` also for `x = −0`), ∓∞ for extrema, whose order
    /// of zeros is total.
    fn text(self, dtype: DType) -> String {
        let zero = if dtype.is_float() { "-0.0" } else { "0" };
        let (least, greatest) = extremes(dtype);
        match self {
            BuiltinReducer::Sum => fold(self, dtype, "add", zero, "0"),
            BuiltinReducer::Prod => fold(self, dtype, "mul", "1", "1"),
            BuiltinReducer::Max => fold(self, dtype, "max", least, least),
            BuiltinReducer::Min => fold(self, dtype, "min", greatest, greatest),
            BuiltinReducer::Mean => mean(dtype, zero),
            BuiltinReducer::Count => count(dtype),
            BuiltinReducer::First => first(dtype),
        }
    }
}

/// Adds `top<K>` to a module that may have it already.
pub fn add_top(module: &mut Module, k: i64, dtype: DType) {
    if !module.reducers.contains_key(top::symbol(k, dtype).as_str()) {
        let parsed = parse_module("top.tir", &top::text(k, dtype)).expect("the template is well-formed");
        module.reducers.extend(parsed.reducers);
    }
}

/// The values below and above all others, as `.tir` spells them.
const fn extremes(dtype: DType) -> (&'static str, &'static str) {
    match dtype {
        DType::F16 | DType::BF16 | DType::F32 | DType::F64 => ("-inf", "inf"),
        DType::I32 => ("-2147483648", "2147483647"),
        DType::I64 => ("-9223372036854775808", "9223372036854775807"),
        DType::Bool => ("false", "true"),
    }
}

/// `%to`, which is `%from` as another type: an instruction if it is another one.
fn converted(from: &str, of: DType, to: &str, as_type: DType) -> String {
    match of == as_type {
        true => format!("    yield %{from}"),
        false => format!("    %{to} = cast %{from} to({as_type}) : {as_type}\n    yield %{to}"),
    }
}

/// A reducer whose state is its result, made in the accumulator.
fn fold(reducer: BuiltinReducer, dtype: DType, op: &str, identity: &str, empty: &str) -> String {
    let (symbol, wide) = (reducer.symbol(dtype), dtype.accumulator());
    let (lift, finalize) = (converted("x", dtype, "w", wide), converted("s", wide, "r", dtype));
    format!(
        "reducer @{symbol} state(s: {wide} = {identity}) -> ({dtype} = {empty}) laws(associative, commutative) {{
  lift (%x: {dtype}) {{
{lift}
  }}
  combine (%a: {wide}, %b: {wide}) {{
    %r = {op} %a, %b : {wide}
    yield %r
  }}
  finalize (%s: {wide}) {{
{finalize}
  }}
}}
"
    )
}

fn mean(dtype: DType, zero: &str) -> String {
    let (symbol, wide) = (BuiltinReducer::Mean.symbol(dtype), dtype.accumulator());
    let (taken, widening) = match wide == dtype {
        true => ("x", String::new()),
        false => ("w", format!("    %w = cast %x to({wide}) : {wide}\n")),
    };
    let finalize = converted("r", wide, "rounded", dtype);
    format!(
        "reducer @{symbol} state(s: {wide} = {zero}, n: i64 = 0) -> ({dtype} = 0) laws(associative, commutative) {{
  lift (%x: {dtype}) {{
    %one = const value(i64 1) : i64
{widening}    yield %{taken}, %one
  }}
  combine (%s1: {wide}, %n1: i64, %s2: {wide}, %n2: i64) {{
    %s = add %s1, %s2 : {wide}
    %n = add %n1, %n2 : i64
    yield %s, %n
  }}
  finalize (%s: {wide}, %n: i64) {{
    %d = cast %n to({wide}) : {wide}
    %r = div %s, %d : {wide}
{finalize}
  }}
}}
"
    )
}

fn count(dtype: DType) -> String {
    let symbol = BuiltinReducer::Count.symbol(dtype);
    format!(
        "reducer @{symbol} state(n: i64 = 0) -> (i64 = 0) laws(associative, commutative) {{
  lift (%x: {dtype}) {{
    %one = const value(i64 1) : i64
    yield %one
  }}
  combine (%a: i64, %b: i64) {{
    %r = add %a, %b : i64
    yield %r
  }}
  finalize (%n: i64) {{
    yield %n
  }}
}}
"
    )
}

fn first(dtype: DType) -> String {
    let symbol = BuiltinReducer::First.symbol(dtype);
    let zero = if dtype == DType::Bool { "false" } else { "0" };
    format!(
        "reducer @{symbol} state(x: {dtype}) -> ({dtype} = {zero}) laws(associative) {{
  lift (%x: {dtype}) {{
    yield %x
  }}
  combine (%a: {dtype}, %b: {dtype}) {{
    yield %a
  }}
  finalize (%x: {dtype}) {{
    yield %x
  }}
}}
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiga_ir::{Scalar, ops};

    fn module() -> Module {
        let mut module = Module::new();
        for reducer in BuiltinReducer::ALL {
            for dtype in DType::ALL.into_iter().filter(|d| reducer.accepts(*d)) {
                reducer.add_to(&mut module, dtype);
            }
        }
        module
    }

    #[test]
    fn every_reducer_parses_for_every_element_type_it_accepts() {
        assert_eq!(module().reducers.len(), 5 * 6 + 2 * 7);
    }

    #[test]
    fn identities_and_empty_rows_are_exact() {
        let module = module();
        let state = |name: &str| module.reducers[name].state[0].identity;
        let empty = |name: &str| module.reducers[name].empty[0];
        assert_eq!(state("sum.f32"), Some(Scalar::F32(-0.0)));
        assert_eq!(empty("sum.f32"), Scalar::F32(0.0));
        assert_eq!((state("sum.i64"), empty("sum.i64")), (Some(Scalar::I64(0)), Scalar::I64(0)));
        assert_eq!(state("mean.f64"), Some(Scalar::F64(-0.0)));
        assert_eq!(empty("mean.f64"), Scalar::F64(0.0));
        assert_eq!(empty("prod.f64"), Scalar::F64(1.0));
        assert_eq!(empty("max.i32"), Scalar::I32(i32::MIN));
        assert_eq!(empty("min.i64"), Scalar::I64(i64::MAX));
        assert_eq!(state("max.f32"), Some(Scalar::F32(f32::NEG_INFINITY)));
        assert_eq!(empty("count.bool"), Scalar::I64(0));
    }

    #[test]
    fn combining_with_the_identity_changes_no_bit() {
        let values = [0.0, -0.0, 1.5, f32::INFINITY, f32::NEG_INFINITY, f32::MIN_POSITIVE / 2.0];
        let cases = [(ops::ADD, -0.0), (ops::MUL, 1.0), (ops::MAX, f32::NEG_INFINITY), (ops::MIN, f32::INFINITY)];
        for (op, identity) in cases {
            for x in values {
                let result = op.eval(&[Scalar::F32(identity), Scalar::F32(x)], &Default::default());
                assert_eq!(result, Some(Scalar::F32(x)), "{op:?} {identity} {x}");
            }
        }
    }
}
