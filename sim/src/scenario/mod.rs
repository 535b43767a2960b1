//! What people write down: a group, a world, faults, and what they expect.
//!
//! [`Scenario::parse`] reads the file format, version 1, and [`Scenario::to_json`] writes it. Whatever is wrong with a
//! file is refused with a place, a reason and a remedy; a scenario that was read can be run.

#[cfg(feature = "peers")]
mod brokers;
mod by_store;
mod file;
mod fits;
mod format;
#[cfg(feature = "peers")]
mod kraft;
mod limits;
mod names;
mod parts;
mod reader;
mod refusal;
#[cfg(not(target_family = "wasm"))]
mod schema;
#[cfg(feature = "peers")]
mod sentinel;
mod units;
mod writer;
#[cfg(feature = "peers")]
mod zab;

pub use limits::MAX_EVENTS;
pub(crate) use names::{node_name, server_name, who_name};
pub use refusal::Refusal;
pub use units::parse_span;

use crate::app::{Takeover, Through};
use crate::check::{Check, Outcome};
use crate::fault::{Action, Fault};
use crate::jobs::Jobs;
use crate::physics::disk::Takes;
use crate::physics::weather::Weather;
use crate::scheme::{Setup, Unfit, lease, raft};
#[cfg(feature = "peers")]
use crate::scheme::{kraft as peers_kraft, sentinel as peers_sentinel, zab as peers_zab};
use tenure::raft::{Rule, Switched, Timing};
use tenure::rules::Rules;

/// The version of the file format.
pub const VERSION: u32 = 1;

/// A run, complete but for being run.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// What it shows, in a line.
    pub title: Bilingual,
    /// What to look at, and what follows from it.
    pub lesson: Bilingual,
    /// The seed of every draw.
    pub seed: u64,
    /// How many nodes.
    pub nodes: usize,
    /// The timeouts of the election.
    pub timing: Timing,
    /// The rules of Raft that are switched off.
    pub off: Vec<Rule>,
    /// PreVote and CheckQuorum.
    pub safe_mode: bool,
    /// Whether the nodes replicate a log, on which they keep a store.
    pub log: bool,
    /// How they elect. What is said of Raft counts where they elect by it.
    pub elects: Elects,
    /// How many nodes, the last ones, take no part until a change says so.
    pub outside: usize,
    /// How the network behaves.
    pub weather: Weather,
    /// The pace of each node's clock; those not named run true.
    pub clocks: Vec<u32>,
    /// How long a disk takes for a write.
    pub disk: Takes,
    /// What clients do, and leaders for them.
    pub clients: Clients,
    /// Periodic jobs, if there are any.
    pub jobs: Option<Jobs>,
    /// The bound for a leader once all faults are healed.
    pub leader_within: u64,
    /// When the run ends.
    pub duration: u64,
    /// What is done, in order of time.
    pub faults: Vec<Fault>,
    /// What the checks must say.
    pub expect: Vec<(Check, Outcome)>,
}

/// How nodes elect. A further scheme is a further variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elects {
    /// By Raft.
    Raft,
    /// By a store.
    ByStore(Lease),
    /// As ZooKeeper's own servers do.
    #[cfg(feature = "peers")]
    Zab(peers_zab::Params),
    /// As sentinels do, to make one of their data servers the master.
    #[cfg(feature = "peers")]
    Sentinel(peers_sentinel::Params),
    /// As Kafka's controllers do.
    #[cfg(feature = "peers")]
    Kraft(peers_kraft::Params),
}

/// An election by a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    /// By what.
    pub kind: lease::Kind,
    /// By whose parameters, where a file names a system.
    pub preset: Option<tenure::lease::Preset>,
    /// How long things take.
    pub timing: tenure::lease::Timing,
    /// How long a holder goes on at the most without a renewal, where it has a bound of its own for that.
    pub renew_deadline: Option<tenure::Duration>,
    /// How long a request is under way at most, as the budget counts.
    pub latency: tenure::Duration,
    /// The rules that are on.
    pub rules: tenure::lease::Switched,
    /// How many servers the store has.
    pub servers: u8,
}

