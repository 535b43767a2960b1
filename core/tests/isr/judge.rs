//! Who knows everything, and says what is broken.

use std::collections::{BTreeMap, BTreeSet};
use tenure::isr::{
    Controller, ControllerConfig, Image, Invariant, PartitionId, Places, Record, Switched,
};
use tenure::log::{Position, Shape};
use tenure::{Instant, NodeId};

/// What is known of a partition's history.
#[derive(Clone, Debug, Default)]
struct Past {
    /// The epoch of every record that a leader showed as committed.
    exposed: Vec<u64>,
    /// The leader epoch of the last election that was unclean or of the last known leader.
    unclean: u64,
    /// Whether that leader has yet to come: then what it lacks is lost by design.
    pardon: bool,
    /// Without ELR, somebody in sync lost its disk's tail: nothing is promised any more.
    excused: bool,
    /// The latest leader, and in which epoch.
    leader: (u64, u64),
    /// Who wrote which record first.
    written: BTreeSet<(u64, u64)>,
    /// What was acknowledged to who waited for all.
    acked: Vec<Position>,
    /// What was acknowledged by the leader alone.
    acked_by_leader: Vec<Position>,
}

/// How often each check had something to look at, and what it found first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) broken: BTreeMap<&'static str, (u64, String)>,
    pub(crate) looked: BTreeMap<&'static str, u64>,
    /// Records acknowledged by the leader alone, and how many of them are gone: broken by design.
    pub(crate) acked_by_leader: (u64, u64),
    /// Elections that were unclean or of the last known leader.
    pub(crate) unclean: u64,
    /// How many were elected from the ELR.
    pub(crate) eligible: u64,
}

impl Verdict {
    /// What was found in another schedule as well.
    pub(crate) fn add(&mut self, other: &Self) {
        for (name, count) in &other.looked {
            *self.looked.entry(name).or_default() += count;
        }
        self.acked_by_leader.0 += other.acked_by_leader.0;
        self.acked_by_leader.1 += other.acked_by_leader.1;
        self.unclean += other.unclean;
        self.eligible += other.eligible;
    }
}

pub(crate) struct Judge {
    elr: bool,
    known: Controller<Switched>,
    past: BTreeMap<PartitionId, Past>,
    pub(crate) verdict: Verdict,
}

impl Judge {
    pub(crate) fn new(config: ControllerConfig, rules: Switched) -> Self {
        Self {
            elr: config.elr,
            known: Controller::with_rules(config, rules).unwrap(),
            past: BTreeMap::new(),
            verdict: Verdict::default(),
        }
    }

    pub(crate) fn image(&self) -> &Image {
        self.known.image()
    }

    fn look(&mut self, invariant: Invariant) {
        *self.verdict.looked.entry(invariant.name()).or_default() += 1;
    }

    pub(crate) fn broken(&mut self, now: u64, invariant: Invariant, what: String) {
        let first = self.verdict.broken.entry(invariant.name());
        first.or_insert((now, what));
    }

    pub(crate) fn check(
        &mut self,
        now: u64,
        invariant: Invariant,
        holds: bool,
        what: impl Fn() -> String,
    ) {
        self.look(invariant);
        if !holds {
            self.broken(now, invariant, what());
        }
    }

    /// The log has committed a record.
    pub(crate) fn committed(&mut self, now: u64, epoch: u64, offset: u64, record: &Record) {
        let before = self.known.image().clone();
        let at = Instant::from_micros(now);
        self.known.committed(at, epoch, offset, record);
        let refused = self.known.refusals().total();
        assert_eq!(refused, 0, "a log without contradictions: {record:?}");
        let after = self.known.image().clone();
        for (at, _, partition) in after.partitions() {
            let was = before.partition(at);
            self.state(now, &after, at, was);
            let Some(was) = was else {
                continue;
            };
            let same = was == partition;
            let rises = partition.partition_epoch > was.partition_epoch
                && partition.leader_epoch >= was.leader_epoch
                && (was.leader == partition.leader || partition.leader_epoch > was.leader_epoch);
            self.check(now, Invariant::EpochMonotone, same || rises, || {
                format!("{at:?}: {was:?} became {partition:?}")
            });
            let Some(leader) = partition
                .leader
                .filter(|leader| was.leader != Some(*leader))
            else {
                continue;
            };
            let eligible = was.among(leader, was.elr);
            self.verdict.eligible += u64::from(eligible);
            if partition.recovering && !eligible && !was.among(leader, was.isr) {
                self.verdict.unclean += 1;
                let past = self.past.entry(at).or_default();
                (past.unclean, past.pardon) = (partition.leader_epoch, true);
            }
        }
    }

    fn state(
        &mut self,
        now: u64,
        image: &Image,
        at: PartitionId,
        was: Option<&tenure::isr::Partition>,
    ) {
        let partition = image.partition(at).unwrap();
        let leads = partition.leader;
        let in_isr = leads.is_none_or(|leader| partition.among(leader, partition.isr));
        let told = || format!("{at:?}: {partition:?}");
        self.check(now, Invariant::LeaderInIsr, in_isr, told);
        let apart = partition.isr.and(partition.elr).is_empty()
            && partition.isr.or(partition.elr).within(partition.all());
        self.check(now, Invariant::ElrDisjoint, apart, told);
        let entered = partition.isr.but(was.map_or(Places::NONE, |was| was.isr));
        let active = entered
            .iter()
            .all(|place| image.is_active(partition.replicas[place]))
            && leads.is_none_or(|leader| image.is_active(leader));
        self.check(now, Invariant::FencedNeverLeads, active, || {
            format!(
                "{at:?}: {was:?} became {partition:?} with {:?}",
                image.brokers()
            )
        });
    }

