//! Messages that can do nothing any more, which an exhaustive search leaves out (C10).

mod bench;
mod group;

use bench::{Bench, handled, look, ms};
use group::{Breakage, Group};
use std::collections::BTreeMap;
use tenure::log::{Position, Shape};
use tenure::quorum::Voters;
use tenure::raft::{
    Boot, Config, Message, Raft, Record, Replication, Role, Rule, Rules, Switched, View,
};
use tenure::{Duration, Input, NodeId, Output};

/// Delivers `message` to a copy of where it goes, and its answer to a copy of where it came from: nothing comes of either,
/// but the answer.
fn does_nothing<R: Rules>(group: &Group<R>, mail: (usize, usize, Message), timed: bool) -> bool {
    // A message from a stranger is refused: what then happens is the doing of the clock.
    const STRANGER: NodeId = NodeId(99);
    let view = View {
        held: false,
        timed,
        ..View::PLAIN
    };
    let deliver = |from: usize, to: usize, message: Message| {
        let mut with = group.nodes[to].machine.clone()?;
        let mut without = with.clone();
        let now = group.clock(to);
        let mut said = handled(
            &mut with,
            now,
            Input::Peer(NodeId(from as u64), message.clone()),
        );
        let always = handled(&mut without, now, Input::Peer(STRANGER, message));
        let unmoved =
            look(&with, now, view) == look(&without, now, view) && said.starts_with(&always);
        Some((unmoved, said.split_off(always.len().min(said.len()))))
    };
    let (from, to, message) = mail;
    let Some((unmoved, answers)) = deliver(from, to, message) else {
        return true;
    };
    unmoved
        && answers.into_iter().all(|answer| match answer {
            Output::Send(back, answer) if back == NodeId(from as u64) => {
                deliver(to, from, answer).is_none_or(|(unmoved, more)| unmoved && more.is_empty())
            }
            _ => false,
        })
}

/// What is called inert does nothing, now or later: not where it arrives, nor, through the answer, where it came from.
#[test]
fn what_is_inert_does_nothing() {
    let mut found: BTreeMap<String, u32> = BTreeMap::new();
    for (seed, safe_mode) in (0..200).map(|seed| (seed, seed % 2 == 0)) {
        let mut group =
            Group::configured(3, seed, Switched::default(), safe_mode, |_| group::timing());
        group.breakage = Breakage {
            back_in_time: 0,
            ..Breakage::WILD
        };
        group.boot_all();
        let mut inert: Vec<(usize, usize, Message)> = Vec::new();
        while group.now < 2_000_000 {
            group.step();
            for mail in group.in_flight() {
                let (from, to, message) = &mail;
                let ends = (&group.nodes[*from].machine, &group.nodes[*to].machine);
                let (Some(there), Some(here)) = ends else {
                    continue;
                };
                let over = here.inert(group.clock(*to), there, message, safe_mode);
                if over && !inert.contains(&mail) {
                    let kind = format!("{message:?}");
                    let kind = kind.split(' ').next().unwrap_or_default();
                    *found.entry(kind.to_owned()).or_default() += 1;
                    inert.push(mail);
                }
            }
            for mail in &inert {
                assert!(
                    does_nothing(&group, mail.clone(), safe_mode),
                    "{mail:?} in seed {seed}"
                );
            }
            let enough = inert.len().saturating_sub(20);
            inert.drain(..enough);
        }
    }
    assert_eq!(found.len(), 10, "{found:?}");
    assert!(found.values().all(|count| *count > 50), "{found:?}");
}

/// A node at the start of a life, in `term` and with a vote in it.
fn resting(id: u64, term: u64, vote: Option<u64>) -> Bench<Switched> {
    let record = Record {
        term,
        vote: vote.map(NodeId),
        ..Record::default()
    };
    Bench::booted(5, id, Some(record), Shape::new(), Switched::default())
}

/// A candidate of `term`, at one second, with its own vote and that of the last node.
fn candidate(id: u64, term: u64) -> Bench<Switched> {
    let mut bench = resting(id, term - 1, None);
    bench.input(1_000, Input::Campaign);
    for voter in [3, 4] {
        let (remainder, sent) = (Duration::ZERO, ms(1_000));
        let granted = Message::PreVoteGranted {
            term,
            remainder,
            sent,
        };
        bench.hear(1_000, voter, granted);
    }
    bench.hear(1_000, 4, Message::VoteGranted { term });
    assert_eq!(
        (bench.machine.role(), bench.machine.term()),
        (Role::Candidate, term)
    );
    bench
}

/// A leader of `term`, whose round of one second ago the last node has acknowledged.
fn leader(id: u64, term: u64) -> Bench<Switched> {
    let mut bench = candidate(id, term);
    bench.hear(1_000, 3, Message::VoteGranted { term });
    bench.acked(1_000, 4, term, 1_000);
    assert_eq!(bench.machine.role(), Role::Leader);
    bench
}

