//! What is left behind when the compiler itself fails: exit code 101 and a report that holds nothing of the model.

use std::backtrace::Backtrace;
use std::fmt::Write as _;
use std::panic::PanicHookInfo;
use std::path::PathBuf;
use std::sync::Mutex;

/// The exit code of an internal error.
pub const INTERNAL: u8 = 101;

/// Where the report of a failure in this process is.
static REPORT: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Makes every panic of this process write a report, instead of the message, which may quote the model.
pub(super) fn install() {
    std::panic::set_hook(Box::new(|info| write(&of_panic(info))));
}

/// Writes the report of an internal error that is no panic: a check of the compiler found it.
pub(super) fn internal() {
    write(&text("found by a check\n"));
}

fn of_panic(info: &PanicHookInfo<'_>) -> String {
    let place = info.location().map_or("unknown".to_owned(), ToString::to_string);
    text(&format!("panic at: {place}\n"))
}

/// The report: versions, the command without its arguments, and the way through the compiler.
fn text(what: &str) -> String {
    let mut out = format!("tigac {}\n", env!("CARGO_PKG_VERSION"));
    // Writing to a string does not fail.
    let _ = writeln!(out, "host: {} {}", std::env::consts::ARCH, std::env::consts::OS);
    let command = std::env::args().nth(1).filter(|word| matches!(word.as_str(), "check" | "eval"));
    let _ = writeln!(out, "command: {}", command.as_deref().unwrap_or("compile"));
    out.push_str(what);
    let _ = writeln!(out, "thread: {}", std::thread::current().name().unwrap_or("unnamed"));
    let _ = writeln!(out, "\n{}", Backtrace::force_capture());
    out
}

/// Writes the first report of this process beside other temporary files, and says where and what it holds.
fn write(report: &str) {
    let Ok(mut written) = REPORT.lock() else { return };
    if written.is_some() {
        return;
    }
    let path = std::env::temp_dir().join(format!("tigac-report-{}.txt", std::process::id()));
    eprintln!("error: internal error: this is a bug of tigac, whatever the model says");
    match std::fs::write(&path, report) {
        Ok(()) => eprintln!(
            "  = note: `{}` holds versions, the command's name and a backtrace, and nothing of the model\n  \
             = help: please send it with a report of the bug",
            path.display()
        ),
        Err(error) => eprintln!("  = note: no report could be written: {error}"),
    }
    *written = Some(path);
}
