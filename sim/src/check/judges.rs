//! All judges of one run: they are told every fact, and asked how their rules fared.

use super::believed::BelievedLeaders;
#[cfg(feature = "peers")]
use super::brokers::BrokerJudges;
use super::jobs_concurrent::JobsConcurrent;
use super::jobs_lost::JobsLost;
use super::jobs_twice::JobsTwice;
#[cfg(feature = "peers")]
use super::kraft::KraftJudges;
use super::leader_again::LeaderAgain;
use super::linearizable::{Fate, Finding};
use super::logs::LogJudges;
use super::never_revives::NeverRevives;
use super::no_stale_write::NoStaleWrite;
use super::one_leader::OneLeaderPerTerm;
use super::one_vote::OneVotePerTerm;
#[cfg(feature = "peers")]
use super::sentinel::SentinelJudges;
use super::stale::StaleWrites;
use super::token_holder::TokenHolder;
use super::token_rises::TokenRises;
use super::{Check, Excuse, Fact, Outcome, Promises, Tally, Verdict};
use crate::physics::NEVER;

/// All judges of one run.
#[derive(Clone, Debug)]
pub struct Judges {
    promises: Promises,
    /// What first befell the store, of each kind: when.
    excuses: [(Excuse, u64); 2],
    one_leader: OneLeaderPerTerm,
    one_vote: OneVotePerTerm,
    token_rises: TokenRises,
    believed: BelievedLeaders,
    stale: StaleWrites,
    leader_again: LeaderAgain,
    never_revives: NeverRevives,
    token_holder: TokenHolder,
    no_stale_write: NoStaleWrite,
    /// Where there are jobs.
    jobs: Option<Box<JobJudges>>,
    /// Where there are logs.
    logs: Option<Box<LogJudges>>,
    /// Where there are sentinels.
    #[cfg(feature = "peers")]
    sentinels: Option<Box<SentinelJudges>>,
    /// Where the logs are those of Kafka's controllers.
    #[cfg(feature = "peers")]
    kraft: Option<Box<KraftJudges>>,
    /// Where there are brokers beside them.
    #[cfg(feature = "peers")]
    brokers: Option<Box<BrokerJudges>>,
}

/// The judges of jobs.
#[derive(Clone, Debug)]
struct JobJudges {
    lost: JobsLost,
    twice: JobsTwice,
    concurrent: JobsConcurrent,
}

/// The rules that a fact broke just now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Broken(u128);

const _: () = assert!(Check::ALL.len() <= 128, "the checks are bits of a u128");

impl Broken {
    /// Whether none was.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether this one was.
    #[must_use]
    pub const fn contains(self, check: Check) -> bool {
        self.0 >> check as u8 & 1 == 1
    }

    /// These were broken too.
    #[cfg(feature = "peers")]
    pub(crate) const fn join(&mut self, others: Self) {
        self.0 |= others.0;
    }

    pub(super) fn add(&mut self, check: Check, broken: bool) {
        self.0 |= u128::from(broken) << check as u8;
    }
}

impl Judges {
    /// Judges of a world with the given numbers of nodes and resources; resource 0 is the fenced one.
    #[must_use]
    pub fn new(nodes: usize, resources: usize, promises: Promises) -> Self {
        Self {
            promises,
            excuses: [(Excuse::Lost, NEVER), (Excuse::Jumped, NEVER)],
            one_leader: OneLeaderPerTerm::new(),
            one_vote: OneVotePerTerm::new(nodes),
            token_rises: TokenRises::new(nodes),
            believed: BelievedLeaders::new(nodes),
            stale: StaleWrites::new(resources),
            leader_again: LeaderAgain::new(nodes, promises.leader_within),
            never_revives: NeverRevives::new(nodes),
            token_holder: TokenHolder::new(resources),
            no_stale_write: NoStaleWrite::default(),
            jobs: promises.job_within.map(|within| {
                Box::new(JobJudges {
                    lost: JobsLost::new(within),
                    twice: JobsTwice::default(),
                    concurrent: JobsConcurrent::new(nodes),
                })
            }),
            logs: promises
                .logs
                .then(|| Box::new(LogJudges::new(nodes, &promises))),
            #[cfg(feature = "peers")]
            sentinels: None,
            #[cfg(feature = "peers")]
            kraft: (promises.kraft).map(|within| Box::new(KraftJudges::new(nodes, within))),
            #[cfg(feature = "peers")]
            brokers: None,
        }
    }

    /// The same for sentinels and their data servers.
    #[cfg(feature = "peers")]
    #[must_use]
    pub(crate) fn of_sentinels(mut self, setup: Option<&crate::scheme::sentinel::Setup>) -> Self {
        self.sentinels = setup.map(|setup| Box::new(SentinelJudges::new(*setup)));
        self
    }

