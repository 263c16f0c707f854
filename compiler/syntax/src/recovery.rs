//! Reading one item in spite of errors: mend a token or cut out the smallest part that hides the error, and retry.

use crate::ast::Item;
use crate::build::{Builder, DocTable};
use crate::delimiters::{Balanced, balance, too_deep};
use crate::expected::TERMINALS;
use crate::explain::{Explanation, explain, stray};
use crate::grammar::ItemParser;
use crate::token::{Lexeme, Token};
use lalrpop_util::ParseError;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::ops::Range;
use tiga_source::{Diagnostic, FileId};

/// The most errors reported of one item.
const MAX_ERRORS: usize = 8;
/// How many brackets around an error are considered for cutting.
const MAX_BRACKETS: usize = 12;
/// The most times an item with errors is read again; bounds the time that a hostile text can take.
const MAX_ATTEMPTS: usize = 48;

/// Up to how many tokens before an error all terminals are tried after them, to say what was expected.
const MAX_PREFIX: usize = 4096;

/// What surrounds an item.
pub(crate) struct ItemText<'a> {
    pub file: FileId,
    pub text: &'a str,
    pub docs: &'a DocTable,
    /// The token after the item, which starts the next one.
    pub next: Option<Lexeme<'a>>,
    /// Whether errors of this item will still be shown, so that it is worth finding out all that was expected.
    pub shown: bool,
}

/// An item, if it could be read, and its errors.
#[derive(Default)]
pub(crate) struct Reading {
    pub item: Option<Item>,
    pub errors: Vec<Diagnostic>,
    pub attached: BTreeSet<usize>,
}

/// Where the grammar could not go on.
pub(crate) struct Failure {
    /// The token; one past the last for a missing one.
    pub index: usize,
    /// The terminals that could have stood there.
    pub expected: Vec<String>,
}

/// Tokens to put in place of others.
pub(crate) struct Repair<'i> {
    pub range: Range<usize>,
    pub token: Option<Token<'i>>,
}

/// Reads one item.
pub(crate) fn read_item<'i>(input: &ItemText<'i>, lexemes: Vec<Lexeme<'i>>) -> Reading {
    let mut reading = Reading::default();
    if let Some(error) = too_deep(input.file, &lexemes) {
        reading.errors.push(error);
        return reading;
    }
    let Balanced { mut lexemes, errors } = balance(input.file, lexemes);
    reading.errors = errors;
    // After an unbalanced bracket, further errors in the item would be guesses.
    let quiet = !reading.errors.is_empty();
    let mut failure = match attempt(input, &lexemes) {
        Ok(success) => return finish(reading, success, quiet),
        Err(failure) => failure,
    };
    let mut attempts = MAX_ATTEMPTS;
    if let Some(success) = before_stray_text(input, &lexemes, &failure) {
        if !quiet {
            reading.errors.push(stray(input.file, input.text, &lexemes[failure.index]));
        }
        return finish(reading, success, true);
    }
    for _ in 0..MAX_ERRORS {
        if input.shown && !quiet && failure.index <= MAX_PREFIX {
            failure.expected = all_expected(input, &lexemes[..failure.index]);
        }
        let Explanation { diagnostic, repair } = explain(input, &lexemes, &failure);
        reading.errors.extend(diagnostic.filter(|_| !quiet));
        match retry(input, &lexemes, &failure, repair, &mut attempts) {
            Retry::Read(success) => return finish(reading, success, true),
            Retry::Further(mended, next) => (lexemes, failure) = (mended, next),
            Retry::Stuck => break,
        }
    }
    reading
}

/// An item, which doc comments found their node in it, and the errors that leave its tree whole.
struct Success {
    item: Box<Item>,
    attached: BTreeSet<usize>,
    errors: Vec<Diagnostic>,
}

