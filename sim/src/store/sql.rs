//! A database with one row an election, which runs the statements of [`tenure::lease::sql`], one after another, each in a
//! transaction of its own.
//!
//! As the real one: conditions are judged, and times are read, when the row is locked, on the clock of the server; what was
//! answered survives a crash (`synchronous_commit`).

use std::collections::VecDeque;
use tenure::lease::sql::{Reply, Request, Row};
use tenure::lease::{Claimant, Nonce};
use tenure::{Duration, Ticket};

/// A database.
#[derive(Clone, Debug, Default)]
pub(crate) struct Database {
    row: Option<Kept>,
    said: VecDeque<(u16, Ticket, Reply)>,
}

/// The row as it is kept.
#[derive(Clone, Debug)]
struct Kept {
    holder: Option<Claimant>,
    nonce: Nonce,
    epoch: u64,
    expires: u64,
}

impl Database {
    /// A client runs a statement, at `now` on the clock of the server.
    pub(crate) fn run(&mut self, now: u64, client: u16, ticket: Ticket, statement: &Request) {
        let reply = self.carry_out(now, statement);
        self.said.push_back((client, ticket, reply));
    }

    /// The next answer, to whom, and to which statement.
    pub(crate) fn answered(&mut self) -> Option<(u16, Ticket, Reply)> {
        self.said.pop_front()
    }

    fn carry_out(&mut self, now: u64, statement: &Request) -> Reply {
        let ends = |ttl: Duration| now.saturating_add(ttl.as_micros());
        match statement {
            Request::Take {
                claimant,
                nonce,
                ttl,
            } => {
                let epoch = match &self.row {
                    Some(row) if row.is_held(now) || row.epoch >= tenure::lease::sql::MAX_EPOCH => {
                        return self.seen(now);
                    }
                    Some(row) => row.epoch + 1,
                    None => 1,
                };
                self.row = Some(Kept {
                    holder: Some(claimant.clone()),
                    nonce: *nonce,
                    epoch,
                    expires: ends(*ttl),
                });
                Reply::Taken(epoch)
            }
            Request::Renew { nonce, epoch, ttl } => match &mut self.row {
                Some(row) if row.is(*nonce, *epoch) && row.is_held(now) => {
                    row.expires = ends(*ttl);
                    Reply::Renewed
                }
                _ => self.seen(now),
            },
            Request::Release { nonce, epoch } => {
                if let Some(row) = &mut self.row
                    && row.is(*nonce, *epoch)
                {
                    (row.holder, row.expires) = (None, now);
                    row.epoch += 1;
                }
                Reply::Released
            }
            Request::Read => self.seen(now),
        }
    }

    fn seen(&self, now: u64) -> Reply {
        Reply::Row(self.row(now))
    }

    /// The row as whoever reads it at `now` sees it.
    pub(crate) fn row(&self, now: u64) -> Option<Row> {
        self.row.as_ref().map(|row| Row {
            holder: row.holder.clone(),
            nonce: row.nonce,
            epoch: row.epoch,
            left: Duration::from_micros(row.expires.saturating_sub(now)),
        })
    }
}

impl Kept {
    fn is(&self, nonce: Nonce, epoch: u64) -> bool {
        (self.nonce, self.epoch) == (nonce, epoch)
    }

    fn is_held(&self, now: u64) -> bool {
        self.holder.is_some() && self.expires > now
    }
}
