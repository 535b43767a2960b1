//! Appends and their answers, message by message; the public reports that taught the rules are cited at each.

mod bench;

use bench::{Bench, ms};
use tenure::log::{Position, Shape};
use tenure::membership::{Membership, Target};
use tenure::quorum::Voters;
use tenure::raft::{
    CompactError, Entries, LogWrite, MAX_INDEX, Message, Pace, ProposeError, Record, Refusal,
    Replication, Role, Rule, Rules, Stored, Switched, Write,
};
use tenure::{Duration, Election, Input, NodeId, Output, Standing, Unknown};

/// What a follower tells: its 150 ms less a grain of its clock.
const PROMISE: Duration = Duration::from_micros(149_999);

/// What a disk holds in `term`, with the given runs of entries.
fn stored(term: u64, runs: &[(u64, u64)]) -> Option<Stored> {
    let record = Record {
        term,
        ..Record::default()
    };
    Some(Stored {
        log: Shape::from_runs(runs.iter().copied()).unwrap(),
        ..Stored::from(record)
    })
}

fn node(voters: u64, stored: Option<Stored>, off: &[Rule]) -> Bench<Switched> {
    let rules = Switched::without(off);
    Bench::with_log(voters, 0, stored, Replication::default(), rules)
}

fn append(at: u64, term: u64, prev: (u64, u64), of: u64, count: u64, commit: u64) -> Message {
    Message::Append {
        term,
        sent: ms(at),
        prev: Position::new(prev.0, prev.1),
        entries: Entries::Run { term: of, count },
        commit,
    }
}

fn ack(term: u64, sent: u64, matched: u64) -> Message {
    Message::AppendAck {
        term,
        sent: ms(sent),
        promise: PROMISE,
        matched,
    }
}

fn refused(term: u64, sent: u64, prev: u64, hint: (u64, u64)) -> Message {
    Message::AppendRefused {
        term,
        sent: ms(sent),
        promise: PROMISE,
        prev,
        hint: Position::new(hint.0, hint.1),
    }
}

/// The entries in what was said to `to`, each message as (the index before them, how many).
fn entries_to<R: Rules>(bench: &mut Bench<R>, to: u64) -> Vec<(u64, u64)> {
    let said = bench.said().into_iter();
    said.filter_map(|(whom, message)| match message {
        Message::Append { prev, entries, .. } if whom == to => Some((prev.index, entries.count())),
        _ => None,
    })
    .collect()
}

/// A leader of three with its first entry acknowledged by both others, at 20 ms.
fn leader(flow: Replication) -> (Bench<Switched>, u64) {
    let mut bench = Bench::with_log(3, 0, None, flow, Switched::default());
    let term = bench.elect(10, 1);
    for follower in [1, 2] {
        bench.hear(20, follower, ack(term, 10, 1));
    }
    assert_eq!(bench.machine.commit(), 1);
    assert!(matches!(
        bench.machine.standing(ms(20)),
        Standing::Leading(_)
    ));
    bench.said();
    (bench, term)
}

/// Raft §5.4.2, figure 8: an entry of an older term on a majority's disks is not committed by that, but by an entry of the
/// leader's own term above it.
#[test]
fn copies_of_an_older_term_commit_nothing() {
    for (off, early) in [(vec![], 0), (vec![Rule::CommitOwnTerm], 2)] {
        let mut bench = node(5, stored(3, &[(1, 1), (2, 1)]), &off);
        bench.input(10, Input::Campaign);
        for voter in [1, 2] {
            let (remainder, sent) = (Duration::ZERO, ms(10));
            let granted = Message::PreVoteGranted {
                term: 4,
                remainder,
                sent,
            };
            bench.hear(10, voter, granted);
        }
        for voter in [1, 2] {
            bench.hear(10, voter, Message::VoteGranted { term: 4 });
        }
        assert_eq!(bench.machine.role(), Role::Leader);
        assert_eq!(bench.machine.last(), Position::new(4, 3));
        for follower in [1, 2] {
            bench.hear(12, follower, ack(4, 10, 2));
        }
        assert_eq!(bench.machine.commit(), early, "{off:?}");
        let established = bench.machine.established();
        assert!(!established, "no entry of its term is committed");
        for follower in [1, 2] {
            bench.hear(13, follower, ack(4, 10, 3));
        }
        assert_eq!(bench.machine.commit(), 3);
        assert!(bench.machine.established());
    }
}

/// INV-L4: the leader's own copy counts when its disk holds it, and is not needed when a majority's do.
#[test]
fn the_own_copy_counts_when_it_is_durable() {
    for (off, early) in [(vec![], 1), (vec![Rule::OwnCopyDurable], 3)] {
        let mut bench = node(3, None, &off);
        let term = bench.elect(10, 1);
        bench.hear(11, 1, ack(term, 10, 1));
        bench.disk_works = false;
        bench.propose(12, 2);
        bench.hear(13, 1, ack(term, 12, 3));
        assert_eq!(bench.machine.commit(), early, "{off:?}");
        bench.write_next(14);
        assert_eq!(bench.machine.commit(), 3);
        bench.propose(15, 1);
        for follower in [1, 2] {
            bench.hear(16, follower, ack(term, 15, 4));
        }
        assert_eq!(bench.machine.commit(), 4, "on the disks of the others");
    }
}

