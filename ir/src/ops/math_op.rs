//! Math functions as ops: evaluated and expanded from their one definition in [`crate::math`].

use super::elementwise::infer;
use super::{Elementwise, SPLAT};
use crate::math::{Arith, Evaluator, FloatCmp, IntCmp, MathFn, Width, define};
use crate::{Attr, Attrs, Builder, Key, Level, Levels, Op, OpDef, OpView, Scalar, Type, TypeError, Value};
use tiga_abi::DType;

struct Function(MathFn);

impl OpDef for Function {
    fn name(&self) -> &'static str {
        self.0.name()
    }
    fn levels(&self) -> Levels {
        &[Level::Domain, Level::Loops]
    }
    fn infer(&self, op: OpView<'_>) -> Result<Vec<Type>, TypeError> {
        infer(op, self)
    }
    fn elementwise(&self) -> Option<&dyn Elementwise> {
        Some(self)
    }
}

impl Elementwise for Function {
    fn arity(&self) -> usize {
        self.0.arity()
    }
    fn result(&self, args: &[DType], _: &Attrs) -> Option<DType> {
        super::elementwise::same(args, DType::is_float)
    }
    fn eval(&self, args: &[Scalar], _: &Attrs) -> Scalar {
        let Some(width) = args.first().and_then(|a| Width::of(a.dtype())) else {
            return Scalar::F64(f64::NAN);
        };
        define(self.0, width, &mut Evaluator, args)
    }
    fn expand(&self, builder: &mut Builder<'_>, args: &[Value]) -> Option<Result<Value, TypeError>> {
        let like = *args.first()?;
        let width = Width::of(builder.body.ty(like).dtype()?)?;
        Some(Emitter::emit_all(builder, like, |emitter| define(self.0, width, emitter, args)))
    }
}

/// All math functions that are not kernel instructions themselves.
pub const MATH: [Op; 8] = [
    Op(&Function(MathFn::Exp)),
    Op(&Function(MathFn::Log)),
    Op(&Function(MathFn::Tanh)),
    Op(&Function(MathFn::Sin)),
    Op(&Function(MathFn::Cos)),
    Op(&Function(MathFn::Pow)),
    Op(&Function(MathFn::Rsqrt)),
    Op(&Function(MathFn::Sigmoid)),
];

/// Emits a definition as kernel instructions, on scalars or on vectors of `lanes`.
pub(super) struct Emitter<'a, 'b> {
    builder: &'a mut Builder<'b>,
    lanes: Option<u32>,
    /// The first instruction that had no type; definitions only meet types they were written for.
    error: Option<TypeError>,
}

impl<'a, 'b> Emitter<'a, 'b> {
    /// Emits a definition on values that have the lanes of `like`.
    pub(super) fn emit_all(
        builder: &'a mut Builder<'b>,
        like: Value,
        definition: impl FnOnce(&mut Self) -> Value,
    ) -> Result<Value, TypeError> {
        let lanes = match builder.body.ty(like) {
            Type::Vector(_, lanes) => Some(*lanes),
            _ => None,
        };
        let mut emitter = Emitter { builder, lanes, error: None };
        let value = definition(&mut emitter);
        emitter.error.map_or(Ok(value), Err)
    }

    fn constant(&mut self, scalar: Scalar) -> Value {
        let value = self.builder.constant(scalar);
        match self.lanes {
            Some(lanes) => self.emit(SPLAT, &[value], Attrs::new().with(Key::Lanes, Attr::Int(lanes.into()))),
            None => value,
        }
    }

    fn emit(&mut self, op: Op, args: &[Value], attrs: Attrs) -> Value {
        match self.builder.value(op, args, attrs) {
            Ok(value) => value,
            Err(error) => {
                self.error.get_or_insert(error);
                args[0]
            }
        }
    }

    fn op(&mut self, op: Op, args: &[Value]) -> Value {
        self.emit(op, args, Attrs::new())
    }

    fn to(&mut self, op: Op, arg: Value, to: DType) -> Value {
        self.emit(op, &[arg], Attrs::new().with(Key::To, Attr::DType(to)))
    }

