//! Each rule of the scheme switched off in turn: does anybody notice?
//!
//! A rule names the invariant it protects and what may break as a consequence. The explorer and the simulator must both
//! find that the named one breaks, first, and that nothing undeclared does. What they do not find is a rule that nothing
//! needs, or a judge that cannot fail.

mod kafka;
mod kraft;
mod sentinel;
mod zab;

use crate::check::Check;
use crate::explore::{Hunt, explore};
use crate::failure::Failure;
use crate::scenario::rule_names;
use crate::schedule::{self, Among, Control, Setting};
use crate::scheme::Unfit;
use crate::scheme::raft::check_of;
use tenure::raft::{Invariant, Rule};

/// An election that lacks something it stands on: a rule of its own, or what its surroundings owe it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// What it lacks.
    pub name: &'static str,
    /// The rule, if it lacks one.
    pub rule: Option<Rule>,
    /// Its rules that are off, and what is done to it.
    pub setting: Setting,
    /// What must break first, by the name of its check, or else of its invariant.
    breaks: &'static str,
    /// The checks that judge it.
    named: Vec<Check>,
    /// What may break as a consequence.
    follows: Vec<Check>,
    /// Why no schedule of the simulator can break it; nothing when one can.
    unreachable: Option<&'static str>,
}

/// What one seed says of a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trial {
    /// Nothing broke.
    Survived,
    /// The named invariant broke first.
    Killed(Failure),
    /// Only what is declared to follow broke, or broke first.
    Followed(Failure),
    /// Something broke that nobody declared.
    Undeclared(Failure),
}

/// What the explorer says of a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explored {
    /// Whether the named invariant broke, by a way that the machines repeat.
    pub killed: bool,
    /// After how many actions.
    pub depth: usize,
    /// After how many states.
    pub states: u64,
}

impl Mutant {
    /// Those of each scheme: one for each rule, and with Raft's one for each control.
    #[must_use]
    pub fn by_scheme() -> Vec<(&'static str, Vec<Self>)> {
        let rules = Rule::ALL.into_iter().map(Self::of);
        let controls = Control::ALL.into_iter().map(Self::control);
        let zab = tenure::zab::Rule::ALL.into_iter().map(zab::mutant);
        let sentinel = tenure::sentinel::Rule::ALL
            .into_iter()
            .map(sentinel::mutant);
        let kraft = tenure::kraft::Rule::ALL.into_iter().map(kraft::mutant);
        let kafka = tenure::isr::Rule::ALL.into_iter().map(kafka::mutant);
        vec![
            ("raft", rules.chain(controls).collect()),
            ("zab", zab.collect()),
            ("sentinel", sentinel.collect()),
            ("kraft", kraft.collect()),
            ("kafka", kafka.collect()),
        ]
    }

