//! Elections over a store, and what stops an old leader.

use super::runs::{broken, two_lead};
use super::{Claim, Part, Verdict};
use crate::check::Check;
use crate::measure::schemes::{Cell, Cells, Row, Terms, Trial};
use crate::scheme::lease::Kind;

/// A leader looks at its lease, freezes before it writes, and goes on when another leads.
const PAUSED: &str = r#"{"tenure": 1, "scheme": "etcd", "nodes": 3, "lease": {"ttl": "6s"},
    "network": {"latency": ["5ms", "10ms"]}, "client": {"every": "50ms", "think": "60ms"}, "duration": "24s",
    "faults": [{"at": "6020ms", "pause": "leader"}, {"at": "18s", "resume": "paused"}]}"#;
/// Its writes are on their way for longer than its lease.
const DELAYED: &str = r#"{"tenure": 1, "scheme": "etcd", "nodes": 3, "lease": {"ttl": "6s"},
    "network": {"latency": ["5ms", "10ms"]}, "client": {"every": "100ms", "writeDelay": "9s"}, "duration": "30s",
    "faults": [{"at": "8s", "crash": "leader"}]}"#;

/// An answer is long on its way, and no other comes after it. Renewed at a third of the lease, as is usual.
const LATE_ANSWER: &str = r#"{"tenure": 1, "scheme": "sql", "nodes": 3, "lease": {"ttl": "9s", "patience": "4s"},
    "network": {"latency": ["5ms", "10ms"]}, "client": {"every": "100ms"}, "duration": "40s",
    "faults": [{"at": "17s", "delay": {"link": ["s1", "leader"], "by": "3500ms"}},
        {"at": "20100ms", "cut": ["leader", "s1"]}, {"at": "36s", "heal": "all"}]}"#;
const LATE_ANSWER_OFF: &str = r#"{"tenure": 1, "scheme": "sql", "nodes": 3, "lease": {"ttl": "9s", "patience": "4s"},
    "rulesOff": ["validity-from-send"],
    "network": {"latency": ["5ms", "10ms"]}, "client": {"every": "100ms"}, "duration": "40s",
    "faults": [{"at": "17s", "delay": {"link": ["s1", "leader"], "by": "3500ms"}},
        {"at": "20100ms", "cut": ["leader", "s1"]}, {"at": "36s", "heal": "all"}]}"#;

