//! The present, as numbers to draw from. The layouts are part of the JavaScript interface.

use super::{Actor, World};
use crate::check::{Check, Outcome};
use crate::node::{Node, Status};
use crate::physics::NEVER;
use crate::physics::clock::Clock;
use crate::physics::trace::Event;
use crate::physics::weather::Weather;
use crate::scenario::{node_name, server_name};
#[cfg(feature = "peers")]
use crate::scheme::particulars::{self, Means, Particulars};
use crate::scheme::{Detail, Machine, RoleCode, Scheme};
use crate::server::{Record, Server};
use tenure::{Election, Instant, Token};

/// How many numbers a node takes.
pub const NODE: usize = 20;
/// How many numbers a message in flight takes.
pub const FLIGHT: usize = 8;
/// How many numbers a resource takes.
pub const RESOURCE: usize = 8;
/// How many numbers a server takes.
pub const SERVER: usize = 18;
/// How many numbers the summary has.
pub const SUMMARY: usize = 13;
/// How many numbers an event takes.
pub const EVENT: usize = 8;

/// What kind an actor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActorKind {
    /// A node of the election.
    Node,
    /// A server of the store by which the nodes elect.
    Server,
    /// A client.
    Client,
    /// A resource, fenced or not.
    Resource {
        /// Whether it keeps a fence.
        fenced: bool,
    },
}

/// Something to show of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Field {
    /// A number that is always small enough to be exact, such as a time or a place.
    Number(u64),
    /// A number of any size, or a word.
    Text(String),
    /// Yes or no.
    Flag(bool),
    /// There is none.
    Nothing,
}

impl World {
    pub(super) fn rafts(&self) -> impl Iterator<Item = (usize, &Node<Machine>)> {
        self.actors
            .iter()
            .enumerate()
            .filter_map(|(place, actor)| match actor {
                Actor::Node(raft) => Some((place, &**raft)),
                _ => None,
            })
    }

    /// The servers of the store by which the nodes elect, in order.
    pub fn servers(&self) -> impl Iterator<Item = &Server> {
        self.actors.iter().filter_map(|actor| match actor {
            Actor::Server(server) => Some(&**server),
            _ => None,
        })
    }

    pub(super) fn status(&self, node: usize) -> Option<Status> {
        match self.actors.get(node)? {
            Actor::Node(raft) => Some(raft.status()),
            Actor::Server(server) => Some(server.status()),
            _ => None,
        }
    }

    /// How many nodes there are.
    #[must_use]
    pub const fn nodes(&self) -> usize {
        self.env.nodes
    }

    /// The node whose election this world hosts, by its place.
    #[must_use]
    pub fn node(&self, node: usize) -> Option<&Node<Machine>> {
        match self.actors.get(node)? {
            Actor::Node(raft) => Some(raft),
            _ => None,
        }
    }

    /// The established leader, and its token: of the running nodes that believe the one with the highest token.
    #[must_use]
    pub fn leader(&self) -> Option<(usize, Token)> {
        let running = self.rafts().filter(|(_, raft)| raft.status() == Status::Up);
        running
            .filter_map(|(node, raft)| raft.leads_at(self.now()).map(|(token, _)| (token, node)))
            .max()
            .map(|(token, node)| (node, token))
    }

    /// How the network behaves.
    #[must_use]
    pub const fn weather(&self) -> Weather {
        self.env.net.weather()
    }

    /// The kinds and names of all actors, in order.
    #[must_use]
    pub fn actors(&self) -> Vec<(ActorKind, String)> {
        let name = |(place, actor): (usize, &Actor)| match actor {
            Actor::Node(_) => (ActorKind::Node, node_name(place as u16)),
            Actor::Server(_) => (
                ActorKind::Server,
                server_name(self.server_letter(), (place - self.env.nodes) as u16),
            ),
            Actor::Client(_) => (ActorKind::Client, "client".to_owned()),
            Actor::Resource(resource) => {
                let name = if resource.fenced() {
                    "fenced"
                } else {
                    "unfenced"
                };
                (
                    ActorKind::Resource {
                        fenced: resource.fenced(),
                    },
                    name.to_owned(),
                )
            }
            // Of whatever kind: clients of the store.
            _ => (
                ActorKind::Client,
                format!("store-client-{}", place - self.env.resource_actor(0) - 1),
            ),
        };
        self.actors.iter().enumerate().map(name).collect()
    }

