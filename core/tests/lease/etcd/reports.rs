//! By hand: what people reported of elections over etcd, and what is told of keys and leases that others touch.

use super::desk::{Desk, Fate, SECOND};
use super::{WAYS, common, queue, single};
use tenure::lease::etcd::{
    Config, Etcd, Keys, LeaseId, Mode, Operation, Place, Reply, Request, ResumeError, Txn,
};
use tenure::lease::{Boot, BudgetError, Claimant, Config as Common, Identity, Refusal};
use tenure::{Duration, Election, Event, Input, Instant, Standing, Ticket, Token, Unknown, Why};

fn node(name: &str) -> tenure::NodeId {
    Identity::new(name).unwrap().node()
}

fn all(way: fn(Common) -> Config, names: &[&str]) -> Desk {
    Desk::new(names.iter().map(|name| way(common(name))))
}

fn watched(requests: &[Request]) -> Vec<&Keys> {
    let mut all = Vec::new();
    for request in requests {
        if let Request::Watch { keys, .. } = request {
            all.push(keys);
        }
    }
    all
}

fn is_kept_alive(request: &Request) -> bool {
    matches!(request, Request::LeaseKeepAlive { .. })
}

fn creates(request: &Request) -> bool {
    matches!(
        request,
        Request::Txn(Txn {
            otherwise: Some(_),
            ..
        })
    )
}

fn deletes(request: &Request) -> bool {
    matches!(
        request,
        Request::Txn(Txn {
            then: Operation::Delete(_),
            ..
        })
    )
}

fn looks(request: &Request) -> bool {
    matches!(request, Request::Range(_))
}

const NOTHING: fn(&Request) -> Fate = |_| Fate::Lost;
const EVERYTHING: fn(&Request) -> Fate = |_| Fate::Answered;

#[test]
fn the_queue_is_served_in_order_and_each_watches_the_one_before_it() {
    let mut desk = all(queue, &["anna", "ben", "cleo"]);
    assert_eq!(desk.leaders(), [0]);
    let places: Vec<_> = (0..3)
        .map(|me| desk.nodes[me].machine.place().unwrap())
        .collect();
    for (me, of) in [(0, 0), (1, 0), (2, 1)] {
        let asked = desk.asked(me);
        assert_eq!(watched(&asked), [&Keys::One(places[of].key.clone())]);
    }
    // Who is third learns who leads, though it watches another.
    let leads = desk.follows(2).unwrap();
    assert_eq!(
        (leads.node, leads.token),
        (node("anna"), Token::new(0, places[0].revision))
    );
    desk.feed(0, Input::Resign { to: None });
    assert_eq!(desk.leaders(), [1]);
    assert_eq!(
        desk.tenure(1).unwrap().token,
        Token::new(0, places[1].revision)
    );
    // Nobody else was woken.
    assert!(!desk.asked(2).iter().any(looks));
    desk.run(4);
    assert_eq!(desk.follows(2).map(|leader| leader.node), Some(node("ben")));
}

#[test]
fn whoever_waits_for_the_single_key_creates_it_once_it_is_deleted() {
    let mut desk = all(single, &["anna", "ben"]);
    assert_eq!(
        (desk.leaders(), desk.follows(1).map(|leader| leader.node)),
        (vec![0], Some(node("anna")))
    );
    desk.asked(1);
    desk.feed(0, Input::Resign { to: None });
    assert_eq!(desk.leaders(), [1]);
    // Without a look between.
    assert!(creates(&desk.asked(1)[0]));
    assert!(desk.tenure(1).unwrap().token > desk.ends(0)[0].0);
}

