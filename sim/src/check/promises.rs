//! What a setting promises of each rule, and the rule in a sentence.

use super::Check;

/// What the setting promises: a rule that breaks where nothing promises it is broken by design.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Promises {
    /// The scheme bounds belief by time.
    pub leases: bool,
    /// New leaders fence before they read.
    pub fence_first: bool,
    /// The bound for a leader once faults are healed.
    pub leader_within: u64,
    /// Clients write through whoever leads.
    pub led: bool,
    /// Leaders have a token to show.
    pub tokens: bool,
    /// The bound for the next job, where there are jobs.
    pub job_within: Option<u64>,
    /// There are logs.
    pub logs: bool,
    /// Clients watch the store on them.
    pub watches: bool,
    /// How many nodes vote at the start, the first ones; none where a store decides.
    pub voters: usize,
    /// The logs are replicated by atomic broadcast, as ZooKeeper's servers do it, and not as Raft does.
    pub broadcast: bool,
    /// The nodes are sentinels, and who leads is one of the data servers that they watch.
    pub sentinels: bool,
    /// Sentinels that woke after the master had died replace it, which the shipped ones do not.
    pub wakes_late: bool,
    /// They are those of Kafka's controllers: for how long one that was overtaken believes that it leads, at most.
    pub kraft: Option<u64>,
    /// Beside them are brokers, whose partitions clients use: what is promised of a record that was acknowledged.
    pub brokers: Option<Acknowledged>,
    /// Who leads keeps what it decides in the ZooKeeper by which it was elected.
    pub controllers: bool,
}

/// Who has a record that a broker acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acknowledged {
    /// All in sync.
    ByAll,
    /// The leader alone.
    ByLeader,
}

/// What happened to a store, after which it keeps no promise that rests on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Excuse {
    /// It lost what it had acknowledged, or has it no more.
    Lost,
    /// Its clock, by which leases end, jumped.
    Jumped,
}

impl Excuse {
    /// Why a rule is not promised any more; nothing where it is: no token is taken twice by a resource that keeps a fence.
    pub(super) const fn detail(self, check: Check) -> Option<&'static str> {
        match (self, check) {
            (
                Self::Lost,
                Check::OneLeaderPerTerm
                | Check::TokenRises
                | Check::NeverRevives
                | Check::TokenHolder,
            ) => Some(
                "The store lost what it had acknowledged, and with it which tokens it had given out: only a new generation is above them all.",
            ),
            (Self::Lost, Check::BelievedLeaders | Check::JobsConcurrent) => Some(
                "The store lost the record of who leads and grants another what the first believes to hold: only the guard of a resource keeps it out.",
            ),
            (Self::Lost, Check::JobsLost) => Some(
                "The store lost which tokens it had given out: a resource refuses its new leader, whose token is not above the last.",
            ),
            (Self::Jumped, Check::BelievedLeaders | Check::JobsConcurrent) => Some(
                "The clock of the store jumped, and a lease ended before its time: only the guard of a resource keeps its holder out.",
            ),
            _ => None,
        }
    }
}

