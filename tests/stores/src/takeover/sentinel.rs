//! Three sentinels of Redis, a master and two replicas, from the system's packages.

use super::{Real, Report, Takeover, patient, since, time_of_day};
use crate::compare::Verdict;
use crate::options::Options;
use crate::server::redis::Client;
use crate::server::{Folder, Process, free_port};
use crate::trouble::Trouble;
use std::collections::BTreeSet;
use std::process::Command;
use std::time::{Duration, Instant};
use tenure::random::Random;

/// `down-after-milliseconds`. Not 1000: see what differs.
pub(super) const DOWN_AFTER: u64 = 1_500;
/// `failover-timeout`, in milliseconds.
pub(super) const FAILOVER_TIMEOUT: u64 = 3_000;
/// Who writes, where sentinels are numbers, too.
pub(super) const CLIENT: u64 = u64::MAX;
/// How many sentinels must hold the master to be down.
pub(super) const QUORUM: usize = 2;

/// How long after the last sentinel switched the next master is killed. What others said of the old one counts for 5 s, and they
/// said it until they switched, which is a second sooner; and it is asked for when this one is silent for [`DOWN_AFTER`].
const FORGOTTEN: Duration = Duration::from_millis(2_700);

/// What is compared by its time: the first of all sentinels that says so.
pub(super) const STAGES: [&str; 9] = [
    "+sdown",
    "+odown",
    "+try-failover",
    "+elected-leader",
    "+selected-slave",
    "+failover-state-wait-promotion",
    "write",
    "+promoted-slave",
    "+switch-master",
];

pub(crate) const REPORT: Report = Report {
    name: "sentinel-takeover",
    real: "three sentinels and three servers of `redis-server` 7.0 of Debian 12 on loopback, a quorum of 2, \
           `down-after-milliseconds` 1500, `failover-timeout` 3000, `parallel-syncs` 1",
    compared: &[
        "The master is killed, and a client asks both replicas every 10 ms to write until one does. The killed one is started \
         again, as a replica of the new master, once all sentinels have switched; it is killed again, or another, once all \
         sentinels know all others, and all replicas follow. The simulation has the machines of `tenure::sentinel` with the \
         same settings, and the real one's files as they are once everybody knows everybody.",
        "Compared are the times from the kill to the first write that is accepted, their medians and p90; and what the logs \
         of the sentinel that was elected, and of the two others, say in which order, with the write among it.",
    ],
    beyond: &[
        (
            "A file of a sentinel is written in 1 to 15 ms here, and a message takes up to 1 ms.",
            "That is what it took when nothing else ran; most of a takeover are waits that are configured or in the code.",
        ),
        (
            "What other sentinels said of a master is forgotten here as soon as another takes its place. In the real one it counts \
             for 5 s, for the next master, too: one that is killed sooner is held to be down without a question, and as all \
             sentinels do that at once, each often votes for itself, and nobody is elected for two failover timeouts.",
            "It is a mistake that is repaired in the machine. The real master is killed 2.7 s after the last switch, at the \
             earliest, which it takes for that to be over when the next one is down.",
        ),
        (
            "A sentinel that switches to a new master connects to it a second after it last tried to connect to the old one, \
             in which nothing is asked; connections are no part of the machine.",
            "No time until a write depends on it. But with a `down-after-milliseconds` of 1000 one switch in ten or so is \
             followed by another, of a master that was never down; so that it is 1500 here, and should be more elsewhere, too.",
        ),
        (
            "Two sentinels that try at once write their own vote before they answer the other in both; the real one writes \
             while everybody waits.",
            "Who is elected differs, and not when.",
        ),
    ],
};

/// Takeovers, real and simulated.
pub(crate) fn compare(options: &Options) -> Result<Verdict, Trouble> {
    super::compare::<Redis>(&REPORT, super::sentinels::take_over, options)
}

