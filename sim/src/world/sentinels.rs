//! Tells the judges of sentinels what happened to a sentinel or a data server, and shows the news.

use super::{Actor, World};
use crate::check::Fact;
use crate::check::sentinel::Links;
use crate::fault::{Action, Who};
use crate::node::Status;
use crate::physics::NEVER;
use crate::physics::clock::{Clock, TRUE_PACE};
use crate::physics::trace::{Event, Kind};
use crate::scheme::sentinel::{Setup, news};
use tenure::sentinel::data::Data;
use tenure::sentinel::{MasterName, News, Role};
use tenure::{NodeId, Token};

/// The master that clients use.
const FIRST: MasterName = MasterName(0);

impl World {
    fn sentinels(&self) -> Option<Setup> {
        self.setup.sentinels().copied()
    }

    /// Something happened to this member, by an operator's order to fail over if it is `forced`.
    pub(super) fn look_at_sentinels(&mut self, member: usize, forced: bool) {
        let Some(setup) = self.sentinels() else {
            return;
        };
        self.hear_news(member, forced);
        for place in 0..setup.params.servers() {
            self.tell_of_server(&setup, place);
        }
        self.look_at_configurations(&setup);
        self.look_at_masters(&setup);
    }

    fn hear_news(&mut self, member: usize, forced: bool) {
        let (env, Some(Actor::Node(node))) = (&mut self.env, self.actors.get_mut(member)) else {
            return;
        };
        let (lives, own) = (node.lives(), node.clock().reads(env.now).as_micros());
        let Some(machine) = node.machine_mut() else {
            return;
        };
        let mut fresh = Vec::new();
        while let Some(news) = machine.poll_news() {
            fresh.push(news);
        }
        let Some(sentinel) = machine.sentinel() else {
            return;
        };
        env.judge_sentinels(member, |judges, _| {
            judges.lives(member, lives, sentinel);
            Default::default()
        });
        for news in fresh {
            let (code, other, epoch) = news::told(&news);
            let mut event = Event::new(Kind::News, member).a(code);
            event = other.map_or(event, |other| event.with(other.0 as usize));
            env.emit(epoch.map_or(event, |epoch| event.term(epoch)));
            let master = sentinel
                .master(FIRST)
                .map(tenure::sentinel::Master::watched);
            match news {
                News::SdownSet(FIRST, node) if Some(node) == master => {
                    env.stages.suspected(env.now);
                }
                News::TryFailover(name, epoch) => {
                    env.counts.candidacies += 1;
                    if name == FIRST {
                        env.stages.candidacy(epoch);
                    }
                }
                _ => {}
            }
            env.judge_sentinels(member, |judges, now| {
                judges.told(now, own, member, sentinel, news, forced)
            });
        }
        if !sentinel.is_halted() {
            env.judge_sentinels(member, |judges, now| judges.seen(now, member, sentinel));
        }
    }

    /// What a sentinel's disk holds now.
    pub(super) fn look_at_file(&mut self, member: usize) {
        if let (env, Some(Actor::Node(node))) = (&mut self.env, self.actors.get(member))
            && let Some(shelf) = node.disk().durable()
            && let Some(file) = shelf.stored.sentinel()
        {
            env.judge_sentinels(member, |judges, now| judges.wrote(now, member, file));
        }
    }

    /// Whether a server of the first master takes writes, and whether clients find it.
    fn tell_of_server(&mut self, setup: &Setup, place: usize) {
        let actor = setup.nodes + place;
        if setup.group(NodeId(actor as u64)) != Some(FIRST) {
            return;
        }
        let Some(Actor::Server(server)) = self.actors.get(actor) else {
            return;
        };
        let writable = server.is_writable(self.env.now);
        let found = writable && 2 * self.naming(actor) > setup.nodes;
        let told = |judges: &mut crate::check::sentinel::SentinelJudges| {
            judges.changed(place, (writable, found))
        };
        if self.env.judges.sentinels().is_some_and(told) {
            let (epoch, _) = self.highest();
            let event = Event::new(Kind::Serves, actor).term(epoch);
            let event = event.a(u64::from(writable)).b(u64::from(found));
            self.env.emit(event);
            let until = if writable { NEVER - 1 } else { 0 };
            let fact = Fact::Believes {
                node: place,
                token: Token::NONE,
                until,
                running: found,
            };
            let broken = self.env.judges.hear(self.env.now, fact);
            self.env.violated(broken, actor);
        }
    }

    /// How many running sentinels tell clients that this is the first master.
    fn naming(&self, actor: usize) -> usize {
        let names = |node: usize| self.told_by(node, FIRST).is_some_and(|(_, at)| at == actor);
        (0..self.env.nodes).filter(|node| names(*node)).count()
    }

