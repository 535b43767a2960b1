//! One machine in the hand: it is told this and that, and what it says is looked at.

use tenure::kraft::{
    Body, Boot, Code, Config, Correlation, DirectoryId, Fetched, Head, Kraft, Message, QuorumState,
    ReplicaKey, Role, Stored, VoterSet, Write,
};
use tenure::log::{Position, Shape};
use tenure::{Election, Event, Input, Instant, NodeId, Output, Ticket};

pub(crate) const fn key(id: u64) -> ReplicaKey {
    ReplicaKey::new(NodeId(id), DirectoryId(100 + id))
}

/// Node 0 of the voters 0, 1 and 2, or the observer 9.
pub(crate) fn config(id: u64) -> Config {
    Config::new(NodeId(id), VoterSet::new([key(0), key(1), key(2)]).unwrap())
}

pub(crate) fn state(epoch: u64, leader: Option<u64>, voted: Option<u64>) -> QuorumState {
    QuorumState {
        epoch,
        leader: leader.map(NodeId),
        voted: voted.map(key),
        generation: 0,
    }
}

pub(crate) fn log(runs: &[(u64, u64)]) -> Shape {
    Shape::from_runs(runs.iter().copied()).unwrap()
}

/// A machine and its disk, which answers when it is told to.
pub(crate) struct Hand {
    pub(crate) machine: Kraft,
    pub(crate) now: u64,
    pub(crate) writes: Vec<(Ticket, Write)>,
    pub(crate) sent: Vec<(u64, Message)>,
    pub(crate) events: Vec<Event>,
}

impl Hand {
    pub(crate) fn with(config: Config, stored: Option<Stored>) -> Self {
        let boot = Boot {
            stored,
            directory: DirectoryId(100 + config.id.0),
            incarnation: 1,
            seed: 1,
        };
        let now = Instant::from_millis(1_000);
        let mut hand = Self {
            machine: Kraft::new(config, boot, now).unwrap(),
            now: 1_000,
            writes: Vec::new(),
            sent: Vec::new(),
            events: Vec::new(),
        };
        hand.drain();
        hand
    }

    pub(crate) fn booted(id: u64, state: QuorumState, runs: &[(u64, u64)]) -> Self {
        let log = log(runs);
        Self::with(config(id), Some(Stored { state, log }))
    }

    pub(crate) fn drain(&mut self) {
        while let Some(output) = self.machine.poll() {
            match output {
                Output::Event(event) => self.events.push(event),
                Output::Request(ticket, write) => self.writes.push((ticket, write)),
                Output::Send(to, message) => self.sent.push((to.0, message)),
            }
        }
    }

    pub(crate) fn input(&mut self, input: Input<Message, ()>) {
        self.machine.handle(Instant::from_millis(self.now), input);
        self.drain();
    }

    /// The disk has done all it was asked for.
    pub(crate) fn written(&mut self) {
        while !self.writes.is_empty() {
            let (ticket, _) = self.writes.remove(0);
            self.input(Input::Reply(ticket, Ok(())));
        }
    }

    pub(crate) fn tell_as(&mut self, from: u64, correlation: Correlation, body: Body) {
        let message = Message { correlation, body };
        self.input(Input::Peer(NodeId(from), message));
    }

    /// Another node asks, and the disk is quick: the answer.
    pub(crate) fn ask(&mut self, from: u64, body: Body) -> Option<Body> {
        let correlation = Correlation {
            incarnation: 77,
            number: 5,
        };
        self.sent.clear();
        self.tell_as(from, correlation, body);
        self.written();
        let answers = self.sent.iter().filter(|(to, message)| {
            *to == from && !message.body.is_request() && message.correlation == correlation
        });
        answers.map(|(_, message)| message.body.clone()).next()
    }

    /// What it asks a node, which was not answered yet.
    pub(crate) fn asks(&self, of: u64) -> Option<&Message> {
        let asked = self.sent.iter().rev();
        let mut to = asked.filter(|(to, message)| *to == of && message.body.is_request());
        to.next().map(|(_, message)| message)
    }

    /// A node answers what it was asked last.
    pub(crate) fn answer(&mut self, from: u64, body: Body) {
        let correlation = self.asks(from).expect("a question").correlation;
        self.tell_as(from, correlation, body);
        self.written();
    }

    pub(crate) fn wait_until_due(&mut self) {
        let due = self.machine.deadline().expect("something is due");
        self.now = due.as_micros().div_ceil(1_000).max(self.now);
        self.input(Input::Timeout);
        self.written();
    }

    pub(crate) fn wait_for(&mut self, role: Role) {
        for _ in 0..400 {
            if self.machine.role() == role {
                return;
            }
            self.wait_until_due();
        }
        panic!("never {role:?}: {:?}", self.machine);
    }

    /// A leader of epoch 1 whose own first record is committed, with both followers there.
    pub(crate) fn leading() -> Self {
        let mut hand = Self::booted(0, QuorumState::default(), &[]);
        hand.wait_for(Role::Prospective);
        hand.answer(1, vote_reply(0, true));
        hand.answer(1, vote_reply(1, true));
        assert_eq!(hand.machine.role(), Role::Leader);
        hand.ask(1, fetch(1, 1, Position::new(1, 1)));
        assert_eq!(hand.machine.active(), Some(1));
        hand
    }

    /// A follower of node 1 in epoch 1, which has fetched nothing.
    pub(crate) fn following(runs: &[(u64, u64)]) -> Self {
        Self::booted(0, state(5, Some(1), None), runs)
    }
}

pub(crate) const fn head(code: Code, epoch: u64, leader: Option<u64>) -> Head {
    let leader = match leader {
        Some(id) => Some(NodeId(id)),
        None => None,
    };
    Head {
        code,
        epoch,
        leader,
    }
}

pub(crate) const fn vote_reply(epoch: u64, granted: bool) -> Body {
    Body::VoteReply {
        head: head(Code::None, epoch, None),
        granted,
    }
}

pub(crate) const fn fetch(from: u64, epoch: u64, after: Position) -> Body {
    Body::Fetch {
        epoch,
        after,
        replica: key(from),
        high_watermark: 0,
    }
}

pub(crate) const fn vote(from: u64, epoch: u64, last: Position, pre_vote: bool) -> Body {
    Body::Vote {
        voter: key(0),
        replica: key(from),
        epoch,
        last,
        pre_vote,
    }
}

pub(crate) const fn fetched(
    epoch: u64,
    leader: u64,
    after: Position,
    content: Fetched,
    hw: u64,
) -> Body {
    Body::FetchReply {
        head: head(Code::None, epoch, Some(leader)),
        after,
        content,
        high_watermark: hw,
    }
}

pub(crate) fn granted(answer: Option<Body>) -> Option<bool> {
    match answer? {
        Body::VoteReply { granted, head } => {
            assert!(head.code == Code::None || !granted);
            Some(granted)
        }
        other => panic!("{other:?}"),
    }
}

pub(crate) fn code(answer: Option<Body>) -> Code {
    match answer.expect("an answer") {
        Body::VoteReply { head, .. }
        | Body::FetchReply { head, .. }
        | Body::FetchSnapshotReply { head, .. }
        | Body::BeginQuorumEpochReply(head)
        | Body::EndQuorumEpochReply(head) => head.code,
        other => panic!("{other:?}"),
    }
}

pub(crate) const LAST: Position = Position::new(4, 10);
