//! Who decides while a group changes: votes, indices and steps, against tables, against sorting, and over all changes of a
//! small group.

use proptest::prelude::*;
use tenure::NodeId;
use tenure::membership::{
    ChangeError, MAX_MEMBERS, Member, Membership, MembershipError, Part, Target,
};
use tenure::quorum::Voters;

/// `1v 2l 3i 4o 5d`: node 1 is a voter, 2 a learner, 3 incoming, 4 outgoing, 5 demoted (outgoing, then a learner). What
/// stands behind the part is what the member said or reached.
fn read(text: &str) -> (Membership, Vec<&str>) {
    let row = text.split_whitespace().map(|word| {
        let (id, said) = word.split_once(|c: char| c.is_alphabetic()).unwrap();
        let part = match &word[id.len()..=id.len()] {
            "v" => Part::Voter,
            "l" => Part::Learner,
            "i" => Part::Incoming,
            "o" => Part::Outgoing,
            "d" => Part::OutgoingLearner,
            other => panic!("{other} is no part"),
        };
        let id = NodeId(id.parse().unwrap());
        (Member { id, part }, said)
    });
    let (members, said): (Vec<_>, Vec<_>) = row.unzip();
    (Membership::from_members(members).unwrap(), said)
}

fn group(text: &str) -> Membership {
    read(text).0
}

fn target(voters: &[u64], learners: &[u64]) -> Target {
    Target {
        voters: Voters::new(voters.iter().copied().map(NodeId)).unwrap(),
        learners: learners.iter().copied().map(NodeId).collect(),
    }
}

#[test]
fn votes_that_decide() {
    for (members, decided) in [
        ("1v+", true),
        ("1v-", false),
        ("1v+ 2v-", false),
        ("1v+ 2v+ 3v-", true),
        ("1v+ 2v- 3v-", false),
        ("1v+ 2v+ 3v- 4v-", false),
        // Learners do not count, however many they are.
        ("1v+ 2v- 3v- 4l+ 5l+", false),
        ("1v+ 2v+ 3v- 4l-", true),
        // Both halves of {1, 2, 3} → {3, 4, 5}.
        ("1o+ 2o+ 3v- 4i+ 5i+", true),
        ("1o+ 2o+ 3v+ 4i- 5i-", false),
        ("1o- 2o- 3v+ 4i+ 5i+", false),
        ("1o+ 2o- 3v+ 4i+ 5i-", true),
        // {1, 2} → {1}: the one that remains cannot decide alone yet, whatever becomes of the other.
        ("1v+ 2o-", false),
        ("1v+ 2d-", false),
        ("1v- 2d+", false),
        ("1v+ 2d+", true),
        // {1} → {1, 2, 3}: the first has the old half to itself and still needs one more of the new.
        ("1v+ 2i- 3i-", false),
        ("1v+ 2i+ 3i-", true),
        ("1v- 2i+ 3i+", false),
        // Nobody in common.
        ("1o+ 2i-", false),
        ("1o+ 2i+ 3l-", true),
    ] {
        let (group, said) = read(members);
        assert_eq!(
            group.is_quorum(|place| said[place] == "+"),
            decided,
            "{members}"
        );
    }
}

#[test]
fn what_a_quorum_has_reached_and_is_free_from() {
    for (members, reached, freed) in [
        ("1v5", 5, 5),
        ("1v5 2v9", 5, 9),
        ("1v5 2v9 3v7", 7, 7),
        ("1v5 2v9 3v7 4v6", 6, 7),
        ("1v5 2v9 3v7 4l1 5l99", 7, 7),
        // The slower half decides, and the one that is free later.
        ("1o1 2o2 3v3 4i8 5i9", 2, 8),
        ("1o8 2o9 3v3 4i1 5i2", 2, 8),
        ("1v9 2d4", 4, 9),
        ("1v9 2i4 3i5 4l1", 5, 9),
        ("1o6 2i4", 4, 6),
    ] {
        let (group, at) = read(members);
        let at = |place: usize| at[place].parse::<u64>().unwrap();
        assert_eq!(group.reached_by_quorum(0, at), reached, "{members}");
        assert_eq!(
            group.reached_by_quorum(reached + 1, at),
            reached + 1,
            "{members}"
        );
        assert_eq!(group.freed_by_quorum(u64::MAX, at), freed, "{members}");
        assert_eq!(group.freed_by_quorum(freed - 1, at), freed - 1, "{members}");
    }
}

