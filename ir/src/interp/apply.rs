//! `apply`: the edge region for each edge in traversal order, the reducers as left folds, the node region for each row.

use super::domain::{Rows, without_rows};
use super::error::{Run, malformed};
use super::fold::{Reduction, State};
use super::machine::{Frame, Machine, nested, operand};
use super::relation::Relation;
use super::value::{Tensor, count};
use crate::{Inst, InstData, Region, Role, Scalar, Target, TensorType, Value as Handle};
use std::sync::Arc;

/// Where the values that one target takes from the edge region go.
enum Sink<'a, 'm> {
    /// Folded; into a row's state or that of all edges.
    Fold { reduction: Box<Reduction<'a, 'm>>, state: Option<State>, of: Fold },
    /// One value an edge, at the edge's number.
    Edge { first: Option<Tensor>, elems: Vec<Scalar> },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fold {
    Row { keep: bool },
    Total,
}

/// An `apply` at work.
struct Apply<'a, 'm> {
    machine: &'a Machine<'m>,
    rel: Arc<Relation>,
    inputs: Vec<(Role, Tensor)>,
    edge: Region,
    node: Option<Region>,
    sinks: Vec<Sink<'a, 'm>>,
}

impl<'m> Machine<'m> {
    /// The results: those of the node region (or the reducers' and the kept states), then edges and totals.
    pub fn apply(&self, frame: &mut Frame<'m>, inst: Inst, data: &'m InstData) -> Run<Vec<Tensor>> {
        let rel = frame.rel(operand(data, 0)?)?.clone();
        let roles = data.attrs.roles().ok_or_else(|| malformed("roles are missing"))?;
        if data.operands.len() != roles.len() + 1 {
            return Err(malformed("as many fields as roles are expected"));
        }
        let fields = roles.iter().zip(&data.operands[1..]);
        let inputs = fields.map(|(role, v)| Ok((*role, frame.tensor(*v)?.clone()))).collect::<Run<Vec<_>>>()?;
        let edge = nested(data, 0)?;
        let sinks = self.sinks(frame, data, edge)?;
        let mut apply = Apply { machine: self, rel, inputs, edge, node: data.regions.get(1).copied(), sinks };
        let rows = apply.rows(frame)?;
        let mut tail = apply.tail()?;
        let mut results = if apply.rel.num_dst() > 0 {
            rows.fields()?
        } else {
            let of_rows = data.results.len().checked_sub(tail.len());
            without_rows(frame, &data.results[..of_rows.ok_or_else(|| malformed("results are missing"))?])?
        };
        // An edge result without edges: only its type knows its features.
        for (value, tensor) in frame.body.inst(inst).results[results.len()..].iter().zip(&mut tail) {
            if tensor.is_none() {
                *tensor = without_rows(frame, &[*value])?.pop();
            }
        }
        results.extend(tail.into_iter().flatten());
        Ok(results)
    }

    fn sinks<'a>(&'a self, frame: &Frame<'m>, data: &'m InstData, edge: Region) -> Run<Vec<Sink<'a, 'm>>> {
        let body = frame.body;
        let last = body.block(body.entry(edge)).insts.last().ok_or_else(|| malformed("an empty region"))?;
        let mut yields = body.inst(*last).operands.as_slice();
        let mut sinks = Vec::new();
        for target in data.attrs.targets().ok_or_else(|| malformed("targets are missing"))? {
            let (reducer, of) = match target {
                Target::Edge => {
                    yields = yields.get(1..).ok_or_else(|| malformed("a message is missing"))?;
                    sinks.push(Sink::Edge { first: None, elems: Vec::new() });
                    continue;
                }
                Target::Row { reducer, keep } => (reducer, Fold::Row { keep: *keep }),
                Target::Total { reducer } => (reducer, Fold::Total),
            };
            let reducer = self.reducer(Some(reducer))?;
            let taken = reducer.message().len();
            let (message, rest) = yields.split_at_checked(taken).ok_or_else(|| malformed("a message is missing"))?;
            let types = message.iter().map(|v| body.ty(*v).as_tensor()).collect::<Option<Vec<&TensorType>>>();
            let types = types.ok_or_else(|| malformed("a message is made of tensors"))?;
            let reduction = Reduction::of_message(self, reducer, &types, &frame.sizes)?;
            yields = rest;
            sinks.push(Sink::Fold { reduction: Box::new(reduction), state: None, of });
        }
        if yields.is_empty() { Ok(sinks) } else { Err(malformed("a message without a target")) }
    }
}

