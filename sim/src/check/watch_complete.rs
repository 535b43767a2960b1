//! Each watcher of a store is told every change of its keys, in order, once, and no other; also where it went on at another
//! server, where that took over a snapshot, and where another leads. Those of one revision are told together. Who is told
//! that its next revision is forgotten has to be behind indeed, and reads what all held at that revision.
//!
//! And in time: once nothing has been wrong for as long as the bound, every watcher knows what was changed before that.
//!
//! What was changed is not taken from what servers remember of it: it is what differs between the states that the first node
//! had before and after a revision.

use super::linearizable::{Fate, Finding};
use crate::physics::NEVER;
use crate::report::millis;
use crate::store::{Answer, Change, Done, Key, Kv, Range, Record, Refused, Said};
use std::collections::BTreeMap;

/// Follows what watchers are told.
#[derive(Clone, Debug)]
pub(crate) struct WatchComplete {
    /// How long after everything is well they may be behind.
    within: u64,
    /// Since when nothing is wrong; [`NEVER`] while something is.
    whole: u64,
    /// Every change, in order of revision, and when the first node had made it.
    changes: Vec<(u64, Change)>,
    /// What the first node had after the last of them.
    state: Vec<Record>,
    /// By client.
    watchers: BTreeMap<u16, Watching>,
    exercised: u64,
    broken: Option<(u64, String)>,
}

#[derive(Clone, Debug)]
struct Watching {
    range: Range,
    /// Up to which revision it knows everything.
    seen: u64,
    /// Whether it has to read, at the beginning and after what it needs was forgotten.
    reads: bool,
    /// Who told it of a change last.
    server: usize,
}

impl WatchComplete {
    pub(crate) fn new(within: u64) -> Self {
        Self {
            within,
            whole: 0,
            changes: Vec::new(),
            state: Vec::new(),
            watchers: BTreeMap::new(),
            exercised: 0,
            broken: None,
        }
    }

    /// The last fault was healed, or the first one struck.
    pub(crate) fn whole(&mut self, now: u64, whole: bool) {
        self.whole = if whole { now } else { NEVER };
    }

    /// A node has this state.
    pub(crate) fn reached(&mut self, now: u64, kv: &Kv) {
        let (revision, known) = (kv.revision(), self.newest());
        if revision <= known {
            return;
        }
        let state = kv.get(&Range::Prefix("".into()));
        let holds = |key: &Key| state.iter().any(|record| record.key == *key);
        let gone = self.state.iter().filter(|record| !holds(&record.key));
        let gone = gone.map(|record| Change::Gone(record.key.clone(), revision));
        let put = state.iter().filter(|record| record.modified > known);
        let put = put.cloned().map(Change::Put);
        let mut changes: Vec<Change> = gone.chain(put).collect();
        changes.sort_by(|one, other| in_order(one).cmp(&in_order(other)));
        self.changes
            .extend(changes.into_iter().map(|change| (now, change)));
        self.state = state;
    }

    /// A watcher of these keys takes in what a server says. Whether it is told of changes by another than last.
    pub(crate) fn told(
        &mut self,
        now: u64,
        client: u16,
        server: usize,
        range: &Range,
        said: &Said,
    ) -> bool {
        let watching = self.watchers.entry(client).or_insert_with(|| Watching {
            range: range.clone(),
            seen: 0,
            reads: true,
            server,
        });
        let (seen, reads) = (watching.seen, watching.reads);
        let mut resumed = false;
        let wrong = match said {
            Said::Changed(told, upto) => {
                watching.seen = *upto;
                if !told.is_empty() {
                    resumed = std::mem::replace(&mut watching.server, server) != server;
                }
                let (due, wrong) = self.changed(range, seen, told, *upto);
                self.exercised += due;
                wrong
            }
            Said::Answered(Ok(Answer {
                revision,
                done: Done::Got(records),
            })) => {
                (watching.seen, watching.reads) = (*revision, false);
                self.read(range, seen, records, *revision, reads)
            }
            Said::Answered(Err(Refused::Compacted(oldest))) => {
                watching.reads = true;
                let so = *oldest > seen + 1 && *oldest <= self.newest() + 1;
                (!so).then(|| format!("that revisions before {oldest} are forgotten"))
            }
            _ => None,
        };
        if let Some(wrong) = wrong {
            let told = || {
                let at = millis(now);
                format!(
                    "Client {client}, which knew all changes up to revision {seen}, was told at {at} {wrong}."
                )
            };
            self.broken.get_or_insert_with(|| (now, told()));
        }
        resumed
    }

