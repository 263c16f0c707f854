//! Bundles, and what they say of themselves.
#![allow(unsafe_code)]

use crate::array::number;
use crate::border::{free, give, guarded, handle, put, slice, tiga_str};
use crate::error::tiga_error;
use crate::status::{Failure, tiga_status};
use ::tiga_bundle::{Param, Program, SymbolKind, Type};
use std::collections::BTreeMap;
use std::ffi::{CStr, OsStr, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use tiga_abi::KernelFn;
use tiga_runtime::Bundle;

/// Compiled programs. Made by tiga_bundle_open and the like, ended by tiga_bundle_free. May be shared by
/// threads; a call keeps it alive. What is read of it belongs to it.
pub struct tiga_bundle {
    pub(crate) bundle: Bundle,
    /// The extents of all parameters as texts, by program, inputs then results.
    extents: Vec<Vec<Vec<String>>>,
}

impl tiga_bundle {
    fn new(bundle: Bundle) -> Self {
        let program = |p: &Program| p.params.iter().chain(&p.results).map(extents).collect();
        Self { extents: bundle.manifest().programs.iter().map(program).collect(), bundle }
    }

    fn program(&self, index: usize) -> Result<&Program, Failure> {
        let programs = &self.bundle.manifest().programs;
        let none = || Failure::argument(format!("there is no program {index}: the bundle has {}", programs.len()));
        programs.get(index).ok_or_else(none)
    }
}

/// What the axes of an array count; of a graph its sources, destinations and edges.
fn extents(param: &Param) -> Vec<String> {
    match &param.ty {
        Type::Graph { src, dst, edges } => [src, dst, edges].iter().map(ToString::to_string).collect(),
        Type::Tensor { shape, .. } => shape.iter().map(ToString::to_string).collect(),
    }
}

/// A program of a bundle. Begins with its own size, as the host knows it: later versions may append to it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tiga_program_info {
    /// sizeof(tiga_program_info), set by the host.
    pub size: usize,
    /// Its name.
    pub name: tiga_str,
    /// Its doc comment.
    pub doc: tiga_str,
    /// How many inputs it has.
    pub inputs: usize,
    /// How many results it has.
    pub results: usize,
    /// How many sizes it has: sets, edges, dimensions.
    pub sizes: usize,
}

/// An input or a result of a program. Begins with its own size, as the host knows it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tiga_param_info {
    /// sizeof(tiga_param_info), set by the host.
    pub size: usize,
    /// Its name.
    pub name: tiga_str,
    /// Its doc comment.
    pub doc: tiga_str,
    /// 0 for a graph, or the tiga_dtype of the array.
    pub dtype: i32,
    /// The number of axes of an array, 3 for a graph: tiga_bundle_extent says what each counts.
    pub rank: i32,
}

/// A size of a program. Begins with its own size, as the host knows it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tiga_size_info {
    /// sizeof(tiga_size_info), set by the host.
    pub size: usize,
    /// Its name.
    pub name: tiga_str,
    /// Where it comes from, for people.
    pub origin: tiga_str,
    /// 0: members of a set; 1: edges of a graph; 2: a dimension.
    pub kind: i32,
}

/// Opens a file and chooses the kernels for this machine. The file may change or go afterwards.
/// Errors: TIGA_FILE, TIGA_BUNDLE, TIGA_TARGET. Opening any file is safe: its kernels are loaded for the first run, and
/// running a bundle runs its code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_bundle_open(
    path: tiga_str,
    out: *mut *mut tiga_bundle,
    error: *mut *mut tiga_error,
) -> tiga_status {
    let make = || {
        // SAFETY: by the contract of the call. Paths need not be UTF-8.
        let path = unsafe { slice(path.data, path.len, "path") }?;
        let path = Path::new(OsStr::from_bytes(path));
        let place =
            |failure: Failure| Failure { message: format!("{}: {}", path.display(), failure.message), ..failure };
        Ok(tiga_bundle::new(Bundle::open(path).map_err(|error| place(error.into()))?))
    };
    // SAFETY: by the contract of the call.
    unsafe { guarded(error, || give(out, "out", make)) }
}

/// The same from the bytes of a file, which are copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_bundle_from_memory(
    bytes: *const u8,
    len: usize,
    out: *mut *mut tiga_bundle,
    error: *mut *mut tiga_error,
) -> tiga_status {
    let make = || {
        // SAFETY: by the contract of the call.
        let bytes = unsafe { slice(bytes, len, "bytes") }?;
        Ok(tiga_bundle::new(Bundle::from_bytes(bytes.to_vec())?))
    };
    // SAFETY: by the contract of the call.
    unsafe { guarded(error, || give(out, "out", make)) }
}

