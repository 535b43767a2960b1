//! A whole run, kept: its events, what each fault met and left, and who believed to lead when.

use crate::fault::Action;
use crate::node::Status;
use crate::physics::disk::Takes;
use crate::physics::trace::Event;
use crate::scenario::{Refusal, Scenario};
use crate::scheme::RoleCode;
use crate::world::World;
use std::ops::Range;
use tenure::Token;
use tenure::raft::ChangeRefused;

/// A run from its first event to its last.
#[derive(Clone, Debug)]
pub struct Recording {
    /// What was run.
    pub scenario: Scenario,
    /// The world at the end.
    pub world: World,
    /// Every event; the place in this list is what [`Event::cause`] names.
    pub events: Vec<Event>,
    /// The actions that were carried out, in order.
    pub strikes: Vec<Strike>,
    /// Who believed to lead, in order of beginning.
    pub beliefs: Vec<Believed>,
}

/// An action that was carried out. Its place in the list is its place in the scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strike {
    /// When.
    pub at: u64,
    /// The events it made at once.
    pub events: Range<usize>,
    /// Whether it had an effect (law W3).
    pub effect: bool,
    /// What it met.
    pub before: Before,
    /// Whose disk became slower or faster by it.
    pub disk: Option<u16>,
}

/// The world just before an action.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Before {
    /// What each node's process was doing.
    pub status: Vec<Status>,
    /// What each server's was.
    pub servers: Vec<Status>,
    /// The letter in the name of a server.
    pub letter: char,
    /// Who led: established, or else elected.
    pub leader: Option<u16>,
    /// How long each disk took for a write.
    pub disks: Vec<Takes>,
    /// Whether there were connections.
    pub fifo: bool,
    /// Why the machine of who led would not begin the change of who takes part that is asked of it.
    pub change: Option<ChangeRefused>,
}

/// A node believed to lead, without a break, with one token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Believed {
    /// Who.
    pub node: u16,
    /// With what.
    pub token: Token,
    /// From when.
    pub from: u64,
    /// Until when it believed: the end of its tenure, the event that ended it, or the end of the run.
    pub until: u64,
    /// How often the end of the tenure was put off.
    pub renewed: u64,
}

impl Recording {
    /// Runs a scenario to its end.
    ///
    /// # Errors
    /// When its events are too many to keep.
    pub fn of(scenario: Scenario) -> Result<Self, Refusal> {
        scenario.recordable()?;
        let mut world = World::new(&scenario);
        world.record_histories();
        #[cfg(feature = "peers")]
        world.keep_annals();
        world.trace_mut().recording = true;
        let mut keeper = Keeper {
            open: vec![None; scenario.nodes],
            ..Keeper::default()
        };
        while keeper.step(&mut world, scenario.duration) {}
        world.run();
        keeper.collect(&mut world);
        keeper.close(scenario.duration);
        let Keeper {
            events,
            strikes,
            mut beliefs,
            ..
        } = keeper;
        beliefs.sort_by_key(|belief| (belief.from, belief.node));
        Ok(Self {
            scenario,
            world,
            events,
            strikes,
            beliefs,
        })
    }

    /// The event that caused this one, if any did.
    #[must_use]
    pub fn cause(&self, event: &Event) -> Option<&Event> {
        self.events.get(usize::try_from(event.cause).ok()?)
    }

    /// How many stand in the network: nodes, and servers of a store.
    pub(super) fn members(&self) -> usize {
        self.scenario.nodes + self.scenario.servers()
    }

    /// The actor that is the client; after it come the resources, the fenced one first.
    pub(super) fn client(&self) -> u16 {
        self.members() as u16
    }

    /// The names of actors: `n1`, `n1 and n2`, `n1, n2 and s1`.
    pub(super) fn names(&self, actors: &[u16]) -> String {
        let names: Vec<String> = actors.iter().map(|actor| self.name(*actor)).collect();
        super::words::listed(&names, "and")
    }

    /// The name of an actor.
    #[must_use]
    pub fn name(&self, actor: u16) -> String {
        let servers = (self.scenario.servers(), self.scenario.server_letter());
        super::words::actor(self.scenario.nodes, servers, actor)
    }
}

/// What is gathered while the world runs.
#[derive(Default)]
struct Keeper {
    events: Vec<Event>,
    strikes: Vec<Strike>,
    beliefs: Vec<Believed>,
    /// By node: the belief that lasts, its `until` being the end of the tenure.
    open: Vec<Option<Believed>>,
}

impl Keeper {
    fn step(&mut self, world: &mut World, end: u64) -> bool {
        let done = self.strikes.len();
        let planned = world.plan().get(done).cloned();
        // At one instant, actions come last: this may be looked at more often than an action comes.
        let before = match planned {
            Some(fault) if world.next_at() == Some(fault.at) => Before::of(world, &fault.action),
            _ => Before::default(),
        };
        let [fired, effective] = world.done();
        let from = self.events.len();
        if !world.step(end) {
            return false;
        }
        self.collect(world);
        let [came, had_effect] = world.done();
        if came > fired {
            let disk = (0..)
                .zip(&before.disks)
                .find(|(node, takes)| {
                    disk_takes(world, usize::from(*node)).is_some_and(|now| now != **takes)
                })
                .map(|(node, _)| node);
            self.strikes.push(Strike {
                at: world.now(),
                events: from..self.events.len(),
                effect: had_effect > effective,
                before,
                disk,
            });
        }
        // What a node believes changes only in a step in which something happened at it.
        for place in from..self.events.len() {
            self.look(world, usize::from(self.events[place].actor));
        }
        true
    }

