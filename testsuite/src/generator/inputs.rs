//! Random arguments: mostly small numbers, some of them special.

use super::graph::second_graph;
use super::program::{Generated, SECOND_EDGES};
use crate::road::relation;
use fastrand::Rng;
use std::fmt;
use tiga_abi::{DType, Symbol};
use tiga_formats::Csr;
use tiga_ir::interp::{Relation, Tensor, Value};
use tiga_ir::{Scalar, Type};

/// Arguments of one run.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// One value a parameter, the relation included.
    pub values: Vec<Value>,
    /// The feature extent `F`.
    pub features: usize,
}

impl Inputs {
    /// The graphs, in order.
    pub fn relations(&self) -> impl Iterator<Item = &Relation> {
        self.values.iter().filter_map(|value| match value {
            Value::Rel(relation) => Some(&**relation),
            _ => None,
        })
    }

    /// The value of a symbol of random programs: nodes `N`, sources `M` if they are another set, edges `E`, those of a
    /// second graph `E2`, features `F`.
    pub fn size(&self, symbol: &str) -> Option<i64> {
        let relation = self.relations().next();
        match symbol {
            "F" => Some(self.features as i64),
            "N" => Some(relation?.num_dst() as i64),
            "M" => Some(relation?.num_src() as i64),
            "E" => Some(relation?.num_edges() as i64),
            SECOND_EDGES => Some(self.relations().nth(1)?.num_edges() as i64),
            _ => None,
        }
    }
}

impl fmt::Display for Inputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "F = {}", self.features)?;
        for g in self.relations() {
            write!(f, ", {} sources, {} destinations, {} edges", g.num_src(), g.num_dst(), g.num_edges())?;
        }
        Ok(())
    }
}

/// Random arguments for a program on a graph; a second one is drawn.
pub fn inputs(rng: &mut Rng, generated: &Generated, csr: &Csr) -> Inputs {
    let features = [0, 1, 2, 3, 5, 8, 16, 17, 64, 70][rng.usize(0..10)];
    let func = generated.func();
    let rels = func.params().iter().filter_map(|v| func.body.ty(*v).as_rel());
    let of_set = |set: &Symbol| if &**set == "N" { csr.num_dst() } else { csr.num_src() };
    let second = rels.skip(1).map(|rel| second_graph(rng, of_set(&rel.src), of_set(&rel.dst))).next();
    let size = |symbol: &Symbol| match &**symbol {
        "N" => csr.num_dst(),
        "M" => csr.num_src(),
        "E" => csr.num_edges(),
        SECOND_EDGES => second.as_ref().map_or(0, Csr::num_edges),
        _ => features,
    };
    let mut graphs = std::iter::once(csr).chain(&second);
    let mut values = Vec::new();
    for param in func.params() {
        values.push(match func.body.ty(*param) {
            Type::Rel(_) => relation(graphs.next().expect("there are two graphs at most")).into(),
            ty => {
                let tensor = ty.as_tensor().expect("parameters are relations and tensors");
                let extent = |e: &tiga_abi::Poly| e.eval(&|s| Some(size(&s.into()) as i64)).expect("sizes are small");
                let shape: Vec<usize> = tensor.extents().iter().map(|e| extent(e) as usize).collect();
                let count = shape.iter().product();
                let elements = (0..count).map(|_| element(rng, tensor.dtype)).collect();
                Tensor::new(tensor.dtype, shape, elements).expect("as many elements as the shape has").into()
            }
        });
    }
    Inputs { values, features }
}

/// One element; one in sixteen is special.
pub(super) fn element(rng: &mut Rng, dtype: DType) -> Scalar {
    const FLOATS: [f64; 10] =
        [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 0.0, 1e-310, 1e-40, 1e-6, 65504.0, 1e300];
    let special = rng.u8(0..16) == 0;
    match dtype {
        DType::Bool => Scalar::Bool(rng.bool()),
        _ if dtype.is_float() && special => Scalar::from_f64(dtype, FLOATS[rng.usize(0..FLOATS.len())]),
        DType::F16 | DType::BF16 | DType::F32 | DType::F64 => Scalar::from_f64(dtype, rng.f64() * 4.0 - 2.0),
        DType::I32 if special => Scalar::I32([i32::MIN, i32::MAX, 0, -1][rng.usize(0..4)]),
        DType::I64 if special => Scalar::I64([i64::MIN, i64::MAX, 0, -1][rng.usize(0..4)]),
        DType::I32 | DType::I64 => Scalar::from_i64(dtype, rng.i64(-9..10)),
    }
}
