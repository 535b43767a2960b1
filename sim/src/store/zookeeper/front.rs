//! What a server has of its clients: their connections, what those watch, and what is to be said on them.

use super::command::{Command, Error, Event, Reply, Said};
use super::image::Image;
use super::sessions::{SessionId, password};
use super::watches::{Change, Watches};
use crate::sorted::Sorted;
use std::collections::VecDeque;

/// The connections, each of which belongs to one session.
#[derive(Clone, Debug, Default)]
pub(super) struct Front {
    connections: Sorted<u16, Connection>,
    watches: Watches,
    said: VecDeque<(u16, Said)>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Connection {
    pub(super) session: SessionId,
    /// What was agreed on when it began.
    pub(super) timeout: i32,
}

impl Front {
    /// The connection of this name.
    pub(super) fn connection(&self, client: u16) -> Option<Connection> {
        self.connections.get(&client).copied()
    }

    /// A connection is for that session from now on.
    pub(super) fn open(&mut self, client: u16, session: SessionId, timeout: i32) {
        self.connections
            .insert(client, Connection { session, timeout });
        let password = password(session);
        self.say(
            client,
            Said::Connected {
                session,
                password,
                timeout,
            },
        );
    }

    /// The session that was to go on is over, or not the client's.
    pub(super) fn expire(&mut self, client: u16) {
        self.say(client, Said::Expired);
        self.say(client, Said::Closed);
    }

    /// A connection is gone, and its watches with it.
    pub(super) fn disconnect(&mut self, client: u16) {
        if self.connections.remove(&client).is_some() {
            self.watches.forget(client);
        }
    }

    /// The connection of a session is closed, if it has one: which that was.
    pub(super) fn leave(&mut self, session: SessionId) -> Option<u16> {
        let its = |(client, connection): (&u16, &Connection)| {
            (connection.session == session).then_some(*client)
        };
        let client = self.connections.iter().find_map(its)?;
        self.disconnect(client);
        self.say(client, Said::Closed);
        Some(client)
    }

    /// What only looks, and may leave a watch.
    pub(super) fn look(
        &mut self,
        image: &Image,
        client: u16,
        command: &Command,
    ) -> Result<Reply, Error> {
        match command {
            Command::Exists { path, watch } => {
                if path.contains('\0') {
                    return Err(Error::BadArguments);
                }
                if *watch {
                    self.watches.data(path, client);
                }
                let stat = image.stat(path);
                stat.map(Reply::Stat).ok_or(Error::NoNode)
            }
            Command::GetData { path, watch } => {
                let stat = image.stat(path).ok_or(Error::NoNode)?;
                if *watch {
                    self.watches.data(path, client);
                }
                let data = image.data(path).cloned().ok_or(Error::NoNode)?;
                Ok(Reply::Data { data, stat })
            }
            Command::GetChildren { path, watch } => {
                let stat = image.stat(path).ok_or(Error::NoNode)?;
                if *watch {
                    self.watches.children(path, client);
                }
                let names = image.children(path).unwrap_or_default();
                Ok(Reply::Children { names, stat })
            }
            // The rest is no look at anything.
            _ => Ok(Reply::Done),
        }
    }

    /// Who watches is told what changed.
    pub(super) fn tell(&mut self, changes: &[Change]) {
        let said = &mut self.said;
        for change in changes {
            self.watches.tell(change, |client, event: Event| {
                said.push_back((client, Said::Event(event)));
            });
        }
    }

    pub(super) fn say(&mut self, client: u16, said: Said) {
        self.said.push_back((client, said));
    }

    /// The next thing to be said on a connection.
    pub(super) fn poll(&mut self) -> Option<(u16, Said)> {
        self.said.pop_front()
    }
}
