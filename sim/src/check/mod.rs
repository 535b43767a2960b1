//! The judges: one rule a file, none shares code with a protocol.
//!
//! They hear facts as the world sees them from outside, in true time, and know nothing of how a scheme decides. Each
//! counts how often its rule was put to the test: a rule that never was is *not exercised*, which is no pass (law W3).

#[cfg(feature = "peers")]
mod ack_durable;
mod agreement;
pub(crate) mod believed;
#[cfg(feature = "peers")]
pub(crate) mod broadcast;
#[cfg(feature = "peers")]
pub(crate) mod brokers;
#[cfg(feature = "peers")]
mod claim_after_catch_up;
mod commit_rises;
mod committed_durable;
pub(crate) mod configurations;
#[cfg(feature = "peers")]
mod converges;
#[cfg(feature = "peers")]
mod epoch_order;
#[cfg(feature = "peers")]
mod global_primary_order;
mod intersecting;
mod jobs_concurrent;
mod jobs_lost;
mod jobs_twice;
mod judges;
#[cfg(feature = "peers")]
pub(crate) mod kraft;
mod leader_again;
mod leader_complete;
pub(crate) mod linearizable;
#[cfg(not(target_family = "wasm"))]
pub(crate) mod linearizable_store;
#[cfg(feature = "peers")]
mod local_primary_order;
mod local_reads;
#[cfg(feature = "peers")]
mod log_continuity;
mod log_matching;
pub(crate) mod logs;
mod never_revives;
mod no_stale_write;
mod one_leader;
mod one_vote;
#[cfg(feature = "peers")]
mod pre_vote_quiet;
#[cfg(feature = "peers")]
mod primary_integrity;
#[cfg(feature = "peers")]
mod promise_before_act;
mod promises;
#[cfg(feature = "peers")]
mod proposals;
#[cfg(feature = "peers")]
mod resigned_no_reuse;
mod runs;
#[cfg(feature = "peers")]
pub(crate) mod sentinel;
mod spans;
mod stale;
#[cfg(feature = "peers")]
mod stale_leader_stops;
mod survives;
mod terms;
mod terms_burnt;
mod token_holder;
mod token_rises;
#[cfg(not(target_family = "wasm"))]
pub(crate) mod watch_complete;

#[cfg(feature = "peers")]
pub use brokers::Elections;
pub use judges::{Belief, Broken, Judges};
pub(crate) use promises::Excuse;
pub use promises::{Acknowledged, Promises};

use tenure::Token;
use terms::Sight;

/// Something the world saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// A node was elected, or did what only a leader does.
    Acted {
        /// Who.
        node: usize,
        /// In which term.
        term: u64,
    },
    /// A vote left a node, or a node stood for itself.
    Granted {
        /// Whose vote.
        node: usize,
        /// Of which term.
        term: u64,
        /// For whom.
        to: usize,
    },
    /// A node was elected with a token.
    Elected {
        /// Who.
        node: usize,
        /// With what.
        token: Token,
    },
    /// A leader was allowed to act.
    Established {
        /// Who.
        node: usize,
        /// With what.
        token: Token,
    },
    /// What a node believes changed, or whether it runs.
    Believes {
        /// Who.
        node: usize,
        /// By which token; [`Token::NONE`] when it does not believe.
        token: Token,
        /// The true time at which its belief to lead ends by itself; 0 when it does not believe.
        until: u64,
        /// Whether it runs: it is neither crashed nor paused.
        running: bool,
    },
    /// A leader made itself known to a resource: it fenced or read it.
    Touched {
        /// Which resource.
        resource: usize,
        /// Who.
        node: usize,
        /// With what.
        token: Token,
    },
    /// A write reached a resource.
    Wrote {
        /// Which resource.
        resource: usize,
        /// Who wrote.
        node: usize,
        /// With what.
        token: Token,
        /// Whether it got in.
        accepted: bool,
    },
    /// The last fault was healed, or the first one struck.
    Whole(bool),
    /// A node stopped leading, or campaigned, because it was asked to.
    Wished,
    /// A job fell due.
    JobDue(u64),
    /// A node works at another job than before.
    Works {
        /// Who.
        node: usize,
        /// At what; 0 when it works at none.
        job: u64,
        /// Whether it begins, and does not go on after it was frozen.
        begins: bool,
    },
    /// A write that the leader of an earlier epoch had made reached the store by which it was elected.
    WroteToStore {
        /// Which server, as an actor.
        server: usize,
        /// Whether it was taken.
        taken: bool,
    },
    /// The effect of a job reached a resource.
    Finished {
        /// Which resource.
        resource: usize,
        /// Of which job.
        job: u64,
        /// Whether it was taken.
        taken: bool,
    },
}

