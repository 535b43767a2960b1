//! What is said on a connection, as bytes: numbers with the highest byte first, and text, lists and bytes with their length
//! before them (ZooKeeper's "jute").

use super::Word;
use tenure_sim::store::Key;
use tenure_sim::store::zookeeper::{
    Command, Connect, Error, Event, Mode, Operation, Reply, Said, Stat,
};

/// `create2`: what is created among others is answered as a plain `create` all the same.
const CREATE: i32 = 15;
const CREATED: i32 = 1;
const DELETE: i32 = 2;
const EXISTS: i32 = 3;
const GET_DATA: i32 = 4;
const SET_DATA: i32 = 5;
const SYNC: i32 = 9;
const PING: i32 = 11;
const GET_CHILDREN: i32 = 12;
const CHECK: i32 = 13;
const MULTI: i32 = 14;
const CREATE_CONTAINER: i32 = 19;
const CLOSE: i32 = -11;
const FAILED: i32 = -1;
/// The number under which a watch tells.
const EVENT: i32 = -1;

/// The first packet of a connection.
pub(super) fn connect(connect: &Connect) -> Vec<u8> {
    let mut out = Out::default();
    out.int(0);
    out.long(connect.seen);
    out.int(connect.timeout);
    out.long(connect.session);
    out.bytes(&connect.password);
    // Whether a server that only reads would do.
    out.bool(false);
    out.0
}

/// A request.
pub(super) fn request(xid: i32, command: &Command) -> Vec<u8> {
    let mut out = Out::default();
    out.int(xid);
    match command {
        Command::Ping => out.int(PING),
        Command::Close => out.int(CLOSE),
        Command::Do(operation) => {
            out.int(kind(operation));
            out.operation(operation);
        }
        Command::Multi(operations) => {
            out.int(MULTI);
            for operation in operations {
                out.part(kind(operation), false);
                out.operation(operation);
            }
            out.part(FAILED, true);
        }
        Command::Exists { path, watch } => out.look(EXISTS, path, *watch),
        Command::GetData { path, watch } => out.look(GET_DATA, path, *watch),
        Command::GetChildren { path, watch } => out.look(GET_CHILDREN, path, *watch),
        Command::Sync(path) => {
            out.int(SYNC);
            out.text(path);
        }
    }
    out.0
}

const fn kind(operation: &Operation) -> i32 {
    match operation {
        Operation::Create {
            mode: Mode::Container,
            ..
        } => CREATE_CONTAINER,
        Operation::Create { .. } => CREATE,
        Operation::Delete { .. } => DELETE,
        Operation::SetData { .. } => SET_DATA,
        Operation::Check { .. } => CHECK,
    }
}

/// The first packet that comes. A session that is over has no number.
pub(super) fn connected(packet: &[u8]) -> Option<Word> {
    let mut take = In(packet);
    take.int()?;
    let timeout = take.int()?;
    let session = take.long()?;
    let password = take.bytes()?.try_into().ok()?;
    Some(Ok(match session {
        0 => Said::Expired,
        _ => Said::Connected {
            session,
            password,
            timeout,
        },
    }))
}

/// Any other packet, or an error that is not known. `command` is what the next answer is to; `wall` is what the
/// wall clock is ahead of the other one, in milliseconds.
pub(super) fn said(packet: &[u8], command: &Command, wall: i64) -> Option<Word> {
    let mut take = In(packet);
    let (xid, zxid, code) = (take.int()?, take.long()?, take.int()?);
    if xid == EVENT {
        let kind = take.int()?;
        take.int()?;
        let path = take.text()?;
        return Some(Ok(Said::Event(match kind {
            1 => Event::Created(path),
            2 => Event::Deleted(path),
            3 => Event::DataChanged(path),
            _ => Event::ChildrenChanged(path),
        })));
    }
    let result = match code {
        0 => Ok(take.reply(command, wall)?),
        code => match error(code) {
            Some(error) => Err(error),
            None => return Some(Err(format!("error {code}"))),
        },
    };
    Some(Ok(Said::Answer { xid, zxid, result }))
}

fn error(code: i32) -> Option<Error> {
    let known = [
        Error::RuntimeInconsistency,
        Error::BadArguments,
        Error::NoNode,
        Error::BadVersion,
        Error::NoChildrenForEphemerals,
        Error::NodeExists,
        Error::NotEmpty,
    ];
    known.into_iter().find(|error| error.code() == code)
}

#[derive(Default)]
struct Out(Vec<u8>);

