//! Spells one kernel: its values, its prologue, and one line for each instruction of the level.

use crate::lines::KernelLines;
use crate::signature::Source;
use crate::{LlvmError, Malformed};
use indexmap::IndexMap;
use inkwell::AddressSpace;
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::context::Context;
use inkwell::intrinsics::Intrinsic;
use inkwell::module::Module;
use inkwell::types::{BasicTypeEnum, VectorType};
use inkwell::values::{BasicValueEnum, CallSiteValue, FunctionValue, InstructionOpcode, PhiValue, PointerValue};
use std::collections::BTreeMap;
use tiga_abi::{DType, KernelArgs};
use tiga_ir::{Block, Func, InstData, KernelOp, Scalar, Type, Value};
use tiga_source::Loc;

/// A value in LLVM.
pub(crate) type Spelled<'c> = Result<BasicValueEnum<'c>, LlvmError>;

/// Spells one kernel. Every instruction was checked, so that operands have the types their op wants.
pub(crate) struct Speller<'c, 'a> {
    pub(crate) context: &'c Context,
    pub(crate) module: &'a Module<'c>,
    pub(crate) builder: Builder<'c>,
    pub(crate) func: &'a Func,
    lines: Option<KernelLines<'a, 'c>>,
    /// Values spelled so far.
    values: BTreeMap<Value, BasicValueEnum<'c>>,
    /// Blocks with the phis of their parameters.
    pub(crate) blocks: IndexMap<Block, (BasicBlock<'c>, Vec<PhiValue<'c>>)>,
}

impl<'c, 'a> Speller<'c, 'a> {
    /// Spells `func` into `target`.
    pub(crate) fn spell(
        context: &'c Context,
        module: &'a Module<'c>,
        func: &'a Func,
        lines: Option<KernelLines<'a, 'c>>,
        (sources, order): (&[Source], &[Block]),
        target: FunctionValue<'c>,
    ) -> Result<(), LlvmError> {
        let builder = context.create_builder();
        let (values, blocks) = (BTreeMap::new(), IndexMap::new());
        let mut speller = Speller { context, module, builder, func, lines, values, blocks };
        speller.at(&func.loc);
        let entry = context.append_basic_block(target, "entry");
        speller.builder.position_at_end(entry);
        speller.prologue(sources, target)?;
        speller.open_blocks(order, entry, target)?;
        for block in order {
            speller.builder.position_at_end(speller.blocks[block].0);
            speller.lines.iter_mut().for_each(KernelLines::block);
            for inst in &func.body.block(*block).insts {
                let data = func.body.inst(*inst);
                speller.at(&data.loc);
                let op = data.op.kernel().expect("checked: only kernel instructions");
                if let Some(value) = speller.inst(op, data)? {
                    let result = func.body.result(*inst);
                    speller.define(result, value);
                }
            }
        }
        Ok(())
    }

    /// Where the LLVM instructions come from that are spelled next.
    fn at(&mut self, loc: &Loc) {
        if let Some(lines) = &mut self.lines {
            self.builder.set_current_debug_location(lines.location(loc));
        }
    }

