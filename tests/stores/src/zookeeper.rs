//! ZooKeeper: one server, several connections, sessions to the millisecond, watches, restarts, backups.

mod wire;

use crate::compare::{Replies, Store};
use crate::report::Report;
use crate::server::zookeeper::{Client, TICK, ZooKeeper};
use crate::trouble::Trouble;
use std::fmt;
use std::time::{Duration, Instant};
use tenure::random::Random;
use tenure_sim::store::Key;
use tenure_sim::store::zookeeper::{
    Command, Connect, Image, Mode, Operation, Password, Reply, Said, Server, SessionId, password,
};

/// What is said of it.
pub(crate) const REPORT: Report = Report {
    name: "zookeeper",
    real: "`zookeeper` 3.8 of Debian 12, with `tenure_sim::store::zookeeper::Server`",
    compared: &[
        "`create2` (persistent, ephemeral, sequential, container), `delete`, `setData`, `exists`, `getData`, `getChildren2`, `multi` (with \
         `check`), `sync`, `ping`, `closeSession` on four connections in turn; new sessions, sessions that go on on the same connection or \
         another, with the right password or a wrong one, after they are over, and of clients that have seen more than there is; \
         connections that break. Every byte of every answer is read: numbers of sessions, passwords, zxids, whole `Stat`s, and what each \
         connection is told by its watches, in order.",
        "Both clocks of the real server are told by the test (a library put before its own), so that sessions end, and containers go, at \
         the same millisecond: often to just before, onto and just after the end of a session. Restarts: killed and started again, and \
         with a backup of what was on its disk.",
    ],
    must_see: &[
        ("CONNECT", &["connected to", "expired for", "closed"]),
        (
            "CREATE",
            &[
                "created as",
                "error NodeExists",
                "error NoNode",
                "error NoChildrenForEphemerals",
                "error BadArguments",
            ],
        ),
        (
            "DELETE",
            &[
                "done as",
                "error NoNode",
                "error BadVersion",
                "error NotEmpty",
                "error BadArguments",
            ],
        ),
        ("SET", &["stat of", "error NoNode", "error BadVersion"]),
        ("GET", &["data is", "error NoNode"]),
        ("EXISTS", &["stat of", "error NoNode"]),
        ("CHILDREN", &["children are", "error NoNode"]),
        ("MULTI", &["all done", "none done"]),
        ("PING", &["done as"]),
        ("SYNC", &["done as"]),
        ("CLOSE", &["done as"]),
        ("TIME", &["nothing ends", "sessions end"]),
        ("START", &["with all", "with backup"]),
    ],
    differences: &[],
    beyond: &[
        (
            "Children are listed in the order of a hash table there, and what a session takes along when it ends goes in such an order; here \
             in that of names.",
            "Both are sorted before they are compared. A scheme sorts.",
        ),
        (
            "Sessions that end in one tick end in the order of hashes of memory addresses; here in which something last came from them. The \
             real server is started so that all hashes are equal, which gives that order.",
            "It is one of those that are possible.",
        ),
        (
            "After a restart the real server begins sessions anew in the order of a hash table; here in that of their numbers.",
            "It shows only when two of them end in one tick, and nothing came from either.",
        ),
        (
            "What is told on a connection in the tick in which its session ends may be lost there; here it is said before the connection \
             is closed.",
            "A thread sends it while another closes the connection. A client may rely on neither.",
        ),
        (
            "A request that comes while a session ends is answered with `SessionExpired`, or not at all; here a session ends at once.",
            "The connection is closed either way, which is all that a client may rely on.",
        ),
    ],
};

const CLIENTS: u64 = 4;
/// 2026, in milliseconds.
const WALL: i64 = 1_767_225_600_000;
/// What the clock that never jumps shows first, in microseconds. Sessions end on whole ticks: containers are looked at
/// beside them, every minute from when the server began.
const BEGINS: u64 = 1_000_000_037_000;
const MINUTE: u64 = 60_000_000;
/// How what a watch tells begins in words.
const EVENT: &str = "told";
/// Sessions are over after that.
const ALL_OVER: u64 = 23 * TICK as u64 * 1_000;