impl Out {
    fn int(&mut self, number: i32) {
        self.0.extend(number.to_be_bytes());
    }

    fn long(&mut self, number: i64) {
        self.0.extend(number.to_be_bytes());
    }

    fn bool(&mut self, is: bool) {
        self.0.push(is.into());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.int(bytes.len() as i32);
        self.0.extend(bytes);
    }

    fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    fn look(&mut self, kind: i32, path: &str, watch: bool) {
        self.int(kind);
        self.text(path);
        self.bool(watch);
    }

    /// What comes before each part of several, and after the last.
    fn part(&mut self, kind: i32, last: bool) {
        self.int(kind);
        self.bool(last);
        self.int(-1);
    }

    fn operation(&mut self, operation: &Operation) {
        match operation {
            Operation::Create { path, data, mode } => {
                self.text(path);
                self.text(data);
                // Everybody may do everything.
                self.int(1);
                self.int(31);
                self.text("world");
                self.text("anyone");
                self.int(mode.flags());
            }
            Operation::Delete { path, version } | Operation::Check { path, version } => {
                self.text(path);
                self.int(*version);
            }
            Operation::SetData {
                path,
                data,
                version,
            } => {
                self.text(path);
                self.text(data);
                self.int(*version);
            }
        }
    }
}

struct In<'a>(&'a [u8]);

impl<'a> In<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn int(&mut self) -> Option<i32> {
        Some(i32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    fn long(&mut self) -> Option<i64> {
        Some(i64::from_be_bytes(self.take(8)?.try_into().ok()?))
    }

    fn bool(&mut self) -> Option<bool> {
        Some(self.take(1)?[0] != 0)
    }

    /// A length of −1 is that of nothing.
    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.int()?;
        self.take(usize::try_from(length).unwrap_or(0))
    }

    fn text(&mut self) -> Option<Key> {
        Some(std::str::from_utf8(self.bytes()?).ok()?.into())
    }

    fn stat(&mut self, wall: i64) -> Option<Stat> {
        let (czxid, mzxid) = (self.long()?, self.long()?);
        // What the server has for itself was created at no time.
        let mut time = || Some(self.long()?).map(|time| if time == 0 { 0 } else { time - wall });
        let (ctime, mtime) = (time()?, time()?);
        Some(Stat {
            czxid,
            mzxid,
            ctime,
            mtime,
            version: self.int()?,
            cversion: self.int()?,
            aversion: self.int()?,
            ephemeral_owner: self.long()?,
            data_length: self.int()?,
            num_children: self.int()?,
            pzxid: self.long()?,
        })
    }

    fn reply(&mut self, command: &Command, wall: i64) -> Option<Reply> {
        Some(match command {
            Command::Ping | Command::Close | Command::Sync(_) => Reply::Done,
            Command::Do(operation) => self.done(kind(operation), wall)?,
            Command::Multi(_) => self.multi(wall)?,
            Command::Exists { .. } => Reply::Stat(self.stat(wall)?),
            Command::GetData { .. } => Reply::Data {
                data: self.text()?,
                stat: self.stat(wall)?,
            },
            Command::GetChildren { .. } => {
                let count = self.int()?;
                let mut names = Vec::new();
                for _ in 0..count {
                    names.push(self.text()?);
                }
                // They come in no order.
                names.sort();
                let stat = self.stat(wall)?;
                Reply::Children { names, stat }
            }
        })
    }

    fn done(&mut self, kind: i32, wall: i64) -> Option<Reply> {
        Some(match kind {
            CREATE | CREATE_CONTAINER => Reply::Created {
                path: self.text()?,
                stat: self.stat(wall)?,
            },
            CREATED => Reply::Named(self.text()?),
            SET_DATA => Reply::Stat(self.stat(wall)?),
            _ => Reply::Done,
        })
    }

    /// Each part with its kind before it; where one failed, an error of each, mostly 0.
    fn multi(&mut self, wall: i64) -> Option<Reply> {
        let (mut done, mut failed) = (Vec::new(), Vec::new());
        loop {
            let (kind, last) = (self.int()?, self.bool()?);
            self.int()?;
            match kind {
                _ if last => break,
                FAILED => failed.push(match self.int()? {
                    0 => None,
                    code => Some(error(code)?),
                }),
                kind => done.push(self.done(kind, wall)?),
            }
        }
        Some(if failed.is_empty() {
            Reply::Multi(done)
        } else {
            Reply::Failed(failed)
        })
    }
}
