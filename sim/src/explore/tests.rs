//! The search against its meaning: the plain model, walked naively.

use super::*;
use std::collections::HashSet;
use std::hash::{Hash, Hasher};

fn print(state: &State) -> u64 {
    let mut mix = super::hash::Mix::new(9);
    state.hash(&mut mix);
    mix.finish()
}

/// Every state of the plain model within the bounds, and all that can happen in it.
fn walk(model: &Model, mut look: impl FnMut(&State, Action, &State)) -> (u64, u64, usize) {
    let mut seen = HashSet::new();
    let mut level = model.initial();
    level.retain(|state| seen.insert(print(state)));
    let (mut generated, mut depth) = (level.len() as u64, 0);
    loop {
        let mut next = Vec::new();
        for state in &level {
            let mut actions = Vec::new();
            model.actions(state, &mut actions);
            for action in actions {
                if let Some(after) = model.next(state, action) {
                    look(state, action, &after);
                    generated += 1;
                    if seen.insert(print(&after)) {
                        next.push(after);
                    }
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

/// The same figures and the same joint states of the nodes, by two ways.
fn agree(setting: &Setting) -> (Report, Report) {
    let with = explore(
        &Setting {
            project: true,
            ..setting.clone()
        },
        |_| true,
    )
    .unwrap();
    let whole = explore(
        &Setting {
            project: true,
            ..setting.clone().whole()
        },
        |_| true,
    )
    .unwrap();
    assert!(with.exhausted() && whole.exhausted());
    assert_eq!(with.projected, whole.projected);
    (with, whole)
}

#[test]
fn reductions_lose_no_state_of_the_nodes() {
    let bounds = Bounds {
        terms: 1,
        crashes: 1,
        ..Bounds::default()
    };
    agree(&Setting::election(3, bounds));
    let bounds = Bounds {
        terms: 3,
        ..Bounds::default()
    };
    agree(&Setting::election(2, bounds));
    agree(&Setting::lease(2, Clocks::exact(3), bounds));
}
