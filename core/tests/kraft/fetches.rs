//! Fetches and their answers, message by message: each rule at the place where it decides.

use crate::hand::{
    Hand, LAST, code, config, fetch, fetched, head, key, log, state, vote, vote_reply,
};
use tenure::kraft::{
    Body, Code, Correlation, DirectoryId, Fetched, LogWrite, Refusal, ReplicaKey, Role, Stored,
};
use tenure::log::Position;
use tenure::{Duration, Input, Instant, NodeId};

/// An answer is known by its number: late, twice, of another life, of another kind.
#[test]
fn answers_to_nothing_are_known() {
    let mut hand = Hand::following(&[(4, 10)]);
    let records = Fetched::Records { epoch: 5, count: 1 };
    let body = fetched(5, 1, LAST, records, 0);
    let asked = hand.asks(1).unwrap().correlation;
    let other_life = Correlation {
        incarnation: 2,
        ..asked
    };
    hand.tell_as(1, other_life, body.clone());
    hand.tell_as(2, asked, body.clone());
    hand.tell_as(1, asked, vote_reply(5, true));
    // Records after another one than it has.
    let elsewhere = fetched(5, 1, Position::new(4, 12), records, 0);
    hand.tell_as(1, asked, elsewhere);
    assert_eq!(hand.machine.last(), LAST);
    assert_eq!(hand.machine.refusals().count(Refusal::Late), 2);
    assert_eq!(hand.machine.refusals().count(Refusal::Unasked), 2);
    hand.tell_as(1, asked, body.clone());
    assert_eq!(hand.machine.last(), Position::new(5, 11));
    hand.tell_as(1, asked, body.clone());
    assert_eq!(hand.machine.refusals().count(Refusal::Late), 3);
    // A fetch that is not answered in the request timeout is asked again, and its answer is late.
    let mut slow = config(0);
    slow.timing.request_timeout = Duration::from_millis(700);
    let log = log(&[(4, 10)]);
    let state = state(5, Some(1), None);
    let mut hand = Hand::with(slow, Some(Stored { state, log }));
    let first = hand.asks(1).unwrap().correlation;
    hand.wait_until_due();
    assert_eq!(hand.now, 1_700);
    assert_eq!(hand.asks(1).unwrap().correlation, first);
    hand.wait_until_due();
    assert_eq!(hand.now, 1_720, "the retry back-off");
    let second = hand.asks(1).unwrap().correlation;
    assert_eq!(second.number, first.number + 1);
    hand.tell_as(1, first, body.clone());
    assert_eq!(hand.machine.last(), LAST);
    hand.tell_as(1, second, body);
    assert_eq!(hand.machine.last(), Position::new(5, 11));
}

/// KR-F4: a voter fetches on when its disk holds what it fetched; an observer at once.
#[test]
fn the_fetch_is_the_acknowledgement() {
    for id in [0, 9] {
        let mut hand = Hand::booted(id, state(5, Some(1), None), &[(4, 10)]);
        let records = Fetched::Records { epoch: 5, count: 3 };
        let asked = hand.asks(1).unwrap().correlation;
        hand.sent.clear();
        hand.tell_as(1, asked, fetched(5, 1, LAST, records, 12));
        assert_eq!(hand.asks(1).is_some(), id == 9, "{:?}", hand.sent);
        assert_eq!(hand.machine.high_watermark(), 12);
        let append = LogWrite::Append {
            after: LAST,
            epoch: 5,
            count: 3,
        };
        assert_eq!(hand.writes[0].1.log, append);
        hand.written();
        let Body::Fetch {
            after,
            high_watermark: 12,
            ..
        } = hand.asks(1).unwrap().body
        else {
            panic!("{:?}", hand.sent);
        };
        assert_eq!(after, Position::new(5, 13));
    }
}

