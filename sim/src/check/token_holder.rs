//! INV-F1, INV-F3: a token is of one tenure, and only the node that was established with it shows it at a resource.
//!
//! Elections are judged by what nodes report of themselves ([`super::token_rises`]); this is what arrives.

use super::Tally;
use tenure::Token;

/// Whose each token is.
#[derive(Clone, Debug)]
pub(super) struct TokenHolder {
    /// The first that was established with it; the newest last.
    holders: Vec<(Token, usize)>,
    /// What each resource was shown last: a leader shows its token with every write.
    shown: Vec<(Token, usize)>,
    tally: Tally,
}

impl TokenHolder {
    pub(super) fn new(resources: usize) -> Self {
        Self {
            holders: Vec::new(),
            shown: vec![(Token::NONE, 0); resources],
            tally: Tally::default(),
        }
    }

    pub(super) fn established(&mut self, node: usize, token: Token) {
        if self.holder(token).is_none() {
            self.holders.push((token, node));
        }
    }

    /// Put to the test whenever a resource is shown another token than last, or by another.
    pub(super) fn shown(&mut self, now: u64, resource: usize, node: usize, token: Token) -> bool {
        // Who shows no token does not claim to lead.
        if token == Token::NONE {
            return false;
        }
        let Some(last) = self.shown.get_mut(resource) else {
            return false;
        };
        if std::mem::replace(last, (token, node)) == (token, node) {
            return false;
        }
        self.tally.note(now, self.holder(token) != Some(node))
    }

    fn holder(&self, token: Token) -> Option<usize> {
        // Tenures are few, and the one that is asked for is among the last.
        let mut holders = self.holders.iter().rev();
        holders.find(|held| held.0 == token).map(|held| held.1)
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
    fn a_token_shown_by_another_or_by_nobody_established_breaks_it() {
        let mut check = TokenHolder::new(2);
        check.established(0, token(1));
        check.established(1, token(3));
        assert!(!check.shown(1, 0, 0, token(1)) && !check.shown(2, 1, 0, token(1)));
        assert!(!check.shown(3, 0, 0, token(1)), "as before");
        assert!(check.shown(4, 0, 1, token(1)), "it is another's");
        assert!(check.shown(5, 0, 1, token(2)), "it is nobody's");
        assert!(!check.shown(6, 0, 1, token(3)));
        assert!(!check.shown(7, 1, 0, token(1)), "late, but its own");
        let tally = check.tally();
        assert_eq!((tally.exercised, tally.broken), (5, 2));
    }

    #[test]
    fn the_first_that_was_established_with_a_token_is_its_holder() {
        let mut check = TokenHolder::new(1);
        check.established(2, token(5));
        check.established(1, token(5));
        assert!(check.shown(1, 0, 1, token(5)) && !check.shown(2, 0, 2, token(5)));
    }
}
