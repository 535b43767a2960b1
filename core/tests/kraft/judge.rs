//! Who judges: every invariant of the scheme, from outside, each with how often it was put to the test.

use crate::desk::{Machine, Node};
use std::collections::{BTreeMap, BTreeSet};
use tenure::kraft::{
    Body, Correlation, Invariant, LogWrite, Message, ReplicaKey, Role, Write, own,
};
use tenure::log::Position;
use tenure::{Election, Event, Instant, Standing, Token};

/// What is known of the whole, and what was broken.
pub(crate) struct Judge {
    voters: usize,
    /// The first that broke, and how.
    pub(crate) broken: Option<(Invariant, String)>,
    /// All that broke.
    pub(crate) fallen: BTreeSet<Invariant>,
    /// How often each was put to the test.
    pub(crate) tested: BTreeMap<Invariant, u64>,
    /// How long two believed to lead, at most.
    pub(crate) overlap: u64,
    /// How many epochs had a leader.
    pub(crate) elections: u64,
    /// Who was elected in an epoch.
    leaders: BTreeMap<u64, usize>,
    /// In which life a node was elected in an epoch.
    led: BTreeMap<(usize, u64), u64>,
    /// Who votes for whom.
    votes: BTreeMap<(usize, u64), ReplicaKey>,
    /// Which questions were pre-votes.
    pre_votes: BTreeMap<(usize, Correlation), bool>,
    /// Each record: who wrote it, in which life, and after which one.
    records: BTreeMap<Position, (usize, u64, Position)>,
    /// What was committed, and by the leader of which epoch; both rise.
    committed: Vec<(Position, u64)>,
    /// What each node showed last in this life: its high watermark.
    shown: BTreeMap<usize, u64>,
    /// Whether a node is in office, for C7.
    office: BTreeMap<usize, Token>,
    highest: BTreeMap<usize, Token>,
    /// A pre-vote that is being considered: what was there before.
    considered: Option<(u64, Option<ReplicaKey>, u64)>,
    two_since: Option<u64>,
}

impl Judge {
    pub(crate) fn new(voters: usize) -> Self {
        Self {
            voters,
            broken: None,
            fallen: BTreeSet::new(),
            tested: BTreeMap::new(),
            overlap: 0,
            elections: 0,
            leaders: BTreeMap::new(),
            led: BTreeMap::new(),
            votes: BTreeMap::new(),
            pre_votes: BTreeMap::new(),
            records: BTreeMap::new(),
            committed: Vec::new(),
            shown: BTreeMap::new(),
            office: BTreeMap::new(),
            highest: BTreeMap::new(),
            considered: None,
            two_since: None,
        }
    }

    /// The newest record that was committed.
    pub(crate) fn committed(&self) -> Position {
        self.committed.last().map_or(Position::START, |(at, _)| *at)
    }

    fn test(&mut self, invariant: Invariant) {
        *self.tested.entry(invariant).or_default() += 1;
    }

    pub(crate) fn hold(&mut self, invariant: Invariant, holds: bool, how: impl FnOnce() -> String) {
        if !holds {
            self.fallen.insert(invariant);
            self.broken.get_or_insert_with(|| (invariant, how()));
        }
    }

    pub(crate) fn booted(&mut self, id: usize, node: &Node) {
        self.shown.remove(&id);
        self.office.remove(&id);
        let stored = node.disk.stored.as_ref();
        let epoch = stored.map_or(0, |stored| stored.state.epoch);
        if self.led.contains_key(&(id, epoch)) {
            self.test(Invariant::ResignedNoReuse);
        }
    }

    pub(crate) fn news(&mut self, now: u64, id: usize, node: &Node, event: Event) {
        match event {
            Event::Elected(token) => {
                let machine = node.machine.as_ref().expect("it speaks");
                let epoch = token.counter;
                self.elections += 1;
                // C7: the last term was reported to be over, and the tokens of one node rise, in one life and the next.
                let last = self.office.insert(id, token);
                let own = self.led.insert((id, epoch), node.life);
                self.hold(Invariant::ResignedNoReuse, own.is_none(), || {
                    format!(
                        "node {id} was elected in epoch {epoch} in life {own:?} and again in {}",
                        node.life
                    )
                });
                assert!(
                    own.is_some() || last.is_none(),
                    "C7: node {id} at {now}: {last:?}, then {token}"
                );
                let before = self.highest.insert(id, token);
                assert!(
                    own.is_some() || before.is_none_or(|before| before < token),
                    "C7: node {id}"
                );
                self.test(Invariant::ElectionSafety);
                let other = *self.leaders.entry(epoch).or_insert(id);
                self.hold(Invariant::ElectionSafety, other == id, || {
                    format!("epoch {epoch} is led by {other} and {id}")
                });
                let earlier = self.committed.iter().rev().find(|(_, by)| *by < epoch);
                let earlier = earlier.map_or(Position::START, |(at, _)| *at);
                if earlier != Position::START {
                    self.test(Invariant::LeaderCompleteness);
                }
                // Its log has the record of its epoch by now, and what comes before is what it was elected with.
                let log = machine.log();
                let has = log.contains(earlier) || log.base().index >= earlier.index;
                self.hold(Invariant::LeaderCompleteness, has, || {
                    format!("node {id} leads epoch {epoch} without {earlier:?}: {log:?}")
                });
            }
            Event::Deposed(token, _) => {
                let office = self.office.remove(&id);
                assert_eq!(office, Some(token), "C7: node {id} at {now}");
            }
            _ => {}
        }
    }

