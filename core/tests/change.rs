//! Changes of who takes part, step by step; each report that taught a rule is cited at its test.

mod cluster;

use cluster::{Cluster, target, voters};
use tenure::membership::{self, Membership, Part};
use tenure::raft::{
    ChangeRefused, Entries, Message, ProposeError, Raft, Refusal, Role, Rule, Rules, Timing,
};
use tenure::{Duration, Event, Input, NodeId, Why};

/// The membership `1 2 +3`: voters 1 and 2, learner 3; parts of a joint one are `i`, `o` and `d`.
fn told(membership: &Membership) -> String {
    let word = |part| match part {
        Part::Voter => "",
        Part::Learner => "+",
        Part::Incoming => "i",
        Part::Outgoing => "o",
        Part::OutgoingLearner => "d",
    };
    let members = membership.members().iter();
    let words: Vec<_> = members
        .map(|member| format!("{}{}", word(member.part), member.id))
        .collect();
    words.join(" ")
}

fn change<R: Rules>(
    cluster: &mut Cluster<R>,
    leader: usize,
    ids: &[u64],
    learners: &[u64],
) -> Result<u64, ChangeRefused> {
    let target = target(ids, learners);
    let begun = cluster.with(leader, |machine, now| machine.change(now, &target));
    begun.map(|at| at.index)
}

/// Begins a change and waits until it is over, wherever leadership goes.
fn settle<R: Rules>(cluster: &mut Cluster<R>, leader: usize, ids: &[u64], learners: &[u64]) {
    change(cluster, leader, ids, learners).unwrap();
    let end = Membership::from_members(
        ids.iter()
            .map(|id| (*id, Part::Voter))
            .chain(learners.iter().map(|id| (*id, Part::Learner)))
            .map(|(id, part)| membership::Member {
                id: NodeId(id),
                part,
            }),
    );
    let end = end.unwrap();
    cluster.until("the change is over", |cluster| {
        end.voters().all(|id| {
            let machine = cluster.machine(id.0 as usize);
            *machine.membership() == end && machine.commit() == machine.last().index
        })
    });
}

/// Three voters led by node 0, and so many others that were told of these three.
fn three_and(more: usize) -> Cluster {
    let mut cluster = Cluster::new(3);
    for _ in 0..more {
        cluster.join(&voters(&[0, 1, 2]));
    }
    cluster.elect(0);
    cluster
}

fn asked_to_be_elected<R: Rules>(cluster: &Cluster<R>, place: usize) -> usize {
    let asks = |message: &Message| {
        matches!(
            message,
            Message::RequestPreVote { .. } | Message::RequestVote { .. }
        )
    };
    let said = cluster.said.iter();
    said.filter(|(from, _, message)| *from == place && asks(message))
        .count()
}

fn elections<R: Rules>(cluster: &Cluster<R>) -> usize {
    let events = cluster.nodes.iter().flat_map(|node| &node.events);
    events
        .filter(|event| matches!(event, Event::Elected(_)))
        .count()
}

fn deposed_for<R: Rules>(cluster: &Cluster<R>, place: usize, why: Why) -> bool {
    let mut events = cluster.nodes[place].events.iter();
    events.any(|event| matches!(event, Event::Deposed(_, reason) if *reason == why))
}

#[test]
fn a_new_node_learns_the_log_before_it_votes() {
    let mut cluster = three_and(1);
    cluster.propose(0, 10);
    cluster.run(1_000);
    // It was told of others and nobody of it: it waits, also when its host is impatient.
    cluster.input(3, Input::Campaign);
    cluster.run(1_000);
    assert_eq!(asked_to_be_elected(&cluster, 3), 0);
    assert_eq!(
        change(&mut cluster, 0, &[0, 1, 2, 3], &[]),
        Err(ChangeRefused::Behind(NodeId(3)))
    );
    settle(&mut cluster, 0, &[0, 1, 2], &[3]);
    cluster.until("the learner has it all", |cluster| {
        cluster.commit(3) == cluster.commit(0)
    });
    cluster.run(1_000);
    assert_eq!(asked_to_be_elected(&cluster, 3), 0);
    settle(&mut cluster, 0, &[0, 1, 2, 3], &[]);
    assert_eq!(cluster.leading(), [0]);
    // It votes now: without it, two of four decide nothing.
    cluster.isolate(1);
    cluster.isolate(2);
    let index = cluster.propose(0, 1);
    cluster.run(50);
    assert!(cluster.commit(0) < index);
    cluster.cuts.clear();
    cluster.isolate(1);
    cluster.until("three of four decide", |cluster| {
        cluster.commit(0) >= index && cluster.leading() == [0]
    });
    cluster.assert_agreement();
}

