//! The laws of the world: W1 one trace, W2 time travel, W3 faults without effect say so.

use tenure_sim::fault::{Action, Who};
use tenure_sim::history::History;
use tenure_sim::physics::trace::Kind;
use tenure_sim::{Scenario, World};

/// A bit of everything.
const STORMY: &str = r#"{
    "tenure": 1, "scheme": "raft", "nodes": 5, "seed": "11", "duration": "12s",
    "network": {"latency": ["2ms", "30ms"], "loss": "2%", "duplicate": "1%"},
    "client": {"think": "3ms"}, "jobs": {"every": "150ms", "takes": "90ms"},
    "faults": [
        {"at": "2s", "crash": "leader"}, {"at": "3s", "restart": "crashed"},
        {"at": "4s", "pause": "leader"}, {"at": "5s", "resume": "paused"},
        {"at": "6s", "partition": [["leader", "follower"], ["rest"]]}, {"at": "7s", "heal": "all"},
        {"at": "8s", "disk": {"node": "n2", "write": "40ms"}}, {"at": "8s", "network": {"loss": "30%"}},
        {"at": "9s", "network": {}}, {"at": "9s", "disk": {"node": "n2"}}, {"at": "10s", "resign": "leader"}
    ]
}"#;

fn stormy() -> Scenario {
    Scenario::parse(STORMY).unwrap()
}

fn finished(scenario: &Scenario) -> World {
    let mut world = World::new(scenario);
    world.run();
    world
}

#[test]
fn w1_the_same_seed_gives_the_same_trace_and_another_another() {
    let (first, second) = (finished(&stormy()), finished(&stormy()));
    assert_eq!(first.trace().hash(), second.trace().hash());
    assert!(first.trace().count() > 5_000, "{}", first.trace().count());
    assert_ne!(
        first.trace().hash(),
        finished(&stormy().with_seed(12)).trace().hash()
    );
}

#[test]
fn w1_the_steps_in_which_a_run_is_made_do_not_matter() {
    let scenario = stormy();
    let whole = finished(&scenario);
    let mut stepped = World::new(&scenario);
    for at in (0..=scenario.duration).step_by(7_777) {
        stepped.run_until(at);
    }
    stepped.run();
    assert_eq!(stepped.trace().hash(), whole.trace().hash());
}

#[test]
fn w1_recording_does_not_change_the_trace() {
    let scenario = stormy();
    let mut recorded = World::new(&scenario);
    recorded.trace_mut().recording = true;
    recorded.run();
    assert_eq!(recorded.trace().hash(), finished(&scenario).trace().hash());
    assert_eq!(
        recorded.trace().fresh.len() as u64,
        recorded.trace().count()
    );
    let events = &recorded.trace().fresh;
    assert!(events.windows(2).all(|pair| pair[0].at <= pair[1].at));
    assert!(
        events
            .iter()
            .enumerate()
            .all(|(place, event)| event.cause < place as i64),
        "a cause comes before its effect"
    );
}

#[test]
fn w2_seeking_back_and_replaying_equals_a_fresh_run() {
    let scenario = stormy();
    let mut history = History::new(scenario.clone()).unwrap();
    history.seek(scenario.duration);
    assert_eq!(
        history.head().trace().hash(),
        finished(&scenario).trace().hash()
    );
    for at in [
        9_000_000, 1, 3_333_333, 3_333_334, 7_000_000, 0, 11_999_999, 6_000_000,
    ] {
        history.seek(at);
        let mut fresh = World::new(&scenario);
        fresh.run_until(at);
        assert_eq!(
            (history.now(), history.world().trace().hash()),
            (at, fresh.trace().hash()),
            "{at}"
        );
        assert_eq!(history.horizon(), scenario.duration);
    }
}

#[test]
fn w2_a_clone_goes_on_alike_and_can_part() {
    let mut world = World::new(&stormy());
    world.run_until(3_500_000);
    let (mut same, mut other) = (world.clone(), world.clone());
    other.act(Action::Crash(Who::Leader)).unwrap();
    for world in [&mut world, &mut same, &mut other] {
        world.run();
    }
    assert_eq!(world.trace().hash(), same.trace().hash());
    assert_ne!(world.trace().hash(), other.trace().hash());
}

