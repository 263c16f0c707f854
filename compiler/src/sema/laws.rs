//! Tests the laws that a reducer promises, on states that messages can make.
//!
//! A law holds up to rounding: two states agree if their numbers are close for their size. What is neither of two
//! finite numbers is not compared further, since a sum that passes through infinity may end at infinity or at NaN.

use super::error::SemaError;
use super::items::Reducer as Item;
use indexmap::IndexMap;
use tiga_abi::{DType, Symbol};
use tiga_ir::interp::{Tensor, run_reducer};
use tiga_ir::{Reducer, Scalar, TensorType};
use tiga_source::Diagnostic;

/// The components of a state.
type State = Vec<Tensor>;

/// Every extent of a reducer under test: the first that leaves no type with a negative extent.
const EXTENTS: [i64; 5] = [2, 3, 5, 8, 32];
/// Triples of states tried, after those of one plain message each.
const TRIALS: usize = 300;
/// Where random numbers start: the same file gets the same answer.
const SEED: u64 = 0x7469_6761;

/// Tries the declared laws.
///
/// # Errors
/// A law with a counterexample.
pub(crate) fn check(reducer: &Reducer, item: &Item<'_>) -> Result<(), Box<Diagnostic>> {
    if !reducer.laws.associative && !reducer.laws.commutative {
        return Ok(());
    }
    let untried = || {
        let signature = &item.callable.signature;
        let place = item.callable.ast.laws.first().map_or(signature.span, |n| n.span);
        let error = SemaError::UntriedLaws { reducer: signature.name.clone() }.at(place);
        Box::new(error.label("promised here").help("without laws rows are folded from the left, in one piece"))
    };
    let trials = EXTENTS.into_iter().map(|extent| {
        let extents = reducer.symbols.keys().map(|s| (s.clone(), extent)).collect();
        Trial { reducer, extents, random: fastrand::Rng::with_seed(SEED) }
    });
    let runs = |trial: &mut Trial<'_>| trial.lift(true).is_some();
    let mut trial = trials.into_iter().find_map(|mut t| runs(&mut t).then_some(t)).ok_or_else(untried)?;
    for round in 0..TRIALS {
        // Counterexamples of small whole numbers are the ones that people can follow.
        let plain = round < TRIALS / 3;
        let [a, b, c] = trial.states(plain).ok_or_else(untried)?;
        if let Some((state, x, [left, right])) = trial.step(&a, plain).ok_or_else(untried)? {
            let signature = &item.callable.signature;
            let place = item.callable.ast.step.as_ref().map_or(signature.span, |clause| clause.span);
            let error = SemaError::StepIsNotCombine { reducer: signature.name.clone() }.at(place.first("step".len()));
            return Err(Box::new(
                error
                    .note(format!("for the state s = {} and the message x = {x}", trial.show(&state)))
                    .note(format!("`step(s, x)` is {}", trial.show(&left)))
                    .note(format!("`combine(s, lift(x))` is {}", trial.show(&right)))
                    .help("the laws let a row be cut anywhere: leave them out, or make the two agree"),
            ));
        }
        let broken = if reducer.laws.associative { trial.associative(&a, &b, &c) } else { None };
        let broken = broken.map(|pair| ("associative", pair)).or_else(|| {
            let pair = if reducer.laws.commutative { trial.commutative(&a, &b) } else { None };
            pair.map(|pair| ("commutative", pair))
        });
        if let Some((law, [(left, x), (right, y)])) = broken {
            let signature = &item.callable.signature;
            let place = item.callable.ast.laws.iter().find(|n| n.text == law).map_or(signature.span, |n| n.span);
            let error = SemaError::BrokenLaw { reducer: signature.name.clone(), law }.at(place);
            let states = match law {
                "associative" => format!("a = {}, b = {}, c = {}", trial.show(&a), trial.show(&b), trial.show(&c)),
                _ => format!("a = {}, b = {}", trial.show(&a), trial.show(&b)),
            };
            return Err(Box::new(
                error
                    .label("this does not hold")
                    .note(format!("for the states {states}"))
                    .note(format!("`{left}` is {}", trial.show(&x)))
                    .note(format!("`{right}` is {}", trial.show(&y)))
                    .help("remove the law: without it rows are folded from the left, in one piece"),
            ));
        }
    }
    Ok(())
}

