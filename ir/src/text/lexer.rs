//! Tokens of `.tir`.

use super::{ParseError, ParseErrorKind};
use logos::Logos;
use std::sync::Arc;
use tiga_source::Loc;

/// A token; the text is borrowed from the source.
#[derive(Logos, Clone, Copy, Debug, PartialEq)]
#[logos(skip r"[ \t\r\n]+", skip(r"//[^\n]*", allow_greedy = true))]
pub(super) enum Token<'a> {
    #[regex(r"%[A-Za-z0-9_.]+", |lex| &lex.slice()[1..])]
    Value(&'a str),
    #[regex(r"@[A-Za-z0-9_.]+", |lex| &lex.slice()[1..])]
    Name(&'a str),
    #[regex(r"\^[A-Za-z0-9_.]+", |lex| &lex.slice()[1..])]
    Block(&'a str),
    // With `++` between its parts, a set made of others.
    #[regex(r"[A-Za-z_][A-Za-z0-9_.]*(\+\+[A-Za-z_][A-Za-z0-9_.]*)*", priority = 3)]
    Word(&'a str),
    #[regex(r"-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?", priority = 4)]
    #[token("-inf", priority = 5)]
    Number(&'a str),
    #[regex(r#""[^"\n]*""#, |lex| lex.slice().trim_matches('"'))]
    Text(&'a str),
    #[token("->")]
    #[token("==")]
    #[token(">=")]
    #[token("&&")]
    #[regex(r"[<>(){}\[\],:=*+]")]
    Punct(&'a str),
    End,
}

impl Token<'_> {
    /// How a message names it.
    pub(super) fn describe(&self) -> String {
        match self {
            Token::Value(s) => format!("`%{s}`"),
            Token::Name(s) => format!("`@{s}`"),
            Token::Block(s) => format!("`^{s}`"),
            Token::Word(s) | Token::Number(s) | Token::Punct(s) => format!("`{s}`"),
            Token::Text(s) => format!("`\"{s}\"`"),
            Token::End => "the end of the file".into(),
        }
    }
}

/// The tokens of a text with their byte offsets; the last one is [`Token::End`].
pub(super) fn tokens<'a>(file: &Arc<str>, text: &'a str) -> Result<Vec<(Token<'a>, usize)>, ParseError> {
    let mut out = Vec::new();
    let mut lexer = Token::lexer(text);
    while let Some(token) = lexer.next() {
        let start = lexer.span().start;
        match token {
            Ok(token) => out.push((token, start)),
            Err(()) => {
                let kind = ParseErrorKind::Character(lexer.slice().to_owned());
                return Err(ParseError { loc: position(file, text, start), kind });
            }
        }
    }
    out.push((Token::End, text.len()));
    Ok(out)
}

/// Line and column of a byte offset.
pub(super) fn position(file: &Arc<str>, text: &str, offset: usize) -> Loc {
    let before = &text[..offset];
    let line = before.matches('\n').count() as u32 + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() as u32 + 1;
    Loc::new(file.clone(), line, column)
}