impl Lease {
    /// By this, with what is usual for a lease of this length.
    #[must_use]
    pub fn of(kind: lease::Kind, ttl: tenure::Duration) -> Self {
        Self {
            kind,
            preset: None,
            timing: kind.timing(Some(ttl)),
            renew_deadline: kind.renew_deadline(ttl),
            latency: tenure::Duration::from_millis(50),
            rules: tenure::lease::Switched::default(),
            servers: kind.servers(),
        }
    }
}

/// A text in two languages; empty where there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bilingual {
    /// English.
    pub en: String,
    /// Chinese.
    pub zh: String,
}

/// What clients do, and leaders for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clients {
    /// Between two writes of the client.
    pub every: u64,
    /// Between a leader's check of its standing and the write.
    pub think: u64,
    /// How much longer than the latency a write is on its way to a resource.
    pub write_delay: u64,
    /// How a new leader takes over.
    pub takeover: Takeover,
    /// Through whom clients write.
    pub through: Through,
    /// Whether there are some that watch the store, where there is one.
    pub watches: bool,
}

impl Scenario {
    /// What a file says that leaves everything out.
    #[must_use]
    pub fn usual() -> Self {
        Self {
            title: Bilingual::default(),
            lesson: Bilingual::default(),
            seed: 1,
            nodes: 5,
            timing: Timing::default(),
            off: Vec::new(),
            safe_mode: true,
            log: false,
            outside: 0,
            elects: Elects::Raft,
            weather: Weather::calm(5_000, 10_000),
            clocks: Vec::new(),
            disk: Takes::write(1_000),
            clients: Clients {
                every: 25_000,
                think: 0,
                write_delay: 0,
                takeover: Takeover::FenceFirst,
                through: Through::Leader,
                watches: false,
            },
            jobs: None,
            leader_within: 3_000_000,
            duration: 60_000_000,
            faults: Vec::new(),
            expect: Vec::new(),
        }
    }

    /// What the machines are built from.
    #[must_use]
    pub fn setup(&self) -> Setup {
        let (nodes, seed) = (self.nodes, self.seed);
        match &self.elects {
            Elects::Raft => Setup::Raft(raft::Setup {
                nodes,
                timing: self.timing,
                safe_mode: self.safe_mode,
                rules: Switched::without(&self.off),
                seed,
                log: self.log,
                outside: self.outside,
            }),
            Elects::ByStore(lease) => Setup::Lease(lease::Setup::new(lease, nodes, seed)),
            #[cfg(feature = "peers")]
            Elects::Zab(params) => Setup::Zab(peers_zab::Setup {
                nodes,
                params: *params,
                seed,
            }),
            #[cfg(feature = "peers")]
            Elects::Sentinel(params) => Setup::Sentinel(peers_sentinel::Setup {
                nodes,
                params: *params,
                seed,
            }),
            #[cfg(feature = "peers")]
            Elects::Kraft(params) => Setup::Kraft(peers_kraft::Setup {
                nodes,
                params: *params,
                seed,
            }),
        }
    }

    /// By what store they elect, if not among themselves.
    #[must_use]
    pub const fn lease(&self) -> Option<&Lease> {
        match &self.elects {
            Elects::ByStore(lease) => Some(lease),
            _ => None,
        }
    }

    /// The same, to be changed.
    pub const fn lease_mut(&mut self) -> Option<&mut Lease> {
        match &mut self.elects {
            Elects::ByStore(lease) => Some(lease),
            _ => None,
        }
    }

    /// Whether the nodes replicate a log.
    #[must_use]
    pub const fn has_log(&self) -> bool {
        match &self.elects {
            Elects::Raft => self.log,
            Elects::ByStore(_) => false,
            #[cfg(feature = "peers")]
            Elects::Sentinel(_) => false,
            #[cfg(feature = "peers")]
            Elects::Zab(_) | Elects::Kraft(_) => true,
        }
    }

    /// Whether clients keep a store on the log: not where brokers are decided of on it.
    #[must_use]
    pub fn has_store(&self) -> bool {
        #[cfg(feature = "peers")]
        if self.brokers().is_some() {
            return false;
        }
        self.has_log()
    }

    /// The brokers beside the nodes, if there are any.
    #[cfg(feature = "peers")]
    #[must_use]
    pub const fn brokers(&self) -> Option<&crate::brokers::Params> {
        match &self.elects {
            Elects::Kraft(params) => params.brokers.as_ref(),
            _ => None,
        }
    }

