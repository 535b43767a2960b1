//! The job scheduler in whole worlds: a new leader takes over what the last one began, and what it costs to be without a
//! fence, without leases, or with a rule of the election off.

use tenure::Duration;
use tenure::lease::Timing;
use tenure_sim::check::{Check, Outcome, Tally};
use tenure_sim::fault::{Action, Fault, Who};
use tenure_sim::jobs::Jobs;
use tenure_sim::physics::clock::TRUE_PACE;
use tenure_sim::physics::trace::{Event, Kind};
use tenure_sim::scenario::{Elects, Lease};
use tenure_sim::scheme::lease;
use tenure_sim::{Scenario, World};

fn scenario(rest: &str) -> Scenario {
    let json = format!(
        r#"{{"tenure": 1, "scheme": "raft", "nodes": 3, "duration": "10s",
            "jobs": {{"every": "500ms", "takes": "120ms"}}, {rest}}}"#
    );
    Scenario::parse(&json).unwrap()
}

fn run(scenario: &Scenario) -> (World, Vec<Event>) {
    let mut world = World::new(scenario);
    world.trace_mut().recording = true;
    world.run();
    let events = std::mem::take(&mut world.trace_mut().fresh);
    (world, events)
}

fn outcome(world: &World, check: Check) -> Outcome {
    world.verdict(check).outcome
}

/// What the resource took, in order: jobs, and which were taken before.
fn effects(events: &[Event], resource: u16) -> Vec<(i64, bool)> {
    let taken = events
        .iter()
        .filter(|event| event.kind == Kind::JobDone && event.actor == resource);
    taken.map(|event| (event.a, event.b == 1)).collect()
}

const CRASH: &str = r#""faults": [{"at": "3570ms", "crash": "leader"}]"#;
const PAUSE: &str = r#""client": {"think": "60ms"}, "faults": [{"at": "3680ms", "pause": "leader"}, {"at": "6s", "resume": "paused"}]"#;

