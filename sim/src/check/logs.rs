//! The judges of logs, and what they judge by: what every node asked its disk to write, what every disk holds, and which
//! entries any node ever took for committed. None of it is a node's word about itself.

use super::agreement::Agreement;
#[cfg(feature = "peers")]
use super::broadcast::Broadcast;
use super::commit_rises::CommitRises;
use super::committed_durable::CommittedIsDurable;
use super::configurations::{Configuration, Configurations};
use super::intersecting::IntersectingQuorums;
use super::leader_complete::LeaderCompleteness;
use super::local_reads::LocalReads;
use super::log_matching::LogMatching;
use super::runs::Runs;
use super::survives::AcknowledgedSurvives;
use super::terms_burnt::TermsBurnt;
use super::{Broken, Check, Promises, Tally};
use crate::stats::Times;
use tenure::log::{Position, Shape};

/// What happens to a log in one write.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change {
    /// These entries come after that one, and nothing after them.
    Entries {
        after: Position,
        term: u64,
        count: u64,
    },
    /// The log begins after this one.
    State(Position),
    /// The same, and nothing that it had is left in it.
    Anew(Position),
    /// Nothing after this one is left.
    Cut(Position),
}

/// What is known from outside.
#[derive(Clone, Debug)]
pub(crate) struct Ghost {
    /// By node: the log as its disk was asked to hold it.
    pub(super) logs: Vec<Runs>,
    /// By node: the log that its disk holds.
    pub(super) disks: Vec<Runs>,
    /// Every entry that any node took for committed.
    pub(super) committed: Runs,
    /// Every change of who takes part.
    pub(super) configurations: Configurations,
}

impl Ghost {
    /// By which configuration an entry that a log has is committed: one that may count in that log, and of which a quorum of
    /// disks has the entry.
    pub(super) fn committed_by<'c>(
        &'c self,
        log: &'c Runs,
        index: u64,
        term: u64,
    ) -> Option<&'c Configuration> {
        let mut all = self.configurations.in_force(log, &self.committed, index);
        all.find(|known| known.is_quorum(|node| self.disks[node].has(index, term)))
    }

    /// What the log of a node says last of who takes part.
    pub(super) fn configuration(&self, node: usize) -> Option<&Configuration> {
        let log = &self.logs[node];
        (self.configurations)
            .in_force(log, &self.committed, log.last())
            .last()
    }
}

#[cfg(test)]
impl Ghost {
    /// Of nodes with these logs and disks, who all vote.
    pub(super) fn of<const N: usize>(logs: [Runs; N], disks: [Runs; N], committed: Runs) -> Self {
        let first = Configuration::of([(0..N).collect(), Vec::new()], Vec::new());
        Self {
            logs: logs.into(),
            disks: disks.into(),
            committed,
            configurations: Configurations::beginning_with(first),
        }
    }
}

/// The judges of logs.
#[derive(Clone, Debug)]
pub(crate) struct LogJudges {
    ghost: Ghost,
    matching: LogMatching,
    complete: LeaderCompleteness,
    agreement: Agreement,
    durable: CommittedIsDurable,
    survives: AcknowledgedSurvives,
    burnt: TermsBurnt,
    rises: CommitRises,
    local: LocalReads,
    intersecting: IntersectingQuorums,
    /// Whether a leader commits what others left it by itself, and not with the first entry of its own.
    inherits: bool,
    /// Where they are replicated by atomic broadcast.
    #[cfg(feature = "peers")]
    broadcast: Option<Box<Broadcast>>,
}

impl LogJudges {
    pub(crate) fn new(nodes: usize, promises: &Promises) -> Self {
        // Where members never change, the others learn from the start.
        let learners = if promises.broadcast {
            (promises.voters..nodes).collect()
        } else {
            Vec::new()
        };
        let first = Configuration::of([(0..promises.voters).collect(), Vec::new()], learners);
        Self {
            ghost: Ghost {
                logs: vec![Runs::default(); nodes],
                disks: vec![Runs::default(); nodes],
                committed: Runs::default(),
                configurations: Configurations::beginning_with(first),
            },
            matching: LogMatching::default(),
            complete: LeaderCompleteness::default(),
            agreement: Agreement::new(nodes),
            durable: CommittedIsDurable::default(),
            survives: AcknowledgedSurvives::default(),
            burnt: TermsBurnt::default(),
            rises: CommitRises::new(nodes),
            local: LocalReads::new(nodes, promises.voters, promises.leader_within),
            intersecting: IntersectingQuorums::default(),
            inherits: promises.broadcast,
            #[cfg(feature = "peers")]
            broadcast: (promises.broadcast).then(|| Box::new(Broadcast::new(nodes))),
        }
    }

    #[cfg(not(target_family = "wasm"))]
    /// Whether entries of a node give way when others come after `index`.
    pub(crate) fn replaces(&self, node: usize, index: u64) -> bool {
        self.ghost.logs[node].last() > index
    }

