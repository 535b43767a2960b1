//! Logs that are replaced at any moment: schedules at random in which candidates fetch what they lack, or are made to
//! believe that they lack it, or have their logs replaced behind their backs, while messages come late, twice, in any
//! order or not at all, nodes crash between request and install, and links are cut around a hub.
//!
//! Judged from outside: INV-E1, E3, E5, L1, L3, L4, S1, and V1 once all is well. The clocks are exact; `group` has those
//! that are not.

use std::collections::BTreeMap;
use tenure::log::{Position, Shape};
use tenure::quorum::Voters;
use tenure::raft::{
    Better, Boot, Config, Entries, LogWrite, Message, Raft, Record, Replication, Role, Rule,
    Stored, Switched, Write,
};
use tenure::random::Random;
use tenure::{Duration, Election, Event, Input, Instant, NodeId, Output, Standing, Ticket};

struct Node {
    machine: Option<Raft<Switched>>,
    disk: Stored,
    writes: Vec<(Ticket, Write)>,
    lives: u64,
    /// Up to where it knew, in any life, that its durable log is committed.
    knew: u64,
}

/// How a schedule goes beyond what honest nodes do.
#[derive(Clone, Copy, Default)]
struct Wild {
    /// Refusals that nobody sent make candidates fetch from anybody, at any time.
    forged: bool,
    /// A node that is down wakes up with a better log, by any piece of another's.
    replaced: bool,
    /// Disks lose what they said they hold.
    lying: bool,
}

struct World {
    nodes: Vec<Node>,
    now: u64,
    flights: Vec<(usize, usize, Message)>,
    /// Directed links that carry nothing, by sender and receiver.
    cut: Vec<Vec<bool>>,
    wild: Wild,
    rules: Switched,
    random: Random,
    leaders: BTreeMap<u64, usize>,
    /// What is committed, by index: the entry's term, and the term that committed it.
    committed: BTreeMap<u64, (u64, u64)>,
    /// What precedes the first entry of each term.
    begins: BTreeMap<u64, Position>,
    broken: Option<String>,
    met: Met,
}

/// What the schedules did, so that none of it is vacuous.
#[derive(Clone, Copy, Debug, Default)]
struct Met {
    elected: u64,
    committed: u64,
    fetched: u64,
    installed: u64,
    truncating: u64,
    snapshots: u64,
    adopting: u64,
    replaced: u64,
    /// How many milliseconds passed at most until all was well again.
    slowest: u64,
}

impl Met {
    fn add(&mut self, other: Self) {
        self.elected += other.elected;
        self.committed += other.committed;
        self.fetched += other.fetched;
        self.installed += other.installed;
        self.truncating += other.truncating;
        self.snapshots += other.snapshots;
        self.adopting += other.adopting;
        self.replaced += other.replaced;
    }
}

impl World {
    fn new(n: usize, seed: u64, rules: Switched, wild: Wild, disks: &[Stored]) -> Self {
        let node = |place| Node {
            machine: None,
            disk: disks.get(place).cloned().unwrap_or_default(),
            writes: Vec::new(),
            lives: 0,
            knew: 0,
        };
        let mut world = Self {
            nodes: (0..n).map(node).collect(),
            now: 1_000_000,
            flights: Vec::new(),
            cut: vec![vec![false; n]; n],
            wild,
            rules,
            random: Random::from_seed(seed),
            leaders: BTreeMap::new(),
            committed: BTreeMap::new(),
            begins: BTreeMap::new(),
            broken: None,
            met: Met::default(),
        };
        if let Some(full) = disks.last() {
            for index in 1..=full.log.last().index {
                let wrote = full.log.term_at(index).unwrap();
                world.committed.insert(index, (wrote, full.record.term));
            }
            for node in &mut world.nodes {
                let has = |index: &u64| node.disk.log.term_at(*index) == full.log.term_at(*index);
                node.knew = (1..=full.log.last().index).take_while(has).count() as u64;
            }
            world.nodes[1].knew = 0;
        }
        (0..n).for_each(|place| world.start(place));
        world
    }

