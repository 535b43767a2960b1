//! Links that are cut and heal, one direction at a time or by groups.

use crate::fault::{Action, Flap, Who};
use crate::schedule::hand::Hand;

/// Some links, each in one direction.
pub(super) fn cut(hand: &mut Hand<'_>) {
    let nodes = hand.sight.nodes.len();
    for _ in 0..hand.draw.between(1, 3) {
        let (from, to) = link(hand, nodes);
        hand.act(Action::Cut(from, to));
    }
}

pub(super) fn heal(hand: &mut Hand<'_>) {
    let nodes = hand.sight.nodes.len();
    let (from, to) = link(hand, nodes);
    hand.act(Action::Heal(from, to));
}

/// A link from or to whose instant it is, or any.
fn link(hand: &mut Hand<'_>, nodes: usize) -> (Who, Who) {
    let from = match hand.subject {
        Some(node) if hand.draw.one_in(2) => node,
        _ => hand.draw.place(nodes),
    };
    let to = (from + 1 + hand.draw.place(nodes - 1)) % nodes;
    let (from, to) = (hand.name(from), hand.name(to));
    if hand.draw.one_in(2) {
        (from, to)
    } else {
        (to, from)
    }
}

pub(super) fn heal_all(hand: &mut Hand<'_>) {
    hand.act(Action::HealAll);
}

/// The nodes in two groups, at random.
pub(super) fn partition(hand: &mut Hand<'_>) {
    let nodes = hand.sight.nodes.len();
    // Node 0 in group 0, and the groups in order: as it reads back from a file.
    let mut members: Vec<(u16, Who)> = (0..nodes)
        .map(|node| {
            let group = if node == 0 {
                0
            } else {
                hand.draw.between(0, 1)
            };
            (group as u16, Who::Node(node as u16))
        })
        .collect();
    members.sort_by_key(|(group, _)| *group);
    hand.act(Action::Partition(members));
}

/// The leader alone, or with one that follows.
pub(super) fn isolate(hand: &mut Hand<'_>) {
    let mut members = vec![(0, Who::Leader), (1, Who::Rest)];
    if hand.draw.one_in(3)
        && let Some(node) = hand.other()
    {
        members.insert(1, (0, Who::Node(node as u16)));
    }
    hand.act(Action::Partition(members));
}

/// The leader is heard by nobody, or hardly anybody.
pub(super) fn mute(hand: &mut Hand<'_>) {
    one_way(hand, |node| Action::Cut(Who::Leader, node));
}

/// The leader hears nobody, or hardly anybody.
pub(super) fn deafen(hand: &mut Hand<'_>) {
    one_way(hand, |node| Action::Cut(node, Who::Leader));
}

fn one_way(hand: &mut Hand<'_>, action: fn(Who) -> Action) {
    let nodes = hand.sight.nodes.len();
    let spared = if hand.draw.one_in(2) {
        hand.draw.place(nodes)
    } else {
        nodes
    };
    for node in (0..nodes).filter(|node| *node != spared && Some(*node) != hand.sight.leader) {
        hand.act(action(Who::Node(node as u16)));
    }
}

/// A link is cut and heals by turns.
pub(super) fn flap(hand: &mut Hand<'_>) {
    let nodes = hand.sight.nodes.len();
    let (one, other) = link(hand, nodes);
    let rhythm = Flap {
        down: hand.draw.between(5, 250) * 1_000,
        up: hand.draw.between(5, 250) * 1_000,
    };
    hand.act(Action::Flap(one, other, rhythm));
    let lasts = hand.while_it_lasts();
    for (from, to) in [(one, other), (other, one)] {
        hand.after(lasts, Action::Heal(from, to));
    }
}

/// What is sent on a link is delayed for a while.
pub(super) fn delay(hand: &mut Hand<'_>) {
    let nodes = hand.sight.nodes.len();
    let (from, to) = link(hand, nodes);
    let by = hand.draw.between(5, 150) * 1_000;
    hand.act(Action::Delay(from, to, by));
    let lasts = hand.while_it_lasts();
    hand.after(lasts, Action::Delay(from, to, 0));
}

/// A connection breaks.
pub(super) fn disconnect(hand: &mut Hand<'_>) {
    let nodes = hand.sight.nodes.len();
    let (one, other) = link(hand, nodes);
    hand.act(Action::Disconnect(one, other));
}
