//! Redis: one server, several clients, times to live to the millisecond, clock jumps, full memory, restarts.

use crate::compare::{Replies, Store};
use crate::report::{Difference, Report};
use crate::server::redis::{Client, Redis};
use crate::trouble::Trouble;
use std::fmt;
use std::time::{Duration, Instant};
use tenure::random::Random;
use tenure_sim::store::redis::{
    Command, Memory, Only, Persistence, Script, Server, Tail, Ttl, When,
};

/// What is said of it.
pub(crate) const REPORT: Report = Report {
    name: "redis",
    real: "`redis-server` 7.0 of Debian 12, with `tenure_sim::store::redis::Server`",
    compared: &[
        "`GET`, `SET` with `NX`, `XX`, `GET`, `EX`, `PX`, `PXAT`, `KEEPTTL`, `DEL`, `EXISTS`, `PEXPIRE` with `NX`, `XX`, `GT`, `LT`, \
         `PTTL`, `INCR`, `FLUSHALL`, `WAIT`, and `EVAL` of the eight scripts of the lease schemes, in the very words in which a host sends them, from three clients in turn. The real \
         server's wall clock is told by the test (a library put before its own), so that every reply is equal to the millisecond; it \
         stands, advances, jumps forth and back, often to just before, onto and just after the end of a key.",
        "Restarts: killed and started again, with its file of commands whole, or cut to where it was a second's sync ago. Full memory: \
         `maxmemory` of one byte under each kind of policy. The cycle that deletes what is over: switched on until it has found all.",
    ],
    must_see: &[
        ("GET", &["nil", "value"]),
        ("SET", &["OK", "nil", "value", "error ERR", "error OOM"]),
        ("DEL", &["0", "1", "number"]),
        ("EXISTS", &["0", "1", "number"]),
        ("PEXPIRE", &["0", "1", "error ERR"]),
        ("PTTL", &["-2", "-1", "0", "1", "number"]),
        ("INCR", &["1", "number", "error ERR", "error OOM"]),
        ("FLUSHALL", &["OK"]),
        ("TAKE", &["1", "number", "array", "error ERR", "error OOM"]),
        ("RENEW", &["1", "array", "error ERR"]),
        ("READ", &["array"]),
        ("RELEASE", &["0", "1"]),
        ("DELETE", &["0", "1"]),
        ("SET NX", &["1", "value", "error ERR", "error OOM"]),
        ("EXTEND", &["nil", "1", "value", "error ERR"]),
        ("LOOK", &["nil", "value"]),
        ("WAIT", &["0", "error ERR"]),
        ("DBSIZE", &["0", "1", "number"]),
    ],
    differences: &[Difference {
        name: "errors in scripts",
        real: "the command's error, then the script's hash and line",
        simulated: "the command's error",
        why: "a scheme needs which error it is; the hash is that of the text",
        is: |replies| {
            let told = replies.real.strip_prefix(&replies.simulated);
            let at = told.and_then(|rest| rest.strip_prefix(" script: "));
            at.is_some_and(|rest| rest.contains(", on @user_script:"))
        },
    }],
    beyond: &[
        (
            "`tenure_sim::store::redis::Replicated`, a master with replicas, is compared with no real one.",
            "What a replica has depends on when its master's stream reaches it, and nothing here holds that stream. The servers of which \
             it is made are those that are compared.",
        ),
        (
            "The cycle of the real server looks at a sample of the keys, ten times a second, and goes on while a quarter of them is over; \
             the simulated one finds all at once.",
            "How long a key that is over stays shows only in the number of keys, and when a clock jumps back; a sample is drawn at random.",
        ),
        (
            "Which key is evicted, while some may stay, is drawn at random there; here a fault names it.",
            "A scenario that wants a lock to be evicted says so.",
        ),
        (
            "The file of commands is synced when a second has passed since; the real server syncs in the background, and may be up to \
             a second later.",
            "What is lost is at least as much there; a scenario sets when the machine ends.",
        ),
    ],
};

const CLIENTS: u64 = 3;
/// 2026, in microseconds.
const BEGINS: i64 = 1_767_225_600_000_000;