    fn clock(&self) -> Instant {
        Instant::from_micros(self.now)
    }

    fn below(&mut self, bound: usize) -> usize {
        self.random.below(bound as u64) as usize
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.random.below(100) < percent
    }

    fn fail(&mut self, invariant: &str, detail: impl FnOnce() -> String) {
        if self.broken.is_none() {
            self.broken = Some(format!("{invariant}: {}", detail()));
        }
    }

    fn start(&mut self, place: usize) {
        let now = self.clock();
        let voters = Voters::new((0..self.nodes.len() as u64).map(NodeId)).unwrap();
        let node = &mut self.nodes[place];
        node.lives += 1;
        let config = Config {
            // Small, so that suffixes come in pieces.
            replication: Some(Replication {
                batch: 2,
                window: 8,
            }),
            ..Config::new(NodeId(place as u64), voters)
        };
        let boot = Boot {
            stored: Some(node.disk.clone()),
            incarnation: node.lives,
            seed: self.random.bits(),
        };
        match Raft::with_rules(config, boot, now, self.rules) {
            Ok(machine) => node.machine = Some(machine),
            Err(error) => self.fail("INV-E3", || format!("{place} does not start: {error}")),
        }
    }

    fn crash(&mut self, place: usize) {
        let node = &mut self.nodes[place];
        node.machine = None;
        node.writes.clear();
    }

    fn input(&mut self, place: usize, input: Input<Message, ()>) {
        let now = self.clock();
        if let Some(machine) = &mut self.nodes[place].machine {
            machine.handle(now, input);
            self.carry_out(place);
        }
    }

    fn carry_out(&mut self, place: usize) {
        while let Some(output) = self.nodes[place].machine.as_mut().and_then(Election::poll) {
            match output {
                Output::Event(Event::Elected(token)) => self.judge_elected(place, token.counter),
                Output::Event(_) => {}
                Output::Request(ticket, write) => self.nodes[place].writes.push((ticket, write)),
                Output::Send(to, message) => {
                    self.judge_sent(place, &message);
                    self.met.fetched += u64::from(matches!(message, Message::Fetch { .. }));
                    let to = to.0 as usize;
                    if !self.cut[place][to] {
                        self.flights.push((place, to, message));
                    }
                }
            }
        }
        self.judge_log(place);
    }

    /// INV-E3: a node says nothing of a term above the one its disk holds, nor of entries of one.
    fn judge_sent(&mut self, place: usize, message: &Message) {
        let durable = self.nodes[place].disk.record.term;
        let said = match *message {
            Message::RequestPreVote { term, last, .. } => (term - 1).max(last.term),
            Message::PreVoteGranted { .. } | Message::Release { .. } => 0,
            Message::PreVoteRefused { term, .. } => term,
            _ => message.term(),
        };
        if said > durable {
            self.fail("INV-E3", || {
                format!("{place} says {message:?} with term {durable} on disk")
            });
        }
    }

    fn judge_elected(&mut self, place: usize, term: u64) {
        self.met.elected += 1;
        let first = *self.leaders.entry(term).or_insert(place);
        if first != place {
            self.fail("INV-E1", || format!("{first} and {place} lead {term}"));
        }
        let log = self.nodes[place].machine.as_ref().unwrap().log().clone();
        let lost = self.committed.iter().find(|(index, (wrote, by))| {
            *by < term && **index > log.base().index && log.term_at(**index) != Some(*wrote)
        });
        if let Some((index, at)) = lost.map(|(index, at)| (*index, *at)) {
            self.fail("INV-E5", || {
                format!("{place} leads {term} without {index} {at:?}")
            });
        }
    }

