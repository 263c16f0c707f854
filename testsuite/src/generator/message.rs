//! Random messages: one to three reductions of what an edge yields, and node regions that see all of them.

use super::moved::Moves;
use super::region::elementwise_code;
use super::writer::Writer;
use tiga_abi::{DType, Poly};
use tiga_ir::{Attr, Attrs, Builder, Key, Reducer, Region, Role, Target, TensorType, Type, Value, joined, ops};

fn is_constant(extent: &Poly) -> bool {
    extent.as_constant().is_some()
}

/// A reducer and the types of its message; without one, the type of what an edge gives.
type Reduction = (Option<Reducer>, Vec<TensorType>);

/// The fields and tensors that a message reads.
struct Reads {
    /// The relation first.
    operands: Vec<Value>,
    roles: Vec<Role>,
}

impl Writer<'_, '_> {
    /// A message; its results, of its reducers or its node region.
    pub fn message(&mut self, pool: &[Value]) -> Vec<Value> {
        let reads = self.reads(pool);
        if reads.roles.is_empty() {
            return Vec::new();
        }
        let (edge, reductions) = self.edge(&reads);
        let (mut targets, mut totals) = (Vec::new(), Vec::new());
        for (reducer, message) in reductions {
            let Some(reducer) = reducer else {
                targets.push(Target::Edge);
                continue;
            };
            let fit = reducer.fit_message(&message.iter().collect::<Vec<_>>()).expect("messages fit their reducer");
            totals.extend(fit.all_outside(&reducer.outs));
            targets.push(Target::Row { reducer: reducer.name.clone(), keep: false });
        }
        let mut regions = vec![edge];
        if self.rng.bool() && !totals.is_empty() {
            regions.push(self.node(&reads, totals));
        }
        let Reads { operands, roles } = reads;
        let attrs = Attrs::new().with(Key::Roles, Attr::Roles(roles)).with(Key::Targets, Attr::Targets(targets));
        let inst = self.builder.push(ops::APPLY, &operands, attrs, regions, Vec::new());
        inst.map(|inst| self.builder.body.inst(inst).results.clone()).unwrap_or_default()
    }

    /// Up to four fields and tensors of random roles; the edges of relations that are made, which have numbers of their
    /// own, are likelier.
    fn reads(&mut self, pool: &[Value]) -> Reads {
        let relation = self.relation();
        let rel = self.rel_type(relation);
        let mut reads = Reads { operands: vec![relation], roles: Vec::new() };
        let count = self.rng.usize(1..5);
        for i in 0..count {
            let edge = i + 1 == count && (rel.kind.numbered() || joined::is_joined(&rel.edges));
            let edge = edge && (self.scope.nested || self.rng.bool());
            let role = if edge { Role::Edge } else { Role::ALL[self.rng.usize(0..4)] };
            let set = match role {
                Role::Src => Some(&rel.src),
                Role::Dst => Some(&rel.dst),
                Role::Edge => Some(&rel.edges),
                Role::Param => None,
            };
            reads.operands.extend(self.pick(pool, |t| t.set.as_ref() == set && t.dims.len() < 2));
            reads.roles.resize(reads.operands.len() - 1, role);
        }
        reads
    }

    fn elements(&self, reads: &Reads, seen: impl Fn(Role) -> bool) -> Vec<Type> {
        let seen = reads.roles.iter().zip(&reads.operands[1..]).filter(|(role, _)| seen(**role));
        seen.map(|(_, v)| Type::Tensor(self.tensor(*v).element())).collect()
    }

    /// The edge region, and the reducers with the types of the messages that it yields; some values are the edge's own.
    fn edge(&mut self, reads: &Reads) -> (Region, Vec<Reduction>) {
        let params = Self::unnamed(self.elements(reads, |_| true));
        let (rng, sizes) = (&mut *self.rng, self.scope.sizes);
        self.builder.region(params, |b, values| {
            let mut pool = values.to_vec();
            elementwise_code(rng, b, &mut pool, 3);
            if rng.u8(0..3) == 0 {
                Moves { rng, builder: b, sizes }.chain(&mut pool, 3);
            }
            let count = [1, 1, 2, 3][rng.usize(0..4)];
            let ty = |b: &Builder<'_>, v: &Value| b.body.ty(*v).as_tensor().expect("it is an element").clone();
            // Messages of several widths that are not constant are refused.
            let width = ty(b, &pool[pool.len() - 1]).dims;
            pool.retain(|v| {
                let dims = ty(b, v).dims;
                dims == width || dims.iter().all(is_constant)
            });
            let (mut reductions, mut yields) = (Vec::new(), Vec::new());
            for value in Self::some(rng, &pool, count) {
                if rng.u8(0..6) == 0 {
                    reductions.push((None, vec![ty(b, &value)]));
                    yields.push(value);
                    continue;
                }
                let own = if rng.u8(0..4) == 0 { Self::own_message(rng, b, &pool) } else { None };
                // The width of a tuple is that of its first member.
                let own = own.filter(|(_, message)| {
                    let first = ty(b, &message[0]).dims;
                    count == 1 || first == width || first.iter().all(is_constant)
                });
                let (reducer, message) = own.unwrap_or_else(|| {
                    let dtype = ty(b, &value).dtype;
                    let name = Self::reducer(rng, dtype).symbol(dtype);
                    (b.module.reducers[name.as_str()].clone(), vec![value])
                });
                reductions.push((Some(reducer), message.iter().map(|v| ty(b, v)).collect()));
                yields.extend(message);
            }
            let _ = b.op(ops::YIELD, &yields, Attrs::new());
            reductions
        })
    }

    /// The node region: half of those that see several totals put two of them together.
    fn node(&mut self, reads: &Reads, totals: Vec<TensorType>) -> Region {
        let seen = self.elements(reads, |role| matches!(role, Role::Dst | Role::Param));
        let count = totals.len();
        let params = Self::unnamed(totals.into_iter().map(Type::from).chain(seen));
        let (rng, sizes) = (&mut *self.rng, self.scope.sizes);
        let (region, ()) = self.builder.region(params, |b, values| {
            let (totals, seen) = values.split_at(count);
            // The newest are likelier.
            let mut pool = [seen, totals].concat();
            elementwise_code(rng, b, &mut pool, 3);
            if rng.u8(0..3) == 0 {
                Moves { rng, builder: b, sizes }.chain(&mut pool, 3);
            }
            if let ([first, .., last], true) = (totals, rng.bool()) {
                let dtype = b.body.ty(*first).dtype().unwrap_or(DType::Bool);
                let same = b.value(ops::CAST, &[*last], Attrs::new().with(Key::To, Attr::DType(dtype)));
                let op = if dtype == DType::Bool { ops::XOR } else { ops::SUB };
                pool.extend(same.and_then(|same| b.value(op, &[*first, same], Attrs::new())));
            }
            let count = [1, 1, 2, 3][rng.usize(0..4)];
            let results = Self::some(rng, &pool, count);
            let _ = b.op(ops::YIELD, &results, Attrs::new());
        });
        region
    }
}
