//! Generates values at indices.

use super::across::Row;
use super::schedule::Schedule;
use super::{LowerError, Variant, int};
use indexmap::IndexMap;
use tiga_abi::{DType, Poly, SizeExpr, Symbol};
use tiga_ir::{
    Acc, Attrs, Block, Body, Builder, Cmp, Func, Inst, Key, Module, Op, Scalar, Type, TypeError, Value,
    ops::{self, Substitution},
};
use tiga_source::Loc;

/// The position on one feature axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Index {
    /// One position.
    At(Value),
    /// As many consecutive positions as there are lanes, of which a mask may switch some off.
    Lanes(Value, Option<Value>),
    /// A position for each lane, of which a mask may switch some off.
    Each(Value, Option<Value>),
}

impl Index {
    /// Whether there is a position for each lane.
    pub(super) fn in_lanes(self) -> bool {
        !matches!(self, Index::At(_))
    }
}

/// Positions on all feature axes of a value.
pub(super) type Indices = Vec<Index>;

/// Code whose values are being generated: the function's, or a reducer's.
pub(super) struct Frame<'a> {
    pub(super) body: &'a Body,
    /// The body's symbols in terms of the kernel's; those that are not here are the kernel's.
    sizes: Substitution,
    /// Generated values; an inner scope ends with the block that dominates it.
    scopes: Vec<IndexMap<(Value, Indices), Value>>,
}

impl<'a> Frame<'a> {
    pub(super) fn new(body: &'a Body, sizes: Substitution) -> Self {
        Self { body, sizes, scopes: vec![IndexMap::new()] }
    }

    /// An extent of the body in terms of the kernel's symbols.
    pub(super) fn extent(&self, extent: &Poly) -> Poly {
        extent.substitute(&|s| self.sizes.get(s).cloned())
    }

    pub(super) fn enter(&mut self) {
        self.scopes.push(IndexMap::new());
    }

    pub(super) fn leave(&mut self) {
        self.scopes.pop();
    }

    /// Says what a value is at some indices.
    pub(super) fn bind(&mut self, value: Value, at: &[Index], generated: Value) {
        let scope = self.scopes.last_mut().expect("a frame has a scope");
        scope.insert((value, at.to_vec()), generated);
    }

    pub(super) fn lookup(&self, value: Value, at: &[Index]) -> Option<Value> {
        let key = (value, at.to_vec());
        self.scopes.iter().rev().find_map(|scope| scope.get(&key).copied())
    }
}

/// The kernel under construction.
pub(super) struct Emit<'a> {
    pub(super) module: &'a Module,
    pub(super) source: &'a Func,
    pub(super) kernel: Func,
    pub(super) block: Block,
    /// What new instructions are for: the place of what is being generated.
    pub(super) loc: Loc,
    /// Parameters by name.
    params: IndexMap<Symbol, Value>,
    pub(super) simd_bytes: u32,
    /// Lanes in use inside the innermost lane loop.
    pub(super) lanes: u32,
    /// The elements in the lanes of a fold that takes several at once.
    pub(super) row: Option<Row>,
    /// Bytes of scratch memory.
    pub(super) scratch: SizeExpr,
    /// What was decided.
    pub(super) schedule: Schedule,
    /// The accumulator table that the variants' guards decide.
    pub(super) table: Option<Acc>,
    empty: Module,
    /// Values being generated inside each other.
    depth: usize,
}

/// Values that may be generated inside each other.
const MAX_DEPTH: usize = 200;

/// Instructions of a kernel: an operand that is read at several positions is generated for each.
const MAX_INSTRUCTIONS: usize = 3_000_000;

impl<'a> Emit<'a> {
    pub(super) fn new(module: &'a Module, source: &'a Func, kernel: Func, simd_bytes: u32) -> Self {
        let block = kernel.body.entry(kernel.region);
        let named = |v: &Value| (kernel.body.value(*v).name.clone().expect("kernel parameters have names"), *v);
        let params = kernel.params().iter().map(named).collect();
        Self {
            module,
            source,
            kernel,
            block,
            loc: source.loc.clone(),
            params,
            simd_bytes,
            lanes: 1,
            row: None,
            scratch: SizeExpr::Const(0),
            schedule: Schedule::default(),
            table: super::accumulators(source),
            empty: Module::new(),
            depth: 0,
        }
    }

