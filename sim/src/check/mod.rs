//! The judges: one rule a file, none shares code with a protocol.
//!
//! They hear facts as the world sees them from outside, in true time, and know nothing of how a scheme decides. Each
//! counts how often its rule was put to the test: a rule that never was is *not exercised*, which is no pass (law W3).

mod believed;
mod jobs_concurrent;
mod jobs_lost;
mod jobs_twice;
mod leader_again;
pub(crate) mod linearizable;
mod never_revives;
mod one_leader;
mod one_vote;
mod spans;
mod stale;
mod terms;
mod token_holder;
mod token_rises;

use believed::BelievedLeaders;
use jobs_concurrent::JobsConcurrent;
use jobs_lost::JobsLost;
use jobs_twice::JobsTwice;
use leader_again::LeaderAgain;
use linearizable::{Fate, Finding};
use never_revives::NeverRevives;
use one_leader::OneLeaderPerTerm;
use one_vote::OneVotePerTerm;
use stale::StaleWrites;
use tenure::Token;
use terms::Sight;
use token_holder::TokenHolder;
use token_rises::TokenRises;

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
}

impl Check {
    /// All of them.
    pub const ALL: [Self; 16] = [
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
    ];

    /// Its name in files and reports.
    #[must_use]
    #[cfg_attr(target_family = "wasm", inline(never))]
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
        }
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
}

