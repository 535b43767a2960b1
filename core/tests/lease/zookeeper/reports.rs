//! By hand: what people reported of elections over ZooKeeper, and what is told of nodes and sessions that others touch.

use super::desk::{Desk, Fate, SECOND};
use super::{common, config};
use tenure::lease::zookeeper::{
    Config, MAX_CANDIDATES, Path, Reply, Request, SessionId, Stat, ZooKeeper,
};
use tenure::lease::{
    Boot, BudgetError, Claimant, Config as Common, Identity, Refusal, Refusals, Timing,
};
use tenure::{Duration, Election, Event, Input, Instant, Standing, Ticket, Token, Unknown, Why};

fn node(name: &str) -> tenure::NodeId {
    Identity::new(name).unwrap().node()
}

fn all(names: &[&str]) -> Desk {
    Desk::new(names.iter().map(|name| config(common(name))))
}

fn watched(requests: &[Request]) -> Vec<&Path> {
    let mut all = Vec::new();
    for request in requests {
        if let Request::Data {
            path, watch: true, ..
        } = request
        {
            all.push(path);
        }
    }
    all.dedup();
    all
}

fn writes(request: &Request) -> bool {
    matches!(request, Request::SetData { .. })
}

fn creates(request: &Request) -> bool {
    matches!(request, Request::Create { .. })
}

fn deletes(request: &Request) -> bool {
    matches!(request, Request::Delete { .. })
}

fn lists(request: &Request) -> bool {
    matches!(request, Request::Children { .. })
}

const NOTHING: fn(&Request) -> Fate = |_| Fate::Lost;
const EVERYTHING: fn(&Request) -> Fate = |_| Fate::Answered;
const NOBODY: [usize; 0] = [];

/// One server that stands alone, with sessions of so many seconds.
fn alone(name: &str, seconds: u64) -> Config {
    let common = Common {
        timing: Timing::of(Duration::from_secs(seconds)),
        ..common(name)
    };
    Config {
        alone: true,
        ..config(common)
    }
}

#[test]
fn the_queue_is_served_in_order_and_each_watches_the_one_before_it() {
    let mut desk = all(&["anna", "ben", "cleo"]);
    assert_eq!(desk.leaders(), [0]);
    let queue = desk.store.queue();
    for (me, of) in [(0, 0), (1, 0), (2, 1)] {
        assert_eq!(desk.own(me), queue[me]);
        let asked = desk.asked(me);
        assert_eq!(watched(&asked), [&queue[of]]);
    }
    // Who is third learns who leads, though it watches another.
    let leads = desk.follows(2).unwrap();
    let czxid = |desk: &Desk, me: usize| desk.store.nodes[&desk.own(me)].stat.czxid;
    assert_eq!(
        (leads.node, leads.token),
        (node("anna"), Token::new(0, czxid(&desk, 0)))
    );
    desk.asked(1);
    desk.feed(0, Input::Resign { to: None });
    assert_eq!(desk.leaders(), [1]);
    // Told that it is gone, it does not look at that first.
    assert!(lists(&desk.asked(1)[0]));
    assert_eq!(
        desk.tenure(1).unwrap().token,
        Token::new(0, czxid(&desk, 1))
    );
    // Nobody else was woken.
    assert!(!desk.asked(2).iter().any(lists));
    desk.run(4);
    assert_eq!(desk.follows(2).map(|leader| leader.node), Some(node("ben")));
}

/// Writes go to a majority: only who leads and who is next make any, so that the next need not begin with it.
#[test]
fn who_waits_further_back_writes_nothing() {
    let mut desk = all(&["anna", "ben", "cleo"]);
    desk.run(30);
    let written: Vec<_> = (0..3)
        .map(|me| desk.asked(me).iter().filter(|asked| writes(asked)).count())
        .collect();
    assert!(written[0] >= 10 && written[1] >= 10, "{written:?}");
    assert_eq!(written[2], 0);
}

/// LS-4 as this scheme could have it: an answer that takes long extends to its own send plus the session's time.
#[test]
fn a_late_answer_extends_from_its_own_send() {
    let mut desk = Desk::new([alone("anna", 9)]);
    desk.nodes[0].fate = |request| match request {
        Request::SetData { .. } => Fate::Unanswered,
        _ => Fate::Answered,
    };
    desk.run(3);
    let asked = desk.nodes[0].asked.clone();
    let (ticket, _) = asked.iter().find(|(_, asked)| writes(asked)).unwrap();
    let before = desk.tenure(0).unwrap().until;
    desk.run(4);
    let stat = desk.store.nodes[&desk.own(0)].stat;
    desk.feed(0, Input::Reply(*ticket, Ok(Reply::Set(stat))));
    let until = desk.tenure(0).unwrap().until;
    assert!(until > before && until.as_micros() < 12 * SECOND, "{until}");
}

/// A server that answered a write may die before it tells the leader whom it heard of: the leader counts on from what it heard
/// before. So each write proves the one before it.
#[test]
fn a_write_counts_once_another_has_gone_through() {
    let mut desk = all(&["anna"]);
    let belief = config(common("anna")).budget().unwrap().belief;
    let opened = Instant::ZERO;
    assert_eq!(desk.tenure(0).unwrap().until, opened + belief);
    let mut sent = vec![opened];
    while sent.len() < 5 {
        desk.asked(0);
        let before = desk.tenure(0).unwrap().until;
        desk.now += SECOND / 10;
        desk.run(0);
        if desk.asked(0).iter().any(writes) {
            let proven = sent[sent.len() - 1];
            assert_eq!(desk.tenure(0).unwrap().until, (proven + belief).max(before));
            sent.push(Instant::from_micros(desk.now));
        }
    }
}

