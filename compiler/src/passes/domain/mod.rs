//! Passes on domain functions.

mod cost;
pub mod fuse;
pub mod hoist;
pub mod inline;
pub mod lower_to_loops;
pub mod trim;

pub use cost::ASSUMED;
use tiga_ir::{Attr, Body, Inst, Key, Role, TensorType, Value};

/// Gives a message another operand; what its functions see of it: the edge function always, and the node function where
/// the role is one that it sees.
fn add_operand(body: &mut Body, apply: Inst, value: Value, role: Role, element: &TensorType) -> (Value, Option<Value>) {
    let data = body.inst_mut(apply);
    data.operands.push(value);
    let mut roles = data.attrs.roles().expect("verified: an apply has roles").to_vec();
    roles.push(role);
    data.attrs.set(Key::Roles, Attr::Roles(roles));
    let regions = data.regions.clone();
    let mut param = |region| {
        let entry = body.entry(region);
        body.add_param(entry, element.clone().into(), None)
    };
    let edge = param(regions[0]);
    let node = regions.get(1).filter(|_| matches!(role, Role::Dst | Role::Param)).map(|region| param(*region));
    (edge, node)
}
