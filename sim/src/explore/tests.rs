//! The search against its meaning: the plain model, walked naively; and the reductions against the whole.

use super::*;
use std::collections::HashSet;
use std::hash::{Hash, Hasher};

fn bounds(terms: u64, crashes: u8) -> Bounds {
    Bounds {
        terms,
        crashes,
        ..Bounds::default()
    }
}

/// Every state of the plain model: how many differ, how many were generated, how deep.
fn walk(setting: &Setting) -> (u64, u64, usize) {
    let model = Model::new(setting).unwrap();
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
        timings: vec![short_timing(7, 1, 333_334)],
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
            println!("{figures:?}");
            assert_eq!(figures, walk(&setting), "{setting:?}");
        }
    }
}
