//! SEN-NoSelfReplication: no data server is ordered to replicate itself (redis@821a98664).

use crate::check::Tally;

#[derive(Clone, Debug, Default)]
pub(super) struct SelfReplication {
    pub(super) tally: Tally,
}

impl SelfReplication {
    /// A data server was ordered to follow somebody, or nobody. Whether that is itself.
    pub(super) fn ordered(&mut self, now: u64, itself: bool) -> bool {
        self.tally.note(now, itself)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_to_follow_itself_is_told() {
        let mut check = SelfReplication::default();
        assert!(!check.ordered(1, false) && check.ordered(2, true));
    }
}