    /// Where a running sentinel tells clients that a master is, and in which epoch that was decided.
    fn told_by(&self, node: usize, name: MasterName) -> Option<(u64, usize)> {
        let node = (self.node(node)?)
            .machine()
            .filter(|_| self.status(node) == Some(Status::Up))?;
        let leader = node.sentinel()?.leader_of(name)?;
        Some((leader.token.counter, leader.node.0 as usize))
    }

    fn data(&self, actor: usize) -> Option<&Data> {
        match self.actors.get(actor)? {
            Actor::Server(server) => server.data(),
            _ => None,
        }
    }

    /// Whether all hold the highest configurations and follow them; and if all hold one, what became of acknowledged writes.
    fn look_at_configurations(&mut self, setup: &Setup) {
        let mut all = true;
        for name in (0..setup.params.masters).map(|master| MasterName(master as u16)) {
            let Some(judges) = self.env.judges.sentinels() else {
                return;
            };
            let ((epoch, address), clashed) = (judges.highest(name), judges.is_clashed(name));
            let held = (epoch, address.0 as usize);
            let running = |node: &usize| self.status(*node) == Some(Status::Up);
            let of = |node: usize| self.told_by(node, name);
            let agree = (0..setup.nodes)
                .filter(running)
                .all(|node| of(node) == Some(held));
            let mut roles = 0;
            let mut follow = true;
            for server in setup.group_of(name) {
                let Some(data) = self.data(server.0 as usize) else {
                    continue;
                };
                let master = data.role() == Role::Master;
                roles = roles << 1 | u64::from(master);
                follow &= match data.master() {
                    None => server == address,
                    Some(of) => of == address && server != address,
                };
            }
            all &= clashed || agree && follow;
            if !agree {
                continue;
            }
            let (env, Some(Actor::Server(server))) = (&mut self.env, self.actors.get(held.1))
            else {
                continue;
            };
            let history = server.data().map(Data::history);
            if let Some(history) = history.filter(|_| server.is_writable(env.now)) {
                env.judge_sentinels(held.1, |judges, now| {
                    judges.settled(now, name, (epoch, roles), history)
                });
            }
        }
        let up = |node: usize| self.status(node) == Some(Status::Up);
        let so = all && (0..self.env.members()).all(up);
        let now = self.env.now;
        if let Some(judges) = self.env.judges.sentinels() {
            judges.converged(now, so);
        }
    }

    /// Whether masters are gone, and could be replaced.
    fn look_at_masters(&mut self, setup: &Setup) {
        let now = self.env.now;
        for name in (0..setup.params.masters).map(|master| MasterName(master as u16)) {
            let Some(judges) = self.env.judges.sentinels_seen() else {
                return;
            };
            let ((_, address), clashed) = (judges.highest(name), judges.is_clashed(name));
            let master = address.0 as usize;
            let runs = self.status(master) == Some(Status::Up);
            let touches = |server: &NodeId| match self.actors.get(server.0 as usize) {
                Some(Actor::Server(server)) => server.is_in_touch(now, address),
                _ => false,
            };
            let in_touch: Vec<NodeId> = setup.group_of(name).filter(touches).collect();
            let Some(judges) = self.env.judges.sentinels() else {
                return;
            };
            judges.master_at(now, name, address, runs);
            for server in in_touch {
                judges.in_touch(now, server, address);
            }
            let so = !runs && !clashed && self.can_replace(setup, name, address);
            if let Some(judges) = self.env.judges.sentinels() {
                judges.is_to_replace(now, name, so);
            }
        }
    }

    /// Whether the sentinels that run are a majority, and talk to each other and to a good replica as when all is well.
    fn can_replace(&self, setup: &Setup, name: MasterName, address: NodeId) -> bool {
        let (env, rate_bound) = (&self.env, self.setup.rate_bound());
        let links = &env.net.links;
        let true_to = |clock: &Clock| clock.pace().abs_diff(TRUE_PACE) <= rate_bound;
        let sound = |node: &usize| {
            self.status(*node) == Some(Status::Up)
                && self.node(*node).is_some_and(|node| {
                    node.takes() == 0 && !node.disk().is_damaged() && true_to(node.clock())
                })
        };
        let running = (0..setup.nodes).filter(|node| self.status(*node) == Some(Status::Up));
        let running: Vec<usize> = running.collect();
        let talk = |one: usize, other: usize| {
            [(one, other), (other, one)].iter().all(|(from, to)| {
                from == to || !links.is_cut(*from, *to) && links.delay(*from, *to).0 == 0
            })
        };
        let reached = |other: usize| running.iter().all(|node| talk(*node, other));
        let good = |server: NodeId| match self.actors.get(server.0 as usize) {
            Some(Actor::Server(one)) => {
                one.status() == Status::Up
                    && true_to(one.clock())
                    && one
                        .data()
                        .is_some_and(|data| data.master() == Some(address))
                    && reached(server.0 as usize)
                    && (env.judges.sentinels_seen())
                        .is_some_and(|judges| judges.is_good(name, server))
            }
            _ => false,
        };
        2 * running.len() > setup.nodes
            && running.len() >= setup.quorum()
            && env.net.weather() == self.base.weather
            && running.iter().all(sound)
            && running.iter().all(|node| reached(*node))
            && setup.group_of(name).any(good)
    }

