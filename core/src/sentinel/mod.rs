//! Redis Sentinel: processes that watch a master and its replicas, agree that it is down, elect one among them, and have that
//! one promote a replica.
//!
//! **Who leads.** Two different things are elected. Sentinels elect one of *them*, in an epoch and for one failover alone: it has the
//! votes of a majority of all known sentinels, each of which votes once an epoch for each master. And that one makes a data
//! server the master: the configuration (epoch of the failover, address) goes round in hellos, and the highest epoch wins.
//! Sentinel is not Raft: it has no log, votes know nothing of who has which data, and the last failover wins.
//!
//! **Who takes over.** A sentinel that has heard nothing of the master for `down_after` holds it to be down (SDOWN). When a quorum
//! does (ODOWN), one tries: it is elected, chooses the replica with the most data, orders it to follow nobody, and the others to
//! follow it. Attempts that fail are as far apart as two failover timeouts, six minutes by default. A replica that lost touch with
//! its master long before that one was gone is not chosen: the shipped Sentinel counts from its own SDOWN, so that sentinels that
//! woke after the master had died choose nobody, for ever (redis#5677), and this one from the master's last sign of life
//! ([`Rule::LastSignOfLife`]).
//!
//! **What stops the old master.** Nothing. It takes writes until a sentinel reaches it and makes it a replica, and then throws
//! away what the new one does not have: acknowledged writes are lost by design. `min-replicas-to-write` bounds how many. The
//! token that there is, (config epoch, address), is known to sentinels alone: [`Standing::Following`] has it, for a proxy or a
//! client that refuses a lower one.
//!
//! **What it costs.** A ping a second from each sentinel to each server and sentinel, a hello every two, and INFO every ten: three
//! sentinels or more, apart from the data. A failover is `down_after` and a second or two; whoever lost a vote waits for minutes.
//!
//! **When it suffices.** For a cache, or for data of which the last moments may be lost.
//!
//! **What breaks it.** Every failover that comes before the replica has what was acknowledged. A partition with clients on both
//! sides: two masters. A quorum set below a majority only says sooner that the master is down; a majority of sentinels that are
//! gone and were never reset keeps the rest from promoting anybody.
//!
//! **What [`Election`] shows.** Each watched master has its elections; the trait shows those of the first one, and
//! [`news`](Sentinel::poll_news) tells of all. *Elected*: this sentinel may choose a replica ([`Stage::SelectReplica`]).
//! *Established*: the replica has said that it is a master, and the file says so, too. Then it leads, until all replicas follow or
//! the time for that is over; that is told as [`Why::Resigned`]. There is no lease: a tenure has no end but these, and two
//! sentinels of different epochs may lead at once. Who does not lead follows the master that it holds for the right one:
//! [`Leader::node`] is a data server, its token has the config epoch, 0 where nobody was elected for it.
//! [`Input::Campaign`] has no effect: a sentinel stands when a quorum holds the master to be down, or
//! [by hand](Sentinel::failover). [`Input::Resign`] gives up a failover that has promoted nobody yet.
//!
//! **Invariants**, all checked from outside by `tests/sentinel`: [`Invariant`] has them by name. Those that one vote an epoch and a
//! majority give hold while all sentinels know of the same ones: after a `RESET`, or while they learn of each other, their
//! majorities may not meet; that is so in the real one, too.
//!
//! **Where it differs from the shipped one**, besides the [`Rule::REPAIRS`], each of which can be switched off: a request waits for
//! the disk, like an answer, so that the own vote is durable, too, before another hears of the epoch; a failed write ends this
//! life; an answer names its question; what others said of a master is forgotten with its address; a failover is over when its time
//! is, though the promoted replica is down again (SEN-F6).
//!
//! **Left out:** scripts, ACL, TLS and host names, connections and their sharing (the age of a ping says what a link would, SEN-D2,
//! and [`Message::Closed`] that one was closed), renamed commands, `CLIENT KILL`, and the transport of Publish/Subscribe: a data
//! server passes a hello on to whoever published there lately.
//!
//! One file an idea: [`Config`] and `timing` (parameters), [`File`] (what is durable) and `durable` (law C1), [`Message`], [`Rule`]
//! (switches), [`News`]; inside `instance` (one node that is watched) and [`Master`] (one master); `tick` (the order of things, and
//! tilt), `detect` (SEN-D), `vote` (SEN-V), `hello` (SEN-V5, SEN-V6, discovery), `failover` (SEN-F), `select` (SEN-F3), `repair`
//! (SEN-R), `refuse`, `explore` (law C10). And [`data`]: a data server.

mod config;
pub mod data;
mod detect;
mod durable;
mod explore;
mod failover;
mod file;
mod hello;
mod instance;
mod master;
mod message;
mod names;
mod news;
mod refuse;
mod repair;
mod rules;
mod select;
mod tick;
pub mod timing;
mod vote;

