//! The judges of Kafka's brokers and partitions: one rule a file, from what the metadata log commits and what replicas have.
//!
//! They share what is known from outside: the state of every partition as the log has it, which elections were unclean, and the
//! log of each replica as it was seen last.

mod ack_loss;
#[cfg(not(target_family = "wasm"))]
mod annals;
mod clean_no_loss;
mod high_watermark;
mod log_matching;
mod one_leader;
mod stale_command;
mod state;

use super::converges::Converges;
use super::{Broken, Check, Tally};
use crate::brokers::{News, Params};
use crate::sorted::Sorted;
use ack_loss::AckLoss;
#[cfg(not(target_family = "wasm"))]
use annals::Annals;
#[cfg(not(target_family = "wasm"))]
pub(crate) use annals::{Annal, Happened};
use clean_no_loss::CleanNoLoss;
use high_watermark::HighWatermark;
use log_matching::LogMatching;
use one_leader::OneLeader;
use stale_command::StaleCommand;
use state::State;
use tenure::NodeId;
use tenure::isr::{BrokerEvent, Image, Partition, PartitionId, Record, ReplicaEvent};
use tenure::log::{Position, Shape};

/// What a replica had when it was seen last.
#[derive(Clone, Debug)]
struct Seen {
    log: Shape,
    high_watermark: u64,
    leads: Option<u64>,
}

/// What is promised of a partition no more.
#[derive(Clone, Copy, Debug, Default)]
struct Excuse {
    /// The leader epoch of the last election that was unclean or of the last known leader; 0 when none was.
    unclean: u64,
    /// From which leader epoch on a leader by such an election has yet to come, if one has: there may be others since.
    pending: Option<u64>,
    /// Without ELR, somebody in sync lost its disk's tail.
    lost: bool,
}

/// All of them.
#[derive(Clone, Debug)]
pub(crate) struct BrokerJudges {
    params: Params,
    /// The metadata as of the last entry that anybody applied, and how many those are.
    image: Image,
    committed: u64,
    excuses: Sorted<PartitionId, Excuse>,
    /// Why what was acknowledged was lost first by design.
    designed: Option<&'static str>,
    replicas: Sorted<(PartitionId, usize), Seen>,
    /// When each partition was made.
    made: Sorted<PartitionId, u64>,
    /// The latest leader of each partition, and its epoch.
    leaders: Sorted<PartitionId, (u64, usize)>,
    elections: Elections,
    state: State,
    one_leader: OneLeader,
    no_loss: CleanNoLoss,
    ack_loss: AckLoss,
    matching: LogMatching,
    marks: HighWatermark,
    stale: StaleCommand,
    /// KP-InSyncAgain.
    again: Converges,
    #[cfg(not(target_family = "wasm"))]
    annals: Annals,
}

/// How leaders came to lead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Elections {
    /// Out of the ISR.
    pub in_sync: u64,
    /// Out of the ELR.
    pub eligible: u64,
    /// Unclean, or of the last known leader.
    pub unclean: u64,
}

impl BrokerJudges {
    pub(crate) fn new(params: Params, leader_within: u64) -> Self {
        let within = leader_within.saturating_add(params.in_sync_within());
        Self {
            params,
            image: Image::new(),
            committed: 0,
            excuses: Sorted::default(),
            designed: None,
            replicas: Sorted::default(),
            made: Sorted::default(),
            leaders: Sorted::default(),
            elections: Elections::default(),
            state: State::default(),
            one_leader: OneLeader::default(),
            no_loss: CleanNoLoss::default(),
            ack_loss: AckLoss::default(),
            matching: LogMatching::default(),
            marks: HighWatermark::default(),
            stale: StaleCommand::default(),
            again: Converges::new(within),
            #[cfg(not(target_family = "wasm"))]
            annals: Annals::default(),
        }
    }

