//! PostgreSQL: the statements of both elections by a database, as they are, from several sessions, with transactions that
//! hold row locks, advisory locks, sessions that end, and clock jumps.

mod words;

use crate::compare::{Replies, Store};
use crate::report::Report;
use crate::server::PATIENCE;
use crate::server::postgres::{Answer, Client, Postgres};
use crate::trouble::Trouble;
use std::fmt;
use std::time::{Duration, Instant};
use tenure::lease::sql::{MAX_EPOCH, text};
use tenure::random::Random;
use tenure_sim::store::sql::{Server, Session, Statement, Values};
use words::{after, kind, prepared, sql, told, words};

/// What is said of it.
pub(crate) const REPORT: Report = Report {
    name: "postgres",
    real: "`postgres` 15 of Debian 12, with `tenure_sim::store::sql::Server`",
    compared: &[
        "The texts of `tenure::lease::sql::text`, prepared as they are and executed in four sessions in turn: `TAKE`, `RENEW`, \
         `RELEASE`, `READ` of the row, `OPEN`, `LOCK`, `DRAW`, `PROBE`, `UNLOCK`, `LOOK` of the session; and beside them \
         `BEGIN`, `COMMIT`, `ROLLBACK`, `SELECT … FOR UPDATE`, and an operator's `UPDATE`. The real server's clock is \
         told by the test (a library put before its own), so that every reply is equal to the microsecond; it stands, advances, \
         jumps forth and back, often to just before, onto and just after the end of a row.",
        "Statements that meet another's row lock: that they wait, and what comes of them when the other commits, rolls back, or its \
         session ends, with the clock advanced meanwhile. Sessions that are closed, terminated by an operator, or idle for too long.",
    ],
    must_see: &[
        ("TAKE", &["epoch is", "no row", "waits", "ended"]),
        ("RENEW", &["row", "no row", "waits"]),
        ("RELEASE", &["done 0", "done 1", "waits"]),
        ("READ", &["is held", "is over", "no row"]),
        ("LOCK", &["true", "false"]),
        (
            "DRAW",
            &["drawn freely", "drawn interrupting", "no row", "waits"],
        ),
        ("PROBE", &["row", "no row"]),
        ("UNLOCK", &["true", "false"]),
        ("LOOK", &["is locked", "is unlocked", "no row"]),
        ("FOR UPDATE", &["epoch is", "no row", "waits"]),
        ("after TAKE", &["epoch is", "no row"]),
        ("after RENEW", &["row after"]),
        ("after RELEASE", &["done 1"]),
        ("after DRAW", &["drawn freely", "drawn interrupting"]),
        ("after FOR UPDATE", &["epoch is"]),
    ],
    differences: &[],
    beyond: &[
        (
            "The standby and the backup of the simulated server are compared with no real ones.",
            "What a standby has depends on when the stream reaches it, and nothing here holds that stream; a backup is a copy.",
        ),
        (
            "One statement at a time waits for a row here. Of several, the simulated server lets those go on first that came first.",
            "Once the row was changed they race in the real one, whichever the scheduler wakes first.",
        ),
        (
            "A session that waits for a row is not closed by its client here.",
            "The real server hears of it only when it has the row.",
        ),
        (
            "The time for which a session was idle is counted by the clock that may jump. The real server sleeps by another one, and ends it \
             only when both say so.",
            "A server that ends a session later holds the lock for longer: nobody leads sooner.",
        ),
    ],
};

const SESSIONS: usize = 4;
/// 2026, in microseconds.
const BEGINS: i64 = 1_767_225_600_000_000;
/// The clock does not jump back further than this while a session may be idle for too long: the real server would sleep for as
/// long before it looks again.
const FAR_BACK: i64 = 50_000;
const LAST: i64 = MAX_EPOCH.cast_signed();

/// A step of a comparison.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// A statement in a session, which is opened if it is not there.
    Ask(usize, Statement),
    /// The clock advances, or jumps, by so many microseconds.
    Jump(i64),
    /// It jumps to so many microseconds after the end of a row, if there is one.
    JumpToEnd(&'static str, i64),
    /// A client closes its connection.
    Close(usize),
    /// An operator ends a session.
    Terminate(usize),
}

