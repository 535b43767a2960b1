//! Commands that only a leader may give, such as "this lease is over": each carries the token of its tenure, and the
//! replicated state keeps a [`Fence`] that admits it or not when it is applied. Where the command stood in between, in a
//! stalled process or forwarded by whoever leads now, makes no difference.

mod cluster;

use cluster::Cluster;
use std::collections::BTreeMap;
use tenure::fence::{ElectionId, Fence, Pass, Refused};
use tenure::log::Position;
use tenure::{Election, Input, NodeId, Standing, Token};

const GROUP: ElectionId = ElectionId(1);
/// How long a lease lasts unless it is renewed, in microseconds.
const TTL: u64 = 4_000_000;
const CLIENTS: [u64; 3] = [71, 72, 73];

#[derive(Clone, Copy, Debug)]
enum Effect {
    /// The leader is another one: nothing of an earlier one counts from here on.
    Fence,
    /// The client's lease, new or renewed.
    Keep(u64),
    Revoke(u64),
}

#[derive(Clone, Copy, Debug)]
struct Command {
    pass: Pass,
    effect: Effect,
}

/// What each node makes of the committed entries.
struct Replica {
    fence: Fence,
    /// Until when each client's lease lasts.
    leases: BTreeMap<u64, u64>,
    applied: u64,
    refused: Vec<Refused>,
}

/// Three nodes, and their hosts: payloads travel by the names of their entries (law C9).
struct Service {
    cluster: Cluster,
    payloads: BTreeMap<Position, Command>,
    replicas: Vec<Replica>,
    /// Whether replicas look at the passes.
    fenced: bool,
}

impl Service {
    fn new(fenced: bool) -> Self {
        let replica = |_| Replica {
            fence: Fence::unused(GROUP),
            leases: BTreeMap::new(),
            applied: 0,
            refused: Vec::new(),
        };
        Self {
            cluster: Cluster::new(3),
            payloads: BTreeMap::new(),
            replicas: (0..3).map(replica).collect(),
            fenced,
        }
    }

    /// What a node may show for its commands now: nothing unless it leads.
    fn pass(&self, place: usize) -> Option<Pass> {
        let machine = self.cluster.machine(place);
        let Standing::Leading(tenure) = machine.standing(self.cluster.clock()) else {
            return None;
        };
        Some(Pass {
            election: GROUP,
            token: tenure.token,
            holder: machine.holder(),
        })
    }

    /// A leader's host proposes a command, its own or one that was forwarded to it, and it is committed.
    fn submit(&mut self, leader: usize, command: Command) {
        let name = self
            .cluster
            .with(leader, |machine, now| machine.propose(now, 1))
            .unwrap();
        self.payloads.insert(name, command);
        self.cluster
            .until("committed", |cluster| cluster.commit(leader) >= name.index);
    }

    /// A leader's own commands.
    fn command(&mut self, leader: usize, effects: impl IntoIterator<Item = Effect>) {
        for effect in effects {
            let pass = self.pass(leader).expect("it leads");
            self.submit(leader, Command { pass, effect });
        }
    }

    /// Lets time pass; those that are not stalled apply what is committed.
    fn run(&mut self, millis: u64) {
        self.cluster.run(millis);
        for (place, replica) in self.replicas.iter_mut().enumerate() {
            if self.cluster.nodes[place].paused {
                continue;
            }
            let machine = self.cluster.machine(place);
            while replica.applied < machine.commit() {
                replica.applied += 1;
                let term = machine.log().term_at(replica.applied).unwrap();
                let name = Position::new(term, replica.applied);
                if let Some(command) = self.payloads.get(&name) {
                    replica.apply(command, self.cluster.now, self.fenced);
                }
            }
        }
    }

    fn leases(&self) -> [Vec<u64>; 3] {
        [0, 1, 2].map(|place: usize| self.replicas[place].leases.keys().copied().collect())
    }
}

