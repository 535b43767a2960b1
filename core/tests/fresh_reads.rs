//! INV-R2 and INV-R3 under a random adversary: no read is answered below the newest commit that was acknowledged before it
//! was asked, and every read is answered or failed, once.
//!
//! Judged from outside: the newest commit is that of any node at any time, which nothing acknowledged can pass.

mod cluster;

use cluster::Cluster;
use tenure::raft::{Leased, Rule, Rules, Served, Switched};
use tenure::random::Random;
use tenure::{Election, Input, Standing};

/// What one node was asked in its present life.
#[derive(Default)]
struct Asked {
    /// The newest commit when each read was asked; by number, from 1.
    floors: Vec<u64>,
    /// How many of them were answered or failed.
    told: usize,
    /// A lease read that is not checked yet, and the newest commit when it was asked.
    leased: Option<(Leased, u64)>,
}

/// How often what is judged took place.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    leader: u64,
    follower: u64,
    failed: u64,
    leased: u64,
    refused_late: u64,
    terms: u64,
}

struct Adversary<R: Rules> {
    cluster: Cluster<R>,
    random: Random,
    asked: Vec<Asked>,
    newest: u64,
    seen: Seen,
    broken: Option<String>,
}

impl<R: Rules> Adversary<R> {
    fn new(seed: u64, rules: R) -> Self {
        let mut random = Random::from_seed(seed);
        let n = 3 + 2 * random.below(2);
        let mut cluster = Cluster::with_rules(n, rules);
        // Outside safe mode nobody steps down by himself: what protects a read there is its round alone.
        let safe_mode = random.below(2) == 0;
        for node in &mut cluster.nodes {
            node.config.safe_mode = safe_mode;
            node.write_takes = random.below(3) * 2_000;
        }
        let cluster = cluster.seeded(seed);
        let asked = cluster.nodes.iter().map(|_| Asked::default()).collect();
        Self {
            cluster,
            random,
            asked,
            newest: 0,
            seen: Seen::default(),
            broken: None,
        }
    }

    fn draw(&mut self, below: usize) -> usize {
        usize::try_from(self.random.below(below as u64)).unwrap()
    }

    fn alive(&self, place: usize) -> bool {
        let node = &self.cluster.nodes[place];
        node.machine.is_some() && !node.paused
    }

    /// Looks at what everybody has committed, and judges what was answered since.
    fn look(&mut self) {
        for place in 0..self.asked.len() {
            let Some(machine) = &mut self.cluster.nodes[place].machine else {
                continue;
            };
            self.newest = self.newest.max(machine.commit());
            self.seen.terms = self.seen.terms.max(machine.term());
            let leads = machine.leader() == Some(machine.id());
            while let Some(served) = machine.poll_read() {
                let asked = &mut self.asked[place];
                let (upto, index) = match served {
                    Served::Ready { upto, index } => (upto, Some(index)),
                    Served::LeaderLost { upto } => (upto, None),
                };
                let upto = usize::try_from(upto).unwrap();
                if upto <= asked.told || upto > asked.floors.len() {
                    let (told, of) = (asked.told, asked.floors.len());
                    self.broken = Some(format!("{served:?} after {told} of {of} at {place}"));
                    return;
                }
                let count = (upto - asked.told) as u64;
                match index {
                    None => self.seen.failed += count,
                    Some(_) if leads => self.seen.leader += count,
                    Some(_) => self.seen.follower += count,
                }
                let floor = asked.floors[upto - 1];
                if index.is_some_and(|index| index < floor) {
                    self.broken = Some(format!("INV-R2 {served:?} at {place}, below {floor}"));
                    return;
                }
                asked.told = upto;
            }
        }
    }

    fn crash(&mut self, place: usize) {
        self.look();
        self.cluster.crash(place);
        self.asked[place] = Asked::default();
    }

    fn read(&mut self, place: usize) {
        for _ in 0..=self.draw(3) {
            self.look();
            let now = self.cluster.clock();
            // Now and then several before the host drains.
            let drains = self.draw(2) == 0;
            let Some(machine) = &mut self.cluster.nodes[place].machine else {
                return;
            };
            let taken = machine.read(now);
            if drains {
                self.cluster.carry_out(place);
            }
            if let Ok(number) = taken {
                self.asked[place].floors.push(self.newest);
                assert_eq!(number, self.asked[place].floors.len() as u64);
            }
        }
        self.cluster.carry_out(place);
    }

    /// Asks, or, when that was done before, reads the state, waits a little and checks.
    fn read_leased(&mut self, place: usize) {
        self.look();
        let (now, newest) = (self.cluster.clock(), self.newest);
        if let Some((leased, floor)) = self.asked[place].leased.take() {
            // The state that is read has applied no more than the index. Other nodes can take turns before the check.
            let standing = self.cluster.machine(place).standing(now);
            let valid = matches!(standing, Standing::Leading(tenure) if tenure.token == leased.tenure.token);
            let (index, commit) = (leased.index, self.cluster.commit(place));
            if !valid {
                self.seen.refused_late += 1;
                return;
            }
            self.seen.leased += 1;
            if index < floor || commit < newest {
                self.broken = Some(format!(
                    "INV-R3 index {index}, below {floor}; commit {commit}, below {newest}"
                ));
            }
            return;
        }
        let taken = self
            .cluster
            .with(place, |machine, now| machine.read_leased(now));
        if let Ok(leased) = taken {
            self.asked[place].leased = Some((leased, newest));
        }
    }

