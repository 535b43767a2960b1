//! One replica of a store on a log: the payloads of the entries under their names, the state as of the last entry that was
//! applied, and who waits for which entry (law C9: the machine knows none of it).

use super::{Answer, Done, Kv, Lessor, Range, Request, Said, Told};
#[cfg(not(target_family = "wasm"))]
use super::{Watch, watches::Watches};
use crate::sorted::Sorted;
use std::collections::VecDeque;
use std::sync::Arc;
use tenure::log::{Position, Shape};

/// After how many entries a replica makes a snapshot and lets the entries go.
pub(crate) const SNAPSHOT_EVERY: u64 = 48;

/// What a client proposed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Command {
    /// Who.
    pub client: u16,
    /// The client's number of it.
    pub number: u64,
    /// What.
    pub request: Arc<Request>,
}

impl Command {
    /// A number that no other command has, and no entry without one.
    pub(crate) const fn print(&self) -> u64 {
        ((self.client as u64) + 1) << 48 | self.number
    }
}

/// The payload of an entry; nothing in one that a leader begins its term with.
pub(crate) type Payload = Option<Arc<Command>>;

/// Payloads under the names of their entries.
#[derive(Clone, Debug, Default)]
pub(crate) struct Commands(Sorted<(u64, u64), Payload>);

impl Commands {
    pub(crate) fn get(&self, name: Position) -> Option<&Payload> {
        self.0.get(&(name.index, name.term))
    }

    /// Keeps a payload, if none is kept under that name.
    pub(crate) fn keep(&mut self, name: Position, payload: Payload) {
        self.0.keep((name.index, name.term), payload);
    }

    pub(crate) fn take_in(&mut self, named: &[(Position, Payload)]) {
        for (name, payload) in named {
            self.keep(*name, payload.clone());
        }
    }

    /// Entries up to `index` are needed no more.
    pub(crate) fn forget(&mut self, index: u64) {
        self.0.forget_before(&(index + 1, 0));
    }
}

/// The state as of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    pub(crate) last: Position,
    pub(crate) kv: Kv,
}

/// An entry that was applied.
pub(crate) struct Applied {
    pub(crate) at: Position,
    /// The number of the command; 0 where there was none.
    pub(crate) print: u64,
    /// Whether a client waited for it, and is told what it came to.
    pub(crate) answered: bool,
    /// Whether a lease is over with it.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) revoked: bool,
}

/// Who waits for an entry.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    term: u64,
    client: u16,
    number: u64,
}

/// A read that waits.
#[derive(Clone, Debug)]
pub(super) struct WaitingRead {
    /// Its number to the machine.
    pub(super) read: u64,
    /// Up to where the state must have come, once that is known.
    pub(super) index: Option<u64>,
    pub(super) client: u16,
    pub(super) number: u64,
    pub(super) range: Range,
}

/// The state of one replica, in the memory of its process.
#[derive(Clone, Debug, Default)]
pub struct Replica {
    commands: Commands,
    applied: Position,
    kv: Kv,
    /// The state as of where the log begins.
    snapshot: Option<Arc<Snapshot>>,
    /// A later one, as of where the log may begin next.
    next: Option<Arc<Snapshot>>,
    /// One that came with a message and may be installed.
    offered: Option<Arc<Snapshot>>,
    waiting: Sorted<u64, Waiting>,
    /// Reads in the order in which they were asked for.
    reads: VecDeque<WaitingRead>,
    #[cfg(not(target_family = "wasm"))]
    watches: Watches,
    /// What is to be said to clients.
    said: VecDeque<Told>,
    /// While it leads.
    pub(crate) lessor: Option<Lessor>,
    /// How many proposals of its own it made in this life.
    proposals: u64,
}

impl Replica {
    /// From what was read from the disk.
    pub(crate) fn new(commands: Commands, snapshot: Option<Arc<Snapshot>>) -> Self {
        let (applied, kv) = snapshot
            .as_deref()
            .map_or_else(Default::default, |state| (state.last, state.kv.clone()));
        Self {
            commands,
            applied,
            kv,
            snapshot,
            ..Self::default()
        }
    }

    /// The last entry that was applied.
    #[must_use]
    pub const fn applied(&self) -> Position {
        self.applied
    }