impl Promises {
    /// Whether a rule is promised.
    pub(super) const fn keeps(&self, check: Check) -> bool {
        let Self {
            leases,
            fence_first,
            led,
            tokens,
            wakes_late,
            ..
        } = *self;
        match check {
            Check::OneLeaderPerTerm
            | Check::OneVotePerTerm
            | Check::LeaderAgain
            | Check::NeverRevives
            | Check::TokenHolder
            | Check::JobsTwiceFenced
            | Check::LogMatching
            | Check::LeaderCompleteness
            | Check::StateMachineAgreement
            | Check::CommittedIsDurable
            | Check::AcknowledgedSurvives
            | Check::LinearizableStore
            | Check::CommitRises
            | Check::IntersectingQuorums
            | Check::LocalReads
            | Check::WatchComplete
            | Check::SentinelOneVote
            | Check::SentinelEpochMonotone
            | Check::SentinelOneLeader
            | Check::SentinelConfigUnique
            | Check::SentinelConfigMonotone
            | Check::SentinelMajority
            | Check::SentinelConverges
            | Check::SentinelNoMinority
            | Check::SentinelNoSelfReplication
            | Check::SentinelRateLimited
            | Check::SentinelBestReplica
            | Check::SentinelMasterStays
            | Check::EpochOrder
            | Check::PromiseBeforeAct
            | Check::LocalPrimaryOrder
            | Check::GlobalPrimaryOrder
            | Check::PrimaryIntegrity
            | Check::AckMeansDurable
            | Check::LogContinuity
            | Check::PreVoteQuiet
            | Check::ResignedNoReuse
            | Check::ClaimAfterCatchUp
            | Check::StaleLeaderStops
            | Check::KafkaFencedNeverLeads
            | Check::KafkaLeaderInIsr
            | Check::KafkaElrDisjoint
            | Check::KafkaEpochMonotone
            | Check::KafkaOneLeader
            | Check::KafkaCleanNoLoss
            | Check::KafkaNoStaleCommand
            | Check::KafkaHighWatermark
            | Check::KafkaLogMatching
            | Check::KafkaInSyncAgain
            | Check::ControllerNoStaleWrite => true,
            Check::TokenRises
            | Check::BelievedLeaders
            | Check::JobsConcurrent
            | Check::TermsBurnt => leases,
            Check::StaleWriteFenced | Check::LinearizableFenced => fence_first,
            Check::LinearizableClient => fence_first && led && tokens,
            Check::JobsLost => tokens,
            Check::SentinelFailoverCompletes => wakes_late,
            Check::StaleWriteUnfenced
            | Check::LinearizableUnfenced
            | Check::JobsTwiceUnfenced
            | Check::SentinelNoAckLoss
            | Check::SentinelSingleWritable => false,
            Check::KafkaNoAckLoss => matches!(self.brokers, Some(Acknowledged::ByAll)),
        }
    }

