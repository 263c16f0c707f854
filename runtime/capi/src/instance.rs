//! Instances of memory hierarchies.
#![allow(unsafe_code)]

use crate::border::{free, give, guarded, handle, slice, tiga_str};
use crate::error::tiga_error;
use crate::hierarchy::{read_tier, tiga_hierarchy};
use crate::status::{Failure, tiga_status};
use std::ffi::c_void;
use tiga_runtime::{Device, Instance, Request};

/// Memory with a name and a version, in one tier. Made by tiga_instance_new or tiga_hierarchy_latest; tiga_instance_free
/// ends the handle, tiga_instance_close the memory. May be used by several threads at once.
pub struct tiga_instance {
    pub(crate) instance: Instance,
    path: String,
}

impl tiga_instance {
    pub(crate) fn new(instance: Instance) -> Self {
        let path = instance.path().map(|path| path.display().to_string()).unwrap_or_default();
        Self { instance, path }
    }
}

/// What tiga_instance_new makes. Begins with its own size, as the host knows it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tiga_instance_request {
    /// sizeof(tiga_instance_request), set by the host.
    pub size: usize,
    /// What the value is called, whatever tier it is in; not empty.
    pub logical_name: tiga_str,
    /// Which value of that name; at least 0.
    pub version: i64,
    /// Where it is to lie: a tier's name or alias, such as "ram" or "nvme".
    pub tier: tiga_str,
    /// Bytes; at least 0.
    pub capacity: i64,
    /// On which device; empty for "cpu:0". Main memory and files do not care.
    pub device: tiga_str,
    /// How the bytes are arranged, a label; empty for "contiguous".
    pub layout: tiga_str,
}

/// Makes an instance, which reads as zeros. It lives until it or its hierarchy is closed. Errors: TIGA_CLOSED, TIGA_TIER,
/// TIGA_ARGUMENT, TIGA_BUDGET (before anything is allocated), TIGA_MEMORY, TIGA_STORAGE, TIGA_DISK_FULL. What fails leaves
/// nothing behind.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_instance_new(
    hierarchy: *const tiga_hierarchy,
    request: *const tiga_instance_request,
    out: *mut *mut tiga_instance,
    error: *mut *mut tiga_error,
) -> tiga_status {
    let make = || {
        // SAFETY: null, or a hierarchy that lives, by the contract of the call.
        let memory = &unsafe { handle(hierarchy, "hierarchy") }?.hierarchy;
        // SAFETY: by the contract of the call.
        Ok(tiga_instance::new(memory.allocate(&unsafe { read(request) }?)?))
    };
    // SAFETY: by the contract of the call.
    unsafe { guarded(error, || give(out, "out", make)) }
}

/// What its value is called; empty for null. Belongs to the handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_instance_logical_name(instance: *const tiga_instance) -> tiga_str {
    // SAFETY: null, or an instance that lives, by the contract of the call.
    tiga_str::of(unsafe { instance.as_ref() }.map_or("", |handle| handle.instance.logical_name()))
}

/// Which value of that name; 0 for null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_instance_version(instance: *const tiga_instance) -> u64 {
    // SAFETY: null, or an instance that lives, by the contract of the call.
    unsafe { instance.as_ref() }.map_or(0, |handle| handle.instance.version())
}

/// The name of its tier; empty for null. Lives as long as the library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_instance_tier(instance: *const tiga_instance) -> tiga_str {
    // SAFETY: null, or an instance that lives, by the contract of the call.
    tiga_str::of(unsafe { instance.as_ref() }.map_or("", |handle| handle.instance.tier().name()))
}

/// Its bytes; 0 for null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_instance_capacity(instance: *const tiga_instance) -> u64 {
    // SAFETY: null, or an instance that lives, by the contract of the call.
    unsafe { instance.as_ref() }.map_or(0, |handle| handle.instance.capacity())
}

/// Where its bytes lie in main memory; null for null, for files, and once it is closed. Who reads or writes there sees to
/// it that no transfer does at the same time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_instance_address(instance: *const tiga_instance) -> *mut c_void {
    // SAFETY: null, or an instance that lives, by the contract of the call.
    let address = unsafe { instance.as_ref() }.and_then(|handle| handle.instance.address());
    address.map_or(std::ptr::null_mut(), |address| address.cast())
}

/// The file that it is; empty for null and for main memory. Belongs to the handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_instance_path(instance: *const tiga_instance) -> tiga_str {
    // SAFETY: null, or an instance that lives, by the contract of the call.
    tiga_str::of(unsafe { instance.as_ref() }.map_or("", |handle| handle.path.as_str()))
}

