//! Asking: one question at a time to each voter, each with a number of its own.
//!
//! What is not answered in a request timeout counts as lost, and may be asked again; an answer that comes after that, or
//! after the state in which it was asked, is known by its number and dropped. Nothing is asked while the quorum-state is on
//! its way to the disk, as nothing is in Kafka.

use super::message::{Body, Code, Correlation, Message};
use super::{Kraft, Refusal, Role, Rules};
use crate::log::Position;
use crate::{Instant, NodeId, Output};

/// What this node knows of a voter. Of itself, it has only an answer.
#[derive(Clone, Debug)]
pub(super) struct Peer {
    /// What it was asked last, while that is open.
    pub(super) open: Option<Open>,
    /// When it may be asked again.
    pub(super) ready_at: Instant,
    /// Nominee: what it said to the present attempt. Resigned: whether it knows.
    pub(super) answer: Answer,
    /// Leader: where it fetches from, so that its disk holds all before.
    pub(super) end: u64,
    /// Leader: whether it has fetched since the quorum was checked last.
    pub(super) fetched: bool,
}

/// A question on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Open {
    pub(super) number: u64,
    pub(super) question: Question,
    /// When it is given up.
    pub(super) until: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Question {
    Vote,
    Begin,
    End,
    /// What comes after this.
    Fetch(Position),
    /// The snapshot that ends here.
    Snapshot(Position),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Answer {
    None,
    Granted,
    Refused,
    /// It knows that this node resigned.
    Told,
}

impl Peer {
    pub(super) const fn new(now: Instant) -> Self {
        Self {
            open: None,
            ready_at: now,
            answer: Answer::None,
            end: 0,
            fetched: false,
        }
    }

    /// A new state begins, in which nothing was asked yet.
    pub(super) fn forget(&mut self, now: Instant) {
        *self = Self::new(now);
    }
}

impl<R: Rules> Kraft<R> {
    /// The connection to a peer broke: what it was asked will not be answered, and need not be waited for. No effect when it
    /// was asked nothing. A host without connections leaves it to the request timeout.
    pub fn disconnected(&mut self, now: Instant, peer: NodeId) {
        if self.halted {
            return;
        }
        self.at(now);
        if let Some(place) = self.config.voters.place(peer)
            && self.peers[place].open.take().is_some()
        {
            self.back_off(place);
        }
        self.parked.retain(|parked| parked.from != peer);
        self.settle();
    }

    /// Asks whatever the state calls for and can be asked now.
    pub(super) fn ask(&mut self) {
        if self.halted || !self.settled() {
            return;
        }
        match self.role {
            Role::Unattached => self.seek(),
            Role::Follower => self.fetch(),
            Role::Prospective | Role::Candidate | Role::Resigned | Role::Leader => {
                for place in 0..self.peers.len() {
                    if self.wants_to_ask(place) && self.can_ask(place) {
                        self.ask_as_nominee_or_leader(place);
                    }
                }
                self.answer_with_news();
            }
        }
    }

    /// When something can be asked that cannot be asked now, or an open question is given up.
    pub(super) fn asks_at(&self) -> Option<Instant> {
        let given_up = self
            .peers
            .iter()
            .filter_map(|peer| Some(peer.open?.until))
            .min();
        if !self.settled() {
            return given_up;
        }
        let idle = |place: &usize| self.peers[*place].open.is_none();
        let ready = |place: usize| self.peers[place].ready_at;
        let next = match self.role {
            Role::Unattached if self.seeks() => None,
            Role::Unattached => self.others().map(ready).min(),
            Role::Follower => self
                .fetch_target()
                .filter(idle)
                .filter(|_| self.can_fetch())
                .map(ready),
            _ => {
                let places = self.others().filter(|place| self.wants_to_ask(*place));
                places.filter(idle).map(ready).min()
            }
        };
        [given_up, next].into_iter().flatten().min()
    }

    fn others(&self) -> impl Iterator<Item = usize> {
        let ids = self.config.voters.ids();
        let own = self.config.id;
        (0..ids.len()).filter(move |place| ids[*place] != own)
    }

    /// Whether the state calls for a question to this one that has not been answered yet.
    fn wants_to_ask(&self, place: usize) -> bool {
        if self.config.voters.ids()[place] == self.config.id {
            return false;
        }
        let answer = self.peers[place].answer;
        match self.role {
            Role::Prospective => answer == Answer::None,
            // Once it lost, or won, nobody needs to be asked.
            Role::Candidate => answer == Answer::None && self.due.is_some() && !self.backing_off,
            Role::Resigned => answer != Answer::Told,
            Role::Leader => true,
            Role::Unattached | Role::Follower => false,
        }
    }

    fn can_ask(&self, place: usize) -> bool {
        let peer = &self.peers[place];
        peer.open.is_none() && peer.ready_at <= self.now
    }

    fn ask_as_nominee_or_leader(&mut self, place: usize) {
        let Some(voter) = self.config.voters.key(place) else {
            return;
        };
        let epoch = self.state.epoch;
        let (question, body) = match self.role {
            Role::Leader => (Question::Begin, Body::BeginQuorumEpoch { epoch, voter }),
            Role::Resigned => {
                let successors = self.successors.clone();
                (Question::End, Body::EndQuorumEpoch { epoch, successors })
            }
            _ => {
                let body = Body::Vote {
                    voter,
                    replica: self.key,
                    epoch,
                    last: self.log.last(),
                    pre_vote: self.role == Role::Prospective,
                };
                (Question::Vote, body)
            }
        };
        self.request_of(place, question, body);
    }

    /// Unattached: whether somebody is being asked who leads.
    fn seeks(&self) -> bool {
        self.peers.iter().any(|peer| peer.open.is_some())
    }

    /// Unattached: asks any voter for records, to be told who has them (KR-S1).
    fn seek(&mut self) {
        let voters = self.peers.len();
        if self.seeks() {
            return;
        }
        let first = self.random.below(voters as u64) as usize;
        let mut places = (first..voters).chain(0..first);
        let own = self.config.id;
        let asked = places.find(|place| {
            self.config.voters.ids()[*place] != own && self.peers[*place].ready_at <= self.now
        });
        if let Some(place) = asked {
            self.fetch_from(place);
        }
    }

    pub(super) fn fetch_from(&mut self, place: usize) {
        let after = self.log.last();
        let body = Body::Fetch {
            epoch: self.state.epoch,
            after,
            replica: self.key,
            high_watermark: self.high_watermark,
        };
        self.request_of(place, Question::Fetch(after), body);
    }

    pub(super) fn request_of(&mut self, place: usize, question: Question, body: Body) {
        let Some(to) = self.config.voters.ids().get(place).copied() else {
            return;
        };
        self.correlation += 1;
        let number = self.correlation;
        self.peers[place].open = Some(Open {
            number,
            question,
            until: self.now + self.config.timing.request_timeout,
        });
        let correlation = Correlation {
            incarnation: self.incarnation(),
            number,
        };
        let message = Message { correlation, body };
        self.outbox.push_back(Output::Send(to, message));
    }

    pub(super) fn give_up_late_requests(&mut self) {
        for place in 0..self.peers.len() {
            let late = |open: &mut Open| open.until <= self.now;
            if self.peers[place].open.take_if(late).is_some() {
                self.back_off(place);
            }
        }
    }

    pub(super) fn back_off(&mut self, place: usize) {
        let wait = self.config.timing.retry_backoff;
        self.peers[place].ready_at = self.now + wait;
    }

    /// What an answer answers; `None` when it is to nothing that is open.
    fn asked(&mut self, place: usize, correlation: Correlation, body: &Body) -> Option<Question> {
        let own = correlation.incarnation == self.incarnation();
        let open = self.peers[place]
            .open
            .filter(|open| own && open.number == correlation.number);
        let Some(Open { question, .. }) = open else {
            self.refusals.add(Refusal::Late);
            return None;
        };
        let answers = match (question, body) {
            (Question::Vote, Body::VoteReply { .. })
            | (Question::Begin, Body::BeginQuorumEpochReply(_))
            | (Question::End, Body::EndQuorumEpochReply(_))
            | (Question::Snapshot(_), Body::FetchSnapshotReply { .. }) => true,
            (Question::Fetch(asked), Body::FetchReply { after, .. }) => asked == *after,
            _ => false,
        };
        if !answers {
            self.refusals.add(Refusal::Unasked);
            return None;
        }
        Some(question)
    }

    pub(super) fn receive_answer(&mut self, place: usize, correlation: Correlation, body: Body) {
        let Some(question) = self.asked(place, correlation, &body) else {
            return;
        };
        let head = match &body {
            Body::VoteReply { head, .. }
            | Body::FetchReply { head, .. }
            | Body::FetchSnapshotReply { head, .. }
            | Body::BeginQuorumEpochReply(head)
            | Body::EndQuorumEpochReply(head) => *head,
            _ => return,
        };
        self.peers[place].open = None;
        self.peers[place].ready_at = self.now;
        if head.code != Code::None {
            self.back_off(place);
        }
        let role = self.role;
        let epoch = self.state.epoch;
        if !self.heed(head.epoch, head.leader) || self.state.epoch != epoch || self.role != role {
            return;
        }
        let from = self.config.voters.ids()[place];
        match body {
            Body::VoteReply { granted, .. } => {
                let granted = granted && head.code == Code::None;
                let answer = if granted {
                    Answer::Granted
                } else {
                    Answer::Refused
                };
                if matches!(role, Role::Prospective | Role::Candidate) {
                    self.count(from, answer);
                }
            }
            Body::BeginQuorumEpochReply(_) if role == Role::Leader => {
                let pace = self.config.timing.begin_quorum();
                self.peers[place].ready_at = self.now + pace;
            }
            Body::EndQuorumEpochReply(_) if role == Role::Resigned => {
                self.peers[place].answer = Answer::Told;
            }
            Body::FetchReply {
                content,
                high_watermark,
                ..
            } => self.on_fetched(place, question, head.code, content, high_watermark),
            Body::FetchSnapshotReply { snapshot, .. } => {
                self.on_snapshot(place, head.code, snapshot);
            }
            _ => {}
        }
    }
}
