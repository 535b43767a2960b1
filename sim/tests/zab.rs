//! ZooKeeper's own servers in the world: a leader that is followed over connections, a log whose tail a crash takes, and what the
//! judges say of many schedules.

use tenure::zab::Rule;
use tenure_sim::check::{Check, Outcome};
use tenure_sim::physics::disk::Kept;
use tenure_sim::schedule::{self, Among, Setting};
use tenure_sim::scheme::RoleCode;
use tenure_sim::sweep::{Of, Sweep};
use tenure_sim::{Scenario, World};

const QUICK: &str = r#""zab": {"tick": "100ms", "notification": ["50ms", "1s"], "finalizeWait": "30ms", "observers": 1}"#;

/// The seed of a schedule in which a leader that was replaced answers a `sync`.
const SHIPPED: u64 = 1_620;

fn world(rest: &str) -> World {
    let json = format!(r#"{{"tenure": 1, "scheme": "zab", {QUICK}, {rest}}}"#);
    World::new(&Scenario::parse(&json).unwrap())
}

fn role(world: &World, node: usize) -> RoleCode {
    world.node(node).unwrap().look().role
}

#[test]
fn the_voter_with_the_highest_id_leads_an_ensemble_without_history() {
    let mut world = world(r#""nodes": 4, "duration": "2s""#);
    world.run();
    let roles: Vec<_> = (0..4).map(|node| role(&world, node)).collect();
    use RoleCode::{Established, Follower, Observer};
    assert_eq!(roles, [Follower, Follower, Established, Observer]);
    let applied = |node: usize| {
        let node = world.node(node).unwrap();
        node.replica().unwrap().applied().index
    };
    assert!(
        applied(0) > 20 && applied(3) > 20,
        "what clients wrote is everywhere"
    );
}

/// A crash of the leader is told by its connections at once; whoever cuts its links, nobody hears of.
#[test]
fn the_end_of_a_process_is_told_and_a_cut_is_only_noticed() {
    let without = |fault: &str| {
        let mut world = world(&format!(
            r#""nodes": 4, "duration": "6s", "faults": [{{"at": "2s", {fault}}}]"#
        ));
        world.run();
        let gap = world.stages().done().last().unwrap();
        gap.established_at.unwrap() - gap.lost_at
    };
    let (crash, cut) = (
        without(r#""crash": "leader""#),
        without(r#""partition": [["leader"], ["rest"]]"#),
    );
    assert!(crash < 350_000, "{crash}");
    assert!(
        (400_000..1_000_000).contains(&cut),
        "{cut}: a syncLimit is 500 ms"
    );
}

#[test]
fn a_crash_takes_what_was_appended_and_not_synced() {
    use tenure::log::Position;
    use tenure::random::Random;
    use tenure::zab::{Entries, Request, Stored};
    let entries = |after, count| {
        Request::Append(Entries {
            after,
            epoch: 1,
            count,
        })
    };
    let mut left = Vec::new();
    for seed in 0..40 {
        let mut disk = Stored::default();
        for write in [
            entries(Position::START, 3),
            Request::Sync,
            entries(Position::new(1, 3), 2),
        ] {
            assert!(disk.fold(&write));
        }
        Kept::crash(&mut disk, &mut Random::from_seed(seed));
        left.push(disk.log.last().index);
    }
    left.sort_unstable();
    left.dedup();
    assert_eq!(left, [3, 4, 5], "by luck, a beginning of it is there");
}

#[test]
fn some_hundred_schedules_hold_and_nothing_is_vacuous() {
    let mut sweep = Sweep::default();
    for seed in 0..400 {
        sweep.add(seed, &Setting::among(Among::zab()), 20).unwrap();
    }
    assert_eq!(sweep.failing, []);
    assert!(sweep.holds(), "{:?}", sweep.vacuous());
    let (_, failure) = Sweep::canary(0, Of::Zab).unwrap().unwrap();
    assert_eq!(failure.check, Check::AckMeansDurable);
}

#[test]
fn two_believe_to_lead_by_design_and_no_longer_than_the_limit() {
    let mut world = world(
        r#""nodes": 4, "duration": "5s", "faults": [
            {"at": "2s", "cut": ["leader", "n1"]}, {"at": "2s", "cut": ["leader", "n2"]}]"#,
    );
    world.run();
    assert_ne!(
        world.verdict(Check::BelievedLeaders).outcome,
        Outcome::Broken
    );
    assert!(
        world.judges().belief().overlap <= 700_000,
        "syncLimit and two ticks"
    );
}

/// What a server has may be old; what is read after a `sync` is not, be it at a follower. As ZooKeeper ships it, the leader answers a
/// `sync` by itself, and it may be.
#[test]
fn a_read_after_a_sync_is_not_stale() {
    let made = |seed, off| {
        let setting = Setting::among(Among::Zab(off));
        schedule::make(seed, &setting, World::record_histories)
            .unwrap()
            .world
    };
    let (mut judged, mut oldest) = (0, 0);
    for seed in 0..20 {
        let world = made(seed, vec![]);
        let [read, shown] =
            [Check::LinearizableStore, Check::LocalReads].map(|check| world.verdict(check));
        assert_ne!(read.outcome, Outcome::Broken, "{seed}");
        assert_ne!(shown.outcome, Outcome::Broken, "{seed}");
        judged += read.tally.exercised;
        oldest = oldest.max(world.judges().local_ages().quantiles().max);
    }
    assert!(judged > 1_000, "{judged}");
    assert!(oldest > 100_000, "{oldest}: they may be stale");
    let shipped = made(SHIPPED, vec![Rule::SyncByQuorum]);
    let read = shipped.verdict(Check::LinearizableStore);
    assert_eq!(read.outcome, Outcome::Broken);
}