/// INV-L4: a follower acknowledges what its disk holds, step by step, and says the rest when that is there.
#[test]
fn a_follower_acknowledges_what_is_durable() {
    for (off, early) in [
        (vec![], vec![]),
        (vec![Rule::AckDurable], vec![(1, 2), (1, 5)]),
    ] {
        let mut bench = node(3, stored(1, &[]), &off);
        let acked = |bench: &mut Bench<Switched>| {
            let said = bench.said().into_iter();
            said.filter_map(|(to, message)| match message {
                Message::AppendAck { matched, .. } => Some((to, matched)),
                _ => None,
            })
            .collect::<Vec<_>>()
        };
        // The record with its promise is on the disk.
        bench.heartbeat(200, 1, 1);
        bench.said();
        bench.disk_works = false;
        bench.hear(201, 1, append(201, 1, (0, 0), 1, 2, 0));
        bench.hear(202, 1, append(202, 1, (1, 2), 1, 3, 0));
        assert_eq!(acked(&mut bench), early, "{off:?}");
        assert_eq!(bench.waiting.len(), 2);
        if off.is_empty() {
            bench.write_next(203);
            assert_eq!(acked(&mut bench), [(1, 2)]);
            bench.write_next(204);
            assert_eq!(acked(&mut bench), [(1, 5)]);
        }
    }
}

/// etcd's `async_storage_writes_append_aba_race`: the disk's late answers about a suffix that was overwritten since say
/// nothing about what took its place.
#[test]
fn late_writes_of_an_overwritten_suffix_count_for_nothing() {
    let mut bench = node(3, stored(1, &[(1, 1)]), &[]);
    bench.heartbeat(200, 1, 1);
    bench.disk_works = false;
    bench.hear(201, 1, append(201, 1, (1, 1), 1, 3, 0));
    bench.hear(202, 2, append(202, 2, (1, 1), 2, 2, 0));
    bench.hear(203, 1, append(203, 3, (2, 2), 3, 2, 0));
    assert_eq!(bench.machine.last(), Position::new(3, 4));
    bench.said();
    for durable in [1, 2, 4] {
        bench.write_next(204);
        assert_eq!(bench.machine.durable_index(), durable);
        let disk = bench.disk.clone().unwrap().log;
        assert_eq!(disk.term_at(durable), bench.machine.log().term_at(durable));
    }
    let acks: Vec<_> = bench.said();
    let last = (1, ack(3, 203, 4));
    assert_eq!(acks.last(), Some(&last));
    let beyond = |(_, message): &(u64, Message)| match message {
        Message::AppendAck { term, matched, .. } => *term == 3 && *matched > 2,
        _ => false,
    };
    assert_eq!(
        acks.iter().filter(|said| beyond(said)).count(),
        1,
        "{acks:?}"
    );
}

/// C1: while the host has not taken a request, what comes next joins it where one write can say both: entries of the same
/// run, and the first entries with the record that they need. The record never goes ahead of its entries.
#[test]
fn a_write_that_was_not_taken_yet_grows_by_what_fits_it() {
    let writes = |messages: &[Message]| {
        let mut bench = node(3, stored(3, &[]), &[]);
        bench.heartbeat(200, 1, 3);
        for message in messages {
            let input = Input::Peer(NodeId(1), message.clone());
            bench.machine.handle(ms(201), input);
        }
        let outputs = std::iter::from_fn(|| bench.machine.poll());
        let writes = outputs.filter_map(|output| match output {
            Output::Request(_, write) => Some(write),
            _ => None,
        });
        let writes: Vec<_> = writes.collect();
        for write in &writes {
            bench.disk.as_mut().unwrap().apply(write).unwrap();
        }
        let disk = bench.disk.unwrap();
        assert_eq!(disk.log, *bench.machine.log());
        assert_eq!(disk.record.term, bench.machine.term());
        let told = |write: &Write| match &write.log {
            LogWrite::Append { after, entries } => {
                (write.record.term, after.index, entries.count())
            }
            LogWrite::Install { last, .. } => (write.record.term, last.index, 0),
            log => panic!("{log:?}"),
        };
        writes.iter().map(told).collect::<Vec<_>>()
    };
    let run = append(201, 3, (0, 0), 1, 2, 0);
    let same = append(201, 3, (1, 2), 1, 1, 0);
    let later = append(201, 3, (1, 3), 2, 2, 0);
    let news = append(201, 4, (2, 5), 4, 1, 0);
    let all = [run, same, later, news];
    assert_eq!(writes(&all[..2]), [(3, 0, 3)]);
    assert_eq!(writes(&all), [(3, 0, 3), (3, 3, 2), (4, 5, 1)]);
    // The term of a leader, and the snapshot that it brings.
    let voters = Voters::new((0..3).map(NodeId)).unwrap();
    let install = Message::InstallSnapshot {
        term: 4,
        sent: ms(201),
        last: Position::new(4, 9),
        membership: Membership::new(&voters).into(),
    };
    assert_eq!(writes(&[install]), [(4, 9, 0)]);
}

