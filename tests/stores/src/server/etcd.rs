//! An etcd server of one member, and connections to it: its version 3 interface as JSON over HTTP (the gRPC gateway, in which
//! keys and values are base64 and 64-bit numbers are strings).

use super::{Folder, PATIENCE, Process, free_port};
use crate::trouble::Trouble;
use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

/// A server.
pub(crate) struct Etcd {
    process: Process,
    folder: Folder,
    port: u16,
    peers: u16,
}

impl Etcd {
    /// Starts it, and waits until it answers.
    pub(crate) fn start() -> Result<Self, Trouble> {
        let folder = Folder::new("etcd")?;
        let (port, peers) = (free_port()?, free_port()?);
        let process = run(&folder, port, peers)?;
        let etcd = Self {
            process,
            folder,
            port,
            peers,
        };
        etcd.elected()?;
        Ok(etcd)
    }

    /// Kills it, and starts it anew with what is on its disk.
    pub(crate) fn restart(&mut self) -> Result<(), Trouble> {
        self.process.kill();
        self.process = run(&self.folder, self.port, self.peers)?;
        self.elected()
    }

    /// It listens before it has elected itself.
    fn elected(&self) -> Result<(), Trouble> {
        let read = self.connect()?.post("/v3/kv/range", r#"{"key":"AA=="}"#);
        read.map(drop)
    }

    /// A connection of a client.
    pub(crate) fn connect(&self) -> Result<Client, Trouble> {
        let connect = || {
            let stream = TcpStream::connect(("127.0.0.1", self.port))?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            Ok::<_, Error>(Client(BufReader::new(stream)))
        };
        connect().map_err(|why| Trouble::failed("etcd cannot be reached", why))
    }
}

/// Starts the program in a folder.
fn run(folder: &Folder, port: u16, peers: u16) -> Result<Process, Trouble> {
    let here = format!("http://127.0.0.1:{port}");
    let there = format!("http://127.0.0.1:{peers}");
    let mut command = Command::new("etcd");
    command.args([
        "--data-dir",
        "data",
        "--log-level",
        "error",
        "--unsafe-no-fsync",
    ]);
    command.args([
        "--listen-client-urls",
        &here,
        "--advertise-client-urls",
        &here,
    ]);
    command.args([
        "--listen-peer-urls",
        &there,
        "--initial-advertise-peer-urls",
        &there,
    ]);
    command.args(["--initial-cluster", &format!("default={there}")]);
    Process::start(&mut command, folder.path(), port)
}

/// A client's connection.
pub(crate) struct Client(BufReader<TcpStream>);

impl Client {
    /// Asks, and gives the status with the JSON of the answer; an error is JSON, too.
    pub(crate) fn post(&mut self, path: &str, json: &str) -> Result<(u16, String), Trouble> {
        self.send(path, json)
            .and_then(|()| self.head())
            .and_then(|(status, length)| Ok((status, self.body(length)?)))
            .map_err(|why| Trouble::failed(format!("etcd: {path} {json}"), why))
    }

    /// Asks for a stream, such as a watch, of which [`Self::next`] gives one message after the other.
    pub(crate) fn stream(&mut self, path: &str, json: &str) -> Result<(), Trouble> {
        self.send(path, json)
            .and_then(|()| self.head())
            .map(drop)
            .map_err(|why| Trouble::failed(format!("etcd: {path} {json}"), why))
    }

    /// The next message of a stream.
    pub(crate) fn next(&mut self) -> Result<String, Trouble> {
        let message = self.next_within(PATIENCE)?;
        message.ok_or_else(|| Trouble::failed("the stream of etcd", "nothing comes"))
    }

    /// The next message of a stream, if one comes within that time.
    pub(crate) fn next_within(&mut self, time: Duration) -> Result<Option<String>, Trouble> {
        let message = self.message(time);
        message.map_err(|why| Trouble::failed("the stream of etcd", why))
    }

