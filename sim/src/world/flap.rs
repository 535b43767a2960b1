//! Links that flap: both directions are cut and heal by turns, at true times and without a draw, until they are healed.
//!
//! A turn heals only what a turn cut: what another action cut stays cut.

use super::World;
use super::env::Due;
use crate::fault::Flap;
use crate::physics::Blame;

/// The links that flap: few.
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

    fn find(&mut self, ends: (u16, u16)) -> Option<&mut Flapping> {
        self.0.iter_mut().find(|flapping| flapping.ends == ends)
    }
}

impl World {
    /// The link flaps from now on, and begins with being cut. False when it does in this rhythm, or is none.
    pub(super) fn flap(&mut self, one: usize, other: usize, rhythm: Flap) -> bool {
        if one == other {
            return false;
        }
        let ends = in_order(one, other);
        if self
            .flaps
            .find(ends)
            .is_some_and(|former| former.rhythm == rhythm)
        {
            return false;
        }
        self.stop_flapping(one, other);
        self.flaps.0.push(Flapping {
            ends,
            rhythm,
            by: self.env.act,
            down: false,
            turns_at: self.env.now,
        });
        self.flap_turns(ends.0, ends.1);
        true
    }

    /// The link does not flap any more. False when it did not.
    pub(super) fn stop_flapping(&mut self, one: usize, other: usize) -> bool {
        let ends = in_order(one, other);
        let Some(former) = self.flaps.find(ends).copied() else {
            return false;
        };
        self.flaps.0.retain(|flapping| flapping.ends != ends);
        self.heal_flapping(former);
        true
    }

    /// A link may be due to turn.
    pub(super) fn flap_turns(&mut self, one: u16, other: u16) {
        let now = self.env.now;
        let Some(flapping) = self.flaps.find((one, other)) else {
            return;
        };
        if flapping.turns_at != now {
            return;
        }
        flapping.down = !flapping.down;
        let Flap { down, up } = flapping.rhythm;
        let lasts = if flapping.down { down } else { up };
        flapping.turns_at = now.saturating_add(lasts);
        let flapping = *flapping;
        self.env
            .queue
            .push(flapping.turns_at, Due::Flap(one, other));
        let led = self.led();
        if flapping.down {
            self.cut(one as usize, other as usize, flapping.by);
            self.cut(other as usize, one as usize, flapping.by);
        } else {
            self.heal_flapping(flapping);
        }
        self.note_loss(led);
        #[cfg(feature = "peers")]
        self.look_at_reach();
    }

    fn heal_flapping(&mut self, Flapping { ends, by, .. }: Flapping) {
        let (one, other) = (ends.0 as usize, ends.1 as usize);
        for (from, to) in [(one, other), (other, one)] {
            if self.env.net.links.cutter(from, to) == by {
                self.heal(from, to);
            }
        }
    }
}

fn in_order(one: usize, other: usize) -> (u16, u16) {
    (one.min(other) as u16, one.max(other) as u16)
}
