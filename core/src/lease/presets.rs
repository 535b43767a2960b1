//! The timing that other systems elect with, for who comes from one of them or compares with it.
//!
//! What carries over is how long a lease is, how often it is renewed, and how long a failure is put up with. Whatever the
//! preset, four things differ from the system:
//! - A tenure counts from the *send* of what was acknowledged, and ends by the clock (LS-R1, LS-R3).
//! - It ends [`Timing::margin`] before the lease does, a tenth of it where the system has nothing like that, on clocks within
//!   1 %. Most count to the very end on a clock that they take for true.
//! - Pauses are drawn, so that waiters do not ask in step.
//! - What leaves no slack is refused, though the system ships with it: [`budget`](super::Config::budget) says why, and so does
//!   the preset. A parameter beside it mends that.

use super::{Timing, redlock};
use crate::Duration;
use crate::listed::listed;

listed! {
    /// A system, by the parameters that it ships with. Its budget is told for answers within 50 ms each way and clocks within 1 %.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    #[non_exhaustive]
    pub enum Preset {
        /// Kubernetes: the controller manager, the scheduler, and whoever takes the defaults of controller-runtime.
        /// `LeaseDuration` 15 s, `RenewDeadline` 10 s, `RetryPeriod` 2 s (client-go, `tools/leaderelection`).
        ///
        /// Another leads 24.4 s after a crash at the latest, and 5.7 s without an API server are survived whenever they begin.
        ClientGo,
        /// OpenShift's operators: 137 s, 107 s and 26 s (library-go, `leaderelection`), to live through a minute without an
        /// API server.
        ///
        /// 54 s are survived, and another leads after 254 s.
        OpenShift,
        /// The `leader-elector` sidecar: `--ttl` 10 s, a deadline of half of it and a period of a quarter (kubernetes/contrib,
        /// `election/lib`).
        ///
        /// Refused: two periods and an answer are longer than the deadline, so that one failure may end a tenure. Seven seconds
        /// of deadline are enough.
        LeaderElector,
        /// Flink on Kubernetes: `high-availability.kubernetes.leader-election.lease-duration` and `renew-deadline` of 15 s
        /// each, `retry-period` 5 s.
        ///
        /// Refused, as client-go would: whoever may go on for as long as the lease stops when another may have begun.
        Flink,
        /// `concurrency.NewSession` of etcd's client: a lease of 60 s, kept alive every third of it; a stream that broke is
        /// opened anew after 500 ms, and a first answer awaited for 5 s (`clientv3/lease.go`).
        ///
        /// Another leads after 81.6 s, 26.9 s without etcd are survived.
        EtcdSession,
        /// `etcdctl lock`: `--ttl` 10 s; two seconds to dial, and one more to answer.
        ///
        /// Another leads after 14.3 s, 1.8 s are survived.
        EtcdctlLock,
        /// Patroni: `ttl` 30 s, `loop_wait` 10 s, and five seconds before the end (the watchdog's `safety_margin`). Of its
        /// `retry_timeout` of 10 s an attempt and the pause after it take two thirds.
        ///
        /// Another leads after 44.1 s, 7.5 s are survived.
        Patroni,
        /// Milvus' coordinators: `common.session.ttl` 30 s.
        ///
        /// Another leads after 44.1 s, 9.5 s are survived.
        Milvus,
        /// Curator: a session of 60 s, and 15 s for whatever needs a connection (`CuratorFrameworkFactory`). Servers with the
        /// default tick of two seconds grant 40 of the 60.
        ///
        /// Another leads after 90 s where all 60 are granted. No outage is sure to be survived: what was lost is missed after 15 s
        /// alone, and then a write that went through has to be found, and another to prove it.
        Curator,
        /// Solr's overseer: `zkClientTimeout` 30 s, `zkConnectTimeout` 15 s.
        ///
        /// Another leads after 46.2 s, and again no outage is sure to be survived.
        Solr,
        /// ShedLock that keeps its locks alive (`KeepAliveLockProvider`): the least `lockAtMostFor` that it takes, 30 s,
        /// extended every half of it.
        ///
        /// Another leads after 34 s, 4.5 s without the database are survived.
        ShedLock,
        /// Quartz in a cluster: `clusterCheckinInterval` 7.5 s, and an instance is dead that did not check in for twice as long;
        /// a lock is tried again after a second.
        ///
        /// Another leads after 16.5 s, 2.9 s are survived.
        Quartz,
        /// Redisson: `lockWatchdogTimeout` 30 s, extended every third of it.
        ///
        /// Another leads after 34 s, 9.5 s are survived. Its own waiters are told of a release by a channel.
        Redisson,
        /// redsync: `WithExpiry` 8 s, 250 ms between two tries, a twentieth of the lease for each server to answer.
        ///
        /// Another leads after 8.6 s, 3.5 s without a majority are survived. It leaves extending to its user: here every third
        /// of the lease.
        Redsync,
        /// node-redlock's `using` with the five seconds of its manual: extended `automaticExtensionThreshold` before the end,
        /// 500 ms; tried again after 200 ms and up to 100 more.
        ///
        /// Refused: an extension that is lost leaves no time for a second.
        NodeRedlock,
    }
}