/// A learner far behind may be promoted only once it lacks no more than one message.
#[test]
fn a_voter_that_is_behind_is_refused_with_the_remedy() {
    let mut cluster = three_and(1);
    settle(&mut cluster, 0, &[0, 1, 2], &[3]);
    cluster.run(100);
    cluster.isolate(3);
    cluster.propose(0, 300);
    cluster.run(20);
    let refused = change(&mut cluster, 0, &[0, 1, 2, 3], &[]).unwrap_err();
    assert_eq!(refused, ChangeRefused::Behind(NodeId(3)));
    assert!(refused.to_string().contains("add it as a learner first"));
    cluster.heal();
    cluster.run(200);
    settle(&mut cluster, 0, &[0, 1, 2, 3], &[]);
}

#[test]
fn a_learner_that_needs_what_was_compacted_gets_a_snapshot() {
    let mut cluster = three_and(1);
    let end = cluster.propose(0, 500);
    cluster.run(100);
    let base = cluster.with(0, |machine, now| machine.compact(now, end - 10));
    settle(&mut cluster, 0, &[0, 1, 2], &[3]);
    cluster.until("the learner has it all", |cluster| {
        cluster.commit(3) == cluster.commit(0)
    });
    assert_eq!(cluster.machine(3).log().base(), base.unwrap());
    assert_eq!(told(cluster.machine(3).membership()), "0 1 2 +3");
    cluster.assert_agreement();
}

#[test]
fn changes_are_refused_by_name() {
    let mut cluster = three_and(2);
    settle(&mut cluster, 0, &[0, 1, 2], &[3, 4]);
    cluster.run(100);
    let refused = change(&mut cluster, 1, &[0, 1], &[]).unwrap_err();
    let ChangeRefused::Propose(ProposeError::NotLeader(Some(leader))) = refused else {
        panic!("{refused}");
    };
    assert_eq!(leader.node, NodeId(0));
    for (ids, learners, error) in [
        (
            &[0, 1, 2][..],
            &[3, 4][..],
            membership::ChangeError::Unchanged,
        ),
        (
            &[0, 1],
            &[1],
            membership::ChangeError::VoterAndLearner(NodeId(1)),
        ),
        (
            &[0, 1],
            &[4, 4],
            membership::ChangeError::Repeated(NodeId(4)),
        ),
    ] {
        assert_eq!(
            change(&mut cluster, 0, ids, learners),
            Err(ChangeRefused::Target(error))
        );
    }
    // One at a time: neither while the first is joint, nor while it is left.
    let first = change(&mut cluster, 0, &[0, 3, 4], &[]).unwrap();
    for _ in 0..5 {
        let refused = change(&mut cluster, 0, &[0, 1, 2], &[]);
        let last = cluster.machine(0).last().index;
        if cluster.commit(0) < last {
            assert_eq!(refused, Err(ChangeRefused::Uncommitted(last)));
        }
        cluster.run(1);
    }
    assert_eq!(cluster.commit(0), first + 1);
    assert_eq!(told(cluster.machine(0).membership()), "0 3 4");
}

/// The 2015 correction: a new leader changes nothing before an entry of its own term is committed.
#[test]
fn a_new_leader_waits_for_an_entry_of_its_own() {
    let mut cluster = Cluster::new(3);
    cluster.input(0, Input::Campaign);
    cluster.until("elected", |cluster| {
        cluster.machine(0).role() == Role::Leader
    });
    assert_eq!(
        change(&mut cluster, 0, &[0, 1], &[]),
        Err(ChangeRefused::NewLeader)
    );
    cluster.until("established", |cluster| cluster.leading() == [0]);
    change(&mut cluster, 0, &[0, 1], &[]).unwrap();
}

