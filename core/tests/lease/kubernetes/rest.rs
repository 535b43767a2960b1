//! What a machine costs while nothing happens.

use super::config;
use allocation_counter::measure;
use tenure::lease::kubernetes::{Kubernetes, Lease, Record, Reply, Request, Uid};
use tenure::lease::{Boot, Claimant, Identity, Nonce};
use tenure::{Duration, Election, Input, Instant, Output};

/// An API server where a write is always done, and somebody else holds it or nobody.
struct Obliging {
    record: Record,
    version: u64,
}

impl Obliging {
    const fn new(holder: Option<Claimant>, nonce: Nonce, since: Option<u64>) -> Self {
        Self {
            record: Record {
                holder,
                nonce,
                seconds: 15,
                transitions: 0,
                acquired: None,
                since,
            },
            version: 1,
        }
    }

    fn answer(&mut self, request: Request) -> Reply {
        match request {
            Request::Get => {}
            Request::Create(record) | Request::Update { record, .. } => self.record = record,
        }
        // Whoever holds it renews it.
        self.version += 1;
        Reply::Object(Lease {
            uid: Uid(1),
            version: self.version,
            record: self.record.clone(),
            age: Duration::ZERO,
        })
    }
}

/// From one deadline to the next.
fn run(machine: &mut Kubernetes, api: &mut Obliging, times: u64) {
    for _ in 0..times {
        let now = machine.deadline().expect("a candidate has one");
        machine.handle(now, Input::Timeout);
        while let Some(output) = machine.poll() {
            if let Output::Request(ticket, request) = output {
                let reply = api.answer(request);
                machine.handle(now, Input::Reply(ticket, Ok(reply)));
            }
        }
    }
}

fn settled(api: &mut Obliging) -> Kubernetes {
    let boot = Boot {
        incarnation: 1,
        seed: 1,
    };
    let mut machine = Kubernetes::new(config("anna"), boot, Instant::ZERO).unwrap();
    run(&mut machine, api, 100);
    machine
}

/// Nobody; one that has been leading; and another client.
fn others() -> [Obliging; 3] {
    let zoe = || Some(Claimant::new(Identity::new("zoe").unwrap()));
    [
        Obliging::new(None, Nonce(0), None),
        Obliging::new(zoe(), Nonce(7), Some(1)),
        Obliging::new(zoe(), Nonce(0), None),
    ]
}

#[test]
fn nothing_allocates_in_the_steady_state() {
    for mut api in others() {
        let waits = api.record.holder.is_some();
        let mut machine = settled(&mut api);
        let steady = measure(|| run(&mut machine, &mut api, 5000));
        assert_eq!(steady.count_total, 0, "waits: {waits}");
        assert!(api.version > 5000);
        assert_eq!(machine.tenure().is_none(), waits);
    }
}

/// Struct and heap, names aside.
#[test]
fn a_machine_at_rest_is_small() {
    for mut api in others() {
        let mut named = None;
        let name = measure(|| named = Some(config("anna")));
        let mut kept = None;
        let counted = measure(|| kept = Some(settled(&mut api)));
        let heap = counted.bytes_current - name.bytes_current;
        let size = size_of::<Kubernetes>() as i64;
        assert!(size + heap <= 512 && heap > 0, "{size} + {heap}");
    }
}
