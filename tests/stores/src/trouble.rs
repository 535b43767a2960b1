//! Why a comparison could not be made.

use std::fmt;

/// What is in the way, in a sentence for a person.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// A program is not installed.
    Missing(String),
    /// Something else went wrong.
    Failed(String),
}

impl Trouble {
    /// What was tried, and what came of it.
    pub(crate) fn failed(what: impl fmt::Display, why: impl fmt::Display) -> Self {
        Self::Failed(format!("{what}: {why}"))
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Missing(what) | Self::Failed(what)) = self;
        f.write_str(what)
    }
}
