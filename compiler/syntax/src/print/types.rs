//! Printing of types, parameters and annotations.

use super::Printer;
use crate::ast::{Annotation, Endpoints, Param, Type, TypeKind};

impl Printer<'_> {
    pub(super) fn ty(&mut self, ty: &Type) {
        match &ty.kind {
            TypeKind::Graph(endpoints) => self.graph(endpoints),
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

    fn graph(&mut self, endpoints: &Endpoints) {
        self.token("graph");
        if *endpoints == Endpoints::Fresh {
            return;
        }
        self.token("<");
        match endpoints {
            Endpoints::Fresh => {}
            Endpoints::Same(set) => self.name(set),
            Endpoints::Between(from, to) => {
                self.name(from);
                self.space();
                self.token("->");
                self.space();
                self.name(to);
            }
        }
        self.token(">");
    }

    pub(super) fn param(&mut self, param: &Param) {
        self.docs(&param.docs, "///");
        self.placement(&param.placement);
        self.name(&param.name);
        self.typed(&param.ty);
    }

    /// `: T`
    pub(super) fn typed(&mut self, ty: &Type) {
        self.token(":");
        self.space();
        self.ty(ty);
    }

    pub(super) fn placement(&mut self, annotations: &[Annotation]) {
        for annotation in annotations {
            self.token("@");
            self.name(&annotation.name);
            if !annotation.args.is_empty() {
                self.list(["(", ")"], &annotation.args, Printer::expr);
            }
            self.space();
        }
    }
}