/// LS-4 as etcd's client has it, which counts a lease from the answer: a keep-alive whose answer takes long extends to its
/// own send plus the lease.
#[test]
fn a_late_answer_extends_from_its_own_send() {
    for way in WAYS {
        let mut desk = all(way, &["anna"]);
        desk.nodes[0].fate = |request| match request {
            Request::LeaseKeepAlive { .. } => Fate::Unanswered,
            _ => Fate::Answered,
        };
        desk.run(3);
        let asked = desk.nodes[0].asked.clone();
        let (ticket, _) = asked
            .iter()
            .find(|(_, asked)| is_kept_alive(asked))
            .unwrap();
        let sent = desk.nodes[0].machine.deadline().unwrap();
        let before = desk.tenure(0).unwrap().until;
        desk.run(4);
        let ttl = Duration::from_secs(9);
        desk.feed(0, Input::Reply(*ticket, Ok(Reply::Alive(ttl))));
        let until = desk.tenure(0).unwrap().until;
        assert!(
            until > before && until < sent + ttl,
            "{until} {before} {sent}"
        );
        assert!(until.as_micros() < desk.now + 6 * SECOND);
    }
}

/// LS-13, etcd-io/etcd#11456 (Jepsen): whose lease died in the queue is told that it holds the lock.
#[test]
fn whose_lease_died_in_the_queue_does_not_lead() {
    let mut desk = all(queue, &["anna", "ben"]);
    let dead = desk.nodes[1].machine.place().unwrap();
    desk.nodes[1].fate = |request| match request {
        Request::LeaseKeepAlive { .. } | Request::LeaseGrant { .. } => Fate::Lost,
        _ => Fate::Answered,
    };
    desk.run(10);
    assert!(!desk.store.keys.contains_key(&dead.key));
    desk.feed(0, Input::Resign { to: None });
    desk.run(4);
    assert_eq!(desk.leaders(), [] as [usize; 0]);
    assert!(
        !desk.nodes[1]
            .events
            .iter()
            .any(|event| matches!(event, Event::Elected(_)))
    );
    // Once the store says that the lease is over, it takes another, and its turn comes.
    desk.nodes[1].fate = EVERYTHING;
    desk.run(4);
    assert_eq!(desk.leaders(), [1]);
    assert!(desk.tenure(1).unwrap().token > Token::new(0, dead.revision));
}

/// LS-14 of the same client: that the session is over does not end the wait. Here it begins another.
#[test]
fn a_waiter_whose_lease_is_revoked_queues_anew() {
    let mut desk = all(queue, &["anna", "ben", "cleo"]);
    let before = desk.nodes[1].machine.place().unwrap();
    desk.store.revoke(before.lease);
    desk.run(4);
    let after = desk.nodes[1].machine.place().unwrap();
    assert!(after.lease != before.lease && after.revision > before.revision);
    desk.feed(0, Input::Resign { to: None });
    assert_eq!(desk.leaders(), [2], "who queues anew comes last");
}

/// LS-15, etcd-io/etcd#15922, #7275, #10821: the stream of keep-alives breaks as etcd's leader changes, though the lease
/// lives; who takes another lease then is blocked by its own key.
#[test]
fn a_stream_that_breaks_is_no_lease_that_is_lost() {
    for way in WAYS {
        let mut desk = all(way, &["anna", "ben"]);
        let before = desk.nodes[0].machine.place();
        desk.nodes[0].fate = |request| match request {
            Request::LeaseKeepAlive { .. } => Fate::Refused,
            _ => Fate::Answered,
        };
        desk.run(4);
        let tries = desk
            .asked(0)
            .iter()
            .filter(|asked| is_kept_alive(asked))
            .count();
        assert!(tries > 1, "it tries again");
        desk.nodes[0].fate = EVERYTHING;
        desk.run(10);
        assert_eq!(
            (desk.leaders(), desk.nodes[0].machine.place()),
            (vec![0], before)
        );
        assert_eq!(desk.ends(0), []);
    }
}

/// LS-16, etcd-io/etcd#6922, #7357: nobody sends keep-alives any more, and no channel closes.
#[test]
fn the_tenure_ends_by_the_clock_and_the_node_asks_on() {
    for way in WAYS {
        let mut desk = all(way, &["anna", "ben"]);
        let token = desk.tenure(0).unwrap().token;
        desk.nodes[0].fate = NOTHING;
        desk.run(9);
        assert_eq!(desk.ends(0), [(token, Why::Lapsed)]);
        desk.asked(0);
        desk.run(1);
        assert!(!desk.asked(0).is_empty());
        assert_eq!(desk.leaders(), [1]);
        desk.nodes[0].fate = EVERYTHING;
        desk.run(30);
        assert_eq!(desk.leaders(), [1]);
    }
}

