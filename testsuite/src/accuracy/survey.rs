//! The largest distance of a function's compiled kernels from the exact value, over many arguments, on all cores.

use super::draw::Draw;
use super::exact::{Exact, INFINITE};
use super::kernels::Kernels;
use super::pair::{Format, Pair, Scaled, scale, split};
use super::quick::{BOUND, Quick};
use anyhow::{Context as _, Result, anyhow, ensure};
use std::fmt;
use std::num::NonZero;
use std::sync::atomic::{AtomicU64, Ordering};
use tiga_abi::DType;
use tiga_formats::Array;
use tiga_ir::Scalar;
use tiga_ir::math::MathFn;

/// Arguments at a time.
const BLOCK: u64 = 1 << 14;
/// Every so many arguments the reference itself is compared with 256 bits.
const AUDIT: u64 = 8192;

/// Beyond 2^±this no f64 result tells values apart.
pub const LIMIT: i32 = 1200;

/// What is tried.
#[derive(Clone, Copy, Debug)]
pub enum Inputs {
    /// Every `step`-th bit pattern from the first on; of a function of two arguments as many random pairs.
    Every {
        /// 1 is all.
        step: u64,
    },
    /// This many drawn ones, of f64.
    Drawn(u64),
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The function.
    pub function: MathFn,
    /// The type.
    pub dtype: DType,
    /// How many arguments were tried.
    pub samples: u64,
    /// How many results are not the number nearest to the exact value.
    pub not_nearest: u64,
    /// The largest distance in units in the last place of the exact value, by 256-bit arithmetic.
    pub max_ulp: f64,
    /// Where that is.
    pub at: Vec<f64>,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at: Vec<String> = self.at.iter().map(|x| self.text(*x)).collect();
        let share = 100.0 * self.not_nearest as f64 / self.samples.max(1) as f64;
        write!(
            f,
            "| `{}` | {} | {} | {:.4} | {} | {share:.3} % |",
            self.function.name(),
            self.dtype,
            self.samples,
            self.max_ulp,
            at.join(", ")
        )
    }
}

impl Found {
    /// The shortest text that reads back as the same number of the type.
    fn text(&self, x: f64) -> String {
        if self.dtype == DType::F64 { format!("{x:?}") } else { format!("{:?}", x as f32) }
    }
}

/// The format of a type's numbers.
pub fn format_of(dtype: DType) -> Format {
    match dtype {
        DType::F16 => Format { bits: 11, least: -14 },
        DType::BF16 => Format { bits: 8, least: -126 },
        DType::F32 => Format { bits: 24, least: -126 },
        _ => Format { bits: 53, least: -1022 },
    }
}

/// Tries a function on many arguments.
///
/// # Errors
/// The kernels disagree; the quick reference is not as exact as it says.
pub fn survey(kernels: &Kernels, quick: &Quick, function: MathFn, inputs: Inputs) -> Result<Found> {
    let next = AtomicU64::new(0);
    let work = || {
        let mut part = Part::new(kernels, quick, function)?;
        part.work(inputs, &next)?;
        Ok(part.found)
    };
    let parts: Vec<Found> = std::thread::scope(|scope| {
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|t| t.join().map_err(|_| anyhow!("a worker panicked"))?).collect::<Result<_>>()
    })?;
    let mut all = Found { samples: 0, not_nearest: 0, ..parts.first().context("there is a worker")?.clone() };
    for part in parts {
        all.samples += part.samples;
        all.not_nearest += part.not_nearest;
        if part.max_ulp > all.max_ulp {
            (all.max_ulp, all.at) = (part.max_ulp, part.at);
        }
    }
    if all.max_ulp > 0.0 {
        all.max_ulp = exactly(kernels, function, &all.at)?;
    }
    Ok(all)
}

/// The distance for one argument, by 256-bit arithmetic.
///
/// # Errors
/// The runtime refuses the call.
pub fn exactly(kernels: &Kernels, function: MathFn, args: &[f64]) -> Result<f64> {
    let one = |x: &f64| array(kernels.dtype, &[*x]);
    let arrays = args.iter().map(one).collect::<Result<Vec<_>>>()?;
    let mut out = array(kernels.dtype, &[0.0])?;
    kernels.run(function, &arrays, &mut out)?;
    let exact = Exact::new().value(function, args);
    Ok(format_of(kernels.dtype).ulps(out.get(0).to_f64(), exact))
}

