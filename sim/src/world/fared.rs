//! How the actions fared: how many are planned, came, had an effect, and mattered (law W3).

use crate::fault::{Action, Fault};
use crate::physics::Blame;
#[cfg(not(target_family = "wasm"))]
use crate::physics::NOBODY;

/// Counts of actions, by [`Action::kind`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultCounts {
    /// How many are planned, those included that came.
    pub armed: [u32; Action::KINDS],
    /// How many came.
    pub fired: [u32; Action::KINDS],
    /// How many had an effect.
    pub effective: [u32; Action::KINDS],
    /// How many had an effect that somebody was shown: a message was lost on the link that was cut, a vote was gone that
    /// a lying disk had answered, a deadline came by the clock that was changed. Each action is judged for itself; of two
    /// that do the same to the same thing before it is shown, it is the later.
    pub mattered: [u32; Action::KINDS],
}

impl FaultCounts {
    /// Adds other counts.
    pub fn add(&mut self, other: &Self) {
        for (sums, counts) in [
            (&mut self.armed, other.armed),
            (&mut self.fired, other.fired),
            (&mut self.effective, other.effective),
            (&mut self.mattered, other.mattered),
        ] {
            for (sum, count) in sums.iter_mut().zip(counts) {
                *sum += count;
            }
        }
    }

    /// The same, with what is planned counted.
    pub(super) fn of_plan(mut self, plan: &[Fault]) -> Self {
        for fault in plan {
            self.armed[fault.action.kind()] += 1;
        }
        self
    }
}

/// The actions that came, as they turn out to matter. Nobody counts them in a browser.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fared {
    #[cfg(not(target_family = "wasm"))]
    counts: FaultCounts,
    /// The kind of each action that came, in order, until it mattered: then [`SHOWN`].
    #[cfg(not(target_family = "wasm"))]
    came: Vec<u8>,
}

#[cfg(target_family = "wasm")]
impl Fared {
    pub(super) const fn comes(&mut self, _: &Action) {}

    pub(super) const fn has_effect(&mut self, _: Blame, _: &Action) {}

    pub(crate) const fn notice(&mut self, _: Blame) {}

    pub(super) fn counts(&self) -> FaultCounts {
        FaultCounts::default()
    }
}

#[cfg(not(target_family = "wasm"))]
const SHOWN: u8 = u8::MAX;

#[cfg(not(target_family = "wasm"))]
impl Fared {
    /// The next action comes, and is to blame for what it does.
    pub(super) fn comes(&mut self, action: &Action) {
        self.came.push(action.kind() as u8);
        self.counts.fired[action.kind()] += 1;
    }

    /// The action that came last had an effect.
    pub(super) fn has_effect(&mut self, by: Blame, action: &Action) {
        self.counts.effective[action.kind()] += 1;
        if !action.is_fault() {
            self.notice(by);
        }
    }

    /// Something was shown to somebody that this action is to blame for.
    pub(crate) fn notice(&mut self, by: Blame) {
        if by != NOBODY
            && let Some(kind) = self.came.get_mut(by as usize)
            && let Some(mattered) = self.counts.mattered.get_mut(usize::from(*kind))
        {
            *kind = SHOWN;
            *mattered += 1;
        }
    }

    pub(super) const fn counts(&self) -> FaultCounts {
        self.counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::Who;

    #[test]
    fn an_action_matters_once_and_only_for_itself() {
        let mut fared = Fared::default();
        for (by, action) in [
            (0, Action::Cut(Who::Node(0), Who::Node(1))),
            (1, Action::Cut(Who::Node(1), Who::Node(0))),
            (2, Action::HealAll),
        ] {
            fared.comes(&action);
            fared.has_effect(by, &action);
        }
        for by in [1, 1, NOBODY, 9] {
            fared.notice(by);
        }
        let (cut, heal) = (4, 6);
        let FaultCounts {
            fired,
            effective,
            mattered,
            ..
        } = fared.counts();
        assert_eq!((fired[cut], effective[cut], mattered[cut]), (2, 2, 1));
        assert_eq!(mattered[heal], 1, "an effect is all there is to a repair");
    }
}
