//! A server of a store that is replicated: one replica, and the machine that keeps its log. What changes the store, and the
//! time of leases, is the business of whoever leads; reads and watches are served by any, from what it has applied.

#[cfg(not(target_family = "wasm"))]
use super::Watch;
use super::replica::WaitingRead;
use super::{
    Answer, Call, Done, Operation, Range, Reading, Replica, Request, Said, Server, Told, Want,
};
use crate::scheme::Scheme;
use std::sync::Arc;
use tenure::{Instant, Standing};

/// A replica while its machine is at hand.
#[derive(Debug)]
pub(crate) struct Replicated<'a, M> {
    pub(crate) replica: &'a mut Replica,
    pub(crate) machine: &'a mut M,
}

/// A client and the number of its call.
type Who = (u16, u64);

impl<M: Scheme> Server for Replicated<'_, M> {
    fn hear(&mut self, now: u64, client: u16, call: &Call) {
        let now = Instant::from_micros(now);
        let who = (client, call.number);
        match &call.want {
            Want::Do(request, reading) => match (&**request, reading) {
                (Request::Do(Operation::Get(_)), Reading::Confirmed | Reading::Leased)
                    if self.machine.reads_by_entry() =>
                {
                    self.carry_out(now, who, request);
                }
                (Request::Do(Operation::Get(range)), Reading::Confirmed) => {
                    self.read_confirmed(now, who, range);
                }
                (Request::Do(Operation::Get(range)), Reading::Leased) => {
                    self.read_leased(now, who, range);
                }
                (Request::Do(Operation::Get(_)), Reading::Local) if !self.machine.shows(now) => {
                    self.point_elsewhere(who);
                }
                (Request::Do(Operation::Get(range)), Reading::Local) => {
                    let answer = self.replica.read(range);
                    self.replica.say(who, Said::Answered(Ok(answer)));
                }
                _ => self.carry_out(now, who, request),
            },
            // A server that knows of no leader hears of nothing new, and does not pretend to (etcd's WithRequireLeader).
            #[cfg(not(target_family = "wasm"))]
            Want::Watch(Watch::Progress) if self.machine.look().leader.is_none() => {}
            #[cfg(not(target_family = "wasm"))]
            Want::Watch(watch) => self.replica.watch(who, watch),
        }
    }

    fn poll(&mut self) -> Option<Told> {
        self.replica.poll()
    }
}

impl<M: Scheme> Replicated<'_, M> {
    fn leads(&self, now: Instant) -> bool {
        matches!(self.machine.standing(now), Standing::Leading(_))
    }

    /// Nothing is done here.
    fn point_elsewhere(&mut self, who: Who) {
        let leader = self.machine.look().leader;
        self.replica.say(who, Said::Elsewhere(leader));
    }

    fn carry_out(&mut self, now: Instant, who: Who, request: &Arc<Request>) {
        if !self.leads(now) {
            return self.point_elsewhere(who);
        }
        if let Request::KeepAlive { lease } = **request {
            // No part of the log: who leads keeps the time.
            let answer = self.replica.kv().kept_alive(lease);
            if let (
                Ok(Answer {
                    done: Done::Lease(ttl),
                    ..
                }),
                Some(lessor),
            ) = (&answer, &mut self.replica.lessor)
            {
                lessor.begin(now.as_micros(), lease, *ttl);
            }
            return self.replica.say(who, Said::Answered(answer));
        }
        match self.machine.propose(now) {
            Some(at) => self.replica.proposed(at, who, request.clone()),
            None => self.point_elsewhere(who),
        }
    }

    /// Answered when a majority has confirmed up to where the state must have come, and it has.
    fn read_confirmed(&mut self, now: Instant, (client, number): Who, range: &Range) {
        match self.machine.read(now) {
            Some(read) => self.replica.waits(WaitingRead {
                read,
                index: None,
                client,
                number,
                range: range.clone(),
            }),
            None => self.replica.say((client, number), Said::Elsewhere(None)),
        }
    }

    fn read_leased(&mut self, now: Instant, who: Who, range: &Range) {
        let index = self.machine.read_leased(now);
        let reached = index.is_some_and(|index| index <= self.replica.applied().index);
        let answer = self.replica.read(range);
        // The state was read: only now it is seen whether the lease held that long (INV-R3).
        if reached && self.leads(now) {
            self.replica.say(who, Said::Answered(Ok(answer)));
        } else {
            self.point_elsewhere(who);
        }
    }
}
