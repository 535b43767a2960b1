//! The laws of the contract, as checks that any scheme's machine can be held to; and for each law a machine that breaks
//! it, so that the check is seen to notice.
//!
//! Scripts of inputs are recorded from a node among hostile neighbours and replayed. C1 and C5 are judged by `mutants.rs`
//! (rules `DurableBeforeReply` and `ValidityFromSend`), C9 by the types.

mod group;

use group::{Breakage, Group, Script};
use std::hash::{DefaultHasher, Hasher};
use tenure::quorum::Voters;
use tenure::raft::{Better, Boot, Config, Message, Raft, Stamp, Write};
use tenure::{Duration, Election, Event, Input, Instant, NodeId, Output, Standing, Unknown};

type Outputs = Vec<Output<Message, Write>>;

/// A law that was broken, and where.
type Verdict = Result<(), String>;

const NODE: u64 = 1;

/// What happened to one node of a hostile group, with every life cut to its first.
fn script(seed: u64) -> Script {
    let mut group = Group::new(3, seed);
    group.breakage = Breakage {
        crash: 0,
        back_in_time: 0,
        ..Breakage::WILD
    };
    group.recording = Some((NODE as usize, Vec::new()));
    group.boot_all();
    group.run_until(3_000_000);
    group.recording.take().unwrap().1
}

fn machine(seed: u64, shift: Duration) -> Raft {
    let voters = Voters::new((0..3).map(NodeId)).unwrap();
    let boot = Boot {
        stored: None,
        incarnation: 1,
        seed,
    };
    let origin = Group::new(3, 0).clock(NODE as usize);
    Raft::new(Config::new(NodeId(NODE), voters), boot, origin + shift).unwrap()
}

fn drain<E: Election<Peer = Message, Request = Write>>(machine: &mut E, outputs: &mut Outputs) {
    while let Some(output) = machine.poll() {
        outputs.push(output);
    }
}

fn fingerprint(machine: &impl Election, now: Instant) -> u64 {
    let mut hasher = DefaultHasher::new();
    machine.fingerprint(now, &mut hasher);
    hasher.finish()
}

/// A scheme under test: the contract with Raft's messages.
trait Subject: Election<Peer = Message, Request = Write, Reply = ()> {}
impl<E: Election<Peer = Message, Request = Write, Reply = ()>> Subject for E {}

/// C2: one deadline, which is later once its timeout was handled; early and repeated timeouts do nothing; a `now` that
/// goes back is the latest one seen.
fn c2_time_is_an_argument(mut machine: impl Subject, script: &Script) -> Verdict {
    for (now, input) in script {
        machine.handle(*now, input.clone());
        drain(&mut machine, &mut Vec::new());

        let mut early = machine.clone();
        if early.deadline().is_none_or(|deadline| deadline > *now) {
            early.handle(*now, Input::Timeout);
            if early.poll().is_some() || fingerprint(&early, *now) != fingerprint(&machine, *now) {
                return Err(format!("an early timeout at {now} did something"));
            }
        }
        let mut due = machine.clone();
        if let Some(deadline) = due.deadline() {
            let at = deadline.max(*now);
            due.handle(at, Input::Timeout);
            drain(&mut due, &mut Vec::new());
            if due.deadline().is_some_and(|next| next <= at) {
                return Err(format!(
                    "after the timeout at {at} the deadline is {:?}",
                    due.deadline()
                ));
            }
        }
        let mut back = machine.clone();
        let mut forth = machine.clone();
        back.handle(Instant::ZERO, input.clone());
        forth.handle(*now, input.clone());
        let (mut a, mut b) = (Vec::new(), Vec::new());
        drain(&mut back, &mut a);
        drain(&mut forth, &mut b);
        if a != b {
            return Err(format!(
                "a clock that went back was believed at {now}: {a:?} {b:?}"
            ));
        }
    }
    Ok(())
}

