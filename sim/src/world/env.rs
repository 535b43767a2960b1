//! What the actors of a world share: the present, what is due, the network, the trace, and those who watch.

use super::fared::Fared;
use crate::app::Through;
#[cfg(feature = "peers")]
use crate::check::kraft::KraftJudges;
use crate::check::linearizable::{Listener, Use};
use crate::check::logs::LogJudges;
use crate::check::{Broken, Check, Fact, Judges};
use crate::jobs::Jobs;
use crate::packet::{Done, Packet};
use crate::physics::network::{Fate, Network, Slot};
use crate::physics::queue::Queue;
use crate::physics::trace::{Event, Kind, Trace};
use crate::physics::{Blame, NEVER, NOBODY};
use crate::resource::EPOCH_MOVED;
use crate::scenario::Clients;
use crate::stages::Stages;
#[cfg(not(target_family = "wasm"))]
use crate::store::{Range, Said};
use tenure::Token;
use tenure::random::Random;

/// How many notifications are on their way from one node to another at the most. ZooKeeper keeps one that waits for its connection
/// and drops it for a newer one. Without any bound, votes that beat each other (Z-1419) would multiply without end.
#[cfg(feature = "peers")]
const NOTIFICATIONS: usize = 8;

/// Something scheduled. Whatever went out of date meanwhile is recognised by its owner when it comes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Due {
    /// A node or a server starts for the first time.
    Start(u16),
    /// A node's deadline may have come.
    Wake(u16),
    /// A message arrives or is noticed to be lost.
    Arrive(Slot),
    /// A disk is done with its oldest write, if it is still in this era.
    Written(u16, u32),
    /// A node has thought about a write.
    Thought(u16),
    /// The client writes.
    Tick(u16),
    /// A slow process is done with what came first.
    Served(u16),
    /// A link that flaps turns: it is cut, or carries again.
    Flap(u16, u16),
    /// A connection may stand again.
    Connect(u16, u16),
    /// A node finds that its connection to another ended, or cannot be made.
    Unconnected(u16, u16),
    /// A job falls due.
    Job(u64),
    /// A node's work at a job may be done, or its tenure over.
    Work(u16),
    /// Leases of a store may be over, where this node leads.
    Leases(u16),
}

#[cfg(feature = "peers")]
impl Due {
    /// The node or server that it is about.
    pub(super) fn member(self) -> Option<usize> {
        match self {
            Self::Start(member) | Self::Wake(member) | Self::Served(member) => Some(member.into()),
            Self::Written(node, _) => Some(node.into()),
            _ => None,
        }
    }
}

/// What the actors share.
#[derive(Clone, Debug)]
pub(crate) struct Env {
    pub(crate) now: u64,
    pub(crate) queue: Queue<Due>,
    pub(crate) net: Network<Packet>,
    /// Whether the nodes are told of their connections.
    pub(crate) connected: bool,
    pub(crate) trace: Trace,
    pub(crate) judges: Box<Judges>,
    pub(crate) stages: Box<Stages>,
    pub(crate) counts: Counts,
    /// How the actions fared that came so far.
    pub(crate) fared: Fared,
    /// The action that is carried out, or was last.
    pub(crate) act: Blame,
    /// What made the weather as it is, until a message has travelled in it.
    pub(crate) rough: Blame,
    /// Where disks draw what a crash leaves of them.
    pub(crate) disks: Random,
    pub(crate) clients: Clients,
    /// Whether leaders have a token to show.
    pub(crate) tokens: bool,
    pub(crate) jobs: Option<Jobs>,
    /// The brokers beside the nodes, if there are any.
    #[cfg(feature = "peers")]
    pub(crate) brokers: Option<crate::brokers::Params>,
    /// Whether a broker's process ended by itself, which whoever asks whether all is well has yet to see.
    #[cfg(feature = "peers")]
    pub(crate) went: bool,
    pub(crate) nodes: usize,
    /// How many servers the store has by which they elect.
    pub(crate) servers: usize,
    /// What is done at the resources, when it is recorded.
    pub(crate) histories: Option<Box<dyn Listener>>,
    /// What the clients of the store asked and were answered, when it is recorded.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) store: Option<Box<crate::check::linearizable_store::StoreHistory>>,
    /// What clients that watch the store are told, when it is recorded.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) watches: Option<Box<crate::check::watch_complete::WatchComplete>>,
    /// Which situations are met, when that is noted.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) marks: Option<Box<crate::marks::Marks>>,
    #[cfg(test)]
    pub(crate) flaw: Option<Flaw>,
}

