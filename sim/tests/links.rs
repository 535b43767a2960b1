//! Links between nodes: connections that keep the order and break, datagrams that come again much later, links that
//! flap, and cuts that are one-way or not transitive.

use tenure_sim::check::{Check, Outcome};
use tenure_sim::fault::{Action, Flap, Who};
use tenure_sim::physics::trace::{Event, Kind, Loss};
use tenure_sim::scheme::RoleCode;
use tenure_sim::{Scenario, World};

fn scenario(network: &str, faults: &str) -> Scenario {
    let json = format!(
        r#"{{"tenure": 1, "scheme": "raft", "nodes": 3, "seed": "4", "duration": "10s",
             "network": {{{network}}}, "faults": [{faults}]}}"#
    );
    Scenario::parse(&json).unwrap()
}

fn run(network: &str, faults: &str) -> World {
    let mut world = World::new(&scenario(network, faults));
    world.trace_mut().recording = true;
    world.run();
    world
}

fn of(world: &World, kind: Kind) -> Vec<Event> {
    let events = world.trace().fresh.iter();
    events.filter(|event| event.kind == kind).copied().collect()
}

fn lost(world: &World, why: Loss) -> usize {
    let lost = of(world, Kind::Lose).into_iter();
    lost.filter(|event| event.b == why as i64).count()
}

/// Armed, fired, effective, mattered.
fn counts(world: &World, kind: usize) -> [u32; 4] {
    let counts = world.faults();
    [
        counts.armed[kind],
        counts.fired[kind],
        counts.effective[kind],
        counts.mattered[kind],
    ]
}

const N1: Who = Who::Node(0);
const ANY: Flap = Flap { down: 1, up: 1 };

const FIFO: &str = r#""order": "fifo", "latency": ["1ms", "90ms"]"#;
const DATAGRAMS: &str = r#""latency": ["1ms", "90ms"]"#;

/// How often a message between nodes came after one that was sent later on the same way.
fn overtaken(world: &World) -> usize {
    let mut newest = [[0; 3]; 3];
    let mut overtaken = 0;
    for event in of(world, Kind::Deliver) {
        let (to, from) = (event.actor as usize, event.other as usize);
        if to < 3 && from < 3 {
            overtaken += usize::from(event.b < newest[from][to]);
            newest[from][to] = newest[from][to].max(event.b);
        }
    }
    overtaken
}

#[test]
fn on_connections_nothing_is_overtaken() {
    assert_eq!(overtaken(&run(FIFO, "")), 0);
    assert!(overtaken(&run(DATAGRAMS, "")) > 10);
}

