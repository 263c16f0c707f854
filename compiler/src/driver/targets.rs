//! `--target`: the CPUs that kernels are made for.

use std::fmt;
use std::str::FromStr;
use tiga_abi::{CpuTarget, TargetError};

/// At least one CPU, each once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Targets(Vec<CpuTarget>);

/// A list of targets that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum TargetsError {
    /// A name that no target has.
    #[error(transparent)]
    Unknown(#[from] TargetError),
    /// One target more than once.
    #[error("target `{0}` is listed twice")]
    Twice(CpuTarget),
}

/// What is made for one target is asked for with several.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{what}` is for one target, and `--target` lists {targets}: choose one of them")]
pub(super) struct SeveralTargets {
    /// What is asked for, as the command line spells it.
    what: String,
    /// The list.
    targets: Targets,
}

impl Targets {
    /// The targets in the order in which they are listed.
    pub(super) fn all(&self) -> &[CpuTarget] {
        &self.0
    }

    /// The only target.
    ///
    /// # Errors
    /// There are several; `what` is what wants one.
    pub(super) fn only(&self, what: &str) -> Result<CpuTarget, SeveralTargets> {
        match self.0[..] {
            [only] => Ok(only),
            _ => Err(SeveralTargets { what: what.into(), targets: self.clone() }),
        }
    }
}

impl FromStr for Targets {
    type Err = TargetsError;

    fn from_str(text: &str) -> Result<Self, TargetsError> {
        let mut targets = Vec::new();
        for name in text.split(',') {
            let target = name.parse()?;
            if targets.contains(&target) {
                return Err(TargetsError::Twice(target));
            }
            targets.push(target);
        }
        Ok(Targets(targets))
    }
}

impl fmt::Display for Targets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.iter().map(|target| target.name()).collect::<Vec<_>>().join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_each_target_once() {
        let parse = |text: &str| text.parse::<Targets>();
        let both = parse("x86-64-v3,x86-64-v2").unwrap();
        assert_eq!(both.all(), [CpuTarget::X86_64V3, CpuTarget::X86_64V2]);
        assert_eq!(both.to_string(), "x86-64-v3,x86-64-v2");
        assert_eq!(both.only("asm"), Err(SeveralTargets { what: "asm".into(), targets: both.clone() }));
        assert_eq!(parse("native").unwrap().only("asm"), Ok(CpuTarget::Native));
        assert_eq!(parse("native,native"), Err(TargetsError::Twice(CpuTarget::Native)));
        for unknown in ["", "native,", "x86-64-v5"] {
            let name = unknown.rsplit(',').next().unwrap_or_default();
            assert_eq!(parse(unknown), Err(TargetError(name.into()).into()), "{unknown}");
        }
    }
}
