//! The judges of sentinels and their data servers: one rule a file, from what they say and write, and from who could reach whom.
//!
//! They are told of everything here, and share what is known from outside: who can reach whom, and what each sentinel was told.

mod ack_loss;
mod best_replica;
mod config_monotone;
mod config_unique;
mod epochs;
mod failover_completes;
mod majority;
mod master_stays;
mod no_minority;
mod one_leader;
mod one_vote;
mod rate_limited;
mod self_replication;
mod sight;

use super::converges::Converges;
use super::{Broken, Check, Tally};
use crate::scheme::sentinel::{Machine, Setup, sentinel};
use crate::sorted::Sorted;
use ack_loss::AckLoss;
use best_replica::BestReplica;
use config_monotone::ConfigMonotone;
use config_unique::ConfigUnique;
use epochs::EpochMonotone;
use failover_completes::FailoverCompletes;
use majority::Majority;
use master_stays::MasterStays;
use no_minority::NoMinority;
use one_leader::OneLeader;
use one_vote::OneVote;
use rate_limited::RateLimited;
use self_replication::SelfReplication;
pub(crate) use sight::Links;
use sight::Sight;
use tenure::NodeId;
use tenure::sentinel::data::{History, Mark};
use tenure::sentinel::{File, MasterName, Message, News};

/// All of them.
#[derive(Clone, Debug)]
pub(crate) struct SentinelJudges {
    setup: Setup,
    sight: Sight,
    /// In which epochs an operator ordered a failover.
    forced: Sorted<(MasterName, u64), ()>,
    one_vote: OneVote,
    epochs: EpochMonotone,
    one_leader: OneLeader,
    unique: ConfigUnique,
    monotone: ConfigMonotone,
    majority: Majority,
    converges: Converges,
    no_minority: NoMinority,
    self_replication: SelfReplication,
    rate: RateLimited,
    best: BestReplica,
    stays: MasterStays,
    loss: AckLoss,
    completes: FailoverCompletes,
    /// The highest configuration of each master that was ever on a disk: its epoch, and where it is.
    highest: Vec<(u64, NodeId)>,
    /// Of which masters two servers are held at one epoch because of an operator's order: nothing but another order ends that.
    clashed: Sorted<MasterName, ()>,
    /// Which life of each sentinel was seen last.
    lives: Vec<u64>,
    /// Whether each server takes writes, and clients find it, as it was told last.
    told: Vec<(bool, bool)>,
    /// What each master was last looked at with: the epoch, and which servers were masters.
    looked: Vec<Option<(u64, u64)>>,
}

impl SentinelJudges {
    pub(crate) fn new(setup: Setup) -> Self {
        let timeout = setup.params.failover_timeout.as_micros();
        let masters = 0..setup.params.masters;
        Self {
            sight: Sight::new(&setup),
            forced: Sorted::default(),
            one_vote: OneVote::default(),
            epochs: EpochMonotone::default(),
            one_leader: OneLeader::default(),
            unique: ConfigUnique::default(),
            monotone: ConfigMonotone::default(),
            majority: Majority::default(),
            converges: Converges::new(setup.params.converged_within()),
            no_minority: NoMinority::default(),
            self_replication: SelfReplication::default(),
            rate: RateLimited::new(timeout),
            best: BestReplica::default(),
            stays: MasterStays::default(),
            loss: AckLoss::default(),
            completes: FailoverCompletes::new(
                setup.params.leader_within(),
                setup.params.down_after.as_micros(),
            ),
            highest: masters
                .map(|master| (0, setup.address(master, 0)))
                .collect(),
            clashed: Sorted::default(),
            lives: vec![0; setup.nodes],
            told: vec![(false, false); setup.params.servers()],
            looked: vec![None; setup.params.masters],
            setup,
        }
    }

    /// Whether an operator's order left two configurations of one epoch.
    pub(crate) fn is_clashed(&self, name: MasterName) -> bool {
        self.clashed.contains_key(&name)
    }

    /// Whether a server takes writes, and clients find it, is another thing than it was.
    pub(crate) fn changed(&mut self, server: usize, now: (bool, bool)) -> bool {
        std::mem::replace(&mut self.told[server], now) != now
    }

    /// A sentinel is in this life of it.
    pub(crate) fn lives(&mut self, node: usize, life: u64, machine: &Machine) {
        if std::mem::replace(&mut self.lives[node], life) != life {
            self.started(node, machine);
        }
    }

    /// Where the master is by the highest configuration that was ever on a disk, and its epoch.
    pub(crate) fn highest(&self, name: MasterName) -> (u64, NodeId) {
        self.highest[usize::from(name.0)]
    }

