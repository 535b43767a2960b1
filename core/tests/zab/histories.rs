//! As `reports`: of synchronisation, broadcast and reads.

use super::desk::{Desk, without};
use super::reports::{breaks_without, follows_from, run};
use tenure::Input;
use tenure::log::Position;
use tenure::zab::{
    Faithful, Invariant, Packet, Phase, ProposeError, Request, Role, Rule, Switched,
};

const fn appends(request: &Request) -> bool {
    matches!(request, Request::Append(_) | Request::Sync)
}

const fn syncs(request: &Request) -> bool {
    matches!(request, Request::Sync)
}

fn acknowledged_before_it_is_synced(desk: &mut Desk<Switched>) {
    for (place, last) in [(0, 3), (1, 3), (2, 5)] {
        desk.give(place, 1, 1, &[(1, last)]);
    }
    desk.start_all();
    for place in [0, 1] {
        desk.nodes[place].stop_before = Some(syncs);
    }
    desk.run(300);
    for place in 0..3 {
        desk.crash(place, 0);
    }
    desk.start(0);
    desk.start(1);
    desk.run(500);
}

/// Z-3911, Z-4646: NEWLEADER is acknowledged while the history is in memory alone.
#[test]
fn z3911_the_history_is_synced_before_it_is_acknowledged() {
    breaks_without(3, Rule::HistorySynced, acknowledged_before_it_is_synced);
    let lost = Invariant::AckedSurvives;
    follows_from(
        3,
        Rule::HistorySynced,
        lost,
        acknowledged_before_it_is_synced,
    );
}

fn epoch_before_history(desk: &mut Desk<Switched>) {
    for (place, last) in [(0, 3), (1, 5), (2, 5)] {
        desk.give(place, 1, 1, &[(1, last)]);
    }
    desk.judge.told(Position::new(1, 5));
    desk.start_all();
    desk.nodes[0].stop_before = Some(appends);
    assert!(desk.run_till(200, |desk| {
        desk.nodes[0].disk.accepted == 2 && desk.nodes[1].disk.accepted == 2
    }));
    desk.hold(2, 1);
    desk.run(20);
    desk.crash(2, 5);
    desk.crash(0, 0);
    desk.start(0);
    desk.run(1_500);
    if desk.judge.broken.is_none() {
        assert_eq!(desk.leader(), Some(1), "1.5 leads");
    }
}

/// Z-4643: the current epoch is written, and then the process dies.
#[test]
fn z4643_the_epoch_is_written_after_the_history() {
    breaks_without(3, Rule::EpochAfterHistory, epoch_before_history);
    let lost = Invariant::AckedSurvives;
    follows_from(3, Rule::EpochAfterHistory, lost, epoch_before_history);
}

fn committed_before_up_to_date(desk: &mut Desk<Switched>) {
    desk.start(0);
    desk.start(2);
    assert!(desk.run_whole(500).is_some());
    desk.propose(2, 2);
    desk.run(20);
    desk.start(1);
    desk.nodes[1].stop_before = Some(|request| matches!(request, Request::Current(_)));
    assert!(desk.run_till(200, |desk| desk.machine(1).pending() > 0
        && desk.nodes[1].disk.accepted == 1
        && desk.nodes[1].disk.synced == 2));
    desk.propose(2, 1);
    desk.run(20);
    desk.nodes[1].stop_before = None;
    desk.run(20);
    desk.propose(2, 1);
    desk.run(50);
    if desk.judge.broken.is_none() {
        assert_eq!(desk.nodes[1].disk.synced, 4);
        assert!(desk.is_even());
    }
}

/// Z-4785, Z-4394: a proposal and its commit arrive between NEWLEADER and UPTODATE.
#[test]
fn z4785_what_is_committed_before_uptodate_is_logged() {
    breaks_without(3, Rule::KeepBuffered, committed_before_up_to_date);
}

