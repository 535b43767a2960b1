//! The `Lease` object of Kubernetes, in the world: each request is one call.

use super::candidate::Candidate;
use super::{StoreAsk, StoreSaid};
use crate::server::{Record as Shown, Service};
use crate::store::kubernetes::{Answer, Call, Kept, Lease, Metadata, Reason, Server, Spec, Text};
use std::collections::VecDeque;
use tenure::lease::kubernetes::{self as core, Record, Reply, Request, Uid, annotation};
use tenure::lease::{Claimant, Identity, Nonce, Switched};
use tenure::{Duration, Ticket, Unknown};

/// The object of the election.
const NAME: &str = "election";
/// By how much the calendars of every other host are wrong: an hour.
const WRONG: u64 = 3_600_000_000;

/// An API server, and what its clients make of requests and answers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cluster {
    api: Server,
    said: VecDeque<(u16, Ticket, StoreSaid)>,
    /// The version of the object, and when it was written.
    written: (u64, u64),
    backup: Option<Kept>,
}

impl Service for Cluster {
    fn ask(&mut self, now: u64, client: u16, ticket: Ticket, ask: &StoreAsk) {
        if let StoreAsk::Kubernetes(request) = ask {
            self.api
                .ask(now, client, ticket, &call(calendar(now, client), request));
            self.listen(now);
        }
    }

    fn poll(&mut self) -> Option<(u16, Ticket, StoreSaid)> {
        self.said.pop_front()
    }

    /// No server lets a lease end: those who wait do, when it has not changed for so long.
    fn records(&self, now: u64) -> Vec<Shown> {
        let Some(lease) = self.api.kept().lease(NAME) else {
            return Vec::new();
        };
        let record = record(lease);
        let token = match record.since {
            None if record.nonce == Nonce(0) => None,
            since => since.or(lease.metadata.resource_version),
        };
        let ends = self.written.1 + u64::from(record.seconds) * 1_000_000;
        vec![Shown {
            key: NAME.to_owned(),
            token: token.unwrap_or(0),
            ends: Some(ends),
            holds: record.holder.is_some() && ends > now,
            holder: record
                .holder
                .map(|holder| holder.identity.name().to_owned()),
        }]
    }

    fn due(&self) -> Option<u64> {
        self.api.due()
    }

    fn wake(&mut self, now: u64) {
        self.api.wake(now);
    }

    fn restarted(&mut self, _: u64) {
        self.api.restart();
        self.said.clear();
    }

    fn evict(&mut self, _: u64) -> bool {
        self.api.delete(NAME)
    }

    fn back_up(&mut self, _: u64) -> bool {
        self.backup = Some(self.api.kept().clone());
        true
    }

    fn restore(&mut self, _: u64) -> bool {
        let Some(backup) = self.backup.clone() else {
            return false;
        };
        self.api.restore(backup);
        true
    }
}

impl Cluster {
    fn listen(&mut self, now: u64) {
        let version = |lease: &Lease| lease.metadata.resource_version;
        let version = self.api.kept().lease(NAME).and_then(version);
        if let Some(version) = version.filter(|version| *version != self.written.0) {
            self.written = (version, now);
        }
        while let Some((client, ticket, answer)) = self.api.poll() {
            let reply = reply(calendar(now, client), answer);
            let said = StoreSaid::Kubernetes(reply);
            self.said.push_back((client, ticket, said));
        }
    }
}

/// What the calendar of a client's host shows.
fn calendar(now: u64, client: u16) -> i64 {
    (now + u64::from(client % 2) * WRONG) as i64
}

/// The call that a request is made with, at a time of the host's calendar.
fn call(calendar: i64, request: &Request) -> Call {
    let lease = |uid: Option<Uid>, version, record| Lease {
        metadata: Metadata {
            name: NAME.into(),
            uid: uid.map(|uid| uid.0),
            resource_version: version,
            annotations: annotations(record),
        },
        spec: spec(calendar, record),
    };
    match request {
        Request::Get => Call::Get(NAME.into()),
        Request::Create(record) => Call::Create(lease(None, None, record)),
        Request::Update {
            uid,
            version,
            record,
        } => Call::Update(lease(Some(*uid), Some(*version), record)),
    }
}

