//! The judge of logs: what is committed is read off the disks, and every log, leader and application is held to it.
//!
//! An entry is committed when, at one moment, the disks of a majority hold it and name its own term: whoever is elected
//! later needs one of these for a voter. What a node takes for committed must have been so before; that is all its claim
//! is good for.

use super::Group;
use super::node::{Entry, Load, Payload, Pending};
use std::collections::BTreeMap;
use tenure::log::Shape;
use tenure::raft::{LogWrite, Rules, Write};
use tenure::{NodeId, Token};

/// The one sequence of committed entries, and the name of every entry there ever was.
#[derive(Debug, Default)]
pub(crate) struct Canon {
    /// What is committed, from the first entry on, and in which term it came to be.
    pub(crate) committed: Vec<(Entry, u64)>,
    /// By (index, term): the payload, and the term of the entry before.
    names: BTreeMap<(u64, u64), (Payload, u64)>,
    /// How many payloads were made.
    made: u64,
    pub(crate) snapshots_installed: u64,
    pub(crate) compactions: u64,
    /// Entries that a disk gave up for others.
    pub(crate) overwritten: u64,
}

impl Canon {
    pub(super) fn payload(&mut self, by: NodeId) -> Payload {
        self.made += 1;
        Payload {
            by,
            number: self.made,
        }
    }

    fn entry(&self, index: u64) -> Option<Entry> {
        let place = usize::try_from(index.checked_sub(1)?).ok()?;
        self.committed.get(place).map(|(entry, _)| *entry)
    }

    pub(crate) fn len(&self) -> u64 {
        self.committed.len() as u64
    }
}

impl<R: Rules> Group<R> {
    /// What the host writes along with `write`. INV-L1: each (index, term) names one entry with one predecessor, in
    /// whatever log it is.
    pub(super) fn load_of(&mut self, place: usize, write: &Write) -> Load {
        let id = self.nodes[place].id;
        match &write.log {
            LogWrite::Append { after, entries } => {
                let (mut prev, term) = (after.term, entries.term());
                let mut load = Vec::new();
                for index in after.index + 1..=after.index + entries.count() {
                    let payload = self.payload_of(place, index, term);
                    self.ghost.judged("INV-L1");
                    let names = &mut self.ghost.canon.names;
                    let first = *names.entry((index, term)).or_insert((payload, prev));
                    if first != (payload, prev) {
                        let detail = format!(
                            "{id} writes {payload:?} at {index} of term {term} after one of term {prev}, where there was {first:?}"
                        );
                        self.ghost.fail("INV-L1", detail);
                    }
                    load.push(Entry { term, payload });
                    prev = term;
                }
                Load::Entries(load)
            }
            LogWrite::Install { last, .. } => {
                match self.nodes[place].memory.offered.get(&last.index) {
                    Some(state) => Load::State(state.clone()),
                    None => {
                        let detail = format!("{id} installs {last:?}, which nobody sent");
                        self.ghost.fail("INV-L3", detail);
                        Load::Nothing
                    }
                }
            }
            LogWrite::Keep | LogWrite::Compact { .. } => Load::Nothing,
        }
    }

    /// The payload that the host keeps under a name. The entry that a leader begins with has none until it is written.
    fn payload_of(&mut self, place: usize, index: u64, term: u64) -> Payload {
        let node = &mut self.nodes[place];
        if let Some(payload) = node.memory.payloads.get(&(index, term)) {
            return *payload;
        }
        let payload = self.ghost.canon.payload(node.id);
        node.memory.payloads.insert((index, term), payload);
        if node.in_office.is_none_or(|token| token.counter != term) {
            let detail = format!("{} has entry {index} of term {term} from nobody", node.id);
            self.ghost.fail("INV-L1", detail);
        }
        payload
    }

