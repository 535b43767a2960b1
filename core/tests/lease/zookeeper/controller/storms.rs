//! Under whatever can go wrong, in nodes, network and store.

use super::store::{Kafka, Seen};
use super::{common, config};
use crate::storm::{Run, Storm, Weather};
use crate::zookeeper::store::Faults;
use std::sync::atomic::{AtomicU8, Ordering};
use tenure::lease::zookeeper::controller::Controller;
use tenure::lease::{Boot, Config as Common, Invariant, Rule, Switched};
use tenure::{Duration, Instant};

const DISTINCT: [&str; 3] = ["anna", "ben", "cleo"];

fn boot(common: Common, boot: Boot, now: Instant) -> Controller {
    Controller::new(config(common), boot, now).unwrap()
}

/// Without a margin, which is there for the work and not for the election.
fn to_the_point(name: &str) -> Common {
    let mut common = common(name);
    common.timing.margin = Duration::ZERO;
    common
}

fn storm(seed: u64, names: &[&str], weather: Weather, faults: Faults) -> (Run, Seen) {
    let configs: Vec<_> = names.iter().map(|name| to_the_point(name)).collect();
    let store = Kafka::new(seed, faults);
    let seen = store.seen.clone();
    let (storm, configs) = Storm::new(seed, &configs, store, weather, true, boot);
    let storm = match faults {
        Faults::Early => storm.excused(),
        _ => storm,
    };
    let run = storm.run(&configs, 30);
    (run, seen.get())
}

/// How long after the end of all faults somebody leads: as of the queue.
fn led_again() -> u64 {
    let config = config(common("anna"));
    let ttl = config.common.timing.ttl;
    let machine = boot(
        config.common.clone(),
        Boot {
            incarnation: 1,
            seed: 1,
        },
        Instant::ZERO,
    );
    let takeover = machine.budget().unwrap().takeover + ttl + ttl + ttl + ttl;
    takeover.as_micros()
}

#[test]
fn in_calm_weather_one_leads_and_goes_on() {
    let (run, seen) = storm(1, &DISTINCT, Weather::CALM, Faults::None);
    assert_eq!((run.broken, run.tenures, run.lapsed), (None, 1, 0));
    assert!(run.vacant < 1_000_000, "{run:?}");
    assert_eq!((seen.claims, seen.stale, seen.leaps), (1, 0, 0));
}

#[test]
fn in_any_weather_nobody_believes_beside_another() {
    let (mut tenures, mut lapsed, mut refused) = (0, 0, 0);
    for seed in 0..2000 {
        let names = if seed % 4 == 0 {
            ["anna", "anna", "ben"]
        } else {
            DISTINCT
        };
        let (run, seen) = storm(seed, &names, Weather::STORM, Faults::Usual);
        // KZ-OneControllerPerEpoch is INV-E6: no two tenures have one token.
        assert_eq!(run.broken, None, "seed {seed}");
        // KZ-NoStaleWrite, KZ-EpochMonotone.
        assert_eq!((seen.stale, seen.leaps), (0, 0), "seed {seed}");
        let again = run.led_after.is_some_and(|after| after <= led_again());
        assert!(again, "seed {seed}: {run:?}");
        (tenures, lapsed) = (tenures + run.tenures, lapsed + run.lapsed);
        refused += seen.refused;
    }
    println!("{tenures} tenures, {lapsed} lapsed, {refused} late writes refused");
    assert!(
        tenures > 8_000 && lapsed > 500 && refused > 1_000,
        "{tenures} {lapsed} {refused}"
    );
}

/// Somebody closes a session: until the holder hears of it two believe, but not for longer than the session would have lasted.
/// What it writes meanwhile is refused.
#[test]
fn where_sessions_are_closed_early_two_believe_for_less_than_a_session() {
    let ttl = common("anna").timing.ttl.as_micros();
    let mut longest = 0;
    for seed in 0..500 {
        let (run, seen) = storm(seed, &DISTINCT, Weather::STORM, Faults::Early);
        assert_eq!((run.broken, seen.stale), (None, 0), "seed {seed}");
        longest = longest.max(run.overlap);
    }
    assert!(longest > 0 && longest < ttl, "{longest}");
}

static OFF: AtomicU8 = AtomicU8::new(0);

fn without() -> Switched {
    Switched::without(&[Rule::ALL[usize::from(OFF.load(Ordering::SeqCst))]])
}

#[test]
fn each_rule_that_is_off_breaks_what_it_protects() {
    for rule in [
        Rule::ValidityFromSend,
        Rule::DemoteByTimer,
        Rule::ProvenAtLeader,
        Rule::GuardedWrites,
        Rule::OwnSession,
    ] {
        OFF.store(rule as u8, Ordering::SeqCst);
        let configs: Vec<_> = DISTINCT.iter().map(|name| to_the_point(name)).collect();
        let broken = (0..2000).find_map(|seed| {
            let store = Kafka::new(seed, Faults::Usual);
            let seen = store.seen.clone();
            let boot = |common, boot, now| {
                Controller::with_rules(config(common), boot, now, without()).unwrap()
            };
            let (storm, configs) = Storm::new(seed, &configs, store, Weather::STORM, true, boot);
            let broken = storm.run(&configs, 30).broken.map(|(name, _)| name);
            assert_eq!(seen.get().leaps, 0, "{rule:?}");
            let stale = (seen.get().stale > 0).then_some(Invariant::NoStaleWrite.name());
            broken.or(stale)
        });
        let all = rule.follows().iter().copied().chain([rule.protects()]);
        let allowed = all.map(Invariant::name).collect::<Vec<_>>();
        assert!(
            broken.is_some_and(|name| allowed.contains(&name)),
            "{rule:?}: {broken:?}"
        );
    }
}

#[test]
fn beyond_the_bound_of_the_clocks_two_may_believe() {
    let weather = Weather {
        rates: 20_000,
        ..Weather::STORM
    };
    assert!((0..500).any(|seed| {
        let (run, _) = storm(seed, &DISTINCT, weather, Faults::Usual);
        run.broken.is_some()
    }));
}
