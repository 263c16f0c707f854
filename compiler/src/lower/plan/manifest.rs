//! What a bundle's manifest says of kernels.

use super::LowerError;
use crate::lower::kernel::KernelSet;
use tiga_abi::{DType, SizeExpr, Symbol};
use tiga_bundle::{Condition, Guard, Kernel, Pointer, Variant};
use tiga_ir::{Cmp, Func, Module, Type, Value, ops};
use tiga_plan::Mode;

/// The manifest's rows for kernels. A set may hold them for several targets, each under the same name.
///
/// # Errors
/// A guard that manifests cannot express.
pub fn kernels(module: &Module, sets: &[KernelSet]) -> Result<Vec<Kernel>, LowerError> {
    sets.iter().map(|set| kernel(module, set)).collect()
}

fn kernel(module: &Module, set: &KernelSet) -> Result<Kernel, LowerError> {
    let source = &module.funcs[&set.source];
    let mut variants = Vec::new();
    for variant in &set.variants {
        let variant = Variant { guard: guard(variant)?, entry: variant.name.to_string() };
        if !variants.contains(&variant) {
            variants.push(variant);
        }
    }
    let shapes = source.body.walk(source.region);
    let shape = shapes.iter().find_map(|i| source.body.inst(*i).attrs.shape().map(|s| format!("shape({s})")));
    let rel = source.params().iter().enumerate().find(|(_, v)| matches!(source.body.ty(**v), Type::Rel(_)));
    let generic = set.variants.last().expect("a kernel has a generic variant");
    let bytes = set.variants.iter().map(|v| v.scratch.clone());
    let scratch = bytes.reduce(|a, b| SizeExpr::Max(Box::new(a), Box::new(b)));
    Ok(Kernel {
        symbol: set.source.to_string(),
        variants,
        syms: syms(generic),
        ptrs: pointers(set),
        scratch: scratch.unwrap_or(SizeExpr::Const(0)),
        shape: shape.unwrap_or_default(),
        relation: rel.map(|(i, _)| source.param_name(i).to_owned()),
    })
}

fn guard(kernel: &Func) -> Result<Guard, LowerError> {
    let mut conditions = Vec::new();
    for (poly, cmp, value) in &kernel.guard.terms {
        let extent = SizeExpr::from(poly);
        conditions.push(match cmp {
            Cmp::Eq => Condition::Equal(extent, *value),
            Cmp::Lt => Condition::Less(extent, *value),
            Cmp::Ge => {
                let what = "a guard from below";
                return Err(LowerError::Unsupported { what, loc: kernel.loc.clone() });
            }
        });
    }
    Ok(Guard(conditions))
}

/// The sizes a kernel takes: its leading i64 parameters but for the two units.
fn syms(kernel: &Func) -> Vec<Symbol> {
    let params = kernel.params();
    let sizes = params[..params.len() - 2].iter().filter(|v| kernel.body.ty(**v).is_scalar(DType::I64));
    sizes.filter_map(|v| kernel.body.value(*v).name.clone()).collect()
}

/// The arrays the kernels of a set take, in order, with how any of them touches it.
pub(super) fn pointers(set: &KernelSet) -> Vec<Pointer> {
    let generic = set.variants.last().expect("a kernel has a generic variant");
    let mut out = Vec::new();
    for param in generic.params() {
        let data = generic.body.value(*param);
        let (Type::Ptr(dtype), Some(name)) = (&data.ty, &data.name) else { continue };
        if &**name == "scratch" {
            continue;
        }
        let modes = set.variants.iter().filter_map(|v| mode_of(v, name));
        let mode = modes.reduce(|a, b| if a == b { a } else { Mode::ReadWrite });
        out.push(Pointer { parameter: name.to_string(), dtype: *dtype, mode: mode.unwrap_or(Mode::Read) });
    }
    out
}

/// How a kernel touches an array; `None` if it does not.
fn mode_of(kernel: &Func, name: &str) -> Option<Mode> {
    let param = *kernel.params().iter().find(|v| kernel.body.value(**v).name.as_deref() == Some(name))?;
    let (mut reads, mut writes) = (false, false);
    for inst in kernel.body.walk(kernel.region) {
        let data = kernel.body.inst(inst);
        let address = |at: usize, v: Value| data.operands.get(at) == Some(&v);
        writes |= data.op == ops::PTR_STORE && address(1, param);
        reads |= data.op != ops::PTR_STORE && address(0, param);
    }
    match (reads, writes) {
        (true, true) => Some(Mode::ReadWrite),
        (false, true) => Some(Mode::Write),
        (true, false) => Some(Mode::Read),
        (false, false) => None,
    }
}
