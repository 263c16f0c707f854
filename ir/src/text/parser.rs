//! Reads modules. Types are taken as written; the verifier compares them with the ops' rules.

use super::lexer::{Token, position, tokens};
use super::{ParseError, ParseErrorKind};
use crate::{
    Attrs, Block, Body, Func, Inst, InstData, Key, Laws, Level, Module, Reducer, Region, Scalar, StateComponent,
    Symbols, TensorType, Type, Value, ops,
};
use indexmap::IndexMap;
use std::sync::Arc;
use tiga_abi::Symbol;
use tiga_source::Loc;

/// Deepest nesting of regions.
const MAX_NESTING: usize = 64;

/// Reads a module; `file` names it in errors.
///
/// # Errors
/// The first deviation from the grammar, with its place.
pub fn parse_module(file: &str, text: &str) -> Result<Module, ParseError> {
    let file: Arc<str> = file.into();
    let tokens = tokens(&file, text)?;
    let mut parser = Parser { file, text, tokens, at: 0, symbols: Symbols::new(), scopes: Vec::new(), depth: 0 };
    let mut module = Module::new();
    while parser.peek() != Token::End {
        let keyword = parser.word()?;
        if keyword == "reducer" {
            let reducer = parser.reducer()?;
            if let Some(old) = module.reducers.insert(reducer.name.clone(), reducer) {
                return Err(parser.duplicate(&old.name));
            }
        } else if let Some(level) = Level::ALL.into_iter().find(|l| l.name() == keyword) {
            let func = parser.func(level)?;
            if let Some(old) = module.add(func) {
                return Err(parser.duplicate(&old.name));
            }
        } else {
            return Err(parser.expected("`reducer`, `domain`, `host`, `loops` or `kernel`"));
        }
    }
    Ok(module)
}

/// The parser of one text.
pub(super) struct Parser<'a> {
    file: Arc<str>,
    text: &'a str,
    tokens: Vec<(Token<'a>, usize)>,
    at: usize,
    symbols: Symbols,
    /// Values by name, innermost region last.
    scopes: Vec<IndexMap<&'a str, Value>>,
    depth: usize,
}

/// Jumps of one region whose blocks may come later: instruction, target number, name.
type Pending<'a> = Vec<(Inst, usize, &'a str)>;

/// A jump target as written: its name, a placeholder, its arguments.
type NamedTarget<'a> = (&'a str, Block, Vec<Value>);

