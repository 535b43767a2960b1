//! Schedules that begin where the others end: a promoted replica that dies, clocks that jump in mid-failover, masters that share
//! their epochs, files that are written and not heard of.

use super::desk::{Desk, Flight};
use super::plan::{MS, Plan, SEC, server};
use super::votes::{Alone, Done, ask, hello};
use tenure::sentinel::{
    Hello, Invariant, Life, MasterName, Message, News, Refusal, Report, Role, Rule, RunId, Stage,
    Switched,
};
use tenure::{Event, Input, NodeId, Ticket};

const A: MasterName = MasterName(0);
const S: [NodeId; 4] = [NodeId(0), NodeId(1), NodeId(2), NodeId(3)];

fn at_stage(desk: &Desk, id: NodeId, stage: Stage) -> bool {
    let machine = desk.seats[&id].machine.as_ref();
    let failover = machine.and_then(|machine| machine.master(A)?.failover());
    failover.is_some_and(|(at, _)| at == stage)
}

fn leader_at(desk: &Desk, stage: Stage) -> Option<NodeId> {
    S[1..].iter().copied().find(|id| at_stage(desk, *id, stage))
}

/// SEN-F6: the promoted one dies before the others follow it, and only as many sentinels are left as a majority takes. The one that
/// carried the failover out must hear when they hold the new master to be down, and vote.
#[test]
fn a_promoted_one_that_dies_is_replaced_too() {
    let mut desk = Desk::new(Plan {
        replicas: 3,
        ..Plan::default()
    });
    desk.run_for(12 * SEC);
    desk.crash(server(0, 0));
    let reconf = |desk: &Desk| leader_at(desk, Stage::ReconfReplicas).is_some();
    assert!(desk.run_till(20 * SEC, reconf));
    let leader = leader_at(&desk, Stage::ReconfReplicas).unwrap();
    let promoted = desk.machine(leader).master(A).unwrap().promoted().unwrap();
    // One replica is not reached by the order, so that the failover is not over when another follows already.
    let deaf = (1..=3)
        .map(|place| server(0, place))
        .rfind(|node| *node != promoted);
    desk.gate = Some(Box::new(move |_, flight: &Flight| {
        Some(flight.to) != deaf || !matches!(flight.message, Message::ReplicaOf(_))
    }));
    let done = |desk: &Desk| !desk.told("+slave-reconf-done").is_empty();
    assert!(desk.run_till(20 * SEC, done));
    let gone = S[1..].iter().copied().find(|id| *id != leader).unwrap();
    assert!(at_stage(&desk, leader, Stage::ReconfReplicas));
    desk.crash(gone);
    desk.crash(promoted);
    let other = |desk: &Desk| {
        let left = S[1..].iter().copied().filter(|id| *id != gone);
        left.map(|id| desk.machine(id).leader_of(A).unwrap().node)
            .all(|node| node != promoted && node != server(0, 0))
    };
    assert!(
        desk.run_till(90 * SEC, other),
        "{}",
        Invariant::FailoverCompletes.name()
    );
    assert_eq!(desk.judge.broken(), []);
}

/// The price of `CandidateFollows`: the promoted one dies before anybody else follows it, and the old master is gone. As shipped,
/// the replica that is left is promoted, with whatever it has; here nobody is, until the promoted one is back.
#[test]
fn nobody_is_promoted_who_has_not_followed_whoever_was_promoted_last() {
    let schedule = |rules| {
        let mut desk = Desk::new(Plan {
            rules,
            ..Plan::default()
        });
        desk.run_for(12 * SEC);
        desk.crash(server(0, 0));
        let told = |desk: &Desk| !desk.told("+promoted-slave").is_empty();
        assert!(desk.run_till(20 * SEC, told));
        let News::PromotedSlave(_, promoted) = desk.told("+promoted-slave")[0].2 else {
            panic!("it was told");
        };
        desk.gate = Some(Box::new(|_, flight: &Flight| {
            !matches!(flight.message, Message::ReplicaOf(_))
        }));
        let replaced = |desk: &Desk| desk.told("+switch-master").len() == 3;
        assert!(desk.run_till(20 * SEC, replaced));
        desk.crash(promoted);
        desk.run_for(10 * SEC);
        desk.gate = None;
        desk.run_for(120 * SEC);
        let writable = desk.writable(0);
        desk.start(promoted);
        desk.run_for(60 * SEC);
        (writable, promoted, desk)
    };
    let (writable, promoted, off) = schedule(Switched::without(&[Rule::CandidateFollows]));
    assert_eq!(writable.len(), 1);
    assert_eq!(off.data(promoted).role(), Role::Replica);
    let (writable, promoted, on) = schedule(Switched::default());
    assert_eq!(writable, []);
    assert_eq!(on.writable(0), [promoted]);
    assert_eq!(on.judge.broken(), []);
}

