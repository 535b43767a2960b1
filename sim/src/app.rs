//! What a node does for its clients when it leads: take over, then write to both resources.
//!
//! It keeps the two rules a leader has to keep. It asks `standing` before every effect, and it shows its token with
//! every effect. What it cannot keep is that no time passes between the two: the process may freeze there, and the
//! message may be slow. That is what the fence is for.

use crate::jobs::Scheduler;
use crate::packet::{Done, Outcome, Packet};
use crate::resource::{JOB_DONE, JOB_OWNED};
use std::collections::VecDeque;
use tenure::Token;
use tenure::fence::Pass;

/// How a new leader takes over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takeover {
    /// Fence both resources, read them, then write: right.
    FenceFirst,
    /// Read, and fence by the first write: what its predecessor still writes is lost (LS-F5).
    ReadFirst,
}

/// Through whom clients write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Through {
    /// Whoever leads.
    Leader,
    /// Any node, each in turn: it does not ask who leads, and has no token to show. The election goes on beside it,
    /// unheeded. What one alone does well (read, think, write) conflicts with the others: why one leads.
    Anyone,
}

impl Through {
    /// The resource that speaks for a write: the fenced one; for writers without a token the other, as the guard admits
    /// none of them.
    #[must_use]
    pub const fn speaker(self) -> usize {
        match self {
            Self::Leader => 0,
            Self::Anyone => 1,
        }
    }
}

/// The two resources, in the order of their actors.
pub const RESOURCES: usize = 2;

/// The application on one node; volatile.
#[derive(Clone, Debug, Default)]
pub struct App {
    office: Option<Office>,
    /// What was checked and waits for the node to have thought about it, oldest first.
    thinking: VecDeque<Thought>,
    /// What somebody who does not lead looks at before it writes.
    looking: Vec<Looked>,
}

/// What a leader keeps for one tenure.
#[derive(Clone, Copy, Debug)]
struct Office {
    pass: Pass,
    stage: Stage,
    /// Answers still missing before the next stage.
    missing: usize,
    /// The values last written: the leader is the only writer, so it reads once and counts from there.
    next: [u64; RESOURCES],
    /// If there are any to do.
    jobs: Option<Scheduler>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Fencing,
    Reading,
    /// Asks how far the jobs are.
    Listing,
    Serving,
}

#[derive(Clone, Copy, Debug)]
struct Thought {
    due: u64,
    pass: Pass,
    effect: Effect,
}

/// What is about to be done.
#[derive(Clone, Copy, Debug)]
enum Effect {
    /// Read, modified, and about to be written.
    Write {
        request: u64,
        values: [u64; RESOURCES],
    },
    /// The effect of a job.
    Finish(u64),
}

/// What was seen so far, for one write.
#[derive(Clone, Copy, Debug)]
struct Looked {
    request: u64,
    values: [Option<u64>; RESOURCES],
}

impl App {
    /// The node was established: what to ask of every resource first.
    pub fn established(&mut self, pass: Pass, takeover: Takeover, jobs: bool) -> Packet {
        let stage = match takeover {
            Takeover::FenceFirst if pass.token.is_issued() => Stage::Fencing,
            // Without a token there is nothing to fence with.
            _ => Stage::Reading,
        };
        self.office = Some(Office {
            pass,
            stage,
            missing: RESOURCES,
            next: [0; RESOURCES],
            jobs: jobs.then(Scheduler::new),
        });
        match stage {
            Stage::Fencing => Packet::Fence { pass },
            _ => Packet::Read { pass },
        }
    }

    /// The node's term is over; the job that was being worked at is stopped. What is already thought about is not taken
    /// back: nobody told the thought.
    pub fn deposed(&mut self) -> Option<u64> {
        let working = self.working();
        self.office = None;
        working
    }

    /// A client asks; `leading` is the token of the tenure that `standing` shows right now, if any. Either the answer to
    /// the client, or `None`: the write was checked and is thought about until `due`.
    pub fn asked(
        &mut self,
        request: u64,
        leading: Option<Token>,
        leader: Option<u16>,
        due: u64,
    ) -> Option<Outcome> {
        let Some(token) = leading else {
            return Some(Outcome::Redirected(leader));
        };
        match &mut self.office {
            Some(office) if office.pass.token == token && office.stage == Stage::Serving => {
                for value in &mut office.next {
                    *value += 1;
                }
                let (pass, values) = (office.pass, office.next);
                self.think(due, pass, Effect::Write { request, values });
                None
            }
            _ => Some(Outcome::NotYet),
        }
    }

