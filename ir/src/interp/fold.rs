//! Reductions: lift, combine and finalize of a reducer on mapped states, the plain left fold, and the tree of a shape.

use super::error::{ErrorKind, Place, Run, malformed};
use super::machine::{Frame, Machine};
use super::sizes::Sizes;
use super::value::{Tensor, count};
use crate::{Fit, ReduceShape, Reducer, Region, Scalar, TensorType};

/// The components of a state, each with the axes along which the reducer is mapped in front.
pub(super) type State = Vec<Tensor>;

/// A reducer at work.
pub(super) struct Reduction<'a, 'm> {
    machine: &'a Machine<'m>,
    pub reducer: &'m Reducer,
    /// Components of a message.
    message: usize,
    /// The values of the axes along which the reducer is mapped.
    map: Vec<usize>,
    frame: Frame<'m>,
}

impl<'a, 'm> Reduction<'a, 'm> {
    /// A reducer of messages with the types `found`, which sizes outside speak of.
    pub fn of_message(
        machine: &'a Machine<'m>,
        reducer: &'m Reducer,
        found: &[&TensorType],
        outer: &Sizes,
    ) -> Run<Self> {
        Self::new(machine, reducer, reducer.fit_message(found), outer)
    }

    /// A reducer as it is used somewhere.
    pub fn new(machine: &'a Machine<'m>, reducer: &'m Reducer, fit: Option<Fit>, outer: &Sizes) -> Run<Self> {
        let fit = fit.ok_or_else(|| malformed("a message or state of another type than its reducer's"))?;
        let mut own = Sizes::default();
        for (symbol, extent) in &fit.own {
            own.bind(symbol, outer.eval(extent)? as i64, Place::Bound)?;
        }
        let map = outer.shape(&fit.map)?;
        Ok(Reduction { machine, reducer, message: reducer.message().len(), map, frame: Frame::new(&reducer.body, own) })
    }

    /// Number of components of a message.
    pub fn message_len(&self) -> usize {
        self.message
    }

    /// The state of one message.
    pub fn lift(&mut self, message: Vec<Tensor>) -> Run<State> {
        self.mapped(self.reducer.lift, message, &self.reducer.states())
    }

    /// The state of two states; the left one comes first.
    pub fn combine(&mut self, left: State, right: State) -> Run<State> {
        let both = left.into_iter().chain(right).collect();
        self.mapped(self.reducer.combine, both, &self.reducer.states())
    }

    /// The state after one more message.
    pub fn fold(&mut self, before: Option<State>, message: Vec<Tensor>) -> Run<State> {
        match (before, self.reducer.step) {
            (None, _) => self.lift(message),
            (Some(state), Some(step)) => {
                let both = state.into_iter().chain(message).collect();
                self.mapped(step, both, &self.reducer.states())
            }
            (Some(state), None) => {
                let lifted = self.lift(message)?;
                self.combine(state, lifted)
            }
        }
    }

    /// The results of a state.
    pub fn finalize(&mut self, state: State) -> Run<Vec<Tensor>> {
        let types: Vec<&TensorType> = self.reducer.outs.iter().collect();
        self.mapped(self.reducer.finalize, state, &types)
    }

    /// The results; those of no element if there is no state.
    pub fn results(&mut self, state: Option<State>) -> Run<Vec<Tensor>> {
        match state {
            Some(state) => self.finalize(state),
            None => {
                let rows = self.reducer.outs.iter().zip(&self.reducer.empty);
                rows.map(|(ty, empty)| self.filled(ty, *empty)).collect()
            }
        }
    }

    /// The state of no element: the identities.
    pub fn identity(&self) -> Run<State> {
        let no = || ErrorKind::NoIdentity { reducer: self.reducer.name.clone() };
        let component = |c: &crate::StateComponent| self.filled(&c.ty, c.identity.ok_or_else(no)?);
        self.reducer.state.iter().map(component).collect()
    }

    fn filled(&self, ty: &TensorType, value: Scalar) -> Run<Tensor> {
        let shape = [self.map.as_slice(), &self.frame.sizes.shape(&ty.dims)?].concat();
        let n = self.machine.elements(&shape)?;
        Ok(Tensor::of_elems(ty.dtype, shape, vec![value; n]))
    }

