//! Kafka's controller of old, in the world: the machine of the core, and what its host writes into ZooKeeper while it leads.
//!
//! **As Kafka's host** (3.x): what a leader writes for its clients it keeps in ZooKeeper, too, as the state of a partition is kept:
//! in one transaction with the check of the epoch that it was elected in (KZ-F1). What is to be written is written in turn, by
//! whatever session there is then, and tried again until ZooKeeper has answered. So what a frozen or a cut-off controller had
//! still to write comes after another was elected (KAFKA-6082), and is refused; of that, it tells its machine. Otherwise than in
//! Kafka a write does not expect the version of the node that it writes: over one server, without a connection that keeps the
//! order, a copy that comes late may undo the next write of the same epoch, which nothing here reads.

use super::super::candidate::Candidate;
use super::super::{StoreAsk, StoreSaid};
use super::{KAFKA, epoch_of};
use crate::store::Key;
use crate::store::zookeeper::Image;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::hash::{Hash, Hasher};
use tenure::lease::zookeeper::controller::{Controller, Guard, Request};
use tenure::lease::zookeeper::{self as core, Reply, SessionId};
use tenure::lease::{Boot, BudgetError, Refusals, Switched, Timing};
use tenure::{
    Duration, Election, Input, Instant, Leader, Output, Standing, Tenure, Ticket, Token, Unknown,
};

/// Under these numbers the host asks, and below them its machine does.
const HOST: u64 = 1 << 63;

/// A write of a host, for it to make.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Guarded {
    pub(super) session: SessionId,
    pub(super) path: Key,
    /// The epoch of whoever wrote it, and what.
    pub(super) data: Key,
    /// Whether it is the first there.
    pub(super) creates: bool,
    pub(super) guard: Guard,
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in super::super) enum Call {
    /// By the machine.
    Elect(Request),
    /// By its host.
    Write(Guarded),
}

/// A broker that may be the controller.
#[derive(Clone, Debug)]
pub(in super::super) struct Broker {
    machine: Controller<Switched>,
    /// What each of its tenures is guarded by, the newest last.
    guards: Vec<(Token, Guard)>,
    /// What is to be written, first come first: in which tenure, and what.
    writes: VecDeque<(Token, u64)>,
    /// Whether the first of them creates the znode.
    creates: bool,
    /// How the first of them was asked for, and when.
    asked: Option<(Ticket, Instant)>,
    /// When to ask for it.
    next: Instant,
    /// The session it had last.
    session: SessionId,
    life: u64,
    /// How often it asked.
    number: u64,
    says: VecDeque<(Ticket, Guarded)>,
    refused: VecDeque<Token>,
}

/// Where it writes.
fn state() -> Key {
    format!("{KAFKA}/state").into()
}

/// The change by which somebody wrote whose epoch was not the stored one, if that is what was written last (KZ-NoStaleWrite).
pub(super) fn stale_write(held: &Image) -> Option<u64> {
    let (epoch, now) = epoch_of(held)?;
    let state = state();
    let written = held.stat(&state)?;
    let by = held.data(&state)?.split_whitespace().next()?;
    let is_stale = written.mzxid > now.mzxid && by.parse() != Ok(epoch);
    is_stale.then_some(written.mzxid.cast_unsigned())
}

impl Broker {
    pub(in super::super) fn with_rules(
        config: core::Config,
        boot: Boot,
        now: Instant,
        rules: Switched,
    ) -> Result<Self, BudgetError> {
        let life = boot.incarnation;
        Ok(Self {
            machine: Controller::with_rules(config, boot, now, rules)?,
            guards: Vec::new(),
            writes: VecDeque::new(),
            creates: false,
            asked: None,
            next: now,
            session: SessionId::NONE,
            life,
            number: HOST,
            says: VecDeque::new(),
            refused: VecDeque::new(),
        })
    }

    /// What was decided in a tenure is to be kept.
    pub(in super::super) fn keep(&mut self, now: Instant, token: Token, value: u64) {
        self.writes.push_back((token, value));
        self.look(now);
    }

    /// In which tenure something was decided that ZooKeeper refused to keep.
    pub(in super::super) fn poll_refused(&mut self) -> Option<Token> {
        self.refused.pop_front()
    }

    pub(in super::super) const fn tenure(&self) -> Option<Tenure> {
        self.machine.tenure()
    }

    pub(in super::super) fn leader(&self) -> Option<Leader> {
        self.machine.leader()
    }

    pub(in super::super) fn refusals(&self) -> &Refusals {
        self.machine.refusals()
    }

