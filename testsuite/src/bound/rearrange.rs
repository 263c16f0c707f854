//! Ops that move elements: a value keeps its bound wherever it goes, and nothing is known of what stands at an index
//! that is not.

use super::{Bounded, Field};
use tiga_abi::DType;
use tiga_ir::{InstData, Scalar, ops};

/// An operand with the number of its axes that are sets.
pub(super) struct Operand<'a> {
    pub field: &'a Field,
    pub sets: usize,
}

/// The result of an op that moves elements, of a shape; `begin` is the value of that attribute.
pub(super) fn rearranged(
    data: &InstData,
    operands: &[Operand<'_>],
    shape: Vec<usize>,
    dtype: DType,
    begin: usize,
) -> Option<Field> {
    let count: usize = shape.iter().product();
    let elems = (0..count).map(|flat| moved(data, operands, &index(flat, &shape), dtype, begin));
    Some(Field { elems: elems.collect::<Option<_>>()?, shape })
}

/// The element of the result at an index.
fn moved(data: &InstData, operands: &[Operand<'_>], at: &[usize], dtype: DType, begin: usize) -> Option<Bounded> {
    let axis = data.attrs.axis().map_or(0, |axis| *axis as usize);
    match data.op {
        op if op == ops::IOTA => Some(Bounded::exact(Scalar::I64(at[0] as i64))),
        op if op == ops::SLICE => {
            let mut at = at.to_vec();
            at[axis + operands[0].sets] += begin;
            Some(element(operands[0].field, &at))
        }
        op if op == ops::PERMUTE => {
            let sets = operands[0].sets;
            let mut from = vec![0; operands[0].field.shape.len()];
            from[..sets].copy_from_slice(&at[..sets]);
            for (i, axis) in data.attrs.pattern()?.iter().enumerate().filter(|(_, axis)| **axis >= 0) {
                from[sets + *axis as usize] = at[sets + i];
            }
            Some(element(operands[0].field, &from))
        }
        op if op == ops::CONCAT => {
            let (mut last, leading) = (*at.last()?, &at[..at.len() - 1]);
            for operand in operands {
                let width = *operand.field.shape.last()?;
                if last < width {
                    return Some(element(operand.field, &[leading, &[last]].concat()));
                }
                last -= width;
            }
            None
        }
        op if op == ops::GATHER_AXIS => {
            let [x, ids] = operands else { return None };
            let (set, rest) = at.split_at(x.sets.max(ids.sets));
            let (before, rest) = rest.split_at(axis);
            let (wanted, after) = rest.split_at(ids.field.shape.len() - ids.sets);
            let id = element(ids.field, &[&set[..ids.sets], wanted].concat());
            Some(looked_up(x.field, id, dtype, |id| [&set[..x.sets], before, &[id], after].concat()))
        }
        op if op == ops::GATHER_SET => {
            let [x, ids] = operands else { return None };
            let (wanted, features) = at.split_at(ids.field.shape.len());
            let id = element(ids.field, wanted);
            Some(looked_up(x.field, id, dtype, |id| [&[id], features].concat()))
        }
        _ => None,
    }
}

/// What stands at an index, 0 where there is nothing.
fn looked_up(field: &Field, id: Bounded, dtype: DType, at: impl Fn(usize) -> Vec<usize>) -> Bounded {
    let found = id.value.as_i64().and_then(|id| usize::try_from(id).ok());
    let found = found.map(at).filter(|at| at.iter().zip(&field.shape).all(|(i, extent)| i < extent));
    let found = found.map_or(Bounded::exact(Scalar::from_i64(dtype, 0)), |at| element(field, &at));
    if id.bound == 0.0 { found } else { Bounded::unknown(found.value) }
}

fn element(field: &Field, at: &[usize]) -> Bounded {
    field.elems[at.iter().zip(&field.shape).fold(0, |flat, (i, extent)| flat * extent + i)]
}

fn index(mut flat: usize, shape: &[usize]) -> Vec<usize> {
    let mut at = vec![0; shape.len()];
    for (i, extent) in at.iter_mut().zip(shape).rev() {
        *i = flat % extent;
        flat /= extent;
    }
    at
}
