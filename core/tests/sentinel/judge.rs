//! The invariants, judged from outside: from what sentinels say and write, and from who could reach whom.

use super::desk::{Flight, Machine, Seat, Server};
use super::plan::{Plan, SEC, group_of};
use std::collections::{BTreeMap, BTreeSet};
use tenure::sentinel::{File, Invariant, Life, MasterName, Message, News, Report, Role, RunId};
use tenure::{Event, NodeId, Ticket, Token};

type Of<T> = BTreeMap<(NodeId, MasterName), T>;

pub(crate) struct Judge {
    /// What was broken, in order: what, when, and how.
    pub(crate) broken: Vec<(Invariant, u64, String)>,
    /// How often each invariant had something to look at.
    pub(crate) exercised: BTreeMap<Invariant, u64>,
    failover_timeout: u64,
    down_after: u64,
    slowest: u64,
    /// Whom each sentinel voted for in each epoch.
    votes: BTreeMap<(RunId, MasterName, u64), RunId>,
    ids: BTreeMap<NodeId, RunId>,
    disks: BTreeMap<NodeId, File>,
    elected: BTreeMap<(MasterName, u64), RunId>,
    configs: BTreeMap<(MasterName, u64), NodeId>,
    forced: BTreeSet<(MasterName, u64)>,
    /// Of which masters two servers were held at one epoch because of an operator's order.
    pub(crate) clashed: BTreeSet<MasterName>,
    held: Of<(u64, NodeId)>,
    tried: Of<u64>,
    /// Since when the next attempt has to wait.
    waits: Of<u64>,
    /// Which sentinels cannot reach a majority.
    alone: BTreeSet<NodeId>,
    /// When a sentinel last reached another, there and back; for ever while it does.
    reached: BTreeMap<(NodeId, NodeId), u64>,
    /// What was last told to a sentinel in this life of it.
    reports: BTreeMap<(NodeId, NodeId), (Ticket, Report, u64)>,
    alive: BTreeMap<(NodeId, NodeId), u64>,
    /// Whom a server last said that it follows.
    followed: BTreeMap<(NodeId, NodeId), NodeId>,
    /// Since when a sentinel and a server can talk, and the server takes part.
    healthy: BTreeMap<(NodeId, NodeId), u64>,
    offices: BTreeMap<NodeId, (Option<Token>, Token)>,
    /// Whom a sentinel holds to be down, as it tells.
    down: BTreeSet<(NodeId, NodeId)>,
    /// When a sentinel's clock jumped last, and how far it is ahead.
    jumps: BTreeMap<NodeId, u64>,
    ahead: BTreeMap<NodeId, u64>,
}

impl Judge {
    pub(crate) fn new(plan: &Plan) -> Self {
        Self {
            broken: Vec::new(),
            exercised: BTreeMap::new(),
            failover_timeout: plan.failover_timeout,
            down_after: plan.down_after,
            slowest: plan.latency.1,
            votes: BTreeMap::new(),
            ids: BTreeMap::new(),
            disks: BTreeMap::new(),
            elected: BTreeMap::new(),
            configs: BTreeMap::new(),
            forced: BTreeSet::new(),
            clashed: BTreeSet::new(),
            held: BTreeMap::new(),
            tried: BTreeMap::new(),
            waits: BTreeMap::new(),
            alone: BTreeSet::new(),
            reached: BTreeMap::new(),
            reports: BTreeMap::new(),
            alive: BTreeMap::new(),
            followed: BTreeMap::new(),
            healthy: BTreeMap::new(),
            offices: BTreeMap::new(),
            down: BTreeSet::new(),
            jumps: BTreeMap::new(),
            ahead: BTreeMap::new(),
        }
    }

    pub(crate) fn check(&mut self, what: Invariant, now: u64, so: bool, how: impl Fn() -> String) {
        *self.exercised.entry(what).or_default() += 1;
        if !so {
            self.broken.push((what, now, how()));
        }
    }

    /// What is broken that has to hold.
    pub(crate) fn broken(&self) -> Vec<Invariant> {
        let mut broken: Vec<_> = (self.broken.iter().map(|(what, ..)| *what))
            .filter(|what| what.broken_by_design().is_none())
            .collect();
        broken.dedup();
        broken
    }

    pub(crate) fn count(&self, what: Invariant) -> u64 {
        self.exercised.get(&what).copied().unwrap_or_default()
    }

