//! Words of the language: characters to tokens, with comments and doc comments set aside.

use crate::error::{SyntaxError, clip};
use logos::Logos;
use std::collections::BTreeMap;
use tiga_source::{Diagnostic, FileId, Span};

/// A token. Words after `Hole` are keywords only where the grammar asks for them, and names elsewhere.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip r"[ \t\r\n\x0c]+")]
pub(crate) enum Token<'i> {
    #[regex("[A-Za-z_][A-Za-z0-9_]*")]
    Ident(&'i str),
    #[regex("[0-9][0-9_]*", priority = 5)]
    Int(&'i str),
    #[regex(r"[0-9][0-9_]*\.[0-9][0-9_]*([eE][+-]?[0-9][0-9_]*)?", priority = 6)]
    #[regex(r"[0-9][0-9_]*[eE][+-]?[0-9][0-9_]*", priority = 6)]
    Float(&'i str),

    #[token("message")]
    Message,
    #[token("program")]
    Program,
    #[token("fn")]
    Fn,
    #[token("reducer")]
    Reducer,
    #[token("type")]
    Type,
    #[token("vjp")]
    Vjp,
    #[token("const")]
    Const,
    #[token("let")]
    Let,
    #[token("if")]
    If,
    #[token("else")]
    Else,
    #[token("loop")]
    Loop,
    #[token("while")]
    While,
    #[token("for")]
    For,
    #[token("in")]
    In,
    #[token("true")]
    True,
    #[token("false")]
    False,

    #[token("(")]
    LParen,
    #[token(")")]
    RParen,
    #[token("[")]
    LBracket,
    #[token("]")]
    RBracket,
    #[token("{")]
    LBrace,
    #[token("}")]
    RBrace,
    #[token(",")]
    Comma,
    #[token(";")]
    Semi,
    #[token(":")]
    Colon,
    #[token(".")]
    Dot,
    #[token("=")]
    Assign,
    #[token("->")]
    Arrow,
    #[token("@")]
    At,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[token("%")]
    Percent,
    #[token("==")]
    EqEq,
    #[token("!=")]
    NotEq,
    #[token("<")]
    Less,
    #[token("<=")]
    LessEq,
    #[token(">")]
    Greater,
    #[token(">=")]
    GreaterEq,
    #[token("&&")]
    AndAnd,
    #[token("||")]
    OrOr,
    #[token("!")]
    Not,

    /// Stands where a syntax error was reported, so that what surrounds it can still be read.
    Hole,

    #[token("edge")]
    WordEdge,
    #[token("edges")]
    WordEdges,
    #[token("reduce")]
    WordReduce,
    #[token("node")]
    WordNode,
    #[token("state")]
    WordState,
    #[token("lift")]
    WordLift,
    #[token("step")]
    WordStep,
    #[token("combine")]
    WordCombine,
    #[token("finalize")]
    WordFinalize,
    #[token("empty")]
    WordEmpty,
    #[token("laws")]
    WordLaws,
    #[token("adjoint")]
    WordAdjoint,
    #[token("graph")]
    WordGraph,
    #[token("set")]
    WordSet,
    #[token("at")]
    WordAt,
    #[token("most")]
    WordMost,
    #[token("wrt")]
    WordWrt,
    #[token("with")]
    WordWith,
    #[token("value")]
    WordValue,

    /// Not a token of the language; reported when read.
    #[regex("[0-9][0-9_]*[A-Za-z][A-Za-z0-9_]*", priority = 4)]
    #[regex(r"[0-9][0-9_]*\.[0-9][0-9_]*[A-Za-z][A-Za-z0-9_]*", priority = 4)]
    #[regex(r#""[^"\n]*""#)]
    #[regex("[^\x00-\x7f]+")]
    Unknown,
    /// Never reaches the grammar.
    #[regex("//[^\n]*", allow_greedy = true)]
    Comment(&'i str),
    /// Comments of other languages: reported, then skipped.
    #[regex("#[^\n]*", allow_greedy = true)]
    #[token("/*", block_comment)]
    ForeignComment,
}

/// Takes a `/* … */` to its end, or to the end of the text.
fn block_comment<'i>(lexer: &mut logos::Lexer<'i, Token<'i>>) {
    let rest = lexer.remainder();
    lexer.bump(rest.find("*/").map_or(rest.len(), |end| end + 2));
}

/// A token and its place in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lexeme<'i> {
    pub start: usize,
    pub end: usize,
    pub token: Token<'i>,
    /// Whether only white space and comments stand before it on its line.
    pub first_on_line: bool,
}

/// A comment, kept beside the tree so that a formatter can put it back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// Its place.
    pub span: Span,
    /// What it is.
    pub kind: CommentKind,
    /// Its text, slashes included.
    pub text: String,
}

/// What a comment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommentKind {
    /// `// …`
    Line,
    /// `/// …`: documents what follows.
    Doc,
    /// `//! …`: documents the file.
    Module,
}

/// A file as tokens.
#[derive(Debug, Default)]
pub(crate) struct Lexed<'i> {
    pub lexemes: Vec<Lexeme<'i>>,
    pub comments: Vec<Comment>,
    /// Doc comments by where the token after them starts: their lines and their places.
    pub docs: BTreeMap<usize, Vec<(Span, String)>>,
    /// The `//!` lines before the first token.
    pub module_docs: Vec<String>,
    pub errors: Vec<Diagnostic>,
}

