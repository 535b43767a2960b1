//! The row in a database, in the world: each request is one statement.

use super::{StoreAsk, StoreSaid};
use crate::server::{Record, Service};
use crate::store::sql::Database;
use tenure::{Duration, Ticket};

impl Service for Database {
    fn ask(&mut self, now: u64, client: u16, ticket: Ticket, ask: &StoreAsk) {
        if let StoreAsk::Sql(statement) = ask {
            self.run(now, client, ticket, statement);
        }
    }

    fn poll(&mut self) -> Option<(u16, Ticket, StoreSaid)> {
        let (client, ticket, reply) = self.answered()?;
        Some((client, ticket, StoreSaid::Sql(reply)))
    }

    fn records(&self, now: u64) -> Vec<Record> {
        let Some(row) = self.row(now) else {
            return Vec::new();
        };
        vec![Record {
            key: "election".to_owned(),
            holds: row.holder.is_some() && row.left > Duration::ZERO,
            ends: Some(now + row.left.as_micros()),
            token: row.epoch,
            holder: row.holder.map(|holder| holder.identity.name().to_owned()),
        }]
    }
}
