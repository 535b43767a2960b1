//! The `Lease` object of Kubernetes.

use crate::storm::{Run, Store, Storm, Weather};
use allocation_counter::measure;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU8, Ordering};
use tenure::lease::kubernetes::{Config, Kubernetes, Lease, Record, Reply, Request};
use tenure::lease::{Boot, BudgetError, Claimant, Identity, Invariant, Nonce, Rule, Switched};
use tenure::{
    Duration, Election, Event, Input, Instant, Output, Standing, Ticket, Token, Unknown, Why,
};

/// How far the calendars of the hosts are apart: the second is an hour ahead.
const CALENDARS: [u64; 3] = [0, 3_600_000_000, 0];

/// The API server, with the one object.
#[derive(Default)]
struct Api {
    revision: u64,
    object: Option<(u64, Record, u64)>,
    said: VecDeque<(usize, Ticket, Reply)>,
}

impl Api {
    fn write(&mut self, calendar: u64, record: Record) -> Reply {
        // What the validation of the API refuses.
        if record.seconds == 0 {
            return Reply::NotDone;
        }
        self.revision += 1;
        self.object = Some((self.revision, record, calendar));
        self.seen(calendar)
    }

    fn seen(&self, calendar: u64) -> Reply {
        match &self.object {
            None => Reply::NotFound,
            Some((version, record, renewed)) => Reply::Object(Lease {
                version: *version,
                record: record.clone(),
                age: Duration::from_micros(calendar.saturating_sub(*renewed)),
            }),
        }
    }

    fn carry_out(&mut self, calendar: u64, request: Request) -> Reply {
        match (request, &self.object) {
            (Request::Get, _) => self.seen(calendar),
            (Request::Create(_), Some(_)) => Reply::AlreadyExists,
            (Request::Create(record), None) => self.write(calendar, record),
            (Request::Update { .. }, None) => Reply::NotFound,
            (Request::Update { version, record }, Some((current, ..))) => {
                if version == *current {
                    self.write(calendar, record)
                } else {
                    Reply::Conflict
                }
            }
        }
    }
}

impl<R: tenure::lease::Rules> Store<Kubernetes<R>> for Api {
    fn ask(&mut self, now: u64, from: usize, ticket: Ticket, request: Request) {
        let reply = self.carry_out(now + CALENDARS[from], request);
        self.said.push_back((from, ticket, reply));
    }

    fn poll(&mut self) -> Option<(usize, Ticket, Reply)> {
        self.said.pop_front()
    }
}

fn config(name: &str) -> Config {
    Config::new(Claimant::new(Identity::new(name).unwrap()))
}

fn wrapped(common: tenure::lease::Config) -> Config {
    Config {
        common,
        renew_deadline: Duration::from_secs(10),
    }
}

/// The deadline leaves a holder all that the clocks and the margin allow.
fn tight(common: tenure::lease::Config) -> Config {
    Config {
        common,
        renew_deadline: Duration::from_millis(14_999),
    }
}

fn storm(seed: u64, names: &[&str], weather: Weather) -> Run {
    let configs: Vec<_> = names.iter().map(|name| config(name).common).collect();
    let boot = if seed % 2 == 0 {
        |config, boot, now| Kubernetes::new(wrapped(config), boot, now).unwrap()
    } else {
        |config, boot, now| Kubernetes::new(tight(config), boot, now).unwrap()
    };
    let (storm, configs) = Storm::new(seed, &configs, Api::default(), weather, true, boot);
    storm.run(&configs, 30)
}

#[test]
fn in_calm_weather_one_leads_and_goes_on() {
    let run = storm(1, &["anna", "ben", "cleo"], Weather::CALM);
    assert_eq!((run.broken, run.tenures, run.lapsed), (None, 1, 0));
}

#[test]
fn in_any_weather_nobody_believes_beside_another() {
    let (mut tenures, mut lapsed) = (0, 0);
    for seed in 0..4000 {
        let names: &[&str] = if seed % 4 < 2 && seed % 8 < 4 {
            &["anna", "anna", "ben"]
        } else {
            &["anna", "ben", "cleo"]
        };
        let run = storm(seed, names, Weather::STORM);
        assert_eq!(run.broken, None, "seed {seed}");
        // What is still under way when it calms takes two leases at most, and one who resigned stands back for one.
        let (budget, ttl) = (
            config("anna").budget().unwrap(),
            config("anna").common.timing.ttl,
        );
        let takeover = (budget.takeover + ttl + ttl + ttl).as_micros();
        assert!(
            run.led_after.is_some_and(|after| after <= takeover),
            "seed {seed}: {run:?}"
        );
        (tenures, lapsed) = (tenures + run.tenures, lapsed + run.lapsed);
    }
    assert!(tenures > 16_000 && lapsed > 2_000, "{tenures} {lapsed}");
}