/// The checks, in the order of the JavaScript interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Check {
    /// At most one node acts as leader of a term, over the whole run (INV-E1).
    OneLeaderPerTerm = 0,
    /// A node grants at most one candidate a term, across restarts (INV-E2).
    OneVotePerTerm,
    /// Tokens rise from each tenure to the next (INV-E6, INV-F1).
    TokenRises,
    /// Two nodes never believe to lead at one instant of true time (INV-S1).
    BelievedLeaders,
    /// The fenced resource takes no write of a leader that was overtaken (INV-F2).
    StaleWriteFenced,
    /// The unfenced one does not either, if nothing but luck protects it.
    StaleWriteUnfenced,
    /// While nothing is wrong, never without a leader for longer than the bound.
    LeaderAgain,
    /// A token that expired or was given up never becomes valid again (INV-S3).
    NeverRevives,
    /// Only the node that was established with a token shows it at a resource (INV-F1, INV-F3).
    TokenHolder,
    /// What nodes did at the fenced resource has an order that explains every answer (INV-R1).
    LinearizableFenced,
    /// At the unfenced one it has, if nothing but luck protects it.
    LinearizableUnfenced,
    /// What the client was answered has such an order too.
    LinearizableClient,
    /// Every job that falls due is done.
    JobsLost,
    /// The fenced resource takes the effect of a job once (INV-F4).
    JobsTwiceFenced,
    /// The unfenced one does too, if nothing but luck protects it.
    JobsTwiceUnfenced,
    /// Two nodes never work at one job at the same instant.
    JobsConcurrent,
    /// Two logs that have an entry of one index and term agree up to it (INV-L1).
    LogMatching,
    /// What was committed in an earlier term is in the log of every leader (INV-E5).
    LeaderCompleteness,
    /// All nodes apply the same entries in the same order (INV-L3).
    StateMachineAgreement,
    /// What is committed is on the disks of a majority (INV-L4).
    CommittedIsDurable,
    /// What a client of the store was told is done stays done.
    AcknowledgedSurvives,
    /// Hardly any term is begun by a node that cannot win it (INV-V4).
    TermsBurnt,
    /// What clients of the store were answered has an order that explains it (INV-R1, INV-R2).
    LinearizableStore,
    /// A commit index never falls, and a leader moves it only over an entry of its own term (INV-L5).
    CommitRises,
    /// What is read locally is no older than the bound, while nothing is wrong (INV-R5).
    LocalReads,
    /// Votes and commits use configurations whose quorums intersect (INV-L6).
    IntersectingQuorums,
    /// Watchers of the store are told every change of their keys, in order, once, and no other.
    WatchComplete,
    /// ZooKeeper takes no write of a controller that was overtaken (KZ-NoStaleWrite).
    ControllerNoStaleWrite,
    /// On every disk the accepted epoch is never below the current one, and neither falls (ZK-EpochOrder).
    EpochOrder,
    /// Who promised an epoch logs and acknowledges nothing of an earlier one (ZK-PromiseBeforeAct).
    PromiseBeforeAct,
    /// The entries of an epoch are delivered as its leader proposed them (ZK-LocalPrimaryOrder, ZK-Integrity).
    LocalPrimaryOrder,
    /// No entry is delivered after one of a later epoch (ZK-GlobalPrimaryOrder).
    GlobalPrimaryOrder,
    /// A leader proposes when it has delivered all that is delivered of earlier epochs (ZK-PrimaryIntegrity).
    PrimaryIntegrity,
    /// What a node acknowledges is on its disk, and so is the history of its current epoch (ZK-AckMeansDurable).
    AckMeansDurable,
    /// What is appended to a log follows its last entry (ZK-LogContinuity).
    LogContinuity,
    /// A sentinel votes once an epoch for each master, across restarts (SEN-OneVote).
    SentinelOneVote,
    /// No epoch in a sentinel's file falls (SEN-EpochMonotone).
    SentinelEpochMonotone,
    /// For each master and epoch at most one sentinel is elected (SEN-OneLeader).
    SentinelOneLeader,
    /// Two sentinels that hold one config epoch hold one address (SEN-ConfigUnique).
    SentinelConfigUnique,
    /// A sentinel's configuration changes only with a higher epoch (SEN-ConfigMonotone).
    SentinelConfigMonotone,
    /// Who promotes a replica has the votes of a majority (SEN-MajorityAuthorised).
    SentinelMajority,
    /// When faults are over, all hold the highest configuration and follow it (SEN-ConvergesToMax).
    SentinelConverges,
    /// Sentinels that reach no majority promote nobody (SEN-NoMinorityFailover).
    SentinelNoMinority,
    /// No data server is ordered to replicate itself.
    SentinelNoSelfReplication,
    /// Two failover timeouts lie between two attempts of a sentinel (SEN-F1).
    SentinelRateLimited,
    /// What is promoted is the best of what could be (SEN-F3).
    SentinelBestReplica,
    /// A master that can be reached stays the master.
    SentinelMasterStays,
    /// Acknowledged writes survive a failover (SEN-NoAckLoss): broken by design.
    SentinelNoAckLoss,
    /// At most one server takes writes (SEN-SingleWritableMaster): broken by design.
    SentinelSingleWritable,
    /// Votes are recorded for those alone that stand (KR-PreVoteQuiet).
    PreVoteQuiet,
    /// Who led a term in a former life leads it no more (KR-ResignedNoReuse).
    ResignedNoReuse,
    /// Who may act in a term has applied an entry of it (KC-ClaimAfterCatchup).
    ClaimAfterCatchUp,
    /// Who was overtaken stops within the bound (KR-StaleLeaderStops).
    StaleLeaderStops,
    /// A broker that is fenced or about to go leads nothing, and enters no ISR (KB-FencedNeverLeads).
    KafkaFencedNeverLeads,
    /// Who leads a partition is in its ISR (KP-LeaderInIsr).
    KafkaLeaderInIsr,
    /// ISR and ELR of a partition are apart, and of its replicas (KP-ElrDisjoint).
    KafkaElrDisjoint,
    /// The partition epoch rises with every change, and the leader epoch with another leader (KP-EpochMonotone).
    KafkaEpochMonotone,
    /// At most one broker leads a partition in a leader epoch.
    KafkaOneLeader,
    /// Without an unclean election whoever leads a partition has all that was shown as committed (KP-CleanNoLoss).
    KafkaCleanNoLoss,
    /// No broker applies metadata that is not committed (KC-NoStaleCommand).
    KafkaNoStaleCommand,
    /// The high watermark of a replica never falls, nor for a consumer (KR-HWMonotone, of partitions).
    KafkaHighWatermark,
    /// Two replicas that have a record of one offset and epoch agree up to it (KR-LogMatching, of partitions).
    KafkaLogMatching,
    /// When faults are over, every partition is led and everybody in sync (KP-InSyncAgain).
    KafkaInSyncAgain,
    /// What a producer was told is in stays in: broken by design with `acks=1`, and where an election may be unclean.
    KafkaNoAckLoss,
    /// A master that is gone is replaced within the bound, while a majority of the sentinels can talk and a good replica can be
    /// reached (SEN-FailoverCompletes): broken by design as Sentinel is shipped.
    SentinelFailoverCompletes,
}

