//! Every op, a row each: adding an op is one file here and one row in [`ALL`].

mod access;
mod apply;
mod arith;
mod compare;
mod constant;
mod contract;
mod control;
mod convert;
mod elementwise;
mod extrema;
mod field;
mod gather;
mod host;
mod launch;
mod logic;
mod loops;
mod math_op;
mod matmul;
mod rearrange;
mod reduce;
mod relation;
mod scan;
mod select;
mod small;
mod vector;

pub use access::{ELEM, LOAD, STORE};
pub use apply::APPLY;
pub use arith::{ABS, ADD, DIV, FMA, MUL, NEG, REM, SQRT, SUB};
pub use compare::{EQ, GE, GT, LE, LT, NE};
pub use constant::CONST;
pub use contract::CONTRACT;
pub use control::{BRANCH, IF, JUMP, REPEAT, RETURN, WHILE, YIELD};
pub use convert::{BITCAST, CAST, cast_without_f16, lossless};
pub(crate) use elementwise::fold_elements;
pub use elementwise::{Elementwise, broadcast};
pub use extrema::{MAX, MIN};
pub use field::{FILL, LEN, REDUCE_AXIS, REDUCE_SET, RESHAPE};
pub use gather::{GATHER_AXIS, GATHER_SET, IOTA};
pub use host::{ALLOC, COPY};
pub use launch::{CALL, LAUNCH, Substitution, substitute, unify};
pub use logic::{AND, NOT, OR, SAR, SHL, SHR, XOR};
pub use loops::FOR;
pub use math_op::MATH;
pub use matmul::{MATMUL, sum_of};
pub use rearrange::{PERMUTE, SLICE, never_negative};
pub use reduce::{JOIN, REDUCE, fit_at};
pub use relation::{ADD_SELF_LOOPS, CELLS, CONCAT_GRAPHS, DEGREE, TRANSPOSE};
pub use scan::SCAN_AXIS;
pub use select::SELECT;
pub use small::{CONCAT, OUTER};
pub use vector::{EXTRACT, GATHER, LANES, OFFSET, PREFETCH, PTR_LOAD, PTR_STORE, SHUFFLE, SPLAT};

use crate::Op;

/// All ops. The order is that of the documentation.
pub const ALL: &[Op] = &[
    // Element by element: any level.
    CONST,
    ADD,
    SUB,
    MUL,
    DIV,
    REM,
    NEG,
    ABS,
    SQRT,
    FMA,
    MIN,
    MAX,
    EQ,
    NE,
    LT,
    LE,
    GT,
    GE,
    AND,
    OR,
    XOR,
    NOT,
    SHL,
    SHR,
    SAR,
    SELECT,
    CAST,
    BITCAST,
    MATH[0],
    MATH[1],
    MATH[2],
    MATH[3],
    MATH[4],
    MATH[5],
    MATH[6],
    MATH[7],
    // Domain: fields and relations.
    APPLY,
    FILL,
    LEN,
    REDUCE_SET,
    REDUCE_AXIS,
    MATMUL,
    CONTRACT,
    RESHAPE,
    SLICE,
    PERMUTE,
    SCAN_AXIS,
    IOTA,
    GATHER_AXIS,
    GATHER_SET,
    DEGREE,
    TRANSPOSE,
    ADD_SELF_LOOPS,
    CONCAT_GRAPHS,
    CALL,
    // Domain and host: control.
    WHILE,
    REPEAT,
    IF,
    YIELD,
    RETURN,
    // Host: tasks.
    ALLOC,
    LAUNCH,
    COPY,
    // Loops.
    FOR,
    REDUCE,
    JOIN,
    LOAD,
    STORE,
    ELEM,
    CONCAT,
    OUTER,
    CELLS,
    // Kernel.
    SPLAT,
    LANES,
    SHUFFLE,
    EXTRACT,
    PTR_LOAD,
    PTR_STORE,
    GATHER,
    PREFETCH,
    OFFSET,
    JUMP,
    BRANCH,
];

/// The op of a name.
pub fn lookup(name: &str) -> Option<Op> {
    ALL.iter().copied().find(|op| op.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let mut names: Vec<&str> = ALL.iter().map(|op| op.name()).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
