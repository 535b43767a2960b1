//! Elections by a store in the world: a machine of any of the schemes, and what it asks of its store.
//!
//! To add a scheme: a variant of each enum here, and a file beside this one that says what its store is asked and answers
//! (`Candidate` and `Service`).

mod balancer;
mod candidate;
mod client;
mod etcd;
mod kubernetes;
mod presets;
mod redis;
mod setup;
mod sql;
mod zookeeper;

pub(crate) use presets::{PRESET_OF, PRESETS};
pub use setup::{Kind, Setup};

use super::{Answer, Ask, Detail, Look, PeerSaid, RoleCode, Write};
use crate::server::Service;
use crate::store::etcd::{Etcd, Member, Peer};
#[cfg(feature = "peers")]
use crate::store::zookeeper as ensemble;
use balancer::Balancer;
use candidate::{Candidate, hear, said};
use client::Client;
use std::hash::Hasher;
use std::sync::Arc;
use tenure::fence::Holder;
use tenure::lease::{Identity, Refusals, Switched};
use tenure::lease::{
    etcd as core_etcd, kubernetes as core_kubernetes, redis as core_redis, redlock as core_redlock,
    sql as core_sql, sql::session as core_session, zookeeper as core_zookeeper,
};
use tenure::{
    Duration, Election, Event, Input, Instant, Leader, NodeId, Output, Standing, Tenure, Token,
    Unknown,
};

/// What a store is asked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum StoreAsk {
    /// A statement.
    Sql(core_sql::Request),
    /// A statement or two, in a session.
    SqlSession(core_session::Request),
    /// A call.
    Etcd(core_etcd::Request),
    /// A call.
    Kubernetes(core_kubernetes::Request),
    /// A script.
    Redis(core_redis::Request),
    /// A script, of one of several servers.
    Redlock(core_redlock::Command),
    /// A call of a client's library.
    ZooKeeper(core_zookeeper::Request),
    /// What a client's library says to one server of an ensemble.
    #[cfg(feature = "peers")]
    Ensemble(ensemble::Call),
    /// A call of a client's library, of one that may be Kafka's controller.
    Controller(core_zookeeper::controller::Request),
    /// The same, of its host.
    Guarded(zookeeper::Guarded),
}

/// What a store says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum StoreSaid {
    /// What came of a statement.
    Sql(core_sql::Reply),
    /// What came of statements in a session.
    SqlSession(core_session::Reply),
    /// What came of a call, or what a watch tells.
    Etcd(core_etcd::Reply),
    /// What came of a call, where that is known.
    Kubernetes(Result<core_kubernetes::Reply, Unknown>),
    /// What came of a script.
    Redis(core_redis::Reply),
    /// What came of a script at one of several servers.
    Redlock(core_redlock::Reply),
    /// What came of a call, or what a watch or a handle tells.
    ZooKeeper(core_zookeeper::Reply),
    /// What one server of an ensemble says to a client's library.
    #[cfg(feature = "peers")]
    Ensemble(ensemble::Said),
}

/// What the servers of one store say to each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ServerSaid {
    /// Members of a cluster of etcd.
    Etcd(Peer),
    /// Members of an ensemble of ZooKeeper.
    #[cfg(feature = "peers")]
    ZooKeeper(ensemble::Peer),
}

/// What a server is, of whatever kind.
#[derive(Clone, Debug)]
pub(crate) enum Kept {
    Sql(Box<sql::Database>),
    Etcd(Box<Etcd>),
    Kubernetes(Box<kubernetes::Cluster>),
    Redis(Box<redis::Redis>),
    ZooKeeper(Box<zookeeper::ZooKeeper>),
    EtcdMember(Box<Member>),
    #[cfg(feature = "peers")]
    ZooKeeperMember(Box<ensemble::Member>),
}

impl Kept {
    pub(crate) fn service(&self) -> &dyn Service {
        match self {
            Self::Sql(database) => database.as_ref(),
            Self::Etcd(etcd) => etcd.as_ref(),
            Self::Kubernetes(cluster) => cluster.as_ref(),
            Self::Redis(redis) => redis.as_ref(),
            Self::ZooKeeper(zookeeper) => zookeeper.as_ref(),
            Self::EtcdMember(member) => member.as_ref(),
            #[cfg(feature = "peers")]
            Self::ZooKeeperMember(member) => member.as_ref(),
        }
    }

    pub(crate) fn service_mut(&mut self) -> &mut dyn Service {
        match self {
            Self::Sql(database) => database.as_mut(),
            Self::Etcd(etcd) => etcd.as_mut(),
            Self::Kubernetes(cluster) => cluster.as_mut(),
            Self::Redis(redis) => redis.as_mut(),
            Self::ZooKeeper(zookeeper) => zookeeper.as_mut(),
            Self::EtcdMember(member) => member.as_mut(),
            #[cfg(feature = "peers")]
            Self::ZooKeeperMember(member) => member.as_mut(),
        }
    }
}

