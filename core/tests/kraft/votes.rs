//! The beginning of a life and the vote, message by message: each rule at the place where it decides.

use crate::hand::{Hand, LAST, code, fetched, granted, key, state, vote, vote_reply};
use tenure::kraft::{
    Body, Code, Correlation, DirectoryId, Fetched, LogWrite, MAX_EPOCH, QuorumState, Refusal,
    ReplicaKey, Role,
};
use tenure::log::Position;
use tenure::{Election, Event, Input, Instant, NodeId, Ticket, Token, Unknown};

/// §5.2, in its order.
#[test]
fn a_life_begins_from_what_the_disk_holds() {
    let begins = |id, state, runs: &[(u64, u64)]| {
        let hand = Hand::booted(id, state, runs);
        let machine = &hand.machine;
        let written = hand.writes.first().map(|(_, write)| write.state);
        (
            machine.role(),
            machine.epoch(),
            machine.leader().map(|it| it.0),
            written,
        )
    };
    // The file is older than the log.
    let (role, epoch, leader, written) = begins(0, state(3, Some(1), None), &[(4, 10)]);
    assert_eq!((role, epoch, leader), (Role::Unattached, 4, None));
    assert_eq!(written, Some(state(4, None, None)));
    // It led. What it does not change is not written again.
    let (role, epoch, leader, written) = begins(0, state(5, Some(0), Some(0)), &[(5, 1)]);
    assert_eq!(
        (role, epoch, leader, written),
        (Role::Resigned, 5, None, None)
    );
    // It led, and votes no more.
    let (role, epoch, _, written) = begins(9, state(5, Some(9), None), &[(5, 1)]);
    assert_eq!((role, epoch), (Role::Unattached, 6));
    assert_eq!(written, Some(state(6, None, None)));
    // It stood.
    let begun = begins(0, state(5, None, Some(0)), &[]);
    assert_eq!(begun, (Role::Candidate, 5, None, None));
    // It followed, and keeps its vote.
    let begun = begins(0, state(5, Some(1), Some(2)), &[]);
    assert_eq!(begun, (Role::Follower, 5, Some(1), None));
    // Its leader cannot be reached.
    let hand = Hand::booted(0, state(5, Some(7), Some(2)), &[]);
    assert_eq!(hand.machine.role(), Role::Unattached);
    assert_eq!(hand.machine.quorum_state(), state(5, Some(7), Some(2)));
    // Nothing but a vote; nothing at all.
    let begun = begins(0, state(5, None, Some(2)), &[]);
    assert_eq!(begun, (Role::Unattached, 5, None, None));
    let begun = begins(0, QuorumState::default(), &[]);
    assert_eq!(begun, (Role::Unattached, 0, None, None));
}

/// KR-V5 and KR-V6 in every state.
#[test]
fn who_grants_what() {
    let (better, worse) = (Position::new(4, 11), Position::new(4, 9));
    let unattached = || Hand::booted(0, state(5, None, None), &[(4, 10)]);
    let prospective = || {
        let mut hand = unattached();
        hand.wait_for(Role::Prospective);
        hand
    };
    let candidate = || Hand::booted(0, state(5, None, Some(0)), &[(4, 10)]);
    let resigned = || Hand::booted(0, state(5, Some(0), Some(0)), &[(4, 10)]);
    let fresh = || Hand::following(&[(4, 10)]);
    let attached = || {
        let mut hand = fresh();
        hand.answer(1, fetched(5, 1, LAST, Fetched::NOTHING, 0));
        assert!(hand.machine.has_fetched());
        hand
    };
    // It stands in the epoch of a leader that it lost sight of: KR-V6 gives no vote beside that leader.
    let deserted = || {
        let mut hand = fresh();
        hand.wait_for(Role::Prospective);
        hand
    };
    let leader = || {
        let mut hand = candidate();
        hand.answer(1, vote_reply(5, true));
        hand
    };
    // The state, whether it grants a pre-vote, and whether a vote.
    let states: [(Role, &dyn Fn() -> Hand, bool, bool); 8] = [
        (Role::Unattached, &unattached, true, true),
        (Role::Prospective, &prospective, true, true),
        (Role::Prospective, &deserted, true, false),
        (Role::Candidate, &candidate, true, false),
        (Role::Resigned, &resigned, true, false),
        (Role::Follower, &fresh, true, false),
        (Role::Follower, &attached, false, false),
        (Role::Leader, &leader, false, false),
    ];
    for (role, at, pre, real) in states {
        assert_eq!(at().machine.role(), role);
        // The leader's log has its own first record.
        let end = at().machine.last();
        for (last, up_to_date) in [(worse, false), (end, true), (better, end < better)] {
            let before = at().machine.quorum_state();
            let mut hand = at();
            let answer =
                granted(hand.ask(2, vote(2, 5, last.min(Position::new(5, 0)).max(last), true)));
            assert_eq!(answer, Some(pre && up_to_date), "{role:?} {last:?}");
            assert_eq!(
                hand.machine.quorum_state(),
                before,
                "a pre-vote is not recorded"
            );
            if last.term < 5 {
                let mut hand = at();
                let answer = granted(hand.ask(2, vote(2, 5, last, false)));
                assert_eq!(answer, Some(real && up_to_date), "{role:?} {last:?}");
                let voted = hand.machine.voted() == Some(key(2));
                assert_eq!(voted, real && up_to_date);
            }
        }
    }
}

