//! Priority: a bias of the timing that decides most elections and blocks none.

mod bench;
mod group;

use bench::{Bench, ms};
use group::Group;
use tenure::log::{Position, Shape};
use tenure::quorum::Voters;
use tenure::raft::Priority::{Ordinary, Preferred, Reluctant};
use tenure::raft::{Boot, Config, Message, Priority, Raft, Record, Role, Stored};
use tenure::{Duration, Election, Input, NodeId};

fn machine(id: u64, priority: Priority, seed: u64) -> Raft {
    let voters = Voters::new((0..3).map(NodeId)).unwrap();
    let config = Config {
        priority,
        ..Config::new(NodeId(id), voters)
    };
    let boot = Boot {
        stored: None,
        incarnation: 1,
        seed,
    };
    Raft::new(config, boot, ms(0)).unwrap()
}

/// How often each of three nodes is the first leader, in 1,000 cold starts.
fn first_leaders(priorities: [Priority; 3]) -> [u32; 3] {
    let mut won = [0; 3];
    for seed in 0..1_000 {
        let mut group = Group::new(3, seed);
        group.latency = (1_000, 5_000);
        group.priorities = priorities.to_vec();
        group.boot_all();
        let leader = group.run_until_leader(5_000_000).expect("a leader");
        assert_eq!(group.ghost.broken, None, "seed {seed}");
        won[leader] += 1;
    }
    println!("{priorities:?}: {won:?}");
    won
}

/// Whatever its id, though the lower one steps back from an equal rival (RL-9).
#[test]
fn the_preferred_node_wins_most_cold_starts() {
    assert!(first_leaders([Preferred, Ordinary, Ordinary])[0] > 650);
    assert!(first_leaders([Ordinary, Preferred, Ordinary])[1] > 700);
    assert!(first_leaders([Ordinary, Ordinary, Preferred])[2] > 700);
    assert!(first_leaders([Preferred, Reluctant, Reluctant])[0] > 990);
    assert!(first_leaders([Reluctant, Ordinary, Ordinary])[0] < 50);
    // The bias is the priority's, not the place's.
    assert!(first_leaders([Ordinary; 3]).iter().all(|won| *won > 250));
}

/// The leader is gone, and of the two that remain only the reluctant one has all that may be committed. Priorities that
/// are weighed in votes refuse it here (MongoDB, raft-rs).
#[test]
fn a_reluctant_node_that_alone_can_win_wins() {
    for seed in 0..200 {
        let mut group = Group::new(3, seed);
        group.latency = (1_000, 5_000);
        group.priorities = vec![Reluctant, Preferred, Preferred];
        for (place, entries) in [(0, 2), (1, 1)] {
            let record = Record {
                term: 1,
                ..Record::default()
            };
            group.nodes[place].disk = Some(Stored {
                log: Shape::from_runs([(1, entries)]).unwrap(),
                ..Stored::from(record)
            });
        }
        group.boot_all();
        group.cut(2, u64::MAX);
        // A longest timeout, and what an attempt takes.
        assert_eq!(group.run_until_leader(350_000), Some(0), "seed {seed}");
    }
}

/// The draws of a priority fill its part of the range and never leave it.
#[test]
fn timeouts_are_drawn_from_the_priority_s_part_of_the_range() {
    for (priority, low, high) in [
        (Preferred, 150_000, 187_500),
        (Ordinary, 150_000, 300_000),
        (Reluctant, 262_500, 300_000),
    ] {
        let drawn: Vec<u64> = (0..2_000)
            .map(|seed| {
                let machine = machine(0, priority, seed);
                // Pre-votes are asked a fifth of the shortest timeout early (RL-10).
                (machine.deadline().unwrap() + Duration::from_millis(30)).as_micros()
            })
            .collect();
        let (least, most) = (*drawn.iter().min().unwrap(), *drawn.iter().max().unwrap());
        let hundredth = (high - low) / 100;
        assert!(
            low <= least && least <= low + hundredth && high - hundredth <= most && most <= high,
            "{priority:?}: {least} to {most} us"
        );
    }
}

/// raft-rs#511: with priorities and pre-vote, a refusal at term 0 panicked. No message tells a priority; a voter that
/// is preferred grants, a refusal at term 0 is taken for what it is, and nothing is counted as absurd.
#[test]
fn priorities_and_pre_votes_do_not_meet() {
    let mut asker = Bench::of(machine(1, Ordinary, 1));
    asker.input(10, Input::Campaign);
    let asked = asker.said();
    let mut voter = Bench::of(machine(2, Preferred, 1));
    voter.hear(11, 1, asked[1].1.clone());
    let answered = voter.said()[0].1.clone();
    assert!(
        matches!(answered, Message::PreVoteGranted { term: 1, .. }),
        "{answered:?}"
    );
    // From a voter with a longer log that has entered no term: impossible in an honest group, and harmless.
    let refused = Message::PreVoteRefused {
        asked: 1,
        term: 0,
        better: None,
    };
    asker.hear(12, 0, refused);
    assert_eq!(asker.machine.role(), Role::PreCandidate);
    asker.hear(13, 2, answered);
    assert_eq!(asker.machine.role(), Role::Candidate);
    voter.hear(
        14,
        1,
        Message::RequestVote {
            term: 1,
            last: Position::START,
            released: 0,
        },
    );
    assert_eq!(voter.said(), [(1, Message::VoteGranted { term: 1 })]);
    for bench in [&asker, &voter] {
        assert_eq!(bench.machine.refusals().total(), 0);
    }
}
