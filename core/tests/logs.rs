//! The log against everything the network, the disks and the host can do.

mod group;

use group::{Breakage, Group};
use std::collections::BTreeMap;

/// All members have applied the same, and nothing is on its way any more that could change it.
fn alike(group: &Group) -> bool {
    let applied = |place: usize| &group.nodes[place].memory.applied;
    (0..group.nodes.len()).all(|place| applied(place) == applied(0))
}

/// Random schedules with every breakage at once, while entries are proposed and logs compacted: no invariant breaks, each
/// was put to the test, and when all is healed the members are alike soon.
#[test]
fn wild_schedules_break_no_log_and_heal() {
    let mut judged: BTreeMap<&str, u64> = BTreeMap::new();
    let (mut committed, mut overwritten, mut installed, mut compacted) = (0, 0, 0, 0);
    for seed in 0..2_000 {
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
        group.work.propose = 0;
        let rest = group.now + 2_000_000;
        while !alike(&group) && group.now < rest && group.ghost.broken.is_none() {
            group.step();
        }
        assert_eq!(group.ghost.broken, None, "seed {seed}");
        if !alike(&group) {
            for n in &group.nodes {
                let m = n.machine.as_ref().unwrap();
                println!(
                    "{:?} {:?} term {} commit {} last {:?} base {:?} applied {} dur {} pend {}",
                    m.id(),
                    m.role(),
                    m.term(),
                    m.commit(),
                    m.last(),
                    m.log().base(),
                    n.memory.applied.len(),
                    m.durable_index(),
                    m.pending()
                );
                for i in 0..5 {
                    println!("   {:?}", m.progress(tenure::NodeId(i)));
                }
            }
            println!(
                "{:?}",
                group.nodes[0]
                    .machine
                    .as_ref()
                    .unwrap()
                    .config()
                    .replication
            );
        }
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
    println!("{judged:?}");
    println!(
        "committed {committed}, overwritten {overwritten}, installed {installed}, compacted {compacted}"
    );
}
