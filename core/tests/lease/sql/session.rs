//! The lock of a session: under a hostile host and network, and beside a server that ends sessions as it likes.

use super::config;
use crate::rules::{self, LATE};
use crate::storm::{Run, Store, Storm, Weather};
use std::collections::{BTreeMap, VecDeque};
use tenure::Ticket;
use tenure::lease::sql::session::{Call, Config, Reply, Request, Row, Session};
use tenure::lease::{Claimant, Nonce, Rules, Scheme};
use tenure::random::Random;

/// A connection: of which node, in which of its lives, and which of that.
type Connection = (usize, u64, u32);

/// The server: the row, the lock, and whom it takes for connected.
pub(crate) struct Server {
    pub(crate) row: Option<Stored>,
    pub(crate) lock: Option<Connection>,
    /// When it heard from each the last time.
    heard: BTreeMap<Connection, u64>,
    /// The latest connection of each node; whether the server ended it.
    latest: BTreeMap<usize, (Connection, bool)>,
    /// Whom to tell of its end.
    watches: BTreeMap<Connection, Ticket>,
    idle: u64,
    /// Whether the lock keeps others out: not behind a pooler that gives each statement another connection.
    pub(crate) excludes: bool,
    said: VecDeque<(usize, Ticket, Reply)>,
    /// Which it makes, if any.
    faults: Option<Random>,
    begun: Option<u64>,
}

pub(crate) struct Stored {
    holder: Option<Claimant>,
    nonce: Nonce,
    pub(crate) epoch: u64,
}

impl Server {
    /// One that makes faults, drawn from this seed, or none.
    pub(crate) fn new(seed: Option<u64>) -> Self {
        Self {
            row: None,
            lock: None,
            heard: BTreeMap::new(),
            latest: BTreeMap::new(),
            watches: BTreeMap::new(),
            idle: config("x").timing.ttl.as_micros(),
            excludes: true,
            said: VecDeque::new(),
            faults: seed.map(Random::from_seed),
            begun: None,
        }
    }

    /// `pg_terminate_backend`.
    pub(crate) fn end(&mut self, connection: Connection) {
        self.heard.remove(&connection);
        if self.lock == Some(connection) {
            self.lock = None;
        }
        // A node may not hear of it before it asks for something.
        let heard = self
            .faults
            .as_mut()
            .is_none_or(|faults| faults.below(2) == 0);
        if let Some(ticket) = self.watches.remove(&connection)
            && heard
        {
            self.said.push_back((connection.0, ticket, Reply::Ended));
        }
        for (latest, ended) in self.latest.values_mut() {
            *ended |= *latest == connection;
        }
    }

    fn end_all(&mut self) {
        while let Some((connection, _)) = self.heard.first_key_value() {
            self.end(*connection);
        }
    }

    /// One that it heard nothing of for too long.
    fn silent(&self, now: u64) -> Option<Connection> {
        let mut all = self.heard.iter();
        all.find_map(|(connection, heard)| (heard + self.idle <= now).then_some(*connection))
    }

    /// Sessions end as long as it storms.
    fn misbehave(&mut self, now: u64) {
        let Some(faults) = &mut self.faults else {
            return;
        };
        let begun = *self.begun.get_or_insert(now);
        if now > begun + 28 * self.idle {
            return;
        }
        match (faults.below(300), self.lock) {
            (0, _) => self.end_all(),
            (1..6, Some(holder)) => self.end(holder),
            _ => {}
        }
    }

    /// Whether the connection is there: it is opened when it is new. The node has closed the one before it, of which the
    /// server may not hear until it ends that by itself.
    fn connect(&mut self, now: u64, connection: Connection) -> bool {
        let (latest, ended) = *self
            .latest
            .entry(connection.0)
            .or_insert((connection, false));
        if latest < connection {
            let faults = self.faults.as_mut();
            if faults.is_none_or(|faults| faults.below(2) == 0) {
                self.end(latest);
            }
            self.latest.insert(connection.0, (connection, false));
        } else if latest > connection || ended {
            return false;
        }
        self.heard.insert(connection, now);
        true
    }

    fn carry_out(&mut self, connection: Connection, call: Call) -> Reply {
        match call {
            Call::Open { .. } => unreachable!("it is not answered yet"),
            Call::Take {
                claimant,
                nonce,
                former,
                ..
            } => {
                let other = |holder| holder != connection;
                if self.excludes && self.lock.is_some_and(other) {
                    return self.seen();
                }
                self.lock = Some(connection);
                let before = self.row.as_ref();
                let interrupted =
                    before.is_some_and(|row| row.holder.is_some() && Some(row.nonce) != former);
                let epoch = before.map_or(1, |row| row.epoch + 1);
                self.row = Some(Stored {
                    holder: Some(claimant),
                    nonce,
                    epoch,
                });
                Reply::Taken { epoch, interrupted }
            }
            Call::Probe { nonce, epoch } => {
                let own = |row: &Stored| (row.nonce, row.epoch) == (nonce, epoch);
                let own = self.row.as_ref().is_some_and(own);
                if own && (self.lock == Some(connection) || !self.excludes) {
                    Reply::Held
                } else {
                    self.seen()
                }
            }
            Call::Release { nonce, epoch } => {
                if let Some(row) = &mut self.row
                    && (row.nonce, row.epoch) == (nonce, epoch)
                {
                    (row.holder, row.epoch) = (None, epoch + 1);
                }
                if self.lock == Some(connection) {
                    self.lock = None;
                }
                Reply::Released
            }
            Call::Look => self.seen(),
        }
    }

