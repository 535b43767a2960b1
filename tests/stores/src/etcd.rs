//! etcd: one server, several clients, leases, transactions, watches from the past on. What it says in JSON is told in the
//! words of the simulated one by `words.rs` beside this.

mod words;

use crate::compare::{Replies, Store};
use crate::report::Report;
use crate::server::etcd::{Client, Etcd};
use crate::trouble::Trouble;
use serde_json::Value;
use std::fmt;
use std::time::{Duration, Instant};
use tenure::Ticket;
use tenure::random::Random;
use tenure_sim::store::etcd::{
    Command, Compare, Etcd as Simulated, Is, Operation, Order, Reply, Said, Select, Target,
};
use tenure_sim::store::{Change, LeaseId, Range};

/// What is said of it.
pub(crate) const REPORT: Report = Report {
    name: "etcd",
    real: "`etcd` 3.4 of Debian 12 (its JSON gateway), with `tenure_sim::store::etcd::Etcd`",
    compared: &[
        "`Range` of a key and of a prefix, by key and by `CREATE` both ways, with `max_create_revision` and `limit`; `Put`, `DeleteRange`; \
         `Txn` with up to two comparisons of `CREATE`, `MOD`, `VERSION` and `VALUE` (equal, unequal, greater, less) and up to three operations \
         on each side; `LeaseGrant`, `LeaseRevoke`, `LeaseKeepAlive`, `LeaseTimeToLive` with keys; two clients in turn. Every number and the \
         revision of every answer are equal; what is left of a lease, to a second.",
        "`Watch` of a key and of a prefix, from the next revision, the past, and the forgotten past on: every event in order. Restarts: killed \
         and started again. One lease of the shortest time ends by itself, a few times a run: its end is waited for.",
    ],
    must_see: &[
        ("RANGE", &["range none", "range all", "range some"]),
        ("PUT", &["put at", "error requested"]),
        ("DELETE", &["deleted 0", "deleted 1", "deleted 2"]),
        (
            "TXN",
            &["txn yes", "txn no", "error requested", "error duplicate"],
        ),
        ("GRANT", &["granted 2", "granted 60", "error lease"]),
        ("REVOKE", &["revoked at", "error requested"]),
        ("KEEPALIVE", &["alive 0", "alive 2", "alive 60"]),
        ("TIMETOLIVE", &["left still", "left none"]),
        ("WATCH", &["told nothing", "told changes", "told compacted"]),
    ],
    differences: &[],
    beyond: &[
        (
            "A lease that is over ends on the instant; the real server looks twice a second.",
            "No reply is asked for from 0.7 s before the end of a lease until the real server has ended it, so that what is asked for is \
             equal. A scheme may not depend on less.",
        ),
        (
            "The simulated server forgets all but its latest 64 changes; the real one forgets when it is told to.",
            "It is told to before a watch asks for something forgotten. A deletion in the very revision to which it is told to forget is \
             forgotten, too, and a put is not; no watch begins there.",
        ),
        (
            "A transaction of the real server may put a key and delete a range without an end that has it, and the other way about; here \
             it changes a key twice, and is refused.",
            "No scheme does so. All keys are asked for as a range that ends after them.",
        ),
        (
            "Killed, the real server (3.4) does again what it did since keys changed last, and does it to the leases that it has by then: a \
             put that was refused because its lease was not there is carried out when that lease was granted afterwards.",
            "It is not meant to. A key is put before the server is killed.",
        ),
        (
            "A watch of the real server says that it begins before it tells anything.",
            "No scheme waits for that.",
        ),
    ],
};

const CLIENTS: u64 = 2;
const WATCHES: u64 = 3;
/// The lease that is short.
const SHORT: LeaseId = 1;
const LEASES: [LeaseId; 4] = [SHORT, 2, 3, 4];
/// So long before the end of a lease nothing is asked.
const CLOSE: u64 = 700_000;
/// After that what was done is on the disk of the real server, which saves ten times a second.
const SAVED: Duration = Duration::from_millis(300);

/// A step of a comparison. Revisions are counted from what there is: a run without the steps before it has others.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// A client looks for keys; none that were created later than so many revisions ago.
    Look(usize, Select, Option<u64>),
    /// A client calls.
    Call(usize, Command),
    /// A client calls a transaction; what is compared is what there is, and so much more.
    Txn(usize, Vec<(Compare, i64)>, Vec<Operation>, Vec<Operation>),
    /// A watch is opened in the place of any, from the next revision on, or so many before that.
    Watch(usize, Range, Option<u64>),
    /// A watch is cancelled.
    Cancel(usize),
    /// What has a watch told?
    Told(usize),
    /// The lease that ends within seconds does.
    Wait,
    /// The server ends and starts.
    Restart,
}

