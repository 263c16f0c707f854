//! Values of symbols: unified from the shapes of arguments.

use super::error::{ErrorKind, Place, Run};
use crate::{Func, SymKind, TensorType, Type, joined};
use indexmap::IndexMap;
use tiga_abi::{Poly, SizeError, Symbol};

/// The symbols of one call with their values, and where each was seen first.
#[derive(Clone, Debug, Default)]
pub(super) struct Sizes(IndexMap<Symbol, (i64, Place)>);

/// The extents of one argument: relations have three, tensors one an axis.
pub(super) type Extents = Vec<usize>;

impl Sizes {
    /// The value of a symbol.
    pub fn get(&self, symbol: &str) -> Option<i64> {
        self.0.get(symbol).map(|(value, _)| *value)
    }

    /// The value of an extent.
    pub fn eval(&self, extent: &Poly) -> Run<usize> {
        match extent.as_symbol() {
            // The common case, without building a sum.
            Some(symbol) => self.symbol(symbol),
            None => {
                let value = extent.eval(&|s| self.get(s)).map_err(ErrorKind::Size)?;
                usize::try_from(value).map_err(|_| ErrorKind::Size(SizeError::Overflow(extent.to_string())).into())
            }
        }
    }

    /// How many entities a set has.
    fn set(&self, set: &Symbol) -> Run<usize> {
        if joined::is_joined(set) { self.eval(&joined::size(set)) } else { self.symbol(set) }
    }

    fn symbol(&self, symbol: &Symbol) -> Run<usize> {
        let value = self.get(symbol).ok_or_else(|| ErrorKind::Size(SizeError::Unbound(symbol.to_string())))?;
        usize::try_from(value).map_err(|_| ErrorKind::Size(SizeError::Overflow(symbol.to_string())).into())
    }

    /// The values of several extents.
    pub fn shape(&self, extents: &[Poly]) -> Run<Vec<usize>> {
        extents.iter().map(|e| self.eval(e)).collect()
    }

    /// The shape of a type, its set axis first.
    pub fn shape_of(&self, ty: &TensorType) -> Run<Vec<usize>> {
        let mut shape = ty.set.iter().map(|s| self.set(s)).collect::<Run<Vec<_>>>()?;
        shape.extend(self.shape(&ty.dims)?);
        Ok(shape)
    }

    /// Gives a symbol a value, which it may have already.
    pub fn bind(&mut self, symbol: &Symbol, value: i64, place: Place) -> Run<()> {
        match self.0.get(symbol) {
            None => {
                self.0.insert(symbol.clone(), (value, place));
                Ok(())
            }
            Some((first, _)) if *first == value => Ok(()),
            Some((first, first_place)) => Err(ErrorKind::SizeConflict {
                symbol: symbol.clone(),
                first: *first,
                first_place: first_place.clone(),
                second: value,
                second_place: place,
            }
            .into()),
        }
    }

    /// The symbols of a call from the extents of its arguments.
    ///
    /// A symbol that no argument fixes alone takes its value from `outer` (the options or the caller), a bound from
    /// its expression; then every extent is compared with the value of its polynomial. The options may repeat what an
    /// argument fixes; the caller's symbols are others of the same names.
    pub fn of_call(func: &Func, args: &[Extents], outer: &dyn Fn(&str) -> Option<(i64, Place)>) -> Run<Sizes> {
        let mut sizes = Sizes::default();
        let mut seen: Vec<(Poly, i64, Place)> = Vec::new();
        for (i, extents) in args.iter().enumerate() {
            let ty = func.body.ty(func.params()[i]);
            seen.extend(places(ty, func.param_name(i), extents));
        }
        let is_bound = |s: &Symbol| matches!(func.symbols.get(s), Some(SymKind::Bound(_)));
        for (extent, value, place) in &seen {
            if let Some(symbol) = extent.as_symbol().filter(|s| !is_bound(s)) {
                sizes.bind(symbol, *value, place.clone())?;
            }
        }
        for symbol in func.symbols.keys().filter(|s| !is_bound(s)) {
            match (sizes.get(symbol), outer(symbol)) {
                (None, Some((value, place))) | (Some(_), Some((value, place @ Place::Options))) => {
                    sizes.bind(symbol, value, place)?;
                }
                _ => {}
            }
        }
        for (symbol, kind) in &func.symbols {
            if let SymKind::Bound(size) = kind {
                let value = size.eval(&|s| sizes.get(s)).map_err(ErrorKind::Size)?;
                sizes.bind(symbol, value, Place::Bound)?;
            }
        }
        for (extent, found, place) in seen {
            let expected = sizes.eval(&extent)? as i64;
            if expected != found {
                return Err(ErrorKind::Extent { place, extent: extent.to_string(), expected, found }.into());
            }
        }
        Ok(sizes)
    }
}

/// Each extent of a parameter's type with its value and place.
fn places(ty: &Type, param: &str, extents: &Extents) -> Vec<(Poly, i64, Place)> {
    let param: Symbol = param.into();
    let (polys, place): (Vec<Poly>, fn(Symbol, usize) -> Place) = match ty {
        Type::Tensor(t) | Type::Buffer(t) => (t.extents(), Place::Axis),
        Type::Rel(r) => {
            let sizes = r.sizes().to_vec();
            let of_rel = |param, which| match which {
                0 => Place::Sources(param),
                1 => Place::Destinations(param),
                _ => Place::Edges(param),
            };
            (sizes, of_rel)
        }
        Type::Vector(..) | Type::Ptr(_) => (Vec::new(), Place::Axis),
    };
    let pairs = polys.into_iter().zip(extents).enumerate();
    pairs.map(|(i, (poly, value))| (poly, *value as i64, place(param.clone(), i))).collect()
}
