//! A store that tells things by itself and some nodes on one clock, without delays, where a test decides which requests and
//! answers come through.

use crate::storm::Store;
use std::convert::Infallible;
use tenure::lease::Boot;
use tenure::{
    Election, Event, Input, Instant, Leader, Output, Standing, Tenure, Ticket, Token, Unknown, Why,
};

/// A machine, by what it takes part, and its store.
pub(crate) trait Subject: Election<Peer = Infallible> {
    type Config;
    type Model: Store<Self>;
    /// That nothing was done.
    const NOT_DONE: Self::Reply;

    fn model() -> Self::Model;
    fn boot(config: Self::Config, boot: Boot, now: Instant) -> Self;

    /// Whether that is told by itself, by a watch or a handle, under the ticket of this request.
    fn is_told(reply: &Self::Reply, asked: Option<&Self::Request>) -> bool;
}

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Answered,
    /// It never reaches the store.
    Lost,
    /// It is carried out, and nobody says so.
    Unanswered,
    /// It is carried out, and the answer says that this is not known.
    Doubtful,
    /// It is not carried out, and the answer says so.
    Refused,
}

pub(crate) struct Node<M: Election> {
    pub(crate) machine: M,
    pub(crate) events: Vec<Event>,
    pub(crate) asked: Vec<(Ticket, M::Request)>,
    /// What becomes of what it asks.
    pub(crate) fate: fn(&M::Request) -> Fate,
    /// Whether its watches and its handle are silent.
    pub(crate) deaf: bool,
}

pub(crate) struct Desk<M: Subject> {
    pub(crate) store: M::Model,
    pub(crate) nodes: Vec<Node<M>>,
    pub(crate) now: u64,
}

pub(crate) const SECOND: u64 = 1_000_000;

impl<M: Subject> Desk<M> {
    pub(crate) fn new(configs: impl IntoIterator<Item = M::Config>) -> Self {
        let mut desk = Self {
            store: M::model(),
            nodes: Vec::new(),
            now: 0,
        };
        for config in configs {
            desk.join(config);
        }
        desk
    }

    /// One more node takes part, and those before it are served first.
    pub(crate) fn join(&mut self, config: M::Config) -> usize {
        self.join_with(config, |_| Fate::Answered)
    }

    /// One more node takes part, of whose requests that becomes.
    pub(crate) fn join_with(&mut self, config: M::Config, fate: fn(&M::Request) -> Fate) -> usize {
        let boot = Boot {
            incarnation: 1,
            seed: self.nodes.len() as u64,
        };
        let now = Instant::from_micros(self.now);
        self.admit_with(M::boot(config, boot, now), fate)
    }

    pub(crate) fn admit(&mut self, machine: M) -> usize {
        self.admit_with(machine, |_| Fate::Answered)
    }

    pub(crate) fn admit_with(&mut self, machine: M, fate: fn(&M::Request) -> Fate) -> usize {
        self.nodes.push(Node {
            machine,
            events: Vec::new(),
            asked: Vec::new(),
            fate,
            deaf: false,
        });
        self.serve();
        self.nodes.len() - 1
    }

    pub(crate) fn feed(&mut self, me: usize, input: Input<Infallible, M::Reply>) {
        let now = Instant::from_micros(self.now);
        self.nodes[me].machine.handle(now, input);
        self.serve();
    }

    /// Until so many seconds have passed.
    pub(crate) fn run(&mut self, seconds: u64) {
        let end = self.now + seconds * SECOND;
        loop {
            let due = |node: &Node<M>| node.machine.deadline().map(Instant::as_micros);
            let nodes = self.nodes.iter().filter_map(due).min();
            let store = self.store.due();
            let next = nodes.into_iter().chain(store).min();
            self.now = next.map_or(end, |next| next.clamp(self.now, end));
            self.store.wake(self.now);
            for me in 0..self.nodes.len() {
                let now = Instant::from_micros(self.now);
                self.nodes[me].machine.handle(now, Input::Timeout);
            }
            self.serve();
            if self.now == end {
                return;
            }
        }
    }

    pub(crate) fn serve(&mut self) {
        loop {
            let mut quiet = true;
            for me in 0..self.nodes.len() {
                quiet &= !self.drain(me);
            }
            while let Some((to, ticket, reply)) = self.store.poll() {
                self.answer(to, ticket, reply);
                quiet = false;
            }
            if quiet {
                return;
            }
        }
    }

    fn drain(&mut self, me: usize) -> bool {
        let mut said = false;
        while let Some(output) = self.nodes[me].machine.poll() {
            said = true;
            match output {
                Output::Event(event) => self.nodes[me].events.push(event),
                Output::Request(ticket, request) => {
                    self.nodes[me].asked.push((ticket, request.clone()));
                    match (self.nodes[me].fate)(&request) {
                        Fate::Lost => {}
                        Fate::Refused => {
                            let now = Instant::from_micros(self.now);
                            let reply = Input::Reply(ticket, Ok(M::NOT_DONE));
                            self.nodes[me].machine.handle(now, reply);
                        }
                        _ => self.store.ask(self.now, me, ticket, request),
                    }
                }
                Output::Send(_, never) => match never {},
            }
        }
        said
    }

    fn answer(&mut self, to: usize, ticket: Ticket, reply: M::Reply) {
        let now = Instant::from_micros(self.now);
        let node = &mut self.nodes[to];
        let asked = node.asked.iter().rev().find(|(asked, _)| *asked == ticket);
        let fate = asked.map_or(Fate::Answered, |(_, request)| (node.fate)(request));
        let told = M::is_told(&reply, asked.map(|(_, asked)| asked));
        match fate {
            _ if told && node.deaf => {}
            Fate::Lost | Fate::Unanswered => {}
            Fate::Doubtful => node.machine.handle(now, Input::Reply(ticket, Err(Unknown))),
            _ => node.machine.handle(now, Input::Reply(ticket, Ok(reply))),
        }
    }

    /// Who leads.
    pub(crate) fn leaders(&self) -> Vec<usize> {
        let leads = |me: &usize| self.tenure(*me).is_some();
        (0..self.nodes.len()).filter(leads).collect()
    }

    pub(crate) fn tenure(&self, me: usize) -> Option<Tenure> {
        let now = Instant::from_micros(self.now);
        match self.nodes[me].machine.standing(now) {
            Standing::Leading(tenure) => Some(tenure),
            _ => None,
        }
    }

    pub(crate) fn follows(&self, me: usize) -> Option<Leader> {
        match self.nodes[me]
            .machine
            .standing(Instant::from_micros(self.now))
        {
            Standing::Following(leader) => Some(leader),
            _ => None,
        }
    }

    /// What a node asked since the last time.
    pub(crate) fn asked(&mut self, me: usize) -> Vec<M::Request> {
        let asked = std::mem::take(&mut self.nodes[me].asked);
        asked.into_iter().map(|(_, request)| request).collect()
    }

    /// Whether a node was ever elected.
    pub(crate) fn was_elected(&self, me: usize) -> bool {
        let elected = |event: &Event| matches!(event, Event::Elected(_));
        self.nodes[me].events.iter().any(elected)
    }

    /// Of which tokens a node's terms ended, and why.
    pub(crate) fn ends(&self, me: usize) -> Vec<(Token, Why)> {
        let ended = |event: &Event| match event {
            Event::Deposed(token, why) => Some((*token, *why)),
            _ => None,
        };
        self.nodes[me].events.iter().filter_map(ended).collect()
    }
}
