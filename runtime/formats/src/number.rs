//! Numbers written in text files, read in the type that is asked for.

use crate::{Array, Elements, ValuesError, WouldNotFit, room};
use half::{bf16, f16};
use tiga_abi::DType;

/// The kinds of number a file may say it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberKind {
    Real,
    Integer,
}

impl NumberKind {
    pub(crate) fn accepts(self, word: &[u8]) -> bool {
        let Ok(text) = std::str::from_utf8(word) else { return false };
        match self {
            NumberKind::Real => real::<f64>(text, f64::is_infinite).is_some(),
            NumberKind::Integer => text.parse::<i64>().is_ok(),
        }
    }

    pub(crate) fn describe(self) -> &'static str {
        match self {
            NumberKind::Real => "a real number (decimal, within the range of f64)",
            NumberKind::Integer => "an integer of at most 64 bits",
        }
    }
}

/// The nearest float; nothing if the text is no number or overflows to infinity without saying so.
fn real<T: std::str::FromStr + Copy>(text: &str, is_infinite: fn(T) -> bool) -> Option<T> {
    let value = text.parse().ok()?;
    (!is_infinite(value) || !text.contains(|c: char| c.is_ascii_digit())).then_some(value)
}

/// Why a text is no number of a type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NumberError {
    /// Not a truth value.
    #[error("`{0}` is neither true nor false")]
    Truth(String),
    /// Not a number, or an integer beyond its type.
    #[error("`{text}` is not a number of type {dtype}")]
    NotANumber {
        /// The text.
        text: String,
        /// The type asked for.
        dtype: DType,
    },
    /// A number that the type would make infinite.
    #[error("`{text}` is beyond the numbers of type {dtype}; infinity is written `inf`")]
    Beyond {
        /// The text.
        text: String,
        /// The type asked for.
        dtype: DType,
    },
}

/// A number as it stands on a command line, `true` and `false` for bools, as an array without axes. Floats are rounded
/// to the nearest, and do not become infinite unless the text says so.
///
/// # Errors
/// [`NumberError`].
pub fn parse_number(dtype: DType, text: &str) -> Result<Array, NumberError> {
    let wrong = || {
        let text = crate::input::quote(text.as_bytes());
        match text.parse::<f64>().is_ok() && dtype.is_float() {
            true => NumberError::Beyond { text, dtype },
            false => NumberError::NotANumber { text, dtype },
        }
    };
    let elements = match dtype {
        DType::Bool => match text {
            "true" => Elements::Bool(vec![1]),
            "false" => Elements::Bool(vec![0]),
            _ => return Err(NumberError::Truth(crate::input::quote(text.as_bytes()))),
        },
        DType::I32 => Elements::I32(vec![text.parse().map_err(|_| wrong())?]),
        DType::I64 => Elements::I64(vec![text.parse().map_err(|_| wrong())?]),
        DType::F16 => Elements::F16(vec![real(text, f16::is_infinite).ok_or_else(wrong)?]),
        DType::BF16 => Elements::BF16(vec![real(text, bf16::is_infinite).ok_or_else(wrong)?]),
        DType::F32 => Elements::F32(vec![real(text, f32::is_infinite).ok_or_else(wrong)?]),
        DType::F64 => Elements::F64(vec![real(text, f64::is_infinite).ok_or_else(wrong)?]),
    };
    Ok(Array::new(Vec::new(), elements).expect("one element has no axes"))
}

/// Why a word is no value of a type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("value {} of the file, `{text}`, is not a number of type {dtype}", .position + 1)]
pub struct NotOfType {
    /// The position of the value in the file, from 0, comments not counted.
    pub position: usize,
    /// The text.
    pub text: String,
    /// The type asked for.
    pub dtype: DType,
}

/// Words, one a line of the file, back to back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Words {
    text: String,
    ends: Vec<usize>,
}

impl Words {
    /// Adds a word that [`NumberKind::accepts`].
    pub(crate) fn push(&mut self, word: &[u8]) -> Result<(), WouldNotFit> {
        room::push_text(&mut self.text, &String::from_utf8_lossy(word))?;
        room::push(&mut self.ends, self.text.len())
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> u64 {
        (self.text.len() + 8 * self.ends.len()) as u64
    }

    fn iter(&self) -> impl Iterator<Item = &str> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(|(begin, end)| &self.text[begin..*end])
    }