/// C3: same seed and inputs, same outputs.
fn c3_deterministic<E: Subject>(build: impl Fn() -> E, script: &Script) -> Verdict {
    let run = || {
        let (mut machine, mut outputs) = (build(), Vec::new());
        for (now, input) in script {
            machine.handle(*now, input.clone());
            drain(&mut machine, &mut outputs);
        }
        outputs
    };
    let (first, second) = (run(), run());
    if first == second {
        Ok(())
    } else {
        Err("two runs differ".into())
    }
}

/// C4: what `standing` shows ends at `until`, without any input.
fn c4_belief_expires(mut machine: impl Subject, script: &Script) -> Result<u64, String> {
    let mut beliefs = 0;
    for (now, input) in script {
        machine.handle(*now, input.clone());
        drain(&mut machine, &mut Vec::new());
        if let Standing::Leading(tenure) = machine.standing(*now) {
            beliefs += 1;
            if matches!(machine.standing(tenure.until), Standing::Leading(_)) {
                return Err(format!(
                    "it believes at {} in a tenure until then",
                    tenure.until
                ));
            }
        }
    }
    Ok(beliefs)
}

/// C6: a write of unknown result is never taken for one that was done: the machine acts no more.
fn c6_unknown_is_not_applied(mut machine: impl Subject, script: &Script) -> Result<u64, String> {
    let mut unknowns = 0;
    for (now, input) in script {
        let mut outputs = Vec::new();
        machine.handle(*now, input.clone());
        drain(&mut machine, &mut outputs);
        for output in outputs {
            let Output::Request(ticket, _) = output else {
                continue;
            };
            unknowns += 1;
            let mut doubtful = machine.clone();
            doubtful.handle(*now, Input::Reply(ticket, Err(Unknown)));
            for later in 0..1_000 {
                while let Some(output) = doubtful.poll() {
                    if !matches!(output, Output::Event(_)) {
                        return Err(format!("after an unknown write it said {output:?}"));
                    }
                }
                doubtful.handle(*now + Duration::from_millis(later), Input::Timeout);
            }
        }
    }
    Ok(unknowns)
}

/// C7: elections and depositions alternate, and every election has a higher token.
fn c7_terms_are_told_apart(mut machine: impl Subject, script: &Script) -> Result<u64, String> {
    let (mut office, mut last, mut terms) = (None, None, 0);
    for (now, input) in script {
        machine.handle(*now, input.clone());
        while let Some(output) = machine.poll() {
            match output {
                Output::Event(Event::Elected(token)) => {
                    if office.is_some() || Some(token) <= last {
                        return Err(format!(
                            "elected with {token} while holding {office:?}, after {last:?}"
                        ));
                    }
                    (office, last, terms) = (Some(token), Some(token), terms + 1);
                }
                Output::Event(Event::Deposed(token, _)) if office.take() != Some(token) => {
                    return Err(format!("deposed from {token}, which it did not hold"));
                }
                _ => {}
            }
        }
    }
    Ok(terms)
}

/// C10: the same history at another time has the same fingerprints.
fn c10_fingerprints_are_relative<E: Subject>(
    build: impl Fn(Duration) -> E,
    script: &Script,
) -> Verdict {
    let shift = Duration::from_secs(12_345);
    let (mut here, mut there) = (build(Duration::ZERO), build(shift));
    for (now, input) in script {
        here.handle(*now, input.clone());
        drain(&mut here, &mut Vec::new());
        there.handle(*now + shift, shifted(input.clone(), shift));
        drain(&mut there, &mut Vec::new());
        if fingerprint(&here, *now) != fingerprint(&there, *now + shift) {
            return Err(format!("fingerprints differ after {input:?} at {now}"));
        }
    }
    Ok(())
}

/// The same input when this node's clock reads more: echoes of its own instants move with it.
fn shifted(input: Input<Message, ()>, shift: Duration) -> Input<Message, ()> {
    match input {
        Input::Peer(from, message) => Input::Peer(
            from,
            match message.stamp() {
                Some((at, Stamp::Receiver)) => message.stamped(at + shift),
                _ => message,
            },
        ),
        other => other,
    }
}

