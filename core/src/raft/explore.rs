//! What an exhaustive search asks of a machine beyond its inputs (law C10): its state without absolute time and under
//! other names, the age of what it echoes, and which messages can do nothing any more.

use super::{Message, Progress, Raft, Record, Role, Rule, Rules, Stamp};
use crate::membership::Membership;
use crate::{Duration, Instant, NodeId};
use core::hash::{Hash, Hasher};

/// What of a machine's state counts, and under which names.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The member at place `order[k]` goes by the name `k`; their own places when `None`. Must name each place once.
    pub order: Option<&'a [usize]>,
    /// Whether the messages count that wait for the disk.
    pub held: bool,
    /// Whether time counts. Without it a machine is what it can do when every timer may fire at any moment; only
    /// outside safe mode, where no promise and no lease depends on the clock.
    pub timed: bool,
}

impl View<'_> {
    /// All of the state, under the own names.
    pub const PLAIN: Self = Self {
        order: None,
        held: true,
        timed: true,
    };

    fn place(&self, name: usize) -> usize {
        self.order.map_or(name, |order| order[name])
    }

    /// The name of a node: 0 to one less than the number of members. A node that is no member keeps its own.
    fn name(&self, members: &Membership, id: NodeId) -> NodeId {
        let place = members.place(id);
        let name = match self.order {
            Some(order) => place.and_then(|place| order.iter().position(|named| *named == place)),
            None => place,
        };
        name.map_or(id, |name| NodeId(name as u64))
    }
}

impl<R: Rules> Raft<R> {
    /// Feeds the protocol state into `hasher` as `view` shows it. Two machines that look alike answer alike to every
    /// message of an honest group, at once and later. With rules switched off, only as long as these do not count what
    /// lies further back than an election timeout.
    ///
    /// Names other than the own are sound as far as no rule compares them; RL-9 does (a pre-candidate steps back from a
    /// higher one), and so does whom a lapsed leader asks to stand when several answered last.
    pub fn view<H: Hasher>(&self, now: Instant, view: View<'_>, hasher: &mut H) {
        // What lies in the past is over: how long ago does not matter. Where time does not count, all is past or for ever.
        let ahead = |at: Instant| match at {
            Instant::FOREVER => u64::MAX,
            _ => at.since(now).as_micros(),
        };
        // An answer to what was sent longer ago than a promise lasts counts for nothing.
        let horizon = self.config.timing.election_min + Duration::from_micros(1);
        let ago = |at: Instant| {
            if view.timed {
                now.since(at).min(horizon)
            } else {
                Duration::ZERO
            }
        };
        let members = &self.membership;
        let name = |id| view.name(members, id);
        let (pending, recorded) = self.durable.open();
        let Record {
            term,
            vote,
            promise,
            generation,
        } = self.record;
        (term, vote.map(name), promise, generation).hash(hasher);
        (
            pending,
            recorded,
            self.role,
            self.leader.map(name),
            self.established,
            self.yielded,
            self.halted,
            self.due.is_some(),
            self.grants,
            // Without promises a release of a term that is over changes nothing any more; with them it is relayed.
            match self.config.safe_mode {
                true => self.released,
                false => u64::from(self.released == self.record.term),
            },
            self.transfer.map(|transfer| name(transfer.to)),
            self.excluded,
        )
            .hash(hasher);
        self.view_log(ago, hasher);
        self.view_reads(ago, hasher);
        let waiting = |message: &Message| {
            let at = match message.stamp() {
                Some((at, Stamp::Sender)) => ago(at).as_micros(),
                Some((at, Stamp::Receiver)) if view.timed => at.as_micros(),
                _ => 0,
            };
            let message = message.clone().renamed(name);
            message.stamped(Instant::from_micros(at))
        };
        // A node whose configuration is older than the sender's answers a stranger too.
        for (waits, to, message) in self.durable.held() {
            if view.held && members.place(to).is_none() {
                (to, waits, waiting(message)).hash(hasher);
            }
        }
        for of in 0..members.members().len() {
            let place = view.place(of);
            let heard = self.heard_of(place);
            (ahead(heard.at), heard.granted).hash(hasher);
            if let Some(progress) = self.progress.get(place) {
                let Progress {
                    matched,
                    next,
                    pace,
                    probed,
                    told,
                    round,
                    unsure,
                    question,
                    ..
                } = *progress;
                let overdue = ago(progress.sent);
                (
                    matched,
                    next,
                    pace,
                    probed,
                    told,
                    self.round - round.min(self.round),
                    unsure,
                    question,
                    overdue,
                )
                    .hash(hasher);
            }
            let id = members.members()[place].id;
            for (waits, _, message) in self.durable.held().filter(|held| held.1 == id) {
                if view.held {
                    (of, waits, waiting(message)).hash(hasher);
                }
            }
        }
        if let Some(lacking) = &self.lacking {
            for of in 0..members.members().len() {
                let (refuser, asked) = lacking.of(view.place(of));
                refuser
                    .map(|it| (it.better.last, ago(it.better.sent), ahead(it.free_at)))
                    .hash(hasher);
                asked.map(|(sent, after)| (ago(sent), after)).hash(hasher);
            }
        }
        if !view.timed {
            return;
        }
        // More failures than that stretch no wait any further.
        (self.failed.min(5), self.due.map(ahead)).hash(hasher);
        self.promise
            .filter(|promise| promise.until > now)
            .map(|promise| (ahead(promise.until), promise.to))
            .hash(hasher);
        match self.role {
            // What was asked when, for answers to be told from answers to nothing.
            Role::Leader => {
                (ahead(self.until), ago(self.began), ago(self.armed_at)).hash(hasher);
                let transfer = self.transfer.map(|transfer| ahead(transfer.until));
                transfer.hash(hasher);
            }
            Role::PreCandidate => (ago(self.began), ago(self.armed_at)).hash(hasher),
            Role::Candidate | Role::Follower => {}
        }
    }