    /// INV-L1, L3, L4, S1, as they show at one node after it did something.
    fn judge_log(&mut self, place: usize) {
        let Some(machine) = &self.nodes[place].machine else {
            return;
        };
        let (log, commit) = (machine.log().clone(), machine.commit());
        let (leads, term) = (machine.role() == Role::Leader, machine.term());
        let known = commit.min(machine.durable_index());
        // INV-L1: the entries of one term come from one leader, and so begin after the same entry everywhere.
        let mut before = log.base();
        for (at, (wrote, count)) in log.runs().enumerate() {
            if at > 0 || before == Position::START {
                let first = *self.begins.entry(wrote).or_insert(before);
                if first != before {
                    self.fail("INV-L1", || {
                        format!("{place}: term {wrote} after {before:?} and {first:?}")
                    });
                }
            }
            before = Position::new(wrote, before.index + count);
        }
        let newest = self
            .committed
            .last_key_value()
            .map_or(0, |(index, _)| *index);
        for index in newest + 1..=commit {
            let Some(wrote) = log.term_at(index) else {
                return self.fail("INV-L3", || {
                    format!("{place} commits {index}, which nobody had")
                });
            };
            if !leads {
                return self.fail("INV-L3", || {
                    format!("{place} commits {index} before a leader did")
                });
            }
            self.met.committed += 1;
            self.committed.insert(index, (wrote, term));
            self.judge_durable(index);
        }
        let knew = self.nodes[place].knew.max(known);
        self.nodes[place].knew = knew;
        for index in [commit, knew] {
            let kept = index <= log.base().index
                || log.term_at(index) == self.committed.get(&index).map(|(wrote, _)| *wrote);
            if !kept {
                let at = self.committed.get(&index).copied();
                self.fail("INV-L3", || {
                    format!("{place} knew {index} {at:?} to be committed and has {log:?}")
                });
            }
        }
        let now = self.clock();
        let leading = self.nodes.iter().filter(|node| {
            let machine = node.machine.as_ref();
            machine.is_some_and(|machine| matches!(machine.standing(now), Standing::Leading(_)))
        });
        if leading.count() > 1 {
            self.fail("INV-S1", || format!("two believe at {now}"));
        }
    }

    /// INV-L4: a committed entry is on the disks of a majority.
    fn judge_durable(&mut self, index: u64) {
        let Some((wrote, _)) = self.committed.get(&index).copied() else {
            return;
        };
        let has = |node: &&Node| {
            let log = &node.disk.log;
            log.base().index >= index || log.term_at(index) == Some(wrote)
        };
        let holding = self.nodes.iter().filter(has).count();
        if holding <= self.nodes.len() / 2 {
            self.fail("INV-L4", || {
                format!("{index} of {wrote} is committed and on {holding} disks")
            });
        }
    }

    /// Carries out one write on the disk alone.
    fn write(&mut self, place: usize, write: &Write) {
        let disk = &mut self.nodes[place].disk;
        let before = disk.clone();
        disk.apply(write).unwrap();
        let (log, term) = (disk.log.last(), disk.record.term);
        if log.term > term {
            self.fail("INV-E3", || {
                format!("{place} has {log:?} on disk with term {term}")
            });
        }
        let from = match &write.log {
            LogWrite::Append { after, .. } => after.index,
            LogWrite::Install { last, .. } => last.index,
            _ => return,
        };
        for index in from + 1..=before.log.last().index {
            self.judge_durable(index);
        }
    }

    fn step(&mut self) {
        match self.below(100) {
            0..56 if !self.flights.is_empty() => self.deliver(),
            0..68 => self.pass_time(),
            68..92 => {
                let place = self.below(self.nodes.len());
                self.write_some(place);
            }
            92..95 => {
                let now = self.clock();
                for place in 0..self.nodes.len() {
                    if let Some(machine) = &mut self.nodes[place].machine {
                        let _ = machine.propose(now, 1 + (now.as_micros() % 3) as u32);
                        self.carry_out(place);
                    }
                }
            }
            95 if self.chance(60) => {
                let place = self.below(self.nodes.len());
                if self.wild.lying && self.chance(20) {
                    self.nodes[place].disk.log.truncate(0);
                }
                self.crash(place);
                if self.wild.replaced && self.chance(50) {
                    self.replace(place);
                }
                self.start(place);
            }
            96 => {
                let place = self.below(self.nodes.len());
                let input = match self.below(4) {
                    0 => Input::Resign { to: None },
                    _ => Input::Campaign,
                };
                self.input(place, input);
            }
            97 => {
                let place = self.below(self.nodes.len());
                let now = self.clock();
                if let Some(machine) = &mut self.nodes[place].machine {
                    let _ = machine.compact(now, machine.commit().min(machine.durable_index()));
                    self.carry_out(place);
                }
            }
            98 => self.cut_links(),
            _ => {}
        }
        if self.wild.forged && self.chance(10) {
            self.forge();
        }
    }