pub use config::{
    Config, ConfigError, MAX_EPOCH, MAX_LEAP, MAX_MASTERS, MAX_REPLICAS, MAX_SENTINELS, MAX_SPAN,
    Monitor,
};
pub use failover::FailoverRefused;
pub use file::{Boot, File, Kept};
pub use master::{Master, Reconf, Replica, Seen, Sentry, Stage};
pub use message::{Hello, Life, Message, Report, Role};
pub use names::{MasterName, RunId};
pub use news::News;
pub use refuse::{Refusal, Refusals};
pub use rules::{Faithful, Invariant, Rule, Rules, Switched};

use crate::random::Random;
use crate::{
    Duration, Election, Event, Input, Instant, Leader, NodeId, Output, Standing, Tenure, Ticket,
    Token, Why,
};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::hash::Hasher;
use durable::Durable;
use news::Board;

/// A sentinel. `Sentinel` is `Sentinel<Faithful>`; other rule sets are for learning and testing.
#[derive(Clone, Debug)]
pub struct Sentinel<R: Rules = Faithful> {
    config: Config,
    rules: R,
    random: Random,
    /// The latest `now` seen. **Invariant:** never falls.
    now: Instant,
    /// When the last tick was, and when the next is due.
    ticked: Instant,
    tick_at: Instant,
    /// Since when it only watches.
    tilt: Option<Instant>,
    id: RunId,
    /// **Invariant:** never falls, and is at least the config epoch and the leader epoch of each master.
    current_epoch: u64,
    masters: Vec<Master>,
    durable: Durable,
    /// The number of the newest question.
    asked: u64,
    /// The token of the failover for which it was elected that the trait shows, until it is over.
    office: Option<Token>,
    /// What the host was last told that it follows.
    followed: Option<Leader>,
    halted: bool,
    news: Board,
    refusals: Refusals,
    outbox: VecDeque<Output<Message, File>>,
}

impl Sentinel {
    /// A sentinel that keeps every rule, the [`REPAIRS`](Rule::REPAIRS) included.
    ///
    /// # Errors
    /// What cannot be configured, or a file that no sentinel wrote; each with its remedy.
    pub fn new(config: Config, boot: Boot, now: Instant) -> Result<Self, ConfigError> {
        Self::with_rules(config, boot, now, Faithful)
    }
}

impl<R: Rules> Sentinel<R> {
    /// A sentinel with some rules switched off.
    ///
    /// # Errors
    /// As [`Sentinel::new`].
    pub fn with_rules(
        config: Config,
        boot: Boot,
        now: Instant,
        rules: R,
    ) -> Result<Self, ConfigError> {
        config.validate()?;
        let Boot {
            stored,
            incarnation,
            seed,
        } = boot;
        if incarnation == 0 {
            return Err(ConfigError::IncarnationZero);
        }
        let fresh = stored.is_none();
        let stored = stored.unwrap_or_default();
        stored.check(config.generation)?;
        let mixed = rules.keeps(Rule::SeedMixedWithNode);
        let (node, life) = if mixed {
            (config.id, incarnation)
        } else {
            (NodeId(0), 0)
        };
        let mut sentinel = Self {
            random: Random::new(seed, node, life),
            now,
            ticked: now,
            tick_at: now,
            tilt: None,
            // Who it is comes from elsewhere than what it draws: equal seeds do not make two of them one.
            id: if fresh {
                RunId(Random::new(!seed, config.id, incarnation).bits())
            } else {
                stored.id
            },
            current_epoch: stored.current_epoch,
            masters: Vec::new(),
            durable: Durable::new(incarnation),
            asked: 0,
            office: None,
            followed: None,
            halted: false,
            news: Board::default(),
            refusals: Refusals::default(),
            outbox: VecDeque::new(),
            config,
            rules,
        };
        sentinel.masters = (sentinel.config.masters.iter())
            .map(|monitor| {
                let kept = (stored.masters.iter()).find(|kept| kept.name == monitor.name);
                let Some(kept) = kept else {
                    return Master::new(monitor.clone(), monitor.address, now);
                };
                let mut master = Master::new(monitor.clone(), kept.address, now);
                master.config_epoch = kept.config_epoch;
                master.written = (kept.address, kept.config_epoch);
                master.leader_epoch = kept.leader_epoch;
                let replicas = kept.replicas.iter();
                master.replicas = replicas.map(|node| Replica::new(*node, now)).collect();
                let sentinels = kept.sentinels.iter();
                master.sentinels = sentinels
                    .map(|(node, id)| Sentry::new(*node, *id, now))
                    .collect();
                master
            })
            .collect();
        if fresh {
            sentinel.change();
            sentinel.persist();
        }
        sentinel.followed = sentinel.leader();
        sentinel.draw_tick();
        Ok(sentinel)
    }

    /// Who it is.
    #[must_use]
    pub const fn id(&self) -> RunId {
        self.id
    }

    /// The highest epoch it has entered, which all masters share.
    #[must_use]
    pub const fn current_epoch(&self) -> u64 {
        self.current_epoch
    }

    /// What it knows of the masters it watches, in the order of the configuration.
    #[must_use]
    pub fn masters(&self) -> &[Master] {
        &self.masters
    }

    /// What it knows of this one.
    #[must_use]
    pub fn master(&self, name: MasterName) -> Option<&Master> {
        self.masters.iter().find(|master| master.name() == name)
    }

