//! The key of one Redis server.

use crate::rules::{self, LATE};
use crate::storm::{Run, Store, Storm, Weather};
use allocation_counter::measure;
use std::collections::VecDeque;
use tenure::lease::redis::{Found, MAX_TOKEN, Redis, Reply, Request, Value};
use tenure::lease::{
    Boot, Claimant, Config, Identity, Nonce, Refusal, Rule, Rules, Scheme, Switched,
};
use tenure::random::Random;
use tenure::{
    Duration, Election, Event, Input, Instant, Output, Standing, Ticket, Token, Unknown, Why,
};

/// What a server promises and does not keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Faults {
    None,
    /// A replica that is some commands behind is promoted.
    Failover,
    /// It comes back with nothing.
    Restart,
    /// Its wall clock jumps forward by a lease.
    Jump,
}

/// The two keys.
#[derive(Clone, Default)]
pub(crate) struct Keys {
    lock: Option<(Value, u64)>,
    counter: u64,
}

pub(crate) struct Server {
    keys: Keys,
    /// As they were some commands ago.
    replica: Keys,
    faults: Faults,
    random: Random,
    jumped: u64,
    said: VecDeque<(usize, Ticket, Reply)>,
}

impl Server {
    pub(crate) fn new(seed: u64, faults: Faults) -> Self {
        Self {
            keys: Keys::default(),
            replica: Keys::default(),
            faults,
            random: Random::from_seed(seed),
            jumped: 0,
            said: VecDeque::new(),
        }
    }

    fn fail(&mut self) {
        if self.random.below(20) == 0 {
            self.replica = self.keys.clone();
        }
        if self.faults == Faults::None || self.random.below(60) != 0 {
            return;
        }
        match self.faults {
            Faults::None => {}
            Faults::Failover => self.keys = self.replica.clone(),
            Faults::Restart => self.keys = Keys::default(),
            Faults::Jump => self.jumped += 9_000_000,
        }
    }

    fn found(&self, now: u64) -> Reply {
        let found = self.keys.lock.as_ref().map(|(value, until)| Found {
            value: Some(value.clone()),
            token: self.keys.counter,
            left: Duration::from_micros(until - now),
        });
        Reply::Found(found)
    }

    fn carry_out(&mut self, now: u64, request: Request) -> Reply {
        self.fail();
        let now = now + self.jumped;
        self.keys.lock.take_if(|(_, until)| *until < now);
        let holds =
            |keys: &Keys, value: &Value| keys.lock.as_ref().is_some_and(|(held, _)| held == value);
        match request {
            Request::Take { value, ttl } if self.keys.lock.is_none() => {
                self.keys.lock = Some((value, now + ttl.as_micros()));
                self.keys.counter += 1;
                Reply::Taken(self.keys.counter)
            }
            Request::Renew { value, token, ttl }
                if holds(&self.keys, &value) && self.keys.counter == token =>
            {
                self.keys.lock = Some((value, now + ttl.as_micros()));
                Reply::Renewed
            }
            Request::Take { .. } | Request::Renew { .. } | Request::Read => self.found(now),
            Request::Release { value } => {
                if holds(&self.keys, &value) {
                    self.keys.lock = None;
                }
                Reply::Released
            }
            Request::Delete => {
                self.keys.lock = None;
                Reply::Released
            }
        }
    }
}

impl<R: Rules> Store<Redis<R>> for Server {
    fn ask(&mut self, now: u64, from: usize, ticket: Ticket, request: Request) {
        let reply = self.carry_out(now, request);
        self.said.push_back((from, ticket, reply));
    }

    fn poll(&mut self) -> Option<(usize, Ticket, Reply)> {
        self.said.pop_front()
    }
}

fn config(name: &str) -> Config {
    Config::new(Claimant::new(Identity::new(name).unwrap()))
}

fn boot(config: Config, boot: Boot, now: Instant) -> Redis {
    Redis::new(config, boot, now).unwrap()
}

const BOOT: Boot = Boot {
    incarnation: 1,
    seed: 1,
};
const THREE: [&str; 3] = ["anna", "ben", "cleo"];
const SECOND: u64 = 1_000_000;

fn at(micros: u64) -> Instant {
    Instant::from_micros(micros)
}

