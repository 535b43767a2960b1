//! Who stood and why, who won and how, who held office and what ended it: read off the trace.

use crate::export::recording::Recording;
use crate::physics::trace::{Event, Kind};
use crate::scheme::RoleCode;
use crate::scheme::raft::code::{
    HEARTBEAT, HEARTBEAT_REFUSED, PRE_VOTE_GRANTED, PRE_VOTE_REFUSED, RELEASE, REQUEST_PRE_VOTE,
    REQUEST_VOTE, VOTE_GRANTED, VOTE_REFUSED,
};

/// One try of one node to become leader.
#[derive(Clone, Debug)]
pub(super) struct Attempt {
    pub(super) node: u16,
    pub(super) from: u64,
    pub(super) why: Why,
    /// Its pre-votes, if it asked for any.
    pub(super) pre: Option<Poll>,
    /// When it stood, and in which term; `None` while it only asked.
    pub(super) stood: Option<(u64, u64)>,
    pub(super) votes: Poll,
    pub(super) end: End,
    pub(super) until: u64,
}

/// What voters said.
#[derive(Clone, Debug, Default)]
pub(super) struct Poll {
    /// How often they were asked.
    pub(super) rounds: u32,
    pub(super) granted: Vec<u16>,
    pub(super) refused: Vec<u16>,
}

/// Why a node tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// Its timeout ran out without any leader since then.
    NeverHeard(u64),
    /// Its timeout ran out; it last heard this leader then.
    Silence(u16, u64),
    /// Its timeout ran out; this leader had said then that it stopped leading.
    Released(u16, u64),
    /// Its timeout ran out; it led itself until then, and heard no leader since.
    Stepped(u64),
    /// The leader that stopped leading named it.
    HandedOver(u16),
    /// Whoever runs it asked it to.
    Asked,
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// It was elected.
    Elected,
    /// It heard of another leader.
    Leader(u16),
    /// It made way for another that stood or asked.
    Rival(u16),
    /// A voter knew a higher term.
    HigherTerm(u16),
    /// Nobody answered in time, or too few.
    NoMajority,
    /// The process died.
    Crashed,
    /// The run was over.
    Open,
}

/// One term with a leader.
#[derive(Clone, Debug)]
pub(super) struct Office {
    pub(super) node: u16,
    pub(super) term: u64,
    pub(super) elected: u64,
    pub(super) established: Option<u64>,
    /// When it ended, the code of why, and who made it end.
    pub(super) ended: Option<(u64, i64, Option<u16>)>,
    /// Until when it believed to lead, and how often that was put off.
    pub(super) believed: Option<(u64, u64)>,
    /// The first and the number of its writes that the fenced resource took.
    pub(super) first_write: Option<u64>,
    pub(super) writes: u64,
    pub(super) heartbeats: u64,
}

/// What the trace says of elections.
#[derive(Debug, Default)]
pub(super) struct Elections {
    pub(super) attempts: Vec<Attempt>,
    pub(super) offices: Vec<Office>,
}

/// What a node knows of leaders.
#[derive(Clone, Copy, Debug)]
struct Ear {
    booted: u64,
    heard: Option<(u16, u64)>,
    released: bool,
    /// When it last stopped leading.
    led_until: Option<u64>,
    /// Its attempt that is open.
    attempt: Option<usize>,
}

impl Elections {
    /// Reads a run.
    pub(super) fn of(recording: &Recording) -> Self {
        let mut found = Self::default();
        let silent = Ear {
            booted: 0,
            heard: None,
            released: false,
            led_until: None,
            attempt: None,
        };
        let mut ears = vec![silent; recording.scenario.nodes];
        let fenced = recording.client() + 1;
        for event in &recording.events {
            if let Some(ear) = ears.get_mut(usize::from(event.actor)) {
                found.hear(recording, ear, event);
            } else if event.kind == Kind::WriteAccepted && event.actor == fenced {
                found.wrote(event);
            }
        }
        for attempt in &mut found.attempts {
            if attempt.end == End::Open {
                attempt.until = recording.scenario.duration;
            }
        }
        for office in &mut found.offices {
            office.believed = recording
                .beliefs
                .iter()
                .filter(|belief| belief.node == office.node && belief.token.counter == office.term)
                .map(|belief| (belief.until, belief.renewed))
                .next_back();
        }
        found
    }