#[test]
fn each_rule_that_is_off_lets_two_believe() {
    static OFF: AtomicU8 = AtomicU8::new(0);
    let boot = |config, boot, now| {
        let off = Rule::ALL[usize::from(OFF.load(Ordering::SeqCst))];
        Kubernetes::with_rules(tight(config), boot, now, Switched::without(&[off])).unwrap()
    };
    for (rule, names) in [
        (Rule::ValidityFromSend, ["anna", "ben", "cleo"]),
        (Rule::DemoteByTimer, ["anna", "ben", "cleo"]),
        (Rule::Nonce, ["anna", "anna", "ben"]),
        (Rule::OwnClockOnly, ["anna", "ben", "cleo"]),
    ] {
        OFF.store(rule as u8, Ordering::SeqCst);
        let weather = Weather {
            late: 300,
            ..Weather::STORM
        };
        let configs: Vec<_> = names.iter().map(|name| config(name).common).collect();
        let broken = (0..500).find_map(|seed| {
            let (storm, configs) = Storm::new(seed, &configs, Api::default(), weather, true, boot);
            storm.run(&configs, 30).broken
        });
        let allowed = |(name, _): (&str, u64)| {
            let all = rule.follows().iter().chain([&Invariant::BelievedLeaders]);
            all.into_iter().any(|invariant| invariant.name() == name)
        };
        assert!(broken.is_some_and(allowed), "{rule:?}: {broken:?}");
    }
}

#[test]
fn beyond_the_bound_of_the_clocks_two_may_believe() {
    let weather = Weather {
        rates: 40_000,
        ..Weather::STORM
    };
    assert!((0..500).any(|seed| {
        storm(seed, &["anna", "ben", "cleo"], weather)
            .broken
            .is_some()
    }));
}

// By hand.

struct Desk {
    machine: Kubernetes,
    asked: Vec<(Ticket, Request)>,
    events: Vec<Event>,
}

fn at(millis: u64) -> Instant {
    Instant::from_micros(1_000_000_000 + 1000 * millis)
}

impl Desk {
    fn new(name: &str, seed: u64) -> Self {
        let boot = Boot {
            incarnation: 1,
            seed,
        };
        let mut desk = Self {
            machine: Kubernetes::new(config(name), boot, at(0)).unwrap(),
            asked: Vec::new(),
            events: Vec::new(),
        };
        desk.drain();
        desk
    }

    fn drain(&mut self) {
        while let Some(output) = self.machine.poll() {
            match output {
                Output::Request(ticket, request) => self.asked.push((ticket, request)),
                Output::Event(event) => self.events.push(event),
                Output::Send(_, never) => match never {},
            }
        }
    }

    fn feed(&mut self, now: u64, input: Input<std::convert::Infallible, Reply>) {
        self.machine.handle(at(now), input);
        self.drain();
    }

    /// Wakes it whenever it wants, without answers, until then.
    fn silence(&mut self, until: u64) {
        while let Some(due) = self.machine.deadline().filter(|due| *due <= at(until)) {
            self.machine.handle(due, Input::Timeout);
            self.drain();
        }
    }

    fn answer(&mut self, now: u64, api: &mut Api) {
        let (ticket, request) = self.asked.pop().expect("it asks");
        let reply = api.carry_out(1000 * now, request);
        self.feed(now, Input::Reply(ticket, Ok(reply)));
    }

    fn leads(&self, now: u64) -> bool {
        matches!(self.machine.standing(at(now)), Standing::Leading(_))
    }

    /// One that was elected at once.
    fn leading(api: &mut Api) -> Self {
        let mut desk = Self::new("anna", 1);
        desk.answer(0, api);
        desk.answer(0, api);
        assert!(desk.leads(0));
        desk
    }

