//! A PostgreSQL server whose clock is told, and connections to it in the simple query protocol: text in, text out.

use super::{Folder, PATIENCE, Process, free_port, program};
use crate::clock::Clock;
use crate::trouble::Trouble;
use std::io::{BufReader, Error, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

/// What may not be run as root is run as this, which the package brings.
const ACCOUNT: &str = "postgres";

/// A server. What it holds need not survive it, so that nothing is synced.
pub(crate) struct Postgres {
    _process: Process,
    clock: Clock,
    _folder: Folder,
    port: u16,
}

impl Postgres {
    /// Makes a database, starts the server, and waits until it answers; its clock shows these microseconds since 1970.
    pub(crate) fn start(begins: i64) -> Result<Self, Trouble> {
        let folder = Folder::new("postgres")?;
        let clock = Clock::new(folder.path())?;
        clock.set(begins)?;
        let port = free_port()?;
        let mut init = Self::command("initdb", &folder)?;
        init.args([
            "-D",
            "data",
            "-A",
            "trust",
            "-U",
            ACCOUNT,
            "--no-sync",
            "--locale",
            "C",
        ]);
        let made = init.output().map_err(|why| match why.kind() {
            ErrorKind::NotFound => Trouble::Missing("postgresql is not installed".to_owned()),
            _ => Trouble::failed("initdb", why),
        })?;
        if !made.status.success() {
            let said = String::from_utf8_lossy(&made.stderr);
            return Err(Trouble::failed("initdb", said));
        }
        let mut command = Self::command("postgres", &folder)?;
        command.args(["-D", "data", "-p", &port.to_string()]);
        let place = format!("unix_socket_directories={}", folder.path().display());
        for setting in [
            "listen_addresses=127.0.0.1",
            "fsync=off",
            "autovacuum=off",
            &place,
        ] {
            command.args(["-c", setting]);
        }
        clock.give(&mut command);
        let process = Process::start(&mut command, folder.path(), port)?;
        let postgres = Self {
            _process: process,
            clock,
            _folder: folder,
            port,
        };
        postgres.connect()?.ask("SELECT 1")?;
        Ok(postgres)
    }

    /// Its clock.
    pub(crate) const fn clock(&self) -> &Clock {
        &self.clock
    }

    /// A connection of a client.
    pub(crate) fn connect(&self) -> Result<Client, Trouble> {
        let begun = std::time::Instant::now();
        loop {
            match Client::connect(self.port) {
                Ok(client) => return Ok(client),
                // It refuses while it begins.
                Err(_) if begun.elapsed() < PATIENCE => {
                    std::thread::sleep(std::time::Duration::from_millis(10))
                }
                Err(why) => return Err(Trouble::failed("postgresql cannot be reached", why)),
            }
        }
    }

    /// A program of the server, run as the account that may.
    fn command(name: &str, folder: &Folder) -> Result<Command, Trouble> {
        let mut command = Command::new(program(name, &versions()));
        command.current_dir(folder.path());
        if let Some((user, group)) = account()? {
            std::os::unix::fs::chown(folder.path(), Some(user), Some(group))
                .map_err(|why| Trouble::failed(folder.path().display(), why))?;
            command.uid(user).gid(group);
        }
        Ok(command)
    }
}

/// Where Debian keeps each version's programs, the newest first.
fn versions() -> Vec<PathBuf> {
    let entries = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path().join("bin")).collect();
    folders.sort();
    folders.reverse();
    folders
}

/// The account to run it as; none where whoever runs this is not root.
fn account() -> Result<Option<(u32, u32)>, Trouble> {
    let root = std::fs::metadata("/proc/self")
        .is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    if !root {
        return Ok(None);
    }
    let accounts = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let ids = accounts.lines().find_map(|line| {
        let mut words = line
            .strip_prefix(ACCOUNT)?
            .strip_prefix(':')?
            .split(':')
            .skip(1);
        Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
    });
    let missing = || {
        Trouble::Missing(format!(
            "postgresql does not run as root, and there is no account {ACCOUNT}"
        ))
    };
    ids.map(Some).ok_or_else(missing)
}

/// A client's connection.
pub(crate) struct Client(BufReader<TcpStream>);

/// What came of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Rows, of which each column is text or null, and what was done (`INSERT 0 1`).
    Done(Vec<Vec<Option<String>>>, String),
    /// An error: its code (`23505`) and its text.
    Refused(String, String),
}

