//! What a machine costs while nothing happens.

use super::{WAYS, common};
use allocation_counter::measure;
use tenure::lease::Boot;
use tenure::lease::etcd::{
    Config, Etcd, KeyValue, LeaseId, Mode, Operation, Order, Reply, Request,
};
use tenure::{Duration, Election, Input, Instant, Output, Standing};

const SEED: Boot = Boot {
    incarnation: 1,
    seed: 1,
};

/// A store that grants everything, and where somebody else is first or not; its answers are made before they are needed.
struct Obliging {
    own: Option<KeyValue>,
    other: Option<KeyValue>,
    /// Answers to looks.
    found: Vec<Vec<KeyValue>>,
}

impl Obliging {
    fn new(other: bool) -> Self {
        Self {
            own: None,
            other: other.then(|| KeyValue {
                key: "elect/1".into(),
                value: "zoe".into(),
                create_revision: 1,
                lease: LeaseId(1),
            }),
            found: Vec::new(),
        }
    }

    fn look(&self, order: Order, limit: u32) -> Vec<KeyValue> {
        let mut found: Vec<_> = self.other.iter().chain(&self.own).cloned().collect();
        if order == Order::LastCreated {
            found.reverse();
        }
        found.truncate(limit as usize);
        found
    }

    fn answer(&mut self, request: Request) -> Option<Reply> {
        let ttl = Duration::from_secs(9);
        Some(match request {
            Request::LeaseGrant { .. } => Reply::Granted(ttl),
            Request::LeaseKeepAlive { .. } => Reply::Alive(ttl),
            Request::LeaseRevoke { .. } => Reply::Revoked,
            Request::Txn(txn) => {
                let Operation::Put { key, value, lease } = txn.then else {
                    panic!("nothing is to be given up")
                };
                let taken = self.other.clone().filter(|other| other.key == key);
                if taken.is_none() {
                    self.own = Some(KeyValue {
                        key,
                        value,
                        create_revision: 2,
                        lease,
                    });
                }
                Reply::Txn {
                    revision: 2,
                    succeeded: taken.is_none(),
                    found: taken,
                }
            }
            Request::Range(range) => Reply::Range {
                revision: 9,
                found: match self.found.pop() {
                    Some(made) => made,
                    None => self.look(range.order, range.limit),
                },
            },
            Request::Watch { .. } | Request::WatchCancel { .. } => return None,
        })
    }
}

/// From one deadline to the next.
fn run(machine: &mut Etcd, store: &mut Obliging, now: &mut Instant, times: u64) {
    for _ in 0..times {
        machine.handle(*now, Input::Timeout);
        while let Some(output) = machine.poll() {
            if let Output::Request(ticket, request) = output
                && let Some(reply) = store.answer(request)
            {
                machine.handle(*now, Input::Reply(ticket, Ok(reply)));
            }
        }
        *now = machine.deadline().expect("it always has one");
    }
}

/// The single key is the one of the other.
fn under_the_key_of_the_other(config: Config) -> Config {
    let mode = match config.mode {
        Mode::Single(_) => Mode::Single("elect/1".into()),
        queue => queue,
    };
    Config { mode, ..config }
}

fn settled(config: Config, store: &mut Obliging) -> (Etcd, Instant) {
    let mut now = Instant::ZERO;
    let mut machine = Etcd::new(config, SEED, now).unwrap();
    run(&mut machine, store, &mut now, 100);
    (machine, now)
}

#[test]
fn nothing_allocates_in_the_steady_state() {
    for (place, way) in WAYS.into_iter().enumerate() {
        for other in [false, true] {
            let config = under_the_key_of_the_other(way(common("anna")));
            let mut store = Obliging::new(other);
            let (mut machine, mut now) = settled(config, &mut store);
            let (order, limit) = match place {
                0 => (Order::LastCreated, 2),
                _ => (Order::FirstCreated, 1),
            };
            store.found = (0..10_000).map(|_| store.look(order, limit)).collect();
            let counted = measure(|| run(&mut machine, &mut store, &mut now, 10_000));
            assert_eq!(counted.count_total, 0, "other: {other}");
            assert!(store.found.len() < 6_000, "it looked");
            let leads = matches!(
                machine.standing(now - Duration::from_micros(1)),
                Standing::Leading(_)
            );
            assert_eq!(leads, !other);
        }
    }
}

/// Struct and heap, keys and names aside.
#[test]
fn a_machine_at_rest_is_small() {
    for way in WAYS {
        for other in [false, true] {
            let config = under_the_key_of_the_other(way(common("anna")));
            let mut store = Obliging::new(other);
            let mut kept = None;
            let counted = measure(|| {
                kept = Some(settled(config, &mut store).0);
                store.own = None;
            });
            // The name of the own key, which a holder watches.
            let place = kept.as_ref().and_then(Etcd::place).filter(|_| !other);
            let key = place.filter(|place| &*place.key != "elect/1");
            let key = key.map_or(0, |place| {
                (place.key.len() + 2 * size_of::<usize>()).next_multiple_of(size_of::<usize>())
            });
            let heap = counted.bytes_current - key as i64;
            let all = size_of::<Etcd>() as i64 + heap;
            assert!(all <= 512 && heap > 0, "{} + {heap}", size_of::<Etcd>());
        }
    }
}
