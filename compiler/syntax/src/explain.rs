//! From where the grammar stopped to what a user reads: the mistake behind it, and the token that would mend it.

use crate::error::{SyntaxError, clip};
use crate::expected::Expected;
use crate::recovery::{Failure, ItemText, Repair};
use crate::token::{Lexeme, Token};
use tiga_source::{Diagnostic, FileId, Span, nearest};

/// What other libraries call the argument `axis`.
pub const FOREIGN_AXES: [&str; 3] = ["dim", "dims", "axes"];

/// What to report (nothing where the scanner already has), and a repair to try first.
pub(crate) struct Explanation<'i> {
    pub diagnostic: Option<Diagnostic>,
    pub repair: Option<Repair<'i>>,
}

/// A failure with what stands around it.
struct Scene<'s, 'i> {
    input: &'s ItemText<'i>,
    lexemes: &'s [Lexeme<'i>],
    index: usize,
    expected: Expected<'s>,
}

/// Explains a failure: the rules that know a mistake are asked in turn, else it is what was expected and found.
pub(crate) fn explain<'i>(input: &ItemText<'i>, lexemes: &[Lexeme<'i>], failure: &Failure) -> Explanation<'i> {
    let scene = Scene { input, lexemes, index: failure.index, expected: Expected::new(&failure.expected) };
    if matches!(scene.found(), Some(Token::Unknown | Token::Hole)) {
        return Explanation { diagnostic: None, repair: None };
    }
    let rules = [
        Scene::foreign_word,
        Scene::foreign_sign,
        Scene::arguments_in_angles,
        Scene::chained_comparison,
        Scene::reducer_called,
        Scene::slice_in_index,
        Scene::unnamed_result,
        Scene::assignment,
        Scene::wrong_sign,
        Scene::reserved_word,
        Scene::missing_value,
        Scene::missing_semicolon,
    ];
    rules.iter().find_map(|rule| rule(&scene)).unwrap_or_else(|| scene.unexpected())
}

/// Text where only items may stand.
pub(crate) fn stray(file: FileId, text: &str, lexeme: &Lexeme<'_>) -> Diagnostic {
    let word = &text[lexeme.start..lexeme.end];
    let span = Span::new(file, lexeme.start, lexeme.end);
    let diagnostic = SyntaxError::StrayText { found: format!("`{}`", clip(word)) }.at(span);
    let keywords = ["message", "reducer", "program", "fn", "vjp", "type", "const"];
    let advice = match word {
        "def" | "func" | "function" | "proc" => "functions are written `fn`, exported entry points `program`",
        "let" | "var" | "static" | "val" => "a constant of the file is written `const name: type = value`",
        "import" | "use" | "include" | "from" | "mod" => "a model is one file: there are no imports",
        "struct" | "class" | "record" | "enum" => "records need no declaration: a message names the fields it reads",
        "export" | "pub" => "every `program` is exported",
        ";" => "items are not separated",
        _ => match similar(word, keywords) {
            Some(keyword) => return diagnostic.suggest(span, "an item begins with a similar word", keyword),
            None => "items begin with `message`, `reducer`, `program`, `fn`, `vjp`, `type` or `const`",
        },
    };
    diagnostic.help(advice)
}

/// The nearest spelling; what is longer than any keyword has none.
fn similar<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() <= 16 { nearest(word, candidates) } else { None }
}

