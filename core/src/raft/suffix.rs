//! The missing suffix: a candidate that a quorum refuses for its log alone takes what it lacks from the best of them, and
//! then wins. Where the only node connected to a majority is a few entries behind, no other Raft ever elects anybody
//! (OmniPaxos' constrained election).
//!
//! 1. A pre-candidate counts who answered: those that grant, and those that refuse for their log alone and say where it
//!    ends ([`Better`]). Once they and it are a quorum, of both halves when joint, and no quorum grants, it asks the most
//!    up-to-date of them for what follows the end of its own log ([`Fetch`](Message::Fetch)).
//! 2. The answer ([`Suffix`](Message::Suffix)) is one run of the voter's log after an entry that the candidate named, or
//!    after an earlier one that it may have; if not, it names an earlier one still. Each question skips a whole term on
//!    either side, as in replication (Raft §5.3). What is compacted away comes as a snapshot
//!    ([`SuffixSnapshot`](Message::SuffixSnapshot)), which holds only what is committed.
//! 3. Each answer is installed by itself, in one write with the voter's term where that is higher. Then the rest is asked
//!    for, until the end of the voter's log is reached.
//! 4. Whoever refused for a log that is no better any more counts as granting: it was free to vote, and there was no
//!    other reason. With a quorum of them the vote begins.
//!
//! # Why it is safe
//!
//! Let *x* be the candidate, *L* the log of the voter it asked, as of the answer, and let *L* end after the end of *x*'s
//! own log at the install (RL-6). What arrives makes *x*'s log agree with *L* up to some index; only entries that
//! contradict *L* are dropped.
//!
//! **Nothing that counts is lost.** Call *e* committed in term *t* when a quorum acknowledged it in *t* to the leader of
//! *t*, now or ever. *Claim: x drops no e that it acknowledged.* *x*'s log ends at or after *e*; so *L* ends in an entry of a
//! term *d* ≥ *t*. If *d* = *t*, the leader of *t* wrote both, and *L*, being longer than *x*'s, has *e* by log matching. If
//! *d* > *t*, the leader of *d* has *e* by leader completeness, below all that it wrote, and again *L* has *e*. Now *e* is in
//! both logs, so they agree up to it, and what is dropped lies behind. Leader completeness itself stands, by
//! induction in the order in which leaders are elected: take the first elected leader of a term above *t* that lacks *e*;
//! one of its voters acknowledged *e* before it voted, and all that happened to that voter's log in between – entries of
//! leaders elected before, or an install from a log that ends in an entry of one – left *e* in it; so the vote went to a
//! log that has *e* (Raft §5.4.3).
//!
//! Nothing in this depends on the whole suffix arriving: the claim is about the end of *L*, which every answer tells, and
//! holds for any prefix of it. A first run may even leave *x*'s log *less* up to date than it was, when it takes the
//! place of a stale tail of a later term. Nor does it depend on who is asked, on promises, or on whether a leader lives;
//! those rules protect what follows.
//!
//! **A live leader's match** (RL-7) of *x* can be falsified only below the first entry of the leader's own term *t*. Above it
//! the leader counts what *x* acknowledged in *t*; for *x* to drop that, *L* must end in a term *d* > *t*, and *x* is in
//! term *d* or above from the same write on. The leader commits by counting only at or above its own entries, so the
//! lower part of a false match commits nothing; replication finds it out, for `next` may fall below `matched`.
//!
//! **One write** (RL-5). *L*'s terms may lie above *x*'s own. A crash between the two would leave a log of a later term
//! than the record, which no node can have and no restart accepts; and a node in such a state would say (INV-E3) what its
//! record does not cover. The vote of the lower term goes with it. The voter's term rather than that of the last entry,
//! because it is at least that, and *x* is about to ask for votes above it.
//!
//! **The best of a quorum** (RL-4). *x* may know entries to be committed that it never acknowledged in the term that
//! committed them: an unfinished catch-up leaves it with old entries and a new commit index. The claim above does not
//! cover those; a log that ends later may lack them. The best of a quorum has them: the entry that committed them
//! is on a voter of the counted quorum, which acknowledged it before it answered, for all that *x* knows it knew before
//! it asked – a leader heard since would have ended the candidacy – and answers of an earlier candidacy do not count. The
//! commit index itself is a second lock: a suffix that contradicts it is refused by name (INV-L3). Alone it
//! would leave *x* stuck with a voter that cannot help, and a restart forgets it.
//!
//! **What is looked at again** (RL-6): that the question is open and the candidacy goes on, or *x* may have acknowledged
//! since what the answer lacks; that *L* still ends later, by which the claim stands; that no promise binds, for to adopt a
//! term under a promise would depose a leader that counts on it.
//!
//! **Clocks.** A question is named by its instant. A host whose clock begins anew with each life must see to it that no
//! answer to a former life arrives, for one to the same instant would count.
//!
//! **Membership.** Configuration entries come with the suffix and count when they are in the log, as ever (Raft §6); a
//! candidacy that meets one begins anew under it, or ends when the node is no voter in it. The quorum is one of the
//! newest configuration in *x*'s log: what *x* knows to be committed was committed under that or under a neighbour of it,
//! whose quorums meet its own. The claim needs no quorum but those of elections and commits.
//!
//! **Transfer.** A node that is asked to stand while it lacks entries is an ordinary pre-candidate and fetches them.
//!
//! **Disks that lie** break Raft itself: what was acknowledged may be nowhere, and the best of a quorum may lack it. The
//! fetch adds nothing to that and repairs nothing; what this node knows to be committed it still keeps.

