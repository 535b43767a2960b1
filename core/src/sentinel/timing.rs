//! The periods of a sentinel, which nobody configures: those of the real one (`sentinel.c`).

use crate::Duration;

/// The shortest and the longest time between two ticks: a sentinel looks at the time ten to twenty times a second, and draws
/// anew each time how long to wait, so that sentinels that began together do not stay in step.
pub const TICK: (Duration, Duration) = (Duration::from_millis(50), Duration::from_millis(100));
/// How often whoever is watched is asked for a sign of life, unless it is to be down sooner.
pub const PING: Duration = Duration::from_secs(1);
/// How often a data server is asked what it is.
pub const INFO: Duration = Duration::from_secs(10);
/// How often a replica is asked while its master is down or replaced, or its link to the master is broken; and how soon
/// anybody is asked again who has not answered.
pub const INFO_SOON: Duration = Duration::from_secs(1);
/// How often the others are asked about a master that seems down.
pub const ASK: Duration = Duration::from_secs(1);
/// How long their answers are believed.
pub const BELIEVED: Duration = Duration::from_secs(5);
/// How often a sentinel tells the others who it is and what it holds for the configuration.
pub const HELLO: Duration = Duration::from_secs(2);
/// A failover, or the waiting after a vote, is put off by up to this, drawn anew each time.
pub const DESYNC: Duration = Duration::from_secs(1);
/// How long an election may take at most, where the failover as a whole may take longer.
pub const ELECTION: Duration = Duration::from_secs(10);
/// How long a replica has to follow an order before it is taken for done.
pub const RECONFIGURATION: Duration = Duration::from_secs(10);
/// How long a data server must have been up, and a master by its own word, before it is made a replica (SEN-R1).
pub const SETTLED: Duration = Duration::from_secs(8);
/// Two ticks that lie further apart than this are no ticks: the process was frozen, or the clock jumped.
pub const TILT_TRIGGER: Duration = Duration::from_secs(2);
/// For how long a sentinel then only watches.
pub const TILT: Duration = Duration::from_secs(30);
