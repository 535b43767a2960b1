//! One server: its connections, their sessions, and what they are told.

use super::command::{Command, Connect, Error, Event, Operation, Reply, Said, Stat};
use super::sessions::{SessionId, Sessions, password};
use super::tree::{At, Tree};
use super::watches::{Change, Watches};
use crate::sorted::Sorted;
use crate::store::{Key, Value};
use std::collections::VecDeque;

/// How often containers are looked at, in milliseconds.
const CONTAINERS: u64 = 60_000;

/// A server. Connections are named by its host; each belongs to one session. Times are microseconds of its own clock.
#[derive(Clone, Debug)]
pub struct Server {
    image: Image,
    /// A tick, in milliseconds.
    tick: u64,
    sessions: Sessions,
    connections: Sorted<u16, Connection>,
    watches: Watches,
    /// When containers are looked at next, in milliseconds.
    containers: u64,
    said: VecDeque<(u16, Said)>,
}

/// What outlasts a restart, and is a backup when it is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Image {
    tree: Tree,
    /// The sessions with the time that was agreed on when each began.
    sessions: Sorted<SessionId, i32>,
    zxid: i64,
}

#[derive(Clone, Copy, Debug)]
struct Connection {
    session: SessionId,
    /// What was agreed on when it began.
    timeout: i32,
}

impl Server {
    /// An empty server with a tick of so many milliseconds (`tickTime`), not 0.
    #[must_use]
    pub fn new(now: u64, tick: u32) -> Self {
        Self::with(now, u64::from(tick).max(1), Image::default())
    }

    fn with(now: u64, tick: u64, image: Image) -> Self {
        let now = ms(now);
        let mut sessions = Sessions::new(now, tick);
        for (session, timeout) in image.sessions.iter() {
            sessions.touch(now, *session, *timeout);
        }
        Self {
            image,
            tick,
            sessions,
            connections: Sorted::default(),
            watches: Watches::default(),
            containers: now + CONTAINERS,
            said: VecDeque::new(),
        }
    }

    /// A client opens a connection, in the place of any of the same name.
    pub fn connect(&mut self, now: u64, client: u16, connect: &Connect) {
        self.wake(now);
        self.disconnect(client);
        if connect.seen > self.image.zxid {
            // What it has seen would be undone.
            return self.say(client, Said::Closed);
        }
        let least = 2 * self.tick as i32;
        let timeout = connect.timeout.clamp(least, 10 * least);
        let session = if connect.session == 0 {
            let session = self.sessions.name();
            self.image.zxid += 1;
            self.image.sessions.insert(session, timeout);
            session
        } else {
            self.leave(connect.session);
            let known = self.image.sessions.contains_key(&connect.session);
            if !known || connect.password != password(connect.session) {
                self.say(client, Said::Expired);
                return self.say(client, Said::Closed);
            }
            connect.session
        };
        self.connections
            .insert(client, Connection { session, timeout });
        self.sessions.touch(ms(now), session, timeout);
        let password = password(session);
        self.say(
            client,
            Said::Connected {
                session,
                password,
                timeout,
            },
        );
    }

    /// A connection is gone, and its watches with it. Its session is not.
    pub fn disconnect(&mut self, client: u16) {
        if self.connections.remove(&client).is_some() {
            self.watches.forget(client);
        }
    }

    /// A request comes on a connection, under a number that its answer bears. On one that is closed, that is said again.
    pub fn ask(&mut self, now: u64, client: u16, xid: i32, command: &Command) {
        self.wake(now);
        let Some(connection) = self.connections.get(&client).copied() else {
            return self.say(client, Said::Closed);
        };
        let session = connection.session;
        self.sessions.touch(ms(now), session, connection.timeout);
        let result = self.carry_out(now, client, session, command);
        let zxid = self.image.zxid;
        self.say(client, Said::Answer { xid, zxid, result });
        if *command == Command::Close {
            self.leave(session);
        }
    }

    /// The next thing to be said on a connection.
    pub fn poll(&mut self) -> Option<(u16, Said)> {
        self.said.pop_front()
    }

    /// When something happens by itself.
    #[must_use]
    pub fn due(&self) -> Option<u64> {
        let containers = (!self.image.tree.deserted().is_empty()).then_some(self.containers);
        let due = self.sessions.due().into_iter().chain(containers).min();
        due.map(|due| due.saturating_mul(1_000))
    }

    /// Ends what is over at `now`.
    pub fn wake(&mut self, now: u64) {
        while let Some(over) = self.sessions.over(ms(now)) {
            for session in over {
                self.end(now, session);
                self.leave(session);
            }
        }
        if self.containers <= ms(now) {
            let looks = (ms(now) - self.containers) / CONTAINERS + 1;
            self.containers += looks * CONTAINERS;
            for path in self.image.tree.deserted() {
                self.image.zxid += 1;
                let mut changes = Vec::new();
                self.image.tree.remove(self.image.zxid, &path, &mut changes);
                self.tell(&changes);
            }
        }
    }