/// A log ends at `MAX_INDEX`, and a leader says so instead of appending beyond it.
#[test]
fn a_log_ends_where_it_is_full() {
    let mut bench = node(3, stored(1, &[(1, MAX_INDEX - 3)]), &[]);
    let term = bench.elect(200, 1);
    let end = MAX_INDEX - 2;
    assert_eq!(bench.machine.last(), Position::new(term, end));
    let mut propose = |count| bench.machine.propose(ms(201), count);
    assert_eq!(propose(3), Err(ProposeError::TooLong));
    assert_eq!(propose(1), Ok(Position::new(term, end + 1)));
    assert_eq!(propose(1), Ok(Position::new(term, end + 2)));
    assert_eq!(propose(1), Err(ProposeError::TooLong));
    assert_eq!(bench.machine.last().index, MAX_INDEX);
}

/// RL-1 for logs: an acknowledgement of an earlier reign of the same leader, whose entries were replaced since, counts
/// for nothing.
#[test]
fn an_acknowledgement_of_an_earlier_reign_counts_for_nothing() {
    let (mut bench, first) = leader(Replication::default());
    bench.propose(21, 5);
    // Another leader takes their place.
    bench.hear(300, 2, append(300, first + 1, (first, 1), first + 1, 1, 1));
    assert_eq!(bench.machine.last(), Position::new(first + 1, 2));
    let third = bench.elect(800, 1);
    assert_eq!(bench.machine.last(), Position::new(third, 3));
    let before = bench.machine.progress(NodeId(1)).unwrap();
    for late in [ack(first, 21, 3), refused(first, 21, 1, (first, 1))] {
        bench.hear(801, 1, late);
        let known = bench.machine.progress(NodeId(1)).unwrap();
        assert_eq!(known, before);
    }
    assert_eq!((before.matched, bench.machine.commit()), (0, 1));
    // And one beyond the end is no answer at all.
    let before = bench.machine.refusals().count(Refusal::Unasked);
    bench.hear(802, 1, ack(third, 800, 6));
    let beat = Message::HeartbeatAck {
        term: third,
        sent: ms(800),
        round: 1,
        promise: PROMISE,
        matched: u64::MAX,
    };
    bench.hear(803, 1, beat);
    assert_eq!(bench.machine.refusals().count(Refusal::Unasked), before + 2);
    assert_eq!(bench.machine.commit(), 1);
}

/// Messages that overtake one another, and come twice: nothing is taken before what it follows, nothing is written twice,
/// and all that arrives is answered.
#[test]
fn appends_in_any_order_and_twice() {
    let mut bench = node(3, stored(1, &[]), &[]);
    bench.heartbeat(200, 1, 1);
    bench.said();
    let (one, two) = (
        append(201, 1, (0, 0), 1, 2, 0),
        append(202, 1, (1, 2), 1, 2, 2),
    );
    bench.hear(203, 1, two.clone());
    assert_eq!(bench.said(), [(1, refused(1, 202, 2, (0, 0)))]);
    assert_eq!(bench.machine.last(), Position::START);
    bench.hear(204, 1, one.clone());
    bench.hear(205, 1, two.clone());
    assert_eq!(bench.said(), [(1, ack(1, 201, 2)), (1, ack(1, 202, 4))]);
    assert_eq!((bench.machine.last().index, bench.machine.commit()), (4, 2));
    let disk = bench.disk.clone();
    // Late and twice: what it has is not taken back.
    bench.hear(206, 1, one);
    bench.hear(207, 1, two);
    assert_eq!(bench.said(), [(1, ack(1, 201, 4)), (1, ack(1, 202, 4))]);
    assert_eq!(bench.disk, disk);
}

/// INV-L3: a follower whose tail differs from its leader's does not take it for committed, however high the leader's commit
/// index is.
#[test]
fn a_commit_index_counts_as_far_as_logs_agree() {
    for (off, commit) in [(vec![], 0), (vec![Rule::CommitMatched], 3)] {
        let mut bench = node(3, stored(2, &[(1, 3)]), &off);
        let beat = Message::Heartbeat {
            term: 2,
            sent: ms(200),
            round: 1,
            commit: 9,
        };
        bench.hear(200, 1, beat);
        assert_eq!(bench.machine.commit(), commit, "{off:?}");
        bench.hear(201, 1, Message::Commit { term: 2, index: 9 });
        assert_eq!(bench.machine.commit(), commit, "{off:?}");
    }
    let mut bench = node(3, stored(2, &[(1, 3)]), &[]);
    bench.hear(200, 1, append(200, 2, (1, 2), 1, 0, 9));
    assert_eq!(bench.machine.commit(), 2, "up to where they agree");
    // Nobody but the leader that is followed commits anything.
    bench.hear(201, 2, Message::Commit { term: 2, index: 9 });
    bench.hear(201, 1, append(201, 2, (1, 3), 2, 2, 4));
    assert_eq!(bench.machine.commit(), 4);
    bench.hear(202, 2, Message::Commit { term: 2, index: 5 });
    assert_eq!(bench.machine.commit(), 4);
    // What contradicts a committed entry is damage, and is refused by name.
    bench.hear(203, 1, append(203, 2, (1, 1), 2, 1, 4));
    let refusals = bench.machine.refusals();
    assert_eq!(refusals.count(Refusal::ContradictsCommitted), 1);
    bench.said();
    bench.hear(203, 1, append(203, 2, (1, 4), 2, 1, 4));
    let refusals = bench.machine.refusals();
    assert_eq!(refusals.count(Refusal::ContradictsCommitted), 2);
    assert_eq!(bench.said(), []);
    assert_eq!(
        bench.machine.log(),
        &Shape::from_runs([(1, 3), (2, 2)]).unwrap()
    );
}

