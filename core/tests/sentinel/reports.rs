//! What was reported of the real Sentinel, each as its own schedule: with the rule off it breaks, with the rule on it holds.

use super::desk::{Desk, Flight, Gate};
use super::plan::{MS, Plan, SEC, server};
use std::collections::BTreeSet;
use tenure::sentinel::{Hello, Invariant, MasterName, Message, News, Role, Rule, RunId, Switched};
use tenure::{Duration, Instant, NodeId};

const S: [NodeId; 6] = [
    NodeId(0),
    NodeId(1),
    NodeId(2),
    NodeId(3),
    NodeId(4),
    NodeId(5),
];
const A: MasterName = MasterName(0);

fn without(rules: &[Rule]) -> Switched {
    Switched::without(rules)
}

fn mixed_epochs(rules: Switched) -> Desk {
    let mut desk = Desk::new(Plan {
        sentinels: 5,
        groups: 2,
        quorum: 2,
        current_epoch: 4,
        latency: (MS, MS),
        disk: (MS, MS),
        rules,
        ..Plan::default()
    });
    let (a, b) = (server(0, 0), server(1, 0));
    desk.run_for(3 * SEC);
    desk.crash(a);
    desk.run_for(SEC);
    desk.crash(b);
    let began = desk.now;
    desk.gate = Some(Box::new(move |now, flight: &Flight| {
        let late = now > began + 5 * SEC;
        let (from, to) = (flight.from, flight.to);
        match &flight.message {
            // S1 hears from S2 what that one tries, and nobody hears anything else.
            Message::Hello(hello) => (from, to) == (S[2], S[1]) && hello.current_epoch == 6,
            // S1 asks S2 first, and S3 once S4 has its vote.
            Message::Ask { master, .. } if *master == a => {
                let asked = [(S[1], S[2]), (S[4], S[3]), (S[4], S[5])];
                asked.contains(&(from, to)) || (late && (from, to) == (S[1], S[3]))
            }
            // S2 alone learns that another holds the second master to be down, and asks nobody to vote.
            Message::Ask { candidate, .. } => (from, to) == (S[2], S[3]) && candidate.is_none(),
            _ => true,
        }
    }));
    desk.run_for(16 * SEC);
    desk
}

/// redis#2230: five sentinels, two masters, all at epoch 4. S1 and S4 try to replace the first master in epoch 5; before S1
/// has a majority, it hears that S2 tries to replace the second one in epoch 6.
#[test]
fn votes_of_two_epochs_are_not_added_up() {
    // As shipped: two sentinels act in epoch 5.
    let desk = mixed_epochs(without(Rule::REPAIRS));
    let elected: Vec<_> = (desk.told("+elected-leader").into_iter())
        .map(|(_, id, news)| (id, news))
        .collect();
    let at_5 = News::ElectedLeader(A, 5);
    assert_eq!(elected, [(S[4], at_5), (S[1], at_5)]);
    let broken = [Invariant::MajorityAuthorised, Invariant::OneLeader];
    assert_eq!(desk.judge.broken()[..2], broken);
    // This one rule alone makes the difference.
    let desk = mixed_epochs(without(&[Rule::FailoverEpoch]));
    assert_eq!(desk.judge.broken()[..2], broken);
    // Repaired: S1 has two votes in epoch 5, and gives up.
    let desk = mixed_epochs(Switched::default());
    assert_eq!(desk.judge.broken(), []);
    assert_eq!(desk.told("+elected-leader").len(), 1);
    let gave_up = desk.told("-failover-abort-not-elected");
    assert!(gave_up.iter().any(|(_, id, _)| *id == S[1]), "{gave_up:?}");
}

fn rising_epoch(rules: Switched) -> Desk {
    let mut desk = Desk::new(Plan {
        groups: 2,
        latency: (MS, MS),
        rules,
        ..Plan::default()
    });
    desk.run_for(12 * SEC);
    desk.crash(server(0, 0));
    // S1 alone learns that others hold the master to be down.
    desk.gate = Some(Box::new(|_, flight: &Flight| match flight.message {
        Message::Ask { .. } => flight.from == S[1],
        Message::Hello(_) => false,
        _ => true,
    }));
    let end = desk.now + 20 * SEC;
    let mut current_epoch = 1;
    while desk.now < end {
        desk.run_for(40 * MS);
        current_epoch += 1;
        let hello = Hello {
            sentinel: S[2],
            id: RunId(2),
            current_epoch,
            name: MasterName(1),
            master: server(1, 0),
            config_epoch: 0,
        };
        desk.inject(S[2], S[1], Message::Hello(hello));
    }
    desk
}