impl Check {
    /// All of them.
    pub const ALL: [Self; 65] = [
        Self::OneLeaderPerTerm,
        Self::OneVotePerTerm,
        Self::TokenRises,
        Self::BelievedLeaders,
        Self::StaleWriteFenced,
        Self::StaleWriteUnfenced,
        Self::LeaderAgain,
        Self::NeverRevives,
        Self::TokenHolder,
        Self::LinearizableFenced,
        Self::LinearizableUnfenced,
        Self::LinearizableClient,
        Self::JobsLost,
        Self::JobsTwiceFenced,
        Self::JobsTwiceUnfenced,
        Self::JobsConcurrent,
        Self::LogMatching,
        Self::LeaderCompleteness,
        Self::StateMachineAgreement,
        Self::CommittedIsDurable,
        Self::AcknowledgedSurvives,
        Self::TermsBurnt,
        Self::LinearizableStore,
        Self::CommitRises,
        Self::LocalReads,
        Self::IntersectingQuorums,
        Self::WatchComplete,
        Self::ControllerNoStaleWrite,
        Self::EpochOrder,
        Self::PromiseBeforeAct,
        Self::LocalPrimaryOrder,
        Self::GlobalPrimaryOrder,
        Self::PrimaryIntegrity,
        Self::AckMeansDurable,
        Self::LogContinuity,
        Self::SentinelOneVote,
        Self::SentinelEpochMonotone,
        Self::SentinelOneLeader,
        Self::SentinelConfigUnique,
        Self::SentinelConfigMonotone,
        Self::SentinelMajority,
        Self::SentinelConverges,
        Self::SentinelNoMinority,
        Self::SentinelNoSelfReplication,
        Self::SentinelRateLimited,
        Self::SentinelBestReplica,
        Self::SentinelMasterStays,
        Self::SentinelNoAckLoss,
        Self::SentinelSingleWritable,
        Self::PreVoteQuiet,
        Self::ResignedNoReuse,
        Self::ClaimAfterCatchUp,
        Self::StaleLeaderStops,
        Self::KafkaFencedNeverLeads,
        Self::KafkaLeaderInIsr,
        Self::KafkaElrDisjoint,
        Self::KafkaEpochMonotone,
        Self::KafkaOneLeader,
        Self::KafkaCleanNoLoss,
        Self::KafkaNoStaleCommand,
        Self::KafkaHighWatermark,
        Self::KafkaLogMatching,
        Self::KafkaInSyncAgain,
        Self::KafkaNoAckLoss,
        Self::SentinelFailoverCompletes,
    ];

