//! Stale writes: a write that a resource takes although a newer leader has already fenced, read or written it.
//!
//! Who is newest is kept here, from outside, not read from the resource: a resource that forgot it would otherwise judge
//! itself. It goes by the token; of two leaders with the same token, which a store that fell back can make, or with none,
//! it is the one that was established later. Put to the test by every stale write that arrives, taken or not.

use super::Tally;
use tenure::Token;

/// What each resource has been shown.
#[derive(Clone, Debug)]
pub(super) struct StaleWrites {
    /// Who was established with what, the newest last.
    tenures: Vec<(Token, usize)>,
    resources: Vec<(Tenure, Tally)>,
}

/// A tenure, by its token and by when it was established: the number of those before it, itself included; 0 when it was not.
type Tenure = (Token, usize);

impl StaleWrites {
    pub(super) fn new(resources: usize) -> Self {
        Self {
            tenures: Vec::new(),
            resources: vec![((Token::NONE, 0), Tally::default()); resources],
        }
    }

    pub(super) fn established(&mut self, node: usize, token: Token) {
        self.tenures.push((token, node));
    }

    pub(super) fn touched(&mut self, resource: usize, node: usize, token: Token) {
        let tenure = self.tenure(node, token);
        if let Some((highest, _)) = self.resources.get_mut(resource) {
            *highest = tenure.max(*highest);
        }
    }

    pub(super) fn wrote(
        &mut self,
        now: u64,
        resource: usize,
        node: usize,
        token: Token,
        accepted: bool,
    ) -> bool {
        let tenure = self.tenure(node, token);
        // Who never led, and has no token, is none that was overtaken; it is the guard's to turn it away.
        if tenure.1 == 0 && !token.is_issued() && resource != 0 {
            return false;
        }
        let Some((highest, tally)) = self.resources.get_mut(resource) else {
            return false;
        };
        if tenure < *highest {
            return tally.note(now, accepted);
        }
        if accepted {
            *highest = tenure;
        }
        false
    }

    fn tenure(&self, node: usize, token: Token) -> Tenure {
        // Tenures are few, and the one that is asked for is among the last.
        let place = self.tenures.iter().rposition(|of| *of == (token, node));
        (token, place.map_or(0, |place| place + 1))
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
        assert!(!check.wrote(1, 0, 0, old, true));
        check.touched(0, 1, new);
        assert!(
            !check.wrote(2, 0, 0, old, false),
            "turned away: tested, not broken"
        );
        assert!(check.wrote(3, 0, 0, old, true));
        assert!(
            !check.wrote(4, 1, 0, old, true),
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

    #[test]
    fn of_two_with_the_same_token_or_with_none_the_later_is_newer() {
        for token in [Token::new(0, 5), Token::NONE] {
            let mut check = StaleWrites::new(2);
            check.established(0, token);
            assert!(!check.wrote(1, 1, 0, token, true));
            check.established(1, token);
            assert!(
                !check.wrote(2, 1, 0, token, true),
                "nobody has seen another"
            );
            assert!(!check.wrote(3, 1, 1, token, true));
            assert!(check.wrote(4, 1, 0, token, true));
            check.established(0, token);
            check.touched(1, 0, token);
            assert!(!check.wrote(5, 1, 0, token, true), "it leads again");
            assert!(check.wrote(6, 1, 1, token, true));
        }
    }

    #[test]
    fn who_never_led_and_has_no_token_is_turned_away_by_the_guard_and_else_not_judged() {
        let mut check = StaleWrites::new(2);
        for resource in [0, 1] {
            check.touched(resource, 1, Token::new(0, 5));
            check.wrote(1, resource, 0, Token::NONE, resource == 1);
        }
        assert_eq!((check.tally(0).exercised, check.tally(1).exercised), (1, 0));
    }
}