    /// Who runs and can reach whom has changed.
    pub(crate) fn links(&mut self, now: u64, links: &Links<'_>) {
        self.sight.links(now, links);
    }

    /// The last fault was healed, or the first one struck.
    pub(crate) fn whole(&mut self, now: u64, whole: bool) -> Broken {
        let broken = self.advance(now);
        self.converges.whole(now, whole);
        broken
    }

    /// An operator wished something: what is waited for begins anew.
    pub(crate) fn wished(&mut self, now: u64) {
        self.converges.wished(now);
    }

    /// When something breaks by waiting.
    pub(crate) fn due(&self) -> Option<u64> {
        [self.converges.due(), self.completes.due()]
            .into_iter()
            .flatten()
            .min()
    }

    pub(crate) fn advance(&mut self, now: u64) -> Broken {
        let mut broken = Broken::default();
        broken.add(Check::SentinelConverges, self.converges.advance(now));
        broken.add(
            Check::SentinelFailoverCompletes,
            self.completes.advance(now),
        );
        broken
    }

    /// Who the master is by the highest configuration, and whether it runs.
    pub(crate) fn master_at(&mut self, now: u64, name: MasterName, address: NodeId, runs: bool) {
        self.completes.is_at(now, name, address, runs);
    }

    /// A server has what its master has.
    pub(crate) fn in_touch(&mut self, now: u64, server: NodeId, master: NodeId) {
        self.completes.in_touch(now, server, master);
    }

    /// Whether a server was in touch with the master until that one went.
    pub(crate) fn is_good(&self, name: MasterName, server: NodeId) -> bool {
        self.completes.is_good(name, server)
    }

    /// Whether the master has to be replaced, and can be.
    pub(crate) fn is_to_replace(&mut self, now: u64, name: MasterName, so: bool) {
        self.completes.is_due(now, name, so);
    }

    /// Something was done to somebody.
    pub(crate) fn acted(&mut self, now: u64) {
        self.completes.acted(now);
    }

    /// Whether all sentinels hold the highest configurations, and all data servers follow them.
    pub(crate) fn converged(&mut self, now: u64, so: bool) {
        self.converges.now(now, so);
    }

