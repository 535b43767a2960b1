//! Brokers: who is there, by which registration, and what it may do.

use super::{Active, Controller, Session};
use crate::isr::image::{Partition, Registration};
use crate::isr::record::{PartitionId, Record};
use crate::isr::rules::{Rule, Rules};
use crate::isr::words::{Answer, Election, Fault};
use crate::{Duration, Instant, NodeId};
use alloc::vec::Vec;

/// What a broker may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Fenced,
    Unfenced,
    /// It leads something, or others do not know yet that it does not.
    ShuttingDown,
    /// It may go.
    Stopping,
}

impl<R: Rules> Controller<R> {
    pub(super) fn register(
        &mut self,
        now: Instant,
        broker: NodeId,
        incarnation: u64,
        clean: Option<u64>,
    ) -> Result<Answer, Fault> {
        let active = self.active.as_ref().ok_or(Fault::NotController)?;
        let former = active.image.broker(broker).copied();
        let heard = active.heard(broker);
        let mut records = Vec::new();
        match former {
            // It asks again.
            Some(former) if former.incarnation == incarnation => {
                return Ok(Answer::Registered {
                    epoch: former.epoch,
                });
            }
            Some(former)
                if !former.fenced && heard.is_some_and(|at| now < at + self.config.session) =>
            {
                return Err(Fault::DuplicateRegistration);
            }
            _ => {}
        }
        let unclean = self.config.elr
            && former.is_some_and(|former| clean != Some(former.epoch))
            && self.rules.keeps(Rule::UncleanLeaves);
        // KAFKA-18106: it is fenced from here on, and leads nothing. Said before it is registered, so that the new life hears
        // of nothing that the former had, however far it has read.
        if former.is_some() {
            self.without(broker, unclean, &mut records);
        }
        let active = self.active.as_mut().ok_or(Fault::NotController)?;
        let epoch = active.next + records.len() as u64;
        records.push(Record::RegisterBroker {
            broker,
            incarnation,
        });
        let session = Session {
            broker,
            heard: now,
            offset: 0,
            goes_at: None,
        };
        match active.place(broker) {
            Ok(place) => active.sessions[place] = session,
            Err(place) => active.sessions.insert(place, session),
        }
        self.decide(records);
        Ok(Answer::Registered { epoch })
    }

    pub(super) fn heartbeat(
        &mut self,
        now: Instant,
        (broker, epoch): (NodeId, u64),
        offset: u64,
        want_fence: bool,
        want_shutdown: bool,
    ) -> Result<Answer, Fault> {
        let active = self.active.as_mut().ok_or(Fault::NotController)?;
        let registration = active.image.broker(broker).copied();
        let registration = registration.ok_or(Fault::NotRegistered)?;
        if registration.epoch != epoch && self.rules.keeps(Rule::BrokerEpochChecked) {
            return Err(Fault::StaleBrokerEpoch);
        }
        let place = active.place(broker).map_err(|_| Fault::NotRegistered)?;
        let session = &mut active.sessions[place];
        session.heard = now;
        session.offset = session.offset.max(offset);
        let goes_at = session.goes_at;
        let caught_up = offset > registration.epoch;
        let next = match state(&registration) {
            State::Fenced if want_shutdown => State::Stopping,
            State::Fenced if caught_up && !want_fence => State::Unfenced,
            State::Unfenced if want_fence && want_shutdown => State::Stopping,
            State::Unfenced if want_fence => State::Fenced,
            State::Unfenced if want_shutdown && active.image.leads(broker) => State::ShuttingDown,
            State::Unfenced if want_shutdown => State::Stopping,
            // Everybody who serves knows by then that it leads nothing.
            State::ShuttingDown
                if !active.image.leads(broker)
                    && goes_at.is_none_or(|at| active.lowest() >= at) =>
            {
                State::Stopping
            }
            stays => stays,
        };
        if next != state(&registration) {
            self.turn(&registration, next);
        }
        let active = self.active.as_ref().ok_or(Fault::NotController)?;
        Ok(Answer::Heartbeat {
            caught_up,
            fenced: active
                .image
                .broker(broker)
                .is_none_or(|broker| broker.fenced),
            may_stop: next == State::Stopping,
        })
    }

    /// A broker may do something else from now on, and what it leads changes with it.
    fn turn(&mut self, registration: &Registration, next: State) {
        let (broker, epoch) = (registration.broker, registration.epoch);
        let mut records = Vec::new();
        let (fenced, shutting_down) = match next {
            State::Fenced | State::Stopping => (true, registration.shutting_down),
            State::Unfenced => (false, false),
            State::ShuttingDown => (false, true),
        };
        let changed = (fenced, shutting_down) != (registration.fenced, registration.shutting_down);
        let change = changed.then_some(Record::ChangeBroker {
            broker,
            epoch,
            fenced,
            shutting_down,
        });
        // In an order in which no broker leads that may not, however far one has read.
        if next == State::Unfenced {
            records.extend(change);
            self.with(broker, &mut records);
        } else {
            self.without(broker, false, &mut records);
            records.extend(change);
        }
        self.decide(records);
        if let Some(active) = &mut self.active
            && next == State::ShuttingDown
            && let Ok(place) = active.place(broker)
        {
            active.sessions[place].goes_at = Some(active.next);
        }
    }

