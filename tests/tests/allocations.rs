//! What machines ask of the allocator, counted: nothing while a leader leads (C8), and little for an election.

use tenure::NodeId;
use tenure::raft::Replication;
use tenure_counts::{Group, machine, voters};

fn elected(mut group: Group) -> Group {
    group.elect();
    assert!(group.led());
    group
}

/// A thousand times the same, every message of every node, after the queues have their size.
fn allocates_nothing(mut group: Group, what: &str, mut work: impl FnMut(&mut Group)) {
    (0..10).for_each(|_| work(&mut group));
    let counted = allocation_counter::measure(|| (0..1_000).for_each(|_| work(&mut group)));
    assert!(group.led());
    assert_eq!(counted.count_total, 0, "{what}: {counted:?}");
}

#[test]
fn heartbeats_allocate_nothing() {
    for voters in [1, 3, 5, 7] {
        for group in [Group::new(voters), Group::with_log(voters)] {
            allocates_nothing(
                elected(group),
                &format!("{voters} voters"),
                Group::heartbeat,
            );
        }
    }
}

/// Entries one by one and in batches, those of a host that gathers them among them, also of more than one message.
#[test]
fn replication_allocates_nothing() {
    for (voters, entries) in [(1, 1), (3, 1), (3, 64), (3, 1_000), (5, 64), (7, 1)] {
        let what = format!("{voters} voters, {entries} entries");
        let mut expected = 1;
        let work = |group: &mut Group| {
            group.replicate(entries);
            group.replicate_gathered(entries);
            expected += 2 * u64::from(entries);
            assert_eq!(group.committed(), expected);
        };
        allocates_nothing(elected(Group::with_log(voters)), &what, work);
    }
}

#[test]
fn reads_allocate_nothing() {
    for (voters, reads) in [(1, 1), (3, 1), (3, 64), (5, 64), (7, 1)] {
        let what = format!("{voters} voters, {reads} reads");
        let work = |group: &mut Group| assert_eq!(group.read(reads), u64::from(reads));
        allocates_nothing(elected(Group::with_log(voters)), &what, work);
    }
}

/// Each node keeps a list of what waits for its disk, and the candidate's queue grows with the number of voters.
#[test]
fn an_election_allocates_for_its_queues_alone() {
    for (voters, most) in [(3, 6), (5, 11)] {
        let mut group = Group::new(voters);
        let counted = allocation_counter::measure(|| group.elect());
        assert!(group.led());
        assert!(counted.count_total <= most, "{voters} voters: {counted:?}");
    }
}

/// With a log, moreover: each node's log and list of open writes, and what the leader knows of the others.
#[test]
fn an_election_with_a_log_allocates_little_more() {
    for (voters, most) in [(3, 12), (5, 21)] {
        let mut group = Group::with_log(voters);
        let counted = allocation_counter::measure(|| group.elect());
        assert!(group.led());
        assert!(counted.count_total <= most, "{voters} voters: {counted:?}");
    }
}

/// Of many groups among the same nodes, a host holds the voters once: what one machine more takes is its queue.
#[test]
fn machines_share_their_voters() {
    let voters = voters(3);
    for replication in [None, Some(Replication::default())] {
        let mut built = None;
        let counted = allocation_counter::measure(|| {
            built = machine(&voters, NodeId(1), replication, 1).ok();
        });
        assert!(built.is_some());
        assert_eq!(counted.count_total, 1, "{counted:?}");
    }
}

/// What an election needed is given back; a log is one run and one open write.
#[test]
fn a_follower_at_rest_holds_little() {
    for (mut group, most) in [(Group::new(3), 320), (Group::with_log(3), 352)] {
        group.elect();
        (0..10).for_each(|_| group.heartbeat());
        assert!(group.led());
        let follower = group.into_machines().pop();
        let counted = allocation_counter::measure(|| drop(follower));
        assert!(-counted.bytes_current <= most, "{counted:?}");
    }
}
