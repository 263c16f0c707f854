//! The shape given to each reduction: a function of the program and the floating-point mode alone.

use tiga_abi::{FpMode, Poly};
use tiga_ir::{Acc, AccRow, Cmp, Laws, ReduceShape};

/// How reductions are shaped (see `docs/determinism.md`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReductionLaw {
    /// Strict mode: one accumulator, one leaf, no contraction.
    pub fp: FpMode,
    /// Edges in a leaf of a row.
    pub row_leaf: u64,
    /// Entities in a leaf of a reduction over a set.
    pub set_leaf: u64,
    /// Accumulators whatever the width; `None` chooses by width.
    pub acc: Option<u32>,
}

impl ReductionLaw {
    /// The law of a mode with its start values.
    pub fn new(fp: FpMode) -> Self {
        Self { fp, row_leaf: 512, set_leaf: 4096, acc: None }
    }

    /// The shape of a fold over a row's edges, of a message with `width` features.
    pub fn row(&self, laws: Laws, width: &Poly) -> ReduceShape {
        self.shape(self.row_leaf, laws, width)
    }

    /// The shape of a fold over a set.
    pub fn set(&self, laws: Laws, width: &Poly) -> ReduceShape {
        self.shape(self.set_leaf, laws, width)
    }

    fn shape(&self, leaf: u64, laws: Laws, width: &Poly) -> ReduceShape {
        if self.fp == FpMode::Strict || !laws.associative {
            return ReduceShape::fold();
        }
        let acc = match (self.acc, laws.commutative) {
            // Contiguous runs would need a second pass over the leaf; one accumulator is one run.
            (_, false) => Acc::fixed(1),
            (Some(acc), true) => Acc::fixed(acc),
            (None, true) => by_width(width),
        };
        ReduceShape { leaf: Some(leaf), acc }
    }
}

/// 16 accumulators for one feature, 4 below 64, else 1.
fn by_width(width: &Poly) -> Acc {
    let row = |cmp, bound, acc| AccRow { width: width.clone(), cmp, bound, acc };
    let table = Acc { rows: vec![row(Cmp::Eq, 1, 16), row(Cmp::Lt, 64, 4)], otherwise: 1 };
    match width.as_constant() {
        Some(value) => Acc::fixed(table.eval(&|_| None).unwrap_or(if value < 64 { 4 } else { 1 })),
        None => table,
    }
}
