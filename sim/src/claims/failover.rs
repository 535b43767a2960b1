//! How long a failover takes.

use super::{Claim, Figures, Part, Verdict};
use crate::measure::stages::{Loss, Pace, RANGE, Row, Stages, stages};
use crate::measure::ttl::{Lags, Level, TTLS};
use crate::scheme::lease::Kind;

pub(super) fn claims() -> Vec<Claim> {
    vec![
        Claim {
            name: "failover-time",
            says: "A failover takes 200 to 500 ms: detection, election and synchronisation together.",
            expected: Verdict::Limited,
            instead: "So it is, or sooner, with Raft at 150 to 300 ms, and with ZooKeeper's servers where the connection of the dead is \
                      closed. All others, as they are shipped, take seconds to a minute: they detect by a longer silence.",
            gallery: Some("leader-crash"),
            parts: Row::all().map(whole).collect(),
            judge: |figures| {
                let [_, latest] = RANGE;
                // In 99 of 100: a vote may be split more than once.
                let soon =
                    |of: &&Figures| of.always() && 100 * of.between(1, latest) >= 99 * of.runs();
                match (figures.iter().filter(soon).count(), figures.len()) {
                    (0, _) => Verdict::Corrected,
                    (soon, all) if soon == all => Verdict::Holds,
                    _ => Verdict::Limited,
                }
            },
        },
        Claim {
            name: "failover-stages",
            says: "Of that, with Raft: detection 150 to 300 ms, election 0 to 150 ms, synchronisation of the log 10 to 50 ms.",
            expected: Verdict::Limited,
            instead: "Detection begins with the last heartbeat and not with the crash, and ends with the first of the timeouts: it is \
                      shorter than the timeout in many runs. The rest is so.",
            gallery: Some("leader-crash"),
            parts: vec![
                Part::time("detection", |seed| raft(seed).detection),
                Part::time("election", |seed| raft(seed).election),
                Part::time("synchronisation", |seed| raft(seed).synchronisation),
            ],
            judge: |figures| match figures {
                [detection, election, synchronisation] => {
                    // Nine of ten: what is split or lost has no bound.
                    let most =
                        |of: &Figures, least, most| 10 * of.between(least, most) >= 9 * of.runs();
                    let rest = most(election, 0, 150_000) && most(synchronisation, 10_000, 50_000);
                    match (most(detection, 150_000, 300_000), rest) {
                        (true, true) => Verdict::Holds,
                        (false, true) => Verdict::Limited,
                        (_, false) => Verdict::Corrected,
                    }
                }
                _ => Verdict::Open,
            },
        },
        Claim {
            name: "ttl",
            says: "The TTL of a lease is the delay of its failover: 1 s switches soon and falsely, 60 s takes a minute, 5 to 10 s is the \
                   practice.",
            expected: Verdict::Holds,
            instead: "More figures: tenure-sim ttl.",
            gallery: Some("sql-lease-60s"),
            parts: vec![
                Part::time("from a crash to the next leader, a lease of 60 s", |seed| {
                    lags(seed, Level::Calm).by_ttl[place(60)]
                        .takeover
                        .quantiles()
                        .p50
                }),
                Part::time("the same, a lease of 1 s", |seed| {
                    lags(seed, Level::Calm).by_ttl[place(1)]
                        .takeover
                        .quantiles()
                        .p50
                }),
                Part::count(
                    "leaders that live and lose a lease of 1 s in ten minutes, where the way to the store is now and then slow",
                    |seed| lags(seed, Level::Spikes).by_ttl[place(1)].false_failovers,
                ),
                Part::count("the same, a lease of 5 s", |seed| {
                    lags(seed, Level::Spikes).by_ttl[place(5)].false_failovers
                }),
            ],
            judge: |figures| match figures {
                [minute, second, falsely, steady] => {
                    let long = (30_000_000..65_000_000).contains(&minute.median());
                    let short = second.median() < 2_000_000;
                    match (long && short, falsely.occurred() && steady.never()) {
                        (true, true) => Verdict::Holds,
                        (true, false) if steady.occurred() => Verdict::Limited,
                        (true, false) => Verdict::Open,
                        (false, _) => Verdict::Corrected,
                    }
                }
                _ => Verdict::Open,
            },
        },
    ]
}

/// Without a leader after a crash of its process, as shipped.
fn whole(row: Row) -> Part {
    let setting = row.scenario(Pace::Shipped);
    Part::time(row.name(), move |seed| {
        let run = stages(&setting, Loss::Process, seed);
        let run = run.expect("every setting of the table of stages is run by its tests");
        run.map_or(0, |run| run.whole)
    })
}

fn raft(seed: u64) -> Stages {
    let run = stages(&Row::RaftLog.scenario(Pace::Shipped), Loss::Process, seed);
    let none = Stages {
        detection: 0,
        election: 0,
        synchronisation: 0,
        whole: 0,
        first_write: 0,
    };
    run.expect("the usual timeouts").unwrap_or(none)
}

fn lags(seed: u64, level: Level) -> Lags {
    let mut lags = Lags::default();
    let run = lags.run(Kind::Sql, level, seed);
    run.expect("every length of the table of leases is run by its tests");
    lags
}

fn place(ttl: u64) -> usize {
    let place = TTLS.iter().position(|of| *of == ttl);
    place.expect("a length that is measured")
}