/// etcd confchange_v2_replace_leader_stepdown: the leader and another are replaced in one change.
#[test]
fn a_replaced_leader_leads_to_the_end_and_hands_over() {
    let mut cluster = three_and(2);
    settle(&mut cluster, 0, &[0, 1, 2], &[3, 4]);
    cluster.run(100);
    change(&mut cluster, 0, &[2, 3, 4], &[]).unwrap();
    assert_eq!(told(cluster.machine(0).membership()), "o0 o1 2 i3 i4");
    let begun = cluster.now;
    cluster.until("another leads", |cluster| {
        cluster.leading().first().is_some_and(|place| *place > 1)
    });
    // Two rounds of the log, the release, one round of votes, and one of the new leader's.
    assert!(cluster.now - begun <= 10_000, "{}", cluster.now - begun);
    assert!(deposed_for(&cluster, 0, Why::Removed));
    assert_eq!(elections(&cluster), 2);
    assert_eq!(cluster.machine(0).removed(), Some(cluster.commit(0)));
    cluster.run(2_000);
    assert_eq!(elections(&cluster), 2);
    assert_eq!(asked_to_be_elected(&cluster, 0), 2 * 2);
    cluster.assert_agreement();
}

/// etcd confchange_v1_remove_leader_stepdown: it does not count itself, and does not go before the entry is committed.
#[test]
fn a_leader_that_removes_itself_does_not_count_itself() {
    let mut cluster = three_and(0);
    cluster.isolate(2);
    let index = change(&mut cluster, 0, &[1, 2], &[]).unwrap();
    cluster.run(60);
    assert_eq!(cluster.leading(), [0]);
    // Two of the old three have it, and one of the new two.
    assert!(cluster.commit(0) < index);
    cluster.heal();
    cluster.until("another leads", |cluster| {
        matches!(cluster.leading()[..], [1] | [2])
    });
    assert!(deposed_for(&cluster, 0, Why::Removed));
    assert!(cluster.commit(0) >= index);
    assert_eq!(elections(&cluster), 2);
}

/// It names one that has the whole log, not one that lags.
#[test]
fn a_leader_that_goes_names_the_freshest() {
    let mut cluster = Cluster::new(4);
    cluster.elect(0);
    cluster.run(100);
    cluster.isolate(3);
    settle_without(&mut cluster, &[1, 2, 3], &[], 3);
    let release = |(_, _, message): &(usize, usize, Message)| match message {
        Message::Release { to, .. } => *to,
        _ => None,
    };
    let named = cluster.said.iter().find_map(release);
    assert!(named == Some(NodeId(1)) || named == Some(NodeId(2)));
}

/// A learner that has the whole log cannot be elected.
#[test]
fn a_leader_that_goes_names_a_voter() {
    let mut cluster = three_and(1);
    settle(&mut cluster, 0, &[0, 1, 2], &[3]);
    cluster.run(100);
    // It is the first to have it, and the voter that decides is the last.
    cluster.nodes[2].write_takes = 5_000;
    settle(&mut cluster, 0, &[1, 2], &[3]);
    let release = |(_, _, message): &(usize, usize, Message)| match message {
        Message::Release { to, .. } => *to,
        _ => None,
    };
    let named = cluster.said.iter().find_map(release);
    assert!(named == Some(NodeId(1)) || named == Some(NodeId(2)));
}

/// Without pre-votes it is a request for votes that is answered so.
#[test]
fn a_removed_node_that_asks_for_votes_is_told() {
    let mut cluster = Cluster::without(4, &[Rule::PreVote]);
    cluster.elect(0);
    cluster.run(100);
    cluster.isolate(3);
    settle(&mut cluster, 0, &[0, 1, 2], &[]);
    cluster.run(1_000);
    cluster.heal();
    cluster.until("it learns", |cluster| {
        cluster.machine(3).removed().is_some()
    });
    assert_eq!(cluster.leading(), [0]);
}

/// A leader that is demoted goes too, and stays as a learner.
#[test]
fn a_demoted_leader_hands_over_and_follows() {
    let mut cluster = three_and(0);
    settle(&mut cluster, 0, &[1, 2], &[0]);
    cluster.run(1_000);
    assert!(deposed_for(&cluster, 0, Why::Removed));
    assert_eq!(cluster.machine(0).removed(), None);
    assert_eq!(elections(&cluster), 2);
    let leader = cluster.leading()[0];
    let index = cluster.propose(leader, 3);
    cluster.until("the learner has it", |cluster| cluster.commit(0) == index);
}

