//! Whoever leads, follows and resigns, message by message; and what cannot be configured.

use crate::hand::{Hand, LAST, code, config, fetch, fetched, head, key, log, state, vote_reply};
use tenure::kraft::{
    Applying, Body, Boot, Code, Config, ConfigError, DirectoryId, Fetched, Kraft, MAX_EPOCH,
    MAX_OFFSET, MAX_TIMEOUT, ProposeError, QuorumState, Refusal, ReplicaKey, Role, Stored, Timing,
};
use tenure::log::{Position, Shape};
use tenure::{Duration, Election, Event, Input, Instant, NodeId, Standing, Token};

/// KR-S8: who waits how long. Not of that leader: not at all.
#[test]
fn successors_wait_their_turn() {
    let ids = |ids: &[u64]| ids.iter().map(|id| NodeId(*id)).collect();
    for (successors, wait) in [
        (vec![0, 2], 0),
        (vec![2, 0], 500),
        (vec![2, 0, 3], 250),
        (vec![2, 3, 0], 500),
        (vec![2, 3, 4, 0], 500),
        (vec![2, 3, 0, 4], 250),
        (vec![2, 0, 3, 4], 125),
        (vec![2], 1_000),
        (vec![], 1_000),
    ] {
        let mut hand = Hand::following(&[]);
        hand.answer(1, fetched(5, 1, Position::START, Fetched::NOTHING, 0));
        let successors = ids(&successors);
        let answer = hand.ask(
            1,
            Body::EndQuorumEpoch {
                epoch: 5,
                successors,
            },
        );
        assert_eq!(code(answer), Code::None);
        let began = hand.now;
        hand.wait_for(Role::Prospective);
        assert_eq!(hand.now - began, wait);
    }
    let mut hand = Hand::following(&[]);
    let successors: std::sync::Arc<[NodeId]> = ids(&[0]);
    let end = |epoch| Body::EndQuorumEpoch {
        epoch,
        successors: successors.clone(),
    };
    assert_eq!(code(hand.ask(1, end(4))), Code::FencedLeaderEpoch);
    assert_eq!(hand.ask(2, end(5)), None);
    assert_eq!(hand.machine.refusals().count(Refusal::SecondLeader), 1);
    assert_eq!(hand.machine.role(), Role::Follower);
}

/// KR-S7: it says so until each has heard it, names the most up-to-date first, or whom the host names.
#[test]
fn who_resigns_names_successors() {
    for (to, order) in [(None, [2, 1]), (Some(NodeId(1)), [1, 2])] {
        let mut hand = Hand::leading();
        let now = Instant::from_millis(hand.now);
        hand.machine.propose(now, 1).unwrap();
        hand.wait_until_due();
        hand.ask(2, fetch(2, 1, Position::new(1, 2)));
        hand.sent.clear();
        hand.input(Input::Resign { to });
        let Body::EndQuorumEpoch {
            successors,
            epoch: 1,
        } = &hand.asks(1).unwrap().body
        else {
            panic!("{:?}", hand.sent);
        };
        assert_eq!(successors.to_vec(), order.map(NodeId));
        hand.answer(1, Body::EndQuorumEpochReply(head(Code::None, 1, None)));
        hand.sent.clear();
        hand.wait_for(Role::Prospective);
        assert_eq!(hand.machine.epoch(), 1);
        let ends = hand
            .sent
            .iter()
            .filter(|(_, it)| matches!(it.body, Body::EndQuorumEpoch { .. }));
        assert!(ends.into_iter().all(|(to, _)| *to == 2));
    }
}

