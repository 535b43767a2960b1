//! Under whatever can go wrong, in nodes, network and store.

use super::store::{Faults, Model};
use super::{common, config};
use crate::rules::{self, DISTINCT};
use crate::storm::{Run, Storm, Weather};
use tenure::lease::zookeeper::ZooKeeper;
use tenure::lease::{Boot, Config as Common, Scheme};
use tenure::{Duration, Instant};

fn boot(common: Common, boot: Boot, now: Instant) -> ZooKeeper {
    ZooKeeper::new(config(common), boot, now).unwrap()
}

/// Without a margin, which is there for the work and not for the election.
fn to_the_point(name: &str) -> Common {
    let mut common = common(name);
    common.timing.margin = Duration::ZERO;
    common
}

fn storm(seed: u64, names: &[&str], weather: Weather, faults: Faults) -> Run {
    let configs: Vec<_> = names.iter().map(|name| to_the_point(name)).collect();
    let store = Model::new(seed, faults);
    let (storm, configs) = Storm::new(seed, &configs, store, weather, true, boot);
    let storm = match faults {
        Faults::Early => storm.excused(),
        _ => storm,
    };
    storm.run(&configs, 30)
}

/// How long after the end of all faults somebody leads: a takeover, what is under way for two leases, one that resigned and
/// stands back, and what is left of a session that nobody has.
fn led_again() -> u64 {
    let config = config(common("anna"));
    let ttl = config.common.timing.ttl;
    let takeover = config.budget().unwrap().takeover + ttl + ttl + ttl + ttl;
    takeover.as_micros()
}

#[test]
fn in_calm_weather_one_leads_and_goes_on() {
    let run = storm(1, &DISTINCT, Weather::CALM, Faults::None);
    assert_eq!((run.broken, run.tenures, run.lapsed), (None, 1, 0));
    assert!(run.vacant < 700_000, "{run:?}");
}

#[test]
fn in_any_weather_nobody_believes_beside_another() {
    let (mut tenures, mut lapsed) = (0, 0);
    for seed in 0..2000 {
        let names = if seed % 4 == 0 {
            ["anna", "anna", "ben"]
        } else {
            DISTINCT
        };
        let run = storm(seed, &names, Weather::STORM, Faults::Usual);
        assert_eq!(run.broken, None, "seed {seed}");
        let again = run.led_after.is_some_and(|after| after <= led_again());
        assert!(again, "seed {seed}: {run:?}");
        (tenures, lapsed) = (tenures + run.tenures, lapsed + run.lapsed);
    }
    assert!(tenures > 10_000 && lapsed > 1_000, "{tenures} {lapsed}");
}

/// Somebody closes a session: until the holder hears of it two believe, but not for longer than the session would have lasted.
#[test]
fn where_sessions_are_closed_early_two_believe_for_less_than_a_session() {
    let ttl = common("anna").timing.ttl.as_micros();
    let mut longest = 0;
    for seed in 0..500 {
        let run = storm(seed, &DISTINCT, Weather::STORM, Faults::Early);
        assert_eq!(run.broken, None, "seed {seed}");
        longest = longest.max(run.overlap);
    }
    assert!(longest > 0 && longest < ttl, "{longest}");
}

#[test]
fn each_rule_that_is_off_breaks_what_it_protects_and_no_other_matters() {
    rules::judge(Scheme::ZooKeeper, |seed, names, rules| {
        let configs: Vec<_> = names.iter().map(|name| to_the_point(name)).collect();
        let boot = move |common, boot, now| {
            ZooKeeper::with_rules(config(common), boot, now, rules).unwrap()
        };
        let store = Model::new(seed, Faults::Usual);
        let (storm, configs) = Storm::new(seed, &configs, store, Weather::STORM, true, boot);
        storm.run(&configs, 30)
    });
}

#[test]
fn beyond_the_bound_of_the_clocks_two_may_believe() {
    let weather = Weather {
        rates: 20_000,
        ..Weather::STORM
    };
    assert!((0..500).any(|seed| {
        let run = storm(seed, &DISTINCT, weather, Faults::Usual);
        run.broken.is_some()
    }));
}
