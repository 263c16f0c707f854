//! The interpreters against values worked out by hand, and against plain Rust.

#![allow(clippy::unwrap_used, reason = "every function here is part of a test")]

mod domain;
mod kernel;
mod loops;
mod programs;
mod reducers;

use fastrand::Rng;
use tiga_ir::interp::{Buffer, Element, Relation, Tensor, Value};
use tiga_ir::{Module, parse_module};

/// Parses a text together with the reducers that tests use.
fn module(text: &str) -> Module {
    let text = format!("{}{text}", reducers::ALL);
    parse_module("test.tir", &text).unwrap_or_else(|e| panic!("{e}"))
}

fn tensor<T: Element>(shape: &[usize], numbers: &[T]) -> Value {
    Tensor::of(shape, numbers).unwrap().into()
}

fn field<T: Element>(numbers: &[T]) -> Value {
    tensor(&[numbers.len()], numbers)
}

fn scalar<T: Element>(number: T) -> Value {
    tensor(&[], &[number])
}

fn csr(num_src: usize, row_ptr: &[i64], col: &[i64]) -> Relation {
    Relation::csr(num_src, row_ptr.to_vec(), col.to_vec()).unwrap()
}

fn unwritten<T: Element>(shape: &[usize]) -> Value {
    Buffer::unwritten(T::DTYPE, shape).unwrap().into()
}

/// The numbers of a tensor or of written memory.
fn numbers<T: Element>(value: &Value) -> Vec<T> {
    let tensor = match value {
        Value::Tensor(t) => t.clone(),
        Value::Buffer(b) => b.tensor().unwrap_or_else(|i| panic!("element {i} is not written")),
        Value::Rel(_) => panic!("a relation has no numbers"),
    };
    tensor.numbers().unwrap()
}

/// Numbers and graphs, always the same for a seed.
struct Random(Rng);

impl Random {
    fn of_seed(seed: u64) -> Self {
        Random(Rng::with_seed(seed))
    }

    fn below(&mut self, n: usize) -> usize {
        self.0.usize(0..n)
    }

    fn f32s(&mut self, n: usize) -> Vec<f32> {
        (0..n).map(|_| self.0.f32() - 0.5).collect()
    }

    /// Rows of up to `degree` edges; each `hub`-th one has ten times as many.
    fn graph(&mut self, num_src: usize, num_dst: usize, degree: usize, hub: usize) -> Relation {
        let (mut row_ptr, mut col) = (vec![0], Vec::new());
        for row in 0..num_dst {
            let factor = if hub > 0 && row % hub == 0 { 10 } else { 1 };
            for _ in 0..self.below(degree + 1) * factor {
                col.push(self.below(num_src) as i64);
            }
            row_ptr.push(col.len() as i64);
        }
        Relation::csr(num_src, row_ptr, col).unwrap()
    }
}

fn assert_bits(found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len());
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!(a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()), "element {i}: {a:?}, expected {b:?}");
    }
}

fn assert_close(found: &[f32], expected: &[f32], tolerance: f32) {
    assert_eq!(found.len(), expected.len());
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        let close = (a - b).abs() <= tolerance * b.abs().max(1.0);
        assert!(close, "element {i}: {a:?}, expected {b:?}");
    }
}