/// Which messages a search may leave out, kind by kind, at a node in term 5 at one second. What may still matter is never
/// called inert; that what cannot matter is makes the search small.
#[test]
fn what_is_over_is_inert() {
    let (start, span, at) = (Position::START, Duration::from_millis(150), ms);
    let vote = |term| Message::RequestVote {
        term,
        last: start,
        released: 0,
    };
    let granted = |term| Message::VoteGranted { term };
    let refused = |asked, term| Message::VoteRefused { asked, term };
    let beat = |term| Message::Heartbeat {
        term,
        sent: at(999),
        round: 1,
        commit: 0,
    };
    let ack = |term, sent| Message::HeartbeatAck {
        term,
        sent: at(sent),
        promise: span,
        round: 1,
        matched: 0,
    };
    let behind = |asked, term| Message::HeartbeatRefused { asked, term };
    let ask = |term| Message::RequestPreVote {
        term,
        last: start,
        sent: at(999),
        released: 0,
    };
    let would = |term, sent| Message::PreVoteGranted {
        term,
        remainder: span,
        sent: at(sent),
    };
    let would_not = |asked, term| Message::PreVoteRefused {
        asked,
        term,
        better: None,
    };
    let release = |term| Message::Release {
        term,
        to: None,
        orderly: false,
    };

    let here = || resting(0, 5, None);
    let voted = |vote| resting(0, 5, Some(vote));
    // It followed the leader of term 4 until just now.
    let released = |at: u64| {
        let mut bench = resting(0, 4, None);
        bench.heartbeat(at, 1, 4);
        bench.input(at + 130, Input::Campaign);
        bench.hear(
            at + 131,
            2,
            Message::PreVoteRefused {
                asked: 5,
                term: 5,
                better: None,
            },
        );
        bench
    };
    let asking = || {
        let mut bench = here();
        bench.input(1_000, Input::Campaign);
        bench
    };
    let there = |term| resting(1, term, None);
    let last = || resting(4, 5, None);
    for (here, there, message, over) in [
        (here(), there(5), vote(4), true),
        (here(), candidate(1, 4), vote(4), false),
        (here(), there(5), vote(5), false),
        (here(), there(6), vote(6), false),
        (voted(2), there(5), vote(5), true),
        (voted(2), there(6), vote(5), true),
        (voted(2), candidate(1, 5), vote(5), false),
        (voted(1), there(5), vote(5), false),
        (here(), there(5), granted(4), true),
        (here(), there(5), granted(5), true),
        (here(), there(6), granted(6), false),
        (candidate(0, 5), there(5), granted(4), true),
        (candidate(0, 5), there(5), granted(5), false),
        (candidate(0, 5), last(), granted(5), true),
        (here(), there(9), refused(4, 9), true),
        (here(), there(9), refused(5, 9), true),
        (here(), there(9), refused(6, 9), false),
        (here(), there(5), refused(6, 5), true),
        (candidate(0, 5), there(5), refused(5, 5), true),
        (candidate(0, 5), there(9), refused(5, 9), false),
        (candidate(0, 5), there(9), refused(4, 9), true),
        (here(), there(5), beat(4), true),
        (here(), leader(1, 4), beat(4), false),
        (here(), candidate(1, 4), beat(4), false),
        (here(), there(6), beat(5), false),
        (here(), there(5), ack(4, 999), true),
        (here(), there(5), ack(5, 999), true),
        (here(), there(6), ack(6, 999), false),
        (candidate(0, 5), there(5), ack(5, 1_000), false),
        (candidate(0, 5), there(5), ack(4, 1_000), true),
        (leader(0, 5), last(), ack(5, 1_000), true),
        (leader(0, 5), there(5), ack(5, 1_000), false),
        (here(), there(9), behind(4, 9), true),
        (here(), there(9), behind(5, 9), true),
        (here(), there(9), behind(6, 9), false),
        (here(), there(5), behind(6, 5), true),
        (candidate(0, 5), there(9), behind(5, 9), false),
        (leader(0, 5), there(9), behind(5, 9), false),
        (leader(0, 5), there(5), behind(5, 5), true),
        (leader(0, 5), there(9), behind(4, 9), true),
        (here(), there(5), ask(5), true),
        (here(), there(6), ask(5), true),
        (here(), there(4), ask(5), false),
        (here(), there(5), ask(6), false),
        (here(), there(6), ask(6), false),
        (here(), there(5), would(5, 999), true),
        (here(), there(5), would(6, 999), true),
        (here(), there(5), would(6, 1_000), false),
        (asking(), there(5), would(5, 1_000), true),
        (asking(), there(5), would(6, 999), true),
        (asking(), there(5), would(6, 1_000), false),
        (here(), there(9), would_not(5, 9), true),
        (here(), there(9), would_not(6, 9), false),
        (here(), there(5), would_not(6, 5), true),
        // Whom it asks may have promised to that leader.
        (here(), there(5), release(4), false),
        (here(), there(5), release(5), false),
        (here(), there(6), release(6), false),
        (released(860), there(5), release(4), false),
        (released(850), there(5), release(4), false),
    ] {
        let told = format!("{message:?} at a {:?}", here.machine.role());
        let inert =
            |machine: &Raft<Switched>| machine.inert(ms(1_000), &there.machine, &message, true);
        assert_eq!(inert(&here.machine), over, "{told}");
        // With its disk behind, a crash could take back what made it so.
        if here.machine.role() == Role::Follower
            && !matches!(message, Message::PreVoteGranted { .. })
        {
            let mut behind = resting(0, here.machine.term() - 1, None);
            behind.disk_works = false;
            behind.hear(1_000, 3, vote(here.machine.term()));
            assert!(!inert(&behind.machine), "{told} that waits for its disk");
        }
    }
}