    /// What a client is told that asks who the master is, with the token of the failover that made it so; its counter is 0
    /// where there was none. A client that remembers the highest refuses a lower one. `None` for a master that is not watched, and
    /// once halted.
    #[must_use]
    pub fn leader_of(&self, name: MasterName) -> Option<Leader> {
        let master = self.master(name).filter(|_| !self.halted);
        master.map(|master| self.leader_by(master))
    }

    /// Whether it only watches, because its own time is not to be trusted.
    #[must_use]
    pub const fn is_in_tilt(&self) -> bool {
        self.tilt.is_some()
    }

    /// Whether a write failed, so that this life of it acts no more.
    #[must_use]
    pub const fn is_halted(&self) -> bool {
        self.halted
    }

    /// How many writes the disk has not answered.
    #[must_use]
    pub fn pending(&self) -> u64 {
        self.durable.requests.pending()
    }

    /// What it refused so far.
    #[must_use]
    pub const fn refusals(&self) -> &Refusals {
        &self.refusals
    }

    /// The parameters.
    #[must_use]
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// The next of its news, of all masters, until `None`. Nobody needs to ask: old ones are forgotten.
    pub fn poll_news(&mut self) -> Option<News> {
        self.news.take()
    }

    /// An operator's `SENTINEL RESET`: forgets all replicas and sentinels of the master, and any failover of it. Those that are
    /// alive are learnt of again; until then a majority is one of fewer, so that other sentinels must not elect meanwhile.
    /// False when it does not watch that master.
    pub fn reset(&mut self, now: Instant, name: MasterName) -> bool {
        self.now = self.now.max(now);
        let Some(place) = self.place(name).filter(|_| !self.halted) else {
            return false;
        };
        self.leave_office(place, Why::Resigned);
        let now = self.now;
        let master = &mut self.masters[place];
        let address = master.address();
        *master = Master {
            config_epoch: master.config_epoch,
            leader_epoch: master.leader_epoch,
            written: master.written,
            ..Master::new(master.monitor.clone(), address, now)
        };
        self.news.post(News::ResetMaster(name));
        self.change();
        self.settle();
        true
    }

    fn place(&self, name: MasterName) -> Option<usize> {
        (self.masters.iter()).position(|master| master.name() == name)
    }

    fn token(&self, epoch: u64) -> Token {
        Token::new(self.config.generation, epoch)
    }

    fn leader_by(&self, master: &Master) -> Leader {
        let (node, epoch) = master.written;
        Leader {
            node,
            token: self.token(epoch),
        }
    }

    /// What the trait shows it to follow.
    fn leader(&self) -> Option<Leader> {
        self.masters.first().map(|master| self.leader_by(master))
    }

    fn send(&mut self, to: NodeId, message: Message) {
        self.outbox.push_back(Output::Send(to, message));
    }

    /// A question of its own name.
    fn question(&mut self) -> Ticket {
        self.asked += 1;
        Ticket {
            incarnation: self.durable.requests.incarnation(),
            number: self.asked,
        }
    }

    /// Ends a call: what changed goes to the disk, and the host is told whom it follows.
    fn settle(&mut self) {
        if self.halted {
            return;
        }
        self.persist();
        self.note_written();
        let leader = self.leader();
        if self.followed != leader && self.office.is_none() {
            self.followed = leader;
            let event = Event::Following(leader);
            self.outbox.push_back(Output::Event(event));
        }
    }
}

impl<R: Rules> Election for Sentinel<R> {
    type Peer = Message;
    type Request = File;
    type Reply = ();

    fn handle(&mut self, now: Instant, input: Input<Message, ()>) {
        self.now = self.now.max(now);
        if self.halted {
            return;
        }
        match input {
            Input::Timeout => {
                if self.now >= self.tick_at {
                    self.tick();
                }
            }
            Input::Peer(from, message) => self.hear(from, message),
            Input::Reply(ticket, reply) => self.on_reply(ticket, reply),
            Input::Resign { .. } => self.resign(),
            Input::Campaign => {}
        }
        self.settle();
    }

    fn poll(&mut self) -> Option<Output<Message, File>> {
        self.outbox.pop_front()
    }

    fn deadline(&self) -> Option<Instant> {
        (!self.halted).then_some(self.tick_at)
    }

    /// Nothing here is promised until an instant: a host may be late by a tick.
    fn grain(&self) -> Duration {
        timing::TICK.0
    }

    fn standing(&self, _: Instant) -> Standing {
        let Some(master) = self.masters.first().filter(|_| !self.halted) else {
            return Standing::Unknown;
        };
        match (&master.failover, self.office) {
            (Some(failover), Some(token)) if failover.established => Standing::Leading(Tenure {
                token,
                until: Instant::FOREVER,
            }),
            (_, Some(_)) => Standing::Unknown,
            (_, None) => Standing::Following(self.leader_by(master)),
        }
    }

    fn fingerprint<H: Hasher>(&self, now: Instant, hasher: &mut H) {
        self.hash_state(self.now.max(now), hasher);
    }
}