/// LS-17, etcd-io/etcd#12528, #15247: an old leader of etcd that was stuck revokes a lease which is kept alive elsewhere.
#[test]
fn a_lease_revoked_early_ends_the_tenure_at_the_first_word_of_it() {
    for way in WAYS {
        for deaf in [false, true] {
            let mut desk = all(way, &["anna", "ben"]);
            let (token, lease) = (
                desk.tenure(0).unwrap().token,
                desk.nodes[0].machine.place().unwrap().lease,
            );
            desk.nodes[0].deaf = deaf;
            desk.store.revoke(lease);
            desk.serve();
            // Until it hears of it both believe, and the token of the second is higher.
            assert_eq!(desk.leaders().len(), 1 + usize::from(deaf));
            assert!(desk.tenure(1).unwrap().token > token);
            desk.run(3);
            assert_eq!(
                (desk.leaders(), desk.ends(0)),
                (vec![1], vec![(token, Why::Taken)])
            );
        }
    }
}

/// LS-19, etcd-io/etcd#22123 (PRs 22211, 22124, 22437): after an error to resign forgets the key, which keeps everybody else
/// out for as long as the session keeps it alive.
#[test]
fn resigning_goes_on_until_the_key_is_gone_and_nothing_keeps_it_alive() {
    for fate in [Fate::Lost, Fate::Unanswered, Fate::Doubtful, Fate::Refused] {
        for way in WAYS {
            let mut desk = all(way, &["anna"]);
            desk.nodes[0].fate = match fate {
                Fate::Lost => |_| Fate::Lost,
                Fate::Unanswered => |_| Fate::Unanswered,
                Fate::Doubtful => |_| Fate::Doubtful,
                _ => |_| Fate::Refused,
            };
            desk.asked(0);
            desk.feed(0, Input::Resign { to: None });
            assert_eq!(desk.leaders(), [] as [usize; 0]);
            desk.run(4);
            let asked = desk.asked(0);
            assert!(asked.iter().filter(|asked| deletes(asked)).count() > 2);
            assert!(!asked.iter().any(is_kept_alive));
            assert!(desk.nodes[0].machine.releasing());
            desk.nodes[0].fate = EVERYTHING;
            desk.run(2);
            assert!(desk.store.keys.is_empty() && desk.store.leases.is_empty());
            assert!(!desk.nodes[0].machine.releasing());
        }
    }
}

/// LS-19: it ends with the lease, whatever the store does not say.
#[test]
fn resigning_ends_with_the_lease() {
    for way in WAYS {
        let mut desk = all(way, &["anna"]);
        desk.nodes[0].fate = NOTHING;
        desk.feed(0, Input::Resign { to: None });
        desk.run(11);
        assert!(!desk.nodes[0].machine.releasing());
        desk.nodes[0].fate = EVERYTHING;
        desk.run(12);
        assert_eq!(
            desk.leaders(),
            [0],
            "it stood back for a lease, and nobody came"
        );
    }
}

/// LS-20 of the same client: who stops waiting leaves its key in the queue.
#[test]
fn who_withdraws_takes_its_key_along() {
    let mut desk = all(queue, &["anna", "ben", "cleo"]);
    let key = desk.nodes[1].machine.place().unwrap().key;
    let now = Instant::from_micros(desk.now);
    desk.nodes[1].machine.withdraw(now);
    desk.serve();
    assert!(!desk.store.keys.contains_key(&key) && desk.store.leases.len() == 2);
    desk.feed(0, Input::Resign { to: None });
    assert_eq!(desk.leaders(), [2]);
    desk.run(30);
    assert!(
        !desk.nodes[1]
            .events
            .iter()
            .any(|event| matches!(event, Event::Elected(_)))
    );
    // It looks on.
    assert_eq!(
        desk.follows(1).map(|leader| leader.node),
        Some(node("cleo"))
    );
}