/// What was compacted away is committed and agrees, though nobody can compare it any more: what follows it is taken.
#[test]
fn entries_that_follow_what_was_compacted_away_are_taken() {
    let mut bench = node(3, stored(1, &[]), &[]);
    bench.hear(200, 1, append(200, 1, (0, 0), 1, 5, 5));
    bench.machine.compact(ms(201), 5).unwrap();
    bench.said();
    bench.hear(202, 1, append(202, 1, (1, 3), 1, 4, 5));
    assert_eq!(bench.said(), [(1, ack(1, 202, 7))]);
    assert_eq!(bench.machine.last(), Position::new(1, 7));
    assert_eq!(bench.disk.unwrap().log, *bench.machine.log());
}

/// A configuration entry travels alone, after what comes before it; and, like any other entry, not beyond the window.
#[test]
fn a_configuration_travels_alone_and_within_the_window() {
    let two = |bench: &mut Bench<Switched>, at| {
        let target = Target {
            voters: Voters::new([NodeId(0), NodeId(1)]).unwrap(),
            learners: Vec::new(),
        };
        bench.machine.change(ms(at), &target).unwrap();
    };
    let told = |bench: &mut Bench<Switched>| {
        let said = bench.said().into_iter();
        said.filter_map(|(to, message)| match message {
            Message::Append { prev, entries, .. } if to == 1 => {
                let change = matches!(entries, Entries::Change { .. });
                Some((prev.index, entries.count(), change))
            }
            _ => None,
        })
        .collect::<Vec<_>>()
    };
    let (mut bench, _) = leader(Replication::default());
    bench.machine.propose(ms(21), 2).unwrap();
    two(&mut bench, 21);
    bench.propose(21, 2);
    let apart = [(1, 2, false), (3, 1, true), (4, 2, false)];
    assert_eq!(told(&mut bench), apart);
    assert_eq!(bench.disk.clone().unwrap().log, *bench.machine.log());

    let (batch, window) = (1, 1);
    let (mut bench, term) = leader(Replication { batch, window });
    bench.propose(21, 1);
    two(&mut bench, 22);
    bench.input(60, Input::Timeout);
    assert_eq!(told(&mut bench), [(1, 1, false)]);
    // All has arrived, and its acknowledgement has not.
    let beat = Message::HeartbeatAck {
        term,
        sent: ms(60),
        promise: PROMISE,
        round: 2,
        matched: 2,
    };
    bench.hear(62, 1, beat);
    assert_eq!(told(&mut bench), [(2, 0, false)]);
}

/// INV-L4: what the disk holds is acknowledged in a term when the record of that term is there too, and once.
#[test]
fn an_acknowledgement_waits_for_its_record() {
    let mut bench = node(3, stored(1, &[]), &[]);
    bench.heartbeat(200, 1, 1);
    bench.said();
    bench.hear(201, 1, append(201, 1, (0, 0), 1, 2, 0));
    assert_eq!(bench.said(), [(1, ack(1, 201, 2))]);
    bench.disk_works = false;
    bench.hear(202, 1, append(202, 2, (1, 2), 2, 1, 0));
    bench.write_next(203);
    assert_eq!(bench.said(), [(1, ack(2, 202, 3))]);
}

/// Flow control, per follower: so many entries in a message, so many on the way; what is acknowledged makes room.
#[test]
fn a_window_is_never_exceeded() {
    let (batch, window) = (2, 5);
    let (mut bench, term) = leader(Replication { batch, window });
    bench.propose(21, 20);
    assert_eq!(entries_to(&mut bench, 1), [(1, 2), (3, 2), (5, 1)]);
    bench.propose(22, 1);
    assert_eq!(entries_to(&mut bench, 1), []);
    bench.hear(23, 1, ack(term, 21, 2));
    assert_eq!(entries_to(&mut bench, 1), [(6, 1)]);
    bench.hear(24, 1, ack(term, 21, 6));
    assert_eq!(entries_to(&mut bench, 1), [(7, 2), (9, 2)]);
    // The other follower has a window of its own.
    bench.hear(25, 2, ack(term, 21, 6));
    assert_eq!(entries_to(&mut bench, 2), [(6, 2), (8, 2), (10, 1)]);
}

