//! What must hold, judged from outside: by what is on disks, what is said, what is delivered, and what clients were
//! told. Each check counts how often it had something to look at.

use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use tenure::log::{Position, Shape};
use tenure::zab::{Message, Packet, Phase, Request, Role, Rules, State, Stored, Vote, Zab};
use tenure::{Event, Output, Token};

/// What an epoch is.
#[derive(Clone, Default)]
struct Epoch {
    /// Who led it past ZAB-D6, as (node, life), and the history it began with.
    elected: Option<(usize, u64)>,
    history: Shape,
    established: Option<usize>,
    /// Who proposed under its name, as (node, the epoch it led), after which index and up to which.
    proposed: Option<(usize, u64, u64, u64)>,
}

#[derive(Default)]
struct Seen {
    life: u64,
    accepted: u64,
    current: u64,
    promised: u64,
    /// The newest round in which it said that it elects.
    looked: u64,
    /// Up to where it delivered in this life.
    delivered: u64,
    leads: Option<Token>,
    token: Option<Token>,
}

pub(crate) struct Judge {
    /// What broke first, and how.
    pub(crate) broken: Option<String>,
    /// Only these are looked at, when there are any.
    pub(crate) only: Vec<&'static str>,
    pub(crate) marks: BTreeMap<&'static str, u64>,
    epochs: BTreeMap<u64, Epoch>,
    seen: Vec<Seen>,
    /// What was delivered anywhere.
    delivered: Shape,
    /// The newest entry that a client was told to be committed, by the epoch of the leader that told it.
    acked: BTreeMap<u64, Position>,
    votes: Vec<Vote>,
    /// A hash of everything that was put out, and when.
    pub(crate) trace: u64,
}

/// Whether two logs have the same entries up to `upto`, as far as both remember.
fn agree(a: &Shape, b: &Shape, upto: u64) -> bool {
    let (longer, from) = (b.last().index, a.base().index.max(b.base().index));
    if a.last().index < upto || longer < upto {
        return false;
    }
    let mut first = a.base().index;
    for (term, count) in a.runs() {
        let last = (first + count).min(upto);
        let begins = (first + 1).max(from + 1);
        if begins <= last && (b.term_at(begins), b.term_at(last)) != (Some(term), Some(term)) {
            return false;
        }
        first += count;
    }
    true
}

impl Judge {
    pub(crate) fn new(nodes: usize) -> Self {
        Self {
            broken: None,
            only: Vec::new(),
            marks: BTreeMap::new(),
            epochs: BTreeMap::new(),
            seen: (0..nodes).map(|_| Seen::default()).collect(),
            delivered: Shape::new(),
            acked: BTreeMap::new(),
            votes: Vec::new(),
            trace: 0,
        }
    }

    pub(crate) fn fail(&mut self, name: &'static str, detail: String) {
        let looked_at = self.only.is_empty() || self.only.contains(&name);
        if self.broken.is_none() && looked_at {
            self.broken = Some(format!("{name}: {detail}"));
        }
    }

    pub(crate) fn mark(&mut self, mark: &'static str) {
        *self.marks.entry(mark).or_default() += 1;
    }

    pub(crate) fn trace(&mut self, now: u64, place: usize, output: &Output<Message, Request>) {
        let mut hasher = DefaultHasher::new();
        (self.trace, now, place).hash(&mut hasher);
        match output {
            Output::Event(event) => event.hash(&mut hasher),
            Output::Request(ticket, request) => (ticket, request).hash(&mut hasher),
            Output::Send(to, message) => (to, message).hash(&mut hasher),
        }
        self.trace = hasher.finish();
    }

    pub(crate) fn acked(&self) -> Position {
        self.acked.values().copied().max().unwrap_or_default()
    }

    /// A client was told that this is committed, before the desk began.
    pub(crate) fn told(&mut self, at: Position) {
        self.acked.insert(at.term, at);
    }

    /// Entries from before the desk began.
    pub(crate) fn knows(&mut self, log: &Shape) {
        let mut before = log.base().index;
        for (epoch, count) in log.runs() {
            let proposed = &mut self.epochs.entry(epoch).or_default().proposed;
            let upto = proposed.map_or(0, |(.., upto)| upto);
            *proposed = Some((usize::MAX, 0, before, upto.max(before + count)));
            before += count;
        }
    }

