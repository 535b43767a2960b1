//! What a node is, in few words: without clock values, terms and names.

use std::fmt;
use tenure::raft::{Raft, Record, Role, Rules};
use tenure::{Election, Instant, NodeId, Standing};

/// What a node is, without clock values, terms and names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Outline {
    role: Role,
    established: bool,
    believes: bool,
    vote: Whom,
    leader: Whom,
    grants: u8,
    promise: Promised,
    /// Whether the disk holds its term, and which vote.
    durable: bool,
    durable_vote: Whom,
    writes: bool,
}

/// A node, as seen from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Whom {
    Nobody,
    Itself,
    Another,
}

/// What binds it, if anything does now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Promised {
    Nothing,
    /// To the leader of its term.
    OwnTerm,
    /// To a leader of an earlier term.
    EarlierTerm,
    /// The wait after a restart.
    Restart,
}

impl Outline {
    /// The outline of a machine with this on its disk.
    pub(super) fn of<R: Rules>(
        machine: &Raft<R>,
        durable: Option<&Record>,
        writes: bool,
        now: Instant,
    ) -> Self {
        let whom = |id: Option<NodeId>| match id {
            None => Whom::Nobody,
            Some(id) if id == machine.id() => Whom::Itself,
            Some(_) => Whom::Another,
        };
        let promise = machine.promise().filter(|promise| promise.until > now);
        let durable = durable.copied().unwrap_or_default();
        let current = durable.term == machine.term();
        Self {
            role: machine.role(),
            established: machine.established(),
            believes: matches!(machine.standing(now), Standing::Leading(_)),
            vote: whom(machine.vote()),
            leader: whom(machine.leader()),
            grants: machine.grants() as u8,
            promise: match promise.map(|promise| promise.to) {
                None => Promised::Nothing,
                Some(None) => Promised::Restart,
                Some(Some(term)) if term == machine.term() => Promised::OwnTerm,
                Some(Some(_)) => Promised::EarlierTerm,
            },
            durable: current,
            durable_vote: whom(durable.vote.filter(|_| current)),
            writes,
        }
    }
}

impl fmt::Display for Outline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            role,
            established,
            believes,
            vote,
            leader,
            grants,
            promise,
            durable,
            durable_vote,
            writes,
        } = self;
        write!(
            f,
            "{role:?}, grants {grants}, vote {vote:?}, leader {leader:?}, promise {promise:?}"
        )?;
        let disk = if *durable {
            "this term"
        } else {
            "an earlier term"
        };
        write!(f, ", disk {disk} with vote {durable_vote:?}")?;
        for (is, what) in [
            (*established, ", established"),
            (*believes, ", believes"),
            (*writes, ", writing"),
        ] {
            if is {
                f.write_str(what)?;
            }
        }
        Ok(())
    }
}