/// Raft thesis §4.2.2: one that is not in the newest configuration of its log may be the only one that can be elected.
#[test]
fn a_leader_that_had_only_begun_to_remove_itself_may_lead_again() {
    let mut cluster = Cluster::new(2);
    // The other could take what it lacks from it, and lead in its place (RL-4).
    cluster.loses = |_, _, message| matches!(message, Message::Fetch { .. });
    cluster.elect(0);
    cluster.run(100);
    cluster.isolate(0);
    change(&mut cluster, 0, &[1], &[]).unwrap();
    cluster.run(10);
    cluster.restart(0);
    cluster.run(1_000);
    // It alone decides nothing, for it has no vote in the group that its log names.
    assert_eq!(elections(&cluster), 1);
    cluster.heal();
    cluster.until("the one that remains leads", |cluster| {
        cluster.leading() == [1]
    });
    assert!(deposed_for(&cluster, 0, Why::Removed));
    assert_eq!(told(cluster.machine(1).membership()), "1");
}

/// The leader dies when the joint configuration is committed and nobody else knows that it is left.
#[test]
fn a_new_leader_leaves_the_joint_configuration_it_finds() {
    let mut cluster = three_and(2);
    settle(&mut cluster, 0, &[0, 1, 2], &[3, 4]);
    cluster.run(100);
    cluster.loses = |_, _, message| matches!(message, Message::Append { entries: Entries::Change { to, .. }, .. } if !to.is_joint());
    let index = change(&mut cluster, 0, &[1, 3, 4], &[]).unwrap();
    cluster.until("joint is committed", |cluster| cluster.commit(0) == index);
    cluster.run(20);
    cluster.crash(0);
    cluster.loses = |_, _, _| false;
    cluster.until("a new leader has left it", |cluster| {
        cluster.leading().first().is_some_and(|place| {
            let machine = cluster.machine(*place);
            told(machine.membership()) == "1 3 4" && machine.commit() == machine.last().index
        })
    });
    cluster.assert_agreement();
}

/// hashicorp/raft#524, hashicorp/raft#476: removed while cut off, still in its own configuration. The leader is unmoved, and the node
/// learns of it.
#[test]
fn a_node_removed_while_cut_off_moves_nobody_and_learns_of_it() {
    let mut cluster = Cluster::new(5);
    cluster.elect(0);
    cluster.run(100);
    cluster.isolate(4);
    let index = change(&mut cluster, 0, &[0, 1, 2, 3], &[]).unwrap();
    cluster.run(2_000);
    assert_eq!(cluster.machine(4).removed(), None);
    cluster.heal();
    cluster.until("it learns", |cluster| {
        cluster.machine(4).removed() == Some(index)
    });
    cluster.run(20);
    let asked = asked_to_be_elected(&cluster, 4);
    cluster.run(3_000);
    assert_eq!(asked_to_be_elected(&cluster, 4), asked);
    assert_eq!((cluster.leading(), elections(&cluster)), (vec![0], 1));
    assert_eq!(cluster.machine(0).term(), 1);
    // After a restart it has forgotten, asks, and is told again.
    cluster.restart(4);
    cluster.until("it learns", |cluster| {
        cluster.machine(4).removed() == Some(index)
    });
    // A leader that speaks to it knows better.
    settle(&mut cluster, 0, &[0, 1, 2, 3], &[4]);
    cluster.run(100);
    assert_eq!(cluster.machine(4).removed(), None);
    settle(&mut cluster, 0, &[0, 1, 2, 3, 4], &[]);
    assert_eq!((cluster.leading(), elections(&cluster)), (vec![0], 1));
}

/// The entry that removed it is compacted away everywhere: it is told as of where the logs begin.
#[test]
fn a_node_is_told_also_of_what_was_compacted() {
    let mut cluster = Cluster::new(4);
    cluster.elect(0);
    cluster.run(100);
    cluster.isolate(3);
    settle(&mut cluster, 0, &[0, 1, 2], &[]);
    let end = cluster.propose(0, 5);
    cluster.run(100);
    for place in 0..3 {
        let compacted = cluster.with(place, |machine, now| machine.compact(now, end));
        assert_eq!(compacted.unwrap().index, end);
    }
    cluster.heal();
    cluster.until("it learns", |cluster| {
        cluster.machine(3).removed() == Some(end)
    });
    assert_eq!((cluster.leading(), elections(&cluster)), (vec![0], 1));
}

