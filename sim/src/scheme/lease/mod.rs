//! Elections by a store in the world: a machine of any of the schemes, and what it asks of its store.
//!
//! To add a scheme: a variant of each enum here, and a file beside this one that says what its store is asked and answers.

mod etcd;
mod redis;
mod sql;

pub(crate) use redis::Redis;

use super::{Answer, Ask, Detail, Look, RoleCode};
use crate::scenario::node_name;
use crate::server::Kept;
use crate::store::etcd::Etcd;
use crate::store::sql::Database;
use std::hash::Hasher;
use std::sync::Arc;
use tenure::fence::Holder;
use tenure::lease::{
    Boot, BudgetError, Claimant, Config, Identity, Refusal, Refusals, Switched, Timing,
};
use tenure::lease::{
    etcd as core_etcd, redis as core_redis, redlock as core_redlock, sql as core_sql,
};
use tenure::raft::{Message, Write};
use tenure::{Duration, Election, Event, Input, Instant, Leader, NodeId, Output, Standing, Tenure};

/// By what the nodes elect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A row in a database.
    Sql = 0,
    /// A queue of candidates in etcd.
    Etcd = 1,
    /// A key of one Redis server.
    Redis = 2,
    /// A key on each of several Redis servers.
    Redlock = 3,
    /// One key in etcd, which whoever creates it holds.
    EtcdSingle = 4,
    /// The same, as Milvus's coordinators have it.
    Milvus = 5,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Sql,
        Self::Etcd,
        Self::Redis,
        Self::Redlock,
        Self::EtcdSingle,
        Self::Milvus,
    ];

    /// Its name in files and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sql => "sql",
            Self::Etcd => "etcd",
            Self::Redis => "redis",
            Self::Redlock => "redlock",
            Self::EtcdSingle => "etcd-single",
            Self::Milvus => "milvus",
        }
    }

    /// How many servers its store has, where that is not said.
    #[must_use]
    pub const fn servers(self) -> u8 {
        match self {
            Self::Redlock => 5,
            _ => 1,
        }
    }

    /// How many it may have.
    #[must_use]
    pub const fn most_servers(self) -> u8 {
        match self {
            Self::Redlock => core_redlock::MAX_SERVERS,
            _ => 1,
        }
    }

    /// How long things take where a file says no more than the ttl, or not even that.
    #[must_use]
    pub fn timing(self, ttl: Option<Duration>) -> Timing {
        match (self, ttl) {
            (Self::Milvus, None) => milvus(Claimant::new(identity(0))).common.timing,
            (Self::Redlock, ttl) => {
                core_redlock::Config::timing(ttl.unwrap_or(Timing::default().ttl))
            }
            (_, ttl) => ttl.map_or_else(Timing::default, Timing::of),
        }
    }

    /// Whether each term has a token, by which a resource can tell the newest leader.
    #[must_use]
    pub const fn has_tokens(self) -> bool {
        !matches!(self, Self::Redlock)
    }
}

/// What a store is asked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum StoreAsk {
    /// A statement.
    Sql(core_sql::Request),
    /// A call.
    Etcd(core_etcd::Request),
    /// A script.
    Redis(core_redis::Request),
    /// A script, of one of several servers.
    Redlock(core_redlock::Command),
}

/// What a store says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum StoreSaid {
    /// What came of a statement.
    Sql(core_sql::Reply),
    /// What came of a call, or what a watch tells.
    Etcd(core_etcd::Reply),
    /// What came of a script.
    Redis(core_redis::Reply),
    /// What came of a script at one of several servers.
    Redlock(core_redlock::Reply),
}

/// What the nodes of one election are built from. They are 0 to `nodes − 1`.
#[derive(Clone, Debug)]
pub struct Setup {
    /// By what they elect.
    pub kind: Kind,
    /// How long things take.
    pub timing: Timing,
    /// How long a request is under way at most, as the budget counts.
    pub latency: Duration,
    /// The rules that are on.
    pub rules: Switched,
    /// How many servers the store has.
    pub servers: u8,
    /// The seed of every draw.
    pub seed: u64,
    /// Their names.
    pub names: Arc<[Identity]>,
}

/// What a node is called in the records of a store.
pub(crate) fn identity(node: u16) -> Identity {
    Identity::new(&node_name(node)).expect("a letter and a number")
}

/// One of two of Milvus's coordinators.
fn milvus(claimant: Claimant) -> core_etcd::Config {
    core_etcd::Config::milvus("by-dev", "rootcoord", claimant)
}

/// How a candidate takes part by keys in etcd.
fn keys(kind: Kind, common: Config) -> core_etcd::Config {
    let mode = match kind {
        Kind::Milvus => milvus(common.claimant.clone()).mode,
        Kind::EtcdSingle => core_etcd::Mode::Single(etcd::PREFIX.into()),
        _ => core_etcd::Mode::queue(etcd::PREFIX),
    };
    core_etcd::Config { common, mode }
}

/// How a candidate takes part over several servers.
const fn several(common: Config, servers: u8) -> core_redlock::Config {
    core_redlock::Config { common, servers }
}

