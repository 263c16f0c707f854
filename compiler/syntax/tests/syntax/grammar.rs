//! Random texts from the grammar file itself: every production that the parser has, and no other.

use crate::generator::Generator;
use std::collections::BTreeMap;

/// A symbol on the right side of a production.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Symbol {
    Token(String),
    /// A rule by its name, arguments included: `Comma<Param>`.
    Rule(String),
    Optional(Vec<Symbol>),
    Repeated(Box<Symbol>),
}

/// A production: its symbols in order.
type Production = Vec<Symbol>;

/// A terminal of a production: its rule, which of the rule's productions, which terminal of it.
pub type Position = (String, usize, usize);

/// A token of a random text, and where the grammar says so.
pub struct Derived {
    pub text: String,
    pub position: Position,
}

/// The grammar of one item.
pub struct Grammar {
    rules: BTreeMap<String, Vec<Production>>,
    heights: BTreeMap<String, usize>,
    /// How often each production was taken.
    pub taken: BTreeMap<(String, usize), usize>,
}

/// Stands in texts where a syntax error was; no source can say it.
const HOLE: &str = "hole";

/// After so many tokens an item is brought to its end.
const TOKENS: usize = 100;

impl Grammar {
    /// Reads the file that the parser is generated from.
    pub fn read() -> Self {
        let text = include_str!("../../src/grammar.lalrpop");
        let rules = Reader::new(text).rules();
        let mut grammar = Self { rules: BTreeMap::new(), heights: BTreeMap::new(), taken: BTreeMap::new() };
        grammar.add("Item", &rules);
        for (name, productions) in &grammar.rules {
            grammar.taken.extend((0..productions.len()).map(|i| ((name.clone(), i), 0)));
        }
        // The height of a rule is that of its lowest tree; known once nothing gets lower.
        loop {
            let before = grammar.heights.clone();
            for (name, productions) in &grammar.rules {
                if let Some(least) = productions.iter().filter_map(|p| grammar.height(p)).min() {
                    grammar.heights.insert(name.clone(), least + 1);
                }
            }
            if before == grammar.heights {
                return grammar;
            }
        }
    }

    /// Adds a rule and all it needs; arguments are put in place of parameters.
    fn add(&mut self, name: &str, raw: &BTreeMap<String, (Option<String>, Vec<Production>)>) {
        if self.rules.contains_key(name) {
            return;
        }
        let (base, argument) = match name.split_once('<') {
            Some((base, rest)) => (base, rest.strip_suffix('>')),
            None => (name, None),
        };
        let (parameter, productions) = &raw[base];
        assert_eq!(parameter.is_some(), argument.is_some(), "{name}");
        let put = |text: &str| match (parameter, argument) {
            (Some(parameter), Some(argument)) if text == parameter => argument.to_owned(),
            (Some(parameter), Some(argument)) => text.replace(&format!("<{parameter}>"), &format!("<{argument}>")),
            _ => text.to_owned(),
        };
        let productions: Vec<Production> =
            productions.iter().map(|p| p.iter().map(|symbol| symbol.renamed(&put)).collect()).collect();
        self.rules.insert(name.to_owned(), productions.clone());
        productions.iter().flatten().for_each(|symbol| symbol.rules(&mut |rule| self.add(rule, raw)));
    }

    fn height(&self, production: &[Symbol]) -> Option<usize> {
        production.iter().try_fold(0, |most, symbol| {
            let height = match symbol {
                Symbol::Rule(rule) => *self.heights.get(rule)?,
                _ => 0,
            };
            Some(most.max(height))
        })
    }

    /// A random item.
    pub fn item(&mut self, choices: &mut Generator) -> Vec<Derived> {
        let mut out = Vec::new();
        self.derive("Item", choices, &mut out);
        out
    }

    fn derive(&mut self, rule: &str, choices: &mut Generator, out: &mut Vec<Derived>) {
        let productions = self.rules[rule].clone();
        let all = 0..productions.len();
        let at = if let Some(new) = all.clone().find(|i| self.taken[&(rule.to_owned(), *i)] == 0) {
            new
        } else if out.len() > TOKENS {
            all.min_by_key(|i| self.height(&productions[*i])).unwrap()
        } else if choices.below(6) == 0 {
            all.min_by_key(|i| self.taken[&(rule.to_owned(), *i)]).unwrap()
        } else {
            likely(&productions, choices)
        };
        *self.taken.get_mut(&(rule.to_owned(), at)).unwrap() += 1;
        let mut terminal = 0;
        for symbol in &productions[at] {
            self.symbol(symbol, (rule, at, &mut terminal), choices, out);
        }
    }

