//! ZooKeeper's own election in files.

use super::names::ZAB_RULES;
use super::reader::{Part, Read, Slip, items, word};
use super::{Elects, Scenario};
use crate::json::{Node, Value};
use crate::scheme::zab::Params;
use tenure::Duration;
use tenure::zab::{ConfigError, Rule, Switched, Timing};

/// What is said of it.
#[inline(never)]
pub(super) fn read(file: Part<'_>) -> Params {
    let part = file.inner("zab");
    let span = |name| Duration::from_micros(part.get(name));
    let [min_notification, max_notification] = part.ends("notification").map(Duration::from_micros);
    let patience = part.value("epochPatience");
    let named = file.node("rulesOff").map_or(&[][..], items);
    let off: Vec<Rule> = (Rule::ALL.into_iter().zip(ZAB_RULES))
        .filter(|(_, name)| named.iter().any(|node| word(node) == *name))
        .map(|(rule, _)| rule)
        .collect();
    Params {
        timing: Timing {
            tick: span("tick"),
            init_limit: part.get("initLimit") as u32,
            sync_limit: part.get("syncLimit") as u32,
            finalize_wait: span("finalizeWait"),
            min_notification,
            max_notification,
            epoch_patience: patience.map(|[patience, _]| Duration::from_micros(patience)),
            ..Timing::zookeeper()
        },
        observers: part.get("observers") as usize,
        rules: Switched::without(&off),
    }
}

/// Somebody has to vote.
#[inline(never)]
pub(super) fn check_observers(scenario: &Scenario, file: Part<'_>, root: &Node) -> Read<()> {
    let (observers, part) = match &scenario.elects {
        Elects::Zab(params) => (params.observers, "zab"),
        Elects::Kraft(params) => (params.observers, "kraft"),
        _ => return Ok(()),
    };
    if observers < scenario.nodes {
        return Ok(());
    }
    Err(Slip::new(
        place(file.node(part), root, &["observers"]),
        "nobody-votes",
        "observers learn from those that vote, and nobody does",
        &("set ".to_owned() + part + ".observers below the number of nodes"),
    ))
}

/// What the core refuses, in the words of the file.
#[cold]
#[inline(never)]
pub(super) fn unfit(file: Part<'_>, root: &Node, error: &ConfigError) -> Box<Slip> {
    use ConfigError as E;
    let (fields, remedy): (&[&str], &str) = match error {
        E::WaitTooLong("init_limit", _) => {
            (&["initLimit", "tick"], "lower zab.initLimit or zab.tick")
        }
        E::WaitTooLong("sync_limit", _) => {
            (&["syncLimit", "tick"], "lower zab.syncLimit or zab.tick")
        }
        E::WaitTooLong("finalize_wait", _) => (&["finalizeWait"], error.remedy()),
        E::WaitTooLong(..) | E::NotificationRange { .. } => (&["notification"], error.remedy()),
        _ => (&["tick"], error.remedy()),
    };
    let at = place(file.node("zab"), root, fields);
    Slip::new(at, error.code(), &error.reason().to_string(), remedy)
}

/// Where the first of some fields of a part is named, or else what it would be in.
pub(super) fn place(part: Option<&Node>, root: &Node, names: &[&str]) -> usize {
    let named = |name: &&str| match part.map(|part| &part.value) {
        Some(Value::Object(fields)) => fields.iter().find(|field| field.name == *name),
        _ => None,
    };
    let named = names.iter().find_map(named);
    named.map(|named| &named.node).or(part).unwrap_or(root).at
}
