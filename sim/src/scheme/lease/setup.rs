//! What the nodes of an election by a store are built from, by the kind of the store.

use super::zookeeper::{self, Broker};
use super::{AnyScheme, Balancer, Client, Kept, Machine, etcd, redis};
use crate::scenario::{Lease, node_name};
use crate::store::etcd::Member;
use std::sync::Arc;
use tenure::fence::Holder;
use tenure::lease::{
    Boot, Budget, BudgetError, Claimant, Config, Identity, Scheme, Switched, Timing,
};
use tenure::lease::{
    etcd as core_etcd, kubernetes as core_kubernetes, redis as core_redis, redlock as core_redlock,
    sql as core_sql, sql::session as core_session, zookeeper as core_zookeeper,
    zookeeper::controller::Controller,
};
use tenure::{Duration, Instant};
#[cfg(feature = "peers")]
use {super::zookeeper::Library, tenure::NodeId, tenure::random::Random};

/// By what the nodes elect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A row in a database.
    Sql,
    /// A queue of candidates in etcd.
    Etcd,
    /// A `Lease` object of Kubernetes.
    Kubernetes,
    /// A key of one Redis server.
    Redis,
    /// A key on each of several Redis servers.
    Redlock,
    /// A lock that belongs to a session of a database.
    SqlSession,
    /// One key in etcd.
    EtcdSingle,
    /// The active one of a pair of Milvus's coordinators.
    Milvus,
    /// A queue of candidates in ZooKeeper.
    ZooKeeper,
    /// Kafka's single controller in ZooKeeper.
    Controller,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Sql,
        Self::Etcd,
        Self::Kubernetes,
        Self::Redis,
        Self::Redlock,
        Self::SqlSession,
        Self::EtcdSingle,
        Self::Milvus,
        Self::ZooKeeper,
        Self::Controller,
    ];

    /// Its name in files and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sql => "sql",
            Self::Etcd => "etcd",
            Self::Kubernetes => "kubernetes",
            Self::Redis => "redis",
            Self::Redlock => "redlock",
            Self::SqlSession => "sql-session",
            Self::EtcdSingle => "etcd-single",
            Self::Milvus => "milvus",
            Self::ZooKeeper => "zookeeper",
            Self::Controller => "zookeeper-controller",
        }
    }

    /// By which machine of the core.
    #[must_use]
    pub const fn scheme(self) -> Scheme {
        match self {
            Self::Sql => Scheme::Sql,
            Self::SqlSession => Scheme::SqlSession,
            Self::Etcd => Scheme::EtcdQueue,
            Self::EtcdSingle | Self::Milvus => Scheme::EtcdSingle,
            Self::Kubernetes => Scheme::Kubernetes,
            Self::Redis => Scheme::Redis,
            Self::Redlock => Scheme::Redlock,
            Self::ZooKeeper => Scheme::ZooKeeper,
            Self::Controller => Scheme::Controller,
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
            Self::Etcd | Self::EtcdSingle | Self::Milvus => 5,
            #[cfg(feature = "peers")]
            Self::ZooKeeper | Self::Controller => 5,
            _ => 1,
        }
    }

    /// Whether the store is ZooKeeper.
    const fn is_of_zookeeper(self) -> bool {
        matches!(self, Self::ZooKeeper | Self::Controller)
    }

    /// Whether so many of them speak over connections, among each other and with their clients.
    #[must_use]
    pub const fn is_connected(self, servers: u8) -> bool {
        self.is_of_zookeeper() && servers > 1
    }

    /// How often the leader of a cluster of them is heard of.
    #[must_use]
    pub(crate) fn heartbeat(self, ttl: Duration) -> Duration {
        match self {
            Self::ZooKeeper | Self::Controller => {
                Duration::from_millis(zookeeper::tick_time(ttl).into()).scaled_down(1, 2)
            }
            _ => tenure::raft::Timing::etcd().heartbeat,
        }
    }

    /// Whether they are a cluster, where there are several: each of them answers for all.
    #[must_use]
    pub const fn is_cluster(self) -> bool {
        !matches!(self, Self::Redlock)
    }

    /// Whether its leaders keep what they decide in the store, too.
    #[must_use]
    pub const fn keeps_in_store(self) -> bool {
        matches!(self, Self::Controller)
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

    /// How long a holder goes on at the most without a renewal where a file says no more than the ttl; `None` where it has
    /// no bound of its own for that.
    #[must_use]
    pub fn renew_deadline(self, ttl: Duration) -> Option<Duration> {
        matches!(self, Self::Kubernetes).then(|| core_kubernetes::Config::deadline(ttl))
    }

    /// Whether each term has a token, by which a resource can tell the newest leader.
    #[must_use]
    pub const fn has_tokens(self) -> bool {
        self.scheme().has_tokens()
    }
}

