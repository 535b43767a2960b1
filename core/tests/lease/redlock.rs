//! One key on each of several servers.

use crate::rules::{self, LATE};
use crate::storm::{Run, Store, Storm, Weather};
use allocation_counter::measure;
use std::collections::VecDeque;
use tenure::lease::redlock::{Command, Config, Redlock, Reply, Request, Value};
use tenure::lease::{
    Boot, BudgetError, Claimant, Identity, Nonce, Refusal, Rule, Rules, Scheme, Switched,
};
use tenure::random::Random;
use tenure::{
    Duration, Election, Event, Input, Instant, Output, Standing, Ticket, Token, Unknown, Why,
};

/// What servers promise and do not keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Faults {
    /// Nothing but that they are away now and then.
    None,
    /// One comes back without its key, at once.
    Restart,
    /// One comes back without its key, after the longest lease: the delayed restart of the text.
    DelayedRestart,
    /// The wall clock of one jumps forward by a lease.
    Jump,
    /// One loses its key.
    Evict,
}

const TTL: u64 = 9_000_000;
/// For how many leases it storms.
const STORMY: u64 = 30;

/// One server.
#[derive(Clone, Debug, Default)]
struct Server {
    key: Option<(Value, u64)>,
    /// Its clock shows so much more.
    ahead: u64,
    /// It is away until then.
    away: u64,
}

impl Server {
    fn carry_out(&mut self, now: u64, command: Command) -> Reply {
        let now = now + self.ahead;
        self.key.take_if(|(_, until)| *until < now);
        let holds = |key: &Option<(Value, u64)>, value: &Value| {
            key.as_ref().is_some_and(|(held, _)| held == value)
        };
        match command {
            Command::Set(value, ttl) if self.key.is_none() => {
                self.key = Some((value, now + ttl.as_micros()));
                Reply::Granted
            }
            Command::Extend(value, ttl) if holds(&self.key, &value) => {
                self.key = Some((value, now + ttl.as_micros()));
                Reply::Granted
            }
            Command::Set(..) | Command::Extend(..) | Command::Look => {
                Reply::Held(self.key.as_ref().map(|(value, _)| value.clone()))
            }
            Command::Release(value) => {
                self.key.take_if(|(held, _)| *held == value);
                Reply::Released
            }
            Command::Delete => {
                self.key = None;
                Reply::Released
            }
        }
    }
}

/// All of them.
struct Servers {
    servers: Vec<Server>,
    faults: Faults,
    /// None of them fails from then on; set with the first question.
    calm: u64,
    random: Random,
    said: VecDeque<(usize, Ticket, Reply)>,
}

impl Servers {
    fn new(seed: u64, count: usize, faults: Faults) -> Self {
        let mut random = Random::from_seed(seed);
        let server = |_| Server {
            ahead: random.below(1 << 40),
            ..Server::default()
        };
        Self {
            servers: (0..count).map(server).collect(),
            faults,
            calm: 0,
            random,
            said: VecDeque::new(),
        }
    }

    fn fail(&mut self, now: u64, server: usize) {
        if self.calm == 0 {
            self.calm = now + STORMY * TTL;
        }
        if now > self.calm {
            return;
        }
        let server = &mut self.servers[server];
        if self.random.below(50) == 0 {
            server.away = server.away.max(now + self.random.below(TTL / 2));
        }
        if self.random.below(40) != 0 {
            return;
        }
        match self.faults {
            Faults::None => {}
            Faults::Jump => server.ahead += TTL,
            Faults::Evict | Faults::Restart => server.key = None,
            Faults::DelayedRestart => {
                server.key = None;
                // On the slowest clock of a server.
                server.away = server.away.max(now + TTL + TTL / 50);
            }
        }
    }
}

impl<R: Rules> Store<Redlock<R>> for Servers {
    fn ask(&mut self, now: u64, from: usize, ticket: Ticket, request: Request) {
        let place = usize::from(request.server);
        self.fail(now, place);
        let server = &mut self.servers[place];
        if server.away <= now {
            let reply = server.carry_out(now, request.command);
            self.said.push_back((from, ticket, reply));
        }
    }

    fn poll(&mut self) -> Option<(usize, Ticket, Reply)> {
        self.said.pop_front()
    }
}