    /// The same for brokers and their partitions.
    #[cfg(feature = "peers")]
    #[must_use]
    pub(crate) fn of_brokers(mut self, params: Option<crate::brokers::Params>) -> Self {
        let within = self.promises.leader_within;
        self.brokers = params.map(|params| Box::new(BrokerJudges::new(params, within)));
        self
    }

    /// The judges of brokers, where there are some.
    #[cfg(feature = "peers")]
    pub(crate) fn brokers(&mut self) -> Option<&mut BrokerJudges> {
        self.brokers.as_deref_mut()
    }

    /// What became of brokers and partitions, where it is kept.
    #[cfg(all(feature = "peers", not(target_family = "wasm")))]
    pub(crate) fn annals(&self) -> &[super::brokers::Annal] {
        (self.brokers.as_ref()).map_or(&[], |brokers| brokers.annals())
    }

    /// How the leaders of partitions came to lead, where there are brokers.
    #[cfg(all(feature = "peers", not(target_family = "wasm")))]
    #[must_use]
    pub fn elections(&self) -> Option<super::Elections> {
        self.brokers.as_ref().map(|brokers| brokers.elections())
    }

    /// The judges of sentinels, where there are some.
    #[cfg(feature = "peers")]
    pub(crate) fn sentinels(&mut self) -> Option<&mut SentinelJudges> {
        self.sentinels.as_deref_mut()
    }

    /// The same, looked at.
    #[cfg(feature = "peers")]
    pub(crate) fn sentinels_seen(&self) -> Option<&SentinelJudges> {
        self.sentinels.as_deref()
    }

    /// Judges of what others than the nodes do are told when all is well, and when it is not.
    #[cfg(feature = "peers")]
    fn tell_servers(&mut self, now: u64, fact: Fact, broken: &mut Broken) {
        if let Some(brokers) = &mut self.brokers {
            match fact {
                Fact::Whole(whole) => broken.join(brokers.whole(now, whole)),
                _ => brokers.wished(now),
            }
        }
        let Some(sentinels) = &mut self.sentinels else {
            return;
        };
        match fact {
            Fact::Whole(whole) => broken.join(sentinels.whole(now, whole)),
            _ => sentinels.wished(now),
        }
    }

    /// Something befell the store: what breaks from now on by it breaks by design.
    pub(crate) fn excuse(&mut self, now: u64, by: Excuse) {
        for (excuse, since) in &mut self.excuses {
            if *excuse == by {
                *since = now.min(*since);
            }
        }
    }

