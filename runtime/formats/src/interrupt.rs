//! A process that a signal ends leaves no temporaries.

use crate::atomic::stop_writing;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::sync::mpsc;
use std::{fs, io, thread};

/// From now on, SIGINT, SIGTERM and SIGHUP remove the temporaries of writes in progress before they end this process as
/// they would have ended it. Those that the process was started to ignore stay ignored.
///
/// # Errors
/// The system lets no handler or no thread be made.
pub fn remove_unfinished_on_signals() -> io::Result<()> {
    let ignored = ignored();
    let wanted = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(move |s| ignored >> (s - 1) & 1 == 0);
    let (tell, told) = mpsc::channel();
    // The thread first: handlers that nobody listens to would make the signals do nothing.
    let wait = move || {
        let mut signals = match Signals::new(wanted) {
            Ok(signals) => signals,
            Err(error) => return drop(tell.send(Err(error))),
        };
        drop(tell.send(Ok(())));
        for signal in signals.forever() {
            stop_writing();
            // It only fails for signals that do not exist.
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    };
    thread::Builder::new().name("tiga-signals".into()).spawn(wait)?;
    told.recv().unwrap_or(Ok(()))
}

/// The signals that this process ignores, as `nohup` has it do: signal `n` is bit `n - 1`.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
