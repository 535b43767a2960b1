//! Links that flap: both directions are cut and heal by turns, at true times and without a draw, until they are healed.
//!
//! A turn heals only what a turn cut: what another action cut stays cut.

use super::World;
use super::env::Due;
use crate::fault::{Blame, Flap};

/// The links that flap, in order of their ends.
#[derive(Clone, Debug, Default)]
pub(super) struct Flaps(Vec<Flapping>);

#[derive(Clone, Copy, Debug)]
struct Flapping {
    /// The lower first.
    ends: (u16, u16),
    rhythm: Flap,
    /// What made it flap.
    by: Blame,
    down: bool,
    turns_at: u64,
}

impl Flaps {
    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// No link flaps any more. False when none did.
    pub(super) fn stop_all(&mut self) -> bool {
        let any = !self.is_empty();
        self.0.clear();
        any
    }

    fn find(&self, ends: (u16, u16)) -> Result<usize, usize> {
        self.0.binary_search_by_key(&ends, |flapping| flapping.ends)
    }
}

impl World {
    /// The link flaps from now on, and begins with being cut. False when it does in this rhythm, or is none.
    #[cfg_attr(target_family = "wasm", inline(never))]
    pub(super) fn flap(&mut self, one: usize, other: usize, rhythm: Flap) -> bool {
        if one == other {
            return false;
        }
        let ends = (one.min(other) as u16, one.max(other) as u16);
        let flapping = Flapping {
            ends,
            rhythm,
            by: self.env.act,
            down: false,
            turns_at: self.env.now,
        };
        match self.flaps.find(ends) {
            Ok(place) if self.flaps.0[place].rhythm == rhythm => return false,
            Ok(place) => {
                self.heal_flapping(self.flaps.0[place]);
                self.flaps.0[place] = flapping;
            }
            Err(place) => self.flaps.0.insert(place, flapping),
        }
        self.turn(ends);
        true
    }

    /// The link does not flap any more. False when it did not.
    pub(super) fn stop_flapping(&mut self, one: usize, other: usize) -> bool {
        let ends = (one.min(other) as u16, one.max(other) as u16);
        let Ok(place) = self.flaps.find(ends) else {
            return false;
        };
        let flapping = self.flaps.0.remove(place);
        self.heal_flapping(flapping);
        true
    }

    /// A link may be due to turn.
    pub(super) fn flap_turns(&mut self, one: u16, other: u16) {
        let found = self.flaps.find((one, other)).ok();
        let due = found.is_some_and(|place| self.flaps.0[place].turns_at == self.env.now);
        if due {
            self.watching_the_leader(|world| world.turn((one, other)));
        }
    }

    fn turn(&mut self, ends: (u16, u16)) {
        let Ok(place) = self.flaps.find(ends) else {
            return;
        };
        let flapping = &mut self.flaps.0[place];
        flapping.down = !flapping.down;
        let Flap { down, up } = flapping.rhythm;
        let lasts = if flapping.down { down } else { up };
        flapping.turns_at = self.env.now.saturating_add(lasts);
        let flapping = *flapping;
        let (one, other) = ends;
        self.env
            .queue
            .push(flapping.turns_at, Due::Flap(one, other));
        if flapping.down {
            self.cut(one as usize, other as usize, flapping.by);
            self.cut(other as usize, one as usize, flapping.by);
        } else {
            self.heal_flapping(flapping);
        }
    }

    fn heal_flapping(&mut self, Flapping { ends, by, .. }: Flapping) {
        let (one, other) = (ends.0 as usize, ends.1 as usize);
        for (from, to) in [(one, other), (other, one)] {
            if self.env.net.cutter(from, to) == by {
                self.heal(from, to);
            }
        }
    }
}
