//! Loops and branches: the same region ops, on memory.

use super::{Lowering, in_memory};
use crate::lower::LowerError;
use tiga_abi::DType;
use tiga_ir::{
    Attr, Attrs, Block, Builder, Inst, Key, Level, Nest, Region, Scalar, Space, TensorType, Type, Value, ops,
};

impl Lowering<'_> {
    pub(super) fn while_loop(&mut self, inst: Inst) -> Result<(), LowerError> {
        let data = self.body().inst(inst);
        let init = self.host_values(&data.operands)?;
        let condition = self.region(data.regions[0], &[])?;
        let body = self.region(data.regions[1], &[])?;
        self.control(inst, &init, vec![condition, body])
    }

    /// The round is carried as a value of its own if the body looks at it.
    pub(super) fn repeat(&mut self, inst: Inst) -> Result<(), LowerError> {
        let data = self.body().inst(inst);
        let region = data.regions[0];
        let round = self.body().block(self.body().entry(region)).params[0];
        let counted = self.uses.contains_key(&round);
        let count = self.host_value(data.operands[0])?;
        let mut operands = vec![count];
        operands.extend(self.host_values(&data.operands[1..])?);
        if counted {
            operands.push(self.scalar_launch(&data.loc, None)?);
        }
        let i64_memory = Type::Buffer(TensorType::scalar(DType::I64));
        let extra = if counted { vec![i64_memory] } else { Vec::new() };
        let body = self.region(region, &extra)?;
        self.control(inst, &operands, vec![body])
    }

    pub(super) fn branch(&mut self, inst: Inst) -> Result<(), LowerError> {
        let data = self.body().inst(inst);
        let condition = self.host_value(data.operands[0])?;
        let then = self.region(data.regions[0], &[])?;
        let otherwise = self.region(data.regions[1], &[])?;
        self.control(inst, &[condition], vec![then, otherwise])
    }

    fn control(&mut self, inst: Inst, operands: &[Value], regions: Vec<Region>) -> Result<(), LowerError> {
        let data = self.body().inst(inst);
        let mut builder = Builder::new(&self.out, &mut self.host.body, self.block);
        builder.loc = data.loc.clone();
        let new = builder.push(data.op, operands, data.attrs.clone(), regions, Vec::new())?;
        let results = self.host.body.inst(new).results.clone();
        self.values.extend(data.results.iter().copied().zip(results));
        Ok(())
    }

    /// Lowers a region; with `extra` (a round counter), the first parameter's uses read it and each round adds one.
    fn region(&mut self, source: Region, extra: &[Type]) -> Result<Region, LowerError> {
        let region = self.host.body.add_region();
        let entry = self.host.body.entry(region);
        let block = self.body().entry(source);
        for param in &self.body().block(block).params {
            let data = self.body().value(*param);
            let value = self.host.body.add_param(entry, in_memory(&data.ty), data.name.clone());
            self.values.insert(*param, value);
        }
        let counter: Vec<Value> =
            extra.iter().map(|ty| self.host.body.add_param(entry, ty.clone(), Some("round".into()))).collect();
        if let (Some(counter), Some(round)) = (counter.first(), self.body().block(block).params.first()) {
            self.values.insert(*round, *counter);
        }
        let outer = std::mem::replace(&mut self.block, entry);
        self.block(block)?;
        if let Some(counter) = counter.first() {
            self.count_round(entry, *counter)?;
        }
        self.block = outer;
        Ok(region)
    }

    /// Appends the next round to what a counted body yields.
    fn count_round(&mut self, block: Block, counter: Value) -> Result<(), LowerError> {
        let last = self.host.body.block_mut(block).insts.pop().expect("a body ends with a yield");
        let loc = self.host.body.inst(last).loc.clone();
        let next = self.scalar_launch(&loc, Some(counter))?;
        self.host.body.inst_mut(last).operands.push(next);
        self.host.body.block_mut(block).insts.push(last);
        Ok(())
    }

    /// Launches the computation of an i64: 0, or one more than `previous`.
    fn scalar_launch(&mut self, loc: &tiga_source::Loc, previous: Option<Value>) -> Result<Value, LowerError> {
        let ty = TensorType::scalar(DType::I64);
        let mut func = self.loops_func(loc);
        debug_assert_eq!(func.level, Level::Loops);
        let entry = func.body.entry(func.region);
        let input = previous.map(|_| func.body.add_param(entry, Type::Buffer(ty.clone()), Some("round".into())));
        let out = func.body.add_param(entry, Type::Buffer(ty.clone()), Some("next".into()));
        let mut builder = Builder::new(&self.out, &mut func.body, entry);
        builder.loc = loc.clone();
        let (region, result) = builder.region(Vec::new(), |b, _| {
            let step = b.constant(Scalar::I64(i64::from(previous.is_some())));
            let value = match input {
                Some(input) => {
                    let round = b.value(ops::LOAD, &[input], Attrs::new())?;
                    Nest::binary(b, ops::ADD, round, step)?
                }
                None => step,
            };
            b.op(ops::STORE, &[value, out], Attrs::new())?;
            b.op(ops::YIELD, &[], Attrs::new())
        });
        result?;
        let attrs = Attrs::new().with(Key::Space, Attr::Space(Space::Once));
        builder.push(ops::FOR, &[], attrs, vec![region], Vec::new())?;
        builder.op(ops::RETURN, &[], Attrs::new())?;
        let memory = self.alloc(&ty, loc)?;
        let args: Vec<Value> = previous.into_iter().chain([memory]).collect();
        self.launch(func, &args, loc)?;
        Ok(memory)
    }
}
