//! The checksums of an archive, made right after a fuzzer has changed what they are of.

use flate2::Crc;
use flate2::read::DeflateDecoder;
use std::io::Read as _;
use std::ops::Range;

/// Bytes that are unpacked to learn their sum.
const SUMMED: u64 = 1 << 20;

/// One member, as the directory has it.
pub(crate) struct Member {
    pub(crate) name: Vec<u8>,
    /// Where its data lie.
    pub(crate) data: Range<usize>,
}

fn short(bytes: &[u8], at: usize) -> Option<usize> {
    Some(usize::from(u16::from_le_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?)))
}

fn long(bytes: &[u8], at: usize) -> Option<usize> {
    usize::try_from(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?)).ok()
}

fn set(bytes: &mut [u8], at: usize, sum: u32) {
    if let Some(place) = at.checked_add(4).and_then(|end| bytes.get_mut(at..end)) {
        place.copy_from_slice(&sum.to_le_bytes());
    }
}

/// Gives each member that the directory names the sum of its bytes, here and there; what is too broken for that stays.
pub(crate) fn mend(bytes: &mut [u8]) -> Vec<Member> {
    let mut members = Vec::new();
    let Some(end) = bytes.windows(4).rposition(|window| window == b"PK\x05\x06") else { return members };
    let Some(mut at) = long(bytes, end + 16) else { return members };
    while let Some((member, next)) = mend_one(bytes, at) {
        members.push(member);
        at = next;
    }
    members
}

/// Mends the member of the directory entry at `at`; with where the next one is.
fn mend_one(bytes: &mut [u8], at: usize) -> Option<(Member, usize)> {
    if bytes.get(at..at.checked_add(4)?)? != b"PK\x01\x02" {
        return None;
    }
    let (method, packed, local) = (short(bytes, at + 10)?, long(bytes, at + 20)?, long(bytes, at + 42)?);
    let (name, extra, comment) = (short(bytes, at + 28)?, short(bytes, at + 30)?, short(bytes, at + 32)?);
    let name = bytes.get(at + 46..at + 46 + name)?.to_vec();
    let begin =
        local.checked_add(30)?.checked_add(short(bytes, local + 26)?)?.checked_add(short(bytes, local + 28)?)?;
    let data = begin..begin.checked_add(packed)?;
    let next = at + 46 + name.len() + extra + comment;
    let mut sum = Crc::new();
    let packed = bytes.get(data.clone())?;
    if method == 8 {
        let mut text = Vec::new();
        let _ = DeflateDecoder::new(packed).take(SUMMED).read_to_end(&mut text);
        sum.update(&text);
    } else {
        sum.update(packed);
    }
    let sum = sum.sum();
    set(bytes, at + 16, sum);
    set(bytes, local + 14, sum);
    Some((Member { name, data }, next))
}
