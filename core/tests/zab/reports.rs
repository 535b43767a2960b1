//! ZooKeeper's public bug reports, and each rule: with it off its named invariant breaks, with it on nothing does. Here of the
//! election and of discovery; see `histories` for the rest.
//!
//! Nodes are 0, 1, 2, …; `1.5` in a comment is the fifth entry, of epoch 1. What stands behind "told" is a message of an earlier
//! time that was long under way: links between voters keep the order, and nothing bounds how slow they are.

use super::desk::{Desk, QUICK, without};
use tenure::log::Position;
use tenure::zab::{
    Ensemble, Faithful, Invariant, Message, Notification, Phase, Request, Role, Rule, Rules, State,
    Switched, Timing, Vote,
};
use tenure::{Duration, Input, NodeId};

/// With the rules given: what broke.
pub(crate) type Script = fn(&mut Desk<Switched>);

/// Runs a script on a desk of `n` voters under some rules.
pub(crate) fn run(
    n: u64,
    rules: Switched,
    only: &[&'static str],
    script: Script,
) -> Desk<Switched> {
    let mut desk = Desk::voters(n, rules);
    desk.judge.only = only.to_vec();
    script(&mut desk);
    desk
}

/// With the rule off its invariant breaks before any other; with it on nothing does.
pub(crate) fn breaks_without(n: u64, rule: Rule, script: Script) {
    let off = run(n, without(rule), &[], script).judge.broken;
    let told = off.unwrap_or_else(|| panic!("{rule:?} off: nothing broke"));
    let name = rule.protects().name();
    assert!(
        told.starts_with(&format!("{name}:")),
        "{rule:?} off: {told}"
    );
    let on = run(n, Switched::default(), &[], script).judge.broken;
    assert_eq!(on, None, "{rule:?} on");
}

/// With the rule off this invariant breaks too, where it is looked at alone.
pub(crate) fn follows_from(n: u64, rule: Rule, invariant: Invariant, script: Script) {
    let off = run(n, without(rule), &[invariant.name()], script)
        .judge
        .broken;
    assert!(off.is_some(), "{rule:?} off: {} holds", invariant.name());
    assert!(
        [&[rule.protects()], rule.follows()]
            .concat()
            .contains(&invariant)
    );
}

/// A notification that was long under way.
pub(crate) fn told<R: Rules>(
    desk: &mut Desk<R>,
    to: usize,
    from: u64,
    state: State,
    round: u64,
    vote: Vote,
) {
    let notification = Notification { state, vote, round };
    let message = Message::Notification(notification);
    desk.input(to, Input::Peer(NodeId(from), message));
}

pub(crate) fn vote(leader: u64, index: u64, epoch: u64) -> Vote {
    Vote {
        leader: NodeId(leader),
        zxid: Some(Position::new(u64::from(index > 0), index)),
        epoch,
    }
}

fn votes_that_beat_each_other(desk: &mut Desk<Switched>) {
    desk.give(1, 1, 1, &[]);
    desk.start_all();
    desk.run(2_000);
    if desk.judge.broken.is_none() && !desk.is_whole() {
        desk.judge.fail("ZK-LeaderAgain", "nobody leads".into());
    }
}

/// Z-1419: the votes (epoch 1, id 1) and (epoch 0, id 3).
#[test]
fn z1419_the_order_of_votes_is_total() {
    breaks_without(5, Rule::EpochInOrder, votes_that_beat_each_other);
    let again = Invariant::LeaderAgain;
    follows_from(5, Rule::EpochInOrder, again, votes_that_beat_each_other);
}

fn followers_notice_in_turn(desk: &mut Desk<Switched>) {
    desk.start_all();
    assert!(desk.run_whole(500).is_some());
    desk.crash_in_silence(4);
    for place in 0..4 {
        desk.disconnect(place, 4);
        desk.run(7);
    }
    desk.run(2_000);
    if !desk.is_whole() {
        desk.judge
            .fail("ZK-LeaderAgain", "they follow the dead".into());
    }
}

/// Z-131, Z-480, Z-569: a leader dies, and its followers notice one after another.
#[test]
fn z569_a_leader_is_joined_when_it_says_that_it_leads() {
    breaks_without(5, Rule::CheckLeader, followers_notice_in_turn);
}

fn made_leader_by_an_older_round(desk: &mut Desk<Switched>) {
    desk.start_all();
    assert!(desk.run_whole(500).is_some());
    desk.hold(2, 0);
    desk.hold(2, 1);
    desk.input(2, Input::Resign { to: None });
    for other in [0, 1] {
        desk.lose_packets(2, other);
        desk.release(2, other);
    }
    desk.run(2_000);
    if desk.judge.broken.is_none() {
        assert!(desk.is_whole());
    }
}

/// Z-1514: a leader looks again, and its followers did not notice yet.
#[test]
fn z1514_a_node_leads_in_its_own_round() {
    breaks_without(3, Rule::OwnRound, made_leader_by_an_older_round);
}

fn epochs_of_two_elections(desk: &mut Desk<Switched>) {
    desk.timing.connect_tries = 400;
    desk.start_all();
    assert!(desk.run_whole(500).is_some());
    // 1 starts again and hears whom the others follow; before it connects, that one starts again, too.
    desk.crash(1, 0);
    desk.run(20);
    desk.start(1);
    assert!(desk.run_till(200, |desk| desk.role(1) == Some(Role::Following)));
    desk.crash(2, 0);
    desk.run(2);
    desk.start(2);
    desk.run(1_200);
    assert_eq!((desk.leader(), desk.is_whole()), (Some(2), true));
    desk.crash(0, 0);
    desk.run(20);
    desk.start(0);
    desk.run(5_000);
    if !desk.is_whole() {
        desk.judge.fail("ZK-LeaderAgain", "0 cannot join".into());
    }
}

/// Z-1732, Z-1805: one follower still carries the epoch of an election before the last.
#[test]
fn z1732_everybody_answers_with_the_established_epoch() {
    breaks_without(3, Rule::EstablishedEpoch, epochs_of_two_elections);
}

fn observers_for_voters<R: Rules>(rules: R) -> Desk<R> {
    let voters = Ensemble::majority((0..3).map(NodeId)).unwrap();
    let ensemble = voters.observed_by([NodeId(8), NodeId(9)]).unwrap();
    let timing = Timing {
        connect_tries: 30,
        ..QUICK
    };
    let mut desk = Desk::new(ensemble, timing, rules, 3);
    desk.start_all();
    assert!(desk.run_till(200, |desk| desk.role(2) == Some(Role::Leading)));
    desk.cut(2, 0, u64::MAX);
    desk.cut(2, 1, u64::MAX);
    desk.run(900);
    desk.join_all();
    desk.run(3_000);
    desk
}

/// Z-2959 and before it Z-764, Z-769: an elected leader, its observers, and voters who went away.
#[test]
fn z2959_observers_are_counted_nowhere() {
    let off = observers_for_voters(without(Rule::VotersOnly)).judge.broken;
    assert!(off.is_some_and(|told| told.starts_with("ZK-Leadership1")));
    let on = observers_for_voters(Faithful);
    assert_eq!((on.judge.broken.as_deref(), on.is_whole()), (None, true));
}

fn promise_that_was_not_written(desk: &mut Desk<Switched>) {
    desk.start(0);
    desk.start(2);
    desk.nodes[0].stop_before = Some(|request| matches!(request, Request::Accepted(_)));
    desk.run(200);
    desk.crash(0, 0);
    desk.isolate(2);
    desk.start(0);
    desk.start(1);
    desk.run(1_500);
}

/// Z-1291, Z-1282, Z-2307: a promise is lost with its node.
#[test]
fn z1291_an_epoch_is_written_before_it_is_promised() {
    breaks_without(3, Rule::AcceptedDurable, promise_that_was_not_written);
}

/// ZAB-D9: a node that promised epoch 2 comes late to the leader of epoch 1.
fn older_epoch(desk: &mut Desk<Switched>) {
    desk.give(0, 2, 0, &[]);
    desk.start_all();
    desk.hold(0, 2);
    desk.run(5);
    desk.release(0, 2);
    assert!(
        desk.run_till(200, |desk| desk.role(0) == Some(Role::Following)
            && desk.role(2) == Some(Role::Leading))
    );
    // What opens its connection is late.
    desk.hold(0, 2);
    desk.run(30);
    assert_eq!(desk.machine(2).epoch(), Some(1));
    desk.release(0, 2);
    desk.run(200);
}

#[test]
fn d9_a_promise_refuses_older_epochs() {
    breaks_without(3, Rule::RefuseOlderEpoch, older_epoch);
}

/// ZAB-D9: a node that a leader waits for promises the same epoch to another one first.
fn promised_twice(desk: &mut Desk<Switched>) {
    desk.start(0);
    desk.start(1);
    desk.cut(1, 2, u64::MAX);
    assert!(desk.run_till(200, |desk| desk.role(1) == Some(Role::Leading)));
    desk.hold(1, 0);
    assert!(desk.run_till(200, |desk| desk.machine(1).phase()
        == Some(Phase::Promising)));
    desk.lose_packets(1, 0);
    desk.cut(1, 0, u64::MAX);
    desk.run(60);
    desk.start(2);
    assert!(desk.run_till(300, |desk| desk.machine(2).phase()
        == Some(Phase::Synchronising)));
    desk.hold(2, 0);
    desk.crash(2, 0);
    desk.release(2, 0);
    desk.release(1, 0);
    desk.join(0, 1);
    desk.run(5);
    let round = desk.machine(1).round();
    told(desk, 0, 2, State::Following, round, vote(1, 0, 0));
    desk.run(100);
}

#[test]
fn d9_a_promise_counts_once() {
    breaks_without(3, Rule::PromiseOnce, promised_twice);
}

/// ZAB-D5: a node with less is elected, by votes of an earlier time.
fn less_recent_leader(desk: &mut Desk<Switched>) {
    for (place, last) in [(0, 5), (1, 5), (2, 3)] {
        desk.give(place, 1, 1, &[(1, last)]);
    }
    desk.judge.told(Position::new(1, 5));
    desk.start(2);
    told(desk, 2, 1, State::Looking, 1, vote(2, 3, 1));
    assert!(desk.run_till(50, |desk| desk.role(2) == Some(Role::Leading)));
    desk.start(1);
    desk.run(5);
    told(desk, 1, 0, State::Following, 1, vote(2, 3, 1));
    assert_eq!(desk.machine(1).leader(), Some(NodeId(2)));
    desk.run(300);
}

#[test]
fn d5_a_leader_refuses_who_knows_more() {
    breaks_without(3, Rule::MostRecentLeads, less_recent_leader);
}

/// How long nobody leads, in milliseconds.
fn disloyal(patience: Option<Duration>) -> u64 {
    let ensemble = Ensemble::majority((0..5).map(NodeId)).unwrap();
    let timing = Timing {
        epoch_patience: patience,
        ..QUICK
    };
    let mut desk = Desk::new(ensemble, timing, Faithful, 7);
    for place in 0..3 {
        desk.start(place);
    }
    // In the last moment of its wait, 0 hears of a better one, which dies. What it then says comes when 2 has decided.
    assert!(desk.run_till(200, |desk| desk.machine(0).grants() >= 3
        && desk.machine(2).grants() == 3));
    desk.run(9);
    for place in [0, 1, 2] {
        assert_eq!(desk.role(place), Some(Role::Looking), "{place} waits");
    }
    desk.hold(0, 1);
    desk.hold(0, 2);
    let round = desk.machine(0).round();
    told(&mut desk, 0, 4, State::Looking, round, vote(4, 0, 0));
    desk.run(5);
    assert_eq!(desk.role(2), Some(Role::Leading));
    desk.release(0, 1);
    desk.release(0, 2);
    let took = desk.run_whole(5_000).expect("somebody leads");
    assert_eq!(desk.judge.broken, None);
    took
}

/// Z-3109: a voter changes its mind after it was counted.
#[test]
fn z3109_a_deserted_leader_waits_or_gives_up() {
    let (patient, impatient) = (disloyal(None), disloyal(Some(Duration::from_millis(100))));
    println!("nobody led for {patient} ms, and with patience for 100 ms for {impatient} ms");
    assert!((1_000..1_500).contains(&patient), "a limit and an election");
    assert!((100..400).contains(&impatient));
}
