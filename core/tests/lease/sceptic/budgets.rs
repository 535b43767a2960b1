//! What a budget promises against the worst that is measured: clocks at the bound, answers that take all the time they may,
//! a holder that dies with a renewal under way, a store that is away whenever that hurts.

use super::wire::{Clock, Way, Wire, clocks};
use crate::kubernetes::api::Api;
use crate::redis::{Faults, Server};
use crate::sql::Table;
use crate::sql::session::{Server as Sessions, session};
use crate::storm::Store;
use crate::zookeeper::{self, Model};
use std::cell::Cell;
use std::convert::Infallible;
use std::rc::Rc;
use tenure::lease::sql::session::Session;
use tenure::lease::zookeeper::ZooKeeper;
use tenure::lease::{Boot, Budget, Claimant, Config, Identity, kubernetes, redis, sql};
use tenure::random::Random;
use tenure::{Election, Instant};

fn config(name: &str) -> Config {
    Config::new(Claimant::new(Identity::new(name).unwrap()))
}

fn kubernetes(name: &str) -> kubernetes::Config {
    kubernetes::Config::new(Claimant::new(Identity::new(name).unwrap()))
}

type Booted<M> = fn(&str, Boot, Instant) -> M;

/// The longest time from a crash until another leads, and the shortest from the end of a belief, in so many runs.
fn takeover<M, S>(config: &Config, store: impl Fn() -> S, boot: Booted<M>) -> (u64, u64)
where
    M: Election<Peer = Infallible>,
    S: Store<M>,
{
    let mut random = Random::from_seed(1);
    let latency = config.latency.as_micros();
    let ttl = config.timing.ttl.as_micros();
    let [slow, fast] = clocks(config);
    let (mut longest, mut slack) = (0, u64::MAX);
    for seed in 0..3_000 {
        // A slow clock of the store and of who waits, for the longest; the other way round for the shortest.
        let longer = seed % 2 == 0;
        let way = if longer { latency } else { 0 };
        let asked = Rc::new(Cell::new(0));
        let count = asked.clone();
        let fate = move |me, _, _: &M::Request| -> Way {
            count.set(count.get() + u64::from(me == 0));
            (Some(way), Some(way))
        };
        let (other, own) = if longer { (slow, fast) } else { (fast, slow) };
        let mut wire = Wire::new(store(), other, Box::new(fate));
        wire.join(seed, own, |start, now| boot("anna", start, now));
        wire.run_until(ttl, |wire| wire.leads(0));
        wire.run(wire.now + random.below(ttl / 2));
        wire.join(seed, other, |start, now| boot("ben", start, now));
        wire.run(wire.now + 2 * ttl);
        let before = asked.get();
        wire.run_until(wire.now + ttl, |_| asked.get() > before);
        assert!(wire.leads(0));
        wire.crash(0);
        let crashed = wire.now;
        wire.run_until(crashed + 4 * ttl, |wire| wire.leads(1));
        assert!(wire.leads(1), "seed {seed}");
        longest = longest.max(wire.now - crashed);
        slack = slack.min(wire.slack);
    }
    (longest, slack)
}

/// Whether a holder survives every outage of that length. `hang`: nothing says that the store is away.
fn survives<M, S>(config: &Config, outage: u64, store: impl Fn() -> S, boot: Booted<M>) -> bool
where
    M: Election<Peer = Infallible>,
    S: Store<M>,
{
    let latency = config.latency.as_micros();
    let [slow, fast] = clocks(config);
    let renew = config.timing.renew.as_micros();
    (0..600).all(|seed| {
        let begins = 10_000_000 + seed * 7_919 % renew;
        let clock = if seed % 2 == 0 { slow } else { fast };
        let away = begins..begins + outage;
        let fate = move |_, now: u64, _: &M::Request| -> Way {
            let reaches = !away.contains(&(now + latency));
            let back = !away.contains(&(now + latency + latency));
            (reaches.then_some(latency), back.then_some(latency))
        };
        let mut wire = Wire::new(store(), Clock::TRUE, Box::new(fate));
        wire.join(seed, clock, |start, now| boot("anna", start, now));
        wire.run(40_000_000);
        wire.deposed.is_empty() && wire.leads(0)
    })
}