/// Its own log has the entry that removes it, and after a restart it does not know any more that this is committed.
#[test]
fn a_leader_that_removed_itself_is_told_after_a_restart() {
    let mut cluster = three_and(0);
    settle(&mut cluster, 0, &[1, 2], &[]);
    let index = cluster.machine(0).removed().unwrap();
    cluster.restart(0);
    assert_eq!(cluster.machine(0).removed(), None);
    cluster.until("it learns", |cluster| {
        cluster.machine(0).removed() == Some(index)
    });
    cluster.run(20);
    let asked = asked_to_be_elected(&cluster, 0);
    assert!(asked > 0);
    cluster.run(3_000);
    assert_eq!(asked_to_be_elected(&cluster, 0), asked);
    assert_eq!(elections(&cluster), 2);
}

/// It stops also when nobody leads, and those that remain elect without it.
#[test]
fn a_removed_node_leaves_an_election_to_the_others() {
    let mut cluster = Cluster::new(4);
    cluster.elect(0);
    cluster.run(100);
    cluster.isolate(3);
    settle(&mut cluster, 0, &[0, 1, 2], &[]);
    cluster.crash(0);
    cluster.run(400);
    cluster.heal();
    cluster.until("one of the others leads", |cluster| {
        matches!(cluster.leading()[..], [1] | [2])
    });
    cluster.run(1_000);
    let asked = asked_to_be_elected(&cluster, 3);
    cluster.run(3_000);
    assert!(cluster.machine(3).removed().is_some());
    assert_eq!(asked_to_be_elected(&cluster, 3), asked);
}

/// hashicorp/raft#476: demoted while cut off. Its leader speaks to it, and it follows.
#[test]
fn a_node_demoted_while_cut_off_moves_nobody() {
    let mut cluster = Cluster::new(5);
    cluster.elect(0);
    cluster.run(100);
    cluster.isolate(4);
    settle(&mut cluster, 0, &[0, 1, 2, 3], &[4]);
    cluster.run(2_000);
    cluster.heal();
    cluster.run(2_000);
    assert_eq!((cluster.leading(), elections(&cluster)), (vec![0], 1));
    assert_eq!(cluster.machine(0).term(), 1);
    assert_eq!(told(cluster.machine(4).membership()), "0 1 2 3 +4");
    assert_eq!(cluster.machine(4).removed(), None);
}

/// What a node is told goes by what its own log knows, and by the question it asked.
#[test]
fn a_node_added_again_does_not_heed_old_news() {
    let mut cluster = Cluster::new(3);
    cluster.elect(0);
    settle(&mut cluster, 0, &[0, 1], &[]);
    settle(&mut cluster, 0, &[0, 1], &[2]);
    cluster.run(100);
    settle(&mut cluster, 0, &[0, 1, 2], &[]);
    let added = cluster.machine(2).last().index;
    cluster.isolate(2);
    cluster.run(400);
    cluster.input(2, Input::Campaign);
    assert_eq!(cluster.machine(2).role(), Role::PreCandidate);
    let asked = cluster.machine(2).term() + 1;
    let say = |cluster: &mut Cluster, asked, index| {
        let told = Message::NotMember { asked, index };
        cluster.input(2, Input::Peer(NodeId(1), told));
        cluster.machine(2).removed()
    };
    assert_eq!(say(&mut cluster, asked, added - 1), None);
    assert_eq!(say(&mut cluster, asked - 1, added + 1), None);
    let refused = |cluster: &Cluster, reason| cluster.machine(2).refusals().count(reason);
    assert_eq!(refused(&cluster, Refusal::Unasked), 0);
    assert_eq!(say(&mut cluster, asked + 1, added + 1), None);
    assert_eq!(refused(&cluster, Refusal::Unasked), 1);
    assert_eq!(say(&mut cluster, asked, 0), None);
    assert_eq!(say(&mut cluster, asked, u64::MAX), None);
    assert_eq!(refused(&cluster, Refusal::ImpossibleLog), 2);
    let stranger = Message::NotMember {
        asked,
        index: added + 1,
    };
    cluster.input(2, Input::Peer(NodeId(9), stranger));
    assert_eq!(refused(&cluster, Refusal::UnknownSender), 1);
    assert_eq!(cluster.machine(2).role(), Role::PreCandidate);
    assert_eq!(say(&mut cluster, asked, added + 1), Some(added + 1));
    assert_eq!(cluster.machine(2).role(), Role::Follower);
}