    /// A write is acknowledged that nobody writes: a mistake, for the tests of the judges.
    pub(crate) fn acknowledged_unwritten(&self) -> Option<Outcome> {
        let next = self.office.map_or(0, |office| office.next[0]);
        Some(Outcome::Acknowledged(next + 1))
    }

    /// What others began is passed over: a mistake, for the tests of the judges.
    pub(crate) fn forget_others(&mut self) {
        let jobs = self.office.as_mut().and_then(|office| office.jobs.as_mut());
        if let Some(jobs) = jobs {
            jobs.forget_others();
        }
    }

    /// A client asks somebody who does not care who leads: what is looked at first.
    pub fn look(&mut self, request: u64, pass: Pass) -> Packet {
        self.looking.push(Looked {
            request,
            values: [None; RESOURCES],
        });
        Packet::Look { pass, request }
    }

    /// A resource was seen. True when all of them were: what is written is thought about until `due`.
    pub fn seen(&mut self, resource: usize, pass: Pass, seen: (u64, u64), due: u64) -> bool {
        let (request, value) = seen;
        let Some(place) = self
            .looking
            .iter()
            .position(|looked| looked.request == request)
        else {
            return false;
        };
        let looked = &mut self.looking[place];
        if let Some(slot) = looked.values.get_mut(resource) {
            *slot = Some(value);
        }
        let [Some(first), Some(second)] = looked.values else {
            return false;
        };
        self.looking.remove(place);
        let values = [first + 1, second + 1];
        self.think(due, pass, Effect::Write { request, values });
        true
    }

    /// The next effect that has been thought about by `now`, for each resource. The standing is *not* asked again: this
    /// is the gap between check and effect.
    pub fn thought(&mut self, now: u64) -> Option<[Packet; RESOURCES]> {
        let Thought { pass, effect, .. } =
            *self.thinking.front().filter(|thought| thought.due <= now)?;
        self.thinking.pop_front();
        Some(match effect {
            Effect::Write { request, values } => values.map(|value| Packet::Write {
                pass,
                request,
                value,
            }),
            Effect::Finish(job) => std::array::from_fn(|_| Packet::Finish { pass, job }),
        })
    }

    /// A job is due: how to make it the node's own at each resource, if the tenure that `standing` shows right now has
    /// taken over and works at none.
    pub(crate) fn claim(&mut self, due: u64, leading: Token) -> Option<[Packet; RESOURCES]> {
        let office = self.serving_as(leading)?;
        office.jobs.as_mut()?.claim(due, office.pass)
    }

    /// The job was given to the node: whether it works at it until then.
    pub(crate) fn start(&mut self, job: u64, leading: Token, until: u64) -> bool {
        self.serving_as(leading)
            .and_then(|office| office.jobs.as_mut())
            .is_some_and(|jobs| jobs.start(job, until))
    }

    /// The work of a job is done, if it is now: its effect is thought about until `due`.
    pub(crate) fn worked(&mut self, now: u64, leading: Token, due: u64) -> Option<u64> {
        let office = self.serving_as(leading)?;
        let (pass, job) = (office.pass, office.jobs.as_mut()?.worked(now)?);
        self.think(due, pass, Effect::Finish(job));
        Some(job)
    }

    /// The job it works at.
    pub(crate) fn working(&self) -> Option<u64> {
        self.office?.jobs?.working()
    }

    /// The token of the tenure it has taken over for.
    pub(crate) fn token(&self) -> Option<Token> {
        self.office.map(|office| office.pass.token)
    }

    /// The process freezes.
    pub(crate) fn freeze(&mut self, now: u64) {
        if let Some(jobs) = self.office.as_mut().and_then(|office| office.jobs.as_mut()) {
            jobs.freeze(now);
        }
    }

    /// The process goes on: with which job.
    pub(crate) fn thaw(&mut self, now: u64) -> Option<u64> {
        self.office.as_mut()?.jobs.as_mut()?.thaw(now)
    }

