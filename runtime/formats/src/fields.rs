//! The fields of a line of an edge list: words, or what stands between delimiters.

/// Fields of a line that are looked at; one more than any line may have.
const MOST: usize = 4;

/// Column names that say where an edge begins, and where it ends.
const SOURCES: &[&str] = &["source", "src", "from"];
const TARGETS: &[&str] = &["target", "destination", "dst", "dest", "to"];

/// Why a line has no fields.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldError {
    /// Nothing stands between two delimiters, or before the end of the line.
    #[error("field {field} is empty")]
    Empty {
        /// The field, from 1.
        field: usize,
    },
    /// A quote that is not closed before the next delimiter, or stands inside a field.
    #[error("field {field} has a quote in it or a delimiter between quotes, which is not read")]
    Quote {
        /// The field, from 1.
        field: usize,
    },
}

/// What separates the fields of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delimiter {
    Byte(u8),
    Space,
}

impl Delimiter {
    /// Tabs before semicolons before commas, which may be those of decimals. Tabs are spaces like others unless there
    /// may be spaces in a field.
    pub(crate) fn of(line: &[u8], spaces: bool) -> Self {
        let known: &[u8] = if spaces { b"\t;," } else { b";," };
        let found = known.iter().find(|byte| line.contains(byte));
        found.map_or(Delimiter::Space, |byte| Delimiter::Byte(*byte))
    }
}

/// The first fields of a line, at most 4: nothing is allocated for a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fields<'l> {
    fields: [&'l [u8]; MOST],
    count: usize,
}

impl<'l> Fields<'l> {
    fn push(&mut self, field: &'l [u8]) {
        self.fields[self.count] = field;
        self.count += 1;
    }
}

impl<'l> std::ops::Deref for Fields<'l> {
    type Target = [&'l [u8]];

    fn deref(&self) -> &Self::Target {
        &self.fields[..self.count]
    }
}

/// The first fields of a line, without the white space and the quotes around them.
pub(crate) fn fields(line: &[u8], delimiter: Delimiter) -> Result<Fields<'_>, FieldError> {
    let mut out = Fields::default();
    match delimiter {
        Delimiter::Space => {
            let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
            words.take(MOST).for_each(|word| out.push(word));
        }
        Delimiter::Byte(byte) => {
            for (i, field) in line.split(|b| *b == byte).take(MOST).enumerate() {
                out.push(unquoted(field.trim_ascii(), i + 1)?);
            }
        }
    }
    Ok(out)
}

fn unquoted(field: &[u8], number: usize) -> Result<&[u8], FieldError> {
    let inner = match field {
        [b'"', inner @ .., b'"'] => inner,
        _ => field,
    };
    if inner.contains(&b'"') {
        return Err(FieldError::Quote { field: number });
    }
    if inner.is_empty() { Err(FieldError::Empty { field: number }) } else { Ok(inner) }
}

/// What the first line of an edge list is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FirstLine {
    Edge,
    Header,
    /// A header that has the destination before the source.
    Backwards,
}

/// The first two fields are names of columns if they are well known ones, and where nodes are numbers also if they are
/// words with a delimiter between them.
pub(crate) fn first_line(line: &[u8], fields: &[&[u8]], nodes_are_names: bool) -> FirstLine {
    let [first, second, ..] = fields else { return FirstLine::Edge };
    let one_of = |field: &[u8], names: &[&str]| names.iter().any(|name| field.eq_ignore_ascii_case(name.as_bytes()));
    if one_of(first, TARGETS) && one_of(second, SOURCES) {
        return FirstLine::Backwards;
    }
    let word = |field: &[u8]| field.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    let delimited = line.iter().any(|byte| b";,\t".contains(byte));
    let words = !nodes_are_names && delimited && word(first) && word(second);
    if words || one_of(first, SOURCES) && one_of(second, TARGETS) { FirstLine::Header } else { FirstLine::Edge }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(line: &str) -> Result<Vec<&[u8]>, FieldError> {
        fields(line.as_bytes(), Delimiter::of(line.as_bytes(), true)).map(|fields| fields.to_vec())
    }

    #[test]
    fn fields_stand_between_the_delimiters_of_their_line() {
        for (line, expected) in [
            ("1 2", &["1", "2"][..]),
            ("1  \t 2", &["1", "2"]),
            ("1, 2 ,3.5", &["1", "2", "3.5"]),
            ("1;2;0,5", &["1", "2", "0,5"]),
            ("new york\trome", &["new york", "rome"]),
            ("\"a b\",\"c\"", &["a b", "c"]),
            ("1,2,3,4,5", &["1", "2", "3", "4"]),
        ] {
            let expected: Vec<&[u8]> = expected.iter().map(|field| field.as_bytes()).collect();
            assert_eq!(split(line), Ok(expected), "{line}");
        }
    }

    #[test]
    fn a_field_that_is_none_is_named() {
        assert_eq!(split("1,,2"), Err(FieldError::Empty { field: 2 }));
        assert_eq!(split("1,2,"), Err(FieldError::Empty { field: 3 }));
        assert_eq!(split("\"\",2"), Err(FieldError::Empty { field: 1 }));
        assert_eq!(split("\"a,b\",2"), Err(FieldError::Quote { field: 1 }));
        assert_eq!(split("a,b\"\"c"), Err(FieldError::Quote { field: 2 }));
    }

    #[test]
    fn headers_are_words_where_nodes_are_numbers() {
        let first = |line: &str, names| first_line(line.as_bytes(), &split(line).unwrap(), names);
        for (line, numbers, names) in [
            ("id_1,id_2", FirstLine::Header, FirstLine::Edge),
            ("Source;Target;Weight", FirstLine::Header, FirstLine::Header),
            ("from to", FirstLine::Header, FirstLine::Header),
            ("dst\tsrc", FirstLine::Backwards, FirstLine::Backwards),
            ("a b", FirstLine::Edge, FirstLine::Edge),
            ("a,1", FirstLine::Edge, FirstLine::Edge),
            ("1", FirstLine::Edge, FirstLine::Edge),
        ] {
            assert_eq!((first(line, false), first(line, true)), (numbers, names), "{line}");
        }
    }
}