/// LS-22, google/trillian PR 1388, cagriekin/charts#326: an observer is never told that nobody leads.
#[test]
fn an_observer_is_told_that_nobody_leads() {
    for way in WAYS {
        let observer = Common {
            candidate: false,
            ..common("olga")
        };
        let mut desk = Desk::new([way(observer)]);
        assert_eq!(desk.follows(0), None);
        let told = common("anna").claimant.with_metadata("10.0.0.1").unwrap();
        let anna = Common {
            claimant: told.clone(),
            ..common("anna")
        };
        // It hears at once of who comes, and of who goes.
        let place = desk.join(way(anna));
        let leader = desk.follows(0).unwrap();
        assert_eq!(
            (leader.node, Some(leader.token)),
            (node("anna"), desk.tenure(place).map(|tenure| tenure.token))
        );
        assert_eq!(desk.nodes[0].machine.holder(), Some(told));
        desk.feed(place, Input::Resign { to: None });
        assert_eq!(desk.follows(0), None);
        let following: Vec<_> = desk.nodes[0].events.drain(..).collect();
        assert_eq!(
            following,
            [Event::Following(Some(leader)), Event::Following(None)]
        );
        assert_eq!(desk.nodes[0].machine.holder(), None);
        assert!(
            !desk
                .asked(0)
                .iter()
                .any(|asked| matches!(asked, Request::LeaseGrant { .. }))
        );
    }
}

/// LS-23, mailgun/holster PR 38, etcd-io/etcd PR 10297: an election is resumed with the prefix of another, and watches
/// foreign keys.
#[test]
fn a_former_life_is_resumed_in_its_own_election_only_and_given_up() {
    for way in WAYS {
        let mut desk = all(way, &["anna", "ben"]);
        let former = desk.nodes[0].machine.place().unwrap();
        let boot = Boot {
            incarnation: 2,
            seed: 0,
        };
        let mut elsewhere = way(common("anna"));
        elsewhere.mode = match elsewhere.mode {
            Mode::Queue(_) => Mode::queue("other"),
            Mode::Single(_) => Mode::Single("other".into()),
        };
        let refused = Etcd::resume(elsewhere, boot, Instant::ZERO, &former);
        assert_eq!(refused.err(), Some(ResumeError::OtherElection));
        // It died, and is back before its lease is over.
        desk.nodes[0].fate = NOTHING;
        let resumed = Etcd::resume(way(common("anna")), boot, Instant::ZERO, &former).unwrap();
        let place = desk.admit(resumed);
        assert!(
            desk.store
                .keys
                .get(&former.key)
                .is_none_or(|key| key.create_revision > former.revision)
        );
        assert!(!desk.store.leases.contains_key(&former.lease));
        assert_eq!(desk.tenure(place), None);
        assert!(desk.tenure(1).unwrap().token > Token::new(0, former.revision));
    }
}

/// LS-23: the key was created anew since; it is not the one that is resumed.
#[test]
fn a_key_of_another_revision_is_not_resumed() {
    let mut desk = all(single, &["anna"]);
    let present = desk.nodes[0].machine.place().unwrap();
    let former = Place {
        revision: present.revision + 7,
        lease: LeaseId(5),
        key: present.key.clone(),
    };
    let boot = Boot {
        incarnation: 9,
        seed: 9,
    };
    let resumed = Etcd::resume(single(common("ben")), boot, Instant::ZERO, &former).unwrap();
    desk.admit(resumed);
    assert_eq!(
        (desk.leaders(), desk.nodes[0].machine.place()),
        (vec![0], Some(present))
    );
}