/// And the server has a tick to tell it: what was written less than that before proves nothing yet.
#[test]
fn a_write_proves_what_was_answered_a_tick_before() {
    let mut slow = config(Common {
        timing: Timing {
            renew: Duration::from_secs(3),
            ..Timing::of(Duration::from_secs(30))
        },
        ..common("anna")
    });
    slow.tick_time = 5_000;
    let (belief, tick) = (slow.budget().unwrap().belief, Duration::from_secs(5));
    let mut desk = Desk::new([slow]);
    let mut sent = vec![Instant::ZERO];
    while sent.len() < 12 {
        desk.asked(0);
        desk.now += SECOND / 10;
        desk.run(0);
        if desk.asked(0).iter().any(writes) {
            let now = Instant::from_micros(desk.now);
            let proven = sent.iter().rev().find(|sent| **sent + tick <= now);
            let proven = *proven.unwrap_or(&Instant::ZERO);
            let until = desk.tenure(0).unwrap().until;
            assert!(until <= proven + belief, "{sent:?} {now}: {until}");
            sent.push(now);
        }
    }
    assert!(desk.tenure(0).unwrap().until > sent[6] + belief);
}

/// The same: the server dies with what it did not tell, and its client is cut off. The tenure is over before the session.
#[test]
fn what_a_server_did_not_tell_is_not_believed() {
    let mut desk = all(&["anna", "ben"]);
    desk.run(20);
    desk.asked(0);
    while !desk.asked(0).iter().any(writes) {
        desk.now += SECOND / 100;
        desk.run(0);
    }
    for server in 0..3 {
        desk.store.server_dies(server);
    }
    desk.nodes[0].fate = NOTHING;
    let mut both = 0;
    for _ in 0..1200 {
        desk.now += SECOND / 100;
        desk.run(0);
        both += usize::from(desk.leaders().len() > 1);
    }
    assert_eq!((both, desk.leaders()), (0, vec![1]));
}

/// LS-24, apache/curator#1211 (CURATOR-696): the session is over for the client, which finds its old node first on its
/// return, and claims it; the node goes later, and another leads too.
#[test]
fn a_node_of_a_former_session_is_not_claimed() {
    for deleted in [false, true] {
        let mut desk = all(&["anna", "ben"]);
        let (token, own) = (desk.tenure(0).unwrap().token, desk.own(0));
        desk.nodes[0].fate = if deleted {
            EVERYTHING
        } else {
            |request| match request {
                Request::Delete { .. } => Fate::Lost,
                _ => Fate::Answered,
            }
        };
        let session = desk.store.session_of(0);
        desk.store.take_for_lost(session);
        desk.serve();
        assert_eq!(desk.ends(0), [(token, Why::Taken)]);
        assert_eq!(desk.tenure(0), None);
        // It is not waited for either.
        assert_eq!(!desk.store.nodes.contains_key(&own), deleted);
        assert_eq!(desk.leaders(), if deleted { vec![1] } else { vec![] });
        desk.run(15);
        assert_eq!(desk.leaders(), [1]);
        assert!(desk.tenure(1).unwrap().token > token);
    }
}

/// LS-26, apache/curator#1239 (CURATOR-724): the parent is gone after the ensemble was rebuilt, and nobody registers again.
#[test]
fn a_parent_that_is_missing_is_created() {
    let mut desk = all(&["anna", "ben"]);
    let token = desk.tenure(0).unwrap().token;
    let zxid = desk.store.zxid;
    desk.store.rebuild(zxid);
    desk.serve();
    desk.run(1);
    assert_eq!(desk.leaders().len(), 1);
    assert_eq!(desk.store.queue().len(), 2);
    let paths: Vec<_> = desk.store.nodes.keys().take(2).cloned().collect();
    assert_eq!(paths, ["/tenure".into(), Path::from("/tenure/elect")]);
    assert_eq!(desk.ends(0), [(token, Why::Taken)]);
    let leader = desk.leaders()[0];
    assert!(desk.tenure(leader).unwrap().token > token);
}

/// LS-26: a container goes when it is empty, between a look and what follows.
#[test]
fn a_parent_that_goes_between_look_and_creation_is_created() {
    let mut desk = Desk::new([]);
    let place = desk.join_with(config(common("anna")), |request| {
        if creates(request) {
            Fate::Lost
        } else {
            Fate::Answered
        }
    });
    desk.store.delete(&"/tenure/elect".into());
    desk.nodes[place].fate = EVERYTHING;
    desk.run(3);
    assert_eq!(desk.leaders(), [place]);
}