/// A step of a comparison.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// A client asks.
    Ask(usize, Command),
    /// Whoever holds the lock renews it, with lock and counter as they are, for so many milliseconds.
    Renew(i64),
    /// Time passes, in microseconds.
    Pass(u64),
    /// The wall clock jumps, in microseconds.
    Jump(i64),
    /// The wall clock jumps to so many milliseconds after the last one of a key, if it has an end.
    JumpToEnd(&'static str, i64),
    /// Memory runs full, or is free again.
    Memory(Memory),
    /// The server ends and starts.
    Restart(Tail),
    /// The cycle finds what is over.
    Cycle,
    /// How many keys are there?
    Size,
}

/// The two servers.
pub(crate) struct Pair {
    real: Redis,
    clients: Vec<Client>,
    simulated: Server,
    now: u64,
    ahead: i64,
    /// How much of the file was synced, by the simulated server's reckoning, and when.
    synced: (u64, u64),
}

impl Pair {
    pub(crate) fn start() -> Result<Self, Trouble> {
        let mut pair = Self {
            real: Redis::start()?,
            clients: Vec::new(),
            simulated: fresh(),
            now: 0,
            ahead: BEGINS,
            synced: (0, 0),
        };
        pair.connect()?;
        Ok(pair)
    }

    fn connect(&mut self) -> Result<(), Trouble> {
        self.clients.clear();
        for _ in 0..CLIENTS {
            self.clients.push(self.real.connect()?);
        }
        Ok(())
    }

    fn set_clock(&self) -> Result<(), Trouble> {
        self.real
            .clock()
            .set(self.now.saturating_add_signed(self.ahead).cast_signed())
    }

    fn ask(&mut self, client: usize, command: &Command) -> Result<Replies, Trouble> {
        let id = client as u16;
        let before = self.real.written()?;
        self.simulated.ask(self.now, id, command);
        if self.simulated.synced_at() != self.synced.1 {
            self.synced = (before, self.simulated.synced_at());
        }
        let words = words(command);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        self.clients[client].send(&words)?;
        let mut simulated = self.simulated.poll();
        // Whoever waits for replicas that are not there waits until the wall clock says that its time is over.
        if simulated.is_none()
            && let Some(due) = self.simulated.due()
        {
            self.until_blocked((client + 1) % self.clients.len())?;
            self.now = due;
            self.set_clock()?;
            self.simulated.wake(due);
            simulated = self.simulated.poll();
        }
        let simulated = simulated.map_or("no reply".to_owned(), |(_, reply)| reply.to_string());
        let real = self.clients[client].reply()?;
        Ok(Replies {
            kind: kind(command),
            simulated,
            real,
        })
    }

    /// Waits until the real server has begun to count a client's time: its clock stands still until then.
    fn until_blocked(&mut self, other: usize) -> Result<(), Trouble> {
        while !self.clients[other]
            .ask(&["INFO", "clients"])?
            .contains("blocked_clients:1")
        {
            std::thread::yield_now();
        }
        Ok(())
    }

    /// A renewal by whoever holds the lock.
    fn renewal(&self, ms: i64) -> Command {
        let held = |key: &str| {
            self.simulated
                .held(&key.into())
                .cloned()
                .unwrap_or_default()
        };
        Command::Eval(Script::Renew {
            lock: "lock".into(),
            counter: "count".into(),
            value: held("lock"),
            ms,
            token: held("count"),
        })
    }

    fn memory(&mut self, memory: Memory) -> Result<(), Trouble> {
        self.simulated.set_memory(memory);
        let (limit, policy) = match memory {
            Memory::Free => ("0", "noeviction"),
            Memory::Full => ("1", "noeviction"),
            Memory::EvictsEnding => ("1", "volatile-ttl"),
            Memory::EvictsAny => ("1", "allkeys-lru"),
        };
        // The policy first: setting the limit evicts already. Whatever is set is looked at with the next command.
        self.clients[0].expect(
            &[
                "CONFIG",
                "SET",
                "maxmemory-policy",
                policy,
                "maxmemory",
                limit,
            ],
            "OK",
        )
    }

