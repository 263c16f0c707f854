//! Modules: functions and reducers by name.

use crate::ops::{Substitution, unify};
use crate::{Body, Guard, Level, Region, Scalar, Symbols, TensorType, Type, Value};
use indexmap::IndexMap;
use tiga_abi::{Poly, SizeExpr, Symbol};
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
/// A reducer may be mapped: messages with extra leading axes are reduced independently along them. Its own extents are
/// symbols of its own, which a message gives their values ([`Reducer::fit_message`]).
#[derive(Clone, Debug)]
pub struct Reducer {
    /// Its name, unique in the module.
    pub name: Symbol,
    /// Feature extents its types speak of; each stands alone as an axis of the message.
    pub symbols: Symbols,
    /// State components.
    pub state: Vec<StateComponent>,
    /// Result types.
    pub outs: Vec<TensorType>,
    /// The results of an empty row, broadcast over their axes.
    pub empty: Vec<Scalar>,
    /// Its laws.
    pub laws: Laws,
    /// The code of the regions.
    pub body: Body,
    /// Parameters: the message; yields the state.
    pub lift: Region,
    /// Parameters: a state and the next message; yields the state of both. Without it, that is `combine` of the state
    /// and what `lift` makes of the message.
    pub step: Option<Region>,
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

    /// Its regions with the words that print before them.
    pub fn regions(&self) -> impl Iterator<Item = (&'static str, Region)> {
        let step = self.step.map(|step| ("step", step));
        let last = [("combine", self.combine), ("finalize", self.finalize)];
        std::iter::once(("lift", self.lift)).chain(step).chain(last)
    }

    /// Types of its state.
    pub fn states(&self) -> Vec<&TensorType> {
        self.state.iter().map(|c| &c.ty).collect()
    }

    /// How a message is one of this reducer; `None` if it is not, or leaves an extent open.
    pub fn fit_message(&self, found: &[&TensorType]) -> Option<Fit> {
        let fit = fit(&self.message(), found)?;
        self.symbols.keys().all(|s| fit.own.contains_key(s)).then_some(fit)
    }

    /// How types are those of this reducer's state, mapped.
    pub fn fit_state(&self, found: &[&TensorType]) -> Option<Fit> {
        fit(&self.states(), found)
    }

    /// Whether every state component has an exact identity.
    pub fn has_identity(&self) -> bool {
        self.state.iter().all(|c| c.identity.is_some())
    }
}

/// How a reducer is used: along which axes it is mapped, and what its own extents are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fit {
    /// The extra leading axes.
    pub map: Vec<Poly>,
    /// The reducer's symbols in terms of those outside.
    pub own: Substitution,
}

impl Fit {
    /// A type of the reducer as it is outside: its extents replaced, the mapped axes in front.
    pub fn outside(&self, ty: &TensorType) -> TensorType {
        let own = ty.dims.iter().map(|d| d.substitute(&|s| self.own.get(s).cloned()));
        TensorType::tensor(ty.dtype, self.map.iter().cloned().chain(own).collect())
    }

    /// [`Fit::outside`] of several types.
    pub fn all_outside<'t>(&self, types: impl IntoIterator<Item = &'t TensorType>) -> Vec<TensorType> {
        types.into_iter().map(|ty| self.outside(ty)).collect()
    }
}

/// Matches types that have extra leading axes, the same for all, with types of a reducer.
fn fit(own: &[&TensorType], found: &[&TensorType]) -> Option<Fit> {
    let extra = match (own.first(), found.first()) {
        (Some(own), Some(found)) => found.dims.len().checked_sub(own.dims.len())?,
        _ => 0,
    };
    let map = found.first().map_or_else(Vec::new, |t| t.dims[..extra].to_vec());
    let inner = |t: &&TensorType| {
        let leading = t.set.is_none() && t.dims.starts_with(&map);
        leading.then(|| Type::Tensor(TensorType::tensor(t.dtype, t.dims[extra..].to_vec())))
    };
    let found = found.iter().map(inner).collect::<Option<Vec<Type>>>()?;
    let own: Vec<Type> = own.iter().map(|t| Type::Tensor((*t).clone())).collect();
    let own = unify(&own.iter().collect::<Vec<_>>(), &found.iter().collect::<Vec<_>>())?;
    Some(Fit { map, own })
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
