//! A member and its machine: what that wants is carried out, and what is committed, in order.

use super::super::image::Step;
use super::super::tree::At;
use super::peer::Load;
use super::{Member, Peer, Told, Txn};
use tenure::log::Position;
use tenure::zab::{Message, Packet, Role};
use tenure::{Election, Input, Instant, Output};

impl Member {
    /// Carries out what the machine wants.
    pub(super) fn drain(&mut self, now: u64) {
        while let Some(output) = self.machine.as_mut().and_then(|machine| machine.poll()) {
            match output {
                Output::Request(ticket, write) => {
                    // The machine asks for nothing that does not fit.
                    let _ = self.stored.get_or_insert_default().apply(&write);
                    self.handle(now, Input::Reply(ticket, Ok(())));
                }
                Output::Send(to, message) => {
                    if let Some(Packet::Ping { .. }) = message.packet() {
                        self.tell_touched(now);
                    }
                    // What is not at hand is not said: to the protocol it was lost.
                    if let Ok(load) = self.load(&message) {
                        let peer = Peer::Zab(message, load);
                        self.peers.push_back((to.0 as u16, peer));
                    }
                }
                Output::Event(_) => {}
            }
        }
    }

    /// A member that follows tells the leader whom it heard of, before it answers a ping.
    pub(super) fn tell_touched(&mut self, now: u64) {
        let follows =
            (self.machine.as_ref()).is_some_and(|machine| machine.role() != Role::Leading);
        if follows && self.touched.len() > 0 {
            let touched = std::mem::take(&mut self.touched);
            let sessions = touched.iter().map(|(session, time)| (*session, *time));
            self.tell_leader(now, Told::Touched(sessions.collect()));
        }
    }

    /// What is attached to a message; an error where that is not at hand.
    pub(super) fn load(&self, message: &Message) -> Result<Option<Load>, ()> {
        let load = match (message.entries(), message.snapshot()) {
            (Some(entries), _) => {
                let first = entries.after.index + 1;
                self.backlog
                    .entries(entries.epoch, first, entries.last().index)
            }
            (_, Some(last)) => self.backlog.state(last),
            _ => return Ok(None),
        };
        load.ok_or(()).map(Some)
    }

    /// Carries out what is committed.
    pub(super) fn apply(&mut self) {
        // No entry is the machine's own.
        let own = |_, _| false;
        while let Some(machine) = &self.machine
            && let Some((at, txn)) = self.backlog.next(machine.log(), machine.committed(), own)
        {
            if let Some(txn) = txn {
                self.carry_out(at, &txn);
            }
        }
    }

    pub(super) fn carry_out(&mut self, at: Position, txn: &Txn) {
        let Txn { asked, time } = txn;
        let at = At {
            zxid: zxid_after(self.image.zxid(), at.term),
            time: *time,
            session: asked.session,
        };
        let mut changes = Vec::new();
        let result = self.image.carry_out(at, &asked.step, &mut changes);
        self.front.tell(&changes);
        let own = asked
            .whose
            .filter(|whose| (whose.member, whose.life) == (self.place, self.life));
        if let Some(whose) = own {
            if matches!(asked.step, Step::Begin(_)) {
                self.validated(whose, true);
            } else if let Some(line) = self.line(whose.client, whose.ticket) {
                line.committed(result);
                self.advance(whose.client);
            }
        }
        if asked.step == Step::End {
            if let Some(tracker) = &mut self.tracker {
                tracker.ended(asked.session);
            }
            self.leave(asked.session);
        }
    }

    /// Lets entries go that are carried out, once there are many.
    pub(super) fn compact(&mut self, now: u64) {
        if let Some(machine) = &mut self.machine
            && let Some(applied) = self.backlog.compactable(machine.log().base())
            && let Some(term) = machine.log().term_at(applied)
            && machine.compact(Instant::from_micros(now), applied).is_ok()
        {
            let last = Position::new(term, applied);
            self.backlog.compacted(last, self.image.clone());
        }
    }
}

/// The zxid of an entry of an epoch after another one.
const fn zxid_after(zxid: i64, epoch: u64) -> i64 {
    let epoch = epoch.cast_signed() << 32;
    if zxid < epoch { epoch + 1 } else { zxid + 1 }
}
