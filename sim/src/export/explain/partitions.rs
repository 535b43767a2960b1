//! Kafka's brokers and partitions in words: who leads, who is in sync, who is fenced, and what is lost.

use super::Entry;
use crate::check::brokers::{Annal, Happened};
use crate::export::recording::Recording;
use crate::export::words::{count, listed};
use std::collections::BTreeMap;
use tenure::NodeId;
use tenure::isr::{Partition, PartitionId, Places, Registration};

/// What a partition was before an instant, and what it is after; each nothing while there is none.
type Step<'a> = (Option<&'a Partition>, Option<&'a Partition>);

/// What is told of them, in order of time.
pub(super) fn entries(recording: &Recording) -> Vec<Entry> {
    let annals = recording.world.judges().annals();
    let Some(brokers) = recording.scenario.brokers() else {
        return Vec::new();
    };
    let teller = Teller {
        recording,
        lone: brokers.topics == 1 && brokers.partitions == 1 && brokers.recreate.is_none(),
        unclean: brokers.unclean,
    };
    let made = annals
        .iter()
        .position(|annal| matches!(annal.what, Happened::Partition(..)));
    // Before there is a partition nothing but that they are there is worth telling.
    let (first, rest) = annals.split_at(made.unwrap_or(annals.len()));
    let mut entries: Vec<Entry> = teller.begin(first).into_iter().collect();
    let mut rest = rest;
    while let Some(annal) = rest.first() {
        let at = annal.at;
        let many = rest.iter().take_while(|annal| annal.at == at).count();
        let (now, later) = rest.split_at(many);
        let said = teller.tell(now, later);
        if !said.is_empty() {
            entries.push(Entry::new(at, said.join(" ")));
        }
        rest = later;
    }
    entries
}

/// How things are called.
struct Teller<'r> {
    recording: &'r Recording,
    /// There is one partition, and never another.
    lone: bool,
    /// Elections may be unclean.
    unclean: bool,
}

