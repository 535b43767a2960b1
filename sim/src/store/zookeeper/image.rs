//! What a server holds: its znodes and its sessions. It changes by steps alone, each with a zxid and a time, so that whoever
//! carries out the same ones in the same order holds the same.

use super::command::{Error, Operation, Reply, Stat};
use super::sessions::SessionId;
use super::tree::{At, Tree};
use super::watches::Change;
use crate::sorted::Sorted;
use crate::store::{Key, Value};

/// What outlasts a restart, and is a backup when it is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Image {
    pub(super) tree: Tree,
    /// The sessions with the time that was agreed on when each began.
    sessions: Sorted<SessionId, i32>,
    zxid: i64,
}

/// A change of what is held, for a session.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Step {
    /// The session begins, and outlasts so many milliseconds of silence.
    Begin(i32),
    /// The session is over, and takes its own along.
    End,
    /// `create2`, `delete`, `setData`.
    Do(Operation),
    /// `multi`
    Multi(Vec<Operation>),
    /// A container goes that is deserted.
    Remove(Key),
    /// Nothing changes but the zxid: whoever gives it refused what was asked.
    #[cfg(feature = "peers")]
    Refuse(Error),
}

impl Image {
    /// Carries out a step, and tells what changed.
    pub(super) fn carry_out(
        &mut self,
        at: At,
        step: &Step,
        changes: &mut Vec<Change>,
    ) -> Result<Reply, Error> {
        self.zxid = at.zxid;
        match step {
            Step::Begin(timeout) => self.sessions.insert(at.session, *timeout),
            Step::End => {
                self.sessions.remove(&at.session);
                self.tree.end(at, changes);
            }
            Step::Do(operation) => return self.tree.operate(at, operation, changes),
            Step::Multi(operations) => return Ok(self.multi(at, operations, changes)),
            Step::Remove(path) => self.tree.remove(at.zxid, path, changes),
            #[cfg(feature = "peers")]
            Step::Refuse(error) => return Err(*error),
        }
        Ok(Reply::Done)
    }

    fn multi(&mut self, at: At, operations: &[Operation], told: &mut Vec<Change>) -> Reply {
        let mut tree = self.tree.clone();
        let mut changes = Vec::new();
        let mut done = Vec::new();
        for operation in operations {
            match tree.operate(at, operation, &mut changes) {
                Ok(Reply::Created { path, .. }) if !operation.creates_container() => {
                    done.push(Reply::Named(path));
                }
                Ok(reply) => done.push(reply),
                Err(error) => {
                    let mut failed = vec![None; done.len()];
                    failed.push(Some(error));
                    failed.resize(operations.len(), Some(Error::RuntimeInconsistency));
                    return Reply::Failed(failed);
                }
            }
        }
        self.tree = tree;
        told.append(&mut changes);
        Reply::Multi(done)
    }

    /// The newest change.
    #[must_use]
    pub const fn zxid(&self) -> i64 {
        self.zxid
    }

    /// The sessions that are not over, in order, each with its time in milliseconds.
    pub fn sessions(&self) -> impl Iterator<Item = (SessionId, i32)> {
        self.sessions
            .iter()
            .map(|(session, timeout)| (*session, *timeout))
    }

    /// Whether a session is not over.
    #[must_use]
    pub fn knows(&self, session: SessionId) -> bool {
        self.sessions.contains_key(&session)
    }

    /// What is kept at a znode.
    #[must_use]
    pub fn data(&self, path: &Key) -> Option<&Value> {
        self.tree.data(path)
    }

    /// What is known of a znode.
    #[must_use]
    pub fn stat(&self, path: &Key) -> Option<Stat> {
        self.tree.stat(path)
    }

    /// The names of the children of a znode, in order.
    #[must_use]
    pub fn children(&self, path: &Key) -> Option<Vec<Key>> {
        self.tree.children(path)
    }
}