/// Two ways to write what should be the same state, and what they are.
type Broken = [(&'static str, State); 2];

/// A state, a message as it is written, and what `step` makes of them and `combine` of the lifted message.
type Stepped = (State, String, [State; 2]);

/// A reducer under test.
struct Trial<'r> {
    reducer: &'r Reducer,
    extents: IndexMap<Symbol, i64>,
    random: fastrand::Rng,
}

impl Trial<'_> {
    /// Three states of a few messages each; `None` if the reducer cannot be run, which says nothing about its laws.
    fn states(&mut self, plain: bool) -> Option<[State; 3]> {
        let mut one = || {
            let messages = if plain { 1 } else { self.random.usize(1..=3) };
            let mut state = self.lift(plain)?;
            for _ in 1..messages {
                let next = self.lift(plain)?;
                state = self.combine(&state, &next)?;
            }
            Some(state)
        };
        Some([one()?, one()?, one()?])
    }

    fn lift(&mut self, plain: bool) -> Option<State> {
        let message = self.values(plain)?;
        run_reducer(self.reducer, self.reducer.lift, &self.extents, message).ok()
    }

    /// The values of a random message.
    fn values(&mut self, plain: bool) -> Option<Vec<Tensor>> {
        let types: Vec<TensorType> = self.reducer.message().into_iter().cloned().collect();
        types.iter().map(|ty| self.message(ty, plain)).collect()
    }

    /// Where a row is cut, as the law of associativity lets it be, `step` goes on with what `combine` starts from:
    /// whether the two differ on a state and a message; `None` if they cannot be run.
    fn step(&mut self, state: &State, plain: bool) -> Option<Option<Stepped>> {
        let Some(step) = self.reducer.step.filter(|_| self.reducer.laws.associative) else { return Some(None) };
        let message = self.values(plain)?;
        let both = state.iter().chain(&message).cloned().collect();
        let stepped = run_reducer(self.reducer, step, &self.extents, both).ok()?;
        let lifted = run_reducer(self.reducer, self.reducer.lift, &self.extents, message.clone()).ok()?;
        let combined = self.combine(state, &lifted)?;
        let differs = !agree(&stepped, &combined);
        let shown = message.iter().map(numbers).collect::<Vec<_>>().join(", ");
        Some(differs.then(|| (state.clone(), shown, [stepped, combined])))
    }

    /// A random value of a message's type.
    fn message(&mut self, ty: &TensorType, plain: bool) -> Option<Tensor> {
        let extent = |d: &tiga_abi::Poly| d.eval(&|s| self.extents.get(s).copied()).ok();
        let shape = ty.dims.iter().map(|d| usize::try_from(extent(d)?).ok()).collect::<Option<Vec<usize>>>()?;
        let count = shape.iter().product();
        let elements = (0..count).map(|_| self.number(ty.dtype, plain)).collect();
        Tensor::new(ty.dtype, shape, elements).ok()
    }

    fn number(&mut self, dtype: DType, plain: bool) -> Scalar {
        const SPECIAL: [f64; 6] = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 0.0, -0.0, 1e-3];
        let whole = self.random.i64(-4..=4);
        if dtype == DType::Bool {
            return Scalar::Bool(whole > 0);
        }
        if plain {
            return Scalar::from_i64(dtype, whole);
        }
        if !dtype.is_float() {
            let far = [i64::MIN, i64::MAX, i64::from(i32::MIN), i64::from(i32::MAX)];
            let extreme = self.random.u8(0..4) == 0;
            return Scalar::from_i64(dtype, if extreme { far[self.random.usize(0..far.len())] } else { whole });
        }
        match self.random.u8(0..4) {
            0 => Scalar::from_f64(dtype, SPECIAL[self.random.usize(0..SPECIAL.len())]),
            _ => Scalar::from_f64(dtype, 8.0 * self.random.f64() - 4.0),
        }
    }

    fn combine(&self, a: &State, b: &State) -> Option<State> {
        let both = a.iter().chain(b).cloned().collect();
        run_reducer(self.reducer, self.reducer.combine, &self.extents, both).ok()
    }

    fn associative(&self, a: &State, b: &State, c: &State) -> Option<Broken> {
        let left = self.combine(&self.combine(a, b)?, c)?;
        let right = self.combine(a, &self.combine(b, c)?)?;
        let names = ["combine(combine(a, b), c)", "combine(a, combine(b, c))"];
        (!agree(&left, &right)).then_some([(names[0], left), (names[1], right)])
    }

    fn commutative(&self, a: &State, b: &State) -> Option<Broken> {
        let (left, right) = (self.combine(a, b)?, self.combine(b, a)?);
        (!agree(&left, &right)).then_some([("combine(a, b)", left), ("combine(b, a)", right)])
    }

    /// `{m: 1, o: [2, 3]}`.
    fn show(&self, state: &State) -> String {
        let part =
            |(component, value): (&tiga_ir::StateComponent, &Tensor)| format!("{}: {}", component.name, numbers(value));
        format!("{{{}}}", self.reducer.state.iter().zip(state).map(part).collect::<Vec<_>>().join(", "))
    }
}

/// A number, or numbers in brackets.
fn numbers(value: &Tensor) -> String {
    let numbers: Vec<String> = value.elems().iter().map(Scalar::to_string).collect();
    if value.shape().is_empty() { numbers.join("") } else { format!("[{}]", numbers.join(", ")) }
}

/// Whether two states are the same up to rounding.
fn agree(left: &State, right: &State) -> bool {
    left.iter().zip(right).all(|(l, r)| {
        let pairs = || l.elems().iter().zip(r.elems());
        let size = pairs().flat_map(|(a, b)| [a, b]).map(|x| x.as_f64()).filter(|x| x.is_finite());
        let size = size.fold(1.0, |size: f64, x| size.max(x.abs()));
        pairs().all(|(a, b)| same(a, b, size))
    })
}

fn same(a: &Scalar, b: &Scalar, size: f64) -> bool {
    let tolerance = match a.dtype() {
        // Halves were widened: what they round says nothing about the law.
        DType::F16 | DType::BF16 | DType::F32 => 1e-4,
        DType::F64 => 1e-9,
        DType::I32 | DType::I64 | DType::Bool => return a.same(*b),
    };
    let (a, b) = (a.as_f64(), b.as_f64());
    if a.is_finite() && b.is_finite() {
        return (a - b).abs() <= tolerance * size;
    }
    a == b || ((a.is_nan() || b.is_nan()) && !a.is_finite() && !b.is_finite())
}
