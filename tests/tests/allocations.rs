//! What machines ask of the allocator, counted: nothing while a leader leads (C8), and little for an election.

use tenure_counts::Group;

fn elected(voters: usize) -> Group {
    let mut group = Group::new(voters);
    group.elect();
    assert!(group.led(), "{voters} voters have no leader");
    group
}

/// A thousand rounds of heartbeats, every message of every node, after the queues have their size.
#[test]
fn heartbeats_allocate_nothing() {
    for voters in [1, 3, 5, 7] {
        let mut group = elected(voters);
        group.heartbeat();
        let counted = allocation_counter::measure(|| (0..1_000).for_each(|_| group.heartbeat()));
        assert!(group.led());
        assert_eq!(counted.count_total, 0, "{voters} voters: {counted:?}");
    }
}

/// Each node keeps a list of what waits for its disk, and the candidate's queue grows with the number of voters.
#[test]
fn an_election_allocates_for_its_queues_alone() {
    for (voters, most) in [(3, 4), (5, 7)] {
        let mut group = Group::new(voters);
        let counted = allocation_counter::measure(|| group.elect());
        assert!(group.led());
        assert!(counted.count_total <= most, "{voters} voters: {counted:?}");
    }
}