/// redis#12865: while one sentinel counts its votes, the epoch that all masters share rises all the time, because others try to
/// replace many masters at once.
#[test]
fn who_has_a_majority_of_votes_is_elected_whatever_becomes_of_the_shared_epoch() {
    let shipped = rising_epoch(without(Rule::REPAIRS));
    assert!(shipped.told("+elected-leader").is_empty());
    assert_eq!(shipped.told("-failover-abort-not-elected").len(), 1);
    // Though both others voted for it.
    let votes = shipped.told("+vote-for-leader");
    assert!(
        S[2..=3]
            .iter()
            .all(|voter| votes.iter().any(|(_, id, _)| id == voter))
    );
    let repaired = rising_epoch(Switched::default());
    assert_eq!(repaired.told("+elected-leader").len(), 1);
    assert!(repaired.told("-failover-abort-not-elected").is_empty());
    assert_eq!(repaired.judge.broken(), []);
}

/// How many of twelve masters that fail at once are replaced in the first round of attempts, and how many attempts failed.
fn all_at_once(rules: Switched, seed: u64) -> (usize, usize) {
    let mut desk = Desk::new(Plan {
        groups: 12,
        failover_timeout: 30 * SEC,
        seed,
        rules,
        ..Plan::default()
    });
    desk.run_for(12 * SEC);
    (0..12).for_each(|group| desk.crash(server(group, 0)));
    desk.run_for(30 * SEC);
    let switched = desk.told("+switch-master").into_iter();
    let switched: BTreeSet<_> = switched
        .filter_map(|(_, _, news)| match news {
            News::SwitchMaster(name, ..) => Some(name),
            _ => None,
        })
        .collect();
    (
        switched.len(),
        desk.told("-failover-abort-not-elected").len(),
    )
}

/// redis#12865, as it was met: many masters fail at once.
#[test]
fn masters_that_fail_at_once_are_all_replaced_in_one_round() {
    let total = |rules: &[Rule]| {
        (0..4).fold((0, 0), |sum, seed| {
            let (replaced, failed) = all_at_once(without(rules), seed);
            (sum.0 + replaced, sum.1 + failed)
        })
    };
    assert_eq!(total(&[]), (48, 0));
    // A voter that has entered a later epoch, for another master, refuses: SEN-FailoverCompletes.
    let (replaced, failed) = total(&[Rule::OwnMastersEpoch]);
    assert!(replaced < 45 && failed > 10, "{replaced} {failed}");
    assert_eq!(
        Rule::OwnMastersEpoch.protects(),
        Invariant::FailoverCompletes
    );
}

/// redis@ed813863f: S2 votes for S1, loses its power before the disk has that, and is asked by S3.
#[test]
fn a_vote_is_in_the_file_before_it_is_told() {
    let schedule = |rules| {
        let mut desk = Desk::new(Plan {
            disk: (SEC, SEC),
            latency: (MS, MS),
            current_epoch: 6,
            rules,
            ..Plan::default()
        });
        desk.run_for(3 * SEC);
        desk.crash(server(0, 0));
        // S1 is heard by S2 alone, and no hello by anybody; S3 may learn that S1 holds the master to be down.
        let began = desk.now;
        let asked_by = |asks: NodeId| -> Gate {
            Box::new(move |_, flight: &Flight| match flight.message {
                Message::Ask { .. } => {
                    let (from, to) = (flight.from, flight.to);
                    (from, to) == (asks, S[2]) || (from, to) == (S[3], S[1])
                }
                Message::Hello(_) => false,
                _ => true,
            })
        };
        desk.gate = Some(asked_by(S[1]));
        let voted = |desk: &Desk| {
            let vote = |(_, id, _): &(u64, NodeId, News)| *id == S[2];
            desk.told("+vote-for-leader").iter().any(vote)
        };
        assert!(desk.run_till(10 * SEC, voted));
        desk.run_for(10 * MS);
        desk.cut_power(S[2]);
        desk.gate = Some(asked_by(S[3]));
        desk.start(S[2]);
        desk.run_until(began + 20 * SEC);
        desk
    };
    let off = schedule(without(&[Rule::VoteDurable]));
    assert_eq!(off.judge.broken().first(), Some(&Invariant::OneVote));
    let on = schedule(Switched::default());
    assert_eq!(on.judge.broken(), []);
    assert!(on.judge.count(Invariant::OneVote) > 0);
}