    /// Why a rule that broke first at this instant, or never, is not promised.
    fn excused(&self, check: Check, broken_at: Option<u64>) -> Option<&'static str> {
        #[cfg(feature = "peers")]
        if check == Check::KafkaNoAckLoss {
            let brokers = self.brokers.as_ref();
            return brokers.and_then(|brokers| brokers.excuse_of_loss());
        }
        let mut before = (self.excuses.iter()).filter(|(_, since)| {
            *since != NEVER && broken_at.is_none_or(|broken| *since <= broken)
        });
        before.find_map(|(excuse, _)| excuse.detail(check))
    }

    /// Tells all judges of a fact.
    pub fn hear(&mut self, now: u64, fact: Fact) -> Broken {
        let mut broken = Broken::default();
        #[cfg(feature = "peers")]
        if let Some(kraft) = &mut self.kraft {
            kraft.hear(now, fact, &mut broken);
        }
        match fact {
            Fact::Acted { node, term } => broken.add(
                Check::OneLeaderPerTerm,
                self.one_leader.acted(now, node, term),
            ),
            Fact::Granted { node, term, to } => {
                let two = self.one_vote.granted(now, node, term, to);
                broken.add(Check::OneVotePerTerm, two);
                if let Some(logs) = &mut self.logs {
                    logs.granted(node, term, to);
                }
            }
            Fact::Elected { node, token } => {
                let fell = self.promises.tokens && self.token_rises.elected(now, node, token);
                broken.add(Check::TokenRises, fell);
            }
            Fact::Established { node, token } => {
                self.stale.established(node, token);
                self.token_holder.established(node, token);
                let fell = self.promises.tokens && self.token_rises.established(now, node, token);
                broken.add(Check::TokenRises, fell);
                self.hear_of_jobs(now, fact, &mut broken);
            }
            Fact::Believes {
                node,
                token,
                until,
                running,
            } => {
                broken.add(
                    Check::BelievedLeaders,
                    self.believed.believes(now, node, until),
                );
                let revived =
                    self.promises.tokens && self.never_revives.believes(now, node, token, until);
                broken.add(Check::NeverRevives, revived);
                let until = if running { until } else { 0 };
                broken.add(
                    Check::LeaderAgain,
                    self.leader_again.leads(now, node, until),
                );
            }
            Fact::Touched {
                resource,
                node,
                token,
            } => {
                let shown =
                    self.promises.tokens && self.token_holder.shown(now, resource, node, token);
                broken.add(Check::TokenHolder, shown);
                self.stale.touched(resource, node, token);
            }
            Fact::Wrote {
                resource,
                node,
                token,
                accepted,
            } => {
                let shown =
                    self.promises.tokens && self.token_holder.shown(now, resource, node, token);
                broken.add(Check::TokenHolder, shown);
                let check = if resource == 0 {
                    Check::StaleWriteFenced
                } else {
                    Check::StaleWriteUnfenced
                };
                let stale = self.stale.wrote(now, resource, node, token, accepted);
                broken.add(check, stale);
            }
            Fact::WroteToStore { taken, .. } => broken.add(
                Check::ControllerNoStaleWrite,
                self.no_stale_write.wrote(now, taken),
            ),
            Fact::Whole(whole) => {
                broken.add(Check::LeaderAgain, self.leader_again.whole(now, whole));
                if let Some(logs) = &mut self.logs {
                    logs.whole(now, whole);
                }
                #[cfg(feature = "peers")]
                self.tell_servers(now, fact, &mut broken);
                self.hear_of_jobs(now, fact, &mut broken);
            }
            Fact::Wished => {
                broken.add(Check::LeaderAgain, self.leader_again.wished(now));
                #[cfg(feature = "peers")]
                self.tell_servers(now, fact, &mut broken);
                self.hear_of_jobs(now, fact, &mut broken);
            }
            Fact::JobDue(_) | Fact::Works { .. } | Fact::Finished { .. } => {
                self.hear_of_jobs(now, fact, &mut broken);
            }
        }
        broken
    }

    /// The judges of Kafka's controllers, where there are those.
    #[cfg(feature = "peers")]
    pub(crate) fn kraft(&mut self) -> Option<&mut KraftJudges> {
        self.kraft.as_deref_mut()
    }

    /// The judges of logs, where there are logs.
    pub(crate) fn logs(&mut self) -> Option<&mut LogJudges> {
        self.logs.as_deref_mut()
    }

    /// How many terms were begun by nodes that could not win them.
    #[cfg(not(target_family = "wasm"))]
    #[must_use]
    pub fn terms_burnt(&self) -> u64 {
        self.logs.as_ref().map_or(0, |logs| logs.burnt())
    }

    /// Within what time watchers that ask so often know what was changed, once nothing is wrong: a leader may have to be found
    /// first, and they may have to find a server.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn watched_within(&self, every: u64) -> u64 {
        self.promises.leader_within.max(every.saturating_mul(120))
    }

    /// How old what was read locally was, in microseconds.
    #[must_use]
    pub fn local_ages(&self) -> crate::stats::Times {
        (self.logs.as_ref()).map_or_else(Default::default, |logs| logs.ages().clone())
    }

    fn hear_of_jobs(&mut self, now: u64, fact: Fact, broken: &mut Broken) {
        let Some(JobJudges {
            lost,
            twice,
            concurrent,
        }) = self.jobs.as_deref_mut()
        else {
            return;
        };
        match fact {
            Fact::Established { .. } | Fact::Wished => {
                broken.add(Check::JobsLost, lost.begins_anew(now));
            }
            Fact::Whole(whole) => broken.add(Check::JobsLost, lost.whole(now, whole)),
            Fact::JobDue(job) => broken.add(Check::JobsLost, lost.fell_due(now, job)),
            Fact::Works { node, job, begins } => {
                if begins {
                    twice.begun(job);
                }
                broken.add(Check::JobsConcurrent, concurrent.works(now, node, job));
            }
            Fact::Finished {
                resource,
                job,
                taken,
            } => {
                let check = if resource == 0 {
                    Check::JobsTwiceFenced
                } else {
                    Check::JobsTwiceUnfenced
                };
                broken.add(check, twice.finished(now, resource, job, taken));
                // The fenced resource has the say.
                if resource == 0 && taken {
                    broken.add(Check::JobsLost, lost.done(now, job));
                }
            }
            _ => {}
        }
    }

    /// Lets time pass to `now`: what breaks by waiting breaks here.
    pub fn wait(&mut self, now: u64) -> Broken {
        let mut broken = Broken::default();
        self.believed.advance(now);
        broken.add(Check::LeaderAgain, self.leader_again.advance(now));
        if let Some(jobs) = &mut self.jobs {
            broken.add(Check::JobsLost, jobs.lost.advance(now));
        }
        #[cfg(feature = "peers")]
        if let Some(sentinels) = &mut self.sentinels {
            broken.join(sentinels.advance(now));
        }
        #[cfg(feature = "peers")]
        if let Some(brokers) = &mut self.brokers {
            broken.join(brokers.advance(now));
        }
        broken
    }

    /// When the next rule breaks if nothing happens until then.
    #[must_use]
    pub fn patience(&self) -> Option<u64> {
        let job = self.jobs.as_ref().and_then(|jobs| jobs.lost.bound());
        let due = match (self.leader_again.due(), job) {
            (Some(leader), Some(job)) => Some(leader.min(job)),
            (leader, job) => leader.or(job),
        };
        #[cfg(feature = "peers")]
        let due = {
            let sentinels = self.sentinels.as_ref().and_then(|judges| judges.due());
            let brokers = self.brokers.as_ref().and_then(|judges| judges.due());
            [due, sentinels, brokers].into_iter().flatten().min()
        };
        due
    }

    /// How a rule fared so far.
    #[must_use]
    pub fn verdict(&self, check: Check) -> Verdict {
        let tally = self.tally(check);
        let excused = self.excused(check, tally.first_broken_at);
        Verdict {
            check,
            outcome: self.outcome(check),
            tally,
            // The page has words of its own, in its languages.
            detail: if cfg!(target_family = "wasm") {
                ""
            } else {
                excused.unwrap_or(self.promises.detail(check))
            },
            reason: None,
        }
    }

    /// How a rule fared so far.
    #[must_use]
    pub fn outcome(&self, check: Check) -> Outcome {
        match self.tally(check) {
            _ if !self.concerns(check) => Outcome::NotExercised,
            Tally {
                broken: 1..,
                first_broken_at,
                ..
            } if self.promises.keeps(check) && self.excused(check, first_broken_at).is_none() => {
                Outcome::Broken
            }
            Tally { broken: 1.., .. } => Outcome::BrokenByDesign,
            Tally { exercised: 0, .. } => Outcome::NotExercised,
            _ => Outcome::Holds,
        }
    }

    /// What is found of the history that a rule is about.
    pub(crate) fn find(&self, verdict: &mut Verdict, finding: Finding) {
        let Finding { exercised, fate } = finding;
        verdict.tally.exercised = exercised;
        match fate {
            Fate::Explained if exercised == 0 => {}
            Fate::Explained => verdict.outcome = Outcome::Holds,
            Fate::Broken(at, reason) => {
                verdict.outcome = if self.promises.keeps(verdict.check) {
                    Outcome::Broken
                } else {
                    Outcome::BrokenByDesign
                };
                (verdict.tally.broken, verdict.tally.first_broken_at) = (1, at);
                verdict.reason = Some(reason);
            }
            // Whatever is promised.
            Fate::Unknown => {
                verdict.outcome = Outcome::Undecided;
                let reason = "More is under way at once than can be judged.";
                verdict.reason = Some(reason.to_owned());
            }
        }
    }

    /// The counts of one rule.
    #[must_use]
    pub fn tally(&self, check: Check) -> Tally {
        match check {
            Check::OneLeaderPerTerm => self.one_leader.tally(),
            Check::OneVotePerTerm => self.one_vote.tally(),
            Check::TokenRises => self.token_rises.tally(),
            Check::BelievedLeaders => self.believed.tally(),
            Check::StaleWriteFenced => self.stale.tally(0),
            Check::StaleWriteUnfenced => self.stale.tally(1),
            Check::LeaderAgain => self.leader_again.tally(),
            Check::NeverRevives => self.never_revives.tally(),
            Check::TokenHolder => self.token_holder.tally(),
            Check::ControllerNoStaleWrite => self.no_stale_write.tally(),
            // Judged from what is recorded, when it is.
            Check::LinearizableFenced
            | Check::LinearizableUnfenced
            | Check::LinearizableClient
            | Check::WatchComplete => Tally::default(),
            Check::SentinelSingleWritable => self.believed.tally(),
            #[cfg(feature = "peers")]
            check if check.is_of_sentinels() => {
                (self.sentinels.as_ref()).map_or_else(Tally::default, |judges| judges.tally(check))
            }
            #[cfg(feature = "peers")]
            check if check.is_of_brokers() => {
                (self.brokers.as_ref()).map_or_else(Tally::default, |judges| judges.tally(check))
            }
            Check::LogMatching
            | Check::LeaderCompleteness
            | Check::StateMachineAgreement
            | Check::CommittedIsDurable
            | Check::AcknowledgedSurvives
            | Check::TermsBurnt
            | Check::LinearizableStore
            | Check::CommitRises
            | Check::LocalReads
            | Check::IntersectingQuorums
            | Check::EpochOrder
            | Check::PromiseBeforeAct
            | Check::LocalPrimaryOrder
            | Check::GlobalPrimaryOrder
            | Check::PrimaryIntegrity
            | Check::AckMeansDurable
            | Check::LogContinuity => self
                .logs
                .as_ref()
                .map_or_else(Tally::default, |logs| logs.tally(check)),
            Check::PreVoteQuiet
            | Check::ResignedNoReuse
            | Check::ClaimAfterCatchUp
            | Check::StaleLeaderStops => {
                #[cfg(feature = "peers")]
                if let Some(kraft) = &self.kraft {
                    return kraft.tally(check);
                }
                Tally::default()
            }
            Check::JobsLost
            | Check::JobsTwiceFenced
            | Check::JobsTwiceUnfenced
            | Check::JobsConcurrent => match (&self.jobs, check) {
                (None, _) => Tally::default(),
                (Some(jobs), Check::JobsLost) => jobs.lost.tally(),
                (Some(jobs), Check::JobsTwiceFenced) => jobs.twice.tally(0),
                (Some(jobs), Check::JobsTwiceUnfenced) => jobs.twice.tally(1),
                (Some(jobs), _) => jobs.concurrent.tally(),
            },
            // There are none.
            _ => Tally::default(),
        }
    }

    /// Whether the workload has anything that the rule is about.
    #[must_use]
    pub fn concerns(&self, check: Check) -> bool {
        if check.is_of_controllers() {
            self.promises.controllers
        } else if check.is_of_brokers() {
            self.promises.brokers.is_some()
        } else if self.promises.brokers.is_some() && check.is_of_store() {
            false
        } else if self.promises.sentinels || check.is_of_sentinels() {
            let ours = check.is_of_sentinels() || check == Check::LeaderAgain;
            self.promises.sentinels && ours
        } else if check.is_of_tokens() && !self.promises.tokens {
            false
        } else if check.is_of_broadcast() {
            self.promises.broadcast
        } else if check == Check::WatchComplete {
            self.promises.watches
        } else if check.is_of_kraft() {
            self.promises.kraft.is_some()
        } else if check.is_of_raft() {
            self.promises.logs && !self.promises.broadcast
        } else if check == Check::OneVotePerTerm {
            self.promises.voters > 0
        } else if check >= Check::LogMatching {
            self.promises.logs
        } else {
            check < Check::JobsLost || self.promises.job_within.is_some()
        }
    }

    /// How many nodes believe to lead, how long two or more did together, and how long no running node did.
    #[must_use]
    pub fn belief(&self) -> Belief {
        Belief {
            leaders: self.believed.count(),
            overlap: self.believed.overlap(),
            without_leader: self.leader_again.without_leader(),
        }
    }

    /// When two or more nodes believed to lead: beginning and end of each span of true time, the first few thousand;
    /// [`NEVER`](crate::physics::NEVER) while it goes on.
    #[must_use]
    pub fn overlaps(&self) -> &[(u64, u64)] {
        self.believed.spans()
    }

    /// When no running node led; as [`overlaps`](Self::overlaps).
    #[must_use]
    pub fn leaderless(&self) -> &[(u64, u64)] {
        self.leader_again.spans()
    }

    /// The windows in which a leader was waited for: when each began (the start, or the last fault healed), and how long a
    /// leader took; [`NEVER`](crate::physics::NEVER) when none came in time.
    #[must_use]
    pub fn windows(&self) -> &[(u64, u64)] {
        self.leader_again.windows()
    }

    /// How many votes and acts of leaders nobody judged: they were of terms so old that the judges had forgotten them. What
    /// is kept is bounded, to the newest hundreds of thousands of votes.
    #[must_use]
    pub const fn unjudged(&self) -> u64 {
        self.one_leader.unknown() + self.one_vote.unknown()
    }

    /// How many stale writes reached a resource and were turned away.
    #[must_use]
    pub fn stale_refused(&self, resource: usize) -> u64 {
        let Tally {
            exercised, broken, ..
        } = self.stale.tally(resource);
        exercised - broken
    }
}

/// Who believes what, over time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Belief {
    /// Nodes that believe to lead, now.
    pub leaders: usize,
    /// Microseconds in which two or more did.
    pub overlap: u64,
    /// Microseconds in which no running node did.
    pub without_leader: u64,
}
