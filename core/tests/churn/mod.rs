//! A group whose members come and go under a hostile host: crashes that lose what was not flushed, cuts, pauses, clocks at
//! their bound and promises of unequal length; and a judge that looks at disks and messages from outside.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tenure::log::Position;
use tenure::membership::{Membership, Target};
use tenure::quorum::Voters;
use tenure::raft::{
    Boot, Config, Entries, LogWrite, Message, Raft, Replication, Rules, Stored, Timing, Write,
};
use tenure::random::Random;
use tenure::{
    Duration, Election, Event, Input, Instant, NodeId, Output, Standing, Ticket, Token, Why,
};

/// How many nodes there are in all; the first of them found the group.
const NODES: usize = 7;

struct Node<R: Rules> {
    machine: Option<Raft<R>>,
    disk: Stored,
    writes: Vec<(u64, Ticket, Write)>,
    lives: u64,
    timing: Timing,
    /// Parts per million of true time.
    rate: u64,
    paused_until: u64,
    restart_at: u64,
    /// Up to where its commits were judged in this life.
    judged: u64,
}

struct Flight {
    at: u64,
    from: usize,
    to: usize,
    message: Message,
}

/// A committed entry.
struct Canon {
    term: u64,
    /// The term of the leader that committed it.
    by: u64,
}

/// What the outside saw, and how often each thing worth seeing happened.
#[derive(Default)]
pub(crate) struct Ghost {
    pub(crate) broken: Option<String>,
    pub(crate) marks: BTreeMap<&'static str, u64>,
    leaders: BTreeMap<u64, usize>,
    votes: BTreeMap<u64, BTreeMap<usize, usize>>,
    /// What came before each entry that was ever written, and who takes part from it on.
    before: BTreeMap<Position, u64>,
    configurations: BTreeMap<Position, Arc<Membership>>,
    canon: Vec<Canon>,
    highest: Option<Token>,
    /// Pairs of configurations whose quorums meet.
    meet: BTreeSet<(String, String)>,
}

impl Ghost {
    fn fail(&mut self, invariant: &str, detail: String) {
        self.broken
            .get_or_insert_with(|| format!("{invariant}: {detail}"));
    }

    fn mark(&mut self, what: &'static str) {
        *self.marks.entry(what).or_default() += 1;
    }
}

pub(crate) struct Churn<R: Rules> {
    nodes: Vec<Node<R>>,
    flights: Vec<Flight>,
    cuts: [[u64; NODES]; NODES],
    pub(crate) now: u64,
    pub(crate) ghost: Ghost,
    founders: u64,
    random: Random,
    rules: R,
    /// Chance of mischief at each step, in a thousand.
    mischief: u64,
}

impl<R: Rules> Churn<R> {
    pub(crate) fn new(seed: u64, rules: R) -> Self {
        let mut random = Random::from_seed(seed);
        let founders = [1, 3, 3, 4, 5][random.below(5) as usize];
        let unequal = random.below(2) == 0;
        let nodes = (0..NODES).map(|_| {
            let long = if unequal { 1 + random.below(3) } else { 1 };
            let timing = Timing {
                election_min: Duration::from_millis(150 * long),
                election_max: Duration::from_millis(300 * long),
                ..Timing::default()
            };
            let rho = u64::from(timing.rate_bound);
            let rate = match random.below(3) {
                0 => 1_000_000 - rho,
                1 => 1_000_000 + rho,
                _ => 1_000_000,
            };
            Node {
                machine: None,
                disk: Stored::default(),
                writes: Vec::new(),
                lives: 0,
                timing,
                rate,
                paused_until: 0,
                restart_at: 0,
                judged: 0,
            }
        });
        let nodes = nodes.collect();
        let mut churn = Self {
            nodes,
            flights: Vec::new(),
            cuts: [[0; NODES]; NODES],
            now: 1_000,
            ghost: Ghost::default(),
            founders,
            random,
            rules,
            mischief: 25,
        };
        (0..NODES).for_each(|place| churn.boot(place));
        churn
    }

