//! Elections by an etcd or a ZooKeeper that is a cluster of three, in whole worlds.

use std::collections::BTreeMap;
use tenure::Duration;
use tenure::lease::{Rule, Timing};
use tenure_sim::check::{Check, Outcome};
use tenure_sim::fault::{Action, Who};
use tenure_sim::physics::trace::Kind as What;
use tenure_sim::physics::weather::Weather;
use tenure_sim::scenario::{Elects, Lease, Scenario};
use tenure_sim::schedule::{self, ByStore, Setting};
use tenure_sim::scheme::lease::Kind;
use tenure_sim::server::Server;
use tenure_sim::world::World;

const NODES: usize = 3;
const MEMBERS: u16 = 3;
const SEEDS: u64 = 60;
/// Everybody has found a leader by then.
const SETTLED: u64 = 12_000_000;

fn kind(seed: u64) -> Kind {
    let kinds = [
        Kind::Etcd,
        Kind::ZooKeeper,
        Kind::EtcdSingle,
        Kind::ZooKeeper,
        Kind::Milvus,
    ];
    kinds[seed as usize % kinds.len()]
}

fn scenario(seed: u64) -> Scenario {
    let kind = kind(seed);
    let usual = Scenario::usual();
    Scenario {
        seed,
        nodes: NODES,
        weather: Weather {
            fifo: kind.is_connected(MEMBERS as u8),
            ..usual.weather
        },
        elects: Elects::ByStore(Lease {
            latency: Duration::from_millis(20),
            servers: MEMBERS as u8,
            timing: Timing::of(Duration::from_secs(9)),
            ..Lease::of(kind, Duration::from_secs(9))
        }),
        leader_within: 20_000_000,
        duration: 60_000_000,
        ..usual
    }
}

/// A world in which somebody leads, at an instant of its renewals that goes by the seed.
fn settled(seed: u64) -> World {
    let mut world = World::new(&scenario(seed));
    world.run_until(SETTLED + seed * 50_000);
    assert!(world.leader().is_some(), "seed {seed}");
    world
}

fn member(place: usize) -> Who {
    Who::Server(place as u16)
}

/// The member of the cluster that leads it.
fn leading(world: &World) -> usize {
    let all: Vec<usize> = (world.servers().enumerate())
        .filter(|(_, server)| server.leads())
        .map(|(place, _)| place)
        .collect();
    assert_eq!(all.len(), 1, "{all:?}");
    all[0]
}

fn act(world: &mut World, action: Action) {
    world.act(action).unwrap();
}

/// Cuts some members off from everybody but each other and the nodes that go with them.
fn cut_off(world: &mut World, members: &[usize]) {
    let group = |place: usize| u16::from(members.contains(&place));
    let nodes = (0..NODES as u16).map(|node| (0, Who::Node(node)));
    let servers = (0..usize::from(MEMBERS)).map(|place| (group(place), member(place)));
    let mut all: Vec<_> = nodes.chain(servers).collect();
    all.sort_by_key(|(group, _)| *group);
    act(world, Action::Partition(all));
}

fn holds(world: &World, seed: u64, checks: &[Check]) {
    for check in checks {
        let verdict = world.verdict(*check);
        assert_eq!(verdict.outcome, Outcome::Holds, "seed {seed} {check:?}");
    }
}

#[test]
fn a_leader_keeps_its_tenure_when_the_leading_member_dies() {
    for seed in 0..SEEDS {
        let mut world = settled(seed);
        let (leader, before) = (world.leader(), leading(&world));
        act(&mut world, Action::Crash(member(before)));
        world.run_until(world.now() + 20_000_000);
        assert_ne!(leading(&world), before, "seed {seed}");
        act(&mut world, Action::Restart(member(before)));
        world.run();
        assert_eq!(world.leader(), leader, "seed {seed}");
        let counts = world.counts();
        assert_eq!(
            (counts.establishments, counts.depositions),
            (1, 0),
            "seed {seed}"
        );
        holds(&world, seed, &[Check::LeaderAgain]);
        // The member that came back has what the others have.
        let queues: Vec<_> = world
            .servers()
            .map(|server| keys(server, world.now()))
            .collect();
        assert!(
            queues
                .iter()
                .all(|keys| *keys == queues[0] && !keys.is_empty()),
            "seed {seed}: {queues:?}"
        );
    }
}

/// What a member has of the election.
fn keys(server: &Server, now: u64) -> Vec<(String, u64)> {
    let records = server.records(now).into_iter();
    records.map(|record| (record.key, record.token)).collect()
}