    #[cfg(all(feature = "peers", not(target_family = "wasm")))]
    pub(in super::super) const fn session(&self) -> SessionId {
        self.machine.session()
    }

    const fn timing(&self) -> Timing {
        self.machine.config().common.timing
    }

    /// Asks for the first write, if it is time.
    fn look(&mut self, now: Instant) {
        if let (Some(tenure), Some(guard)) = (self.machine.tenure(), self.machine.guard())
            && self
                .guards
                .last()
                .is_none_or(|(last, _)| *last != tenure.token)
        {
            self.guards.push((tenure.token, guard));
        }
        let session = self.machine.session();
        if std::mem::replace(&mut self.session, session) != session {
            self.next = now;
        }
        if self.due().is_none_or(|due| due > now) {
            return;
        }
        self.asked = None;
        self.next = now + self.timing().retry;
        let Some((token, value)) = self.writes.front().copied() else {
            return;
        };
        let guard = self.guards.iter().rev().find(|(of, _)| *of == token);
        let Some((_, guard)) = guard.filter(|_| session != SessionId::NONE) else {
            return;
        };
        self.number += 1;
        let ticket = Ticket {
            incarnation: self.life,
            number: self.number,
        };
        let write = Guarded {
            session,
            path: state(),
            data: format!("{} {value}", token.counter).into(),
            creates: self.creates,
            guard: guard.clone(),
        };
        self.asked = Some((ticket, now));
        self.says.push_back((ticket, write));
    }

    /// When it looks.
    fn due(&self) -> Option<Instant> {
        match self.asked {
            Some((_, asked)) => Some(asked + self.timing().patience),
            None => (!self.writes.is_empty()).then_some(self.next),
        }
    }

    fn answered(&mut self, now: Instant, ticket: Ticket, result: Result<Reply, Unknown>) {
        // What was asked for again is answered again.
        if self.asked.is_none_or(|(asked, _)| asked != ticket) {
            return;
        }
        self.asked = None;
        match result {
            Ok(Reply::NoNode) if !self.creates => (self.creates, self.next) = (true, now),
            Ok(Reply::NodeExists) => (self.creates, self.next) = (false, now),
            Ok(Reply::Set(_) | Reply::Created(_)) => self.is_over(now),
            // Of the first write of all, it is the node of the epoch that is gone.
            Ok(Reply::BadVersion | Reply::NoNode) => {
                if let Some((token, _)) = self.writes.front().copied() {
                    self.refused.push_back(token);
                    self.machine.moved(now, token);
                }
                self.is_over(now);
            }
            _ => self.next = now + self.timing().retry,
        }
    }

    /// The first write was made, or refused.
    fn is_over(&mut self, now: Instant) {
        self.writes.pop_front();
        (self.creates, self.next) = (false, now);
    }
}

impl Election for Broker {
    type Peer = Infallible;
    type Request = Call;
    type Reply = Reply;

    fn handle(&mut self, now: Instant, input: Input<Infallible, Reply>) {
        match input {
            Input::Reply(ticket, result) if ticket.number >= HOST => {
                self.answered(now, ticket, result);
            }
            input => self.machine.handle(now, input),
        }
        self.look(now);
    }

    fn poll(&mut self) -> Option<Output<Infallible, Call>> {
        Some(match self.machine.poll() {
            Some(Output::Request(ticket, request)) => Output::Request(ticket, Call::Elect(request)),
            Some(Output::Event(event)) => Output::Event(event),
            Some(Output::Send(_, never)) => match never {},
            None => {
                let (ticket, write) = self.says.pop_front()?;
                Output::Request(ticket, Call::Write(write))
            }
        })
    }

    fn deadline(&self) -> Option<Instant> {
        self.machine.deadline().into_iter().chain(self.due()).min()
    }

    fn grain(&self) -> Duration {
        self.machine.grain()
    }

    fn standing(&self, now: Instant) -> Standing {
        self.machine.standing(now)
    }

    fn fingerprint<H: Hasher>(&self, now: Instant, hasher: &mut H) {
        self.machine.fingerprint(now, hasher);
        (self.writes.len(), self.asked.is_some(), self.creates).hash(hasher);
    }
}

impl Candidate for Broker {
    fn ask(call: Call) -> (usize, StoreAsk) {
        let ask = match call {
            Call::Elect(request) => StoreAsk::Controller(request),
            Call::Write(write) => StoreAsk::Guarded(write),
        };
        (0, ask)
    }

    fn reply(said: StoreSaid) -> Result<Reply, Unknown> {
        match said {
            StoreSaid::ZooKeeper(reply) => Ok(reply),
            _ => Err(Unknown),
        }
    }

