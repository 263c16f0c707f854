//! Attributes: what an instruction carries besides operands, each with a key and a spelling.

use crate::{Scalar, TensorType};
use std::fmt;
use std::sync::Arc;
use tiga_abi::{DType, Poly, Symbol};

/// The key of an attribute; it fixes how the value is spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// The reducer of a reduction.
    With,
    /// The reduction's shape.
    Shape,
    /// What a reduction runs over.
    Over,
    /// The reduction yields states, not finalised results.
    Raw,
    /// The reduction's body takes the accumulator and yields the next one.
    Step,
    /// A constant.
    Value,
    /// Extents.
    Dims,
    /// A feature axis.
    Axis,
    /// The first position taken.
    Begin,
    /// A reduction's messages are an element and its position.
    Indexed,
    /// The element type converted to.
    To,
    /// A function.
    Callee,
    /// The bound of a loop.
    AtMost,
    /// The iteration space of a `for`.
    Space,
    /// Roles of the operands of an `apply`.
    Roles,
    /// Targets of the results of an `apply`.
    Targets,
    /// Number of lanes.
    Lanes,
    /// Lanes taken by a shuffle.
    Pattern,
    /// Bytes.
    Bytes,
}

impl Key {
    /// All keys.
    pub const ALL: [Key; 19] = [
        Key::With,
        Key::Shape,
        Key::Over,
        Key::Raw,
        Key::Step,
        Key::Value,
        Key::Dims,
        Key::Axis,
        Key::Begin,
        Key::Indexed,
        Key::To,
        Key::Callee,
        Key::AtMost,
        Key::Space,
        Key::Roles,
        Key::Targets,
        Key::Lanes,
        Key::Pattern,
        Key::Bytes,
    ];

    /// The spelling in `.tir`.
    pub const fn name(self) -> &'static str {
        match self {
            Key::With => "with",
            Key::Shape => "shape",
            Key::Over => "over",
            Key::Raw => "raw",
            Key::Step => "step",
            Key::Value => "value",
            Key::Dims => "dims",
            Key::Axis => "axis",
            Key::Begin => "begin",
            Key::Indexed => "indexed",
            Key::To => "to",
            Key::Callee => "callee",
            Key::AtMost => "at_most",
            Key::Space => "space",
            Key::Roles => "roles",
            Key::Targets => "targets",
            Key::Lanes => "lanes",
            Key::Pattern => "pattern",
            Key::Bytes => "bytes",
        }
    }
}

/// A comparison in a guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cmp {
    /// `==`
    Eq,
    /// `<`
    Lt,
    /// `>=`
    Ge,
}

impl Cmp {
    /// The spelling.
    pub const fn name(self) -> &'static str {
        match self {
            Cmp::Eq => "==",
            Cmp::Lt => "<",
            Cmp::Ge => ">=",
        }
    }

    /// Whether it holds.
    pub const fn holds(self, left: i64, right: i64) -> bool {
        match self {
            Cmp::Eq => left == right,
            Cmp::Lt => left < right,
            Cmp::Ge => left >= right,
        }
    }
}

/// A conjunction of comparisons of sizes; empty means "always".
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Guard {
    /// Each `extent cmp constant`.
    pub terms: Vec<(Poly, Cmp, i64)>,
}

impl Guard {
    /// No condition.
    pub fn always() -> Self {
        Self::default()
    }
}

impl fmt::Display for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.terms.is_empty() {
            return f.write_str("true");
        }
        let terms: Vec<String> = self.terms.iter().map(|(p, c, v)| format!("{p} {} {v}", c.name())).collect();
        f.write_str(&terms.join(" && "))
    }
}

/// One row of an accumulator table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AccRow {
    /// The width (number of features of the message) compared.
    pub width: Poly,
    /// The comparison.
    pub cmp: Cmp,
    /// What it is compared with.
    pub bound: i64,
    /// Accumulators if it holds.
    pub acc: u32,
}

/// How many accumulators a leaf uses: the first row that holds, else the last word.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Acc {
    /// Conditional rows, tried in order.
    pub rows: Vec<AccRow>,
    /// The number if none holds.
    pub otherwise: u32,
}

impl Acc {
    /// Always the same number.
    pub fn fixed(acc: u32) -> Self {
        Self { rows: Vec::new(), otherwise: acc }
    }

    /// The number under an assignment of symbols.
    ///
    /// # Errors
    /// As [`Poly::eval`].
    pub fn eval(&self, value: &dyn Fn(&str) -> Option<i64>) -> Result<u32, tiga_abi::SizeError> {
        for row in &self.rows {
            if row.cmp.holds(row.width.eval(value)?, row.bound) {
                return Ok(row.acc);
            }
        }
        Ok(self.otherwise)
    }
}

