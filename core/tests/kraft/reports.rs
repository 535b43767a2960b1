//! The public reports about KRaft, each as a timeline: what breaks without the rule that came of it, and holds with it.

use crate::desk::{Desk, MS};
use crate::timelines::{holds, led, others};
use tenure::kraft::{Invariant, Role, Rule};
use tenure::{Election, Instant, Standing};

fn believes(desk: &Desk, id: usize) -> bool {
    let standing = desk.machine(id).standing(Instant::from_micros(desk.now));
    matches!(standing, Standing::Leading(_))
}

/// KAFKA-15489: a leader is cut off from the other voters and not from the brokers. Without a check of the quorum it leads
/// for ever, and whoever is attached to it stalls.
#[test]
fn kafka_15489_a_partitioned_leader_never_steps_down() {
    let run = |off: &[Rule]| {
        let (mut desk, leader) = led(1, 3, 1, off);
        let broker = 3;
        let end = desk.now + 5_000 * MS;
        desk.run_until(end, |desk| desk.machine(broker).leader().is_some());
        for other in others(&desk, leader) {
            desk.cut(leader, other);
        }
        desk.run(10_000 * MS);
        let next = desk.leader().expect("the others elect");
        assert_ne!(next, leader);
        holds(&desk);
        let follows = desk.machine(broker).leader().map(|it| it.0 as usize);
        (believes(&desk, leader), follows == Some(next))
    };
    assert_eq!(Rule::CheckQuorum.protects(), Invariant::StaleLeaderStops);
    assert_eq!(run(&[Rule::CheckQuorum]), (true, false));
    assert_eq!(run(&[]), (false, true));
}

/// KAFKA-17641: two followers of a dead leader refuse each other's pre-votes, and go back to it, in turn. With the rule a
/// follower that did not fetch since it went back grants: a leader within two fetch and two election timeouts.
#[test]
fn kafka_17641_pre_vote_ping_pong() {
    const BOUND: u64 = (2 * 2_000 + 2 * 2_000) * MS;
    let took = |seed, off: &[Rule]| {
        let (mut desk, leader) = led(seed, 3, 0, off);
        let [first, second] = others(&desk, leader)[..] else {
            panic!()
        };
        // The second doubts when the first has returned.
        desk.cut(leader, first);
        desk.run(1_700 * MS);
        desk.cut(leader, second);
        let end = desk.now + 5 * BOUND;
        let next = |desk: &Desk| desk.leader().is_some_and(|it| it != leader);
        let took = desk.run_until(end, next);
        holds(&desk);
        took.unwrap_or(5 * BOUND)
    };
    let slowest = |off: &[Rule]| (0..100).map(|seed| took(seed, off)).max().expect("some");
    let (with, without) = (slowest(&[]), slowest(&[Rule::UnfetchedFollowerGrants]));
    println!(
        "{} ms at most with the rule, {} ms without",
        with / MS,
        without / MS
    );
    assert!(with <= BOUND && without > BOUND);
}

/// KAFKA-17333: who led before it restarted is told that it leads, and decides on the state of its disk.
#[test]
fn kafka_17333_a_resigned_node_is_told_that_it_leads() {
    let run = |off: &[Rule]| {
        let (mut desk, leader) = led(1, 3, 0, off);
        desk.propose(leader);
        desk.run(1_000 * MS);
        desk.crash(leader);
        desk.boot(leader);
        assert_eq!(desk.machine(leader).role(), Role::Resigned);
        let told = believes(&desk, leader);
        assert!(
            desk.propose(leader).is_none(),
            "the quorum would refuse it in any case"
        );
        desk.run(10_000 * MS);
        (told, desk.judge.fallen)
    };
    let (told, fallen) = run(&[Rule::ClaimAfterCatchup]);
    assert!(told && fallen.into_iter().eq([Invariant::ClaimAfterCatchup]));
    let (told, fallen) = run(&[]);
    assert!(!told && fallen.is_empty());
}

/// KAFKA-17333, too: a state machine that lags keeps its controller from being active, and nothing is proposed until then.
#[test]
fn kafka_17333_a_controller_waits_for_its_state_machine() {
    let mut desk = Desk::new(4, 1, 0, &[]);
    desk.tells(0);
    desk.boot_all();
    desk.run(5_000 * MS);
    let machine = desk.machine(0);
    assert_eq!((machine.role(), machine.active()), (Role::Leader, None));
    assert_eq!(machine.high_watermark(), 1);
    assert!(!believes(&desk, 0) && desk.propose(0).is_none());
    desk.apply(0);
    assert!(believes(&desk, 0) && desk.propose(0).is_some());
    holds(&desk);
}

