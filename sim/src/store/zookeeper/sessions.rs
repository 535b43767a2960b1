//! The time of sessions, and their names. A session is in the bucket of the tick in which it will be over; whatever comes
//! from it moves it on, and what is in the bucket of the tick that has come is over, in the order it came there.

use super::image::Image;
use crate::sorted::Sorted;

/// A session; 0 is none.
pub type SessionId = i64;
/// With what a client shows that a session is its own.
pub type Password = [u8; 16];

/// The names that a server gives to sessions: its own number is the highest byte of them.
#[derive(Clone, Debug)]
pub(super) struct Names {
    next: SessionId,
}

impl Names {
    /// Those of a server by its place. They go on from where its clock stands, so that none is given twice by a server that
    /// starts anew.
    pub(super) fn new(now: u64, place: u16) -> Self {
        let begins = (now << 24) >> 8;
        let number = i64::from(place) + 1;
        Self {
            next: number << 56 | begins.cast_signed(),
        }
    }

    /// A name for a session.
    pub(super) const fn next(&mut self) -> SessionId {
        let name = self.next;
        self.next += 1;
        name
    }
}

/// For how many milliseconds a session outlasts silence, of what its client asks for: from 2 ticks to 20.
pub(super) fn agreed(asked: i32, tick: u64) -> i32 {
    let least = 2 * tick as i32;
    asked.clamp(least, 10 * least)
}

/// When each session is over, in milliseconds of the server's clock.
#[derive(Clone, Debug)]
pub(super) struct Sessions {
    tick: u64,
    buckets: Sorted<u64, Vec<SessionId>>,
}

impl Sessions {
    /// None yet.
    pub(super) fn new(tick: u64) -> Self {
        Self {
            tick,
            buckets: Sorted::default(),
        }
    }

    /// All that there are, each of which begins anew.
    pub(super) fn anew(now: u64, tick: u64, image: &Image) -> Self {
        let mut sessions = Self::new(tick);
        for (session, timeout) in image.sessions() {
            sessions.touch(now, session, timeout);
        }
        sessions
    }

    /// Something came from a session that outlasts so much silence.
    pub(super) fn touch(&mut self, now: u64, session: SessionId, timeout: i32) {
        let over = now.saturating_add(u64::from(timeout.unsigned_abs()));
        let bucket = (over / self.tick + 1).saturating_mul(self.tick);
        let holds = |sessions: &Vec<SessionId>| sessions.contains(&session);
        if self.buckets.get(&bucket).is_some_and(holds) {
            return;
        }
        self.forget(session);
        match self.buckets.get_mut(&bucket) {
            Some(sessions) => sessions.push(session),
            None => self.buckets.insert(bucket, vec![session]),
        }
    }

    /// A session is over.
    pub(super) fn forget(&mut self, session: SessionId) {
        for (_, sessions) in self.buckets.iter_mut() {
            sessions.retain(|known| *known != session);
        }
    }

    /// When a session is over, if nothing comes from it.
    pub(super) fn ends(&self, session: SessionId) -> Option<u64> {
        let mut buckets = self.buckets.iter();
        let (end, _) = buckets.find(|(_, sessions)| sessions.contains(&session))?;
        Some(*end)
    }

    /// When the next session may be over.
    pub(super) fn due(&self) -> Option<u64> {
        self.buckets.iter().next().map(|(bucket, _)| *bucket)
    }

    /// Those that are over, of one tick.
    pub(super) fn over(&mut self, now: u64) -> Option<Vec<SessionId>> {
        let bucket = self.due().filter(|bucket| *bucket <= now)?;
        self.buckets.remove(&bucket)
    }
}

/// The password of a session: no secret but the server's, so that every server of a cluster knows it of every session. The
/// generator is that of Java.
#[must_use]
pub fn password(session: SessionId) -> Password {
    const SECRET: i64 = 0xB341_5C00;
    const MULTIPLIER: u64 = 0x5_DEEC_E66D;
    const MASK: u64 = (1 << 48) - 1;
    let mut state = ((session ^ SECRET).cast_unsigned() ^ MULTIPLIER) & MASK;
    let mut password = Password::default();
    for four in password.chunks_exact_mut(4) {
        state = state.wrapping_mul(MULTIPLIER).wrapping_add(11) & MASK;
        four.copy_from_slice(&((state >> 16) as u32).to_le_bytes());
    }
    password
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_over_in_the_first_whole_tick_after_its_time() {
        let mut sessions = Sessions::new(100);
        sessions.touch(50, 7, 200);
        assert_eq!(sessions.due(), Some(300));
        // Exactly on a tick: in the one after.
        sessions.touch(100, 8, 200);
        sessions.touch(99, 9, 200);
        assert_eq!(sessions.over(299), None);
        assert_eq!(sessions.over(450), Some(vec![7, 9]));
        assert_eq!(sessions.over(450), Some(vec![8]));
        assert_eq!(sessions.over(450), None);
    }

    #[test]
    fn whatever_comes_from_a_session_moves_it_on_and_its_end_ends_that() {
        let mut sessions = Sessions::new(100);
        sessions.touch(0, 7, 200);
        sessions.touch(0, 8, 200);
        sessions.touch(150, 7, 200);
        assert_eq!(sessions.over(300), Some(vec![8]));
        sessions.forget(7);
        assert_eq!(sessions.over(900), Some(vec![]));
    }

    #[test]
    fn names_do_not_come_again_after_a_restart() {
        let mut first = Names::new(5_000, 0);
        let (one, other) = (first.next(), first.next());
        assert_eq!((one, other), (1 << 56 | 5_000 << 16, one + 1));
        assert!(Names::new(5_001, 0).next() > other);
        assert_eq!(Names::new(5_000, 1).next() - one, 1 << 56);
    }
}
