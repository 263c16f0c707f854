//! Errors as objects.
#![allow(unsafe_code)]

use crate::border::{free, tiga_str};
use crate::status::{Failure, tiga_status};

/// Why a call failed. Made by the call that fails, ended by tiga_error_free. May be read from any thread.
pub struct tiga_error {
    failure: Failure,
}

impl tiga_error {
    pub(crate) fn new(failure: Failure) -> Self {
        Self { failure }
    }
}

/// The number of an error, the same that its call returned; TIGA_OK for null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_error_status(error: *const tiga_error) -> tiga_status {
    // SAFETY: null, or an error that lives, by the contract of the call.
    unsafe { error.as_ref() }.map_or(tiga_status::TIGA_OK, |error| error.failure.status)
}

/// The name of a number, such as "TIGA_BUNDLE". Lives as long as the library. A number that this library does not know
/// has an empty name.
#[unsafe(no_mangle)]
pub extern "C" fn tiga_status_name(number: i32) -> tiga_str {
    let row = crate::STATUSES.iter().find(|(status, _)| *status as i32 == number);
    tiga_str::of(row.map_or("", |(status, _)| status.name()))
}

/// What happened, a sentence in English without a full stop; empty for null. Belongs to the error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_error_message(error: *const tiga_error) -> tiga_str {
    // SAFETY: null, or an error that lives, by the contract of the call.
    unsafe { error.as_ref() }.map_or(tiga_str::of(""), |error| tiga_str::of(&error.failure.message))
}

/// Ends an error; nothing happens for null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_error_free(error: *mut tiga_error) {
    // SAFETY: by the contract of the call.
    unsafe { free(error) };
}
