//! Replication, the leader's side: who has what, what to send, what is committed.
//!
//! Nothing is queued for the followers: what to say is read off what each is known to have when the host drains. Proposals
//! that wait become one message, and a message that the host did not take yet grows.
//!
//! **Invariants**
//! - INV-L2 a leader never takes back or replaces an entry of its own log;
//! - INV-L5 the commit index rises only over an entry of the leader's own term (Raft §5.4.2, figure 8), and never beyond
//!   what a quorum's disks hold, the leader's own counted like any other.

use super::read::Question;
use super::{MAX_INDEX, Message, Raft, Refusal, Role, Rule, Rules, Write};
use crate::log::Position;
use crate::{Duration, Instant, Leader, NodeId, Output};
use core::fmt;

/// What the leader knows of one member's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Progress {
    /// Up to where its log is known to agree with the leader's, durably. Rises only, also when it was replaced since
    /// (RL-7): it then counts for nothing above the entries that were committed before.
    pub matched: u64,
    /// The first entry to send to it next. May lie below `matched` (RL-7).
    pub next: u64,
    /// How entries go to it.
    pub pace: Pace,
    /// When the newest entries were sent to it.
    pub(super) sent: Instant,
    /// The last entry of the newest probe or snapshot, or what is before the first that was sent without one.
    pub(super) probed: u64,
    /// The commit index it was told last.
    pub(super) told: u64,
    /// The newest round it answered, or, of the leader itself, sent.
    pub(super) round: u64,
    /// Whether it has all that was sent and did not acknowledge all of it: it is asked to.
    pub(super) unsure: bool,
    /// What it asked for its reads.
    pub(super) question: Option<Question>,
}

/// How entries go to a follower.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pace {
    /// It is not known what it has: one message at a time.
    Probe,
    /// As [`Probe`](Self::Probe); the message is on its way.
    Probing,
    /// One message after another, up to the window.
    Stream,
    /// It needs a snapshot, which is on its way.
    Snapshot,
}

/// Why nothing was proposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProposeError {
    /// This node does not lead. Ask the one that does, if it is known.
    NotLeader(Option<Leader>),
    /// It was configured without a log.
    NoLog,
    /// The log would pass [`MAX_INDEX`](super::MAX_INDEX).
    TooLong,
    /// This node hands leadership over, and takes no entry that the successor would have to wait for. Ask the next leader,
    /// or again when the transfer is dropped: after an election timeout at most.
    Transferring,
    /// No entry at all was to be appended, and the position of the first of none names nothing. Propose at least one.
    NoEntries,
}

impl fmt::Display for ProposeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotLeader(leader) => not_leader(f, *leader),
            Self::NoLog => f.write_str("the machine has no log; configure replication"),
            Self::TooLong => f.write_str("the log is full; start a new group"),
            Self::Transferring => f.write_str(
                "this node hands leadership over; ask the next leader, or again in a moment",
            ),
            Self::NoEntries => f.write_str("no entry was to be appended; propose at least one"),
        }
    }
}

impl core::error::Error for ProposeError {}

/// That a node does not lead, and whom to ask instead.
pub(super) fn not_leader(f: &mut fmt::Formatter<'_>, leader: Option<Leader>) -> fmt::Result {
    match leader {
        Some(Leader { node, .. }) => write!(f, "this node does not lead; ask node {node}"),
        None => {
            f.write_str("this node does not lead and knows of nobody who does; ask again later")
        }
    }
}

impl Progress {
    /// Of a member of whom nothing is known yet, by a leader whose log ends at `last`.
    pub(super) const fn unknown(last: u64, now: Instant) -> Self {
        Self {
            matched: 0,
            next: last + 1,
            pace: Pace::Probe,
            sent: now,
            probed: 0,
            told: 0,
            round: 0,
            unsure: false,
            question: None,
        }
    }
}