impl Preset {
    /// Its name in files and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClientGo => "client-go",
            Self::OpenShift => "openshift",
            Self::LeaderElector => "leader-elector",
            Self::Flink => "flink",
            Self::EtcdSession => "etcd-session",
            Self::EtcdctlLock => "etcdctl-lock",
            Self::Patroni => "patroni",
            Self::Milvus => "milvus",
            Self::Curator => "curator",
            Self::Solr => "solr",
            Self::ShedLock => "shedlock",
            Self::Quartz => "quartz",
            Self::Redisson => "redisson",
            Self::Redsync => "redsync",
            Self::NodeRedlock => "node-redlock",
        }
    }

    /// How long things take.
    #[must_use]
    pub const fn timing(self) -> Timing {
        match self {
            Self::ClientGo => periodic(15_000, 2_000),
            Self::OpenShift => periodic(137_000, 26_000),
            Self::LeaderElector => periodic(10_000, 2_500),
            Self::Flink => periodic(15_000, 5_000),
            Self::EtcdSession => Timing {
                retry: Duration::from_millis(500),
                patience: Duration::from_secs(5),
                ..Timing::of(Duration::from_secs(60))
            },
            Self::EtcdctlLock => Timing {
                retry: Duration::from_millis(500),
                patience: Duration::from_secs(3),
                ..Timing::of(Duration::from_secs(10))
            },
            Self::Patroni => Timing {
                margin: Duration::from_secs(5),
                ..Timing::of(Duration::from_secs(30))
            },
            Self::Milvus | Self::Redisson => Timing::of(Duration::from_secs(30)),
            Self::Curator => Timing {
                patience: Duration::from_secs(15),
                ..Timing::of(Duration::from_secs(60))
            },
            Self::Solr => Timing {
                patience: Duration::from_secs(15),
                ..Timing::of(Duration::from_secs(30))
            },
            Self::ShedLock => Timing {
                renew: Duration::from_secs(15),
                ..Timing::of(Duration::from_secs(30))
            },
            Self::Quartz => Timing {
                renew: Duration::from_millis(7_500),
                retry: Duration::from_secs(1),
                ..Timing::of(Duration::from_secs(15))
            },
            Self::Redsync => Timing {
                retry: Duration::from_millis(250),
                ..redlock::Config::timing(Duration::from_secs(8))
            },
            Self::NodeRedlock => Timing {
                renew: Duration::from_millis(4_500),
                retry: Duration::from_millis(300),
                ..redlock::Config::timing(Duration::from_secs(5))
            },
        }
    }

    /// `RenewDeadline` of client-go, where it is one of its users.
    #[must_use]
    pub const fn renew_deadline(self) -> Option<Duration> {
        match self {
            Self::ClientGo => Some(Duration::from_secs(10)),
            Self::OpenShift => Some(Duration::from_secs(107)),
            Self::LeaderElector => Some(Duration::from_secs(5)),
            Self::Flink => Some(Duration::from_secs(15)),
            _ => None,
        }
    }
}