/// §1.4: no answer comes to the transaction that creates the key, which is there.
#[test]
fn a_key_that_was_created_in_doubt_is_found_and_used() {
    for fate in [Fate::Unanswered, Fate::Doubtful] {
        for way in WAYS {
            let mut desk = Desk::new([]);
            let boot = Boot {
                incarnation: 1,
                seed: 1,
            };
            let machine = Etcd::new(way(common("anna")), boot, Instant::ZERO).unwrap();
            let place = desk.admit_with(
                machine,
                match fate {
                    Fate::Unanswered => |request| {
                        if creates(request) {
                            Fate::Unanswered
                        } else {
                            Fate::Answered
                        }
                    },
                    _ => |request| {
                        if creates(request) {
                            Fate::Doubtful
                        } else {
                            Fate::Answered
                        }
                    },
                },
            );
            desk.run(3);
            assert_eq!((desk.leaders(), desk.store.keys.len()), (vec![], 1));
            desk.nodes[place].fate = EVERYTHING;
            desk.run(2);
            assert_eq!(
                (
                    desk.leaders(),
                    desk.store.keys.len(),
                    desk.store.leases.len()
                ),
                (vec![place], 1, 1)
            );
            assert_eq!(desk.tenure(place).unwrap().token, Token::new(0, 1));
        }
    }
}

/// §1.4: and if the node does not want it any more by then, key and lease go.
#[test]
fn a_key_that_was_created_in_doubt_goes_with_who_withdraws() {
    for way in WAYS {
        let mut desk = Desk::new([]);
        let boot = Boot {
            incarnation: 1,
            seed: 1,
        };
        let machine = Etcd::new(way(common("anna")), boot, Instant::ZERO).unwrap();
        let place = desk.admit_with(machine, |request| {
            if creates(request) {
                Fate::Unanswered
            } else {
                Fate::Answered
            }
        });
        assert_eq!(desk.store.keys.len(), 1);
        desk.nodes[place].machine.withdraw(Instant::ZERO);
        desk.serve();
        assert!(desk.store.keys.is_empty() && desk.store.leases.is_empty());
    }
}

#[test]
fn a_lease_that_was_granted_in_doubt_is_used_and_anothers_is_not() {
    let grants = |request: &Request| match request {
        Request::LeaseGrant { .. } => Fate::Doubtful,
        _ => Fate::Answered,
    };
    let boot = Boot {
        incarnation: 1,
        seed: 1,
    };
    for way in WAYS {
        let mut desk = Desk::new([]);
        let machine = Etcd::new(way(common("anna")), boot, Instant::ZERO).unwrap();
        let place = desk.admit_with(machine, grants);
        desk.nodes[place].fate = EVERYTHING;
        desk.run(2);
        assert_eq!((desk.leaders(), desk.store.leases.len()), (vec![place], 1));
        // It counts from the keep-alive that followed, not from a grant of which nothing is known.
        let kept = desk.nodes[place].machine.place().unwrap().lease;
        let twin = Etcd::new(way(common("anna")), boot, Instant::from_micros(desk.now)).unwrap();
        let twin = desk.admit(twin);
        desk.run(10);
        assert_eq!(desk.leaders(), [place]);
        assert_eq!(
            desk.store.leases.len(),
            2,
            "the twin drew the same number, and then another"
        );
        assert!(
            desk.nodes[twin]
                .machine
                .place()
                .is_none_or(|place| place.lease != kept)
        );
    }
}

/// Answers overtake each other: one from before the own key was created does not end the tenure.
#[test]
fn an_older_look_says_nothing_of_the_own_key() {
    let mut desk = all(single, &["anna", "ben"]);
    desk.asked(1);
    desk.nodes[1].fate = |request| match request {
        Request::Range(_) => Fate::Unanswered,
        _ => Fate::Answered,
    };
    desk.run(3);
    let asked = desk.nodes[1].asked.clone();
    let (ticket, _) = asked.iter().find(|(_, asked)| looks(asked)).unwrap();
    let other = desk.store.keys.values().next().unwrap().clone();
    let older = Reply::Range {
        revision: desk.store.revision,
        found: vec![other],
    };
    desk.feed(0, Input::Resign { to: None });
    assert_eq!(desk.leaders(), [1]);
    desk.feed(1, Input::Reply(*ticket, Ok(older)));
    assert_eq!((desk.leaders(), desk.ends(1)), (vec![1], vec![]));
}

