//! Keys that stand twice in one object: readers of version 1 keep the last, so a document can say two things.

use super::Finding;
use crate::json::{JsonError, JsonProblem};
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::{self, Write as _};

/// Findings that are kept: one is enough to refuse a document.
const MOST: usize = 16;

/// Finds keys that stand twice, in the order of the text, up to a few.
///
/// # Errors
/// The text is not JSON, or nests deeper than 128.
pub fn duplicate_keys(text: &[u8]) -> Result<Vec<Finding>, JsonError> {
    let walk = RefCell::new(Walk::default());
    let mut reader = serde_json::Deserializer::from_slice(text);
    let read = Here(&walk).deserialize(&mut reader).and_then(|()| reader.end());
    match read {
        Ok(()) => Ok(walk.into_inner().findings),
        Err(error) => Err(JsonError { path: "$".into(), problem: JsonProblem::Syntax(error.to_string()) }),
    }
}

#[derive(Default)]
struct Walk {
    path: Vec<Step>,
    findings: Vec<Finding>,
}

enum Step {
    Key(String),
    Item(usize),
}

impl Walk {
    fn path(&self) -> String {
        let mut out = String::from("$");
        for step in &self.path {
            let written = match step {
                Step::Key(key) => write!(out, ".{key}"),
                Step::Item(index) => write!(out, "[{index}]"),
            };
            written.expect("a string takes all that is written");
        }
        out
    }
}

/// A value at the place where the walk is.
#[derive(Clone, Copy)]
struct Here<'w>(&'w RefCell<Walk>);

impl<'de> DeserializeSeed<'de> for Here<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Here<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        for index in 0.. {
            self.0.borrow_mut().path.push(Step::Item(index));
            let item = items.next_element_seed(self)?;
            self.0.borrow_mut().path.pop();
            if item.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let mut seen = BTreeSet::new();
        while let Some(key) = entries.next_key::<String>()? {
            let mut walk = self.0.borrow_mut();
            if seen.contains(&key) && walk.findings.len() < MOST {
                let path = walk.path();
                walk.findings.push(Finding::DuplicateKey { path, key: key.clone() });
            }
            walk.path.push(Step::Key(key));
            drop(walk);
            entries.next_value_seed(self)?;
            match self.0.borrow_mut().path.pop() {
                Some(Step::Key(key)) => seen.insert(key),
                _ => return Err(A::Error::custom("a value leaves the path as it was")),
            };
        }
        Ok(())
    }
}
