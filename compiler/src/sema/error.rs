//! What a program can do wrong: each mistake with its code and its sentence.

use thiserror::Error;
use tiga_source::{Diagnostic, Span};

/// A mistake found by analysis; each code has a page in `docs/errors/`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "the sentence above each variant is its doc")]
pub enum SemaError {
    // Names.
    #[error("cannot find value `{name}`")]
    UnknownValue { name: String },
    #[error("{what} `{name}` is declared twice")]
    Duplicate { what: &'static str, name: String },
    #[error("cannot find element type `{name}`")]
    UnknownType { name: String },
    #[error("cannot find set or dimension `{name}`")]
    UnknownExtent { name: String },
    #[error("{owner} has no field `{field}`")]
    UnknownField { owner: String, field: String },
    #[error("`{name}` is {what}, not a value")]
    NotAValue { name: String, what: &'static str },
    #[error("cannot find function `{name}`")]
    UnknownFunction { name: String },
    #[error("`{name}` is {what} and cannot be called")]
    NotCallable { name: String, what: String },
    #[error("`--set {name}=…` names no type of this file")]
    UnusedOverride { name: String },
    #[error("`{name}` is defined by itself")]
    Cycle { name: String },
    // Types and shapes.
    #[error("element types do not match: `{left}` and `{right}`")]
    Elements { left: String, right: String },
    #[error("shapes do not match: `{left}` and `{right}`")]
    Shapes { left: String, right: String },
    #[error("expected `{expected}`, found `{found}`")]
    Mismatch { expected: String, found: String },
    #[error("`{op}` is not defined for `{found}`")]
    Undefined { op: String, found: String },
    #[error("`{set}` is a set: only the first axis can be one")]
    SetNotFirst { set: String },
    #[error("this is not an extent")]
    NotAnExtent,
    #[error("this extent is too large to compute with")]
    ExtentTooLarge,
    #[error("`{callee}` takes {expected}, found {found}")]
    ArgumentCount { callee: String, expected: String, found: String },
    #[error("`{callee}` has no parameter `{name}`")]
    UnknownArgument { callee: String, name: String },
    #[error("parameter `{name}` of `{callee}` is given twice")]
    RepeatedArgument { callee: String, name: String },
    #[error("parameter `{name}` of `{callee}` is missing")]
    MissingArgument { callee: String, name: String },
    #[error("cannot infer `{symbol}` of `{callee}`")]
    Uninferred { callee: String, symbol: String },
    #[error("{found} has no axis {axis}")]
    NoAxis { found: String, axis: String },
    #[error("the axis must be an integer literal")]
    AxisNotConstant,
    #[error("`{reducer}` reduces over a set, but `{found}` has none")]
    NoSet { reducer: String, found: String },
    #[error("cannot multiply `{left}` by `{right}`")]
    MatMul { left: String, right: String },
    #[error("{found} has no element {index}")]
    NoElement { found: String, index: u32 },
    #[error("this pattern has {expected}, but the value has {found}")]
    Pattern { expected: String, found: String },
    #[error("`{text}` is out of range for `{dtype}`")]
    OutOfRange { text: String, dtype: String },
    #[error("expected numbers or truth values, found {found}")]
    NotATensor { found: String },
    #[error("a {what} type cannot stand here")]
    TypePlace { what: &'static str },
    #[error("the value of a `const` is made of literals and other constants")]
    NotConstant,
    #[error("`{function}` works along feature axes, but `{found}` has none there")]
    NoFeatureAxis { function: String, found: String },
    #[error("the positions from `{begin}` to `{end}` must lie in an axis of `{extent}`")]
    Slice { begin: String, end: String, extent: String },
    #[error("the positions from `{begin}` to `{end}` do not lie in an axis of `{extent}`")]
    SliceOutside { begin: String, end: String, extent: String },
    #[error("cannot reshape `{found}` to `{wanted}`")]
    Reshape { found: String, wanted: String },
    #[error("`{function}` needs an axis")]
    NoAxisGiven { function: String },
    #[error("`cross` takes vectors of three numbers, found `{found}`")]
    NotThree { found: String },
    // Messages and reducers.
    #[error("cannot find reducer `{name}`")]
    UnknownReducer { name: String },
    #[error("{found}, but the edge function gives {expected}")]
    ReducerCount { found: String, expected: String },
    #[error("the node function takes one name for each reduced value: expected {expected}, found {found}")]
    NodeNames { expected: usize, found: usize },
    #[error("the first argument of a message is a graph, found {found}")]
    NoGraph { found: String },
    #[error("`{record}` of message `{message}` needs the field `{field}`")]
    MissingField { message: String, record: String, field: String },
    #[error("`{record}` of message `{message}` has no field `{field}`")]
    ExtraField { message: String, record: String, field: String },
    #[error("`{record}.{field}` must be a field over `{expected}`, found `{found}`")]
    WrongSet { record: String, field: String, expected: String, found: String },
    #[error("self-loops need a graph on one set, found `{found}`")]
    TwoSets { found: String },
    #[error("this graph would be made of more than {most} sets")]
    TooManyParts { most: usize },
    #[error("{what} cannot stand inside {owner}")]
    Inside { what: String, owner: String },
    #[error("reducer `{reducer}` is not defined for `{found}`")]
    ReducerElements { reducer: String, found: String },
    #[error("reducer `{reducer}` takes `{expected}`, but the edge function gives `{found}`")]
    ReducerMessage { reducer: String, expected: String, found: String },
    #[error("reducer `{reducer}` needs {clause}")]
    MissingClause { reducer: String, clause: &'static str },
    #[error("`{clause}` takes {expected}, found {found}")]
    ClauseNames { clause: &'static str, expected: String, found: String },
    #[error("cannot find law `{name}`")]
    UnknownLaw { name: String },
    #[error("the value of an empty row is made of literals and constants")]
    EmptyNotConstant,
    #[error("reducer `{reducer}` is not {law}")]
    BrokenLaw { reducer: String, law: &'static str },
    #[error("the laws of reducer `{reducer}` cannot be tried")]
    UntriedLaws { reducer: String },
    #[error("`step` of reducer `{reducer}` is not `combine` with a lifted message")]
    StepIsNotCombine { reducer: String },
    #[error("parameter `{name}` of a message {rule}")]
    MessageParam { name: String, rule: &'static str },
    #[error("reducer `{name}` takes {takes}")]
    ReducerArguments { name: String, takes: String },
    #[error("a message reduces, or gives one value per edge: {rule}")]
    EdgeResult { rule: &'static str },
    // Programs and control.
    #[error("`{name}` calls itself")]
    Recursion { name: String },
    #[error("program `{name}` has {expected}, but its body gives {found}")]
    ResultCount { name: String, expected: String, found: String },
    #[error("a `while` loop needs a bound on its rounds")]
    NoBound,
    #[error("the bound after `at most` must be a constant")]
    BoundNotConstant,
    #[error("the loop carries {expected}, but its body gives {found}")]
    NextCount { expected: String, found: String },
    #[error("`{name}` starts as `{start}`, but its next value is `{next}`")]
    NextType { name: String, start: String, next: String },
    #[error("a loop carries fields, tensors and scalars, but `{name}` is {found}")]
    Carried { name: String, found: String },
    #[error("the branches have different types: `{left}` and `{right}`")]
    Branches { left: String, right: String },
    #[error("a branch cannot give {found}")]
    BranchValue { found: String },
    #[error("program `{name}` has no result")]
    NoResult { name: String },
    #[error("`{name}` is too {what} when its calls are inlined")]
    Expansion { name: String, what: &'static str },
    // Not yet.
    #[error("`vjp` is not supported yet")]
    Vjp,
    #[error("element type `{name}` is not supported yet")]
    ElementType { name: String },
    #[error("relations made by `{name}` are not supported yet")]
    Relation { name: String },
    #[error("placement (`@{name}`) is not supported yet")]
    Placement { name: String },
    #[error("passing a graph that is made here to a program is not supported yet")]
    MadeArgument,
    #[error("`type` names element types only; other types are not supported yet")]
    AliasType,
    #[error("internal error: {detail}")]
    Internal { detail: String },
}

impl SemaError {
    /// Its code.
    pub const fn code(&self) -> &'static str {
        use SemaError::*;
        match self {
            UnknownValue { .. } => "TG0101",
            Duplicate { .. } => "TG0102",
            UnknownType { .. } => "TG0103",
            UnknownExtent { .. } => "TG0104",
            UnknownField { .. } => "TG0105",
            NotAValue { .. } => "TG0106",
            UnknownFunction { .. } => "TG0107",
            NotCallable { .. } => "TG0108",
            UnusedOverride { .. } => "TG0109",
            Cycle { .. } => "TG0110",
            Elements { .. } => "TG0201",
            Shapes { .. } => "TG0202",
            Mismatch { .. } => "TG0203",
            Undefined { .. } => "TG0204",
            SetNotFirst { .. } => "TG0205",
            NotAnExtent | ExtentTooLarge => "TG0206",
            ArgumentCount { .. } | RepeatedArgument { .. } | MissingArgument { .. } => "TG0207",
            UnknownArgument { .. } => "TG0208",
            Uninferred { .. } => "TG0209",
            NoAxis { .. } | AxisNotConstant => "TG0210",
            NoSet { .. } => "TG0211",
            MatMul { .. } => "TG0212",
            NoElement { .. } | Pattern { .. } => "TG0213",
            OutOfRange { .. } => "TG0214",
            NotATensor { .. } => "TG0215",
            TypePlace { .. } => "TG0216",
            NotConstant | EmptyNotConstant => "TG0217",
            NoFeatureAxis { .. } | NoAxisGiven { .. } => "TG0218",
            Slice { .. } | SliceOutside { .. } => "TG0219",
            Reshape { .. } | NotThree { .. } => "TG0220",
            UnknownReducer { .. } => "TG0301",
            ReducerCount { .. } | ReducerMessage { .. } => "TG0302",
            NodeNames { .. } => "TG0303",
            NoGraph { .. } => "TG0304",
            MissingField { .. } => "TG0305",
            ExtraField { .. } => "TG0306",
            WrongSet { .. } => "TG0307",
            Inside { .. } => "TG0308",
            ReducerElements { .. } => "TG0309",
            MessageParam { .. } => "TG0310",
            MissingClause { .. } | ClauseNames { .. } => "TG0311",
            UnknownLaw { .. } => "TG0312",
            BrokenLaw { .. } | UntriedLaws { .. } | StepIsNotCombine { .. } => "TG0313",
            EdgeResult { .. } => "TG0314",
            ReducerArguments { .. } => "TG0315",
            TwoSets { .. } => "TG0316",
            TooManyParts { .. } => "TG0317",
            Recursion { .. } => "TG0401",
            ResultCount { .. } => "TG0402",
            NoBound => "TG0403",
            BoundNotConstant => "TG0404",
            NextCount { .. } => "TG0405",
            NextType { .. } => "TG0406",
            Carried { .. } => "TG0407",
            Branches { .. } => "TG0408",
            BranchValue { .. } => "TG0409",
            NoResult { .. } => "TG0410",
            Expansion { .. } => "TG0411",
            Vjp => "TG0902",
            ElementType { .. } => "TG0903",
            Relation { .. } => "TG0907",
            Placement { .. } => "TG0909",
            MadeArgument => "TG0911",
            AliasType => "TG0912",
            Internal { .. } => "TG0999",
        }
    }

    /// The diagnostic for this mistake at a place.
    pub fn at(&self, span: Span) -> Diagnostic {
        Diagnostic::error(self.code(), self.to_string(), span)
    }
}