impl Teller<'_> {
    fn broker(&self, actor: usize) -> String {
        self.recording.name(actor as u16)
    }

    fn id(&self, broker: NodeId) -> String {
        self.broker(broker.0 as usize)
    }

    fn name(&self, at: PartitionId) -> String {
        if self.lone {
            "the partition".to_owned()
        } else {
            format!("t{}-{}", at.topic.0, at.index)
        }
    }

    /// The same at the beginning of a sentence.
    fn first(&self, at: PartitionId) -> String {
        if self.lone {
            "The partition".to_owned()
        } else {
            self.name(at)
        }
    }

    /// Some of the replicas, in the order of their names.
    fn names(&self, partition: &Partition, places: Places) -> String {
        let replicas = places
            .iter()
            .filter_map(|place| partition.replicas.get(place));
        let mut all: Vec<u16> = replicas.map(|replica| replica.0 as u16).collect();
        all.sort_unstable();
        if all.is_empty() {
            "empty".to_owned()
        } else {
            self.recording.names(&all)
        }
    }

    /// Who is there when the first partition is made.
    fn begin(&self, annals: &[Annal]) -> Option<Entry> {
        let unfenced = annals.iter().filter_map(|annal| match &annal.what {
            Happened::Broker(_, now) if now.is_active() => Some((annal.at, now.broker.0 as u16)),
            _ => None,
        });
        let mut all: Vec<(u64, u16)> = unfenced.collect();
        let at = all.last()?.0;
        all.sort_unstable_by_key(|(_, broker)| *broker);
        all.dedup_by_key(|(_, broker)| *broker);
        let brokers: Vec<u16> = all.iter().map(|(_, broker)| *broker).collect();
        let verb = if brokers.len() == 1 { "is" } else { "are" };
        let names = self.recording.names(&brokers);
        let said = format!("{names} {verb} registered and unfenced: partitions can be made.");
        Some(Entry::new(at, said))
    }

    /// What happened at one instant, brokers first: what becomes of partitions follows from it.
    fn tell(&self, now: &[Annal], later: &[Annal]) -> Vec<String> {
        let mut said = self.of_brokers(now, later);
        let mut steps: BTreeMap<PartitionId, Step<'_>> = BTreeMap::new();
        for annal in now {
            match &annal.what {
                Happened::DiskFailed(broker) => {
                    said.push(format!("{} dies: its disk fails.", self.broker(*broker)));
                }
                Happened::Partition(at, was, is) => {
                    let step = steps.entry(*at).or_insert((was.as_ref(), None));
                    step.1 = is.as_ref();
                }
                _ => {}
            }
        }
        for (at, step) in steps {
            said.extend(self.of_partition(at, step));
        }
        for annal in now {
            said.extend(self.of_replica(&annal.what));
        }
        said
    }

    /// What brokers may do from now on: those of whom the same is true together.
    fn of_brokers(&self, now: &[Annal], later: &[Annal]) -> Vec<String> {
        let mut turns: BTreeMap<Turn, Vec<&Registration>> = BTreeMap::new();
        for annal in now {
            if let Happened::Broker(was, is) = &annal.what
                && let Some(turn) = turn(was.as_ref(), is, now, later)
            {
                turns.entry(turn).or_default().push(is);
            }
        }
        let told = turns.into_iter().map(|(turn, mut of)| {
            // One after another at one instant: only the last counts.
            of.sort_by_key(|is| (is.broker, is.epoch));
            of.dedup_by_key(|is| is.broker);
            let all: Vec<u16> = of.iter().map(|is| is.broker.0 as u16).collect();
            let epochs: Vec<String> = of.iter().map(|is| is.epoch.to_string()).collect();
            let (names, epochs) = (self.recording.names(&all), listed(&epochs, "and"));
            let (one, are) = match all.len() {
                1 => (true, "is"),
                _ => (false, "are"),
            };
            match turn {
                Turn::Registers if one => format!("{names} registers, with broker epoch {epochs}."),
                Turn::Registers => format!("{names} register, with broker epochs {epochs}."),
                Turn::Silent if one => {
                    format!("{names} is fenced: it was silent for a session.")
                }
                Turn::Silent => format!("{names} are fenced: they were silent for a session."),
                Turn::MayGo => format!("{names} {are} fenced, and may go."),
                Turn::Unfenced if one => {
                    format!("{names} is unfenced: it may lead and be in sync.")
                }
                Turn::Unfenced => format!("{names} are unfenced: they may lead and be in sync."),
                Turn::Leaves if one => {
                    format!("{names} is about to go: what it leads goes to others.")
                }
                Turn::Leaves => format!("{names} are about to go: what they lead goes to others."),
            }
        });
        told.collect()
    }

    /// What a partition is from now on.
    fn of_partition(&self, at: PartitionId, (was, is): Step<'_>) -> Option<String> {
        let (name, first) = (self.name(at), self.first(at));
        let (was, is) = match (was, is) {
            (None, Some(is)) => {
                let leader = is
                    .leader
                    .map_or_else(|| "nobody".to_owned(), |id| self.id(id));
                return Some(format!(
                    "{first} is made: {leader} leads in leader epoch {}, and the ISR is {}.",
                    is.leader_epoch,
                    self.names(is, is.isr)
                ));
            }
            (Some(_), None) => return Some(format!("{first} is deleted.")),
            (Some(was), Some(is)) => (was, is),
            (None, None) => return None,
        };
        let mut said = match is.leader {
            Some(leader) if was.leader != is.leader => format!(
                "{} leads {name} in leader epoch {}, {}; the ISR is {}",
                self.id(leader),
                is.leader_epoch,
                self.way(was, is, leader),
                self.names(is, is.isr),
            ),
            None if was.leader.is_some() => {
                format!(
                    "Nobody leads {name} any more; the ISR is {}",
                    self.names(is, is.isr)
                )
            }
            _ => self.isr(&name, was, is)?,
        };
        // Where nobody leads, that is who is waited for.
        if was.elr != is.elr || is.leader.is_none() {
            said += &match (is.elr.is_empty(), is.leader) {
                (true, Some(_)) => ", and nobody else is eligible any more".to_owned(),
                (true, None) => ", and nobody is eligible".to_owned(),
                (false, _) => format!(", and {} eligible (ELR)", self.are(is, is.elr)),
            };
        }
        Some(said + ".")
    }

    /// From where a leader was chosen.
    fn way(&self, was: &Partition, is: &Partition, leader: NodeId) -> &'static str {
        if is.recovering && !was.among(leader, was.isr.or(was.elr)) {
            return if self.unclean {
                "by an unclean election: it may lack what was committed"
            } else {
                "as the one that led last: it may lack what was committed"
            };
        }
        if was.among(leader, was.isr) {
            "out of the ISR"
        } else {
            "out of the ELR"
        }
    }

    /// Who came into the ISR or left it under one leader.
    fn isr(&self, name: &str, was: &Partition, is: &Partition) -> Option<String> {
        let (gone, come) = (was.isr.but(is.isr), is.isr.but(was.isr));
        if !gone.is_empty() {
            let verb = if gone.count() == 1 { "leaves" } else { "leave" };
            let left = self.names(is, is.isr);
            let who = self.names(is, gone);
            return Some(format!("{who} {verb} the ISR of {name}: it is {left}"));
        }
        if !come.is_empty() {
            let verb = if come.count() == 1 { "enters" } else { "enter" };
            let (who, all) = (self.names(is, come), self.names(is, is.isr));
            return Some(format!("{who} {verb} the ISR of {name}: it is {all}"));
        }
        (was.elr != is.elr).then(|| format!("The ISR of {name} is {}", self.names(is, is.isr)))
    }

    /// Some replicas, with their verb.
    fn are(&self, partition: &Partition, places: Places) -> String {
        let verb = if places.count() == 1 { "is" } else { "are" };
        format!("{} {verb}", self.names(partition, places))
    }

    /// What a replica hears, cuts off, or lacks.
    fn of_replica(&self, what: &Happened) -> Option<String> {
        let records = |many: u64| count(many, "record");
        Some(match *what {
            Happened::Deposed(at, broker) => format!(
                "{} hears that it leads {} no more.",
                self.broker(broker),
                self.name(at)
            ),
            Happened::Cut(at, broker, many) => format!(
                "{} cuts off {} of {}, which its leader has not.",
                self.broker(broker),
                records(many),
                self.name(at)
            ),
            Happened::Lost(at, broker, many) => {
                let (were, are, them) = match many {
                    1 => ("was", "is", "it"),
                    _ => ("were", "are", "them"),
                };
                format!(
                    "{} of {} that {were} acknowledged {are} lost: {} leads without {them}.",
                    records(many),
                    self.name(at),
                    self.broker(broker)
                )
            }
            _ => return None,
        })
    }
}

/// What a broker may do from now on, in the order in which it is told.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Turn {
    Silent,
    Leaves,
    MayGo,
    Registers,
    Unfenced,
}

/// `later` tells whether a broker is fenced because it goes.
fn turn(
    was: Option<&Registration>,
    is: &Registration,
    now: &[Annal],
    later: &[Annal],
) -> Option<Turn> {
    let Some(was) = was.filter(|was| was.epoch == is.epoch) else {
        return Some(Turn::Registers);
    };
    let goes = || {
        let mut next = (now.iter().chain(later)).filter_map(|annal| match annal.what {
            Happened::Went(broker) if broker as u64 == is.broker.0 => Some(true),
            Happened::Broker(Some(was), _) if was == *is => Some(false),
            _ => None,
        });
        next.next() == Some(true)
    };
    match (was.fenced, is.fenced) {
        (false, true) if is.shutting_down || goes() => Some(Turn::MayGo),
        (false, true) => Some(Turn::Silent),
        (true, false) => Some(Turn::Unfenced),
        _ => is.shutting_down.then_some(Turn::Leaves),
    }
}
