//! Folds: the elements of a reduction, its accumulators, and their join.

use super::dense::Packed;
use super::emit::{Emit, Frame, Index, Indices};
use super::{LowerError, required};
use tiga_abi::DType;
use tiga_ir::{
    Acc, Attrs, Inst, Key, Over, ReduceShape, Reducer, Region, RelKind, Scalar, Space, TypeError, Value,
    ops::{self, Substitution},
};

/// A reduction at one position of its features: which components are carried, and at which indices.
pub(super) struct Fold<'a> {
    pub(super) reducer: &'a Reducer,
    /// Indices of the mapped axes.
    map: Indices,
    /// Indices of the reducer's own axes; a component with fewer axes uses the last ones.
    own: Indices,
    /// The state components that exist at these indices.
    pub(super) components: Vec<usize>,
    /// The reducer's symbols in terms of the kernel's.
    sizes: Substitution,
}

impl<'a> Fold<'a> {
    /// The fold that gives result `index` at `at`.
    pub(super) fn new(reducer: &'a Reducer, sizes: Substitution, raw: bool, index: usize, at: &[Index]) -> Self {
        let ty = if raw { &reducer.state[index].ty } else { &reducer.outs[index] };
        let (map, own) = at.split_at(at.len() - ty.dims.len());
        let components = (0..reducer.state.len()).filter(|c| reducer.state[*c].ty.dims.len() <= own.len()).collect();
        Self { reducer, map: map.to_vec(), own: own.to_vec(), components, sizes }
    }

    /// The reducer's own indices of something with `rank` own axes.
    fn own(&self, rank: usize) -> &[Index] {
        &self.own[self.own.len() - rank..]
    }

    /// All indices of something with `rank` own axes.
    pub(super) fn indices(&self, rank: usize) -> Indices {
        [self.map.as_slice(), self.own(rank)].concat()
    }

    /// The last `rank` of all indices, if there are so many.
    pub(super) fn features(&self, rank: usize) -> Option<Indices> {
        let all = [self.map.as_slice(), &self.own].concat();
        all.len().checked_sub(rank).map(|first| all[first..].to_vec())
    }

    /// Own axes of a component.
    pub(super) fn rank(&self, component: usize) -> usize {
        self.reducer.state[component].ty.dims.len()
    }

    pub(super) fn dtype(&self, component: usize) -> DType {
        self.reducer.state[component].ty.dtype
    }

    /// Whether a component has lanes.
    pub(super) fn in_lanes(&self, component: usize) -> bool {
        self.indices(self.rank(component)).iter().any(|i| i.in_lanes())
    }
}

/// The values of the carried components.
pub(super) type State = Vec<Value>;

/// The elements folded: positions `begin..end`.
pub(super) struct Elements {
    pub(super) begin: Value,
    pub(super) end: Value,
}