/// A machine with a defect that breaks one law.
#[derive(Clone)]
struct Defective {
    inner: Raft,
    defect: Defect,
    old_deadline: Option<Instant>,
}

#[derive(Clone, Copy, PartialEq)]
enum Defect {
    /// C2: the deadline is one call old.
    StaleDeadline,
    /// C2: every timeout is taken for a due one.
    EagerTimeout,
    /// C2: believes a clock that goes back.
    BelievesOldClock,
    /// C3: what it says depends on how many machines there were.
    CountsLives,
    /// C4: looks at the time of its last input.
    ForgetsTime,
    /// C6: takes a doubtful write for a done one.
    HopesForTheBest,
    /// C7: keeps quiet about the end of a term.
    NeverDeposed,
    /// C8: allocates on every input.
    Hoards,
    /// C10: mixes in the wall clock.
    AbsoluteFingerprint,
}

static LIVES: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

impl Defective {
    fn new(defect: Defect, shift: Duration) -> Self {
        let lives = LIVES.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let seed = if defect == Defect::CountsLives {
            lives
        } else {
            1
        };
        Self {
            inner: machine(seed, shift),
            defect,
            old_deadline: None,
        }
    }
}

impl Election for Defective {
    type Peer = Message;
    type Request = Write;
    type Reply = ();

    fn handle(&mut self, now: Instant, input: Input<Message, ()>) {
        self.old_deadline = self.inner.deadline();
        let input = match (self.defect, input) {
            (Defect::HopesForTheBest, Input::Reply(ticket, _)) => Input::Reply(ticket, Ok(())),
            (_, input) => input,
        };
        let mut now = now;
        if self.defect == Defect::EagerTimeout && input == Input::Timeout {
            now = self.inner.deadline().unwrap_or(now);
        }
        if self.defect == Defect::BelievesOldClock && now == Instant::ZERO {
            let voters = self.inner.config().clone();
            let boot = Boot {
                stored: Some(self.inner.record().into()),
                incarnation: 1,
                seed: 9,
            };
            self.inner = Raft::new(voters, boot, now).unwrap();
        }
        if self.defect == Defect::Hoards {
            drop(std::hint::black_box(Box::new(now)));
        }
        self.inner.handle(now, input);
    }

    fn poll(&mut self) -> Option<Output<Message, Write>> {
        let output = self.inner.poll()?;
        if self.defect == Defect::NeverDeposed
            && matches!(output, Output::Event(Event::Deposed(..)))
        {
            return self.poll();
        }
        Some(output)
    }

    fn deadline(&self) -> Option<Instant> {
        if self.defect == Defect::StaleDeadline {
            self.old_deadline
        } else {
            self.inner.deadline()
        }
    }

    fn grain(&self) -> Duration {
        self.inner.grain()
    }

    fn standing(&self, now: Instant) -> Standing {
        self.inner.standing(if self.defect == Defect::ForgetsTime {
            Instant::ZERO
        } else {
            now
        })
    }

    fn fingerprint<H: Hasher>(&self, now: Instant, hasher: &mut H) {
        self.inner.fingerprint(now, hasher);
        if self.defect == Defect::AbsoluteFingerprint {
            hasher.write_u64(now.as_micros());
        }
    }
}

const SEEDS: std::ops::Range<u64> = 0..400;

/// How many of the scripts notice a defect.
fn noticed(check: impl Fn(&Script) -> bool) -> usize {
    SEEDS.filter(|seed| check(&script(*seed))).count()
}

#[test]
fn c2() {
    for seed in SEEDS {
        assert_eq!(
            c2_time_is_an_argument(machine(1, Duration::ZERO), &script(seed)),
            Ok(()),
            "seed {seed}"
        );
    }
    for defect in [
        Defect::StaleDeadline,
        Defect::EagerTimeout,
        Defect::BelievesOldClock,
    ] {
        let check = |script: &Script| {
            c2_time_is_an_argument(Defective::new(defect, Duration::ZERO), script).is_err()
        };
        assert!(noticed(check) > 300);
    }
}