    /// All of them.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let schemes = Self::by_scheme().into_iter();
        schemes.flat_map(|(_, mutants)| mutants).collect()
    }

    /// The mutant of a rule.
    #[must_use]
    pub fn of(rule: Rule) -> Self {
        let masking: &[Rule] = match rule {
            // Under a promise votes are refused without adopting: where that holds, no term is adopted under one. And
            // whoever asks first is refused before it has a term to be adopted.
            Rule::PromiseOutlivesTerm => &[Rule::RefuseWithoutAdopting, Rule::PreVote],
            // A pre-candidate waits out its own promise before it stands, and steps back from an equal rival.
            Rule::PromiseBindsCandidate | Rule::RedrawPerAttempt => &[Rule::PreVote],
            _ => &[],
        };
        Self {
            name: rule_names()[rule as usize],
            rule: Some(rule),
            setting: Setting {
                off: [&[rule], masking].concat(),
                ..Setting::default()
            },
            ..Self::protecting(rule.protects(), rule.follows(), unreachable(rule))
        }
    }

    /// The mutant of a rule of other peers than Raft's: what it protects by name and by the checks that judge that, and which
    /// checks may break as a consequence.
    fn of_peers(
        name: &'static str,
        off: Among,
        (protects, named): (&'static str, &[Check]),
        follows: impl Iterator<Item = Check>,
        unreachable: Option<&'static str>,
    ) -> Self {
        let unjudged = named
            .is_empty()
            .then_some("no judge of the simulator looks at what it protects");
        Self {
            name,
            rule: None,
            setting: Setting::among(off),
            breaks: named.first().map_or(protects, |check| check.name()),
            named: named.to_vec(),
            follows: follows.collect(),
            unreachable: unreachable.or(unjudged),
        }
    }

    /// What must break, and what may.
    fn protecting(
        protects: Invariant,
        follows: &[Invariant],
        unreachable: Option<&'static str>,
    ) -> Self {
        let named = check_of(protects);
        let unjudged = named
            .is_none()
            .then_some("no judge of the simulator looks at what it protects");
        Self {
            name: "",
            rule: None,
            setting: Setting::default(),
            breaks: named.map_or(protects.name(), Check::name),
            named: named.into_iter().collect(),
            follows: (follows.iter())
                .filter_map(|invariant| check_of(*invariant))
                .collect(),
            unreachable: unreachable.or(unjudged),
        }
    }

    /// The mutant of a control: every rule is kept, and the surroundings break their word.
    #[must_use]
    pub fn control(control: Control) -> Self {
        // The rule that trusts in what is broken here.
        let trusting = match control {
            Control::ClockBeyondBound => Rule::ValidityFromSend,
            Control::LyingDisk | Control::WipedDisk => Rule::DurableBeforeReply,
        };
        Self {
            name: control.name(),
            rule: None,
            setting: Setting {
                control: Some(control),
                ..Setting::default()
            },
            ..Self::protecting(trusting.protects(), trusting.follows(), None)
        }
    }

    /// What must break, by the name of its check, or else of its invariant.
    #[must_use]
    pub const fn breaks(&self) -> &'static str {
        self.breaks
    }

    /// Why no schedule of the simulator can break it; nothing when one can.
    #[must_use]
    pub const fn unreachable(&self) -> Option<&'static str> {
        self.unreachable
    }

    /// Runs the schedule of a seed with the rule off.
    ///
    /// # Errors
    /// As for a scenario file with these rules off.
    pub fn trial(&self, seed: u64) -> Result<Trial, Unfit> {
        let recorded = self.named.contains(&Check::LinearizableStore) && self.rule.is_none();
        let made = schedule::make(seed, &self.setting, |world| {
            if recorded {
                world.record_histories();
            }
        })?;
        let failures = Failure::all(&made.world);
        Ok(self.judged(&failures))
    }

    /// What the failures of a run, in order of time, say of this mutant.
    fn judged(&self, failures: &[Failure]) -> Trial {
        let Some(first) = failures.first() else {
            return Trial::Survived;
        };
        let mut declared = [&self.named[..], &self.follows].concat();
        // Without a question before, or asked of whoever says yes to any log, nodes begin terms that they cannot win.
        let careless = [Rule::PreVote, Rule::UpToDateLog];
        if careless.iter().any(|rule| self.setting.off.contains(rule)) {
            declared.push(Check::TermsBurnt);
        }
        for (cause, effects) in CONSEQUENCES {
            if declared.contains(&cause) {
                declared.extend_from_slice(effects);
            }
        }
        if let Some(failure) = (failures.iter()).find(|failure| !declared.contains(&failure.check))
        {
            return Trial::Undeclared(*failure);
        }
        // Of what breaks at one instant, any is the first.
        let found = (failures.iter()).find(|failure| self.named.contains(&failure.check));
        match found {
            Some(failure) if failure.at == first.at => Trial::Killed(*failure),
            _ => Trial::Followed(*first),
        }
    }

    /// Lets the explorer look for what breaks; nothing when no single state shows it.
    #[must_use]
    pub fn explored(&self) -> Option<Explored> {
        let rule = self.rule?;
        let hunt = Hunt::of(rule)?;
        let report = explore(&hunt.setting, |_| true).ok()?;
        let example = report.counterexample.as_ref();
        Some(Explored {
            killed: example.is_some_and(|example| {
                example.confirmed
                    && example.law == hunt.law
                    && example.law.invariant() == Some(rule.protects())
            }),
            depth: example.map_or(0, |example| example.path.len()),
            states: report.unique,
        })
    }
}

/// Why no schedule of the simulator can break what a rule protects; nothing when one can.
const fn unreachable(rule: Rule) -> Option<&'static str> {
    match rule {
        Rule::PromiseFromAnswer => Some("needs nodes that are configured differently"),
        Rule::ReadOwnTerm => {
            Some("needs a read between an election and its first commit: no move is out for that")
        }
        Rule::SuffixFromBest => {
            Some("needs a stale refuser beside a better one: no move is out for that")
        }
        Rule::ChangeAfterOwnTerm => Some(
            "needs leaders that lose their changes to each other: one schedule in some thousands",
        ),
        Rule::ReadConfirmed => {
            Some("while an old leader would still answer, its lease keeps every other out")
        }
        _ => None,
    }
}

