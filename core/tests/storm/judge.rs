//! The judge: what was written, said and believed, seen from outside and never by a node's own claim.

use super::{NODES, Storm};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use tenure::log::Position;
use tenure::membership::Membership;
use tenure::quorum::Voters;
use tenure::raft::{Entries, LogWrite, Message, Role, Rules, Write};
use tenure::{Election, Event, NodeId, Standing, Token};

#[derive(Default)]
pub(crate) struct Judge {
    /// Whether beliefs are bounded.
    safe: bool,
    pub(crate) broken: Option<String>,
    pub(crate) marks: BTreeMap<&'static str, u64>,
    /// Who was ever elected in a term.
    leaders: BTreeMap<u64, usize>,
    votes: BTreeMap<(usize, u64), usize>,
    /// The term before each entry that ever was.
    before: HashMap<Position, u64>,
    configurations: HashMap<Position, Arc<Membership>>,
    /// The term of each committed entry, and of the leader that committed it.
    canon: Vec<(u64, u64)>,
    founding: Option<Arc<Membership>>,
    /// The committed configurations, by index.
    decided: BTreeMap<u64, Arc<Membership>>,
    highest: Option<Token>,
    tokens: BTreeMap<usize, Token>,
}

impl Judge {
    pub(crate) fn new(founders: u64, safe: bool) -> Self {
        let voters = Voters::new((0..founders).map(NodeId)).unwrap();
        Self {
            safe,
            founding: Some(Arc::new(Membership::new(&voters))),
            ..Self::default()
        }
    }

    pub(crate) fn fail(&mut self, invariant: &str, detail: String) {
        self.broken
            .get_or_insert_with(|| format!("{invariant}: {detail}"));
    }

    pub(crate) fn mark(&mut self, what: &'static str) {
        *self.marks.entry(what).or_default() += 1;
    }

    /// The newest entry that was acknowledged to anybody.
    pub(crate) fn newest(&self) -> u64 {
        self.canon.len() as u64
    }

    /// Who takes part as of a committed entry.
    fn as_of(&self, index: u64) -> Option<Arc<Membership>> {
        if index > self.newest() {
            return None;
        }
        let newest = self.decided.range(..=index).next_back();
        newest
            .map(|(_, known)| known.clone())
            .or_else(|| self.founding.clone())
    }
}

impl<R: Rules> Storm<R> {
    pub(super) fn judge_write(&mut self, write: &Write) {
        match &write.log {
            LogWrite::Append { after, entries } => {
                for index in after.index + 1..=after.index + entries.count() {
                    let at = Position::new(entries.term(), index);
                    let known = self.judge.configurations.get(&at);
                    match entries {
                        Entries::Change { to, .. } => {
                            if known.is_some_and(|known| known != to) {
                                self.judge
                                    .fail("INV-L1", format!("two configurations at {at:?}"));
                            }
                            self.judge.configurations.insert(at, to.clone());
                        }
                        Entries::Run { .. } if known.is_some() => {
                            self.judge
                                .fail("INV-L1", format!("a configuration is lost at {at:?}"));
                        }
                        Entries::Run { .. } => {}
                    }
                }
            }
            LogWrite::Compact { upto, membership } => self.judge_snapshot(*upto, membership),
            LogWrite::Install { last, membership } => {
                self.judge.mark("snapshot");
                self.judge_snapshot(*last, membership);
            }
            LogWrite::Keep => {}
        }
    }

    fn judge_snapshot(&mut self, last: Position, membership: &Arc<Membership>) {
        let known = self.judge.as_of(last.index);
        let entry = last
            .index
            .checked_sub(1)
            .and_then(|at| self.judge.canon.get(at as usize));
        if known.as_ref() != Some(membership) || entry.is_none_or(|entry| entry.0 != last.term) {
            self.judge.fail(
                "INV-L3",
                format!("a snapshot at {last:?} of {membership:?}, not {known:?}"),
            );
        }
    }

