//! Votes, epochs and configurations by hand: what one sentinel says, writes and believes.

use super::desk::{Desk, Flight};
use super::plan::{Plan, SEC, server};
use tenure::sentinel::{
    Boot, FailoverRefused, File, Hello, Invariant, Life, MasterName, Message, Refusal, Rule, RunId,
    Sentinel, Switched,
};
use tenure::{
    Election, Event, Input, Instant, NodeId, Output, Standing, Ticket, Token, Unknown, Why,
};

const A: MasterName = MasterName(0);
const ME: NodeId = NodeId(1);
/// What a machine says to whom, and what it asks the disk for.
pub(super) type Done = (Vec<(NodeId, Message)>, Vec<(Ticket, File)>);

/// One machine on its own, with a file, and what it says.
pub(super) struct Alone {
    pub(super) machine: Sentinel<Switched>,
    pub(super) now: u64,
}

impl Alone {
    pub(super) fn new(plan: &Plan) -> Self {
        Self::with(plan, plan.file(ME))
    }

    fn with(plan: &Plan, file: File) -> Self {
        let boot = Boot {
            stored: Some(file),
            incarnation: 5,
            seed: 1,
        };
        let machine =
            Sentinel::with_rules(plan.config(ME), boot, Instant::from_micros(SEC), plan.rules);
        Self {
            machine: machine.unwrap(),
            now: SEC,
        }
    }

    /// Takes one input; what it says to whom, and what it asks the disk for.
    pub(super) fn take(&mut self, input: Input<Message, ()>) -> Done {
        let now = Instant::from_micros(self.now);
        self.machine.handle(now, input);
        let (mut said, mut asked) = (Vec::new(), Vec::new());
        while let Some(output) = self.machine.poll() {
            match output {
                Output::Send(to, message) => said.push((to, message)),
                Output::Request(ticket, file) => asked.push((ticket, file)),
                Output::Event(_) => {}
            }
        }
        (said, asked)
    }

    pub(super) fn hear(&mut self, from: u64, message: Message) -> Done {
        self.take(Input::Peer(NodeId(from), message))
    }

    /// Is asked for its vote, and the disk is quick: whom it voted for.
    pub(super) fn ask(&mut self, candidate: u64, epoch: u64) -> Option<(RunId, u64)> {
        let (mut said, asked) = self.hear(candidate, ask(candidate, epoch));
        for (ticket, _) in asked {
            said.extend(self.take(Input::Reply(ticket, Ok(()))).0);
        }
        said.into_iter().find_map(|(_, message)| match message {
            Message::Answer { leader, epoch, .. } => Some(leader.map(|leader| (leader, epoch))),
            _ => None,
        })?
    }

    fn view(&self) -> (u64, NodeId) {
        let master = self.machine.master(A).unwrap();
        (master.config_epoch(), master.address())
    }
}

pub(super) fn ask(candidate: u64, epoch: u64) -> Message {
    Message::Ask {
        query: Ticket {
            incarnation: 9,
            number: epoch,
        },
        master: server(0, 0),
        epoch,
        candidate: Some(RunId(candidate)),
    }
}

pub(super) fn hello(from: u64, current_epoch: u64, master: NodeId, config_epoch: u64) -> Message {
    Message::Hello(Hello {
        sentinel: NodeId(from),
        id: RunId(from),
        current_epoch,
        name: A,
        master,
        config_epoch,
    })
}