    /// All nodes, [`NODE`] numbers each.
    pub fn write_nodes(&self, out: &mut Vec<f64>) {
        out.clear();
        for (place, raft) in self.rafts() {
            out.extend_from_slice(&self.node_numbers(place, raft));
        }
    }

    /// All messages in flight, [`FLIGHT`] numbers each.
    pub fn write_flights(&self, out: &mut Vec<f64>) {
        out.clear();
        for flight in self.env.net.flights() {
            out.extend_from_slice(&[
                flight.id as f64,
                f64::from(flight.from),
                f64::from(flight.to),
                f64::from(flight.payload.kind()),
                flight.payload.term().map_or(-1.0, |term| term as f64),
                flight.sent as f64,
                flight.arrives as f64,
                f64::from(flight.fate as u8),
            ]);
        }
    }

    /// All resources, [`RESOURCE`] numbers each.
    pub fn write_resources(&self, out: &mut Vec<f64>) {
        out.clear();
        let resources = self
            .actors
            .iter()
            .enumerate()
            .filter_map(|(place, actor)| match actor {
                Actor::Resource(resource) => Some((place, resource)),
                _ => None,
            });
        for (count, (place, resource)) in resources.enumerate() {
            let stale = self.env.judges.tally(stale_check(count)).broken;
            out.extend_from_slice(&[
                place as f64,
                f64::from(u8::from(resource.fenced())),
                resource.highest().counter as f64,
                resource.last_writer().map_or(-1.0, f64::from),
                resource.accepted() as f64,
                stale as f64,
                resource.refused() as f64,
                resource.value() as f64,
            ]);
        }
    }

    /// All servers, of a store or with data of their own, [`SERVER`] numbers each.
    pub fn write_servers(&self, out: &mut Vec<f64>) {
        out.clear();
        for (count, server) in self.servers().enumerate() {
            let clock = server.clock();
            let records = server.records(self.now());
            let holding = records.first().filter(|record| record.holds);
            let node = holding.and_then(|record| self.named(record.holder.as_deref()?));
            let ends = holding.and_then(|record| record.ends).unwrap_or(NEVER);
            let until = clock.when(Instant::from_micros(ends));
            let up = server.status() == Status::Up;
            let serves = server.serves(self.now());
            let held = serves.map_or(holding.is_some(), |serves| up && serves.writable);
            out.extend_from_slice(&[
                self.env.server_actor(count) as f64,
                f64::from(server.status() as u8),
                f64::from(u8::from(held)),
                node.map_or(-1.0, f64::from),
                holding.map_or(0.0, |record| record.token as f64),
                if until == NEVER { -1.0 } else { until as f64 },
                records.len() as f64,
                clock.ahead(self.now()) as f64,
                f64::from(clock.pace()),
            ]);
            let or_none = |number: Option<u64>| number.map_or(-1.0, |number| number as f64);
            out.extend(serves.map_or([0.0, -1.0, 0.0, 0.0, -1.0], |serves| {
                [
                    f64::from(serves.part as u8),
                    serves.follows.map_or(-1.0, f64::from),
                    serves.end as f64,
                    f64::from(u8::from(serves.linked)),
                    or_none(serves.committed),
                ]
            }));
            #[cfg(feature = "peers")]
            out.extend(self.standing_numbers(count));
            #[cfg(not(feature = "peers"))]
            out.extend([0.0, -1.0, 0.0, -1.0]);
        }
    }

    /// The node of this name.
    fn named(&self, name: &str) -> Option<u16> {
        (0..self.env.nodes as u16).find(|node| node_name(*node) == name)
    }

    /// The directions that are cut: row from, column to, 1 when cut.
    pub fn write_links(&self, out: &mut Vec<u8>) {
        out.clear();
        let nodes = 0..self.env.members();
        let links = nodes
            .clone()
            .flat_map(|from| nodes.clone().map(move |to| (from, to)));
        out.extend(links.map(|(from, to)| u8::from(self.env.net.links.is_cut(from, to))));
    }