/// With the window full nothing is sent that would be answered: a heartbeat's answer that all has arrived asks for the
/// acknowledgement that was lost, and for no more entries.
#[test]
fn a_full_window_does_not_stay_full() {
    let flow = Replication {
        batch: 1,
        window: 1,
    };
    let (mut bench, term) = leader(flow);
    bench.propose(21, 3);
    assert_eq!(entries_to(&mut bench, 1), [(1, 1)]);
    bench.input(60, Input::Timeout);
    let beat = Message::HeartbeatAck {
        term,
        sent: ms(60),
        round: 2,
        promise: PROMISE,
        matched: 2,
    };
    bench.hear(62, 1, beat);
    assert_eq!(entries_to(&mut bench, 1), [(2, 0)]);
    bench.hear(64, 1, ack(term, 62, 2));
    assert_eq!(entries_to(&mut bench, 1), [(2, 1)]);
}

/// RL-12: after a refusal one question is asked, and only its answer begins a stream; late answers to what was sent before
/// begin none. Where messages overtake one another each of them would.
#[test]
fn only_the_answer_to_a_probe_begins_a_stream() {
    let flow = Replication {
        batch: 1,
        window: 256,
    };
    let (mut bench, term) = leader(flow);
    bench.propose(21, 6);
    assert_eq!(entries_to(&mut bench, 1).len(), 6);
    // The last arrived first, then the first.
    bench.hear(23, 1, refused(term, 21, 6, (term, 1)));
    assert_eq!(entries_to(&mut bench, 1), [(1, 1)]);
    bench.hear(24, 1, ack(term, 21, 2));
    bench.hear(24, 1, refused(term, 21, 5, (term, 2)));
    bench.hear(24, 1, refused(term, 21, 4, (term, 2)));
    assert_eq!(entries_to(&mut bench, 1), []);
    let pace = |bench: &Bench<Switched>| bench.machine.progress(NodeId(1)).unwrap().pace;
    assert_eq!(pace(&bench), Pace::Probing);
    // Neither a refusal of what was sent before the question, nor one of something else that was sent with it.
    bench.hear(24, 1, refused(term, 21, 1, (0, 0)));
    bench.hear(24, 1, refused(term, 23, 4, (term, 2)));
    assert_eq!(entries_to(&mut bench, 1), []);
    assert_eq!(pace(&bench), Pace::Probing);
    bench.hear(25, 1, ack(term, 23, 2));
    assert_eq!(pace(&bench), Pace::Stream);
    assert_eq!(entries_to(&mut bench, 1).len(), 5);
}

/// RL-12: in a stream the refusal of something that was not sent, or of what is known to be there, asks nothing anew.
#[test]
fn a_refusal_of_what_is_settled_asks_nothing_anew() {
    let (mut bench, term) = leader(Replication::default());
    bench.propose(21, 6);
    bench.hear(22, 1, ack(term, 21, 4));
    bench.said();
    let known = |bench: &Bench<Switched>| bench.machine.progress(NodeId(1)).unwrap();
    let before = known(&bench);
    assert_eq!(
        (before.matched, before.next, before.pace),
        (4, 8, Pace::Stream)
    );
    for prev in [3, 8] {
        bench.hear(23, 1, refused(term, 21, prev, (term, 2)));
        assert_eq!(known(&bench), before, "{prev}");
    }
    bench.hear(23, 1, refused(term, 21, 7, (term, 4)));
    assert_eq!(entries_to(&mut bench, 1), [(4, 3)]);
}

/// What has arrived with the question is not sent again, though the disk holds less of it.
#[test]
fn a_probe_that_arrived_is_not_sent_again() {
    let flow = Replication {
        batch: 4,
        window: 256,
    };
    let (mut bench, term) = leader(flow);
    bench.propose(21, 9);
    bench.said();
    bench.hear(23, 1, refused(term, 21, 5, (term, 1)));
    assert_eq!(entries_to(&mut bench, 1), [(1, 4)]);
    bench.hear(25, 1, ack(term, 23, 2));
    assert_eq!(entries_to(&mut bench, 1), [(5, 4), (9, 1)]);
}

/// The first question carries entries, however long the log is; after it the window counts what was sent beyond it.
#[test]
fn a_question_carries_what_the_window_leaves() {
    let (batch, window) = (4, 5);
    let flow = Replication { batch, window };
    let log = stored(1, &[(1, 20)]);
    let mut bench = Bench::with_log(3, 0, log, flow, Switched::default());
    bench.elect(200, 1);
    assert_eq!(entries_to(&mut bench, 1), [(20, 1)]);

    let (mut bench, term) = leader(flow);
    bench.propose(21, 20);
    assert_eq!(entries_to(&mut bench, 1), [(1, 4), (5, 1)]);
    bench.hear(22, 1, refused(term, 21, 5, (term, 4)));
    // Three of the five before it may be on the way still.
    assert_eq!(entries_to(&mut bench, 1), [(4, 2)]);
}

