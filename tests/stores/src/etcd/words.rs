//! What is called of etcd as JSON, and what either server says in the same words.

use super::{
    Change, Command, Compare, Is, Operation, Order, Range, Reply, Said, Select, Target, Trouble,
    Value,
};
use serde_json::json;
use std::fmt::Write as _;
use tenure_sim::store::Record;

pub(super) fn parse(said: &str) -> Result<Value, Trouble> {
    serde_json::from_str(said).map_err(|why| Trouble::failed(said, why))
}

pub(super) const fn kind(command: &Command) -> &'static str {
    match command {
        Command::Do(Operation::Range(_)) => "RANGE",
        Command::Do(Operation::Put { .. }) => "PUT",
        Command::Do(Operation::Delete(_)) => "DELETE",
        Command::Txn { .. } => "TXN",
        Command::LeaseGrant { .. } => "GRANT",
        Command::LeaseRevoke(_) => "REVOKE",
        Command::LeaseKeepAlive(_) => "KEEPALIVE",
        Command::LeaseTimeToLive(_) => "TIMETOLIVE",
        Command::Watch { .. } | Command::WatchCancel(_) => "WATCH",
    }
}

/// Where a call goes, and as what.
pub(super) fn call(command: &Command) -> (&'static str, String) {
    let (path, json) = match command {
        Command::Do(operation) => {
            let path = match operation {
                Operation::Range(_) => "/v3/kv/range",
                Operation::Put { .. } => "/v3/kv/put",
                Operation::Delete(_) => "/v3/kv/deleterange",
            };
            (path, request(operation).1)
        }
        Command::Txn {
            compare,
            success,
            failure,
        } => {
            let side = |side: &[Operation]| -> Vec<Value> {
                let all = side.iter().map(request);
                all.map(|(name, json)| json!({ format!("request_{name}"): json }))
                    .collect()
            };
            let compare: Vec<Value> = compare.iter().map(compared).collect();
            let txn =
                json!({"compare": compare, "success": side(success), "failure": side(failure)});
            ("/v3/kv/txn", txn)
        }
        Command::LeaseGrant { lease, ttl } => {
            let grant = json!({"ID": lease.to_string(), "TTL": ttl.to_string()});
            ("/v3/lease/grant", grant)
        }
        Command::LeaseRevoke(lease) => ("/v3/lease/revoke", json!({"ID": lease.to_string()})),
        Command::LeaseKeepAlive(lease) => ("/v3/lease/keepalive", json!({"ID": lease.to_string()})),
        Command::LeaseTimeToLive(lease) => {
            let ask = json!({"ID": lease.to_string(), "keys": true});
            ("/v3/lease/timetolive", ask)
        }
        Command::Watch { .. } | Command::WatchCancel(_) => ("/v3/watch", json!({})),
    };
    (path, json.to_string())
}

/// An operation by its name in a transaction.
fn request(operation: &Operation) -> (&'static str, Value) {
    match operation {
        Operation::Range(select) => ("range", looked(select)),
        Operation::Put { key, value, lease } => {
            let put =
                json!({"key": base64(key), "value": base64(value), "lease": lease.to_string()});
            ("put", put)
        }
        Operation::Delete(keys) => ("delete_range", among(keys)),
    }
}

fn looked(select: &Select) -> Value {
    let mut json = among(&select.keys);
    json["max_create_revision"] = json!(select.max_create_revision.to_string());
    json["limit"] = json!(select.limit.to_string());
    let order = match select.order {
        Order::Key => return json,
        Order::FirstCreated => "ASCEND",
        Order::LastCreated => "DESCEND",
    };
    json["sort_target"] = json!("CREATE");
    json["sort_order"] = json!(order);
    json
}

/// A prefix is a range that ends before the next key that begins otherwise. All keys have an end here, too: in a range
/// without one the real server does not see that a transaction changes a key twice.
fn among(keys: &Range) -> Value {
    match keys {
        Range::Key(key) => json!({"key": base64(key)}),
        Range::Prefix(prefix) => match prefix.as_bytes().split_last() {
            None => json!({"key": base64("\0"), "range_end": base64("\u{7f}")}),
            Some((last, before)) => {
                let mut end = before.to_vec();
                end.push(last + 1);
                let end = String::from_utf8_lossy(&end).into_owned();
                json!({"key": base64(prefix), "range_end": base64(&end)})
            }
        },
    }
}