    pub(crate) fn said(&mut self, id: usize, node: &Node, to: usize, message: &Message) {
        match &message.body {
            Body::Vote {
                epoch,
                replica,
                pre_vote,
                ..
            } => {
                self.pre_votes.insert((id, message.correlation), *pre_vote);
                // To ask for votes is to have voted for oneself.
                if !pre_vote {
                    self.voted(id, node, *epoch, *replica);
                }
            }
            Body::VoteReply {
                head,
                granted: true,
            } if self.pre_votes.get(&(to, message.correlation)) == Some(&false) => {
                // Off the record, where several may be granted, the vote is whom it was said to.
                let machine = node.machine.as_ref().expect("it speaks");
                let voted = machine.voted().filter(|voted| voted.id.0 as usize == to);
                let whom = voted.unwrap_or(ReplicaKey {
                    id: tenure::NodeId(to as u64),
                    directory: None,
                });
                self.voted(id, node, head.epoch, whom);
            }
            Body::FetchReply {
                head,
                high_watermark,
                ..
            } if *high_watermark > 0 => {
                self.test(Invariant::HighWatermarkOwnEpoch);
                let machine = node.machine.as_ref().expect("it speaks");
                let of = machine.log().term_at(*high_watermark);
                self.hold(
                    Invariant::HighWatermarkOwnEpoch,
                    of == Some(head.epoch),
                    || {
                        format!(
                            "node {id} shows {high_watermark} of epoch {of:?} in epoch {}",
                            head.epoch
                        )
                    },
                );
            }
            _ => {}
        }
    }

    fn voted(&mut self, id: usize, node: &Node, epoch: u64, to: ReplicaKey) {
        self.test(Invariant::OneVote);
        let admitted = tenure::kraft::DirectoryId(100 + id as u64);
        let directory = node.disk.directory;
        self.hold(
            Invariant::OneVote,
            id < self.voters && directory == admitted,
            || format!("disk {directory} of node {id} votes, and disk {admitted} was admitted"),
        );
        let first = *self.votes.entry((id, epoch)).or_insert(to);
        let same = first.names(to) || to.names(first);
        self.hold(Invariant::OneVote, same, || {
            format!("node {id} votes for {first:?} and {to:?} in epoch {epoch}")
        });
    }

    pub(crate) fn wrote(&mut self, id: usize, node: &Node, write: &Write) {
        let machine = node.machine.as_ref().expect("it writes");
        match write.log {
            LogWrite::Append {
                after,
                epoch,
                count,
            } => {
                // A leader writes records of its own epoch; what a follower writes, somebody wrote before.
                let writes = self.led.get(&(id, epoch)) == Some(&node.life)
                    && machine.role() != Role::Follower;
                let mut before = after;
                for index in after.index + 1..=after.index + count {
                    let at = Position::new(epoch, index);
                    let known = self.records.get(&at).copied();
                    match known {
                        Some((writer, life, _)) if writes => {
                            let again = writer == id && life != node.life;
                            let invariant = if again {
                                Invariant::ResignedNoReuse
                            } else {
                                Invariant::LogMatching
                            };
                            self.hold(invariant, false, || {
                                format!(
                                    "node {id} writes {at:?}, which {writer} wrote in life {life}"
                                )
                            });
                        }
                        Some((_, _, follows)) => {
                            self.test(Invariant::LogMatching);
                            self.hold(Invariant::LogMatching, follows == before, || {
                                format!("node {id} has {at:?} after {before:?}, and elsewhere it is after {follows:?}")
                            });
                        }
                        None if writes => {
                            self.records.insert(at, (id, node.life, before));
                        }
                        None => self.hold(Invariant::LogMatching, false, || {
                            format!("node {id} has {at:?}, which nobody wrote")
                        }),
                    }
                    before = at;
                }
                assert!(!writes || own(after, epoch) == u64::from(after.term < epoch));
            }
            LogWrite::Truncate { to } => {
                self.test(Invariant::HighWatermarkMonotone);
                let shown = machine.high_watermark();
                self.hold(Invariant::HighWatermarkMonotone, to.index >= shown, || {
                    format!("node {id} cuts its log at {} and shows {shown}", to.index)
                });
            }
            LogWrite::Keep | LogWrite::Compact { .. } | LogWrite::Install { .. } => {}
        }
    }

