//! What hosts tell of sentinels and data servers: to their judges, and to those whose connections end with a process.

use super::env::Env;
use crate::check::Broken;
use crate::check::sentinel::SentinelJudges;
use crate::packet::Packet;
use crate::physics::network::Flight;
use crate::scheme::PeerSaid;
use tenure::Token;
use tenure::sentinel::data::Mark;
use tenure::sentinel::{MasterName, Message};

impl Env {
    /// Whether the nodes are sentinels.
    pub(crate) fn has_sentinels(&self) -> bool {
        self.judges.sentinels_seen().is_some()
    }

    /// Tells the judges of sentinels, and shows what they find broken.
    pub(crate) fn judge_sentinels(
        &mut self,
        actor: usize,
        tell: impl FnOnce(&mut SentinelJudges, u64) -> Broken,
    ) {
        let now = self.now;
        if let Some(judges) = self.judges.sentinels() {
            let broken = tell(judges, now);
            self.violated(broken, actor);
        }
    }

    /// A message leaves.
    pub(super) fn judge_said(&mut self, from: usize, to: usize, packet: &Packet) {
        if let Packet::Peer(PeerSaid::Sentinel(message)) = packet {
            self.judge_sentinels(from, |judges, now| judges.said(now, from, to, message));
        }
    }

    /// A message has come to a node.
    pub(crate) fn heard(&mut self, me: usize, from: u16, packet: &Packet) {
        if let Packet::Peer(PeerSaid::Sentinel(message)) = packet {
            let now = self.now;
            if let Some(judges) = self.judges.sentinels() {
                judges.heard(now, me, from.into(), message);
            }
        }
    }

    /// A data server took a client's write.
    pub(crate) fn wrote_at_server(&mut self, me: usize, mark: Mark) {
        let now = self.now;
        let Some(judges) = self.judges.sentinels() else {
            return;
        };
        judges.acknowledged(mark);
        let (epoch, at) = judges.highest(MasterName(0));
        if at.0 as usize == me {
            self.stages.wrote(now, Token::new(0, epoch));
        }
    }

    /// The process that a message is for is gone, and its machine refuses the connection.
    pub(crate) fn refuse(&mut self, me: usize, flight: &Flight<Packet>) {
        let closed = PeerSaid::Sentinel(Message::Closed);
        let from = usize::from(flight.from);
        if let Packet::Peer(said) = &flight.payload
            && *said != closed
            && self.has_sentinels()
        {
            self.tell_closed(me, from);
        }
    }

    /// A process ends, and its machine closes its connections.
    pub(crate) fn close(&mut self, me: usize) {
        if self.has_sentinels() {
            for other in (0..self.members()).filter(|other| *other != me) {
                self.tell_closed(me, other);
            }
        }
    }

    /// Over a link that is cut nothing comes that says so.
    fn tell_closed(&mut self, from: usize, to: usize) {
        if !self.net.links.is_cut(from, to) {
            let closed = Packet::Peer(PeerSaid::Sentinel(Message::Closed));
            self.send_outside(from, to, 0, closed);
        }
    }
}
