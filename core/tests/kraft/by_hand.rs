//! One machine, message by message: each rule at the place where it decides.

use tenure::kraft::{
    Applying, Body, Boot, Code, Config, ConfigError, Correlation, DirectoryId, Fetched, Head,
    Kraft, LogWrite, MAX_EPOCH, MAX_OFFSET, MAX_TIMEOUT, Message, ProposeError, QuorumState,
    Refusal, ReplicaKey, Role, Stored, Timing, VoterSet, Write,
};
use tenure::log::{Position, Shape};
use tenure::{
    Duration, Election, Event, Input, Instant, NodeId, Output, Standing, Ticket, Token, Unknown,
};

const fn key(id: u64) -> ReplicaKey {
    ReplicaKey::new(NodeId(id), DirectoryId(100 + id))
}

/// Node 0 of the voters 0, 1 and 2, or the observer 9.
fn config(id: u64) -> Config {
    Config::new(NodeId(id), VoterSet::new([key(0), key(1), key(2)]).unwrap())
}

fn state(epoch: u64, leader: Option<u64>, voted: Option<u64>) -> QuorumState {
    QuorumState {
        epoch,
        leader: leader.map(NodeId),
        voted: voted.map(key),
        generation: 0,
    }
}

fn log(runs: &[(u64, u64)]) -> Shape {
    Shape::from_runs(runs.iter().copied()).unwrap()
}

/// A machine and its disk, which answers when it is told to.
struct Hand {
    machine: Kraft,
    now: u64,
    writes: Vec<(Ticket, Write)>,
    sent: Vec<(u64, Message)>,
    events: Vec<Event>,
}