fn config(name: &str) -> Config {
    Config::new(Claimant::new(Identity::new(name).unwrap()))
}

fn of(servers: u8) -> Config {
    Config {
        servers,
        ..config("anna")
    }
}

const BOOT: Boot = Boot {
    incarnation: 1,
    seed: 1,
};

fn boot(config: Config) -> Redlock {
    Redlock::new(config, BOOT, at(0)).unwrap()
}

fn at(micros: u64) -> Instant {
    Instant::from_micros(micros)
}

/// What a machine says and asks.
fn drain<R: Rules>(machine: &mut Redlock<R>) -> (Vec<Event>, Vec<(Ticket, Request)>) {
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

/// What it asks, and nothing else.
fn asks<R: Rules>(machine: &mut Redlock<R>) -> Vec<(Ticket, Request)> {
    drain(machine).1
}

fn is_set(request: &Request) -> bool {
    matches!(request.command, Command::Set(..))
}

/// The servers of some requests, all of them releases.
fn released(asked: &[(Ticket, Request)]) -> Vec<u8> {
    for (_, request) in asked {
        assert!(matches!(request.command, Command::Release(_)), "{asked:?}");
    }
    asked.iter().map(|(_, request)| request.server).collect()
}

fn tell<R: Rules>(machine: &mut Redlock<R>, now: u64, ticket: Ticket, reply: Reply) {
    machine.handle(at(now), Input::Reply(ticket, Ok(reply)));
}

fn another() -> Reply {
    Reply::Held(Some(Value {
        nonce: Nonce(5),
        claimant: config("ben").common.claimant,
    }))
}

/// A machine that was granted all keys at time 1, and its value.
fn holder(config: Config) -> (Redlock, Value) {
    let mut machine = boot(config);
    let asked = asks(&mut machine);
    let Command::Set(value, _) = asked[0].1.command.clone() else {
        panic!("{asked:?}")
    };
    for (ticket, _) in asked {
        tell(&mut machine, 1, ticket, Reply::Granted);
    }
    assert!(matches!(machine.standing(at(1)), Standing::Leading(_)));
    drain(&mut machine);
    (machine, value)
}

/// Goes to its next deadline.
fn next<R: Rules>(machine: &mut Redlock<R>) -> u64 {
    let now = machine.deadline().unwrap();
    machine.handle(now, Input::Timeout);
    now.as_micros()
}

/// Goes to the next time that it asks for something, and what that is.
fn until_asks(machine: &mut Redlock) -> (u64, Vec<(Ticket, Request)>) {
    loop {
        let now = next(machine);
        let asked = asks(machine);
        if !asked.is_empty() {
            return (now, asked);
        }
    }
}

#[test]
fn a_tenure_has_no_token_and_counts_from_the_first_send() {
    let mut machine = boot(config("anna"));
    let asked = asks(&mut machine);
    assert_eq!(asked.len(), 5);
    for (ticket, _) in &asked[..3] {
        tell(&mut machine, 400_000, *ticket, Reply::Granted);
    }
    let (events, _) = drain(&mut machine);
    let belief = machine.config().budget().unwrap().belief;
    let timing = config("anna").common.timing;
    let drift = timing.ttl.scaled_up(1, 100) + Duration::from_millis(2);
    assert!(belief + drift + timing.margin <= timing.ttl);
    let tenure = machine.tenure().unwrap();
    assert_eq!((tenure.token, tenure.until), (Token::NONE, at(0) + belief));
    let expected = [Event::Elected(Token::NONE), Event::Established(tenure)];
    assert_eq!(events, expected);
    // The other two come late, and change nothing.
    for (ticket, _) in &asked[3..] {
        tell(&mut machine, 500_000, *ticket, Reply::Granted);
    }
    assert_eq!(
        (machine.tenure(), drain(&mut machine)),
        (Some(tenure), (vec![], vec![]))
    );
    assert_eq!(machine.refusals().total(), 0);
}

/// LS-31, mike-marcacci/node-redlock#296, PR 369: a quorum that comes when the lease is nearly over was a lock all the same.
/// Here all keys are given up, also where it seemed to have failed.
#[test]
fn a_majority_that_comes_too_late_elects_nobody_and_is_given_up_everywhere() {
    let patient = |mut config: Config| {
        config.common.timing.patience = Duration::from_secs(9);
        config
    };
    let mut machine = boot(patient(config("anna")));
    let belief = machine.config().budget().unwrap().belief.as_micros();
    let asked = asks(&mut machine);
    tell(&mut machine, 1, asked[0].0, Reply::Granted);
    tell(&mut machine, 1, asked[1].0, Reply::NotDone);
    machine.handle(at(1), Input::Reply(asked[2].0, Err(Unknown)));
    tell(&mut machine, 2, asked[3].0, Reply::Granted);
    tell(&mut machine, belief, asked[4].0, Reply::Granted);
    let (events, asked) = drain(&mut machine);
    assert_eq!(
        (events, machine.standing(at(belief))),
        (vec![], Standing::Unknown)
    );
    assert_eq!(released(&asked), [0, 1, 2, 3, 4]);
    // A microsecond earlier it leads until then.
    let mut machine = boot(patient(config("anna")));
    for (ticket, _) in asks(&mut machine) {
        tell(&mut machine, belief - 1, ticket, Reply::Granted);
    }
    assert!(matches!(
        machine.standing(at(belief - 1)),
        Standing::Leading(_)
    ));
    assert_eq!(machine.standing(at(belief)), Standing::Unknown);
}

/// LS-33, go-redsync/redsync#72: a lock counted as valid because servers still named its holder, in answers of ten seconds.
/// Here what servers hold elects and extends nothing, and a round counts from its send however late its answers come.
#[test]
fn only_the_end_that_was_counted_from_the_send_is_valid() {
    let mut observer = config("anna");
    observer.common.candidate = false;
    let (_, own) = holder(config("anna"));
    let life = Boot {
        incarnation: 2,
        ..BOOT
    };
    let mut machine = Redlock::new(observer, life, at(0)).unwrap();
    for (ticket, request) in asks(&mut machine) {
        assert_eq!(request.command, Command::Look);
        tell(&mut machine, 1, ticket, Reply::Held(Some(own.clone())));
    }
    assert!(matches!(machine.standing(at(1)), Standing::Following(_)));

    let (mut machine, _) = holder(config("anna"));
    let (sent, asked) = until_asks(&mut machine);
    let belief = machine.config().budget().unwrap().belief;
    // Its patience is over, and another round has not begun.
    let now = next(&mut machine);
    assert_eq!(asks(&mut machine), []);
    for (ticket, _) in &asked {
        tell(&mut machine, now + 1, *ticket, Reply::Granted);
    }
    assert_eq!(machine.tenure().unwrap().until, at(sent) + belief);
}

/// LS-34, go-redsync/redsync#186, redisson/redisson#2648: one of three servers loses the key, and another gets three of five.
/// Two hold it: expected of this scheme, and no guard can tell them apart.
#[test]
fn a_key_that_is_lost_lets_two_hold_it_and_neither_has_a_token() {
    let mut servers = Servers::new(1, 5, Faults::None).servers;
    for server in &mut servers[3..] {
        server.away = u64::MAX;
    }
    let first = elected(&mut servers, "anna");
    servers[2].key = None;
    for (server, away) in servers.iter_mut().zip([u64::MAX, u64::MAX, 0, 0, 0]) {
        server.away = away;
    }
    let second = elected(&mut servers, "ben");
    for machine in [first, second] {
        let Standing::Leading(tenure) = machine.standing(at(1_000_000)) else {
            panic!("both believe")
        };
        assert!(!tenure.token.is_issued());
    }
}

/// A node of this name, asked once by servers of which a majority answers.
fn elected(servers: &mut [Server], name: &str) -> Redlock {
    let mut machine = boot(config(name));
    for (ticket, request) in asks(&mut machine) {
        let server = &mut servers[usize::from(request.server)];
        if server.away <= 1 {
            let reply = server.carry_out(1, request.command);
            tell(&mut machine, 1, ticket, reply);
        }
    }
    assert!(
        matches!(machine.standing(at(1)), Standing::Leading(_)),
        "{name}"
    );
    machine
}

/// LS-F3: the clock of C jumps. LS-F3': C crashes before its write is synced, and is back at once. Either way C grants again,
/// and two hold three of five.
#[test]
fn a_clock_that_jumps_and_a_restart_without_the_tail_let_two_hold_it() {
    type Fault = fn(&mut Server);
    let faults: [Fault; 2] = [|c| c.ahead += TTL + 1_000, |c| c.key = None];
    for fault in faults {
        let mut servers = Servers::new(1, 5, Faults::None).servers;
        (servers[3].away, servers[4].away) = (u64::MAX, u64::MAX);
        let first = elected(&mut servers, "anna");
        fault(&mut servers[2]);
        (servers[0].away, servers[1].away) = (u64::MAX, u64::MAX);
        (servers[3].away, servers[4].away) = (0, 0);
        let second = elected(&mut servers, "ben");
        for machine in [first, second] {
            assert!(matches!(machine.standing(at(2)), Standing::Leading(_)));
        }
    }
}

/// LS-F4: the process stands still between the sends and the answers, and the keys are another's when it reads five times OK.
#[test]
fn answers_that_are_read_after_a_pause_elect_nobody() {
    let mut servers = Servers::new(1, 5, Faults::None).servers;
    let mut machine = boot(config("anna"));
    let replies: Vec<(Ticket, Reply)> = (asks(&mut machine).into_iter())
        .map(|(ticket, request)| {
            let server = &mut servers[usize::from(request.server)];
            (ticket, server.carry_out(0, request.command))
        })
        .collect();
    for (ticket, reply) in replies {
        assert_eq!(reply, Reply::Granted);
        tell(&mut machine, TTL + 1_000, ticket, reply);
    }
    let (events, asked) = drain(&mut machine);
    assert_eq!((events, machine.tenure()), (vec![], None));
    assert_eq!(released(&asked), [0, 1, 2, 3, 4]);
}

/// LS-36, redisson/redisson#775, #3194, #5698, #3636: a renewal that fails is tried until the tenure ends, and nothing is set
/// anew beside another's key.
#[test]
fn a_round_that_fails_is_tried_until_the_tenure_ends_and_sets_nothing() {
    let (mut machine, own) = holder(config("anna"));
    let (mut rounds, mut deposed) = (0, Vec::new());
    while deposed.is_empty() {
        let now = next(&mut machine);
        let (events, asked) = drain(&mut machine);
        deposed = events;
        let (first, _) = asked.first().map_or((0, 0), |_| (1, 0));
        rounds += first * usize::from(deposed.is_empty());
        for (ticket, request) in asked.into_iter().filter(|_| deposed.is_empty()) {
            assert!(matches!(request.command, Command::Extend(value, _) if value == own));
            if request.server < 2 {
                tell(&mut machine, now, ticket, Reply::Granted);
            }
        }
    }
    assert_eq!(deposed, [Event::Deposed(Token::NONE, Why::Lapsed)]);
    assert!(rounds >= 3, "{rounds}");
}

/// LS-36: when too many say that their key is another's, or is gone, it cannot be extended any more, and that is over at once.
#[test]
fn a_tenure_that_no_majority_can_extend_is_over_at_once() {
    for (servers, enough) in [(5, 3), (4, 2), (1, 1)] {
        let (mut machine, _) = holder(of(servers));
        let (now, asked) = until_asks(&mut machine);
        for (ticket, _) in &asked[1..enough] {
            tell(&mut machine, now, *ticket, Reply::Held(None));
        }
        assert!(machine.tenure().is_some(), "{servers}");
        tell(&mut machine, now, asked[0].0, another());
        let (events, asked) = drain(&mut machine);
        assert_eq!(
            events[0],
            Event::Deposed(Token::NONE, Why::Taken),
            "{servers}"
        );
        assert_eq!(released(&asked).len(), usize::from(servers));
    }
}

/// LS-38, SPSCommerce/redlock-py PR 6: a majority is one of all that are configured, not of the three that can be reached.
#[test]
fn two_of_three_that_answer_are_no_majority_of_five() {
    let answer = |asked: Vec<(Ticket, Request)>, tell: &mut dyn FnMut(Ticket, Reply)| {
        for (ticket, request) in asked {
            match request.server {
                0 | 1 => tell(ticket, Reply::Granted),
                2 => tell(ticket, another()),
                _ => {}
            }
        }
    };
    let mut machine = boot(config("anna"));
    let asked = asks(&mut machine);
    answer(asked, &mut |ticket, reply| {
        tell(&mut machine, 1, ticket, reply)
    });
    next(&mut machine);
    // Given up where it was granted, and where it may have been.
    assert_eq!(released(&asks(&mut machine)), [0, 1, 3, 4]);
    assert_eq!(machine.tenure(), None);

    let off = Switched::without(&[Rule::MajorityOfConfigured]);
    let mut careless = Redlock::with_rules(config("anna"), BOOT, at(0), off).unwrap();
    let asked = asks(&mut careless);
    answer(asked, &mut |ticket, reply| {
        tell(&mut careless, 1, ticket, reply)
    });
    next(&mut careless);
    assert!(careless.tenure().is_some());
}

/// node-redlock's promise never settled when the votes of an even number split in halves (§1.3).
#[test]
fn votes_that_split_in_halves_elect_nobody_and_it_goes_on() {
    for servers in [2, 4] {
        let mut machine = boot(of(servers));
        for (ticket, request) in asks(&mut machine) {
            let granted = request.server < servers / 2;
            let reply = if granted { Reply::Granted } else { another() };
            tell(&mut machine, 1, ticket, reply);
        }
        let given_up = asks(&mut machine);
        assert_eq!(released(&given_up).len(), usize::from(servers / 2));
        for (ticket, _) in given_up {
            tell(&mut machine, 2, ticket, Reply::Released);
        }
        while !until_asks(&mut machine)
            .1
            .iter()
            .all(|(_, request)| is_set(request))
        {}
        assert_eq!(machine.refusals().total(), 0);
    }
}

/// LS-39r, abelaska/jedis-lock#2, errorception/redis-lock#29, nexspence/nexspence#223, kent8192/reinhardt-web#740: a DEL without
/// a look frees the successor's key. The own value goes with the release.
#[test]
fn what_is_given_up_are_the_own_keys_alone() {
    let (mut machine, own) = holder(config("anna"));
    machine.handle(at(2), Input::Resign { to: None });
    for (_, request) in asks(&mut machine) {
        assert_eq!(request.command, Command::Release(own.clone()));
    }
    let off = Switched::without(&[Rule::CompareAndDelete]);
    let mut careless = Redlock::with_rules(config("anna"), BOOT, at(0), off).unwrap();
    for (ticket, _) in asks(&mut careless) {
        tell(&mut careless, 1, ticket, Reply::Granted);
    }
    careless.handle(at(2), Input::Resign { to: None });
    for (_, request) in asks(&mut careless) {
        assert_eq!(request.command, Command::Delete);
    }
}

/// LS-19, of every scheme: a release is tried where it was not acknowledged, until it is or the lease is over; then it stands
/// back, and looks who comes.
#[test]
fn a_release_is_tried_where_it_was_not_acknowledged_until_the_lease_is_over() {
    let (mut machine, _) = holder(config("anna"));
    machine.handle(at(2), Input::Resign { to: None });
    let (events, asked) = drain(&mut machine);
    assert_eq!(events, [Event::Deposed(Token::NONE, Why::Resigned)]);
    assert!(machine.releasing());
    for (ticket, request) in asked {
        if request.server != 3 {
            tell(&mut machine, 3, ticket, Reply::Released);
        }
    }
    let ttl = config("anna").common.timing.ttl.as_micros();
    let mut tries = 0;
    let mut last = 0;
    let looked = loop {
        let (now, asked) = until_asks(&mut machine);
        if asked.len() == 5 {
            break (now, asked);
        }
        assert_eq!(released(&asked), [3]);
        (tries, last) = (tries + 1, now);
    };
    assert!(tries > 5 && last > ttl * 9 / 10, "{tries} {last}");
    assert!(looked.1.iter().all(|(_, request)| is_set(request)) && looked.0 >= ttl);
    assert!(!machine.releasing());

    // Where all have acknowledged it, it looks who leads, and asks for nothing until the lease is over.
    let (mut machine, _) = holder(config("anna"));
    machine.handle(at(2), Input::Resign { to: None });
    for (ticket, _) in asks(&mut machine) {
        tell(&mut machine, 3, ticket, Reply::Released);
    }
    assert!(!machine.releasing());
    let (now, asked) = until_asks(&mut machine);
    assert!(
        asked
            .iter()
            .all(|(_, request)| request.command == Command::Look)
    );
    for (ticket, _) in asked {
        tell(&mut machine, now, ticket, another());
    }
    let ben = config("ben").common.claimant;
    assert_eq!(machine.holder(), Some(ben.clone()));
    assert!(
        matches!(machine.standing(at(now)), Standing::Following(leader) if leader.node == ben.identity.node())
    );
}

/// LS-R4: a key that was granted when nobody waited for it any more would keep others out for a lease.
#[test]
fn a_key_that_is_granted_after_its_attempt_was_given_up_is_given_up_too() {
    let mut machine = boot(config("anna"));
    let first = asks(&mut machine);
    let Command::Set(value, _) = first[4].1.command.clone() else {
        panic!("{first:?}")
    };
    for (ticket, _) in &first[..3] {
        tell(&mut machine, 1, *ticket, another());
    }
    let given_up = asks(&mut machine);
    assert_eq!(released(&given_up), [3, 4]);
    for (ticket, _) in given_up {
        tell(&mut machine, 2, ticket, Reply::Released);
    }
    // It overtook the release, or came out of a buffer after it.
    tell(&mut machine, 3, first[4].0, Reply::Granted);
    let asked = asks(&mut machine);
    assert_eq!(asked.len(), 1);
    let again = Request {
        server: 4,
        command: Command::Release(value.clone()),
    };
    assert_eq!(asked[0].1, again);
    // And one that a server names in a later round.
    let second = loop {
        let (now, asked) = until_asks(&mut machine);
        if asked.iter().all(|(_, request)| is_set(request)) {
            break (now, asked);
        }
    };
    let (now, asked) = second;
    tell(&mut machine, now, asked[4].0, Reply::Held(Some(value)));
    assert_eq!(asks(&mut machine)[0].1, again);
    assert_eq!(machine.refusals().total(), 0);
}

#[test]
fn answers_that_cannot_be_true_are_refused_and_counted() {
    let mut machine = boot(config("anna"));
    let asked = asks(&mut machine);
    let number = asked[0].0.number;
    for (incarnation, number) in [
        (2, number),
        (1, number + 64),
        (1, number + 5),
        (1, u64::MAX),
    ] {
        let ticket = Ticket {
            incarnation,
            number,
        };
        tell(&mut machine, 1, ticket, Reply::Granted);
    }
    for reply in [Reply::Granted, Reply::Granted] {
        tell(&mut machine, 1, asked[0].0, reply);
    }
    assert_eq!(machine.refusals().count(Refusal::UnknownTicket), 5);
    tell(&mut machine, 1, asked[1].0, Reply::Released);
    assert_eq!(machine.refusals().count(Refusal::WrongAnswer), 1);
    assert_eq!(machine.tenure(), None);
}

#[test]
fn a_number_of_servers_that_is_none_or_too_high_is_refused() {
    for (servers, why) in [
        (0, BudgetError::Zero("servers")),
        (17, BudgetError::TooManyServers(17)),
    ] {
        assert_eq!(of(servers).budget(), Err(why));
        assert!(Redlock::new(of(servers), BOOT, at(0)).is_err());
    }
    assert!(of(16).budget().is_ok());
}

const THREE: [&str; 3] = ["anna", "ben", "cleo"];

fn storm_of<R: Rules + 'static>(
    seed: u64,
    names: &[&str],
    weather: Weather,
    faults: Faults,
    boot: impl Fn(tenure::lease::Config, Boot, Instant) -> Redlock<R> + 'static,
) -> Run {
    let configs: Vec<_> = names.iter().map(|name| config(name).common).collect();
    let mut servers = Servers::new(seed, 5, faults);
    if !weather.faults {
        servers.calm = 1;
    }
    let (storm, configs) = Storm::new(seed, &configs, servers, weather, false, boot);
    match faults {
        Faults::None | Faults::DelayedRestart => storm.run(&configs, STORMY),
        _ => storm.excused().run(&configs, STORMY),
    }
}