#[test]
fn c3() {
    for seed in SEEDS {
        assert_eq!(
            c3_deterministic(|| machine(1, Duration::ZERO), &script(seed)),
            Ok(()),
            "seed {seed}"
        );
    }
    let check = |script: &Script| {
        c3_deterministic(
            || Defective::new(Defect::CountsLives, Duration::ZERO),
            script,
        )
        .is_err()
    };
    assert!(noticed(check) > 300);
}

#[test]
fn c4() {
    let beliefs: u64 = SEEDS
        .map(|seed| c4_belief_expires(machine(1, Duration::ZERO), &script(seed)).unwrap())
        .sum();
    assert!(beliefs > 1_000, "only {beliefs} beliefs were looked at");
    let check = |script: &Script| {
        c4_belief_expires(Defective::new(Defect::ForgetsTime, Duration::ZERO), script).is_err()
    };
    assert!(noticed(check) > 20);
}

#[test]
fn c6() {
    let unknowns: u64 = SEEDS
        .map(|seed| c6_unknown_is_not_applied(machine(1, Duration::ZERO), &script(seed)).unwrap())
        .sum();
    assert!(unknowns > 300, "only {unknowns} writes were looked at");
    let defective = |script: &Script| {
        c6_unknown_is_not_applied(
            Defective::new(Defect::HopesForTheBest, Duration::ZERO),
            script,
        )
        .is_err()
    };
    assert!(noticed(defective) > 300);
}

#[test]
fn c7() {
    let terms: u64 = SEEDS
        .map(|seed| c7_terms_are_told_apart(machine(1, Duration::ZERO), &script(seed)).unwrap())
        .sum();
    assert!(terms > 100, "only {terms} terms were looked at");
    let check = |script: &Script| {
        c7_terms_are_told_apart(Defective::new(Defect::NeverDeposed, Duration::ZERO), script)
            .is_err()
    };
    assert!(noticed(check) > 20);
}

#[test]
fn c10() {
    for seed in SEEDS {
        let build = |shift| machine(1, shift);
        assert_eq!(
            c10_fingerprints_are_relative(build, &script(seed)),
            Ok(()),
            "seed {seed}"
        );
    }
    let build = |shift| Defective::new(Defect::AbsoluteFingerprint, shift);
    assert!(noticed(|script| c10_fingerprints_are_relative(build, script).is_err()) > 300);
}

/// Allocations of a leader or a follower over `rounds` heartbeats, after a warm-up.
fn allocations<E: Subject>(mut machine: E, leads: bool, rounds: u64) -> u64 {
    let mut now = Group::new(3, 0).clock(NODE as usize);
    let beat = Duration::from_millis(50);
    let mut run = |machine: &mut E, rounds: u64| {
        for _ in 0..rounds {
            now = now + beat;
            if leads {
                machine.handle(now, Input::Timeout);
            } else {
                machine.handle(
                    now,
                    Input::Peer(
                        NodeId(0),
                        Message::Heartbeat {
                            term: 1,
                            sent: now,
                            round: 1,
                            commit: 0,
                        },
                    ),
                );
            }
            // Whatever it asks is done and acknowledged at once.
            while let Some(output) = machine.poll() {
                match output {
                    Output::Request(ticket, _) => machine.handle(now, Input::Reply(ticket, Ok(()))),
                    Output::Send(to, message) => {
                        if let Some(answer) = answer(message) {
                            machine.handle(now, Input::Peer(to, answer));
                        }
                    }
                    Output::Event(_) => {}
                }
            }
        }
    };
    run(&mut machine, 20);
    let counted = allocation_counter::measure(|| run(&mut machine, rounds));
    let expected = if leads {
        matches!(machine.standing(now), Standing::Leading(_))
    } else {
        machine.standing(now) != Standing::Unknown
    };
    assert!(
        expected,
        "the steady state was not reached: {:?}",
        machine.standing(now)
    );
    counted.count_total
}

