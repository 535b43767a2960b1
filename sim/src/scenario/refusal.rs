//! What is wrong with an input: where, why, and what to do about it.

use std::fmt;

/// A refused input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// A short name of the reason, for programs.
    pub code: &'static str,
    /// Where: a path into the file, with the line where it is known.
    pub place: String,
    /// What is wrong.
    pub reason: String,
    /// What to do.
    pub remedy: String,
}

impl Refusal {
    pub(crate) fn new(
        code: &'static str,
        place: impl Into<String>,
        reason: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            code,
            place: place.into(),
            reason: reason.into(),
            remedy: remedy.into(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place)?;
        f.write_str(": ")?;
        f.write_str(&self.reason)?;
        f.write_str("; ")?;
        f.write_str(&self.remedy)
    }
}

impl std::error::Error for Refusal {}
