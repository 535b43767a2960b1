//! What goes wrong, and what is worked meanwhile.

use super::Group;
use tenure::raft::{Role, Rules};
use tenure::{Input, NodeId};

/// What the host does wrong on purpose, in percent of the occasions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Breakage {
    /// A message is lost.
    pub(crate) drop: u64,
    /// A message is delivered and stays to be delivered again, whenever.
    pub(crate) repeat: u64,
    /// A disk write is never answered.
    pub(crate) silent_disk: u64,
    /// A disk reply is given twice, or under a ticket of another life.
    pub(crate) wrong_reply: u64,
    /// A disk write ends unknown.
    pub(crate) unknown_write: u64,
    /// A timeout comes early, or twice.
    pub(crate) spurious_timeout: u64,
    /// `now` goes back.
    pub(crate) back_in_time: u64,
    /// The host is told to campaign or resign out of nowhere.
    pub(crate) whims: u64,
    /// A node crashes.
    pub(crate) crash: u64,
    /// A node is paused for up to two election timeouts.
    pub(crate) pause: u64,
    /// Links are cut for a while: all of a node's, one direction of them, or a single one.
    pub(crate) isolate: u64,
}

impl Breakage {
    /// Everything at once.
    pub(crate) const WILD: Self = Self {
        drop: 10,
        repeat: 10,
        silent_disk: 1,
        wrong_reply: 5,
        unknown_write: 1,
        spurious_timeout: 10,
        back_in_time: 5,
        whims: 3,
        crash: 2,
        pause: 2,
        isolate: 3,
    };
}

/// What the users of a log do, in percent of the steps.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Work {
    /// Somebody proposes, mostly to a node that leads.
    pub(crate) propose: u64,
    /// A node takes a snapshot and compacts its log.
    pub(crate) compact: u64,
    /// A node is asked to hand over to another.
    pub(crate) transfer: u64,
}

impl<R: Rules> Group<R> {
    pub(super) fn mischief(&mut self) {
        // Half of the time the leader is meant, if there is one.
        let any = self.random.below(self.nodes.len() as u64) as usize;
        let place = match self.leading().first() {
            Some(leader) if self.random.below(2) == 0 => *leader,
            _ => any,
        };
        // Chances are per hundred steps of one node.
        let Breakage {
            spurious_timeout,
            whims,
            crash,
            pause,
            isolate,
            ..
        } = self.breakage;
        if self.chance(spurious_timeout) {
            self.input(place, Input::Timeout);
        }
        if self.chance(whims) {
            let to = self.random.below(2 * self.nodes.len() as u64);
            let resign = Input::Resign {
                to: (to < self.nodes.len() as u64).then_some(NodeId(to)),
            };
            let input = if self.random.below(2) == 0 {
                Input::Campaign
            } else {
                resign
            };
            self.input(place, input);
        }
        if self.chance(crash) && self.nodes[place].machine.is_some() {
            self.crash(place);
            let down = if self.random.below(2) == 0 {
                0
            } else {
                self.random.below(600_000)
            };
            self.nodes[place].restart_at = self.now + down;
        }
        if self.chance(pause) {
            self.nodes[place].paused_until = self.now + self.random.below(600_000);
        }
        if self.chance(isolate) {
            let until = self.now + self.random.below(800_000);
            let other = self.random.below(self.nodes.len() as u64) as usize;
            match self.random.below(4) {
                0 => self.cut(place, until),
                1 => self.cuts[place].fill(until),
                2 => self.cuts.iter_mut().for_each(|row| row[place] = until),
                _ => self.cuts[place][other] = until,
            }
        }
    }

    /// Who was elected and does not know otherwise.
    fn leaders(&self) -> Vec<usize> {
        let leads = |place: &usize| {
            let machine = self.nodes[*place].machine.as_ref();
            machine.is_some_and(|machine| machine.role() == Role::Leader)
        };
        (0..self.nodes.len()).filter(leads).collect()
    }

    /// Proposes, compacts and hands over, here and there.
    pub(super) fn work(&mut self) {
        if self.chance(self.work.propose) {
            let leaders = self.leaders();
            let place = match leaders.len() as u64 {
                0 => self.random.below(self.nodes.len() as u64) as usize,
                several => leaders[self.random.below(several) as usize],
            };
            let proposals = 1 + self.random.below(3);
            for _ in 0..proposals {
                let count = 1 + self.random.below(3) as u32;
                self.append(place, count);
            }
            self.carry_out(place);
            self.judge(place);
        }
        if self.chance(self.work.compact) {
            let place = self.random.below(self.nodes.len() as u64) as usize;
            self.compact(place);
        }
        if self.chance(self.work.transfer) {
            let place = self.leaders().first().copied().unwrap_or(0);
            let to = NodeId(self.random.below(self.nodes.len() as u64));
            let now = self.clock(place);
            if let Some(machine) = self.nodes[place].machine.as_mut() {
                // Who cannot says so, and nothing comes of it.
                let _ = machine.transfer(now, to);
                self.carry_out(place);
                self.judge(place);
            }
        }
    }

    /// Cuts all links of a node until true time `until`.
    pub(crate) fn cut(&mut self, place: usize, until: u64) {
        for other in 0..self.nodes.len() {
            self.cuts[place][other] = until;
            self.cuts[other][place] = until;
        }
    }

    /// Cuts one direction of a link until true time `until`.
    pub(crate) fn cut_link(&mut self, from: usize, to: usize, until: u64) {
        self.cuts[from][to] = until;
    }

    pub(super) fn is_cut(&self, from: NodeId, to: NodeId) -> bool {
        self.cuts[from.0 as usize][to.0 as usize] > self.now
    }

    /// A random set of slow links, one in five, fixed for the run.
    pub(crate) fn slow_links(&mut self, extra: u64) {
        for from in 0..self.nodes.len() {
            for to in 0..self.nodes.len() {
                self.slow[from][to] = if self.chance(20) {
                    self.random.below(extra)
                } else {
                    0
                };
            }
        }
    }

    /// Ends every breakage and cut, restarts what is down.
    pub(crate) fn heal(&mut self) {
        self.breakage = Breakage::default();
        let now = self.now;
        self.cuts.iter_mut().for_each(|row| row.fill(now));
        self.slow.iter_mut().for_each(|row| row.fill(0));
        for place in 0..self.nodes.len() {
            let node = &mut self.nodes[place];
            node.paused_until = now;
            node.restart_at = now;
            // A disk that never answered is a node to restart.
            if node.writes.iter().any(|write| write.at == u64::MAX) {
                self.crash(place);
            }
        }
    }
}
