//! The kernel ABI: where each parameter of a kernel comes from.

use crate::LlvmError;
use tiga_abi::DType;
use tiga_ir::{Func, Type};

/// Where a parameter comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// `args.sym[i]`
    Symbol(u64),
    /// `args.ptr[i]`
    Pointer(u64),
    /// `args.scratch`
    Scratch,
    /// The second argument of the C function.
    UnitBegin,
    /// The third argument of the C function.
    UnitEnd,
}

/// The source of every parameter, in order.
pub(crate) fn sources(func: &Func) -> Result<Vec<Source>, LlvmError> {
    let params = func.params();
    let ty = |i: usize| func.body.ty(params[i]);
    let is_i64 = |i: usize| ty(i).is_scalar(DType::I64);
    let wrong = |index: usize, expected| LlvmError::Parameter {
        kernel: func.name.to_string(),
        index,
        name: func.param_name(index).to_owned(),
        found: Box::new(ty(index).clone()),
        expected,
    };
    let Some(units) = params.len().checked_sub(2).filter(|n| is_i64(*n) && is_i64(n + 1)) else {
        return Err(LlvmError::NoUnits(func.name.to_string()));
    };
    let symbols = (0..units).take_while(|i| is_i64(*i)).count();
    let mut out: Vec<Source> = (0..symbols as u64).map(Source::Symbol).collect();
    for index in symbols..units {
        match ty(index) {
            Type::Ptr(_) if index + 1 == units && func.param_name(index) == "scratch" => out.push(Source::Scratch),
            Type::Ptr(_) => out.push(Source::Pointer((index - symbols) as u64)),
            _ => return Err(wrong(index, "after the i64 symbols come pointers, then the units")),
        }
    }
    out.extend([Source::UnitBegin, Source::UnitEnd]);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::{Source, sources};
    use tiga_ir::parse_module;

    fn of(params: &str) -> Result<Vec<Source>, String> {
        let module = parse_module("k.tir", &format!("kernel @k({params}) {{ return }}")).unwrap();
        sources(&module.funcs["k"]).map_err(|e| e.to_string())
    }

    #[test]
    fn parameters_follow_the_contract() {
        use Source::*;
        let all = "%F: i64, %x: ptr<f32>, %g.col: ptr<i32>, %scratch: ptr<f64>, %unit_begin: i64, %unit_end: i64";
        assert_eq!(of(all), Ok(vec![Symbol(0), Pointer(0), Pointer(1), Scratch, UnitBegin, UnitEnd]));
        assert_eq!(of("%unit_begin: i64, %unit_end: i64"), Ok(vec![UnitBegin, UnitEnd]));
        assert!(of("%x: f32, %b: i64, %e: i64").unwrap_err().contains("parameter 0 of kernel `@k` is `x: f32`"));
        assert!(of("%p: ptr<f32>, %F: i64, %b: i64, %e: i64").unwrap_err().contains("parameter 1"));
        assert!(of("%b: i64").unwrap_err().contains("must end with"));
    }
}
