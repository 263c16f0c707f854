//! Memory for what files hold: asked for where it can be refused, since a refusal elsewhere ends the process.
//!
//! What stays with the allocations that cannot fail is bounded by constants: buffers of 64 KiB, texts of errors, and what
//! the libraries for archives and JSON keep of a directory or a header.

use crate::WouldNotFit;

/// The refusal of so many elements.
fn refused<T>(len: usize) -> WouldNotFit {
    WouldNotFit::Refused { bytes: (len as u64).saturating_mul(size_of::<T>() as u64) }
}

/// Room for exactly so many elements.
pub(crate) fn for_elements<T>(len: usize) -> Result<Vec<T>, WouldNotFit> {
    let mut out = Vec::new();
    out.try_reserve_exact(len).map_err(|_| refused::<T>(len))?;
    Ok(out)
}

/// So many copies of one element.
pub(crate) fn filled<T: Clone>(value: T, len: usize) -> Result<Vec<T>, WouldNotFit> {
    let mut out = for_elements(len)?;
    out.resize(len, value);
    Ok(out)
}

/// The elements of an iterator that gives `len` of them.
pub(crate) fn collected<T>(len: usize, items: impl Iterator<Item = T>) -> Result<Vec<T>, WouldNotFit> {
    let mut out = for_elements(len)?;
    out.extend(items.take(len));
    Ok(out)
}

/// The same for elements that may be refused.
pub(crate) fn collected_good<T, E: From<WouldNotFit>>(
    len: usize,
    items: impl Iterator<Item = Result<T, E>>,
) -> Result<Vec<T>, E> {
    let mut out = for_elements(len)?;
    for item in items.take(len) {
        out.push(item?);
    }
    Ok(out)
}

/// Adds an element, with room for as many again where there is none left.
pub(crate) fn push<T>(out: &mut Vec<T>, value: T) -> Result<(), WouldNotFit> {
    make(out, 1)?;
    out.push(value);
    Ok(())
}

/// Makes room for so many more elements; of many small requests few reach the system.
pub(crate) fn make<T>(out: &mut Vec<T>, more: usize) -> Result<(), WouldNotFit> {
    out.try_reserve(more).map_err(|_| refused::<T>(out.len().saturating_add(more)))
}

/// Adds a text.
pub(crate) fn push_text(out: &mut String, text: &str) -> Result<(), WouldNotFit> {
    out.try_reserve(text.len()).map_err(|_| refused::<u8>(out.len().saturating_add(text.len())))?;
    out.push_str(text);
    Ok(())
}

/// A text of its own.
pub(crate) fn boxed(text: &str) -> Result<Box<str>, WouldNotFit> {
    let mut out = String::new();
    out.try_reserve_exact(text.len()).map_err(|_| refused::<u8>(text.len()))?;
    out.push_str(text);
    Ok(out.into_boxed_str())
}
