//! The entry: a file to a tree and its errors, item by item.

use crate::ast::{Broken, Item, ItemKeyword, ItemKind, Module, Name};
use crate::error::SyntaxError;
use crate::expected::TERMINALS;
use crate::recovery::{ItemText, read_item};
use crate::token::{Comment, Lexed, Lexeme, Token, lex};
use std::collections::BTreeSet;
use std::ops::Range;
use tiga_source::{Diagnostic, FileId, Severity, Span};

/// Of more findings, only this many are shown.
pub const MAX_DIAGNOSTICS: usize = 100;

/// What a text says, and what is wrong with it.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The tree; whole if `errors` holds no error.
    pub module: Module,
    /// Errors and warnings, in the order of their places.
    pub errors: Vec<Diagnostic>,
    /// All comments, doc comments too, in order.
    pub comments: Vec<Comment>,
}

impl Parsed {
    /// Whether the text has a syntax error.
    pub fn has_errors(&self) -> bool {
        self.errors.iter().any(|error| error.severity == Severity::Error)
    }
}

/// Reads a text. A syntax error in one item hides no other item; nothing in the text makes this panic.
///
/// `file` is what the text was added to `Sources` as.
pub fn parse(file: FileId, text: &str) -> Parsed {
    let mut lexed = lex(file, text);
    let mut items = Vec::new();
    let mut errors = std::mem::take(&mut lexed.errors);
    let mut attached = BTreeSet::new();
    let mut unread: Vec<Range<usize>> = Vec::new();
    let chunks = split(&lexed.lexemes);
    if let Some(first) = lexed.lexemes[..chunks.first().map_or(lexed.lexemes.len(), |chunk| chunk.start)].first() {
        let end = chunks.first().map_or(text.len(), |chunk| lexed.lexemes[chunk.start].start);
        // What the scanner already refused is no news here.
        if first.token != Token::Unknown {
            errors.push(crate::explain::stray(file, text, first));
        }
        unread.push(first.start..end);
    }
    for chunk in chunks {
        let next = lexed.lexemes.get(chunk.end).copied();
        let lexemes = &lexed.lexemes[chunk];
        let input = ItemText { file, text, docs: &lexed.docs, next, shown: errors.len() < MAX_DIAGNOSTICS };
        let mut reading = read_item(&input, lexemes.to_vec());
        let end = next.map_or(text.len(), |next| next.start);
        if reading.item.as_ref().is_none_or(|item| item.recovered) {
            unread.push(lexemes[0].start..end);
        }
        errors.append(&mut reading.errors);
        attached.append(&mut reading.attached);
        items.push(reading.item.unwrap_or_else(|| broken(file, lexemes)));
    }
    errors.extend(unused_docs(&lexed, &attached, &unread));
    errors.sort_by_key(|error| error.primary.span.start);
    shorten(&mut errors);
    let module = Module { span: Span::new(file, 0, text.len()), docs: lexed.module_docs, items };
    Parsed { module, errors, comments: lexed.comments }
}

/// Where items lie: each starts at a word that starts items. Inside brackets, which may be unbalanced, such a word
/// counts only at the start of a line and where the words after it look like an item too.
fn split(lexemes: &[Lexeme<'_>]) -> Vec<Range<usize>> {
    let token = |i: usize| lexemes.get(i).map(|lexeme| lexeme.token);
    let mut starts = Vec::new();
    let mut depth = 0_usize;
    for (i, lexeme) in lexemes.iter().enumerate() {
        if lexeme.token.closer().is_some() {
            depth += 1;
        } else if lexeme.token.is_closer() {
            depth = depth.saturating_sub(1);
        }
        if !lexeme.token.starts_item() {
            continue;
        }
        // `energy.vjp` is a field; the second word of `message type` is a name that cannot be one.
        let field = i > 0 && lexemes[i - 1].token == Token::Dot;
        if field || i.checked_sub(1).is_some_and(|before| starts.last() == Some(&before)) {
            continue;
        }
        let looks_so = lexeme.first_on_line
            && token(i + 1).is_some_and(Token::is_name)
            && matches!(
                token(i + 2),
                Some(Token::LParen | Token::Less | Token::Assign | Token::Colon | Token::WordWrt)
            );
        if depth == 0 || looks_so {
            starts.push(i);
            depth = 0;
        }
    }
    let ends = starts.iter().skip(1).copied().chain([lexemes.len()]);
    starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
}

/// What is left of an item that could not be read: its first word and its name.
fn broken(file: FileId, lexemes: &[Lexeme<'_>]) -> Item {
    let keyword = match lexemes[0].token {
        Token::Message => ItemKeyword::Message,
        Token::Reducer => ItemKeyword::Reducer,
        Token::Fn => ItemKeyword::Function,
        Token::Program => ItemKeyword::Program,
        Token::Vjp => ItemKeyword::Vjp,
        Token::Type => ItemKeyword::Alias,
        _ => ItemKeyword::Constant,
    };
    let name = lexemes.get(1).and_then(|lexeme| {
        let text = match lexeme.token {
            Token::Ident(text) => text,
            token if token.is_name() => TERMINALS.iter().find(|(_, other)| *other == token)?.0,
            _ => return None,
        };
        Some(Name { span: Span::new(file, lexeme.start, lexeme.end), text: text.to_owned() })
    });
    let end = lexemes.last().map_or(lexemes[0].end, |last| last.end);
    Item {
        span: Span::new(file, lexemes[0].start, end),
        docs: Vec::new(),
        recovered: true,
        kind: ItemKind::Broken(Broken { keyword, name }),
    }
}

/// A warning for each doc comment that found no node, except in what was not read as written.
fn unused_docs<'a>(
    lexed: &'a Lexed<'_>,
    attached: &'a BTreeSet<usize>,
    unread: &'a [Range<usize>],
) -> impl Iterator<Item = Diagnostic> + 'a {
    let known = move |at: usize| {
        let i = unread.partition_point(|range| range.start <= at);
        i == 0 || !unread[i - 1].contains(&at)
    };
    lexed
        .docs
        .iter()
        .filter(move |(at, _)| !attached.contains(at) && known(**at))
        .filter_map(|(_, lines)| Some(SyntaxError::UnusedDoc.at(lines.first()?.0.to(lines.last()?.0))))
}

/// Keeps the first [`MAX_DIAGNOSTICS`] and says how many there were.
fn shorten(errors: &mut Vec<Diagnostic>) {
    if errors.len() > MAX_DIAGNOSTICS {
        let count = errors.len() - MAX_DIAGNOSTICS;
        let span = errors[MAX_DIAGNOSTICS].primary.span;
        let hidden = errors.split_off(MAX_DIAGNOSTICS);
        let error = match hidden.iter().any(|finding| finding.severity == Severity::Error) {
            true => SyntaxError::TooManyErrors { count },
            false => SyntaxError::TooManyWarnings { count },
        };
        errors.push(error.at(span));
    }
}
