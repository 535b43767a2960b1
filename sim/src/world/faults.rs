//! Carrying out actions, and noticing when one had no effect (law W3).

use super::fared::FaultCounts;
use super::{Actor, World};
use crate::check::Fact;
use crate::fault::{Action, Fault, Plan, Who};
use crate::node::{Node, Status};
use crate::physics::Blame;
use crate::physics::clock::TRUE_PACE;
use crate::physics::trace::{Event, Kind};
use crate::scenario::Refusal;
use crate::scheme::{Machine, RoleCode};
use tenure::Input;

impl World {
    /// Adds an action at the present, and carries it out after all else that happens at this instant.
    ///
    /// # Errors
    /// When there are as many as may be.
    pub fn act(&mut self, action: Action) -> Result<(), Refusal> {
        self.plan.insert(self.env.now, action)?;
        self.run_until(self.env.now);
        Ok(())
    }

    /// Plans other actions from here on. The actions already done must be the same, at the same places.
    pub(crate) fn set_plan(&mut self, plan: &Plan) {
        debug_assert!(plan.get(..self.next) == self.plan.get(..self.next));
        self.plan = plan.clone();
    }

    /// How the actions fared.
    #[must_use]
    pub fn faults(&self) -> FaultCounts {
        self.env.fared.counts().of_plan(&self.plan)
    }