fn newleader_before_the_history(desk: &mut Desk<Switched>) {
    for place in [1, 2] {
        desk.give(place, 1, 1, &[(1, 5)]);
        desk.nodes[place].disk.log.compact(3);
    }
    desk.start(1);
    desk.start(2);
    assert!(desk.run_whole(500).is_some());
    desk.start(0);
    desk.propose(2, 2);
    desk.run(300);
    if desk.judge.broken.is_none() {
        assert!(desk.is_even());
        assert_eq!(desk.machine(0).log().base(), Position::new(1, 3));
        assert!(desk.judge.marks.contains_key("snap"));
    }
}

/// Z-3104: NEWLEADER before what the snapshot stands for. A leader that has compacted its log, and a learner without one.
#[test]
fn z3104_newleader_follows_what_it_ends() {
    breaks_without(
        3,
        Rule::HistoryBeforeNewLeader,
        newleader_before_the_history,
    );
}

fn snapshot_broken_off(desk: &mut Desk<Switched>) {
    desk.give(1, 1, 1, &[(1, 6)]);
    desk.give(2, 1, 1, &[(1, 5)]);
    desk.start(0);
    desk.start(2);
    assert!(desk.run_till(200, |desk| desk.nodes[0].disk.accepted == 2));
    desk.hold(2, 0);
    assert!(desk.run_till(200, |desk| desk.held(2, 0).len() == 4));
    // All but NEWLEADER. It begins with nothing, so that DIFF does for a snapshot.
    desk.pass(2, 0, 3);
    desk.run(5);
    desk.crash(2, 5);
    desk.release(2, 0);
    desk.start(1);
    desk.run(1_500);
    if desk.judge.broken.is_none() {
        assert!(desk.is_even());
    }
}

fn real_snapshot_broken_off(desk: &mut Desk<Switched>) {
    desk.give(1, 1, 1, &[(1, 6)]);
    desk.give(2, 1, 1, &[(1, 5)]);
    for place in [1, 2] {
        desk.nodes[place].disk.log.compact(3);
    }
    desk.start(0);
    desk.start(2);
    assert!(desk.run_till(200, |desk| desk.nodes[0].disk.accepted == 2));
    desk.hold(2, 0);
    assert!(desk.run_till(200, |desk| desk.held(2, 0).len() == 4));
    assert_eq!(desk.held(2, 0)[0].snapshot(), Some(Position::new(1, 3)));
    desk.pass(2, 0, 3);
    desk.run(5);
    desk.crash(2, 5);
    desk.release(2, 0);
    desk.start(1);
    desk.run(1_500);
    if desk.judge.broken.is_none() {
        assert!(desk.is_even());
    }
}

fn cut_broken_off(desk: &mut Desk<Switched>) {
    desk.give(0, 1, 1, &[(1, 7)]);
    desk.give(1, 1, 1, &[(1, 8)]);
    desk.give(2, 2, 2, &[(1, 5)]);
    desk.start(0);
    desk.start(2);
    assert!(desk.run_till(200, |desk| desk.nodes[0].disk.accepted == 3));
    desk.hold(2, 0);
    assert!(desk.run_till(200, |desk| desk.held(2, 0).len() == 3));
    assert_eq!(
        desk.held(2, 0)[0].packet(),
        Some(Packet::Trunc {
            to: Position::new(1, 5)
        })
    );
    desk.pass(2, 0, 2);
    assert!(desk.run_till(50, |desk| desk.nodes[0].disk.synced == 5));
    desk.crash(2, 5);
    desk.release(2, 0);
    desk.start(1);
    desk.run(1_500);
    if desk.judge.broken.is_none() {
        assert!(desk.is_even());
    }
}

/// Z-3642: a learner got a snapshot and what follows it, and its leader dies before NEWLEADER. Z-5094: the same of a TRUNC.
#[test]
fn z3642_z5094_a_synchronisation_that_was_broken_off_leaves_the_disk() {
    breaks_without(3, Rule::ReloadAfterSync, real_snapshot_broken_off);
    breaks_without(3, Rule::ReloadAfterSync, cut_broken_off);
    // What a DIFF brought is not kept in any case.
    let diff = run(3, Switched::default(), &[], snapshot_broken_off);
    assert_eq!(diff.judge.broken, None);
}