    /// The first of what the disk was asked for is done. INV-L4: what was committed stays on a majority's disks; one that is
    /// not needed for that may give it up, to take it again later.
    pub(super) fn write(&mut self, place: usize) {
        let node = &self.nodes[place];
        let Pending { write, load, .. } = &node.writes[0];
        let installs = matches!(write.log, LogWrite::Install { .. });
        let (gone, instead) = match (&write.log, load) {
            (LogWrite::Append { after, .. }, Load::Entries(entries)) => {
                (after.index + 1, entries.first().copied())
            }
            (LogWrite::Install { last, .. }, _) => (last.index + 1, None),
            _ => (u64::MAX, None),
        };
        let held = if gone <= node.last().index {
            node.durable(gone).filter(|held| Some(*held) != instead)
        } else {
            None
        };
        self.ghost.canon.snapshots_installed += u64::from(installs);
        if let Err(detail) = self.nodes[place].write() {
            self.ghost.fail("C1", detail);
        }
        if let Some(held) = held {
            self.ghost.canon.overwritten += 1;
            self.ghost.judged("INV-L4");
            let committed = self.ghost.canon.entry(gone) == Some(held);
            if committed && !self.on_a_majority(gone, held, |_| true) {
                let id = self.nodes[place].id;
                let detail = format!("{id} takes committed entry {gone} off a majority's disks");
                self.ghost.fail("INV-L4", detail);
            }
        }
        self.commit_what_is_durable(place);
    }

    /// Whether a majority of the disks hold `entry` at `index`, each under a term that `fits`.
    fn on_a_majority(&self, index: u64, entry: Entry, fits: impl Fn(u64) -> bool) -> bool {
        let holds =
            |node: &&super::Node<R>| fits(node.record().term) && node.durable(index) == Some(entry);
        self.nodes.iter().filter(holds).count() > self.nodes.len() / 2
    }

    /// The disk of a node has changed: what is committed now is so for good.
    fn commit_what_is_durable(&mut self, place: usize) {
        let term = self.nodes[place].record().term;
        let in_term = |node: &super::Node<R>| {
            let last = node.last();
            (node.record().term == term && last.term == term).then_some(last.index)
        };
        // Entries of one term follow one another: the majority that reaches furthest decides.
        let mut ends: Vec<u64> = self.nodes.iter().filter_map(in_term).collect();
        ends.sort_unstable_by(|a, b| b.cmp(a));
        let Some(end) = ends.get(self.nodes.len() / 2).copied() else {
            return;
        };
        let Some(holder) =
            (0..self.nodes.len()).find(|node| in_term(&self.nodes[*node]) == Some(end))
        else {
            return;
        };
        let entry = self.nodes[holder].durable(end);
        let Some(entry) = entry.filter(|entry| self.on_a_majority(end, *entry, |of| of == term))
        else {
            return;
        };
        let known = self.ghost.canon.entry(end);
        if known.is_some_and(|known| known != entry) {
            let detail = format!("{entry:?} is committed at {end}, where {known:?} was");
            self.ghost.fail("INV-L3", detail);
        }
        for index in self.ghost.canon.len() + 1..=end {
            let Some(entry) = self.nodes[holder].durable(index) else {
                return;
            };
            self.ghost.canon.committed.push((entry, term));
        }
    }

    /// INV-E5: every entry that was committed in a lower term is in the log of a leader.
    pub(super) fn judge_elected(&mut self, place: usize, token: Token) {
        let id = self.nodes[place].id;
        if self.replication.is_none() {
            // Nobody extends these logs: what a majority holds may be committed, so a leader's log must be no worse than a
            // majority's.
            let own = self.nodes[place].last();
            let no_better = self.nodes.iter().filter(|node| node.last() <= own).count();
            if no_better <= self.nodes.len() / 2 {
                self.ghost
                    .fail("INV-E5", format!("{id} elected in {token} with {own:?}"));
            }
            return;
        }
        let Some(machine) = &self.nodes[place].machine else {
            return;
        };
        let log = machine.log().clone();
        let committed = &self.ghost.canon.committed;
        let lower = committed.partition_point(|(_, term)| *term < token.counter);
        let base = log.base().index.max(1);
        let lacks = (base..=lower as u64).find(|index| {
            let entry = committed[*index as usize - 1].0;
            let payload = self.nodes[place].memory.payloads.get(&(*index, entry.term));
            let other = payload.is_some_and(|payload| *payload != entry.payload);
            log.term_at(*index) != Some(entry.term) || other
        });
        if lower > 0 {
            self.ghost.judged("INV-E5");
        }
        if let Some(index) = lacks {
            let entry = self.ghost.canon.entry(index);
            let detail = format!("{id} elected in {token} without {entry:?} at {index}: {log:?}");
            self.ghost.fail("INV-E5", detail);
        }
        self.nodes[place].memory.reign = Some(log);
    }

