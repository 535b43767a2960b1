//! By hand: what was reported of Kafka's controller, and its rules one by one.

use super::store::{DELETED, Kafka};
use super::{common, config};
use crate::storm::Store;
use crate::zookeeper::store::Faults;
use tenure::fence::{ElectionId, Fence, Holder, Pass, Refused};
use tenure::lease::zookeeper::controller::{Controller, Request};
use tenure::lease::zookeeper::{Path, Reply, SessionId, Stat};
use tenure::lease::{Boot, Identity, Refusal, Rule, Switched};
use tenure::random::Random;
use tenure::{
    Election, Event, Input, Instant, Leader, Output, Standing, Tenure, Token, Unknown, Why,
};

const SECOND: u64 = 1_000_000;

/// What becomes of a request.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Answered,
    /// It is carried out, and nobody says so.
    Unanswered,
    /// It never arrives.
    Lost,
}

struct Node {
    machine: Controller<Switched>,
    events: Vec<Event>,
    asked: Vec<Request>,
    fate: fn(&Request) -> Fate,
    paused: bool,
}

struct Desk {
    store: Kafka,
    nodes: Vec<Node>,
    now: u64,
}

impl Desk {
    fn new(names: &[&str]) -> Self {
        let mut desk = Self {
            store: Kafka::new(0, Faults::None),
            nodes: Vec::new(),
            now: 0,
        };
        for name in names {
            desk.join(name, Switched::default(), |_| Fate::Answered);
        }
        desk
    }

    fn join(&mut self, name: &str, rules: Switched, fate: fn(&Request) -> Fate) -> usize {
        let boot = Boot {
            incarnation: 1 + self.nodes.len() as u64,
            seed: self.nodes.len() as u64,
        };
        let machine = Controller::with_rules(config(common(name)), boot, self.at(), rules);
        self.nodes.push(Node {
            machine: machine.unwrap(),
            events: Vec::new(),
            asked: Vec::new(),
            fate,
            paused: false,
        });
        self.serve();
        self.nodes.len() - 1
    }

    fn at(&self) -> Instant {
        Instant::from_micros(self.now)
    }

    /// Until so many seconds have passed.
    fn run(&mut self, seconds: u64) {
        let end = self.now + seconds * SECOND;
        while self.now < end {
            let awake = self.nodes.iter().filter(|node| !node.paused);
            let due = awake.filter_map(|node| node.machine.deadline().map(Instant::as_micros));
            let store = <Kafka as Store<Controller<Switched>>>::due(&self.store);
            let next = due.chain(store).min().unwrap_or(end);
            self.now = next.clamp(self.now + 1, end);
            <Kafka as Store<Controller<Switched>>>::wake(&mut self.store, self.now);
            for me in 0..self.nodes.len() {
                self.feed(me, Input::Timeout);
            }
        }
    }

    fn feed(&mut self, me: usize, input: Input<core::convert::Infallible, Reply>) {
        let now = self.at();
        if !self.nodes[me].paused {
            self.nodes[me].machine.handle(now, input);
        }
        self.serve();
    }

    fn serve(&mut self) {
        loop {
            let mut quiet = true;
            for me in 0..self.nodes.len() {
                while let Some(output) = self.nodes[me].machine.poll() {
                    quiet = false;
                    match output {
                        Output::Event(event) => self.nodes[me].events.push(event),
                        Output::Request(ticket, request) => {
                            let fate = (self.nodes[me].fate)(&request);
                            self.nodes[me].asked.push(request.clone());
                            if fate != Fate::Lost {
                                // What nobody says is said under a ticket of nobody's.
                                let mut to = ticket;
                                to.incarnation +=
                                    if fate == Fate::Unanswered { 1 << 40 } else { 0 };
                                let store = &mut self.store;
                                <Kafka as Store<Controller<Switched>>>::ask(
                                    store, self.now, me, to, request,
                                );
                            }
                        }
                        Output::Send(_, never) => match never {},
                    }
                }
            }
            while let Some((to, ticket, reply)) = self.store.model.said() {
                quiet = false;
                let now = self.at();
                if !self.nodes[to].paused && ticket.incarnation < 1 << 40 {
                    self.nodes[to]
                        .machine
                        .handle(now, Input::Reply(ticket, Ok(reply)));
                }
            }
            if quiet {
                return;
            }
        }
    }

    fn tenure(&self, me: usize) -> Option<Tenure> {
        match self.nodes[me].machine.standing(self.at()) {
            Standing::Leading(tenure) => Some(tenure),
            _ => None,
        }
    }

