//! Where to look for what a rule protects: a small setting in which its absence breaks the invariant it names, for each
//! rule of safety, and for those rules of liveness without which a group is stuck. A search that finds nothing wrong proves
//! little until it has found these.

use super::law::Law;
use super::setting::{Bounds, Clocks, Setting, short_timing};
use tenure::log::Shape;
use tenure::raft::Rule;

/// A setting in which a rule is off, and what breaks there first.
#[derive(Clone, Debug)]
pub struct Hunt {
    /// The rule, and with it whatever else must be off for its absence to be felt.
    pub off: Vec<Rule>,
    /// With those rules off.
    pub setting: Setting,
    /// The invariant that breaks.
    pub law: Law,
}

impl Hunt {
    /// Where the absence of `rule` is found; `None` for a rule that keeps a healthy leader in office, for without it there
    /// is soon another.
    #[must_use]
    pub fn of(rule: Rule) -> Option<Self> {
        let mut off = vec![rule];
        let bounds = |terms, crashes, whims, ticks| Bounds {
            terms,
            crashes,
            whims,
            ticks,
            ..Bounds::default()
        };
        let election = |voters, terms| Setting::election(voters, bounds(terms, 0, 0, u8::MAX));
        // A host that campaigns and resigns at will shows without waiting what timers would show later.
        let at_once =
            |terms, crashes, whims| lease(Clocks::exact(3), bounds(terms, crashes, whims, 0));
        let (setting, law) = match rule {
            Rule::DurableBeforeReply => (election(3, 1), Law::DurableVote),
            Rule::OneVoteATerm => (election(3, 1), Law::OneVote),
            Rule::MajorityOfVoters => (election(3, 1), Law::OneLeader),
            // Of three voters, any one beside the candidate is a majority.
            Rule::CountOnce => (election(4, 1), Law::OneLeader),
            Rule::OwnTermGrants => (election(3, 2), Law::OneLeader),
            Rule::UpToDateLog => (of_unequal_logs(election(3, 1)), Law::CompleteLog),
            Rule::ValidityFromSend => (
                lease(Clocks::exact(3), bounds(2, 0, 1, 3)),
                Law::OneBelieved,
            ),
            Rule::PromiseBindsVoter | Rule::PromiseBindsCandidate => {
                (at_once(2, 0, 2), Law::OneBelieved)
            }
            Rule::PromiseOutlivesRestart => (at_once(2, 1, 2), Law::OneBelieved),
            Rule::PromiseOutlivesTerm => {
                // Under a promise votes are refused without adopting: where that holds, no term is adopted under one.
                off.push(Rule::RefuseWithoutAdopting);
                (at_once(2, 0, 2), Law::OneBelieved)
            }
            Rule::ReleaseOwnTerm => (at_once(3, 0, 3), Law::OneBelieved),
            Rule::OwnTermAcks => (at_once(3, 0, 4), Law::OneBelieved),
            Rule::LapseDeposes => {
                let rounds = Bounds {
                    rounds: 1,
                    ..bounds(1, 0, 1, 4)
                };
                (lease(Clocks::exact(3), rounds), Law::Expired)
            }
            Rule::NewTermNewVote => (asked(election(3, 1)), Law::LeaderAgain),
            // All fire at once from the start.
            Rule::RedrawPerAttempt => (asked(election(3, 1)), Law::LeaderAgain),
            Rule::PromiseFromAnswer => {
                let clocks = Clocks {
                    timings: [6, 3, 3].map(|promise| short_timing(promise, 1)).into(),
                    ..Clocks::exact(3)
                };
                (lease(clocks, bounds(2, 0, 1, 4)), Law::OneBelieved)
            }
            _ => return None,
        };
        Some(Self {
            setting: setting.without(&off),
            off,
            law,
        })
    }

    /// The same where only what a world shows counts: a vote that is not durable has to be lost and given again.
    #[must_use]
    pub fn as_seen(mut self) -> Self {
        if self.law == Law::DurableVote {
            self.law = Law::OneVote;
            self.setting.bounds.crashes += 1;
        }
        self.setting = self.setting.as_seen();
        self
    }

    /// The same setting with the rules kept.
    #[must_use]
    pub fn kept(&self) -> Setting {
        let mut setting = self.setting.clone();
        setting.off.retain(|rule| !self.off.contains(rule));
        setting
    }
}

fn lease(clocks: Clocks, bounds: Bounds) -> Setting {
    Setting::lease(3, clocks, bounds)
}

/// Every state is asked whether it heals.
fn asked(setting: Setting) -> Setting {
    Setting {
        liveness: Some(1),
        ..setting
    }
}

/// Logs of one, two and three entries.
fn of_unequal_logs(setting: Setting) -> Setting {
    let log = |entries| Shape::from_runs([(1, entries)]).unwrap_or_default();
    let logs = (1..=setting.voters as u64).map(log).collect();
    let mut setting = setting;
    // The term of their entries is over.
    setting.bounds.terms += 1;
    Setting { logs, ..setting }
}

