//! What an op is: its name, where it may stand, its type rule, effect and fold.
//!
//! Ops are values of `&'static dyn OpDef`, so that domain and loops ops are open (one file, one row
//! in [`crate::ops`]); those that a kernel may contain also have a [`KernelOp`], which is closed on
//! purpose: a new one is a compile error in every backend.

use crate::{Attrs, Body, Inst, Module, Nest, Region, Scalar, TensorType, Type, Value};
use std::fmt;
use tiga_abi::Symbol;

/// A level of the IR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// What to compute: field operations, `apply`, relations as values.
    Domain,
    /// Which tasks, in which order, on which memory: launches of loops functions.
    Host,
    /// In which order, over what: iteration spaces, accesses, reductions.
    Loops,
    /// How, on a machine: scalars, vectors, addresses, blocks.
    Kernel,
}

impl Level {
    /// All levels.
    pub const ALL: [Level; 4] = [Level::Domain, Level::Host, Level::Loops, Level::Kernel];

    /// The keyword that opens a function of this level.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Domain => "domain",
            Level::Host => "host",
            Level::Loops => "loops",
            Level::Kernel => "kernel",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The levels an op may stand on.
pub type Levels = &'static [Level];

/// What an instruction does besides computing its results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing: may be merged, moved, dropped.
    Pure,
    /// Reads memory: may be dropped, not moved across writes.
    Read,
    /// Writes memory or starts work: stays.
    Write,
    /// Ends a block.
    Terminator,
}

/// Instructions of the kernel level. Closed: adding one breaks every backend until it spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KernelOp {
    /// A constant, from the attribute `value`.
    Const,
    /// Sum; integers wrap.
    Add,
    /// Difference; integers wrap.
    Sub,
    /// Product; integers wrap.
    Mul,
    /// Quotient; integers: x/0 = 0, MIN/−1 wraps.
    Div,
    /// Remainder with the dividend's sign; integers: x%0 = 0; floats: as C `fmod` is not offered.
    Rem,
    /// Negation; integers wrap.
    Neg,
    /// Absolute value; integers wrap.
    Abs,
    /// Square root, correctly rounded.
    Sqrt,
    /// a·b + c with one rounding.
    Fma,
    /// IEEE 754-2019 minimum: NaN propagates, −0 < +0.
    Min,
    /// IEEE 754-2019 maximum: NaN propagates, −0 < +0.
    Max,
    /// Equal (ordered).
    Eq,
    /// Not equal, or unordered.
    Ne,
    /// Less (ordered; integers signed).
    Lt,
    /// Less or equal (ordered).
    Le,
    /// Greater (ordered).
    Gt,
    /// Greater or equal (ordered).
    Ge,
    /// Bitwise and (bool, integers).
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Bitwise complement.
    Not,
    /// Shift left; the count is taken modulo the width.
    Shl,
    /// Logical shift right; the count is taken modulo the width.
    Shr,
    /// Arithmetic shift right; the count is taken modulo the width.
    Sar,
    /// `c ? a : b`, both evaluated.
    Select,
    /// Conversion between element types as [`Scalar::cast`].
    Cast,
    /// The same bits as another type of the same width.
    Bitcast,
    /// A vector of one scalar.
    Splat,
    /// The vector 0, 1, 2, … of i64.
    Lanes,
    /// A vector of chosen lanes of its operand.
    Shuffle,
    /// One lane of a vector.
    Extract,
    /// Element (or `lanes` contiguous elements) at an index; masked-off lanes are 0 and not accessed.
    Load,
    /// Stores what `Load` loads; masked-off lanes are not accessed.
    Store,
    /// Elements at a vector of indices; masked-off lanes are 0 and not accessed.
    Gather,
    /// A hint that the element at an index will be read.
    Prefetch,
    /// An address `bytes` further, as another element type.
    Offset,
    /// To a block.
    Jump,
    /// To one of two blocks.
    Branch,
    /// Out of the kernel.
    Return,
}

