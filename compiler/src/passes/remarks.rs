//! What passes did and did not do, and why: for `--remarks`.

use std::fmt;
use std::str::FromStr;
use tiga_source::Loc;

/// Whether a pass changed something or found it not worth it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It was done.
    Passed,
    /// It could have been done.
    Missed,
}

impl Verdict {
    /// All of them.
    pub const ALL: [Verdict; 2] = [Verdict::Passed, Verdict::Missed];

    /// The spelling on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Passed => "passed",
            Verdict::Missed => "missed",
        }
    }
}

impl FromStr for Verdict {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = Verdict::ALL.into_iter().find(|verdict| verdict.name() == text);
        known.ok_or_else(|| format!("there are {}", Verdict::ALL.map(Verdict::name).join(", ")))
    }
}

/// One decision of a pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// The pass.
    pub pass: &'static str,
    /// What it decided.
    pub verdict: Verdict,
    /// The code it is about.
    pub loc: Loc,
    /// What, and why.
    pub text: String,
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flag = self.pass.replace('_', "-");
        write!(f, "{}: remark: {} [{flag}, {}]", self.loc, self.text, self.verdict.name())
    }
}

/// The remarks of a pipeline, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remarks {
    all: Vec<Remark>,
}

impl Remarks {
    /// Something that a pass did.
    pub fn passed(&mut self, pass: &'static str, loc: &Loc, text: String) {
        self.all.push(Remark { pass, verdict: Verdict::Passed, loc: loc.clone(), text });
    }

    /// Something that a pass could have done.
    pub fn missed(&mut self, pass: &'static str, loc: &Loc, text: String) {
        self.all.push(Remark { pass, verdict: Verdict::Missed, loc: loc.clone(), text });
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Remark> {
        self.all.iter()
    }
}
