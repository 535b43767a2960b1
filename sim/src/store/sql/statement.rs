//! What a session asks of the server, and what it is told.

use std::sync::Arc;

/// A connection of a client.
pub type Session = u64;
/// The name of an election; a holder, a nonce.
pub type Text = Arc<str>;

/// A statement. Those with a name in capitals are the texts of [`tenure::lease::sql::text`], with their parameters; times are
/// in microseconds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Statement {
    /// `OPEN`, in milliseconds; 0 for no bound.
    Open(u64),
    /// `BEGIN`.
    Begin,
    /// `COMMIT`.
    Commit,
    /// `ROLLBACK`.
    Rollback,
    /// `SELECT epoch FROM elections WHERE name = … FOR UPDATE`.
    ForUpdate(Text),
    /// `UPDATE elections SET epoch = … WHERE name = …`: an operator's.
    SetEpoch(Text, i64),
    /// `TAKE`.
    Take(Values, i64),
    /// `RENEW`: name, nonce, epoch, ttl.
    Renew(Text, Text, i64, i64),
    /// `RELEASE`: name, nonce, epoch.
    Release(Text, Text, i64),
    /// `READ`.
    Read(Text),
    /// `LOCK`.
    Lock(Text),
    /// `DRAW`: ttl, and the nonce that needs no waiting for.
    Draw(Values, i64, Text),
    /// `PROBE`: name, nonce, epoch.
    Probe(Text, Text, i64),
    /// `UNLOCK`.
    Unlock(Text),
    /// `LOOK`.
    Look(Text),
}

/// What is written into a row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Values {
    /// Of the election.
    pub name: Text,
    /// Who.
    pub holder: Text,
    /// What it wants others to know.
    pub metadata: Text,
    /// Of the attempt.
    pub nonce: Text,
}

/// What comes of a statement.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Said {
    /// It was carried out; so many rows were changed.
    Done(u64),
    /// No row came back.
    NoRow,
    /// `1`, or whatever `OPEN` set.
    Row,
    /// An epoch.
    Epoch(i64),
    /// An epoch, and whether another was interrupted.
    Drawn(i64, bool),
    /// Whether it was so.
    Is(bool),
    /// A row, and how long it is held on.
    Read(Columns, u64),
    /// A row, and whether a session has the lock.
    Looked(Columns, bool),
    /// The session is over.
    Ended,
}

/// What is told of a row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Columns {
    /// Who, or nobody.
    pub holder: Text,
    /// What it wants others to know.
    pub metadata: Text,
    /// Of the attempt.
    pub nonce: Text,
    /// How often it changed hands.
    pub epoch: i64,
}

impl Statement {
    /// The row it locks, if any.
    pub(super) const fn row(&self) -> Option<&Text> {
        match self {
            Self::Take(values, _) | Self::Draw(values, ..) => Some(&values.name),
            Self::ForUpdate(name)
            | Self::SetEpoch(name, _)
            | Self::Renew(name, ..)
            | Self::Release(name, ..) => Some(name),
            _ => None,
        }
    }

    /// What comes of it when it finds no row.
    pub(super) const fn nothing(&self) -> Said {
        match self {
            Self::SetEpoch(..) | Self::Release(..) => Said::Done(0),
            _ => Said::NoRow,
        }
    }
}