/// KR-0: a leader that cannot be.
#[test]
fn leaders_that_cannot_be_are_refused() {
    let mut hand = Hand::following(&[]);
    let asked = hand.asks(1).unwrap().correlation;
    let body = |epoch, leader| Body::FetchReply {
        head: head(Code::NotLeader, epoch, Some(leader)),
        after: Position::START,
        content: Fetched::NOTHING,
        high_watermark: 0,
    };
    hand.tell_as(1, asked, body(5, 2));
    assert_eq!(hand.machine.refusals().count(Refusal::SecondLeader), 1);
    hand.wait_until_due();
    hand.answer(1, body(6, 77));
    assert_eq!(hand.machine.refusals().count(Refusal::UnknownLeader), 1);
    assert_eq!(
        (hand.machine.epoch(), hand.machine.leader()),
        (5, Some(NodeId(1)))
    );
    // It is told that it leads an epoch of which it knows nothing: its disk may have been another one.
    hand.wait_until_due();
    hand.answer(1, body(6, 0));
    assert_eq!(
        (hand.machine.role(), hand.machine.epoch()),
        (Role::Unattached, 6)
    );
    assert_eq!(hand.machine.leader(), None);
    // A leader is told of another one of its epoch.
    let mut hand = Hand::leading();
    assert_eq!(
        hand.ask(
            2,
            Body::BeginQuorumEpoch {
                epoch: 1,
                voter: key(0)
            }
        ),
        None
    );
    assert_eq!(hand.machine.refusals().count(Refusal::SecondLeader), 1);
    assert_eq!(hand.machine.role(), Role::Leader);
}

/// KR-S9, and that it is for another disk.
#[test]
fn a_leader_begins_its_epoch() {
    let begin = |epoch, voter| Body::BeginQuorumEpoch { epoch, voter };
    for epoch in [5, 6] {
        let mut hand = Hand::booted(0, state(5, None, None), &[]);
        hand.wait_for(Role::Prospective);
        assert_eq!(code(hand.ask(1, begin(epoch, key(0)))), Code::None);
        assert_eq!(
            (hand.machine.role(), hand.machine.leader()),
            (Role::Follower, Some(NodeId(1)))
        );
        assert_eq!(hand.machine.quorum_state(), state(epoch, Some(1), None));
        assert_eq!(code(hand.ask(2, begin(4, key(0)))), Code::FencedLeaderEpoch);
    }
    // A follower has a fetch timeout again, and has fetched no more than before.
    let mut hand = Hand::following(&[]);
    hand.now += 1_900;
    hand.ask(1, begin(5, key(0)));
    let began = hand.now;
    assert!(!hand.machine.has_fetched());
    hand.wait_for(Role::Prospective);
    assert_eq!(hand.now - began, 2_000);
    // Prospective, it returns.
    hand.ask(1, begin(5, key(0)));
    assert_eq!(hand.machine.role(), Role::Follower);
    let replaced = ReplicaKey::new(NodeId(0), DirectoryId(7));
    assert_eq!(code(hand.ask(1, begin(5, replaced))), Code::InvalidVoterKey);
}

/// KR-S5 and KC-1 with a state machine that tells.
#[test]
fn established_when_the_own_epoch_is_committed_and_applied() {
    let mut config = config(0);
    config.applying = Applying::Told;
    let (state, log) = (state(5, None, Some(0)), log(&[(4, 10)]));
    let mut hand = Hand::with(config, Some(Stored { state, log }));
    hand.answer(1, vote_reply(5, true));
    let now = Instant::from_millis(hand.now);
    let shown = |answer| match answer {
        Some(Body::FetchReply { high_watermark, .. }) => high_watermark,
        other => panic!("{other:?}"),
    };
    // Everything of the earlier epochs is on a majority, and that shows nothing.
    assert_eq!(shown(hand.ask(1, fetch(1, 5, LAST))), 0);
    assert_eq!(hand.machine.high_watermark(), 0);
    assert_eq!(hand.machine.propose(now, 1), Err(ProposeError::NotActive));
    assert_eq!(hand.machine.epoch_start(), Some(10));
    // Nobody has applied what is not committed.
    hand.machine.applied(now, 99);
    let end = Position::new(5, 11);
    assert_eq!(shown(hand.ask(1, fetch(1, 5, end))), 11);
    hand.machine.applied(now, 10);
    assert_eq!(hand.machine.standing(now), Standing::Unknown);
    hand.machine.applied(now, 99);
    hand.drain();
    let Some(Event::Established(tenure)) = hand.events.last().copied() else {
        panic!("{:?}", hand.events);
    };
    assert_eq!(hand.machine.standing(now), Standing::Leading(tenure));
    assert_eq!(tenure.token, Token::new(0, 5));
    // The check of the quorum is what bounds it, and a fetch moves that on.
    assert_eq!(tenure.until, Instant::from_millis(hand.now + 3_000));
    hand.now += 2_999;
    hand.ask(1, fetch(1, 5, end));
    let later = Instant::from_millis(hand.now + 2_999);
    assert!(matches!(hand.machine.standing(later), Standing::Leading(_)));
    assert_eq!(
        hand.machine.standing(later + Duration::from_millis(1)),
        Standing::Unknown
    );
    assert_eq!(hand.machine.propose(now, 0), Err(ProposeError::NoRecords));
    assert_eq!(
        hand.machine.propose(now, u64::MAX),
        Err(ProposeError::TooLong)
    );
    let refused = hand.machine.compact(now, 12).unwrap_err();
    assert!(refused.to_string().contains("offset 11"));
    hand.machine.renounce(now);
    hand.drain();
    assert_eq!(hand.machine.role(), Role::Resigned);
    assert_eq!(
        hand.machine.propose(now, 1),
        Err(ProposeError::NotLeader(None))
    );
}

