//! What is done to sentinels and to the data servers that they watch: to the master more often than its share.

use super::links;
use super::{Move, any, connected, cut_somewhere, down, frozen, led, repair, row, runs};
use super::{process, store, surroundings};
use crate::fault::{Action, Flap, Who};
use crate::node::Status;
use crate::schedule::hand::Hand;

/// All moves. The weights in order: storm, deadlines, amnesia, coups, laggards, splits.
pub(in crate::schedule) static SENTINEL_MOVES: [Move; 27] = [
    row(runs, process::crash, [2, 1, 3, 1, 1, 1]),
    repair(down, process::restart, [4, 4, 6, 4, 4, 4]),
    row(runs, process::bounce, [2, 2, 8, 2, 1, 1]),
    row(runs, freeze, [2, 6, 1, 2, 1, 1]),
    repair(frozen, process::resume, [3, 3, 3, 3, 3, 3]),
    row(runs, slow, [1, 1, 1, 1, 3, 0]),
    row(led, crash_master, [4, 4, 4, 8, 4, 3]),
    row(led, freeze_master, [2, 5, 1, 3, 2, 2]),
    row(store::serves, store::crash, [1, 1, 1, 1, 1, 1]),
    repair(store::no_server, store::restart, [8, 8, 8, 8, 8, 8]),
    row(store::serves, bounce_server, [2, 2, 4, 2, 1, 1]),
    row(store::serves, freeze_server, [1, 2, 1, 1, 1, 1]),
    repair(store::frozen_server, store::resume, [4, 4, 4, 4, 4, 4]),
    row(any, cut, [3, 2, 1, 1, 2, 6]),
    repair(cut_somewhere, links::heal_all, [5, 5, 5, 6, 5, 6]),
    row(any, store::partition, [4, 2, 2, 2, 1, 5]),
    row(led, links::isolate, [2, 3, 2, 4, 2, 3]),
    row(led, part_with_master, [2, 2, 2, 3, 1, 4]),
    row(any, flap, [1, 1, 0, 0, 0, 2]),
    row(any, delay, [1, 1, 0, 1, 4, 1]),
    row(connected, store::disconnect, [2, 2, 2, 2, 2, 2]),
    row(runs, order, [1, 0, 1, 4, 0, 0]),
    row(any, surroundings::storm, [2, 1, 1, 1, 2, 0]),
    row(any, surroundings::slow_disk, [1, 1, 3, 1, 1, 0]),
    row(any, surroundings::fail, [1, 0, 3, 1, 0, 0]),
    row(any, surroundings::pace, [1, 2, 0, 1, 0, 0]),
    row(runs, jump, [1, 5, 1, 1, 0, 0]),
];

/// As long as somebody may be silent, or as a failover takes, or nothing of either.
fn spell(hand: &mut Hand<'_>) -> u64 {
    match hand.draw.between(0, 3) {
        0 => hand.draw.between(1, 900) * 1_000,
        1 => hand.draw.between(900, 2_500) * 1_000,
        _ => hand.draw.between(2_500, 15_000) * 1_000,
    }
}

fn freeze(hand: &mut Hand<'_>) {
    if let Some(node) = hand.victim() {
        let name = Who::Node(node as u16);
        hand.act(Action::Pause(name));
        let lasts = spell(hand);
        hand.after(lasts, Action::Resume(name));
    }
}

fn slow(hand: &mut Hand<'_>) {
    if let Some(node) = hand.victim() {
        let name = Who::Node(node as u16);
        let takes = hand.draw.between(1, 12) * 1_000;
        hand.act(Action::Slow(name, takes));
        let lasts = spell(hand);
        hand.after(lasts, Action::Slow(name, 0));
    }
}

/// The server that is the master now, by its name.
fn master(hand: &Hand<'_>) -> Option<Who> {
    let place = hand.sight.leader?.checked_sub(hand.sight.nodes.len())?;
    Some(Who::Server(place as u16))
}

