//! A resource that leaders write: one kind keeps a fence, the other takes whatever comes.

use tenure::Token;
use tenure::fence::{ElectionId, Fence, Pass, Refused};

/// The election that the resources of a world are guarded for.
pub const ELECTION: ElectionId = ElectionId(1);

/// One guarded or unguarded counter.
#[derive(Clone, Debug)]
pub struct Resource {
    /// `None`: nothing is checked.
    guard: Option<Fence>,
    value: u64,
    last_writer: Option<u16>,
    accepted: u64,
    refused: u64,
    /// The highest token shown here, by the resource's own account: an unguarded one notes it and does nothing about it.
    highest: Token,
}

impl Resource {
    /// A new resource, fenced or not.
    #[must_use]
    pub fn new(fenced: bool) -> Self {
        let guard = fenced.then(|| Fence::unused(ELECTION));
        Self {
            guard,
            value: 0,
            last_writer: None,
            accepted: 0,
            refused: 0,
            highest: Token::NONE,
        }
    }

    /// Shuts out everybody below the token.
    ///
    /// # Errors
    /// When a guard refuses.
    pub fn fence(&mut self, pass: &Pass) -> Result<(), Refused> {
        self.highest = match &mut self.guard {
            Some(guard) => guard.fence(pass)?.highest,
            None => self.highest.max(pass.token),
        };
        Ok(())
    }

    /// Reads the value. Reading needs no token: this is what makes "read, then fence" wrong (LS-F5).
    #[must_use]
    pub const fn read(&self) -> u64 {
        self.value
    }

    /// Writes a value.
    ///
    /// # Errors
    /// When a guard refuses.
    pub fn write(&mut self, pass: &Pass, writer: u16, value: u64) -> Result<(), Refused> {
        // What is stored with the value, in one step: the simulated resource never crashes.
        self.highest = match &mut self.guard {
            Some(guard) => {
                guard
                    .admit(pass)
                    .inspect_err(|_| self.refused += 1)?
                    .highest
            }
            None => self.highest.max(pass.token),
        };
        self.value = value;
        self.last_writer = Some(writer);
        self.accepted += 1;
        Ok(())
    }

    /// Whether it keeps a fence.
    #[must_use]
    pub const fn fenced(&self) -> bool {
        self.guard.is_some()
    }

    /// The value.
    #[must_use]
    pub const fn value(&self) -> u64 {
        self.value
    }

    /// Who wrote last.
    #[must_use]
    pub const fn last_writer(&self) -> Option<u16> {
        self.last_writer
    }

    /// How many writes were accepted.
    #[must_use]
    pub const fn accepted(&self) -> u64 {
        self.accepted
    }

    /// How many writes were refused.
    #[must_use]
    pub const fn refused(&self) -> u64 {
        self.refused
    }

    /// The highest token shown with a fence or a write.
    #[must_use]
    pub const fn highest(&self) -> Token {
        self.highest
    }
}

/// The code of a refusal in the trace.
#[must_use]
pub const fn refusal_code(refused: Refused) -> u64 {
    match refused {
        Refused::Stale { .. } => 0,
        Refused::Conflict { .. } => 1,
        Refused::NeverIssued => 2,
        Refused::WrongElection { .. } => 3,
        Refused::Closed => 4,
        _ => 5,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenure::NodeId;
    use tenure::fence::Holder;

    fn pass(counter: u64) -> Pass {
        Pass {
            election: ELECTION,
            token: Token::new(0, counter),
            holder: Holder {
                node: NodeId(counter),
                incarnation: 1,
            },
        }
    }

    #[test]
    fn only_the_fenced_one_shuts_the_old_leader_out() {
        let mut fenced = Resource::new(true);
        let mut open = Resource::new(false);
        for resource in [&mut fenced, &mut open] {
            resource.write(&pass(5), 0, 1).unwrap();
            resource.fence(&pass(6)).unwrap();
        }
        assert!(matches!(
            fenced.write(&pass(5), 0, 2),
            Err(Refused::Stale { .. })
        ));
        assert_eq!(open.write(&pass(5), 0, 2), Ok(()));
        assert_eq!((fenced.value(), open.value()), (1, 2));
        assert_eq!(
            (fenced.refused(), open.refused(), fenced.highest()),
            (1, 0, Token::new(0, 6))
        );
    }

    #[test]
    fn a_read_does_not_fence() {
        let mut fenced = Resource::new(true);
        fenced.write(&pass(5), 0, 1).unwrap();
        assert_eq!(fenced.read(), 1);
        assert_eq!(fenced.write(&pass(5), 0, 2), Ok(()));
    }
}
