//! The row in a database, in the world: each request is one statement.

use super::{StoreAsk, StoreSaid};
use crate::server::Service;
use crate::store::sql::Database;
use tenure::Ticket;

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
}