/// LS-28, apache/curator#575, #594 (CURATOR-54, CURATOR-73): word of the loss comes before the work began, and is forgotten.
/// Here the state decides, in whatever order they come.
#[test]
fn an_election_after_a_loss_is_suppressed() {
    let mut desk = Desk::new([]);
    let place = desk.join_with(config(common("anna")), |request| match request {
        Request::Data { .. } => Fate::Unanswered,
        _ => Fate::Answered,
    });
    let asked = desk.nodes[place].asked.clone();
    let of_own = |(_, asked): &&(Ticket, Request)| matches!(asked, Request::Data { .. });
    let (ticket, _) = asked.iter().find(of_own).unwrap();
    let own = desk.store.nodes[&desk.own(place)].clone();
    let session = desk.store.session_of(place);
    desk.store.end(session);
    desk.serve();
    let stat = Reply::Data(own.data, own.stat);
    desk.feed(place, Input::Reply(*ticket, Ok(stat)));
    assert!(!desk.was_elected(place));
    desk.nodes[place].fate = EVERYTHING;
    desk.run(3);
    assert_eq!(desk.leaders(), [place]);
    assert!(desk.tenure(place).unwrap().token > Token::new(0, own.stat.czxid));
}

/// LS-29: under Curator's session policy with percent 100 a session of 30 s, last heard of at 0, is suspended at 20, taken for
/// lost at 50, and over for the servers at 30: two lead for two thirds of it. A tenure outlasts the connection, and not the
/// session.
#[test]
fn suspended_it_leads_to_its_own_deadline_and_no_longer() {
    let mut desk = Desk::new([alone("anna", 30), alone("ben", 30)]);
    let token = desk.tenure(0).unwrap().token;
    // The last that is heard of it is its entry, at 0.
    desk.nodes[0].fate = |request| match request {
        Request::Connect { .. } => Fate::Answered,
        _ => Fate::Lost,
    };
    desk.run(20);
    let session = desk.store.session_of(0);
    desk.store.tell(session, Reply::Suspended);
    desk.serve();
    assert!(desk.nodes[0].machine.is_suspended());
    assert_eq!((desk.leaders(), desk.ends(0)), (vec![0], vec![]));
    // 30 s at a pace within 1 %, less the margin of a tenth.
    let until = desk.tenure(0).unwrap().until.as_micros();
    assert!((26 * SECOND..27 * SECOND).contains(&until), "{until}");
    desk.nodes[0].deaf = true;
    desk.run(9);
    assert_eq!(
        (desk.leaders(), desk.ends(0)),
        (vec![], vec![(token, Why::Lapsed)])
    );
    desk.run(1);
    assert_eq!((desk.now, desk.leaders()), (30 * SECOND, vec![1]));
    // At 50 the library gives up: there is nothing left to lose.
    desk.run(20);
    assert_eq!((desk.leaders(), desk.ends(0).len()), (vec![1], 1));
}

#[test]
fn with_the_connection_comes_what_could_not_be_asked() {
    let mut desk = Desk::new([alone("anna", 30)]);
    let session = desk.store.session_of(0);
    desk.store.tell(session, Reply::Suspended);
    desk.run(3);
    desk.asked(0);
    let timeout = Duration::from_secs(30);
    desk.store
        .tell(session, Reply::Connected { session, timeout });
    desk.serve();
    assert!(!desk.nodes[0].machine.is_suspended());
    assert!(desk.asked(0).iter().any(writes));
    assert_eq!((desk.leaders(), desk.ends(0)), (vec![0], vec![]));
    let belief = desk.nodes[0].machine.budget().unwrap().belief;
    let until = Instant::from_micros(desk.now) + belief;
    assert_eq!(desk.tenure(0).unwrap().until, until);
}

/// It reconnects to servers that grant less than the first did: the session may be over before it is believed to be.
#[test]
fn a_session_that_becomes_shorter_is_given_up() {
    let mut desk = Desk::new([alone("anna", 30), alone("ben", 30)]);
    let session = desk.store.session_of(0);
    desk.store.tell(session, Reply::Suspended);
    let timeout = Duration::from_secs(12);
    desk.store
        .tell(session, Reply::Connected { session, timeout });
    desk.serve();
    assert_eq!(desk.leaders(), [1]);
    assert!(!desk.store.sessions.contains_key(&session));
    assert_eq!(desk.store.queue().len(), 2, "it queues anew, with another");
}

#[test]
fn belief_follows_what_is_negotiated() {
    for seconds in [8, 20] {
        let mut desk = Desk::new([]);
        let negotiated = Duration::from_secs(seconds);
        (desk.store.least, desk.store.most) = (negotiated, negotiated);
        desk.join(config(common("anna")));
        let budget = desk.nodes[0].machine.budget().unwrap();
        assert_eq!(budget.belief, common("anna").timing.belief(negotiated));
        assert_eq!(desk.tenure(0).unwrap().until, Instant::ZERO + budget.belief);
        desk.run(60);
        assert_eq!((desk.leaders(), desk.ends(0)), (vec![0], vec![]));
    }
}

#[test]
fn without_slack_in_what_is_negotiated_it_takes_no_part() {
    let mut desk = Desk::new([]);
    desk.store.most = Duration::from_secs(4);
    desk.join(config(common("anna")));
    let refused = desk.nodes[0].machine.budget();
    assert!(
        matches!(refused, Err(BudgetError::NoSlack { .. })),
        "{refused:?}"
    );
    desk.run(30);
    assert!(!desk.was_elected(0) && desk.store.queue().is_empty());
    // The servers are told better, and another session is asked for after a while.
    desk.store.most = Duration::from_secs(40);
    desk.run(20);
    assert_eq!(desk.leaders(), [0]);
}

