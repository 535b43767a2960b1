//! By hand: what becomes of a lock when its session ends, and who waits for whom.

use super::config;
use super::desk::{Desk, Fate, SECOND};
use super::session::Server;
use super::session::session;
use allocation_counter::measure;
use tenure::lease::sql::session::{Call, Reply, Request, Row, Session};
use tenure::lease::sql::text;
use tenure::lease::{Boot, Claimant, Identity, Nonce};
use tenure::{Duration, Election, Input, Instant, Output, Standing, Token, Why};

fn desk(names: &[&str]) -> Desk<Session, Server> {
    let configs: Vec<_> = names.iter().map(|name| config(name)).collect();
    let boot = |config, boot, now| Session::new(session(config), boot, now).unwrap();
    Desk::new(Server::new(None), boot, &configs)
}

const NOTHING: fn(&Request) -> Fate = |_| Fate::Lost;
const EVERYTHING: fn(&Request) -> Fate = |_| Fate::Answered;

/// The server ends the session that has the lock.
fn terminate(desk: &mut Desk<Session, Server>) {
    let holder = desk.store.lock.expect("somebody has it");
    desk.store.end(holder);
}

#[test]
fn what_was_given_up_is_taken_at_once() {
    let mut desk = desk(&["anna", "ben"]);
    desk.run(20);
    assert_eq!((desk.leaders(), desk.ends(0)), (vec![0], vec![]));
    desk.feed(0, Input::Resign { to: None });
    desk.run(1);
    assert_eq!(desk.leaders(), [1]);
    assert_eq!(desk.ends(0), [(Token::new(0, 1), Why::Resigned)]);
    assert_eq!(desk.tenure(1).unwrap().token, Token::new(0, 3));
}

/// LS-46, LS-48: an operator ends the session of a leader that cannot hear of it. Whoever takes the lock waits until that one
/// has stopped.
#[test]
fn who_takes_it_from_one_that_does_not_know_waits_for_it() {
    let mut desk = desk(&["anna", "ben"]);
    desk.run(2);
    desk.nodes[0].fate = NOTHING;
    terminate(&mut desk);
    let until = desk.until(0);
    desk.run(1);
    let lock = desk.store.lock.map(|(node, ..)| node);
    assert_eq!((lock, desk.leaders()), (Some(1), vec![0]));
    let taken = desk.now;
    desk.run_until(until);
    assert_eq!(desk.leaders(), [] as [usize; 0]);
    desk.run_until(taken + 8 * SECOND);
    assert_eq!(desk.leaders(), [] as [usize; 0]);
    desk.run(1);
    assert_eq!(desk.leaders(), [1]);
    assert_eq!(desk.ends(0), [(Token::new(0, 1), Why::Lapsed)]);
}

/// LS-48: the connection of the leader is half open. The server holds the lock for it until it has heard nothing for the time
/// that `OPEN` has set, and no longer.
#[test]
fn a_half_open_connection_holds_the_lock_for_a_lease() {
    let mut desk = desk(&["anna", "ben"]);
    desk.run(2);
    desk.nodes[0].fate = NOTHING;
    let cut = desk.now;
    desk.run(9);
    assert_eq!(desk.leaders(), [] as [usize; 0]);
    let takeover = session(config("anna")).budget().unwrap().takeover;
    desk.run_until(cut + takeover.as_micros());
    assert_eq!(desk.leaders(), [1]);
    assert!(text::OPEN.contains("idle_session_timeout"));
}

/// LS-47, neochaotic/leoflow#1199: a pool ends connections that are an hour old, and the lock goes with it. The host says so,
/// and the term is over at once; the next begins a round trip later, with another token, for nobody else held it.
#[test]
fn a_pool_that_ends_old_connections_costs_a_term_and_no_time() {
    let mut desk = desk(&["anna", "ben"]);
    for term in 1..=3 {
        desk.run(10);
        assert_eq!(desk.tenure(0).unwrap().token, Token::new(0, term));
        terminate(&mut desk);
        desk.feed(0, Input::Timeout);
        assert_eq!(desk.tenure(0).unwrap().token, Token::new(0, term + 1));
        assert_eq!(
            desk.ends(0).last(),
            Some(&(Token::new(0, term), Why::Taken))
        );
    }
    assert_eq!(desk.ends(1), []);
}

/// A node that waits for another loses its session and takes the lock again: the row is its own, and it waits on.
#[test]
fn who_waits_for_another_waits_on_after_its_own_session_ended() {
    let mut desk = desk(&["anna", "ben"]);
    desk.run(2);
    desk.nodes[0].fate = NOTHING;
    terminate(&mut desk);
    let until = desk.until(0);
    desk.run(1);
    let taken = desk.now;
    terminate(&mut desk);
    desk.run(4);
    assert_eq!(desk.store.row.as_ref().map(|row| row.epoch), Some(3));
    desk.run_until(until);
    assert_eq!(desk.leaders(), [] as [usize; 0]);
    desk.run_until(taken + 9 * SECOND);
    assert_eq!(desk.leaders(), [1]);
}

