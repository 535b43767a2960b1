//! A connection of a client as its member has it: what was asked on it is answered in that order.

use super::super::command::{Command, Error, Reply};
use super::super::sessions::SessionId;
use std::collections::VecDeque;
use tenure::Ticket;

/// A connection.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// What its client calls it.
    pub(super) name: Ticket,
    /// The session that it is to be for, while that is not agreed on.
    pub(super) opening: Option<(SessionId, i32)>,
    pending: VecDeque<Pending>,
}

#[derive(Clone, Debug)]
struct Pending {
    xid: i32,
    command: Command,
    waits: Waits,
}

/// What a request waits for, once it is the first.
#[derive(Clone, Debug)]
enum Waits {
    /// Nothing: it is carried out then.
    Turn,
    /// To be committed.
    Commit,
    /// The barrier of this number, and then a state that has come so far.
    Barrier(u64, Option<u64>),
    /// To be answered.
    Done(Result<Reply, Error>),
}

/// The next thing to do for a connection.
pub(super) enum Turn {
    /// A look at what the member has.
    Look(i32, Command),
    /// An answer.
    Answer(i32, Result<Reply, Error>),
}

impl Line {
    /// One that is to be for a session.
    pub(super) const fn new(name: Ticket, session: SessionId, timeout: i32) -> Self {
        Self {
            name,
            opening: Some((session, timeout)),
            pending: VecDeque::new(),
        }
    }

    fn push(&mut self, xid: i32, command: Command, waits: Waits) {
        self.pending.push_back(Pending {
            xid,
            command,
            waits,
        });
    }

    /// A request that changes something: it was passed on.
    pub(super) fn writes(&mut self, xid: i32, command: Command) {
        self.push(xid, command, Waits::Commit);
    }

    /// A request that only looks.
    pub(super) fn looks(&mut self, xid: i32, command: Command) {
        self.push(xid, command, Waits::Turn);
    }

    /// A `sync`, which waits for the barrier of this number.
    pub(super) fn syncs(&mut self, xid: i32, command: Command, barrier: u64) {
        self.push(xid, command, Waits::Barrier(barrier, None));
    }

    /// The first of its changes that was not is committed, with this result.
    pub(super) fn committed(&mut self, result: Result<Reply, Error>) {
        let mut pending = self.pending.iter_mut();
        if let Some(first) = pending.find(|pending| matches!(pending.waits, Waits::Commit)) {
            first.waits = Waits::Done(result);
        }
    }

    /// All barriers up to a number are passed once the state has come to an index.
    pub(super) fn passed(&mut self, upto: u64, index: u64) {
        for pending in &mut self.pending {
            if let Waits::Barrier(number, at) = &mut pending.waits
                && *number <= upto
            {
                at.get_or_insert(index);
            }
        }
    }

    /// The next thing to do, where the state has come to `applied`.
    pub(super) fn turn(&mut self, applied: u64) -> Option<Turn> {
        let due = match self.pending.front()?.waits {
            Waits::Turn | Waits::Done(_) => true,
            Waits::Commit => false,
            Waits::Barrier(_, index) => index.is_some_and(|index| index <= applied),
        };
        if !due {
            return None;
        }
        let Pending {
            xid,
            command,
            waits,
        } = self.pending.pop_front()?;
        Some(match waits {
            Waits::Turn => Turn::Look(xid, command),
            Waits::Done(result) => Turn::Answer(xid, result),
            Waits::Commit | Waits::Barrier(..) => Turn::Answer(xid, Ok(Reply::Done)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(line: &mut Line, applied: u64) -> Vec<i32> {
        let turns = std::iter::from_fn(|| line.turn(applied));
        let xid = |turn| match turn {
            Turn::Look(xid, _) | Turn::Answer(xid, _) => xid,
        };
        turns.map(xid).collect()
    }

    #[test]
    fn what_is_asked_is_answered_in_that_order_whatever_it_waits_for() {
        let name = Ticket {
            incarnation: 1,
            number: 1,
        };
        let mut line = Line::new(name, 7, 200);
        line.looks(1, Command::Ping);
        line.writes(2, Command::Close);
        line.looks(3, Command::Ping);
        line.syncs(4, Command::Sync("/".into()), 9);
        line.writes(5, Command::Close);
        assert_eq!(turns(&mut line, 0), [1]);
        line.passed(9, 6);
        assert_eq!(turns(&mut line, 6), []);
        line.committed(Ok(Reply::Done));
        assert_eq!(turns(&mut line, 5), [2, 3]);
        line.committed(Err(Error::NoNode));
        assert_eq!(turns(&mut line, 6), [4, 5]);
    }
}
