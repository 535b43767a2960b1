//! The search against its meaning: the plain model, walked naively; and the reductions against the whole.

use super::*;
use std::collections::HashSet;
use std::hash::{Hash, Hasher};
use tenure::Duration;
use tenure::raft::{Rule, Timing};

fn bounds(terms: u64, crashes: u8) -> Bounds {
    Bounds {
        terms,
        crashes,
        ..Bounds::default()
    }
}

/// Clocks that drift are read to the microsecond.
fn drifts(promise: u64, rate_bound: u32) -> Timing {
    Timing {
        rate_bound,
        grain: Duration::from_micros(1),
        ..short_timing(promise, 1)
    }
}

/// Every state of the plain model: how many differ, how many were generated, how deep.
fn walk(setting: &Setting) -> (u64, u64, usize) {
    walk_each(&Model::new(setting).unwrap(), |_| {})
}

/// The same, showing each.
fn walk_each(model: &Model, mut shown: impl FnMut(&State)) -> (u64, u64, usize) {
    let print = |state: &State| {
        let mut mix = super::hash::Mix::new(9);
        state.hash(&mut mix);
        mix.finish()
    };
    let mut seen = HashSet::new();
    let mut level = model.initial();
    let mut generated = level.len() as u64;
    level.retain(|state| seen.insert(print(state)));
    let mut depth = 0;
    loop {
        let mut next = Vec::new();
        for state in &level {
            shown(state);
            let mut actions = Vec::new();
            model.actions(state, &mut actions);
            for after in actions
                .into_iter()
                .filter_map(|action| model.next(state, action))
            {
                assert_eq!(after.broken(), None);
                generated += 1;
                if seen.insert(print(&after)) {
                    next.push(after);
                }
            }
        }
        if next.is_empty() {
            return (seen.len() as u64, generated, depth);
        }
        depth += 1;
        level = next;
    }
}

/// Tables walk the same graph as the machines themselves: what stands for a node state does what any other in it does.
#[test]
fn the_search_walks_the_plain_model() {
    let drifting = Clocks {
        timings: vec![drifts(9, 333_334)],
        rates: vec![2, 4],
        unit: 3,
    };
    let whims = Bounds {
        whims: 2,
        rounds: 1,
        ..bounds(2, 0)
    };
    for setting in [
        Setting::election(3, bounds(1, 2)),
        Setting::election(2, bounds(3, 0)),
        Setting::election(2, bounds(2, 2)),
        Setting::lease(2, Clocks::exact(3), bounds(2, 1)),
        Setting::lease(2, Clocks::exact(4), whims),
        Setting::lease(
            3,
            Clocks::exact(3),
            Bounds {
                ticks: 3,
                ..bounds(1, 1)
            },
        ),
        Setting::lease(2, drifting, bounds(1, 0)),
        Setting {
            off: vec![],
            ..Setting::lease(
                2,
                Clocks::exact(3),
                Bounds {
                    ticks: 5,
                    ..bounds(1, 0)
                },
            )
        },
        Setting {
            network: Network::Once,
            ..Setting::election(3, bounds(1, 1))
        },
        Setting {
            network: Network::Once,
            ..Setting::lease(2, Clocks::exact(3), bounds(2, 0))
        },
    ] {
        for without_inert in [true, false] {
            let setting = Setting {
                without_inert,
                symmetry: false,
                ..setting.clone()
            };
            if !without_inert && setting.clocks.is_some() && setting.bounds.terms > 1 {
                continue;
            }
            let report = explore(&setting, |_| true).unwrap();
            assert!(report.exhausted(), "{setting:?} {report}");
            let figures = (report.unique, report.generated, report.depth());
            assert_eq!(figures, walk(&setting), "{setting:?}");
        }
    }
}

/// The reduced search reaches the same joint states of the nodes as the whole one, up to the names of nodes.
#[test]
fn reductions_lose_no_state_of_the_nodes() {
    let mut most = 0;
    for setting in [
        Setting::election(3, bounds(1, 2)),
        Setting::election(2, bounds(3, 0)),
        Setting::election(2, bounds(2, 2)),
        Setting::lease(3, Clocks::exact(3), bounds(1, 0)),
        Setting::lease(2, Clocks::exact(3), bounds(2, 0)),
        Setting::lease(
            2,
            Clocks::exact(3),
            Bounds {
                ticks: 3,
                whims: 2,
                ..bounds(2, 1)
            },
        ),
        Setting {
            off: Vec::new(),
            symmetry: false,
            ..Setting::lease(
                2,
                Clocks::exact(3),
                Bounds {
                    ticks: 4,
                    ..bounds(1, 0)
                },
            )
        },
    ] {
        let projected = Setting {
            project: true,
            ..setting
        };
        let reduced = explore(&projected, |_| true).unwrap();
        let whole = explore(&projected.clone().whole(), |_| true).unwrap();
        assert!(reduced.exhausted() && whole.exhausted(), "{projected:?}");
        assert_eq!(reduced.projected, whole.projected, "{projected:?}");
        most = most.max(whole.unique / reduced.unique);
    }
    assert!(most >= 20, "the reductions save only a factor of {most}");
}