/// One session on both servers.
struct Connection {
    client: Client,
    process: String,
    simulated: Session,
    /// What it waits to be told.
    asked: Option<Statement>,
}

/// The two servers.
pub(crate) struct Pair {
    real: Postgres,
    monitor: Client,
    sessions: [Option<Connection>; SESSIONS],
    simulated: Server,
    opened: Session,
    now: i64,
}

impl Pair {
    pub(crate) fn start() -> Result<Self, Trouble> {
        let real = Postgres::start(BEGINS)?;
        let mut monitor = real.connect()?;
        done(&mut monitor, text::TABLE)?;
        Ok(Self {
            real,
            monitor,
            sessions: [const { None }; SESSIONS],
            simulated: Server::new(0),
            opened: 0,
            now: BEGINS,
        })
    }

    fn time(&self) -> u64 {
        self.now.cast_unsigned()
    }

    /// The session, which is opened if it is not there.
    fn session(&mut self, place: usize) -> Result<&mut Connection, Trouble> {
        if self.sessions[place].is_none() {
            let mut client = self.real.connect()?;
            done(&mut client, &prepared())?;
            // The alarm of one kind of time-out may have to go off before the server looks at the others.
            done(&mut client, "SET deadlock_timeout = '5ms'")?;
            let process = match client.ask("SELECT pg_backend_pid()")? {
                Answer::Done(rows, _) => first(&rows),
                Answer::Refused(_, why) => return Err(Trouble::failed("pg_backend_pid", why)),
            };
            self.opened += 1;
            self.simulated.connect(self.time(), self.opened);
            self.sessions[place] = Some(Connection {
                client,
                process,
                simulated: self.opened,
                asked: None,
            });
        }
        let session = self.sessions[place].as_mut();
        session.ok_or_else(|| Trouble::failed("a session", "it is not there"))
    }

    fn ask(&mut self, place: usize, statement: &Statement) -> Result<Option<Replies>, Trouble> {
        let waiting = |session: &Option<Connection>| {
            session
                .as_ref()
                .is_some_and(|session| session.asked.is_some())
        };
        let others_wait = self.sessions.iter().any(waiting);
        let time = self.time();
        let session = self.session(place)?;
        if session.asked.is_some() {
            return Ok(None);
        }
        let number = session.simulated;
        let mut simulated = self.simulated.clone();
        simulated.ask(time, number, statement);
        let waits = simulated.waits(number);
        if waits && others_wait {
            return Ok(None);
        }
        self.simulated = simulated;
        let session = self.session(place)?;
        let sent = session.client.tell(&sql(statement));
        if waits {
            session.asked = Some(statement.clone());
            let process = session.process.clone();
            let real = if self.comes_to_wait(&process)? {
                "waits"
            } else {
                "does not wait"
            };
            return Ok(Some(Replies {
                kind: kind(statement),
                simulated: "waits".to_owned(),
                real: real.to_owned(),
            }));
        }
        // A connection that the server has closed may say so when it is written to, or when it is read from.
        let reply = match sent {
            Ok(()) => session.client.last_reply()?,
            Err(_) => None,
        };
        let real = reply.map_or_else(|| "ended".to_owned(), |answer| words(statement, &answer));
        let simulated = self.simulated.poll();
        let simulated = simulated.map_or_else(|| "silent".to_owned(), |(_, said)| told(&said));
        if real == "ended" {
            self.sessions[place] = None;
        }
        self.go_on(Replies {
            kind: kind(statement),
            simulated,
            real,
        })
        .map(Some)
    }

