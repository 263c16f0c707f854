//! Folds at the sizes where their kernels take another way, against the law (docs/determinism.md) written out here: dense
//! products in blocks of rows, rows that go together, tiles, and matrices that are packed; sums over neighbours in lanes,
//! accumulators and leaves. Bit for bit, on one thread and on two.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use testsuite::models::random;
use testsuite::road::{Road, difference, model};
use tiga_abi::{CpuTarget, DType, FpMode};
use tiga_ir::interp::{Element, Relation, Tensor};
use tiga_runtime::Context;
use tigac::pack::CompileOptions;
use tigac::sema::SemaOptions;

/// Rows, terms of a sum, columns: at, below and above 24 rows, 96 rows, 2048 and 4096 terms, and tiles of 64, 32, 16 and
/// 8; the largest is packed in each of the pieces that two threads run.
const SHAPES: [(usize, usize, usize); 16] = [
    (0, 5, 70),
    (30, 0, 70),
    (1, 3, 200),
    (7, 9, 1),
    (23, 40, 129),
    (24, 4096, 65),
    (25, 4097, 65),
    (26, 5000, 130),
    (24, 2048, 66),
    (25, 2049, 66),
    (96, 2, 64),
    (97, 1, 65),
    (100, 70, 130),
    (203, 33, 31),
    (450, 40, 100),
    (50, 20, 8),
];

/// Numbers in -1..1 whose products round (xorshift; Marsaglia 2003).
fn numbers(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

/// `relu(x @ w + b)` and `x @ w` of the compiled program on one and on two threads, and of the law.
fn compare<T: Element>(
    dtype: &str,
    target: CpuTarget,
    of: fn(f64) -> T,
    fma: fn(T, T, T) -> T,
    after: fn(T, T) -> T,
    bits: fn(&T) -> u64,
) {
    let text = format!(
        "program p<set N, K, M>(x: {dtype}[N, K], w: {dtype}[K, M], b: {dtype}[M]) -> (y: {dtype}[N, M], z: {dtype}[N, M]) \
         {{\n    let z = x @ w;\n    (relu(z + b), z)\n}}"
    );
    let module = model("dense.tg", &text, &SemaOptions::default()).unwrap();
    let road = Road::of_domain(&module, CompileOptions::new(target, FpMode::Default)).unwrap();
    for (rows, terms, columns) in SHAPES {
        let make = |count, seed| -> Vec<T> { numbers(count, seed).into_iter().map(of).collect() };
        let (x, w, b) = (make(rows * terms, 3), make(terms * columns, 5), make(columns, 7));
        let mut expected = [Vec::new(), Vec::new()];
        for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
            let fold = |sum: T, k: usize| fma(x[row * terms + k], w[k * columns + column], sum);
            let sum = if terms == 0 { of(0.0) } else { (0..terms).fold(of(-0.0), fold) };
            expected[0].push(after(sum, b[column]));
            expected[1].push(sum);
        }
        let tensor = |shape: &[usize], numbers: &[T]| Tensor::of(shape, numbers).unwrap().into();
        let values = [tensor(&[rows, terms], &x), tensor(&[terms, columns], &w), tensor(&[columns], &b)];
        for threads in [1, 2] {
            let got = road.run("p", &values, &[], &Context::new(threads).unwrap()).unwrap();
            for (got, expected) in got.iter().zip(&expected) {
                let got: Vec<T> = got.numbers().unwrap();
                let same = got.iter().map(bits).eq(expected.iter().map(bits));
                assert!(same, "{rows} x {terms} @ {terms} x {columns} of {dtype} on {threads} threads");
            }
        }
    }
}

#[test]
fn every_element_is_the_left_fold_of_its_terms() {
    for target in [CpuTarget::Native, CpuTarget::X86_64V3] {
        compare::<f32>("f32", target, |x| x as f32, f32::mul_add, |sum, b| (sum + b).max(0.0), |x| x.to_bits().into());
        compare::<f64>("f64", target, |x| x, f64::mul_add, |sum, b| (sum + b).max(0.0), |x| x.to_bits());
    }
}

/// Elements of other types, packed and not, as the interpreter of the same kernels' loops has them.
#[test]
fn products_of_halves_and_integers_are_those_of_the_interpreter() {
    for dtype in [DType::F16, DType::BF16, DType::I32, DType::I64] {
        let text =
            format!("program p<set N, K, M>(x: {dtype}[N, K], w: {dtype}[K, M]) -> (y: {dtype}[N, M]) {{ x @ w }}");
        let module = model("dense.tg", &text, &SemaOptions::default()).unwrap();
        let road = Road::of_domain(&module, CompileOptions::new(CpuTarget::Native, FpMode::Default)).unwrap();
        for (rows, terms, columns) in [(30, 7, 140), (5, 6, 70), (50, 3, 9)] {
            let mut rng = fastrand::Rng::with_seed(17);
            let values = [[rows, terms], [terms, columns]].map(|shape| random(&mut rng, dtype, &shape));
            let got = road.run("p", &values, &[], &Context::new(2).unwrap()).unwrap().swap_remove(0);
            let expected = road.interpret("p", &values, &[]).unwrap().swap_remove(0);
            assert_eq!(difference(&got, &expected), None, "{rows} x {terms} @ {terms} x {columns} of {dtype}");
        }
    }
}

