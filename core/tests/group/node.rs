//! One node and its host: the machine, the disk, and what is the host's alone, the payloads and the state they lead to.

use std::collections::BTreeMap;
use std::sync::Arc;
use tenure::log::{Position, Shape};
use tenure::raft::{LogWrite, Message, Raft, Record, Rules, Stored, Write};
use tenure::{NodeId, Ticket, Token};

/// What an entry carries: who made it, and how many were made before it anywhere. No two are alike, so that one name for
/// two entries is seen (KAFKA-10527).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Payload {
    pub(crate) by: NodeId,
    pub(crate) number: u64,
}

/// An entry as an application sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) term: u64,
    pub(crate) payload: Payload,
}

/// The state of the application: what was applied, from the first entry on. A snapshot is that up to some index.
pub(crate) type State = Arc<[Entry]>;

/// What a host writes, or sends, along with what the machine asked for.
#[derive(Clone, Debug)]
pub(crate) enum Load {
    Nothing,
    Entries(Vec<Entry>),
    State(State),
}

/// A write that the disk has not answered.
pub(crate) struct Pending {
    pub(crate) ticket: Ticket,
    pub(crate) write: Write,
    pub(crate) load: Load,
    /// When it is done, in true time.
    pub(crate) at: u64,
}

/// What a host has in memory.
#[derive(Default)]
pub(crate) struct Memory {
    /// Payloads by the names of their entries, (index, term).
    pub(crate) payloads: BTreeMap<(u64, u64), Payload>,
    /// Snapshots that were received, by the index at which they end.
    pub(crate) offered: BTreeMap<u64, State>,
    pub(crate) applied: Vec<Entry>,
    /// The highest commit index it was told by its machine.
    pub(crate) commit: u64,
    /// The log when it was last looked at in the present reign.
    pub(crate) reign: Option<Shape>,
}

/// What a host has on its disk beside what the machine wrote.
#[derive(Clone)]
pub(crate) struct Kept {
    entries: BTreeMap<u64, Entry>,
    pub(crate) snapshot: State,
}

pub(crate) struct Node<R: Rules> {
    pub(crate) id: NodeId,
    pub(crate) machine: Option<Raft<R>>,
    /// What the machine wrote; `None` while that is nothing.
    pub(crate) disk: Option<Stored>,
    pub(crate) kept: Kept,
    pub(crate) memory: Memory,
    /// In the order of their tickets, in which they are done.
    pub(super) writes: Vec<Pending>,
    pub(crate) incarnation: u64,
    /// Rate of the clock in parts per million of true time.
    pub(crate) rate: u64,
    pub(super) paused_until: u64,
    pub(super) restart_at: u64,
    /// Elected and not yet deposed.
    pub(super) in_office: Option<Token>,
}

impl<R: Rules> Node<R> {
    pub(super) fn new(id: NodeId, rate: u64) -> Self {
        Self {
            id,
            machine: None,
            disk: None,
            kept: Kept {
                entries: BTreeMap::new(),
                snapshot: Arc::new([]),
            },
            memory: Memory::default(),
            writes: Vec::new(),
            incarnation: 0,
            rate,
            paused_until: 0,
            restart_at: 0,
            in_office: None,
        }
    }

    /// The record on its disk.
    pub(crate) fn record(&self) -> Record {
        self.disk.as_ref().map_or(Record::default(), |it| it.record)
    }

    /// The end of the log on its disk.
    pub(crate) fn last(&self) -> Position {
        self.disk
            .as_ref()
            .map_or(Position::START, |it| it.log.last())
    }

    /// The entry at `index` on its disk, also when a snapshot holds it.
    pub(crate) fn durable(&self, index: u64) -> Option<Entry> {
        let log = &self.disk.as_ref()?.log;
        if index <= log.base().index {
            self.kept.snapshot.get(index as usize - 1).copied()
        } else {
            log.term_at(index)?;
            self.kept.entries.get(&index).copied()
        }
    }

    /// What a new life of the host remembers.
    pub(super) fn remember(&mut self) {
        let payloads = self.kept.entries.iter();
        self.memory = Memory {
            payloads: payloads
                .map(|(index, entry)| ((*index, entry.term), entry.payload))
                .collect(),
            applied: self.kept.snapshot.to_vec(),
            ..Memory::default()
        };
    }

    /// The next of what was asked of the disk is done. Why not, when it does not fit.
    pub(super) fn write(&mut self) -> Result<(), String> {
        let Pending { write, load, .. } = self.writes.remove(0);
        let disk = self.disk.get_or_insert_default();
        if let Err(error) = disk.apply(&write) {
            return Err(format!("{write:?} does not fit {disk:?}: {error}"));
        }
        match (write.log, load) {
            (LogWrite::Append { after, .. }, Load::Entries(entries)) => {
                self.kept.entries.split_off(&(after.index + 1));
                let indices = after.index + 1..;
                self.kept.entries.extend(indices.zip(entries));
            }
            (LogWrite::Compact { upto, .. }, _) => {
                self.kept.entries = self.kept.entries.split_off(&(upto.index + 1));
            }
            (LogWrite::Install { .. }, Load::State(state)) => {
                self.kept.entries.clear();
                self.kept.snapshot = state;
            }
            _ => {}
        }
        Ok(())
    }

    /// The process dies, and what it had in memory.
    pub(super) fn die(&mut self) {
        self.machine = None;
        self.writes.clear();
        self.in_office = None;
    }

    /// The state as of the entry at `index` is on the disk, for good.
    pub(super) fn keep_state(&mut self, index: u64) {
        if index as usize > self.kept.snapshot.len() {
            self.kept.snapshot = self.memory.applied[..index as usize].into();
        }
    }

    /// What goes with a message; `None` when it speaks of what this host does not have.
    pub(super) fn attach(&self, message: &Message) -> Option<Load> {
        match message {
            Message::Append { prev, entries, .. } | Message::Suffix { prev, entries, .. } => {
                let term = entries.term();
                let indices = prev.index + 1..=prev.index + entries.count();
                let payload = |index| self.memory.payloads.get(&(index, term)).copied();
                let entry = |index| {
                    Some(Entry {
                        term,
                        payload: payload(index)?,
                    })
                };
                indices.map(entry).collect::<Option<_>>().map(Load::Entries)
            }
            Message::InstallSnapshot { last, .. } | Message::SuffixSnapshot { base: last, .. } => {
                // One that it was sent may still be on its way to the disk.
                let kept = self.kept.snapshot.get(..last.index as usize);
                let state = kept.map(State::from);
                let state = state.or_else(|| self.memory.offered.get(&last.index).cloned());
                state.map(Load::State)
            }
            _ => Some(Load::Nothing),
        }
    }

    /// Takes what came with a message, before its machine hears of it.
    pub(super) fn detach(&mut self, message: &Message, load: Load) {
        match (message, load) {
            (
                Message::Append { prev, .. } | Message::Suffix { prev, .. },
                Load::Entries(entries),
            ) => {
                for (index, entry) in (prev.index + 1..).zip(entries) {
                    let name = (index, entry.term);
                    self.memory.payloads.entry(name).or_insert(entry.payload);
                }
            }
            (
                Message::InstallSnapshot { last, .. } | Message::SuffixSnapshot { base: last, .. },
                Load::State(state),
            ) => {
                self.memory.offered.insert(last.index, state);
            }
            _ => {}
        }
    }
}