    pub(super) fn judge_send(&mut self, place: usize, to: NodeId, message: &Message) {
        let disk = &self.nodes[place].disk;
        let vote = match *message {
            Message::VoteGranted { term } => Some((term, to.0 as usize)),
            Message::RequestVote { term, .. } => Some((term, place)),
            _ => None,
        };
        if let Some((term, whom)) = vote {
            let first = *self.judge.votes.entry((place, term)).or_insert(whom);
            if first != whom {
                self.judge.fail(
                    "INV-E2",
                    format!("{place} voted for {first} and {whom} in {term}"),
                );
            }
            let kept = disk.record.term > term
                || (disk.record.term == term && disk.record.vote == Some(NodeId(whom as u64)));
            if !kept {
                self.judge.fail(
                    "INV-E2",
                    format!("{place} says {message:?} with {:?}", disk.record),
                );
            }
        }
        let own = match *message {
            Message::RequestPreVote { term, .. } => term - 1,
            Message::PreVoteGranted { .. } | Message::NotMember { .. } => 0,
            _ => message.term(),
        };
        if own > disk.record.term {
            self.judge.fail(
                "INV-E3",
                format!("{place} says {message:?} in {:?}", disk.record),
            );
        }
        match *message {
            Message::AppendAck {
                term,
                matched,
                promise,
                ..
            } => {
                if disk.log.last().index < matched || disk.record.promise < promise {
                    let end = disk.log.last();
                    self.judge.fail(
                        "INV-L4",
                        format!("{place} says {message:?} with {end:?} {:?}", disk.record),
                    );
                }
                let has = disk.log.term_at(matched);
                if let Some(leads) = self
                    .nodes
                    .get(to.0 as usize)
                    .and_then(|node| node.machine.as_ref())
                    && (leads.term(), leads.role()) == (term, Role::Leader)
                    && let (Some(has), Some(wants)) = (has, leads.log().term_at(matched))
                    && has != wants
                {
                    self.judge.fail(
                        "INV-L4",
                        format!("{place} says {message:?} of another entry"),
                    );
                }
            }
            Message::HeartbeatAck { promise, .. } if disk.record.promise < promise => {
                self.judge.fail(
                    "C5",
                    format!("{place} promises what would not outlive a crash"),
                );
            }
            Message::InstallSnapshot {
                last,
                ref membership,
                ..
            } => self.judge_snapshot(last, membership),
            Message::SuffixSnapshot {
                base,
                ref membership,
                ..
            } => {
                self.judge.mark("suffix snapshot");
                self.judge_snapshot(base, membership);
            }
            Message::Fetch { .. } => self.judge.mark("fetch"),
            Message::NotMember { .. } => self.judge.mark("told that it is out"),
            Message::ReadIndexAck { index, .. } if index > self.judge.newest() => {
                self.judge
                    .fail("INV-R2", format!("{message:?} is not committed"));
            }
            _ => {}
        }
    }

    pub(super) fn judge_event(&mut self, place: usize, event: Event) {
        match event {
            Event::Elected(token) => {
                let term = token.counter;
                let first = *self.judge.leaders.entry(term).or_insert(place);
                if first != place {
                    self.judge
                        .fail("INV-E1", format!("{first} and {place} lead {term}"));
                }
                if self.nodes[place].elected
                    || self
                        .judge
                        .tokens
                        .get(&place)
                        .is_some_and(|old| *old >= token)
                {
                    self.judge
                        .fail("INV-E6", format!("{place} was elected with {token} again"));
                }
                self.judge.tokens.insert(place, token);
                self.nodes[place].elected = true;
                self.judge.mark("elected");
            }
            Event::Deposed(token, why) => {
                if !self.nodes[place].elected || self.judge.tokens.get(&place) != Some(&token) {
                    self.judge.fail(
                        "INV-E6",
                        format!("{place} was deposed of {token} unelected"),
                    );
                }
                self.nodes[place].elected = false;
                self.judge.mark(match why {
                    tenure::Why::Lapsed => "lapsed",
                    tenure::Why::Transferred => "transferred",
                    tenure::Why::Removed => "a leader without a vote went",
                    tenure::Why::Resigned => "resigned",
                    tenure::Why::HigherTerm => "deposed by a higher term",
                    _ => "disk failed",
                });
            }
            _ => {}
        }
    }

    /// Looks at a node after something happened to it.
    pub(super) fn judge_node(&mut self, place: usize) {
        if self.judge.broken.is_some() || self.nodes[place].machine.is_none() {
            return;
        }
        self.judge_commit(place);
        self.judge_log(place);
        self.judge_belief(place);
    }

    fn judge_log(&mut self, place: usize) {
        let node = &mut self.nodes[place];
        let Some(machine) = &node.machine else { return };
        let log = machine.log();
        if *log != node.seen {
            let seen = node.seen.last().index;
            let from = match log.contains(node.seen.last()) && seen > 0 {
                true => seen,
                false => log.base().index,
            };
            let mut prev = log.term_at(from).unwrap_or(0);
            for index in from + 1..=log.last().index {
                let term = log.term_at(index).unwrap();
                if *self
                    .judge
                    .before
                    .entry(Position::new(term, index))
                    .or_insert(prev)
                    != prev
                {
                    self.judge.fail(
                        "INV-L1",
                        format!("{term}/{index} follows two entries, at {place}"),
                    );
                }
                prev = term;
            }
            node.seen.clone_from(log);
        }
        if machine.role() != Role::Leader {
            node.led = None;
            return;
        }
        let (term, last) = (machine.term(), machine.last());
        match node.led {
            Some((led, end)) if led == term => {
                if last < end || (end.index > log.base().index && !log.contains(end)) {
                    self.judge
                        .fail("INV-L2", format!("the leader {place} took back {end:?}"));
                }
            }
            _ => self.judge_elected(place),
        }
        self.nodes[place].led = Some((term, last));
    }