/// SEN-R3 in each stage of a failover: it goes on from where it was when the tilt is over, or is given up, and is done in the end.
#[test]
fn a_failover_in_tilt_takes_no_step() {
    for stage in [
        Stage::WaitStart,
        Stage::SelectReplica,
        Stage::SendReplicaOfNoOne,
        Stage::WaitPromotion,
        Stage::ReconfReplicas,
    ] {
        let mut desk = Desk::new(Plan {
            failover_timeout: 60 * SEC,
            ..Plan::default()
        });
        desk.run_for(12 * SEC);
        desk.crash(server(0, 0));
        assert!(desk.run_till(20 * SEC, |desk| leader_at(desk, stage).is_some()));
        let leader = leader_at(&desk, stage).unwrap();
        desk.jump(leader, 3 * SEC);
        assert!(desk.run_till(SEC, |desk| desk.machine(leader).is_in_tilt()));
        // The clock is looked at before anything else is.
        assert!(at_stage(&desk, leader, stage), "{stage:?}");
        desk.run_for(25 * SEC);
        let machine = desk.machine(leader);
        assert!(machine.is_in_tilt());
        assert!(at_stage(&desk, leader, stage), "{stage:?}");
        let replaced = |desk: &Desk| desk.writable(0).len() == 1;
        assert!(desk.run_till(200 * SEC, replaced), "{stage:?}");
        desk.run_for(30 * SEC);
        assert_eq!(desk.judge.broken(), [], "{stage:?}");
    }
}

/// C1: an order, and word of an election, wait for the file; so does the end of a failover.
#[test]
fn nothing_is_told_of_a_failover_before_the_file_has_it() {
    let mut desk = Desk::new(Plan {
        replicas: 1,
        ..Plan::default()
    });
    desk.run_for(12 * SEC);
    let told = |desk: &Desk| desk.events.iter().filter(|(_, id, _)| *id == S[1]).count();
    desk.plan.disk = (3 * SEC, 3 * SEC);
    assert!(desk.failover(S[1], 0));
    desk.run_for(2 * SEC);
    assert_eq!(
        (told(&desk), at_stage(&desk, S[1], Stage::WaitStart)),
        (0, true)
    );
    let waits = |desk: &Desk| at_stage(desk, S[1], Stage::WaitPromotion);
    assert!(desk.run_till(5 * SEC, waits));
    let reconf = |desk: &Desk| at_stage(desk, S[1], Stage::ReconfReplicas);
    assert!(desk.run_till(5 * SEC, reconf));
    // Nobody else is to follow: it is over as soon as the file names the promoted one.
    desk.run_for(2 * SEC);
    assert!(reconf(&desk));
    let established = |desk: &Desk| {
        let mut own = desk.events.iter().filter(|(_, id, _)| *id == S[1]);
        own.any(|(_, _, event)| matches!(event, Event::Established(_)))
    };
    assert!(!established(&desk));
    desk.run_for(6 * SEC);
    assert!(established(&desk) && !reconf(&desk));
    assert_eq!(desk.judge.broken(), []);
}

