//! The table of lengths, for people and for programs.

use super::advice::{advice, cost};
use super::{Lag, Lags, Level, NODES, TTLS, WATCHED};
use crate::json::Writer;
use crate::measure::spread;
use crate::scheme::lease::Kind;
use std::fmt::Write;

/// What was measured of some schemes, under every level of jitter.
#[derive(Clone, Debug)]
pub struct Table {
    /// By scheme and level.
    pub parts: Vec<(Kind, Level, Lags)>,
}

impl Table {
    /// Whether never two led at once, and after every crash somebody did.
    #[must_use]
    pub fn is_as_expected(&self) -> bool {
        let mut lags = self.parts.iter().flat_map(|(.., lags)| &lags.by_ttl);
        lags.all(|lag| lag.two_leaders == 0 && lag.unfinished == 0)
    }

    /// For people.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        for (kind, level, lags) in &self.parts {
            let _ = writeln!(out, "{}, {}", kind.name(), level.name());
            let _ = writeln!(
                out,
                "{:>6}{:>20}{:>20}{:>18}{:>14}{:>18}",
                "lease",
                "detection, s",
                "takeover, s",
                "false failovers",
                "no leader by",
                "no leader, with"
            );
            let _ = writeln!(
                out,
                "{:>6}{:>10}{:>10}{:>10}{:>10}{:>18}{:>14}{:>18}",
                "", "p50", "p99", "p50", "p99", "an hour", "jitter", "a crash a day"
            );
            for (ttl, lag) in TTLS.iter().zip(&lags.by_ttl) {
                line(&mut out, *ttl, lag);
            }
            out.push('\n');
        }
        for level in Level::ALL {
            let _ = writeln!(out, "{}: {}", level.name(), level.about());
        }
        let _ = writeln!(
            out,
            "{NODES} nodes; a lease is renewed within a third of it, retried within a ninth, with a margin of a tenth; etcd grants\n\
             two seconds where one is asked for; the same jitter for every length, {} minutes a seed, and then the leader crashes\n\
             detection: from the crash until the claim is sent that wins; takeover: until its node may act\n\
             false failovers: tenures that ended though their node lived; no leader: none that is not frozen\n\
             with a crash a day: seconds a day without a leader, by jitter and by one crash",
            WATCHED / 60_000_000
        );
        for kind in Kind::ALL {
            let of_kind = self.parts.iter().filter(|(of, ..)| *of == kind);
            let parts: Vec<(Level, &Lags)> =
                of_kind.map(|(_, level, lags)| (*level, lags)).collect();
            if !parts.is_empty() {
                let _ = writeln!(out, "{}: {}", kind.name(), advice(&parts));
            }
        }
        out
    }

    /// For programs.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut w = Writer::object();
        w.plain("nodes", &NODES.to_string());
        w.open("lengths", '[');
        for (kind, level, lags) in &self.parts {
            for (ttl, lag) in TTLS.iter().zip(&lags.by_ttl) {
                w.comma();
                w.out.push('{');
                w.text("scheme", kind.name());
                w.text("jitter", level.name());
                w.plain("ttl", &(ttl * 1_000_000).to_string());
                spread(&mut w, "detection", &lag.detection);
                spread(&mut w, "takeover", &lag.takeover);
                w.plain("unfinished", &lag.unfinished.to_string());
                w.plain("twoLeaders", &lag.two_leaders.to_string());
                w.plain("falseFailovers", &lag.false_failovers.to_string());
                w.plain("withoutLeader", &lag.without_leader.to_string());
                w.plain("watched", &lag.time.to_string());
                w.close('}');
            }
        }
        w.close(']');
        w.finish()
    }
}

fn line(out: &mut String, ttl: u64, lag: &Lag) {
    let (detection, takeover) = (lag.detection.quantiles(), lag.takeover.quantiles());
    let seconds = |micros: u64| micros as f64 / 1e6;
    let _ = write!(
        out,
        "{:>6}{:>10.2}{:>10.2}{:>10.2}{:>10.2}{:>18.3}{:>13.4}%{:>18.1}",
        format!("{ttl} s"),
        seconds(detection.p50),
        seconds(detection.p99),
        seconds(takeover.p50),
        seconds(takeover.p99),
        lag.false_failovers_per_hour(),
        lag.unavailable() * 100.0,
        cost(lag)
    );
    for (count, what) in [
        (lag.two_leaders, "us with two leaders"),
        (lag.unfinished, "crashes that nobody took over"),
    ] {
        if count > 0 {
            let _ = write!(out, "  broken: {count} {what}");
        }
    }
    out.push('\n');
}