/// A node whose log begins with a configuration that has it knows who took part there.
#[test]
fn a_node_does_not_heed_news_of_where_its_log_begins() {
    let mut cluster = Cluster::new(3);
    cluster.elect(0);
    cluster.propose(0, 3);
    cluster.run(100);
    let upto = cluster.commit(2);
    let base = cluster.with(2, |machine, now| machine.compact(now, upto));
    let base = base.unwrap().index;
    cluster.isolate(2);
    cluster.run(400);
    cluster.input(2, Input::Campaign);
    let asked = cluster.machine(2).term() + 1;
    for (index, removed) in [(base, None), (base + 1, Some(base + 1))] {
        let told = Message::NotMember { asked, index };
        cluster.input(2, Input::Peer(NodeId(1), told));
        assert_eq!(cluster.machine(2).removed(), removed);
    }
}

/// scylladb#10618: one voter begins to hand its vote to another, and is cut off from it. It alone can be elected, and a
/// member of either half counts its own vote.
#[test]
fn a_member_of_either_half_votes_for_itself() {
    let mut cluster = Cluster::new(1);
    cluster.join(&voters(&[0]));
    cluster.elect(0);
    settle(&mut cluster, 0, &[0], &[1]);
    cluster.run(100);
    cluster.isolate(0);
    change(&mut cluster, 0, &[1], &[0]).unwrap();
    assert_eq!(told(cluster.machine(0).membership()), "d0 i1");
    cluster.run(10);
    cluster.restart(0);
    cluster.run(1_000);
    assert!(cluster.leading().is_empty());
    cluster.heal();
    cluster.until("the other leads", |cluster| cluster.leading() == [1]);
    assert_eq!(told(cluster.machine(1).membership()), "+0 1");
    assert_eq!(elections(&cluster), 3);
}

/// Raft §6: what is committed meanwhile are the entries before it.
#[test]
fn a_joint_configuration_is_left_when_it_is_committed() {
    let mut cluster = three_and(2);
    settle(&mut cluster, 0, &[0, 1, 2], &[3, 4]);
    cluster.run(100);
    cluster.loses = |_, _, message| {
        matches!(
            message,
            Message::Append {
                entries: Entries::Change { .. },
                ..
            }
        )
    };
    let before = cluster.propose(0, 1);
    let index = change(&mut cluster, 0, &[0, 3, 4], &[]).unwrap();
    cluster.until("what comes before is committed", |cluster| {
        cluster.commit(0) == before
    });
    cluster.run(10);
    assert_eq!(cluster.machine(0).last().index, index);
    assert!(cluster.machine(0).membership().is_joint());
    cluster.loses = |_, _, _| false;
    cluster.until("left", |cluster| {
        told(cluster.machine(0).membership()) == "0 3 4"
    });
}

/// The leader's own disk is the last that a joint configuration waits for.
#[test]
fn a_leader_with_a_slow_disk_leaves_a_joint_configuration() {
    let mut cluster = Cluster::new(1);
    cluster.join(&voters(&[0]));
    cluster.elect(0);
    settle(&mut cluster, 0, &[0], &[1]);
    cluster.run(100);
    cluster.nodes[0].write_takes = 20_000;
    change(&mut cluster, 0, &[1], &[0]).unwrap();
    cluster.until("the other leads", |cluster| cluster.leading() == [1]);
    assert_eq!(told(cluster.machine(1).membership()), "+0 1");
}

/// etcd campaign_learner_must_vote: a voter that does not know yet that it is one grants its vote.
#[test]
fn a_stale_learner_votes() {
    let mut cluster = three_and(1);
    settle(&mut cluster, 0, &[0, 1, 2], &[3]);
    cluster.run(100);
    cluster.isolate(3);
    let index = change(&mut cluster, 0, &[0, 1, 2, 3], &[]).unwrap();
    cluster.until("three of four have it", |cluster| {
        (0..3).all(|place| cluster.commit(place) == index)
    });
    cluster.crash(0);
    cluster.run(500);
    assert!(cluster.leading().is_empty());
    cluster.heal();
    cluster.until("elected", |cluster| !cluster.leading().is_empty());
    let granted = |(from, _, message): &(usize, usize, Message)| {
        *from == 3 && matches!(message, Message::VoteGranted { .. })
    };
    assert!(cluster.said.iter().any(granted));
}