    /// A life of a sentinel begins with what its disk holds.
    pub(crate) fn started(&mut self, id: NodeId, machine: &Machine) {
        self.ids.insert(id, machine.id());
        for master in machine.masters() {
            let key = (id, master.name());
            self.held
                .insert(key, (master.config_epoch(), master.address()));
            self.waits.remove(&key);
            self.tried.remove(&key);
            let key = (master.name(), master.config_epoch());
            self.configs.entry(key).or_insert(master.address());
        }
        self.reports.retain(|(to, _), _| *to != id);
        self.alive.retain(|(to, _), _| *to != id);
        self.followed.retain(|(to, _), _| *to != id);
        self.down.retain(|(by, _)| *by != id);
        self.offices.entry(id).or_insert((None, Token::NONE)).0 = None;
    }

    pub(crate) fn retired(&mut self, id: NodeId) {
        self.reached
            .retain(|(one, other), _| *one != id && *other != id);
        self.alone.remove(&id);
    }

    pub(crate) fn forced(&mut self, name: MasterName, epoch: u64) {
        self.forced.insert((name, epoch));
    }

    pub(crate) fn jumped(&mut self, now: u64, id: NodeId, by: u64) {
        self.jumps.insert(id, now);
        *self.ahead.entry(id).or_default() += by;
    }

    pub(crate) fn reset(&mut self, id: NodeId, name: MasterName) {
        self.waits.remove(&(id, name));
    }

    /// SEN-EpochMonotone: what the disk holds.
    pub(crate) fn written(&mut self, id: NodeId, file: &File) {
        let epochs = |file: &File| {
            let of = file
                .masters
                .iter()
                .map(|kept| (kept.config_epoch, kept.leader_epoch));
            of.collect::<Vec<_>>()
        };
        let current = file.current_epoch;
        let within = epochs(file)
            .iter()
            .all(|(config, leader)| current >= *config.max(leader));
        let rises = self.disks.get(&id).is_none_or(|before| {
            let pairs = epochs(before).into_iter().zip(epochs(file));
            before.current_epoch <= current
                && pairs
                    .into_iter()
                    .all(|(old, new)| old.0 <= new.0 && old.1 <= new.1)
        });
        self.check(Invariant::EpochMonotone, 0, within && rises, || {
            format!("{id}: {file:?}")
        });
        self.disks.insert(id, file.clone());
    }

    /// Who can reach whom has changed.
    pub(crate) fn connectivity(
        &mut self,
        now: u64,
        seats: &BTreeMap<NodeId, Seat>,
        servers: &BTreeMap<NodeId, Server>,
        cuts: &BTreeSet<(NodeId, NodeId)>,
    ) {
        for one in seats.keys() {
            for (server, at) in servers {
                let linked = !cuts.contains(&(*one, *server)) && !cuts.contains(&(*server, *one));
                if linked && at.machine.is_some() && !at.frozen && !at.busy {
                    self.healthy.entry((*one, *server)).or_insert(now);
                } else {
                    self.healthy.remove(&(*one, *server));
                }
            }
        }
        let up = |id: &NodeId| seats[id].machine.is_some() && !seats[id].frozen;
        for one in seats.keys() {
            let mut reached = 0;
            for other in seats.keys() {
                let linked = !cuts.contains(&(*one, *other)) && !cuts.contains(&(*other, *one));
                let last = self.reached.entry((*one, *other)).or_default();
                if one == other || up(other) && linked {
                    *last = u64::MAX;
                    reached += 1;
                } else if *last == u64::MAX {
                    *last = now;
                }
            }
            if reached > seats.len() / 2 {
                self.alone.remove(one);
            } else {
                self.alone.insert(*one);
            }
        }
    }

    /// A message has come to a sentinel.
    pub(crate) fn heard(&mut self, now: u64, to: NodeId, flight: &Flight) {
        let key = (to, flight.from);
        match &flight.message {
            Message::Told { query, report, .. } => {
                let newer = |(before, ..): &(Ticket, Report, u64)| before < query;
                if self.reports.get(&key).is_none_or(newer) {
                    self.reports.insert(key, (*query, *report, now));
                    if let Some(master) = report.master {
                        self.followed.insert(key, master);
                    }
                }
            }
            Message::Pong { life, .. } if *life != Life::Other => {
                self.alive.insert(key, now);
            }
            Message::Closed => {
                self.alive.remove(&key);
            }
            _ => {}
        }
    }