impl<'i> Scene<'_, 'i> {
    fn found(&self) -> Option<Token<'i>> {
        self.lexemes.get(self.index).map(|lexeme| lexeme.token)
    }

    /// The token `back` places before the failure.
    fn before(&self, back: usize) -> Option<Token<'i>> {
        self.index.checked_sub(back).map(|i| self.lexemes[i].token)
    }

    fn after(&self) -> Option<Token<'i>> {
        self.lexemes.get(self.index + 1).map(|lexeme| lexeme.token)
    }

    /// The place of the failure: of the token, or of what follows the item.
    fn span(&self) -> Span {
        match self.lexemes.get(self.index).or(self.input.next.as_ref()) {
            Some(lexeme) => Span::new(self.input.file, lexeme.start, lexeme.end),
            None => Span::new(self.input.file, self.input.text.len(), self.input.text.len()),
        }
    }

    fn span_at(&self, index: usize) -> Span {
        let lexeme = &self.lexemes[index];
        Span::new(self.input.file, lexeme.start, lexeme.end)
    }

    fn span_before(&self, back: usize) -> Span {
        self.span_at(self.index.saturating_sub(back))
    }

    fn text(&self, span: Span) -> &'i str {
        &self.input.text[span.start as usize..span.end as usize]
    }

    /// What stands there, for a sentence.
    fn found_text(&self) -> String {
        match self.lexemes.get(self.index).or(self.input.next.as_ref()) {
            Some(lexeme) if lexeme.start == lexeme.end => "the end of the item".to_owned(),
            Some(lexeme) => format!("`{}`", clip(&self.input.text[lexeme.start..lexeme.end])),
            None => "the end of the file".to_owned(),
        }
    }

    fn replace(&self, from: usize, to: usize, token: Option<Token<'i>>) -> Option<Repair<'i>> {
        Some(Repair { range: from..to, token })
    }

    /// Words that other languages have where this one has an operator or nothing.
    fn foreign_word(&self) -> Option<Explanation<'i>> {
        let i = self.index;
        let foreign = |word: &str| SyntaxError::ForeignWord { word: word.to_owned() };
        if let (Some(Token::Ident(word)), true) = (self.found(), self.expected.operator() || self.expected.has("else"))
        {
            let (advice, sign) = match word {
                "and" => ("logical and is `&&`", Some(("&&", Token::AndAnd))),
                "or" => ("logical or is `||`", Some(("||", Token::OrOr))),
                "as" => ("conversions are written as calls: `f32(x)`", None),
                "elif" | "elsif" | "elseif" => ("write `else if`", None),
                "is" => ("equality is `==`; a NaN is found by `isnan(x)`", None),
                _ => ("", None),
            };
            if !advice.is_empty() {
                let diagnostic = foreign(word).at(self.span());
                let (diagnostic, repair) = match sign {
                    Some((text, token)) => {
                        (diagnostic.suggest(self.span(), advice, text), self.replace(i, i + 1, Some(token)))
                    }
                    None => (diagnostic.help(advice), None),
                };
                return Some(Explanation { diagnostic: Some(diagnostic), repair });
            }
        }
        let Some(Token::Ident(word)) = self.before(1) else { return None };
        let at = self.span_before(1);
        let (advice, repair) = match word {
            "not" => ("logical not is `!`", self.replace(i - 1, i, Some(Token::Not))),
            "return" => ("a block's value is its last expression", self.replace(i - 1, i, None)),
            "mut" if self.before(2) == Some(Token::Let) => {
                ("values never change; a changing one is carried by a `loop`", self.replace(i - 1, i, None))
            }
            "var" | "val" | "auto" => ("values are named by `let`", self.replace(i - 1, i, Some(Token::Let))),
            "lambda" | "def" | "func" | "function" => ("functions are items, written `fn`", None),
            _ => return None,
        };
        Some(Explanation { diagnostic: Some(foreign(word).at(at).help(advice)), repair })
    }

    /// Pairs of signs that other languages write as one operator.
    fn foreign_sign(&self) -> Option<Explanation<'i>> {
        // The second sign is the first that fails, except in `::`, where the first one already does.
        let double_colon = self.found()? == Token::Colon && self.after() == Some(Token::Colon);
        let (first, second) =
            if double_colon { (Token::Colon, Token::Colon) } else { (self.before(1)?, self.found()?) };
        let second_at = if double_colon { self.index + 1 } else { self.index };
        let (left, right) = (self.span_at(second_at - 1), self.span_at(second_at));
        let advice = match (first, second) {
            (Token::Star, Token::Star) => "powers are written `pow(x, y)`",
            (Token::Plus | Token::Minus | Token::Star | Token::Slash | Token::Percent | Token::At, Token::Assign) => {
                "values never change; a changing one is carried by a `loop`"
            }
            (Token::Assign, Token::Greater) => "write `->` before a result, `:` after a name",
            (Token::Colon, Token::Colon) => "fields and derived programs follow a dot: `heat.vjp`",
            _ => return None,
        };
        if left.end != right.start {
            return None;
        }
        let span = left.to(right);
        let error = SyntaxError::ForeignWord { word: self.text(span).to_owned() };
        Some(Explanation { diagnostic: Some(error.at(span).help(advice)), repair: None })
    }

    /// `top<3>(h)`, which reads as two comparisons.
    fn arguments_in_angles(&self) -> Option<Explanation<'i>> {
        let second = self.found()? == Token::Greater && self.expected.has("&&") && !self.expected.has("==");
        let (Some(Token::Ident(name)), Some(Token::Less)) = (self.before(3), self.before(2)) else { return None };
        if !second || self.after() != Some(Token::LParen) {
            return None;
        }
        let error = SyntaxError::ChainedComparison.at(self.span()).label("a second comparison");
        let diagnostic = match name {
            "top" => error.help("`top<K>` is a reducer and stands after `reduce`, in a message: `reduce top<3>`"),
            _ => error.help(format!("a call has no arguments in `<…>`, they follow from the others: `{name}(…)`")),
        };
        Some(Explanation { diagnostic: Some(diagnostic), repair: None })
    }

    /// `reduce top(3)`.
    fn reducer_called(&self) -> Option<Explanation<'i>> {
        let after_name = self.before(1).is_some_and(Token::is_name) && self.before(2) == Some(Token::WordReduce);
        if self.found()? != Token::LParen || !after_name || !self.expected.has("<") {
            return None;
        }
        let error = SyntaxError::Unexpected { expected: self.expected.sentence(), found: self.found_text() };
        let diagnostic = error.at(self.span()).label("unexpected here");
        let number = self.lexemes.get(self.index + 1).filter(|lexeme| matches!(lexeme.token, Token::Int(_)));
        let closes = self.lexemes.get(self.index + 2).is_some_and(|lexeme| lexeme.token == Token::RParen);
        let diagnostic = match number.filter(|_| closes) {
            Some(number) => {
                let span = self.span().to(self.span_at(self.index + 2));
                let text = format!("<{}>", &self.input.text[number.start..number.end]);
                diagnostic.suggest(span, "the number of a reducer stands in `<…>`", text)
            }
            None => diagnostic.help("a reducer is only named: its values are those that the edge function gives"),
        };
        Some(Explanation { diagnostic: Some(diagnostic), repair: None })
    }

    /// `h[:, 0:2]`, said once for all colons in the brackets.
    fn slice_in_index(&self) -> Option<Explanation<'i>> {
        if self.found()? != Token::Colon || !(self.expected.expression() || self.expected.operator()) {
            return None;
        }
        let mut depth = 0usize;
        let open = self.lexemes[..self.index].iter().rposition(|lexeme| match lexeme.token {
            token if token.is_closer() => {
                depth += 1;
                false
            }
            token if token.closer().is_some() && depth > 0 => {
                depth -= 1;
                false
            }
            token => token.closer().is_some(),
        })?;
        if self.lexemes[open].token != Token::LBracket {
            return None;
        }
        let from = self.lexemes[open].end;
        if self.input.text[from..self.span().start as usize].contains(':') {
            return Some(Explanation { diagnostic: None, repair: None });
        }
        let error = SyntaxError::Unexpected { expected: self.expected.sentence(), found: self.found_text() };
        let diagnostic = error.at(self.span()).label("unexpected here");
        let help = "a part of an axis is `slice(x, begin, end, axis: -1)`; `take(x, 0, axis: -1)` is one element of it";
        Some(Explanation { diagnostic: Some(diagnostic.help(help)), repair: None })
    }

    fn chained_comparison(&self) -> Option<Explanation<'i>> {
        use Token::*;
        let compares = matches!(self.found()?, EqEq | NotEq | Less | LessEq | Greater | GreaterEq);
        let open = self.expected.has("&&") && !self.expected.has("==");
        let middle = self.span_before(1);
        let alone = self.before(2).is_some_and(|t| matches!(t, EqEq | NotEq | Less | LessEq | Greater | GreaterEq));
        (compares && open).then(|| {
            let error = SyntaxError::ChainedComparison.at(self.span()).label("a second comparison");
            let diagnostic = match alone {
                true => error.suggest(middle.after(), "join two comparisons", format!(" && {}", self.text(middle))),
                false => error.help("join two comparisons: `a < b && b < c`"),
            };
            Explanation { diagnostic: Some(diagnostic), repair: None }
        })
    }

    /// A program's result without a name.
    fn unnamed_result(&self) -> Option<Explanation<'i>> {
        if self.lexemes.first()?.token != Token::Program {
            return None;
        }
        let bare = self.before(1)? == Token::Arrow && self.expected.is_only("(");
        let arrow = self.lexemes[..self.index].iter().rposition(|lexeme| lexeme.token == Token::Arrow);
        let inside = arrow.is_some_and(|arrow| {
            let between = &self.lexemes[arrow + 1..self.index];
            between.first().is_some_and(|first| first.token == Token::LParen)
                && !between.iter().any(|lexeme| matches!(lexeme.token, Token::LBrace | Token::RParen))
        });
        if !(bare || inside && self.expected.is_only(":")) {
            return None;
        }
        let span = if bare { self.span() } else { self.span_before(1) };
        Some(Explanation { diagnostic: Some(SyntaxError::UnnamedResult.at(span)), repair: None })
    }

    /// `x = x + 1.0;` where a statement or a block's value begins.
    fn assignment(&self) -> Option<Explanation<'i>> {
        let starts = matches!(self.before(2), Some(Token::Semi | Token::LBrace));
        let assigns = self.found() == Some(Token::Assign) && self.before(1).is_some_and(Token::is_name);
        if !(starts && assigns && self.expected.has("==")) || self.expected.has(":") {
            return None;
        }
        let name = self.span_before(1);
        let advice = format!("values do not change; name a new one: `let {} = …`", self.text(name));
        let error = SyntaxError::Assignment { name: self.text(name).to_owned() }.at(self.span());
        let i = self.index;
        // What ends with `;` reads on as a `let`; what does not is the block's value.
        let repair = match self.ends_statement() {
            true => self.replace(i - 1, i - 1, Some(Token::Let)),
            false => self.replace(i - 1, i + 1, None),
        };
        Some(Explanation { diagnostic: Some(error.help(advice)), repair })
    }

    /// Whether a `;` comes before what surrounds the failure closes.
    fn ends_statement(&self) -> bool {
        let mut depth = 0usize;
        for lexeme in &self.lexemes[self.index..] {
            match lexeme.token {
                Token::Semi if depth == 0 => return true,
                token if token.closer().is_some() => depth += 1,
                token if token.is_closer() && depth == 0 => return false,
                token if token.is_closer() => depth -= 1,
                _ => {}
            }
        }
        false
    }

    /// One of `=`, `:`, `==`, `->`, `,` where another stands.
    fn wrong_sign(&self) -> Option<Explanation<'i>> {
        let found = self.found()?;
        let has = |sign: &str| self.expected.has(sign);
        let (wrong, right, token, advice) = match found {
            Token::Assign if self.wants_type() => return None,
            Token::Assign if has(":") => ("=", ":", Token::Colon, "a name and its value or type are joined by `:`"),
            Token::Assign if has("==") => ("=", "==", Token::EqEq, "equality is `==`"),
            Token::EqEq if has("=") => ("==", "=", Token::Assign, "a name is bound by `=`"),
            Token::Colon if has("->") => (":", "->", Token::Arrow, "a result follows `->`"),
            Token::Comma if has("->") && has(">") => {
                (",", "->", Token::Arrow, "a graph leads from one set to another: `graph<U -> I>`")
            }
            Token::Semi if has(",") && !has(";") => (";", ",", Token::Comma, "a list is separated by `,`"),
            _ => return None,
        };
        let diagnostic = SyntaxError::WrongSign { expected: right, found: wrong }.at(self.span());
        // What other libraries call an axis: both are mended at once.
        let axis = matches!(self.before(1), Some(Token::Ident(name)) if FOREIGN_AXES.contains(&name));
        if (wrong, right) == ("=", ":") && axis && self.before(2) == Some(Token::Comma) {
            let span = self.span_before(1).to(self.span());
            let diagnostic = diagnostic.suggest(span, "an axis is named so", "axis: ");
            return Some(Explanation {
                diagnostic: Some(diagnostic),
                repair: self.replace(self.index, self.index + 1, Some(token)),
            });
        }
        // A colon stands right after its name, with a space behind it; an arrow has a space before it.
        let before = if right == "->" && wrong == "," { " " } else { "" };
        let from = if right == ":" { self.span_before(1).end } else { self.span().start };
        let span = Span { start: from, ..self.span() };
        let joined = right == ":" && !self.input.text[span.end as usize..].starts_with(char::is_whitespace);
        let behind = if joined { " " } else { "" };
        let diagnostic = diagnostic.suggest(span, advice, format!("{before}{right}{behind}"));
        let repair = self.replace(self.index, self.index + 1, Some(token));
        Some(Explanation { diagnostic: Some(diagnostic), repair })
    }

    /// Whether a type is missing: `const a = 1`, `state { m = 0 }`.
    fn wants_type(&self) -> bool {
        let state = self.lexemes[..self.index].iter().any(|lexeme| lexeme.token == Token::WordState);
        self.found() == Some(Token::Assign)
            && self.expected.is_only(":")
            && (self.lexemes[0].token == Token::Const || state)
    }

    fn reserved_word(&self) -> Option<Explanation<'i>> {
        let found = self.found().or(self.input.next.map(|next| next.token))?;
        let wanted = self.expected.name() || (self.expected.expression() && found.starts_item());
        if !found.is_reserved() || !wanted || !self.expected.has("ident") {
            return None;
        }
        let word = self.text(self.span()).to_owned();
        let repair = self.found().and_then(|_| self.replace(self.index, self.index + 1, Some(Token::Ident("_"))));
        let diagnostic = SyntaxError::ReservedWord { word: word.clone() }.at(self.span());
        let diagnostic = diagnostic.suggest(self.span(), "choose another name", format!("{word}_"));
        Some(Explanation { diagnostic: Some(diagnostic), repair })
    }

    /// A block that ends without a value, or with a `;` after it.
    fn missing_value(&self) -> Option<Explanation<'i>> {
        if self.found()? == Token::RBrace && self.expected.has("let") {
            return Some(Explanation {
                diagnostic: Some(SyntaxError::MissingValue.at(self.span()).label("a value is missing before this")),
                repair: None,
            });
        }
        if self.found()? != Token::Semi || !self.expected.has("}") || !self.expected.operator() {
            return None;
        }
        if self.after() == Some(Token::RBrace) {
            let diagnostic = SyntaxError::MissingValue.at(self.span()).suggest(self.span(), "remove this `;`", "");
            return Some(Explanation {
                diagnostic: Some(diagnostic),
                repair: self.replace(self.index, self.index + 1, None),
            });
        }
        let error = SyntaxError::Unexpected { expected: self.expected.sentence(), found: "`;`".to_owned() };
        let advice = "only `let` statements end with `;`: name the value, `let x = …;`, or leave it out";
        Some(Explanation { diagnostic: Some(error.at(self.span()).help(advice)), repair: None })
    }

    fn missing_semicolon(&self) -> Option<Explanation<'i>> {
        let found = *self.lexemes.get(self.index)?;
        let starts_anew = found.first_on_line || matches!(found.token, Token::Let | Token::RBrace);
        if !self.expected.has(";") || !self.expected.operator() || !starts_anew {
            return None;
        }
        let end = self.span_before(1).end as usize;
        let here = Span::new(self.input.file, end, end);
        let error = SyntaxError::MissingSemicolon { found: self.found_text() };
        let diagnostic = error.at(here).also(self.span(), "unexpected here").suggest(here, "add `;` here", ";");
        Some(Explanation {
            diagnostic: Some(diagnostic),
            repair: self.replace(self.index, self.index, Some(Token::Semi)),
        })
    }

    /// What was expected and what was found, with advice where the place suggests some.
    fn unexpected(&self) -> Explanation<'i> {
        let error = SyntaxError::Unexpected { expected: self.expected.sentence(), found: self.found_text() };
        let mut diagnostic = error.at(self.span()).label("unexpected here");
        if let Some(Token::Ident(word)) = self.found()
            && let Some(near) = similar(word, self.expected.words())
        {
            diagnostic = diagnostic.suggest(self.span(), "a similar word can stand here", near);
        } else if self.found() == Some(Token::Less) && self.capital_graph() {
            diagnostic = diagnostic.suggest(self.span_before(1), "this type has small letters only", "graph");
        } else if let Some(advice) = self.advice() {
            diagnostic = diagnostic.help(advice);
        }
        // A list that only lacks its comma can be read on.
        let starts = self.found().is_some_and(|token| token.is_name() || token == Token::LBrace);
        let repair = if starts && self.expected.has(",") {
            if diagnostic.suggestions.is_empty() && diagnostic.help.is_empty() {
                diagnostic = diagnostic.suggest(self.span_before(1).after(), "separate them by `,`", ",");
            }
            self.replace(self.index, self.index, Some(Token::Comma))
        } else if self.found() == Some(Token::Semi) && self.in_clauses() {
            self.replace(self.index, self.index + 1, None)
        } else {
            None
        };
        Explanation { diagnostic: Some(diagnostic), repair }
    }

    /// `Graph<N>`, or another writing of it with capitals.
    fn capital_graph(&self) -> bool {
        matches!(self.before(1), Some(Token::Ident(name)) if name.eq_ignore_ascii_case("graph"))
    }

    /// Whether a clause of a message or reducer could begin.
    fn in_clauses(&self) -> bool {
        self.expected.has("reduce") || self.expected.has("lift")
    }

    fn advice(&self) -> Option<&'static str> {
        let (found, expected) = (self.found(), &self.expected);
        Some(match found {
            _ if expected.is_only("else") => "an `if` is a value and needs both branches: `if c { a } else { b }`",
            _ if expected.is_only("in") => "a loop ends with `in` and its value: `loop (x = a) … { … } in x`",
            Some(Token::LBrace) if self.before(1) == Some(Token::WordNode) => {
                "a node function names what was reduced: `node(total) { … }`"
            }
            Some(Token::LBrace) if expected.has("reduce") => {
                "each clause begins with its word: `edge { … }`, `reduce sum`, `node(total) { … }`"
            }
            Some(Token::LBrace) if expected.has("->") => {
                "say what it returns: `-> f32`, or `-> (out: f32)` of a program"
            }
            Some(Token::LBracket) if self.before(1) == Some(Token::RBracket) && !expected.operator() => {
                "all axes of a type stand in one list: `f32[N, F]`"
            }
            Some(Token::For) if expected.has("loop") => {
                "a loop names the values it carries: `loop (x = a) for i < 10 { … } in x`"
            }
            Some(Token::While) if expected.has("loop") => {
                "a loop names the values it carries: `loop (x = a) while c, at most 100 { … } in x`"
            }
            Some(Token::In) if expected.has("<") => "a counted loop is written `for i < n`",
            Some(Token::Let | Token::If | Token::Loop) if self.in_clauses() => {
                "statements stand in the blocks of clauses, such as `edge { … }`"
            }
            Some(Token::Semi) if self.in_clauses() => "clauses are not separated",
            Some(Token::Assign) if self.wants_type() => "its type stands before `=`: `name: f32 = …`",
            Some(Token::RParen | Token::Comma) if expected.is_only(":") => "parameters have types: `x: f32`",
            Some(Token::At) if expected.has("[") && !expected.operator() => {
                "placement stands before the name: `@paged x: f32[N]`"
            }
            _ => return None,
        })
    }
}
