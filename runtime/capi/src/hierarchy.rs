//! Memory hierarchies: budgets, what is live, transfers.
#![allow(unsafe_code)]

use crate::border::{free, give, guarded, handle, put, slice, tiga_str};
use crate::context::HostData;
use crate::error::tiga_error;
use crate::instance::tiga_instance;
use crate::status::{Failure, tiga_status};
use std::ffi::c_void;
use tiga_runtime::{Completion, Hierarchy, Tier, WantedStorage};

/// Named, versioned memory in several tiers, with a budget for each. Made by tiga_hierarchy_new, ended by
/// tiga_hierarchy_free. May be used by several threads at once.
pub struct tiga_hierarchy {
    pub(crate) hierarchy: Hierarchy,
    storage: String,
}

/// The end of a transfer. Made by tiga_transfer, ended by tiga_completion_free, before or after the transfer. May be used
/// by several threads at once.
pub struct tiga_completion {
    completion: Completion,
}

/// Bytes that may be live in a tier at once.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tiga_budget {
    /// The tier's name or alias, such as "ram" or "nvme".
    pub tier: tiga_str,
    /// At least 0.
    pub bytes: i64,
}

/// io_uring with O_DIRECT where both are to be had, else threads with buffered calls.
pub const TIGA_STORAGE_BEST: i32 = 0;

/// io_uring with O_DIRECT, or TIGA_STORAGE.
pub const TIGA_STORAGE_DIRECT: i32 = 1;

/// Threads with buffered calls.
pub const TIGA_STORAGE_BUFFERED: i32 = 2;

/// Settings of a hierarchy: zeroed but for `size`, they are the defaults. Begins with its own size, as the host knows it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tiga_hierarchy_options {
    /// sizeof(tiga_hierarchy_options), set by the host.
    pub size: usize,
    /// [num_budgets] the budgets, at most one a tier; a tier without one is unlimited. Null if there are none.
    pub budgets: *const tiga_budget,
    /// How many.
    pub num_budgets: usize,
    /// Where files lie: made if it is missing, and kept. Empty for a private directory, which is removed at the end.
    pub nvme_directory: tiga_str,
    /// Where the private directory lies; empty for the system's place for temporary files.
    pub private_below: tiga_str,
    /// Threads that move bytes; 0 for 2.
    pub io_workers: usize,
    /// How files are read and written: TIGA_STORAGE_BEST, TIGA_STORAGE_DIRECT or TIGA_STORAGE_BUFFERED.
    pub storage: i32,
}

/// Hears of the end of a transfer: TIGA_OK and an empty text, or a number and what happened; the text is gone when it
/// returns. It may begin transfers, and may not wait. Must not throw or jump out.
pub type tiga_ended = Option<unsafe extern "C" fn(data: *mut c_void, status: i32, message: tiga_str)>;

/// Opens a hierarchy. `options` may be null for the defaults. What dead processes left beside its private directory is
/// removed. Errors: TIGA_ARGUMENT, TIGA_TIER, TIGA_THREADS, TIGA_STORAGE, TIGA_DISK_FULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_hierarchy_new(
    options: *const tiga_hierarchy_options,
    out: *mut *mut tiga_hierarchy,
    error: *mut *mut tiga_error,
) -> tiga_status {
    // SAFETY: by the contract of the call.
    unsafe { guarded(error, || give(out, "out", || open(options))) }
}

/// Bytes of the live instances of a tier, and the most that were live at once. Either place may be null. Errors:
/// TIGA_TIER.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_hierarchy_bytes(
    hierarchy: *const tiga_hierarchy,
    tier: tiga_str,
    live: *mut u64,
    peak: *mut u64,
    error: *mut *mut tiga_error,
) -> tiga_status {
    let count = || {
        // SAFETY: null, or a hierarchy that lives, by the contract of the call.
        let memory = &unsafe { handle(hierarchy, "hierarchy") }?.hierarchy;
        // SAFETY: a text, by the contract of the call.
        let tier = unsafe { read_tier(tier) }?;
        for (place, bytes) in [(live, memory.live_bytes(tier)), (peak, memory.peak_bytes(tier))] {
            if !place.is_null() {
                // SAFETY: a place for a number, by the contract of the call.
                unsafe { place.write(bytes) };
            }
        }
        Ok(())
    };
    // SAFETY: by the contract of the call.
    unsafe { guarded(error, count) }
}

