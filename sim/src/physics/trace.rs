//! What happened, as events, and a running hash over all of it (law W1).

/// Makes kinds and their names of one table, so that neither can be moved without the other.
macro_rules! kinds {
    ($($(#[$about:meta])* $kind:ident = $name:literal,)*) => {
        /// What kind of thing happened. The codes, from 0 in order, are part of the JavaScript interface.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Kind {
            $($(#[$about])* $kind,)*
        }

        impl Kind {
            /// All of them, in order of code.
            pub const ALL: &[Self] = &[$(Self::$kind,)*];
        }

        /// The names of the kinds, in order of code.
        pub const KIND_NAMES: &[&str] = &[$($name,)*];
    };
}

kinds! {
    /// A process started; `a` is its incarnation.
    Boot = "boot",
    /// A process died.
    Crash = "crash",
    /// A process froze.
    Pause = "pause",
    /// A frozen process went on.
    Resume = "resume",
    /// The link from the actor to the other was cut.
    Cut = "cut",
    /// The link from the actor to the other carries again.
    Heal = "heal",
    /// A message left; `a` is its kind, `b` the flight.
    Send = "send",
    /// A message arrived; as [`Send`](Self::Send).
    Deliver = "deliver",
    /// A message was lost; `a` is its kind, `b` a [`Loss`].
    Lose = "lose",
    /// A durable write began; `a` is the ticket, `b` the vote.
    Persist = "persist",
    /// A durable write is done; `a` is the ticket.
    Persisted = "persisted",
    /// A crash undid a durable write, or it was lost in another way; `a` is the ticket, `b` a [`Lost`].
    PersistLost = "persist-lost",
    /// A deadline came.
    Timeout = "timeout",
    /// A node plays another role; `a` is the role.
    Role = "role",
    /// A node was elected.
    Elected = "elected",
    /// A leader was established; `a` is the end of its tenure.
    Established = "established",
    /// A leader's term is over; `a` is an [`Ended`].
    Deposed = "deposed",
    /// A node follows the other, or nobody.
    Following = "following",
    /// A leader sent a write to a resource.
    WriteIssued = "write-issued",
    /// A resource took a write; `a` is 1 when it was stale.
    WriteAccepted = "write-accepted",
    /// A resource refused a write; `a` is a reason.
    WriteRefused = "write-refused",
    /// A resource was told of a new leader.
    Fenced = "fenced",
    /// A resource was read by a leader.
    Read = "read",
    /// A client's write was acknowledged.
    Acknowledged = "acknowledged",
    /// A checker found its rule broken; `a` is the checker.
    Violation = "violation",
    /// A fault had no effect (law W3); `a` is its place in the list.
    NoEffect = "no-effect",
    /// A node refused what a peer sent; `a` is a reason.
    Refusal = "refusal",
    /// All links carry again.
    Healed = "healed",
    /// The run is over.
    End = "end",
    /// The connection between the actor and the other broke.
    Disconnect = "disconnect",
    /// The connection between the actor and the other stands again.
    Reconnect = "reconnect",
    /// A job fell due; `a` is its number, as of all events of jobs.
    JobDue = "job-due",
    /// A resource gave a job to the other; `b` is the counter of the former owner's token, if it had one.
    JobClaimed = "job-claimed",
    /// A leader began to work at a job.
    JobStarted = "job-started",
    /// The leader's term was over before the work was done.
    JobStopped = "job-stopped",
    /// A resource took the effect of a job; `b` is 1 when it had taken it before.
    JobDone = "job-done",
    /// A resource did not give a job to the other, or did not take its effect; `b` is a reason.
    JobRefused = "job-refused",
    /// More of a node's log is committed; `a` is up to where.
    Committed = "committed",
    /// A node took over a snapshot; `a` is the index of its last entry.
    Installed = "installed",
    /// A store's primary was lost, and its replica took its place.
    Failover = "failover",
    /// A server of a store lost the record of the election, and nobody who takes part deleted it.
    Evict = "evict",
    /// What a server of a store keeps was copied.
    BackUp = "back-up",
    /// A server of a store was set back to what was copied of it.
    Restore = "restore",
    /// A server of a store lost what it had written and not synced.
    TailLost = "tail-lost",
    /// A sentinel tells of its work; `a` is of what, the other is whom it is about.
    News = "news",
    /// A data server takes writes, or no more; `a` is whether, `b` whether clients are told of it, by the configuration of
    /// that term.
    Serves = "serves",
}

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
    /// Its connection broke.
    Disconnected = 3,
    /// The receiver was frozen, and what had come before filled its buffer.
    BufferFull = 4,
}

/// How a durable write was lost, if not just because a crash came before it was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Lost {
    /// The disk failed it, and said so.
    Failed = 0,
    /// It was answered, but was only in the cache of a lying disk when a crash came.
    Answered = 1,
    /// The disk was wiped, with all it held.
    Wiped = 2,
    /// It was answered and never reached the medium.
    Dropped = 3,
    /// A crash left its file torn: the checksum tells, and the former record is read.
    Torn = 4,
    /// A crash left its file whole under a name that nobody reads: it was not renamed yet.
    Unnamed = 5,
    /// It was renamed, but a crash came before the directory was synced, and the former record has its name back.
    Renamed = 6,
}

/// Why a leader's term is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Ended {
    /// Its lease ran out, or it was never established.
    Lapsed = 0,
    /// It heard of a higher term.
    HigherTerm = 1,
    /// It was asked to stop.
    Resigned = 2,
    /// Its disk failed it.
    DiskFailed = 3,
    /// Its process died.
    Crashed = 4,
    /// The group goes on without its vote.
    Removed = 5,
    /// It handed over to the one that was named.
    Transferred = 6,
    /// The store's record is not its own any more.
    Taken = 7,
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
    #[inline(always)]
    pub fn emit(&mut self, at: u64, event: Event) -> i64 {
        let Event {
            kind,
            actor,
            other,
            term,
            a,
            b,
            ..
        } = event;
        self.record(at, kind, actor, other, term, a, b)
    }

    // There are many places that emit, and this is much code: once, with its arguments in registers.
    #[inline(never)]
    #[allow(clippy::too_many_arguments, reason = "the fields of an event")]
    fn record(
        &mut self,
        at: u64,
        kind: Kind,
        actor: u16,
        other: i32,
        term: i64,
        a: i64,
        b: i64,
    ) -> i64 {
        self.mix(at);
        self.mix(kind as u64 | u64::from(actor) << 8 | (other as u32 as u64) << 24);
        self.mix(term as u64);
        self.mix(a as u64);
        self.mix(b as u64);
        let cause = self.cause;
        self.mix(cause as u64);
        let place = self.count as i64;
        self.count += 1;
        if self.recording {
            self.fresh.push(Event {
                at,
                kind,
                actor,
                other,
                term,
                a,
                b,
                cause,
            });
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
    fn every_kind_has_its_own_code_and_its_name_in_kebab_case() {
        assert_eq!((Kind::ALL.len(), KIND_NAMES.len()), (46, 46));
        for (code, (kind, name)) in Kind::ALL.iter().zip(KIND_NAMES).enumerate() {
            let camel: String = name
                .split('-')
                .flat_map(|word| [word[..1].to_uppercase(), word[1..].to_owned()])
                .collect();
            assert_eq!((*kind as usize, format!("{kind:?}")), (code, camel));
        }
        // Pages count on these.
        assert_eq!(
            (Kind::Boot as u8, Kind::Send as u8, Kind::End as u8),
            (0, 6, 28)
        );
    }

    #[test]
    fn the_hash_hears_every_field_and_does_not_depend_on_recording() {
        let base = Event::new(Kind::Send, 1).with(2).term(3).a(4).b(5);
        let caused = |cause, at, event, recording| {
            let mut trace = Trace {
                recording,
                cause,
                ..Trace::default()
            };
            trace.emit(at, event);
            trace.hash()
        };
        let hash = |at, event, recording| caused(-1, at, event, recording);
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
        assert_ne!(caused(7, 9, base, false), expected);
    }
}