/// redis@47750998a: whoever is elected dies before it promotes anybody, and those who voted for it stand in its place.
#[test]
fn who_voted_for_another_gives_that_one_time() {
    let schedule = |rules| {
        let mut desk = Desk::new(Plan {
            rules,
            ..Plan::default()
        });
        desk.run_for(12 * SEC);
        desk.crash(server(0, 0));
        let elected = |desk: &Desk| !desk.told("+elected-leader").is_empty();
        assert!(desk.run_till(20 * SEC, elected));
        let (began, leader, _) = desk.told("+elected-leader")[0];
        desk.crash(leader);
        desk.run_for(60 * SEC);
        let tried = desk.told("+try-failover").into_iter();
        let next = tried.filter(|(_, id, _)| *id != leader).map(|(at, ..)| at);
        (next.min().unwrap() - began, desk)
    };
    let (waited, off) = schedule(without(&[Rule::WaitAfterVote]));
    assert_eq!(off.judge.broken()[0], Invariant::RateLimited);
    assert!(waited < SEC, "{waited}");
    // Two failover timeouts, and up to a second more.
    let (waited, on) = schedule(Switched::default());
    assert_eq!(on.judge.broken(), []);
    assert!((19 * SEC..22 * SEC).contains(&waited), "{waited}");
    assert_eq!(on.told("+switch-master").len(), 2);
}

/// Five sentinels, quorum 2. S1, S2 and the replicas are cut off from the others; the master is gone.
fn minority(rules: Switched) -> Desk {
    let mut desk = Desk::new(Plan {
        sentinels: 5,
        rules,
        ..Plan::default()
    });
    desk.run_for(12 * SEC);
    let here = [S[1], S[2], server(0, 1), server(0, 2)];
    desk.part(&here, &S[3..]);
    desk.run_for(SEC);
    desk.crash(server(0, 0));
    desk.run_for(20 * SEC);
    desk
}

/// redis@f4be6f16f, redis#1972: the majority was one of those who answered.
#[test]
fn a_minority_promotes_nobody() {
    let off = minority(without(&[Rule::AllKnownVoters]));
    assert_eq!(off.judge.broken()[0], Invariant::NoMinorityFailover);
    let on = minority(Switched::default());
    assert_eq!(on.judge.broken(), []);
    assert!(on.judge.count(Invariant::NoMinorityFailover) > 0);
    assert!(!on.told("-failover-abort-not-elected").is_empty());
    // The others are a majority, and reach nobody whom they could promote.
    let here = |(_, id, _): &(u64, NodeId, News)| [S[1], S[2]].contains(id);
    assert!(!on.told("+elected-leader").iter().any(here));
    assert!(!on.told("-failover-abort-no-good-slave").is_empty());
}

/// redis#9240, redis#8786, redis#6194: four that were tried and are gone, each with an id and an address of its own.
#[test]
fn entries_of_sentinels_that_are_gone_count_until_somebody_resets() {
    let mut desk = Desk::new(Plan::default());
    desk.run_for(5 * SEC);
    for node in 10..14 {
        desk.add_seat(NodeId(node), None);
    }
    desk.run_for(15 * SEC);
    for node in 10..14 {
        desk.retire(NodeId(node));
    }
    let voters = |desk: &Desk, id| desk.machine(id).master(A).unwrap().voters();
    assert!(S[1..=3].iter().all(|id| voters(&desk, *id) == 7));
    desk.crash(server(0, 0));
    desk.run_for(60 * SEC);
    assert!(desk.told("+elected-leader").is_empty());
    assert!(!desk.told("-failover-abort-not-elected").is_empty());
    for id in [S[1], S[2], S[3]] {
        desk.reset(id, 0);
    }
    // The master is gone, so that nobody learns of its replicas: an operator starts it for that.
    desk.start(server(0, 0));
    desk.run_for(30 * SEC);
    assert!(S[1..=3].iter().all(|id| voters(&desk, *id) == 3));
    desk.crash(server(0, 0));
    let replaced = |desk: &Desk| desk.told("+switch-master").len() == 3;
    assert!(desk.run_till(60 * SEC, replaced));
    assert_eq!(desk.judge.broken(), []);
}