    /// Whether what a leader believes is bounded by time.
    #[must_use]
    pub const fn has_leases(&self) -> bool {
        match &self.elects {
            Elects::Raft | Elects::ByStore(_) => self.safe_mode,
            #[cfg(feature = "peers")]
            Elects::Zab(_) | Elects::Sentinel(_) | Elects::Kraft(_) => false,
        }
    }

    /// How many nodes decide at the start, the first ones; none where a store does.
    #[must_use]
    pub const fn voters(&self) -> usize {
        match &self.elects {
            Elects::Raft => self.nodes - self.outside,
            Elects::ByStore(_) => 0,
            #[cfg(feature = "peers")]
            Elects::Zab(params) => self.nodes - params.observers,
            #[cfg(feature = "peers")]
            Elects::Sentinel(_) => self.nodes,
            #[cfg(feature = "peers")]
            Elects::Kraft(params) => self.nodes - params.observers,
        }
    }

    /// The name of the scheme in files.
    #[must_use]
    pub const fn scheme(&self) -> &'static str {
        match &self.elects {
            Elects::Raft => "raft",
            Elects::ByStore(lease) => lease.kind.name(),
            #[cfg(feature = "peers")]
            Elects::Zab(_) => "zab",
            #[cfg(feature = "peers")]
            Elects::Sentinel(_) => "sentinel",
            #[cfg(feature = "peers")]
            Elects::Kraft(_) => "kraft",
        }
    }

    /// Whether the nodes are sentinels, and who leads is one of the servers that they watch.
    #[must_use]
    pub const fn has_sentinels(&self) -> bool {
        match &self.elects {
            #[cfg(feature = "peers")]
            Elects::Sentinel(_) => true,
            _ => false,
        }
    }

    /// How many servers there are beside the nodes: of the store by which they elect, or those that they watch.
    #[must_use]
    pub fn servers(&self) -> usize {
        #[cfg(feature = "peers")]
        if let Elects::Sentinel(params) = &self.elects {
            return params.servers();
        }
        #[cfg(feature = "peers")]
        if let Some(brokers) = self.brokers() {
            return brokers.count;
        }
        self.lease().map_or(0, |lease| lease.servers.into())
    }

    /// The rules of its scheme, by their names in files: switched off, each of them may break something.
    #[must_use]
    pub fn rules(&self) -> Vec<&'static str> {
        let mut named = Vec::new();
        match &self.elects {
            Elects::ByStore(lease) => {
                for rule in lease.kind.scheme().rules() {
                    named.push(lease_rule_name(*rule));
                }
            }
            #[cfg(feature = "peers")]
            Elects::Zab(_) => named.extend(names::ZAB_RULES),
            #[cfg(feature = "peers")]
            Elects::Sentinel(_) => named.extend(names::SENTINEL_RULES),
            #[cfg(feature = "peers")]
            Elects::Kraft(params) => {
                named.extend(names::KRAFT_RULES);
                if params.brokers.is_some() {
                    named.extend(names::BROKER_RULES);
                }
            }
            Elects::Raft => {
                for (rule, name) in Rule::ALL.iter().zip(&names::RULES) {
                    if self.log || !rule.is_of_log() {
                        named.push(*name);
                    }
                }
            }
        }
        named
    }

    /// The systems that elect by its scheme, by their names in files.
    #[must_use]
    pub fn presets(&self) -> Vec<&'static str> {
        let mut named = Vec::new();
        for (preset, kind) in &lease::PRESET_OF {
            if self.lease().is_some_and(|lease| lease.kind == *kind) {
                named.push(preset.name());
            }
        }
        named
    }

    /// The rules that are switched off, by their names in files.
    #[must_use]
    pub fn rules_off(&self) -> Vec<&'static str> {
        match &self.elects {
            Elects::Raft => (self.off.iter())
                .filter_map(|rule| names::RULES.get(*rule as usize).copied())
                .collect(),
            Elects::ByStore(lease) => (tenure::lease::Rule::ALL.into_iter())
                .zip(names::LEASE_RULES)
                .filter(|(rule, _)| !lease.rules.keeps(*rule))
                .map(|(_, name)| name)
                .collect(),
            #[cfg(feature = "peers")]
            Elects::Zab(params) => (tenure::zab::Rule::ALL.into_iter())
                .zip(names::ZAB_RULES)
                .filter(|(rule, _)| !params.rules.keeps(*rule))
                .map(|(_, name)| name)
                .collect(),
            #[cfg(feature = "peers")]
            Elects::Sentinel(params) => (tenure::sentinel::Rule::ALL.into_iter())
                .zip(names::SENTINEL_RULES)
                .filter(|(rule, _)| !params.rules.keeps(*rule))
                .map(|(_, name)| name)
                .collect(),
            #[cfg(feature = "peers")]
            Elects::Kraft(params) => (tenure::kraft::Rule::ALL.into_iter())
                .zip(names::KRAFT_RULES)
                .filter(|(rule, _)| !params.rules.keeps(*rule))
                .map(|(_, name)| name)
                .chain(params.brokers.iter().flat_map(brokers::rules_off))
                .collect(),
        }
    }

    /// The same with another seed.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The same with these rules of the scheme switched off, and no others.
    ///
    /// # Errors
    /// As for a file with these rules.
    pub fn without(mut self, off: &[Rule]) -> Result<Self, Unfit> {
        self.off = off.to_vec();
        self.setup().check().map(|()| self)
    }

    /// Reads a scenario file.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn parse(json: &str) -> Result<Self, Refusal> {
        file::read(json)
    }

    /// Reads one action, as it may stand in the faults of this scenario, without its time: `{"crash": "n1"}`.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn parse_action(&self, json: &str) -> Result<Action, Refusal> {
        file::read_action(json, self)
    }

    /// Writes a scenario file that reads back as this scenario.
    #[must_use]
    pub fn to_json(&self) -> String {
        writer::write(self)
    }

    /// The same for people: one fault a line.
    #[cfg(not(target_family = "wasm"))]
    #[must_use]
    pub fn to_text(&self) -> String {
        crate::json::indent(&self.to_json())
    }

    /// The JSON Schema of scenario files.
    #[cfg(not(target_family = "wasm"))]
    #[must_use]
    pub fn json_schema() -> String {
        schema::schema()
    }
}

