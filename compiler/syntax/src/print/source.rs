//! The text that a tree was read from, read along while the tree is printed: its tokens, and the comments between them.

use crate::ast::{Expr, ExprKind};
use crate::token::{Comment, CommentKind, Lexed, Lexeme, Token};

/// A text, and how far it has been printed.
pub(super) struct Source<'s> {
    text: &'s str,
    lexemes: Vec<Lexeme<'s>>,
    /// The closing token of each `(`, by the opening one.
    closers: Vec<usize>,
    comments: Vec<Comment>,
    /// The token to be printed next.
    next: usize,
    /// The comment to be looked at next.
    comment: usize,
    /// Where the last token or comment ends that was passed.
    end: usize,
    /// Whether that was a token.
    after_token: bool,
    /// Comments before tokens that were left out.
    held: Vec<Remark>,
}

/// A comment and how it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Remark {
    pub kind: CommentKind,
    pub text: String,
    /// On the line of the token before it.
    pub trailing: bool,
    /// After an empty line.
    pub blank: bool,
}

impl<'s> Source<'s> {
    pub fn new(text: &'s str, lexed: Lexed<'s>) -> Self {
        let Lexed { lexemes, comments, .. } = lexed;
        let mut closers = vec![0; lexemes.len()];
        let mut open = Vec::new();
        for (at, lexeme) in lexemes.iter().enumerate() {
            if lexeme.token == Token::LParen {
                open.push(at);
            } else if lexeme.token == Token::RParen
                && let Some(begin) = open.pop()
            {
                closers[begin] = at;
            }
        }
        Self { text, lexemes, closers, comments, next: 0, comment: 0, end: 0, after_token: false, held: Vec::new() }
    }

    /// How many tokens were passed.
    pub fn passed(&self) -> usize {
        self.next
    }

    /// The token to be printed next, as written.
    pub fn spelling(&self) -> Option<&'s str> {
        self.lexemes.get(self.next).map(|lexeme| &self.text[lexeme.start..lexeme.end])
    }

    /// Passes a token, before which all comments were taken.
    pub fn take(&mut self) -> Option<&'s str> {
        let spelling = self.spelling()?;
        self.end = self.lexemes[self.next].end;
        self.after_token = true;
        self.next += 1;
        Some(spelling)
    }

    /// Passes a token that is left out, or printed before the comments that stand before it.
    pub fn skip(&mut self) {
        self.hold();
        self.take();
    }

    /// The comments that were not printed yet and stand before the next token, and whether an empty line follows them.
    pub fn comments(&mut self) -> (Vec<Remark>, bool) {
        self.hold();
        let start = self.lexemes.get(self.next).map_or(self.text.len(), |lexeme| lexeme.start);
        let blank = self.is_blank(start);
        let mut remarks = std::mem::take(&mut self.held);
        // Only one can share a line with a token; others did before a token between was left out.
        remarks.iter_mut().skip(1).for_each(|remark| remark.trailing = false);
        (remarks, blank)
    }

    /// Whether a comment stands before the next token.
    pub fn comments_ahead(&self) -> bool {
        !self.held.is_empty() || !self.ahead().is_empty()
    }

    /// Whether a doc comment stands before the next token, which may not become one before the token after that.
    pub fn docs_ahead(&self) -> bool {
        self.ahead().iter().any(|comment| comment.kind == CommentKind::Doc)
    }

    fn ahead(&self) -> &[Comment] {
        let start = self.lexemes.get(self.next).map_or(self.text.len(), |lexeme| lexeme.start);
        let rest = &self.comments[self.comment..];
        &rest[..rest.partition_point(|comment| (comment.span.start as usize) < start)]
    }

    fn hold(&mut self) {
        let count = self.ahead().len();
        for at in self.comment..self.comment + count {
            let (start, end) = (self.comments[at].span.start as usize, self.comments[at].span.end as usize);
            let Comment { kind, text, .. } = &self.comments[at];
            // A doc comment belongs to what follows, wherever it stands.
            let same_line = self.after_token && !self.text[self.end..start].contains('\n');
            let trailing = same_line && *kind == CommentKind::Line;
            self.held.push(Remark { kind: *kind, text: text.clone(), trailing, blank: self.is_blank(start) });
            self.end = end;
            self.after_token = false;
        }
        self.comment += count;
    }

    /// Whether an empty line stands between what was passed last and a place.
    fn is_blank(&self, start: usize) -> bool {
        self.text[self.end..start].matches('\n').nth(1).is_some()
    }

    /// How many pairs of parentheses stand around an expression that begins with the next token.
    pub fn parentheses(&self, expr: &Expr) -> usize {
        let opens = |at: usize| self.lexemes.get(at).is_some_and(|lexeme| lexeme.token == Token::LParen);
        let mut at = self.next;
        if !opens(at) || self.lexemes[self.closers[at]].end != expr.span.end as usize {
            return 0;
        }
        while opens(at + 1) && self.closers[at + 1] + 1 == self.closers[at] {
            at += 1;
        }
        // The innermost pair of a tuple is its own.
        at - self.next + usize::from(!matches!(expr.kind, ExprKind::Tuple(_)))
    }
}
