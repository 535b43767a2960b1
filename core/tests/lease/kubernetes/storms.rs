//! Under whatever can go wrong, in nodes, network and API server.

use super::api::Api;
use super::config;
use crate::rules::{self, DISTINCT, LATE};
use crate::storm::{Run, Storm, Weather};
use tenure::lease::kubernetes::{Config, Kubernetes};
use tenure::lease::{Boot, Config as Common, Scheme};
use tenure::{Duration, Instant};

/// The deadline leaves a holder all that the clocks and the margin allow.
fn tight(common: Common) -> Config {
    Config {
        common,
        renew_deadline: Duration::from_millis(14_999),
    }
}

fn usual(common: Common, boot: Boot, now: Instant) -> Kubernetes {
    Kubernetes::new(Config::of(common), boot, now).unwrap()
}

fn to_the_last(common: Common, boot: Boot, now: Instant) -> Kubernetes {
    Kubernetes::new(tight(common), boot, now).unwrap()
}

fn storm(seed: u64, names: &[&str], weather: Weather) -> Run {
    let configs: Vec<_> = names.iter().map(|name| config(name).common).collect();
    let boot = [usual, to_the_last][seed as usize % 2];
    let store = if weather.faults {
        Api::busy(seed)
    } else {
        Api::default()
    };
    let (storm, configs) = Storm::new(seed, &configs, store, weather, true, boot);
    storm.run(&configs, 30)
}

#[test]
fn in_calm_weather_one_leads_and_goes_on() {
    for seed in 0..2 {
        let run = storm(seed, &DISTINCT, Weather::CALM);
        assert_eq!((run.broken, run.tenures, run.lapsed), (None, 1, 0));
        assert!(run.vacant < 300_000, "{run:?}");
    }
}

#[test]
fn in_any_weather_nobody_believes_beside_another() {
    let (mut tenures, mut lapsed) = (0, 0);
    for seed in 0..4000 {
        let names = if seed % 8 < 2 {
            ["anna", "anna", "ben"]
        } else {
            DISTINCT
        };
        let run = storm(seed, &names, Weather::STORM);
        assert_eq!(run.broken, None, "seed {seed}");
        // What is still under way when it calms takes two leases at most, and one who resigned stands back for one.
        let (budget, ttl) = (
            config("anna").budget().unwrap(),
            config("anna").common.timing.ttl,
        );
        let takeover = (budget.takeover + ttl + ttl + ttl).as_micros();
        assert!(
            run.led_after.is_some_and(|after| after <= takeover),
            "seed {seed}: {run:?}"
        );
        (tenures, lapsed) = (tenures + run.tenures, lapsed + run.lapsed);
    }
    assert!(tenures > 16_000 && lapsed > 2_000, "{tenures} {lapsed}");
}

fn touched(seed: u64, weather: Weather) -> Run {
    let configs: Vec<_> = DISTINCT.iter().map(|name| config(name).common).collect();
    let store = Api::touched(seed);
    let (storm, configs) = Storm::new(seed, &configs, store, weather, true, usual);
    storm.excused().run(&configs, 30)
}

/// Whoever finds it free, or for the first time sees that there is none, takes it at once; who held it believes until it
/// hears of it, and that is not for longer than the renew deadline.
#[test]
fn where_the_object_is_touched_two_believe_for_less_than_a_renew_deadline() {
    let slow = |time: Duration| config("anna").common.timing.rate.at_most(time).as_micros();
    let mut longest = 0;
    for seed in 0..2000 {
        let run = touched(seed, Weather::STORM);
        assert_eq!(run.broken, None, "seed {seed}");
        assert!(run.led_after.is_some(), "seed {seed}: {run:?}");
        longest = longest.max(run.overlap);
    }
    let bound = slow(config("anna").belief());
    assert!(longest > bound / 2 && longest <= bound, "{longest}");
}

/// Where nothing else goes wrong it hears of it with its next update.
#[test]
fn where_nothing_else_goes_wrong_it_is_heard_of_with_the_next_update() {
    let timing = config("anna").common.timing;
    let bound = (timing.renew + timing.retry + timing.patience).as_micros();
    let mut longest = 0;
    for seed in 0..500 {
        let run = touched(seed, Weather::CALM);
        longest = longest.max(run.overlap);
    }
    assert!(longest > 0 && longest <= bound, "{longest}");
}

#[test]
fn each_rule_that_is_off_breaks_what_it_protects_and_no_other_matters() {
    rules::judge(Scheme::Kubernetes, |seed, names, rules| {
        let configs: Vec<_> = names.iter().map(|name| config(name).common).collect();
        let boot = move |common, boot, now| {
            Kubernetes::with_rules(tight(common), boot, now, rules).unwrap()
        };
        let (storm, configs) = Storm::new(seed, &configs, Api::busy(seed), LATE, true, boot);
        storm.run(&configs, 30)
    });
}

#[test]
fn beyond_the_bound_of_the_clocks_two_may_believe() {
    let weather = Weather {
        rates: 40_000,
        ..Weather::STORM
    };
    assert!((0..500).any(|seed| storm(seed, &DISTINCT, weather).broken.is_some()));
}