/// A watch that is open.
struct Watch {
    real: Client,
    ticket: Ticket,
    /// What the simulated server told, and was not looked at, an event each.
    told: Vec<String>,
    /// And the real one.
    real_told: Vec<String>,
}

impl Watch {
    /// Waits until the real server has told as much as the simulated one. What it tells beyond that shows now or next.
    fn hear(&mut self) -> Result<(), Trouble> {
        loop {
            let missing = self.real_told.len() < self.told.len();
            let wait = Duration::from_millis(if missing { 3_000 } else { 1 });
            let Some(message) = self.real.next_within(wait)? else {
                return Ok(());
            };
            self.real_told
                .extend(words::events(&words::parse(&message)?));
        }
    }
}

/// The two servers.
pub(crate) struct Pair {
    real: Etcd,
    clients: Vec<Client>,
    watches: Vec<Option<Watch>>,
    simulated: Simulated,
    calls: u64,
    begun: Instant,
    /// Whether the two have parted.
    parted: bool,
}

impl Pair {
    pub(crate) fn start() -> Result<Self, Trouble> {
        let mut pair = Self {
            real: Etcd::start()?,
            clients: Vec::new(),
            watches: Vec::new(),
            simulated: Simulated::default(),
            calls: 0,
            begun: Instant::now(),
            parted: false,
        };
        pair.connect()?;
        Ok(pair)
    }

    fn connect(&mut self) -> Result<(), Trouble> {
        self.clients.clear();
        for _ in 0..CLIENTS {
            self.clients.push(self.real.connect()?);
        }
        self.watches = (0..WATCHES).map(|_| None).collect();
        Ok(())
    }

    fn now(&self) -> u64 {
        self.begun.elapsed().as_micros() as u64
    }

    /// Asks the simulated server under a ticket of its own, and gives its answer; what watches are told is kept.
    fn simulate(&mut self, command: &Command) -> Option<Said> {
        self.calls += 1;
        let ticket = Ticket {
            incarnation: 0,
            number: self.calls,
        };
        self.simulated.ask(self.now(), 0, ticket, command);
        let mut answer = None;
        while let Some((_, of, said)) = self.simulated.poll() {
            let mut open = self.watches.iter_mut().flatten();
            if of == ticket && matches!(said, Said::Answer { .. }) {
                answer = Some(said);
            } else if let Some(watch) = open.find(|watch| watch.ticket == of) {
                watch.told.extend(words::told(&said));
            }
        }
        answer
    }

    fn call(&mut self, client: usize, command: &Command) -> Result<Replies, Trouble> {
        let simulated = self.simulate(command);
        let (path, json) = words::call(command);
        let (_, said) = self.clients[client].post(path, &json)?;
        let mut real = words::real(command, &words::parse(&said)?);
        let simulated = simulated.map_or("no reply".to_owned(), |said| {
            let told = words::simulated(&said);
            // The two clocks differ by as long as it takes to ask.
            if let (Some(one), Some(other)) = (words::left(&told), words::left(&real))
                && one.abs_diff(other) <= 1
            {
                real = words::as_long(&real, other, one);
            }
            told
        });
        Ok(Replies {
            kind: words::kind(command),
            simulated,
            real,
        })
    }

    /// What is compared with what there is, and so much more.
    fn resolve(&self, compare: &Compare, more: i64) -> Compare {
        let mut compare = compare.clone();
        let there = self.simulated.kv().get(&Range::Key(compare.key.clone()));
        let there = there.first();
        match &mut compare.target {
            Target::Create(n) => *n = there.map_or(0, |r| r.created),
            Target::Modified(n) => *n = there.map_or(0, |r| r.modified),
            Target::Version(n) => *n = there.map_or(0, |r| r.version),
            Target::Value(_) => {}
        }
        if let Target::Create(n) | Target::Modified(n) | Target::Version(n) = &mut compare.target {
            *n = n.saturating_add_signed(more);
        }
        compare
    }

