//! Answers that no database gives: whatever they say, a machine goes on, and has nothing left to do once it did what is due.

use super::config;
use super::session::session;
use tenure::lease::sql::{Reply, Request, Row, Sql, session};
use tenure::lease::{Boot, Nonce};
use tenure::random::Random;
use tenure::{Duration, Election, Input, Instant, Output, Unknown};

const EPOCHS: [u64; 5] = [0, 1, 7, i64::MAX as u64, u64::MAX];
const LEFT: [u64; 3] = [0, 5_000_000, u64::MAX];

/// Draws one of them.
fn one<T: Copy>(draw: &mut Random, of: &[T]) -> T {
    of[draw.below(of.len() as u64) as usize]
}

fn run<M: Election<Peer = std::convert::Infallible>>(
    mut machine: M,
    seed: u64,
    refused: fn(&M) -> u64,
    reply: impl Fn(&mut Random, &[Nonce]) -> M::Reply,
    nonce: fn(&M::Request) -> Option<Nonce>,
) {
    let (mut draw, mut now) = (Random::from_seed(seed), Instant::ZERO);
    let (mut asked, mut nonces) = (Vec::new(), vec![Nonce(0)]);
    for _ in 0..2_000 {
        now = now + Duration::from_micros(draw.below(1_000_000));
        let input = match (draw.below(4), asked.is_empty()) {
            (0, _) | (_, true) => Input::Timeout,
            (1, _) => Input::Reply(one(&mut draw, &asked), Err(Unknown)),
            _ => {
                let ticket = one(&mut draw, &asked[asked.len().saturating_sub(3)..]);
                Input::Reply(ticket, Ok(reply(&mut draw, &nonces)))
            }
        };
        machine.handle(now, input);
        while let Some(output) = machine.poll() {
            if let Output::Request(ticket, request) = output {
                asked.push(ticket);
                nonces.extend(nonce(&request));
            }
        }
        assert!(
            machine.deadline().is_some_and(|due| due > now),
            "seed {seed}"
        );
    }
    assert!(refused(&machine) > 0, "seed {seed}");
}

fn boot(seed: u64) -> Boot {
    Boot {
        incarnation: 1,
        seed,
    }
}

#[test]
fn a_row_may_say_anything() {
    for seed in 0..200 {
        let machine = Sql::new(config("anna"), boot(seed), Instant::ZERO).unwrap();
        let reply = |draw: &mut Random, nonces: &[Nonce]| match draw.below(6) {
            0 => Reply::Taken(one(draw, &EPOCHS)),
            1 => Reply::Renewed,
            2 => Reply::Released,
            3 => Reply::NotDone,
            4 => Reply::Row(None),
            _ => Reply::Row(Some(Row {
                holder: (draw.below(2) == 0).then(|| config("anna").claimant),
                nonce: one(draw, nonces),
                epoch: one(draw, &EPOCHS),
                left: Duration::from_micros(one(draw, &LEFT)),
            })),
        };
        let nonce = |request: &Request| match request {
            Request::Take { nonce, .. } => Some(*nonce),
            _ => None,
        };
        run(
            machine,
            seed,
            |machine: &Sql| machine.refusals().total(),
            reply,
            nonce,
        );
    }
}

#[test]
fn a_session_may_say_anything() {
    use session::{Call, Reply, Request, Row, Session};
    for seed in 0..200 {
        let machine = Session::new(session(config("anna")), boot(seed), Instant::ZERO).unwrap();
        let reply = |draw: &mut Random, nonces: &[Nonce]| match draw.below(7) {
            0 => Reply::Taken {
                epoch: one(draw, &EPOCHS),
                interrupted: draw.below(2) == 0,
            },
            1 => Reply::Held,
            2 => Reply::Released,
            3 => Reply::NotDone,
            4 => Reply::Ended,
            5 => Reply::Row(None),
            _ => Reply::Row(Some(Row {
                holder: (draw.below(2) == 0).then(|| config("anna").claimant),
                nonce: one(draw, nonces),
                epoch: one(draw, &EPOCHS),
                locked: draw.below(2) == 0,
            })),
        };
        let nonce = |request: &Request| match request.call {
            Call::Take { nonce, .. } => Some(nonce),
            _ => None,
        };
        run(
            machine,
            seed,
            |machine: &Session| machine.refusals().total(),
            reply,
            nonce,
        );
    }
}
