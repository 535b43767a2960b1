//! Situations that a sweep must have met: a catalogue, so that one that is never met is a failure and not a gap.
//!
//! A judge that is asked often may still never have been asked about the case it is for. So what makes an election hard is
//! listed here by name and noted when it happens, from outside: from the events of the trace and the facts that the judges
//! hear. Nothing is noted until it is asked for ([`World::note_marks`](crate::World::note_marks)).

use crate::check::Fact;
use crate::physics::trace::{Ended, Event, Kind};
use crate::scheme::RoleCode;
use crate::scheme::raft::code::{
    APPEND, APPEND_REFUSED, HEARTBEAT, HEARTBEAT_ACK, HEARTBEAT_REFUSED, PRE_VOTE_REFUSED,
    READ_INDEX_ACK, RELEASE, REQUEST_PRE_VOTE, REQUEST_VOTE, SUFFIX, VOTE_GRANTED, VOTE_REFUSED,
};

/// Makes marks, their names and their order of one table.
macro_rules! marks {
    ($($(#[doc = $about:literal])* $mark:ident = $name:literal,)*) => {
        /// A situation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Mark {
            $($(#[doc = $about])* $mark,)*
        }

        impl Mark {
            /// All of them, in order.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$mark),*];

            /// Its name in reports.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$mark => $name,)*
                }
            }
        }
    };
}

marks! {
    /// A leader heard of a higher term and gave up.
    DeposedByHigherTerm = "deposed-by-higher-term",
    /// A leader's time ran out.
    LeaseLapsed = "lease-lapsed",
    /// A leader resigned.
    Resigned = "resigned",
    /// A leader crashed.
    LeaderCrashed = "leader-crashed",
    /// A leader was elected, and was none any more before it was established.
    NeverEstablished = "never-established",
    /// A vote was refused under a promise, without adopting the candidate's term (RL-2).
    RefusedWithoutAdopting = "refused-without-adopting",
    /// A pre-vote was refused.
    PreVoteRefused = "pre-vote-refused",
    /// Two nodes stood in one term.
    TwoCandidates = "two-candidates",
    /// Two stood in one term, and it ended without a leader.
    SplitVote = "split-vote",
    /// A pre-candidate stepped back from an equal rival (RL-9).
    RivalYielded = "rival-yielded",
    /// A candidate heard of a leader and followed it.
    CandidateFollowed = "candidate-followed",
    /// A node stood while another believed to lead.
    StoodBesideBelief = "stood-beside-belief",
    /// A leader was followed by itself, in a later term.
    Reelected = "reelected",
    /// A leader that resigned was followed before an election timeout was over.
    QuickSuccessor = "quick-successor",
    /// A vote on its way to the disk was lost in a crash.
    VoteLost = "vote-lost",
    /// A node that lost its vote was asked again in that term.
    AskedAgainAfterLoss = "asked-again-after-loss",
    /// A restarted node was asked for a vote of the term in which it had voted for another.
    AskedAgainAfterRestart = "asked-again-after-restart",
    /// A voter restarted while its promise to a leader ran.
    RestartedUnderPromise = "restarted-under-promise",
    /// A durable write took longer than an election timeout.
    WriteOutlastedTimeout = "write-outlasted-timeout",
    /// A node was released from its promise.
    Released = "released",
    /// A release came after its receiver had entered a later term (RL-3).
    LateRelease = "late-release",
    /// A vote of an earlier term reached a candidate (RL-1).
    LateGrant = "late-grant",
    /// An answer to a heartbeat of an earlier term reached a leader (RL-1).
    LateAck = "late-ack",
    /// A heartbeat of a term that was over arrived.
    LateHeartbeat = "late-heartbeat",
    /// A candidate heard the same vote twice.
    DuplicateGrant = "duplicate-grant",
    /// A node heard of a leader more than one term ahead.
    TermsMissed = "terms-missed",
    /// A leader's heartbeat was refused.
    HeartbeatRefused = "heartbeat-refused",
    /// A frozen leader went on and might still act.
    ResumedWithinLease = "resumed-within-lease",
    /// A frozen leader went on after its time had run out.
    ResumedAfterLease = "resumed-after-lease",
    /// A node froze while it stood.
    CandidateFroze = "candidate-froze",
    /// A node that froze read what had come meanwhile.
    QueueReadLate = "queue-read-late",
    /// A leader's write left when it did not lead any more.
    WriteLeftLate = "write-left-late",
    /// A guard turned a stale write away.
    StaleWriteRefused = "stale-write-refused",
    /// Where there is no guard, a stale write got in.
    StaleWriteTaken = "stale-write-taken",
    /// Entries that a follower could not attach to its log were refused.
    AppendRefused = "append-refused",
    /// Entries of a leader whose term was over arrived.
    LateAppend = "late-append",
    /// Entries in a node's log gave way to others.
    EntriesReplaced = "entries-replaced",
    /// A candidate was told what its log lacks (RL-5).
    SuffixFetched = "suffix-fetched",
    /// A node took over a snapshot.
    SnapshotInstalled = "snapshot-installed",
    /// Entries on their way to a disk were lost in a crash.
    EntriesLost = "entries-lost",
    /// A follower was told up to where its state must have come for a read.
    FollowerRead = "follower-read",
    /// A lease of the store was over, and revoked.
    LeaseRevoked = "lease-revoked",
    /// A leader handed leadership over to one that had its whole log.
    HandedOver = "handed-over",
    /// A leader was none any more, for the group went on without its vote.
    LeaderRemoved = "leader-removed",
    /// A watcher went on at another server, and was told what had changed meanwhile.
    WatchResumed = "watch-resumed",
    /// A watcher was told that what it needs is forgotten, and read anew.
    WatchCompacted = "watch-compacted",
    /// A replica that took over a snapshot told its watchers what that remembers.
    WatchersCaughtUp = "watchers-caught-up",
}

impl Mark {
    /// Whether no election over a store meets it: it is of votes, terms, messages between nodes, or logs.
    #[must_use]
    pub const fn is_of_raft(self) -> bool {
        !matches!(
            self,
            Self::LeaseLapsed
                | Self::Resigned
                | Self::LeaderCrashed
                | Self::Reelected
                | Self::QuickSuccessor
                | Self::ResumedWithinLease
                | Self::ResumedAfterLease
                | Self::QueueReadLate
                | Self::WriteLeftLate
                | Self::StaleWriteRefused
                | Self::StaleWriteTaken
        )
    }
}

impl Mark {
    /// Whether any log meets it, and what is kept on it.
    #[must_use]
    pub const fn is_of_logs(self) -> bool {
        matches!(
            self,
            Self::SnapshotInstalled
                | Self::EntriesLost
                | Self::LeaseRevoked
                | Self::WatchResumed
                | Self::WatchCompacted
        )
    }
}

impl Mark {
    /// Whether it is of writes that are late, which only a token shows to be so.
    #[must_use]
    pub const fn is_of_tokens(self) -> bool {
        matches!(
            self,
            Self::WriteLeftLate | Self::StaleWriteRefused | Self::StaleWriteTaken
        )
    }
}

/// Which situations were met, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Met(u64);

impl Met {
    /// Whether this one was.
    #[must_use]
    pub const fn contains(self, mark: Mark) -> bool {
        self.0 >> mark as u8 & 1 == 1
    }

    const fn add(&mut self, mark: Mark) {
        self.0 |= 1 << mark as u8;
    }
}

/// Notes what is met.
#[derive(Clone, Debug)]
pub(crate) struct Marks {
    met: Met,
    /// An election timeout, and how long a promise lasts.
    timeout: u64,
    nodes: Vec<Node>,
    /// The terms in which somebody stood, the newest last: who, and whether somebody was elected.
    terms: Vec<(i64, u64, bool)>,
    /// Who was elected last.
    last_elected: Option<u16>,
    /// When a leader resigned, if nobody was established since, and who.
    resigned: Option<(u64, u16)>,
}

/// What is remembered of a node.
#[derive(Clone, Debug, Default)]
struct Node {
    role: i64,
    term: i64,
    /// What its disk holds: term and vote.
    durable: (i64, i64),
    /// Writes on their way: ticket, when it began, term and vote.
    writes: Vec<(i64, u64, i64, i64)>,
    /// The term of a vote that was lost in a crash.
    lost: Option<i64>,
    /// What its disk held when it restarted.
    kept: Option<(i64, i64)>,
    /// When it last answered a heartbeat.
    acked_at: Option<u64>,
    /// Until when it believes to lead.
    believes_until: u64,
    /// Whether it was established since it was elected.
    established: bool,
    resumed_at: Option<u64>,
    /// Voters whose vote it heard in a term.
    granted: (i64, u64),
    /// The kind and term of the message it read last.
    read: (i64, i64),
}

/// How many terms are remembered.
const TERMS: usize = 8;

const PRE_CANDIDATE: i64 = RoleCode::PreCandidate as i64;
const CANDIDATE: i64 = RoleCode::Candidate as i64;
const ELECTED: i64 = RoleCode::Elected as i64;

const LAPSED: i64 = Ended::Lapsed as i64;
const TRANSFERRED: i64 = Ended::Transferred as i64;
const REMOVED: i64 = Ended::Removed as i64;
const HIGHER_TERM: i64 = Ended::HigherTerm as i64;
const RESIGNED: i64 = Ended::Resigned as i64;
const CRASHED: i64 = Ended::Crashed as i64;

impl Marks {
    /// For so many nodes with such an election timeout.
    pub(crate) fn new(nodes: usize, timeout: u64) -> Self {
        Self {
            met: Met::default(),
            timeout,
            nodes: vec![Node::default(); nodes],
            terms: Vec::new(),
            last_elected: None,
            resigned: None,
        }
    }

    pub(crate) const fn met(&self) -> Met {
        self.met
    }

    /// A situation is met that no event shows.
    pub(crate) const fn meet(&mut self, mark: Mark) {
        self.met.add(mark);
    }

    /// The judges are told something.
    pub(crate) fn hear(&mut self, fact: &Fact) {
        if let Fact::Believes { node, until, .. } = *fact
            && let Some(node) = self.nodes.get_mut(node)
        {
            node.believes_until = until;
        }
    }

    /// Something happened.
    pub(crate) fn see(&mut self, now: u64, event: &Event) {
        match event.kind {
            Kind::Send => self.sent(now, event),
            Kind::Deliver => self.delivered(now, event),
            Kind::WriteAccepted if event.a == 1 => self.met.add(Mark::StaleWriteTaken),
            Kind::WriteRefused if event.a == 0 => self.met.add(Mark::StaleWriteRefused),
            Kind::Elected => self.elected(event),
            Kind::Established => {
                if let Some((at, who)) = self.resigned.take()
                    && who != event.actor
                    && now <= at + self.timeout
                {
                    self.met.add(Mark::QuickSuccessor);
                }
                if let Some(node) = self.node(event) {
                    node.established = true;
                }
            }
            Kind::Deposed => self.deposed(now, event),
            Kind::Role => self.plays(event),
            Kind::Installed => self.met.add(Mark::SnapshotInstalled),
            _ => self.lived(now, event),
        }
    }

    fn node(&mut self, event: &Event) -> Option<&mut Node> {
        self.nodes.get_mut(usize::from(event.actor))
    }

    fn sent(&mut self, now: u64, event: &Event) {
        let timeout = self.timeout;
        let Some(node) = self.node(event) else {
            return;
        };
        match event.a {
            HEARTBEAT_ACK => node.acked_at = Some(now),
            PRE_VOTE_REFUSED => self.met.add(Mark::PreVoteRefused),
            VOTE_REFUSED => {
                let (kind, term) = node.read;
                let promised = node.acked_at.is_some_and(|at| now < at + timeout);
                if kind == REQUEST_VOTE && term > node.term && promised {
                    self.met.add(Mark::RefusedWithoutAdopting);
                }
            }
            REQUEST_VOTE => self.stood(now, event),
            _ => {}
        }
    }

    fn stood(&mut self, now: u64, event: &Event) {
        let (me, term) = (event.actor, event.term);
        let others = (0..).zip(&self.nodes).filter(|(node, _)| *node != me);
        if others
            .into_iter()
            .any(|(_, node)| node.believes_until > now)
        {
            self.met.add(Mark::StoodBesideBelief);
        }
        let bit = 1 << (me % 64);
        let split = |(of, stood, won): &(i64, u64, bool)| {
            *of < term && stood.count_ones() > 1 && stood & bit != 0 && !won
        };
        if self.terms.iter().any(split) {
            self.met.add(Mark::SplitVote);
        }
        match self.terms.iter_mut().find(|(of, ..)| *of == term) {
            Some((_, stood, _)) => {
                *stood |= bit;
                if stood.count_ones() > 1 {
                    self.met.add(Mark::TwoCandidates);
                }
            }
            None => {
                if self.terms.len() == TERMS {
                    self.terms.remove(0);
                }
                self.terms.push((term, bit, false));
            }
        }
    }

    fn delivered(&mut self, now: u64, event: &Event) {
        let Some(node) = self.nodes.get_mut(usize::from(event.actor)) else {
            return;
        };
        if node.resumed_at == Some(now) {
            self.met.add(Mark::QueueReadLate);
        }
        let (term, late) = (event.term, event.term < node.term);
        match event.a {
            ..=RELEASE => {}
            APPEND if late => return self.met.add(Mark::LateAppend),
            APPEND_REFUSED => return self.met.add(Mark::AppendRefused),
            SUFFIX => return self.met.add(Mark::SuffixFetched),
            READ_INDEX_ACK => return self.met.add(Mark::FollowerRead),
            _ => return,
        }
        node.read = (event.a, term);
        match event.a {
            REQUEST_VOTE => {
                if node.lost == Some(term) {
                    self.met.add(Mark::AskedAgainAfterLoss);
                }
                let other = |(of, vote)| of == term && vote >= 0 && vote != i64::from(event.other);
                if node.kept.is_some_and(other) {
                    self.met.add(Mark::AskedAgainAfterRestart);
                }
            }
            VOTE_GRANTED if node.role == CANDIDATE && late => self.met.add(Mark::LateGrant),
            VOTE_GRANTED if node.role == CANDIDATE => {
                let bit = 1 << (event.other.rem_euclid(64));
                if node.granted.0 != term {
                    node.granted = (term, 0);
                }
                if node.granted.1 & bit != 0 {
                    self.met.add(Mark::DuplicateGrant);
                }
                node.granted.1 |= bit;
            }
            HEARTBEAT if late => self.met.add(Mark::LateHeartbeat),
            HEARTBEAT if term > node.term + 1 => self.met.add(Mark::TermsMissed),
            HEARTBEAT_ACK if late && node.role >= ELECTED => self.met.add(Mark::LateAck),
            HEARTBEAT_REFUSED if node.role >= ELECTED => self.met.add(Mark::HeartbeatRefused),
            RELEASE if late => self.met.add(Mark::LateRelease),
            RELEASE if term == node.term => self.met.add(Mark::Released),
            _ => {}
        }
    }

    fn elected(&mut self, event: &Event) {
        if let Some((.., won)) = self.terms.iter_mut().find(|(of, ..)| *of == event.term) {
            *won = true;
        }
        if self.last_elected.replace(event.actor) == Some(event.actor) {
            self.met.add(Mark::Reelected);
        }
        if let Some(node) = self.node(event) {
            node.established = false;
        }
    }

    fn deposed(&mut self, now: u64, event: &Event) {
        self.met.add(match event.a {
            HIGHER_TERM => Mark::DeposedByHigherTerm,
            RESIGNED => Mark::Resigned,
            CRASHED => Mark::LeaderCrashed,
            LAPSED => Mark::LeaseLapsed,
            TRANSFERRED => Mark::HandedOver,
            REMOVED => Mark::LeaderRemoved,
            _ => return,
        });
        if event.a == RESIGNED {
            self.resigned = Some((now, event.actor));
        }
        if self.node(event).is_some_and(|node| !node.established) {
            self.met.add(Mark::NeverEstablished);
        }
    }

    fn plays(&mut self, event: &Event) {
        let Some(node) = self.node(event) else {
            return;
        };
        let former = std::mem::replace(&mut node.role, event.a);
        let follows = event.a == RoleCode::Follower as i64;
        match (former, node.read.0) {
            (PRE_CANDIDATE, REQUEST_PRE_VOTE) if follows => self.met.add(Mark::RivalYielded),
            (CANDIDATE, HEARTBEAT) if follows => self.met.add(Mark::CandidateFollowed),
            _ => {}
        }
    }

    /// What happens to a process and its disk.
    fn lived(&mut self, now: u64, event: &Event) {
        let timeout = self.timeout;
        let Some(node) = self.nodes.get_mut(usize::from(event.actor)) else {
            return;
        };
        match event.kind {
            Kind::Persist => {
                node.term = event.term;
                node.writes.push((event.a, now, event.term, event.b));
            }
            Kind::Persisted => {
                while let Some(place) =
                    (node.writes.iter()).position(|(ticket, ..)| *ticket <= event.a)
                {
                    let (_, begun, term, vote) = node.writes.remove(place);
                    node.durable = (term, vote);
                    if now > begun + timeout {
                        self.met.add(Mark::WriteOutlastedTimeout);
                    }
                }
            }
            Kind::PersistLost => {
                let lost = (node.writes.iter()).find(|(ticket, ..)| *ticket == event.a);
                if let Some((_, _, term, 0..)) = lost.copied() {
                    node.lost = Some(term);
                    self.met.add(Mark::VoteLost);
                }
                node.writes.retain(|(ticket, ..)| *ticket != event.a);
            }
            Kind::Crash => {
                node.role = RoleCode::Follower as i64;
                node.granted = (0, 0);
            }
            Kind::Boot => {
                node.term = node.durable.0;
                node.kept = (event.a > 1).then_some(node.durable);
                if node.acked_at.is_some_and(|at| now < at + timeout) {
                    self.met.add(Mark::RestartedUnderPromise);
                }
            }
            Kind::Pause if matches!(node.role, PRE_CANDIDATE | CANDIDATE) => {
                self.met.add(Mark::CandidateFroze);
            }
            Kind::Resume => {
                node.resumed_at = Some(now);
                if node.role == RoleCode::Established as i64 {
                    self.met.add(if node.believes_until > now {
                        Mark::ResumedWithinLease
                    } else {
                        Mark::ResumedAfterLease
                    });
                }
            }
            Kind::WriteIssued if node.believes_until <= now => self.met.add(Mark::WriteLeftLate),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Scenario, World};

    fn met(rest: &str) -> Met {
        let json = format!(r#"{{"tenure": 1, "scheme": "raft", "nodes": 3, {rest}}}"#);
        let mut world = World::new(&Scenario::parse(&json).unwrap());
        world.note_marks();
        world.run();
        world.marks()
    }

    fn names(met: Met) -> Vec<&'static str> {
        let marks = Mark::ALL.into_iter().filter(|mark| met.contains(*mark));
        marks.map(Mark::name).collect()
    }

    #[test]
    fn a_calm_run_meets_no_more_than_its_first_election() {
        let election = [Mark::PreVoteRefused, Mark::RivalYielded].map(Mark::name);
        for seed in 0..5 {
            let met = names(met(&format!(r#""seed": "{seed}", "duration": "3s""#)));
            assert!(met.iter().all(|name| election.contains(name)), "{met:?}");
        }
    }

    #[test]
    fn each_fault_meets_what_it_is_for() {
        let frozen = |until: &str| {
            met(&format!(
                r#""duration": "4s", "client": {{"think": "24ms"}}, "faults": [{{"at": "2s", "pause": "leader"}}, {{"at": "{until}", "resume": "paused"}}]"#
            ))
        };
        let (soon, late) = (frozen("2010ms"), frozen("3s"));
        assert!(soon.contains(Mark::ResumedWithinLease) && !soon.contains(Mark::ResumedAfterLease));
        assert!(late.contains(Mark::ResumedAfterLease) && !late.contains(Mark::ResumedWithinLease));
        for mark in [Mark::QueueReadLate, Mark::WriteLeftLate] {
            assert!(late.contains(mark), "{}", mark.name());
        }
        let done = |faults: &str| met(&format!(r#""duration": "4s", "faults": [{faults}]"#));
        let resigned = done(r#"{"at": "2s", "resign": "leader"}"#);
        for mark in [Mark::Resigned, Mark::Released, Mark::QuickSuccessor] {
            assert!(resigned.contains(mark), "{}", mark.name());
        }
        let bounced =
            done(r#"{"at": "2s", "crash": "follower"}, {"at": "2s", "restart": "crashed"}"#);
        assert!(bounced.contains(Mark::RestartedUnderPromise));
        assert!(!resigned.contains(Mark::RestartedUnderPromise));
        let cut = done(r#"{"at": "2s", "partition": [["leader"], ["rest"]]}"#);
        assert!(cut.contains(Mark::LeaseLapsed) && !cut.contains(Mark::LeaderCrashed));
        let logged = |action: &str| {
            met(&format!(
                r#""raft": {{"log": true}}, "duration": "4s", "faults": [{{"at": "2s", {action}}}]"#
            ))
        };
        // Nobody leads without the other two, and of two of them one led and one did not.
        let handed = ["n1", "n2", "n3"].map(|to| logged(&format!(r#""transfer": "{to}""#)));
        let removed = [["n1", "n2"], ["n1", "n3"], ["n2", "n3"]].map(|left| {
            let [one, other] = left;
            logged(&format!(r#""change": {{"voters": ["{one}", "{other}"]}}"#))
        });
        for (all, mark) in [(handed, Mark::HandedOver), (removed, Mark::LeaderRemoved)] {
            assert!(all.iter().any(|met| met.contains(mark)), "{}", mark.name());
            assert!(!all.iter().any(|met| met.contains(Mark::LeaseLapsed)));
        }
    }

    #[test]
    fn marks_fit_their_bits_and_have_names_of_their_own() {
        assert!((20..=64).contains(&Mark::ALL.len()));
        let mut names = Mark::ALL.map(Mark::name);
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
