//! What a controller makes of a single answer, before any other comes.

use super::{common, config};
use tenure::lease::Boot;
use tenure::lease::zookeeper::controller::{Controller, Request};
use tenure::lease::zookeeper::{Change, Reply, SessionId, Stat};
use tenure::{Duration, Election, Event, Input, Instant, Output, Standing, Ticket, Why};

const SESSION: SessionId = SessionId(7);
const OTHER: SessionId = SessionId(8);

/// One that leads, what it asked and what it told.
struct One {
    machine: Controller,
    now: Instant,
    connected: Ticket,
    watch: Ticket,
    /// What waits for an answer.
    asked: Vec<(Ticket, Request)>,
    events: Vec<Event>,
}

fn stat(owner: SessionId) -> Stat {
    Stat {
        czxid: 9,
        version: 1,
        owner,
    }
}

impl One {
    fn leads() -> Self {
        let boot = Boot {
            incarnation: 1,
            seed: 1,
        };
        let now = Instant::ZERO;
        let none = Ticket {
            incarnation: 0,
            number: 0,
        };
        let mut one = Self {
            machine: Controller::new(config(common("anna")), boot, now).unwrap(),
            now,
            connected: none,
            watch: none,
            asked: Vec::new(),
            events: Vec::new(),
        };
        let mut claimed = false;
        while one.watch == none {
            one.now = one.machine.deadline().unwrap().max(one.now);
            one.take(Input::Timeout);
            while let Some((ticket, request)) = one.asked.pop() {
                let reply = match request {
                    Request::Connect { timeout } => {
                        one.connected = ticket;
                        Reply::Connected {
                            session: SESSION,
                            timeout,
                        }
                    }
                    Request::Data { path, .. } if path.ends_with("epoch") => {
                        Reply::Data("41".into(), stat(SessionId::NONE))
                    }
                    Request::Data { watch, .. } if claimed => {
                        if watch {
                            one.watch = ticket;
                        }
                        Reply::Data("anna".into(), stat(SESSION))
                    }
                    Request::Data { .. } => Reply::NoNode,
                    Request::Claim { .. } => {
                        claimed = true;
                        Reply::Set(stat(SessionId::NONE))
                    }
                    Request::Renew { .. } => Reply::Set(stat(SESSION)),
                    other => panic!("{other:?}"),
                };
                one.take(Input::Reply(ticket, Ok(reply)));
            }
        }
        assert!(one.is_leading());
        one
    }

    fn take(&mut self, input: Input<core::convert::Infallible, Reply>) {
        self.machine.handle(self.now, input);
        while let Some(output) = self.machine.poll() {
            match output {
                Output::Request(ticket, request) => self.asked.push((ticket, request)),
                Output::Event(event) => self.events.push(event),
                Output::Send(_, never) => match never {},
            }
        }
    }

    fn is_leading(&self) -> bool {
        matches!(self.machine.standing(self.now), Standing::Leading(_))
    }

    /// Until it asks for something of this kind, which is not answered.
    fn asks(&mut self, kind: fn(&Request) -> bool) -> Ticket {
        loop {
            if let Some((ticket, _)) = self.asked.iter().find(|(_, request)| kind(request)) {
                return *ticket;
            }
            self.now = self.machine.deadline().unwrap();
            self.take(Input::Timeout);
            assert!(self.is_leading());
        }
    }

    fn is_deposed(&mut self, ticket: Ticket, reply: Reply) {
        self.take(Input::Reply(ticket, Ok(reply)));
        assert!(!self.is_leading());
        assert!(self.machine.guard().is_none());
        let ends = |event: &Event| matches!(event, Event::Deposed(_, Why::Taken));
        assert_eq!(self.events.iter().filter(|event| ends(event)).count(), 1);
    }
}

/// KZ-5: the session is over, or is one that ends sooner than is believed, or another.
#[test]
fn a_session_that_is_not_what_it_was_ends_the_tenure_at_once() {
    let mut one = One::leads();
    one.is_deposed(one.connected, Reply::Expired);
    for (session, timeout) in [(SESSION, 3_000), (OTHER, 60_000)] {
        let mut one = One::leads();
        let timeout = Duration::from_millis(timeout);
        one.is_deposed(one.connected, Reply::Connected { session, timeout });
    }
}

/// KZ-5, KZ-F1: the node is gone, or another's, whichever answer says it first.
#[test]
fn a_node_that_is_not_the_own_one_ends_the_tenure_at_once() {
    let mut one = One::leads();
    one.is_deposed(one.watch, Reply::Changed(Change::Deleted));
    for reply in [Reply::Set(stat(OTHER)), Reply::BadVersion, Reply::NoNode] {
        let mut one = One::leads();
        let renews = one.asks(|request| matches!(request, Request::Renew { .. }));
        one.is_deposed(renews, reply);
    }
    for reply in [Reply::Data("ben".into(), stat(OTHER)), Reply::NoNode] {
        let mut one = One::leads();
        let looks = one.asks(|request| matches!(request, Request::Data { .. }));
        one.is_deposed(looks, reply);
    }
}