/// How files are read and written, such as "io_uring, O_DIRECT"; empty for null. Belongs to the hierarchy.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_hierarchy_storage(hierarchy: *const tiga_hierarchy) -> tiga_str {
    // SAFETY: null, or a hierarchy that lives, by the contract of the call.
    tiga_str::of(unsafe { hierarchy.as_ref() }.map_or("", |memory| memory.storage.as_str()))
}

/// How many private directories of dead processes were removed when it was opened, and how many bytes were in them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_hierarchy_cleaned(
    hierarchy: *const tiga_hierarchy,
    directories: *mut u64,
    bytes: *mut u64,
    error: *mut *mut tiga_error,
) -> tiga_status {
    let cleaned = || {
        // SAFETY: null, or a hierarchy that lives, by the contract of the call.
        let cleaned = unsafe { handle(hierarchy, "hierarchy") }?.hierarchy.cleaned();
        // SAFETY: places for numbers, by the contract of the call.
        unsafe { put(directories, "directories", cleaned.directories).and(put(bytes, "bytes", cleaned.bytes)) }
    };
    // SAFETY: by the contract of the call.
    unsafe { guarded(error, cleaned) }
}

/// A new handle to the live instance of a name with the highest version, in one tier or, if that is empty, in any.
/// Errors: TIGA_NOT_FOUND, TIGA_TIER.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_hierarchy_latest(
    hierarchy: *const tiga_hierarchy,
    logical_name: tiga_str,
    tier: tiga_str,
    out: *mut *mut tiga_instance,
    error: *mut *mut tiga_error,
) -> tiga_status {
    let find = || {
        // SAFETY: null, or a hierarchy that lives, by the contract of the call.
        let memory = &unsafe { handle(hierarchy, "hierarchy") }?.hierarchy;
        // SAFETY: texts, by the contract of the call.
        let (name, tier) = unsafe {
            let tier = if tier.len == 0 { None } else { Some(read_tier(tier)?) };
            (logical_name.read("logical_name")?, tier)
        };
        Ok(tiga_instance::new(memory.latest(name, tier)?))
    };
    // SAFETY: by the contract of the call.
    unsafe { guarded(error, || give(out, "out", find)) }
}

/// Begins to copy all bytes of one instance into another one of the same name, version and capacity, and returns. The
/// copy waits for the last writes of both and for the readers of the destination. `out` may be null: what fails later is
/// told by it, and by closing either instance. Errors: TIGA_CLOSED, TIGA_TRANSFER.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_transfer(
    hierarchy: *const tiga_hierarchy,
    source: *const tiga_instance,
    destination: *const tiga_instance,
    out: *mut *mut tiga_completion,
    error: *mut *mut tiga_error,
) -> tiga_status {
    let begin = || {
        // SAFETY: null, or handles that live, by the contract of the call.
        let (memory, from, to) = unsafe {
            (handle(hierarchy, "hierarchy")?, handle(source, "source")?, handle(destination, "destination")?)
        };
        let completion = memory.hierarchy.transfer(&from.instance, &to.instance)?;
        Ok(tiga_completion { completion })
    };
    // SAFETY: by the contract of the call.
    unsafe { guarded(error, || if out.is_null() { begin().map(drop) } else { give(out, "out", begin) }) }
}

/// Closes all instances, waits for what is under way, ends the threads, removes the private directory. Does all of it
/// whatever fails; the error is the first failure. Nothing happens the second time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_hierarchy_close(
    hierarchy: *const tiga_hierarchy,
    error: *mut *mut tiga_error,
) -> tiga_status {
    // SAFETY: by the contract of the call.
    unsafe { guarded(error, || Ok(handle(hierarchy, "hierarchy")?.hierarchy.close()?)) }
}

/// Closes a hierarchy without a word about failures, and ends it; nothing happens for null. Handles to its instances may
/// be freed later.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_hierarchy_free(hierarchy: *mut tiga_hierarchy) {
    // SAFETY: by the contract of the call.
    unsafe { free(hierarchy) };
}

