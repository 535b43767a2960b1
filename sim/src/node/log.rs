//! A node that hosts a replicated state machine: it attaches payloads to what its machine says and writes, applies what is
//! committed, in order, and answers who waited for it.

use super::{Node, Status};
use crate::check::Fact;
use crate::check::logs::Change;
#[cfg(not(target_family = "wasm"))]
use crate::marks::Mark;
use crate::packet::{Load, Packet};
use crate::physics::NEVER;
use crate::physics::trace::{Event, Kind};
use crate::scheme::{Carried, Hosted, RoleCode};
use crate::store::replica::{Command, Replica, WaitingRead};
use crate::store::{Answer, Done, Lessor, Operation, Range, Reading, Request, Said};
use crate::world::env::{Due, Env};
use std::sync::Arc;
use tenure::Instant;

/// After how long a lease that is over is proposed to be revoked once more.
const REVOKE_AGAIN: u64 = 500_000;

impl<M: Hosted> Node<M> {
    /// The state of its replica; `None` while it is crashed, or where there is no log.
    #[must_use]
    pub fn replica(&self) -> Option<&Replica> {
        self.replica.as_deref()
    }

    /// The process died, with its state; what it had asked its disk for may be lost.
    pub(super) fn lose_replica(&mut self, env: &mut Env, me: usize) {
        self.replica = None;
        self.leases_at = NEVER;
        self.tell_disk(env, me);
        #[cfg(not(target_family = "wasm"))]
        if env.judges.logs().is_some_and(|logs| logs.is_behind(me)) {
            env.meet(Mark::EntriesLost);
        }
    }

    /// The machine runs: its replica goes on from what the disk holds.
    pub(super) fn start_replica(&mut self, env: &mut Env, me: usize) {
        let has_log = self
            .machine
            .as_ref()
            .is_some_and(|machine| machine.log().is_some());
        self.replica = has_log.then(|| {
            let shelf = self.disk.durable().cloned().unwrap_or_default();
            Box::new(Replica::new(shelf.commands, shelf.snapshot))
        });
        self.committed = 0;
        if let Some(replica) = &self.replica {
            let (at, state) = (replica.applied(), crate::store::print(replica.kv()));
            env.judge_logs(me, |logs, _| logs.restarted(me, at, state));
        }
    }

    /// What was attached to a message is kept before the machine is handed the message.
    pub(super) fn take_load(&mut self, load: &Load) {
        if let Some(replica) = &mut self.replica {
            match load {
                Load::Commands(commands) => replica.take_in(commands),
                Load::State(snapshot) => replica.offer(snapshot.clone()),
            }
        }
    }

    /// The machine took something in: what it wrote at the end of its log by itself is named.
    pub(super) fn name_own_entries(&mut self) {
        if let (Some(replica), Some(machine)) = (&mut self.replica, &self.machine)
            && let Some(log) = machine.log()
        {
            replica.name_own(log);
        }
    }

    /// What is attached to something; an error where the host does not have it.
    fn load(&self, carried: Carried) -> Result<Option<Arc<Load>>, ()> {
        let Some(replica) = &self.replica else {
            return Ok(None);
        };
        match carried {
            Carried::Nothing | Carried::Entries { count: 0, .. } => Ok(None),
            Carried::Entries { after, term, count } => {
                let commands = replica.commands(after.index, term, count).ok_or(())?;
                Ok(Some(Arc::new(Load::Commands(commands))))
            }
            Carried::State(last) => {
                let state = replica.state(last).ok_or(())?;
                Ok(Some(Arc::new(Load::State(state))))
            }
        }
    }

    /// A message with what is attached to it; `None`, and it is dropped, where the host does not have that.
    pub(super) fn loaded(&self, message: M::Peer) -> Option<Packet> {
        Some(match self.load(M::carried(&message)).ok()? {
            Some(load) => M::load(message, load),
            None => M::pack(message),
        })
    }

    /// What is written beside the machine's own. The judges are told what the log is to be.
    pub(super) fn load_of_write(
        &self,
        env: &mut Env,
        me: usize,
        write: &M::Write,
    ) -> Option<Arc<Load>> {
        let changed = M::changed(write);
        // The machine never writes what did not come with a message, or was not proposed here.
        let load = self.load(changed).unwrap_or_default();
        #[cfg(not(target_family = "wasm"))]
        if let Carried::Entries {
            after, count: 1.., ..
        } = changed
            && env
                .judges
                .logs()
                .is_some_and(|logs| logs.replaces(me, after.index))
        {
            env.meet(Mark::EntriesReplaced);
        }
        if let Some((index, term, configuration)) = M::configured(write) {
            env.judge_logs(me, |logs, _| {
                logs.configured(index, term, configuration);
                Default::default()
            });
        }
        if self.replica.is_some() {
            env.judge_logs(me, |logs, now| match (changed, load.as_deref()) {
                (Carried::Entries { after, term, count }, Some(Load::Commands(commands))) => {
                    let prints = commands
                        .iter()
                        .map(|(_, payload)| payload.as_deref().map_or(0, Command::print));
                    let change = Change::Entries { after, term, count };
                    logs.asked(now, me, change, prints)
                }
                (Carried::State(last), _) => {
                    logs.asked(now, me, Change::State(last), std::iter::empty())
                }
                _ => Default::default(),
            });
        }
        load
    }

