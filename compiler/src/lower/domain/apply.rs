//! Messages and reductions over a set.

use super::{Lowering, Params, is_constant};
use crate::lower::LowerError;
use indexmap::IndexMap;
use tiga_abi::{DType, Poly, Symbol};
use tiga_ir::{
    Attr, Attrs, Body, Builder, Inst, Key, Nest, OpView, Over, ReduceShape, Region, Role, Space, Target, TensorType,
    Type, Value, joined, ops,
};
use tiga_source::Loc;

/// The features of a message: the product of its first component's extents.
fn width(message: &TensorType) -> Poly {
    message.dims.iter().fold(Poly::constant(1), |acc, d| acc.mul(d))
}

fn reduce_attrs(over: Over, reducer: &Symbol, shape: ReduceShape) -> Attrs {
    Attrs::new()
        .with(Key::Over, Attr::Over(over))
        .with(Key::With, Attr::Name(reducer.clone()))
        .with(Key::Shape, Attr::Shape(shape))
}

impl Lowering<'_> {
    /// `apply`: a loop over destinations with one reduction for each row target, and a loop over edges for what each
    /// edge gives.
    pub(super) fn apply(&mut self, inst: Inst) -> Result<(), LowerError> {
        let data = self.body().inst(inst);
        let targets = data.attrs.targets().expect("verified: an apply has targets");
        let supported = |t: &Target| matches!(t, Target::Edge | Target::Row { keep: false, .. });
        if !targets.iter().all(supported) {
            let what = "a message result in total, or with its state";
            return Err(LowerError::Unsupported { what, loc: data.loc.clone() });
        }
        let of_edges = targets.iter().filter(|t| matches!(t, Target::Edge)).count();
        let (rows, edges) = data.results.split_at(data.results.len() - of_edges);
        if !rows.is_empty() {
            self.apply_part(inst, rows, Lowering::row_loop_of)?;
        }
        if of_edges > 0 {
            self.apply_part(inst, edges, Lowering::edge_loop_of)?;
        }
        Ok(())
    }

    /// A launch that makes some results of an `apply`. Operands that are positions are no memory.
    fn apply_part(
        &mut self,
        inst: Inst,
        results: &[Value],
        part: fn(&Self, &mut Builder<'_>, &Message<'_>, &[Value]) -> Result<(), LowerError>,
    ) -> Result<(), LowerError> {
        let data = self.body().inst(inst);
        let roles = data.attrs.roles().expect("verified: an apply has roles");
        let position = |i: usize| {
            let of_entity = i > 0 && roles[i - 1] != Role::Param;
            let def = self.body().def(data.operands[i]);
            of_entity && def.is_some_and(|def| self.body().inst(def).op == ops::IOTA)
        };
        let in_memory = |i: usize| (!position(i)).then(|| data.operands[i]);
        let operands: Vec<Option<Value>> = (0..data.operands.len()).map(in_memory).collect();
        let mut params = Params::default();
        params.inputs.extend(operands.iter().flatten().copied());
        let mut func = self.loops_func(&data.loc);
        let (inputs, outs) = params.declare(self.body(), &mut func, results);
        let memory = operands.iter().map(|v| v.map(|v| inputs[&v])).collect();
        let message = Message { view: self.view(inst), roles, memory };
        let entry = func.body.entry(func.region);
        let mut builder = Builder::new(&self.out, &mut func.body, entry);
        builder.loc = data.loc.clone();
        part(self, &mut builder, &message, &outs)?;
        builder.op(ops::RETURN, &[], Attrs::new())?;
        let inputs: Vec<Value> = params.inputs.iter().copied().collect();
        let mut args = self.host_values(&inputs)?;
        for result in results {
            let ty = self.body().ty(*result).as_tensor().expect("apply yields tensors").clone();
            let memory = self.alloc(&ty, &data.loc)?;
            self.values.insert(*result, memory);
            args.push(memory);
        }
        self.launch(func, &args, &data.loc)
    }

    fn row_loop_of(&self, builder: &mut Builder<'_>, message: &Message<'_>, outs: &[Value]) -> Result<(), LowerError> {
        let view = message.view;
        let rel = view.operand(0)?.as_rel().expect("verified: the first operand is a relation");
        let (region, result) = builder.region(vec![(Type::scalar(DType::I64), Some("d"))], |b, params| {
            let row = params[0];
            let mut values = Vec::new();
            let mut from = 0;
            for target in message.targets() {
                let count = match target {
                    Target::Row { reducer, .. } => {
                        let count = self.source.reducers[reducer].message().len();
                        values.extend(self.reduce_edges(b, row, reducer, message, from..from + count)?);
                        count
                    }
                    _ => 1,
                };
                from += count;
            }
            if let Some(node) = view.regions().get(1) {
                b.loc = place_of(view.body, *node);
                for (i, role) in message.roles.iter().enumerate() {
                    if matches!(role, Role::Dst | Role::Param) {
                        values.push(message.read(b, i, row)?);
                    }
                }
                values = inline(view, *node, b, &values)?;
            }
            for (value, out) in values.iter().zip(outs) {
                b.op(ops::STORE, &[*value, *out, row], Attrs::new())?;
            }
            Ok::<_, LowerError>(b.op(ops::YIELD, &[], Attrs::new())?)
        });
        result?;
        let space = Attrs::new().with(Key::Space, Attr::Space(Space::Rows(joined::size(&rel.dst))));
        builder.push(ops::FOR, &[], space, vec![region], Vec::new())?;
        Ok(())
    }

    fn edge_loop_of(&self, builder: &mut Builder<'_>, message: &Message<'_>, outs: &[Value]) -> Result<(), LowerError> {
        let indices = ["p", "e", "j", "d"].map(|name| (Type::scalar(DType::I64), Some(name))).to_vec();
        let (region, result) = builder.region(indices, |b, params| {
            let edge = At { edge: params[1], src: params[2], dst: params[3] };
            let values = message.edge(b, &edge)?;
            let mut from = 0;
            let mut outs = outs.iter();
            for target in message.targets() {
                if let Target::Row { reducer, .. } = target {
                    from += self.source.reducers[reducer].message().len();
                    continue;
                }
                let out = *outs.next().expect("each edge target has a result");
                b.op(ops::STORE, &[values[from], out, edge.edge], Attrs::new())?;
                from += 1;
            }
            Ok::<_, LowerError>(b.op(ops::YIELD, &[], Attrs::new())?)
        });
        result?;
        let relation = message.memory[0].expect("a relation is no position");
        let space = Attrs::new().with(Key::Space, Attr::Space(Space::Edges));
        builder.push(ops::FOR, &[relation], space, vec![region], Vec::new())?;
        Ok(())
    }

    fn reduce_edges(
        &self,
        builder: &mut Builder<'_>,
        row: Value,
        reducer: &Symbol,
        message: &Message<'_>,
        range: std::ops::Range<usize>,
    ) -> Result<Vec<Value>, LowerError> {
        let yields = message.view.region_yields(0)?;
        let first = yields[range.start].as_tensor().expect("verified: messages are tensors");
        let shape = self.law.row(self.source.reducers[reducer].laws, &width(first));
        let indices = ["p", "e", "j"].map(|name| (Type::scalar(DType::I64), Some(name))).to_vec();
        let (region, result) = builder.region(indices, |b, params| {
            let values = message.edge(b, &At { edge: params[1], src: params[2], dst: row })?;
            Ok::<_, LowerError>(b.op(ops::YIELD, &values[range], Attrs::new())?)
        });
        result?;
        let attrs = reduce_attrs(Over::Neighbours, reducer, shape);
        let relation = message.memory[0].expect("a relation is no position");
        let inst = builder.push(ops::REDUCE, &[relation, row], attrs, vec![region], Vec::new())?;
        Ok(builder.body.inst(inst).results.clone())
    }

    /// `reduce_set` and `contract`: one reduction over all entities, stored once.
    pub(super) fn reduce_set(&mut self, inst: Inst) -> Result<(), LowerError> {
        let data = self.body().inst(inst);
        let field = self.body().ty(data.operands[0]).as_tensor().expect("verified: a field");
        let set = field.set.clone().expect("verified: a field has a set");
        let result = self.body().ty(data.results[0]).as_tensor().expect("verified: reductions yield tensors");
        let reducer = data.attrs.reducer().expect("verified: a reduction has a reducer").clone();
        let message = if data.op == ops::CONTRACT { result.clone() } else { field.element() };
        let shape = self.law.set(self.out.reducers[&reducer].laws, &width(&message));
        let mut params = Params::default();
        params.inputs.extend(data.operands.iter().copied());
        let mut func = self.loops_func(&data.loc);
        let (inputs, outs) = params.declare(self.body(), &mut func, &data.results);
        let memory: Vec<Value> = data.operands.iter().map(|v| inputs[v]).collect();
        let entry = func.body.entry(func.region);
        let mut builder = Builder::new(&self.out, &mut func.body, entry);
        builder.loc = data.loc.clone();
        let (region, result) = builder.region(Vec::new(), |b, _| {
            let (region, loaded) = b.region(vec![(Type::scalar(DType::I64), Some("i"))], |b, params| {
                let load = |b: &mut Builder<'_>, memory| b.value(ops::LOAD, &[memory, params[0]], Attrs::new());
                let elements = memory.iter().map(|m| load(b, *m)).collect::<Result<Vec<_>, _>>()?;
                let element = match elements.as_slice() {
                    [x, y] => {
                        let wide = field.dtype.accumulator();
                        let (x, y) = (b.cast(*x, wide)?, b.cast(*y, wide)?);
                        b.value(ops::OUTER, &[x, y], Attrs::new())?
                    }
                    _ => elements[0],
                };
                let position = data.attrs.has(Key::Indexed).then_some(params[0]);
                let message = Nest::with_position(b, element, position)?;
                b.op(ops::YIELD, &message, Attrs::new())
            });
            loaded?;
            let extent = TensorType::field(DType::I64, set, Vec::new());
            let attrs = reduce_attrs(Over::Range, &reducer, shape).with(Key::Dims, Attr::Dims(extent));
            let reduce = b.push(ops::REDUCE, &[], attrs, vec![region], Vec::new())?;
            for (value, out) in b.body.inst(reduce).results.clone().into_iter().zip(&outs) {
                b.op(ops::STORE, &[value, *out], Attrs::new())?;
            }
            b.op(ops::YIELD, &[], Attrs::new())
        });
        result?;
        let attrs = Attrs::new().with(Key::Space, Attr::Space(Space::Once));
        builder.push(ops::FOR, &[], attrs, vec![region], Vec::new())?;
        builder.op(ops::RETURN, &[], Attrs::new())?;
        let inputs: Vec<Value> = params.inputs.iter().copied().collect();
        let mut args = self.host_values(&inputs)?;
        for result in &data.results {
            let ty = self.body().ty(*result).as_tensor().expect("verified: reductions yield tensors").clone();
            let memory = self.alloc(&ty, &data.loc)?;
            self.values.insert(*result, memory);
            args.push(memory);
        }
        self.launch(func, &args, &data.loc)
    }
}

