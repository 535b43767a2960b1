//! The search: level by level, so that the counts are the same every time and the first violation is a shortest one.

use super::hash::{Mix, Seen};
use super::heal::Healer;
use super::judge::judge;
use super::law::Law;
use super::model::{Action, Model, Spent, is_round, spend};
use super::node::{Node, Stir};
use super::report::{Counterexample, Report};
use super::setting::{Cut, MAX_VOTERS, Setting, Unexplorable};
use super::table::Tables;
use std::collections::HashSet;
use std::hash::{Hash, Hasher};

/// What happens, in the upper bits of a code; below it is what it happens to or with.
#[derive(Clone, Copy)]
#[repr(u32)]
enum Kind {
    Tick,
    Timeout,
    Deliver,
    Written,
    Crash,
    Campaign,
    Resign,
}

const SHIFT: u32 = 28;
const REST: u32 = (1 << SHIFT) - 1;

impl Kind {
    const fn with(self, rest: u32) -> u32 {
        (self as u32) << SHIFT | rest
    }
}

/// A state is `[spent …, node …, message …]`, messages in rising order of their numbers.
struct Search {
    model: Model,
    tables: Tables,
    symmetry: bool,
    seen: Seen,
    /// By number of a state: from which, and by what.
    origins: Vec<(u32, u32)>,
    /// The states of the next level, one after the other, and where each ends.
    next: (Vec<u32>, Vec<usize>),
    projected: Option<HashSet<u64>>,
    /// One state in so many is asked whether it heals.
    liveness: Option<u64>,
    healer: Healer,
    report: Report,
    /// The state being built.
    nodes: [u32; MAX_VOTERS],
    mails: Vec<u32>,
    broken: Option<Law>,
}

/// How many states are looked at between two reports of progress.
const STRIDE: usize = 1 << 14;

/// Tries every schedule within the bounds of `setting`, until an invariant breaks. `progress` is told now and then, and
/// ends the search by saying `false`.
///
/// # Errors
/// When the setting cannot be explored.
pub fn explore(
    setting: &Setting,
    mut progress: impl FnMut(&Report) -> bool,
) -> Result<Report, Unexplorable> {
    let model = Model::new(setting)?;
    let voters = model.group.voters();
    let mut search = Search {
        tables: Tables::new(
            voters,
            setting.symmetry || (setting.project && setting.nameless()),
            setting.project,
        ),
        model,
        symmetry: setting.symmetry,
        seen: Seen::new(),
        origins: Vec::new(),
        next: (Vec::new(), Vec::new()),
        projected: setting.project.then(HashSet::new),
        liveness: setting.liveness,
        healer: Healer::default(),
        report: Report::default(),
        nodes: [0; MAX_VOTERS],
        mails: Vec::new(),
        broken: None,
    };
    search.begin();
    let mut first = 0;
    while search.broken.is_none() && !search.report.stopped && !search.next.1.is_empty() {
        let (words, ends) = std::mem::take(&mut search.next);
        search.report.levels.push(ends.len());
        if search.report.levels.len() as u64 > u64::from(setting.bounds.depth) {
            search.report.cuts[Cut::Depth as usize] += ends.len() as u64;
            break;
        }
        let mut from = 0;
        for (at, end) in ends.iter().enumerate() {
            if at % STRIDE == 0 {
                search.note_tables();
                search.report.stopped = !progress(&search.report);
            }
            if search.broken.is_some() || search.report.stopped {
                break;
            }
            search.expand((first + at) as u32, &words[from..*end]);
            from = *end;
        }
        first += ends.len();
    }
    Ok(search.finish())
}

impl Search {
    fn begin(&mut self) {
        let spent = Spent::default();
        for nodes in self.model.first_nodes() {
            for (place, node) in nodes.into_iter().enumerate() {
                self.nodes[place] = self.tables.node(&self.model, place, node);
            }
            self.mails.clear();
            self.meet(u32::MAX, 0, spent);
        }
    }

    fn voters(&self) -> usize {
        self.model.group.voters()
    }