impl Client {
    fn connect(port: u16) -> Result<Self, Error> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut client = Self(BufReader::new(stream));
        let words = format!("user\0{ACCOUNT}\0database\0{ACCOUNT}\0\0");
        let mut hello = 196_608_u32.to_be_bytes().to_vec();
        hello.extend(words.as_bytes());
        client.send(None, &hello)?;
        match client.answer()? {
            Answer::Done(..) => Ok(client),
            Answer::Refused(_, why) => Err(Error::other(why)),
        }
    }

    /// Runs a statement.
    pub(crate) fn ask(&mut self, statement: &str) -> Result<Answer, Trouble> {
        self.tell(statement)?;
        self.reply()
    }

    /// Sends a statement, to be answered by [`Self::reply`]: it may have to wait for another's lock.
    pub(crate) fn tell(&mut self, statement: &str) -> Result<(), Trouble> {
        let sent = self.send(Some(b'Q'), format!("{statement}\0").as_bytes());
        sent.map_err(|why| Trouble::failed(statement, why))
    }

    /// What came of the statement that was sent.
    pub(crate) fn reply(&mut self) -> Result<Answer, Trouble> {
        self.answer()
            .map_err(|why| Trouble::failed("no reply from postgresql", why))
    }

    /// What came of a statement, if the server has not closed the connection before it could answer.
    pub(crate) fn last_reply(&mut self) -> Result<Option<Answer>, Trouble> {
        match self.answer() {
            Ok(answer) => Ok(Some(answer)),
            Err(why)
                if matches!(
                    why.kind(),
                    ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe
                ) =>
            {
                Ok(None)
            }
            Err(why) => Err(Trouble::failed("no reply from postgresql", why)),
        }
    }

    fn send(&mut self, kind: Option<u8>, body: &[u8]) -> Result<(), Error> {
        let length = u32::try_from(body.len() + 4).map_err(Error::other)?;
        let mut message: Vec<u8> = kind.into_iter().collect();
        message.extend(length.to_be_bytes());
        message.extend(body);
        self.0.get_mut().write_all(&message)
    }

    /// All messages until it is ready for the next statement.
    fn answer(&mut self) -> Result<Answer, Error> {
        let (mut rows, mut done, mut refused) = (Vec::new(), String::new(), None);
        loop {
            let mut head = [0; 5];
            self.0.read_exact(&mut head)?;
            let [kind, length @ ..] = head;
            let length = u32::from_be_bytes(length).saturating_sub(4);
            let mut body = vec![0; length as usize];
            self.0.read_exact(&mut body)?;
            match kind {
                b'D' => rows.push(columns(&body).ok_or(ErrorKind::InvalidData)?),
                b'C' => done = text(&body),
                b'E' => {
                    refused = Some((field(&body, b'C'), field(&body, b'M')));
                    // One that ends the connection, as while it begins, is followed by nothing.
                    if field(&body, b'S') == "FATAL" {
                        break;
                    }
                }
                b'Z' => break,
                _ => {}
            }
        }
        Ok(match refused {
            None => Answer::Done(rows, done),
            Some((code, why)) => Answer::Refused(code, why),
        })
    }
}

/// The columns of a row; a length below zero is null.
fn columns(body: &[u8]) -> Option<Vec<Option<String>>> {
    let (count, mut rest) = body.split_first_chunk::<2>()?;
    let mut columns = Vec::new();
    for _ in 0..u16::from_be_bytes(*count) {
        let (length, after) = rest.split_first_chunk::<4>()?;
        let length = usize::try_from(i32::from_be_bytes(*length)).ok();
        let (column, after) = after.split_at_checked(length.unwrap_or(0))?;
        columns.push(length.map(|_| String::from_utf8_lossy(column).into_owned()));
        rest = after;
    }
    Some(columns)
}

fn field(body: &[u8], which: u8) -> String {
    let mut fields = body.split(|byte| *byte == 0);
    let found = fields.find_map(|field| field.strip_prefix(&[which]));
    found.map(text).unwrap_or_default()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes)
        .trim_end_matches('\0')
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[ignore = "needs PostgreSQL"]
    fn it_answers_by_the_clock_that_it_is_told() {
        let postgres = Postgres::start(1_767_225_600_000_000).unwrap();
        let mut client = postgres.connect().unwrap();
        let row = |columns: &[Option<&str>]| {
            columns
                .iter()
                .map(|column| column.map(str::to_owned))
                .collect()
        };
        let time = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint, NULL";
        postgres.clock().set(1_767_225_600_123_000).unwrap();
        let rows = vec![row(&[Some("1767225600123"), None])];
        assert_eq!(
            client.ask(time).unwrap(),
            Answer::Done(rows, "SELECT 1".to_owned())
        );
        let refused = client.ask("SELECT 1 / 0").unwrap();
        assert_eq!(
            refused,
            Answer::Refused("22012".to_owned(), "division by zero".to_owned())
        );
        assert!(matches!(client.ask("SELECT 1").unwrap(), Answer::Done(..)));
    }
}