/// Kafka's defaults, and what cannot work, by name, reason and remedy.
#[test]
fn configurations_are_checked() {
    let ms = Duration::from_millis;
    let timing = Timing::default();
    assert_eq!(
        (timing.check_quorum(), timing.begin_quorum()),
        (ms(3_000), ms(1_000))
    );
    assert_eq!(config(0).validate(), Ok(()));
    let with = |change: fn(&mut Config)| {
        let mut config = config(0);
        change(&mut config);
        config.validate().unwrap_err()
    };
    let boots = |stored: Stored, incarnation| {
        let boot = Boot {
            stored: Some(stored),
            directory: DirectoryId(1),
            incarnation,
            seed: 1,
        };
        Kraft::new(config(0), boot, Instant::ZERO).unwrap_err()
    };
    let stored = |state, base| Stored {
        state,
        log: Shape::after(base),
    };
    let (none, start) = (QuorumState::default(), Position::START);
    let raised = QuorumState {
        generation: 2,
        ..none
    };
    let zero = state(0, Some(1), None);
    for (error, code, reason, remedy) in [
        (
            with(|it| it.timing.election_timeout = Duration::ZERO),
            "timeout-zero",
            "never rests",
            "a microsecond",
        ),
        (
            with(|it| it.timing.fetch_timeout = Duration::from_micros(1)),
            "timeout-zero",
            "never rests",
            "two",
        ),
        (
            with(|it| it.timing.append_linger = MAX_TIMEOUT + Duration::from_micros(1)),
            "timeout-too-long",
            "3600000001us",
            "an hour",
        ),
        (
            with(|it| it.timing.fetch_max_wait = it.timing.fetch_timeout),
            "fetch-timeout",
            "2s",
            "above the longest wait",
        ),
        (
            with(|it| it.timing.request_timeout = it.timing.fetch_max_wait),
            "request-timeout",
            "500ms",
            "above the longest wait",
        ),
        (
            with(|it| it.batch = 0),
            "nothing-to-fetch",
            "no records",
            "at least one",
        ),
        (
            boots(stored(none, start), 0),
            "incarnation-zero",
            "reserved",
            "nonce",
        ),
        (
            boots(stored(state(MAX_EPOCH + 1, None, None), start), 1),
            "stored-epoch",
            "9223372036854775808",
            "directory id",
        ),
        (
            boots(stored(zero, start), 1),
            "stored-in-epoch-zero",
            "node 1",
            "directory id",
        ),
        (
            boots(
                stored(state(9, None, None), Position::new(3, MAX_OFFSET + 1)),
                1,
            ),
            "stored-log",
            "epoch 3",
            "directory id",
        ),
        (
            boots(stored(raised, start), 1),
            "generation-fell",
            "recorded 2",
            "raise the generation",
        ),
    ] {
        assert_eq!(error.code(), code);
        let told = error.to_string();
        let (before, after) = told.split_once("; ").unwrap();
        assert!(before.contains(reason), "{told}");
        assert!(after.contains(remedy), "{told}");
    }
    assert!(matches!(
        with(|it| it.batch = 0),
        ConfigError::NothingToFetch
    ));
}
