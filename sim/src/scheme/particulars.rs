//! What is particular to a scheme, to be drawn and inspected: rows of numbers, and what each number stands for.

/// The fields of a scheme's rows: by what name each is inspected, and what its numbers are. The layouts are part of the
/// JavaScript interface.
pub type Fields = &'static [(&'static str, Means)];

/// What is particular to one machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Particulars {
    /// The fields of each row.
    pub fields: Fields,
    /// The rows, one after the other: [`width`] numbers each.
    pub rows: Vec<f64>,
}

/// What the numbers of a field stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Means {
    /// A counter; −1 when there is none.
    Count,
    /// An actor; −1 when it is nobody.
    Actor,
    /// 1 or 0.
    Flag,
    /// The code of one of these words.
    Word(&'static [&'static str]),
    /// Two numbers, an epoch and an index: the name of an entry; −1 and −1 when there is none.
    Entry,
}

impl Means {
    /// How many numbers it takes.
    #[must_use]
    pub const fn width(self) -> usize {
        match self {
            Self::Entry => 2,
            _ => 1,
        }
    }
}

/// How many numbers a row of these fields takes.
#[must_use]
pub fn width(fields: Fields) -> usize {
    fields.iter().map(|(_, means)| means.width()).sum()
}

/// A number of a row, or −1.
pub(super) fn or_none(number: Option<u64>) -> f64 {
    number.map_or(-1.0, |number| number as f64)
}
