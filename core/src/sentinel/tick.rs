//! What happens when: a sentinel looks at everything it watches ten to twenty times a second, in a fixed order.
//!
//! For each master: questions, then (unless in tilt) whether it is down, whether a quorum says so, whether to begin a failover, the
//! next step of one, and the question to the others; then the same for its replicas and the other sentinels as far as it
//! applies; and at last the configuration is switched, if a failover has come to that.

use super::instance::Instance;
use super::message::{Hello, Message, Role};
use super::news::News;
use super::{Rule, Rules, Sentinel, Stage, timing};
use crate::NodeId;

/// Which of those that are watched.
#[derive(Clone, Copy, Debug)]
pub(super) enum Which {
    Master,
    Replica(usize),
    Sentry(usize),
}

impl<R: Rules> Sentinel<R> {
    pub(super) fn draw_tick(&mut self) {
        let (low, high) = timing::TICK;
        self.tick_at = self.now + self.random.duration(low, high);
    }

    pub(super) fn tick(&mut self) {
        self.look_at_the_clock();
        for place in 0..self.masters.len() {
            self.look_at(place, Which::Master);
            if self.tilt.is_none() {
                self.look_for_odown(place);
                let begun = self.begin_if_due(place);
                if begun {
                    self.ask_the_others(place, true);
                }
                self.take_step(place);
                self.ask_the_others(place, false);
            }
            for one in 0..self.masters[place].replicas.len() {
                self.look_at(place, Which::Replica(one));
            }
            for one in 0..self.masters[place].sentinels.len() {
                self.look_at(place, Which::Sentry(one));
            }
            let switches = (self.masters[place].failover.as_ref())
                .is_some_and(|failover| failover.stage == Stage::UpdateConfig);
            if switches && self.tilt.is_none() {
                self.switch_to_promoted(place);
            }
        }
        self.draw_tick();
    }

    /// SEN-R3. Where the real one reads a clock that can go back, too, `now` cannot here.
    fn look_at_the_clock(&mut self) {
        let gap = self.now.since(self.ticked);
        self.ticked = self.now;
        if gap > timing::TILT_TRIGGER && self.rules.keeps(Rule::TiltOnlyWatches) {
            if self.tilt.is_none() {
                self.news.post(News::TiltEntered);
            }
            self.tilt = Some(self.now);
        } else if self
            .tilt
            .is_some_and(|since| self.now.since(since) > timing::TILT)
        {
            self.tilt = None;
            self.news.post(News::TiltLeft);
        }
    }

    pub(super) fn instance(&mut self, place: usize, which: Which) -> &mut Instance {
        let master = &mut self.masters[place];
        match which {
            Which::Master => &mut master.at,
            Which::Replica(one) => &mut master.replicas[one].at,
            Which::Sentry(one) => &mut master.sentinels[one].at,
        }
    }

    /// What is due for one node, whatever it is.
    fn look_at(&mut self, place: usize, which: Which) {
        self.ask_after(place, which);
        if self.tilt.is_none() {
            self.look_for_sdown(place, which);
        }
    }

    fn ask_after(&mut self, place: usize, which: Which) {
        let now = self.now;
        let period = self.masters[place].monitor.ping_period();
        let info = match which {
            Which::Master => Some(timing::INFO),
            Which::Replica(one) => Some(self.info_period(place, one)),
            Which::Sentry(_) => None,
        };
        let one = self.instance(place, which);
        let node = one.node;
        let (ping, hello) = (one.wants_ping(now, period), one.wants_hello(now));
        if info.is_some_and(|period| one.wants_info(now, period)) {
            let query = self.question();
            self.instance(place, which).asked(now, query.number);
            self.send(node, Message::Info { query });
        }
        if ping {
            let query = self.question();
            self.instance(place, which).pinged(now, query.number);
            self.send(node, Message::Ping { query });
        }
        if hello {
            self.instance(place, which).published(now);
            let hello = Message::Hello(self.hello(place));
            self.say(node, hello);
        }
    }

    /// A replica is asked more often while it matters what it says.
    fn info_period(&self, place: usize, one: usize) -> crate::Duration {
        let master = &self.masters[place];
        let broken = |replica: &super::Replica| {
            let report = replica.report();
            report.is_some_and(|report| report.role == Role::Replica && report.link_down.is_some())
        };
        if master.odown || master.failover.is_some() || broken(&master.replicas[one]) {
            timing::INFO_SOON
        } else {
            timing::INFO
        }
    }

    /// What it tells about itself and this master.
    pub(super) fn hello(&self, place: usize) -> Hello {
        let master = &self.masters[place];
        Hello {
            sentinel: self.config.id,
            id: self.id,
            current_epoch: self.current_epoch,
            name: master.monitor.name,
            master: master.address(),
            config_epoch: master.config_epoch,
        }
    }

    /// All are told of the configuration with the next tick.
    pub(super) fn hurry_hellos(&mut self, place: usize) {
        (self.masters[place].instances()).for_each(Instance::hurry_hello);
    }

    /// A message arrived.
    pub(super) fn hear(&mut self, from: NodeId, message: Message) {
        use super::Refusal;
        if from == self.config.id {
            return self.refusals.add(Refusal::UnknownSender);
        }
        match message {
            Message::Ping { query } => {
                let life = super::Life::Pong;
                self.send(from, Message::Pong { query, life });
            }
            Message::Pong { query, life } => self.on_pong(from, query, life),
            Message::Told {
                query,
                report,
                replicas,
            } => self.on_told(from, query, report, &replicas),
            Message::Ask {
                query,
                master,
                epoch,
                candidate,
            } => self.on_ask(from, query, master, epoch, candidate),
            Message::Answer {
                query,
                master,
                down,
                leader,
                epoch,
            } => self.on_answer(
                from,
                query,
                master,
                down,
                leader.map(|leader| (leader, epoch)),
            ),
            Message::Hello(hello) => self.on_hello(hello),
            Message::Closed => self.on_closed(from),
            Message::Info { .. }
            | Message::ReplicaOf(_)
            | Message::Psync { .. }
            | Message::Stream { .. }
            | Message::Full(_) => self.refusals.add(Refusal::NotForSentinels),
        }
    }
}
