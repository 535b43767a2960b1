//! The log against everything the network, the disks and the host can do.

mod group;

use group::{Breakage, Group, Work};
use std::collections::BTreeMap;

/// Every member has applied all that is committed. That it is the same is judged at every step.
fn alike(group: &Group) -> bool {
    let committed = group.ghost.canon.len() as usize;
    let mut members = group.nodes.iter();
    members.all(|node| node.memory.applied.len() == committed)
}

/// Random schedules with every breakage at once, while entries are proposed and logs compacted: no invariant breaks, each
/// was put to the test, and when all is healed the members are alike soon.
#[test]
fn wild_schedules_break_no_log_and_heal() {
    let mut judged: BTreeMap<&str, u64> = BTreeMap::new();
    let (mut committed, mut overwritten, mut installed, mut compacted) = (0, 0, 0, 0);
    for seed in 0..1_000 {
        let voters = if seed % 2 == 0 { 3 } else { 5 };
        let mut group = Group::new(voters, seed).with_logs();
        group.breakage = Breakage::WILD;
        group.boot_all();
        group.run_until(3_000_000);
        assert_eq!(group.ghost.broken, None, "seed {seed}");
        group.heal();
        let healed = group.now;
        let leader = group.run_until_leader(healed + 4_000_000);
        assert!(leader.is_some(), "seed {seed}: nobody leads");
        group.run_until(group.now + 500_000);
        group.work = Work::default();
        let rest = group.now + 2_000_000;
        while !alike(&group) && group.now < rest && group.ghost.broken.is_none() {
            group.step();
        }
        assert_eq!(group.ghost.broken, None, "seed {seed}");
        assert!(alike(&group), "seed {seed}: members differ");
        let canon = &group.ghost.canon;
        committed += canon.len();
        overwritten += canon.overwritten;
        installed += canon.snapshots_installed;
        compacted += canon.compactions;
        for (name, count) in group.ghost.judged {
            *judged.entry(name).or_default() += count;
        }
    }
    println!(
        "committed {committed}, overwritten {overwritten}, snapshots {installed}, compactions {compacted}, judged {judged:?}"
    );
    for invariant in [
        "INV-E1", "INV-E2", "INV-E3", "INV-E5", "INV-E6", "INV-L1", "INV-L2", "INV-L3", "INV-L4",
        "INV-L5", "INV-S1",
    ] {
        let count = judged.get(invariant).copied().unwrap_or(0);
        assert!(count > 1_000, "{invariant} was looked at {count} times");
    }
    assert!(
        committed > 50_000,
        "only {committed} entries were committed"
    );
    assert!(
        overwritten > 500,
        "only {overwritten} times was a tail replaced"
    );
    assert!(
        installed > 1_000,
        "only {installed} snapshots were installed"
    );
}
