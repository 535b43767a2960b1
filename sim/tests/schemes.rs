//! The table of schemes and faults: its figures are those of the trace, its must-hold cells can break, and its must-break
//! cells can fail to.

use tenure::lease::{Rule, Switched, Timing};
use tenure::rate::RateBound;
use tenure_sim::World;
use tenure_sim::fault::Action;
use tenure_sim::measure::schemes::{
    Cells, Expected, Row, Table, Terms, Trial, Verdict, expected, scenario,
};
use tenure_sim::physics::trace::{Event, Kind as What};
use tenure_sim::scheme::lease::Kind;

const NODES: usize = 3;

fn cells(row: Row, terms: &Terms, trials: &[Trial], seeds: u64) -> Cells {
    let mut cells = Cells::default();
    for seed in 0..seeds {
        cells.run(row, terms, trials, seed).unwrap();
    }
    cells
}

fn table(row: Row, terms: Terms, trial: Trial, seeds: u64) -> Table {
    let cells = cells(row, &terms, &[trial], seeds);
    Table {
        terms,
        trials: vec![trial],
        rows: vec![(row, cells)],
    }
}

/// The run of a cell for itself, from its beginning, with all its events; and when its fault begins.
fn traced(row: Row, trial: Trial, seed: u64) -> (Vec<Event>, World, u64) {
    let scenario = scenario(row, &Terms::default(), trial, seed)
        .unwrap()
        .unwrap();
    let at = scenario.faults[0].at;
    let mut world = World::new(&scenario);
    world.trace_mut().recording = true;
    world.run();
    (std::mem::take(&mut world.trace_mut().fresh), world, at)
}

fn of(events: &[Event], kind: What) -> impl Iterator<Item = &Event> {
    events.iter().filter(move |event| event.kind == kind)
}

#[test]
fn two_leaders_are_summed_from_the_first_word_of_the_new_to_the_last_of_the_old() {
    for (kind, seed) in [(Kind::Sql, 1), (Kind::Sql, 2), (Kind::Etcd, 3)] {
        let row = Row::Lease(kind);
        let measured = cells_of(row, Trial::RateBeyond, seed);
        let (events, world, at) = traced(row, Trial::RateBeyond, seed);
        let old = of(&events, What::Deposed)
            .find(|event| event.at > at)
            .unwrap();
        let new = of(&events, What::Established)
            .find(|event| event.at > at)
            .unwrap();
        assert_ne!(old.actor, new.actor);
        let overlap = old.at - new.at;
        assert!(overlap > 3_000_000, "{overlap}");
        assert_eq!(measured.two_leaders.quantiles().max, overlap, "{kind:?}");
        assert_eq!(world.judges().overlaps(), [(new.at, old.at)]);
    }
}

/// The same from the timing alone: the old one counts a belief of its slow clock from the send of its last renewal that was
/// answered.
#[test]
fn the_last_word_of_the_old_one_is_where_its_clock_puts_it() {
    let row = Row::Lease(Kind::Sql);
    for seed in 0..5 {
        let (events, _, at) = traced(row, Trial::RateBeyond, seed);
        let old = of(&events, What::Deposed)
            .find(|event| event.at > at)
            .unwrap();
        let cut = of(&events, What::Cut).next().unwrap().at;
        let cause = |event: &Event| &events[event.cause as usize];
        // Back from the last answer: it was sent by the server, to which the request had come, which the node had sent.
        let answer = of(&events, What::Deliver)
            .filter(|event| {
                event.actor == old.actor && event.other == NODES as i32 && event.at < cut
            })
            .last()
            .unwrap();
        let sent = cause(cause(cause(answer)));
        assert_eq!((sent.kind, sent.actor), (What::Send, old.actor));
        assert!(sent.at > at, "sent by the slow clock");
        let timing = Timing::default();
        let belief = timing.belief(timing.ttl).as_micros();
        let ends = sent.at + belief * 10 / 7;
        assert!(old.at.abs_diff(ends) < 5, "{} {ends}", old.at);
    }
}

fn cells_of(row: Row, trial: Trial, seed: u64) -> tenure_sim::measure::schemes::Cell {
    let mut cells = Cells::default();
    cells.run(row, &Terms::default(), &[trial], seed).unwrap();
    cells.of(trial).clone()
}

#[test]
fn without_a_leader_is_from_the_crash_to_the_permission_of_the_next() {
    for row in Row::all() {
        let measured = cells_of(row, Trial::Crash, 4);
        let (events, _, at) = traced(row, Trial::Crash, 4);
        let next = of(&events, What::Established)
            .find(|event| event.at > at)
            .unwrap();
        let span = next.at - at;
        assert_eq!(measured.unavailable.quantiles().max, span, "{row:?}");
    }
}