    /// The log, what of it is durable and committed, and what its leader waits to hear.
    fn view_log<H: Hasher>(&self, ago: impl Fn(Instant) -> Duration, hasher: &mut H) {
        self.log.hash(hasher);
        if self.config.replication.is_none() {
            return;
        }
        self.members.hash(hasher);
        (self.commit, self.matched).hash(hasher);
        (self.durable.log(), self.acknowledged, self.covered).hash(hasher);
        self.owed.map(ago).hash(hasher);
        for write in self.durable.writes() {
            write.hash(hasher);
        }
    }

    /// The clock of `of` moved on by `by`: what waits here for the disk and echoes an instant of that clock is older by as
    /// much, but not older than `oldest`. For a search that keeps instants relative to their owner's now.
    pub fn age_echoes(&mut self, of: NodeId, by: Duration, oldest: Instant) {
        self.durable
            .change_held(of, |message| match message.stamp() {
                Some((at, Stamp::Receiver)) => message.stamped((at - by).max(oldest)),
                _ => message,
            });
    }

    /// Whether `message` from the node in state `from` can do nothing here any more, now or later, whatever happens,
    /// crashes included: neither here nor, through the answer, there. What may still matter says `false`. The answer to
    /// one that arrives later may wait here for the disk, to do nothing there; and may take the place of another that
    /// waits, which is as if that was lost.
    ///
    /// `timed` as in [`View::timed`].
    #[must_use]
    pub fn inert(&self, now: Instant, from: &Self, message: &Message, timed: bool) -> bool {
        let own = self.record.term;
        // A crash takes back what the disk does not hold; what it holds never falls.
        let settled = self.pending() == 0;
        // No node stands or leads twice in one term.
        let asks_no_more = |term, roles: &[Role]| {
            let there = from.record.term;
            there > term || (there == term && !roles.contains(&from.role))
        };
        match *message {
            Message::RequestVote { term, released, .. } => {
                // The vote of this term is given, and the answer counts no more. Granting the same one again would
                // only arm the timer again.
                let given = match self.record.vote {
                    Some(vote) if vote == from.config.id => {
                        !timed && self.role == Role::Follower && self.keeps(Rule::OwnTermGrants)
                    }
                    Some(_) => self.keeps(Rule::OneVoteATerm),
                    None => false,
                };
                settled
                    && self.release_adds_nothing(now, released)
                    && asks_no_more(term, &[Role::Candidate])
                    && (term < own || (term == own && given))
            }
            Message::VoteGranted { term } => {
                let counted = self
                    .membership
                    .place(from.config.id)
                    .is_some_and(|place| self.heard_of(place).granted)
                    && self.keeps(Rule::CountOnce);
                settled
                    && self.keeps(Rule::OwnTermGrants)
                    && (term < own || (term == own && (self.role != Role::Candidate || counted)))
            }
            Message::VoteRefused { asked, term } => {
                settled
                    && (term <= own
                        || asked < own
                        || (asked == own && self.role != Role::Candidate))
            }
            Message::Heartbeat { term, .. } => {
                settled && term < own && asks_no_more(term, &[Role::Candidate, Role::Leader])
            }
            Message::HeartbeatAck {
                term,
                sent,
                promise,
                round,
                ..
            } => settled && self.adds_nothing(now, from.config.id, term, sent, round, promise),
            Message::HeartbeatRefused { asked, term } => {
                settled
                    && (term <= own
                        || asked < own
                        || (asked == own && !matches!(self.role, Role::Candidate | Role::Leader)))
            }
            Message::RequestPreVote { term, released, .. } => {
                settled
                    && self.release_adds_nothing(now, released)
                    && from.pending() == 0
                    && from.record.term >= term
                    && own >= term
            }
            Message::PreVoteGranted { term, sent, .. } => {
                let too_old = now.since(sent) > self.config.timing.election_min
                    || match self.role {
                        Role::PreCandidate => sent < self.began,
                        // The next candidacy begins later.
                        _ => sent < now,
                    };
                (settled && own >= term) || (timed && too_old)
            }
            Message::PreVoteRefused {
                asked,
                term,
                better,
            } => settled && (asked <= own || (term <= own && better.is_none())),
            // What concerns a log is never called inert: a search with logs looks at it all.
            Message::Append { .. }
            | Message::AppendAck { .. }
            | Message::AppendRefused { .. }
            | Message::Commit { .. }
            | Message::InstallSnapshot { .. }
            | Message::Fetch { .. }
            | Message::Suffix { .. }
            | Message::SuffixSnapshot { .. }
            | Message::ReadIndex { .. }
            | Message::ReadIndexAck { .. }
            | Message::NotMember { .. } => false,
            Message::Release { term, .. } => {
                settled && term < own && self.release_adds_nothing(now, term)
            }
        }
    }

