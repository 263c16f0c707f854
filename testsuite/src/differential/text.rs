//! The outside judges of one module: its own text, and LLVM's verifier.

use super::Fault;
use std::io::Write as _;
use std::process::{Command, Stdio};
use tiga_ir::{Module, parse_module, print_module};

/// Printing, parsing and printing again gives the same text, with the locations.
pub(super) fn fixed_point(level: &'static str, module: &Module) -> Result<(), Fault> {
    let text = print_module(module);
    let fault = |what: String| Fault::Text { level, what };
    if !module.funcs.is_empty() && !text.contains(" loc(\"") {
        return Err(fault("no location is printed".into()));
    }
    let parsed = parse_module("printed.tir", &text).map_err(|e| fault(e.to_string()))?;
    let again = print_module(&parsed);
    match text.lines().zip(again.lines()).find(|(a, b)| a != b) {
        Some((first, second)) => Err(fault(format!("`{first}` comes back as `{second}`"))),
        None if text.len() != again.len() => Err(fault(format!("{} bytes come back as {}", text.len(), again.len()))),
        None => Ok(()),
    }
}

/// What LLVM's own tool says of a module.
pub(super) fn verified_outside(llvm_ir: &str) -> Result<(), Fault> {
    let fault = |e: std::io::Error| Fault::Llvm(format!("opt-22 (package llvm-22) cannot be asked: {e}"));
    let mut opt = Command::new("opt-22")
        .args(["-passes=verify", "-disable-output", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(fault)?;
    let written = opt.stdin.take().expect("the input is a pipe").write_all(llvm_ir.as_bytes());
    let output = opt.wait_with_output().map_err(fault)?;
    if !output.status.success() {
        return Err(Fault::Llvm(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    written.map_err(fault)
}