    /// The process died, and is back with what its disk holds, which is all that was answered. Whoever is owed something
    /// gets nothing.
    pub fn restart(&mut self, now: u64) {
        let image = std::mem::take(&mut self.image);
        *self = Self::with(now, self.tick, image);
    }

    /// A backup.
    #[must_use]
    pub fn image(&self) -> Image {
        self.image.clone()
    }

    /// The process starts anew, with a backup: what happened since did not.
    pub fn restore(&mut self, now: u64, image: &Image) {
        *self = Self::with(now, self.tick, image.clone());
    }

    /// The newest change.
    #[must_use]
    pub const fn zxid(&self) -> i64 {
        self.image.zxid
    }

    /// The sessions that are not over, in order.
    pub fn sessions(&self) -> impl Iterator<Item = SessionId> {
        self.image.sessions.iter().map(|(session, _)| *session)
    }

    /// When a session is over, if nothing comes from it, in microseconds of the server's clock.
    #[must_use]
    pub fn ends(&self, session: SessionId) -> Option<u64> {
        Some(self.sessions.ends(session)?.saturating_mul(1_000))
    }

    /// What is kept at a znode.
    #[must_use]
    pub fn data(&self, path: &Key) -> Option<&Value> {
        self.image.tree.data(path)
    }

    /// What is known of a znode.
    #[must_use]
    pub fn stat(&self, path: &Key) -> Option<Stat> {
        self.image.tree.stat(path)
    }

    /// The names of the children of a znode, in order.
    #[must_use]
    pub fn children(&self, path: &Key) -> Option<Vec<Key>> {
        self.image.tree.children(path)
    }

    fn carry_out(
        &mut self,
        now: u64,
        client: u16,
        session: SessionId,
        command: &Command,
    ) -> Result<Reply, Error> {
        match command {
            Command::Ping | Command::Sync(_) => Ok(Reply::Done),
            Command::Do(operation) => {
                let at = self.next(now, session);
                let mut changes = Vec::new();
                let done = self.image.tree.operate(at, operation, &mut changes);
                self.tell(&changes);
                done
            }
            Command::Multi(operations) => Ok(self.multi(now, session, operations)),
            Command::Exists { path, watch } => {
                if path.contains('\0') {
                    return Err(Error::BadArguments);
                }
                if *watch {
                    self.watches.data(path, client);
                }
                let stat = self.image.tree.stat(path);
                stat.map(Reply::Stat).ok_or(Error::NoNode)
            }
            Command::GetData { path, watch } => {
                let stat = self.image.tree.stat(path).ok_or(Error::NoNode)?;
                if *watch {
                    self.watches.data(path, client);
                }
                let data = self.image.tree.data(path).cloned();
                let data = data.ok_or(Error::NoNode)?;
                Ok(Reply::Data { data, stat })
            }
            Command::GetChildren { path, watch } => {
                let stat = self.image.tree.stat(path).ok_or(Error::NoNode)?;
                if *watch {
                    self.watches.children(path, client);
                }
                let names = self.image.tree.children(path).unwrap_or_default();
                Ok(Reply::Children { names, stat })
            }
            Command::Close => {
                self.sessions.forget(session);
                self.end(now, session);
                Ok(Reply::Done)
            }
        }
    }

    fn multi(&mut self, now: u64, session: SessionId, operations: &[Operation]) -> Reply {
        let at = self.next(now, session);
        let mut tree = self.image.tree.clone();
        let mut changes = Vec::new();
        let mut done = Vec::new();
        for operation in operations {
            match tree.operate(at, operation, &mut changes) {
                Ok(Reply::Created { path, .. }) if !operation.creates_container() => {
                    done.push(Reply::Named(path));
                }
                Ok(reply) => done.push(reply),
                Err(error) => {
                    let mut failed = vec![None; done.len()];
                    failed.push(Some(error));
                    failed.resize(operations.len(), Some(Error::RuntimeInconsistency));
                    return Reply::Failed(failed);
                }
            }
        }
        self.image.tree = tree;
        self.tell(&changes);
        Reply::Multi(done)
    }

    /// A change is begun, whether something comes of it or not.
    const fn next(&mut self, now: u64, session: SessionId) -> At {
        self.image.zxid += 1;
        At {
            zxid: self.image.zxid,
            time: ms(now).cast_signed(),
            session,
        }
    }