/// A mistake in the service: each is what one of the judges is there to find. Nothing but their tests makes any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    not(test),
    allow(dead_code, reason = "asked after everywhere, made by tests alone")
)]
pub(crate) enum Flaw {
    /// A leader acknowledges writes that it does not write.
    AcknowledgesUnwritten,
    /// A new leader does not look for what others began.
    ForgetsOthers,
    /// A job is taken over without asking who owns it, or whether it is done.
    TakesBlindly,
    /// A job is worked at beyond the end of the tenure.
    WorksOn,
    /// A server of the store lets every watch begin at what changes next, whatever is asked.
    WatchesFromNow,
    /// A server of the store lets a watch begin at the last revision that the client knows.
    WatchesFromBefore,
}

/// What is counted for the summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Messages between nodes.
    pub messages: u64,
    /// Requests to the servers of a store.
    pub asked: u64,
    /// Times a node voted for itself in a new term.
    pub candidacies: u64,
    /// Times a node asked for pre-votes.
    pub pre_candidacies: u64,
    /// Leaders established.
    pub establishments: u64,
    /// Leaders that were deposed, crashes included.
    pub depositions: u64,
}

impl Env {
    /// What an action did is shown to somebody, if it was not yet.
    pub(crate) fn shown(&mut self, by: &mut Blame) {
        self.fared.notice(std::mem::replace(by, NOBODY));
    }

