//! Printing of modules and items.

use super::layout::{Break, Piece};
use super::{Place, Printer, Source};
use crate::ast::{
    Adjoint, Block, Clause, Generic, GenericKind, Item, ItemKind, Message, Module, Name, Param, Reduce, Reducer,
    ReducerRef, StateField,
};

/// The clauses of a message, in their usual order.
const MESSAGE: [&str; 3] = ["edge", "reduce", "node"];

/// The clauses of a reducer, in their usual order.
const REDUCER: [&str; 8] = ["state", "lift", "step", "combine", "finalize", "empty", "laws", "adjoint"];

impl Printer<'_> {
    pub(super) fn module(&mut self, module: &Module) {
        self.docs(&module.docs, "//!");
        let mut before: Option<&Item> = None;
        for item in &module.items {
            let apart = before.is_none_or(|before| !is_line(item) || !is_line(before));
            self.line(Break::Hard);
            if apart && self.source.is_none() {
                self.pieces.push(Piece::Blank);
            }
            self.gap(match before {
                None => Place::First,
                Some(_) if apart => Place::Apart,
                Some(_) => Place::Next,
            });
            self.item(item);
            before = Some(item);
        }
        self.gap(Place::Next);
    }

    fn item(&mut self, item: &Item) {
        self.docs(&item.docs, "///");
        match &item.kind {
            ItemKind::Message(item) => self.message(item),
            ItemKind::Reducer(item) => self.reducer(item),
            ItemKind::Function(item) => {
                self.head("fn", &item.name, &item.generics, &item.params, |printer| printer.ty(&item.result));
                self.body(&item.body);
            }
            ItemKind::Program(item) => {
                let results = |printer: &mut Self| printer.list(["(", ")"], &item.results, Printer::param);
                self.head("program", &item.name, &item.generics, &item.params, results);
                self.body(&item.body);
            }
            ItemKind::Vjp(item) => {
                self.word("vjp");
                self.name(&item.program);
                self.space();
                self.word("wrt");
                self.names(&item.wrt);
                if item.with_value {
                    self.space();
                    self.word("with");
                    self.token("value");
                }
                self.end_of_line();
            }
            ItemKind::Alias(item) => {
                self.word("type");
                self.name(&item.name);
                self.space();
                self.word("=");
                self.ty(&item.ty);
                self.end_of_line();
            }
            ItemKind::Constant(item) => {
                self.word("const");
                self.name(&item.name);
                self.typed(&item.ty);
                self.space();
                self.token("=");
                self.value(&item.value);
                self.end_of_line();
            }
            ItemKind::Broken(item) => {
                let name = item.name.as_ref().map_or("?", |name| &name.text);
                self.insert(&format!("? {} {name}", item.keyword.text()));
            }
        }
    }

    /// A token and a space.
    pub(super) fn word(&mut self, text: &str) {
        self.token(text);
        self.space();
    }

    /// An item of one line needs no semicolon, unless it keeps a doc comment from the next one.
    fn end_of_line(&mut self) {
        if self.at(";") {
            if self.source.as_ref().is_some_and(Source::docs_ahead) { self.token(";") } else { self.skip() }
        }
    }

    /// `program name<F>(…) -> … `: on one line, or a parameter a line.
    fn head(
        &mut self,
        keyword: &str,
        name: &Name,
        generics: &[Generic],
        params: &[Param],
        result: impl FnOnce(&mut Self),
    ) {
        self.open();
        self.word(keyword);
        self.name(name);
        if !generics.is_empty() {
            self.list(["<", ">"], generics, Printer::generic);
        } else if self.at("<") {
            self.skip();
            self.skip();
        }
        self.open_list(["(", ")"], Break::Soft, params, Printer::param);
        self.space();
        self.word("->");
        result(self);
        self.close();
        self.space();
    }

    fn generic(&mut self, generic: &Generic) {
        if generic.kind == GenericKind::Set {
            self.word("set");
        }
        self.name(&generic.name);
    }

    /// The body of an item, always on lines of its own.
    fn body(&mut self, body: &Block) {
        self.block_lines(body, Break::Hard);
    }

    fn names(&mut self, names: &[Name]) {
        self.list(["(", ")"], names, Printer::name);
    }

    /// `{ … }` with a clause a line: in their usual order, or as they were written.
    fn clauses(&mut self, words: &[&'static str], mut each: impl FnMut(&mut Self, &'static str)) {
        self.token("{");
        self.indent();
        let inside = self.pieces.len();
        if self.source.is_none() {
            words.iter().for_each(|word| each(self, word));
        }
        let mut passed = None;
        while let Some(word) = words.iter().find(|word| self.at(word))
            && let now = self.source.as_ref().map(Source::passed)
            && now != passed
        {
            self.line(Break::Hard);
            self.gap(if passed.is_none() { Place::First } else { Place::Next });
            each(self, word);
            passed = now;
        }
        self.gap(if self.pieces.len() == inside { Place::First } else { Place::Last });
        if self.pieces.len() > inside {
            self.dedent();
            self.line(Break::Hard);
        } else {
            self.dedent();
        }
        self.token("}");
    }

    /// Begins a clause, which a tree without a source begins a line with.
    fn clause_word(&mut self, word: &str) {
        if self.source.is_none() {
            self.line(Break::Hard);
        }
        self.token(word);
    }

    fn message(&mut self, item: &Message) {
        self.head("message", &item.name, &item.generics, &item.params, |printer| {
            if item.result.edges.is_some() {
                printer.word("edges");
            }
            printer.ty(&item.result.ty);
        });
        self.clauses(&MESSAGE, |printer, word| match word {
            "edge" => printer.block_clause(word, &item.edge),
            "reduce" => printer.reduce(word, item.reduce.as_ref()),
            _ => printer.clause(word, item.node.as_ref()),
        });
    }

    fn reduce(&mut self, word: &str, reduce: Option<&Reduce>) {
        let Some(reduce) = reduce else { return };
        self.clause_word(word);
        self.space();
        match reduce {
            Reduce::One(one) => self.reducer_ref(one),
            Reduce::Tuple(_, all) => self.list(["(", ")"], all, Printer::reducer_ref),
        }
    }

    fn reducer_ref(&mut self, item: &ReducerRef) {
        self.name(&item.name);
        if !item.args.is_empty() {
            self.list(["<", ">"], &item.args, Printer::sum);
        }
    }

    fn reducer(&mut self, item: &Reducer) {
        self.head("reducer", &item.name, &item.generics, &item.params, |printer| printer.ty(&item.result));
        self.clauses(&REDUCER, |printer, word| printer.reducer_clause(word, item));
    }

    fn reducer_clause(&mut self, word: &str, item: &Reducer) {
        match word {
            // Without fields it says nothing, but it was written.
            "state" if item.state.is_empty() && self.source.is_none() => {}
            "state" => {
                self.clause_word(word);
                self.space();
                self.open();
                self.open_list(["{", "}"], Break::Space, &item.state, Printer::state_field);
                self.close();
            }
            "lift" => item.lift.iter().for_each(|lift| self.block_clause(word, lift)),
            "step" => self.clause(word, item.step.as_ref()),
            "combine" => self.clause(word, item.combine.as_ref()),
            "finalize" => self.clause(word, item.finalize.as_ref()),
            "empty" => item.empty.iter().for_each(|empty| {
                self.clause_word(word);
                self.value(empty);
            }),
            "laws" => self.laws(word, &item.laws),
            _ => item.adjoint.iter().for_each(|adjoint| self.adjoint(word, adjoint)),
        }
    }

    fn state_field(&mut self, field: &StateField) {
        self.docs(&field.docs, "///");
        self.name(&field.name);
        self.typed(&field.ty);
        self.space();
        self.token("=");
        self.value(&field.init);
    }

    /// `laws a, b`, without brackets and so without a comma at the end.
    fn laws(&mut self, word: &str, laws: &[Name]) {
        let Some((first, others)) = laws.split_first() else { return };
        self.clause_word(word);
        self.space();
        self.indent();
        self.open();
        self.name(first);
        for law in others {
            self.mark(",");
            self.line(Break::Space);
            self.name(law);
        }
        self.close();
        self.dedent();
    }

    fn block_clause(&mut self, word: &str, body: &Block) {
        self.clause_word(word);
        self.space();
        self.block(body);
    }

    fn clause(&mut self, word: &str, clause: Option<&Clause>) {
        let Some(clause) = clause else { return };
        self.clause_word(word);
        self.names(&clause.names);
        self.space();
        self.block(&clause.body);
    }

    fn adjoint(&mut self, word: &str, adjoint: &Adjoint) {
        self.clause_word(word);
        self.names(&adjoint.names);
        self.space();
        self.word("for");
        self.names(&adjoint.wrt);
        self.space();
        self.block(&adjoint.body);
    }
}

/// Whether an item is one line, which may follow another without an empty line between.
fn is_line(item: &Item) -> bool {
    item.docs.is_empty() && matches!(item.kind, ItemKind::Vjp(_) | ItemKind::Alias(_) | ItemKind::Constant(_))
}
