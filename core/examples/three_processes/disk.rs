//! Files that survive a crash, whole.

use rustix::fs::{FlockOperation, flock};
use std::error::Error;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use tenure::codec::Coded;
use tenure::raft::Stored;

/// A folder with the files of one node, for one process at a time.
pub(crate) struct Disk {
    folder: PathBuf,
    /// Held as long as the process lives: two processes that used one record would vote twice.
    _lock: File,
}

impl Disk {
    pub(crate) fn open(folder: &str) -> Result<Self, Box<dyn Error>> {
        let folder = PathBuf::from(folder);
        fs::create_dir_all(&folder)?;
        // A folder that vanishes in a power cut takes the votes in it along.
        sync(folder.parent().unwrap_or(Path::new("/")))?;
        let lock = File::create(folder.join("lock"))?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive).map_err(|_| {
            format!(
                "{} is in use by another process: stop that one first",
                folder.display()
            )
        })?;
        Ok(Self {
            folder,
            _lock: lock,
        })
    }

    /// What to start from, and the number of the life that begins. The first life writes an empty record before anything
    /// else, so that later a record that is missing is seen to be lost.
    pub(crate) fn begin(&self) -> Result<(Stored, u64), Box<dyn Error>> {
        let earlier = match self.read("incarnation")? {
            Some(number) => String::from_utf8(number)?.trim().parse()?,
            None => 0,
        };
        let stored = match self.read("record")? {
            Some(bytes) => Stored::decode(&bytes)
                .map_err(|refused| format!("{}/record: {refused}", self.folder.display()))?,
            None if earlier == 0 => Stored::default(),
            None => return Err("the record is lost: restore it, or give the node a new id".into()),
        };
        if earlier == 0 {
            let mut bytes = Vec::new();
            stored.encode(&mut bytes);
            self.replace("record", &bytes)?;
        }
        let incarnation = earlier + 1;
        self.replace("incarnation", incarnation.to_string().as_bytes())?;
        Ok((stored, incarnation))
    }

    fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        match fs::read(self.folder.join(name)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// After a crash at any moment the file is the old one or the new one, whole; once this returns, the new one.
    pub(crate) fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let new = self.folder.join("new");
        let mut file = File::create(&new)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(new, self.folder.join(name))?;
        sync(&self.folder)
    }
}

/// Makes what happened to the names in a folder durable.
fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}
