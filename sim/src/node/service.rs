//! What the node does for clients and at resources: messages in, the application's writes out.

use super::turn::Late;
use super::{Node, Status};
use crate::packet::{Done, Outcome, Packet};
use crate::physics::network::Flight;
use crate::physics::trace::{Event, Kind};
use crate::scheme::Scheme;
use crate::world::env::{Due, Env, Use, message_event};
use tenure::{Input, NodeId};

impl<M: Scheme> Node<M> {
    pub(super) fn deliver(&mut self, env: &mut Env, me: usize, flight: &Flight<Packet>) {
        let Flight {
            id,
            from,
            payload,
            cause,
            ..
        } = *flight;
        env.trace.cause = cause;
        env.trace.cause = env.emit(message_event(Kind::Deliver, me, from as usize, &payload).b(id));
        match payload {
            Packet::Request { request } => self.serve(env, me, request),
            Packet::Answer { pass, done } => {
                let resource = (from as usize).saturating_sub(env.resource_actor(0));
                if let Some(next) = self.app.answered(resource, pass, done) {
                    ask_resources(env, me, next);
                }
                // The fenced resource speaks for the write; the other is there to be compared with.
                let heard = match done {
                    Done::Written(request) => Some(Use::Heard { request }),
                    Done::Refused { request, .. } => Some(Use::Refused { request }),
                    _ => None,
                };
                if let Some(heard) = heard {
                    env.used(resource, heard);
                }
                let outcome = match done {
                    Done::Written(request) => Some((request, Outcome::Acknowledged)),
                    Done::Refused { request, .. } if request != 0 => {
                        Some((request, Outcome::Refused))
                    }
                    _ => None,
                };
                if let Some((request, outcome)) = outcome.filter(|_| resource == 0) {
                    env.send_outside(
                        me,
                        env.client_actor(),
                        0,
                        Packet::Reply { request, outcome },
                    );
                }
            }
            other => {
                if let Some(message) = M::unpack(other) {
                    self.feed(env, me, Input::Peer(NodeId(u64::from(from)), message));
                }
            }
        }
    }

    /// A client wants to write: the standing is asked now, and the write leaves when it was thought about.
    pub(super) fn serve(&mut self, env: &mut Env, me: usize, request: u64) {
        let leading = self.leading(env).map(|(token, _)| token);
        let due = env.now.saturating_add(env.clients.think);
        match self.app.asked(request, leading, self.look.leader, due) {
            Some(outcome) => env.send_outside(
                me,
                env.client_actor(),
                0,
                Packet::Reply { request, outcome },
            ),
            None if due > env.now => env.queue.push(due, Due::Thought(me as u16)),
            None => self.write_what_was_thought(env, me),
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

    /// Writes that have been thought about leave for the resources, whatever has become of the leader meanwhile.
    pub(super) fn write_what_was_thought(&mut self, env: &mut Env, me: usize) {
        while let Some(writes) = self.app.thought(env.now) {
            for (resource, packet) in writes.into_iter().enumerate() {
                let actor = env.resource_actor(resource);
                let issued = Event::new(Kind::WriteIssued, me).with(actor);
                env.emit(packet.term().map_or(issued, |term| issued.term(term)));
                if let Packet::Write { request, value, .. } = packet {
                    let node = me as u16;
                    env.used(
                        resource,
                        Use::Left {
                            node,
                            request,
                            value,
                        },
                    );
                }
                env.send_outside(me, actor, env.clients.write_delay, packet);
            }
        }
    }
}

pub(super) fn ask_resources(env: &mut Env, me: usize, packet: Packet) {
    for resource in 0..crate::app::RESOURCES {
        env.send_outside(me, env.resource_actor(resource), 0, packet);
    }
}
