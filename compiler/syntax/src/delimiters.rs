//! Brackets of one item: pairs them, mends what does not pair, and bounds how deep the tree can be.

use crate::error::SyntaxError;
use crate::token::{Lexeme, Token};
use tiga_source::{Diagnostic, FileId, Span};

/// The most levels a tree may have: brackets, and operators chained without a comma or semicolon between them.
/// Every stage that walks a tree may recurse this deep.
pub const MAX_DEPTH: usize = 256;

/// An item's tokens with brackets that pair, and what had to be reported for it.
pub(crate) struct Balanced<'i> {
    pub lexemes: Vec<Lexeme<'i>>,
    pub errors: Vec<Diagnostic>,
}

/// Pairs the brackets. One that is not closed where an outer one is, or at the end, is closed there; a closing one of
/// the wrong kind is replaced, and one that closes nothing is dropped. Reports the first such: it explains the others.
pub(crate) fn balance<'i>(file: FileId, lexemes: Vec<Lexeme<'i>>) -> Balanced<'i> {
    let mut open: Vec<Lexeme<'i>> = Vec::new();
    let mut out = Vec::with_capacity(lexemes.len());
    let mut error = None;
    for mut lexeme in lexemes {
        if lexeme.token.closer().is_some() {
            open.push(lexeme);
        } else if lexeme.token.is_closer() {
            let closed = open.iter().rposition(|opener| opener.token.closer() == Some(lexeme.token));
            match (closed, open.pop()) {
                (_, None) => {
                    error.get_or_insert_with(|| unopened(file, &lexeme));
                    continue;
                }
                (None, Some(opener)) => {
                    error.get_or_insert_with(|| mismatched(file, &opener, &lexeme));
                    lexeme.token = opener.token.closer().unwrap_or(lexeme.token);
                }
                (Some(closed), Some(innermost)) if closed < open.len() => {
                    error.get_or_insert_with(|| {
                        let closes = format!("this closes `{}`, opened before it", spelling(open[closed].token));
                        unclosed(file, &innermost).also(span(file, &lexeme), closes)
                    });
                    open.push(innermost);
                    close(&mut open, closed + 1, lexeme.start, &mut out);
                    open.pop();
                }
                (Some(_), Some(_)) => {}
            }
        }
        out.push(lexeme);
    }
    if let Some(innermost) = open.last() {
        error.get_or_insert_with(|| unclosed(file, innermost));
    }
    let end = out.last().map_or(0, |last| last.end);
    close(&mut open, 0, end, &mut out);
    Balanced { lexemes: out, errors: Vec::from_iter(error) }
}

/// Closes all open brackets but the first `keep`, at a place.
fn close<'i>(open: &mut Vec<Lexeme<'i>>, keep: usize, at: usize, out: &mut Vec<Lexeme<'i>>) {
    for opener in open.drain(keep..).rev() {
        let token = opener.token.closer().unwrap_or(Token::Unknown);
        out.push(Lexeme { start: at, end: at, token, first_on_line: true });
    }
}

fn span(file: FileId, lexeme: &Lexeme<'_>) -> Span {
    Span::new(file, lexeme.start, lexeme.end)
}

fn unopened(file: FileId, close: &Lexeme<'_>) -> Diagnostic {
    SyntaxError::Unopened { close: spelling(close.token) }.at(span(file, close)).label("nothing is open here")
}

fn unclosed(file: FileId, open: &Lexeme<'_>) -> Diagnostic {
    SyntaxError::Unclosed { open: spelling(open.token) }.at(span(file, open)).label("never closed")
}

fn mismatched(file: FileId, open: &Lexeme<'_>, close: &Lexeme<'_>) -> Diagnostic {
    let error = SyntaxError::Mismatched { open: spelling(open.token), close: spelling(close.token) };
    let wanted = open.token.closer().map_or(String::new(), |closer| format!("expected `{}`", spelling(closer)));
    error.at(span(file, close)).label(wanted).also(span(file, open), "opened here")
}

/// Whether the tree of these tokens could be deeper than [`MAX_DEPTH`], and at which token. Counts what may deepen
/// the tree on the way to each token: an upper bound, found without building anything.
pub(crate) fn too_deep(file: FileId, lexemes: &[Lexeme<'_>]) -> Option<Diagnostic> {
    // One count for each open bracket: what deepens since its last comma or semicolon.
    let mut counts = vec![0_usize];
    let mut depth = 0;
    for lexeme in lexemes {
        let token = lexeme.token;
        if token.is_closer() {
            if counts.len() > 1 {
                depth -= counts.pop().unwrap_or(0);
            }
            continue;
        }
        let Some(count) = counts.last_mut() else { continue };
        if matches!(token, Token::Comma | Token::Semi) {
            depth -= *count;
            *count = 0;
        } else if token.deepens() || token.closer().is_some() {
            *count += 1;
            depth += 1;
            if depth > MAX_DEPTH {
                return Some(
                    SyntaxError::TooDeep { limit: MAX_DEPTH }.at(span(file, lexeme)).label("too deep from here on"),
                );
            }
            if token.closer().is_some() {
                counts.push(0);
            }
        }
    }
    None
}

fn spelling(token: Token<'_>) -> &'static str {
    match token {
        Token::LParen => "(",
        Token::RParen => ")",
        Token::LBracket => "[",
        Token::RBracket => "]",
        Token::LBrace => "{",
        _ => "}",
    }
}
