//! Figures over many seeds: how long a failover takes and where, what a minority leader believes, how many stale writes
//! get in, and how often jitter alone starts an election.

#[cfg(all(feature = "stores", not(target_family = "wasm")))]
mod causes;
mod failover;
mod jitter;
mod minority;
#[cfg(not(target_family = "wasm"))]
mod reads;
#[cfg(all(feature = "stores", not(target_family = "wasm")))]
pub mod schemes;
#[cfg(all(feature = "stores", feature = "peers", not(target_family = "wasm")))]
pub mod stages;
mod stale;
#[cfg(all(feature = "stores", not(target_family = "wasm")))]
pub mod ttl;

pub use failover::Failovers;
pub use jitter::Jitter;
pub use minority::Minority;
#[cfg(not(target_family = "wasm"))]
pub use reads::{Reads, TAKES, Way};
pub use stale::{Stale, Timeline};

#[cfg(all(feature = "stores", not(target_family = "wasm")))]
use crate::json::Writer;
use crate::physics::disk::Takes;
use crate::physics::weather::Weather;
use crate::scenario::{Clients, Scenario};
use crate::scheme::Unfit;
#[cfg(all(feature = "stores", not(target_family = "wasm")))]
use crate::stats::Times;
use tenure::Duration;
use tenure::raft::Timing;

/// What is measured under.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// How many nodes.
    pub nodes: usize,
    /// The timeouts.
    pub timing: Timing,
    /// PreVote and CheckQuorum.
    pub safe_mode: bool,
    /// The shortest and longest latency, in microseconds.
    pub latency: (u64, u64),
    /// How often a message is lost, in parts per million.
    pub loss: u32,
    /// How long a disk takes for a write.
    pub disk_write: u64,
    /// Whether the nodes replicate a log.
    pub log: bool,
}

impl Default for Setting {
    fn default() -> Self {
        let usual = Scenario::usual();
        let Weather {
            latency_min,
            latency_max,
            loss,
            ..
        } = usual.weather;
        Self {
            nodes: 3,
            timing: usual.timing,
            safe_mode: usual.safe_mode,
            latency: (latency_min, latency_max),
            loss,
            disk_write: usual.disk.write,
            log: usual.log,
        }
    }
}

impl Setting {
    fn scenario(&self, seed: u64, duration: u64, clients: Clients) -> Result<Scenario, Unfit> {
        let (latency_min, latency_max) = self.latency;
        let scenario = Scenario {
            seed,
            nodes: self.nodes,
            timing: self.timing,
            safe_mode: self.safe_mode,
            log: self.log,
            weather: Weather {
                loss: self.loss,
                ..Weather::calm(latency_min, latency_max)
            },
            disk: Takes::write(self.disk_write),
            clients,
            duration,
            ..Scenario::usual()
        };
        scenario.setup().check()?;
        Ok(scenario)
    }

    /// Whether the core takes the setting, before any seed is run.
    ///
    /// # Errors
    /// When it does not.
    pub fn check(&self) -> Result<(), Unfit> {
        self.scenario(0, 0, Scenario::usual().clients).map(drop)
    }

    /// Whether the timeouts are the usual ones, for which there are bounds.
    #[must_use]
    pub fn is_usual(&self) -> bool {
        self.timing == Timing::default() && self.safe_mode
    }

    /// Long enough for a leader at the start, whatever the timeouts; at most a day.
    fn settled(&self) -> u64 {
        let long = self.timing.election_max.as_micros().saturating_mul(10);
        long.saturating_add(1_000_000).min(86_400_000_000)
    }
}

fn clients(every: u64) -> Clients {
    Clients {
        every,
        ..Scenario::usual().clients
    }
}

/// Timeouts of a range, with a heartbeat that fits: a third of the shortest, at most the usual.
#[must_use]
pub fn timing(election_min: u64, election_max: u64) -> Timing {
    let usual = Timing::default();
    let heartbeat = usual.heartbeat.as_micros().min(election_min / 3);
    Timing {
        election_min: Duration::from_micros(election_min),
        election_max: Duration::from_micros(election_max),
        heartbeat: Duration::from_micros(heartbeat),
        ..usual
    }
}

/// A field that holds how times are spread, in microseconds.
#[cfg(all(feature = "stores", not(target_family = "wasm")))]
fn spread(w: &mut Writer, name: &str, times: &Times) {
    let times = times.quantiles();
    w.open(name, '{');
    for (name, time) in [("p50", times.p50), ("p99", times.p99), ("worst", times.max)] {
        w.plain(name, &time.to_string());
    }
    w.close('}');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_at_the_edge_are_measured_or_refused() {
        let setting = |nodes, high| Setting {
            nodes,
            timing: timing(1_000, high),
            ..Setting::default()
        };
        assert!(setting(3, u64::MAX).settled() <= 86_400_000_000);
        assert!(setting(3, 0).check().is_err());
        for nodes in [1, 2] {
            let mut minority = Minority::default();
            let setting = Setting {
                nodes,
                ..Setting::default()
            };
            minority.cut(&setting, 1).unwrap();
            assert_eq!((minority.runs, minority.overlap), (1, 0));
        }
    }
}
