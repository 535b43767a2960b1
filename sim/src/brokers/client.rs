//! Who has topics made, produces and consumes.

use super::Params;
use super::said::{Asker, Described, Produced, Said};
use crate::sorted::Sorted;
use std::collections::VecDeque;
use tenure::isr::{Answer, Consumed, Fault, PartitionId, Request, TopicId};
use tenure::{NodeId, Ticket};

/// How many of its periods it waits for an answer.
const PATIENCE: u64 = 8;

/// What it does next, and to whom it says it.
pub(crate) type Does = (u16, Said);

/// What it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Open {
    number: u64,
    to: u16,
    since: u64,
    at: PartitionId,
}

/// A client that asks a broker who leads what, stays with that until it is told otherwise or hears nothing, and produces and
/// consumes in turn. The first one also has topics made.
#[derive(Clone, Debug)]
pub(crate) struct Customer {
    params: Params,
    nodes: u16,
    place: u16,
    every: u64,
    number: u64,
    /// What it takes to be so.
    known: Vec<Described>,
    /// The latest it was ever told of each partition.
    latest: Sorted<PartitionId, Described>,
    /// Whether it wants to know anew.
    asks: bool,
    /// Which broker it asks.
    broker: u16,
    open: Option<Open>,
    /// How many records of each partition it has read.
    read: Sorted<PartitionId, u64>,
    turns: u64,
    acknowledged: u64,
    makes: Option<Makes>,
    said: VecDeque<Does>,
}

/// The topics that the first one has made.
#[derive(Clone, Debug)]
struct Makes {
    /// Which are to be there, as the controller has confirmed or not yet.
    topics: VecDeque<(TopicId, bool)>,
    /// Those that are to go.
    gone: VecDeque<TopicId>,
    last: u64,
    controller: u16,
    asked: u64,
    since: Option<u64>,
    recreate_at: Option<u64>,
}

impl Customer {
    pub(crate) fn new(params: Params, nodes: usize, place: u16, every: u64) -> Self {
        let topics = (1..=params.topics).map(|topic| (TopicId(topic), false));
        let makes = Makes {
            topics: topics.collect(),
            gone: VecDeque::new(),
            last: params.topics,
            controller: 0,
            asked: 0,
            since: None,
            recreate_at: params.recreate.map(tenure::Duration::as_micros),
        };
        Self {
            params,
            nodes: nodes as u16,
            place,
            every,
            number: 0,
            known: Vec::new(),
            latest: Sorted::default(),
            asks: true,
            broker: place % params.count.max(1) as u16,
            open: None,
            read: Sorted::default(),
            turns: u64::from(place),
            acknowledged: 0,
            makes: (place == 0).then_some(makes),
            said: VecDeque::new(),
        }
    }

    pub(crate) const fn next_at(&self, now: u64) -> u64 {
        now.saturating_add(self.every)
    }

    /// How many of its records are in, as it was told.
    pub(crate) const fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    pub(crate) fn poll(&mut self) -> Option<Does> {
        self.said.pop_front()
    }

    fn patience(&self) -> u64 {
        self.every.saturating_mul(PATIENCE)
    }

    /// It is time for something.
    pub(crate) fn tick(&mut self, now: u64) {
        self.make(now);
        let patience = self.patience();
        if let Some(open) = self.open {
            if now < open.since.saturating_add(patience) {
                return;
            }
            // Who does not answer may not be there any more.
            self.open = None;
            self.asks = true;
        }
        self.number += 1;
        let number = self.number;
        if self.asks || self.known.is_empty() {
            self.broker = (self.broker + 1) % self.params.count.max(1) as u16;
            return self.say(
                now,
                self.nodes + self.broker,
                NOWHERE,
                Said::Describe { number },
            );
        }
        self.turns += 1;
        let place = (self.turns / 3) as usize % self.known.len();
        let Described { at, leader, epoch } = self.known[place];
        let Some(NodeId(leader)) = leader else {
            self.asks = true;
            return;
        };
        let said = if self.turns.is_multiple_of(3) {
            let after = self.read.get(&at).copied().unwrap_or(0);
            Said::Consume {
                number,
                at,
                epoch,
                after,
            }
        } else {
            Said::Produce { number, at }
        };
        self.say(now, leader as u16, at, said);
    }

    fn say(&mut self, now: u64, to: u16, at: PartitionId, said: Said) {
        self.open = Some(Open {
            number: self.number,
            to,
            since: now,
            at,
        });
        self.said.push_back((to, said));
    }

