//! `raft` 0.7 (tikv/raft-rs) in its safe mode, PreVote and CheckQuorum, over its own storage in memory.

use raft::Config;
use raft::prelude::{ConfState, Message, RawNode};
use raft::storage::MemStorage;
use slog::{Discard, Logger, o};

pub(crate) type Node = RawNode<MemStorage>;

/// A voter that never ran, with a heartbeat of one tick and an election timeout of once to twice `election_tick`; ids from 1.
pub(crate) fn node(voter: u64, voters: u64, election_tick: usize) -> Node {
    let config = Config {
        id: voter,
        election_tick,
        heartbeat_tick: 1,
        // Its default is one entry a message.
        max_size_per_msg: 1 << 20,
        pre_vote: true,
        check_quorum: true,
        ..Config::default()
    };
    let all: Vec<u64> = (1..=voters).collect();
    let store = MemStorage::new_with_conf_state(ConfState::from((all, Vec::new())));
    let logger = Logger::root(Discard, o!());
    RawNode::new(&config, store, &logger).unwrap_or_else(|error| panic!("{error}"))
}

/// What a node wants done: its records are durable at once, its messages depart. How many reads it confirmed.
pub(crate) fn drain(node: &mut Node, flight: &mut Vec<Message>) -> usize {
    let mut confirmed = 0;
    while node.has_ready() {
        let mut ready = node.ready();
        confirmed += ready.take_read_states().len();
        flight.append(&mut ready.take_messages());
        let mut store = node.store().wl();
        store
            .append(ready.entries())
            .unwrap_or_else(|error| panic!("{error}"));
        if let Some(state) = ready.hs() {
            store.set_hardstate(state.clone());
        }
        drop(store);
        flight.append(&mut ready.take_persisted_messages());
        let mut rest = node.advance(ready);
        if let Some(commit) = rest.commit_index() {
            node.store().wl().mut_hard_state().commit = commit;
        }
        flight.append(&mut rest.take_messages());
        node.advance_apply();
    }
    confirmed
}
