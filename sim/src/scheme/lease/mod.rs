//! Elections by a store in the world: a machine of any of the schemes, and what it asks of its store.
//!
//! To add a scheme: a variant of each enum here, and a file beside this one that says what its store is asked and answers.

mod etcd;
mod sql;

use super::{Answer, Ask, Detail, Look, RoleCode};
use crate::scenario::node_name;
use crate::server::Kept;
use crate::store::etcd::Etcd;
use crate::store::sql::Database;
use std::hash::Hasher;
use std::sync::Arc;
use tenure::fence::Holder;
use tenure::lease::{
    Boot, BudgetError, Claimant, Config, Identity, Refusal, Refusals, Rule, Switched, Timing,
};
use tenure::lease::{etcd as core_etcd, sql as core_sql};
use tenure::raft::{Message, Write};
use tenure::rules::Rules as _;
use tenure::{Duration, Election, Event, Input, Instant, Leader, NodeId, Output, Standing, Tenure};

/// By what the nodes elect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A row in a database.
    Sql = 0,
    /// A queue of candidates in etcd.
    Etcd = 1,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Sql, Self::Etcd];

    /// Its name in files and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sql => "sql",
            Self::Etcd => "etcd",
        }
    }
}

/// What a store is asked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum StoreAsk {
    /// A statement.
    Sql(core_sql::Request),
    /// A call.
    Etcd(core_etcd::Request),
}

/// What a store says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum StoreSaid {
    /// What came of a statement.
    Sql(core_sql::Reply),
    /// What came of a call, or what a watch tells.
    Etcd(core_etcd::Reply),
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
    /// The seed of every draw.
    pub seed: u64,
    /// Their names.
    pub names: Arc<[Identity]>,
}

/// What a node is called in the records of a store.
pub(crate) fn identity(node: u16) -> Identity {
    Identity::new(&node_name(node)).expect("a letter and a number")
}

/// How a candidate takes part in a queue in etcd.
fn queue(common: Config) -> core_etcd::Config {
    let mode = core_etcd::Mode::queue(etcd::PREFIX);
    core_etcd::Config { common, mode }
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
            Kind::Sql => config.budget().map(drop),
            Kind::Etcd => queue(config).budget().map(drop),
        }
    }

    /// The servers of the store.
    pub(super) fn servers(&self) -> Vec<Kept> {
        match self.kind {
            Kind::Sql => vec![Kept::Sql(Database::default())],
            Kind::Etcd => vec![Kept::Etcd(Etcd::default())],
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
            Kind::Etcd => {
                let config = queue(config);
                AnyScheme::Etcd(core_etcd::Etcd::with_rules(config, boot, now, self.rules).ok()?)
            }
        };
        Some(Machine {
            scheme,
            names: self.names.clone(),
            holder: Holder {
                node: self.names[node].node(),
                incarnation: life,
            },
            lapses: self.rules.keeps(Rule::DemoteByTimer),
        })
    }
}

/// A machine of one of the schemes, whose nodes are known by their places.
#[derive(Clone, Debug)]
pub struct Machine {
    scheme: AnyScheme,
    names: Arc<[Identity]>,
    holder: Holder,
    /// Whether its tenures end by the clock.
    lapses: bool,
}

#[derive(Clone, Debug)]
enum AnyScheme {
    Sql(core_sql::Sql<Switched>),
    Etcd(core_etcd::Etcd<Switched>),
}

/// Does the same with a machine of any of the schemes.
macro_rules! each {
    ($machine:expr, $scheme:ident => $then:expr) => {
        match $machine {
            AnyScheme::Sql($scheme) => $then,
            AnyScheme::Etcd($scheme) => $then,
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
            (scheme, _) => {
                each!(scheme, scheme => scheme.handle(now, Input::Reply(ticket, Err(tenure::Unknown))));
            }
        }
    }

    pub(super) fn poll(&mut self) -> Option<Output<Message, Ask<Write>>> {
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
        };
        Some(Output::Request(ticket, Ask::Store(0, ask)))
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
            // For those who watch, it does not end by itself.
            Standing::Leading(tenure) if !self.lapses => Standing::Leading(Tenure {
                until: Instant::FOREVER,
                ..tenure
            }),
            standing => standing,
        }
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