/// An obliging peer.
fn answer(message: Message) -> Option<Message> {
    match message {
        Message::RequestPreVote { term, sent, .. } => Some(Message::PreVoteGranted {
            term,
            remainder: Duration::ZERO,
            sent,
        }),
        Message::RequestVote { term, .. } => Some(Message::VoteGranted { term }),
        Message::Heartbeat {
            term, sent, round, ..
        } => Some(Message::HeartbeatAck {
            term,
            sent,
            round,
            promise: Duration::from_millis(150),
            matched: 0,
        }),
        _ => None,
    }
}

#[test]
fn c8_nothing_allocates_in_the_steady_state() {
    for leads in [false, true] {
        assert_eq!(
            allocations(machine(1, Duration::ZERO), leads, 10_000),
            0,
            "leads: {leads}"
        );
        assert!(
            allocations(
                Defective::new(Defect::Hoards, Duration::ZERO),
                leads,
                10_000
            ) >= 10_000
        );
    }
}

mod hostile_input {
    use super::*;
    use proptest::prelude::*;
    use std::sync::Arc;
    use tenure::Ticket;
    use tenure::log::Position;
    use tenure::membership::Membership;
    use tenure::raft::{Entries, Replication};

    fn number() -> impl Strategy<Value = u64> + Clone {
        prop_oneof![0u64..6, Just(u64::MAX), Just(u64::MAX >> 1), any::<u64>()]
    }

    /// Any message; one that speaks of a log in one of two cases.
    fn message() -> impl Strategy<Value = Message> {
        prop_oneof![of_elections(), of_logs()]
    }

    fn position() -> impl Strategy<Value = Position> + Clone {
        (number(), number()).prop_map(|(term, index)| Position::new(term, index))
    }

    fn of_elections() -> impl Strategy<Value = Message> {
        let at = number().prop_map(Instant::from_micros);
        let span = number().prop_map(Duration::from_micros);
        let to = prop::option::of(number().prop_map(NodeId));
        let better =
            (position(), span.clone(), at.clone()).prop_map(|(last, remainder, sent)| Better {
                last,
                remainder,
                sent,
            });
        prop_oneof![
            (number(), position(), at.clone(), number()).prop_map(
                |(term, last, sent, released)| Message::RequestPreVote {
                    term,
                    last,
                    sent,
                    released
                }
            ),
            (number(), span.clone(), at.clone()).prop_map(|(term, remainder, sent)| {
                Message::PreVoteGranted {
                    term,
                    remainder,
                    sent,
                }
            }),
            (number(), number(), prop::option::of(better)).prop_map(|(asked, term, better)| {
                Message::PreVoteRefused {
                    asked,
                    term,
                    better,
                }
            }),
            (number(), position(), number()).prop_map(|(term, last, released)| {
                Message::RequestVote {
                    term,
                    last,
                    released,
                }
            }),
            number().prop_map(|term| Message::VoteGranted { term }),
            (number(), number()).prop_map(|(asked, term)| Message::VoteRefused { asked, term }),
            (number(), at.clone(), number(), number()).prop_map(|(term, sent, round, commit)| {
                Message::Heartbeat {
                    term,
                    sent,
                    round,
                    commit,
                }
            }),
            (number(), at, number(), span, number()).prop_map(
                |(term, sent, round, promise, matched)| Message::HeartbeatAck {
                    term,
                    sent,
                    round,
                    promise,
                    matched
                }
            ),
            (number(), number())
                .prop_map(|(asked, term)| Message::HeartbeatRefused { asked, term }),
            (number(), to, any::<bool>()).prop_map(|(term, to, orderly)| Message::Release {
                term,
                to,
                orderly
            }),
        ]
    }

