//! A program with what the command line binds to it.

use crate::inputs::Inputs;
use crate::outputs::Expected;
use anyhow::{Error, Result, bail};
use tiga_abi::DType;
use tiga_bundle::Program;
use tiga_formats::{Array, Counted, Elements, Limits};
use tiga_runtime::{ArrayRef, Bundle, Call, Origin, RuntimeError, zeroed};

/// A program with all that is bound to it.
pub(crate) struct Bound<'a> {
    pub(crate) bundle: &'a Bundle,
    pub(crate) program: &'a Program,
    pub(crate) inputs: &'a Inputs,
    pub(crate) dims: &'a [Counted],
}

impl<'a> Bound<'a> {
    /// A call with all inputs bound.
    pub(crate) fn call(&self) -> Result<Call<'a>, RuntimeError> {
        let mut call = self.bundle.call(&self.program.name)?;
        self.bind(&mut call)?;
        Ok(call)
    }

    /// Binds all inputs to a call.
    pub(crate) fn bind<'c>(&self, call: &mut Call<'c>) -> Result<(), RuntimeError>
    where
        'a: 'c,
    {
        for (name, open) in &self.inputs.graphs {
            call.graph(name, &open.graph)?;
        }
        for (name, (dtype, array)) in &self.inputs.arrays {
            call.input(name, ArrayRef::new(*dtype, array.shape(), array.as_bytes()))?;
        }
        for Counted { name, value } in self.dims {
            call.dim(name, *value)?;
        }
        Ok(())
    }

    /// Types and shapes of the results, which those expected have, and which there is memory for.
    pub(crate) fn shapes(&self, expected: &[Expected]) -> Result<Vec<(String, DType, Vec<usize>)>> {
        let shapes = self.call().and_then(|call| call.result_shapes()).map_err(|error| self.by_options(error))?;
        for one in expected {
            let of = shapes.iter().find(|(name, ..)| *name == one.result);
            let (name, dtype, shape) = of.expect("results have the program's names");
            if one.array.shape() != shape {
                bail!("{}: expected {dtype}{shape:?} for `{name}`, found {:?}", one.option, one.array.shape());
            }
        }
        let all = shapes.iter().fold(0_u64, |sum, (_, dtype, shape)| sum.saturating_add(bytes(*dtype, shape)));
        if let Err(short) = Limits::room_for(all) {
            bail!(too_large(&shapes, all, short.limit));
        }
        Ok(shapes)
    }

    /// A refusal of the runtime in the words of the command line.
    pub(crate) fn by_options(&self, error: RuntimeError) -> Error {
        match error {
            RuntimeError::Unbound(size) => {
                anyhow::anyhow!("no input fixes the size `{size}`: give it with --dim {size}=N")
            }
            RuntimeError::Conflict { symbol, first, first_origin, second, second_origin } => {
                let place = |origin: &Origin, value| match origin {
                    Origin::Given => format!("--dim {symbol}={value}"),
                    other => other.to_string(),
                };
                let (one, other) = (place(&first_origin, first), place(&second_origin, second));
                let advice = [&first_origin, &second_origin].into_iter().find_map(|origin| self.count_nodes(origin));
                anyhow::anyhow!("{symbol} is {first} by {one}, but {second} by {other}{}", advice.unwrap_or_default())
            }
            other => other.into(),
        }
    }

    /// How to say the number of nodes, where a size comes of a file that does not.
    fn count_nodes(&self, origin: &Origin) -> Option<String> {
        let Origin::Graph { what: "sources" | "destinations", parameter } = origin else { return None };
        let file = &self.inputs.graphs.get(parameter)?.file;
        if !file.sized_by_ids {
            return None;
        }
        let from_zero =
            file.csr.num_dst() == 0 || !file.csr.row(0).is_empty() || file.csr.col().iter().any(|source| source == 0);
        Some(if from_zero {
            format!(
                "; the file of `{parameter}` does not say how many nodes there are: :nodes=N behind its name does, \
                 or :nodes=N,M for N sources and M destinations"
            )
        } else {
            format!("; no edge in the file of `{parameter}` has node 0: nodes are numbered from 0, not from 1")
        })
    }
}

/// Zeros for a result, in huge pages where it is large.
pub(crate) fn result(name: &str, dtype: DType, shape: &[usize]) -> Result<Array> {
    let elements = match dtype {
        DType::Bool => zeroed(name, shape).map(Elements::Bool),
        DType::I32 => zeroed(name, shape).map(Elements::I32),
        DType::I64 => zeroed(name, shape).map(Elements::I64),
        DType::F16 => zeroed(name, shape).map(Elements::F16),
        DType::BF16 => zeroed(name, shape).map(Elements::BF16),
        DType::F32 => zeroed(name, shape).map(Elements::F32),
        DType::F64 => zeroed(name, shape).map(Elements::F64),
    };
    let short = |_| {
        let one = [(name.to_owned(), dtype, shape.to_vec())];
        Error::msg(too_large(&one, bytes(dtype, shape), Limits::of_this_machine().memory))
    };
    Ok(Array::new(shape.to_vec(), elements.map_err(short)?)?)
}

/// Bytes of an array; as many as can be said if they are more.
pub(crate) fn bytes(dtype: DType, shape: &[usize]) -> u64 {
    let zero = shape.contains(&0);
    let count = shape.iter().fold(u64::from(!zero), |count, extent| count.saturating_mul(*extent as u64));
    count.saturating_mul(dtype.bytes() as u64)
}

/// `all` bytes of results, of which `available` may be used.
fn too_large(results: &[(String, DType, Vec<usize>)], all: u64, available: u64) -> String {
    let largest = results.iter().max_by_key(|(_, dtype, shape)| bytes(*dtype, shape));
    let (name, dtype, shape) = largest.expect("what needs memory is a result");
    match results {
        [_] => format!("the result `{name}`: {dtype}{shape:?} needs {all} bytes of memory, {available} may be used"),
        _ => format!(
            "the results need {all} bytes of memory, {available} may be used; the largest is `{name}`: {dtype}{shape:?}"
        ),
    }
}
