//! Kernels touch nothing outside of their arrays: each array, borrowed or the runtime's own, ends or begins where memory
//! does. The allocator of this test fences off all memory of the process while it is on, so other tests stay elsewhere.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]
#![allow(unsafe_code, reason = "a death that must be seen")]

mod fence;

use fastrand::Rng;
use fence::{Fence, Side};
use std::os::unix::process::ExitStatusExt;
use testsuite::road::{Road, difference, model};
use tiga_abi::{CpuTarget, DType, FpMode};
use tiga_ir::Scalar;
use tiga_ir::interp::{Relation, Tensor, Value};
use tiga_runtime::{Context, UnitOrder};
use tigac::pack::CompileOptions;
use tigac::sema::SemaOptions;

#[global_allocator]
static FENCE: Fence = Fence::new();

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

fn compiled(text: &str, tiny: bool) -> Road {
    let module = model("extremes.tg", text, &SemaOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    let mut options = CompileOptions::new(CpuTarget::Native, FpMode::Default);
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

#[test]
fn kernels_stay_inside_their_arrays() {
    let context = Context::new(2).unwrap().with_order(UnitOrder::Shuffled(9));
    let roads = [false, true].map(|tiny| (compiled(WIDE, tiny), compiled(WALK, tiny)));
    let mut rng = Rng::with_seed(2);
    let fenced = |road: &Road, program: &str, values: &[Value], dims: &[(&str, i64)]| {
        let expected = road.interpret(program, values, dims).unwrap();
        for side in [Side::End, Side::Begin] {
            let on = FENCE.on(side);
            let got = road.run(program, values, dims, &context);
            drop(on);
            for (got, expected) in got.unwrap().iter().zip(&expected) {
                assert_eq!(difference(got, expected), None, "{program} {dims:?}");
            }
        }
    };
    for (wide, walk) in &roads {
        // Odd numbers of rows and features put arrays at addresses that are multiples of their elements only.
        for features in 0..20 {
            let values = wide_values(&mut rng, 7, 5, features);
            fenced(wide, "wide", &values, &[("F", features as i64)]);
        }
        for nodes in 0..12 {
            let g = graph(&mut rng, nodes, nodes);
            let steps = Tensor::of(&[], &[3i64]).unwrap();
            fenced(walk, "walk", &[g.into(), random(&mut rng, DType::F64, &[nodes]), steps.into()], &[]);
        }
    }
}

/// Not a test of its own: what the next test starts as another process.
#[test]
fn trespass() {
    let Ok(side) = std::env::var("TIGA_TRESPASS") else { return };
    let on = FENCE.on(if side == "end" { Side::End } else { Side::Begin });
    let array = Vec::from([1u32; 5]);
    drop(on);
    let begin = array.as_ptr();
    let outside = if side == "end" { begin.wrapping_add(5) } else { begin.wrapping_sub(1) };
    // SAFETY: there is none: the fence must end this process here.
    std::process::exit(unsafe { outside.read_volatile() } as i32 & 1);
}

#[test]
fn the_fence_holds() {
    for side in ["end", "begin"] {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        let status = command.args(["--exact", "trespass"]).env("TIGA_TRESPASS", side).output().unwrap().status;
        assert_eq!(status.signal(), Some(libc::SIGSEGV), "{side}: {status}");
    }
}
