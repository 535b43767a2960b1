//! The row in a database and the lock of a session, in the world: each request is a statement or a few, and each answer is
//! what came of them.

use super::candidate::Candidate;
use super::{StoreAsk, StoreSaid};
use crate::server::{Record, Service};
use crate::sorted::Sorted;
use crate::store::sql::{Columns, Said, Server, Session, Statement, Text, Values};
use std::collections::VecDeque;
use tenure::lease::sql::session::{self, Call};
use tenure::lease::sql::{Reply, Request, Row};
use tenure::lease::{Claimant, Identity, Nonce, Switched, sql as core_sql};
use tenure::{Duration, Ticket, Unknown};

/// The election.
const NAME: &str = "election";
/// How far behind its primary the standby is.
const LAG: u64 = 1_000_000;

/// A database and its clients' connections.
#[derive(Clone, Debug)]
pub(crate) struct Database {
    server: Server,
    /// Of which connections the server has heard.
    latest: Sorted<u16, Connection>,
    /// What each session is asked now.
    asked: Sorted<Session, Asked>,
    /// Whom to tell that a session is over.
    watches: Sorted<Session, (u16, Ticket)>,
    said: VecDeque<(u16, Ticket, StoreSaid)>,
    /// How many statements came that need no session.
    pooled: Session,
}

/// A request of a client, and the statement of it that is not answered yet.
#[derive(Clone, Debug)]
struct Asked {
    client: u16,
    ticket: Ticket,
    ask: StoreAsk,
    statement: Statement,
}

/// Of which life of a client, and which of that: later ones are greater.
type Connection = (u64, u32);

impl Default for Database {
    fn default() -> Self {
        Self {
            server: Server::new(LAG),
            latest: Sorted::default(),
            asked: Sorted::default(),
            watches: Sorted::default(),
            said: VecDeque::new(),
            pooled: POOLED,
        }
    }
}

/// Connections from a pool, each for one request, are numbered from here on.
const POOLED: Session = 1 << 63;

/// A connection as the server numbers it.
fn session_of(client: u16, (life, number): Connection) -> Session {
    u64::from(client) | life << 16 | u64::from(number) << 32
}

impl Database {
    /// The session in which a client asks; `None` when that is over. A new one is opened by the statement that says how long it
    /// may be idle, and by no other: a connection of which that was lost carries nothing after it either, and a lock taken in
    /// a session that may be idle for ever would outlive its client. One that a client has closed goes, and that of a process
    /// that died; but of a client whose machine is down the server hears nothing.
    fn session(
        &mut self,
        now: u64,
        client: u16,
        request: (u64, &session::Request),
    ) -> Option<Session> {
        let connection = (request.0, request.1.session);
        let session = session_of(client, connection);
        match self.latest.get(&client) {
            Some(latest) if *latest > connection => return None,
            Some(latest) if *latest == connection => {
                return self.server.is_connected(session).then_some(session);
            }
            _ if !matches!(request.1.call, Call::Open { .. }) => return None,
            Some(latest) if latest.0 == connection.0 => {
                self.server.end(now, session_of(client, *latest));
            }
            _ => {}
        }
        self.latest.insert(client, connection);
        self.server.connect(now, session);
        Some(session)
    }

    /// What the server said is told, or the next statement of the request is asked.
    fn go_on(&mut self, now: u64) {
        while let Some((session, said)) = self.server.poll() {
            let Some(asked) = self.asked.remove(&session) else {
                continue;
            };
            let (client, ticket) = (asked.client, asked.ticket);
            match after(&asked, said) {
                Next::Tell(told) => {
                    if session >= POOLED {
                        self.server.end(now, session);
                    }
                    self.said.push_back((client, ticket, told));
                }
                Next::Watch => {
                    self.watches.insert(session, (client, ticket));
                }
                Next::Ask(statement) => {
                    self.server.ask(now, session, &statement);
                    self.asked.insert(session, Asked { statement, ..asked });
                }
            }
        }
        self.tell_of_ends();
    }

    /// Clients whose connection is gone hear of it.
    fn tell_of_ends(&mut self) {
        self.watches.retain(|session, (client, ticket)| {
            let connected = self.server.is_connected(*session);
            if !connected {
                let ended = StoreSaid::SqlSession(session::Reply::Ended);
                self.said.push_back((*client, *ticket, ended));
            }
            connected
        });
    }

    /// Every connection is gone: whoever waits for an answer gets none.
    fn hang_up(&mut self) {
        self.asked = Sorted::default();
        self.said.clear();
        self.tell_of_ends();
    }
}