/// What the nodes of one election are built from. They are 0 to `nodes − 1`.
#[derive(Clone, Debug)]
pub struct Setup {
    /// By what they elect.
    pub kind: Kind,
    /// How long things take.
    pub timing: Timing,
    /// How long a holder goes on at the most without a renewal, where it has a bound of its own for that.
    pub renew_deadline: Option<Duration>,
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
fn identity(node: u16) -> Identity {
    Identity::new(&node_name(node)).expect("a letter and a number")
}

/// One of two of Milvus's coordinators.
fn milvus(claimant: Claimant) -> core_etcd::Config {
    core_etcd::Config::milvus("by-dev", "rootcoord", claimant)
}

impl Setup {
    /// Of so many nodes that elect like this.
    pub(crate) fn new(lease: &Lease, nodes: usize, seed: u64) -> Self {
        Self {
            kind: lease.kind,
            timing: lease.timing,
            renew_deadline: lease.renew_deadline,
            latency: lease.latency,
            rules: lease.rules,
            servers: lease.servers,
            seed,
            names: (0..nodes as u16).map(identity).collect(),
        }
    }

    /// Whether machines can be built from it: without, none of them starts.
    ///
    /// # Errors
    /// What leaves no slack.
    pub fn check(&self) -> Result<(), BudgetError> {
        self.budget().map(drop)
    }

    /// What follows from its timing.
    ///
    /// # Errors
    /// What leaves no slack.
    pub fn budget(&self) -> Result<Budget, BudgetError> {
        let config = self.config(identity(0));
        match self.kind {
            Kind::Sql => config.budget(),
            Kind::Redis => core_redis::in_milliseconds(config).budget(),
            Kind::SqlSession => core_session::Config { common: config }.budget(),
            Kind::Redlock => redis::several(config, self.servers).budget(),
            Kind::Etcd | Kind::EtcdSingle | Kind::Milvus => self.of_etcd(config).budget(),
            Kind::Kubernetes => self.of_kubernetes(config).budget(),
            Kind::ZooKeeper => self.of_zookeeper(config).budget(),
            Kind::Controller => {
                let boot = Boot {
                    incarnation: 0,
                    seed: 0,
                };
                Controller::new(self.of_zookeeper(config), boot, Instant::ZERO)?.budget()
            }
        }
    }

    /// Whether their leaders have tokens.
    pub(in crate::scheme) const fn has_tokens(&self) -> bool {
        self.kind.has_tokens()
    }

    /// Whether their leaders keep what they decide in the store, too.
    pub(in crate::scheme) const fn keeps_in_store(&self) -> bool {
        self.kind.keeps_in_store()
    }

    /// Whether its server keeps a session for each node as long as the connection of that one.
    pub(in crate::scheme) const fn has_sessions(&self) -> bool {
        matches!(self.kind, Kind::SqlSession)
    }

    /// Whether they and the servers speak over connections, and are told of those.
    pub(in crate::scheme) const fn is_connected(&self) -> bool {
        self.kind.is_connected(self.servers)
    }

    /// How long the store keeps a record that is not renewed.
    pub(in crate::scheme) const fn ttl(&self) -> Duration {
        self.timing.ttl
    }

