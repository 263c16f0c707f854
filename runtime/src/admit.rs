//! What must hold before a plan runs: its documents may run at these sizes, and it writes only what it may write.

use crate::RuntimeError;
use crate::error::PlanProblem;
use crate::memory::check_room;
use tiga_bundle::Program;
use tiga_plan::instantiate::{check_instance, instantiate};
use tiga_plan::{Body, Owner, Resource, Task, TaskKind, Template};

/// Makes the plan's documents at given sizes and proves each: a valid document of version 1 that keeps the hazard law.
/// Gives the bytes that the plan owns at the worst moment of its run.
pub(crate) fn check_instances(plan: &Template, sizes: &dyn Fn(&str) -> Option<i64>) -> Result<u64, PlanProblem> {
    let instances = instantiate(plan, sizes)?;
    for instance in &instances {
        check_instance(&instance.document)
            .map_err(|error| PlanProblem::Instance { body: instance.name.clone(), error: Box::new(error) })?;
    }
    // The first instance is the root's, and its peak holds those of the bodies that it runs.
    let peaks = instances.first().into_iter().flat_map(|root| root.peak.values());
    Ok(peaks.fold(0, |sum: u64, bytes| sum.saturating_add(*bytes)))
}

/// Refuses a plan whose own values need more memory at once than there is, before any of it runs.
pub(crate) fn check_peak(plan: &Template, peak: u64, sizes: &dyn Fn(&str) -> Option<i64>) -> Result<(), RuntimeError> {
    let largest = || {
        let owned = plan.resources.values().filter(|resource| resource.owner == Owner::Owned);
        owned.max_by_key(|resource| resource.capacity.eval(sizes).unwrap_or(0))
    };
    check_room(peak, || match largest() {
        Some(value) => format!("`{}`, whose largest temporary is {},", plan.program, describe(value, sizes)),
        None => format!("`{}`", plan.program),
    })
}

/// `` `v0`: f64[200, 12]``.
pub(crate) fn describe(value: &Resource, sizes: &dyn Fn(&str) -> Option<i64>) -> String {
    format!("`{}`: {}", value.name, value.ty(sizes))
}

/// Finds a task that writes an input, a graph, or something derived from a graph that it does not build.
pub(crate) fn check_writes(plan: &Template, program: &Program) -> Result<(), PlanProblem> {
    let bodies = plan.bodies.values().chain([&plan.root]);
    for task in bodies.flat_map(|body: &Body| body.tasks.values()) {
        for resource in written(plan, task) {
            if !may_write(program, task, resource.owner, &resource.name) {
                return Err(PlanProblem::Writes { task: task.name.clone(), resource: resource.name.clone() });
            }
        }
    }
    Ok(())
}

fn written<'p>(plan: &'p Template, task: &'p Task) -> impl Iterator<Item = &'p Resource> {
    let rotated = match &task.kind {
        TaskKind::Loop { rotate, .. } => rotate.as_slice(),
        _ => &[],
    };
    let accessed = task.accesses.iter().filter(|access| access.mode.writes()).map(|access| access.resource);
    accessed.chain(rotated.iter().flat_map(|r| [r.a, r.b])).map(|id| &plan.resources[id])
}