#[test]
fn a_watch_that_is_silent_costs_no_more_than_a_look() {
    for way in WAYS {
        let mut desk = all(way, &["anna", "ben"]);
        desk.nodes[1].deaf = true;
        desk.feed(0, Input::Resign { to: None });
        assert_eq!(desk.leaders(), [] as [usize; 0]);
        desk.run(3);
        assert_eq!(desk.leaders(), [1]);
    }
}

#[test]
fn a_watch_that_ends_is_begun_again_and_not_at_once() {
    for way in WAYS {
        let mut desk = all(way, &["anna", "ben"]);
        for me in [0, 1] {
            desk.asked(me);
            let watch = *desk
                .store
                .watches
                .keys()
                .find(|(who, _)| *who == me)
                .unwrap();
            desk.store.end_watch(watch);
            desk.serve();
            assert_eq!(desk.asked(me), []);
            desk.run(1);
            assert_eq!(watched(&desk.asked(me)).len(), 1);
        }
        desk.feed(0, Input::Resign { to: None });
        assert_eq!(desk.leaders(), [1]);
    }
}

/// §1.4: the store raises a lease that is shorter than its shortest.
#[test]
fn a_lease_that_is_longer_than_was_asked_for_is_believed_in_for_longer() {
    for way in WAYS {
        let mut desk = Desk::new([]);
        desk.store.least = Duration::from_secs(20);
        desk.join(way(common("anna")));
        let timing = common("anna").timing;
        let until = desk.tenure(0).unwrap().until;
        assert_eq!(
            until,
            Instant::ZERO + timing.belief(Duration::from_secs(20))
        );
        // The resigned key is given up for that long, too.
        desk.nodes[0].fate = NOTHING;
        desk.feed(0, Input::Resign { to: None });
        desk.run(20);
        assert!(desk.nodes[0].machine.releasing());
    }
}

#[test]
fn what_is_proclaimed_is_written_until_it_is_there() {
    for way in WAYS {
        let mut desk = all(way, &["anna", "ben"]);
        let place = desk.nodes[0].machine.place().unwrap();
        desk.nodes[0].fate = |request| match request {
            Request::Txn(_) => Fate::Doubtful,
            _ => Fate::Answered,
        };
        desk.nodes[0].machine.proclaim(Instant::ZERO, "v2").unwrap();
        desk.nodes[0].fate = |request| match request {
            Request::Txn(_) => Fate::Refused,
            _ => Fate::Answered,
        };
        desk.serve();
        assert_eq!(&*desk.store.keys[&place.key].value, "anna");
        desk.nodes[0].fate = EVERYTHING;
        desk.run(4);
        let kept = &desk.store.keys[&place.key];
        assert_eq!(
            (&*kept.value, kept.create_revision, kept.lease),
            ("anna\nv2", place.revision, place.lease)
        );
        assert_eq!((desk.leaders(), desk.ends(0)), (vec![0], vec![]));
        let metadata = desk.nodes[1]
            .machine
            .holder()
            .map(|holder| holder.metadata().to_owned());
        assert_eq!(metadata.as_deref(), Some("v2"));
        assert!(
            desk.nodes[0]
                .machine
                .proclaim(Instant::ZERO, &"x".repeat(5_000))
                .is_err()
        );
    }
}

#[test]
fn a_key_that_somebody_deletes_ends_the_tenure_and_is_created_anew() {
    for way in WAYS {
        for deaf in [false, true] {
            let mut desk = all(way, &["anna"]);
            let place = desk.nodes[0].machine.place().unwrap();
            desk.nodes[0].deaf = deaf;
            desk.store.delete(&place.key);
            desk.serve();
            desk.run(4);
            assert_eq!(desk.ends(0), [(Token::new(0, place.revision), Why::Taken)]);
            let after = desk.nodes[0].machine.place().unwrap();
            assert!(after.lease == place.lease && after.revision > place.revision);
            assert_eq!(desk.leaders(), [0]);
        }
    }
}