/// The same bundle with the kernels of the target of this name, such as "x86-64-v3", instead of the best that this
/// machine can run. Each bundle is freed on its own. Errors: TIGA_TARGET if the bundle has no such target, or the machine
/// lacks what its kernels need.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_bundle_with_target(
    bundle: *const tiga_bundle,
    target: tiga_str,
    out: *mut *mut tiga_bundle,
    error: *mut *mut tiga_error,
) -> tiga_status {
    let make = || {
        // SAFETY: by the contract of the call.
        let (bundle, target) = unsafe { (handle(bundle, "bundle")?, target.read("target")?) };
        Ok(tiga_bundle::new(bundle.bundle.with_target(target)?))
    };
    // SAFETY: by the contract of the call.
    unsafe { guarded(error, || give(out, "out", make)) }
}

/// A kernel, as docs/c-abi.md describes it.
pub type tiga_kernel = Option<unsafe extern "C" fn(arguments: *const c_void, unit_begin: i64, unit_end: i64)>;

/// A kernel by its name.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tiga_linked_kernel {
    /// Its name in the bundle, ended by a zero byte.
    pub name: *const c_char,
    /// The function.
    pub entry: tiga_kernel,
}

/// What `tigac --emit=obj` puts into an object as tiga_linked_NAME: a bundle without kernels, and the kernels. Begins
/// with its own size.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tiga_linked {
    /// sizeof(tiga_linked) when the object was made.
    pub size: usize,
    /// The bytes of the bundle.
    pub bundle: *const u8,
    /// How many.
    pub bundle_len: usize,
    /// [num_kernels] The kernels.
    pub kernels: *const tiga_linked_kernel,
    /// How many.
    pub num_kernels: usize,
}

/// Makes a bundle of an object that the program was linked with: nothing is loaded, no file is read. The table is
/// tiga_linked_NAME of the object, and must stay as it is. Errors: TIGA_BUNDLE, TIGA_TARGET; TIGA_LOAD if the table and
/// its bundle do not go together.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_bundle_from_linked(
    linked: *const tiga_linked,
    out: *mut *mut tiga_bundle,
    error: *mut *mut tiga_error,
) -> tiga_status {
    let make = || {
        // SAFETY: by the contract of the call.
        let linked = unsafe { handle(linked, "linked") }?;
        if linked.size < size_of::<tiga_linked>() {
            return Err(Failure::argument(format!("a table of {} bytes by its `size`", linked.size)));
        }
        // SAFETY: the table holds what it says, by the contract of the call.
        let (bytes, rows) = unsafe {
            let rows = slice(linked.kernels, linked.num_kernels, "kernels")?;
            (slice(linked.bundle, linked.bundle_len, "bundle")?, rows)
        };
        let mut kernels = BTreeMap::new();
        for row in rows {
            if row.name.is_null() {
                return Err(Failure::null("name"));
            }
            // SAFETY: a text that ends in a zero byte, by the contract of the call.
            let name = unsafe { CStr::from_ptr(row.name) }.to_string_lossy().into_owned();
            let entry = row.entry.ok_or_else(|| Failure::null("entry"))?;
            // SAFETY: the same function; C has one name less for its first parameter.
            let entry = unsafe { std::mem::transmute::<Entry, KernelFn>(entry) };
            kernels.insert(name, entry);
        }
        // SAFETY: tigac makes the table and its bundle together.
        Ok(tiga_bundle::new(unsafe { Bundle::from_linked(bytes.to_vec(), kernels) }?))
    };
    // SAFETY: by the contract of the call.
    unsafe { guarded(error, || give(out, "out", make)) }
}

/// A kernel as C declares it.
type Entry = unsafe extern "C" fn(*const c_void, i64, i64);

/// The target whose kernels run, such as "x86-64-v3"; empty for null. Belongs to the bundle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_bundle_target(bundle: *const tiga_bundle) -> tiga_str {
    // SAFETY: null, or a bundle that lives, by the contract of the call.
    unsafe { handle(bundle, "bundle") }.map_or(tiga_str::of(""), |b| tiga_str::of(b.bundle.target()))
}

/// How many programs a bundle has; 0 for null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_bundle_programs(bundle: *const tiga_bundle) -> usize {
    // SAFETY: null, or a bundle that lives, by the contract of the call.
    unsafe { handle(bundle, "bundle") }.map_or(0, |b| b.bundle.manifest().programs.len())
}

/// Describes a program, by its number from 0. Errors: TIGA_NULL, TIGA_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_bundle_program(
    bundle: *const tiga_bundle,
    program: usize,
    out: *mut tiga_program_info,
    error: *mut *mut tiga_error,
) -> tiga_status {
    let body = || {
        // SAFETY: by the contract of the call.
        let (bundle, size) = unsafe { (handle(bundle, "bundle")?, known_size(out)?) };
        let program = bundle.program(program)?;
        let info = tiga_program_info {
            size,
            name: tiga_str::of(&program.name),
            doc: tiga_str::of(&program.doc),
            inputs: program.params.len(),
            results: program.results.len(),
            sizes: program.symbols.len(),
        };
        // SAFETY: as above.
        unsafe { put(out, "out", info) }
    };
    // SAFETY: by the contract of the call.
    unsafe { guarded(error, body) }
}

