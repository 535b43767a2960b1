//! How much a run may take, judged before it is made: how many writes are on their way at once, and how many events
//! there are to keep.

use super::{Clients, Elects, Refusal, Scenario};
#[cfg(not(target_family = "wasm"))]
use crate::store::{WATCHERS, WRITES_OF};

/// The most events that are kept of one run.
pub const MAX_EVENTS: usize = 1 << 22;
/// The most nodes of a run with time travel: each clone of its past holds the links between all of them.
const MAX_HISTORY_NODES: usize = 200;
/// The most writes that may be on their way at once.
const MAX_OUTSTANDING: u64 = 100_000;

/// The events of a follower's heartbeat: it and its answer, each sent and delivered.
const HEARTBEAT_EVENTS: u64 = 4;
/// The events of a client's write, from the request through both resources to the acknowledgement.
const WRITE_EVENTS: u64 = 18;
/// The events, for each node, of what a client of the store asks for: said, sent on, kept and committed.
const STORE_EVENTS: u64 = 6;
/// The events, in a period of a client that watches, of what it is told and of the writes that it makes now and then.
#[cfg(not(target_family = "wasm"))]
const WATCH_EVENTS: u64 = 4;
/// The events of a job: asked for and done at both resources.
const JOB_EVENTS: u64 = 24;

impl Clients {
    /// Whether the leader's writes would pile up beyond what a world can hold.
    pub(super) fn pile_up(&self) -> bool {
        self.think.saturating_add(self.write_delay) / self.every.max(1) > MAX_OUTSTANDING
    }
}

impl Scenario {
    /// Whether all events of the run can be kept, as time travel needs: about as many as a calm run has.
    ///
    /// # Errors
    /// A run that is too much to hold.
    pub fn recordable(&self) -> Result<(), Refusal> {
        if self.expected_events() <= MAX_EVENTS as u64 {
            return Ok(());
        }
        Err(Refusal::new(
            "too-much",
            "duration",
            "so long a run of so many nodes and writes is too much to hold",
            "shorten it, or lengthen the heartbeat or client.every; tenure-sim run FILE keeps no events and takes it as it is",
        ))
    }

    /// Whether the run can be looked at anywhere: [`recordable`](Self::recordable), and of few enough nodes.
    ///
    /// # Errors
    /// A run that is too much to hold.
    pub(crate) fn travelable(&self) -> Result<(), Refusal> {
        if self.nodes > MAX_HISTORY_NODES {
            return Err(Refusal::new(
                "too-many-nodes",
                "nodes",
                "time travel keeps many copies of the world, and so many nodes are too much for that",
                "use at most 200 here; tenure-sim run FILE keeps no copies and takes it as it is",
            ));
        }
        self.recordable()
    }

    /// How many events there are when nothing goes wrong.
    pub(crate) fn expected_events(&self) -> u64 {
        let times =
            |period: u64, events: u64| (self.duration / period.max(1)).saturating_mul(events);
        let nodes = self.nodes as u64;
        let heartbeats = match &self.elects {
            // A request to the store and its answer are as many events as a heartbeat and its own. Who waits asks no more
            // often than it retries, and of a store with a watch less. Of several servers each is asked, and what some of
            // them granted in vain is given back.
            Elects::ByStore(lease) => {
                let servers = u64::from(lease.servers);
                let retry = lease.timing.retry.as_micros() * 3 / 4;
                if lease.kind.is_cluster() && servers > 1 {
                    // Each request becomes an entry at all of them, and they hear from their leader besides.
                    let heartbeat = lease.kind.heartbeat(lease.timing.ttl).as_micros();
                    let others = servers - 1;
                    times(retry, nodes * (1 + 2 * others) * HEARTBEAT_EVENTS)
                        .saturating_add(times(heartbeat, others * HEARTBEAT_EVENTS))
                } else {
                    let asked = if servers > 1 { 2 * servers } else { 1 };
                    times(retry, nodes * asked * HEARTBEAT_EVENTS)
                }
            }
            Elects::Raft => times(
                self.timing.heartbeat.as_micros(),
                nodes.saturating_sub(1) * HEARTBEAT_EVENTS,
            ),
            // Ten to twenty looks a second, and of each other and each server a ping at least each second, an answer, and
            // hellos that the servers pass on; and between servers what is told each second.
            #[cfg(feature = "peers")]
            Elects::Sentinel(params) => {
                let servers = params.servers() as u64;
                let ping = params.down_after.as_micros().min(1_000_000);
                let watched = nodes * (nodes - 1 + servers);
                times(75_000, nodes)
                    .saturating_add(times(ping, watched * HEARTBEAT_EVENTS))
                    .saturating_add(times(2_000_000, (watched + nodes * nodes * servers) * 2))
                    .saturating_add(times(1_000_000, servers * HEARTBEAT_EVENTS))
            }
            // Two pings a tick.
            #[cfg(feature = "peers")]
            Elects::Zab(params) => times(
                params.timing.tick.as_micros() / 2,
                nodes.saturating_sub(1) * HEARTBEAT_EVENTS,
            ),
            // Each follower fetches as soon as it was answered, and is told now and then that the leader leads.
            #[cfg(feature = "peers")]
            Elects::Kraft(params) => {
                let timing = params.timing;
                let others = nodes.saturating_sub(1) * HEARTBEAT_EVENTS;
                let quorum = times(timing.fetch_max_wait.as_micros().max(1_000), others)
                    .saturating_add(times(timing.begin_quorum().as_micros(), others));
                (params.brokers).map_or(quorum, |brokers| {
                    // Each asks for metadata, and each replica of a partition its leader, as often; and what is written is
                    // copied and acknowledged at once.
                    let count = brokers.count as u64;
                    let partitions = brokers.topics * u64::from(brokers.partitions);
                    let replicas = partitions * u64::from(brokers.replication);
                    let wait = brokers.wait.as_micros();
                    quorum
                        .saturating_add(times(wait, (count + replicas) * HEARTBEAT_EVENTS))
                        .saturating_add(times(self.clients.every, 2 * WRITE_EVENTS * count))
                })
            }
        };
        let jobs = self
            .jobs
            .map_or(0, |jobs| times(jobs.every.max(jobs.takes), JOB_EVENTS));
        heartbeats
            .saturating_add(times(self.clients.every, WRITE_EVENTS))
            .saturating_add(self.expected_store_events())
            .saturating_add(jobs)
    }