/// Why an instruction has no type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TypeError {
    /// Wrong number of operands.
    #[error("`{op}` takes {expected} operands, found {found}")]
    Arity {
        /// The op.
        op: &'static str,
        /// How many it takes.
        expected: usize,
        /// How many it has.
        found: usize,
    },
    /// An operand of the wrong type.
    #[error("operand {index} of `{op}` has type {found}, expected {expected}")]
    Operand {
        /// The op.
        op: &'static str,
        /// Which operand.
        index: usize,
        /// Its type.
        found: Box<Type>,
        /// What is accepted.
        expected: String,
    },
    /// Shapes that do not go together.
    #[error("shapes of `{op}` do not match: {left} and {right}")]
    Shapes {
        /// The op.
        op: &'static str,
        /// One shape.
        left: Box<Type>,
        /// The other.
        right: Box<Type>,
    },
    /// A missing attribute.
    #[error("`{op}` needs the attribute `{key}`")]
    Attribute {
        /// The op.
        op: &'static str,
        /// The key's name.
        key: &'static str,
    },
    /// A name that nothing declares.
    #[error("`{op}` names `@{name}`, which the module does not declare")]
    Unknown {
        /// The op.
        op: &'static str,
        /// The name.
        name: String,
    },
    /// Wrong regions, region parameters or yields.
    #[error("region {index} of `{op}`: expected {expected}, found {found}")]
    Region {
        /// The op.
        op: &'static str,
        /// Which region.
        index: usize,
        /// What was expected.
        expected: String,
        /// What stands there.
        found: String,
    },
}

/// An instruction with what is needed to type it.
#[derive(Clone, Copy)]
pub struct OpView<'a> {
    /// The module: reducers and functions by name.
    pub module: &'a Module,
    /// The body it stands in.
    pub body: &'a Body,
    /// Which instruction.
    pub inst: Inst,
}

impl<'a> OpView<'a> {
    /// The op's name.
    pub fn name(self) -> &'static str {
        self.body.inst(self.inst).op.name()
    }

    /// Its operands.
    pub fn operands(self) -> &'a [Value] {
        &self.body.inst(self.inst).operands
    }

    /// Its attributes.
    pub fn attrs(self) -> &'a Attrs {
        &self.body.inst(self.inst).attrs
    }

    /// Its regions.
    pub fn regions(self) -> &'a [Region] {
        &self.body.inst(self.inst).regions
    }

    /// The type of an operand; an arity error if there is none.
    pub fn operand(self, index: usize) -> Result<&'a Type, TypeError> {
        let operands = self.operands();
        operands.get(index).map(|v| self.body.ty(*v)).ok_or(TypeError::Arity {
            op: self.name(),
            expected: index + 1,
            found: operands.len(),
        })
    }

    /// The instruction that defines an operand.
    pub fn def(self, index: usize) -> Option<OpView<'a>> {
        let inst = self.body.def(*self.operands().get(index)?)?;
        Some(OpView { inst, ..self })
    }

    /// The element that an operand has everywhere, if that is known.
    pub fn constant(self, index: usize) -> Option<Scalar> {
        let def = self.def(index)?;
        let op = def.body.inst(def.inst).op;
        match op {
            op if op == crate::ops::CONST => def.attrs().value().copied(),
            op if op == crate::ops::FILL || op == crate::ops::SPLAT => def.constant(0),
            _ => None,
        }
    }

    /// Checks the number of operands.
    pub fn arity(self, expected: usize) -> Result<(), TypeError> {
        let found = self.operands().len();
        if found == expected { Ok(()) } else { Err(TypeError::Arity { op: self.name(), expected, found }) }
    }

    /// The feature axis that the attribute `axis` names, which operand 0 must have.
    pub fn feature_axis(self, tensor: &TensorType) -> Result<usize, TypeError> {
        let axis = *self.attrs().axis().ok_or_else(|| self.missing(crate::Key::Axis))?;
        let axis = usize::try_from(axis).ok().filter(|a| *a < tensor.dims.len());
        axis.ok_or_else(|| self.wrong(0, "a tensor with that axis"))
    }

    /// The set of operands 0 and 1, of which one may have none.
    pub fn common_set(self, first: &TensorType, second: &TensorType) -> Result<Option<Symbol>, TypeError> {
        match (&first.set, &second.set) {
            (Some(a), Some(b)) if a != b => Err(self.wrong(1, format!("a tensor over {a}, or without a set"))),
            (a, b) => Ok(a.clone().or_else(|| b.clone())),
        }
    }

    /// The error that operand `index` is not `expected`.
    pub fn wrong(self, index: usize, expected: impl Into<String>) -> TypeError {
        match self.operand(index) {
            Ok(found) => {
                TypeError::Operand { op: self.name(), index, found: Box::new(found.clone()), expected: expected.into() }
            }
            Err(arity) => arity,
        }
    }

    /// The error that an attribute is missing.
    pub fn missing(self, key: crate::Key) -> TypeError {
        TypeError::Attribute { op: self.name(), key: key.name() }
    }

    /// The error that a region is not as it must be.
    pub fn region_error(self, index: usize, expected: impl Into<String>, found: impl Into<String>) -> TypeError {
        TypeError::Region { op: self.name(), index, expected: expected.into(), found: found.into() }
    }

    /// Types of the parameters of a region's entry block.
    pub fn region_params(self, index: usize) -> Result<Vec<&'a Type>, TypeError> {
        let region = *self.regions().get(index).ok_or_else(|| self.region_error(index, "a region", "none"))?;
        let entry = self.body.entry(region);
        Ok(self.body.block(entry).params.iter().map(|v| self.body.ty(*v)).collect())
    }

    /// Types of what the last instruction of a single-block region yields.
    pub fn region_yields(self, index: usize) -> Result<Vec<&'a Type>, TypeError> {
        let region = *self.regions().get(index).ok_or_else(|| self.region_error(index, "a region", "none"))?;
        let last = self.body.block(self.body.entry(region)).insts.last();
        match last.map(|i| self.body.inst(*i)) {
            Some(data) if data.op == crate::ops::YIELD => Ok(data.operands.iter().map(|v| self.body.ty(*v)).collect()),
            _ => Err(self.region_error(index, "a `yield` at its end", "none")),
        }
    }
}