/// What may break with a check, whatever broke it: it judges what rests on the first.
const CONSEQUENCES: [(Check, &[Check]); 11] = [
    // Whose record is lost or given twice may be left behind with a log of its own, and shows what is old.
    (Check::OneVotePerTerm, &[Check::LocalReads]),
    // Who leads without a majority may have fewer votes, and decide less, than its log asks for.
    (
        Check::OneLeaderPerTerm,
        &[Check::IntersectingQuorums, Check::LocalReads],
    ),
    // What need not know of each other decides differently.
    (
        Check::IntersectingQuorums,
        &[
            Check::OneLeaderPerTerm,
            Check::BelievedLeaders,
            Check::CommittedIsDurable,
            Check::LeaderCompleteness,
            Check::StateMachineAgreement,
            Check::AcknowledgedSurvives,
            Check::LinearizableStore,
            Check::LocalReads,
        ],
    ),
    // A leader waits in vain for what a follower lost after it said that it has it, or lacks in the midst of its log.
    (Check::CommittedIsDurable, &[Check::LeaderAgain]),
    (Check::LogMatching, &[Check::LeaderAgain, Check::LocalReads]),
    // A token that can be had twice comes back after it was over, and two may show it at a resource, whose guard takes them
    // for one.
    (
        Check::TokenRises,
        &[
            Check::NeverRevives,
            Check::TokenHolder,
            Check::LinearizableFenced,
            Check::LinearizableClient,
            Check::JobsLost,
            Check::JobsConcurrent,
        ],
    ),
    // A tenure that ended and came back: its work was stopped, and nobody takes it over.
    (Check::NeverRevives, &[Check::JobsLost]),
    // Two leaders at once may work at one job.
    (Check::BelievedLeaders, &[Check::JobsConcurrent]),
    // Where nobody leads, nobody works; and terms that are won by nobody are burnt.
    (
        Check::LeaderAgain,
        &[Check::JobsLost, Check::TermsBurnt, Check::LocalReads],
    ),
    // What the next leader lacks, a client may have been told of, and read.
    (
        Check::LeaderCompleteness,
        &[
            Check::AcknowledgedSurvives,
            Check::LinearizableStore,
            Check::CommitRises,
        ],
    ),
    (Check::StateMachineAgreement, &[Check::LinearizableStore]),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(at: u64, check: Check) -> Failure {
        Failure { at, check }
    }

    #[test]
    fn the_named_check_must_break_first_and_nothing_undeclared_may() {
        let mutant = Mutant::of(Rule::OwnTermGrants);
        let [named, follows, other] = [
            Check::OneLeaderPerTerm,
            Check::BelievedLeaders,
            Check::StaleWriteFenced,
        ];
        assert_eq!(mutant.named, [named]);
        let (first, second) = (failure(5, named), failure(7, follows));
        assert_eq!(mutant.judged(&[]), Trial::Survived);
        assert_eq!(mutant.judged(&[first, second]), Trial::Killed(first));
        assert_eq!(
            mutant.judged(&[failure(5, follows), first]),
            Trial::Killed(first),
            "at one instant, any is the first"
        );
        let before = failure(4, follows);
        assert_eq!(mutant.judged(&[before, first]), Trial::Followed(before));
        let undeclared = failure(9, other);
        assert_eq!(
            mutant.judged(&[first, undeclared]),
            Trial::Undeclared(undeclared)
        );
    }

    #[test]
    fn each_rule_has_one_mutant_and_is_off_in_it() {
        let rules: Vec<Rule> = Mutant::all()
            .iter()
            .filter_map(|mutant| mutant.rule)
            .collect();
        assert_eq!(rules, Rule::ALL);
        let of_others = |mutant: &Mutant| mutant.setting.among.is_some();
        for mutant in Mutant::all() {
            assert_eq!(mutant.setting.off.first().copied(), mutant.rule);
        }
        let others = Mutant::all().into_iter().filter(of_others).count();
        let rules = tenure::zab::Rule::ALL.len()
            + tenure::sentinel::Rule::ALL.len()
            + tenure::kraft::Rule::ALL.len()
            + tenure::isr::Rule::ALL.len();
        assert_eq!(others, rules);
    }
}