impl<R: Rules> Raft<R> {
    /// Appends `count` entries to the leader's log, and answers the position of the first. Their payloads are the host's,
    /// under these names; they are committed once [`commit`](Self::commit) has reached them *and* the term at their index
    /// is still this one. Nothing is sent before the host drains: what is proposed until then travels together.
    ///
    /// The log has entries that nobody proposed: the one with which each leader opens its term, and each change of who
    /// takes part. They have no payload ([`Entries::own`](super::Entries::own)), and a host passes over them when it applies
    /// what is committed.
    ///
    /// # Errors
    /// When this node does not lead, or is about to stop, or `count` is 0; nothing is appended then.
    pub fn propose(&mut self, now: Instant, count: u32) -> Result<Position, ProposeError> {
        self.proposable(now)?;
        if count == 0 {
            return Err(ProposeError::NoEntries);
        }
        let last = self.log.last().index;
        let fits = last + u64::from(count) <= MAX_INDEX;
        if !fits || self.log.append(self.record.term, u64::from(count)).is_err() {
            return Err(ProposeError::TooLong);
        }
        let first = Position::new(self.record.term, last + 1);
        (self.unsent, self.cursor) = (true, 0);
        self.persist();
        Ok(first)
    }

    /// Whether this node may append at `now`.
    pub(super) fn proposable(&mut self, now: Instant) -> Result<(), ProposeError> {
        self.at(now);
        if self.config.replication.is_none() {
            return Err(ProposeError::NoLog);
        }
        if self.halted || self.role != Role::Leader {
            return Err(ProposeError::NotLeader(self.known_leader()));
        }
        if self.transfer.is_some() {
            return Err(ProposeError::Transferring);
        }
        Ok(())
    }

    /// Whom to ask instead of this node.
    pub(super) fn known_leader(&self) -> Option<Leader> {
        let leader = self.leader.filter(|_| self.role == Role::Follower);
        leader.map(|node| Leader {
            node,
            token: self.token(self.record.term),
        })
    }

    /// What the leader knows of a member's log; `None` when it does not lead, or the node is no member.
    #[must_use]
    pub fn progress(&self, of: NodeId) -> Option<Progress> {
        self.progress.get(self.membership.place(of)?).copied()
    }

    /// Begins to replicate: nothing is known of the others, and an entry of the own term is due, for nothing older may be
    /// committed by counting.
    pub(super) fn begin_replication(&mut self) {
        let last = self.log.last().index;
        self.progress.clear();
        // Whoever has what is committed can take the rest. Where that is little, it goes along with the entry of the own
        // term: asking first who lacks how much of it would cost a round trip, in which nobody leads.
        let batch = self.config.replication.map_or(0, |flow| flow.batch);
        let mut unknown = Progress::unknown(last, self.now);
        if last > self.commit && last - self.commit < batch {
            (unknown.next, unknown.probed) = (self.commit + 1, self.commit);
            unknown.pace = Pace::Stream;
        }
        self.progress
            .resize(self.membership.members().len(), unknown);
        self.matched = last;
        // Terms never fall and no log is that long: an append of one entry always fits.
        let _ = self.log.append(self.record.term, 1);
        (self.unsent, self.cursor) = (true, 0);
        self.persist();
    }

    /// The next message that entries or commit index call for; `None` when everybody was told what there is to say.
    pub(super) fn next_append(&mut self) -> Option<Output<Message, Write>> {
        if !self.unsent || !self.durable.record_is_settled() {
            return None;
        }
        while self.cursor < self.progress.len() {
            let message = self.append_to(self.cursor);
            if message.is_some() {
                return message;
            }
            self.cursor += 1;
        }
        (self.unsent, self.cursor) = (false, 0);
        None
    }

