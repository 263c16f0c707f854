//! Relations by how they are made of graph parameters: `g`, `g.t`, `g.loops`, `cat(g,h.t)`, and what that makes of names.

use std::fmt;

/// A relation; its text is how tasks and the names of resources spell it.
///
/// Edges have numbers, and each row visits its edges in ascending order of them: a transpose keeps the numbers, loops
/// have the last ones, and of two graphs side by side the first has the first ones.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Relation {
    /// A graph parameter, `g`, or its transpose, `g.t`.
    Graph {
        /// The parameter.
        name: String,
        /// Whether sources and destinations are exchanged.
        transposed: bool,
    },
    /// `r.loops`: the edges of another one, then an edge from each node to itself.
    Loops(Box<Relation>),
    /// `cat(a,b)`: two relations side by side.
    Concat(Box<Relation>, Box<Relation>),
}

/// Relations inside each other in a name; compilers make fewer.
const DEPTH: usize = 128;

impl Relation {
    /// A graph parameter.
    pub fn graph(name: impl Into<String>) -> Relation {
        Relation::Graph { name: name.into(), transposed: false }
    }

    /// Sources and destinations exchanged. Only graphs are ever turned: of what is made of them, the parts are.
    pub fn transposed(&self) -> Relation {
        match self {
            Relation::Graph { name, transposed } => Relation::Graph { name: name.clone(), transposed: !transposed },
            Relation::Loops(inner) => Relation::Loops(Box::new(inner.transposed())),
            Relation::Concat(a, b) => Relation::Concat(Box::new(a.transposed()), Box::new(b.transposed())),
        }
    }

    /// Whether edges have numbers beside their positions: an array `perm`.
    pub fn numbered(&self) -> bool {
        match self {
            Relation::Graph { transposed, .. } => *transposed,
            Relation::Loops(_) => true,
            Relation::Concat(a, b) => a.numbered() || b.numbered(),
        }
    }

    /// Whether the runtime builds its arrays: all but a graph itself.
    pub fn derived(&self) -> bool {
        !matches!(self, Relation::Graph { transposed: false, .. })
    }

    /// What it is made of directly; nothing, if it is a graph.
    pub fn made_of(&self) -> Vec<&Relation> {
        match self {
            Relation::Graph { .. } => Vec::new(),
            Relation::Loops(inner) => vec![inner],
            Relation::Concat(a, b) => vec![a, b],
        }
    }

    /// The graph parameters in it, in order, each time it stands there.
    pub fn graphs(&self) -> Vec<&str> {
        match self {
            Relation::Graph { name, .. } => vec![name],
            made => made.made_of().into_iter().flat_map(Relation::graphs).collect(),
        }
    }

    /// Reads a whole text; `None` if it is no relation.
    pub fn parse(text: &str) -> Option<Relation> {
        prefix(text, DEPTH).filter(|(_, rest)| rest.is_empty()).map(|(relation, _)| relation)
    }

    /// The relation that the name of a resource begins with, and the part of it: `g.t.perm` is `perm` of `g.t`.
    pub fn of_resource(name: &str) -> Option<(Relation, &str)> {
        let (relation, rest) = prefix(name, DEPTH)?;
        Some((relation, rest.strip_prefix('.')?))
    }
}

/// The longest relation at the beginning of a text, and what follows.
fn prefix(text: &str, depth: usize) -> Option<(Relation, &str)> {
    let depth = depth.checked_sub(1)?;
    let (mut relation, mut rest) = match text.strip_prefix("cat(") {
        Some(inner) => {
            let (a, rest) = prefix(inner, depth)?;
            let (b, rest) = prefix(rest.strip_prefix(',')?, depth)?;
            (Relation::Concat(Box::new(a), Box::new(b)), rest.strip_prefix(')')?)
        }
        None => {
            let end = text.find(['.', ',', '(', ')']).unwrap_or(text.len());
            let (name, rest) = text.split_at(end);
            let turned = word(rest, ".t");
            let relation = Relation::Graph { name: name.to_owned(), transposed: turned.is_some() };
            (!name.is_empty()).then_some((relation, turned.unwrap_or(rest)))?
        }
    };
    let mut left = depth;
    while let Some(after) = word(rest, ".loops") {
        left = left.checked_sub(1)?;
        relation = Relation::Loops(Box::new(relation));
        rest = after;
    }
    Some((relation, rest))
}

/// What follows a word that ends where the text says.
fn word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    text.strip_prefix(word).filter(|rest| rest.is_empty() || rest.starts_with(['.', ',', ')']))
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Relation::Graph { name, transposed } => write!(f, "{name}{}", if *transposed { ".t" } else { "" }),
            Relation::Loops(inner) => write!(f, "{inner}.loops"),
            Relation::Concat(a, b) => write!(f, "cat({a},{b})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back() {
        let g = || Box::new(Relation::graph("g"));
        let all = [
            Relation::graph("g"),
            Relation::graph("cat"),
            Relation::graph("t").transposed(),
            Relation::Loops(g()),
            Relation::Loops(Box::new(Relation::Loops(Box::new(g().transposed())))),
            Relation::Loops(Box::new(Relation::Concat(g(), Box::new(Relation::Loops(g()))))).transposed(),
        ];
        for relation in all {
            let text = relation.to_string();
            assert_eq!(Relation::parse(&text).as_ref(), Some(&relation), "{text}");
            let name = format!("{text}.long_rows.512");
            assert_eq!(Relation::of_resource(&name), Some((relation.clone(), "long_rows.512")));
            assert_eq!(relation.transposed().transposed(), relation);
        }
        assert_eq!(Relation::parse("cat(g.t.loops,h)").unwrap().graphs(), ["g", "h"]);
    }

    #[test]
    fn what_is_no_relation_is_none() {
        for text in ["", ".t", "cat(g", "cat(g)", "cat(,g)", "g)", "g.loops.t", "g.tt", "cat(g,h).t", "g.loop"] {
            assert_eq!(Relation::parse(text), None, "{text}");
        }
        assert_eq!(Relation::of_resource("x"), None);
        let deep = |n: usize| format!("{}g{}", "cat(".repeat(n), ",g)".repeat(n));
        assert!(Relation::parse(&deep(60)).is_some());
        assert_eq!(Relation::parse(&deep(100_000)), None);
        assert_eq!(Relation::parse(&format!("g{}", ".loops".repeat(100_000))), None);
    }
}
