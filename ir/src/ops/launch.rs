//! Calls of functions: `call` (domain) and `launch` (host), with the callee's symbols inferred from the arguments.

use crate::{Effect, Func, Key, Level, Levels, Op, OpDef, OpView, TensorType, Type, TypeError, joined};
use indexmap::IndexMap;
use tiga_abi::{Poly, Symbol};

/// What the callee's symbols stand for at a call.
pub type Substitution = IndexMap<Symbol, Poly>;

fn callee<'a>(op: OpView<'a>, level: Level) -> Result<&'a Func, TypeError> {
    let name = op.attrs().callee().ok_or_else(|| op.missing(Key::Callee))?;
    let func = op.module.funcs.get(name).filter(|f| f.level == level);
    func.ok_or_else(|| TypeError::Unknown { op: op.name(), name: name.to_string() })
}

/// Matches parameter types with argument types; `None` if they do not fit.
pub fn unify(params: &[&Type], args: &[&Type]) -> Option<Substitution> {
    let mut map = Substitution::new();
    let pairs = || params.iter().zip(args);
    for (param, arg) in pairs() {
        for (p, a) in sets_of(param).into_iter().zip(sets_of(arg)) {
            bind_set(p, a, &mut map);
        }
        for (p, a) in dims_of(param).iter().zip(dims_of(arg)) {
            if let Some(symbol) = p.as_symbol() {
                map.entry(symbol.clone()).or_insert_with(|| a.clone());
            }
        }
    }
    let fits = params.len() == args.len() && pairs().all(|(p, a)| substitute(p, &map).as_ref() == Some(*a));
    fits.then_some(map)
}

fn sets_of(ty: &Type) -> Vec<&Symbol> {
    match ty {
        Type::Tensor(t) | Type::Buffer(t) => t.set.iter().collect(),
        Type::Rel(r) => vec![&r.src, &r.dst, &r.edges],
        Type::Vector(..) | Type::Ptr(_) => Vec::new(),
    }
}

fn dims_of(ty: &Type) -> &[Poly] {
    match ty {
        Type::Tensor(t) | Type::Buffer(t) => &t.dims,
        Type::Rel(_) | Type::Vector(..) | Type::Ptr(_) => &[],
    }
}

/// A parameter's set is the argument's; of sets made of others, each part is a part.
fn bind_set(param: &Symbol, arg: &Symbol, map: &mut Substitution) {
    let mut bind = |p: &str, a: &str| {
        map.entry(p.into()).or_insert_with(|| Poly::symbol(a));
    };
    if !joined::is_joined(param) {
        bind(param, arg);
    } else if joined::parts(param).count() == joined::parts(arg).count() {
        joined::parts(param).zip(joined::parts(arg)).for_each(|(p, a)| bind(p, a));
    }
}

/// A type with symbols replaced; `None` if a set would become something that is not one.
pub fn substitute(ty: &Type, map: &Substitution) -> Option<Type> {
    let part = |s: &str| match map.get(s) {
        Some(poly) => poly.as_symbol().cloned(),
        None => Some(s.into()),
    };
    let set = |s: &Symbol| joined::replace(s, &part);
    let tensor = |t: &TensorType| {
        let dims = t.dims.iter().map(|d| d.substitute(&|s| map.get(s).cloned())).collect();
        let set = match &t.set {
            Some(s) => Some(set(s)?),
            None => None,
        };
        Some(TensorType { dtype: t.dtype, set, dims })
    };
    Some(match ty {
        Type::Tensor(t) => Type::Tensor(tensor(t)?),
        Type::Buffer(t) => Type::Buffer(tensor(t)?),
        Type::Rel(r) => {
            Type::Rel(crate::RelType { kind: r.kind, src: set(&r.src)?, dst: set(&r.dst)?, edges: set(&r.edges)? })
        }
        Type::Vector(..) | Type::Ptr(_) => ty.clone(),
    })
}

/// The substitution of a call, checked.
pub(crate) fn bind(op: OpView<'_>, func: &Func) -> Result<Substitution, TypeError> {
    op.arity(func.params().len())?;
    let params: Vec<&Type> = func.params().iter().map(|v| func.body.ty(*v)).collect();
    let args: Vec<&Type> = (0..params.len()).map(|i| op.operand(i)).collect::<Result<_, _>>()?;
    if let Some(map) = unify(&params, &args) {
        return Ok(map);
    }
    let guilty = (1..=params.len()).find(|n| unify(&params[..*n], &args[..*n]).is_none()).unwrap_or(1) - 1;
    Err(op.wrong(guilty, params[guilty].to_string()))
}

struct Call;

impl OpDef for Call {
    fn name(&self) -> &'static str {
        "call"
    }
    fn levels(&self) -> Levels {
        &[Level::Domain]
    }
    fn infer(&self, op: OpView<'_>) -> Result<Vec<Type>, TypeError> {
        let func = callee(op, Level::Domain)?;
        let map = bind(op, func)?;
        let results = func.results.iter().map(|(_, ty)| substitute(ty, &map)).collect::<Option<Vec<_>>>();
        results.ok_or_else(|| op.wrong(0, "arguments that make sets of the callee's sets"))
    }
}

/// `call %args… callee(@program)`: inlined before anything else is done.
pub const CALL: Op = Op(&Call);

struct Launch;

impl OpDef for Launch {
    fn name(&self) -> &'static str {
        "launch"
    }
    fn levels(&self) -> Levels {
        &[Level::Host]
    }
    fn effect(&self) -> Effect {
        Effect::Write
    }
    fn infer(&self, op: OpView<'_>) -> Result<Vec<Type>, TypeError> {
        bind(op, callee(op, Level::Loops)?)?;
        Ok(Vec::new())
    }
}

/// `launch %args… callee(@function)`: one task; the callee writes some of its arguments.
pub const LAUNCH: Op = Op(&Launch);
