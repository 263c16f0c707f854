//! How far the compiled math functions are from the exact value: all f16 and bf16, samples of f32 and f64, hard
//! arguments. `cargo xtask survey` runs the ignored test: all f32, and 10^9 arguments of each f64 function.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use std::sync::LazyLock;
use std::time::Instant;
use testsuite::accuracy::{
    BOUND, Draw, Exact, Found, Inputs, Kernels, LIMIT, Pair, Quick, Scaled, distance, exactly, programs, survey,
};
use tiga_abi::{CpuTarget, DType, FpMode};
use tiga_ir::math::MathFn;
use tiga_ir::{Module, print_module};
use tigac::pack::CompileOptions;
use tigac::passes::Watch;
use tigac::pipeline;

static QUICK: LazyLock<Quick> = LazyLock::new(|| Quick::new(&mut Exact::new()));

const FLOATS: [DType; 4] = [DType::F16, DType::BF16, DType::F32, DType::F64];

/// What the page promises, in units in the last place.
fn bound(function: MathFn, dtype: DType) -> f64 {
    match (function, dtype) {
        (MathFn::Sqrt, DType::F32 | DType::F64) => 0.5,
        // The f32 value is rounded once more.
        (_, DType::F16) => 0.5 + 1.0 / 8192.0,
        (_, DType::BF16) => 0.5 + 1.0 / 65536.0,
        _ => 1.0,
    }
}

/// Surveys a function, prints its row of the table, and demands its bound.
#[track_caller]
fn surveyed(kernels: &Kernels, function: MathFn, inputs: Inputs) -> Found {
    let found = survey(kernels, &QUICK, function, inputs).unwrap();
    println!("{found}");
    assert!(found.max_ulp <= bound(function, kernels.dtype), "{found:?}");
    found
}

/// All 65,536 arguments, and as many pairs for `pow`.
#[test]
fn halves_are_rounded_once_more() {
    for dtype in [DType::F16, DType::BF16] {
        let kernels = Kernels::new(dtype, FpMode::Default).unwrap();
        for function in MathFn::ALL {
            let found = surveyed(&kernels, function, Inputs::Every { step: 1 });
            assert!(found.not_nearest * 2_000 <= found.samples, "{found:?}");
        }
    }
}

#[test]
fn a_sample_of_f32_stays_within_its_bound() {
    let kernels = Kernels::new(DType::F32, FpMode::Default).unwrap();
    for function in MathFn::ALL {
        surveyed(&kernels, function, Inputs::Every { step: 4099 });
    }
}

#[test]
fn a_sample_of_f64_stays_within_its_bound() {
    let kernels = Kernels::new(DType::F64, FpMode::Default).unwrap();
    for function in MathFn::ALL {
        surveyed(&kernels, function, Inputs::Drawn(100_000));
    }
}

/// The kernels that all these tests run are those of the strict mode too.
#[test]
fn both_modes_have_the_same_kernels() {
    let kernels = |dtype, target, fp| {
        let options = CompileOptions::new(target, fp);
        let module = programs(dtype).unwrap();
        let lowered = pipeline::lower(module, &options.passes(), &Watch::default(), &mut std::io::sink()).unwrap();
        let mut kernels = Module::new();
        for kernel in lowered.kernels.into_iter().flat_map(|set| set.variants) {
            kernels.add(kernel);
        }
        print_module(&kernels)
    };
    for dtype in FLOATS {
        for target in [CpuTarget::X86_64V2, CpuTarget::X86_64V3, CpuTarget::X86_64V4] {
            let strict = kernels(dtype, target, FpMode::Strict);
            assert!(strict.contains("@of_pow"), "{strict}");
            assert_eq!(strict, kernels(dtype, target, FpMode::Default), "{dtype} for {target}");
        }
    }
}

/// The quick reference against 256-bit arithmetic, where surveys draw.
#[test]
fn the_reference_is_as_exact_as_it_says() {
    let mut exact = Exact::new();
    for function in MathFn::ALL {
        let (mut draw, mut worst) = (Draw::new(77), 0.0);
        for _ in 0..1_000 {
            let args = draw.arguments(function);
            let args = &args[..function.arity()];
            if args[0] == 0.0 {
                continue;
            }
            let off = distance(QUICK.value(function, args), exact.value(function, args), LIMIT);
            assert!(off <= BOUND, "{}{args:?} is off by {off:e}", function.name());
            worst = f64::max(worst, off);
        }
        println!("{:8} 2^{:.1}", function.name(), worst.log2());
    }
}

/// The rows of hard.txt, which hard.py printed: function, arguments, value.
fn hard() -> Vec<(MathFn, Vec<f64>, Scaled)> {
    let row = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let function = MathFn::from_name(words[0]).unwrap();
        let number = |word: &&str| f64::from_bits(u64::from_str_radix(word, 16).unwrap());
        let numbers: Vec<f64> = words[1..words.len() - 1].iter().map(number).collect();
        let (args, value) = numbers.split_at(function.arity());
        let exponent = words[words.len() - 1].parse().unwrap();
        (function, args.to_vec(), Scaled { value: Pair { high: value[0], low: value[1] }, exponent })
    };
    include_str!("hard.txt").lines().map(row).collect()
}

/// Both references agree with a third, and the kernels are within their bounds there and beside.
#[test]
fn hard_arguments_stay_within_their_bounds() {
    let rows = hard();
    assert!(rows.len() > 200);
    let kernels = Kernels::new(DType::F64, FpMode::Default).unwrap();
    let mut exact = Exact::new();
    for (function, args, value) in rows {
        let name = function.name();
        let off = distance(exact.value(function, &args), Some(value), LIMIT);
        assert!(off <= 2f64.powi(-100), "{name}{args:?} is off by {off:e} in 256 bits");
        let off = distance(QUICK.value(function, &args), Some(value), LIMIT);
        assert!(off <= BOUND, "{name}{args:?} is off by {off:e} in pairs");
        let (last, others) = args.split_last().unwrap();
        for last in [last.next_down(), *last, last.next_up()] {
            let args = [others, &[last]].concat();
            if args[0] == 0.0 {
                continue;
            }
            let error = exactly(&kernels, function, &args).unwrap();
            assert!(error <= bound(function, DType::F64), "{name}{args:?} is off by {error} ulp");
        }
    }
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |value| value.parse().unwrap())
}

#[test]
#[ignore = "hours of processor time in release; the table of docs/math.md"]
fn every_argument() {
    let drawn = setting("TIGA_SURVEY_F64", 1_000_000_000);
    let setting_of = |name| std::env::var(name).ok();
    let (only, only_type) = (setting_of("TIGA_SURVEY_FUNCTION"), setting_of("TIGA_SURVEY_TYPE"));
    let mut tried = 0;
    println!("| function | type | arguments | largest error | at | not the nearest |\n|---|---|---|---|---|---|");
    for dtype in FLOATS.into_iter().filter(|t| only_type.as_deref().is_none_or(|only| t.to_string() == only)) {
        let kernels = Kernels::new(dtype, FpMode::Default).unwrap();
        for function in MathFn::ALL.into_iter().filter(|f| only.as_deref().is_none_or(|only| f.name() == only)) {
            let start = Instant::now();
            let inputs = if dtype == DType::F64 { Inputs::Drawn(drawn) } else { Inputs::Every { step: 1 } };
            surveyed(&kernels, function, inputs);
            tried += 1;
            eprintln!("{} {dtype}: {} s", function.name(), start.elapsed().as_secs());
        }
    }
    assert!(tried > 0 && drawn > 0, "no function of such a name, no such type, or no argument to try");
}
