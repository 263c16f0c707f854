//! Values that stand for others while a body is rewritten from top to bottom.

use indexmap::IndexMap;
use tiga_ir::{Body, Inst, Value};

/// What each replaced value is now.
#[derive(Default)]
pub(super) struct Replacements {
    values: IndexMap<Value, Value>,
}

impl Replacements {
    /// From here on, `new` stands for `old`; `new` is final.
    pub(super) fn set(&mut self, body: &mut Body, old: Value, new: Value) {
        let new = self.of(new);
        if body.value(new).name.is_none() && body.def(new).is_some() {
            let name = body.value(old).name.clone();
            body.set_name(new, name);
        }
        self.values.insert(old, new);
    }

    /// The value itself if nothing replaced it.
    pub(super) fn of(&self, value: Value) -> Value {
        self.values.get(&value).copied().unwrap_or(value)
    }

    /// Replaces what an instruction uses; not what its regions use.
    pub(super) fn apply(&self, body: &mut Body, inst: Inst) {
        let data = body.inst_mut(inst);
        let arguments = data.targets.iter_mut().flat_map(|(_, args)| args.iter_mut());
        for value in data.operands.iter_mut().chain(arguments) {
            *value = self.of(*value);
        }
    }
}