    fn belief(&self) -> Duration {
        // Of what was granted: without slack it does not lead.
        self.machine
            .budget()
            .map_or(Duration::ZERO, |budget| budget.belief)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ZooKeeper, nodes, tick_time};
    use super::*;
    use crate::server::Service;
    use tenure::lease::{Claimant, Config, Identity, Rule};

    /// A server, and two brokers whose clocks are its own.
    struct Bench {
        now: Instant,
        server: ZooKeeper,
        brokers: Vec<Broker>,
    }

    impl Bench {
        fn new(off: &[Rule]) -> Self {
            let now = Instant::from_micros(1_000_000);
            let broker = |name: &str| {
                let config = Config::new(Claimant::new(Identity::new(name).unwrap()));
                let boot = Boot {
                    incarnation: 1,
                    seed: 1,
                };
                let config = nodes(KAFKA, config, 1);
                Broker::with_rules(config, boot, now, Switched::without(off)).unwrap()
            };
            Self {
                now,
                server: ZooKeeper::new(tick_time(Timing::default().ttl)),
                brokers: vec![broker("n1"), broker("n2")],
            }
        }

        /// So long passes, in which only these run.
        fn run(&mut self, millis: u64, awake: &[usize]) {
            let end = self.now + Duration::from_millis(millis);
            while self.now < end {
                self.now = self.now + Duration::from_millis(10);
                let now = self.now.as_micros();
                self.server.wake(now);
                for place in awake {
                    let broker = &mut self.brokers[*place];
                    broker.handle(self.now, Input::Timeout);
                    loop {
                        while let Some(output) = broker.poll() {
                            if let Output::Request(ticket, call) = output {
                                let (_, ask) = Broker::ask(call);
                                self.server.ask(now, *place as u16, ticket, &ask);
                            }
                        }
                        // What is for one that does not run is lost.
                        let Some((to, ticket, said)) = self.server.poll() else {
                            break;
                        };
                        if usize::from(to) == *place {
                            broker.handle(self.now, Input::Reply(ticket, Broker::reply(said)));
                        }
                    }
                }
            }
        }

        fn keep(&mut self, place: usize, token: Token, value: u64) {
            self.brokers[place].keep(self.now, token, value);
        }

        fn kept(&self) -> Option<&str> {
            self.server.server.held().data(&state()).map(|data| &**data)
        }

        fn stale(&self) -> bool {
            self.server.stale_write().is_some()
        }
    }

    /// The first was elected and froze, and the second leads since.
    fn overtaken(off: &[Rule]) -> (Bench, [Token; 2]) {
        let mut bench = Bench::new(off);
        bench.run(2_000, &[0]);
        let first = bench.brokers[0].tenure().expect("it leads").token;
        bench.keep(0, first, 7);
        bench.run(100, &[0]);
        assert_eq!((bench.kept(), bench.stale()), (Some("1 7"), false));
        bench.run(20_000, &[1]);
        let second = bench.brokers[1].tenure().expect("it leads").token;
        bench.keep(1, second, 8);
        bench.run(100, &[1]);
        assert_eq!((bench.kept(), bench.stale()), (Some("2 8"), false));
        (bench, [first, second])
    }

    #[test]
    fn what_one_that_was_overtaken_had_to_write_is_refused_by_its_next_session() {
        let (mut bench, [first, second]) = overtaken(&[]);
        let session = bench.brokers[0].session;
        bench.keep(0, first, 9);
        bench.keep(0, first, 10);
        bench.run(2_000, &[0]);
        assert_ne!(bench.brokers[0].session, session);
        assert_eq!((bench.kept(), bench.stale()), (Some("2 8"), false));
        let broker = &mut bench.brokers[0];
        let refused: Vec<_> = std::iter::from_fn(|| broker.poll_refused()).collect();
        assert_eq!(refused, [first, first]);
        bench.keep(1, second, 11);
        bench.run(100, &[1]);
        assert_eq!(bench.kept(), Some("2 11"));
    }

    #[test]
    fn without_its_guard_it_is_taken_and_that_is_seen_at_the_server() {
        let (mut bench, [first, second]) = overtaken(&[Rule::GuardedWrites]);
        bench.keep(0, first, 9);
        bench.run(2_000, &[0]);
        assert_eq!((bench.kept(), bench.stale()), (Some("1 9"), true));
        assert_eq!(bench.brokers[0].poll_refused(), None);
        bench.keep(1, second, 10);
        bench.run(100, &[1]);
        assert_eq!((bench.kept(), bench.stale()), (Some("2 10"), false));
    }
}
