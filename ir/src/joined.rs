//! Sets made of other sets, one after another: `E++N` is first all of `E`, then all of `N`.
//!
//! Such a set is its name. So two of the same parts are the same set, joining is associative, and the type of a
//! relation says its sets with nothing declared but the parts.

use tiga_abi::{Poly, Symbol};

/// Between the parts of a name. No declared symbol has it in its name.
const BETWEEN: &str = "++";

/// How many parts a set may have: joining a graph with itself again and again would double them each time.
pub const MOST_PARTS: usize = 64;

/// The set of all of `first`, then all of `second`.
pub fn join(first: &Symbol, second: &Symbol) -> Symbol {
    format!("{first}{BETWEEN}{second}").into()
}

/// Whether a set is made of others.
pub fn is_joined(set: &str) -> bool {
    set.contains(BETWEEN)
}

/// The declared sets that a set consists of, in order: itself, if it is one.
pub fn parts(set: &str) -> impl Iterator<Item = &str> {
    set.split(BETWEEN)
}

/// How many entities a set has, in terms of its parts.
pub fn size(set: &Symbol) -> Poly {
    if !is_joined(set) {
        return Poly::symbol(set.clone());
    }
    parts(set).fold(Poly::default(), |sum, part| sum.add(&Poly::symbol(part)))
}

/// A set with its parts replaced; `None` if `by` makes of one what is no set.
pub fn replace(set: &Symbol, by: &dyn Fn(&str) -> Option<Symbol>) -> Option<Symbol> {
    if !is_joined(set) {
        return by(set);
    }
    let parts: Option<Vec<Symbol>> = parts(set).map(by).collect();
    Some(parts?.join(BETWEEN).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joining_is_associative_and_keeps_the_order() {
        let [a, b, c]: [Symbol; 3] = ["g.edges", "N", "M"].map(Symbol::from);
        assert_eq!(join(&join(&a, &b), &c), join(&a, &join(&b, &c)));
        assert_ne!(join(&a, &b), join(&b, &a));
        assert_eq!(parts(&join(&a, &b)).collect::<Vec<_>>(), ["g.edges", "N"]);
        assert_eq!(parts(&a).collect::<Vec<_>>(), ["g.edges"]);
    }

    #[test]
    fn sizes_add_up() {
        let [e, n]: [Symbol; 2] = ["E", "N"].map(Symbol::from);
        assert_eq!(size(&join(&join(&e, &n), &n)).to_string(), "E+2*N");
        assert_eq!(size(&e), Poly::symbol("E"));
    }

    #[test]
    fn each_part_is_replaced() {
        let [e, n]: [Symbol; 2] = ["E", "N"].map(Symbol::from);
        let by = |part: &str| (part != "F").then(|| if part == "N" { "A++B".into() } else { part.into() });
        assert_eq!(replace(&join(&e, &n), &by), Some("E++A++B".into()));
        assert_eq!(replace(&n, &by), Some("A++B".into()));
        assert_eq!(replace(&"E++F".into(), &by), None);
    }
}
