//! SEN-MasterStays: a master that can be reached stays the master.

use crate::check::Tally;

#[derive(Clone, Debug, Default)]
pub(super) struct MasterStays {
    pub(super) tally: Tally,
}

impl MasterStays {
    /// A sentinel begins to replace a master. Whether that one is well.
    pub(super) fn tried(&mut self, now: u64, healthy: bool) -> bool {
        self.tally.note(now, healthy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn to_replace_a_healthy_master_is_told() {
        let mut check = MasterStays::default();
        assert!(!check.tried(1, false) && check.tried(2, true));
    }
}