fn array(dtype: DType, values: &[f64]) -> Result<Array> {
    let mut array = Array::zeroed(dtype, vec![values.len()]).context("arguments do not fit")?;
    fill(&mut array, dtype, values.iter().map(|x| Scalar::from_f64(dtype, *x).bits()));
    Ok(array)
}

fn fill(array: &mut Array, dtype: DType, bits: impl Iterator<Item = u64>) {
    let size = dtype.bytes();
    for (to, bits) in array.as_bytes_mut().chunks_exact_mut(size).zip(bits) {
        to.copy_from_slice(&bits.to_le_bytes()[..size]);
    }
}

/// What one worker needs and finds.
struct Part<'a> {
    kernels: &'a Kernels,
    quick: &'a Quick,
    exact: Exact,
    format: Format,
    found: Found,
}

impl<'a> Part<'a> {
    fn new(kernels: &'a Kernels, quick: &'a Quick, function: MathFn) -> Result<Self> {
        let dtype = kernels.dtype;
        let found = Found { function, dtype, samples: 0, not_nearest: 0, max_ulp: 0.0, at: Vec::new() };
        Ok(Self { kernels, quick, exact: Exact::new(), format: format_of(dtype), found })
    }

    /// Takes blocks until there are none.
    fn work(&mut self, inputs: Inputs, next: &AtomicU64) -> Result<()> {
        let dtype = self.kernels.dtype;
        let count = match inputs {
            Inputs::Every { step } => (1u64 << (8 * dtype.bytes()).min(63)).div_ceil(step),
            Inputs::Drawn(count) => count,
        };
        let (function, arity) = (self.found.function, self.found.function.arity());
        loop {
            let block = next.fetch_add(1, Ordering::Relaxed);
            let first = block * BLOCK;
            if first >= count {
                return Ok(());
            }
            let len = BLOCK.min(count - first);
            let args: Vec<[u64; 2]> = match inputs {
                Inputs::Every { step } => (first..first + len).map(|i| pattern(function, dtype, i * step)).collect(),
                Inputs::Drawn(_) => {
                    let mut draw = Draw::new((function as u64) << 48 | block);
                    (0..len).map(|_| draw.arguments(function).map(f64::to_bits)).collect()
                }
            };
            let mut arrays = Vec::new();
            for i in 0..arity {
                let mut array = Array::zeroed(dtype, vec![len as usize]).context("arguments do not fit")?;
                fill(&mut array, dtype, args.iter().map(|bits| bits[i]));
                arrays.push(array);
            }
            let mut out = Array::zeroed(dtype, vec![len as usize]).context("results do not fit")?;
            self.kernels.run(function, &arrays, &mut out)?;
            self.judge(&args, &numbers(dtype, &out), first)?;
        }
    }

    fn judge(&mut self, args: &[[u64; 2]], results: &[f64], first: u64) -> Result<()> {
        let (function, dtype) = (self.found.function, self.found.dtype);
        let arity = function.arity();
        for (i, (bits, got)) in args.iter().zip(results).enumerate() {
            let x = bits.map(|bits| number(dtype, bits));
            let args = &x[..arity];
            // What functions of infinities, zeros and NaN are, other tests say.
            if !args.iter().all(|x| x.is_finite()) || beyond(function, args) {
                continue;
            }
            let exact = match dtype {
                DType::F64 => self.quick.value(function, args),
                _ => library(function, args),
            };
            self.found.samples += 1;
            let index = first + i as u64;
            // Most results are the nearest number: no news, once there was a larger error.
            if !index.is_multiple_of(AUDIT) && self.found.max_ulp > 0.5 && self.format.is_nearest(*got, exact) {
                continue;
            }
            let error = self.format.ulps(*got, exact);
            self.found.not_nearest += u64::from(error > 0.5);
            let more = error > self.found.max_ulp;
            if index.is_multiple_of(AUDIT) || more {
                self.audit(args, exact)?;
            }
            if more {
                (self.found.max_ulp, self.found.at) = (error, args.to_vec());
            }
        }
        Ok(())
    }

