//! C10 beyond the fingerprint, as an exhaustive search needs it: what looks alike answers alike, names can be exchanged,
//! echoes age, and what is called inert does nothing, now or later.

mod bench;
mod group;

use bench::{Bench, follower, ms, plain};
use group::{Breakage, Group};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};
use tenure::log::{Position, Shape};
use tenure::raft::{Message, Raft, Record, Role, Rule, Rules, Switched, View};
use tenure::{Duration, Election, Input, Instant, NodeId, Output};

type Outputs = Vec<Output<Message, Record>>;

fn look<R: Rules>(machine: &Raft<R>, now: Instant, view: View<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    machine.view(now, view, &mut hasher);
    hasher.finish()
}

fn handled<R: Rules>(machine: &mut Raft<R>, now: Instant, input: Input<Message, ()>) -> Outputs {
    machine.handle(now, input);
    std::iter::from_fn(|| machine.poll()).collect()
}

/// Without draws two machines of one state do the same, whatever they did before.
fn drawless(seed: u64) -> Group<Switched> {
    let mut group = Group::with_rules(3, seed, Switched::without(&[Rule::RedrawPerAttempt]));
    group.breakage = Breakage {
        crash: 0,
        back_in_time: 0,
        unknown_write: 0,
        ..Breakage::WILD
    };
    group
}

/// An input that leaves no trace in the fingerprint changes nothing that comes later.
#[test]
fn what_looks_alike_answers_alike() {
    const NODE: usize = 1;
    let (mut alike, mut different) = (0, 0);
    for seed in 0..60 {
        let mut group = drawless(seed);
        group.recording = Some((NODE, Vec::new()));
        group.boot_all();
        let mut machine = group.nodes[NODE].machine.clone().unwrap();
        group.run_until(2_000_000);
        let script = group.recording.take().unwrap().1;
        for (at, (now, input)) in script.iter().enumerate() {
            handled(&mut machine, *now, *input);
            let earlier = at.saturating_sub(12);
            let extra = script[earlier..=at].iter().map(|(_, input)| *input);
            for extra in extra.chain([Input::Timeout, Input::Campaign]) {
                let (mut one, mut other) = (machine.clone(), machine.clone());
                handled(&mut other, *now, extra);
                if look(&one, *now, View::PLAIN) != look(&other, *now, View::PLAIN) {
                    different += 1;
                    continue;
                }
                alike += 1;
                for (now, input) in script[at + 1..].iter().take(30) {
                    let said = handled(&mut one, *now, *input);
                    assert_eq!(
                        said,
                        handled(&mut other, *now, *input),
                        "{extra:?} in seed {seed}"
                    );
                    assert_eq!(one.deadline(), other.deadline(), "{extra:?} in seed {seed}");
                }
            }
        }
    }
    assert!(alike > 10_000 && different > 2_000, "{alike} {different}");
}

/// The fingerprint of the contract is the view of everything.
#[test]
fn the_fingerprint_shows_all() {
    let mut hasher = DefaultHasher::new();
    let machine = follower().machine;
    machine.fingerprint(ms(1), &mut hasher);
    assert_eq!(hasher.finish(), look(&machine, ms(1), View::PLAIN));
}

/// Under exchanged names a machine looks as one to which the same was done by others.
#[test]
fn names_can_be_exchanged() {
    // `a` leads and asks for a promise, `b` asks for a pre-vote: both answers wait for the disk.
    let history = |a, b| {
        let mut bench = Bench::booted(3, 1, None, Shape::new(), Switched::default());
        bench.disk_works = false;
        let term = 1;
        bench.hear(
            1,
            a,
            Message::RequestVote {
                term,
                last: Position::START,
            },
        );
        bench.heartbeat(2, a, term);
        let ask = Message::RequestPreVote {
            term: 2,
            last: Position::START,
            sent: ms(3),
        };
        bench.hear(3, b, ask);
        bench.machine
    };
    let (one, other) = (history(0, 2), history(2, 0));
    let exchanged = View {
        order: Some(&[2, 1, 0]),
        ..View::PLAIN
    };
    let same = View {
        order: Some(&[0, 1, 2]),
        ..View::PLAIN
    };
    let plain = look(&one, ms(3), View::PLAIN);
    assert_ne!(plain, look(&other, ms(3), View::PLAIN));
    assert_eq!(plain, look(&other, ms(3), exchanged));
    assert_eq!(plain, look(&one, ms(3), same));
    let named = Message::Release {
        term: 1,
        to: Some(NodeId(2)),
    };
    let renamed = Message::Release {
        term: 1,
        to: Some(NodeId(7)),
    };
    assert_eq!(named.renamed(|id| NodeId(id.0 + 5)), renamed);
}