/// A new leader sends what is not known to be committed along with its first entry, when one message holds them.
#[test]
fn little_that_is_uncommitted_travels_with_the_first_entry() {
    let flow = Replication {
        batch: 4,
        window: 256,
    };
    for (entries, commit, first) in [(3, 0, 0), (4, 0, 4), (5, 2, 2), (6, 2, 6), (3, 3, 3)] {
        let log = stored(1, &[(1, entries)]);
        let mut bench = Bench::with_log(3, 0, log, flow, Switched::default());
        bench.hear(200, 1, append(200, 1, (1, entries), 1, 0, commit));
        assert_eq!(bench.machine.commit(), commit);
        bench.elect(800, 1);
        let said = entries_to(&mut bench, 1);
        assert_eq!(said[0].0, first, "{entries} {commit}: {said:?}");
        let sent: u64 = said.iter().map(|(_, count)| count).sum();
        assert_eq!(sent, entries - first + 1);
    }
}

/// Nobody agrees at what it refuses, and whoever refuses where the log begins, or has less, needs the snapshot.
#[test]
fn a_refusal_leads_back_and_never_to_itself() {
    let snapshot = |bench: &mut Bench<Switched>| {
        let said = bench.said().into_iter();
        let installs = |(to, message): &(u64, Message)| {
            *to == 1 && matches!(message, Message::InstallSnapshot { .. })
        };
        said.filter(installs).count()
    };
    let compacted = || {
        let (mut bench, term) = leader(Replication::default());
        bench.propose(21, 5);
        for follower in [1, 2] {
            bench.hear(22, follower, ack(term, 21, 6));
        }
        bench.machine.compact(ms(22), 4).unwrap();
        bench.propose(23, 1);
        bench.said();
        (bench, term)
    };
    let next = |bench: &Bench<Switched>| bench.machine.progress(NodeId(1)).unwrap().next;
    let (mut bench, term) = compacted();
    bench.machine.handle(
        ms(24),
        Input::Peer(NodeId(1), refused(term, 23, 6, (term, 6))),
    );
    assert_eq!(next(&bench), 6);
    let (mut bench, term) = compacted();
    bench.hear(24, 1, refused(term, 23, 6, (term, 4)));
    assert_eq!(entries_to(&mut bench, 1), [(4, 3)]);
    bench.hear(25, 1, refused(term, 24, 4, (term, 4)));
    assert_eq!(snapshot(&mut bench), 1);
    let (mut bench, term) = compacted();
    bench.hear(24, 1, refused(term, 23, 6, (term, 2)));
    assert_eq!(snapshot(&mut bench), 1);
}

/// RL-7: a follower that does not know any more what it acknowledged is asked about that, and not sent everything again.
#[test]
fn a_follower_that_forgot_is_asked_about_what_it_acknowledged() {
    let (mut bench, term) = leader(Replication::default());
    bench.propose(21, 5);
    bench.hear(22, 1, ack(term, 21, 6));
    bench.input(60, Input::Timeout);
    bench.said();
    let beat = |round, matched| Message::HeartbeatAck {
        term,
        sent: ms(60),
        promise: PROMISE,
        round,
        matched,
    };
    bench.hear(61, 1, beat(2, 6));
    assert_eq!(entries_to(&mut bench, 1), []);
    bench.hear(62, 1, beat(2, 0));
    assert_eq!(entries_to(&mut bench, 1), [(6, 0)]);
}

/// A snapshot takes as long as it takes: it is sent again after an election timeout, and not with every heartbeat.
#[test]
fn a_snapshot_is_given_an_election_timeout() {
    let (mut bench, term) = leader(Replication::default());
    bench.propose(21, 5);
    for follower in [1, 2] {
        bench.hear(22, follower, ack(term, 21, 6));
    }
    bench.machine.compact(ms(22), 6).unwrap();
    bench.propose(23, 1);
    bench.said();
    bench.hear(24, 1, refused(term, 23, 6, (term, 2)));
    let max = bench.machine.config().timing.election_max;
    let end = 24 + max.as_micros() / 1_000;
    let (mut newest, mut installs) = ((ms(10), 1), Vec::new());
    for at in 24..=end {
        for (to, message) in bench.said() {
            match message {
                Message::InstallSnapshot { .. } => installs.push((at, to)),
                Message::Heartbeat { sent, round, .. } => newest = (sent, round),
                _ => {}
            }
        }
        for (of, matched) in [(1, 2), (2, 7)] {
            let (sent, round) = newest;
            let ack = Message::HeartbeatAck {
                term,
                sent,
                promise: PROMISE,
                round,
                matched,
            };
            bench.hear(at, of, ack);
        }
        bench.input(at, Input::Timeout);
    }
    assert_eq!(installs, [(24, 1)]);
    let again = |(to, message): &(u64, Message)| {
        *to == 1 && matches!(message, Message::InstallSnapshot { .. })
    };
    assert_eq!(bench.said().iter().filter(|said| again(said)).count(), 1);
}

