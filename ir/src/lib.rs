//! The intermediate representation: one SSA container, three levels (domain, loops, kernel).
//!
//! A level is the set of ops it admits ([`Level`]); printer, parser, dominance and the pass
//! runner are written once. The law book of each level stands at the head of its verifier.

mod attr;
mod backend;
mod body;
mod builder;
mod entity;
pub mod interp;
pub mod joined;
pub mod math;
mod module;
mod nest;
mod op;
pub mod ops;
mod scalar;
mod text;
mod transplant;
mod types;
pub mod verify;

pub use attr::{Acc, AccRow, Attr, Attrs, Cmp, Guard, Key, Over, ReduceShape, Role, Space, Target};
pub use backend::Backend;
pub use body::{BlockData, Body, InstData, RegionData, ValueData, ValueDef};
pub use builder::Builder;
pub use entity::{Block, Inst, Region, Value};
pub use module::{Fit, Func, Laws, Module, Reducer, StateComponent};
pub use nest::Nest;
pub use op::{Effect, Fold, KernelOp, Level, Levels, Op, OpDef, OpView, TypeError};
pub use scalar::{Scalar, ScalarError};
pub use text::{ParseError, parse_module, print_func, print_module};
pub use transplant::Transplant;
pub use types::{RelKind, RelType, SymKind, Symbols, TensorType, Type};