    pub(crate) fn started(&mut self, place: usize, life: u64, disk: &Stored) {
        let seen = &mut self.seen[place];
        seen.life = life;
        (seen.looked, seen.promised) = (0, seen.promised.max(disk.accepted));
        seen.delivered = disk.log.base().index;
        (seen.accepted, seen.current) = (
            seen.accepted.max(disk.accepted),
            seen.current.max(disk.current),
        );
        if (disk.accepted, disk.current) < (seen.accepted, seen.current) {
            self.fail("ZK-EpochOrder", format!("{place} starts with less"));
        }
        self.continuous(place, &disk.log);
    }

    pub(crate) fn crashed(&mut self, place: usize, disk: &Stored) {
        self.seen[place].leads = None;
        let seen = &mut self.seen[place];
        // What was not on the disk was not promised to anybody.
        (seen.accepted, seen.current) = (disk.accepted, disk.current);
    }

    /// The disk of a node was lost, and with it whatever it had promised.
    pub(crate) fn lost(&mut self, place: usize) {
        let Seen { token, .. } = self.seen[place];
        self.seen[place] = Seen {
            token,
            ..Seen::default()
        };
    }

    /// ZK-LogContinuity: no epoch begins before its leader began it, or entries below are missing.
    fn continuous(&mut self, place: usize, log: &Shape) {
        let mut before = log.base();
        for (epoch, count) in log.runs() {
            let proposed = self.epochs.get(&epoch).and_then(|epoch| epoch.proposed);
            let began = proposed.map(|(_, _, began, _)| began);
            if before.term != epoch && began.is_none_or(|began| before.index < began) {
                let what = format!("{place} has epoch {epoch} after {before:?}, and not {began:?}");
                self.fail("ZK-LogContinuity", what);
            }
            before = Position::new(epoch, before.index + count);
        }
        self.mark("ZK-LogContinuity");
    }

    /// Whether a log has the whole history an epoch began with.
    fn holds(&self, log: &Shape, epoch: u64) -> Option<bool> {
        let epoch = self.epochs.get(&epoch)?;
        epoch.elected?;
        Some(agree(&epoch.history, log, epoch.history.last().index))
    }

    fn durable(disk: &Stored) -> Shape {
        let mut log = disk.log.clone();
        log.truncate(disk.synced);
        log
    }

    pub(crate) fn wrote(
        &mut self,
        place: usize,
        request: &Request,
        before: &Stored,
        disk: &Stored,
    ) {
        let fell = disk.accepted < before.accepted || disk.current < before.current;
        if fell || disk.accepted < disk.current {
            let (accepted, current) = (disk.accepted, disk.current);
            self.fail(
                "ZK-EpochOrder",
                format!("{place} has {accepted} and {current}"),
            );
        }
        self.mark("ZK-EpochOrder");
        match *request {
            Request::Current(epoch) if self.holds(&Self::durable(disk), epoch) == Some(false) => {
                let what = format!("{place} writes epoch {epoch} without its history");
                self.fail("ZK-AckMeansDurable", what);
            }
            Request::Sync => self.continuous(place, &disk.log),
            _ => {}
        }
    }

    pub(crate) fn proposed<R: Rules>(&mut self, place: usize, machine: &Zab<R>) {
        let own = machine.epoch().unwrap_or_default();
        let mut before = machine.log().base().index;
        for (epoch, count) in machine.log().runs() {
            let (began, upto) = (before, before + count);
            before = upto;
            if epoch < own {
                continue;
            }
            let proposed = &mut self.epochs.entry(epoch).or_default().proposed;
            match proposed {
                Some((node, led, ..)) if (*node, *led) != (place, own) => {
                    let what = format!("{place} and {node} give names of epoch {epoch}");
                    self.fail("ZK-TotalOrder", what);
                }
                Some((.., end)) => *end = upto,
                None => *proposed = Some((place, own, began, upto)),
            }
        }
        self.mark("ZK-TotalOrder");
        // Everything that was delivered of earlier epochs.
        let runs = self.delivered.runs().filter(|(epoch, _)| *epoch < own);
        let earlier = runs.map(|(_, count)| count).sum::<u64>();
        if earlier > machine.committed() {
            let what = format!("{place} proposes in {own} before it delivered {earlier}");
            self.fail("ZK-PrimaryIntegrity", what);
        }
        self.mark("ZK-PrimaryIntegrity");
    }