    /// A client of the store asks for nothing before it was answered: after there and back, to the leader and on.
    fn expected_store_events(&self) -> u64 {
        if !self.has_store() {
            return 0;
        }
        let ways = self
            .weather
            .latency_min
            .saturating_add(self.weather.latency_max);
        let answer = ways.saturating_add(self.disk.total()).saturating_mul(2);
        let period = (answer.saturating_add(self.clients.every / 2)).max(self.clients.every);
        let asked = self.duration / period.max(1) * crate::store::CLIENTS as u64;
        let entered = STORE_EVENTS * self.nodes as u64;
        #[cfg(target_family = "wasm")]
        let watched = 0;
        #[cfg(not(target_family = "wasm"))]
        let watched = if self.clients.watches {
            let periods = self.duration / self.clients.every.max(1) * WATCHERS as u64;
            periods.saturating_mul(WATCH_EVENTS + entered / WRITES_OF)
        } else {
            0
        };
        asked.saturating_mul(entered).saturating_add(watched)
    }

    /// Within what time an established leader in a whole world does the next job, however many were missed: a leader may
    /// have to be found first, take over, and ask for the job, each a few times to a resource and back behind writes on
    /// their way.
    pub(crate) fn job_within(&self) -> Option<u64> {
        let jobs = self.jobs?;
        let ways = self.weather.latency_max.saturating_mul(16);
        let behind = self.clients.write_delay.saturating_mul(4);
        Some(
            [
                self.leader_within,
                jobs.takes,
                self.clients.think,
                ways,
                behind,
            ]
            .into_iter()
            .fold(0, u64::saturating_add),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::lease::Kind;
    use crate::world::World;

    fn scenario(rest: &str) -> Scenario {
        Scenario::parse(&format!(r#"{{"tenure": 1, "scheme": "raft", {rest}}}"#)).unwrap()
    }

    #[test]
    fn a_calm_run_has_about_as_many_events_as_expected() {
        for rest in [
            r#""nodes": 5, "duration": "60s""#,
            r#""nodes": 50, "duration": "20s""#,
            r#""nodes": 1, "duration": "60s", "client": {"every": "2ms"}"#,
            r#""nodes": 3, "duration": "60s", "raft": {"log": true}, "client": {"every": "100ms"}"#,
            r#""nodes": 5, "duration": "60s", "raft": {"log": true}"#,
            r#""nodes": 7, "duration": "60s", "raft": {"log": true}, "client": {"every": "10ms"}"#,
            r#""nodes": 3, "duration": "60s", "raft": {"log": true}, "client": {"watches": true}"#,
        ] {
            let scenario = scenario(rest);
            let mut world = World::new(&scenario);
            world.run();
            let ratio = world.trace().count() as f64 / scenario.expected_events() as f64;
            assert!((0.8..1.2).contains(&ratio), "{rest}: {ratio}");
        }
    }

    #[test]
    fn an_election_over_a_store_has_hardly_more_events_than_expected() {
        let clusters = [Kind::Etcd, Kind::ZooKeeper].map(|kind| (kind, r#", "servers": 3"#));
        let usual = Kind::ALL.map(|kind| (kind, ""));
        for (kind, servers) in usual.into_iter().chain(clusters) {
            let json = format!(
                r#"{{"tenure": 1, "scheme": "{}", "nodes": 9, "lease": {{"ttl": "3s", "latency": "20ms"{servers}}},
                    "client": {{"every": "1s"}}}}"#,
                kind.name()
            );
            let scenario = Scenario::parse(&json).unwrap();
            let mut world = World::new(&scenario);
            world.run();
            let ratio = world.trace().count() as f64 / scenario.expected_events() as f64;
            assert!((0.2..1.2).contains(&ratio), "{kind:?}{servers}: {ratio}");
        }
    }

    #[test]
    fn what_is_too_much_to_hold_is_refused() {
        let most = r#""nodes": 200, "raft": {"heartbeat": "1ms"}, "duration": "60min""#;
        let refusal = scenario(most).recordable().unwrap_err();
        assert_eq!(
            (refusal.code, refusal.place.as_str()),
            ("too-much", "duration")
        );
        let wide = scenario(r#""nodes": 201, "duration": "1s""#);
        assert!(wide.recordable().is_ok());
        assert_eq!(wide.travelable().unwrap_err().code, "too-many-nodes");
        let busy = r#""nodes": 3, "client": {"every": "1ms"}, "duration": "60min""#;
        assert!(scenario(busy).recordable().is_err());
        assert!(
            scenario(r#""nodes": 5, "duration": "60min""#)
                .recordable()
                .is_ok()
        );
    }
}