/// The names of the core's rules in files and on the command line, in the order of [`Rule::ALL`].
#[must_use]
pub fn rule_names() -> [&'static str; Rule::ALL.len()] {
    names::RULES
}

/// The same of a rule of elections over a store.
#[must_use]
pub fn lease_rule_name(rule: tenure::lease::Rule) -> &'static str {
    names::LEASE_RULES[rule as usize]
}

/// The same of the rules of ZooKeeper's own election, in the order of [`tenure::zab::Rule::ALL`].
#[cfg(feature = "peers")]
#[must_use]
pub fn zab_rule_names() -> [&'static str; tenure::zab::Rule::ALL.len()] {
    names::ZAB_RULES
}

/// The same of the rules of sentinels, in the order of [`tenure::sentinel::Rule::ALL`].
#[cfg(feature = "peers")]
#[must_use]
pub fn sentinel_rule_names() -> [&'static str; tenure::sentinel::Rule::ALL.len()] {
    names::SENTINEL_RULES
}

/// The same of the rules of Kafka's brokers, in the order of [`tenure::isr::Rule::ALL`].
#[cfg(feature = "peers")]
#[must_use]
pub const fn broker_rule_names() -> [&'static str; tenure::isr::Rule::ALL.len()] {
    names::BROKER_RULES
}

/// The same of the rules of Kafka's controllers, in the order of [`tenure::kraft::Rule::ALL`].
#[cfg(feature = "peers")]
#[must_use]
pub fn kraft_rule_names() -> [&'static str; tenure::kraft::Rule::ALL.len()] {
    names::KRAFT_RULES
}

/// A seed as people write it: a whole number below 2⁶⁴.
#[must_use]
pub fn parse_seed(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_is_what_a_file_says_that_leaves_everything_out() {
        let bare = Scenario::parse(r#"{"tenure": 1, "scheme": "raft"}"#).unwrap();
        assert_eq!(bare.to_json(), Scenario::usual().to_json());
    }
}
