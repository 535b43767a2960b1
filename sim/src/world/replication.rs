//! What the nodes replicate and what clients of the store wait for, as numbers to draw from. The layouts are part of the
//! JavaScript interface; both are empty where there is no log.

use super::{Actor, World};
use crate::node::Node;
use crate::scheme::{Logged, Machine, Scheme};
use crate::store::Errand;
use tenure::NodeId;
use tenure::log::Shape;
use tenure::raft::Pace;

/// How many numbers a log begins with: node, base index, base term, last index, and up to where it is committed, applied
/// and durable, −1 where there is none; how many runs follow, and then how many followers.
pub const LOG: usize = 9;
/// How many numbers a run takes: its term, and how many entries.
pub const RUN: usize = 2;
/// How many numbers a follower takes, as its leader knows it: node, match, next, pace.
pub const FOLLOWER: usize = 4;
/// How many numbers a client takes: actor, what it waits for (−1: nothing) and since when, and how many of each
/// [`Errand`] were answered.
pub const CLIENT: usize = 3 + Errand::KINDS;

impl World {
    /// The logs, one after the other: [`LOG`] numbers, then its runs, then what its node, if it leads, knows of the others.
    pub fn write_logs(&self, out: &mut Vec<f64>) {
        out.clear();
        if !self.setup.has_log() {
            return;
        }
        for (place, raft) in self.rafts() {
            write_log(place, raft, self.env.nodes, out);
        }
    }

    /// The clients of the store, [`CLIENT`] numbers each.
    pub fn write_clients(&self, out: &mut Vec<f64>) {
        out.clear();
        for (place, actor) in self.actors.iter().enumerate() {
            if let Actor::Store(client) = actor {
                let (errand, since) = match client.waits() {
                    Some((errand, since)) => (f64::from(errand as u8), since as f64),
                    None => (-1.0, -1.0),
                };
                out.extend_from_slice(&[place as f64, errand, since]);
                out.extend(client.answered().map(f64::from));
            }
        }
    }
}

fn write_log(place: usize, raft: &Node<Machine>, nodes: usize, out: &mut Vec<f64>) {
    let nothing = Shape::new();
    let stored = raft.disk().durable();
    let disk = stored.map_or(&nothing, |shelf| shelf.stored.log());
    let synced = stored.map_or(0, |shelf| shelf.stored.synced());
    let machine = raft.machine();
    // Of a process that is not there, what its disk holds is all there is.
    let log = machine.and_then(Scheme::log).unwrap_or(disk);
    let or_none = |index: Option<u64>| index.map_or(-1.0, |index| index as f64);
    let (base, last) = (log.base(), log.last());
    let known = || {
        let others = (0..nodes).filter(|node| *node != place);
        others.filter_map(|node| Some((node, machine?.raft()?.progress(NodeId(node as u64))?)))
    };
    out.extend_from_slice(&[
        place as f64,
        base.index as f64,
        base.term as f64,
        last.index as f64,
        or_none(machine.map(|machine| machine.committed().max(base.index))),
        or_none(raft.replica().map(|replica| replica.applied().index)),
        durable(log, disk, synced) as f64,
        log.runs().len() as f64,
        known().count() as f64,
    ]);
    for (term, count) in log.runs() {
        out.extend_from_slice(&[term as f64, count as f64]);
    }
    for (node, progress) in known() {
        out.extend_from_slice(&[
            node as f64,
            progress.matched as f64,
            progress.next as f64,
            f64::from(pace_code(progress.pace)),
        ]);
    }
}

/// Up to where the disk holds this log: where two have one term at one index, they agree up to there.
fn durable(log: &Shape, disk: &Shape, synced: u64) -> u64 {
    let base = log.base().index;
    let last = log.last().index.min(disk.last().index).min(synced);
    let agrees = |index: &u64| log.term_at(*index) == disk.term_at(*index);
    (base + 1..=last).rev().find(agrees).unwrap_or(base)
}

const fn pace_code(pace: Pace) -> u8 {
    match pace {
        Pace::Probe => 0,
        Pace::Probing => 1,
        Pace::Stream => 2,
        Pace::Snapshot => 3,
    }
}