    /// Late, lost or repeated: what happens to a message under way.
    fn meddle(&mut self) {
        if self.cluster.flights.is_empty() {
            return;
        }
        let at = self.draw(self.cluster.flights.len());
        match self.draw(3) {
            0 => drop(self.cluster.flights.remove(at)),
            1 => {
                let copy = self.cluster.flights[at].clone();
                self.cluster.flights.push(copy);
            }
            _ => self.cluster.flights[at].at += self.random.below(400_000),
        }
    }

    fn turn(&mut self) {
        let place = self.draw(self.asked.len());
        if !self.alive(place) {
            // It comes back sooner or later.
            if self.draw(3) == 0 {
                self.cluster.nodes[place].paused = false;
                if self.cluster.nodes[place].machine.is_none() {
                    self.cluster.start(place);
                }
            }
            return self.pass();
        }
        match self.draw(64) {
            0 => self.crash(place),
            1 | 2 => self.cluster.nodes[place].paused = true,
            3 | 4 => self.cluster.isolate(place),
            5 => {
                let other = self.draw(self.asked.len());
                self.cluster.cuts.insert((place, other));
            }
            6..=8 => self.cluster.heal(),
            9 => self.cluster.input(place, Input::Resign { to: None }),
            10 => self.cluster.input(place, Input::Campaign),
            11..=25 => {
                let _ = self
                    .cluster
                    .with(place, |machine, now| machine.propose(now, 1));
            }
            26..=40 => self.read(place),
            41..=50 => {
                // Mostly where there is a lease, or was one a moment ago.
                let leads = |place: &usize| self.cluster.leading().contains(place);
                let place = (0..self.asked.len()).find(leads).unwrap_or(place);
                self.read_leased(place);
            }
            51..=56 => self.meddle(),
            _ => self.pass(),
        }
        self.look();
    }

    /// A while passes: mostly a few hops, now and then an election timeout.
    fn pass(&mut self) {
        let longest = [3, 3, 10, 300][self.draw(4)];
        for _ in 0..=self.draw(longest) {
            self.cluster.run(1);
            self.look();
        }
    }

    fn run(mut self, turns: u32) -> (Seen, Option<String>) {
        self.cluster.run(400);
        for _ in 0..turns {
            self.turn();
            if self.broken.is_some() {
                return (self.seen, self.broken);
            }
        }
        self.settle();
        (self.seen, self.broken)
    }

    /// Everything is healed: what waits is told of, all of it.
    fn settle(&mut self) {
        self.cluster.heal();
        for place in 0..self.asked.len() {
            self.cluster.nodes[place].paused = false;
            if self.cluster.nodes[place].machine.is_none() {
                self.cluster.start(place);
            }
        }
        self.cluster.run(3_000);
        self.look();
        for (place, asked) in self.asked.iter().enumerate() {
            let (told, of) = (asked.told, asked.floors.len());
            if told < of && self.broken.is_none() {
                self.broken = Some(format!("told of {told} reads of {of} at {place}"));
            }
        }
    }
}

/// The first schedule in which something breaks, and what was seen until then.
fn hunt(rules: &[Rule], seeds: u64) -> (Seen, Option<(u64, String)>) {
    let mut all = Seen::default();
    for seed in 0..seeds {
        let (seen, broken) = Adversary::new(seed, Switched::without(rules)).run(150);
        all.leader += seen.leader;
        all.follower += seen.follower;
        all.failed += seen.failed;
        all.leased += seen.leased;
        all.refused_late += seen.refused_late;
        all.terms += seen.terms;
        if let Some(broken) = broken {
            return (all, Some((seed, broken)));
        }
    }
    (all, None)
}

#[test]
fn no_read_is_stale_and_none_is_forgotten() {
    let seeds = 20_000;
    let (seen, broken) = hunt(&[], seeds);
    println!("{seen:?}");
    assert_eq!(broken, None);
    for often in [
        seen.leader,
        seen.follower,
        seen.failed,
        seen.leased,
        seen.refused_late,
        seen.terms,
    ] {
        assert!(often > seeds / 10, "{seen:?}");
    }
}

/// The judge can fail: without either rule some schedule breaks what it protects, and nothing before it.
#[test]
fn each_rule_is_missed() {
    for rule in [Rule::ReadConfirmed, Rule::ReadOwnTerm] {
        let (_, broken) = hunt(&[rule], 5_000);
        let (seed, broken) = broken.unwrap_or_else(|| panic!("nobody misses {rule:?}"));
        println!("{rule:?}: seed {seed}: {broken}");
        assert!(broken.starts_with(rule.protects().name()), "{broken}");
    }
}
