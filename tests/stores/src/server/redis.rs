//! A Redis server, and the connection of a client to it.

use super::{Folder, PATIENCE, Process, free_port};
use crate::clock::Clock;
use crate::trouble::Trouble;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// A server that writes every command to its file, and looks for nothing that is over.
pub(crate) struct Redis {
    // Before the folder it lives in.
    process: Process,
    clock: Clock,
    folder: Folder,
    port: u16,
}

impl Redis {
    pub(crate) fn start() -> Result<Self, Trouble> {
        let folder = Folder::new("redis")?;
        let clock = Clock::new(folder.path())?;
        let port = free_port()?;
        let process = Self::process(&folder, &clock, port)?;
        Ok(Self {
            process,
            clock,
            folder,
            port,
        })
    }

    fn process(folder: &Folder, clock: &Clock, port: u16) -> Result<Process, Trouble> {
        let mut command = Command::new("redis-server");
        command.args([
            "--bind",
            "127.0.0.1",
            "--port",
            &port.to_string(),
            "--save",
            "",
        ]);
        // Whoever compares decides what is on disk: a sync in the background would hold back what is written meanwhile.
        command.args(["--appendonly", "yes", "--appendfsync", "no"]);
        command.args([
            "--auto-aof-rewrite-percentage",
            "0",
            "--enable-debug-command",
            "yes",
        ]);
        clock.give(&mut command);
        // Nothing is over in the year 1970, so that nothing is deleted before the cycle is switched off. Not at its very
        // beginning: a server that loads its file then takes the time for one that was never set.
        clock.set(1_000_000)?;
        let process = Process::start(&mut command, folder.path(), port)?;
        let mut client = Client::connect(port)?;
        // It listens already while it loads its file.
        while client.ask(&["PING"])?.starts_with("error LOADING") {
            std::thread::sleep(Duration::from_millis(1));
        }
        client.expect(&["DEBUG", "SET-ACTIVE-EXPIRE", "0"], "OK")?;
        Ok(process)
    }

    /// A connection of a client.
    pub(crate) fn connect(&self) -> Result<Client, Trouble> {
        Client::connect(self.port)
    }

    /// Its wall clock.
    pub(crate) const fn clock(&self) -> &Clock {
        &self.clock
    }

    /// How much is in the file of commands.
    pub(crate) fn written(&self) -> Result<u64, Trouble> {
        let path = self.file();
        let size = std::fs::metadata(&path).map(|file| file.len());
        size.map_err(|why| Trouble::failed(path.display(), why))
    }

    /// Kills it, cuts its file to a length, and starts it again; its clock is to be set then.
    pub(crate) fn restart(&mut self, keep: Option<u64>) -> Result<(), Trouble> {
        self.process.kill();
        if let Some(length) = keep {
            let path = self.file();
            let file = std::fs::File::options().write(true).open(&path);
            file.and_then(|file| file.set_len(length))
                .map_err(|why| Trouble::failed(path.display(), why))?;
        }
        self.process = Self::process(&self.folder, &self.clock, self.port)?;
        Ok(())
    }

    fn file(&self) -> PathBuf {
        self.folder
            .path()
            .join("appendonlydir/appendonly.aof.1.incr.aof")
    }
}

/// A client's connection.
pub(crate) struct Client(BufReader<TcpStream>);

impl Client {
    pub(crate) fn connect(port: u16) -> Result<Self, Trouble> {
        let connect = || {
            let stream = TcpStream::connect(("127.0.0.1", port))?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            Ok::<_, std::io::Error>(Self(BufReader::new(stream)))
        };
        connect().map_err(|why| Trouble::failed("redis cannot be reached", why))
    }

    /// Sends a command, and waits for its reply.
    pub(crate) fn ask(&mut self, words: &[&str]) -> Result<String, Trouble> {
        self.send(words)?;
        self.reply()
    }

    /// Sends a command that must be answered so.
    pub(crate) fn expect(&mut self, words: &[&str], reply: &str) -> Result<(), Trouble> {
        match self.ask(words)? {
            said if said == reply => Ok(()),
            said => Err(Trouble::failed(words.join(" "), said)),
        }
    }

    /// Sends a command.
    pub(crate) fn send(&mut self, words: &[&str]) -> Result<(), Trouble> {
        let mut bytes = format!("*{}\r\n", words.len());
        for word in words {
            bytes += &format!("${}\r\n{word}\r\n", word.len());
        }
        let sent = self.0.get_mut().write_all(bytes.as_bytes());
        sent.map_err(|why| Trouble::failed(words.join(" "), why))
    }

    /// The next reply: `OK`, `nil`, a number, `"a value"`, several as `[…, …]`, or `error` with its text.
    pub(crate) fn reply(&mut self) -> Result<String, Trouble> {
        self.read()
            .map_err(|why| Trouble::failed("no reply from redis", why))
    }

    fn read(&mut self) -> std::io::Result<String> {
        let mut line = String::new();
        self.0.read_line(&mut line)?;
        let Some((kind, rest)) = line.trim_end().split_at_checked(1) else {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        };
        match kind {
            "-" => Ok(format!("error {rest}")),
            "$" if rest == "-1" => Ok("nil".to_owned()),
            "$" => {
                let length: usize = rest.parse().map_err(std::io::Error::other)?;
                let mut value = vec![0; length + 2];
                self.0.read_exact(&mut value)?;
                value.truncate(length);
                Ok(format!("\"{}\"", String::from_utf8_lossy(&value)))
            }
            "*" => {
                let count: usize = rest.parse().map_err(std::io::Error::other)?;
                let replies: Result<Vec<String>, _> = (0..count).map(|_| self.read()).collect();
                Ok(format!("[{}]", replies?.join(", ")))
            }
            _ => Ok(rest.to_owned()),
        }
    }
}
