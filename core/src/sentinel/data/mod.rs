//! A data server, as a small machine: it takes writes or follows who does, and obeys whoever orders it about.
//!
//! It is no part of any election and knows of no epochs; that is the point. A write is acknowledged as soon as the master has
//! it, and reaches the replicas later or never. A server that is made a replica throws away what its new master does not have.
//! With [`Config::min_replicas`] a master refuses writes when too few replicas kept up lately, which bounds how much can be lost
//! and does not end it.
//!
//! Payload-free (law C9): its data is a [`History`], which server wrote which offset in which life. The name of a write is its
//! [`Mark`], unique for ever, so that a host can judge what became of it.
//!
//! Like the elections it does no I/O: the host gives it messages and the time, and carries out what it says. What survives a
//! restart is the host's choice, too: see [`Saved`].
//!
//! **Left out:** the connections (a host may tell that one was closed, and silence stands for a broken one), the time that data takes but for [`Config::full_sync`],
//! `CLIENT KILL`, `WAIT`, reads, and the bytes of the backlog, which is counted in writes.
//!
//! One file an idea: [`Config`], [`History`] (what it has), `replicate` (how it comes to the others), `orders` (what it becomes
//! and what it says of itself).

mod config;
mod history;
mod orders;
mod replicate;

pub use config::{Config, ConfigError};
pub use history::{History, Mark, Origin};

use super::message::{Message, Role};
use super::names::RunId;
use crate::random::Random;
use crate::{Instant, NodeId};
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use replicate::{Copying, Follower, Link};

/// A data server.
#[derive(Clone, Debug)]
pub struct Data {
    config: Config,
    /// This life of it.
    incarnation: u64,
    run: RunId,
    /// How often it became a master in this life: with the life this makes its writes' origin.
    turn: u32,
    /// Whom it follows; `None` for a master.
    master: Option<NodeId>,
    history: History,
    /// Until when it loads what was saved.
    loads_until: Instant,
    /// Replica: how it stands with its master.
    link: Link,
    /// Replica: what it is copying, until when.
    copying: Option<Copying>,
    /// Who follows it.
    followers: Vec<Follower>,
    /// Their names, as told to sentinels.
    listed: Arc<[NodeId]>,
    /// The sentinels that published here lately, which get what others publish.
    subscribers: Vec<(NodeId, Instant)>,
    /// Whether it does nothing but run a script.
    busy: bool,
    now: Instant,
    outbox: VecDeque<(NodeId, Message)>,
}

/// What can happen to a data server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A message arrived.
    Peer(NodeId, Message),
    /// The deadline came.
    Timeout,
}

/// What survives a restart: whom it follows, and its data. A host that lost the data, or keeps none, gives it back
/// [`without_data`](Self::without_data).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Saved {
    /// Whom it follows; rewritten into its configuration with every order.
    pub replica_of: Option<NodeId>,
    /// Its data.
    pub history: History,
}

impl Saved {
    /// The configuration alone: what a server without persistence has after a restart.
    #[must_use]
    pub fn without_data(self) -> Self {
        Self {
            history: History::new(),
            ..self
        }
    }
}

/// Why a write is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WriteRefused {
    /// `READONLY`: it is a replica. Ask the sentinels who the master is.
    ReadOnly,
    /// `NOREPLICAS`: fewer replicas kept up lately than [`Config::min_replicas`]. Wait, or write elsewhere.
    NotEnoughReplicas,
    /// `BUSY`: it runs a script.
    Busy,
    /// `LOADING`: it was restarted, and loads what was saved.
    Loading,
    /// It has more writes than can be counted.
    Full,
}

impl Data {
    /// A server with what survived of its last life, or that follows whom `saved` says and has nothing.
    ///
    /// # Errors
    /// What cannot be configured, with the remedy.
    pub fn new(
        config: Config,
        saved: Saved,
        incarnation: u64,
        now: Instant,
    ) -> Result<Self, ConfigError> {
        config.validate()?;
        if incarnation == 0 {
            return Err(ConfigError::IncarnationZero);
        }
        let run = RunId(Random::new(0, config.id, incarnation).bits());
        Ok(Self {
            config,
            incarnation,
            run,
            turn: 1,
            master: saved.replica_of,
            history: saved.history,
            loads_until: now + config.load,
            link: Link::broken(now + config.load),
            copying: None,
            followers: Vec::new(),
            listed: Arc::from([]),
            subscribers: Vec::new(),
            busy: false,
            now,
            outbox: VecDeque::new(),
        })
    }