    /// A broker's disk lost something of a partition.
    pub(crate) fn lost(&mut self, broker: NodeId, at: PartitionId) {
        let partition = self.known.image().partition(at);
        let matters = partition
            .is_some_and(|partition| partition.among(broker, partition.isr.or(partition.elr)));
        if !self.elr && matters {
            self.past.entry(at).or_default().excused = true;
        }
    }

    /// Whether what was committed of a partition may be lost.
    pub(crate) fn is_excused(&self, at: PartitionId) -> bool {
        self.past
            .get(&at)
            .is_some_and(|past| past.excused || past.unclean > 0)
    }

    /// A replica leads from now on.
    pub(crate) fn leads(
        &mut self,
        now: u64,
        broker: NodeId,
        at: PartitionId,
        epoch: u64,
        log: &Shape,
    ) {
        let past = self.past.entry(at).or_default();
        let (latest, who) = past.leader;
        if epoch == latest && who != broker.0 {
            self.broken(
                now,
                Invariant::EpochMonotone,
                format!("{at:?}: {who} and {broker} lead in {epoch}"),
            );
        }
        let past = self.past.entry(at).or_default();
        if epoch < latest {
            return;
        }
        past.leader = (epoch, broker.0);
        if past.pardon && epoch >= past.unclean {
            past.pardon = false;
            let has =
                |(place, written): (usize, &u64)| log.term_at(place as u64 + 1) == Some(*written);
            let kept = past
                .exposed
                .iter()
                .enumerate()
                .take_while(|entry| has(*entry))
                .count();
            past.exposed.truncate(kept);
        }
        self.leader_has_all(now, at, log);
    }

    /// Who leads has everything that was ever shown as committed.
    fn leader_has_all(&mut self, now: u64, at: PartitionId, log: &Shape) {
        let past = self.past.entry(at).or_default();
        if past.excused || past.pardon || past.exposed.is_empty() {
            return;
        }
        let mut exposed = (1..).zip(&past.exposed);
        let lacks = exposed.find(|(index, written)| log.term_at(*index) != Some(**written));
        let lacks = lacks.map(|(index, written)| (index, *written));
        let leader = past.leader;
        self.check(now, Invariant::CleanNoLoss, lacks.is_none(), || {
            format!("{at:?}: {leader:?} lacks {lacks:?}")
        });
    }

    /// A leader shows that so many records are committed.
    pub(crate) fn exposes(
        &mut self,
        now: u64,
        at: PartitionId,
        epoch: u64,
        log: &Shape,
        (before, high_watermark): (u64, u64),
    ) {
        let past = self.past.entry(at).or_default();
        if past.excused || epoch < past.unclean || past.pardon {
            return;
        }
        let mut wrong = None;
        // What was there before was looked at when it came to lead.
        for index in (before + 1).min(past.exposed.len() as u64 + 1)..=high_watermark {
            let written = log.term_at(index).unwrap_or(0);
            match past.exposed.get(index as usize - 1) {
                None => past.exposed.push(written),
                Some(before) if *before != written => {
                    wrong = wrong.or(Some((index, *before, written)))
                }
                Some(_) => {}
            }
        }
        self.check(now, Invariant::CleanNoLoss, wrong.is_none(), || {
            format!("{at:?}: in {epoch} another record is committed: {wrong:?}")
        });
    }

    /// A leader shows something as committed that the latest leader lacks.
    pub(crate) fn shown_late(&mut self, now: u64, at: PartitionId, latest: &Shape) {
        self.leader_has_all(now, at, latest);
    }

    pub(crate) fn latest(&self, at: PartitionId) -> Option<(u64, NodeId)> {
        self.past
            .get(&at)
            .map(|past| past.leader)
            .map(|(epoch, who)| (epoch, NodeId(who)))
    }

    /// A leader wrote records, the last of them here.
    pub(crate) fn written(&mut self, now: u64, at: PartitionId, last: Position, count: u64) {
        for index in last.index + 1 - count..=last.index {
            let past = self.past.entry(at).or_default();
            let new = past.written.insert((last.term, index));
            self.check(now, Invariant::LogMatching, new, || {
                format!("{at:?}: two records are called {index} of {}", last.term)
            });
        }
    }

    pub(crate) fn acknowledged(&mut self, at: PartitionId, position: Position, by_all: bool) {
        let past = self.past.entry(at).or_default();
        let acked = if by_all {
            &mut past.acked
        } else {
            &mut past.acked_by_leader
        };
        acked.push(position);
    }

    /// Two logs of one partition.
    pub(crate) fn logs(&mut self, now: u64, at: PartitionId, one: &Shape, other: &Shape) {
        let shorter = one.last().index.min(other.last().index);
        let agree = |index: &u64| one.term_at(*index) == other.term_at(*index);
        let common = (1..=shorter).rev().find(agree).unwrap_or(0);
        let holds = (1..common).all(|index| agree(&index));
        self.check(now, Invariant::LogMatching, holds, || {
            format!("{at:?}: {one:?} and {other:?} agree at {common} and not before")
        });
    }

    /// All is quiet, and this is the log of who leads.
    pub(crate) fn at_the_end(&mut self, now: u64, at: PartitionId, log: &Shape) {
        let past = self.past.entry(at).or_default().clone();
        let gone = |of: &[Position]| of.iter().filter(|at| !log.contains(**at)).count() as u64;
        self.verdict.acked_by_leader.0 += past.acked_by_leader.len() as u64;
        self.verdict.acked_by_leader.1 += gone(&past.acked_by_leader);
        if !past.excused && past.unclean == 0 && !past.acked.is_empty() {
            let gone = gone(&past.acked);
            self.check(now, Invariant::CleanNoLoss, gone == 0, || {
                format!("{at:?}: {gone} records are gone that all acknowledged")
            });
        }
    }
}