/// Whether its last write has ended, as it has if there was none; false for null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_instance_ready(instance: *const tiga_instance) -> bool {
    // SAFETY: null, or an instance that lives, by the contract of the call.
    unsafe { instance.as_ref() }.is_some_and(|handle| handle.instance.ready())
}

/// Waits for its last write. Errors: those of tiga_completion_wait.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_instance_wait(
    instance: *const tiga_instance,
    error: *mut *mut tiga_error,
) -> tiga_status {
    // SAFETY: by the contract of the call.
    unsafe { guarded(error, || Ok(handle(instance, "instance")?.instance.wait()?)) }
}

/// Writes `bytes` bytes of `data` at an offset, after the transfers that were begun before. Errors: TIGA_CLOSED,
/// TIGA_ARGUMENT, TIGA_STORAGE, TIGA_DISK_FULL, TIGA_INSIDE_CALLBACK.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_instance_write(
    instance: *const tiga_instance,
    offset: u64,
    data: *const c_void,
    bytes: usize,
    error: *mut *mut tiga_error,
) -> tiga_status {
    let write = || {
        // SAFETY: null, or an instance that lives; so many bytes, by the contract of the call.
        let (handle, bytes) = unsafe { (handle(instance, "instance")?, slice(data.cast::<u8>(), bytes, "data")?) };
        Ok(handle.instance.write(offset, bytes)?)
    };
    // SAFETY: by the contract of the call.
    unsafe { guarded(error, write) }
}

/// Reads `bytes` bytes at an offset into `data`, after the last write that was begun before. Errors: as for
/// tiga_instance_write; TIGA_NOT_FILLED if that write failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_instance_read(
    instance: *const tiga_instance,
    offset: u64,
    data: *mut c_void,
    bytes: usize,
    error: *mut *mut tiga_error,
) -> tiga_status {
    let read = || {
        // SAFETY: null, or an instance that lives, by the contract of the call.
        let handle = unsafe { handle(instance, "instance") }?;
        if data.is_null() && bytes > 0 {
            return Err(Failure::null("data"));
        }
        if isize::try_from(bytes).is_err() {
            return Err(Failure::argument(format!("{bytes} bytes are more than an address space holds")));
        }
        let data = if bytes == 0 { std::ptr::NonNull::<u8>::dangling().as_ptr() } else { data.cast::<u8>() };
        // SAFETY: not null, and room for so many bytes by the contract of the call.
        Ok(handle.instance.read(offset, unsafe { std::slice::from_raw_parts_mut(data, bytes) })?)
    };
    // SAFETY: by the contract of the call.
    unsafe { guarded(error, read) }
}

/// Ends the memory: waits for the last write and for readers, gives everything back. The error is the first failure of
/// what was waited for, told once all is given back. Nothing happens the second time. Handles stay to be freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_instance_close(
    instance: *const tiga_instance,
    error: *mut *mut tiga_error,
) -> tiga_status {
    // SAFETY: by the contract of the call.
    unsafe { guarded(error, || Ok(handle(instance, "instance")?.instance.close()?)) }
}

/// Ends a handle; the memory lives on. Nothing happens for null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_instance_free(instance: *mut tiga_instance) {
    // SAFETY: by the contract of the call.
    unsafe { free(instance) };
}

unsafe fn read(request: *const tiga_instance_request) -> Result<Request, Failure> {
    if request.is_null() {
        return Err(Failure::null("request"));
    }
    // SAFETY: not null; the structure begins with its size, by the contract of the call.
    let size = unsafe { (&raw const (*request).size).read() };
    let known = size_of::<tiga_instance_request>();
    if size != known {
        return Err(Failure::argument(format!("the request has {size} bytes by its `size`, {known} expected")));
    }
    // SAFETY: it has all fields.
    let request = unsafe { request.read() };
    // SAFETY: texts, by the contract of the call.
    let (name, tier, device, layout) = unsafe {
        let name = request.logical_name.read("logical_name")?;
        (name, read_tier(request.tier)?, request.device.read("device")?, request.layout.read("layout")?)
    };
    let mut read = Request::new(name, request.version, tier, request.capacity);
    if !device.is_empty() {
        let parsed: Result<Device, tiga_runtime::DeviceError> = device.parse();
        read = read.on(parsed.map_err(tiga_runtime::MemoryError::from)?);
    }
    Ok(if layout.is_empty() { read } else { read.with_layout(layout) })
}
