//! Real servers: started on a free port of this machine, in a folder of their own, and ended with whoever started them.

pub(crate) mod etcd;
pub(crate) mod postgres;
pub(crate) mod redis;
pub(crate) mod zookeeper;

use crate::trouble::Trouble;
use std::fs::File;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// How long a server may take to begin, or to answer: on a loaded machine, and as a Java program.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A folder that is gone when this is.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Result<Self, Trouble> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path =
            std::env::temp_dir().join(format!("tenure-{name}-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).map_err(|why| Trouble::failed(path.display(), why))?;
        Ok(Self(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left in the system's temporary folder is the system's.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A port of this machine that nobody listens on.
pub(crate) fn free_port() -> Result<u16, Trouble> {
    let port = TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr());
    port.map(|address| address.port())
        .map_err(|why| Trouble::failed("no port is free", why))
}

/// A program by its name: in one of these folders, or wherever the system finds it.
pub(crate) fn program(name: &str, folders: &[PathBuf]) -> PathBuf {
    let known = folders.iter().map(|folder| folder.join(name));
    let there = known.into_iter().find(|path| path.exists());
    there.unwrap_or_else(|| name.into())
}

/// A server that runs; it ends when this is dropped.
pub(crate) struct Process {
    child: Child,
    log: PathBuf,
}

impl Process {
    /// Starts a program that writes its log into the folder, and waits until it listens.
    pub(crate) fn start(command: &mut Command, folder: &Path, port: u16) -> Result<Self, Trouble> {
        let mut process = Self::spawn(command, folder)?;
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            process.check()?;
            if begun.elapsed() > PATIENCE {
                let late = format!("does not listen on port {port} after {PATIENCE:?}");
                return Err(process.trouble(&late));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(process)
    }

    /// Starts a program that writes its log into the folder, and waits for nothing.
    pub(crate) fn spawn(command: &mut Command, folder: &Path) -> Result<Self, Trouble> {
        let log = folder.join("log");
        let out = File::options().create(true).append(true).open(&log);
        let out = out.map_err(|why| Trouble::failed(log.display(), why))?;
        let err = out
            .try_clone()
            .map_err(|why| Trouble::failed(log.display(), why))?;
        let name = command.get_program().to_string_lossy().into_owned();
        let child = command
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(err)
            .spawn()
            .map_err(|why| match why.kind() {
                std::io::ErrorKind::NotFound => {
                    Trouble::Missing(format!("{name} is not installed"))
                }
                _ => Trouble::failed(name, why),
            })?;
        Ok(Self { child, log })
    }

    /// Ends it at once, as a crash does.
    pub(crate) fn kill(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Whether it runs still.
    fn check(&mut self) -> Result<(), Trouble> {
        match self.child.try_wait() {
            Ok(None) => Ok(()),
            Ok(Some(status)) => Err(self.trouble(&format!("ended with {status}"))),
            Err(why) => Err(self.trouble(&why.to_string())),
        }
    }

    /// What went wrong, with what the server said last.
    fn trouble(&self, what: &str) -> Trouble {
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        let last = lines[lines.len().saturating_sub(10)..].join("\n  ");
        Trouble::failed("the server", format!("{what}; it said last:\n  {last}"))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_cannot_begin_says_why() {
        let folder = Folder::new("test").unwrap();
        let port = free_port().unwrap();
        let missing = Process::start(&mut Command::new("no-such-server"), folder.path(), port);
        assert!(
            matches!(missing.err(), Some(Trouble::Missing(what)) if what.contains("no-such-server"))
        );
        let mut fails = Command::new("sh");
        fails.args(["-c", "echo the disk is full; exit 7"]);
        let failed = Process::start(&mut fails, folder.path(), port)
            .err()
            .unwrap();
        let told = failed.to_string();
        assert!(
            told.contains("the disk is full") && told.contains('7'),
            "{told}"
        );
    }
}