/// KR-V6: the same candidate is granted again, another is not, and the disk counts; an unset one is any.
#[test]
fn a_vote_is_given_once() {
    let mut hand = Hand::booted(0, state(5, None, None), &[]);
    let ask = |id, epoch| vote(id, epoch, Position::START, false);
    assert_eq!(granted(hand.ask(1, ask(1, 5))), Some(true));
    assert_eq!(granted(hand.ask(1, ask(1, 5))), Some(true));
    assert_eq!(granted(hand.ask(2, ask(2, 5))), Some(false));
    let replaced = Body::Vote {
        voter: key(0),
        replica: ReplicaKey::new(NodeId(1), DirectoryId(7)),
        epoch: 5,
        last: Position::START,
        pre_vote: false,
    };
    assert_eq!(granted(hand.ask(1, replaced.clone())), Some(false));
    let unset = ReplicaKey {
        id: NodeId(1),
        directory: None,
    };
    let voted = QuorumState {
        voted: Some(unset),
        ..state(5, None, None)
    };
    let mut hand = Hand::booted(0, voted, &[]);
    assert_eq!(granted(hand.ask(1, replaced)), Some(true));
    // A higher epoch frees the vote.
    assert_eq!(granted(hand.ask(2, ask(2, 6))), Some(true));
    assert_eq!(hand.machine.quorum_state(), state(6, None, Some(2)));
}

/// KR-V1 to KR-V3.
#[test]
fn votes_out_of_place_are_answered_by_name() {
    let fresh = || Hand::booted(0, state(5, None, None), &[(4, 10)]);
    let at = |epoch, term, pre| code(fresh().ask(1, vote(1, epoch, Position::new(term, 11), pre)));
    assert_eq!(at(5, 5, false), Code::InvalidRequest);
    assert_eq!(at(5, 5, true), Code::None);
    assert_eq!(at(5, 6, true), Code::InvalidRequest);
    assert_eq!(at(4, 3, false), Code::FencedLeaderEpoch);
    assert_eq!(at(4, 4, true), Code::FencedLeaderEpoch);
    // KR-V2: a higher epoch is entered, for a pre-vote too; whatever the answer then is.
    for pre_vote in [false, true] {
        for voter in [key(0), key(1), ReplicaKey::new(NodeId(0), DirectoryId(7))] {
            let mut hand = fresh();
            let answer = hand.ask(
                1,
                Body::Vote {
                    voter,
                    replica: key(1),
                    epoch: 8,
                    last: LAST,
                    pre_vote,
                },
            );
            let meant = voter == key(0);
            let expected = if meant {
                Code::None
            } else {
                Code::InvalidVoterKey
            };
            assert_eq!(code(answer), expected);
            let voted = (meant && !pre_vote).then_some(1);
            assert_eq!(hand.machine.quorum_state(), state(8, None, voted));
        }
    }
}

/// The same with a write before it that is answered first: it is not the one that holds the vote.
#[test]
fn a_vote_waits_for_its_own_write() {
    let mut hand = Hand::booted(0, state(5, None, None), &[(4, 10)]);
    hand.writes.clear();
    let numbered = |number| Correlation {
        incarnation: 3,
        number,
    };
    hand.tell_as(1, numbered(1), vote(1, 6, Position::new(4, 9), false));
    hand.tell_as(2, numbered(2), vote(2, 6, LAST, false));
    let written: Vec<_> = hand.writes.iter().map(|(_, write)| write.state).collect();
    assert_eq!(
        written,
        [state(6, None, None), state(6, None, Some(2))],
        "the epoch, then the vote"
    );
    for (at, answered) in [(0, false), (1, true)] {
        let (ticket, _) = hand.writes[at];
        hand.input(Input::Reply(ticket, Ok(())));
        let mut sent = hand.sent.iter();
        let granted = sent.any(|(_, message)| message.correlation == numbered(2));
        assert_eq!(granted, answered, "after write {at}");
    }
}