impl Setup {
    /// Whether machines can be built from it: without, none of them starts.
    ///
    /// # Errors
    /// What leaves no slack.
    pub fn check(&self) -> Result<(), BudgetError> {
        let config = Config {
            timing: self.timing,
            latency: self.latency,
            ..Config::new(Claimant::new(identity(0)))
        };
        match self.kind {
            Kind::Sql | Kind::Redis => config.budget().map(drop),
            Kind::Redlock => several(config, self.servers).budget().map(drop),
            Kind::Etcd | Kind::EtcdSingle | Kind::Milvus => {
                keys(self.kind, config).budget().map(drop)
            }
        }
    }

    /// The servers of the store.
    pub(super) fn servers(&self) -> Vec<Kept> {
        match self.kind {
            Kind::Sql => vec![Kept::Sql(Database::default())],
            Kind::Etcd | Kind::EtcdSingle | Kind::Milvus => vec![Kept::Etcd(Etcd::default())],
            Kind::Redis => vec![Kept::Redis(Box::new(Redis::new(1)))],
            Kind::Redlock => (0..self.servers)
                .map(|_| Kept::Redis(Box::new(Redis::new(0))))
                .collect(),
        }
    }

    /// Starts a life of node `node`.
    pub(super) fn boot(&self, node: usize, life: u64, now: Instant) -> Option<Machine> {
        let config = Config {
            timing: self.timing,
            latency: self.latency,
            ..Config::new(Claimant::new(self.names.get(node)?.clone()))
        };
        let boot = Boot {
            incarnation: life,
            // Two that have one name must not draw alike.
            seed: self.seed ^ (node as u64) << 48,
        };
        let scheme = match self.kind {
            Kind::Sql => {
                AnyScheme::Sql(core_sql::Sql::with_rules(config, boot, now, self.rules).ok()?)
            }
            Kind::Etcd | Kind::EtcdSingle | Kind::Milvus => {
                let config = keys(self.kind, config);
                AnyScheme::Etcd(core_etcd::Etcd::with_rules(config, boot, now, self.rules).ok()?)
            }
            Kind::Redis => {
                AnyScheme::Redis(core_redis::Redis::with_rules(config, boot, now, self.rules).ok()?)
            }
            Kind::Redlock => {
                let config = several(config, self.servers);
                AnyScheme::Redlock(
                    core_redlock::Redlock::with_rules(config, boot, now, self.rules).ok()?,
                )
            }
        };
        Some(Machine {
            scheme,
            names: self.names.clone(),
            holder: Holder {
                node: self.names[node].node(),
                incarnation: life,
            },
        })
    }
}

/// A machine of one of the schemes, whose nodes are known by their places.
#[derive(Clone, Debug)]
pub struct Machine {
    scheme: AnyScheme,
    names: Arc<[Identity]>,
    holder: Holder,
}

#[derive(Clone, Debug)]
enum AnyScheme {
    Sql(core_sql::Sql<Switched>),
    Etcd(core_etcd::Etcd<Switched>),
    Redis(core_redis::Redis<Switched>),
    Redlock(core_redlock::Redlock<Switched>),
}

/// Does the same with a machine of any of the schemes.
macro_rules! each {
    ($machine:expr, $scheme:ident => $then:expr) => {
        match $machine {
            AnyScheme::Sql($scheme) => $then,
            AnyScheme::Etcd($scheme) => $then,
            AnyScheme::Redis($scheme) => $then,
            AnyScheme::Redlock($scheme) => $then,
        }
    };
}

impl Machine {
    pub(super) fn handle(&mut self, now: Instant, input: Input<Message, Answer>) {
        let (ticket, result) = match input {
            // They have no peers.
            Input::Peer(..) => return,
            Input::Reply(ticket, result) => (ticket, result),
            Input::Campaign => {
                return each!(&mut self.scheme, scheme => scheme.handle(now, Input::Campaign));
            }
            Input::Resign { to } => {
                return each!(&mut self.scheme, scheme => scheme.handle(now, Input::Resign { to }));
            }
            Input::Timeout => {
                return each!(&mut self.scheme, scheme => scheme.handle(now, Input::Timeout));
            }
        };
        match (&mut self.scheme, result) {
            (AnyScheme::Sql(machine), Ok(Answer::Store(StoreSaid::Sql(reply)))) => {
                machine.handle(now, Input::Reply(ticket, Ok(reply)));
            }
            (AnyScheme::Etcd(machine), Ok(Answer::Store(StoreSaid::Etcd(reply)))) => {
                machine.handle(now, Input::Reply(ticket, Ok(reply)));
            }
            (AnyScheme::Redis(machine), Ok(Answer::Store(StoreSaid::Redis(reply)))) => {
                machine.handle(now, Input::Reply(ticket, Ok(reply)));
            }
            (AnyScheme::Redlock(machine), Ok(Answer::Store(StoreSaid::Redlock(reply)))) => {
                machine.handle(now, Input::Reply(ticket, Ok(reply)));
            }
            (scheme, _) => {
                each!(scheme, scheme => scheme.handle(now, Input::Reply(ticket, Err(tenure::Unknown))));
            }
        }
    }