    /// The summary, [`SUMMARY`] numbers.
    pub fn write_summary(&self, out: &mut Vec<f64>) {
        out.clear();
        let judges = &self.env.judges;
        let belief = judges.belief();
        let counts = self.counts();
        let leader = self.shown_leader();
        let broken = Check::ALL
            .into_iter()
            .filter(|check| judges.outcome(*check) == Outcome::Broken)
            .count();
        let acknowledged: u64 = self
            .actors
            .iter()
            .map(|actor| match actor {
                Actor::Client(client) => client.acknowledged(),
                #[cfg(feature = "peers")]
                Actor::Customer(customer) => customer.acknowledged(),
                _ => 0,
            })
            .sum();
        out.extend_from_slice(&[
            belief.leaders as f64,
            belief.overlap as f64,
            belief.without_leader as f64,
            judges.tally(Check::StaleWriteUnfenced).broken as f64,
            judges.tally(Check::StaleWriteFenced).broken as f64,
            judges.stale_refused(0) as f64,
            counts.messages as f64,
            counts.candidacies as f64,
            counts.establishments as f64,
            acknowledged as f64,
            broken as f64,
            leader.map_or(-1.0, |(actor, _)| actor as f64),
            leader.map_or(-1.0, |(_, term)| term as f64),
        ]);
    }

    /// Who leads, and in which term: an established leader, or the master that sentinels name.
    fn shown_leader(&self) -> Option<(usize, u64)> {
        #[cfg(feature = "peers")]
        if self.setup.sentinels().is_some() {
            return self.serving_master();
        }
        let (node, token) = self.leader()?;
        Some((node, token.counter))
    }

    /// What is particular to the scheme of the nodes: for each row its node, and then the numbers of the row.
    pub fn write_particulars(&self, out: &mut Vec<f64>) {
        out.clear();
        #[cfg(feature = "peers")]
        for (place, raft) in self.rafts() {
            let Particulars { fields, rows } =
                raft.machine().map(Scheme::particulars).unwrap_or_default();
            for row in rows.chunks_exact(particulars::width(fields).max(1)) {
                out.push(place as f64);
                out.extend_from_slice(row);
            }
        }
    }

    /// The records of the election as a server has them, and when each ends in true time; none of anybody else.
    #[must_use]
    pub fn records(&self, server: usize) -> Vec<(Record, Option<u64>)> {
        let Some(Actor::Server(server)) = self.actors.get(server) else {
            return Vec::new();
        };
        let ends = |record: &Record| {
            let at = server.clock().when(Instant::from_micros(record.ends?));
            (at != NEVER).then_some(at)
        };
        let records = server.records(self.now()).into_iter();
        records
            .map(|record| {
                let ends = ends(&record);
                (record, ends)
            })
            .collect()
    }

