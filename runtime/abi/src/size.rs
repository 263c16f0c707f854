//! Capacities: expressions over symbols that a plan template stores and `bind` evaluates.

use crate::{Poly, Symbol};
use std::fmt;

/// Why a size has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SizeError {
    /// A symbol that nothing binds.
    #[error("size `{0}` is not bound")]
    Unbound(String),
    /// The value is negative or does not fit 63 bits.
    #[error("the value of `{0}` is not a valid size")]
    Overflow(String),
    /// Division by a value that is not positive.
    #[error("`{0}` divides by zero")]
    DivisionByZero(String),
    /// The text is not an expression.
    #[error("`{0}` is not a size expression")]
    Syntax(String),
}

/// An expression over `+ * ceildiv max min`, integers and symbols. ASCII when printed: `4*S`, `ceildiv(E,4096)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SizeExpr {
    /// A constant.
    Const(i64),
    /// A symbol.
    Sym(Symbol),
    /// Sum.
    Add(Box<SizeExpr>, Box<SizeExpr>),
    /// Product.
    Mul(Box<SizeExpr>, Box<SizeExpr>),
    /// Quotient rounded down.
    Div(Box<SizeExpr>, Box<SizeExpr>),
    /// Quotient rounded up.
    CeilDiv(Box<SizeExpr>, Box<SizeExpr>),
    /// The larger one.
    Max(Box<SizeExpr>, Box<SizeExpr>),
    /// The smaller one.
    Min(Box<SizeExpr>, Box<SizeExpr>),
}

/// Nesting allowed when parsing an untrusted expression.
const MAX_DEPTH: usize = 64;

impl SizeExpr {
    /// The value under an assignment, in checked 128-bit arithmetic.
    ///
    /// # Errors
    /// Unbound symbols, overflow, division by zero.
    pub fn eval(&self, value: &dyn Fn(&str) -> Option<i64>) -> Result<i64, SizeError> {
        let wide = self.eval_wide(value)?;
        i64::try_from(wide).ok().filter(|v| *v >= 0).ok_or_else(|| SizeError::Overflow(self.to_string()))
    }

    fn eval_wide(&self, value: &dyn Fn(&str) -> Option<i64>) -> Result<i128, SizeError> {
        let overflow = || SizeError::Overflow(self.to_string());
        let both = |a: &SizeExpr, b: &SizeExpr| Ok::<_, SizeError>((a.eval_wide(value)?, b.eval_wide(value)?));
        let divisor = |b: i128| if b > 0 { Ok(b) } else { Err(SizeError::DivisionByZero(self.to_string())) };
        match self {
            SizeExpr::Const(c) => Ok(i128::from(*c)),
            SizeExpr::Sym(s) => value(s).map(i128::from).ok_or_else(|| SizeError::Unbound(s.to_string())),
            SizeExpr::Add(a, b) => both(a, b).and_then(|(a, b)| a.checked_add(b).ok_or_else(overflow)),
            SizeExpr::Mul(a, b) => both(a, b).and_then(|(a, b)| a.checked_mul(b).ok_or_else(overflow)),
            SizeExpr::Div(a, b) => both(a, b).and_then(|(a, b)| Ok(a.div_euclid(divisor(b)?))),
            SizeExpr::CeilDiv(a, b) => {
                both(a, b).and_then(|(a, b)| Ok(a.checked_add(divisor(b)? - 1).ok_or_else(overflow)?.div_euclid(b)))
            }
            SizeExpr::Max(a, b) => both(a, b).map(|(a, b)| a.max(b)),
            SizeExpr::Min(a, b) => both(a, b).map(|(a, b)| a.min(b)),
        }
    }

    /// All symbols in order of first use.
    pub fn symbols(&self) -> Vec<Symbol> {
        let mut out = Vec::new();
        self.collect(&mut out);
        out
    }

    fn collect(&self, out: &mut Vec<Symbol>) {
        match self {
            SizeExpr::Const(_) => {}
            SizeExpr::Sym(s) => {
                if !out.contains(s) {
                    out.push(s.clone());
                }
            }
            SizeExpr::Add(a, b)
            | SizeExpr::Mul(a, b)
            | SizeExpr::Div(a, b)
            | SizeExpr::CeilDiv(a, b)
            | SizeExpr::Max(a, b)
            | SizeExpr::Min(a, b) => {
                a.collect(out);
                b.collect(out);
            }
        }
    }

    /// Reads what [`fmt::Display`] prints (and the same with spaces).
    ///
    /// # Errors
    /// [`SizeError::Syntax`]; nesting deeper than 64 is refused too.
    pub fn parse(text: &str) -> Result<SizeExpr, SizeError> {
        let mut parser = Parser { rest: text, depth: 0 };
        match parser.sum() {
            Some(expr) if parser.rest.trim_start().is_empty() => Ok(expr),
            _ => Err(SizeError::Syntax(text.to_owned())),
        }
    }
}

struct Parser<'a> {
    rest: &'a str,
    depth: usize,
}