    fn size(&mut self) -> Result<String, Trouble> {
        self.clients[0].ask(&["DBSIZE"])
    }

    fn cycle(&mut self) -> Result<(), Trouble> {
        self.simulated.set_active_expiry(true);
        self.simulated.wake(self.now);
        self.simulated.set_active_expiry(false);
        let left = self.simulated.size().to_string();
        self.clients[0].expect(&["DEBUG", "SET-ACTIVE-EXPIRE", "1"], "OK")?;
        let begun = Instant::now();
        while self.size()? != left && begun.elapsed() < Duration::from_secs(5) {
            std::thread::sleep(Duration::from_millis(5));
        }
        self.clients[0].expect(&["DEBUG", "SET-ACTIVE-EXPIRE", "0"], "OK")
    }
}

fn fresh() -> Server {
    let mut server = Server::new(Persistence::EverySecond, BEGINS);
    server.set_active_expiry(false);
    server
}

impl Store for Pair {
    type Step = Step;

    fn draw(&self, draw: &mut Random) -> Step {
        match draw.below(1_000) {
            0..750 => Step::Ask(draw.below(CLIENTS) as usize, command(draw)),
            750..800 => Step::Renew(ms(draw)),
            800..860 => Step::Pass(draw.below(40_000)),
            860..940 => Step::JumpToEnd(key(draw), draw.below(4).cast_signed() - 1),
            940..960 => Step::Jump(draw.below(400_000).cast_signed() - 200_000),
            960..970 => Step::Pass(draw.below(1_500_000)),
            970..973 => Step::Memory(
                [Memory::Full, Memory::EvictsEnding, Memory::EvictsAny][draw.below(3) as usize],
            ),
            973..988 => Step::Memory(Memory::Free),
            988..990 => Step::Restart([Tail::Kept, Tail::Lost][draw.below(2) as usize]),
            990..992 => Step::Cycle,
            _ => Step::Size,
        }
    }

    fn begin(&mut self) -> Result<(), Trouble> {
        self.memory(Memory::Free)?;
        self.clients[0].expect(&["FLUSHALL"], "OK")?;
        self.simulated = fresh();
        (self.now, self.ahead) = (0, BEGINS);
        self.synced = (self.real.written()?, 0);
        self.set_clock()
    }

    fn take(&mut self, step: &Step) -> Result<Option<Replies>, Trouble> {
        match step {
            Step::Ask(client, command) => return self.ask(*client, command).map(Some),
            Step::Renew(ms) => return self.ask(0, &self.renewal(*ms)).map(Some),
            Step::Pass(time) => self.now += time,
            Step::Jump(by) => {
                self.ahead += by;
                self.simulated.jump(*by);
            }
            Step::JumpToEnd(key, after) => {
                if let Some(end) = self
                    .simulated
                    .ends(&(*key).into())
                    .filter(|end| *end < i64::MAX / 2_000)
                {
                    let by = (end + after - self.simulated.wall(self.now)) * 1_000;
                    self.ahead += by;
                    self.simulated.jump(by);
                }
            }
            Step::Memory(memory) => self.memory(*memory)?,
            Step::Restart(tail) => {
                self.simulated.restart(self.now, *tail);
                self.simulated.set_memory(Memory::Free);
                self.real
                    .restart((*tail == Tail::Lost).then_some(self.synced.0))?;
                self.connect()?;
                self.synced = (self.real.written()?, self.simulated.synced_at());
            }
            Step::Cycle => self.cycle()?,
            Step::Size => {
                let simulated = self.simulated.size().to_string();
                let real = self.size()?;
                return Ok(Some(Replies {
                    kind: "DBSIZE",
                    simulated,
                    real,
                }));
            }
        }
        self.set_clock()?;
        Ok(None)
    }
}

const KEYS: [&str; 4] = ["lock", "token", "other", "count"];
const VALUES: [&str; 7] = [
    "a",
    "b",
    "41",
    "9223372036854775806",
    "9223372036854775807",
    "007",
    "",
];

