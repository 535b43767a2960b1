//! Synchronisation, the leader's side: how a learner's log becomes the leader's, and how it stays so (ZAB-S1 to ZAB-S6).
//!
//! What to say is read off what each learner was told when the host drains: nothing is queued, and entries that wait become one
//! packet. In order: DIFF, TRUNC or SNAP; the history as PROPOSAL and COMMIT; NEWLEADER; and from then on proposals and commits.
//!
//! **On shapes.** The decision is by the end `p` of the learner's log alone, as in ZooKeeper. Where `p` is in the leader's log,
//! all before it is (ZK-LogContinuity), and the rest follows. The leader compares with its whole log, what is not committed
//! included: ZooKeeper, which compares with what is committed, cuts from a learner what that has acknowledged already. A snapshot
//! is the one the leader's log begins with, so that its host has it; entries follow it. A zxid that is a mere epoch does not
//! occur, for positions name entries; nor does a hole within an epoch, for which ZAB-S3 would have TRUNC.

use super::lead::{Phase, Stage};
use super::message::{Message, Packet};
use super::record::Request;
use super::{Rule, Rules, Zab};
use crate::Output;
use crate::log::Position;

impl<R: Rules> Zab<R> {
    /// Learners may have to be told something.
    pub(super) fn feed_learners(&mut self) {
        if let Some(leading) = &mut self.leading {
            leading.unsent = true;
        }
    }

    /// The next packet that history, proposals or commits call for; `None` when everybody was told what there is to say.
    pub(super) fn next_to_learners(&mut self) -> Option<Output<Message, Request>> {
        let leading = self.leading.as_mut()?;
        if !leading.unsent {
            return None;
        }
        let mut place = leading.cursor;
        while place < self.config.ensemble.members().len() {
            if let Some(packet) = self.next_to(place) {
                if let Some(leading) = &mut self.leading {
                    leading.cursor = place;
                }
                self.say_to_learner(place, packet);
                return self.outbox.pop_front();
            }
            place += 1;
        }
        if let Some(leading) = &mut self.leading {
            (leading.unsent, leading.cursor) = (false, 0);
        }
        None
    }

    /// What is to be said to one learner now.
    fn next_to(&mut self, place: usize) -> Option<Packet> {
        let votes = self.config.ensemble.votes(place);
        let leading = self.leading.as_ref()?;
        if leading.phase < Phase::Synchronising {
            return None;
        }
        let established = leading.phase == Phase::Broadcasting;
        let handler = leading.handlers[place].as_ref()?;
        if handler.stage == Stage::Promised {
            let (header, sent) = self.plan(handler.last);
            // What is committed is told as that; while nothing is established, all of the history (ZAB-S6).
            let history = if votes || !established {
                self.log.last().index
            } else {
                self.commit
            };
            let leading = self.leading.as_mut()?;
            let handler = leading.handlers[place].as_mut()?;
            (handler.stage, handler.header) = (Stage::Fed, Some(header));
            // What it has already may not be known to it as committed.
            (handler.sent, handler.told, handler.history) = (sent, 0, history.max(sent));
        }
        let leading = self.leading.as_ref()?;
        let handler = leading.handlers[place].as_ref()?;
        if handler.stage < Stage::Fed {
            return None;
        }
        if handler.sent < self.log.base().index && handler.header.is_none() {
            // What it needs next was compacted away meanwhile. It comes again, and gets a snapshot.
            self.close_learner(place);
            return None;
        }
        let committed = if established {
            self.commit
        } else {
            leading.history
        };
        let (fed, announced) = (handler.stage == Stage::Fed, handler.announced);
        let (sent, told, history) = (handler.sent, handler.told, handler.history);
        let epoch = leading.epoch;
        let early = !self.keeps(Rule::HistoryBeforeNewLeader);
        let until = match (fed, votes) {
            (true, _) => history,
            (false, true) => self.log.last().index,
            (false, false) => committed,
        };
        let entries = self.entries_after(sent, self.config.batch.min(until.saturating_sub(sent)));
        let entries = entries.filter(|entries| entries.count > 0);
        let now = self.now;
        let leading = self.leading.as_mut()?;
        let handler = leading.handlers[place].as_mut()?;
        if let Some(header) = handler.header.take() {
            return Some(header);
        }
        if early && !announced {
            handler.announced = true;
            return Some(Packet::NewLeader { epoch });
        }
        if let Some(entries) = entries {
            handler.sent = entries.last().index;
            if handler.stage == Stage::Serving {
                handler.owes = handler.owes.or(votes.then_some((handler.sent, now)));
            }
            return Some(if fed || votes {
                Packet::Proposal(entries)
            } else {
                handler.told = handler.sent;
                Packet::Inform(entries)
            });
        }
        let upto = committed.min(sent);
        if told < upto {
            handler.told = upto;
            return Some(Packet::Commit { upto });
        }
        if fed {
            handler.stage = Stage::Announced;
            if !announced {
                handler.announced = true;
                return Some(Packet::NewLeader { epoch });
            }
        }
        if handler.stage == Stage::Acknowledged && established {
            handler.stage = Stage::Serving;
            // It logs now what it was sent and could not know to be committed.
            handler.owes = (votes && sent > told).then_some((sent, now));
            return Some(Packet::UpToDate);
        }
        self.answer_to(place)
    }

    /// How the log of a learner whose last entry is `last` becomes this one: the packet that begins it, and from where entries
    /// follow.
    fn plan(&self, last: Position) -> (Packet, u64) {
        let (base, end) = (self.log.base(), self.log.last());
        if self.log.contains(last) {
            // ZAB-S1, S3, S4: it is a beginning of this one.
            (Packet::Diff, last.index)
        } else if last > end {
            // ZAB-S2: beyond it.
            (Packet::Trunc { to: end }, end.index)
        } else if !self.keeps(Rule::SnapAcrossEpochs) && last.index > base.index {
            // As within an epoch, where what comes before the last entry would be common.
            let to = self.position(last.index.min(end.index + 1) - 1);
            (Packet::Trunc { to }, to.index)
        } else {
            // ZAB-S3, S5: it is unknown what they share.
            (Packet::Snap { last: base }, base.index)
        }
    }
}
