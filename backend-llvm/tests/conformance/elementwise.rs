//! Cases of the ops that work element by element: what they must give is what the op itself evaluates to.

use crate::case::{Case, Shape, unit_loop};
use crate::values::{Random, specials};
use tiga_abi::DType;
use tiga_ir::{Attr, Attrs, Builder, Key, Op, Scalar, ops, parse_module, print_func};

/// All of them in these shapes: op × operand type × conversion × shape. Those that are no kernel instructions stand as
/// what they expand to.
pub fn cases(shapes: &[Shape]) -> Vec<Case> {
    let mut out = Vec::new();
    for op in ops::ALL.iter().copied().filter(|op| op.elementwise().is_some()) {
        for dtype in DType::ALL {
            for (attrs, dtypes, result) in typings(op, dtype) {
                let operands = operands(&dtypes);
                out.extend(shapes.iter().map(|shape| case(op, &attrs, &dtypes, result, &operands, *shape)));
            }
        }
    }
    out
}

/// The ways in which a kernel's op takes elements of `dtype`: attributes, operand types, result type. Halves are moved
/// and converted only.
pub fn typings(op: Op, dtype: DType) -> Vec<(Attrs, Vec<DType>, DType)> {
    let Some(rule) = op.elementwise().filter(|rule| rule.moves() || !dtype.is_half()) else { return Vec::new() };
    let mut dtypes = vec![dtype; rule.arity()];
    if op == ops::SELECT {
        dtypes[0] = DType::Bool;
    }
    let attrs: Vec<Attrs> = if op == ops::CAST || op == ops::BITCAST {
        DType::ALL.map(|to| Attrs::new().with(Key::To, Attr::DType(to))).to_vec()
    } else {
        vec![Attrs::new()]
    };
    let typed = |attrs: Attrs| rule.result(&dtypes, &attrs).map(|result| (attrs, dtypes.clone(), result));
    attrs.into_iter().filter_map(typed).collect()
}

/// Tuples of operands: all pairs of special elements, then random ones up to a multiple of all lane counts.
fn operands(dtypes: &[DType]) -> Vec<Vec<Scalar>> {
    let mut random = Random::new(dtypes.len() as u64);
    let mut tuples: Vec<Vec<Scalar>> = match dtypes {
        [one] => specials(*one).into_iter().map(|a| vec![a]).collect(),
        [one, two] => {
            let pairs = specials(*one).into_iter().flat_map(|a| specials(*two).into_iter().map(move |b| vec![a, b]));
            pairs.collect()
        }
        _ => Vec::new(),
    };
    let total = (tuples.len() + 300).max(1000).next_multiple_of(3 * 64);
    while tuples.len() < total {
        tuples.push(dtypes.iter().map(|d| random.element(*d)).collect());
    }
    tuples
}

fn case(op: Op, attrs: &Attrs, dtypes: &[DType], result: DType, tuples: &[Vec<Scalar>], shape: Shape) -> Case {
    let to = attrs.to().map_or(String::new(), |to| format!(" to({to})"));
    let suffix = attrs.to().map_or(String::new(), |to| format!(".{to}"));
    let dtype = *dtypes.last().expect("elementwise ops have operands");
    let name = format!("{}.{dtype}{suffix}.{}", op.name(), shape.0);
    let mut params: Vec<(String, DType)> = dtypes.iter().enumerate().map(|(i, d)| (format!("a{i}"), *d)).collect();
    params.push(("out".into(), result));
    let loads: String = dtypes
        .iter()
        .enumerate()
        .map(|(i, d)| format!("  %x{i} = ptr.load %a{i}, %at{} : {}\n", shape.attr(), shape.of(*d)))
        .collect();
    let args: Vec<String> = (0..dtypes.len()).map(|i| format!("%x{i}")).collect();
    let call = if op.kernel().is_some() { format!("{} {}{to}", op.name(), args.join(", ")) } else { "neg %x0".into() };
    let body = format!("{loads}  %r = {call} : {}\n  ptr.store %r, %out, %at", shape.of(result));
    let mut text = unit_loop(&name, &params, shape.lanes(), &body);
    if op.kernel().is_none() {
        text = expand(&text, op, dtypes.len());
    }
    let expected: Vec<Scalar> =
        tuples.iter().map(|args| op.eval(args, attrs).expect("elementwise ops evaluate")).collect();
    let mut arrays: Vec<Vec<Scalar>> =
        (0..dtypes.len()).map(|i| tuples.iter().map(|tuple| tuple[i]).collect()).collect();
    arrays.push(vec![Scalar::from_i64(result, 1); tuples.len()]);
    Case {
        op,
        dtype,
        shape,
        text,
        name,
        sym: Vec::new(),
        arrays,
        units: (tuples.len() / shape.lanes()) as i64,
        expected,
    }
}

/// A kernel with the expansion of `op` in place of its only `neg`.
fn expand(text: &str, op: Op, arity: usize) -> String {
    let mut module = parse_module("frame.tir", text).unwrap();
    let (_, mut func) = module.funcs.pop().unwrap();
    let is_neg = |body: &tiga_ir::Body, inst: &tiga_ir::Inst| body.inst(*inst).op == ops::NEG;
    let blocks = func.body.region(func.region).blocks.clone();
    let block = blocks.into_iter().find(|b| func.body.block(*b).insts.iter().any(|i| is_neg(&func.body, i))).unwrap();
    let insts = std::mem::take(&mut func.body.block_mut(block).insts);
    let at = insts.iter().position(|i| is_neg(&func.body, i)).unwrap();
    func.body.block_mut(block).insts = insts[..at].to_vec();
    let args: Vec<_> = insts[at - arity..at].iter().map(|load| func.body.result(*load)).collect();
    let mut builder = Builder::new(&module, &mut func.body, block);
    let value = op.elementwise().unwrap().expand(&mut builder, &args).unwrap().unwrap();
    func.body.block_mut(block).insts.extend(&insts[at + 1..]);
    let placeholder = func.body.result(insts[at]);
    func.body.replace_uses(func.region, placeholder, value);
    print_func(&func)
}
