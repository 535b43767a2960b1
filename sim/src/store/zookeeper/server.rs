//! One server: what it holds, the time of its sessions, and its clients.

use super::command::{Command, Connect, Error, Reply, Said, Stat};
use super::front::Front;
use super::image::{Image, Step};
use super::sessions::{Names, SessionId, Sessions, agreed, password};
use super::tree::At;
use crate::store::{Key, Value};

/// How often containers are looked at, in milliseconds.
const CONTAINERS: u64 = 60_000;

/// A server. Connections are named by its host; each belongs to one session. Times are microseconds of its own clock.
#[derive(Clone, Debug)]
pub struct Server {
    image: Image,
    /// A tick, in milliseconds.
    tick: u64,
    names: Names,
    sessions: Sessions,
    front: Front,
    /// When containers are looked at next, in milliseconds.
    containers: u64,
}

impl Server {
    /// An empty server with a tick of so many milliseconds (`tickTime`), not 0.
    #[must_use]
    pub fn new(now: u64, tick: u32) -> Self {
        Self::with(now, u64::from(tick).max(1), Image::default())
    }

    fn with(now: u64, tick: u64, image: Image) -> Self {
        let now = ms(now);
        Self {
            names: Names::new(now, 0),
            sessions: Sessions::anew(now, tick, &image),
            image,
            tick,
            front: Front::default(),
            containers: now + CONTAINERS,
        }
    }

    /// A client opens a connection, in the place of any of the same name.
    pub fn connect(&mut self, now: u64, client: u16, connect: &Connect) {
        self.wake(now);
        self.disconnect(client);
        if connect.seen > self.image.zxid() {
            // What it has seen would be undone.
            return self.front.say(client, Said::Closed);
        }
        let timeout = agreed(connect.timeout, self.tick);
        let session = if connect.session == 0 {
            let session = self.names.next();
            // There is nothing about it that could be refused.
            let _ = self.change(now, session, &Step::Begin(timeout));
            session
        } else {
            self.front.leave(connect.session);
            let known = self.image.knows(connect.session);
            if !known || connect.password != password(connect.session) {
                return self.front.expire(client);
            }
            connect.session
        };
        self.sessions.touch(ms(now), session, timeout);
        self.front.open(client, session, timeout);
    }

    /// A connection is gone, and its watches with it. Its session is not.
    pub fn disconnect(&mut self, client: u16) {
        self.front.disconnect(client);
    }

    /// A request comes on a connection, under a number that its answer bears. On one that is closed, that is said again.
    pub fn ask(&mut self, now: u64, client: u16, xid: i32, command: &Command) {
        self.wake(now);
        let Some(connection) = self.front.connection(client) else {
            return self.front.say(client, Said::Closed);
        };
        let session = connection.session;
        self.sessions.touch(ms(now), session, connection.timeout);
        let result = match command.step() {
            Some(step) => self.change(now, session, &step),
            None => self.front.look(&self.image, client, command),
        };
        let zxid = self.image.zxid();
        self.front.say(client, Said::Answer { xid, zxid, result });
        if *command == Command::Close {
            self.sessions.forget(session);
            self.front.leave(session);
        }
    }

    /// The next thing to be said on a connection.
    pub fn poll(&mut self) -> Option<(u16, Said)> {
        self.front.poll()
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
                let _ = self.change(now, session, &Step::End);
                self.front.leave(session);
            }
        }
        if self.containers <= ms(now) {
            let looks = (ms(now) - self.containers) / CONTAINERS + 1;
            self.containers += looks * CONTAINERS;
            for path in self.image.tree.deserted() {
                let _ = self.change(now, 0, &Step::Remove(path));
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

    /// What it holds.
    #[must_use]
    pub const fn held(&self) -> &Image {
        &self.image
    }

    /// The process starts anew, with a backup: what happened since did not.
    pub fn restore(&mut self, now: u64, image: &Image) {
        *self = Self::with(now, self.tick, image.clone());
    }

    /// The newest change.
    #[must_use]
    pub const fn zxid(&self) -> i64 {
        self.image.zxid()
    }

    /// The sessions that are not over, in order.
    pub fn sessions(&self) -> impl Iterator<Item = SessionId> {
        self.image.sessions().map(|(session, _)| session)
    }

    /// When a session is over, if nothing comes from it, in microseconds of the server's clock.
    #[must_use]
    pub fn ends(&self, session: SessionId) -> Option<u64> {
        Some(self.sessions.ends(session)?.saturating_mul(1_000))
    }

    /// What is kept at a znode.
    #[must_use]
    pub fn data(&self, path: &Key) -> Option<&Value> {
        self.image.data(path)
    }

    /// What is known of a znode.
    #[must_use]
    pub fn stat(&self, path: &Key) -> Option<Stat> {
        self.image.stat(path)
    }

    /// The names of the children of a znode, in order.
    #[must_use]
    pub fn children(&self, path: &Key) -> Option<Vec<Key>> {
        self.image.children(path)
    }

    /// The next change is made, whether something comes of it or not, and who watches is told.
    fn change(&mut self, now: u64, session: SessionId, step: &Step) -> Result<Reply, Error> {
        let at = At {
            zxid: self.image.zxid() + 1,
            time: ms(now).cast_signed(),
            session,
        };
        let mut changes = Vec::new();
        let result = self.image.carry_out(at, step, &mut changes);
        self.front.tell(&changes);
        result
    }
}

/// Microseconds as whole milliseconds.
pub(super) const fn ms(now: u64) -> u64 {
    now / 1_000
}

#[cfg(test)]
mod tests {
    use super::super::command::{Event, Mode, Operation};
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