    fn symbol(
        &mut self,
        symbol: &Symbol,
        place: (&str, usize, &mut usize),
        choices: &mut Generator,
        out: &mut Vec<Derived>,
    ) {
        let (rule, at, terminal) = place;
        match symbol {
            Symbol::Token(token) => {
                out.push(Derived { text: spelled(token, choices), position: (rule.to_owned(), at, *terminal) });
                *terminal += 1;
            }
            Symbol::Rule(inner) => self.derive(inner, choices, out),
            Symbol::Optional(inner) => {
                if choices.below(2) == 0 {
                    for symbol in inner {
                        self.symbol(symbol, (rule, at, terminal), choices, out);
                    }
                }
            }
            Symbol::Repeated(inner) => match &**inner {
                Symbol::Rule(clause) if clause.ends_with("Clause") => self.clauses(clause, choices, out),
                inner => {
                    for _ in 0..choices.below(3) {
                        self.symbol(inner, (rule, at, terminal), choices, out);
                    }
                }
            },
        }
    }

    /// Clauses in any order, none twice, and `edge` among those of a message.
    fn clauses(&mut self, rule: &str, choices: &mut Generator, out: &mut Vec<Derived>) {
        let productions = self.rules[rule].clone();
        let mut left: Vec<usize> = (0..productions.len()).collect();
        while !left.is_empty() {
            let at = left.remove(choices.below(left.len()));
            let needed = productions[at][0] == Symbol::Token("edge".into());
            if !needed && choices.below(3) == 0 {
                continue;
            }
            *self.taken.get_mut(&(rule.to_owned(), at)).unwrap() += 1;
            let mut terminal = 0;
            for symbol in &productions[at] {
                self.symbol(symbol, (rule, at, &mut terminal), choices, out);
            }
        }
    }

    /// All terminals of all productions.
    pub fn positions(&self) -> Vec<Position> {
        fn count(symbols: &[Symbol]) -> usize {
            let one = |symbol: &Symbol| match symbol {
                Symbol::Token(_) => 1,
                Symbol::Optional(inner) => count(inner),
                _ => 0,
            };
            symbols.iter().map(one).sum()
        }
        let of = |(name, productions): (&String, &Vec<Production>)| {
            let name = name.clone();
            productions.iter().map(|p| count(p)).enumerate().collect::<Vec<_>>().into_iter().flat_map(move |(at, n)| {
                let name = name.clone();
                (0..n).map(move |terminal| (name.clone(), at, terminal))
            })
        };
        self.rules.iter().flat_map(of).collect()
    }
}

/// One of several productions, seldom one of many parts: trees would get as large as they may.
fn likely(productions: &[Production], choices: &mut Generator) -> usize {
    let parts = |production: &Production| production.iter().filter(|s| matches!(s, Symbol::Rule(_))).count();
    let weights: Vec<usize> = productions.iter().map(|p| 1000 / (parts(p) + 1).pow(2)).collect();
    let mut left = choices.below(weights.iter().sum());
    weights.iter().position(|weight| left.checked_sub(*weight).map(|rest| left = rest).is_none()).unwrap()
}

/// A token as it may be written.
fn spelled(token: &str, choices: &mut Generator) -> String {
    match token {
        "ident" => {
            (*choices.pick(&["x", "T", "_9", "f32", "inf", "a_long_name", "another_long_name_of_a_value"])).into()
        }
        "int" => (*choices.pick(&["0", "7", "1_000", "42", "00"])).into(),
        "float" => (*choices.pick(&["0.5", "1e-10", "2.5E+3", "3.141_592_6", "1_0.0"])).into(),
        other => other.into(),
    }
}

impl Symbol {
    fn renamed(&self, put: &dyn Fn(&str) -> String) -> Symbol {
        match self {
            Symbol::Token(token) => Symbol::Token(token.clone()),
            Symbol::Rule(rule) => Symbol::Rule(put(rule)),
            Symbol::Optional(inner) => Symbol::Optional(inner.iter().map(|symbol| symbol.renamed(put)).collect()),
            Symbol::Repeated(inner) => Symbol::Repeated(Box::new(inner.renamed(put))),
        }
    }