    /// Who runs and can reach whom.
    pub(super) fn look_at_reach(&mut self) {
        if self.sentinels().is_none() {
            return;
        }
        let members = self.env.members();
        let status: Vec<_> = (0..members).map(|member| self.status(member)).collect();
        let slow: Vec<bool> = (0..members)
            .map(|member| self.node(member).is_some_and(|node| node.takes() > 0))
            .collect();
        let env = &mut self.env;
        let (weather, links) = (env.net.weather(), &env.net.links);
        let calm = weather == self.base.weather;
        let delay = |from, to| links.delay(from, to).0;
        let pairs = (0..members).flat_map(|from| (0..members).map(move |to| (from, to)));
        let longest = pairs.map(|(from, to)| delay(from, to)).max().unwrap_or(0);
        let seen = Links {
            runs: &|member| status[member] == Some(Status::Up),
            carries: &|from, to| !links.is_cut(from, to),
            swift: &|one, other| {
                calm && !slow[one]
                    && !slow[other]
                    && delay(one, other) == 0
                    && delay(other, one) == 0
            },
            slowest: weather.latency_max.saturating_add(longest),
        };
        let now = env.now;
        if let Some(judges) = env.judges.sentinels() {
            judges.links(now, &seen);
        }
    }

    /// An action was carried out: it may have been on anybody.
    pub(super) fn acted_on_sentinels(&mut self, action: &Action) {
        if self.sentinels().is_none() {
            return;
        }
        let on = action.who().and_then(|who| match who {
            Who::Node(node) => Some(usize::from(node)),
            _ => None,
        });
        match (action, on) {
            (Action::Clock(_, _, jump), Some(node)) if *jump != 0 => self.tell_of_jump(node),
            _ => {}
        }
        let now = self.env.now;
        if let Some(judges) = self.env.judges.sentinels() {
            judges.acted(now);
        }
        let ordered = matches!(action, Action::Campaign(_));
        for node in 0..self.env.nodes {
            self.look_at_sentinels(node, ordered && on == Some(node));
        }
    }

    /// A clock jumped.
    fn tell_of_jump(&mut self, member: usize) {
        let now = self.env.now;
        if let Some(judges) = self.env.judges.sentinels() {
            judges.jumped(now, member);
        }
    }

    /// Runs until all have converged for a while, or to the end of the run, which is then: when that is.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn run_till_converged(&mut self, while_at_most: u64) -> u64 {
        let quiet = while_at_most.min(2_000_000);
        let mut since = None;
        while self.now() + 1 < self.duration() {
            let next = (self.now() + 500_000).min(self.duration());
            self.run_until(next - 1);
            let converged = (self.env.judges.sentinels_seen())
                .is_some_and(crate::check::sentinel::SentinelJudges::is_converged);
            let led = self.env.judges.belief().without_leader;
            since = match since {
                Some((at, before)) if converged && before == led => Some((at, before)),
                _ if converged => Some((self.now(), led)),
                _ => None,
            };
            if since.is_some_and(|(at, _)| self.now() - at >= quiet) {
                self.duration = self.now() + 1;
                break;
            }
        }
        self.duration
    }

    /// The epoch of the highest configuration of the first master that anybody held, and where it says that the master is.
    fn highest(&self) -> (u64, NodeId) {
        let judges = self.env.judges.sentinels_seen();
        judges.map_or((0, NodeId(0)), |judges| judges.highest(FIRST))
    }

    /// The first master, by the highest configuration that anybody held.
    pub(super) fn first_master(&self) -> Option<usize> {
        self.sentinels()?;
        let (_, address) = self.highest();
        Some(address.0 as usize)
    }

    /// The first master where it takes writes and a majority of the sentinels name it, and the epoch in which it was made so.
    pub(super) fn serving_master(&self) -> Option<(usize, u64)> {
        let master = self.first_master()?;
        let (epoch, _) = self.highest();
        let Some(Actor::Server(server)) = self.actors.get(master) else {
            return None;
        };
        let found = server.is_writable(self.now()) && 2 * self.naming(master) > self.env.nodes;
        found.then_some((master, epoch))
    }

    /// Whether a majority of the sentinels can reach a server, there and back.
    pub(super) fn is_watched(&self, server: usize) -> bool {
        let reaches = |node: &usize| {
            self.status(*node) == Some(Status::Up)
                && !self.env.net.links.is_cut(*node, server)
                && !self.env.net.links.is_cut(server, *node)
        };
        2 * (0..self.env.nodes).filter(reaches).count() > self.env.nodes
    }
}
