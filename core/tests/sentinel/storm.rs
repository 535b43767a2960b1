//! Random schedules: everything that can go wrong, and then nothing any more.

use super::desk::Desk;
use super::plan::{MS, Plan, SEC, server};
use std::collections::BTreeMap;
use tenure::NodeId;
use tenure::random::Random;
use tenure::sentinel::{Invariant, MasterName, Role, Rule, Switched};

/// How long the weather is bad.
const STORM: u64 = 120 * SEC;
/// How long after it everything must be as it should: one attempt that has to wait for the one before it, a failover, and the
/// orders to whoever follows the wrong one.
const CALM: u64 = 150 * SEC;

/// How a run went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Run {
    broken: Vec<Invariant>,
    how: Vec<String>,
    exercised: BTreeMap<Invariant, u64>,
    /// How many failovers came to their end, and how many were given up.
    done: usize,
    aborted: usize,
    /// How long after the faults all sentinels named one master that took writes.
    settled: u64,
    lost: usize,
    trace: u64,
}

fn plan(seed: u64, rules: Switched) -> Plan {
    let mut random = Random::from_seed(!seed);
    let sentinels = [3, 3, 5][random.below(3) as usize];
    Plan {
        sentinels,
        groups: 1 + random.below(4) as u16 / 3,
        replicas: 2 + random.below(2),
        quorum: [2, sentinels as usize / 2 + 1][random.below(2) as usize],
        down_after: [2, 3][random.below(2) as usize] * SEC,
        failover_timeout: [5, 10][random.below(2) as usize] * SEC,
        parallel_syncs: 1 + random.below(2) as usize,
        latency: [(MS, 5 * MS), (MS, 150 * MS)][random.below(2) as usize],
        disk: [(MS, 5 * MS), (MS, 200 * MS)][random.below(2) as usize],
        loss: [0, 20][random.below(2) as usize],
        repeated: [0, 50][random.below(2) as usize],
        refuses: random.below(2) == 0,
        rules,
        seed,
        ..Plan::default()
    }
}

fn any(random: &mut Random, of: &[NodeId]) -> NodeId {
    of[random.below(of.len() as u64) as usize]
}

/// One fault, or the end of one.
fn mischief(desk: &mut Desk, random: &mut Random) {
    let sentinels: Vec<_> = desk.seats.keys().copied().collect();
    let servers: Vec<_> = desk.servers.keys().copied().collect();
    let (sentinel, one) = (any(random, &sentinels), any(random, &servers));
    // Masters are the ones that matter.
    let group = random.below(desk.plan.groups.into()) as u16;
    let master = desk.writable(group).first().copied().unwrap_or(one);
    let victim = if random.below(2) == 0 { master } else { one };
    match random.below(20) {
        0 | 1 => desk.restart(sentinel),
        2 => desk.crash(sentinel),
        3..=5 => desk.crash(victim),
        6 => desk.restart(victim),
        7 => {
            desk.crash(victim);
            let server = desk.servers.get_mut(&victim).unwrap();
            server.saved = std::mem::take(&mut server.saved).without_data();
            desk.start(victim);
        }
        8 => desk.freeze(sentinel),
        9 => desk.freeze(victim),
        10 => desk.set_busy(victim, true),
        11 => desk.cut(any(random, &desk.all()), any(random, &desk.all())),
        12..=14 => {
            let all = desk.all();
            let (one, other): (Vec<_>, Vec<_>) =
                all.into_iter().partition(|_| random.below(2) == 0);
            desk.part(&one, &other);
        }
        15 => desk.seats.get_mut(&sentinel).unwrap().bad_writes = 1,
        16 => {
            desk.failover(sentinel, group);
        }
        17 => desk.jump(sentinel, random.below(5) * SEC),
        _ => recover(desk, random, 3),
    }
    if random.below(2) == 0 {
        recover(desk, random, 2);
    }
}

/// Whatever is wrong is set right, one in so many.
fn recover(desk: &mut Desk, random: &mut Random, one_in: u64) {
    if random.below(one_in) == 0 {
        desk.heal();
    }
    for id in desk.all() {
        if random.below(one_in) != 0 {
            continue;
        }
        let (down, frozen) = match (desk.seats.get(&id), desk.servers.get(&id)) {
            (Some(seat), _) => (seat.machine.is_none(), seat.frozen),
            (_, Some(server)) => (server.machine.is_none(), server.frozen),
            _ => continue,
        };
        if down {
            desk.start(id);
        } else if frozen {
            desk.resume(id, random.below(2) == 0);
        }
        if desk.servers.contains_key(&id) {
            desk.set_busy(id, false);
        }
    }
}