fn crash_master(hand: &mut Hand<'_>) {
    hand.act(Action::Crash(Who::Leader));
    if let Some(name) = master(hand)
        && hand.draw.one_in(2)
    {
        let lasts = spell(hand);
        hand.after(lasts, Action::Restart(name));
    }
}

fn freeze_master(hand: &mut Hand<'_>) {
    hand.act(Action::Pause(Who::Leader));
    if let Some(name) = master(hand) {
        let lasts = spell(hand);
        hand.after(lasts, Action::Resume(name));
    }
}

fn bounce_server(hand: &mut Hand<'_>) {
    if let Some(server) = store::server(hand, Status::Up) {
        hand.act(Action::Crash(server));
        let lasts = if hand.draw.one_in(2) {
            spell(hand)
        } else {
            hand.draw.between(1, 500) * 1_000
        };
        hand.after(lasts, Action::Restart(server));
    }
}

fn freeze_server(hand: &mut Hand<'_>) {
    if let Some(server) = store::server(hand, Status::Up) {
        hand.act(Action::Pause(server));
        let lasts = spell(hand);
        hand.after(lasts, Action::Resume(server));
    }
}

/// Two members, whatever they are.
pub(super) fn link(hand: &mut Hand<'_>) -> (Who, Who) {
    let (nodes, servers) = (hand.sight.nodes.len(), hand.sight.servers.len());
    let all = nodes + servers;
    let from = hand.draw.place(all);
    let to = (from + 1 + hand.draw.place(all - 1)) % all;
    let name = |member: usize| match member.checked_sub(nodes) {
        Some(server) => Who::Server(server as u16),
        None => Who::Node(member as u16),
    };
    (name(from), name(to))
}

/// Some links, each in one direction or both.
fn cut(hand: &mut Hand<'_>) {
    for _ in 0..hand.draw.between(1, 4) {
        let (from, to) = link(hand);
        hand.act(Action::Cut(from, to));
        if hand.draw.one_in(2) {
            hand.act(Action::Cut(to, from));
        }
    }
}

/// The master with some of the sentinels, and everybody else.
fn part_with_master(hand: &mut Hand<'_>) {
    let mut members = vec![(0, Who::Leader)];
    for node in 0..hand.sight.nodes.len() as u16 {
        if hand.draw.one_in(3) {
            members.push((0, Who::Node(node)));
        }
    }
    members.push((1, Who::Rest));
    hand.act(Action::Partition(members));
    let lasts = spell(hand);
    hand.after(lasts, Action::HealAll);
}

fn flap(hand: &mut Hand<'_>) {
    let (one, other) = link(hand);
    let rhythm = Flap {
        down: hand.draw.between(50, 3_000) * 1_000,
        up: hand.draw.between(50, 3_000) * 1_000,
    };
    hand.act(Action::Flap(one, other, rhythm));
    let lasts = spell(hand);
    for (from, to) in [(one, other), (other, one)] {
        hand.after(lasts, Action::Heal(from, to));
    }
}

fn delay(hand: &mut Hand<'_>) {
    let (from, to) = link(hand);
    let by = hand.draw.between(5, 3_000) * 1_000;
    hand.act(Action::Delay(from, to, by));
    let lasts = spell(hand);
    hand.after(lasts, Action::Delay(from, to, 0));
}

/// `SENTINEL FAILOVER`: no majority has a say in it.
fn order(hand: &mut Hand<'_>) {
    if let Some(node) = hand.victim() {
        hand.act(Action::Campaign(Who::Node(node as u16)));
    }
}

/// A sentinel's clock jumps: so far that it notices, or hardly at all.
fn jump(hand: &mut Hand<'_>) {
    if let Some(node) = hand.victim() {
        let by = if hand.draw.one_in(4) {
            hand.draw.between(1, 300) * 1_000
        } else {
            hand.draw.between(2_200, 9_000) * 1_000
        };
        hand.act(Action::Clock(Who::Node(node as u16), None, by as i64));
    }
}