    /// What whoever waited is told, after what ended its waiting.
    fn go_on(&mut self, before: Replies) -> Result<Replies, Trouble> {
        let Some((number, said)) = self.simulated.poll() else {
            return Ok(before);
        };
        let mut sessions = self.sessions.iter_mut().flatten();
        let woken = sessions.find(|session| session.simulated == number);
        let Some(Connection { client, asked, .. }) = woken else {
            return Err(Trouble::failed(
                "the simulated server",
                "it answered nobody",
            ));
        };
        let statement = asked
            .take()
            .ok_or_else(|| Trouble::failed("the simulated server", "it was not asked"))?;
        let real = client.reply()?;
        Ok(Replies {
            kind: after(&statement),
            simulated: format!("{} after {}", told(&said), before.simulated),
            real: format!("{} after {}", words(&statement, &real), before.real),
        })
    }

    /// Whether a process of the server comes to wait for a lock.
    fn comes_to_wait(&mut self, process: &str) -> Result<bool, Trouble> {
        let waits = format!("SELECT count(*) FROM pg_locks WHERE pid = {process} AND NOT granted");
        self.comes(&waits, "1")
    }

    /// Whether the answer to this becomes that.
    fn comes(&mut self, statement: &str, what: &str) -> Result<bool, Trouble> {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE / 12 {
            if let Answer::Done(rows, _) = self.monitor.ask(statement)?
                && first(&rows) == what
            {
                return Ok(true);
            }
            std::thread::sleep(Duration::from_micros(200));
        }
        Ok(false)
    }

    /// A process of the server is to be over.
    fn gone(&mut self, process: &str) -> Result<(), Trouble> {
        let there = format!("SELECT count(*) FROM pg_stat_activity WHERE pid = {process}");
        if self.comes(&there, "0")? {
            return Ok(());
        }
        Err(Trouble::failed("a session", "the server does not end it"))
    }

    fn close(&mut self, place: usize) -> Result<Option<Replies>, Trouble> {
        let Some(session) = self.sessions[place].take_if(|session| session.asked.is_none()) else {
            return Ok(None);
        };
        drop(session.client);
        self.gone(&session.process)?;
        self.simulated.end(self.time(), session.simulated);
        self.ended()
    }

    fn terminate(&mut self, place: usize) -> Result<Option<Replies>, Trouble> {
        let time = self.time();
        let Some(session) = &mut self.sessions[place] else {
            return Ok(None);
        };
        // What it waited for it is not told.
        session.asked = None;
        let (process, number) = (session.process.clone(), session.simulated);
        done(
            &mut self.monitor,
            &format!("SELECT pg_terminate_backend({process})"),
        )?;
        self.gone(&process)?;
        self.simulated.end(time, number);
        self.ended()
    }

    /// A session ended: whoever waited for it goes on.
    fn ended(&mut self) -> Result<Option<Replies>, Trouble> {
        let before = Replies {
            kind: "",
            simulated: "end".to_owned(),
            real: "end".to_owned(),
        };
        let replies = self.go_on(before)?;
        Ok((!replies.kind.is_empty()).then_some(replies))
    }

    fn set_clock(&mut self, now: i64) -> Result<(), Trouble> {
        if now < self.now - FAR_BACK && self.simulated.due().is_some() {
            return Ok(());
        }
        self.now = now;
        self.real.clock().set(now)?;
        self.simulated.wake(self.time());
        // Those that were idle for too long.
        let over = |session: &&Connection| !self.simulated.is_connected(session.simulated);
        let over = self.sessions.iter().flatten().filter(over);
        let over: Vec<String> = over.map(|session| session.process.clone()).collect();
        over.iter().try_for_each(|process| self.gone(process))
    }
}

impl Store for Pair {
    type Step = Step;

    fn draw(&self, draw: &mut Random) -> Step {
        let session = draw.below(SESSIONS as u64) as usize;
        match draw.below(1_000) {
            0..880 => Step::Ask(session, statement(&self.simulated, draw)),
            880..920 => Step::Jump(draw.below(8_000).cast_signed()),
            920..965 => Step::JumpToEnd(name(draw), draw.below(4).cast_signed() - 1),
            965..970 => Step::Jump(draw.below(40_000).cast_signed() - 20_000),
            970..985 => Step::Close(session),
            _ => Step::Terminate(session),
        }
    }