/// redis#9240, too: the same file at another address, and another file at the same.
#[test]
fn a_sentinel_that_moves_and_one_that_takes_its_place_are_counted_once() {
    let mut desk = Desk::new(Plan::default());
    desk.run_for(5 * SEC);
    // The same file at another address.
    let file = desk.seats[&S[3]].disk.clone();
    desk.retire(S[3]);
    desk.add_seat(NodeId(10), file);
    desk.run_for(10 * SEC);
    // Another file at that address.
    desk.crash(NodeId(10));
    desk.seats.get_mut(&NodeId(10)).unwrap().disk = None;
    desk.start(NodeId(10));
    desk.run_for(20 * SEC);
    let others = |id| {
        let master = desk.machine(id).master(A).unwrap();
        master
            .sentinels()
            .iter()
            .map(|one| one.node().0)
            .collect::<Vec<_>>()
    };
    assert_eq!(others(S[1]), [2, 10]);
    assert_eq!(others(S[2]), [1, 10]);
    assert_eq!(others(NodeId(10)), [1, 2]);
    assert_eq!(desk.told("-dup-sentinel").len(), 4);
}

/// redis@821a98664: a sentinel dies when its file names the promoted server, and the next life reads it.
#[test]
fn a_file_that_is_written_in_mid_failover_names_each_server_once() {
    let schedule = |rules| {
        let mut desk = Desk::new(Plan {
            rules,
            replicas: 3,
            ..Plan::default()
        });
        desk.run_for(12 * SEC);
        desk.crash(server(0, 0));
        let promoted = |desk: &Desk| !desk.told("+promoted-slave").is_empty();
        assert!(desk.run_till(20 * SEC, promoted));
        desk.run_for(100 * MS);
        let leader = desk.told("+promoted-slave")[0].1;
        let kept = desk.seats[&leader].disk.clone().unwrap().masters.remove(0);
        desk.restart(leader);
        desk.run_for(60 * SEC);
        (desk, kept)
    };
    let (off, kept) = schedule(without(&[Rule::RewriteNamesPromoted]));
    assert!(kept.replicas.contains(&kept.address));
    assert_eq!(off.judge.broken()[0], Invariant::NoSelfReplication);
    let (on, kept) = schedule(Switched::default());
    assert!(!kept.replicas.contains(&kept.address));
    assert!(kept.replicas.contains(&server(0, 0)));
    assert_eq!(on.judge.broken(), []);
    assert!(on.judge.count(Invariant::NoSelfReplication) > 0);
}

/// redis#10197: one image, one seed, one moment, and a network that treats all alike.
#[test]
fn sentinels_that_are_built_alike_do_not_stand_alike() {
    let schedule = |rules| {
        let mut desk = Desk::new(Plan {
            identical: true,
            latency: (MS, MS),
            disk: (MS, MS),
            failover_timeout: 5 * SEC,
            rules,
            ..Plan::default()
        });
        desk.run_for(12 * SEC);
        desk.crash(server(0, 0));
        desk.run_for(120 * SEC);
        let tried = desk.told("+try-failover").len();
        (desk.told("+switch-master").len(), tried)
    };
    let (replaced, tried) = schedule(without(&[Rule::SeedMixedWithNode]));
    assert_eq!(replaced, 0);
    assert!(tried > 20, "{tried}");
    let (replaced, tried) = schedule(Switched::default());
    assert_eq!(replaced, 3);
    assert!(tried < 5, "{tried}");
}

