//! Ops that work element by element, on scalars, small tensors, fields and vectors alike.

use crate::{Attrs, Builder, Fold, OpView, Scalar, TensorType, Type, TypeError, Value};
use tiga_abi::{DType, Poly, Symbol};

/// The function on elements.
pub trait Elementwise: Sync {
    /// Number of operands.
    fn arity(&self) -> usize;
    /// The result's element type; `None` if the op is not defined for these.
    fn result(&self, args: &[DType], attrs: &Attrs) -> Option<DType>;
    /// The value of elements that are computed with as they are. Called only with types that [`Elementwise::result`]
    /// accepts; with `f16` and `bf16` only if the op [`Elementwise::moves`] them.
    fn eval(&self, args: &[Scalar], attrs: &Attrs) -> Scalar;
    /// Whether it moves or converts elements without computing: then `f16` and `bf16` are taken as they are.
    fn moves(&self) -> bool {
        false
    }
    /// The value. Operands of type `f16` and `bf16` are computed with as `f32`, and the result is rounded to their
    /// type. (Of `+ − × ÷ √` that is the correctly rounded result: 24 bits are at least 2·11 + 2; Figueroa 1995.)
    fn value(&self, args: &[Scalar], attrs: &Attrs) -> Scalar {
        let half = args.iter().map(|a| a.dtype()).find(|d| d.is_half());
        let Some(half) = half.filter(|_| !self.moves()) else { return self.eval(args, attrs) };
        let wide: Vec<Scalar> = args.iter().map(|a| a.cast(a.dtype().accumulator())).collect();
        match self.eval(&wide, attrs) {
            Scalar::F32(value) => Scalar::F32(value).cast(half),
            other => other,
        }
    }
    /// Whether operands may be exchanged without changing a bit (NaN payloads aside).
    fn commutative(&self) -> bool {
        false
    }
    /// Something simpler with the same bits (NaN payloads aside), where not all operands are constant.
    fn simplify(&self, op: OpView<'_>) -> Option<Fold> {
        let _ = op;
        None
    }
    /// The same in kernel instructions, for ops that are not one themselves.
    ///
    /// # Errors
    /// Whatever the type rules of those instructions say.
    fn expand(&self, builder: &mut Builder<'_>, args: &[Value]) -> Option<Result<Value, TypeError>> {
        let _ = (builder, args);
        None
    }
}

/// The common shape: sets match by name, feature axes align at the end, shorter shapes are repeated.
pub fn broadcast<'a>(types: impl IntoIterator<Item = &'a TensorType>) -> Option<(Option<Symbol>, Vec<Poly>)> {
    let mut set: Option<Symbol> = None;
    let mut dims: Vec<Poly> = Vec::new();
    for ty in types {
        match (&set, &ty.set) {
            (_, None) => {}
            (None, Some(s)) => set = Some(s.clone()),
            (Some(a), Some(b)) if a == b => {}
            _ => return None,
        }
        let (long, short) = if ty.dims.len() > dims.len() { (&ty.dims, &dims) } else { (&dims, &ty.dims) };
        if !long.ends_with(short) {
            return None;
        }
        dims = long.clone();
    }
    Some((set, dims))
}

/// The type rule that all elementwise ops share.
pub(super) fn infer(op: OpView<'_>, rule: &dyn Elementwise) -> Result<Vec<Type>, TypeError> {
    op.arity(rule.arity())?;
    let types: Vec<&Type> = (0..rule.arity()).map(|i| op.operand(i)).collect::<Result<_, _>>()?;
    let mut dtypes = Vec::new();
    for (i, ty) in types.iter().enumerate() {
        match ty {
            Type::Tensor(_) | Type::Vector(..) => dtypes.extend(ty.dtype()),
            _ => return Err(op.wrong(i, "elements")),
        }
    }
    let Some(dtype) = rule.result(&dtypes, op.attrs()) else {
        return Err(op.wrong(dtypes.len().saturating_sub(1), "an element type the op is defined for"));
    };
    let shapes = |i: usize| TypeError::Shapes {
        op: op.name(),
        left: Box::new(types[0].clone()),
        right: Box::new(types[i].clone()),
    };
    if let Type::Vector(_, lanes) = types[0] {
        if let Some(i) = types.iter().position(|t| !matches!(t, Type::Vector(_, n) if n == lanes)) {
            return Err(shapes(i));
        }
        return Ok(vec![Type::Vector(dtype, *lanes)]);
    }
    let tensors: Vec<&TensorType> = types.iter().filter_map(|t| t.as_tensor()).collect();
    if tensors.len() < types.len() {
        return Err(shapes(types.len() - 1));
    }
    let (set, dims) = broadcast(tensors).ok_or_else(|| shapes(types.len() - 1))?;
    Ok(vec![Type::Tensor(TensorType { dtype, set, dims })])
}