    fn founders(&self) -> Voters {
        Voters::new((0..self.founders).map(NodeId)).unwrap()
    }

    fn clock(&self, place: usize) -> Instant {
        let passed = u128::from(self.now) * u128::from(self.nodes[place].rate) / 1_000_000;
        Instant::from_micros(passed as u64 + 7_000_000 * place as u64)
    }

    /// True time of an instant of a node's clock.
    fn true_time(&self, place: usize, at: Instant) -> u64 {
        let local = at.as_micros().saturating_sub(7_000_000 * place as u64);
        (u128::from(local) * 1_000_000).div_ceil(u128::from(self.nodes[place].rate)) as u64
    }

    fn boot(&mut self, place: usize) {
        let (now, voters) = (self.clock(place), self.founders());
        let node = &mut self.nodes[place];
        node.lives += 1;
        let config = Config {
            timing: node.timing,
            replication: Some(Replication {
                batch: 8,
                window: 32,
            }),
            ..Config::new(NodeId(place as u64), voters)
        };
        let boot = Boot {
            stored: (node.lives > 1).then(|| node.disk.clone()),
            incarnation: node.lives,
            seed: self.random.bits(),
        };
        node.machine = Some(Raft::with_rules(config, boot, now, self.rules.clone()).unwrap());
        node.judged = node.disk.log.base().index;
    }

    fn crash(&mut self, place: usize) {
        let node = &mut self.nodes[place];
        node.machine = None;
        node.writes.clear();
    }

    fn with<T>(&mut self, place: usize, act: impl FnOnce(&mut Raft<R>, Instant) -> T) -> Option<T> {
        let now = self.clock(place);
        let machine = self.nodes[place].machine.as_mut()?;
        let end = machine.last().index;
        let done = act(machine, now);
        self.carry_out(place);
        self.judge_commit(place, end);
        self.judge_belief();
        Some(done)
    }

    fn input(&mut self, place: usize, input: Input<Message, ()>) {
        self.with(place, |machine, now| machine.handle(now, input));
    }

    fn carry_out(&mut self, place: usize) {
        while let Some(output) = self.nodes[place].machine.as_mut().and_then(Election::poll) {
            match output {
                Output::Event(event) => self.judge_event(place, event),
                Output::Request(ticket, write) => {
                    self.judge_write(&write);
                    let takes = 100 + self.random.below(3_000);
                    // In order, whatever each takes alone.
                    let last = self.nodes[place].writes.last().map_or(0, |write| write.0);
                    let at = last.max(self.now + takes);
                    self.nodes[place].writes.push((at, ticket, write));
                }
                Output::Send(to, message) => {
                    let to = to.0 as usize;
                    self.judge_send(place, to, &message);
                    if self.random.below(100) < 3 && self.mischief > 0 {
                        continue;
                    }
                    let at = self.now + 500 + self.random.below(8_000);
                    self.flights.push(Flight {
                        at,
                        from: place,
                        to,
                        message,
                    });
                }
            }
        }
    }

    /// INV-L1: an entry of one index and term is one entry, after one other.
    fn judge_write(&mut self, write: &Write) {
        let LogWrite::Append { after, entries } = &write.log else {
            return;
        };
        let mut before = after.term;
        for index in after.index + 1..=after.index + entries.count() {
            let at = Position::new(entries.term(), index);
            if *self.ghost.before.entry(at).or_insert(before) != before {
                let detail = format!("{at:?} is written after two entries");
                self.ghost.fail("INV-L1", detail);
            }
            before = entries.term();
            match entries {
                Entries::Change { to, .. } => {
                    let first = self.ghost.configurations.entry(at).or_insert(to.clone());
                    if first != to {
                        self.ghost
                            .fail("INV-L1", format!("two configurations at {at:?}"));
                    }
                }
                Entries::Run { .. } if self.ghost.configurations.contains_key(&at) => {
                    self.ghost
                        .fail("INV-L1", format!("a configuration is lost at {at:?}"));
                }
                Entries::Run { .. } => {}
            }
        }
    }

