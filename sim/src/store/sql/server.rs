//! The server: sessions come and go, and each statement is carried out, or waits for a row.

use super::sessions::{Open, Sessions, Transaction, Waiting};
use super::statement::{Columns, Said, Session, Statement, Text, Values};
use super::table::Table;
use std::collections::VecDeque;
use tenure::lease::sql::MAX_EPOCH;

/// The highest epoch that a row has.
const LAST: i64 = MAX_EPOCH.cast_signed();

/// A server with its standby. Its times are those of its own clock, in microseconds.
#[derive(Clone, Debug)]
pub struct Server {
    table: Table,
    sessions: Sessions,
    said: VecDeque<(Session, Said)>,
    waited: u64,
}

/// When a statement is carried out.
#[derive(Clone, Copy, Debug)]
struct When {
    now: u64,
    /// When it came.
    since: u64,
    /// Whether it waited for a row that was changed meanwhile.
    changed: bool,
}

impl When {
    /// When its conditions and values were worked out, as far as that is done before a row is locked.
    const fn worked_out(self) -> i64 {
        let at = if self.changed { self.now } else { self.since };
        at.cast_signed()
    }
}

/// What a statement comes to.
enum Outcome {
    Said(Said),
    /// It waits for a row of another's transaction.
    Waits(Text),
}

impl Server {
    /// A server whose standby is so many microseconds behind.
    #[must_use]
    pub fn new(lag: u64) -> Self {
        Self {
            table: Table::new(lag),
            sessions: Sessions::new(),
            said: VecDeque::new(),
            waited: 0,
        }
    }

    /// A client connects.
    pub fn connect(&mut self, now: u64, session: Session) {
        let open = Open {
            since: now,
            ..Open::default()
        };
        self.sessions.open.insert(session, open);
    }

    /// Whether a session is there.
    #[must_use]
    pub fn is_connected(&self, session: Session) -> bool {
        self.sessions.open.contains_key(&session)
    }

    /// Whether a session waits for a row.
    #[must_use]
    pub fn waits(&self, session: Session) -> bool {
        let open = self.sessions.open.get(&session);
        open.is_some_and(|open| open.waits.is_some())
    }

    /// A row as it is committed, and when it expires.
    #[must_use]
    pub fn row(&self, name: &str) -> Option<(Columns, i64)> {
        let row = self.table.committed(name)?;
        Some((row.columns(), row.expires))
    }

    /// Whether a session holds the lock of this name.
    #[must_use]
    pub fn is_locked(&self, name: &str) -> bool {
        self.sessions.holder(name).is_some()
    }

    /// A connection is closed, by the client or by an operator (`pg_terminate_backend`). False when it was not there.
    pub fn end(&mut self, now: u64, session: Session) -> bool {
        if !self.sessions.end(session) {
            return false;
        }
        self.table.end(now, session, false);
        self.wake_waiting(now);
        true
    }

    /// A client asks in a session; nothing, while a statement of it waits.
    pub fn ask(&mut self, now: u64, session: Session, statement: &Statement) {
        self.wake(now);
        if !self.is_connected(session) {
            self.said.push_back((session, Said::Ended));
        } else if !self.waits(session) {
            self.carry_out(now, session, statement);
            self.wake_waiting(now);
        }
    }

    /// The next thing to say, and in which session.
    pub fn poll(&mut self) -> Option<(Session, Said)> {
        self.said.pop_front()
    }

    /// When a session will have been idle for too long.
    #[must_use]
    pub fn due(&self) -> Option<u64> {
        self.sessions.due()
    }

    /// The time has come.
    pub fn wake(&mut self, now: u64) {
        while let Some(session) = self.sessions.overdue(now) {
            self.end(now, session);
        }
    }

    /// The server dies, and is back with what was committed.
    pub fn restart(&mut self) {
        self.sessions.clear();
        self.table.forget_transactions();
        self.said.clear();
    }

    /// The server is lost, and its standby is promoted.
    pub fn fail_over(&mut self, now: u64) {
        self.restart();
        self.table.fail_over(now);
    }

    /// A backup is made of what is committed.
    pub fn back_up(&mut self) {
        self.table.back_up();
    }

