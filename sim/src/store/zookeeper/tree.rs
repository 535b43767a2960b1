//! The znodes. They change by operations alone, each with a zxid and a time, so that whoever carries out the same ones in
//! the same order holds the same.

use super::command::{Error, Mode, Operation, Reply, Stat, Version};
use super::sessions::SessionId;
use super::watches::{Change, parent};
use crate::sorted::Sorted;
use crate::store::{Key, Value};

/// Those that the server has for itself: not to be deleted.
const OWN: [&str; 4] = ["/", "/zookeeper", "/zookeeper/config", "/zookeeper/quota"];

/// When, and for whom, something is done.
#[derive(Clone, Copy, Debug)]
pub(super) struct At {
    pub(super) zxid: i64,
    /// In milliseconds.
    pub(super) time: i64,
    pub(super) session: SessionId,
}

/// The znodes by path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Tree {
    nodes: Sorted<Key, Znode>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Znode {
    data: Value,
    /// As the change left it that touched it last. How many bytes and children there are is counted when somebody asks, and
    /// `cversion` is how many children were created.
    stat: Stat,
    container: bool,
    children: Sorted<Key, ()>,
}

impl Default for Tree {
    fn default() -> Self {
        let mut nodes = Sorted::default();
        for path in OWN {
            nodes.insert(path.into(), Znode::default());
        }
        let mut tree = Self { nodes };
        for path in &OWN[1..] {
            if let Some(node) = tree.nodes.get_mut(&parent(path)) {
                node.children.insert(name(path), ());
            }
        }
        tree
    }
}

impl Tree {
    /// Carries out an operation, and tells what changed.
    pub(super) fn operate(
        &mut self,
        at: At,
        operation: &Operation,
        changes: &mut Vec<Change>,
    ) -> Result<Reply, Error> {
        match operation {
            Operation::Create { path, data, mode } => self.create(at, path, data, *mode, changes),
            Operation::Delete { path, version } => {
                self.may_delete(path, *version)?;
                self.remove(at.zxid, path, changes);
                Ok(Reply::Done)
            }
            Operation::SetData {
                path,
                data,
                version,
            } => self.set(at, path, data, *version, changes),
            Operation::Check { path, version } => {
                valid(path)?;
                self.expect(path, *version)?;
                Ok(Reply::Done)
            }
        }
    }

    /// What is known of a znode.
    pub(super) fn stat(&self, path: &Key) -> Option<Stat> {
        self.nodes.get(path).map(Znode::stat)
    }

    /// What a znode holds.
    pub(super) fn data(&self, path: &Key) -> Option<&Value> {
        self.nodes.get(path).map(|node| &node.data)
    }

    /// The names of the children of a znode.
    pub(super) fn children(&self, path: &Key) -> Option<Vec<Key>> {
        let children = self.nodes.get(path)?.children.iter();
        Some(children.map(|(name, ())| name.clone()).collect())
    }

    /// All that goes with a session goes.
    pub(super) fn end(&mut self, at: At, changes: &mut Vec<Change>) {
        for path in self.which(|node| node.stat.ephemeral_owner == at.session) {
            self.remove(at.zxid, &path, changes);
        }
    }

    /// The containers that have had children and have none.
    pub(super) fn deserted(&self) -> Vec<Key> {
        self.which(|node| node.container && node.stat.cversion > 0 && node.children.len() == 0)
    }

    /// A znode goes, which has no children: deleted, at the end of its session, or deserted.
    pub(super) fn remove(&mut self, zxid: i64, path: &Key, changes: &mut Vec<Change>) {
        self.nodes.remove(path);
        if let Some(parent) = self.nodes.get_mut(&parent(path)) {
            parent.children.remove(&name(path));
            parent.stat.pzxid = zxid;
        }
        changes.push(Change::Deleted(path.clone()));
    }

    fn which(&self, is: impl Fn(&Znode) -> bool) -> Vec<Key> {
        let all = self.nodes.iter().filter(|(_, node)| is(node));
        all.map(|(path, _)| path.clone()).collect()
    }

    fn create(
        &mut self,
        at: At,
        path: &Key,
        data: &Value,
        mode: Mode,
        changes: &mut Vec<Change>,
    ) -> Result<Reply, Error> {
        rooted(path)?;
        let above = self.nodes.get(&parent(path)).ok_or(Error::NoNode)?.stat;
        let path = if mode.is_sequential() {
            format!("{path}{:010}", above.cversion).into()
        } else {
            path.clone()
        };
        valid(&path)?;
        if self.nodes.contains_key(&path) {
            return Err(Error::NodeExists);
        }
        if above.ephemeral_owner != 0 {
            return Err(Error::NoChildrenForEphemerals);
        }
        let node = Znode {
            data: data.clone(),
            stat: Stat {
                czxid: at.zxid,
                mzxid: at.zxid,
                pzxid: at.zxid,
                ctime: at.time,
                mtime: at.time,
                ephemeral_owner: if mode.is_ephemeral() { at.session } else { 0 },
                ..Stat::default()
            },
            container: mode == Mode::Container,
            children: Sorted::default(),
        };
        let stat = node.stat();
        if let Some(parent) = self.nodes.get_mut(&parent(&path)) {
            parent.children.insert(name(&path), ());
            // What is not higher is taken for an older change that is seen again.
            if let Some(cversion) = parent.stat.cversion.checked_add(1) {
                parent.stat.cversion = cversion;
                parent.stat.pzxid = at.zxid;
            }
        }
        self.nodes.insert(path.clone(), node);
        changes.push(Change::Created(path.clone()));
        Ok(Reply::Created { path, stat })
    }