/// Clients write wherever writes are taken: some of them did not hear of the new master.
fn write(desk: &mut Desk) {
    for group in 0..desk.plan.groups {
        let now = desk.now;
        let takers = desk.writable(group);
        (desk.judge).check(
            Invariant::SingleWritableMaster,
            now,
            takers.len() <= 1,
            || format!("{takers:?} take writes"),
        );
        for taker in takers {
            desk.write(taker);
        }
    }
}

fn settled(desk: &Desk, group: u16) -> bool {
    let name = MasterName(group);
    let mut held = (desk.seats.keys())
        .map(|id| desk.machine(*id).leader_of(name).unwrap())
        .map(|leader| (leader.token, leader.node));
    let first = held.next().unwrap();
    held.all(|other| other == first) && desk.writable(group).contains(&first.1)
}

/// A failover by hand took an epoch in which another one was elected, or was begun by hand, too. Where too few sentinels hold
/// the one or the other to replace it, nothing but another order ends that.
fn clashed(desk: &Desk, group: u16) -> bool {
    desk.judge.clashed.contains(&MasterName(group))
}

fn converged(desk: &Desk, group: u16) -> bool {
    let name = MasterName(group);
    let ids = desk.seats.keys();
    let highest = ids.map(|id| desk.machine(*id).leader_of(name).unwrap());
    let highest = highest.max_by_key(|leader| leader.token).unwrap();
    let follows = |node: NodeId| {
        let data = desk.data(node);
        match data.role() {
            Role::Master => node == highest.node,
            Role::Replica => data.master() == Some(highest.node),
        }
    };
    let mut servers = (0..=desk.plan.replicas).map(|place| server(group, place));
    settled(desk, group) && servers.all(follows)
}

fn run(seed: u64, rules: Switched) -> Run {
    let mut desk = Desk::new(plan(seed, rules));
    let mut random = Random::from_seed(seed ^ 0x5eed);
    let mut mischief_at = desk.now + 5 * SEC;
    while desk.now < STORM {
        desk.run_for(250 * MS);
        write(&mut desk);
        if desk.now >= mischief_at {
            mischief_at = desk.now + (1 + random.below(8)) * SEC;
            mischief(&mut desk, &mut random);
        }
        if !desk.judge.broken().is_empty() {
            break;
        }
    }
    let mut settled_after = 0;
    if desk.judge.broken().is_empty() {
        for seat in desk.seats.values_mut() {
            seat.bad_writes = 0;
        }
        recover(&mut desk, &mut random, 1);
        (desk.plan.loss, desk.plan.repeated) = (0, 0);
        let calm = desk.now;
        while desk.now < calm + CALM {
            desk.run_for(SEC);
            write(&mut desk);
            let all =
                (0..desk.plan.groups).all(|group| clashed(&desk, group) || settled(&desk, group));
            if !all {
                settled_after = desk.now - calm;
            }
        }
        // One attempt may have to wait for the one before; another one may collide with the attempt of another sentinel.
        let (timeout, down) = (desk.plan.failover_timeout, desk.plan.down_after);
        let bound = 5 * timeout + down + 40 * SEC;
        let now = desk.now;
        (desk.judge).check(
            Invariant::FailoverCompletes,
            now,
            settled_after <= bound,
            || format!("no master that all agree on for {settled_after} us"),
        );
        for group in 0..desk.plan.groups {
            if clashed(&desk, group) {
                continue;
            }
            let fine = converged(&desk, group);
            let how = format!("group {group}: {}", describe(&desk, group));
            (desk.judge).check(Invariant::ConvergesToMax, now, fine, || how.clone());
            let master = desk
                .machine(NodeId(1))
                .leader_of(MasterName(group))
                .unwrap()
                .node;
            let lost = desk.lost_at(master);
            (desk.judge).check(Invariant::NoAckLoss, now, lost == 0, || {
                format!("{lost} lost")
            });
        }
    }
    Run {
        broken: desk.judge.broken(),
        how: (desk.judge.broken.iter())
            .filter(|(what, ..)| what.broken_by_design().is_none())
            .map(|(what, at, how)| format!("{} at {at}: {how}", what.name()))
            .collect(),
        done: desk.told("+failover-end").len(),
        aborted: (desk.news.iter())
            .filter(|(_, _, news)| news.name().starts_with("-failover-abort"))
            .count(),
        settled: settled_after,
        lost: (desk.judge.broken.iter())
            .filter(|(what, ..)| *what == Invariant::NoAckLoss)
            .count(),
        exercised: desk.judge.exercised.clone(),
        trace: desk.trace,
    }
}