    /// Whether it changes nothing to hear that the leader of `term`, below the own one, stopped. Where there are promises, a
    /// node relays it, and again after a crash in which it forgot.
    fn release_adds_nothing(&self, now: Instant, term: u64) -> bool {
        let binds = self.promise.is_some_and(|promise| {
            let to = promise.to.unwrap_or(self.record.term);
            to == term && promise.until > now
        });
        let own_alone = self.keeps(Rule::ReleaseOwnTerm) && !binds;
        term == 0 || (!self.config.safe_mode && own_alone)
    }

    /// Whether an acknowledgement extends no lease and confirms no read, now or later.
    fn adds_nothing(
        &self,
        now: Instant,
        from: NodeId,
        term: u64,
        sent: Instant,
        round: u64,
        promise: Duration,
    ) -> bool {
        let as_promised = [
            Rule::OwnTermAcks,
            Rule::ValidityFromSend,
            Rule::PromiseFromAnswer,
        ]
        .into_iter()
        .all(|rule| self.keeps(rule));
        let over = match self.role {
            Role::Leader => self.membership.place(from).is_some_and(|place| {
                let promise = promise.min(self.config.timing.promise());
                let heard = self.heard_of(place);
                heard.granted
                    && self.covered_until(sent, promise) <= heard.at.max(now)
                    && !self.confirms(place, round)
            }),
            // It may still be elected in this term.
            Role::Candidate => false,
            Role::PreCandidate | Role::Follower => true,
        };
        let own = self.record.term;
        as_promised && (term < own || (term == own && over))
    }
}
