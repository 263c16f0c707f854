//! Objects of kernels need nothing from outside, says LLVM's own `nm`: every model of the examples and the cookbook, all
//! math functions on all types, and 200 random programs, for each CPU.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use fastrand::Rng;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use testsuite::accuracy;
use testsuite::generator::program;
use testsuite::lit::Tools;
use testsuite::models::{HALVES, TURNED, WALK, WIDE};
use testsuite::road::model;
use tiga_abi::{CpuTarget, DType, FpMode};
use tiga_ir::Module;
use tigac::pack::{CompileOptions, compile};
use tigac::sema::SemaOptions;

const TARGETS: [CpuTarget; 3] = [CpuTarget::X86_64V2, CpuTarget::X86_64V3, CpuTarget::X86_64V4];
/// Random programs, and how many of them are one module.
const PROGRAMS: u64 = 200;
const TOGETHER: u64 = 20;

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("needs-nothing").join(name);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// What `nm` prints of an object, with one flag.
fn nm(flag: &str, object: &Path) -> String {
    let output = Command::new("llvm-nm-22").arg(flag).arg(object).output().expect("llvm-nm-22 is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[track_caller]
fn needs_nothing(object: &Path, what: &str) {
    assert_eq!(nm("--undefined-only", object), "", "{what}");
    assert!(nm("--defined-only", object).contains("tiga"), "{what} has nothing in it");
}

/// The kernels of a module for all CPUs, in both modes.
fn compiled(module: &Module, name: &str) {
    let path = folder("modules").join(format!("{name}.o"));
    for target in TARGETS {
        for fp in [FpMode::Strict, FpMode::Default] {
            let compilation = compile(module, &CompileOptions::new(target, fp)).unwrap();
            fs::write(&path, compilation.code.object()).unwrap();
            needs_nothing(&path, &format!("{name} for {target} ({fp:?})"));
        }
    }
}

/// The models that users see, by the command that they use.
#[test]
fn objects_of_examples_need_nothing() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tools = Tools::new(here, &folder("tools")).unwrap();
    let mut models: Vec<PathBuf> = fs::read_dir(here.join("../examples")).unwrap().map(|e| e.unwrap().path()).collect();
    models.retain(|path| path.extension().is_some_and(|extension| extension == "tg"));
    models.sort();
    assert!(models.len() >= 14);
    // The pages of the cookbook name no other models.
    for page in fs::read_dir(here.join("../docs/cookbook")).unwrap().map(|e| e.unwrap().path()) {
        let text = fs::read(&page).unwrap();
        for word in String::from_utf8_lossy(&text).split_whitespace().filter(|word| word.starts_with("examples/")) {
            let named = word.ends_with(".tg").then(|| here.join("..").join(word));
            assert!(named.is_none_or(|path| models.contains(&path)), "{}: {word}", page.display());
        }
    }
    let object = folder("examples").join("model.o");
    for model in &models {
        for target in TARGETS {
            for fp in ["strict", "default"] {
                let mut tigac = tools.command("tigac");
                tigac.arg(format!("--emit=obj={}", object.display()));
                tigac.args([format!("--target={target}"), format!("--fp={fp}")]).arg(model);
                assert!(tigac.status().unwrap().success(), "{}", model.display());
                needs_nothing(&object, &format!("{} for {target} ({fp})", model.display()));
            }
        }
    }
}

/// Level 2 has no instructions for f16, bf16 and fused products: LLVM would call functions for them.
#[test]
fn objects_of_math_functions_need_nothing() {
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        compiled(&accuracy::programs(dtype).unwrap(), &format!("functions-{dtype}"));
    }
}

/// Loops that clear and copy, conversions of every kind.
#[test]
fn objects_of_models_of_all_kinds_need_nothing() {
    for (name, text) in [("wide", WIDE), ("turned", TURNED), ("halves", HALVES), ("walk", WALK)] {
        compiled(&model(name, text, &SemaOptions::default()).unwrap(), name);
    }
}

#[test]
fn objects_of_random_programs_need_nothing() {
    let path = folder("random").join("programs.o");
    for (batch, first) in (0..PROGRAMS).step_by(TOGETHER as usize).enumerate() {
        let mut all = Module::new();
        for seed in first..first + TOGETHER {
            let generated = program(&mut Rng::with_seed(9_000 + seed), &format!("p{seed}"), 6);
            all.reducers.extend(generated.module.reducers);
            all.funcs.extend(generated.module.funcs);
        }
        let fp = [FpMode::Strict, FpMode::Default][batch % 2];
        for target in TARGETS {
            let compilation = compile(&all, &CompileOptions::new(target, fp)).unwrap();
            fs::write(&path, compilation.code.object()).unwrap();
            needs_nothing(&path, &format!("programs {first} to {} for {target} ({fp:?})", first + TOGETHER - 1));
        }
    }
}