/// Outside safe mode nobody promises, but a node may still wait out what it promised before it was configured so: what frees
/// it from that is not inert.
#[test]
fn a_release_that_frees_is_not_inert_outside_safe_mode() {
    let at = |millis, released, off: &[Rule]| {
        let config = Config {
            safe_mode: false,
            ..Config::new(NodeId(0), Voters::new((0..5).map(NodeId)).unwrap())
        };
        let record = Record {
            term: 5,
            vote: Some(NodeId(2)),
            promise: Duration::from_millis(150),
            ..Record::default()
        };
        let boot = Boot {
            stored: Some(record.into()),
            incarnation: 1,
            seed: 1,
        };
        let here = Raft::with_rules(config, boot, ms(0), Switched::without(off)).unwrap();
        let ask = Message::RequestVote {
            term: 5,
            last: Position::START,
            released,
        };
        here.inert(ms(millis), &resting(1, 5, None).machine, &ask, true)
    };
    // The wait after a restart ends with the own term's leader alone.
    let released = |millis| [0, 4, 5].map(|released| at(millis, released, &[]));
    assert_eq!(released(100), [true, true, false]);
    assert_eq!(released(151), [true, true, true]);
    let any = |released| at(200, released, &[Rule::ReleaseOwnTerm]);
    assert_eq!([0, 4].map(any), [true, false]);
}

/// A leader with a log counts the rounds that a member answered: an answer to a later one may confirm a read.
#[test]
fn an_answer_to_a_later_round_is_not_inert() {
    let flow = Replication::default();
    let mut bench = Bench::with_log(3, 0, None, flow, Switched::default());
    let term = bench.elect(1_000, 1);
    let ack = |round| Message::HeartbeatAck {
        term,
        sent: ms(1_000),
        promise: Duration::from_millis(150),
        round,
        matched: 0,
    };
    bench.input(1_001, Input::Timeout);
    bench.hear(1_001, 2, ack(1));
    let there = Bench::booted(
        3,
        2,
        Some(Record {
            term,
            ..Record::default()
        }),
        Shape::new(),
        Switched::default(),
    );
    let inert = |round| {
        let (machine, there) = (&bench.machine, &there.machine);
        machine.inert(ms(1_001), there, &ack(round), true)
    };
    assert_eq!([inert(0), inert(1), inert(2)], [true, true, false]);
}

/// What depends on when: an answer to a pre-vote counts as long as a promise lasts, and where time does not count a vote
/// that is given may be asked for again.
#[test]
fn what_is_inert_depends_on_time() {
    let mut asking = resting(0, 5, None);
    asking.input(1_000, Input::Campaign);
    let there = resting(1, 5, None).machine;
    let would = Message::PreVoteGranted {
        term: 6,
        remainder: Duration::ZERO,
        sent: ms(1_000),
    };
    let at = |now, timed| asking.machine.inert(ms(now), &there, &would, timed);
    assert_eq!(
        [at(1_150, true), at(1_151, true), at(1_151, false)],
        [false, true, false]
    );

    let vote = Message::RequestVote {
        term: 5,
        last: Position::START,
        released: 0,
    };
    let voted = resting(0, 5, Some(1)).machine;
    let again = |timed| voted.inert(ms(1_000), &there, &vote, timed);
    assert_eq!([again(true), again(false)], [false, true]);

    // The asker's own disk: it may return to the term below, and ask anew.
    let mut asker = resting(1, 4, None);
    asker.disk_works = false;
    asker.hear(1_000, 2, vote);
    let ask = Message::RequestPreVote {
        term: 5,
        last: Position::START,
        sent: ms(999),
        released: 0,
    };
    let here = resting(0, 5, None).machine;
    assert!(!here.inert(ms(1_000), &asker.machine, &ask, true));
}