impl Replica {
    fn apply(&mut self, command: &Command, now: u64, fenced: bool) {
        if let Err(refused) = self.fence.admit(&command.pass) {
            self.refused.push(refused);
            if fenced {
                return;
            }
        }
        match command.effect {
            Effect::Fence => {}
            Effect::Keep(client) => drop(self.leases.insert(client, now + TTL)),
            Effect::Revoke(client) => drop(self.leases.remove(&client)),
        }
    }

    /// What a leader with this state would revoke.
    fn expired(&self, now: u64) -> Vec<Effect> {
        let over =
            |(client, until): (&u64, &u64)| (*until <= now).then_some(Effect::Revoke(*client));
        self.leases.iter().filter_map(over).collect()
    }
}

/// The old leader stalls for five seconds, meanwhile the new one renews all leases. Answers the service as the old one
/// thaws, with the revocations it had been about to give, and the leader of now.
fn stalled(fenced: bool) -> (Service, Vec<Command>, usize) {
    let mut service = Service::new(fenced);
    service.cluster.elect(0);
    service.command(0, [Effect::Fence]);
    service.command(0, CLIENTS.map(Effect::Keep));
    service.run(50);
    assert_eq!(service.leases(), [CLIENTS; 3].map(Vec::from));

    // It looked whether it leads, and then its disk took five seconds for a write.
    let pass = service.pass(0).unwrap();
    service.cluster.nodes[0].paused = true;
    service.cluster.until("another leads", |cluster| {
        cluster.leading().iter().any(|place| *place != 0)
    });
    let new = *service.cluster.leading().last().unwrap();
    service.command(new, [Effect::Fence]);
    for _ in 0..5 {
        service.run(1_000);
        service.command(new, CLIENTS.map(Effect::Keep));
    }
    service.cluster.nodes[0].paused = false;
    // By what it knew when it stalled, every lease is over.
    let now = service.cluster.now;
    let effects = service.replicas[0].expired(now);
    let revocations = effects.into_iter().map(|effect| Command { pass, effect });
    let revocations: Vec<Command> = revocations.collect();
    assert_eq!(revocations.len(), CLIENTS.len());
    (service, revocations, new)
}

/// etcd#15247, etcd#12528: the stalled leader wakes up and revokes every lease, by proposals that it forwards to the leader of
/// now. Whoever asks first gives no such command; one that asked before the stall shows a token that is overtaken.
#[test]
fn a_stalled_leader_revokes_nothing() {
    let (mut service, revocations, new) = stalled(true);
    // Before any message is read.
    assert_eq!(service.pass(0), None);
    for command in revocations {
        service.submit(new, command);
    }
    service.run(50);
    assert_eq!(service.leases(), [CLIENTS; 3].map(Vec::from));
    let highest = service.pass(new).unwrap().token;
    for replica in &service.replicas {
        assert_eq!(replica.refused, [Refused::Stale { highest }; 3]);
    }

    // Elected anew it has a token of its own, and what is over by then goes.
    service.run(5_000);
    let resign = Input::Resign {
        to: Some(NodeId(0)),
    };
    service.cluster.input(new, resign);
    service
        .cluster
        .until("it leads again", |cluster| cluster.leading() == [0]);
    assert!(service.pass(0).unwrap().token > highest);
    let now = service.cluster.now;
    let over = service.replicas[0].expired(now);
    assert_eq!(over.len(), CLIENTS.len());
    service.command(0, over);
    service.run(50);
    assert_eq!(service.leases(), [const { Vec::new() }; 3]);
}

/// etcd#15247, etcd#12528 as they were: nobody looks at the token.
#[test]
fn without_a_fence_a_stalled_leader_revokes_everything() {
    let (mut service, revocations, new) = stalled(false);
    assert!(revocations[0].pass.token > Token::NONE);
    for command in revocations {
        service.submit(new, command);
    }
    service.run(50);
    assert_eq!(service.leases(), [const { Vec::new() }; 3]);
}