    /// A message arrives, or is lost, or arrives and stays to come again.
    fn deliver(&mut self) {
        let at = self.below(self.flights.len());
        let flight = match self.chance(15) {
            true => self.flights[at].clone(),
            false => self.flights.swap_remove(at),
        };
        if self.flights.len() > 60 {
            let at = self.below(self.flights.len());
            self.flights.swap_remove(at);
        }
        let (from, to, message) = flight;
        if self.cut[from][to] || self.chance(5) {
            return;
        }
        let Some(before) = self.nodes[to]
            .machine
            .as_ref()
            .map(|it| (it.log().clone(), it.term()))
        else {
            return;
        };
        let suffix = matches!(message, Message::Suffix { .. });
        let snapshot = matches!(message, Message::SuffixSnapshot { .. });
        self.input(to, Input::Peer(NodeId(from as u64), message));
        let machine = self.nodes[to].machine.as_ref().unwrap();
        if (suffix || snapshot) && *machine.log() != before.0 {
            self.met.installed += 1;
            self.met.snapshots += u64::from(snapshot);
            // A vote that begins at once raises the term too.
            let adopted = machine.term() > before.1 && machine.role() == Role::PreCandidate;
            self.met.adopting += u64::from(adopted);
            self.met.truncating += u64::from(!machine.log().contains(before.0.last()));
        }
    }

    fn pass_time(&mut self) {
        self.now += self.random.below(if self.flights.is_empty() {
            100_000
        } else {
            15_000
        });
        for place in 0..self.nodes.len() {
            let due = self.nodes[place]
                .machine
                .as_ref()
                .and_then(Election::deadline);
            if due.is_some_and(|due| due <= self.clock()) && self.chance(85) {
                self.input(place, Input::Timeout);
            }
        }
    }

    fn write_some(&mut self, place: usize) {
        let count = self.below(self.nodes[place].writes.len() + 1);
        for _ in 0..count {
            let (ticket, write) = self.nodes[place].writes.remove(0);
            self.write(place, &write);
            // Some are answered by the answer to a later one.
            if self.nodes[place].writes.is_empty() || self.chance(70) {
                self.input(place, Input::Reply(ticket, Ok(())));
            }
        }
    }

    /// All links heal, or those between all but a hub are cut, or one node's, or one way of one.
    fn cut_links(&mut self) {
        let n = self.nodes.len();
        let (one, other) = (self.below(n), self.below(n));
        match self.below(5) {
            0 => self.cut.iter_mut().for_each(|row| row.fill(false)),
            1 | 2 => {
                for from in 0..n {
                    for to in 0..n {
                        self.cut[from][to] = from != one && to != one;
                    }
                }
                (self.cut[one][other], self.cut[other][one]) = (true, true);
            }
            3 => {
                for to in 0..n {
                    (self.cut[one][to], self.cut[to][one]) = (true, true);
                }
            }
            _ => self.cut[one][other] = true,
        }
    }