    fn hear(&mut self, recording: &Recording, ear: &mut Ear, event: &Event) {
        match event.kind {
            Kind::Boot => {
                (ear.booted, ear.heard, ear.led_until) = (event.at, None, None);
            }
            Kind::Crash => self.close(ear, event.at, End::Crashed),
            Kind::Deliver => self.deliver(ear, event),
            Kind::Role => self.role(recording, ear, event),
            // A candidate that votes for itself in a newer term stands again; its role does not change.
            Kind::Persist if event.b == i64::from(event.actor) => {
                self.stands_again(recording, ear, event);
            }
            Kind::Send if event.a == REQUEST_PRE_VOTE || event.a == REQUEST_VOTE => {
                self.asks(ear, event);
            }
            Kind::Send if event.a == HEARTBEAT => {
                if let Some(office) = self.office(event) {
                    office.heartbeats += 1;
                }
            }
            Kind::Elected => {
                if ear.attempt.is_none() {
                    // It asked and was answered in one instant.
                    let why = why(ear, recording.cause(event));
                    self.open(ear, event, why).stood = Some((event.at, event.term as u64));
                }
                self.close(ear, event.at, End::Elected);
                self.offices.push(Office {
                    node: event.actor,
                    term: event.term as u64,
                    elected: event.at,
                    established: None,
                    ended: None,
                    believed: None,
                    first_write: None,
                    writes: 0,
                    heartbeats: 0,
                });
            }
            Kind::Established => {
                if let Some(office) = self.office(event) {
                    office.established = Some(event.at);
                }
            }
            Kind::Deposed => {
                ear.led_until = Some(event.at);
                let by = recording
                    .cause(event)
                    .filter(|cause| cause.kind == Kind::Deliver)
                    .and_then(|cause| u16::try_from(cause.other).ok());
                if let Some(office) = self.office(event) {
                    office.ended = Some((event.at, event.a, by));
                }
            }
            _ => {}
        }
    }

    fn deliver(&mut self, ear: &mut Ear, event: &Event) {
        let Ok(from) = u16::try_from(event.other) else {
            return;
        };
        match event.a {
            HEARTBEAT | RELEASE => {
                ear.heard = Some((from, event.at));
                ear.released = event.a == RELEASE;
            }
            PRE_VOTE_GRANTED | PRE_VOTE_REFUSED | VOTE_GRANTED | VOTE_REFUSED => {
                let Some(attempt) = ear.attempt.and_then(|place| self.attempts.get_mut(place))
                else {
                    return;
                };
                let poll = match (event.a, attempt.stood) {
                    // A refusal shows the voter's own term, not the one that was asked for.
                    (VOTE_REFUSED, Some(_)) => &mut attempt.votes,
                    (VOTE_GRANTED, Some((_, term))) if term == event.term as u64 => {
                        &mut attempt.votes
                    }
                    (PRE_VOTE_GRANTED | PRE_VOTE_REFUSED, None) => {
                        attempt.pre.get_or_insert_default()
                    }
                    _ => return,
                };
                let list = if matches!(event.a, PRE_VOTE_GRANTED | VOTE_GRANTED) {
                    &mut poll.granted
                } else {
                    &mut poll.refused
                };
                if !list.contains(&from) {
                    list.push(from);
                    list.sort_unstable();
                }
            }
            _ => {}
        }
    }

    fn role(&mut self, recording: &Recording, ear: &mut Ear, event: &Event) {
        let role = event.a;
        if role == RoleCode::PreCandidate as i64 || role == RoleCode::Candidate as i64 {
            let place = match ear.attempt {
                Some(place) => place,
                None => {
                    let why = why(ear, recording.cause(event));
                    self.open(ear, event, why);
                    self.attempts.len() - 1
                }
            };
            if role == RoleCode::Candidate as i64 {
                self.attempts[place].stood = Some((event.at, event.term as u64));
            }
        } else if role == RoleCode::Follower as i64 {
            let cause = recording
                .cause(event)
                .filter(|cause| cause.kind == Kind::Deliver);
            let end = cause
                .and_then(|cause| Some((cause.a, u16::try_from(cause.other).ok()?)))
                .map_or(End::NoMajority, |(what, from)| match what {
                    HEARTBEAT => End::Leader(from),
                    REQUEST_PRE_VOTE | REQUEST_VOTE => End::Rival(from),
                    PRE_VOTE_REFUSED | VOTE_REFUSED | HEARTBEAT_REFUSED => End::HigherTerm(from),
                    _ => End::NoMajority,
                });
            self.close(ear, event.at, end);
        }
    }

    fn open(&mut self, ear: &mut Ear, event: &Event, why: Why) -> &mut Attempt {
        let place = self.attempts.len();
        ear.attempt = Some(place);
        self.attempts.push(Attempt {
            node: event.actor,
            from: event.at,
            why,
            pre: None,
            stood: None,
            votes: Poll::default(),
            end: End::Open,
            until: event.at,
        });
        &mut self.attempts[place]
    }

