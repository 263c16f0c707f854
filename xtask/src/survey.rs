//! `cargo xtask survey`: how far the compiled math functions are from the exact value, as the table of `docs/math.md`.

use crate::{setup, shell};
use anyhow::Result;

#[derive(clap::Args)]
pub struct Options {
    /// Only this function
    #[arg(value_name = "FUNCTION")]
    function: Option<String>,
    /// Only this type: f16, bf16, f32 or f64
    #[arg(long = "type", value_name = "TYPE")]
    dtype: Option<String>,
    /// Arguments of each f64 function; of the other types all are tried
    #[arg(long, value_name = "N", default_value_t = 1_000_000_000)]
    f64: u64,
}

/// Runs the ignored test of the testsuite in release, on all cores that it may use.
pub fn run(options: &Options) -> Result<()> {
    setup::run(setup::Need::Everything)?;
    let test = ["test", "--release", "-p", "testsuite", "--test", "accuracy", "--"];
    let mut command = shell::cargo(test.into_iter().chain(["--ignored", "--exact", "every_argument", "--nocapture"]));
    command.env("TIGA_SURVEY_F64", options.f64.to_string());
    let only = [("TIGA_SURVEY_FUNCTION", &options.function), ("TIGA_SURVEY_TYPE", &options.dtype)];
    command.envs(only.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?))));
    shell::run(&mut command)
}