    /// The state.
    #[must_use]
    pub const fn kv(&self) -> &Kv {
        &self.kv
    }

    /// What a controller of brokers decided by the entry of this name, if the payload is at hand; nothing in one of the log's
    /// own.
    #[cfg(feature = "peers")]
    pub(crate) fn record(&self, at: Position) -> Option<Option<&tenure::isr::Record>> {
        let payload = self.commands.get(at)?.as_deref();
        Some(payload.and_then(|command| match &*command.request {
            Request::Metadata(record) => Some(&**record),
            _ => None,
        }))
    }

    /// How much there is to clone, in units of about 50 bytes. Snapshots are shared; payloads lie on the disk once more.
    pub(crate) fn weight(&self) -> usize {
        2 * self.commands.0.len() + self.kv.size()
    }

    /// The payloads of so many entries after one; `None` where some of them are not kept.
    pub(crate) fn commands(
        &self,
        after: u64,
        term: u64,
        count: u64,
    ) -> Option<Vec<(Position, Payload)>> {
        let names = (after + 1..=after + count).map(|index| Position::new(term, index));
        names
            .map(|name| Some((name, self.commands.get(name)?.clone())))
            .collect()
    }

    /// The state as of `last`, if it is kept.
    pub(crate) fn state(&self, last: Position) -> Option<Arc<Snapshot>> {
        let kept = [&self.snapshot, &self.next, &self.offered];
        kept.into_iter()
            .flatten()
            .find(|state| state.last == last)
            .cloned()
    }

    /// Payloads came with a message.
    pub(crate) fn take_in(&mut self, named: &[(Position, Payload)]) {
        self.commands.take_in(named);
    }

    /// A state came with a message.
    pub(crate) fn offer(&mut self, snapshot: Arc<Snapshot>) {
        self.offered = Some(snapshot);
    }

    /// The machine wrote entries of its own at the end of its log, which carry nothing: the first of a term, and changes
    /// of who takes part.
    pub(crate) fn name_own(&mut self, shape: &Shape) {
        let Position { term, mut index } = shape.last();
        while index > shape.base().index && shape.term_at(index) == Some(term) {
            let name = Position::new(term, index);
            if self.commands.get(name).is_some() {
                return;
            }
            self.commands.keep(name, None);
            index -= 1;
        }
    }

    /// A client's request was proposed as the entry `at`.
    pub(super) fn proposed(&mut self, at: Position, who: (u16, u64), request: Arc<Request>) {
        let (client, number) = who;
        let term = at.term;
        self.proposed_own(at, who, request);
        self.waiting.insert(
            at.index,
            Waiting {
                term,
                client,
                number,
            },
        );
    }

    /// A request was proposed as the entry `at`, and nobody waits to hear what it came to.
    pub(crate) fn proposed_own(
        &mut self,
        at: Position,
        (client, number): (u16, u64),
        request: Arc<Request>,
    ) {
        let command = Command {
            client,
            number,
            request,
        };
        self.commands.keep(at, Some(Arc::new(command)));
    }

    /// A number for a proposal of the replica itself.
    pub(crate) fn own_number(&mut self, life: u64) -> u64 {
        self.proposals += 1;
        life << 24 | self.proposals
    }

    /// The log begins later now: at a state that is at hand, here or as the machine took it over. Whether the state of this
    /// replica is another one since, and how many who waited will not hear.
    pub(crate) fn begins(&mut self, base: Position) -> bool {
        if self
            .snapshot
            .as_ref()
            .is_some_and(|state| state.last == base)
            || base.index == 0
        {
            return false;
        }
        let Some(state) = self.state(base) else {
            return false;
        };
        self.commands.forget(base.index);
        self.next.take_if(|next| next.last.index <= base.index);
        self.offered = None;
        let behind = self.applied.index < base.index;
        if behind {
            (self.applied, self.kv) = (base, state.kv.clone());
            self.waiting.forget_before(&(base.index + 1));
        }
        self.snapshot = Some(state);
        behind
    }