impl<'m> Apply<'_, 'm> {
    /// Visits all rows.
    fn rows(&mut self, frame: &mut Frame<'m>) -> Run<Rows> {
        let mut rows = Rows::new(self.rel.num_dst());
        for row in 0..self.rel.num_dst() {
            self.machine.charge(1)?;
            let elements = self.elements(Role::Dst, row)?;
            for position in self.rel.row(row) {
                self.edge(frame, position, &elements)?;
            }
            let reduced = self.reduced()?;
            rows.push(match self.node {
                None => reduced,
                Some(node) => self.node(frame, node, reduced, elements)?,
            })?;
        }
        Ok(rows)
    }

    /// For each input of this role its element, in place.
    fn elements(&self, role: Role, index: usize) -> Run<Vec<Option<Tensor>>> {
        let one = |(r, field): &(Role, Tensor)| match *r == role {
            true => field.row(index).map(Some).ok_or_else(|| malformed("a field is shorter than its set")),
            false => Ok(None),
        };
        self.inputs.iter().map(one).collect()
    }

    fn edge(&mut self, frame: &mut Frame<'m>, position: usize, of_row: &[Option<Tensor>]) -> Run<()> {
        self.machine.charge(1)?;
        let body = frame.body;
        let params = &body.block(body.entry(self.edge)).params;
        if params.len() != self.inputs.len() {
            return Err(malformed("an edge region has another number of parameters"));
        }
        let edge = self.rel.edge(position);
        for ((param, (role, field)), of_row) in params.iter().zip(&self.inputs).zip(of_row) {
            let element = match role {
                Role::Src => field.row(self.rel.source(position)),
                Role::Edge => field.row(edge),
                Role::Dst => of_row.clone(),
                Role::Param => Some(field.clone()),
            };
            frame.set(*param, element.ok_or_else(|| malformed("a field is shorter than its set"))?);
        }
        let mut yields = self.machine.enter(frame, self.edge)?;
        for sink in &mut self.sinks {
            yields = sink.take(frame, yields, edge, self.rel.num_edges())?;
        }
        Ok(())
    }

    /// The results of the row that ends here, each followed by its state if that is kept.
    fn reduced(&mut self) -> Run<Vec<Tensor>> {
        let mut all = Vec::new();
        for sink in &mut self.sinks {
            if let Sink::Fold { reduction, state, of: Fold::Row { keep } } = sink {
                let state = state.take();
                let kept = match (&state, keep) {
                    (_, false) => Vec::new(),
                    (Some(state), true) => state.clone(),
                    (None, true) => reduction.identity()?,
                };
                all.extend(reduction.results(state)?);
                all.extend(kept);
            }
        }
        Ok(all)
    }

    fn node(
        &self,
        frame: &mut Frame<'m>,
        node: Region,
        reduced: Vec<Tensor>,
        elements: Vec<Option<Tensor>>,
    ) -> Run<Vec<Tensor>> {
        let read = self.inputs.iter().zip(elements).filter_map(|((role, field), element)| match role {
            Role::Param => Some(field.clone()),
            _ => element,
        });
        self.machine.run_tensors(frame, node, reduced.into_iter().chain(read))
    }

    /// Results of edges and totals; `None` is a field of edges without edges.
    fn tail(&mut self) -> Run<Vec<Option<Tensor>>> {
        let mut tail = Vec::new();
        let edges = self.rel.num_edges();
        for sink in &mut self.sinks {
            match sink {
                Sink::Edge { first, elems } => tail.push(first.take().map(|first| {
                    Tensor::of_elems(first.dtype(), [&[edges], first.shape()].concat(), std::mem::take(elems))
                })),
                Sink::Fold { reduction, state, of: Fold::Total } => {
                    tail.extend(reduction.results(state.take())?.into_iter().map(Some));
                }
                Sink::Fold { .. } => {}
            }
        }
        Ok(tail)
    }
}

impl<'m> Sink<'_, 'm> {
    /// Takes its part of what the edge region yields; the rest.
    fn take<'y>(&mut self, frame: &Frame<'m>, yields: &'y [Handle], edge: usize, edges: usize) -> Run<&'y [Handle]> {
        let taken = match self {
            Sink::Edge { .. } => 1,
            Sink::Fold { reduction, .. } => reduction.message_len(),
        };
        let (mine, rest) = yields.split_at_checked(taken).ok_or_else(|| malformed("a message is missing"))?;
        let message = frame.tensors(mine)?;
        match self {
            Sink::Fold { reduction, state, .. } => *state = Some(reduction.fold(state.take(), message)?),
            Sink::Edge { first, elems } => {
                let value = message.into_iter().next().ok_or_else(|| malformed("a message is missing"))?;
                let size = value.elems().len();
                if first.is_none() {
                    let n = count(&[edges, size]).ok_or_else(|| malformed("too many edges"))?;
                    // Every edge is visited once, so that none of these stays.
                    *elems = vec![Scalar::from_i64(value.dtype(), 0); n];
                    *first = Some(value.clone());
                }
                let place = elems.get_mut(edge * size..(edge + 1) * size);
                place.ok_or_else(|| malformed("edges of another shape"))?.copy_from_slice(value.elems());
            }
        }
        Ok(rest)
    }
}
