//! A statement as a client sends it, and what either server says of it, in words that are equal when the replies are.

use crate::server::postgres::Answer;
use tenure::lease::sql::text;
use tenure_sim::store::sql::{Columns, Said, Statement, Values};

/// All texts, prepared under their names.
pub(super) fn prepared() -> String {
    let texts = [
        ("take", text::TAKE),
        ("renew", text::RENEW),
        ("release", text::RELEASE),
        ("read", text::READ),
        ("open", text::OPEN),
        ("lock", text::LOCK),
        ("draw", text::DRAW),
        ("probe", text::PROBE),
        ("unlock", text::UNLOCK),
        ("look", text::LOOK),
    ];
    let prepare = |(name, text): &(&str, &str)| format!("PREPARE {name}_ AS {text}; ");
    texts.iter().map(prepare).collect()
}

/// A statement as a client sends it. No text here has a quote.
pub(super) fn sql(statement: &Statement) -> String {
    let values = |values: &Values| {
        let Values {
            name,
            holder,
            metadata,
            nonce,
        } = values;
        format!("'{name}', '{holder}', '{metadata}', '{nonce}'")
    };
    match statement {
        Statement::Open(idle) => format!("EXECUTE open_('{idle}')"),
        Statement::Begin => "BEGIN".to_owned(),
        Statement::Commit => "COMMIT".to_owned(),
        Statement::Rollback => "ROLLBACK".to_owned(),
        Statement::ForUpdate(name) => {
            format!("SELECT epoch FROM elections WHERE name = '{name}' FOR UPDATE")
        }
        Statement::SetEpoch(name, epoch) => {
            format!("UPDATE elections SET epoch = {epoch} WHERE name = '{name}'")
        }
        Statement::Take(row, ttl) => format!("EXECUTE take_({}, {ttl})", values(row)),
        Statement::Renew(name, nonce, epoch, ttl) => {
            format!("EXECUTE renew_('{name}', '{nonce}', {epoch}, {ttl})")
        }
        Statement::Release(name, nonce, epoch) => {
            format!("EXECUTE release_('{name}', '{nonce}', {epoch})")
        }
        Statement::Read(name) => format!("EXECUTE read_('{name}')"),
        Statement::Lock(name) => format!("EXECUTE lock_('{name}')"),
        Statement::Draw(row, ttl, former) => {
            format!("EXECUTE draw_({}, {ttl}, '{former}')", values(row))
        }
        Statement::Probe(name, nonce, epoch) => {
            format!("EXECUTE probe_('{name}', '{nonce}', {epoch})")
        }
        Statement::Unlock(name) => format!("EXECUTE unlock_('{name}')"),
        Statement::Look(name) => format!("EXECUTE look_('{name}')"),
    }
}

pub(super) const fn kind(statement: &Statement) -> &'static str {
    match statement {
        Statement::Open(_) => "OPEN",
        Statement::Begin => "BEGIN",
        Statement::Commit => "COMMIT",
        Statement::Rollback => "ROLLBACK",
        Statement::ForUpdate(_) => "FOR UPDATE",
        Statement::SetEpoch(..) => "UPDATE",
        Statement::Take(..) => "TAKE",
        Statement::Renew(..) => "RENEW",
        Statement::Release(..) => "RELEASE",
        Statement::Read(_) => "READ",
        Statement::Lock(_) => "LOCK",
        Statement::Draw(..) => "DRAW",
        Statement::Probe(..) => "PROBE",
        Statement::Unlock(_) => "UNLOCK",
        Statement::Look(_) => "LOOK",
    }
}

/// The kind of a statement that had waited.
pub(super) const fn after(statement: &Statement) -> &'static str {
    match statement {
        Statement::Take(..) => "after TAKE",
        Statement::Renew(..) => "after RENEW",
        Statement::Release(..) => "after RELEASE",
        Statement::Draw(..) => "after DRAW",
        Statement::ForUpdate(_) => "after FOR UPDATE",
        _ => "after others",
    }
}

/// What the real server said, in the words of [`told`].
pub(super) fn words(statement: &Statement, answer: &Answer) -> String {
    let (rows, tag) = match answer {
        Answer::Done(rows, tag) => (rows, tag),
        // An operator ended it; it was idle for too long.
        Answer::Refused(code, _) if code == "57P01" || code == "57P05" => {
            return "ended".to_owned();
        }
        Answer::Refused(code, why) => return format!("error {code} {why}"),
    };
    let row: Option<Vec<&str>> = rows.first().map(|row| {
        row.iter()
            .map(|column| column.as_deref().unwrap_or("null"))
            .collect()
    });
    match (statement, row.as_deref()) {
        (Statement::Begin | Statement::Commit | Statement::Rollback, _) => "done 0".to_owned(),
        (Statement::SetEpoch(..) | Statement::Release(..), _) => {
            format!("done {}", tag.rsplit(' ').next().unwrap_or_default())
        }
        (_, None) => "no row".to_owned(),
        (Statement::Take(..) | Statement::ForUpdate(_), Some([epoch])) => {
            format!("epoch is {epoch}")
        }
        (Statement::Draw(..), Some([epoch, "t"])) => format!("drawn interrupting {epoch}"),
        (Statement::Draw(..), Some([epoch, "f"])) => format!("drawn freely {epoch}"),
        (Statement::Lock(_) | Statement::Unlock(_), Some(["t"])) => "true".to_owned(),
        (Statement::Lock(_) | Statement::Unlock(_), Some(["f"])) => "false".to_owned(),
        (Statement::Open(_) | Statement::Renew(..) | Statement::Probe(..), Some([_])) => {
            "row".to_owned()
        }
        (Statement::Read(_), Some([columns @ .., "0"])) => format!("is over {}", columns.join("|")),
        (Statement::Read(_), Some([columns @ .., remains])) => {
            format!("is held {}, for {remains}", columns.join("|"))
        }
        (Statement::Look(_), Some([columns @ .., "t"])) => {
            format!("is locked {}", columns.join("|"))
        }
        (Statement::Look(_), Some([columns @ .., "f"])) => {
            format!("is unlocked {}", columns.join("|"))
        }
        (_, Some(row)) => format!("odd row {}", row.join("|")),
    }
}

/// What the simulated server said, in words.
pub(super) fn told(said: &Said) -> String {
    let columns = |row: &Columns| {
        format!(
            "{}|{}|{}|{}",
            row.holder, row.metadata, row.nonce, row.epoch
        )
    };
    match said {
        Said::Done(rows) => format!("done {rows}"),
        Said::NoRow => "no row".to_owned(),
        Said::Row => "row".to_owned(),
        Said::Epoch(epoch) => format!("epoch is {epoch}"),
        Said::Drawn(epoch, true) => format!("drawn interrupting {epoch}"),
        Said::Drawn(epoch, false) => format!("drawn freely {epoch}"),
        Said::Is(is) => is.to_string(),
        Said::Read(row, 0) => format!("is over {}", columns(row)),
        Said::Read(row, remains) => format!("is held {}, for {remains}", columns(row)),
        Said::Looked(row, true) => format!("is locked {}", columns(row)),
        Said::Looked(row, false) => format!("is unlocked {}", columns(row)),
        Said::Ended => "ended".to_owned(),
    }
}