/// LS-19 of etcd, which is the same here: resigning goes on until the node is gone.
#[test]
fn resigning_goes_on_until_the_node_is_gone_and_nothing_keeps_the_session() {
    for fate in [Fate::Lost, Fate::Unanswered, Fate::Doubtful, Fate::Refused] {
        let mut desk = all(&["anna"]);
        desk.nodes[0].fate = match fate {
            Fate::Lost => |_| Fate::Lost,
            Fate::Unanswered => |_| Fate::Unanswered,
            Fate::Doubtful => |_| Fate::Doubtful,
            _ => |_| Fate::Refused,
        };
        desk.asked(0);
        desk.feed(0, Input::Resign { to: None });
        assert_eq!(desk.leaders(), NOBODY);
        desk.run(4);
        let asked = desk.asked(0);
        assert!(asked.iter().filter(|asked| deletes(asked)).count() > 2);
        assert!(!asked.iter().any(writes));
        assert!(desk.nodes[0].machine.releasing());
        desk.nodes[0].fate = EVERYTHING;
        desk.run(2);
        assert!(desk.store.queue().is_empty());
        assert!(!desk.nodes[0].machine.releasing());
        // It stands back for a while, in a session of its own.
        assert_eq!((desk.leaders(), desk.store.sessions.len()), (vec![], 1));
        desk.run(13);
        assert_eq!(desk.leaders(), [0]);
    }
}

#[test]
fn resigning_ends_with_the_session() {
    let mut desk = all(&["anna"]);
    desk.nodes[0].fate = NOTHING;
    desk.feed(0, Input::Resign { to: None });
    desk.run(11);
    assert!(!desk.nodes[0].machine.releasing());
    desk.nodes[0].fate = EVERYTHING;
    desk.run(12);
    assert_eq!(desk.leaders(), [0]);
}

/// LS-20 of etcd's client: who stops waiting leaves its node in the queue.
#[test]
fn who_withdraws_takes_its_node_along() {
    let mut desk = all(&["anna", "ben", "cleo"]);
    let own = desk.own(1);
    let now = Instant::from_micros(desk.now);
    desk.nodes[1].machine.withdraw(now);
    desk.serve();
    assert!(!desk.store.nodes.contains_key(&own));
    desk.feed(0, Input::Resign { to: None });
    assert_eq!(desk.leaders(), [2]);
    desk.run(30);
    assert!(!desk.was_elected(1));
    // It looks on.
    let follows = desk.follows(1).map(|leader| leader.node);
    assert_eq!(follows, Some(node("cleo")));
}

#[test]
fn who_withdraws_before_it_has_a_session_has_nothing_to_give_up() {
    let mut desk = Desk::new([]);
    let place = desk.join_with(config(common("anna")), NOTHING);
    desk.nodes[place].machine.withdraw(Instant::ZERO);
    assert!(!desk.nodes[place].machine.releasing());
    desk.nodes[place].fate = EVERYTHING;
    desk.run(10);
    assert!(!desk.was_elected(place) && desk.store.queue().is_empty());
}

/// A session that an operator closes, or that ended while nobody looked.
#[test]
fn a_session_that_is_over_ends_the_tenure_at_the_first_word_of_it() {
    for deaf in [false, true] {
        let mut desk = all(&["anna", "ben"]);
        let token = desk.tenure(0).unwrap().token;
        desk.nodes[0].deaf = deaf;
        let session = desk.store.session_of(0);
        desk.store.end(session);
        desk.serve();
        // Until it hears of it both believe, and the token of the second is higher.
        assert_eq!(desk.leaders().len(), 1 + usize::from(deaf));
        assert!(desk.tenure(1).unwrap().token > token);
        desk.nodes[0].deaf = false;
        desk.run(4);
        assert_eq!(
            (desk.leaders(), desk.ends(0)),
            (vec![1], vec![(token, Why::Taken)])
        );
        assert_eq!(desk.store.queue().len(), 2, "it queues anew");
    }
}

#[test]
fn a_waiter_whose_session_is_over_queues_anew() {
    let mut desk = all(&["anna", "ben", "cleo"]);
    let before = desk.own(1);
    let session = desk.store.session_of(1);
    desk.store.end(session);
    desk.serve();
    assert_ne!(desk.own(1), before);
    desk.feed(0, Input::Resign { to: None });
    assert_eq!(desk.leaders(), [2], "who queues anew comes last");
}

/// §1.5, LS-R4: no answer comes to the creation of the node, which is there.
#[test]
fn a_node_that_was_created_in_doubt_is_found_and_used() {
    for fate in [Fate::Unanswered, Fate::Doubtful] {
        let mut desk = Desk::new([]);
        let place = desk.join_with(
            config(common("anna")),
            match fate {
                Fate::Unanswered => |request| match request {
                    Request::Create { .. } => Fate::Unanswered,
                    _ => Fate::Answered,
                },
                _ => |request| match request {
                    Request::Create { .. } => Fate::Doubtful,
                    _ => Fate::Answered,
                },
            },
        );
        let queue = desk.store.queue();
        assert_eq!((queue.len(), desk.leaders()), (1, vec![]));
        desk.run(3);
        assert_eq!((desk.store.queue(), desk.leaders()), (queue, vec![place]));
        let created = desk.asked(place).into_iter().filter(creates).count();
        assert_eq!(created, 1);
    }
}

