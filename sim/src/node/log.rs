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
use crate::scheme::{Carried, Hosted, Logged};
use crate::store::replica::{Command, Replica};
use crate::store::{Call, Lessor, Replicated, Request, Server};
#[cfg(not(target_family = "wasm"))]
use crate::store::{Want, Watch};
#[cfg(not(target_family = "wasm"))]
use crate::world::env::Flaw;
use crate::world::env::{Due, Env};
#[cfg(not(target_family = "wasm"))]
use std::borrow::Cow;
use std::sync::Arc;
use tenure::Instant;
use tenure::log::Position;

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
        #[cfg(feature = "peers")]
        {
            self.office = None;
        }
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
        #[cfg(feature = "peers")]
        self.open_office(env);
        if let Some(replica) = &self.replica {
            let (at, state) = (replica.applied(), crate::store::print(replica.kv()));
            #[cfg(feature = "peers")]
            env.tell_kraft(|kraft| kraft.restarted(me, at.term));
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
            Carried::Cut(_) | Carried::Anew(Position::START) => Ok(None),
            Carried::State(last) | Carried::Anew(last) => {
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
                (Carried::Anew(last), _) => {
                    logs.asked(now, me, Change::Anew(last), std::iter::empty())
                }
                (Carried::Cut(last), _) => {
                    logs.asked(now, me, Change::Cut(last), std::iter::empty())
                }
                _ => Default::default(),
            });
        }
        #[cfg(feature = "peers")]
        self.tell_entries(env, me, changed);
        load
    }

    /// What the disk holds may have changed.
    pub(super) fn tell_disk(&self, env: &mut Env, me: usize) {
        let held = self.disk.durable().map(|shelf| &shelf.stored);
        let held = held.map(|stored| (stored.log(), stored.synced()));
        env.judge_logs(me, |logs, now| logs.disk(now, me, held));
        #[cfg(feature = "peers")]
        self.tell_epochs(env, me);
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
            #[cfg(feature = "peers")]
            env.tell_kraft(|kraft| kraft.is_at(me, at.term));
            env.judge_logs(me, |logs, now| logs.installed(now, me, at, state));
            // What the snapshot remembers of its past; who needs more is told that it is forgotten.
            #[cfg(not(target_family = "wasm"))]
            if replica.tell_watchers() {
                env.meet(Mark::WatchersCaughtUp);
            }
        }
        if committed != self.committed {
            let look = self.look;
            let leads = look.role.leads().then_some(look.term);
            self.committed = committed;
            env.emit(
                Event::new(Kind::Committed, me)
                    .term(self.look.term)
                    .a(committed),
            );
            env.judge_logs(me, |logs, now| logs.committed(now, me, committed, leads));
        }
        let leader = self.look.leader;
        while let Some(applied) = replica.apply_next(log, committed, leader, now.as_micros()) {
            let (at, print) = (applied.at, applied.print);
            let revision = replica.kv().revision();
            #[cfg(not(target_family = "wasm"))]
            if let Some(watches) = &mut env.watches {
                watches.reached(env.now, replica.kv());
            }
            #[cfg(feature = "peers")]
            env.tell_kraft(|kraft| kraft.is_at(me, at.term));
            #[cfg(feature = "peers")]
            if let Some(office) = &mut self.office {
                let record = replica.record(at).flatten();
                office.committed(now, at, record);
                let image = office.image();
                env.judge_brokers(me, |judges, now| judges.committed(now, at, record, image));
            }
            env.judge_logs(me, |logs, now| {
                logs.reached(now, revision);
                logs.applied(now, me, at, print)
            });
            if self.look.role.leads() && at.term == self.look.term {
                env.stages.synchronised(env.now);
            }
            if replica.just_made() {
                let state = crate::store::print(replica.kv());
                env.judge_logs(me, |logs, now| logs.snapshot(now, at, state));
            }
            #[cfg(not(target_family = "wasm"))]
            if applied.revoked {
                env.meet(Mark::LeaseRevoked);
            }
            if applied.answered {
                env.judge_logs(me, |logs, now| logs.answered(now, at));
            }
        }
        while let Some((upto, index)) = machine.poll_read() {
            replica.confirmed(upto, index);
        }
        replica.answer_reads();
        #[cfg(not(target_family = "wasm"))]
        replica.tell_watchers();
        speak(env, me, replica);
        let claims = machine.applied(now, replica.applied().index);
        let Some(base) = machine.log().map(|log| log.base().index) else {
            return claims;
        };
        // What is decided of brokers is kept as it was decided: there are no snapshots of it.
        #[cfg(feature = "peers")]
        let base = if self.office.is_some() {
            u64::MAX
        } else {
            base
        };
        if let Some(index) = replica.compactable().filter(|index| *index > base) {
            machine.compact(now, index);
            return claims || machine.log().is_some_and(|log| log.base().index > base);
        }
        claims
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

    /// A client wants something of the store.
    pub(super) fn call_store(&mut self, env: &mut Env, me: usize, client: u16, call: &Call) {
        let now = self.clock.reads(env.now);
        #[cfg(feature = "peers")]
        let end = self.end_of_log();
        let (Some(replica), Some(machine)) = (&mut self.replica, &mut self.machine) else {
            return;
        };
        if call.reads_locally() && machine.shows(now) {
            let (revision, lags) = (replica.kv().revision(), self.disk.lags(env.now));
            env.judge_logs(me, |logs, now| logs.read_locally(now, me, revision, lags));
        }
        #[cfg(not(target_family = "wasm"))]
        let call = &mistaken(env, call, replica.kv().revision());
        let mut server = Replicated { replica, machine };
        server.hear(now.as_micros(), client, call);
        speak(env, me, replica);
        #[cfg(feature = "peers")]
        self.tell_proposals(env, me, end);
        // Whatever came of it, the machine may have looked at the time.
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
        #[cfg(feature = "peers")]
        let end = self.end_of_log();
        while let (Some(replica), Some(machine)) = (&mut self.replica, &mut self.machine)
            && let Some(lessor) = &mut replica.lessor
            && let Some(lease) = lessor.over(now.as_micros(), REVOKE_AGAIN)
        {
            let number = replica.own_number(life);
            if let Some(at) = machine.propose(now) {
                let who = (me as u16, number);
                replica.proposed_own(at, who, Arc::new(Request::Revoke { lease }));
            }
        }
        #[cfg(feature = "peers")]
        self.tell_proposals(env, me, end);
        self.settle(env, me);
    }
}

/// What a server takes a call for: one with a mistake, for another than it is.
#[cfg(not(target_family = "wasm"))]
fn mistaken<'c>(env: &Env, call: &'c Call, newest: u64) -> Cow<'c, Call> {
    let Want::Watch(Watch::From(range, from)) = &call.want else {
        return Cow::Borrowed(call);
    };
    let from = if env.flawed(Flaw::WatchesFromNow) {
        newest + 1
    } else if env.flawed(Flaw::WatchesFromBefore) {
        from.saturating_sub(1)
    } else {
        return Cow::Borrowed(call);
    };
    Cow::Owned(Call {
        number: call.number,
        want: Want::Watch(Watch::From(range.clone(), from)),
    })
}

/// What is to be said to clients goes out.
fn speak(env: &mut Env, me: usize, replica: &mut Replica) {
    while let Some((client, number, said)) = replica.poll() {
        let said = Arc::new(said);
        env.send_outside(me, usize::from(client), 0, Packet::Said { number, said });
    }
}