    /// All is well from now on, but for links that stay cut around a hub where there is one: how many milliseconds until
    /// somebody leads and every log that it reaches is its own, committed. `None` when that does not happen in ten seconds.
    fn settle(&mut self, hub: Option<usize>) -> Option<u64> {
        let n = self.nodes.len();
        for from in 0..n {
            for to in 0..n {
                self.cut[from][to] = hub.is_some_and(|hub| from != hub && to != hub);
            }
        }
        for millis in 0..10_000 {
            for (from, to, message) in core::mem::take(&mut self.flights) {
                if !self.cut[from][to] {
                    self.input(to, Input::Peer(NodeId(from as u64), message));
                }
            }
            self.now += 1_000;
            for place in 0..n {
                while !self.nodes[place].writes.is_empty() {
                    let (ticket, write) = self.nodes[place].writes.remove(0);
                    self.write(place, &write);
                    self.input(place, Input::Reply(ticket, Ok(())));
                }
                let due = self.nodes[place]
                    .machine
                    .as_ref()
                    .and_then(Election::deadline);
                if due.is_some_and(|due| due <= self.clock()) {
                    self.input(place, Input::Timeout);
                }
            }
            let machines = || self.nodes.iter().filter_map(|node| node.machine.as_ref());
            let leads = machines().find(|it| it.established());
            let same = |leader: &Raft<Switched>| {
                let has = |it: &Raft<Switched>| {
                    it.last() == leader.last() && it.commit() == leader.last().index
                };
                // A leader beside the hub does not reach the others beside it.
                has(leader) && (hub.is_some() || machines().all(has))
            };
            if leads.is_some_and(same) {
                return Some(millis);
            }
        }
        None
    }

    /// A pre-candidate is told that everybody's log is better, and asks whomever the highest of that names.
    fn forge(&mut self) {
        let Some(to) = (0..self.nodes.len()).find(|place| {
            let machine = self.nodes[*place].machine.as_ref();
            machine.is_some_and(|machine| machine.role() == Role::PreCandidate)
        }) else {
            return;
        };
        let machine = self.nodes[to].machine.as_ref().unwrap();
        let (term, sent) = (machine.term(), machine.armed_at());
        for from in 0..self.nodes.len() {
            let index = 100 + self.random.below(100);
            let last = Position::new(term.max(1), index);
            if from != to && term > 0 {
                let better = Some(Better {
                    last,
                    remainder: Duration::ZERO,
                    sent,
                });
                let refused = Message::PreVoteRefused {
                    asked: term + 1,
                    term,
                    better,
                };
                self.input(to, Input::Peer(NodeId(from as u64), refused));
            }
        }
    }

    /// What is between two lives of a node: its log becomes any better piece of another's, in one write with the term.
    fn replace(&mut self, place: usize) {
        let other = self.below(self.nodes.len());
        let Some(machine) = &self.nodes[other].machine else {
            return;
        };
        let (theirs, term) = (machine.log().clone(), self.nodes[other].disk.record.term);
        let (own, record) = (
            self.nodes[place].disk.log.clone(),
            self.nodes[place].disk.record,
        );
        let agree = (0..=own.last().index)
            .rev()
            .map(|index| Position::new(own.term_at(index).unwrap_or(0), index))
            .find(|at| own.contains(*at) && theirs.contains(*at));
        let Some(agree) = agree.filter(|at| at.index >= self.nodes[place].knew) else {
            return;
        };
        let Some((wrote, count)) = theirs.run_after(agree.index) else {
            return;
        };
        if theirs.last() <= own.last() || theirs.last().term > term {
            return;
        }
        let entries = Entries::Run {
            term: wrote,
            count: 1 + self.random.below(count),
        };
        let mut record = record;
        if term > record.term {
            (record.term, record.vote) = (term, None);
        }
        self.met.replaced += 1;
        self.write(
            place,
            &Write {
                record,
                log: LogWrite::Append {
                    after: agree,
                    entries,
                },
            },
        );
    }
}