/// The fold that all elementwise ops share: constants are evaluated, a constant left operand of a commutative op goes
/// to the right, the rest is the op's own.
pub(crate) fn fold_elements(op: OpView<'_>, rule: &dyn Elementwise) -> Option<Fold> {
    let constants: Option<Vec<Scalar>> = (0..op.operands().len()).map(|i| op.constant(i)).collect();
    if let Some(constants) = constants {
        return Some(Fold::Const(rule.value(&constants, op.attrs())));
    }
    if let (true, [left, right]) = (rule.commutative(), op.operands())
        && op.constant(0).is_some()
    {
        return Some(Fold::Op(op.body.inst(op.inst).op, vec![*right, *left], op.attrs().clone()));
    }
    rule.simplify(op)
}

/// An operand in place of the result.
pub(super) fn operand(op: OpView<'_>, index: usize) -> Option<Fold> {
    Some(Fold::Values(vec![*op.operands().get(index)?]))
}

/// Whether an operand is a constant with exactly these bits.
pub(super) fn is(op: OpView<'_>, index: usize, element: impl Fn(DType) -> Scalar) -> bool {
    op.constant(index).is_some_and(|c| c == element(c.dtype()))
}

/// The operand of an operand that the same op defines: `x` of `op(op(x))`.
pub(super) fn undo(op: OpView<'_>) -> Option<Fold> {
    let inner = op.def(0).filter(|inner| inner.name() == op.name())?;
    operand(inner, 0)
}

/// Whether both operands are one value.
pub(super) fn twice(op: OpView<'_>) -> bool {
    matches!(op.operands(), [a, b] if a == b)
}

/// The element type of the first operand.
pub(super) fn dtype(op: OpView<'_>) -> Option<DType> {
    op.operand(0).ok()?.dtype()
}

/// Declares an elementwise op that is also a kernel instruction:
/// constant name, type, printed name, doc, arity, commutativity, result rule, evaluation, what is simpler, and whether
/// it only moves.
macro_rules! primitive {
    ($(#[$doc:meta])* $const:ident, $ty:ident, $name:literal, $kernel:ident, $arity:literal, $commutative:literal,
     |$dtypes:ident, $attrs:ident| $result:expr, |$args:ident, $eattrs:ident| $eval:expr
     $(, |$op:ident| $simplify:expr)? $(, moves: $moves:literal)?) => {
        struct $ty;

        impl $crate::ops::Elementwise for $ty {
            fn arity(&self) -> usize {
                $arity
            }
            fn result(&self, $dtypes: &[tiga_abi::DType], $attrs: &$crate::Attrs) -> Option<tiga_abi::DType> {
                let _ = $attrs;
                $result
            }
            fn eval(&self, $args: &[$crate::Scalar], $eattrs: &$crate::Attrs) -> $crate::Scalar {
                let _ = $eattrs;
                $eval
            }
            fn commutative(&self) -> bool {
                $commutative
            }
            $(fn moves(&self) -> bool {
                $moves
            })?
            $(fn simplify(&self, $op: $crate::OpView<'_>) -> Option<$crate::Fold> {
                $simplify
            })?
        }

        impl $crate::OpDef for $ty {
            fn name(&self) -> &'static str {
                $name
            }
            fn levels(&self) -> $crate::Levels {
                &[$crate::Level::Domain, $crate::Level::Loops, $crate::Level::Kernel]
            }
            fn infer(&self, op: $crate::OpView<'_>) -> Result<Vec<$crate::Type>, $crate::TypeError> {
                $crate::ops::elementwise::infer(op, self)
            }
            fn elementwise(&self) -> Option<&dyn $crate::ops::Elementwise> {
                Some(self)
            }
            fn kernel(&self) -> Option<$crate::KernelOp> {
                Some($crate::KernelOp::$kernel)
            }
        }

        $(#[$doc])*
        pub const $const: $crate::Op = $crate::Op(&$ty);
    };
}
pub(super) use primitive;

/// The operands' common type if it satisfies a condition.
pub(super) fn same(dtypes: &[DType], accept: impl Fn(DType) -> bool) -> Option<DType> {
    let first = *dtypes.first()?;
    (dtypes.iter().all(|d| *d == first) && accept(first)).then_some(first)
}

/// Applies one of four functions to two numbers of the same type.
macro_rules! numeric2 {
    ($args:expr, i32: $i32:expr, i64: $i64:expr, f32: $f32:expr, f64: $f64:expr) => {
        match ($args[0], $args[1]) {
            (Scalar::I32(a), Scalar::I32(b)) => Scalar::I32($i32(a, b)),
            (Scalar::I64(a), Scalar::I64(b)) => Scalar::I64($i64(a, b)),
            (Scalar::F32(a), Scalar::F32(b)) => Scalar::F32($f32(a, b)),
            (Scalar::F64(a), Scalar::F64(b)) => Scalar::F64($f64(a, b)),
            (a, _) => a,
        }
    };
}
pub(super) use numeric2;
