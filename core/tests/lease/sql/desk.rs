//! A database and some nodes, without delays, where a test decides which requests and answers come through, and what each
//! clock shows.

use crate::storm::Store;
use std::convert::Infallible;
use tenure::lease::{Boot, Config};
use tenure::{
    Election, Event, Input, Instant, Output, Standing, Tenure, Ticket, Token, Unknown, Why,
};

pub(crate) const SECOND: u64 = 1_000_000;

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Answered,
    /// It never reaches the database.
    Lost,
    /// It is carried out, and nobody says so.
    Unanswered,
    /// It is carried out, and the answer says that this is not known.
    Doubtful,
}

pub(crate) struct Node<M: Election> {
    pub(crate) machine: M,
    pub(crate) events: Vec<Event>,
    pub(crate) asked: Vec<(Ticket, M::Request)>,
    pub(crate) fate: fn(&M::Request) -> Fate,
    /// How far its clock is ahead of the desk's.
    ahead: u64,
}

pub(crate) struct Desk<M: Election, S> {
    pub(crate) store: S,
    pub(crate) nodes: Vec<Node<M>>,
    pub(crate) now: u64,
}

impl<M: Election<Peer = Infallible, Request: Clone>, S: Store<M>> Desk<M, S> {
    /// Nodes with these configurations; those before each are served first.
    pub(crate) fn new(store: S, boot: fn(Config, Boot, Instant) -> M, configs: &[Config]) -> Self {
        let mut desk = Self {
            store,
            nodes: Vec::new(),
            now: 0,
        };
        for config in configs {
            // An hour between one clock and the next.
            let ahead = desk.nodes.len() as u64 * 3_600 * SECOND;
            let seed = Boot {
                incarnation: 1,
                seed: desk.nodes.len() as u64,
            };
            let machine = boot(config.clone(), seed, Instant::from_micros(ahead));
            desk.nodes.push(Node {
                machine,
                events: Vec::new(),
                asked: Vec::new(),
                fate: |_| Fate::Answered,
                ahead,
            });
            desk.serve();
        }
        desk
    }

    pub(crate) fn time(&self, me: usize) -> Instant {
        Instant::from_micros(self.now + self.nodes[me].ahead)
    }

    pub(crate) fn feed(&mut self, me: usize, input: Input<Infallible, M::Reply>) {
        let now = self.time(me);
        self.nodes[me].machine.handle(now, input);
        self.serve();
    }

    /// Until so many seconds have passed.
    pub(crate) fn run(&mut self, seconds: u64) {
        self.run_until(self.now + seconds * SECOND);
    }

    pub(crate) fn run_until(&mut self, end: u64) {
        loop {
            let due = |node: &Node<M>| Some(node.machine.deadline()?.as_micros() - node.ahead);
            let nodes = self.nodes.iter().filter_map(due).min();
            let next = nodes.into_iter().chain(self.store.due()).min();
            self.now = next.map_or(end, |next| next.clamp(self.now, end));
            self.store.wake(self.now);
            for me in 0..self.nodes.len() {
                let now = self.time(me);
                self.nodes[me].machine.handle(now, Input::Timeout);
            }
            self.serve();
            if self.now == end {
                return;
            }
        }
    }

    fn serve(&mut self) {
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
                    if (self.nodes[me].fate)(&request) != Fate::Lost {
                        self.store.ask(self.now, me, ticket, request);
                    }
                }
                Output::Send(_, never) => match never {},
            }
        }
        said
    }

    fn answer(&mut self, to: usize, ticket: Ticket, reply: M::Reply) {
        let now = self.time(to);
        let node = &mut self.nodes[to];
        let asked = node.asked.iter().find(|(asked, _)| *asked == ticket);
        match asked.map_or(Fate::Answered, |(_, request)| (node.fate)(request)) {
            Fate::Answered => node.machine.handle(now, Input::Reply(ticket, Ok(reply))),
            Fate::Doubtful => node.machine.handle(now, Input::Reply(ticket, Err(Unknown))),
            Fate::Lost | Fate::Unanswered => {}
        }
    }

    /// Who leads.
    pub(crate) fn leaders(&self) -> Vec<usize> {
        let leads = |me: &usize| self.tenure(*me).is_some();
        (0..self.nodes.len()).filter(leads).collect()
    }

    pub(crate) fn tenure(&self, me: usize) -> Option<Tenure> {
        match self.nodes[me].machine.standing(self.time(me)) {
            Standing::Leading(tenure) => Some(tenure),
            _ => None,
        }
    }

    /// When, on the desk's clock, a tenure is over.
    pub(crate) fn until(&self, me: usize) -> u64 {
        let tenure = self.tenure(me).expect("it leads");
        tenure.until.as_micros() - self.nodes[me].ahead
    }

    /// What a node asked since the last time.
    pub(crate) fn asked(&mut self, me: usize) -> Vec<M::Request> {
        let asked = std::mem::take(&mut self.nodes[me].asked);
        asked.into_iter().map(|(_, request)| request).collect()
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