    /// What the disk holds may have changed.
    pub(super) fn tell_disk(&self, env: &mut Env, me: usize) {
        let log = self.disk.durable().map(|shelf| M::log_of(&shelf.stored));
        env.judge_logs(me, |logs, now| logs.disk(now, me, log));
    }

    /// Applies what is committed, answers who waited, and lets entries go. Whether the machine has more to say since.
    pub(super) fn apply(&mut self, env: &mut Env, me: usize) -> bool {
        let (Some(replica), Some(machine)) = (&mut self.replica, &mut self.machine) else {
            return false;
        };
        let now = self.clock.reads(env.now);
        let committed = machine.committed();
        let Some(log) = machine.log() else {
            return false;
        };
        if replica.begins(log.base()) {
            let (at, state) = (replica.applied(), crate::store::print(replica.kv()));
            env.emit(Event::new(Kind::Installed, me).term(at.term).a(at.index));
            env.judge_logs(me, |logs, now| logs.installed(now, me, at, state));
        }
        if committed != self.committed {
            let look = self.look;
            let leads = matches!(look.role, RoleCode::Elected | RoleCode::Established);
            let leads = leads.then_some(look.term);
            self.committed = committed;
            env.emit(
                Event::new(Kind::Committed, me)
                    .term(self.look.term)
                    .a(committed),
            );
            env.judge_logs(me, |logs, now| logs.committed(now, me, committed, leads));
        }
        while let Some(applied) = replica.apply_next(log, committed, now.as_micros()) {
            let (at, print) = (applied.at, applied.print);
            let revision = replica.kv().revision();
            env.judge_logs(me, |logs, now| {
                logs.reached(now, revision);
                logs.applied(now, me, at, print)
            });
            if self.look.role >= RoleCode::Elected && at.term == self.look.term {
                env.stages.synchronised(env.now);
            }
            if replica.just_made() {
                let state = crate::store::print(replica.kv());
                env.judge_logs(me, |logs, now| logs.snapshot(now, at, state));
            }
            if let Some((waiting, answer)) = applied.answer {
                #[cfg(not(target_family = "wasm"))]
                if usize::from(waiting.client) == me && answer.is_ok() {
                    env.meet(Mark::LeaseRevoked);
                }
                if usize::from(waiting.client) != me {
                    env.judge_logs(me, |logs, now| logs.answered(now, at));
                    say(
                        env,
                        me,
                        waiting.client,
                        waiting.number,
                        Said::Answered(answer),
                    );
                }
            }
            if let Some(lost) = applied.lost {
                say(
                    env,
                    me,
                    lost.client,
                    lost.number,
                    Said::Elsewhere(self.look.leader),
                );
            }
        }
        while let Some((upto, index)) = machine.poll_read() {
            replica.confirmed(upto, index, |lost| {
                say(env, me, lost.client, lost.number, Said::Elsewhere(None));
            });
        }
        while let Some((read, answer)) = replica.answer_read() {
            say(
                env,
                me,
                read.client,
                read.number,
                Said::Answered(Ok(answer)),
            );
        }
        let Some(base) = machine.log().map(|log| log.base().index) else {
            return false;
        };
        if let Some(index) = replica.compactable().filter(|index| *index > base) {
            machine.compact(now, index);
            return machine.log().is_some_and(|log| log.base().index > base);
        }
        false
    }

    /// Who leads is asked to change who takes part. False when nothing came of it.
    pub(crate) fn change_members(
        &mut self,
        env: &mut Env,
        me: usize,
        voters: &[u16],
        learners: &[u16],
    ) -> bool {
        self.ask_leader(env, me, |machine, now| {
            machine.change(now, voters, learners)
        })
    }

    /// Who leads is asked to hand over. False when nothing came of it.
    pub(crate) fn hand_over(&mut self, env: &mut Env, me: usize, to: usize) -> bool {
        self.ask_leader(env, me, |machine, now| machine.transfer(now, to))
    }

    fn ask_leader(
        &mut self,
        env: &mut Env,
        me: usize,
        ask: impl FnOnce(&mut M, Instant) -> bool,
    ) -> bool {
        let now = self.clock.reads(env.now);
        let machine = self.machine.as_mut().filter(|_| self.status == Status::Up);
        let Some(agrees) = machine.map(|machine| ask(machine, now)) else {
            return false;
        };
        self.name_own_entries();
        self.settle(env, me);
        if agrees {
            env.hear(Fact::Wished);
        }
        agrees
    }

