//! Why an evaluation has no result.

use super::RelationError;
use crate::{Level, Type};
use std::fmt;
use tiga_abi::{DType, SizeError, Symbol};
use tiga_source::Loc;

/// Where the value of a symbol was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// An axis of an argument.
    Axis(Symbol, usize),
    /// The sources of a relation.
    Sources(Symbol),
    /// The destinations of a relation.
    Destinations(Symbol),
    /// The edges of a relation.
    Edges(Symbol),
    /// The options of this run.
    Options,
    /// The caller's symbol of the same name.
    Caller,
    /// The bound that the symbol was declared with.
    Bound,
    /// A relation that the function built.
    Built,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Axis(param, axis) => write!(f, "axis {axis} of `{param}`"),
            Place::Sources(param) => write!(f, "the sources of `{param}`"),
            Place::Destinations(param) => write!(f, "the destinations of `{param}`"),
            Place::Edges(param) => write!(f, "the edges of `{param}`"),
            Place::Options => f.write_str("the options"),
            Place::Caller => f.write_str("the caller"),
            Place::Bound => f.write_str("its declared bound"),
            Place::Built => f.write_str("the relation built here"),
        }
    }
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ErrorKind {
    /// No function of that name and level.
    #[error("the module has no {level} function `@{name}`")]
    UnknownFunction {
        /// The name.
        name: String,
        /// The level.
        level: Level,
    },
    /// No reducer of that name.
    #[error("the module has no reducer `@{0}`")]
    UnknownReducer(Symbol),
    /// Another number of arguments.
    #[error("`@{function}` takes {expected} arguments, found {found}")]
    Arguments {
        /// The function.
        function: Symbol,
        /// How many it takes.
        expected: usize,
        /// How many there were.
        found: usize,
    },
    /// An argument of another kind, element type or rank.
    #[error("argument `{param}` is {found}, expected {expected}")]
    Argument {
        /// The parameter.
        param: Symbol,
        /// Its type.
        expected: Type,
        /// What was given.
        found: String,
    },
    /// Two values of one symbol.
    #[error("`{symbol}` is {first} by {first_place}, but {second} by {second_place}")]
    SizeConflict {
        /// The symbol.
        symbol: Symbol,
        /// Its first value.
        first: i64,
        /// Where that was seen.
        first_place: Place,
        /// Its second value.
        second: i64,
        /// Where that was seen.
        second_place: Place,
    },
    /// An extent that is not the value of its polynomial.
    #[error("{place} is {found}, expected {extent} = {expected}")]
    Extent {
        /// Where.
        place: Place,
        /// The polynomial.
        extent: String,
        /// Its value.
        expected: i64,
        /// What was found.
        found: i64,
    },
    /// A size without a value.
    #[error(transparent)]
    Size(#[from] SizeError),
    /// A relation without a meaning here.
    #[error(transparent)]
    Relation(#[from] RelationError),
    /// A cell list that does not hold each point once.
    #[error("the cell list holds point {point} {times} times")]
    Cells {
        /// The point.
        point: i64,
        /// How often.
        times: usize,
    },
    /// An index outside of its axis.
    #[error("index {index} is outside of {what} with {extent} elements")]
    Index {
        /// What is indexed.
        what: &'static str,
        /// The index.
        index: i64,
        /// The extent.
        extent: usize,
    },
    /// Memory that nothing has written.
    #[error("element {index} is read, and nothing has written it")]
    Unwritten {
        /// The element, counted in row-major order (in bytes on the kernel level).
        index: usize,
    },
    /// Memory that was only lent.
    #[error("element {index} is written, and the memory was lent for reading")]
    ReadOnly {
        /// The element, counted in row-major order (in bytes on the kernel level).
        index: usize,
    },
    /// Two iterations that are not independent.
    #[error("element {index} is used by two iterations of one `for`, and one of them writes it")]
    Race {
        /// The element, counted in row-major order.
        index: usize,
    },
    /// The state of a row without edges is asked for, and there is none.
    #[error("a state of `@{reducer}` without elements is asked for, and it has no identity")]
    NoIdentity {
        /// The reducer.
        reducer: Symbol,
    },
    /// An address that is not a multiple of the element's size.
    #[error("byte {offset} is not the address of an element of type {dtype}")]
    Misaligned {
        /// The address, relative to its memory.
        offset: i64,
        /// The element type.
        dtype: DType,
    },
    /// A kernel for other sizes.
    #[error("`@{function}` is only for {guard}")]
    Guard {
        /// The kernel.
        function: Symbol,
        /// Its guard.
        guard: String,
    },
    /// The budget of steps is spent.
    #[error("more than {limit} steps")]
    Steps {
        /// The budget.
        limit: u64,
    },
    /// One value is too large.
    #[error("a value has more than {limit} elements")]
    Elements {
        /// The budget.
        limit: usize,
    },
    /// Regions and calls are nested too deep.
    #[error("regions and calls are nested deeper than {limit}")]
    Depth {
        /// The budget.
        limit: u32,
    },
    /// The function breaks a law of its level: the verifier would have refused it.
    #[error("the instruction breaks the laws of its level: {0}")]
    Malformed(&'static str),
}

/// Why an evaluation has no result, and where it stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterpError {
    /// What went wrong.
    pub kind: Box<ErrorKind>,
    /// The instruction that failed, if one did.
    pub op: Option<&'static str>,
    /// Where that instruction comes from.
    pub loc: Loc,
}

impl fmt::Display for InterpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.loc.is_known() {
            write!(f, "{}: ", self.loc)?;
        }
        if let Some(op) = self.op {
            write!(f, "`{op}`: ")?;
        }
        write!(f, "{}", self.kind)
    }
}

impl std::error::Error for InterpError {}

impl<E: Into<ErrorKind>> From<E> for InterpError {
    fn from(kind: E) -> Self {
        InterpError { kind: Box::new(kind.into()), op: None, loc: Loc::unknown() }
    }
}

impl InterpError {
    /// The same with its instruction and place, each unless an inner instruction has given one.
    pub(super) fn at(mut self, op: &'static str, loc: &Loc) -> Self {
        self.op = self.op.or(Some(op));
        if !self.loc.is_known() {
            self.loc = loc.clone();
        }
        self
    }
}

/// A result of an interpreter.
pub(super) type Run<T> = Result<T, InterpError>;

/// The error that verified IR excludes.
pub(super) fn malformed(what: &'static str) -> InterpError {
    ErrorKind::Malformed(what).into()
}