    /// Whether the service makes this mistake.
    #[cfg_attr(
        not(test),
        allow(clippy::unused_self, reason = "told apart in tests alone")
    )]
    pub(crate) fn flawed(&self, flaw: Flaw) -> bool {
        #[cfg(test)]
        return self.flaw == Some(flaw);
        #[cfg(not(test))]
        {
            let _ = flaw;
            false
        }
    }

    /// The resource that speaks for a write: the other than the fenced one, where the guard admits nobody for want of a token.
    pub(crate) const fn speaker(&self) -> usize {
        if self.tokens {
            self.clients.through.speaker()
        } else {
            Through::Anyone.speaker()
        }
    }

    /// Notes what was done at a resource, if histories are recorded.
    pub(crate) fn used(&mut self, resource: usize, what: Use) {
        if let Some(histories) = &mut self.histories {
            histories.note(self.now, resource, what);
        }
    }

    /// Notes what a client of the store asked or was answered, if histories are recorded.
    pub(crate) fn used_store(&mut self, client: usize, noted: Option<crate::store::Noted>) {
        #[cfg(not(target_family = "wasm"))]
        if let (Some(store), Some(noted)) = (&mut self.store, noted) {
            store.note(self.now, client as u16, noted);
        }
        #[cfg(target_family = "wasm")]
        let _ = (client, noted);
    }

    /// Notes what a client that watches the store was told, if histories are recorded.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn watched(&mut self, client: usize, server: usize, range: &Range, said: &Said) {
        if let Some(watches) = &mut self.watches {
            let resumed = watches.told(self.now, client as u16, server, range, said);
            if resumed {
                self.meet(crate::marks::Mark::WatchResumed);
            }
            if matches!(said, Said::Answered(Err(_))) {
                self.meet(crate::marks::Mark::WatchCompacted);
            }
        }
    }

    /// A node was told that the store does not keep what it decided as the leader of this token.
    pub(crate) fn store_refused(&mut self, server: usize, node: usize, token: Token) {
        let refused = Event::new(Kind::WriteRefused, server).with(node);
        self.emit(refused.term(token.counter).a(EPOCH_MOVED));
        let taken = false;
        self.hear(Fact::WroteToStore { server, taken });
    }

    /// A server of the store keeps what somebody decided who was overtaken.
    pub(crate) fn store_took_stale(&mut self, server: usize) {
        let taken = true;
        self.hear(Fact::WroteToStore { server, taken });
    }

    /// The answer of a resource that nobody is there to hear.
    pub(crate) fn unheard(&mut self, from: usize, packet: &Packet) {
        if let Packet::Answer {
            done: Done::Written { request, .. } | Done::Refused { request, .. },
            ..
        } = *packet
        {
            let resource = from.saturating_sub(self.resource_actor(0));
            self.used(resource, Use::Unheard { request });
        }
    }

    pub(crate) fn emit(&mut self, event: Event) -> i64 {
        #[cfg(not(target_family = "wasm"))]
        if let Some(marks) = &mut self.marks {
            marks.see(self.now, &event);
        }
        self.trace.emit(self.now, event)
    }

    /// Tells the judges, and shows what they find broken.
    pub(crate) fn hear(&mut self, fact: Fact) -> Broken {
        #[cfg(not(target_family = "wasm"))]
        if let Some(marks) = &mut self.marks {
            marks.hear(&fact);
        }
        #[cfg(not(target_family = "wasm"))]
        if let (Some(watches), Fact::Whole(whole)) = (&mut self.watches, fact) {
            watches.whole(self.now, whole);
        }
        let broken = self.judges.hear(self.now, fact);
        self.show(broken, fact);
        broken
    }

    /// Notes a situation that no event shows.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn meet(&mut self, mark: crate::marks::Mark) {
        if let Some(marks) = &mut self.marks {
            marks.meet(mark);
        }
    }

    /// Tells the judges of logs, and shows what they find broken.
    pub(crate) fn judge_logs(
        &mut self,
        node: usize,
        tell: impl FnOnce(&mut LogJudges, u64) -> Broken,
    ) {
        if let Some(logs) = self.judges.logs() {
            let broken = tell(logs, self.now);
            self.violated(broken, node);
        }
    }

    /// Tells the judges of Kafka's controllers, where there are those.
    #[cfg(feature = "peers")]
    pub(crate) fn tell_kraft(&mut self, tell: impl FnOnce(&mut KraftJudges)) {
        if let Some(kraft) = self.judges.kraft() {
            tell(kraft);
        }
    }

    /// A node has its disk record a vote.
    #[cfg(feature = "peers")]
    pub(crate) fn judge_vote(&mut self, node: usize, term: u64, vote: u16) {
        if let Some(kraft) = self.judges.kraft() {
            let broken = kraft.records(self.now, node as u16, term, vote);
            self.violated(broken, node);
        }
    }

    pub(crate) fn show(&mut self, broken: Broken, fact: Fact) {
        if broken.is_empty() {
            return;
        }
        let actor = match fact {
            Fact::Acted { node, .. }
            | Fact::Granted { node, .. }
            | Fact::Elected { node, .. }
            | Fact::Established { node, .. }
            | Fact::Believes { node, .. }
            | Fact::Works { node, .. } => node,
            Fact::Touched { resource, .. }
            | Fact::Wrote { resource, .. }
            | Fact::Finished { resource, .. } => self.resource_actor(resource),
            Fact::WroteToStore { server, .. } => server,
            Fact::Whole(_) | Fact::Wished | Fact::JobDue(_) => 0,
        };
        self.violated(broken, actor);
    }

    pub(super) fn violated(&mut self, broken: Broken, actor: usize) {
        if broken.is_empty() {
            return;
        }
        for check in Check::ALL
            .into_iter()
            .filter(|check| broken.contains(*check))
        {
            self.emit(Event::new(Kind::Violation, actor).a(check as u64));
        }
    }

    /// Sends from node to node.
    pub(crate) fn send(&mut self, from: usize, to: usize, packet: Packet) {
        #[cfg(feature = "peers")]
        if packet.is_notification()
            && self.net.on_link(from, to, Packet::is_notification) >= NOTIFICATIONS
        {
            return;
        }
        self.counts.messages += 1;
        #[cfg(feature = "peers")]
        self.judge_said(from, to, &packet);
        self.fared
            .notice(std::mem::replace(&mut self.rough, NOBODY));
        self.fared.notice(self.net.links.delay(from, to).1);
        let cause = self.sent(from, to, &packet);
        let sent = self.net.send(self.now, from, to, cause, packet);
        self.expect(sent.first);
        if self.connected
            && self
                .net
                .flight(sent.first)
                .is_some_and(|flight| flight.fate == Fate::Broken)
        {
            self.find_unconnected(from, to);
        }
        if let Some(again) = sent.again {
            self.expect(again);
        }
        if let Some(later) = sent.later {
            self.expect(later);
        }
        self.tell_connections();
    }

    /// Shows which connections broke, and waits for those that will stand again.
    pub(crate) fn tell_connections(&mut self) {
        while let Some(turn) = self.net.turn() {
            let (one, other) = turn.ends;
            if turn.broke {
                let broke = Event::new(Kind::Disconnect, one as usize);
                self.emit(broke.with(other as usize));
                if self.connected {
                    self.find_unconnected(one as usize, other as usize);
                    self.find_unconnected(other as usize, one as usize);
                }
            }
            if turn.hit {
                self.fared.notice(turn.by);
            }
            if turn.back != NEVER {
                self.queue.push(turn.back, Due::Connect(one, other));
            }
        }
    }

    /// A node finds that nobody is at the other end, where anything comes back that says so: over a link that is cut, only
    /// silence does.
    fn find_unconnected(&mut self, node: usize, peer: usize) {
        if !self.net.links.is_cut(node, peer) && !self.net.links.is_cut(peer, node) {
            let at = self.now.saturating_add(self.net.weather().latency_max);
            self.queue
                .push(at, Due::Unconnected(node as u16, peer as u16));
        }
    }

    /// Sends to or from a client or a resource, `extra` later than the latency alone.
    pub(crate) fn send_outside(&mut self, from: usize, to: usize, extra: u64, packet: Packet) {
        let cause = self.sent(from, to, &packet);
        let slot = self
            .net
            .send_outside(self.now, from, to, extra, cause, packet);
        self.expect(slot);
    }

    /// Who stands in the network: the nodes, and then the servers of the store.
    pub(crate) const fn members(&self) -> usize {
        self.nodes + self.servers
    }

    /// The actor of a server of the store.
    pub(crate) const fn server_actor(&self, server: usize) -> usize {
        self.nodes + server
    }

    /// The actor of a resource.
    pub(crate) const fn resource_actor(&self, resource: usize) -> usize {
        self.members() + 1 + resource
    }

    /// The actor of the client.
    pub(crate) const fn client_actor(&self) -> usize {
        self.members()
    }

    fn sent(&mut self, from: usize, to: usize, packet: &Packet) -> i64 {
        packet.fold(&mut self.trace);
        let event = message_event(Kind::Send, from, to, packet).b(self.net.sent());
        self.emit(event)
    }

    fn expect(&mut self, slot: Slot) {
        let Some(flight) = self.net.flight(slot) else {
            return;
        };
        let (from, to, fate) = (flight.from as usize, flight.to as usize, flight.fate);
        self.queue.push(flight.arrives, Due::Arrive(slot));
        let by = match fate {
            Fate::Arrives | Fate::Lost | Fate::Replayed => return,
            Fate::Cut => self.net.links.cutter(from, to),
            Fate::Broken => self.net.breaker(self.now, from, to).unwrap_or(NOBODY),
        };
        self.fared.notice(by);
    }
}

/// An event about a message, without its second particular.
pub(crate) fn message_event(kind: Kind, actor: usize, other: usize, packet: &Packet) -> Event {
    let event = Event::new(kind, actor)
        .with(other)
        .a(u64::from(packet.kind()));
    match packet.term() {
        Some(term) => event.term(term),
        None => event,
    }
}
