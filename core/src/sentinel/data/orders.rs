//! What a data server becomes, by whoever's order, and what it says of itself.

use super::super::config::MAX_SENTINELS;
use super::super::message::{Hello, Life, Report, Role};
use super::super::timing;
use super::{Data, Link, Message};
use crate::{Duration, NodeId};

/// How long a sentinel that publishes nothing stays subscribed.
const SUBSCRIBED: Duration = timing::HELLO.scaled_up(3, 1);

impl Data {
    pub(super) fn hear(&mut self, from: NodeId, message: Message) {
        match message {
            Message::Ping { query } => {
                let life = self.life();
                self.send(from, Message::Pong { query, life });
            }
            Message::Info { query } => {
                self.forget_silent();
                let (report, replicas) = (self.report(), self.listed.clone());
                self.send(
                    from,
                    Message::Told {
                        query,
                        report,
                        replicas,
                    },
                );
            }
            Message::Hello(hello) => self.publish(from, hello),
            Message::ReplicaOf(master) => self.obey(master),
            Message::Psync { last } => self.on_psync(from, last),
            Message::Stream { after, writes } => self.on_stream(from, after, writes),
            Message::Full(history) => self.on_full(from, history),
            Message::Closed => self.on_closed(from),
            // Between sentinels, or an answer to one.
            Message::Pong { .. }
            | Message::Told { .. }
            | Message::Ask { .. }
            | Message::Answer { .. } => {}
        }
    }

    /// Whoever says so last is obeyed: an order has no epoch (SEN §3.9). What is already so stays as it is.
    pub(super) fn obey(&mut self, master: Option<NodeId>) {
        if master == self.master {
            return;
        }
        let was_up = self.link_is_up(self.now);
        self.copying = None;
        if self.master.is_none() {
            // As a master it was in touch until now.
            self.link = Link::broken(self.now);
        } else {
            let since = self.link.down_since;
            self.link = Link::broken(self.now);
            if !was_up {
                self.link.down_since = since;
            }
        }
        self.master = master;
        if master.is_none() {
            // Its writes get a name of their own from here on.
            self.turn = self.turn.saturating_add(1);
        }
    }

    fn life(&self) -> Life {
        if self.busy {
            Life::Other
        } else if self.copying.is_some() || self.is_loading() {
            Life::Loading
        } else if self.master.is_some() && !self.config.serves_stale && !self.link_is_up(self.now) {
            Life::MasterDown
        } else {
            Life::Pong
        }
    }

    fn report(&self) -> Report {
        let down = self.master.and_then(|_| self.link_down_since());
        Report {
            role: if self.master.is_none() {
                Role::Master
            } else {
                Role::Replica
            },
            run: self.run,
            master: self.master,
            link_down: down.map(|since| self.now.since(since)),
            priority: self.config.priority,
            offset: self.history.len(),
        }
    }

    /// Passes a hello on to all sentinels that published here lately: who publishes is subscribed.
    fn publish(&mut self, from: NodeId, hello: Hello) {
        let now = self.now;
        (self.subscribers).retain(|(node, at)| *node != from && now.since(*at) < SUBSCRIBED);
        for place in 0..self.subscribers.len() {
            let to = self.subscribers[place].0;
            self.send(to, Message::Hello(hello));
        }
        if self.subscribers.len() < MAX_SENTINELS {
            self.subscribers.push((from, now));
        }
    }
}