    fn deposed(&self) -> Vec<Why> {
        let why = |event: &Event| match event {
            Event::Deposed(_, why) => Some(*why),
            _ => None,
        };
        self.events.iter().filter_map(why).collect()
    }
}

fn others(api: &mut Api, seconds: u32) {
    let record = Record {
        holder: Some(Claimant::new(Identity::new("ben").unwrap())),
        nonce: Nonce(7),
        seconds,
        transitions: 3,
        acquired: None,
        since: None,
    };
    api.write(0, record);
}

/// LS-1, kubernetes/kubernetes#23731: who reads that another holds it stops at once, and says so once.
#[test]
fn reading_another_holder_ends_it_at_once() {
    let mut api = Api::default();
    let mut anna = Desk::leading(&mut api);
    others(&mut api, 15);
    anna.silence(2000);
    // The conflict leads to a look.
    anna.answer(2000, &mut api);
    anna.answer(2001, &mut api);
    assert!(!anna.leads(2001));
    anna.silence(12_000);
    assert_eq!(anna.deposed(), [Why::Taken]);
}

/// LS-3, kubernetes/client-go#728; LS-7, kubernetes/kubernetes#65094: with every call hanging it stops by the clock, and
/// only then tries to release.
#[test]
fn it_stops_by_the_clock_before_it_releases() {
    let mut api = Api::default();
    let mut anna = Desk::leading(&mut api);
    anna.silence(9_999);
    assert!(anna.leads(9_999) && !anna.machine.releasing());
    anna.silence(10_000);
    assert!(!anna.leads(10_000) && anna.machine.releasing());
    assert_eq!(anna.deposed(), [Why::Lapsed]);
}

/// LS-4 (derived from kubernetes/client-go's `renew`): an answer that comes late extends from its send, or elects nobody.
#[test]
fn a_late_answer_counts_from_its_send() {
    let mut api = Api::default();
    let mut anna = Desk::new("anna", 1);
    anna.answer(0, &mut api);
    let (ticket, request) = anna.asked.pop().unwrap();
    let reply = api.carry_out(0, request);
    anna.feed(9_000, Input::Reply(ticket, Ok(reply.clone())));
    assert!(anna.leads(9_999) && !anna.leads(10_000));

    let mut ben = Desk::new("anna", 1);
    ben.answer(0, &mut Api::default());
    let (ticket, _) = ben.asked.pop().unwrap();
    ben.feed(20_000, Input::Reply(ticket, Ok(reply)));
    assert!(!ben.leads(20_000) && ben.deposed().is_empty());
}

/// LS-6, kubernetes/kubernetes#91966: a released record passes the validation of the API.
#[test]
fn a_release_names_nobody_and_a_second() {
    let mut api = Api::default();
    let mut anna = Desk::leading(&mut api);
    anna.feed(1000, Input::Resign { to: None });
    assert_eq!(anna.deposed(), [Why::Resigned]);
    anna.answer(1000, &mut api);
    let (_, record, _) = api.object.as_ref().unwrap();
    assert_eq!((&record.holder, record.seconds), (&None, 1));
    assert!(!anna.machine.releasing());
    // The next one need not wait.
    let mut ben = Desk::new("ben", 2);
    ben.answer(0, &mut api);
    ben.answer(0, &mut api);
    assert!(ben.leads(0));
}

/// LS-8, kubernetes/client-go#448, kubernetes/kubernetes#120824: what the record says of times never shortens the wait, and
/// lengthens it within bounds.
#[test]
fn a_record_is_waited_out_on_the_own_clock() {
    for (seconds, waits) in [(0, 15_000), (15, 15_000), (1 << 31, 60_000)] {
        let mut api = Api::default();
        others(&mut api, seconds.max(1));
        api.object.as_mut().unwrap().1.seconds = seconds;
        let mut anna = Desk::new("anna", 1);
        let mut now = 3_600_000;
        anna.silence(now);
        anna.asked.drain(..anna.asked.len() - 1);
        let first = now;
        while !anna.leads(now) {
            if anna.asked.is_empty() {
                now += 100;
                anna.silence(now);
            } else {
                anna.answer(now, &mut api);
            }
        }
        let took = now - first;
        assert!((waits..=waits + 5_000).contains(&took), "{seconds}: {took}");
    }
}

