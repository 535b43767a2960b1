//! Connections between a learner and its leader, made of messages.
//!
//! ZooKeeper uses one TCP connection for each learner, and its protocol rests on what that gives: packets arrive in order, each
//! once, and a lost one ends the connection. A host may give less. Therefore a packet names its connection by what either side
//! drew for it, and has a number in it: what is repeated is passed over, and after a gap the connection is over, which the side
//! that found it says with [`Packet::Closed`]. A host that loses, reorders or repeats messages loses progress, never safety.
//!
//! A host whose links are connections tells their ends with [`Zab::disconnected`], so that nobody waits for a limit to pass, and
//! their beginnings with [`Zab::connected`].

use super::message::{Link, Message, Packet};
use super::{Refusal, Role, Rule, Rules, Zab};
use crate::{Instant, NodeId, Output, Why};

/// What to do with a packet by its number.
enum Turn {
    Now,
    Again,
    Lost,
}

fn turn(number: u64, expected: &mut u64, in_order: bool) -> Turn {
    if number == *expected || !in_order {
        *expected = number.saturating_add(1);
        Turn::Now
    } else if number < *expected {
        Turn::Again
    } else {
        Turn::Lost
    }
}

impl<R: Rules> Zab<R> {
    /// The connection to `peer` broke or could not be made. A leader goes on without that learner; a learner tries again while it
    /// connects, and otherwise looks for a leader anew. Harmless where nothing was connected; never needed for safety.
    pub fn disconnected(&mut self, now: Instant, peer: NodeId) {
        if self.halted {
            return;
        }
        self.at(now);
        match self.role {
            Role::Looking => {}
            Role::Leading => {
                if let Some(place) = self.config.ensemble.place(peer) {
                    self.drop_learner(place);
                }
            }
            Role::Following | Role::Observing => {
                if self
                    .learning
                    .as_ref()
                    .is_some_and(|learning| learning.leader == peer)
                {
                    self.link_ended();
                }
            }
        }
    }

    /// The connection to `peer` is there, or there again. A node that elects tells it its vote, which may have been lost with the
    /// last connection; otherwise it would be told at the end of a wait of up to
    /// [`Timing::max_notification`](super::Timing::max_notification). Harmless at any time.
    pub fn connected(&mut self, now: Instant, peer: NodeId) {
        if self.halted {
            return;
        }
        self.at(now);
        self.renotify(peer);
    }

    /// A draw that names a connection; 0 names none.
    pub(super) fn nonce(&mut self) -> u64 {
        self.random.bits().max(1)
    }

    pub(super) fn on_packet(&mut self, from: usize, link: Link, number: u64, packet: Packet) {
        let sender = self.config.ensemble.members()[from].id;
        if let Packet::LearnerInfo { accepted } = packet {
            if link.leader != 0 || link.learner == 0 || number != 0 {
                return self.refusals.add(Refusal::Unexpected);
            }
            return self.greet(from, sender, link.learner, accepted);
        }
        let closed = packet == Packet::Closed;
        if let Some(leading) = &mut self.leading
            && let Some(handler) = &mut leading.handlers[from]
            && handler.link.learner == link.learner
            && (handler.link.leader == link.leader || closed && link.leader == 0)
        {
            if closed {
                return self.drop_learner(from);
            }
            let in_order = self.rules.keeps(Rule::PacketsInOrder);
            return match turn(number, &mut handler.expects, in_order) {
                Turn::Now => self.on_learner_packet(from, packet),
                Turn::Again => self.refusals.add(Refusal::OutOfOrder),
                Turn::Lost => {
                    self.refusals.add(Refusal::OutOfOrder);
                    self.close_learner(from);
                }
            };
        }
        if let Some(learning) = &mut self.learning
            && learning.leader == sender
            && learning.link.learner == link.learner
            && (learning.link.leader == link.leader || learning.link.leader == 0)
        {
            if closed {
                return self.link_ended();
            }
            let in_order = self.rules.keeps(Rule::PacketsInOrder);
            return match turn(number, &mut learning.expects, in_order) {
                Turn::Now => {
                    learning.link.leader = link.leader;
                    self.on_leader_packet(packet);
                }
                Turn::Again => self.refusals.add(Refusal::OutOfOrder),
                Turn::Lost => {
                    self.refusals.add(Refusal::OutOfOrder);
                    self.look_again(Why::Lapsed);
                }
            };
        }
        self.refusals.add(Refusal::OtherLink);
        if !closed {
            self.say(sender, link, 0, Packet::Closed);
        }
    }

    fn say(&mut self, to: NodeId, link: Link, number: u64, packet: Packet) {
        let message = Message::Packet {
            link,
            number,
            packet,
        };
        self.outbox.push_back(Output::Send(to, message));
    }

    /// Nobody leads here: what the refusal of a connection tells.
    pub(super) fn refuse_link(&mut self, to: NodeId, learner: u64) {
        let link = Link { learner, leader: 0 };
        self.say(to, link, 0, Packet::Closed);
    }

    pub(super) fn say_to_learner(&mut self, place: usize, packet: Packet) {
        if let Some(leading) = &mut self.leading
            && let Some(handler) = &mut leading.handlers[place]
        {
            let (link, number) = (handler.link, handler.sends);
            handler.sends += 1;
            let to = self.config.ensemble.members()[place].id;
            self.say(to, link, number, packet);
        }
    }

    pub(super) fn say_to_leader(&mut self, packet: Packet) {
        if let Some(learning) = &mut self.learning {
            let (to, link, number) = (learning.leader, learning.link, learning.sends);
            learning.sends += 1;
            self.say(to, link, number, packet);
        }
    }

    /// Leader: the connection to a learner is over.
    pub(super) fn drop_learner(&mut self, place: usize) {
        if let Some(leading) = &mut self.leading {
            leading.handlers[place] = None;
        }
    }

    /// Leader: ends the connection to a learner.
    pub(super) fn close_learner(&mut self, place: usize) {
        if let Some(leading) = &self.leading
            && let Some(handler) = &leading.handlers[place]
        {
            let (to, link) = (self.config.ensemble.members()[place].id, handler.link);
            self.say(to, link, 0, Packet::Closed);
            self.drop_learner(place);
        }
    }

    /// Leader: ends all of them.
    pub(super) fn close_all(&mut self) {
        for place in 0..self.config.ensemble.members().len() {
            self.close_learner(place);
        }
    }
}
