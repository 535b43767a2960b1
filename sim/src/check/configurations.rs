//! Who takes part, as the judges keep it: which entry of which log changed it, and whose votes count from there on. Their own,
//! for the protocol's may be what is wrong.

use super::runs::Runs;

/// Who takes part, and whose votes count: those of one half, or of two while one is left for the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configuration {
    halves: Vec<Vec<usize>>,
    learners: Vec<usize>,
}

impl Configuration {
    /// Of these halves, of which an empty one is none, and these learners.
    pub(crate) fn of(halves: [Vec<usize>; 2], learners: Vec<usize>) -> Self {
        let halves = halves.into_iter().filter(|half| !half.is_empty()).collect();
        Self { halves, learners }
    }

    /// Whether those of whom it is said are a majority of each half.
    pub(super) fn is_quorum(&self, said: impl Fn(usize) -> bool) -> bool {
        let decides =
            |half: &Vec<usize>| half.iter().filter(|node| said(**node)).count() >= majority(half);
        self.halves.iter().all(decides)
    }

    /// Whether a node takes part, with a vote or without.
    pub(super) fn has(&self, node: usize) -> bool {
        self.halves
            .iter()
            .chain([&self.learners])
            .any(|nodes| nodes.contains(&node))
    }

    /// Whether every quorum of one has a node in common with every quorum of the other: some half of one does with some half
    /// of the other.
    pub(super) fn meets(&self, other: &Self) -> bool {
        let meet = |one: &Vec<usize>, other: &Vec<usize>| {
            let both = one.iter().filter(|node| other.contains(node)).count();
            majority(one) + majority(other) > one.len() + other.len() - both
        };
        let pairs = self
            .halves
            .iter()
            .flat_map(|one| other.halves.iter().map(move |other| (one, other)));
        pairs.into_iter().any(|(one, other)| meet(one, other))
    }
}

fn majority(half: &[usize]) -> usize {
    half.len() / 2 + 1
}

/// Every configuration that any log ever had, by the entry that it came with.
#[derive(Clone, Debug)]
pub(super) struct Configurations {
    /// What counts where no entry says otherwise.
    first: Configuration,
    /// By index and term, rising.
    entries: Vec<(u64, u64, Configuration)>,
}

impl Configurations {
    pub(super) fn beginning_with(first: Configuration) -> Self {
        Self {
            first,
            entries: Vec::new(),
        }
    }

    /// An entry changes who takes part.
    pub(super) fn entered(&mut self, index: u64, term: u64, configuration: Configuration) {
        let place = self
            .entries
            .partition_point(|(at, of, _)| (*at, *of) < (index, term));
        let known = self
            .entries
            .get(place)
            .is_some_and(|(at, of, _)| (*at, *of) == (index, term));
        if !known {
            self.entries.insert(place, (index, term, configuration));
        }
    }

    /// Those that may count in a log in which everything up to `index` is committed: the newest up to there, and all after
    /// it. Of what is in a snapshot, what `committed` has counts.
    pub(super) fn in_force<'c>(
        &'c self,
        log: &'c Runs,
        committed: &'c Runs,
        index: u64,
    ) -> impl Iterator<Item = &'c Configuration> {
        let has = |at: u64, term: u64| match at < log.base() {
            true => committed.has(at, term),
            false => log.has(at, term),
        };
        let known = self
            .entries
            .iter()
            .filter(move |(at, term, _)| has(*at, *term));
        let sure = known.clone().rfind(|(at, ..)| *at <= index);
        let after = known.filter(move |(at, ..)| *at > index);
        let sure = sure.map_or(&self.first, |(_, _, configuration)| configuration);
        std::iter::once(sure).chain(after.map(|(_, _, configuration)| configuration))
    }

    /// Whether anything was ever changed in a log.
    pub(super) fn changed(&self) -> bool {
        !self.entries.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(new: &[usize], old: &[usize]) -> Configuration {
        Configuration::of([new.to_vec(), old.to_vec()], Vec::new())
    }

    #[test]
    fn quorums_are_majorities_of_each_half() {
        let joint = of(&[0, 1, 2], &[2, 3, 4, 5]);
        assert!(joint.is_quorum(|node| [0, 2, 3, 4].contains(&node)));
        assert!(!joint.is_quorum(|node| node <= 2) && !joint.is_quorum(|node| node >= 2));
        assert!(
            !of(&[0, 1, 2, 3], &[]).is_quorum(|node| node < 2),
            "half is no majority"
        );
    }

    #[test]
    fn neighbours_meet_and_those_two_changes_apart_may_not() {
        let four = of(&[0, 1, 2, 3], &[]);
        let (five, three) = (of(&[0, 1, 2, 3, 4], &[]), of(&[0, 1, 2], &[]));
        assert!(four.meets(&five) && four.meets(&three) && three.meets(&three));
        assert!(
            !five.meets(&three) && !three.meets(&five),
            "3 and 4 and 5, against 1 and 2"
        );
        let other = of(&[5, 6, 7], &[]);
        assert!(!three.meets(&other));
        let joint = of(&[5, 6, 7], &[0, 1, 2]);
        assert!(three.meets(&joint) && joint.meets(&other) && joint.meets(&joint));
    }

    #[test]
    fn the_newest_that_is_committed_counts_and_those_after_it_may() {
        let [first, second, third, foreign] = [0, 1, 2, 3].map(|node| of(&[node], &[]));
        let mut all = Configurations::beginning_with(first.clone());
        all.entered(7, 2, third.clone());
        all.entered(4, 1, second.clone());
        all.entered(4, 1, foreign.clone());
        all.entered(4, 3, foreign);
        let mut log = Runs::default();
        log.put(0, 1, 5);
        log.put(5, 2, 4);
        let counts = |log: &Runs, committed: &Runs, index| -> Vec<Configuration> {
            all.in_force(log, committed, index).cloned().collect()
        };
        let none = Runs::default();
        assert_eq!(
            counts(&log, &none, 3),
            [first.clone(), second.clone(), third.clone()]
        );
        assert_eq!(counts(&log, &none, 4), [second.clone(), third.clone()]);
        assert_eq!(counts(&log, &none, 9), std::slice::from_ref(&third));
        assert_eq!(counts(&none, &none, 9), [first]);
        let committed = log.clone();
        log.begin_after(tenure::log::Position::new(2, 6));
        assert_eq!(counts(&log, &committed, 6), [second, third]);
        assert!(all.changed());
    }
}