/// SEN-V1, SEN-V5, SEN-V6: whatever rises goes to the disk, and what the disk is asked for is answered in its order.
#[test]
fn whatever_rises_is_written() {
    let mut one = Alone::new(&Plan::default());
    let old = server(0, 0);
    let (_, asked) = one.hear(2, hello(2, 9, old, 0));
    assert_eq!(asked[0].1.current_epoch, 9);
    let (_, asked) = one.hear(2, hello(2, 9, old, 5));
    let kept = &asked[0].1.masters[0];
    assert_eq!((kept.config_epoch, kept.address), (5, old));
    // An answer of the disk to another life is none.
    let (said, asked) = one.hear(2, ask(2, 10));
    assert!(said.is_empty());
    let (ticket, _) = asked[0];
    let other = Ticket {
        incarnation: ticket.incarnation - 1,
        ..ticket
    };
    assert!(one.take(Input::Reply(other, Ok(()))).0.is_empty());
    assert_eq!(one.machine.refusals().count(Refusal::UnknownTicket), 1);
    // Each answer waits for its own write.
    let (said, later) = one.hear(3, ask(3, 11));
    assert!(said.is_empty());
    let (said, _) = one.take(Input::Reply(ticket, Ok(())));
    assert!(
        matches!(said[..], [(NodeId(2), Message::Answer { epoch: 10, .. })]),
        "{said:?}"
    );
    let (said, _) = one.take(Input::Reply(later[0].0, Ok(())));
    assert!(
        matches!(said[..], [(NodeId(3), Message::Answer { epoch: 11, .. })]),
        "{said:?}"
    );
    // Late, and again, it says nothing new.
    assert!(one.take(Input::Reply(ticket, Ok(()))).0.is_empty());
}

/// What stands where SEN-V2 compares with the epoch of all masters: no vote at or below the own master's configuration, whose
/// candidate was overtaken; above it, whatever the epoch of all is.
#[test]
fn no_vote_is_given_below_the_configuration() {
    let mut one = Alone::new(&Plan::default());
    one.hear(2, hello(2, 9, server(0, 0), 5));
    assert_eq!((one.ask(3, 4), one.ask(3, 5)), (None, None));
    assert_eq!(one.machine.master(A).unwrap().leader_epoch(), 0);
    assert_eq!(one.ask(3, 6), Some((RunId(3), 6)));
    assert_eq!(one.ask(2, 8), Some((RunId(2), 8)));
    assert_eq!(one.machine.current_epoch(), 9);
}

/// SEN-V4: the quorum counts beside the majority.
#[test]
fn a_quorum_is_needed_beside_the_majority() {
    let mut desk = Desk::new(Plan {
        quorum: 3,
        ..Plan::default()
    });
    desk.run_for(12 * SEC);
    desk.crash(server(0, 0));
    // S3 says that it holds the master to be down; it is asked for no vote, and tries nothing itself.
    desk.gate = Some(Box::new(|_, flight: &Flight| match &flight.message {
        Message::Ask { candidate, .. } => {
            flight.from != S[3] && (candidate.is_none() || flight.to != S[3])
        }
        _ => true,
    }));
    desk.run_for(25 * SEC);
    assert!(!desk.told("-failover-abort-not-elected").is_empty());
    assert_eq!(desk.told("+elected-leader"), []);
}

/// Runs one machine on its own for so long; what it says.
fn pass(one: &mut Alone, span: u64) -> Vec<(NodeId, Message)> {
    let (mut said, end) = (Vec::new(), one.now + span);
    while one.now < end {
        one.now += 50 * MS;
        let (some, asked): Done = one.take(Input::Timeout);
        said.extend(some);
        for (ticket, _) in asked {
            said.extend(one.take(Input::Reply(ticket, Ok(()))).0);
        }
    }
    said
}

fn asks(said: &[(NodeId, Message)], of: u64) -> Vec<Ticket> {
    let to = said.iter().filter(|(to, _)| *to == NodeId(of));
    let query = |message: &Message| match message {
        Message::Ask { query, .. } => Some(*query),
        _ => None,
    };
    to.filter_map(|(_, message)| query(message)).collect()
}