    /// Everything about one node, or about a server that keeps data of its own, by name; empty when there is no such.
    #[must_use]
    pub fn inspect(&self, node: usize) -> Vec<(&'static str, Field)> {
        let Some(raft) = self.node(node) else {
            return self.inspect_server(node).unwrap_or_default();
        };
        let mut fields = self.fields(*raft.clock());
        let look = raft.look();
        fields.actor("name", Some(node as u16));
        fields.word("role", role_name(look.role));
        fields.word("status", status_name(raft.status()));
        fields.count("incarnation", Some(raft.lives()));
        fields.count("term", Some(look.term));
        fields.actor("vote", look.vote);
        fields.actor("leader", look.leader);
        let machine = raft.machine();
        let detail = machine.map(Scheme::detail);
        fields.time("deadline", machine.and_then(Election::deadline));
        fields.time("armedAt", detail.map(|detail| detail.armed_at));
        let leads = raft.leads_at(self.now());
        fields.add("believesToLead", Field::Flag(leads.is_some()));
        fields.add(
            "token",
            leads.map_or(Field::Nothing, |(token, _)| Field::Text(token.to_string())),
        );
        let detail = detail.unwrap_or_default();
        fields.time("leaseFrom", detail.lease.map(|(from, _)| from));
        fields.time("leaseUntil", detail.lease.map(|(_, until)| until));
        fields.time("promiseSince", detail.promise.map(|(since, _, _)| since));
        fields.time("promiseUntil", detail.promise.map(|(_, until, _)| until));
        fields.count("promisedTo", detail.promise.and_then(|(_, _, to)| to));
        fields.number("grants", detail.grants as u64);
        fields.count("logTerm", Some(detail.last.0));
        fields.count("logIndex", Some(detail.last.1));
        let durable = raft
            .disk()
            .durable()
            .map(|shelf| Machine::stored(&shelf.stored));
        fields.count("durableTerm", durable.map(|record| record.term));
        fields.actor("durableVote", durable.and_then(|record| record.vote));
        fields.number("writesPending", raft.disk().pending() as u64);
        fields.number("diskWrite", raft.disk().takes.total());
        fields.number("queuedWhilePaused", raft.late() as u64);
        fields.add("serving", Field::Flag(raft.serving()));
        fields.count(
            "refused",
            Some(machine.map_or(0, |machine| machine.refusals().total())),
        );
        #[cfg(feature = "peers")]
        if let Some(machine) = machine {
            fields.particulars(&machine.particulars());
        }
        fields.list
    }

    fn inspect_server(&self, actor: usize) -> Option<Vec<(&'static str, Field)>> {
        let Some(Actor::Server(server)) = self.actors.get(actor) else {
            return None;
        };
        let serves = server.serves(self.now())?;
        #[cfg(feature = "peers")]
        if let Some(broker) = server.broker() {
            return Some(self.inspect_broker(actor, server, broker, serves));
        }
        let mut fields = self.fields(*server.clock());
        fields.actor("name", Some(actor as u16));
        fields.word("part", serves.part.name());
        fields.word("status", status_name(server.status()));
        fields.actor("copies", serves.follows);
        fields.count("end", Some(serves.end));
        fields.add("linked", Field::Flag(serves.linked));
        fields.add("copying", Field::Flag(serves.copying));
        fields.add("writable", Field::Flag(serves.writable));
        fields.number("queuedWhilePaused", server.late() as u64);
        Some(fields.list)
    }

    /// The letter before the number in the name of a server: brokers have one of their own.
    pub(crate) const fn server_letter(&self) -> char {
        #[cfg(feature = "peers")]
        if self.setup.brokers().is_some() {
            return 'b';
        }
        's'
    }

    pub(super) const fn fields(&self, clock: Clock) -> Fields {
        Fields {
            list: Vec::new(),
            clock,
            nodes: self.env.nodes,
            letter: self.server_letter(),
        }
    }

    fn node_numbers(&self, place: usize, raft: &Node<Machine>) -> [f64; NODE] {
        let look = raft.look();
        let machine = raft.machine();
        let detail = machine.map_or_else(Detail::default, Scheme::detail);
        let or_none = |number: Option<u16>| number.map_or(-1.0, f64::from);
        let at = |instant: Instant| match raft.clock().when(instant) {
            NEVER => -1.0,
            at => at as f64,
        };
        let or_never = |instant: Option<Instant>| instant.map_or(-1.0, at);
        let deadline = machine.and_then(Election::deadline);
        [
            place as f64,
            f64::from(look.role as u8),
            f64::from(raft.status() as u8),
            look.term as f64,
            or_none(look.vote),
            or_none(look.leader),
            or_never(deadline),
            or_never(deadline.map(|_| detail.armed_at)),
            or_never(detail.lease.map(|(_, until)| until)),
            or_never(detail.lease.map(|(from, _)| from)),
            or_never(detail.promise.map(|(_, until, _)| until)),
            or_never(detail.promise.map(|(since, _, _)| since)),
            detail
                .promise
                .and_then(|(_, _, to)| to)
                .map_or(-1.0, |term| term as f64),
            detail.pending as f64,
            f64::from(u8::from(raft.leads_at(self.now()).is_some())),
            f64::from(u8::from(raft.froze_leading())),
            detail.grants as f64,
            detail.last.0 as f64,
            detail.last.1 as f64,
            raft.lives() as f64,
        ]
    }
}