    fn watch(&mut self, watch: usize, keys: &Range, back: Option<u64>) -> Result<(), Trouble> {
        self.cancel(watch);
        let oldest = self.simulated.kv().oldest();
        let from = match back {
            None => 0,
            Some(back) => (self.simulated.kv().revision() + 1)
                .saturating_sub(back)
                .max(1),
        };
        if 0 < from && from <= oldest && oldest > 1 {
            // What is forgotten here is forgotten there before it is asked for.
            let json = format!("{{\"revision\":\"{oldest}\"}}");
            self.clients[0].post("/v3/kv/compaction", &json)?;
        }
        let from = if from == oldest { oldest + 1 } else { from };
        let mut real = self.real.connect()?;
        real.stream("/v3/watch", &words::watch(keys, from))?;
        real.next()?;
        // It tells of the past at once.
        self.watches[watch] = Some(Watch {
            real,
            ticket: Ticket {
                incarnation: 0,
                number: self.calls + 1,
            },
            told: Vec::new(),
            real_told: Vec::new(),
        });
        let keys = keys.clone();
        self.simulate(&Command::Watch { keys, from });
        // It tells of the past within a tenth of a second, of what is not forgotten by then.
        self.watches[watch].as_mut().map_or(Ok(()), Watch::hear)
    }

    fn cancel(&mut self, watch: usize) {
        if let Some(watch) = self.watches[watch].take() {
            self.simulate(&Command::WatchCancel(watch.ticket));
        }
    }

    fn told(&mut self, watch: usize) -> Result<Option<Replies>, Trouble> {
        let Some(watch) = &mut self.watches[watch] else {
            return Ok(None);
        };
        watch.hear()?;
        Ok(Some(Replies {
            kind: "WATCH",
            simulated: words::list(&std::mem::take(&mut watch.told)),
            real: words::list(&std::mem::take(&mut watch.real_told)),
        }))
    }

    /// Waits until a lease that ends soon has ended, on both.
    fn wait(&mut self) -> Result<(), Trouble> {
        while let Some(due) = self.simulated.due() {
            let left = due.saturating_sub(self.now());
            if left > 4_000_000 {
                return Ok(());
            }
            std::thread::sleep(Duration::from_micros(left + 500_000));
            let begun = Instant::now();
            let ask = Command::LeaseTimeToLive(SHORT);
            let (path, json) = words::call(&ask);
            while begun.elapsed() < Duration::from_secs(10) {
                let (_, said) = self.clients[0].post(path, &json)?;
                if said.contains("\"TTL\":\"-1\"") {
                    break;
                }
                std::thread::sleep(Duration::from_millis(20));
            }
            self.simulate(&ask);
        }
        Ok(())
    }
}

impl Store for Pair {
    type Step = Step;

    fn draw(&self, draw: &mut Random) -> Step {
        let client = draw.below(CLIENTS) as usize;
        let watch = draw.below(WATCHES) as usize;
        match draw.below(2_000) {
            0..250 => Step::Look(
                client,
                select(draw),
                (draw.below(3) == 0).then(|| draw.below(6)),
            ),
            250..550 => Step::Call(client, Command::Do(change(draw))),
            550..1_050 => {
                let compares = (0..draw.below(3)).map(|_| compare(draw)).collect();
                let mut side = || (0..draw.below(4)).map(|_| operation(draw)).collect();
                Step::Txn(client, compares, side(), side())
            }
            1_050..1_420 => Step::Call(client, of_leases(draw)),
            1_420..1_520 => {
                let back = [None, Some(draw.below(4)), Some(draw.below(200))];
                Step::Watch(watch, range(draw), back[draw.below(3) as usize])
            }
            1_520..1_530 => Step::Cancel(watch),
            1_530..1_997 => Step::Told(watch),
            1_997..1_999 => Step::Wait,
            _ => Step::Restart,
        }
    }

    fn begin(&mut self) -> Result<(), Trouble> {
        if self.parted {
            *self = Self::start()?;
            return Ok(());
        }
        for watch in 0..WATCHES as usize {
            self.cancel(watch);
        }
        for lease in LEASES {
            self.call(0, &Command::LeaseRevoke(lease))?;
        }
        let all = Operation::Delete(Range::Prefix("".into()));
        self.call(0, &Command::Do(all)).map(drop)
    }