/// What a machine says and asks.
fn drain<R: Rules>(machine: &mut Redis<R>) -> (Vec<Event>, Vec<(Ticket, Request)>) {
    let (mut events, mut asked) = (Vec::new(), Vec::new());
    while let Some(output) = machine.poll() {
        match output {
            Output::Event(event) => events.push(event),
            Output::Request(ticket, request) => asked.push((ticket, request)),
            Output::Send(_, never) => match never {},
        }
    }
    (events, asked)
}

/// The one thing it asks.
fn asks<R: Rules>(machine: &mut Redis<R>) -> (Ticket, Request) {
    let (_, mut asked) = drain(machine);
    assert_eq!(asked.len(), 1, "{asked:?}");
    asked.remove(0)
}

/// A machine that was granted the lock with this token at time 0.
fn holder(token: u64) -> (Redis, Value) {
    let mut machine = boot(config("anna"), BOOT, at(0));
    let (ticket, request) = asks(&mut machine);
    let Request::Take { value, .. } = request else {
        panic!("{request:?}")
    };
    machine.handle(at(1), Input::Reply(ticket, Ok(Reply::Taken(token))));
    assert!(matches!(machine.standing(at(1)), Standing::Leading(_)));
    drain(&mut machine);
    (machine, value)
}

/// Goes to its next deadline.
fn next(machine: &mut Redis) -> Instant {
    let now = machine.deadline().unwrap();
    machine.handle(now, Input::Timeout);
    now
}

/// LS-36, redisson/redisson#775, #3194, #5698, #3636: one renewal that fails ended the watchdog, or made the lock anew beside
/// another's. Here it is renewed until the tenure ends, with nothing that takes, and then it is over.
#[test]
fn a_renewal_that_fails_is_tried_until_the_tenure_ends_and_takes_nothing() {
    let (mut machine, value) = holder(7);
    let (mut renewals, mut deposed) = (0, Vec::new());
    while deposed.is_empty() {
        next(&mut machine);
        let (events, asked) = drain(&mut machine);
        deposed = events;
        for (_, request) in asked.iter().filter(|_| deposed.is_empty()) {
            assert!(
                matches!(request, Request::Renew { value: own, token: 7, .. } if *own == value)
            );
            renewals += 1;
        }
    }
    assert_eq!(deposed, [Event::Deposed(Token::new(0, 7), Why::Lapsed)]);
    assert!(renewals >= 3, "{renewals}");
}

/// LS-36: a renewal that finds another's lock ends the tenure at once.
#[test]
fn a_lock_that_is_anothers_ends_the_tenure() {
    let (mut machine, _) = holder(7);
    let now = next(&mut machine);
    let (ticket, _) = asks(&mut machine);
    let other = Found {
        value: Some(Value {
            nonce: Nonce(5),
            claimant: config("ben").claimant,
        }),
        token: 8,
        left: Duration::from_secs(9),
    };
    machine.handle(now, Input::Reply(ticket, Ok(Reply::Found(Some(other)))));
    let (events, _) = drain(&mut machine);
    assert_eq!(events[0], Event::Deposed(Token::new(0, 7), Why::Taken));
    assert!(
        matches!(machine.standing(now), Standing::Following(leader) if leader.token.counter == 8)
    );
}

/// LS-39r, abelaska/jedis-lock#2, errorception/redis-lock#29, nexspence/nexspence#223, kent8192/reinhardt-web#740: a DEL without
/// a look frees the successor's lock. The own value goes with the release.
#[test]
fn what_is_given_up_is_the_own_lock_alone() {
    let (mut machine, value) = holder(7);
    machine.handle(at(2), Input::Resign { to: None });
    let (_, asked) = drain(&mut machine);
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].1, Request::Release { value });
    let off = Switched::without(&[Rule::CompareAndDelete]);
    let mut careless = Redis::with_rules(config("anna"), BOOT, at(0), off).unwrap();
    let (ticket, _) = asks(&mut careless);
    careless.handle(at(1), Input::Reply(ticket, Ok(Reply::Taken(7))));
    careless.handle(at(2), Input::Resign { to: None });
    assert_eq!(asks(&mut careless).1, Request::Delete);
}

