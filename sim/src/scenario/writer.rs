//! Writing the file format, version 1: whole, with every default spelt out.

use super::names::{ORDERS, TAKEOVER_OF, TAKEOVERS, THROUGH, THROUGH_OF};
use super::units::{write_jump, write_rate, write_share, write_span};
use super::{Bilingual, Elects, Lease, Scenario, VERSION, who_name};
use crate::fault::{Action, Fault, Who};
use crate::json::Writer;
use crate::physics::disk::Takes;
use crate::physics::weather::Weather;
#[cfg(feature = "peers")]
use crate::scheme::{kraft, sentinel, zab::Params};

/// Writes a file that reads back as the scenario.
pub(super) fn write(scenario: &Scenario) -> String {
    let mut w = Writer::object();
    w.plain("tenure", &VERSION.to_string());
    w.bilingual("title", &scenario.title);
    w.bilingual("lesson", &scenario.lesson);
    w.text("seed", &scenario.seed.to_string());
    w.text("scheme", scenario.scheme());
    w.plain("nodes", &scenario.nodes.to_string());
    match &scenario.elects {
        Elects::Raft => w.raft(scenario),
        Elects::ByStore(lease) => w.lease(lease),
        #[cfg(feature = "peers")]
        Elects::Zab(params) => w.zab(params),
        #[cfg(feature = "peers")]
        Elects::Sentinel(params) => w.sentinel(params),
        #[cfg(feature = "peers")]
        Elects::Kraft(params) => {
            w.kraft(params);
            if let Some(brokers) = &params.brokers {
                w.brokers(brokers);
            }
        }
    }
    let off = scenario.rules_off();
    if !off.is_empty() {
        w.open("rulesOff", '[');
        for rule in off {
            w.item(rule);
        }
        w.close(']');
    }
    w.network(scenario.weather);
    if !scenario.clocks.is_empty() {
        w.open("clocks", '[');
        for pace in &scenario.clocks {
            w.item(&write_rate(*pace));
        }
        w.close(']');
    }
    if scenario.lease().is_none() {
        w.open("disk", '{');
        w.takes(scenario.disk);
        w.close('}');
    }
    let clients = scenario.clients;
    w.open("client", '{');
    w.span("every", clients.every);
    w.span("think", clients.think);
    w.span("writeDelay", clients.write_delay);
    let takeover = TAKEOVER_OF
        .iter()
        .position(|takeover| *takeover == clients.takeover);
    w.text("takeover", takeover.map_or("", |place| TAKEOVERS[place]));
    let through = THROUGH_OF
        .iter()
        .position(|through| *through == clients.through);
    w.text("through", through.map_or("", |place| THROUGH[place]));
    if clients.watches {
        w.plain("watches", "true");
    }
    w.close('}');
    if let Some(jobs) = scenario.jobs {
        w.open("jobs", '{');
        w.span("every", jobs.every);
        w.span("takes", jobs.takes);
        w.close('}');
    }
    w.span("leaderWithin", scenario.leader_within);
    w.span("duration", scenario.duration);
    if !scenario.faults.is_empty() {
        w.open("faults", '[');
        for fault in &scenario.faults {
            w.fault(fault, scenario.server_letter());
        }
        w.close(']');
    }
    if !scenario.expect.is_empty() {
        w.open("expect", '{');
        for (check, outcome) in &scenario.expect {
            w.text(check.name(), outcome.name());
        }
        w.close('}');
    }
    w.finish()
}

impl Writer {
    #[inline(never)]
    fn raft(&mut self, scenario: &Scenario) {
        let timing = scenario.timing;
        self.open("raft", '{');
        self.range(
            "electionTimeout",
            timing.election_min.as_micros(),
            timing.election_max.as_micros(),
        );
        self.span("heartbeat", timing.heartbeat.as_micros());
        self.text("rateBound", &write_share(timing.rate_bound));
        self.plain(
            "safeMode",
            if scenario.safe_mode { "true" } else { "false" },
        );
        if scenario.log {
            self.plain("log", "true");
        }
        if scenario.outside > 0 {
            self.plain("outside", &scenario.outside.to_string());
        }
        self.close('}');
    }

