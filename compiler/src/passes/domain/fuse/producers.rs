//! What makes a field of the edges for one message only becomes part of its edge function: operations on single
//! elements, and other messages on the same graph (as FusedMM does with SDDMM and SpMM: Rahman, Sujon and Azad 2021).

use super::{Fusion, MOST, Order, PASS, Part, cost};
use indexmap::IndexSet;
use std::fmt;
use tiga_ir::{Attr, Inst, Key, Op, OpView, Role, Value, ops};

/// Why what makes an operand stays where it is.
enum Why {
    /// Not only this message reads it.
    Shared,
    /// Its edges are others.
    OtherGraph,
    /// A kernel of its own multiplies several rows at once.
    Product,
    /// The edge function would be too large.
    Large,
    /// Other fields would have to be written and read: bytes an edge.
    Instead { bytes: u64, saved: u64 },
    /// It would be computed again.
    Again { operations: u64, walks: u64, saved: u64, known: bool },
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::Shared => f.write_str("what it makes is read elsewhere too"),
            Why::OtherGraph => f.write_str("it is on another graph"),
            Why::Product => f.write_str("its product would not fold rows together"),
            Why::Large => f.write_str("it is large enough"),
            Why::Instead { bytes, saved } => {
                write!(f, "{bytes} bytes an edge of what it takes would be moved, for {saved} ({})", cost::ASSUMED)
            }
            Why::Again { operations, walks, saved, known } => {
                let operations = cost::counted(*operations, "operation");
                let walks = cost::counted(*walks, "more walk");
                write!(f, "{saved} bytes an edge are not worth {operations} in each of {walks} over the edges")?;
                if !known {
                    write!(f, ", of which there are taken to be {} for features without a number", cost::WALKS)?;
                }
                write!(f, " ({})", cost::ASSUMED)
            }
        }
    }
}