    /// The rule in a sentence, or why it is not promised.
    pub(super) const fn detail(&self, check: Check) -> &'static str {
        let Self { led, tokens, .. } = *self;
        match (check, self.keeps(check)) {
            (Check::OneLeaderPerTerm, _) => {
                "At most one node acts as leader of a term, over the whole run."
            }
            (Check::OneVotePerTerm, _) => {
                "A node gives its vote of a term to at most one candidate, across restarts."
            }
            (Check::TokenRises, true) => {
                "Each new tenure has a higher token than every earlier one."
            }
            (Check::TokenRises, false) => {
                "Without leases a leader that was overtaken can still be established late: only each node's own tokens rise."
            }
            (Check::BelievedLeaders, true) => {
                "Two nodes never believe to lead at the same instant of true time."
            }
            (Check::BelievedLeaders, false) if self.broadcast => {
                "A leader without its quorum steps down after syncLimit, and has no lease: until then it believes to lead beside the next, and only its token keeps it out."
            }
            (Check::BelievedLeaders, false) if self.kraft.is_some() => {
                "A leader that no majority fetches from resigns after one and a half fetch timeouts, and has no lease: until then it believes to lead beside the next, and only its epoch keeps it out."
            }
            (Check::BelievedLeaders, false) => {
                "Without leases nothing bounds what a cut-off leader believes: only its token keeps it out."
            }
            (Check::StaleWriteFenced, true) => {
                "The fenced resource takes no write of a leader that was overtaken."
            }
            (Check::StaleWriteFenced, false) => {
                "The new leader reads before it fences: until its first write the guard has not heard of it (LS-F5)."
            }
            (Check::StaleWriteUnfenced, _) => {
                "The unfenced resource checks nothing: a write of a leader that was overtaken gets in."
            }
            (Check::LeaderAgain, _) if self.sentinels => {
                "Once the last fault is healed, a master that takes writes and that a majority of the sentinels name, within the bound."
            }
            (Check::LeaderAgain, _) => {
                "Once the last fault is healed, and after a leader goes away while nothing is wrong, an established leader within the bound."
            }
            (Check::NeverRevives, _) => {
                "A token that expired or was given up never becomes valid again."
            }
            (Check::TokenHolder, _) => {
                "Only the node that was established with a token shows it at a resource."
            }
            (Check::LinearizableFenced, true) => {
                "One order of all that was done at the fenced resource explains every answer."
            }
            (Check::LinearizableClient, true) => {
                "One order of all that the client asked for explains every answer it got."
            }
            (Check::LinearizableClient, false) if !led => {
                "Nobody leads: two that read the same number both write the next, and one of two acknowledged writes is lost."
            }
            (Check::LinearizableClient, false) if !tokens => {
                "There is no token: a leader that was overtaken overwrites what its successor wrote."
            }
            (Check::LinearizableFenced | Check::LinearizableClient, false) => {
                "The new leader reads before it fences, and writes on from what was overwritten meanwhile (LS-F5)."
            }
            (Check::LinearizableUnfenced, _) if led => {
                "The unfenced resource checks nothing: a leader that was overtaken overwrites what its successor wrote."
            }
            (Check::LinearizableUnfenced, _) => {
                "Writers without a leader overwrite each other: each read before the other had written."
            }
            (Check::JobsLost, false) => {
                "There is no token: the fenced resource, which has the say, takes the effect of no job."
            }
            (Check::JobsLost, true) => {
                "Every job that falls due is done: none is skipped, and an established leader makes up for those missed within the bound."
            }
            (Check::JobsTwiceFenced, _) => {
                "The fenced resource takes the effect of a job once, whoever worked at it."
            }
            (Check::JobsTwiceUnfenced, _) => {
                "The unfenced resource checks nothing: the effect of a leader that was overtaken gets in beside its successor's."
            }
            (Check::JobsConcurrent, true) => {
                "Two nodes never work at one job at the same instant: a leader stops where its tenure ends."
            }
            (Check::LogMatching, _) => {
                "Two logs that have an entry of one index and term agree up to it."
            }
            (Check::LeaderCompleteness, _) => {
                "What was committed in an earlier term is in the log of every leader."
            }
            (Check::StateMachineAgreement, _) => {
                "All nodes apply the same entries in the same order."
            }
            (Check::CommittedIsDurable, _) => "What is committed is on the disks of a majority.",
            (Check::AcknowledgedSurvives, _) => {
                "What a client of the store was told is done stays done."
            }
            (Check::TermsBurnt, true) => "Hardly any term is begun by a node that cannot win it.",
            (Check::CommitRises, _) => {
                "A commit index never falls, and a leader moves it only over an entry of its own term."
            }
            (Check::IntersectingQuorums, _) => {
                "What is decided next is decided by a quorum that meets every quorum of what was decided last."
            }
            (Check::LocalReads, _) => {
                "What is read locally is stale, and while nothing is wrong no older than the bound for a leader."
            }
            (Check::WatchComplete, _) => {
                "Watchers of the store are told every change of their keys, in order, once, and no other."
            }
            (Check::PreVoteQuiet, _) => {
                "A vote is recorded for a node that stands, and for no other."
            }
            (Check::ResignedNoReuse, _) => "Who led a term in a former life leads it no more.",
            (Check::ClaimAfterCatchUp, _) => {
                "Who may act in a term has applied an entry of it, and so everything before."
            }
            (Check::StaleLeaderStops, _) => {
                "Who was overtaken believes that it leads for as long as the bound at most."
            }
            (Check::LinearizableStore, _) => {
                "What clients of the store were answered has an order that explains it."
            }
            (Check::EpochOrder, _) => {
                "On every disk the accepted epoch is never below the current one, and neither falls."
            }
            (Check::PromiseBeforeAct, _) => {
                "Who promised an epoch logs and acknowledges nothing of an earlier one."
            }
            (Check::LocalPrimaryOrder, _) => {
                "The entries of an epoch are delivered as its leader proposed them."
            }
            (Check::GlobalPrimaryOrder, _) => "No entry is delivered after one of a later epoch.",
            (Check::PrimaryIntegrity, _) => {
                "A leader proposes when it has delivered all that is delivered of earlier epochs."
            }
            (Check::AckMeansDurable, _) => {
                "What a node acknowledges is on its disk, and so is the history of its current epoch."
            }
            (Check::LogContinuity, _) => "What is appended to a log follows its last entry.",
            (Check::TermsBurnt, false) => {
                "Without PreVote a node begins a term before it knows whether it can win it."
            }
            (Check::SentinelOneVote, _) => {
                "A sentinel votes at most once for each master and epoch, across restarts."
            }
            (Check::SentinelEpochMonotone, _) => {
                "In a sentinel's file the current epoch is at least each config epoch and leader epoch, and none of them ever falls."
            }
            (Check::SentinelOneLeader, _) => {
                "For each master and epoch at most one sentinel is elected."
            }
            (Check::SentinelConfigUnique, _) => {
                "Two sentinels that hold one config epoch of a master hold one address, unless an operator ordered a failover."
            }
            (Check::SentinelConfigMonotone, _) => {
                "A sentinel's config epoch never falls, and the address changes only when it rises."
            }
            (Check::SentinelMajority, _) => {
                "Who promotes a replica without an operator's word has the votes of a majority of all known sentinels."
            }
            (Check::SentinelConverges, _) => {
                "When all faults are over, all sentinels soon hold the configuration of the highest epoch, and all data servers follow it."
            }
            (Check::SentinelNoMinority, _) => {
                "Sentinels that do not reach a majority begin no promotion."
            }
            (Check::SentinelNoSelfReplication, _) => {
                "No data server is ordered to replicate itself."
            }
            (Check::SentinelRateLimited, _) => {
                "Between two attempts of a sentinel, and between its vote for another and its own attempt, pass two failover timeouts."
            }
            (Check::SentinelBestReplica, _) => {
                "What is promoted is the best of what could be, as far as the sentinel was told."
            }
            (Check::SentinelMasterStays, _) => "A master that can be reached stays the master.",
            (Check::SentinelNoAckLoss, _) => {
                "A write is acknowledged before any replica has it, and what the promoted replica lacks is discarded."
            }
            (Check::SentinelSingleWritable, _) => {
                "An old master takes writes until a sentinel reaches it and makes it a replica: nothing fences it."
            }
            (Check::SentinelFailoverCompletes, true) => {
                "While a majority of the sentinels can talk, and a replica can be reached that was in touch with the master until it went, that one is replaced within the bound."
            }
            (Check::SentinelFailoverCompletes, false) => {
                "As shipped, a replica may be out of touch for as long as its master is held to be down, and a while more: sentinels that woke after it had died find none good enough, for ever (redis#5677)."
            }
            (Check::KafkaFencedNeverLeads, _) => {
                "A broker that is fenced or about to go leads nothing, and enters no ISR."
            }
            (Check::KafkaLeaderInIsr, _) => "Who leads a partition is in its ISR.",
            (Check::KafkaElrDisjoint, _) => {
                "ISR and ELR of a partition are apart, and of its replicas."
            }
            (Check::KafkaEpochMonotone, _) => {
                "The partition epoch rises with every change, and with another leader the leader epoch."
            }
            (Check::KafkaOneLeader, _) => "At most one broker leads a partition in a leader epoch.",
            (Check::KafkaCleanNoLoss, _) => {
                "Unless an election was unclean or of the last known leader, whoever leads a partition has every record that a leader showed as committed."
            }
            (Check::KafkaNoStaleCommand, _) => "No broker applies metadata that is not committed.",
            (Check::KafkaHighWatermark, _) => {
                "The high watermark of a replica does not fall, and what a consumer has read stays what it was."
            }
            (Check::KafkaLogMatching, _) => {
                "Two replicas that have a record of one offset and epoch agree up to it, and no two records have one name."
            }
            (Check::KafkaInSyncAgain, _) => {
                "When all faults are over, every partition soon has a leader, and everybody who keeps it is in sync."
            }
            (Check::KafkaNoAckLoss, true) => {
                "Unless an election was unclean or of the last known leader, whoever leads a partition has every record that was acknowledged with acks=all."
            }
            (Check::KafkaNoAckLoss, false) => {
                "With acks=1 a leader alone acknowledges, and what no follower has copied goes with it."
            }
            (Check::ControllerNoStaleWrite, _) => {
                "ZooKeeper takes no write of a controller whose epoch is not the stored one."
            }
            (Check::JobsConcurrent, false) => {
                "Without leases a tenure has no end that a cut-off leader could know of: it works on beside its successor."
            }
        }
    }
}