    /// How far clocks may run from true pace, in parts per million.
    pub(in crate::scheme) const fn rate_bound(&self) -> u32 {
        self.timing.rate.0
    }

    /// The servers of the store.
    pub(in crate::scheme) fn servers(&self) -> Vec<Kept> {
        let redis = |replicas| Kept::Redis(Box::new(redis::Redis::new(replicas)));
        match self.kind {
            Kind::Sql | Kind::SqlSession => vec![Kept::Sql(Box::default())],
            Kind::Etcd | Kind::EtcdSingle | Kind::Milvus if self.servers > 1 => {
                let all = u16::from(self.servers);
                let member = |place| Member::new(place, all, self.seed);
                (0..all)
                    .map(|place| Kept::EtcdMember(Box::new(member(place))))
                    .collect()
            }
            Kind::Etcd | Kind::EtcdSingle | Kind::Milvus => {
                vec![Kept::Etcd(Box::default())]
            }
            Kind::Kubernetes => vec![Kept::Kubernetes(Box::default())],
            #[cfg(feature = "peers")]
            Kind::ZooKeeper | Kind::Controller if self.servers > 1 => {
                let all = u16::from(self.servers);
                let member = |place| zookeeper::member(place, all, self.timing.ttl, self.seed);
                (0..all)
                    .map(|place| Kept::ZooKeeperMember(Box::new(member(place))))
                    .collect()
            }
            Kind::ZooKeeper | Kind::Controller => {
                let tick_time = zookeeper::tick_time(self.timing.ttl);
                let server = zookeeper::ZooKeeper::new(tick_time);
                vec![Kept::ZooKeeper(Box::new(server))]
            }
            Kind::Redis => vec![redis(1)],
            Kind::Redlock => (0..self.servers).map(|_| redis(0)).collect(),
        }
    }

    /// Starts a life of node `node`.
    pub(in crate::scheme) fn boot(&self, node: usize, life: u64, now: Instant) -> Option<Machine> {
        let config = self.config(self.names.get(node)?.clone());
        let rules = self.rules;
        let boot = Boot {
            incarnation: life,
            // Two that have one name must not draw alike.
            seed: self.seed ^ (node as u64) << 48,
        };
        let scheme = match self.kind {
            Kind::Sql => AnyScheme::Sql(core_sql::Sql::with_rules(config, boot, now, rules).ok()?),
            Kind::SqlSession => {
                let config = core_session::Config { common: config };
                let machine = core_session::Session::with_rules(config, boot, now, rules);
                AnyScheme::SqlSession(machine.ok()?)
            }
            Kind::Etcd | Kind::EtcdSingle | Kind::Milvus => {
                let machine = core_etcd::Etcd::with_rules(self.of_etcd(config), boot, now, rules);
                AnyScheme::Etcd(machine.ok()?)
            }
            Kind::Kubernetes => {
                let config = self.of_kubernetes(config);
                let machine = core_kubernetes::Kubernetes::with_rules(config, boot, now, rules);
                AnyScheme::Kubernetes(machine.ok()?)
            }
            Kind::ZooKeeper => {
                let config = self.of_zookeeper(config);
                let machine = core_zookeeper::ZooKeeper::with_rules(config, boot, now, rules);
                AnyScheme::ZooKeeper(machine.ok()?)
            }
            Kind::Controller => {
                let broker = Broker::with_rules(self.of_zookeeper(config), boot, now, rules);
                AnyScheme::Controller(broker.ok()?)
            }
            Kind::Redis => {
                AnyScheme::Redis(core_redis::Redis::with_rules(config, boot, now, rules).ok()?)
            }
            Kind::Redlock => {
                let machine = core_redlock::Redlock::with_rules(
                    redis::several(config, self.servers),
                    boot,
                    now,
                    rules,
                );
                AnyScheme::Redlock(machine.ok()?)
            }
        };
        let several = usize::from(self.servers);
        let clustered = self.kind.is_cluster() && several > 1;
        Some(Machine {
            scheme,
            // They do not all ask the same one.
            client: clustered.then(|| {
                let member = node % several;
                #[cfg(feature = "peers")]
                if self.kind.is_of_zookeeper() {
                    let random = Random::new(self.seed, NodeId(node as u64), life);
                    let pause = self.timing.retry;
                    let library = Library::new(several, member, pause, (random, life), now);
                    return Client::ZooKeeper(Box::new(library));
                }
                Client::Etcd(Balancer::new(several, member, self.timing.patience, now))
            }),
            names: self.names.clone(),
            holder: Holder {
                node: self.names[node].node(),
                incarnation: life,
            },
        })
    }