    /// Takes one input. What it says is queued for [`poll`](Self::poll). A `now` that goes back is read as the latest seen.
    pub fn handle(&mut self, now: Instant, input: Input) {
        self.now = self.now.max(now);
        self.finish_copying();
        match input {
            Input::Timeout => {}
            Input::Peer(from, message) => self.hear(from, message),
        }
        self.keep_in_touch();
    }

    /// The next thing to say, and to whom.
    pub fn poll(&mut self) -> Option<(NodeId, Message)> {
        self.outbox.pop_front()
    }

    /// When to call `handle(now, Input::Timeout)` at the latest.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        let copied = self.copying.as_ref().map(|copying| copying.until);
        let ask = self.master.map(|_| self.link.ask_at.max(self.loads_until));
        copied.into_iter().chain(ask).min()
    }

    /// A client writes. The name of the write is acknowledged with it: at once, whoever has it.
    ///
    /// # Errors
    /// When it takes no writes now.
    pub fn write(&mut self, now: Instant) -> Result<Mark, WriteRefused> {
        self.now = self.now.max(now);
        if self.master.is_some() {
            return Err(WriteRefused::ReadOnly);
        }
        if self.busy {
            return Err(WriteRefused::Busy);
        }
        if self.is_loading() {
            return Err(WriteRefused::Loading);
        }
        if self.good_replicas() < self.config.min_replicas {
            return Err(WriteRefused::NotEnoughReplicas);
        }
        let after = self.history.last();
        let origin = self.origin();
        if !self.history.append(origin, 1) {
            return Err(WriteRefused::Full);
        }
        self.spread(after, origin, 1);
        self.history.last().ok_or(WriteRefused::Full)
    }

    /// Whether it takes writes at `now`: a master, not busy, with enough replicas.
    #[must_use]
    pub fn is_writable(&self, now: Instant) -> bool {
        let now = now.max(self.now);
        let serves = self.master.is_none() && !self.busy && now >= self.loads_until;
        serves && self.good_replicas_at(now) >= self.config.min_replicas
    }

    /// An operator's order: what [`Message::ReplicaOf`] is from a sentinel.
    pub fn replica_of(&mut self, now: Instant, master: Option<NodeId>) {
        self.now = self.now.max(now);
        self.obey(master);
        self.keep_in_touch();
    }

    /// It begins or ends to run a script: meanwhile it answers a ping with an error, and takes no writes.
    pub fn set_busy(&mut self, busy: bool) {
        self.busy = busy;
    }

    /// What it is.
    #[must_use]
    pub const fn role(&self) -> Role {
        match self.master {
            None => Role::Master,
            Some(_) => Role::Replica,
        }
    }

    /// Whom it follows, if anybody.
    #[must_use]
    pub const fn master(&self) -> Option<NodeId> {
        self.master
    }

    /// Which life of it this is.
    #[must_use]
    pub const fn run(&self) -> RunId {
        self.run
    }

    /// What it has.
    #[must_use]
    pub const fn history(&self) -> &History {
        &self.history
    }

    /// Whether it copies all from its master now.
    #[must_use]
    pub const fn is_copying(&self) -> bool {
        self.copying.is_some()
    }

    /// Whether its link to its master is up. False for a master.
    #[must_use]
    pub fn is_linked(&self, now: Instant) -> bool {
        self.master.is_some() && self.link_is_up(now.max(self.now))
    }

    /// Who follows it, as far as they told it lately.
    #[must_use]
    pub fn replicas(&self) -> &[NodeId] {
        &self.listed
    }

    /// The parameters.
    #[must_use]
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// What a restart begins with, if nothing is lost.
    #[must_use]
    pub fn saved(&self) -> Saved {
        Saved {
            replica_of: self.master,
            history: self.history.clone(),
        }
    }

    fn is_loading(&self) -> bool {
        self.now < self.loads_until
    }

    fn origin(&self) -> Origin {
        Origin {
            node: self.config.id,
            incarnation: self.incarnation,
            turn: self.turn,
        }
    }

    fn send(&mut self, to: NodeId, message: Message) {
        self.outbox.push_back((to, message));
    }
}
