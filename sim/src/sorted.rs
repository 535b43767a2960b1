//! A map as a sorted list. Where keys are few, or come and go in order, it is as fast as a tree, and a fraction of its
//! code: the page carries a copy for every type.

use std::borrow::Borrow;

/// Values by key, in order of key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Sorted<K, V>(Vec<(K, V)>);

impl<K, V> Default for Sorted<K, V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K: Ord, V> Sorted<K, V> {
    fn place<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, usize>
    where
        K: Borrow<Q>,
    {
        self.0
            .binary_search_by(|(known, _)| known.borrow().cmp(key))
    }

    pub(crate) fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let place = self.place(key).ok()?;
        self.0.get(place).map(|(_, value)| value)
    }

    pub(crate) fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let place = self.place(key).ok()?;
        self.0.get_mut(place).map(|(_, value)| value)
    }

    pub(crate) fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.place(key).is_ok()
    }

    /// Puts a value in the place of any that is there.
    pub(crate) fn insert(&mut self, key: K, value: V) {
        self.replace(key, value);
    }

    /// The same, and what was there.
    pub(crate) fn replace(&mut self, key: K, value: V) -> Option<V> {
        match self.place(&key) {
            Ok(place) => Some(std::mem::replace(&mut self.0[place].1, value)),
            Err(place) => {
                self.0.insert(place, (key, value));
                None
            }
        }
    }

    /// What there is, after a value was put where there was none.
    pub(crate) fn keep(&mut self, key: K, value: V) -> &mut V {
        let place = match self.place(&key) {
            Ok(place) => place,
            Err(place) => {
                self.0.insert(place, (key, value));
                place
            }
        };
        &mut self.0[place].1
    }

    /// What there is, or the usual value, which is there from now on.
    pub(crate) fn or_default(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        self.keep(key, V::default())
    }

    /// Forgets the lowest keys but so many, once there are a quarter more: to forget one costs as much as to forget many.
    pub(crate) fn keep_last(&mut self, count: usize) {
        if self.0.len() > count + count / 4 {
            self.0.drain(..self.0.len() - count);
        }
    }

    pub(crate) fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let place = self.place(key).ok()?;
        Some(self.0.remove(place).1)
    }

    /// Takes the lowest key out.
    pub(crate) fn pop_first(&mut self) -> Option<(K, V)> {
        (!self.0.is_empty()).then(|| self.0.remove(0))
    }

    /// Forgets all keys of which that is not so.
    #[cfg(any(feature = "peers", feature = "stores"))]
    pub(crate) fn retain(&mut self, mut so: impl FnMut(&K, &mut V) -> bool) {
        self.0.retain_mut(|(key, value)| so(key, value));
    }

    /// Forgets all keys before one.
    pub(crate) fn forget_before(&mut self, key: &K) {
        let (Ok(place) | Err(place)) = self.place(key);
        self.0.drain(..place);
    }

    pub(crate) const fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.0.iter().map(|(key, value)| (key, value))
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (&K, &mut V)> {
        self.0.iter_mut().map(|(key, value)| (&*key, value))
    }

    /// All from the first on of which `before` is not so; it must be so of all keys before that one, and of none after.
    pub(crate) fn from(&self, before: impl Fn(&K) -> bool) -> impl Iterator<Item = (&K, &V)> {
        let begins = self.0.partition_point(|(key, _)| before(key));
        let rest = self.0.get(begins..).unwrap_or_default();
        rest.iter().map(|(key, value)| (key, value))
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for Sorted<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(all: I) -> Self {
        let mut sorted = Self::default();
        for (key, value) in all {
            sorted.insert(key, value);
        }
        sorted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use tenure::NodeId;
    use tenure::random::Random;

    #[test]
    fn it_holds_what_a_tree_holds() {
        let mut draw = Random::new(1, NodeId(1), 0);
        let (mut sorted, mut tree) = (Sorted::default(), BTreeMap::new());
        for round in 0..2_000_u64 {
            let key = draw.below(40);
            match draw.below(8) {
                0..3 => {
                    sorted.insert(key, round);
                    tree.insert(key, round);
                }
                3 => {
                    assert_eq!(sorted.keep(key, round), tree.entry(key).or_insert(round));
                }
                4..6 => assert_eq!(sorted.remove(&key), tree.remove(&key)),
                6 => assert_eq!(sorted.replace(key, round), tree.insert(key, round)),
                _ if draw.below(16) == 0 => assert_eq!(sorted.pop_first(), tree.pop_first()),
                _ if draw.below(16) == 0 => {
                    *sorted.or_default(key) += 1;
                    *tree.entry(key).or_default() += 1;
                }
                #[cfg(any(feature = "peers", feature = "stores"))]
                _ if draw.below(16) == 0 => {
                    sorted.retain(|known, value| !(known + *value).is_multiple_of(3));
                    tree.retain(|known, value| !(known + *value).is_multiple_of(3));
                }
                _ if draw.below(8) == 0 => {
                    sorted.forget_before(&key);
                    tree = tree.split_off(&key);
                }
                _ if draw.below(8) == 0 => {
                    sorted.keep_last(12);
                    while sorted.iter().count() == 12 && tree.len() > 12 {
                        tree.pop_first();
                    }
                    assert!(sorted.iter().count() <= 15);
                }
                _ => {
                    assert_eq!(sorted.get(&key), tree.get(&key));
                    assert_eq!(sorted.get_mut(&key), tree.get_mut(&key));
                    assert_eq!(sorted.contains_key(&key), tree.contains_key(&key));
                    assert!(sorted.from(|known| *known < key).eq(tree.range(key..)));
                }
            }
            assert!(sorted.iter().eq(tree.iter()));
        }
    }
}