/// One that dies while it waits has not given the row up either.
#[test]
fn who_comes_after_one_that_waited_waits_too() {
    let mut desk = desk(&["anna", "ben", "cleo"]);
    desk.run(2);
    desk.nodes[0].fate = NOTHING;
    terminate(&mut desk);
    desk.run(1);
    let waits = desk.store.lock.map(|(node, ..)| node).unwrap();
    // It is not the leader, and has nothing to give up.
    desk.feed(waits, Input::Resign { to: None });
    desk.nodes[waits].fate = NOTHING;
    terminate(&mut desk);
    let taken = desk.now;
    desk.run(8);
    assert_eq!(desk.leaders(), [] as [usize; 0]);
    desk.run_until(taken + 11 * SECOND);
    assert_eq!(desk.leaders(), [3 - waits]);
}

/// Any doubt but that of a probe is the end of the session: nobody asks in it again.
#[test]
fn a_session_in_doubt_is_left() {
    let mut desk = desk(&["ben", "anna"]);
    desk.nodes[0].fate = NOTHING;
    desk.nodes[1].fate = |request| match request.call {
        Call::Take { .. } => Fate::Doubtful,
        _ => Fate::Answered,
    };
    desk.run(12);
    desk.asked(1);
    desk.run(10);
    let asked = desk.asked(1);
    let takes = asked
        .iter()
        .filter(|asked| matches!(asked.call, Call::Take { .. }));
    let sessions: Vec<u32> = takes.map(|asked| asked.session).collect();
    assert!(
        sessions.len() > 5 && sessions.is_sorted_by(|one, next| one < next),
        "{sessions:?}"
    );
    desk.nodes[1].fate = EVERYTHING;
    // Its own doubtful attempts left the row as one that did not give it up.
    desk.run(11);
    assert_eq!(desk.leaders(), [1]);
}

/// A probe that is not answered is asked again on that very connection.
#[test]
fn a_doubtful_probe_is_asked_again_in_its_session() {
    let mut desk = desk(&["anna"]);
    desk.nodes[0].fate = |request| match request.call {
        Call::Probe { .. } => Fate::Unanswered,
        _ => Fate::Answered,
    };
    desk.asked(0);
    desk.run(5);
    let asked = desk.asked(0);
    assert!(
        asked.len() >= 2 && asked.iter().all(|asked| asked.session == 0),
        "{asked:?}"
    );
    assert_eq!(desk.leaders(), [0]);
    desk.nodes[0].fate = EVERYTHING;
    desk.run(20);
    assert_eq!((desk.leaders(), desk.ends(0)), (vec![0], vec![]));
}

/// A probe is answered by the session that has the lock, on a primary: not by another connection, nor by a standby that a
/// proxy sends it to because it only reads.
#[test]
fn a_probe_asks_for_its_own_session_on_a_primary() {
    for part in [
        "pid = pg_backend_pid()",
        "NOT pg_is_in_recovery()",
        "nonce = $2",
        "epoch = $3",
    ] {
        assert!(text::PROBE.contains(part), "{part}");
    }
    for text in [text::LOCK, text::PROBE, text::UNLOCK, text::LOOK] {
        assert!(
            text.contains("hashtextextended($1, 127978993709669)"),
            "{text}"
        );
    }
}

/// A server where everything is granted, or where somebody else has the lock.
fn answer(other: Option<&Claimant>, request: &Request) -> Option<Reply> {
    Some(match (&request.call, other) {
        (Call::Open { .. }, _) => return None,
        (Call::Take { .. }, None) => Reply::Taken {
            epoch: 1,
            interrupted: false,
        },
        (Call::Probe { .. }, None) => Reply::Held,
        (Call::Take { .. }, Some(other)) => Reply::Row(Some(Row {
            holder: Some(other.clone()),
            nonce: Nonce(1),
            epoch: 7,
            locked: true,
        })),
        (call, _) => panic!("{call:?} is not due"),
    })
}

fn run(machine: &mut Session, other: Option<&Claimant>, now: &mut Instant, times: u64) {
    for _ in 0..times {
        machine.handle(*now, Input::Timeout);
        while let Some(output) = machine.poll() {
            if let Output::Request(ticket, request) = output
                && let Some(reply) = answer(other, &request)
            {
                machine.handle(*now, Input::Reply(ticket, Ok(reply)));
            }
        }
        *now = machine.deadline().expect("it always has one");
    }
}

/// Struct and heap, names aside; and nothing allocates once it goes on like this.
#[test]
fn a_machine_at_rest_is_small_and_allocates_nothing() {
    let zoe = Claimant::new(Identity::new("zoe").unwrap());
    for other in [None, Some(&zoe)] {
        let (config, mut kept) = (config("anna"), None);
        let boot = Boot {
            incarnation: 1,
            seed: 1,
        };
        let mut now = Instant::ZERO;
        let counted = measure(|| {
            let mut machine = Session::new(session(config), boot, now).unwrap();
            run(&mut machine, other, &mut now, 100);
            kept = Some(machine);
        });
        let (size, heap) = (size_of::<Session>() as i64, counted.bytes_current);
        assert!(size + heap <= 512 && heap > 0, "{size} + {heap}");
        let machine = kept.as_mut().unwrap();
        let counted = measure(|| run(machine, other, &mut now, 10_000));
        assert_eq!(counted.count_total, 0, "other: {other:?}");
        let standing = machine.standing(now - Duration::from_micros(1));
        assert_eq!(matches!(standing, Standing::Leading(_)), other.is_none());
        assert_eq!(matches!(standing, Standing::Following(_)), other.is_some());
    }
}
