//! Options of passes that `tigac` and `tiga-opt` have alike.

use crate::sema::Analysis;
use tiga_abi::{FpMode, Symbol};
use tiga_ir::SymKind;

/// What passes are told on the command line.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct PassArgs {
    /// Floating point: default (fixed trees, fused multiply-add) or strict (the plain left fold).
    #[arg(long, value_name = "MODE", value_enum, default_value = "default")]
    fp: Fp,
    /// Add kernels for these feature extents, as in F=16,64.
    #[arg(long, value_name = "DIM=N[,N…]", value_parser = extents)]
    specialize: Vec<Extents>,
}

/// How floating-point arithmetic may be arranged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Fp {
    /// Fixed leaves and accumulators, products contracted into sums.
    Default,
    /// The plain left fold without contraction.
    Strict,
}

/// Extents of one dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Extents {
    dim: Symbol,
    values: Vec<i64>,
}

fn extents(text: &str) -> Result<Extents, String> {
    let usage = || "expected DIM=N or DIM=N,N, as in F=16,64".to_owned();
    let (dim, values) = text.split_once('=').ok_or_else(usage)?;
    let values: Option<Vec<i64>> = values.split(',').map(|v| v.parse().ok().filter(|n| *n >= 0)).collect();
    Ok(Extents { dim: dim.into(), values: values.filter(|_| !dim.is_empty()).ok_or_else(usage)? })
}

impl PassArgs {
    /// The mode.
    pub(super) fn fp(&self) -> FpMode {
        match self.fp {
            Fp::Default => FpMode::Default,
            Fp::Strict => FpMode::Strict,
        }
    }

    /// Refuses to specialise for a dimension that no program has.
    pub(super) fn check_dimensions(&self, analysis: &Analysis) -> anyhow::Result<()> {
        let symbols = analysis.programs.iter().flat_map(|p| &p.symbols).filter(|s| s.kind == SymKind::Dim);
        let dims: Vec<&str> = symbols.map(|s| &*s.name).collect();
        for (dim, _) in self.specialize() {
            if dims.contains(&&*dim) {
                continue;
            }
            let nearest = tiga_source::nearest(&dim, dims.iter().copied());
            let hint = nearest.map_or(String::new(), |n| format!("; did you mean `{n}`?"));
            anyhow::bail!("--specialize: no program has a dimension `{dim}`{hint}");
        }
        Ok(())
    }

    /// Each extent of each dimension, once.
    pub(super) fn specialize(&self) -> Vec<(Symbol, i64)> {
        let mut out = Vec::new();
        for extents in &self.specialize {
            for value in &extents.values {
                let one = (extents.dim.clone(), *value);
                if !out.contains(&one) {
                    out.push(one);
                }
            }
        }
        out
    }
}