    /// Whether they have.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) const fn is_converged(&self) -> bool {
        self.converges.is_so()
    }

    /// A clock jumped.
    pub(crate) fn jumped(&mut self, now: u64, node: usize) {
        self.best.jumped(now, node);
    }

    /// A message leaves.
    pub(crate) fn said(&mut self, now: u64, from: usize, to: usize, message: &Message) -> Broken {
        let mut broken = Broken::default();
        match message {
            Message::Answer {
                master,
                leader: Some(leader),
                epoch,
                ..
            } => {
                if let (Some(name), Some(leader)) = (self.setup.group(*master), sentinel(*leader)) {
                    let two = self.one_vote.voted(now, from, name, *epoch, leader);
                    broken.add(Check::SentinelOneVote, two);
                }
            }
            Message::Ping { query } => self.best.pinged(from, NodeId(to as u64), *query),
            Message::ReplicaOf(master) => {
                let itself = *master == Some(NodeId(to as u64));
                let broke = self.self_replication.ordered(now, itself);
                broken.add(Check::SentinelNoSelfReplication, broke);
            }
            _ => {}
        }
        broken
    }

    /// A message has come to a sentinel.
    pub(crate) fn heard(&mut self, now: u64, to: usize, from: usize, message: &Message) {
        self.best.heard(now, to, NodeId(from as u64), message);
    }

    /// A sentinel's disk holds this.
    pub(crate) fn wrote(&mut self, now: u64, node: usize, file: &File) -> Broken {
        let mut broken = Broken::default();
        broken.add(
            Check::SentinelEpochMonotone,
            self.epochs.wrote(now, node, file),
        );
        broken
    }

    /// A life of a sentinel begins with what its disk holds.
    fn started(&mut self, node: usize, machine: &Machine) {
        for master in machine.masters() {
            let held = (master.config_epoch(), master.address());
            self.monotone.started(node, master.name(), held);
            self.unique.started(master.name(), held);
        }
        self.rate.started(node);
        self.best.started(node);
    }

    /// What a sentinel holds after something happened to it.
    pub(crate) fn seen(&mut self, now: u64, node: usize, machine: &Machine) -> Broken {
        let mut broken = Broken::default();
        for master in machine.masters() {
            let (name, held) = (master.name(), (master.config_epoch(), master.address()));
            if let Some(leader) = machine.leader_of(name) {
                // What is not on its disk yet, a crash takes back.
                let highest = &mut self.highest[usize::from(name.0)];
                if leader.token.counter > highest.0 {
                    *highest = (leader.token.counter, leader.node);
                }
            }
            let Some(fine) = self.monotone.seen(now, node, name, held) else {
                continue;
            };
            broken.add(Check::SentinelConfigMonotone, !fine);
            let forced = self.forced.contains_key(&(name, held.0));
            let two = self.unique.seen(now, name, held, forced);
            if forced && self.unique.is_another(name, held) {
                self.clashed.insert(name, ());
            }
            broken.add(Check::SentinelConfigUnique, two);
        }
        broken
    }

    /// A sentinel tells of its work; `own` is the time of its own clock, and `forced` whether an operator's order made it.
    pub(crate) fn told(
        &mut self,
        now: u64,
        own: u64,
        node: usize,
        machine: &Machine,
        news: News,
        forced: bool,
    ) -> Broken {
        let mut broken = Broken::default();
        self.best.told(node, &self.setup, news);
        match news {
            News::TryFailover(name, epoch) => {
                if forced {
                    self.forced.insert((name, epoch), ());
                }
                self.sight.tried(now, node, name);
                let soon = self.rate.tried(now, own, node, name, forced);
                broken.add(Check::SentinelRateLimited, soon);
                if !forced {
                    let healthy = self.sight.is_healthy(now, node, machine, name);
                    let broke = self.stays.tried(now, healthy);
                    broken.add(Check::SentinelMasterStays, broke);
                }
                if self.sight.is_alone(now, node, name) {
                    self.no_minority.tried(now);
                }
            }
            News::VoteForLeader(name, leader, _) if leader != machine.id() => {
                self.rate.voted(own, node, name);
            }
            News::SwitchMaster(name, ..) => self.rate.switched(node, name),
            News::ElectedLeader(name, epoch) if !self.forced.contains_key(&(name, epoch)) => {
                self.was_elected(now, node, machine, (name, epoch), &mut broken);
            }
            News::SelectedSlave(name, chosen) => {
                let broke = self.best.chosen(now, node, machine, name, chosen);
                broken.add(Check::SentinelBestReplica, broke);
            }
            _ => {}
        }
        broken
    }

    fn was_elected(
        &mut self,
        now: u64,
        node: usize,
        machine: &Machine,
        (name, epoch): (MasterName, u64),
        broken: &mut Broken,
    ) {
        let alone = self.sight.is_alone(now, node, name);
        let broke = self.no_minority.elected(now, alone);
        broken.add(Check::SentinelNoMinority, broke);
        let Some(master) = machine.master(name) else {
            return;
        };
        if master.leader_epoch() == epoch
            && let Some(leader) = master.leader().and_then(sentinel)
        {
            let two = self.one_vote.voted(now, node, name, epoch, leader);
            broken.add(Check::SentinelOneVote, two);
        }
        let votes = self.one_vote.votes(name, epoch, node);
        let few = self.majority.elected(now, votes, master.voters());
        broken.add(Check::SentinelMajority, few);
        let two = self.one_leader.elected(now, node, name, epoch);
        broken.add(Check::SentinelOneLeader, two);
    }

    /// A data server acknowledged a write.
    pub(crate) fn acknowledged(&mut self, mark: Mark) {
        self.loss.acknowledged(mark);
    }

    /// All hold one configuration of a master: what was acknowledged is looked for there.
    pub(crate) fn settled(
        &mut self,
        now: u64,
        name: MasterName,
        with: (u64, u64),
        history: &History,
    ) -> Broken {
        let mut broken = Broken::default();
        let looked = &mut self.looked[usize::from(name.0)];
        if looked.replace(with) == Some(with) {
            return broken;
        }
        let of = |node: NodeId| self.setup.group(node) == Some(name);
        let lost = self.loss.settled(now, history, of);
        broken.add(Check::SentinelNoAckLoss, lost);
        broken
    }

    /// The counts of one rule.
    pub(crate) fn tally(&self, check: Check) -> Tally {
        match check {
            Check::SentinelOneVote => self.one_vote.tally,
            Check::SentinelEpochMonotone => self.epochs.tally,
            Check::SentinelOneLeader => self.one_leader.tally,
            Check::SentinelConfigUnique => self.unique.tally,
            Check::SentinelConfigMonotone => self.monotone.tally,
            Check::SentinelMajority => self.majority.tally,
            Check::SentinelConverges => self.converges.tally,
            Check::SentinelNoMinority => self.no_minority.tally,
            Check::SentinelNoSelfReplication => self.self_replication.tally,
            Check::SentinelRateLimited => self.rate.tally,
            Check::SentinelBestReplica => self.best.tally,
            Check::SentinelMasterStays => self.stays.tally,
            Check::SentinelNoAckLoss => self.loss.tally,
            Check::SentinelFailoverCompletes => self.completes.tally,
            _ => Tally::default(),
        }
    }
}