/// client-go's `LeaseDuration` and `RetryPeriod`, in milliseconds: it renews as often as it tries again.
const fn periodic(lease: u64, period: u64) -> Timing {
    let period = Duration::from_millis(period);
    Timing {
        renew: period,
        retry: period,
        patience: period,
        ..Timing::of(Duration::from_millis(lease))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lease::redis::in_milliseconds;
    use crate::lease::{Budget, BudgetError, Claimant, Config, Identity};
    use crate::lease::{etcd, kubernetes, zookeeper};
    use alloc::format;
    use alloc::string::String;

    /// What the machine of the system's scheme makes of it.
    fn budget(preset: Preset) -> Result<Budget, BudgetError> {
        let claimant = Claimant::new(Identity::new("anna").unwrap());
        let config = Config {
            timing: preset.timing(),
            ..Config::new(claimant.clone())
        };
        match preset {
            Preset::ClientGo | Preset::OpenShift | Preset::LeaderElector | Preset::Flink => {
                kubernetes::Config::preset(claimant, preset).budget()
            }
            Preset::EtcdSession | Preset::EtcdctlLock | Preset::Patroni | Preset::Milvus => {
                let mode = etcd::Mode::queue("/election");
                let common = config;
                etcd::Config { common, mode }.budget()
            }
            Preset::Curator | Preset::Solr => {
                let mut config = zookeeper::Config::new("/election", claimant);
                config.common.timing = preset.timing();
                config.budget()
            }
            Preset::ShedLock | Preset::Quartz => config.budget(),
            Preset::Redisson => in_milliseconds(config).budget(),
            Preset::Redsync | Preset::NodeRedlock => {
                let common = config;
                redlock::Config { common, servers: 5 }.budget()
            }
        }
    }

    /// Belief, slack, takeover and outage in milliseconds, or why not.
    fn told(preset: Preset) -> String {
        match budget(preset) {
            Ok(budget) => {
                let [belief, slack, takeover, outage] =
                    [budget.belief, budget.slack, budget.takeover, budget.outage]
                        .map(|span| span.as_micros() / 1_000);
                format!("{belief} {slack} {takeover} {outage}")
            }
            Err(error) => format!("{}: {}", error.code(), error.reason()),
        }
    }

    #[test]
    fn each_is_accepted_or_refused_as_its_documentation_says() {
        for (preset, budget) in [
            (Preset::ClientGo, "10000 4750 24440 5742"),
            (Preset::OpenShift, "107000 27562 254339 54257"),
            (
                Preset::LeaderElector,
                "no-slack: a holder believes for 5s, and a renewal, a second attempt and their answers take 5100ms",
            ),
            (
                Preset::Flink,
                "deadline-too-long: a holder may go on for 15s without a renewal, and the lease is 15s",
            ),
            (Preset::EtcdSession, "52811 6060 81613 26941"),
            (Preset::EtcdctlLock, "8801 1010 14273 1849"),
            (Preset::Patroni, "24405 5050 44071 7562"),
            (Preset::Milvus, "26405 3030 44071 9542"),
            (Preset::Curator, "52811 6060 89962 0"),
            (Preset::Solr, "26405 3030 46191 0"),
            (Preset::ShedLock, "26405 3030 33970 4592"),
            (Preset::Quartz, "13202 1515 16461 2906"),
            (Preset::Redisson, "26403 3030 33972 9540"),
            (Preset::Redsync, "7039 808 8635 3586"),
            (
                Preset::NodeRedlock,
                "no-slack: a holder believes for 4398990us, and a renewal, a second attempt and their answers take 4900ms",
            ),
        ] {
            assert_eq!(told(preset), budget, "{preset:?}");
        }
    }

    #[test]
    fn a_refused_one_needs_one_parameter_more() {
        let claimant = Claimant::new(Identity::new("anna").unwrap());
        let mended = |preset, renew_deadline| {
            kubernetes::Config {
                renew_deadline: Duration::from_secs(renew_deadline),
                ..kubernetes::Config::preset(claimant.clone(), preset)
            }
            .budget()
        };
        assert!(mended(Preset::LeaderElector, 7).is_ok());
        assert!(mended(Preset::Flink, 14).is_ok());
    }

    #[test]
    fn each_has_a_name_of_its_own() {
        for (place, preset) in Preset::ALL.iter().enumerate() {
            let former = &Preset::ALL[..place];
            assert!(former.iter().all(|other| other.name() != preset.name()));
        }
    }
}
