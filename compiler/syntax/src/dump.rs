//! Trees as indented text, for `--emit=ast`: a node a line, without places.

use crate::ast::{
    ArgKind, Block, Clause, Expr, ExprKind, Function, Generic, GenericKind, Item, ItemKind, LoopHead, Message, Module,
    Name, Param, Program, Reduce, Reducer, ReducerRef, StmtKind, UnaryOp,
};
use crate::print::{annotation_text, expr_text, pattern_text, type_text};

/// Writes a tree, one node a line, children indented by two spaces; types stand on one line as in the source.
pub fn dump(module: &Module) -> String {
    let mut dump = Dump::default();
    dump.line("module");
    dump.inside(|dump| {
        dump.docs(&module.docs);
        module.items.iter().for_each(|item| dump.item(item));
    });
    dump.out
}

#[derive(Default)]
struct Dump {
    out: String,
    indent: usize,
}

impl Dump {
    fn line(&mut self, text: impl AsRef<str>) {
        self.out.extend(std::iter::repeat_n("  ", self.indent));
        self.out.push_str(text.as_ref());
        self.out.push('\n');
    }

    fn inside(&mut self, write: impl FnOnce(&mut Self)) {
        self.indent += 1;
        write(self);
        self.indent -= 1;
    }

    /// A line and what belongs to it.
    fn node(&mut self, text: impl AsRef<str>, write: impl FnOnce(&mut Self)) {
        self.line(text);
        self.inside(write);
    }

    fn docs(&mut self, docs: &[String]) {
        docs.iter().for_each(|text| self.line(format!("doc {text}").trim_end()));
    }

    fn item(&mut self, item: &Item) {
        let keyword = match &item.kind {
            ItemKind::Message(_) => "message",
            ItemKind::Reducer(_) => "reducer",
            ItemKind::Function(_) => "fn",
            ItemKind::Program(_) => "program",
            ItemKind::Vjp(_) => "vjp",
            ItemKind::Alias(_) => "type",
            ItemKind::Constant(_) => "const",
            ItemKind::Broken(broken) => broken.keyword.text(),
        };
        let name = item.name().map_or("?", |name| &name.text);
        let note = match &item.kind {
            ItemKind::Broken(_) => " (not read)",
            _ if item.recovered => " (read in part)",
            _ => "",
        };
        self.node(format!("{keyword} {name}{note}"), |dump| {
            dump.docs(&item.docs);
            dump.item_inside(&item.kind);
        });
    }

    fn item_inside(&mut self, kind: &ItemKind) {
        match kind {
            ItemKind::Message(item) => self.message(item),
            ItemKind::Reducer(item) => self.reducer(item),
            ItemKind::Function(Function { generics, params, result, body, .. }) => {
                self.head(generics, params);
                self.line(format!("result {}", type_text(result)));
                self.block("body", body);
            }
            ItemKind::Program(Program { generics, params, results, body, .. }) => {
                self.head(generics, params);
                results.iter().for_each(|result| self.param("result", result));
                self.block("body", body);
            }
            ItemKind::Vjp(item) => {
                self.line(format!("wrt {}", names(&item.wrt)));
                if item.with_value {
                    self.line("with value");
                }
            }
            ItemKind::Alias(item) => self.line(type_text(&item.ty)),
            ItemKind::Constant(item) => {
                self.line(type_text(&item.ty));
                self.expr(&item.value);
            }
            ItemKind::Broken(_) => {}
        }
    }

    fn head(&mut self, generics: &[Generic], params: &[Param]) {
        for generic in generics {
            let kind = if generic.kind == GenericKind::Set { "set" } else { "dim" };
            self.line(format!("{kind} {}", generic.name.text));
        }
        params.iter().for_each(|param| self.param("param", param));
    }

    fn param(&mut self, word: &str, param: &Param) {
        let placement = annotation_text(&param.placement);
        self.node(format!("{word} {placement}{}: {}", param.name.text, type_text(&param.ty)), |dump| {
            dump.docs(&param.docs);
        });
    }

    fn message(&mut self, item: &Message) {
        self.head(&item.generics, &item.params);
        let edges = if item.result.edges.is_some() { "edges " } else { "" };
        self.line(format!("result {edges}{}", type_text(&item.result.ty)));
        self.block("edge", &item.edge);
        match &item.reduce {
            Some(Reduce::One(one)) => self.line(format!("reduce {}", reducer_text(one))),
            Some(Reduce::Tuple(_, all)) => {
                let all: Vec<String> = all.iter().map(reducer_text).collect();
                self.line(format!("reduce ({})", all.join(", ")));
            }
            None => {}
        }
        self.clause("node", item.node.as_ref());
    }