fn describe(desk: &Desk, group: u16) -> String {
    let name = MasterName(group);
    let held = desk.seats.keys().map(|id| {
        let leader = desk.machine(*id).leader_of(name).unwrap();
        format!("{id} holds {} at {}", leader.node, leader.token)
    });
    let servers = (0..=desk.plan.replicas).map(|place| {
        let id = server(group, place);
        format!("{id} follows {:?}", desk.data(id).master())
    });
    held.chain(servers).collect::<Vec<_>>().join(", ")
}

/// How many seeds, unless the environment says so.
fn seeds(usual: u64) -> std::ops::Range<u64> {
    let from = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let first = from("TENURE_SEED").unwrap_or(0);
    first..first + from("TENURE_SEEDS").unwrap_or(usual)
}

fn weather(seeds: std::ops::Range<u64>) {
    let mut exercised = BTreeMap::<Invariant, u64>::new();
    let (mut done, mut aborted, mut lost) = (0, 0, 0);
    let mut settled = Vec::new();
    for seed in seeds {
        let run = run(seed, Switched::default());
        assert_eq!(run.broken, [], "seed {seed}: {:#?}", run.how);
        for (what, count) in run.exercised {
            *exercised.entry(what).or_default() += count;
        }
        (done, aborted) = (done + run.done, aborted + run.aborted);
        lost += usize::from(run.lost > 0);
        settled.push(run.settled);
    }
    for what in Invariant::ALL {
        let count = exercised.get(&what).copied().unwrap_or_default();
        assert!(count > 0, "{} was never looked at", what.name());
        println!("{:26} {count}", what.name());
    }
    settled.sort_unstable();
    let runs = settled.len();
    let at = |share: usize| settled[(runs - 1) * share / 100] / SEC;
    println!(
        "{runs} runs, {done} failovers, {aborted} given up, {lost} runs lost writes; settled after {} s at p50, {} s at p99, {} s at most",
        at(50),
        at(99),
        at(100)
    );
    assert!(
        done > runs && aborted > 0 && lost > 0,
        "{done} {aborted} {lost}"
    );
}

#[test]
fn nothing_that_must_hold_breaks_in_any_weather() {
    weather(seeds(500));
}

#[test]
#[ignore = "many thousands of schedules: minutes"]
fn nothing_that_must_hold_breaks_in_tens_of_thousands_of_schedules() {
    weather(seeds(50_000));
}

#[test]
fn the_same_seed_gives_the_same_run() {
    for seed in [3, 4] {
        assert_eq!(
            run(seed, Switched::default()),
            run(seed, Switched::default())
        );
    }
    assert_ne!(
        run(3, Switched::default()).trace,
        run(4, Switched::default()).trace
    );
}

/// Rules whose case random schedules hardly meet: it is played by hand, in `reports`, `votes` and `by_hand`.
const BY_HAND: [Rule; 5] = [
    Rule::OwnMastersEpoch,
    Rule::OvertakenGivesUp,
    Rule::SeedMixedWithNode,
    Rule::LastSignOfLife,
    Rule::TiltOnlyWatches,
];

#[test]
fn without_a_rule_its_invariant_breaks_first_and_nothing_undeclared_does() {
    for rule in Rule::ALL {
        let mut first = false;
        for seed in 0..200 {
            if seed >= 12 && (first || BY_HAND.contains(&rule)) {
                break;
            }
            let run = run(seed, Switched::without(&[rule]));
            for broken in &run.broken {
                let declared = *broken == rule.protects() || rule.follows().contains(broken);
                assert!(declared, "{rule:?}, seed {seed}: {:#?}", run.how);
            }
            first |= run.broken.first() == Some(&rule.protects());
        }
        let found = first || BY_HAND.contains(&rule);
        assert!(
            found,
            "{rule:?} is off, and {} holds",
            rule.protects().name()
        );
    }
}

#[test]
#[ignore = "thousands of schedules: a minute"]
fn without_a_rule_nothing_undeclared_breaks_in_many_schedules() {
    for rule in Rule::ALL {
        let mut counts = BTreeMap::<Invariant, u64>::new();
        for seed in seeds(500) {
            let run = run(seed, Switched::without(&[rule]));
            for broken in &run.broken {
                let declared = *broken == rule.protects() || rule.follows().contains(broken);
                assert!(declared, "{rule:?}, seed {seed}: {:#?}", run.how);
                *counts.entry(*broken).or_default() += 1;
            }
        }
        println!("{rule:?}: {counts:?}");
    }
}