    /// One line for each instruction; what each means stands at [`KernelOp`].
    fn inst(&mut self, op: KernelOp, data: &InstData) -> Result<Option<BasicValueEnum<'c>>, LlvmError> {
        use InstructionOpcode as L;
        let value = match op {
            KernelOp::Const => self.constant_of(data),
            KernelOp::Add => self.binary(data, L::Add, L::FAdd)?,
            KernelOp::Sub => self.binary(data, L::Sub, L::FSub)?,
            KernelOp::Mul => self.binary(data, L::Mul, L::FMul)?,
            KernelOp::Div => self.div(data)?,
            KernelOp::Rem => self.rem(data)?,
            KernelOp::Neg => self.neg(data)?,
            KernelOp::Abs => self.abs(data)?,
            KernelOp::Sqrt => self.same_type_call("llvm.sqrt", data)?,
            KernelOp::Fma => self.same_type_call("llvm.fma", data)?,
            KernelOp::Min => self.extremum(data, "llvm.smin", "llvm.minimum")?,
            KernelOp::Max => self.extremum(data, "llvm.smax", "llvm.maximum")?,
            KernelOp::Eq => self.compare(data, inkwell::IntPredicate::EQ, inkwell::FloatPredicate::OEQ)?,
            KernelOp::Ne => self.compare(data, inkwell::IntPredicate::NE, inkwell::FloatPredicate::UNE)?,
            KernelOp::Lt => self.compare(data, inkwell::IntPredicate::SLT, inkwell::FloatPredicate::OLT)?,
            KernelOp::Le => self.compare(data, inkwell::IntPredicate::SLE, inkwell::FloatPredicate::OLE)?,
            KernelOp::Gt => self.compare(data, inkwell::IntPredicate::SGT, inkwell::FloatPredicate::OGT)?,
            KernelOp::Ge => self.compare(data, inkwell::IntPredicate::SGE, inkwell::FloatPredicate::OGE)?,
            KernelOp::And => self.bitwise(data, L::And)?,
            KernelOp::Or => self.bitwise(data, L::Or)?,
            KernelOp::Xor => self.bitwise(data, L::Xor)?,
            KernelOp::Not => self.not(data)?,
            KernelOp::Shl => self.shift(data, L::Shl)?,
            KernelOp::Shr => self.shift(data, L::LShr)?,
            KernelOp::Sar => self.shift(data, L::AShr)?,
            KernelOp::Select => self.select_of(data)?,
            KernelOp::Cast => self.cast(data)?,
            KernelOp::Bitcast => self.bitcast(data)?,
            KernelOp::Splat => self.splat(data)?,
            KernelOp::Lanes => self.lanes(data),
            KernelOp::Shuffle => self.shuffle(data)?,
            KernelOp::Extract => self.extract(data)?,
            KernelOp::Load => self.load(data)?,
            KernelOp::Gather => self.gather(data)?,
            KernelOp::Offset => self.offset(data)?,
            KernelOp::Store => return self.store(data).map(|()| None),
            KernelOp::Prefetch => return self.prefetch(data).map(|()| None),
            KernelOp::Jump => return self.jump(data).map(|()| None),
            KernelOp::Branch => return self.branch(data).map(|()| None),
            KernelOp::Return => return self.leave().map(|()| None),
        };
        Ok(Some(value))
    }

    /// Fetches the parameters from the arguments of the C function.
    fn prologue(&mut self, sources: &[Source], target: FunctionValue<'c>) -> Result<(), LlvmError> {
        let arg = |i: u32| target.get_nth_param(i).expect("a kernel's C function has three parameters");
        let args = arg(0).into_pointer_value();
        for (i, name) in ["args", "unit_begin", "unit_end"].into_iter().enumerate() {
            arg(i as u32).set_name(name);
        }
        let pointer = self.pointer_type();
        for (param, source) in self.func.params().iter().zip(sources) {
            let value = match source {
                Source::Symbol(i) => {
                    self.argument(args, std::mem::offset_of!(KernelArgs, sym), *i, self.i64().into())?
                }
                Source::Pointer(i) => self.argument(args, std::mem::offset_of!(KernelArgs, ptr), *i, pointer)?,
                Source::Scratch => self.field(args, std::mem::offset_of!(KernelArgs, scratch))?.into(),
                Source::UnitBegin => arg(1),
                Source::UnitEnd => arg(2),
            };
            self.define(*param, value);
        }
        Ok(())
    }

    /// A pointer field of the argument structure.
    fn field(&self, args: PointerValue<'c>, offset: usize) -> Result<PointerValue<'c>, LlvmError> {
        let offset = self.i64().const_int(offset as u64, false);
        let address = crate::address::element(&self.builder, self.context.i8_type().into(), args, offset)?;
        Ok(self.builder.build_load(self.pointer_type(), address, "")?.into_pointer_value())
    }

    /// An element of an array of the argument structure.
    fn argument(&self, args: PointerValue<'c>, offset: usize, index: u64, ty: BasicTypeEnum<'c>) -> Spelled<'c> {
        let array = self.field(args, offset)?;
        let index = self.i64().const_int(index, false);
        let address = crate::address::element(&self.builder, ty, array, index)?;
        Ok(self.builder.build_load(ty, address, "")?)
    }

    pub(crate) fn define(&mut self, value: Value, spelled: BasicValueEnum<'c>) {
        if let (Some(name), true) = (&self.func.body.value(value).name, spelled.get_name().is_empty()) {
            spelled.set_name(name);
        }
        self.values.insert(value, spelled);
    }

    pub(crate) fn value(&self, value: Value) -> Spelled<'c> {
        let undefined = || LlvmError::Malformed {
            kernel: self.func.name.to_string(),
            at: value.to_string(),
            law: Box::new(Malformed::Undefined),
        };
        self.values.get(&value).copied().ok_or_else(undefined)
    }

    pub(crate) fn operand(&self, data: &InstData, index: usize) -> Spelled<'c> {
        self.value(data.operands[index])
    }

    pub(crate) fn operand_type(&self, data: &InstData, index: usize) -> &'a Type {
        self.func.body.ty(data.operands[index])
    }

    /// The element type of an operand.
    pub(crate) fn dtype(&self, data: &InstData, index: usize) -> DType {
        self.operand_type(data, index).dtype().expect("checked: kernel values have elements")
    }

    pub(crate) fn i64(&self) -> inkwell::types::IntType<'c> {
        self.context.i64_type()
    }

    pub(crate) fn pointer_type(&self) -> BasicTypeEnum<'c> {
        self.context.ptr_type(AddressSpace::default()).into()
    }

    /// An element in a register; a `bool` is one bit, an `f16` or `bf16` its bits: they are only moved and converted.
    pub(crate) fn element_type(&self, dtype: DType) -> BasicTypeEnum<'c> {
        match dtype {
            DType::Bool => self.context.bool_type().into(),
            DType::F16 | DType::BF16 => self.context.i16_type().into(),
            DType::I32 => self.context.i32_type().into(),
            DType::I64 => self.context.i64_type().into(),
            DType::F32 => self.context.f32_type().into(),
            DType::F64 => self.context.f64_type().into(),
        }
    }

    /// A value of the kernel level in registers.
    pub(crate) fn spell_type(&self, ty: &Type) -> BasicTypeEnum<'c> {
        match ty {
            Type::Vector(dtype, lanes) => vector_of(self.element_type(*dtype), *lanes).into(),
            Type::Ptr(_) => self.pointer_type(),
            _ => self.element_type(ty.dtype().expect("checked: kernel values have elements")),
        }
    }

    /// A constant with the shape of `ty`, which it is repeated over.
    pub(crate) fn constant(&self, scalar: Scalar, ty: &Type) -> BasicValueEnum<'c> {
        let bits = scalar.bits();
        let element: BasicValueEnum = match scalar.dtype() {
            DType::Bool => self.context.bool_type().const_int(bits, false).into(),
            DType::F16 | DType::BF16 => self.context.i16_type().const_int(bits, false).into(),
            DType::I32 => self.context.i32_type().const_int(bits, false).into(),
            DType::I64 => self.context.i64_type().const_int(bits, false).into(),
            DType::F32 => self.context.f32_type().const_float(scalar.as_f64()).into(),
            DType::F64 => self.context.f64_type().const_float(scalar.as_f64()).into(),
        };
        match ty {
            Type::Vector(_, lanes) => VectorType::const_vector(&vec![element; *lanes as usize]).into(),
            _ => element,
        }
    }

    /// A call of an intrinsic, chosen by its overloaded types.
    pub(crate) fn call(
        &self,
        name: &'static str,
        overload: &[BasicTypeEnum<'c>],
        args: &[BasicValueEnum<'c>],
    ) -> Result<CallSiteValue<'c>, LlvmError> {
        let intrinsic = Intrinsic::find(name).and_then(|i| i.get_declaration(self.module, overload));
        let intrinsic = intrinsic.ok_or(LlvmError::Intrinsic(name))?;
        let args: Vec<_> = args.iter().map(|a| (*a).into()).collect();
        Ok(self.builder.build_call(intrinsic, &args, "")?)
    }

    /// The value of a call of an intrinsic that has one.
    pub(crate) fn call_value(
        &self,
        name: &'static str,
        overload: &[BasicTypeEnum<'c>],
        args: &[BasicValueEnum<'c>],
    ) -> Spelled<'c> {
        self.call(name, overload, args)?.try_as_basic_value().basic().ok_or(LlvmError::Intrinsic(name))
    }
}

/// A vector type.
pub(crate) fn vector_of(element: BasicTypeEnum<'_>, lanes: u32) -> VectorType<'_> {
    match element {
        BasicTypeEnum::FloatType(t) => t.vec_type(lanes),
        BasicTypeEnum::PointerType(t) => t.vec_type(lanes),
        other => other.into_int_type().vec_type(lanes),
    }
}