/// What waits for the disk counts, with the one it is for, unless the view leaves it out.
#[test]
fn what_waits_for_the_disk_is_seen() {
    let refusing = |candidate| {
        let mut bench = follower();
        bench.disk_works = false;
        bench.heartbeat(1, 1, 1);
        let ask = Message::RequestVote {
            term: 1,
            last: Position::START,
        };
        bench.hear(2, candidate, ask);
        bench.machine
    };
    let (one, other) = (refusing(1), refusing(2));
    let bare = View {
        held: false,
        ..View::PLAIN
    };
    assert_ne!(
        look(&one, ms(2), View::PLAIN),
        look(&other, ms(2), View::PLAIN)
    );
    assert_eq!(look(&one, ms(2), bare), look(&other, ms(2), bare));
    // The same with nothing left to wait for.
    let mut done = follower();
    done.heartbeat(1, 1, 1);
    assert_ne!(look(&one, ms(2), bare), look(&done.machine, ms(2), bare));
}

/// A question that waits for the disk is seen with the time at which it was asked, also when it was given up since.
#[test]
fn a_question_that_waits_keeps_its_time() {
    let stepped_back = |at: u64, view| {
        let drawless = Switched::without(&[Rule::RedrawPerAttempt]);
        let mut bench = Bench::booted(3, 0, None, Shape::new(), drawless);
        bench.disk_works = false;
        bench.heartbeat(1, 1, 1);
        bench.hear(2, 1, Message::Release { term: 1, to: None });
        bench.input(at, Input::Campaign);
        let ask = Message::RequestPreVote {
            term: 2,
            last: Position::START,
            sent: ms(15),
        };
        bench.hear(15, 2, ask);
        assert_eq!(bench.machine.role(), Role::Follower);
        look(&bench.machine, ms(15), view)
    };
    let bare = View {
        held: false,
        ..View::PLAIN
    };
    assert_eq!(stepped_back(10, bare), stepped_back(11, bare));
    assert_ne!(stepped_back(10, View::PLAIN), stepped_back(11, View::PLAIN));
}

/// For which of its writes a message waits is seen, and how many went before them in this life is not.
#[test]
fn writes_are_counted_from_the_newest() {
    let log = Shape::from_runs([(1, 1)]).unwrap();
    let record = Record {
        term: 1,
        ..Record::default()
    };
    let (short, long) = ((1, Position::START), (2, log.last()));
    // Each new term is written; a candidate with the shorter log gets no vote in it.
    let voter = |before: &[u64], asks: &[(u64, Position)]| {
        let drawless = Switched::without(&[Rule::RedrawPerAttempt]);
        let mut bench = Bench::booted(3, 0, Some(record), log.clone(), drawless);
        let ask = |term, last| Message::RequestVote { term, last };
        for term in before {
            bench.hear(1, short.0, ask(*term, short.1));
        }
        bench.disk_works = false;
        for (candidate, last) in asks {
            bench.hear(1, *candidate, ask(9, *last));
        }
        look(&bench.machine, ms(1), View::PLAIN)
    };
    // A refusal from before the vote was given, and once more after it.
    assert_ne!(
        voter(&[8], &[short, long]),
        voter(&[8], &[short, long, short])
    );
    assert_eq!(
        voter(&[8], &[short, long]),
        voter(&[3, 5, 8], &[short, long])
    );
}

/// Time is relative: without end where there is none, and out of the picture where it does not count.
#[test]
fn time_is_seen_as_far_as_it_counts() {
    let led_since = |at: u64| {
        let mut bench = plain();
        bench.input(at, Input::Campaign);
        bench.hear(at, 1, Message::VoteGranted { term: 1 });
        bench.acked(at, 1, 1, at);
        assert!(bench.machine.established());
        look(&bench.machine, ms(at), View::PLAIN)
    };
    assert_eq!(led_since(10), led_since(20), "a lease without end");

    // The own question and the echo of another's both wait for the disk.
    let asked_at = |at: u64| {
        let mut bench = follower();
        bench.disk_works = false;
        bench.hear(
            1,
            1,
            Message::Heartbeat {
                term: 1,
                sent: ms(at),
            },
        );
        let echo = bench.machine.clone();
        bench.hear(2, 1, Message::Release { term: 1, to: None });
        bench.input(at, Input::Campaign);
        assert_eq!(bench.machine.role(), Role::PreCandidate);
        (echo, bench.machine)
    };
    let untimed = View {
        timed: false,
        ..View::PLAIN
    };
    let ((echo, question), (later_echo, later_question)) = (asked_at(10), asked_at(11));
    for (one, other) in [(echo, later_echo), (question, later_question)] {
        assert_ne!(
            look(&one, ms(20), View::PLAIN),
            look(&other, ms(20), View::PLAIN)
        );
        assert_eq!(look(&one, ms(20), untimed), look(&other, ms(20), untimed));
    }
}

