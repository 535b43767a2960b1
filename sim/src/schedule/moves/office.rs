//! Who leads: leaders that resign or are shut out, followers that stand, and messages of one that arrive in the time of the
//! next.

use super::links::{isolate, mute};
use crate::fault::{Action, Who};
use crate::schedule::hand::Hand;

pub(super) fn resign(hand: &mut Hand<'_>) {
    hand.act(Action::Resign(Who::Leader));
}

/// The leader resigns, and another stands at once. Where the others hear of it once more, late, the successor may be shut out
/// in turn, around the time they do: first from its predecessor, then from everybody.
pub(super) fn swap(hand: &mut Hand<'_>) {
    let (Some(leader), Some(heir)) = (hand.sight.leader, hand.other()) else {
        return;
    };
    let (former, heir) = (Who::Node(leader as u16), Who::Node(heir as u16));
    let late = hand.draw.one_in(2);
    if late {
        let wind = hand.again();
        hand.burst(wind, 1);
    }
    hand.act(Action::Resign(Who::Leader));
    hand.act(Action::Campaign(heir));
    // By then it has heard that it may.
    let heard = hand.base.latency_max + hand.draw.between(0, 5_000);
    hand.after(heard, Action::Campaign(heir));
    if late && hand.draw.one_in(2) {
        let first = heard + hand.draw.between(10_000, 45_000);
        hand.after(first, Action::Cut(heir, former));
        let then = first + hand.draw.between(30_000, 110_000);
        hand.after(
            then,
            Action::Partition(vec![(0, Who::Leader), (1, Who::Rest)]),
        );
        hand.after(then, Action::Campaign(former));
    }
}

/// The answers to a leader come late. Meanwhile it is shut out, or resigns and is elected again first.
pub(super) fn late_answers(hand: &mut Hand<'_>) {
    let Some(leader) = hand.sight.leader else {
        return;
    };
    let wind = if hand.draw.one_in(2) {
        hand.again()
    } else {
        hand.late(25, 100)
    };
    let lasts = hand.draw.between(1_000, 15_000);
    hand.burst(wind, lasts);
    let name = Who::Node(leader as u16);
    let mut shut = lasts;
    if hand.draw.one_in(2) {
        hand.after(lasts, Action::Resign(name));
        hand.after(lasts, Action::Campaign(name));
        shut += hand.draw.between(10_000, 40_000);
    }
    for node in (0..hand.sight.nodes.len()).filter(|node| *node != leader) {
        let other = Who::Node(node as u16);
        // Mostly out, now and then in.
        if !hand.draw.one_in(4) {
            hand.after(shut, Action::Cut(name, other));
        }
        if hand.draw.one_in(3) {
            hand.after(shut, Action::Cut(other, name));
        }
    }
    if let Some(other) = hand.other() {
        let other = Who::Node(other as u16);
        hand.after(shut, Action::Campaign(other));
        let freed = hand.draw.between(100_000, 160_000);
        hand.after(shut + freed, Action::Campaign(other));
    }
}

/// A node stands that may, or now and then one that may not.
pub(super) fn campaign(hand: &mut Hand<'_>) {
    let free: Vec<usize> = (hand.sight.others().into_iter())
        .filter(|node| hand.sight.nodes[*node].free)
        .collect();
    let node = if hand.draw.one_in(4) {
        hand.other()
    } else {
        let subject = hand.subject.filter(|node| free.contains(node));
        subject.or_else(|| hand.draw.one_of(&free))
    };
    if let Some(node) = node {
        hand.act(Action::Campaign(Who::Node(node as u16)));
    }
}

/// Everybody stands; what they are answered may come twice.
pub(super) fn uproar(hand: &mut Hand<'_>) {
    if hand.draw.one_in(3) {
        let lasts = hand.draw.between(5_000, 40_000);
        let wind = hand.twice();
        hand.burst(wind, lasts);
    }
    for node in hand.sight.others() {
        hand.act(Action::Campaign(Who::Node(node as u16)));
    }
}

/// The leader is shut out; of the others, some forget what was not durable, and one stands.
pub(super) fn coup(hand: &mut Hand<'_>) {
    if hand.draw.one_in(3) {
        mute(hand);
    } else {
        isolate(hand);
    }
    if hand.draw.one_in(2) {
        for node in hand.sight.others() {
            let name = Who::Node(node as u16);
            hand.act(Action::Crash(name));
            hand.act(Action::Restart(name));
        }
    }
    if let Some(node) = hand.other() {
        let name = Who::Node(node as u16);
        hand.act(Action::Campaign(name));
        // Its question may be refused, or be on its way: it stands again.
        if hand.draw.one_in(2) {
            let delay = hand.draw.between(1, 60_000);
            hand.after(delay, Action::Campaign(name));
        }
    }
}