fn compared(compare: &Compare) -> Value {
    let result = match compare.is {
        Is::Equal => "EQUAL",
        Is::Unequal => "NOT_EQUAL",
        Is::Greater => "GREATER",
        Is::Less => "LESS",
    };
    let (target, name, than) = match &compare.target {
        Target::Create(n) => ("CREATE", "create_revision", n.to_string()),
        Target::Modified(n) => ("MOD", "mod_revision", n.to_string()),
        Target::Version(n) => ("VERSION", "version", n.to_string()),
        Target::Value(value) => ("VALUE", "value", base64(value)),
    };
    json!({"key": base64(&compare.key), "result": result, "target": target, name: than})
}

pub(super) fn watch(keys: &Range, from: u64) -> String {
    let mut create = among(keys);
    create["start_revision"] = json!(from.to_string());
    json!({ "create_request": create }).to_string()
}

/// What the simulated server answered.
pub(super) fn simulated(said: &Said) -> String {
    match said {
        Said::Answer {
            revision,
            result: Ok(reply),
        } => format!("{} at {revision}", reply_words(reply)),
        Said::Answer {
            result: Err(error), ..
        } => error_words(&error.to_string()),
        other => format!("{other:?}"),
    }
}

fn reply_words(reply: &Reply) -> String {
    match reply {
        Reply::Range { found, count, more } => {
            let found = found.iter().map(record).collect();
            found_words(found, *count as u64, *more)
        }
        Reply::Put => "put".to_owned(),
        Reply::Deleted(count) => format!("deleted {count}"),
        Reply::Txn { succeeded, done } => {
            txn_words(*succeeded, done.iter().map(reply_words).collect())
        }
        Reply::Granted(seconds) => format!("granted {seconds}"),
        Reply::Revoked => "revoked".to_owned(),
        Reply::Alive(seconds) => format!("alive {seconds}"),
        Reply::TimeToLive {
            left,
            granted,
            keys,
        } => {
            let keys = keys.iter().map(ToString::to_string).collect();
            left_words(*left, *granted, keys)
        }
    }
}

/// What the real server answered.
pub(super) fn real(command: &Command, said: &Value) -> String {
    if let Some(error) = said["error"].as_str() {
        return error_words(error);
    }
    let said = match command {
        Command::LeaseKeepAlive(_) => &said["result"],
        _ => said,
    };
    let told = match command {
        Command::Do(operation) => did(operation, said),
        Command::Txn {
            success, failure, ..
        } => {
            let succeeded = said["succeeded"].as_bool().unwrap_or(false);
            let side = if succeeded { success } else { failure };
            let none = Vec::new();
            let answers = said["responses"].as_array().unwrap_or(&none);
            let both = side.iter().zip(answers);
            let did = both.map(|(operation, answer)| {
                let name = format!("response_{}", request(operation).0);
                did(operation, &answer[name])
            });
            txn_words(succeeded, did.collect())
        }
        Command::LeaseGrant { .. } => format!("granted {}", number(&said["TTL"])),
        Command::LeaseRevoke(_) => "revoked".to_owned(),
        Command::LeaseKeepAlive(_) => format!("alive {}", number(&said["TTL"])),
        _ => {
            let keys = said["keys"].as_array();
            let keys = keys.into_iter().flatten().map(text).collect();
            left_words(
                number(&said["TTL"]),
                number(&said["grantedTTL"]).unsigned_abs(),
                keys,
            )
        }
    };
    format!("{told} at {}", number(&said["header"]["revision"]))
}

fn did(operation: &Operation, said: &Value) -> String {
    match operation {
        Operation::Range(_) => {
            let found = said["kvs"].as_array();
            let found = found.into_iter().flatten().map(key_value).collect();
            let more = said["more"].as_bool().unwrap_or(false);
            found_words(found, number(&said["count"]).unsigned_abs(), more)
        }
        Operation::Put { .. } => "put".to_owned(),
        Operation::Delete(_) => format!("deleted {}", number(&said["deleted"])),
    }
}

fn error_words(error: &str) -> String {
    format!("error {}", error.trim_start_matches("etcdserver: "))
}

fn found_words(found: Vec<String>, count: u64, more: bool) -> String {
    let kind = match (found.is_empty(), more) {
        (_, true) => "some",
        (true, false) => "none",
        (false, false) => "all",
    };
    format!("range {kind} of {count} [{}]", found.join(", "))
}