fn spec(calendar: i64, record: &Record) -> Spec {
    let holder = record
        .holder
        .as_ref()
        .map_or("", |holder| holder.identity.name());
    Spec {
        holder_identity: Some(holder.into()),
        lease_duration_seconds: Some(i32::try_from(record.seconds).unwrap_or(i32::MAX)),
        acquire_time: Some(record.acquired.unwrap_or(calendar)),
        renew_time: Some(calendar),
        lease_transitions: Some(i32::try_from(record.transitions).unwrap_or(i32::MAX)),
    }
}

/// In order of key.
fn annotations(record: &Record) -> Vec<(Text, Text)> {
    let Some(holder) = &record.holder else {
        return Vec::new();
    };
    let metadata = Some(holder.metadata()).filter(|text| !text.is_empty());
    let noted = [
        (annotation::HOLDER, Some(holder.identity.name().into())),
        (annotation::METADATA, metadata.map(Text::from)),
        (annotation::NONCE, Some(record.nonce.to_string().into())),
        (
            annotation::SINCE,
            record.since.map(|since| since.to_string().into()),
        ),
    ];
    let there = |(key, value): (&str, Option<Text>)| Some((key.into(), value?));
    noted.into_iter().filter_map(there).collect()
}

/// What a client makes of an answer, at a time of its host's calendar.
fn reply(calendar: i64, answer: Answer) -> Result<Reply, Unknown> {
    Ok(match answer {
        Answer::Object(lease) | Answer::Created(lease) => {
            Reply::Object(seen(calendar, &lease).ok_or(Unknown)?)
        }
        // Nobody asks for that.
        Answer::Deleted => return Err(Unknown),
        Answer::Failure(reason) => match reason {
            Reason::NotFound => Reply::NotFound,
            Reason::AlreadyExists => Reply::AlreadyExists,
            Reason::Conflict => Reply::Conflict,
            Reason::Forbidden | Reason::Invalid | Reason::TooManyRequests => Reply::NotDone,
            Reason::InternalError | Reason::Timeout => return Err(Unknown),
        },
    })
}

fn seen(calendar: i64, lease: &Lease) -> Option<core::Lease> {
    let renewed = lease.spec.renew_time.unwrap_or(0);
    Some(core::Lease {
        uid: Uid(lease.metadata.uid?),
        version: lease.metadata.resource_version?,
        record: record(lease),
        age: Duration::from_micros(u64::try_from(calendar.saturating_sub(renewed)).unwrap_or(0)),
    })
}

fn record(lease: &Lease) -> Record {
    let (metadata, spec) = (&lease.metadata, &lease.spec);
    let holder = spec.holder_identity.as_deref().unwrap_or_default();
    let noted = |key: &str| {
        let mut all = metadata.annotations.iter();
        all.find(|(known, _)| **known == *key)
            .map(|(_, value)| &**value)
    };
    // What was noted for another says nothing of this one.
    let its = noted(annotation::HOLDER) == Some(holder);
    let about = |key| noted(key).filter(|_| its);
    let nonce = about(annotation::NONCE).and_then(|text| text.parse().ok());
    let number = |value: Option<i32>| value.and_then(|value| u32::try_from(value).ok());
    Record {
        holder: Identity::new(holder).ok().map(|identity| {
            let claimant = Claimant::new(identity);
            let metadata = about(annotation::METADATA).unwrap_or_default();
            claimant.clone().with_metadata(metadata).unwrap_or(claimant)
        }),
        nonce: nonce.unwrap_or(Nonce(0)),
        seconds: number(spec.lease_duration_seconds).unwrap_or(0),
        transitions: number(spec.lease_transitions).unwrap_or(0),
        acquired: spec.acquire_time,
        since: about(annotation::SINCE).and_then(|text| text.parse().ok()),
    }
}