/// Runs `schedules` of three and five nodes; the first that breaks something, and what was met.
fn search(
    schedules: u64,
    rules: &[Rule],
    wild: Wild,
    disks: &[Stored],
) -> (Option<(u64, String)>, Met) {
    let mut met = Met::default();
    for seed in 0..schedules {
        let n = if seed % 2 == 0 && disks.is_empty() {
            3
        } else {
            5
        };
        let mut world = World::new(n, seed, Switched::without(rules), wild, disks);
        for _ in 0..1_000 {
            world.step();
            if let Some(broken) = world.broken {
                return (Some((seed, broken)), met);
            }
        }
        if seed % 4 == 0 && rules.is_empty() && !wild.lying {
            let hub = (seed % 8 == 0).then(|| world.below(n));
            match world.settle(hub) {
                Some(millis) => met.slowest = met.slowest.max(millis),
                None => {
                    return (
                        Some((seed, format!("INV-V1: nobody leads around {hub:?}"))),
                        met,
                    );
                }
            }
            if let Some(broken) = world.broken {
                return (Some((seed, broken)), met);
            }
        }
        met.add(world.met);
    }
    (None, met)
}

/// How many schedules of each kind; the environment may ask for more.
fn schedules(usual: u64) -> u64 {
    let more = std::env::var("TENURE_SCHEDULES").ok();
    more.and_then(|more| more.parse().ok()).unwrap_or(usual)
}

#[test]
fn honest_candidates_break_nothing() {
    let (broken, met) = search(schedules(4_000), &[], Wild::default(), &[]);
    println!("{met:?}");
    assert_eq!(broken, None);
    assert!(met.installed > 0 && met.truncating > 0);
}

#[test]
fn logs_replaced_at_any_time_break_nothing() {
    let wild = Wild {
        forged: true,
        replaced: true,
        lying: false,
    };
    let (broken, met) = search(schedules(4_000), &[], wild, &[]);
    println!("{met:?}");
    assert_eq!(broken, None);
    assert!(met.replaced > 0 && met.snapshots > 0 && met.adopting > 0);
}

#[test]
fn disks_that_lie_break_it() {
    let wild = Wild {
        lying: true,
        ..Wild::default()
    };
    let (broken, _) = search(schedules(4_000), &[], wild, &[]);
    println!("{broken:?}");
    assert!(broken.is_some());
}

/// Hunts with the rule off; what breaks first must be what it declares.
fn killed(rule: Rule, usual: u64, wild: Wild, disks: &[Stored]) {
    let (broken, met) = search(usual, &[rule], wild, disks);
    let (seed, broken) = broken.unwrap_or_else(|| panic!("{rule:?} off: nothing broke, {met:?}"));
    println!("{rule:?}: seed {seed}: {broken}");
    let protects = [rule.protects()];
    let mut declared = protects.iter().chain(rule.follows());
    assert!(
        declared.any(|invariant| broken.starts_with(invariant.name())),
        "{broken}"
    );
}

#[test]
fn suffix_adopts_term() {
    killed(Rule::SuffixAdoptsTerm, 20_000, Wild::default(), &[]);
}

#[test]
fn suffix_rechecked() {
    let wild = Wild {
        forged: true,
        ..Wild::default()
    };
    killed(Rule::SuffixRechecked, 20_000, wild, &[]);
}

/// raft.md 2b: 0 knows index 3 to be committed, and 1's log ends later without it.
#[test]
fn suffix_from_best() {
    let wild = Wild::default();
    assert_eq!(
        search(2_000, &[], wild, &catch_up_left_unfinished()).0,
        None
    );
    killed(
        Rule::SuffixFromBest,
        20_000,
        wild,
        &catch_up_left_unfinished(),
    );
}

/// Leader 8 has committed its entry at 4, and with it those of term 6; 0 has them up to 3, and knows it; 1 still has
/// what leader 7 wrote.
fn catch_up_left_unfinished() -> Vec<Stored> {
    let log = |runs: &[(u64, u64)]| Stored {
        record: Record {
            term: 8,
            promise: Duration::from_millis(150),
            ..Record::default()
        },
        log: Shape::from_runs(runs.iter().copied()).unwrap(),
        ..Stored::default()
    };
    let full = || log(&[(6, 3), (8, 1)]);
    vec![
        log(&[(6, 3)]),
        log(&[(6, 2), (7, 2)]),
        full(),
        full(),
        full(),
    ]
}