fn answer(query: Ticket, down: bool, vote: Option<(RunId, u64)>) -> Message {
    Message::Answer {
        query,
        master: server(0, 0),
        down,
        leader: vote.map(|(leader, _)| leader),
        epoch: vote.map_or(0, |(_, epoch)| epoch),
    }
}

/// SEN-D3: an answer that was overtaken says nothing, an old one is forgotten, and so is what was said of another master.
#[test]
fn what_others_say_is_of_one_moment_and_one_master() {
    let mut one = Alone::new(&Plan::default());
    let said = pass(&mut one, 8 * SEC);
    let queries = asks(&said, 2);
    let [.., earlier, latest] = queries[..] else {
        panic!("{queries:?}");
    };
    let heard = |one: &Alone| {
        let sentry = &one.machine.master(A).unwrap().sentinels()[0];
        (sentry.holds_master_down(), sentry.vote())
    };
    let vote = Some((RunId(2), 3));
    one.hear(2, answer(latest, true, vote));
    assert_eq!(heard(&one), (true, vote));
    for late in [earlier, latest] {
        one.hear(2, answer(late, false, Some((RunId(3), 2))));
        assert_eq!(heard(&one), (true, vote));
    }
    pass(&mut one, 4 * SEC);
    assert_eq!(heard(&one), (true, vote));
    pass(&mut one, 2 * SEC);
    assert_eq!(heard(&one), (false, None));
    let said = pass(&mut one, 2 * SEC);
    one.hear(2, answer(*asks(&said, 2).last().unwrap(), true, vote));
    assert_eq!(heard(&one), (true, vote));
    one.hear(3, hello(3, 7, server(0, 1), 7));
    assert_eq!(heard(&one), (false, None));
}

/// A sign of life is an answer to a ping that waits, and what a server says of itself is what it said last.
#[test]
fn what_servers_say_counts_once_and_in_order() {
    let mut one = Alone::new(&Plan::default());
    let of = |said: &[(NodeId, Message)], ping: bool| {
        let to = said.iter().filter(|(to, _)| *to == server(0, 1));
        let query = |message: &Message| match message {
            Message::Ping { query } if ping => Some(*query),
            Message::Info { query } if !ping => Some(*query),
            _ => None,
        };
        to.filter_map(|(_, message)| query(message))
            .collect::<Vec<_>>()
    };
    let said = pass(&mut one, 3 * SEC);
    let [earlier, .., latest] = of(&said, false)[..] else {
        panic!("{said:?}");
    };
    let told = |query, offset| Message::Told {
        query,
        report: Report {
            role: Role::Replica,
            run: RunId(1),
            master: Some(server(0, 0)),
            link_down: None,
            priority: 100,
            offset,
        },
        replicas: [].into(),
    };
    one.hear(101, told(latest, 9));
    one.hear(101, told(earlier, 5));
    one.hear(101, told(latest, 6));
    let offset = |one: &Alone| one.machine.master(A).unwrap().replicas()[0].report();
    assert_eq!(offset(&one).unwrap().offset, 9);

    let pong = |query| Message::Pong {
        query,
        life: Life::Pong,
    };
    let first = *of(&said, true).last().unwrap();
    one.hear(101, pong(first));
    for _ in 0..10 {
        pass(&mut one, 500 * MS);
        one.hear(101, pong(first));
    }
    assert!(one.machine.master(A).unwrap().replicas()[0].is_down());
}

/// Whom a sentinel chooses when the better one, by its priority, has something against it.
fn chosen(prepare: impl Fn(&mut Desk)) -> NodeId {
    let mut desk = Desk::new(Plan::default());
    desk.configure(server(0, 1), |config| config.priority = 1);
    desk.run_for(15 * SEC);
    prepare(&mut desk);
    desk.crash(server(0, 0));
    desk.run_for(20 * SEC);
    let told = desk.told("+selected-slave");
    let News::SelectedSlave(_, node) = told[0].2 else {
        panic!("nobody was chosen");
    };
    assert_eq!(desk.judge.broken(), []);
    node
}

