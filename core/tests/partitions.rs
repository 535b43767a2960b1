//! Networks that are cut in part, and nodes that come back from behind: who can lead does, soon, and nobody else burns a
//! term. Each is a public report of a Raft that did not.

mod group;

use group::Group;
use tenure::log::Shape;
use tenure::raft::{Record, Stored};

const SEEDS: u64 = 100;

/// Five nodes under their first leader, and the others in order.
fn settled(voters: u64, seed: u64) -> (Group, usize, Vec<usize>) {
    let mut group = Group::new(voters, seed);
    group.latency = (1_000, 5_000);
    group.boot_all();
    let leader = group.run_until_leader(2_000_000).expect("a leader");
    group.run_until(group.now + 300_000);
    let others = (0..voters as usize).filter(|place| *place != leader);
    (group, leader, others.collect())
}

/// Leaves the links of these pairs and cuts all others, for good.
fn leave(group: &mut Group, links: &[(usize, usize)]) {
    let nodes = group.nodes.len();
    for from in 0..nodes {
        for to in (0..nodes).filter(|to| *to != from) {
            if !links.contains(&(from, to)) && !links.contains(&(to, from)) {
                group.cut_link(from, to, u64::MAX);
            }
        }
    }
}

fn highest_term(group: &Group) -> u64 {
    let terms = group.nodes.iter().filter_map(|node| node.machine.as_ref());
    terms.map(tenure::raft::Raft::term).max().unwrap_or(0)
}

/// How long until one of `able` leads, in milliseconds.
fn until_led_by(group: &mut Group, able: &[usize], seed: u64) -> u64 {
    let begun = group.now;
    while !matches!(group.leading()[..], [leader] if able.contains(&leader)) {
        assert!(
            group.now < begun + 3_000_000,
            "seed {seed}: {:?} lead, {able:?} could",
            group.leading()
        );
        group.step();
    }
    assert_eq!(group.ghost.broken, None, "seed {seed}");
    (group.now - begun) / 1_000
}

/// Ten seconds in which nothing may change.
fn stays(group: &mut Group, leader: usize, seed: u64) {
    let (term, established) = (highest_term(group), group.ghost.established);
    group.run_until(group.now + 10_000_000);
    assert_eq!(group.ghost.broken, None, "seed {seed}");
    assert_eq!(
        (
            group.leading(),
            highest_term(group),
            group.ghost.established
        ),
        (vec![leader], term, established),
        "seed {seed}"
    );
}

/// openraft#2080: a and b reach each other and the bridge, and only the bridge still hears the old leader, which has no
/// majority. Were its heartbeats to bind the bridge, a and b would be refused for ever.
#[test]
fn a_leader_without_a_majority_binds_no_bridge() {
    let mut took = Vec::new();
    for seed in 0..SEEDS {
        let (mut group, old, others) = settled(5, seed);
        let [a, b, bridge, _isolated] = others[..] else {
            unreachable!("five nodes")
        };
        leave(
            &mut group,
            &[(a, b), (a, bridge), (b, bridge), (bridge, old)],
        );
        took.push(until_led_by(&mut group, &[a, b, bridge], seed));
    }
    took.sort_unstable();
    println!("median {} ms, slowest {} ms", took[50], took[99]);
    assert!(took[99] < 500, "{took:?}");
}

/// Howard & Abraham 2020, on the etcd of Cloudflare: the leader and two others are connected; a fourth node reaches one of
/// these alone, a fifth the leader alone. Without pre-votes and a promise the fourth raises its term for ever.
#[test]
fn two_spokes_change_nothing() {
    for seed in 0..SEEDS {
        let (mut group, leader, others) = settled(5, seed);
        let [one, two, fourth, fifth] = others[..] else {
            unreachable!("five nodes")
        };
        let mesh = [(leader, one), (leader, two), (one, two)];
        leave(
            &mut group,
            &[&mesh[..], &[(fourth, one), (fifth, leader)]].concat(),
        );
        stays(&mut group, leader, seed);
    }
}

/// omnipaxos#1: in a chain whose end leads, the other end's higher number was passed on by the middle, and outbid again and
/// again. Nothing here is told on behalf of another, and a pre-vote raises nothing.
#[test]
fn a_chain_stays_with_the_leader_at_its_end() {
    for seed in 0..SEEDS {
        let (mut group, leader, others) = settled(3, seed);
        leave(&mut group, &[(leader, others[0]), (others[0], others[1])]);
        stays(&mut group, leader, seed);
    }
}

/// etcd#8243: a node that missed five terms comes back as the leader dies. The last node of the new term cannot grant its
/// pre-votes and has no majority without it.
#[test]
fn a_node_from_a_lower_term_completes_a_majority() {
    let mut took = Vec::new();
    for seed in 0..SEEDS {
        let mut group = Group::new(3, seed);
        group.latency = (1_000, 5_000);
        for (place, term) in [(0, 5), (1, 5), (2, 1)] {
            let record = Record {
                term,
                ..Record::default()
            };
            group.nodes[place].disk = Some(record.into());
        }
        group.boot_all();
        group.cut(2, 1_000_000);
        let leader = group.run_until_leader(1_000_000).expect("a leader");
        group.run_until(1_000_000);
        group.heal();
        group.crash(leader);
        group.cut(leader, u64::MAX);
        took.push(until_led_by(&mut group, &[1 - leader, 2], seed));
    }
    took.sort_unstable();
    println!("median {} ms, slowest {} ms", took[50], took[99]);
    assert!(took[99] < 600, "two longest timeouts: {took:?}");
}

/// etcd#8501: one node is down; of the others one has the higher term and the shorter log. It is refused for its log, and
/// refuses the other for its term, which therefore has to be told.
#[test]
fn the_longer_log_catches_up_with_the_higher_term() {
    let mut took = Vec::new();
    for seed in 0..SEEDS {
        let mut group = Group::new(3, seed);
        group.latency = (1_000, 5_000);
        for (place, term, entries) in [(0, 9, 1), (1, 2, 3)] {
            let record = Record {
                term,
                ..Record::default()
            };
            group.nodes[place].disk = Some(Stored {
                log: Shape::from_runs([(1, entries)]).unwrap(),
                ..Stored::from(record)
            });
        }
        group.boot_all();
        group.cut(2, u64::MAX);
        took.push(until_led_by(&mut group, &[1], seed));
    }
    took.sort_unstable();
    println!("median {} ms, slowest {} ms", took[50], took[99]);
    assert!(took[99] < 600, "two longest timeouts: {took:?}");
}