/// C1: also what a leader says waits for its record. Grants to a candidate whose own record is not written were not asked
/// for, and change nothing in that.
#[test]
fn a_leader_says_nothing_before_its_record() {
    let mut bench = node(3, None, &[]);
    bench.disk_works = false;
    bench.input(10, Input::Campaign);
    for voter in [1, 2] {
        let (remainder, sent) = (Duration::ZERO, ms(10));
        let granted = Message::PreVoteGranted {
            term: 1,
            remainder,
            sent,
        };
        bench.hear(10, voter, granted);
    }
    bench.said();
    for voter in [1, 2] {
        bench.hear(11, voter, Message::VoteGranted { term: 1 });
    }
    assert_eq!(bench.machine.role(), Role::Leader);
    assert_eq!(bench.said(), []);
    bench.write_next(12);
    assert_eq!(entries_to(&mut bench, 1), [(0, 1)]);
}

#[test]
fn who_does_not_lead_says_whom_to_ask() {
    let mut bench = node(3, None, &[]);
    let told = |bench: &mut Bench<Switched>| {
        let refused = bench.machine.propose(ms(200), 1).unwrap_err();
        refused.to_string()
    };
    assert!(told(&mut bench).contains("ask again later"));
    bench.heartbeat(200, 1, 1);
    assert!(told(&mut bench).contains("ask node 1"));
    for (error, remedy) in [
        (ProposeError::NoLog, "configure replication"),
        (ProposeError::TooLong, "start a new group"),
        (ProposeError::Transferring, "ask the next leader"),
    ] {
        assert!(error.to_string().contains(remedy), "{error}");
    }
}

/// Raft §5.3: a refusal passes over a whole term, on either side.
#[test]
fn a_conflict_costs_one_refusal_a_term() {
    let theirs = [(1, 3), (2, 30), (3, 30), (5, 30)];
    // More than what goes along with the entry of the own term.
    let flow = Replication {
        batch: 100,
        window: 256,
    };
    let log = stored(6, &[(1, 3), (4, 100), (6, 7)]);
    let mut lead = Bench::with_log(3, 0, log, flow, Switched::default());
    let mut follow = node(3, stored(6, &theirs), &[]);
    let term = lead.elect(10, 2);
    let (mut refusals, mut at) = (0, 200);
    // Their exchange alone, without the clock.
    let mut to_follower: Vec<Message> = Vec::new();
    while follow.machine.last() != lead.machine.last() {
        at += 1;
        to_follower.extend(
            lead.said()
                .into_iter()
                .filter(|said| said.0 == 1)
                .map(|said| said.1),
        );
        for message in to_follower.drain(..) {
            // The leader is node 0, as this follower calls itself; its name does not matter to a follower.
            follow.hear(at, 1, message);
        }
        for (_, answer) in follow.said() {
            refusals += u32::from(matches!(answer, Message::AppendRefused { .. }));
            lead.hear(11, 1, answer);
        }
        assert!(at < 250, "{:?}", follow.machine.log());
    }
    // 6 is answered with 5, and 4 with 3; 2 is passed over along with 4.
    assert_eq!((term, refusals), (7, 2));
    assert_eq!(follow.machine.log(), lead.machine.log());
}

/// Only what is committed and on the own disk can be compacted away; what the disk is told is what the machine holds.
#[test]
fn compaction_keeps_what_may_be_taken_back() {
    let (mut bench, term) = leader(Replication::default());
    bench.propose(21, 4);
    assert_eq!(
        bench.machine.compact(ms(22), 2),
        Err(CompactError::NotFinal(1))
    );
    bench.hear(23, 1, ack(term, 21, 4));
    assert_eq!(
        bench.machine.compact(ms(24), 5),
        Err(CompactError::NotFinal(4))
    );
    bench.disk_works = false;
    bench.propose(25, 3);
    for follower in [1, 2] {
        bench.hear(26, follower, ack(term, 25, 8));
    }
    assert_eq!(bench.machine.commit(), 8);
    assert_eq!(
        bench.machine.compact(ms(27), 6),
        Err(CompactError::NotFinal(5)),
        "its own disk is behind"
    );
    let base = Position::new(term, 3);
    assert_eq!(bench.machine.compact(ms(28), 3), Ok(base));
    assert_eq!(bench.machine.compact(ms(28), 2), Ok(base), "long gone");
    bench.input(28, Input::Timeout);
    bench.write_next(29);
    bench.write_next(29);
    let disk = bench.disk.clone().unwrap();
    assert_eq!(disk.log, *bench.machine.log());
    assert_eq!(disk.log.base(), base);
    // Once is enough, and a machine whose disk is in doubt asks for nothing more.
    for again in [2, 3] {
        assert_eq!(bench.machine.compact(ms(30), again), Ok(base));
        assert_eq!(bench.machine.pending(), 0);
    }
    bench.propose(31, 1);
    let open = bench.waiting[0];
    bench.input(31, Input::Reply(open, Err(Unknown)));
    assert_eq!(bench.machine.compact(ms(31), 4), Ok(base));
    assert!(bench.machine.poll().is_none());
    let again = Bench::with_log(
        3,
        0,
        Some(disk),
        Replication::default(),
        Switched::default(),
    );
    assert_eq!(
        again.machine.commit(),
        3,
        "what is compacted away is committed"
    );

    let mut alone = Bench::booted(3, 0, None, Shape::new(), Switched::default());
    assert_eq!(alone.machine.compact(ms(1), 0), Err(CompactError::NoLog));
    assert!(alone.machine.propose(ms(1), 1).is_err());
}

