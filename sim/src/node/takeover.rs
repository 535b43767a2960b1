//! Hosts the takeover: asks the resources for it, and tells it what the election shows.

use super::Node;
use super::service::ask_resources;
use crate::packet::Packet;
use crate::resource::ELECTION;
use crate::scheme::Hosted;
use crate::world::env::Env;
use tenure::fence::Pass;
use tenure::takeover::{Event, Input, Output, Reply, Request};
use tenure::{Instant, Standing, Tenure, Ticket};

impl<M: Hosted> Node<M> {
    /// The node was established: it takes over.
    pub(super) fn begin_takeover(&mut self, env: &mut Env, me: usize) {
        if let (Some(machine), Some(shown)) = (&self.machine, self.shown(env)) {
            let holder = machine.holder();
            if let (_, Standing::Leading(Tenure { token, .. })) = shown
                && !token.is_issued()
            {
                let pass = Pass {
                    election: ELECTION,
                    token,
                    holder,
                };
                let read = self.app.established_without_token(pass);
                return ask_resources(env, me, read);
            }
            self.app.established(shown, holder, env.clients.takeover);
            self.carry_out_takeover(env, me);
        }
    }

    /// Something happened that the takeover has to know.
    pub(super) fn take_over(&mut self, env: &mut Env, me: usize, input: Input<u64>) {
        if let Some((now, standing)) = self.shown(env) {
            self.app.hand(now, standing, input);
            self.carry_out_takeover(env, me);
        }
    }

    /// The takeover found that the node does not lead as it should.
    pub(super) fn resign_if_wanted(&mut self, env: &mut Env, me: usize) {
        if std::mem::take(&mut self.resigns) {
            self.feed(env, me, tenure::Input::Resign { to: None });
        }
    }

    /// The node's own time, and what its election shows then.
    fn shown(&self, env: &Env) -> Option<(Instant, Standing)> {
        let now = self.clock.reads(env.now);
        Some((now, self.machine.as_ref()?.standing(now)))
    }

    fn carry_out_takeover(&mut self, env: &mut Env, me: usize) {
        while let Some(output) = self.app.poll() {
            match output {
                Output::Event(Event::Ready(_)) => self.next_job(env, me),
                Output::Event(Event::Over(_)) => self.stop_work(env, me),
                Output::Event(_) => {}
                Output::Resign(_) => self.resigns = true,
                Output::Request(ticket, pass, request) => {
                    let reply = self.carry_out_request(env, me, ticket, pass, request);
                    if let (Some(reply), Some((now, standing))) = (reply, self.shown(env)) {
                        self.app
                            .hand(now, standing, Input::Reply(ticket, Ok(reply)));
                    }
                }
            }
        }
    }

    /// What can be answered at once is; the resources answer the rest.
    fn carry_out_request(
        &mut self,
        env: &mut Env,
        me: usize,
        ticket: Ticket,
        pass: Pass,
        request: Request<u64>,
    ) -> Option<Reply<u64>> {
        if request != Request::Stop {
            self.app.takes_over_as(pass, env.jobs.is_some());
        }
        match request {
            Request::Fence(resource) => {
                self.app.fences(resource as usize, ticket);
                let actor = env.resource_actor(resource as usize);
                env.send_outside(me, actor, 0, Packet::Fence { pass });
                None
            }
            Request::Watch => {
                self.app.watches(ticket);
                Some(Reply::Watching)
            }
            Request::Read(resource) => {
                self.app.reads(resource as usize, ticket);
                let actor = env.resource_actor(resource as usize);
                env.send_outside(me, actor, 0, Packet::Read { pass });
                None
            }
            Request::List { .. } => {
                if self.app.lists(ticket) {
                    ask_resources(env, me, Packet::List { pass });
                    return None;
                }
                let (items, more) = (Vec::new(), false);
                Some(Reply::Page { items, more })
            }
            Request::Claim { from, .. } => {
                let claims = self.app.claims(ticket, from).into_iter().flatten();
                for (resource, claim) in claims.enumerate() {
                    env.send_outside(me, env.resource_actor(resource), 0, claim);
                }
                None
            }
            Request::Resume { key, .. } => {
                self.start_job(env, me, key);
                Some(Reply::Resumed)
            }
            Request::Announce => Some(Reply::Announced),
            // Its work was stopped when the tenure was over.
            Request::Drain(_) | Request::Stop => Some(Reply::Stopped),
        }
    }
}