    fn config(&self, name: Identity) -> Config {
        Config {
            timing: self.timing,
            latency: self.latency,
            ..Config::new(Claimant::new(name))
        }
    }

    fn of_kubernetes(&self, common: Config) -> core_kubernetes::Config {
        let usual = core_kubernetes::Config::of(common);
        core_kubernetes::Config {
            renew_deadline: self.renew_deadline.unwrap_or(usual.renew_deadline),
            ..usual
        }
    }

    fn of_zookeeper(&self, common: Config) -> core_zookeeper::Config {
        let parent = match self.kind {
            Kind::Controller => zookeeper::KAFKA,
            _ => zookeeper::PARENT,
        };
        zookeeper::nodes(parent, common, self.servers)
    }

    fn of_etcd(&self, common: Config) -> core_etcd::Config {
        let claimant = common.claimant.clone();
        let mode = match self.kind {
            Kind::EtcdSingle => core_etcd::Mode::Single(etcd::PREFIX.into()),
            Kind::Milvus => milvus(claimant).mode,
            _ => core_etcd::Mode::queue(etcd::PREFIX),
        };
        core_etcd::Config { common, mode }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::{Answer, Ask};
    use tenure::{Input, Output};

    #[test]
    fn what_is_checked_is_what_starts() {
        for kind in Kind::ALL {
            let mut started = 0;
            for millis in (1..60).chain([1_000, 2_000, 9_000, 86_400_000, 86_401_000]) {
                let setup = Setup {
                    kind,
                    timing: kind.timing(Some(Duration::from_millis(millis))),
                    renew_deadline: None,
                    latency: Duration::ZERO,
                    rules: Switched::default(),
                    servers: kind.servers(),
                    seed: 1,
                    names: [identity(0)].into(),
                };
                let starts = setup.boot(0, 1, Instant::ZERO).is_some();
                assert_eq!(setup.check().is_ok(), starts, "{kind:?} {millis}");
                started += u32::from(starts);
            }
            assert!((1..64).contains(&started), "{kind:?} {started}");
        }
    }

    /// What a store grants may last longer than what it was asked for, and a tenure counts from a send all the same.
    #[test]
    fn a_tenure_is_drawn_by_what_was_granted() {
        let now = Instant::from_micros(7_000_000);
        for kind in Kind::ALL {
            let setup = Setup {
                kind,
                renew_deadline: None,
                timing: kind.timing(Some(Duration::from_secs(1))),
                latency: Duration::ZERO,
                rules: Switched::default(),
                servers: kind.servers(),
                seed: 1,
                names: [identity(0)].into(),
            };
            let (mut machine, mut servers) = (setup.boot(0, 1, now).unwrap(), setup.servers());
            let mut answered = true;
            while answered {
                answered = false;
                while let Some(output) = machine.poll() {
                    if let Output::Request(ticket, Ask::Store(server, ask)) = output {
                        let service = servers[server].service_mut();
                        service.ask(now.as_micros(), 0, ticket, &ask);
                    }
                }
                for server in &mut servers {
                    while let Some((_, ticket, said)) = server.service_mut().poll() {
                        let reply = Input::Reply(ticket, Ok(Answer::Store(said)));
                        machine.handle(now, reply);
                        answered = true;
                    }
                }
            }
            let (from, until) = machine.detail().lease.expect("it leads at once");
            assert_eq!(from, now, "{kind:?} until {until:?}");
        }
    }
}
