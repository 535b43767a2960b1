//! What crashes, pauses, cuts and slow disks do to a node, as seen in the trace.

use tenure_sim::fault::{Action, Who};
use tenure_sim::node::Status;
use tenure_sim::physics::trace::{Event, Kind, Loss};
use tenure_sim::scheme::RoleCode;
use tenure_sim::{Scenario, World};

fn world(rest: &str) -> World {
    let json = format!(
        r#"{{"tenure": 1, "scheme": "raft", "nodes": 3, "seed": "4", "duration": "20s"{rest}}}"#
    );
    let mut world = World::new(&Scenario::parse(&json).unwrap());
    world.trace_mut().recording = true;
    world
}

fn count(world: &World, wanted: impl Fn(&Event) -> bool) -> usize {
    world
        .trace()
        .fresh
        .iter()
        .filter(|event| wanted(event))
        .count()
}

fn leader(world: &World) -> usize {
    world.leader().expect("a leader after the start").0
}

#[test]
fn a_paused_node_does_nothing_and_what_came_arrives_at_once() {
    let mut world = world("");
    world.run_until(2_000_000);
    let node = leader(&world);
    world.act(Action::Pause(Who::Node(node as u16))).unwrap();
    let paused = world.trace().fresh.len();
    world.run_until(4_000_000);
    let by_node = |event: &&Event| event.actor as usize == node && event.at > 2_000_000;
    let meanwhile: Vec<&Event> = world.trace().fresh[paused..]
        .iter()
        .filter(by_node)
        .collect();
    assert!(
        meanwhile.iter().all(|event| event.kind == Kind::Persisted),
        "{meanwhile:?}"
    );
    assert!(world.node(node).unwrap().late() > 0 && world.node(node).unwrap().froze_leading());
    assert_ne!(leader(&world), node, "the others went on");

    world.act(Action::Resume(Who::Node(node as u16))).unwrap();
    let delivered = count(&world, |event| {
        event.kind == Kind::Deliver && event.actor as usize == node && event.at == 4_000_000
    });
    assert!(delivered > 1);
    assert_eq!(world.node(node).unwrap().late(), 0);
    world.run_until(4_500_000);
    assert_eq!(world.node(node).unwrap().look().role, RoleCode::Follower);
}

#[test]
fn a_paused_leader_s_belief_ends_by_itself() {
    let mut world = world("");
    world.run_until(2_000_000);
    let node = leader(&world);
    world.act(Action::Pause(Who::Node(node as u16))).unwrap();
    let (_, until) = world
        .node(node)
        .unwrap()
        .leads_at(world.now())
        .expect("it believes as it freezes");
    assert!(world.node(node).unwrap().leads_at(until - 1).is_some());
    assert!(world.node(node).unwrap().leads_at(until).is_none());
}

