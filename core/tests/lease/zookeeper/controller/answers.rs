//! What a controller makes of a single answer, before any other comes.

use super::{common, config};
use tenure::lease::zookeeper::controller::{Controller, Request};
use tenure::lease::zookeeper::{Change, Reply, SessionId, Stat};
use tenure::lease::{Boot, Identity};
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

/// `/controller` and its epoch are two reads, and between them another may be elected: the name of one never goes with the epoch
/// of the other (KAFKA-1096 is the same of the own).
#[test]
fn the_epoch_that_is_read_is_of_whoever_was_there_before_and_after() {
    let boot = Boot {
        incarnation: 1,
        seed: 1,
    };
    let mut machine = Controller::new(config(common("anna")), boot, Instant::ZERO).unwrap();
    let (mut now, mut followed, mut reads) = (Instant::ZERO, Vec::new(), 0);
    // The node, and the epoch, as each read finds them: ben is elected in 6, and then carla in 7.
    let nodes = [("ben", 20), ("carla", 30), ("carla", 30), ("carla", 30)];
    let mut nodes = nodes.into_iter();
    while nodes.len() > 0 {
        now = machine.deadline().unwrap().max(now);
        machine.handle(now, Input::Timeout);
        while let Some(output) = machine.poll() {
            let (ticket, request) = match output {
                Output::Request(ticket, request) => (ticket, request),
                Output::Event(Event::Following(Some(leader))) => {
                    followed.push((leader.node, leader.token.counter));
                    continue;
                }
                _ => continue,
            };
            let reply = match request {
                Request::Connect { timeout } => Reply::Connected {
                    session: SESSION,
                    timeout,
                },
                Request::Data { path, .. } if path.ends_with("epoch") => {
                    reads += 1;
                    Reply::Data("7".into(), stat(SessionId::NONE))
                }
                Request::Data { .. } => {
                    let (name, czxid) = nodes.next().unwrap();
                    let stat = Stat {
                        czxid,
                        ..stat(OTHER)
                    };
                    Reply::Data(name.into(), stat)
                }
                other => panic!("{other:?}"),
            };
            machine.handle(now, Input::Reply(ticket, Ok(reply)));
        }
    }
    let carla = Identity::new("carla").unwrap().node();
    assert_eq!(followed, [(carla, 7)]);
    // What is known of a node is not read again.
    assert_eq!(reads, 2);
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
