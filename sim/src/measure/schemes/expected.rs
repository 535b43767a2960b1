//! What is expected of each scheme under each fault. The only place that tells the schemes apart: a scheme that is added
//! says here what is special about it, and nothing else.

use super::Row;
use super::trial::{Jumped, Trial};
use crate::scheme::lease::Kind;

/// What is expected of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Never two leaders, never a stale write at the fenced resource, tokens that rise.
    Holds,
    /// It breaks, for this reason.
    Breaks(&'static str),
    /// It may break, for this reason.
    MayBreak(&'static str),
    /// There is nothing that the fault could be done to, for this reason.
    NotApplicable(&'static str),
}

/// What is special about a scheme.
pub(super) struct Nature {
    /// What it is, in a line.
    pub(super) about: &'static str,
    /// Whose clock jumps.
    pub(super) jumped: Jumped,
    /// Where it is not as with the others.
    special: &'static [(Trial, Expected)],
}

const BEYOND: Expected = Expected::Breaks(
    "the lease is over on the store's clock while the slow clock of the holder still counts it",
);
const ONE_SERVER: Expected =
    Expected::NotApplicable("the server stands for a cluster that agrees before it answers");
const NO_REPLICA: Expected = Expected::NotApplicable("its servers have no replicas");
const TAIL_LOST: Expected = Expected::Breaks(
    "the claim was granted and is lost with the primary, as the replica had not heard of it",
);
const NO_STORE: Expected = Expected::NotApplicable("there is no store");

pub(super) const fn nature(row: Row) -> Nature {
    match row {
        Row::Raft | Row::RaftLong => Nature {
            about: match row {
                Row::Raft => "a majority of the nodes, election timeout 150 to 300 ms",
                _ => {
                    "the same, with a timeout of one to two leases and a heartbeat when a lease is renewed"
                }
            },
            jumped: Jumped::Waiter,
            special: &[
                (Trial::Failover, NO_STORE),
                (Trial::StoreRestart, NO_STORE),
                (
                    Trial::RateBeyond,
                    Expected::MayBreak(
                        "promises end on fast clocks before the lease does on the slow one",
                    ),
                ),
            ],
        },
        Row::Lease(Kind::Sql) => Nature {
            about: "a row in a database, on the time of the database",
            jumped: Jumped::Server,
            special: &[
                (
                    Trial::ClockJump,
                    Expected::Breaks("the row ends by the clock of the database"),
                ),
                (Trial::Failover, TAIL_LOST),
            ],
        },
        Row::Lease(Kind::SqlSession) => Nature {
            about: "a lock that belongs to a session of a database",
            jumped: Jumped::Waiter,
            // Whoever takes it over waits for as long as the former holder may believe, on top of the server's own patience.
            special: &[
                (Trial::Failover, Expected::Holds),
                (Trial::RateBeyond, Expected::Holds),
            ],
        },
        Row::Lease(Kind::Redis) => Nature {
            about: "a key of one Redis server with an asynchronous replica",
            jumped: Jumped::Server,
            special: &[
                (
                    Trial::ClockJump,
                    Expected::Breaks("keys end by the wall clock of the server"),
                ),
                (Trial::Failover, TAIL_LOST),
            ],
        },
        Row::Lease(Kind::Redlock) => Nature {
            about: "a key on each of five Redis servers",
            jumped: Jumped::Server,
            special: &[
                (
                    Trial::ClockJump,
                    Expected::Breaks(
                        "one of the three that the holder has ends its key by a wall clock that jumped, and that and the other \
                         two are a majority (LS-F3)",
                    ),
                ),
                (Trial::Failover, NO_REPLICA),
            ],
        },
        Row::Lease(Kind::ZooKeeper) => Nature {
            about: "a queue of candidates in ZooKeeper",
            jumped: Jumped::Waiter,
            special: &[],
        },
        Row::Lease(Kind::Controller) => Nature {
            about: "Kafka's single controller in ZooKeeper",
            jumped: Jumped::Waiter,
            special: &[],
        },
        Row::Lease(Kind::Kubernetes) => Nature {
            about: "a Lease object, each change of which is waited out on the clock of who waits",
            jumped: Jumped::Waiter,
            special: &[
                (
                    Trial::ClockJump,
                    Expected::Breaks(
                        "who waits counts the lease by its own clock, and takes what that has waited out",
                    ),
                ),
                (Trial::Failover, ONE_SERVER),
            ],
        },
        Row::Lease(Kind::EtcdSingle) => Nature {
            about: "one key in etcd",
            jumped: Jumped::Waiter,
            special: &[],
        },
        Row::Lease(Kind::Milvus) => Nature {
            about: "the active one of a pair of Milvus's coordinators, by a key in etcd",
            jumped: Jumped::Waiter,
            special: &[],
        },
        Row::Lease(Kind::Etcd) => Nature {
            about: "a queue of candidates in etcd",
            jumped: Jumped::Waiter,
            special: &[],
        },
    }
}

/// What is expected of a scheme under a fault: that it holds, and that clocks beyond the bound break it, if nothing special
/// is known.
#[must_use]
pub fn expected(row: Row, trial: Trial) -> Expected {
    let special = nature(row).special.iter().find(|(of, _)| *of == trial);
    match (special, trial) {
        (Some((_, expected)), _) => *expected,
        (None, Trial::RateBeyond) => BEYOND,
        (None, _) => Expected::Holds,
    }
}