    pub(crate) fn event<R: Rules>(&mut self, place: usize, event: Event, machine: &Zab<R>) {
        let life = self.seen[place].life;
        match event {
            Event::Elected(token) => {
                let epoch = self.epochs.entry(token.counter).or_default();
                let other = epoch.elected.filter(|led| *led != (place, life));
                (epoch.elected, epoch.history) = (Some((place, life)), machine.log().clone());
                if let Some(other) = other {
                    let what = format!("{place} and {other:?} lead epoch {}", token.counter);
                    self.fail("ZK-Leadership1", what);
                }
                self.mark("ZK-Leadership1");
                let seen = &mut self.seen[place];
                // C7.
                if seen.leads.is_some() || seen.token.is_some_and(|before| before >= token) {
                    self.fail("C7", format!("{place} is elected again with {token}"));
                }
                let seen = &mut self.seen[place];
                (seen.leads, seen.token) = (Some(token), Some(token));
            }
            Event::Deposed(token, _) => {
                if self.seen[place].leads.take() != Some(token) {
                    self.fail("C7", format!("{place} is deposed of {token}"));
                }
                self.mark("deposed");
            }
            Event::Established(tenure) => {
                let number = tenure.token.counter;
                let epoch = self.epochs.entry(number).or_default();
                let other = epoch.established.replace(place);
                if other.is_some_and(|other| other != place) {
                    let what = format!("{place} and {other:?} establish epoch {number}");
                    self.fail("ZK-Leadership2", what);
                }
                self.mark("ZK-Leadership2");
                // A leader may be established late, when others lead later epochs.
                let earlier = self.acked.range(..number).map(|(_, at)| *at);
                let acked = earlier.max().unwrap_or_default();
                if !machine.log().contains(acked) && machine.log().base() < acked {
                    let what = format!("{place} establishes {number} without {acked:?}");
                    self.fail("ZK-AckedSurvives", what);
                }
                self.mark("ZK-AckedSurvives");
            }
            _ => {}
        }
    }

    pub(crate) fn said<R: Rules>(
        &mut self,
        place: usize,
        machine: &Zab<R>,
        message: &Message,
        disk: &Stored,
    ) {
        let epoch = machine.epoch().unwrap_or_default();
        match message {
            Message::Notification(told) => {
                if told.state == State::Looking {
                    self.seen[place].looked = told.round;
                }
                self.mark("notification");
                self.total(machine, told.vote)
            }
            Message::Packet { packet, .. } => match packet {
                Packet::AckEpoch { .. } => {
                    if disk.accepted < epoch {
                        self.mark("promise before it is durable");
                    }
                    let promised = &mut self.seen[place].promised;
                    *promised = (*promised).max(epoch);
                }
                Packet::LeaderInfo { .. } => {
                    let promised = &mut self.seen[place].promised;
                    *promised = (*promised).max(epoch);
                }
                Packet::AckNewLeader => {
                    self.keeps_promise(place, epoch);
                    let holds = self.holds(&Self::durable(disk), epoch) != Some(false);
                    if !holds || disk.current < epoch {
                        let what =
                            format!("{place} acknowledges epoch {epoch} without its history");
                        self.fail("ZK-AckMeansDurable", what);
                    }
                    self.mark("ZK-AckMeansDurable");
                }
                Packet::Ack { upto } => {
                    self.keeps_promise(place, epoch);
                    if disk.synced < *upto {
                        let what = format!("{place} acknowledges {upto}, and has {}", disk.synced);
                        self.fail("ZK-AckMeansDurable", what);
                    }
                    self.mark("ack");
                }
                Packet::Diff => self.mark("diff"),
                Packet::Trunc { .. } => self.mark("trunc"),
                Packet::Snap { .. } => self.mark("snap"),
                Packet::Inform(_) => self.mark("inform"),
                _ => {}
            },
        }
    }

    fn keeps_promise(&mut self, place: usize, epoch: u64) {
        let promised = self.seen[place].promised;
        if epoch < promised {
            let what = format!("{place} acknowledges of epoch {epoch}, and promised {promised}");
            self.fail("ZK-PromiseBeforeAct", what);
        }
        self.mark("ZK-PromiseBeforeAct");
    }

    /// ZK-ElectionOrderIsTotal, of this vote and others that were told lately.
    fn total<R: Rules>(&mut self, machine: &Zab<R>, vote: Vote) {
        let counts = |vote: &Vote| machine.config().ensemble.weight(vote.leader) > 0;
        if !counts(&vote) {
            return;
        }
        for other in self.votes.clone().into_iter().filter(counts) {
            if other != vote && machine.beats(vote, other) == machine.beats(other, vote) {
                let what = format!("neither or both of {vote:?} and {other:?}");
                self.fail("ZK-ElectionOrderIsTotal", what);
            }
            self.mark("ZK-ElectionOrderIsTotal");
        }
        if !self.votes.contains(&vote) {
            self.votes.push(vote);
            if self.votes.len() > 8 {
                self.votes.remove(0);
            }
        }
    }