/// LS-R4: the lock is its own, from an attempt whose result it never learned. It leads after a renewal, from that one's send.
#[test]
fn an_attempt_of_unknown_result_is_recognised_by_its_nonce() {
    let mut machine = boot(config("anna"), BOOT, at(0));
    let (ticket, request) = asks(&mut machine);
    let Request::Take { value, .. } = request else {
        panic!("{request:?}")
    };
    machine.handle(at(1), Input::Reply(ticket, Err(Unknown)));
    let now = next(&mut machine);
    let (ticket, again) = asks(&mut machine);
    assert!(matches!(again, Request::Take { value: same, .. } if same == value));
    let found = Found {
        value: Some(value.clone()),
        token: 3,
        left: Duration::from_secs(8),
    };
    machine.handle(now, Input::Reply(ticket, Ok(Reply::Found(Some(found)))));
    assert_eq!(machine.standing(now), Standing::Unknown);
    let (ticket, renew) = asks(&mut machine);
    assert!(matches!(renew, Request::Renew { value: own, token: 3, .. } if own == value));
    machine.handle(now, Input::Reply(ticket, Ok(Reply::Renewed)));
    let until = now + machine.config().budget().unwrap().belief;
    assert!(matches!(machine.standing(now), Standing::Leading(held) if held.until == until));
}

/// The server lost its data: the counter is below what this node was elected with. Refused, given up, and tried again until it
/// is above.
#[test]
fn a_counter_that_fell_back_is_refused_and_tried_again() {
    let (mut machine, _) = holder(7);
    let mut server = Server::new(1, Faults::None);
    server.keys.counter = 4;
    let (mut now, mut elected) = (at(0), None);
    while elected.is_none() && now < at(200 * SECOND) {
        now = next(&mut machine);
        loop {
            let (events, asked) = drain(&mut machine);
            elected = elected.or(events.into_iter().find_map(|event| match event {
                Event::Elected(token) => Some(token),
                _ => None,
            }));
            if asked.is_empty() {
                break;
            }
            for (ticket, request) in asked {
                let reply = server.carry_out(now.as_micros(), request);
                machine.handle(now, Input::Reply(ticket, Ok(reply)));
            }
        }
    }
    assert_eq!(elected, Some(Token::new(0, 8)));
    assert_eq!(machine.refusals().count(Refusal::TokenFellBack), 3);
}

/// The counter was set back, or deleted, under a holder. Its lock would keep everybody out: it is given up at once.
#[test]
fn a_counter_that_changed_under_a_holder_ends_the_tenure_and_the_lock() {
    let (mut machine, value) = holder(7);
    let now = next(&mut machine);
    let (ticket, _) = asks(&mut machine);
    let found = Found {
        value: Some(value.clone()),
        token: 0,
        left: Duration::from_secs(6),
    };
    machine.handle(now, Input::Reply(ticket, Ok(Reply::Found(Some(found)))));
    let (events, asked) = drain(&mut machine);
    assert_eq!(events[0], Event::Deposed(Token::new(0, 7), Why::Taken));
    assert_eq!(asked[0].1, Request::Release { value });
}

/// §1.2: drift is 1 % of the lease and 2 ms, at least.
#[test]
fn a_holder_believes_less_than_the_lease_by_drift_and_margin() {
    let (machine, _) = holder(7);
    let Standing::Leading(tenure) = machine.standing(at(1)) else {
        panic!("it holds the lock")
    };
    let timing = config("anna").timing;
    let drift = timing.ttl.scaled_up(1, 100) + Duration::from_millis(2);
    let most = timing.ttl.saturating_sub(drift + timing.margin);
    assert!(tenure.until <= at(0) + most, "{tenure:?}");
    let within = timing.rate.within(timing.ttl);
    let belief = within.saturating_sub(timing.margin + Duration::from_millis(2));
    assert_eq!(tenure.until, at(0) + belief);
}

#[test]
fn a_counter_beyond_what_a_script_can_say_elects_nobody() {
    let mut machine = boot(config("anna"), BOOT, at(0));
    let (ticket, _) = asks(&mut machine);
    machine.handle(at(1), Input::Reply(ticket, Ok(Reply::Taken(MAX_TOKEN + 1))));
    assert_eq!(machine.standing(at(1)), Standing::Unknown);
    assert_eq!(machine.refusals().count(Refusal::TokenExhausted), 1);
    assert!(matches!(asks(&mut machine).1, Request::Release { .. }));
}

fn storm(seed: u64, names: &[&str], weather: Weather, faults: Faults) -> Run {
    let configs: Vec<_> = names.iter().map(|name| config(name)).collect();
    let server = Server::new(seed, faults);
    let (storm, configs) = Storm::new(seed, &configs, server, weather, true, boot);
    match faults {
        Faults::None => storm.run(&configs, 30),
        _ => storm.excused().run(&configs, 30),
    }
}