impl Parser<'_> {
    fn eat(&mut self, c: char) -> bool {
        match self.rest.trim_start().strip_prefix(c) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn sum(&mut self) -> Option<SizeExpr> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let mut left = self.product()?;
        while self.eat('+') {
            left = SizeExpr::Add(Box::new(left), Box::new(self.product()?));
        }
        self.depth -= 1;
        Some(left)
    }

    fn product(&mut self) -> Option<SizeExpr> {
        let mut left = self.atom()?;
        while self.eat('*') {
            left = SizeExpr::Mul(Box::new(left), Box::new(self.atom()?));
        }
        Some(left)
    }

    fn atom(&mut self) -> Option<SizeExpr> {
        if self.eat('(') {
            let inner = self.sum()?;
            return self.eat(')').then_some(inner);
        }
        let text = self.rest.trim_start();
        let signed = text.strip_prefix('-').map_or(0, |_| 1);
        let is_word = |c: char| c.is_ascii_alphanumeric() || "_.$".contains(c);
        let end = text[signed..].find(|c| !is_word(c)).map_or(text.len(), |i| i + signed);
        let (word, rest) = text.split_at(end);
        self.rest = rest;
        if word.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            return word.parse().ok().map(SizeExpr::Const);
        }
        if word.is_empty() {
            return None;
        }
        let make: fn(Box<SizeExpr>, Box<SizeExpr>) -> SizeExpr = match word {
            "div" => SizeExpr::Div,
            "ceildiv" => SizeExpr::CeilDiv,
            "max" => SizeExpr::Max,
            "min" => SizeExpr::Min,
            _ => return Some(SizeExpr::Sym(word.into())),
        };
        if !self.eat('(') {
            return Some(SizeExpr::Sym(word.into()));
        }
        let left = self.sum()?;
        let right = self.eat(',').then(|| self.sum())??;
        self.eat(')').then(|| make(Box::new(left), Box::new(right)))
    }
}

impl From<&Poly> for SizeExpr {
    fn from(poly: &Poly) -> Self {
        let term = |(coefficient, factors): (i64, &[Symbol])| {
            let symbols = factors.iter().cloned().map(SizeExpr::Sym);
            let constant = (coefficient != 1 || factors.is_empty()).then_some(SizeExpr::Const(coefficient));
            constant.into_iter().chain(symbols).reduce(|a, b| SizeExpr::Mul(Box::new(a), Box::new(b)))
        };
        let sum = poly.terms().into_iter().filter_map(term).reduce(|a, b| SizeExpr::Add(Box::new(a), Box::new(b)));
        sum.unwrap_or(SizeExpr::Const(0))
    }
}

impl fmt::Display for SizeExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let factor = |e: &SizeExpr| match e {
            SizeExpr::Add(..) => format!("({e})"),
            _ => e.to_string(),
        };
        match self {
            SizeExpr::Const(c) => write!(f, "{c}"),
            SizeExpr::Sym(s) => f.write_str(s),
            // Both operators associate to the left, so a right operand of the same kind keeps its parentheses.
            SizeExpr::Add(a, b) if matches!(**b, SizeExpr::Add(..)) => write!(f, "{a}+({b})"),
            SizeExpr::Add(a, b) => write!(f, "{a}+{b}"),
            SizeExpr::Mul(a, b) if matches!(**b, SizeExpr::Mul(..)) => write!(f, "{}*({b})", factor(a)),
            SizeExpr::Mul(a, b) => write!(f, "{}*{}", factor(a), factor(b)),
            SizeExpr::Div(a, b) => write!(f, "div({a},{b})"),
            SizeExpr::CeilDiv(a, b) => write!(f, "ceildiv({a},{b})"),
            SizeExpr::Max(a, b) => write!(f, "max({a},{b})"),
            SizeExpr::Min(a, b) => write!(f, "min({a},{b})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_what_it_reads_and_evaluates() {
        for (text, value) in [("4*S", 40), ("2*div(E,512)*(F+1)", 12), ("max(ceildiv(E,4096),1)", 1), ("min(S,3)+2", 5)]
        {
            let expr = SizeExpr::parse(text).unwrap();
            assert_eq!(expr.to_string(), text);
            let sizes = |s: &str| {
                Some(match s {
                    "S" => 10,
                    "E" => 1025,
                    _ => 2,
                })
            };
            assert_eq!(expr.eval(&sizes), Ok(value), "{text}");
        }
    }

    #[test]
    fn refuses_nonsense_and_deep_nesting() {
        for text in ["", "4*", "max(1)", "(1", "1)", "a b"] {
            assert!(SizeExpr::parse(text).is_err(), "{text}");
        }
        assert!(SizeExpr::parse(&"(".repeat(100_000)).is_err());
    }

    #[test]
    fn errors_are_typed() {
        let none = |_: &str| None;
        assert!(matches!(SizeExpr::parse("S").unwrap().eval(&none), Err(SizeError::Unbound(_))));
        assert!(matches!(SizeExpr::parse("ceildiv(1,0)").unwrap().eval(&none), Err(SizeError::DivisionByZero(_))));
        assert!(matches!(SizeExpr::parse("1+-2").unwrap().eval(&none), Err(SizeError::Overflow(_))));
    }
}
