//! Printing of modules and items.

use super::Printer;
use crate::ast::{
    Adjoint, Block, Clause, Generic, GenericKind, Item, ItemKind, Message, Module, Name, Param, Reduce, Reducer,
    ReducerRef, StateField,
};

impl Printer {
    pub(super) fn module(&mut self, module: &Module) {
        for text in &module.docs {
            self.put(if text.is_empty() { "//!" } else { "//! " });
            self.put(text);
            self.put("\n");
        }
        for (i, item) in module.items.iter().enumerate() {
            let adjacent = i > 0 && is_line(item) && is_line(&module.items[i - 1]);
            if !adjacent && !self.out.is_empty() {
                self.put("\n");
            }
            self.item(item);
            self.put("\n");
        }
    }

    fn item(&mut self, item: &Item) {
        self.docs(&item.docs);
        match &item.kind {
            ItemKind::Message(item) => self.message(item),
            ItemKind::Reducer(item) => self.reducer(item),
            ItemKind::Function(item) => {
                self.head("fn", &item.name, &item.generics, &item.params);
                self.ty(&item.result);
                self.body(&item.body);
            }
            ItemKind::Program(item) => {
                self.head("program", &item.name, &item.generics, &item.params);
                self.list(["(", ")"], &item.results, Printer::param);
                self.body(&item.body);
            }
            ItemKind::Vjp(item) => {
                self.put("vjp ");
                self.name(&item.program);
                self.put(" wrt ");
                self.names(&item.wrt);
                if item.with_value {
                    self.put(" with value");
                }
            }
            ItemKind::Alias(item) => {
                self.put("type ");
                self.name(&item.name);
                self.put(" = ");
                self.ty(&item.ty);
            }
            ItemKind::Constant(item) => {
                self.put("const ");
                self.name(&item.name);
                self.put(": ");
                self.ty(&item.ty);
                self.put(" = ");
                self.expr(&item.value);
            }
            ItemKind::Broken(item) => {
                let name = item.name.as_ref().map_or("?", |name| &name.text);
                self.put(&format!("? {} {name}", item.keyword.text()));
            }
        }
    }

    /// `program name<F>(…) -> `
    fn head(&mut self, keyword: &str, name: &Name, generics: &[Generic], params: &[Param]) {
        self.put(keyword);
        self.put(" ");
        self.name(name);
        if !generics.is_empty() {
            self.put("<");
            self.separated(generics, |printer, generic| {
                if generic.kind == GenericKind::Set {
                    printer.put("set ");
                }
                printer.name(&generic.name);
            });
            self.put(">");
        }
        self.list(["(", ")"], params, Printer::param);
        self.put(" -> ");
    }

    /// The body of an item, always on lines of its own.
    fn body(&mut self, body: &Block) {
        self.put(" {");
        self.block_lines(body);
        self.put("}");
    }

    fn names(&mut self, names: &[Name]) {
        self.put("(");
        self.separated(names, Printer::name);
        self.put(")");
    }

    fn message(&mut self, item: &Message) {
        self.head("message", &item.name, &item.generics, &item.params);
        if item.result.edges.is_some() {
            self.put("edges ");
        }
        self.ty(&item.result.ty);
        self.put(" {");
        self.indent += 1;
        self.block_clause("edge", &item.edge);
        if let Some(reduce) = &item.reduce {
            self.line();
            self.put("reduce ");
            match reduce {
                Reduce::One(one) => self.reducer_ref(one),
                Reduce::Tuple(_, all) => self.list(["(", ")"], all, Printer::reducer_ref),
            }
        }
        self.clause("node", item.node.as_ref());
        self.indent -= 1;
        self.line();
        self.put("}");
    }

    fn reducer_ref(&mut self, item: &ReducerRef) {
        self.name(&item.name);
        if !item.args.is_empty() {
            self.list(["<", ">"], &item.args, Printer::sum);
        }
    }

    fn reducer(&mut self, item: &Reducer) {
        self.head("reducer", &item.name, &item.generics, &item.params);
        self.ty(&item.result);
        self.put(" {");
        self.indent += 1;
        if !item.state.is_empty() {
            self.line();
            self.put("state ");
            self.list(["{", "}"], &item.state, Printer::state_field);
        }
        if let Some(lift) = &item.lift {
            self.block_clause("lift", lift);
        }
        self.clause("step", item.step.as_ref());
        self.clause("combine", item.combine.as_ref());
        self.clause("finalize", item.finalize.as_ref());
        if let Some(empty) = &item.empty {
            self.line();
            self.put("empty ");
            self.expr(empty);
        }
        if !item.laws.is_empty() {
            self.line();
            self.put("laws ");
            self.separated(&item.laws, Printer::name);
        }
        if let Some(adjoint) = &item.adjoint {
            self.adjoint(adjoint);
        }
        self.indent -= 1;
        self.line();
        self.put("}");
    }

    fn state_field(&mut self, field: &StateField) {
        self.docs(&field.docs);
        self.name(&field.name);
        self.put(": ");
        self.ty(&field.ty);
        self.put(" = ");
        self.expr(&field.init);
    }

    fn block_clause(&mut self, keyword: &str, body: &Block) {
        self.line();
        self.put(keyword);
        self.put(" ");
        self.block(body);
    }

    fn clause(&mut self, keyword: &str, clause: Option<&Clause>) {
        let Some(clause) = clause else { return };
        self.line();
        self.put(keyword);
        self.names(&clause.names);
        self.put(" ");
        self.block(&clause.body);
    }

    fn adjoint(&mut self, adjoint: &Adjoint) {
        self.line();
        self.put("adjoint");
        self.names(&adjoint.names);
        self.put(" for ");
        self.names(&adjoint.wrt);
        self.put(" ");
        self.block(&adjoint.body);
    }
}

/// Whether an item is one line, which may follow another without an empty line between.
fn is_line(item: &Item) -> bool {
    item.docs.is_empty() && matches!(item.kind, ItemKind::Vjp(_) | ItemKind::Alias(_) | ItemKind::Constant(_))
}
