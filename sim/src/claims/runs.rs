//! What claims are measured with.

use crate::check::Check;
use crate::scenario::Scenario;
use crate::world::World;

/// A scenario of this folder, for a seed.
pub(super) fn scenario(json: &str, seed: u64) -> Scenario {
    let scenario = Scenario::parse(json);
    scenario
        .expect("every scenario of a claim is run by its tests")
        .with_seed(seed)
}

/// Its world, at its end.
pub(super) fn run(json: &str, seed: u64) -> World {
    let mut world = World::new(&scenario(json, seed));
    world.run();
    world
}

/// How often this was broken in it.
pub(super) fn broken(json: &str, seed: u64, check: Check) -> u64 {
    run(json, seed).judges().tally(check).broken
}

/// How long two or more believed to lead in it at once.
pub(super) fn two_lead(json: &str, seed: u64) -> u64 {
    run(json, seed).judges().belief().overlap
}
