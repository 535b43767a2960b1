//! Who elects, in a line, where it is neither Raft nor a store: ZooKeeper's own servers, sentinels, Kafka's controllers.

use super::super::words::{count, ms};
use super::super::{plan, words};
use crate::report::millis;
use crate::scenario::{Elects, Scenario};
use crate::scheme::{kraft, sentinel, zab};
use tenure::isr::Acks;

/// Nothing for Raft, and for an election over a store.
pub(super) fn setting(scenario: &Scenario) -> Option<String> {
    match &scenario.elects {
        Elects::Raft | Elects::ByStore(_) => None,
        Elects::Zab(params) => Some(of_zab(scenario, params)),
        Elects::Sentinel(params) => Some(of_sentinels(scenario, params)),
        Elects::Kraft(params) => Some(of_kraft(scenario, params)),
    }
}

fn of_zab(scenario: &Scenario, params: &zab::Params) -> String {
    let timing = params.timing;
    let voters = scenario.voters();
    format!(
        "{}{} elect as ZooKeeper's own servers do, for {}; {} are a majority. A tick is {}, initLimit {} and syncLimit {} ticks; an \
         election is decided after {} without a better vote; {}.",
        count(voters as u64, "voter"),
        and_observers(params.observers),
        run(scenario),
        voters / 2 + 1,
        ms(timing.tick.as_micros()),
        timing.init_limit,
        timing.sync_limit,
        ms(timing.finalize_wait.as_micros()),
        around(scenario),
    )
}

fn of_sentinels(scenario: &Scenario, params: &sentinel::Params) -> String {
    let majority = scenario.nodes / 2 + 1;
    format!(
        "{} watch {} with {} each, for {}; a master is down when {} say so, and {majority} choose who replaces it. Somebody is \
         silent for too long after {}; a failover may take {}; {}.",
        count(scenario.nodes as u64, "sentinel"),
        count(params.masters as u64, "master"),
        count(params.replicas as u64, "replica"),
        run(scenario),
        params.quorum.unwrap_or(majority),
        ms(params.down_after.as_micros()),
        ms(params.failover_timeout.as_micros()),
        around(scenario),
    )
}

fn of_kraft(scenario: &Scenario, params: &kraft::Params) -> String {
    let timing = params.timing;
    let voters = scenario.voters();
    let longest = timing.election_timeout.as_micros().saturating_mul(2);
    let brokers = params.brokers.as_ref().map_or_else(String::new, |brokers| {
        let acks = match brokers.acks {
            Acks::All => "all",
            _ => "1",
        };
        format!(
            " Beside them are {}: {} of {} each, {} copies, acks={acks}; a broker that is silent for {} is fenced.",
            count(brokers.count as u64, "broker"),
            count(brokers.topics, "topic"),
            count(u64::from(brokers.partitions), "partition"),
            brokers.replication,
            ms(brokers.session.as_micros()),
        )
    });
    format!(
        "{}{} elect as Kafka's controllers do, for {}; {} are a majority. A follower doubts its leader after {} without a fetch; \
         election timeout {}; {}.{brokers}",
        count(voters as u64, "voter"),
        and_observers(params.observers),
        run(scenario),
        voters / 2 + 1,
        ms(timing.fetch_timeout.as_micros()),
        words::span(timing.election_timeout.as_micros(), longest),
        around(scenario),
    )
}

fn and_observers(observers: usize) -> String {
    match observers {
        0 => String::new(),
        observers => format!(" and {}", count(observers as u64, "observer")),
    }
}

fn run(scenario: &Scenario) -> String {
    format!("{}, seed {}", millis(scenario.duration), scenario.seed)
}

fn around(scenario: &Scenario) -> String {
    let weather = plan::weather(scenario.weather);
    format!("{weather}; a disk takes {}", plan::takes(scenario.disk))
}