/// Describes an input of a program, both by their numbers from 0. Errors: TIGA_NULL, TIGA_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_bundle_input(
    bundle: *const tiga_bundle,
    program: usize,
    input: usize,
    out: *mut tiga_param_info,
    error: *mut *mut tiga_error,
) -> tiga_status {
    // SAFETY: by the contract of the call.
    unsafe { guarded(error, || describe(bundle, program, Side::Input, input, out)) }
}

/// Describes a result of a program, both by their numbers from 0. Errors: TIGA_NULL, TIGA_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_bundle_result(
    bundle: *const tiga_bundle,
    program: usize,
    result: usize,
    out: *mut tiga_param_info,
    error: *mut *mut tiga_error,
) -> tiga_status {
    // SAFETY: by the contract of the call.
    unsafe { guarded(error, || describe(bundle, program, Side::Result, result, out)) }
}

/// Describes a size of a program, both by their numbers from 0. Errors: TIGA_NULL, TIGA_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_bundle_size(
    bundle: *const tiga_bundle,
    program: usize,
    number: usize,
    out: *mut tiga_size_info,
    error: *mut *mut tiga_error,
) -> tiga_status {
    let body = || {
        // SAFETY: by the contract of the call.
        let (bundle, size) = unsafe { (handle(bundle, "bundle")?, known_size(out)?) };
        let program = bundle.program(program)?;
        let none = || Failure::argument(format!("`{}` has no size {number}", program.name));
        let symbol = program.symbols.get(number).ok_or_else(none)?;
        let kind = match symbol.kind {
            SymbolKind::Set => 0,
            SymbolKind::Edges => 1,
            SymbolKind::Dim => 2,
        };
        let info =
            tiga_size_info { size, name: tiga_str::of(&symbol.name), origin: tiga_str::of(&symbol.origin), kind };
        // SAFETY: as above.
        unsafe { put(out, "out", info) }
    };
    // SAFETY: by the contract of the call.
    unsafe { guarded(error, body) }
}

/// What an axis of an input counts, as a formula of sizes such as "N" or "4*F"; of a graph, axis 0 are its sources, 1
/// its destinations, 2 its edges. Results are numbered after inputs here: result r is parameter inputs + r. Empty if
/// there is no such axis. Belongs to the bundle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_bundle_extent(
    bundle: *const tiga_bundle,
    program: usize,
    parameter: usize,
    axis: usize,
) -> tiga_str {
    // SAFETY: null, or a bundle that lives, by the contract of the call.
    let bundle = unsafe { bundle.as_ref() };
    let extent = bundle.and_then(|b| b.extents.get(program)?.get(parameter)?.get(axis));
    tiga_str::of(extent.map_or("", String::as_str))
}

/// Ends a bundle; nothing happens for null. Kernels stay loaded until the last call is ended too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_bundle_free(bundle: *mut tiga_bundle) {
    // SAFETY: by the contract of the call.
    unsafe { free(bundle) };
}

/// Inputs or results.
#[derive(Clone, Copy)]
enum Side {
    Input,
    Result,
}

unsafe fn describe(
    bundle: *const tiga_bundle,
    program: usize,
    side: Side,
    index: usize,
    out: *mut tiga_param_info,
) -> Result<(), Failure> {
    // SAFETY: the contract of the caller.
    let (bundle, size) = unsafe { (handle(bundle, "bundle")?, known_size(out)?) };
    let program = bundle.program(program)?;
    let (params, what) = match side {
        Side::Input => (&program.params, "input"),
        Side::Result => (&program.results, "result"),
    };
    let none = || Failure::argument(format!("`{}` has no {what} {index}: it has {}", program.name, params.len()));
    let param = params.get(index).ok_or_else(none)?;
    let (dtype, rank) = match &param.ty {
        Type::Graph { .. } => (0, 3),
        Type::Tensor { dtype, shape } => (number(*dtype), shape.len() as i32),
    };
    let info = tiga_param_info { size, name: tiga_str::of(&param.name), doc: tiga_str::of(&param.doc), dtype, rank };
    // SAFETY: as above.
    unsafe { put(out, "out", info) }
}

/// The size that the host gave a structure to fill; it must be the one this library knows, as there is one only.
unsafe fn known_size<T>(out: *const T) -> Result<usize, Failure> {
    if out.is_null() {
        return Err(Failure::null("out"));
    }
    // SAFETY: not null; structures to fill begin with their size, by the contract of the call.
    let size = unsafe { out.cast::<usize>().read() };
    if size < size_of::<T>() {
        return Err(Failure::argument(format!(
            "the structure has {size} bytes by its `size`, at least {} expected",
            size_of::<T>()
        )));
    }
    Ok(size)
}

const _: () = {
    const fn shared_by_threads<T: Send + Sync>() {}
    shared_by_threads::<tiga_bundle>();
    shared_by_threads::<crate::tiga_graph>();
    shared_by_threads::<crate::tiga_context>();
    shared_by_threads::<crate::tiga_cancel>();
    shared_by_threads::<crate::tiga_error>();
};