/// LS-R4: and if the node does not want it any more by then, it goes with the session.
#[test]
fn a_node_that_was_created_in_doubt_goes_with_who_withdraws() {
    let mut desk = Desk::new([]);
    let place = desk.join_with(config(common("anna")), |request| {
        if creates(request) {
            Fate::Unanswered
        } else {
            Fate::Answered
        }
    });
    assert_eq!(desk.store.queue().len(), 1);
    desk.nodes[place].machine.withdraw(Instant::ZERO);
    desk.serve();
    assert!(desk.store.queue().is_empty());
}

/// The creation arrives after all, beside that of the attempt that followed it: what comes second is left behind the own one,
/// goes with it, and holds up nobody but those behind it.
#[test]
fn a_second_node_in_doubt_goes_with_the_session() {
    let mut desk = all(&["anna"]);
    let own = desk.own(0);
    let path: Path = own[..own.len() - 10].into();
    let session = desk.store.session_of(0);
    desk.store.create(&path, &"anna".into(), session);
    let ben = desk.join(config(common("ben")));
    desk.run(20);
    assert_eq!(desk.leaders(), [0]);
    desk.feed(0, Input::Resign { to: None });
    // It was not next in line, and keeps its session by writes from now on.
    desk.run(4);
    assert_eq!(desk.leaders(), [ben]);
}

/// The same, in the other order: the first arrives after the node looked for it and before the second, whose answer comes.
#[test]
fn a_node_of_its_own_before_its_own_is_deleted() {
    let mut desk = Desk::new([]);
    let place = desk.join_with(config(common("anna")), |request| {
        if creates(request) {
            Fate::Lost
        } else {
            Fate::Answered
        }
    });
    let asked = desk.nodes[place].asked.clone();
    let (ticket, request) = asked.iter().find(|(_, asked)| creates(asked)).unwrap();
    let Request::Create { session, path, .. } = request else {
        unreachable!("it creates")
    };
    let first = desk.store.create(path, &"anna".into(), *session);
    let second = desk.store.create(path, &"anna".into(), *session);
    let (Reply::Created(first), Reply::Created(own)) = (first, second.clone()) else {
        unreachable!("there is a parent")
    };
    desk.feed(place, Input::Reply(*ticket, Ok(second)));
    assert_eq!((desk.own(place), desk.leaders()), (own, vec![place]));
    assert!(!desk.store.nodes.contains_key(&first));
}

/// LS-R4: a write in doubt is followed by a version that is not as expected, by the own doing.
#[test]
fn a_version_that_the_own_write_raised_costs_no_tenure() {
    for fate in [Fate::Unanswered, Fate::Doubtful] {
        let mut desk = all(&["anna"]);
        desk.nodes[0].fate = match fate {
            Fate::Unanswered => |request| match request {
                Request::SetData { .. } => Fate::Unanswered,
                _ => Fate::Answered,
            },
            _ => |request| match request {
                Request::SetData { .. } => Fate::Doubtful,
                _ => Fate::Answered,
            },
        };
        desk.run(4);
        assert!(desk.store.nodes[&desk.own(0)].stat.version > 0);
        desk.nodes[0].fate = EVERYTHING;
        desk.run(30);
        assert_eq!((desk.leaders(), desk.ends(0)), (vec![0], vec![]));
        assert_eq!(desk.nodes[0].machine.refusals().total(), 0);
    }
}

/// Until a node has written its own, which ends so.
fn next_write(desk: &mut Desk, me: usize, fate: fn(&Request) -> Fate) {
    desk.asked(me);
    desk.nodes[me].fate = fate;
    while !desk.nodes[me].asked.iter().any(|(_, asked)| writes(asked)) {
        desk.now += SECOND / 1_000;
        desk.run(0);
    }
    desk.nodes[me].fate = EVERYTHING;
}

/// LS-R4: one is lost, or done and not answered. When that is noticed there is time for another, and none for a pause.
#[test]
fn a_write_that_is_lost_costs_no_tenure() {
    for fate in [
        (|request| match request {
            Request::SetData { .. } => Fate::Lost,
            _ => Fate::Answered,
        }) as fn(&Request) -> Fate,
        |request| match request {
            Request::SetData { .. } => Fate::Unanswered,
            _ => Fate::Answered,
        },
    ] {
        for deaf in [false, true] {
            let mut common = common("anna");
            // Less than half a pause is left of a belief after two renewals and a patience.
            common.timing.margin = common.timing.margin + Duration::from_millis(600);
            let mut desk = Desk::new([config(common)]);
            desk.nodes[0].deaf = deaf;
            for _ in 0..20 {
                next_write(&mut desk, 0, EVERYTHING);
                next_write(&mut desk, 0, EVERYTHING);
                next_write(&mut desk, 0, fate);
            }
            assert_eq!((desk.leaders(), desk.ends(0)), (vec![0], vec![]));
        }
    }
}