impl<'a> Parser<'a> {
    pub(super) fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    pub(super) fn peek(&self) -> Token<'a> {
        self.tokens[self.at].0
    }

    pub(super) fn bump(&mut self) {
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
    }

    fn error(&self, kind: ParseErrorKind) -> ParseError {
        ParseError { loc: position(&self.file, self.text, self.tokens[self.at].1), kind }
    }

    pub(super) fn expected(&self, what: &str) -> ParseError {
        self.error(ParseErrorKind::Expected { expected: what.to_owned(), found: self.peek().describe() })
    }

    /// The same at an earlier token. (Counting lines takes time, so that no error is made before it is one.)
    fn expected_at(&mut self, at: usize, what: &str) -> ParseError {
        self.at = at;
        self.expected(what)
    }

    pub(super) fn duplicate(&self, name: &str) -> ParseError {
        self.error(ParseErrorKind::Duplicate(name.to_owned()))
    }

    pub(super) fn eat(&mut self, punct: &str) -> bool {
        let found = matches!(self.peek(), Token::Punct(p) if p == punct);
        if found {
            self.bump();
        }
        found
    }

    pub(super) fn expect(&mut self, punct: &str) -> Result<(), ParseError> {
        if self.eat(punct) { Ok(()) } else { Err(self.expected(&format!("`{punct}`"))) }
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.peek() == Token::Word(word);
        if found {
            self.bump();
        }
        found
    }

    pub(super) fn expect_word(&mut self, word: &str) -> Result<(), ParseError> {
        if self.eat_word(word) { Ok(()) } else { Err(self.expected(&format!("`{word}`"))) }
    }

    pub(super) fn word(&mut self) -> Result<&'a str, ParseError> {
        match self.peek() {
            Token::Word(word) => {
                self.bump();
                Ok(word)
            }
            _ => Err(self.expected("a word")),
        }
    }

    pub(super) fn name(&mut self) -> Result<Symbol, ParseError> {
        match self.peek() {
            Token::Name(name) => {
                self.bump();
                Ok(name.into())
            }
            _ => Err(self.expected("a name (`@…`)")),
        }
    }

    pub(super) fn int(&mut self) -> Result<i64, ParseError> {
        match self.peek() {
            Token::Number(text) => {
                let value = text.parse().map_err(|_| self.expected("a whole number"))?;
                self.bump();
                Ok(value)
            }
            _ => Err(self.expected("a whole number")),
        }
    }

    pub(super) fn count(&mut self) -> Result<u64, ParseError> {
        let at = self.at;
        u64::try_from(self.int()?).map_err(|_| self.expected_at(at, "a number that is not negative"))
    }

    /// Items separated by commas up to (not including) `end`.
    pub(super) fn list<T>(
        &mut self,
        end: &str,
        mut item: impl FnMut(&mut Self) -> Result<T, ParseError>,
    ) -> Result<Vec<T>, ParseError> {
        let mut out = Vec::new();
        if matches!(self.peek(), Token::Punct(p) if p == end) {
            return Ok(out);
        }
        loop {
            out.push(item(self)?);
            if !self.eat(",") {
                return Ok(out);
            }
        }
    }

    fn loc(&mut self) -> Result<Loc, ParseError> {
        if !self.eat_word("loc") {
            return Ok(Loc::unknown());
        }
        self.expect("(")?;
        let Token::Text(file) = self.peek() else { return Err(self.expected("a file name in quotes")) };
        self.bump();
        self.expect(":")?;
        let line = self.place()?;
        self.expect(":")?;
        let column = self.place()?;
        self.expect(")")?;
        Ok(Loc::new(file.into(), line, column))
    }

    fn place(&mut self) -> Result<u32, ParseError> {
        let at = self.at;
        u32::try_from(self.count()?).map_err(|_| self.expected_at(at, "a line or column"))
    }

    fn func(&mut self, level: Level) -> Result<Func, ParseError> {
        let mut func = Func::new(self.name()?, level);
        func.symbols = self.symbol_list()?;
        self.symbols = func.symbols.clone();
        self.scopes = vec![IndexMap::new()];
        let entry = func.body.entry(func.region);
        self.params(&mut func.body, entry)?;
        if self.eat("->") {
            self.expect("(")?;
            func.results = self.list(")", |p| {
                let name = p.word()?.into();
                p.expect(":")?;
                Ok((name, p.ty()?))
            })?;
            self.expect(")")?;
        }
        if self.eat_word("of") {
            self.expect("(")?;
            func.of = Some(self.name()?);
            self.expect(")")?;
        }
        if self.eat_word("guard") {
            self.expect("(")?;
            func.guard = self.guard()?;
            self.expect(")")?;
        }
        if self.eat_word("scratch") {
            self.expect("(")?;
            func.scratch = self.size()?;
            self.expect(")")?;
        }
        self.expect("{")?;
        self.region_rest(&mut func.body, func.region)?;
        func.loc = self.loc()?;
        Ok(func)
    }

    fn reducer(&mut self) -> Result<Reducer, ParseError> {
        let name = self.name()?;
        let symbols = self.symbol_list()?;
        self.symbols = symbols.clone();
        self.expect_word("state")?;
        self.expect("(")?;
        let state = self.list(")", Parser::state_component)?;
        self.expect(")")?;
        self.expect("->")?;
        self.expect("(")?;
        let results = self.list(")", |p| {
            let ty = p.tensor_type()?;
            p.expect("=")?;
            let empty = p.scalar(ty.dtype)?;
            Ok((ty, empty))
        })?;
        self.expect(")")?;
        let laws = self.laws()?;
        let mut body = Body::new();
        self.expect("{")?;
        let lift = self.reducer_region(&mut body, "lift")?;
        let step =
            if self.peek() == Token::Word("step") { Some(self.reducer_region(&mut body, "step")?) } else { None };
        let combine = self.reducer_region(&mut body, "combine")?;
        let finalize = self.reducer_region(&mut body, "finalize")?;
        self.expect("}")?;
        let loc = self.loc()?;
        let (outs, empty): (Vec<TensorType>, Vec<Scalar>) = results.into_iter().unzip();
        Ok(Reducer { name, symbols, state, outs, empty, laws, body, lift, step, combine, finalize, loc })
    }

    fn state_component(&mut self) -> Result<StateComponent, ParseError> {
        let name = self.word()?.into();
        self.expect(":")?;
        let ty = self.tensor_type()?;
        let identity = if self.eat("=") { Some(self.scalar(ty.dtype)?) } else { None };
        Ok(StateComponent { name, ty, identity })
    }

    fn laws(&mut self) -> Result<Laws, ParseError> {
        self.expect_word("laws")?;
        self.expect("(")?;
        let mut laws = Laws::default();
        for word in self.list(")", Parser::word)? {
            match word {
                "associative" => laws.associative = true,
                "commutative" => laws.commutative = true,
                _ => return Err(self.expected("`associative` or `commutative`")),
            }
        }
        self.expect(")")?;
        Ok(laws)
    }

    fn reducer_region(&mut self, body: &mut Body, word: &str) -> Result<Region, ParseError> {
        self.expect_word(word)?;
        self.scopes = vec![IndexMap::new()];
        let region = body.add_region();
        self.params(body, body.entry(region))?;
        self.expect("{")?;
        self.region_rest(body, region)?;
        Ok(region)
    }

    fn params(&mut self, body: &mut Body, block: Block) -> Result<(), ParseError> {
        self.expect("(")?;
        for (name, ty) in self.list(")", Parser::param)? {
            let value = body.add_param(block, ty, given_name(name));
            self.define(name, value)?;
        }
        self.expect(")")
    }

    fn param(&mut self) -> Result<(&'a str, Type), ParseError> {
        let Token::Value(name) = self.peek() else { return Err(self.expected("a parameter (`%…`)")) };
        self.bump();
        self.expect(":")?;
        Ok((name, self.ty()?))
    }

    fn define(&mut self, name: &'a str, value: Value) -> Result<(), ParseError> {
        if self.scopes.iter().any(|scope| scope.contains_key(name)) {
            return Err(self.duplicate(&format!("%{name}")));
        }
        self.scopes.last_mut().expect("a function has a scope").insert(name, value);
        Ok(())
    }

    fn use_value(&mut self) -> Result<Value, ParseError> {
        let Token::Value(name) = self.peek() else { return Err(self.expected("a value (`%…`)")) };
        let found = self.scopes.iter().rev().find_map(|scope| scope.get(name).copied());
        let value = found.ok_or_else(|| self.error(ParseErrorKind::Undeclared(format!("%{name}"))))?;
        self.bump();
        Ok(value)
    }

    /// Instructions and blocks up to and including the closing brace.
    fn region_rest(&mut self, body: &mut Body, region: Region) -> Result<(), ParseError> {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return Err(self.error(ParseErrorKind::Nesting(MAX_NESTING)));
        }
        let mut block = body.entry(region);
        let mut blocks: IndexMap<&str, Block> = IndexMap::new();
        let mut pending = Pending::new();
        while !self.eat("}") {
            if let Token::Block(name) = self.peek() {
                self.bump();
                block = body.add_block(region);
                if blocks.insert(name, block).is_some() {
                    return Err(self.duplicate(&format!("^{name}")));
                }
                self.params(body, block)?;
                self.expect(":")?;
            } else {
                self.inst(body, block, &mut pending)?;
            }
        }
        for (inst, index, name) in pending {
            let target = blocks.get(name).copied();
            let target = target.ok_or_else(|| self.error(ParseErrorKind::Undeclared(format!("^{name}"))))?;
            body.inst_mut(inst).targets[index].0 = target;
        }
        self.depth -= 1;
        Ok(())
    }

    fn inst(&mut self, body: &mut Body, block: Block, pending: &mut Pending<'a>) -> Result<(), ParseError> {
        let mut results = Vec::new();
        while let Token::Value(name) = self.peek() {
            self.bump();
            results.push(name);
            if !self.eat(",") {
                self.expect("=")?;
                break;
            }
        }
        let word = self.word()?;
        let op = ops::lookup(word).ok_or_else(|| self.error(ParseErrorKind::Undeclared(word.to_owned())))?;
        let mut data = InstData {
            op,
            operands: Vec::new(),
            results: Vec::new(),
            attrs: Attrs::new(),
            regions: Vec::new(),
            targets: Vec::new(),
            loc: Loc::unknown(),
        };
        // A result of the next line begins with a value too; an operand list begins on this instruction's line.
        if matches!(self.peek(), Token::Value(_)) && !self.starts_result() {
            data.operands = self.list("", Parser::use_value)?;
        }
        while let Token::Word(word) = self.peek() {
            let Some(key) = Key::ALL.into_iter().find(|k| k.name() == word) else { break };
            self.bump();
            data.attrs.set(key, self.attr(key)?);
        }
        let targets = self.targets(block)?;
        data.targets = targets.iter().map(|(_, b, args)| (*b, args.clone())).collect();
        let inst = body.add_inst(data);
        pending.extend(targets.iter().enumerate().map(|(i, (name, _, _))| (inst, i, *name)));
        self.nested(body, inst)?;
        if !results.is_empty() {
            self.expect(":")?;
            for (i, name) in results.into_iter().enumerate() {
                if i > 0 {
                    self.expect(",")?;
                }
                let ty = self.ty()?;
                let value = body.add_result(inst, ty);
                body.set_name(value, given_name(name));
                self.define(name, value)?;
            }
        }
        body.inst_mut(inst).loc = self.loc()?;
        body.block_mut(block).insts.push(inst);
        Ok(())
    }

    /// Whether the values ahead are results: `%a, %b =`.
    fn starts_result(&self) -> bool {
        let mut at = self.at;
        while matches!(self.tokens[at].0, Token::Value(_)) {
            match self.tokens.get(at + 1).map(|t| t.0) {
                Some(Token::Punct("=")) => return true,
                Some(Token::Punct(",")) => at += 2,
                _ => return false,
            }
        }
        false
    }

    /// Jump targets; blocks are placeholders until the region's end.
    fn targets(&mut self, here: Block) -> Result<Vec<NamedTarget<'a>>, ParseError> {
        let mut out = Vec::new();
        while let Token::Block(name) = self.peek() {
            // After an instruction without targets, `^name(…):` opens the next block.
            if self.opens_block() {
                break;
            }
            self.bump();
            let mut args = Vec::new();
            if self.eat("(") {
                args = self.list(")", Parser::use_value)?;
                self.expect(")")?;
            }
            out.push((name, here, args));
            if !self.eat(",") {
                break;
            }
        }
        Ok(out)
    }

    /// Whether `^name(…)` ahead is the head of a block: parameters have types, arguments have none.
    fn opens_block(&self) -> bool {
        let mut at = self.at + 1;
        if !matches!(self.tokens.get(at).map(|t| t.0), Some(Token::Punct("("))) {
            return false;
        }
        while !matches!(self.tokens[at].0, Token::Punct(")") | Token::End) {
            if self.tokens[at].0 == Token::Punct(":") {
                return true;
            }
            at += 1;
        }
        matches!(self.tokens.get(at + 1).map(|t| t.0), Some(Token::Punct(":")))
    }

    fn nested(&mut self, body: &mut Body, inst: Inst) -> Result<(), ParseError> {
        while matches!(self.peek(), Token::Punct("(" | "{")) {
            let region = body.add_region();
            self.scopes.push(IndexMap::new());
            if !self.eat("{") {
                self.params(body, body.entry(region))?;
                self.expect("{")?;
            }
            self.region_rest(body, region)?;
            self.scopes.pop();
            body.inst_mut(inst).regions.push(region);
        }
        Ok(())
    }
}

/// Numbers are given by the printer, names by people.
fn given_name(name: &str) -> Option<Arc<str>> {
    (!name.bytes().all(|b| b.is_ascii_digit())).then(|| name.into())
}
