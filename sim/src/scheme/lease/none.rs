//! What stands for elections by a store where they are left out: there is no kind of them, and no value of any type here,
//! so that the compiler drops whatever is done with one. The names are those of the module it stands for.

use super::{Answer, Ask, Detail, Look, PeerSaid, Write};
use crate::scenario::Lease;
use crate::server::Service;
use std::hash::Hasher;
use tenure::fence::Holder;
use tenure::lease::{Budget, BudgetError, Preset, Refusals, Scheme, Timing};
use tenure::{Duration, Input, Instant, Output, Standing, Token};

/// There is none. Only this module knows: code that has a value of a type made of it is not unreachable to lints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Never {}

/// The names of presets.
pub(crate) const PRESETS: [&str; 0] = [];

/// By what each of them elects.
pub(crate) const PRESET_OF: [(Preset, Kind); 0] = [];

/// By what the nodes elect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind(Never);

impl Kind {
    /// All of them.
    pub const ALL: [Self; 0] = [];

    /// Its name in files and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self.0 {}
    }

    /// By which machine of the core.
    #[must_use]
    pub const fn scheme(self) -> Scheme {
        match self.0 {}
    }

    /// How many servers its store has, where that is not said.
    #[must_use]
    pub const fn servers(self) -> u8 {
        match self.0 {}
    }

    /// How many it may have.
    #[must_use]
    pub const fn most_servers(self) -> u8 {
        match self.0 {}
    }

    /// How long a holder goes on at the most without a renewal.
    #[must_use]
    pub fn renew_deadline(self, _: Duration) -> Option<Duration> {
        match self.0 {}
    }

    /// Whether so many of them speak over connections.
    pub const fn is_connected(self, _: u8) -> bool {
        match self.0 {}
    }

    /// How often the leader of a cluster of them is heard of.
    pub(crate) fn heartbeat(self, _: Duration) -> Duration {
        match self.0 {}
    }

    /// Whether they are a cluster.
    #[must_use]
    pub const fn is_cluster(self) -> bool {
        match self.0 {}
    }

    /// Whether its leaders keep what they decide in the store.
    #[must_use]
    pub const fn keeps_in_store(self) -> bool {
        match self.0 {}
    }

    /// Whether each term has a token.
    #[must_use]
    pub const fn has_tokens(self) -> bool {
        match self.0 {}
    }

    /// How long things take where a file says no more than the ttl.
    #[must_use]
    pub fn timing(self, _: Option<Duration>) -> Timing {
        match self.0 {}
    }
}

/// What the nodes of one election are built from.
#[derive(Clone, Debug)]
pub struct Setup(Never);

impl Setup {
    pub(crate) fn new(lease: &Lease, _: usize, _: u64) -> Self {
        match lease.kind.0 {}
    }

    pub(super) fn check(&self) -> Result<(), BudgetError> {
        match self.0 {}
    }

    pub(super) fn budget(&self) -> Result<Budget, BudgetError> {
        match self.0 {}
    }

    pub(super) const fn has_tokens(&self) -> bool {
        match self.0 {}
    }

    pub(super) const fn keeps_in_store(&self) -> bool {
        match self.0 {}
    }

    pub(super) const fn is_connected(&self) -> bool {
        match self.0 {}
    }

    pub(super) const fn ttl(&self) -> Duration {
        match self.0 {}
    }

    pub(super) const fn rate_bound(&self) -> u32 {
        match self.0 {}
    }

    pub(super) fn servers(&self) -> Vec<Kept> {
        match self.0 {}
    }

    pub(super) fn boot(&self, _: usize, _: u64, _: Instant) -> Option<Machine> {
        match self.0 {}
    }
}

/// What a store is asked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StoreAsk(Never);

/// What a store says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StoreSaid(Never);

/// What servers say to each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ServerSaid(Never);

/// What a server is.
#[derive(Clone, Debug)]
pub(crate) struct Kept(Never);

impl Kept {
    pub(crate) fn service(&self) -> &dyn Service {
        match self.0 {}
    }

    pub(crate) fn service_mut(&mut self) -> &mut dyn Service {
        match self.0 {}
    }
}

/// A machine.
#[derive(Clone, Debug)]
pub struct Machine(Never);

impl Machine {
    pub(super) fn handle(&mut self, _: Instant, _: Input<PeerSaid, Answer>) {
        match self.0 {}
    }

    pub(super) fn poll(&mut self) -> Option<Output<PeerSaid, Ask<Write>>> {
        match self.0 {}
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        match self.0 {}
    }

    #[cfg(feature = "peers")]
    pub(super) fn connection(&mut self, _: Instant, _: usize, _: bool) {
        match self.0 {}
    }

    pub(super) fn keep(&mut self, _: Instant, _: Token, _: u64) -> bool {
        match self.0 {}
    }

    pub(super) fn poll_refused(&mut self) -> Option<Token> {
        match self.0 {}
    }

    pub(super) fn grain(&self) -> Duration {
        match self.0 {}
    }

    pub(super) fn standing(&self, _: Instant) -> Standing {
        match self.0 {}
    }

    pub(super) fn fingerprint<H: Hasher>(&self, _: Instant, _: &mut H) {
        match self.0 {}
    }

    pub(super) fn look(&self) -> Look {
        match self.0 {}
    }

    pub(super) fn detail(&self) -> Detail {
        match self.0 {}
    }

    pub(super) const fn holder(&self) -> Holder {
        match self.0 {}
    }

    pub(super) fn refusals(&self) -> Refusals {
        match self.0 {}
    }
}

pub(super) fn newly_refused(_: &Refusals, _: &Refusals) -> Option<u64> {
    None
}
