//! A ZooKeeper server that stands alone.

use super::{Folder, PATIENCE, Process, free_port};
use crate::trouble::Trouble;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

/// Where Debian's package has it; its manifest names the rest.
const JAR: &str = "/usr/share/java/zookeeper.jar";
/// How long a tick is: a session lasts two at least.
pub(crate) const TICK: Duration = Duration::from_millis(50);

/// A server.
pub(crate) struct ZooKeeper {
    _process: Process,
    _folder: Folder,
    port: u16,
}

impl ZooKeeper {
    /// Starts it, and waits until it serves.
    pub(crate) fn start() -> Result<Self, Trouble> {
        if !std::fs::exists(JAR).unwrap_or(false) {
            return Err(Trouble::Missing(format!(
                "zookeeper is not installed: {JAR} is not there"
            )));
        }
        let folder = Folder::new("zookeeper")?;
        let port = free_port()?;
        let config = folder.path().join("zoo.cfg");
        let text = format!(
            "tickTime={}\ndataDir={}\nclientPort={port}\nclientPortAddress=127.0.0.1\nadmin.enableServer=false\n\
             4lw.commands.whitelist=srvr\n",
            TICK.as_millis(),
            folder.path().display()
        );
        std::fs::write(&config, text).map_err(|why| Trouble::failed(config.display(), why))?;
        let mut command = Command::new("java");
        command.args(["-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]);
        command.args(["-Dzookeeper.forceSync=no", "-cp", JAR]);
        command
            .arg("org.apache.zookeeper.server.ZooKeeperServerMain")
            .arg(&config);
        let process = Process::start(&mut command, folder.path(), port)?;
        let zookeeper = Self {
            _process: process,
            _folder: folder,
            port,
        };
        let begun = Instant::now();
        while !zookeeper.serves() {
            if begun.elapsed() > PATIENCE {
                return Err(Trouble::Failed(
                    "zookeeper listens, but does not serve".to_owned(),
                ));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(zookeeper)
    }

    /// Where it listens.
    pub(crate) const fn port(&self) -> u16 {
        self.port
    }

    fn serves(&self) -> bool {
        let ask = || {
            let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
            stream.write_all(b"srvr")?;
            let mut said = String::new();
            stream.read_to_string(&mut said)?;
            Ok::<_, std::io::Error>(said)
        };
        ask().is_ok_and(|said| said.contains("Mode: standalone"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[ignore = "needs ZooKeeper"]
    fn it_serves() {
        let zookeeper = ZooKeeper::start().unwrap();
        assert!(zookeeper.port() > 0 && zookeeper.serves());
    }
}