/// The fields of an inspected node or server.
pub(super) struct Fields {
    pub(super) list: Vec<(&'static str, Field)>,
    clock: Clock,
    /// After which the servers come.
    nodes: usize,
    /// What they are called by.
    letter: char,
}

impl Fields {
    pub(super) fn add(&mut self, name: &'static str, field: Field) {
        self.list.push((name, field));
    }

    pub(super) fn number(&mut self, name: &'static str, number: u64) {
        self.add(name, Field::Number(number));
    }

    /// A number of any size.
    pub(super) fn count(&mut self, name: &'static str, count: Option<u64>) {
        self.add(
            name,
            count.map_or(Field::Nothing, |count| Field::Text(count.to_string())),
        );
    }

    pub(super) fn word(&mut self, name: &'static str, word: &str) {
        self.add(name, Field::Text(word.to_owned()));
    }

    /// A node or a server.
    pub(super) fn actor(&mut self, name: &'static str, actor: Option<u16>) {
        let called = actor.map(|actor| self.called(actor));
        self.add(name, called.map_or(Field::Nothing, Field::Text));
    }

    pub(super) fn called(&self, actor: u16) -> String {
        match usize::from(actor).checked_sub(self.nodes) {
            Some(server) => server_name(self.letter, server as u16),
            None => node_name(actor),
        }
    }

    /// The first row of what is particular to the scheme.
    #[cfg(feature = "peers")]
    fn particulars(&mut self, particulars: &Particulars) {
        let mut row = particulars.rows.iter().copied();
        let or_none = |number: f64| (number >= 0.0).then_some(number as u64);
        for (name, means) in particulars.fields {
            let Some(number) = row.next() else {
                return;
            };
            match means {
                Means::Count => self.count(name, or_none(number)),
                Means::Actor => self.actor(name, or_none(number).map(|actor| actor as u16)),
                Means::Flag => self.add(name, Field::Flag(number > 0.0)),
                Means::Word(words) => self.word(name, words[number as usize]),
                Means::Entry => {
                    let index = row.next().and_then(or_none);
                    let entry = or_none(number).zip(index);
                    let entry = entry.map(|(epoch, index)| Field::Text(format!("{epoch}.{index}")));
                    self.add(name, entry.unwrap_or(Field::Nothing));
                }
            }
        }
    }

    /// A time on the node's clock.
    fn time(&mut self, name: &'static str, instant: Option<Instant>) {
        let at = instant
            .map(|instant| self.clock.when(instant))
            .filter(|at| *at != NEVER);
        self.add(name, at.map_or(Field::Nothing, Field::Number));
    }
}

/// Spans of true time as pairs of numbers: beginning and end, −1 while it goes on.
pub fn write_spans(spans: &[(u64, u64)], out: &mut Vec<f64>) {
    out.clear();
    for (begin, end) in spans {
        out.push(*begin as f64);
        out.push(if *end == NEVER { -1.0 } else { *end as f64 });
    }
}

/// An event as [`EVENT`] numbers.
#[must_use]
pub fn event_numbers(event: &Event) -> [f64; EVENT] {
    [
        event.at as f64,
        f64::from(event.kind as u8),
        f64::from(event.actor),
        f64::from(event.other),
        event.term as f64,
        event.a as f64,
        event.b as f64,
        event.cause as f64,
    ]
}

const fn stale_check(resource: usize) -> Check {
    if resource == 0 {
        Check::StaleWriteFenced
    } else {
        Check::StaleWriteUnfenced
    }
}

const fn role_name(role: RoleCode) -> &'static str {
    match role {
        RoleCode::Follower => "follower",
        RoleCode::PreCandidate => "pre-candidate",
        RoleCode::Candidate => "candidate",
        RoleCode::Elected => "leader elected",
        RoleCode::Established => "leader established",
        RoleCode::Halted => "halted",
        RoleCode::Looking => "looking",
        RoleCode::Observer => "observer",
    }
}

pub(super) const fn status_name(status: Status) -> &'static str {
    match status {
        Status::Up => "up",
        Status::Paused => "paused",
        Status::Crashed => "crashed",
    }
}
