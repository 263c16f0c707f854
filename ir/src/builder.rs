//! Appends typed instructions to a block.

use crate::{
    Attr, Attrs, Block, Body, Inst, InstData, Key, Module, Op, OpView, Region, Scalar, Type, TypeError, Value,
};
use tiga_abi::DType;
use tiga_source::Loc;

/// Appends to one block of a body; types are inferred by the ops' own rules.
pub struct Builder<'a> {
    /// Reducers and functions that ops may name.
    pub module: &'a Module,
    /// The body being built.
    pub body: &'a mut Body,
    /// Where instructions go.
    pub block: Block,
    /// The place given to new instructions.
    pub loc: Loc,
}

impl<'a> Builder<'a> {
    /// A builder at the end of `block`.
    pub fn new(module: &'a Module, body: &'a mut Body, block: Block) -> Self {
        Self { module, body, block, loc: Loc::unknown() }
    }

    /// Appends an instruction with everything an instruction can have.
    ///
    /// # Errors
    /// Whatever the op's type rule says.
    pub fn push(
        &mut self,
        op: Op,
        operands: &[Value],
        attrs: Attrs,
        regions: Vec<Region>,
        targets: Vec<(Block, Vec<Value>)>,
    ) -> Result<Inst, TypeError> {
        let data = InstData {
            op,
            operands: operands.to_vec(),
            results: Vec::new(),
            attrs,
            regions,
            targets,
            loc: self.loc.clone(),
        };
        let inst = self.body.add_inst(data);
        let types = op.infer(OpView { module: self.module, body: self.body, inst })?;
        for ty in types {
            self.body.add_result(inst, ty);
        }
        self.body.block_mut(self.block).insts.push(inst);
        Ok(inst)
    }

    /// Appends an instruction without regions and targets; its results.
    ///
    /// # Errors
    /// Whatever the op's type rule says.
    pub fn op(&mut self, op: Op, operands: &[Value], attrs: Attrs) -> Result<Vec<Value>, TypeError> {
        let inst = self.push(op, operands, attrs, Vec::new(), Vec::new())?;
        Ok(self.body.inst(inst).results.clone())
    }

    /// Appends an instruction with one result.
    ///
    /// # Errors
    /// Whatever the op's type rule says.
    pub fn value(&mut self, op: Op, operands: &[Value], attrs: Attrs) -> Result<Value, TypeError> {
        let inst = self.push(op, operands, attrs, Vec::new(), Vec::new())?;
        Ok(self.body.result(inst))
    }

    /// A constant.
    pub fn constant(&mut self, scalar: Scalar) -> Value {
        let attrs = Attrs::new().with(Key::Value, Attr::Value(scalar));
        self.value(crate::ops::CONST, &[], attrs).expect("a constant always has a type")
    }

    /// A value with elements of another type, or as it is.
    ///
    /// # Errors
    /// It has no elements.
    pub fn cast(&mut self, value: Value, to: DType) -> Result<Value, TypeError> {
        match self.body.ty(value).dtype() == Some(to) {
            true => Ok(value),
            false => self.value(crate::ops::CAST, &[value], Attrs::new().with(Key::To, Attr::DType(to))),
        }
    }

    /// A new region whose entry block has these parameters, to be filled by `fill`.
    pub fn region<R>(
        &mut self,
        params: Vec<(Type, Option<&str>)>,
        fill: impl FnOnce(&mut Builder<'_>, &[Value]) -> R,
    ) -> (Region, R) {
        let region = self.body.add_region();
        let block = self.body.entry(region);
        let values: Vec<Value> =
            params.into_iter().map(|(ty, name)| self.body.add_param(block, ty, name.map(Into::into))).collect();
        let mut inner = Builder { module: self.module, body: self.body, block, loc: self.loc.clone() };
        let result = fill(&mut inner, &values);
        (region, result)
    }
}
