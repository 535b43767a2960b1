//! What each stage is for each scheme: the only place that says it.

use super::Row;
use crate::scheme::lease::Kind;

/// From which event to which each stage goes. The first begins when the leader is lost, and each when the one before ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meaning {
    /// What ends the detection.
    pub detection: &'static str,
    /// What ends the election.
    pub election: &'static str,
    /// What ends the synchronisation; or why there is none.
    pub synchronisation: Result<&'static str, &'static str>,
}

const RAFT: Meaning = Meaning {
    detection: "an election timeout runs out at a follower: it asks for pre-votes",
    election: "a majority has voted for one, in as many terms as that takes",
    synchronisation: Ok(
        "a majority has answered a heartbeat of the new term; there is no log that could be behind",
    ),
};

/// A store holds the record: who has it has all there is to have.
const NOTHING_TO_COPY: Result<&str, &str> =
    Err("none: the record is in the store, and who holds it may act at once");

/// Waiters that look at the record now and then.
const POLLED: Meaning = Meaning {
    detection: "a waiter sends the claim that wins: the lease has run out, and then a look was due",
    election: "the store has granted it, and the answer is there",
    synchronisation: NOTHING_TO_COPY,
};

/// Waiters that are told.
const WATCHED: Meaning = Meaning {
    detection: "a waiter that was told that the record is gone, for the store let the lease run out, sends its claim or its look at the queue",
    election: "the store has granted or confirmed it, and the answer is there",
    synchronisation: NOTHING_TO_COPY,
};

impl Meaning {
    /// Of a row.
    #[must_use]
    pub const fn of(row: Row) -> Self {
        match row {
            Row::Raft => RAFT,
            Row::RaftLog | Row::RaftEtcd => Self {
                synchronisation: Ok(
                    "an entry of the new term is committed, and all before it with it",
                ),
                ..RAFT
            },
            Row::Zab => Self {
                detection: "a follower looks for a leader: its connection is closed, or nothing was heard for syncLimit",
                election: "notifications agree and 200 ms brought none better, and a quorum has promised the new epoch; a voter that decides before the one it elects is refused and asks again, which is why a short tick saves nothing here",
                synchronisation: Ok(
                    "a quorum holds the history of the new leader, and has acknowledged NEWLEADER",
                ),
            },
            Row::Kraft => Self {
                detection: "no fetch has succeeded for the fetch timeout: a follower asks for pre-votes",
                election: "a majority has voted for one",
                synchronisation: Ok(
                    "an entry of the own epoch is committed, and applied: the controller is active",
                ),
            },
            Row::Sentinel => Self {
                detection: "down-after of silence at each sentinel (SDOWN), a quorum of them agrees (ODOWN), and one begins a failover",
                election: "a majority of the sentinels has voted for one of them, to run the failover",
                synchronisation: Ok(
                    "it has chosen a replica, and sees that this one calls itself a master. Nothing is copied: what the replica lacks is lost",
                ),
            },
            Row::Lease(Kind::Sql | Kind::Kubernetes | Kind::Redis | Kind::Redlock) => POLLED,
            Row::Lease(Kind::SqlSession) => Self {
                detection: "a waiter sends the statement that takes the lock: the session is over, and what its holder may still believe was waited out",
                ..POLLED
            },
            Row::Lease(Kind::Etcd | Kind::EtcdSingle | Kind::Milvus | Kind::ZooKeeper) => WATCHED,
            Row::Lease(Kind::Controller) => Self {
                election: "whoever is told first creates the node and raises the epoch, in one transaction",
                ..WATCHED
            },
        }
    }
}
