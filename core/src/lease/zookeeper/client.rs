//! A node as a client of ZooKeeper: its session, what is asked and not yet answered, and the watch that it left.
//!
//! It is the same whatever is elected by: a place in the [queue](super::machine), or the one node of a
//! [controller](super::controller). What a machine is about, and what comes of an answer, is the machine's. What a reply says
//! of the session is told here ([`News`]), and belief in it begins and grows here alone.

use super::api::{Change, Reply, SessionId};
use super::config::Config;
use super::session::{Need, Session, bounded};
use crate::lease::refuse::{Counter, Refusal};
use crate::lease::requests::{Open, Requests};
use crate::lease::rules::counts_from;
use crate::lease::{Boot, Rule, Rules, Timing, value};
use crate::random::Random;
use crate::{Duration, Instant, Leader, Ticket, Token, Unknown};
use core::hash::{Hash, Hasher};
use core::mem::discriminant;

/// What can be asked for.
pub(super) trait Kind: Copy + Eq + Hash {
    /// Opens a session.
    const CONNECT: Self;
    /// Writes the own node.
    const KEEP_ALIVE: Self;

    /// Whether it leaves a watch on what it looks at.
    fn watches(self) -> bool;
}

/// What a request was for, and in which of the node's attempts: what was asked in one is not answered in another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Asked<K> {
    kind: K,
    attempt: u16,
}

/// For how long a node does not want to lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Rest {
    None,
    /// So that not all come back at once.
    Briefly,
    /// As long as a session: somebody else comes first.
    Long,
}

/// What a reply says to the machine.
pub(super) enum News<K> {
    /// Nothing.
    None,
    /// There is a session.
    Opened,
    /// It goes on for less than it was opened for, by servers that do not grant what the others did: it ends sooner than is
    /// believed.
    Shortened,
    /// It is over.
    Over,
    /// What was watched is not as it was.
    Changed(Change),
    /// Something that was asked in the present attempt has its answer.
    Answer(Answer<K>),
}

/// An answer, or that there will be none.
pub(super) struct Answer<K> {
    /// To what.
    pub(super) kind: K,
    /// When that was asked.
    pub(super) sent: Instant,
    /// Whether it was given up on.
    pub(super) late: bool,
    pub(super) result: Result<Reply, Unknown>,
}

/// What a machine has to do with ZooKeeper. `K` is what it asks for.
#[derive(Clone, Debug)]
pub(super) struct Client<K, R> {
    pub(super) config: Config,
    pub(super) rules: R,
    pub(super) refusals: Counter,
    pub(super) random: Random,
    pub(super) session: Session,
    requests: Requests<Asked<K>>,
    /// Until when it does not want to lead; [`Instant::FOREVER`] when it is no candidate.
    pub(super) rests: Instant,
    /// When to ask for what the machine needs; [`Instant::FOREVER`] while an answer is waited for.
    pub(super) next: Instant,
    /// Which request opened the session, by the low bits of its number: to take another for it costs a session.
    handle: u16,
    /// Which request left the watch there is, or 0: to take another for it costs a look.
    watch: u16,
    /// The number of the present attempt.
    attempt: u16,
}

impl<K: Kind, R: Rules> Client<K, R> {
    /// Without a session.
    pub(super) fn new(config: Config, boot: Boot, now: Instant, rules: R) -> Self {
        let node = config.common.claimant.identity.node();
        Self {
            refusals: Counter::NEVER,
            random: Random::new(boot.seed, node, boot.incarnation),
            session: Session::none(),
            requests: Requests::new(boot.incarnation),
            rests: Instant::FOREVER,
            next: now,
            handle: 0,
            watch: 0,
            attempt: 0,
            config,
            rules,
        }
    }

    /// How long things take in the present session.
    pub(super) fn timing(&self) -> Timing {
        match self.session.ttl() {
            Duration::ZERO => self.config.common.timing,
            ttl => self.config.timing(ttl),
        }
    }

    /// Wants a session, with which comes what there is to do.
    pub(super) fn connect(&mut self, now: Instant) {
        self.session.begin(now);
        self.next = Instant::FOREVER;
    }

    /// Begins another attempt: what was asked before it is no matter any more.
    pub(super) const fn begin_anew(&mut self) {
        self.attempt = self.attempt.wrapping_add(1);
        self.watch = 0;
    }

