//! What is no kernel is refused with a typed error, and never reaches LLVM.

use tiga_abi::CpuTarget;
use tiga_backend_llvm::{LlvmError, Malformed, OptLevel, Options, compile};
use tiga_ir::parse_module;

fn refusal(text: &str, kernels: &[&str]) -> LlvmError {
    let module = parse_module("bad.tir", text).unwrap();
    let names: Vec<_> = kernels.iter().map(|k| (*k).into()).collect();
    compile(&module, &names, &Options { target: CpuTarget::X86_64V3, opt: OptLevel::O0 }).unwrap_err()
}

/// The law that a body breaks.
fn broken(body: &str) -> Malformed {
    let text = format!("kernel @k(%a: ptr<f32>, %unit_begin: i64, %unit_end: i64) {{ {body} }}");
    match refusal(&text, &["k"]) {
        LlvmError::Malformed { law, .. } => *law,
        other => panic!("{other}"),
    }
}

#[test]
fn only_kernels_compile() {
    assert!(matches!(refusal("", &["k"]), LlvmError::UnknownFunction(_)));
    assert!(matches!(refusal("loops @k() { return }", &["k"]), LlvmError::NotKernel { .. }));
    assert!(matches!(refusal("kernel @k() { return }", &["k"]), LlvmError::NoUnits(_)));
    let scalar = "kernel @k(%x: f32, %unit_begin: i64, %unit_end: i64) { return }";
    assert!(matches!(refusal(scalar, &["k"]), LlvmError::Parameter { index: 0, .. }));
    let fine = "kernel @k(%unit_begin: i64, %unit_end: i64) { return }";
    assert!(matches!(refusal(fine, &["k", "k"]), LlvmError::Twice(_)));
}

#[test]
fn broken_laws_are_named() {
    assert!(matches!(broken("yield"), Malformed::Op("yield")));
    assert!(matches!(broken("%x = neg %a : f32 return"), Malformed::Type(_)));
    assert!(matches!(broken("%x = cast %unit_begin to(f32) : f64 return"), Malformed::Results));
    assert!(matches!(broken("%x = const value(f32 1.0) : f32"), Malformed::Terminator));
    assert!(matches!(broken("return return"), Malformed::Terminator));
    assert!(matches!(broken("jump ^b ^b(%x: f32): return"), Malformed::Arguments));
    assert!(matches!(broken("jump ^b(%a) ^b(%x: f32[3]): return"), Malformed::ValueType(_) | Malformed::Arguments));
    assert!(matches!(broken("return %a"), Malformed::Type(_)));
}

#[test]
fn uses_before_definitions_are_refused() {
    let late = "branch %c ^x, ^y ^x(): %v = ptr.load %a, %unit_end : bool jump ^z ^y(): jump ^z \
                ^z(): %w = not %v : bool return";
    let text = format!(
        "kernel @k(%a: ptr<bool>, %unit_begin: i64, %unit_end: i64) {{ %c = ptr.load %a, %unit_begin : bool {late} }}"
    );
    assert!(matches!(refusal(&text, &["k"]), LlvmError::Verify { .. } | LlvmError::Malformed { .. }));
}