/// An `apply` whose operands are in memory, or are positions.
struct Message<'a> {
    view: OpView<'a>,
    roles: &'a [Role],
    /// The relation, then an operand each; `None` for positions.
    memory: Vec<Option<Value>>,
}

/// Where an edge function is evaluated.
struct At {
    edge: Value,
    src: Value,
    dst: Value,
}

impl<'a> Message<'a> {
    fn targets(&self) -> &'a [Target] {
        self.view.attrs().targets().expect("verified: an apply has targets")
    }

    /// Operand `i` of the message at an index of its set; a parameter has none.
    fn read(&self, b: &mut Builder<'_>, i: usize, index: Value) -> Result<Value, LowerError> {
        let Some(memory) = self.memory[i + 1] else { return Ok(index) };
        let indices = if self.roles[i] == Role::Param { vec![memory] } else { vec![memory, index] };
        Ok(b.value(ops::LOAD, &indices, Attrs::new())?)
    }

    /// What an edge gives.
    fn edge(&self, b: &mut Builder<'_>, at: &At) -> Result<Vec<Value>, LowerError> {
        let function = self.view.regions()[0];
        b.loc = place_of(self.view.body, function);
        let mut args = Vec::new();
        for (i, role) in self.roles.iter().enumerate() {
            let index = match role {
                Role::Src => at.src,
                Role::Edge => at.edge,
                Role::Dst | Role::Param => at.dst,
            };
            args.push(self.read(b, i, index)?);
        }
        inline(self.view, function, b, &args)
    }
}

