//! INV-R1 and INV-R2 at the store: what its clients were answered can be explained by registers, one a key, each of which
//! takes every operation at one instant between its question and its answer. So a read is never older than the newest write
//! that was acknowledged before it was asked for.

use super::linearizable::{Fate, Finding};
use crate::linear::{
    DEFAULT_STEPS, History, Judgement, OperationId, Register, RegisterInput, RegisterOutput,
};
use crate::report::millis;
use crate::store::Noted;
use std::collections::BTreeMap;

/// What the clients of a store asked and were answered.
#[derive(Clone, Debug, Default)]
pub(crate) struct StoreHistory {
    history: History<u64, RegisterInput, RegisterOutput>,
    /// By client and number.
    under_way: BTreeMap<(u16, u64), OperationId>,
    answers: u64,
}

impl StoreHistory {
    pub(crate) fn note(&mut self, now: u64, client: u16, noted: Noted) {
        match noted {
            Noted::Asked(number, key, input) => {
                let id = self.history.asked(u32::from(client), key, input, now);
                self.under_way.insert((client, number), id);
            }
            Noted::Answered(number, output) => {
                let id = self.under_way.remove(&(client, number));
                self.answers +=
                    u64::from(id.is_some_and(|id| self.history.answered(id, output, now).is_ok()));
            }
            Noted::Refused(number) => {
                if let Some(id) = self.under_way.remove(&(client, number)) {
                    // It is under way, as all that is listed.
                    let _ = self.history.refused(id);
                }
            }
        }
    }

    pub(crate) fn finding(&self) -> Finding {
        let fate = match self.history.judge(&Register, DEFAULT_STEPS) {
            Ok(()) | Err((_, Judgement::Linearizable)) => Fate::Explained,
            Err((key, Judgement::Broken(small))) => {
                let stuck = small.operations.get(small.stuck);
                let at = stuck.and_then(|operation| operation.answered());
                let told = small.tell(&Register, |client| format!("client {client}"), millis);
                Fate::Broken(at, format!("Key k{key}: {told}"))
            }
            Err((_, Judgement::Unknown)) => Fate::Unknown,
        };
        Finding {
            exercised: self.answers,
            fate,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_that_misses_an_acknowledged_write_is_found_and_one_that_was_refused_is_not() {
        let mut judge = StoreHistory::default();
        judge.note(1, 7, Noted::Asked(1, 0, RegisterInput::Write(5)));
        judge.note(3, 7, Noted::Answered(1, RegisterOutput::Done));
        judge.note(4, 7, Noted::Asked(2, 0, RegisterInput::Write(6)));
        judge.note(5, 7, Noted::Refused(2));
        judge.note(6, 8, Noted::Asked(1, 0, RegisterInput::Read));
        judge.note(7, 8, Noted::Answered(1, RegisterOutput::Value(5)));
        let Finding { exercised, fate } = judge.finding();
        assert_eq!((exercised, fate), (2, Fate::Explained));
        judge.note(8, 8, Noted::Asked(2, 0, RegisterInput::Read));
        judge.note(9, 8, Noted::Answered(2, RegisterOutput::Value(0)));
        let Fate::Broken(at, reason) = judge.finding().fate else {
            panic!("a stale read passed")
        };
        assert!(at == Some(9) && reason.contains("k0"), "{reason}");
    }
}
