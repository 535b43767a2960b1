//! Failovers in words: which data server is the master, which sentinel was elected to replace it, and what came of that.

use super::Entry;
use super::elections::{Elections, Office};
use crate::export::recording::Recording;
use crate::export::words::{listed, news, nodes};
use crate::physics::trace::Kind;

/// What is told of them; entries of one instant are in order.
pub(super) fn entries(recording: &Recording, elections: &Elections) -> Vec<Entry> {
    let watched = recording.name(recording.scenario.nodes as u16);
    let sentinels = match recording.scenario.nodes {
        1 => "The sentinel starts".to_owned(),
        sentinels => format!("All {sentinels} sentinels start"),
    };
    let mut entries = vec![Entry::new(
        0,
        format!("{sentinels}. The master that is watched is {watched}."),
    )];
    for office in &elections.offices {
        entries.extend(failover(recording, office));
    }
    let mut serving = Serving::default();
    for event in &recording.events {
        if event.kind == Kind::Serves {
            let (writable, named) = (event.a != 0, event.b != 0);
            if serving.turns(event.actor, (writable, named), event.term) {
                let who = recording.name(event.actor);
                let text = match (writable, named) {
                    (true, true) => format!(
                        "{who} is the master{}: it takes writes, and a majority of the sentinels names it.",
                        by(event.term)
                    ),
                    (true, false) => {
                        format!("{who} takes writes, and no majority of the sentinels names it.")
                    }
                    (false, _) => format!("{who} takes no writes any more."),
                };
                entries.push(Entry::new(event.at, text));
            }
        }
    }
    let over = format!("The run is over. {}", serving.said(recording));
    entries.push(Entry::new(recording.scenario.duration, over));
    entries
}

/// By which configuration, where there was a failover.
fn by(epoch: i64) -> String {
    match epoch {
        0 => String::new(),
        epoch => format!(" by the configuration of epoch {epoch}"),
    }
}

/// From the election of a sentinel to the end of its failover.
fn failover(recording: &Recording, office: &Office) -> Vec<Entry> {
    let (who, epoch) = (nodes(&[office.node]), office.term);
    let until = office
        .ended
        .map_or(recording.scenario.duration, |(at, ..)| at);
    let told = |what: &'static str| {
        let mut told = recording.events.iter().filter(move |event| {
            event.kind == Kind::News
                && event.actor == office.node
                && news(event.a).starts_with(what)
        });
        told.find(|event| (office.elected..=until).contains(&event.at))
    };
    let mut entries = vec![Entry::new(
        office.elected,
        format!("{who} is elected in epoch {epoch}, to replace the master."),
    )];
    let chosen = told("+selected-slave")
        .and_then(|event| Some((event.at, u16::try_from(event.other).ok()?)));
    if let Some((at, chosen)) = chosen {
        let text = format!("{who} chooses {}.", recording.name(chosen));
        entries.push(Entry::new(at, text));
    }
    if let Some(established) = office.established {
        let promoted = chosen.map_or_else(
            || "the chosen one".to_owned(),
            |(_, chosen)| recording.name(chosen),
        );
        let text = format!(
            "{who} is established in epoch {epoch}: {promoted} says that it is a master, and the others are to follow it."
        );
        entries.push(Entry::new(established, text));
    }
    if let Some((at, ..)) = office.ended {
        let text = match told("-failover-abort").map(|event| news(event.a)) {
            Some("-failover-abort-no-good-slave") => format!(
                "{who} finds no replica good enough and gives its failover of epoch {epoch} up: nobody is promoted (-failover-abort-no-good-slave)."
            ),
            Some(why) => format!("{who} gives its failover of epoch {epoch} up ({why})."),
            None if office.established.is_some() => {
                format!("{who} has done with its failover of epoch {epoch}.")
            }
            None => format!("{who}'s failover of epoch {epoch} is over: nobody is promoted."),
        };
        entries.push(Entry::new(at, text));
    }
    entries
}

/// Which servers take writes, whether a majority names them, and by which epoch.
#[derive(Default)]
struct Serving(Vec<(u16, bool, i64)>);

impl Serving {
    /// A server is in another state than before; false when it is not.
    fn turns(&mut self, server: u16, (writable, named): (bool, bool), epoch: i64) -> bool {
        let before = self.0.iter().find(|(known, ..)| *known == server);
        let before = before.map(|(_, named, _)| *named);
        let now = writable.then_some(named);
        self.0.retain(|(known, ..)| *known != server);
        self.0.extend(now.map(|named| (server, named, epoch)));
        before != now
    }

    fn said(&self, recording: &Recording) -> String {
        let master = self.0.iter().find(|(_, named, _)| *named);
        let others = self.0.iter().filter(|(_, named, _)| !named);
        let others: Vec<String> = others.map(|(server, ..)| recording.name(*server)).collect();
        let takes = match &others[..] {
            [] => String::new(),
            [one] => format!(" {one} takes writes, and no majority of the sentinels names it."),
            many => format!(
                " {} take writes, and no majority of the sentinels names them.",
                listed(many, "and")
            ),
        };
        match master {
            Some((server, _, epoch)) => {
                format!(
                    "{} is the master{}.{takes}",
                    recording.name(*server),
                    by(*epoch)
                )
            }
            None => format!("There is no master.{takes}"),
        }
    }
}