/// A snapshot replaces a log that does not reach so far or contradicts it, and nothing else; older ones are of no use.
#[test]
fn a_snapshot_is_installed_where_it_is_news() {
    let install = |at: u64, term, last: (u64, u64)| {
        let mut source = node(3, stored(5, &[(1, 1)]), &[]);
        source.heartbeat(200, 1, 5);
        Message::InstallSnapshot {
            term,
            sent: ms(at),
            last: Position::new(last.0, last.1),
            membership: std::sync::Arc::new(source.machine.membership().clone()),
        }
    };
    for (runs, last, kept) in [
        (&[(1, 2)][..], (2, 5), vec![]),
        (&[(1, 9)], (2, 5), vec![]),
        (&[(1, 2), (2, 7)], (2, 5), vec![(1, 2), (2, 7)]),
    ] {
        let mut bench = node(3, stored(5, runs), &[]);
        bench.heartbeat(200, 1, 5);
        bench.said();
        bench.hear(201, 1, install(201, 5, last));
        assert_eq!(bench.machine.commit(), 5, "{runs:?}");
        assert_eq!(bench.machine.log().runs().collect::<Vec<_>>(), kept);
        assert_eq!(bench.disk.clone().unwrap().log, *bench.machine.log());
        assert_eq!(bench.said(), [(1, ack(5, 201, 5))]);
        // The same again, and an older one.
        for last in [last, (1, 2)] {
            bench.hear(202, 1, install(202, 5, last));
            assert_eq!(bench.said(), [(1, ack(5, 202, 5))]);
            assert_eq!(bench.machine.log().runs().collect::<Vec<_>>(), kept);
        }
    }
    // One that ends in what is known to be committed changes nothing, whatever it says.
    let mut bench = node(3, stored(5, &[(1, 2)]), &[]);
    bench.hear(200, 1, append(200, 5, (1, 2), 1, 0, 2));
    assert_eq!(bench.machine.commit(), 2);
    bench.hear(201, 1, install(201, 5, (2, 2)));
    assert_eq!(bench.machine.last(), Position::new(1, 2));
    // While its disk is behind, it is not acknowledged.
    let mut bench = node(3, stored(5, &[(1, 2)]), &[]);
    bench.heartbeat(200, 1, 5);
    bench.said();
    bench.disk_works = false;
    bench.hear(201, 1, install(201, 5, (2, 5)));
    bench.hear(202, 1, append(202, 5, (2, 5), 5, 2, 5));
    assert_eq!(bench.said(), []);
    bench.write_next(203);
    bench.write_next(204);
    assert_eq!(bench.said(), [(1, ack(5, 202, 5)), (1, ack(5, 202, 7))]);
    let writes = bench.disk.unwrap();
    assert_eq!(writes.log.last(), Position::new(5, 7));
}

/// C8: in the steady state neither leader nor follower allocates, with a proposal in every round.
#[test]
fn replication_allocates_nothing() {
    let (mut bench, term) = leader(Replication::default());
    let mut index = 1;
    let mut lead = |rounds: u64| {
        for _ in 0..rounds {
            let at = 20 + index;
            let machine = &mut bench.machine;
            machine.propose(ms(at), 1).unwrap();
            index += 1;
            machine.handle(ms(at), Input::Timeout);
            while let Some(output) = machine.poll() {
                match output {
                    Output::Request(ticket, _) => {
                        machine.handle(ms(at), Input::Reply(ticket, Ok(())));
                    }
                    Output::Send(to, Message::Append { prev, entries, .. }) => {
                        let matched = prev.index + entries.count();
                        let answer = ack(term, at, matched);
                        machine.handle(ms(at), Input::Peer(to, answer));
                    }
                    _ => {}
                }
            }
        }
        assert_eq!(bench.machine.commit(), index);
    };
    lead(100);
    assert_eq!(allocation_counter::measure(|| lead(10_000)).count_total, 0);

    let mut bench = node(3, stored(1, &[]), &[]);
    let mut index = 0;
    let mut follow = |rounds: u64| {
        for _ in 0..rounds {
            let at = 200 + index;
            let prev = if index == 0 { (0, 0) } else { (1, index) };
            let message = append(at, 1, prev, 1, 1, index);
            let machine = &mut bench.machine;
            machine.handle(ms(at), Input::Peer(NodeId(1), message));
            index += 1;
            while let Some(output) = machine.poll() {
                if let Output::Request(ticket, write) = output {
                    assert!(matches!(write.log, LogWrite::Append { .. }));
                    machine.handle(ms(at), Input::Reply(ticket, Ok(())));
                }
            }
        }
        assert_eq!(bench.machine.last().index, index);
    };
    follow(100);
    assert_eq!(
        allocation_counter::measure(|| follow(10_000)).count_total,
        0
    );
}