#[test]
fn bad_memberships_are_refused_by_name() {
    let member = |id, part| Member {
        id: NodeId(id),
        part,
    };
    for members in [
        vec![],
        vec![member(1, Part::Learner)],
        vec![member(1, Part::Outgoing), member(2, Part::Learner)],
        vec![member(1, Part::OutgoingLearner)],
        vec![member(1, Part::Incoming)],
    ] {
        assert_eq!(
            Membership::from_members(members),
            Err(MembershipError::NoVoters)
        );
    }
    assert_eq!(
        Membership::from_members([
            member(2, Part::Learner),
            member(1, Part::Voter),
            member(2, Part::Voter),
        ]),
        Err(MembershipError::Repeated(NodeId(2)))
    );
    let many = |count: usize| (0..count as u64).map(|id| member(id, Part::Voter));
    assert_eq!(
        Membership::from_members((0..).map(|id| member(id, Part::Voter))),
        Err(MembershipError::TooMany)
    );
    assert!(Membership::from_members(many(MAX_MEMBERS)).is_ok());
    for (error, told) in [
        (
            MembershipError::NoVoters,
            "one in its old half and one in its new",
        ),
        (
            MembershipError::Repeated(NodeId(2)),
            "node 2 is named twice",
        ),
        (MembershipError::TooMany, "more than 4096 members"),
    ] {
        assert!(error.to_string().contains(told), "{error}");
    }
}

#[test]
fn bad_changes_are_refused_by_name() {
    let now = group("1v 2v 3v 4l");
    for (target, error) in [
        (target(&[3, 2, 1], &[4]), ChangeError::Unchanged),
        (
            target(&[1, 2, 3], &[4, 3]),
            ChangeError::VoterAndLearner(NodeId(3)),
        ),
        (target(&[1], &[5, 4, 5]), ChangeError::Repeated(NodeId(5))),
    ] {
        assert_eq!(now.change_to(&target), Err(error));
    }
    let joint = now.change_to(&target(&[1, 4, 5], &[])).unwrap();
    for next in [target(&[1, 4, 5], &[]), target(&[1, 2, 3], &[4])] {
        assert_eq!(joint.change_to(&next), Err(ChangeError::Joint));
    }
    // All that take part during the change are counted.
    let full: Vec<u64> = (10..10 + MAX_MEMBERS as u64).collect();
    assert_eq!(
        now.change_to(&target(&[1], &full)),
        Err(ChangeError::TooMany)
    );
    assert_eq!(
        now.change_to(&target(&full, &[])),
        Err(ChangeError::TooMany)
    );
    assert!(now.change_to(&target(&full[3..], &[])).is_ok());
    assert!(now.change_to(&target(&[1], &full[3..])).is_ok());
    for (error, told) in [
        (ChangeError::Joint, "wait until"),
        (ChangeError::Unchanged, "nothing needs to be done"),
        (
            ChangeError::VoterAndLearner(NodeId(3)),
            "node 3 is to be voter and learner at once",
        ),
        (ChangeError::Repeated(NodeId(5)), "node 5 is named twice"),
        (ChangeError::TooMany, "change fewer at a time"),
    ] {
        assert!(error.to_string().contains(told), "{error}");
    }
}

#[test]
fn changes_go_by_one_voter_or_jointly() {
    for (now, voters, learners, next, left) in [
        // One voter more, one less, one promoted, one demoted; learners at will.
        ("1v 2v", &[1, 2, 3][..], &[][..], "1v 2v 3v", "1v 2v 3v"),
        ("1v 2v 3v", &[1, 3], &[], "1v 3v", "1v 3v"),
        ("1v 2l", &[1, 2], &[], "1v 2v", "1v 2v"),
        ("1v 2v", &[1], &[2], "1v 2l", "1v 2l"),
        (
            "1v 2l 3l",
            &[1, 4],
            &[9, 5, 3],
            "1v 3l 4v 5l 9l",
            "1v 3l 4v 5l 9l",
        ),
        // A replacement is two.
        ("1v", &[2], &[], "1o 2i", "2v"),
        ("1v 2v 3l", &[1, 3], &[2], "1v 2d 3i", "1v 2l 3v"),
        ("1v", &[1, 2, 3], &[], "1v 2i 3i", "1v 2v 3v"),
        ("1v 2v 3v 7l", &[2], &[3, 4], "1o 2v 3d 4l", "2v 3l 4l"),
    ] {
        let change = group(now).change_to(&target(voters, learners));
        assert_eq!(change, Ok(group(next)), "{now}");
        assert_eq!(group(next).leave(), group(left), "{now}");
        assert_eq!(group(next).is_joint(), next != left, "{now}");
    }
}

#[test]
fn members_are_told_apart() {
    let five = group("1o 3v 4i 7l 9d");
    let ids = |ids: Vec<NodeId>| ids.into_iter().map(|id| id.0).collect::<Vec<_>>();
    assert_eq!(ids(five.ids().collect()), [1, 3, 4, 7, 9]);
    assert_eq!(ids(five.voters().collect()), [1, 3, 4, 9]);
    assert_eq!(ids(five.learners().collect()), [7]);
    for (place, member) in five.members().iter().enumerate() {
        assert_eq!(five.place(member.id), Some(place));
        assert_eq!(five.votes(place), member.id != NodeId(7));
    }
    assert_eq!(five.place(NodeId(2)), None);
    assert!(!five.votes(5));
    assert_eq!(
        Membership::new(&target(&[2, 1], &[]).voters),
        group("1v 2v")
    );
}