fn txn_words(succeeded: bool, done: Vec<String>) -> String {
    let so = if succeeded { "yes" } else { "no" };
    format!("txn {so} [{}]", done.join("; "))
}

fn left_words(left: i64, granted: u64, mut keys: Vec<String>) -> String {
    // The real server has them in no order.
    keys.sort();
    let there = if left < 0 { "none" } else { "still" };
    format!("left {there} {left} of {granted} [{}]", keys.join(", "))
}

/// How many seconds of a lease are left, if that was asked.
pub(super) fn left(words: &str) -> Option<i64> {
    words
        .strip_prefix("left still ")?
        .split(' ')
        .next()?
        .parse()
        .ok()
}

/// The same with what the other said is left.
pub(super) fn as_long(words: &str, left: i64, other: i64) -> String {
    words.replacen(&format!("still {left} "), &format!("still {other} "), 1)
}

fn record(record: &Record) -> String {
    kv_words(
        &record.key,
        &record.value,
        [
            record.created,
            record.modified,
            record.version,
            record.lease,
        ],
    )
}

fn key_value(kv: &Value) -> String {
    let number = |name: &str| number(&kv[name]).unsigned_abs();
    kv_words(
        &text(&kv["key"]),
        &text(&kv["value"]),
        [
            number("create_revision"),
            number("mod_revision"),
            number("version"),
            number("lease"),
        ],
    )
}

fn kv_words(key: &str, value: &str, [created, modified, version, lease]: [u64; 4]) -> String {
    let mut words =
        format!("{key}={value:?} created {created} modified {modified} version {version}");
    if lease > 0 {
        let _ = write!(words, " lease {lease}");
    }
    words
}

/// What the simulated server told a watch, one word an event.
pub(super) fn told(said: &Said) -> Vec<String> {
    match said {
        Said::Watched(changes) => changes.iter().map(change).collect(),
        Said::Compacted(oldest) => vec![format!("compacted {oldest}")],
        Said::Answer { .. } => vec![],
    }
}

fn change(change: &Change) -> String {
    match change {
        Change::Put(put) => record(put),
        Change::Gone(key, revision) => format!("{key} gone in {revision}"),
    }
}

/// What the real server told a watch.
pub(super) fn events(message: &Value) -> Vec<String> {
    let result = &message["result"];
    if let Some(oldest) = result["compact_revision"].as_str() {
        return vec![format!("compacted {oldest}")];
    }
    let events = result["events"].as_array();
    let events = events.into_iter().flatten();
    events
        .map(|event| match event["type"].as_str() {
            Some("DELETE") => {
                let kv = &event["kv"];
                format!(
                    "{} gone in {}",
                    text(&kv["key"]),
                    number(&kv["mod_revision"])
                )
            }
            _ => key_value(&event["kv"]),
        })
        .collect()
}

pub(super) fn list(told: &[String]) -> String {
    match told.first() {
        None => "told nothing".to_owned(),
        Some(first) if first.starts_with("compacted") => format!("told {}", told.join(", ")),
        Some(_) => format!("told changes: {}", told.join(", ")),
    }
}

/// A number, which is a string, or not there when it is 0.
fn number(value: &Value) -> i64 {
    value
        .as_str()
        .and_then(|word| word.parse().ok())
        .unwrap_or(0)
}

/// Bytes that are text.
fn text(value: &Value) -> String {
    let bytes = value.as_str().map(decoded).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn base64(text: &str) -> String {
    let mut words = String::new();
    for three in text.as_bytes().chunks(3) {
        let byte = |place: usize| u32::from(three.get(place).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * place) & 63) as usize];
            words.push(if place <= three.len() {
                digit as char
            } else {
                '='
            });
        }
    }
    words
}

fn decoded(words: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for word in words.bytes() {
        let Some(digit) = DIGITS.iter().position(|digit| *digit == word) else {
            break;
        };
        bits = bits << 6 | digit as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_as_long_as_it_must_be_and_comes_back() {
        for (text, words) in [
            ("", ""),
            ("a", "YQ=="),
            ("ab", "YWI="),
            ("abc", "YWJj"),
            ("\0", "AA=="),
        ] {
            assert_eq!(base64(text), words);
            assert_eq!(decoded(words), text.as_bytes());
        }
    }
}
