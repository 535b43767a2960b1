//! Three servers of ZooKeeper, from the system's packages.

use super::{Real, Report, Takeover, patient, since, time_of_day};
use crate::compare::Verdict;
use crate::options::Options;
use crate::server::zookeeper::{Client, JAR, Received, srvr};
use crate::server::{Folder, Process, free_port};
use crate::trouble::Trouble;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tenure::random::Random;

/// What writes a log of ZooKeeper to the standard output, with times of day.
const LOGGER: &str = "/usr/share/java/slf4j-simple.jar";

pub(crate) const REPORT: Report = Report {
    name: "zookeeper-takeover",
    real: "three servers of `zookeeper` 3.8 of Debian 12 on loopback, `tickTime` 500, `initLimit` 10, `syncLimit` 4",
    compared: &[
        "The leader is killed, and clients ask both others every 10 ms for a session until one gets it: a session is an \
         entry of the log, and the first write that a new leader accepts. The killed one is started again, and the leader \
         killed again once one leads and two follow. The simulation has the machines of `tenure::zab` with the same settings.",
        "Compared are the times from the kill to that write, their medians and p90; and what the logs of the new leader, and \
         of the follower, say in which order: looking, leading or following, synchronization, broadcast, and the write.",
    ],
    beyond: &[
        (
            "What a Java program needs for what the machine does at no cost, opening a port, beginning a thread for a \
             connection, starting what serves clients, beginning a file of the log, is a few times 3 to 30 ms, drawn at random.",
            "That is what the logs show when nothing else runs. It is the same for every seed, and stands at the head of the \
             simulation.",
        ),
        (
            "The port of an elected leader is opened 5 to 15 ms after its election here.",
            "The real one opens it then, too, so that its follower is refused first, and tries again 100 ms later: a quarter of \
             a takeover.",
        ),
        (
            "Who was started last, and takes over next, looks for a leader 4 ms later than its follower here, and in one \
             takeover of 12 or so earlier.",
            "So it is in the logs, for it loads the code then; in one takeover of 10 on a busy machine. Who is earlier tells \
             its vote to one that still follows, which is lost, and tells it again after 200 ms: both have takeovers of 600 ms \
             and, rarely, 800. That decides p90, which is stable only because 40 % are allowed.",
        ),
    ],
};

/// Takeovers, real and simulated.
pub(crate) fn compare(options: &Options) -> Result<Verdict, Trouble> {
    super::compare::<ZooKeepers>(&REPORT, super::ensemble::take_over, options)
}

/// What the new leader and its follower did, in order.
pub(super) fn order(leader: &[&str], follower: &[&str]) -> String {
    format!(
        "leader {}; follower {}",
        leader.join(", "),
        follower.join(", ")
    )
}

struct Server {
    // Before the folder it lives in.
    process: Option<Process>,
    folder: Folder,
    port: u16,
}

/// All three.
pub(crate) struct ZooKeepers {
    servers: Vec<Server>,
    random: Random,
}

impl Real for ZooKeepers {
    fn start(seed: u64) -> Result<Self, Trouble> {
        for jar in [JAR, LOGGER] {
            if !std::fs::exists(jar).unwrap_or(false) {
                return Err(Trouble::Missing(format!(
                    "zookeeper is not installed: {jar} is not there"
                )));
            }
        }
        let mut members = String::new();
        let mut servers = Vec::new();
        for id in 1..=3 {
            let (packets, votes) = (free_port()?, free_port()?);
            members += &format!("server.{id}=127.0.0.1:{packets}:{votes}\n");
            servers.push(Server {
                process: None,
                folder: Folder::new("zookeeper")?,
                port: free_port()?,
            });
        }
        for (server, id) in servers.iter_mut().zip(1..) {
            server.configure(id, &members)?;
            server.begin()?;
        }
        let random = Random::from_seed(seed);
        let zookeepers = Self { servers, random };
        zookeepers.wait_whole()?;
        Ok(zookeepers)
    }