use super::{Better, Entries, Message, Raft, Refusal, Role, Rule, Rules};
use crate::log::Position;
use crate::membership::Membership;
use crate::{Instant, NodeId};
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec;

/// What a pre-candidate knows of better logs. Gone with the attempt.
#[derive(Clone, Debug)]
pub(super) struct Lacking {
    /// Who refused for its log alone, by place.
    refusers: Box<[Option<Refuser>]>,
    /// The open question, if there is one.
    asked: Option<Question>,
}

/// What a voter with a better log said.
#[derive(Clone, Copy, Debug)]
pub(super) struct Refuser {
    pub(super) better: Better,
    /// When it will be free to vote.
    pub(super) free_at: Instant,
}

/// What was asked, and of whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Question {
    of: usize,
    sent: Instant,
    after: Position,
}

impl Lacking {
    /// The better log of the member at `place`, and, if it was asked for it, when and after which entry.
    pub(super) fn of(&self, place: usize) -> (Option<Refuser>, Option<(Instant, Position)>) {
        let asked = self.asked.filter(|asked| asked.of == place);
        (
            self.refusers.get(place).copied().flatten(),
            asked.map(|asked| (asked.sent, asked.after)),
        )
    }
}

impl<R: Rules> Raft<R> {
    /// The member at `place` would vote for this node if its log were not better.
    pub(super) fn on_better_log(&mut self, place: usize, asked: u64, better: Better) {
        let present = self.role == Role::PreCandidate && asked == self.record.term + 1;
        if !present || !self.membership.votes(place) || self.config.replication.is_none() {
            return;
        }
        if !self.takes_pre_vote_answer(better.sent, better.remainder) {
            return;
        }
        let free_at = self.now + self.config.timing.outlast(better.remainder);
        if better.last <= self.log.last() {
            // It was better than the log that it was asked with, which was all that kept it from granting.
            self.count_pre_vote(place, free_at);
            return self.weigh_pre_votes(Instant::FOREVER);
        }
        let members = self.membership.members().len();
        let lacking = self.lacking.get_or_insert_with(|| {
            Box::new(Lacking {
                refusers: vec![None; members].into_boxed_slice(),
                asked: None,
            })
        });
        lacking.refusers[place] = Some(Refuser { better, free_at });
        self.ask_for_suffix();
    }

    /// Once a quorum has answered and none grants, asks the best of it for what this log lacks (RL-4). Whether it did.
    pub(super) fn ask_for_suffix(&mut self) -> bool {
        let Some(lacking) = self.lacking.as_ref().filter(|open| open.asked.is_none()) else {
            return false;
        };
        let refusers = &lacking.refusers;
        let end = |place: &usize| refusers[*place].map(|refuser| refuser.better.last);
        let refused = (0..refusers.len()).filter(|place| refusers[*place].is_some());
        let of = if self.keeps(Rule::SuffixFromBest) {
            let answered = |place: usize| self.heard[place].granted || refusers[place].is_some();
            let stuck = self.membership.is_quorum(answered) && !self.has_quorum_of_grants();
            refused.max_by_key(end).filter(|_| stuck)
        } else {
            refused.min_by_key(end)
        };
        let Some(of) = of else {
            return false;
        };
        let bound_until = self.promised_until();
        if bound_until > self.now {
            // It asks when it could take what comes.
            self.due = self.due.map(|due| due.min(bound_until));
            return false;
        }
        self.fetch(of, self.log.last());
        true
    }

    fn fetch(&mut self, of: usize, after: Position) {
        let (term, sent) = (self.record.term, self.now);
        let Some(lacking) = &mut self.lacking else {
            return;
        };
        lacking.asked = Some(Question { of, sent, after });
        // The attempt is timed anew: what comes is news of it.
        self.retry_later();
        let to = self.membership.members()[of].id;
        self.send(to, Message::Fetch { term, sent, after });
    }