impl<'a> Emit<'a> {
    pub(super) fn reducer(&self, frame: &Frame<'a>, inst: Inst) -> &'a Reducer {
        let name = required(frame.body.inst(inst).attrs.reducer(), Key::With);
        &self.module.reducers[&name]
    }

    /// `reduce`: one of its results at indices. The others are remembered where they have the same indices.
    pub(super) fn reduce(
        &mut self,
        frame: &mut Frame<'a>,
        inst: Inst,
        value: Value,
        at: &[Index],
    ) -> Result<Value, LowerError> {
        let data = frame.body.inst(inst);
        let index = data.results.iter().position(|v| *v == value).expect("the value is a result of the instruction");
        let raw = data.attrs.has(Key::Raw);
        let reducer = self.reducer(frame, inst);
        let fold = Fold::new(reducer, own_sizes(frame, inst, reducer), raw, index, at);
        let elements = self.elements(frame, inst)?;
        let accumulators = self.accumulators(frame, inst, &fold)?;
        let count = self.op(ops::SUB, &[elements.end, elements.begin])?;
        let across = self.goes_across(frame, inst, &fold, accumulators);
        self.schedule.folds(accumulators, across);
        let state = if across {
            self.fold_across(frame, inst, &fold, &elements, accumulators)?
        } else {
            let leaves = self.fold_elements(frame, inst, &fold, &elements, accumulators)?;
            self.join_accumulators(&fold, count, leaves)?
        };
        let results = if raw { self.states(&fold, &state) } else { self.finish_fold(&fold, count, &state)? };
        self.bind_results(frame, inst, &fold, results);
        frame_value(self, frame, value, at)
    }

    /// Results of a raw fold: each carried component with its own rank.
    pub(super) fn states(&self, fold: &Fold<'a>, state: &State) -> Vec<Option<(usize, Value)>> {
        let mut out = vec![None; fold.reducer.state.len()];
        for (slot, component) in fold.components.iter().enumerate() {
            out[*component] = Some((fold.rank(*component), state[slot]));
        }
        out
    }

    /// Finalize, or the empty row's value if there was no element.
    pub(super) fn finish_fold(
        &mut self,
        fold: &Fold<'a>,
        count: Value,
        state: &State,
    ) -> Result<Vec<Option<(usize, Value)>>, LowerError> {
        let zero = self.i64(0);
        let empty = self.op(ops::LE, &[count, zero])?;
        let args: Vec<(usize, Value)> = fold.components.iter().copied().zip(state.iter().copied()).collect();
        let outs = fold.reducer.outs.len();
        let wanted: Vec<usize> = (0..outs).filter(|o| fold.reducer.outs[*o].dims.len() <= fold.own.len()).collect();
        let values = self.reducer_region(fold, fold.reducer.finalize, &args, &wanted)?;
        let mut results = vec![None; outs];
        for (out, value) in wanted.into_iter().zip(values) {
            let nothing = self.constant(fold.reducer.empty[out]);
            let chosen = self.elementwise(ops::SELECT, &[empty, nothing, value], &Attrs::new())?;
            results[out] = Some((fold.reducer.outs[out].dims.len(), chosen));
        }
        Ok(results)
    }

    /// The number of accumulators under this kernel's guard.
    fn accumulators(&self, frame: &Frame<'a>, inst: Inst, fold: &Fold<'a>) -> Result<u32, LowerError> {
        let shape = required(frame.body.inst(inst).attrs.shape(), Key::Shape);
        self.check_leaf(frame, inst, &shape)?;
        let acc = self.choose(&shape.acc)?;
        if acc > 1 && !fold.reducer.laws.commutative {
            return Err(self.unsupported("several accumulators of a reducer that is not commutative"));
        }
        Ok(acc)
    }

    /// The accumulators of a table under this kernel's guard.
    pub(super) fn choose(&self, acc: &Acc) -> Result<u32, LowerError> {
        if !acc.rows.is_empty() && self.table.as_ref() != Some(acc) {
            let known = |row: &tiga_ir::AccRow| self.known(&row.width).as_constant().is_some();
            if !acc.rows.iter().all(known) {
                return Err(self.unsupported("reducing values with different numbers of features at once"));
            }
        }
        let holds = |row: &&tiga_ir::AccRow| {
            let guarded = (row.width.clone(), row.cmp, row.bound);
            let known = self.known(&row.width).as_constant();
            known.map_or(self.kernel.guard.terms.contains(&guarded), |width| row.cmp.holds(width, row.bound))
        };
        Ok(acc.rows.iter().find(holds).map_or(acc.otherwise, |row| row.acc))
    }

    /// A fold here is one leaf: longer ranges have been split into units before.
    fn check_leaf(&self, frame: &Frame<'a>, inst: Inst, shape: &ReduceShape) -> Result<(), LowerError> {
        let data = frame.body.inst(inst);
        let source = &self.source.body;
        let main = source.block(source.entry(self.source.region)).insts[0];
        let single = match (data.attrs.over(), shape.leaf) {
            (_, None) | (Some(Over::Leaf | Over::Block), _) => true,
            (Some(Over::Neighbours), Some(leaf)) => {
                matches!(source.inst(main).attrs.space(), Some(Space::Short(short)) if *short <= leaf)
            }
            (Some(Over::Range), Some(leaf)) => {
                let extent = required(data.attrs.dims(), Key::Dims).extents()[0].clone();
                self.known(&extent).as_constant().is_some_and(|n| n as u64 <= leaf)
            }
            _ => false,
        };
        if single {
            Ok(())
        } else {
            Err(self.unsupported("a reduction of several leaves that was not split into units"))
        }
    }

    /// The positions an inst folds.
    fn elements(&mut self, frame: &mut Frame<'a>, inst: Inst) -> Result<Elements, LowerError> {
        let data = frame.body.inst(inst);
        let shape = required(data.attrs.shape(), Key::Shape);
        match required(data.attrs.over(), Key::Over) {
            Over::Neighbours => {
                let row = self.value(frame, data.operands[1], &[])?;
                let (begin, end) = self.row_bounds(frame, data.operands[0], row)?;
                Ok(Elements { begin, end })
            }
            Over::Leaf => {
                let leaf = self.value(frame, data.operands[1], &[])?;
                let rel = data.operands[0];
                let long = self.part_at(frame, rel, "leaf_row", leaf)?;
                let row = self.part_at(frame, rel, "long_rows", long)?;
                let base = self.part_at(frame, rel, "leaf_base", long)?;
                let (row_begin, row_end) = self.row_bounds(frame, rel, row)?;
                let number = self.op(ops::SUB, &[leaf, base])?;
                self.cut(number, row_begin, row_end, &shape)
            }
            Over::Range => {
                let extent = required(data.attrs.dims(), Key::Dims).extents()[0].clone();
                Ok(Elements { begin: self.i64(0), end: self.extent(&extent)? })
            }
            Over::Block => {
                let block = self.value(frame, data.operands[0], &[])?;
                let extent = required(data.attrs.dims(), Key::Dims).extents()[0].clone();
                let (zero, end) = (self.i64(0), self.extent(&extent)?);
                self.cut(block, zero, end, &shape)
            }
            Over::Edges => Err(self.unsupported("a reduction over all edges")),
        }
    }

    /// Leaf `number` of `begin..end`.
    fn cut(&mut self, number: Value, begin: Value, end: Value, shape: &ReduceShape) -> Result<Elements, LowerError> {
        let leaf = shape.leaf.ok_or_else(|| self.unsupported("one leaf of an infinite one"))?;
        let leaf = self.i64(leaf as i64);
        let offset = self.op(ops::MUL, &[number, leaf])?;
        let first = self.op(ops::ADD, &[begin, offset])?;
        let past = self.op(ops::ADD, &[first, leaf])?;
        let last = self.op(ops::MIN, &[past, end])?;
        Ok(Elements { begin: first, end: last })
    }

    /// Binds the indices of the element at `position`.
    fn bind_element(&mut self, frame: &mut Frame<'a>, inst: Inst, position: Value) -> Result<(), LowerError> {
        let data = frame.body.inst(inst);
        let params = frame.body.block(frame.body.entry(data.regions[0])).params.clone();
        if matches!(data.attrs.over(), Some(Over::Range | Over::Block)) {
            frame.bind(params[0], &[], position);
            return Ok(());
        }
        self.bind_edge(frame, data.operands[0], &params, position)
    }

    /// Binds the position of an edge, its number and its source.
    pub(super) fn bind_edge(
        &mut self,
        frame: &mut Frame<'a>,
        rel: Value,
        params: &[Value],
        position: Value,
    ) -> Result<(), LowerError> {
        let kind = frame.body.ty(rel).as_rel().expect("verified: the first operand is a relation").kind;
        let edge = match kind {
            RelKind::Csr => position,
            RelKind::Transpose | RelKind::Joined => self.part_at(frame, rel, "perm", position)?,
            RelKind::Cells => return Err(self.unsupported("a relation found through cells")),
        };
        let column = self.part_at(frame, rel, "col", position)?;
        let column = self.widened(column)?;
        for (param, value) in params.iter().zip([position, edge, column]) {
            frame.bind(*param, &[], value);
        }
        Ok(())
    }

    /// Folds all elements into `accumulators` states: element `i` goes to accumulator `i % accumulators`.
    fn fold_elements(
        &mut self,
        frame: &mut Frame<'a>,
        inst: Inst,
        fold: &Fold<'a>,
        elements: &Elements,
        accumulators: u32,
    ) -> Result<Vec<State>, LowerError> {
        let width = fold.components.len();
        let mut initial = vec![elements.begin, self.constant(Scalar::Bool(false))];
        for _ in 0..accumulators {
            for component in &fold.components {
                initial.push(self.initial(fold, *component)?);
            }
        }
        let (head, carried) = self.block_like(&initial);
        let (inside, rest) = (self.new_block(), self.new_block());
        let (joined, states) = self.block_like(&initial[2..]);
        self.jump(head, &initial)?;
        self.block = head;
        let (position, have) = (carried[0], carried[1]);
        let step = self.i64(accumulators.into());
        let past = self.op(ops::ADD, &[position, step])?;
        let full = self.op(ops::LE, &[past, elements.end])?;
        self.branch(full, (inside, &[]), (rest, &[]))?;
        self.block = inside;
        let mut next = vec![past, self.constant(Scalar::Bool(true))];
        for a in 0..accumulators as usize {
            let state = &carried[2 + a * width..2 + (a + 1) * width];
            let at = self.advance(position, a as i64)?;
            self.look_ahead(frame, inst, fold, at)?;
            next.extend(self.fold_one(frame, inst, fold, at, have, state)?);
        }
        self.jump(head, &next)?;
        self.block = rest;
        let mut current = carried[2..].to_vec();
        for a in 0..accumulators as usize - 1 {
            let at = self.advance(position, a as i64)?;
            let more = self.op(ops::LT, &[at, elements.end])?;
            let one = self.new_block();
            self.branch(more, (one, &[]), (joined, &current))?;
            self.block = one;
            let state = current[a * width..(a + 1) * width].to_vec();
            let folded = self.fold_one(frame, inst, fold, at, have, &state)?;
            current.splice(a * width..(a + 1) * width, folded);
        }
        self.jump(joined, &current)?;
        self.block = joined;
        Ok(states.chunks(width.max(1)).map(<[Value]>::to_vec).collect())
    }

    pub(super) fn advance(&mut self, position: Value, by: i64) -> Result<Value, TypeError> {
        if by == 0 {
            return Ok(position);
        }
        let by = self.i64(by);
        self.op(ops::ADD, &[position, by])
    }

    /// A component before its first element: its identity, or anything.
    pub(super) fn initial(&mut self, fold: &Fold<'a>, component: usize) -> Result<Value, TypeError> {
        let identity = fold.reducer.state[component].identity;
        let value = self.constant(identity.unwrap_or(Scalar::from_i64(fold.dtype(component), 0)));
        if fold.in_lanes(component) { self.vector(value) } else { Ok(value) }
    }

    /// One element folded into a state; `have` says whether the state has an element yet.
    fn fold_one(
        &mut self,
        frame: &mut Frame<'a>,
        inst: Inst,
        fold: &Fold<'a>,
        position: Value,
        have: Value,
        state: &[Value],
    ) -> Result<State, LowerError> {
        frame.enter();
        self.bind_element(frame, inst, position)?;
        let folded = self.fold_in_scope(frame, inst, fold, Some(have), state);
        frame.leave();
        folded
    }

    /// The element whose indices are bound, folded into a state; `have` as in [`Emit::fold_one`], for reducers that ask.
    pub(super) fn fold_in_scope(
        &mut self,
        frame: &mut Frame<'a>,
        inst: Inst,
        fold: &Fold<'a>,
        have: Option<Value>,
        state: &[Value],
    ) -> Result<State, LowerError> {
        let data = frame.body.inst(inst);
        let entry = frame.body.entry(data.regions[0]);
        let block = frame.body.block(entry);
        let last = *block.insts.last().expect("verified: a region ends with a yield");
        let yields = frame.body.inst(last).operands.clone();
        if data.attrs.has(Key::Step) {
            let indices = block.params.len() - fold.reducer.state.len();
            let params = block.params.clone();
            for (slot, component) in fold.components.iter().enumerate() {
                frame.bind(params[indices + component], &fold.indices(fold.rank(*component)), state[slot]);
            }
            let mut next = Vec::new();
            for component in &fold.components {
                let value = self.value(frame, yields[*component], &fold.indices(fold.rank(*component)))?;
                next.push(if fold.in_lanes(*component) { self.vector(value)? } else { value });
            }
            return Ok(next);
        }
        let mut message = Vec::new();
        for (i, ty) in fold.reducer.message().iter().enumerate().filter(|(_, t)| t.dims.len() <= fold.own.len()) {
            message.push((i, self.value(frame, yields[i], &fold.indices(ty.dims.len()))?));
        }
        // What a reducer of the language does with a message is at the place of the message.
        let place = frame.body.inst(last).loc.clone();
        self.at_place(&place, |emit| emit.fold_message(fold, have, state, &message))
    }

    /// A message folded into a state.
    fn fold_message(
        &mut self,
        fold: &Fold<'a>,
        have: Option<Value>,
        state: &[Value],
        message: &[(usize, Value)],
    ) -> Result<State, LowerError> {
        let lifted = self.reducer_region(fold, fold.reducer.lift, message, &fold.components)?;
        let combined = match fold.reducer.step {
            Some(step) => self.step(fold, step, state, message)?,
            None => self.combine(fold, state, &lifted)?,
        };
        // `step` of the identity need not be `lift`.
        match have {
            Some(have) if !fold.reducer.has_identity() || fold.reducer.step.is_some() => {
                self.choose_states(fold, have, &combined, &lifted)
            }
            _ => Ok(combined),
        }
    }

    /// The same fold in several rows, element by element in all of them; binds its result in each.
    pub(super) fn fold_together(
        &mut self,
        inst: Inst,
        frames: &mut [Frame<'a>],
        packed: Option<&Packed>,
        features: &[Index],
    ) -> Result<(), LowerError> {
        let [frame, ..] = frames else { return Ok(()) };
        let reducer = self.reducer(frame, inst);
        let raw = frame.body.inst(inst).attrs.has(Key::Raw);
        let fold = Fold::new(reducer, own_sizes(frame, inst, reducer), raw, 0, features);
        let elements = self.elements(frame, inst)?;
        let width = fold.components.len();
        let mut initial = vec![elements.begin, self.constant(Scalar::Bool(false))];
        for component in frames.iter().flat_map(|_| &fold.components) {
            initial.push(self.initial(&fold, *component)?);
        }
        let past = |emit: &mut Self, at: &[Value]| Ok(emit.op(ops::LT, &[at[0], elements.end])?);
        let carried = self.repeat(&initial, past, |emit, at| {
            let (position, have) = (at[0], at[1]);
            let mut next = vec![emit.advance(position, 1)?, emit.constant(Scalar::Bool(true))];
            if let Some(packed) = packed {
                emit.bind_packed(packed, frames, position, features)?;
            }
            for (frame, state) in frames.iter_mut().zip(at[2..].chunks(width)) {
                next.extend(emit.fold_one(frame, inst, &fold, position, have, state)?);
            }
            Ok(next)
        })?;
        let count = self.op(ops::SUB, &[elements.end, elements.begin])?;
        for (frame, state) in frames.iter_mut().zip(carried[2..].chunks(width)) {
            let state = state.to_vec();
            let results = if raw { self.states(&fold, &state) } else { self.finish_fold(&fold, count, &state)? };
            self.bind_results(frame, inst, &fold, results);
        }
        Ok(())
    }

    /// Remembers results of a fold at its indices.
    fn bind_results(&self, frame: &mut Frame<'a>, inst: Inst, fold: &Fold<'a>, results: Vec<Option<(usize, Value)>>) {
        for (value, result) in frame.body.inst(inst).results.iter().zip(results) {
            if let Some((rank, generated)) = result {
                frame.bind(*value, &fold.indices(rank), generated);
            }
        }
    }

    /// Component by component: `condition ? a : b`.
    pub(super) fn choose_states(
        &mut self,
        fold: &Fold<'a>,
        condition: Value,
        a: &[Value],
        b: &[Value],
    ) -> Result<State, LowerError> {
        let mut out = Vec::new();
        for (slot, component) in fold.components.iter().enumerate() {
            let value = self.elementwise(ops::SELECT, &[condition, a[slot], b[slot]], &Attrs::new())?;
            out.push(if fold.in_lanes(*component) { self.vector(value)? } else { value });
        }
        Ok(out)
    }

    /// `combine(a, b)`.
    pub(super) fn combine(&mut self, fold: &Fold<'a>, a: &[Value], b: &[Value]) -> Result<State, LowerError> {
        let all = fold.reducer.state.len();
        let left = fold.components.iter().copied().zip(a.iter().copied());
        let right = fold.components.iter().map(|c| c + all).zip(b.iter().copied());
        let args: Vec<(usize, Value)> = left.chain(right).collect();
        let values = self.reducer_region(fold, fold.reducer.combine, &args, &fold.components)?;
        self.in_lanes(fold, values)
    }

    /// `step(state, message)`.
    fn step(
        &mut self,
        fold: &Fold<'a>,
        step: Region,
        state: &[Value],
        message: &[(usize, Value)],
    ) -> Result<State, LowerError> {
        let all = fold.reducer.state.len();
        let state = fold.components.iter().copied().zip(state.iter().copied());
        let args: Vec<(usize, Value)> = state.chain(message.iter().map(|(i, value)| (all + i, *value))).collect();
        let values = self.reducer_region(fold, step, &args, &fold.components)?;
        self.in_lanes(fold, values)
    }

    /// Values of the carried components, repeated where the component has lanes.
    fn in_lanes(&mut self, fold: &Fold<'a>, values: Vec<Value>) -> Result<State, LowerError> {
        let mut out = Vec::new();
        for (component, value) in fold.components.iter().zip(values) {
            out.push(if fold.in_lanes(*component) { self.vector(value)? } else { value });
        }
        Ok(out)
    }

    /// Values that a reducer's region yields, at the fold's indices.
    fn reducer_region(
        &mut self,
        fold: &Fold<'a>,
        region: Region,
        args: &[(usize, Value)],
        wanted: &[usize],
    ) -> Result<Vec<Value>, LowerError> {
        let body = &fold.reducer.body;
        let block = body.block(body.entry(region));
        let mut frame = Frame::new(body, fold.sizes.clone());
        for (index, value) in args {
            let param = block.params[*index];
            frame.bind(param, fold.own(super::emit::rank(body, param)), *value);
        }
        let last = *block.insts.last().expect("verified: a region ends with a yield");
        let yields = &body.inst(last).operands;
        let mut out = Vec::new();
        for index in wanted {
            let value = yields[*index];
            out.push(self.value(&mut frame, value, fold.own(super::emit::rank(body, value)))?);
        }
        Ok(out)
    }

    /// Joins accumulators pairwise, level by level; one that got no element is skipped.
    fn join_accumulators(&mut self, fold: &Fold<'a>, count: Value, states: Vec<State>) -> Result<State, LowerError> {
        let mut level: Vec<(usize, State)> = states.into_iter().enumerate().collect();
        while level.len() > 1 {
            let mut next = Vec::new();
            for pair in level.chunks(2) {
                let [(first, left), (second, right)] = pair else {
                    next.push(pair[0].clone());
                    continue;
                };
                let mut joined = self.combine(fold, left, right)?;
                if !fold.reducer.has_identity() {
                    let reached = self.i64(*second as i64);
                    let present = self.op(ops::GT, &[count, reached])?;
                    joined = self.choose_states(fold, present, &joined, left)?;
                }
                next.push((*first, joined));
            }
            level = next;
        }
        Ok(level.pop().map(|(_, state)| state).unwrap_or_default())
    }
}

/// A value that was just bound; a reducer without results at these indices has none.
fn frame_value<'a>(
    emit: &mut Emit<'a>,
    frame: &mut Frame<'a>,
    value: Value,
    at: &[Index],
) -> Result<Value, LowerError> {
    match frame.lookup(value, at) {
        Some(generated) => Ok(generated),
        None => Err(emit.unsupported("a reduction at these features")),
    }
}

/// The symbols of a reducer where an instruction folds or joins with it.
pub(super) fn own_sizes(frame: &Frame<'_>, inst: Inst, reducer: &Reducer) -> Substitution {
    ops::fit_at(reducer, frame.body, frame.body.inst(inst))
        .expect("verified: the message or state is the reducer's")
        .own
}
