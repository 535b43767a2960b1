//! A node and an API server without delays, where a test decides which requests and answers come through.

use super::api::Api;
use super::config;
use std::convert::Infallible;
use tenure::lease::kubernetes::{Config, Kubernetes, Record, Reply, Request, Uid};
use tenure::lease::{Boot, Claimant, Identity, Nonce};
use tenure::{Election, Event, Input, Instant, Output, Standing, Ticket, Unknown, Why};

/// A node. Its times are in milliseconds.
pub(crate) struct Desk {
    pub(crate) machine: Kubernetes,
    pub(crate) asked: Vec<(Ticket, Request)>,
    pub(crate) events: Vec<Event>,
}

pub(crate) fn at(millis: u64) -> Instant {
    Instant::from_micros(1_000_000_000 + 1000 * millis)
}

impl Desk {
    /// Who has just begun, and looks.
    pub(crate) fn new(name: &str, seed: u64) -> Self {
        Self::with(config(name), seed, 0)
    }

    pub(crate) fn with(config: Config, seed: u64, now: u64) -> Self {
        let boot = Boot {
            incarnation: 1,
            seed,
        };
        let mut desk = Self {
            machine: Kubernetes::new(config, boot, at(now)).unwrap(),
            asked: Vec::new(),
            events: Vec::new(),
        };
        desk.drain();
        desk
    }

    /// One that was elected at once, at 0.
    pub(crate) fn leading(api: &mut Api) -> Self {
        let mut desk = Self::new("anna", 1);
        desk.answer(0, api);
        desk.answer(0, api);
        assert!(desk.leads(0));
        desk
    }

    fn drain(&mut self) {
        while let Some(output) = self.machine.poll() {
            match output {
                Output::Request(ticket, request) => self.asked.push((ticket, request)),
                Output::Event(event) => self.events.push(event),
                Output::Send(_, never) => match never {},
            }
        }
    }

    pub(crate) fn feed(&mut self, now: u64, input: Input<Infallible, Reply>) {
        self.machine.handle(at(now), input);
        self.drain();
    }

    /// It is told what came of a request.
    pub(crate) fn tell(&mut self, now: u64, ticket: Ticket, result: Result<Reply, Unknown>) {
        self.feed(now, Input::Reply(ticket, result));
    }

    /// The latest request, which nobody answers unless the test does.
    pub(crate) fn take(&mut self) -> (Ticket, Request) {
        self.asked.pop().expect("it asks")
    }

    /// The latest request is carried out and answered.
    pub(crate) fn answer(&mut self, now: u64, api: &mut Api) {
        let (ticket, request) = self.take();
        let reply = api.carry_out(1000 * now, request);
        self.tell(now, ticket, Ok(reply));
    }

    /// Wakes it whenever it wants, without answers, until then.
    pub(crate) fn silence(&mut self, until: u64) {
        while let Some(due) = self.machine.deadline().filter(|due| *due <= at(until)) {
            self.machine.handle(due, Input::Timeout);
            self.drain();
        }
    }

    /// Wakes it whenever it wants until then, and answers as `reply` says.
    pub(crate) fn run(&mut self, until: u64, mut reply: impl FnMut(u64, Request) -> Reply) {
        loop {
            let due = self.machine.deadline().filter(|due| *due <= at(until));
            let Some(due) = due else { break };
            self.machine.handle(due, Input::Timeout);
            self.drain();
            while let Some((ticket, request)) = self.asked.pop() {
                let reply = reply(due.since(at(0)).as_micros(), request);
                self.machine.handle(due, Input::Reply(ticket, Ok(reply)));
                self.drain();
            }
        }
    }

    /// The same where the API server is there.
    pub(crate) fn serve(&mut self, until: u64, api: &mut Api) {
        self.run(until, |now, request| api.carry_out(now, request));
    }

    pub(crate) fn leads(&self, now: u64) -> bool {
        matches!(self.machine.standing(at(now)), Standing::Leading(_))
    }

    /// Why its tenures ended.
    pub(crate) fn deposed(&self) -> Vec<Why> {
        let why = |event: &Event| match event {
            Event::Deposed(_, why) => Some(*why),
            _ => None,
        };
        self.events.iter().filter_map(why).collect()
    }
}

/// What another writes of itself.
pub(crate) fn by_ben(seconds: u32) -> Record {
    Record {
        holder: Some(Claimant::new(Identity::new("ben").unwrap())),
        nonce: Nonce(7),
        seconds,
        transitions: 3,
        acquired: None,
        since: None,
    }
}

/// Another writes itself into the object.
pub(crate) fn taken_by_ben(api: &mut Api) {
    let uid = api.object.as_ref().map_or(Uid(9), |object| object.uid);
    api.write(1, uid, by_ben(15));
}
