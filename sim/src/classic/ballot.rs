//! Ballot leader election (Ng, Kroll, Haridi: Omni-Paxos, 2023), with the promise of Sequence Paxos. Teaching only.
//!
//! Elections in which whoever misses the leader campaigns, and whoever campaigns last has the say, never come to rest where
//! some nodes cannot hear each other: in a chain of three, the two ends depose each other for ever through the one
//! between them. Here a node asks about what matters: *can I reach a quorum, and is anybody content with the leader it
//! has?*
//!
//! In rounds, every node asks all others and is answered with three things: the answering node's own ballot, the ballot it
//! takes for the leader's, and whether it is *happy*. A leader is happy while a quorum follows it; anybody else, while the
//! leader says to it directly that it is happy. Who is unhappy, hears a quorum, and hears of nobody happy, raises its ballot
//! above the leader's. Ballots are ordered by number, then by node, so that all who hear several choose the same.
//!
//! The three questions. *Who leads:* the highest ballot among those that reach a quorum. *Who takes over:* any node that
//! reaches a quorum, within a few rounds. *What stops the old leader:* not the election. Two may believe to lead, the one
//! that is cut off for as long as it is. What stops it is the promise ([`Phase`]): before it acts, a leader has a quorum
//! promise to accept nothing below its ballot, durably, and the ballot is the fencing token.
//!
//! What it lacks: a lease, by which an old leader would know by itself that it is over; so a read from a leader's own memory
//! is not safe. And a node between two leaders' worlds may follow one that does not lead.
//!
//! Left out: the log (a leader asks a quorum once a round to accept, and there is nothing in it), priorities, quorums other
//! than majorities, reconfiguration, and the parts of a recovery that fetch what was decided meanwhile. Two things are said
//! more strictly than is usual. A node that starts again never takes up a ballot of its former life, even where its disk names
//! that as the last promise ([`Rule::FreshBallot`]). And who is refused takes the ballot that it was refused for to be the
//! leader's ([`Rule::RefusalHeard`]): one that knew of no higher ballot would otherwise be content with its own for ever,
//! and could never act under it.

use super::{Classic, Input, Mark, Output, Rule, Seat, Standing, Switched};
use tenure::rules::Rules;
use tenure::{Duration, Instant};

/// What orders leaders: a number, and whose it is.
pub type Ballot = Mark;

/// What nodes say.
#[derive(Clone, Copy, Debug)]
pub enum Message {
    /// How are you? In this round.
    Ask(u64),
    /// So.
    Reply(u64, State),
    /// Accept nothing below this ballot any more.
    Prepare(Ballot),
    /// I will not.
    Promise(Ballot),
    /// Accept this under this ballot. Sent at that time, on the sender's clock.
    Accept(Ballot, Instant),
    /// I did.
    Accepted(Ballot, Instant),
    /// I promised this ballot to another.
    Refused(Ballot),
}

/// What a node says of itself.
#[derive(Clone, Copy, Debug)]
pub struct State {
    /// Its own ballot.
    pub ballot: Ballot,
    /// The one it takes for the leader's.
    pub leader: Ballot,
    /// Whether it is content with that.
    pub happy: bool,
}

/// How far a leader is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It is none.
    Follow,
    /// It was elected, and asks for promises. By node, who gave one.
    Prepare(Vec<bool>),
    /// A quorum promised: it may act.
    Accept,
}

/// What all nodes are built from.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// How long a round takes: longer than any answer.
    pub round: Duration,
    /// The rules that are on.
    pub rules: Switched,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            round: Duration::from_millis(100),
            rules: Switched::default(),
        }
    }
}

/// A node.
#[derive(Clone, Debug)]
pub struct Elector {
    seat: Seat,
    setup: Setup,
    own: State,
    round: u64,
    ends: Instant,
    /// What was answered in this round.
    replies: Vec<State>,
    by: Vec<usize>,
    /// Nothing below is accepted. Durable.
    promise: Ballot,
    phase: Phase,
    /// The ballot of the phase.
    under: Ballot,
    /// By node, when the newest was sent that it accepted.
    accepted: Vec<Instant>,
    acted: Instant,
}

type Outputs = Vec<Output<Message, Ballot>>;

impl Elector {
    fn keeps(&self, rule: Rule) -> bool {
        self.setup.rules.keeps(rule)
    }

