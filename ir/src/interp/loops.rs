//! The loops level: iteration spaces, accesses, and reductions with the tree of their shape.

use super::dense::axis_index;
use super::error::{ErrorKind, Place, Run, malformed};
use super::fold::{Plan, Reduction, State, join};
use super::machine::{Frame, Machine, Val, enter_value, nested, operand};
use super::memory::Memory;
use super::relation::Relation;
use super::value::{Tensor, Value};
use super::{InterpError, Options};
use crate::ops::fit_at;
use crate::{InstData, Key, Level, Module, Over, Scalar, Space};
use std::rc::Rc;
use std::sync::Arc;

/// Runs a loops function; memory given as [`Value::Buffer`] is written in place.
///
/// # Errors
/// Arguments that do not fit, accesses outside of memory or of unwritten memory, iterations that are not independent,
/// exhausted budgets.
pub fn run_loops(module: &Module, name: &str, args: &mut [Value], options: &Options) -> Result<(), InterpError> {
    let machine = Machine::new(module, options);
    let func = machine.func(name, Level::Loops)?;
    with_memory(func, args, |values| machine.invoke(func, values, None).map(|_| ()))
}

/// Runs `inner` on the arguments and gives memory back to the caller afterwards, also after an error.
pub(super) fn with_memory<T>(func: &crate::Func, args: &mut [Value], inner: impl FnOnce(Vec<Val>) -> Run<T>) -> Run<T> {
    let params = func.params();
    let enter = |(i, arg): (usize, &Value)| match params.get(i) {
        Some(param) => enter_value(func.body.ty(*param), arg),
        None => Val::from(Scalar::Bool(false)),
    };
    let values: Vec<Val> = args.iter().enumerate().map(enter).collect();
    let result = inner(values.clone());
    for (arg, value) in args.iter_mut().zip(values) {
        if let (Value::Buffer(buffer), Val::Memory(memory)) = (arg, value) {
            *buffer = memory.buffer().clone();
        }
    }
    result
}

impl<'m> Machine<'m> {
    fn indices(&self, frame: &Frame<'m>, data: &InstData, from: usize) -> Run<Vec<i64>> {
        data.operands.get(from..).unwrap_or(&[]).iter().map(|v| frame.int(*v)).collect()
    }

    /// What is left of the shape after the leading indices.
    pub fn load(&self, frame: &Frame<'m>, data: &InstData) -> Run<Tensor> {
        let indices = self.indices(frame, data, 1)?;
        let tensor = frame.memory(operand(data, 0)?)?.load(&indices, self.iteration.get())?;
        self.charge(tensor.elems().len())?;
        Ok(tensor)
    }

    /// Writes a small tensor at the leading indices.
    pub fn store(&self, frame: &Frame<'m>, data: &InstData) -> Run<()> {
        let indices = self.indices(frame, data, 2)?;
        let value = frame.tensor(operand(data, 0)?)?;
        self.charge(value.elems().len())?;
        frame.memory(operand(data, 1)?)?.store(&indices, value.elems(), self.iteration.get())
    }

    /// Runs the body for each iteration of the space, in ascending order or shuffled.
    pub fn for_each(&self, frame: &mut Frame<'m>, data: &'m InstData) -> Run<()> {
        let space = data.attrs.space().ok_or_else(|| malformed("a space is missing"))?;
        let body = nested(data, 0)?;
        let mut iterations = self.iterations(frame, data, space)?;
        self.charge(iterations.len())?;
        if let Some(seed) = self.options.shuffle {
            shuffle(&mut iterations, seed);
        }
        let outer = self.iteration.get();
        let first = self.next_iteration.get();
        for indices in iterations {
            if outer.is_none() {
                let current = self.next_iteration.get();
                self.next_iteration.set(current + 1);
                self.iteration.set(Some((first, current)));
            }
            let result = self.run(frame, body, indices.into_iter().map(Scalar::I64));
            self.iteration.set(outer);
            result?;
        }
        Ok(())
    }

    /// The indices of each iteration.
    fn iterations(&self, frame: &Frame<'m>, data: &InstData, space: &Space) -> Run<Vec<Vec<i64>>> {
        let count = |n: u64| -> Run<std::ops::Range<i64>> {
            let limit = self.options.elements;
            if n > limit as u64 { Err(ErrorKind::Elements { limit }.into()) } else { Ok(0..n as i64) }
        };
        let rel = || frame.rel(operand(data, 0)?);
        Ok(match space {
            Space::Once => vec![Vec::new()],
            Space::Rows(extent) => count(frame.sizes.eval(extent)? as u64)?.map(|row| vec![row]).collect(),
            Space::Blocks(extent, size) => {
                let blocks = (frame.sizes.eval(extent)? as u64).div_ceil((*size).max(1));
                count(blocks)?.map(|block| vec![block]).collect()
            }
            Space::Edges => {
                let rel = rel()?;
                (0..rel.num_edges()).map(|p| indices_at(rel, p, Over::Edges)).collect()
            }
            Space::Short(leaf) => {
                let rel = rel()?;
                let short = |row: &usize| rel.row(*row).len() as u64 <= *leaf;
                (0..rel.num_dst()).filter(short).map(|row| vec![row as i64]).collect()
            }
            Space::Leaves(leaf) => {
                let units = self.units(rel()?, (*leaf).max(1));
                let leaves = 0..units.leaf_base.last().copied().unwrap_or(0);
                let row = |leaf: i64| units.long_of(leaf).map(|long| vec![leaf, units.long_rows[long]]);
                leaves.filter_map(row).collect()
            }
            Space::Long(leaf) => {
                let units = self.units(rel()?, (*leaf).max(1));
                units.long_rows.iter().enumerate().map(|(long, row)| vec![long as i64, *row]).collect()
            }
        })
    }

