//! What is done to Kafka's brokers, and to the controllers beside them: to brokers more often.

use super::sentinels::link;
use super::{Move, any, connected, cut_somewhere, down, follows, frozen, led, repair, row, runs};
use super::{links, office, process, store, surroundings};
use crate::fault::{Action, Flap, Who};
use crate::node::Status;
use crate::schedule::hand::Hand;

/// All moves. The weights in order: storm, deadlines, amnesia, coups, laggards, splits.
pub(in crate::schedule) static BROKER_MOVES: [Move; 27] = [
    row(runs, process::crash, [1, 1, 1, 2, 1, 1]),
    repair(down, process::restart, [3, 3, 4, 4, 3, 3]),
    row(runs, process::bounce, [1, 1, 3, 2, 1, 0]),
    row(runs, freeze_node, [1, 2, 1, 2, 1, 1]),
    repair(frozen, process::resume, [2, 2, 2, 2, 2, 2]),
    row(store::serves, store::crash, [3, 2, 3, 2, 2, 2]),
    repair(store::no_server, store::restart, [8, 8, 8, 8, 8, 8]),
    row(store::serves, bounce, [3, 3, 8, 3, 3, 2]),
    row(store::serves, power_cut, [2, 2, 8, 2, 2, 1]),
    row(store::serves, freeze, [3, 6, 2, 4, 6, 2]),
    repair(store::frozen_server, store::resume, [4, 4, 4, 4, 4, 4]),
    row(store::serves, shut_down, [2, 2, 2, 3, 1, 1]),
    row(any, cut, [3, 2, 1, 2, 3, 6]),
    repair(cut_somewhere, links::heal_all, [5, 5, 5, 6, 5, 6]),
    row(any, store::partition, [3, 2, 1, 2, 1, 5]),
    row(led, links::isolate, [1, 2, 1, 3, 1, 2]),
    row(store::serves, shut_out, [3, 4, 2, 4, 3, 4]),
    row(any, flap, [1, 1, 0, 0, 1, 2]),
    row(any, delay, [1, 2, 0, 1, 5, 1]),
    row(connected, store::disconnect, [2, 2, 2, 2, 2, 2]),
    row(led, office::resign, [1, 1, 1, 4, 1, 1]),
    row(follows, office::campaign, [1, 1, 1, 3, 1, 1]),
    row(runs, process::slow, [1, 1, 1, 1, 1, 0]),
    row(any, surroundings::storm, [2, 1, 1, 1, 2, 0]),
    row(any, surroundings::slow_disk, [1, 1, 2, 1, 1, 0]),
    row(any, surroundings::pace, [1, 2, 0, 1, 1, 0]),
    row(any, store::pace, [1, 2, 0, 1, 1, 0]),
];

/// As long as a message, or as a follower may lag, or as a session and what comes of its end.
fn spell(hand: &mut Hand<'_>) -> u64 {
    match hand.draw.between(0, 3) {
        0 => hand.draw.between(1, 60) * 1_000,
        1 => hand.draw.between(60, 700) * 1_000,
        _ => hand.draw.between(700, 2_500) * 1_000,
    }
}

fn freeze_node(hand: &mut Hand<'_>) {
    if let Some(node) = hand.victim() {
        let name = hand.name(node);
        hand.act(Action::Pause(name));
        let lasts = spell(hand);
        hand.after(lasts, Action::Resume(Who::Node(node as u16)));
    }
}

fn freeze(hand: &mut Hand<'_>) {
    if let Some(broker) = store::server(hand, Status::Up) {
        hand.act(Action::Pause(broker));
        let lasts = spell(hand);
        hand.after(lasts, Action::Resume(broker));
    }
}

/// A broker dies and is back at once, or once its session is over.
fn bounce(hand: &mut Hand<'_>) {
    if let Some(broker) = store::server(hand, Status::Up) {
        hand.act(Action::Crash(broker));
        let lasts = spell(hand);
        hand.after(lasts, Action::Restart(broker));
    }
}

/// The same with the end of its logs; now and then all of them at once.
fn power_cut(hand: &mut Hand<'_>) {
    let all = hand.draw.one_in(4);
    let brokers = (0..hand.sight.servers.len() as u16).map(Who::Server);
    let struck: Vec<Who> = if all {
        brokers.collect()
    } else {
        store::server(hand, Status::Up).into_iter().collect()
    };
    for broker in struck {
        hand.act(Action::PowerCut(broker));
        let lasts = spell(hand);
        hand.after(lasts, Action::Restart(broker));
    }
}

/// A broker is told to go in good order, and is started again.
fn shut_down(hand: &mut Hand<'_>) {
    if let Some(broker) = store::server(hand, Status::Up) {
        hand.act(Action::Resign(broker));
        let lasts = spell(hand);
        hand.after(lasts, Action::Restart(broker));
    }
}

/// A broker reaches some of the others and of the controllers no more, or is not reached.
fn shut_out(hand: &mut Hand<'_>) {
    let Some(broker) = store::server(hand, Status::Up) else {
        return;
    };
    let (nodes, brokers) = (hand.sight.nodes.len(), hand.sight.servers.len());
    let (deaf, mute) = [(true, true), (true, false), (false, true)][hand.draw.place(3)];
    let whom = hand.draw.place(3);
    let controllers = (0..nodes as u16).map(Who::Node);
    let others = (0..brokers as u16).map(Who::Server);
    let others: Vec<Who> = match whom {
        0 => controllers.collect(),
        1 => others.collect(),
        _ => controllers.chain(others).collect(),
    };
    let lasts = spell(hand);
    for other in others.into_iter().filter(|other| *other != broker) {
        for (from, to) in [(broker, other), (other, broker)] {
            if (from == broker && mute) || (to == broker && deaf) {
                hand.act(Action::Cut(from, to));
                hand.after(lasts, Action::Heal(from, to));
            }
        }
    }
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

fn flap(hand: &mut Hand<'_>) {
    let (one, other) = link(hand);
    let rhythm = Flap {
        down: hand.draw.between(10, 700) * 1_000,
        up: hand.draw.between(10, 700) * 1_000,
    };
    hand.act(Action::Flap(one, other, rhythm));
    let lasts = spell(hand);
    for (from, to) in [(one, other), (other, one)] {
        hand.after(lasts, Action::Heal(from, to));
    }
}

fn delay(hand: &mut Hand<'_>) {
    let (from, to) = link(hand);
    let by = hand.draw.between(5, 900) * 1_000;
    hand.act(Action::Delay(from, to, by));
    let lasts = spell(hand);
    hand.after(lasts, Action::Delay(from, to, 0));
}