#[test]
fn w2_an_intervention_is_undone_and_redone_and_its_scenario_reproduces_it() {
    let scenario = stormy();
    let mut history = History::new(scenario.clone()).unwrap();
    history.seek(scenario.duration);
    let (calm, calm_events) = (history.head().trace().hash(), history.events().to_vec());

    history.seek(2_500_000);
    history.act(Action::Crash(Who::Leader)).unwrap();
    history
        .act(Action::Cut(Who::Node(0), Who::Node(1)))
        .unwrap();
    assert_eq!(
        history.horizon(),
        2_500_000,
        "the future is to be computed anew"
    );
    history.seek(scenario.duration);
    let (changed, changed_events) = (history.head().trace().hash(), history.events().to_vec());
    assert_ne!(changed, calm);

    let exported = Scenario::parse(&history.scenario().to_json()).unwrap();
    assert_eq!(
        finished(&exported).trace().hash(),
        changed,
        "the exported scenario is the same run"
    );

    history.seek(4_000_000);
    assert!(history.undo() && history.undo() && !history.undo());
    assert_eq!(
        (history.now(), history.head().trace().hash()),
        (4_000_000, calm)
    );
    assert_eq!(history.events(), calm_events);
    assert!(history.redo() && history.redo() && !history.redo());
    assert_eq!(
        (history.head().trace().hash(), history.events()),
        (changed, &changed_events[..])
    );
}

#[test]
fn w2_an_intervention_at_any_instant_is_reproduced_by_its_scenario() {
    // Zero disk time and a pause make things happen at the very instant of an action.
    let mut scenario = stormy();
    scenario.disk.write = 0;
    for at in [0, 2_000_000, 4_000_000, 5_000_000, 5_000_001] {
        let mut history = History::new(scenario.clone()).unwrap();
        history.seek(at);
        for action in [
            Action::Pause(Who::Leader),
            Action::Resume(Who::Paused),
            Action::Crash(Who::Follower),
        ] {
            history.act(action).unwrap();
        }
        history.seek(scenario.duration);
        let exported = Scenario::parse(&history.scenario().to_json()).unwrap();
        assert_eq!(
            finished(&exported).trace().hash(),
            history.head().trace().hash(),
            "{at}"
        );
    }
}

#[test]
fn w2_the_next_event_of_a_kind_is_found_in_the_known_and_the_unknown_future() {
    let mut history = History::new(stormy()).unwrap();
    let mut found = Vec::new();
    while history.seek_next(1 << Kind::Established as u64) {
        found.push(history.now());
    }
    assert!(found.len() >= 3, "{found:?}");
    assert_eq!(history.now(), history.world().duration());
    history.seek(0);
    for at in found {
        assert!(history.seek_next(1 << Kind::Established as u64));
        assert_eq!(history.now(), at);
    }
}

#[test]
fn w3_a_fault_without_effect_says_so() {
    let scenario = Scenario::parse(
        r#"{"tenure": 1, "scheme": "raft", "nodes": 3, "duration": "5s", "faults": [
            {"at": "1s", "restart": "n1"}, {"at": "1s", "resume": "n1"}, {"at": "1s", "heal": "all"}, {"at": "1s", "heal": ["n1", "n2"]},
            {"at": "1s", "restart": "crashed"}, {"at": "1s", "resign": "follower"}, {"at": "1s", "network": {}}, {"at": "1s", "disk": {"node": "n1"}},
            {"at": "1s", "partition": [["n1", "n2", "n3"]]},
            {"at": "2s", "crash": "n1"}, {"at": "2s", "crash": "n1"}, {"at": "2s", "pause": "n1"}, {"at": "2s", "campaign": "n1"},
            {"at": "3s", "pause": "n2"}, {"at": "3s", "pause": "n2"}, {"at": "3s", "cut": ["n1", "n2"]}, {"at": "3s", "cut": ["n1", "n2"]},
            {"at": "4s", "heal": "all"}
        ]}"#,
    )
    .unwrap();
    let mut world = World::new(&scenario);
    world.trace_mut().recording = true;
    world.run();
    let without: Vec<i64> = world
        .trace()
        .fresh
        .iter()
        .filter(|event| event.kind == Kind::NoEffect)
        .map(|event| event.a)
        .collect();
    assert_eq!(without, [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 14, 16]);
    assert_eq!(world.faults().fired.iter().sum::<u32>(), 18);
    assert_eq!(world.faults().effective.iter().sum::<u32>(), 4);
}