#[test]
fn a_loss_breaks_a_connection_and_takes_what_is_on_it() {
    let world = run(&format!(r#"{FIFO}, "loss": "2%""#), "");
    let (broke, back) = (of(&world, Kind::Disconnect), of(&world, Kind::Reconnect));
    assert_eq!(
        lost(&world, Loss::Network),
        broke.len(),
        "each loss breaks one"
    );
    assert!(broke.len() > 5 && lost(&world, Loss::Disconnected) > broke.len());
    // It stands again a round trip of the longest latency later.
    for one in &broke {
        let ends = |event: &&Event| (event.actor, event.other) == (one.actor, one.other);
        let back = back.iter().filter(ends).find(|event| event.at > one.at);
        assert!(back.is_none_or(|back| back.at == one.at + 180_000));
    }
    assert_eq!(overtaken(&world), 0);
    let holds = |check| world.judges().verdict(check).outcome == Outcome::Holds;
    assert!(holds(Check::OneLeaderPerTerm) && holds(Check::BelievedLeaders));
}

#[test]
fn a_connection_that_is_broken_by_hand_is_back_after_a_round_trip() {
    let world = run(
        r#""order": "fifo""#,
        r#"{"at": "2s", "disconnect": ["n1", "n2"]}, {"at": "2s", "disconnect": ["n2", "n1"]}"#,
    );
    let at = |kind| {
        of(&world, kind)
            .iter()
            .map(|event| event.at)
            .collect::<Vec<_>>()
    };
    assert_eq!(at(Kind::Disconnect), [2_000_000]);
    assert_eq!(at(Kind::Reconnect), [2_020_000]);
    assert_eq!(at(Kind::NoEffect), [2_000_000], "it was broken already");
    let kind = Action::Disconnect(N1, N1).kind();
    assert_eq!(counts(&world, kind)[..3], [2, 2, 1]);
}

#[test]
fn without_connections_breaking_one_has_no_effect_and_says_so() {
    let world = run("", r#"{"at": "2s", "disconnect": ["n1", "n2"]}"#);
    assert_eq!(of(&world, Kind::NoEffect).len(), 1);
    assert_eq!(of(&world, Kind::Disconnect).len(), 0);
    assert_eq!(
        counts(&world, Action::Disconnect(N1, N1).kind()),
        [1, 1, 0, 0]
    );
}

#[test]
fn no_message_reaches_a_later_life_over_a_connection() {
    let across = |network: &str| {
        // Restarted at once, every ten milliseconds: datagrams in flight find the new process.
        let faults: Vec<String> = (200..400)
            .map(|at| {
                let at = at * 10;
                format!(r#"{{"at": "{at}ms", "crash": "n1"}}, {{"at": "{at}ms", "restart": "n1"}}"#)
            })
            .collect();
        let world = run(network, &faults.join(","));
        let mut born = 0;
        let mut across = 0;
        for event in &world.trace().fresh {
            if event.kind == Kind::Boot && event.actor == 0 {
                born = event.at;
            }
            let from_node = (0..3).contains(&event.other);
            if event.kind == Kind::Deliver && event.actor == 0 && from_node {
                let sent = world.trace().fresh[event.cause as usize].at;
                across += usize::from(sent < born);
            }
        }
        across
    };
    assert_eq!(across(FIFO), 0);
    assert!(across(DATAGRAMS) > 5);
}

#[test]
fn a_change_from_datagrams_to_connections_and_back_is_a_change_of_weather() {
    let world = run(
        "",
        r#"{"at": "3s", "network": {"order": "fifo"}}, {"at": "4s", "disconnect": ["n1", "n2"]},
           {"at": "6s", "network": {}}, {"at": "6s", "disconnect": ["n1", "n2"]}"#,
    );
    assert_eq!(
        counts(&world, Action::Disconnect(N1, N1).kind())[..3],
        [2, 2, 1]
    );
    assert!(world.leader().is_some());
}

#[test]
fn a_replay_crosses_a_change_of_term_and_breaks_nothing() {
    let network = r#""replay": "5%", "replayAfter": ["200ms", "2s"]"#;
    let faults = r#"{"at": "2s", "resign": "leader"}, {"at": "4s", "resign": "leader"}, {"at": "6s", "resign": "leader"}"#;
    let mut late = 0;
    for seed in 0..20 {
        let mut world = World::new(&scenario(network, faults).with_seed(seed));
        world.trace_mut().recording = true;
        world.run();
        let mut term = [0; 3];
        for event in &world.trace().fresh {
            if let Some(term) = term.get_mut(event.actor as usize) {
                *term = event.term.max(*term);
                let sent = usize::try_from(event.cause).map(|cause| world.trace().fresh[cause]);
                if let (Kind::Deliver, Ok(sent)) = (event.kind, sent) {
                    let old = event.at - sent.at >= 200_000 && event.term >= 0;
                    late += usize::from(old && event.term < *term);
                }
            }
        }
        for check in [
            Check::OneLeaderPerTerm,
            Check::OneVotePerTerm,
            Check::BelievedLeaders,
        ] {
            assert_eq!(
                world.judges().verdict(check).outcome,
                Outcome::Holds,
                "{seed}"
            );
        }
    }
    assert!(late > 20, "{late} messages of an earlier term");
}

#[test]
fn a_link_flaps_until_it_is_healed() {
    let flap = r#""flap": {"between": ["n1", "n2"], "down": "100ms", "up": "200ms"}"#;
    for heal in [r#""heal": ["n2", "n1"]"#, r#""heal": "all""#] {
        // The healing comes while the link carries: it has an effect all the same.
        let world = run(
            "",
            &format!(r#"{{"at": "2s", {flap}}}, {{"at": "3s", {heal}}}"#),
        );
        let cuts: Vec<u64> = of(&world, Kind::Cut).iter().map(|event| event.at).collect();
        let heals: Vec<u64> = of(&world, Kind::Heal)
            .iter()
            .map(|event| event.at)
            .collect();
        let both = |times: [u64; 4]| times.map(|ms| [ms * 1_000; 2]).concat();
        assert_eq!(cuts, both([2_000, 2_300, 2_600, 2_900]));
        assert_eq!(heals, both([2_100, 2_400, 2_700, 3_000]));
        let pairs = |kind| {
            let ends = |event: Event| (event.actor, event.other);
            let mut pairs: Vec<_> = of(&world, kind).into_iter().map(ends).collect();
            pairs.dedup();
            pairs.sort_unstable();
            pairs.dedup();
            pairs
        };
        assert_eq!(
            (pairs(Kind::Cut), pairs(Kind::Heal)),
            (vec![(0, 1), (1, 0)], vec![(0, 1), (1, 0)])
        );
        assert_eq!(
            counts(&world, Action::Flap(N1, N1, ANY).kind()),
            [1, 1, 1, 1]
        );
        assert_eq!(of(&world, Kind::NoEffect).len(), 0);
    }
}

#[test]
fn a_healing_between_two_cuts_ends_the_flapping_too() {
    let world = run(
        "",
        r#"{"at": "2s", "flap": {"between": ["n1", "n2"], "down": "100ms", "up": "200ms"}},
           {"at": "2150ms", "heal": ["n1", "n2"]}, {"at": "2150ms", "heal": "all"}"#,
    );
    assert_eq!(
        (of(&world, Kind::Cut).len(), of(&world, Kind::Heal).len()),
        (2, 2)
    );
    assert_eq!(of(&world, Kind::NoEffect).len(), 1, "the first ended it");
}

#[test]
fn a_world_with_a_link_that_flaps_is_not_whole() {
    // Judged for liveness at the start, and when the flapping was ended; not while the link carries between two cuts.
    let world = run(
        "",
        r#"{"at": "2s", "flap": {"between": ["n1", "n2"], "down": "10ms", "up": "10ms"}}, {"at": "2015ms", "resume": "n1"},
           {"at": "5s", "heal": "all"}"#,
    );
    let began: Vec<u64> = world
        .judges()
        .windows()
        .iter()
        .map(|window| window.0)
        .collect();
    assert_eq!(began, [0, 5_000_000]);
}

#[test]
fn flapping_leaves_alone_what_others_cut() {
    let world = run(
        "",
        r#"{"at": "2s", "cut": ["n1", "n2"]},
           {"at": "2s", "flap": {"between": ["n1", "n2"], "down": "100ms", "up": "200ms"}},
           {"at": "2s", "flap": {"between": ["n2", "n1"], "down": "100ms", "up": "200ms"}}"#,
    );
    let one_way = |kind, from| {
        let events = of(&world, kind).into_iter();
        events.filter(|event| event.actor == from).count()
    };
    assert_eq!((one_way(Kind::Cut, 0), one_way(Kind::Heal, 0)), (1, 0));
    assert!(one_way(Kind::Cut, 1) > 20 && one_way(Kind::Heal, 1) > 20);
    assert_eq!(
        of(&world, Kind::NoEffect).len(),
        1,
        "it flapped like this already"
    );
}

#[test]
fn each_cut_answers_for_its_own_link() {
    // Nobody sends from n2 to n3 while n1 leads, and everything between n1 and n2 is lost.
    let faults = r#"{"at": "0ms", "campaign": "n1"},
        {"at": "2s", "cut": ["n2", "n3"]}, {"at": "2s", "cut": ["n1", "n2"]}, {"at": "2100ms", "heal": "all"}"#;
    let world = run("", faults);
    assert_eq!(world.leader().map(|(node, _)| node), Some(0));
    assert_eq!(counts(&world, Action::Cut(N1, N1).kind()), [2, 2, 2, 1]);
}

/// Every node reaches the middle, and nobody else: a majority is to be had through it alone.
#[test]
fn with_a_partition_that_is_not_transitive_the_middle_can_lead() {
    let json = r#"{"tenure": 1, "scheme": "raft", "nodes": 3, "duration": "12s", "faults": [
        {"at": "2s", "cut": ["n1", "n3"]}, {"at": "2s", "cut": ["n3", "n1"]}]}"#;
    let mut terms = 0;
    for seed in 0..20 {
        let mut world = World::new(&Scenario::parse(json).unwrap().with_seed(seed));
        world.run();
        let (_, token) = world.leader().expect("somebody leads");
        terms = terms.max(token.counter);
        for check in [
            Check::OneLeaderPerTerm,
            Check::BelievedLeaders,
            Check::TokenRises,
        ] {
            let outcome = world.judges().verdict(check).outcome;
            assert_ne!(outcome, Outcome::Broken, "{seed}");
        }
    }
    assert!(
        terms < 20,
        "no two take the term from each other for ever: {terms}"
    );
}

/// A leader that is heard and hears nobody holds back the others no longer than its lease.
#[test]
fn with_a_one_way_link_a_leader_that_hears_nobody_gives_way() {
    let mut world = World::new(&scenario("", ""));
    world.run_until(2_000_000);
    let (leader, token) = world.leader().unwrap();
    for other in (0..3).filter(|other| *other != leader) {
        let (from, to) = (Who::Node(other as u16), Who::Node(leader as u16));
        world.act(Action::Cut(from, to)).unwrap();
    }
    world.run_until(4_000_000);
    let (next, higher) = world.leader().expect("another leads");
    assert!(next != leader && higher > token);
    assert_ne!(
        world.node(leader).unwrap().look().role,
        RoleCode::Established
    );
}