    /// A broker is silent: it is fenced, and what it led goes to others.
    pub(super) fn fence(&mut self, broker: NodeId) {
        let registration = self
            .active
            .as_ref()
            .and_then(|active| active.image.broker(broker));
        if let Some(registration) = registration.copied() {
            self.turn(&registration, State::Fenced);
        }
    }

    /// A broker whose session is over; one at a time, as each changes what the others get.
    pub(super) fn silent(&self, now: Instant) -> Option<NodeId> {
        let active = self.active.as_ref()?;
        let over = |at: Instant| self.on_the_grid(active, at) <= now;
        active
            .unfenced()
            .find(|session| over(session.heard + self.config.session))
            .map(|session| session.broker)
    }

    /// When it is looked next whether a broker is silent, and one is.
    pub(super) fn next_silence(&self, active: &Active) -> Instant {
        let first = active.unfenced().map(|session| session.heard).min();
        first.map_or(Instant::FOREVER, |heard| {
            self.on_the_grid(active, heard + self.config.session)
        })
    }

    /// The first check at or after `at`.
    fn on_the_grid(&self, active: &Active, at: Instant) -> Instant {
        let check = self.config.check.as_micros().max(1);
        let checks = at.since(active.since).as_micros().div_ceil(check);
        active.since + Duration::from_micros(checks.saturating_mul(check))
    }

    /// Takes a broker out of every ISR, and whatever it leads from it. `unclean`: it may have lost what it had.
    fn without(&self, broker: NodeId, unclean: bool, records: &mut Vec<Record>) {
        let Some(active) = &self.active else {
            return;
        };
        let image = &active.image;
        for (at, topic, partition) in image.partitions() {
            let only = partition.only(broker);
            let holds = partition.isr.or(if unclean {
                partition.elr
            } else {
                partition.isr
            });
            if only.and(holds).is_empty() && partition.leader != Some(broker) {
                continue;
            }
            let active = |who| who != broker && image.is_active(who);
            let mut plan = self.plan(topic, partition, active);
            plan.isr = partition.isr.but(only);
            if unclean {
                plan.unclean = only;
            }
            if topic.unclean {
                plan.election = Election::Unclean;
            }
            let change = plan.change(&self.rules);
            records.extend(change.map(|change| Record::ChangePartition { at, change }));
        }
    }

    /// A broker may lead again: partitions that nobody leads get whoever is valid.
    fn with(&self, broker: NodeId, records: &mut Vec<Record>) {
        self.lead(Some(broker), records);
    }

    /// Partitions that nobody leads get whoever is valid.
    pub(super) fn lead_again(&mut self) {
        let mut records = Vec::new();
        self.lead(None, &mut records);
        self.decide(records);
    }

    /// The same, where one more may lead than the log says.
    fn lead(&self, more: Option<NodeId>, records: &mut Vec<Record>) {
        let Some(active) = &self.active else {
            return;
        };
        let image = &active.image;
        let is_active = |who| Some(who) == more || image.is_active(who);
        let none_leads =
            |(_, _, partition): &(PartitionId, _, &Partition)| partition.leader.is_none();
        for (at, topic, partition) in image.partitions().filter(none_leads) {
            let mut plan = self.plan(topic, partition, is_active);
            if topic.unclean {
                plan.election = Election::Unclean;
            }
            let change = plan.change(&self.rules);
            records.extend(change.map(|change| Record::ChangePartition { at, change }));
        }
    }
}

fn state(registration: &Registration) -> State {
    match (registration.fenced, registration.shutting_down) {
        (true, _) => State::Fenced,
        (false, true) => State::ShuttingDown,
        (false, false) => State::Unfenced,
    }
}

impl Active {
    fn place(&self, broker: NodeId) -> Result<usize, usize> {
        self.sessions
            .binary_search_by_key(&broker, |session| session.broker)
    }

    fn heard(&self, broker: NodeId) -> Option<Instant> {
        let place = self.place(broker).ok()?;
        self.sessions.get(place).map(|session| session.heard)
    }

    /// Sessions of brokers that are not fenced.
    fn unfenced(&self) -> impl Iterator<Item = &Session> {
        let fenced = |session: &&Session| {
            let registration = self.image.broker(session.broker);
            registration.is_some_and(|registration| !registration.fenced)
        };
        self.sessions.iter().filter(fenced)
    }

    /// Up to where everybody who serves has applied the log.
    fn lowest(&self) -> u64 {
        let serving = self
            .sessions
            .iter()
            .filter(|session| self.image.is_active(session.broker));
        serving
            .map(|session| session.offset)
            .min()
            .unwrap_or(u64::MAX)
    }
}