    /// Somebody answers. Whether a record of its is acknowledged, and its number.
    pub(crate) fn hear(&mut self, now: u64, from: u16, said: &Said) -> Option<u64> {
        if let Said::Answer {
            asker: Asker::Client,
            ticket,
            answer,
            leader,
        } = said
        {
            self.made(now, from, *ticket, *answer, *leader);
            return None;
        }
        let open = self.open?;
        let number = match said {
            Said::Partitions { number, .. }
            | Said::Produced { number, .. }
            | Said::Consumed { number, .. } => *number,
            _ => return None,
        };
        if open.number != number || open.to != from {
            return None;
        }
        self.open = None;
        match said {
            Said::Partitions { partitions, .. } => {
                self.asks = partitions.is_empty();
                // KIP-320: what is older than what it knows is no news.
                let latest = &mut self.latest;
                let newest = |told: &Described| {
                    let known = latest.keep(told.at, *told);
                    if told.epoch >= known.epoch {
                        *known = *told;
                    }
                    *known
                };
                self.known = partitions.iter().map(newest).collect();
            }
            Said::Produced {
                what: Produced::Acknowledged(_),
                ..
            } => {
                self.acknowledged += 1;
                return Some(number);
            }
            Said::Produced {
                what: Produced::NotEnoughReplicas,
                ..
            } => {}
            Said::Consumed {
                what: Consumed::Records { count, .. },
                ..
            } => *self.read.or_default(open.at) += count,
            Said::Consumed {
                what: Consumed::OutOfRange,
                ..
            } => {
                // `auto.offset.reset=earliest`.
                self.read.remove(&open.at);
            }
            Said::Consumed {
                what: Consumed::NotAvailable,
                ..
            } => {}
            _ => self.asks = true,
        }
        None
    }

    /// Has topics made, one after another.
    fn make(&mut self, now: u64) {
        let (patience, params, place) = (self.patience(), self.params, self.place);
        let nodes = self.nodes.max(1);
        let Some(makes) = &mut self.makes else {
            return;
        };
        if makes.since.is_none()
            && makes.recreate_at.is_some_and(|at| at <= now)
            && let Some((oldest, true)) = makes.topics.front().copied()
        {
            makes.recreate_at = params.recreate.map(|span| now + span.as_micros());
            makes.topics.pop_front();
            makes.gone.push_back(oldest);
            makes.last += 1;
            makes.topics.push_back((TopicId(makes.last), false));
        }
        if let Some(since) = makes.since {
            if now < since.saturating_add(patience) {
                return;
            }
            makes.controller = (makes.controller + 1) % nodes;
        }
        let request = if let Some(topic) = makes.gone.front() {
            Request::DeleteTopic { topic: *topic }
        } else if let Some((topic, _)) = makes.topics.iter().find(|(_, made)| !made) {
            Request::CreateTopic {
                topic: *topic,
                partitions: params.partitions,
                replication: params.replication,
                min_isr: params.min_isr,
                unclean: params.unclean,
            }
        } else {
            makes.since = None;
            return;
        };
        makes.asked += 1;
        makes.since = Some(now);
        let ticket = Ticket {
            incarnation: u64::from(place),
            number: makes.asked,
        };
        let asked = Said::Ask {
            asker: Asker::Client,
            ticket,
            request,
        };
        self.said.push_back((makes.controller, asked));
    }

    fn made(&mut self, now: u64, from: u16, ticket: Ticket, answer: Answer, leader: Option<u16>) {
        let nodes = self.nodes.max(1);
        let Some(makes) = &mut self.makes else {
            return;
        };
        if ticket.number != makes.asked || from != makes.controller || makes.since.is_none() {
            return;
        }
        makes.since = None;
        let done = matches!(
            answer,
            Answer::Done | Answer::Fault(Fault::TopicExists | Fault::UnknownPartition)
        );
        if done {
            if makes.gone.pop_front().is_none()
                && let Some(topic) = makes.topics.iter_mut().find(|(_, made)| !made)
            {
                topic.1 = true;
            }
            self.asks = true;
            self.make(now);
        } else if answer == Answer::Fault(Fault::NotController) {
            let next = (makes.controller + 1) % nodes;
            makes.controller = leader.filter(|leader| *leader < nodes).unwrap_or(next);
        }
    }
}

/// What a question that is of no partition is about.
const NOWHERE: PartitionId = PartitionId {
    topic: TopicId(0),
    index: 0,
};