    fn dtype(&self, value: Value) -> Option<DType> {
        self.builder.body.ty(value).dtype()
    }

    /// Both operands with the sign bit flipped: signed order then is unsigned order.
    fn biased(&mut self, a: Value, b: Value) -> [Value; 2] {
        let min = match self.dtype(a) {
            Some(DType::I32) => Scalar::I32(i32::MIN),
            _ => Scalar::I64(i64::MIN),
        };
        let sign = self.constant(min);
        [self.op(super::XOR, &[a, sign]), self.op(super::XOR, &[b, sign])]
    }
}

/// One method an instruction.
macro_rules! instructions {
    ($($method:ident($($arg:ident),+) => $op:ident;)*) => {
        $(fn $method(&mut self, $($arg: Value),+) -> Value {
            self.op(super::$op, &[$($arg),+])
        })*
    };
}

impl Arith for Emitter<'_, '_> {
    type V = Value;

    fn f32(&mut self, value: f32) -> Value {
        self.constant(Scalar::F32(value))
    }
    fn f64(&mut self, value: f64) -> Value {
        self.constant(Scalar::F64(value))
    }
    fn i32(&mut self, value: i32) -> Value {
        self.constant(Scalar::I32(value))
    }
    fn i64(&mut self, value: i64) -> Value {
        self.constant(Scalar::I64(value))
    }

    instructions! {
        fadd(a, b) => ADD;
        fsub(a, b) => SUB;
        fmul(a, b) => MUL;
        fdiv(a, b) => DIV;
        fsqrt(a) => SQRT;
        fneg(a) => NEG;
        fabs(a) => ABS;
        iadd(a, b) => ADD;
        isub(a, b) => SUB;
        imul(a, b) => MUL;
        iand(a, b) => AND;
        ior(a, b) => OR;
        ixor(a, b) => XOR;
        ishl(a, count) => SHL;
        ilshr(a, count) => SHR;
        iashr(a, count) => SAR;
        select(condition, a, b) => SELECT;
    }

    fn fcmp(&mut self, cmp: FloatCmp, a: Value, b: Value) -> Value {
        match cmp {
            FloatCmp::Eq => self.op(super::EQ, &[a, b]),
            FloatCmp::Ne => self.op(super::NE, &[a, b]),
            FloatCmp::Lt => self.op(super::LT, &[a, b]),
            FloatCmp::Le => self.op(super::LE, &[a, b]),
            FloatCmp::Gt => self.op(super::GT, &[a, b]),
            FloatCmp::Ge => self.op(super::GE, &[a, b]),
            FloatCmp::Unordered => {
                let (left, right) = (self.op(super::NE, &[a, a]), self.op(super::NE, &[b, b]));
                self.op(super::OR, &[left, right])
            }
        }
    }

    fn icmp(&mut self, cmp: IntCmp, a: Value, b: Value) -> Value {
        match cmp {
            IntCmp::Eq => self.op(super::EQ, &[a, b]),
            IntCmp::Ne => self.op(super::NE, &[a, b]),
            IntCmp::SignedLt => self.op(super::LT, &[a, b]),
            IntCmp::UnsignedLt => {
                let operands = self.biased(a, b);
                self.op(super::LT, &operands)
            }
        }
    }

    fn float_to_bits(&mut self, a: Value) -> Value {
        let to = if self.dtype(a) == Some(DType::F32) { DType::I32 } else { DType::I64 };
        self.to(super::BITCAST, a, to)
    }
    fn bits_to_float(&mut self, a: Value) -> Value {
        let to = if self.dtype(a) == Some(DType::I32) { DType::F32 } else { DType::F64 };
        self.to(super::BITCAST, a, to)
    }
    fn widen(&mut self, a: Value) -> Value {
        self.to(super::CAST, a, DType::F64)
    }
    fn narrow(&mut self, a: Value) -> Value {
        self.to(super::CAST, a, DType::F32)
    }
    fn truncate(&mut self, a: Value) -> Value {
        self.to(super::CAST, a, DType::I32)
    }
}