/// A candidate that waits for its disk waits for nothing else, also at the instant at which its promise ends.
#[test]
fn what_is_over_is_not_seen() {
    let record = Record {
        term: 3,
        promise: Duration::from_millis(100),
        ..Record::default()
    };
    let mut bench = Bench::booted(3, 0, Some(record), Shape::new(), Switched::default());
    bench.disk_works = false;
    bench.input(80, Input::Campaign);
    let granted = Message::PreVoteGranted {
        term: 4,
        remainder: Duration::ZERO,
        sent: ms(80),
    };
    bench.hear(85, 1, granted);
    bench.input(100, Input::Timeout);
    assert_eq!(bench.machine.role(), Role::Candidate);
    assert_eq!(
        bench.machine.promise().map(|promise| promise.until),
        Some(ms(100))
    );
    let looks = |at| look(&bench.machine, ms(at), View::PLAIN);
    assert_eq!(looks(100), looks(5_000));
}

/// What waits for the disk and echoes a clock is as much older as that clock moved on, and no older than is asked for.
#[test]
fn echoes_age() {
    let echoing = |sent: u64| {
        let mut bench = follower();
        bench.disk_works = false;
        bench.hear(
            1,
            1,
            Message::Heartbeat {
                term: 1,
                sent: ms(sent),
            },
        );
        bench.machine
    };
    let aged = |of, by| {
        let mut machine = echoing(50);
        machine.age_echoes(NodeId(of), Duration::from_millis(by), ms(20));
        look(&machine, ms(1), View::PLAIN)
    };
    let looks = |sent| look(&echoing(sent), ms(1), View::PLAIN);
    assert_ne!(looks(50), looks(40));
    assert_eq!(aged(1, 10), looks(40));
    assert_eq!(aged(1, 45), looks(20), "no older than that");
    assert_eq!(aged(2, 10), looks(50), "another's clock");
}

/// Delivers `message` to a copy of where it goes, and its answer to a copy of where it came from: nothing comes of either,
/// but the answer.
fn does_nothing<R: Rules>(group: &Group<R>, mail: (usize, usize, Message), timed: bool) -> bool {
    // A message from a stranger is refused: what then happens is the doing of the clock.
    const STRANGER: NodeId = NodeId(99);
    let view = View {
        held: false,
        timed,
        ..View::PLAIN
    };
    let deliver = |from: usize, to: usize, message| {
        let mut with = group.nodes[to].machine.clone()?;
        let mut without = with.clone();
        let now = group.clock(to);
        let mut said = handled(&mut with, now, Input::Peer(NodeId(from as u64), message));
        let always = handled(&mut without, now, Input::Peer(STRANGER, message));
        let unmoved =
            look(&with, now, view) == look(&without, now, view) && said.starts_with(&always);
        Some((unmoved, said.split_off(always.len().min(said.len()))))
    };
    let (from, to, message) = mail;
    let Some((unmoved, answers)) = deliver(from, to, message) else {
        return true;
    };
    unmoved
        && answers.into_iter().all(|answer| match answer {
            Output::Send(back, answer) if back == NodeId(from as u64) => {
                deliver(to, from, answer).is_none_or(|(unmoved, more)| unmoved && more.is_empty())
            }
            _ => false,
        })
}

/// What is called inert does nothing, now or later: not where it arrives, nor, through the answer, where it came from.
#[test]
fn what_is_inert_does_nothing() {
    let mut found: BTreeMap<String, u32> = BTreeMap::new();
    for (seed, safe_mode) in (0..200).map(|seed| (seed, seed % 2 == 0)) {
        let mut group =
            Group::configured(3, seed, Switched::default(), safe_mode, |_| group::timing());
        group.breakage = Breakage {
            back_in_time: 0,
            ..Breakage::WILD
        };
        group.boot_all();
        let mut inert: Vec<(usize, usize, Message)> = Vec::new();
        while group.now < 2_000_000 {
            group.step();
            for mail in group.in_flight() {
                let (from, to, message) = mail;
                let ends = (&group.nodes[from].machine, &group.nodes[to].machine);
                let (Some(there), Some(here)) = ends else {
                    continue;
                };
                let over = here.inert(group.clock(to), there, &message, safe_mode);
                if over && !inert.contains(&mail) {
                    let kind = format!("{message:?}");
                    let kind = kind.split(' ').next().unwrap_or_default();
                    *found.entry(kind.to_owned()).or_default() += 1;
                    inert.push(mail);
                }
            }
            for mail in &inert {
                assert!(
                    does_nothing(&group, *mail, safe_mode),
                    "{mail:?} in seed {seed}"
                );
            }
            let enough = inert.len().saturating_sub(20);
            inert.drain(..enough);
        }
    }
    assert_eq!(found.len(), 10, "{found:?}");
    assert!(found.values().all(|count| *count > 50), "{found:?}");
}