impl Outcome {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::Holds,
        Self::Broken,
        Self::BrokenByDesign,
        Self::NotExercised,
    ];

    /// Its name in files and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Broken => "broken",
            Self::BrokenByDesign => "broken-by-design",
            Self::NotExercised => "not-exercised",
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
    fn note(&mut self, now: u64, broken: bool) -> bool {
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
    /// The bound for the next job, where there are jobs.
    pub job_within: Option<u64>,
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

/// All judges of one run.
#[derive(Clone, Debug)]
pub struct Judges {
    promises: Promises,
    one_leader: OneLeaderPerTerm,
    one_vote: OneVotePerTerm,
    token_rises: TokenRises,
    believed: BelievedLeaders,
    stale: StaleWrites,
    leader_again: LeaderAgain,
    never_revives: NeverRevives,
    token_holder: TokenHolder,
    /// Where there are jobs.
    jobs: Option<Box<JobJudges>>,
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
pub struct Broken(u32);

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

    fn add(&mut self, check: Check, broken: bool) {
        self.0 |= u32::from(broken) << check as u8;
    }
}

impl Judges {
    /// Judges of a world with the given numbers of nodes and resources; resource 0 is the fenced one.
    #[must_use]
    pub fn new(nodes: usize, resources: usize, promises: Promises) -> Self {
        Self {
            promises,
            one_leader: OneLeaderPerTerm::new(),
            one_vote: OneVotePerTerm::new(nodes),
            token_rises: TokenRises::new(nodes),
            believed: BelievedLeaders::new(nodes),
            stale: StaleWrites::new(resources),
            leader_again: LeaderAgain::new(nodes, promises.leader_within),
            never_revives: NeverRevives::new(nodes),
            token_holder: TokenHolder::new(resources),
            jobs: promises.job_within.map(|within| {
                Box::new(JobJudges {
                    lost: JobsLost::new(within),
                    twice: JobsTwice::default(),
                    concurrent: JobsConcurrent::new(nodes),
                })
            }),
        }
    }

    /// Tells all judges of a fact.
    pub fn hear(&mut self, now: u64, fact: Fact) -> Broken {
        let mut broken = Broken::default();
        match fact {
            Fact::Acted { node, term } => broken.add(
                Check::OneLeaderPerTerm,
                self.one_leader.acted(now, node, term),
            ),
            Fact::Granted { node, term, to } => broken.add(
                Check::OneVotePerTerm,
                self.one_vote.granted(now, node, term, to),
            ),
            Fact::Elected { node, token } => broken.add(
                Check::TokenRises,
                self.token_rises.elected(now, node, token),
            ),
            Fact::Established { node, token } => {
                self.token_holder.established(node, token);
                broken.add(
                    Check::TokenRises,
                    self.token_rises.established(now, node, token),
                );
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
                broken.add(
                    Check::NeverRevives,
                    self.never_revives.believes(now, node, token, until),
                );
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
                let shown = self.token_holder.shown(now, resource, node, token);
                broken.add(Check::TokenHolder, shown);
                self.stale.touched(resource, token);
            }
            Fact::Wrote {
                resource,
                node,
                token,
                accepted,
            } => {
                let shown = self.token_holder.shown(now, resource, node, token);
                broken.add(Check::TokenHolder, shown);
                let check = if resource == 0 {
                    Check::StaleWriteFenced
                } else {
                    Check::StaleWriteUnfenced
                };
                broken.add(check, self.stale.wrote(now, resource, token, accepted));
            }
            Fact::Whole(whole) => {
                broken.add(Check::LeaderAgain, self.leader_again.whole(now, whole));
                self.hear_of_jobs(now, fact, &mut broken);
            }
            Fact::Wished => {
                broken.add(Check::LeaderAgain, self.leader_again.wished(now));
                self.hear_of_jobs(now, fact, &mut broken);
            }
            Fact::JobDue(_) | Fact::Works { .. } | Fact::Finished { .. } => {
                self.hear_of_jobs(now, fact, &mut broken);
            }
        }
        broken
    }

    #[cfg_attr(target_family = "wasm", inline(never))]
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
        broken
    }

    /// When the next rule breaks if nothing happens until then.
    #[must_use]
    pub fn patience(&self) -> Option<u64> {
        let job = self.jobs.as_ref().and_then(|jobs| jobs.lost.bound());
        match (self.leader_again.due(), job) {
            (Some(leader), Some(job)) => Some(leader.min(job)),
            (leader, job) => leader.or(job),
        }
    }

    /// How a rule fared so far.
    #[must_use]
    pub fn verdict(&self, check: Check) -> Verdict {
        Verdict {
            check,
            outcome: self.outcome(check),
            tally: self.tally(check),
            // The page has words of its own, in its languages.
            detail: if cfg!(target_family = "wasm") {
                ""
            } else {
                self.detail(check)
            },
            reason: None,
        }
    }

    /// How a rule fared so far.
    #[must_use]
    #[cfg_attr(target_family = "wasm", inline(never))]
    pub fn outcome(&self, check: Check) -> Outcome {
        match self.tally(check) {
            Tally { broken: 1.., .. } if self.promised(check) => Outcome::Broken,
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
                verdict.outcome = if self.promised(verdict.check) {
                    Outcome::Broken
                } else {
                    Outcome::BrokenByDesign
                };
                (verdict.tally.broken, verdict.tally.first_broken_at) = (1, at);
                verdict.reason = Some(reason);
            }
            // No pass, whatever is promised.
            Fate::Unknown => {
                verdict.outcome = Outcome::Broken;
                let reason = "More is under way at once than can be judged: not known.";
                verdict.reason = Some(reason.to_owned());
            }
        }
    }

    /// The counts of one rule.
    #[must_use]
    #[cfg_attr(target_family = "wasm", inline(never))]
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
            // Judged from what is recorded, when it is.
            Check::LinearizableFenced | Check::LinearizableUnfenced | Check::LinearizableClient => {
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
        }
    }

    /// Whether the workload has anything that the rule is about.
    #[must_use]
    pub fn concerns(&self, check: Check) -> bool {
        check < Check::JobsLost || self.promises.job_within.is_some()
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

    /// Whether the setting promises a rule.
    #[cfg_attr(target_family = "wasm", inline(never))]
    const fn promised(&self, check: Check) -> bool {
        let Promises {
            leases,
            fence_first,
            led,
            ..
        } = self.promises;
        match check {
            Check::OneLeaderPerTerm
            | Check::OneVotePerTerm
            | Check::LeaderAgain
            | Check::NeverRevives
            | Check::TokenHolder
            | Check::JobsLost
            | Check::JobsTwiceFenced => true,
            Check::TokenRises | Check::BelievedLeaders | Check::JobsConcurrent => leases,
            Check::StaleWriteFenced | Check::LinearizableFenced => fence_first,
            Check::LinearizableClient => fence_first && led,
            Check::StaleWriteUnfenced | Check::LinearizableUnfenced | Check::JobsTwiceUnfenced => {
                false
            }
        }
    }

    /// The rule in a sentence, or why nothing promises it.
    const fn detail(&self, check: Check) -> &'static str {
        let Promises { led, .. } = self.promises;
        match (check, self.promised(check)) {
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
            (Check::LinearizableFenced | Check::LinearizableClient, false) => {
                "The new leader reads before it fences, and writes on from what was overwritten meanwhile (LS-F5)."
            }
            (Check::LinearizableUnfenced, _) if led => {
                "The unfenced resource checks nothing: a leader that was overtaken overwrites what its successor wrote."
            }
            (Check::LinearizableUnfenced, _) => {
                "Writers without a leader overwrite each other: each read before the other had written."
            }
            (Check::JobsLost, _) => {
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
            (Check::JobsConcurrent, false) => {
                "Without leases a tenure has no end that a cut-off leader could know of: it works on beside its successor."
            }
        }
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
