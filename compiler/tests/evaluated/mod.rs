//! Models in the domain interpreter: what the tests of functions and reducers share.

use tiga_ir::interp::{Element, Relation, Tensor, Value, run_domain};
use tiga_ir::{Module, parse_module, print_module, verify};
use tigac::driver::Front;
use tigac::sema::SemaOptions;

/// A model's module, which is verified and comes back from its text.
#[track_caller]
pub fn module(text: &str) -> Module {
    let front = Front::of_text("model.tg", text.into(), &SemaOptions::default()).unwrap();
    let shown: Vec<String> = front.diagnostics.iter().map(|d| d.render(&front.sources, false)).collect();
    assert!(shown.is_empty(), "{}", shown.join("\n"));
    let module = front.analysis.ir;
    verify::verify(&module, verify::Machine::FULL).unwrap_or_else(|e| panic!("{e}\n{}", print_module(&module)));
    let printed = print_module(&module);
    assert_eq!(print_module(&parse_module("model.tir", &printed).unwrap()), printed);
    module
}

/// A tensor of numbers.
pub fn tensor<T: Element>(shape: &[usize], numbers: &[T]) -> Value {
    Value::Tensor(Tensor::of(shape, numbers).unwrap())
}

/// Four rows: two messages, none, three, one.
pub fn graph() -> Value {
    Value::from(Relation::csr(4, vec![0, 2, 2, 5, 6], vec![0, 2, 1, 0, 3, 3]).unwrap())
}

/// The results of program `p`.
#[track_caller]
pub fn run(text: &str, args: &[Value]) -> Vec<Tensor> {
    let module = module(text);
    let results = run_domain(&module, "p", args).unwrap_or_else(|e| panic!("{e}\n{}", print_module(&module)));
    results.into_iter().map(|v| v.as_tensor().unwrap().clone()).collect()
}