    /// The last backup is restored. False without one.
    pub fn restore(&mut self) -> bool {
        let restored = self.table.restore();
        if restored {
            self.restart();
        }
        restored
    }

    /// An operator deletes every row. False when there is none.
    pub fn clear(&mut self) -> bool {
        self.table.clear()
    }

    fn carry_out(&mut self, now: u64, session: Session, statement: &Statement) {
        let when = When {
            now,
            since: now,
            changed: false,
        };
        match self.run(when, session, statement) {
            Outcome::Said(said) => self.say(now, session, said),
            Outcome::Waits(name) => {
                self.waited += 1;
                let waiting = Waiting {
                    number: self.waited,
                    since: now,
                    version: self.table.version(&name),
                    statement: statement.clone(),
                };
                if let Some(open) = self.sessions.open.get_mut(&session) {
                    open.waits = Some(waiting);
                }
            }
        }
    }

    /// A statement came to this. Without a transaction of its own it was one.
    fn say(&mut self, now: u64, session: Session, said: Said) {
        if let Some(open) = self.sessions.open.get_mut(&session) {
            open.since = now;
            if open.transaction.is_none() {
                self.table.end(now, session, true);
            }
        }
        self.said.push_back((session, said));
    }

    /// Whoever waits for a row that is not locked any more goes on.
    fn wake_waiting(&mut self, now: u64) {
        for session in self.sessions.waiting() {
            let open = self.sessions.open.get_mut(&session);
            let Some(waiting) = open.and_then(|open| open.waits.take()) else {
                continue;
            };
            let row = waiting.statement.row();
            // What was worked out before it waited stands if nothing was committed since.
            let changed = row.is_some_and(|name| self.table.version(name) != waiting.version);
            let when = When {
                now,
                since: waiting.since,
                changed,
            };
            match self.run(when, session, &waiting.statement) {
                Outcome::Said(said) => self.say(now, session, said),
                Outcome::Waits(_) => {
                    if let Some(open) = self.sessions.open.get_mut(&session) {
                        open.waits = Some(waiting);
                    }
                }
            }
        }
    }

    fn run(&mut self, when: When, session: Session, statement: &Statement) -> Outcome {
        let now = when.now;
        let Some(open) = self.sessions.open.get_mut(&session) else {
            return Outcome::Said(Said::Ended);
        };
        let began = open.transaction.map_or(when.since, |own| own.began);
        Outcome::Said(match statement {
            Statement::Open(idle) => {
                open.idle = (*idle > 0).then(|| idle.saturating_mul(1_000));
                Said::Row
            }
            Statement::Begin => {
                let (began, idle) = (now, open.idle);
                open.transaction.get_or_insert(Transaction { began, idle });
                Said::Done(0)
            }
            Statement::Commit | Statement::Rollback => {
                let commit = *statement == Statement::Commit;
                if let Some(own) = open.transaction.take()
                    && !commit
                {
                    open.idle = own.idle;
                }
                self.table.end(now, session, commit);
                Said::Done(0)
            }
            Statement::Lock(name) => Said::Is(self.sessions.lock(session, name)),
            Statement::Unlock(name) => Said::Is(self.sessions.unlock(session, name)),
            Statement::Read(name) => match self.table.visible(session, name) {
                None => Said::NoRow,
                Some(row) => {
                    let remains = row.expires.saturating_sub(now.cast_signed()).max(0);
                    Said::Read(row.columns(), remains.cast_unsigned())
                }
            },
            Statement::Look(name) => match self.table.visible(session, name) {
                None => Said::NoRow,
                Some(row) => Said::Looked(row.columns(), self.sessions.holder(name).is_some()),
            },
            Statement::Probe(name, nonce, epoch) => {
                let row = self.table.visible(session, name);
                let own = row.is_some_and(|row| row.is(nonce, *epoch) && !row.holder.is_empty());
                if own && self.sessions.holder(name) == Some(session) {
                    Said::Row
                } else {
                    Said::NoRow
                }
            }
            Statement::Take(values, ttl) => return self.take(when, session, values, *ttl),
            Statement::Draw(values, ttl, former) => {
                return self.draw(began, session, values, *ttl, former);
            }
            Statement::ForUpdate(name)
            | Statement::SetEpoch(name, _)
            | Statement::Renew(name, ..)
            | Statement::Release(name, ..) => return self.update(when, session, name, statement),
        })
    }