    /// The end of a line comes as a chunk of its own.
    fn message(&mut self, time: Duration) -> Result<Option<String>, Error> {
        while self.comes_within(time)? {
            let message = self.chunk().and_then(text)?;
            if !message.trim().is_empty() {
                return Ok(Some(message));
            }
        }
        Ok(None)
    }

    fn comes_within(&mut self, time: Duration) -> Result<bool, Error> {
        if !self.0.buffer().is_empty() {
            return Ok(true);
        }
        let stream = self.0.get_ref();
        stream.set_read_timeout(Some(time))?;
        let peeked = stream.peek(&mut [0]);
        stream.set_read_timeout(Some(PATIENCE))?;
        match peeked {
            Ok(bytes) => Ok(bytes > 0),
            Err(why) if matches!(why.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                Ok(false)
            }
            Err(why) => Err(why),
        }
    }

    fn send(&mut self, path: &str, json: &str) -> Result<(), Error> {
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: etcd\r\nContent-Length: {}\r\n\r\n{json}",
            json.len()
        );
        self.0.get_mut().write_all(request.as_bytes())
    }

    /// The status of an answer, and its length; none when it comes in chunks.
    fn head(&mut self) -> Result<(u16, Option<usize>), Error> {
        let first = self.line()?;
        let status = first.split(' ').nth(1).and_then(|word| word.parse().ok());
        let status = status.ok_or_else(|| Error::new(ErrorKind::InvalidData, first))?;
        let mut length = None;
        loop {
            let line = self.line()?.to_ascii_lowercase();
            if line.is_empty() {
                return Ok((status, length));
            }
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = Some(value.parse().map_err(Error::other)?);
            }
        }
    }

    fn body(&mut self, length: Option<usize>) -> Result<String, Error> {
        let mut whole = Vec::new();
        if let Some(length) = length {
            whole.resize(length, 0);
            self.0.read_exact(&mut whole)?;
            return text(whole);
        }
        loop {
            let chunk = self.chunk()?;
            if chunk.is_empty() {
                return text(whole);
            }
            whole.extend(chunk);
        }
    }

    fn chunk(&mut self) -> Result<Vec<u8>, Error> {
        let length = usize::from_str_radix(&self.line()?, 16).map_err(Error::other)?;
        let mut chunk = vec![0; length];
        self.0.read_exact(&mut chunk)?;
        // The last one, which is empty, is followed by any headers that came late.
        while !self.line()?.is_empty() {}
        Ok(chunk)
    }

    fn line(&mut self) -> Result<String, Error> {
        let mut line = String::new();
        if self.0.read_line(&mut line)? == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        Ok(line.trim_end().to_owned())
    }
}

fn text(bytes: Vec<u8>) -> Result<String, Error> {
    String::from_utf8(bytes).map_err(Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[ignore = "needs etcd"]
    fn it_answers_and_tells_watchers() {
        let etcd = Etcd::start().unwrap();
        let (mut client, mut watcher) = (etcd.connect().unwrap(), etcd.connect().unwrap());
        let watch = r#"{"create_request":{"key":"YQ=="}}"#;
        watcher.stream("/v3/watch", watch).unwrap();
        assert!(watcher.next().unwrap().contains("\"created\":true"));
        let put = client.post("/v3/kv/put", r#"{"key":"YQ==","value":"Yg=="}"#);
        let (status, answer) = put.unwrap();
        assert!(
            status == 200 && answer.contains("\"revision\":\"2\""),
            "{answer}"
        );
        assert!(watcher.next().unwrap().contains("\"mod_revision\":\"2\""));
        let put = r#"{"key":"YQ==","value":"Yg==","lease":"7"}"#;
        let (status, answer) = client.post("/v3/kv/put", put).unwrap();
        assert!(
            status == 404 && answer.contains("lease not found"),
            "{answer}"
        );
    }
}
