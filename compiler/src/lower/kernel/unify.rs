//! Kernels for several targets: plans and manifests speak of all of them at once, so they take the same arguments.

use super::{KernelSet, declare};
use std::collections::BTreeSet;
use tiga_abi::Symbol;
use tiga_ir::{Func, Guard, Level, Module, Type, Value};

/// Kernels for two targets have something else in common than their arguments: our bug.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the kernels of {0} have other names or guards for another target")]
pub struct Differ(pub Symbol);

/// Gives the kernels of each loops function, for each target, the arguments that those for any target take.
///
/// # Errors
/// [`Differ`].
pub fn unify(loops: &Module, targets: &mut [&mut Vec<KernelSet>]) -> Result<(), Differ> {
    let Some(first) = targets.first() else { return Ok(()) };
    let common: Vec<_> = first.iter().map(signature).collect();
    for (i, common) in common.iter().enumerate() {
        let sets: Option<Vec<_>> = targets.iter_mut().map(|sets| sets.get_mut(i)).collect();
        let sets = sets.filter(|sets| sets.iter().all(|set| signature(set) == *common));
        one_signature(&loops.funcs[&common.0], &mut sets.ok_or_else(|| Differ(common.0.clone()))?);
    }
    Ok(())
}

/// What the kernels of a function have in common for all targets.
fn signature(set: &KernelSet) -> (Symbol, Vec<(Symbol, Guard)>) {
    (set.source.clone(), set.variants.iter().map(|v| (v.name.clone(), v.guard.clone())).collect())
}

/// Gives all kernels of a function the parameters that any of them has, in the order in which they are declared.
fn one_signature(func: &Func, sets: &mut [&mut KernelSet]) {
    let mut taken: BTreeSet<Symbol> = BTreeSet::new();
    for kernel in sets.iter().flat_map(|set| &set.variants) {
        taken.extend(kernel.params().iter().filter_map(|v| kernel.body.value(*v).name.clone()));
    }
    let declared: Vec<(Symbol, Type)> = declared(func).into_iter().filter(|(name, _)| taken.contains(name)).collect();
    for kernel in sets.iter_mut().flat_map(|set| &mut set.variants) {
        let entry = kernel.body.entry(kernel.region);
        let mut params: Vec<Value> = Vec::new();
        for (name, ty) in &declared {
            let own = kernel.params().iter().copied().find(|v| kernel.body.value(*v).name.as_ref() == Some(name));
            params.push(own.unwrap_or_else(|| kernel.body.add_param(entry, ty.clone(), Some(name.clone()))));
        }
        kernel.body.block_mut(entry).params = params;
        // Numbers them anew.
        kernel.body.retain_params(entry, |_| true);
    }
}

/// Every parameter that a kernel of a function may have.
fn declared(func: &Func) -> Vec<(Symbol, Type)> {
    let mut kernel = Func::new(func.name.clone(), Level::Kernel);
    let entry = kernel.body.entry(kernel.region);
    declare(func, &mut kernel, entry);
    let param = |v: &Value| {
        (kernel.body.value(*v).name.clone().expect("they are declared by name"), kernel.body.ty(*v).clone())
    };
    kernel.params().iter().map(param).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::loops::lower_to_kernels;
    use crate::passes::{PassOptions, Remarks};
    use crate::pipeline;
    use tiga_abi::FpMode;
    use tiga_ir::parse_module;

    const LOOPS: &str = "
loops @f<set N, dim F>(%x: buf<f32[N, F]>, %y: buf<f32[N, F]>, %out: buf<f32[N, F]>) {
  for space(rows(N)) (%d: i64) {
    %a = load %x, %d : f32[F]
    %b = load %y, %d : f32[F]
    %c = add %a, %b : f32[F]
    store %c, %out, %d
    yield
  }
  return
}
";

    fn names(kernel: &Func) -> Vec<&str> {
        kernel.params().iter().filter_map(|v| kernel.body.value(*v).name.as_deref()).collect()
    }

    /// A parameter that one target's kernels lack comes back at its place; whoever is alone stays as it is.
    #[test]
    fn all_targets_take_the_same_arguments() {
        let loops = parse_module("loops.tir", LOOPS).unwrap();
        let module =
            lower_to_kernels::run(&loops, &PassOptions::new(FpMode::Default), &mut Remarks::default()).unwrap();
        let whole = pipeline::apart(module).kernels;
        let mut lacking = whole.clone();
        let kernel = &mut lacking[0].variants[0];
        let (entry, dropped) = (kernel.body.entry(kernel.region), kernel.params()[1]);
        kernel.body.retain_params(entry, |v| v != dropped);
        let mut other = whole.clone();
        unify(&loops, &mut [&mut other, &mut lacking]).unwrap();
        for (i, set) in lacking.iter().chain(&other).enumerate() {
            let expected = &whole[i % whole.len()].variants[0];
            assert!(set.variants.iter().all(|v| names(v) == names(expected)), "{}", set.source);
        }
        lacking[0].variants.pop();
        assert_eq!(unify(&loops, &mut [&mut other, &mut lacking]), Err(Differ(whole[0].source.clone())));
    }
}
