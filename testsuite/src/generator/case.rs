//! One program with its inputs as a `.tir` file: what the shrinker writes and regression tests read.

use super::Inputs;
use crate::differential::{Fault, Judge, Tally, Way};
use std::fmt;
use std::str::FromStr;
use tiga_abi::{DType, Symbol};
use tiga_ir::interp::{Relation, Tensor, Value};
use tiga_ir::{Module, parse_module, print_module};

/// A program with one set of inputs.
#[derive(Clone, Debug)]
pub struct Case {
    /// How it is compiled.
    pub way: Way,
    /// The program's name.
    pub program: Symbol,
    /// Its module.
    pub module: Module,
    /// Its inputs.
    pub inputs: Inputs,
}

/// Why a text is no case.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// A line of the header is missing.
    #[error("the header has no line `// {0}: …`")]
    Missing(&'static str),
    /// A line of the header that says nothing.
    #[error("cannot read `{0}`")]
    Line(String),
    /// The program.
    #[error(transparent)]
    Text(#[from] tiga_ir::ParseError),
}

impl Case {
    /// Compiles and runs it.
    ///
    /// # Errors
    /// [`Fault`]: that is what cases are kept for.
    pub fn judge(&self) -> Result<Tally, Fault> {
        let judge = Judge::new(&self.module, self.way)?;
        let mut tally = judge.run(&self.program, &self.inputs)?;
        tally.tiered = judge.run_in_tiers(&self.program, &self.inputs, 1)?;
        Ok(tally)
    }
}

/// The header in comments, one line a parameter, then the module.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "// program: {}", self.program)?;
        writeln!(f, "// optimised: {}", self.way.optimised)?;
        writeln!(f, "// small: {}", self.way.small)?;
        writeln!(f, "// target: {}", self.way.target)?;
        writeln!(f, "// without: {}", self.way.without)?;
        writeln!(f, "// features: {}", self.inputs.features)?;
        let numbers = |list: &[i64]| list.iter().map(i64::to_string).collect::<Vec<_>>().join(" ");
        for value in &self.inputs.values {
            match value {
                Value::Rel(g) => {
                    let (rows, col) = (numbers(g.row_ptr()), numbers(g.col()));
                    writeln!(f, "// graph: {} sources, rows {rows}, col {col}", g.num_src())?;
                }
                Value::Tensor(t) => {
                    let shape: Vec<String> = t.shape().iter().map(usize::to_string).collect();
                    let bytes: String = t.to_bytes().iter().map(|b| format!("{b:02x}")).collect();
                    writeln!(f, "// tensor: {}, shape {}, bytes {bytes}", t.dtype(), shape.join(" "))?;
                }
                Value::Buffer(_) => return Err(fmt::Error),
            }
        }
        write!(f, "\n{}", print_module(&self.module))
    }
}

impl FromStr for Case {
    type Err = CaseError;

    fn from_str(text: &str) -> Result<Self, CaseError> {
        let header = || text.lines().filter_map(|line| line.strip_prefix("// ")?.split_once(": "));
        fn one<T: FromStr>(found: Option<(&str, &str)>, key: &'static str) -> Result<T, CaseError> {
            let (_, value) = found.ok_or(CaseError::Missing(key))?;
            value.parse().map_err(|_| CaseError::Line(format!("{key}: {value}")))
        }
        let named = |key: &'static str| header().find(|(k, _)| *k == key);
        let values = header().filter_map(|(key, value)| match key {
            "graph" => Some(graph(value).ok_or_else(|| CaseError::Line(value.to_owned()))),
            "tensor" => Some(tensor(value).ok_or_else(|| CaseError::Line(value.to_owned()))),
            _ => None,
        });
        let values = values.collect::<Result<_, _>>()?;
        Ok(Case {
            way: Way {
                optimised: one(named("optimised"), "optimised")?,
                small: one(named("small"), "small")?,
                target: one(named("target"), "target")?,
                without: one(named("without"), "without")?,
            },
            program: one::<String>(named("program"), "program")?.into(),
            module: parse_module("case.tir", text)?,
            inputs: Inputs { values, features: one(named("features"), "features")? },
        })
    }
}

fn numbers<T: FromStr>(text: &str) -> Option<Vec<T>> {
    text.split_whitespace().map(|word| word.parse().ok()).collect()
}

fn graph(text: &str) -> Option<Value> {
    let (sources, rest) = text.split_once(" sources, rows ")?;
    let (rows, col) = rest.split_once(", col")?;
    Some(Relation::csr(sources.parse().ok()?, numbers(rows)?, numbers(col)?).ok()?.into())
}

fn tensor(text: &str) -> Option<Value> {
    let (dtype, rest) = text.split_once(", shape")?;
    let (shape, bytes) = rest.split_once(", bytes")?;
    let dtype = DType::ALL.into_iter().find(|d| d.to_string() == dtype)?;
    let digits = bytes.trim().as_bytes().chunks(2);
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes = digits.map(byte).collect::<Option<Vec<u8>>>()?;
    Some(Tensor::from_bytes(dtype, &numbers::<usize>(shape)?, &bytes).ok()?.into())
}