    /// A session is over, and takes its own along.
    fn end(&mut self, now: u64, session: SessionId) {
        let at = self.next(now, session);
        self.image.sessions.remove(&session);
        let mut changes = Vec::new();
        self.image.tree.end(at, &mut changes);
        self.tell(&changes);
    }

    /// The connection of a session is closed, if it has one.
    fn leave(&mut self, session: SessionId) {
        let its = |(client, connection): (&u16, &Connection)| {
            (connection.session == session).then_some(*client)
        };
        let client = self.connections.iter().find_map(its);
        if let Some(client) = client {
            self.disconnect(client);
            self.say(client, Said::Closed);
        }
    }

    fn tell(&mut self, changes: &[Change]) {
        let said = &mut self.said;
        for change in changes {
            self.watches.tell(change, |client, event: Event| {
                said.push_back((client, Said::Event(event)));
            });
        }
    }

    fn say(&mut self, client: u16, said: Said) {
        self.said.push_back((client, said));
    }
}

/// Microseconds as whole milliseconds.
const fn ms(now: u64) -> u64 {
    now / 1_000
}

#[cfg(test)]
mod tests {
    use super::super::command::Mode;
    use super::*;

    const TICK: u64 = 100_000;

    fn server() -> Server {
        Server::new(0, 100)
    }

    fn said(server: &mut Server) -> Vec<(u16, Said)> {
        std::iter::from_fn(|| server.poll()).collect()
    }

    fn connect(
        server: &mut Server,
        now: u64,
        client: u16,
        session: SessionId,
    ) -> Option<SessionId> {
        let connect = Connect {
            seen: 0,
            timeout: 0,
            session,
            password: password(session),
        };
        server.connect(now, client, &connect);
        said(server).into_iter().find_map(|(to, said)| match said {
            Said::Connected { session, .. } if to == client => Some(session),
            _ => None,
        })
    }

    fn ask(server: &mut Server, now: u64, client: u16, command: &Command) -> Result<Reply, Error> {
        server.ask(now, client, 1, command);
        let mut all = said(server).into_iter();
        let answer = all.find_map(|(to, said)| match said {
            Said::Answer { result, .. } if to == client => Some(result),
            _ => None,
        });
        answer.expect("it answers at once")
    }

    fn create(path: &str, mode: Mode) -> Command {
        Command::Do(operation(path, mode))
    }

    fn operation(path: &str, mode: Mode) -> Operation {
        Operation::Create {
            path: path.into(),
            data: "".into(),
            mode,
        }
    }

    fn exists(path: &str, watch: bool) -> Command {
        let path = path.into();
        Command::Exists { path, watch }
    }

    #[test]
    fn silence_ends_a_session_and_what_was_its_own() {
        let mut server = server();
        let (one, other) = (
            connect(&mut server, 0, 1, 0).unwrap(),
            connect(&mut server, 0, 2, 0).unwrap(),
        );
        ask(&mut server, 0, 1, &create("/e", Mode::Ephemeral)).unwrap();
        ask(&mut server, 0, 2, &exists("/e", true)).unwrap();
        // Two ticks, and the rest of one.
        server.ask(2 * TICK, 2, -2, &Command::Ping);
        assert_eq!(server.due(), Some(3 * TICK));
        server.wake(3 * TICK - 1);
        assert_eq!(said(&mut server).len(), 1);
        server.wake(3 * TICK);
        let gone = Event::Deleted("/e".into());
        assert_eq!(
            said(&mut server),
            [(2, Said::Event(gone)), (1, Said::Closed)]
        );
        assert!(server.sessions().eq([other]));
        assert_eq!(connect(&mut server, 3 * TICK, 1, one), None);
        server.ask(3 * TICK, 1, 9, &Command::Ping);
        assert_eq!(said(&mut server), [(1, Said::Closed)]);
    }

    #[test]
    fn a_session_goes_on_elsewhere_with_its_password_and_leaves_its_watches() {
        let mut server = server();
        let session = connect(&mut server, 0, 1, 0).unwrap();
        ask(&mut server, 0, 1, &exists("/e", true)).unwrap_err();
        let again = Connect {
            seen: server.zxid(),
            timeout: 1_000_000,
            session,
            password: password(session),
        };
        server.connect(TICK, 2, &again);
        let connected = Said::Connected {
            session,
            password: again.password,
            timeout: 2_000,
        };
        assert_eq!(said(&mut server), [(1, Said::Closed), (2, connected)]);
        server.ask(TICK, 2, 1, &create("/e", Mode::Ephemeral));
        assert!(matches!(&said(&mut server)[..], [(2, Said::Answer { .. })]));
        // A wrong password closes what there is all the same.
        let wrong = Connect {
            password: password(session + 1),
            ..again
        };
        server.connect(TICK, 3, &wrong);
        let told = [(2, Said::Closed), (3, Said::Expired), (3, Said::Closed)];
        assert_eq!(said(&mut server), told);
        assert_eq!(connect(&mut server, TICK, 1, session), Some(session));
    }

