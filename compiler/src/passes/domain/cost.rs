//! The one cost rule of passes that move work: bytes against operations.
//!
//! What is gathered comes in whole lines of the cache, whatever is used of them; what is streamed costs its bytes. How
//! large sets and dimensions are is not known here, so that rows are taken to have [`EDGES`] edges and dimensions
//! [`FEATURES`] entries: a remark says so.

use tiga_abi::{DType, Poly};
use tiga_ir::{OpView, TensorType, Value, ops};

/// Edges of a row, where nothing says how many there are.
pub(super) const EDGES: u64 = 16;

/// Entries of a dimension, where nothing says how many there are.
pub(super) const FEATURES: u64 = 32;

/// What remarks say of both.
pub const ASSUMED: &str = "taking 16 edges a row, and 32 entries for a dimension that is not known";

/// Bytes of a line of the cache.
const LINE: u64 = 64;

/// Operations in the time that a byte of main memory takes: a core computes many lanes at once, and waits for memory.
const OPERATIONS_PER_BYTE: u64 = 4;

/// Features of a tile in registers, on a target in the middle; a fold walks over its edges once for each tile.
const TILE: u64 = 32;

/// Elements of an entity's tensor.
pub(super) fn elements(ty: &TensorType) -> u64 {
    let extent = |d: &Poly| {
        let sized = d.substitute(&|_| Some(Poly::constant(FEATURES as i64)));
        sized.as_constant().map_or(FEATURES, |n| n.max(0) as u64)
    };
    ty.dims.iter().map(extent).fold(1, u64::saturating_mul)
}

/// Bytes of an entity's tensor.
pub(super) fn bytes(ty: &TensorType) -> u64 {
    elements(ty).saturating_mul(ty.dtype.bytes() as u64)
}

/// Bytes that arrive where an entity's tensor is gathered.
pub(super) fn gathered(ty: &TensorType) -> u64 {
    bytes(ty).div_ceil(LINE).saturating_mul(LINE)
}

/// A sum of costs; what is beyond all numbers is the largest.
pub(super) fn total(costs: impl Iterator<Item = u64>) -> u64 {
    costs.fold(0, u64::saturating_add)
}

/// Tiles of an entity's tensor, where nothing says how large it is: what is right for one tile may be far off for many.
pub(super) const WALKS: u64 = 4;

/// Tiles of an entity's tensor.
pub(super) fn tiles(ty: &TensorType) -> u64 {
    let tiles = elements(ty).div_ceil(TILE);
    if is_sized(ty) { tiles } else { tiles.max(WALKS) }
}

/// Whether each dimension is a number.
pub(super) fn is_sized(ty: &TensorType) -> bool {
    ty.dims.iter().all(|d| d.as_constant().is_some())
}

/// Bytes that take as long as operations.
pub(super) fn time(operations: u64) -> u64 {
    operations / OPERATIONS_PER_BYTE
}

/// Operations of an instruction on small tensors.
pub(super) fn operations(view: OpView<'_>) -> u64 {
    let data = view.body.inst(view.inst);
    let size = |v: Option<&Value>| v.and_then(|v| view.body.ty(*v).as_tensor()).map_or(1, elements);
    let (operand, result) = (size(data.operands.first()), size(data.results.first()));
    let math = data.op.elementwise().is_some() && data.op.kernel().is_none();
    match data.op {
        op if op == ops::CONST => 0,
        op if op == ops::MATMUL => {
            let inner = view.body.ty(data.operands[0]).as_tensor().and_then(|t| t.dims.last().cloned());
            let inner = inner.map_or(1, |d| elements(&TensorType::tensor(DType::F32, vec![d])));
            result.saturating_mul(2 * inner)
        }
        op if op == ops::REDUCE_AXIS || op == ops::SCAN_AXIS => operand,
        op if op == ops::DIV || op == ops::REM || op == ops::SQRT => result.saturating_mul(8),
        _ if math => result.saturating_mul(20),
        _ => result,
    }
}

/// A number of things, in words.
pub(super) fn counted(number: u64, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// What is saved where an element (`a row`, `an edge`) has no place in memory.
pub(super) fn spared(bytes: u64, element: &str) -> String {
    let are = if bytes == 1 { "is" } else { "are" };
    format!("{} {element} {are} not written and read again ({ASSUMED})", counted(bytes, "byte"))
}

/// Whether operations and bytes that are saved take longer than bytes that are spent.
pub(super) fn pays(operations: u64, saved: u64, spent: u64) -> bool {
    time(operations).saturating_add(saved) > spent
}