/// The shape of a reduction: a law of its bits (see `docs/determinism.md`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReduceShape {
    /// Elements in a leaf; `None` is infinity.
    pub leaf: Option<u64>,
    /// Accumulators in a leaf.
    pub acc: Acc,
}

impl ReduceShape {
    /// The plain left fold.
    pub fn fold() -> Self {
        Self { leaf: None, acc: Acc::fixed(1) }
    }
}

impl fmt::Display for ReduceShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.leaf {
            Some(leaf) => write!(f, "leaf {leaf}, acc ")?,
            None => write!(f, "leaf inf, acc ")?,
        }
        if self.acc.rows.is_empty() {
            return write!(f, "{}", self.acc.otherwise);
        }
        f.write_str("{")?;
        for row in &self.acc.rows {
            write!(f, "{} {} {}: {}, ", row.width, row.cmp.name(), row.bound, row.acc)?;
        }
        write!(f, "else {}}}", self.acc.otherwise)
    }
}

/// What a `reduce` runs over; its operands and the parameters of its body follow from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Over {
    /// The in-edges of a row: operands `rel, row`; body `(position, edge, source)`.
    Neighbours,
    /// The edges of one leaf of a long row: operands `rel, leaf`; body `(position, edge, source)`.
    Leaf,
    /// All edges of a relation: operand `rel`; body `(position, edge, source, destination)`.
    Edges,
    /// `0..dims[0]`: no operands; body `(index)`.
    Range,
    /// One block of `0..dims[0]`, of the shape's leaf size: operand `block`; body `(index)`.
    Block,
}

impl Over {
    /// All of them.
    pub const ALL: [Over; 5] = [Over::Neighbours, Over::Leaf, Over::Edges, Over::Range, Over::Block];

    /// The spelling.
    pub const fn name(self) -> &'static str {
        match self {
            Over::Neighbours => "neighbours",
            Over::Leaf => "leaf",
            Over::Edges => "edges",
            Over::Range => "range",
            Over::Block => "block",
        }
    }
}

/// The iteration space of a `for`; iterations are independent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// One iteration; body `()`.
    Once,
    /// Every index below an extent; body `(row)`.
    Rows(Poly),
    /// Every block of `size` indices below an extent; body `(block)`.
    Blocks(Poly, u64),
    /// Every edge of the operand relation; body `(position, edge, source, destination)`.
    Edges,
    /// Rows of the operand relation with at most this many edges; body `(row)`.
    Short(u64),
    /// Leaves (of this many edges) of its longer rows; body `(leaf, row)`.
    Leaves(u64),
    /// Its longer rows; body `(long, row)`.
    Long(u64),
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Space::Once => f.write_str("once"),
            Space::Rows(extent) => write!(f, "rows({extent})"),
            Space::Blocks(extent, size) => write!(f, "blocks({extent}, {size})"),
            Space::Edges => f.write_str("edges"),
            Space::Short(leaf) => write!(f, "short({leaf})"),
            Space::Leaves(leaf) => write!(f, "leaves({leaf})"),
            Space::Long(leaf) => write!(f, "long({leaf})"),
        }
    }
}

/// The role of an operand of an `apply`: how an edge or a node reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// A field of the sources; the edge region sees the source's element.
    Src,
    /// A field of the destinations; both regions see the destination's element.
    Dst,
    /// A field of the edges; the edge region sees the edge's element.
    Edge,
    /// A tensor; both regions see all of it.
    Param,
}

impl Role {
    /// All of them.
    pub const ALL: [Role; 4] = [Role::Src, Role::Dst, Role::Edge, Role::Param];

    /// The spelling.
    pub const fn name(self) -> &'static str {
        match self {
            Role::Src => "src",
            Role::Dst => "dst",
            Role::Edge => "edge",
            Role::Param => "param",
        }
    }
}

/// Where values yielded by an edge region go.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// Reduced per destination; with `keep` the node region also sees the final state.
    Row {
        /// The reducer.
        reducer: Symbol,
        /// Whether the node region sees the state.
        keep: bool,
    },
    /// One value an edge.
    Edge,
    /// Reduced over all edges.
    Total {
        /// The reducer.
        reducer: Symbol,
    },
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Row { reducer, keep } => write!(f, "row @{reducer}{}", if *keep { " keep" } else { "" }),
            Target::Edge => f.write_str("edge"),
            Target::Total { reducer } => write!(f, "total @{reducer}"),
        }
    }
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attr {
    /// Present or absent.
    Flag,
    /// A name, printed `@name`.
    Name(Symbol),
    /// A shape.
    Shape(ReduceShape),
    /// A reduction's range.
    Over(Over),
    /// A typed constant.
    Value(Scalar),
    /// Extents; the set axis, if any, is given by the type.
    Dims(TensorType),
    /// An extent.
    Extent(Poly),
    /// A number.
    Int(i64),
    /// An element type.
    DType(DType),
    /// An iteration space.
    Space(Space),
    /// Roles.
    Roles(Vec<Role>),
    /// Targets.
    Targets(Vec<Target>),
    /// Numbers.
    Ints(Vec<i64>),
}