impl Hand {
    fn with(config: Config, stored: Option<Stored>) -> Self {
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

    fn booted(id: u64, state: QuorumState, runs: &[(u64, u64)]) -> Self {
        let log = log(runs);
        Self::with(config(id), Some(Stored { state, log }))
    }

    fn drain(&mut self) {
        while let Some(output) = self.machine.poll() {
            match output {
                Output::Event(event) => self.events.push(event),
                Output::Request(ticket, write) => self.writes.push((ticket, write)),
                Output::Send(to, message) => self.sent.push((to.0, message)),
            }
        }
    }

    fn input(&mut self, input: Input<Message, ()>) {
        self.machine.handle(Instant::from_millis(self.now), input);
        self.drain();
    }

    /// The disk has done all it was asked for.
    fn written(&mut self) {
        while !self.writes.is_empty() {
            let (ticket, _) = self.writes.remove(0);
            self.input(Input::Reply(ticket, Ok(())));
        }
    }

    fn tell_as(&mut self, from: u64, correlation: Correlation, body: Body) {
        let message = Message { correlation, body };
        self.input(Input::Peer(NodeId(from), message));
    }

    /// Another node asks, and the disk is quick: the answer.
    fn ask(&mut self, from: u64, body: Body) -> Option<Body> {
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
    fn asks(&self, of: u64) -> Option<&Message> {
        let asked = self.sent.iter().rev();
        let mut to = asked.filter(|(to, message)| *to == of && message.body.is_request());
        to.next().map(|(_, message)| message)
    }

    /// A node answers what it was asked last.
    fn answer(&mut self, from: u64, body: Body) {
        let correlation = self.asks(from).expect("a question").correlation;
        self.tell_as(from, correlation, body);
        self.written();
    }

    fn wait_until_due(&mut self) {
        let due = self.machine.deadline().expect("something is due");
        self.now = due.as_micros().div_ceil(1_000).max(self.now);
        self.input(Input::Timeout);
        self.written();
    }

    fn wait_for(&mut self, role: Role) {
        for _ in 0..400 {
            if self.machine.role() == role {
                return;
            }
            self.wait_until_due();
        }
        panic!("never {role:?}: {:?}", self.machine);
    }

    /// A leader of epoch 1 whose own first record is committed, with both followers there.
    fn leading() -> Self {
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
    fn following(runs: &[(u64, u64)]) -> Self {
        Self::booted(0, state(5, Some(1), None), runs)
    }
}

const fn head(code: Code, epoch: u64, leader: Option<u64>) -> Head {
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

const fn vote_reply(epoch: u64, granted: bool) -> Body {
    Body::VoteReply {
        head: head(Code::None, epoch, None),
        granted,
    }
}

const fn fetch(from: u64, epoch: u64, after: Position) -> Body {
    Body::Fetch {
        epoch,
        after,
        replica: key(from),
        high_watermark: 0,
    }
}

const fn vote(from: u64, epoch: u64, last: Position, pre_vote: bool) -> Body {
    Body::Vote {
        voter: key(0),
        replica: key(from),
        epoch,
        last,
        pre_vote,
    }
}

const fn fetched(epoch: u64, leader: u64, after: Position, content: Fetched, hw: u64) -> Body {
    Body::FetchReply {
        head: head(Code::None, epoch, Some(leader)),
        after,
        content,
        high_watermark: hw,
    }
}

fn granted(answer: Option<Body>) -> Option<bool> {
    match answer? {
        Body::VoteReply { granted, head } => {
            assert!(head.code == Code::None || !granted);
            Some(granted)
        }
        other => panic!("{other:?}"),
    }
}

fn code(answer: Option<Body>) -> Code {
    match answer.expect("an answer") {
        Body::VoteReply { head, .. }
        | Body::FetchReply { head, .. }
        | Body::FetchSnapshotReply { head, .. }
        | Body::BeginQuorumEpochReply(head)
        | Body::EndQuorumEpochReply(head) => head.code,
        other => panic!("{other:?}"),
    }
}

const LAST: Position = Position::new(4, 10);

/// §5.2, in its order.
#[test]
fn a_life_begins_from_what_the_disk_holds() {
    let begins = |id, state, runs: &[(u64, u64)]| {
        let hand = Hand::booted(id, state, runs);
        let machine = &hand.machine;
        let written = hand.writes.first().map(|(_, write)| write.state);
        (
            machine.role(),
            machine.epoch(),
            machine.leader().map(|it| it.0),
            written,
        )
    };
    // The file is older than the log.
    let (role, epoch, leader, written) = begins(0, state(3, Some(1), None), &[(4, 10)]);
    assert_eq!((role, epoch, leader), (Role::Unattached, 4, None));
    assert_eq!(written, Some(state(4, None, None)));
    // It led. What it does not change is not written again.
    let (role, epoch, leader, written) = begins(0, state(5, Some(0), Some(0)), &[(5, 1)]);
    assert_eq!(
        (role, epoch, leader, written),
        (Role::Resigned, 5, None, None)
    );
    // It led, and votes no more.
    let (role, epoch, _, written) = begins(9, state(5, Some(9), None), &[(5, 1)]);
    assert_eq!((role, epoch), (Role::Unattached, 6));
    assert_eq!(written, Some(state(6, None, None)));
    // It stood.
    let begun = begins(0, state(5, None, Some(0)), &[]);
    assert_eq!(begun, (Role::Candidate, 5, None, None));
    // It followed, and keeps its vote.
    let begun = begins(0, state(5, Some(1), Some(2)), &[]);
    assert_eq!(begun, (Role::Follower, 5, Some(1), None));
    // Its leader cannot be reached.
    let hand = Hand::booted(0, state(5, Some(7), Some(2)), &[]);
    assert_eq!(hand.machine.role(), Role::Unattached);
    assert_eq!(hand.machine.quorum_state(), state(5, Some(7), Some(2)));
    // Nothing but a vote; nothing at all.
    let begun = begins(0, state(5, None, Some(2)), &[]);
    assert_eq!(begun, (Role::Unattached, 5, None, None));
    let begun = begins(0, QuorumState::default(), &[]);
    assert_eq!(begun, (Role::Unattached, 0, None, None));
}

/// KR-V5 and KR-V6 in every state.
#[test]
fn who_grants_what() {
    let (better, worse) = (Position::new(4, 11), Position::new(4, 9));
    let unattached = || Hand::booted(0, state(5, None, None), &[(4, 10)]);
    let prospective = || {
        let mut hand = unattached();
        hand.wait_for(Role::Prospective);
        hand
    };
    let candidate = || Hand::booted(0, state(5, None, Some(0)), &[(4, 10)]);
    let resigned = || Hand::booted(0, state(5, Some(0), Some(0)), &[(4, 10)]);
    let fresh = || Hand::following(&[(4, 10)]);
    let attached = || {
        let mut hand = fresh();
        hand.answer(1, fetched(5, 1, LAST, Fetched::NOTHING, 0));
        assert!(hand.machine.has_fetched());
        hand
    };
    let leader = || {
        let mut hand = candidate();
        hand.answer(1, vote_reply(5, true));
        hand
    };
    // The state, whether it grants a pre-vote, and whether a vote.
    let states: [(Role, &dyn Fn() -> Hand, bool, bool); 7] = [
        (Role::Unattached, &unattached, true, true),
        (Role::Prospective, &prospective, true, true),
        (Role::Candidate, &candidate, true, false),
        (Role::Resigned, &resigned, true, false),
        (Role::Follower, &fresh, true, false),
        (Role::Follower, &attached, false, false),
        (Role::Leader, &leader, false, false),
    ];
    for (role, at, pre, real) in states {
        assert_eq!(at().machine.role(), role);
        // The leader's log has its own first record.
        let end = at().machine.last();
        for (last, up_to_date) in [(worse, false), (end, true), (better, end < better)] {
            let before = at().machine.quorum_state();
            let mut hand = at();
            let answer =
                granted(hand.ask(2, vote(2, 5, last.min(Position::new(5, 0)).max(last), true)));
            assert_eq!(answer, Some(pre && up_to_date), "{role:?} {last:?}");
            assert_eq!(
                hand.machine.quorum_state(),
                before,
                "a pre-vote is not recorded"
            );
            if last.term < 5 {
                let mut hand = at();
                let answer = granted(hand.ask(2, vote(2, 5, last, false)));
                assert_eq!(answer, Some(real && up_to_date), "{role:?} {last:?}");
                let voted = hand.machine.voted() == Some(key(2));
                assert_eq!(voted, real && up_to_date);
            }
        }
    }
}

/// KR-V6: the same candidate is granted again, another is not, and the disk counts; an unset one is any.
#[test]
fn a_vote_is_given_once() {
    let mut hand = Hand::booted(0, state(5, None, None), &[]);
    let ask = |id, epoch| vote(id, epoch, Position::START, false);
    assert_eq!(granted(hand.ask(1, ask(1, 5))), Some(true));
    assert_eq!(granted(hand.ask(1, ask(1, 5))), Some(true));
    assert_eq!(granted(hand.ask(2, ask(2, 5))), Some(false));
    let replaced = Body::Vote {
        voter: key(0),
        replica: ReplicaKey::new(NodeId(1), DirectoryId(7)),
        epoch: 5,
        last: Position::START,
        pre_vote: false,
    };
    assert_eq!(granted(hand.ask(1, replaced.clone())), Some(false));
    let unset = ReplicaKey {
        id: NodeId(1),
        directory: None,
    };
    let voted = QuorumState {
        voted: Some(unset),
        ..state(5, None, None)
    };
    let mut hand = Hand::booted(0, voted, &[]);
    assert_eq!(granted(hand.ask(1, replaced)), Some(true));
    // A higher epoch frees the vote.
    assert_eq!(granted(hand.ask(2, ask(2, 6))), Some(true));
    assert_eq!(hand.machine.quorum_state(), state(6, None, Some(2)));
}

/// KR-V1 to KR-V3.
#[test]
fn votes_out_of_place_are_answered_by_name() {
    let fresh = || Hand::booted(0, state(5, None, None), &[(4, 10)]);
    let at = |epoch, term, pre| code(fresh().ask(1, vote(1, epoch, Position::new(term, 11), pre)));
    assert_eq!(at(5, 5, false), Code::InvalidRequest);
    assert_eq!(at(5, 5, true), Code::None);
    assert_eq!(at(5, 6, true), Code::InvalidRequest);
    assert_eq!(at(4, 3, false), Code::FencedLeaderEpoch);
    assert_eq!(at(4, 4, true), Code::FencedLeaderEpoch);
    // KR-V2: a higher epoch is entered, for a pre-vote too; whatever the answer then is.
    for pre_vote in [false, true] {
        for voter in [key(0), key(1), ReplicaKey::new(NodeId(0), DirectoryId(7))] {
            let mut hand = fresh();
            let answer = hand.ask(
                1,
                Body::Vote {
                    voter,
                    replica: key(1),
                    epoch: 8,
                    last: LAST,
                    pre_vote,
                },
            );
            let meant = voter == key(0);
            let expected = if meant {
                Code::None
            } else {
                Code::InvalidVoterKey
            };
            assert_eq!(code(answer), expected);
            let voted = (meant && !pre_vote).then_some(1);
            assert_eq!(hand.machine.quorum_state(), state(8, None, voted));
        }
    }
}

/// §5.1: the answer leaves when the disk holds the vote, and never when that is not known.
#[test]
fn a_vote_waits_for_the_disk() {
    for result in [Ok(()), Err(Unknown)] {
        let mut hand = Hand::booted(0, state(5, None, None), &[]);
        hand.sent.clear();
        let correlation = Correlation {
            incarnation: 3,
            number: 4,
        };
        hand.tell_as(1, correlation, vote(1, 5, Position::START, false));
        let (ticket, write) = hand.writes[0];
        assert_eq!(write.state, state(5, None, Some(1)));
        assert_eq!(write.log, LogWrite::Keep);
        assert!(
            hand.sent
                .iter()
                .all(|(to, message)| *to != 1 || message.body.is_request())
        );
        // A reply to a former life is none, nor one to what was never asked.
        for (incarnation, number) in [(9, ticket.number), (1, ticket.number + 1), (1, 0)] {
            let ticket = Ticket {
                incarnation,
                number,
            };
            hand.input(Input::Reply(ticket, Ok(())));
        }
        assert_eq!(hand.machine.refusals().count(Refusal::UnknownTicket), 3);
        hand.input(Input::Reply(ticket, result));
        let answers = hand
            .sent
            .iter()
            .filter(|(_, message)| message.correlation == correlation);
        assert_eq!(answers.count(), usize::from(result.is_ok()));
        assert_eq!(hand.machine.halted(), result.is_err());
        assert_eq!(hand.events.contains(&Event::Halted), result.is_err());
        if hand.machine.halted() {
            assert_eq!(hand.machine.deadline(), None);
            assert_eq!(hand.ask(1, vote(1, 6, Position::START, false)), None);
        }
    }
}

/// §5.1: who has won leads when its disk says so; a higher epoch in between takes it away.
#[test]
fn who_has_won_waits_for_the_disk() {
    for overtaken in [false, true] {
        let mut hand = Hand::booted(0, state(5, None, Some(0)), &[]);
        let correlation = hand.asks(1).unwrap().correlation;
        hand.tell_as(1, correlation, vote_reply(5, true));
        assert_eq!(hand.machine.role(), Role::Candidate);
        assert_eq!(hand.writes[0].1.state, state(5, Some(0), Some(0)));
        assert_eq!(
            hand.machine
                .deadline()
                .map(|at| at > Instant::from_millis(2_999)),
            Some(true)
        );
        if overtaken {
            hand.tell_as(2, correlation, vote(2, 6, Position::START, false));
            hand.written();
            assert_eq!(hand.machine.quorum_state(), state(6, None, Some(2)));
            assert!(hand.events.is_empty());
        } else {
            hand.written();
            assert_eq!(hand.machine.role(), Role::Leader);
            assert_eq!(hand.events, [Event::Elected(Token::new(0, 5))]);
            assert_eq!(hand.machine.last(), Position::new(5, 1));
            for to in [1, 2] {
                let body = &hand.asks(to).unwrap().body;
                let voter = key(to);
                assert_eq!(*body, Body::BeginQuorumEpoch { epoch: 5, voter });
            }
        }
    }
}

/// KR-S3 and KR-S4: from doubt to doubt. A candidate that lost waits at most the longest back-off.
#[test]
fn the_way_of_a_nominee() {
    let mut hand = Hand::following(&[(4, 10)]);
    hand.answer(1, fetched(5, 1, LAST, Fetched::NOTHING, 0));
    let began = hand.now;
    hand.wait_for(Role::Prospective);
    assert_eq!(hand.now - began, 2_000);
    assert_eq!(
        (hand.machine.epoch(), hand.machine.leader()),
        (5, Some(NodeId(1)))
    );
    // Refused by a majority it returns to its leader.
    hand.answer(2, vote_reply(5, false));
    assert_eq!(hand.machine.role(), Role::Prospective);
    hand.answer(1, vote_reply(5, false));
    assert_eq!(hand.machine.role(), Role::Follower);
    assert!(!hand.machine.has_fetched());
    hand.wait_for(Role::Prospective);
    // Answered by nobody, too.
    let began = hand.now;
    hand.wait_for(Role::Follower);
    assert!((1_000..=2_000).contains(&(hand.now - began)));
    hand.wait_for(Role::Prospective);
    hand.answer(2, vote_reply(5, true));
    assert_eq!(
        (hand.machine.role(), hand.machine.epoch()),
        (Role::Candidate, 6)
    );
    assert_eq!((hand.machine.leader(), hand.machine.grants()), (None, 1));
    let Body::Vote {
        pre_vote: false,
        epoch: 6,
        last: LAST,
        ..
    } = hand.asks(1).unwrap().body
    else {
        panic!("{:?}", hand.asks(1));
    };
    for (times, longest) in [(1, 100), (2, 300), (3, 700), (4, 1_000), (5, 1_000)] {
        assert_eq!(hand.machine.epoch(), 5 + times);
        let epoch = hand.machine.epoch();
        hand.answer(1, vote_reply(epoch, false));
        hand.answer(2, vote_reply(epoch, false));
        assert_eq!(hand.machine.role(), Role::Candidate);
        let began = hand.now;
        hand.wait_for(Role::Prospective);
        assert!(hand.now - began <= longest, "{times}: {}", hand.now - began);
        hand.answer(1, vote_reply(epoch, true));
    }
    // A candidate that nobody answers.
    let began = hand.now;
    hand.wait_for(Role::Prospective);
    assert!((1_000..=2_000).contains(&(hand.now - began)));
    hand.wait_for(Role::Unattached);
}

/// An answer is known by its number: late, twice, of another life, of another kind.
#[test]
fn answers_to_nothing_are_known() {
    let mut hand = Hand::following(&[(4, 10)]);
    let records = Fetched::Records { epoch: 5, count: 1 };
    let body = fetched(5, 1, LAST, records, 0);
    let asked = hand.asks(1).unwrap().correlation;
    let other_life = Correlation {
        incarnation: 2,
        ..asked
    };
    hand.tell_as(1, other_life, body.clone());
    hand.tell_as(2, asked, body.clone());
    hand.tell_as(1, asked, vote_reply(5, true));
    assert_eq!(hand.machine.last(), LAST);
    assert_eq!(hand.machine.refusals().count(Refusal::Late), 2);
    assert_eq!(hand.machine.refusals().count(Refusal::Unasked), 1);
    hand.tell_as(1, asked, body.clone());
    assert_eq!(hand.machine.last(), Position::new(5, 11));
    hand.tell_as(1, asked, body.clone());
    assert_eq!(hand.machine.refusals().count(Refusal::Late), 3);
    // A fetch that is not answered in the request timeout is asked again, and its answer is late.
    let mut slow = config(0);
    slow.timing.request_timeout = Duration::from_millis(700);
    let log = log(&[(4, 10)]);
    let state = state(5, Some(1), None);
    let mut hand = Hand::with(slow, Some(Stored { state, log }));
    let first = hand.asks(1).unwrap().correlation;
    hand.wait_until_due();
    assert_eq!(hand.now, 1_700);
    assert_eq!(hand.asks(1).unwrap().correlation, first);
    hand.wait_until_due();
    assert_eq!(hand.now, 1_720, "the retry back-off");
    let second = hand.asks(1).unwrap().correlation;
    assert_eq!(second.number, first.number + 1);
    hand.tell_as(1, first, body.clone());
    assert_eq!(hand.machine.last(), LAST);
    hand.tell_as(1, second, body);
    assert_eq!(hand.machine.last(), Position::new(5, 11));
}

/// KR-F4: a voter fetches on when its disk holds what it fetched; an observer at once.
#[test]
fn the_fetch_is_the_acknowledgement() {
    for id in [0, 9] {
        let mut hand = Hand::booted(id, state(5, Some(1), None), &[(4, 10)]);
        let records = Fetched::Records { epoch: 5, count: 3 };
        let asked = hand.asks(1).unwrap().correlation;
        hand.sent.clear();
        hand.tell_as(1, asked, fetched(5, 1, LAST, records, 12));
        assert_eq!(hand.asks(1).is_some(), id == 9, "{:?}", hand.sent);
        assert_eq!(hand.machine.high_watermark(), 12);
        let append = LogWrite::Append {
            after: LAST,
            epoch: 5,
            count: 3,
        };
        assert_eq!(hand.writes[0].1.log, append);
        hand.written();
        let Body::Fetch {
            after,
            high_watermark: 12,
            ..
        } = hand.asks(1).unwrap().body
        else {
            panic!("{:?}", hand.sent);
        };
        assert_eq!(after, Position::new(5, 13));
    }
}

/// KR-F1 and KR-F2.
#[test]
fn fetches_are_checked_against_the_log() {
    let mut hand = Hand::booted(0, state(5, None, Some(0)), &[(1, 3), (3, 4), (4, 2)]);
    assert_eq!(
        code(hand.ask(1, fetch(1, 5, Position::START))),
        Code::NotLeader
    );
    hand.sent.clear();
    hand.wait_for(Role::Prospective);
    hand.wait_for(Role::Unattached);
    hand.wait_for(Role::Prospective);
    hand.answer(1, vote_reply(5, true));
    hand.answer(1, vote_reply(6, true));
    assert_eq!(hand.machine.role(), Role::Leader);
    assert_eq!(
        code(hand.ask(1, fetch(1, 5, Position::START))),
        Code::FencedLeaderEpoch
    );
    assert_eq!(
        code(hand.ask(1, fetch(1, 7, Position::START))),
        Code::UnknownLeaderEpoch
    );
    let mut content = |after| match hand.ask(1, fetch(1, 6, after)) {
        Some(Body::FetchReply { content, head, .. }) => {
            assert_eq!(head.code, Code::None);
            Some(content)
        }
        other => panic!("{other:?}"),
    };
    let at = Position::new;
    let records = |epoch, count| Some(Fetched::Records { epoch, count });
    let diverging = |term, index| Some(Fetched::Diverging(at(term, index)));
    // The log: 1 up to 3, 3 up to 7, 4 up to 9, its own 6 at 10.
    assert_eq!(content(Position::START), records(1, 3));
    assert_eq!(content(at(1, 2)), records(1, 1));
    assert_eq!(content(at(1, 3)), records(3, 4));
    assert_eq!(content(at(4, 9)), records(6, 1));
    assert_eq!(
        content(at(6, 10)),
        records(0, 0),
        "there is a high watermark to tell"
    );
    assert_eq!(content(at(1, 4)), diverging(1, 3));
    assert_eq!(content(at(2, 5)), diverging(1, 3));
    assert_eq!(content(at(3, 8)), diverging(3, 7));
    assert_eq!(content(at(5, 20)), diverging(4, 9));
}

/// The long poll: nothing new is waited for, and every kind of news ends it.
#[test]
fn a_fetch_waits_for_news() {
    let mut hand = Hand::leading();
    let end = hand.machine.last();
    let wait = |hand: &mut Hand, known| {
        let body = Body::Fetch {
            epoch: 1,
            after: end,
            replica: key(1),
            high_watermark: known,
        };
        hand.ask(1, body)
    };
    let replies = |hand: &Hand| {
        let to = hand
            .sent
            .iter()
            .filter(|(to, message)| *to == 1 && !message.body.is_request());
        to.map(|(_, message)| message.body.clone())
            .collect::<Vec<_>>()
    };
    // KIP-1166: who does not know the high watermark is told at once.
    assert!(matches!(
        wait(&mut hand, 0),
        Some(Body::FetchReply {
            high_watermark: 1,
            ..
        })
    ));
    assert_eq!(wait(&mut hand, 1), None);
    let asked = hand.now;
    while replies(&hand).is_empty() {
        hand.wait_until_due();
    }
    assert_eq!(hand.now - asked, 500);
    // A record.
    assert_eq!(wait(&mut hand, 1), None);
    let now = Instant::from_millis(hand.now);
    assert_eq!(hand.machine.propose(now, 2), Ok(Position::new(1, 2)));
    assert_eq!(hand.machine.propose(now, 1), Ok(Position::new(1, 4)));
    hand.drain();
    assert_eq!(
        (replies(&hand).len(), hand.writes.len()),
        (0, 0),
        "it lingers"
    );
    let proposed = hand.now;
    while replies(&hand).is_empty() {
        hand.wait_until_due();
    }
    assert_eq!(hand.now - proposed, 25);
    let records = Fetched::Records { epoch: 1, count: 3 };
    assert!(matches!(replies(&hand)[0], Body::FetchReply { content, .. } if content == records));
    // A commit: node 2 has it all, and node 1, too.
    let all = Position::new(1, 4);
    hand.ask(
        1,
        Body::Fetch {
            epoch: 1,
            after: all,
            replica: key(1),
            high_watermark: 4,
        },
    );
    assert_eq!(hand.machine.high_watermark(), 4);
    // A resignation.
    hand.sent.clear();
    hand.input(Input::Resign { to: None });
    assert_eq!(code(replies(&hand).pop()), Code::NotLeader);
}

/// KR-F3: never below the own high watermark.
#[test]
fn what_is_committed_is_not_cut() {
    let mut hand = Hand::following(&[(3, 6), (4, 4)]);
    hand.answer(1, fetched(5, 1, LAST, Fetched::NOTHING, 8));
    assert_eq!(hand.machine.high_watermark(), 8);
    hand.answer(
        1,
        fetched(5, 1, LAST, Fetched::Diverging(Position::new(3, 6)), 9),
    );
    assert_eq!(
        hand.machine.refusals().count(Refusal::TruncatesCommitted),
        1
    );
    assert_eq!(
        (hand.machine.last(), hand.machine.high_watermark()),
        (LAST, 8)
    );
    hand.answer(
        1,
        fetched(5, 1, LAST, Fetched::Diverging(Position::new(4, 9)), 9),
    );
    assert_eq!(
        (hand.machine.last(), hand.machine.high_watermark()),
        (Position::new(4, 9), 8)
    );
    assert!(hand.writes.is_empty());
}

/// The snapshot comes when the log does not begin that early.
#[test]
fn a_snapshot_replaces_the_log() {
    let mut hand = Hand::following(&[(3, 6)]);
    let (after, base) = (Position::new(3, 6), Position::new(4, 20));
    hand.answer(1, fetched(5, 1, after, Fetched::Snapshot(base), 30));
    let Body::FetchSnapshot { snapshot, .. } = hand.asks(1).unwrap().body else {
        panic!("{:?}", hand.sent);
    };
    assert_eq!(snapshot, base);
    let later = Position::new(4, 25);
    let asked = hand.asks(1).unwrap().correlation;
    let head = head(Code::None, 5, Some(1));
    let snapshot = Some(later);
    hand.tell_as(1, asked, Body::FetchSnapshotReply { head, snapshot });
    assert_eq!(hand.writes[0].1.log, LogWrite::Install { last: later });
    assert_eq!(
        (hand.machine.last(), hand.machine.high_watermark()),
        (later, 25)
    );
    hand.written();
    let Body::Fetch { after, .. } = hand.asks(1).unwrap().body else {
        panic!()
    };
    assert_eq!(after, later);
}

/// KR-S8: who waits how long. Not of that leader: not at all.
#[test]
fn successors_wait_their_turn() {
    let ids = |ids: &[u64]| ids.iter().map(|id| NodeId(*id)).collect();
    for (successors, wait) in [
        (vec![0, 2], 0),
        (vec![2, 0], 500),
        (vec![2, 0, 3], 250),
        (vec![2, 3, 0], 500),
        (vec![2, 3, 4, 0], 500),
        (vec![2, 3, 0, 4], 250),
        (vec![2, 0, 3, 4], 125),
        (vec![2], 1_000),
        (vec![], 1_000),
    ] {
        let mut hand = Hand::following(&[]);
        hand.answer(1, fetched(5, 1, Position::START, Fetched::NOTHING, 0));
        let successors = ids(&successors);
        let answer = hand.ask(
            1,
            Body::EndQuorumEpoch {
                epoch: 5,
                successors,
            },
        );
        assert_eq!(code(answer), Code::None);
        let began = hand.now;
        hand.wait_for(Role::Prospective);
        assert_eq!(hand.now - began, wait);
    }
    let mut hand = Hand::following(&[]);
    let successors: std::sync::Arc<[NodeId]> = ids(&[0]);
    let end = |epoch| Body::EndQuorumEpoch {
        epoch,
        successors: successors.clone(),
    };
    assert_eq!(code(hand.ask(1, end(4))), Code::FencedLeaderEpoch);
    assert_eq!(hand.ask(2, end(5)), None);
    assert_eq!(hand.machine.refusals().count(Refusal::SecondLeader), 1);
    assert_eq!(hand.machine.role(), Role::Follower);
}

/// KR-S7: it says so until each has heard it, names the most up-to-date first, or whom the host names.
#[test]
fn who_resigns_names_successors() {
    for (to, order) in [(None, [2, 1]), (Some(NodeId(1)), [1, 2])] {
        let mut hand = Hand::leading();
        let now = Instant::from_millis(hand.now);
        hand.machine.propose(now, 1).unwrap();
        hand.wait_until_due();
        hand.ask(2, fetch(2, 1, Position::new(1, 2)));
        hand.sent.clear();
        hand.input(Input::Resign { to });
        let Body::EndQuorumEpoch {
            successors,
            epoch: 1,
        } = &hand.asks(1).unwrap().body
        else {
            panic!("{:?}", hand.sent);
        };
        assert_eq!(successors.to_vec(), order.map(NodeId));
        hand.answer(1, Body::EndQuorumEpochReply(head(Code::None, 1, None)));
        hand.sent.clear();
        hand.wait_for(Role::Prospective);
        assert_eq!(hand.machine.epoch(), 1);
        let ends = hand
            .sent
            .iter()
            .filter(|(_, it)| matches!(it.body, Body::EndQuorumEpoch { .. }));
        assert!(ends.into_iter().all(|(to, _)| *to == 2));
    }
}

/// KR-0: a leader that cannot be.
#[test]
fn leaders_that_cannot_be_are_refused() {
    let mut hand = Hand::following(&[]);
    let asked = hand.asks(1).unwrap().correlation;
    let body = |epoch, leader| Body::FetchReply {
        head: head(Code::NotLeader, epoch, Some(leader)),
        after: Position::START,
        content: Fetched::NOTHING,
        high_watermark: 0,
    };
    hand.tell_as(1, asked, body(5, 2));
    assert_eq!(hand.machine.refusals().count(Refusal::SecondLeader), 1);
    hand.wait_until_due();
    hand.answer(1, body(6, 77));
    assert_eq!(hand.machine.refusals().count(Refusal::UnknownLeader), 1);
    assert_eq!(
        (hand.machine.epoch(), hand.machine.leader()),
        (5, Some(NodeId(1)))
    );
    // It is told that it leads an epoch of which it knows nothing: its disk may have been another one.
    hand.wait_until_due();
    hand.answer(1, body(6, 0));
    assert_eq!(
        (hand.machine.role(), hand.machine.epoch()),
        (Role::Unattached, 6)
    );
    assert_eq!(hand.machine.leader(), None);
    // A leader is told of another one of its epoch.
    let mut hand = Hand::leading();
    assert_eq!(
        hand.ask(
            2,
            Body::BeginQuorumEpoch {
                epoch: 1,
                voter: key(0)
            }
        ),
        None
    );
    assert_eq!(hand.machine.refusals().count(Refusal::SecondLeader), 1);
    assert_eq!(hand.machine.role(), Role::Leader);
}

/// KR-S9, and that it is for another disk.
#[test]
fn a_leader_begins_its_epoch() {
    let begin = |epoch, voter| Body::BeginQuorumEpoch { epoch, voter };
    for epoch in [5, 6] {
        let mut hand = Hand::booted(0, state(5, None, None), &[]);
        hand.wait_for(Role::Prospective);
        assert_eq!(code(hand.ask(1, begin(epoch, key(0)))), Code::None);
        assert_eq!(
            (hand.machine.role(), hand.machine.leader()),
            (Role::Follower, Some(NodeId(1)))
        );
        assert_eq!(hand.machine.quorum_state(), state(epoch, Some(1), None));
        assert_eq!(code(hand.ask(2, begin(4, key(0)))), Code::FencedLeaderEpoch);
    }
    // A follower has a fetch timeout again, and has fetched no more than before.
    let mut hand = Hand::following(&[]);
    hand.now += 1_900;
    hand.ask(1, begin(5, key(0)));
    let began = hand.now;
    assert!(!hand.machine.has_fetched());
    hand.wait_for(Role::Prospective);
    assert_eq!(hand.now - began, 2_000);
    // Prospective, it returns.
    hand.ask(1, begin(5, key(0)));
    assert_eq!(hand.machine.role(), Role::Follower);
    let replaced = ReplicaKey::new(NodeId(0), DirectoryId(7));
    assert_eq!(code(hand.ask(1, begin(5, replaced))), Code::InvalidVoterKey);
}

/// KR-S5 and KC-1 with a state machine that tells.
#[test]
fn established_when_the_own_epoch_is_committed_and_applied() {
    let mut config = config(0);
    config.applying = Applying::Told;
    let (state, log) = (state(5, None, Some(0)), log(&[(4, 10)]));
    let mut hand = Hand::with(config, Some(Stored { state, log }));
    hand.answer(1, vote_reply(5, true));
    let now = Instant::from_millis(hand.now);
    let shown = |answer| match answer {
        Some(Body::FetchReply { high_watermark, .. }) => high_watermark,
        other => panic!("{other:?}"),
    };
    // Everything of the earlier epochs is on a majority, and that shows nothing.
    assert_eq!(shown(hand.ask(1, fetch(1, 5, LAST))), 0);
    assert_eq!(hand.machine.high_watermark(), 0);
    assert_eq!(hand.machine.propose(now, 1), Err(ProposeError::NotActive));
    assert_eq!(hand.machine.epoch_start(), Some(10));
    let end = Position::new(5, 11);
    assert_eq!(shown(hand.ask(1, fetch(1, 5, end))), 11);
    hand.machine.applied(now, 10);
    assert_eq!(hand.machine.standing(now), Standing::Unknown);
    hand.machine.applied(now, 99);
    hand.drain();
    let Some(Event::Established(tenure)) = hand.events.last().copied() else {
        panic!("{:?}", hand.events);
    };
    assert_eq!(hand.machine.standing(now), Standing::Leading(tenure));
    assert_eq!(tenure.token, Token::new(0, 5));
    // The check of the quorum is what bounds it, and a fetch moves that on.
    assert_eq!(tenure.until, Instant::from_millis(hand.now + 3_000));
    hand.now += 2_999;
    hand.ask(1, fetch(1, 5, end));
    let later = Instant::from_millis(hand.now + 2_999);
    assert!(matches!(hand.machine.standing(later), Standing::Leading(_)));
    assert_eq!(
        hand.machine.standing(later + Duration::from_millis(1)),
        Standing::Unknown
    );
    assert_eq!(hand.machine.propose(now, 0), Err(ProposeError::NoRecords));
    assert_eq!(
        hand.machine.propose(now, u64::MAX),
        Err(ProposeError::TooLong)
    );
    let refused = hand.machine.compact(now, 12).unwrap_err();
    assert!(refused.to_string().contains("offset 11"));
    hand.machine.renounce(now);
    hand.drain();
    assert_eq!(hand.machine.role(), Role::Resigned);
    assert_eq!(
        hand.machine.propose(now, 1),
        Err(ProposeError::NotLeader(None))
    );
}

/// Who is no voter asks and is told; it decides nothing and stands for nothing.
#[test]
fn an_observer_decides_nothing() {
    let mut hand = Hand::leading();
    let at = hand
        .machine
        .propose(Instant::from_millis(hand.now), 1)
        .unwrap();
    hand.wait_until_due();
    let spoofed = Body::Fetch {
        epoch: 1,
        after: at,
        replica: key(1),
        high_watermark: 0,
    };
    assert_eq!(hand.ask(9, spoofed), None, "it speaks for another");
    let replaced = Body::Fetch {
        epoch: 1,
        after: at,
        replica: ReplicaKey::new(NodeId(1), DirectoryId(7)),
        high_watermark: 0,
    };
    hand.ask(1, replaced);
    hand.ask(9, fetch(9, 1, at));
    assert_eq!(hand.machine.high_watermark(), 1);
    hand.ask(1, fetch(1, 1, at));
    assert_eq!(hand.machine.high_watermark(), 2);
    for body in [
        vote(9, 7, at, false),
        Body::BeginQuorumEpoch {
            epoch: 7,
            voter: key(0),
        },
        vote_reply(7, true),
    ] {
        assert_eq!(hand.ask(9, body), None);
    }
    assert_eq!(hand.machine.epoch(), 1);
    assert_eq!(hand.machine.refusals().count(Refusal::UnknownSender), 4);
    let mut observer = Hand::booted(9, state(5, None, None), &[]);
    observer.input(Input::Campaign);
    for _ in 0..100 {
        observer.wait_until_due();
        assert_eq!(observer.machine.role(), Role::Unattached);
    }
}

/// At the end of all epochs nobody stands any more.
#[test]
fn epochs_end() {
    let mut hand = Hand::booted(0, state(MAX_EPOCH, None, None), &[]);
    hand.wait_for(Role::Prospective);
    hand.answer(1, vote_reply(MAX_EPOCH, true));
    assert_eq!(
        (hand.machine.role(), hand.machine.epoch()),
        (Role::Unattached, MAX_EPOCH)
    );
    assert_eq!(hand.machine.refusals().count(Refusal::EpochsExhausted), 1);
}

/// A host that wants a leader now.
#[test]
fn a_campaign_skips_the_wait_alone() {
    let mut hand = Hand::booted(0, state(5, None, None), &[]);
    hand.input(Input::Campaign);
    assert_eq!(hand.machine.role(), Role::Prospective);
    let mut hand = Hand::leading();
    hand.input(Input::Campaign);
    assert_eq!(hand.machine.role(), Role::Leader);
    let mut hand = Hand::following(&[]);
    hand.input(Input::Resign { to: None });
    assert_eq!(hand.machine.role(), Role::Follower);
}

/// Kafka's defaults, and what cannot work, by name, reason and remedy.
#[test]
fn configurations_are_checked() {
    let ms = Duration::from_millis;
    let timing = Timing::default();
    assert_eq!(
        (timing.check_quorum(), timing.begin_quorum()),
        (ms(3_000), ms(1_000))
    );
    assert_eq!(config(0).validate(), Ok(()));
    let with = |change: fn(&mut Config)| {
        let mut config = config(0);
        change(&mut config);
        config.validate().unwrap_err()
    };
    let boots = |stored: Stored, incarnation| {
        let boot = Boot {
            stored: Some(stored),
            directory: DirectoryId(1),
            incarnation,
            seed: 1,
        };
        Kraft::new(config(0), boot, Instant::ZERO).unwrap_err()
    };
    let stored = |state, base| Stored {
        state,
        log: Shape::after(base),
    };
    let (none, start) = (QuorumState::default(), Position::START);
    let raised = QuorumState {
        generation: 2,
        ..none
    };
    let zero = state(0, Some(1), None);
    for (error, code, reason, remedy) in [
        (
            with(|it| it.timing.election_timeout = Duration::ZERO),
            "timeout-zero",
            "never rests",
            "a microsecond",
        ),
        (
            with(|it| it.timing.fetch_timeout = Duration::from_micros(1)),
            "timeout-zero",
            "never rests",
            "two",
        ),
        (
            with(|it| it.timing.append_linger = MAX_TIMEOUT + Duration::from_micros(1)),
            "timeout-too-long",
            "3600000001us",
            "an hour",
        ),
        (
            with(|it| it.timing.fetch_max_wait = it.timing.fetch_timeout),
            "fetch-timeout",
            "2s",
            "above the longest wait",
        ),
        (
            with(|it| it.timing.request_timeout = it.timing.fetch_max_wait),
            "request-timeout",
            "500ms",
            "above the longest wait",
        ),
        (
            with(|it| it.batch = 0),
            "nothing-to-fetch",
            "no records",
            "at least one",
        ),
        (
            boots(stored(none, start), 0),
            "incarnation-zero",
            "reserved",
            "nonce",
        ),
        (
            boots(stored(state(MAX_EPOCH + 1, None, None), start), 1),
            "stored-epoch",
            "9223372036854775808",
            "directory id",
        ),
        (
            boots(stored(zero, start), 1),
            "stored-in-epoch-zero",
            "node 1",
            "directory id",
        ),
        (
            boots(
                stored(state(9, None, None), Position::new(3, MAX_OFFSET + 1)),
                1,
            ),
            "stored-log",
            "epoch 3",
            "directory id",
        ),
        (
            boots(stored(raised, start), 1),
            "generation-fell",
            "recorded 2",
            "raise the generation",
        ),
    ] {
        assert_eq!(error.code(), code);
        let told = error.to_string();
        let (before, after) = told.split_once("; ").unwrap();
        assert!(before.contains(reason), "{told}");
        assert!(after.contains(remedy), "{told}");
    }
    assert!(matches!(
        with(|it| it.batch = 0),
        ConfigError::NothingToFetch
    ));
}
