//! The kernel level: blocks, lanes and addresses; every access is checked.

use super::error::{ErrorKind, Run, malformed};
use super::machine::operand;
use super::value::{Buffer, Tensor, TensorError, count, scalar_from_bytes};
use super::{InterpError, Options};
use crate::{Body, Func, InstData, KernelOp, Level, Scalar, Type, Value as Handle};
use tiga_abi::DType;

/// Memory that a kernel may access: bytes, and which of them were written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelMemory {
    bytes: Vec<u8>,
    written: Vec<bool>,
    lent: bool,
}

impl KernelMemory {
    /// Memory that nothing has written.
    pub fn unwritten(bytes: usize) -> Self {
        KernelMemory { bytes: vec![0; bytes], written: vec![false; bytes], lent: false }
    }

    /// A tensor's elements, for reading only.
    pub fn lent(tensor: &Tensor) -> Self {
        let bytes = tensor.to_bytes();
        KernelMemory { written: vec![true; bytes.len()], bytes, lent: true }
    }

    /// The elements; one of which a byte is not written is not written.
    ///
    /// # Errors
    /// Another number of bytes.
    pub fn buffer(&self, dtype: DType, shape: &[usize]) -> Result<Buffer, TensorError> {
        if count(shape).and_then(|n| n.checked_mul(dtype.bytes())) != Some(self.bytes.len()) {
            return Err(TensorError::Count { shape: shape.to_vec(), found: self.bytes.len() });
        }
        let one = |at: usize| self.load(at, dtype).ok();
        let elems = (0..self.bytes.len()).step_by(dtype.bytes()).map(one).collect();
        Ok(Buffer::of_elems(dtype, shape.to_vec(), elems))
    }

    fn load(&self, at: usize, dtype: DType) -> Run<Scalar> {
        let range = at..at + dtype.bytes();
        match self.written[range.clone()].iter().position(|w| !w) {
            Some(i) => Err(ErrorKind::Unwritten { index: at + i }.into()),
            None => Ok(scalar_from_bytes(dtype, &self.bytes[range])),
        }
    }

    fn store(&mut self, at: usize, value: Scalar) -> Run<()> {
        if self.lent {
            return Err(ErrorKind::ReadOnly { index: at }.into());
        }
        self.put(at, value);
        Ok(())
    }

    fn put(&mut self, at: usize, value: Scalar) {
        let size = value.dtype().bytes();
        self.bytes[at..at + size].copy_from_slice(&value.bits().to_le_bytes()[..size]);
        self.written[at..at + size].fill(true);
    }
}

impl From<&Buffer> for KernelMemory {
    fn from(buffer: &Buffer) -> Self {
        let size = buffer.dtype().bytes();
        let mut memory = KernelMemory::unwritten(buffer.elems().len() * size);
        for (i, elem) in buffer.elems().iter().enumerate() {
            if let Some(elem) = elem {
                memory.put(i * size, *elem);
            }
        }
        memory
    }
}

/// What a kernel is given, by the kernel ABI: its first parameters are `i64` symbols, then come pointers, of which a last
/// one named `scratch` is fresh memory of the kernel's scratch size, then the units.
#[derive(Debug)]
pub struct KernelCall<'a> {
    /// Values of the symbols.
    pub sym: &'a [i64],
    /// Memory of the pointers.
    pub memory: &'a mut [KernelMemory],
    /// The units to work on.
    pub units: std::ops::Range<i64>,
}

/// Runs a kernel function.
///
/// # Errors
/// Parameters that do not fit, a guard that does not hold, accesses outside of memory, of unwritten memory or at
/// addresses that are no multiples of the element's size, exhausted budgets.
pub fn run_kernel(func: &Func, call: KernelCall<'_>, options: &Options) -> Result<(), InterpError> {
    if func.level != Level::Kernel {
        return Err(ErrorKind::UnknownFunction { name: func.name.to_string(), level: Level::Kernel }.into());
    }
    let values = bind(func, &call)?;
    // A symbol that a kernel does not take as a parameter is fixed by its guard; the options give its value.
    let of_param = |s: &str| (0..call.sym.len()).find(|i| func.param_name(*i) == s).map(|i| call.sym[i]);
    let size = |s: &str| of_param(s).or_else(|| options.sizes.get(s).copied());
    for (extent, cmp, bound) in &func.guard.terms {
        if !cmp.holds(extent.eval(&size).map_err(ErrorKind::Size)?, *bound) {
            return Err(ErrorKind::Guard { function: func.name.clone(), guard: func.guard.to_string() }.into());
        }
    }
    let scratch = func.scratch.eval(&size).map_err(ErrorKind::Size)?;
    let scratch = usize::try_from(scratch).ok().filter(|n| *n <= options.elements);
    let scratch = scratch.ok_or(ErrorKind::Elements { limit: options.elements })?;
    let mut scratch = KernelMemory::unwritten(scratch);
    let mut memory: Vec<&mut KernelMemory> = call.memory.iter_mut().collect();
    memory.push(&mut scratch);
    Kernel { body: &func.body, values, memory, steps: options.steps, limit: options.steps }.run(func)
}