    /// How much a watcher that knows all up to `seen` had to be told, and what is wrong with what it is.
    fn changed(
        &self,
        range: &Range,
        seen: u64,
        told: &[Change],
        upto: u64,
    ) -> (u64, Option<String>) {
        if upto < seen || upto > self.newest() {
            return (1, Some(format!("of changes up to revision {upto}")));
        }
        let due = self.between(seen, upto);
        let due: Vec<&Change> = due.filter(|change| range.contains(change.key())).collect();
        // Within one revision no order is promised.
        let mut told: Vec<&Change> = told.iter().collect();
        let in_turn = told.is_sorted_by_key(|change| change.revision());
        told.sort_by(|one, other| in_order(one).cmp(&in_order(other)));
        let exercised = due.len() as u64;
        if in_turn && told == due {
            return (exercised, None);
        }
        let names = |changes: &[&Change]| {
            let name = |change: &&Change| format!("{} in {}", change.key(), change.revision());
            let names: Vec<String> = changes.iter().map(name).collect();
            names.join(", ")
        };
        let wrong = format!(
            "of [{}] up to revision {upto}, where there is [{}]",
            names(&told),
            names(&due)
        );
        (exercised, Some(wrong))
    }

    /// What is wrong with what a watcher reads, to go on from there.
    fn read(
        &self,
        range: &Range,
        seen: u64,
        records: &[Record],
        revision: u64,
        reads: bool,
    ) -> Option<String> {
        let mut held: BTreeMap<&Key, &Record> = BTreeMap::new();
        for change in self.between(0, revision) {
            match change {
                Change::Put(record) => held.insert(&record.key, record),
                Change::Gone(key, _) => held.remove(key),
            };
        }
        let due = held
            .into_values()
            .filter(|record| range.contains(&record.key));
        let right = reads && seen <= revision && revision <= self.newest() && due.eq(records);
        (!right).then(|| format!("of a state as of revision {revision} that there never was"))
    }

    fn between(&self, after: u64, upto: u64) -> impl Iterator<Item = &Change> {
        let place =
            |revision| (self.changes).partition_point(|(_, change)| change.revision() <= revision);
        let those = &self.changes[place(after)..place(upto)];
        those.iter().map(|(_, change)| change)
    }

    fn newest(&self) -> u64 {
        self.changes
            .last()
            .map_or(0, |(_, change)| change.revision())
    }

    pub(crate) fn finding(&self, now: u64) -> Finding {
        let late = || {
            let before = now.saturating_sub(self.within);
            let due = self.changes.partition_point(|(at, _)| *at <= before);
            let due = &self.changes[..due];
            let misses = |watching: &Watching| {
                let mut unseen = due.iter().rev().map(|(_, change)| change);
                unseen
                    .by_ref()
                    .take_while(|change| change.revision() > watching.seen)
                    .find(|change| watching.range.contains(change.key()))
                    .map(Change::revision)
            };
            let mut all = self.watchers.iter();
            let (client, revision) = all
                .find_map(|(client, watching)| Some((client, misses(watching)?)))
                .filter(|_| self.whole <= before)?;
            Some((
                now,
                format!(
                    "Client {client} does not know of revision {revision}, though nothing has been wrong for long."
                ),
            ))
        };
        let fate = match self.broken.clone().or_else(late) {
            None => Fate::Explained,
            Some((at, reason)) => Fate::Broken(Some(at), reason),
        };
        Finding {
            exercised: self.exercised,
            fate,
        }
    }
}