    /// Its name in files and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OneLeaderPerTerm => "one-leader-per-term",
            Self::OneVotePerTerm => "one-vote-per-term",
            Self::TokenRises => "token-rises",
            Self::BelievedLeaders => "believed-leaders",
            Self::StaleWriteFenced => "stale-write-fenced",
            Self::StaleWriteUnfenced => "stale-write-unfenced",
            Self::LeaderAgain => "leader-again",
            Self::NeverRevives => "never-revives",
            Self::TokenHolder => "token-holder",
            Self::LinearizableFenced => "linearizable-fenced",
            Self::LinearizableUnfenced => "linearizable-unfenced",
            Self::LinearizableClient => "linearizable-client",
            Self::JobsLost => "jobs-lost",
            Self::JobsTwiceFenced => "jobs-run-twice-fenced",
            Self::JobsTwiceUnfenced => "jobs-run-twice-unfenced",
            Self::JobsConcurrent => "jobs-concurrent",
            Self::LogMatching => "log-matching",
            Self::LeaderCompleteness => "leader-completeness",
            Self::StateMachineAgreement => "state-machine-agreement",
            Self::CommittedIsDurable => "committed-is-durable",
            Self::AcknowledgedSurvives => "acknowledged-survives",
            Self::TermsBurnt => "terms-burnt",
            Self::LinearizableStore => "linearizable-store",
            Self::CommitRises => "commit-rises",
            Self::LocalReads => "local-reads",
            Self::IntersectingQuorums => "intersecting-quorums",
            Self::WatchComplete => "watch-complete",
            Self::EpochOrder => "epoch-order",
            Self::PromiseBeforeAct => "promise-before-act",
            Self::LocalPrimaryOrder => "local-primary-order",
            Self::GlobalPrimaryOrder => "global-primary-order",
            Self::PrimaryIntegrity => "primary-integrity",
            Self::AckMeansDurable => "ack-means-durable",
            Self::LogContinuity => "log-continuity",
            Self::SentinelOneVote => "sen-one-vote",
            Self::SentinelEpochMonotone => "sen-epoch-monotone",
            Self::SentinelOneLeader => "sen-one-leader",
            Self::SentinelConfigUnique => "sen-config-unique",
            Self::SentinelConfigMonotone => "sen-config-monotone",
            Self::SentinelMajority => "sen-majority",
            Self::SentinelConverges => "sen-converges",
            Self::SentinelNoMinority => "sen-no-minority",
            Self::SentinelNoSelfReplication => "sen-no-self-replication",
            Self::SentinelRateLimited => "sen-rate-limited",
            Self::SentinelBestReplica => "sen-best-replica",
            Self::SentinelMasterStays => "sen-master-stays",
            Self::SentinelNoAckLoss => "sen-no-ack-loss",
            Self::SentinelSingleWritable => "sen-single-writable",
            Self::PreVoteQuiet => "pre-vote-quiet",
            Self::ResignedNoReuse => "resigned-no-reuse",
            Self::ClaimAfterCatchUp => "claim-after-catch-up",
            Self::StaleLeaderStops => "stale-leader-stops",
            Self::KafkaFencedNeverLeads => "kb-fenced-never-leads",
            Self::KafkaLeaderInIsr => "kp-leader-in-isr",
            Self::KafkaElrDisjoint => "kp-elr-disjoint",
            Self::KafkaEpochMonotone => "kp-epoch-monotone",
            Self::KafkaOneLeader => "kp-one-leader",
            Self::KafkaCleanNoLoss => "kp-clean-no-loss",
            Self::KafkaNoStaleCommand => "kc-no-stale-command",
            Self::KafkaHighWatermark => "kp-high-watermark",
            Self::KafkaLogMatching => "kp-log-matching",
            Self::KafkaInSyncAgain => "kp-in-sync-again",
            Self::KafkaNoAckLoss => "kp-no-ack-loss",
            Self::ControllerNoStaleWrite => "kz-no-stale-write",
            Self::SentinelFailoverCompletes => "sen-failover-completes",
        }
    }

    /// Whether it is about votes or logs, and so of no election over a store.
    #[must_use]
    pub const fn is_of_peers(self) -> bool {
        matches!(self, Self::OneVotePerTerm)
            || (self as u8 >= Self::LogMatching as u8
                && !self.is_of_sentinels()
                && !self.is_of_brokers()
                && !self.is_of_controllers())
    }

    /// Whether it is of sentinels and their data servers alone.
    #[must_use]
    pub const fn is_of_sentinels(self) -> bool {
        (self as u8 >= Self::SentinelOneVote as u8
            && self as u8 <= Self::SentinelSingleWritable as u8)
            || matches!(self, Self::SentinelFailoverCompletes)
    }

    /// Whether it is about what Raft alone has: terms that are begun in vain, and members that change.
    #[must_use]
    pub const fn is_of_raft(self) -> bool {
        matches!(self, Self::TermsBurnt | Self::IntersectingQuorums)
    }

    /// Whether it is about the quorum of Kafka's controllers.
    #[must_use]
    pub const fn is_of_kraft(self) -> bool {
        matches!(
            self,
            Self::PreVoteQuiet
                | Self::ResignedNoReuse
                | Self::ClaimAfterCatchUp
                | Self::StaleLeaderStops
        )
    }

    /// Whether it is about what clients of a store on the log do: where the log is of other things, there are none.
    #[must_use]
    pub const fn is_of_store(self) -> bool {
        matches!(
            self,
            Self::AcknowledgedSurvives
                | Self::LinearizableStore
                | Self::LocalReads
                | Self::WatchComplete
        )
    }

    /// Whether it is of Kafka's brokers and partitions alone.
    #[must_use]
    pub const fn is_of_brokers(self) -> bool {
        self as u8 >= Self::KafkaFencedNeverLeads as u8 && self as u8 <= Self::KafkaNoAckLoss as u8
    }

    /// Whether it is of Kafka's controllers over ZooKeeper alone.
    #[must_use]
    pub const fn is_of_controllers(self) -> bool {
        matches!(self, Self::ControllerNoStaleWrite)
    }

    /// Whether it is about atomic broadcast, as ZooKeeper's servers do it.
    #[must_use]
    pub const fn is_of_broadcast(self) -> bool {
        self as u8 >= Self::EpochOrder as u8 && self as u8 <= Self::LogContinuity as u8
    }

    /// Whether it is about tokens, or about work that is done under one. A leader without a token takes nothing over: no
    /// resource could tell it from the last.
    #[must_use]
    pub const fn is_of_tokens(self) -> bool {
        !matches!(
            self,
            Self::BelievedLeaders | Self::LeaderAgain | Self::StaleWriteUnfenced
        )
    }

    /// Whether it judges what was recorded, and nothing where [nothing is](crate::World::record_histories).
    #[cfg(not(target_family = "wasm"))]
    pub(crate) const fn is_of_histories(self) -> bool {
        self.history().is_some() || matches!(self, Self::LinearizableStore | Self::WatchComplete)
    }

    /// The history it judges, for those that judge one.
    pub(crate) const fn history(self) -> Option<usize> {
        match self {
            Self::LinearizableFenced => Some(0),
            Self::LinearizableUnfenced => Some(1),
            Self::LinearizableClient => Some(linearizable::CLIENT),
            _ => None,
        }
    }
}

