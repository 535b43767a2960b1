//! What the node does for clients and at resources: messages in, the application's writes out.
//!
//! It serves clients when it leads; or, where they write through anyone, as if nobody led.

use super::turn::Late;
use super::{Node, Status};
use crate::app::Through;
use crate::check::linearizable::Use;
use crate::packet::{Done, Outcome, Packet};
use crate::physics::network::Flight;
use crate::physics::trace::{Event, Kind};
use crate::resource::ELECTION;
use crate::scheme::{Answer, Hosted};
use crate::world::env::{Due, Env, Flaw, message_event};
use std::sync::Arc;
use tenure::fence::Pass;
use tenure::takeover::Input;
use tenure::{NodeId, Token};

impl<M: Hosted> Node<M> {
    pub(super) fn deliver(&mut self, env: &mut Env, me: usize, flight: Flight<Packet>) {
        #[cfg(feature = "peers")]
        if (flight.from as usize) < env.nodes {
            let (now, sent) = (env.now, flight.sent);
            env.tell_kraft(|kraft| kraft.reads(now, me, sent));
        }
        let Flight {
            id,
            from,
            payload,
            cause,
            ..
        } = flight;
        env.trace.cause = cause;
        env.trace.cause = env.emit(message_event(Kind::Deliver, me, from as usize, &payload).b(id));
        #[cfg(feature = "peers")]
        env.heard(me, from, &payload);
        match payload {
            #[cfg(feature = "peers")]
            Packet::Request { request } if env.has_sentinels() => {
                // Whoever asks a sentinel is told where the master is.
                let outcome = Outcome::Redirected(self.look.leader);
                env.send_outside(me, from.into(), 0, Packet::Reply { request, outcome });
            }
            Packet::Request { request } => self.serve(env, me, request),
            Packet::Answer { pass, done } => {
                let resource = (from as usize).saturating_sub(env.resource_actor(0));
                let forgets = env.flawed(Flaw::ForgetsOthers);
                let claims = matches!(done, Done::Claimed(_));
                let taken = match self.app.answered(resource, pass, done, forgets) {
                    Some((ticket, reply)) => {
                        self.take_over(env, me, Input::Reply(ticket, Ok(reply)));
                        claims
                    }
                    None => false,
                };
                match done {
                    Done::Seen { request, value } => {
                        let due = env.now.saturating_add(env.clients.think);
                        if self.app.seen(resource, pass, (request, value), due) {
                            self.think_until(env, me, due);
                        }
                    }
                    // What was taken over was begun with that.
                    Done::Claimed(job) if resource == 0 && !taken => self.start_job(env, me, job),
                    Done::Listed { .. } | Done::Finished(_) => self.next_job(env, me),
                    _ => {}
                }
                // One resource speaks for the write; the other is there to be compared with.
                let heard = match done {
                    Done::Written { request, value } => Some(Use::Heard { request, value }),
                    Done::Refused { request, .. } => Some(Use::Refused { request }),
                    _ => None,
                };
                if let Some(heard) = heard {
                    env.used(resource, heard);
                }
                let outcome = match done {
                    Done::Written { request, value } => {
                        Some((request, Outcome::Acknowledged(value)))
                    }
                    Done::Refused { request, .. } if request != 0 => {
                        Some((request, Outcome::Refused))
                    }
                    _ => None,
                };
                let speaks = resource == env.speaker();
                if let Some((request, outcome)) = outcome.filter(|_| speaks) {
                    env.send_outside(
                        me,
                        env.client_actor(),
                        0,
                        Packet::Reply { request, outcome },
                    );
                }
                self.resign_if_wanted(env, me);
            }
            Packet::Call(call) => self.call_store(env, me, from, &call),
            #[cfg(feature = "peers")]
            Packet::Brokers(said) => self.hear_brokers(env, me, from, &said),
            Packet::StoreSaid { ticket, said } => {
                let said = Answer::Store(Arc::unwrap_or_clone(said));
                self.feed(env, me, tenure::Input::Reply(ticket, Ok(said)));
                while let Some(token) = self.machine.as_mut().and_then(M::poll_refused) {
                    env.store_refused(from.into(), me, token);
                }
            }
            other => {
                if let Some((message, load)) = M::unload(other) {
                    if let Some(load) = load {
                        self.take_load(&load);
                    }
                    let from = NodeId(u64::from(from));
                    self.feed(env, me, tenure::Input::Peer(from, message));
                }
            }
        }
    }

    /// A client wants to write: the standing is asked now, and the write leaves when it was thought about.
    pub(super) fn serve(&mut self, env: &mut Env, me: usize, request: u64) {
        if env.clients.through == Through::Anyone {
            return self.serve_as_anyone(env, me, request);
        }
        let leading = self.leading(env).map(|(token, _)| token);
        let due = env.now.saturating_add(env.clients.think);
        let answer = if env.flawed(Flaw::AcknowledgesUnwritten) && request.is_multiple_of(16) {
            self.app.acknowledged_unwritten()
        } else {
            self.app.asked(request, leading, self.look.leader, due)
        };
        match answer {
            Some(outcome) => env.send_outside(
                me,
                env.client_actor(),
                0,
                Packet::Reply { request, outcome },
            ),
            None => self.think_until(env, me, due),
        }
    }

    /// A write has been thought about.
    pub(crate) fn thought(&mut self, env: &mut Env, me: usize) {
        match self.status {
            Status::Up if self.is_slow() => self.queue_up(env, me, Late::Thought),
            Status::Up => self.write_what_was_thought(env, me),
            _ => {}
        }
    }

    /// A client wants to write, and nobody asks who leads: the resources are looked at, without a token.
    fn serve_as_anyone(&mut self, env: &mut Env, me: usize, request: u64) {
        if let Some(machine) = &self.machine {
            let pass = Pass {
                election: ELECTION,
                token: Token::NONE,
                holder: machine.holder(),
            };
            let look = self.app.look(request, pass);
            ask_resources(env, me, look);
        }
    }

    /// What is thought about until then leaves then.
    pub(super) fn think_until(&mut self, env: &mut Env, me: usize, due: u64) {
        if due > env.now {
            env.queue.push(due, Due::Thought(me as u16));
        } else {
            self.write_what_was_thought(env, me);
        }
    }

    /// Writes that have been thought about leave for the resources, whatever has become of the leader meanwhile.
    pub(super) fn write_what_was_thought(&mut self, env: &mut Env, me: usize) {
        while let Some(writes) = self.app.thought(env.now) {
            let kept = match writes[0] {
                Packet::Write { pass, value, .. } => Some((pass.token, value)),
                _ => None,
            };
            for (resource, packet) in writes.into_iter().enumerate() {
                let actor = env.resource_actor(resource);
                if let Packet::Write { request, .. } = packet {
                    let issued = Event::new(Kind::WriteIssued, me).with(actor);
                    env.emit(packet.term().map_or(issued, |term| issued.term(term)));
                    let node = me as u16;
                    env.used(resource, Use::Left { node, request });
                }
                env.send_outside(me, actor, env.clients.write_delay, packet);
            }
            let now = self.clock.reads(env.now);
            if let (Some((token, value)), Some(machine)) = (kept, &mut self.machine)
                && machine.keep(now, token, value)
            {
                self.settle(env, me);
            }
        }
    }
}

pub(super) fn ask_resources(env: &mut Env, me: usize, packet: Packet) {
    for resource in 0..crate::app::RESOURCES {
        env.send_outside(me, env.resource_actor(resource), 0, packet.clone());
    }
}