/// Nobody asks in the name of another.
#[test]
fn a_vote_is_asked_for_by_who_stands() {
    let mut hand = Hand::booted(0, state(5, None, None), &[(4, 10)]);
    assert_eq!(hand.ask(1, vote(2, 6, LAST, false)), None);
    assert_eq!(hand.machine.refusals().count(Refusal::UnknownSender), 1);
    assert_eq!(hand.machine.quorum_state(), state(5, None, None));
}

/// §5.1: the answer leaves when the disk holds the vote, and never when that is not known.
#[test]
fn a_vote_waits_for_the_disk() {
    for result in [Ok(()), Err(Unknown)] {
        let mut hand = Hand::booted(0, state(5, None, None), &[]);
        hand.sent.clear();
        let correlation = Correlation {
            incarnation: 3,
            number: 4,
        };
        hand.tell_as(1, correlation, vote(1, 5, Position::START, false));
        let (ticket, write) = hand.writes[0];
        assert_eq!(write.state, state(5, None, Some(1)));
        assert_eq!(write.log, LogWrite::Keep);
        assert!(
            hand.sent
                .iter()
                .all(|(to, message)| *to != 1 || message.body.is_request())
        );
        // A reply to a former life is none, nor one to what was never asked.
        for (incarnation, number) in [(9, ticket.number), (1, ticket.number + 1), (1, 0)] {
            let ticket = Ticket {
                incarnation,
                number,
            };
            hand.input(Input::Reply(ticket, Ok(())));
        }
        assert_eq!(hand.machine.refusals().count(Refusal::UnknownTicket), 3);
        hand.input(Input::Reply(ticket, result));
        let answers = hand
            .sent
            .iter()
            .filter(|(_, message)| message.correlation == correlation);
        assert_eq!(answers.count(), usize::from(result.is_ok()));
        assert_eq!(hand.machine.halted(), result.is_err());
        assert_eq!(hand.events.contains(&Event::Halted), result.is_err());
        if hand.machine.halted() {
            assert_eq!(hand.machine.deadline(), None);
            assert_eq!(hand.ask(1, vote(1, 6, Position::START, false)), None);
        }
    }
}

/// §5.1: who has won leads when its disk says so; a higher epoch in between takes it away.
#[test]
fn who_has_won_waits_for_the_disk() {
    for overtaken in [false, true] {
        let mut hand = Hand::booted(0, state(5, None, Some(0)), &[]);
        let correlation = hand.asks(1).unwrap().correlation;
        hand.tell_as(1, correlation, vote_reply(5, true));
        assert_eq!(hand.machine.role(), Role::Candidate);
        assert_eq!(hand.writes[0].1.state, state(5, Some(0), Some(0)));
        assert_eq!(
            hand.machine
                .deadline()
                .map(|at| at > Instant::from_millis(2_999)),
            Some(true)
        );
        if overtaken {
            hand.tell_as(2, correlation, vote(2, 6, Position::START, false));
            hand.written();
            assert_eq!(hand.machine.quorum_state(), state(6, None, Some(2)));
            assert!(hand.events.is_empty());
        } else {
            hand.written();
            assert_eq!(hand.machine.role(), Role::Leader);
            assert_eq!(hand.events, [Event::Elected(Token::new(0, 5))]);
            assert_eq!(hand.machine.last(), Position::new(5, 1));
            for to in [1, 2] {
                let body = &hand.asks(to).unwrap().body;
                let voter = key(to);
                assert_eq!(*body, Body::BeginQuorumEpoch { epoch: 5, voter });
            }
        }
    }
}