    /// What becomes of brokers and partitions is kept from now on.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn keep_annals(&mut self) {
        self.annals.kept = Some(Vec::new());
    }

    /// What became of brokers and partitions, where it is kept.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn annals(&self) -> &[Annal] {
        self.annals.kept.as_deref().unwrap_or_default()
    }

    /// Keeps what a broker tells, before it is judged.
    #[cfg(not(target_family = "wasm"))]
    fn keep(&mut self, now: u64, broker: usize, news: &News) {
        let seen = |at: &PartitionId| self.replicas.get(&(*at, broker));
        let what = match news {
            News::Broker(BrokerEvent::Stopped(_)) => Some(Happened::Went(broker)),
            News::DiskFailed => Some(Happened::DiskFailed(broker)),
            News::Replica(at, ReplicaEvent::Follows(..) | ReplicaEvent::Waits, _) => seen(at)
                .and_then(|seen| seen.leads)
                .map(|_| Happened::Deposed(*at, broker)),
            News::Replica(at, ReplicaEvent::Truncated(last), _) => seen(at)
                .map(|seen| seen.log.last().index.saturating_sub(last.index))
                .filter(|cut| *cut > 0)
                .map(|cut| Happened::Cut(*at, broker, cut)),
            _ => None,
        };
        if let Some(what) = what {
            self.annals.add(now, what);
        }
    }

    /// Looks whether a leader lacks what was acknowledged.
    fn look_for_loss(
        &mut self,
        now: u64,
        at: PartitionId,
        who: usize,
        log: &Shape,
        excused: bool,
    ) -> bool {
        let before = self.ack_loss.tally().broken;
        let lost = self.ack_loss.look(now, at, log, excused);
        if lost && excused {
            let why = self.why_excused(at);
            self.designed.get_or_insert(why);
        }
        #[cfg(not(target_family = "wasm"))]
        if lost {
            let many = self.ack_loss.tally().broken - before;
            self.annals.add(now, Happened::Lost(at, who, many));
        }
        #[cfg(target_family = "wasm")]
        let _ = (who, before);
        lost
    }

    /// How leaders came to lead so far.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) const fn elections(&self) -> Elections {
        self.elections
    }

    /// The log has committed an entry, and this is what a node that applied it makes of it. Of those the first counts.
    pub(crate) fn committed(
        &mut self,
        now: u64,
        at: Position,
        record: Option<&Record>,
        image: &Image,
    ) -> Broken {
        let mut broken = Broken::default();
        if at.index != self.committed + 1 {
            return broken;
        }
        self.committed = at.index;
        if record.is_none() {
            return broken;
        }
        let before = std::mem::replace(&mut self.image, image.clone());
        #[cfg(not(target_family = "wasm"))]
        self.annals.compare(now, &before, image);
        for (at, _, partition) in image.partitions() {
            let was = before.partition(at);
            if was != Some(partition) || before.brokers() != image.brokers() {
                self.state.is(now, image, partition, was, &mut broken);
            }
            self.made.keep(at, now);
            if let Some(was) = was {
                self.elected(at, was, partition);
            }
        }
        self.look_around(now);
        broken
    }

    /// Somebody else leads a partition: how that came.
    fn elected(&mut self, at: PartitionId, was: &Partition, partition: &Partition) {
        let Some(leader) = partition
            .leader
            .filter(|leader| was.leader != Some(*leader))
        else {
            return;
        };
        if was.among(leader, was.isr) {
            self.elections.in_sync += 1;
        } else if was.among(leader, was.elr) {
            self.elections.eligible += 1;
        } else if partition.recovering {
            self.elections.unclean += 1;
            let excuse = self.excuses.or_default(at);
            excuse.unclean = partition.leader_epoch;
            excuse.pending.get_or_insert(partition.leader_epoch);
        }
    }

    /// Something happened at a broker.
    pub(crate) fn news(&mut self, now: u64, broker: usize, news: &News) -> Broken {
        let mut broken = Broken::default();
        #[cfg(not(target_family = "wasm"))]
        self.keep(now, broker, news);
        match *news {
            News::Began => {
                self.replicas.retain(|(_, of), _| *of != broker);
            }
            News::Broker(BrokerEvent::Stopped(_)) => {
                self.replicas.retain(|(_, of), _| *of != broker);
            }
            News::Replica(at, ReplicaEvent::Leads(epoch), _) => {
                broken.add(
                    Check::KafkaOneLeader,
                    self.one_leader.leads(now, broker, at, epoch),
                );
                self.came_to_lead(at, broker, epoch);
            }
            News::Has(at, ref log, high_watermark, leads) => {
                self.has(now, broker, at, (log, high_watermark, leads), &mut broken);
            }
            News::Wrote(at, last, count) => {
                broken.add(
                    Check::KafkaLogMatching,
                    self.matching.wrote(now, at, last, count),
                );
            }
            News::Acknowledged(at, position) => {
                self.ack_loss.acknowledged(at, position);
                let excuse = self.excuse(at);
                let excused = excuse.lost || position.term < excuse.unclean;
                let latest = self.leaders.get(&at).copied();
                if let Some((epoch, who)) = latest.filter(|(epoch, _)| *epoch > position.term)
                    && let Some(seen) = self.replicas.get(&(at, who))
                    && seen.leads == Some(epoch)
                {
                    let log = seen.log.clone();
                    let lost = self.look_for_loss(now, at, who, &log, excused);
                    broken.add(Check::KafkaNoAckLoss, lost);
                }
            }
            News::Consumed(at, epoch, after, what) => {
                let excuse = self.excuse(at);
                let excused = excuse.lost || excuse.pending.is_some() || epoch < excuse.unclean;
                let broke = self
                    .marks
                    .consumed(now, at, after, what, excused, excuse.unclean > 0);
                broken.add(Check::KafkaHighWatermark, broke);
            }
            News::Removed(at) => {
                self.replicas.remove(&(at, broker));
            }
            News::Applied(next) => {
                let broke = self.stale.applied(now, next, self.committed);
                broken.add(Check::KafkaNoStaleCommand, broke);
            }
            // Without ELR nobody notices, and it may be in sync or about to be.
            News::Lost(at) if !self.params.elr => self.excuses.or_default(at).lost = true,
            _ => {}
        }
        self.look_around(now);
        broken
    }

    fn excuse(&self, at: PartitionId) -> Excuse {
        self.excuses.get(&at).copied().unwrap_or_default()
    }

    /// A replica leads from now on, with what it had when it was seen last or will show at once.
    fn came_to_lead(&mut self, at: PartitionId, broker: usize, epoch: u64) {
        let latest = self.leaders.or_default(at);
        if epoch > latest.0 {
            *latest = (epoch, broker);
        }
    }

    /// What a replica has now.
    fn has(
        &mut self,
        now: u64,
        broker: usize,
        at: PartitionId,
        (log, high_watermark, leads): (&Shape, u64, Option<u64>),
        broken: &mut Broken,
    ) {
        let seen = Seen {
            log: log.clone(),
            high_watermark,
            leads,
        };
        let before = self.replicas.replace((at, broker), seen);
        let latest = self.leaders.get(&at).copied().unwrap_or_default();
        let known = before.as_ref().map_or(0, |before| before.high_watermark);
        let newly =
            leads.filter(|epoch| before.as_ref().and_then(|before| before.leads) != Some(*epoch));
        if let Some(epoch) = newly {
            if epoch == latest.0 {
                self.begins_to_lead(now, at, (broker, epoch), log, broken);
            }
            let others = self
                .replicas
                .iter()
                .filter(|((of, who), _)| *of == at && *who != broker);
            for (_, other) in others {
                broken.add(
                    Check::KafkaLogMatching,
                    self.matching.compare(now, log, &other.log),
                );
            }
        }
        let excuse = self.excuse(at);
        if let Some(epoch) = leads
            && (high_watermark > known || newly.is_some())
            && !excuse.lost
            && excuse.pending.is_none()
            && epoch >= excuse.unclean
        {
            let other = self.no_loss.exposes(now, at, log, known, high_watermark);
            broken.add(Check::KafkaCleanNoLoss, other);
            // An old leader shows what the latest one lacks.
            if epoch < latest.0
                && let Some(leader) = self.replicas.get(&(at, latest.1))
                && leader.leads == Some(latest.0)
            {
                let lacks = self.no_loss.leads(now, at, &leader.log);
                broken.add(Check::KafkaCleanNoLoss, lacks);
            }
        }
        if !excuse.lost && excuse.unclean == 0 && before.is_some() {
            let fell = self.marks.is_at(now, known, high_watermark);
            broken.add(Check::KafkaHighWatermark, fell);
        }
    }

    /// The latest leader begins with this log.
    fn begins_to_lead(
        &mut self,
        now: u64,
        at: PartitionId,
        (broker, epoch): (usize, u64),
        log: &Shape,
        broken: &mut Broken,
    ) {
        let excuse = self.excuses.or_default(at);
        let pardoned = excuse.pending.is_some_and(|from| epoch >= from);
        if pardoned {
            // What it lacks is lost by design; and so is what the next one lacks that was elected meanwhile.
            excuse.pending = (epoch < excuse.unclean).then_some(epoch + 1);
            self.no_loss.pardon(at, log);
            self.marks.pardon(at, log);
        }
        if !excuse.lost && excuse.pending.is_none() {
            broken.add(Check::KafkaCleanNoLoss, self.no_loss.leads(now, at, log));
        }
        let excused = excuse.lost || pardoned;
        let lost = self.look_for_loss(now, at, broker, log, excused);
        broken.add(Check::KafkaNoAckLoss, lost);
    }

    /// Why everything that was lost of what was acknowledged was lost by design; nothing where it was not, or none was.
    pub(crate) fn excuse_of_loss(&self) -> Option<&'static str> {
        self.designed.filter(|_| self.ack_loss.is_designed())
    }

    /// What happened to a partition after which no record of it is promised to stay.
    fn why_excused(&self, at: PartitionId) -> &'static str {
        if self.excuse(at).unclean == 0 {
            "A disk lost what was written last to it, and without ELR nobody notices: its broker counts as in sync."
        } else if self.params.unclean {
            "An election was unclean, as the topic allows: who leads then lacks what everybody in sync had."
        } else {
            "Everybody who was known to have it lost its disk, or what was written last to it: who led last leads again, without what is gone."
        }
    }

    /// Whether everybody is in sync, as of now.
    fn look_around(&mut self, now: u64) {
        let so = self.is_in_sync(now);
        self.again.now(now, so);
    }

    /// Whether every broker serves, and every partition is led by who should and kept in sync by all. One that was just made is
    /// not looked at, nor that one topic less is there while another takes its place.
    fn is_in_sync(&self, now: u64) -> bool {
        let brokers = self.image.brokers();
        let serve = brokers.len() == self.params.count
            && brokers.iter().all(tenure::isr::Registration::is_active);
        let least = (self.params.topics).saturating_sub(self.params.recreate.is_some().into());
        let settled = now.saturating_sub(self.params.flush());
        serve
            && self.image.topics().len() as u64 >= least
            && self.image.partitions().all(|(at, _, partition)| {
                let leads = |leader: NodeId| {
                    let seen = self.replicas.get(&(at, leader.0 as usize));
                    seen.is_some_and(|seen| seen.leads == Some(partition.leader_epoch))
                };
                let is_new = self.made.get(&at).is_none_or(|made| *made > settled);
                is_new || (partition.isr == partition.all() && partition.leader.is_some_and(leads))
            })
    }

    /// The last fault was healed, or the first one struck.
    pub(crate) fn whole(&mut self, now: u64, whole: bool) -> Broken {
        let broken = self.advance(now);
        self.again.whole(now, whole);
        self.look_around(now);
        broken
    }

    /// A leader was asked to resign, or a broker to go: what is waited for begins anew.
    pub(crate) fn wished(&mut self, now: u64) {
        self.again.wished(now);
    }

    /// When something breaks by waiting.
    pub(crate) fn due(&self) -> Option<u64> {
        self.again.due()
    }

    pub(crate) fn advance(&mut self, now: u64) -> Broken {
        let mut broken = Broken::default();
        broken.add(Check::KafkaInSyncAgain, self.again.advance(now));
        broken
    }

    /// The counts of one rule.
    pub(crate) fn tally(&self, check: Check) -> Tally {
        match check {
            Check::KafkaFencedNeverLeads => self.state.fenced,
            Check::KafkaLeaderInIsr => self.state.leader_in_isr,
            Check::KafkaElrDisjoint => self.state.disjoint,
            Check::KafkaEpochMonotone => self.state.epochs,
            Check::KafkaOneLeader => self.one_leader.tally,
            Check::KafkaCleanNoLoss => self.no_loss.tally,
            Check::KafkaNoStaleCommand => self.stale.tally,
            Check::KafkaHighWatermark => self.marks.tally,
            Check::KafkaLogMatching => self.matching.tally,
            Check::KafkaInSyncAgain => self.again.tally,
            Check::KafkaNoAckLoss => self.ack_loss.tally(),
            _ => Tally::default(),
        }
    }
}
