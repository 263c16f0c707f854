//! What a bound plan looks like: in words, and as a hash of its structure.

use crate::bind::Bound;
use crate::document::DocumentAccess;
use sha2::{Digest, Sha256};
use std::fmt::Write;

impl<E> Bound<'_, E> {
    /// A header, the hash, the bindings, then one line per invocation in execution order.
    pub fn explain(&self) -> String {
        self.explain_lines().join("\n") + "\n"
    }

    /// The lines of [`explain`](Self::explain). A name with a line end in it makes no line of its own here.
    pub fn explain_lines(&self) -> Vec<String> {
        let (count, version) = (self.invocations().len(), self.snapshot_version());
        let mut lines = vec![
            format!("executable bundle: invocations={count} snapshot={version}"),
            format!("structure: {}", &self.structure_hash()[..16]),
            format!("bindings: {}", self.required_bindings().join(", ")),
        ];
        lines.extend(self.dag().order().iter().map(|index| self.explain_one(*index)));
        lines
    }

    fn explain_one(&self, index: usize) -> String {
        let task = self.invocations()[index];
        let waits = self.dag().dependencies(index).iter().map(|earlier| self.invocations()[*earlier].name.as_str());
        let waits = either(waits.collect::<Vec<_>>().join(","), "ready");
        let access = |access: &DocumentAccess| {
            let part = access.partition.as_ref().map_or_else(String::new, |p| format!("[{}/{}]", p.scheme, p.part));
            format!("{}:{}{part}", access.binding, access.mode.name())
        };
        let accesses = task.accesses.iter().map(access).collect::<Vec<_>>().join(", ");
        format!("{} ({}) <- {waits}; {}", task.name, task.task_kind, either(accesses, "no resources"))
    }

    /// SHA-256 of [`structure_key`](Self::structure_key) in lower-case hexadecimal.
    pub fn structure_hash(&self) -> String {
        Sha256::digest(self.structure_key().as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// `[version, [bindings], [[name, kind, [[parameter, resource]…], [[binding, mode, version,
    /// scheme|null, part|null]…], [dependencies…]]…]]` as JSON without spaces, in ASCII. Dependencies
    /// on another phase do not count.
    pub fn structure_key(&self) -> String {
        let invocations = self.invocations().iter().enumerate().map(|(index, task)| {
            let arguments = task.arguments.iter().map(|a| list([quote(&a.parameter), quote(&a.resource)]));
            let waits = self.dag().dependencies(index).iter();
            let waits = waits.map(|earlier| quote(&self.invocations()[*earlier].name));
            let accesses = task.accesses.iter().map(access_key);
            list([quote(&task.name), quote(&task.task_kind), list(arguments), list(accesses), list(waits)])
        });
        let bindings = self.required_bindings().iter().map(|name| quote(name));
        list([self.snapshot_version().to_string(), list(bindings), list(invocations)])
    }
}

fn either(text: String, if_empty: &str) -> String {
    if text.is_empty() { if_empty.to_owned() } else { text }
}

fn access_key(access: &DocumentAccess) -> String {
    let partition = access.partition.as_ref();
    let [scheme, part] = [partition.map(|p| &p.scheme), partition.map(|p| &p.part)];
    let optional = |text: Option<&String>| text.map_or_else(|| "null".to_owned(), |text| quote(text));
    let version = access.snapshot_version.to_string();
    list([quote(&access.binding), quote(access.mode.name()), version, optional(scheme), optional(part)])
}

fn list(items: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", items.into_iter().collect::<Vec<_>>().join(","))
}

/// A JSON string in ASCII: everything outside the printable range is escaped, beyond 16 bits as a surrogate pair.
fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='~' => out.push(c),
            _ => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| {
                write!(out, "\\u{unit:04x}").expect("a string takes all that is written");
            }),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn strings_are_ascii() {
        assert_eq!(quote("a\"\\\n\u{1}\u{7f}é😀"), r#""a\"\\\n\u0001\u007f\u00e9\ud83d\ude00""#);
    }
}