    /// Runs a region of the reducer for each index of the mapped axes, independently.
    fn mapped(&mut self, region: Region, inputs: Vec<Tensor>, types: &[&TensorType]) -> Run<State> {
        if self.map.is_empty() {
            return self.machine.run_tensors(&mut self.frame, region, inputs);
        }
        let n = count(&self.map).ok_or_else(|| malformed("mapped axes without a size"))?;
        let flat = inputs.into_iter().map(|t| flatten(t, self.map.len(), n)).collect::<Run<Vec<_>>>()?;
        let mut parts: Vec<Vec<Scalar>> = types.iter().map(|_| Vec::new()).collect();
        let mut shapes = types.iter().map(|t| self.frame.sizes.shape(&t.dims)).collect::<Run<Vec<_>>>()?;
        for index in 0..n {
            let rows = flat.iter().map(|t| t.row(index).ok_or_else(|| malformed("a mapped axis is missing")));
            let rows = rows.collect::<Run<Vec<_>>>()?;
            let outs = self.machine.run_tensors(&mut self.frame, region, rows)?;
            if outs.len() != types.len() {
                return Err(malformed("a reducer yields another number of values"));
            }
            for ((part, shape), out) in parts.iter_mut().zip(&mut shapes).zip(outs) {
                part.extend_from_slice(out.elems());
                *shape = out.shape().to_vec();
            }
        }
        let parts = parts.into_iter().zip(shapes).zip(types);
        let stacked = parts.map(|((elems, own), ty)| {
            let shape = [self.map.as_slice(), &own].concat();
            let fits = count(&shape) == Some(elems.len());
            fits.then(|| Tensor::of_elems(ty.dtype, shape, elems)).ok_or_else(|| malformed("a reducer yields shapes"))
        });
        stacked.collect()
    }
}

/// One axis instead of the first `axes`, which have `n` elements.
fn flatten(tensor: Tensor, axes: usize, n: usize) -> Run<Tensor> {
    if axes == 1 {
        return Ok(tensor);
    }
    let rest = tensor.shape().get(axes..).ok_or_else(|| malformed("a mapped axis is missing"))?;
    let shape = [&[n], rest].concat();
    tensor.reshaped(shape).ok_or_else(|| malformed("a mapped axis is missing"))
}

/// How many accumulators a leaf has, which one an element goes to, and how long a leaf is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    leaf: Option<u64>,
    acc: u64,
    interleaved: bool,
}

impl Plan {
    /// The law of `determinism.md`: a reducer that is not associative is folded from the left, whatever the shape says.
    pub fn new(shape: &ReduceShape, reducer: &Reducer, sizes: &Sizes) -> Run<Plan> {
        let acc = shape.acc.eval(&|s| sizes.get(s)).map_err(ErrorKind::Size)?;
        Ok(if reducer.laws.associative {
            Plan { leaf: shape.leaf, acc: u64::from(acc.max(1)), interleaved: reducer.laws.commutative }
        } else {
            Plan { leaf: None, acc: 1, interleaved: true }
        })
    }

    /// Elements in a leaf.
    pub fn leaf(&self) -> u64 {
        self.leaf.unwrap_or(u64::MAX).max(1)
    }

    /// The accumulator of an element, by its offset in the leaf.
    fn accumulator(&self, offset: u64) -> usize {
        let index = match (self.interleaved, self.leaf) {
            (true, _) => offset % self.acc,
            (false, Some(leaf)) => offset / leaf.div_ceil(self.acc).max(1),
            (false, None) => 0,
        };
        index as usize
    }

    /// The state of `n` elements; `take` gives an accumulator one more element.
    pub fn tree(
        &self,
        reduction: &mut Reduction<'_, '_>,
        n: u64,
        mut take: impl FnMut(&mut Reduction<'_, '_>, Option<State>, u64) -> Run<State>,
    ) -> Run<Option<State>> {
        let mut leaves = Vec::new();
        let mut begin = 0;
        while begin < n {
            let end = begin.saturating_add(self.leaf()).min(n);
            let mut accumulators: Vec<Option<State>> = vec![None; self.acc as usize];
            for i in begin..end {
                let slot = &mut accumulators[self.accumulator(i - begin)];
                *slot = Some(take(reduction, slot.take(), i)?);
            }
            leaves.push(join(reduction, accumulators)?);
            begin = end;
        }
        join(reduction, leaves)
    }
}

/// Joins pairwise, level by level: 2i with 2i + 1; an odd one moves up, an absent one is skipped.
pub(super) fn join(reduction: &mut Reduction<'_, '_>, mut level: Vec<Option<State>>) -> Run<Option<State>> {
    while level.len() > 1 {
        let mut next = Vec::with_capacity(level.len().div_ceil(2));
        let mut states = level.into_iter();
        while let Some(left) = states.next() {
            next.push(match (left, states.next().flatten()) {
                (Some(left), Some(right)) => Some(reduction.combine(left, right)?),
                (left, right) => left.or(right),
            });
        }
        level = next;
    }
    Ok(level.pop().flatten())
}