    #[cfg(not(target_family = "wasm"))]
    /// Whether a node asked for entries that its disk does not hold.
    pub(crate) fn is_behind(&self, node: usize) -> bool {
        self.ghost.logs[node].last() > self.ghost.disks[node].last()
    }

    /// A node asks its disk to change its log; `prints` are of the payloads of the entries, in order.
    pub(crate) fn asked(
        &mut self,
        now: u64,
        node: usize,
        change: Change,
        prints: impl Iterator<Item = u64>,
    ) -> Broken {
        let mut broken = Broken::default();
        #[cfg(feature = "peers")]
        if let (Some(broadcast), Change::Entries { after, .. }) = (&mut self.broadcast, change) {
            broken.join(broadcast.appended(now, &self.ghost, node, after));
        }
        match change {
            Change::Entries { after, term, count } => {
                let matches = self.matching.wrote(now, after, term, prints);
                broken.add(Check::LogMatching, matches);
                self.ghost.logs[node].put(after.index, term, count);
            }
            Change::State(last) => self.ghost.logs[node].begin_after(last),
            Change::Anew(last) => {
                self.ghost.logs[node] = Runs::default();
                self.ghost.logs[node].begin_after(last);
            }
            Change::Cut(last) => self.ghost.logs[node].put(last.index, last.term, 0),
        }
        broken
    }

    /// An entry that a node asks its disk to write changes who takes part.
    pub(crate) fn configured(&mut self, index: u64, term: u64, configuration: Configuration) {
        self.ghost
            .configurations
            .entered(index, term, configuration);
    }

    /// A node votes.
    pub(super) fn granted(&mut self, node: usize, term: u64, to: usize) {
        self.intersecting.granted(node, term, to);
        #[cfg(feature = "peers")]
        if let Some(broadcast) = &mut self.broadcast {
            broadcast.promised(node, term);
        }
    }

    /// What a disk holds, and up to where a crash would leave it.
    pub(crate) fn disk(&mut self, now: u64, node: usize, log: Option<(&Shape, u64)>) -> Broken {
        let mut held = Runs::default();
        if let Some((log, synced)) = log {
            held.begin_after(log.base());
            for (term, count) in log.runs() {
                let from = held.last();
                held.put(from, term, count.min(synced.saturating_sub(from)));
            }
        }
        let mut broken = Broken::default();
        if held != self.ghost.disks[node] {
            let had = std::mem::replace(&mut self.ghost.disks[node], held);
            let lost = self.durable.changed(now, &self.ghost, node, &had);
            broken.add(Check::CommittedIsDurable, lost);
        }
        broken
    }

    /// A node starts again, with the state as of an entry.
    pub(crate) fn restarted(&mut self, node: usize, at: Position, state: u64) -> Broken {
        self.ghost.logs[node] = self.ghost.disks[node].clone();
        self.agreement.restarted(node, at, state);
        self.goes_on(node, at);
        self.rises.restarted(node);
        Broken::default()
    }

    /// A node takes over the state as of an entry.
    pub(crate) fn installed(&mut self, now: u64, node: usize, at: Position, state: u64) -> Broken {
        let mut broken = Broken::default();
        self.goes_on(node, at);
        let differs = self.agreement.installed(now, node, at, state);
        broken.add(Check::StateMachineAgreement, differs);
        broken
    }

    /// A node takes its log for committed up to an index; `leads` in which term it leads, if it does.
    pub(crate) fn committed(
        &mut self,
        now: u64,
        node: usize,
        index: u64,
        leads: Option<u64>,
    ) -> Broken {
        let mut broken = Broken::default();
        let rises = (self.rises).committed(now, &self.ghost, node, index, leads, self.inherits);
        broken.add(Check::CommitRises, rises);
        let ghost = &mut self.ghost;
        let log = &ghost.logs[node];
        let Some(term) = log.term_at(index) else {
            return broken;
        };
        let known = ghost.committed.last();
        let differs = index <= known && !ghost.committed.has(index, term);
        broken.add(
            Check::StateMachineAgreement,
            self.agreement.committed(now, differs),
        );
        if index > known {
            let newer: Vec<(u64, u64)> = log.after(known).collect();
            for (term, last) in newer {
                let from = ghost.committed.last();
                if from < index {
                    ghost.committed.put(from, term, last.min(index) - from);
                }
            }
            let known = (ghost.configurations).in_force(&ghost.committed, &ghost.committed, index);
            if let Some(known) = known.last() {
                self.local.take_part(now, |node| known.has(node));
            }
            let by = ghost.committed_by(&ghost.logs[node], index, term);
            let few = self.durable.committed(now, by);
            broken.add(Check::CommittedIsDurable, few);
            if let Some(by) = by {
                let apart = self.intersecting.committed(now, term, by);
                broken.add(Check::IntersectingQuorums, apart);
            }
            broken.add(
                Check::LeaderCompleteness,
                self.complete.committed(now, ghost, index, term),
            );
        }
        broken
    }

