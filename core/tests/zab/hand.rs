//! A learner whose leader is played by hand, packet by packet: what no leader of this library says.

use super::desk::QUICK;
use tenure::log::Position;
use tenure::zab::{
    Boot, Config, Ensemble, Entries, Link, Message, Notification, Packet, Refusal, Request, Role,
    State, Stored, Vote, Zab,
};
use tenure::{Election, Input, Instant, NodeId, Output, Ticket};

/// Node 0; node 2 leads it, and node 1 follows too.
struct Hand {
    machine: Zab,
    said: Vec<(Link, Packet)>,
    asked: Vec<(Ticket, Request)>,
    number: u64,
    link: Link,
}

const NOW: Instant = Instant::from_micros(1_000);

impl Hand {
    fn new() -> Self {
        let ensemble = Ensemble::majority((0..3).map(NodeId)).unwrap();
        let config = Config {
            timing: QUICK,
            ..Config::new(NodeId(0), ensemble)
        };
        let boot = Boot {
            stored: Some(Stored::default()),
            incarnation: 1,
            seed: 1,
        };
        let link = Link {
            learner: 0,
            leader: 0,
        };
        Self {
            machine: Zab::new(config, boot, NOW).unwrap(),
            said: Vec::new(),
            asked: Vec::new(),
            number: 0,
            link,
        }
    }

    fn drain(&mut self) {
        while let Some(output) = self.machine.poll() {
            match output {
                Output::Send(_, Message::Packet { link, packet, .. }) => {
                    self.said.push((link, packet));
                }
                Output::Request(ticket, request) => self.asked.push((ticket, request)),
                _ => {}
            }
        }
    }

    /// The disk does what it was asked for.
    fn write(&mut self) {
        while let Some((ticket, _)) = self.asked.pop() {
            self.machine.handle(NOW, Input::Reply(ticket, Ok(())));
            self.asked.clear();
            self.drain();
        }
    }

    /// Node 2 is joined, on a new connection.
    fn join(&mut self, drawn: u64) {
        self.said.clear();
        for (from, state) in [(2, State::Leading), (1, State::Following)] {
            let vote = Vote {
                leader: NodeId(2),
                zxid: Some(Position::START),
                epoch: 0,
            };
            let round = 1;
            let told = Notification { state, vote, round };
            let message = Message::Notification(told);
            self.machine.handle(NOW, Input::Peer(NodeId(from), message));
        }
        self.drain();
        assert_eq!(self.machine.role(), Role::Following);
        let learner = self.machine.link(NodeId(2)).unwrap().learner;
        self.link = Link {
            learner,
            leader: drawn,
        };
        self.number = 0;
    }

    fn hear(&mut self, packet: Packet) {
        let message = Message::Packet {
            link: self.link,
            number: self.number,
            packet,
        };
        self.number += 1;
        self.machine.handle(NOW, Input::Peer(NodeId(2), message));
        self.drain();
        self.write();
    }

    fn entries(after: Position, count: u64) -> Packet {
        Packet::Proposal(Entries {
            after,
            epoch: 1,
            count,
        })
    }

    /// Up to date, with five entries delivered.
    fn served() -> Self {
        let mut hand = Self::new();
        hand.join(7);
        hand.hear(Packet::LeaderInfo { epoch: 1 });
        hand.hear(Packet::Diff);
        hand.hear(Packet::NewLeader { epoch: 1 });
        hand.hear(Packet::UpToDate);
        hand.hear(Self::entries(Position::START, 5));
        hand.hear(Packet::Commit { upto: 5 });
        assert_eq!(hand.machine.committed(), 5);
        hand
    }

    fn refused(&self, why: Refusal) -> bool {
        self.machine.refusals().count(why) == 1 && self.machine.role() == Role::Looking
    }
}

/// What was delivered is not cut, whoever asks for it (ZAB-S8).
#[test]
fn what_is_delivered_is_not_cut() {
    let mut hand = Hand::served();
    hand.hear(Packet::Closed);
    assert_eq!(hand.machine.role(), Role::Looking);
    hand.join(8);
    hand.hear(Packet::LeaderInfo { epoch: 1 });
    assert!(matches!(
        hand.said.last(),
        Some((_, Packet::AckEpoch { current: None, .. }))
    ));
    hand.hear(Packet::Trunc {
        to: Position::new(1, 3),
    });
    assert!(hand.refused(Refusal::ContradictsCommitted));
    assert_eq!(hand.machine.last(), Position::new(1, 5));
}

/// What was never proposed is not committed, before this node is up to date and after.
#[test]
fn what_was_not_proposed_is_not_committed() {
    let mut hand = Hand::served();
    hand.hear(Packet::Commit { upto: 6 });
    assert!(hand.refused(Refusal::ContradictsCommitted));
    let mut hand = Hand::new();
    hand.join(7);
    hand.hear(Packet::LeaderInfo { epoch: 1 });
    hand.hear(Packet::Diff);
    hand.hear(Hand::entries(Position::START, 5));
    hand.hear(Packet::Commit { upto: 6 });
    assert!(hand.refused(Refusal::ContradictsCommitted));
    assert_eq!(hand.machine.committed(), 0);
}

/// A packet of another connection of the same learner is none of this one, and is answered by its end.
#[test]
fn both_names_of_a_connection_count() {
    let mut hand = Hand::served();
    hand.said.clear();
    let own = hand.link;
    hand.link.leader = 9;
    hand.hear(Hand::entries(Position::new(1, 5), 1));
    assert_eq!(hand.machine.refusals().count(Refusal::OtherLink), 1);
    assert_eq!(hand.said, [(hand.link, Packet::Closed)]);
    assert_eq!(hand.machine.last(), Position::new(1, 5));
    hand.link = own;
    hand.number -= 1;
    hand.hear(Hand::entries(Position::new(1, 5), 1));
    assert_eq!(hand.machine.last(), Position::new(1, 6));
    assert_eq!(hand.said.last(), Some(&(own, Packet::Ack { upto: 6 })));
}
