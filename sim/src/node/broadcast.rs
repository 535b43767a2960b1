//! What the judges of atomic broadcast are told of a node: what it proposes and acknowledges, what it logs, and what its disk
//! holds.

use super::Node;
use crate::scheme::{Carried, Hosted};
use crate::store::replica::Command;
use crate::world::env::Env;
use tenure::log::Position;

impl<M: Hosted> Node<M> {
    /// The epochs on the disk may have changed.
    pub(super) fn tell_epochs(&self, env: &mut Env, me: usize) {
        let epochs = match self.disk.durable() {
            Some(shelf) => M::epochs(&shelf.stored),
            None => M::epochs(&M::Stored::default()),
        };
        if let Some(epochs) = epochs {
            env.judge_logs(me, |logs, now| {
                logs.broadcast(|judges, ghost| judges.disk(now, ghost, me, epochs))
            });
        }
    }

    /// A message leaves.
    pub(super) fn tell_act(&self, env: &mut Env, me: usize, message: &M::Peer) {
        if let Some(machine) = &self.machine
            && let (Some(act), Some(epoch)) = (machine.acts(message), machine.acting_epoch())
        {
            env.judge_logs(me, |logs, now| {
                logs.broadcast(|judges, ghost| judges.acts(now, ghost, me, epoch, act))
            });
        }
    }

    /// The disk is asked to change the log.
    pub(super) fn tell_entries(&self, env: &mut Env, me: usize, changed: Carried) {
        if let Carried::Entries { .. } = changed
            && let Some(epoch) = self.machine.as_ref().and_then(M::acting_epoch)
        {
            env.judge_logs(me, |logs, now| {
                logs.broadcast(|judges, _| judges.logs(now, me, epoch))
            });
        }
    }

    /// The end of the log.
    pub(super) fn end_of_log(&self) -> Position {
        let log = self.machine.as_ref().and_then(M::log);
        log.map_or(Position::START, |log| log.last())
    }

    /// It may have proposed what its log has after an entry.
    pub(super) fn tell_proposals(&self, env: &mut Env, me: usize, after: Position) {
        let last = self.end_of_log();
        if last.index <= after.index {
            return;
        }
        let count = last.index - after.index;
        let named = (self.replica.as_ref())
            .and_then(|replica| replica.commands(after.index, last.term, count));
        let prints = named.into_iter().flatten();
        let prints = prints.map(|(_, payload)| payload.as_deref().map_or(0, Command::print));
        env.judge_logs(me, |logs, now| {
            logs.broadcast(|judges, _| judges.proposed(now, me, after, last.term, prints))
        });
    }
}