    /// A message is about to be handed over.
    pub(crate) fn before(&mut self, _: usize, node: &Node, message: &Message) {
        let Some(machine) = &node.machine else { return };
        if let Body::Vote {
            epoch,
            pre_vote: true,
            ..
        } = message.body
        {
            self.considered = Some((machine.epoch(), machine.voted(), epoch));
        }
    }

    pub(crate) fn after(&mut self, id: usize, node: &Node) {
        let (Some((epoch, voted, asked)), Some(machine)) = (self.considered.take(), &node.machine)
        else {
            return;
        };
        self.test(Invariant::PreVoteQuiet);
        let (now, votes) = (machine.epoch(), machine.voted());
        // A machine that acts no more may ignore it altogether.
        let unchanged = now == epoch && votes == voted;
        let adopted = asked > epoch && now == asked && votes.is_none();
        let quiet = unchanged || adopted;
        self.hold(Invariant::PreVoteQuiet, quiet, || {
            format!("node {id} was asked in epoch {asked}: {voted:?} of {epoch} became {votes:?} of {now}")
        });
    }

    /// What a node shows after a step.
    pub(crate) fn look(&mut self, now: u64, id: usize, nodes: &[Node]) {
        let node = &nodes[id];
        let Some(machine) = &node.machine else { return };
        self.look_at_high_watermark(id, machine);
        self.look_at_claim(now, id, node, machine);
        self.look_at_overlap(now, nodes);
    }

    fn look_at_high_watermark(&mut self, id: usize, machine: &Machine) {
        let upto = machine.high_watermark();
        let before = self.shown.insert(id, upto).unwrap_or(0);
        if upto == before {
            return;
        }
        self.test(Invariant::HighWatermarkMonotone);
        let (log, end) = (machine.log(), machine.last().index);
        self.hold(
            Invariant::HighWatermarkMonotone,
            upto > before && upto <= end,
            || format!("node {id} shows {upto} after {before}, and its log ends at {end}"),
        );
        let Some(epoch) = log.term_at(upto) else {
            return;
        };
        let at = Position::new(epoch, upto);
        if machine.role() == Role::Leader && upto > before {
            self.test(Invariant::HighWatermarkOwnEpoch);
            self.hold(
                Invariant::HighWatermarkOwnEpoch,
                epoch == machine.epoch(),
                || format!("node {id} leads {} and shows {at:?}", machine.epoch()),
            );
            let newest = self.committed();
            if upto > newest.index {
                let agrees = log.contains(newest) || log.base().index >= newest.index;
                self.hold(Invariant::NoStaleCommand, agrees, || {
                    format!("node {id} commits {at:?} without {newest:?}")
                });
                self.committed.push((at, machine.epoch()));
                return;
            }
        }
        // Everybody else shows what a leader committed: the record at that place is the one that is there in the log of
        // whoever committed beyond it.
        self.test(Invariant::NoStaleCommand);
        let place = self.committed.partition_point(|(at, _)| at.index < upto);
        let agrees = match self.committed.get(place) {
            None => false,
            Some((end, _)) => {
                let mut at_end = *end;
                // Back along the records, each of which names the one before.
                while at_end.index > upto {
                    let Some((_, _, before)) = self.records.get(&at_end) else {
                        break;
                    };
                    at_end = *before;
                }
                at_end == at
            }
        };
        self.hold(Invariant::NoStaleCommand, agrees, || {
            format!("node {id} takes {at:?} for committed")
        });
    }

    fn look_at_claim(&mut self, now: u64, id: usize, node: &Node, machine: &Machine) {
        let Standing::Leading(tenure) = machine.standing(Instant::from_micros(now)) else {
            return;
        };
        self.test(Invariant::ClaimAfterCatchup);
        let epoch = tenure.token.counter;
        let log = machine.log();
        // The first record of its epoch; nothing when it has none, and what is compacted away was applied.
        let mut index = log.base().index;
        let mut start = (log.base().term == epoch).then_some(index);
        for (of, count) in log.runs() {
            if of == epoch {
                start = start.or(Some(index + 1));
            }
            index += count;
        }
        let applied = node.applied;
        self.hold(Invariant::ClaimAfterCatchup, start.is_some_and(|start| applied >= start), || {
            format!("node {id} is active at {epoch}, which begins at {start:?}, and has applied {applied}")
        });
    }

    fn look_at_overlap(&mut self, now: u64, nodes: &[Node]) {
        let leads = |node: &&Node| {
            let standing = node
                .machine
                .as_ref()
                .map(|machine| machine.standing(Instant::from_micros(now)));
            matches!(standing, Some(Standing::Leading(_)))
        };
        if nodes.iter().filter(leads).count() > 1 {
            self.two_since.get_or_insert(now);
        } else if let Some(since) = self.two_since.take() {
            self.overlap = self.overlap.max(now - since);
            self.test(Invariant::StaleLeaderStops);
        }
    }
}