    /// All words as numbers of one type.
    pub(crate) fn parse(&self, dtype: DType) -> Result<Elements, ValuesError> {
        Ok(match dtype {
            DType::Bool => Elements::Bool(self.parse_with(dtype, |t| match t {
                "0" => Some(0),
                "1" => Some(1),
                _ => None,
            })?),
            DType::I32 => Elements::I32(self.parse_with(dtype, |t| t.parse().ok())?),
            DType::I64 => Elements::I64(self.parse_with(dtype, |t| t.parse().ok())?),
            DType::F16 => Elements::F16(self.parse_with(dtype, |t| real(t, f16::is_infinite))?),
            DType::BF16 => Elements::BF16(self.parse_with(dtype, |t| real(t, bf16::is_infinite))?),
            DType::F32 => Elements::F32(self.parse_with(dtype, |t| real(t, f32::is_infinite))?),
            DType::F64 => Elements::F64(self.parse_with(dtype, |t| real(t, f64::is_infinite))?),
        })
    }

    fn parse_with<T>(&self, dtype: DType, parse: impl Fn(&str) -> Option<T>) -> Result<Vec<T>, ValuesError> {
        let bad = |position, text: &str| NotOfType { position, text: crate::input::quote(text.as_bytes()), dtype };
        let all = self.iter().enumerate();
        room::collected_good(self.ends.len(), all.map(|(i, text)| Ok(parse(text).ok_or_else(|| bad(i, text))?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_in_the_type_asked_for() {
        let mut words = Words::default();
        words.push(b"16777217").unwrap();
        words.push(b"9007199254740993").unwrap();
        assert_eq!(words.parse(DType::I64).unwrap(), Elements::I64(vec![16_777_217, 9_007_199_254_740_993]));
        assert_eq!(words.parse(DType::F32).unwrap(), Elements::F32(vec![16_777_216.0, 9_007_199_254_740_992.0]));
        let error = words.parse(DType::I32).unwrap_err();
        let expected = NotOfType { position: 1, text: "9007199254740993".into(), dtype: DType::I32 };
        assert!(matches!(error, ValuesError::NotOfType(error) if error == expected));
    }

    #[test]
    fn numbers_of_a_command_line_are_read_in_their_own_type() {
        let elements = |dtype, text: &str| parse_number(dtype, text).map(|array| array.elements().clone());
        assert_eq!(elements(DType::Bool, "true"), Ok(Elements::Bool(vec![1])));
        assert_eq!(elements(DType::I64, "-9223372036854775808"), Ok(Elements::I64(vec![i64::MIN])));
        assert_eq!(elements(DType::F16, "-inf"), Ok(Elements::F16(vec![f16::NEG_INFINITY])));
        assert_eq!(elements(DType::F16, "65504"), Ok(Elements::F16(vec![f16::MAX])));
        for (dtype, text) in [(DType::Bool, "1"), (DType::I32, "1.5"), (DType::F64, "high"), (DType::F64, "")] {
            let error = parse_number(dtype, text).unwrap_err().to_string();
            assert!(error.starts_with(&format!("`{text}` is n")), "{error}");
        }
        for (dtype, text) in [(DType::F16, "70000"), (DType::BF16, "4e38"), (DType::F32, "1e39"), (DType::F64, "1e309")]
        {
            let beyond = NumberError::Beyond { text: text.into(), dtype };
            assert_eq!(parse_number(dtype, text), Err(beyond));
        }
        assert!(matches!(parse_number(DType::I32, "2147483648"), Err(NumberError::NotANumber { .. })));
    }

    #[test]
    fn overflow_is_not_infinity() {
        assert!(NumberKind::Real.accepts(b"-inf") && NumberKind::Real.accepts(b"1e308"));
        for bad in [&b"1e999"[..], b"1.5d3", b"", b"0x10", b"\xff", b"1,5"] {
            assert!(!NumberKind::Real.accepts(bad), "{bad:?}");
        }
        let mut words = Words::default();
        words.push(b"1e300").unwrap();
        assert!(words.parse(DType::F32).is_err() && words.parse(DType::F64).is_ok());
        assert!(NumberKind::Integer.accepts(b"-7") && !NumberKind::Integer.accepts(b"7.0"));
    }
}