/// What each sentinel said, of what is compared, and when a client wrote: one process after the other.
pub(super) fn order<'a>(said: impl Iterator<Item = (u64, &'a str)>) -> String {
    let all: Vec<(u64, &str)> = said.collect();
    let elected = all.iter().find(|(_, what)| *what == "+elected-leader");
    let winner = elected.map(|(by, _)| *by);
    let own = all
        .iter()
        .filter(|(by, _)| Some(*by) == winner || *by == CLIENT);
    let own = firsts(own, &STAGES);
    let others: BTreeSet<u64> = all.iter().map(|(by, _)| *by).collect();
    let others: BTreeSet<String> = others
        .into_iter()
        .filter(|by| Some(*by) != winner && *by != CLIENT)
        .map(|other| {
            let of = all.iter().filter(|(by, _)| *by == other);
            firsts(of, &["+sdown", "+config-update-from", "+switch-master"])
        })
        .collect();
    let others: Vec<String> = others.into_iter().collect();
    format!("{own}; others {}", others.join(" or "))
}

/// What of this was said, each when it was said first.
fn firsts<'a>(said: impl Iterator<Item = &'a (u64, &'a str)>, of: &[&str]) -> String {
    let mut firsts: Vec<&str> = Vec::new();
    for (_, what) in said {
        if of.contains(what) && !firsts.contains(what) {
            firsts.push(what);
        }
    }
    firsts.join(" ").replace("+failover-state-", "")
}

struct Server {
    // Before the folder it lives in.
    process: Option<Process>,
    folder: Folder,
    port: u16,
}

/// All six.
pub(crate) struct Redis {
    sentinels: Vec<Server>,
    servers: Vec<Server>,
    master: usize,
    /// When all sentinels last had another master.
    switched: Instant,
    random: Random,
}

impl Real for Redis {
    fn start(seed: u64) -> Result<Self, Trouble> {
        let mut redis = Self {
            sentinels: Vec::new(),
            servers: Vec::new(),
            master: 0,
            switched: Instant::now(),
            random: Random::from_seed(seed),
        };
        for place in 0..3 {
            redis.servers.push(Server::new("redis-data")?);
            redis.begin(place)?;
        }
        for _ in 0..3 {
            let mut sentinel = Server::new("redis-sentinel")?;
            let settings = format!(
                "sentinel monitor m 127.0.0.1 {} {QUORUM}\nsentinel down-after-milliseconds m {DOWN_AFTER}\n\
                 sentinel failover-timeout m {FAILOVER_TIMEOUT}\nsentinel parallel-syncs m 1\n",
                redis.servers[0].port
            );
            sentinel.run("sentinel.conf", &settings, &["--sentinel"])?;
            redis.sentinels.push(sentinel);
        }
        redis.wait_whole()?;
        Ok(redis)
    }

    fn take_over(&mut self) -> Result<Takeover, Trouble> {
        let rest = FORGOTTEN + Duration::from_millis(self.random.below(200));
        std::thread::sleep(rest.saturating_sub(self.switched.elapsed()));
        let logs: Result<Vec<usize>, Trouble> = self
            .sentinels
            .iter()
            .map(|one| Ok(one.log()?.len()))
            .collect();
        let (logs, old) = (logs?, self.master);
        let (time, killed) = (time_of_day(), Instant::now());
        self.servers[old].process = None;
        let candidates: Vec<usize> = (0..3).filter(|place| *place != old).collect();
        let (new, took) = loop {
            let writes = |place: &&usize| self.servers[**place].says(&["SET", "k", "v"]) == "OK";
            if let Some(new) = candidates.iter().find(writes) {
                break (*new, killed.elapsed().as_micros() as u64);
            }
            patient(killed, "no replica takes writes")?;
            std::thread::sleep(Duration::from_millis(10));
        };
        self.master = new;
        // All of them have switched once their logs say so.
        let has_switched = |(sentinel, from): (&Server, &usize)| {
            let log = sentinel.log().unwrap_or_default();
            log.get(*from..)
                .is_some_and(|log| log.contains("+switch-master"))
        };
        while !self.sentinels.iter().zip(&logs).all(has_switched) {
            patient(killed, "a sentinel does not switch")?;
            std::thread::sleep(Duration::from_millis(20));
        }
        self.switched = Instant::now();
        let mut told = Vec::new();
        for (by, (sentinel, from)) in self.sentinels.iter().zip(logs).enumerate() {
            for line in sentinel.log()?[from..].lines() {
                let Some(at) = since(time, line) else {
                    continue;
                };
                let what = line.split(' ').find_map(|word| {
                    let known = STAGES.iter().chain(&["+config-update-from"]);
                    known.copied().find(|name| *name == word)
                });
                let of_slave = line.contains("+sdown") && !line.contains("+sdown master");
                if let Some(what) = what.filter(|_| !of_slave) {
                    told.push((at, by as u64, what));
                }
            }
        }
        told.push((took, CLIENT, "write"));
        // Of one sentinel, as it said it; and in one millisecond a log comes before the client.
        told.sort_by_key(|(at, by, _)| (at / 1_000, *by));
        let first = |stage: &&'static str| {
            let of = told.iter().find(|(_, _, what)| what == stage);
            of.map(|(at, ..)| (*stage, *at))
        };
        let takeover = Takeover {
            took,
            stages: STAGES.iter().filter_map(first).collect(),
            order: order(told.iter().map(|(_, by, what)| (*by, *what))),
        };
        self.begin(old)?;
        self.wait_whole()?;
        Ok(takeover)
    }
}