#[test]
fn clients_of_a_member_that_is_cut_off_go_elsewhere_with_their_watches() {
    for seed in 0..SEEDS {
        let mut world = settled(seed);
        let (leader, before) = (world.leader(), leading(&world));
        // The leading member in every other seed, and one that follows in the others.
        let away = (before + usize::from(seed % 2 == 0)) % usize::from(MEMBERS);
        cut_off(&mut world, &[away]);
        world.run_until(world.now() + 15_000_000);
        // A client of ZooKeeper gives a silent server two thirds of its session, after which a leader has stopped; and whoever
        // is next leads once two of its writes have gone through.
        let patient = kind(seed) == Kind::ZooKeeper;
        if !patient {
            assert_eq!(world.leader(), leader, "seed {seed}");
            assert_eq!(world.counts().depositions, 0, "seed {seed}");
        }
        let leader = world.leader();
        assert!(leader.is_some(), "seed {seed}");
        // Whoever waits is told by the watch it has now: sooner than it would look by itself.
        act(&mut world, Action::Resign(Who::Leader));
        let within = if patient { 9_000_000 } else { 500_000 };
        world.run_until(world.now() + within);
        let next = world.leader();
        assert!(next.is_some() && next != leader, "seed {seed}");
        act(&mut world, Action::HealAll);
        world.run();
        holds(&world, seed, &[Check::BelievedLeaders, Check::TokenRises]);
    }
}

#[test]
fn without_a_majority_holders_stop_by_their_own_clocks_and_nobody_is_elected() {
    for seed in 0..SEEDS {
        let mut world = settled(seed);
        let before = leading(&world);
        let members = usize::from(MEMBERS);
        let lost = [before, (before + 1) % members];
        let crash = seed % 2 == 0;
        if crash {
            for place in lost {
                act(&mut world, Action::Crash(member(place)));
            }
        } else {
            // Each member is for itself, all nodes with the one that does not lead.
            let alone = |place| if place == before { 1 } else { 2 };
            let nodes = (0..NODES as u16).map(|node| (0, Who::Node(node)));
            let mut all: Vec<_> = nodes.collect();
            all.push((0, member((before + 2) % members)));
            all.extend(lost.map(|place| (alone(place), member(place))));
            act(&mut world, Action::Partition(all));
        }
        world.run_until(world.now() + 9_000_000);
        assert_eq!(world.leader(), None, "seed {seed}");
        let counts = world.counts();
        assert_eq!(
            (counts.establishments, counts.depositions),
            (1, 1),
            "seed {seed}"
        );
        world.run_until(world.now() + 9_000_000);
        assert_eq!(world.counts().establishments, 1, "seed {seed}");
        act(&mut world, Action::HealAll);
        for place in lost.into_iter().filter(|_| crash) {
            act(&mut world, Action::Restart(member(place)));
        }
        world.run();
        assert!(world.leader().is_some(), "seed {seed}");
        assert_eq!(world.judges().belief().overlap, 0, "seed {seed}");
        holds(&world, seed, &[Check::LeaderAgain, Check::TokenRises]);
    }
}

/// A new leading member has not heard when a lease was renewed last, and begins each anew: that of etcd an election timeout
/// later; and that of ZooKeeper ends each in the first whole tick after its time.
#[test]
fn a_lease_never_ends_early_when_the_leading_member_changes() {
    const STEP: u64 = 50_000;
    for seed in 0..SEEDS {
        let (ttl, more) = match kind(seed) {
            Kind::ZooKeeper => (9_000_000, 1_600_000),
            _ => (10_000_000, 1_000_000),
        };
        let mut world = settled(seed);
        let before = leading(&world);
        let (_, token) = world.leader().unwrap();
        // Nobody renews the lease any more, which would end in less than its time.
        act(&mut world, Action::Crash(Who::Leader));
        act(&mut world, Action::Crash(member(before)));
        let (mut began, mut ended) = (None, None);
        while ended.is_none() && world.now() < 50_000_000 {
            world.run_until(world.now() + STEP);
            let now = world.now();
            let Some(server) = world.servers().find(|server| server.leads()) else {
                continue;
            };
            let began = *began.get_or_insert(now);
            let there = keys(server, now).iter().any(|(_, of)| *of == token.counter);
            ended = (!there).then_some(now - began);
        }
        let lasted = ended.expect("a lease ends");
        assert!(
            (ttl - STEP..=ttl + more).contains(&lasted),
            "seed {seed}: {lasted}"
        );
        world.run();
        holds(&world, seed, &[Check::BelievedLeaders, Check::TokenRises]);
    }
}

