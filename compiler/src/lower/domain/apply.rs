//! Messages and reductions over a set.

use super::{Lowering, Params, is_constant};
use crate::lower::LowerError;
use indexmap::IndexMap;
use tiga_abi::{DType, Poly, Symbol};
use tiga_ir::{
    Attr, Attrs, Body, Builder, Func, Inst, Key, Nest, OpView, Over, ReduceShape, Region, Role, Space, Target,
    TensorType, Type, Value, ops,
};

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
    /// `apply` with row targets: a loop over destinations with one reduction for each target.
    pub(super) fn apply(&mut self, inst: Inst) -> Result<(), LowerError> {
        let data = self.body().inst(inst);
        let mut params = Params::default();
        params.inputs.extend(data.operands.iter().copied());
        let mut func = self.loops_func(&data.loc);
        let (inputs, outs) = params.declare(self.body(), &mut func, &data.results);
        self.apply_loop(&mut func, inst, &inputs, &outs)?;
        let inputs: Vec<Value> = params.inputs.iter().copied().collect();
        let mut args = self.host_values(&inputs)?;
        for result in &data.results {
            let ty = self.body().ty(*result).as_tensor().expect("apply yields tensors").clone();
            let memory = self.alloc(&ty, &data.loc)?;
            self.values.insert(*result, memory);
            args.push(memory);
        }
        self.launch(func, &args, &data.loc)
    }

    fn apply_loop(
        &self,
        func: &mut Func,
        inst: Inst,
        inputs: &IndexMap<Value, Value>,
        outs: &[Value],
    ) -> Result<(), LowerError> {
        let view = self.view(inst);
        let data = self.body().inst(inst);
        let unsupported = |what| LowerError::Unsupported { what, loc: data.loc.clone() };
        let targets = data.attrs.targets().expect("verified: an apply has targets");
        let roles = data.attrs.roles().expect("verified: an apply has roles");
        let rel = view.operand(0)?.as_rel().expect("verified: the first operand is a relation");
        let memory: Vec<Value> = data.operands.iter().map(|v| inputs[v]).collect();
        let entry = func.body.entry(func.region);
        let mut builder = Builder::new(&self.out, &mut func.body, entry);
        builder.loc = data.loc.clone();
        let (region, result) = builder.region(vec![(Type::scalar(DType::I64), Some("d"))], |b, params| {
            let row = params[0];
            let mut node_args = Vec::new();
            let mut from = 0;
            for target in targets {
                let Target::Row { reducer, keep: false } = target else {
                    return Err(unsupported("a message result per edge, in total, or with its state"));
                };
                let count = self.source.reducers[reducer].message().len();
                let edge = EdgeRegion { view, roles, memory: &memory, range: from..from + count };
                node_args.extend(self.reduce_edges(b, row, reducer, &edge)?);
                from += count;
            }
            let values = match data.regions.get(1) {
                None => node_args,
                Some(node) => {
                    for (i, role) in roles.iter().enumerate() {
                        match role {
                            Role::Dst => node_args.push(b.value(ops::LOAD, &[memory[i + 1], row], Attrs::new())?),
                            Role::Param => node_args.push(b.value(ops::LOAD, &[memory[i + 1]], Attrs::new())?),
                            Role::Src | Role::Edge => {}
                        }
                    }
                    inline(view, *node, b, &node_args)?
                }
            };
            for (value, out) in values.iter().zip(outs) {
                b.op(ops::STORE, &[*value, *out, row], Attrs::new())?;
            }
            Ok(b.op(ops::YIELD, &[], Attrs::new())?)
        });
        result?;
        let space = Attrs::new().with(Key::Space, Attr::Space(Space::Rows(Poly::symbol(rel.dst.clone()))));
        builder.push(ops::FOR, &[], space, vec![region], Vec::new())?;
        builder.op(ops::RETURN, &[], Attrs::new())?;
        Ok(())
    }

    fn reduce_edges(
        &self,
        builder: &mut Builder<'_>,
        row: Value,
        reducer: &Symbol,
        edge: &EdgeRegion<'_>,
    ) -> Result<Vec<Value>, LowerError> {
        let yields = edge.view.region_yields(0)?;
        let message = yields[edge.range.start].as_tensor().expect("verified: messages are tensors");
        let shape = self.law.row(self.source.reducers[reducer].laws, &width(message));
        let indices = ["p", "e", "j"].map(|name| (Type::scalar(DType::I64), Some(name))).to_vec();
        let (region, result) = builder.region(indices, |b, params| {
            let (e, j) = (params[1], params[2]);
            let mut args = Vec::new();
            for (i, role) in edge.roles.iter().enumerate() {
                let memory = edge.memory[i + 1];
                let operands = match role {
                    Role::Src => vec![memory, j],
                    Role::Dst => vec![memory, row],
                    Role::Edge => vec![memory, e],
                    Role::Param => vec![memory],
                };
                args.push(b.value(ops::LOAD, &operands, Attrs::new())?);
            }
            let values = inline(edge.view, edge.view.regions()[0], b, &args)?;
            Ok::<_, LowerError>(b.op(ops::YIELD, &values[edge.range.clone()], Attrs::new())?)
        });
        result?;
        let attrs = reduce_attrs(Over::Neighbours, reducer, shape);
        let inst = builder.push(ops::REDUCE, &[edge.memory[0], row], attrs, vec![region], Vec::new())?;
        Ok(builder.body.inst(inst).results.clone())
    }

    /// `reduce_set`: one reduction over all entities, stored once.
    pub(super) fn reduce_set(&mut self, inst: Inst) -> Result<(), LowerError> {
        let data = self.body().inst(inst);
        let field = self.body().ty(data.operands[0]).as_tensor().expect("verified: a field").clone();
        let set = field.set.clone().expect("verified: a field has a set");
        let reducer = data.attrs.reducer().expect("verified: a reduction has a reducer");
        let shape = self.law.set(self.source.reducers[reducer].laws, &width(&field));
        let mut params = Params::default();
        params.inputs.insert(data.operands[0]);
        let mut func = self.loops_func(&data.loc);
        let (inputs, outs) = params.declare(self.body(), &mut func, &data.results);
        let memory = inputs[&data.operands[0]];
        let entry = func.body.entry(func.region);
        let mut builder = Builder::new(&self.out, &mut func.body, entry);
        builder.loc = data.loc.clone();
        let (region, result) = builder.region(Vec::new(), |b, _| {
            let (region, loaded) = b.region(vec![(Type::scalar(DType::I64), Some("i"))], |b, params| {
                let value = b.value(ops::LOAD, &[memory, params[0]], Attrs::new())?;
                b.op(ops::YIELD, &[value], Attrs::new())
            });
            loaded?;
            let extent = TensorType::field(DType::I64, set, Vec::new());
            let attrs = reduce_attrs(Over::Range, reducer, shape).with(Key::Dims, Attr::Dims(extent));
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
        let mut args = vec![self.host_value(data.operands[0])?];
        for result in &data.results {
            let ty = self.body().ty(*result).as_tensor().expect("verified: reductions yield tensors").clone();
            let memory = self.alloc(&ty, &data.loc)?;
            self.values.insert(*result, memory);
            args.push(memory);
        }
        self.launch(func, &args, &data.loc)
    }
}

/// The edge region of an `apply`, and which of its yields one reducer takes.
struct EdgeRegion<'a> {
    view: OpView<'a>,
    roles: &'a [Role],
    memory: &'a [Value],
    range: std::ops::Range<usize>,
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
