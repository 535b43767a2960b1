//! What the leader of an ensemble knows of sessions: when each is over, and by which member its client speaks.
//!
//! It alone ends them. Members tell it whom they heard of with each answer to its pings. A leader that is new has not heard
//! of that, and gives every session its whole time.

use super::super::command::Error;
use super::super::image::{Image, Step};
use super::super::sessions::{SessionId, Sessions};
use crate::sorted::Sorted;

/// The sessions of an ensemble.
#[derive(Clone, Debug)]
pub(super) struct Tracker {
    sessions: Sessions,
    known: Sorted<SessionId, Known>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// By which member its client speaks; `None` until it has spoken.
    owner: Option<u16>,
    /// Its end is proposed.
    closing: bool,
}

impl Tracker {
    /// Of a leader that begins with this: milliseconds of its clock and of its tick.
    pub(super) fn new(now: u64, tick: u64, image: &Image) -> Self {
        let known = image.sessions();
        Self {
            known: known
                .map(|(session, _)| (session, Known::default()))
                .collect(),
            sessions: Sessions::anew(now, tick, image),
        }
    }

    fn lives(&self, session: SessionId) -> bool {
        let known = self.known.get(&session);
        known.is_some_and(|known| !known.closing)
    }

    /// A member heard of a session, which outlasts so much silence.
    pub(super) fn touch(&mut self, now: u64, session: SessionId, timeout: i32) -> bool {
        let lives = self.lives(session);
        if lives {
            self.sessions.touch(now, session, timeout);
        }
        lives
    }

    /// A client comes back with its session, by that member: whether it may, and from then on by no other.
    pub(super) fn moves(
        &mut self,
        now: u64,
        session: SessionId,
        timeout: i32,
        member: u16,
    ) -> bool {
        let lives = self.touch(now, session, timeout);
        if let Some(known) = self.known.get_mut(&session).filter(|_| lives) {
            known.owner = Some(member);
        }
        lives
    }

    /// What becomes of a step for a session that is asked of this member: itself, or its refusal. Nobody has to be the owner to
    /// end a session.
    pub(super) fn admits(&mut self, now: u64, session: SessionId, member: u16, step: Step) -> Step {
        match step {
            Step::Begin(timeout) => {
                let owner = Some(member);
                let closing = false;
                self.known.insert(session, Known { owner, closing });
                self.sessions.touch(now, session, timeout);
            }
            Step::End => self.ends(session),
            _ => {
                let known = self.known.get_mut(&session);
                let Some(known) = known.filter(|known| !known.closing) else {
                    return Step::Refuse(Error::SessionExpired);
                };
                if *known.owner.get_or_insert(member) != member {
                    return Step::Refuse(Error::SessionMoved);
                }
            }
        }
        step
    }

    /// The end of a session is proposed: nothing more is done for it.
    fn ends(&mut self, session: SessionId) {
        self.sessions.forget(session);
        if let Some(known) = self.known.get_mut(&session) {
            known.closing = true;
        }
    }

    /// The session is over.
    pub(super) fn ended(&mut self, session: SessionId) {
        self.sessions.forget(session);
        self.known.remove(&session);
    }

    /// Sessions whose time is over, of one tick.
    pub(super) fn over(&mut self, now: u64) -> Option<Vec<SessionId>> {
        self.sessions.over(now)
    }

    /// When the next session may be over.
    pub(super) fn due(&self) -> Option<u64> {
        self.sessions.due()
    }

    /// When a session is over, if nothing comes from it.
    pub(super) fn end_of(&self, session: SessionId) -> Option<u64> {
        self.sessions.ends(session)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::zookeeper::Operation;
    use crate::store::zookeeper::tree::At;

    const TICK: u64 = 100;

    fn write() -> Step {
        Step::Do(Operation::Delete {
            path: "/a".into(),
            version: -1,
        })
    }

    fn tracker() -> Tracker {
        let mut tracker = Tracker::new(0, TICK, &Image::default());
        tracker.admits(0, 7, 1, Step::Begin(200));
        tracker
    }

    #[test]
    fn a_session_that_moved_is_refused_where_it_was() {
        let mut tracker = tracker();
        assert_eq!(tracker.admits(0, 7, 1, write()), write());
        assert!(tracker.moves(50, 7, 200, 2));
        let moved = Step::Refuse(Error::SessionMoved);
        assert_eq!(tracker.admits(60, 7, 1, write()), moved);
        assert_eq!(tracker.admits(60, 7, 2, write()), write());
        assert_eq!(tracker.end_of(7), Some(300));
    }

    #[test]
    fn a_session_whose_end_is_under_way_goes_on_nowhere() {
        let mut tracker = tracker();
        assert_eq!(tracker.admits(0, 7, 1, Step::End), Step::End);
        assert!(!tracker.moves(10, 7, 200, 2) && !tracker.touch(10, 7, 200));
        let expired = Step::Refuse(Error::SessionExpired);
        assert_eq!(tracker.admits(10, 7, 1, write()), expired);
        assert_eq!(tracker.over(900), Some(vec![]));
        tracker.ended(7);
        assert_eq!(tracker.admits(10, 7, 1, write()), expired);
    }

    #[test]
    fn a_new_leader_knows_no_owner_and_gives_every_session_its_whole_time() {
        let mut image = Image::default();
        let at = At {
            zxid: 1,
            time: 0,
            session: 7,
        };
        let begun = image.carry_out(at, &Step::Begin(200), &mut Vec::new());
        assert!(begun.is_ok());
        let mut tracker = Tracker::new(5_000, TICK, &image);
        assert_eq!(tracker.due(), Some(5_300));
        assert_eq!(tracker.admits(0, 7, 2, write()), write());
        let moved = Step::Refuse(Error::SessionMoved);
        assert_eq!(tracker.admits(0, 7, 1, write()), moved);
    }
}
