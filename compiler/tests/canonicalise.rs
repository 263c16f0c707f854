//! Every fold keeps every bit: all elementwise ops on all element types, with variables, constants and each other as
//! operands, before and after, on the elements where identities fail.
#![allow(clippy::unwrap_used)]

use tiga_abi::{DType, FpMode};
use tiga_ir::interp::{Tensor, Value as Array, run_domain};
use tiga_ir::{Attr, Attrs, Builder, Func, Key, Level, Module, Op, Scalar, SymKind, TensorType, Value, ops};
use tigac::passes::ssa::{canonicalise, dce};
use tigac::passes::{PassOptions, Watch, run};

/// Elements that tell identities from their look-alikes.
fn elements(dtype: DType) -> Vec<Scalar> {
    let floats = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        2.0,
        3.0,
        -7.25,
        1e-3,
        1e30,
        -1e30,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        f64::from(f32::MIN_POSITIVE),
        f64::from(f32::from_bits(1)),
        f64::from(f32::MAX),
        16777217.0,
        65504.0,
        1e-6,
    ];
    let ints = [0, 1, -1, 2, 7, -13, 31, 64, i64::from(i32::MAX), i64::from(i32::MIN), i64::MAX, i64::MIN];
    match dtype {
        DType::Bool => vec![Scalar::Bool(false), Scalar::Bool(true)],
        DType::I32 | DType::I64 => ints.iter().map(|v| Scalar::from_i64(dtype, *v)).collect(),
        DType::F16 | DType::BF16 | DType::F32 | DType::F64 => {
            floats.iter().map(|v| Scalar::from_f64(dtype, *v)).collect()
        }
    }
}

/// A function of two fields, under construction.
struct Case {
    module: Module,
    func: Func,
    x: Value,
    y: Value,
}

impl Case {
    fn new(dtype: DType) -> Self {
        let mut func = Func::new("f", Level::Domain);
        func.symbols.insert("N".into(), SymKind::Set);
        let entry = func.body.entry(func.region);
        let field = TensorType::field(dtype, "N".into(), Vec::new());
        let [x, y] = ["x", "y"].map(|name| func.body.add_param(entry, field.clone().into(), Some(name.into())));
        Case { module: Module::new(), func, x, y }
    }

    fn builder(&mut self) -> Builder<'_> {
        let entry = self.func.body.entry(self.func.region);
        Builder::new(&self.module, &mut self.func.body, entry)
    }

    /// The module that returns a value.
    fn returning(mut self, value: Value) -> Module {
        let ty = self.func.body.ty(value).clone();
        self.func.results = vec![("r".into(), ty)];
        self.builder().op(ops::RETURN, &[value], Attrs::new()).unwrap();
        let mut module = self.module;
        module.add(self.func);
        module
    }
}

/// Canonicalised, if that changes anything; then on all pairs of elements both give the same bits.
fn check(dtype: DType, module: Module) -> usize {
    let options = PassOptions::new(FpMode::Strict);
    let after =
        run(module.clone(), &[canonicalise::PASS, dce::PASS], &options, &Watch::default(), &mut std::io::sink())
            .unwrap();
    let (before_text, after_text) = (tiga_ir::print_module(&module), tiga_ir::print_module(&after));
    if before_text == after_text {
        return 0;
    }
    let all = elements(dtype);
    let pairs: Vec<(Scalar, Scalar)> = all.iter().flat_map(|x| all.iter().map(|y| (*x, *y))).collect();
    let column = |pick: fn(&(Scalar, Scalar)) -> Scalar| {
        let elems = pairs.iter().map(pick).collect();
        Array::from(Tensor::new(dtype, vec![pairs.len()], elems).unwrap())
    };
    let inputs = [column(|p| p.0), column(|p| p.1)];
    let result = |module: &Module| match run_domain(module, "f", &inputs).unwrap().remove(0) {
        Array::Tensor(t) => t,
        _ => panic!("a tensor is returned"),
    };
    let (expected, found) = (result(&module), result(&after));
    assert_eq!(
        (expected.shape(), expected.dtype()),
        (found.shape(), found.dtype()),
        "{before_text}\nbecame\n{after_text}"
    );
    for (i, (a, b)) in expected.elems().iter().zip(found.elems()).enumerate() {
        assert!(a.same(*b), "x, y = {:?}: {a} became {b}\n{before_text}\nbecame\n{after_text}", pairs.get(i));
    }
    1
}

fn attrs(to: Option<DType>) -> Attrs {
    to.map_or(Attrs::new(), |to| Attrs::new().with(Key::To, Attr::DType(to)))
}

/// The op with its possible attributes.
fn variants(op: Op) -> Vec<Attrs> {
    if op == ops::CAST || op == ops::BITCAST {
        return DType::ALL.iter().map(|to| attrs(Some(*to))).collect();
    }
    vec![Attrs::new()]
}

fn elementwise() -> impl Iterator<Item = (Op, usize)> {
    ops::ALL.iter().filter_map(|op| Some((*op, op.elementwise()?.arity())))
}

#[test]
fn operands_that_are_constant_or_equal() {
    let mut changed = 0;
    for dtype in DType::ALL {
        for (op, arity) in elementwise() {
            for choice in 0..3usize.pow(arity as u32) {
                for constant in elements(dtype) {
                    let mut case = Case::new(dtype);
                    let pool = [case.x, case.y, case.builder().constant(constant)];
                    let mut operands: Vec<Value> =
                        (0..arity).map(|i| pool[choice / 3usize.pow(i as u32) % 3]).collect();
                    if op == ops::SELECT {
                        // The condition: a comparison, or a constant.
                        operands[0] = match choice % 3 {
                            2 => case.builder().constant(Scalar::Bool(constant.as_f64() > 0.0)),
                            _ => case.builder().value(ops::EQ, &pool[..2], Attrs::new()).unwrap(),
                        };
                    }
                    for attrs in variants(op) {
                        let mut case = Case { module: Module::new(), func: case.func.clone(), ..case };
                        if let Ok(value) = case.builder().value(op, &operands, attrs) {
                            changed += check(dtype, case.returning(value));
                        }
                    }
                }
            }
        }
    }
    assert!(changed > 500, "only {changed} functions were simplified");
}

#[test]
fn ops_of_ops() {
    let mut changed = 0;
    for dtype in DType::ALL {
        for (inner, _) in elementwise().filter(|(_, arity)| *arity == 1) {
            for (outer, arity) in elementwise().filter(|(_, arity)| *arity <= 2) {
                for (first, second) in
                    variants(inner).iter().flat_map(|a| variants(outer).into_iter().map(move |b| (a, b)))
                {
                    let mut case = Case::new(dtype);
                    let x = case.x;
                    let Ok(value) = case.builder().value(inner, &[x], first.clone()) else { continue };
                    if let Ok(value) = case.builder().value(outer, &vec![value; arity], second) {
                        changed += check(dtype, case.returning(value));
                    }
                }
            }
        }
    }
    assert!(changed > 50, "only {changed} functions were simplified");
}
