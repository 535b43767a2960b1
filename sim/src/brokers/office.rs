//! What a node does as one of Kafka's controllers: it applies what the quorum commits, decides while it leads, and lets brokers
//! read the log.

use super::Params;
use super::said::{Asker, Said};
use crate::sorted::Sorted;
use crate::store::Replica;
use tenure::isr::{Controller, ControllerOutput, Image, Record, Request, Switched};
use tenure::log::{Position, Shape};
use tenure::{Instant, Ticket};

/// The most entries that one answer brings.
const BATCH: u64 = 64;

/// Something for somebody.
pub(crate) type Away = (u16, Said);

/// A broker that waits for something new in the log.
#[derive(Clone, Copy, Debug)]
struct Parked {
    from: u16,
    number: u64,
    epoch: u64,
    after: Position,
    committed: u64,
    until: Instant,
}

/// The controller on a node, and who waits for it.
#[derive(Clone, Debug)]
pub(crate) struct Office {
    params: Params,
    controller: Controller<Switched>,
    calls: Sorted<u64, (u16, Asker, Ticket)>,
    called: u64,
    parked: Vec<Parked>,
}

impl Office {
    /// Of a node that has applied nothing yet; `None` where the parameters are refused.
    pub(crate) fn new(params: Params) -> Option<Self> {
        let controller = Controller::with_rules(params.controller(), params.rules).ok()?;
        Some(Self {
            params,
            controller,
            calls: Sorted::default(),
            called: 0,
            parked: Vec::new(),
        })
    }

    /// What is committed, as far as it was applied.
    pub(crate) const fn image(&self) -> &Image {
        self.controller.image()
    }

    /// The first offset that is not applied.
    pub(crate) const fn next(&self) -> u64 {
        self.controller.next()
    }

    /// The epoch it claimed, while it decides.
    pub(crate) fn epoch(&self) -> Option<u64> {
        self.controller.epoch()
    }

    /// An entry of the log is committed.
    pub(crate) fn committed(&mut self, now: Instant, at: Position, record: Option<&Record>) {
        match record {
            Some(record) => (self.controller).committed(now, at.term, at.index - 1, record),
            None => self.controller.committed_to(now, at.term, at.index),
        }
    }

    /// Its node may act as the leader of this epoch of the log, which ends there; or of none.
    pub(crate) fn look(&mut self, now: Instant, established: Option<u64>, end: u64) {
        match established {
            Some(epoch) if self.epoch() != Some(epoch) => {
                // Not caught up: it claims when it is.
                let _ = self.controller.claim(now, epoch, end);
            }
            None if self.epoch().is_some() => self.controller.renounce(),
            _ => {}
        }
    }

    /// What was decided was not appended.
    pub(crate) fn renounce(&mut self) {
        self.controller.renounce();
    }

    /// Somebody asks.
    pub(crate) fn request(&mut self, now: Instant, who: (u16, Asker, Ticket), request: &Request) {
        self.called += 1;
        self.calls.insert(self.called, who);
        self.controller.request(now, self.called, request);
    }

    /// A broker asks for what the log has after an entry. What it asked before is void.
    pub(crate) fn fetch(&mut self, now: Instant, from: u16, said: &Said) {
        let Said::FetchMetadata {
            number,
            epoch,
            after,
            committed,
        } = *said
        else {
            return;
        };
        self.parked.retain(|parked| parked.from != from);
        self.parked.push(Parked {
            from,
            number,
            epoch,
            after,
            committed,
            until: now + self.params.wait,
        });
    }

    /// Answers whom there is something to say to. `leads` is the epoch that its node leads; `leader` who does otherwise.
    pub(crate) fn answers(
        &mut self,
        now: Instant,
        leads: Option<u64>,
        leader: Option<u16>,
        log: &Shape,
        replica: &Replica,
    ) -> Vec<Away> {
        let mut said = Vec::new();
        self.parked.retain(|parked| {
            let number = parked.number;
            let answer = match leads {
                // Of who was overtaken nobody takes anything.
                Some(epoch) if epoch >= parked.epoch => {
                    match content(parked, epoch, log, replica) {
                        Some(answer) => answer,
                        None if parked.until > now => return true,
                        None => Said::Metadata {
                            number,
                            epoch,
                            entries: Vec::new(),
                            committed: replica.applied().index,
                        },
                    }
                }
                Some(_) => Said::NoMetadata {
                    number,
                    leader: None,
                },
                None => Said::NoMetadata { number, leader },
            };
            said.push((parked.from, answer));
            false
        });
        said
    }

    /// The next thing that is decided, and where in the log its first record goes; or that is said.
    pub(crate) fn poll(&mut self, leader: Option<u16>) -> Option<Result<(u64, Vec<Record>), Away>> {
        loop {
            match self.controller.poll()? {
                ControllerOutput::Append {
                    offset, records, ..
                } => return Some(Ok((offset + 1, records))),
                ControllerOutput::Answer(call, answer) => {
                    if let Some((to, asker, ticket)) = self.calls.remove(&call) {
                        let said = Said::Answer {
                            asker,
                            ticket,
                            answer,
                            leader,
                        };
                        return Some(Err((to, said)));
                    }
                }
            }
        }
    }

    /// The time has come for what it does by itself.
    pub(crate) fn timeout(&mut self, now: Instant) {
        self.controller.timeout(now);
    }

    /// When it has something to do by itself.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let parked = self.parked.iter().map(|parked| parked.until);
        parked.chain(self.controller.deadline()).min()
    }
}

/// What there is to say to a broker that waits; nothing when nothing is new.
fn content(parked: &Parked, epoch: u64, log: &Shape, replica: &Replica) -> Option<Said> {
    let number = parked.number;
    if !log.contains(parked.after) {
        let at = log.hint(parked.after);
        return Some(Said::MetadataDiverges { number, epoch, at });
    }
    let committed = replica.applied().index;
    let (from, end) = (parked.after.index + 1, log.last().index);
    let mut entries = Vec::new();
    for index in from..=end.min(parked.after.index + BATCH) {
        let named = log.term_at(index).map(|term| Position::new(term, index));
        let Some((at, record)) = named.and_then(|at| Some((at, replica.record(at)?))) else {
            break;
        };
        entries.push((at, record.cloned()));
    }
    let news = !entries.is_empty() || committed.min(parked.after.index) > parked.committed;
    news.then_some(Said::Metadata {
        number,
        epoch,
        entries,
        committed,
    })
}
