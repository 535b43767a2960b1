//! INV-E6, INV-F1: tokens rise strictly, for each node's elections and for the tenures of the group.
//!
//! Elections of different nodes are not compared: votes of an old term that were long on their way may elect somebody
//! after a newer term began. What counts is who is then allowed to act.

use super::Tally;
use tenure::Token;

/// The highest tokens so far.
#[derive(Clone, Debug)]
pub(super) struct TokenRises {
    elected: Vec<Token>,
    established: Token,
    tally: Tally,
}

impl TokenRises {
    pub(super) fn new(nodes: usize) -> Self {
        Self {
            elected: vec![Token::NONE; nodes],
            established: Token::NONE,
            tally: Tally::default(),
        }
    }

    pub(super) fn elected(&mut self, now: u64, node: usize, token: Token) -> bool {
        let Some(highest) = self.elected.get_mut(node) else {
            return false;
        };
        let broken = token <= *highest;
        *highest = token.max(*highest);
        self.tally.note(now, broken)
    }

    pub(super) fn established(&mut self, now: u64, node: usize, token: Token) -> bool {
        let never_elected = self
            .elected
            .get(node)
            .is_none_or(|elected| *elected != token);
        let broken = token <= self.established || never_elected;
        self.established = token.max(self.established);
        self.tally.note(now, broken)
    }

    pub(super) const fn tally(&self) -> Tally {
        self.tally
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(counter: u64) -> Token {
        Token::new(0, counter)
    }

    #[test]
    fn a_node_never_gets_a_token_twice() {
        let mut check = TokenRises::new(2);
        assert!(
            !check.elected(1, 0, token(1))
                && !check.elected(2, 1, token(1))
                && !check.elected(3, 0, token(2))
        );
        assert!(check.elected(4, 0, token(2)));
    }

    #[test]
    fn a_late_establishment_breaks_it() {
        let mut check = TokenRises::new(2);
        check.elected(1, 0, token(1));
        check.elected(2, 1, token(2));
        assert!(!check.established(3, 1, token(2)));
        assert!(check.established(4, 0, token(1)));
    }

    #[test]
    fn nobody_is_established_who_was_not_elected() {
        assert!(TokenRises::new(1).established(1, 0, token(1)));
    }
}
