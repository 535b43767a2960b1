//! The jobs a leader works at: it asks its standing before it begins and before it writes the effect, and stops where its
//! tenure ends. What it cannot keep is that no time passes between the check and the effect: for that there is the fence.

use super::{Node, Status};
use crate::check::Fact;
use crate::physics::trace::{Event, Kind};
use crate::scheme::Hosted;
use crate::world::env::{Due, Env, Flaw};
use tenure::Token;

impl<M: Hosted> Node<M> {
    /// Makes the next job its own, if one is due and it may.
    pub(crate) fn next_job(&mut self, env: &mut Env, me: usize) {
        let (Some(jobs), Status::Up) = (env.jobs, self.status) else {
            return;
        };
        let due = env.now / jobs.every.max(1);
        let Some((token, _)) = self.leading(env) else {
            return;
        };
        if let Some(claims) = self.app.claim(due, token) {
            for (resource, claim) in claims.into_iter().enumerate() {
                env.send_outside(me, env.resource_actor(resource), 0, claim);
            }
        }
    }

    /// The job was given to it: it works at it if it leads still.
    pub(super) fn start_job(&mut self, env: &mut Env, me: usize, job: u64) {
        let (Some(jobs), Some((token, _))) = (env.jobs, self.leading(env)) else {
            return;
        };
        let until = env.now.saturating_add(jobs.takes);
        if self.app.start(job, token, until) {
            env.emit(Event::new(Kind::JobStarted, me).term(token.counter).a(job));
            tell_work(env, me, job, true);
            self.work(env, me);
        }
    }

    /// The work of a job is done, or the tenure may be over, unless the work was stopped or frozen meanwhile.
    pub(crate) fn look_at_work(&mut self, env: &mut Env, me: usize) {
        if self.status == Status::Up && self.app.looks(env.now) {
            self.work(env, me);
        }
    }

    /// Goes on with the work, up to its end or that of the tenure: a hard deadline, which a process keeps by its own clock
    /// (it does not wait for the news that it was deposed). What is done leaves when it was thought about.
    fn work(&mut self, env: &mut Env, me: usize) {
        let may = self.leading(env);
        let Some((token, end)) = may.or_else(|| self.works_on(env)) else {
            return self.stop_work(env, me);
        };
        let due = env.now.saturating_add(env.clients.think);
        if self.app.worked(env.now, token, due).is_some() {
            tell_work(env, me, 0, false);
            self.think_until(env, me, due);
        } else if let Some(look) = self.app.look_at(end) {
            env.queue.push(look, Due::Work(me as u16));
        }
    }

    /// The tenure is over, and the work with it.
    pub(super) fn stop_work(&mut self, env: &mut Env, me: usize) {
        if self.works_on(env).is_some() {
            return;
        }
        let token = self.app.token();
        if let (Some(job), Some(token)) = (self.app.deposed(), token) {
            env.emit(Event::new(Kind::JobStopped, me).term(token.counter).a(job));
            tell_work(env, me, 0, false);
        }
    }

    /// The process freezes, or dies: it does not work.
    pub(super) fn freeze_work(&mut self, env: &mut Env, me: usize) {
        if self.app.working().is_some() {
            tell_work(env, me, 0, false);
            self.app.freeze(env.now);
        }
    }

    /// The process goes on, after it looked at the time: with what is left of its work, if its tenure is not over.
    pub(super) fn thaw_work(&mut self, env: &mut Env, me: usize) {
        if let Some(job) = self.app.thaw(env.now) {
            tell_work(env, me, job, false);
            self.work(env, me);
        }
        self.next_job(env, me);
    }

    /// The tenure that a scheduler with a mistake works on in.
    fn works_on(&self, env: &Env) -> Option<(Token, u64)> {
        let job = self.app.working().filter(|_| env.flawed(Flaw::WorksOn));
        job.and(self.app.token()).map(|token| (token, u64::MAX))
    }
}

fn tell_work(env: &mut Env, node: usize, job: u64, begins: bool) {
    env.hear(Fact::Works { node, job, begins });
}