#[test]
fn stale_writes_and_requests_are_those_of_the_trace() {
    let mut unfenced = 0;
    for row in Row::all() {
        for seed in 0..6 {
            let measured = cells_of(row, Trial::Pause, seed);
            let (events, world, at) = traced(row, Trial::Pause, seed);
            // The servers come after the nodes, and then the client and the resources, of which the fenced one is the first.
            let fenced = of(&events, What::Read)
                .map(|read| read.actor)
                .min()
                .unwrap();
            let servers = NODES..usize::from(fenced) - 1;
            let stale = |resource| {
                let taken = of(&events, What::WriteAccepted);
                taken
                    .filter(|event| event.actor == resource && event.a == 1)
                    .count() as u64
            };
            assert_eq!(
                measured.stale,
                [stale(fenced), stale(fenced + 1)],
                "{row:?}"
            );
            unfenced += measured.stale[1];
            let to = |event: &&Event| {
                let to = event.other as usize;
                let from = usize::from(event.actor);
                let between = from < NODES && to < NODES;
                event.at > at && from < NODES && (servers.contains(&to) || between)
            };
            let sent = of(&events, What::Send).filter(to).count() as u64;
            assert_eq!(measured.requests, sent, "{row:?}");
            assert_eq!(measured.time, world.duration() - at);
        }
    }
    assert!(unfenced > 0);
}

/// A cell is measured in a world that was forked; the run for itself is the same.
#[test]
fn a_cell_is_that_of_the_whole_run() {
    for row in Row::all() {
        for trial in Trial::ALL {
            if trial == Trial::None || matches!(expected(row, trial), Expected::NotApplicable(_)) {
                continue;
            }
            let measured = cells_of(row, trial, 5);
            let (_, world, _) = traced(row, trial, 5);
            let belief = world.judges().belief();
            assert_eq!(
                measured.two_leaders.quantiles().max,
                belief.overlap,
                "{row:?} {trial:?}"
            );
        }
    }
}

#[test]
fn every_cell_is_as_expected() {
    for row in Row::all() {
        let cells = cells(row, &Terms::default(), &Trial::ALL, 12);
        for trial in Trial::ALL {
            let (cell, expected) = (cells.of(trial), expected(row, trial));
            assert!(
                cell.is_as_expected(trial, expected),
                "{row:?} {trial:?} {:?} {:?}",
                cell.verdict(trial, expected),
                cell.broke()
            );
        }
    }
}

#[test]
fn without_the_rule_that_a_tenure_ends_by_the_clock_a_must_hold_cell_breaks() {
    // Others may be slower to let the next in than the cut is long.
    for kind in [Kind::Sql, Kind::Etcd] {
        let terms = Terms {
            rules: Switched::without(&[Rule::DemoteByTimer]),
            ..Terms::default()
        };
        let row = Row::Lease(kind);
        assert_eq!(expected(row, Trial::Partition), Expected::Holds);
        let table = table(row, terms, Trial::Partition, 3);
        let cell = table.rows[0].1.of(Trial::Partition);
        assert_eq!(
            cell.verdict(Trial::Partition, Expected::Holds),
            Verdict::Broken
        );
        assert!(cell.broke().contains(&"two leaders"), "{kind:?}");
        assert!(cell.broken_by.is_some());
        assert!(!table.is_as_expected(), "{kind:?}");
        let told = format!(
            "not as expected: {} under partition: broken: two leaders",
            kind.name()
        );
        assert!(table.to_text().contains(&told), "{}", table.to_text());
    }
}

#[test]
fn a_cell_that_must_break_and_does_not_is_not_as_expected() {
    // Clocks may be almost as far off as they are, and leases are counted accordingly.
    let terms = Terms {
        timing: Timing {
            rate: RateBound(290_000),
            ..Timing::default()
        },
        ..Terms::default()
    };
    let table = table(Row::Lease(Kind::Sql), terms, Trial::RateBeyond, 3);
    let cell = table.rows[0].1.of(Trial::RateBeyond);
    assert_eq!(cell.broke(), [""; 0]);
    assert!(!table.is_as_expected());
    assert!(table.to_text().contains("holds, and must not: "));
}

#[test]
fn a_fault_that_changed_nothing_says_so_and_shows_nothing() {
    let cells = cells(Row::Raft, &Terms::default(), &[Trial::None], 1);
    let cell = cells.of(Trial::None);
    assert_eq!(cell.verdict(Trial::None, Expected::Holds), Verdict::Holds);
    // Had it been to be a pause:
    let verdict = cell.verdict(Trial::Pause, Expected::Holds);
    assert_eq!(verdict, Verdict::NoEffect);
    assert!(!cell.is_as_expected(Trial::Pause, Expected::Holds));
}

#[test]
fn faults_are_the_same_for_every_scheme() {
    for trial in [
        Trial::Crash,
        Trial::Pause,
        Trial::Partition,
        Trial::RateBeyond,
    ] {
        for seed in 0..5 {
            let of = |row| {
                let scenario = scenario(row, &Terms::default(), trial, seed);
                let faults = scenario.unwrap().unwrap().faults;
                let kinds = faults.iter().map(|fault| (fault.at, fault.action.kind()));
                let mut kinds: Vec<_> = kinds.collect();
                // A store is one more whose clock there is.
                kinds.dedup();
                kinds
            };
            let first = of(Row::Raft);
            assert!(Row::all().all(|row| of(row) == first), "{trial:?}");
        }
    }
    let replies = scenario(Row::Raft, &Terms::default(), Trial::LostReplies, 1);
    let resigns = |fault: &tenure_sim::fault::Fault| matches!(fault.action, Action::Resign(_));
    assert!(replies.unwrap().unwrap().faults.iter().any(resigns));
}