    /// INV-E2 and INV-E3.
    fn judge_send(&mut self, place: usize, to: usize, message: &Message) {
        let durable = self.nodes[place].disk.record;
        let vote = match *message {
            Message::VoteGranted { term } => Some((term, to)),
            Message::RequestVote { term, .. } => Some((term, place)),
            _ => None,
        };
        if let Some((term, candidate)) = vote {
            let held = (durable.term, durable.vote) == (term, Some(NodeId(candidate as u64)));
            let votes = self.ghost.votes.entry(term).or_default();
            let first = *votes.entry(place).or_insert(candidate);
            if first != candidate || (!held && durable.term <= term) {
                let detail = format!("{place} votes for {candidate} in {term}, {durable:?}");
                self.ghost.fail("INV-E2", detail);
            }
        }
        match message {
            Message::NotMember { .. } => self.ghost.mark("told that it is out"),
            Message::InstallSnapshot { .. } => self.ghost.mark("snapshot"),
            _ => {}
        }
    }

    /// The newest configuration in a node's log up to `end`, as the judge has it written down.
    fn configuration(&self, place: usize, end: u64) -> Arc<Membership> {
        let log = self.nodes[place].machine.as_ref().unwrap().log();
        let known = |at: &Position| match at.index > log.base().index {
            true => log.term_at(at.index) == Some(at.term),
            false => self.canon_term(at.index) == Some(at.term),
        };
        let of = |at: Position| at.index <= end.min(log.last().index) && known(&at);
        let newest = self.ghost.configurations.iter().filter(|(at, _)| of(**at));
        let newest = newest.max_by_key(|(at, _)| at.index);
        newest.map_or_else(
            || Arc::new(Membership::new(&self.founders())),
            |(_, to)| to.clone(),
        )
    }

    /// The configuration that is committed.
    fn committed(&self) -> Arc<Membership> {
        self.committed_before(u64::MAX)
    }

    /// The configuration that leaders of terms before `term` committed.
    fn committed_before(&self, term: u64) -> Arc<Membership> {
        let of = |at: &Position| {
            let entry = self.ghost.canon.get(at.index as usize - 1);
            entry.is_some_and(|entry| entry.term == at.term && entry.by < term)
        };
        let newest = self.ghost.configurations.iter().filter(|(at, _)| of(at));
        let newest = newest.max_by_key(|(at, _)| at.index);
        newest.map_or_else(
            || Arc::new(Membership::new(&self.founders())),
            |(_, to)| to.clone(),
        )
    }

    fn canon_term(&self, index: u64) -> Option<u64> {
        let place = usize::try_from(index.checked_sub(1)?).unwrap();
        self.ghost.canon.get(place).map(|entry| entry.term)
    }

    /// INV-L6: each quorum of the one meets each of the other.
    fn judge_meeting(&mut self, one: &Membership, other: &Membership, what: &str) {
        let pair = (format!("{one:?}"), format!("{other:?}"));
        if one == other || self.ghost.meet.contains(&pair) {
            return;
        }
        let quorums = |group: &Membership| -> Vec<u32> {
            let has =
                |set: u32| group.is_quorum(|place| set >> group.members()[place].id.0 & 1 == 1);
            (0..1 << NODES).filter(|set| has(*set)).collect()
        };
        let (ones, others) = (quorums(one), quorums(other));
        if ones
            .iter()
            .any(|one| others.iter().any(|other| one & other == 0))
        {
            let detail = format!("{what} by {one:?} beside {other:?}");
            return self.ghost.fail("INV-L6", detail);
        }
        self.ghost.meet.insert(pair);
    }

    fn judge_event(&mut self, place: usize, event: Event) {
        match event {
            Event::Elected(token) => {
                let term = token.counter;
                let first = *self.ghost.leaders.entry(term).or_insert(place);
                if first != place {
                    let detail = format!("{first} and {place} are elected in {term}");
                    self.ghost.fail("INV-E1", detail);
                }
                self.judge_election(place, term);
            }
            Event::Established(tenure) => {
                if self
                    .ghost
                    .highest
                    .is_some_and(|highest| highest >= tenure.token)
                {
                    let detail = format!("{place} is established with {}", tenure.token);
                    self.ghost.fail("INV-E6", detail);
                }
                self.ghost.highest = Some(tenure.token);
            }
            Event::Deposed(_, Why::Removed) => self.ghost.mark("a leader without a vote went"),
            Event::Deposed(_, Why::Transferred) => self.ghost.mark("transferred"),
            Event::TransferDropped(_) => self.ghost.mark("transfer dropped"),
            _ => {}
        }
    }