/// An order in which changes can be compared.
fn in_order(change: &Change) -> (u64, &Key) {
    (change.revision(), change.key())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Operation, Request};

    const ALL: u16 = 7;

    fn put(key: &str) -> Operation {
        Operation::Put {
            key: key.into(),
            value: "x".into(),
            lease: 0,
        }
    }

    /// A store of five revisions: two keys, then one of them, then both gone, then one, then another.
    fn store(judge: &mut WatchComplete) -> Kv {
        let mut kv = Kv::default();
        let together = |then| Request::Txn {
            when: vec![],
            then,
            otherwise: vec![],
        };
        for request in [
            together(vec![put("b"), put("a")]),
            Request::Do(put("a")),
            together(vec![Operation::Delete(Range::Prefix("".into()))]),
            Request::Do(put("a")),
            Request::Do(put("c")),
        ] {
            kv.apply(&request).unwrap();
            judge.reached(kv.revision() * 10, &kv);
        }
        kv
    }

    fn all() -> Range {
        Range::Prefix("".into())
    }

    fn read(records: Vec<Record>, revision: u64) -> Said {
        Said::Answered(Ok(Answer {
            revision,
            done: Done::Got(records),
        }))
    }

    /// How a watcher of everything fares that reads nothing at first, and is then told this.
    fn fares(then: impl FnOnce(&Kv) -> Vec<Said>) -> (u64, bool) {
        let mut judge = WatchComplete::new(100);
        let kv = store(&mut judge);
        judge.told(1, ALL, 0, &all(), &read(vec![], 0));
        for said in then(&kv) {
            judge.told(100, ALL, 0, &all(), &said);
        }
        let Finding { exercised, fate } = judge.finding(100);
        (exercised, fate == Fate::Explained)
    }

    fn changes(kv: &Kv, from: u64) -> Vec<Change> {
        kv.changes(&all(), from).unwrap().cloned().collect()
    }

    #[test]
    fn all_of_it_in_order_is_right_in_one_or_in_parts() {
        assert_eq!(
            fares(|kv| vec![Said::Changed(changes(kv, 1), 5)]),
            (7, true)
        );
        let parts = |kv: &Kv| {
            let changes = changes(kv, 1);
            vec![
                Said::Changed(changes[..3].to_vec(), 2),
                Said::Changed(vec![], 2),
                Said::Changed(changes[3..].to_vec(), 5),
            ]
        };
        assert_eq!(fares(parts), (7, true));
    }

    #[test]
    fn a_change_that_is_left_out_told_twice_invented_or_told_before_another_is_found() {
        let wrong: [fn(&mut Vec<Change>); 5] = [
            |changes| drop(changes.remove(4)),
            |changes| changes.insert(2, changes[2].clone()),
            |changes| changes.insert(5, Change::Gone("c".into(), 4)),
            |changes| changes.swap(5, 6),
            |changes| drop(changes.remove(0)),
        ];
        for change in wrong {
            let told = |kv: &Kv| {
                let mut changes = changes(kv, 1);
                change(&mut changes);
                vec![Said::Changed(changes, 5)]
            };
            assert!(!fares(told).1);
        }
        // Half of a revision now, and the other half later; and what was told before.
        let halves = |kv: &Kv| {
            let changes = changes(kv, 1);
            vec![
                Said::Changed(changes[..1].to_vec(), 1),
                Said::Changed(changes[1..].to_vec(), 5),
            ]
        };
        assert!(!fares(halves).1);
        assert!(
            !fares(|kv| vec![
                Said::Changed(changes(kv, 1), 5),
                Said::Changed(changes(kv, 5), 5)
            ])
            .1
        );
        assert!(!fares(|_| vec![Said::Changed(vec![], 5)]).1);
        assert!(!fares(|kv| vec![Said::Changed(changes(kv, 1), 6)]).1);
    }

    #[test]
    fn who_is_behind_reads_what_there_was_and_who_is_not_is_not_turned_away() {
        let compacted = |oldest| Said::Answered(Err(Refused::Compacted(oldest)));
        let anew = |kv: &Kv| vec![compacted(3), read(kv.get(&all()), 5)];
        assert_eq!(fares(anew), (0, true));
        assert!(!fares(|kv| vec![compacted(1), read(kv.get(&all()), 5)]).1);
        assert!(!fares(|kv| vec![compacted(7), read(kv.get(&all()), 5)]).1);
        assert!(!fares(|kv| vec![compacted(3), read(kv.get(&all()), 4)]).1);
        assert!(!fares(|_| vec![compacted(3), read(vec![], 5)]).1);
        // Nothing is read that need not be: it would hide what was not told.
        assert!(!fares(|kv| vec![read(kv.get(&all()), 5)]).1);
    }

    #[test]
    fn who_is_told_nothing_for_long_is_found_while_nothing_is_wrong() {
        let mut judge = WatchComplete::new(100);
        store(&mut judge);
        let late = |judge: &WatchComplete, now| judge.finding(now).fate != Fate::Explained;
        judge.told(1, ALL, 0, &Range::Key("b".into()), &read(vec![], 0));
        assert!(!late(&judge, 109) && late(&judge, 110));
        judge.whole(20, false);
        assert!(!late(&judge, 9_000));
        judge.whole(9_000, true);
        assert!(!late(&judge, 9_099) && late(&judge, 9_100));
        let told = vec![Change::Gone("b".into(), 3)];
        judge.told(
            9_100,
            ALL,
            0,
            &Range::Key("b".into()),
            &Said::Changed(told, 3),
        );
        assert!(late(&judge, 9_100), "one change was left out");
        let mut judge = WatchComplete::new(100);
        let kv = store(&mut judge);
        let range = Range::Key("b".into());
        let told = kv.changes(&range, 1).unwrap().cloned();
        judge.told(1, ALL, 0, &Range::Key("b".into()), &read(vec![], 0));
        judge.told(
            9,
            ALL,
            0,
            &Range::Key("b".into()),
            &Said::Changed(told.collect(), 3),
        );
        assert!(!late(&judge, 9_000), "what changed since is no key of its");
    }
}
