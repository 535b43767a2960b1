//! A data server: takes writes or follows who does, in the process and by the clock of a server of the world.

use crate::scheme::{PeerSaid, StoreAsk, StoreSaid};
use crate::server::{Part, Record, Serves, Service};
use tenure::sentinel::Role;
use tenure::sentinel::data::{Config, Data, Input, Mark, Saved};
use tenure::{Instant, NodeId, Ticket};

/// A data server, and what it has after a restart.
#[derive(Clone, Debug)]
pub(crate) struct DataServer {
    config: Config,
    /// Built when its clock is known. `None` until then.
    data: Option<Box<Data>>,
    first: Saved,
    life: u64,
    persistent: bool,
}

impl DataServer {
    pub(super) fn new(config: Config, replica_of: Option<NodeId>, persistent: bool) -> Self {
        Self {
            config,
            data: None,
            first: Saved {
                replica_of,
                ..Saved::default()
            },
            life: 0,
            persistent,
        }
    }

    fn start(&mut self, now: u64, saved: Saved) {
        self.life += 1;
        let now = Instant::from_micros(now);
        // What it cannot be configured with, a scenario cannot say.
        let data = Data::new(self.config, saved, self.life, now).ok();
        self.data = data.map(Box::new);
        if let Some(data) = &mut self.data {
            data.handle(now, Input::Timeout);
        }
    }

    fn hand(&mut self, now: u64, input: Input) {
        if let Some(data) = &mut self.data {
            data.handle(Instant::from_micros(now), input);
        }
    }
}

impl Service for DataServer {
    fn ask(&mut self, _: u64, _: u16, _: Ticket, _: &StoreAsk) {}

    fn poll(&mut self) -> Option<(u16, Ticket, StoreSaid)> {
        None
    }

    fn hear_peer(&mut self, now: u64, from: u16, said: &PeerSaid) {
        if let PeerSaid::Sentinel(message) = said {
            self.hand(now, Input::Peer(NodeId(from.into()), message.clone()));
        }
    }

    fn poll_said(&mut self) -> Option<(u16, PeerSaid)> {
        let (to, message) = self.data.as_mut()?.poll()?;
        Some((to.0 as u16, PeerSaid::Sentinel(message)))
    }

    fn write(&mut self, now: u64) -> Option<Mark> {
        (self.data.as_mut()?).write(Instant::from_micros(now)).ok()
    }

    fn data(&self) -> Option<&Data> {
        self.data.as_deref()
    }

    fn serves(&self, now: u64) -> Option<Serves> {
        let now = Instant::from_micros(now);
        let data = self.data.as_ref()?;
        Some(Serves {
            part: match data.role() {
                Role::Master => Part::Master,
                Role::Replica => Part::Replica,
            },
            follows: data.master().map(|master| master.0 as u16),
            end: data.history().len(),
            committed: None,
            linked: data.is_linked(now),
            copying: data.is_copying(),
            writable: data.is_writable(now),
        })
    }

    /// No election goes by what it keeps.
    fn records(&self, _: u64) -> Vec<Record> {
        Vec::new()
    }

    fn due(&self) -> Option<u64> {
        match &self.data {
            Some(data) => data.deadline().map(Instant::as_micros),
            // It is started at once.
            None => Some(0),
        }
    }

    fn wake(&mut self, now: u64) {
        if self.data.is_none() {
            let saved = self.first.clone();
            self.start(now, saved);
        }
        self.hand(now, Input::Timeout);
    }

    fn restarted(&mut self, now: u64) {
        let saved = self.data.as_ref().map(|data| data.saved());
        let saved = saved.unwrap_or_else(|| self.first.clone());
        let saved = if self.persistent {
            saved
        } else {
            saved.without_data()
        };
        self.start(now, saved);
    }
}
