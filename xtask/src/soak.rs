//! `cargo xtask soak`: the differential test for as long as one likes.

use crate::{setup, shell};
use anyhow::Result;

#[derive(clap::Args)]
pub struct Options {
    /// How long to go on
    #[arg(long, default_value_t = 30)]
    minutes: u64,
    /// First seed; the log names the seed of each failure
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Runs the ignored test `soak` of the testsuite, which reads its limits from the environment. Built like the other
/// tests, not in release: the verifiers that run after each pass are part of what is soaked.
pub fn run(options: &Options) -> Result<()> {
    setup::run(setup::Need::Everything)?;
    let mut command = shell::cargo([
        "test",
        "-p",
        "testsuite",
        "--test",
        "soak",
        "--",
        "--ignored",
        "--exact",
        "soak",
        "--nocapture",
    ]);
    command.env("TIGA_SOAK_MINUTES", options.minutes.to_string());
    command.env("TIGA_SOAK_SEED", options.seed.to_string());
    shell::run(&mut command)
}
