//! SEN-BestReplica: what is promoted is the best of what could be: nobody was surely better, as the sentinel was told itself.

use crate::check::Tally;
use crate::scheme::sentinel::{Machine, Setup};
use crate::sorted::Sorted;
use std::cmp::Reverse;
use tenure::sentinel::{Life, MasterName, Message, News, Report, Role};
use tenure::{NodeId, Ticket};

const SECOND: u64 = 1_000_000;

#[derive(Clone, Debug, Default)]
pub(super) struct BestReplica {
    /// What was last told to a sentinel in this life of it, by sentinel and server.
    reports: Sorted<(usize, NodeId), (Ticket, Report, u64)>,
    alive: Sorted<(usize, NodeId), u64>,
    /// The newest ping, by sentinel and server.
    asked: Sorted<(usize, NodeId), Ticket>,
    /// The newest ping when the process was last heard to be gone: an answer to that, or to an earlier one, is of that process.
    gone: Sorted<(usize, NodeId), Ticket>,
    /// Whom a server last said that it follows.
    followed: Sorted<(usize, NodeId), NodeId>,
    /// Whom a sentinel holds to be down, as it tells.
    down: Sorted<(usize, NodeId), ()>,
    /// When a sentinel's clock jumped last.
    jumps: Sorted<usize, u64>,
    pub(super) tally: Tally,
}

impl BestReplica {
    pub(super) fn started(&mut self, node: usize) {
        self.reports.retain(|(to, _), _| *to != node);
        self.alive.retain(|(to, _), _| *to != node);
        self.asked.retain(|(by, _), _| *by != node);
        self.gone.retain(|(by, _), _| *by != node);
        self.followed.retain(|(to, _), _| *to != node);
        self.down.retain(|(by, _), ()| *by != node);
    }

    pub(super) fn jumped(&mut self, now: u64, node: usize) {
        self.jumps.insert(node, now);
    }

    /// A sentinel sends a ping.
    pub(super) fn pinged(&mut self, node: usize, server: NodeId, query: Ticket) {
        self.asked.insert((node, server), query);
    }

    pub(super) fn heard(&mut self, now: u64, to: usize, from: NodeId, message: &Message) {
        let key = (to, from);
        match message {
            Message::Told { query, report, .. } => {
                let newer = |(before, ..): &(Ticket, Report, u64)| before < query;
                if self.reports.get(&key).is_none_or(newer) {
                    self.reports.insert(key, (*query, *report, now));
                    if let Some(master) = report.master {
                        self.followed.insert(key, master);
                    }
                }
            }
            Message::Pong { query, life }
                if *life != Life::Other && self.gone.get(&key).is_none_or(|gone| gone < query) =>
            {
                self.alive.insert(key, now);
            }
            Message::Closed => {
                self.alive.remove(&key);
                if let Some(asked) = self.asked.get(&key) {
                    self.gone.insert(key, *asked);
                }
            }
            _ => {}
        }
    }

    pub(super) fn told(&mut self, node: usize, setup: &Setup, news: News) {
        match news {
            News::SdownSet(_, other) => {
                self.down.insert((node, other), ());
            }
            News::SdownCleared(_, other) => {
                self.down.remove(&(node, other));
            }
            News::SwitchMaster(name, ..) => {
                // Whatever it knew of anybody was of another time.
                let stays =
                    |by: usize, server: NodeId| by != node || setup.group(server) != Some(name);
                self.down.retain(|(by, server), ()| stays(*by, *server));
                self.alive.retain(|(by, server), _| stays(*by, *server));
                self.reports.retain(|(by, server), _| stays(*by, *server));
            }
            _ => {}
        }
    }

    /// A replica was chosen. Whether another was surely better, or it was none of this master.
    pub(super) fn chosen(
        &mut self,
        now: u64,
        node: usize,
        machine: &Machine,
        name: MasterName,
        chosen: NodeId,
    ) -> bool {
        let report = |server: NodeId| self.reports.get(&(node, server));
        let (Some(master), Some((_, told, _))) = (machine.master(name), report(chosen).copied())
        else {
            return self.tally.note(now, true);
        };
        let watched = master.watched();
        let in_touch = |report: &Report| {
            report.role == Role::Replica
                && report.master == Some(watched)
                && report.link_down.is_none()
        };
        let rank = |report: &Report| (report.priority, Reverse(report.offset));
        // To a clock that made a leap everything is old.
        let jumped = (self.jumps.get(&node)).is_some_and(|at| now - at < 5 * SECOND);
        let better = master.replicas().iter().any(|other| {
            let Some((_, of, at)) = report(other.node()) else {
                return false;
            };
            let key = (node, other.node());
            let heard = self.alive.get(&key).copied().unwrap_or_default();
            let recent = now - at < 4 * SECOND && now - heard < SECOND && !jumped;
            let could = !self.down.contains_key(&key) && of.priority > 0 && in_touch(of) && recent;
            other.node() != chosen && could && rank(of) < rank(&told)
        });
        // Who follows nobody must have followed the master before: the one who was it does not.
        let leads = report(watched).is_some_and(|(_, of, _)| of.master == Some(chosen));
        let astray = told.role == Role::Replica && told.master != Some(watched);
        let former =
            told.role == Role::Master && self.followed.get(&(node, chosen)) != Some(&watched);
        self.tally.note(now, !leads && (better || astray || former))
    }
}
