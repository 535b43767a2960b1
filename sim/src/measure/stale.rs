//! How many stale writes get in.

use super::{Setting, clients};
use crate::app::Takeover;
use crate::check::Check;
use crate::fault::{Action, Fault, Who};
use crate::scenario::Clients;
use crate::scheme::Unfit;
use crate::world::World;
use tenure::random::Random;

/// Stale writes that reached the resources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stale {
    /// How many seeds were run.
    pub runs: u64,
    /// Stale writes the unfenced resource took.
    pub unfenced: u64,
    /// Stale writes the fenced resource took.
    pub fenced: u64,
    /// Stale writes the fence turned away.
    pub turned_away: u64,
}

/// A timeline in which an old leader writes after a new one took over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timeline {
    /// (a) The old leader froze between its check and its write.
    Paused,
    /// (b) Its write was long on the way.
    Delayed,
    /// (c) The new leader fences and reads while the write of the old one is on the way, in the right order or the wrong.
    Raced(Takeover),
}

impl Stale {
    /// Runs one timeline with one seed.
    ///
    /// # Errors
    /// When the core refuses the setting.
    pub fn run(&mut self, setting: &Setting, timeline: Timeline, seed: u64) -> Result<(), Unfit> {
        // The write is under way for longer than any election takes.
        let long = setting.settled();
        let clients = match timeline {
            Timeline::Paused => Clients {
                think: 20_000,
                ..clients(25_000)
            },
            Timeline::Delayed => Clients {
                write_delay: long,
                ..clients(25_000)
            },
            // It arrives after the new leader has read, and before its first write does.
            Timeline::Raced(takeover) => Clients {
                write_delay: long,
                takeover,
                ..clients(25_000)
            },
        };
        let at = setting.settled() + Random::from_seed(seed).below(1_000_000);
        let mut scenario = setting.scenario(seed, at + 3 * long, clients)?;
        let fault = |at, action| Fault { at, action };
        scenario.faults = if timeline == Timeline::Paused {
            vec![
                fault(at, Action::Pause(Who::Leader)),
                fault(at + long, Action::Resume(Who::Paused)),
            ]
        } else {
            vec![fault(at, Action::Crash(Who::Leader))]
        };
        let mut world = World::new(&scenario);
        world.run();
        let judges = world.judges();
        self.runs += 1;
        self.unfenced += judges.tally(Check::StaleWriteUnfenced).broken;
        self.fenced += judges.tally(Check::StaleWriteFenced).broken;
        self.turned_away += judges.stale_refused(0);
        Ok(())
    }

    /// Adds others.
    pub fn merge(&mut self, other: Self) {
        self.runs += other.runs;
        self.unfenced += other.unfenced;
        self.fenced += other.fenced;
        self.turned_away += other.turned_away;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stale_writes_get_into_the_unfenced_resource_alone() {
        for timeline in [
            Timeline::Paused,
            Timeline::Delayed,
            Timeline::Raced(Takeover::FenceFirst),
        ] {
            let mut stale = Stale::default();
            for seed in 0..10 {
                stale.run(&Setting::default(), timeline, seed).unwrap();
            }
            assert!(
                stale.unfenced > 0 && stale.turned_away > 0,
                "{timeline:?} {stale:?}"
            );
            assert_eq!(stale.fenced, 0, "{timeline:?}");
        }
    }

    #[test]
    fn to_read_before_fencing_lets_them_into_the_fenced_one() {
        let mut stale = Stale::default();
        for seed in 0..10 {
            stale
                .run(
                    &Setting::default(),
                    Timeline::Raced(Takeover::ReadFirst),
                    seed,
                )
                .unwrap();
        }
        assert!(stale.fenced > 0, "{stale:?}");
    }
}