/// A node at the start of a life, in `term` and with a vote in it.
fn resting(id: u64, term: u64, vote: Option<u64>) -> Bench<Switched> {
    let record = Record {
        term,
        vote: vote.map(NodeId),
        ..Record::default()
    };
    Bench::booted(5, id, Some(record), Shape::new(), Switched::default())
}

/// A candidate of `term`, at one second, with its own vote and that of the last node.
fn candidate(id: u64, term: u64) -> Bench<Switched> {
    let mut bench = resting(id, term - 1, None);
    bench.input(1_000, Input::Campaign);
    for voter in [3, 4] {
        let (remainder, sent) = (Duration::ZERO, ms(1_000));
        let granted = Message::PreVoteGranted {
            term,
            remainder,
            sent,
        };
        bench.hear(1_000, voter, granted);
    }
    bench.hear(1_000, 4, Message::VoteGranted { term });
    assert_eq!(
        (bench.machine.role(), bench.machine.term()),
        (Role::Candidate, term)
    );
    bench
}

/// A leader of `term`, whose round of one second ago the last node has acknowledged.
fn leader(id: u64, term: u64) -> Bench<Switched> {
    let mut bench = candidate(id, term);
    bench.hear(1_000, 3, Message::VoteGranted { term });
    bench.acked(1_000, 4, term, 1_000);
    assert_eq!(bench.machine.role(), Role::Leader);
    bench
}

