//! What happens to a world from outside: processes begin and die, links are cut, operators give orders, and clients write.

use super::desk::{Desk, Flight, Machine, Seat, Server};
use std::collections::VecDeque;
use tenure::sentinel::data::{self, Data, Mark, Saved};
use tenure::sentinel::{Boot, File, MasterName, Message};
use tenure::{Instant, NodeId};

impl Desk {
    pub(crate) fn add_server(&mut self, id: NodeId, master: Option<NodeId>) {
        let config = data::Config {
            min_replicas: self.plan.min_replicas,
            ..data::Config::new(id)
        };
        let saved = Saved {
            replica_of: master,
            ..Saved::default()
        };
        self.servers.insert(
            id,
            Server {
                machine: None,
                saved,
                config,
                life: 0,
                frozen: false,
                busy: false,
                late: Vec::new(),
                wake_at: u64::MAX,
            },
        );
        self.start(id);
    }

    pub(crate) fn add_seat(&mut self, id: NodeId, disk: Option<File>) {
        self.seats.insert(
            id,
            Seat {
                config: self.plan.config(id),
                machine: None,
                disk,
                asked: VecDeque::new(),
                life: 0,
                frozen: false,
                late: Vec::new(),
                wake_at: u64::MAX,
                ahead: 0,
                bad_writes: 0,
            },
        );
        self.start(id);
    }

    /// Changes how a data server behaves, from its next start on.
    pub(crate) fn configure(&mut self, id: NodeId, change: impl Fn(&mut data::Config)) {
        change(&mut self.servers.get_mut(&id).unwrap().config);
        self.crash(id);
        self.start(id);
    }

    /// A process begins. It has to be down.
    pub(crate) fn start(&mut self, id: NodeId) {
        let now = self.now;
        self.lives += 1;
        if let Some(seat) = self.seats.get_mut(&id) {
            seat.life = if self.plan.identical { 1 } else { self.lives };
            let boot = Boot {
                stored: seat.disk.clone(),
                incarnation: seat.life,
                seed: if self.plan.identical {
                    7
                } else {
                    self.plan.seed
                },
            };
            let at = Instant::from_micros(now + seat.ahead);
            let machine = Machine::with_rules(seat.config.clone(), boot, at, self.plan.rules);
            seat.machine = Some(machine.unwrap());
            self.judge
                .started(id, self.seats[&id].machine.as_ref().unwrap());
        } else {
            let server = self.servers.get_mut(&id).unwrap();
            server.life += 1;
            let machine = Data::new(
                server.config,
                server.saved.clone(),
                server.life,
                Instant::from_micros(now),
            );
            server.machine = Some(machine.unwrap());
        }
        self.look_at_links();
        self.drain(id);
    }

    /// A process dies; what a sentinel's disk was asked for and has not answered may or may not be there.
    pub(crate) fn crash(&mut self, id: NodeId) {
        if self.plan.refuses {
            for to in self.all().into_iter().filter(|to| *to != id) {
                let (from, message) = (id, Message::Closed);
                self.fly(Flight { from, to, message });
            }
        }
        if let Some(seat) = self.seats.get_mut(&id) {
            let kept = self.random.below(seat.asked.len() as u64 + 1) as usize;
            let asked: Vec<_> = seat.asked.drain(..).collect();
            if let Some((_, file)) = kept.checked_sub(1).map(|last| asked[last].clone()) {
                self.judge.written(id, &file);
                self.seats.get_mut(&id).unwrap().disk = Some(file);
            }
            let seat = self.seats.get_mut(&id).unwrap();
            seat.machine = None;
            seat.frozen = false;
            seat.late.clear();
            seat.wake_at = u64::MAX;
        } else {
            let server = self.servers.get_mut(&id).unwrap();
            if let Some(machine) = server.machine.take() {
                server.saved = machine.saved();
            }
            (server.frozen, server.busy) = (false, false);
            server.late.clear();
            server.wake_at = u64::MAX;
        }
        self.look_at_links();
    }

    /// A sentinel is gone for good.
    pub(crate) fn retire(&mut self, id: NodeId) {
        self.crash(id);
        self.seats.remove(&id);
        self.judge.retired(id);
        self.look_at_links();
    }

    /// A sentinel dies, and nothing is left of what its disk was asked for and has not answered.
    pub(crate) fn cut_power(&mut self, id: NodeId) {
        self.seats.get_mut(&id).unwrap().asked.clear();
        self.crash(id);
    }

