//! The judge of elections: sees what nodes do, and believes none of them.

use super::Group;
use super::canon::Canon;
use std::collections::{BTreeMap, BTreeSet};
use tenure::raft::{Message, Rules};
use tenure::{Election, Event, NodeId, Standing, Token};

/// What the outside saw.
#[derive(Debug, Default)]
pub(crate) struct Ghost {
    /// INV-E1.
    pub(crate) leaders: BTreeMap<u64, NodeId>,
    /// INV-E2.
    pub(crate) votes: BTreeMap<(NodeId, u64), NodeId>,
    /// INV-E6: the highest token ever established.
    pub(crate) highest: Option<Token>,
    pub(crate) elected: u64,
    pub(crate) established: u64,
    pub(crate) handovers: u64,
    /// INV-S3: tokens that were believed and no longer are.
    pub(crate) expired: BTreeSet<Token>,
    /// Who believed what after the last input.
    believed: BTreeMap<usize, Token>,
    /// The logs.
    pub(crate) canon: Canon,
    /// How often each invariant was looked at where it could have been broken.
    pub(crate) judged: BTreeMap<&'static str, u64>,
    /// The first invariant that broke.
    pub(crate) broken: Option<String>,
    /// All that broke.
    pub(crate) fallen: BTreeSet<String>,
}

impl Ghost {
    pub(super) fn fail(&mut self, invariant: &str, detail: String) {
        self.fallen.insert(invariant.to_owned());
        self.broken
            .get_or_insert_with(|| format!("{invariant}: {detail}"));
    }

    pub(super) fn judged(&mut self, invariant: &'static str) {
        *self.judged.entry(invariant).or_default() += 1;
    }
}

impl<R: Rules> Group<R> {
    pub(super) fn judge_send(&mut self, place: usize, to: NodeId, message: &Message) {
        let node = &self.nodes[place];
        let (id, durable) = (node.id, node.record());
        let own_term = match *message {
            Message::RequestPreVote { term, .. } => term - 1,
            Message::PreVoteGranted { .. } | Message::Release { .. } => 0,
            Message::PreVoteRefused { term, .. } => term,
            // The term of who asked.
            Message::NotMember { .. } => 0,
            _ => message.term(),
        };
        self.ghost.judged("INV-E3");
        if own_term > durable.term {
            let detail = format!("{id} sends {message:?} with durable term {}", durable.term);
            self.ghost.fail("INV-E3", detail);
        }
        let vote = match *message {
            Message::VoteGranted { term } => Some((term, to)),
            Message::RequestVote { term, .. } => Some((term, id)),
            _ => None,
        };
        if let Some((term, candidate)) = vote {
            self.ghost.judged("INV-E2");
            if (durable.term, durable.vote) != (term, Some(candidate)) && durable.term <= term {
                self.ghost.fail(
                    "INV-E2",
                    format!("{id} votes for {candidate} in {term} with {durable:?} on disk"),
                );
            }
            let first = *self.ghost.votes.entry((id, term)).or_insert(candidate);
            if first != candidate {
                self.ghost.fail(
                    "INV-E2",
                    format!("{id} votes for {first} and {candidate} in {term}"),
                );
            }
        }
    }

    pub(super) fn judge_event(&mut self, place: usize, event: Event) {
        let id = self.nodes[place].id;
        match event {
            Event::Elected(token) => {
                self.ghost.elected += 1;
                self.ghost.judged("INV-E1");
                let first = *self.ghost.leaders.entry(token.counter).or_insert(id);
                if first != id || self.nodes[place].in_office.is_some() {
                    self.ghost
                        .fail("INV-E1", format!("{first} and {id} elected in {token}"));
                }
                self.nodes[place].in_office = Some(token);
                self.judge_elected(place, token);
            }
            Event::Established(tenure) => {
                self.ghost.established += 1;
                self.ghost.judged("INV-E6");
                if self.nodes[place].in_office != Some(tenure.token) {
                    self.ghost.fail(
                        "INV-E6",
                        format!("{id} established without election in {}", tenure.token),
                    );
                }
                // Outside safe mode a leader may be established after one with a higher token.
                let falls = |highest| highest >= tenure.token;
                if self.safe_mode && self.ghost.highest.is_some_and(falls) {
                    self.ghost.fail(
                        "INV-E6",
                        format!("token {} of {id} does not rise", tenure.token),
                    );
                }
                self.ghost.handovers += u64::from(self.ghost.highest.is_some());
                self.ghost.highest = self.ghost.highest.max(Some(tenure.token));
            }
            Event::Deposed(token, why) => {
                let held = self.nodes[place].in_office.take();
                if held != Some(token) {
                    self.ghost.fail(
                        "INV-E6",
                        format!("{id} deposed from {token} ({why:?}), held {held:?}"),
                    );
                }
            }
            _ => {}
        }
    }

    /// INV-S1 and INV-S3: a belief begins only at an input, so it is enough to look then. Outside safe mode no belief ends.
    pub(super) fn judge_belief(&mut self) {
        if !self.safe_mode {
            return;
        }
        let leading = self.leading();
        if !leading.is_empty() {
            self.ghost.judged("INV-S1");
        }
        if leading.len() > 1 {
            self.ghost
                .fail("INV-S1", format!("{leading:?} all believe at {}", self.now));
        }
        let believed: BTreeMap<usize, Token> = leading
            .iter()
            .filter_map(|place| Some((*place, self.tenure(*place)?)))
            .collect();
        for (place, token) in core::mem::take(&mut self.ghost.believed) {
            if believed.get(&place) != Some(&token) {
                self.ghost.expired.insert(token);
            }
        }
        for token in believed.values() {
            // A host whose clock went back has hidden the lapse from the machine.
            if self.ghost.expired.contains(token) && self.breakage.back_in_time == 0 {
                self.ghost.fail(
                    "INV-S3",
                    format!("token {token} is valid again at {}", self.now),
                );
            }
        }
        self.ghost.believed = believed;
    }

    /// The token of a node that believes to lead, by its own clock.
    fn tenure(&self, place: usize) -> Option<Token> {
        match self.nodes[place]
            .machine
            .as_ref()?
            .standing(self.clock(place))
        {
            Standing::Leading(tenure) => Some(tenure.token),
            _ => None,
        }
    }

    /// Who believes to lead, each by its own clock.
    pub(crate) fn leading(&self) -> Vec<usize> {
        (0..self.nodes.len())
            .filter(|place| self.tenure(*place).is_some())
            .collect()
    }
}
