//! What is done to an election over a store: to its nodes, to the servers, and to the links between them.

use super::{Move, any, connected, cut_somewhere, down, follows, frozen, led, repair, row, runs};
use super::{links, office, process, surroundings};
use crate::fault::{Action, Flap, Who};
use crate::node::Status;
use crate::schedule::hand::Hand;
use crate::schedule::sight::Sight;

/// All moves. The weights in order: storm, deadlines, amnesia, coups, laggards, splits.
pub(in crate::schedule) static STORE_MOVES: [Move; 27] = [
    row(runs, process::crash, [3, 1, 3, 1, 1, 1]),
    repair(down, process::restart, [3, 2, 4, 2, 2, 2]),
    row(runs, process::bounce, [1, 2, 8, 2, 1, 0]),
    row(runs, hold_up, [2, 6, 1, 1, 1, 0]),
    repair(frozen, process::resume, [2, 2, 1, 1, 1, 1]),
    row(runs, process::slow, [1, 1, 1, 1, 1, 0]),
    row(serves, crash, [1, 1, 1, 1, 1, 1]),
    repair(no_server, restart, [6, 6, 6, 6, 6, 6]),
    row(serves, bounce, [1, 2, 6, 1, 1, 0]),
    row(serves, pause, [1, 3, 1, 1, 2, 1]),
    repair(frozen_server, resume, [3, 3, 3, 3, 3, 3]),
    row(any, cut, [3, 3, 1, 1, 2, 5]),
    repair(cut_somewhere, heal, [1, 1, 0, 0, 0, 3]),
    repair(cut_somewhere, links::heal_all, [3, 5, 4, 6, 5, 5]),
    row(any, partition, [2, 1, 1, 1, 1, 2]),
    row(led, links::isolate, [1, 2, 1, 2, 1, 1]),
    row(led, shut_out, [2, 6, 2, 4, 2, 4]),
    row(any, flap, [1, 1, 0, 0, 0, 2]),
    row(any, delay, [1, 1, 0, 1, 3, 1]),
    row(connected, disconnect, [2, 2, 2, 2, 2, 2]),
    row(led, office::resign, [2, 1, 1, 5, 2, 1]),
    row(follows, office::campaign, [1, 1, 1, 3, 1, 1]),
    row(any, surroundings::storm, [2, 1, 1, 1, 2, 0]),
    row(any, surroundings::lag, [0, 1, 1, 3, 8, 1]),
    row(any, surroundings::echo, [0, 0, 1, 2, 4, 0]),
    row(any, surroundings::pace, [1, 2, 0, 1, 0, 0]),
    row(any, pace, [1, 2, 0, 1, 0, 0]),
];

/// What is done besides to servers that are a cluster: to the one that leads it, and to the links among them.
pub(in crate::schedule) static CLUSTER_MOVES: [Move; 6] = [
    row(headed, crash_head, [2, 1, 1, 2, 1, 1]),
    row(headed, bounce_head, [1, 2, 4, 2, 1, 1]),
    row(headed, pause_head, [1, 2, 1, 1, 2, 1]),
    row(headed, isolate_head, [2, 2, 1, 2, 1, 3]),
    row(any, cut_servers, [2, 2, 1, 1, 1, 4]),
    row(connected, disconnect_servers, [1, 1, 1, 1, 1, 1]),
];

/// What a store does that loses what it had acknowledged.
pub(in crate::schedule) static LOSSES: [Move; 5] = [
    row(any, |hand| lose(hand, Action::Failover), [2, 2, 2, 2, 2, 2]),
    row(any, |hand| lose(hand, Action::Evict), [1, 1, 1, 1, 1, 1]),
    row(any, |hand| lose(hand, Action::BackUp), [1, 1, 1, 1, 1, 1]),
    row(any, |hand| lose(hand, Action::Restore), [1, 1, 1, 1, 1, 1]),
    row(
        serves,
        |hand| lose(hand, Action::PowerCut),
        [1, 1, 2, 1, 1, 1],
    ),
];

pub(super) fn serves(sight: &Sight) -> bool {
    sight.servers.contains(&Status::Up)
}

fn headed(sight: &Sight) -> bool {
    sight.head.is_some()
}

pub(super) fn no_server(sight: &Sight) -> bool {
    sight.servers.contains(&Status::Crashed)
}

pub(super) fn frozen_server(sight: &Sight) -> bool {
    sight.servers.contains(&Status::Paused)
}

