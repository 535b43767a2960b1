//! Who watches which keys at a server, and up to which revision each was told of every change.

use super::{Kv, Range, Said, Told, Watch};
use std::collections::VecDeque;

/// The watches of a server, in the memory of its process.
#[derive(Clone, Debug, Default)]
pub(super) struct Watches(Vec<Watching>);

#[derive(Clone, Debug)]
struct Watching {
    client: u16,
    number: u64,
    range: Range,
    /// The first revision whose changes it was not told. **Invariant:** it never falls; it may be ahead of the server, which
    /// then has nothing to tell until it has come that far.
    next: u64,
}

impl Watching {
    fn is_of(&self, (client, number): (u16, u64)) -> bool {
        (self.client, self.number) == (client, number)
    }
}

impl Watches {
    /// A client wants something of a watch. What of it is known already is told by the next [`tell`](Self::tell).
    pub(super) fn hear(&mut self, who: (u16, u64), watch: &Watch, out: &mut VecDeque<Told>) {
        match watch {
            Watch::From(range, next) => self.0.push(Watching {
                client: who.0,
                number: who.1,
                range: range.clone(),
                next: *next,
            }),
            Watch::Progress => {
                if let Some(watch) = self.0.iter().find(|watch| watch.is_of(who)) {
                    let upto = watch.next.saturating_sub(1);
                    out.push_back((watch.client, watch.number, Said::Changed(Vec::new(), upto)));
                }
            }
            Watch::Cancel => self.0.retain(|watch| !watch.is_of(who)),
        }
    }

    /// Tells every watcher what it was not told. Who cannot be told all of it, for some is forgotten, is told that instead.
    /// Whether anybody was told anything.
    pub(super) fn tell(&mut self, kv: &Kv, out: &mut VecDeque<Told>) -> bool {
        let (newest, before) = (kv.revision(), out.len());
        self.0.retain_mut(|watch| {
            let changes = match kv.changes(&watch.range, watch.next) {
                Ok(changes) => changes.cloned().collect::<Vec<_>>(),
                Err(refused) => {
                    let said = Said::Answered(Err(refused));
                    out.push_back((watch.client, watch.number, said));
                    return false;
                }
            };
            watch.next = watch.next.max(newest + 1);
            if !changes.is_empty() {
                let said = Said::Changed(changes, newest);
                out.push_back((watch.client, watch.number, said));
            }
            true
        });
        out.len() > before
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Change, Operation, Refused, Request};
    use super::*;

    fn put(kv: &mut Kv, key: &str) {
        kv.apply(&Request::Do(Operation::Put {
            key: key.into(),
            value: "x".into(),
            lease: 0,
        }))
        .unwrap();
    }

    fn begin(watches: &mut Watches, number: u64, range: Range, from: u64) {
        let watch = Watch::From(range, from);
        watches.hear((7, number), &watch, &mut VecDeque::new());
    }

    /// Who is told which revisions, and up to where.
    fn told(watches: &mut Watches, kv: &Kv) -> Vec<(u64, Vec<u64>, u64)> {
        let mut out = VecDeque::new();
        watches.tell(kv, &mut out);
        out.into_iter()
            .map(|(_, number, said)| match said {
                Said::Changed(changes, upto) => {
                    (number, changes.iter().map(Change::revision).collect(), upto)
                }
                Said::Answered(Err(Refused::Compacted(oldest))) => (number, vec![], oldest),
                other => panic!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn every_watcher_is_told_its_own_changes_once() {
        let (mut kv, mut watches) = (Kv::default(), Watches::default());
        put(&mut kv, "a/1");
        begin(&mut watches, 1, Range::Prefix("a/".into()), 1);
        begin(&mut watches, 2, Range::Key("b".into()), 2);
        assert_eq!(told(&mut watches, &kv), [(1, vec![1], 1)]);
        assert_eq!(told(&mut watches, &kv), []);
        put(&mut kv, "b");
        put(&mut kv, "a/2");
        assert_eq!(told(&mut watches, &kv), [(1, vec![3], 3), (2, vec![2], 3)]);
        watches.hear((7, 1), &Watch::Cancel, &mut VecDeque::new());
        put(&mut kv, "a/2");
        assert_eq!(told(&mut watches, &kv), []);
        let mut out = VecDeque::new();
        watches.hear((7, 2), &Watch::Progress, &mut out);
        watches.hear((7, 1), &Watch::Progress, &mut out);
        assert_eq!(out, [(7, 2, Said::Changed(vec![], 4))]);
    }

    #[test]
    fn a_server_that_is_behind_a_watcher_tells_it_nothing_until_it_has_come_that_far() {
        let (mut kv, mut watches) = (Kv::default(), Watches::default());
        begin(&mut watches, 1, Range::Key("a".into()), 3);
        for _ in 0..2 {
            put(&mut kv, "a");
            assert_eq!(told(&mut watches, &kv), []);
        }
        let mut out = VecDeque::new();
        watches.hear((7, 1), &Watch::Progress, &mut out);
        assert_eq!(out, [(7, 1, Said::Changed(vec![], 2))]);
        put(&mut kv, "a");
        assert_eq!(told(&mut watches, &kv), [(1, vec![3], 3)]);
    }

    #[test]
    fn who_asks_for_what_is_forgotten_is_told_so_and_watches_no_more() {
        let (mut kv, mut watches) = (Kv::default(), Watches::default());
        for _ in 0..=super::super::kv::REMEMBERED {
            put(&mut kv, "a");
        }
        begin(&mut watches, 1, Range::Key("b".into()), 1);
        assert_eq!(told(&mut watches, &kv), [(1, vec![], 2)]);
        put(&mut kv, "b");
        assert_eq!(told(&mut watches, &kv), []);
    }
}
