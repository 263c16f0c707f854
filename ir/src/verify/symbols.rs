//! Laws of the symbols in types and attributes.

use super::structure::Rule;
use super::{At, Checker};
use crate::{Attr, Func, Region, Space, SymKind, Symbols, TensorType, Type, joined};
use tiga_abi::{Poly, SizeExpr, Symbol};

impl Checker<'_> {
    /// Symbols in the head of a function.
    pub(super) fn head_symbols(&mut self, func: &Func) {
        for (i, (name, kind)) in func.symbols.iter().enumerate() {
            if joined::is_joined(name) {
                self.report(At::Owner, Rule::SymbolKind, format!("{name} is made of others and cannot be declared"));
            }
            if let SymKind::Bound(size) = kind {
                for symbol in size.symbols() {
                    if func.symbols.get_index_of(&symbol).is_none_or(|declared| declared >= i) {
                        self.report(At::Owner, Rule::UndeclaredSymbol, format!("{symbol} in the bound of {name}"));
                    }
                }
            }
        }
        for (_, ty) in &func.results {
            self.type_symbols(At::Owner, &func.symbols, ty);
        }
        for (poly, ..) in &func.guard.terms {
            self.poly(At::Owner, &func.symbols, poly);
        }
        self.size(At::Owner, &func.symbols, &func.scratch);
    }

    /// Symbols in the types and attributes under a region.
    pub(super) fn region_symbols(&mut self, symbols: &Symbols, region: Region) {
        for value in self.values(region) {
            let ty = self.body.ty(value).clone();
            self.type_symbols(At::Value(value), symbols, &ty);
        }
        for inst in self.body.walk(region) {
            for (_, attr) in self.body.inst(inst).attrs.iter() {
                self.attr_symbols(At::Inst(inst), symbols, attr);
            }
        }
    }

    fn attr_symbols(&mut self, at: At, symbols: &Symbols, attr: &Attr) {
        match attr {
            // An extent may be that of a set: any symbol will do.
            Attr::Dims(ty) => ty.extents().iter().for_each(|extent| self.poly(at, symbols, extent)),
            Attr::Extent(extent) => self.poly(at, symbols, extent),
            Attr::Shape(shape) => shape.acc.rows.iter().for_each(|row| self.poly(at, symbols, &row.width)),
            Attr::Space(Space::Rows(extent) | Space::Blocks(extent, _)) => self.poly(at, symbols, extent),
            _ => {}
        }
    }

    /// Symbols in a type: declared, and of the kind their place asks for.
    pub(super) fn type_symbols(&mut self, at: At, symbols: &Symbols, ty: &Type) {
        match ty {
            Type::Tensor(t) | Type::Buffer(t) => self.tensor_symbols(at, symbols, t),
            Type::Rel(rel) => {
                for set in [&rel.src, &rel.dst] {
                    self.kind(at, symbols, set, "a set", |kind| *kind == SymKind::Set);
                }
                // Loops of nodes are edges.
                let joined = joined::is_joined(&rel.edges);
                let is_edges = |kind: &SymKind| *kind == SymKind::Edges || joined && *kind == SymKind::Set;
                self.kind(at, symbols, &rel.edges, "an edge set", is_edges);
            }
            Type::Vector(..) | Type::Ptr(_) => {}
        }
    }

    pub(super) fn tensor_symbols(&mut self, at: At, symbols: &Symbols, t: &TensorType) {
        if let Some(set) = &t.set {
            self.kind(at, symbols, set, "a set", |kind| *kind != SymKind::Dim);
        }
        for symbol in t.dims.iter().flat_map(Poly::symbols) {
            self.kind(at, symbols, &symbol, "a dimension", |kind| *kind == SymKind::Dim);
        }
    }

    /// A symbol, or each part of one made of others.
    fn kind(&mut self, at: At, symbols: &Symbols, symbol: &Symbol, what: &str, fits: impl Fn(&SymKind) -> bool) {
        for part in joined::parts(symbol) {
            match symbols.get(part) {
                None => self.report(at, Rule::UndeclaredSymbol, part.to_owned()),
                Some(kind) if !fits(kind) => self.report(at, Rule::SymbolKind, format!("{symbol} is not {what}")),
                Some(_) => {}
            }
        }
    }

    fn poly(&mut self, at: At, symbols: &Symbols, poly: &Poly) {
        for symbol in poly.symbols() {
            self.declared(at, symbols, &symbol);
        }
    }

    fn size(&mut self, at: At, symbols: &Symbols, size: &SizeExpr) {
        for symbol in size.symbols() {
            self.declared(at, symbols, &symbol);
        }
    }

    fn declared(&mut self, at: At, symbols: &Symbols, symbol: &Symbol) {
        if !symbols.contains_key(symbol) {
            self.report(at, Rule::UndeclaredSymbol, symbol.to_string());
        }
    }
}