    /// What is to be said to one member now.
    fn append_to(&mut self, place: usize) -> Option<Output<Message, Write>> {
        let flow = self.config.replication?;
        let (term, sent, commit) = (self.record.term, self.now, self.commit);
        let last = self.log.last().index;
        let known = self.progress[place];
        let to = self.membership.members()[place].id;
        if to == self.config.id {
            return None;
        }
        // A follower whose log was replaced may be sent what it was known to have (RL-7).
        let open = (known.next - 1).saturating_sub(known.matched.max(known.probed));
        let room = flow.batch.min(flow.window.saturating_sub(open));
        let (due, room) = match known.pace {
            // Nothing is known to be on the way.
            Pace::Probe if known.matched == 0 => (true, flow.batch.min(flow.window)),
            Pace::Probe => (true, room),
            Pace::Stream => (room > 0 && known.next <= last, room),
            Pace::Probing | Pace::Snapshot => (false, 0),
        };
        let progress = &mut self.progress[place];
        let unsure = core::mem::take(&mut progress.unsure) && known.pace == Pace::Stream;
        if !due && !unsure {
            // Its log may not reach so far: it takes what it knows to agree.
            if known.told < commit && known.pace == Pace::Stream {
                progress.told = commit;
                return Some(Output::Send(
                    to,
                    Message::Commit {
                        term,
                        index: commit,
                    },
                ));
            }
            return None;
        }
        progress.sent = sent;
        self.spoke = sent;
        let prev = known.next - 1;
        if prev < self.log.base().index {
            progress.pace = Pace::Snapshot;
            progress.probed = self.log.base().index;
            let membership = self.as_of(self.log.base().index);
            return Some(Output::Send(
                to,
                Message::InstallSnapshot {
                    term,
                    sent,
                    last: self.log.base(),
                    membership,
                },
            ));
        }
        let entries = self.entries_after(prev, room);
        let progress = &mut self.progress[place];
        progress.told = commit;
        match known.pace {
            Pace::Probe => {
                progress.pace = Pace::Probing;
                progress.probed = prev + entries.count();
            }
            _ => progress.next += entries.count(),
        }
        Some(Output::Send(
            to,
            Message::Append {
                term,
                sent,
                prev: self.position(prev),
                entries,
                commit,
            },
        ))
    }

    pub(super) fn on_append_ack(
        &mut self,
        place: usize,
        term: u64,
        sent: Instant,
        promise: Duration,
        matched: u64,
    ) {
        if !self.takes_answer(term, sent) || place >= self.progress.len() {
            return;
        }
        if matched > self.log.last().index {
            return self.refusals.add(Refusal::Unasked);
        }
        self.cover(place, sent, promise);
        let progress = &mut self.progress[place];
        let news = matched > progress.matched;
        progress.matched = progress.matched.max(matched);
        progress.next = progress.next.max(matched + 1);
        let flows = match progress.pace {
            Pace::Stream => true,
            // RL-12: a late answer to what was sent before the question is none to it. Each would begin a stream anew, and
            // where messages overtake one another most of a stream is refused, answer by answer.
            Pace::Probing if sent >= progress.sent => {
                // All of it has arrived, also where the disk is still at it.
                progress.next = progress.next.max(progress.probed + 1);
                true
            }
            Pace::Probe | Pace::Probing => false,
            Pace::Snapshot if matched < progress.probed => false,
            // It has what it was sent, and needs a newer one where that was compacted away meanwhile.
            Pace::Snapshot if matched < self.log.base().index => {
                progress.pace = Pace::Probe;
                (self.unsent, self.cursor) = (true, 0);
                false
            }
            // What it needs now is in the log.
            Pace::Snapshot => true,
        };
        if flows {
            progress.pace = Pace::Stream;
            if progress.next <= self.log.last().index || progress.told < self.commit {
                (self.unsent, self.cursor) = (true, 0);
            }
        }
        let committed = news && matched > self.commit && self.advance_commit();
        self.extend();
        if committed {
            self.settle_configuration();
        }
        if news {
            self.hand_over_when_caught_up();
        }
    }

