//! Reading JSON that nobody vouches for: every refusal names the path to the value it is about.

use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use tiga_abi::{DType, Poly, SizeError, SizeExpr};
use tiga_source::steers;

/// Bytes of a stored template or manifest that are read at all. A tree takes up to sixteen times the memory of its text.
pub const MAX_TEXT: usize = 4 << 20;

/// Bytes of one size expression; longer ones would nest too deep to evaluate by recursion.
const MAX_SIZE_TEXT: usize = 4096;

/// A value is not what the format asks for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at {path}: {problem}")]
pub struct JsonError {
    /// Where, such as `$.root.tasks[3].after[0]`.
    pub path: String,
    /// What.
    pub problem: JsonProblem,
}

/// What is wrong with a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonProblem {
    /// The text is not JSON, or nests deeper than the parser allows.
    #[error("not JSON: {0}")]
    Syntax(String),
    /// More text than is read.
    #[error("{found} bytes of JSON, at most {limit} are read")]
    TooLong {
        /// Its length.
        found: usize,
        /// What is read.
        limit: usize,
    },
    /// Another kind of value.
    #[error("expected {expected}, found {found}")]
    Type {
        /// What belongs there.
        expected: &'static str,
        /// What is there.
        found: &'static str,
    },
    /// A key that must be there.
    #[error("`{0}` is missing")]
    Missing(String),
    /// A key that this version does not know.
    #[error("unknown key `{0}`")]
    Unknown(String),
    /// A word that is none of the known ones.
    #[error("`{found}` is none of {known}")]
    Choice {
        /// The word.
        found: String,
        /// The known ones, joined.
        known: String,
    },
    /// An index beyond its list.
    #[error("{found} is not an index into a list of {len}")]
    Index {
        /// The number.
        found: i128,
        /// The length of the list.
        len: usize,
    },
    /// A list of the wrong length.
    #[error("expected {expected} items, found {found}")]
    Length {
        /// What belongs there.
        expected: usize,
        /// What is there.
        found: usize,
    },
    /// A text that must not be empty.
    #[error("is empty")]
    Empty,
    /// A name with a character that a terminal obeys: names are shown, and stand in generated code.
    #[error("{0:?} is no name: it holds a character that is obeyed, not shown")]
    Steers(String),
    /// Something that may stand only once.
    #[error("`{0}` stands here twice")]
    Duplicate(String),
    /// A size that cannot be read.
    #[error(transparent)]
    Size(#[from] SizeError),
    /// A version of the format that this program does not read.
    #[error("version `{found}`, this program reads `{known}`")]
    Version {
        /// The version found.
        found: String,
        /// The version read.
        known: String,
    },
}

type Result<T> = std::result::Result<T, JsonError>;

/// Parses bounded text into a tree.
///
/// # Errors
/// Text longer than `limit`, not JSON, or nested deeper than 128.
pub fn parse(text: &[u8], limit: usize) -> Result<Value> {
    let root = |problem| JsonError { path: "$".into(), problem };
    if text.len() > limit {
        return Err(root(JsonProblem::TooLong { found: text.len(), limit }));
    }
    serde_json::from_slice(text).map_err(|error| root(JsonProblem::Syntax(error.to_string())))
}

/// The values of a bounded text's top-level object, as text: nothing below is held. Of a key that stands twice the last
/// counts; what is no object has no values.
///
/// # Errors
/// Text longer than `limit`, not JSON.
pub(crate) fn shallow(text: &[u8], limit: usize) -> Result<BTreeMap<String, &RawValue>> {
    let root = |problem| JsonError { path: "$".into(), problem };
    if text.len() > limit {
        return Err(root(JsonProblem::TooLong { found: text.len(), limit }));
    }
    let syntax = |error: serde_json::Error| root(JsonProblem::Syntax(error.to_string()));
    let whole: &RawValue = serde_json::from_slice(text).map_err(syntax)?;
    if !whole.get().starts_with('{') {
        return Ok(BTreeMap::new());
    }
    serde_json::from_str(whole.get()).map_err(syntax)
}

/// The items of an array, as text; `None` for any other value.
pub(crate) fn items(raw: &RawValue) -> Option<Vec<&RawValue>> {
    serde_json::from_str(raw.get()).ok()
}

