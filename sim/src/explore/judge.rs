//! What the outside remembers of a node, and what it holds against it: the invariants, in each step.

use super::law::Law;
use super::node::{Group, Node, Stirred};
use tenure::raft::{Message, Record};
use tenure::{Event, NodeId, Ticket};

impl Group {
    /// The node asks its disk to write.
    pub(super) fn asked(&self, stirred: &mut Stirred, ticket: Ticket, record: Record) {
        let node = &stirred.node;
        let before = node.writes.back().map(|(_, record)| *record).or(node.disk);
        if before.is_some_and(|before| before.term > record.term) {
            self.note(stirred, Law::DurableTerm);
        }
        stirred.node.writes.push_back((ticket, record));
    }

    /// The node says something.
    pub(super) fn said(&self, stirred: &mut Stirred, to: NodeId, message: Message) {
        let node = &mut stirred.node;
        let durable = node.disk.unwrap_or_default();
        let (own_term, grant) = match &message {
            Message::RequestPreVote { term, .. } => (term.saturating_sub(1), None),
            // They name another's term.
            Message::PreVoteGranted { .. } => (0, None),
            Message::RequestVote { term, .. } => (*term, Some(node.machine.id())),
            Message::VoteGranted { term } => (*term, Some(to)),
            other => (other.term(), None),
        };
        let law = match grant {
            Some(candidate) => {
                let again = node.granted.is_some_and(|(term, vote)| {
                    term > own_term || (term == own_term && vote != candidate)
                });
                let is_durable = durable.term > own_term
                    || (durable.term == own_term && durable.vote == Some(candidate));
                node.granted = Some((own_term, candidate));
                if again {
                    Some(Law::OneVote)
                } else {
                    (!is_durable).then_some(Law::DurableVote)
                }
            }
            None => (own_term > durable.term).then_some(Law::DurableTerm),
        };
        if let Some(law) = law {
            self.note(stirred, law);
        }
        let message = self.posted(&stirred.node, message);
        let Some(place) = self.voters.place(to) else {
            return;
        };
        if let (
            &Message::Release {
                term,
                to: Some(_),
                orderly: false,
            },
            true,
        ) = (&message, self.nameless)
        {
            // A lapsed leader asks one to stand; among equals by name. Each may be asked, and each not.
            let unasked = Message::Release {
                term,
                to: None,
                orderly: false,
            };
            let asked = Message::Release {
                term,
                to: Some(to),
                orderly: false,
            };
            stirred.sent.extend([(place, unasked), (place, asked)]);
        } else {
            stirred.sent.push((place, message));
        }
    }

    /// INV-E6 as far as one node can break it.
    pub(super) fn heard_of(&self, stirred: &mut Stirred, office: &mut Option<u64>, event: Event) {
        let node = &mut stirred.node;
        let fits = match event {
            Event::Elected(token) => {
                let term = token.counter;
                let first = node.led >> term == 0 && office.is_none();
                stirred.elected = Some(term);
                node.led |= 1 << term.min(31);
                *office = Some(term);
                first
            }
            Event::Established(tenure) => {
                let term = tenure.token.counter;
                let fits = *office == Some(term) && term > node.highest;
                stirred.established = Some(term);
                node.highest = node.highest.max(term);
                fits
            }
            Event::Deposed(token, _) => office.take() == Some(token.counter),
            _ => true,
        };
        if !fits {
            self.note(stirred, Law::TokenRises);
        }
    }

    /// The first law that is broken and judged.
    pub(super) fn note(&self, stirred: &mut Stirred, law: Law) {
        if self.judges(law) {
            stirred.broken.get_or_insert(law);
        }
    }

    /// Whether anybody looks for it.
    pub(super) fn judges(&self, law: Law) -> bool {
        !self.unjudged.contains(&law)
    }
}

/// The invariants that one node alone cannot break: `others` are the nodes beside the one that moved.
pub(super) fn judge<'a>(
    group: &Group,
    place: usize,
    node: &Node,
    elected: Option<u64>,
    established: Option<u64>,
    others: impl Iterator<Item = (usize, &'a Node)> + Clone,
) -> Option<Law> {
    if let Some(term) = elected {
        let twice = others.clone().any(|(_, other)| other.led >> term & 1 == 1);
        if twice && group.judges(Law::OneLeader) {
            return Some(Law::OneLeader);
        }
        // For logs that nobody extends: what a majority holds may be committed.
        let own = group.log_end(place);
        let no_better = others
            .clone()
            .filter(|(other, _)| group.log_end(*other) <= own);
        if no_better.count() < group.voters() / 2 && group.judges(Law::CompleteLog) {
            return Some(Law::CompleteLog);
        }
    }
    // Without leases belief has no end of its own, and only the token protects.
    let believes = group.timed && node.believes().is_some();
    let beside = |(_, other): (usize, &Node)| other.believes().is_some();
    if believes && others.clone().any(beside) && group.judges(Law::OneBelieved) {
        return Some(Law::OneBelieved);
    }
    // Across nodes, established terms rise only where promises keep the old ones out.
    let overtaken = |term| others.clone().any(|(_, other)| other.highest >= term);
    let late = group.timed && established.is_some_and(overtaken);
    (late && group.judges(Law::TokenRises)).then_some(Law::TokenRises)
}
