//! Disks that are lost, one at a time, clocks that jump, and hosts that say things twice: with
//! [`autocreate`](tenure::zab::Config::autocreate) off, nothing that was acknowledged is lost with a disk.

use super::desk::{Desk, QUICK, Weather};
use tenure::random::Random;
use tenure::zab::{Ensemble, Faithful, Stored, Zab};
use tenure::{Election, Input, NodeId};

/// Whether the disk of each holds what a leader synchronised it with: another may be lost then.
fn all_are_whole(desk: &Desk<Faithful>) -> bool {
    let holds = |place: &usize| {
        let node = &desk.nodes[*place];
        node.formatted && !node.disk.blank
    };
    (0..desk.nodes.len()).all(|place| holds(&place)) && desk.is_even()
}

fn lose_disk(desk: &mut Desk<Faithful>, place: usize) {
    desk.crash(place, 0);
    desk.nodes[place].disk = Stored::default();
    desk.nodes[place].formatted = false;
    desk.judge.lost(place);
    desk.judge.mark("lost disk");
    desk.nodes[place].restart_at = desk.now + 1 + desk.random.below(100_000);
}

/// A clock that ran ahead and comes back: the machine takes the latest for now.
fn jump(desk: &mut Desk<Faithful>, place: usize) {
    let ahead = tenure::Duration::from_micros(desk.random.below(3_000_000));
    let now = desk.clock() + ahead;
    desk.act(place, |machine| machine.handle(now, Input::Timeout));
    let late = |machine: &Zab| machine.deadline().is_some_and(|due| due <= now);
    let late = desk.nodes[place].machine.as_ref().is_some_and(late);
    if late {
        desk.judge
            .fail("C2", format!("{place} is due after a jump"));
    }
    desk.judge.mark("jump");
}

fn schedule(seed: u64, marks: &mut std::collections::BTreeMap<&'static str, u64>) {
    let mut random = Random::from_seed(seed);
    let voters = 3 + random.below(2);
    let ensemble = Ensemble::majority((0..voters).map(NodeId)).unwrap();
    let mut desk = Desk::new(ensemble, QUICK, Faithful, seed);
    desk.autocreate = false;
    desk.weather = Weather {
        latency: (100, 3_000),
        write: [(50, 400), (500, 20_000)][random.below(2) as usize],
        loss: 0,
        repeat: 100,
        overtake: 0,
        old: 50,
    };
    for place in 0..voters as usize {
        desk.give(place, 0, 0, &[]);
    }
    desk.start_all();
    for _ in 0..120 {
        let wait = 1 + desk.random.below(60_000);
        desk.run_until(desk.now + wait);
        let place = desk.random.below(voters) as usize;
        match desk.random.below(8) {
            0 if desk.nodes[place].machine.is_some() => {
                desk.crash(place, u64::MAX);
                desk.nodes[place].restart_at = desk.now + 1 + desk.random.below(300_000);
            }
            1 if all_are_whole(&desk) => lose_disk(&mut desk, place),
            2 => jump(&mut desk, place),
            3 => desk.replay_old(),
            4 => desk.nodes[place].stuck_until = desk.now + desk.random.below(200_000),
            _ => {
                if let Some(leader) = desk.leader() {
                    desk.propose(leader, 1);
                }
            }
        }
        assert_eq!(desk.judge.broken, None, "seed {seed}");
    }
    for (mark, count) in std::mem::take(&mut desk.judge.marks) {
        *marks.entry(mark).or_default() += count;
    }
}

fn nothing_breaks_in(seeds: std::ops::Range<u64>) {
    let schedules = seeds.end - seeds.start;
    let mut marks = std::collections::BTreeMap::new();
    for seed in seeds {
        schedule(seed, &mut marks);
    }
    println!("{marks:?}");
    for (mark, least) in [
        ("lost disk", schedules / 2),
        ("jump", schedules),
        ("commit", schedules),
    ] {
        let count = marks.get(mark).copied().unwrap_or_default();
        assert!(count >= least, "{mark}: {count} of {least}");
    }
}

#[test]
fn nothing_is_lost_with_one_disk() {
    nothing_breaks_in(0..200);
}

#[test]
#[ignore = "minutes"]
fn nothing_is_lost_with_one_disk_in_many_schedules() {
    nothing_breaks_in(200..20_000);
}