/// Requests of those that a node does not know are answered; answers of theirs count for nothing.
#[test]
fn strangers_are_answered_and_do_not_count() {
    let mut cluster = three_and(0);
    cluster.said.clear();
    let stranger = NodeId(9);
    let ask = Message::RequestPreVote {
        term: 2,
        last: cluster.machine(0).last(),
        sent: cluster.clock(),
        released: 0,
    };
    cluster.input(1, Input::Peer(stranger, ask));
    assert!(matches!(
        cluster.said[..],
        [(1, 9, Message::PreVoteRefused { .. })]
    ));
    cluster.isolate(1);
    cluster.run(400);
    cluster.input(1, Input::Campaign);
    for stranger in [7, 8, 9] {
        let answer = Message::PreVoteGranted {
            term: 2,
            remainder: Duration::ZERO,
            sent: cluster.clock(),
        };
        cluster.input(1, Input::Peer(NodeId(stranger), answer));
    }
    assert_eq!(cluster.machine(1).role(), Role::PreCandidate);
    let refused = cluster.machine(1).refusals();
    assert_eq!(refused.count(Refusal::UnknownSender), 3);
}

/// INV-S1 across two changes, with promises of unequal length. What a voter of the first group promised for long does not
/// bind the third, which need not share a node with those that promised.
#[test]
fn a_lease_is_counted_anew_before_the_next_change() {
    let mut cluster = Cluster::new(3);
    for _ in 0..2 {
        cluster.join(&voters(&[0, 1, 2]));
    }
    let long = Timing {
        election_min: Duration::from_millis(600),
        election_max: Duration::from_millis(900),
        ..Timing::default()
    };
    for place in [0, 1] {
        cluster.nodes[place].config.timing = long;
    }
    let mut cluster = cluster.seeded(1);
    cluster.elect(0);
    settle(&mut cluster, 0, &[0, 1, 2], &[3, 4]);
    cluster.run(100);
    // The newest round of 0 was answered by 1, which is then heard no more.
    cluster.isolate(1);
    settle_without(&mut cluster, &[0, 1, 2, 3], &[4], 1);
    change(&mut cluster, 0, &[0, 1, 2, 3, 4], &[]).unwrap();
    let begun = cluster.now;
    cluster.run(1);
    cluster.isolate(0);
    cluster.until("another leads", |cluster| {
        let leading = cluster.leading();
        assert!(leading.len() < 2, "{leading:?} believe at once");
        leading.first().is_some_and(|place| *place > 1)
    });
    assert!(cluster.now - begun < 550_000, "{}", cluster.now - begun);
}

/// As [`settle`], while one of the voters is cut off.
fn settle_without(cluster: &mut Cluster, ids: &[u64], learners: &[u64], without: u64) {
    let index = change(cluster, 0, ids, learners).unwrap();
    cluster.until("committed without it", |cluster| {
        let mut others = ids.iter().filter(|id| **id != without);
        others.all(|id| cluster.commit(*id as usize) >= index)
    });
}

/// Who leads with what is committed, and who leads without it: INV-E5 and INV-L3, broken.
fn apart<R: Rules>(cluster: &Cluster<R>) -> bool {
    let machines: Vec<&Raft<R>> = cluster
        .nodes
        .iter()
        .filter_map(|node| node.machine.as_ref())
        .collect();
    machines.iter().any(|one| {
        machines.iter().any(|other| {
            (1..=one.commit().min(other.commit()))
                .any(|index| one.log().term_at(index) != other.log().term_at(index))
        })
    })
}

/// Five nodes of which 0, 1 and 2 vote and 0 leads; {1, 2} and {0, 3, 4} do not reach each other any more.
fn torn<R: Rules>(rules: R) -> Cluster<R> {
    let mut cluster = Cluster::with_rules(3, rules);
    for _ in 0..2 {
        cluster.join(&voters(&[0, 1, 2]));
    }
    cluster.elect(0);
    settle(&mut cluster, 0, &[0, 1, 2], &[3, 4]);
    cluster.run(100);
    for other in [1, 2] {
        for one in [0, 3, 4] {
            cluster.cut(one, other);
        }
    }
    cluster
}

/// 1 or 2 is elected by the other, and commits an entry.
fn the_other_side_decides<R: Rules>(cluster: &mut Cluster<R>) {
    let leads = |cluster: &Cluster<R>| {
        let leading = cluster.leading();
        leading.into_iter().find(|place| [1, 2].contains(place))
    };
    cluster.run(100);
    cluster.until("the other side leads", |cluster| leads(cluster).is_some());
    let leader = leads(cluster).unwrap();
    cluster.propose(leader, 1);
    cluster.run(20);
}

