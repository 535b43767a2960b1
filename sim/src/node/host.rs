//! Hosts the machine: hands inputs over, carries outputs out, shows what changed, and calls again at the deadline.

use super::shelf::Writing;
use super::{Node, Status};
use crate::check::Fact;
use crate::packet::Packet;
use crate::physics::trace::{Ended, Event, Kind};
use crate::scheme::{Answer, Ask, Hosted, RoleCode};
use crate::world::env::{Due, Env};
use std::sync::Arc;
use tenure::{Input, Output, Standing, Token, Why, takeover};

impl<M: Hosted> Node<M> {
    pub(super) fn look_at_the_time(&mut self, env: &mut Env, me: usize) {
        let now = self.clock.reads(env.now);
        let due = self
            .machine
            .as_ref()
            .and_then(M::deadline)
            .is_some_and(|deadline| deadline <= now);
        if due {
            env.shown(&mut self.by.clock);
            env.trace.cause = env.emit(Event::new(Kind::Timeout, me));
            self.feed(env, me, Input::Timeout);
        }
        if self.app.deadline().is_some_and(|deadline| deadline <= now) {
            self.take_over(env, me, takeover::Input::Look);
            self.resign_if_wanted(env, me);
        }
        #[cfg(feature = "peers")]
        self.look_at_office(env, me);
        if !due {
            self.arm(env, me);
        }
    }

    pub(super) fn feed(&mut self, env: &mut Env, me: usize, input: Input<M::Peer, Answer>) {
        if let Some(machine) = &mut self.machine {
            machine.handle(self.clock.reads(env.now), input);
            self.name_own_entries();
            self.settle(env, me);
        }
    }

    pub(super) fn hear_of_connection(
        &mut self,
        env: &mut Env,
        me: usize,
        peer: usize,
        stands: bool,
    ) {
        if let Some(machine) = &mut self.machine {
            machine.connection(self.clock.reads(env.now), peer, stands);
            self.settle(env, me);
        }
    }

    /// After every input: shows what changed, carries the outputs out, and arms the next wake-up.
    pub(super) fn settle(&mut self, env: &mut Env, me: usize) {
        self.show(env, me);
        self.carry_out(env, me);
        while self.apply(env, me) {
            self.carry_out(env, me);
        }
        #[cfg(feature = "peers")]
        while self.keep_office(env, me) {
            self.name_own_entries();
            self.carry_out(env, me);
            while self.apply(env, me) {
                self.carry_out(env, me);
            }
        }
        self.arm_lessor(env, me);
        self.tell_belief(env, me);
        self.resign_if_wanted(env, me);
        self.arm(env, me);
    }

    fn carry_out(&mut self, env: &mut Env, me: usize) {
        while let Some(output) = self.machine.as_mut().and_then(M::poll) {
            match output {
                Output::Send(to, message) => {
                    let to = to.0 as usize;
                    let fact =
                        (self.machine.as_ref()).and_then(|machine| machine.said(me, to, &message));
                    if let Some(fact) = fact {
                        env.hear(fact);
                    }
                    #[cfg(feature = "peers")]
                    self.tell_act(env, me, &message);
                    if let Some(packet) = self.loaded(message) {
                        env.send(me, to, packet);
                    }
                }
                Output::Request(ticket, Ask::Store(server, ask)) => {
                    let ask = Arc::new(ask);
                    env.counts.asked += 1;
                    env.send(
                        me,
                        env.server_actor(server),
                        Packet::AskStore { ticket, ask },
                    );
                }
                Output::Request(ticket, Ask::Disk(write)) => {
                    env.shown(&mut self.by.disk);
                    let recorded = M::recorded(&write);
                    M::fold(&write, &mut env.trace);
                    let load = self.load_of_write(env, me, &write);
                    let write = Writing { write, load };
                    let event = Event::new(Kind::Persist, me)
                        .term(recorded.term)
                        .a(ticket.number);
                    env.emit(recorded.vote.map_or(event, |vote| event.b(u64::from(vote))));
                    #[cfg(feature = "peers")]
                    if let Some(vote) = recorded.vote {
                        env.judge_vote(me, recorded.term, vote);
                    }
                    let done = self.disk.write(env.now, ticket, write);
                    env.queue
                        .push(done, Due::Written(me as u16, self.disk.era()));
                }
                Output::Event(event) => self.news(env, me, event),
            }
        }
    }

    pub(super) fn show(&mut self, env: &mut Env, me: usize) {
        let Some(machine) = &self.machine else {
            return;
        };
        let look = machine.look();
        let before = std::mem::replace(&mut self.look, look);
        if look.role != before.role {
            env.emit(
                Event::new(Kind::Role, me)
                    .term(look.term)
                    .a(look.role as u64),
            );
            if look.role == RoleCode::PreCandidate {
                env.counts.pre_candidacies += 1;
            }
            if matches!(
                look.role,
                RoleCode::Looking | RoleCode::PreCandidate | RoleCode::Candidate
            ) {
                env.stages.stood(env.now);
            }
        }
        if look.term > before.term && look.vote == Some(me as u16) {
            env.counts.candidacies += 1;
            env.stages.candidacy(look.term);
            env.judge_logs(me, |logs, now| logs.stood(now, me, look.term));
        }
        let refusals = machine.refusals();
        if let Some(reason) = M::newly_refused(&self.refusals, &refusals) {
            self.refusals = refusals;
            env.emit(Event::new(Kind::Refusal, me).a(reason));
        }
    }