    /// `UPDATE`, and what finds its row in the same way.
    fn update(
        &mut self,
        when: When,
        session: Session,
        name: &Text,
        statement: &Statement,
    ) -> Outcome {
        let at = when.worked_out();
        let there = self.table.visible(session, name);
        let found = there.filter(|row| match statement {
            Statement::Renew(_, nonce, epoch, _) => {
                row.is(nonce, *epoch) && !row.holder.is_empty() && row.expires > at
            }
            Statement::Release(_, nonce, epoch) => row.is(nonce, *epoch),
            _ => true,
        });
        let Some(mut row) = found.cloned() else {
            // Who waited for the row has it locked, whatever it is by then.
            if when.changed && there.is_some() {
                self.table.lock(session, name);
            }
            return Outcome::Said(statement.nothing());
        };
        if self.table.is_locked(session, name) {
            return Outcome::Waits(name.clone());
        }
        self.table.lock(session, name);
        match statement {
            Statement::Renew(.., ttl) => {
                row.expires = at.saturating_add(*ttl);
            }
            Statement::Release(..) => {
                row.holder = "".into();
                row.metadata = "".into();
                row.expires = at;
                row.epoch += i64::from(row.epoch < LAST);
            }
            Statement::SetEpoch(_, epoch) => row.epoch = *epoch,
            _ => return Outcome::Said(Said::Epoch(row.epoch)),
        }
        self.table.write(name, row);
        Outcome::Said(match statement {
            Statement::Renew(..) => Said::Row,
            _ => Said::Done(1),
        })
    }

    fn take(&mut self, when: When, session: Session, values: &Values, ttl: i64) -> Outcome {
        if self.table.is_locked(session, &values.name) {
            return Outcome::Waits(values.name.clone());
        }
        self.table.lock(session, &values.name);
        let at = when.now.cast_signed();
        let row = match self.table.visible(session, &values.name) {
            None => values.row(1, when.since.cast_signed().saturating_add(ttl)),
            Some(row) if (row.holder.is_empty() || row.expires <= at) && row.epoch < LAST => {
                values.row(row.epoch + 1, at.saturating_add(ttl))
            }
            Some(_) => return Outcome::Said(Said::NoRow),
        };
        let epoch = row.epoch;
        self.table.write(&values.name, row);
        Outcome::Said(Said::Epoch(epoch))
    }

