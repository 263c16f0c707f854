//! CPUs: what LLVM is told, what a manifest must demand.

use crate::LlvmError;
use inkwell::OptimizationLevel;
use inkwell::targets::{
    CodeModel, InitializationConfig, RelocMode, Target, TargetMachine, TargetMachineOptions, TargetTriple,
};
use tiga_abi::CpuTarget;

/// Kernels are ELF objects of this platform.
const TRIPLE: &str = "x86_64-unknown-linux-gnu";

/// Features that kernels may use beyond x86-64's first level: LLVM's name, and the one that
/// `is_x86_feature_detected!` knows. A feature outside this table is switched off, so that a manifest can
/// always say what a kernel needs.
const FEATURES: &[(&str, &str)] = &[
    ("sse3", "sse3"),
    ("ssse3", "ssse3"),
    ("sse4.1", "sse4.1"),
    ("sse4.2", "sse4.2"),
    ("popcnt", "popcnt"),
    ("cx16", "cmpxchg16b"),
    ("avx", "avx"),
    ("avx2", "avx2"),
    ("bmi", "bmi1"),
    ("bmi2", "bmi2"),
    ("f16c", "f16c"),
    ("fma", "fma"),
    ("lzcnt", "lzcnt"),
    ("movbe", "movbe"),
    ("xsave", "xsave"),
    ("avx512f", "avx512f"),
    ("avx512cd", "avx512cd"),
    ("avx512bw", "avx512bw"),
    ("avx512dq", "avx512dq"),
    ("avx512vl", "avx512vl"),
    ("adx", "adx"),
    ("avx512ifma", "avx512ifma"),
    ("avx512vbmi", "avx512vbmi"),
    ("avx512vbmi2", "avx512vbmi2"),
    ("avx512vnni", "avx512vnni"),
    ("avx512bitalg", "avx512bitalg"),
    ("avx512vpopcntdq", "avx512vpopcntdq"),
];

/// How many rows of [`FEATURES`] make up `x86-64-v2`, `x86-64-v3` and `x86-64-v4`: each level begins with the one below.
const LEVELS: [usize; 3] = [6, 15, 20];

/// What every x86-64 CPU has; left as LLVM found it.
const BASELINE: &[&str] = &["64bit", "cmov", "cx8", "fxsr", "mmx", "sahf", "sse", "sse2"];

/// What kernels for `native` need: its passes count on a fused multiply-add and on conversions of `f16`.
const NEEDED: &[&str] = &["avx2", "f16c", "fma"];

/// LLVM prefers 256-bit vectors on many CPUs with AVX-512; schedules pick the width here.
const WIDE: &str = "-prefer-256-bit";

/// The version of the LLVM library that is loaded.
pub fn llvm_version() -> String {
    let (major, minor, patch) = inkwell::support::get_llvm_version();
    format!("{major}.{minor}.{patch}")
}

/// The features of the machine this runs on that kernels for `native` use, by the names of
/// `is_x86_feature_detected!`.
pub fn native_features() -> Vec<&'static str> {
    let host = host_features();
    FEATURES.iter().filter(|(llvm, _)| has(&host, llvm)).map(|(_, rust)| *rust).collect()
}

/// The features a CPU must have to run kernels for a target, by the names of `is_x86_feature_detected!`.
pub fn required_features(target: CpuTarget) -> Vec<&'static str> {
    let level = |count: usize| FEATURES[..count].iter().map(|(_, rust)| *rust).collect();
    match target {
        CpuTarget::X86_64V2 => level(LEVELS[0]),
        CpuTarget::X86_64V3 => level(LEVELS[1]),
        CpuTarget::X86_64V4 => level(LEVELS[2]),
        CpuTarget::Native => native_features(),
    }
}

