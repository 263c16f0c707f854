//! Modules: functions and reducers by name.

use crate::{Body, Guard, Level, Region, Scalar, Symbols, TensorType, Type, Value};
use indexmap::IndexMap;
use tiga_abi::{SizeExpr, Symbol};
use tiga_source::Loc;

/// A function of one level. The parameters of its entry block are its parameters.
#[derive(Clone, Debug)]
pub struct Func {
    /// Its name, unique in the module.
    pub name: Symbol,
    /// Its level.
    pub level: Level,
    /// The symbols its types speak of.
    pub symbols: Symbols,
    /// The loops function that a kernel is of (kernels only).
    pub of: Option<Symbol>,
    /// When a kernel may be chosen; always true on other levels.
    pub guard: Guard,
    /// Bytes of scratch memory a worker needs (kernels only).
    pub scratch: SizeExpr,
    /// Named results.
    pub results: Vec<(Symbol, Type)>,
    /// Its code.
    pub body: Body,
    /// The region of the code.
    pub region: Region,
    /// Where it was declared.
    pub loc: Loc,
}

impl Func {
    /// A function without code.
    pub fn new(name: impl Into<Symbol>, level: Level) -> Self {
        let mut body = Body::new();
        let region = body.add_region();
        Self {
            name: name.into(),
            level,
            symbols: Symbols::new(),
            of: None,
            guard: Guard::always(),
            scratch: SizeExpr::Const(0),
            results: Vec::new(),
            body,
            region,
            loc: Loc::unknown(),
        }
    }

    /// Its parameters.
    pub fn params(&self) -> &[Value] {
        &self.body.block(self.body.entry(self.region)).params
    }

    /// The name of a parameter; parameters always have one.
    pub fn param_name(&self, index: usize) -> &str {
        self.body.value(self.params()[index]).name.as_deref().unwrap_or("")
    }
}

/// What a reducer's author promises (and the compiler tests).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Laws {
    /// `combine(combine(a, b), c) = combine(a, combine(b, c))`, up to rounding.
    pub associative: bool,
    /// `combine(a, b) = combine(b, a)`.
    pub commutative: bool,
}

/// One component of a reducer's state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateComponent {
    /// Its name.
    pub name: Symbol,
    /// Its type: a scalar or a tensor over the reducer's own feature axes.
    pub ty: TensorType,
    /// An element that `combine` leaves alone, **bit for bit**, if there is one.
    pub identity: Option<Scalar>,
}

/// An algebra: state, lift, combine, finalize, laws, the value of an empty row.
///
/// A reducer may be mapped: messages with extra leading axes are reduced independently along them.
#[derive(Clone, Debug)]
pub struct Reducer {
    /// Its name, unique in the module.
    pub name: Symbol,
    /// Feature extents its types speak of.
    pub symbols: Symbols,
    /// State components.
    pub state: Vec<StateComponent>,
    /// Result types.
    pub outs: Vec<TensorType>,
    /// The results of an empty row, broadcast over their axes.
    pub empty: Vec<Scalar>,
    /// Its laws.
    pub laws: Laws,
    /// The code of the three regions.
    pub body: Body,
    /// Parameters: the message; yields the state.
    pub lift: Region,
    /// Parameters: two states; yields one.
    pub combine: Region,
    /// Parameters: the state; yields the results.
    pub finalize: Region,
    /// Where it was declared.
    pub loc: Loc,
}

impl Reducer {
    /// Types of a message's components.
    pub fn message(&self) -> Vec<&TensorType> {
        let entry = self.body.entry(self.lift);
        self.body.block(entry).params.iter().filter_map(|v| self.body.ty(*v).as_tensor()).collect()
    }

    /// Whether every state component has an exact identity.
    pub fn has_identity(&self) -> bool {
        self.state.iter().all(|c| c.identity.is_some())
    }
}

/// All code of one compilation at one moment.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Reducers by name.
    pub reducers: IndexMap<Symbol, Reducer>,
    /// Functions by name.
    pub funcs: IndexMap<Symbol, Func>,
}

impl Module {
    /// Without anything.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a function; the old one of that name is returned.
    pub fn add(&mut self, func: Func) -> Option<Func> {
        self.funcs.insert(func.name.clone(), func)
    }
}
