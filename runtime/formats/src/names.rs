//! The names of a graph's nodes.

use crate::{WouldNotFit, room};

/// One name a node, back to back in one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    text: String,
    ends: Vec<usize>,
}

impl Names {
    /// The lines of a text; the last line may or may not end.
    ///
    /// # Errors
    /// [`WouldNotFit`] if the system has no memory for where they end.
    pub fn from_lines(text: String) -> Result<Self, WouldNotFit> {
        let last = (!text.is_empty() && !text.ends_with('\n')).then_some(text.len());
        let lines = text.bytes().filter(|byte| *byte == b'\n').count();
        let ends = text.match_indices('\n').map(|(at, _)| at).chain(last);
        let ends = room::collected(lines + usize::from(last.is_some()), ends)?;
        Ok(Self { text, ends })
    }

    /// The number of names.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The name of a node, if there are so many.
    pub fn get(&self, node: usize) -> Option<&str> {
        let end = *self.ends.get(node)?;
        let begin = node.checked_sub(1).map_or(0, |before| self.ends[before] + 1);
        Some(&self.text[begin..end])
    }

    /// All names in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).filter_map(|node| self.get(node))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_lines() {
        for (text, names) in [("", &[][..]), ("a", &["a"]), ("a\n", &["a"]), ("a\n\nb", &["a", "", "b"]), ("\n", &[""])]
        {
            let read = Names::from_lines(text.to_owned()).unwrap();
            assert_eq!(read.iter().collect::<Vec<_>>(), names, "{text:?}");
            assert_eq!((read.len(), read.get(names.len())), (names.len(), None));
        }
    }
}
