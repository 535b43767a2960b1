//! What goes wrong, and what is worked meanwhile.

use super::{Flight, NODES, Node, Storm};
use tenure::log::Position;
use tenure::membership::Target;
use tenure::quorum::Voters;
use tenure::raft::{ChangeRefused, Message, Raft, Role, Rules};
use tenure::{Input, Instant, NodeId};

impl<R: Rules> Storm<R> {
    pub(super) fn leader(&self) -> Option<usize> {
        let leads = |place: &usize| {
            let machine = self.nodes[*place].machine.as_ref();
            machine.is_some_and(|machine| machine.role() == Role::Leader)
        };
        let term = |place: &usize| self.nodes[*place].machine.as_ref().map(Raft::term);
        (0..NODES).filter(leads).max_by_key(term)
    }

    /// One that leads, if only in its own eyes.
    fn any_leader(&mut self) -> Option<usize> {
        let leads = |node: &Node<R>| node.machine.as_ref().map(Raft::role) == Some(Role::Leader);
        let all: Vec<usize> = (0..NODES)
            .filter(|place| leads(&self.nodes[*place]))
            .collect();
        let draw = self.random.below(all.len().max(1) as u64) as usize;
        all.get(draw).copied()
    }

    pub(super) fn make_mischief(&mut self) {
        let (one, other) = (self.any(), self.any());
        let target = match self.random.below(4) {
            0 => one,
            1 => self.any_leader().unwrap_or(one),
            _ => self.leader().unwrap_or(one),
        };
        let part = self.random.below(24);
        if part > 19 || self.weather.leases {
            if self.weather.leases && part < 3 {
                return self.crash(target);
            }
            if self.weather.leases && part < 8 {
                return self.input(one, Input::Campaign);
            }
            if self.weather.leases && part < 11 {
                // A voter forgets all that it said aloud.
                self.crash(other);
                self.nodes[other].restart_at = self.now;
                return self.input(one, Input::Campaign);
            }
            if self.weather.leases && part < 13 {
                return (0..5).for_each(|_| self.replay());
            }
            // The leader is cut off, both ways or one, from most; and sleeps until about the end of its lease.
            let until = self.now + self.random.below(700_000);
            for other in 0..NODES {
                if self.chance(800) {
                    self.cuts[target][other] = until;
                }
                if self.chance(600) {
                    self.cuts[other][target] = until;
                }
            }
            if self.chance(500) {
                self.pause(target);
            }
            return;
        }
        match part {
            0 => self.crash(target),
            1..=3 => self.pause(target),
            4..=6 => {
                let until = self.now + self.random.below(900_000);
                self.cuts[one][other] = until;
                if self.chance(600) {
                    self.cuts[other][one] = until;
                }
            }
            7 | 8 => self.partition(),
            9 => self.slow[one][other] = self.random.below(150_000),
            10 => {
                let until = self.now + self.random.below(700_000);
                self.nodes[target].stuck_until = until;
                for write in &mut self.nodes[target].writes {
                    write.0 = write.0.max(until);
                }
            }
            11 => self.slow = [[0; NODES]; NODES],
            12 => self.cuts = [[0; NODES]; NODES],
            13 => {
                let to = self.chance(500).then_some(NodeId(other as u64));
                if self.nodes[target].paused_until <= self.now {
                    self.input(target, Input::Resign { to });
                }
            }
            14 => {
                if self.nodes[one].paused_until <= self.now {
                    self.input(one, Input::Campaign);
                }
            }
            15 => self.wild_fetch(one, other),
            16 => {
                // A log that cannot be compared any more, and a crash that forgets what was committed.
                self.compact(target);
                self.crash(target);
            }
            _ => {
                for _ in 0..3 {
                    self.replay();
                }
            }
        }
    }

    fn replay(&mut self) {
        if !self.old.is_empty() {
            let at = self.random.below(self.old.len() as u64) as usize;
            let Flight {
                from,
                to,
                ref message,
            } = self.old[at];
            let message = message.clone();
            self.judge.mark("very late message");
            self.fly(self.now, Flight { from, to, message });
        }
    }

    pub(super) fn work(&mut self) {
        let one = self.any();
        let target = match self.random.below(6) {
            0 => one,
            1 | 2 => self.any_leader().unwrap_or(one),
            _ => self.leader().unwrap_or(one),
        };
        match self.random.below(24) {
            0..=7 => {
                let count = [1, 1, 1, 1, 1, 2, 2, 3, 5, 20][self.random.below(10) as usize];
                self.working(target, |machine, now| machine.propose(now, count).is_ok());
            }
            8..=13 if !self.weather.leases => self.change(target),
            8..=10 => self.read(target),
            14 | 15 => {
                let draw = self.random.below(64) as usize;
                if self.working(target, |machine, now| {
                    let voters: Vec<NodeId> = machine.membership().voters().collect();
                    machine.transfer(now, voters[draw % voters.len()]).is_ok()
                }) {
                    self.judge.mark("transfer");
                }
            }
            16 | 17 => self.compact(target),
            18 => self.compact(one),
            19 | 20 => self.read(one),
            _ => self.read(target),
        }
    }