    fn leaders(&self) -> Vec<usize> {
        (0..self.nodes.len())
            .filter(|me| self.tenure(*me).is_some())
            .collect()
    }

    fn ends(&self, me: usize) -> Vec<(u64, Why)> {
        let ended = |event: &Event| match event {
            Event::Deposed(token, why) => Some((token.counter, *why)),
            _ => None,
        };
        self.nodes[me].events.iter().filter_map(ended).collect()
    }
}

fn path(name: &str) -> Path {
    format!("{}/{name}", config(common("anna")).parent).into()
}

fn claims(request: &Request) -> bool {
    matches!(request, Request::Claim { .. })
}

fn token(counter: u64) -> Token {
    Token::new(0, counter)
}

/// KZ-1, KZ-2, KZ-3: who comes first claims, in an epoch that is made when there is none; the others see it, and in which.
#[test]
fn the_first_is_elected_and_the_others_see_it() {
    let mut desk = Desk::new(&["anna", "ben"]);
    desk.run(1);
    assert_eq!(desk.leaders(), [0]);
    assert_eq!(desk.tenure(0).map(|tenure| tenure.token), Some(token(1)));
    let leader = Leader {
        node: Identity::new("anna").unwrap().node(),
        token: token(1),
    };
    assert_eq!(
        desk.nodes[1].machine.standing(desk.at()),
        Standing::Following(leader)
    );
    assert_eq!(
        desk.nodes[1].machine.holder().unwrap().identity.name(),
        "anna"
    );
    assert_eq!(desk.store.epoch(&path("controller_epoch")), 1);
    assert!(desk.nodes[1].machine.guard().is_none());
}

/// peers.md §4.2, 6: all that watch it race when it goes; one wins, in the next epoch, and the others wait on.
#[test]
fn all_race_when_it_goes_and_one_wins() {
    let mut desk = Desk::new(&["anna", "ben", "cleo", "dora"]);
    desk.run(5);
    desk.feed(0, Input::Resign { to: None });
    let raced = (1..4)
        .filter(|me| desk.nodes[*me].asked.iter().any(claims))
        .count();
    assert_eq!(raced, 3, "every one that watched");
    desk.run(5);
    assert_eq!((desk.leaders().len(), desk.store.seen.get().claims), (1, 2));
    let leader = desk.leaders()[0];
    assert_eq!(
        desk.tenure(leader).map(|tenure| tenure.token),
        Some(token(2))
    );
    assert_eq!(desk.ends(0), [(1, Why::Resigned)]);
}

/// KAFKA-6082: a controller that was paused for longer than its session rewrites the state of partitions before it notices that
/// another was elected. Its writes carry the version of the epoch that it was elected in.
#[test]
fn a_zombie_controller_writes_nothing() {
    for (rules, taken) in [
        (Switched::default(), false),
        (Switched::without(&[Rule::GuardedWrites]), true),
    ] {
        let mut desk = Desk::new(&[]);
        let first = desk.join("anna", rules, |_| Fate::Answered);
        desk.join("ben", rules, |_| Fate::Answered);
        desk.run(5);
        let guard = desk.nodes[first].machine.guard().unwrap();
        assert!(desk.store.write(1, &guard), "while it leads");
        desk.nodes[first].paused = true;
        desk.run(30);
        assert_eq!(desk.tenure(1).map(|tenure| tenure.token), Some(token(2)));
        // It wakes, and carries out what it had still to do.
        assert_eq!(desk.store.write(1, &guard), taken);
        assert_eq!(desk.store.seen.get().stale, u64::from(taken));
        desk.nodes[first].paused = false;
        desk.run(1);
        assert_eq!(desk.ends(first), [(1, Why::Lapsed)]);
        assert_eq!(desk.leaders(), [1]);
    }
}

/// The same, when a write of the host is the first to notice.
#[test]
fn a_controller_that_moved_resigns() {
    let mut desk = Desk::new(&["anna", "ben"]);
    desk.run(5);
    let now = desk.at();
    // Of another tenure it is no news.
    desk.nodes[0].machine.moved(now, token(7));
    assert_eq!(desk.leaders(), [0]);
    desk.nodes[0].machine.moved(now, token(1));
    desk.serve();
    // It gives up its node, and the next comes.
    assert_eq!(
        (desk.leaders(), desk.ends(0)),
        (vec![1], vec![(1, Why::Taken)])
    );
}

