//! The math functions as compiled kernels, one bundle for several CPUs, called on arrays.

use crate::road::{bundle_for, levels_here, model};
use anyhow::{Context as _, Result, bail};
use tiga_abi::{CpuTarget, DType, FpMode};
use tiga_formats::Array;
use tiga_ir::Module;
use tiga_ir::math::MathFn;
use tiga_runtime::{ArrayMut, ArrayRef, Bundle, Context};
use tigac::pack::CompileOptions;
use tigac::sema::SemaOptions;

/// The functions of one type, compiled in one mode for each CPU that this machine can run.
pub struct Kernels {
    /// The type.
    pub dtype: DType,
    bundles: Vec<(CpuTarget, Bundle)>,
    context: Context,
}

/// A program a function.
///
/// # Errors
/// None, unless the language has lost a function.
pub fn programs(dtype: DType) -> Result<Module> {
    let program = |function: MathFn| {
        let name = function.name();
        match function.arity() {
            1 => format!("program of_{name}<set N>(x: {dtype}[N]) -> (z: {dtype}[N]) {{ {name}(x) }}\n"),
            _ => {
                format!(
                    "program of_{name}<set N>(x: {dtype}[N], y: {dtype}[N]) -> (z: {dtype}[N]) {{ {name}(x, y) }}\n"
                )
            }
        }
    };
    model("functions.tg", &MathFn::ALL.map(program).concat(), &SemaOptions::default())
}

impl Kernels {
    /// Compiles them.
    ///
    /// # Errors
    /// Some stage refuses them.
    pub fn new(dtype: DType, fp: FpMode) -> Result<Self> {
        let targets = levels_here();
        let options = CompileOptions::new(CpuTarget::X86_64V2, fp);
        let bundle = Bundle::from_bytes(bundle_for(&programs(dtype)?, &targets, &options)?)?;
        let forced = |target: CpuTarget| Ok((target, bundle.with_target(target.name())?));
        let bundles = targets.into_iter().map(forced).collect::<Result<_>>()?;
        Ok(Self { dtype, bundles, context: Context::new(1)? })
    }

    /// The CPUs.
    pub fn targets(&self) -> impl Iterator<Item = CpuTarget> {
        self.bundles.iter().map(|(target, _)| *target)
    }

    /// The values of a function for each CPU.
    ///
    /// # Errors
    /// The runtime refuses the call; two CPUs give different values.
    pub fn run(&self, function: MathFn, args: &[Array], out: &mut Array) -> Result<()> {
        let mut other = Array::zeroed(self.dtype, out.shape().to_vec()).context("the results do not fit")?;
        for (i, (target, bundle)) in self.bundles.iter().enumerate() {
            self.call(bundle, function, args, if i == 0 { &mut *out } else { &mut other })?;
            if i > 0 && out.as_bytes() != other.as_bytes() {
                let number = |array: &Array, at| array.get(at).to_f64();
                let same = |a: f64, b: f64| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
                if let Some(at) = (0..out.len()).find(|at| !same(number(out, *at), number(&other, *at))) {
                    let x: Vec<_> = args.iter().map(|array| number(array, at)).collect();
                    let (one, two) = (number(out, at), number(&other, at));
                    bail!("{}{x:?} is {one:?} for {}, {two:?} for {target}", function.name(), self.bundles[0].0);
                }
            }
        }
        Ok(())
    }

    fn call(&self, bundle: &Bundle, function: MathFn, args: &[Array], out: &mut Array) -> Result<()> {
        let mut call = bundle.call(&format!("of_{}", function.name()))?;
        for (name, array) in ["x", "y"].into_iter().zip(args) {
            call.input(name, ArrayRef::new(self.dtype, array.shape(), array.as_bytes()))?;
        }
        let shape = out.shape().to_vec();
        call.output("z", ArrayMut::new(self.dtype, &shape, out.as_bytes_mut()))?;
        call.run(&self.context)?;
        Ok(())
    }
}