    fn rules(&self, each: &mut dyn FnMut(&str)) {
        match self {
            Symbol::Token(_) => {}
            Symbol::Rule(rule) => each(rule),
            Symbol::Optional(inner) => inner.iter().for_each(|symbol| symbol.rules(each)),
            Symbol::Repeated(inner) => inner.rules(each),
        }
    }
}

/// Reads as much of the grammar file's notation as the file uses.
struct Reader {
    words: Vec<String>,
    at: usize,
}

impl Reader {
    fn new(text: &str) -> Self {
        let (_, rules) = text.split_once("\n}\n").unwrap();
        let mut words = Vec::new();
        for line in rules.lines().filter(|line| !line.trim_start().starts_with("//")) {
            let mut rest = line.trim_start();
            while let Some(first) = rest.chars().next() {
                let length = match first {
                    '"' => rest[1..].find('"').unwrap() + 2,
                    c if c.is_alphanumeric() || c == '_' => {
                        rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
                    }
                    '=' if rest.starts_with("=>") => 2,
                    c => c.len_utf8(),
                };
                words.push(rest[..length].to_owned());
                rest = rest[length..].trim_start();
            }
        }
        Self { words, at: 0 }
    }

    fn peek(&self) -> &str {
        self.words.get(self.at).map_or("", |word| word)
    }

    fn word(&mut self) -> String {
        self.at += 1;
        self.words[self.at - 1].clone()
    }

    fn expect(&mut self, word: &str) {
        assert_eq!(self.word(), word, "word {} of the grammar", self.at);
    }

    /// Rules by name: the parameter, if there is one, and the productions that need no hole.
    fn rules(mut self) -> BTreeMap<String, (Option<String>, Vec<Production>)> {
        let mut rules = BTreeMap::new();
        while self.at < self.words.len() {
            if self.peek() == "pub" {
                self.word();
            }
            let name = self.word();
            let parameter = (self.peek() == "<").then(|| {
                self.word();
                let parameter = self.word();
                self.expect(">");
                parameter
            });
            while self.word() != "=" {}
            let end = if self.peek() == "{" { self.word() } else { ";".to_owned() };
            let mut productions = Vec::new();
            while !matches!(self.peek(), "}" | ";") {
                productions.push(self.production());
                if self.peek() == "," {
                    self.word();
                }
            }
            if end == "{" {
                self.expect("}");
            }
            if self.peek() == ";" {
                self.word();
            }
            productions.retain(|production| !production.contains(&Symbol::Token(HOLE.to_owned())));
            rules.insert(name, (parameter, productions));
        }
        rules
    }

    fn production(&mut self) -> Production {
        let mut production = Vec::new();
        while !matches!(self.peek(), "=>" | "," | ";" | "}") {
            production.extend(self.symbol());
        }
        if self.peek() == "=>" {
            self.action();
        }
        production
    }

    /// Passes an action: to the comma or semicolon outside of its brackets.
    fn action(&mut self) {
        let mut depth = 0;
        loop {
            match self.peek() {
                "(" | "[" | "{" => depth += 1,
                "," | ";" | "}" if depth == 0 => return,
                ")" | "]" | "}" => depth -= 1,
                _ => {}
            }
            self.word();
        }
    }

    /// A symbol; places are none.
    fn symbol(&mut self) -> Option<Symbol> {
        let symbol = match self.word().as_str() {
            "@" => {
                self.word();
                return None;
            }
            "<" => {
                if self.peek() == "mut" {
                    self.word();
                }
                if self.words[self.at + 1] == ":" {
                    self.at += 2;
                }
                let symbol = self.symbol();
                self.expect(">");
                return symbol;
            }
            "(" => {
                let mut inner = Vec::new();
                while self.peek() != ")" {
                    inner.extend(self.symbol());
                }
                self.word();
                self.expect("?");
                return Some(Symbol::Optional(inner));
            }
            token if token.starts_with('"') => Symbol::Token(token.trim_matches('"').to_owned()),
            rule => {
                let mut name = rule.to_owned();
                if self.peek() == "<" {
                    self.word();
                    name = format!("{name}<{}>", self.word());
                    self.expect(">");
                }
                Symbol::Rule(name)
            }
        };
        match self.peek() {
            "?" => {
                self.word();
                Some(Symbol::Optional(vec![symbol]))
            }
            "*" => {
                self.word();
                Some(Symbol::Repeated(Box::new(symbol)))
            }
            _ => Some(symbol),
        }
    }
}