/// A step of a comparison.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// A client opens a connection, in the place of any, for so many milliseconds of silence.
    Connect(usize, i32, Open),
    /// A connection breaks.
    Break(usize),
    /// A client asks.
    Ask(usize, Wish),
    /// Time passes, in milliseconds: a thread of the real server that sleeps counts whole ones.
    Pass(u64),
    /// Time passes until so many milliseconds after the next session that falls silent may be over.
    PassToEnd(i64),
    /// The server ends and starts.
    Restart,
    /// What is on the server's disk is kept.
    BackUp,
    /// The server ends, and starts with what was kept.
    Restore,
}

/// How a connection is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Open {
    /// For a new session.
    New,
    /// For the session that a client had last.
    Again(usize),
    /// With a password that is not its own.
    Wrong(usize),
    /// By a client that has seen what was not.
    Ahead,
}

/// What is asked, of what there is.
#[derive(Clone, Debug)]
pub(crate) enum Wish {
    Ping,
    Close,
    Sync,
    Exists(Spot, bool),
    Get(Spot, bool),
    Children(Spot, bool),
    Do(Change),
    Multi(Vec<Change>),
}

/// What is changed.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    Create(Spot, &'static str, Mode),
    Delete(Spot, Expected),
    Set(Spot, &'static str, Expected),
    Check(Spot, Expected),
}

/// A path.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Spot {
    /// This.
    At(&'static str),
    /// Of the children of this one, the one of that place.
    Child(&'static str, u64),
}

/// A version.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Expected {
    /// Any.
    Any,
    /// The one that there is, and so many more.
    There(i32),
}

/// A session as its client remembers it.
#[derive(Clone, Copy, Debug)]
struct Session {
    id: SessionId,
    password: Password,
}

/// The two servers.
pub(crate) struct Pair {
    real: ZooKeeper,
    connections: Vec<Option<Client>>,
    sessions: Vec<Option<Session>>,
    simulated: Server,
    backup: Option<Image>,
    now: u64,
    /// When the server began.
    began: u64,
    xid: i32,
    /// Whether the two have parted.
    parted: bool,
}

/// What each connection was told by either server during a step.
#[derive(Default)]
struct Heard {
    simulated: Vec<(usize, Said)>,
    real: Vec<(usize, Result<Said, i32>)>,
}

impl Pair {
    pub(crate) fn start() -> Result<Self, Trouble> {
        Ok(Self {
            real: ZooKeeper::start(WALL * 1_000 + BEGINS.cast_signed(), BEGINS.cast_signed())?,
            connections: (0..CLIENTS).map(|_| None).collect(),
            sessions: vec![None; CLIENTS as usize],
            simulated: Server::new(BEGINS, TICK),
            backup: None,
            now: BEGINS,
            began: BEGINS,
            xid: 0,
            parted: false,
        })
    }

    fn connect(
        &mut self,
        client: usize,
        timeout: i32,
        open: Open,
    ) -> Result<Option<Replies>, Trouble> {
        let whose = match open {
            Open::New | Open::Ahead => None,
            Open::Again(other) | Open::Wrong(other) => match self.sessions[other] {
                None => return Ok(None),
                known => known,
            },
        };
        let its = |session: Session| match open {
            Open::Wrong(_) => password(session.id + 1),
            _ => session.password,
        };
        let connect = Connect {
            seen: self.simulated.zxid() + i64::from(open == Open::Ahead),
            timeout,
            session: whose.map_or(0, |session| session.id),
            password: whose.map_or([0; 16], its),
        };
        let mut heard = Heard::default();
        self.simulated.connect(self.now, client as u16, &connect);
        heard.simulated.extend(self.hear());
        let mut real = self.real.connect()?;
        real.send(&wire::connect(&connect));
        self.connections[client] = Some(real);
        match self.receive(client)? {
            None => heard.real.push((client, Ok(Said::Closed))),
            Some(packet) => {
                let said = wire::connected(&packet);
                heard
                    .real
                    .push((client, Ok(said.ok_or_else(|| broken(&packet))?)));
            }
        }
        if let Some((
            _,
            Ok(Said::Connected {
                session, password, ..
            }),
        )) = heard.real.last()
        {
            self.sessions[client] = Some(Session {
                id: *session,
                password: *password,
            });
        }
        self.rest(&mut heard, &Command::Ping)?;
        Ok(Some(heard.replies("CONNECT", client, false)))
    }

