//! The plan level of `.tir`: a template as text, for reading.

use crate::template::*;
use std::fmt::{self, Display, Formatter};
use tiga_abi::SizeExpr;

impl Display for Template {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "plan @{}({}) {{", self.program, self.symbols.join(", "))?;
        for resource in self.resources.values() {
            let (name, owner, bytes) = (resource.binding(), resource.owner.name(), &resource.capacity);
            let shape = resource.shape.iter().map(SizeExpr::to_string).collect::<Vec<_>>().join(", ");
            let axes = if shape.is_empty() { shape } else { format!("[{shape}]") };
            write!(f, "  resource %{name} {}{axes} bytes {bytes} {owner}", resource.dtype)?;
            let layout = resource.layout.as_str();
            writeln!(f, "{}", if layout == "contiguous" { String::new() } else { format!(" layout {layout}") })?;
        }
        for body in self.bodies.values() {
            writeln!(f, "  body @{} {{", body.name)?;
            self.write_body(f, body, "    ")?;
            writeln!(f, "  }}")?;
        }
        self.write_body(f, &self.root, "  ")?;
        writeln!(f, "}}")
    }
}

impl Template {
    fn write_body(&self, f: &mut Formatter<'_>, body: &Body, indent: &str) -> fmt::Result {
        for task in body.tasks.values() {
            write!(f, "{indent}task {} {}", task.name, self.action(&task.kind))?;
            let (written, read): (Vec<&Arg>, Vec<_>) = task.args.iter().partition(|arg| mode(task, arg) == Mode::Write);
            for arg in read {
                let inout = if mode(task, arg) == Mode::ReadWrite { "inout " } else { "" };
                write!(f, " {inout}{}", self.argument(task, arg))?;
            }
            for (i, arg) in written.into_iter().enumerate() {
                write!(f, " {}{}", if i == 0 { "-> " } else { "" }, self.argument(task, arg))?;
            }
            if task.phase == Phase::Materialize {
                f.write_str(" phase materialize")?;
            }
            for (word, earlier) in [("after", &task.after), ("room after", &task.room_after)] {
                for (i, earlier) in earlier.iter().enumerate() {
                    let before = if i == 0 { format!(" {word} ") } else { ", ".into() };
                    write!(f, "{before}{}", body.tasks[*earlier].name)?;
                }
            }
            writeln!(f)?;
        }
        Ok(())
    }

    /// `role parameter=%resource@scheme/part`; the parameter only where it is called otherwise.
    fn argument(&self, task: &Task, arg: &Arg) -> String {
        let name = self.resources[arg.resource].label();
        let parameter = if arg.parameter == name { String::new() } else { format!("{}=", arg.parameter) };
        let own = task.accesses.iter().filter(|access| access.resource == arg.resource);
        let parts = own.filter_map(|access| access.partition.as_ref());
        let parts: String = parts.map(|Partition { scheme, part }| format!("@{scheme}/{part}")).collect();
        format!("{} {parameter}%{name}{parts}", arg.role.name())
    }

    fn action(&self, kind: &TaskKind) -> String {
        let name = |id: ResourceId| self.resources[id].label();
        let body = |id: BodyId| self.bodies[id].name.as_str();
        let count = |count: &Count| match count {
            Count::Const(value) => value.to_string(),
            Count::Resource(id) => format!("%{}", name(*id)),
        };
        match kind {
            TaskKind::Kernel { symbol, relation, units } => {
                let relation = relation.as_ref().map_or_else(String::new, |relation| format!(" rel %{relation}"));
                format!("@{symbol} units {units}{relation}")
            }
            TaskKind::Loop { body: id, rotate, trip } => {
                let rotation = |r: &Rotation| {
                    let [read, write, a, b] = [r.read, r.write, r.a, r.b].map(name);
                    format!(" rotate(%{read}, %{write}, %{a}, %{b})")
                };
                let trip = match trip {
                    Trip::Counted(rounds) => format!("times {}", count(rounds)),
                    Trip::While { condition, at_most } => {
                        format!("while %{} at most {}", name(*condition), count(at_most))
                    }
                };
                let rotate: String = rotate.iter().map(rotation).collect();
                format!("tiga.loop @{} {trip}{rotate}", body(*id))
            }
            TaskKind::Branch { condition, then_body, else_body } => {
                format!("tiga.if %{} @{} else @{}", name(*condition), body(*then_body), body(*else_body))
            }
            TaskKind::BuildTranspose { relation } => format!("tiga.build_transpose rel %{relation}"),
            TaskKind::BuildJoined { relation } => format!("tiga.build_joined rel %{relation}"),
            TaskKind::BuildUnits { relation, leaf } => format!("tiga.build_units rel %{relation} leaf {leaf}"),
            plain => plain.spelling().1.to_owned(),
        }
    }
}

/// How a task touches an argument; of several accesses, all together.
fn mode(task: &Task, arg: &Arg) -> Mode {
    let own = || task.accesses.iter().filter(|access| access.resource == arg.resource);
    match (own().any(|access| access.mode.reads()), own().any(|access| access.mode.writes())) {
        (true, true) => Mode::ReadWrite,
        (false, true) => Mode::Write,
        _ => Mode::Read,
    }
}

impl Display for Units {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Units::Once => f.write_str("once"),
            Units::Rows(count) => write!(f, "rows({count})"),
            Units::Blocks { extent, size } => write!(f, "blocks({extent}, {size})"),
            Units::Leaves { relation, leaf } => write!(f, "leaves(%{relation}, {leaf})"),
            Units::LongRows { relation, leaf } => write!(f, "long_rows(%{relation}, {leaf})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{passes, sample};

    #[test]
    fn a_plan_reads_like_the_ir() {
        let mut template = sample::looped();
        passes::complete(&mut template).unwrap();
        if std::env::var_os("BLESS").is_some() {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/print/looped.tir");
            std::fs::write(path, template.to_string()).unwrap();
        }
        assert_eq!(template.to_string(), include_str!("print/looped.tir"));
    }
}
