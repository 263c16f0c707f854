//! Calls of programs: bind, ask for shapes, run.
#![allow(unsafe_code)]

use crate::array::{Described, number, tiga_array, tiga_array_mut};
use crate::border::{free, give, guarded, handle, handle_mut, put, slice, tiga_str};
use crate::bundle::tiga_bundle;
use crate::cancel::tiga_cancel;
use crate::context::{HostData, tiga_context};
use crate::error::tiga_error;
use crate::graph::tiga_graph;
use crate::status::{Failure, tiga_status};
use ::tiga_bundle::Program;
use std::ffi::c_void;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::Arc;
use tiga_runtime::{ArrayMut, ArrayRef, Bundle, Call, Prepared, RuntimeError};

/// A call under construction. Made by tiga_call_new, ended by tiga_call_free. Used by one thread at a time. Arrays are
/// borrowed from where they are bound until the last run has returned.
pub struct tiga_call {
    /// `None` only while one takes the place of another: two may not borrow `prepared` at once.
    call: Option<Call<'static>>,
    /// What `call` borrows, if it is prepared. Dropped after it.
    prepared: Option<NonNull<Prepared>>,
    program: &'static Program,
    bundle: Arc<Bundle>,
    /// Names and addresses of bound arrays, and whether they are written; room for all.
    bound: Vec<(&'static str, bool, Range<usize>)>,
}

impl tiga_call {
    fn call(&mut self) -> Result<&mut Call<'static>, Failure> {
        self.call.as_mut().ok_or_else(|| Failure::new(tiga_status::TIGA_INTERNAL, "the call has failed before"))
    }

    /// Refuses an array that shares memory with a bound one, before Rust holds references to both.
    fn occupy(&mut self, name: &str, written: bool, range: Range<usize>) -> Result<(), Failure> {
        let overlaps = |(_, other_written, other): &&(&'static str, bool, Range<usize>)| {
            (written || *other_written) && other.start < range.end && range.start < other.end
        };
        if let Some((other, ..)) = self.bound.iter().filter(|_| !range.is_empty()).find(overlaps) {
            return Err(RuntimeError::Overlap { first: (*other).to_owned(), second: name.to_owned() }.into());
        }
        let mut names = self.program.params.iter().chain(&self.program.results).map(|param| param.name.as_str());
        // A name that the program does not have is refused when it is bound.
        if let Some(name) = names.find(|other| *other == name) {
            self.bound.push((name, written, range));
        }
        Ok(())
    }

    /// Forgets what is bound, and the token and the function of progress.
    fn clear(&mut self) -> Result<(), Failure> {
        self.bound.clear();
        self.call = None;
        self.call = Some(match self.prepared {
            // SAFETY: ours until this is dropped, and the call that borrowed it is gone.
            Some(mut prepared) => unsafe { prepared.as_mut() }.call(),
            // SAFETY: the bundle is kept, and dropped after the call.
            None => unsafe { &*Arc::as_ptr(&self.bundle) }.call(&self.program.name)?,
        });
        Ok(())
    }

    /// Puts another prepared program in place of that which is there.
    fn replace(&mut self, prepared: Option<Prepared>) {
        self.call = None;
        let new = prepared.map(|prepared| NonNull::from(Box::leak(Box::new(prepared))));
        if let Some(old) = std::mem::replace(&mut self.prepared, new) {
            // SAFETY: from a box, and dropped once; the call that borrowed it is gone.
            drop(unsafe { Box::from_raw(old.as_ptr()) });
        }
    }
}

impl Drop for tiga_call {
    fn drop(&mut self) {
        self.replace(None);
    }
}

/// The largest value that a size may have.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tiga_capacity {
    /// The size, as tiga_bundle_size calls it: `N`, `F`, `g.edges`.
    pub size: tiga_str,
    /// Its largest value.
    pub at_most: i64,
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
        let call = borrowed.call(program)?;
        let none = || Failure::new(tiga_status::TIGA_NO_PROGRAM, format!("there is no program `{program}`"));
        let program = borrowed.manifest().program(program).ok_or_else(none)?;
        let bound = Vec::with_capacity(program.params.len() + program.results.len());
        Ok(tiga_call { call: Some(call), prepared: None, program, bundle, bound })
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
        call.call()?.graph(name, &graph.graph)?;
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
        call.call()?.input(name, ArrayRef::strided(name, array.dtype, &array.shape, &array.strides, bytes)?)?;
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
        call.call()?.output(name, ArrayMut::new(array.dtype, &array.shape, bytes))?;
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
        call.call()?.dim(name, value)?;
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
        let gone = || Failure::new(tiga_status::TIGA_INTERNAL, "the call has failed before");
        let shapes = call.call.as_ref().ok_or_else(gone)?.result_shapes()?;
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
        call.call()?.cancelled_by(&cancel.token);
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
        call.call()?.on_progress(move |p| {
            // SAFETY: the host's own function with its own data, by the contract of the call.
            unsafe { progress(data.get(), tiga_str::of(p.task), p.done, p.at_most.unwrap_or(0)) };
        });
        Ok(())
    };
    // SAFETY: by the contract of the call.
    unsafe { guarded(error, body) }
}