    /// Compares the reference with the exact value.
    fn audit(&mut self, args: &[f64], reference: Option<Scaled>) -> Result<()> {
        let (function, dtype) = (self.found.function, self.found.dtype);
        // The f64 library is right to some units in its last place.
        let (bound, limit) = if dtype == DType::F64 { (BOUND, LIMIT) } else { (scale(1.0, -50), 256) };
        let exact = self.exact.value(function, args);
        let off = distance(reference, exact, limit);
        let name = function.name();
        ensure!(off <= bound, "the reference of {name}{args:?} is off by {off:e}: {reference:?}, exactly {exact:?}");
        Ok(())
    }
}

/// How far `a` is from `b`, relative to `b`. Values above 2^limit are alike, and those below 2^-limit: no result tells
/// them from infinity or zero.
pub fn distance(a: Option<Scaled>, b: Option<Scaled>, limit: i32) -> f64 {
    let (a, b) = match (a, b) {
        (None, None) => return 0.0,
        (Some(a), Some(b)) => (a, b),
        _ => return f64::INFINITY,
    };
    let top = |x: Scaled| if x.value.high == 0.0 { -limit } else { x.exponent + split(x.value.high).1 };
    let (tops, same) = ([top(a), top(b)], (a.value.high < 0.0) == (b.value.high < 0.0));
    if tops.iter().all(|top| *top <= -limit) || same && tops.iter().all(|top| *top >= limit) {
        return 0.0;
    }
    let difference = a.value.scaled(a.exponent - b.exponent) + -b.value;
    (difference.high / b.value.high).abs()
}

/// Whether the value is an infinity or a matter of convention: at zero.
fn beyond(function: MathFn, args: &[f64]) -> bool {
    match function {
        MathFn::Log | MathFn::Rsqrt | MathFn::Pow => args[0] == 0.0,
        _ => false,
    }
}

/// The platform's f64 function, whose own error is below 2^-21 units of any smaller type.
fn library(function: MathFn, args: &[f64]) -> Option<Scaled> {
    let x = args[0];
    let value = match function {
        MathFn::Exp => x.exp(),
        MathFn::Log => x.ln(),
        MathFn::Tanh => x.tanh(),
        MathFn::Sin => x.sin(),
        MathFn::Cos => x.cos(),
        MathFn::Pow => x.powf(args[1]),
        MathFn::Sqrt => x.sqrt(),
        MathFn::Rsqrt => 1.0 / x.sqrt(),
        MathFn::Sigmoid => 1.0 / (1.0 + (-x).exp()),
    };
    let large = Scaled { value: Pair::of(1f64.copysign(value)), exponent: INFINITE };
    (!value.is_nan()).then_some(if value.is_infinite() { large } else { Pair::of(value).unscaled() })
}

/// The arguments number `index`: its bits; of two arguments a random pair, every other one with its power in range.
fn pattern(function: MathFn, dtype: DType, index: u64) -> [u64; 2] {
    if function.arity() == 1 {
        return [index, 0];
    }
    let mut draw = Draw::new(index);
    let bits = draw.arguments(MathFn::Pow).map(f64::to_bits);
    if index.is_multiple_of(2) {
        // The upper bits are those without a pattern.
        return bits.map(|bits| bits.rotate_left(24) & (u64::MAX >> (64 - 8 * dtype.bytes())));
    }
    let x = f64::from_bits(bits[0]);
    let x = number(dtype, Scalar::from_f64(dtype, x.abs().clamp(1e-38, 1e38)).bits());
    let exponent = 160.0 * (bits[1] as i32 as f64) * scale(1.0, -31);
    let y = exponent / x.log2();
    [x, if y.is_finite() { y } else { 2.0 }].map(|x| Scalar::from_f64(dtype, x).bits())
}

fn number(dtype: DType, bits: u64) -> f64 {
    match dtype {
        DType::F64 => f64::from_bits(bits),
        DType::F32 => f64::from(f32::from_bits(bits as u32)),
        _ => Scalar::from_bits(dtype, bits).as_f64(),
    }
}

fn numbers(dtype: DType, array: &Array) -> Vec<f64> {
    let size = dtype.bytes();
    let bits = |bytes: &[u8]| {
        let mut word = [0; 8];
        word[..size].copy_from_slice(bytes);
        number(dtype, u64::from_le_bytes(word))
    };
    array.as_bytes().chunks_exact(size).map(bits).collect()
}