/// KR-S3 and KR-S4: from doubt to doubt. A candidate that lost waits at most the longest back-off.
#[test]
fn the_way_of_a_nominee() {
    let mut hand = Hand::following(&[(4, 10)]);
    hand.answer(1, fetched(5, 1, LAST, Fetched::NOTHING, 0));
    let began = hand.now;
    hand.wait_for(Role::Prospective);
    assert_eq!(hand.now - began, 2_000);
    assert_eq!(
        (hand.machine.epoch(), hand.machine.leader()),
        (5, Some(NodeId(1)))
    );
    // Refused by a majority it returns to its leader.
    hand.answer(2, vote_reply(5, false));
    assert_eq!(hand.machine.role(), Role::Prospective);
    hand.answer(1, vote_reply(5, false));
    assert_eq!(hand.machine.role(), Role::Follower);
    assert!(!hand.machine.has_fetched());
    hand.wait_for(Role::Prospective);
    // Answered by nobody, too.
    let began = hand.now;
    hand.wait_for(Role::Follower);
    assert!((1_000..=2_000).contains(&(hand.now - began)));
    hand.wait_for(Role::Prospective);
    hand.answer(2, vote_reply(5, true));
    assert_eq!(
        (hand.machine.role(), hand.machine.epoch()),
        (Role::Candidate, 6)
    );
    assert_eq!((hand.machine.leader(), hand.machine.grants()), (None, 1));
    let Body::Vote {
        pre_vote: false,
        epoch: 6,
        last: LAST,
        ..
    } = hand.asks(1).unwrap().body
    else {
        panic!("{:?}", hand.asks(1));
    };
    for (times, longest) in [(1, 200), (2, 400), (3, 800), (4, 1_000), (5, 1_000)] {
        assert_eq!(hand.machine.epoch(), 5 + times);
        let epoch = hand.machine.epoch();
        hand.answer(1, vote_reply(epoch, false));
        hand.answer(2, vote_reply(epoch, false));
        assert_eq!(hand.machine.role(), Role::Candidate);
        let began = hand.now;
        hand.wait_for(Role::Prospective);
        assert!(hand.now - began <= longest, "{times}: {}", hand.now - began);
        hand.answer(1, vote_reply(epoch, true));
    }
    // A candidate that nobody answers.
    let began = hand.now;
    hand.wait_for(Role::Prospective);
    assert!((1_000..=2_000).contains(&(hand.now - began)));
    hand.wait_for(Role::Unattached);
}

/// At the end of all epochs nobody stands any more.
#[test]
fn epochs_end() {
    let mut hand = Hand::booted(0, state(MAX_EPOCH, None, None), &[]);
    hand.wait_for(Role::Prospective);
    hand.answer(1, vote_reply(MAX_EPOCH, true));
    assert_eq!(
        (hand.machine.role(), hand.machine.epoch()),
        (Role::Unattached, MAX_EPOCH)
    );
    assert_eq!(hand.machine.refusals().count(Refusal::EpochsExhausted), 1);
}

/// A host that wants a leader now.
#[test]
fn a_campaign_skips_the_wait_alone() {
    let mut hand = Hand::booted(0, state(5, None, None), &[]);
    hand.input(Input::Campaign);
    assert_eq!(hand.machine.role(), Role::Prospective);
    let mut hand = Hand::leading();
    hand.input(Input::Campaign);
    assert_eq!(hand.machine.role(), Role::Leader);
    let mut hand = Hand::following(&[]);
    hand.input(Input::Resign { to: None });
    assert_eq!(hand.machine.role(), Role::Follower);
}

/// A candidate whom this node does not vote for moves it to a higher epoch, and not its timer; one that it votes for has an
/// election timeout.
#[test]
fn a_timer_runs_on_in_a_higher_epoch() {
    let fresh = || Hand::booted(0, state(5, None, None), &[(4, 10)]);
    let mut hand = fresh();
    hand.wait_for(Role::Prospective);
    let due = hand.now;
    for (term, runs_on) in [(3, true), (4, false)] {
        let mut hand = fresh();
        hand.now = due - 100;
        hand.ask(1, vote(1, 6, Position::new(term, 10), false));
        assert_eq!(
            (hand.machine.role(), hand.machine.epoch()),
            (Role::Unattached, 6)
        );
        hand.wait_for(Role::Prospective);
        assert_eq!(hand.now == due, runs_on, "{term}: {} and {due}", hand.now);
    }
}

/// What waits for the disk when a higher epoch begins is not said any more.
#[test]
fn an_answer_of_an_epoch_that_is_over_is_dropped() {
    let mut hand = Hand::booted(0, state(5, None, None), &[]);
    hand.sent.clear();
    for (from, epoch) in [(1, 5), (2, 6)] {
        let correlation = Correlation {
            incarnation: 8,
            number: from,
        };
        hand.tell_as(from, correlation, vote(from, epoch, Position::START, false));
    }
    hand.written();
    let answers = hand.sent.iter().filter(|(_, it)| !it.body.is_request());
    let to: Vec<u64> = answers.map(|(to, _)| *to).collect();
    assert_eq!(to, [2]);
}
