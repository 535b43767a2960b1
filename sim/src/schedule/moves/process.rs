//! Processes that die, come back, freeze and go on.

use crate::fault::{Action, Who};
use crate::node::Status;
use crate::schedule::hand::Hand;

pub(super) fn crash(hand: &mut Hand<'_>) {
    if let Some(node) = hand.victim() {
        let name = hand.name(node);
        hand.act(Action::Crash(name));
    }
}

pub(super) fn restart(hand: &mut Hand<'_>) {
    let down = hand.sight.with(Status::Crashed);
    if let Some(node) = hand.draw.one_of(&down) {
        hand.act(Action::Restart(Who::Node(node as u16)));
    }
}

/// A crash, and a restart at once or soon: what was not durable is forgotten, and the world has hardly changed.
pub(super) fn bounce(hand: &mut Hand<'_>) {
    if let Some(node) = hand.victim() {
        let name = hand.name(node);
        hand.act(Action::Crash(name));
        let delay = if hand.draw.one_in(3) {
            hand.while_it_lasts()
        } else {
            0
        };
        hand.after(delay, Action::Restart(Who::Node(node as u16)));
    }
}

pub(super) fn pause(hand: &mut Hand<'_>) {
    if let Some(node) = hand.victim() {
        let name = hand.name(node);
        hand.act(Action::Pause(name));
        let delay = hand.while_it_lasts();
        hand.after(delay, Action::Resume(Who::Node(node as u16)));
    }
}

pub(super) fn resume(hand: &mut Hand<'_>) {
    let frozen = hand.sight.with(Status::Paused);
    if let Some(node) = hand.draw.one_of(&frozen) {
        hand.act(Action::Resume(Who::Node(node as u16)));
    }
}

/// A process takes its time for everything.
pub(super) fn slow(hand: &mut Hand<'_>) {
    if let Some(node) = hand.victim() {
        let name = hand.name(node);
        let takes = hand.draw.between(1, 25) * 1_000;
        hand.act(Action::Slow(name, takes));
        let lasts = hand.while_it_lasts().max(1);
        hand.after(lasts, Action::Slow(Who::Node(node as u16), 0));
    }
}