#[test]
fn a_calm_run_does_every_job_once_in_order() {
    let (world, events) = run(&scenario(r#""seed": "3""#));
    let all: Vec<(i64, bool)> = (1..=19).map(|job| (job, false)).collect();
    assert_eq!(effects(&events, 4)[..19], all);
    assert_eq!(effects(&events, 5)[..19], all);
    assert_eq!(outcome(&world, Check::JobsLost), Outcome::Holds);
    for check in [Check::JobsTwiceFenced, Check::JobsConcurrent] {
        assert_eq!(
            outcome(&world, check),
            Outcome::NotExercised,
            "nothing tried it"
        );
    }
}

#[test]
fn a_new_leader_takes_over_what_the_last_one_began_and_makes_up_for_what_was_missed() {
    let mut taken_over = 0;
    for seed in 0..30 {
        let (world, events) = run(&scenario(CRASH).with_seed(seed));
        let done = effects(&events, 4);
        assert!(done.len() >= 18, "{done:?}");
        let in_order = (1..).zip(&done).all(|(job, done)| *done == (job, false));
        assert!(in_order, "each once, in order: {done:?}");
        assert_eq!(outcome(&world, Check::JobsLost), Outcome::Holds);
        let again = events
            .iter()
            .any(|event| event.kind == Kind::JobClaimed && event.actor == 4 && event.b >= 0);
        if again {
            taken_over += 1;
            for check in [Check::JobsTwiceFenced, Check::JobsConcurrent] {
                assert_eq!(outcome(&world, check), Outcome::Holds, "seed {seed}");
            }
        }
    }
    assert!(taken_over > 20, "{taken_over}");
}

#[test]
fn who_froze_between_check_and_effect_runs_a_job_again_where_no_fence_is() {
    let mut twice = 0;
    for seed in 0..30 {
        let (world, events) = run(&scenario(PAUSE).with_seed(seed));
        assert_ne!(outcome(&world, Check::JobsTwiceFenced), Outcome::Broken);
        assert!(effects(&events, 4).iter().all(|(_, again)| !again));
        if outcome(&world, Check::JobsTwiceUnfenced) == Outcome::BrokenByDesign {
            twice += 1;
            let Tally {
                broken,
                first_broken_at,
                ..
            } = world.verdict(Check::JobsTwiceUnfenced).tally;
            assert!(broken == 1 && first_broken_at.unwrap() >= 6_000_000);
            assert!(effects(&events, 5).iter().any(|(_, again)| *again));
            assert_eq!(outcome(&world, Check::JobsTwiceFenced), Outcome::Holds);
            assert!(
                world.resource(1).unwrap().jobs().effects()
                    > world.resource(0).unwrap().jobs().effects()
            );
        }
    }
    assert!(twice > 3, "{twice}");
}

#[test]
fn who_wakes_in_the_middle_of_a_job_that_is_not_its_own_any_more_stops() {
    let pause = r#""jobs": {"every": "1s", "takes": "600ms"}, "faults": [{"at": "3300ms", "pause": "leader"}, {"at": "6s", "resume": "paused"}]"#;
    let json =
        format!(r#"{{"tenure": 1, "scheme": "raft", "nodes": 3, "duration": "10s", {pause}}}"#);
    let (world, events) = run(&Scenario::parse(&json).unwrap());
    let stopped: Vec<&Event> = events
        .iter()
        .filter(|event| event.kind == Kind::JobStopped)
        .collect();
    assert_eq!(
        (stopped.len(), stopped[0].at, stopped[0].a),
        (1, 6_000_000, 3)
    );
    assert_eq!(outcome(&world, Check::JobsConcurrent), Outcome::Holds);
    assert_eq!(effects(&events, 5).len(), effects(&events, 4).len());
}

#[test]
fn a_leader_that_resigns_stops_its_job_at_once() {
    let (world, events) = run(&scenario(
        r#""faults": [{"at": "3600ms", "resign": "leader"}]"#,
    ));
    let stopped = events
        .iter()
        .find(|event| event.kind == Kind::JobStopped)
        .unwrap();
    assert_eq!(stopped.at, 3_600_000);
    assert_eq!(outcome(&world, Check::JobsConcurrent), Outcome::Holds);
    assert_eq!(outcome(&world, Check::JobsLost), Outcome::Holds);
}

/// A leader with a long job is cut off with one follower.
fn cut_off(rest: &str) -> Scenario {
    let json = format!(
        r#"{{"tenure": 1, "scheme": "raft", "nodes": 5, "duration": "9s", "jobs": {{"every": "2s", "takes": "1800ms"}},
            "faults": [{{"at": "4300ms", "partition": [["leader", "follower"], ["rest"]]}}, {{"at": "7s", "heal": "all"}}]{rest}}}"#
    );
    Scenario::parse(&json).unwrap()
}

#[test]
fn who_is_cut_off_stops_where_its_tenure_ends_and_before_another_begins() {
    for seed in 0..20 {
        let (world, events) = run(&cut_off("").with_seed(seed));
        let stopped = events.iter().find(|event| event.kind == Kind::JobStopped);
        assert!(
            stopped.is_some_and(|event| event.at < 4_700_000),
            "seed {seed}"
        );
        assert_eq!(outcome(&world, Check::JobsConcurrent), Outcome::Holds);
    }
}

#[test]
fn without_leases_or_with_a_clock_beyond_the_bound_two_work_at_one_job() {
    let plain = cut_off(r#", "raft": {"safeMode": false}"#);
    let mut slow = cut_off("");
    let action = Action::Clock(Who::Leader, Some(TRUE_PACE / 5), 0);
    slow.faults.insert(
        0,
        Fault {
            at: 4_200_000,
            action,
        },
    );
    for (scenario, expected) in [(plain, Outcome::BrokenByDesign), (slow, Outcome::Broken)] {
        let concurrent = (0..20).filter(|seed| {
            let (world, _) = run(&scenario.clone().with_seed(*seed));
            assert_ne!(outcome(&world, Check::JobsTwiceFenced), Outcome::Broken);
            outcome(&world, Check::JobsConcurrent) == expected
        });
        assert!(concurrent.count() > 10);
    }
}

#[test]
fn the_deadline_is_kept_without_the_news_of_it() {
    // The machine does not tell that its lease lapsed: its standing does, to whoever looks.
    let silent = cut_off(r#", "rulesOff": ["lapse-deposes"]"#);
    for seed in 0..20 {
        let (world, _) = run(&silent.clone().with_seed(seed));
        assert_eq!(
            outcome(&world, Check::JobsConcurrent),
            Outcome::Holds,
            "seed {seed}"
        );
    }
}

#[test]
fn a_group_that_never_heals_owes_nothing_and_one_that_does_is_owed_every_job() {
    let down = r#"{"at": "3s", "crash": "n1"}, {"at": "3s", "crash": "n2"}"#;
    let (world, events) = run(&scenario(&format!(r#""faults": [{down}]"#)));
    assert_eq!(outcome(&world, Check::JobsLost), Outcome::Holds);
    assert!(effects(&events, 4).len() <= 6);
    let up = r#"{"at": "6s", "restart": "n1"}, {"at": "6s", "restart": "n2"}"#;
    let (world, events) = run(&scenario(&format!(r#""faults": [{down}, {up}]"#)));
    assert_eq!(outcome(&world, Check::JobsLost), Outcome::Holds);
    assert!(
        effects(&events, 4).len() >= 18,
        "{}",
        effects(&events, 4).len()
    );
}

#[test]
fn leaders_that_are_asked_to_resign_all_the_time_owe_nothing_meanwhile() {
    // Nothing is wrong with the world, and yet nobody leads for longer than the bound.
    let wishes: Vec<String> = (500..6_000)
        .step_by(10)
        .map(|at| format!(r#"{{"at": "{at}ms", "resign": "leader"}}"#))
        .collect();
    let (world, events) = run(&scenario(&format!(r#""faults": [{}]"#, wishes.join(","))));
    let done = |before| {
        let done = events.iter().filter(|event| event.kind == Kind::JobDone);
        done.filter(|event| event.at < before).count()
    };
    assert_eq!(done(6_000_000), 0);
    assert!(done(10_000_000) > 20);
    assert_eq!(outcome(&world, Check::JobsLost), Outcome::Holds);
    assert_eq!(outcome(&world, Check::LeaderAgain), Outcome::Holds);
}

#[test]
fn a_wish_of_which_nothing_comes_excuses_nothing() {
    let wishes: Vec<String> = (0..9)
        .map(|at| format!(r#"{{"at": "{at}s", "resign": "n1"}}"#))
        .collect();
    let silence = r#""network": {"loss": "100%"}"#;
    let (world, _) = run(&scenario(&format!(
        r#"{silence}, "faults": [{}]"#,
        wishes.join(",")
    )));
    assert_eq!(outcome(&world, Check::JobsLost), Outcome::Broken);
}

#[test]
fn work_that_was_frozen_in_a_slow_process_goes_on() {
    let slow = |by| format!(r#"{{"slow": {{"node": "leader", "by": "{by}ms"}}"#);
    let faults = format!(
        r#""faults": [{}, "at": "3s"}}, {{"at": "3570ms", "pause": "leader"}}, {{"at": "3580ms", "resume": "paused"}},
            {}, "at": "4s"}}]"#,
        slow(1),
        slow(0)
    );
    for seed in 0..10 {
        let (world, events) = run(&scenario(&faults).with_seed(seed));
        assert!(effects(&events, 4).len() >= 18, "seed {seed}");
        assert_eq!(outcome(&world, Check::JobsLost), Outcome::Holds);
    }
}

#[test]
fn a_run_without_jobs_is_not_judged_for_them() {
    let scenario = Scenario::parse(r#"{"tenure": 1, "scheme": "raft", "duration": "2s"}"#).unwrap();
    let (world, events) = run(&scenario);
    let concerned = |check| {
        world
            .verdicts()
            .iter()
            .any(|verdict| verdict.check == check)
    };
    assert!(concerned(Check::LeaderAgain) && !concerned(Check::JobsLost));
    assert_eq!(outcome(&world, Check::JobsLost), Outcome::NotExercised);
    assert!(events.iter().all(|event| event.kind != Kind::JobDue));
}

/// The same by Raft, and by each kind of store.
fn by_each_scheme(scenario: &Scenario) -> Vec<(String, Scenario)> {
    let raft = ("raft".to_string(), scenario.clone());
    // Without a token nothing is taken over.
    let kinds = lease::Kind::ALL
        .into_iter()
        .filter(|kind| kind.has_tokens());
    let stores = kinds.map(|kind| {
        let lease = Lease {
            timing: Timing::of(Duration::from_secs(3)),
            latency: Duration::from_millis(20),
            ..Lease::of(kind, Duration::from_secs(3))
        };
        let scenario = Scenario {
            elects: Elects::ByStore(lease),
            leader_within: 8_000_000,
            ..scenario.clone()
        };
        (kind.name().to_string(), scenario)
    });
    [raft].into_iter().chain(stores).collect()
}

/// Leaders die one after another, each in the middle of a job, and come back.
#[test]
fn whatever_elects_it_a_leader_that_dies_in_the_middle_of_a_job_costs_none() {
    let every = |at: u64| {
        let (crash, restart) = (Action::Crash(Who::Leader), Action::Restart(Who::Crashed));
        let fault = |at, action| Fault { at, action };
        [fault(at, crash), fault(at + 3_000_000, restart)]
    };
    let scenario = Scenario {
        nodes: 3,
        duration: 90_000_000,
        // A job takes most of its period, so that a leader is mostly in the middle of one.
        jobs: Some(Jobs {
            every: 300_000,
            takes: 250_000,
        }),
        faults: (1..9).flat_map(|crash| every(crash * 8_000_000)).collect(),
        ..Scenario::usual()
    };
    for (name, scenario) in by_each_scheme(&scenario) {
        let (mut middle, mut taken, mut done) = (0, 0, 0);
        for seed in 0..12 {
            let (world, events) = run(&scenario.clone().with_seed(seed));
            let fenced = fenced(&events);
            let claims = events.iter().filter(|event| event.kind == Kind::JobClaimed);
            taken += claims
                .filter(|event| event.actor == fenced && event.b >= 0)
                .count();
            // What was begun and is not done when its node dies.
            middle += events
                .iter()
                .filter(|event| event.kind == Kind::Crash)
                .filter(|crash| in_the_middle(&events, crash))
                .count();
            let effects = effects(&events, fenced);
            let in_order = (1..).zip(&effects).all(|(job, done)| *done == (job, false));
            assert!(in_order, "{name} {seed}: each once, in order");
            done += effects.len();
            for check in [
                Check::JobsLost,
                Check::JobsTwiceFenced,
                Check::JobsConcurrent,
            ] {
                assert_ne!(
                    outcome(&world, check),
                    Outcome::Broken,
                    "{name} {seed} {check:?}"
                );
            }
            assert_eq!(
                outcome(&world, Check::JobsLost),
                Outcome::Holds,
                "{name} {seed}"
            );
        }
        println!(
            "{name}: {middle} leaders died in the middle of a job, {taken} jobs were taken over, {done} done"
        );
        assert!(
            middle > 40 && taken >= middle * 3 / 4,
            "{name}: {middle} {taken}"
        );
    }
}

/// The actor of the resource that is fenced: the first.
fn fenced(events: &[Event]) -> u16 {
    let done = events.iter().filter(|event| event.kind == Kind::JobDone);
    done.map(|event| event.actor).min().expect("a job was done")
}

/// Whether the node that dies had begun a job of which the effect was not taken before.
fn in_the_middle(events: &[Event], crash: &Event) -> bool {
    let begun = events
        .iter()
        .take_while(|event| event.at < crash.at)
        .filter(|event| event.kind == Kind::JobStarted && event.actor == crash.actor)
        .last();
    begun.is_some_and(|begun| {
        let is_done = |event: &&Event| event.kind == Kind::JobDone && event.a == begun.a;
        events
            .iter()
            .find(is_done)
            .is_none_or(|done| done.at > crash.at)
    })
}
