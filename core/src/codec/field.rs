//! The fields of a body.
//!
//! [`Field`] is implemented once for each type a message or record is made of; how a variant is written follows from its
//! fields.

use super::DecodeError;
use crate::log::Position;
use crate::{Duration, Instant, NodeId};
use alloc::vec::Vec;

/// A part of a body. **Invariant:** a value has one encoding of at least one byte, and reading takes exactly what writing gave.
pub(super) trait Field: Sized {
    fn write(&self, out: &mut Vec<u8>);
    fn read(from: &mut Reader<'_>) -> Result<Self, DecodeError>;
}

/// What is left to read, and where that is in the frame.
pub(super) struct Reader<'a> {
    rest: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, at: 0 }
    }

    /// The offset in the frame of the next byte.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// The next `length` bytes, apart.
    pub(super) fn part(&self, length: usize) -> Result<Self, DecodeError> {
        match self.rest.get(..length) {
            Some(rest) => Ok(Self { rest, at: self.at }),
            None => Err(self.ends()),
        }
    }

    pub(super) fn byte(&mut self) -> Result<u8, DecodeError> {
        let (first, rest) = self.rest.split_first().ok_or(self.ends())?;
        self.rest = rest;
        self.at += 1;
        Ok(*first)
    }

    pub(super) fn field<F: Field>(&mut self) -> Result<F, DecodeError> {
        F::read(self)
    }

    /// A field that a writer of an earlier release left out.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "no field was added since format 1")
    )]
    pub(super) fn field_or<F: Field>(&mut self, absent: F) -> Result<F, DecodeError> {
        if self.rest.is_empty() {
            Ok(absent)
        } else {
            F::read(self)
        }
    }

    fn ends(&self) -> DecodeError {
        DecodeError::Truncated {
            at: self.at + self.rest.len(),
        }
    }
}

/// LEB128, in the shortest form alone.
impl Field for u64 {
    fn write(&self, out: &mut Vec<u8>) {
        let mut rest = *self;
        while rest >= 0x80 {
            out.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        out.push(rest as u8);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let at = from.at();
        let mut value = 0;
        let mut shift = 0;
        loop {
            let byte = from.byte()?;
            let bits = u64::from(byte & 0x7f);
            // The tenth byte holds the 64th bit alone.
            if shift == 63 && byte > 1 {
                return Err(DecodeError::OutOfRange { at });
            }
            value |= bits << shift;
            if byte < 0x80 {
                return if byte == 0 && shift > 0 {
                    Err(DecodeError::NotCanonical { at })
                } else {
                    Ok(value)
                };
            }
            shift += 7;
        }
    }
}

impl Field for u32 {
    fn write(&self, out: &mut Vec<u8>) {
        u64::from(*self).write(out);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let at = from.at();
        let value = from.field::<u64>()?;
        Self::try_from(value).map_err(|_| DecodeError::OutOfRange { at })
    }
}

impl Field for bool {
    fn write(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let at = from.at();
        match from.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(DecodeError::OutOfRange { at }),
        }
    }
}

impl<F: Field> Field for Option<F> {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            None => out.push(0),
            Some(value) => {
                out.push(1);
                value.write(out);
            }
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let at = from.at();
        match from.byte()? {
            0 => Ok(None),
            1 => from.field().map(Some),
            _ => Err(DecodeError::OutOfRange { at }),
        }
    }
}

impl Field for NodeId {
    fn write(&self, out: &mut Vec<u8>) {
        self.0.write(out);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        from.field().map(Self)
    }
}

impl Field for Instant {
    fn write(&self, out: &mut Vec<u8>) {
        self.as_micros().write(out);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        from.field().map(Self::from_micros)
    }
}

impl Field for Duration {
    fn write(&self, out: &mut Vec<u8>) {
        self.as_micros().write(out);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        from.field().map(Self::from_micros)
    }
}

impl Field for Position {
    fn write(&self, out: &mut Vec<u8>) {
        self.term.write(out);
        self.index.write(out);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let term = from.field()?;
        let index = from.field()?;
        Ok(Self { term, index })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::fmt::Debug;
    use proptest::prelude::*;
    use std::vec;

    fn read<F: Field>(bytes: &[u8]) -> Result<F, DecodeError> {
        Reader::new(bytes).field()
    }

    fn reads_what_was_written<F: Field + PartialEq + Debug>(value: F) -> Result<(), TestCaseError> {
        let mut bytes = Vec::new();
        value.write(&mut bytes);
        let mut from = Reader::new(&bytes);
        prop_assert_eq!(from.field::<F>(), Ok(value));
        prop_assert_eq!(from.at(), bytes.len());
        Ok(())
    }

    #[test]
    fn integers_grow_by_a_byte_for_seven_bits() {
        for (value, bytes) in [
            (0, vec![0]),
            (127, vec![0x7f]),
            (128, vec![0x80, 1]),
            (300, vec![0xac, 2]),
            (u64::MAX, [[0xff; 9].as_slice(), &[1]].concat()),
        ] {
            let mut written = Vec::new();
            value.write(&mut written);
            assert_eq!(written, bytes);
        }
    }

    #[test]
    fn integers_have_one_form() {
        for padded in [
            vec![0x80, 0],
            vec![0xff, 0x80, 0],
            [[0x80; 9].as_slice(), &[0]].concat(),
        ] {
            assert_eq!(
                read::<u64>(&padded),
                Err(DecodeError::NotCanonical { at: 0 })
            );
        }
        for wide in [[[0xff; 9].as_slice(), &[2]].concat(), vec![0xff; 11]] {
            assert_eq!(read::<u64>(&wide), Err(DecodeError::OutOfRange { at: 0 }));
        }
        assert_eq!(
            read::<u64>(&[0x80, 0x80]),
            Err(DecodeError::Truncated { at: 2 })
        );
        assert_eq!(read::<u32>(&[0xff, 0xff, 0xff, 0xff, 0x0f]), Ok(u32::MAX));
        let above = [0x80, 0x80, 0x80, 0x80, 0x10];
        assert_eq!(read::<u32>(&above), Err(DecodeError::OutOfRange { at: 0 }));
    }

    #[test]
    fn a_truth_is_one_of_two() {
        assert_eq!(read::<bool>(&[0]), Ok(false));
        assert_eq!(read::<bool>(&[1]), Ok(true));
        assert_eq!(read::<bool>(&[2]), Err(DecodeError::OutOfRange { at: 0 }));
    }

    #[test]
    fn an_option_is_there_or_not() {
        assert_eq!(read::<Option<u64>>(&[0]), Ok(None));
        assert_eq!(read::<Option<u64>>(&[1, 5]), Ok(Some(5)));
        assert_eq!(
            read::<Option<u64>>(&[1]),
            Err(DecodeError::Truncated { at: 1 })
        );
        assert_eq!(
            read::<Option<u64>>(&[2, 5]),
            Err(DecodeError::OutOfRange { at: 0 })
        );
    }

    proptest! {
        #[test]
        fn every_field_is_read_as_it_was_written(bits: u64, other: u64, narrow: u32, shift in 0u32..64) {
            let short = bits >> shift;
            reads_what_was_written(short)?;
            reads_what_was_written(narrow)?;
            reads_what_was_written(narrow.is_multiple_of(2))?;
            reads_what_was_written(Some(NodeId(short)))?;
            reads_what_was_written(None::<Instant>)?;
            reads_what_was_written(Instant::from_micros(bits))?;
            reads_what_was_written(Duration::from_micros(short))?;
            reads_what_was_written(Position::new(short, other))?;
        }
    }
}