impl Redis {
    /// Starts a data server: the master, or a replica of it.
    fn begin(&mut self, place: usize) -> Result<(), Trouble> {
        let mut settings = "save \"\"\nappendonly no\nrepl-diskless-sync-delay 0\n".to_owned();
        if place != self.master {
            settings += &format!("replicaof 127.0.0.1 {}\n", self.servers[self.master].port);
        }
        self.servers[place].run("redis.conf", &settings, &[])
    }

    /// Waits until all sentinels know all others and both replicas, and both follow.
    fn wait_whole(&mut self) -> Result<(), Trouble> {
        let begun = Instant::now();
        loop {
            if let Some(master) = (0..3).find(|place| self.is_whole(*place)) {
                self.master = master;
                return Ok(());
            }
            patient(begun, "sentinels do not find all others")?;
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn is_whole(&self, master: usize) -> bool {
        let port = self.servers[master].port.to_string();
        let has = |said: &str, name: &str, value: &str| {
            said.contains(&format!("\"{name}\", \"{value}\""))
        };
        let followed = self.servers[master].says(&["INFO", "replication"]);
        followed.matches("state=online").count() == 2
            && self.sentinels.iter().all(|sentinel| {
                let master = sentinel.says(&["SENTINEL", "MASTER", "m"]);
                let replicas = sentinel.says(&["SENTINEL", "REPLICAS", "m"]);
                has(&master, "port", &port)
                    && has(&master, "flags", "master")
                    && has(&master, "num-slaves", "2")
                    && has(&master, "num-other-sentinels", "2")
                    && replicas.matches("\"flags\", \"slave\"").count() == 2
            })
    }
}

impl Server {
    fn new(name: &str) -> Result<Self, Trouble> {
        Ok(Self {
            process: None,
            folder: Folder::new(name)?,
            port: free_port()?,
        })
    }

    fn run(&mut self, file: &str, settings: &str, args: &[&str]) -> Result<(), Trouble> {
        let path = self.folder.path().join(file);
        let settings = format!("port {}\nbind 127.0.0.1\n{settings}", self.port);
        std::fs::write(&path, settings).map_err(|why| Trouble::failed(path.display(), why))?;
        let mut command = Command::new("redis-server");
        command.arg(file).args(args).env("TZ", "UTC");
        self.process = Some(Process::start(&mut command, self.folder.path(), self.port)?);
        Ok(())
    }

    /// What it answers; nothing when it is not there.
    fn says(&self, words: &[&str]) -> String {
        let said = Client::connect(self.port).and_then(|mut client| client.ask(words));
        said.unwrap_or_default()
    }

    fn log(&self) -> Result<String, Trouble> {
        let path = self.folder.path().join("log");
        std::fs::read_to_string(&path).map_err(|why| Trouble::failed(path.display(), why))
    }
}