/// Gives a call memory of its own for sizes up to those given, of which every size of the program is one, and for
/// contexts of as many threads as this one has, or fewer. From then on binding, running and tiga_call_clear allocate
/// nothing, on no thread; errors, log lines and arrays of more than six axes do. What was bound is forgotten. Prepared
/// again, it gives its memory back first.
///
/// capacities: [num_capacities] the largest value of each size.
///
/// Errors: TIGA_NO_PARAMETER, TIGA_UNBOUND, TIGA_NEGATIVE, TIGA_CONFLICT, TIGA_SIZE, TIGA_LOAD, TIGA_MEMORY,
/// TIGA_ALLOCATOR, TIGA_PLAN. The call is not prepared then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_call_prepare(
    call: *mut tiga_call,
    context: *const tiga_context,
    capacities: *const tiga_capacity,
    num_capacities: usize,
    error: *mut *mut tiga_error,
) -> tiga_status {
    let body = || {
        // SAFETY: by the contract of the call.
        let (call, context, capacities) = unsafe {
            let (call, context) = (handle_mut(call, "call")?, handle(context, "context")?);
            (call, context, slice(capacities, num_capacities, "capacities")?)
        };
        let mut sizes = Vec::new();
        for tiga_capacity { size, at_most } in capacities {
            // SAFETY: as above.
            sizes.push((unsafe { size.read("size") }?, *at_most));
        }
        call.replace(None);
        let prepared = call.bundle.prepare(&call.program.name, &sizes, &context.context);
        let (prepared, refused) = match prepared {
            Ok(prepared) => (Some(prepared), None),
            Err(error) => (None, Some(error)),
        };
        call.replace(prepared);
        call.clear()?;
        refused.map_or(Ok(()), |error| Err(error.into()))
    };
    // SAFETY: by the contract of the call.
    unsafe { guarded(error, body) }
}

/// Forgets all that is bound to a call, its token and its function of progress: other arrays, graphs and sizes can be
/// bound. Errors: TIGA_NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_call_clear(call: *mut tiga_call, error: *mut *mut tiga_error) -> tiga_status {
    // SAFETY: by the contract of the call.
    unsafe { guarded(error, || handle_mut(call, "call")?.clear()) }
}

/// Makes now what the program derives of the bound graphs, such as their transposes. It belongs to the graphs: later
/// calls find it there. A prepared call makes nothing while it runs, and needs this once for each graph. Errors:
/// TIGA_LOAD, TIGA_MEMORY, TIGA_CANCELLED, TIGA_PLAN.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_call_derive(call: *mut tiga_call, error: *mut *mut tiga_error) -> tiga_status {
    let body = || {
        // SAFETY: by the contract of the call.
        unsafe { handle_mut(call, "call") }?.call()?.derive()?;
        Ok(())
    };
    // SAFETY: by the contract of the call.
    unsafe { guarded(error, body) }
}

/// Runs the program. When it returns TIGA_OK the results stand in the bound arrays; after an error they are undefined.
/// May be repeated, on any context, with new numbers in the same arrays. Errors: TIGA_MISSING, TIGA_UNBOUND,
/// TIGA_CONFLICT, TIGA_LOAD, TIGA_MEMORY, TIGA_ALLOCATOR, TIGA_CANCELLED, TIGA_PLAN; of a prepared call TIGA_PREPARED,
/// TIGA_NOT_DERIVED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_call_run(
    call: *mut tiga_call,
    context: *const tiga_context,
    error: *mut *mut tiga_error,
) -> tiga_status {
    let body = || {
        // SAFETY: by the contract of the call.
        let (call, context) = unsafe { (handle_mut(call, "call")?, handle(context, "context")?) };
        Ok(call.call()?.run(&context.context)?)
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
