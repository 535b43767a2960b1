//! The frame around a body: version, kind, length, checksum. The same for every type, and for every version.

use super::field::{Field, Reader};
use super::{DecodeError, VERSION, checksum};
use alloc::vec::Vec;

const CHECKSUM: usize = 4;

/// Appends a frame with the body that `body` appends.
pub(super) fn seal(kind: u8, out: &mut Vec<u8>, body: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend([VERSION, kind]);
    let begin = out.len();
    body(out);
    // The length goes before what it measures.
    let end = out.len();
    ((end - begin) as u64).write(out);
    let length = out.len() - end;
    out[begin..].rotate_right(length);
    let sum = checksum::of(&out[start..]);
    out.extend(sum.to_le_bytes());
}

/// A frame that was found intact.
pub(super) struct Frame<'a> {
    pub(super) kind: u8,
    pub(super) body: Reader<'a>,
    /// What follows it.
    pub(super) rest: &'a [u8],
}

/// The frame that `bytes` begin with, of at most as many bytes as its kind may have.
pub(super) fn open(bytes: &[u8], limit: impl Fn(u8) -> usize) -> Result<Frame<'_>, DecodeError> {
    let mut header = Reader::new(bytes);
    let version = header.byte()?;
    let kind = header.byte()?;
    let length = header.field::<u64>()?;
    let limit = limit(kind);
    let end = usize::try_from(length)
        .ok()
        .and_then(|length| length.checked_add(header.at()))
        .and_then(|end| end.checked_add(CHECKSUM))
        .filter(|end| *end <= limit)
        .ok_or(DecodeError::TooLong { length, limit })?;
    if bytes.len() < end {
        return Err(DecodeError::Truncated { at: bytes.len() });
    }
    let (bytes, rest) = bytes.split_at(end);
    let at = end - CHECKSUM;
    let (summed, sum) = bytes.split_at(at);
    if sum != checksum::of(summed).to_le_bytes() {
        return Err(DecodeError::Damaged { at });
    }
    if version != VERSION {
        return Err(DecodeError::UnknownVersion(version));
    }
    let body = header.part(at - header.at())?;
    Ok(Frame { kind, body, rest })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    /// Around bodies whose length takes one byte, and two.
    #[test]
    fn a_body_comes_out_as_it_went_in() {
        for length in [0, 1, 127, 128, 1_000] {
            let body = vec![0xb0; length];
            let mut out = vec![0xaa; 300];
            seal(0x42, &mut out, |out| out.extend(&body));
            let frame = out.split_off(300);
            assert_eq!(out, [0xaa; 300]);
            let followed = [frame.as_slice(), &[0xcc]].concat();
            let mut read = open(&followed, |_| frame.len()).unwrap();
            assert_eq!((read.kind, read.rest), (0x42, &[0xcc][..]));
            for byte in body {
                assert_eq!(read.body.byte(), Ok(byte));
            }
            let at = frame.len() - CHECKSUM;
            assert_eq!(read.body.byte(), Err(DecodeError::Truncated { at }));
        }
    }
}
