//! Kafka's brokers in files.

use super::names::BROKER_RULES;
use super::reader::{Part, Read, Slip, items, word};
use super::zab::place;
use super::{Elects, Scenario};
use crate::brokers::Params;
use crate::fault::Who;
use crate::json::Node;
use tenure::Duration;
use tenure::isr::{Acks, Rule, Switched};
use tenure::rules::Rules;

/// What producers wait for, in the order of its names.
const ACKS: [Acks; 2] = [Acks::All, Acks::Leader];

/// What is said of them.
#[inline(never)]
pub(super) fn read(file: Part<'_>) -> Params {
    let part = file.inner("brokers");
    let span = |name| Duration::from_micros(part.get(name));
    let off: Vec<Rule> = (named_off(file).into_iter())
        .map(|(rule, _)| rule)
        .collect();
    let recreate = part.value("recreateTopics");
    Params {
        count: part.get("count") as usize,
        topics: part.get("topics"),
        partitions: part.get("partitions") as u32,
        replication: part.get("replicationFactor") as u8,
        min_isr: part.get("minInsyncReplicas") as u8,
        unclean: part.get("uncleanLeaderElection") == 1,
        elr: part.get("eligibleLeaderReplicas") == 1,
        acks: part.pick("acks", &ACKS).unwrap_or(Acks::All),
        session: span("sessionTimeout"),
        heartbeat: span("heartbeatInterval"),
        lag: span("replicaLagTimeMax"),
        wait: span("replicaFetchWaitMax"),
        recreate: recreate.map(|[span, _]| Duration::from_micros(span)),
        rules: Switched::without(&off),
    }
}

/// Their rules that a file switches off, and where.
fn named_off(file: Part<'_>) -> Vec<(Rule, usize)> {
    let named = file.node("rulesOff").map_or(&[][..], items);
    let found = named.iter().filter_map(|node| {
        let place = BROKER_RULES.iter().position(|name| *name == word(node))?;
        Some((*Rule::ALL.get(place)?, node.at))
    });
    found.collect()
}

/// The names of their rules that are switched off.
pub(super) fn rules_off(params: &Params) -> Vec<&'static str> {
    let all = Rule::ALL.into_iter().zip(BROKER_RULES);
    let off = all.filter(|(rule, _)| !params.rules.keeps(*rule));
    off.map(|(_, name)| name).collect()
}

/// How many of them a file names, if it names any.
#[inline(never)]
pub(super) fn servers(file: Part<'_>) -> Option<u64> {
    file.node("brokers")?;
    // What does not fit the table is refused before a server is looked for: it comes earlier there.
    let said = file.inner("brokers").node("count").map(word);
    Some(said.and_then(|word| word.parse().ok()).unwrap_or(3))
}

/// Of servers none but a broker is asked to go in good order, or has a disk of its own.
#[inline(never)]
pub(super) fn check_action(
    part: Part<'_>,
    name: &str,
    node: &Node,
    scenario: &Scenario,
) -> Read<()> {
    let of_brokers = matches!(name, "resign" | "wipe" | "lie" | "fail");
    let to_server = of_brokers && matches!(part.who(name), Who::Server(_));
    if to_server && scenario.brokers().is_none() {
        return Err(Slip::new(
            node.at,
            "unknown-node",
            "this is no node here, and of servers none but a broker is asked to go in good order or has a disk to damage",
            "name a node, or use a scheme with brokers",
        ));
    }
    Ok(())
}

/// Numbers with which nothing could ever happen, and rules of nobody.
#[inline(never)]
pub(super) fn check(scenario: &Scenario, file: Part<'_>, root: &Node) -> Read<()> {
    let Elects::Kraft(params) = &scenario.elects else {
        return Ok(());
    };
    let slip = |field, code, reason, remedy| {
        let at = place(file.node("brokers"), root, &[field]);
        Err(Slip::new(at, code, reason, remedy))
    };
    let Some(brokers) = &params.brokers else {
        return match named_off(file).first() {
            Some((_, at)) => Err(Slip::new(
                *at,
                "needs-brokers",
                "the rule is one of brokers, and there are none",
                "name brokers, or leave the rule out",
            )),
            None => Ok(()),
        };
    };
    if usize::from(brokers.replication) > brokers.count {
        return slip(
            "replicationFactor",
            "too-few-brokers",
            "there are not so many brokers: no topic could ever be made",
            "lower brokers.replicationFactor, or raise brokers.count",
        );
    }
    if brokers.min_isr > brokers.replication {
        return slip(
            "minInsyncReplicas",
            "too-few-in-sync",
            "no partition has so many replicas: none would ever acknowledge a record",
            "lower brokers.minInsyncReplicas, or raise brokers.replicationFactor",
        );
    }
    if brokers.check().is_err() {
        return slip(
            "replicaLagTimeMax",
            "lag-within-wait",
            "a follower counts as behind while its leader keeps its question",
            "raise brokers.replicaLagTimeMax above brokers.replicaFetchWaitMax",
        );
    }
    Ok(())
}
