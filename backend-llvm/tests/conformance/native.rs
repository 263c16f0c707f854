//! Loads a shared object and runs its kernels, with arrays between guard pages: an access of one byte before
//! or after an array is a fault.

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::io::Write;
use std::ptr::null_mut;
use tiga_abi::{KernelArgs, KernelFn};

/// A loaded shared object.
pub struct Library(libloading::Library);

impl Library {
    /// Loads the bytes of a shared object.
    pub fn load(bytes: &[u8]) -> Self {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        // SAFETY: the object was linked from kernels; it has no initialisers.
        Self(unsafe { libloading::Library::new(file.path()) }.unwrap())
    }

    /// Runs a kernel on `begin..end`.
    pub fn run(&self, symbol: &str, sym: &[i64], arrays: &[&Array], scratch: Option<&Array>, units: (i64, i64)) {
        let ptr: Vec<*mut c_void> = arrays.iter().map(|a| a.start.cast()).collect();
        let scratch = scratch.map_or(null_mut(), |a| a.start.cast());
        let args = KernelArgs { sym: sym.as_ptr(), ptr: ptr.as_ptr(), scalar: std::ptr::null(), scratch };
        // SAFETY: every symbol of the object is a kernel; the arrays outlive the call.
        unsafe {
            let kernel = self.0.get::<KernelFn>(symbol.as_bytes()).unwrap();
            kernel(&args, units.0, units.1);
        }
    }
}

/// Bytes between inaccessible pages.
pub struct Array {
    map: *mut u8,
    mapped: usize,
    start: *mut u8,
    len: usize,
}

/// Which end of an array touches its guard page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// Its first byte.
    Before,
    /// Its last byte.
    After,
    /// Neither: it begins this many bytes after a page does, so that nothing but elements is aligned.
    Neither(usize),
}

const PAGE: usize = 4096;

impl Array {
    /// An array with these bytes.
    pub fn new(bytes: &[u8], guard: Guard) -> Self {
        let body = (bytes.len() + PAGE).div_ceil(PAGE) * PAGE;
        let mapped = body + 2 * PAGE;
        // SAFETY: a fresh private mapping; only the pages between the guards are made accessible, and the copy
        // stays within them.
        unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let map = libc::mmap(null_mut(), mapped, libc::PROT_NONE, flags, -1, 0);
            assert_ne!(map, libc::MAP_FAILED);
            let map = map.cast::<u8>();
            let accessible = libc::PROT_READ | libc::PROT_WRITE;
            assert_eq!(libc::mprotect(map.add(PAGE).cast(), body, accessible), 0);
            let skip = match guard {
                Guard::Before => 0,
                Guard::After => body - bytes.len(),
                Guard::Neither(bytes) => bytes,
            };
            let start = map.add(PAGE + skip);
            start.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            Self { map, mapped, start, len: bytes.len() }
        }
    }

    /// Its bytes now.
    pub fn bytes(&self) -> Vec<u8> {
        // SAFETY: the range is mapped readable and nothing writes it while no kernel runs.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }.to_vec()
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `new`, given back once.
        unsafe { libc::munmap(self.map.cast(), self.mapped) };
    }
}
