//! KR-StaleLeaderStops: from when another may act with a higher token, who led before believes for a bounded time only. What
//! it was asked before then counts when it is read: the time counts from there, where that is later.

use super::Tally;
use tenure::Token;

/// Follows who believes by which token.
#[derive(Clone, Debug)]
pub(super) struct StaleLeaderStops {
    /// For how long, at most.
    within: u64,
    /// By node: what it believes by, and until when.
    beliefs: Vec<(Token, u64)>,
    /// By node: when it last read what was said before the newest leader was there.
    read: Vec<u64>,
    /// The highest token that somebody may act with, and since when.
    newest: Option<(Token, u64)>,
    pub(super) tally: Tally,
}

impl StaleLeaderStops {
    pub(super) fn new(nodes: usize, within: u64) -> Self {
        Self {
            within,
            beliefs: vec![(Token::NONE, 0); nodes],
            read: vec![0; nodes],
            newest: None,
            tally: Tally::default(),
        }
    }

    /// A node reads a message.
    pub(super) fn reads(&mut self, now: u64, node: usize, sent: u64) {
        if self.newest.is_some_and(|(_, since)| sent <= since) {
            self.read[node] = now;
        }
    }

    /// A node may act. Whether another believes for too long by a lower token.
    pub(super) fn established(&mut self, now: u64, token: Token) -> bool {
        if self.newest.is_some_and(|(newest, _)| token <= newest) {
            return false;
        }
        self.newest = Some((token, now));
        let stale = |(other, until): &&(Token, u64)| *other < token && *until > now;
        let mut all = self.beliefs.iter().filter(stale).peekable();
        if all.peek().is_none() {
            return false;
        }
        let late = all.any(|(_, until)| *until > now.saturating_add(self.within));
        self.tally.note(now, late)
    }

    /// What a node believes changed. Whether it is by a token that was overtaken, and for too long.
    pub(super) fn believes(&mut self, now: u64, node: usize, token: Token, until: u64) -> bool {
        let before = std::mem::replace(&mut self.beliefs[node], (token, until));
        let Some((newest, since)) = self.newest else {
            return false;
        };
        let goes_on = before.0 == token && until > before.1.max(now) && token < newest;
        goes_on
            && self.tally.note(
                now,
                until > since.max(self.read[node]).saturating_add(self.within),
            )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_goes_on_believing_is_found() {
        let token = |counter| Token::new(0, counter);
        let mut check = StaleLeaderStops::new(2, 10);
        assert!(!check.believes(1, 0, token(1), 8) && !check.established(2, token(1)));
        assert!(!check.established(3, token(2)), "the first stops in time");
        assert!(
            !check.believes(4, 0, token(1), 12),
            "it goes on, and stops in time"
        );
        assert!(check.believes(5, 0, token(1), 14));
        check.reads(6, 0, 4);
        assert!(check.believes(6, 0, token(1), 15), "that was said since");
        check.reads(7, 0, 3);
        assert!(!check.believes(7, 0, token(1), 17));
        assert!(!check.believes(7, 1, token(2), 99));
        assert_eq!((check.tally.exercised, check.tally.broken), (5, 2));
    }
}