    fn ask(&mut self, client: usize, wish: &Wish) -> Result<Option<Replies>, Trouble> {
        if self.connections[client].is_none() {
            return Ok(None);
        }
        let command = self.resolve(wish);
        self.xid += 1;
        let xid = if command == Command::Ping {
            -2
        } else {
            self.xid
        };
        let mut heard = Heard::default();
        self.simulated.ask(self.now, client as u16, xid, &command);
        heard.simulated.extend(self.hear());
        if let Some(real) = &mut self.connections[client] {
            real.send(&wire::request(xid, &command));
        }
        loop {
            let said = self.next(client, &command)?;
            let event = matches!(said, Ok(Said::Event(_)));
            heard.real.push((client, said));
            if !event {
                break;
            }
        }
        self.rest(&mut heard, &command)?;
        let ends = command == Command::Close;
        Ok(Some(heard.replies(wish.kind(), client, ends)))
    }

    /// What the simulated server says, with the clients it says it to.
    fn hear(&mut self) -> Vec<(usize, Said)> {
        let simulated = &mut self.simulated;
        std::iter::from_fn(|| simulated.poll())
            .map(|(client, said)| (usize::from(client), said))
            .collect()
    }

    /// As much as the simulated server said is waited for. What comes beyond that comes before the next answer.
    fn rest(&mut self, heard: &mut Heard, command: &Command) -> Result<(), Trouble> {
        for client in 0..CLIENTS as usize {
            let count = heard
                .simulated
                .iter()
                .filter(|(to, _)| *to == client)
                .count();
            while heard.real.iter().filter(|(to, _)| *to == client).count() < count
                && self.connections[client].is_some()
            {
                let said = self.next(client, command)?;
                heard.real.push((client, said));
            }
        }
        // A connection that the simulated server closed is not used any more.
        for (client, said) in &heard.simulated {
            if *said == Said::Closed {
                self.connections[*client] = None;
            }
        }
        Ok(())
    }

    fn next(&mut self, client: usize, command: &Command) -> Result<Result<Said, i32>, Trouble> {
        match self.receive(client)? {
            None => Ok(Ok(Said::Closed)),
            Some(packet) => wire::said(&packet, command, WALL).ok_or_else(|| broken(&packet)),
        }
    }

    fn receive(&mut self, client: usize) -> Result<Option<Vec<u8>>, Trouble> {
        let Some(connection) = &mut self.connections[client] else {
            return Ok(None);
        };
        let packet = connection.receive()?;
        if packet.is_none() {
            self.connections[client] = None;
        }
        Ok(packet)
    }

    fn set_clock(&mut self, now: u64) -> Result<(), Trouble> {
        self.now = now;
        let clock = self.real.clock();
        clock.set(WALL * 1_000 + now.cast_signed())?;
        clock.set_steady(now.cast_signed())
    }

    fn pass(&mut self, time: u64) -> Result<Replies, Trouble> {
        let before = self.simulated.zxid();
        let mut heard = Heard::default();
        let (since, to) = (self.now - self.began, self.now + time);
        let look = self.began + (since / MINUTE + 1) * MINUTE;
        if look <= to {
            // Other threads end sessions than look at containers: not at once.
            self.pass_by(look - 1_000, &mut heard)?;
            self.pass_to(look, &mut heard)?;
        }
        let zxid = self.pass_by(to, &mut heard)?;
        self.rest(&mut heard, &Command::Ping)?;
        heard.forget_what_may_be_lost();
        let mut replies = heard.replies("TIME", 0, true);
        for (words, zxid) in [
            (&mut replies.simulated, self.simulated.zxid()),
            (&mut replies.real, zxid),
        ] {
            let what = if zxid == before {
                "nothing ends"
            } else {
                "sessions end"
            };
            *words = format!("{what}: zxid {zxid}; {words}");
        }
        Ok(replies)
    }

