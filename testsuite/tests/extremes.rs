//! The ends of things: nothing at all, integers that do not divide, denormals on a host that flushes them.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]
#![allow(unsafe_code, reason = "the floating-point environment of the host")]

use fastrand::Rng;
use testsuite::models::{WALK, WIDE, compiled, random, wide_values};
use testsuite::road::{difference, model, result};
use tiga_abi::{DType, FpMode};
use tiga_ir::interp::{Relation, Tensor, Value, run_domain};
use tiga_runtime::{Context, UnitOrder};
use tigac::sema::SemaOptions;

/// Both modes and both shapes, against their interpreters.
fn agrees(text: &str, program: &str, values: &[Value], dims: &[(&str, i64)]) {
    let module = model("extremes.tg", text, &SemaOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    let context = Context::new(2).unwrap().with_order(UnitOrder::Shuffled(3));
    for (fp, tiny) in [(FpMode::Strict, false), (FpMode::Default, false), (FpMode::Default, true)] {
        let road = compiled(text, fp, tiny).unwrap();
        let expected = match fp {
            FpMode::Strict => {
                let domain = run_domain(&module, program, values).unwrap();
                domain.into_iter().map(|v| result(v).unwrap()).collect()
            }
            FpMode::Default => road.interpret(program, values, dims).unwrap(),
        };
        let got = road.run(program, values, dims, &context).unwrap();
        assert_eq!(got.len(), expected.len(), "{program}, {fp:?}");
        for (got, expected) in got.iter().zip(&expected) {
            assert_eq!(difference(got, expected), None, "{program}, {fp:?}");
        }
    }
}

#[test]
fn no_nodes_no_edges_no_features() {
    let mut rng = Rng::with_seed(1);
    for (num_src, num_dst, features) in [(0, 0, 0), (0, 0, 3), (0, 4, 3), (4, 0, 3), (4, 4, 0), (3, 5, 1)] {
        let values = wide_values(&mut rng, num_src, num_dst, features);
        agrees(WIDE, "wide", &values, &[("F", features as i64)]);
    }
    for nodes in [0, 1, 3] {
        let none = Relation::csr(nodes, vec![0; nodes + 1], Vec::new()).unwrap();
        let steps = Tensor::of(&[], &[2i64]).unwrap();
        agrees(WALK, "walk", &[none.into(), random(&mut rng, DType::F64, &[nodes]), steps.into()], &[]);
    }
}

#[test]
fn integers_that_do_not_divide() {
    let text = "
program divide<set P>(x: i32[P], y: i32[P], u: i64[P], v: i64[P])
    -> (q: i32[P], r: i32[P], wide_q: i64[P], wide_r: i64[P], negated: i32[P], size: i32[P]) {
    (x / y, x % y, u / v, u % v, -x, abs(x))
}
";
    let i32s = [i32::MIN, i32::MIN, i32::MIN, 7, -7, 0, i32::MAX, 5];
    let by32 = [-1, 0, 1, 0, 2, 0, -1, -3];
    let i64s = i32s.map(|x| if x == i32::MIN { i64::MIN } else { i64::from(x) });
    let field32 = |numbers: &[i32]| Value::from(Tensor::of(&[8], numbers).unwrap());
    let field64 = |numbers: &[i64]| Value::from(Tensor::of(&[8], numbers).unwrap());
    let values = [field32(&i32s), field32(&by32), field64(&i64s), field64(&by32.map(i64::from))];
    agrees(text, "divide", &values, &[]);
}

/// The control and status word of SSE.
fn status() -> u32 {
    let mut value = 0u32;
    // SAFETY: stores the register to a valid local.
    unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &mut value, options(nostack)) };
    value
}

fn set_status(value: u32) {
    // SAFETY: loads the register from a valid local; only flags of denormals differ from what it was.
    unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &value, options(nostack, readonly)) };
}

#[test]
fn a_host_that_flushes_denormals_gets_them_and_keeps_its_flags() {
    let text = "program halve<set P>(x: f32[P], y: f64[P]) -> (a: f32[P], b: f64[P]) { (x / 2, y / 2) }\n";
    let x: Vec<f32> = (0..3000).map(|i| f32::from_bits(1 + 4000 * i)).collect();
    let y: Vec<f64> = (0..3000).map(|i| f64::from_bits(2 + 1_000_000_000_000 * i)).collect();
    let values = [Tensor::of(&[3000], &x).unwrap().into(), Tensor::of(&[3000], &y).unwrap().into()];
    let road = compiled(text, FpMode::Default, false).unwrap();
    let expected = road.interpret("halve", &values, &[]).unwrap();
    assert!(expected[0].numbers::<f32>().unwrap().iter().filter(|x| x.is_subnormal()).count() > 1000);
    let (flushing, before) = (0x8040, status());
    // One thread runs kernels on the host's own thread, three on others.
    for threads in [1, 3] {
        let context = Context::new(threads).unwrap();
        set_status(before | flushing);
        let got = road.run("halve", &values, &[], &context);
        let after = status();
        set_status(before);
        assert_eq!(after & flushing, flushing, "the host's flags are gone");
        let got = got.unwrap();
        assert_eq!(got.len(), expected.len(), "{threads} threads");
        for (got, expected) in got.iter().zip(&expected) {
            assert_eq!(difference(got, expected), None, "{threads} threads");
        }
    }
}
