//! What a node writes into the store's record about itself.

use super::Identity;
use alloc::sync::Arc;
use core::fmt;

/// The longest metadata, in bytes.
pub const MAX_METADATA: usize = 4096;

/// Who claims a record, and what it wants others to know: an address, a version. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Claimant {
    /// Its name.
    pub identity: Identity,
    metadata: Arc<str>,
}

/// The metadata is longer than [`MAX_METADATA`] bytes: so long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetadataTooLong(pub usize);

impl Claimant {
    /// Somebody of whom the name is all there is to know.
    #[must_use]
    pub fn new(identity: Identity) -> Self {
        Self {
            identity,
            metadata: Arc::default(),
        }
    }

    /// The same, with something that others want to know.
    ///
    /// # Errors
    /// When it is longer than [`MAX_METADATA`] bytes.
    pub fn with_metadata(self, metadata: &str) -> Result<Self, MetadataTooLong> {
        if metadata.len() > MAX_METADATA {
            return Err(MetadataTooLong(metadata.len()));
        }
        Ok(Self {
            metadata: metadata.into(),
            ..self
        })
    }

    /// What others want to know; empty when nothing.
    #[must_use]
    pub fn metadata(&self) -> &str {
        &self.metadata
    }
}

/// Writes its name, and on the lines after it what others want to know, if that is anything: as stores that keep a text have it.
impl fmt::Display for Claimant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.identity.fmt(f)?;
        match self.metadata() {
            "" => Ok(()),
            metadata => write!(f, "\n{metadata}"),
        }
    }
}

impl fmt::Display for MetadataTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the metadata has {} bytes: a record is no place for more than {MAX_METADATA}; name where the rest is",
            self.0
        )
    }
}

impl core::error::Error for MetadataTooLong {}