/// Which messages a search may leave out, kind by kind, at a node in term 5 at one second. What may still matter is never
/// called inert; that what cannot matter is makes the search small.
#[test]
fn what_is_over_is_inert() {
    let (start, span, at) = (Position::START, Duration::from_millis(150), ms);
    let vote = |term| Message::RequestVote { term, last: start };
    let granted = |term| Message::VoteGranted { term };
    let refused = |asked, term| Message::VoteRefused { asked, term };
    let beat = |term| Message::Heartbeat {
        term,
        sent: at(999),
    };
    let ack = |term, sent| Message::HeartbeatAck {
        term,
        sent: at(sent),
        promise: span,
    };
    let behind = |asked, term| Message::HeartbeatRefused { asked, term };
    let ask = |term| Message::RequestPreVote {
        term,
        last: start,
        sent: at(999),
    };
    let would = |term, sent| Message::PreVoteGranted {
        term,
        remainder: span,
        sent: at(sent),
    };
    let would_not = |asked, term| Message::PreVoteRefused { asked, term };
    let release = |term| Message::Release { term, to: None };

    let here = || resting(0, 5, None);
    let voted = |vote| resting(0, 5, Some(vote));
    // It followed the leader of term 4 until just now.
    let released = |at: u64| {
        let mut bench = resting(0, 4, None);
        bench.heartbeat(at, 1, 4);
        bench.input(at + 130, Input::Campaign);
        bench.hear(at + 131, 2, Message::PreVoteRefused { asked: 5, term: 5 });
        bench
    };
    let asking = || {
        let mut bench = here();
        bench.input(1_000, Input::Campaign);
        bench
    };
    let there = |term| resting(1, term, None);
    let last = || resting(4, 5, None);
    for (here, there, message, over) in [
        (here(), there(5), vote(4), true),
        (here(), candidate(1, 4), vote(4), false),
        (here(), there(5), vote(5), false),
        (here(), there(6), vote(6), false),
        (voted(2), there(5), vote(5), true),
        (voted(2), there(6), vote(5), true),
        (voted(2), candidate(1, 5), vote(5), false),
        (voted(1), there(5), vote(5), false),
        (here(), there(5), granted(4), true),
        (here(), there(5), granted(5), true),
        (here(), there(6), granted(6), false),
        (candidate(0, 5), there(5), granted(4), true),
        (candidate(0, 5), there(5), granted(5), false),
        (candidate(0, 5), last(), granted(5), true),
        (here(), there(9), refused(4, 9), true),
        (here(), there(9), refused(5, 9), true),
        (here(), there(9), refused(6, 9), false),
        (here(), there(5), refused(6, 5), true),
        (candidate(0, 5), there(5), refused(5, 5), true),
        (candidate(0, 5), there(9), refused(5, 9), false),
        (candidate(0, 5), there(9), refused(4, 9), true),
        (here(), there(5), beat(4), true),
        (here(), leader(1, 4), beat(4), false),
        (here(), candidate(1, 4), beat(4), false),
        (here(), there(6), beat(5), false),
        (here(), there(5), ack(4, 999), true),
        (here(), there(5), ack(5, 999), true),
        (here(), there(6), ack(6, 999), false),
        (candidate(0, 5), there(5), ack(5, 1_000), false),
        (candidate(0, 5), there(5), ack(4, 1_000), true),
        (leader(0, 5), last(), ack(5, 1_000), true),
        (leader(0, 5), there(5), ack(5, 1_000), false),
        (here(), there(9), behind(4, 9), true),
        (here(), there(9), behind(5, 9), true),
        (here(), there(9), behind(6, 9), false),
        (here(), there(5), behind(6, 5), true),
        (candidate(0, 5), there(9), behind(5, 9), false),
        (leader(0, 5), there(9), behind(5, 9), false),
        (leader(0, 5), there(5), behind(5, 5), true),
        (leader(0, 5), there(9), behind(4, 9), true),
        (here(), there(5), ask(5), true),
        (here(), there(6), ask(5), true),
        (here(), there(4), ask(5), false),
        (here(), there(5), ask(6), false),
        (here(), there(6), ask(6), false),
        (here(), there(5), would(5, 999), true),
        (here(), there(5), would(6, 999), true),
        (here(), there(5), would(6, 1_000), false),
        (asking(), there(5), would(5, 1_000), true),
        (asking(), there(5), would(6, 999), true),
        (asking(), there(5), would(6, 1_000), false),
        (here(), there(9), would_not(5, 9), true),
        (here(), there(9), would_not(6, 9), false),
        (here(), there(5), would_not(6, 5), true),
        (here(), there(5), release(4), true),
        (here(), there(5), release(5), false),
        (here(), there(6), release(6), false),
        (released(860), there(5), release(4), false),
        (released(850), there(5), release(4), true),
        (released(860), there(5), release(3), true),
    ] {
        let told = format!("{message:?} at a {:?}", here.machine.role());
        let inert =
            |machine: &Raft<Switched>| machine.inert(ms(1_000), &there.machine, &message, true);
        assert_eq!(inert(&here.machine), over, "{told}");
        // With its disk behind, a crash could take back what made it so.
        if here.machine.role() == Role::Follower
            && !matches!(message, Message::PreVoteGranted { .. })
        {
            let mut behind = resting(0, here.machine.term() - 1, None);
            behind.disk_works = false;
            behind.hear(1_000, 3, vote(here.machine.term()));
            assert!(!inert(&behind.machine), "{told} that waits for its disk");
        }
    }
}

/// What depends on when: an answer to a pre-vote counts as long as a promise lasts, and where time does not count a vote
/// that is given may be asked for again.
#[test]
fn what_is_inert_depends_on_time() {
    let mut asking = resting(0, 5, None);
    asking.input(1_000, Input::Campaign);
    let there = resting(1, 5, None).machine;
    let would = Message::PreVoteGranted {
        term: 6,
        remainder: Duration::ZERO,
        sent: ms(1_000),
    };
    let at = |now, timed| asking.machine.inert(ms(now), &there, &would, timed);
    assert_eq!(
        [at(1_150, true), at(1_151, true), at(1_151, false)],
        [false, true, false]
    );

    let vote = Message::RequestVote {
        term: 5,
        last: Position::START,
    };
    let voted = resting(0, 5, Some(1)).machine;
    let again = |timed| voted.inert(ms(1_000), &there, &vote, timed);
    assert_eq!([again(true), again(false)], [false, true]);

    // The asker's own disk: it may return to the term below, and ask anew.
    let mut asker = resting(1, 4, None);
    asker.disk_works = false;
    asker.hear(1_000, 2, vote);
    let ask = Message::RequestPreVote {
        term: 5,
        last: Position::START,
        sent: ms(999),
    };
    let here = resting(0, 5, None).machine;
    assert!(!here.inert(ms(1_000), &asker.machine, &ask, true));
}
