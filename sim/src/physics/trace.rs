//! What happened, as events, and a running hash over all of it (law W1).

/// What kind of thing happened. The codes are part of the JavaScript interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A process started; `a` is its incarnation.
    Boot = 0,
    /// A process died.
    Crash,
    /// A process froze.
    Pause,
    /// A frozen process went on.
    Resume,
    /// The link from the actor to the other was cut.
    Cut,
    /// The link from the actor to the other carries again.
    Heal,
    /// A message left; `a` is its kind, `b` the flight.
    Send,
    /// A message arrived; as [`Send`](Self::Send).
    Deliver,
    /// A message was lost; `a` is its kind, `b` a [`Loss`].
    Lose,
    /// A durable write began; `a` is the ticket, `b` the vote.
    Persist,
    /// A durable write is done; `a` is the ticket.
    Persisted,
    /// A crash undid a durable write; `a` is the ticket.
    PersistLost,
    /// A deadline came.
    Timeout,
    /// A node plays another role; `a` is the role.
    Role,
    /// A node was elected.
    Elected,
    /// A leader was established; `a` is the end of its tenure.
    Established,
    /// A leader's term is over; `a` is a reason.
    Deposed,
    /// A node follows the other, or nobody.
    Following,
    /// A leader sent a write to a resource.
    WriteIssued,
    /// A resource took a write; `a` is 1 when it was stale.
    WriteAccepted,
    /// A resource refused a write; `a` is a reason.
    WriteRefused,
    /// A resource was told of a new leader.
    Fenced,
    /// A resource was read by a leader.
    Read,
    /// A client's write was acknowledged.
    Acknowledged,
    /// A checker found its rule broken; `a` is the checker.
    Violation,
    /// A fault had no effect (law W3); `a` is its place in the list.
    NoEffect,
    /// A node refused what a peer sent; `a` is a reason.
    Refusal,
    /// All links carry again.
    Healed,
    /// The run is over.
    End,
}

/// The names of the kinds, in order of code.
pub const KIND_NAMES: [&str; 29] = [
    "boot",
    "crash",
    "pause",
    "resume",
    "cut",
    "heal",
    "send",
    "deliver",
    "lose",
    "persist",
    "persisted",
    "persist-lost",
    "timeout",
    "role",
    "elected",
    "established",
    "deposed",
    "following",
    "write-issued",
    "write-accepted",
    "write-refused",
    "fenced",
    "read",
    "acknowledged",
    "violation",
    "no-effect",
    "refusal",
    "healed",
    "end",
];

/// Why a message was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Loss {
    /// The network dropped it.
    Network = 0,
    /// The link was cut.
    Cut = 1,
    /// The receiver was down.
    ReceiverDown = 2,
}

/// One event. Absent numbers are −1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// True time.
    pub at: u64,
    /// What happened.
    pub kind: Kind,
    /// To whom.
    pub actor: u16,
    /// The other party.
    pub other: i32,
    /// A term, or the counter of a token.
    pub term: i64,
    /// As the kind says.
    pub a: i64,
    /// As the kind says.
    pub b: i64,
    /// The place of the event that caused this one.
    pub cause: i64,
}

impl Event {
    /// An event without particulars, at a time and by a cause that the trace fills in.
    #[must_use]
    pub const fn new(kind: Kind, actor: usize) -> Self {
        Self {
            at: 0,
            kind,
            actor: actor as u16,
            other: -1,
            term: -1,
            a: -1,
            b: -1,
            cause: -1,
        }
    }

    /// With another party.
    #[must_use]
    pub const fn with(mut self, other: usize) -> Self {
        self.other = other as i32;
        self
    }

    /// With a term or token counter.
    #[must_use]
    pub const fn term(mut self, term: u64) -> Self {
        self.term = term as i64;
        self
    }

    /// With the first particular.
    #[must_use]
    pub const fn a(mut self, a: u64) -> Self {
        self.a = a as i64;
        self
    }

    /// With the second particular.
    #[must_use]
    pub const fn b(mut self, b: u64) -> Self {
        self.b = b as i64;
        self
    }
}

/// The trace of a run: the hash is always kept, the events only while recording is on.
#[derive(Clone, Debug)]
pub struct Trace {
    hash: u64,
    count: u64,
    /// What the events of the present step are caused by: the place of an event, or −1.
    pub cause: i64,
    /// Whether events are kept in [`fresh`](Self::fresh).
    pub recording: bool,
    /// Events kept since they were last taken away.
    pub fresh: Vec<Event>,
}

impl Default for Trace {
    fn default() -> Self {
        Self {
            hash: 0x7465_6e75_7265_0001,
            count: 0,
            cause: -1,
            recording: false,
            fresh: Vec::new(),
        }
    }
}

impl Trace {
    /// Adds an event at `at`, caused by [`cause`](Self::cause); answers its place.
    pub fn emit(&mut self, at: u64, mut event: Event) -> i64 {
        event.at = at;
        event.cause = self.cause;
        self.mix(at);
        self.mix(
            event.kind as u64 | u64::from(event.actor) << 8 | (event.other as u32 as u64) << 24,
        );
        self.mix(event.term as u64);
        self.mix(event.a as u64);
        self.mix(event.b as u64);
        let place = self.count as i64;
        self.count += 1;
        if self.recording {
            self.fresh.push(event);
        }
        place
    }

    /// Adds a number to the hash: the fields of a message, say, that no event shows.
    pub fn mix(&mut self, word: u64) {
        let mixed = (self.hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.hash = mixed ^ mixed >> 32;
    }

    /// The hash over everything so far.
    #[must_use]
    pub const fn hash(&self) -> u64 {
        self.hash
    }

    /// The hash as 16 hexadecimal digits.
    #[must_use]
    pub fn digest(&self) -> String {
        format!("{:016x}", self.hash)
    }

    /// How many events there were.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_codes_go_together() {
        assert_eq!(KIND_NAMES[Kind::End as usize], "end");
        assert_eq!(KIND_NAMES[Kind::Violation as usize], "violation");
        assert_eq!(KIND_NAMES.len(), Kind::End as usize + 1);
    }

    #[test]
    fn the_hash_hears_every_field_and_does_not_depend_on_recording() {
        let base = Event::new(Kind::Send, 1).with(2).term(3).a(4).b(5);
        let hash = |at, event, recording| {
            let mut trace = Trace {
                recording,
                ..Trace::default()
            };
            trace.emit(at, event);
            trace.hash()
        };
        let expected = hash(9, base, false);
        assert_eq!(hash(9, base, true), expected);
        let others = [
            base.with(1),
            base.term(4),
            base.a(5),
            base.b(6),
            Event { actor: 2, ..base },
            Event {
                kind: Kind::Deliver,
                ..base
            },
        ];
        for other in others {
            assert_ne!(hash(9, other, false), expected);
        }
        assert_ne!(hash(8, base, false), expected);
    }
}
