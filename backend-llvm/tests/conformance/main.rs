//! The conformance suite of backends, run on this one: every instruction × element type × shape is compiled,
//! loaded and executed between guard pages, and compared bit for bit with what the op evaluates to.
//!
//! `case`, `elementwise`, `structural`, `coverage` and `values` know no backend; another one brings its own
//! `native` and a `main` like this.

// A test crate: a failed unwrap is a failed test, in helpers too.
#![allow(clippy::unwrap_used)]

mod case;
mod coverage;
mod elementwise;
mod forms;
mod native;
mod refusals;
mod structural;
mod values;

use case::{Case, Shape, bytes, elements};
use coverage::Coverage;
use native::{Array, Guard, Library};
use std::io::Write;
use std::process::{Command, Stdio};
use tiga_abi::{CpuTarget, Symbol};
use tiga_backend_llvm::{OptLevel, Options, compile, native_features, required_features, symbol_name};
use tiga_ir::interp::{self, Buffer, KernelCall, KernelMemory, Tensor, run_kernel};
use tiga_ir::verify::{Machine, verify};
use tiga_ir::{Module, Scalar, parse_module};

fn suite(shapes: &[Shape]) -> (Vec<Case>, Module) {
    let cases: Vec<Case> = elementwise::cases(shapes).into_iter().chain(structural::cases(shapes)).collect();
    let text: String = cases.iter().map(|c| c.text.as_str()).collect();
    (cases, parse_module("cases.tir", &text).unwrap())
}

/// Every instruction in every shape.
fn everything(target: CpuTarget, opt: OptLevel) {
    let (cases, module) = suite(&Shape::ALL);
    let coverage = run_all(&module, &cases, &Options { target, opt });
    println!("{target} {opt:?}: {} cases\n{coverage}", cases.len());
    assert_eq!(coverage.missing(), Vec::<String>::new(), "cells without a case");
}

#[test]
fn everything_on_level_three_unoptimised() {
    everything(CpuTarget::X86_64V3, OptLevel::O0);
}

#[test]
fn everything_on_level_three() {
    everything(CpuTarget::X86_64V3, OptLevel::O);
}

#[test]
fn everything_on_this_machine_unoptimised() {
    everything(CpuTarget::Native, OptLevel::O0);
}

#[test]
fn everything_on_this_machine() {
    everything(CpuTarget::Native, OptLevel::O);
}

/// Level 2 has no fused multiply-add and no conversions of `f16`: those alone are without a case.
fn everything_without(opt: OptLevel) {
    let (cases, module) = suite(&Shape::ALL);
    let target = CpuTarget::X86_64V2;
    let fits = |case: &Case| {
        let kernel = module.funcs[&*case.name].clone();
        let alone = Module { funcs: [(kernel.name.clone(), kernel)].into(), ..Module::new() };
        verify(&alone, Machine::from(target)) == verify(&alone, Machine::FULL)
    };
    let cases: Vec<Case> = cases.into_iter().filter(fits).collect();
    let coverage = run_all(&module, &cases, &Options { target, opt });
    let cell = |what: &'static str| Shape::ALL.map(|shape| format!("{what} × {}", shape.lanes()));
    assert_eq!(coverage.missing(), [cell("fma f32"), cell("fma f64"), cell("cast f16")].concat());
}

#[test]
fn everything_that_level_two_has_unoptimised() {
    everything_without(OptLevel::O0);
}

#[test]
fn everything_that_level_two_has() {
    everything_without(OptLevel::O);
}

#[test]
fn everything_on_level_four() {
    let here = native_features();
    match required_features(CpuTarget::X86_64V4).into_iter().find(|feature| !here.contains(feature)) {
        Some(feature) => println!("skipped: this machine has no {feature}"),
        None => everything(CpuTarget::X86_64V4, OptLevel::O),
    }
}

#[test]
fn widths_that_no_register_has() {
    let (cases, module) = suite(&Shape::ODD);
    run_all(&module, &cases, &Options { target: CpuTarget::X86_64V3, opt: OptLevel::O });
}

/// The interpreter is the other implementation of the level: it also checks that no case reads outside of its
/// arrays, which a guard page notices only at their ends.
#[test]
fn the_interpreter_agrees() {
    let (cases, module) = suite(&Shape::ALL);
    for case in &cases {
        let func = &module.funcs[&*case.name];
        let (out, inputs) = case.arrays.split_last().unwrap();
        let tensor = |a: &[Scalar]| Tensor::new(a[0].dtype(), vec![a.len()], a.to_vec()).unwrap();
        let mut memory: Vec<_> = inputs.iter().map(|a| KernelMemory::lent(&tensor(a))).collect();
        memory.push(KernelMemory::from(&Buffer::from(&tensor(out))));
        let call = KernelCall { sym: &case.sym, memory: &mut memory, units: 0..case.units };
        run_kernel(func, call, &interp::Options::default()).unwrap_or_else(|e| panic!("{}: {e}", case.name));
        let got = memory.last().unwrap().buffer(out[0].dtype(), &[out.len()]).unwrap();
        assert!(got.same(&Buffer::from(&tensor(&case.expected))), "{}", case.name);
    }
}

fn run_all(module: &Module, cases: &[Case], options: &Options) -> Coverage {
    let names: Vec<Symbol> = cases.iter().map(|c| c.name.as_str().into()).collect();
    let compiled = compile(module, &names, options).unwrap();
    verify_outside(compiled.llvm_ir());
    let library = Library::load(&compiled.shared_object().unwrap());
    let mut coverage = Coverage::default();
    for case in cases {
        for guard in [Guard::Before, Guard::After, Guard::Neither(8)] {
            run(&library, case, guard, options);
        }
        coverage.add(case);
    }
    coverage
}

fn run(library: &Library, case: &Case, guard: Guard, options: &Options) {
    let arrays: Vec<Array> = case.arrays.iter().map(|a| Array::new(&bytes(a), guard)).collect();
    library.run(&symbol_name(&case.name), &case.sym, &arrays.iter().collect::<Vec<_>>(), None, (0, case.units));
    let (last, inputs) = arrays.split_last().unwrap();
    let got = elements(case.expected[0].dtype(), &last.bytes());
    for (i, (got, expected)) in got.iter().zip(&case.expected).enumerate() {
        let inputs: Vec<_> = case.arrays.iter().filter_map(|a| a.get(i)).collect();
        assert!(got.same(*expected), "{} {options:?} [{i}] of {inputs:?}: {got:?}, not {expected:?}", case.name);
    }
    assert_eq!(got.len(), case.expected.len(), "{}", case.name);
    for (array, before) in inputs.iter().zip(&case.arrays) {
        assert_eq!(array.bytes(), bytes(before), "{} wrote an input", case.name);
    }
}

/// LLVM's own tool as an outside judge.
pub fn verify_outside(llvm_ir: &str) {
    let mut opt = Command::new("opt-22")
        .args(["-passes=verify", "-disable-output", "-"])
        .stdin(Stdio::piped())
        .spawn()
        .expect("opt-22 is installed (package llvm-22)");
    opt.stdin.take().unwrap().write_all(llvm_ir.as_bytes()).unwrap();
    assert!(opt.wait().unwrap().success(), "opt-22 refuses the module");
}