/// What an instruction may be replaced by.
#[derive(Clone, Debug, PartialEq)]
pub enum Fold {
    /// Values that are there already, one for each result; of no use where the types differ.
    Values(Vec<Value>),
    /// The same element everywhere.
    Const(Scalar),
    /// Another op on values that are there.
    Op(Op, Vec<Value>, Attrs),
    /// A right operand that is a new constant: `op(value, constant)`.
    WithConst(Op, Value, Scalar),
    /// The code of one of its regions, with what that yields as results.
    Region(Region),
}

/// The definition of an op.
pub trait OpDef: Sync {
    /// Its name in `.tir`.
    fn name(&self) -> &'static str;
    /// Where it may stand.
    fn levels(&self) -> Levels;
    /// The types of its results, from operands, attributes and regions.
    ///
    /// # Errors
    /// Whatever is wrong with them.
    fn infer(&self, op: OpView<'_>) -> Result<Vec<Type>, TypeError>;
    /// What it does besides.
    fn effect(&self) -> Effect {
        Effect::Pure
    }
    /// How many regions it has (a range, inclusive).
    fn regions(&self) -> (usize, usize) {
        (0, 0)
    }
    /// How many blocks it jumps to.
    fn targets(&self) -> usize {
        0
    }
    /// Its function on elements, if it works element by element.
    fn elementwise(&self) -> Option<&dyn crate::ops::Elementwise> {
        None
    }
    /// Whether an operand is read as a whole, not row by row: inside a loop it is memory.
    fn whole(&self, index: usize) -> bool {
        let _ = index;
        false
    }
    /// Whether one row of its results is the same op on one row of its operands, as it is for elementwise ops.
    fn nests_as_it_is(&self) -> bool {
        false
    }
    /// One row of its results from one row of its operands, if that is all they depend on: what becomes of a domain op
    /// inside a loop. An operand that is a relation is passed as it is.
    fn nest(
        &self,
        op: OpView<'_>,
        nest: &mut Nest<'_, '_>,
        operands: &[Value],
    ) -> Option<Result<Vec<Value>, TypeError>> {
        (self.elementwise().is_some() || self.nests_as_it_is()).then(|| nest.same(op, operands))
    }
    /// What it may be replaced by without changing a bit (NaN payloads aside), if there is something simpler.
    fn fold(&self, op: OpView<'_>) -> Option<Fold> {
        crate::ops::fold_elements(op, self.elementwise()?)
    }
    /// Its instruction, if a kernel may contain it.
    fn kernel(&self) -> Option<KernelOp> {
        None
    }
}

/// A reference to an op's definition; equal if the names are.
#[derive(Clone, Copy)]
pub struct Op(pub &'static dyn OpDef);

impl Op {
    /// The op's name.
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// Evaluates an elementwise op on elements.
    pub fn eval(self, args: &[Scalar], attrs: &Attrs) -> Option<Scalar> {
        self.0.elementwise().map(|e| e.value(args, attrs))
    }
}

impl std::ops::Deref for Op {
    type Target = dyn OpDef;

    fn deref(&self) -> &Self::Target {
        self.0
    }
}

impl PartialEq for Op {
    fn eq(&self, other: &Op) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Op {}

impl fmt::Debug for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
