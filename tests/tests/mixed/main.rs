//! Mixed clusters: machines of this library and nodes of the `raft` crate in one group, messages translated, through
//! elections, replication and fail-over, each leading and each following.
//!
//! `MIXED_SEEDS` sets how many seeds are run; it says on which one a judge complained.

mod cluster;
mod judge;
mod ours;
mod theirs;
mod words;

use cluster::Cluster;
use judge::Counts;

fn seeds() -> u64 {
    let asked = std::env::var("MIXED_SEEDS").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(100)
}

/// Two thirds of the time faults of all kinds, then a time to heal in which somebody must lead and commit.
#[test]
fn mixed_clusters_keep_every_invariant() {
    let mut all = Counts::default();
    for seed in 0..seeds() {
        let mut cluster = Cluster::new(seed);
        cluster.trouble(4_000);
        cluster.heal();
        cluster.settle(6_000);
        if let Some(broken) = cluster.judge.broken() {
            panic!("seed {seed}: {broken}");
        }
        all.add(&cluster.judge.counts);
    }
    println!("{all:?}");
    // Each did what it is here for: led, followed, failed over.
    assert!(all.ours_led > 0 && all.theirs_led > 0, "{all:?}");
    assert!(
        all.committed_by_ours > 0 && all.committed_by_theirs > 0,
        "{all:?}"
    );
    assert!(
        all.restarts_of_ours > 0 && all.restarts_of_theirs > 0,
        "{all:?}"
    );
    assert!(all.refused_for_the_log > 0 && all.believed > 0, "{all:?}");
}