    pub(crate) fn restart(&mut self, id: NodeId) {
        self.crash(id);
        self.start(id);
    }

    pub(crate) fn freeze(&mut self, id: NodeId) {
        if let Some(seat) = self.seats.get_mut(&id) {
            seat.frozen = seat.machine.is_some();
        } else {
            let server = self.servers.get_mut(&id).unwrap();
            server.frozen = server.machine.is_some();
        }
        self.look_at_links();
    }

    /// A frozen process goes on: it reads what came, unless that is lost.
    pub(crate) fn resume(&mut self, id: NodeId, lost: bool) {
        let late = if let Some(seat) = self.seats.get_mut(&id) {
            seat.frozen = false;
            std::mem::take(&mut seat.late)
        } else {
            let server = self.servers.get_mut(&id).unwrap();
            server.frozen = false;
            std::mem::take(&mut server.late)
        };
        self.look_at_links();
        if !lost {
            late.into_iter().for_each(|flight| self.arrive(flight));
        }
        self.wake(id);
    }

    /// The clock of a sentinel jumps ahead.
    pub(crate) fn jump(&mut self, id: NodeId, by: u64) {
        self.judge.jumped(self.now, id, by);
        self.seats.get_mut(&id).unwrap().ahead += by;
        self.wake(id);
    }

    pub(crate) fn cut(&mut self, from: NodeId, to: NodeId) {
        self.cuts.insert((from, to));
        self.look_at_links();
    }

    /// Cuts between the two sides, both ways.
    pub(crate) fn part(&mut self, one: &[NodeId], other: &[NodeId]) {
        for a in one {
            for b in other {
                self.cuts.extend([(*a, *b), (*b, *a)]);
            }
        }
        self.look_at_links();
    }

    pub(crate) fn heal(&mut self) {
        self.cuts.clear();
        self.look_at_links();
    }

    pub(super) fn look_at_links(&mut self) {
        (self.judge).connectivity(self.now, &self.seats, &self.servers, &self.cuts);
    }

    /// A data server runs a script that does not end, or it ends.
    pub(crate) fn set_busy(&mut self, id: NodeId, busy: bool) {
        let server = self.servers.get_mut(&id).unwrap();
        server.busy = busy;
        if let Some(machine) = &mut server.machine {
            machine.set_busy(busy);
        }
        self.look_at_links();
    }

    /// An operator's order to a sentinel.
    pub(crate) fn failover(&mut self, id: NodeId, group: u16) -> bool {
        let now = self.now;
        let seat = self.seats.get_mut(&id).unwrap();
        let Some(machine) = seat.machine.as_mut().filter(|_| !seat.frozen) else {
            return false;
        };
        let at = Instant::from_micros(now + seat.ahead);
        let begun = machine.failover(at, MasterName(group)).is_ok();
        if begun {
            self.judge
                .forced(MasterName(group), machine.current_epoch());
        }
        self.drain(id);
        begun
    }

    /// A message that nobody sent.
    pub(crate) fn inject(&mut self, from: NodeId, to: NodeId, message: Message) {
        self.arrive(Flight { from, to, message });
    }

    /// An operator's order to a data server.
    pub(crate) fn order(&mut self, id: NodeId, master: Option<NodeId>) {
        let now = Instant::from_micros(self.now);
        let machine = self.servers.get_mut(&id).unwrap().machine.as_mut();
        machine.unwrap().replica_of(now, master);
        self.drain(id);
    }

    pub(crate) fn reset(&mut self, id: NodeId, group: u16) {
        let now = self.now;
        let seat = self.seats.get_mut(&id).unwrap();
        let at = Instant::from_micros(now + seat.ahead);
        assert!(seat.machine.as_mut().unwrap().reset(at, MasterName(group)));
        self.judge.reset(id, MasterName(group));
        self.drain(id);
    }

    /// A client writes to this server; what is acknowledged is remembered.
    pub(crate) fn write(&mut self, id: NodeId) -> Option<Mark> {
        let now = self.now;
        let server = self.servers.get_mut(&id).unwrap();
        let machine = server.machine.as_mut().filter(|_| !server.frozen)?;
        let mark = machine.write(Instant::from_micros(now)).ok()?;
        self.acked.push(mark);
        self.drain(id);
        Some(mark)
    }
}
