//! What compiler, plan and runtime agree on: element types, symbol expressions, the kernel ABI
//! and target descriptions. Imports nothing of Tiga.

mod budget;
mod device;
mod dtype;
mod kernel;
mod poly;
mod size;
mod target;

pub use budget::{Budget, BudgetError, Bytes, BytesError};
pub use device::{Device, DeviceError, DeviceKind};
pub use dtype::DType;
pub use kernel::{KernelArgs, KernelFn};
pub use poly::{Poly, Symbol};
pub use size::{SizeError, SizeExpr};
pub use target::{CpuTarget, FpMode, TargetError, Tier, TierError};