/// What a value of a kernel holds.
#[derive(Clone, Debug)]
enum Lanes {
    One(Scalar),
    Many(Vec<Scalar>),
    Ptr { memory: usize, offset: i64, dtype: DType },
}

fn bind(func: &Func, call: &KernelCall<'_>) -> Run<Vec<Option<Lanes>>> {
    let (params, given) = (func.params(), call.sym.len() + call.memory.len() + 2);
    let has_scratch = params.len() == given + 1 && func.param_name(given - 2) == "scratch";
    if params.len() != given + usize::from(has_scratch) {
        let (function, expected) = (func.name.clone(), params.len());
        return Err(ErrorKind::Arguments { function, expected, found: given }.into());
    }
    let numbers = |values: &[i64]| values.iter().map(|v| Lanes::One(Scalar::I64(*v))).collect::<Vec<_>>();
    let pointers = (0..call.memory.len() + usize::from(has_scratch)).map(|memory| Lanes::Ptr {
        memory,
        offset: 0,
        dtype: DType::Bool,
    });
    let units = numbers(&[call.units.start, call.units.end]);
    let mut values = Vec::new();
    for (i, arg) in numbers(call.sym).into_iter().chain(pointers).chain(units).enumerate() {
        let ty = func.body.ty(params[i]);
        let arg = match (ty, arg) {
            (Type::Ptr(dtype), Lanes::Ptr { memory, offset, .. }) => Lanes::Ptr { memory, offset, dtype: *dtype },
            (ty, arg @ Lanes::One(_)) if ty.is_scalar(DType::I64) => arg,
            (_, arg) => {
                let found = if matches!(arg, Lanes::One(_)) { "an i64" } else { "memory" };
                let param = func.param_name(i).into();
                return Err(ErrorKind::Argument { param, expected: ty.clone(), found: found.to_owned() }.into());
            }
        };
        set(&mut values, params[i], arg);
    }
    Ok(values)
}

fn set(values: &mut Vec<Option<Lanes>>, value: Handle, lanes: Lanes) {
    let index = value.as_u32() as usize;
    if index >= values.len() {
        values.resize(index + 1, None);
    }
    values[index] = Some(lanes);
}

/// A kernel at work.
struct Kernel<'a> {
    body: &'a Body,
    values: Vec<Option<Lanes>>,
    /// The arrays, then the scratch memory.
    memory: Vec<&'a mut KernelMemory>,
    steps: u64,
    limit: u64,
}

