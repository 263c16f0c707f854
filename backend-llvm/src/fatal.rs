//! What is left to do where LLVM ends the process: it exits, aborts or crashes where others give an error.
//!
//! The thread that failed says only that it did, and waits: in a handler of a signal little is allowed. A second thread,
//! which waits for that from the beginning, writes the report and ends the process.
#![allow(unsafe_code)]

use inkwell::OptimizationLevel;
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::support::enable_llvm_pretty_stack_trace;
use inkwell::support::error_handling::install_fatal_error_handler;
use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int};
use std::fmt;
use std::io::{PipeReader, Read as _};
use std::mem::MaybeUninit;
use std::os::fd::IntoRawFd as _;
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicPtr, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// How LLVM ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fatal {
    /// What was done: `optimise`, `generate code`.
    pub stage: &'static str,
    /// The kernels that it was done to.
    pub kernels: Vec<String>,
    /// What LLVM said of it; it may repeat parts of a kernel.
    pub reason: Option<String>,
    /// The signal; that of `abort` if LLVM said something.
    pub signal: i32,
}

impl fmt::Display for Fatal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (action, kernels) = (self.stage, self.kernels.join(", "));
        match &self.reason {
            Some(reason) => write!(f, "LLVM failed to {action} ({kernels}): {reason}"),
            None => write!(f, "LLVM crashed when it was to {action} ({kernels}): signal {}", self.signal),
        }
    }
}

/// How [`fail`] fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// LLVM finds something it cannot do, and says so.
    Refusal,
    /// LLVM touches memory that it has not.
    Crash,
}

/// What a thread has LLVM do.
struct Work {
    stage: &'static str,
    kernels: Vec<String>,
}

/// What is called, and the exit code after it.
struct Report {
    report: fn(&Fatal),
    code: i32,
}

/// Signals of a process that broke a law of the machine or gave up.
const SIGNALS: [c_int; 5] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGABRT];

thread_local! {
    static WORK: Cell<*const Work> = const { Cell::new(ptr::null()) };
}
static REPORT: OnceLock<Report> = OnceLock::new();
/// What handled each of [`SIGNALS`] before.
static BEFORE: OnceLock<[libc::sigaction; 5]> = OnceLock::new();
/// The work that failed, on the stack of a thread that waits for ever.
static FAILED: AtomicPtr<Work> = AtomicPtr::new(ptr::null_mut());
static SIGNAL: AtomicI32 = AtomicI32::new(0);
/// Where a byte wakes the thread that reports.
static WAKE: AtomicI32 = AtomicI32::new(-1);
static REASON: Mutex<Option<String>> = Mutex::new(None);

/// Runs `work`, which has LLVM do something to these kernels.
pub(crate) fn at<T>(stage: &'static str, kernels: impl IntoIterator<Item: ToString>, work: impl FnOnce() -> T) -> T {
    /// What was done before is what is done again, also after a panic.
    struct Restore(*const Work);
    impl Drop for Restore {
        fn drop(&mut self) {
            WORK.set(self.0);
        }
    }
    let current = Work { stage, kernels: kernels.into_iter().map(|name| name.to_string()).collect() };
    let _restore = Restore(WORK.replace(&raw const current));
    work()
}

/// From now on, when LLVM ends this process, `report` is called and the exit code is `code`; LLVM writes the pass and the
/// function that it was at to the standard error stream before. Once a process; a later call changes nothing.
///
/// # Errors
/// The system refuses a pipe or a thread.
pub fn on_fatal(report: fn(&Fatal), code: i32) -> std::io::Result<()> {
    if REPORT.set(Report { report, code }).is_err() {
        return Ok(());
    }
    let (reader, writer) = std::io::pipe()?;
    std::thread::Builder::new().name("report".into()).spawn(move || report_one(reader))?;
    WAKE.store(writer.into_raw_fd(), Ordering::Release);
    // The handlers of LLVM, which write where it was, are called first and give way to those that were there before.
    BEFORE.get_or_init(|| SIGNALS.map(install));
    enable_llvm_pretty_stack_trace();
    // SAFETY: the handler is a function of this program, and LLVM calls it with a C string.
    unsafe { install_fatal_error_handler(refused) };
    Ok(())
}

