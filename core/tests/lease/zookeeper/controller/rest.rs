//! What a machine costs while nothing happens.

use super::{common, config};
use allocation_counter::measure;
use tenure::lease::Boot;
use tenure::lease::zookeeper::controller::{Controller, Request};
use tenure::lease::zookeeper::{Data, Reply, SessionId, Stat};
use tenure::{Duration, Election, Input, Instant, Output, Standing};

const SESSION: SessionId = SessionId(7);

/// A store that grants everything; where somebody else is elected if `taken`.
struct Obliging {
    taken: bool,
    name: Data,
    epoch: Data,
    claimed: bool,
    version: i32,
    looked: u64,
}

impl Obliging {
    fn new(taken: bool) -> Self {
        Self {
            taken,
            name: "zoe".into(),
            epoch: "41".into(),
            claimed: false,
            version: 0,
            looked: 0,
        }
    }

    fn answer(&mut self, request: &Request) -> Reply {
        let owner = if self.taken { SessionId(1) } else { SESSION };
        let stat = Stat {
            czxid: 9,
            version: self.version,
            owner,
        };
        match request {
            Request::Connect { timeout } => Reply::Connected {
                session: SESSION,
                timeout: *timeout,
            },
            Request::Data { path, .. } if path.ends_with("epoch") => {
                Reply::Data(self.epoch.clone(), stat)
            }
            Request::Data { .. } if self.taken || self.claimed => {
                self.looked += 1;
                Reply::Data(self.name.clone(), stat)
            }
            Request::Data { .. } => Reply::NoNode,
            Request::Claim { .. } => {
                self.claimed = true;
                Reply::Set(stat)
            }
            Request::Renew { .. } => {
                self.version += 1;
                Reply::Set(stat)
            }
            other => panic!("nothing is to be made or given up: {other:?}"),
        }
    }
}

/// From one deadline to the next.
fn run(machine: &mut Controller, store: &mut Obliging, now: &mut Instant, times: u64) {
    for _ in 0..times {
        machine.handle(*now, Input::Timeout);
        while let Some(output) = machine.poll() {
            if let Output::Request(ticket, request) = output {
                let reply = store.answer(&request);
                machine.handle(*now, Input::Reply(ticket, Ok(reply)));
            }
        }
        *now = machine.deadline().expect("it always has one");
    }
}

fn settled(store: &mut Obliging) -> (Controller, Instant) {
    let mut now = Instant::ZERO;
    let boot = Boot {
        incarnation: 1,
        seed: 1,
    };
    let mut machine = Controller::new(config(common("anna")), boot, now).unwrap();
    run(&mut machine, store, &mut now, 100);
    (machine, now)
}

#[test]
fn nothing_allocates_in_the_steady_state() {
    for taken in [false, true] {
        let mut store = Obliging::new(taken);
        let (mut machine, mut now) = settled(&mut store);
        store.looked = 0;
        let counted = measure(|| run(&mut machine, &mut store, &mut now, 10_000));
        assert_eq!(counted.count_total, 0, "taken: {taken}");
        assert!(store.looked > 3_000, "it looked");
        let standing = machine.standing(now - Duration::from_micros(1));
        assert_eq!(matches!(standing, Standing::Leading(_)), !taken);
        assert_eq!(machine.refusals().total(), 0);
    }
}

/// Struct and heap, paths and names aside.
#[test]
fn a_machine_at_rest_is_small() {
    for taken in [false, true] {
        let mut store = Obliging::new(taken);
        let mut kept = None;
        let counted = measure(|| kept = Some(settled(&mut store).0));
        let shared = |text: &str| (text.len() + 16).next_multiple_of(8) as i64;
        let config = config(common("anna"));
        let root = &config.parent;
        let paths =
            ["", "/controller", "/controller_epoch"].map(|end| shared(&format!("{root}{end}")));
        let heap = counted.bytes_current - paths.iter().sum::<i64>() - shared("anna");
        let all = size_of::<Controller>() as i64 + heap;
        println!("{} + {heap}", size_of::<Controller>());
        assert!(
            all <= 512,
            "{} + {heap}, taken: {taken}",
            size_of::<Controller>()
        );
    }
}