/// KR-F1 and KR-F2.
#[test]
fn fetches_are_checked_against_the_log() {
    let mut hand = Hand::booted(0, state(5, None, Some(0)), &[(1, 3), (3, 4), (4, 2)]);
    assert_eq!(
        code(hand.ask(1, fetch(1, 5, Position::START))),
        Code::NotLeader
    );
    hand.sent.clear();
    hand.wait_for(Role::Prospective);
    hand.wait_for(Role::Unattached);
    hand.wait_for(Role::Prospective);
    hand.answer(1, vote_reply(5, true));
    hand.answer(1, vote_reply(6, true));
    assert_eq!(hand.machine.role(), Role::Leader);
    assert_eq!(
        code(hand.ask(1, fetch(1, 5, Position::START))),
        Code::FencedLeaderEpoch
    );
    assert_eq!(
        code(hand.ask(1, fetch(1, 7, Position::START))),
        Code::UnknownLeaderEpoch
    );
    // What diverges acknowledges nothing.
    hand.ask(1, fetch(1, 6, Position::new(5, 20)));
    assert_eq!(hand.machine.high_watermark(), 0);
    let mut content = |after| match hand.ask(1, fetch(1, 6, after)) {
        Some(Body::FetchReply { content, head, .. }) => {
            assert_eq!(head.code, Code::None);
            Some(content)
        }
        other => panic!("{other:?}"),
    };
    let at = Position::new;
    let records = |epoch, count| Some(Fetched::Records { epoch, count });
    let diverging = |term, index| Some(Fetched::Diverging(at(term, index)));
    // The log: 1 up to 3, 3 up to 7, 4 up to 9, its own 6 at 10.
    assert_eq!(content(Position::START), records(1, 3));
    assert_eq!(content(at(1, 2)), records(1, 1));
    assert_eq!(content(at(1, 3)), records(3, 4));
    assert_eq!(content(at(4, 9)), records(6, 1));
    assert_eq!(
        content(at(6, 10)),
        records(0, 0),
        "there is a high watermark to tell"
    );
    assert_eq!(content(at(1, 4)), diverging(1, 3));
    assert_eq!(content(at(2, 5)), diverging(1, 3));
    assert_eq!(content(at(3, 8)), diverging(3, 7));
    assert_eq!(content(at(5, 20)), diverging(4, 9));
}

/// The long poll: nothing new is waited for, and every kind of news ends it.
#[test]
fn a_fetch_waits_for_news() {
    let mut hand = Hand::leading();
    let end = hand.machine.last();
    let wait = |hand: &mut Hand, known| {
        let body = Body::Fetch {
            epoch: 1,
            after: end,
            replica: key(1),
            high_watermark: known,
        };
        hand.ask(1, body)
    };
    let replies = |hand: &Hand| {
        let to = hand
            .sent
            .iter()
            .filter(|(to, message)| *to == 1 && !message.body.is_request());
        to.map(|(_, message)| message.body.clone())
            .collect::<Vec<_>>()
    };
    // KIP-1166: who does not know the high watermark is told at once.
    assert!(matches!(
        wait(&mut hand, 0),
        Some(Body::FetchReply {
            high_watermark: 1,
            ..
        })
    ));
    assert_eq!(wait(&mut hand, 1), None);
    let asked = hand.now;
    while replies(&hand).is_empty() {
        hand.wait_until_due();
    }
    assert_eq!(hand.now - asked, 500);
    // Who asks again has given up what it asked before.
    assert_eq!(wait(&mut hand, 1), None);
    assert_eq!(wait(&mut hand, 1), None);
    let asked = hand.now;
    while hand.now <= asked + 600 {
        hand.wait_until_due();
    }
    assert_eq!(replies(&hand).len(), 1);
    // A record.
    assert_eq!(wait(&mut hand, 1), None);
    let now = Instant::from_millis(hand.now);
    assert_eq!(hand.machine.propose(now, 2), Ok(Position::new(1, 2)));
    assert_eq!(hand.machine.propose(now, 1), Ok(Position::new(1, 4)));
    hand.drain();
    assert_eq!(
        (replies(&hand).len(), hand.writes.len()),
        (0, 0),
        "it lingers"
    );
    let proposed = hand.now;
    while replies(&hand).is_empty() {
        hand.wait_until_due();
    }
    assert_eq!(hand.now - proposed, 25);
    let records = Fetched::Records { epoch: 1, count: 3 };
    assert!(matches!(replies(&hand)[0], Body::FetchReply { content, .. } if content == records));
    // A commit: node 2 has it all, and node 1, too.
    let all = Position::new(1, 4);
    hand.ask(
        1,
        Body::Fetch {
            epoch: 1,
            after: all,
            replica: key(1),
            high_watermark: 4,
        },
    );
    assert_eq!(hand.machine.high_watermark(), 4);
    // A resignation.
    hand.sent.clear();
    hand.input(Input::Resign { to: None });
    assert_eq!(code(replies(&hand).pop()), Code::NotLeader);
}

/// KR-F3: never below the own high watermark.
#[test]
fn what_is_committed_is_not_cut() {
    let mut hand = Hand::following(&[(3, 6), (4, 4)]);
    hand.answer(1, fetched(5, 1, LAST, Fetched::NOTHING, 8));
    assert_eq!(hand.machine.high_watermark(), 8);
    hand.answer(
        1,
        fetched(5, 1, LAST, Fetched::Diverging(Position::new(3, 6)), 9),
    );
    assert_eq!(
        hand.machine.refusals().count(Refusal::TruncatesCommitted),
        1
    );
    assert_eq!(
        (hand.machine.last(), hand.machine.high_watermark()),
        (LAST, 8)
    );
    hand.answer(
        1,
        fetched(5, 1, LAST, Fetched::Diverging(Position::new(4, 9)), 9),
    );
    assert_eq!(
        (hand.machine.last(), hand.machine.high_watermark()),
        (Position::new(4, 9), 8)
    );
    assert!(hand.writes.is_empty());
}