/// The place of what a function gives: what it reads is read there.
fn place_of(body: &Body, function: Region) -> Loc {
    let last = body.block(body.entry(function)).insts.last().expect("verified: a region ends with a yield");
    body.inst(*last).loc.clone()
}

/// Repeats a region's instructions on small tensors; what it yields.
fn inline(
    view: OpView<'_>,
    region: Region,
    builder: &mut Builder<'_>,
    args: &[Value],
) -> Result<Vec<Value>, LowerError> {
    let source: &Body = view.body;
    let block = source.block(source.entry(region));
    let mut values: IndexMap<Value, Value> = block.params.iter().copied().zip(args.iter().copied()).collect();
    for inst in &block.insts {
        let data = source.inst(*inst);
        builder.loc = data.loc.clone();
        let mut operands = Vec::new();
        for operand in &data.operands {
            let value = match values.get(operand) {
                Some(value) => *value,
                None => outer_constant(source, *operand, builder)?,
            };
            operands.push(value);
        }
        if data.op == ops::YIELD {
            return Ok(operands);
        }
        let nested = data.op.nest(OpView { inst: *inst, ..view }, &mut Nest { builder, row: None }, &operands);
        let results = nested.ok_or_else(|| LowerError::operation(data.op, &data.loc))??;
        values.extend(data.results.iter().copied().zip(results));
    }
    Err(LowerError::Unsupported { what: "a region without a yield", loc: view.body.inst(view.inst).loc.clone() })
}

/// A constant that a region takes from outside.
fn outer_constant(source: &Body, value: Value, builder: &mut Builder<'_>) -> Result<Value, LowerError> {
    let inst = source.def(value).filter(|i| is_constant(source.inst(*i)));
    match inst.map(|i| source.inst(i)) {
        Some(data) => Ok(builder.value(data.op, &[], data.attrs.clone())?),
        None => Err(LowerError::Unsupported {
            what: "a message that captures a value of its program",
            loc: builder.loc.clone(),
        }),
    }
}