    fn seen(&self) -> Reply {
        Reply::Row(self.row.as_ref().map(|row| Row {
            holder: row.holder.clone(),
            nonce: row.nonce,
            epoch: row.epoch,
            locked: self.lock.is_some(),
        }))
    }
}

impl<R: Rules> Store<Session<R>> for Server {
    fn ask(&mut self, now: u64, from: usize, ticket: Ticket, request: Request) {
        self.misbehave(now);
        let connection = (from, ticket.incarnation, request.session);
        let reply = if !self.connect(now, connection) {
            Reply::Ended
        } else if let Call::Open { .. } = request.call {
            self.watches.insert(connection, ticket);
            return;
        } else {
            self.carry_out(connection, request.call)
        };
        self.said.push_back((from, ticket, reply));
    }

    fn poll(&mut self) -> Option<(usize, Ticket, Reply)> {
        self.said.pop_front()
    }

    fn due(&self) -> Option<u64> {
        self.heard.values().min().map(|heard| heard + self.idle)
    }

    fn wake(&mut self, now: u64) {
        while let Some(connection) = self.silent(now) {
            self.end(connection);
        }
    }
}

/// How who takes part does so by a session.
pub(crate) const fn session(common: tenure::lease::Config) -> Config {
    Config { common }
}

fn storm(seed: u64, names: &[&str], weather: Weather) -> Run {
    let configs: Vec<_> = names.iter().map(|name| config(name)).collect();
    let boot = |config, boot, now| Session::new(session(config), boot, now).unwrap();
    let faults = weather.faults.then_some(seed);
    let (storm, configs) = Storm::new(seed, &configs, Server::new(faults), weather, true, boot);
    storm.run(&configs, 30)
}

#[test]
fn in_any_weather_nobody_believes_beside_another() {
    let (mut tenures, mut lapsed) = (0, 0);
    for seed in 0..2000 {
        let names: &[&str] = if seed % 4 == 0 {
            &["anna", "anna", "ben"]
        } else {
            &["anna", "ben", "cleo"]
        };
        let run = storm(seed, names, Weather::STORM);
        assert_eq!(run.broken, None, "seed {seed}");
        let config = config("anna");
        // One who resigned stands back for a lease.
        let takeover = session(config.clone()).budget().unwrap().takeover + config.timing.ttl;
        let takeover = (takeover + config.timing.ttl + config.timing.ttl).as_micros();
        assert!(
            run.led_after.is_some_and(|after| after <= takeover),
            "seed {seed}: {run:?}"
        );
        (tenures, lapsed) = (tenures + run.tenures, lapsed + run.lapsed);
    }
    assert!(tenures > 8_000 && lapsed > 2_000, "{tenures} {lapsed}");
}

/// LS-46: a pooler in transaction mode gives each statement whatever connection is free, which is inside the lock already or
/// not. Then it keeps nobody out, and who leads changes all the time; but never two believe.
#[test]
fn a_lock_that_keeps_nobody_out_costs_leaders_and_not_safety() {
    let mut tenures = 0;
    for seed in 0..500 {
        let config = config("anna");
        let boot = |config, boot, now| Session::new(session(config), boot, now).unwrap();
        let mut server = Server::new(Some(seed));
        server.excludes = false;
        let configs = [config.clone(), config.clone(), config];
        let (storm, configs) = Storm::new(seed, &configs, server, Weather::STORM, true, boot);
        let run = storm.run(&configs, 30);
        assert_eq!(run.broken, None, "seed {seed}");
        tenures += run.tenures;
    }
    assert!(tenures > 500, "{tenures}");
}

#[test]
fn each_rule_that_is_off_breaks_what_it_protects_and_no_other_matters() {
    rules::judge(Scheme::SqlSession, |seed, names, rules| {
        let configs: Vec<_> = names.iter().map(|name| config(name)).collect();
        let boot = move |config, boot, now| {
            Session::with_rules(session(config), boot, now, rules).unwrap()
        };
        let server = Server::new(Some(seed));
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
    assert!((0..500).any(|seed| {
        storm(seed, &["anna", "ben", "cleo"], weather)
            .broken
            .is_some()
    }));
}

#[test]
fn in_calm_weather_one_leads_and_goes_on() {
    let run = storm(1, &["anna", "ben", "cleo"], Weather::CALM);
    assert_eq!((run.broken, run.tenures, run.lapsed), (None, 1, 0));
    assert!(run.vacant < 200_000, "{run:?}");
}
