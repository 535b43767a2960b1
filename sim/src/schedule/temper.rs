//! What a seed is out for. A schedule of everything at once hides what one of one thing shows ("swarm testing"), so each
//! seed has one temperament, and within it some kinds of moves switched off.

use super::draw::Draw;
use super::moment::Moment;

/// What a seed is out for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Temper {
    /// Anything, at any time, a few times a second.
    Storm = 0,
    /// The ends of leases and promises: who freezes or is cut off just before, and goes on just after.
    Deadlines,
    /// Crashes around votes and durable writes, with a restart at once.
    Amnesia,
    /// Leaders that resign or are shut out, and followers made to stand at once.
    Coups,
    /// Messages that come late, twice, or after their term.
    Laggards,
    /// Links, one direction at a time.
    Splits,
}

impl Temper {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Storm,
        Self::Deadlines,
        Self::Amnesia,
        Self::Coups,
        Self::Laggards,
        Self::Splits,
    ];

    /// Its name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Storm => "storm",
            Self::Deadlines => "deadlines",
            Self::Amnesia => "amnesia",
            Self::Coups => "coups",
            Self::Laggards => "laggards",
            Self::Splits => "splits",
        }
    }

    pub(super) fn drawn(draw: &mut Draw) -> Self {
        Self::ALL[draw.place(Self::ALL.len())]
    }

    /// Bounds of the longest time between two moves of a seed, in microseconds.
    pub(super) const fn gap(self) -> (u64, u64) {
        match self {
            Self::Storm => (100_000, 1_000_000),
            _ => (20_000, 250_000),
        }
    }

    /// How often a move waits for each kind of moment, by place in [`Moment::ALL`].
    pub(super) const fn moments(self) -> [u32; Moment::ALL.len()] {
        match self {
            //                  gap lease promise timer vote ack beat disk
            Self::Storm => [1, 0, 0, 0, 0, 0, 0, 0],
            Self::Deadlines => [2, 4, 4, 3, 1, 2, 2, 0],
            Self::Amnesia => [2, 1, 1, 1, 6, 2, 2, 4],
            Self::Coups => [3, 2, 2, 1, 4, 4, 2, 1],
            Self::Laggards => [2, 1, 1, 2, 4, 4, 4, 1],
            Self::Splits => [3, 2, 1, 1, 3, 3, 2, 1],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_temper_is_at_its_place_and_has_a_name_of_its_own() {
        for (place, temper) in Temper::ALL.into_iter().enumerate() {
            assert_eq!(temper as usize, place);
            let same = Temper::ALL
                .iter()
                .filter(|other| other.name() == temper.name());
            assert_eq!(same.count(), 1);
        }
    }
}