    fn of_logs() -> impl Strategy<Value = Message> {
        let at = || number().prop_map(Instant::from_micros);
        let span = || number().prop_map(Duration::from_micros);
        let membership = || {
            (1u64..5).prop_map(|count| {
                Arc::new(Membership::new(
                    &Voters::new((0..count).map(NodeId)).unwrap(),
                ))
            })
        };
        let entries = || {
            prop_oneof![
                3 => (number(), number()).prop_map(|(term, count)| Entries::Run { term, count }),
                1 => (number(), membership()).prop_map(|(term, to)| Entries::Change { term, to }),
            ]
        };
        prop_oneof![
            (number(), at(), position(), entries(), number()).prop_map(
                |(term, sent, prev, entries, commit)| Message::Append {
                    term,
                    sent,
                    prev,
                    entries,
                    commit
                }
            ),
            (number(), at(), span(), number()).prop_map(|(term, sent, promise, matched)| {
                Message::AppendAck {
                    term,
                    sent,
                    promise,
                    matched,
                }
            }),
            (number(), at(), span(), number(), position()).prop_map(
                |(term, sent, promise, prev, hint)| Message::AppendRefused {
                    term,
                    sent,
                    promise,
                    prev,
                    hint
                }
            ),
            (number(), number()).prop_map(|(term, index)| Message::Commit { term, index }),
            (number(), at(), position(), membership()).prop_map(
                |(term, sent, last, membership)| Message::InstallSnapshot {
                    term,
                    sent,
                    last,
                    membership
                }
            ),
            (number(), at(), position()).prop_map(|(term, sent, after)| Message::Fetch {
                term,
                sent,
                after
            }),
            (number(), at(), position(), entries(), position()).prop_map(
                |(term, sent, prev, entries, last)| Message::Suffix {
                    term,
                    sent,
                    prev,
                    entries,
                    last
                }
            ),
            (number(), at(), position(), membership(), position()).prop_map(
                |(term, sent, base, membership, last)| Message::SuffixSnapshot {
                    term,
                    sent,
                    base,
                    membership,
                    last
                }
            ),
            (number(), number()).prop_map(|(term, number)| Message::ReadIndex { term, number }),
            (number(), number(), number()).prop_map(|(term, number, index)| {
                Message::ReadIndexAck {
                    term,
                    number,
                    index,
                }
            }),
            (number(), number()).prop_map(|(asked, index)| Message::NotMember { asked, index }),
        ]
    }

    fn input() -> impl Strategy<Value = Input<Message, ()>> {
        let ticket = (0u64..3, number()).prop_map(|(incarnation, number)| Ticket {
            incarnation,
            number,
        });
        prop_oneof![
            8 => (0u64..4, message()).prop_map(|(from, message)| Input::Peer(NodeId(from), message)),
            2 => Just(Input::Timeout),
            1 => Just(Input::Campaign),
            1 => prop::option::of(number().prop_map(NodeId)).prop_map(|to| Input::Resign { to }),
            3 => ticket.prop_map(|ticket| Input::Reply(ticket, Ok(()))),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        /// C8: no input panics, overflows or makes the machine grow, whatever numbers a peer makes up; with a log and
        /// without one.
        #[test]
        fn no_input_panics(log: bool, inputs in prop::collection::vec((number(), input()), 1..60)) {
            let mut subject = if log { with_log() } else { machine(1, Duration::ZERO) };
            for (now, input) in inputs {
                let now = Instant::from_micros(now);
                let (term, commit) = (subject.term(), subject.commit());
                subject.handle(now, input);
                let mut outputs = Vec::new();
                drain(&mut subject, &mut outputs);
                let _ = (subject.propose(now, 3), subject.compact(now, subject.commit()));
                drain(&mut subject, &mut outputs);
                prop_assert!(outputs.len() < 20);
                prop_assert!(subject.term() >= term && subject.term() <= tenure::raft::MAX_TERM);
                prop_assert!(subject.commit() >= commit && subject.commit() <= subject.last().index);
                let _ = (subject.standing(Instant::FOREVER), subject.deadline(), fingerprint(&subject, Instant::ZERO));
            }
        }
    }

    fn with_log() -> Raft {
        let config = Config {
            replication: Some(Replication::default()),
            ..machine(1, Duration::ZERO).config().clone()
        };
        let boot = Boot {
            stored: None,
            incarnation: 1,
            seed: 1,
        };
        Raft::new(config, boot, Instant::ZERO).unwrap()
    }
}