fn may_write(program: &Program, task: &Task, owner: Owner, name: &str) -> bool {
    let builds = matches!(
        task.kind,
        TaskKind::BuildTranspose { .. } | TaskKind::BuildJoined { .. } | TaskKind::BuildUnits { .. }
    );
    match owner {
        Owner::Owned => true,
        Owner::Derived => builds,
        Owner::Stored => false,
        // What is neither a result, nor an input or a part of one, is a handle that rotates.
        Owner::Borrowed => {
            let input =
                |param: &str| name.strip_prefix(param).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
            program.results.iter().any(|r| r.name == name) || !program.params.iter().any(|p| input(&p.name))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cranelift_entity::PrimaryMap;
    use tiga_abi::{DType, SizeExpr, Tier};
    use tiga_bundle::{Param, Type};
    use tiga_plan::instantiate::InstanceError;
    use tiga_plan::{Access, Arg, Mode, Phase, ResourceId, Role, Units};

    /// `t = f(x); out = g(t)`, complete.
    fn template() -> Template {
        let mut resources = PrimaryMap::new();
        let mut add = |name: &str, owner| {
            let shape = vec![SizeExpr::Sym("N".into())];
            let capacity = SizeExpr::Mul(Box::new(SizeExpr::Const(8)), Box::new(shape[0].clone()));
            let (name, layout) = (name.into(), "contiguous".into());
            resources.push(Resource {
                name,
                tier: Tier::Ram,
                copy: 1,
                owner,
                dtype: DType::F64,
                shape,
                capacity,
                layout,
            })
        };
        let [x, out, t] = [add("x", Owner::Borrowed), add("out", Owner::Borrowed), add("v0", Owner::Owned)];
        let tasks = [kernel("f:0", x, t), kernel("g:0", t, out)];
        let root = Body { name: "p".into(), tasks: tasks.into_iter().collect(), externals: Vec::new() };
        let symbols = vec!["N".into()];
        let mut plan = Template { program: "p".into(), symbols, resources, root, bodies: PrimaryMap::new() };
        tiga_plan::passes::complete(&mut plan).unwrap();
        plan
    }

    fn kernel(name: &str, from: ResourceId, to: ResourceId) -> Task {
        let arg = |parameter: &str, resource, role| Arg { parameter: parameter.into(), resource, role };
        let access = |resource, mode| Access { resource, mode, partition: None };
        Task {
            name: name.into(),
            kind: TaskKind::Kernel { symbol: name.into(), relation: None, units: Units::Once },
            phase: Phase::Execute,
            after: Vec::new(),
            room_after: Vec::new(),
            args: vec![arg("from", from, Role::Dst), arg("to", to, Role::Out)],
            accesses: vec![access(from, Mode::Read), access(to, Mode::Write)],
        }
    }

    fn program() -> Program {
        let ty = || Type::Tensor { dtype: DType::F64, shape: Vec::new() };
        let param = |name: &str| Param { name: name.into(), doc: String::new(), ty: ty() };
        Program {
            name: "p".into(),
            doc: String::new(),
            symbols: Vec::new(),
            params: vec![param("x")],
            results: vec![param("out")],
            plan: "plans/p.json".into(),
        }
    }

    fn sizes(_: &str) -> Option<i64> {
        Some(5)
    }

    #[test]
    fn a_plan_that_needs_more_memory_than_there_is_may_not_run() {
        let plan = template();
        let sizes = |_: &str| Some(100_000_000_000_000);
        let peak = check_instances(&plan, &sizes).unwrap();
        assert_eq!(peak, 800_000_000_000_000);
        let error = check_peak(&plan, peak, &sizes).unwrap_err();
        assert!(matches!(error, RuntimeError::Memory { bytes, .. } if bytes == peak), "{error}");
        let text = error.to_string();
        assert!(text.starts_with("`p`, whose largest temporary is `v0`: f64[100000000000000], needs 8"), "{text}");
    }

    #[test]
    fn a_complete_plan_may_run() {
        let peak = check_instances(&template(), &sizes).unwrap();
        assert_eq!(peak, 40);
        assert!(check_peak(&template(), peak, &sizes).is_ok());
        assert!(check_writes(&template(), &program()).is_ok());
    }

    #[test]
    fn a_plan_without_its_order_may_not_run() {
        let mut plan = template();
        let waiting = plan.root.tasks.iter().find(|(_, t)| t.name == "g:0").unwrap().0;
        plan.root.tasks[waiting].after.clear();
        let problem = check_instances(&plan, &sizes).unwrap_err();
        assert!(matches!(&problem, PlanProblem::Instance { error, .. } if matches!(**error, InstanceError::Bind(_))));
        assert!(problem.to_string().contains("v0"), "{problem}");
    }

    #[test]
    fn sizes_that_no_document_can_hold_are_refused() {
        let problem = check_instances(&template(), &|_| Some(i64::MAX)).unwrap_err();
        assert!(matches!(problem, PlanProblem::Size(_)), "{problem}");
    }

    #[test]
    fn a_plan_that_writes_its_input_may_not_run() {
        let mut plan = template();
        let id = |plan: &Template, name: &str| plan.resources.iter().find(|(_, r)| r.name == name).unwrap().0;
        let (x, out) = (id(&plan, "x"), id(&plan, "out"));
        let writer = plan.root.tasks.iter().find(|(_, t)| t.name == "g:0").unwrap().0;
        let access = plan.root.tasks[writer].accesses.iter_mut().find(|a| a.resource == out).unwrap();
        access.resource = x;
        let problem = check_writes(&plan, &program()).unwrap_err();
        assert!(matches!(problem, PlanProblem::Writes { resource, .. } if resource == "x"));
        plan.resources[x].name = "x.row_ptr".into();
        assert!(check_writes(&plan, &program()).is_err(), "a part of a graph");
        plan.resources[x].owner = Owner::Derived;
        assert!(check_writes(&plan, &program()).is_err(), "not built by the task");
    }
}