fn key(draw: &mut Random) -> &'static str {
    KEYS[draw.below(4) as usize]
}

fn keys(draw: &mut Random) -> Vec<tenure_sim::store::Key> {
    (0..=draw.below(3)).map(|_| key(draw).into()).collect()
}

fn value(draw: &mut Random) -> tenure_sim::store::Value {
    let value = match draw.below(10) {
        // Mostly what another may hold, too, so that comparisons come out either way.
        0..7 => VALUES[draw.below(2) as usize],
        _ => VALUES[draw.below(VALUES.len() as u64) as usize],
    };
    value.into()
}

/// A time to live: mostly short, sometimes one that no key can have.
fn ms(draw: &mut Random) -> i64 {
    match draw.below(40) {
        0 => 0,
        1 => -1,
        2 => i64::MAX,
        3 => i64::MAX - BEGINS / 1_000,
        4 => i64::MIN,
        5..25 => draw.below(20).cast_signed() + 1,
        _ => draw.below(3_000).cast_signed() + 1,
    }
}

fn command(draw: &mut Random) -> Command {
    match draw.below(230) {
        0..35 => Command::Get(key(draw).into()),
        35..75 => Command::Set {
            key: key(draw).into(),
            value: value(draw),
            when: [When::Always, When::Absent, When::Present][draw.below(3) as usize],
            ttl: match draw.below(8) {
                0 | 1 => Ttl::Forever,
                2 => Ttl::Keep,
                3 => Ttl::AtMs(BEGINS / 1_000 + ms(draw) / 2),
                4 => Ttl::Seconds(ms(draw) / 400),
                _ => Ttl::Ms(ms(draw)),
            },
            get: draw.below(4) == 0,
        },
        75..85 => Command::Del(keys(draw)),
        85..95 => Command::Exists(keys(draw)),
        95..115 => Command::PExpire {
            key: key(draw).into(),
            ms: ms(draw),
            only: [
                None,
                Some(Only::Endless),
                Some(Only::Ending),
                Some(Only::Later),
                Some(Only::Earlier),
            ][draw.below(5) as usize],
        },
        115..140 => Command::PTtl(key(draw).into()),
        140..155 => Command::Incr(key(draw).into()),
        155 => Command::FlushAll,
        156..228 => Command::Eval(script(draw)),
        _ => Command::Wait {
            replicas: draw.below(2).cast_signed(),
            ms: [-1, 1, 3][draw.below(3) as usize],
        },
    }
}

/// A script of the lease schemes; its counter is mostly what it is likely to be.
fn script(draw: &mut Random) -> Script {
    let lock = ["lock", key(draw)][usize::from(draw.below(5) == 0)].into();
    let counter = ["count", "token"][usize::from(draw.below(5) == 0)].into();
    match draw.below(60) {
        0..15 => Script::Take {
            lock,
            counter,
            value: value(draw),
            ms: ms(draw),
        },
        15..25 => Script::Renew {
            lock,
            counter,
            value: value(draw),
            ms: ms(draw),
            token: ["1", "1", "2", "42"][draw.below(4) as usize].into(),
        },
        25..29 => Script::Read { lock, counter },
        29..35 => Script::Release {
            lock,
            value: value(draw),
        },
        35 => Script::Delete { lock },
        36..42 => Script::Set {
            lock,
            value: value(draw),
            ms: ms(draw),
        },
        42..57 => Script::Extend {
            lock,
            value: value(draw),
            ms: ms(draw),
        },
        _ => Script::Look { lock },
    }
}