fn storm(seed: u64, names: &[&str], weather: Weather, faults: Faults) -> Run {
    storm_of(seed, names, weather, faults, |common, boot, now| {
        Redlock::new(Config { common, servers: 5 }, boot, now).unwrap()
    })
}

#[test]
fn in_any_weather_nobody_believes_beside_another() {
    let calm = storm(1, &THREE, Weather::CALM, Faults::None);
    assert_eq!((calm.broken, calm.lapsed), (None, 0));
    let (mut tenures, mut lapsed) = (0, 0);
    for seed in 0..2000 {
        let names: &[&str] = match seed % 4 {
            0 => &["anna", "anna", "ben"],
            _ => &THREE,
        };
        let run = storm(seed, names, Weather::STORM, Faults::None);
        assert_eq!(run.broken, None, "seed {seed}");
        (tenures, lapsed) = (tenures + run.tenures, lapsed + run.lapsed);
        // As over one server, and once more: of several at once maybe nobody gets a majority.
        let (budget, ttl) = (config("anna").budget().unwrap(), Duration::from_micros(TTL));
        let takeover = (budget.takeover + budget.takeover + ttl + ttl + ttl).as_micros();
        assert!(
            run.led_after.is_some_and(|after| after <= takeover),
            "seed {seed}: {run:?}"
        );
    }
    assert!(tenures > 10_000 && lapsed > 1_000, "{tenures} {lapsed}");
}