/// Members and nodes crash, freeze and are cut off from each other, and come back.
#[test]
fn nobody_believes_to_lead_beside_another_under_random_schedules() {
    let mut exercised = 0;
    for seed in 0..500 {
        let kinds = [
            Kind::Etcd,
            Kind::EtcdSingle,
            Kind::ZooKeeper,
            Kind::Controller,
        ];
        let kind = kinds[seed as usize % kinds.len()];
        let setting = Setting {
            by_store: Some(ByStore {
                servers: MEMBERS as u8,
                ..ByStore::of(kind)
            }),
            ..Setting::default()
        };
        let made = schedule::make(seed, &setting, |_| ()).unwrap();
        for check in [
            Check::BelievedLeaders,
            Check::TokenRises,
            Check::OneLeaderPerTerm,
            Check::NeverRevives,
            Check::ControllerNoStaleWrite,
        ] {
            let outcome = made.world.verdict(check).outcome;
            assert_ne!(outcome, Outcome::Broken, "seed {seed} {check:?}");
            exercised += u64::from(check == Check::BelievedLeaders && outcome == Outcome::Holds);
        }
    }
    assert!(exercised > 250, "{exercised}");
}

/// A candidate whose server dies before it answers the creation of a node looks for that by its own name at another one.
#[test]
fn a_candidate_of_which_the_answer_was_lost_has_one_place_in_the_queue() {
    let queue = |dies_at: Option<u64>| {
        let mut world = World::new(&scenario(1));
        if let Some(at) = dies_at {
            let died = member(at as usize / 5_000 % usize::from(MEMBERS));
            world.run_until(at);
            act(&mut world, Action::Crash(died));
            world.run_until(at + 2_000_000);
            act(&mut world, Action::Restart(died));
        }
        world.run_until(30_000_000);
        let server = world.servers().nth(leading(&world)).unwrap();
        let mut queue: Vec<_> = server.records(world.now());
        queue.sort_by(|one, other| one.holder.cmp(&other.holder));
        world.run();
        holds(&world, 1, &[Check::TokenRises, Check::LeaderAgain]);
        queue
            .into_iter()
            .map(|record| (record.holder, record.token))
    };
    let calm: Vec<_> = queue(None).collect();
    let mut disturbed = 0;
    for at in (0..200).map(|step| step * 5_000) {
        let found: Vec<_> = queue(Some(at)).collect();
        let mut holders: Vec<_> = found.iter().map(|(holder, _)| holder).collect();
        holders.dedup();
        assert_eq!((holders.len(), found.len()), (NODES, NODES), "at {at}");
        disturbed += u32::from(found != calm);
    }
    assert!((50..200).contains(&disturbed), "{disturbed}");
}

/// A server answers a write, and dies before it tells its leader whom it heard of: the session may end sooner than that write
/// seems to say.
#[test]
fn a_write_alone_does_not_prove_that_the_leading_member_heard_of_the_session() {
    let broken = |seed, off: &[Rule]| {
        let setting = Setting {
            by_store: Some(ByStore {
                servers: MEMBERS as u8,
                off: off.to_vec(),
                ..ByStore::of(Kind::ZooKeeper)
            }),
            ..Setting::default()
        };
        let made = schedule::make(seed, &setting, |_| ()).unwrap();
        let all = Check::ALL.into_iter();
        let is = |check: &Check| made.world.verdict(*check).outcome == Outcome::Broken;
        all.filter(is).collect::<Vec<_>>()
    };
    let off = [Rule::ProvenAtLeader];
    let found = (0..1_000).find(|seed| !broken(*seed, &off).is_empty());
    let seed = found.expect("a seed shows it");
    assert_eq!(broken(seed, &off), [Check::BelievedLeaders]);
    assert_eq!(broken(seed, &[]), []);
}

/// `/controller` and its epoch are read one after the other, of members that may be behind, while others are elected: whoever
/// is followed was elected in the epoch that goes with its name.
#[test]
fn who_follows_a_controller_names_it_with_its_own_epoch() {
    let mut followed = 0;
    for seed in 0..200 {
        let setting = Setting {
            by_store: Some(ByStore {
                // The cluster takes ten times as long.
                servers: if seed % 10 == 0 { MEMBERS as u8 } else { 1 },
                ..ByStore::of(Kind::Controller)
            }),
            ..Setting::default()
        };
        let made = schedule::make(seed, &setting, |_| ()).unwrap();
        let mut world = World::new(&made.scenario);
        world.trace_mut().recording = true;
        world.run();
        let events = &world.trace().fresh;
        let of = |kind| events.iter().filter(move |event| event.kind == kind);
        let elected: BTreeMap<i64, i32> = of(What::Elected)
            .map(|event| (event.term, event.actor.into()))
            .collect();
        for event in of(What::Following).filter(|event| event.other >= 0) {
            // Of one that was elected and never heard of it nothing is said.
            let Some(by) = elected.get(&event.term) else {
                continue;
            };
            assert_eq!(*by, event.other, "seed {seed} at {}", event.at);
            followed += 1;
        }
    }
    assert!(followed > 3_000, "{followed}");
}