/// redis#1297, redis#3362, redis@2afa41f62: no persistence, and back before anybody notices.
#[test]
fn a_master_that_comes_back_empty_empties_its_replicas_by_design() {
    let mut desk = Desk::new(Plan::default());
    desk.run_for(3 * SEC);
    (0..10).for_each(|_| assert!(desk.write(server(0, 0)).is_some()));
    desk.run_for(2 * SEC);
    assert_eq!(desk.lost_at(server(0, 1)), 0);
    desk.crash(server(0, 0));
    let gone = desk.servers.get_mut(&server(0, 0)).unwrap();
    gone.saved = std::mem::take(&mut gone.saved).without_data();
    desk.run_for(SEC);
    desk.start(server(0, 0));
    desk.run_for(10 * SEC);
    for place in 0..3 {
        assert_eq!(desk.lost_at(server(0, place)), 10);
    }
    assert!(desk.told("+sdown").is_empty());
    assert!(Invariant::NoAckLoss.broken_by_design().is_some());
}

/// redis@2afa41f62: the option that came of it. A server that was restarted and loads is not alive for ever.
#[test]
fn a_restart_that_loads_for_long_is_noticed_where_that_is_wanted() {
    let schedule = |patience: Option<u64>| {
        let plan = Plan::default();
        let mut desk = Desk::new(plan);
        for id in S[1..=3].iter().copied() {
            let seat = desk.seats.get_mut(&id).unwrap();
            seat.config.masters[0].reboot_down_after = patience.map(Duration::from_micros);
            desk.restart(id);
        }
        desk.run_for(12 * SEC);
        let load = Duration::from_secs(40);
        desk.configure(server(0, 0), |config| config.load = load);
        desk.run_for(30 * SEC);
        (desk.told("+reboot").len(), desk.told("+odown").len())
    };
    assert_eq!(schedule(None), (0, 0));
    let (noticed, down) = schedule(Some(2 * SEC));
    assert_eq!(noticed, 3);
    assert!(down > 0);
}

/// redis#12570: the new master dies before the old one, which is back, has followed it.
#[test]
fn old_data_does_not_come_back_to_power() {
    let schedule = |rules| {
        let mut desk = Desk::new(Plan {
            replicas: 1,
            failover_timeout: 5 * SEC,
            rules,
            ..Plan::default()
        });
        let (old, new) = (server(0, 0), server(0, 1));
        desk.run_for(12 * SEC);
        assert!(desk.write(old).is_some());
        desk.run_for(2 * SEC);
        desk.crash(old);
        let replaced = |desk: &Desk| desk.told("+switch-master").len() == 3;
        assert!(desk.run_till(20 * SEC, replaced));
        (0..10).for_each(|_| assert!(desk.write(new).is_some()));
        desk.start(old);
        desk.run_for(2 * SEC);
        desk.crash(new);
        desk.run_for(40 * SEC);
        desk.start(new);
        desk.run_for(60 * SEC);
        desk
    };
    let off = schedule(without(&[Rule::CandidateFollows]));
    assert_eq!(off.judge.broken()[0], Invariant::BestReplica);
    assert_eq!(off.data(server(0, 0)).role(), Role::Master);
    assert_eq!(off.lost_at(server(0, 0)), 10);
    let on = schedule(Switched::default());
    assert_eq!(on.judge.broken(), []);
    assert!(!on.told("-failover-abort-no-good-slave").is_empty());
    assert_eq!(on.data(server(0, 1)).role(), Role::Master);
    assert_eq!(on.data(server(0, 0)).master(), Some(server(0, 1)));
    for place in 0..2 {
        assert_eq!(on.lost_at(server(0, place)), 0);
    }
}

#[test]
fn two_that_follow_each_other_do_not_wait_for_ever() {
    // Two promotions at once have left orders to either to follow the other: neither serves the other, so that the link of the
    // only candidate is broken from the start, and for longer than the master is held to be down.
    let schedule = |rules| {
        let mut desk = Desk::new(Plan {
            replicas: 1,
            down_after: SEC,
            failover_timeout: 5 * SEC,
            rules,
            ..Plan::default()
        });
        let (master, replica) = (server(0, 0), server(0, 1));
        desk.run_for(12 * SEC);
        assert!(desk.write(master).is_some());
        desk.run_for(2 * SEC);
        desk.part(&[master], &[replica]);
        let broken = |desk: &Desk| {
            let now = Instant::from_micros(desk.now);
            !desk.data(replica).is_linked(now)
        };
        assert!(desk.run_till(90 * SEC, broken));
        desk.order(master, Some(replica));
        desk.heal();
        desk.run_for(90 * SEC);
        desk
    };
    let roles = |desk: &Desk| [0, 1].map(|place| desk.data(server(0, place)).role());
    let off = schedule(without(&[Rule::CandidateFollows]));
    assert_eq!(roles(&off), [Role::Replica; 2]);
    assert!(off.told("-failover-abort-no-good-slave").len() > 3);
    let on = schedule(Switched::default());
    assert_eq!(roles(&on), [Role::Replica, Role::Master]);
    assert_eq!(on.lost_at(server(0, 1)), 0);
    for desk in [off, on] {
        assert_eq!(desk.judge.broken(), []);
    }
}