/// A server in this state.
pub(super) fn server(hand: &mut Hand<'_>, status: Status) -> Option<Who> {
    let servers = (0..).zip(&hand.sight.servers);
    let such: Vec<u16> = servers
        .filter(|(_, other)| **other == status)
        .map(|(server, _)| server)
        .collect();
    hand.draw.one_of(&such).map(Who::Server)
}

/// How long it lasts if it is to last until somebody else may lead: a server may notice the end of a lease late.
fn well_beyond(hand: &mut Hand<'_>) -> u64 {
    let lasts = hand.while_it_lasts();
    if hand.draw.one_in(2) {
        return lasts;
    }
    lasts + hand.draw.between(0, 1_800_000)
}

/// A node freezes.
fn hold_up(hand: &mut Hand<'_>) {
    if let Some(node) = hand.victim() {
        let name = hand.name(node);
        hand.act(Action::Pause(name));
        let lasts = well_beyond(hand);
        hand.after(lasts, Action::Resume(Who::Node(node as u16)));
    }
}

/// The leader hears nothing from the store, or the store from it, or neither.
fn shut_out(hand: &mut Hand<'_>) {
    let Some(leader) = hand.sight.leader else {
        return;
    };
    let named = Who::Node(leader as u16);
    let (deaf, mute) = [(true, true), (true, false), (false, true)][hand.draw.place(3)];
    let lasts = well_beyond(hand);
    for server in (0..hand.sight.servers.len() as u16).map(Who::Server) {
        if mute {
            hand.act(Action::Cut(Who::Leader, server));
            hand.after(lasts, Action::Heal(named, server));
        }
        if deaf {
            hand.act(Action::Cut(server, Who::Leader));
            hand.after(lasts, Action::Heal(server, named));
        }
    }
}

/// Any server.
fn any_server(hand: &mut Hand<'_>) -> Who {
    let servers = hand.sight.servers.len();
    Who::Server(hand.draw.place(servers) as u16)
}

pub(super) fn crash(hand: &mut Hand<'_>) {
    if let Some(server) = server(hand, Status::Up) {
        hand.act(Action::Crash(server));
    }
}

pub(super) fn restart(hand: &mut Hand<'_>) {
    if let Some(server) = server(hand, Status::Crashed) {
        hand.act(Action::Restart(server));
    }
}

/// A crash, and a restart at once or soon: who waited for an answer or watched is not told.
fn bounce(hand: &mut Hand<'_>) {
    if let Some(server) = server(hand, Status::Up) {
        hand.act(Action::Crash(server));
        let delay = if hand.draw.one_in(2) {
            hand.while_it_lasts()
        } else {
            0
        };
        hand.after(delay, Action::Restart(server));
    }
}

fn pause(hand: &mut Hand<'_>) {
    if let Some(server) = server(hand, Status::Up) {
        hand.act(Action::Pause(server));
        let delay = hand.while_it_lasts();
        hand.after(delay, Action::Resume(server));
    }
}

pub(super) fn resume(hand: &mut Hand<'_>) {
    if let Some(server) = server(hand, Status::Paused) {
        hand.act(Action::Resume(server));
    }
}

/// A server's clock runs as fast or slow as it may.
pub(super) fn pace(hand: &mut Hand<'_>) {
    if hand.rate_bound > 0 {
        let server = any_server(hand);
        let pace = surroundings::within(hand.draw, hand.rate_bound);
        hand.act(Action::Clock(server, Some(pace), 0));
    }
}

/// Something is done to the server that leads.
fn at_head(hand: &mut Hand<'_>, how: fn(Who) -> Action) -> Option<Who> {
    let head = Who::Server(hand.sight.head? as u16);
    hand.act(how(head));
    Some(head)
}

fn crash_head(hand: &mut Hand<'_>) {
    at_head(hand, Action::Crash);
}

fn bounce_head(hand: &mut Hand<'_>) {
    if let Some(head) = at_head(hand, Action::Crash) {
        let delay = well_beyond(hand);
        hand.after(delay, Action::Restart(head));
    }
}

fn pause_head(hand: &mut Hand<'_>) {
    if let Some(head) = at_head(hand, Action::Pause) {
        let delay = well_beyond(hand);
        hand.after(delay, Action::Resume(head));
    }
}

