//! A node of the `raft` crate and its host, as its documentation asks for: what is ready is made durable, then said.

use crate::judge::Named;
use crate::words::{id, payload_of};
use raft::eraftpb::Message;
use raft::prelude::{ConfState, Config, RawNode};
use raft::storage::MemStorage;
use raft::{StateRole, Storage};

pub(crate) struct Theirs {
    node: RawNode<MemStorage>,
    place: usize,
    led: u64,
    pub(crate) elected: Vec<u64>,
}

impl Theirs {
    pub(crate) fn new(place: usize, nodes: usize) -> Self {
        let voters: Vec<u64> = (0..nodes).map(id).collect();
        let storage = MemStorage::new_with_conf_state(ConfState::from((voters, Vec::new())));
        Self {
            node: Self::life(place, storage),
            place,
            led: 0,
            elected: Vec::new(),
        }
    }

    fn life(place: usize, storage: MemStorage) -> RawNode<MemStorage> {
        let logger = slog::Logger::root(slog::Discard, slog::o!());
        let config = Config {
            id: id(place),
            election_tick: 10,
            heartbeat_tick: 2,
            pre_vote: true,
            check_quorum: true,
            ..Config::default()
        };
        RawNode::new(&config, storage, &logger).unwrap()
    }

    /// The power goes, and comes back; its disk is in time with what it says, so that nothing is lost.
    pub(crate) fn restart(&mut self) {
        let storage = self.node.store().clone();
        self.node = Self::life(self.place, storage);
        self.led = 0;
    }

    pub(crate) fn tick(&mut self) {
        self.node.tick();
    }

    pub(crate) fn hear(&mut self, message: Message) {
        // What a node refuses is no error of the cluster.
        let _ = self.node.step(message);
    }

    pub(crate) fn propose(&mut self, payload: u64) -> bool {
        self.leads().is_some()
            && self
                .node
                .propose(vec![], payload.to_le_bytes().to_vec())
                .is_ok()
    }

    pub(crate) fn carry_out(&mut self) -> Vec<Message> {
        let mut said = Vec::new();
        while self.node.has_ready() {
            let mut ready = self.node.ready();
            said.extend(ready.take_messages());
            let mut store = self.node.store().wl();
            store.append(ready.entries()).unwrap();
            if let Some(state) = ready.hs() {
                store.set_hardstate(state.clone());
            }
            drop(store);
            said.extend(ready.take_persisted_messages());
            let mut light = self.node.advance(ready);
            if let Some(commit) = light.commit_index() {
                self.node.store().wl().mut_hard_state().set_commit(commit);
            }
            said.extend(light.take_messages());
            self.node.advance_apply();
        }
        if let Some(term) = self.leads()
            && term != self.led
        {
            self.led = term;
            self.elected.push(term);
        }
        said
    }

    /// The term it leads.
    pub(crate) fn leads(&self) -> Option<u64> {
        (self.node.raft.state == StateRole::Leader).then_some(self.node.raft.term)
    }

    pub(crate) fn term(&self) -> u64 {
        self.node.raft.term
    }

    pub(crate) fn commit(&self) -> u64 {
        self.node.raft.raft_log.committed
    }

    /// Its log after index `from`, up to `end`.
    pub(crate) fn log(&self, from: u64, end: u64) -> Vec<Named> {
        let store = self.node.store();
        let end = end.min(store.last_index().unwrap());
        if end <= from {
            return Vec::new();
        }
        let context = raft::GetEntriesContext::empty(false);
        let entries = store.entries(from + 1, end + 1, None, context).unwrap();
        entries
            .iter()
            .map(|entry| (entry.term, payload_of(&entry.data)))
            .collect()
    }
}