/// Degrees of rows: none, about the numbers of accumulators, and about one leaf of 512 edges and several.
const DEGREES: [usize; 16] = [0, 1, 2, 3, 4, 5, 15, 16, 17, 31, 40, 100, 511, 512, 513, 1600];

/// A row's sum of products: leaves of 512 edges, in each of them edge `i` in accumulator `i % count`; accumulators, then
/// leaves, are joined pairwise, level by level, an odd one moving up.
fn row(products: &[(f32, f32)], count: usize) -> f32 {
    let join = |mut level: Vec<f32>| {
        while level.len() > 1 {
            level = level.chunks(2).map(|pair| pair.iter().copied().reduce(|a, b| a + b).unwrap()).collect();
        }
        level.first().copied()
    };
    let leaf = |edges: &[(f32, f32)]| {
        let mut accumulators = vec![-0.0; count];
        for (i, (a, b)) in edges.iter().enumerate() {
            accumulators[i % count] = a.mul_add(*b, accumulators[i % count]);
        }
        join(accumulators).unwrap()
    };
    join(products.chunks(512).map(leaf).collect()).unwrap_or(0.0)
}

#[test]
fn every_row_is_the_tree_of_its_edges_or_the_most_of_them() {
    let nodes = DEGREES.len();
    let mut row_ptr = vec![0];
    row_ptr.extend(DEGREES.iter().scan(0, |sum, degree| {
        *sum += *degree as i64;
        Some(*sum)
    }));
    let edges = DEGREES.iter().sum();
    let col: Vec<i64> = (0..edges).map(|e| (e * e + 3 * e) as i64 % nodes as i64).collect();
    let graph = Relation::csr(nodes, row_ptr.clone(), col.clone()).unwrap();
    let text = "message product<F>(src: {x: f32[F]}, edge: {w: f32}) -> f32[F] { edge { edge.w * src.x } reduce sum }
        message nearest<F>(src: {x: f32[F]}, edge: {w: f32}) -> f32[F] { edge { -abs(edge.w * src.x) } reduce max }
        program p<F>(g: graph<N>, x: f32[N, F], w: f32[g.edges]) -> (y: f32[N, F], z: f32[N, F]) {
            (product(g, src: {x}, edge: {w}), nearest(g, src: {x}, edge: {w}))
        }";
    let module = model("rows.tg", text, &SemaOptions::default()).unwrap();
    let w: Vec<f32> = numbers(edges, 11).into_iter().map(|x| x as f32).collect();
    for target in [CpuTarget::Native, CpuTarget::X86_64V3] {
        let road = Road::of_domain(&module, CompileOptions::new(target, FpMode::Default)).unwrap();
        for (features, accumulators) in [(1, 16), (2, 4), (16, 4), (63, 4), (64, 1), (130, 1)] {
            let x: Vec<f32> = numbers(nodes * features, 13).into_iter().map(|x| x as f32).collect();
            let mut expected = [Vec::new(), Vec::new()];
            for (d, k) in (0..nodes).flat_map(|d| (0..features).map(move |k| (d, k))) {
                let edges = row_ptr[d] as usize..row_ptr[d + 1] as usize;
                let products: Vec<(f32, f32)> = edges.map(|e| (w[e], x[col[e] as usize * features + k])).collect();
                expected[0].push(row(&products, accumulators));
                let most = products.iter().map(|(a, b)| -(a * b).abs()).reduce(f32::max);
                expected[1].push(most.unwrap_or(f32::NEG_INFINITY));
            }
            let field = Tensor::of(&[nodes, features], &x).unwrap().into();
            let values = [graph.clone().into(), field, Tensor::of(&[edges], &w).unwrap().into()];
            for threads in [1, 2] {
                let got = road.run("p", &values, &[], &Context::new(threads).unwrap()).unwrap();
                for (got, expected) in got.iter().zip(&expected) {
                    let got: Vec<f32> = got.numbers().unwrap();
                    let same = got.iter().map(|x| x.to_bits()).eq(expected.iter().map(|x: &f32| x.to_bits()));
                    assert!(same, "{features} features on {threads} threads for {target:?}");
                }
            }
        }
    }
}