/// Two changes by one voter each, the second begun before the first is committed: {0, 1, 2} and {0, 1, 2, 3, 4} share no
/// node where {1, 2} and {0, 3, 4} decide.
fn two_changes_at_once<R: Rules>(rules: R) -> (Cluster<R>, Result<u64, ChangeRefused>) {
    let mut cluster = torn(rules);
    change(&mut cluster, 0, &[0, 1, 2, 3], &[4]).unwrap();
    let second = change(&mut cluster, 0, &[0, 1, 2, 3, 4], &[]);
    the_other_side_decides(&mut cluster);
    (cluster, second)
}

#[test]
fn one_change_at_a_time() {
    let (cluster, second) = two_changes_at_once(tenure::raft::Faithful);
    assert!(matches!(second, Err(ChangeRefused::Uncommitted(_))));
    assert!(!apart(&cluster));
    let off = tenure::raft::Switched::without(&[Rule::OneChangeAtATime]);
    let (cluster, second) = two_changes_at_once(off);
    assert!(second.is_ok() && apart(&cluster));
}

/// A change of two voters, decided by the new half alone: {0, 1, 2} becomes {0, 3, 4} where {1, 2} decide too.
fn half_a_change<R: Rules>(rules: R) -> Cluster<R> {
    let mut cluster = torn(rules);
    change(&mut cluster, 0, &[0, 3, 4], &[]).unwrap();
    the_other_side_decides(&mut cluster);
    cluster
}

#[test]
fn joint_needs_both() {
    assert!(!apart(&half_a_change(tenure::raft::Faithful)));
    let off = tenure::raft::Switched::without(&[Rule::JointNeedsBoth]);
    assert!(apart(&half_a_change(off)));
}

/// Ongaro, raft-dev 2015. Node 0 begins to add 4, and is cut off with it; node 1, in a term of its own, begins at once to
/// remove 3 and decides with 2; then 0 returns and decides with 3 and 4.
fn a_change_that_comes_back<R: Rules>(rules: R) -> (Cluster<R>, Result<u64, ChangeRefused>) {
    let mut cluster = Cluster::with_rules(4, rules);
    cluster.join(&voters(&[0, 1, 2, 3]));
    cluster.elect(0);
    settle(&mut cluster, 0, &[0, 1, 2, 3], &[4]);
    cluster.run(100);
    for other in [1, 2, 3] {
        cluster.cut(0, other);
        cluster.cut(4, other);
    }
    change(&mut cluster, 0, &[0, 1, 2, 3, 4], &[]).unwrap();
    // One of the others is elected by the other two, which lose the entry that it then begins with.
    cluster.loses = |_, _, message| matches!(message, Message::Append { term: 2.., .. });
    cluster.run(200);
    let elected = |cluster: &Cluster<R>, place: &usize| cluster.machine(*place).term() > 1;
    cluster.until("another is elected", |cluster| {
        (1..4)
            .any(|place| cluster.machine(place).role() == Role::Leader && elected(cluster, &place))
    });
    let leads = |place: &usize| cluster.machine(*place).role() == Role::Leader;
    let leader = (1..4).find(leads).unwrap();
    let goes = if leader == 3 { 2 } else { 3 };
    let keeps = 6 - leader - goes;
    let next = [0, leader as u64, keeps as u64];
    let begun = change(&mut cluster, leader, &next, &[4]);
    for place in [leader, keeps] {
        cluster.cut(place, goes);
    }
    cluster.loses = |_, _, _| false;
    cluster.run(60);
    // 0 and 4 meet the one that was to go.
    for place in [0, 4] {
        cluster.cuts.remove(&(place, goes));
        cluster.cuts.remove(&(goes, place));
    }
    cluster.until("they decide", |cluster| {
        [0, goes, 4]
            .iter()
            .any(|place| cluster.leading().contains(place))
    });
    cluster.run(20);
    (cluster, begun)
}

#[test]
fn change_after_own_term() {
    let (cluster, begun) = a_change_that_comes_back(tenure::raft::Faithful);
    assert_eq!(begun, Err(ChangeRefused::NewLeader));
    assert!(!apart(&cluster));
    let off = tenure::raft::Switched::without(&[Rule::ChangeAfterOwnTerm]);
    let (cluster, begun) = a_change_that_comes_back(off);
    assert!(begun.is_ok() && apart(&cluster));
}
