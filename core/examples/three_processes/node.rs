//! One process: a machine and the program around it.

use crate::disk::Disk;
use rustix::time::{ClockId, clock_gettime};
use std::collections::VecDeque;
use std::error::Error;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write as _};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::os::unix::process::parent_id;
use tenure::codec::{Coded, DATAGRAM};
use tenure::drive::{Host, Wake, drive};
use tenure::quorum::Voters;
use tenure::raft::{Boot, Config, Message, Raft, Stored, Write};
use tenure::{Event, Input, Instant, NodeId, Ticket, Unknown};

/// Runs a node until its parent is gone: `ID FOLDER PEER…`, with its socket as standard input. Says `LEADER TOKEN`.
pub(crate) fn run(args: &[String]) -> Result<(), Box<dyn Error>> {
    let [id, folder, peers @ ..] = args else {
        return Err("a node takes: ID FOLDER PEER…".into());
    };
    let peers: Vec<SocketAddr> = peers
        .iter()
        .map(|peer| peer.parse())
        .collect::<Result<_, _>>()?;
    let voters = Voters::new((0..peers.len() as u64).map(NodeId))?;
    let disk = Disk::open(folder)?;
    let (stored, incarnation) = disk.begin()?;
    let mut seed = [0; 8];
    File::open("/dev/urandom")?.read_exact(&mut seed)?;
    let boot = Boot {
        stored: Some(stored.clone()),
        incarnation,
        seed: u64::from_le_bytes(seed),
    };
    let id = NodeId(id.parse()?);
    let mut host = Process {
        id,
        socket: UdpSocket::from(io::stdin().as_fd().try_clone_to_owned()?),
        peers,
        disk,
        stored,
        replies: VecDeque::new(),
        buffer: Vec::with_capacity(DATAGRAM),
        parent: parent_id(),
        over: None,
    };
    let mut raft = Raft::new(Config::new(id, voters), boot, host.now())?;
    drive(&mut raft, &mut host);
    host.over.map_or(Ok(()), |why| Err(why.into()))
}

/// How a wait ends at its limit, or by a signal.
const NOTHING_CAME: [ErrorKind; 3] = [
    ErrorKind::WouldBlock,
    ErrorKind::TimedOut,
    ErrorKind::Interrupted,
];

struct Process {
    id: NodeId,
    socket: UdpSocket,
    /// The address of each voter, by its id.
    peers: Vec<SocketAddr>,
    disk: Disk,
    /// What the disk holds.
    stored: Stored,
    /// What the disk answered.
    replies: VecDeque<(Ticket, Result<(), Unknown>)>,
    /// Where messages are encoded; never grows, for an election without a log says nothing longer than a datagram.
    buffer: Vec<u8>,
    parent: u32,
    /// Why this process cannot go on.
    over: Option<String>,
}

impl Process {
    /// Without a log one small file holds all there is.
    fn write(&mut self, write: &Write) -> Result<(), Box<dyn Error>> {
        self.stored.apply(write)?;
        self.buffer.clear();
        self.stored.encode(&mut self.buffer);
        Ok(self.disk.replace("record", &self.buffer)?)
    }
}

impl Host<Raft> for Process {
    /// `std::time::Instant` stands still on Linux while the machine is suspended: a leader would wake up with a lease that
    /// did not age. macOS counts suspend in its monotonic clock.
    fn now(&mut self) -> Instant {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        const CLOCK: ClockId = ClockId::Boottime;
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        const CLOCK: ClockId = ClockId::Monotonic;
        let now = clock_gettime(CLOCK);
        Instant::from_micros(now.tv_sec as u64 * 1_000_000 + now.tv_nsec as u64 / 1_000)
    }

    fn send(&mut self, to: NodeId, message: Message) {
        self.buffer.clear();
        message.encode(&mut self.buffer);
        // A datagram may be lost; so may this one.
        let _ = self.socket.send_to(&self.buffer, self.peers[to.0 as usize]);
    }

    fn request(&mut self, ticket: Ticket, write: Write) {
        let written = self.write(&write).map_err(|error| {
            self.over = Some(format!("the record cannot be written: {error}"));
            Unknown
        });
        // After a failed write nobody knows what the disk holds: the machine says nothing more.
        self.replies.push_back((ticket, written));
    }

    /// Says who leads, this node included, and with which token. News is for people: before each effect a program asks
    /// `raft.standing(now)`, which alone authorises.
    fn event(&mut self, event: Event) {
        let (leader, token) = match event {
            Event::Established(tenure) => (self.id, tenure.token),
            Event::Following(Some(leader)) => (leader.node, leader.token),
            _ => return,
        };
        // Nobody listens any more when the parent is gone, which the next wait notices.
        let _ = writeln!(io::stdout(), "{leader} {token}");
    }

    fn wait(&mut self, deadline: Option<Instant>) -> Wake<Raft> {
        if let Some((ticket, reply)) = self.replies.pop_front() {
            return Wake::Input(Input::Reply(ticket, reply));
        }
        if self.over.is_some() || parent_id() != self.parent {
            return Wake::Stop;
        }
        // Zero would be without limit. A wait that oversleeps is harmless: the machine goes by `now`.
        let left = deadline.map(|deadline| deadline.since(self.now()).as_micros().max(1));
        let limit = left.map(std::time::Duration::from_micros);
        let mut datagram = [0; DATAGRAM + 1]; // so that a longer one is seen to be
        let arrived = self
            .socket
            .set_read_timeout(limit)
            .and_then(|()| self.socket.recv_from(&mut datagram));
        let (length, from) = match arrived {
            Ok(arrived) => arrived,
            Err(error) if NOTHING_CAME.contains(&error.kind()) => return Wake::Deadline,
            Err(error) => {
                self.over = Some(format!("nothing can be received: {error}"));
                return Wake::Stop;
            }
        };
        // What is not from a voter, or not a message, is as if it had been lost.
        let Some(sender) = self.peers.iter().position(|peer| *peer == from) else {
            return Wake::Deadline;
        };
        match Message::decode(&datagram[..length]) {
            Ok(message) => Wake::Input(Input::Peer(NodeId(sender as u64), message)),
            Err(refused) => {
                eprintln!("a datagram from {from} is dropped: {refused}");
                Wake::Deadline
            }
        }
    }
}
