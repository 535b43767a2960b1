//! The `drive` loop and the tick façade, each with a small host.

use std::collections::VecDeque;
use tenure::drive::{Host, Wake, drive};
use tenure::membership::Target;
use tenure::quorum::Voters;
use tenure::raft::{Boot, Config, Message, Raft, Replication, Write};
use tenure::tick::Ticked;
use tenure::{Duration, Event, Input, Instant, NodeId, Output, Standing, Ticket};

fn machine(voters: u64, id: u64) -> Raft {
    let voters = Voters::new((0..voters).map(NodeId)).unwrap();
    let boot = Boot {
        stored: None,
        incarnation: 1,
        seed: 42,
    };
    Raft::new(Config::new(NodeId(id), voters), boot, Instant::ZERO).unwrap()
}

/// One node with a disk that answers at the next wait, and time that jumps from deadline to deadline.
#[derive(Default)]
struct Alone {
    now: Instant,
    replies: VecDeque<Ticket>,
    writes: Vec<Write>,
    events: Vec<Event>,
    waits: u32,
    /// Something that arrives at every wait.
    flood: bool,
    /// How many entries are still to be proposed, one whenever all is carried out.
    to_propose: u32,
    /// The highest commit index that was looked at.
    committed: u64,
}

impl Host<Raft> for Alone {
    fn now(&mut self) -> Instant {
        self.now
    }

    fn send(&mut self, to: NodeId, message: Message) {
        panic!("a group of one has nobody to send {message:?} to: {to}");
    }

    fn request(&mut self, ticket: Ticket, write: Write) {
        self.writes.push(write);
        self.replies.push_back(ticket);
    }

    fn event(&mut self, event: Event) {
        self.events.push(event);
    }

    fn settled(&mut self, machine: &mut Raft) {
        self.committed = machine.commit();
        if self.to_propose > 0 && machine.propose(self.now, 1).is_ok() {
            self.to_propose -= 1;
        }
    }

    fn wait(&mut self, deadline: Option<Instant>) -> Wake<Raft> {
        self.waits += 1;
        if self.waits > 100 {
            return Wake::Stop;
        }
        if let Some(ticket) = self.replies.pop_front() {
            return Wake::Input(Input::Reply(ticket, Ok(())));
        }
        if self.flood {
            self.now = self.now + Duration::from_millis(10);
            return Wake::Input(Input::Peer(NodeId(7), Message::VoteGranted { term: 1 }));
        }
        self.now = deadline.unwrap_or(self.now);
        Wake::Deadline
    }
}

#[test]
fn drive_does_all_a_host_must() {
    let mut host = Alone::default();
    let mut raft = machine(1, 0);
    drive(&mut raft, &mut host);
    assert_eq!(
        host.writes
            .iter()
            .map(|write| write.record.term)
            .collect::<Vec<_>>(),
        [1]
    );
    assert!(
        matches!(host.events[..], [Event::Elected(_), Event::Established(_)]),
        "{:?}",
        host.events
    );
}

/// Input that never stops does not keep the timer from firing.
#[test]
fn drive_lets_due_timeouts_pass_a_flood() {
    let mut host = Alone {
        flood: true,
        ..Alone::default()
    };
    let mut raft = machine(1, 0);
    drive(&mut raft, &mut host);
    assert!(
        host.events
            .iter()
            .any(|event| matches!(event, Event::Established(_))),
        "{:?}",
        host.events
    );
}

fn ticked(id: u64, tick: Duration) -> Ticked<Raft> {
    let voters = Voters::new((0..3).map(NodeId)).unwrap();
    let mut config = Config::new(NodeId(id), voters);
    config.timing.grain = tick;
    let boot = Boot {
        stored: None,
        incarnation: 1,
        seed: 42,
    };
    Ticked::new(
        Raft::new(config, boot, Instant::ZERO).unwrap(),
        Instant::ZERO,
        tick,
    )
    .unwrap()
}

/// Carries out everything at once, between the nodes that are reached.
fn settle(nodes: &mut [Ticked<Raft>], reached: &[bool; 3]) {
    let mut busy = true;
    while busy {
        busy = false;
        for from in 0..3usize {
            while let Some(output) = nodes[from].poll() {
                busy = true;
                match output {
                    Output::Request(ticket, _) => nodes[from].reply(ticket, Ok(())),
                    Output::Send(to, message) if reached[from] && reached[to.0 as usize] => {
                        nodes[to.0 as usize].step(NodeId(from as u64), message);
                    }
                    Output::Send(..) | Output::Event(_) => {}
                }
            }
        }
    }
}

fn leaders(nodes: &[Ticked<Raft>]) -> Vec<usize> {
    (0..3)
        .filter(|place| matches!(nodes[*place].standing(), Standing::Leading(_)))
        .collect()
}

/// A machine whose bounds know nothing of ticks is not counted in them.
#[test]
fn a_tick_must_fit_the_grain() {
    let refused = Ticked::new(machine(3, 0), Instant::ZERO, Duration::from_millis(10)).unwrap_err();
    assert_eq!(refused.grain, Duration::from_micros(1));
    assert!(
        refused.to_string().contains("at least one tick"),
        "{refused}"
    );
}