    /// A message leaves.
    pub(crate) fn said(&mut self, now: u64, flight: &Flight) {
        match &flight.message {
            Message::Answer {
                master,
                leader: Some(leader),
                epoch,
                ..
            } => {
                let Some(name) = group_of(*master) else {
                    return;
                };
                self.voted(now, self.ids[&flight.from], name, *epoch, *leader);
            }
            Message::ReplicaOf(master) => {
                let fine = *master != Some(flight.to);
                self.check(Invariant::NoSelfReplication, now, fine, || {
                    format!("{} orders {} to follow itself", flight.from, flight.to)
                });
            }
            _ => {}
        }
    }

    /// SEN-OneVote.
    fn voted(&mut self, now: u64, voter: RunId, name: MasterName, epoch: u64, leader: RunId) {
        let first = *self.votes.entry((voter, name, epoch)).or_insert(leader);
        self.check(Invariant::OneVote, now, first == leader, || {
            format!("{voter} votes for {first} and {leader} in {epoch}")
        });
    }

    /// What the machine holds after a call: SEN-ConfigUnique, SEN-ConfigMonotone.
    pub(crate) fn seen(&mut self, now: u64, id: NodeId, machine: &Machine) {
        for master in machine.masters() {
            let (name, epoch, address) = (master.name(), master.config_epoch(), master.address());
            let before = self.held.insert((id, name), (epoch, address));
            if before == Some((epoch, address)) {
                continue;
            }
            let (old, at) = before.unwrap_or((0, address));
            let fine = epoch > old || (epoch == old && at == address);
            self.check(Invariant::ConfigMonotone, now, fine, || {
                format!("{id}: {name} from {at} at {old} to {address} at {epoch}")
            });
            let first = *self.configs.entry((name, epoch)).or_insert(address);
            if self.forced.contains(&(name, epoch)) {
                if first != address {
                    self.clashed.insert(name);
                }
            } else if epoch > 0 {
                self.check(Invariant::ConfigUnique, now, first == address, || {
                    format!("{name} at {epoch} is {first} and {address}")
                });
            }
        }
    }

    /// Law C7: elections and depositions of a life alternate, and tokens rise.
    pub(crate) fn event(&mut self, now: u64, id: NodeId, event: &Event) {
        let office = self.offices.entry(id).or_insert((None, Token::NONE));
        let fine = match event {
            Event::Elected(token) => {
                let fine = office.0.is_none() && *token > office.1;
                *office = (Some(*token), *token);
                fine
            }
            Event::Established(tenure) => office.0 == Some(tenure.token),
            Event::Deposed(token, _) => office.0.take() == Some(*token),
            Event::Following(_) => office.0.is_none(),
            _ => true,
        };
        assert!(fine, "{now}: {id} tells {event:?}");
    }

    pub(crate) fn told(&mut self, now: u64, id: NodeId, machine: &Machine, news: News) {
        // It waits by its own clock.
        let own = now + self.ahead.get(&id).copied().unwrap_or_default();
        match news {
            News::TryFailover(name, epoch) => {
                let forced = self.forced.contains(&(name, epoch));
                self.tried.insert((id, name), now);
                let since = self.waits.insert((id, name), own);
                if let Some(since) = since.filter(|_| !forced) {
                    let fine = own - since >= 2 * self.failover_timeout;
                    self.check(Invariant::RateLimited, now, fine, || {
                        format!("{id} tries again after {} us", own - since)
                    });
                }
                if !forced {
                    let healthy = self.is_healthy(now, id, machine, name);
                    self.check(Invariant::MasterStays, now, !healthy, || {
                        format!("{id} replaces a healthy master of {name} at {epoch}")
                    });
                }
                if self.alone.contains(&id) {
                    self.check(Invariant::NoMinorityFailover, now, true, String::new);
                }
            }
            News::VoteForLeader(name, leader, _) if leader != machine.id() => {
                self.waits.insert((id, name), own);
            }
            News::SwitchMaster(name, ..) => {
                self.waits.remove(&(id, name));
                let of = |node: &NodeId| group_of(*node) == Some(name);
                self.down.retain(|(by, node)| *by != id || !of(node));
                // Whatever it knew of anybody was of another time.
                self.alive.retain(|(by, node), _| *by != id || !of(node));
                self.reports.retain(|(by, node), _| *by != id || !of(node));
            }
            News::SdownSet(_, node) => {
                self.down.insert((id, node));
            }
            News::SdownCleared(_, node) => {
                self.down.remove(&(id, node));
            }
            News::ElectedLeader(name, epoch) => self.was_elected(now, id, machine, (name, epoch)),
            News::SelectedSlave(name, node) => self.was_chosen(now, id, machine, (name, node)),
            _ => {}
        }
    }