    pub(super) fn poll(&mut self) -> Option<Output<Message, Ask<Write>>> {
        let mut server = 0;
        let (ticket, ask) = match &mut self.scheme {
            AnyScheme::Sql(machine) => match machine.poll()? {
                Output::Request(ticket, request) => (ticket, StoreAsk::Sql(request)),
                Output::Event(event) => return Some(Output::Event(self.placed(event))),
                Output::Send(_, never) => match never {},
            },
            AnyScheme::Etcd(machine) => match machine.poll()? {
                Output::Request(ticket, request) => (ticket, StoreAsk::Etcd(request)),
                Output::Event(event) => return Some(Output::Event(self.placed(event))),
                Output::Send(_, never) => match never {},
            },
            AnyScheme::Redis(machine) => match machine.poll()? {
                Output::Request(ticket, request) => (ticket, StoreAsk::Redis(request)),
                Output::Event(event) => return Some(Output::Event(self.placed(event))),
                Output::Send(_, never) => match never {},
            },
            AnyScheme::Redlock(machine) => match machine.poll()? {
                Output::Request(ticket, request) => {
                    server = usize::from(request.server);
                    (ticket, StoreAsk::Redlock(request.command))
                }
                Output::Event(event) => return Some(Output::Event(self.placed(event))),
                Output::Send(_, never) => match never {},
            },
        };
        Some(Output::Request(ticket, Ask::Store(server, ask)))
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        each!(&self.scheme, scheme => scheme.deadline())
    }

    pub(super) fn grain(&self) -> Duration {
        each!(&self.scheme, scheme => scheme.grain())
    }

    pub(super) fn standing(&self, now: Instant) -> Standing {
        match each!(&self.scheme, scheme => scheme.standing(now)) {
            Standing::Following(leader) => Standing::Following(self.leader_placed(leader)),
            // Without the rule that ends it by the clock a belief has no end that is known beforehand.
            Standing::Leading(tenure) if self.believes_at(tenure.until) => {
                Standing::Leading(Tenure {
                    until: Instant::FOREVER,
                    ..tenure
                })
            }
            standing => standing,
        }
    }

    fn believes_at(&self, at: Instant) -> bool {
        let standing = each!(&self.scheme, scheme => scheme.standing(at));
        matches!(standing, Standing::Leading(_))
    }

    pub(super) fn fingerprint<H: Hasher>(&self, now: Instant, hasher: &mut H) {
        each!(&self.scheme, scheme => scheme.fingerprint(now, hasher));
    }

    pub(super) fn look(&self) -> Look {
        let tenure = self.tenure();
        let leader = each!(&self.scheme, scheme => scheme.leader());
        Look {
            role: if tenure.is_some() {
                RoleCode::Established
            } else {
                RoleCode::Follower
            },
            term: tenure
                .map(|tenure| tenure.token)
                .or(leader.map(|leader| leader.token))
                .map_or(0, |token| token.counter),
            vote: None,
            leader: leader.map(|leader| self.leader_placed(leader).node.0 as u16),
        }
    }

    pub(super) fn detail(&self) -> Detail {
        Detail {
            lease: self
                .tenure()
                .map(|tenure| (self.lease_from(tenure), tenure.until)),
            ..Detail::default()
        }
    }

    pub(super) const fn holder(&self) -> Holder {
        self.holder
    }

    pub(super) fn refusals(&self) -> Refusals {
        *each!(&self.scheme, scheme => scheme.refusals())
    }

    fn tenure(&self) -> Option<Tenure> {
        each!(&self.scheme, scheme => scheme.tenure())
    }

    /// When the request was sent that the tenure counts from.
    fn lease_from(&self, tenure: Tenure) -> Instant {
        let timing = match &self.scheme {
            AnyScheme::Sql(machine) => machine.config().timing,
            AnyScheme::Etcd(machine) => machine.config().common.timing,
            AnyScheme::Redis(machine) => machine.config().timing,
            AnyScheme::Redlock(machine) => machine.config().common.timing,
        };
        let belief = timing.belief(timing.ttl).as_micros();
        Instant::from_micros(tenure.until.as_micros().saturating_sub(belief))
    }

    fn placed(&self, event: Event) -> Event {
        match event {
            Event::Following(Some(leader)) => Event::Following(Some(self.leader_placed(leader))),
            event => event,
        }
    }

    /// A leader by its place: the first of that name. Somebody from elsewhere is after all of them.
    fn leader_placed(&self, leader: Leader) -> Leader {
        let place = self
            .names
            .iter()
            .position(|name| name.node() == leader.node);
        Leader {
            node: NodeId(place.unwrap_or(self.names.len()) as u64),
            ..leader
        }
    }
}

pub(super) fn newly_refused(before: &Refusals, now: &Refusals) -> Option<u64> {
    Refusal::ALL
        .into_iter()
        .find(|reason| now.count(*reason) > before.count(*reason))
        .map(|reason| reason as u64)
}
