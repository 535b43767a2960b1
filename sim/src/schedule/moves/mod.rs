//! What a schedule can do next: one row for each move, with the states of the world in which it can be made, and how much
//! each temperament cares for it. A new kind of fault is a new row.

#[cfg(feature = "peers")]
mod brokers;
mod links;
mod office;
mod process;
#[cfg(feature = "peers")]
mod sentinels;
mod store;
mod surroundings;

#[cfg(feature = "peers")]
pub(super) use brokers::BROKER_MOVES;
#[cfg(feature = "peers")]
pub(super) use sentinels::SENTINEL_MOVES;
pub(super) use store::{CLUSTER_MOVES, LOSSES, STORE_MOVES};
pub(super) use surroundings::within;

use super::hand::Hand;
use super::sight::Sight;
use super::temper::Temper;
use crate::node::Status;

/// A move.
pub(super) struct Move {
    /// Whether there is anything to make it with.
    pub(super) enabled: fn(&Sight) -> bool,
    /// What is done.
    pub(super) play: fn(&mut Hand<'_>),
    /// How often, by [`Temper`].
    pub(super) weights: [u32; Temper::ALL.len()],
    /// Whether it repairs: those are never switched off.
    pub(super) repairs: bool,
}

/// Something that breaks what the election asks of its surroundings: no schedule does it unless it is asked for, and then
/// the judges must catch it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Clocks run faster and slower than the bound allows.
    ClockBeyondBound,
    /// Disks answer before they have written.
    LyingDisk,
    /// Disks are emptied.
    WipedDisk,
}

impl Control {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::ClockBeyondBound, Self::LyingDisk, Self::WipedDisk];

    /// Its name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClockBeyondBound => "clock-beyond-bound",
            Self::LyingDisk => "lying-disk",
            Self::WipedDisk => "wiped-disk",
        }
    }

    /// What it does, in place of one move in so many.
    pub(super) const fn play(self) -> fn(&mut Hand<'_>) {
        match self {
            Self::ClockBeyondBound => surroundings::far_pace,
            Self::LyingDisk => surroundings::lie,
            Self::WipedDisk => surroundings::wipe,
        }
    }
}

const fn row(
    enabled: fn(&Sight) -> bool,
    play: fn(&mut Hand<'_>),
    weights: [u32; Temper::ALL.len()],
) -> Move {
    Move {
        enabled,
        play,
        weights,
        repairs: false,
    }
}

const fn repair(
    enabled: fn(&Sight) -> bool,
    play: fn(&mut Hand<'_>),
    weights: [u32; Temper::ALL.len()],
) -> Move {
    Move {
        repairs: true,
        ..row(enabled, play, weights)
    }
}

/// All moves. The weights in order: storm, deadlines, amnesia, coups, laggards, splits.
pub(super) static MOVES: [Move; 27] = [
    row(runs, process::crash, [3, 1, 3, 1, 1, 1]),
    repair(down, process::restart, [3, 2, 4, 2, 2, 2]),
    row(runs, process::bounce, [1, 2, 8, 2, 1, 0]),
    row(runs, process::pause, [2, 5, 1, 1, 1, 0]),
    repair(frozen, process::resume, [2, 2, 1, 1, 1, 1]),
    row(whole_enough, links::cut, [3, 2, 0, 1, 1, 5]),
    repair(cut_somewhere, links::heal, [1, 1, 0, 0, 0, 3]),
    repair(cut_somewhere, links::heal_all, [2, 5, 4, 6, 5, 5]),
    row(any, links::partition, [3, 1, 1, 1, 1, 2]),
    row(led, links::isolate, [0, 5, 2, 3, 2, 2]),
    row(led, links::mute, [0, 2, 0, 1, 2, 3]),
    row(led, links::deafen, [0, 1, 0, 1, 1, 2]),
    row(led, office::resign, [2, 1, 1, 3, 2, 1]),
    row(led, office::swap, [0, 1, 2, 4, 4, 1]),
    row(led, office::late_answers, [0, 2, 1, 6, 24, 2]),
    row(follows, office::campaign, [2, 3, 4, 6, 5, 3]),
    row(follows, office::uproar, [0, 1, 3, 3, 3, 1]),
    row(led, office::coup, [0, 3, 2, 5, 2, 1]),
    row(any, surroundings::storm, [2, 1, 1, 1, 2, 0]),
    row(any, surroundings::lag, [0, 1, 1, 3, 8, 1]),
    row(any, surroundings::echo, [0, 0, 1, 2, 4, 0]),
    row(any, surroundings::slow_disk, [1, 1, 3, 1, 1, 0]),
    row(any, links::flap, [1, 0, 0, 0, 0, 2]),
    row(any, links::delay, [1, 1, 0, 1, 3, 1]),
    row(connected, links::disconnect, [2, 2, 2, 2, 2, 2]),
    row(runs, process::slow, [1, 1, 1, 1, 1, 0]),
    row(any, surroundings::pace, [1, 2, 0, 1, 0, 0]),
];

/// What is done to disks besides, where a write that fails is the end of a life and nothing else.
#[cfg(feature = "peers")]
pub(super) static DISK_MOVES: [Move; 1] = [row(any, surroundings::fail, [1, 0, 3, 1, 0, 0])];

fn any(_: &Sight) -> bool {
    true
}

fn runs(sight: &Sight) -> bool {
    sight.any(Status::Up)
}

fn down(sight: &Sight) -> bool {
    sight.any(Status::Crashed)
}

fn frozen(sight: &Sight) -> bool {
    sight.any(Status::Paused)
}

fn led(sight: &Sight) -> bool {
    sight.leader.is_some()
}

fn follows(sight: &Sight) -> bool {
    !sight.others().is_empty()
}

fn cut_somewhere(sight: &Sight) -> bool {
    sight.cuts > 0
}

fn connected(sight: &Sight) -> bool {
    sight.connected
}

fn whole_enough(sight: &Sight) -> bool {
    let nodes = sight.nodes.len();
    sight.cuts < nodes * (nodes - 1)
}