/// The server that leads loses some of the others, or all of them, in one direction or both.
fn isolate_head(hand: &mut Hand<'_>) {
    let Some(head) = hand.sight.head else {
        return;
    };
    let (whole, both) = (hand.draw.one_in(2), hand.draw.one_in(2));
    let lasts = well_beyond(hand);
    for other in (0..hand.sight.servers.len()).filter(|other| *other != head) {
        if whole || hand.draw.one_in(2) {
            cut_pair(hand, (other, head), both, lasts);
        }
    }
}

/// The link between two servers.
fn cut_servers(hand: &mut Hand<'_>) {
    if let Some(pair) = two_servers(hand) {
        let (both, lasts) = (hand.draw.one_in(2), well_beyond(hand));
        cut_pair(hand, pair, both, lasts);
    }
}

fn cut_pair(hand: &mut Hand<'_>, (one, other): (usize, usize), both: bool, lasts: u64) {
    let (one, other) = (Who::Server(one as u16), Who::Server(other as u16));
    let ways = [(one, other), (other, one)];
    for (from, to) in ways.into_iter().take(1 + usize::from(both)) {
        hand.act(Action::Cut(from, to));
        hand.after(lasts, Action::Heal(from, to));
    }
}

fn disconnect_servers(hand: &mut Hand<'_>) {
    if let Some((one, other)) = two_servers(hand) {
        let (one, other) = (Who::Server(one as u16), Who::Server(other as u16));
        hand.act(Action::Disconnect(one, other));
    }
}

/// Two servers; none where there is only one.
fn two_servers(hand: &mut Hand<'_>) -> Option<(usize, usize)> {
    let servers = hand.sight.servers.len();
    let one = hand.draw.place(servers);
    let others: Vec<usize> = (0..servers).filter(|other| *other != one).collect();
    Some((one, hand.draw.one_of(&others)?))
}

fn lose(hand: &mut Hand<'_>, how: fn(Who) -> Action) {
    let server = any_server(hand);
    hand.act(how(server));
}

/// A link between a node and a server: that of whose instant it is or the leader, more often than their share.
fn link(hand: &mut Hand<'_>) -> (Who, Who) {
    let nodes = hand.sight.nodes.len();
    let favourite = match hand.draw.between(0, 3) {
        0 => hand.sight.leader,
        1 | 2 => hand.subject,
        _ => None,
    };
    let node = favourite.unwrap_or_else(|| hand.draw.place(nodes));
    let (node, server) = (hand.name(node), any_server(hand));
    if hand.draw.one_in(2) {
        (node, server)
    } else {
        (server, node)
    }
}

/// One direction of a link, or both.
fn cut(hand: &mut Hand<'_>) {
    let (from, to) = link(hand);
    hand.act(Action::Cut(from, to));
    if hand.draw.one_in(3) {
        hand.act(Action::Cut(to, from));
    }
}

fn heal(hand: &mut Hand<'_>) {
    let (from, to) = link(hand);
    hand.act(Action::Heal(from, to));
}

/// Nodes and servers in two groups, at random.
pub(super) fn partition(hand: &mut Hand<'_>) {
    let nodes = hand.sight.nodes.len();
    let servers = hand.sight.servers.len();
    let all = (0..nodes as u16)
        .map(Who::Node)
        .chain((0..servers as u16).map(Who::Server));
    // The first in group 0, and the groups in order: as it reads back from a file.
    let mut members: Vec<(u16, Who)> = all
        .map(|who| match who {
            Who::Node(0) => (0, who),
            _ => (hand.draw.between(0, 1) as u16, who),
        })
        .collect();
    members.sort_by_key(|(group, _)| *group);
    hand.act(Action::Partition(members));
}

fn flap(hand: &mut Hand<'_>) {
    let (one, other) = link(hand);
    let rhythm = Flap {
        down: hand.draw.between(5, 600) * 1_000,
        up: hand.draw.between(5, 300) * 1_000,
    };
    hand.act(Action::Flap(one, other, rhythm));
    let lasts = hand.while_it_lasts();
    for (from, to) in [(one, other), (other, one)] {
        hand.after(lasts, Action::Heal(from, to));
    }
}

fn delay(hand: &mut Hand<'_>) {
    let (from, to) = link(hand);
    let by = hand.draw.between(5, 1_200) * 1_000;
    hand.act(Action::Delay(from, to, by));
    let lasts = hand.while_it_lasts();
    hand.after(lasts, Action::Delay(from, to, 0));
}

pub(super) fn disconnect(hand: &mut Hand<'_>) {
    let (one, other) = link(hand);
    hand.act(Action::Disconnect(one, other));
}
