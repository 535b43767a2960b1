//! What a node holds and whom it follows: the part that is the same in every scheme over a store.
//!
//! Terms begin and end here and nowhere else, so that the laws about them are kept once: a tenure ends by the clock alone
//! (C4, LS-R3), never revives, and is over before the next begins, which has a higher token (C7, LS-R5).

use super::refuse::Refusal;
use crate::{Event, Instant, Leader, Output, Standing, Tenure, Ticket, Token, Why};
use alloc::collections::VecDeque;
use core::convert::Infallible;
use core::hash::{Hash, Hasher};

/// Why a node that was acknowledged does not lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotElected {
    /// It would be over.
    TooLate,
    /// The token is none that may follow.
    For(Refusal),
}

/// The office of one node, and what it has to say. `Q` is a request of the scheme.
#[derive(Clone, Debug)]
pub(super) struct Office<Q> {
    /// The latest `now` that was seen (C2).
    clock: Instant,
    held: Option<Tenure>,
    /// The highest token it was elected with in this life.
    highest: Token,
    /// Whom it follows, and until when that is worth something: nobody says when a leader that crashed is gone.
    leader: Option<(Leader, Instant)>,
    out: VecDeque<Output<Infallible, Q>>,
    /// Whether a tenure ends by the clock: rule [`DemoteByTimer`](super::Rule::DemoteByTimer).
    by_timer: bool,
}

impl<Q> Office<Q> {
    pub(super) const fn new(now: Instant, by_timer: bool) -> Self {
        Self {
            clock: now,
            held: None,
            highest: Token::NONE,
            leader: None,
            out: VecDeque::new(),
            by_timer,
        }
    }

    /// The time is `now`, or later if it was: what has ended by then is over. The time, and whether a tenure
    /// lapsed.
    pub(super) fn look_at_the_clock(&mut self, now: Instant) -> (Instant, bool) {
        self.clock = self.clock.max(now);
        let lapsed = self.by_timer && self.held.is_some_and(|held| held.until <= self.clock);
        if lapsed {
            self.depose(Why::Lapsed);
        }
        if self.leader.is_some_and(|(_, until)| until <= self.clock) {
            self.follow(None);
        }
        (self.clock, lapsed)
    }

    /// The node was acknowledged as the holder, by a request after which it may believe until `until`.
    ///
    /// # Errors
    /// When that is over already; and when the token is not above every one it was elected with before, or is none: the
    /// store fell back, and the guard could not tell an older self from this one.
    pub(super) fn elect(&mut self, token: Token, until: Instant) -> Result<(), NotElected> {
        if !token.is_issued() {
            return Err(NotElected::For(Refusal::TokenExhausted));
        }
        if token <= self.highest {
            return Err(NotElected::For(Refusal::TokenFellBack));
        }
        if !self.begin(token, until) {
            return Err(NotElected::TooLate);
        }
        self.highest = token;
        Ok(())
    }

    /// The same in a scheme that has no tokens. False when that is over already.
    pub(super) fn elect_without_token(&mut self, until: Instant) -> bool {
        self.begin(Token::NONE, until)
    }

    fn begin(&mut self, token: Token, until: Instant) -> bool {
        if until <= self.clock || self.held.is_some() {
            return false;
        }
        let tenure = Tenure { token, until };
        self.follow(None);
        self.held = Some(tenure);
        self.out.push_back(Output::Event(Event::Elected(token)));
        self.out
            .push_back(Output::Event(Event::Established(tenure)));
        true
    }

    /// A request was acknowledged after which the holder may believe until `until`. Never moves back (LS-R2).
    pub(super) fn extend(&mut self, until: Instant) {
        if let Some(held) = &mut self.held {
            held.until = held.until.max(until);
        }
    }

    /// The tenure is over, if there is one.
    pub(super) fn depose(&mut self, why: Why) {
        if let Some(Tenure { token, .. }) = self.held.take() {
            self.out
                .push_back(Output::Event(Event::Deposed(token, why)));
        }
    }

    /// The store says who holds it, which is worth something until then; or that nobody does. Nothing is news to a holder.
    pub(super) fn follow(&mut self, leader: Option<(Leader, Instant)>) {
        let before = self.leader.map(|(leader, _)| leader);
        self.leader = leader.filter(|(_, until)| self.held.is_none() && *until > self.clock);
        let now = self.leader.map(|(leader, _)| leader);
        if before != now {
            self.out.push_back(Output::Event(Event::Following(now)));
        }
    }

    pub(super) fn request(&mut self, ticket: Ticket, request: Q) {
        self.out.push_back(Output::Request(ticket, request));
    }

    pub(super) fn poll(&mut self) -> Option<Output<Infallible, Q>> {
        self.out.pop_front()
    }

    /// There is nothing to say: gives back the room for it. For machines that say nothing in their steady state.
    pub(super) fn rest(&mut self) {
        if self.out.is_empty() {
            self.out = VecDeque::new();
        }
    }

    /// What it holds, lapsed or not: nothing was handled since.
    pub(super) const fn held(&self) -> Option<Tenure> {
        self.held
    }

    /// Whom it followed when something was handled last.
    pub(super) fn leader(&self) -> Option<Leader> {
        self.leader.map(|(leader, _)| leader)
    }

    /// What the node may believe at `now`.
    pub(super) fn standing(&self, now: Instant) -> Standing {
        let now = now.max(self.clock);
        match (self.held, self.leader) {
            (Some(tenure), _) if now < tenure.until || !self.by_timer => Standing::Leading(tenure),
            (None, Some((leader, until))) if now < until => Standing::Following(leader),
            _ => Standing::Unknown,
        }
    }

    /// The first of these, and of what ends by the clock here; [`Instant::FOREVER`] is never.
    pub(super) fn deadline(&self, others: impl IntoIterator<Item = Instant>) -> Option<Instant> {
        let held = self.held.filter(|_| self.by_timer).map(|held| held.until);
        let leader = self.leader.map(|(_, until)| until);
        let all = held.into_iter().chain(leader).chain(others);
        all.min().filter(|at| *at != Instant::FOREVER)
    }

    /// What it holds and whom it follows, with times relative to `now`.
    pub(super) fn fingerprint<H: Hasher>(&self, now: Instant, hasher: &mut H) {
        let held = self.held.map(|held| (held.token, held.until.ahead_of(now)));
        let leader = self
            .leader
            .map(|(leader, until)| (leader, until.ahead_of(now)));
        (held, leader, self.highest, self.out.len()).hash(hasher);
    }
}
