//! What the codes of the trace are called, and how times and lists are said.

#[cfg(feature = "peers")]
use crate::brokers::code as brokers;
use crate::check::Check;
use crate::packet::code;
use crate::scenario::{node_name, server_name};
use crate::scheme::raft::code as raft;
#[cfg(feature = "peers")]
use crate::scheme::{kraft::code as kraft, sentinel::code as sentinel, zab::code as zab};

/// The name of an actor: `n1`, …, `s1`, …, `client`, `fenced`, `unfenced`, `store-client-1`, …. Servers are as many, with this
/// letter.
pub(super) fn actor(nodes: usize, (servers, letter): (usize, char), actor: u16) -> String {
    let beyond = usize::from(actor).checked_sub(nodes);
    if let Some(server) = beyond.filter(|server| *server < servers) {
        return server_name(letter, server as u16);
    }
    match beyond.map(|place| place - servers) {
        None => node_name(actor),
        Some(0) => "client".to_owned(),
        Some(1) => "fenced".to_owned(),
        Some(2) => "unfenced".to_owned(),
        Some(place) => format!("store-client-{}", place - 2),
    }
}

/// The name of a kind of message, by [`Packet::kind`](crate::packet::Packet::kind).
pub(super) const fn message(kind: i64) -> &'static str {
    match kind {
        raft::REQUEST_PRE_VOTE => "request-pre-vote",
        raft::PRE_VOTE_GRANTED => "pre-vote-granted",
        raft::PRE_VOTE_REFUSED => "pre-vote-refused",
        raft::REQUEST_VOTE => "request-vote",
        raft::VOTE_GRANTED => "vote-granted",
        raft::VOTE_REFUSED => "vote-refused",
        raft::HEARTBEAT => "heartbeat",
        raft::HEARTBEAT_ACK => "heartbeat-ack",
        raft::HEARTBEAT_REFUSED => "heartbeat-refused",
        raft::RELEASE => "release",
        raft::APPEND => "append",
        raft::APPEND_ACK => "append-ack",
        raft::APPEND_REFUSED => "append-refused",
        raft::COMMIT => "commit",
        raft::INSTALL_SNAPSHOT => "install-snapshot",
        raft::FETCH => "fetch",
        raft::SUFFIX => "suffix",
        raft::READ_INDEX => "read-index",
        raft::READ_INDEX_ACK => "read-index-ack",
        raft::NOT_MEMBER => "not-member",
        raft::SUFFIX_SNAPSHOT => "suffix-snapshot",
        code::ASK => "ask",
        code::SAID => "said",
        code::REQUEST => "request",
        code::REPLY => "reply",
        code::WRITE => "write",
        code::ANSWER => "answer",
        code::FENCE => "fence",
        code::READ => "read",
        code::LOOK => "look",
        code::LIST => "list",
        code::CLAIM => "claim",
        code::FINISH => "finish",
        code::ASK_STORE => "ask-store",
        code::STORE_SAID => "store-said",
        code::SERVERS => "servers",
        other => of_peers(other),
    }
}

/// What a sentinel or a broker tells of its work.
#[cfg(feature = "peers")]
pub(super) fn news(code: i64) -> &'static str {
    if let Some(place) = code.checked_sub(brokers::FIRST_NEWS as i64)
        && let Ok(place) = usize::try_from(place)
    {
        return brokers::NEWS.get(place).copied().unwrap_or("news");
    }
    let names = &crate::scheme::sentinel::news::NAMES;
    let named = usize::try_from(code).ok().and_then(|code| names.get(code));
    named.copied().unwrap_or(names[0])
}

/// The same of the other schemes of peers.
const fn of_peers(kind: i64) -> &'static str {
    match kind {
        #[cfg(feature = "peers")]
        zab::NOTIFICATION..=zab::CLOSED => zab::NAMES[(kind - zab::NOTIFICATION) as usize],
        #[cfg(feature = "peers")]
        sentinel::PING..=sentinel::CLOSED => sentinel::NAMES[(kind - sentinel::PING) as usize],
        #[cfg(feature = "peers")]
        brokers::FETCH_METADATA..=brokers::PARTITIONS => {
            brokers::NAMES[(kind - brokers::FETCH_METADATA) as usize]
        }
        #[cfg(feature = "peers")]
        kraft::VOTE..=kraft::SNAPSHOT => kraft::NAMES[(kind - kraft::VOTE) as usize],
        _ => "message",
    }
}

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

/// Why a term ended, by [`Ended`](crate::physics::trace::Ended).
pub(super) const fn deposed(code: i64) -> &'static str {
    match code {
        0 => "lapsed",
        1 => "higher-term",
        2 => "resigned",
        3 => "disk-failed",
        4 => "crashed",
        5 => "removed",
        6 => "transferred",
        7 => "taken",
        _ => "unknown",
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
        8 => "epoch-moved",
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
        6 => "looking",
        7 => "observer",
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
