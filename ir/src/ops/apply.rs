//! `apply`: a message on a relation. Edge region, reducers, optional node region; rows, edges and totals as results.

use crate::{
    Effect, Fit, Key, Level, Levels, Op, OpDef, OpView, Reducer, RelType, Role, Target, TensorType, Type, TypeError,
};

struct Apply;

impl OpDef for Apply {
    fn name(&self) -> &'static str {
        "apply"
    }
    fn levels(&self) -> Levels {
        &[Level::Domain]
    }
    fn regions(&self) -> (usize, usize) {
        (1, 2)
    }
    fn effect(&self) -> Effect {
        Effect::Pure
    }
    fn infer(&self, op: OpView<'_>) -> Result<Vec<Type>, TypeError> {
        let rel = op.operand(0)?.as_rel().ok_or_else(|| op.wrong(0, "a relation"))?;
        let roles = op.attrs().roles().ok_or_else(|| op.missing(Key::Roles))?;
        op.arity(roles.len() + 1)?;
        check_region_params(op, 0, &edge_params(op, rel, roles)?)?;
        let rows = target_rows(op)?;
        if op.regions().len() == 2 {
            check_region_params(op, 1, &node_params(op, rel, roles, &rows)?)?;
        }
        results(op, rel, &rows)
    }
}

/// `apply %g, fields… roles(…) targets(…) (edge region) [(node region)]`
pub const APPLY: Op = Op(&Apply);

/// What one target receives and gives.
pub(crate) struct TargetRow<'a> {
    target: &'a Target,
    /// Results after finalize, without the set.
    outs: Vec<TensorType>,
    /// States, mapped.
    states: Vec<TensorType>,
}

fn check_region_params(op: OpView<'_>, index: usize, expected: &[Type]) -> Result<(), TypeError> {
    let found: Vec<Type> = op.region_params(index)?.into_iter().cloned().collect();
    let list = |types: &[Type]| types.iter().map(Type::to_string).collect::<Vec<_>>().join(", ");
    if found == expected { Ok(()) } else { Err(op.region_error(index, list(expected), list(&found))) }
}

fn edge_params(op: OpView<'_>, rel: &RelType, roles: &[Role]) -> Result<Vec<Type>, TypeError> {
    roles.iter().enumerate().map(|(i, role)| element(op, rel, i + 1, *role)).collect()
}

fn element(op: OpView<'_>, rel: &RelType, index: usize, role: Role) -> Result<Type, TypeError> {
    let set = match role {
        Role::Src => Some(&rel.src),
        Role::Dst => Some(&rel.dst),
        Role::Edge => Some(&rel.edges),
        Role::Param => None,
    };
    let ty = op.operand(index)?.as_tensor().filter(|t| t.set.as_ref() == set);
    let expected = || set.map_or("a tensor without a set".to_owned(), |s| format!("a field over {s}"));
    Ok(ty.ok_or_else(|| op.wrong(index, expected()))?.element().into())
}

fn node_params(op: OpView<'_>, rel: &RelType, roles: &[Role], rows: &[TargetRow<'_>]) -> Result<Vec<Type>, TypeError> {
    let mut params: Vec<Type> = Vec::new();
    for row in rows {
        if let Target::Row { keep, .. } = row.target {
            params.extend(row.outs.iter().cloned().map(Type::from));
            if *keep {
                params.extend(row.states.iter().cloned().map(Type::from));
            }
        }
    }
    for (i, role) in roles.iter().enumerate().filter(|(_, r)| matches!(r, Role::Dst | Role::Param)) {
        params.push(element(op, rel, i + 1, *role)?);
    }
    Ok(params)
}

fn target_rows<'a>(op: OpView<'a>) -> Result<Vec<TargetRow<'a>>, TypeError> {
    let targets = op.attrs().targets().ok_or_else(|| op.missing(Key::Targets))?;
    let yields = op.region_yields(0)?;
    let tensors: Vec<&TensorType> = yields.iter().filter_map(|t| t.as_tensor()).collect();
    let mut next = 0;
    let mut rows = Vec::new();
    for target in targets {
        let (taken, outs, states) = match target {
            Target::Edge => (1, tensors.get(next).map(|t| vec![(*t).clone()]).unwrap_or_default(), Vec::new()),
            Target::Row { reducer, .. } | Target::Total { reducer } => {
                let reducer = super::reduce::find(op, reducer)?;
                let message = tensors.get(next..).unwrap_or(&[]);
                let fit = fit_message(op, 0, reducer, message)?;
                (reducer.message().len(), fit.all_outside(&reducer.outs), fit.all_outside(reducer.states()))
            }
        };
        next += taken;
        rows.push(TargetRow { target, outs, states });
    }
    if next != yields.len() || tensors.len() != yields.len() {
        return Err(op.region_error(0, format!("{next} yielded tensors"), format!("{}", yields.len())));
    }
    Ok(rows)
}

fn results(op: OpView<'_>, rel: &RelType, rows: &[TargetRow<'_>]) -> Result<Vec<Type>, TypeError> {
    let field =
        |set: &tiga_abi::Symbol, t: &TensorType| Type::Tensor(TensorType { set: Some(set.clone()), ..t.clone() });
    let mut out = Vec::new();
    if op.regions().len() == 2 {
        for ty in op.region_yields(1)? {
            let t = ty.as_tensor().ok_or_else(|| op.region_error(1, "tensors", ty.to_string()))?;
            out.push(field(&rel.dst, t));
        }
    } else {
        let of_rows = rows.iter().filter(|r| matches!(r.target, Target::Row { .. }));
        out.extend(of_rows.flat_map(|r| r.outs.iter().chain(kept(r)).map(|t| field(&rel.dst, t))));
    }
    for row in rows {
        match row.target {
            Target::Row { .. } => {}
            Target::Edge => out.extend(row.outs.iter().map(|t| field(&rel.edges, t))),
            Target::Total { .. } => out.extend(row.outs.iter().cloned().map(Type::from)),
        }
    }
    Ok(out)
}

fn kept<'a>(row: &'a TargetRow<'_>) -> &'a [TensorType] {
    if matches!(row.target, Target::Row { keep: true, .. }) { &row.states } else { &[] }
}

/// How the first of some types are a message of a reducer.
pub(crate) fn fit_message(
    op: OpView<'_>,
    region: usize,
    reducer: &Reducer,
    message: &[&TensorType],
) -> Result<Fit, TypeError> {
    let expected = reducer.message();
    let list = |types: &[&TensorType]| types.iter().map(|t| t.to_string()).collect::<Vec<_>>().join(", ");
    let fit = message.get(..expected.len()).and_then(|taken| reducer.fit_message(taken));
    fit.ok_or_else(|| {
        op.region_error(region, format!("a message of @{}: {}", reducer.name, list(&expected)), list(message))
    })
}
