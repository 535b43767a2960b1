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