    fn begin(&mut self) -> Result<(), Trouble> {
        for place in 0..SESSIONS {
            if let Some(session) = self.sessions[place].take() {
                drop(session.client);
                // It may wait for another, or be over.
                done(
                    &mut self.monitor,
                    &format!("SELECT pg_terminate_backend({})", session.process),
                )?;
                self.gone(&session.process)?;
            }
        }
        done(&mut self.monitor, "DELETE FROM elections")?;
        self.simulated = Server::new(0);
        self.set_clock(BEGINS)
    }

    fn take(&mut self, step: &Step) -> Result<Option<Replies>, Trouble> {
        match step {
            Step::Ask(session, statement) => return self.ask(*session, statement),
            Step::Close(session) => return self.close(*session),
            Step::Terminate(session) => return self.terminate(*session),
            Step::Jump(by) => self.set_clock(self.now + by)?,
            Step::JumpToEnd(name, after) => {
                if let Some((_, end)) = self.simulated.row(name) {
                    self.set_clock(end + after)?;
                }
            }
        }
        Ok(None)
    }
}

/// Runs a statement that has to succeed.
fn done(client: &mut Client, statement: &str) -> Result<(), Trouble> {
    match client.ask(statement)? {
        Answer::Done(..) => Ok(()),
        Answer::Refused(_, why) => Err(Trouble::failed(statement, why)),
    }
}

/// The first column of the first row.
fn first(rows: &[Vec<Option<String>>]) -> String {
    let first = rows.first().and_then(|row| row.first().cloned());
    first.flatten().unwrap_or_default()
}

fn name(draw: &mut Random) -> &'static str {
    // Mostly one: they are to meet.
    ["jobs", "jobs", "jobs", "mail"][draw.below(4) as usize]
}

/// A lease: mostly short; also none, and one that is over before it begins.
fn ttl(draw: &mut Random) -> i64 {
    match draw.below(20) {
        0 => 0,
        1 => -5,
        2 => 86_400_000_000,
        _ => draw.below(20_000).cast_signed() + 1,
    }
}

fn statement(server: &Server, draw: &mut Random) -> Statement {
    let name = name(draw);
    let nonce = |draw: &mut Random| ["0a", "0b", "0c"][draw.below(3) as usize];
    // Mostly of whoever has the row.
    let (own, epoch) = match server.row(name) {
        Some((row, _)) if draw.below(10) < 9 => (row.nonce, row.epoch),
        _ => (nonce(draw).into(), draw.below(4).cast_signed()),
    };
    let values = |draw: &mut Random| Values {
        name: name.into(),
        holder: ["anna", "ben"][draw.below(2) as usize].into(),
        metadata: ["", "10.0.0.1"][draw.below(2) as usize].into(),
        nonce: nonce(draw).into(),
    };
    let name = name.into();
    match draw.below(100) {
        0..14 => Statement::Take(values(draw), ttl(draw)),
        14..26 => Statement::Renew(name, own, epoch, ttl(draw)),
        26..34 => Statement::Release(name, own, epoch),
        34..42 => Statement::Read(name),
        42..48 => Statement::Lock(name),
        48..58 => Statement::Draw(values(draw), ttl(draw), nonce(draw).into()),
        58..63 => Statement::Probe(name, own, epoch),
        63..66 => Statement::Unlock(name),
        66..70 => Statement::Look(name),
        70..81 => Statement::Begin,
        81..88 => Statement::ForUpdate(name),
        88..92 => Statement::Commit,
        92..97 => Statement::Rollback,
        97..99 => Statement::SetEpoch(name, [LAST, LAST - 1, 7][draw.below(3) as usize]),
        _ => Statement::Open([0, 5, 20][draw.below(3) as usize]),
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ask(session, statement) => write!(f, "session {session}: {}", sql(statement)),
            Self::Jump(by) => write!(f, "the clock goes on by {by} µs"),
            Self::JumpToEnd(name, after) => {
                write!(f, "the clock jumps to the end of {name} and {after} µs")
            }
            Self::Close(session) => write!(f, "session {session} is closed"),
            Self::Terminate(session) => write!(f, "session {session} is terminated"),
        }
    }
}
