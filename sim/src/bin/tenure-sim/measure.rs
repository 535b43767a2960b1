//! `measure`: figures over many seeds.

use crate::args::Seeds;
use crate::sweep::unsafe_setting;
use crate::{Done, parallel};
use tenure_sim::Refusal;
use tenure_sim::app::Takeover;
use tenure_sim::measure::{
    Failovers, Jitter, Minority, Reads, Setting, Stale, TAKES, Timeline, Way,
};
use tenure_sim::stats::Quantiles;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Failover,
    ColdStart,
    Minority,
    Stale,
    Jitter,
    Reads,
}

impl What {
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "failover" => Self::Failover,
            "cold-start" => Self::ColdStart,
            "minority" => Self::Minority,
            "stale" => Self::Stale,
            "jitter" => Self::Jitter,
            "reads" => Self::Reads,
            _ => return None,
        })
    }

    pub(crate) const fn usual_seeds(self) -> u64 {
        match self {
            Self::Failover | Self::ColdStart => 10_000,
            Self::Minority | Self::Stale => 1_000,
            Self::Jitter => 100,
            Self::Reads => 10,
        }
    }
}

/// Measures, prints, and answers whether what must hold does.
pub(crate) fn measure(what: What, setting: Setting, seeds: &Seeds) -> Done {
    setting.check().map_err(unsafe_setting)?;
    let timing = setting.timing;
    println!(
        "{} nodes, election timeout {} to {}, heartbeat {}, latency {} to {} ms, disk {} ms, {}, {} seeds",
        setting.nodes,
        timing.election_min,
        timing.election_max,
        timing.heartbeat,
        setting.latency.0 / 1000,
        setting.latency.1 / 1000,
        setting.disk_write / 1000,
        match (setting.safe_mode, setting.log) {
            (true, false) => "safe mode",
            (false, false) => "no safe mode",
            (true, true) => "safe mode, a log",
            (false, true) => "no safe mode, a log",
        },
        seeds.range.end - seeds.range.start
    );
    match what {
        What::Failover => {
            let sum = failovers(seeds, |sum, seed| sum.crash(&setting, seed))?;
            let total = sum.total.quantiles();
            let late = setting.is_usual() && !Failovers::in_bounds(&total);
            if late {
                println!("later than p50 300 ms, p99 600 ms");
            }
            Ok(sum.unfinished == 0 && !late)
        }
        What::ColdStart => {
            let sum = failovers(seeds, |sum, seed| sum.cold_start(&setting, seed))?;
            Ok(sum.unfinished == 0)
        }
        What::Minority => minority(seeds, setting),
        What::Stale => stale(seeds, setting),
        What::Jitter => jitter(seeds, setting),
        What::Reads => reads(seeds, setting),
    }
}

/// Quantiles in milliseconds.
pub(crate) fn quantiles(times: &Quantiles) -> String {
    let ms = |micros: u64| micros as f64 / 1000.0;
    format!(
        "p50 {:>6.1}  p90 {:>6.1}  p99 {:>6.1}  p99.9 {:>6.1}  max {:>6.1} ms  ({})",
        ms(times.p50),
        ms(times.p90),
        ms(times.p99),
        ms(times.p999),
        ms(times.max),
        times.count
    )
}

fn failovers(
    seeds: &Seeds,
    one: impl Fn(&mut Failovers, u64) -> Result<(), tenure_sim::scheme::Unfit> + Sync,
) -> Result<Failovers, Refusal> {
    let sum: Failovers = parallel::each(seeds, one, Failovers::merge).map_err(unsafe_setting)?;
    for (stage, times) in [
        ("detection", &sum.detection),
        ("election", &sum.election),
        ("synchronisation", &sum.synchronisation),
        ("establishment", &sum.establishment),
        ("first write", &sum.first_write),
        ("in all", &sum.total),
        ("acknowledged", &sum.first_acknowledged),
        ("in all to that", &sum.total_acknowledged),
    ] {
        let times = times.quantiles();
        // Without a log, some stages are none.
        if times.count > 0 {
            println!("{stage:<17}{}", quantiles(&times));
        }
    }
    let runs = sum.total.quantiles().count as u64 + sum.unfinished;
    println!(
        "split votes      {:.2} %",
        sum.split as f64 * 100.0 / runs.max(1) as f64
    );
    println!("no write         {}", sum.unfinished);
    Ok(sum)
}

fn minority(seeds: &Seeds, setting: Setting) -> Done {
    let sum: Minority = parallel::each(
        seeds,
        |sum: &mut Minority, seed| sum.cut(&setting, seed),
        Minority::merge,
    )
    .map_err(unsafe_setting)?;
    println!(
        "two believed leaders  {} us over {} runs ({} with a new leader beside the old one)",
        sum.overlap, sum.runs, sum.tested
    );
    println!(
        "cut to new leader     {}",
        quantiles(&sum.new_leader.quantiles())
    );
    Ok(!setting.safe_mode || (sum.overlap == 0 && sum.tested > 0))
}

