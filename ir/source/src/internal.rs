//! What a command leaves behind when it itself fails: a report that holds nothing of the user's.

use crate::say;
use std::any::Any;
use std::backtrace::Backtrace;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::panic::PanicHookInfo;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// The exit code of an internal error, that of a Rust program that panics.
pub const EXIT_CODE: u8 = 101;

/// Names that are tried for a report before it is given up.
const NAMES: u32 = 100;

/// A command, as its reports name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// What the user types.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
    /// Its subcommands; no other word of the command line is written.
    pub subcommands: &'static [&'static str],
}

/// Whether this process has left a report: one is enough, and the first is the cause.
static REPORTED: AtomicBool = AtomicBool::new(false);

impl Command {
    /// Makes every panic of this process write a report, instead of the message, which may quote the user's input.
    pub fn report_panics(self) {
        std::panic::set_hook(Box::new(move |info| self.leave(&of_panic(info))));
    }

    /// Writes the report of an internal error that is no panic: a check found it.
    pub fn report_failed_check(self) {
        self.leave("found by a check\n");
    }

    /// Writes the report of a failure that ends the process from outside of Rust; `what` holds nothing of the user's. There
    /// is no way through the program to write: the thread that failed is not the one that reports.
    pub fn report_fatal(self, what: &str) {
        self.leave(&format!("{what}\n"));
    }

    /// The report: versions, the command without its arguments, and the way through the program.
    fn text(self, what: &str) -> String {
        let mut out = format!("{} {}\n", self.name, self.version);
        // Writing to a string does not fail.
        let _ = writeln!(out, "host: {} {}", std::env::consts::ARCH, std::env::consts::OS);
        // `args` panics for what is not UTF-8.
        let word = std::env::args_os().nth(1).and_then(|word| word.into_string().ok());
        let subcommand = word.filter(|word| self.subcommands.contains(&word.as_str()));
        let _ = writeln!(out, "command: {} {}", self.name, subcommand.unwrap_or_default());
        out.push_str(what);
        let _ = writeln!(out, "thread: {}", std::thread::current().name().unwrap_or("unnamed"));
        let _ = writeln!(out, "\n{}", Backtrace::force_capture());
        out
    }

    /// Writes the first report of this process beside other temporary files, and says where and what it holds.
    fn leave(self, what: &str) {
        if REPORTED.swap(true, Ordering::Relaxed) {
            return;
        }
        say(format_args!("error: internal error: this is a bug of {}, whatever its input says", self.name));
        let stem = format!("{}-report-{}", self.name, std::process::id());
        let text = self.text(what);
        let written = create(&std::env::temp_dir(), &stem).and_then(|(path, mut file)| {
            file.write_all(text.as_bytes())?;
            Ok(path)
        });
        match written {
            Ok(path) => say(format_args!(
                "  = note: `{}` holds versions, the command's name and a backtrace, and nothing of the input\n  \
                 = help: please send it with a report of the bug",
                path.display()
            )),
            Err(error) => say(format_args!("  = note: no report could be written: {error}")),
        }
    }
}

fn of_panic(info: &PanicHookInfo<'_>) -> String {
    let place = info.location().map_or("unknown".to_owned(), ToString::to_string);
    let message = fixed(info.payload()).map_or(String::new(), |text| format!("message: {text}\n"));
    format!("panic at: {place}\n{message}")
}

/// The message of a panic if it is part of the program, and so cannot quote anything.
fn fixed(payload: &(dyn Any + Send)) -> Option<&'static str> {
    payload.downcast_ref::<&'static str>().copied()
}

/// A new file. The folder is shared, so nothing that is there is written to, and no link is followed.
fn create(folder: &Path, stem: &str) -> io::Result<(PathBuf, File)> {
    let mut taken = io::Error::from(io::ErrorKind::AlreadyExists);
    for n in 0..NAMES {
        let path = folder.join(if n == 0 { format!("{stem}.txt") } else { format!("{stem}-{n}.txt") });
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => taken = error,
            Err(error) => return Err(error),
        }
    }
    Err(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_messages_of_the_program_itself_are_written() {
        let of = |run: fn()| std::panic::catch_unwind(run).unwrap_err();
        assert_eq!(fixed(&*of(|| panic!("a law"))), Some("a law"));
        assert_eq!(fixed(&*of(|| panic!("no value {}", std::process::id()))), None);
    }

    #[test]
    fn what_has_the_name_already_stays_as_it_is() {
        let folder = std::env::temp_dir().join(format!("tiga-source-internal-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let victim = folder.join("victim");
        std::fs::write(&victim, "precious").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(&victim, folder.join("r.txt")).unwrap();
        #[cfg(not(unix))]
        std::fs::write(folder.join("r.txt"), "").unwrap();
        let (path, mut file) = create(&folder, "r").unwrap();
        file.write_all(b"report").unwrap();
        assert_eq!(path, folder.join("r-1.txt"));
        assert_eq!(std::fs::read_to_string(&victim).unwrap(), "precious");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
