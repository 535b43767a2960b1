//! What goes wrong at the desk.

use super::{Desk, Due, MS, Machine};
use tenure::kraft::{Applying, Rule};
use tenure::{Input, NodeId};

/// What goes wrong, in parts per thousand of the chances it has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weather {
    /// A message is lost (datagrams), or takes its connection along.
    pub(crate) loss: u64,
    /// A message arrives twice (datagrams).
    pub(crate) repeat: u64,
    /// A message takes up to [`Weather::LATE`].
    pub(crate) late: u64,
    /// A write takes up to ten times as long.
    pub(crate) slow_disk: u64,
    /// A write ends unknown.
    pub(crate) unknown: u64,
    /// A pause between two faults lasts up to this; 0 for none.
    pub(crate) fault_pause: u64,
    /// Whether a disk may be replaced by an empty one.
    pub(crate) replace: bool,
}

impl Weather {
    pub(crate) const CALM: Self = Self {
        loss: 0,
        repeat: 0,
        late: 0,
        slow_disk: 0,
        unknown: 0,
        fault_pause: 0,
        replace: false,
    };
    /// Everything at once.
    pub(crate) const STORM: Self = Self {
        loss: 10,
        repeat: 20,
        late: 10,
        slow_disk: 100,
        unknown: 1,
        fault_pause: 900 * MS,
        replace: true,
    };
    /// How late a late message is at most.
    pub(crate) const LATE: u64 = 800 * MS;
}

impl Desk {
    /// A storm of the seed's kind: three or five voters, an observer, connections or datagrams, state machines that lag.
    pub(crate) fn storm(seed: u64, off: &[Rule]) -> Self {
        let mut desk = Self::new(seed, if seed % 3 == 2 { 5 } else { 3 }, 1, off);
        desk.weather = Weather::STORM;
        desk.latency = (MS / 2, 20 * MS);
        desk.disk = (MS / 5, 12 * MS);
        desk.connected = seed.is_multiple_of(2);
        desk.proposes = 120 * MS;
        desk.lag = 300 * MS;
        for (id, node) in desk.nodes.iter_mut().enumerate() {
            if id as u64 % 2 == seed / 2 % 2 {
                node.applying = Applying::Told;
            }
        }
        desk.push(100 * MS, Due::Propose);
        desk.push(500 * MS, Due::Fault);
        desk.boot_all();
        desk
    }

    /// A storm in which disks are slow and processes die often, so that much is lost that was not on a disk yet.
    pub(crate) fn slow_disks(seed: u64, off: &[Rule]) -> Self {
        let mut desk = Self::storm(seed, off);
        desk.weather.slow_disk = 300;
        desk.weather.fault_pause = 300 * MS;
        desk.weather.replace = false;
        desk.disk = (MS, 40 * MS);
        desk.proposes = 40 * MS;
        desk
    }

    /// All faults end: every node runs, everybody reaches everybody, and messages come at their time.
    pub(crate) fn calm(&mut self) {
        self.weather = Weather::CALM;
        self.heal();
        for id in 0..self.nodes.len() {
            self.thaw(id);
            if self.machine_halted(id) {
                self.crash(id);
            }
            self.boot(id);
        }
    }

    /// Something goes wrong, or is right again.
    pub(super) fn fault(&mut self) {
        if self.weather.fault_pause == 0 {
            return;
        }
        let id = self.random.below(self.nodes.len() as u64) as usize;
        let other = self.random.below(self.nodes.len() as u64) as usize;
        let runs = self.nodes[id].machine.is_some();
        match self.random.below(20) {
            0..=3 if runs => self.crash(id),
            0..=3 => self.boot(id),
            4 | 5 => {
                if let Some(leader) = self.leader() {
                    self.crash(leader);
                }
            }
            6 if self.nodes[id].frozen => self.thaw(id),
            6 => self.freeze(id),
            7 | 8 => self.isolate(id),
            9 if id != other => self.cut(id, other),
            10 if id != other => self.cut_one_way(id, other),
            11 | 12 => self.heal(),
            13 => {
                if let Some(leader) = self.leader() {
                    let to = Some(NodeId(other as u64));
                    self.input(leader, Input::Resign { to });
                }
            }
            14 if !self.nodes[id].frozen => self.input(id, Input::Campaign),
            15 => {
                if let Some(leader) = self.leader() {
                    self.call(leader, |machine, now| machine.renounce(now));
                }
            }
            16 if !self.nodes[id].frozen => {
                let upto = self.nodes[id].applied;
                self.call(id, |machine, now| machine.compact(now, upto).ok());
            }
            17 if self.weather.replace
                && self.replaced == 0
                && id < self.voters
                && self.random.below(4) == 0 =>
            {
                self.crash(id);
                self.replace_disk(id);
                self.boot(id);
            }
            _ => {
                for id in 0..self.nodes.len() {
                    self.thaw(id);
                    if self.machine_halted(id) {
                        self.crash(id);
                    }
                    self.boot(id);
                }
            }
        }
        let pause = 1 + self.random.below(self.weather.fault_pause);
        self.push(pause, Due::Fault);
    }

    fn machine_halted(&self, id: usize) -> bool {
        self.nodes[id].machine.as_ref().is_some_and(Machine::halted)
    }
}