fn finish(mut reading: Reading, success: Success, mended: bool) -> Reading {
    let mut item = *success.item;
    item.recovered = mended || !success.errors.is_empty();
    reading.errors.extend(success.errors);
    reading.item = Some(item);
    reading.attached = success.attached;
    reading
}

/// Reads the tokens as one item.
fn attempt<'i>(input: &ItemText<'i>, lexemes: &[Lexeme<'i>]) -> Result<Success, Failure> {
    let mut builder = Builder::new(input.file, input.docs);
    let tokens = lexemes.iter().map(|lexeme| Ok::<_, Infallible>((lexeme.start, lexeme.token, lexeme.end)));
    // A count beside the stream says which token failed even where inserted ones share their place.
    let mut taken = 0;
    let counted = tokens.inspect(|_| taken += 1);
    match ItemParser::new().parse(&mut builder, counted) {
        Ok(item) => Ok(Success { item: Box::new(item), attached: builder.attached, errors: builder.errors }),
        Err(ParseError::UnrecognizedToken { expected, .. }) => {
            Err(Failure { index: taken - 1, expected: unquoted(expected) })
        }
        Err(ParseError::UnrecognizedEof { expected, .. }) => {
            Err(Failure { index: lexemes.len(), expected: unquoted(expected) })
        }
        Err(ParseError::ExtraToken { .. }) => Err(Failure { index: taken - 1, expected: Vec::new() }),
        Err(ParseError::InvalidToken { .. }) => Err(Failure { index: taken, expected: Vec::new() }),
        Err(ParseError::User { error }) => match error {},
    }
}

/// All terminals that can follow these tokens. The generated parser alone knows only some of them: it may already have
/// completed an expression that an operator could have gone on.
fn all_expected(input: &ItemText<'_>, prefix: &[Lexeme<'_>]) -> Vec<String> {
    let end = prefix.last().map_or(0, |last| last.end);
    let mut trial = prefix.to_vec();
    let accepted = TERMINALS.iter().filter(|(_, token)| {
        trial.truncate(prefix.len());
        trial.push(Lexeme { start: end, end, token: *token, first_on_line: false });
        attempt(input, &trial).map_or_else(|failure| failure.index > prefix.len(), |_| true)
    });
    accepted.map(|(name, _)| (*name).to_owned()).collect()
}

/// The terminals of a generated parser's report, without the quotes that the grammar puts around them.
fn unquoted(expected: Vec<String>) -> Vec<String> {
    expected.iter().map(|name| name.trim_matches('"').to_owned()).collect()
}

/// The item that ends where the failure is, if it does and the failure is outside all brackets.
fn before_stray_text<'i>(input: &ItemText<'i>, lexemes: &[Lexeme<'i>], failure: &Failure) -> Option<Success> {
    let outside = failure.index < lexemes.len() && enclosing(lexemes, failure.index).is_empty();
    if outside { attempt(input, &lexemes[..failure.index]).ok() } else { None }
}

enum Retry<'i> {
    /// Read to the end.
    Read(Success),
    /// Read beyond the mended place, to another error.
    Further(Vec<Lexeme<'i>>, Failure),
    /// Nothing helped.
    Stuck,
}

/// Mends the text around a failure, smallest change first, until reading goes on beyond it.
fn retry<'i>(
    input: &ItemText<'i>,
    lexemes: &[Lexeme<'i>],
    failure: &Failure,
    repair: Option<Repair<'i>>,
    attempts: &mut usize,
) -> Retry<'i> {
    for repair in repair.into_iter().chain(cuts(lexemes, failure.index)) {
        if *attempts == 0 {
            return Retry::Stuck;
        }
        *attempts -= 1;
        let (mended, beyond) = apply(lexemes, &repair);
        match attempt(input, &mended) {
            Ok(success) => return Retry::Read(success),
            Err(next) if next.index > beyond => return Retry::Further(mended, next),
            Err(_) => {}
        }
    }
    Retry::Stuck
}