    /// Looks at the log of a node after whatever it did: INV-L2, INV-L5, and what the application does (INV-L3, INV-L4).
    pub(super) fn judge_log(&mut self, place: usize) {
        let Some(machine) = &self.nodes[place].machine else {
            return;
        };
        if self.replication.is_none() {
            return;
        }
        let (id, commit, last) = (machine.id(), machine.commit(), machine.last().index);
        let before = self.nodes[place].memory.commit;
        self.judge_reign(place);
        if commit < before || commit > last {
            let detail = format!("{id} takes {commit} of {last} for committed, after {before}");
            self.ghost.fail("INV-L5", detail);
        }
        if commit > before {
            self.ghost.judged("INV-L5");
            self.nodes[place].memory.commit = commit;
            self.judge_own_term(place, commit);
            self.apply(place, commit);
        }
    }

    /// INV-L2: a leader never takes back or replaces what is in its log.
    fn judge_reign(&mut self, place: usize) {
        let node = &self.nodes[place];
        let (Some(machine), Some(_)) = (&node.machine, node.in_office) else {
            return;
        };
        let Some(before) = node.memory.reign.as_ref() else {
            return;
        };
        let log = machine.log();
        if before == log {
            return;
        }
        let keeps = extends(log, before);
        let detail = format!("{} had {before:?} and has {log:?}", node.id);
        let now = log.clone();
        self.ghost.judged("INV-L2");
        if !keeps {
            self.ghost.fail("INV-L2", detail);
        }
        self.nodes[place].memory.reign = Some(now);
    }

    /// INV-L5: a leader's commit index rises over an entry of its own term.
    fn judge_own_term(&mut self, place: usize, commit: u64) {
        let node = &self.nodes[place];
        let (Some(machine), Some(token)) = (&node.machine, node.in_office) else {
            return;
        };
        let written_in = machine.log().term_at(commit);
        if written_in != Some(token.counter) {
            let id = node.id;
            let detail =
                format!("{id} commits {commit} of {written_in:?} as the leader of {token}");
            self.ghost.fail("INV-L5", detail);
        }
    }

    /// The application applies what its machine says is committed.
    fn apply(&mut self, place: usize, commit: u64) {
        loop {
            let node = &self.nodes[place];
            let Some(machine) = &node.machine else { return };
            let index = node.memory.applied.len() as u64 + 1;
            if index > commit {
                return;
            }
            let log = machine.log();
            if index <= log.base().index {
                let Some(state) = node.memory.offered.get(&log.base().index).cloned() else {
                    let detail = format!("{} is to apply {index}, which nobody sent", node.id);
                    return self.ghost.fail("INV-L3", detail);
                };
                for entry in &state[index as usize - 1..] {
                    self.judge_applied(place, *entry);
                }
                continue;
            }
            let entry = log.term_at(index).and_then(|term| {
                let payload = *node.memory.payloads.get(&(index, term))?;
                Some(Entry { term, payload })
            });
            let Some(entry) = entry else {
                let detail = format!("{} is to apply {index}, which nobody sent", node.id);
                return self.ghost.fail("INV-L3", detail);
            };
            self.judge_applied(place, entry);
        }
    }

    /// INV-L3: every application applies the one sequence, in order. INV-L4: what it applies is on a majority's disks.
    fn judge_applied(&mut self, place: usize, entry: Entry) {
        let node = &mut self.nodes[place];
        node.memory.applied.push(entry);
        let (id, index) = (node.id, node.memory.applied.len() as u64);
        let term = node.machine.as_ref().map_or(0, |machine| machine.term());
        self.ghost.judged("INV-L3");
        self.ghost.judged("INV-L4");
        match self.ghost.canon.entry(index) {
            Some(known) if known == entry => {}
            Some(known) => {
                let detail =
                    format!("{id} applies {entry:?} at {index}, where {known:?} is committed");
                self.ghost.fail("INV-L3", detail);
            }
            None => {
                if !self.on_a_majority(index, entry, |_| true) {
                    let detail = format!(
                        "{id} applies {entry:?} at {index}, which no majority's disks hold"
                    );
                    self.ghost.fail("INV-L4", detail);
                }
                self.ghost.canon.committed.push((entry, term));
            }
        }
    }
}

/// Whether `log` has all that `before` had, but for what it compacted away.
fn extends(log: &Shape, before: &Shape) -> bool {
    let mut end = before.base().index;
    before.runs().all(|(term, count)| {
        end += count;
        end <= log.base().index || log.term_at(end) == Some(term)
    }) && log.last() >= before.last()
}
