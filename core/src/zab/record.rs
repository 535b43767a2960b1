//! What must survive a crash: two small files and the log, each written by itself.

use super::message::Entries;
use crate::log::{Position, Shape, ShapeError};

/// One step of the disk. Steps are carried out in the order of their tickets; a crash takes back the newest that were not
/// carried out, and of the log whatever was appended since the last [`Sync`](Request::Sync).
///
/// Where ZooKeeper's safety rests on the order of two such steps (ZAB-S10, Z-4643, Z-3911), the machine asks for both and waits
/// for the answer to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Request {
    /// The file `acceptedEpoch` is replaced: written beside, synced, renamed. Durable when answered.
    Accepted(u64),
    /// The file `currentEpoch` is replaced, in the same way.
    Current(u64),
    /// Entries are appended to the log, with the payloads that came with them or were proposed. Not durable by itself.
    Append(Entries),
    /// The log is synced: everything appended before is durable when this is answered, and a snapshot that was
    /// [installed](Request::Install) takes the place of what was there.
    Sync,
    /// The log is cut after `to`. Durable when answered.
    Truncate {
        /// The last entry that stays.
        to: Position,
    },
    /// A new log begins, beside the one there is, with the snapshot that ends at `last` (the one that came with the message, or
    /// the one this log begins with already). What is appended goes to it. It takes the place of the old one with the next
    /// [`Sync`](Request::Sync), in one step: until then a crash leaves the old one.
    Install {
        /// The last entry of the snapshot; [`Position::START`] when the new log begins with nothing.
        last: Position,
    },
    /// The entries up to `upto` are dropped: a snapshot of the host holds them. Durable when answered.
    Compact {
        /// The last entry of the snapshot.
        upto: Position,
    },
    /// The disk was found without anything, where it should not be ([`Config::autocreate`](super::Config::autocreate)): what is
    /// on it is marked as the disk of a node that does not count, until the next [`Current`](Request::Current). Durable when
    /// answered.
    Blank,
}

/// What a disk holds: the fold of all requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stored {
    /// The highest epoch this node promised to. Never falls.
    pub accepted: u64,
    /// The epoch of the last leader whose initial history this node holds. Never falls, and is never above `accepted`.
    pub current: u64,
    /// The shape of the log, with what was appended and not synced yet.
    pub log: Shape,
    /// Up to where the log is synced.
    pub synced: u64,
    /// The log that an [installed](Request::Install) snapshot begins, until it takes the place of the other.
    pub beside: Option<Shape>,
    /// Whether it was found without anything, and no leader has synchronised it since (Z-261).
    pub blank: bool,
}

impl Stored {
    /// Carries out one more request.
    ///
    /// # Errors
    /// When it does not fit what is stored: entries that do not follow the last one. A machine never asks for that, so that the
    /// store is damaged or belongs to another node. Nothing is changed then.
    pub fn apply(&mut self, request: &Request) -> Result<(), ShapeError> {
        match *request {
            Request::Accepted(epoch) => self.accepted = epoch,
            // It holds the history of an epoch now, whatever it had lost.
            Request::Current(epoch) => (self.current, self.blank) = (epoch, false),
            Request::Append(entries) => {
                let log = self.beside.as_mut().unwrap_or(&mut self.log);
                if log.last() != entries.after {
                    return Err(ShapeError::Gap(entries.after));
                }
                log.append(entries.epoch, entries.count)?;
            }
            Request::Sync => {
                if let Some(log) = self.beside.take() {
                    self.log = log;
                }
                self.synced = self.log.last().index;
            }
            Request::Truncate { to } => {
                self.log.truncate(to.index);
                self.synced = self.synced.min(self.log.last().index);
            }
            Request::Install { last } => self.beside = Some(Shape::after(last)),
            Request::Compact { upto } => {
                self.log.compact(upto.index);
                self.synced = self.synced.max(self.log.base().index);
            }
            Request::Blank => self.blank = true,
        }
        Ok(())
    }

    /// What a crash leaves, when of the log what was appended up to `kept` reached the disk by luck, and at least what was
    /// synced.
    pub fn crash(&mut self, kept: u64) {
        self.beside = None;
        self.log.truncate(kept.max(self.synced));
        self.synced = self.log.last().index;
    }
}

/// What a machine starts from.
#[derive(Clone, Debug)]
pub struct Boot {
    /// What the disk holds after the crash. `None` for a node that never ran, or whose disk was lost:
    /// see [`Config::autocreate`](super::Config::autocreate).
    pub stored: Option<Stored>,
    /// A nonce that no earlier life of this node had; not 0. A counter kept on the disk will do.
    pub incarnation: u64,
    /// The seed of its draws; may be the same for the whole group.
    pub seed: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(after: Position, epoch: u64, count: u64) -> Request {
        Request::Append(Entries {
            after,
            epoch,
            count,
        })
    }

    #[test]
    fn a_disk_without_anything_is_blank_until_it_holds_a_history() {
        let mut disk = Stored::default();
        assert!(!disk.blank);
        for (request, blank) in [
            (Request::Blank, true),
            (Request::Accepted(3), true),
            (entries(Position::START, 1, 5), true),
            (Request::Sync, true),
            (Request::Current(3), false),
        ] {
            disk.apply(&request).unwrap();
            assert_eq!(disk.blank, blank, "{request:?}");
        }
    }

    #[test]
    fn a_crash_takes_what_was_not_synced() {
        let mut disk = Stored::default();
        disk.apply(&entries(Position::START, 1, 5)).unwrap();
        disk.apply(&Request::Sync).unwrap();
        disk.apply(&entries(Position::new(1, 5), 2, 3)).unwrap();
        for (kept, left) in [(0, 5), (6, 6), (9, 8)] {
            let mut disk = disk.clone();
            disk.crash(kept);
            assert_eq!((disk.log.last().index, disk.synced), (left, left));
        }
        let gap = Position::new(1, 4);
        assert_eq!(disk.apply(&entries(gap, 2, 1)), Err(ShapeError::Gap(gap)));
    }

    #[test]
    fn a_snapshot_takes_the_place_of_the_log_with_the_next_sync() {
        let mut disk = Stored::default();
        disk.apply(&entries(Position::START, 1, 5)).unwrap();
        disk.apply(&Request::Sync).unwrap();
        let last = Position::new(2, 9);
        disk.apply(&Request::Install { last }).unwrap();
        disk.apply(&entries(last, 3, 2)).unwrap();
        let mut crashed = disk.clone();
        crashed.crash(u64::MAX);
        assert_eq!(crashed.log, Shape::from_runs([(1, 5)]).unwrap());
        disk.apply(&Request::Sync).unwrap();
        disk.crash(0);
        assert_eq!(disk.log, Shape::from_parts(last, [(3, 2)]).unwrap());
        disk.apply(&Request::Compact {
            upto: Position::new(3, 10),
        })
        .unwrap();
        disk.apply(&Request::Truncate {
            to: Position::new(3, 10),
        })
        .unwrap();
        assert_eq!((disk.log.last().index, disk.synced), (10, 10));
    }
}
