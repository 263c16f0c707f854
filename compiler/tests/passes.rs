//! The runner and the pipelines: order, failures that name their pass, what is printed.
#![allow(clippy::unwrap_used)]

use tiga_abi::FpMode;
use tiga_ir::verify::{Machine, verify};
use tiga_ir::{Level, Module, parse_module, print_module};
use tigac::passes::domain::{inline, lower_to_loops};
use tigac::passes::loops::contract;
use tigac::passes::ssa::{canonicalise, cse, dce};
use tigac::passes::{self, ALL, Pass, PassError, PassOptions, PipelineError, Printing, Remarks, Watch, run};
use tigac::pipeline::{self, PASSES};

const MODEL: &str = "
reducer @sum.f32 state(s: f32 = -0.0) -> (f32 = 0.0) laws(associative, commutative) {
  lift (%x: f32) { yield %x }
  combine (%a: f32, %b: f32) {
    %r = add %a, %b : f32
    yield %r
  }
  finalize (%s: f32) { yield %s }
}
domain @heat<set S, set D, edges E, dim F>(%g: graph<csr, S -> D, E>, %T: f32[S, F], %b: f32[D], %c: f32[E]) -> (out: f32[D, F], all: f32[F]) {
  %one = const value(f32 1.0) : f32
  %scaled = mul %T, %one : f32[S, F]
  %out = apply %g, %scaled, %b, %c roles(src, dst, edge) targets(row @sum.f32) (%t: f32[F], %b0: f32, %w: f32) {
    %m = mul %w, %t : f32[F]
    yield %m
  } (%total: f32[F], %b0: f32) {
    %o = add %total, %b0 : f32[F]
    yield %o
  } : f32[D, F]
  %e = exp %out : f32[D, F]
  %unused = log %e : f32[D, F]
  %all = reduce_set %e with(@sum.f32) : f32[F]
  return %out, %all
}
";

fn model() -> Module {
    parse_module("heat.tir", MODEL).unwrap()
}

fn quiet(passes: &[Pass], module: Module, fp: FpMode) -> Result<Module, PipelineError> {
    run(module, passes, &PassOptions::new(fp), &Watch::default(), &mut std::io::sink())
}

#[test]
fn flags_are_unique_and_name_their_passes() {
    for (i, pass) in ALL.iter().enumerate() {
        assert_eq!(passes::named(&pass.flag()).map(|p| p.name), Ok(pass.name));
        assert!(ALL[..i].iter().all(|other| other.flag() != pass.flag()));
    }
}

#[test]
fn every_pass_of_the_pipeline_finds_functions_of_its_levels() {
    let mut levels = vec![Level::Domain];
    for pass in PASSES {
        assert!(pass.levels.iter().any(|level| levels.contains(level)), "{} stands too early or late", pass.name);
        match pass.makes {
            Some(Level::Loops) => levels = vec![Level::Host, Level::Loops],
            Some(level) => levels.push(level),
            None => {}
        }
    }
    assert!(levels.contains(&Level::Kernel));
}

#[test]
fn after_each_pass_the_module_keeps_all_laws_and_its_text() {
    for fp in [FpMode::Default, FpMode::Strict] {
        let mut module = model();
        for pass in PASSES {
            module = quiet(&[*pass], module, fp).unwrap_or_else(|e| panic!("{e}"));
            let text = print_module(&module);
            let again = parse_module("again.tir", &text).unwrap_or_else(|e| panic!("after {}: {e}", pass.name));
            assert_eq!(print_module(&again), text, "after {}", pass.name);
            verify(&again, Machine::FULL).unwrap_or_else(|e| panic!("after {}: {e}", pass.name));
        }
        let fused = print_module(&module).contains("= fma ");
        assert_eq!(fused, fp == FpMode::Default);
    }
}

#[test]
fn passes_are_idempotent() {
    let cleaning = [canonicalise::PASS, cse::PASS, dce::PASS];
    for fp in [FpMode::Default, FpMode::Strict] {
        let loops = quiet(&[inline::PASS, lower_to_loops::PASS], model(), fp).unwrap();
        let once = quiet(&[cleaning.as_slice(), &[contract::PASS, dce::PASS]].concat(), loops, fp).unwrap();
        for pass in cleaning.iter().chain([&contract::PASS]) {
            let twice = quiet(&[*pass], once.clone(), fp).unwrap();
            assert_eq!(print_module(&twice), print_module(&once), "{}", pass.name);
        }
    }
}

#[test]
fn nothing_is_contracted_in_strict_mode_or_without_fma() {
    let loops = quiet(&[inline::PASS, lower_to_loops::PASS], model(), FpMode::Default).unwrap();
    let contracted = |options: &PassOptions| {
        let module = run(loops.clone(), &[contract::PASS], options, &Watch::default(), &mut std::io::sink()).unwrap();
        print_module(&module).contains("= fma ")
    };
    let mut options = PassOptions::new(FpMode::Default);
    assert!(contracted(&options));
    options.machine.fma = false;
    assert!(!contracted(&options));
    assert!(!contracted(&PassOptions::new(FpMode::Strict)));
}

#[test]
fn a_failure_names_the_pass() {
    let breaks: fn(&Module, &PassOptions, &mut Remarks) -> Result<Module, PassError> = |module, _, _| {
        let mut out = module.clone();
        let func = &mut out.funcs["heat"];
        let entry = func.body.entry(func.region);
        func.body.block_mut(entry).insts.clear();
        Ok(out)
    };
    let bad =
        Pass { name: "lose_everything", about: "", levels: &[Level::Domain], makes: None, needed: true, run: breaks };
    let error = quiet(&[cse::PASS, bad, dce::PASS], model(), FpMode::Default).unwrap_err();
    assert!(matches!(&error, PipelineError::Broken { pass, .. } if pass == "lose-everything"), "{error}");
    assert!(error.to_string().contains("domain @heat breaks MissingTerminator"), "{error}");
    let input = parse_module("f.tir", "domain @f(%x: f32) { yield }").unwrap();
    assert!(matches!(quiet(&[], input, FpMode::Default).unwrap_err(), PipelineError::Input(_)));
}

#[test]
fn a_pipeline_stops_at_a_level_and_prints_what_is_asked_for() {
    let options = PassOptions::new(FpMode::Default);
    for (level, made) in [(Level::Domain, 0), (Level::Host, 1), (Level::Loops, 1), (Level::Kernel, 2)] {
        let mut out = Vec::new();
        let print = Printing::After(vec!["lower-to-loops".into(), "lower-to-kernels".into()]);
        let watch = Watch { stop_after: Some(level), print, time: true, ..Watch::default() };
        run(model(), PASSES, &options, &watch, &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        assert_eq!(out.matches("// after ").count(), made, "{level}");
        assert!(out.contains(" ms  canonicalise\n"), "{out}");
    }
}

#[test]
fn kernels_belong_to_their_loops_functions() {
    let mut options = PassOptions::new(FpMode::Default);
    options.kernel.specialize = vec![("F".into(), 16)];
    let lowered = pipeline::lower(model(), &options, &Watch::default(), &mut std::io::sink()).unwrap();
    let loops = lowered.loops.funcs.values().filter(|f| f.level == Level::Loops);
    let names: Vec<_> = loops.map(|f| f.name.clone()).collect();
    assert_eq!(lowered.kernels.iter().map(|set| set.source.clone()).collect::<Vec<_>>(), names);
    assert!(lowered.kernels.iter().all(|set| set.variants.last().unwrap().name.ends_with(".any")));
    assert!(lowered.kernels.iter().any(|set| set.variants.len() > 3));
}