/// KAFKA-13104: a controller gives up on an error and its node leads on: nobody is active until somebody restarts it.
#[test]
fn kafka_13104_a_controller_renounces_and_raft_does_not() {
    let run = |off: &[Rule]| {
        let (mut desk, leader) = led(2, 3, 0, off);
        desk.call(leader, |machine, now| machine.renounce(now));
        assert!(!believes(&desk, leader));
        let end = desk.now + 30_000 * MS;
        let again = desk.run_until(end, |desk| desk.leader().is_some());
        holds(&desk);
        (again.is_some(), desk.machine(leader).role())
    };
    assert_eq!(Rule::RenounceResignsRaft.protects(), Invariant::LeaderAgain);
    assert_eq!(run(&[Rule::RenounceResignsRaft]), (false, Role::Leader));
    assert!(run(&[]).0);
}

/// A follower with a tail that only it and its dead leader had, before a leader that has gone on: its high watermark, and how
/// often it was told that it diverges.
fn diverging(off: &[Rule]) -> Desk {
    let (mut desk, leader) = led(3, 3, 0, off);
    let rest = others(&desk, leader);
    desk.isolate(leader);
    for _ in 0..6 {
        desk.propose(leader);
        desk.run(50 * MS);
    }
    assert!(desk.machine(leader).last().index > desk.machine(rest[0]).last().index + 4);
    let end = desk.now + 10_000 * MS;
    desk.run_until(end, |desk| desk.leader().is_some_and(|next| next != leader))
        .expect("another");
    let next = desk.leader().expect("it leads");
    for _ in 0..6 {
        desk.propose(next);
        desk.run(50 * MS);
    }
    desk.heal();
    desk.run(5_000 * MS);
    desk
}

/// KAFKA-14704: the answer that says "you diverge" says how far the leader's log is committed, too: of what is still there.
/// KAFKA-10706: and where the epochs are cut on the way, the truncation ends. Here a log *is* its epochs.
#[test]
fn kafka_14704_and_10706_truncation_and_the_high_watermark() {
    let desk = diverging(&[Rule::TruncateFirst]);
    let (broken, how) = desk.judge.broken.expect("it shows its tail");
    assert_eq!(broken, Invariant::HighWatermarkMonotone, "{how}");
    let desk = diverging(&[]);
    holds(&desk);
    let leader = desk.leader().expect("it leads");
    for id in 0..3 {
        assert_eq!(desk.machine(id).log(), desk.machine(leader).log());
    }
}

/// KAFKA-18379: a restarted leader is the leader that its disk names. When the others refuse its pre-votes it does not
/// follow itself.
#[test]
fn kafka_18379_a_resigned_node_does_not_follow_itself() {
    let (mut desk, leader) = led(6, 3, 0, &[]);
    desk.isolate(leader);
    desk.crash(leader);
    desk.boot(leader);
    for _ in 0..400 {
        desk.run(25 * MS);
        let machine = desk.machine(leader);
        assert_ne!(machine.leader(), Some(machine.id()));
        assert!(matches!(
            machine.role(),
            Role::Resigned | Role::Prospective | Role::Unattached
        ));
        assert_eq!(
            machine.quorum_state().leader,
            Some(machine.id()),
            "its disk remembers"
        );
    }
    desk.heal();
    desk.run(5_000 * MS);
    assert_eq!(desk.machine(leader).role(), Role::Follower);
    holds(&desk);
}

/// KAFKA-16536: a voter that never heard of its leader, because all that was said at its election was lost, hears of it half
/// a fetch timeout later.
#[test]
fn kafka_16536_a_leader_says_again_that_it_leads() {
    let (mut desk, leader) = led(8, 3, 0, &[]);
    let epoch = desk.machine(leader).epoch();
    let deaf = others(&desk, leader)[0];
    // It cannot ask: it only hears.
    for other in 0..3 {
        desk.cut_one_way(deaf, other);
    }
    desk.run(12_000 * MS);
    assert_eq!(desk.machine(deaf).epoch(), epoch);
    assert_eq!(desk.machine(deaf).role(), Role::Follower);
    assert_eq!(desk.leader(), Some(leader));
    holds(&desk);
}
