//! Three nodes keep a log: a leader replicates what it is told, is stopped, another goes on, and the first catches up:
//!
//! ```sh
//! cargo run --example replicated_log -p tenure
//! ```
//!
//! What a host with a log does beside one without: it keeps payloads under the names of their entries, writes them with the
//! entries, attaches them to messages that carry them, and applies what is committed. Time, network and disks are simple
//! here: three_processes has those of a program.

use std::collections::{BTreeMap, VecDeque};
use std::error::Error;
use tenure::log::Position;
use tenure::quorum::Voters;
use tenure::raft::{Boot, Carries, Config, LogWrite, Message, Raft, Replication, Stored, Write};
use tenure::{Duration, Election, Input, Instant, NodeId, Output, Standing};

/// What goes along with a message or a proposal, by the names of entries. One of the machine's own has none.
type Payloads = BTreeMap<Position, String>;

/// What survives a node.
#[derive(Default)]
struct Disk {
    lives: u64,
    stored: Stored,
    payloads: Payloads,
}

impl Disk {
    /// One atomic write. An entry without its payload would be lost for good, and is an error.
    fn write(&mut self, write: &Write, came: &Payloads) -> Result<(), Box<dyn Error>> {
        self.stored.apply(write)?;
        let LogWrite::Append { after, entries } = &write.log else {
            return Ok(()); // nothing is compacted here, and so nobody needs a snapshot
        };
        let known = self.payloads.clone();
        self.payloads.retain(|name, _| name.index <= after.index);
        for nth in entries.own(*after) + 1..=entries.count() {
            let name = Position::new(entries.term(), after.index + nth);
            // What is written again is here already.
            let payload = came.get(&name).or_else(|| known.get(&name));
            let payload = payload.ok_or("an entry came without its payload")?;
            self.payloads.insert(name, payload.clone());
        }
        Ok(())
    }

    /// What a message carries; `None` when it is not all at hand, and the message is dropped.
    fn attach(&self, message: &Message) -> Option<Payloads> {
        match message.carries() {
            None => Some(Payloads::new()),
            Some(Carries::Entries { after, entries }) => (entries.own(after) + 1..=entries.count())
                .map(|nth| Position::new(entries.term(), after.index + nth))
                .map(|name| Some((name, self.payloads.get(&name)?.clone())))
                .collect(),
            Some(Carries::Snapshot { .. }) => None,
        }
    }
}

/// A node while it runs.
struct Node {
    raft: Raft,
    applied: u64,
    state: Vec<String>,
}

struct Group {
    now: Instant,
    disks: Vec<Disk>,
    nodes: Vec<Option<Node>>,
    network: VecDeque<(NodeId, NodeId, Message, Payloads)>,
}

impl Group {
    fn start(&mut self, id: usize) -> Result<(), Box<dyn Error>> {
        let disk = &mut self.disks[id];
        disk.lives += 1;
        let boot = Boot {
            stored: (disk.lives > 1).then(|| disk.stored.clone()),
            incarnation: disk.lives,
            seed: 7,
        };
        let config = Config {
            replication: Some(Replication::default()),
            ..Config::new(NodeId(id as u64), Voters::new([0, 1, 2].map(NodeId))?)
        };
        self.nodes[id] = Some(Node {
            raft: Raft::new(config, boot, self.now)?,
            applied: 0,
            state: Vec::new(),
        });
        Ok(())
    }

    /// Does what a node asks. `came` is what came with its last input; what it does not write by then it refused.
    fn drain(&mut self, id: usize, came: &Payloads) -> Result<(), Box<dyn Error>> {
        let (Some(node), disk) = (&mut self.nodes[id], &mut self.disks[id]) else {
            return Ok(());
        };
        while let Some(output) = node.raft.poll() {
            match output {
                Output::Send(to, message) => {
                    if let Some(payloads) = disk.attach(&message) {
                        self.network
                            .push_back((NodeId(id as u64), to, message, payloads));
                    }
                }
                Output::Request(ticket, write) => {
                    disk.write(&write, came)?;
                    node.raft.handle(self.now, Input::Reply(ticket, Ok(())));
                }
                Output::Event(_) => {}
            }
        }
        while node.applied < node.raft.commit() {
            node.applied += 1;
            let term = node.raft.log().term_at(node.applied).unwrap_or_default();
            // An entry of the machine's own is passed over.
            let payload = disk.payloads.get(&Position::new(term, node.applied));
            node.state.extend(payload.cloned());
        }
        Ok(())
    }

    /// Passes a millisecond.
    fn step(&mut self) -> Result<(), Box<dyn Error>> {
        self.now = self.now + Duration::from_millis(1);
        for (from, to, message, payloads) in std::mem::take(&mut self.network) {
            let to = to.0 as usize;
            if let Some(node) = &mut self.nodes[to] {
                node.raft.handle(self.now, Input::Peer(from, message));
            }
            self.drain(to, &payloads)?;
        }
        for id in 0..self.nodes.len() {
            if let Some(node) = &mut self.nodes[id] {
                node.raft.handle(self.now, Input::Timeout);
            }
            self.drain(id, &Payloads::new())?;
        }
        Ok(())
    }

    fn leader(&mut self) -> Result<usize, Box<dyn Error>> {
        for _ in 0..10_000 {
            let leads = |node: &Option<Node>| {
                let standing = node.as_ref().map(|node| node.raft.standing(self.now));
                matches!(standing, Some(Standing::Leading(_)))
            };
            if let Some(leader) = self.nodes.iter().position(leads) {
                return Ok(leader);
            }
            self.step()?;
        }
        Err("nobody leads within ten seconds".into())
    }

    /// Has the leader append a text, and waits until it has applied it.
    fn write(&mut self, text: &str) -> Result<(), Box<dyn Error>> {
        let leader = self.leader()?;
        let node = self.nodes[leader].as_mut().ok_or("it is stopped")?;
        let name = node.raft.propose(self.now, 1)?;
        self.drain(leader, &Payloads::from([(name, text.to_owned())]))?;
        while (self.nodes[leader].as_ref()).is_some_and(|node| node.applied < name.index) {
            self.step()?;
        }
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut group = Group {
        now: Instant::ZERO,
        disks: (0..3).map(|_| Disk::default()).collect(),
        nodes: (0..3).map(|_| None).collect(),
        network: VecDeque::new(),
    };
    for id in 0..3 {
        group.start(id)?;
    }
    let first = group.leader()?;
    for text in ["one", "two", "three"] {
        group.write(text)?;
    }
    println!("node {first} leads, and three entries are committed");

    group.nodes[first] = None;
    let second = group.leader()?;
    for text in ["four", "five"] {
        group.write(text)?;
    }
    println!("node {first} is stopped, and node {second} goes on");

    group.start(first)?;
    for _ in 0..1_000 {
        group.step()?;
    }
    let back = group.nodes[first].as_ref().ok_or("it is stopped")?;
    println!(
        "node {first} is back, and has applied {}",
        back.state.join(", ")
    );
    let whole = ["one", "two", "three", "four", "five"];
    (back.state == whole)
        .then_some(())
        .ok_or_else(|| "it did not catch up".into())
}
