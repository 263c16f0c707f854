//! Blocks: parameters become phis, jumps feed them.

use crate::LlvmError;
use crate::function::Speller;
use inkwell::basic_block::BasicBlock;
use inkwell::values::{BasicValueEnum, FunctionValue};
use tiga_ir::{Block, InstData, Value};

impl<'c> Speller<'c, '_> {
    /// Opens all blocks with a phi for each parameter; the first of `order` is the entry, already open.
    pub(crate) fn open_blocks(
        &mut self,
        order: &[Block],
        entry: BasicBlock<'c>,
        target: FunctionValue<'c>,
    ) -> Result<(), LlvmError> {
        self.blocks.insert(order[0], (entry, Vec::new()));
        for block in &order[1..] {
            let open = self.context.append_basic_block(target, "");
            self.builder.position_at_end(open);
            let mut phis = Vec::new();
            for param in &self.func.body.block(*block).params {
                let phi = self.builder.build_phi(self.spell_type(self.func.body.ty(*param)), "")?;
                self.define(*param, phi.as_basic_value());
                phis.push(phi);
            }
            self.blocks.insert(*block, (open, phis));
        }
        Ok(())
    }

    pub(crate) fn jump(&self, data: &InstData) -> Result<(), LlvmError> {
        let (block, args) = &data.targets[0];
        let args = self.arguments(args)?;
        self.go(*block, &args)
    }

    pub(crate) fn branch(&self, data: &InstData) -> Result<(), LlvmError> {
        let condition = self.operand(data, 0)?;
        let [(then, then_args), (otherwise, otherwise_args)] = &data.targets[..] else {
            unreachable!("checked: a branch has two targets");
        };
        let (then_args, otherwise_args) = (self.arguments(then_args)?, self.arguments(otherwise_args)?);
        if then == otherwise {
            // A phi cannot tell two edges from the same block apart.
            let chosen = then_args.iter().zip(&otherwise_args).map(|(a, b)| self.select(condition, *a, *b));
            return self.go(*then, &chosen.collect::<Result<Vec<_>, _>>()?);
        }
        self.feed(*then, &then_args);
        self.feed(*otherwise, &otherwise_args);
        let (then, otherwise) = (self.blocks[then].0, self.blocks[otherwise].0);
        self.builder.build_conditional_branch(condition.into_int_value(), then, otherwise)?;
        Ok(())
    }

    pub(crate) fn leave(&self) -> Result<(), LlvmError> {
        self.builder.build_return(None)?;
        Ok(())
    }

    fn arguments(&self, args: &[Value]) -> Result<Vec<BasicValueEnum<'c>>, LlvmError> {
        args.iter().map(|v| self.value(*v)).collect()
    }

    fn go(&self, block: Block, args: &[BasicValueEnum<'c>]) -> Result<(), LlvmError> {
        self.feed(block, args);
        self.builder.build_unconditional_branch(self.blocks[&block].0)?;
        Ok(())
    }

    /// Tells the phis of a block what arrives from the block being built.
    fn feed(&self, block: Block, args: &[BasicValueEnum<'c>]) {
        let here = self.builder.get_insert_block().expect("the builder stands in a block");
        for (phi, arg) in self.blocks[&block].1.iter().zip(args) {
            phi.add_incoming(&[(arg, here)]);
        }
    }
}