/// How many joint states of the nodes are met, and how many more would be under other names.
fn lost_by_renaming(setting: &Setting) -> (usize, usize) {
    let model = Model::new(setting).unwrap();
    let voters = setting.voters;
    let mut orders = vec![(0..voters).collect::<Vec<usize>>()];
    for last in (1..voters).rev() {
        let mut swapped = orders[0].clone();
        swapped.swap(last - 1, last);
        orders.push(swapped);
    }
    let print = |state: &State, order: &[usize]| {
        let prints = (0..voters).map(|place| state.node(place).print_bare(place, order, true));
        prints.fold(0, u64::wrapping_add)
    };
    let (mut met, mut renamed) = (HashSet::new(), HashSet::new());
    walk_each(&model, |state| {
        met.insert(print(state, &orders[0]));
        renamed.extend(orders[1..].iter().map(|order| print(state, order)));
    });
    let lost = renamed.difference(&met).count();
    (met.len(), lost)
}

/// Why pre-vote and symmetry do not go together: a pre-candidate steps back from a higher name, never from a lower one
/// (RL-9). A renaming that swaps two nodes leads to joint states that no schedule reaches, and no renaming of a group but
/// the one that changes nothing keeps the order of its names. Without pre-vote every renaming of what is met is met.
#[test]
fn names_matter_where_a_rule_compares_them() {
    let setting = |off: &[Rule], bounds| Setting {
        off: off.to_vec(),
        symmetry: false,
        ..Setting::lease(2, Clocks::exact(3), Bounds { ticks: 4, ..bounds })
    };
    let (met, lost) = lost_by_renaming(&setting(&[], bounds(1, 0)));
    println!("with pre-vote: {met} joint states, {lost} only under other names");
    assert!(lost > 0 && met > 100, "{lost} of {met}");
    let (met, lost) = lost_by_renaming(&setting(&[Rule::PreVote], bounds(2, 1)));
    println!("without: {met}, {lost}");
    assert!(lost == 0 && met > 100, "{lost} of {met}");
}

/// Whatever happened before: once nothing fails any more, one leads whom all name. No state is stuck.
#[test]
fn every_state_heals() {
    let drifting = Clocks {
        timings: vec![drifts(9, 333_334)],
        rates: vec![2, 4],
        unit: 3,
    };
    let asked = |setting: Setting, one_in| Setting {
        liveness: Some(one_in),
        ..setting
    };
    println!("asked | of | inputs at most | ms");
    for setting in [
        asked(Setting::election(3, bounds(2, 1)), 1),
        asked(Setting::election(5, bounds(1, 0)), 1),
        asked(Setting::lease(3, Clocks::exact(3), bounds(1, 0)), 10),
        asked(Setting::lease(2, Clocks::exact(3), bounds(2, 1)), 1),
        asked(Setting::lease(2, drifting, bounds(1, 0)), 1),
        Setting {
            off: vec![],
            symmetry: false,
            ..asked(
                Setting::lease(
                    2,
                    Clocks::exact(3),
                    Bounds {
                        ticks: 5,
                        ..bounds(1, 1)
                    },
                ),
                1,
            )
        },
    ] {
        let begun = std::time::Instant::now();
        let report = explore(&setting, |_| true).unwrap();
        let (asked, all) = (report.healed, report.unique);
        let took = begun.elapsed().as_millis();
        println!("{asked} | {all} | {} | {took}", report.slowest);
        assert!(report.exhausted(), "{setting:?}: {report}");
        let one_in = setting.liveness.unwrap();
        assert!(asked * one_in > all / 2 && asked > 100, "{asked} of {all}");
        // Far from the bound: it cuts off nobody who is only slow.
        assert!(report.slowest < super::heal::STEPS / 5, "{report}");
    }
}

