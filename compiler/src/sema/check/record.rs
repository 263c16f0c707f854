//! Records that calls of messages give: their fields are those that the message reads.

use super::super::error::SemaError;
use super::super::hir::{Expr, Kind};
use super::super::resolve::fields_there;
use super::super::ty::Ty;
use super::Checker;
use std::sync::Arc;
use tiga_source::{Diagnostic, Span, nearest};

impl Checker<'_> {
    /// The fields of a record argument in the order of the declaration.
    pub(super) fn members(
        &mut self,
        message: &str,
        record: &str,
        fields: &[(Arc<str>, Ty)],
        value: Expr,
        declared: Span,
    ) -> Option<Vec<Expr>> {
        let Ty::Record(given) = &value.ty else {
            if !value.ty.is_error() {
                let error = SemaError::Mismatch { expected: "record".into(), found: self.show(&value.ty) };
                let example = fields.first().map_or("{}".to_owned(), |(name, _)| format!("{{{name}: …}}"));
                self.report(
                    error
                        .at(value.span)
                        .label(format!("this is {}", value.ty.sort()))
                        .also(declared, "declared here")
                        .help(format!("write `{record}: {example}`")),
                );
            }
            return None;
        };
        let mut whole = true;
        let extra: Vec<usize> = (0..given.len()).filter(|i| !fields.iter().any(|(n, _)| *n == given[*i].0)).collect();
        for index in &extra {
            let (message, record) = (message.to_owned(), record.to_owned());
            let error = SemaError::ExtraField { message, record, field: given[*index].0.to_string() };
            let missing = fields.iter().map(|(n, _)| &**n).filter(|n| !given.iter().any(|(g, _)| **g == **n));
            let diagnostic = self.extra_field(error, &value, *index, missing.collect(), extra.len() == 1);
            let there = fields_there(fields.iter().map(|(n, _)| &**n));
            self.report(diagnostic.also(declared, "declared here").note(there));
            whole = false;
        }
        // Where a field is misspelled, the missing one is no news.
        let known = whole;
        for (name, ty) in fields.iter().filter(|(name, _)| known && !given.iter().any(|(n, _)| n == name)) {
            let (message, record) = (message.to_owned(), record.to_owned());
            let error = SemaError::MissingField { message, record, field: name.to_string() };
            let label = format!("`{name}: {}` is declared here", self.show(ty));
            self.missing_field(error.at(value.span).also(declared, label), name, given.is_empty(), &value);
            whole = false;
        }
        if !whole {
            return None;
        }
        let index = |name: &Arc<str>| given.iter().position(|(n, _)| n == name);
        let order: Vec<usize> = fields.iter().filter_map(|(name, _)| index(name)).collect();
        let member = |i: &usize| match &value.kind {
            Kind::Tuple(members) => members[*i].clone(),
            _ => Expr { ty: given[*i].1.clone(), span: value.span, kind: Kind::Member(Box::new(value.clone()), *i) },
        };
        Some(order.iter().map(member).collect())
    }

    /// A field that a message does not read, and the one that was meant: of those missing the nearest, or the only one
    /// if nothing else was given for it.
    fn extra_field(
        &self,
        error: SemaError,
        record: &Expr,
        index: usize,
        missing: Vec<&str>,
        alone: bool,
    ) -> Diagnostic {
        let Some(name) = self.field_names.get(&record.span).map(|names| names[index]) else {
            return error.at(record.span).label("has an unknown field");
        };
        let diagnostic = error.at(name).label("unknown field");
        let Ty::Record(given) = &record.ty else { return diagnostic };
        let (meant, why) = match (nearest(&given[index].0, missing.iter().copied()), missing.as_slice()) {
            (Some(near), _) => (near, "a field with a similar name exists"),
            (None, [only]) if alone => (*only, "one field has no value yet"),
            _ => return diagnostic,
        };
        match self.shorthands.contains(&name) {
            true => diagnostic.suggest(name.before(), why, format!("{meant}: ")),
            false => diagnostic.suggest(name, why, meant),
        }
    }

    /// A field that a record lacks, and where it would be written.
    fn missing_field(&mut self, diagnostic: Diagnostic, name: &str, first: bool, record: &Expr) {
        let comma = if first { "" } else { ", " };
        let value = if self.lookup(name).is_some() { "" } else { ": …" };
        let diagnostic = diagnostic.label(format!("`{name}` is missing"));
        self.report(match &record.kind {
            Kind::Tuple(_) => {
                let end = record.span.inside_end();
                diagnostic.suggest(end, "give it a value", format!("{comma}{name}{value}"))
            }
            _ => diagnostic,
        });
    }
}