    pub(super) fn on_append_refused(
        &mut self,
        place: usize,
        term: u64,
        sent: Instant,
        promise: Duration,
        prev: u64,
        hint: Position,
    ) {
        if !self.takes_answer(term, sent) || place >= self.progress.len() {
            return;
        }
        self.cover(place, sent, promise);
        let base = self.log.base().index;
        let progress = &mut self.progress[place];
        // RL-12: only the newest question counts, and the next is asked without optimism. RL-7: what it was known to have
        // may be gone, for its log may have been replaced while it could not hear this leader.
        let newest = match progress.pace {
            Pace::Stream => prev >= progress.matched && prev < progress.next,
            Pace::Probing => prev == progress.next - 1 && sent >= progress.sent,
            Pace::Probe | Pace::Snapshot => false,
        };
        // Nobody lacks what comes before the first entry, and what may agree is not beyond what does not.
        if newest && prev > 0 && hint.index <= prev {
            let agree = self.log.hint(hint).index;
            progress.next = agree.min(prev - 1) + 1;
            progress.pace = Pace::Probe;
            if hint.index < base {
                progress.next = hint.index + 1;
            }
            (self.unsent, self.cursor) = (true, 0);
        }
        self.extend();
    }

    /// A heartbeat was answered: what was sent before it and is not there was lost on the way.
    pub(super) fn resend_what_was_lost(
        &mut self,
        place: usize,
        sent: Instant,
        round: u64,
        matched: u64,
    ) {
        let Some(progress) = self.progress.get_mut(place) else {
            return;
        };
        progress.round = progress.round.max(round);
        // What was sent in the same instant may have been overtaken by the heartbeat.
        if sent <= progress.sent {
            return;
        }
        match progress.pace {
            Pace::Probing => progress.pace = Pace::Probe,
            // It lacks what it once acknowledged (RL-7), or has begun a new life and does not know that it has it: it is
            // asked about that, or an idle leader would never find out.
            Pace::Stream if matched < progress.matched => {
                progress.next = progress.matched + 1;
                progress.pace = Pace::Probe;
            }
            Pace::Stream if matched + 1 < progress.next => progress.next = matched + 1,
            // Its disk is slow, or the acknowledgement was lost: an append, of no entries at least, asks again.
            Pace::Stream if matched > progress.matched => progress.unsure = true,
            // The snapshot is there, and what told so was lost.
            Pace::Snapshot if matched >= progress.probed => {
                progress.next = matched + 1;
                progress.pace = Pace::Probe;
            }
            Pace::Snapshot => {
                let wait = self.config.timing.election_max;
                if self.now.since(progress.sent) < wait {
                    return;
                }
                progress.pace = Pace::Probe;
            }
            Pace::Probe | Pace::Stream => return,
        }
        (self.unsent, self.cursor) = (true, 0);
    }

    /// The leader's own copy counts from here on (INV-L4).
    pub(super) fn own_copy_is_durable(&mut self) {
        if self.advance_commit() {
            self.extend();
            self.settle_configuration();
        }
    }

    /// Whether more is committed than was known.
    pub(super) fn advance_commit(&mut self) -> bool {
        if self.progress.is_empty() {
            return false;
        }
        let own = if self.keeps(Rule::OwnCopyDurable) {
            self.durable.log()
        } else {
            self.log.last().index
        };
        let id = self.config.id;
        let members = self.membership.members();
        let reached = self.membership.reached_by_quorum(self.commit, |place| {
            if members[place].id == id {
                own
            } else {
                self.progress[place].matched
            }
        });
        let own_term = self.log.term_at(reached) == Some(self.record.term);
        if reached <= self.commit || (!own_term && self.keeps(Rule::CommitOwnTerm)) {
            return false;
        }
        self.commit = reached;
        (self.unsent, self.cursor) = (true, 0);
        true
    }

    /// Whether an entry of the own term is committed, so that the commit index is up to date; always without a log.
    pub(super) fn own_term_committed(&self) -> bool {
        self.config.replication.is_none() || self.log.term_at(self.commit) == Some(self.record.term)
    }
}
