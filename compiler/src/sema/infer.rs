//! Element types that are not decided yet: a literal takes the type it meets.

use tiga_abi::DType;

/// A set of element types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Domain(u8);

impl Domain {
    /// What an integer literal may become.
    pub(crate) const INTEGER: Domain =
        Domain::of(&[DType::I32, DType::I64, DType::F16, DType::BF16, DType::F32, DType::F64]);
    /// What a floating-point literal may become.
    pub(crate) const FLOAT: Domain = Domain::of(&[DType::F16, DType::BF16, DType::F32, DType::F64]);
    /// Truth values.
    pub(crate) const BOOL: Domain = Domain::of(&[DType::Bool]);
    /// Anything.
    pub(crate) const ANY: Domain = Domain::of(&DType::ALL);

    const fn of(dtypes: &[DType]) -> Domain {
        let mut bits = 0;
        let mut i = 0;
        while i < dtypes.len() {
            bits |= 1 << dtypes[i] as u8;
            i += 1;
        }
        Domain(bits)
    }

    /// The types that satisfy a condition.
    pub(crate) fn where_(accept: impl Fn(DType) -> bool) -> Domain {
        DType::ALL.into_iter().filter(|d| accept(*d)).fold(Domain(0), |all, d| Domain(all.0 | Domain::of(&[d]).0))
    }

    pub(crate) fn contains(self, dtype: DType) -> bool {
        self.0 & Domain::of(&[dtype]).0 != 0
    }

    pub(crate) fn and(self, other: Domain) -> Domain {
        Domain(self.0 & other.0)
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = DType> {
        DType::ALL.into_iter().filter(move |d| self.contains(*d))
    }

    /// The only type in it.
    pub(crate) fn single(self) -> Option<DType> {
        let mut all = self.iter();
        all.next().filter(|_| all.next().is_none())
    }

    /// What is taken when nothing decides: `i64` for integers, `f32` for the others.
    fn default(self) -> DType {
        let order = [DType::I64, DType::F32, DType::F64, DType::I32, DType::Bool, DType::F16, DType::BF16];
        order.into_iter().find(|d| self.contains(*d)).expect("a domain is never empty")
    }
}

/// The element type of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Elem {
    /// Written, or inferred.
    Known(DType),
    /// That of a literal, by its number in [`Elems`].
    Open(usize),
}

#[derive(Clone, Copy, Debug)]
enum Slot {
    /// The same as another one.
    Same(usize),
    /// One of these.
    One(Domain),
}

/// The open element types of one body: union-find over domains.
#[derive(Debug, Default)]
pub(crate) struct Elems {
    slots: Vec<Slot>,
}

impl Elems {
    /// A new open type.
    pub(crate) fn open(&mut self, domain: Domain) -> Elem {
        self.slots.push(Slot::One(domain));
        Elem::Open(self.slots.len() - 1)
    }

    fn root(&self, mut index: usize) -> (usize, Domain) {
        loop {
            match self.slots[index] {
                Slot::Same(next) => index = next,
                Slot::One(domain) => return (index, domain),
            }
        }
    }

    /// What a type may still be.
    pub(crate) fn domain(&self, elem: Elem) -> Domain {
        match elem {
            Elem::Known(dtype) => Domain::of(&[dtype]),
            Elem::Open(index) => self.root(index).1,
        }
    }

    /// Makes two types one; `false`, and nothing changes, if they cannot be.
    pub(crate) fn unify(&mut self, left: Elem, right: Elem) -> bool {
        let domain = self.domain(left).and(self.domain(right));
        if domain.is_empty() {
            return false;
        }
        match (left, right) {
            (Elem::Open(a), Elem::Open(b)) => {
                let (a, b) = (self.root(a).0, self.root(b).0);
                self.slots[a] = Slot::One(domain);
                if a != b {
                    self.slots[b] = Slot::Same(a);
                }
            }
            (Elem::Open(a), Elem::Known(_)) | (Elem::Known(_), Elem::Open(a)) => {
                let root = self.root(a).0;
                self.slots[root] = Slot::One(domain);
            }
            (Elem::Known(_), Elem::Known(_)) => {}
        }
        true
    }

    /// Narrows what a type may be; `false`, and nothing changes, if nothing would be left.
    pub(crate) fn restrict(&mut self, elem: Elem, to: Domain) -> bool {
        let domain = self.domain(elem).and(to);
        if domain.is_empty() {
            return false;
        }
        if let Elem::Open(index) = elem {
            let root = self.root(index).0;
            self.slots[root] = Slot::One(domain);
        }
        true
    }

    /// How messages name it: `f32`, or what kind of literal it is.
    pub(crate) fn name(&self, elem: Elem) -> &'static str {
        let domain = self.domain(elem);
        match domain.single() {
            Some(dtype) => dtype.name(),
            None if domain == Domain::FLOAT => "{float}",
            None => "{number}",
        }
    }

    /// The decided types of all slots, defaults included, by number.
    pub(crate) fn decide(&self) -> Vec<DType> {
        (0..self.slots.len()).map(|i| self.root(i).1.default()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_take_the_type_they_meet_and_default_otherwise() {
        let mut elems = Elems::default();
        let (int, float, alone) = (elems.open(Domain::INTEGER), elems.open(Domain::FLOAT), elems.open(Domain::INTEGER));
        assert!(elems.unify(int, float));
        assert!(elems.unify(float, Elem::Known(DType::F64)));
        assert!(!elems.unify(int, Elem::Known(DType::F32)));
        assert_eq!(elems.decide(), [DType::F64, DType::F64, DType::I64]);
        assert!(elems.restrict(alone, Domain::FLOAT));
        assert_eq!(elems.decide()[2], DType::F32);
    }
}