    fn judge_election(&mut self, place: usize, term: u64) {
        let known = self.configuration(place, u64::MAX);
        let mut given = self.ghost.votes.get(&term).cloned().unwrap_or_default();
        // One that needs no other vote asks nobody.
        let durable = self.nodes[place].disk.record;
        if (durable.term, durable.vote) == (term, Some(NodeId(place as u64))) {
            given.insert(place, place);
        }
        let voted = |at: usize| {
            let voter = known.members()[at].id.0 as usize;
            given.get(&voter) == Some(&place)
        };
        if !known.is_quorum(voted) {
            let detail = format!("{place} is elected in {term} by {given:?} of {known:?}");
            self.ghost.fail("INV-L6", detail);
        }
        if known.is_joint() {
            self.ghost.mark("elected in a joint configuration");
        }
        if known.place(NodeId(place as u64)).is_none() {
            self.ghost.mark("elected without a vote of its own");
        }
        // The votes of a term may arrive when a later one has decided already.
        let committed = self.committed_before(term);
        self.judge_meeting(&known, &committed, "an election");
        let log = self.nodes[place].machine.as_ref().unwrap().log();
        let lacks = (1..).zip(&self.ghost.canon).find(|(index, entry)| {
            *index > log.base().index && entry.by < term && log.term_at(*index) != Some(entry.term)
        });
        if let Some((index, _)) = lacks {
            let detail = format!("{place}, elected in {term}, lacks the committed entry {index}");
            self.ghost.fail("INV-E5", detail);
        }
    }

    /// INV-L3, INV-L4, INV-L6: there is one sequence of committed entries, and what extends it is on the disks of a quorum of
    /// the configuration of the leader that commits it: the newest up to `end`, where its log ended before. With what is
    /// committed then, it leaves a joint configuration.
    fn judge_commit(&mut self, place: usize, end: u64) {
        let Some(machine) = self.nodes[place].machine.as_ref() else {
            return;
        };
        let (commit, base) = (machine.commit(), machine.log().base().index);
        let term = machine.term();
        if commit <= self.nodes[place].judged {
            return;
        }
        for index in self.nodes[place].judged.max(base) + 1..=commit {
            let Some(here) = self.nodes[place]
                .machine
                .as_ref()
                .unwrap()
                .log()
                .term_at(index)
            else {
                return self
                    .ghost
                    .fail("INV-L5", format!("{place} commits {index} without it"));
            };
            match self.canon_term(index) {
                Some(term) if term == here => {}
                Some(term) => {
                    let detail = format!("{place} commits {index} of {here}, not of {term}");
                    return self.ghost.fail("INV-L3", detail);
                }
                None => {
                    let committed = self.committed();
                    let known = self.configuration(place, end);
                    self.judge_meeting(&known, &committed, "a commit");
                    let on_quorum = |group: &Membership| {
                        group.is_quorum(|at| {
                            let log = &self.nodes[group.members()[at].id.0 as usize].disk.log;
                            log.base().index >= index || log.term_at(index) == Some(here)
                        })
                    };
                    if !on_quorum(&known) {
                        // By the new half alone: a quorum of another configuration.
                        let half = known.is_joint() && on_quorum(&known.leave());
                        let invariant = if half { "INV-L6" } else { "INV-L4" };
                        let detail = format!("{place} commits {index} of {here} by {known:?}");
                        self.ghost.fail(invariant, detail);
                    }
                    if let Some(to) = self.ghost.configurations.get(&Position::new(here, index)) {
                        let mark = match to.is_joint() {
                            true => "joint configuration committed",
                            false => "configuration committed",
                        };
                        self.ghost.mark(mark);
                    }
                    self.ghost.canon.push(Canon {
                        term: here,
                        by: term,
                    });
                }
            }
        }
        self.nodes[place].judged = commit;
    }

