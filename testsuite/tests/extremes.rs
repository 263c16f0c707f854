//! The ends of things: nothing at all, integers that do not divide, denormals on a host that flushes them.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]
#![allow(unsafe_code, reason = "the floating-point environment of the host")]

use fastrand::Rng;
use testsuite::road::{Road, difference, model, result};
use tiga_abi::{CpuTarget, DType, FpMode};
use tiga_ir::Scalar;
use tiga_ir::interp::{Relation, Tensor, Value, run_domain};
use tiga_runtime::{Context, UnitOrder};
use tigac::pack::CompileOptions;
use tigac::sema::SemaOptions;

/// Wide messages over all roles, with every kind of reducer.
const WIDE: &str = "
message added<F>(src: {x: f32[F]}, dst: {y: f64}, edge: {w: f32[F]}) -> f32[F] {
    edge { edge.w * src.x }
    reduce sum
    node(total) { total + f32(dst.y) }
}
message averaged<F>(src: {x: f32[F]}) -> f32[F] { edge { exp(src.x) } reduce mean }
message greatest(src: {i: i32}) -> i32 { edge { src.i } reduce max }

program wide<F>(g: graph, x: f32[g.src, F], y: f64[g.dst], w: f32[g.edges, F], i: i32[g.src])
    -> (total: f32[g.dst, F], average: f32[g.dst, F], most: i32[g.dst], whole: f32[F]) {
    let a = added(g, src: {x}, dst: {y}, edge: {w});
    (a, averaged(g, src: {x}), greatest(g, src: {i}), sum(a, axis: 0))
}
";

/// The degrees of sources need the transposed graph; a loop swaps buffers.
const WALK: &str = "
message pass(src: {r: f64, d: f64}) -> f64 { edge { src.r / src.d } reduce sum }
program walk(g: graph<N>, r: f64[N], steps: i64) -> (out: f64[N]) {
    let d = f64(out_degree(g));
    loop (x = r) for k < steps { pass(g, src: {r: x, d}) } in x
}
";

fn compiled(text: &str, fp: FpMode, tiny: bool) -> Road {
    let module = model("extremes.tg", text, &SemaOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    let mut options = CompileOptions::new(CpuTarget::Native, fp);
    if tiny {
        (options.law.row_leaf, options.law.set_leaf, options.law.acc) = (2, 2, Some(2));
    }
    Road::of_domain(&module, options).unwrap()
}

fn random(rng: &mut Rng, dtype: DType, shape: &[usize]) -> Value {
    let element = |rng: &mut Rng| match dtype {
        DType::F32 | DType::F64 => Scalar::from_f64(dtype, rng.f64() * 4.0 - 2.0),
        _ => Scalar::from_i64(dtype, rng.i64(-9..10)),
    };
    let elements = (0..shape.iter().product()).map(|_| element(rng)).collect();
    Tensor::new(dtype, shape.to_vec(), elements).unwrap().into()
}

/// Rows of 0 to 7 edges.
fn graph(rng: &mut Rng, num_src: usize, num_dst: usize) -> Relation {
    let (mut row_ptr, mut col) = (vec![0], Vec::new());
    for _ in 0..num_dst {
        let degree = if num_src == 0 { 0 } else { rng.usize(0..8) };
        col.extend((0..degree).map(|_| rng.i64(0..num_src as i64)));
        row_ptr.push(col.len() as i64);
    }
    Relation::csr(num_src, row_ptr, col).unwrap()
}

fn wide_values(rng: &mut Rng, num_src: usize, num_dst: usize, features: usize) -> Vec<Value> {
    let g = graph(rng, num_src, num_dst);
    let edges = g.num_edges();
    vec![
        g.into(),
        random(rng, DType::F32, &[num_src, features]),
        random(rng, DType::F64, &[num_dst]),
        random(rng, DType::F32, &[edges, features]),
        random(rng, DType::I32, &[num_src]),
    ]
}

/// Both modes and both shapes, against their interpreters.
fn agrees(text: &str, program: &str, values: &[Value], dims: &[(&str, i64)]) {
    let module = model("extremes.tg", text, &SemaOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    let context = Context::new(2).unwrap().with_order(UnitOrder::Shuffled(3));
    for (fp, tiny) in [(FpMode::Strict, false), (FpMode::Default, false), (FpMode::Default, true)] {
        let road = compiled(text, fp, tiny);
        let expected = match fp {
            FpMode::Strict => {
                let domain = run_domain(&module, program, values).unwrap();
                domain.into_iter().map(|v| result(v).unwrap()).collect()
            }
            FpMode::Default => road.interpret(program, values, dims).unwrap(),
        };
        for (got, expected) in road.run(program, values, dims, &context).unwrap().iter().zip(&expected) {
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
    let road = compiled(text, FpMode::Default, false);
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
        for (got, expected) in got.unwrap().iter().zip(&expected) {
            assert_eq!(difference(got, expected), None, "{threads} threads");
        }
    }
}
