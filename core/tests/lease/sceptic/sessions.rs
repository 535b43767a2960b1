//! Sessions of ZooKeeper that began before they were heard of, and writes of which no answer came.

use std::collections::VecDeque;
use tenure::lease::zookeeper::{Config, Path, Reply, Request, SessionId, Stat, ZooKeeper};
use tenure::lease::{Boot, Claimant, Identity};
use tenure::{Duration, Election, Input, Instant, Output, Standing, Ticket};

const SECOND: u64 = 1_000_000;
const SESSION: SessionId = SessionId(7);

fn at(micros: u64) -> Instant {
    Instant::from_micros(micros)
}

fn config() -> Config {
    Config::new("/elect", Claimant::new(Identity::new("anna").unwrap()))
}

/// A node that is alone, and an ensemble with its one node, which answers at once.
struct Alone {
    machine: ZooKeeper,
    /// Handles that were asked for, and when.
    connects: Vec<(u64, Ticket)>,
    own: Option<(Path, Stat)>,
    /// When a write of it was carried out last.
    written: u64,
    /// From when on until when writes are lost: carried out, or not even that.
    lost: (u64, u64, bool),
}

impl Alone {
    fn new(seed: u64) -> Self {
        let boot = Boot {
            incarnation: 1,
            seed,
        };
        let mut alone = Self {
            machine: ZooKeeper::new(config(), boot, at(0)).unwrap(),
            connects: Vec::new(),
            own: None,
            written: 0,
            lost: (u64::MAX, 0, false),
        };
        alone.serve(0);
        alone
    }

    fn connected(&mut self, now: u64) {
        let (_, ticket) = *self.connects.last().expect("it asked for a handle");
        let connected = Reply::Connected {
            session: SESSION,
            timeout: Duration::from_secs(9),
        };
        self.machine
            .handle(at(now), Input::Reply(ticket, Ok(connected)));
        self.serve(now);
    }

    fn run(&mut self, until: u64) {
        while let Some(due) = self.machine.deadline().filter(|due| *due <= at(until)) {
            self.machine.handle(due, Input::Timeout);
            self.serve(due.as_micros());
        }
    }

    fn serve(&mut self, now: u64) {
        let mut asked = VecDeque::new();
        loop {
            while let Some(output) = self.machine.poll() {
                if let Output::Request(ticket, request) = output {
                    asked.push_back((ticket, request));
                }
            }
            let Some((ticket, request)) = asked.pop_front() else {
                return;
            };
            if let Request::Connect { .. } = request {
                self.connects.push((now, ticket));
            } else if let Some(reply) = self.carry_out(now, request) {
                self.machine
                    .handle(at(now), Input::Reply(ticket, Ok(reply)));
            }
        }
    }

    fn carry_out(&mut self, now: u64, request: Request) -> Option<Reply> {
        let (from, until, done) = self.lost;
        let lost = (from..until).contains(&now);
        if lost && !done {
            return None;
        }
        let reply = match (request, &mut self.own) {
            (Request::Create { path, .. }, own) => {
                let path: Path = format!("{path}0000000001").into();
                let stat = Stat {
                    czxid: 5,
                    version: 0,
                    owner: SESSION,
                };
                *own = Some((path.clone(), stat));
                Reply::Created(path)
            }
            (Request::Children { .. }, own) => {
                let name = |(path, _): &(Path, Stat)| path["/elect/".len()..].into();
                Reply::Children(own.as_ref().map(name).into_iter().collect())
            }
            (Request::Data { .. }, Some((_, stat))) => Reply::Data("anna".into(), *stat),
            (Request::SetData { version, .. }, Some((_, stat))) if version == stat.version => {
                stat.version += 1;
                self.written = now;
                Reply::Set(*stat)
            }
            (Request::SetData { .. }, Some(_)) => Reply::BadVersion,
            (request, _) => panic!("{request:?}"),
        };
        (!lost).then_some(reply)
    }

    fn until(&self, now: u64) -> Option<u64> {
        match self.machine.standing(at(now)) {
            Standing::Leading(tenure) => Some(tenure.until.as_micros()),
            _ => None,
        }
    }
}

/// The handle is kept that does not answer, and answers under the ticket of whoever asked last. Its session was begun after
/// the first had asked, and may be over a session after that: the server that tells of it dies, and tells ZooKeeper's leader
/// nothing of what was asked by it.
#[test]
fn a_session_counts_from_when_it_was_asked_for_first() {
    let belief = config().budget().unwrap().belief.as_micros();
    for seed in 0..100 {
        for slow in [
            SECOND,
            2 * SECOND,
            4 * SECOND,
            7 * SECOND,
            60 * SECOND,
            300 * SECOND,
        ] {
            let mut anna = Alone::new(seed);
            anna.run(slow);
            anna.connected(slow);
            let until = anna.until(slow).unwrap_or(0);
            assert!(until <= belief, "{seed}: {until} after {slow}");
            // It leads once two writes have gone through that are far enough apart.
            anna.run(slow + 7 * SECOND);
            assert!(anna.until(slow + 7 * SECOND).is_some(), "{seed}: {slow}");
        }
    }
}