    /// When to look at the tenure, which is not over before `end`, for the sake of the work.
    pub(crate) fn look_at(&mut self, end: u64) -> Option<u64> {
        self.office.as_mut()?.jobs.as_mut()?.look_at(end)
    }

    /// Whether it is now that it wanted to look.
    pub(crate) fn looks(&self, now: u64) -> bool {
        let jobs = self.office.as_ref().and_then(|office| office.jobs.as_ref());
        jobs.is_some_and(|jobs| jobs.looks(now))
    }

    fn serving_as(&mut self, leading: Token) -> Option<&mut Office> {
        self.office
            .as_mut()
            .filter(|office| office.pass.token == leading && office.stage == Stage::Serving)
    }

    fn think(&mut self, due: u64, pass: Pass, effect: Effect) {
        self.thinking.push_back(Thought { due, pass, effect });
    }

    /// A resource answered: what to ask of every resource next, if a stage of the takeover is complete.
    pub fn answered(&mut self, resource: usize, pass: Pass, done: Done) -> Option<Packet> {
        let office = self.office.as_mut().filter(|office| office.pass == pass)?;
        match (office.stage, done) {
            (Stage::Fencing, Done::Fenced) => office.missing -= 1,
            (Stage::Reading, Done::Read(value)) => {
                if let Some(next) = office.next.get_mut(resource) {
                    *next = value;
                }
                office.missing -= 1;
            }
            (Stage::Listing, Done::Listed { done, owner }) => {
                if let Some(jobs) = &mut office.jobs {
                    jobs.listed(resource, done, owner);
                }
                office.missing -= 1;
            }
            (Stage::Serving, Done::Finished(job)) if resource == 0 => {
                if let Some(jobs) = &mut office.jobs {
                    jobs.finished(job);
                }
                return None;
            }
            // What it was told of the job is not so any more: it asks again. A guard's refusal is final: it was
            // overtaken, and does no more jobs.
            (Stage::Serving, Done::Denied { reason, .. }) if resource == 0 => {
                if reason != JOB_DONE && reason != JOB_OWNED {
                    office.jobs = None;
                    return None;
                }
                office.stage = Stage::Listing;
                office.missing = RESOURCES;
                return Some(Packet::List { pass });
            }
            _ => return None,
        }
        if office.missing > 0 {
            return None;
        }
        let (stage, next) = match office.stage {
            Stage::Fencing => (Stage::Reading, Packet::Read { pass }),
            Stage::Reading if office.jobs.is_some() => (Stage::Listing, Packet::List { pass }),
            _ => {
                office.stage = Stage::Serving;
                return None;
            }
        };
        office.stage = stage;
        office.missing = RESOURCES;
        Some(next)
    }

