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

/// Characters of the beginning and of the end of a message that are shown: names of a plan may be of any length, and
/// what is wrong with them stands behind them.
const HALF: usize = 300;

/// A message of bounded length that no terminal obeys.
fn shown(message: &str) -> String {
    let begin = message.char_indices().nth(HALF).map_or(message.len(), |(at, _)| at);
    let end = message.char_indices().rev().nth(HALF - 1).map_or(0, |(at, _)| at);
    let visible = crate::show::visible;
    if end <= begin {
        visible(message)
    } else {
        format!("{}…{}", visible(&message[..begin]), visible(&message[end..]))
    }
}

#[cfg(test)]
mod tests {
    use super::{HALF, shown};

    #[test]
    fn long_messages_keep_both_ends() {
        assert_eq!(shown("`\u{1b}` is no name"), "`\\u{1b}` is no name");
        let whole = "é".repeat(2 * HALF);
        assert_eq!(shown(&whole), whole);
        let cut = shown(&format!("`{}` is odd", "é".repeat(1 << 20)));
        assert!(cut.starts_with("`é") && cut.ends_with("é` is odd") && cut.chars().count() == 2 * HALF + 1);
    }
}