/// Three nodes whose ticks fall at different moments; the leader is cut off right after a round, and another is made to
/// campaign as soon as its promise ends. Their beliefs never meet, whatever the phases: the grain covers them.
#[test]
fn ticks_out_of_phase_never_overlap() {
    let tick = Duration::from_millis(10);
    for cut in (500..2_000).step_by(50) {
        let mut nodes: Vec<_> = (0..3).map(|id| ticked(id, tick)).collect();
        let (phases, mut reached) = ([0u64, 9, 9], [true; 3]);
        for now in 1..cut + 260u64 {
            for node in (0..3).filter(|node| now % 10 == phases[*node]) {
                nodes[node].tick();
                settle(&mut nodes, &reached);
            }
            if now == 20 {
                nodes[0].campaign();
                settle(&mut nodes, &reached);
            }
            if now >= cut
                && reached[0]
                && nodes[0].machine().armed_at() == Instant::from_millis(now)
            {
                reached[0] = false;
            }
            let free = nodes[1]
                .machine()
                .promise()
                .is_some_and(|promise| promise.until <= Instant::from_millis(now + 1));
            if !reached[0] && now % 10 == 9 && free {
                nodes[1].campaign();
                settle(&mut nodes, &reached);
            }
            assert!(
                leaders(&nodes).len() <= 1,
                "at {now} ms {:?} believe",
                leaders(&nodes)
            );
        }
        assert_eq!(leaders(&nodes).len(), 1, "the others elected one of them");
    }
}

/// A campaign waits for no tick: nobody has promised anything yet.
#[test]
fn a_ticked_node_campaigns_at_once() {
    let mut nodes: Vec<_> = (0..3)
        .map(|id| ticked(id, Duration::from_millis(10)))
        .collect();
    nodes[1].campaign();
    settle(&mut nodes, &[true; 3]);
    assert_eq!(leaders(&nodes), [1]);
}

/// Three nodes counted in ticks of ten milliseconds, messages and disks at once: one leads, and a resignation moves it.
#[test]
fn ticked_nodes_elect_and_hand_over() {
    let tick = Duration::from_millis(10);
    let mut nodes: Vec<_> = (0..3).map(|id| ticked(id, tick)).collect();
    for _ in 0..40 {
        nodes.iter_mut().for_each(Ticked::tick);
        settle(&mut nodes, &[true; 3]);
    }
    let [leader] = leaders(&nodes)[..] else {
        panic!("one leader: {:?}", leaders(&nodes))
    };
    let successor = (leader + 1) % 3;
    nodes[leader].resign(Some(NodeId(successor as u64)));
    settle(&mut nodes, &[true; 3]);
    assert_eq!(
        leaders(&nodes),
        [successor],
        "the successor needs one round, no timeout"
    );
    assert_eq!(nodes[successor].machine().term(), 2);
    nodes[leader].campaign();
    settle(&mut nodes, &[true; 3]);
    assert_eq!(
        leaders(&nodes),
        [successor],
        "a live leader is not disturbed"
    );
}

/// The host proposes when all is carried out, and what it proposed is written and committed without another input.
#[test]
fn a_driven_machine_commits_what_its_host_proposes() {
    let mut alone = machine(1, 0).config().clone();
    alone.replication = Some(Replication::default());
    let boot = Boot {
        stored: None,
        incarnation: 1,
        seed: 42,
    };
    let mut alone = Raft::new(alone, boot, Instant::ZERO).unwrap();
    let mut host = Alone {
        to_propose: 3,
        ..Alone::default()
    };
    drive(&mut alone, &mut host);
    // The entry of its term, and those three.
    assert_eq!((host.to_propose, host.committed), (0, 4));
}

/// All that etcd's `Node` offers, on ticks.
#[test]
fn a_group_that_counts_ticks_replicates_reads_changes_and_hands_over() {
    let tick = Duration::from_millis(10);
    let mut nodes: Vec<_> = (0..3)
        .map(|id| {
            let mut config = ticked(id, tick).machine().config().clone();
            config.replication = Some(Replication::default());
            let boot = Boot {
                stored: None,
                incarnation: 1,
                seed: 42,
            };
            let machine = Raft::new(config, boot, Instant::ZERO).unwrap();
            Ticked::new(machine, Instant::ZERO, tick).unwrap()
        })
        .collect();
    nodes[0].campaign();
    settle(&mut nodes, &[true; 3]);
    assert_eq!(leaders(&nodes), [0]);
    assert_eq!(nodes[0].propose(2).unwrap().index, 2);
    settle(&mut nodes, &[true; 3]);
    assert!(nodes.iter().all(|node| node.machine().commit() == 3));
    let read = nodes[1].read().unwrap();
    settle(&mut nodes, &[true; 3]);
    let served = nodes[1].poll_read();
    assert_eq!(
        served,
        Some(tenure::raft::Served::Ready {
            upto: read,
            index: 3
        })
    );
    assert_eq!(nodes[0].read_leased().unwrap().index, 3);
    assert_eq!(nodes[0].compact(2).unwrap().index, 2);
    let target = Target {
        voters: Voters::new([NodeId(0), NodeId(1)]).unwrap(),
        learners: vec![NodeId(2)],
    };
    nodes[0].change(&target).unwrap();
    settle(&mut nodes, &[true; 3]);
    assert_eq!(nodes[1].machine().membership().voters().count(), 2);
    nodes[0].transfer(NodeId(1)).unwrap();
    settle(&mut nodes, &[true; 3]);
    assert_eq!(leaders(&nodes), [1]);
}
