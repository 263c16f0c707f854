//! `tiga plan`: what runs when, and in which memory, without running any of it.

mod chart;
mod check;
mod draw;
mod explain;
mod layout;
mod picture;
mod source;

pub use picture::{DrawError, MOST_TASKS, draw};

use anyhow::Result;
use clap::{Args, Subcommand};
use source::Source;
use std::io::Write;

/// The arguments of `tiga plan`.
#[derive(Args)]
pub struct Plan {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Proves that a plan may run, or says why not.
    Check(check::Check),
    /// Prints a plan in the order in which it runs, and the memory that it needs.
    Explain(explain::Explain),
    /// Draws a plan and the bytes that live while it runs, as SVG.
    Draw(draw::Draw),
}

impl Plan {
    /// Runs the subcommand.
    ///
    /// # Errors
    /// The plan cannot be read or may not run, or what is said of it cannot be written.
    pub fn run(&self, out: &mut dyn Write) -> Result<bool> {
        match &self.command {
            Command::Check(check) => check.run(out)?,
            Command::Explain(explain) => explain.run(out)?,
            Command::Draw(draw) => draw.run(out)?,
        }
        Ok(true)
    }
}

/// Characters of a message that are shown: names of a plan may be of any length.
const LONGEST: usize = 600;

/// A message of bounded length that no terminal obeys.
fn shown(message: &str) -> String {
    let shown: String = message.chars().take(LONGEST).collect();
    let rest = if shown.len() < message.len() { "…" } else { "" };
    crate::show::visible(&shown) + rest
}
