//! A process that a signal ends leaves no temporaries.

use crate::atomic::stop_writing;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::{fs, io, thread};

/// From now on, SIGINT, SIGTERM and SIGHUP remove the temporaries of writes in progress before they end this process as
/// they would have ended it. Those that the process was started to ignore stay ignored.
///
/// # Errors
/// The system lets no handler or no thread be made.
pub fn remove_unfinished_on_signals() -> io::Result<()> {
    let ignored = ignored();
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP].into_iter().filter(|s| ignored >> (s - 1) & 1 == 0))?;
    let wait = move || {
        for signal in signals.forever() {
            stop_writing();
            // It only fails for signals that do not exist.
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    };
    thread::Builder::new().name("tiga-signals".into()).spawn(wait)?;
    Ok(())
}

/// The signals that this process ignores, as `nohup` has it do: signal `n` is bit `n - 1`.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