    /// Gives up the session. False when there is none to give up.
    pub(super) fn leave(&mut self, now: Instant) -> bool {
        if !self.session.is_open() {
            return false;
        }
        let timing = self.timing();
        self.session.leave(now, &timing);
        self.watch = 0;
        true
    }

    /// Whether it does not want to lead for a while, or for good, from now on.
    pub(super) fn rest(&mut self, now: Instant, rest: Rest) -> bool {
        let timing = self.config.common.timing;
        self.rests = match rest {
            _ if !self.config.common.candidate => Instant::FOREVER,
            Rest::None => now,
            Rest::Briefly => now + self.random.duration(timing.retry, timing.renew),
            Rest::Long => now + timing.ttl,
        };
        self.rests > now
    }

    pub(super) fn look_later(&mut self, now: Instant) {
        let timing = self.timing();
        self.next = now + timing.renew_pause(&mut self.random);
    }

    pub(super) fn try_later(&mut self, now: Instant) {
        let timing = self.timing();
        self.next = now + timing.retry_pause(&mut self.random);
    }

    pub(super) fn ask(&mut self, now: Instant, kind: K) {
        let attempt = self.attempt;
        let ticket = self.requests.make(now, Asked { kind, attempt });
        if kind.watches() {
            self.watch = ticket.number as u16;
        }
    }

    /// Asks for what the session needs, and says what that is. `written`: whether it is kept by writes.
    pub(super) fn keep(&mut self, now: Instant, written: bool) -> Option<Need> {
        let timing = self.timing();
        let waits = self.waits_for(K::CONNECT) || self.waits_for(K::KEEP_ALIVE);
        let asks = (waits, written);
        let need = self.session.need(now, asks, &timing, &mut self.random)?;
        self.ask(
            now,
            match need {
                Need::Connect => K::CONNECT,
                Need::KeepAlive => K::KEEP_ALIVE,
            },
        );
        Some(need)
    }

    /// Asks for what the machine needs, if it is time. Whether it did.
    pub(super) fn ask_in_time(&mut self, now: Instant, needs: K) -> bool {
        if self.session.is_wanted() {
            // What there is to do comes with the session.
            self.next = Instant::FOREVER;
            return false;
        }
        if self.next == Instant::FOREVER && !self.waits_for(needs) {
            self.try_later(now);
        }
        if self.next > now {
            return false;
        }
        self.next = Instant::FOREVER;
        self.ask(now, needs);
        true
    }

    /// Something that was waited for long enough.
    pub(super) fn overdue(&mut self, now: Instant) -> Option<K> {
        let patience = self.config.common.timing.patience;
        while let Some(open) = self.requests.overdue(now, patience) {
            if self.is_present(open.what) {
                return Some(open.what.kind);
            }
        }
        None
    }

    /// The next that the host was not told of. One that does not drain has missed what was to be asked in a former attempt.
    pub(super) fn untold(&mut self) -> Option<(Ticket, K)> {
        while let Some((ticket, asked)) = self.requests.untold() {
            if self.is_present(asked) {
                return Some((ticket, asked.kind));
            }
        }
        None
    }

    /// When there is something to do. `written`: whether the session is kept by writes.
    pub(super) fn due(&self, written: bool) -> impl Iterator<Item = Instant> {
        let patience = self.config.common.timing.patience;
        let overdue = self.requests.next_overdue(patience);
        let others = [self.next, self.session.due(written)];
        overdue.into_iter().chain(others)
    }

    /// Whether an answer is waited for, to something of this kind, whether it watches or not.
    fn waits_for(&self, kind: K) -> bool {
        self.requests.waits_for(|asked: Asked<K>| {
            discriminant(&asked.kind) == discriminant(&kind) && self.is_present(asked)
        })
    }

    /// Whether something is asked in the present attempt.
    fn is_present(&self, asked: Asked<K>) -> bool {
        if asked.kind == K::CONNECT {
            self.session.is_wanted()
        } else {
            asked.attempt == self.attempt
        }
    }

    /// A reply came.
    pub(super) fn hear(
        &mut self,
        now: Instant,
        ticket: Ticket,
        result: Result<Reply, Unknown>,
    ) -> News<K> {
        let number = ticket.number as u16;
        match self.requests.answered(ticket) {
            Some(open) => self.answered(now, number, open, result),
            None if self.requests.numbered(ticket.number) == ticket => {
                self.told(now, number, result)
            }
            None => self.refuse(Refusal::UnknownTicket),
        }
    }