    /// A sync was answered.
    pub(crate) fn synced(&mut self, place: usize, acked: u64, index: u64) {
        if index < acked {
            let what = format!("{place} reads as of {index}, and {acked} was acknowledged before");
            self.fail("ZK-FreshSync", what);
        }
        self.mark("ZK-FreshSync");
    }

    /// What a machine shows after anything happened to it.
    pub(crate) fn look<'a, R: Rules>(
        &mut self,
        place: usize,
        machine: &Zab<R>,
        disk: impl Fn(usize) -> &'a Stored,
    ) {
        let (accepted, current) = (machine.accepted_epoch(), machine.current_epoch());
        let seen = &mut self.seen[place];
        let fell = accepted < seen.accepted || current < seen.current || accepted < current;
        (seen.accepted, seen.current) = (accepted, current);
        if fell {
            self.fail(
                "ZK-EpochOrder",
                format!("{place} has {accepted} and {current}"),
            );
        }
        if machine.role() == Role::Leading {
            let looked = self.seen[place].looked;
            if machine.round() < looked {
                let what = format!(
                    "{place} leads in {}, and looked in {looked}",
                    machine.round()
                );
                self.fail("ZK-LeaderRound", what);
            }
            self.mark("ZK-LeaderRound");
        }
        let commit = machine.committed();
        let before = self.seen[place].delivered;
        if commit == before {
            return;
        }
        if commit < before {
            self.fail(
                "ZK-Agreement",
                format!("{place} takes {before} back to {commit}"),
            );
        }
        self.seen[place].delivered = commit;
        self.deliver(place, machine, before, commit);
        let leads = machine.phase() == Some(Phase::Broadcasting);
        if !leads {
            return;
        }
        // A leader that commits tells a client; whatever it commits is on the disks of a quorum.
        let at = Position::new(machine.log().term_at(commit).unwrap_or(0), commit);
        let has = |of: usize| {
            let disk = disk(of);
            disk.synced >= commit && (disk.log.contains(at) || disk.log.base().index >= commit)
        };
        if !machine.config().ensemble.is_quorum(has) {
            self.fail(
                "ZK-AckMeansDurable",
                format!("{place} commits {at:?} on too few disks"),
            );
        }
        self.mark("commit");
        let acked = self.acked.entry(machine.epoch().unwrap_or(0)).or_default();
        *acked = at.max(*acked);
    }

    fn deliver<R: Rules>(&mut self, place: usize, machine: &Zab<R>, before: u64, commit: u64) {
        let log = machine.log();
        if log.last().index < commit {
            return self.fail(
                "ZK-Agreement",
                format!("{place} delivers {commit}, which it lacks"),
            );
        }
        let common = commit.min(self.delivered.last().index);
        if !agree(log, &self.delivered, common) {
            let what = format!(
                "{place} delivers {log:?} to {commit}, and elsewhere {:?}",
                self.delivered
            );
            self.fail("ZK-Agreement", what);
        }
        for mark in ["ZK-Agreement", "ZK-Integrity", "ZK-LocalPrimaryOrder"] {
            self.mark(mark);
        }
        let mut first = log.base().index;
        let mut newest = self.delivered.term_at(before).unwrap_or(0);
        for (epoch, count) in log.runs() {
            let (begins, ends) = (first + 1, (first + count).min(commit));
            first += count;
            if ends <= before || begins > commit {
                continue;
            }
            if epoch < newest {
                self.fail(
                    "ZK-GlobalPrimaryOrder",
                    format!("{place}: {epoch} after {newest}"),
                );
            }
            newest = epoch;
            self.mark("ZK-GlobalPrimaryOrder");
            let proposed = self.epochs.get(&epoch).and_then(|epoch| epoch.proposed);
            let Some((_, _, began, upto)) = proposed else {
                return self.fail(
                    "ZK-Integrity",
                    format!("{place} delivers {epoch}: nobody proposed"),
                );
            };
            if ends > upto {
                self.fail(
                    "ZK-Integrity",
                    format!("{place} delivers {ends} of {epoch} to {upto}"),
                );
            }
            if begins > before && begins != began + 1 && log.base().term != epoch {
                let what =
                    format!("{place} delivers {epoch} from {begins}, and it began at {began}");
                self.fail("ZK-LocalPrimaryOrder", what);
            }
            let end = self.delivered.last().index;
            if ends > end {
                // What lies below the base of this log was delivered before, by others.
                let _ = self
                    .delivered
                    .append(epoch, ends - end.max(begins - 1).min(end));
            }
        }
    }
}