/// Written over by somebody, it does not go with the lease any more, and would keep everybody out for ever.
#[test]
fn a_key_that_somebody_writes_over_ends_the_tenure_and_does_not_stay() {
    for way in WAYS {
        let mut desk = all(way, &["anna", "ben"]);
        let place = desk.nodes[0].machine.place().unwrap();
        desk.store.overwrite(&place.key, "mallory");
        desk.serve();
        assert_eq!(desk.ends(0), [(Token::new(0, place.revision), Why::Taken)]);
        assert_eq!(desk.leaders(), [1]);
    }
}

/// LS-52, milvus-io/milvus#30100, #28834, #31014, #44111, #8401: a standby whose lease is dead tries for ever to put the key
/// under it.
#[test]
fn a_standby_of_milvus_whose_lease_is_dead_takes_another() {
    let milvus = |name| Config::milvus("by-dev", "rootcoord", common(name).claimant);
    let mut desk = Desk::new([milvus("anna"), milvus("ben")]);
    let key = desk.nodes[0].machine.place().unwrap().key;
    assert_eq!(
        (&*key, desk.leaders()),
        ("by-dev/meta/session/rootcoord", vec![0])
    );
    // Cut off while it stands by, for longer than its lease; and the active one goes meanwhile.
    desk.nodes[1].fate = NOTHING;
    desk.nodes[1].deaf = true;
    desk.run(40);
    desk.nodes[0].fate = NOTHING;
    desk.run(40);
    assert!(desk.store.keys.is_empty() && desk.leaders().is_empty());
    desk.asked(1);
    (desk.nodes[1].fate, desk.nodes[1].deaf) = (EVERYTHING, false);
    desk.run(7);
    assert_eq!(desk.leaders(), [1]);
    let asked = desk.asked(1);
    let failed = asked.iter().filter(|asked| creates(asked)).count();
    assert!(failed <= 2, "{asked:?}");
}

/// LS-52: before it takes the key, it has renewed its session.
#[test]
fn a_standby_takes_the_key_with_a_session_that_is_good_for_a_while() {
    let milvus = |name| Config::milvus("by-dev", "rootcoord", common(name).claimant);
    let mut desk = Desk::new([milvus("anna"), milvus("ben")]);
    // No keep-alive comes through, and what is left of the lease is less than another attempt needs.
    desk.nodes[1].fate = |request| match request {
        Request::LeaseKeepAlive { .. } => Fate::Refused,
        _ => Fate::Answered,
    };
    desk.run(25);
    desk.asked(1);
    desk.feed(0, Input::Resign { to: None });
    assert_eq!(desk.leaders(), [] as [usize; 0]);
    assert!(
        desk.asked(1).iter().any(is_kept_alive),
        "it is renewed first"
    );
    desk.nodes[1].fate = EVERYTHING;
    desk.run(4);
    assert_eq!(desk.leaders(), [1]);
    assert!(desk.tenure(1).unwrap().until.as_micros() > desk.now + 20 * SECOND);
}

#[test]
fn two_of_one_name_are_told_apart_by_their_leases() {
    for way in WAYS {
        let mut desk = all(way, &["anna", "anna"]);
        desk.run(20);
        assert_eq!(desk.leaders(), [0]);
        desk.feed(0, Input::Resign { to: None });
        assert_eq!(desk.leaders(), [1]);
    }
}

/// A restore from a snapshot: revisions fall back, and the guard could not tell the terms apart.
#[test]
fn a_revision_that_fell_back_is_refused() {
    for way in WAYS {
        let mut desk = Desk::new([]);
        desk.store.revision = 100;
        desk.join(way(common("anna")));
        let place = desk.nodes[0].machine.place().unwrap();
        assert_eq!((place.revision, desk.leaders()), (101, vec![0]));
        desk.store.restore(0);
        desk.run(4);
        assert_eq!(desk.leaders(), [] as [usize; 0]);
        assert!(
            desk.nodes[0]
                .machine
                .refusals()
                .count(Refusal::TokenFellBack)
                > 0
        );
        desk.store.revision = 1_000;
        desk.run(10);
        assert_eq!(desk.leaders(), [0]);
    }
}