/// Reads a whole file; what is no token is reported and, as [`Token::Unknown`], left for the grammar to trip over.
pub(crate) fn lex(file: FileId, text: &str) -> Lexed<'_> {
    let mut lexed = Lexed::default();
    let mut pending: Vec<(Span, String)> = Vec::new();
    let mut last_end = 0;
    for (token, range) in Token::lexer(text).spanned() {
        let span = Span::new(file, range.start, range.end);
        match token.unwrap_or(Token::Unknown) {
            Token::Comment(comment) => lexed.comment(comment, span, &mut pending),
            Token::ForeignComment => lexed.errors.push(SyntaxError::CommentStyle.at(span)),
            token => {
                if token == Token::Unknown && lexed.unknown(&text[range.clone()], span) {
                    last_end = range.end;
                    continue;
                }
                if !pending.is_empty() {
                    lexed.docs.insert(range.start, std::mem::take(&mut pending));
                }
                let first_on_line = lexed.lexemes.is_empty() || text[last_end..range.start].contains('\n');
                lexed.push(Lexeme { start: range.start, end: range.end, token, first_on_line });
                last_end = range.end;
            }
        }
    }
    if !pending.is_empty() {
        lexed.docs.insert(text.len(), pending);
    }
    lexed
}

impl<'i> Lexed<'i> {
    fn comment(&mut self, text: &str, span: Span, pending: &mut Vec<(Span, String)>) {
        let text = text.trim_end();
        let kind = match text.as_bytes() {
            [b'/', b'/', b'!', ..] => CommentKind::Module,
            [b'/', b'/', b'/', b'/', ..] => CommentKind::Line,
            [b'/', b'/', b'/', ..] => CommentKind::Doc,
            _ => CommentKind::Line,
        };
        self.comments.push(Comment { span, kind, text: text.to_owned() });
        if kind == CommentKind::Line {
            return;
        }
        let line = text[3..].strip_prefix(' ').unwrap_or(&text[3..]).to_owned();
        match kind {
            CommentKind::Module if self.lexemes.is_empty() => self.module_docs.push(line),
            CommentKind::Module => self.errors.push(SyntaxError::MisplacedModuleDoc.at(span)),
            _ => pending.push((span, line)),
        }
    }

    /// Reports what is no token, once for a run of such; whether it was swallowed by the one before.
    fn unknown(&mut self, text: &str, span: Span) -> bool {
        if let Some(last) = self.lexemes.last_mut()
            && last.token == Token::Unknown
            && last.end == span.start as usize
        {
            last.end = span.end as usize;
            return true;
        }
        let error = if text.starts_with(|c: char| c.is_ascii_digit()) {
            SyntaxError::MalformedNumber { text: clip(text) }
        } else {
            SyntaxError::UnexpectedCharacter { text: clip(text) }
        };
        self.errors.push(error.at(span));
        false
    }

    /// Appends a token; `0.1` after a dot is two elements, as in `pair.0.1`.
    fn push(&mut self, lexeme: Lexeme<'i>) {
        let after_dot = self.lexemes.last().is_some_and(|last| last.token == Token::Dot);
        if let (Token::Float(text), true) = (lexeme.token, after_dot)
            && let Some((first, second)) = text.split_once('.')
            && second.bytes().all(|b| b.is_ascii_digit() || b == b'_')
        {
            let dot = lexeme.start + first.len();
            self.lexemes.push(Lexeme { end: dot, token: Token::Int(first), ..lexeme });
            self.lexemes.push(Lexeme { start: dot, end: dot + 1, token: Token::Dot, first_on_line: false });
            self.lexemes.push(Lexeme { start: dot + 1, token: Token::Int(second), first_on_line: false, ..lexeme });
        } else {
            self.lexemes.push(lexeme);
        }
    }
}

impl Token<'_> {
    /// The token that closes this one, if it opens a pair.
    pub fn closer(self) -> Option<Token<'static>> {
        match self {
            Token::LParen => Some(Token::RParen),
            Token::LBracket => Some(Token::RBracket),
            Token::LBrace => Some(Token::RBrace),
            _ => None,
        }
    }

    /// Whether it closes a pair.
    pub fn is_closer(self) -> bool {
        matches!(self, Token::RParen | Token::RBracket | Token::RBrace)
    }

    /// Whether it starts an item.
    pub fn starts_item(self) -> bool {
        use Token::*;
        matches!(self, Message | Program | Fn | Reducer | Type | Vjp | Const)
    }

    /// Whether it can be a name.
    pub fn is_name(self) -> bool {
        use Token::*;
        matches!(
            self,
            Ident(_)
                | WordEdge
                | WordEdges
                | WordReduce
                | WordNode
                | WordState
                | WordLift
                | WordStep
                | WordCombine
                | WordFinalize
                | WordEmpty
                | WordLaws
                | WordAdjoint
                | WordGraph
                | WordSet
                | WordAt
                | WordMost
                | WordWrt
                | WordWith
                | WordValue
        )
    }

    /// Whether it is a word that is never a name.
    pub fn is_reserved(self) -> bool {
        use Token::*;
        self.starts_item() || matches!(self, Let | If | Else | Loop | While | For | In | True | False)
    }

    /// Whether it may make an expression's tree one level deeper; opening brackets are counted where they pair.
    pub fn deepens(self) -> bool {
        use Token::*;
        matches!(
            self,
            Plus | Minus
                | Star
                | Slash
                | Percent
                | At
                | EqEq
                | NotEq
                | Less
                | LessEq
                | Greater
                | GreaterEq
                | AndAnd
                | OrOr
                | Not
                | Dot
                | If
                | Loop
        )
    }
}