    fn take_over(&mut self) -> Result<Takeover, Trouble> {
        let leader = self.wait_whole()?;
        let rest = Duration::from_millis(200 + self.random.below(500));
        std::thread::sleep(rest);
        let others: Vec<usize> = (0..3).filter(|place| *place != leader).collect();
        let logs: Result<Vec<usize>, Trouble> = others
            .iter()
            .map(|place| Ok(self.servers[*place].log()?.len()))
            .collect();
        let logs = logs?;
        let (time, killed) = (time_of_day(), Instant::now());
        self.servers[leader].process = None;
        let took = self.first_session(&others, killed)?;
        // The follower may say so a little later.
        let begun = Instant::now();
        let (mut leading, mut following) = (Vec::new(), Vec::new());
        while leading.is_empty()
            || following
                .last()
                .is_none_or(|(last, _)| *last != "following - broadcast")
        {
            patient(begun, "no log says who leads")?;
            for (place, from) in others.iter().zip(&logs) {
                let did = did(&self.servers[*place].log()?[*from..], time);
                if did.iter().any(|(what, _)| *what == "leading") {
                    leading = did;
                } else {
                    following = did;
                }
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        leading.push(("write", took));
        leading.sort_by_key(|(_, at)| *at / 1_000);
        let names =
            |did: &[(&'static str, u64)]| did.iter().map(|(what, _)| *what).collect::<Vec<_>>();
        let takeover = Takeover {
            took,
            order: order(&names(&leading), &names(&following)),
            stages: leading,
        };
        self.servers[leader].begin()?;
        Ok(takeover)
    }
}

impl ZooKeepers {
    /// Waits until one leads and two follow. Which leads.
    fn wait_whole(&self) -> Result<usize, Trouble> {
        let begun = Instant::now();
        loop {
            let modes = self
                .servers
                .iter()
                .map(|server| srvr(server.port).unwrap_or_default());
            let modes: Vec<String> = modes.collect();
            let are = |mode: &str| modes.iter().filter(|said| said.contains(mode)).count();
            if are("Mode: leader") == 1 && are("Mode: follower") == 2 {
                let leads = modes.iter().position(|said| said.contains("Mode: leader"));
                return leads.ok_or_else(|| Trouble::Failed("nobody leads".to_owned()));
            }
            patient(begun, "zookeeper does not become whole")?;
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// When the first session began, in microseconds since the kill.
    fn first_session(&self, places: &[usize], killed: Instant) -> Result<u64, Trouble> {
        let over = AtomicBool::new(false);
        let ask = |port: u16| {
            while !over.load(Ordering::Relaxed) {
                if has_session(port) {
                    over.store(true, Ordering::Relaxed);
                    return Ok(killed.elapsed().as_micros() as u64);
                }
                patient(killed, "no session can be had")?;
                std::thread::sleep(Duration::from_millis(10));
            }
            Ok(u64::MAX)
        };
        let firsts: Vec<Result<u64, Trouble>> = std::thread::scope(|scope| {
            let ports = places.iter().map(|place| self.servers[*place].port);
            let asked: Vec<_> = ports.map(|port| scope.spawn(move || ask(port))).collect();
            let gone = || Err(Trouble::Failed("a client ended".to_owned()));
            asked
                .into_iter()
                .map(|client| client.join().unwrap_or_else(|_| gone()))
                .collect()
        });
        let firsts: Result<Vec<u64>, Trouble> = firsts.into_iter().collect();
        Ok(firsts?.into_iter().min().unwrap_or(u64::MAX))
    }
}

/// Whether a new session could be had there: an entry of the log that a quorum has.
fn has_session(port: u16) -> bool {
    let Ok(mut client) = Client::connect(port, Duration::from_secs(2)) else {
        return false;
    };
    client.send(&[0; 44]);
    match client.receive() {
        // Its number is 0 when there is none.
        Ok(Received::Packet(connected)) => connected.get(8..16).is_some_and(|id| id != [0; 8]),
        _ => false,
    }
}

/// What a log says its server did.
fn did(log: &str, killed: u64) -> Vec<(&'static str, u64)> {
    const SAID: [(&str, &str); 7] = [
        ("QuorumPeer - LOOKING", "looking"),
        ("state changed: leading", "leading"),
        (
            "state changed: leading - synchronization",
            "leading - synchronization",
        ),
        ("state changed: leading - broadcast", "leading - broadcast"),
        ("state changed: following", "following"),
        (
            "state changed: following - synchronization",
            "following - synchronization",
        ),
        (
            "state changed: following - broadcast",
            "following - broadcast",
        ),
    ];
    let mut did: Vec<(&'static str, u64)> = Vec::new();
    for line in log.lines() {
        let Some(at) = since(killed, line) else {
            continue;
        };
        let said = SAID
            .iter()
            .find(|(said, _)| line.trim_end().ends_with(said));
        // It says that it synchronises again once it was told how.
        if let Some((_, what)) = said
            && did.iter().all(|(before, _)| before != what)
        {
            did.push((what, at));
        }
    }
    did
}

impl Server {
    fn configure(&self, id: u32, members: &str) -> Result<(), Trouble> {
        let data = self.folder.path().join("data");
        let write = || {
            std::fs::create_dir_all(&data)?;
            std::fs::write(data.join("myid"), id.to_string())?;
            let settings = format!(
                "tickTime=500\ninitLimit=10\nsyncLimit=4\ndataDir={}\nclientPort={}\nclientPortAddress=127.0.0.1\n\
                 admin.enableServer=false\n4lw.commands.whitelist=srvr\npreAllocSize=64\n{members}",
                data.display(),
                self.port
            );
            std::fs::write(self.folder.path().join("zoo.cfg"), settings)
        };
        write().map_err(|why| Trouble::failed(data.display(), why))
    }

    fn begin(&mut self) -> Result<(), Trouble> {
        let mut command = Command::new("java");
        command.args(["-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]);
        command.args(["-XX:-UsePerfData", "-Duser.timezone=UTC"]);
        command.arg("-Dorg.slf4j.simpleLogger.showDateTime=true");
        command.arg("-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS");
        // It writes at length of every client that comes too early.
        command.arg("-Dorg.slf4j.simpleLogger.log.org.apache.zookeeper.server.NIOServerCnxn=off");
        command.args(["-cp", &format!("{LOGGER}:{JAR}")]);
        command.args([
            "org.apache.zookeeper.server.quorum.QuorumPeerMain",
            "zoo.cfg",
        ]);
        self.process = Some(Process::spawn(&mut command, self.folder.path())?);
        Ok(())
    }

    fn log(&self) -> Result<String, Trouble> {
        let path = self.folder.path().join("log");
        std::fs::read_to_string(&path).map_err(|why| Trouble::failed(path.display(), why))
    }
}
