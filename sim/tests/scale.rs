//! A thousand nodes, and a day: what is judged is judged there too, and what is kept is bounded.

use tenure_sim::check::{Check, Outcome};
use tenure_sim::{Scenario, World};

fn run(json: &str) -> World {
    let scenario = Scenario::parse(json).unwrap_or_else(|refusal| panic!("{refusal}"));
    let mut world = World::new(&scenario);
    world.run();
    world
}

#[test]
fn a_thousand_nodes_choose_a_leader_and_another_when_it_is_cut_off() {
    let world = run(
        r#"{"tenure": 1, "scheme": "raft", "nodes": 1001, "duration": "40s",
            "raft": {"heartbeat": "1s", "electionTimeout": ["10s", "20s"]}, "client": {"every": "1s"},
            "faults": [{"at": "20s", "partition": [["leader"], ["rest"]]}, {"at": "38s", "heal": "all"}]}"#,
    );
    assert_eq!(world.counts().establishments, 2);
    for check in [
        Check::OneLeaderPerTerm,
        Check::OneVotePerTerm,
        Check::TokenRises,
        Check::BelievedLeaders,
        Check::StaleWriteFenced,
    ] {
        let verdict = world.judges().verdict(check);
        assert_ne!(verdict.outcome, Outcome::Broken, "{}", check.name());
    }
    let votes = world.judges().tally(Check::OneVotePerTerm);
    assert!(votes.exercised > 1_000, "{votes:?}");
    assert_eq!(world.judges().unjudged(), 0);
}

#[test]
fn a_day_is_as_judged_as_a_second() {
    let world = run(
        r#"{"tenure": 1, "scheme": "raft", "nodes": 3, "duration": "24h", "raft": {"heartbeat": "60s",
            "electionTimeout": ["10min", "20min"]}, "client": {"every": "10min"},
            "faults": [{"at": "23h", "crash": "leader"}, {"at": "23.5h", "restart": "crashed"}]}"#,
    );
    assert_eq!(world.now(), 86_400_000_000);
    assert_eq!(world.counts().establishments, 2);
    let again = world.judges().verdict(Check::OneLeaderPerTerm);
    assert_eq!(again.outcome, Outcome::Holds);
}