/// The tree of a part of a text.
///
/// # Errors
/// It nests deeper than 128, or holds half a surrogate pair.
pub(crate) fn deep(raw: &RawValue) -> Result<Value> {
    let syntax = |error: serde_json::Error| JsonProblem::Syntax(error.to_string());
    serde_json::from_str(raw.get()).map_err(|error| JsonError { path: "$".into(), problem: syntax(error) })
}

/// Converts each item of the array that is the value of a top-level key, one tree at a time: the trees of a long list
/// take many times the memory of its text.
///
/// # Errors
/// As [`deep`], with the path of the item; what `convert` refuses.
pub(crate) fn rows<T>(key: &str, raw: &[&RawValue], mut convert: impl FnMut(Node<'_>) -> Result<T>) -> Result<Vec<T>> {
    let root = Node::root(&Value::Null);
    let list = Node { value: &Value::Null, parent: Some(&root), step: Step::Key(key) };
    let rows = raw.iter().enumerate().map(|(i, raw)| {
        let value =
            deep(raw).map_err(|JsonError { problem, .. }| JsonError { path: format!("{list}[{i}]"), problem })?;
        convert(Node { value: &value, parent: Some(&list), step: Step::Item(i) })
    });
    rows.collect()
}

/// Writes a tree: keys sorted, one line. The same tree gives the same bytes.
pub fn write(mut value: Value) -> String {
    value.sort_all_objects();
    format!("{value}\n")
}

/// A value together with the way to it.
#[derive(Clone, Copy)]
pub struct Node<'a> {
    value: &'a Value,
    parent: Option<&'a Node<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Key(&'a str),
    Item(usize),
}

impl<'a> Node<'a> {
    /// The whole tree.
    pub fn root(value: &'a Value) -> Self {
        Node { value, parent: None, step: Step::Key("$") }
    }