#[test]
fn a_vote_is_given_once_and_the_answer_names_the_older_one() {
    let mut one = Alone::new(&Plan::default());
    assert_eq!(one.ask(2, 7), Some((RunId(2), 7)));
    // SEN-V3.
    assert_eq!(one.ask(3, 7), Some((RunId(2), 7)));
    assert_eq!(one.ask(3, 6), Some((RunId(2), 7)));
    assert_eq!(one.ask(3, 8), Some((RunId(3), 8)));
    assert_eq!(one.machine.current_epoch(), 8);
    // After a restart it votes in no epoch twice, and does not remember whom it voted for.
    let (_, mut asked) = one.hear(2, ask(2, 9));
    let mut back = Alone::with(&Plan::default(), asked.remove(0).1);
    assert_eq!(back.ask(3, 9), None);
    assert_eq!(back.ask(3, 10), Some((RunId(3), 10)));
    // Without the rule.
    let mut off = Alone::new(&Plan {
        rules: Switched::without(&[Rule::OneVoteAnEpoch]),
        ..Plan::default()
    });
    assert_eq!(off.ask(2, 7), Some((RunId(2), 7)));
    assert_eq!(off.ask(3, 7), Some((RunId(3), 7)));
}

#[test]
fn a_vote_waits_for_the_disk_and_a_question_without_one_does_not() {
    let mut one = Alone::new(&Plan::default());
    let (said, asked) = one.hear(2, ask(2, 7));
    assert!(said.is_empty() && asked.len() == 1);
    assert_eq!(asked[0].1.masters[0].leader_epoch, 7);
    // A ping does not speak of the file.
    let query = Ticket {
        incarnation: 9,
        number: 1,
    };
    let (said, _) = one.hear(3, Message::Ping { query });
    let life = Life::Pong;
    assert_eq!(said, [(NodeId(3), Message::Pong { query, life })]);
    let (said, _) = one.take(Input::Reply(asked[0].0, Ok(())));
    assert_eq!(said.len(), 1);
    // What is asked without a candidate is answered without a vote.
    let (said, asked) = one.hear(
        3,
        Message::Ask {
            query,
            master: server(0, 0),
            epoch: 90,
            candidate: None,
        },
    );
    assert!(asked.is_empty());
    assert!(matches!(
        said[..],
        [(
            _,
            Message::Answer {
                leader: None,
                down: false,
                ..
            }
        )]
    ));
    assert_eq!(one.machine.current_epoch(), 7);
}

#[test]
fn a_failed_write_ends_the_life() {
    let mut one = Alone::new(&Plan::default());
    let (_, asked) = one.hear(2, ask(2, 7));
    let (said, _) = one.take(Input::Reply(asked[0].0, Err(Unknown)));
    assert!(said.is_empty() && one.machine.is_halted());
    assert_eq!(one.machine.deadline(), None);
    assert_eq!(one.hear(3, ask(3, 8)), (vec![], vec![]));
    assert_eq!(one.machine.leader_of(A), None);
    let at = Instant::from_micros(one.now);
    assert_eq!(one.machine.standing(at), Standing::Unknown);
    assert_eq!(one.machine.failover(at, A), Err(FailoverRefused::Halted));
}

#[test]
fn only_a_later_configuration_is_adopted() {
    let mut one = Alone::new(&Plan::default());
    let (old, new) = (server(0, 0), server(0, 1));
    one.hear(2, hello(2, 5, new, 5));
    assert_eq!(one.view(), (5, new));
    let master = one.machine.master(A).unwrap();
    let replicas: Vec<_> = master.replicas().iter().map(|one| one.node()).collect();
    assert_eq!(replicas, [old, server(0, 2)]);
    for late in [
        hello(3, 5, old, 4),
        hello(3, 5, old, 5),
        hello(3, 9, old, 0),
    ] {
        one.hear(3, late);
        assert_eq!(one.view(), (5, new));
    }
    // An epoch alone rises without a change of address, and never beyond what its sender has entered.
    one.hear(3, hello(3, 9, new, 7));
    assert_eq!(one.view(), (7, new));
    one.hear(3, hello(3, 7, old, 8));
    assert_eq!(one.view(), (7, new));
    assert_eq!(one.machine.refusals().count(Refusal::ImpossibleEpoch), 1);
    let mut off = Alone::new(&Plan {
        rules: Switched::without(&[Rule::ConfigEpochRises]),
        ..Plan::default()
    });
    off.hear(2, hello(2, 5, new, 5));
    off.hear(3, hello(3, 5, old, 4));
    assert_eq!(off.view(), (4, old));
}

