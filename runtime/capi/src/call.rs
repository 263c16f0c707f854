//! Calls of programs: bind, ask for shapes, run.
#![allow(unsafe_code)]

use crate::array::{Described, number, tiga_array, tiga_array_mut};
use crate::border::{free, give, guarded, handle, handle_mut, put, tiga_str};
use crate::bundle::tiga_bundle;
use crate::cancel::tiga_cancel;
use crate::context::{HostData, tiga_context};
use crate::error::tiga_error;
use crate::graph::tiga_graph;
use crate::status::{Failure, tiga_status};
use std::ffi::c_void;
use std::ops::Range;
use std::sync::Arc;
use tiga_runtime::{ArrayMut, ArrayRef, Bundle, Call, RuntimeError};

/// A call under construction. Made by tiga_call_new, ended by tiga_call_free. Used by one thread at a time. Arrays are
/// borrowed from where they are bound until the last run has returned.
pub struct tiga_call {
    // Before the bundle that it borrows from.
    call: Call<'static>,
    _bundle: Arc<Bundle>,
    /// Names and addresses of bound arrays, and whether they are written.
    bound: Vec<(String, bool, Range<usize>)>,
}

impl tiga_call {
    /// Refuses an array that shares memory with a bound one, before Rust holds references to both.
    fn occupy(&mut self, name: &str, written: bool, range: Range<usize>) -> Result<(), Failure> {
        let overlaps = |(_, other_written, other): &&(String, bool, Range<usize>)| {
            (written || *other_written) && other.start < range.end && range.start < other.end
        };
        if let Some((other, ..)) = self.bound.iter().filter(|_| !range.is_empty()).find(overlaps) {
            return Err(RuntimeError::Overlap { first: other.clone(), second: name.to_owned() }.into());
        }
        self.bound.push((name.to_owned(), written, range));
        Ok(())
    }
}

/// Told after each task that is done, on the thread that is in tiga_call_run. `done` counts tasks, in loops once a
/// round; `at_most` is how many there can be, 0 if that is not known. `task` is gone when it returns.
pub type tiga_progress = Option<unsafe extern "C" fn(data: *mut c_void, task: tiga_str, done: u64, at_most: u64)>;

/// Begins a call of a program by its name. Errors: TIGA_NO_PROGRAM.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_call_new(
    bundle: *const tiga_bundle,
    program: tiga_str,
    out: *mut *mut tiga_call,
    error: *mut *mut tiga_error,
) -> tiga_status {
    let make = || {
        // SAFETY: by the contract of the call.
        let (bundle, program) = unsafe { (handle(bundle, "bundle")?, program.read("program")?) };
        let bundle = Arc::new(bundle.bundle.clone());
        // SAFETY: the object that holds the call holds the bundle too, and drops it last.
        let borrowed: &'static Bundle = unsafe { &*Arc::as_ptr(&bundle) };
        Ok(tiga_call { call: borrowed.call(program)?, _bundle: bundle, bound: Vec::new() })
    };
    // SAFETY: by the contract of the call.
    unsafe { guarded(error, || give(out, "out", make)) }
}

/// Binds a graph. Errors: TIGA_NO_PARAMETER, TIGA_BOUND_TWICE, TIGA_KIND, TIGA_CONFLICT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_call_graph(
    call: *mut tiga_call,
    name: tiga_str,
    graph: *const tiga_graph,
    error: *mut *mut tiga_error,
) -> tiga_status {
    let body = || {
        // SAFETY: by the contract of the call.
        let (call, name, graph) = unsafe { (handle_mut(call, "call")?, name.read("name")?, handle(graph, "graph")?) };
        call.call.graph(name, &graph.graph)?;
        Ok(())
    };
    // SAFETY: by the contract of the call.
    unsafe { guarded(error, body) }
}

/// Binds an array to read. Its elements must stay as they are until the last run has returned. Errors:
/// TIGA_NO_PARAMETER, TIGA_BOUND_TWICE, TIGA_KIND, TIGA_DTYPE, TIGA_RANK, TIGA_CONFLICT, TIGA_ALIGNMENT, TIGA_STRIDES,
/// TIGA_OVERLAP, TIGA_BOOL. After an error the call may only be freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_call_input(
    call: *mut tiga_call,
    name: tiga_str,
    array: *const tiga_array,
    error: *mut *mut tiga_error,
) -> tiga_status {
    let body = || {
        // SAFETY: by the contract of the call.
        let (call, name, array) = unsafe {
            let (call, name) = (handle_mut(call, "call")?, name.read("name")?);
            let array = handle(array, "array").and_then(|array| Described::read(array));
            (call, name, array.map_err(|failure| failure.of(name))?)
        };
        call.occupy(name, false, array.range())?;
        let bytes: &'static [u8] = match array.bytes {
            0 => &[],
            // SAFETY: not null, of a possible size, borrowed until the last run by the contract of the call.
            len => unsafe { std::slice::from_raw_parts(array.data, len) },
        };
        call.call.input(name, ArrayRef::strided(name, array.dtype, &array.shape, &array.strides, bytes)?)?;
        Ok(())
    };
    // SAFETY: by the contract of the call.
    unsafe { guarded(error, body) }
}