    #[inline(never)]
    fn lease(&mut self, lease: &Lease) {
        let timing = lease.timing;
        self.open("lease", '{');
        if let Some(preset) = lease.preset {
            self.text("preset", preset.name());
        }
        for (name, span) in [
            ("ttl", timing.ttl),
            ("renew", timing.renew),
            ("retry", timing.retry),
            ("patience", timing.patience),
            ("margin", timing.margin),
            ("latency", lease.latency),
        ] {
            self.span(name, span.as_micros());
        }
        if let Some(deadline) = lease.renew_deadline {
            self.span("renewDeadline", deadline.as_micros());
        }
        self.text("rateBound", &write_share(timing.rate.0));
        if lease.kind.servers() > 1 || lease.servers > 1 {
            self.plain("servers", &lease.servers.to_string());
        }
        self.close('}');
    }

    #[cfg(feature = "peers")]
    #[inline(never)]
    fn zab(&mut self, params: &Params) {
        let timing = params.timing;
        self.open("zab", '{');
        self.span("tick", timing.tick.as_micros());
        self.plain("initLimit", &timing.init_limit.to_string());
        self.plain("syncLimit", &timing.sync_limit.to_string());
        self.span("finalizeWait", timing.finalize_wait.as_micros());
        self.range(
            "notification",
            timing.min_notification.as_micros(),
            timing.max_notification.as_micros(),
        );
        if let Some(patience) = timing.epoch_patience {
            self.span("epochPatience", patience.as_micros());
        }
        self.plain("observers", &params.observers.to_string());
        self.close('}');
    }

    #[cfg(feature = "peers")]
    #[inline(never)]
    fn sentinel(&mut self, params: &sentinel::Params) {
        self.open("sentinel", '{');
        self.plain("masters", &params.masters.to_string());
        self.plain("replicas", &params.replicas.to_string());
        if let Some(quorum) = params.quorum {
            self.plain("quorum", &quorum.to_string());
        }
        self.span("downAfter", params.down_after.as_micros());
        self.span("failoverTimeout", params.failover_timeout.as_micros());
        self.plain("parallelSyncs", &params.parallel_syncs.to_string());
        self.plain("minReplicasToWrite", &params.min_replicas.to_string());
        self.span("maxLag", params.max_lag.as_micros());
        self.span("fullSync", params.full_sync.as_micros());
        let persistent = if params.persistent { "true" } else { "false" };
        self.plain("persistent", persistent);
        self.close('}');
    }

    #[cfg(feature = "peers")]
    #[inline(never)]
    fn kraft(&mut self, params: &kraft::Params) {
        let timing = params.timing;
        self.open("kraft", '{');
        for (name, span) in [
            ("electionTimeout", timing.election_timeout),
            ("fetchTimeout", timing.fetch_timeout),
            ("electionBackoffMax", timing.election_backoff_max),
            ("requestTimeout", timing.request_timeout),
            ("retryBackoff", timing.retry_backoff),
            ("appendLinger", timing.append_linger),
            ("fetchMaxWait", timing.fetch_max_wait),
        ] {
            self.span(name, span.as_micros());
        }
        self.plain("observers", &params.observers.to_string());
        self.close('}');
    }

    #[cfg(feature = "peers")]
    #[inline(never)]
    fn brokers(&mut self, params: &crate::brokers::Params) {
        self.open("brokers", '{');
        for (name, count) in [
            ("count", params.count as u64),
            ("topics", params.topics),
            ("partitions", params.partitions.into()),
            ("replicationFactor", params.replication.into()),
            ("minInsyncReplicas", params.min_isr.into()),
        ] {
            self.plain(name, &count.to_string());
        }
        let all = params.acks == tenure::isr::Acks::All;
        self.text("acks", if all { "all" } else { "1" });
        self.plain(
            "uncleanLeaderElection",
            if params.unclean { "true" } else { "false" },
        );
        self.plain(
            "eligibleLeaderReplicas",
            if params.elr { "true" } else { "false" },
        );
        for (name, span) in [
            ("sessionTimeout", params.session),
            ("heartbeatInterval", params.heartbeat),
            ("replicaLagTimeMax", params.lag),
            ("replicaFetchWaitMax", params.wait),
        ] {
            self.span(name, span.as_micros());
        }
        if let Some(span) = params.recreate {
            self.span("recreateTopics", span.as_micros());
        }
        self.close('}');
    }

