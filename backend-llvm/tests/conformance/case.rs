//! What a case is: a kernel as text, its arrays, and what its output must hold. Independent of any backend.

use tiga_abi::DType;
use tiga_ir::{Op, Scalar};

/// One lane, or this many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shape(pub u32);

impl Shape {
    /// The shapes every op must be tried with, as far as it has them.
    pub const ALL: [Shape; 4] = [Shape(1), Shape(4), Shape(8), Shape(16)];

    /// Elements.
    pub fn lanes(self) -> usize {
        self.0 as usize
    }

    /// The type with these elements, as text.
    pub fn of(self, dtype: DType) -> String {
        if self.0 == 1 { dtype.to_string() } else { format!("v{}{dtype}", self.0) }
    }

    /// Widths that no register has.
    pub const ODD: [Shape; 2] = [Shape(3), Shape(64)];

    /// The attribute of a load.
    pub fn attr(self) -> String {
        if self.0 == 1 { String::new() } else { format!(" lanes({})", self.0) }
    }
}

/// A kernel with inputs and the expected output.
pub struct Case {
    /// The op it is about.
    pub op: Op,
    /// The element type it is about.
    pub dtype: DType,
    /// The shape it is about.
    pub shape: Shape,
    /// The kernel's name, unique in the suite.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Values of its symbols.
    pub sym: Vec<i64>,
    /// Its arrays; the last one is the output.
    pub arrays: Vec<Vec<Scalar>>,
    /// How many units it has.
    pub units: i64,
    /// The output afterwards.
    pub expected: Vec<Scalar>,
}

/// A kernel's frame: a loop over units with `%at`, the first element of the unit, in scope.
pub fn unit_loop(name: &str, params: &[(String, DType)], lanes: usize, body: &str) -> String {
    let params: String = params.iter().map(|(name, dtype)| format!("%{name}: ptr<{dtype}>, ")).collect();
    format!(
        "kernel @{name}({params}%unit_begin: i64, %unit_end: i64) {{
  %one = const value(i64 1) : i64
  %n = const value(i64 {lanes}) : i64
  jump ^head(%unit_begin)
^head(%i: i64):
  %more = lt %i, %unit_end : bool
  branch %more ^body, ^done
^body():
  %at = mul %i, %n : i64
{body}
  %next = add %i, %one : i64
  jump ^head(%next)
^done():
  return
}}
"
    )
}

/// The bytes of an array.
pub fn bytes(elements: &[Scalar]) -> Vec<u8> {
    elements.iter().flat_map(|e| e.bits().to_le_bytes()[..e.dtype().bytes()].to_vec()).collect()
}

/// The elements in bytes.
pub fn elements(dtype: DType, bytes: &[u8]) -> Vec<Scalar> {
    let element = |chunk: &[u8]| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        assert!(dtype != DType::Bool || word[0] <= 1, "a bool in memory is 0 or 1, not {}", word[0]);
        Scalar::from_bits(dtype, u64::from_le_bytes(word))
    };
    bytes.chunks_exact(dtype.bytes()).map(element).collect()
}