/// A claim is a write like others: what it says of the session is proven by the next, a tick later.
#[test]
fn who_waited_for_longer_than_a_session_leads_once_its_claim_is_proven() {
    let mut desk = Desk::new(&["anna", "ben"]);
    desk.run(20);
    desk.feed(0, Input::Resign { to: None });
    assert_eq!((desk.store.seen.get().claims, desk.leaders().len()), (2, 0));
    desk.run(1);
    assert_eq!(desk.leaders().len(), 0);
    desk.run(2);
    assert_eq!(desk.leaders(), [1]);
}

/// KAFKA-1188: a request that was in the queue of a controller when it was replaced reaches a broker after one of its successor.
/// KAFKA-4447: one that resigned has nothing to act with any more.
#[test]
fn a_broker_takes_no_command_of_an_earlier_epoch() {
    let mut desk = Desk::new(&["anna", "ben"]);
    desk.run(5);
    let mut broker = Fence::unused(ElectionId(1));
    let command = |desk: &Desk, me: usize| Pass {
        election: ElectionId(1),
        token: desk.tenure(me).unwrap().token,
        holder: Holder {
            node: tenure::NodeId(me as u64),
            incarnation: 1,
        },
    };
    let first = command(&desk, 0);
    assert!(broker.admit(&first).is_ok());
    desk.feed(0, Input::Resign { to: None });
    assert!(desk.nodes[0].machine.guard().is_none());
    desk.run(5);
    assert!(broker.admit(&command(&desk, 1)).is_ok());
    // KZ-NoStaleCommand.
    assert!(matches!(broker.admit(&first), Err(Refused::Stale { .. })));
}

/// KAFKA-1029, KAFKA-1451, KAFKA-2437: a broker is back before the session of its former life is over. It finds a node that
/// names it, believes that it is elected, and when the node goes nobody elects.
#[test]
fn the_node_of_a_former_life_is_not_the_own_one() {
    for (rules, believes) in [
        (Switched::default(), false),
        (Switched::without(&[Rule::OwnSession]), true),
    ] {
        let mut desk = Desk::new(&[]);
        let former = desk.join("anna", rules, |_| Fate::Answered);
        desk.run(4);
        desk.nodes[former].paused = true;
        let present = desk.join("anna", rules, |_| Fate::Answered);
        desk.run(3);
        // KZ-OneControllerPerEpoch.
        let twice = desk
            .tenure(present)
            .is_some_and(|tenure| tenure.token == token(1));
        assert_eq!(twice, believes);
        if !believes {
            desk.run(12);
            assert_eq!(
                desk.tenure(present).map(|tenure| tenure.token),
                Some(token(2))
            );
        }
    }
}

/// KZ-F3, KAFKA-1096: what another writes into the epoch is not the own one; nor does a controller go on under it.
#[test]
fn a_controller_learns_its_epoch_from_its_own_claim_alone() {
    let mut desk = Desk::new(&["anna"]);
    desk.run(5);
    desk.store
        .model
        .write(&path("controller_epoch"), &"7".into());
    desk.serve();
    assert_eq!(desk.tenure(0).map(|tenure| tenure.token), Some(token(1)));
    // Its own node is there, in an epoch that it did not claim: given up, and claimed anew.
    desk.run(30);
    assert_eq!(desk.ends(0), [(1, Why::Taken)]);
    assert_eq!(desk.tenure(0).map(|tenure| tenure.token), Some(token(8)));
}

/// KZ-4: the answer to a claim is lost, and the claim was granted.
#[test]
fn a_claim_whose_answer_is_lost_is_found_again() {
    let mut desk = Desk::new(&[]);
    desk.join("anna", Switched::default(), |request| {
        if claims(request) {
            Fate::Unanswered
        } else {
            Fate::Answered
        }
    });
    desk.run(9);
    assert_eq!(desk.tenure(0).map(|tenure| tenure.token), Some(token(1)));
    assert_eq!(desk.store.seen.get().claims, 1);
}

/// KZ-4: the claim itself is lost, and another's is granted meanwhile.
#[test]
fn a_claim_that_is_lost_leaves_another_to_follow() {
    let mut desk = Desk::new(&[]);
    desk.join("anna", Switched::default(), |request| {
        if claims(request) {
            Fate::Lost
        } else {
            Fate::Answered
        }
    });
    desk.join("ben", Switched::default(), |_| Fate::Answered);
    desk.run(9);
    assert_eq!(desk.leaders(), [1]);
    let standing = desk.nodes[0].machine.standing(desk.at());
    assert!(matches!(standing, Standing::Following(leader) if leader.token == token(1)));
}

