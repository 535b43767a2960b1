//! What the members of an ensemble say to each other, and their clients to them.

use super::super::command::{Command, Connect};
use super::super::image::{Image, Step};
use super::super::sessions::SessionId;
use crate::store::backlog::{self, Whose};
use std::sync::Arc;
use tenure::zab::Message;

/// What a client says on a connection.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// First of all.
    Connect(Connect),
    /// A request, under a number that its answer bears.
    Ask(i32, Command),
    /// It closes the connection.
    HangUp,
}

/// What members say to each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Peer {
    /// A message of ZAB, with what belongs to it.
    Zab(Message, Option<Load>),
    /// To the leader of an epoch.
    Learner(u64, Told),
    /// Whether a session may go on at the member that asked.
    Validated(Whose, bool),
}

/// What a member attaches to a message of ZAB.
pub(super) type Load = backlog::Load<Txn, Image>;

/// What a member tells the leader.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Told {
    /// It heard of these sessions, which outlast so much silence, since it told of any.
    Touched(Vec<(SessionId, i32)>),
    /// A step that it was asked for.
    Asked(Arc<Asked>),
    /// A client comes back with that session, which outlasts so much silence (`REVALIDATE`).
    Validate(Whose, SessionId, i32),
}

/// A step that is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Asked {
    /// Who waits for an answer.
    pub(super) whose: Option<Whose>,
    pub(super) session: SessionId,
    pub(super) step: Step,
}

/// What an entry is about. Its zxid is its name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Txn {
    pub(super) asked: Asked,
    /// When the leader proposed it, in milliseconds of its clock.
    pub(super) time: i64,
}
