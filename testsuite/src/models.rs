//! Models that touch every kind of memory a kernel has, and random values for them.

use crate::road::{Road, model};
use anyhow::Result;
use fastrand::Rng;
use tiga_abi::{CpuTarget, DType, FpMode};
use tiga_ir::Scalar;
use tiga_ir::interp::{Relation, Tensor, Value};
use tigac::pack::CompileOptions;
use tigac::sema::SemaOptions;

/// Wide messages over all roles, with every kind of reducer.
pub const WIDE: &str = "
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

/// Features at the end of a row whose positions are taken apart, turned and put together again, lane by lane.
pub const TURNED: &str = "
message transposed<F>(src: {x: f32[3 * F]}, w: f32[F]) -> f32[3 * F] {
    edge { reshape(transpose_axes(reshape(src.x, [F, 3]), 0, 1), [3 * F]) }
    reduce sum
}
program turned<F>(g: graph<N>, x: f32[N, 3 * F], w: f32[F]) -> (y: f32[N, 3 * F]) { transposed(g, src: {x}, w) }
";

/// Elements of two bytes as arguments, results and a scalar.
pub const HALVES: &str = "
message add(src: {x: f16}, edge: {w: bf16}) -> f16 { edge { src.x * f16(edge.w) } reduce sum }
program halves(g: graph<N>, x: f16[N], w: bf16[g.edges], k: f16) -> (y: f16[N], z: bf16[N]) {
    let y = k * add(g, src: {x}, edge: {w});
    (y, bf16(y))
}
";

/// The degrees of sources need the transposed graph; a loop swaps buffers.
pub const WALK: &str = "
message pass(src: {r: f64, d: f64}) -> f64 { edge { src.r / src.d } reduce sum }
program walk(g: graph<N>, r: f64[N], steps: i64) -> (out: f64[N]) {
    let d = f64(out_degree(g));
    loop (x = r) for k < steps { pass(g, src: {r: x, d}) } in x
}
";

/// A dense product, whose rows go together and whose matrix is packed.
pub const DENSE: &str = "
program dense<set N, K, F>(x: f32[N, K], w: f32[K, F]) -> (y: f32[N, F]) { x @ w }
";

/// A model compiled for this machine; with `tiny`, in leaves of two with two accumulators.
///
/// # Errors
/// Some stage refuses it.
pub fn compiled(text: &str, fp: FpMode, tiny: bool) -> Result<Road> {
    specialised(text, fp, tiny, &[])
}

/// The same, also for some extents of `F`.
///
/// # Errors
/// Some stage refuses it.
pub fn specialised(text: &str, fp: FpMode, tiny: bool, features: &[i64]) -> Result<Road> {
    let module = model("model.tg", text, &SemaOptions::default())?;
    let mut options = CompileOptions::new(CpuTarget::Native, fp);
    options.specialize = features.iter().map(|extent| ("F".into(), *extent)).collect();
    if tiny {
        (options.law.row_leaf, options.law.set_leaf, options.law.acc) = (2, 2, Some(2));
    }
    Road::of_domain(&module, options)
}

/// Numbers of −2 to 2, integers of −9 to 9.
pub fn random(rng: &mut Rng, dtype: DType, shape: &[usize]) -> Value {
    let element = |rng: &mut Rng| match dtype {
        DType::F16 | DType::BF16 | DType::F32 | DType::F64 => Scalar::from_f64(dtype, rng.f64() * 4.0 - 2.0),
        _ => Scalar::from_i64(dtype, rng.i64(-9..10)),
    };
    let elements = (0..shape.iter().product()).map(|_| element(rng)).collect();
    Tensor::new(dtype, shape.to_vec(), elements).expect("as many as the shape says").into()
}

/// Rows of 0 to 7 edges.
pub fn graph(rng: &mut Rng, num_src: usize, num_dst: usize) -> Relation {
    let (mut row_ptr, mut col) = (vec![0], Vec::new());
    for _ in 0..num_dst {
        let degree = if num_src == 0 { 0 } else { rng.usize(0..8) };
        col.extend((0..degree).map(|_| rng.i64(0..num_src as i64)));
        row_ptr.push(col.len() as i64);
    }
    Relation::csr(num_src, row_ptr, col).expect("columns are below num_src")
}

/// The parameters of [`WIDE`].
pub fn wide_values(rng: &mut Rng, num_src: usize, num_dst: usize, features: usize) -> Vec<Value> {
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