    fn collect(&mut self, world: &mut World) {
        self.events.append(&mut world.trace_mut().fresh);
    }

    fn look(&mut self, world: &World, node: usize) {
        let Some(slot) = self.open.get_mut(node) else {
            return;
        };
        let now = world.now();
        let leads = world.node(node).and_then(|node| node.leads_at(now));
        if let (Some(open), Some((token, until))) = (slot.as_mut(), leads)
            && open.token == token
            && open.until > now
        {
            open.renewed += u64::from(until != open.until);
            open.until = until;
            return;
        }
        if let Some(over) = slot.take() {
            self.beliefs.push(Believed {
                until: over.until.min(now),
                ..over
            });
        }
        *slot = leads.map(|(token, until)| Believed {
            node: node as u16,
            token,
            from: now,
            until,
            renewed: 0,
        });
    }

    fn close(&mut self, end: u64) {
        for over in self.open.iter_mut().filter_map(Option::take) {
            self.beliefs.push(Believed {
                until: over.until.min(end),
                ..over
            });
        }
    }
}

impl Before {
    fn of(world: &World, action: &Action) -> Self {
        let nodes = || (0..world.nodes()).filter_map(|node| world.node(node));
        let elected = || {
            (0..)
                .zip(nodes())
                .filter(|(_, node)| {
                    node.status() == Status::Up && node.look().role == RoleCode::Elected
                })
                .max_by_key(|(_, node)| node.look().term)
                .map(|(place, _)| place)
        };
        let leader = world.leader().map(|(node, _)| node as u16).or_else(elected);
        let asked = leader.and_then(|leader| world.node(usize::from(leader)));
        Self {
            status: nodes().map(|node| node.status()).collect(),
            servers: world.servers().map(|server| server.status()).collect(),
            letter: world.server_letter(),
            leader,
            change: match action {
                Action::Change(voters, learners) => {
                    asked.and_then(|node| node.refuses_change(world.now(), voters, learners))
                }
                _ => None,
            },
            disks: (0..world.nodes())
                .filter_map(|node| disk_takes(world, node))
                .collect(),
            fifo: world.weather().fifo,
        }
    }
}

fn disk_takes(world: &World, node: usize) -> Option<Takes> {
    world.node(node).map(|node| node.disk().takes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::physics::trace::Kind;

    fn recording(rest: &str) -> Recording {
        let json =
            format!(r#"{{"tenure": 1, "scheme": "raft", "nodes": 3, "duration": "5s", {rest}}}"#);
        Recording::of(Scenario::parse(&json).unwrap()).unwrap()
    }

    #[test]
    fn the_run_is_the_one_of_the_world_alone() {
        let recording = recording(r#""faults": [{"at": "2s", "crash": "leader"}]"#);
        let mut world = World::new(&recording.scenario);
        world.run();
        assert_eq!(recording.world.trace().hash(), world.trace().hash());
        assert_eq!(recording.events.len() as u64, world.trace().count());
        assert_eq!(recording.events.last().unwrap().kind, Kind::End);
    }

    #[test]
    fn strikes_know_what_they_met_and_did() {
        let recording = recording(
            r#""faults": [{"at": "2s", "crash": "leader"}, {"at": "2s", "resume": "n1"},
                {"at": "3s", "disk": {"node": "n2", "write": "9ms"}}]"#,
        );
        let [crash, resume, disk] = &recording.strikes[..] else {
            panic!()
        };
        let event = recording.events[crash.events.start];
        assert_eq!((event.kind, crash.effect), (Kind::Crash, true));
        assert_eq!(crash.before.leader, Some(event.actor));
        assert!(!resume.effect && resume.before.leader.is_none());
        assert_eq!((disk.disk, disk.effect), (Some(1), true));
    }

    #[test]
    fn beliefs_are_those_of_the_judge() {
        for seed in 0..20 {
            let json = r#"{"tenure": 1, "scheme": "raft", "nodes": 5, "duration": "6s", "raft": {"safeMode": false},
                "faults": [{"at": "1s", "partition": [["leader"], ["rest"]]}, {"at": "3s", "heal": "all"}]}"#;
            let recording = Recording::of(Scenario::parse(json).unwrap().with_seed(seed)).unwrap();
            let mut overlap = 0;
            for (place, one) in recording.beliefs.iter().enumerate() {
                for other in &recording.beliefs[place + 1..] {
                    overlap += one
                        .until
                        .min(other.until)
                        .saturating_sub(one.from.max(other.from));
                }
            }
            assert_eq!(recording.world.judges().belief().overlap, overlap, "{seed}");
        }
    }
}