/// The snapshot comes when the log does not begin that early.
#[test]
fn a_snapshot_replaces_the_log() {
    let mut hand = Hand::following(&[(3, 6)]);
    let (after, base) = (Position::new(3, 6), Position::new(4, 20));
    hand.answer(1, fetched(5, 1, after, Fetched::Snapshot(base), 30));
    let Body::FetchSnapshot { snapshot, .. } = hand.asks(1).unwrap().body else {
        panic!("{:?}", hand.sent);
    };
    assert_eq!(snapshot, base);
    let later = Position::new(4, 25);
    let asked = hand.asks(1).unwrap().correlation;
    let head = head(Code::None, 5, Some(1));
    let snapshot = Some(later);
    hand.tell_as(1, asked, Body::FetchSnapshotReply { head, snapshot });
    assert_eq!(hand.writes[0].1.log, LogWrite::Install { last: later });
    assert_eq!(
        (hand.machine.last(), hand.machine.high_watermark()),
        (later, 25)
    );
    hand.written();
    let Body::Fetch { after, .. } = hand.asks(1).unwrap().body else {
        panic!()
    };
    assert_eq!(after, later);
}

/// Who is no voter asks and is told; it decides nothing and stands for nothing.
#[test]
fn an_observer_decides_nothing() {
    let mut hand = Hand::leading();
    let at = hand
        .machine
        .propose(Instant::from_millis(hand.now), 1)
        .unwrap();
    hand.wait_until_due();
    let spoofed = Body::Fetch {
        epoch: 1,
        after: at,
        replica: key(1),
        high_watermark: 0,
    };
    assert_eq!(hand.ask(9, spoofed), None, "it speaks for another");
    let replaced = Body::Fetch {
        epoch: 1,
        after: at,
        replica: ReplicaKey::new(NodeId(1), DirectoryId(7)),
        high_watermark: 0,
    };
    hand.ask(1, replaced);
    hand.ask(9, fetch(9, 1, at));
    assert_eq!(hand.machine.high_watermark(), 1);
    hand.ask(1, fetch(1, 1, at));
    assert_eq!(hand.machine.high_watermark(), 2);
    for body in [
        vote(9, 7, at, false),
        Body::BeginQuorumEpoch {
            epoch: 7,
            voter: key(0),
        },
        vote_reply(7, true),
    ] {
        assert_eq!(hand.ask(9, body), None);
    }
    assert_eq!(hand.machine.epoch(), 1);
    assert_eq!(hand.machine.refusals().count(Refusal::UnknownSender), 4);
    let mut observer = Hand::booted(9, state(5, None, None), &[]);
    observer.input(Input::Campaign);
    for _ in 0..100 {
        observer.wait_until_due();
        assert_eq!(observer.machine.role(), Role::Unattached);
    }
}

/// A snapshot that ends where the log ended, in another epoch: the disk has nothing of it until it says so. And one of what
/// is committed already takes nothing back.
#[test]
fn a_snapshot_waits_for_the_disk() {
    let end = Position::new(3, 25);
    let base = Position::new(4, 25);
    let mut hand = Hand::following(&[(3, 25)]);
    hand.answer(1, fetched(5, 1, end, Fetched::Snapshot(base), 0));
    let asked = hand.asks(1).unwrap().correlation;
    let reply = |snapshot| Body::FetchSnapshotReply {
        head: head(Code::None, 5, Some(1)),
        snapshot: Some(snapshot),
    };
    hand.sent.clear();
    hand.tell_as(1, asked, reply(base));
    assert!(hand.asks(1).is_none(), "{:?}", hand.sent);
    hand.written();
    assert!(hand.asks(1).is_some());
    let mut hand = Hand::following(&[(3, 6), (4, 4)]);
    hand.answer(1, fetched(5, 1, LAST, Fetched::NOTHING, 8));
    hand.answer(
        1,
        fetched(5, 1, LAST, Fetched::Snapshot(Position::new(4, 20)), 8),
    );
    hand.answer(1, reply(Position::new(4, 7)));
    assert_eq!(
        (hand.machine.high_watermark(), hand.machine.last()),
        (8, LAST)
    );
}

/// One answer carries no more than a batch.
#[test]
fn an_answer_is_bounded() {
    let mut config = config(0);
    config.batch = 3;
    let (state, log) = (state(5, None, Some(0)), log(&[(4, 10)]));
    let mut hand = Hand::with(config, Some(Stored { state, log }));
    hand.answer(1, vote_reply(5, true));
    let Some(Body::FetchReply { content, .. }) = hand.ask(1, fetch(1, 5, Position::new(4, 2)))
    else {
        panic!("{:?}", hand.sent);
    };
    assert_eq!(content, Fetched::Records { epoch: 4, count: 3 });
}
