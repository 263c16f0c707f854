//! Lowerings keep the text form: every level prints and parses back.
#![allow(clippy::unwrap_used)]

use tiga_abi::FpMode;
use tiga_ir::{Module, parse_module, print_module};
use tigac::lower::{ReductionLaw, domain, plan};
use tigac::passes::loops::{lower_to_kernels, split_units};
use tigac::passes::{PassOptions, Remarks};
use tigac::pipeline;

const SUM: &str = r#"
reducer @sum.f32 state(s: f32 = -0.0) -> (f32 = 0.0) laws(associative, commutative) {
  lift (%x: f32) { yield %x }
  combine (%a: f32, %b: f32) { %r = add %a, %b : f32 yield %r }
  finalize (%s: f32) { yield %s }
}
"#;

const PAGERANK: &str = r#"
domain @pagerank<set N, edges E, dim F>(%g: graph<csr, N -> N, E>, %x: f32[N, F], %w: f32[F, 7], %tol: f32) -> (y: f32[N, 7], r: f32[F]) {
  %t = transpose %g : graph<transpose, N -> N, E>
  %deg = degree %t : i64[N]
  %degf = cast %deg to(f32) : f32[N]
  %scaled = div %x, %degf : f32[N, F]
  %one = const value(f32 1.0) : f32
  %bound = const value(f32 1.0e30) : f32
  %r, %delta = while %scaled, %bound at_most(50) (%r: f32[N, F], %delta: f32) {
    %go = gt %delta, %tol : bool
    yield %go
  } (%r: f32[N, F], %delta: f32) {
    %next = apply %g, %r roles(src) targets(row @sum.f32) (%v: f32[F]) {
      yield %v
    } : f32[N, F]
    %diff = sub %next, %r : f32[N, F]
    %abs = abs %diff : f32[N, F]
    %rows = reduce_axis %abs axis(0) with(@sum.f32) : f32[N]
    %sum = reduce_set %rows with(@sum.f32) : f32
    yield %next, %sum
  } : f32[N, F], f32
  %total = reduce_set %r with(@sum.f32) : f32[F]
  %y = matmul %r, %w : f32[N, 7]
  %e = exp %y : f32[N, 7]
  return %e, %total
}
"#;

fn round_trip(module: &Module) -> String {
    let text = print_module(module);
    let again = print_module(&parse_module("again.tir", &text).unwrap_or_else(|e| panic!("{e}\n{text}")));
    assert_eq!(text, again);
    text
}

#[test]
fn a_program_goes_down_all_levels() {
    let source = parse_module("pagerank.tir", &[SUM, PAGERANK].concat()).unwrap();
    let loops = domain::lower(&source, &ReductionLaw::new(FpMode::Default), &mut Remarks::default()).unwrap();
    round_trip(&loops);
    let split = split_units::run(&loops).unwrap();
    let text = round_trip(&split);
    assert!(text.contains("space(short(512))") && text.contains("join"), "{text}");
    let mut options = PassOptions::new(FpMode::Default);
    options.kernel.specialize = vec![("F".into(), 16)];
    let sets = pipeline::apart(lower_to_kernels::run(&split, &options, &mut Remarks::default()).unwrap()).kernels;
    let template = plan::lower(&split, &split.funcs["pagerank"], &sets).unwrap();
    template.verify().unwrap();
    assert!(!plan::kernels(&split, &sets).unwrap().is_empty());
    for set in sets {
        let mut module = Module::new();
        for variant in set.variants {
            module.add(variant);
        }
        let text = round_trip(&module);
        if std::env::var_os("SHOW").is_some() {
            println!("{text}");
        }
    }
    if std::env::var_os("SHOW").is_some() {
        println!("{}", print_module(&split));
    }
}
