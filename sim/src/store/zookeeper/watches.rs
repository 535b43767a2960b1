//! Who is told of what, once.

use super::command::Event;
use crate::sorted::Sorted;
use crate::store::Key;

/// What changed.
#[derive(Clone, Debug)]
pub(super) enum Change {
    /// A znode is there.
    Created(Key),
    /// It is gone.
    Deleted(Key),
    /// It holds something else.
    Data(Key),
}

/// The watches of all connections.
#[derive(Clone, Debug, Default)]
pub(super) struct Watches {
    data: Table,
    children: Table,
}

/// Which connections watch, by path.
type Table = Sorted<Key, Sorted<u16, ()>>;

impl Watches {
    /// A connection watches a znode, or the place where one may come.
    pub(super) fn data(&mut self, path: &Key, client: u16) {
        add(&mut self.data, path, client);
    }

    /// A connection watches the children of a znode.
    pub(super) fn children(&mut self, path: &Key, client: u16) {
        add(&mut self.children, path, client);
    }

    /// A connection is gone.
    pub(super) fn forget(&mut self, client: u16) {
        for table in [&mut self.data, &mut self.children] {
            for (_, clients) in table.iter_mut() {
                clients.remove(&client);
            }
        }
    }

    /// Whom to tell what of a change, in order.
    pub(super) fn tell(&mut self, change: &Change, mut say: impl FnMut(u16, Event)) {
        let path = match change {
            Change::Data(path) => {
                for client in take(&mut self.data, path) {
                    say(client, Event::DataChanged(path.clone()));
                }
                return;
            }
            Change::Created(path) => {
                for client in take(&mut self.data, path) {
                    say(client, Event::Created(path.clone()));
                }
                path
            }
            Change::Deleted(path) => {
                let told = take(&mut self.data, path);
                let others = take(&mut self.children, path);
                // Whoever watches both is told once.
                let others = others.into_iter().filter(|client| !told.contains(client));
                for client in told.iter().copied().chain(others) {
                    say(client, Event::Deleted(path.clone()));
                }
                path
            }
        };
        let parent = parent(path);
        for client in take(&mut self.children, &parent) {
            say(client, Event::ChildrenChanged(parent.clone()));
        }
    }
}

fn add(table: &mut Table, path: &Key, client: u16) {
    match table.get_mut(path) {
        Some(clients) => clients.insert(client, ()),
        None => table.insert(path.clone(), [(client, ())].into_iter().collect()),
    }
}

fn take(table: &mut Table, path: &Key) -> Vec<u16> {
    let clients = table.remove(path).unwrap_or_default();
    clients.iter().map(|(client, ())| *client).collect()
}

/// Where a znode hangs.
pub(super) fn parent(path: &str) -> Key {
    match path.rsplit_once('/') {
        None | Some(("", _)) => "/".into(),
        Some((parent, _)) => parent.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(watches: &mut Watches, change: &Change) -> Vec<(u16, Event)> {
        let mut told = Vec::new();
        watches.tell(change, |client, event| told.push((client, event)));
        told
    }

    #[test]
    fn a_watch_tells_once_and_whoever_watches_a_znode_twice_is_told_once_of_its_end() {
        let mut watches = Watches::default();
        let path: Key = "/a".into();
        watches.data(&path, 1);
        watches.children(&path, 1);
        watches.children(&path, 2);
        watches.children(&"/".into(), 3);
        let gone = Change::Deleted(path.clone());
        let expected = vec![
            (1, Event::Deleted(path.clone())),
            (2, Event::Deleted(path)),
            (3, Event::ChildrenChanged("/".into())),
        ];
        assert_eq!(told(&mut watches, &gone), expected);
        assert_eq!(told(&mut watches, &gone), []);
    }

    #[test]
    fn data_and_children_are_watched_apart() {
        let mut watches = Watches::default();
        let (path, child): (Key, Key) = ("/a".into(), "/a/b".into());
        watches.data(&path, 1);
        watches.children(&path, 2);
        let created = told(&mut watches, &Change::Created(child));
        assert_eq!(created, [(2, Event::ChildrenChanged(path.clone()))]);
        let set = told(&mut watches, &Change::Data(path.clone()));
        assert_eq!(set, [(1, Event::DataChanged(path))]);
    }

    #[test]
    fn a_connection_takes_its_watches_along() {
        let mut watches = Watches::default();
        watches.data(&"/a".into(), 1);
        watches.data(&"/a".into(), 2);
        watches.forget(1);
        let told = told(&mut watches, &Change::Created("/a".into()));
        assert_eq!(told, [(2, Event::Created("/a".into()))]);
    }
}
