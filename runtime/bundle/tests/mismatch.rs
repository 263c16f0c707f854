//! Contents whose parts contradict each other are neither written nor read.

#![allow(clippy::unwrap_used, reason = "every function here is part of a test")]

mod sample;

use tiga_bundle::*;
use tiga_plan::{Mode, TaskId, TaskKind};

fn refused(change: impl FnOnce(&mut Contents)) -> Mismatch {
    let mut contents = sample::contents();
    change(&mut contents);
    match write(&contents) {
        Err(WriteError::Refused(error)) => match *error {
            BundleError::Mismatch(mismatch) => mismatch,
            other => panic!("{other}"),
        },
        other => panic!("{other:?}"),
    }
}

fn kernel(contents: &mut Contents) -> &mut Kernel {
    &mut contents.manifest.kernels[0]
}

fn program(contents: &mut Contents) -> &mut Program {
    &mut contents.manifest.programs[0]
}

#[test]
fn names_stand_once() {
    let twice = |name: &str| Mismatch::Name(name.into());
    let again = |c: &mut Contents| c.manifest.kernels.push(sample::contents().manifest.kernels.remove(0));
    assert_eq!(refused(again), twice("heat.0"));
    assert_eq!(refused(|c| kernel(c).syms.push("S".into())), twice("S"));
    let again = |c: &mut Contents| program(c).params.push(sample::contents().manifest.programs[0].params[1].clone());
    assert_eq!(refused(again), twice("T"));
}

#[test]
fn entries_are_called_as_the_format_says() {
    let mut contents = sample::contents();
    contents.manifest.targets[0].entry = "manifest.json".into();
    let expected = Mismatch::Entry { found: "manifest.json".into(), expected: "kernels/x86-64-v3.so".into() };
    assert_eq!(refused(|c| *c = contents), expected);
}

#[test]
fn sizes_are_declared() {
    let expected = Mismatch::Symbol { place: "heat.0".into(), symbol: "D".into() };
    assert_eq!(refused(|c| drop(kernel(c).syms.pop())), expected);
    let edges = |c: &mut Contents| drop(program(c).symbols.pop());
    assert_eq!(refused(edges), Mismatch::Symbol { place: "g".into(), symbol: "E".into() });
    let expected = Mismatch::PlanSymbol { program: "heat".into(), symbol: "Q".into() };
    assert_eq!(refused(|c| c.plans[0].symbols.push("Q".into())), expected);
    let expected = Mismatch::KernelSymbol { program: "heat".into(), kernel: "heat.0".into(), symbol: "Q".into() };
    assert_eq!(refused(|c| kernel(c).syms.push("Q".into())), expected);
}

#[test]
fn a_kernel_serves_all_sizes() {
    assert_eq!(refused(|c| drop(kernel(c).variants.pop())), Mismatch::NoGeneric("heat.0".into()));
    assert_eq!(refused(|c| kernel(c).variants.clear()), Mismatch::NoGeneric("heat.0".into()));
}

#[test]
fn results_are_arrays() {
    let graph = |c: &mut Contents| program(c).results[0].ty = program(c).params[0].ty.clone();
    assert_eq!(refused(graph), Mismatch::GraphResult("out".into()));
}

#[test]
fn plans_fit_their_programs_and_kernels() {
    let other = |c: &mut Contents| match &mut c.plans[0].root.tasks[TaskId::from_u32(0)].kind {
        TaskKind::Kernel { symbol, .. } => *symbol = "cold.0".into(),
        _ => unreachable!(),
    };
    assert_eq!(refused(other), Mismatch::Kernel { program: "heat".into(), kernel: "cold.0".into() });
    let argument = |parameter: &str| Mismatch::Argument {
        program: "heat".into(),
        task: "k:0".into(),
        parameter: parameter.into(),
    };
    assert_eq!(refused(|c| drop(kernel(c).ptrs.pop())), argument("out"));
    assert_eq!(refused(|c| kernel(c).ptrs[1].dtype = tiga_abi::DType::F64), argument("T"));
    let more = Pointer { parameter: "b".into(), dtype: tiga_abi::DType::F32, mode: Mode::Read };
    assert_eq!(refused(|c| kernel(c).ptrs.push(more)), argument("b"));
}

#[test]
fn the_first_guard_that_holds_selects() {
    let contents = sample::contents();
    let kernel = &contents.manifest.kernels[0];
    let entry = |s, d| kernel.select(&|name| [("S", s), ("D", d)].into_iter().find(|x| x.0 == name)?.1).unwrap();
    assert_eq!(entry(Some(16), Some(5)).entry, "heat.0.v16");
    assert_eq!(entry(Some(16), Some(1 << 31)).entry, "heat.0.any");
    assert_eq!(entry(None, Some(5)).entry, "heat.0.any");
    assert_eq!(kernel.variants[0].guard.to_string(), "S == 16 && D < 2147483648");
    assert_eq!(Guard::ALWAYS.to_string(), "true");
}