/// Every message at most once: what a set of messages that stay can hide, a bag of messages cannot.
#[test]
fn a_network_that_delivers_once_is_a_second_opinion() {
    let once = |setting: Setting| Setting {
        network: Network::Once,
        ..setting
    };
    for setting in [
        Setting::election(3, bounds(1, 1)),
        Setting::lease(
            3,
            Clocks::exact(3),
            Bounds {
                ticks: 4,
                ..bounds(1, 0)
            },
        ),
    ] {
        let report = explore(&once(setting), |_| true).unwrap();
        assert!(report.exhausted(), "{report}");
    }
    for rule in [
        Rule::OneVoteATerm,
        Rule::MajorityOfVoters,
        Rule::OwnTermGrants,
        Rule::PromiseBindsVoter,
    ] {
        let hunt = Hunt::of(rule).unwrap();
        let (set, bag) = (
            explore(&hunt.setting, |_| true),
            explore(&once(hunt.setting), |_| true),
        );
        let found = [set, bag].map(|report| {
            let example = report.unwrap().counterexample.unwrap();
            assert!(example.confirmed);
            (example.law, example.path.len())
        });
        assert_eq!(found[0], found[1], "{rule:?}");
    }
}

/// Clocks at the ends of the bound keep the leases apart; the same clocks under a bound that they exceed do not.
#[test]
fn leases_hold_as_far_as_the_clocks_do() {
    let bounds = Bounds {
        whims: 1,
        ticks: 7,
        ..bounds(2, 0)
    };
    let drifting = |timing, bounds| {
        let clocks = Clocks {
            timings: vec![timing],
            rates: vec![4, 6],
            unit: 5,
        };
        Setting::lease(3, clocks, bounds)
    };
    let beyond = explore(&drifting(short_timing(6, 1), bounds), |_| true).unwrap();
    let example = beyond.counterexample.unwrap();
    assert!(example.confirmed, "{example}");
    assert_eq!(example.law, Law::OneBelieved, "{example}");
    let scenario = example.scenario(&drifting(short_timing(6, 1), bounds));
    let clocks = crate::Scenario::parse(&scenario.unwrap().to_json())
        .unwrap()
        .clocks;
    assert!(!clocks.is_empty());
    assert!(
        clocks
            .iter()
            .all(|pace| [800_000, 1_200_000].contains(pace))
    );
    let depth = example.path.len() as u32;
    let within = explore(
        &drifting(drifts(6, 200_000), Bounds { depth, ..bounds }),
        |_| true,
    )
    .unwrap();
    assert!(within.counterexample.is_none(), "{within}");
    assert!(within.unique > beyond.unique / 2);
}

#[test]
fn settings_that_cannot_be_explored_are_refused() {
    let base = || Setting::lease(3, Clocks::exact(3), bounds(2, 0));
    let clocks = |change: fn(&mut Clocks)| {
        let mut clocks = Clocks::exact(3);
        change(&mut clocks);
        Setting::lease(3, clocks, bounds(2, 0))
    };
    let refused = [
        (Setting::election(0, bounds(1, 0)), Unexplorable::Voters(0)),
        (Setting::election(6, bounds(1, 0)), Unexplorable::Voters(6)),
        (Setting::election(3, bounds(31, 0)), Unexplorable::Terms(31)),
        (
            Setting {
                off: vec![],
                ..base()
            },
            Unexplorable::Names,
        ),
        (clocks(|clocks| clocks.rates.clear()), Unexplorable::Rates),
        (clocks(|clocks| clocks.rates = vec![3]), Unexplorable::Rates),
        (
            clocks(|clocks| clocks.timings.push(short_timing(3, 1))),
            Unexplorable::Count {
                given: 2,
                voters: 3,
            },
        ),
    ];
    for (setting, why) in refused {
        assert_eq!(explore(&setting, |_| true).unwrap_err(), why);
        let text = why.to_string();
        assert!(
            ["explore", "use", "give", "switch"]
                .iter()
                .any(|verb| text.contains(verb)),
            "{text}"
        );
    }
    let short = clocks(|clocks| clocks.timings = vec![short_timing(1, 1)]);
    assert!(matches!(
        explore(&short, |_| true),
        Err(Unexplorable::Config(_))
    ));
}

/// A counterexample reads as what happened.
#[test]
fn a_counterexample_tells_a_story() {
    let hunt = Hunt::of(Rule::MajorityOfVoters).unwrap();
    let report = explore(&hunt.setting, |_| true).unwrap();
    let told = report.counterexample.unwrap().to_string();
    let lines: Vec<&str> = told.lines().map(str::trim).collect();
    assert_eq!(
        lines,
        [
            "INV-E1: two leaders of one term, after 4 actions",
            "t=0   node 0 times out, stands in term 1",
            "t=0   the disk of node 0 did a write, leads in term 1; \
             says RequestVote 1 to 1, RequestVote 1 to 2, Heartbeat 1 to 1, Heartbeat 1 to 2",
            "t=0   node 1 times out, stands in term 1",
            "t=0   the disk of node 1 did a write, leads in term 1; \
             says RequestVote 1 to 0, RequestVote 1 to 2, Heartbeat 1 to 0, Heartbeat 1 to 2",
        ],
        "{told}"
    );
}