    /// A call of the host; none in a pause.
    fn working(&mut self, place: usize, act: impl FnOnce(&mut Raft<R>, Instant) -> bool) -> bool {
        self.nodes[place].paused_until <= self.now && self.act(place, act) == Some(true)
    }

    fn pause(&mut self, place: usize) {
        let Some(machine) = &self.nodes[place].machine else {
            return;
        };
        let until = match machine.lease() {
            // Around the end of the lease.
            Some(lease) if self.random.below(4) > 0 => {
                let end = self.true_time(place, lease.until);
                (end + self.random.below(20_000)).saturating_sub(10_000)
            }
            _ => self.now + self.random.below(700_000),
        };
        self.nodes[place].paused_until = until;
    }

    fn partition(&mut self) {
        let until = self.now + self.random.below(1_200_000);
        let side = self.random.bits();
        let (one_way, hub) = (self.chance(300), self.chance(300));
        let middle = self.any();
        for from in 0..NODES {
            for to in 0..NODES {
                let crosses = (side >> from & 1) != (side >> to & 1);
                let free = hub && (from == middle || to == middle);
                if crosses && !free && (!one_way || side >> from & 1 == 0) {
                    self.cuts[from][to] = until;
                }
            }
        }
    }

    fn change(&mut self, place: usize) {
        let voters = [1, 1, 2, 3, 3, 3, 4, 5][self.random.below(8) as usize];
        let (mut ids, mut learners) = (Vec::new(), Vec::new());
        let Some(machine) = &self.nodes[place].machine else {
            return;
        };
        let present: Vec<NodeId> = machine.membership().ids().collect();
        if self.chance(400) {
            // One more or less.
            let known: Vec<NodeId> = self.nodes[place]
                .machine
                .as_ref()
                .unwrap()
                .membership()
                .voters()
                .collect();
            let one = NodeId(self.any() as u64);
            ids = known.iter().copied().filter(|id| *id != one).collect();
            if !known.contains(&one) {
                ids.push(one);
            }
            ids.truncate(5);
        } else {
            while ids.len() < voters {
                let id = match self.random.below(3) {
                    0 => NodeId(self.any() as u64),
                    _ => present[self.random.below(present.len() as u64) as usize],
                };
                if !ids.contains(&id) {
                    ids.push(id);
                } else if self.chance(200) {
                    break;
                }
            }
        }
        for id in (0..NODES as u64).map(NodeId) {
            if !ids.contains(&id) && self.chance(150) {
                learners.push(id);
            }
        }
        let Ok(voters) = Voters::new(ids) else { return };
        let target = Target { voters, learners };
        if self.nodes[place].paused_until > self.now {
            return;
        }
        match self.act(place, |machine, now| machine.change(now, &target)) {
            Some(Ok(_)) => self.judge.mark("change"),
            Some(Err(ChangeRefused::Behind(id))) => {
                let Some(machine) = &self.nodes[place].machine else {
                    return;
                };
                let known = machine.membership().clone();
                let voters = Voters::new(known.voters()).unwrap();
                let mut learners: Vec<NodeId> = known.learners().filter(|one| *one != id).collect();
                learners.push(id);
                let target = Target { voters, learners };
                self.act(place, |machine, now| machine.change(now, &target).is_ok());
            }
            _ => {}
        }
    }

    fn compact(&mut self, place: usize) {
        let Some(machine) = &self.nodes[place].machine else {
            return;
        };
        let (base, end) = (machine.log().base().index, machine.commit());
        let upto = match self.random.below(3) {
            0 => end,
            _ => base + self.random.below(end - base + 1),
        };
        if self.working(place, |machine, now| machine.compact(now, upto).is_ok()) {
            self.judge.mark("compaction");
        }
    }

    fn read(&mut self, place: usize) {
        if self.nodes[place].paused_until > self.now {
            return;
        }
        let newest = self.judge.newest();
        if self.chance(400) {
            let leased = self.act(place, |machine, now| machine.read_leased(now));
            if let Some(Ok(leased)) = leased {
                self.judge.mark("leased read");
                if leased.index < newest {
                    let detail =
                        format!("leased {} at {place}, {newest} is committed", leased.index);
                    self.judge.fail("INV-R2", detail);
                }
            }
            return;
        }
        let now = self.clock(place);
        let Some(machine) = self.nodes[place].machine.as_mut() else {
            return;
        };
        if let Ok(number) = machine.read(now) {
            self.nodes[place].reads.insert(number, newest);
        }
        self.act(place, |_, _| ());
    }

    /// Somebody asks for entries it does not need, and is answered.
    fn wild_fetch(&mut self, from: usize, to: usize) {
        let (Some(asks), Some(answers)) = (&self.nodes[from].machine, &self.nodes[to].machine)
        else {
            return;
        };
        let (term, sent) = (asks.term().max(1), self.clock(from));
        let log = if self.random.below(2) == 0 {
            asks.log()
        } else {
            answers.log()
        };
        let index = self.random.below(log.last().index + 1);
        let after = Position::new(log.term_at(index).unwrap_or(0), index);
        if (after.term == 0) != (after.index == 0) {
            return;
        }
        self.launch(from, to, Message::Fetch { term, sent, after });
    }
}