    #[inline(never)]
    fn bilingual(&mut self, name: &str, text: &Bilingual) {
        if *text != Bilingual::default() {
            self.open(name, '{');
            self.text("en", &text.en);
            self.text("zh", &text.zh);
            self.close('}');
        }
    }

    #[inline(never)]
    fn span(&mut self, name: &str, micros: u64) {
        self.text(name, &write_span(micros));
    }

    #[inline(never)]
    fn range(&mut self, name: &str, low: u64, high: u64) {
        self.open(name, '[');
        self.item(&write_span(low));
        self.item(&write_span(high));
        self.close(']');
    }

    #[inline(never)]
    fn network(&mut self, weather: Weather) {
        self.open("network", '{');
        self.range("latency", weather.latency_min, weather.latency_max);
        self.text("loss", &write_share(weather.loss));
        self.text("duplicate", &write_share(weather.duplicate));
        self.text("order", ORDERS[usize::from(weather.fifo)]);
        self.text("replay", &write_share(weather.replay));
        self.range("replayAfter", weather.replay_min, weather.replay_max);
        self.close('}');
    }

    #[inline(never)]
    fn takes(&mut self, takes: Takes) {
        self.span("write", takes.write);
        self.span("rename", takes.rename);
    }

    #[inline(never)]
    fn node(&mut self, name: &str, letter: char, who: Who) {
        self.text(name, &who_name(letter, who));
    }

    #[inline(never)]
    fn link(&mut self, action: &str, letter: char, [from, to]: [Who; 2]) {
        self.open(action, '[');
        self.item(&who_name(letter, from));
        self.item(&who_name(letter, to));
        self.close(']');
    }

    fn fault(&mut self, fault: &Fault, letter: char) {
        self.comma();
        self.out.push('{');
        self.span("at", fault.at);
        match &fault.action {
            Action::Cut(from, to) => self.link("cut", letter, [*from, *to]),
            Action::Heal(from, to) => self.link("heal", letter, [*from, *to]),
            Action::Partition(members) => {
                self.open("partition", '[');
                for (place, (group, who)) in members.iter().enumerate() {
                    let first = place == 0 || members[place - 1].0 != *group;
                    if first {
                        self.out.push_str(if place == 0 { "[" } else { "],[" });
                    }
                    self.item(&who_name(letter, *who));
                }
                self.out
                    .push_str(if members.is_empty() { "]" } else { "]]" });
            }
            Action::Network(weather) => self.network(*weather),
            Action::HealAll => self.text("heal", "all"),
            Action::Clock(who, pace, jump) => {
                self.open("clock", '{');
                self.node("node", letter, *who);
                if let Some(pace) = pace {
                    self.text("rate", &write_rate(*pace));
                }
                if *jump != 0 {
                    self.text("jump", &write_jump(*jump));
                }
                self.close('}');
            }
            Action::Disk(who, takes) => {
                self.open("disk", '{');
                self.node("node", letter, *who);
                self.takes(*takes);
                self.close('}');
            }
            Action::Disconnect(one, other) => self.link("disconnect", letter, [*one, *other]),
            Action::Flap(one, other, rhythm) => {
                self.open("flap", '{');
                self.link("between", letter, [*one, *other]);
                self.span("down", rhythm.down);
                self.span("up", rhythm.up);
                self.close('}');
            }
            Action::Slow(who, by) => {
                self.open("slow", '{');
                self.node("node", letter, *who);
                self.span("by", *by);
                self.close('}');
            }
            Action::Change(voters, learners) => {
                self.open("change", '{');
                for (name, nodes) in [("voters", voters), ("learners", learners)] {
                    self.open(name, '[');
                    for node in nodes {
                        self.item(&super::node_name(*node));
                    }
                    self.close(']');
                }
                self.close('}');
            }
            Action::Delay(from, to, by) => {
                self.open("delay", '{');
                self.link("link", letter, [*from, *to]);
                self.span("by", *by);
                self.close('}');
            }
            // The others say no more than which node, and are called as they are counted.
            bare => {
                if let Some(who) = bare.who() {
                    self.node(Action::NAMES[bare.kind()], letter, who);
                }
            }
        }
        self.out.push('}');
    }
}