/// LLVM's name of the CPU and its feature string.
pub(crate) fn cpu(target: CpuTarget) -> Result<(String, String), LlvmError> {
    match target {
        CpuTarget::X86_64V2 | CpuTarget::X86_64V3 => Ok((target.name().into(), String::new())),
        CpuTarget::X86_64V4 => Ok((target.name().into(), WIDE.into())),
        CpuTarget::Native => {
            let host = host_features();
            if let Some(missing) = NEEDED.iter().find(|f| !has(&host, f)) {
                return Err(LlvmError::Cpu(missing));
            }
            Ok((TargetMachine::get_host_cpu_name().to_string(), kept_features(&host)))
        }
    }
}

/// The machine that code is generated for.
pub(crate) fn machine(target: CpuTarget, level: OptimizationLevel) -> Result<TargetMachine, LlvmError> {
    Target::initialize_x86(&InitializationConfig::default());
    let triple = TargetTriple::create(TRIPLE);
    let failed = |message: String| LlvmError::Llvm { action: "generate code for x86-64", message };
    let (cpu, features) = cpu(target)?;
    let options = TargetMachineOptions::new()
        .set_cpu(&cpu)
        .set_features(&features)
        .set_level(level)
        .set_reloc_mode(RelocMode::PIC)
        .set_code_model(CodeModel::Default);
    Target::from_triple(&triple)
        .map_err(|e| failed(e.to_string()))?
        .create_target_machine_from_options(&triple, options)
        .ok_or_else(|| failed(format!("no machine for the CPU {cpu}")))
}

fn host_features() -> String {
    TargetMachine::get_host_cpu_features().to_string()
}

fn has(host: &str, feature: &str) -> bool {
    host.split(',').any(|f| f.strip_prefix('+') == Some(feature))
}

/// The host's features with those switched off that no manifest could name.
fn kept_features(host: &str) -> String {
    let known = |name: &str| BASELINE.contains(&name) || FEATURES.iter().any(|(llvm, _)| *llvm == name);
    let mut kept: Vec<String> = host
        .split(',')
        .filter_map(|f| f.strip_prefix(['+', '-']).map(|name| (f, name)))
        .map(|(f, name)| if known(name) { f.to_owned() } else { format!("-{name}") })
        .collect();
    kept.sort_by(|a, b| a[1..].cmp(&b[1..]));
    if has(host, "avx512f") {
        kept.push(WIDE.into());
    }
    kept.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiga_ir::verify::Machine;

    #[test]
    fn each_level_is_a_prefix_of_the_table() {
        let [v2, v3, v4] = [CpuTarget::X86_64V2, CpuTarget::X86_64V3, CpuTarget::X86_64V4].map(required_features);
        assert_eq!(v2, ["sse3", "ssse3", "sse4.1", "sse4.2", "popcnt", "cmpxchg16b"]);
        let more = ["avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"];
        assert_eq!(v3, [&v2[..], &more].concat());
        assert_eq!(v4, [&v3[..], &["avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"]].concat());
    }

    #[test]
    fn levels_have_the_machine_that_passes_were_told() {
        for target in CpuTarget::ALL {
            let has = |feature| required_features(target).contains(&feature);
            let simd = if has("avx512f") {
                64
            } else if has("avx2") {
                32
            } else {
                16
            };
            assert_eq!(target.simd_bytes(), simd, "{target}");
            assert_eq!(Machine::from(target), Machine { fma: has("fma"), f16c: has("f16c") }, "{target}");
        }
    }

    #[test]
    fn unnamed_features_are_switched_off() {
        let kept = kept_features("+sse2,+avx512f,+amx-tile,-fma4,+fma");
        assert_eq!(kept, "-amx-tile,+avx512f,+fma,-fma4,+sse2,-prefer-256-bit");
    }

    #[test]
    fn native_features_are_really_here() {
        let native = native_features();
        assert_eq!(native.contains(&"fma"), std::arch::is_x86_feature_detected!("fma"));
        assert_eq!(native.contains(&"avx512f"), std::arch::is_x86_feature_detected!("avx512f"));
    }
}
