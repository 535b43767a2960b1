//! A ZooKeeper server that stands alone, and connections to it.

use super::{Folder, PATIENCE, Process, free_port};
use crate::clock::Clock;
use crate::trouble::Trouble;
use std::io::{Error, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// Where Debian's package has it; its manifest names the rest.
pub(crate) const JAR: &str = "/usr/share/java/zookeeper.jar";
/// How many milliseconds a tick is: a session lasts two at least.
pub(crate) const TICK: u32 = 100;

/// After that nothing is expected to come any more.
const SILENCE: Duration = Duration::from_secs(5);

/// A server, whose clocks are told.
pub(crate) struct ZooKeeper {
    process: Process,
    clock: Clock,
    folder: Folder,
    port: u16,
}

impl ZooKeeper {
    /// Starts it, and waits until it serves. Its clocks show these microseconds until they are set.
    pub(crate) fn start(wall: i64, steady: i64) -> Result<Self, Trouble> {
        if !std::fs::exists(JAR).unwrap_or(false) {
            return Err(Trouble::Missing(format!(
                "zookeeper is not installed: {JAR} is not there"
            )));
        }
        let folder = Folder::new("zookeeper")?;
        let clock = Clock::new(folder.path())?;
        clock.set(wall)?;
        clock.set_steady(steady)?;
        let port = free_port()?;
        let config = folder.path().join("zoo.cfg");
        let text = format!(
            "tickTime={TICK}\ndataDir={}\nclientPort={port}\nclientPortAddress=127.0.0.1\nadmin.enableServer=false\n\
             4lw.commands.whitelist=srvr\npreAllocSize=64\n",
            folder.path().join("data").display()
        );
        std::fs::write(&config, text).map_err(|why| Trouble::failed(config.display(), why))?;
        let process = run(&folder, &clock, port)?;
        let zookeeper = Self {
            process,
            clock,
            folder,
            port,
        };
        zookeeper.served()?;
        Ok(zookeeper)
    }

    /// Its clocks.
    pub(crate) const fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Keeps a copy of what is on its disk.
    pub(crate) fn back_up(&self) -> Result<(), Trouble> {
        copy(&self.data(), &self.backup())
    }

    /// Kills it, and starts it anew with what is on its disk, or what was kept of that.
    pub(crate) fn restart(&mut self, backup: bool) -> Result<(), Trouble> {
        self.process.kill();
        if backup {
            copy(&self.backup(), &self.data())?;
        }
        self.process = run(&self.folder, &self.clock, self.port)?;
        self.served().map(drop)
    }

    /// The newest change that it has.
    pub(crate) fn zxid(&self) -> Result<i64, Trouble> {
        let said = self.served()?;
        let line = said.lines().find_map(|line| line.strip_prefix("Zxid: 0x"));
        line.and_then(|digits| i64::from_str_radix(digits, 16).ok())
            .ok_or_else(|| Trouble::failed("zookeeper says no zxid", said))
    }

    /// A connection.
    pub(crate) fn connect(&self) -> Result<Client, Trouble> {
        Client::connect(self.port, SILENCE)
            .map_err(|why| Trouble::failed("zookeeper cannot be reached", why))
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn backup(&self) -> PathBuf {
        self.folder.path().join("backup")
    }

    /// What it says of itself, once it serves.
    fn served(&self) -> Result<String, Trouble> {
        let begun = Instant::now();
        loop {
            match srvr(self.port) {
                Ok(said) if said.contains("Mode: standalone") => return Ok(said),
                _ if begun.elapsed() > PATIENCE => {
                    return Err(Trouble::Failed(
                        "zookeeper listens, but does not serve".to_owned(),
                    ));
                }
                _ => std::thread::sleep(Duration::from_millis(20)),
            }
        }
    }
}

/// What the server at a port says of itself. While it begins this may never be answered.
pub(crate) fn srvr(port: u16) -> Result<String, Error> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(Duration::from_millis(500)))?;
    stream.write_all(b"srvr")?;
    let mut said = String::new();
    stream.read_to_string(&mut said)?;
    Ok(said)
}

fn run(folder: &Folder, clock: &Clock, port: u16) -> Result<Process, Trouble> {
    let mut command = Command::new("java");
    command.args(["-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]);
    // Sessions of one tick end in the order of their hashes, which are memory addresses; as equal ones, as they came.
    command.args(["-XX:+UnlockExperimentalVMOptions", "-XX:hashCode=2"]);
    // Connections that are silent are closed by another thread than sessions are ended: not at the same time.
    command.arg("-Dzookeeper.nio.sessionlessCnxnTimeout=1000003");
    command.args(["-Dzookeeper.forceSync=no", "-cp", JAR]);
    command.arg("org.apache.zookeeper.server.ZooKeeperServerMain");
    command.arg("zoo.cfg");
    clock.give(&mut command);
    command.env("TENURE_SLEEPER", "SessionTracker");
    Process::start(&mut command, folder.path(), port)
}

/// Copies a folder in the place of any.
fn copy(from: &PathBuf, to: &PathBuf) -> Result<(), Trouble> {
    let copy = || {
        if to.exists() {
            std::fs::remove_dir_all(to)?;
        }
        Command::new("cp").arg("-a").arg(from).arg(to).status()
    };
    match copy() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Trouble::failed("a backup cannot be copied", status)),
        Err(why) => Err(Trouble::failed("a backup cannot be copied", why)),
    }
}

/// What comes on a connection.
pub(crate) enum Received {
    /// A packet.
    Packet(Vec<u8>),
    /// Nothing, though it was waited for.
    Nothing,
    /// Nothing ever: the connection is closed.
    Closed,
}

/// A connection: packets, each with its length before it.
pub(crate) struct Client(TcpStream);

impl Client {
    /// Connects to the server at a port. What does not come for so long is not waited for.
    pub(crate) fn connect(port: u16, patience: Duration) -> Result<Self, Error> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(patience))?;
        Ok(Self(stream))
    }

    /// Sends a packet. That the connection is closed shows when one is received.
    pub(crate) fn send(&mut self, packet: &[u8]) {
        let mut whole = (packet.len() as u32).to_be_bytes().to_vec();
        whole.extend_from_slice(packet);
        let _ = self.0.write_all(&whole);
    }

    /// The next packet.
    pub(crate) fn receive(&mut self) -> Result<Received, Trouble> {
        match self.read() {
            Ok(packet) => Ok(Received::Packet(packet)),
            Err(why) => match why.kind() {
                ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => {
                    Ok(Received::Closed)
                }
                ErrorKind::WouldBlock | ErrorKind::TimedOut => Ok(Received::Nothing),
                _ => Err(Trouble::failed("zookeeper", why)),
            },
        }
    }

    fn read(&mut self) -> Result<Vec<u8>, Error> {
        let mut length = [0; 4];
        self.0.read_exact(&mut length)?;
        let mut packet = vec![0; u32::from_be_bytes(length) as usize];
        self.0.read_exact(&mut packet)?;
        Ok(packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[ignore = "needs ZooKeeper"]
    fn it_serves_and_its_clocks_are_told() {
        let zookeeper = ZooKeeper::start(1_767_225_600_000_000, 1_000_000_000_000).unwrap();
        assert_eq!(zookeeper.zxid().unwrap(), 0);
        let mut client = zookeeper.connect().unwrap();
        client.send(&[0; 44]);
        let Received::Packet(connected) = client.receive().unwrap() else {
            panic!("no session")
        };
        // The names of sessions begin with the clock, in milliseconds.
        assert_eq!(connected[8..16], 0x0100_3B9A_CA00_0000_i64.to_be_bytes());
    }
}