#[test]
fn answers_that_cannot_be_are_refused_and_change_nothing() {
    let key = |revision| tenure::lease::etcd::KeyValue {
        key: "elect/1".into(),
        value: "".into(),
        create_revision: revision,
        lease: LeaseId(1),
    };
    let hostile = [
        Reply::Granted(Duration::ZERO),
        Reply::Alive(Duration::from_micros(u64::MAX)),
        Reply::LeaseExists,
        Reply::Revoked,
        Reply::Txn {
            revision: u64::MAX,
            succeeded: false,
            found: None,
        },
        Reply::Range {
            revision: u64::MAX,
            found: vec![key(u64::MAX); 9],
        },
        Reply::Watched(vec![]),
        Reply::WatchEnded,
    ];
    for way in WAYS {
        for reply in &hostile {
            let mut desk = all(way, &["anna", "ben"]);
            // Every request of the waiter is answered like this, and once more.
            desk.nodes[1].fate = NOTHING;
            desk.asked(1);
            for _ in 0..40 {
                desk.run(1);
                let asked = desk.nodes[1].asked.clone();
                desk.nodes[1].asked.clear();
                for (ticket, _) in asked {
                    for _ in 0..2 {
                        desk.feed(1, Input::Reply(ticket, Ok(reply.clone())));
                    }
                }
            }
            assert!(desk.nodes[1].machine.refusals().total() > 0, "{reply:?}");
            assert_eq!(desk.leaders(), [0], "{reply:?}");
        }
        // To a former life, and to nothing.
        let mut desk = all(way, &["anna"]);
        let strange = Ticket {
            incarnation: 0,
            number: 1,
        };
        desk.feed(0, Input::Reply(strange, Err(Unknown)));
        assert_eq!(
            desk.nodes[0]
                .machine
                .refusals()
                .count(Refusal::UnknownTicket),
            1
        );
    }
}

#[test]
fn what_etcd_cannot_have_is_refused_with_the_remedy() {
    let mut config = queue(common("anna"));
    config.common.timing.ttl = Duration::from_millis(9_500);
    let refused = config.budget();
    assert_eq!(
        refused,
        Err(BudgetError::NotSeconds(Duration::from_millis(9_500)))
    );
    assert!(refused.unwrap_err().to_string().contains("round ttl up"));
    let mut config = single(common("anna"));
    config.mode = Mode::Single("".into());
    assert_eq!(config.budget(), Err(BudgetError::NoKey));
    let lines = Claimant::new(Identity::new("anna\nben").unwrap());
    assert_eq!(
        queue(Common::new(lines)).budget(),
        Err(BudgetError::LineBreak)
    );
    // What is left is the family's business; a silent watch costs a look.
    let (budget, common) = (queue(common("anna")).budget().unwrap(), common("anna"));
    assert!(budget.takeover > common.budget().unwrap().takeover + common.timing.renew);
}

/// C4, C10: a machine shows that its tenure has lapsed before it is told anything, and is the same at any time.
#[test]
fn belief_ends_by_itself_and_time_is_relative() {
    for way in WAYS {
        let desk = all(way, &["anna"]);
        let until = desk.tenure(0).unwrap().until;
        assert_eq!(desk.nodes[0].machine.standing(until), Standing::Unknown);
        let print = |start: u64| {
            use std::hash::{DefaultHasher, Hasher};
            let mut desk = Desk::new([]);
            desk.now = start;
            desk.join(way(common("anna")));
            let mut hasher = DefaultHasher::new();
            desk.run(1);
            let now = Instant::from_micros(desk.now);
            desk.nodes[0].machine.fingerprint(now, &mut hasher);
            hasher.finish()
        };
        assert_eq!(print(0), print(77 * SECOND));
    }
}
