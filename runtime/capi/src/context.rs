//! Where calls run, and what the host hangs on it: memory and log.
#![allow(unsafe_code)]

use crate::border::{free, give, guarded, handle, tiga_str};
use crate::error::tiga_error;
use crate::status::{Failure, tiga_status};
use std::alloc::Layout;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;
use tiga_runtime::{Allocator, Context, LogLevel};

/// Threads, memory and log of runs. Made by tiga_context_new, ended by tiga_context_free. There may be several at once,
/// each with threads of its own; one may be used by several threads, whose runs then share its workers.
pub struct tiga_context {
    pub(crate) context: Context,
}

/// Gives `bytes` bytes (never 0) at a multiple of `align`, or null. They need not be zeroed. Called from several threads
/// at once.
pub type tiga_allocate = Option<unsafe extern "C" fn(data: *mut c_void, bytes: usize, align: usize) -> *mut c_void>;

/// Takes back what tiga_allocate gave. Called from several threads at once.
pub type tiga_release = Option<unsafe extern "C" fn(data: *mut c_void, memory: *mut c_void, bytes: usize)>;

/// Takes a log line. Called on the thread that is in tiga_call_run; the text is gone when it returns.
pub type tiga_log = Option<unsafe extern "C" fn(data: *mut c_void, level: i32, line: tiga_str)>;

/// Log lines about the begin and the end of each run.
pub const TIGA_LOG_INFO: i32 = 1;

/// Log lines about each kernel too.
pub const TIGA_LOG_DEBUG: i32 = 2;

/// Settings of a context: zeroed but for `size`, they are the defaults. Begins with its own size, as the host knows it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tiga_context_options {
    /// sizeof(tiga_context_options), set by the host.
    pub size: usize,
    /// Worker threads; 0 for one on each core.
    pub threads: usize,
    /// Not 0: no threads, all runs on the thread that is in tiga_call_run. `threads` must be 0 or 1 then.
    pub caller_thread: i32,
    /// The last level that is logged: 0, TIGA_LOG_INFO or TIGA_LOG_DEBUG.
    pub log_level: i32,
    /// Where log lines go; null for nowhere.
    pub log: tiga_log,
    /// Handed to `log`.
    pub log_data: *mut c_void,
    /// Memory for temporaries; null for the system's. What is derived from a graph does not come from there.
    pub allocate: tiga_allocate,
    /// Takes it back; null if and only if `allocate` is.
    pub release: tiga_release,
    /// Handed to `allocate` and `release`.
    pub allocator_data: *mut c_void,
}

/// Makes a context. `options` may be null for the defaults: a thread on each core, no log, the system's memory. What its
/// functions and data pointers need must live until the context is ended. The functions must not throw or jump out, and
/// must not end the context. Errors: TIGA_ARGUMENT, TIGA_THREADS.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_context_new(
    options: *const tiga_context_options,
    out: *mut *mut tiga_context,
    error: *mut *mut tiga_error,
) -> tiga_status {
    // SAFETY: by the contract of the call.
    unsafe { guarded(error, || give(out, "out", || make(&read(options)?))) }
}

/// How many threads run units at once; 0 for null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_context_threads(context: *const tiga_context) -> usize {
    // SAFETY: null, or a context that lives, by the contract of the call.
    unsafe { handle(context, "context") }.map_or(0, |context| context.context.threads())
}

/// Ends a context, and waits until its threads are gone; nothing happens for null. No run may be on it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_context_free(context: *mut tiga_context) {
    // SAFETY: by the contract of the call.
    unsafe { free(context) };
}

const DEFAULTS: tiga_context_options = tiga_context_options {
    size: size_of::<tiga_context_options>(),
    threads: 0,
    caller_thread: 0,
    log_level: 0,
    log: None,
    log_data: std::ptr::null_mut(),
    allocate: None,
    release: None,
    allocator_data: std::ptr::null_mut(),
};

/// The options as this library knows them. Every version so far has all of them.
unsafe fn read(options: *const tiga_context_options) -> Result<tiga_context_options, Failure> {
    if options.is_null() {
        return Ok(DEFAULTS);
    }
    // SAFETY: not null; the structure begins with its size, by the contract of the call.
    let size = unsafe { (&raw const (*options).size).read() };
    let known = size_of::<tiga_context_options>();
    if size != known {
        return Err(Failure::argument(format!("the options have {size} bytes by their `size`, {known} expected")));
    }
    // SAFETY: it has all fields.
    Ok(unsafe { options.read() })
}

fn make(options: &tiga_context_options) -> Result<tiga_context, Failure> {
    let context = match options.caller_thread {
        0 => Context::new(options.threads)?,
        _ if options.threads <= 1 => Context::on_caller(),
        _ => return Err(Failure::argument(format!("{} threads, but the caller's alone", options.threads))),
    };
    let context = match (options.allocate, options.release) {
        (None, None) => context,
        (Some(allocate), Some(release)) => {
            context.with_allocator(Arc::new(HostMemory { allocate, release, data: HostData(options.allocator_data) }))
        }
        _ => return Err(Failure::argument("`allocate` and `release` go together")),
    };
    let level = match options.log_level {
        0 => return Ok(tiga_context { context }),
        TIGA_LOG_INFO => LogLevel::Info,
        TIGA_LOG_DEBUG => LogLevel::Debug,
        level => return Err(Failure::argument(format!("{level} is no log level"))),
    };
    let Some(log) = options.log else { return Ok(tiga_context { context }) };
    let data = HostData(options.log_data);
    let context = context.with_log(level, move |level, line| {
        let level = match level {
            LogLevel::Info => TIGA_LOG_INFO,
            LogLevel::Debug => TIGA_LOG_DEBUG,
        };
        // SAFETY: the host's own function with its own data, by the contract of tiga_context_new.
        unsafe { log(data.get(), level, tiga_str::of(line)) };
    });
    Ok(tiga_context { context })
}

/// A pointer that only the host's functions look behind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostData(pub(crate) *mut c_void);
// SAFETY: the host's functions may be called from any thread, by the contract of those who take them.
unsafe impl Send for HostData {}
// SAFETY: as above.
unsafe impl Sync for HostData {}

impl HostData {
    /// The pointer; a method, so that closures hold the whole.
    pub(crate) fn get(self) -> *mut c_void {
        self.0
    }
}

/// The host's allocator.
#[derive(Debug)]
struct HostMemory {
    allocate: unsafe extern "C" fn(*mut c_void, usize, usize) -> *mut c_void,
    release: unsafe extern "C" fn(*mut c_void, *mut c_void, usize),
    data: HostData,
}

// SAFETY: what the host's functions promise, by the contract of tiga_context_new.
unsafe impl Allocator for HostMemory {
    fn allocate(&self, layout: Layout) -> Option<NonNull<u8>> {
        // SAFETY: the host's own function with its own data.
        NonNull::new(unsafe { (self.allocate)(self.data.get(), layout.size(), layout.align()) }.cast())
    }

    unsafe fn release(&self, address: NonNull<u8>, layout: Layout) {
        // SAFETY: as above; it gave this address for this size.
        unsafe { (self.release)(self.data.get(), address.as_ptr().cast(), layout.size()) };
    }
}