fn judge(name: &str, budget: Budget, (longest, slack): (u64, u64)) {
    let told = budget.takeover.as_micros();
    // And is not far from it.
    assert!(
        (told * 95 / 100..=told).contains(&longest),
        "{name}: a takeover took {longest}, and {told} is told"
    );
    let told = budget.slack.as_micros();
    assert!(
        slack >= told,
        "{name}: the slack was {slack}, and {told} is told"
    );
}

#[test]
fn no_takeover_is_longer_than_is_told_and_no_slack_shorter() {
    let common = config("anna");
    let boot: Booted<sql::Sql> = |name, boot, now| sql::Sql::new(config(name), boot, now).unwrap();
    judge(
        "sql",
        common.budget().unwrap(),
        takeover(&common, Table::default, boot),
    );

    let boot: Booted<redis::Redis> =
        |name, boot, now| redis::Redis::new(config(name), boot, now).unwrap();
    let machine = boot(
        "anna",
        Boot {
            incarnation: 1,
            seed: 1,
        },
        Instant::ZERO,
    );
    let rounded = machine.config().clone();
    let server = || Server::new(1, Faults::None);
    judge(
        "redis",
        rounded.budget().unwrap(),
        takeover(&rounded, server, boot),
    );

    let boot: Booted<Session> =
        |name, boot, now| Session::new(session(config(name)), boot, now).unwrap();
    let sessions = || Sessions::new(None);
    let budget = session(common.clone()).budget().unwrap();
    judge("session", budget, takeover(&common, sessions, boot));

    let own = kubernetes("anna");
    let boot: Booted<kubernetes::Kubernetes> =
        |name, boot, now| kubernetes::Kubernetes::new(kubernetes(name), boot, now).unwrap();
    judge(
        "kubernetes",
        own.budget().unwrap(),
        takeover(&own.common, Api::default, boot),
    );
}

#[test]
fn every_outage_within_what_is_told_is_survived() {
    let common = config("anna");
    let boot: Booted<sql::Sql> = |name, boot, now| sql::Sql::new(config(name), boot, now).unwrap();
    let told = common.budget().unwrap().outage.as_micros();
    assert!(survives(&common, told, Table::default, boot), "sql: {told}");
    // The patience counts: without it, it is told too much.
    let more = told + common.timing.patience.as_micros();
    assert!(
        !survives(&common, more, Table::default, boot),
        "sql: {more}"
    );

    let boot: Booted<redis::Redis> =
        |name, boot, now| redis::Redis::new(config(name), boot, now).unwrap();
    let server = || Server::new(1, Faults::None);
    assert!(
        survives(&common, told - 5_000, server, boot),
        "redis: {told}"
    );

    let boot: Booted<Session> =
        |name, boot, now| Session::new(session(config(name)), boot, now).unwrap();
    assert!(
        survives(&common, told, || Sessions::new(None), boot),
        "session: {told}"
    );

    let own = kubernetes("anna");
    let boot: Booted<kubernetes::Kubernetes> =
        |name, boot, now| kubernetes::Kubernetes::new(kubernetes(name), boot, now).unwrap();
    let told = own.budget().unwrap().outage.as_micros();
    assert!(
        survives(&own.common, told, Api::default, boot),
        "kubernetes: {told}"
    );

    let own = zookeeper::config(config("anna"));
    let boot: Booted<ZooKeeper> =
        |name, boot, now| ZooKeeper::new(zookeeper::config(config(name)), boot, now).unwrap();
    let ensemble = || Model::new(1, zookeeper::Faults::None);
    let told = own.budget().unwrap().outage.as_micros();
    assert!(told > 400_000, "zookeeper: {told}");
    assert!(survives(&common, told, ensemble, boot), "zookeeper: {told}");
    // The patience counts here too.
    let more = told + common.timing.patience.as_micros();
    assert!(
        !survives(&common, more, ensemble, boot),
        "zookeeper: {more}"
    );
}