    /// The kernel, with the scratch memory that it uses, and its arrangement.
    pub(super) fn finish(self) -> Variant {
        Variant { kernel: Func { scratch: self.scratch, ..self.kernel }, schedule: self.schedule }
    }

    pub(super) fn param(&self, name: &str) -> Value {
        self.params[name]
    }

    pub(super) fn unsupported(&self, what: &'static str) -> LowerError {
        LowerError::Unsupported { what, loc: self.source.loc.clone() }
    }

    pub(super) fn new_block(&mut self) -> Block {
        self.kernel.body.add_block(self.kernel.region)
    }

    fn builder(&mut self) -> Builder<'_> {
        let mut builder = Builder::new(&self.empty, &mut self.kernel.body, self.block);
        builder.loc = self.loc.clone();
        builder
    }

    /// Puts what `make` generates at a place; what the compiler wrote itself has none, and is at that of what it is for.
    pub(super) fn at_place<R>(&mut self, loc: &Loc, make: impl FnOnce(&mut Self) -> R) -> R {
        if !loc.is_known() {
            return make(self);
        }
        let outside = std::mem::replace(&mut self.loc, loc.clone());
        let made = make(self);
        self.loc = outside;
        made
    }

    pub(super) fn emit(&mut self, op: Op, operands: &[Value], attrs: Attrs) -> Result<Value, TypeError> {
        self.builder().value(op, operands, attrs)
    }

    pub(super) fn op(&mut self, op: Op, operands: &[Value]) -> Result<Value, TypeError> {
        self.emit(op, operands, Attrs::new())
    }

    /// Appends an instruction without results.
    pub(super) fn effect(&mut self, op: Op, operands: &[Value]) -> Result<(), TypeError> {
        self.builder().op(op, operands, Attrs::new()).map(|_| ())
    }

    pub(super) fn constant(&mut self, scalar: Scalar) -> Value {
        self.builder().constant(scalar)
    }

    pub(super) fn i64(&mut self, value: i64) -> Value {
        self.constant(Scalar::I64(value))
    }

    pub(super) fn ty(&self, value: Value) -> &Type {
        self.kernel.body.ty(value)
    }

    pub(super) fn is_vector(&self, value: Value) -> bool {
        matches!(self.ty(value), Type::Vector(..))
    }

    /// The value as a vector of the lanes in use.
    pub(super) fn vector(&mut self, value: Value) -> Result<Value, TypeError> {
        if self.is_vector(value) {
            return Ok(value);
        }
        self.emit(ops::SPLAT, &[value], int(Key::Lanes, self.lanes.into()))
    }

    /// The value with elements of another type, or as it is.
    fn cast(&mut self, value: Value, to: DType) -> Result<Value, TypeError> {
        self.builder().cast(value, to)
    }

    pub(super) fn jump(&mut self, to: Block, args: &[Value]) -> Result<(), TypeError> {
        self.builder().push(ops::JUMP, &[], Attrs::new(), Vec::new(), vec![(to, args.to_vec())]).map(|_| ())
    }

    pub(super) fn branch(
        &mut self,
        condition: Value,
        then: (Block, &[Value]),
        otherwise: (Block, &[Value]),
    ) -> Result<(), TypeError> {
        let targets = vec![(then.0, then.1.to_vec()), (otherwise.0, otherwise.1.to_vec())];
        self.builder().push(ops::BRANCH, &[condition], Attrs::new(), Vec::new(), targets).map(|_| ())
    }

    /// A new block with parameters typed like `values`.
    pub(super) fn block_like(&mut self, values: &[Value]) -> (Block, Vec<Value>) {
        let block = self.new_block();
        let types: Vec<Type> = values.iter().map(|v| self.ty(*v).clone()).collect();
        let params = types.into_iter().map(|ty| self.kernel.body.add_param(block, ty, None)).collect();
        (block, params)
    }

    /// A loop with values carried around, while a condition holds of them; gives what they are then.
    pub(super) fn repeat(
        &mut self,
        initial: &[Value],
        condition: impl FnOnce(&mut Self, &[Value]) -> Result<Value, LowerError>,
        body: impl FnOnce(&mut Self, &[Value]) -> Result<Vec<Value>, LowerError>,
    ) -> Result<Vec<Value>, LowerError> {
        let (head, carried) = self.block_like(initial);
        let (inside, done) = (self.new_block(), self.new_block());
        self.jump(head, initial)?;
        self.block = head;
        let more = condition(self, &carried)?;
        self.branch(more, (inside, &[]), (done, &[]))?;
        self.block = inside;
        let next = body(self, &carried)?;
        self.jump(head, &next)?;
        self.block = done;
        Ok(carried)
    }

    /// The constant a symbol has under this kernel's guard.
    fn guarded(&self, symbol: &Symbol) -> Option<i64> {
        let equal = |(poly, cmp, value): &(Poly, Cmp, i64)| {
            (*cmp == Cmp::Eq && poly.as_symbol() == Some(symbol)).then_some(*value)
        };
        self.kernel.guard.terms.iter().find_map(equal)
    }

    /// An extent as far as the guard decides it.
    pub(super) fn known(&self, extent: &Poly) -> Poly {
        extent.substitute(&|s| self.guarded(s).map(Poly::constant))
    }

    /// Whether the kernel is told what an extent depends on.
    pub(super) fn has_extent(&self, extent: &Poly) -> bool {
        let known = self.known(extent);
        known.terms().iter().all(|(_, factors)| factors.iter().all(|factor| self.params.contains_key(factor)))
    }

    /// The value of an extent; a kernel is not told bounds.
    pub(super) fn extent(&mut self, extent: &Poly) -> Result<Value, LowerError> {
        let known = self.known(extent);
        let mut sum: Option<Value> = None;
        for (coefficient, factors) in known.terms() {
            let mut product: Option<Value> = (coefficient != 1 || factors.is_empty()).then(|| self.i64(coefficient));
            for factor in factors {
                let Some(value) = self.params.get(factor).copied() else {
                    return Err(self.unsupported("the value of a bound in a kernel"));
                };
                product = Some(match product {
                    Some(product) => self.op(ops::MUL, &[product, value])?,
                    None => value,
                });
            }
            let product = product.expect("a term has a coefficient or a factor");
            sum = Some(match sum {
                Some(sum) => self.op(ops::ADD, &[sum, product])?,
                None => product,
            });
        }
        Ok(sum.unwrap_or_else(|| self.i64(0)))
    }

    /// A value at indices, from memory of what was generated or newly; what it depends on first. A message may be a
    /// long chain of operations: most of them are not followed on the stack of this thread.
    pub(super) fn value(&mut self, frame: &mut Frame<'a>, value: Value, at: &[Index]) -> Result<Value, LowerError> {
        let mut waiting = vec![(value, at.to_vec())];
        loop {
            let (value, at) = waiting.last().cloned().expect("the value asked for is the last to go");
            let generated = match (frame.lookup(value, &at), Self::missing(frame, value, &at)) {
                (None, Some(operand)) => {
                    waiting.push(operand);
                    continue;
                }
                (None, None) => self.generate(frame, value, &at)?,
                (Some(known), _) => known,
            };
            waiting.pop();
            if waiting.is_empty() {
                return Ok(generated);
            }
        }
    }

    /// The first of a value's operands that is needed at indices known now, and is not generated there.
    fn missing(frame: &Frame<'a>, value: Value, at: &[Index]) -> Option<(Value, Indices)> {
        let data = frame.body.inst(frame.body.def(value)?);
        let suffix = |v: &Value| (*v, at[at.len() - rank(frame.body, *v)..].to_vec());
        let operands: Vec<(Value, Indices)> = match data.op {
            op if op == ops::FILL => vec![(data.operands[0], Vec::new())],
            op if op == ops::ELEM => vec![(data.operands[1], Vec::new())],
            op if op == ops::OUTER => {
                let (left, right) = at.split_at(rank(frame.body, data.operands[0]));
                vec![(data.operands[0], left.to_vec()), (data.operands[1], right.to_vec())]
            }
            op if op.elementwise().is_some() => data.operands.iter().map(suffix).collect(),
            _ => return None,
        };
        operands.into_iter().find(|(operand, at)| frame.lookup(*operand, at).is_none())
    }

    fn generate(&mut self, frame: &mut Frame<'a>, value: Value, at: &[Index]) -> Result<Value, LowerError> {
        let Some(inst) = frame.body.def(value) else {
            return Err(self.unsupported("a reducer that reads its state at other features than its own"));
        };
        if self.depth == MAX_DEPTH {
            return Err(self.unsupported("a chain of so many elements, concatenations and reductions"));
        }
        if self.kernel.body.inst_count() > MAX_INSTRUCTIONS {
            return Err(self.unsupported("so much code in one kernel"));
        }
        self.depth += 1;
        let place = &frame.body.inst(inst).loc;
        let generated = self.at_place(place, |emit| emit.inst(frame, inst, value, at))?;
        self.depth -= 1;
        frame.bind(value, at, generated);
        Ok(generated)
    }

    fn inst(&mut self, frame: &mut Frame<'a>, inst: Inst, value: Value, at: &[Index]) -> Result<Value, LowerError> {
        let data = frame.body.inst(inst);
        let operands = &data.operands;
        match data.op {
            op if op == ops::CONST => Ok(self.constant(*data.attrs.value().expect("verified: a constant has a value"))),
            op if op == ops::LEN => {
                let dims = data.attrs.dims().expect("verified: an extent has dims");
                self.extent(&frame.extent(&dims.extents()[0]))
            }
            op if op == ops::FILL => self.value(frame, operands[0], &[]),
            op if op == ops::LOAD => self.load(frame, inst, at),
            op if op == ops::ELEM => {
                let index = self.value(frame, operands[1], &[])?;
                let axis = *data.attrs.axis().expect("verified: elem has an axis") as usize;
                let mut inner = at.to_vec();
                inner.insert(axis, self.index(index));
                self.value(frame, operands[0], &inner)
            }
            op if op == ops::OUTER => {
                let rank = rank(frame.body, operands[0]);
                let left = self.value(frame, operands[0], &at[..rank])?;
                let right = self.value(frame, operands[1], &at[rank..])?;
                self.elementwise(ops::MUL, &[left, right], &Attrs::new())
            }
            op if op == ops::CONCAT => self.concat(frame, operands, at),
            op if op == ops::SLICE => self.slice(frame, inst, at),
            op if op == ops::PERMUTE => self.permute(frame, inst, at),
            op if op == ops::RESHAPE => self.reshape(frame, inst, at),
            op if op == ops::SCAN_AXIS => self.scan(frame, inst, at),
            op if op == ops::IOTA => self.iota(at),
            op if op == ops::GATHER_AXIS => self.gather_axis(frame, inst, at),
            op if op == ops::GATHER_SET => self.gather_set(frame, inst, at),
            op if op == ops::DEGREE => {
                let row = self.value(frame, operands[1], &[])?;
                let (begin, end) = self.row_bounds(frame, operands[0], row)?;
                Ok(self.op(ops::SUB, &[end, begin])?)
            }
            op if op == ops::REDUCE => self.reduce(frame, inst, value, at),
            op if op == ops::JOIN => self.join(frame, inst, value, at),
            op if op.elementwise().is_some() => {
                let mut args = Vec::new();
                for operand in operands {
                    let own = at.len() - rank(frame.body, *operand);
                    args.push(self.value(frame, *operand, &at[own..])?);
                }
                self.elementwise(op, &args, &data.attrs)
            }
            op => Err(LowerError::operation(op, &data.loc)),
        }
    }

    /// An elementwise op on scalars and vectors; scalars are repeated if any operand is a vector. What computes with
    /// `f16` or `bf16` does so in `f32`, and rounds.
    pub(super) fn elementwise(&mut self, op: Op, args: &[Value], attrs: &Attrs) -> Result<Value, LowerError> {
        let mut args = args.to_vec();
        if args.iter().any(|v| self.is_vector(*v)) {
            for arg in &mut args {
                *arg = self.vector(*arg)?;
            }
        }
        let rule = op.elementwise().expect("called for elementwise ops");
        let half = args.iter().filter_map(|v| self.ty(*v).dtype()).find(|d| d.is_half());
        if let Some(half) = half.filter(|_| !rule.moves()) {
            for arg in &mut args {
                let wide = self.ty(*arg).dtype().map_or(DType::F32, DType::accumulator);
                *arg = self.cast(*arg, wide)?;
            }
            let value = self.elementwise(op, &args, attrs)?;
            return Ok(if self.ty(value).dtype() == Some(DType::F32) { self.cast(value, half)? } else { value });
        }
        if op.kernel().is_some() {
            return Ok(self.emit(op, &args, attrs.clone())?);
        }
        let expanded = rule.expand(&mut self.builder(), &args);
        expanded.ok_or_else(|| self.unsupported(op.name()))?.map_err(LowerError::Type)
    }
}

/// Feature axes of a small tensor.
pub(super) fn rank(body: &Body, value: Value) -> usize {
    body.ty(value).as_tensor().map_or(0, |t| t.dims.len())
}
