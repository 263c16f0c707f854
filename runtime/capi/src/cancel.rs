//! Tokens that stop runs.
#![allow(unsafe_code)]

use crate::border::{free, give, guarded};
use crate::error::tiga_error;
use crate::status::tiga_status;
use tiga_runtime::CancelToken;

/// Asks runs to stop. Made by tiga_cancel_new, ended by tiga_cancel_free, at any time: runs that have it keep it alive.
pub struct tiga_cancel {
    pub(crate) token: CancelToken,
}

/// Makes a token that asks for nothing yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_cancel_new(out: *mut *mut tiga_cancel, error: *mut *mut tiga_error) -> tiga_status {
    // SAFETY: by the contract of the call.
    unsafe { guarded(error, || give(out, "out", || Ok(tiga_cancel { token: CancelToken::new() }))) }
}

/// Asks all runs with this token to stop: they return TIGA_CANCELLED when the units of work that run are done, a few
/// milliseconds as a rule. Stays so for good. From any thread, and from a signal handler. Nothing happens for null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_cancel_request(cancel: *const tiga_cancel) {
    // SAFETY: null, or a token that lives, by the contract of the call.
    if let Some(cancel) = unsafe { cancel.as_ref() } {
        cancel.token.cancel();
    }
}

/// Whether it was asked for; false for null. From any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_cancel_requested(cancel: *const tiga_cancel) -> bool {
    // SAFETY: null, or a token that lives, by the contract of the call.
    unsafe { cancel.as_ref() }.is_some_and(|cancel| cancel.token.is_cancelled())
}

/// Ends a token; nothing happens for null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_cancel_free(cancel: *mut tiga_cancel) {
    // SAFETY: by the contract of the call.
    unsafe { free(cancel) };
}
