//! Printing of types, parameters and annotations.

use super::Printer;
use crate::ast::{Annotation, Endpoints, Expr, Param, Type, TypeKind};

impl Printer {
    pub(super) fn ty(&mut self, ty: &Type) {
        match &ty.kind {
            TypeKind::Graph(Endpoints::Fresh) => self.put("graph"),
            TypeKind::Graph(Endpoints::Same(set)) => {
                self.put("graph<");
                self.name(set);
                self.put(">");
            }
            TypeKind::Graph(Endpoints::Between(from, to)) => {
                self.put("graph<");
                self.name(from);
                self.put(" -> ");
                self.name(to);
                self.put(">");
            }
            TypeKind::Tensor { element, axes } => {
                self.name(element);
                if !axes.is_empty() {
                    self.list(["[", "]"], axes, Printer::expr);
                }
            }
            TypeKind::Record(fields) => self.list(["{", "}"], fields, Printer::param),
            TypeKind::Tuple(elements) => self.list(["(", ")"], elements, Printer::ty),
        }
    }

    pub(super) fn param(&mut self, param: &Param) {
        self.docs(&param.docs);
        self.placement(&param.placement);
        self.name(&param.name);
        self.put(": ");
        self.ty(&param.ty);
    }

    pub(super) fn placement(&mut self, annotations: &[Annotation]) {
        for annotation in annotations {
            self.put("@");
            self.name(&annotation.name);
            if !annotation.args.is_empty() {
                self.list(["(", ")"], &annotation.args, |printer: &mut Printer, arg: &Expr| printer.expr(arg));
            }
            self.put(" ");
        }
    }
}
