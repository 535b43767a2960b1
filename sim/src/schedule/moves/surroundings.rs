//! The network, the disks and the clocks, as far as they may go; and, for the controls, further.

use crate::fault::{Action, Damage, Who};
use crate::physics::clock::TRUE_PACE;
use crate::schedule::draw::Draw;
use crate::schedule::hand::Hand;

/// The network is slow and loses and doubles messages, until another wind blows; or it is as usual again.
pub(super) fn storm(hand: &mut Hand<'_>) {
    let mut weather = hand.base;
    if !hand.draw.one_in(3) {
        weather.latency_min = hand.draw.between(1, 10) * 1_000;
        weather.latency_max = weather.latency_min + hand.draw.between(0, 80) * 1_000;
        weather.loss = hand.draw.between(0, 300_000) as u32;
        if !weather.fifo {
            weather.duplicate = hand.draw.between(0, 100_000) as u32;
        }
    }
    hand.act(Action::Network(weather));
}

/// What is sent at this instant, or in a moment, comes late.
pub(super) fn lag(hand: &mut Hand<'_>) {
    let (wind, lasts) = (hand.late(10, 160), hand.moment());
    hand.burst(wind, lasts);
}

/// What is sent at this instant, or in a moment, comes twice, the second time late.
pub(super) fn echo(hand: &mut Hand<'_>) {
    let (wind, lasts) = (hand.twice(), hand.moment());
    hand.burst(wind, lasts);
}

pub(super) fn slow_disk(hand: &mut Hand<'_>) {
    let nodes = hand.sight.nodes.len();
    let node = hand.draw.place(nodes) as u16;
    let mut takes = hand.disk;
    if !hand.draw.one_in(3) {
        takes.write = hand.draw.between(1, 120) * 1_000;
    }
    hand.act(Action::Disk(Who::Node(node), takes));
}

/// A clock runs as fast or slow as it may.
pub(super) fn pace(hand: &mut Hand<'_>) {
    if hand.rate_bound == 0 {
        return;
    }
    let nodes = hand.sight.nodes.len();
    let node = hand.draw.place(nodes) as u16;
    let pace = within(hand.draw, hand.rate_bound);
    hand.act(Action::Clock(Who::Node(node), Some(pace), 0));
}

/// As fast or slow as may be, or anything between.
pub(in crate::schedule) fn within(draw: &mut Draw, bound: u32) -> u32 {
    match draw.between(0, 3) {
        0 => TRUE_PACE - bound,
        1 => TRUE_PACE + bound,
        _ => TRUE_PACE - bound + draw.between(0, 2 * u64::from(bound)) as u32,
    }
}

pub(super) fn far_pace(hand: &mut Hand<'_>) {
    if let Some(node) = hand.victim() {
        let far = hand.draw.between(200_000, 600_000) as u32;
        let pace = if hand.sight.leader == Some(node) {
            TRUE_PACE - far
        } else {
            TRUE_PACE + far
        };
        hand.act(Action::Clock(Who::Node(node as u16), Some(pace), 0));
    }
}

/// A write fails: the node acts no more, and starts again some time.
#[cfg(feature = "peers")]
pub(super) fn fail(hand: &mut Hand<'_>) {
    if let Some(node) = hand.victim() {
        let name = Who::Node(node as u16);
        hand.act(Action::Damage(name, Damage::Fail));
        let later = hand.draw.between(10, 600) * 1_000;
        hand.after(later, Action::Crash(name));
        hand.after(later + 1, Action::Restart(name));
    }
}

pub(super) fn lie(hand: &mut Hand<'_>) {
    let nodes = hand.sight.nodes.len();
    let node = hand.draw.place(nodes) as u16;
    hand.act(Action::Damage(Who::Node(node), Damage::Lie));
}

/// A disk is emptied, and its node starts again at once: without a memory, under its old name.
pub(super) fn wipe(hand: &mut Hand<'_>) {
    if let Some(node) = hand.victim() {
        let name = Who::Node(node as u16);
        hand.act(Action::Damage(name, Damage::Wipe));
        hand.act(Action::Restart(name));
    }
}