#[test]
fn what_was_thought_before_a_pause_is_written_after_it_without_looking() {
    let mut world = world(r#", "client": {"think": "24ms"}"#);
    world.run_until(2_000_000);
    let node = leader(&world);
    world.act(Action::Pause(Who::Node(node as u16))).unwrap();
    world.run_until(5_000_000);
    world.act(Action::Resume(Who::Node(node as u16))).unwrap();
    let events = &world.trace().fresh;
    let resumed = events
        .iter()
        .position(|event| event.kind == Kind::Resume)
        .unwrap();
    let issued = events
        .iter()
        .rposition(|event| event.kind == Kind::WriteIssued && event.actor as usize == node)
        .unwrap();
    assert!(issued > resumed, "the write leaves at once");
    world.run_until(6_000_000);
    let refused = count(&world, |event| {
        event.kind == Kind::WriteRefused && event.other as usize == node
    });
    let stale = count(&world, |event| {
        event.kind == Kind::WriteAccepted && event.other as usize == node && event.a == 1
    });
    assert_eq!(
        (refused, stale),
        (1, 1),
        "the fenced resource refuses it, the other takes it"
    );
}

#[test]
fn a_crash_loses_memory_and_the_unsynced_tail_and_keeps_what_was_durable() {
    // The disk is slow: the record of the first vote is on its way when the power goes.
    let mut world = world(r#", "disk": {"write": "80ms"}"#);
    let persisting =
        |world: &World| (0..3).find(|node| world.node(*node).unwrap().disk().pending() > 0);
    while persisting(&world).is_none() {
        world.run_until(world.now() + 1_000);
    }
    let node = persisting(&world).unwrap();
    let term_in_memory = world.node(node).unwrap().look().term;
    world.act(Action::Crash(Who::Node(node as u16))).unwrap();
    assert_eq!(world.node(node).unwrap().status(), Status::Crashed);
    assert_eq!(
        count(&world, |event| event.kind == Kind::PersistLost
            && event.actor as usize == node),
        1
    );
    assert!(
        term_in_memory > world.node(node).unwrap().look().term,
        "what the disk holds is older"
    );
    world.run_until(world.now() + 500_000);
    assert_eq!(
        count(&world, |event| event.kind == Kind::Persisted
            && event.actor as usize == node),
        0
    );

    world.act(Action::Restart(Who::Node(node as u16))).unwrap();
    world.run_until(3_000_000);
    let node = world.node(node).unwrap();
    assert_eq!((node.lives(), node.status()), (2, Status::Up));
    let durable = (
        node.look().term,
        world.leader().map(|(_, token)| token.counter),
    );
    assert_eq!(
        Some(durable.0),
        durable.1,
        "it follows the leader in its term"
    );
    let leader_node = leader(&world);
    world
        .act(Action::Crash(Who::Node(leader_node as u16)))
        .unwrap();
    world
        .act(Action::Restart(Who::Node(leader_node as u16)))
        .unwrap();
    assert_eq!(
        world.node(leader_node).unwrap().look().term,
        durable.0,
        "the term is read back"
    );
    assert_ne!(
        world.leader().map(|(node, _)| node),
        Some(leader_node),
        "leadership never survives a restart"
    );
}

#[test]
fn a_message_to_a_dead_node_is_lost_and_a_message_of_a_dead_node_arrives() {
    let mut world = world("");
    world.run_until(2_000_000);
    // A round has just left.
    let node = leader(&world);
    let sent =
        |event: &Event| event.kind == Kind::Send && event.actor as usize == node && event.a == 6;
    while !world
        .trace()
        .fresh
        .iter()
        .any(|event| event.at + 1_000 > world.now() && sent(event))
    {
        world.run_until(world.now() + 500);
    }
    let at = world.now();
    world.act(Action::Crash(Who::Node(node as u16))).unwrap();
    world.run_until(at + 25_000);
    let heard = count(&world, |event| {
        event.at > at && event.kind == Kind::Deliver && event.other as usize == node && event.a == 6
    });
    assert_eq!(heard, 2, "both followers hear the last heartbeat");
    let lost = |event: &Event| {
        event.kind == Kind::Lose
            && event.other as usize == node
            && event.b == Loss::ReceiverDown as i64
    };
    assert!(count(&world, lost) >= 2, "their answers find nobody");
}

#[test]
fn a_partition_by_role_is_resolved_when_it_strikes() {
    let mut world = world(r#", "faults": [{"at": "2s", "partition": [["leader"], ["rest"]]}]"#);
    world.run_until(1_999_999);
    let node = leader(&world);
    world.run_until(2_000_000);
    let cut: Vec<(usize, usize)> = world
        .trace()
        .fresh
        .iter()
        .filter(|event| event.kind == Kind::Cut)
        .map(|event| (event.actor as usize, event.other as usize))
        .collect();
    assert_eq!(cut.len(), 4);
    assert!(cut.iter().all(|(from, to)| *from == node || *to == node));
}

#[test]
fn a_leader_that_resigns_is_followed_without_waiting_for_its_lease() {
    let mut world = world("");
    world.run_until(2_000_000);
    let (node, token) = world.leader().unwrap();
    world.act(Action::Resign(Who::Leader)).unwrap();
    assert!(world.leader().is_none());
    world.run_until(2_250_000);
    let (_, next) = world.leader().expect("a successor");
    assert!(next > token);
    assert_eq!(world.node(node).unwrap().status(), Status::Up);
}

#[test]
fn a_slow_link_costs_the_lease_until_it_is_quick_again() {
    let scenario = Scenario::parse(
        r#"{"tenure": 1, "scheme": "raft", "nodes": 3, "duration": "8s", "leaderWithin": "1s", "faults": [
            {"at": "0s", "campaign": "n1"}, {"at": "1s", "cut": ["n3", "n1"]},
            {"at": "2s", "delay": {"link": ["n2", "n1"], "by": "200ms"}}, {"at": "2s", "delay": {"link": ["n2", "n1"], "by": "200ms"}},
            {"at": "3s", "heal": ["n3", "n1"]}, {"at": "5s", "heal": "all"}]}"#,
    )
    .unwrap();
    let mut world = World::new(&scenario);
    world.run_until(1_900_000);
    assert_eq!(world.leader().map(|(node, _)| node), Some(0));
    world.run_until(2_400_000);
    assert_ne!(
        world.leader().map(|(node, _)| node),
        Some(0),
        "no majority in time"
    );
    world.run();
    let (kind, faults) = (
        Action::Delay(Who::Leader, Who::Leader, 0).kind(),
        world.faults(),
    );
    assert_eq!((faults.fired[kind], faults.effective[kind]), (2, 1));
    assert_eq!(faults.mattered[kind], 1);
    let begun: Vec<u64> = world
        .judges()
        .windows()
        .iter()
        .map(|(begin, _)| *begin)
        .collect();
    assert_eq!(begun, [0, 5_000_000], "whole again when no link is slow");
}

/// What no buffer holds is lost, and the trace says so: the memory of a world does not grow with the length of a pause.
#[test]
fn a_frozen_process_is_kept_for_within_bounds() {
    let mut world = world(
        r#", "raft": {"heartbeat": "1ms"}, "client": {"every": "20s"}, "faults": [{"at": "1s", "pause": "follower"}]"#,
    );
    let full = |event: &Event| event.kind == Kind::Lose && event.b == Loss::BufferFull as i64;
    world.run();
    let frozen = (0..3).find(|node| world.node(*node).unwrap().status() == Status::Paused);
    let late = world.node(frozen.unwrap()).unwrap().late();
    assert_eq!(count(&world, full), 0, "{late}");

    let long = Scenario::parse(
        r#"{"tenure": 1, "scheme": "raft", "nodes": 3, "seed": "4", "duration": "70s", "raft": {"heartbeat": "1ms"},
            "client": {"every": "70s"}, "faults": [{"at": "1s", "pause": "follower"}]}"#,
    );
    let mut long = World::new(&long.unwrap());
    long.trace_mut().recording = true;
    long.run();
    let node = long.node(frozen.unwrap()).unwrap();
    assert_eq!(node.late(), 1 << 16);
    assert!(count(&long, full) > 1_000);
}
