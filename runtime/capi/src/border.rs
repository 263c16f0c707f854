//! The border between C and Rust: arguments checked, panics caught, errors handed over.
#![allow(unsafe_code)]

use crate::error::tiga_error;
use crate::status::{Failure, tiga_status};
use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

/// A text in UTF-8 that somebody else owns; no zero byte ends it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tiga_str {
    /// Its first byte; may be null if it is empty.
    pub data: *const u8,
    /// Its bytes.
    pub len: usize,
}

impl tiga_str {
    pub(crate) fn of(text: &str) -> Self {
        Self { data: text.as_ptr(), len: text.len() }
    }

    /// The text, if it is one.
    pub(crate) unsafe fn read<'a>(self, what: &str) -> Result<&'a str, Failure> {
        // SAFETY: the contract of the caller, which is that of `slice`.
        let bytes = unsafe { slice(self.data, self.len, what) }?;
        std::str::from_utf8(bytes).map_err(|_| Failure::argument(format!("`{what}` is not UTF-8")))
    }
}

/// `len` elements at an address, which may be null if there are none.
pub(crate) unsafe fn slice<'a, T>(data: *const T, len: usize, what: &str) -> Result<&'a [T], Failure> {
    if len == 0 {
        return Ok(&[]);
    }
    if data.is_null() {
        return Err(Failure::null(what));
    }
    if !data.is_aligned() {
        return Err(Failure::argument(format!("`{what}` is not aligned to its elements")));
    }
    if len > isize::MAX as usize / size_of::<T>().max(1) {
        return Err(Failure::argument(format!("`{what}` has {len} elements, more than an address space holds")));
    }
    // SAFETY: not null, aligned, of a possible size; by the contract of every call it holds so many elements.
    Ok(unsafe { std::slice::from_raw_parts(data, len) })
}

/// What a pointer to a handle points at.
pub(crate) unsafe fn handle<'a, T>(pointer: *const T, what: &str) -> Result<&'a T, Failure> {
    // SAFETY: null, or made by this library and not yet freed, by the contract of every call.
    unsafe { pointer.as_ref() }.ok_or_else(|| Failure::null(what))
}

/// The same to change it.
pub(crate) unsafe fn handle_mut<'a, T>(pointer: *mut T, what: &str) -> Result<&'a mut T, Failure> {
    // SAFETY: as above, and used by one thread at a time.
    unsafe { pointer.as_mut() }.ok_or_else(|| Failure::null(what))
}

/// Gives a new object to the caller.
pub(crate) unsafe fn give<T>(
    out: *mut *mut T,
    what: &str,
    make: impl FnOnce() -> Result<T, Failure>,
) -> Result<(), Failure> {
    if out.is_null() {
        return Err(Failure::null(what));
    }
    // SAFETY: not null, and a place for a pointer by the contract of the call.
    unsafe { out.write(std::ptr::null_mut()) };
    let made = Box::into_raw(Box::new(make()?));
    // SAFETY: as above.
    unsafe { out.write(made) };
    Ok(())
}

/// Ends an object that [`give`] gave.
pub(crate) unsafe fn free<T>(object: *mut T) {
    if !object.is_null() {
        // SAFETY: from `give`, and freed once, by the contract of the call.
        let object = unsafe { Box::from_raw(object) };
        // What is dropped has no way to say that something went wrong.
        let _ = quiet(|| drop(object));
    }
}

/// Writes a value through a pointer that may not be null.
pub(crate) unsafe fn put<T>(out: *mut T, what: &str, value: T) -> Result<(), Failure> {
    if out.is_null() {
        return Err(Failure::null(what));
    }
    // SAFETY: not null, and a place for the value by the contract of the call.
    unsafe { out.write(value) };
    Ok(())
}

/// Runs the body of a call. A failure becomes its number, and an object if the caller wants one.
pub(crate) unsafe fn guarded(error: *mut *mut tiga_error, body: impl FnOnce() -> Result<(), Failure>) -> tiga_status {
    let result = quiet(body).unwrap_or_else(|panic| Err(Failure::new(tiga_status::TIGA_INTERNAL, said(&*panic))));
    let (status, object) = match result {
        Ok(()) => (tiga_status::TIGA_OK, std::ptr::null_mut()),
        Err(failure) if error.is_null() => (failure.status, std::ptr::null_mut()),
        Err(failure) => (failure.status, Box::into_raw(Box::new(tiga_error::new(failure)))),
    };
    if !error.is_null() {
        // SAFETY: not null, and a place for a pointer by the contract of the call.
        unsafe { error.write(object) };
    }
    status
}

/// What a panic said.
fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("a mistake inside of the library: {}", text.unwrap_or("it says no more"))
}

thread_local! {
    /// Whether a call of this library is below on the stack.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Runs something without a word on the standard error stream, should it panic.
fn quiet<T>(body: impl FnOnce() -> T) -> std::thread::Result<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let others = take_hook();
        set_hook(Box::new(move |panic| {
            let worker = std::thread::current().name().is_some_and(|name| name.starts_with("tiga-"));
            if !worker && !INSIDE.get() {
                others(panic);
            }
        }));
    });
    let before = INSIDE.replace(true);
    let result = catch_unwind(AssertUnwindSafe(body));
    INSIDE.set(before);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error() {
        let mut error = std::ptr::null_mut();
        // SAFETY: `error` is a place for a pointer.
        let status = unsafe { guarded(&mut error, || panic!("{} is not {}", 1, 2)) };
        assert_eq!(status, tiga_status::TIGA_INTERNAL);
        // SAFETY: made just now.
        let message = unsafe { crate::tiga_error_message(error).read("message") }.unwrap();
        assert_eq!(message, "a mistake inside of the library: 1 is not 2");
        // SAFETY: freed once.
        unsafe { crate::tiga_error_free(error) };
    }

    #[test]
    fn arguments_that_are_none_are_refused() {
        // SAFETY: nothing is read where it would be wrong to.
        let refused = |data: *const u32, len| unsafe { slice(data, len, "x") }.map_err(|f| f.status).unwrap_err();
        assert_eq!(refused(std::ptr::null(), 1), tiga_status::TIGA_NULL);
        let numbers = [1u32, 2];
        assert_eq!(refused(numbers.as_ptr().wrapping_byte_add(1), 1), tiga_status::TIGA_ARGUMENT);
        assert_eq!(refused(numbers.as_ptr(), usize::MAX), tiga_status::TIGA_ARGUMENT);
        let text = tiga_str { data: [0xffu8].as_ptr(), len: 1 };
        // SAFETY: one byte.
        assert_eq!(unsafe { text.read("name") }.unwrap_err().message, "`name` is not UTF-8");
    }
}
