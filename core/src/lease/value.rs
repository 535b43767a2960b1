//! What a candidate keeps under its key or in its node: its name, and on the lines after it what it wants others to know. A
//! value that others wrote, such as a host name by `etcdctl elect`, reads as a name alone.

use super::identity::{MAX_NAME, node_of};
use super::{Claimant, Identity, MAX_METADATA};
use crate::NodeId;
use alloc::string::ToString;
use alloc::sync::Arc;

/// The value of a candidate.
pub(super) fn of(claimant: &Claimant) -> Arc<str> {
    claimant.to_string().into()
}

/// Who wrote a value; `None` when it names nobody that could be.
pub(super) fn claimant(value: &str) -> Option<Claimant> {
    let (name, metadata) = value.split_once('\n').unwrap_or((value, ""));
    let claimant = Claimant::new(Identity::new(name).ok()?);
    claimant.with_metadata(metadata).ok()
}

/// Whether it is short enough to be a candidate's.
pub(super) fn fits(value: &str) -> bool {
    value.len() <= MAX_NAME + 1 + MAX_METADATA
}

/// The number of who wrote it.
pub(super) fn node(value: &str) -> Option<NodeId> {
    name(value).map(node_of)
}

/// The name of who wrote it.
pub(super) fn name(value: &str) -> Option<&str> {
    let name = value.split('\n').next()?;
    (1..=MAX_NAME).contains(&name.len()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    #[test]
    fn what_is_written_is_read() {
        let anna = Claimant::new(Identity::new("anna").unwrap());
        let told = anna.clone().with_metadata("10.0.0.1\nv2").unwrap();
        assert_eq!((&*of(&anna), &*of(&told)), ("anna", "anna\n10.0.0.1\nv2"));
        for who in [&anna, &told] {
            assert_eq!(claimant(&of(who)).as_ref(), Some(who));
            assert_eq!(node(&of(who)), Some(anna.identity.node()));
        }
    }

    #[test]
    fn what_names_nobody_is_nobody() {
        let long = "x".repeat(MAX_NAME + 1);
        for value in ["", "\nmetadata", &long] {
            assert_eq!((claimant(value), node(value)), (None, None));
        }
        let much = format!("anna\n{}", "x".repeat(5_000));
        assert_eq!((claimant(&much), name(&much)), (None, Some("anna")));
    }
}