    /// How many actions came, and how many had an effect.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn done(&self) -> [u32; 2] {
        let FaultCounts {
            fired, effective, ..
        } = self.env.fared.counts();
        [fired, effective].map(|counts| counts.iter().sum())
    }

    /// All actions, done and planned, in order of time.
    #[must_use]
    pub fn plan(&self) -> &[Fault] {
        &self.plan
    }

    pub(super) fn apply_next(&mut self) {
        let place = self.next;
        // Clones share the actions.
        let plan = self.plan.clone();
        let Some(Fault { action, .. }) = plan.get(place) else {
            return;
        };
        self.next += 1;
        self.env.trace.cause = -1;
        let by = place as Blame;
        self.env.act = by;
        self.env.fared.comes(action);
        let led = self.led();
        let effect = self.carry_out(action);
        self.note_loss(led);
        #[cfg(feature = "peers")]
        self.acted_on_sentinels(action);
        if effect {
            self.env.fared.has_effect(by, action);
        }
        self.note_wholeness();
        if !effect {
            self.env.trace.cause = -1;
            self.env.emit(Event::new(Kind::NoEffect, 0).a(place as u64));
        }
    }

    /// Who leads, and whether a quorum can answer it.
    pub(super) fn led(&self) -> Option<(usize, bool)> {
        #[cfg(feature = "peers")]
        if let Some(master) = self.first_master() {
            return Some((master, self.is_watched(master)));
        }
        let leader = self.resolve(Who::Leader)?;
        Some((leader, self.reaches_quorum(leader)))
    }

    /// Notes when what was done since took the leader away.
    pub(super) fn note_loss(&mut self, led: Option<(usize, bool)>) {
        if let Some((leader, reached)) = led
            && self.is_lost(leader, reached)
        {
            self.env.stages.lost(self.env.now);
        }
    }

    /// Who leads is asked for something that concerns the others.
    fn ask_leader(&mut self, action: &Action) -> bool {
        let heir = match action {
            Action::Transfer(heir) => self.resolve(*heir),
            _ => None,
        };
        let Some(me) = self.resolve(Who::Leader) else {
            return false;
        };
        let (env, Some(Actor::Node(node))) = (&mut self.env, self.actors.get_mut(me)) else {
            return false;
        };
        match (action, heir) {
            (Action::Change(voters, learners), _) => node.change_members(env, me, voters, learners),
            (_, Some(heir)) => node.hand_over(env, me, heir),
            _ => false,
        }
    }

    fn carry_out(&mut self, action: &Action) -> bool {
        if matches!(action, Action::Change(..) | Action::Transfer(_)) {
            return self.ask_leader(action);
        }
        if let Some(who) = action.who() {
            return self.carry_out_on(who, action);
        }
        match action {
            Action::Cut(from, to)
            | Action::Heal(from, to)
            | Action::Disconnect(from, to)
            | Action::Flap(from, to, _)
            | Action::Delay(from, to, _) => match (self.resolve(*from), self.resolve(*to)) {
                (Some(from), Some(to)) => self.carry_out_between(from, to, action),
                _ => false,
            },
            Action::Partition(groups) => self.partition(groups),
            Action::Network(weather) => {
                let changed = self.env.net.change(*weather, self.env.act);
                if changed {
                    self.env.rough = self.env.act;
                }
                changed
            }
            _ => self.heal_all(),
        }
    }

    /// The machine of a process that died closes its connections: a server that it reaches ends the session. Where the machine is
    /// gone, too, or is cut off, nothing does.
    #[cfg(feature = "stores")]
    fn end_sessions(&mut self, node: usize) {
        if !self.setup.has_sessions() {
            return;
        }
        for member in self.env.nodes..self.env.members() {
            if !self.env.net.links.is_cut(node, member)
                && let Some(Actor::Server(server)) = self.actors.get_mut(member)
            {
                server.connection(&mut self.env, member, node, false);
            }
        }
    }

    fn carry_out_between(&mut self, from: usize, to: usize, action: &Action) -> bool {
        let (now, by) = (self.env.now, self.env.act);
        match action {
            Action::Cut(..) => self.cut(from, to, by),
            Action::Flap(_, _, rhythm) => self.flap(from, to, *rhythm),
            Action::Delay(_, _, delay) => self.env.net.links.set_delay(from, to, *delay, by),
            Action::Disconnect(..) => {
                let broke = self.env.net.disconnect(now, from, to, by);
                self.env.tell_connections();
                broke
            }
            _ => self.stop_flapping(from, to) | self.heal(from, to),
        }
    }

    fn carry_out_on(&mut self, who: Who, action: &Action) -> bool {
        let Some(me) = self.resolve(who) else {
            return false;
        };
        let env = &mut self.env;
        let node = match self.actors.get_mut(me) {
            Some(Actor::Node(node)) => node,
            Some(Actor::Server(server)) => return server.carry_out(env, me, action),
            _ => return false,
        };
        match action {
            Action::Crash(_) => {
                let died = node.crash(env, me, env.act);
                #[cfg(feature = "stores")]
                if died {
                    self.end_sessions(me);
                }
                died
            }
            // What a node had not synced goes with its process, too.
            Action::PowerCut(_) => node.crash(env, me, env.act),
            Action::Restart(_) => node.start(env, me, &self.setup),
            Action::Pause(_) => node.pause(env, me),
            Action::Resume(_) => node.resume(env, me),
            Action::Resign(_) => node.wish(env, me, Input::Resign { to: None }),
            Action::Campaign(_) => node.wish(env, me, Input::Campaign),
            Action::Disk(_, takes) => node.mend(env, *takes),
            Action::Slow(_, takes) => node.set_takes(env, me, *takes),
            Action::Clock(_, pace, jump) => node.set_clock(env, me, *pace, *jump),
            Action::Damage(_, damage) => node.damage(env, me, *damage),
            _ => false,
        }
    }

    pub(super) fn cut(&mut self, from: usize, to: usize, by: Blame) -> bool {
        let cut = self.sever(from, to, by);
        if cut {
            self.strand(&[(from, to)], by);
        }
        cut
    }

    fn sever(&mut self, from: usize, to: usize, by: Blame) -> bool {
        let cut = self.env.net.sever(from, to, by);
        if cut {
            self.env.emit(Event::new(Kind::Cut, from).with(to));
        }
        cut
    }

    /// Links that were just severed take what is on them.
    fn strand(&mut self, links: &[(usize, usize)], by: Blame) {
        if self.env.net.strand(self.env.now, links, by) {
            self.env.fared.notice(by);
        }
        self.env.tell_connections();
    }

    pub(super) fn heal(&mut self, from: usize, to: usize) -> bool {
        let healed = self.env.net.heal(self.env.now, from, to);
        if healed {
            self.env.emit(Event::new(Kind::Heal, from).with(to));
            if self.env.net.links.cuts() == 0 {
                self.env.emit(Event::new(Kind::Healed, 0));
            }
            self.env.tell_connections();
        }
        healed
    }

    fn heal_all(&mut self) -> bool {
        let nodes = self.env.members();
        let mut any = self.flaps.stop_all() | self.env.net.links.end_delays();
        for from in 0..nodes {
            for to in 0..nodes {
                any |= self.heal(from, to);
            }
        }
        any
    }

    /// Links between groups are cut, links within a group carry.
    fn partition(&mut self, members: &[(u16, Who)]) -> bool {
        let nodes = self.env.members();
        let Some(group) = self.resolve_groups(members) else {
            return false;
        };
        let (mut any, mut severed) = (false, Vec::new());
        for (from, of_from) in group.iter().enumerate().take(nodes) {
            for (to, of_to) in group.iter().enumerate().take(nodes) {
                if of_from == of_to {
                    any |= self.heal(from, to);
                } else if self.sever(from, to, self.env.act) {
                    severed.push((from, to));
                }
            }
        }
        if severed.is_empty() {
            return any;
        }
        self.strand(&severed, self.env.act);
        true
    }

    /// The group of each node; `None` when somebody named by a role is not there. Names come first, then roles, then the
    /// rest; nodes that nobody named are a group of their own.
    fn resolve_groups(&self, members: &[(u16, Who)]) -> Option<Vec<u16>> {
        const UNNAMED: u16 = u16::MAX;
        let mut group = vec![UNNAMED; self.env.members()];
        for by_role in [false, true] {
            for (place, who) in members.iter().filter(|(_, who)| {
                *who != Who::Rest && matches!(who, Who::Node(_) | Who::Server(_)) != by_role
            }) {
                let node = match who {
                    Who::Follower => self.followers().find(|node| group[*node] == UNNAMED)?,
                    who => self.resolve(*who)?,
                };
                *group.get_mut(node)? = *place;
            }
        }
        if let Some((place, _)) = members.iter().find(|(_, who)| *who == Who::Rest) {
            for group in group.iter_mut().filter(|group| **group == UNNAMED) {
                *group = *place;
            }
        }
        Some(group)
    }

    fn resolve(&self, who: Who) -> Option<usize> {
        let with =
            |status: Status| (0..self.env.nodes).find(|node| self.status(*node) == Some(status));
        match who {
            Who::Node(node) => Some(node as usize).filter(|node| *node < self.env.members()),
            #[cfg(feature = "peers")]
            Who::Leader if self.first_master().is_some() => self.first_master(),
            Who::Leader => self.acting_leader(),
            Who::Follower => self.followers().next(),
            Who::Crashed => with(Status::Crashed),
            Who::Paused => with(Status::Paused),
            Who::Rest => None,
            Who::Server(server) => Some(self.env.server_actor(server as usize))
                .filter(|server| *server < self.env.members()),
        }
    }

    /// The node that leads: of those that run and believe the one with the highest token, else the one elected in the
    /// highest term.
    pub(crate) fn acting_leader(&self) -> Option<usize> {
        #[cfg(feature = "peers")]
        if let Some(master) = self.first_master() {
            return Some(master).filter(|master| self.status(*master) == Some(Status::Up));
        }
        let believing = self
            .rafts()
            .filter_map(|(node, raft)| raft.leads_at(self.env.now).map(|(token, _)| (token, node)));
        let elected = || {
            self.rafts()
                .filter(|(_, raft)| {
                    raft.status() == Status::Up && raft.look().role == RoleCode::Elected
                })
                .map(|(node, raft)| (raft.look().term, node))
                .max()
        };
        believing
            .filter(|(_, node)| self.status(*node) == Some(Status::Up))
            .max()
            .map_or_else(|| elected().map(|(_, node)| node), |(_, node)| Some(node))
    }

    fn followers(&self) -> impl Iterator<Item = usize> {
        let leader = self.acting_leader();
        (0..self.env.nodes)
            .filter(move |node| self.status(*node) == Some(Status::Up) && Some(*node) != leader)
    }

    /// Whether a quorum of those that a node takes for members, or of the servers of its store, can answer it: they run, and
    /// the links carry both ways.
    fn reaches_quorum(&self, node: usize) -> bool {
        let answers = |other: usize| {
            self.status(other) == Some(Status::Up)
                && !self.env.net.links.is_cut(node, other)
                && !self.env.net.links.is_cut(other, node)
        };
        match self.node(node).and_then(Node::machine) {
            Some(Machine::Raft(raft)) => {
                let membership = raft.membership();
                membership.is_quorum(|place| answers(membership.members()[place].id.0 as usize))
            }
            #[cfg(feature = "peers")]
            Some(Machine::Zab(zab)) => {
                let ensemble = &zab.config().ensemble;
                ensemble.is_quorum(|place| answers(ensemble.members()[place].id.0 as usize))
            }
            #[cfg(feature = "peers")]
            Some(Machine::Sentinel(_)) => {
                2 * (0..self.env.nodes).filter(|node| answers(*node)).count() > self.env.nodes
            }
            #[cfg(feature = "peers")]
            Some(Machine::Kraft(kraft)) => {
                let voters = kraft.config().voters.ids();
                let there = voters.iter().filter(|id| answers(id.0 as usize));
                2 * there.count() > voters.len()
            }
            Some(Machine::Lease(_)) => {
                let servers = self.env.nodes..self.env.members();
                let all = servers.len();
                2 * servers.filter(|server| answers(*server)).count() > all
            }
            None => false,
        }
    }

    /// Whether an action took the leader away: it does not run or lead any more, or lost its majority just now.
    fn is_lost(&self, leader: usize, reached: bool) -> bool {
        #[cfg(feature = "peers")]
        if self.first_master().is_some() {
            let ran = self.status(leader) == Some(Status::Up);
            return !ran || (reached && !self.is_watched(leader));
        }
        let leads = self
            .rafts()
            .any(|(node, raft)| node == leader && raft.look().role.leads());
        self.status(leader) != Some(Status::Up)
            || !leads
            || (reached && !self.reaches_quorum(leader))
    }

    pub(super) fn note_wholeness(&mut self) {
        #[cfg(feature = "peers")]
        self.look_at_reach();
        let base = self.base;
        let rate_bound = self.setup.rate_bound();
        let whole = self.env.net.links.cuts() == 0
            && self.flaps.is_empty()
            && self.env.net.weather() == base.weather
            && !self.env.net.links.has_delays()
            && self.rafts().all(|(_, raft)| {
                raft.status() == Status::Up
                    && raft.look().role != RoleCode::Halted
                    && raft.takes() == 0
                    && raft.disk().takes == base.disk
                    && !raft.disk().is_damaged()
                    && raft.clock().pace().abs_diff(TRUE_PACE) <= rate_bound
            })
            && self.servers().all(|server| {
                #[cfg(feature = "peers")]
                if server.is_damaged() {
                    return false;
                }
                server.status() == Status::Up
                    && server.clock().pace().abs_diff(TRUE_PACE) <= rate_bound
            });
        if whole != self.whole {
            self.whole = whole;
            self.env.hear(Fact::Whole(whole));
        }
    }
}