    /// Whether it has taken over and serves clients.
    #[must_use]
    pub fn serving(&self) -> bool {
        self.office
            .is_some_and(|office| office.stage == Stage::Serving)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::ELECTION;
    use tenure::NodeId;
    use tenure::fence::Holder;

    fn pass(counter: u64) -> Pass {
        Pass {
            election: ELECTION,
            token: Token::new(0, counter),
            holder: Holder {
                node: NodeId(1),
                incarnation: 1,
            },
        }
    }

    fn serving(pass: Pass) -> App {
        let mut app = App::default();
        app.established(pass, Takeover::ReadFirst, false);
        app.answered(0, pass, Done::Read(10));
        app.answered(1, pass, Done::Read(20));
        app
    }

    #[test]
    fn fence_then_read_then_write() {
        let mut app = App::default();
        let pass = pass(3);
        assert!(matches!(
            app.established(pass, Takeover::FenceFirst, false),
            Packet::Fence { .. }
        ));
        assert!(app.answered(0, pass, Done::Fenced).is_none());
        assert!(matches!(
            app.answered(1, pass, Done::Fenced),
            Some(Packet::Read { .. })
        ));
        assert!(app.answered(0, pass, Done::Read(10)).is_none() && !app.serving());
        assert_eq!(
            app.asked(1, Some(pass.token), None, 5),
            Some(Outcome::NotYet)
        );
        assert!(app.answered(1, pass, Done::Read(20)).is_none() && app.serving());
        assert_eq!(app.asked(1, Some(pass.token), None, 5), None);
        assert!(app.thought(4).is_none());
        let Some(
            [
                Packet::Write { value: first, .. },
                Packet::Write { value: second, .. },
            ],
        ) = app.thought(5)
        else {
            panic!()
        };
        assert_eq!((first, second), (11, 21));
    }

    #[test]
    fn a_node_that_does_not_lead_says_who_does() {
        let mut app = serving(pass(3));
        assert_eq!(
            app.asked(1, None, Some(2), 5),
            Some(Outcome::Redirected(Some(2)))
        );
        assert_eq!(
            app.asked(1, Some(pass(4).token), None, 5),
            Some(Outcome::NotYet),
            "a newer tenure is not taken over yet"
        );
    }

    #[test]
    fn the_jobs_are_listed_last_and_again_when_they_are_not_as_listed() {
        let (mut app, pass) = (App::default(), pass(3));
        let listed = Done::Listed { done: 4, owner: 2 };
        app.established(pass, Takeover::ReadFirst, true);
        app.answered(0, pass, Done::Read(10));
        let next = app.answered(1, pass, Done::Read(20));
        assert!(matches!(next, Some(Packet::List { .. })) && !app.serving());
        app.answered(0, pass, listed);
        assert!(app.claim(9, pass.token).is_none());
        app.answered(1, pass, listed);
        assert!(app.serving() && app.claim(9, Token::new(0, 4)).is_none());
        let [claim, _] = app.claim(9, pass.token).unwrap();
        assert!(matches!(
            claim,
            Packet::Claim {
                job: 5,
                from: 2,
                ..
            }
        ));

        let denied = |reason| Done::Denied { job: 5, reason };
        let next = app.answered(0, pass, denied(JOB_OWNED));
        assert!(matches!(next, Some(Packet::List { .. })) && !app.serving());
        app.answered(0, pass, listed);
        app.answered(1, pass, listed);
        assert!(app.claim(9, pass.token).is_some());
        assert!(app.answered(0, pass, denied(0)).is_none() && app.serving());
        assert!(app.claim(9, pass.token).is_none(), "it was overtaken");
    }

    #[test]
    fn the_job_is_stopped_with_the_office_and_its_effect_is_not_once_thought_of() {
        let (mut app, pass) = (App::default(), pass(3));
        let working = |app: &mut App| {
            app.established(pass, Takeover::ReadFirst, true);
            for done in [Done::Read(0), Done::Listed { done: 0, owner: 0 }] {
                app.answered(0, pass, done);
                app.answered(1, pass, done);
            }
            app.claim(1, pass.token).unwrap();
            assert!(app.start(1, pass.token, 50));
        };
        working(&mut app);
        assert_eq!(
            (app.deposed(), app.worked(50, pass.token, 60)),
            (Some(1), None)
        );
        working(&mut app);
        assert_eq!(app.worked(50, pass.token, 60), Some(1));
        assert_eq!(app.deposed(), None);
        assert!(app.thought(59).is_none());
        assert!(matches!(
            app.thought(60),
            Some([Packet::Finish { job: 1, .. }, _])
        ));
    }

    #[test]
    fn who_does_not_lead_writes_what_it_saw_and_one_more() {
        let (mut app, none) = (App::default(), pass(0));
        app.look(7, none);
        app.look(8, none);
        assert!(!app.seen(0, none, (8, 30), 5) && !app.seen(0, none, (7, 10), 5));
        assert!(app.seen(1, none, (7, 20), 5) && !app.seen(1, none, (7, 20), 5));
        let Some(
            [
                Packet::Write {
                    request: 7,
                    value: 11,
                    ..
                },
                second,
            ],
        ) = app.thought(5)
        else {
            panic!()
        };
        assert!(matches!(second, Packet::Write { value: 21, .. }));
        assert!(app.thought(5).is_none());
    }

    #[test]
    fn a_thought_outlives_the_office() {
        let mut app = serving(pass(3));
        app.asked(1, Some(pass(3).token), None, 5);
        app.deposed();
        assert!(app.thought(5).is_some() && !app.serving());
    }

    #[test]
    fn answers_to_an_earlier_tenure_do_not_count() {
        let mut app = App::default();
        app.established(pass(4), Takeover::FenceFirst, false);
        for resource in 0..RESOURCES {
            assert!(app.answered(resource, pass(3), Done::Fenced).is_none());
        }
    }
}
