//! How the record is kept in a row.

use super::api::{MAX_EPOCH, Reply, Request, Row};
use crate::lease::Faithful;
use crate::lease::record::{Answer, Call, Keeper, Mark, Record, Seen};

/// One node's election by a row of a database.
pub type Sql<R = Faithful> = Record<Database, R>;

/// A database.
#[derive(Clone, Debug)]
pub enum Database {}

impl Keeper for Database {
    type Request = Request;
    type Reply = Reply;

    const LAST: u64 = MAX_EPOCH;
    const LOOKS_FIRST: bool = true;
    /// It has expired, and whoever comes first takes it.
    const STAYS: bool = false;

    fn request(call: Call) -> Request {
        match call {
            Call::Take(Mark { claimant, nonce }, ttl) => Request::Take {
                claimant,
                nonce,
                ttl,
            },
            Call::Renew(Mark { nonce, .. }, epoch, ttl) => Request::Renew { nonce, epoch, ttl },
            Call::Release { mark, counter, .. } => Request::Release {
                nonce: mark.nonce,
                epoch: counter,
            },
            Call::Read => Request::Read,
        }
    }

    fn answer(reply: Reply) -> Answer {
        match reply {
            Reply::Taken(epoch) => Answer::Taken(epoch),
            Reply::Renewed => Answer::Renewed,
            Reply::Released => Answer::Released,
            Reply::Row(row) => Answer::Seen(row.map(Seen::from)),
            Reply::NotDone => Answer::NotDone,
        }
    }
}

impl From<Row> for Seen {
    fn from(row: Row) -> Self {
        let Row {
            holder,
            nonce,
            epoch,
            left,
        } = row;
        Self {
            mark: holder.map(|claimant| Mark { claimant, nonce }),
            counter: epoch,
            left,
        }
    }
}