/// LS-10, kubernetes/kubernetes#41956, fabric8io/kubernetes-client#4320: the token stays with every renewal, and
/// `leaseTransitions` too.
#[test]
fn a_renewal_keeps_the_token() {
    let mut api = Api::default();
    let mut anna = Desk::leading(&mut api);
    let token = anna.machine.tenure().unwrap().token;
    assert_eq!(token, Token::new(0, 1));
    for now in [2000, 4000, 6000] {
        anna.silence(now);
        anna.answer(now, &mut api);
    }
    assert_eq!(anna.machine.tenure().unwrap().token, token);
    let (version, record, _) = api.object.as_ref().unwrap();
    assert_eq!(
        (*version, record.transitions, record.since),
        (4, 0, Some(1))
    );
}

/// LS-11, cilium/cilium#42920: the end of a tenure is known before it comes, and a renewal in flight does not move it.
#[test]
fn the_end_is_known_beforehand() {
    let mut api = Api::default();
    let anna = Desk::leading(&mut api);
    assert_eq!(anna.machine.tenure().unwrap().until, at(10_000));
}

/// LS-R4: an acquisition whose result is unknown is recognised by its nonce, and leads only once a write of its own came
/// through.
#[test]
fn an_unknown_acquisition_is_confirmed() {
    let mut api = Api::default();
    let mut anna = Desk::new("anna", 1);
    anna.answer(0, &mut api);
    let (ticket, request) = anna.asked.pop().unwrap();
    api.carry_out(0, request);
    anna.feed(1000, Input::Reply(ticket, Err(Unknown)));
    anna.silence(3000);
    anna.answer(3000, &mut api);
    assert!(!anna.leads(3000));
    anna.answer(3000, &mut api);
    assert!(anna.leads(3000));
    assert_eq!(anna.machine.tenure().unwrap().token, Token::new(0, 2));
}

#[test]
fn what_client_go_refuses_is_refused() {
    let with = |deadline: u64, period: u64, ttl: u64| {
        let mut config = config("anna");
        config.renew_deadline = Duration::from_millis(deadline);
        config.common.timing.retry = Duration::from_millis(period);
        config.common.timing.ttl = Duration::from_millis(ttl);
        config.budget().map(drop)
    };
    assert_eq!(with(10_000, 2000, 15_000), Ok(()));
    let refused = [
        (with(15_000, 2000, 15_000), "deadline-too-long"),
        (with(10_000, 8_400, 15_000), "deadline-too-short"),
        (with(10_000, 2000, 15_500), "not-seconds"),
        (with(3_000, 2000, 15_000), "no-slack"),
    ];
    for (result, code) in refused {
        assert_eq!(result.as_ref().map_err(BudgetError::code), Err(code));
    }
}

/// A holder and a waiter, each over thousands of rounds: no allocation after the first few.
#[test]
fn at_rest_it_allocates_nothing() {
    for waits in [false, true] {
        let mut version = 1;
        let ben = Claimant::new(Identity::new("ben").unwrap());
        let mut held = Record {
            holder: waits.then_some(ben),
            nonce: Nonce(7),
            seconds: 15,
            transitions: 0,
            acquired: None,
            since: None,
        };
        let mut now = at(0);
        let mut machine = None;
        let mut rounds = |machine: &mut Kubernetes, count: u32| {
            for _ in 0..count {
                while let Some(output) = machine.poll() {
                    if let Output::Request(ticket, request) = output {
                        match request {
                            Request::Get => {}
                            Request::Create(record) | Request::Update { record, .. } => {
                                held = record;
                            }
                        }
                        version += 1;
                        let lease = Lease {
                            version,
                            record: held.clone(),
                            age: Duration::ZERO,
                        };
                        machine.handle(now, Input::Reply(ticket, Ok(Reply::Object(lease))));
                    }
                }
                now = machine.deadline().expect("a candidate has one");
                machine.handle(now, Input::Timeout);
            }
        };
        {
            let boot = Boot {
                incarnation: 1,
                seed: 1,
            };
            let built = machine.insert(Kubernetes::new(config("anna"), boot, at(0)).unwrap());
            rounds(built, 100);
        }
        let machine = machine.as_mut().unwrap();
        let steady = measure(|| rounds(machine, 5000));
        assert_eq!(steady.count_total, 0, "waits: {waits}");
        assert_eq!(machine.tenure().is_none(), waits);
    }
}
