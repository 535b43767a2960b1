//! A store and some nodes on one clock, without delays, where a test decides which requests and answers come through.

use super::store::{Faults, Model};
use crate::storm::Store;
use tenure::lease::Boot;
use tenure::lease::zookeeper::{Config, Path, Reply, Request, ZooKeeper};
use tenure::{Election, Event, Input, Instant, Leader, Standing, Ticket, Token, Unknown, Why};

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

pub(crate) struct Node {
    pub(crate) machine: ZooKeeper,
    pub(crate) events: Vec<Event>,
    pub(crate) asked: Vec<(Ticket, Request)>,
    /// What becomes of what it asks.
    pub(crate) fate: fn(&Request) -> Fate,
    /// Whether its watches and its handle are silent.
    pub(crate) deaf: bool,
}

pub(crate) struct Desk {
    pub(crate) store: Model,
    pub(crate) nodes: Vec<Node>,
    pub(crate) now: u64,
}

pub(crate) const SECOND: u64 = 1_000_000;

impl Desk {
    pub(crate) fn new(configs: impl IntoIterator<Item = Config>) -> Self {
        let mut desk = Self {
            store: Model::new(0, Faults::None),
            nodes: Vec::new(),
            now: 0,
        };
        for config in configs {
            desk.join(config);
        }
        desk
    }

    /// One more node takes part.
    pub(crate) fn join(&mut self, config: Config) -> usize {
        self.join_with(config, |_| Fate::Answered)
    }

    /// One more node takes part, of whose requests that becomes.
    pub(crate) fn join_with(&mut self, config: Config, fate: fn(&Request) -> Fate) -> usize {
        let boot = Boot {
            incarnation: 1,
            seed: self.nodes.len() as u64,
        };
        let now = Instant::from_micros(self.now);
        self.nodes.push(Node {
            machine: ZooKeeper::new(config, boot, now).unwrap(),
            events: Vec::new(),
            asked: Vec::new(),
            fate,
            deaf: false,
        });
        self.serve();
        self.nodes.len() - 1
    }

    pub(crate) fn feed(&mut self, me: usize, input: Input<core::convert::Infallible, Reply>) {
        let now = Instant::from_micros(self.now);
        self.nodes[me].machine.handle(now, input);
        self.serve();
    }

    /// Until so many seconds have passed.
    pub(crate) fn run(&mut self, seconds: u64) {
        let end = self.now + seconds * SECOND;
        loop {
            let due = |node: &Node| node.machine.deadline().map(Instant::as_micros);
            let nodes = self.nodes.iter().filter_map(due).min();
            let store = <Model as Store<ZooKeeper>>::due(&self.store);
            let next = nodes.into_iter().chain(store).min();
            self.now = next.map_or(end, |next| next.clamp(self.now, end));
            <Model as Store<ZooKeeper>>::wake(&mut self.store, self.now);
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
            while let Some((to, ticket, reply)) = <Model as Store<ZooKeeper>>::poll(&mut self.store)
            {
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
                tenure::Output::Event(event) => self.nodes[me].events.push(event),
                tenure::Output::Request(ticket, request) => {
                    self.nodes[me].asked.push((ticket, request.clone()));
                    match (self.nodes[me].fate)(&request) {
                        Fate::Lost => {}
                        Fate::Refused => {
                            let now = Instant::from_micros(self.now);
                            let reply = Input::Reply(ticket, Ok(Reply::NotDone));
                            self.nodes[me].machine.handle(now, reply);
                        }
                        _ => <Model as Store<ZooKeeper>>::ask(
                            &mut self.store,
                            self.now,
                            me,
                            ticket,
                            request,
                        ),
                    }
                }
                tenure::Output::Send(_, never) => match never {},
            }
        }
        said
    }

    fn answer(&mut self, to: usize, ticket: Ticket, reply: Reply) {
        let now = Instant::from_micros(self.now);
        let node = &mut self.nodes[to];
        let asked = node.asked.iter().rev().find(|(asked, _)| *asked == ticket);
        let fate = asked.map_or(Fate::Answered, |(_, request)| (node.fate)(request));
        let of_handle = asked.is_some_and(|(_, asked)| matches!(asked, Request::Connect { .. }));
        let told = match reply {
            Reply::Connected { .. } => false,
            Reply::Changed(_) => true,
            _ => of_handle,
        };
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

    pub(crate) fn tenure(&self, me: usize) -> Option<tenure::Tenure> {
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
    pub(crate) fn asked(&mut self, me: usize) -> Vec<Request> {
        let asked = std::mem::take(&mut self.nodes[me].asked);
        asked.into_iter().map(|(_, request)| request).collect()
    }

    /// The own node of a node.
    pub(crate) fn own(&self, me: usize) -> Path {
        self.nodes[me].machine.node().expect("it has one").clone()
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
