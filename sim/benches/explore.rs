//! The explorer beside stateright, which drives the same machines through the same transition system ([`Model`]) to the same
//! bound, on one thread, in one run; then what the reductions save.
//!
//!     cargo bench --bench explore

use stateright::{Checker, Property};
use std::time::Instant;
use tenure_sim::explore::{Action, Bounds, Clocks, Model, Report, Setting, State, explore};

/// The transition system as stateright wants it.
struct Peer(Model);

impl stateright::Model for Peer {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        self.0.initial()
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        self.0.actions(state, actions);
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        self.0.next(state, action)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("every invariant", |_, state: &State| {
            state.broken().is_none()
        })]
    }
}

fn seconds(begun: Instant) -> f64 {
    begun.elapsed().as_secs_f64()
}

fn ours(setting: &Setting) -> (Report, f64) {
    let begun = Instant::now();
    match explore(setting, |_| true) {
        Ok(report) => (report, seconds(begun)),
        Err(error) => panic!("{error}"),
    }
}

/// Both, three times in turn; the better time of each counts.
fn beside(name: &str, setting: &Setting) -> f64 {
    let (mut own, mut peer) = (f64::MAX, f64::MAX);
    let mut counts = (0, 0);
    for _ in 0..3 {
        let (report, took) = ours(setting);
        own = own.min(took);
        counts = (report.unique, report.generated);
        let model = Model::new(setting).unwrap_or_else(|error| panic!("{error}"));
        let begun = Instant::now();
        let checker = stateright::Model::checker(Peer(model))
            .threads(1)
            .spawn_bfs()
            .join();
        peer = peer.min(seconds(begun));
        let theirs = (
            checker.unique_state_count() as u64,
            checker.state_count() as u64,
        );
        assert_eq!(counts, theirs, "{name}: the two do not walk the same graph");
        assert!(report.exhausted() && checker.discoveries().is_empty());
    }
    let (unique, generated) = counts;
    let rate = |took: f64| generated as f64 / took / 1e6;
    println!(
        "{name}: {unique} states, {generated} generated; stateright {peer:.2} s ({:.2} M/s), tenure {own:.2} s ({:.2} M/s): {:.1} x",
        rate(peer),
        rate(own),
        peer / own
    );
    peer / own
}

/// What the reductions save, and that they lose no joint state of the nodes.
fn reduced(name: &str, setting: &Setting) {
    let setting = Setting {
        project: true,
        ..setting.clone()
    };
    let (whole, slow) = ours(&setting.clone().whole());
    let (reduced, fast) = ours(&setting);
    assert!(whole.exhausted() && reduced.exhausted(), "{name}");
    assert_eq!(whole.projected, reduced.projected, "{name}");
    println!(
        "{name}: {} states in {slow:.1} s, reduced {} in {fast:.2} s: {:.0} x fewer, the same {} joint states of the nodes",
        whole.unique,
        reduced.unique,
        whole.unique as f64 / reduced.unique as f64,
        reduced.projected.map_or(0, |projected| projected.len()),
    );
}

fn main() {
    let bounds = |terms, crashes| Bounds {
        terms,
        crashes,
        states: 60_000_000,
        ..Bounds::default()
    };
    let lease = Setting::lease(3, Clocks::exact(3), bounds(1, 0));
    let reached = [
        beside(
            "lease, 3 nodes, reduced",
            &Setting {
                symmetry: false,
                ..lease.clone()
            },
        ),
        beside("lease, 3 nodes, whole", &lease.clone().whole()),
        beside(
            "election, 2 nodes, whole",
            &Setting::election(2, bounds(3, 0)).whole(),
        ),
    ];
    let least = reached.iter().copied().fold(f64::MAX, f64::min);
    println!("least ratio to stateright: {least:.1} (target 1.5)");
    reduced(
        "election, 1 term, 2 crashes",
        &Setting::election(3, bounds(1, 2)),
    );
    reduced("lease, 1 term", &lease);
    reduced("election, 2 terms", &Setting::election(3, bounds(2, 0)));
}