fn entry_not_told_of(desk: &mut Desk<Switched>) {
    desk.start_all();
    assert!(desk.run_whole(500).is_some());
    desk.propose(2, 5);
    desk.run(20);
    desk.isolate(2);
    desk.propose(2, 1);
    desk.run(1_500);
    assert_eq!(
        (desk.role(2), desk.leader()),
        (Some(Role::Looking), Some(1))
    );
    desk.propose(1, 1);
    desk.run(20);
    desk.join_all();
    desk.run(1_500);
    if desk.judge.broken.is_none() {
        assert!(desk.is_even());
    }
}

/// Z-2845: a leader that lost its followers has an entry of which it does not tell.
#[test]
fn z2845_a_node_elects_with_its_whole_log() {
    breaks_without(3, Rule::WholeLogElects, entry_not_told_of);
}

fn log_that_cannot_be_cut(desk: &mut Desk<Switched>) {
    desk.give(0, 1, 1, &[(1, 6)]);
    desk.give(1, 2, 2, &[(1, 5)]);
    desk.give(2, 2, 2, &[(1, 5)]);
    desk.nodes[0].cannot_cut = true;
    desk.start_all();
    desk.run(300);
    desk.propose(2, 2);
    desk.run(50);
    desk.crash(0, 9);
    desk.propose(2, 3);
    desk.run(20);
    desk.nodes[0].cannot_cut = false;
    desk.start(0);
    desk.run(1_000);
    if desk.judge.broken.is_none() {
        assert!(desk.is_even());
        assert!(desk.judge.marks.contains_key("halted"));
    }
}

/// Z-3701: the log of a node cannot be cut.
#[test]
fn z3701_who_cannot_cut_its_log_stops() {
    breaks_without(3, Rule::CutOrExit, log_that_cannot_be_cut);
}

/// ZAB-S3: a learner with entries of an epoch that the others gave up.
fn entries_of_a_lost_epoch(desk: &mut Desk<Switched>) {
    desk.start_all();
    assert!(desk.run_whole(500).is_some());
    desk.propose(2, 5);
    desk.run(20);
    desk.isolate(2);
    desk.propose(2, 2);
    desk.run(1_500);
    desk.propose(1, 3);
    desk.run(20);
    desk.join_all();
    desk.run(1_500);
    if desk.judge.broken.is_none() {
        assert!(desk.is_even());
        assert!(desk.judge.marks.contains_key("snap"));
    }
}

#[test]
fn s3_who_has_what_is_unknown_gets_a_snapshot() {
    breaks_without(3, Rule::SnapAcrossEpochs, entries_of_a_lost_epoch);
}

fn counters_run_out(desk: &mut Desk<Switched>) {
    desk.batch = u64::MAX;
    desk.start_all();
    assert!(desk.run_whole(500).is_some());
    assert!(desk.propose(2, u32::MAX - 2).is_some());
    desk.run(50);
    desk.propose(2, 1);
    desk.propose(2, 1);
    desk.propose(2, 1);
    desk.run(100);
    desk.input(2, Input::Resign { to: None });
    desk.run(1_000);
    desk.propose(2, 1);
    desk.run(100);
}

/// Z-1277: an epoch with two counters left.
#[test]
fn z1277_a_leader_without_counters_steps_down() {
    breaks_without(3, Rule::StepDownAtWrap, counters_run_out);
    let mut desk = Desk::voters(3, Faithful);
    desk.batch = u64::MAX;
    desk.start_all();
    assert!(desk.run_whole(500).is_some());
    let last = desk.propose(2, u32::MAX - 1).unwrap();
    assert_eq!(
        desk.machine(2).zxid(last).unwrap().to_string(),
        "0x100000001"
    );
    assert!(desk.run_till(100, Desk::is_even));
    let zxid = desk.machine(2).zxid(desk.machine(2).last()).unwrap();
    assert_eq!(zxid.to_string(), "0x1fffffffe");
    let now = desk.clock();
    let full = desk.act(2, |machine| machine.propose(now, 1));
    assert_eq!(full, Some(Err(ProposeError::EpochFull)));
    assert!(desk.run_whole(1_000).is_some());
    let leader = desk.leader().unwrap();
    assert_eq!(desk.machine(leader).epoch(), Some(2));
    assert_eq!(desk.judge.broken, None);
}