    /// The parts of a state.
    fn parts<'a>(&self, state: &'a [u32]) -> (Spent, &'a [u32], &'a [u32]) {
        let (spent, rest) = state.split_at(Spent::WORDS);
        let (nodes, mails) = rest.split_at(self.voters());
        (Spent::unpacked([spent[0], spent[1]]), nodes, mails)
    }

    /// Everything that can happen in a state.
    fn expand(&mut self, from: u32, state: &[u32]) {
        let (_, nodes, mails) = self.parts(state);
        if self.model.group.timed {
            self.tick(from, state);
        }
        let bounds = self.model.bounds;
        for (place, node) in nodes.iter().enumerate() {
            let rest = place as u32;
            let entry = &self.tables.nodes[*node as usize];
            let (due, writes) = (entry.may_time_out, entry.node.writes());
            let leads = is_round(&entry.node, &entry.node);
            if due {
                self.stir(from, state, place, Kind::Timeout.with(rest), Stir::Timeout);
            }
            if writes > 0 {
                self.stir(from, state, place, Kind::Written.with(rest), Stir::Written);
            }
            if bounds.crashes > 0 {
                for done in 0..=writes {
                    let code = Kind::Crash.with(rest | (done as u32) << 8);
                    self.stir(from, state, place, code, Stir::Crash(done));
                }
            }
            if bounds.whims > 0 {
                let (kind, stir) = if leads {
                    (Kind::Resign, Stir::Resign)
                } else {
                    (Kind::Campaign, Stir::Campaign)
                };
                self.stir(from, state, place, kind.with(rest), stir);
            }
        }
        let mut last = None;
        for mail in mails {
            if last.replace(*mail) != Some(*mail) {
                let known = self.tables.mails[*mail as usize].clone();
                let stir = Stir::Mail(usize::from(known.from), &known.message);
                let code = Kind::Deliver.with(*mail);
                self.stir(from, state, usize::from(known.to), code, stir);
            }
        }
    }

    /// Something happens to the node at `place`.
    fn stir(&mut self, from: u32, state: &[u32], place: usize, code: u32, stir: Stir<'_>) {
        if self.broken.is_some() {
            return;
        }
        let voters = self.voters();
        let (spent_before, nodes, mails) = self.parts(state);
        let before = nodes[place];
        let taken = self.tables.step(&self.model, before, code, stir);
        if taken.beyond {
            self.report.cuts[Cut::Terms as usize] += 1;
            return;
        }
        let known = |node: u32| &self.tables.nodes[node as usize];
        let round = is_round(&known(before).node, &known(taken.node).node);
        let spent = match spend(&self.model.bounds, spent_before, stir, round) {
            Ok(spent) => spent,
            Err(cut) => {
                self.report.cuts[cut as usize] += 1;
                return;
            }
        };
        self.nodes[..voters].copy_from_slice(nodes);
        self.nodes[place] = taken.node;
        self.mails.clear();
        self.mails.extend_from_slice(mails);
        if let (Stir::Mail(..), false) = (stir, self.model.persistent) {
            let gone = self.mails.iter().position(|mail| *mail == code & REST);
            gone.map(|at| self.mails.remove(at));
        }
        for said in self.tables.said(&taken) {
            let at = self.mails.partition_point(|mail| mail < said);
            if !(self.model.persistent && self.mails.get(at) == Some(said)) {
                self.mails.insert(at, *said);
            }
        }
        if self.model.without_inert {
            let (tables, model, nodes) = (&self.tables, &self.model, &self.nodes[..voters]);
            let here = place as u8;
            self.mails.retain(|mail| {
                let known = &tables.mails[*mail as usize];
                // Between two nodes that did not move nothing changed.
                (known.from != here && known.to != here) || !tables.inert(model, nodes, *mail)
            });
        }
        let same = spent == spent_before && taken.node == before && self.mails == mails;
        if same && taken.broken.is_none() {
            self.report.idle += 1;
            return;
        }
        if self.mails.len() > self.model.bounds.messages {
            self.report.cuts[Cut::Messages as usize] += 1;
            return;
        }
        let leads = |term: u8| (term > 0).then_some(u64::from(term));
        if taken.elected > 0 || taken.established > 0 || known(taken.node).believes {
            let others = (0..voters).filter(|other| *other != place);
            let others = others.map(|other| (other, &known(self.nodes[other]).node));
            self.broken = judge(
                &self.model.group,
                place,
                &known(taken.node).node,
                leads(taken.elected),
                leads(taken.established),
                others,
            );
        }
        self.broken = taken.broken.or(self.broken);
        self.meet(from, code, spent);
    }

    fn tick(&mut self, from: u32, state: &[u32]) {
        let voters = self.voters();
        let (spent_before, nodes, mails) = self.parts(state);
        let spent = match self.model.spend_tick(spent_before) {
            Ok(spent) => spent,
            Err(cut) => {
                self.report.cuts[cut as usize] += 1;
                return;
            }
        };
        let mut moved = [0; MAX_VOTERS];
        let mut rest = 0;
        for (place, node) in nodes.iter().enumerate().rev() {
            let rate = self.tables.nodes[*node as usize].node.rate;
            moved[place] = self.model.moves(spent_before.phase, rate);
            rest = rest * 3 + moved[place] as u32;
        }
        let code = Kind::Tick.with(rest);
        let stir = Stir::Tick(&moved[..voters]);
        for (place, node) in nodes.iter().enumerate() {
            self.nodes[place] = self.tables.step(&self.model, *node, code, stir).node;
        }
        self.mails.clear();
        for mail in mails {
            let clock = self.tables.mails[*mail as usize].clock();
            let by = clock.map_or(0, |place| moved[place]);
            self.mails.push(self.tables.aged(&self.model, *mail, by));
        }
        self.mails.sort_unstable();
        if self.model.persistent {
            self.mails.dedup();
        }
        if self.model.without_inert {
            let (tables, model, nodes) = (&self.tables, &self.model, &self.nodes[..voters]);
            self.mails.retain(|mail| !tables.inert(model, nodes, *mail));
        }
        if spent == spent_before && self.nodes[..voters] == *nodes && self.mails == mails {
            self.report.idle += 1;
            return;
        }
        let believers = self.nodes[..voters].iter();
        let believers = believers.filter(|node| self.tables.nodes[**node as usize].believes);
        let beside = believers.count() > 1 && self.model.group.judges(Law::OneBelieved);
        self.broken = beside.then_some(Law::OneBelieved);
        self.meet(from, code, spent);
    }

    /// The state that was built: counted, and kept when it is new.
    fn meet(&mut self, from: u32, code: u32, spent: Spent) {
        let voters = self.voters();
        self.report.generated += 1;
        let nodes = &self.nodes[..voters];
        let mut print = self.tables.print(nodes, &self.mails, self.symmetry);
        let mut mix = Mix::new(4);
        (print, spent).hash(&mut mix);
        print = mix.finish();
        // What breaks an invariant is met even if its nodes and messages were met before.
        if !self.seen.insert(print) && self.broken.is_none() {
            return;
        }
        if self.origins.len() >= self.model.bounds.states {
            self.report.cuts[Cut::States as usize] += 1;
            if self.broken.is_none() {
                return;
            }
        }
        self.report.unique += 1;
        self.report.actions[(code >> SHIFT) as usize] += u64::from(from != u32::MAX);
        self.origins.push((from, code));
        if let Some(projected) = &mut self.projected {
            projected.insert(self.tables.projected(nodes));
        }
        let (words, ends) = &mut self.next;
        words.extend_from_slice(&spent.packed());
        words.extend_from_slice(nodes);
        words.extend_from_slice(&self.mails);
        ends.push(words.len());
        if self.broken.is_none()
            && self
                .liveness
                .is_some_and(|one_in| print.is_multiple_of(one_in))
        {
            self.heal(spent);
        }
    }

    /// Asks whether the state that was built heals.
    fn heal(&mut self, spent: Spent) {
        let nodes = self.nodes[..self.voters()].iter();
        let nodes = nodes.map(|node| self.tables.nodes[*node as usize].node.clone());
        let mails = self
            .mails
            .iter()
            .map(|mail| self.tables.mails[*mail as usize].clone());
        match self
            .healer
            .heal(&self.model, spent.phase, nodes.collect(), mails)
        {
            Some(steps) => {
                self.report.healed += 1;
                self.report.slowest = self.report.slowest.max(steps);
            }
            None => self.broken = Some(Law::LeaderAgain),
        }
    }

    fn note_tables(&mut self) {
        self.report.nodes = self.tables.nodes.len();
        self.report.messages = self.tables.mails.len();
        self.report.steps = self.tables.steps();
    }

    fn finish(mut self) -> Report {
        self.note_tables();
        let known = self.tables.nodes.iter().map(|entry| &entry.node);
        let within = known.filter(|node| !self.model.group.beyond(node));
        self.report.outlines = within.map(Node::outline).collect();
        if let Some(law) = self.broken {
            let path = self.path();
            self.report.counterexample = Some(Counterexample::replay(&self.model, law, path));
        }
        self.report.projected = self.projected;
        self.report
    }

    /// The actions that led to the newest state.
    fn path(&self) -> (usize, Vec<Action>) {
        let mut actions = Vec::new();
        let mut at = self.origins.len() - 1;
        loop {
            let (from, code) = self.origins[at];
            if from == u32::MAX {
                break;
            }
            let rest = code & REST;
            let place = (rest & 0xff) as usize;
            actions.push(match code >> SHIFT {
                kind if kind == Kind::Tick as u32 => Action::Tick,
                kind if kind == Kind::Timeout as u32 => Action::Timeout(place),
                kind if kind == Kind::Deliver as u32 => {
                    Action::Deliver(self.tables.mails[rest as usize].clone())
                }
                kind if kind == Kind::Written as u32 => Action::Written(place),
                kind if kind == Kind::Crash as u32 => Action::Crash(place, (rest >> 8) as usize),
                kind if kind == Kind::Campaign as u32 => Action::Campaign(place),
                _ => Action::Resign(place),
            });
            at = from as usize;
        }
        actions.reverse();
        (at, actions)
    }
}