    pub(super) fn news(&mut self, env: &mut Env, me: usize, event: tenure::Event) {
        match event {
            tenure::Event::Elected(token) => {
                env.emit(Event::new(Kind::Elected, me).term(token.counter));
                env.stages.elected(env.now, token);
                if token.is_issued() {
                    env.hear(Fact::Acted {
                        node: me,
                        term: token.counter,
                    });
                }
                env.hear(Fact::Elected { node: me, token });
                env.judge_logs(me, |logs, now| logs.elected(now, me, token.counter));
            }
            tenure::Event::Established(tenure) => {
                let until = self.clock.when(tenure.until).min(i64::MAX as u64);
                env.counts.establishments += 1;
                env.emit(
                    Event::new(Kind::Established, me)
                        .term(tenure.token.counter)
                        .a(until),
                );
                env.stages.established(env.now, me, tenure.token);
                self.keep_leases(env, me, true);
                let term = tenure.token.counter;
                env.judge_logs(me, |logs, now| logs.established(now, me, term));
                env.hear(Fact::Established {
                    node: me,
                    token: tenure.token,
                });
                // A sentinel works at no resource in its own name.
                #[cfg(feature = "peers")]
                if env.has_sentinels() {
                    return env.stages.synchronised(env.now);
                }
                self.begin_takeover(env, me);
            }
            tenure::Event::Deposed(token, why) => {
                env.counts.depositions += 1;
                let event = Event::new(Kind::Deposed, me).term(token.counter);
                env.emit(event.a(ended(why) as u64));
                self.take_over(env, me, takeover::Input::Look);
                self.keep_leases(env, me, false);
            }
            tenure::Event::Following(leader) => {
                let event = Event::new(Kind::Following, me);
                env.emit(leader.map_or(event, |leader| {
                    event
                        .with(leader.node.0 as usize)
                        .term(leader.token.counter)
                }));
            }
            // Shown by the role.
            _ => {}
        }
    }

    /// The token of the tenure that the machine shows right now, and the true time of its end.
    pub(crate) fn leading(&self, env: &Env) -> Option<(Token, u64)> {
        self.leads_at(env.now)
    }

    /// The token of the tenure that the machine shows at a true time not before the last event, and the true time of its
    /// end; `None` when it does not believe to lead.
    #[must_use]
    pub fn leads_at(&self, now: u64) -> Option<(Token, u64)> {
        match self.machine.as_ref()?.standing(self.clock.reads(now)) {
            Standing::Leading(tenure) => Some((tenure.token, self.clock.when(tenure.until))),
            _ => None,
        }
    }

    pub(super) fn tell_belief(&mut self, env: &mut Env, me: usize) {
        // Who leads is a data server.
        #[cfg(feature = "peers")]
        if env.has_sentinels() {
            return;
        }
        let (token, until) = self.leading(env).unwrap_or((Token::NONE, 0));
        let running = self.status == Status::Up;
        if (token, until, running) != self.told {
            self.told = (token, until, running);
            env.hear(Fact::Believes {
                node: me,
                token,
                until,
                running,
            });
        }
    }

    pub(super) fn arm(&mut self, env: &mut Env, me: usize) {
        if self.looks {
            return;
        }
        let election = self.machine.as_ref().and_then(M::deadline);
        #[cfg(feature = "peers")]
        let election = election.into_iter().chain(self.office_due());
        if let Some(deadline) = election.into_iter().chain(self.app.deadline()).min() {
            // A deadline in the past would stop the world at this instant: the law says there is none after a drain.
            let at = self.clock.when(deadline).max(env.now + 1);
            if at < self.wake_at {
                self.wake_at = at;
                env.queue.push(at, Due::Wake(me as u16));
            }
        }
    }
}

/// What the trace says of why a term ended.
const fn ended(why: Why) -> Ended {
    match why {
        Why::HigherTerm => Ended::HigherTerm,
        Why::Resigned => Ended::Resigned,
        Why::DiskFailed => Ended::DiskFailed,
        Why::Removed => Ended::Removed,
        Why::Transferred => Ended::Transferred,
        Why::Taken => Ended::Taken,
        _ => Ended::Lapsed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_a_code_of_its_own() {
        let mut codes: Vec<_> = Why::ALL.map(|why| ended(why) as u8).to_vec();
        codes.push(Ended::Crashed as u8);
        codes.sort_unstable();
        assert!(codes.windows(2).all(|pair| pair[0] != pair[1]), "{codes:?}");
    }
}
