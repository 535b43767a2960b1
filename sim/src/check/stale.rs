//! Stale writes: a write that a resource takes although a newer leader has already fenced, read or written it.
//!
//! The highest token is kept here, from outside, not read from the resource: a resource that forgot it would otherwise
//! judge itself. Put to the test by every stale write that arrives, taken or not.

use super::Tally;
use tenure::Token;

/// What each resource has been shown.
#[derive(Clone, Debug)]
pub(super) struct StaleWrites {
    resources: Vec<(Token, Tally)>,
}

impl StaleWrites {
    pub(super) fn new(resources: usize) -> Self {
        Self {
            resources: vec![(Token::NONE, Tally::default()); resources],
        }
    }

    pub(super) fn touched(&mut self, resource: usize, token: Token) {
        if let Some((highest, _)) = self.resources.get_mut(resource) {
            *highest = token.max(*highest);
        }
    }

    pub(super) fn wrote(
        &mut self,
        now: u64,
        resource: usize,
        token: Token,
        accepted: bool,
    ) -> bool {
        let Some((highest, tally)) = self.resources.get_mut(resource) else {
            return false;
        };
        if token < *highest {
            return tally.note(now, accepted);
        }
        if accepted {
            *highest = token;
        }
        false
    }

    pub(super) fn tally(&self, resource: usize) -> Tally {
        self.resources
            .get(resource)
            .map_or_else(Tally::default, |(_, tally)| *tally)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stale_is_judged_against_every_touch_and_each_resource_alone() {
        let mut check = StaleWrites::new(2);
        let (old, new) = (Token::new(0, 5), Token::new(0, 6));
        assert!(!check.wrote(1, 0, old, true));
        check.touched(0, new);
        assert!(
            !check.wrote(2, 0, old, false),
            "turned away: tested, not broken"
        );
        assert!(check.wrote(3, 0, old, true));
        assert!(
            !check.wrote(4, 1, old, true),
            "the other resource has not heard of the new leader"
        );
        assert_eq!(
            check.tally(0),
            Tally {
                exercised: 2,
                broken: 1,
                first_broken_at: Some(3)
            }
        );
        assert_eq!(check.tally(1), Tally::default());
    }
}
