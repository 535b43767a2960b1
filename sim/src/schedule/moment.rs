//! When a move is made: at any time, or just before, at or just after something that lies ahead.

use super::draw::Draw;
use super::sight::{Sight, mail};
use crate::packet::Packet;
use crate::physics::network::Flight;
use crate::scheme::PeerSaid;
use crate::world::World;
use tenure::raft::Message;

/// What lies ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    /// Nothing in particular.
    Gap,
    /// A leader's belief ends.
    LeaseEnd,
    /// A voter is free of its promise, or may grant a pre-vote in spite of it.
    PromiseEnd,
    /// A node is to be called again.
    Timer,
    /// A vote, a pre-vote, or the question for one arrives.
    Vote,
    /// An answer to a heartbeat arrives.
    Ack,
    /// A heartbeat arrives.
    Beat,
    /// A durable write is done.
    Disk,
}

impl Moment {
    pub(super) const ALL: [Self; 8] = [
        Self::Gap,
        Self::LeaseEnd,
        Self::PromiseEnd,
        Self::Timer,
        Self::Vote,
        Self::Ack,
        Self::Beat,
        Self::Disk,
    ];
}

/// The next instant to look at the world, after now and within `gap`, and whose instant it is.
pub(super) fn next(
    draw: &mut Draw,
    world: &World,
    sight: &Sight,
    weights: &[u32; Moment::ALL.len()],
    gap: u64,
) -> (u64, Option<usize>) {
    let moment = draw
        .weighted(weights)
        .map_or(Moment::Gap, |place| Moment::ALL[place]);
    let ahead = candidates(world, sight, moment);
    let soonest = sight.now + 1;
    let found = draw.one_of(&ahead);
    if let Some((at, node)) = found.filter(|(at, _)| *at <= sight.now + gap) {
        return (beside(draw, at).max(soonest), Some(node));
    }
    (sight.now + draw.between(1, gap), None)
}

/// The instants of this kind that lie ahead, and whose they are.
fn candidates(world: &World, sight: &Sight, moment: Moment) -> Vec<(u64, usize)> {
    let all = (0..).zip(&sight.nodes);
    let mut ahead: Vec<(u64, usize)> = match moment {
        Moment::Gap => Vec::new(),
        Moment::LeaseEnd => all
            .map(|(node, seen)| (seen.believes_until, node))
            .collect(),
        Moment::PromiseEnd => all
            .map(|(node, seen)| (seen.promised_until, node))
            .collect(),
        Moment::Timer => all.map(|(node, seen)| (seen.deadline, node)).collect(),
        Moment::Disk => all
            .filter(|(_, seen)| seen.disk.1)
            .map(|(node, seen)| (sight.now + seen.disk.0, node))
            .collect(),
        Moment::Vote | Moment::Ack | Moment::Beat => mail(world)
            .filter(|flight| is_about(&flight.payload, moment))
            .map(|flight| (flight.arrives, node_of(flight, sight)))
            .collect(),
    };
    ahead.retain(|(at, _)| *at > sight.now);
    ahead
}

/// Whose message it is: its receiver's, or the sender's where a server of a store receives it.
fn node_of(flight: &Flight<Packet>, sight: &Sight) -> usize {
    let (from, to) = (flight.from as usize, flight.to as usize);
    if to < sight.nodes.len() { to } else { from }
}

fn is_about(packet: &Packet, moment: Moment) -> bool {
    let message = match packet {
        Packet::Peer(PeerSaid::Raft(message)) => message,
        #[cfg(feature = "peers")]
        Packet::Peer(PeerSaid::Sentinel(message)) => return is_about_sentinels(message, moment),
        // What a store is asked, and answers: of an answer a belief begins or goes on.
        Packet::AskStore { .. } => return moment == Moment::Beat,
        Packet::StoreSaid { .. } => return matches!(moment, Moment::Ack | Moment::Vote),
        _ => return false,
    };
    match message {
        Message::Heartbeat { .. } | Message::Release { .. } => moment == Moment::Beat,
        Message::HeartbeatAck { .. } | Message::HeartbeatRefused { .. } => moment == Moment::Ack,
        _ => moment == Moment::Vote,
    }
}

/// The same of what sentinels say.
#[cfg(feature = "peers")]
fn is_about_sentinels(message: &tenure::sentinel::Message, moment: Moment) -> bool {
    use tenure::sentinel::Message as Said;
    match message {
        Said::Ask { .. } | Said::Answer { .. } => moment == Moment::Vote,
        Said::Told { .. } => moment == Moment::Ack,
        Said::Hello(_) | Said::ReplicaOf(_) => moment == Moment::Beat,
        _ => false,
    }
}

/// At an instant, a grain or a little before or after it.
fn beside(draw: &mut Draw, at: u64) -> u64 {
    match draw.between(0, 5) {
        0 => at.saturating_sub(1),
        1 => at + 1,
        2 => at.saturating_sub(draw.between(1, 30_000)),
        3 => at + draw.between(1, 10_000),
        _ => at,
    }
}
