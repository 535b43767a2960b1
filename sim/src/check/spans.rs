//! Spans of true time in which something was so.

use crate::physics::NEVER;

/// The most spans that are kept: later ones are counted by who asks, but not listed.
const MAX_SPANS: usize = 4_096;

/// Spans in order of time, none of them empty but an open one, none touching the next.
#[derive(Clone, Debug, Default)]
pub(super) struct Spans(Vec<(u64, u64)>);

impl Spans {
    /// From now on it is so, or it is not.
    pub(super) fn note(&mut self, now: u64, so: bool) {
        let room = self.0.len() < MAX_SPANS;
        match self.0.last_mut() {
            Some((_, end)) if so && (*end == now || *end == NEVER) => *end = NEVER,
            Some((begin, end)) if !so && *end == NEVER && *begin < now => *end = now,
            // It was so for no time at all.
            Some((_, NEVER)) if !so => drop(self.0.pop()),
            _ if so && room => self.0.push((now, NEVER)),
            _ => {}
        }
    }

    /// Beginning and end of each; [`NEVER`] while it goes on.
    pub(super) fn list(&self) -> &[(u64, u64)] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_merged_where_they_touch_and_left_out_where_they_are_empty() {
        let mut spans = Spans::default();
        for (now, so) in [
            (0, false),
            (1, true),
            (2, true),
            (3, false),
            (3, true),
            (5, false),
            (7, true),
            (7, false),
            (9, true),
        ] {
            spans.note(now, so);
        }
        assert_eq!(spans.list(), [(1, 5), (9, NEVER)]);
    }

    #[test]
    fn there_is_an_end_to_what_is_kept() {
        let mut spans = Spans::default();
        for now in 0..100_000 {
            spans.note(now, now % 4 < 2);
        }
        assert_eq!(spans.list().len(), MAX_SPANS);
        assert!(spans.list().iter().all(|(begin, end)| begin + 2 == *end));
    }
}