enum Next {
    Tell(StoreSaid),
    /// It is answered when the session is over.
    Watch,
    Ask(Statement),
}

fn text(text: &str) -> Text {
    text.into()
}

fn nonce(nonce: Nonce) -> Text {
    text(&nonce.to_string())
}

fn values(claimant: &Claimant, attempt: Nonce) -> Values {
    Values {
        name: text(NAME),
        holder: text(claimant.identity.name()),
        metadata: text(claimant.metadata()),
        nonce: nonce(attempt),
    }
}

fn micros(time: Duration) -> i64 {
    time.as_micros().cast_signed()
}

/// The first statement of a request.
fn first(ask: &StoreAsk) -> Option<Statement> {
    Some(match ask {
        StoreAsk::Sql(Request::Take {
            claimant,
            nonce,
            ttl,
        }) => Statement::Take(values(claimant, *nonce), micros(*ttl)),
        StoreAsk::Sql(Request::Renew {
            nonce: own,
            epoch,
            ttl,
        }) => Statement::Renew(text(NAME), nonce(*own), epoch.cast_signed(), micros(*ttl)),
        StoreAsk::Sql(Request::Release { nonce: own, epoch })
        | StoreAsk::SqlSession(session::Request {
            call: Call::Release { nonce: own, epoch },
            ..
        }) => Statement::Release(text(NAME), nonce(*own), epoch.cast_signed()),
        StoreAsk::Sql(Request::Read) => Statement::Read(text(NAME)),
        StoreAsk::SqlSession(session::Request { call, .. }) => match call {
            Call::Open { idle } => Statement::Open(idle.as_micros().div_ceil(1_000)),
            Call::Take { .. } => Statement::Lock(text(NAME)),
            Call::Probe { nonce: own, epoch } => {
                Statement::Probe(text(NAME), nonce(*own), epoch.cast_signed())
            }
            _ => Statement::Look(text(NAME)),
        },
        _ => return None,
    })
}

/// What follows from what a statement of a request came to.
fn after(asked: &Asked, said: Said) -> Next {
    let in_session = matches!(asked.ask, StoreAsk::SqlSession(_));
    match (&asked.statement, said) {
        (Statement::Take(..), Said::Epoch(epoch)) => Reply::Taken(epoch.cast_unsigned()).into(),
        (Statement::Take(..) | Statement::Renew(..), Said::NoRow) => {
            Next::Ask(Statement::Read(text(NAME)))
        }
        (Statement::Renew(..), Said::Row) => Reply::Renewed.into(),
        (Statement::Release(..), _) if in_session => Next::Ask(Statement::Unlock(text(NAME))),
        (Statement::Release(..), Said::Done(_)) => Reply::Released.into(),
        (Statement::Read(_), Said::Read(columns, remains)) => {
            let (holder, nonce) = seen(&columns);
            Reply::Row(Some(Row {
                holder,
                nonce,
                epoch: columns.epoch.cast_unsigned(),
                left: Duration::from_micros(remains),
            }))
            .into()
        }
        (Statement::Read(_), Said::NoRow) => Reply::Row(None).into(),
        (Statement::Open(_), Said::Row) => Next::Watch,
        (Statement::Lock(_), Said::Is(true)) => match draw(&asked.ask) {
            Some(draw) => Next::Ask(draw),
            None => session::Reply::Ended.into(),
        },
        (Statement::Lock(_), Said::Is(false))
        | (Statement::Draw(..) | Statement::Probe(..), Said::NoRow) => {
            Next::Ask(Statement::Look(text(NAME)))
        }
        (Statement::Draw(..), Said::Drawn(epoch, interrupted)) => session::Reply::Taken {
            epoch: epoch.cast_unsigned(),
            interrupted,
        }
        .into(),
        (Statement::Probe(..), Said::Row) => session::Reply::Held.into(),
        (Statement::Unlock(_), Said::Is(_)) => session::Reply::Released.into(),
        (Statement::Look(_), Said::Looked(columns, locked)) => {
            let (holder, nonce) = seen(&columns);
            session::Reply::Row(Some(session::Row {
                holder,
                nonce,
                epoch: columns.epoch.cast_unsigned(),
                locked,
            }))
            .into()
        }
        (Statement::Look(_), Said::NoRow) => session::Reply::Row(None).into(),
        _ if in_session => session::Reply::Ended.into(),
        _ => Reply::NotDone.into(),
    }
}