    fn reducer(&mut self, item: &Reducer) {
        self.head(&item.generics, &item.params);
        self.line(format!("result {}", type_text(&item.result)));
        for field in &item.state {
            self.node(format!("state {}: {}", field.name.text, type_text(&field.ty)), |dump| {
                dump.docs(&field.docs);
                dump.expr(&field.init);
            });
        }
        if let Some(lift) = &item.lift {
            self.block("lift", lift);
        }
        self.clause("step", item.step.as_ref());
        self.clause("combine", item.combine.as_ref());
        self.clause("finalize", item.finalize.as_ref());
        if let Some(empty) = &item.empty {
            self.node("empty", |dump| dump.expr(empty));
        }
        if !item.laws.is_empty() {
            self.line(format!("laws {}", names(&item.laws)));
        }
        if let Some(adjoint) = &item.adjoint {
            self.block(&format!("adjoint ({}) for ({})", names(&adjoint.names), names(&adjoint.wrt)), &adjoint.body);
        }
    }

    fn clause(&mut self, word: &str, clause: Option<&Clause>) {
        if let Some(clause) = clause {
            self.block(&format!("{word} ({})", names(&clause.names)), &clause.body);
        }
    }

    fn block(&mut self, title: &str, block: &Block) {
        self.node(title, |dump| {
            for statement in &block.statements {
                match &statement.kind {
                    StmtKind::Let(item) => {
                        let ty = item.ty.as_ref().map_or(String::new(), |ty| format!(": {}", type_text(ty)));
                        let placement = annotation_text(&item.placement);
                        let pattern = pattern_text(&item.pattern);
                        dump.node(format!("{placement}let {pattern}{ty}"), |dump| dump.expr(&item.value));
                    }
                    StmtKind::Error => dump.line("error"),
                }
            }
            dump.expr(&block.value);
        });
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Int { text, .. } => self.line(format!("int {text}")),
            ExprKind::Float { text } => self.line(format!("float {text}")),
            ExprKind::Bool(value) => self.line(format!("bool {value}")),
            ExprKind::Name(name) => self.line(format!("name {}", name.text)),
            ExprKind::Unary { op, operand } => {
                let word = if *op == UnaryOp::Neg { "negate" } else { "not" };
                self.node(word, |dump| dump.expr(operand));
            }
            ExprKind::Binary { op, left, right, .. } => self.node(format!("binary {}", op.symbol()), |dump| {
                dump.expr(left);
                dump.expr(right);
            }),
            ExprKind::Call { .. } => self.call(expr),
            ExprKind::Index { base, indices } => self.node("index", |dump| {
                dump.expr(base);
                dump.exprs(indices);
            }),
            ExprKind::Field { base, name } => self.node(format!("field {}", name.text), |dump| dump.expr(base)),
            ExprKind::Element { base, index, .. } => self.node(format!("element {index}"), |dump| dump.expr(base)),
            ExprKind::Record(fields) => self.node("record", |dump| {
                for field in fields {
                    dump.node(&field.name.text, |dump| field.value.iter().for_each(|value| dump.expr(value)));
                }
            }),
            ExprKind::Tuple(elements) => self.node("tuple", |dump| dump.exprs(elements)),
            ExprKind::List(elements) => self.node("list", |dump| dump.exprs(elements)),
            ExprKind::If(item) => self.node("if", |dump| {
                dump.expr(&item.condition);
                dump.block("then", &item.then_block);
                dump.block("else", &item.else_block);
            }),
            ExprKind::Loop(_) => self.loop_expr(expr),
            ExprKind::Error => self.line("error"),
        }
    }

    fn exprs(&mut self, all: &[Expr]) {
        all.iter().for_each(|expr| self.expr(expr));
    }

    fn call(&mut self, expr: &Expr) {
        let ExprKind::Call { callee, args } = &expr.kind else { return };
        self.node("call", |dump| {
            dump.expr(callee);
            for arg in args {
                match &arg.kind {
                    ArgKind::Positional => dump.expr(&arg.value),
                    ArgKind::Named(name) => dump.node(format!("{}:", name.text), |dump| dump.expr(&arg.value)),
                    ArgKind::AtMost => dump.node("at most", |dump| dump.expr(&arg.value)),
                }
            }
        });
    }

    fn loop_expr(&mut self, expr: &Expr) {
        let ExprKind::Loop(item) = &expr.kind else { return };
        self.node("loop", |dump| {
            for var in &item.vars {
                let ty = var.ty.as_ref().map_or(String::new(), |ty| format!(": {}", type_text(ty)));
                let placement = annotation_text(&var.placement);
                dump.node(format!("{placement}carry {}{ty}", var.name.text), |dump| dump.expr(&var.init));
            }
            match &item.head {
                LoopHead::While { condition, at_most } => {
                    dump.node("while", |dump| dump.expr(condition));
                    if let Some(bound) = at_most {
                        dump.node("at most", |dump| dump.expr(bound));
                    }
                }
                LoopHead::For { index, bound } => dump.node(format!("for {}", index.text), |dump| dump.expr(bound)),
            }
            dump.block("body", &item.body);
            dump.node("in", |dump| dump.expr(&item.result));
        });
    }
}

fn names(all: &[Name]) -> String {
    all.iter().map(|name| name.text.as_str()).collect::<Vec<_>>().join(", ")
}

fn reducer_text(item: &ReducerRef) -> String {
    let args: Vec<String> = item.args.iter().map(expr_text).collect();
    if args.is_empty() { item.name.text.clone() } else { format!("{}<{}>", item.name.text, args.join(", ")) }
}
