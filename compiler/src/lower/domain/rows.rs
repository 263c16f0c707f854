//! Operations that work on each entity for itself: one `for` over the set, one store for each result that escapes.

use super::{Lowering, Params, is_constant};
use crate::lower::LowerError;
use indexmap::IndexMap;
use tiga_abi::DType;
use tiga_ir::{Attr, Attrs, Builder, Func, Inst, Key, Nest, Space, Type, TypeError, Value, joined, ops};

impl Lowering<'_> {
    /// Launches a list of instructions over one space; all of them have one result.
    pub(super) fn rows(&mut self, insts: &[Inst]) -> Result<(), LowerError> {
        let results: Vec<Value> = insts.iter().map(|i| self.body().result(*i)).collect();
        let outputs: Vec<Value> = match results.as_slice() {
            // A constant asked for as memory has uses, but no launch of its own elsewhere.
            [only] => vec![*only],
            _ => results.iter().copied().filter(|v| self.escapes(*v, insts)).collect(),
        };
        let mut params = Params::default();
        for inst in insts {
            for operand in &self.body().inst(*inst).operands {
                let constant = self.body().def(*operand).is_some_and(|i| is_constant(self.body().inst(i)));
                if !constant && !results.contains(operand) {
                    params.inputs.insert(*operand);
                }
            }
            // What is read as a whole is memory, wherever it comes from.
            let data = self.body().inst(*inst);
            let whole = data.operands.iter().enumerate().filter(|(i, _)| data.op.whole(*i));
            params.inputs.extend(whole.map(|(_, operand)| *operand));
        }
        let loc = self.body().inst(insts[insts.len() - 1]).loc.clone();
        let mut func = self.loops_func(&loc);
        let (inputs, outs) = params.declare(self.body(), &mut func, &outputs);
        self.row_loop(&mut func, insts, &inputs, &outputs, &outs)?;
        let mut args = Vec::new();
        for input in &params.inputs {
            args.push(self.host_value(*input)?);
        }
        for output in outputs {
            let ty = self.body().ty(output).as_tensor().expect("row operations yield tensors").clone();
            let memory = self.alloc(&ty, &loc)?;
            self.values.insert(output, memory);
            args.push(memory);
        }
        self.launch(func, &args, &loc)
    }

    fn row_loop(
        &self,
        func: &mut Func,
        insts: &[Inst],
        inputs: &IndexMap<Value, Value>,
        outputs: &[Value],
        outs: &[Value],
    ) -> Result<(), LowerError> {
        let entry = func.body.entry(func.region);
        let mut builder = Builder::new(&self.out, &mut func.body, entry);
        builder.loc = func.loc.clone();
        let space = self.space(insts[0]).cloned();
        let (space, params) = match space {
            Some(set) => (Space::Rows(joined::size(&set)), vec![(Type::scalar(DType::I64), Some("d"))]),
            None => (Space::Once, Vec::new()),
        };
        let (region, result) = builder.region(params, |b, params| {
            let row = params.first().copied();
            let mut local: IndexMap<Value, Value> = IndexMap::new();
            for inst in insts {
                let values = self.row_inst(b, row, *inst, inputs, &mut local)?;
                local.insert(self.body().result(*inst), values);
            }
            for (output, memory) in outputs.iter().zip(outs) {
                let set = self.body().ty(*output).as_tensor().is_some_and(|t| t.set.is_some());
                let operands: Vec<Value> = [local[output], *memory].into_iter().chain(row.filter(|_| set)).collect();
                b.op(ops::STORE, &operands, Attrs::new())?;
            }
            Ok::<_, LowerError>(b.op(ops::YIELD, &[], Attrs::new())?)
        });
        result?;
        let attrs = Attrs::new().with(Key::Space, Attr::Space(space));
        builder.push(ops::FOR, &[], attrs, vec![region], Vec::new())?;
        builder.op(ops::RETURN, &[], Attrs::new())?;
        Ok(())
    }

    fn row_inst(
        &self,
        builder: &mut Builder<'_>,
        row: Option<Value>,
        inst: Inst,
        inputs: &IndexMap<Value, Value>,
        local: &mut IndexMap<Value, Value>,
    ) -> Result<Value, LowerError> {
        let data = self.body().inst(inst);
        builder.loc = data.loc.clone();
        let mut operands = Vec::new();
        for (i, operand) in data.operands.iter().enumerate() {
            let value = match local.get(operand) {
                _ if data.op.whole(i) => inputs[operand],
                Some(value) => *value,
                None => {
                    let value = self.row_operand(builder, row, *operand, inputs)?;
                    local.insert(*operand, value);
                    value
                }
            };
            operands.push(value);
        }
        let view = self.view(inst);
        let nested = data.op.nest(view, &mut Nest { builder, row }, &operands);
        let values = nested.ok_or_else(|| LowerError::operation(data.op, &data.loc))??;
        Ok(values[0])
    }

    /// An operand as this row sees it: its element, all of a tensor, a constant, a relation.
    fn row_operand(
        &self,
        builder: &mut Builder<'_>,
        row: Option<Value>,
        operand: Value,
        inputs: &IndexMap<Value, Value>,
    ) -> Result<Value, TypeError> {
        let Some(memory) = inputs.get(&operand) else {
            let inst = self.body().def(operand).expect("what is no input is a constant");
            let nested = self.body().inst(inst).op.nest(self.view(inst), &mut Nest { builder, row }, &[]);
            return Ok(nested.expect("constants have rows")?[0]);
        };
        match self.body().ty(operand) {
            Type::Tensor(t) => {
                let index = row.filter(|_| t.set.is_some());
                let operands: Vec<Value> = [*memory].into_iter().chain(index).collect();
                builder.value(ops::LOAD, &operands, Attrs::new())
            }
            _ => Ok(*memory),
        }
    }
}