/// With the lock an epoch is drawn.
fn draw(ask: &StoreAsk) -> Option<Statement> {
    let StoreAsk::SqlSession(session::Request {
        call:
            Call::Take {
                claimant,
                nonce: own,
                former,
                ttl,
            },
        ..
    }) = ask
    else {
        return None;
    };
    let former = former.map_or_else(|| text(""), nonce);
    Some(Statement::Draw(
        values(claimant, *own),
        micros(*ttl),
        former,
    ))
}

/// Who holds a row, by which attempt.
fn seen(columns: &Columns) -> (Option<Claimant>, Nonce) {
    let claimant = Identity::new(&columns.holder).ok().map(Claimant::new);
    let holder = claimant.and_then(|claimant| claimant.with_metadata(&columns.metadata).ok());
    (holder, columns.nonce.parse().unwrap_or(Nonce(0)))
}

impl From<Reply> for Next {
    fn from(reply: Reply) -> Self {
        Self::Tell(StoreSaid::Sql(reply))
    }
}

impl From<session::Reply> for Next {
    fn from(reply: session::Reply) -> Self {
        Self::Tell(StoreSaid::SqlSession(reply))
    }
}

impl Service for Database {
    fn ask(&mut self, now: u64, client: u16, ticket: Ticket, ask: &StoreAsk) {
        let Some(statement) = first(ask) else {
            return;
        };
        let session = match ask {
            StoreAsk::SqlSession(request) => {
                self.session(now, client, (ticket.incarnation, request))
            }
            _ => {
                self.pooled += 1;
                self.server.connect(now, self.pooled);
                Some(self.pooled)
            }
        };
        let Some(session) = session else {
            let ended = StoreSaid::SqlSession(session::Reply::Ended);
            self.said.push_back((client, ticket, ended));
            return;
        };
        self.server.ask(now, session, &statement);
        let asked = Asked {
            client,
            ticket,
            ask: ask.clone(),
            statement,
        };
        self.asked.insert(session, asked);
        self.go_on(now);
    }

    fn hung_up(&mut self, now: u64, client: u16) {
        if let Some(latest) = self.latest.get(&client) {
            self.server.end(now, session_of(client, *latest));
            self.go_on(now);
        }
    }

    fn poll(&mut self) -> Option<(u16, Ticket, StoreSaid)> {
        self.said.pop_front()
    }

    fn records(&self, now: u64) -> Vec<Record> {
        let Some((columns, expires)) = self.server.row(NAME) else {
            return Vec::new();
        };
        let locked = self.server.is_locked(NAME);
        let named = !columns.holder.is_empty();
        vec![Record {
            key: NAME.to_owned(),
            holder: named.then(|| columns.holder.to_string()),
            token: columns.epoch.cast_unsigned(),
            ends: (!locked).then_some(expires.cast_unsigned()),
            holds: named && (locked || expires > now.cast_signed()),
        }]
    }

    fn due(&self) -> Option<u64> {
        self.server.due()
    }

    fn wake(&mut self, now: u64) {
        self.server.wake(now);
        self.go_on(now);
    }

    fn restarted(&mut self, _: u64) {
        self.server.restart();
        self.hang_up();
    }

    fn fail_over(&mut self, now: u64) -> bool {
        self.server.fail_over(now);
        self.hang_up();
        true
    }

    fn evict(&mut self, _: u64) -> bool {
        self.server.clear()
    }

    fn back_up(&mut self, _: u64) -> bool {
        self.server.back_up();
        true
    }

    fn restore(&mut self, _: u64) -> bool {
        let restored = self.server.restore();
        if restored {
            self.hang_up();
        }
        restored
    }
}

impl Candidate for core_sql::Sql<Switched> {
    fn ask(request: Self::Request) -> (usize, StoreAsk) {
        (0, StoreAsk::Sql(request))
    }

    fn reply(said: StoreSaid) -> Result<Self::Reply, Unknown> {
        match said {
            StoreSaid::Sql(reply) => Ok(reply),
            _ => Err(Unknown),
        }
    }

    fn belief(&self) -> Duration {
        let timing = self.config().timing;
        timing.belief(timing.ttl)
    }
}

impl Candidate for session::Session<Switched> {
    fn ask(request: Self::Request) -> (usize, StoreAsk) {
        (0, StoreAsk::SqlSession(request))
    }

    fn reply(said: StoreSaid) -> Result<Self::Reply, Unknown> {
        match said {
            StoreSaid::SqlSession(reply) => Ok(reply),
            _ => Err(Unknown),
        }
    }

    fn belief(&self) -> Duration {
        let timing = self.config().common.timing;
        timing.belief(timing.ttl)
    }
}
