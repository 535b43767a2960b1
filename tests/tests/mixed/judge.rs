//! Judges a mixed cluster from outside.

use std::collections::BTreeMap;

/// How often each thing was seen; a judge that saw nothing judged nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) ours_led: u64,
    pub(crate) theirs_led: u64,
    pub(crate) committed_by_ours: u64,
    pub(crate) committed_by_theirs: u64,
    pub(crate) restarts_of_ours: u64,
    pub(crate) restarts_of_theirs: u64,
    pub(crate) refused_for_the_log: u64,
    pub(crate) believed: u64,
    pub(crate) pairs_of_logs: u64,
}

impl Counts {
    pub(crate) fn add(&mut self, other: &Self) {
        self.ours_led += other.ours_led;
        self.theirs_led += other.theirs_led;
        self.committed_by_ours += other.committed_by_ours;
        self.committed_by_theirs += other.committed_by_theirs;
        self.restarts_of_ours += other.restarts_of_ours;
        self.restarts_of_theirs += other.restarts_of_theirs;
        self.refused_for_the_log += other.refused_for_the_log;
        self.believed += other.believed;
        self.pairs_of_logs += other.pairs_of_logs;
    }
}

/// An entry: its term and what it stands for.
pub(crate) type Named = (u64, u64);

#[derive(Default)]
pub(crate) struct Judge {
    pub(crate) counts: Counts,
    /// INV-E1: who led which term.
    leaders: BTreeMap<u64, usize>,
    /// INV-L3: the one committed sequence, from index 1 on, with the term in which each entry was committed at the latest.
    committed: Vec<(Named, u64)>,
    broken: Option<String>,
}

impl Judge {
    pub(crate) fn broken(&self) -> Option<&str> {
        self.broken.as_deref()
    }

    pub(crate) fn fail(&mut self, what: String) {
        self.broken.get_or_insert(what);
    }

    /// INV-E1 and INV-E5: `place` was elected in `term`, with `log` from index 1 on.
    pub(crate) fn elected(&mut self, place: usize, term: u64, log: &[Named]) {
        let first = *self.leaders.entry(term).or_insert(place);
        if first != place {
            self.fail(format!("INV-E1: {first} and {place} both lead term {term}"));
        }
        for (at, (entry, in_term)) in self.committed.iter().enumerate() {
            if *in_term < term && log.get(at) != Some(entry) {
                let index = at + 1;
                self.broken.get_or_insert(format!(
                    "INV-E5: {place} leads term {term} without {entry:?}, committed at {index} in term {in_term}"
                ));
            }
        }
    }

    /// INV-L3: `place` holds what follows index `from` in its log to be final, as of `term`.
    pub(crate) fn final_after(&mut self, place: usize, term: u64, from: u64, fresh: &[Named]) {
        for (at, entry) in (from as usize..).zip(fresh) {
            match self.committed.get(at) {
                None => self.committed.push((*entry, term)),
                Some((first, _)) if first != entry => {
                    let index = at + 1;
                    let what =
                        format!("{place} has {entry:?} committed at {index}, where {first:?} was");
                    return self.fail(format!("INV-L3: {what}"));
                }
                Some(_) => {}
            }
        }
    }

    /// INV-L1: two logs that have an entry of one index and term agree up to it.
    pub(crate) fn logs(&mut self, one: &[Named], other: &[Named]) {
        self.counts.pairs_of_logs += 1;
        let same_term = |at: &usize| one[*at].0 == other[*at].0;
        let Some(last) = (0..one.len().min(other.len())).rev().find(same_term) else {
            return;
        };
        if one[..=last] != other[..=last] {
            let index = last + 1;
            self.fail(format!(
                "INV-L1: two logs agree in the term at {index} and differ up to it"
            ));
        }
    }
}

/// Each of the judge's complaints, for what it is there to notice.
#[test]
fn the_judge_can_fail() {
    let complaint = |happens: fn(&mut Judge)| {
        let mut judge = Judge::default();
        judge.elected(0, 1, &[]);
        judge.final_after(0, 1, 0, &[(1, 0), (1, 7)]);
        judge.logs(&[(1, 0), (1, 7)], &[(1, 0), (1, 7), (2, 8)]);
        assert_eq!(judge.broken(), None);
        happens(&mut judge);
        judge.broken().unwrap_or_default().to_owned()
    };
    for (invariant, happens) in [
        (
            "INV-E1",
            (|judge| judge.elected(1, 1, &[])) as fn(&mut Judge),
        ),
        ("INV-E5", |judge| judge.elected(1, 2, &[(1, 0)])),
        ("INV-E5", |judge| judge.elected(1, 2, &[(1, 0), (1, 8)])),
        ("INV-L3", |judge| judge.final_after(1, 2, 1, &[(2, 9)])),
        ("INV-L1", |judge| {
            judge.logs(&[(1, 0), (2, 8)], &[(1, 1), (2, 8)])
        }),
    ] {
        assert!(complaint(happens).starts_with(invariant), "{invariant}");
    }
    // A log that is longer breaks nothing, and neither does what was not final in an earlier term.
    assert_eq!(
        complaint(|judge| judge.elected(1, 2, &[(1, 0), (1, 7), (2, 9)])),
        ""
    );
    assert_eq!(complaint(|judge| judge.final_after(1, 2, 2, &[(2, 9)])), "");
}
