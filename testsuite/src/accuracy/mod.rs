//! How far math functions are from the exact value: their compiled kernels against a reference of twice the bits of an
//! f64, that reference against 256-bit arithmetic. `cargo xtask survey` prints the tables of `docs/math.md`.

mod angle;
mod draw;
mod exact;
mod kernels;
mod pair;
mod quick;
mod survey;

pub use draw::Draw;
pub use exact::Exact;
pub use kernels::{Kernels, programs};
pub use pair::{Format, Pair, Scaled};
pub use quick::{BOUND, Quick};
pub use survey::{Found, Inputs, LIMIT, distance, exactly, format_of, survey};
