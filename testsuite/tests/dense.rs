//! Dense products at the sizes where their kernels take another way: blocks of rows, rows that go together, tiles, and
//! matrices that are packed. Each element is the left fold that the law says, of fused multiply-adds, bit for bit.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use testsuite::road::{Road, model};
use tiga_abi::{CpuTarget, FpMode};
use tiga_ir::interp::{Element, Tensor};
use tiga_runtime::Context;
use tigac::pack::CompileOptions;
use tigac::sema::SemaOptions;

/// Rows, terms of a sum, columns: at, below and above 24 rows, 96 rows, 4096 terms, and tiles of 64, 32, 16 and 8.
const SHAPES: [(usize, usize, usize); 13] = [
    (0, 5, 70),
    (30, 0, 70),
    (1, 3, 200),
    (7, 9, 1),
    (23, 40, 129),
    (24, 4096, 65),
    (25, 4097, 65),
    (26, 5000, 130),
    (96, 2, 64),
    (97, 1, 65),
    (100, 70, 130),
    (203, 33, 31),
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

/// `relu(x @ w + b)` of the compiled program on one and on two threads, and of the law.
fn compare<T: Element + PartialEq + std::fmt::Debug>(
    dtype: &str,
    target: CpuTarget,
    of: fn(f64) -> T,
    fma: fn(T, T, T) -> T,
    after: fn(T, T) -> T,
) {
    let text = format!(
        "program p<set N, K, M>(x: {dtype}[N, K], w: {dtype}[K, M], b: {dtype}[M]) -> (y: {dtype}[N, M]) {{\n    \
         relu(x @ w + b)\n}}"
    );
    let module = model("dense.tg", &text, &SemaOptions::default()).unwrap();
    let road = Road::of_domain(&module, CompileOptions::new(target, FpMode::Default)).unwrap();
    for (rows, terms, columns) in SHAPES {
        let make = |count, seed| -> Vec<T> { numbers(count, seed).into_iter().map(of).collect() };
        let (x, w, b) = (make(rows * terms, 3), make(terms * columns, 5), make(columns, 7));
        let mut expected = Vec::new();
        for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
            let fold = |sum: T, k: usize| fma(x[row * terms + k], w[k * columns + column], sum);
            let sum = if terms == 0 { of(0.0) } else { (0..terms).fold(of(-0.0), fold) };
            expected.push(after(sum, b[column]));
        }
        let tensor = |shape: &[usize], numbers: &[T]| Tensor::of(shape, numbers).unwrap().into();
        let values = [tensor(&[rows, terms], &x), tensor(&[terms, columns], &w), tensor(&[columns], &b)];
        for threads in [1, 2] {
            let got = road.run("p", &values, &[], &Context::new(threads).unwrap()).unwrap().swap_remove(0);
            let got: Vec<T> = got.numbers().unwrap();
            assert!(got == expected, "{rows} x {terms} @ {terms} x {columns} of {dtype} on {threads} threads");
        }
    }
}

#[test]
fn every_element_is_the_left_fold_of_its_terms() {
    for target in [CpuTarget::Native, CpuTarget::X86_64V3] {
        compare::<f32>("f32", target, |x| x as f32, f32::mul_add, |sum, b| (sum + b).max(0.0));
        compare::<f64>("f64", target, |x| x, f64::mul_add, |sum, b| (sum + b).max(0.0));
    }
}