/// A machine of one of the schemes, whose nodes are known by their places.
#[derive(Clone, Debug)]
pub struct Machine {
    scheme: AnyScheme,
    /// Which server is asked, where each of them answers for all.
    client: Option<Client>,
    names: Arc<[Identity]>,
    holder: Holder,
}

#[derive(Clone, Debug)]
enum AnyScheme {
    Sql(core_sql::Sql<Switched>),
    SqlSession(core_session::Session<Switched>),
    Etcd(core_etcd::Etcd<Switched>),
    Kubernetes(core_kubernetes::Kubernetes<Switched>),
    Redis(core_redis::Redis<Switched>),
    Redlock(core_redlock::Redlock<Switched>),
    ZooKeeper(core_zookeeper::ZooKeeper<Switched>),
    Controller(zookeeper::Broker),
}

/// Does the same with a machine of any of the schemes.
macro_rules! each {
    ($machine:expr, $scheme:ident => $then:expr) => {
        match $machine {
            AnyScheme::Sql($scheme) => $then,
            AnyScheme::SqlSession($scheme) => $then,
            AnyScheme::Etcd($scheme) => $then,
            AnyScheme::Kubernetes($scheme) => $then,
            AnyScheme::Redis($scheme) => $then,
            AnyScheme::Redlock($scheme) => $then,
            AnyScheme::ZooKeeper($scheme) => $then,
            AnyScheme::Controller($scheme) => $then,
        }
    };
}

impl Machine {
    pub(super) fn handle(&mut self, now: Instant, input: Input<PeerSaid, Answer>) {
        let input = match &mut self.client {
            Some(client) => client.hears(now, input),
            None => Some(input),
        };
        if let Some(input) = input {
            each!(&mut self.scheme, scheme => hear(scheme, now, input));
        }
        while let Some(told) = self.client.as_mut().and_then(Client::tells) {
            each!(&mut self.scheme, scheme => hear(scheme, now, told));
        }
    }

    pub(super) fn poll(&mut self) -> Option<Output<PeerSaid, Ask<Write>>> {
        loop {
            if let Some(output) = self.client.as_mut().and_then(Client::poll) {
                return Some(output);
            }
            let output = match each!(&mut self.scheme, scheme => said(scheme)?) {
                Output::Event(event) => return Some(Output::Event(self.placed(event))),
                output => output,
            };
            match &mut self.client {
                Some(client) => {
                    if let Some(output) = client.routed(output) {
                        return Some(output);
                    }
                }
                None => return Some(output),
            }
        }
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        let client = self.client.as_ref().and_then(Client::deadline);
        let machine = each!(&self.scheme, scheme => scheme.deadline());
        machine.into_iter().chain(client).min()
    }

    /// The connection to another member of the world ended, or stands again.
    #[cfg(feature = "peers")]
    pub(super) fn connection(&mut self, now: Instant, with: usize, stands: bool) {
        let Some(server) = with.checked_sub(self.names.len()) else {
            return;
        };
        if let Some(client) = &mut self.client {
            client.connection(now, server, stands);
        }
        while let Some(told) = self.client.as_mut().and_then(Client::tells) {
            each!(&mut self.scheme, scheme => hear(scheme, now, told));
        }
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

    /// The number of its session with ZooKeeper, if it has one.
    #[cfg(all(feature = "peers", not(target_family = "wasm")))]
    pub(super) const fn session(&self) -> Option<u64> {
        match &self.scheme {
            AnyScheme::ZooKeeper(scheme) => Some(scheme.session().0.cast_unsigned()),
            AnyScheme::Controller(broker) => Some(broker.session().0.cast_unsigned()),
            _ => None,
        }
    }

    /// What was decided in a tenure is kept in the store, where that is for those who lead by it. Whether it is to be said.
    pub(super) fn keep(&mut self, now: Instant, token: Token, value: u64) -> bool {
        if let AnyScheme::Controller(broker) = &mut self.scheme {
            broker.keep(now, token, value);
            return true;
        }
        false
    }

    /// In which tenure something was decided that the store refused to keep.
    pub(super) fn poll_refused(&mut self) -> Option<Token> {
        match &mut self.scheme {
            AnyScheme::Controller(broker) => broker.poll_refused(),
            _ => None,
        }
    }

    fn tenure(&self) -> Option<Tenure> {
        each!(&self.scheme, scheme => scheme.tenure())
    }

    /// When the request was sent that the tenure counts from.
    fn lease_from(&self, tenure: Tenure) -> Instant {
        let belief = each!(&self.scheme, scheme => scheme.belief()).as_micros();
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
    now.risen_since(before).map(|reason| reason as u64)
}