#[test]
fn clients_are_told_of_a_configuration_once_the_disk_holds_it() {
    let mut one = Alone::new(&Plan::default());
    let (_, asked) = one.hear(2, hello(2, 5, server(0, 1), 5));
    assert_eq!(one.machine.leader_of(A).unwrap().node, server(0, 0));
    one.take(Input::Reply(asked[0].0, Ok(())));
    let leader = one.machine.leader_of(A).unwrap();
    assert_eq!(
        (leader.node, leader.token),
        (server(0, 1), Token::new(0, 5))
    );
}

/// S1 has chosen a replica at epoch 1 and cannot reach it; by then the master was replaced at 2, and is the master again at 3.
fn overtaken(rules: Switched) -> Desk {
    let mut desk = Desk::new(Plan {
        replicas: 1,
        failover_timeout: 60 * SEC,
        rules,
        ..Plan::default()
    });
    desk.run_for(12 * SEC);
    let old = server(0, 0);
    assert!(desk.failover(ME, 0));
    let waits = |desk: &Desk| !desk.told("+failover-state-wait-promotion").is_empty();
    desk.gate = Some(Box::new(move |_, flight: &Flight| {
        let orders = matches!(flight.message, Message::ReplicaOf(_));
        // What the replica says of itself to S1 is late, and so is the order.
        let told = matches!(flight.message, Message::Told { .. }) && flight.to == ME;
        !orders && !told && !matches!(flight.message, Message::Hello(_))
    }));
    assert!(desk.run_till(5 * SEC, waits));
    desk.inject(NodeId(2), ME, hello(2, 3, old, 3));
    desk.run_for(SEC);
    // Now the order is obeyed, and S1 hears of it.
    desk.gate = Some(Box::new(|_, flight: &Flight| {
        !matches!(flight.message, Message::Hello(_))
    }));
    desk.run_for(5 * SEC);
    desk
}

#[test]
fn an_overtaken_failover_is_given_up() {
    let off = overtaken(Switched::without(&[Rule::OvertakenGivesUp]));
    assert_eq!(off.judge.broken()[0], Invariant::ConfigMonotone);
    let on = overtaken(Switched::default());
    assert_eq!(on.judge.broken(), []);
    assert_eq!(on.told("-failover-abort-overtaken").len(), 1);
    let deposed = (on.events.iter())
        .any(|(_, by, event)| *by == ME && matches!(event, Event::Deposed(_, Why::HigherTerm)));
    assert!(deposed);
}

#[test]
fn a_majority_is_needed_beside_the_quorum() {
    // Two of five answer S1.
    let schedule = |rules| {
        let mut desk = Desk::new(Plan {
            sentinels: 5,
            rules,
            ..Plan::default()
        });
        desk.run_for(12 * SEC);
        desk.crash(server(0, 0));
        desk.gate = Some(Box::new(|_, flight: &Flight| match flight.message {
            Message::Ask { .. } => (flight.from, flight.to) == (ME, NodeId(2)),
            _ => true,
        }));
        desk.run_for(20 * SEC);
        desk
    };
    let off = schedule(Switched::without(&[Rule::MajorityBesidesQuorum]));
    assert_eq!(off.judge.broken()[0], Invariant::MajorityAuthorised);
    let on = schedule(Switched::default());
    assert_eq!(on.judge.broken(), []);
    assert!(!on.told("-failover-abort-not-elected").is_empty());
}

#[test]
fn sentinels_find_each_other_and_the_replicas() {
    let mut desk = Desk::new(Plan {
        acquainted: false,
        ..Plan::default()
    });
    desk.run_for(15 * SEC);
    for id in [1, 2, 3].map(NodeId) {
        let master = desk.machine(id).master(A).unwrap();
        assert_eq!((master.voters(), master.replicas().len()), (3, 2));
        // And keep what they found.
        let file = desk.seats[&id].disk.clone().unwrap();
        assert_eq!(file.masters[0].sentinels.len(), 2);
        assert_eq!(file.id, desk.machine(id).id());
    }
}