/// ZAB-S11: a leader dies before its epoch is established; what it had is on no other disk.
fn delivered_too_early(desk: &mut Desk<Switched>) {
    for (place, last) in [(0, 5), (1, 5), (2, 6)] {
        desk.give(place, 1, 1, &[(1, last)]);
    }
    desk.start(0);
    desk.start(2);
    desk.nodes[0].stop_before = Some(appends);
    desk.run(200);
    desk.crash(2, 6);
    desk.crash(0, 0);
    desk.start(0);
    desk.start(1);
    desk.run(1_500);
    desk.propose(1, 2);
    desk.run(100);
}

#[test]
fn s11_a_history_is_delivered_when_it_is_established() {
    breaks_without(3, Rule::DeliverEstablished, delivered_too_early);
}

/// A leader that was replaced, and a follower that does not know it either.
fn stale_sync(desk: &mut Desk<Switched>) {
    desk.start_all();
    assert!(desk.run_whole(500).is_some());
    desk.propose(4, 1);
    desk.run(20);
    for other in [0, 1, 2] {
        desk.cut(4, other, u64::MAX);
        desk.cut(3, other, u64::MAX);
    }
    assert!(desk.run_till(300, |desk| desk.machine(2).phase()
        == Some(Phase::Broadcasting)));
    desk.propose(2, 1);
    desk.run(20);
    assert!(desk.machine(4).phase() == Some(Phase::Broadcasting));
    // A plain read here is stale in any case.
    assert!(desk.machine(3).committed() < desk.machine(2).committed());
    assert!(desk.sync(3).is_some());
    desk.run(1_000);
}

#[test]
fn a_sync_is_answered_by_who_still_has_a_quorum() {
    breaks_without(5, Rule::SyncByQuorum, stale_sync);
}

/// Packets are lost one by one, and neither side notices.
fn lost_packets(desk: &mut Desk<Switched>) {
    desk.give(2, 1, 1, &[(1, 6)]);
    desk.batch = 1;
    desk.start(1);
    desk.start(2);
    assert!(desk.run_till(200, |desk| desk.nodes[1].disk.accepted == 2));
    desk.hold(2, 1);
    assert!(desk.run_till(200, |desk| desk.held(2, 1).len() > 4));
    desk.pass(2, 1, 3);
    desk.lose(2, 1, 1);
    desk.release(2, 1);
    desk.run(200);
    desk.propose(2, 1);
    desk.run(200);
}

/// The same, of the last before NEWLEADER.
fn lost_end(desk: &mut Desk<Switched>) {
    desk.give(2, 1, 1, &[(1, 6)]);
    desk.start(1);
    desk.start(2);
    assert!(desk.run_till(200, |desk| desk.nodes[1].disk.accepted == 2));
    desk.hold(2, 1);
    assert!(desk.run_till(200, |desk| desk.held(2, 1).len() == 4));
    desk.pass(2, 1, 1);
    desk.lose(2, 1, 2);
    desk.release(2, 1);
    desk.run(200);
}

/// Z-4925: a proposal of which the one before was lost.
#[test]
fn packets_are_taken_in_order_and_proposals_without_a_gap() {
    breaks_without(3, Rule::PacketsInOrder, lost_end);
    let both = Switched::without(&[Rule::PacketsInOrder, Rule::Continuous]);
    let off = run(3, both, &[Rule::Continuous.protects().name()], lost_packets);
    assert!(off.judge.broken.is_some(), "a gap");
    for kept in [without(Rule::PacketsInOrder), without(Rule::Continuous)] {
        assert_eq!(run(3, kept, &[], lost_packets).judge.broken, None);
    }
}

/// Whether what was acknowledged is lost with the disk of one of two nodes that have it.
fn lost_disk(autocreate: bool) -> Option<String> {
    let mut desk = Desk::voters(3, Faithful);
    desk.autocreate = autocreate;
    desk.give(2, 1, 1, &[(1, 3)]);
    desk.judge.told(Position::new(1, 5));
    desk.start(0);
    desk.start(2);
    desk.run(1_500);
    desk.judge.broken
}