/// Somebody writes the own node whenever its version is known: it is written again, and not without a pause.
#[test]
fn a_version_that_is_raised_again_and_again_is_not_chased() {
    let mut machine = ZooKeeper::new(config(common("anna")), BOOT, Instant::ZERO).unwrap();
    let (mut now, mut version, mut written) = (Instant::ZERO, 0, 0);
    let mut led = false;
    while !led || machine.tenure().is_some() {
        led |= machine.tenure().is_some();
        machine.handle(now, Input::Timeout);
        while let Some(output) = machine.poll() {
            let tenure::Output::Request(ticket, request) = output else {
                continue;
            };
            let owner = SessionId(7);
            let reply = match request {
                Request::Connect { timeout } => Reply::Connected {
                    session: owner,
                    timeout,
                },
                Request::Create { path, .. } => Reply::Created(format!("{path}0000000000").into()),
                Request::Children { .. } => Reply::Children(
                    machine
                        .node()
                        .map_or_else(Vec::new, |own| vec![own.rsplit_once('/').unwrap().1.into()]),
                ),
                Request::Data { .. } => {
                    version += 1;
                    let stat = Stat {
                        czxid: 9,
                        version,
                        owner,
                    };
                    Reply::Data("mallory".into(), stat)
                }
                Request::SetData { .. } => {
                    written += 1;
                    assert!(written <= 22, "without a pause");
                    Reply::BadVersion
                }
                // When the tenure has lapsed.
                _ => Reply::NotDone,
            };
            machine.handle(now, Input::Reply(ticket, Ok(reply)));
        }
        now = machine.deadline().expect("it always has one");
    }
    // Two for each pause of half a second to a whole one, from the first renewal to the end of the belief.
    assert!(written >= 10, "{written}");
}

#[test]
fn a_version_that_is_not_as_expected_is_read_at_once() {
    let mut desk = all(&["anna"]);
    let own = desk.own(0);
    desk.nodes[0].deaf = true;
    // No look tells it before.
    desk.nodes[0].fate = |request| match request {
        Request::Data { .. } => Fate::Lost,
        _ => Fate::Answered,
    };
    desk.store.write(&own, &"mallory".into());
    desk.asked(0);
    let mut asked = Vec::new();
    while !asked.iter().any(writes) {
        desk.now += SECOND / 1_000;
        desk.run(0);
        asked = desk.asked(0);
    }
    let place = asked.iter().position(writes).unwrap();
    assert!(
        matches!(asked[place + 1], Request::Data { .. }),
        "{asked:?}"
    );
}

#[test]
fn what_somebody_writes_over_is_written_again() {
    let mut desk = all(&["anna", "ben"]);
    let own = desk.own(0);
    desk.store.write(&own, &"mallory".into());
    desk.run(7);
    assert_eq!(&*desk.store.nodes[&own].data, "anna");
    assert_eq!((desk.leaders(), desk.ends(0)), (vec![0], vec![]));
}

#[test]
fn a_node_that_somebody_deletes_ends_the_tenure_and_is_created_anew() {
    for deaf in [false, true] {
        let mut desk = all(&["anna"]);
        let (token, own) = (desk.tenure(0).unwrap().token, desk.own(0));
        desk.nodes[0].deaf = deaf;
        desk.store.delete(&own);
        // To be told is enough: nothing is answered.
        while let Some((_, ticket, reply)) = desk.store.said() {
            if !deaf {
                let now = Instant::from_micros(desk.now);
                let told = Input::Reply(ticket, Ok(reply));
                desk.nodes[0].machine.handle(now, told);
            }
        }
        assert_eq!(desk.leaders().len(), usize::from(deaf));
        desk.nodes[0].fate = EVERYTHING;
        desk.run(4);
        assert_eq!(desk.ends(0), [(token, Why::Taken)]);
        assert_ne!(desk.own(0), own);
        assert!(desk.tenure(0).unwrap().token > token);
    }
}

#[test]
fn a_watch_that_is_silent_costs_no_more_than_a_look() {
    for lost in [false, true] {
        let mut desk = all(&["anna", "ben"]);
        desk.nodes[1].deaf = !lost;
        if lost {
            desk.store.forget_watches(1);
        }
        desk.feed(0, Input::Resign { to: None });
        assert_eq!(desk.leaders(), NOBODY);
        desk.run(3);
        assert_eq!(desk.leaders(), [1]);
    }
}

#[test]
fn what_is_proclaimed_is_written_until_it_is_there() {
    for me in [0, 2] {
        let mut desk = all(&["anna", "ben", "cleo"]);
        let own = desk.own(me);
        let name = ["anna", "ben", "cleo"][me];
        desk.nodes[me].fate = |request| match request {
            Request::SetData { .. } => Fate::Refused,
            _ => Fate::Answered,
        };
        desk.nodes[me]
            .machine
            .proclaim(Instant::ZERO, "v2")
            .unwrap();
        desk.serve();
        assert_eq!(&*desk.store.nodes[&own].data, name);
        desk.nodes[me].fate = EVERYTHING;
        desk.run(4);
        assert_eq!(*desk.store.nodes[&own].data, format!("{name}\nv2"));
        assert_eq!((desk.leaders(), desk.ends(0)), (vec![0], vec![]));
        if me == 0 {
            let holder = desk.nodes[1].machine.holder();
            let metadata = holder.map(|holder| holder.metadata().to_owned());
            assert_eq!(metadata.as_deref(), Some("v2"));
        } else {
            // Once, and not for ever.
            desk.asked(me);
            desk.run(10);
            assert!(!desk.asked(me).iter().any(writes));
        }
        let long = "x".repeat(5_000);
        let refused = desk.nodes[me].machine.proclaim(Instant::ZERO, &long);
        assert!(refused.is_err());
    }
}

