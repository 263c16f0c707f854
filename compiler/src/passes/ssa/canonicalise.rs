//! Replaces instructions by simpler ones with the same bits, as each op's own file says ([`tiga_ir::Fold`]).

use super::each_body;
use super::replace::Replacements;
use crate::passes::{Pass, PassError, PassOptions, Remarks};
use tiga_ir::{
    Attr, Attrs, Block, Body, Builder, Fold, Inst, Key, Level, Module, OpView, Region, Scalar, Type, TypeError, Value,
    ops,
};

/// Simpler instructions with the same bits.
pub const PASS: Pass = Pass {
    name: "canonicalise",
    about: "folds constants and replaces instructions by simpler ones with the same bits",
    levels: LEVELS,
    makes: None,
    needed: false,
    run,
};

const LEVELS: &[Level] = &[Level::Domain, Level::Loops];

/// Rewrites until nothing changes: every fold leaves less to fold.
///
/// # Errors
/// An op's rule that builds something ill-typed: our bug.
pub fn run(module: &Module, _: &PassOptions, _: &mut Remarks) -> Result<Module, PassError> {
    each_body(module, LEVELS, |body, region, _| {
        loop {
            let mut rewriter = Rewriter { module, body, replaced: Replacements::default(), changed: false };
            rewriter.region(region)?;
            if !rewriter.changed {
                return Ok(());
            }
        }
    })
}

/// One walk over a body.
struct Rewriter<'a> {
    module: &'a Module,
    body: &'a mut Body,
    replaced: Replacements,
    changed: bool,
}

impl Rewriter<'_> {
    fn region(&mut self, region: Region) -> Result<(), TypeError> {
        for block in self.body.region(region).blocks.clone() {
            for inst in std::mem::take(&mut self.body.block_mut(block).insts) {
                self.inst(inst, block)?;
            }
        }
        Ok(())
    }

    /// Appends an instruction to its block, or what replaces it.
    fn inst(&mut self, inst: Inst, block: Block) -> Result<(), TypeError> {
        self.replaced.apply(self.body, inst);
        let op = self.body.inst(inst).op;
        let fold = op.fold(OpView { module: self.module, body: self.body, inst });
        if let Some(fold) = fold
            && self.replace(inst, fold, block)?
        {
            self.changed = true;
            return Ok(());
        }
        for region in self.body.inst(inst).regions.clone() {
            self.region(region)?;
        }
        self.body.block_mut(block).insts.push(inst);
        Ok(())
    }

    /// Whether the fold fits the types; if it does, its results stand for those of the instruction.
    fn replace(&mut self, inst: Inst, fold: Fold, block: Block) -> Result<bool, TypeError> {
        let before = self.body.block(block).insts.len();
        let values = match fold {
            Fold::Values(values) => values,
            Fold::Const(element) => self.constant(inst, element, block)?,
            Fold::Op(op, operands, attrs) => vec![self.builder(inst, block).value(op, &operands, attrs)?],
            Fold::WithConst(op, operand, element) => {
                let mut builder = self.builder(inst, block);
                let element = builder.constant(element);
                vec![builder.value(op, &[operand, element], Attrs::new())?]
            }
            Fold::Region(region) => self.splice(region, block)?,
        };
        let results = self.body.inst(inst).results.clone();
        let types = |values: &[Value]| values.iter().map(|v| self.body.ty(*v).clone()).collect::<Vec<Type>>();
        if types(&results) != types(&values) {
            // The shorter shape would no longer be repeated: what was built stays out.
            self.body.block_mut(block).insts.truncate(before);
            return Ok(false);
        }
        for (old, new) in results.into_iter().zip(values) {
            self.replaced.set(self.body, old, new);
        }
        Ok(true)
    }

    fn builder(&mut self, inst: Inst, block: Block) -> Builder<'_> {
        let loc = self.body.inst(inst).loc.clone();
        let mut builder = Builder::new(self.module, self.body, block);
        builder.loc = loc;
        builder
    }

    /// A constant in the shape of the instruction's result.
    fn constant(&mut self, inst: Inst, element: Scalar, block: Block) -> Result<Vec<Value>, TypeError> {
        let ty = self.body.ty(self.body.result(inst)).clone();
        let mut builder = self.builder(inst, block);
        let scalar = builder.constant(element);
        let value = match ty {
            Type::Tensor(t) if !t.is_scalar() => {
                builder.value(ops::FILL, &[scalar], Attrs::new().with(Key::Dims, Attr::Dims(t)))?
            }
            Type::Vector(_, lanes) => {
                builder.value(ops::SPLAT, &[scalar], Attrs::new().with(Key::Lanes, Attr::Int(lanes.into())))?
            }
            _ => scalar,
        };
        Ok(vec![value])
    }

    /// The code of a region of one block in place of its instruction; what it yields.
    fn splice(&mut self, region: Region, block: Block) -> Result<Vec<Value>, TypeError> {
        let entry = self.body.entry(region);
        let mut insts = std::mem::take(&mut self.body.block_mut(entry).insts);
        let last = insts.pop().expect("verified: a region ends with a yield");
        for inst in insts {
            self.inst(inst, block)?;
        }
        self.replaced.apply(self.body, last);
        Ok(self.body.inst(last).operands.clone())
    }
}