    fn take(&mut self, step: &Step) -> Result<Option<Replies>, Trouble> {
        let soon = self.now() + CLOSE;
        if self.simulated.due().is_some_and(|due| due < soon) {
            self.wait()?;
        }
        let replies = match step {
            Step::Look(client, select, back) => {
                let revision = self.simulated.kv().revision();
                let select = Select {
                    max_create_revision: back.map_or(0, |back| revision.saturating_sub(back)),
                    ..select.clone()
                };
                Some(self.call(*client, &Command::Do(Operation::Range(select)))?)
            }
            Step::Call(client, command) => Some(self.call(*client, command)?),
            Step::Txn(client, compares, success, failure) => {
                let compare = compares.iter();
                let txn = Command::Txn {
                    compare: compare.map(|(to, more)| self.resolve(to, *more)).collect(),
                    success: success.clone(),
                    failure: failure.clone(),
                };
                Some(self.call(*client, &txn)?)
            }
            Step::Watch(watch, keys, back) => {
                self.watch(*watch, keys, *back)?;
                None
            }
            Step::Cancel(watch) => {
                self.cancel(*watch);
                None
            }
            Step::Told(watch) => self.told(*watch)?,
            Step::Wait => {
                self.wait()?;
                None
            }
            Step::Restart => {
                // What it did since keys changed last it does again: that is nothing, once this is on its disk.
                let key = "restart".into();
                let put = Operation::Put {
                    key,
                    value: "".into(),
                    lease: 0,
                };
                self.call(0, &Command::Do(put))?;
                std::thread::sleep(SAVED);
                self.real.restart()?;
                self.connect()?;
                self.simulated.restart(self.now());
                None
            }
        };
        self.parted |= replies.as_ref().is_some_and(|r| r.simulated != r.real);
        Ok(replies)
    }
}

const KEYS: [&str; 5] = ["e/1", "e/2", "e/3", "e", "a"];

fn key(draw: &mut Random) -> &'static str {
    KEYS[draw.below(5) as usize]
}

fn range(draw: &mut Random) -> Range {
    match draw.below(8) {
        0..5 => Range::Key(key(draw).into()),
        5 | 6 => Range::Prefix("e/".into()),
        _ => Range::Prefix("".into()),
    }
}

fn select(draw: &mut Random) -> Select {
    let orders = [Order::Key, Order::FirstCreated, Order::LastCreated];
    Select {
        keys: range(draw),
        max_create_revision: 0,
        order: orders[draw.below(3) as usize],
        limit: draw.below(4) as u32,
    }
}

/// Mostly none, so that keys stay.
fn lease(draw: &mut Random) -> LeaseId {
    match draw.below(8) {
        0..4 => 0,
        4..7 => LEASES[draw.below(4) as usize],
        _ => 9,
    }
}

fn change(draw: &mut Random) -> Operation {
    match draw.below(4) {
        0 => Operation::Delete(range(draw)),
        _ => Operation::Put {
            key: key(draw).into(),
            value: ["x", "y", ""][draw.below(3) as usize].into(),
            lease: lease(draw),
        },
    }
}

fn operation(draw: &mut Random) -> Operation {
    match draw.below(3) {
        0 => Operation::Range(select(draw)),
        _ => change(draw),
    }
}

fn compare(draw: &mut Random) -> (Compare, i64) {
    let is = [Is::Equal, Is::Equal, Is::Unequal, Is::Greater, Is::Less];
    let target = match draw.below(4) {
        0 => Target::Create(0),
        1 => Target::Modified(0),
        2 => Target::Version(0),
        _ => Target::Value(["x", "y"][draw.below(2) as usize].into()),
    };
    let key = key(draw).into();
    let is = is[draw.below(5) as usize];
    let more = [0, 0, 0, -1, 1][draw.below(5) as usize];
    (Compare { key, is, target }, more)
}

fn of_leases(draw: &mut Random) -> Command {
    let lease = LEASES[draw.below(4) as usize];
    match draw.below(10) {
        0..4 => Command::LeaseGrant {
            lease,
            ttl: match lease {
                SHORT => draw.below(3).cast_signed(),
                _ => 60,
            },
        },
        4 => Command::LeaseRevoke(lease),
        5..7 => Command::LeaseKeepAlive(lease),
        _ => Command::LeaseTimeToLive(lease),
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Look(client, select, back) => {
                write!(f, "client {client}: {select:?}, {back:?} back")
            }
            Self::Call(client, command) => write!(f, "client {client}: {command:?}"),
            Self::Txn(client, compare, success, failure) => {
                write!(
                    f,
                    "client {client}: if {compare:?} then {success:?} else {failure:?}"
                )
            }
            Self::Watch(watch, keys, back) => write!(f, "watch {watch}: {keys:?}, {back:?} back"),
            Self::Cancel(watch) => write!(f, "watch {watch} is cancelled"),
            Self::Told(watch) => write!(f, "watch {watch} told"),
            Self::Wait => f.write_str("the short lease ends"),
            Self::Restart => f.write_str("restart"),
        }
    }
}