    fn draw(
        &mut self,
        began: u64,
        session: Session,
        values: &Values,
        ttl: i64,
        former: &Text,
    ) -> Outcome {
        if self.table.is_locked(session, &values.name) {
            return Outcome::Waits(values.name.clone());
        }
        self.table.lock(session, &values.name);
        let (epoch, wait) = match self.table.visible(session, &values.name) {
            None => (1, 0),
            Some(row) if row.epoch == LAST => return Outcome::Said(Said::NoRow),
            Some(row) if row.holder.is_empty() || row.nonce == *former => (row.epoch + 1, 0),
            Some(row) => (row.epoch + 1, ttl),
        };
        let expires = began.cast_signed().saturating_add(wait);
        self.table.write(&values.name, values.row(epoch, expires));
        Outcome::Said(Said::Drawn(epoch, wait > 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TTL: i64 = 100;

    fn take(nonce: &str) -> Statement {
        Statement::Take(values(nonce), TTL)
    }

    fn values(nonce: &str) -> Values {
        Values {
            name: "e".into(),
            holder: nonce.into(),
            metadata: "".into(),
            nonce: nonce.into(),
        }
    }

    /// A server with so many sessions, from 1 on.
    fn server(sessions: Session, lag: u64) -> Server {
        let mut server = Server::new(lag);
        (1..=sessions).for_each(|session| server.connect(0, session));
        server
    }

    fn ask(server: &mut Server, now: u64, session: Session, statement: &Statement) -> Option<Said> {
        server.ask(now, session, statement);
        server.poll().map(|(_, said)| said)
    }

    #[test]
    fn a_lock_that_came_and_went_leaves_an_update_as_it_was_worked_out() {
        for (end, expires) in [
            (Statement::Commit, 10 + TTL),
            (Statement::Rollback, 10 + TTL),
        ] {
            let mut server = server(2, 0);
            ask(&mut server, 0, 1, &take("a"));
            ask(&mut server, 1, 2, &Statement::Begin);
            ask(&mut server, 1, 2, &Statement::ForUpdate("e".into()));
            let renew = Statement::Renew("e".into(), "a".into(), 1, TTL);
            assert_eq!(ask(&mut server, 10, 1, &renew), None);
            assert_eq!(ask(&mut server, 500, 2, &end), Some(Said::Done(0)));
            // Long past its end.
            assert_eq!(server.poll(), Some((1, Said::Row)));
            assert_eq!(server.row("e").unwrap().1, expires);
        }
    }

    #[test]
    fn what_waits_for_a_row_to_take_looks_at_it_once_it_has_it() {
        let mut server = server(2, 0);
        ask(&mut server, 0, 1, &take("a"));
        ask(&mut server, 1, 2, &Statement::Begin);
        ask(&mut server, 1, 2, &Statement::ForUpdate("e".into()));
        assert_eq!(ask(&mut server, 10, 1, &take("b")), None);
        ask(&mut server, 500, 2, &Statement::Commit);
        assert_eq!(server.poll(), Some((1, Said::Epoch(2))));
        assert_eq!(server.row("e").unwrap().1, 500 + TTL);
    }

    #[test]
    fn a_session_takes_its_lock_and_its_transaction_with_it() {
        let mut server = server(3, 0);
        let lock = Statement::Lock("e".into());
        assert_eq!(ask(&mut server, 0, 1, &lock), Some(Said::Is(true)));
        assert_eq!(ask(&mut server, 0, 2, &lock), Some(Said::Is(false)));
        ask(&mut server, 0, 1, &Statement::Begin);
        ask(&mut server, 0, 1, &take("a"));
        ask(&mut server, 0, 1, &Statement::Lock("other".into()));
        ask(&mut server, 0, 1, &Statement::Rollback);
        let unlocked = Statement::Unlock("other".into());
        assert_eq!(ask(&mut server, 0, 1, &unlocked), Some(Said::Is(true)));
        ask(&mut server, 0, 1, &Statement::Begin);
        ask(&mut server, 0, 1, &take("a"));
        assert_eq!(ask(&mut server, 0, 2, &take("b")), None);
        assert!(server.end(1, 1) && !server.end(1, 1));
        assert_eq!(server.poll(), Some((2, Said::Epoch(1))));
        assert_eq!(ask(&mut server, 1, 2, &lock), Some(Said::Is(true)));
        assert_eq!(ask(&mut server, 1, 1, &lock), Some(Said::Ended));
    }

    #[test]
    fn who_is_idle_for_too_long_is_ended_but_not_in_a_transaction() {
        let mut server = server(2, 0);
        for session in [1, 2] {
            ask(&mut server, 0, session, &Statement::Open(1));
        }
        ask(&mut server, 0, 2, &Statement::Begin);
        assert_eq!(server.due(), Some(1_000));
        server.wake(1_000);
        assert!(!server.is_connected(1) && server.is_connected(2));
        ask(&mut server, 5_000, 2, &Statement::Commit);
        assert_eq!(server.due(), Some(6_000));
    }

    #[test]
    fn a_standby_has_what_reached_it_and_a_backup_what_was_there() {
        let mut server = server(1, 50);
        ask(&mut server, 0, 1, &take("a"));
        server.back_up();
        ask(&mut server, 100, 1, &take("b"));
        ask(
            &mut server,
            120,
            1,
            &Statement::Release("e".into(), "b".into(), 2),
        );
        assert_eq!(server.row("e").unwrap().0.epoch, 3);
        server.fail_over(155);
        assert_eq!(server.row("e").unwrap().0.epoch, 2);
        assert!(!server.is_connected(1));
        assert!(server.restore());
        assert_eq!(server.row("e").unwrap().0.epoch, 1);
        assert!(server.clear() && server.row("e").is_none() && !server.clear());
    }
}