impl fmt::Display for Attr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |items: Vec<String>| items.join(", ");
        match self {
            Attr::Flag => Ok(()),
            Attr::Name(name) => write!(f, "@{name}"),
            Attr::Shape(shape) => write!(f, "{shape}"),
            Attr::Over(over) => f.write_str(over.name()),
            Attr::Value(scalar) => write!(f, "{} {scalar}", scalar.dtype()),
            Attr::Dims(t) => write!(f, "{t}"),
            Attr::Extent(extent) => write!(f, "{extent}"),
            Attr::Int(v) => write!(f, "{v}"),
            Attr::DType(d) => write!(f, "{d}"),
            Attr::Space(space) => write!(f, "{space}"),
            Attr::Roles(roles) => f.write_str(&list(roles.iter().map(|r| r.name().to_owned()).collect())),
            Attr::Targets(targets) => f.write_str(&list(targets.iter().map(Target::to_string).collect())),
            Attr::Ints(ints) => f.write_str(&list(ints.iter().map(i64::to_string).collect())),
        }
    }
}

/// The attributes of an instruction, sorted by key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attrs(Vec<(Key, Attr)>);

impl Attrs {
    /// None.
    pub fn new() -> Self {
        Self::default()
    }

    /// With one more (or another value for a key that is there).
    pub fn with(mut self, key: Key, attr: Attr) -> Self {
        self.set(key, attr);
        self
    }

    /// With a flag.
    pub fn flag(self, key: Key) -> Self {
        self.with(key, Attr::Flag)
    }

    /// Sets or replaces one.
    pub fn set(&mut self, key: Key, attr: Attr) {
        match self.0.binary_search_by_key(&key, |(k, _)| *k) {
            Ok(i) => self.0[i].1 = attr,
            Err(i) => self.0.insert(i, (key, attr)),
        }
    }

    /// Looks one up.
    pub fn get(&self, key: Key) -> Option<&Attr> {
        self.0.iter().find(|(k, _)| *k == key).map(|(_, a)| a)
    }

    /// All, sorted by key.
    pub fn iter(&self) -> impl Iterator<Item = (Key, &Attr)> {
        self.0.iter().map(|(k, a)| (*k, a))
    }

    /// Whether a flag is set.
    pub fn has(&self, key: Key) -> bool {
        self.get(key).is_some()
    }
}

/// Typed access: each returns `None` if the attribute is absent (or of another kind, which the parser excludes).
macro_rules! getters {
    ($($(#[$doc:meta])* $fn:ident: $key:ident => $variant:ident -> $ty:ty;)*) => {
        impl Attrs {
            $($(#[$doc])*
            pub fn $fn(&self) -> Option<&$ty> {
                match self.get(Key::$key) { Some(Attr::$variant(v)) => Some(v), _ => None }
            })*
        }
    };
}

getters! {
    /// `with(@reducer)`
    reducer: With => Name -> Arc<str>;
    /// `shape(…)`
    shape: Shape => Shape -> ReduceShape;
    /// `over(…)`
    over: Over => Over -> Over;
    /// `value(…)`
    value: Value => Value -> Scalar;
    /// `dims(…)`
    dims: Dims => Dims -> TensorType;
    /// `axis(…)`
    axis: Axis => Int -> i64;
    /// `begin(…)`
    begin: Begin => Extent -> Poly;
    /// `to(…)`
    to: To => DType -> DType;
    /// `callee(@function)`
    callee: Callee => Name -> Arc<str>;
    /// `at_most(…)`
    at_most: AtMost => Int -> i64;
    /// `space(…)`
    space: Space => Space -> Space;
    /// `roles(…)`
    roles: Roles => Roles -> Vec<Role>;
    /// `targets(…)`
    targets: Targets => Targets -> Vec<Target>;
    /// `lanes(…)`
    lanes: Lanes => Int -> i64;
    /// `pattern(…)`
    pattern: Pattern => Ints -> Vec<i64>;
    /// `bytes(…)`
    bytes: Bytes => Int -> i64;
}
