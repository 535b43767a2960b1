//! What a machine costs while nothing happens.

use super::config;
use allocation_counter::measure;
use tenure::lease::sql::{Reply, Request, Row, Sql};
use tenure::lease::{Boot, Claimant, Identity, Nonce};
use tenure::{Duration, Election, Input, Instant, Output, Standing};

/// A database that grants everything, or where somebody else holds the row.
struct Obliging(Option<Claimant>);

impl Obliging {
    fn new(other: bool) -> Self {
        Self(other.then(|| Claimant::new(Identity::new("zoe").unwrap())))
    }

    fn answer(&self, request: &Request) -> Reply {
        match (request, &self.0) {
            (Request::Take { .. }, None) => Reply::Taken(1),
            (Request::Renew { .. }, None) => Reply::Renewed,
            (Request::Take { .. } | Request::Read, Some(other)) => Reply::Row(Some(Row {
                holder: Some(other.clone()),
                nonce: Nonce(1),
                epoch: 7,
                left: Duration::from_secs(5),
            })),
            (request, _) => panic!("{request:?} is not due"),
        }
    }
}

/// From one deadline to the next.
fn run(machine: &mut Sql, database: &Obliging, now: &mut Instant, times: u64) {
    for _ in 0..times {
        machine.handle(*now, Input::Timeout);
        while let Some(output) = machine.poll() {
            if let Output::Request(ticket, request) = output {
                let reply = database.answer(&request);
                machine.handle(*now, Input::Reply(ticket, Ok(reply)));
            }
        }
        *now = machine.deadline().expect("it always has one");
    }
}

fn settled(config: tenure::lease::Config, database: &Obliging) -> (Sql, Instant) {
    let mut now = Instant::ZERO;
    let boot = Boot {
        incarnation: 1,
        seed: 1,
    };
    let mut machine = Sql::new(config, boot, now).unwrap();
    run(&mut machine, database, &mut now, 100);
    (machine, now)
}

#[test]
fn nothing_allocates_in_the_steady_state() {
    for other in [false, true] {
        let database = Obliging::new(other);
        let (mut machine, mut now) = settled(config("anna"), &database);
        let counted = measure(|| run(&mut machine, &database, &mut now, 10_000));
        assert_eq!(counted.count_total, 0, "other: {other}");
        let standing = machine.standing(now - Duration::from_micros(1));
        assert_eq!(matches!(standing, Standing::Leading(_)), !other);
        assert_eq!(matches!(standing, Standing::Following(_)), other);
    }
}

/// Struct and heap, names aside.
#[test]
fn a_machine_at_rest_is_small() {
    for other in [false, true] {
        let (database, config) = (Obliging::new(other), config("anna"));
        let mut kept = None;
        let counted = measure(|| kept = Some(settled(config, &database)));
        let (all, heap) = (
            size_of::<Sql>() as i64 + counted.bytes_current,
            counted.bytes_current,
        );
        assert!(all <= 512 && heap > 0, "{} + {heap}", size_of::<Sql>());
    }
}