/// redis#5677: the master dies while no sentinel looks: all were down, or in tilt. When they hold it to be down, its replicas have
/// been out of touch for longer than a sentinel that looked would ever have seen.
#[test]
fn sentinels_that_woke_late_promote_a_replica() {
    const SEATS: [NodeId; 3] = [S[1], S[2], S[3]];
    let (master, replicas) = (server(0, 0), [server(0, 1), server(0, 2)]);
    let schedule = |rules, absent: fn(&mut Desk)| {
        let mut desk = Desk::new(Plan {
            down_after: SEC,
            rules,
            ..Plan::default()
        });
        desk.run_for(12 * SEC);
        assert!(desk.write(master).is_some());
        desk.run_for(2 * SEC);
        desk.crash(master);
        absent(&mut desk);
        // As long as may pass until a majority has replaced it.
        desk.run_for(5 * 10 * SEC + SEC + 40 * SEC);
        desk
    };
    let down = |desk: &mut Desk| {
        SEATS.iter().for_each(|id| desk.crash(*id));
        desk.run_for(60 * SEC);
        SEATS.iter().for_each(|id| desk.restart(*id));
    };
    let in_tilt = |desk: &mut Desk| SEATS.iter().for_each(|id| desk.jump(*id, 10 * SEC));
    let absences: [fn(&mut Desk); 2] = [down, in_tilt];
    for absent in absences {
        let off = schedule(without(&[Rule::LastSignOfLife]), absent);
        assert!(off.told("-failover-abort-no-good-slave").len() > 1);
        assert!(off.told("+switch-master").is_empty());
        let on = schedule(Switched::default(), absent);
        assert_eq!(on.told("+switch-master").len(), 3);
        let named = on.machine(NodeId(1)).leader_of(A).unwrap().node;
        assert!(replicas.contains(&named) && on.lost_at(named) == 0);
        for desk in [off, on] {
            assert_eq!(desk.judge.broken(), []);
        }
    }
}

/// redis#5677: the price of the rule is bounded by what is known: who heard the master until it died promotes nobody that lost
/// touch long before; and who woke late goes by the replica with the most data.
#[test]
fn who_lost_touch_long_before_is_promoted_by_nobody_who_knows_better() {
    let (master, early, late) = (server(0, 0), server(0, 1), server(0, 2));
    let schedule = |both: bool, wakes: bool| {
        let mut desk = Desk::new(Plan::default());
        desk.configure(early, |config| config.priority = 1);
        desk.run_for(12 * SEC);
        desk.part(&[master], &[early]);
        desk.run_for(55 * SEC);
        if both {
            desk.part(&[master], &[late]);
            desk.run_for(55 * SEC);
        } else {
            assert!(desk.write(master).is_some());
            desk.run_for(2 * SEC);
        }
        desk.crash(master);
        if wakes {
            let seats = || (1..=3).map(NodeId);
            seats().for_each(|id| desk.crash(id));
            desk.run_for(60 * SEC);
            seats().for_each(|id| desk.restart(id));
        }
        desk.run_for(93 * SEC);
        let chosen = desk.told("+selected-slave").first().map(|told| told.2);
        chosen.map(|news| match news {
            News::SelectedSlave(_, node) => node,
            _ => unreachable!(),
        })
    };
    assert_eq!(schedule(false, false), Some(late));
    assert_eq!(schedule(false, true), Some(late), "it has more data");
    assert_eq!(schedule(true, false), None);
}