/// Handles a signal; with what handled it before.
fn install(signal: c_int) -> libc::sigaction {
    let mut before = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: all bits zero is an action, whose fields are then set; the handler does only what one may do; both
    // pointers are to actions.
    unsafe {
        let mut action = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
        action.sa_sigaction = caught as extern "C" fn(c_int) as libc::sighandler_t;
        action.sa_flags = libc::SA_ONSTACK | libc::SA_NODEFER;
        libc::sigaction(signal, &raw const action, before.as_mut_ptr());
        before.assume_init()
    }
}

/// LLVM has something to say before it ends the process.
extern "C" fn refused(reason: *const c_char) {
    // SAFETY: LLVM gives a C string.
    let reason = unsafe { CStr::from_ptr(reason) }.to_string_lossy().trim().to_owned();
    *REASON.lock().unwrap_or_else(PoisonError::into_inner) = Some(reason);
    // By the way of a crash, on which LLVM writes where it was.
    std::process::abort();
}

extern "C" fn caught(signal: c_int) {
    let work = WORK.get();
    if work.is_null() {
        give_back(signal);
        return;
    }
    SIGNAL.store(signal, Ordering::Relaxed);
    if FAILED.compare_exchange(ptr::null_mut(), work.cast_mut(), Ordering::AcqRel, Ordering::Relaxed).is_ok() {
        // SAFETY: the byte is there, and writing to a pipe is allowed in a handler.
        unsafe { libc::write(WAKE.load(Ordering::Acquire), c"!".as_ptr().cast(), 1) };
    }
    loop {
        // SAFETY: waiting is allowed in a handler.
        unsafe { libc::pause() };
    }
}

/// Leaves a signal that is not LLVM's to what handled it before: it comes again when the handler returns.
fn give_back(signal: c_int) {
    let place = SIGNALS.iter().position(|one| *one == signal);
    let Some(before) = place.and_then(|place| BEFORE.get()?.get(place)) else { return };
    // SAFETY: the action is one that the system gave.
    unsafe { libc::sigaction(signal, ptr::from_ref(before), ptr::null_mut()) };
}

/// Waits for a failure, reports it, ends the process.
fn report_one(mut wake: PipeReader) {
    let (Ok(()), Some(Report { report, code })) = (wake.read_exact(&mut [0]), REPORT.get()) else { return };
    // SAFETY: the thread that stored it waits in its handler, so that its stack stays.
    let Some(work) = (unsafe { FAILED.load(Ordering::Acquire).as_ref() }) else { return };
    report(&Fatal {
        stage: work.stage,
        kernels: work.kernels.clone(),
        reason: REASON.lock().unwrap_or_else(PoisonError::into_inner).take(),
        signal: SIGNAL.load(Ordering::Relaxed),
    });
    // SAFETY: ends the process. What runs at the exit of one that is whole may wait for the thread that failed.
    unsafe { libc::_exit(*code) };
}

/// Ends the process as a bug of LLVM would: for the test of what is left behind then.
pub fn fail(how: Failure) {
    /// An instruction that the target has not: LLVM finds that out when it selects instructions.
    const UNKNOWN: &str = "
        declare <16 x float> @llvm.x86.avx512.rcp14.ps.512(<16 x float>, <16 x float>, i16)
        define <16 x float> @failing(<16 x float> %x) {
          %y = call <16 x float> @llvm.x86.avx512.rcp14.ps.512(<16 x float> %x, <16 x float> %x, i16 -1)
          ret <16 x float> %y
        }";
    at("generate code", ["failing"], || match how {
        Failure::Crash => loop {
            // Again, as a crash does: a handler that gives the signal back to the one before it returns first.
            // SAFETY: the handlers that are called do only what they may do.
            unsafe { libc::raise(libc::SIGSEGV) };
        },
        Failure::Refusal => {
            let context = Context::create();
            let text = MemoryBuffer::create_from_memory_range_copy(UNKNOWN.as_bytes(), "failing");
            let module = context.create_module_from_ir(text).expect("the text is a module");
            let target = crate::target::machine(tiga_abi::CpuTarget::X86_64V3, OptimizationLevel::None);
            let _ = crate::emit::object(&target.expect("LLVM has the target"), &module);
        }
    });
}