    /// A reduction with the tree of its shape.
    pub fn reduce(&self, frame: &mut Frame<'m>, data: &'m InstData) -> Run<Vec<Tensor>> {
        let reducer = self.reducer(data.attrs.reducer())?;
        let shape = data.attrs.shape().ok_or_else(|| malformed("a shape is missing"))?;
        let plan = Plan::new(shape, reducer, &frame.sizes)?;
        let over = *data.attrs.over().ok_or_else(|| malformed("a range is missing"))?;
        let (rel, range) = self.range(frame, data, over, &plan)?;
        let body = nested(data, 0)?;
        let step = data.attrs.has(Key::Step);
        let mut reduction = Reduction::new(self, reducer, fit_at(reducer, frame.body, data), &frame.sizes)?;
        let n = range.end.saturating_sub(range.start);
        let state = plan.tree(&mut reduction, n, |reduction, before, offset| {
            self.charge(1)?;
            let index = range.start + offset;
            let indices = match &rel {
                Some(rel) => indices_at(rel, index as usize, over),
                None => vec![index as i64],
            };
            let indices = indices.into_iter().map(|i| Tensor::scalar(Scalar::I64(i)));
            if step {
                let before = before.map_or_else(|| reduction.identity(), Ok)?;
                return self.run_tensors(frame, body, indices.chain(before));
            }
            let message = self.run_tensors(frame, body, indices)?;
            reduction.fold(before, message)
        })?;
        if data.attrs.has(Key::Raw) {
            return state.map_or_else(|| reduction.identity(), Ok);
        }
        reduction.results(state)
    }

    /// What a reduction runs over: positions of a relation, or plain indices.
    fn range(
        &self,
        frame: &Frame<'m>,
        data: &InstData,
        over: Over,
        plan: &Plan,
    ) -> Run<(Option<Arc<Relation>>, std::ops::Range<u64>)> {
        let wide = |r: std::ops::Range<usize>| r.start as u64..r.end as u64;
        Ok(match over {
            Over::Neighbours => {
                let rel = frame.rel(operand(data, 0)?)?.clone();
                let row = axis_index("the rows of a relation", frame.int(operand(data, 1)?)?, rel.num_dst())?;
                let positions = wide(rel.row(row));
                (Some(rel), positions)
            }
            Over::Leaf => {
                let rel = frame.rel(operand(data, 0)?)?.clone();
                let positions = self.leaf(&rel, frame.int(operand(data, 1)?)?, plan.leaf())?;
                (Some(rel), positions)
            }
            Over::Edges => {
                let rel = frame.rel(operand(data, 0)?)?.clone();
                let positions = 0..rel.num_edges() as u64;
                (Some(rel), positions)
            }
            Over::Range => (None, 0..self.extent(frame, data)? as u64),
            Over::Block => {
                let extent = self.extent(frame, data)? as u64;
                let blocks = extent.div_ceil(plan.leaf());
                let block = axis_index("the blocks of a range", frame.int(operand(data, 0)?)?, blocks as usize)? as u64;
                let begin = block * plan.leaf();
                (None, begin..begin.saturating_add(plan.leaf()).min(extent))
            }
        })
    }

    /// The positions of a leaf of a long row.
    fn leaf(&self, rel: &Arc<Relation>, leaf: i64, size: u64) -> Run<std::ops::Range<u64>> {
        let units = self.units(rel, size);
        let extent = units.leaf_base.last().copied().unwrap_or(0) as usize;
        let long =
            units.long_of(leaf).ok_or(ErrorKind::Index { what: "the leaves of a relation", index: leaf, extent })?;
        let row = rel.row(units.long_rows[long] as usize);
        let begin = row.start as u64 + (leaf - units.leaf_base[long]) as u64 * size;
        Ok(begin..(begin + size).min(row.end as u64))
    }