/// LS-22 of etcd's users: an observer is told that nobody leads, and at once of who comes.
#[test]
fn an_observer_is_told_that_nobody_leads() {
    let observer = Common {
        candidate: false,
        ..common("olga")
    };
    let mut desk = Desk::new([config(observer)]);
    assert_eq!(desk.follows(0), None);
    // The parent is not there yet: that it comes is seen at the next look.
    let told = common("anna").claimant.with_metadata("10.0.0.1").unwrap();
    let anna = Common {
        claimant: told.clone(),
        ..common("anna")
    };
    let place = desk.join(config(anna));
    desk.run(3);
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
    // Where there is a parent, it hears of the next one at once.
    desk.join(config(common("ben")));
    assert_eq!(desk.follows(0).map(|leader| leader.node), Some(node("ben")));
    let asked = desk.asked(0);
    assert!(!asked.iter().any(|asked| creates(asked) || writes(asked)));
}

#[test]
fn two_of_one_name_are_told_apart_by_their_guids() {
    let mut desk = all(&["anna", "anna"]);
    desk.run(20);
    assert_eq!(desk.leaders(), [0]);
    desk.feed(0, Input::Resign { to: None });
    assert_eq!(desk.leaders(), [1]);
}

/// The number of a node is 32 bits with a sign: after the last comes the least, and as a text `-` sorts before every digit.
/// Who comes then is still behind who was there.
#[test]
fn past_the_last_number_the_queue_goes_on() {
    let mut desk = all(&["olga"]);
    let parent: Path = "/tenure/elect".into();
    desk.store.nodes.get_mut(&parent).unwrap().next = i32::MAX - 1;
    let places: Vec<_> = ["anna", "ben", "cleo"]
        .map(|name| desk.join(config(common(name))))
        .to_vec();
    let ends: Vec<_> = places
        .iter()
        .map(|me| desk.own(*me).rsplit("-n_").next().unwrap().to_owned())
        .collect();
    assert_eq!(ends, ["2147483646", "2147483647", "-2147483648"]);
    // The first was there long before.
    desk.nodes[0]
        .machine
        .withdraw(Instant::from_micros(desk.now));
    desk.serve();
    for me in places {
        assert_eq!(desk.leaders(), [me]);
        desk.nodes[me]
            .machine
            .withdraw(Instant::from_micros(desk.now));
        desk.serve();
    }
}

/// Where the number does not go beyond the last, all have the same, and no order: who leads is left alone, and the others make
/// way and try again.
#[test]
fn where_the_numbers_are_used_up_one_leads_all_the_same() {
    let mut desk = Desk::new([]);
    desk.store.create("/tenure", &"".into(), SessionId::NONE);
    let parent: Path = "/tenure/elect".into();
    desk.store.create(&parent, &"".into(), SessionId::NONE);
    desk.store.nodes.get_mut(&parent).unwrap().next = i32::MAX;
    desk.store.sticks = true;
    for name in ["anna", "ben", "cleo"] {
        desk.join(config(common(name)));
    }
    for _ in 0..30 {
        desk.run(1);
        assert_eq!(desk.leaders(), [0]);
    }
    desk.nodes[0]
        .machine
        .withdraw(Instant::from_micros(desk.now));
    desk.serve();
    desk.run(20);
    assert_eq!(desk.leaders().len(), 1);
    let leader = desk.leaders()[0];
    assert!(desk.tenure(leader).unwrap().token > desk.ends(0)[0].0);
}

/// The ensemble is restored from a backup, or rebuilt: its transactions are counted from an earlier one on.
#[test]
fn a_transaction_number_that_fell_back_is_refused() {
    let mut desk = Desk::new([]);
    desk.store.zxid = 100;
    desk.join(config(common("anna")));
    assert_eq!(desk.leaders(), [0]);
    desk.store.rebuild(0);
    desk.serve();
    desk.run(4);
    assert_eq!(desk.leaders(), NOBODY);
    let refused = desk.nodes[0].machine.refusals();
    assert!(refused.count(Refusal::TokenFellBack) > 0);
    desk.store.zxid = 1_000;
    desk.run(10);
    assert_eq!(desk.leaders(), [0]);
}

/// Answers overtake each other: a list from before the own node was created does not end the wait for it.
#[test]
fn an_older_list_says_nothing_of_the_own_node() {
    let mut desk = all(&["anna"]);
    let place = desk.join_with(config(common("ben")), |request| match request {
        Request::Children { .. } => Fate::Unanswered,
        _ => Fate::Answered,
    });
    let asked = desk.nodes[place].asked.clone();
    let (ticket, _) = asked.iter().find(|(_, asked)| lists(asked)).unwrap();
    desk.nodes[place].fate = EVERYTHING;
    desk.run(3);
    let own = desk.own(place);
    let before = Reply::Children(vec![]);
    desk.feed(place, Input::Reply(*ticket, Ok(before)));
    assert_eq!(desk.own(place), own);
    assert_eq!(desk.leaders(), [0]);
}

fn stat(czxid: u64) -> Stat {
    Stat {
        czxid,
        version: i32::MIN,
        owner: SessionId(i64::MIN),
    }
}