pub(super) fn claims() -> Vec<Claim> {
    vec![
        Claim {
            name: "fencing-token",
            says: "The lease decides who is entitled, the token whether the write gets in.",
            expected: Verdict::Holds,
            instead: "Leases that are all kept let writes of an old leader in where nobody looks at the token, and none where the \
                      resource does.",
            gallery: Some("etcd-leader-paused"),
            parts: vec![
                Part::count(
                    "stale writes that the unguarded resource took, the leader frozen before it writes",
                    |seed| broken(PAUSED, seed, Check::StaleWriteUnfenced),
                ),
                Part::count("the same at the resource that looks at the token", |seed| {
                    broken(PAUSED, seed, Check::StaleWriteFenced)
                }),
                Part::count(
                    "stale writes that the unguarded resource took, writes on their way for longer than the lease",
                    |seed| broken(DELAYED, seed, Check::StaleWriteUnfenced),
                ),
                Part::count("the same at the resource that looks at the token", |seed| {
                    broken(DELAYED, seed, Check::StaleWriteFenced)
                }),
                Part::time("two who believed to lead meanwhile", |seed| {
                    two_lead(PAUSED, seed) + two_lead(DELAYED, seed)
                }),
            ],
            judge: |figures| match figures {
                [frozen, frozen_guarded, late, late_guarded, _]
                    if frozen_guarded.occurred()
                        || late_guarded.occurred()
                        || frozen.never() && late.never() =>
                {
                    Verdict::Corrected
                }
                [frozen, _, late, _, two]
                    if frozen.occurred() && late.occurred() && two.never() =>
                {
                    Verdict::Holds
                }
                _ => Verdict::Open,
            },
        },
        Claim {
            name: "renew-every-third",
            says: "A lease is safe that is renewed every third of its TTL.",
            expected: Verdict::Corrected,
            instead: "What counts is from when: from the send. Counted from an answer that came late, two lead.",
            gallery: Some("kubernetes-counted-from-answer"),
            parts: vec![
                Part::time(
                    "two who believe to lead, renewed every third, counted from the answer; one answer is late",
                    |seed| two_lead(LATE_ANSWER_OFF, seed),
                ),
                Part::time("the same counted from the send", |seed| {
                    two_lead(LATE_ANSWER, seed)
                }),
            ],
            judge: |figures| match figures {
                [answer, send] if answer.occurred() && send.never() => Verdict::Corrected,
                [answer, send] if answer.never() && send.never() => Verdict::Holds,
                _ => Verdict::Open,
            },
        },
        Claim {
            name: "redis-failover",
            says: "A failover of Redis can lose the lock, and then two lead; etcd, where a majority has confirmed it, does not.",
            expected: Verdict::Holds,
            instead: "Replication is asynchronous: the claim was granted and is gone with the primary, and its token comes again.",
            gallery: Some("redis-failover"),
            parts: vec![
                Part::time(
                    "two who believe to lead, Redis goes over to a replica just when it granted the claim",
                    |seed| two_leaders(Row::Lease(Kind::Redis), Trial::Failover, seed),
                ),
                Part::count("tokens that did not rise then", |seed| {
                    cell(Row::Lease(Kind::Redis), Trial::Failover, seed).tokens_fell
                }),
                Part::time(
                    "two who believe to lead, the leading one of three servers of etcd dies just then",
                    |seed| two_leaders(Row::Lease(Kind::Etcd), Trial::Failover, seed),
                ),
            ],
            judge: |figures| match figures {
                [redis, fell, etcd] if redis.occurred() && fell.occurred() && etcd.never() => {
                    Verdict::Holds
                }
                [redis, _, etcd] if redis.never() || etcd.occurred() => Verdict::Corrected,
                _ => Verdict::Open,
            },
        },
        Claim {
            name: "redlock-clocks",
            says: "Redlock depends on clocks.",
            expected: Verdict::Holds,
            instead: "One leads while clocks keep to their pace; where that of one server jumps two may, and there is no token that a \
                      resource could look at.",
            gallery: Some("redlock-clock-jump"),
            parts: vec![
                Part::time(
                    "two who believe to lead, the clock of one server of five jumps",
                    |seed| two_leaders(Row::Lease(Kind::Redlock), Trial::ClockJump, seed),
                ),
                Part::time(
                    "the same, the leader cut off and clocks apart within their bound",
                    |seed| two_leaders(Row::Lease(Kind::Redlock), Trial::RateWithin, seed),
                ),
                Part::count("tokens", |seed| {
                    cell(Row::Lease(Kind::Redlock), Trial::ClockJump, seed).tokens
                }),
            ],
            judge: |figures| match figures {
                [jump, within, tokens] if jump.occurred() && within.never() && tokens.never() => {
                    Verdict::Holds
                }
                [jump, within, _] if jump.never() && within.never() => Verdict::Corrected,
                _ => Verdict::Open,
            },
        },
        Claim {
            name: "kubernetes-one-reconciles",
            says: "Of the replicas of a Kubernetes controller one takes the lock, and one reconciles.",
            expected: Verdict::Limited,
            instead: "While clocks keep nearly the same pace, as client-go's manual says itself; by how much they are apart is no matter. Who waits \
                      counts the lease by its own clock, and takes it too soon when that runs too fast for the leader's.",
            gallery: Some("kubernetes-counted-from-send"),
            parts: vec![
                Part::time(
                    "two who believe to lead, the leader crashes, freezes or is cut off",
                    |seed| {
                        let trials = [Trial::Crash, Trial::Pause, Trial::Partition];
                        let two = |trial| two_leaders(Row::Lease(Kind::Kubernetes), trial, seed);
                        trials.map(two).iter().sum()
                    },
                ),
                Part::time(
                    "the same, the leader cut off and the rates of clocks apart within their bound",
                    |seed| two_leaders(Row::Lease(Kind::Kubernetes), Trial::RateWithin, seed),
                ),
                Part::time(
                    "the same, the leader's clock slow and the others fast by 30 %: more than LeaseDuration over RenewDeadline bears",
                    |seed| two_leaders(Row::Lease(Kind::Kubernetes), Trial::RateBeyond, seed),
                ),
            ],
            judge: |figures| match figures {
                [usual, within, _] if usual.occurred() || within.occurred() => Verdict::Corrected,
                [usual, within, beyond] if usual.never() && within.never() => {
                    if beyond.occurred() {
                        Verdict::Limited
                    } else {
                        Verdict::Holds
                    }
                }
                _ => Verdict::Open,
            },
        },
    ]
}

fn cell(row: Row, trial: Trial, seed: u64) -> Cell {
    let mut cells = Cells::default();
    let run = cells.run(row, &Terms::default(), &[trial], seed);
    run.expect("every cell of the table of schemes is run by its tests");
    cells.of(trial).clone()
}

fn two_leaders(row: Row, trial: Trial, seed: u64) -> u64 {
    cell(row, trial, seed).two_leaders.quantiles().max
}
