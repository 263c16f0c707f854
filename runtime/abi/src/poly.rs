//! Extents: polynomials with integer coefficients over symbols, in normal form.

use crate::SizeError;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The name of a size: a set, an edge set, or a feature dimension.
pub type Symbol = Arc<str>;

/// A product of symbols with multiplicity, sorted; empty for the constant term.
type Monomial = Vec<Symbol>;

/// A polynomial such as `3*F*H + 1`. Two polynomials are equal exactly if they are the same function.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Poly {
    /// Non-zero coefficients by monomial.
    terms: BTreeMap<Monomial, i64>,
}

impl Poly {
    /// A constant.
    pub fn constant(value: i64) -> Self {
        let mut poly = Self::default();
        poly.insert(Vec::new(), value);
        poly
    }

    /// One symbol.
    pub fn symbol(name: impl Into<Symbol>) -> Self {
        let mut poly = Self::default();
        poly.insert(vec![name.into()], 1);
        poly
    }

    fn insert(&mut self, monomial: Monomial, coefficient: i64) {
        let entry = self.terms.entry(monomial).or_insert(0);
        *entry = entry.wrapping_add(coefficient);
        self.terms.retain(|_, c| *c != 0);
    }

    /// The sum; coefficients wrap (sema refuses literals that could make them).
    pub fn add(&self, other: &Poly) -> Poly {
        let mut out = self.clone();
        for (monomial, coefficient) in &other.terms {
            out.insert(monomial.clone(), *coefficient);
        }
        out
    }

    /// The product.
    pub fn mul(&self, other: &Poly) -> Poly {
        let mut out = Poly::default();
        for (left, a) in &self.terms {
            for (right, b) in &other.terms {
                let mut monomial = [left.as_slice(), right].concat();
                monomial.sort();
                out.insert(monomial, a.wrapping_mul(*b));
            }
        }
        out
    }

    /// The difference.
    pub fn sub(&self, other: &Poly) -> Poly {
        self.add(&other.mul(&Poly::constant(-1)))
    }

    /// The value if there is no symbol in it.
    pub fn as_constant(&self) -> Option<i64> {
        match self.terms.len() {
            0 => Some(0),
            1 => self.terms.get(&Vec::new()).copied(),
            _ => None,
        }
    }

    /// The symbol if this is exactly one symbol.
    pub fn as_symbol(&self) -> Option<&Symbol> {
        let (monomial, coefficient) = self.terms.first_key_value()?;
        (self.terms.len() == 1 && *coefficient == 1 && monomial.len() == 1).then(|| &monomial[0])
    }

    /// All symbols, sorted, each once.
    pub fn symbols(&self) -> Vec<Symbol> {
        let mut all: Vec<Symbol> = self.terms.keys().flatten().cloned().collect();
        all.sort();
        all.dedup();
        all
    }

    /// Replaces symbols for which `by` gives a polynomial.
    pub fn substitute(&self, by: &dyn Fn(&Symbol) -> Option<Poly>) -> Poly {
        let mut out = Poly::default();
        for (monomial, coefficient) in &self.terms {
            let factors = monomial.iter().map(|s| by(s).unwrap_or_else(|| Poly::symbol(s.clone())));
            out = out.add(&factors.fold(Poly::constant(*coefficient), |acc, factor| acc.mul(&factor)));
        }
        out
    }

    /// The value under an assignment, in checked 128-bit arithmetic, as an extent.
    ///
    /// # Errors
    /// An unassigned symbol, a value outside `0..=i64::MAX`.
    pub fn eval(&self, value: &dyn Fn(&str) -> Option<i64>) -> Result<i64, SizeError> {
        let overflow = || SizeError::Overflow(self.to_string());
        let mut sum: i128 = 0;
        for (monomial, coefficient) in &self.terms {
            let mut product = i128::from(*coefficient);
            for symbol in monomial {
                let v = value(symbol).ok_or_else(|| SizeError::Unbound(symbol.to_string()))?;
                product = product.checked_mul(i128::from(v)).ok_or_else(overflow)?;
            }
            sum = sum.checked_add(product).ok_or_else(overflow)?;
        }
        i64::try_from(sum).ok().filter(|v| *v >= 0).ok_or_else(overflow)
    }

    /// The coefficient and factors of each term, in printing order: longer monomials first.
    pub fn terms(&self) -> Vec<(i64, &[Symbol])> {
        let mut all: Vec<_> = self.terms.iter().map(|(m, c)| (*c, m.as_slice())).collect();
        all.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then(a.1.cmp(b.1)));
        all
    }
}

impl From<i64> for Poly {
    fn from(value: i64) -> Self {
        Poly::constant(value)
    }
}

impl fmt::Display for Poly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let terms = self.terms();
        if terms.is_empty() {
            return f.write_str("0");
        }
        for (i, (coefficient, factors)) in terms.into_iter().enumerate() {
            if i > 0 {
                f.write_str("+")?;
            }
            if coefficient != 1 || factors.is_empty() {
                write!(f, "{coefficient}{}", if factors.is_empty() { "" } else { "*" })?;
            }
            f.write_str(&factors.join("*"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn s(name: &str) -> Poly {
        Poly::symbol(name)
    }

    #[test]
    fn normal_form_decides_equality() {
        let left = s("F").add(&s("H")).mul(&Poly::constant(3));
        let right = s("H").mul(&Poly::constant(3)).add(&s("F").mul(&Poly::constant(3)));
        assert_eq!(left, right);
        assert_eq!(s("F").mul(&s("H")), s("H").mul(&s("F")));
        assert_eq!(s("F").sub(&s("F")).as_constant(), Some(0));
        assert_eq!(s("F").mul(&s("H")).add(&Poly::constant(2)).to_string(), "F*H+2");
    }

    #[test]
    fn evaluation_is_checked() {
        let product = s("N").mul(&s("N")).mul(&s("N"));
        assert_eq!(product.eval(&|_| Some(3)), Ok(27));
        assert!(matches!(product.eval(&|_| Some(i64::MAX)), Err(SizeError::Overflow(_))));
        assert!(matches!(product.eval(&|_| None), Err(SizeError::Unbound(_))));
        assert!(matches!(s("N").sub(&Poly::constant(1)).eval(&|_| Some(0)), Err(SizeError::Overflow(_))));
    }

    #[test]
    fn substitution_multiplies_out() {
        let doubled = s("F").mul(&s("H")).substitute(&|n| (&**n == "F").then(|| s("H").add(&Poly::constant(1))));
        assert_eq!(doubled, s("H").mul(&s("H")).add(&s("H")));
    }
}