#[test]
fn answers_that_cannot_be_are_refused_and_change_nothing() {
    let hostile = [
        Reply::Connected {
            session: SessionId::NONE,
            timeout: Duration::from_micros(u64::MAX),
        },
        Reply::Connected {
            session: SessionId(7),
            timeout: Duration::ZERO,
        },
        Reply::Closed,
        Reply::Created("/somewhere/else".into()),
        Reply::Created("".into()),
        Reply::NodeExists,
        Reply::Children(vec!["".into(), "x-n_".into(), "/".into()]),
        Reply::Children(vec!["0-n_99999999999".into(); 3]),
        Reply::Data("".into(), stat(u64::MAX)),
        Reply::Data("x".repeat(100_000).into(), stat(0)),
        Reply::Set(stat(u64::MAX)),
        Reply::Deleted,
        Reply::NoNode,
        Reply::BadVersion,
        Reply::NotDone,
    ];
    for reply in &hostile {
        let mut desk = all(&["anna", "ben"]);
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
    let mut desk = all(&["anna"]);
    let strange = Ticket {
        incarnation: 0,
        number: 1,
    };
    desk.feed(0, Input::Reply(strange, Err(Unknown)));
    let refused = desk.nodes[0].machine.refusals();
    assert_eq!(refused.count(Refusal::UnknownTicket), 1);
}

/// Nothing is copied of a list that is too long, and nothing comes of it.
#[test]
fn a_list_of_a_million_names_is_refused() {
    let name = "00000000000000000000000000000001-n_0000000001";
    for length in [MAX_CANDIDATES + 1, 1_000_000] {
        let mut desk = Desk::new([]);
        let place = desk.join_with(config(common("anna")), |request| match request {
            Request::Children { .. } => Fate::Unanswered,
            _ => Fate::Answered,
        });
        let asked = desk.nodes[place].asked.clone();
        let (ticket, _) = asked.iter().find(|(_, asked)| lists(asked)).unwrap();
        let many = Reply::Children(vec![name.into(); length]);
        let now = Instant::from_micros(desk.now);
        let machine = &mut desk.nodes[place].machine;
        let counted = allocation_counter::measure(|| {
            machine.handle(now, Input::Reply(*ticket, Ok(many)));
        });
        // The counts of what was refused, for which there is no room before the first.
        let counts = size_of::<Refusals>() as u64;
        assert_eq!((counted.count_total, counted.bytes_total), (1, counts));
        assert_eq!(machine.refusals().count(Refusal::TooLong), 1);
        desk.nodes[place].fate = EVERYTHING;
        desk.run(3);
        assert_eq!(desk.leaders(), [place]);
    }
}

#[test]
fn what_zookeeper_cannot_have_is_refused_with_the_remedy() {
    for parent in ["", "/", "elect", "/elect/", "/a//b", &"/x".repeat(600)] {
        let refused = Config::new(parent, common("anna").claimant).budget();
        assert_eq!(refused, Err(BudgetError::NoPath), "{parent}");
        let text = refused.unwrap_err().to_string();
        assert!(text.contains("name a path"), "{text}");
    }
    let lines = Claimant::new(Identity::new("anna\nben").unwrap());
    assert_eq!(
        Config::new("/elect", lines).budget(),
        Err(BudgetError::LineBreak)
    );
    // What the servers do not tell in time costs slack, which there must be.
    let mut short = config(common("anna"));
    short.common.timing = Timing::of(Duration::from_secs(6));
    assert!(matches!(short.budget(), Err(BudgetError::NoSlack { .. })));
    assert!(ZooKeeper::new(short.clone(), BOOT, Instant::ZERO).is_err());
    short.alone = true;
    assert!(short.budget().is_ok());
}

/// Curator asks for 60 s, and servers with the default tick grant 20 ticks.
#[test]
fn a_latch_of_curator_leads_in_what_it_is_granted() {
    let latch = Config::curator("/elect", common("anna").claimant);
    // A call that hangs is given up on after 15 seconds, and the belief is over before a second one has come through.
    assert_eq!(latch.budget().unwrap().outage, Duration::ZERO);
    assert!(config(common("anna")).budget().unwrap().outage > Duration::from_millis(400));
    let mut desk = Desk::new([]);
    desk.store.most = Duration::from_secs(40);
    desk.join(latch);
    desk.run(300);
    assert_eq!((desk.leaders(), desk.ends(0)), (vec![0], vec![]));
    let until = desk.tenure(0).unwrap().until.as_micros();
    assert!(until < desk.now + 40 * SECOND, "{until}");
}

const BOOT: Boot = Boot {
    incarnation: 1,
    seed: 1,
};

/// C4, C10: a machine shows that its tenure has lapsed before it is told anything, and is the same at any time.
#[test]
fn belief_ends_by_itself_and_time_is_relative() {
    let desk = all(&["anna"]);
    let until = desk.tenure(0).unwrap().until;
    assert_eq!(desk.nodes[0].machine.standing(until), Standing::Unknown);
    let print = |start: u64| {
        use std::hash::{DefaultHasher, Hasher};
        let mut desk = Desk::new([]);
        desk.now = start;
        desk.join(config(common("anna")));
        let mut hasher = DefaultHasher::new();
        desk.run(1);
        let now = Instant::from_micros(desk.now);
        desk.nodes[0].machine.fingerprint(now, &mut hasher);
        hasher.finish()
    };
    assert_eq!(print(0), print(77 * SECOND));
}