/// Z-261: a disk is lost, and its node passes for one that never had anything.
#[test]
fn z261_a_node_without_a_disk_does_not_count() {
    assert!(lost_disk(true).is_some_and(|told| told.starts_with("ZK-AckedSurvives")));
    assert_eq!(lost_disk(false), None);
}

/// Z-261, and the next life: a node whose disk was lost promised an epoch, which is now all that is on its disk, and dies before
/// it is synchronised. It still does not count.
#[test]
fn z261_a_promise_does_not_make_a_lost_disk_count() {
    let mut desk = Desk::voters(3, Faithful);
    desk.autocreate = false;
    desk.give(1, 1, 1, &[(1, 5)]);
    desk.give(2, 1, 1, &[(1, 3)]);
    desk.judge.told(Position::new(1, 5));
    desk.nodes[0].stop_before = Some(|request| matches!(request, Request::Current(_)));
    desk.nodes[2].stop_before = Some(|request| matches!(request, Request::Accepted(_)));
    desk.start_all();
    assert!(desk.run_till(500, |desk| desk.nodes[0].disk.accepted == 2));
    for place in 0..3 {
        desk.crash(place, 0);
    }
    desk.start(0);
    desk.start(2);
    desk.run(1_500);
    assert_eq!((desk.leader(), desk.judge.broken.clone()), (None, None));
    // Who has what was acknowledged is back.
    desk.start(1);
    assert!(desk.run_whole(5_000).is_some());
    assert_eq!(desk.judge.broken, None);
    assert_eq!(desk.machine(0).last(), Position::new(1, 5));
    assert!(!desk.nodes[0].disk.blank);
}

/// ZAB-S10, between two steps: a history of a later epoch, and the epoch not yet. It starts, and is outvoted.
#[test]
fn a_log_of_a_later_epoch_than_the_current_one_is_started_from() {
    let mut desk = Desk::voters(3, Faithful);
    desk.give(0, 3, 1, &[(1, 3), (2, 4)]);
    desk.give(1, 2, 2, &[(1, 3), (2, 2)]);
    desk.give(2, 2, 2, &[(1, 3), (2, 2)]);
    desk.start_all();
    assert!(desk.run_whole(2_000).is_some());
    assert_eq!((desk.leader(), desk.judge.broken.clone()), (Some(2), None));
    assert_eq!(desk.machine(0).last(), Position::new(2, 5));
}

/// Z-4269: a crash before any step of the disk, while a history is extended, cut, or replaced by a snapshot, leaves a disk that the
/// next life starts from.
#[test]
fn z4269_a_crash_between_any_two_steps_leaves_a_disk_to_start_from() {
    let steps: [fn(&Request) -> bool; 6] = [
        |request| matches!(request, Request::Accepted(_)),
        |request| matches!(request, Request::Truncate { .. }),
        |request| matches!(request, Request::Install { .. }),
        |request| matches!(request, Request::Append(_)),
        |request| matches!(request, Request::Sync),
        |request| matches!(request, Request::Current(_)),
    ];
    // What the learner begins with, beside a leader with five entries of epoch 1 and one of epoch 2.
    let histories: [&[(u64, u64)]; 3] = [&[(1, 4)], &[(1, 5), (2, 4)], &[(1, 7)]];
    let mut seen = [0; 6];
    for history in histories {
        for (step, stops) in steps.into_iter().enumerate() {
            let mut desk = Desk::voters(3, Faithful);
            desk.give(0, 2, 1, history);
            for place in [1, 2] {
                desk.give(place, 2, 2, &[(1, 5), (2, 1)]);
            }
            desk.judge.told(Position::new(2, 6));
            desk.start_all();
            desk.nodes[0].stop_before = Some(stops);
            desk.run(300);
            seen[step] += usize::from(desk.machine(0).pending() > 0);
            desk.crash(0, 0);
            desk.start(0);
            assert!(desk.run_whole(2_000).is_some());
            assert!(desk.is_even());
            assert_eq!(desk.judge.broken, None, "{history:?}, step {step}");
        }
    }
    assert!(seen.iter().all(|times| *times > 0), "{seen:?}");
}