    /// A client asks for something of the store.
    pub(super) fn ask_store(
        &mut self,
        env: &mut Env,
        me: usize,
        client: u16,
        number: u64,
        request: &Request,
        reading: Reading,
    ) {
        if let (Request::Do(Operation::Get(range)), Reading::Confirmed | Reading::Leased) =
            (request, reading)
        {
            return self.read_store(env, me, (client, number), range, reading);
        }
        if let (Request::Do(Operation::Get(range)), Reading::Local) = (request, reading) {
            return self.read_locally(env, me, (client, number), range);
        }
        let leading = self.leading(env).is_some();
        let (Some(replica), Some(machine)) = (&mut self.replica, &mut self.machine) else {
            return;
        };
        let now = self.clock.reads(env.now);
        if !leading {
            return say(env, me, client, number, Said::Elsewhere(self.look.leader));
        }
        if let Request::KeepAlive { lease } = *request {
            // No part of the log: who leads keeps the time.
            let answer = replica.kv().kept_alive(lease);
            if let (
                Ok(Answer {
                    done: Done::Lease(ttl),
                    ..
                }),
                Some(lessor),
            ) = (&answer, &mut replica.lessor)
            {
                lessor.begin(now.as_micros(), lease, *ttl);
            }
            self.arm_lessor(env, me);
            return say(env, me, client, number, Said::Answered(answer));
        }
        let Some(at) = machine.propose(now) else {
            say(env, me, client, number, Said::Elsewhere(self.look.leader));
            return self.settle(env, me);
        };
        replica.proposed(
            at,
            Command {
                client,
                number,
                request: request.clone(),
            },
        );
        self.settle(env, me);
    }

    /// A client reads what this node has, old as it may be.
    fn read_locally(
        &mut self,
        env: &mut Env,
        me: usize,
        (client, number): (u16, u64),
        range: &Range,
    ) {
        if let Some(replica) = &self.replica {
            let answer = replica.read(range);
            let revision = answer.revision;
            let lags = self.disk.lags(env.now);
            env.judge_logs(me, |logs, now| logs.read_locally(now, me, revision, lags));
            say(env, me, client, number, Said::Answered(Ok(answer)));
        }
    }

    /// A client reads.
    fn read_store(
        &mut self,
        env: &mut Env,
        me: usize,
        (client, number): (u16, u64),
        range: &Range,
        reading: Reading,
    ) {
        let now = self.clock.reads(env.now);
        let (Some(replica), Some(machine)) = (&mut self.replica, &mut self.machine) else {
            return;
        };
        if reading == Reading::Leased {
            let index = machine.read_leased(now);
            let reached = index.is_some_and(|index| index <= replica.applied().index);
            let answer = replica.read(range);
            // The state was read: only now it is seen whether the lease held that long (INV-R3).
            let said = if reached && self.leading(env).is_some() {
                Said::Answered(Ok(answer))
            } else {
                Said::Elsewhere(self.look.leader)
            };
            say(env, me, client, number, said);
            // Whatever came of it, the machine looked at the time.
            return self.settle(env, me);
        }
        match machine.read(now) {
            Some(read) => {
                replica.waits(WaitingRead {
                    read,
                    index: None,
                    client,
                    number,
                    range: range.clone(),
                });
            }
            None => say(env, me, client, number, Said::Elsewhere(None)),
        }
        self.settle(env, me);
    }

    /// It leads, or does not any more: who leads keeps the time of leases.
    pub(super) fn keep_leases(&mut self, env: &mut Env, me: usize, leads: bool) {
        let now = self.clock.reads(env.now).as_micros();
        if let Some(replica) = &mut self.replica {
            replica.lessor = leads.then(|| Lessor::promoted(now, replica.kv()));
        }
        self.arm_lessor(env, me);
    }

    /// Looks again when the next lease is over; a process that was frozen then does once it goes on.
    pub(super) fn arm_lessor(&mut self, env: &mut Env, me: usize) {
        let lessor = (self.replica.as_ref()).and_then(|replica| replica.lessor.as_ref());
        if let Some(due) = lessor.and_then(Lessor::due) {
            let due = self.clock.when(Instant::from_micros(due));
            let at = due.max(env.now + 1);
            if at < self.leases_at {
                self.leases_at = at;
                env.queue.push(at, Due::Leases(me as u16));
            }
        }
    }

    /// Leases may be over: who leads proposes to revoke them.
    pub(crate) fn look_at_leases(&mut self, env: &mut Env, me: usize) {
        if self.leases_at != env.now {
            return;
        }
        self.leases_at = NEVER;
        if self.status != Status::Up || self.leading(env).is_none() {
            return;
        }
        let now = self.clock.reads(env.now);
        let life = self.lives;
        while let (Some(replica), Some(machine)) = (&mut self.replica, &mut self.machine)
            && let Some(lessor) = &mut replica.lessor
            && let Some(lease) = lessor.over(now.as_micros(), REVOKE_AGAIN)
        {
            let number = replica.own_number(life);
            if let Some(at) = machine.propose(now) {
                let (client, request) = (me as u16, Request::Revoke { lease });
                replica.proposed(
                    at,
                    Command {
                        client,
                        number,
                        request,
                    },
                );
            }
        }
        self.settle(env, me);
    }
}

fn say(env: &mut Env, me: usize, client: u16, number: u64, said: Said) {
    let said = Arc::new(said);
    env.send_outside(me, usize::from(client), 0, Packet::Said { number, said });
}