    #[test]
    fn every_change_has_a_zxid_and_so_has_what_was_refused() {
        let mut server = server();
        connect(&mut server, 0, 1, 0);
        assert_eq!(server.zxid(), 1);
        let _ = ask(&mut server, 0, 1, &create("/none/e", Mode::Ephemeral));
        assert_eq!(server.zxid(), 2);
        let _ = ask(&mut server, 0, 1, &exists("/none", false));
        let _ = ask(&mut server, 0, 1, &Command::Sync("/".into()));
        assert_eq!(server.zxid(), 2);
        let _ = ask(&mut server, 0, 1, &Command::Multi(vec![]));
        server.ask(0, 1, 5, &Command::Close);
        let answer = Said::Answer {
            xid: 5,
            zxid: 4,
            result: Ok(Reply::Done),
        };
        assert_eq!(said(&mut server), [(1, answer), (1, Said::Closed)]);
    }

    #[test]
    fn many_changes_are_one_or_none() {
        let mut server = server();
        connect(&mut server, 0, 1, 0);
        let check = |version| Operation::Check {
            path: "/a".into(),
            version,
        };
        let multi = |version| {
            Command::Multi(vec![
                operation("/a", Mode::Persistent),
                check(version),
                operation("/a/b", Mode::PersistentSequential),
            ])
        };
        let failed = ask(&mut server, 0, 1, &multi(1));
        let why = vec![
            None,
            Some(Error::BadVersion),
            Some(Error::RuntimeInconsistency),
        ];
        assert_eq!(failed, Ok(Reply::Failed(why)));
        assert_eq!(
            ask(&mut server, 0, 1, &exists("/a", true)),
            Err(Error::NoNode)
        );
        let Ok(Reply::Multi(done)) = ask(&mut server, 0, 1, &multi(0)) else {
            panic!("nothing is in the way")
        };
        let path: Key = "/a/b0000000000".into();
        assert_eq!(done[2], Reply::Named(path.clone()));
        assert_eq!(server.stat(&path).map(|stat| stat.czxid), Some(3));
    }

    #[test]
    fn whoever_makes_a_change_is_told_of_it_before_the_answer() {
        let mut server = server();
        connect(&mut server, 0, 1, 0);
        let root = Command::GetChildren {
            path: "/".into(),
            watch: true,
        };
        ask(&mut server, 0, 1, &root).unwrap();
        server.ask(0, 1, 2, &create("/a", Mode::Persistent));
        let told = said(&mut server);
        let event = Said::Event(Event::ChildrenChanged("/".into()));
        assert_eq!((told.len(), &told[0].1), (2, &event));
    }

    #[test]
    fn a_restart_begins_sessions_anew_and_a_backup_forgets_what_came_since() {
        let mut server = server();
        let session = connect(&mut server, 0, 1, 0).unwrap();
        ask(&mut server, 0, 1, &create("/e", Mode::Ephemeral)).unwrap();
        let backup = server.image();
        server.restart(9 * TICK);
        server.ask(9 * TICK, 1, 1, &Command::Ping);
        assert_eq!(said(&mut server), [(1, Said::Closed)]);
        assert_eq!(server.due(), Some(12 * TICK));
        assert_eq!(connect(&mut server, 11 * TICK, 1, session), Some(session));
        server.wake(14 * TICK);
        assert_eq!(server.sessions().count(), 0);
        let seen = server.zxid();
        server.restore(20 * TICK, &backup);
        let again = Connect {
            seen,
            timeout: 200,
            session,
            password: password(session),
        };
        server.connect(20 * TICK, 1, &again);
        assert_eq!(said(&mut server), [(1, Said::Closed)]);
        assert_eq!(connect(&mut server, 20 * TICK, 1, session), Some(session));
        assert!(ask(&mut server, 20 * TICK, 1, &exists("/e", false)).is_ok());
    }

    #[test]
    fn a_container_goes_when_the_server_looks() {
        let mut server = server();
        let session = connect(&mut server, 0, 1, 0);
        ask(&mut server, 0, 1, &create("/c", Mode::Container)).unwrap();
        ask(&mut server, 0, 1, &create("/c/e", Mode::Ephemeral)).unwrap();
        assert!(session.is_some() && server.due() == Some(3 * TICK));
        server.wake(3 * TICK);
        assert_eq!(server.due(), Some(CONTAINERS * 1_000));
        let zxid = server.zxid();
        server.wake(CONTAINERS * 1_000);
        assert_eq!((server.zxid(), server.due()), (zxid + 1, None));
    }
}
