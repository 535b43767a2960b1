//! Sentinels and their data servers in files.

use super::names::SENTINEL_RULES;
use super::reader::{Part, Read, Slip, items, word};
use super::{Elects, Scenario};
use crate::json::{Node, Value};
use crate::scheme::sentinel::Params;
use tenure::Duration;
use tenure::sentinel::{ConfigError, Rule, Switched};

/// What is said of them.
#[inline(never)]
pub(super) fn read(file: Part<'_>) -> Params {
    let part = file.inner("sentinel");
    let span = |name| Duration::from_micros(part.get(name));
    let count = |name| part.get(name) as usize;
    let named = file.node("rulesOff").map_or(&[][..], items);
    let off: Vec<Rule> = (Rule::ALL.into_iter().zip(SENTINEL_RULES))
        .filter(|(_, name)| named.iter().any(|node| word(node) == *name))
        .map(|(rule, _)| rule)
        .collect();
    Params {
        masters: count("masters"),
        replicas: count("replicas"),
        quorum: part.value("quorum").map(|[quorum, _]| quorum as usize),
        down_after: span("downAfter"),
        failover_timeout: span("failoverTimeout"),
        parallel_syncs: count("parallelSyncs"),
        min_replicas: count("minReplicasToWrite"),
        max_lag: span("maxLag"),
        full_sync: span("fullSync"),
        persistent: part.get("persistent") == 1,
        rules: Switched::without(&off),
    }
}

/// How many data servers a file names.
#[inline(never)]
pub(super) fn servers(file: Part<'_>) -> u64 {
    let part = file.inner("sentinel");
    // What does not fit the table is refused before a server is looked for: it comes earlier there.
    let count = |name, usual| {
        let said = part.node(name).map(word);
        said.and_then(|word| word.parse().ok()).unwrap_or(usual)
    };
    let (masters, replicas): (u64, u64) = (count("masters", 1), count("replicas", 2));
    masters.saturating_mul(replicas.saturating_add(1))
}

/// Numbers with which nothing could ever happen.
#[inline(never)]
pub(super) fn check(scenario: &Scenario, file: Part<'_>, root: &Node) -> Read<()> {
    let Elects::Sentinel(params) = &scenario.elects else {
        return Ok(());
    };
    if params.quorum.is_some_and(|quorum| quorum > scenario.nodes) {
        return Err(Slip::new(
            place(file, root, "quorum"),
            "quorum-beyond-nodes",
            "there are not so many sentinels to hold a master to be down",
            "set sentinel.quorum to at most the number of nodes",
        ));
    }
    if params.min_replicas > params.replicas {
        return Err(Slip::new(
            place(file, root, "minReplicasToWrite"),
            "too-few-replicas",
            "no master has so many replicas: none would ever take a write",
            "lower sentinel.minReplicasToWrite, or raise sentinel.replicas",
        ));
    }
    Ok(())
}

/// What the core refuses, in the words of the file.
#[cold]
#[inline(never)]
pub(super) fn unfit(file: Part<'_>, root: &Node, error: &ConfigError) -> Box<Slip> {
    let at = place(file, root, "downAfter");
    Slip::new(
        at,
        error.code(),
        &error.reason().to_string(),
        error.remedy(),
    )
}

/// Where a field is named, or else what it would be in.
fn place(file: Part<'_>, root: &Node, field: &str) -> usize {
    let part = file.node("sentinel");
    let named = match part.map(|part| &part.value) {
        Some(Value::Object(fields)) => fields.iter().find(|other| other.name == field),
        _ => None,
    };
    named.map(|named| &named.node).or(part).unwrap_or(root).at
}