    fn may_delete(&self, path: &Key, version: Version) -> Result<(), Error> {
        rooted(path)?;
        if OWN.contains(&&**path) {
            return Err(Error::BadArguments);
        }
        match self.expect(path, version)?.children.len() {
            0 => Ok(()),
            _ => Err(Error::NotEmpty),
        }
    }

    fn set(
        &mut self,
        at: At,
        path: &Key,
        data: &Value,
        version: Version,
        changes: &mut Vec<Change>,
    ) -> Result<Reply, Error> {
        valid(path)?;
        let next = self.expect(path, version)?.stat.version.wrapping_add(1);
        let node = self.nodes.get_mut(path).ok_or(Error::NoNode)?;
        node.data = data.clone();
        node.stat.version = next;
        node.stat.mzxid = at.zxid;
        node.stat.mtime = at.time;
        changes.push(Change::Data(path.clone()));
        Ok(Reply::Stat(node.stat()))
    }

    fn expect(&self, path: &Key, version: Version) -> Result<&Znode, Error> {
        let node = self.nodes.get(path).ok_or(Error::NoNode)?;
        if version == -1 || version == node.stat.version {
            Ok(node)
        } else {
            Err(Error::BadVersion)
        }
    }
}

impl Znode {
    fn stat(&self) -> Stat {
        let children = self.children.len() as i32;
        Stat {
            // Every child that is gone was created once: twice the creations less those that are there.
            cversion: self.stat.cversion.wrapping_mul(2).wrapping_sub(children),
            data_length: self.data.len() as i32,
            num_children: children,
            ..self.stat
        }
    }
}

fn name(path: &str) -> Key {
    path.rsplit_once('/').map_or(path, |(_, name)| name).into()
}

/// Of a path that is to be created or deleted no more is asked before its parent is looked for.
fn rooted(path: &str) -> Result<(), Error> {
    let may = path.contains('/') && !path.contains('\0');
    may.then_some(()).ok_or(Error::BadArguments)
}

