//! How a broker reads the metadata log: it asks whoever leads the quorum for what comes next, and cuts off what that one has
//! not (KR-0, KR-F2, KR-F3).

use super::said::Said;
use tenure::isr::{Broker, Record, Switched};
use tenure::log::{Position, Shape};
use tenure::{Duration, Instant};

/// What is known of the log, and of who leads it.
#[derive(Clone, Debug)]
pub(super) struct Reader {
    nodes: u16,
    /// Whom it takes for the active controller.
    pub(super) controller: u16,
    /// The latest epoch it knows of.
    epoch: u64,
    log: Shape,
    committed: u64,
    /// The number of the last question, and since when it waits for the answer.
    asked: u64,
    waits: Option<Instant>,
    ask_at: Instant,
    retry: Duration,
    patience: Duration,
}

impl Reader {
    pub(super) fn new(
        nodes: u16,
        first: u16,
        now: Instant,
        retry: Duration,
        wait: Duration,
    ) -> Self {
        Self {
            nodes,
            controller: first % nodes.max(1),
            epoch: 0,
            log: Shape::new(),
            committed: 0,
            asked: 0,
            waits: None,
            ask_at: now,
            retry,
            patience: wait.scaled_up(4, 1),
        }
    }

    pub(super) fn due(&self) -> Instant {
        let overdue = self.waits.map(|since| since + self.patience);
        overdue.unwrap_or(self.ask_at)
    }

    /// Asks, if it is time.
    pub(super) fn act(&mut self, now: Instant) -> Option<(u16, Said)> {
        if self.due() > now {
            return None;
        }
        if self.waits.take().is_some() {
            self.turn(None);
        }
        self.asked += 1;
        self.waits = Some(now);
        let question = Said::FetchMetadata {
            number: self.asked,
            epoch: self.epoch,
            after: self.log.last(),
            committed: self.committed,
        };
        Some((self.controller, question))
    }

    /// Another is taken for the active controller: the one that was named, or the next.
    pub(super) fn turn(&mut self, named: Option<u16>) {
        self.controller = named
            .filter(|node| *node < self.nodes)
            .unwrap_or((self.controller + 1) % self.nodes.max(1));
    }

    /// An answer came: what a broker is told by it.
    pub(super) fn hear(&mut self, now: Instant, said: &Said, broker: &mut Broker<Switched>) {
        let (number, epoch) = match *said {
            Said::Metadata { number, epoch, .. } | Said::MetadataDiverges { number, epoch, .. } => {
                (number, epoch)
            }
            Said::NoMetadata { number, leader } => {
                if number == self.asked && self.waits.take().is_some() {
                    self.ask_at = now + self.retry;
                    self.turn(leader);
                }
                return;
            }
            _ => return,
        };
        // Of who was overtaken nothing is taken.
        if number != self.asked || epoch < self.epoch || self.waits.take().is_none() {
            return;
        }
        self.epoch = epoch;
        self.ask_at = now;
        match said {
            Said::Metadata {
                entries, committed, ..
            } => {
                for (at, record) in entries {
                    self.take(now, *at, record.as_ref(), broker);
                }
                self.committed = self.committed.max((*committed).min(self.log.last().index));
                broker.high_watermark(now, self.committed);
            }
            Said::MetadataDiverges { at, .. } => {
                let common = self.log.hint(*at).index;
                if common < self.log.last().index && common >= self.committed {
                    self.log.truncate(common);
                    broker.truncated(now, common);
                } else {
                    self.ask_at = now + self.retry;
                }
            }
            _ => {}
        }
    }

    fn take(
        &mut self,
        now: Instant,
        at: Position,
        record: Option<&Record>,
        broker: &mut Broker<Switched>,
    ) {
        let next = at.index == self.log.last().index + 1;
        if next
            && self.log.append(at.term, 1).is_ok()
            && let Some(record) = record
        {
            broker.metadata(now, at.index - 1, record);
        }
    }
}