impl Kernel<'_> {
    fn run(&mut self, func: &Func) -> Run<()> {
        let mut block = self.body.entry(func.region);
        'blocks: loop {
            for inst in &self.body.block(block).insts {
                let data = self.body.inst(*inst);
                self.steps = self.steps.checked_sub(1).ok_or(ErrorKind::Steps { limit: self.limit })?;
                let target = match data.op.kernel() {
                    Some(KernelOp::Return) => return Ok(()),
                    Some(KernelOp::Jump) => data.targets.first(),
                    Some(KernelOp::Branch) => {
                        let condition = self.scalar(data, 0)?.as_bool();
                        let condition = condition.ok_or_else(|| malformed("a condition is expected"))?;
                        data.targets.get(usize::from(!condition))
                    }
                    Some(op) => {
                        self.inst(op, data).map_err(|e| e.at(data.op.name(), &data.loc))?;
                        continue;
                    }
                    None => return Err(malformed("the op is no kernel instruction").at(data.op.name(), &data.loc)),
                };
                let (next, args) = target.ok_or_else(|| malformed("a jump has no target"))?;
                // All arguments are read before a parameter is set: a block may swap its own parameters.
                let args = args.iter().map(|v| self.get(*v).cloned()).collect::<Run<Vec<_>>>()?;
                let params = &self.body.block(*next).params;
                if params.len() != args.len() {
                    return Err(malformed("a jump has another number of arguments"));
                }
                for (param, arg) in params.iter().zip(args) {
                    set(&mut self.values, *param, arg);
                }
                block = *next;
                continue 'blocks;
            }
            return Err(malformed("a block has no terminator"));
        }
    }

    fn get(&self, value: Handle) -> Run<&Lanes> {
        let lanes = self.values.get(value.as_u32() as usize).and_then(Option::as_ref);
        lanes.ok_or_else(|| malformed("a value is used before it is defined"))
    }

    fn lanes(&self, data: &InstData, index: usize) -> Run<&[Scalar]> {
        match self.get(operand(data, index)?)? {
            Lanes::One(one) => Ok(std::slice::from_ref(one)),
            Lanes::Many(many) => Ok(many),
            Lanes::Ptr { .. } => Err(malformed("elements are expected")),
        }
    }

    fn scalar(&self, data: &InstData, index: usize) -> Run<Scalar> {
        match self.get(operand(data, index)?)? {
            Lanes::One(one) => Ok(*one),
            _ => Err(malformed("a scalar is expected")),
        }
    }

    fn inst(&mut self, op: KernelOp, data: &InstData) -> Run<()> {
        use KernelOp as K;
        let result = match op {
            K::Const => Lanes::One(*data.attrs.value().ok_or_else(|| malformed("a value is missing"))?),
            K::Add | K::Sub | K::Mul | K::Div | K::Rem | K::Neg | K::Abs | K::Sqrt | K::Fma | K::Min | K::Max => {
                self.elementwise(data)?
            }
            K::Eq | K::Ne | K::Lt | K::Le | K::Gt | K::Ge | K::And | K::Or | K::Xor | K::Not => {
                self.elementwise(data)?
            }
            K::Shl | K::Shr | K::Sar | K::Select | K::Cast | K::Bitcast => self.elementwise(data)?,
            K::Splat => Lanes::Many(vec![self.scalar(data, 0)?; lanes_of(data)?]),
            K::Lanes => Lanes::Many((0..lanes_of(data)?).map(|i| Scalar::I64(i as i64)).collect()),
            K::Shuffle => self.shuffle(data)?,
            K::Extract => Lanes::One(self.lane(data, *data.attrs.axis().unwrap_or(&-1))?),
            K::Load => self.load(data)?,
            K::Gather => self.gather(data)?,
            K::Store => return self.store(data),
            K::Prefetch => return self.prefetch(data),
            K::Offset => self.offset(data)?,
            K::Jump | K::Branch | K::Return => return Err(malformed("a terminator stands inside of a block")),
        };
        let value = data.results.first().ok_or_else(|| malformed("a result is missing"))?;
        set(&mut self.values, *value, result);
        Ok(())
    }

    fn elementwise(&self, data: &InstData) -> Run<Lanes> {
        let rule = data.op.elementwise().ok_or_else(|| malformed("the op works on no elements"))?;
        let args = (0..data.operands.len()).map(|i| self.lanes(data, i)).collect::<Run<Vec<_>>>()?;
        let n = args.first().map_or(0, |a| a.len());
        if args.len() != rule.arity() || args.iter().any(|a| a.len() != n) {
            return Err(malformed("operands of other shapes"));
        }
        let lane = |i: usize| rule.value(&args.iter().map(|a| a[i]).collect::<Vec<_>>(), &data.attrs);
        Ok(match self.get(operand(data, 0)?)? {
            Lanes::One(_) => Lanes::One(lane(0)),
            _ => Lanes::Many((0..n).map(lane).collect()),
        })
    }

    fn lane(&self, data: &InstData, lane: i64) -> Run<Scalar> {
        let lanes = self.lanes(data, 0)?;
        let found = usize::try_from(lane).ok().and_then(|i| lanes.get(i));
        found.copied().ok_or_else(|| ErrorKind::Index { what: "a vector", index: lane, extent: lanes.len() }.into())
    }

    fn shuffle(&self, data: &InstData) -> Run<Lanes> {
        let pattern = data.attrs.pattern().ok_or_else(|| malformed("a pattern is missing"))?;
        Ok(Lanes::Many(pattern.iter().map(|i| self.lane(data, *i)).collect::<Run<_>>()?))
    }

    /// The memory and byte that a pointer's element has.
    fn address(&self, pointer: &Lanes, index: i64) -> Run<(usize, usize, DType)> {
        let Lanes::Ptr { memory, offset, dtype } = pointer else { return Err(malformed("an address is expected")) };
        let size = dtype.bytes() as i128;
        let at = i128::from(*offset) + i128::from(index) * size;
        let extent = self.memory[*memory].bytes.len();
        if at < 0 || at + size > extent as i128 {
            // An index so far off that its byte has no number is reported as the farthest one.
            let index = at.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
            return Err(ErrorKind::Index { what: "memory, in bytes,", index, extent }.into());
        }
        if at % size != 0 {
            return Err(ErrorKind::Misaligned { offset: at as i64, dtype: *dtype }.into());
        }
        Ok((*memory, at as usize, *dtype))
    }

    fn read(&self, pointer: &Lanes, index: i64) -> Run<Scalar> {
        let (memory, at, dtype) = self.address(pointer, index)?;
        self.memory[memory].load(at, dtype)
    }

    fn index(&self, data: &InstData, at: usize) -> Run<i64> {
        self.scalar(data, at)?.as_i64().ok_or_else(|| malformed("an index is expected"))
    }

    /// Which of `n` lanes take part: those of the operand `at`, if there is one.
    fn mask(&self, data: &InstData, at: usize, n: usize) -> Run<Vec<bool>> {
        if data.operands.len() <= at {
            return Ok(vec![true; n]);
        }
        let mask = self.lanes(data, at)?.iter().map(|m| m.as_bool()).collect::<Option<Vec<_>>>();
        mask.filter(|m| m.len() == n).ok_or_else(|| malformed("a mask of as many lanes is expected"))
    }

    /// Elements at some indices; 0 where the mask is off.
    fn masked(&self, pointer: &Lanes, indices: impl Iterator<Item = i64>, mask: &[bool]) -> Run<Lanes> {
        let Lanes::Ptr { dtype, .. } = pointer else { return Err(malformed("an address is expected")) };
        let off = Scalar::from_bits(*dtype, 0);
        let lane = |(index, on): (i64, &bool)| if *on { self.read(pointer, index) } else { Ok(off) };
        Ok(Lanes::Many(indices.zip(mask).map(lane).collect::<Run<_>>()?))
    }

    fn load(&self, data: &InstData) -> Run<Lanes> {
        let (pointer, index) = (self.get(operand(data, 0)?)?, self.index(data, 1)?);
        if data.attrs.lanes().is_none() {
            return Ok(Lanes::One(self.read(pointer, index)?));
        }
        let n = lanes_of(data)?;
        self.masked(pointer, (0..n as i64).map(|i| index.wrapping_add(i)), &self.mask(data, 2, n)?)
    }

    fn gather(&self, data: &InstData) -> Run<Lanes> {
        let pointer = self.get(operand(data, 0)?)?;
        let indices = self.lanes(data, 1)?;
        let mask = self.mask(data, 2, indices.len())?;
        let indices = indices.iter().map(|i| i.as_i64()).collect::<Option<Vec<_>>>();
        self.masked(pointer, indices.ok_or_else(|| malformed("indices are expected"))?.into_iter(), &mask)
    }

    fn store(&mut self, data: &InstData) -> Run<()> {
        let values = self.lanes(data, 0)?.to_vec();
        let (pointer, index) = (self.get(operand(data, 1)?)?.clone(), self.index(data, 2)?);
        let mask = self.mask(data, 3, values.len())?;
        for (i, (value, on)) in values.iter().zip(mask).enumerate() {
            if on {
                let (memory, at, dtype) = self.address(&pointer, index.wrapping_add(i as i64))?;
                if value.dtype() != dtype {
                    return Err(malformed("an element of another type is stored"));
                }
                self.memory[memory].store(at, *value)?;
            }
        }
        Ok(())
    }

    /// Nothing is read, but the index must be valid.
    fn prefetch(&self, data: &InstData) -> Run<()> {
        self.address(self.get(operand(data, 0)?)?, self.index(data, 1)?).map(|_| ())
    }

    fn offset(&self, data: &InstData) -> Run<Lanes> {
        let Lanes::Ptr { memory, offset, .. } = *self.get(operand(data, 0)?)? else {
            return Err(malformed("an address is expected"));
        };
        let (bytes, to) = (data.attrs.bytes(), data.attrs.to());
        let (Some(bytes), Some(dtype)) = (bytes, to) else { return Err(malformed("bytes and a type are expected")) };
        Ok(Lanes::Ptr { memory, offset: offset.wrapping_add(*bytes), dtype: *dtype })
    }
}

/// The number of lanes, at most 64.
fn lanes_of(data: &InstData) -> Run<usize> {
    let lanes = data.attrs.lanes().and_then(|n| usize::try_from(*n).ok()).filter(|n| *n <= 64);
    lanes.ok_or_else(|| malformed("a number of lanes is missing"))
}
