//! Elections over a store in files: what a scheme is told, and what makes no sense with it, or without.

use super::names::LEASE_RULES;
use super::reader::{Part, Read, Slip, items, word};
use super::{Lease, lease_rule_name};
use crate::json::{Node, Value};
use crate::scheme::lease::{Kind, PRESET_OF};
use tenure::Duration;
use tenure::lease::{BudgetError, Preset, Rule, Switched, Timing};
use tenure::rate::RateBound;

/// How many servers the store has.
#[inline(never)]
pub(super) fn servers(file: Part<'_>, kind: Kind) -> u64 {
    // What does not fit the table is refused before a server is looked for: it comes earlier there.
    let said = file.inner("lease").node("servers").map(word);
    said.and_then(|word| word.parse().ok())
        .unwrap_or(kind.servers().into())
}

/// How the nodes elect by that store.
#[inline(never)]
pub(super) fn lease(file: Part<'_>, kind: Kind) -> Read<Lease> {
    let part = file.inner("lease");
    let servers = servers(file, kind);
    if let Some(node) = part.node("servers")
        && kind.most_servers() == 1
    {
        return Err(Slip::new(
            node.at,
            "one-server",
            "the store of this scheme is one server",
            "leave servers out, or use the scheme redlock, etcd, zookeeper or zookeeper-controller",
        ));
    }
    if let Some(node) = part.node("servers")
        && kind.is_cluster()
        && (servers > kind.most_servers().into() || servers.is_multiple_of(2))
    {
        return Err(Slip::new(
            node.at,
            "cluster-size",
            "the store of this scheme is one server or a cluster of a few, of which a majority has to agree",
            "use 1, 3 or 5",
        ));
    }
    let span = |name| {
        part.value(name)
            .map(|[span, _]| Duration::from_micros(span))
    };
    let preset = preset(part, kind)?;
    let usual = match preset {
        Some(preset) => preset.timing(),
        None => kind.timing(span("ttl")),
    };
    let or = |name, usual| span(name).unwrap_or(usual);
    let timing = Timing {
        ttl: or("ttl", usual.ttl),
        renew: or("renew", usual.renew),
        retry: or("retry", usual.retry),
        patience: or("patience", usual.patience),
        margin: or("margin", usual.margin),
        rate: RateBound(part.get("rateBound") as u32),
        ..usual
    };
    let of_preset = preset.and_then(Preset::renew_deadline);
    let renew_deadline = match (part.node("renewDeadline"), kind.renew_deadline(timing.ttl)) {
        (Some(node), None) => {
            return Err(Slip::new(
                node.at,
                "no-deadline",
                "a holder of this scheme has no bound but the end of the lease",
                "leave renewDeadline out, or use the scheme kubernetes",
            ));
        }
        (_, usual) => span("renewDeadline").or(of_preset).or(usual),
    };
    let mut off = Vec::new();
    for node in file.node("rulesOff").map_or(&[][..], items) {
        let place = LEASE_RULES.iter().position(|name| *name == word(node));
        if let Some(rule) = place.and_then(|place| Rule::ALL.get(place)) {
            if !kind.scheme().rules().contains(rule) {
                return Err(no_rule(node.at, kind));
            }
            off.push(*rule);
        }
    }
    Ok(Lease {
        kind,
        preset,
        timing,
        renew_deadline,
        latency: Duration::from_micros(part.get("latency")),
        rules: Switched::without(&off),
        servers: servers as u8,
    })
}

/// The system by whose parameters it goes, which elects by that store.
#[inline(never)]
fn preset(part: Part<'_>, kind: Kind) -> Read<Option<Preset>> {
    let Some(node) = part.node("preset") else {
        return Ok(None);
    };
    let named = part.pick("preset", &PRESET_OF);
    match named {
        Some((_, of)) if of != kind => Err(Slip::new(
            node.at,
            "other-scheme",
            "this system elects by another scheme",
            &("leave preset out, or use the scheme ".to_owned() + of.name()),
        )),
        _ => Ok(named.map(|(preset, _)| preset)),
    }
}

/// What belongs to the other kind of scheme.
#[cold]
#[inline(never)]
pub(super) fn misplaced(at: usize, by_store: bool) -> Box<Slip> {
    let (code, reason, remedy) = if by_store {
        (
            "not-with-store",
            "an election over a store has nothing of this: its nodes have no log, no disk and no votes",
            "leave it out, or use the scheme raft",
        )
    } else {
        (
            "needs-store",
            "only an election over a store has this",
            "leave it out, or use a scheme that elects by a store, as \"etcd\"",
        )
    };
    Slip::new(at, code, reason, remedy)
}

/// A rule of other schemes.
#[cold]
#[inline(never)]
fn no_rule(at: usize, kind: Kind) -> Box<Slip> {
    let rules = kind.scheme().rules().iter().copied();
    let names: Vec<_> = rules.map(lease_rule_name).collect();
    Slip::new(
        at,
        "no-rule",
        "this scheme does not stand on that rule: with it and without it, it does the same",
        &format!("leave it out, or use one of {}", names.join(", ")),
    )
}

/// What the core refuses, in the words of the file.
#[cold]
#[inline(never)]
pub(super) fn unsafe_timing(file: Part<'_>, root: &Node, error: &BudgetError) -> Box<Slip> {
    let (field, remedy) = match error {
        BudgetError::RateBound(_) => ("rateBound", "use less than 100%"),
        BudgetError::NoSlack { .. } => (
            "ttl",
            "raise lease.ttl, or lower lease.margin, lease.renew, lease.retry or lease.latency",
        ),
        BudgetError::Impatient { .. } => {
            ("patience", "raise lease.patience, or lower lease.latency")
        }
        BudgetError::DeadlineTooLong { .. } => (
            "renewDeadline",
            "lower lease.renewDeadline, or raise lease.ttl",
        ),
        BudgetError::DeadlineTooShort { .. } => (
            "renewDeadline",
            "raise lease.renewDeadline, or lower lease.retry",
        ),
        _ => ("ttl", error.remedy()),
    };
    let part = file.node("lease");
    let named = match part.map(|part| &part.value) {
        // What is not said comes from the preset, if there is one.
        Some(Value::Object(fields)) => [field, "preset"]
            .iter()
            .find_map(|name| fields.iter().find(|other| other.name == *name)),
        _ => None,
    };
    let node = named.map(|named| &named.node).or(part).unwrap_or(root);
    Slip::new(node.at, error.code(), &error.reason().to_string(), remedy)
}
