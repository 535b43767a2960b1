//! What the codes of the trace are called, and how times and lists are said.

use crate::check::Check;
use crate::scenario::node_name;

/// The name of an actor: `n1`, …, `client`, `fenced`, `unfenced`.
pub(super) fn actor(nodes: usize, actor: u16) -> String {
    match usize::from(actor).checked_sub(nodes) {
        None => node_name(actor),
        Some(0) => "client".to_owned(),
        Some(1) => "fenced".to_owned(),
        Some(_) => "unfenced".to_owned(),
    }
}

/// The name of a kind of message, by [`Packet::kind`](crate::packet::Packet::kind).
pub(super) const fn message(kind: i64) -> &'static str {
    match kind {
        REQUEST_PRE_VOTE => "request-pre-vote",
        PRE_VOTE_GRANTED => "pre-vote-granted",
        PRE_VOTE_REFUSED => "pre-vote-refused",
        REQUEST_VOTE => "request-vote",
        VOTE_GRANTED => "vote-granted",
        VOTE_REFUSED => "vote-refused",
        HEARTBEAT => "heartbeat",
        7 => "heartbeat-ack",
        HEARTBEAT_REFUSED => "heartbeat-refused",
        RELEASE => "release",
        REQUEST => "request",
        21 => "reply",
        22 => "write",
        23 => "answer",
        FENCE => "fence",
        25 => "read",
        26 => "look",
        27 => "list",
        28 => "claim",
        FINISH => "finish",
        _ => "message",
    }
}

pub(super) const REQUEST_PRE_VOTE: i64 = 0;
pub(super) const PRE_VOTE_GRANTED: i64 = 1;
pub(super) const PRE_VOTE_REFUSED: i64 = 2;
pub(super) const REQUEST_VOTE: i64 = 3;
pub(super) const VOTE_GRANTED: i64 = 4;
pub(super) const VOTE_REFUSED: i64 = 5;
pub(super) const HEARTBEAT: i64 = 6;
pub(super) const HEARTBEAT_REFUSED: i64 = 8;
pub(super) const RELEASE: i64 = 9;
pub(super) const REQUEST: i64 = 20;
pub(super) const FENCE: i64 = 24;
pub(super) const FINISH: i64 = 29;

/// Why a message was lost, by [`Loss`](crate::physics::trace::Loss).
pub(super) const fn loss(code: i64) -> &'static str {
    match code {
        0 => "network",
        1 => "cut",
        3 => "disconnected",
        4 => "buffer-full",
        _ => "receiver-down",
    }
}

/// How a durable write was lost, by [`Lost`](crate::physics::trace::Lost).
pub(super) const fn lost(code: i64) -> &'static str {
    match code {
        0 => "failed",
        1 => "answered",
        2 => "wiped",
        3 => "dropped",
        4 => "torn",
        5 => "unnamed",
        6 => "renamed",
        _ => "not-begun",
    }
}

/// Why a term ended, by the code of the event.
pub(super) const fn deposed(code: i64) -> &'static str {
    match code {
        1 => "higher-term",
        2 => "resigned",
        3 => "disk-failed",
        4 => "crashed",
        _ => "lapsed",
    }
}

/// Why a resource refused, by [`refusal_code`](crate::resource::refusal_code) and the codes beside it.
pub(super) const fn refused(code: i64) -> &'static str {
    match code {
        0 => "stale",
        1 => "conflict",
        2 => "never-issued",
        3 => "wrong-election",
        4 => "closed",
        6 => "done",
        7 => "another's",
        _ => "other",
    }
}

/// The name of a check, by its code.
pub(super) fn check(code: i64) -> &'static str {
    let check = Check::ALL.get(usize::try_from(code).unwrap_or(usize::MAX));
    check.map_or("unknown", |check| check.name())
}

/// What a node does, by [`RoleCode`](crate::scheme::RoleCode).
pub(super) const fn role(code: i64) -> &'static str {
    match code {
        1 => "pre-candidate",
        2 => "candidate",
        3 => "elected",
        4 => "established",
        5 => "halted",
        _ => "follower",
    }
}

/// A time to the millisecond, or to the microsecond where it is shorter than one.
pub(super) fn ms(micros: u64) -> String {
    if micros > 0 && micros < 1_000 {
        format!("0.{micros:03} ms")
    } else {
        format!("{} ms", whole_ms(micros))
    }
}

/// A time in milliseconds, rounded, without the unit.
pub(super) const fn whole_ms(micros: u64) -> u64 {
    micros.saturating_add(500) / 1_000
}

/// From when to when.
pub(super) fn span(from: u64, until: u64) -> String {
    format!("{}–{}", whole_ms(from), ms(until))
}

/// `n1`, `n1 and n2`, `n1, n2 and n3`.
pub(super) fn nodes(list: &[u16]) -> String {
    let names: Vec<String> = list.iter().map(|node| node_name(*node)).collect();
    listed(&names, "and")
}

/// `a`, `a and b`, `a, b and c`.
pub(super) fn listed(names: &[String], last: &str) -> String {
    match names {
        [] => "nobody".to_owned(),
        [one] => one.clone(),
        [first @ .., end] => format!("{} {last} {end}", first.join(", ")),
    }
}

/// `1 write`, `2 writes`.
pub(super) fn count(number: u64, what: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {what}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Packet;
    use crate::scheme::raft::message_kind;
    use tenure::log::Position;
    use tenure::raft::Message;
    use tenure::{Duration, Instant};

    #[test]
    fn codes_are_those_of_the_messages() {
        let (last, sent) = (Position::default(), Instant::ZERO);
        for (message, kind) in [
            (
                Message::RequestPreVote {
                    term: 1,
                    last,
                    sent,
                },
                REQUEST_PRE_VOTE,
            ),
            (
                Message::PreVoteGranted {
                    term: 1,
                    remainder: Duration::ZERO,
                    sent,
                },
                PRE_VOTE_GRANTED,
            ),
            (Message::RequestVote { term: 1, last }, REQUEST_VOTE),
            (Message::Heartbeat { term: 1, sent }, HEARTBEAT),
            (
                Message::HeartbeatRefused { asked: 1, term: 1 },
                HEARTBEAT_REFUSED,
            ),
            (Message::VoteGranted { term: 1 }, VOTE_GRANTED),
            (Message::VoteRefused { asked: 1, term: 1 }, VOTE_REFUSED),
            (
                Message::PreVoteRefused { asked: 1, term: 1 },
                PRE_VOTE_REFUSED,
            ),
            (Message::Release { term: 1, to: None }, RELEASE),
        ] {
            assert_eq!(i64::from(message_kind(&message)), kind);
        }
        assert_eq!(i64::from(Packet::Request { request: 1 }.kind()), REQUEST);
        let pass = crate::resource::tests::pass(1);
        assert_eq!(i64::from(Packet::Finish { pass, job: 1 }.kind()), FINISH);
    }

    #[test]
    fn times_and_lists_read_as_people_say_them() {
        assert_eq!(
            (ms(7), ms(1_499), ms(0)),
            ("0.007 ms".into(), "1 ms".into(), "0 ms".into())
        );
        assert_eq!(nodes(&[]), "nobody");
        assert_eq!(nodes(&[0, 1, 3]), "n1, n2 and n4");
        assert_eq!(count(1, "vote") + &count(2, "vote"), "1 vote2 votes");
    }
}