/// Whether a transfer has ended, well or not; false for null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_completion_ready(completion: *const tiga_completion) -> bool {
    // SAFETY: null, or a completion that lives, by the contract of the call.
    unsafe { completion.as_ref() }.is_some_and(|end| end.completion.ready())
}

/// Waits for the end of a transfer. Errors: TIGA_STORAGE, TIGA_DISK_FULL, TIGA_NOT_FILLED; TIGA_INSIDE_CALLBACK.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_completion_wait(
    completion: *const tiga_completion,
    error: *mut *mut tiga_error,
) -> tiga_status {
    // SAFETY: by the contract of the call.
    unsafe { guarded(error, || Ok(handle(completion, "completion")?.completion.wait()?)) }
}

/// Has `ended` called once with the result: now if it is there, else on a thread of the hierarchy.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_completion_then(
    completion: *const tiga_completion,
    ended: tiga_ended,
    data: *mut c_void,
    error: *mut *mut tiga_error,
) -> tiga_status {
    let hear = || {
        let ended = ended.ok_or_else(|| Failure::null("ended"))?;
        let data = HostData(data);
        // SAFETY: null, or a completion that lives, by the contract of the call.
        unsafe { handle(completion, "completion") }?.completion.then(move |result| {
            let failure = result.clone().err().map(Failure::from);
            let (status, message) = match &failure {
                None => (tiga_status::TIGA_OK, ""),
                Some(failure) => (failure.status, failure.message.as_str()),
            };
            // SAFETY: the host's own function with its own data, by the contract of the call.
            unsafe { ended(data.get(), status as i32, tiga_str::of(message)) };
        });
        Ok(())
    };
    // SAFETY: by the contract of the call.
    unsafe { guarded(error, hear) }
}

/// Ends a handle to the end of a transfer, which goes on; nothing happens for null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_completion_free(completion: *mut tiga_completion) {
    // SAFETY: by the contract of the call.
    unsafe { free(completion) };
}

/// A tier by one of its names.
pub(crate) unsafe fn read_tier(tier: tiga_str) -> Result<Tier, Failure> {
    // SAFETY: the contract of the caller.
    let word = unsafe { tier.read("tier") }?;
    word.parse().map_err(|error: tiga_runtime::TierError| Failure::new(tiga_status::TIGA_TIER, error.to_string()))
}

unsafe fn open(options: *const tiga_hierarchy_options) -> Result<tiga_hierarchy, Failure> {
    let mut wanted = Hierarchy::options();
    if !options.is_null() {
        // SAFETY: not null; the structure begins with its size, by the contract of the call.
        let size = unsafe { (&raw const (*options).size).read() };
        let known = size_of::<tiga_hierarchy_options>();
        if size != known {
            return Err(Failure::argument(format!("the options have {size} bytes by their `size`, {known} expected")));
        }
        // SAFETY: it has all fields.
        let options = unsafe { options.read() };
        // SAFETY: so many budgets, by the contract of the call.
        for budget in unsafe { slice(options.budgets, options.num_budgets, "budgets") }? {
            // SAFETY: a text, by the contract of the call.
            wanted = wanted.budget(unsafe { read_tier(budget.tier) }?, budget.bytes);
        }
        // SAFETY: texts, by the contract of the call.
        let (directory, parent) =
            unsafe { (options.nvme_directory.read("nvme_directory")?, options.private_below.read("private_below")?) };
        if !directory.is_empty() {
            wanted = wanted.nvme_directory(directory);
        }
        if !parent.is_empty() {
            wanted = wanted.private_below(parent);
        }
        if options.io_workers > 0 {
            wanted = wanted.io_workers(options.io_workers);
        }
        wanted = wanted.storage(match options.storage {
            TIGA_STORAGE_BEST => WantedStorage::Best,
            TIGA_STORAGE_DIRECT => WantedStorage::Direct,
            TIGA_STORAGE_BUFFERED => WantedStorage::Buffered,
            storage => return Err(Failure::argument(format!("{storage} is no way to read and write files"))),
        });
    }
    let hierarchy = wanted.open()?;
    Ok(tiga_hierarchy { storage: hierarchy.storage().to_string(), hierarchy })
}