    /// A node applies an entry.
    pub(crate) fn applied(&mut self, now: u64, node: usize, at: Position, print: u64) -> Broken {
        let mut broken = Broken::default();
        let differs = self.agreement.applied(now, node, at, print);
        broken.add(Check::StateMachineAgreement, differs);
        #[cfg(feature = "peers")]
        if let Some(broadcast) = &mut self.broadcast {
            broken.join(broadcast.delivered(now, node, at, print));
        }
        broken
    }

    /// A node goes on from the state as of an entry.
    fn goes_on(&mut self, node: usize, at: Position) {
        #[cfg(feature = "peers")]
        if let Some(broadcast) = &mut self.broadcast {
            broadcast.begins_at(node, at);
        }
        #[cfg(not(feature = "peers"))]
        let _ = (node, at);
    }

    /// Where they are replicated by atomic broadcast: tells what judges that.
    #[cfg(feature = "peers")]
    pub(crate) fn broadcast(
        &mut self,
        tell: impl FnOnce(&mut Broadcast, &Ghost) -> Broken,
    ) -> Broken {
        match &mut self.broadcast {
            Some(broadcast) => tell(broadcast, &self.ghost),
            None => Broken::default(),
        }
    }

    /// A node has applied all changes up to a revision of the store.
    pub(crate) fn reached(&mut self, now: u64, revision: u64) {
        self.local.reached(now, revision);
    }

    /// A node shows its state as of a revision to a client that takes what is stale. Whether its disk is still at what was
    /// asked of it while it was slow: then what was wrong is not over yet.
    pub(crate) fn read_locally(
        &mut self,
        now: u64,
        node: usize,
        revision: u64,
        lags: bool,
    ) -> Broken {
        let mut broken = Broken::default();
        if lags {
            self.local.lags(now, node);
        }
        broken.add(Check::LocalReads, self.local.read(now, node, revision));
        broken
    }

    /// The last fault was healed, or the first one struck.
    pub(super) fn whole(&mut self, now: u64, whole: bool) {
        self.local.whole(now, whole);
    }

    /// A node makes a snapshot.
    pub(crate) fn snapshot(&mut self, now: u64, at: Position, state: u64) -> Broken {
        let mut broken = Broken::default();
        let differs = self.agreement.snapshot(now, at, state);
        broken.add(Check::StateMachineAgreement, differs);
        broken
    }

    /// A client is told what an entry came to.
    pub(crate) fn answered(&mut self, _: u64, at: Position) -> Broken {
        self.survives.answered(at);
        Broken::default()
    }

    /// A node stands. It votes for itself, also where it asks nobody else.
    pub(crate) fn stood(&mut self, now: u64, node: usize, term: u64) -> Broken {
        let mut broken = Broken::default();
        self.intersecting.granted(node, term, node);
        let too_many = self.burnt.stood(now, &self.ghost, node);
        broken.add(Check::TermsBurnt, too_many);
        broken
    }

    /// A node was elected.
    pub(crate) fn elected(&mut self, now: u64, node: usize, term: u64) -> Broken {
        let mut broken = Broken::default();
        #[cfg(feature = "peers")]
        if let Some(broadcast) = &mut self.broadcast {
            broadcast.elected(&self.ghost, node, term);
        }
        let lacks = self.complete.elected(now, &self.ghost, node, term);
        broken.add(Check::LeaderCompleteness, lacks);
        if let Some(by) = self.ghost.configuration(node)
            && self.ghost.configurations.changed()
        {
            let apart = self.intersecting.elected(now, node, term, by);
            broken.add(Check::IntersectingQuorums, apart);
        }
        broken
    }

    /// A leader may act.
    pub(crate) fn established(&mut self, now: u64, node: usize, term: u64) -> Broken {
        let mut broken = Broken::default();
        self.burnt.established();
        let lost = self.survives.established(now, &self.ghost, node, term);
        broken.add(Check::AcknowledgedSurvives, lost);
        broken
    }

    pub(crate) fn tally(&self, check: Check) -> Tally {
        match check {
            Check::LogMatching => self.matching.tally,
            Check::LeaderCompleteness => self.complete.tally,
            Check::StateMachineAgreement => self.agreement.tally,
            Check::CommittedIsDurable => self.durable.tally,
            Check::AcknowledgedSurvives => self.survives.tally,
            Check::TermsBurnt => self.burnt.tally,
            Check::CommitRises => self.rises.tally,
            Check::LocalReads => self.local.tally,
            Check::IntersectingQuorums => self.intersecting.tally,
            #[cfg(feature = "peers")]
            check if check.is_of_broadcast() => {
                (self.broadcast.as_ref()).map_or_else(Tally::default, |of| of.tally(check))
            }
            _ => Tally::default(),
        }
    }

    /// How old what was read locally was.
    #[must_use]
    pub(crate) const fn ages(&self) -> &Times {
        &self.local.ages
    }

    /// How many terms were begun by nodes that could not win them.
    #[cfg(not(target_family = "wasm"))]
    #[must_use]
    pub(crate) const fn burnt(&self) -> u64 {
        self.burnt.burnt
    }
}