    fn tell(&self, message: Message, out: &mut Outputs) {
        out.extend(self.seat.others().map(|to| Output::Send(to, message)));
    }

    /// BLE-1: a round ends.
    fn ends(&mut self, now: Instant, out: &mut Outputs) {
        if self.keeps(Rule::OwnBallotOnly) {
            self.choose();
            self.judge();
            self.outbid();
        } else {
            self.gossip();
        }
        self.ask(now, out);
        // (e) Whoever was prepared by a leader it never heard a ballot of.
        if self.promise > self.own.leader {
            self.own.leader = self.promise;
            self.own.happy = true;
        }
        if self.own.leader == self.own.ballot {
            self.lead(now, out);
        }
        match self.phase {
            Phase::Follow => {}
            // Another was elected before it was established.
            Phase::Prepare(_) if self.under < self.own.leader => self.phase = Phase::Follow,
            // Once more, for a message may be lost.
            Phase::Prepare(_) => self.tell(Message::Prepare(self.under), out),
            Phase::Accept => self.tell(Message::Accept(self.under, now), out),
        }
    }

    /// (a) The leader's is the highest ballot that its owner told.
    fn choose(&mut self) {
        let heard = self.replies.iter().map(|reply| reply.ballot).max();
        let heard = heard.unwrap_or_default();
        if heard > self.own.leader || !self.keeps(Rule::HighestBallot) {
            self.own.leader = heard.max(self.own.ballot);
        }
    }

    /// (b) Whether it is content.
    fn judge(&mut self) {
        let State { ballot, leader, .. } = self.own;
        let mut replies = self.replies.iter();
        self.own.happy = if leader == ballot {
            let behind = replies.clone().filter(|reply| reply.leader <= ballot);
            behind.count() + 1 >= self.seat.majority()
                || replies.any(|reply| reply.leader > ballot && reply.happy)
        } else {
            replies.any(|reply| reply.ballot == leader && reply.happy)
        };
    }

    /// (c) It takes over.
    fn outbid(&mut self) {
        let content = self.keeps(Rule::AllUnhappy) && self.replies.iter().any(|reply| reply.happy);
        let connected =
            self.replies.len() + 1 >= self.seat.majority() || !self.keeps(Rule::QuorumOutbids);
        if !self.own.happy && !content && connected {
            self.own.ballot.number = self.own.leader.number + 1;
            self.own.leader = self.own.ballot;
            self.own.happy = true;
        }
    }

    /// (a) to (c) as they once were: the leader's ballot is what anybody says it is, and who does not hear its owner
    /// outbids it.
    fn gossip(&mut self) {
        if self.replies.len() + 1 < self.seat.majority() {
            return;
        }
        let told = self.replies.iter().map(|reply| reply.leader).max();
        let seen = self.own.leader.max(told.unwrap_or_default());
        let heard = self.replies.iter().map(|reply| reply.ballot).max();
        let top = self.own.ballot.max(heard.unwrap_or_default());
        if top < seen {
            self.own.ballot.number = seen.number + 1;
            self.own.leader = seen;
        } else {
            self.own.leader = top;
        }
    }

    /// (d) A new round.
    fn ask(&mut self, now: Instant, out: &mut Outputs) {
        self.round += 1;
        self.replies.clear();
        self.by.clear();
        self.ends = now + self.setup.round;
        self.tell(Message::Ask(self.round), out);
    }

    /// (f) Its own ballot is the leader's.
    fn lead(&mut self, now: Instant, out: &mut Outputs) {
        let ballot = self.own.ballot;
        let again = ballot == self.promise && !self.keeps(Rule::FreshBallot);
        let begun = self.phase != Phase::Follow && self.under == ballot;
        if begun || ballot <= self.promise && !again {
            return;
        }
        self.promised(ballot, out);
        self.under = ballot;
        let mut promises = vec![false; self.seat.nodes];
        promises[self.seat.node] = true;
        self.phase = Phase::Prepare(promises);
        self.establish(now);
    }

    fn establish(&mut self, now: Instant) {
        let Phase::Prepare(promises) = &self.phase else {
            return;
        };
        let needed = if self.keeps(Rule::MajorityPromises) {
            self.seat.majority()
        } else {
            1
        };
        if promises.iter().filter(|promised| **promised).count() >= needed {
            self.phase = Phase::Accept;
            self.accepted.fill(Instant::ZERO);
            self.acted = now;
        }
    }