#[test]
fn takes_little_memory() {
    assert!(size_of::<Membership>() <= 24);
    assert!(size_of::<Member>() <= 16);
}

/// Every set of nodes, as bits by id, that is a quorum.
fn quorums(group: &Membership, nodes: u64) -> Vec<u32> {
    let has = |set: u32| group.is_quorum(|place| set >> group.members()[place].id.0 & 1 == 1);
    (0..1 << nodes).filter(|set| has(*set)).collect()
}

/// Whatever a group becomes, no two quorums decide apart: within it, across the step to the next, and across the leave.
#[test]
fn quorums_of_neighbours_intersect() {
    const NODES: u64 = 5;
    let meet = |a: &[u32], b: &[u32]| a.iter().all(|a| b.iter().all(|b| a & b != 0));
    // Each node is a voter, a learner or not there.
    let targets: Vec<Target> = (0..3u64.pow(5))
        .filter_map(|code| {
            let of = |kind| (0..NODES).filter(move |id| code / 3u64.pow(*id as u32) % 3 == kind);
            Some(Target {
                voters: Voters::new(of(1).map(NodeId)).ok()?,
                learners: of(2).map(NodeId).collect(),
            })
        })
        .collect();
    let (mut single, mut joint) = (0, 0);
    for from in &targets {
        let now = Membership::new(&from.voters);
        let now = now.change_to(from).unwrap_or(now);
        let before = quorums(&now, NODES);
        assert!(meet(&before, &before));
        for to in &targets {
            let Ok(next) = now.change_to(to) else {
                assert_eq!(from, to);
                continue;
            };
            let during = quorums(&next, NODES);
            assert!(meet(&before, &during), "{now:?} → {next:?}");
            assert!(meet(&during, &during), "{next:?}");
            let end = next.leave();
            assert!(meet(&during, &quorums(&end, NODES)), "{next:?} → {end:?}");
            assert!(end.voters().eq(to.voters.ids().iter().copied()));
            assert!(end.learners().eq(to.learners.iter().copied()));
            *(if next.is_joint() {
                &mut joint
            } else {
                &mut single
            }) += 1;
        }
    }
    assert!(single > 1_000 && joint > 10_000, "{single} {joint}");
}

fn parts() -> impl Strategy<Value = Vec<Part>> {
    let part = prop_oneof![
        Just(Part::Learner),
        Just(Part::Voter),
        Just(Part::Incoming),
        Just(Part::Outgoing),
        Just(Part::OutgoingLearner),
    ];
    // One voter more, so that no half is empty; and as often as not a group that is not joint.
    let joint = prop::collection::vec(part, 0..20);
    let settled = prop::collection::vec(prop_oneof![Just(Part::Learner), Just(Part::Voter)], 0..20);
    prop_oneof![joint, settled].prop_map(|mut parts| {
        parts.push(Part::Voter);
        parts
    })
}

proptest! {
    /// Votes and values of a quorum are what counting and sorting each half would give.
    #[test]
    fn agrees_with_sorting_each_half(
        parts in parts(),
        bound in 0u64..20,
        at in prop::collection::vec(prop_oneof![4 => 0u64..20, 1 => any::<u64>()], 21),
    ) {
        let members = parts.iter().zip(1..).map(|(part, id)| Member { id: NodeId(id * id), part: *part });
        let group = Membership::from_members(members).unwrap();
        let half = |goes: &[Part]| {
            let votes = |place: &usize| parts[*place] == Part::Voter || goes.contains(&parts[*place]);
            let mut half: Vec<u64> = (0..parts.len()).filter(votes).map(|place| at[place]).collect();
            half.sort_unstable();
            half
        };
        let halves = [half(&[Part::Incoming]), half(&[Part::Outgoing, Part::OutgoingLearner])];
        let need = |half: &Vec<u64>| half.len() / 2 + 1;

        let reached = halves.iter().map(|half| half[half.len() - need(half)]).min().unwrap();
        let freed = halves.iter().map(|half| half[need(half) - 1]).max().unwrap();
        prop_assert_eq!(group.reached_by_quorum(0, |place| at[place]), reached);
        prop_assert_eq!(group.reached_by_quorum(bound, |place| at[place]), reached.max(bound));
        prop_assert_eq!(group.freed_by_quorum(u64::MAX, |place| at[place]), freed);
        prop_assert_eq!(group.freed_by_quorum(bound, |place| at[place]), freed.min(bound));

        let said = halves.iter().all(|half| half.iter().filter(|at| **at < bound).count() >= need(half));
        prop_assert_eq!(group.is_quorum(|place| at[place] < bound), said);
        let settled = parts.iter().all(|part| matches!(part, Part::Voter | Part::Learner));
        prop_assert_eq!(group.is_joint(), !settled);
    }
}