    /// Applies the next entry, if it is committed and its payload at hand. Who waited for an entry whose place it took is told
    /// who leads now: that one will never be applied.
    pub(crate) fn apply_next(
        &mut self,
        shape: &Shape,
        committed: u64,
        leader: Option<u16>,
        now: u64,
    ) -> Option<Applied> {
        let index = self.applied.index + 1;
        if index > committed {
            return None;
        }
        let at = Position::new(shape.term_at(index)?, index);
        let payload = self.commands.get(at)?.clone();
        self.applied = at;
        let result = payload
            .as_deref()
            .map(|command| self.kv.apply(&command.request));
        #[cfg(not(target_family = "wasm"))]
        let revoked = matches!((payload.as_deref(), &result), (Some(command), Some(Ok(_)))
            if matches!(*command.request, Request::Revoke { .. }));
        if let (Some(command), Some(Ok(_))) = (payload.as_deref(), &result) {
            match (&mut self.lessor, &*command.request) {
                (Some(lessor), Request::Grant { lease, ttl }) => lessor.begin(now, *lease, *ttl),
                (Some(lessor), Request::Revoke { lease }) => lessor.end(*lease),
                _ => {}
            }
        }
        if index.is_multiple_of(SNAPSHOT_EVERY) {
            self.next = Some(Arc::new(Snapshot {
                last: at,
                kv: self.kv.clone(),
            }));
        }
        let mut answered = false;
        if let Some(waiting) = self.waiting.remove(&index) {
            let own = result.filter(|_| waiting.term == at.term);
            answered = own.is_some();
            let said = own.map_or(Said::Elsewhere(leader), Said::Answered);
            self.say((waiting.client, waiting.number), said);
        }
        Some(Applied {
            at,
            print: payload.as_deref().map_or(0, Command::print),
            answered,
            #[cfg(not(target_family = "wasm"))]
            revoked,
        })
    }

    /// Something is to be said to a client.
    pub(super) fn say(&mut self, (client, number): (u16, u64), said: Said) {
        self.said.push_back((client, number, said));
    }

    /// The next thing to be said to a client.
    pub(crate) fn poll(&mut self) -> Option<Told> {
        self.said.pop_front()
    }

    /// A client watches, or wants something of its watch.
    #[cfg(not(target_family = "wasm"))]
    pub(super) fn watch(&mut self, who: (u16, u64), watch: &Watch) {
        self.watches.hear(who, watch, &mut self.said);
        self.tell_watchers();
    }

    /// Watchers are told what changed. Whether anybody was told anything.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn tell_watchers(&mut self) -> bool {
        self.watches.tell(&self.kv, &mut self.said)
    }

    /// A read waits to be confirmed.
    pub(super) fn waits(&mut self, read: WaitingRead) {
        self.reads.push_back(read);
    }

    /// Up to where the state must have come is known of all reads up to a number; or they cannot be confirmed, and whoever
    /// asked is told so.
    pub(crate) fn confirmed(&mut self, upto: u64, index: Option<u64>) {
        let Some(index) = index else {
            let lost = self.reads.partition_point(|read| read.read <= upto);
            for read in self.reads.drain(..lost) {
                let said = Said::Elsewhere(None);
                self.said.push_back((read.client, read.number, said));
            }
            return;
        };
        let those = self.reads.iter_mut().filter(|read| read.read <= upto);
        those.for_each(|read| {
            read.index.get_or_insert(index);
        });
    }

    /// Answers all reads that may be answered.
    pub(crate) fn answer_reads(&mut self) {
        let applied = self.applied.index;
        while let Some(index) = self.reads.front().and_then(|read| read.index)
            && index <= applied
            && let Some(read) = self.reads.pop_front()
        {
            let answer = self.read(&read.range);
            self.say((read.client, read.number), Said::Answered(Ok(answer)));
        }
    }

    /// What is kept under some keys, as of the last entry that was applied.
    pub(super) fn read(&self, range: &Range) -> Answer {
        Answer {
            revision: self.kv.revision(),
            done: Done::Got(self.kv.get(range)),
        }
    }

    /// Whether the state is that of a snapshot which was just made.
    pub(crate) fn just_made(&self) -> bool {
        self.next
            .as_ref()
            .is_some_and(|state| state.last == self.applied)
    }

    /// Where the log may begin next.
    pub(crate) fn compactable(&self) -> Option<u64> {
        self.next.as_ref().map(|state| state.last.index)
    }
}