/// LS-F3, LS-F3', LS-34: what no client can repair, and here no guard either.
#[test]
fn a_server_that_loses_its_key_or_its_time_lets_two_believe() {
    for faults in [Faults::Restart, Faults::Jump, Faults::Evict] {
        let overlaps = |seed| storm(seed, &THREE, Weather::STORM, faults).overlap > 0;
        assert!((0..300).any(overlaps), "{faults:?}");
    }
}

/// Redis's text: a server that crashed and stays out for the longest lease is as if it had kept its key.
#[test]
fn a_delayed_restart_costs_the_key_and_lets_nobody_in() {
    for seed in 0..500 {
        let run = storm(seed, &THREE, Weather::STORM, Faults::DelayedRestart);
        assert_eq!(run.broken, None, "seed {seed}");
    }
}

#[test]
fn each_rule_that_is_off_breaks_what_it_protects_and_no_other_matters() {
    rules::judge(Scheme::Redlock, |seed, names, rules| {
        storm_of(
            seed,
            names,
            LATE,
            Faults::None,
            move |mut common, boot, now| {
                // So that answers count that come late.
                common.timing.patience = Duration::from_secs(4);
                let config = Config { common, servers: 5 };
                Redlock::with_rules(config, boot, now, rules).unwrap()
            },
        )
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

/// From one deadline to the next, with servers that all answer the same.
fn idle(machine: &mut Redlock, times: u64, replies: &mut Vec<Reply>) {
    for _ in 0..times {
        let now = machine.deadline().unwrap();
        machine.handle(now, Input::Timeout);
        while let Some(output) = machine.poll() {
            if let Output::Request(ticket, _) = output {
                let reply = replies.pop().unwrap_or(Reply::Granted);
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
        let mut machine = Redlock::new(anna.clone(), BOOT, at(0)).unwrap();
        idle(&mut machine, 100, &mut Vec::new());
        kept = Some(machine);
    });
    let (mut machine, heap) = (kept.unwrap(), counted.bytes_current);
    assert!(machine.tenure().is_some());
    // Struct, and what is to be said; the name is the host's.
    let all = size_of::<Redlock>() as i64 + heap;
    assert!(all <= 512, "{} + {heap}", size_of::<Redlock>());
    let steady = measure(|| idle(&mut machine, 10_000, &mut Vec::new()));
    assert_eq!(steady.count_total, 0);

    let mut replies = vec![another(); 100_000];
    let mut waiter = boot(config("anna"));
    idle(&mut waiter, 100, &mut replies);
    assert!(matches!(
        waiter.standing(waiter.deadline().unwrap()),
        Standing::Following(_)
    ));
    let steady = measure(|| idle(&mut waiter, 10_000, &mut replies));
    assert_eq!((steady.count_total, replies.is_empty()), (0, false));
}
