//! What makes a field of the edges for one message only becomes part of its edge function: operations on single
//! elements, and other messages on the same graph (as FusedMM does with SDDMM and SpMM: Rahman, Sujon and Azad 2021).

use super::{Fusion, MOST, Order, PASS, Part, cost};
use indexmap::IndexSet;
use tiga_ir::{Attr, Inst, Key, OpView, Role, Value, ops};

impl Fusion<'_> {
    /// Takes in what makes the edges that a message reads, also of what comes in with it.
    pub(super) fn absorb_producers(&mut self, apply: Inst, order: &Order) {
        let mut at = 0;
        while let Some(role) = self.roles(apply).get(at).copied() {
            let value = self.body.inst(apply).operands[at + 1];
            let producer = self.body.def(value).filter(|def| role == Role::Edge && order.contains_key(def));
            match producer {
                Some(producer) if self.is_producer(producer) && self.consider_producer(apply, at, producer, order) => {
                    at = 0
                }
                _ => at += 1,
            }
        }
    }

    fn roles(&self, apply: Inst) -> Vec<Role> {
        self.body.inst(apply).attrs.roles().expect("verified: an apply has roles").to_vec()
    }

    /// Whether an instruction makes each edge by itself.
    fn is_producer(&self, inst: Inst) -> bool {
        let data = self.body.inst(inst);
        data.op.elementwise().is_some() || data.op == ops::APPLY && Part::of(data) == Some(Part::Edge)
    }

    /// Moves what makes an operand, if it can be and pays; says so either way.
    fn consider_producer(&mut self, apply: Inst, at: usize, producer: Inst, order: &Order) -> bool {
        let data = self.body.inst(producer);
        let (loc, place) = (data.loc.clone(), self.body.inst(apply).loc.clone());
        let what = match data.op {
            op if op == ops::APPLY => "this message".to_owned(),
            op => format!("`{}`", op.name()),
        };
        let bytes = cost::bytes(self.tensor(self.body.inst(apply).operands[at + 1]));
        match self.why_not(apply, at, producer, order) {
            None => {
                self.take_in(apply, at, producer);
                let text = format!(
                    "{what} moves into the edge function of the message at {place}: {bytes} bytes an edge are not written \
                     and read again ({})",
                    cost::ASSUMED
                );
                self.remarks.passed(PASS.name, &loc, text);
                true
            }
            Some(why) => {
                let text = format!("{what} stays outside of the message at {place}: {why}");
                self.remarks.missed(PASS.name, &loc, text);
                false
            }
        }
    }

    /// Why what makes an operand stays where it is.
    fn why_not(&self, apply: Inst, at: usize, producer: Inst, order: &Order) -> Option<String> {
        let (message, data) = (self.body.inst(apply), self.body.inst(producer));
        let value = message.operands[at + 1];
        let used = data.results.iter().filter(|v| self.uses.get(*v).copied().unwrap_or(0) > 0);
        if used.clone().any(|v| self.uses[v] > 1 || *v != value) {
            return Some("what it makes is read elsewhere too".to_owned());
        }
        let (mut operations, mut size, mut instead) = (0, 1, 0);
        if data.op == ops::APPLY {
            if data.operands[0] != message.operands[0] {
                return Some("it is on another graph".to_owned());
            }
            let insts = &self.body.block(self.body.entry(data.regions[0])).insts;
            size = insts.len();
            operations = insts.iter().map(|inst| self.operations(*inst)).fold(0, u64::saturating_add);
        } else {
            instead = self.instead(producer, order);
            if cost::elements(self.tensor(value)) == 1 {
                operations = self.operations(producer);
            }
        }
        if self.size(apply, Part::Edge) + size > MOST {
            return Some("it is large enough".to_owned());
        }
        let (again, saved) = (self.walks(apply) - 1, self.moved_twice(value));
        let work = cost::time(operations.saturating_mul(again));
        if cost::pays(0, saved, instead.saturating_add(work)) {
            return None;
        }
        Some(if cost::pays(0, saved, work) {
            format!("{instead} bytes an edge of what it takes would be moved, for {saved} ({})", cost::ASSUMED)
        } else {
            let operations = cost::counted(operations);
            let assumed = cost::ASSUMED;
            format!(
                "{saved} bytes an edge are not worth {operations} in each of {again} more walks over the edges ({assumed})"
            )
        })
    }

    /// Bytes of a field's element that are written, and read again.
    fn moved_twice(&self, value: Value) -> u64 {
        cost::bytes(self.tensor(value)).saturating_mul(2)
    }

    /// Bytes an edge that are moved if an operation and those before it are part of a message: of what they take, and
    /// what is made in the same launch as they are, without a place in memory, as long as they are none.
    fn instead(&self, producer: Inst, order: &Order) -> u64 {
        let (mut waiting, mut bytes) = (vec![producer], 0);
        let mut seen = IndexSet::from([producer]);
        while let Some(inst) = waiting.pop() {
            for operand in &self.body.inst(inst).operands {
                let local = self.body.def(*operand).filter(|def| order.contains_key(def));
                let Some(def) = local.filter(|_| self.tensor(*operand).set.is_some()) else { continue };
                match self.body.inst(def).op {
                    // A message has its own launch, and positions have no place in memory at all.
                    op if op == ops::APPLY || op == ops::IOTA || !seen.insert(def) => {}
                    op if op.elementwise().is_some() => waiting.push(def),
                    _ => bytes += self.moved_twice(*operand),
                }
            }
        }
        bytes
    }

    fn operations(&self, inst: Inst) -> u64 {
        cost::operations(OpView { module: self.module, body: self.body, inst })
    }

    /// How often a message walks over its edges: for each target, once for each tile of features.
    fn walks(&self, apply: Inst) -> u64 {
        let entry = self.body.entry(self.body.inst(apply).regions[0]);
        let yields = &self.body.inst(self.last(entry)).operands;
        yields.iter().map(|v| cost::tiles(self.tensor(*v))).fold(0, u64::saturating_add).max(1)
    }

    /// Puts what makes an operand before all else that the edge function does, and drops the operand.
    fn take_in(&mut self, apply: Inst, at: usize, producer: Inst) {
        let value = self.body.inst(apply).operands[at + 1];
        let edge = self.body.inst(apply).regions[0];
        let made = match self.body.inst(producer).op {
            op if op == ops::APPLY => self.take_message(apply, value, producer),
            _ => self.take_operation(apply, producer),
        };
        let param = self.body.block(self.body.entry(edge)).params[at];
        self.body.replace_uses(edge, param, made);
        self.drop_operand(apply, at);
        self.remove(producer);
    }

    /// Moves the edge function of a message; gives what it yields for one of its results.
    fn take_message(&mut self, apply: Inst, result: Value, producer: Inst) -> Value {
        let data = self.body.inst(producer).clone();
        let region = data.regions[0];
        let from = self.body.entry(region);
        for (i, role) in self.roles(producer).into_iter().enumerate() {
            let seen = self.seen(apply, Part::Edge, data.operands[i + 1], role);
            let param = self.body.block(from).params[i];
            self.body.replace_uses(region, param, seen);
        }
        let mut insts = std::mem::take(&mut self.body.block_mut(from).insts);
        let end = insts.pop().expect("verified: a block ends with a terminator");
        let index = data.results.iter().position(|v| *v == result).expect("the value is a result of the message");
        let made = self.body.inst(end).operands[index];
        let to = self.body.entry(self.body.inst(apply).regions[0]);
        self.body.block_mut(to).insts.splice(0..0, insts);
        made
    }

    /// Repeats an operation in the edge function; gives its result there.
    fn take_operation(&mut self, apply: Inst, producer: Inst) -> Value {
        let to = self.body.entry(self.body.inst(apply).regions[0]);
        let mut operands = Vec::new();
        let mut place = 0;
        for operand in self.body.inst(producer).operands.clone() {
            let constant =
                self.body.def(operand).filter(|def| [ops::CONST, ops::LEN].contains(&self.body.inst(*def).op));
            operands.push(if let Some(def) = constant {
                place += 1;
                self.repeat(def, to, place - 1)
            } else {
                let role = if self.tensor(operand).set.is_none() { Role::Param } else { Role::Edge };
                self.seen(apply, Part::Edge, operand, role)
            });
        }
        let made = self.repeat(producer, to, place);
        let inst = self.body.def(made).expect("it was just made");
        self.body.inst_mut(inst).operands = operands;
        made
    }

    /// Drops a field of the edges that the edge function no longer reads.
    fn drop_operand(&mut self, apply: Inst, at: usize) {
        let mut roles = self.roles(apply);
        roles.remove(at);
        let data = self.body.inst_mut(apply);
        let value = data.operands.remove(at + 1);
        data.attrs.set(Key::Roles, Attr::Roles(roles));
        let entry = self.body.entry(self.body.inst(apply).regions[0]);
        let param = self.body.block(entry).params[at];
        self.body.retain_params(entry, |v| v != param);
        if let Some(uses) = self.uses.get_mut(&value) {
            *uses -= 1;
        }
    }
}