impl Fusion<'_> {
    /// Takes in what makes the edges that a message reads, also of what comes in with it.
    pub(super) fn absorb_producers(&mut self, apply: Inst, order: &Order) {
        while let Some((at, producer)) = self.movable(apply, order) {
            let value = self.body.inst(apply).operands[at + 1];
            let (loc, what, place) = (self.body.inst(producer).loc.clone(), self.what(producer), self.place(apply));
            let bytes = cost::bytes(self.tensor(value));
            self.take_in(apply, value, producer);
            let spared = cost::spared(bytes, "an edge");
            let text = format!("{what} moves into the edge function of the message at {place}: {spared}");
            self.remarks.passed(PASS.name, &loc, text);
        }
    }

    /// The first operand whose producer can move and pays.
    fn movable(&self, apply: Inst, order: &Order) -> Option<(usize, Inst)> {
        (0..self.roles(apply).len()).find_map(|at| {
            let producer = self.producer(apply, at, order)?;
            self.why_not(apply, at, producer, order).is_none().then_some((at, producer))
        })
    }

    /// Says what makes edges that a message reads, and stays.
    pub(super) fn say_what_stays(&mut self, apply: Inst, order: &Order) {
        let mut said = IndexSet::new();
        for at in 0..self.roles(apply).len() {
            let Some(producer) = self.producer(apply, at, order).filter(|producer| said.insert(*producer)) else {
                continue;
            };
            if let Some(why) = self.why_not(apply, at, producer, order) {
                let text =
                    format!("{} stays outside of the message at {}: {why}", self.what(producer), self.place(apply));
                let loc = self.body.inst(producer).loc.clone();
                self.remarks.missed(PASS.name, &loc, text);
            }
        }
    }

    fn what(&self, producer: Inst) -> String {
        match self.body.inst(producer).op {
            op if op == ops::APPLY => "this message".to_owned(),
            op => format!("`{}`", op.name()),
        }
    }

    fn place(&self, apply: Inst) -> String {
        self.body.inst(apply).loc.to_string()
    }

    /// What makes each edge of an operand by itself, before a message in its block.
    fn producer(&self, apply: Inst, at: usize, order: &Order) -> Option<Inst> {
        let value = self.body.inst(apply).operands[at + 1];
        let def = self.body.def(value).filter(|def| self.roles(apply)[at] == Role::Edge && order.contains_key(def))?;
        let data = self.body.inst(def);
        let by_itself = data.op.elementwise().is_some() || data.op == ops::APPLY && Part::of(data) == Some(Part::Edge);
        by_itself.then_some(def)
    }

    /// Why what makes an operand stays where it is, if it does.
    fn why_not(&self, apply: Inst, at: usize, producer: Inst, order: &Order) -> Option<Why> {
        let (message, data) = (self.body.inst(apply), self.body.inst(producer));
        let value = message.operands[at + 1];
        let here = |v: &Value| message.operands.iter().filter(|operand| *operand == v).count();
        if data.results.iter().any(|v| self.uses.get(v).copied().unwrap_or(0) != here(v)) {
            return Some(Why::Shared);
        }
        let again = self.walks(apply) - 1;
        let (operations, size, instead) = if data.op == ops::APPLY {
            if data.operands[0] != message.operands[0] {
                return Some(Why::OtherGraph);
            }
            let insts = &self.body.block(self.body.entry(data.regions[0])).insts;
            if insts.iter().any(|inst| self.body.inst(*inst).op == ops::MATMUL) {
                return Some(Why::Product);
            }
            let operations = cost::total(insts.iter().map(|inst| self.operations(*inst)));
            (operations, insts.len() - 1, self.gathered(producer).saturating_mul(again))
        } else {
            let Some(instead) = self.instead(producer, order) else { return Some(Why::Large) };
            let operations = if self.is_per_feature(apply, value) { 0 } else { self.operations(producer) };
            (operations, 1, instead)
        };
        if self.size(apply, Part::Edge) + size > MOST {
            return Some(Why::Large);
        }
        let saved = self.moved_twice(value);
        let work = cost::time(operations.saturating_mul(again));
        if cost::pays(0, saved, instead.saturating_add(work)) {
            return None;
        }
        Some(if cost::pays(0, saved, work) {
            Why::Instead { bytes: instead, saved }
        } else {
            Why::Again { operations, walks: again, saved, known: self.is_sized(apply) }
        })
    }

    /// Bytes of a field's element that are written, and read again.
    fn moved_twice(&self, value: Value) -> u64 {
        cost::bytes(self.tensor(value)).saturating_mul(2)
    }

    /// Bytes that an edge of a message gathers.
    fn gathered(&self, apply: Inst) -> u64 {
        let fields = self.body.inst(apply).operands[1..].iter().zip(self.roles(apply));
        let sources = fields.filter(|(_, role)| *role == Role::Src);
        cost::total(sources.map(|(field, _)| cost::gathered(self.tensor(*field))))
    }

    /// Bytes an edge that are moved if an operation and those before it are part of a message: of what they take, and
    /// what is made in the same launch as they are, without a place in memory, as long as they are none. Nothing if those
    /// before it are too many.
    fn instead(&self, producer: Inst, order: &Order) -> Option<u64> {
        let (mut waiting, mut bytes) = (vec![producer], 0u64);
        let mut seen = IndexSet::from([producer]);
        while let Some(inst) = waiting.pop() {
            for operand in &self.body.inst(inst).operands {
                let local = self.body.def(*operand).filter(|def| order.contains_key(def));
                let Some(def) = local.filter(|_| self.tensor(*operand).set.is_some()) else { continue };
                match self.body.inst(def).op {
                    // A message has its own launch, and positions have no place in memory at all.
                    op if op == ops::APPLY || op == ops::IOTA || !seen.insert(def) => {}
                    op if op.elementwise().is_some() => waiting.push(def),
                    _ => bytes = bytes.saturating_add(self.moved_twice(*operand)),
                }
            }
            if seen.len() > MOST {
                return None;
            }
        }
        Some(bytes)
    }

    fn operations(&self, inst: Inst) -> u64 {
        cost::operations(OpView { module: self.module, body: self.body, inst })
    }

    /// How often a message walks over its edges: for each row that it gives, once for each tile of features.
    fn walks(&self, apply: Inst) -> u64 {
        if Part::of(self.body.inst(apply)) == Some(Part::Edge) {
            return 1;
        }
        cost::total(self.yields(apply).iter().map(|v| cost::tiles(self.tensor(*v)))).max(1)
    }

    /// Whether all that an edge gives has features by number.
    fn is_sized(&self, apply: Inst) -> bool {
        self.yields(apply).iter().all(|v| cost::is_sized(self.tensor(*v)))
    }

    /// What the edge function of a message gives.
    fn yields(&self, apply: Inst) -> &[Value] {
        &self.body.inst(self.last(self.body.entry(self.body.inst(apply).regions[0]))).operands
    }

    /// Whether each tile of a message's features reads its own part of an operand only.
    fn is_per_feature(&self, apply: Inst, value: Value) -> bool {
        let entry = self.body.entry(self.body.inst(apply).regions[0]);
        let dims = &self.tensor(value).dims;
        let insts = self.body.block(entry).insts.iter().map(|inst| self.body.inst(*inst));
        let by_element = |op: Op| op.elementwise().is_some() || [ops::CONST, ops::LEN, ops::YIELD].contains(&op);
        let [only] = self.yields(apply) else { return false };
        !dims.is_empty() && self.tensor(*only).dims == *dims && insts.map(|data| data.op).all(by_element)
    }

    /// Puts what makes an operand before all else that the edge function does, and drops all operands that it makes.
    fn take_in(&mut self, apply: Inst, value: Value, producer: Inst) {
        let edge = self.body.inst(apply).regions[0];
        let made: Vec<(Value, Value)> = match self.body.inst(producer).op {
            op if op == ops::APPLY => self.take_message(apply, producer),
            _ => vec![(value, self.take_operation(apply, producer))],
        };
        for (result, made) in made {
            while let Some(at) = self.body.inst(apply).operands[1..].iter().position(|operand| *operand == result) {
                let param = self.body.block(self.body.entry(edge)).params[at];
                self.body.replace_uses(edge, param, made);
                self.drop_operand(apply, at);
            }
        }
        self.remove(producer);
    }

    /// Moves the edge function of a message; gives its results, each with what the function yields for it.
    fn take_message(&mut self, apply: Inst, producer: Inst) -> Vec<(Value, Value)> {
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
        let to = self.body.entry(self.body.inst(apply).regions[0]);
        self.body.block_mut(to).insts.splice(0..0, insts);
        data.results.into_iter().zip(self.body.inst(end).operands.clone()).collect()
    }

    /// Repeats an operation in the edge function; gives its result there.
    fn take_operation(&mut self, apply: Inst, producer: Inst) -> Value {
        let to = self.body.entry(self.body.inst(apply).regions[0]);
        let mut operands = Vec::new();
        let mut place = 0;
        for operand in self.body.inst(producer).operands.clone() {
            operands.push(if let Some(def) = self.constant(operand) {
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
        self.forget_use(value);
    }
}
