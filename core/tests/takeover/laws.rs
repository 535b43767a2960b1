//! The laws of a machine, under answers that nobody can foresee.

use crate::host::{config, good, item, ms, token};
use allocation_counter::measure;
use proptest::prelude::*;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hasher};
use tenure::fence::Refused;
use tenure::takeover::{Event, Input, Output, Reply, Request, Takeover};
use tenure::{Duration, Instant, Standing, Tenure, Ticket, Unknown};

fn any_reply(kind: u8, key: u64) -> Result<Reply<u64>, Unknown> {
    Ok(match kind {
        0 => return Err(Unknown),
        1 => Reply::NotDone,
        2 => Reply::Fenced,
        3 => Reply::Page {
            items: vec![item(key, key % 8), item(key + 1, 2)],
            more: key.is_multiple_of(2),
        },
        4 => Reply::Owned(token(key % 9)),
        5 => Reply::Gone,
        6 => Reply::Changed,
        7 => Reply::Stopped,
        8 => Reply::Failed,
        9 => Reply::Refused(Refused::Stale { highest: token(9) }),
        10 => Reply::Claimed,
        _ => Reply::Watching,
    })
}

/// What a host may see of one run: what is asked in which order, what is said how often.
#[derive(Default)]
struct Order {
    fenced: HashSet<u32>,
    announced: bool,
    begun: bool,
    ready: bool,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// C2: a drained machine that was called at its deadline has none at or before that. C4, C7: no tenure begins twice, and
    /// each is over once. Nothing is read before all is fenced, nothing panics, and nothing may work without a standing.
    #[test]
    fn whatever_is_answered_the_laws_hold(
        steps in prop::collection::vec((0u8..10, 0u8..14, 0u64..12, 1u64..60), 1..250),
        stop in 0u64..50,
    ) {
        let mut config = config();
        config.timing.stop = Duration::from_millis(stop);
        let mut takeover = Takeover::<u64>::new(config).unwrap();
        let mut now = Instant::ZERO;
        let mut standing = Standing::Unknown;
        let mut asked: Vec<(Ticket, Request<u64>)> = Vec::new();
        let (mut counter, mut last) = (1, 0);
        let mut order = Order::default();
        for (what, kind, key, pause) in steps {
            let open = asked.get((key as usize).min(asked.len().saturating_sub(1))).cloned();
            let input = match (what, open) {
                (0, _) => {
                    counter += u64::from(kind.is_multiple_of(3));
                    let until = now + Duration::from_millis(40 * (1 + key));
                    standing = Standing::Leading(Tenure { token: token(counter), until });
                    Input::Look
                }
                (1, _) if kind == 0 => { standing = Standing::Unknown; Input::Look }
                (1, _) if kind == 1 => Input::HandOver,
                (2, _) => { now = takeover.deadline().unwrap_or(now).max(now); Input::Look }
                (3, _) => { now = now + Duration::from_millis(pause); Input::Look }
                (4, Some((ticket, _))) => Input::Reply(ticket, any_reply(kind, key)),
                (_, Some((ticket, request))) => Input::Reply(ticket, Ok(good(&request))),
                _ => Input::Look,
            };
            let due = takeover.deadline();
            takeover.handle(now, standing, input);
            while let Some(output) = takeover.poll() {
                match output {
                    Output::Request(ticket, pass, request) => {
                        prop_assert_eq!(pass.holder, config.holder);
                        match request {
                            Request::Fence(resource) => { order.fenced.insert(resource); }
                            Request::Read(_) | Request::List { .. } => prop_assert_eq!(order.fenced.len(), 2),
                            Request::Announce => order.announced = true,
                            _ => {}
                        }
                        order.begun |= request != Request::Stop;
                        asked.insert(0, (ticket, request));
                        asked.truncate(12);
                    }
                    Output::Event(Event::Ready(tenure)) => {
                        prop_assert!(order.announced && !order.ready);
                        prop_assert!(tenure.token.counter > last);
                        order.ready = true;
                    }
                    Output::Event(Event::Over(over)) => {
                        prop_assert!(over.counter > last);
                        last = over.counter;
                        order = Order::default();
                    }
                    _ => {}
                }
            }
            let permit = takeover.may_go_on(now, standing);
            prop_assert!(takeover.may_begin(now, standing).is_none() || permit.is_some());
            if let Some(permit) = permit {
                let Standing::Leading(tenure) = standing else { panic!() };
                prop_assert!(now < permit.until && permit.until <= tenure.until);
                prop_assert_eq!(permit.pass.token, tenure.token);
            }
            if due.is_some_and(|due| due <= now) {
                prop_assert!(takeover.deadline().is_none_or(|next| next > now));
            }
        }
    }
}

/// A leader that serves, with everything answered at once.
fn serving(at: u64, counter: u64) -> (Takeover<u64>, Instant, Standing) {
    let mut takeover = Takeover::new(config()).unwrap();
    let now = ms(at);
    let standing = Standing::Leading(Tenure {
        token: token(counter),
        until: now + Duration::from_millis(9_000),
    });
    takeover.handle(now, standing, Input::Look);
    while let Some(output) = takeover.poll() {
        if let Output::Request(ticket, _, request) = output {
            takeover.handle(now, standing, Input::Reply(ticket, Ok(good(&request))));
        }
    }
    (takeover, now, standing)
}

/// C8. And at rest it keeps nothing: so many bytes, and none on the heap.
#[test]
fn a_leader_that_serves_and_a_node_that_waits_allocate_nothing_and_keep_little() {
    let (mut takeover, now, standing) = serving(5, 34);
    let mut waits = Takeover::<u64>::new(config()).unwrap();
    let info = measure(|| {
        for _ in 0..1_000 {
            takeover.handle(now, standing, Input::Look);
            assert!(takeover.poll().is_none() && takeover.may_begin(now, standing).is_some());
            waits.handle(now, Standing::Unknown, Input::Look);
            assert!(waits.poll().is_none());
        }
    });
    assert_eq!(info.count_total, 0);
    let size = size_of::<Takeover<u64>>();
    assert!(size <= 512, "{size}");
    let heap = measure(|| drop(takeover.clone())).bytes_total;
    assert_eq!(heap, 0, "a copy of it needs no more than itself");
}

/// C10: when it runs says nothing.
#[test]
fn two_that_differ_only_in_when_they_run_have_one_fingerprint() {
    let print = |at: u64, counter: u64| {
        let (mut takeover, now, standing) = serving(at, counter);
        let mut hasher = DefaultHasher::new();
        takeover.fingerprint(now, &mut hasher);
        takeover.handle(now, standing, Input::HandOver);
        takeover.fingerprint(now, &mut hasher);
        hasher.finish()
    };
    assert_eq!(print(5, 34), print(77_000, 34));
    assert_ne!(print(5, 34), print(5, 35));
}
