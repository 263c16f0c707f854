//! How far the default mode may be from the domain interpreter: the bound of `docs/determinism.md`, carried along a
//! program beside its values.

mod element;
mod fold;
mod machine;
mod own;
mod rearrange;

pub use element::{Bounded, element};
pub use fold::fold;
pub use machine::{Unbounded, bounds};

use std::ops::AddAssign;
use tiga_ir::interp::Tensor;

/// A tensor of bounded elements.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Extents.
    pub shape: Vec<usize>,
    /// Elements in row-major order.
    pub elems: Vec<Bounded>,
}

/// What a comparison within bounds has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Elements that must have the same bits.
    pub equal: usize,
    /// Elements that must lie within a bound.
    pub within: usize,
    /// Elements of which nothing is known: what may overflow, or depends on a choice that is no clearer than its bound.
    pub excluded: usize,
}

impl Checked {
    /// All elements.
    pub fn all(&self) -> usize {
        self.equal + self.within + self.excluded
    }
}

impl AddAssign for Checked {
    fn add_assign(&mut self, other: Checked) {
        self.equal += other.equal;
        self.within += other.within;
        self.excluded += other.excluded;
    }
}

/// Compares a result of the default mode with the domain interpreter's.
///
/// # Errors
/// The first element beyond its bound, in words.
pub fn compare(expected: &Field, got: &Tensor) -> Result<Checked, String> {
    if expected.shape != got.shape() || expected.elems.len() != got.elems().len() {
        return Err(format!("the shape is {:?}, expected {:?}", got.shape(), expected.shape));
    }
    let mut checked = Checked::default();
    for (i, (expected, got)) in expected.elems.iter().zip(got.elems()).enumerate() {
        if expected.value.dtype() != got.dtype() {
            return Err(format!("[{i}] is {got}, expected {} of another type", expected.value));
        }
        if !expected.bound.is_finite() {
            checked.excluded += 1;
        } else if expected.bound == 0.0 {
            checked.equal += 1;
            if !expected.value.same(*got) {
                return Err(format!("[{i}] is {got}, expected {} without error", expected.value));
            }
        } else {
            checked.within += 1;
            let off = (expected.value.as_f64() - got.as_f64()).abs();
            // The bound itself was computed with roundings.
            let within = off <= expected.bound * 1.0001;
            if !within {
                return Err(format!("[{i}] is {got}, expected {} within {:e}", expected.value, expected.bound));
            }
        }
    }
    Ok(checked)
}