    /// The value itself.
    pub fn value(&self) -> &'a Value {
        self.value
    }

    /// A refusal that points here.
    pub fn refuse(&self, problem: impl Into<JsonProblem>) -> JsonError {
        JsonError { path: self.to_string(), problem: problem.into() }
    }

    fn wrong_type(&self, expected: &'static str) -> JsonError {
        let found = match self.value {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "another number",
            Value::String(_) => "a string",
            Value::Array(_) => "an array",
            Value::Object(_) => "an object",
        };
        self.refuse(JsonProblem::Type { expected, found })
    }

    /// Checks that this is an object with exactly these keys.
    ///
    /// # Errors
    /// Another kind of value, a missing key, an unknown key.
    pub fn keys(&self, names: &[&str]) -> Result<()> {
        self.keys_and(names, &[])
    }

    /// The same with keys that may be missing.
    ///
    /// # Errors
    /// As [`keys`](Self::keys).
    pub fn keys_and(&self, names: &[&str], optional: &[&str]) -> Result<()> {
        let Value::Object(map) = self.value else { return Err(self.wrong_type("an object")) };
        if let Some(name) = names.iter().find(|name| !map.contains_key(**name)) {
            return Err(self.refuse(JsonProblem::Missing((*name).to_owned())));
        }
        match map.keys().find(|key| !names.contains(&key.as_str()) && !optional.contains(&key.as_str())) {
            Some(key) => Err(self.refuse(JsonProblem::Unknown(key.clone()))),
            None => Ok(()),
        }
    }

    /// The value of a key.
    ///
    /// # Errors
    /// Not an object, no such key.
    pub fn get<'s>(&'s self, name: &'s str) -> Result<Node<'s>> {
        match self.find(name) {
            Some(node) => Ok(node),
            None if self.value.is_object() => Err(self.refuse(JsonProblem::Missing(name.to_owned()))),
            None => Err(self.wrong_type("an object")),
        }
    }

    /// The value of a key, if this is an object that has it.
    pub fn find<'s>(&'s self, name: &'s str) -> Option<Node<'s>> {
        let value = self.value.as_object()?.get(name)?;
        Some(Node { value, parent: Some(self), step: Step::Key(name) })
    }

    /// Converts each item of an array.
    ///
    /// # Errors
    /// Not an array, and what `convert` refuses.
    pub fn list<T>(&self, mut convert: impl FnMut(Node<'_>) -> Result<T>) -> Result<Vec<T>> {
        let Value::Array(items) = self.value else { return Err(self.wrong_type("an array")) };
        let nodes = items.iter().enumerate();
        nodes.map(|(i, value)| convert(Node { value, parent: Some(self), step: Step::Item(i) })).collect()
    }

    /// The items of an array of exactly `N`.
    ///
    /// # Errors
    /// Not an array, another length.
    pub fn tuple<const N: usize>(&self) -> Result<[Node<'_>; N]> {
        let Value::Array(items) = self.value else { return Err(self.wrong_type("an array")) };
        if items.len() != N {
            return Err(self.refuse(JsonProblem::Length { expected: N, found: items.len() }));
        }
        Ok(std::array::from_fn(|i| Node { value: &items[i], parent: Some(self), step: Step::Item(i) }))
    }

    /// The number of items; 0 if this is not an array.
    pub fn len(&self) -> usize {
        self.value.as_array().map_or(0, Vec::len)
    }

    /// Whether [`len`](Self::len) is 0.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A string.
    ///
    /// # Errors
    /// Not a string.
    pub fn text(&self) -> Result<String> {
        self.str().map(str::to_owned)
    }

    fn str(&self) -> Result<&'a str> {
        self.value.as_str().ok_or_else(|| self.wrong_type("a string"))
    }

    /// A string with something in it that can be shown.
    ///
    /// # Errors
    /// Not a string, empty, or with a character of [`steers`].
    pub fn name(&self) -> Result<String> {
        match self.str()? {
            "" => Err(self.refuse(JsonProblem::Empty)),
            text if text.contains(steers) => Err(self.refuse(JsonProblem::Steers(text.to_owned()))),
            text => Ok(text.to_owned()),
        }
    }

    /// A string, or `null`.
    ///
    /// # Errors
    /// Neither of them.
    pub fn optional_name(&self) -> Result<Option<String>> {
        if self.value.is_null() { Ok(None) } else { self.name().map(Some) }
    }

    /// An integer.
    ///
    /// # Errors
    /// Not an integer of 64 bits.
    pub fn int(&self) -> Result<i64> {
        self.value.as_i64().ok_or_else(|| self.wrong_type("an integer"))
    }

    /// An integer that is not negative.
    ///
    /// # Errors
    /// Not an integer of 64 bits, negative.
    pub fn natural(&self) -> Result<u64> {
        self.value.as_u64().ok_or_else(|| self.wrong_type("an integer that is not negative"))
    }

    /// A boolean.
    ///
    /// # Errors
    /// Not a boolean.
    pub fn bool(&self) -> Result<bool> {
        self.value.as_bool().ok_or_else(|| self.wrong_type("a boolean"))
    }

    /// An index into a list of `len` items.
    ///
    /// # Errors
    /// Not an integer, outside the list.
    pub fn index(&self, len: usize) -> Result<u32> {
        let found = self.int()?;
        let inside = usize::try_from(found).ok().filter(|i| *i < len).and_then(|i| u32::try_from(i).ok());
        inside.ok_or_else(|| self.refuse(JsonProblem::Index { found: found.into(), len }))
    }

    /// One of several words.
    ///
    /// # Errors
    /// Not a string, none of them.
    pub fn choice<T: Copy>(&self, known: &[(&str, T)]) -> Result<T> {
        let found = self.str()?;
        known.iter().find(|(word, _)| *word == found).map(|(_, value)| *value).ok_or_else(|| {
            let known: Vec<&str> = known.iter().map(|(word, _)| *word).collect();
            self.refuse(JsonProblem::Choice { found: found.to_owned(), known: known.join(", ") })
        })
    }

    /// The name of an element type.
    ///
    /// # Errors
    /// Not a string, not an element type.
    pub fn dtype(&self) -> Result<DType> {
        DType::from_str(self.str()?).map_err(|_| {
            let known: Vec<&str> = DType::ALL.iter().map(|dtype| dtype.name()).collect();
            self.refuse(JsonProblem::Choice { found: self.value.to_string(), known: known.join(", ") })
        })
    }

    /// A size expression.
    ///
    /// # Errors
    /// Not a string, not an expression, too long.
    pub fn size(&self) -> Result<SizeExpr> {
        let text = self.str()?;
        if text.len() > MAX_SIZE_TEXT {
            return Err(self.refuse(SizeError::Syntax(format!("{}…", text.chars().take(40).collect::<String>()))));
        }
        SizeExpr::parse(text).map_err(|error| self.refuse(error))
    }

    /// A polynomial, as [`Poly`] prints it: a sum of products.
    ///
    /// # Errors
    /// Not a string, not an expression, not a sum of products.
    pub fn poly(&self) -> Result<Poly> {
        let expr = self.size()?;
        let mut sum = Poly::default();
        let mut rest = Some(&expr);
        while let Some(expr) = rest {
            let (left, term) = match expr {
                SizeExpr::Add(left, term) => (Some(&**left), &**term),
                term => (None, term),
            };
            let term = product(term).ok_or_else(|| self.refuse(SizeError::Syntax(term.to_string())))?;
            sum = sum.add(&term);
            rest = left;
        }
        Ok(sum)
    }
}