/// KZ-5: the node is deleted, by whoever; told by its watch, the controller resigns at once.
#[test]
fn a_controller_whose_node_is_deleted_resigns() {
    let mut desk = Desk::new(&["anna", "ben"]);
    desk.run(5);
    desk.store.model.delete(&path("controller"));
    desk.serve();
    assert_eq!(desk.ends(0), [(1, Why::Taken)]);
    desk.run(5);
    assert_eq!(desk.leaders().len(), 1);
    assert_eq!(desk.store.epoch(&path("controller_epoch")), 2);
}

#[test]
fn who_withdraws_leaves_at_once_and_for_good() {
    let mut desk = Desk::new(&["anna", "ben"]);
    desk.run(5);
    let now = desk.at();
    desk.nodes[0].machine.withdraw(now);
    assert!(desk.nodes[0].machine.releasing());
    desk.serve();
    desk.run(60);
    assert_eq!(desk.leaders(), [1]);
    assert!(!desk.nodes[0].machine.releasing());
}

/// What the budget says of a takeover: from the crash of who leads until another does.
#[test]
fn a_takeover_takes_no_longer_than_the_budget_says() {
    let mut desk = Desk::new(&["anna", "ben"]);
    let budget = desk.nodes[1].machine.budget().unwrap().takeover;
    for seconds in [5, 20, 33] {
        desk.run(seconds);
        let leader = desk.leaders()[0];
        desk.nodes[leader].paused = true;
        let crashed = desk.at();
        while desk.leaders().iter().all(|me| *me == leader) {
            desk.run(1);
        }
        assert!(desk.at().since(crashed) <= budget, "{budget}");
        desk.nodes[leader].paused = false;
        desk.run(30);
    }
}

/// An epoch that none wrote, or the last there is, is none to follow.
#[test]
fn an_epoch_that_cannot_be_is_refused() {
    for data in ["", "-1", "x", "18446744073709551614"] {
        let mut desk = Desk::new(&["anna"]);
        desk.run(5);
        desk.store
            .model
            .write(&path("controller_epoch"), &data.into());
        desk.run(60);
        assert_eq!(desk.leaders(), [0; 0], "{data}");
        let refusals = desk.nodes[0].machine.refusals();
        assert!(refusals.count(Refusal::TokenExhausted) > 0, "{data}");
    }
}

/// Whatever comes, in whatever order: no panic, and a deadline always.
#[test]
fn wild_answers_are_survived() {
    let mut random = Random::from_seed(7);
    for seed in 0..300 {
        let boot = Boot {
            incarnation: 1,
            seed,
        };
        let mut now = Instant::ZERO;
        let mut machine = Controller::new(config(common("anna")), boot, now).unwrap();
        let mut tickets = Vec::new();
        for _ in 0..200 {
            while let Some(output) = machine.poll() {
                if let Output::Request(ticket, _) = output {
                    tickets.push(ticket);
                }
            }
            let stat = Stat {
                czxid: random.bits(),
                version: random.bits() as i32,
                owner: SessionId(random.below(3) as i64),
            };
            let data =
                ["anna", "0", "9", "", "ben\n1", "99999999999999999999"][random.below(6) as usize];
            let reply = match random.below(14) {
                0 | 1 => Reply::Connected {
                    session: SessionId(random.below(3) as i64),
                    timeout: tenure::Duration::from_millis(random.below(20_000)),
                },
                2 => Reply::Suspended,
                3 => Reply::Expired,
                4 => Reply::Closed,
                5 => Reply::Created(path("controller")),
                6 => Reply::NodeExists,
                7 | 8 => Reply::Data(data.into(), stat),
                9 => Reply::Set(stat),
                10 => Reply::NoNode,
                11 => Reply::BadVersion,
                12 => DELETED,
                _ => Reply::Children(vec![]),
            };
            let result = if random.below(8) == 0 {
                Err(Unknown)
            } else {
                Ok(reply)
            };
            let input = match (random.below(8), tickets.len() as u64) {
                (0, _) | (_, 0) => Input::Timeout,
                (1, _) => Input::Resign { to: None },
                (2, _) => Input::Campaign,
                (_, all) => Input::Reply(tickets[random.below(all) as usize], result),
            };
            now = now + tenure::Duration::from_millis(random.below(2_000));
            machine.handle(now, input);
            while let Some(output) = machine.poll() {
                if let Output::Request(ticket, _) = output {
                    tickets.push(ticket);
                }
            }
            assert!(machine.deadline().is_none_or(|due| due > now), "C2");
            assert!(machine.deadline().is_some(), "it is a candidate");
        }
    }
}