/// A command as a client sends it.
fn words(command: &Command) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut add = |more: &[&str]| words.extend(more.iter().map(|word| (*word).to_owned()));
    match command {
        Command::Get(key) => add(&["GET", key]),
        Command::Set {
            key,
            value,
            when,
            ttl,
            get,
        } => {
            add(&["SET", key, value]);
            match when {
                When::Always => {}
                When::Absent => add(&["NX"]),
                When::Present => add(&["XX"]),
            }
            match ttl {
                Ttl::Forever => {}
                Ttl::Keep => add(&["KEEPTTL"]),
                Ttl::Seconds(seconds) => add(&["EX", &seconds.to_string()]),
                Ttl::Ms(ms) => add(&["PX", &ms.to_string()]),
                Ttl::AtMs(ms) => add(&["PXAT", &ms.to_string()]),
            }
            if *get {
                add(&["GET"]);
            }
        }
        Command::Del(keys) => {
            add(&["DEL"]);
            keys.iter().for_each(|key| add(&[key]));
        }
        Command::Exists(keys) => {
            add(&["EXISTS"]);
            keys.iter().for_each(|key| add(&[key]));
        }
        Command::PExpire { key, ms, only } => {
            add(&["PEXPIRE", key, &ms.to_string()]);
            match only {
                None => {}
                Some(Only::Endless) => add(&["NX"]),
                Some(Only::Ending) => add(&["XX"]),
                Some(Only::Later) => add(&["GT"]),
                Some(Only::Earlier) => add(&["LT"]),
            }
        }
        Command::PTtl(key) => add(&["PTTL", key]),
        Command::Incr(key) => add(&["INCR", key]),
        Command::FlushAll => add(&["FLUSHALL"]),
        Command::Eval(script) => {
            add(&["EVAL", script.source()]);
            match script {
                Script::Take {
                    lock,
                    counter,
                    value,
                    ms,
                } => add(&["2", lock, counter, value, &ms.to_string()]),
                Script::Renew {
                    lock,
                    counter,
                    value,
                    ms,
                    token,
                } => add(&["2", lock, counter, value, &ms.to_string(), token]),
                Script::Read { lock, counter } => add(&["2", lock, counter]),
                Script::Release { lock, value } => add(&["1", lock, value]),
                Script::Delete { lock } | Script::Look { lock } => add(&["1", lock]),
                Script::Set { lock, value, ms } | Script::Extend { lock, value, ms } => {
                    add(&["1", lock, value, &ms.to_string()]);
                }
            }
        }
        Command::Wait { replicas, ms } => add(&["WAIT", &replicas.to_string(), &ms.to_string()]),
    }
    words
}

const fn kind(command: &Command) -> &'static str {
    match command {
        Command::Get(_) => "GET",
        Command::Set { .. } => "SET",
        Command::Del(_) => "DEL",
        Command::Exists(_) => "EXISTS",
        Command::PExpire { .. } => "PEXPIRE",
        Command::PTtl(_) => "PTTL",
        Command::Incr(_) => "INCR",
        Command::FlushAll => "FLUSHALL",
        Command::Eval(Script::Take { .. }) => "TAKE",
        Command::Eval(Script::Renew { .. }) => "RENEW",
        Command::Eval(Script::Read { .. }) => "READ",
        Command::Eval(Script::Release { .. }) => "RELEASE",
        Command::Eval(Script::Delete { .. }) => "DELETE",
        Command::Eval(Script::Set { .. }) => "SET NX",
        Command::Eval(Script::Extend { .. }) => "EXTEND",
        Command::Eval(Script::Look { .. }) => "LOOK",
        Command::Wait { .. } => "WAIT",
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ask(client, command) => {
                let words = words(command);
                let told = match command {
                    Command::Eval(_) => format!("EVAL {} {}", kind(command), words[3..].join(" ")),
                    _ => words.join(" "),
                };
                write!(f, "client {client}: {told}")
            }
            Self::Renew(ms) => write!(f, "client 0: RENEW as it is held, for {ms} ms"),
            Self::Pass(time) => write!(f, "{time} µs pass"),
            Self::Jump(by) => write!(f, "the clock jumps by {by} µs"),
            Self::JumpToEnd(key, after) => {
                write!(f, "the clock jumps to the end of {key} and {after} ms")
            }
            Self::Memory(memory) => write!(f, "memory: {memory:?}"),
            Self::Restart(tail) => write!(f, "restart, unsynced tail {tail:?}"),
            Self::Cycle => f.write_str("the cycle deletes what is over"),
            Self::Size => f.write_str("DBSIZE"),
        }
    }
}