    /// INV-E5.
    fn judge_elected(&mut self, place: usize) {
        let Some(machine) = &self.nodes[place].machine else {
            return;
        };
        let (log, term) = (machine.log(), machine.term());
        for index in log.base().index.max(1)..=self.judge.newest() {
            let (entry, by) = self.judge.canon[index as usize - 1];
            if by < term && log.term_at(index) != Some(entry) {
                let detail =
                    format!("{place} leads {term} without {entry}/{index}, committed in {by}");
                return self.judge.fail("INV-E5", detail);
            }
        }
    }

    fn judge_commit(&mut self, place: usize) {
        let Some(machine) = &self.nodes[place].machine else {
            return;
        };
        let (from, commit, log, term) = (
            self.nodes[place].judged,
            machine.commit(),
            machine.log(),
            machine.term(),
        );
        if commit < from || commit > log.last().index {
            return self
                .judge
                .fail("INV-L5", format!("{place}: {from} to {commit}"));
        }
        if commit == from {
            return;
        }
        // It may have stopped with the same step.
        let leads = machine.role() == Role::Leader
            || self.nodes[place].led.is_some_and(|led| led.0 == term);
        let mut new = false;
        for index in (from + 1).max(log.base().index).max(1)..=commit {
            let Some(entry) = log.term_at(index) else {
                return self.judge.fail("INV-L3", format!("{place} has no {index}"));
            };
            match self.judge.canon.get(index as usize - 1) {
                Some((known, _)) if *known == entry => {}
                Some((known, by)) => {
                    let detail = format!("{place} applies {entry}/{index}, it was {known} by {by}");
                    return self.judge.fail("INV-L3", detail);
                }
                None if index == self.judge.newest() + 1 => {
                    self.judge.canon.push((entry, term));
                    if let Some(known) = self.judge.configurations.get(&Position::new(entry, index))
                    {
                        self.judge.decided.insert(index, known.clone());
                    }
                    new = true;
                }
                None => {
                    return self
                        .judge
                        .fail("INV-L3", format!("{place} skips to {index}"));
                }
            }
        }
        if new && !leads {
            self.judge.fail(
                "INV-L5",
                format!("{place} follows and commits {commit} first"),
            );
        }
        if new {
            if log.term_at(commit) != Some(term) {
                self.judge.fail(
                    "INV-L5",
                    format!("{place} commits {commit} of an earlier term"),
                );
            }
            let at = Position::new(term, commit);
            let members = machine.membership();
            let has = |of: usize| {
                let disk = &self.nodes[members.members()[of].id.0 as usize].disk;
                disk.log.base().index >= commit || disk.log.contains(at)
            };
            if !members.is_quorum(has) {
                self.judge
                    .fail("INV-L4", format!("{place} commits {at:?} on too few disks"));
            }
            self.judge.mark("commit");
            if members.is_joint() {
                self.judge.mark("commit in a joint configuration");
            }
            // Nobody believes to lead an earlier term when something of a later one is committed, nor does a leader of a later
            // one lack it.
            for other in 0..NODES {
                let Some(rival) = &self.nodes[other].machine else {
                    continue;
                };
                if let Standing::Leading(tenure) = rival.standing(self.clock(other))
                    && tenure.token.counter != term
                    && self.judge.safe
                {
                    let detail = format!(
                        "{place} commits in {term}, {other} believes to lead {}",
                        tenure.token
                    );
                    self.judge.fail("INV-S1", detail);
                }
                if rival.role() == Role::Leader && rival.term() > term {
                    self.judge_elected(other);
                }
            }
        }
        self.nodes[place].judged = commit;
    }

    /// INV-S1, at this instant of true time.
    fn judge_belief(&mut self, place: usize) {
        if !self.judge.safe {
            return;
        }
        let now = self.clock(place);
        let Some(machine) = &self.nodes[place].machine else {
            return;
        };
        let Standing::Leading(tenure) = machine.standing(now) else {
            return;
        };
        // INV-E6, and INV-S3: what was overtaken or is over does not come back.
        if self
            .judge
            .highest
            .is_some_and(|highest| highest > tenure.token)
        {
            self.judge
                .fail("INV-E6", format!("{place} leads with {}", tenure.token));
        }
        self.judge.highest = Some(tenure.token);
        self.judge.mark("belief looked at");
        let Some(machine) = &self.nodes[place].machine else {
            return;
        };
        for other in (0..NODES).filter(|other| *other != place) {
            if let Some(rival) = &self.nodes[other].machine
                && matches!(rival.standing(self.clock(other)), Standing::Leading(_))
            {
                let detail = format!(
                    "{place} in {} and {other} in {} believe to lead",
                    machine.term(),
                    rival.term()
                );
                return self.judge.fail("INV-S1", detail);
            }
        }
    }
}