/// Whether a znode can have this path.
fn valid(path: &str) -> Result<(), Error> {
    let names = path.strip_prefix('/').ok_or(Error::BadArguments)?;
    let named = names
        .split('/')
        .all(|name| !["", ".", ".."].contains(&name));
    let written = !path.chars().any(|c| {
        matches!(c, '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{e000}'..='\u{f8ff}' | '\u{fff0}'..)
    });
    let may = written && (names.is_empty() || named);
    may.then_some(()).ok_or(Error::BadArguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(zxid: i64) -> At {
        At {
            zxid,
            time: zxid * 10,
            session: 7,
        }
    }

    fn create(tree: &mut Tree, zxid: i64, path: &str, mode: Mode) -> Result<Key, Error> {
        let create = Operation::Create {
            path: path.into(),
            data: "x".into(),
            mode,
        };
        match tree.operate(at(zxid), &create, &mut Vec::new())? {
            Reply::Created { path, .. } => Ok(path),
            other => panic!("{other:?}"),
        }
    }

    fn delete(tree: &mut Tree, zxid: i64, path: &str, version: i32) -> Result<Reply, Error> {
        let path = path.into();
        let delete = Operation::Delete { path, version };
        tree.operate(at(zxid), &delete, &mut Vec::new())
    }

    fn stat(tree: &Tree, path: &str) -> Stat {
        tree.stat(&path.into()).unwrap()
    }

    #[test]
    fn a_sequence_counts_creations_and_the_version_of_children_their_going_too() {
        let mut tree = Tree::default();
        create(&mut tree, 1, "/e", Mode::Persistent).unwrap();
        for (zxid, number) in [(2, "/e/n0000000000"), (3, "/e/n0000000001")] {
            let path = create(&mut tree, zxid, "/e/n", Mode::EphemeralSequential);
            assert_eq!(path.as_deref(), Ok(number));
        }
        delete(&mut tree, 4, "/e/n0000000000", 0).unwrap();
        let parent = stat(&tree, "/e");
        assert_eq!(
            (parent.cversion, parent.pzxid, parent.num_children),
            (3, 4, 1)
        );
        // Others count, too, though their names bear no number.
        create(&mut tree, 5, "/e/other", Mode::Persistent).unwrap();
        let path = create(&mut tree, 6, "/e/n", Mode::PersistentSequential);
        assert_eq!(path.as_deref(), Ok("/e/n0000000003"));
        // A parent that comes again counts anew, and its children's czxid does not.
        for child in ["n0000000001", "other", "n0000000003"] {
            delete(&mut tree, 7, &format!("/e/{child}"), -1).unwrap();
        }
        delete(&mut tree, 8, "/e", -1).unwrap();
        create(&mut tree, 9, "/e", Mode::Persistent).unwrap();
        let path = create(&mut tree, 10, "/e/n", Mode::EphemeralSequential).unwrap();
        assert_eq!((&*path, stat(&tree, &path).czxid), ("/e/n0000000000", 10));
    }

    #[test]
    fn the_highest_number_stays_and_is_taken() {
        let mut tree = Tree::default();
        create(&mut tree, 1, "/e", Mode::Persistent).unwrap();
        tree.nodes.get_mut("/e").unwrap().stat.cversion = i32::MAX - 1;
        let mut next = |zxid| create(&mut tree, zxid, "/e/n", Mode::PersistentSequential);
        assert_eq!(next(2).as_deref(), Ok("/e/n2147483646"));
        assert_eq!(next(3).as_deref(), Ok("/e/n2147483647"));
        assert_eq!(next(4), Err(Error::NodeExists));
        // The last one that was counted.
        let parent = stat(&tree, "/e");
        assert_eq!((parent.pzxid, parent.cversion), (2, -4));
        delete(&mut tree, 5, "/e/n2147483647", 0).unwrap();
        assert_eq!(stat(&tree, "/e").pzxid, 5);
    }

    #[test]
    fn what_cannot_be_is_refused_with_the_first_reason_that_the_real_one_finds() {
        let mut tree = Tree::default();
        create(&mut tree, 1, "/e", Mode::Ephemeral).unwrap();
        create(&mut tree, 2, "/p", Mode::Persistent).unwrap();
        create(&mut tree, 3, "/p/c", Mode::Persistent).unwrap();
        for (path, mode, error) in [
            ("/e", Mode::Persistent, Error::NodeExists),
            ("/e/c", Mode::Persistent, Error::NoChildrenForEphemerals),
            ("/none/c", Mode::Persistent, Error::NoNode),
            ("/none/", Mode::Persistent, Error::NoNode),
            ("/p/", Mode::Persistent, Error::BadArguments),
            ("/p/..", Mode::Persistent, Error::BadArguments),
            ("/p/\u{7}", Mode::Persistent, Error::BadArguments),
            ("p", Mode::Persistent, Error::BadArguments),
            ("/", Mode::Persistent, Error::NodeExists),
        ] {
            assert_eq!(create(&mut tree, 4, path, mode), Err(error), "{path:?}");
        }
        for (path, version, error) in [
            ("/", -1, Error::BadArguments),
            ("/zookeeper/quota", -1, Error::BadArguments),
            ("/none", 3, Error::NoNode),
            ("/p", 3, Error::BadVersion),
            ("/p", 0, Error::NotEmpty),
        ] {
            assert_eq!(delete(&mut tree, 4, path, version), Err(error), "{path}");
        }
        // A number makes a name of what is none.
        let path = create(&mut tree, 5, "/p/", Mode::PersistentSequential);
        assert_eq!(path.as_deref(), Ok("/p/0000000001"));
    }

    #[test]
    fn data_has_versions_of_its_own() {
        let mut tree = Tree::default();
        create(&mut tree, 1, "/a", Mode::Persistent).unwrap();
        let mut set = |zxid, version| {
            let set = Operation::SetData {
                path: "/a".into(),
                data: "yes".into(),
                version,
            };
            tree.operate(at(zxid), &set, &mut Vec::new())
        };
        let Ok(Reply::Stat(first)) = set(2, 0) else {
            panic!("its version is 0")
        };
        assert_eq!((first.version, first.mzxid, first.mtime), (1, 2, 20));
        assert_eq!((first.czxid, first.pzxid, first.data_length), (1, 1, 3));
        assert_eq!(set(3, 0), Err(Error::BadVersion));
        assert!(set(4, -1).is_ok());
    }

    #[test]
    fn a_session_takes_its_own_along_and_a_container_waits_for_its_first_child() {
        let mut tree = Tree::default();
        create(&mut tree, 1, "/c", Mode::Container).unwrap();
        assert_eq!(stat(&tree, "/c").ephemeral_owner, 0);
        assert!(tree.deserted().is_empty());
        create(&mut tree, 2, "/c/a", Mode::Ephemeral).unwrap();
        create(&mut tree, 3, "/c/b", Mode::Persistent).unwrap();
        let mut changes = Vec::new();
        tree.end(at(4), &mut changes);
        assert_eq!(tree.children(&"/c".into()), Some(vec!["b".into()]));
        assert_eq!((changes.len(), stat(&tree, "/c").pzxid), (1, 4));
        delete(&mut tree, 5, "/c/b", 0).unwrap();
        assert_eq!(tree.deserted(), ["/c".into()]);
    }
}
