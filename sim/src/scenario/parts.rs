//! What makes no sense with the scheme of a file.

use super::by_store;
#[cfg(feature = "peers")]
use super::names::Peers;
use super::names::{LEASE_RULES, Named, RULES};
use super::reader::{Part, Read, Slip};
use crate::fault::Who;
use crate::json::Node;

/// A part, and of which schemes it is.
type Of = (&'static str, fn(Named) -> bool);

/// The parts that are of some schemes alone.
const PARTS: &[Of] = &[
    ("raft", |scheme| scheme == Named::Raft),
    ("lease", |scheme| scheme.store().is_some()),
    ("disk", |scheme| scheme.store().is_none()),
    #[cfg(feature = "peers")]
    ("zab", |scheme| scheme == Named::Peers(Peers::Zab)),
    #[cfg(feature = "peers")]
    ("sentinel", |scheme| scheme == Named::Peers(Peers::Sentinel)),
    #[cfg(feature = "peers")]
    ("kraft", |scheme| scheme == Named::Peers(Peers::Kraft)),
    #[cfg(feature = "peers")]
    ("brokers", |scheme| scheme == Named::Peers(Peers::Kraft)),
];

/// Refuses the parts of a file that make no sense with its scheme.
#[inline(never)]
pub(super) fn check(file: Part<'_>, scheme: Named) -> Read<()> {
    let strange = |(name, of): &Of| {
        file.node(name)
            .filter(|_| !of(scheme))
            .map(|node| (*name, node))
    };
    match PARTS.iter().find_map(strange) {
        Some((name, node)) => Err(misplaced(node.at, scheme, name)),
        None => Ok(()),
    }
}

/// A rule that the scheme does not have; nothing where no scheme has one of that name.
#[inline(never)]
pub(super) fn check_rule(at: usize, name: &str, scheme: Named) -> Option<Box<Slip>> {
    let of = if RULES.contains(&name) {
        "raft"
    } else if LEASE_RULES.contains(&name) {
        "lease"
    } else {
        Named::peers_with(name)?
    };
    Some(misplaced(at, scheme, of))
}

/// An action that makes no sense with its scheme: the nodes of an election over a store have neither disks nor a log, and
/// nobody to vote; and of peers, those of Raft alone change who takes part.
#[inline(never)]
pub(super) fn check_action(name: &str, node: &Node, scheme: Named) -> Read<()> {
    let of_disks = matches!(name, "disk" | "wipe" | "lie" | "fail" | "drop");
    let of_raft = matches!(name, "change" | "transfer");
    let has_disks = scheme.store().is_none();
    if (of_disks && !has_disks) || (of_raft && scheme != Named::Raft) {
        return Err(misplaced(node.at, scheme, "raft"));
    }
    Ok(())
}

/// Of servers none but a broker is asked to go in good order, or has a disk of its own.
#[inline(never)]
pub(super) fn check_server(part: Part<'_>, name: &str, node: &Node, brokered: bool) -> Read<()> {
    let of_brokers = matches!(name, "resign" | "wipe" | "lie" | "fail");
    let to_server = of_brokers && matches!(part.who(name), Who::Server(_));
    if to_server && !brokered {
        return Err(Slip::new(
            node.at,
            "unknown-node",
            "this is no node here, and of servers none but a broker is asked to go in good order or has a disk to damage",
            "name a node, or use a scheme with brokers",
        ));
    }
    Ok(())
}

/// What belongs to another scheme, or kind of scheme: `of` as its part of a file is called.
#[cold]
#[inline(never)]
fn misplaced(at: usize, scheme: Named, of: &str) -> Box<Slip> {
    if scheme.store().is_some() && matches!(of, "raft" | "disk") {
        return by_store::misplaced(at, true);
    }
    if of == "lease" {
        return by_store::misplaced(at, false);
    }
    let of = if of == "brokers" { "kraft" } else { of };
    let remedy = "leave it out, or use the scheme ".to_owned() + of;
    Slip::new(
        at,
        "of-another-scheme",
        "another scheme than the one of this file has this",
        &remedy,
    )
}
