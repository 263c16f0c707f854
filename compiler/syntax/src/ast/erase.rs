//! Comparing trees without their places.

use super::*;
use tiga_source::FileId;

impl Module {
    /// Whether two trees say the same, wherever it stands.
    pub fn same(&self, other: &Module) -> bool {
        let (mut left, mut right) = (self.clone(), other.clone());
        left.erase_spans();
        right.erase_spans();
        left == right
    }

    /// Sets every place to the empty range at the start of file 0.
    pub fn erase_spans(&mut self) {
        self.span = nowhere();
        for item in &mut self.items {
            item.span = nowhere();
            item_kind(&mut item.kind);
        }
    }
}

fn nowhere() -> Span {
    Span::new(FileId(0), 0, 0)
}

fn name(name: &mut Name) {
    name.span = nowhere();
}

fn names(all: &mut [Name]) {
    all.iter_mut().for_each(name);
}

fn item_kind(kind: &mut ItemKind) {
    match kind {
        ItemKind::Message(item) => message(item),
        ItemKind::Reducer(item) => reducer(item),
        ItemKind::Function(item) => {
            signature(&mut item.name, &mut item.generics, &mut item.params);
            ty(&mut item.result);
            block(&mut item.body);
        }
        ItemKind::Program(item) => {
            signature(&mut item.name, &mut item.generics, &mut item.params);
            item.results.iter_mut().for_each(param);
            block(&mut item.body);
        }
        ItemKind::Vjp(item) => {
            name(&mut item.program);
            names(&mut item.wrt);
        }
        ItemKind::Alias(item) => {
            name(&mut item.name);
            ty(&mut item.ty);
        }
        ItemKind::Constant(item) => {
            name(&mut item.name);
            ty(&mut item.ty);
            expr(&mut item.value);
        }
        ItemKind::Broken(item) => item.name.iter_mut().for_each(name),
    }
}

fn signature(item: &mut Name, generics: &mut [Generic], params: &mut [Param]) {
    name(item);
    for generic in generics {
        generic.span = nowhere();
        name(&mut generic.name);
    }
    params.iter_mut().for_each(param);
}

fn message(item: &mut Message) {
    signature(&mut item.name, &mut item.generics, &mut item.params);
    item.result.edges.iter_mut().for_each(|span| *span = nowhere());
    ty(&mut item.result.ty);
    block(&mut item.edge);
    match &mut item.reduce {
        Some(Reduce::One(one)) => reducer_ref(one),
        Some(Reduce::Tuple(span, all)) => {
            *span = nowhere();
            all.iter_mut().for_each(reducer_ref);
        }
        None => {}
    }
    item.node.iter_mut().for_each(clause);
}

fn reducer_ref(item: &mut ReducerRef) {
    item.span = nowhere();
    name(&mut item.name);
    item.args.iter_mut().for_each(expr);
}

fn clause(item: &mut Clause) {
    item.span = nowhere();
    names(&mut item.names);
    block(&mut item.body);
}

fn reducer(item: &mut Reducer) {
    signature(&mut item.name, &mut item.generics, &mut item.params);
    ty(&mut item.result);
    for field in &mut item.state {
        field.span = nowhere();
        name(&mut field.name);
        ty(&mut field.ty);
        expr(&mut field.init);
    }
    item.lift.iter_mut().for_each(block);
    for part in [&mut item.step, &mut item.combine, &mut item.finalize] {
        part.iter_mut().for_each(clause);
    }
    item.empty.iter_mut().for_each(expr);
    names(&mut item.laws);
    if let Some(adjoint) = &mut item.adjoint {
        adjoint.span = nowhere();
        names(&mut adjoint.names);
        names(&mut adjoint.wrt);
        block(&mut adjoint.body);
    }
}

fn param(item: &mut Param) {
    item.span = nowhere();
    annotations(&mut item.placement);
    name(&mut item.name);
    ty(&mut item.ty);
}

fn annotations(all: &mut [Annotation]) {
    for one in all {
        one.span = nowhere();
        name(&mut one.name);
        one.args.iter_mut().for_each(expr);
    }
}

fn ty(item: &mut Type) {
    item.span = nowhere();
    match &mut item.kind {
        TypeKind::Graph(Endpoints::Fresh) => {}
        TypeKind::Graph(Endpoints::Same(set)) => name(set),
        TypeKind::Graph(Endpoints::Between(from, to)) => {
            name(from);
            name(to);
        }
        TypeKind::Tensor { element, axes } => {
            name(element);
            axes.iter_mut().for_each(expr);
        }
        TypeKind::Record(fields) => fields.iter_mut().for_each(param),
        TypeKind::Tuple(elements) => elements.iter_mut().for_each(ty),
    }
}

fn block(item: &mut Block) {
    item.span = nowhere();
    for statement in &mut item.statements {
        statement.span = nowhere();
        if let StmtKind::Let(item) = &mut statement.kind {
            annotations(&mut item.placement);
            pattern(&mut item.pattern);
            item.ty.iter_mut().for_each(ty);
            expr(&mut item.value);
        }
    }
    expr(&mut item.value);
}

fn pattern(item: &mut Pattern) {
    match item {
        Pattern::Name(one) => name(one),
        Pattern::Tuple(span, elements) => {
            *span = nowhere();
            elements.iter_mut().for_each(pattern);
        }
    }
}

fn expr(item: &mut Expr) {
    item.span = nowhere();
    match &mut item.kind {
        ExprKind::Int { .. } | ExprKind::Float { .. } | ExprKind::Bool(_) | ExprKind::Error => {}
        ExprKind::Name(one) => name(one),
        ExprKind::Unary { operand, .. } => expr(operand),
        ExprKind::Binary { op_span, left, right, .. } => {
            *op_span = nowhere();
            expr(left);
            expr(right);
        }
        ExprKind::Call { callee, args } => {
            expr(callee);
            args.iter_mut().for_each(arg);
        }
        ExprKind::Index { base, indices } => {
            expr(base);
            indices.iter_mut().for_each(expr);
        }
        ExprKind::Field { base, name: field } => {
            expr(base);
            name(field);
        }
        ExprKind::Element { base, index_span, .. } => {
            *index_span = nowhere();
            expr(base);
        }
        ExprKind::Record(fields) => {
            for field in fields {
                field.span = nowhere();
                name(&mut field.name);
                field.value.iter_mut().for_each(expr);
            }
        }
        ExprKind::Tuple(elements) | ExprKind::List(elements) => elements.iter_mut().for_each(expr),
        ExprKind::If(item) => {
            expr(&mut item.condition);
            block(&mut item.then_block);
            block(&mut item.else_block);
        }
        ExprKind::Loop(item) => loop_expr(item),
    }
}

fn arg(item: &mut Arg) {
    item.span = nowhere();
    if let ArgKind::Named(one) = &mut item.kind {
        name(one);
    }
    expr(&mut item.value);
}

fn loop_expr(item: &mut Loop) {
    for var in &mut item.vars {
        var.span = nowhere();
        annotations(&mut var.placement);
        name(&mut var.name);
        var.ty.iter_mut().for_each(ty);
        expr(&mut var.init);
    }
    match &mut item.head {
        LoopHead::While { condition, at_most } => {
            expr(condition);
            at_most.iter_mut().for_each(expr);
        }
        LoopHead::For { index, bound } => {
            name(index);
            expr(bound);
        }
    }
    block(&mut item.body);
    expr(&mut item.result);
}
