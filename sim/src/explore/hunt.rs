//! Where to look for what a rule protects: for each rule of safety, a small setting in which its absence breaks the
//! invariant it names. A search that finds nothing wrong proves little until it has found these.

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
    /// Where the absence of `rule` is found; `None` for a rule that protects liveness alone, which no single state
    /// shows.
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
    use super::super::{Unstaged, explore};
    use super::*;
    use crate::check::{Check, Outcome};
    use crate::{Scenario, World};

    /// Each rule of safety: off, the invariant it names breaks, first and by a way that the machines themselves repeat;
    /// on, nothing breaks as far down.
    #[test]
    fn every_rule_of_safety_is_missed() {
        let mut found = 0;
        println!("rule | invariant | actions | states | ms");
        for rule in Rule::ALL {
            let Some(hunt) = Hunt::of(rule) else { continue };
            let begun = std::time::Instant::now();
            let report = explore(&hunt.setting, |_| true).unwrap();
            let Some(example) = &report.counterexample else {
                panic!("{rule:?} off: nothing broke: {report}");
            };
            println!(
                "{rule:?} | {} | {} | {} | {}",
                example.law.name(),
                example.path.len(),
                report.unique,
                begun.elapsed().as_millis()
            );
            assert!(example.confirmed, "{rule:?}: {example}");
            assert_eq!(example.law, hunt.law, "{rule:?}: {example}");
            let mut kept = hunt.kept();
            kept.bounds.depth = example.path.len() as u32;
            let report = explore(&kept, |_| true).unwrap();
            assert!(report.counterexample.is_none(), "{rule:?} on: {report}");
            found += 1;
        }
        assert_eq!(found, 15);
    }

    /// What is found comes out as a scenario in which a world breaks the same invariant, first, with few faults, and not
    /// with the rule on; wherever a world has what it takes.
    #[test]
    fn what_is_found_breaks_a_world_too() {
        let mut seen = 0;
        println!("rule | invariant | actions | faults");
        for rule in Rule::ALL {
            let Some(hunt) = Hunt::of(rule) else { continue };
            let hunt = if hunt.law == Law::CompleteLog {
                hunt
            } else {
                hunt.as_seen()
            };
            let report = explore(&hunt.setting, |_| true).unwrap();
            let example = report.counterexample.unwrap();
            let scenario = match example.scenario(&hunt.setting) {
                Ok(scenario) => scenario,
                Err(unstaged) => {
                    println!("{rule:?} | {} | {unstaged}", example.law.name());
                    let lacks = match rule {
                        Rule::UpToDateLog => Unstaged::Unseen(Law::CompleteLog),
                        _ => Unstaged::Timings,
                    };
                    assert_eq!(unstaged, lacks, "{rule:?}");
                    continue;
                }
            };
            let (law, actions) = (example.law.name(), example.path.len());
            println!("{rule:?} | {law} | {actions} | {}", scenario.faults.len());
            assert!(scenario.faults.len() <= 15, "{rule:?}");
            let read = Scenario::parse(&scenario.to_json()).unwrap();
            let first = broken(&read);
            assert_eq!(first.first(), hunt.law.check().as_ref(), "{rule:?}");
            for check in &first[1..] {
                assert!(FOLLOWS.contains(check), "{rule:?}: {}", check.name());
            }
            let mut kept = scenario.off.clone();
            kept.retain(|rule| !hunt.off.contains(rule));
            assert_eq!(broken(&scenario.without(&kept).unwrap()), [], "{rule:?} on");
            seen += 1;
        }
        assert_eq!(seen, 13);
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
        let mut verdicts = world.verdicts();
        verdicts.retain(|verdict| verdict.outcome == Outcome::Broken);
        verdicts.sort_by_key(|verdict| verdict.tally.first_broken_at);
        verdicts.iter().map(|verdict| verdict.check).collect()
    }

    #[test]
    fn rules_of_liveness_have_no_hunt() {
        let unhunted: Vec<Rule> = Rule::ALL
            .into_iter()
            .filter(|rule| Hunt::of(*rule).is_none())
            .collect();
        let expected = [
            Rule::NewTermNewVote,
            Rule::RefuseWithoutAdopting,
            Rule::PreVote,
            Rule::RedrawPerAttempt,
        ];
        assert_eq!(unhunted, expected);
    }
}
