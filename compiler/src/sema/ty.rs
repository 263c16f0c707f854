//! Types as analysis sees them: sets and extents are known, element types may be open.

use super::infer::{Elem, Elems};
use std::sync::Arc;
use tiga_abi::{DType, Poly, Symbol};
use tiga_ir::{RelKind, RelType, TensorType, joined};

/// A field, tensor or scalar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tensor {
    pub(crate) elem: Elem,
    pub(crate) set: Option<Symbol>,
    pub(crate) dims: Vec<Poly>,
}

/// A relation: a parameter, or what is made of some.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Graph {
    pub(crate) src: Symbol,
    pub(crate) dst: Symbol,
    pub(crate) edges: Symbol,
    pub(crate) kind: RelKind,
}

/// The type of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ty {
    Tensor(Tensor),
    Graph(Graph),
    Tuple(Vec<Ty>),
    Record(Vec<(Arc<str>, Ty)>),
    /// Something wrong was reported; whatever depends on it is no news.
    Error,
}

/// What symbols stand for at a call.
pub(crate) type Substitution = indexmap::IndexMap<Symbol, Poly>;

impl Tensor {
    pub(crate) fn scalar(elem: Elem) -> Tensor {
        Tensor { elem, set: None, dims: Vec::new() }
    }

    pub(crate) fn is_scalar(&self) -> bool {
        self.rank() == 0
    }

    pub(crate) fn rank(&self) -> usize {
        self.dims.len() + usize::from(self.set.is_some())
    }

    pub(crate) fn same_shape(&self, other: &Tensor) -> bool {
        self.set == other.set && self.dims == other.dims
    }

    /// One entity's value.
    pub(crate) fn element(&self) -> Tensor {
        Tensor { set: None, ..self.clone() }
    }

    pub(crate) fn substitute(&self, map: &Substitution) -> Tensor {
        let dims = self.dims.iter().map(|d| d.substitute(&|s| map.get(s).cloned())).collect();
        Tensor { elem: self.elem, set: self.set.as_ref().map(|s| substitute_set(s, map)), dims }
    }

    /// `f32[N, F]`.
    pub(crate) fn show(&self, elems: &Elems) -> String {
        self.show_as(elems.name(self.elem))
    }

    fn show_as(&self, dtype: &str) -> String {
        if self.is_scalar() {
            return dtype.to_owned();
        }
        let axes = self.set.iter().map(|s| s.to_string()).chain(self.dims.iter().map(Poly::to_string));
        format!("{dtype}[{}]", axes.collect::<Vec<_>>().join(", "))
    }

    /// The type in the IR, once element types are decided.
    pub(crate) fn lower(&self, decided: &[DType], map: &Substitution) -> TensorType {
        let t = self.substitute(map);
        TensorType { dtype: decide(self.elem, decided), set: t.set, dims: t.dims }
    }
}

/// The decided element type.
pub(crate) fn decide(elem: Elem, decided: &[DType]) -> DType {
    match elem {
        Elem::Known(dtype) => dtype,
        Elem::Open(index) => decided[index],
    }
}

/// A set in the caller's terms; of one made of others, each part.
pub(crate) fn substitute_set(set: &Symbol, map: &Substitution) -> Symbol {
    let part = |set: &str| Some(map.get(set).and_then(Poly::as_symbol).cloned().unwrap_or_else(|| set.into()));
    joined::replace(set, &part).unwrap_or_else(|| set.clone())
}

impl Graph {
    pub(crate) fn symbols(&self) -> [&Symbol; 3] {
        [&self.src, &self.dst, &self.edges]
    }

    pub(crate) fn substitute(&self, map: &Substitution) -> Graph {
        let set = |s: &Symbol| substitute_set(s, map);
        Graph { src: set(&self.src), dst: set(&self.dst), edges: set(&self.edges), kind: self.kind }
    }

    /// Whether it is a graph parameter as it is.
    pub(crate) fn is_param(&self) -> bool {
        self.kind == RelKind::Csr && !joined::is_joined(&self.edges)
    }

    /// The set that `g.src`, `g.dst`, `g.nodes` or `g.edges` means.
    pub(crate) fn set(&self, field: &str) -> Option<&Symbol> {
        match field {
            "src" => Some(&self.src),
            "dst" => Some(&self.dst),
            "edges" => Some(&self.edges),
            "nodes" if self.src == self.dst => Some(&self.src),
            _ => None,
        }
    }

    /// What [`Graph::set`] knows.
    pub(crate) fn set_names(&self) -> &'static [&'static str] {
        if self.src == self.dst { &["nodes", "src", "dst", "edges"] } else { &["src", "dst", "edges"] }
    }

    fn show(&self) -> String {
        if self.src == self.dst {
            format!("graph<{}>", self.src)
        } else {
            format!("graph<{} -> {}>", self.src, self.dst)
        }
    }

    /// The type in the IR.
    pub(crate) fn lower(&self) -> RelType {
        RelType { kind: self.kind, src: self.src.clone(), dst: self.dst.clone(), edges: self.edges.clone() }
    }
}

impl Ty {
    pub(crate) fn scalar(dtype: DType) -> Ty {
        Ty::Tensor(Tensor::scalar(Elem::Known(dtype)))
    }

    pub(crate) fn is_error(&self) -> bool {
        match self {
            Ty::Error => true,
            Ty::Tuple(all) => all.iter().any(Ty::is_error),
            Ty::Record(all) => all.iter().any(|(_, ty)| ty.is_error()),
            Ty::Tensor(_) | Ty::Graph(_) => false,
        }
    }

    /// The members of a tuple or record.
    pub(crate) fn members(&self) -> Option<Vec<Ty>> {
        match self {
            Ty::Tuple(all) => Some(all.clone()),
            Ty::Record(all) => Some(all.iter().map(|(_, ty)| ty.clone()).collect()),
            _ => None,
        }
    }

    pub(crate) fn substitute(&self, map: &Substitution) -> Ty {
        match self {
            Ty::Tensor(t) => Ty::Tensor(t.substitute(map)),
            Ty::Graph(g) => Ty::Graph(g.substitute(map)),
            Ty::Tuple(all) => Ty::Tuple(all.iter().map(|t| t.substitute(map)).collect()),
            Ty::Record(all) => Ty::Record(all.iter().map(|(n, t)| (n.clone(), t.substitute(map))).collect()),
            Ty::Error => Ty::Error,
        }
    }

    /// As a message spells it.
    pub(crate) fn show(&self, elems: &Elems) -> String {
        match self {
            Ty::Tensor(t) => t.show(elems),
            Ty::Graph(g) => g.show(),
            Ty::Tuple(all) => format!("({})", all.iter().map(|t| t.show(elems)).collect::<Vec<_>>().join(", ")),
            Ty::Record(all) => {
                let field = |(name, ty): &(Arc<str>, Ty)| format!("{name}: {}", ty.show(elems));
                format!("{{{}}}", all.iter().map(field).collect::<Vec<_>>().join(", "))
            }
            Ty::Error => "{unknown}".to_owned(),
        }
    }

    /// What sort of thing it is, with its article.
    pub(crate) fn sort(&self) -> &'static str {
        match self {
            Ty::Tensor(t) if t.is_scalar() => "a scalar",
            Ty::Tensor(t) if t.set.is_some() => "a field",
            Ty::Tensor(_) => "a tensor",
            Ty::Graph(_) => "a graph",
            Ty::Tuple(_) => "a tuple",
            Ty::Record(_) => "a record",
            Ty::Error => "something unknown",
        }
    }
}
