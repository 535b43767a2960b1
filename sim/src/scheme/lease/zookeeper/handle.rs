//! What the library of a client has of a session: under which ticket its state is told, and what each watch was left for.

use super::super::StoreAsk;
use super::calls::{Of, watches};
use crate::sorted::Sorted;
use crate::store::Key;
use crate::store::zookeeper::Event;
use tenure::lease::zookeeper::{Change, Reply, SessionId};
use tenure::{Duration, Ticket};

/// A handle.
#[derive(Clone, Debug)]
pub(super) struct Handle {
    /// Under which its state is told.
    pub(super) ticket: Ticket,
    pub(super) session: i64,
    pub(super) timeout: i32,
    pub(super) connected: bool,
    watches: Sorted<(Key, Of), Ticket>,
}

impl Handle {
    /// One that has just been connected.
    pub(super) fn new(ticket: Ticket, session: i64, timeout: i32) -> Self {
        Self {
            ticket,
            session,
            timeout,
            connected: true,
            watches: Sorted::default(),
        }
    }

    /// That it is connected, as its machine is told.
    pub(super) fn told(&self) -> Reply {
        Reply::Connected {
            session: SessionId(self.session),
            timeout: Duration::from_millis(self.timeout.unsigned_abs().into()),
        }
    }

    /// The connection is gone, and with it what was left on it.
    pub(super) fn disconnected(&mut self) {
        self.connected = false;
        self.watches = Sorted::default();
    }

    /// Remembers what a watch was left for.
    pub(super) fn leaves(&mut self, ticket: Ticket, ask: &StoreAsk, reply: &Reply) {
        if let (Some((path, of)), Reply::Data(..) | Reply::Children(_)) = (watches(ask), reply) {
            self.watches.insert((path.clone(), of), ticket);
        }
    }

    /// The watches that an event is of, which are no more, and what each of them tells.
    pub(super) fn fires(&mut self, event: Event) -> impl Iterator<Item = (Ticket, Reply)> {
        let (path, change, of): (_, _, &[Of]) = match event {
            Event::Created(path) => (path, Change::Written, &[]),
            Event::Deleted(path) => (path, Change::Deleted, &[Of::Data, Of::Children]),
            Event::DataChanged(path) => (path, Change::Written, &[Of::Data]),
            Event::ChildrenChanged(path) => (path, Change::Children, &[Of::Children]),
        };
        of.iter().filter_map(move |of| {
            let ticket = self.watches.remove(&(path.clone(), *of))?;
            Some((ticket, Reply::Changed(change)))
        })
    }
}