#[test]
fn in_any_weather_nobody_believes_beside_another() {
    let calm = storm(1, &THREE, Weather::CALM, Faults::None);
    assert_eq!((calm.broken, calm.tenures, calm.lapsed), (None, 1, 0));
    let (mut tenures, mut lapsed) = (0, 0);
    for seed in 0..2000 {
        let names: &[&str] = match seed % 4 {
            0 => &["anna", "anna", "ben"],
            _ => &THREE,
        };
        let run = storm(seed, names, Weather::STORM, Faults::None);
        assert_eq!(run.broken, None, "seed {seed}");
        // What is still under way when it calms takes two leases at most, and one who resigned stands back for one.
        let (budget, ttl) = (config("anna").budget().unwrap(), config("anna").timing.ttl);
        let takeover = (budget.takeover + ttl + ttl + ttl).as_micros();
        assert!(
            run.led_after.is_some_and(|after| after <= takeover),
            "seed {seed}: {run:?}"
        );
        (tenures, lapsed) = (tenures + run.tenures, lapsed + run.lapsed);
    }
    assert!(tenures > 10_000 && lapsed > 2_000, "{tenures} {lapsed}");
}

/// LS-F1, §1.2: what no client can repair. The guard of the resource does.
#[test]
fn a_server_that_loses_the_lock_or_its_time_lets_two_believe() {
    for faults in [Faults::Failover, Faults::Restart, Faults::Jump] {
        let overlaps = |seed| storm(seed, &THREE, Weather::STORM, faults).overlap > 0;
        assert!((0..100).any(overlaps), "{faults:?}");
    }
}

#[test]
fn each_rule_that_is_off_breaks_what_it_protects_and_no_other_matters() {
    rules::judge(Scheme::Redis, |seed, names, rules| {
        let configs: Vec<_> = names.iter().map(|name| config(name)).collect();
        let boot = move |config, boot, now| Redis::with_rules(config, boot, now, rules).unwrap();
        let server = Server::new(seed, Faults::None);
        let (storm, configs) = Storm::new(seed, &configs, server, LATE, true, boot);
        storm.run(&configs, 30)
    });
}

#[test]
fn beyond_the_bound_of_the_clocks_two_may_believe() {
    let weather = Weather {
        rates: 20_000,
        ..Weather::STORM
    };
    let broken = |seed| storm(seed, &THREE, weather, Faults::None).broken.is_some();
    assert!((0..500).any(broken));
}

/// From one deadline to the next, beside somebody else who holds it or not.
fn idle(machine: &mut Redis, times: u64, replies: &mut Vec<Reply>) {
    for _ in 0..times {
        let now = machine.deadline().unwrap();
        machine.handle(now, Input::Timeout);
        while let Some(output) = machine.poll() {
            if let Output::Request(ticket, _) = output {
                let reply = replies.pop().unwrap_or(Reply::Renewed);
                machine.handle(now, Input::Reply(ticket, Ok(reply)));
            }
        }
    }
}

#[test]
fn nothing_allocates_at_rest_and_a_machine_is_small() {
    let anna = config("anna");
    let mut kept = None;
    let counted = measure(|| {
        let mut machine = boot(anna.clone(), BOOT, at(0));
        let (ticket, _) = match machine.poll() {
            Some(Output::Request(ticket, request)) => (ticket, request),
            other => panic!("{other:?}"),
        };
        machine.handle(at(1), Input::Reply(ticket, Ok(Reply::Taken(7))));
        while machine.poll().is_some() {}
        idle(&mut machine, 100, &mut Vec::new());
        kept = Some(machine);
    });
    let (mut machine, heap) = (kept.unwrap(), counted.bytes_current);
    // Struct, requests under way and what is to be said; the name is the host's.
    let all = size_of::<Redis>() as i64 + heap;
    assert!(heap > 0 && all <= 512, "{} + {heap}", size_of::<Redis>());
    let steady = measure(|| idle(&mut machine, 10_000, &mut Vec::new()));
    assert_eq!(steady.count_total, 0);

    let found = Reply::Found(Some(Found {
        value: Some(Value {
            nonce: Nonce(5),
            claimant: config("ben").claimant,
        }),
        token: 8,
        left: Duration::from_secs(9),
    }));
    let mut replies = vec![found; 30_000];
    let mut waiter = boot(config("anna"), BOOT, at(0));
    idle(&mut waiter, 100, &mut replies);
    let steady = measure(|| idle(&mut waiter, 10_000, &mut replies));
    assert_eq!((steady.count_total, replies.is_empty()), (0, false));
}
