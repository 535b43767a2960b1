//! What replicas of a partition say to each other.

use crate::Ticket;
use crate::isr::words::Fault;
use crate::log::Position;

/// A message between two replicas of one partition. Whose it is, and of which partition, says the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Message {
    /// `Fetch`: a follower asks for what comes after its last record, and acknowledges by it all that it has.
    Fetch {
        /// To tell the answer by.
        ticket: Ticket,
        /// The leader epoch, as it knows it.
        epoch: u64,
        /// Its last record: `lastFetchedEpoch`, and how many it has.
        after: Position,
        /// By which registration its broker is there (KIP-903).
        broker_epoch: u64,
    },
    /// The next records, all of one epoch; their names are all that is needed to attach what they hold.
    Records {
        /// Of the question.
        ticket: Ticket,
        /// The leader epoch.
        epoch: u64,
        /// In which epoch they were written.
        written: u64,
        /// How many; none when there is nothing but a high watermark.
        count: u64,
        /// How many records are committed.
        high_watermark: u64,
    },
    /// `DivergingEpoch`: the asker's last record is not in the log.
    Diverging {
        /// Of the question.
        ticket: Ticket,
        /// The leader epoch.
        epoch: u64,
        /// The last record that both can have.
        at: Position,
        /// How many records are committed.
        high_watermark: u64,
    },
    /// It is not answered.
    Refused {
        /// Of the question.
        ticket: Ticket,
        /// The leader epoch as the other knows it.
        epoch: u64,
        /// Why: [`FencedLeaderEpoch`](Fault::FencedLeaderEpoch), [`NotLeader`](Fault::NotLeader), or
        /// [`StaleBrokerEpoch`](Fault::StaleBrokerEpoch).
        fault: Fault,
    },
}