#[cfg(test)]
mod tests {
    use super::super::{Counterexample, Unstaged, explore};
    use super::*;
    use crate::check::Check;
    use crate::failure::Failure;
    use crate::{Scenario, World};

    /// Each rule: off, the invariant it names breaks, first and by a way that the machines themselves repeat; on, nothing
    /// breaks as far down. And wherever a world has what it takes, it breaks the same.
    #[test]
    fn every_rule_is_missed() {
        let (mut found, mut seen) = (0, 0);
        println!("rule | invariant | actions | states | ms | faults in a world");
        for rule in Rule::ALL {
            let Some(hunt) = Hunt::of(rule) else { continue };
            let begun = std::time::Instant::now();
            let report = explore(&hunt.setting, |_| true).unwrap();
            let took = begun.elapsed().as_millis();
            let Some(example) = &report.counterexample else {
                panic!("{rule:?} off: nothing broke: {report}");
            };
            let faults = match as_scenario(&hunt, example) {
                Ok(scenario) => {
                    breaks_a_world(rule, &hunt, &scenario);
                    seen += 1;
                    scenario.faults.len().to_string()
                }
                Err(unstaged) => {
                    assert_eq!(unstaged, lacks(rule), "{rule:?}");
                    unstaged.to_string()
                }
            };
            println!(
                "{rule:?} | {} | {} | {} | {took} | {faults}",
                example.law.name(),
                example.path.len(),
                report.unique,
            );
            assert!(example.confirmed, "{rule:?}: {example}");
            assert_eq!(example.law, hunt.law, "{rule:?}: {example}");
            let mut kept = hunt.kept();
            kept.bounds.depth = example.path.len() as u32;
            let report = explore(&kept, |_| true).unwrap();
            assert!(report.counterexample.is_none(), "{rule:?} on: {report}");
            found += 1;
        }
        assert_eq!((found, seen), (17, 13));
    }

    /// What was found in a world; a vote that is not durable has to be looked for again.
    fn as_scenario(hunt: &Hunt, example: &Counterexample) -> Result<Scenario, Unstaged> {
        if hunt.law != Law::DurableVote {
            return example.scenario(&hunt.setting);
        }
        let hunt = hunt.clone().as_seen();
        let report = explore(&hunt.setting, |_| true).unwrap();
        report.counterexample.unwrap().scenario(&hunt.setting)
    }

    /// Why there is no scenario for a rule.
    fn lacks(rule: Rule) -> Unstaged {
        match rule {
            Rule::UpToDateLog => Unstaged::Logs,
            Rule::PromiseFromAnswer => Unstaged::Timings,
            _ => Unstaged::Unseen(Law::LeaderAgain),
        }
    }

    /// With the rule off the invariant breaks first, and what breaks with it follows; with the rule on nothing breaks.
    fn breaks_a_world(rule: Rule, hunt: &Hunt, scenario: &Scenario) {
        assert!(scenario.faults.len() <= 15, "{rule:?}");
        let scenario = Scenario::parse(&scenario.to_json()).unwrap();
        let breaks = broken(&scenario);
        let law = hunt.clone().as_seen().law;
        assert_eq!(breaks.first(), law.check().as_ref(), "{rule:?}");
        for check in &breaks[1..] {
            assert!(FOLLOWS.contains(check), "{rule:?}: {}", check.name());
        }
        let mut kept = scenario.off.clone();
        kept.retain(|rule| !hunt.off.contains(rule));
        assert_eq!(broken(&scenario.without(&kept).unwrap()), [], "{rule:?} on");
    }

    /// What may break after the first.
    const FOLLOWS: [Check; 3] = [
        Check::BelievedLeaders,
        Check::TokenRises,
        Check::TokenHolder,
    ];

    /// What breaks, in order of time.
    fn broken(scenario: &Scenario) -> Vec<Check> {
        let mut world = World::new(scenario);
        world.run();
        let failures = Failure::all(&world);
        failures.iter().map(|failure| failure.check).collect()
    }

    /// Those that keep a leader in office, and those of a log that grows, which no node of an exploration has.
    #[test]
    fn some_rules_have_no_hunt() {
        let unhunted: Vec<Rule> = Rule::ALL
            .into_iter()
            .filter(|rule| Hunt::of(*rule).is_none())
            .collect();
        let expected = [
            Rule::RefuseWithoutAdopting,
            Rule::PreVote,
            Rule::LogMatching,
            Rule::CommitMatched,
            Rule::AckDurable,
            Rule::OwnCopyDurable,
            Rule::CommitOwnTerm,
            Rule::ReadConfirmed,
            Rule::ReadOwnTerm,
            Rule::SuffixFromBest,
            Rule::SuffixAdoptsTerm,
            Rule::SuffixRechecked,
            Rule::OneChangeAtATime,
            Rule::JointNeedsBoth,
            Rule::ChangeAfterOwnTerm,
            Rule::TransferWhenCaughtUp,
        ];
        assert_eq!(unhunted, expected);
    }
}