/// Binds an array to write a result into. Nobody may touch its elements while the call runs. Errors: as for
/// tiga_call_input.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_call_output(
    call: *mut tiga_call,
    name: tiga_str,
    array: *const tiga_array_mut,
    error: *mut *mut tiga_error,
) -> tiga_status {
    let body = || {
        // SAFETY: by the contract of the call.
        let (call, name, array) = unsafe {
            let (call, name) = (handle_mut(call, "call")?, name.read("name")?);
            let array = handle(array, "array").and_then(|array| Described::read(&tiga_array::from(array)));
            (call, name, array.map_err(|failure| failure.of(name))?)
        };
        call.occupy(name, true, array.range())?;
        let bytes: &'static mut [u8] = match array.bytes {
            0 => &mut [],
            // SAFETY: not null, of a possible size, nobody else's until the last run by the contract of the call; no
            // other bound array shares its memory.
            len => unsafe { std::slice::from_raw_parts_mut(array.data, len) },
        };
        // Only its strides are looked at: an array to read and one to write have the same.
        ArrayRef::strided(name, array.dtype, &array.shape, &array.strides, &[])?;
        call.call.output(name, ArrayMut::new(array.dtype, &array.shape, bytes))?;
        Ok(())
    };
    // SAFETY: by the contract of the call.
    unsafe { guarded(error, body) }
}

/// Gives a size that no input fixes. Errors: TIGA_NO_PARAMETER, TIGA_CONFLICT, TIGA_NEGATIVE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_call_dim(
    call: *mut tiga_call,
    name: tiga_str,
    value: i64,
    error: *mut *mut tiga_error,
) -> tiga_status {
    let body = || {
        // SAFETY: by the contract of the call.
        let (call, name) = unsafe { (handle_mut(call, "call")?, name.read("name")?) };
        call.call.dim(name, value)?;
        Ok(())
    };
    // SAFETY: by the contract of the call.
    unsafe { guarded(error, body) }
}

/// The shape that an array for a result must have, once all inputs are bound.
///
/// rank, dtype: receive the number of axes and the tiga_dtype; either may be null.
/// shape: [capacity] receives the extents, as many as there is room for.
///
/// Errors: TIGA_MISSING, TIGA_UNBOUND, TIGA_NO_PARAMETER.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_call_result_shape(
    call: *const tiga_call,
    name: tiga_str,
    shape: *mut i64,
    capacity: usize,
    rank: *mut usize,
    dtype: *mut i32,
    error: *mut *mut tiga_error,
) -> tiga_status {
    let body = || {
        // SAFETY: by the contract of the call.
        let (call, name) = unsafe { (handle(call, "call")?, name.read("name")?) };
        let shapes = call.call.result_shapes()?;
        let none = || Failure::new(tiga_status::TIGA_NO_PARAMETER, format!("there is no result `{name}`"));
        let (_, found, extents) = shapes.iter().find(|(result, ..)| result == name).ok_or_else(none)?;
        if capacity > 0 && shape.is_null() {
            return Err(Failure::null("shape"));
        }
        for (axis, extent) in extents.iter().take(capacity).enumerate() {
            // SAFETY: `shape` holds `capacity` numbers, by the contract of the call.
            unsafe { shape.add(axis).write(*extent as i64) };
        }
        if !rank.is_null() {
            // SAFETY: not null, a place for a number by the contract of the call.
            unsafe { put(rank, "rank", extents.len()) }?;
        }
        if !dtype.is_null() {
            // SAFETY: as above.
            unsafe { put(dtype, "dtype", number(*found)) }?;
        }
        Ok(())
    };
    // SAFETY: by the contract of the call.
    unsafe { guarded(error, body) }
}

/// Lets a token stop the runs of this call. Errors: TIGA_NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_call_cancelled_by(
    call: *mut tiga_call,
    cancel: *const tiga_cancel,
    error: *mut *mut tiga_error,
) -> tiga_status {
    let body = || {
        // SAFETY: by the contract of the call.
        let (call, cancel) = unsafe { (handle_mut(call, "call")?, handle(cancel, "cancel")?) };
        call.call.cancelled_by(&cancel.token);
        Ok(())
    };
    // SAFETY: by the contract of the call.
    unsafe { guarded(error, body) }
}

/// Has progress reported. `data` must live until the call is ended; the function must not throw, jump out, or touch the
/// call. Errors: TIGA_NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_call_on_progress(
    call: *mut tiga_call,
    progress: tiga_progress,
    data: *mut c_void,
    error: *mut *mut tiga_error,
) -> tiga_status {
    let body = || {
        // SAFETY: by the contract of the call.
        let call = unsafe { handle_mut(call, "call") }?;
        let progress = progress.ok_or_else(|| Failure::null("progress"))?;
        let data = HostData(data);
        call.call.on_progress(move |p| {
            // SAFETY: the host's own function with its own data, by the contract of the call.
            unsafe { progress(data.get(), tiga_str::of(p.task), p.done, p.at_most.unwrap_or(0)) };
        });
        Ok(())
    };
    // SAFETY: by the contract of the call.
    unsafe { guarded(error, body) }
}

/// Runs the program. When it returns TIGA_OK the results stand in the bound arrays; after an error they are undefined.
/// May be repeated, on any context, with new numbers in the same arrays. Errors: TIGA_MISSING, TIGA_UNBOUND,
/// TIGA_CONFLICT, TIGA_LOAD, TIGA_MEMORY, TIGA_ALLOCATOR, TIGA_CANCELLED, TIGA_PLAN.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_call_run(
    call: *mut tiga_call,
    context: *const tiga_context,
    error: *mut *mut tiga_error,
) -> tiga_status {
    let body = || {
        // SAFETY: by the contract of the call.
        let (call, context) = unsafe { (handle_mut(call, "call")?, handle(context, "context")?) };
        Ok(call.call.run(&context.context)?)
    };
    // SAFETY: by the contract of the call.
    unsafe { guarded(error, body) }
}

/// Ends a call; nothing happens for null. Its arrays are the host's again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_call_free(call: *mut tiga_call) {
    // SAFETY: by the contract of the call.
    unsafe { free(call) };
}