/// How a rule fared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Put to the test and never broken.
    Holds,
    /// Broken.
    Broken,
    /// Broken, as this setting must expect.
    BrokenByDesign,
    /// Never put to the test.
    NotExercised,
    /// Put to the test, and too much to decide: neither held nor broken, and no pass.
    Undecided,
}

impl Outcome {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Holds,
        Self::Broken,
        Self::BrokenByDesign,
        Self::NotExercised,
        Self::Undecided,
    ];

    /// Whether a run passes with it where nothing else is expected.
    #[must_use]
    pub const fn passes(self) -> bool {
        !matches!(self, Self::Broken | Self::Undecided)
    }

    /// Its name in files and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Broken => "broken",
            Self::BrokenByDesign => "broken-by-design",
            Self::NotExercised => "not-exercised",
            Self::Undecided => "undecided",
        }
    }
}

/// How often a rule was put to the test, and how often it broke.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Occasions on which the rule could have been broken.
    pub exercised: u64,
    /// Occasions on which it was.
    pub broken: u64,
    /// The first of them.
    pub first_broken_at: Option<u64>,
}

impl Tally {
    /// Notes one occasion; answers whether the rule was broken.
    pub(crate) fn note(&mut self, now: u64, broken: bool) -> bool {
        self.exercised += 1;
        if broken {
            self.broken += 1;
            self.first_broken_at.get_or_insert(now);
        }
        broken
    }

    /// Notes what was seen in a term: it breaks a rule when another was seen there before.
    fn note_sight(&mut self, now: u64, sight: Sight) -> bool {
        match sight {
            Sight::First => self.note(now, false),
            Sight::Another => self.note(now, true),
            Sight::Same | Sight::Unknown => false,
        }
    }
}

/// What one judge has to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Which rule.
    pub check: Check,
    /// How it fared.
    pub outcome: Outcome,
    /// How often it was tested and broken.
    pub tally: Tally,
    /// The rule, and why it may break by design, in a sentence.
    pub detail: &'static str,
    /// What broke it, in a sentence, where that can be told.
    pub reason: Option<String>,
}