/// A product of symbols and constants; `None` for anything else, which could grow without bound.
fn product(mut expr: &SizeExpr) -> Option<Poly> {
    let mut product = Poly::constant(1);
    loop {
        let (left, factor) = match expr {
            SizeExpr::Mul(left, factor) => (Some(&**left), &**factor),
            factor => (None, factor),
        };
        product = product.mul(&match factor {
            SizeExpr::Const(value) => Poly::constant(*value),
            SizeExpr::Sym(symbol) => Poly::symbol(symbol.clone()),
            _ => return None,
        });
        match left {
            Some(left) => expr = left,
            None => return Some(product),
        }
    }
}

impl fmt::Display for Node<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            parent.fmt(f)?;
        }
        match self.step {
            Step::Key(key) if self.parent.is_some() => write!(f, ".{key}"),
            Step::Key(key) => f.write_str(key),
            Step::Item(i) => write!(f, "[{i}]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_refusal_names_the_path() {
        let tree = json!({"a": [{"b": 1}, {"b": "x"}]});
        let read = |node: Node<'_>| node.get("a")?.list(|item| item.get("b")?.int());
        let error = read(Node::root(&tree)).unwrap_err();
        assert_eq!(error.to_string(), "at $.a[1].b: expected an integer, found a string");
    }

    #[test]
    fn a_name_is_shown_and_not_obeyed() {
        for text in ["a\u{1b}[2J", "a\nb", "\u{202e}a"] {
            let error = Node::root(&json!(text)).name().unwrap_err();
            assert!(!error.to_string().contains(steers), "{error}");
            assert_eq!(error.problem, JsonProblem::Steers(text.into()));
        }
        assert_eq!(Node::root(&json!("g.src")).name().unwrap(), "g.src");
    }

    #[test]
    fn text_is_bounded_in_length_and_depth() {
        assert!(matches!(parse(b"[0]", 2).unwrap_err().problem, JsonProblem::TooLong { .. }));
        assert!(matches!(parse("[".repeat(100_000).as_bytes(), MAX_TEXT).unwrap_err().problem, JsonProblem::Syntax(_)));
    }

    #[test]
    fn polynomials_come_back_and_products_of_sums_are_refused() {
        for text in ["0", "-3", "F", "3*F*H+2", "F*F+H"] {
            assert_eq!(Node::root(&json!(text)).poly().unwrap().to_string(), text);
        }
        for text in ["(F+1)*(F+1)", "max(F,1)", "", "F*"] {
            assert!(matches!(Node::root(&json!(text)).poly().unwrap_err().problem, JsonProblem::Size(_)), "{text}");
        }
        let long = json!(vec!["F"; 4000].join("+"));
        assert!(Node::root(&long).poly().is_err());
    }

    #[test]
    fn keys_are_sorted_and_floats_come_back() {
        let text = write(json!({"b": 0.1, "a": 1e-300, "c": 123456789.12345679}));
        assert_eq!(text, "{\"a\":1e-300,\"b\":0.1,\"c\":123456789.12345679}\n");
        assert_eq!(write(parse(text.as_bytes(), MAX_TEXT).unwrap()), text);
    }
}