    /// A candidate lacks what follows `after`. It gets the first of that, whatever this node is doing: entries are what
    /// their leaders wrote, wherever they are read.
    pub(super) fn on_fetch(&mut self, from: NodeId, sent: Instant, after: Position) {
        let Some(flow) = self.config.replication else {
            return self.refusals.add(Refusal::NoLog);
        };
        let (term, base, last) = (self.record.term, self.log.base(), self.log.last());
        let has = self.log.contains(after);
        if !has && after.index <= base.index {
            let membership = self.as_of(base.index);
            return self.send(
                from,
                Message::SuffixSnapshot {
                    term,
                    sent,
                    base,
                    membership,
                    last,
                },
            );
        }
        let prev = if has { after } else { self.log.hint(after) };
        let entries = self.entries_after(prev.index, flow.batch);
        self.send(
            from,
            Message::Suffix {
                term,
                sent,
                prev,
                entries,
                last,
            },
        );
    }

    pub(super) fn on_suffix(
        &mut self,
        place: usize,
        term: u64,
        sent: Instant,
        prev: Position,
        entries: Entries,
        last: Position,
    ) {
        if !self.takes_suffix(place, sent, last) {
            return;
        }
        if !self.log.contains(prev) {
            return self.ask_further_back(place, prev);
        }
        let membership = self.membership.clone();
        if !self.take_over(prev.index, entries) {
            return self.refusals.add(Refusal::ContradictsCommitted);
        }
        let standing = self.role == Role::PreCandidate;
        let adopted = self.adopt_with_entries(term);
        let same = !adopted && Arc::ptr_eq(&membership, &self.membership);
        self.go_on(place, last, standing, same);
    }

    pub(super) fn on_suffix_snapshot(
        &mut self,
        place: usize,
        term: u64,
        sent: Instant,
        base: Position,
        membership: Arc<Membership>,
        last: Position,
    ) {
        if !self.takes_suffix(place, sent, last) {
            return;
        }
        if base.index <= self.commit || self.log.contains(base) {
            // Then the entries that follow it were what was asked for.
            return self.refusals.add(Refusal::Unasked);
        }
        let standing = self.role == Role::PreCandidate;
        self.adopt_with_entries(term);
        self.replace_log(base, membership);
        // Only what is committed goes into a snapshot.
        self.commit = base.index;
        self.go_on(place, last, standing, false);
    }

    /// RL-6: whether what arrives may still be taken.
    fn takes_suffix(&mut self, place: usize, sent: Instant, last: Position) -> bool {
        if self.config.replication.is_none() {
            self.refusals.add(Refusal::NoLog);
            return false;
        }
        if !self.keeps(Rule::SuffixRechecked) {
            return self.role != Role::Leader;
        }
        let asked = self.lacking.as_ref().and_then(|lacking| lacking.asked);
        asked.is_some_and(|asked| asked.of == place && asked.sent == sent)
            && self.promised_until() <= self.now
            && last > self.log.last()
    }

    /// The voter does not have what was named, nor this node the earlier entry that the voter named instead.
    fn ask_further_back(&mut self, place: usize, prev: Position) {
        let after = self.log.hint(prev);
        let Some(asked) = self.lacking.as_ref().and_then(|lacking| lacking.asked) else {
            return;
        };
        if after.index < self.commit {
            return self.refusals.add(Refusal::ContradictsCommitted);
        }
        if after.index >= asked.after.index {
            // No honest answer leads back to where the question was.
            return self.refusals.add(Refusal::ImpossibleLog);
        }
        self.fetch(place, after);
    }

    /// RL-5: the voter's term goes into the same write as its entries. Whether that is a new one.
    fn adopt_with_entries(&mut self, term: u64) -> bool {
        let higher = term > self.record.term && self.keeps(Rule::SuffixAdoptsTerm);
        if higher {
            self.adopt(term);
            self.retry_later();
        }
        higher
    }

    /// Something was installed of a log that ends at `last`: writes it, asks for the rest, or stands. `same` when term and
    /// membership are what they were, so that what the members said counts still.
    fn go_on(&mut self, place: usize, last: Position, standing: bool, same: bool) {
        self.persist();
        if !standing {
            return;
        }
        if !same {
            return self.stand();
        }
        if self.log.last() < last {
            return self.fetch(place, self.log.last());
        }
        if let Some(lacking) = self.lacking.take() {
            for (place, refuser) in lacking.refusers.iter().enumerate() {
                if let Some(Refuser { better, free_at }) = *refuser
                    && better.last <= self.log.last()
                    && self.counts_still(better.sent)
                {
                    self.count_pre_vote(place, free_at);
                }
            }
        }
        if self.has_quorum_of_grants() {
            self.weigh_pre_votes(Instant::FOREVER);
        } else {
            self.ask_pre_votes();
        }
    }
}