    fn promised(&mut self, ballot: Ballot, out: &mut Outputs) {
        if ballot == self.promise {
            return;
        }
        self.promise = ballot;
        if self.keeps(Rule::PromiseKept) {
            out.push(Output::Keep(ballot));
        }
    }

    fn hear(&mut self, now: Instant, from: usize, message: Message, out: &mut Outputs) {
        match message {
            // BLE-2
            Message::Ask(round) => out.push(Output::Send(from, Message::Reply(round, self.own))),
            Message::Reply(round, state) => {
                if round == self.round && !self.by.contains(&from) {
                    self.by.push(from);
                    self.replies.push(state);
                }
            }
            Message::Prepare(ballot) => {
                if ballot < self.promise {
                    out.push(Output::Send(from, Message::Refused(self.promise)));
                    return;
                }
                self.promised(ballot, out);
                self.phase = Phase::Follow;
                out.push(Output::Send(from, Message::Promise(ballot)));
            }
            Message::Promise(ballot) => {
                if let Phase::Prepare(promises) = &mut self.phase
                    && ballot == self.under
                {
                    promises[from] = true;
                    self.establish(now);
                }
            }
            Message::Accept(ballot, sent) => {
                if ballot < self.promise && self.keeps(Rule::RefuseLower) {
                    out.push(Output::Send(from, Message::Refused(self.promise)));
                } else {
                    if ballot > self.promise {
                        self.promised(ballot, out);
                        self.phase = Phase::Follow;
                    }
                    out.push(Output::Send(from, Message::Accepted(ballot, sent)));
                }
            }
            Message::Accepted(ballot, sent) => {
                if self.phase == Phase::Accept && ballot == self.under {
                    self.accepted[from] = self.accepted[from].max(sent);
                    self.accepted[self.seat.node] = now;
                    let mut sorted = self.accepted.clone();
                    sorted.sort_unstable();
                    let reached = sorted[self.seat.nodes - self.seat.majority()];
                    if reached > self.acted {
                        self.acted = reached;
                        out.push(Output::Acted(ballot, reached));
                    }
                }
            }
            Message::Refused(promise) => {
                if promise > self.under {
                    self.phase = Phase::Follow;
                    if promise > self.own.leader && self.keeps(Rule::RefusalHeard) {
                        self.own.leader = promise;
                        self.own.happy = false;
                    }
                }
            }
        }
    }
}

impl Classic for Elector {
    type Message = Message;
    type Record = Ballot;
    type Setup = Setup;

    /// The first life begins with ballot 1; a later one with 0, and takes the last promise for the leader's.
    fn boot(setup: &Setup, seat: Seat, stored: Option<Ballot>) -> Self {
        let again = stored.filter(|stored| stored.node == seat.node);
        let ballot = match again {
            Some(former) if !setup.rules.keeps(Rule::FreshBallot) => former,
            _ => Ballot {
                number: u64::from(stored.is_none()),
                node: seat.node,
            },
        };
        Self {
            seat,
            setup: *setup,
            own: State {
                ballot,
                leader: stored.unwrap_or(ballot),
                // Until a round has ended it has no reason to complain.
                happy: true,
            },
            round: seat.life << 32,
            ends: seat.now,
            replies: Vec::new(),
            by: Vec::new(),
            promise: stored.unwrap_or_default(),
            phase: Phase::Follow,
            under: Ballot::default(),
            accepted: vec![Instant::ZERO; seat.nodes],
            acted: Instant::ZERO,
        }
    }

    fn handle(&mut self, now: Instant, input: Input<Message>, out: &mut Outputs) {
        match input {
            Input::Begin => self.ask(now, out),
            Input::Hear(from, message) => self.hear(now, from, message, out),
            Input::Timeout if self.ends <= now => self.ends(now, out),
            Input::Timeout => {}
        }
    }

    fn deadline(&self) -> Instant {
        self.ends
    }

    fn standing(&self, _: Instant) -> Standing {
        let leader = self.own.leader;
        if self.phase == Phase::Accept {
            Standing::Leading(Some(self.under), Instant::FOREVER)
        } else if leader.node == self.seat.node {
            Standing::Unknown
        } else {
            Standing::Following(leader.node, Some(leader))
        }
    }

    /// Everything but the rounds, whose messages are the same whether anybody is elected or not, and the work.
    fn elects(message: &Message) -> bool {
        matches!(message, Message::Prepare(_) | Message::Promise(_))
    }
}