    fn tenure(&self, place: usize) -> Option<Token> {
        let machine = self.nodes[place].machine.as_ref()?;
        match machine.standing(self.clock(place)) {
            Standing::Leading(tenure) => Some(tenure.token),
            _ => None,
        }
    }

    pub(crate) fn leading(&self) -> Vec<usize> {
        (0..NODES)
            .filter(|place| self.tenure(*place).is_some())
            .collect()
    }

    /// INV-S1; a belief begins only at an input.
    fn judge_belief(&mut self) {
        let leading = self.leading();
        if leading.len() > 1 {
            let detail = format!("{leading:?} believe at once");
            self.ghost.fail("INV-S1", detail);
        }
    }

    /// Lets one thing happen.
    fn step(&mut self) {
        let mut next = (u64::MAX, 0, None);
        for (at, flight) in self.flights.iter().enumerate() {
            let due = flight.at.max(self.nodes[flight.to].paused_until);
            if due < next.0 {
                next = (due, flight.to, Some(at));
            }
        }
        for (place, node) in self.nodes.iter().enumerate() {
            let due = match &node.machine {
                None => node.restart_at,
                Some(machine) => {
                    let written = node.writes.first().map_or(u64::MAX, |write| write.0);
                    let timer = machine.deadline();
                    let timer = timer.map_or(u64::MAX, |at| self.true_time(place, at));
                    written.min(timer)
                }
            };
            let due = due.max(node.paused_until);
            if due < next.0 {
                next = (due, place, None);
            }
        }
        let (due, place, flight) = next;
        self.now = self.now.max(due.min(self.now + 50_000));
        if due > self.now {
            return;
        }
        if let Some(flight) = flight {
            let Flight {
                from, to, message, ..
            } = self.flights.swap_remove(flight);
            if self.cuts[from][to] <= self.now {
                self.input(to, Input::Peer(NodeId(from as u64), message));
            }
        } else if self.nodes[place].machine.is_none() {
            self.boot(place);
        } else if self.nodes[place]
            .writes
            .first()
            .is_some_and(|write| write.0 <= self.now)
        {
            let (_, ticket, write) = self.nodes[place].writes.remove(0);
            let applied = self.nodes[place].disk.apply(&write);
            applied.expect("a write that fits the disk");
            self.input(place, Input::Reply(ticket, Ok(())));
        } else {
            self.input(place, Input::Timeout);
        }
        if self.random.below(1_000) < self.mischief {
            self.meddle();
        }
    }

    fn any(&mut self) -> usize {
        self.random.below(NODES as u64) as usize
    }

    /// Whatever can go wrong, and whatever a host may ask for.
    fn meddle(&mut self) {
        let leader = self.leading().first().copied();
        let any = self.any();
        let place = match leader {
            Some(leader) if self.random.below(2) == 0 => leader,
            _ => any,
        };
        let until = self.now + self.random.below(700_000);
        match self.random.below(22) {
            0 | 1 => {
                self.crash(place);
                let down = self.random.below(3) * self.random.below(300_000);
                self.nodes[place].restart_at = self.now + down;
            }
            2 => self.nodes[place].paused_until = until.min(self.now + 400_000),
            3 => {
                for other in 0..NODES {
                    self.cuts[place][other] = until;
                    self.cuts[other][place] = until;
                }
            }
            4 => self.cuts[place] = [until; NODES],
            5 => {
                let other = self.any();
                self.cuts[place][other] = until;
            }
            6 => {
                let side = self.random.below(1 << NODES);
                for from in 0..NODES {
                    for to in 0..NODES {
                        if (side >> from ^ side >> to) & 1 == 1 {
                            self.cuts[from][to] = until;
                        }
                    }
                }
            }
            7 => self.input(place, Input::Campaign),
            8 => {
                let to = self.any() as u64;
                let to = (self.random.below(2) == 0).then_some(NodeId(to));
                self.input(place, Input::Resign { to });
            }
            9 => {
                let ago = self.random.below(6);
                self.with(place, |machine, now| {
                    let end = machine.commit().min(machine.durable_index());
                    machine.compact(now, end.saturating_sub(ago)).unwrap();
                });
            }
            10 | 11 => {
                let to = self.any() as u64;
                let leader = leader.unwrap_or(any);
                self.with(leader, |machine, now| {
                    machine.transfer(now, NodeId(to)).ok()
                });
            }
            12..=17 => self.ask_for_change(leader.unwrap_or(any)),
            _ => {
                let count = 1 + self.random.below(4) as u32;
                let leader = leader.unwrap_or(any);
                self.with(leader, |machine, now| machine.propose(now, count).ok());
            }
        }
    }