    fn is_healthy(&self, now: u64, id: NodeId, machine: &Machine, name: MasterName) -> bool {
        let Some(master) = machine.master(name) else {
            return false;
        };
        if master
            .report()
            .is_some_and(|report| report.role == Role::Replica)
        {
            return false;
        }
        let settled = 6 * SEC + self.down_after + 2 * self.slowest;
        (self.healthy.get(&(id, master.watched()))).is_some_and(|since| since + settled < now)
    }

    fn was_elected(
        &mut self,
        now: u64,
        id: NodeId,
        machine: &Machine,
        (name, epoch): (MasterName, u64),
    ) {
        if self.forced.contains(&(name, epoch)) {
            return;
        }
        let own = machine.id();
        let master = machine.master(name).unwrap();
        let tried = self.tried.get(&(id, name)).copied().unwrap_or(now);
        // One after the other is enough.
        let since = tried.saturating_sub(self.slowest);
        let others = self.reached.iter().filter(|((by, _), _)| *by == id);
        let (all, met) = (
            others.clone().count(),
            others.filter(|(_, last)| **last >= since).count(),
        );
        let alone = met <= all / 2;
        self.check(Invariant::NoMinorityFailover, now, !alone, || {
            format!("{id} is elected for {name} at {epoch} and reaches no majority")
        });
        if master.leader_epoch() == epoch
            && let Some(leader) = master.leader()
        {
            self.voted(now, own, name, epoch, leader);
        }
        let of_epoch = |((_, of, at), leader): &(&(RunId, MasterName, u64), &RunId)| {
            *of == name && *at == epoch && **leader == own
        };
        let votes = self.votes.iter().filter(of_epoch).count();
        let needed = master.voters() / 2 + 1;
        self.check(Invariant::MajorityAuthorised, now, votes >= needed, || {
            format!("{id} has {votes} of {needed} votes for {name} at {epoch}")
        });
        let first = *self.elected.entry((name, epoch)).or_insert(own);
        self.check(Invariant::OneLeader, now, first == own, || {
            format!("{first} and {own} are elected for {name} at {epoch}")
        });
    }

    /// SEN-BestReplica: nobody was surely better, as the sentinel was told itself.
    fn was_chosen(
        &mut self,
        now: u64,
        id: NodeId,
        machine: &Machine,
        (name, node): (MasterName, NodeId),
    ) {
        let master = machine.master(name).unwrap();
        let report = |node: NodeId| self.reports.get(&(id, node));
        let Some((_, chosen, _)) = report(node).copied() else {
            return self.check(Invariant::BestReplica, now, false, || {
                format!("{id}: {node}")
            });
        };
        let in_touch = |report: &Report| {
            report.role == Role::Replica
                && report.master == Some(master.watched())
                && report.link_down.is_none()
        };
        let rank = |report: &Report| (report.priority, std::cmp::Reverse(report.offset));
        // To a clock that made a leap everything is old.
        let jumped = self.jumps.get(&id).is_some_and(|at| now - at < 5 * SEC);
        let better = master.replicas().iter().any(|other| {
            let Some((_, told, at)) = report(other.node()) else {
                return false;
            };
            let heard = self
                .alive
                .get(&(id, other.node()))
                .copied()
                .unwrap_or_default();
            let recent = now - at < 4 * SEC && now - heard < SEC && !jumped;
            let down = self.down.contains(&(id, other.node()));
            let could = !down && told.priority > 0 && in_touch(told) && recent;
            other.node() != node && could && rank(told) < rank(&chosen)
        });
        // Who follows nobody must have followed the master before: the one who was it does not.
        let leads = report(master.watched()).is_some_and(|(_, told, _)| told.master == Some(node));
        let astray = chosen.role == Role::Replica && chosen.master != Some(master.watched());
        let (astray, better) = (astray && !leads, better && !leads);
        let former = !leads
            && chosen.role == Role::Master
            && self.followed.get(&(id, node)) != Some(&master.watched());
        self.check(
            Invariant::BestReplica,
            now,
            !better && !astray && !former,
            || format!("{id} chooses {node}: better {better}, astray {astray}, former {former}"),
        );
    }
}