    /// The tree over stored partial states, then finalize.
    pub fn join(&self, frame: &Frame<'m>, data: &InstData) -> Run<Vec<Tensor>> {
        let reducer = self.reducer(data.attrs.reducer())?;
        let shape = data.attrs.shape().ok_or_else(|| malformed("a shape is missing"))?;
        let plan = Plan::new(shape, reducer, &frame.sizes)?;
        let (leaves, partials) = match data.attrs.over() {
            Some(Over::Neighbours) => {
                let rel = frame.rel(operand(data, 0)?)?;
                let units = self.units(rel, plan.leaf());
                let long = axis_index("the long rows", frame.int(operand(data, 1)?)?, units.long_rows.len())?;
                (units.leaf_base[long]..units.leaf_base[long + 1], &data.operands[2..])
            }
            Some(Over::Range) => {
                let blocks = (self.extent(frame, data)? as u64).div_ceil(plan.leaf());
                (0..blocks as i64, data.operands.as_slice())
            }
            _ => return Err(malformed("a join is over neighbours or a range")),
        };
        let memories = partials.iter().map(|v| frame.memory(*v)).collect::<Run<Vec<_>>>()?;
        let mut reduction = Reduction::new(self, reducer, fit_at(reducer, frame.body, data), &frame.sizes)?;
        let mut states = Vec::new();
        for leaf in leaves {
            let load = |m: &&Rc<Memory>| m.load(&[leaf], self.iteration.get());
            let state: State = memories.iter().map(load).collect::<Run<_>>()?;
            self.charge(1 + state.iter().map(|t| t.elems().len()).sum::<usize>())?;
            states.push(Some(state));
        }
        let state = join(&mut reduction, states)?;
        if data.attrs.has(Key::Raw) {
            return state.map_or_else(|| reduction.identity(), Ok);
        }
        reduction.results(state)
    }

    /// Pairs of points within a distance, in rows of ascending sources, without self.
    ///
    /// The cell list only tells where to look: any list that holds each point once gives the same relation, so the
    /// interpreter looks everywhere. Distances are compared as squares, which are summed from the first axis on.
    pub fn cells(&self, frame: &mut Frame<'m>, data: &InstData) -> Run<Val> {
        let memory = |i: usize| -> Run<Tensor> {
            let memory = frame.memory(operand(data, i)?)?;
            memory.buffer().tensor().map_err(|index| ErrorKind::Unwritten { index }.into())
        };
        let numbers = |t: Tensor| t.elems().iter().map(|e| e.as_i64()).collect::<Option<Vec<i64>>>();
        let points = memory(0)?;
        let n = points.shape().first().copied().unwrap_or(0);
        let (Some(cell_ptr), Some(ids)) = (numbers(memory(1)?), numbers(memory(2)?)) else {
            return Err(malformed("indices are expected"));
        };
        // A cell list is a relation from points to cells.
        let cells = Relation::csr(n, cell_ptr, ids).map_err(ErrorKind::Relation)?;
        let mut times = vec![0usize; n];
        cells.col().iter().for_each(|id| times[*id as usize] += 1);
        if let Some(point) = times.iter().position(|t| *t != 1) {
            return Err(ErrorKind::Cells { point: point as i64, times: times[point] }.into());
        }
        let cutoff = frame.scalar(operand(data, 3)?)?;
        let (mut row_ptr, mut col) = (vec![0], Vec::new());
        for d in 0..n {
            self.charge(n)?;
            for s in 0..n {
                if s != d && within(&points, s, d, cutoff)? {
                    col.push(s as i64);
                }
            }
            row_ptr.push(col.len() as i64);
        }
        let edges = data.attrs.dims().and_then(|d| d.set.clone());
        let edges = edges.ok_or_else(|| malformed("an edge set is missing"))?;
        frame.sizes.bind(&edges, col.len() as i64, Place::Built)?;
        Ok(Val::Rel(Arc::new(Relation::cells(n, row_ptr, col))))
    }
}

/// Whether two points are within a distance.
fn within(points: &Tensor, s: usize, d: usize, cutoff: Scalar) -> Run<bool> {
    let attrs = crate::Attrs::new();
    let op = |op: crate::Op, a: Scalar, b: Scalar| {
        op.eval(&[a, b], &attrs).ok_or_else(|| malformed("the op works on no elements"))
    };
    let axes = points.shape().get(1).copied().unwrap_or(0);
    let mut sum: Option<Scalar> = None;
    for axis in 0..axes {
        let difference = op(crate::ops::SUB, points.elems()[s * axes + axis], points.elems()[d * axes + axis])?;
        let square = op(crate::ops::MUL, difference, difference)?;
        sum = Some(sum.map_or(Ok(square), |sum| op(crate::ops::ADD, sum, square))?);
    }
    let limit = op(crate::ops::MUL, cutoff, cutoff)?;
    let sum = sum.unwrap_or(Scalar::from_i64(limit.dtype(), 0));
    Ok(op(crate::ops::LE, sum, limit)?.as_bool().unwrap_or(false))
}

/// What a body sees at a position.
fn indices_at(rel: &Relation, position: usize, over: Over) -> Vec<i64> {
    let mut indices = vec![position as i64, rel.edge(position) as i64, rel.source(position) as i64];
    if over == Over::Edges {
        indices.push(rel.destination(position) as i64);
    }
    indices
}

/// Fisher and Yates, with the generator SplitMix64.
fn shuffle<T>(items: &mut [T], seed: u64) {
    let mut state = seed;
    for i in (1..items.len()).rev() {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        items.swap(i, ((z ^ (z >> 31)) % (i as u64 + 1)) as usize);
    }
}
