//! What a `.tg` text can do wrong before anything is known of its meaning.

use thiserror::Error;
use tiga_source::{Diagnostic, Span};

/// A syntax error, with its code and its sentence; each code has a page in `docs/errors/`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "the sentence above each variant is its doc")]
pub enum SyntaxError {
    #[error("unexpected character `{text}`")]
    UnexpectedCharacter { text: String },
    #[error("`{text}` is not a number")]
    MalformedNumber { text: String },
    #[error("number `{text}` is too large")]
    NumberTooLarge { text: String },
    #[error("expected {expected}, found {found}")]
    Unexpected { expected: String, found: String },
    #[error("expected `;`, found {found}")]
    MissingSemicolon { found: String },
    #[error("this block has no value")]
    MissingValue,
    #[error("`{open}` is never closed")]
    Unclosed { open: &'static str },
    #[error("`{close}` closes nothing")]
    Unopened { close: &'static str },
    #[error("`{close}` does not close `{open}`")]
    Mismatched { open: &'static str, close: &'static str },
    #[error("nested or chained more than {limit} deep")]
    TooDeep { limit: usize },
    #[error("expected an item, found {found}")]
    StrayText { found: String },
    #[error("`{word}` is not part of the language")]
    ForeignWord { word: String },
    #[error("comparisons do not chain")]
    ChainedComparison,
    #[error("`{word}` is a keyword and cannot be a name")]
    ReservedWord { word: String },
    #[error("the `{clause}` clause is given twice")]
    DuplicateClause { clause: &'static str },
    #[error("message `{message}` has no `edge` clause")]
    MissingEdge { message: String },
    #[error("this doc comment documents nothing")]
    UnusedDoc,
    #[error("`//!` documents the file and stands before its first item")]
    MisplacedModuleDoc,
    #[error("a program's results have names")]
    UnnamedResult,
    #[error("expected `{expected}`, found `{found}`")]
    WrongSign { expected: &'static str, found: &'static str },
    #[error("cannot assign to `{name}`")]
    Assignment { name: String },
    #[error("comments begin with `//`")]
    CommentStyle,
    #[error("{count} more syntax errors are not shown")]
    TooManyErrors { count: usize },
    #[error("{count} more warnings are not shown")]
    TooManyWarnings { count: usize },
}

impl SyntaxError {
    /// Its code.
    pub fn code(&self) -> &'static str {
        match self {
            SyntaxError::UnexpectedCharacter { .. } => "TG0001",
            SyntaxError::MalformedNumber { .. } => "TG0002",
            SyntaxError::NumberTooLarge { .. } => "TG0003",
            SyntaxError::Unexpected { .. } => "TG0004",
            SyntaxError::MissingSemicolon { .. } => "TG0005",
            SyntaxError::MissingValue => "TG0006",
            SyntaxError::Unclosed { .. } => "TG0007",
            SyntaxError::Unopened { .. } | SyntaxError::Mismatched { .. } => "TG0008",
            SyntaxError::TooDeep { .. } => "TG0009",
            SyntaxError::StrayText { .. } => "TG0010",
            SyntaxError::ForeignWord { .. } => "TG0011",
            SyntaxError::ChainedComparison => "TG0012",
            SyntaxError::ReservedWord { .. } => "TG0013",
            SyntaxError::DuplicateClause { .. } => "TG0014",
            SyntaxError::MissingEdge { .. } => "TG0015",
            SyntaxError::UnusedDoc | SyntaxError::MisplacedModuleDoc => "TG0016",
            SyntaxError::UnnamedResult => "TG0017",
            SyntaxError::WrongSign { .. } | SyntaxError::Assignment { .. } => "TG0018",
            SyntaxError::CommentStyle => "TG0019",
            SyntaxError::TooManyErrors { .. } | SyntaxError::TooManyWarnings { .. } => "TG0020",
        }
    }

    /// The diagnostic for this error at a place, with the advice that holds wherever it occurs.
    pub fn at(&self, span: Span) -> Diagnostic {
        let diagnostic = match self {
            SyntaxError::UnusedDoc | SyntaxError::MisplacedModuleDoc | SyntaxError::TooManyWarnings { .. } => {
                Diagnostic::warning(self.code(), self.to_string(), span)
            }
            _ => Diagnostic::error(self.code(), self.to_string(), span),
        };
        match self {
            SyntaxError::UnexpectedCharacter { text } => character_advice(text, diagnostic),
            SyntaxError::MalformedNumber { text } => number_advice(text, diagnostic),
            SyntaxError::NumberTooLarge { .. } => diagnostic
                .label(format!("larger than {}", u64::MAX))
                .help("write it as a floating-point number if it need not be exact"),
            SyntaxError::MissingValue => {
                diagnostic.help("a block ends with the expression that is its value, without `;`")
            }
            SyntaxError::TooDeep { .. } => diagnostic.help("name intermediate values with `let`"),
            SyntaxError::UnusedDoc => {
                diagnostic.help("`///` stands before an item, a parameter, a result or a state field; use `//` here")
            }
            SyntaxError::MisplacedModuleDoc => diagnostic.help("document an item with `///`"),
            SyntaxError::UnnamedResult => diagnostic.help("name each result: `-> (out: f32[N])`"),
            SyntaxError::CommentStyle => diagnostic.help("write `//` at the start of each line of the comment"),
            SyntaxError::TooManyWarnings { .. } => diagnostic.label("and so on from here"),
            SyntaxError::TooManyErrors { .. } => diagnostic
                .label("and so on from here")
                .help("correct the first ones: later ones often follow from them"),
            SyntaxError::MissingEdge { .. } => diagnostic
                .label("sends nothing along its edges")
                .help("write `edge { … }`: what one edge carries to its `dst`"),
            SyntaxError::DuplicateClause { clause: "reduce" } => {
                diagnostic.help("several reducers are a tuple, one for each value of the edge: `reduce (sum, max)`")
            }
            _ => diagnostic,
        }
    }
}

/// A piece of source for a sentence: what is long is cut.
pub(crate) fn clip(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn character_advice(text: &str, diagnostic: Diagnostic) -> Diagnostic {
    match text {
        "&" => diagnostic.help("logical and is `&&`"),
        "|" => diagnostic.help("logical or is `||`"),
        "^" => diagnostic.help("powers are written `pow(x, y)`"),
        "?" => diagnostic.help("a choice is written `if c { a } else { b }`, or `where(c, a, b)` on fields"),
        "'" | "`" | "$" | "\\" | "~" => diagnostic,
        _ if text.starts_with('"') => diagnostic.help("the language has no strings; comments begin with `//`"),
        _ if !text.is_ascii() => {
            diagnostic.help("names and operators are written in ASCII; comments may hold any text")
        }
        _ => diagnostic,
    }
}

/// `f` and `UL` as in C, `u8` as in Rust.
fn is_foreign_suffix(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let sized = lower.strip_prefix(['i', 'u', 'f']).is_some_and(|bits| bits.bytes().all(|b| b.is_ascii_digit()));
    sized || matches!(lower.as_str(), "d" | "l" | "ll" | "ul" | "ull" | "usize" | "isize")
}

fn number_advice(text: &str, diagnostic: Diagnostic) -> Diagnostic {
    let digits = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, suffix) = text.split_at(digits);
    match suffix {
        "f16" | "bf16" | "f32" | "f64" | "i32" | "i64" => diagnostic.help(format!(
            "numbers have no suffix: they take their type from where they stand; to force it, write \
             `{suffix}({number})`"
        )),
        _ if is_foreign_suffix(suffix) => {
            diagnostic.help("numbers have no suffix: they take their type from where they stand")
        }
        _ if number == "0" && suffix.starts_with(['x', 'b', 'o']) => diagnostic.help("numbers are written in decimal"),
        _ if suffix.starts_with(['e', 'E']) => diagnostic.help("an exponent is written `1e-6`"),
        _ => diagnostic.help("names do not begin with a digit"),
    }
}