/// The tokens with a repair, and the index that reading must get beyond for it to have helped.
fn apply<'i>(lexemes: &[Lexeme<'i>], repair: &Repair<'i>) -> (Vec<Lexeme<'i>>, usize) {
    let Range { start, end } = repair.range;
    let mut mended = Vec::with_capacity(lexemes.len() + 1);
    mended.extend_from_slice(&lexemes[..start]);
    if let Some(token) = repair.token {
        let before = start.checked_sub(1).map_or(0, |i| lexemes[i].end);
        let (from, to) = if start < end { (lexemes[start].start, lexemes[end - 1].end) } else { (before, before) };
        mended.push(Lexeme { start: from, end: to, token, first_on_line: false });
    }
    let beyond = mended.len();
    mended.extend_from_slice(&lexemes[end..]);
    (mended, beyond)
}

/// What may be cut out to hide a failure, in each bracket around it from the innermost outward: the value that a
/// `let`, field or argument gives a name; what stands between commas or semicolons; all between the brackets.
fn cuts<'i>(lexemes: &[Lexeme<'i>], index: usize) -> Vec<Repair<'i>> {
    let mut cuts: Vec<Range<usize>> = Vec::new();
    for (open, close) in enclosing(lexemes, index).into_iter().rev().take(MAX_BRACKETS) {
        let inside = open + 1..close;
        let list = segment(lexemes, &inside, index, |token| matches!(token, Token::Comma | Token::Semi));
        let statement = segment(lexemes, &inside, index, |token| token == Token::Semi);
        for part in [list, statement] {
            cuts.extend(value_of(lexemes, &part, index));
            cuts.push(part);
        }
        cuts.push(inside);
    }
    cuts.dedup();
    cuts.into_iter().map(|range| Repair { range, token: Some(Token::Hole) }).collect()
}

/// The pairs of brackets around a token, outermost first. A closing bracket is inside its own pair.
fn enclosing(lexemes: &[Lexeme<'_>], index: usize) -> Vec<(usize, usize)> {
    let mut open = Vec::new();
    for (i, lexeme) in lexemes[..index].iter().enumerate() {
        if lexeme.token.closer().is_some() {
            open.push(i);
        } else if lexeme.token.is_closer() {
            open.pop();
        }
    }
    let mut pairs = Vec::new();
    let mut waiting = open.len();
    let mut inner = 0_usize;
    for (i, lexeme) in lexemes.iter().enumerate().skip(index) {
        if lexeme.token.closer().is_some() {
            inner += 1;
        } else if lexeme.token.is_closer() {
            if inner > 0 {
                inner -= 1;
            } else if waiting > 0 {
                waiting -= 1;
                pairs.push((open[waiting], i));
            }
        }
    }
    pairs.reverse();
    pairs
}

/// The part of `inside` around `index` that lies between separators outside inner brackets.
fn segment(
    lexemes: &[Lexeme<'_>],
    inside: &Range<usize>,
    index: usize,
    separates: impl Fn(Token<'_>) -> bool,
) -> Range<usize> {
    let (mut start, mut depth) = (inside.start, 0_usize);
    for i in inside.clone() {
        let token = lexemes[i].token;
        if token.closer().is_some() {
            depth += 1;
        } else if token.is_closer() {
            depth = depth.saturating_sub(1);
        } else if depth == 0 && separates(token) {
            if i >= index {
                return start..i;
            }
            start = i + 1;
        }
    }
    start..inside.end
}

/// In `let x = value`, `x = value` or `x: value` around `index`, the value.
fn value_of(lexemes: &[Lexeme<'_>], part: &Range<usize>, index: usize) -> Option<Range<usize>> {
    let first = part.clone().next()?;
    let start = if lexemes[first].token.is_name() && lexemes.get(first + 1)?.token == Token::Colon {
        first + 2
    } else {
        let until_sign = segment(lexemes, part, part.start, |token| token == Token::Assign);
        until_sign.end + 1
    };
    (start <= index && start < part.end).then_some(start..part.end)
}