impl Candidate for core::Kubernetes<Switched> {
    fn ask(request: Self::Request) -> (usize, StoreAsk) {
        (0, StoreAsk::Kubernetes(request))
    }

    fn reply(said: StoreSaid) -> Result<Self::Reply, Unknown> {
        match said {
            StoreSaid::Kubernetes(reply) => reply,
            _ => Err(Unknown),
        }
    }

    fn belief(&self) -> Duration {
        self.config().belief()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::kubernetes::{Trouble, Verb};
    use tenure::lease::kubernetes::{Config, Kubernetes};
    use tenure::lease::{Boot, Refusal};
    use tenure::random::Random;
    use tenure::{Election, Event, Input, Instant, Output, Standing, Token};

    /// Neither a node nor a host of one.
    const KUBECTL: u16 = 9;
    const SECOND: u64 = 1_000_000;

    /// Nodes on one clock, which the API server answers at once.
    struct Desk {
        cluster: Cluster,
        nodes: Vec<Kubernetes>,
        now: u64,
        tokens: Vec<Token>,
    }

    fn machine(node: u16, now: u64) -> Kubernetes {
        let name = Identity::new(&format!("pod-{node}")).unwrap();
        let claimant = Claimant::new(name).with_metadata("10.0.0.1:80").unwrap();
        let boot = Boot {
            incarnation: 1,
            seed: u64::from(node),
        };
        Kubernetes::new(Config::new(claimant), boot, Instant::from_micros(now)).unwrap()
    }

    impl Desk {
        fn new(nodes: u16) -> Self {
            let mut desk = Self {
                cluster: Cluster::default(),
                nodes: (0..nodes).map(|node| machine(node, 0)).collect(),
                now: 0,
                tokens: Vec::new(),
            };
            desk.settle();
            desk.run(SECOND);
            desk
        }

        fn drain(&mut self) {
            for client in 0..self.nodes.len() {
                while let Some(output) = self.nodes[client].poll() {
                    match output {
                        Output::Request(ticket, request) => {
                            let ask = StoreAsk::Kubernetes(request);
                            self.cluster.ask(self.now, client as u16, ticket, &ask);
                        }
                        Output::Event(Event::Elected(token)) => self.tokens.push(token),
                        Output::Event(_) => {}
                        Output::Send(_, never) => match never {},
                    }
                }
            }
        }

        fn settle(&mut self) {
            self.drain();
            while let Some((client, ticket, said)) = Service::poll(&mut self.cluster) {
                let StoreSaid::Kubernetes(result) = said else {
                    panic!("it says nothing else")
                };
                let now = Instant::from_micros(self.now);
                self.nodes[usize::from(client)].handle(now, Input::Reply(ticket, result));
                self.drain();
            }
            assert!(self.leaders().len() < 2, "at {}", self.now);
        }

        /// Lets so much time pass.
        fn run(&mut self, span: u64) {
            let until = self.now + span;
            loop {
                let deadlines = self.nodes.iter().filter_map(Election::deadline);
                let due = deadlines.map(Instant::as_micros).chain(self.cluster.due());
                let Some(due) = due.min().filter(|due| *due <= until) else {
                    break;
                };
                self.now = self.now.max(due);
                self.cluster.wake(self.now);
                for node in &mut self.nodes {
                    node.handle(Instant::from_micros(self.now), Input::Timeout);
                }
                self.settle();
            }
            self.now = until;
        }

        fn leaders(&self) -> Vec<u16> {
            let now = Instant::from_micros(self.now);
            let leads = |node: &u16| {
                let standing = self.nodes[usize::from(*node)].standing(now);
                matches!(standing, Standing::Leading(_))
            };
            (0..self.nodes.len() as u16).filter(leads).collect()
        }

        fn call(&mut self, call: &Call) -> Answer {
            let ticket = Ticket {
                incarnation: 1,
                number: 1,
            };
            self.cluster.api.ask(self.now, KUBECTL, ticket, call);
            self.cluster.api.poll().expect("it answers at once").2
        }

        fn lease(&mut self) -> Lease {
            match self.call(&Call::Get(NAME.into())) {
                Answer::Object(lease) => lease,
                answer => panic!("{answer:?}"),
            }
        }

        fn rising(&self) -> bool {
            self.tokens.is_sorted_by(|one, next| one < next)
        }
    }

    #[test]
    fn a_record_is_what_the_object_says() {
        let record = Record {
            holder: Some(machine(1, 0).config().common.claimant.clone()),
            nonce: Nonce(u128::MAX - 1),
            seconds: 15,
            transitions: 7,
            acquired: Some(-1),
            since: Some(u64::MAX),
        };
        let Call::Create(mut lease) = call(5, &Request::Create(record.clone())) else {
            panic!("it creates")
        };
        assert_eq!(super::record(&lease), record);
        assert!(lease.metadata.annotations.is_sorted());
        // Another client writes its name there, and leaves the rest.
        lease.spec.holder_identity = Some("zoe".into());
        let other = super::record(&lease);
        assert_eq!((other.nonce, other.since), (Nonce(0), None));
        assert_eq!(
            other.holder,
            Some(Claimant::new(Identity::new("zoe").unwrap()))
        );
        // Nobody is nobody, whether it is said or not.
        for nobody in [None, Some("".into())] {
            lease.spec.holder_identity = nobody;
            assert_eq!(super::record(&lease).holder, None);
        }
        let freed = Record {
            holder: None,
            ..record
        };
        let Call::Create(lease) = call(5, &Request::Create(freed)) else {
            panic!("it creates")
        };
        assert_eq!(lease.metadata.annotations, []);
    }

    /// Until the first renewal it is the version of the object.
    #[test]
    fn the_token_of_a_holder_is_shown_from_the_first_instant_on() {
        let mut desk = Desk::new(2);
        for _ in 0..3 {
            let shown = &desk.cluster.records(desk.now)[0];
            assert_eq!((shown.token, shown.holds), (desk.tokens[0].counter, true));
            desk.run(2 * SECOND);
        }
        assert_eq!(desk.tokens.len(), 1);
    }

    /// LS-1, kubernetes/kubernetes#23731: one whose permission to write is gone stops, and another takes over.
    #[test]
    fn who_may_not_write_any_more_is_replaced() {
        let mut desk = Desk::new(2);
        let [leader] = desk.leaders()[..] else {
            panic!("one leads")
        };
        desk.cluster.api.forbid(leader, Verb::Update);
        desk.run(25 * SECOND);
        assert_eq!(desk.leaders(), [1 - leader]);
        desk.cluster.api.forbid_nothing();
        desk.run(25 * SECOND);
        assert_eq!(desk.leaders(), [1 - leader]);
        assert!(desk.tokens.len() == 2 && desk.rising());
    }

    /// LS-6, kubernetes/kubernetes#91966; and a release that etcd carries out when nobody expects it any more: either it
    /// frees the lease that it is of, or nothing.
    #[test]
    fn a_release_that_is_carried_out_late_frees_no_other_lease() {
        for late in (1..40).map(|seconds| seconds * SECOND) {
            let mut desk = Desk::new(2);
            let [leader] = desk.leaders()[..] else {
                panic!("one leads")
            };
            desk.cluster.api.trouble(Some(Trouble::Late(late)));
            let now = Instant::from_micros(desk.now);
            desk.nodes[usize::from(leader)].handle(now, Input::Resign { to: None });
            desk.settle();
            // What else is tried now fails.
            desk.cluster.api.trouble(Some(Trouble::Overloaded));
            desk.run(SECOND);
            desk.cluster.api.forbid(leader, Verb::Update);
            desk.cluster.api.trouble(None);
            desk.run(45 * SECOND);
            assert_eq!(desk.leaders(), [1 - leader]);
            assert!(desk.tokens.len() == 2 && desk.rising());
            let holder = desk.lease().spec.holder_identity;
            assert_eq!(holder, Some(format!("pod-{}", 1 - leader).into()));
        }
    }

    /// Refusals, failures that did it and that did not, and what is done much later: whatever comes, no two lead, and soon
    /// after it is over one does.
    #[test]
    fn whatever_is_wrong_with_the_server_no_two_lead() {
        let mut elected = 0;
        for seed in 0..300 {
            let mut random = Random::from_seed(seed);
            let mut desk = Desk::new(3);
            for _ in 0..40 {
                let trouble = match random.below(6) {
                    0 => Some(Trouble::Overloaded),
                    1 => Some(Trouble::Fails { done: false }),
                    2 => Some(Trouble::Fails { done: true }),
                    3 => Some(Trouble::Late(random.below(30 * SECOND))),
                    _ => None,
                };
                desk.cluster.api.trouble(trouble);
                desk.cluster.api.write_elsewhere(random.below(5));
                let node = random.below(6) as usize;
                let now = Instant::from_micros(desk.now);
                if let Some(node) = desk.nodes.get_mut(node) {
                    node.handle(now, Input::Resign { to: None });
                }
                desk.settle();
                desk.run(random.below(15 * SECOND));
            }
            desk.cluster.api.trouble(None);
            desk.run(70 * SECOND);
            assert_eq!(desk.leaders().len(), 1, "seed {seed}");
            assert!(desk.rising(), "seed {seed}");
            elected += desk.tokens.len();
        }
        assert!(elected > 2000, "{elected}");
    }

    /// Somebody deletes the object while it is held.
    #[test]
    fn a_deleted_object_costs_a_leader_and_no_more() {
        let mut desk = Desk::new(3);
        let former = desk.lease();
        let gone = desk.call(&Call::Delete {
            name: NAME.into(),
            uid: former.metadata.uid,
            resource_version: None,
        });
        assert_eq!(gone, Answer::Deleted);
        desk.run(3 * SECOND);
        assert_eq!(desk.leaders(), []);
        desk.run(22 * SECOND);
        assert_eq!(desk.leaders().len(), 1);
        let lease = desk.lease();
        assert_ne!(lease.metadata.uid, former.metadata.uid);
        assert_eq!(lease.spec.lease_transitions, Some(0));
        assert!(desk.tokens.len() == 2 && desk.rising());
    }

    /// Somebody writes another name into it: that one is waited out, though it never was there.
    #[test]
    fn an_object_that_is_edited_is_waited_out() {
        let mut desk = Desk::new(2);
        let mut lease = desk.lease();
        lease.spec.holder_identity = Some("zoe".into());
        assert!(matches!(desk.call(&Call::Update(lease)), Answer::Object(_)));
        desk.run(14 * SECOND);
        assert_eq!(desk.leaders(), []);
        desk.run(11 * SECOND);
        assert_eq!(desk.leaders().len(), 1);
        assert_eq!(desk.lease().spec.lease_transitions, Some(1));
    }

    /// After a restore versions fall back: nobody leads by a token that is not above the former ones, until the cluster has
    /// come as far again, or the operator raises the generation.
    #[test]
    fn after_a_restore_no_token_is_issued_twice() {
        let mut desk = Desk::new(1);
        let snapshot = desk.cluster.api.kept().clone();
        for _ in 0..2 {
            let now = Instant::from_micros(desk.now);
            desk.nodes[0].handle(now, Input::Resign { to: None });
            desk.settle();
            desk.run(40 * SECOND);
        }
        assert_eq!(desk.tokens.len(), 3);
        desk.cluster.api.restore(snapshot);
        desk.run(200 * SECOND);
        let refused = desk.nodes[0].refusals();
        assert!(refused.count(Refusal::TokenFellBack) > 0);
        assert!(desk.tokens.len() > 3 && desk.rising());
    }
}
