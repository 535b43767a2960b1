//! Jobs: when they fall due, and what a resource does when a leader asks for one, shown and judged.

use super::{Actor, World};
use crate::check::Fact;
use crate::jobs::told;
use crate::packet::{Done, Packet};
use crate::physics::trace::{Event, Kind};
use crate::resource::{JOB_DONE, JOB_OWNED, Resource, refusal_code};
use crate::world::env::{Due, Env, Flaw};
use tenure::fence::Pass;

impl World {
    /// A job falls due: whoever leads may do it, if it runs and is not at another.
    pub(super) fn job_due(&mut self, job: u64) {
        let env = &mut self.env;
        let Some(jobs) = env.jobs else {
            return;
        };
        let next = env.now.saturating_add(jobs.every);
        env.queue.push(next, Due::Job(job + 1));
        env.trace.cause = env.emit(Event::new(Kind::JobDue, env.client_actor()).a(job));
        env.hear(Fact::JobDue(job));
        for (node, actor) in self.actors.iter_mut().enumerate() {
            if let Actor::Node(raft) = actor {
                raft.next_job(env, node);
            }
        }
    }
}

/// What a resource answers about its jobs; `None` to any other message.
pub(super) fn use_jobs(
    env: &mut Env,
    resource: &mut Resource,
    actor: usize,
    from: u16,
    packet: &Packet,
) -> Option<(Pass, Done)> {
    let place = actor - env.resource_actor(0);
    let (pass, job, kind, b, done) = match *packet {
        Packet::List { pass } => {
            env.hear(Fact::Touched {
                resource: place,
                node: from as usize,
                token: pass.token,
            });
            let (done, owner) = told(resource.jobs());
            return Some((pass, Done::Listed { done, owner }));
        }
        Packet::Claim { pass, job, from } => {
            let owner = resource.jobs().owner(job);
            match resource.claim(&pass, job, from) {
                Ok(()) => (pass, job, Kind::JobClaimed, owner, Done::Claimed(job)),
                Err(JOB_DONE | JOB_OWNED) if env.flawed(Flaw::TakesBlindly) => {
                    return Some((pass, Done::Claimed(job)));
                }
                Err(reason) => refused(pass, job, reason, owner),
            }
        }
        Packet::Finish { pass, job } => match resource.finish(&pass, job) {
            Ok(again) => {
                let again = u64::from(again);
                (pass, job, Kind::JobDone, again, Done::Finished(job))
            }
            Err(reason) => refused(pass, job, refusal_code(reason), 0),
        },
        _ => return None,
    };
    let event = Event::new(kind, actor)
        .with(from as usize)
        .term(pass.token.counter)
        .a(job);
    // A job that had no owner is claimed of nobody.
    let of_nobody = kind == Kind::JobClaimed && b == 0;
    env.emit(if of_nobody { event } else { event.b(b) });
    let accepted = kind != Kind::JobRefused;
    env.hear(Fact::Wrote {
        resource: place,
        node: from as usize,
        token: pass.token,
        accepted,
    });
    if matches!(packet, Packet::Finish { .. }) {
        env.hear(Fact::Finished {
            resource: place,
            job,
            taken: accepted,
        });
    }
    Some((pass, done))
}

const fn refused(pass: Pass, job: u64, reason: u64, owner: u64) -> (Pass, u64, Kind, u64, Done) {
    let denied = Done::Denied { job, reason, owner };
    (pass, job, Kind::JobRefused, reason, denied)
}
