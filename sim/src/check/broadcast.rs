//! The judges of atomic broadcast, as ZooKeeper's servers do it: epochs that are promised, acknowledgements that are durable, and
//! deliveries in the order of proposals. Beside the judges of logs, and told by them.

use super::ack_durable::AckMeansDurable;
use super::epoch_order::EpochOrder;
use super::global_primary_order::GlobalPrimaryOrder;
use super::local_primary_order::LocalPrimaryOrder;
use super::log_continuity::LogContinuity;
use super::logs::Ghost;
use super::primary_integrity::PrimaryIntegrity;
use super::promise_before_act::PromiseBeforeAct;
use super::proposals::Proposals;
use super::{Broken, Check, Tally};
use tenure::log::Position;

/// What a member of an epoch does that rests on its disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// It acknowledges the entries up to an index.
    Acknowledges(u64),
    /// It acknowledges that it holds the history with which the epoch begins.
    Follows,
}

/// The judges of atomic broadcast.
#[derive(Clone, Debug)]
pub(crate) struct Broadcast {
    epochs: EpochOrder,
    promises: PromiseBeforeAct,
    proposals: Proposals,
    local: LocalPrimaryOrder,
    global: GlobalPrimaryOrder,
    integrity: PrimaryIntegrity,
    durable: AckMeansDurable,
    continuity: LogContinuity,
    /// By node: the last entry it delivered.
    at: Vec<Position>,
}

impl Broadcast {
    pub(super) fn new(nodes: usize) -> Self {
        Self {
            epochs: EpochOrder::new(nodes),
            promises: PromiseBeforeAct::new(nodes),
            proposals: Proposals::default(),
            local: LocalPrimaryOrder::default(),
            global: GlobalPrimaryOrder::default(),
            integrity: PrimaryIntegrity::default(),
            durable: AckMeansDurable::default(),
            continuity: LogContinuity::default(),
            at: vec![Position::START; nodes],
        }
    }

    /// What epochs a disk holds: accepted and current.
    pub(crate) fn disk(
        &mut self,
        now: u64,
        ghost: &Ghost,
        node: usize,
        (accepted, current): (u64, u64),
    ) -> Broken {
        let mut broken = Broken::default();
        let rises = current > self.epochs.current(node);
        let fell = self.epochs.held(now, node, accepted, current);
        broken.add(Check::EpochOrder, fell);
        if rises {
            let lacks = self.durable.became_current(now, ghost, node, current);
            broken.add(Check::AckMeansDurable, lacks);
        }
        broken
    }

    /// A node says that it promises an epoch.
    pub(super) fn promised(&mut self, node: usize, epoch: u64) {
        self.promises.promised(node, epoch);
    }

    /// A node logs something as a member of an epoch.
    pub(crate) fn logs(&mut self, now: u64, node: usize, epoch: u64) -> Broken {
        let mut broken = Broken::default();
        let gave_up = self.promises.acts(now, node, epoch);
        broken.add(Check::PromiseBeforeAct, gave_up);
        broken
    }

    /// A member of an epoch acknowledges something.
    pub(crate) fn acts(
        &mut self,
        now: u64,
        ghost: &Ghost,
        node: usize,
        epoch: u64,
        act: Act,
    ) -> Broken {
        let mut broken = self.logs(now, node, epoch);
        let lacks = match act {
            Act::Acknowledges(upto) => self.durable.acknowledges(now, ghost, node, upto),
            Act::Follows => {
                let current = self.epochs.current(node);
                self.durable.follows(now, ghost, node, epoch, current)
            }
        };
        broken.add(Check::AckMeansDurable, lacks);
        broken
    }

    /// A node appends entries to its log.
    pub(super) fn appended(
        &mut self,
        now: u64,
        ghost: &Ghost,
        node: usize,
        after: Position,
    ) -> Broken {
        let mut broken = Broken::default();
        let hole = (self.continuity).appended(now, &ghost.logs[node], after);
        broken.add(Check::LogContinuity, hole);
        broken
    }

    /// The leader of an epoch shows entries of it, after one, with these payloads.
    pub(crate) fn proposed(
        &mut self,
        now: u64,
        node: usize,
        after: Position,
        epoch: u64,
        prints: impl Iterator<Item = u64>,
    ) -> Broken {
        let mut broken = Broken::default();
        let delivered = self.at[node].index;
        for (index, print) in (after.index + 1..).zip(prints) {
            let at = Position::new(epoch, index);
            if self.proposals.proposed(at, print, delivered) {
                let lacks = self.integrity.begins(now, epoch, delivered);
                broken.add(Check::PrimaryIntegrity, lacks);
            }
        }
        broken
    }

    /// A node delivers an entry.
    pub(super) fn delivered(&mut self, now: u64, node: usize, at: Position, print: u64) -> Broken {
        let mut broken = Broken::default();
        let before = std::mem::replace(&mut self.at[node], at);
        let differs = (self.local).delivered(now, &self.proposals, before, at, print);
        broken.add(Check::LocalPrimaryOrder, differs);
        let fell = self.global.delivered(now, before, at);
        broken.add(Check::GlobalPrimaryOrder, fell);
        let lacks = self.integrity.delivered(now, &self.proposals, at);
        broken.add(Check::PrimaryIntegrity, lacks);
        broken
    }

    /// A node goes on from the state as of an entry.
    pub(super) fn begins_at(&mut self, node: usize, at: Position) {
        self.at[node] = at;
    }

    /// A leader of an epoch is elected.
    pub(super) fn elected(&mut self, ghost: &Ghost, node: usize, epoch: u64) {
        self.durable.elected(ghost, node, epoch);
    }

    pub(super) const fn tally(&self, check: Check) -> Tally {
        match check {
            Check::EpochOrder => self.epochs.tally,
            Check::PromiseBeforeAct => self.promises.tally,
            Check::LocalPrimaryOrder => self.local.tally,
            Check::GlobalPrimaryOrder => self.global.tally,
            Check::PrimaryIntegrity => self.integrity.tally,
            Check::AckMeansDurable => self.durable.tally,
            _ => self.continuity.tally,
        }
    }
}
