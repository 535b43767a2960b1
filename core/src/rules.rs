//! Rules of a scheme that can be switched off, to see what each of them protects.
//!
//! The rule set is a type parameter of a machine. [`Faithful`] has no size and answers "on" at compile time, so the machine
//! that people embed carries no switch; [`Switched`] is for simulators, explorers and the playground.

use core::hash::{Hash, Hasher};
use core::marker::PhantomData;
use core::{cmp, fmt};

/// A load-bearing rule of a scheme: one of an enum of at most 64.
pub trait Rule: Copy {
    /// Its place in the enum, below 64.
    fn place(self) -> u8;
}

/// Which rules a machine keeps.
pub trait Rules<R: Rule>: Clone {
    /// Whether the machine keeps `rule`. Constant for the life of a machine.
    fn keeps(&self, rule: R) -> bool;
}

/// Every rule is kept. This is the machine to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Faithful;

impl<R: Rule> Rules<R> for Faithful {
    #[inline(always)]
    fn keeps(&self, _: R) -> bool {
        true
    }
}

/// Some rules are switched off: a machine to learn from, and to prove that the checkers can fail.
pub struct Switched<R> {
    off: u64,
    of: PhantomData<fn(R)>,
}

impl<R: Rule> Switched<R> {
    /// All rules but the given ones.
    #[must_use]
    pub fn without(rules: &[R]) -> Self {
        Self {
            off: rules.iter().fold(0, |off, rule| off | 1 << rule.place()),
            of: PhantomData,
        }
    }
}

impl<R: Rule> Rules<R> for Switched<R> {
    #[inline]
    fn keeps(&self, rule: R) -> bool {
        self.off >> rule.place() & 1 == 0
    }
}

// By hand, for what can be done with a set of rules does not depend on what can be done with one of them.
impl<R> Clone for Switched<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Switched<R> {}

impl<R> Default for Switched<R> {
    fn default() -> Self {
        Self {
            off: 0,
            of: PhantomData,
        }
    }
}

impl<R> fmt::Debug for Switched<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Switched").field("off", &self.off).finish()
    }
}

impl<R> cmp::PartialEq for Switched<R> {
    fn eq(&self, other: &Self) -> bool {
        self.off == other.off
    }
}

impl<R> Eq for Switched<R> {}

impl<R> Hash for Switched<R> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.off.hash(state);
    }
}
