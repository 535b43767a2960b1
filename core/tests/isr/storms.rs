//! Random schedules.

use crate::cluster::{Cluster, Event, MS, Weather};
use crate::judge::Verdict;
use tenure::isr::{Invariant, Rule, Switched};

pub(crate) fn storm(seed: u64, rules: Switched) -> (Verdict, u64) {
    let elr = seed % 4 != 0;
    let brokers = 3 + (seed % 3) as usize;
    let mut cluster = Cluster::new(seed, brokers, rules, elr);
    cluster.run(1_000);
    cluster.create(2, 3, 2, false);
    cluster.create(1, 3, 1, false);
    cluster.create(1, 2, 2, seed % 8 < 2);
    cluster.run(200);
    cluster.weather = Weather {
        loss: 20,
        twice: 20,
        late: 30,
        faults: true,
    };
    cluster.push(0, Event::Work);
    cluster.push(0, Event::Fault);
    cluster.run(10_000);
    cluster.push(0, Event::Calm);
    cluster.run(6_000);
    cluster.last_look();
    (cluster.judge.verdict.clone(), cluster.hash)
}

fn all(seeds: std::ops::Range<u64>) {
    let mut total = Verdict::default();
    for seed in seeds {
        let (verdict, _) = storm(seed, Switched::default());
        if !verdict.broken.is_empty() {
            println!("looked seed {seed}: {:?}", verdict.broken);
        }
        for (name, count) in verdict.looked {
            *total.looked.entry(name).or_default() += count;
        }
        total.unclean += verdict.unclean;
        total.eligible += verdict.eligible;
        total.acked_by_leader.0 += verdict.acked_by_leader.0;
        total.acked_by_leader.1 += verdict.acked_by_leader.1;
    }
    println!("{total:?}");
    for invariant in Invariant::ALL {
        assert!(
            total.looked.contains_key(invariant.name()),
            "{invariant:?} is not exercised"
        );
    }
    assert!(total.unclean > 0 && total.eligible > 0);
    // acks=1: broken by design.
    let (acked, gone) = total.acked_by_leader;
    assert!(gone > 0 && gone < acked, "{gone} of {acked}");
    let _ = (Rule::ALL, MS);
}

#[test]
fn nothing_breaks_in_random_schedules() {
    all(0..100);
}

#[test]
#[ignore]
fn one() {
    let seed = std::env::var("SEED").unwrap().parse().unwrap();
    println!("{:?}", storm(seed, Switched::default()).0.broken);
}

#[test]
#[ignore]
fn off() {
    for rule in Rule::ALL.into_iter().skip(6) {
        let mut found = std::collections::BTreeMap::new();
        for seed in 0..60 {
            let (verdict, _) = storm(seed, Switched::without(&[rule]));
            let first = verdict.broken.iter().min_by_key(|(_, (at, _))| *at);
            if let Some((name, _)) = first {
                *found.entry((*name, true)).or_insert(0) += 1;
            }
            for name in verdict.broken.keys() {
                *found.entry((*name, false)).or_insert(0) += 1;
            }
        }
        println!("looked {rule:?} protects {:?}: {found:?}", rule.protects());
    }
}
