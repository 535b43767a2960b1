//! INV-S3, C4: a tenure that is over never becomes valid again with its token.
//!
//! It is over when its belief lapsed in true time, whether anything happened then or not; when it was given up; and when
//! the same node held a later one. Each node is judged alone: that two nodes hold one token is for others to judge.

use super::Tally;
use tenure::Token;

/// What each node held, and what it may never hold again.
#[derive(Clone, Debug)]
pub(super) struct NeverRevives {
    nodes: Vec<Held>,
    tally: Tally,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    /// The token it believes by, until its end; [`Token::NONE`] when it does not believe.
    token: Token,
    until: u64,
    /// The highest token that is over.
    over: Token,
}

impl NeverRevives {
    pub(super) fn new(nodes: usize) -> Self {
        let held = Held {
            token: Token::NONE,
            until: 0,
            over: Token::NONE,
        };
        Self {
            nodes: vec![held; nodes],
            tally: Tally::default(),
        }
    }

    /// Put to the test by every tenure that ends, for from then on it could come back.
    pub(super) fn believes(&mut self, now: u64, node: usize, token: Token, until: u64) -> bool {
        let Some(held) = self.nodes.get_mut(node) else {
            return false;
        };
        let goes_on = held.token == token && held.until > now && until > now;
        if held.token != Token::NONE && !goes_on {
            held.over = held.over.max(held.token);
            self.tally.note(now, false);
        }
        held.token = if until > now { token } else { Token::NONE };
        held.until = until;
        let revived = held.token != Token::NONE && !goes_on && token <= held.over;
        revived && self.tally.note(now, true)
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
    fn a_belief_that_lapsed_without_an_event_does_not_come_back() {
        let mut check = NeverRevives::new(1);
        assert!(!check.believes(0, 0, token(1), 100));
        assert!(!check.believes(99, 0, token(1), 150), "renewed in time");
        assert!(check.believes(150, 0, token(1), 200), "renewed at its end");
        assert!(!check.believes(170, 0, token(1), 220));
        let tally = check.tally();
        assert_eq!((tally.exercised, tally.broken), (2, 1));
        assert_eq!(tally.first_broken_at, Some(150));
    }

    #[test]
    fn what_was_given_up_is_over_before_its_time() {
        let mut check = NeverRevives::new(1);
        check.believes(0, 0, token(1), 100);
        check.believes(10, 0, Token::NONE, 0);
        assert!(check.believes(20, 0, token(1), 100));
        assert!(!check.believes(30, 0, token(2), 130));
    }

    #[test]
    fn a_token_that_the_node_itself_overtook_is_over() {
        let mut check = NeverRevives::new(1);
        check.believes(0, 0, token(1), 100);
        assert!(!check.believes(10, 0, token(2), 110));
        assert!(check.believes(20, 0, token(1), 120));
    }

    #[test]
    fn another_nodes_tenures_say_nothing_of_its_own() {
        let mut check = NeverRevives::new(2);
        check.believes(0, 0, token(2), 100);
        check.believes(10, 0, Token::NONE, 0);
        assert!(!check.believes(20, 1, token(1), 120));
        assert_eq!(check.tally().exercised, 1);
    }
}