    fn answered(
        &mut self,
        now: Instant,
        number: u16,
        open: Open<Asked<K>>,
        result: Result<Reply, Unknown>,
    ) -> News<K> {
        if !self.is_present(open.what) {
            return News::None;
        }
        if self.watch == number && !matches!(result, Ok(Reply::Data(..) | Reply::Children(_))) {
            self.watch = 0;
        }
        let kind = open.what.kind;
        match result {
            Ok(Reply::Connected { session, timeout })
                if kind == K::CONNECT && session != SessionId::NONE && timeout > Duration::ZERO =>
            {
                self.handle = number;
                // It may have been begun when it was asked for first, and told to who asked last (LS-R1).
                let from = counts_from(&self.rules, self.session.wanted_since(), now);
                let timing = self.config.timing(bounded(timeout));
                self.session.opened(session, from, &timing);
                News::Opened
            }
            Ok(Reply::Suspended | Reply::Expired) if kind == K::CONNECT => News::None,
            Ok(Reply::Expired) => News::Over,
            result => News::Answer(Answer {
                kind,
                sent: open.sent,
                late: open.late,
                result,
            }),
        }
    }

    /// The handle or a watch tells something, by the number of what opened or left it.
    fn told(&mut self, now: Instant, number: u16, result: Result<Reply, Unknown>) -> News<K> {
        match result {
            Ok(Reply::Changed(change)) if number == self.watch => {
                self.watch = 0;
                News::Changed(change)
            }
            // One that was left in a former attempt says nothing.
            Ok(Reply::Changed(_)) => News::None,
            _ if number != self.handle || self.session.id() == SessionId::NONE => {
                self.refuse(Refusal::UnknownTicket)
            }
            Ok(Reply::Connected { session, .. }) if session != self.session.id() => News::Over,
            Ok(Reply::Connected { timeout, .. })
                if timeout < self.session.ttl() && self.session.is_open() =>
            {
                News::Shortened
            }
            Ok(Reply::Connected { .. }) => {
                if self.session.is_suspended() {
                    self.session.connected(now, true);
                    // What could not be asked is asked now.
                    if self.next != Instant::FOREVER {
                        self.next = now;
                    }
                }
                News::None
            }
            Ok(Reply::Suspended) | Err(Unknown) => {
                self.session.connected(now, false);
                News::None
            }
            Ok(Reply::Expired) => News::Over,
            Ok(_) => self.refuse(Refusal::WrongAnswer),
        }
    }

    fn refuse(&mut self, reason: Refusal) -> News<K> {
        self.refusals.add(reason);
        News::None
    }

    /// A watch may have been left, or not: there is none to count on.
    pub(super) const fn unwatch(&mut self) {
        self.watch = 0;
    }

    pub(super) const fn is_watching(&self) -> bool {
        self.watch != 0
    }

    /// The own node was written, by a request that was sent then.
    pub(super) fn written(&mut self, now: Instant, sent: Instant) {
        let timing = self.timing();
        let proves = self.rules.keeps(Rule::ProvenAtLeader) && !self.config.alone;
        if proves && self.rules.keeps(Rule::ValidityFromSend) {
            let tick = self.config.tick();
            self.session
                .wrote((sent, now), tick, &timing, &mut self.random);
        } else {
            self.believe(now, sent);
            self.session.ask_again(sent, &timing, &mut self.random);
        }
    }

    /// What was asked then is taken to say that the session goes on.
    pub(super) fn believe(&mut self, now: Instant, sent: Instant) {
        let (from, timing) = (counts_from(&self.rules, sent, now), self.timing());
        self.session.believe(from, &timing);
    }

    /// Whoever wrote this, with this counter, leads until the next look but one.
    pub(super) fn leader(
        &self,
        now: Instant,
        data: &str,
        counter: u64,
    ) -> Option<(Leader, Instant)> {
        let timing = self.timing();
        let until = now + timing.renew + timing.retry + timing.patience + timing.patience;
        let leader = Leader {
            node: value::node(data)?,
            token: self.token(counter),
        };
        Some((leader, until))
    }

    /// The token of a term with this counter.
    pub(super) const fn token(&self, counter: u64) -> Token {
        Token::new(self.config.common.generation, counter)
    }

    pub(super) fn fingerprint<H: Hasher>(&self, now: Instant, hasher: &mut H) {
        self.requests.fingerprint(now, hasher);
        self.session.fingerprint(now, hasher);
        self.next.ahead_of(now).hash(hasher);
    }
}
