//! The election against everything the network, the disks and the host can do.

mod group;

use group::{Breakage, Group};

/// Random schedules with every breakage at once: no invariant breaks, and when all is healed somebody leads soon.
#[test]
fn wild_schedules_break_nothing_and_heal() {
    let (mut handovers, mut slowest) = (0, 0);
    for seed in 0..3_000 {
        let mut group = Group::new(if seed % 2 == 0 { 3 } else { 5 }, seed);
        group.breakage = Breakage::WILD;
        group.boot_all();
        group.run_until(4_000_000);
        assert_eq!(group.ghost.broken, None, "seed {seed}");
        group.heal();
        let healed = group.now;
        let leader = group.run_until_leader(healed + 4_000_000);
        assert_eq!(group.ghost.broken, None, "seed {seed}");
        assert!(
            leader.is_some(),
            "seed {seed}: nobody leads four seconds after everything healed"
        );
        slowest = slowest.max(group.now - healed);
        handovers += group.ghost.handovers;
    }
    assert!(
        handovers > 6_000,
        "only {handovers} handovers: the schedules are too tame to prove anything"
    );
    println!(
        "handovers {handovers}, slowest recovery {} ms",
        slowest / 1000
    );
}

/// A quiet group elects once and stays with its leader.
#[test]
fn a_healthy_group_keeps_its_leader() {
    for seed in 0..200 {
        let mut group = Group::new(5, seed);
        group.boot_all();
        let leader = group
            .run_until_leader(2_000_000)
            .expect("a leader within two seconds");
        group.run_until(20_000_000);
        assert_eq!(group.ghost.broken, None);
        assert_eq!(
            (group.leading(), group.ghost.established),
            (vec![leader], 1),
            "seed {seed}"
        );
    }
}

/// How long cold starts take until somebody is established, sorted, in milliseconds.
fn cold_starts(voters: u64, write_time: u64, trials: u64) -> Vec<u64> {
    let mut took: Vec<u64> = (0..trials)
        .map(|seed| {
            let mut group = Group::new(voters, seed);
            group.latency = (1_000, 5_000);
            group.write_time = (write_time, write_time);
            group.boot_all();
            group
                .run_until_leader(60_000_000)
                .unwrap_or_else(|| panic!("seed {seed}: nobody in a minute"));
            assert_eq!(group.ghost.broken, None);
            group.now / 1_000
        })
        .collect();
    took.sort_unstable();
    took
}

/// Disks slower than the election timeout: attempts and voters wait for them, so that elections do not collide for ever.
#[test]
fn slow_disks_are_outwaited() {
    for (voters, write_time, bound) in [
        (3, 200_000, 3_000),
        (7, 200_000, 3_000),
        (5, 500_000, 12_000),
    ] {
        let took = cold_starts(voters, write_time, 100);
        println!(
            "{voters} voters, {} ms a write: median {} ms, slowest {} ms",
            write_time / 1_000,
            took[50],
            took[99]
        );
        assert!(
            took[98] <= bound,
            "{voters} voters, {write_time} us a write: {took:?}"
        );
    }
}

/// Quorum-loss star: the leader reaches only the hub, the hub reaches everybody. The leader's promise at the hub ends with
/// its lease, and the hub is elected (openraft#2080).
#[test]
fn the_hub_of_a_star_is_elected() {
    let mut took = Vec::new();
    for seed in 0..100 {
        let mut group = Group::new(5, seed);
        group.latency = (1_000, 5_000);
        group.boot_all();
        let leader = group.run_until_leader(2_000_000).unwrap();
        group.run_until(group.now + 300_000);
        let hub = (leader + 1) % 5;
        let cut = group.now;
        for from in (0..5).filter(|node| *node != hub) {
            for to in (0..5).filter(|node| *node != hub) {
                group.cut_link(from, to, u64::MAX);
            }
        }
        while group.leading() != [hub] {
            assert!(
                group.now < cut + 2_000_000,
                "seed {seed}: {:?} lead",
                group.leading()
            );
            group.step();
        }
        assert_eq!(group.ghost.broken, None);
        took.push((group.now - cut) / 1_000);
    }
    took.sort_unstable();
    println!("median {} ms, slowest {} ms", took[50], took[99]);
    assert!(took[99] < 350, "{took:?}");
}