/// SEN-F3.
#[test]
fn who_is_astray_or_stale_or_long_without_its_master_is_not_chosen() {
    let (better, other) = (server(0, 1), server(0, 2));
    assert_eq!(chosen(|_| {}), better);
    let astray = |desk: &mut Desk| {
        desk.order(better, Some(other));
        // Until all have asked it.
        desk.run_for(11 * SEC);
        desk.order(better, Some(other));
    };
    assert_eq!(chosen(astray), other);
    let stale = |desk: &mut Desk| {
        desk.gate = Some(Box::new(move |_, flight: &Flight| {
            flight.from != better || !matches!(flight.message, Message::Told { .. })
        }));
        desk.run_for(3 * SEC);
    };
    assert_eq!(chosen(stale), other);
    let broken = |desk: &mut Desk| {
        desk.part(&[server(0, 0)], &[better]);
        desk.run_for(55 * SEC);
    };
    assert_eq!(chosen(broken), other);
}

/// SEN-F6: one that copies is under way still; one that does not obey is taken for done after a while.
#[test]
fn replicas_are_waited_for_one_after_the_other_and_not_for_ever() {
    let run = |gate: fn(&Flight) -> bool| {
        let mut desk = Desk::new(Plan {
            replicas: 4,
            failover_timeout: 60 * SEC,
            ..Plan::default()
        });
        desk.run_for(12 * SEC);
        desk.crash(server(0, 0));
        let reconf = |desk: &Desk| leader_at(desk, Stage::ReconfReplicas).is_some();
        assert!(desk.run_till(20 * SEC, reconf));
        desk.gate = Some(Box::new(move |_, flight: &Flight| gate(flight)));
        desk.run_for(40 * SEC);
        desk
    };
    // They follow, and nothing comes to them.
    let desk = run(|flight| !matches!(flight.message, Message::Stream { .. } | Message::Full(_)));
    assert_eq!(desk.told("+slave-reconf-sent").len(), 1);
    assert_eq!(desk.told("+slave-reconf-inprog").len(), 1);
    // They hear nothing.
    let desk = run(|flight| !matches!(flight.message, Message::ReplicaOf(_)));
    assert_eq!(desk.told("+slave-reconf-sent").len(), 3);
    assert_eq!(desk.told("+failover-end-for-timeout").len(), 0);
    assert_eq!(desk.told("+failover-end").len(), 1);
}

/// Masters that share their epochs, and sentinels that begin with the disks slow and the messages late: whatever a hello of an
/// earlier life, or of before a reset, says, it undoes nothing.
#[test]
fn a_hello_from_before_undoes_nothing() {
    let mut desk = Desk::new(Plan {
        groups: 3,
        disk: (MS, 300 * MS),
        latency: (MS, 100 * MS),
        repeated: 200,
        ..Plan::default()
    });
    desk.run_for(12 * SEC);
    (0..3).for_each(|group| desk.crash(server(group, 0)));
    let replaced = |desk: &Desk| desk.told("+switch-master").len() == 9;
    assert!(desk.run_till(120 * SEC, replaced));
    let held: Vec<_> = (0..3)
        .map(|group| desk.machine(S[1]).leader_of(MasterName(group)))
        .collect();
    let late = |group: u16, from: u64, epoch| {
        Message::Hello(Hello {
            sentinel: NodeId(from),
            id: RunId(from),
            current_epoch: epoch,
            name: MasterName(group),
            master: server(group, 0),
            config_epoch: 0,
        })
    };
    for (group, epoch) in [(0, 0), (1, 1), (2, 2), (0, 40)] {
        desk.inject(S[2], S[1], late(group, 2, epoch));
        desk.reset(S[1], group);
        desk.inject(S[3], S[1], late(group, 3, epoch));
    }
    desk.run_for(30 * SEC);
    let now: Vec<_> = (0..3)
        .map(|group| desk.machine(S[1]).leader_of(MasterName(group)))
        .collect();
    assert_eq!(now, held);
    assert_eq!(desk.machine(S[1]).master(A).unwrap().voters(), 3);
    assert_eq!(desk.judge.broken(), []);
}