    /// Each node in turn stays what it is, mostly, or becomes something else.
    fn ask_for_change(&mut self, leader: usize) {
        let Some(machine) = &self.nodes[leader].machine else {
            return;
        };
        let known = machine.membership().clone();
        let (mut voters, mut learners) = (Vec::new(), Vec::new());
        let moves = 1 + self.random.below(4);
        for id in (0..NODES as u64).map(NodeId) {
            let place = known.place(id);
            let votes = place.is_some_and(|place| known.votes(place));
            let moved = self.random.below(NODES as u64) < moves;
            match (moved, votes, place.is_some()) {
                (false, true, _) => voters.push(id),
                (false, false, true) => learners.push(id),
                (false, ..) => {}
                // A learner is promoted, a voter demoted or removed, a stranger learns.
                (true, false, true) => voters.push(id),
                (true, true, _) if self.random.below(2) == 0 => learners.push(id),
                (true, true, _) => {}
                (true, ..) => learners.push(id),
            }
        }
        let Ok(voters) = Voters::new(voters) else {
            return;
        };
        let target = Target { voters, learners };
        self.with(leader, |machine, now| machine.change(now, &target).ok());
    }

    pub(crate) fn run_until(&mut self, until: u64) {
        while self.now < until && self.ghost.broken.is_none() {
            self.step();
        }
    }

    /// Everything is well again: soon one leads, the change under way is over, and an entry is committed by every member.
    pub(crate) fn heal(&mut self) {
        self.mischief = 0;
        self.cuts = [[0; NODES]; NODES];
        for node in &mut self.nodes {
            node.paused_until = 0;
            node.restart_at = node.restart_at.min(self.now);
        }
        let limit = self.now + 8_000_000;
        // What was proposed may be lost with its leader: the next is asked again.
        let mut wanted = Position::START;
        while self.ghost.broken.is_none() {
            if let [leader] = self.leading()[..]
                && self.nodes[leader].machine.as_ref().unwrap().term() > wanted.term
            {
                let proposed = self.with(leader, |machine, now| machine.propose(now, 1));
                wanted = proposed.unwrap().unwrap_or(wanted);
            }
            let committed = self.committed();
            let has = |id: NodeId| {
                let machine = self.nodes[id.0 as usize].machine.as_ref();
                machine.is_some_and(|machine| machine.commit() >= wanted.index)
            };
            let decided = self.canon_term(wanted.index) == Some(wanted.term);
            if decided && !committed.is_joint() && committed.ids().all(has) {
                return self.ghost.mark("well again");
            }
            if self.now > limit {
                let state: Vec<String> = (0..NODES).map(|place| self.told(place)).collect();
                let detail = format!("{committed:?}\n{}", state.join("\n"));
                return self.ghost.fail("INV-V1", detail);
            }
            self.step();
        }
    }

    fn told(&self, place: usize) -> String {
        let Some(machine) = &self.nodes[place].machine else {
            return format!("{place} is down");
        };
        format!(
            "{place}: {:?} of {} follows {:?}, commit {} of {:?}, removed {:?}, transferring {:?}, {:?}",
            machine.role(),
            machine.term(),
            machine.leader(),
            machine.commit(),
            machine.last(),
            machine.removed(),
            machine.transferring(),
            machine.membership(),
        )
    }
}
