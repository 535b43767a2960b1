//! Where each message goes, and from whom it is taken at all.

use super::{Message, Raft, Refusal, Role, Rules, refuse};
use crate::NodeId;

impl<R: Rules> Raft<R> {
    pub(super) fn receive(&mut self, from: NodeId, message: Message) {
        let place = self.membership.place(from);
        // A configuration may be news to this node. Without a log it never changes.
        let stranger = place.is_none() && self.config.replication.is_none();
        if from == self.config.id || stranger {
            return self.refusals.add(Refusal::UnknownSender);
        }
        if let Some(reason) = refuse::impossible(&message, self.record.term) {
            return self.refusals.add(reason);
        }
        match message {
            Message::Append {
                term,
                sent,
                prev,
                entries,
                commit,
            } => self.on_append(from, term, sent, prev, entries, commit),
            Message::Commit { term, index } => self.on_commit(from, term, index),
            Message::InstallSnapshot {
                term,
                sent,
                last,
                membership,
            } => self.on_install_snapshot(from, term, sent, last, membership),
            Message::Heartbeat {
                term,
                sent,
                round,
                commit,
            } => self.on_heartbeat(from, term, sent, round, commit),
            Message::RequestPreVote {
                term,
                last,
                sent,
                released,
            } => {
                self.on_request_pre_vote(from, term, last, sent, released);
                self.tell_if_removed(from, term);
            }
            Message::RequestVote {
                term,
                last,
                released,
            } => {
                self.on_request_vote(from, term, last, released);
                self.tell_if_removed(from, term);
            }
            Message::Release { term, to, orderly } => self.on_release(from, term, to, orderly),
            Message::ReadIndexAck {
                term,
                number,
                index,
            } => self.on_read_index_ack(from, term, number, index),
            answer => match place {
                Some(place) => self.receive_answer(place, answer),
                None => self.refusals.add(Refusal::UnknownSender),
            },
        }
    }

    /// What counts for something, or asks for entries, and so only from a member.
    fn receive_answer(&mut self, place: usize, message: Message) {
        match message {
            Message::HeartbeatAck {
                term,
                sent,
                round,
                promise,
                matched,
            } => self.on_heartbeat_ack(place, term, sent, round, promise, matched),
            Message::AppendAck {
                term,
                sent,
                promise,
                matched,
            } => self.on_append_ack(place, term, sent, promise, matched),
            Message::AppendRefused {
                term,
                sent,
                promise,
                prev,
                hint,
            } => self.on_append_refused(place, term, sent, promise, prev, hint),
            Message::PreVoteGranted {
                term,
                remainder,
                sent,
            } => self.on_pre_vote_granted(place, term, remainder, sent),
            Message::VoteGranted { term } => self.on_vote_granted(place, term),
            // Only members are asked: whoever left meanwhile deposes nobody.
            Message::HeartbeatRefused { asked, term } => self.on_refused(Role::Leader, asked, term),
            Message::VoteRefused { asked, term } => self.on_refused(Role::Candidate, asked, term),
            Message::PreVoteRefused {
                asked,
                term,
                better,
            } => {
                self.on_refused(Role::PreCandidate, asked, term);
                if let Some(better) = better {
                    self.on_better_log(place, asked, better);
                }
            }
            Message::NotMember { asked, index } => self.on_not_member(asked, index),
            Message::ReadIndex { term, number } => self.on_read_index(place, term, number),
            Message::Fetch { sent, after, .. } => {
                let from = self.membership.members()[place].id;
                self.on_fetch(from, sent, after);
            }
            Message::Suffix {
                term,
                sent,
                prev,
                entries,
                last,
            } => self.on_suffix(place, term, sent, prev, entries, last),
            Message::SuffixSnapshot {
                term,
                sent,
                base,
                membership,
                last,
            } => self.on_suffix_snapshot(place, term, sent, base, membership, last),
            _ => {}
        }
    }

    /// A refusal of what a node in `role` asked. Only the present question counts (RL-1); a higher term is adopted, and
    /// the retry draw waited for (RL-8).
    fn on_refused(&mut self, role: Role, asked: u64, term: u64) {
        let asking = if role == Role::PreCandidate {
            self.record.term.saturating_add(1)
        } else {
            self.record.term
        };
        if asked > asking {
            return self.refusals.add(Refusal::Unasked);
        }
        if self.role == role && asked == asking && term > self.record.term {
            self.adopt(term);
            self.retry_later();
        }
    }
}