    /// A candidate has voted for itself in a newer term.
    fn stands_again(&mut self, recording: &Recording, ear: &mut Ear, event: &Event) {
        let term = event.term as u64;
        let Some(Attempt {
            stood: Some((_, before)),
            ..
        }) = ear.attempt.and_then(|place| self.attempts.get(place))
        else {
            return;
        };
        if term > *before {
            let why = why(ear, recording.cause(event));
            self.close(ear, event.at, End::NoMajority);
            self.open(ear, event, why).stood = Some((event.at, term));
        }
    }

    fn asks(&mut self, ear: &Ear, event: &Event) {
        let Some(attempt) = ear.attempt.and_then(|place| self.attempts.get_mut(place)) else {
            return;
        };
        let poll = if event.a == REQUEST_VOTE {
            &mut attempt.votes
        } else {
            attempt.pre.get_or_insert_default()
        };
        // All voters are asked at one instant: that is one round.
        if poll.rounds == 0 || attempt.until != event.at {
            poll.rounds += 1;
        }
        attempt.until = event.at;
    }

    fn close(&mut self, ear: &mut Ear, at: u64, end: End) {
        if let Some(attempt) = ear
            .attempt
            .take()
            .and_then(|place| self.attempts.get_mut(place))
        {
            (attempt.end, attempt.until) = (end, at);
        }
    }

    fn wrote(&mut self, event: &Event) {
        let writer = Event {
            actor: u16::try_from(event.other).unwrap_or(u16::MAX),
            ..*event
        };
        if let Some(office) = self.office(&writer) {
            office.first_write.get_or_insert(event.at);
            office.writes += 1;
        }
    }

    /// The office that an event of its holder is about.
    fn office(&mut self, event: &Event) -> Option<&mut Office> {
        self.offices
            .iter_mut()
            .rev()
            .find(|office| office.node == event.actor && office.term as i64 == event.term)
    }
}

fn why(ear: &Ear, cause: Option<&Event>) -> Why {
    match cause {
        Some(cause) if cause.kind == Kind::Deliver && cause.a == RELEASE => {
            Why::HandedOver(u16::try_from(cause.other).unwrap_or_default())
        }
        Some(cause) if cause.kind == Kind::Timeout => match (ear.heard, ear.led_until) {
            (heard, Some(led)) if heard.is_none_or(|(_, at)| at < led) => Why::Stepped(led),
            (Some((leader, at)), _) if ear.released => Why::Released(leader, at),
            (Some((leader, at)), _) => Why::Silence(leader, at),
            (None, _) => Why::NeverHeard(ear.booted),
        },
        _ => Why::Asked,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::{Action, Fault};
    use crate::schedule;

    #[test]
    fn whoever_won_had_a_majority_and_every_office_was_won() {
        let mut won = 0;
        for seed in 0..40 {
            let scenario = schedule::random(seed).unwrap();
            let changes = |fault: &Fault| matches!(fault.action, Action::Change(..));
            let static_members = scenario.outside == 0 && !scenario.faults.iter().any(changes);
            let others = if static_members {
                scenario.nodes / 2
            } else {
                0
            };
            // Where there is a log, who is refused for its log alone may ask for what it lacks, and stand (RL-4).
            let asks = scenario.safe_mode && !scenario.log;
            let recording = Recording::of(scenario).unwrap();
            let Elections { attempts, offices } = Elections::of(&recording);
            for office in &offices {
                let attempt = attempts
                    .iter()
                    .find(|attempt| {
                        attempt.end == End::Elected
                            && (attempt.node, attempt.until) == (office.node, office.elected)
                    })
                    .unwrap();
                assert_eq!(attempt.stood.unwrap().1, office.term, "{seed}");
                assert!(attempt.votes.granted.len() >= others, "{seed}: {attempt:?}");
                // Whom the old leader named asks nobody before.
                let asks = asks && !matches!(attempt.why, Why::HandedOver(_));
                let asked = attempt.pre.as_ref();
                assert!(
                    !asks || asked.is_some_and(|pre| pre.granted.len() >= others),
                    "{seed}: {attempt:?}"
                );
                won += 1;
            }
            for attempt in &attempts {
                assert!(attempt.until >= attempt.from, "{seed}: {attempt:?}");
            }
            let ended = offices.iter().filter(|office| office.ended.is_some());
            assert_eq!(
                ended.count() as u64,
                recording.world.counts().depositions,
                "{seed}"
            );
        }
        assert!(won > 60, "{won}");
    }
}