fn stale(seeds: &Seeds, setting: Setting) -> Done {
    println!(
        "{:<52}{:>10}{:>10}{:>14}",
        "stale writes", "unfenced", "fenced", "turned away"
    );
    let mut as_expected = true;
    for (name, timeline) in [
        (
            "(a) paused between its check and its write",
            Timeline::Paused,
        ),
        (
            "(b) the write delayed past the next election",
            Timeline::Delayed,
        ),
        (
            "(c) the new leader fences, then reads",
            Timeline::Raced(Takeover::FenceFirst),
        ),
        (
            "(c') the new leader reads before it fences",
            Timeline::Raced(Takeover::ReadFirst),
        ),
    ] {
        let sum: Stale = parallel::each(
            seeds,
            |sum: &mut Stale, seed| sum.run(&setting, timeline, seed),
            |sum, part| sum.merge(part),
        )
        .map_err(unsafe_setting)?;
        println!(
            "{name:<52}{:>10}{:>10}{:>14}",
            sum.unfenced, sum.fenced, sum.turned_away
        );
        let read_first = timeline == Timeline::Raced(Takeover::ReadFirst);
        as_expected &= sum.unfenced > 0 && (sum.fenced > 0) == read_first;
    }
    Ok(as_expected)
}

fn jitter(seeds: &Seeds, setting: Setting) -> Done {
    /// Virtual time of each seed.
    const TIME: u64 = 60_000_000;
    println!(
        "{:<26}{:>14}{:>14}{:>14}{:>16}",
        "per virtual hour", "pre-votes", "elections", "depositions", "no leader, ms"
    );
    for (longest, loss) in [
        (10_000, 0),
        (20_000, 0),
        (40_000, 0),
        (60_000, 0),
        (20_000, 50_000),
        (40_000, 50_000),
    ] {
        let latency = (5_000, longest);
        let setting = Setting {
            latency,
            loss,
            ..setting
        };
        let sum: Jitter = parallel::each(
            seeds,
            |sum: &mut Jitter, seed| sum.run(&setting, seed, TIME),
            |sum, part| sum.merge(part),
        )
        .map_err(unsafe_setting)?;
        let hours = sum.time as f64 / 3.6e9;
        let rate = |count: u64| count as f64 / hours;
        println!(
            "{:<26}{:>14.1}{:>14.1}{:>14.1}{:>16.1}",
            format!(
                "{} to {} ms, loss {} %",
                latency.0 / 1000,
                latency.1 / 1000,
                loss / 10_000
            ),
            rate(sum.pre_candidacies),
            rate(sum.candidacies),
            rate(sum.depositions),
            rate(sum.without_leader) / 1000.0
        );
    }
    Ok(true)
}

fn reads(seeds: &Seeds, setting: Setting) -> Done {
    println!(
        "{:<26}{:>10}{:>12}{:>8}{:>8}{:>8}{:>26}{:>10}",
        "reads", "followers", "a second", "p50", "p90", "p99", "ms; age p50, p99, max", "judged"
    );
    println!("(a node takes {TAKES} us for each message)");
    let ms = |micros: u64| micros as f64 / 1000.0;
    let mut as_expected = true;
    for way in Way::ALL {
        for nodes in [3, 5, 7] {
            let setting = Setting { nodes, ..setting };
            let sum: Reads = parallel::each(
                seeds,
                |sum: &mut Reads, seed| sum.run(&setting, way, seed),
                Reads::merge,
            )
            .map_err(unsafe_setting)?;
            let latency = sum.latency.quantiles();
            let ages = match way {
                Way::Local => {
                    let ages = sum.ages.quantiles();
                    format!(
                        "{:.1}, {:.1}, {:.1}",
                        ms(ages.p50),
                        ms(ages.p99),
                        ms(ages.max)
                    )
                }
                _ => "none".to_owned(),
            };
            // Local reads are none of those that are judged: these are of the clients beside them.
            let judged = match way {
                Way::Local => "stale".to_owned(),
                _ if sum.unexplained > 0 => "broken".to_owned(),
                _ if sum.undecided > 0 => "undecided".to_owned(),
                _ => sum.judged.to_string(),
            };
            println!(
                "{:<26}{:>10}{:>12.0}{:>8.1}{:>8.1}{:>8.1}{ages:>26}{judged:>10}",
                way.name(),
                nodes - 1,
                sum.answered() as f64 * 1e6 / sum.time as f64,
                ms(latency.p50),
                ms(latency.p90),
                ms(latency.p99),
            );
            as_expected &= sum.unexplained + sum.undecided == 0 && sum.answered() > 0;
        }
    }
    Ok(as_expected)
}

/// Every figure, for the record.
pub(crate) fn all(seeds: &Seeds) -> Result<bool, Refusal> {
    let fewer = |count: u64| Seeds {
        range: seeds.range.start
            ..seeds.range.start + count.min(seeds.range.end - seeds.range.start),
        ..seeds.clone()
    };
    let quick = tenure_sim::measure::timing(100_000, 200_000);
    let mut as_expected = true;
    for (what, setting) in [
        (What::Failover, Setting::default()),
        (
            What::Failover,
            Setting {
                timing: quick,
                ..Setting::default()
            },
        ),
        (
            What::Failover,
            Setting {
                log: true,
                ..Setting::default()
            },
        ),
        (What::ColdStart, Setting::default()),
        (
            What::ColdStart,
            Setting {
                timing: quick,
                ..Setting::default()
            },
        ),
        (
            What::Minority,
            Setting {
                nodes: 5,
                ..Setting::default()
            },
        ),
        (What::Stale, Setting::default()),
        (What::Reads, Setting::default()),
        (What::Jitter, Setting::default()),
        (
            What::Jitter,
            Setting {
                timing: quick,
                ..Setting::default()
            },
        ),
    ] {
        println!("\n# {what:?}");
        as_expected &= measure(what, setting, &fewer(what.usual_seeds()))?;
    }
    Ok(as_expected)
}