    /// Lets time pass, tick by tick where sessions end.
    fn pass_by(&mut self, to: u64, heard: &mut Heard) -> Result<i64, Trouble> {
        while let Some(due) = self.simulated.due().filter(|due| *due < to) {
            self.pass_to(due, heard)?;
        }
        self.pass_to(to, heard)
    }

    /// Lets time pass, and waits until the real server has noticed. Gives the newest change that it has.
    fn pass_to(&mut self, to: u64, heard: &mut Heard) -> Result<i64, Trouble> {
        self.set_clock(to.max(self.now))?;
        self.simulated.wake(self.now);
        heard.simulated.extend(self.hear());
        self.catch_up()
    }

    /// Time passes there when a thread looks at its clock: waits until the real server has what the simulated one has, and
    /// gives what it has after a while.
    fn catch_up(&self) -> Result<i64, Trouble> {
        let begun = Instant::now();
        loop {
            let zxid = self.real.zxid()?;
            if zxid >= self.simulated.zxid() || begun.elapsed() > Duration::from_secs(3) {
                return Ok(zxid);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Starts the server anew, with what it had or with the backup.
    fn start_anew(&mut self, backup: bool) -> Result<Option<Replies>, Trouble> {
        if backup && self.backup.is_none() {
            return Ok(None);
        }
        // Names of sessions begin with the clock: it shows another time than at the last start, and no whole tick.
        let tick = u64::from(TICK) * 1_000;
        let beside = if (self.now + 1_000) % tick < 1_000 {
            2_000
        } else {
            1_000
        };
        self.pass(beside)?;
        self.began = self.now;
        match &self.backup {
            Some(image) if backup => self.simulated.restore(self.now, image),
            _ => self.simulated.restart(self.now),
        }
        self.hear();
        self.connections.iter_mut().for_each(|open| *open = None);
        self.real.restart(backup)?;
        // Sessions begin anew there in no order: something comes from all but the first before two end in one tick.
        let others: Vec<SessionId> = self.simulated.sessions().skip(1).collect();
        for id in others {
            let password = password(id);
            self.sessions[0] = Some(Session { id, password });
            self.connect(0, 999, Open::Again(0))?;
            self.cut_off(0);
        }
        let what = if backup { "backup" } else { "all" };
        Ok(Some(Replies {
            kind: "START",
            simulated: format!("with {what}: zxid {}", self.simulated.zxid()),
            real: format!("with {what}: zxid {}", self.real.zxid()?),
        }))
    }

    fn resolve(&self, wish: &Wish) -> Command {
        match wish {
            Wish::Ping => Command::Ping,
            Wish::Close => Command::Close,
            Wish::Sync => Command::Sync("/".into()),
            Wish::Exists(spot, watch) => Command::Exists {
                path: self.path(*spot),
                watch: *watch,
            },
            Wish::Get(spot, watch) => Command::GetData {
                path: self.path(*spot),
                watch: *watch,
            },
            Wish::Children(spot, watch) => Command::GetChildren {
                path: self.path(*spot),
                watch: *watch,
            },
            Wish::Do(change) => Command::Do(self.operation(change)),
            Wish::Multi(changes) => Command::Multi(
                changes
                    .iter()
                    .map(|change| self.operation(change))
                    .collect(),
            ),
        }
    }

    fn operation(&self, change: &Change) -> Operation {
        let version = |path: &Key, expected: Expected| match expected {
            Expected::Any => -1,
            Expected::There(more) => {
                let there = self.simulated.stat(path);
                there.map_or(0, |stat| stat.version) + more
            }
        };
        match change {
            Change::Create(spot, data, mode) => Operation::Create {
                path: self.path(*spot),
                data: (*data).into(),
                mode: *mode,
            },
            Change::Delete(spot, expected) => {
                let path = self.path(*spot);
                let version = version(&path, *expected);
                Operation::Delete { path, version }
            }
            Change::Set(spot, data, expected) => {
                let path = self.path(*spot);
                let version = version(&path, *expected);
                let data = (*data).into();
                Operation::SetData {
                    path,
                    data,
                    version,
                }
            }
            Change::Check(spot, expected) => {
                let path = self.path(*spot);
                let version = version(&path, *expected);
                Operation::Check { path, version }
            }
        }
    }

    fn path(&self, spot: Spot) -> Key {
        match spot {
            Spot::At(path) => path.into(),
            Spot::Child(parent, place) => {
                let children = self.simulated.children(&parent.into()).unwrap_or_default();
                let place = place as usize % children.len().max(1);
                let child = children.get(place).map_or("none", |child| &**child);
                format!("{parent}/{child}").into()
            }
        }
    }

    fn cut_off(&mut self, client: usize) {
        self.connections[client] = None;
        self.simulated.disconnect(client as u16);
    }

    /// Deletes what is left under a znode.
    fn clear(&mut self, path: &Key) -> Result<(), Trouble> {
        for child in self.simulated.children(path).unwrap_or_default() {
            let child: Key = format!("{}/{child}", path.trim_end_matches('/')).into();
            if &*child != "/zookeeper" {
                self.clear(&child)?;
                self.xid += 1;
                let delete = Command::Do(Operation::Delete {
                    path: child,
                    version: -1,
                });
                self.simulated.ask(self.now, 0, self.xid, &delete);
                self.hear();
                if let Some(real) = &mut self.connections[0] {
                    real.send(&wire::request(self.xid, &delete));
                    real.receive()?;
                }
            }
        }
        Ok(())
    }
}

fn broken(packet: &[u8]) -> Trouble {
    Trouble::failed(
        "zookeeper says what is not understood",
        format!("{packet:02x?}"),
    )
}

impl Heard {
    /// Of events on a connection that is closed because its session is over nothing is certain.
    fn forget_what_may_be_lost(&mut self) {
        let closed = |(client, said): &(usize, Said)| (*said == Said::Closed).then_some(*client);
        let closed: Vec<usize> = self.simulated.iter().filter_map(closed).collect();
        let keeps = |client: &usize, event: bool| !event || !closed.contains(client);
        self.simulated
            .retain(|(client, said)| keeps(client, matches!(said, Said::Event(_))));
        self.real
            .retain(|(client, said)| keeps(client, matches!(said, Ok(Said::Event(_)))));
    }

    /// What was said to whom, the asking client first. What goes with a session goes in no order.
    fn replies(self, kind: &'static str, asking: usize, ends: bool) -> Replies {
        let simulated = self.simulated.into_iter();
        let simulated = simulated.map(|(client, said)| (client, Ok(said)));
        Replies {
            kind,
            simulated: list(&simulated.collect::<Vec<_>>(), asking, ends),
            real: list(&self.real, asking, ends),
        }
    }
}

/// In words that are equal when the same was said to each connection in the same order; events in any order, if that.
fn list(all: &[(usize, Result<Said, i32>)], asking: usize, any_order: bool) -> String {
    let mut words = Vec::new();
    for turn in 0..CLIENTS as usize {
        let client = (asking + turn) % CLIENTS as usize;
        let its = all.iter().filter(|(to, _)| *to == client);
        let mut told: Vec<String> = its.map(|(_, said)| word(said)).collect();
        if any_order {
            let event = |word: &String| word.starts_with(EVENT).then(|| word.clone());
            told.sort_by_cached_key(event);
        }
        // What was asked first: what it brought about may have been told before.
        if client == asking
            && let Some(place) = told.iter().position(|word| !word.starts_with(EVENT))
        {
            words.push(told.remove(place));
            if !told.is_empty() {
                told.insert(place, "that".to_owned());
            }
        }
        if !told.is_empty() {
            words.push(format!("client {client}: {}", told.join(", ")));
        }
    }
    words.join("; ")
}

fn word(said: &Result<Said, i32>) -> String {
    match said {
        Err(code) => format!("error {code}"),
        Ok(Said::Closed) => "closed".to_owned(),
        Ok(Said::Expired) => "expired for ever".to_owned(),
        Ok(Said::Event(event)) => format!("{EVENT} {event:?}"),
        Ok(Said::Connected {
            session,
            password,
            timeout,
        }) => format!("connected to {session:x} for {timeout} ms with {password:02x?}"),
        Ok(Said::Answer { xid, zxid, result }) => {
            let what = match result {
                Err(error) => format!("error {error}"),
                Ok(Reply::Done) => "done as asked".to_owned(),
                Ok(Reply::Created { path, stat }) => format!("created as {path} {stat:?}"),
                Ok(Reply::Stat(stat)) => format!("stat of {stat:?}"),
                Ok(Reply::Data { data, stat }) => format!("data is {data:?} {stat:?}"),
                Ok(Reply::Children { names, stat }) => format!("children are {names:?} {stat:?}"),
                Ok(Reply::Named(path)) => format!("named {path}"),
                Ok(Reply::Multi(done)) => format!("all done {done:?}"),
                Ok(Reply::Failed(failed)) => format!("none done {failed:?}"),
            };
            format!("{what} : {xid} zxid {zxid}")
        }
    }
}

impl Store for Pair {
    type Step = Step;

    fn draw(&self, draw: &mut Random) -> Step {
        let client = draw.below(CLIENTS) as usize;
        let other = draw.below(CLIENTS) as usize;
        let closed: Vec<usize> = (0..CLIENTS as usize)
            .filter(|client| self.connections[*client].is_none())
            .collect();
        // Whoever is not connected mostly comes again.
        if !closed.is_empty() && draw.below(3) == 0 {
            let client = closed[draw.below(closed.len() as u64) as usize];
            return Step::Connect(client, timeout(draw), open(draw, client));
        }
        if self.backup.is_some() && draw.below(60) == 0 {
            return Step::Restore;
        }
        match draw.below(2_000) {
            0..1_600 => Step::Ask(client, wish(draw)),
            1_600..1_660 => Step::Connect(client, timeout(draw), open(draw, other)),
            1_660..1_690 => Step::Break(client),
            1_690..1_870 => Step::Pass(draw.below(120)),
            1_870..1_990 => Step::PassToEnd(draw.below(3).cast_signed() - 1),
            1_990..1_994 => Step::Pass(60_000),
            1_994..1_996 => Step::Restart,
            _ => Step::BackUp,
        }
    }

    fn begin(&mut self) -> Result<(), Trouble> {
        if self.parted {
            *self = Self::start()?;
            return Ok(());
        }
        for client in 0..CLIENTS as usize {
            self.cut_off(client);
            self.sessions[client] = None;
        }
        self.backup = None;
        self.pass(ALL_OVER)?;
        self.connect(0, 0, Open::New)?;
        self.clear(&"/".into())?;
        // Where elections are held.
        for path in ["/a", "/b"] {
            let create = Change::Create(Spot::At(path), "", Mode::Persistent);
            self.ask(0, &Wish::Do(create))?;
        }
        Ok(())
    }

    fn take(&mut self, step: &Step) -> Result<Option<Replies>, Trouble> {
        let replies = match step {
            Step::Connect(client, timeout, open) => self.connect(*client, *timeout, *open)?,
            Step::Break(client) => {
                self.cut_off(*client);
                None
            }
            Step::Ask(client, wish) => self.ask(*client, wish)?,
            Step::Pass(time) => Some(self.pass(*time * 1_000)?),
            Step::PassToEnd(after) => {
                let due = self.simulated.due().unwrap_or(self.now);
                let to = due.saturating_add_signed(after * 1_000);
                Some(self.pass(to.saturating_sub(self.now))?)
            }
            Step::Restart => self.start_anew(false)?,
            Step::BackUp => {
                self.real.back_up()?;
                self.backup = Some(self.simulated.image());
                None
            }
            Step::Restore => self.start_anew(true)?,
        };
        self.parted |= replies.as_ref().is_some_and(|r| r.simulated != r.real);
        Ok(replies)
    }
}

fn timeout(draw: &mut Random) -> i32 {
    [0, 200, 350, 999, 1_000, 5_000][draw.below(6) as usize]
}

fn open(draw: &mut Random, client: usize) -> Open {
    match draw.below(12) {
        0..5 => Open::New,
        5..10 => Open::Again(client),
        10 => Open::Wrong(client),
        _ => Open::Ahead,
    }
}

const PATHS: [&str; 16] = [
    "/a",
    "/b",
    "/a/c",
    "/b/c",
    "/a",
    "/a",
    "/b",
    "/a/c",
    "/a/c/x",
    "/a/d",
    "/b/c",
    "/c",
    "/",
    "/a/",
    "/zookeeper",
    "/a//b",
];
const PARENTS: [&str; 3] = ["/a", "/b", "/a/c"];

fn spot(draw: &mut Random) -> Spot {
    match draw.below(3) {
        0..2 => Spot::Child(PARENTS[draw.below(2) as usize], draw.below(4)),
        _ => Spot::At(PATHS[draw.below(16) as usize]),
    }
}

fn expected(draw: &mut Random) -> Expected {
    match draw.below(8) {
        0..3 => Expected::Any,
        3..6 => Expected::There(0),
        _ => Expected::There(draw.below(2) as i32 * 2 - 1),
    }
}

fn data(draw: &mut Random) -> &'static str {
    ["", "x", "seven b"][draw.below(3) as usize]
}

fn create(draw: &mut Random) -> Change {
    let sequential = [
        "/a/n-", "/b/n-", "/a/", "/a/c/n-", "/", "/none/n-", "/b/e/n-",
    ];
    match draw.below(10) {
        0..2 => Change::Create(spot(draw), data(draw), Mode::Persistent),
        2 => Change::Create(
            Spot::At(PARENTS[draw.below(3) as usize]),
            "",
            Mode::Persistent,
        ),
        3 => {
            let spot = [spot(draw), Spot::At("/b/e")][draw.below(2) as usize];
            Change::Create(spot, data(draw), Mode::Ephemeral)
        }
        4 => Change::Create(Spot::At("/c"), data(draw), Mode::Container),
        5 => Change::Create(Spot::At("/c/x"), data(draw), Mode::Ephemeral),
        place => {
            let mode = [Mode::EphemeralSequential, Mode::PersistentSequential][place as usize / 9];
            Change::Create(
                Spot::At(sequential[draw.below(7) as usize]),
                data(draw),
                mode,
            )
        }
    }
}

fn change(draw: &mut Random) -> Change {
    match draw.below(9) {
        0..4 => create(draw),
        4..6 => Change::Delete(spot(draw), expected(draw)),
        6..8 => Change::Set(spot(draw), data(draw), expected(draw)),
        _ => Change::Check(spot(draw), expected(draw)),
    }
}

fn wish(draw: &mut Random) -> Wish {
    let watch = draw.below(2) == 0;
    match draw.below(40) {
        0..12 => Wish::Do(create(draw)),
        12..16 => Wish::Do(Change::Delete(spot(draw), expected(draw))),
        16..20 => Wish::Do(Change::Set(spot(draw), data(draw), expected(draw))),
        20..24 => Wish::Exists(spot(draw), watch),
        24..27 => Wish::Get(spot(draw), watch),
        27..31 => Wish::Children(spot(draw), watch),
        31..36 => Wish::Multi((0..draw.below(5)).map(|_| change(draw)).collect()),
        36 => Wish::Sync,
        37 if draw.below(3) == 0 => Wish::Close,
        _ => Wish::Ping,
    }
}

impl Wish {
    const fn kind(&self) -> &'static str {
        match self {
            Self::Ping => "PING",
            Self::Close => "CLOSE",
            Self::Sync => "SYNC",
            Self::Exists(..) => "EXISTS",
            Self::Get(..) => "GET",
            Self::Children(..) => "CHILDREN",
            Self::Do(Change::Create(..)) => "CREATE",
            Self::Do(Change::Delete(..)) => "DELETE",
            Self::Do(Change::Set(..)) => "SET",
            Self::Do(Change::Check(..)) => "CHECK",
            Self::Multi(_) => "MULTI",
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect(client, timeout, open) => {
                write!(f, "client {client} connects: {open:?}, {timeout} ms")
            }
            Self::Break(client) => write!(f, "client {client} is cut off"),
            Self::Ask(client, wish) => write!(f, "client {client}: {wish:?}"),
            Self::Pass(time) => write!(f, "{time} ms pass"),
            Self::PassToEnd(after) => write!(f, "time passes to {after} ms after the next end"),
            Self::Restart => f.write_str("restart"),
            Self::BackUp => f.write_str("a backup is made"),
            Self::Restore => f.write_str("restart with the backup"),
        }
    }
}
