//! What could have stood where an error is: the grammar's terminals, gathered into words a user knows.

use crate::token::Token;

/// The terminals that could have stood somewhere, as the grammar spells them.
pub(crate) struct Expected<'a>(Vec<&'a str>);

/// Every terminal of the grammar with a token of its kind.
pub(crate) const TERMINALS: [(&str, Token<'static>); 66] = [
    ("ident", Token::Ident("x")),
    ("int", Token::Int("0")),
    ("float", Token::Float("0.0")),
    ("message", Token::Message),
    ("program", Token::Program),
    ("fn", Token::Fn),
    ("reducer", Token::Reducer),
    ("type", Token::Type),
    ("vjp", Token::Vjp),
    ("const", Token::Const),
    ("let", Token::Let),
    ("if", Token::If),
    ("else", Token::Else),
    ("loop", Token::Loop),
    ("while", Token::While),
    ("for", Token::For),
    ("in", Token::In),
    ("true", Token::True),
    ("false", Token::False),
    ("(", Token::LParen),
    (")", Token::RParen),
    ("[", Token::LBracket),
    ("]", Token::RBracket),
    ("{", Token::LBrace),
    ("}", Token::RBrace),
    (",", Token::Comma),
    (";", Token::Semi),
    (":", Token::Colon),
    (".", Token::Dot),
    ("=", Token::Assign),
    ("->", Token::Arrow),
    ("@", Token::At),
    ("+", Token::Plus),
    ("-", Token::Minus),
    ("*", Token::Star),
    ("/", Token::Slash),
    ("%", Token::Percent),
    ("==", Token::EqEq),
    ("!=", Token::NotEq),
    ("<", Token::Less),
    ("<=", Token::LessEq),
    (">", Token::Greater),
    (">=", Token::GreaterEq),
    ("&&", Token::AndAnd),
    ("||", Token::OrOr),
    ("!", Token::Not),
    ("hole", Token::Hole),
    ("edge", Token::WordEdge),
    ("edges", Token::WordEdges),
    ("reduce", Token::WordReduce),
    ("node", Token::WordNode),
    ("state", Token::WordState),
    ("lift", Token::WordLift),
    ("step", Token::WordStep),
    ("combine", Token::WordCombine),
    ("finalize", Token::WordFinalize),
    ("empty", Token::WordEmpty),
    ("laws", Token::WordLaws),
    ("adjoint", Token::WordAdjoint),
    ("graph", Token::WordGraph),
    ("set", Token::WordSet),
    ("at", Token::WordAt),
    ("most", Token::WordMost),
    ("wrt", Token::WordWrt),
    ("with", Token::WordWith),
    ("value", Token::WordValue),
];

const EXPRESSION: [&str; 11] = ["int", "float", "true", "false", "(", "[", "{", "if", "loop", "-", "!"];
const OPERATORS: [&str; 17] =
    ["+", "-", "*", "/", "%", "@", "==", "!=", "<", "<=", ">", ">=", "&&", "||", "(", "[", "."];

impl<'a> Expected<'a> {
    /// From the terminals.
    pub fn new(terminals: &'a [String]) -> Self {
        Self(terminals.iter().map(String::as_str).filter(|name| *name != "hole").collect())
    }

    /// Whether a terminal, as spelled in the grammar, could have stood there.
    pub fn has(&self, terminal: &str) -> bool {
        self.0.contains(&terminal)
    }

    /// Whether exactly this one could.
    pub fn is_only(&self, terminal: &str) -> bool {
        self.0 == [terminal]
    }

    /// Whether an expression could begin there.
    pub fn expression(&self) -> bool {
        self.has("float")
    }

    /// Whether an operator could go on there.
    pub fn operator(&self) -> bool {
        self.has("+")
    }

    /// Whether a name could stand there, and no other expression.
    pub fn name(&self) -> bool {
        self.has("edge") && self.has("ident") && !self.expression()
    }

    /// Whether a type could begin there.
    pub fn type_name(&self) -> bool {
        self.has("ident") && self.has("graph") && !self.has("edge")
    }

    /// The words with a meaning of their own there.
    pub fn words(&self) -> impl Iterator<Item = &'a str> + '_ {
        let any_name = self.has("ident");
        let is_word = |name: &&str| name.bytes().all(|byte| byte.is_ascii_lowercase());
        self.0.iter().copied().filter(is_word).filter(move |_| !any_name)
    }

    /// As in "expected one of `,`, `)`, or an operator".
    pub fn sentence(&self) -> String {
        let mut rest = self.0.clone();
        let mut classes = Vec::new();
        if self.expression() {
            rest.retain(|name| !EXPRESSION.contains(name) && !is_word(name) && *name != "@");
            classes.push("an expression");
        } else if self.has("vjp") && self.has("int") {
            rest.clear();
            classes.push("a field");
        } else if self.name() {
            rest.retain(|name| !is_word(name) && *name != "@");
            classes.push("a name");
        } else if self.type_name() {
            rest.retain(|name| !["ident", "graph", "{", "(", "edges"].contains(name));
            classes.push("a type");
        }
        if self.operator() {
            rest.retain(|name| !OPERATORS.contains(name));
            classes.push("an operator");
        }
        let mut parts: Vec<String> = rest.iter().map(|name| format!("`{name}`")).collect();
        parts.extend(classes.into_iter().map(str::to_owned));
        join(&parts)
    }
}

/// Whether a terminal is a name or a word that can be one.
fn is_word(terminal: &str) -> bool {
    let reserved = ["if", "loop", "else", "while", "for", "in", "let"];
    terminal.bytes().all(|byte| byte.is_ascii_lowercase()) && !reserved.contains(&terminal)
}

fn join(parts: &[String]) -> String {
    match parts {
        [] => "nothing more".to_owned(),
        [one] => one.clone(),
        [one, other] => format!("{one} or {other}"),
        [most @ .., last] => format!("one of {}, or {last}", most.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_the_grammars() {
        let grammar = include_str!("grammar.lalrpop");
        let declared: Vec<&str> = grammar
            .lines()
            .filter_map(|line| line.trim().split_once(" => Token::"))
            .map(|(name, _)| name.trim_matches('"'))
            .collect();
        assert_eq!(declared, TERMINALS.map(|(name, _)| name));
    }

    #[test]
    fn a_sentence_names_classes_instead_of_their_members() {
        let all = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let expression: Vec<String> = all(&["ident", "edge", "@", "let"]).into_iter().chain(all(&EXPRESSION)).collect();
        assert_eq!(Expected::new(&expression).sentence(), "`let` or an expression");
        let after: Vec<String> = all(&[")", ","]).into_iter().chain(all(&OPERATORS)).collect();
        assert_eq!(Expected::new(&after).sentence(), "one of `)`, `,`, or an operator");
        assert_eq!(Expected::new(&all(&["in", "hole"])).sentence(), "`in`");
    }

    /// The words of a rule of the editors' grammar: those between its parentheses.
    fn editor_words(grammar: &serde_json::Value, rule: &str) -> Vec<String> {
        let pattern = grammar["repository"][rule]["match"].as_str().unwrap();
        let inside = pattern.strip_prefix("\\b(").unwrap().split_once(')').unwrap().0;
        inside.split('|').map(str::to_owned).collect()
    }

    #[test]
    fn editors_know_the_words_of_the_language() {
        let text = include_str!("../../../editors/vscode/syntaxes/tiga.tmLanguage.json");
        let grammar: serde_json::Value = serde_json::from_str(text).unwrap();
        let words = |is: fn(Token<'static>) -> bool| -> Vec<&str> {
            TERMINALS.iter().filter(|(name, token)| *name != "ident" && is(*token)).map(|(name, _)| *name).collect()
        };
        assert_eq!(editor_words(&grammar, "keywords"), words(Token::is_reserved));
        assert_eq!(editor_words(&grammar, "clauses"), words(Token::is_name));
        assert_eq!(editor_words(&grammar, "items").len(), words(Token::starts_item).len());
    }
}
