//! The steps: what each of them needs, what its answers mean, and what comes next.

use super::machine::{Stage, Takeover};
use super::refuse::Refusal;
use super::rules::{Rule, Rules};
use super::task::{Task, What};
use super::words::{Because, Event, How, Item, Output, Policy, Reply};
use crate::fence::Refused;
use crate::{Instant, Ticket, Token, Unknown};

impl<K: Clone + Ord, R: Rules> Takeover<K, R> {
    /// A tenure begins, if it is one to begin with.
    pub(super) fn begin(&mut self, now: Instant, refused: Option<Because>) {
        if let Some(because) = refused {
            self.stage = Stage::Resigning(because, now);
        } else if self.keeps(Rule::FenceBeforeRead) {
            self.enter(now, Stage::Fencing);
        } else {
            self.enter(now, Stage::Watching);
        }
    }

    /// Does what is due: nothing, unless the tenure goes on.
    pub(super) fn act(&mut self, now: Instant) {
        self.look_at_the_clock(now);
        if let Some((pass, task)) = &mut self.stopping
            && task.next <= now
        {
            let pass = *pass;
            self.ask(now, None, pass);
        }
        while let Some(tenure) = self.tenure {
            let pass = self.pass_of(tenure.token);
            for place in 0..self.tasks.len() {
                if self.tasks[place].is_open() && self.tasks[place].next <= now {
                    self.ask(now, Some(place), pass);
                }
            }
            let waits = self.tasks.iter().any(Task::is_open);
            if waits || !self.go_on(now) {
                break;
            }
        }
    }

    /// Asks for a task of the stage, or, without a place, for what has to stop.
    pub(super) fn ask(&mut self, now: Instant, place: Option<usize>, pass: crate::fence::Pass) {
        let ticket = self.ticket();
        let next = now + self.config.timing.patience;
        let task = match place {
            Some(place) => self.tasks.get_mut(place),
            None => self.stopping.as_mut().map(|(_, task)| task),
        };
        let limit = self.config.page;
        let request = task.and_then(|task| task.ask(ticket.number, next, &self.after, limit));
        if let Some(request) = request {
            self.out.push_back(Output::Request(ticket, pass, request));
        }
    }

    /// What ends by the clock, before every step.
    fn look_at_the_clock(&mut self, now: Instant) {
        let Some(tenure) = self.tenure else {
            return;
        };
        match self.stage {
            Stage::Resigning(because, say) if say <= now => self.say_resign(now, because),
            Stage::Resigning(..) => {}
            Stage::Draining(until) if until.min(self.hard_deadline(tenure)) <= now => {
                let end = until.min(self.hard_deadline(tenure));
                self.drop_requests();
                self.stop_work(now, tenure.token);
                // By then it has stopped: so it was said. What has not, the guard keeps out.
                if end + self.config.timing.stop <= now {
                    self.resign(now, Because::HandedOver);
                }
            }
            _ if self.hard_deadline(tenure) <= now => self.resign(now, Because::CutShort),
            _ if self.takes_over() && self.since + self.config.timing.limit <= now => {
                self.resign(now, Because::TooLong);
            }
            _ => {}
        }
    }

    /// The stage is over: to the next. False when there is none yet.
    fn go_on(&mut self, now: Instant) -> bool {
        let next = match self.stage {
            Stage::Fencing => Stage::Watching,
            Stage::Watching if self.ready => Stage::Clearing,
            Stage::Watching => Stage::Reading,
            Stage::Reading => Stage::Clearing,
            Stage::Clearing if self.stopping.is_some() => return false,
            Stage::Clearing => {
                // A watch that was lost meanwhile is made anew, once this is done.
                (self.after, self.changed) = (None, self.watch.is_none());
                Stage::Listing
            }
            Stage::Listing => Stage::Taking,
            Stage::Taking if self.more => Stage::Listing,
            Stage::Taking if self.ready => Stage::Serving,
            Stage::Taking => Stage::Announcing,
            Stage::Announcing => Stage::Serving,
            Stage::Serving if self.changed => {
                self.since = now;
                if self.watch.is_none() {
                    Stage::Watching
                } else {
                    Stage::Clearing
                }
            }
            Stage::Serving | Stage::Idle | Stage::Draining(_) | Stage::Resigning(..) => {
                return false;
            }
        };
        self.enter(now, next);
        true
    }

    /// A stage begins: with what it needs done.
    pub(super) fn enter(&mut self, now: Instant, stage: Stage) {
        // What was listed is there as tasks already.
        if stage != Stage::Taking {
            self.tasks.clear();
        }
        self.stage = stage;
        let task = |what| Task::new(what, now);
        let resources = 0..self.config.resources;
        match stage {
            Stage::Fencing => self.tasks.extend(resources.map(What::Fence).map(task)),
            Stage::Reading => self.tasks.extend(resources.map(What::Read).map(task)),
            // One that was lost is not asked for in the same breath: it might be lost as fast.
            Stage::Watching if self.ready => {
                let next = now + self.config.timing.retry;
                self.tasks.push(Task::new(What::Watch, next));
            }
            Stage::Watching => self.tasks.push(task(What::Watch)),
            Stage::Listing => self.tasks.push(task(What::List)),
            Stage::Announcing => self.tasks.push(task(What::Announce)),
            Stage::Draining(until) => self.tasks.push(task(What::Drain(until))),
            Stage::Serving if !self.ready => {
                (self.ready, self.works) = (true, true);
                if let Some(tenure) = self.tenure {
                    self.out.push_back(Output::Event(Event::Ready(tenure)));
                }
            }
            _ => {}
        }
    }

    /// It does not lead as it should.
    fn resign(&mut self, now: Instant, because: Because) {
        let Some(tenure) = self.tenure else {
            return;
        };
        if !matches!(self.stage, Stage::Resigning(..)) {
            self.drop_requests();
            self.stop_work(now, tenure.token);
            self.say_resign(now, because);
        }
    }

    fn say_resign(&mut self, now: Instant, because: Because) {
        self.out.push_back(Output::Resign(because));
        self.stage = Stage::Resigning(because, now + self.config.timing.retry);
    }

    /// A guard refused.
    pub(super) fn refused(&mut self, now: Instant, refused: Refused) {
        let because = match refused {
            Refused::Stale { .. } | Refused::Conflict { .. } => Because::Overtaken,
            _ => Because::Failed,
        };
        self.resign(now, because);
    }

    /// The host wants to hand over.
    pub(super) fn hand_over(&mut self, now: Instant) {
        if self.tenure.is_none() || matches!(self.stage, Stage::Draining(_) | Stage::Resigning(..))
        {
            return;
        }
        if self.works {
            // The tenure may be renewed until then; where it is not, it ends before.
            let until = now + self.config.timing.drain;
            self.drop_requests();
            self.enter(now, Stage::Draining(until));
        } else {
            self.resign(now, Because::HandedOver);
        }
    }

    /// An answer came.
    pub(super) fn answered(
        &mut self,
        now: Instant,
        ticket: Ticket,
        result: Result<Reply<K>, Unknown>,
    ) {
        let number = ticket.number;
        if ticket.incarnation != self.config.holder.incarnation || number == 0 {
            return self.refuse(Refusal::UnknownTicket);
        }
        if let Some((_, task)) = self
            .stopping
            .as_mut()
            .filter(|(_, task)| task.asked_as(number))
        {
            match result {
                Ok(Reply::Stopped) => return self.stopped(now),
                Ok(Reply::NotDone) | Err(Unknown) => {}
                Ok(_) => self.refusals.add(Refusal::WrongAnswer),
            }
            task.again(number, now + self.config.timing.retry);
        } else if let Some(place) = self.tasks.iter().position(|task| task.asked_as(number)) {
            self.answered_task(now, place, number, result);
        } else if result == Ok(Reply::Changed) && number > self.before && self.tenure.is_some() {
            // Of a watch that was asked more than once, the host may tell under any of its tickets. Not to be told costs work,
            // and to be told too often a look at the list.
            self.changed = true;
        } else if self
            .watch
            .is_some_and(|(first, last)| (first..=last).contains(&number))
        {
            self.watched(now, result);
        } else {
            self.refuse(Refusal::UnknownTicket);
        }
    }

    /// What had to stop has.
    fn stopped(&mut self, now: Instant) {
        self.stopping = None;
        self.works = false;
        if matches!(self.stage, Stage::Draining(_)) {
            self.resign(now, Because::HandedOver);
        }
    }

    /// The watch tells something, or is not there any more.
    fn watched(&mut self, now: Instant, result: Result<Reply<K>, Unknown>) {
        match result {
            Ok(Reply::Watching) => {}
            Ok(Reply::NotDone | Reply::Failed) | Err(Unknown) => {
                (self.watch, self.changed) = (None, true);
            }
            Ok(Reply::Refused(refused)) => self.refused(now, refused),
            Ok(_) => self.refuse(Refusal::WrongAnswer),
        }
    }

    fn answered_task(
        &mut self,
        now: Instant,
        place: usize,
        number: u64,
        result: Result<Reply<K>, Unknown>,
    ) {
        let retry = now + self.config.timing.retry;
        let task = &mut self.tasks[place];
        let Some(what) = task.what() else {
            return;
        };
        match (what, result) {
            (What::Fence(_), Ok(Reply::Fenced))
            | (What::Read(_), Ok(Reply::Read))
            | (What::Claim { .. }, Ok(Reply::Gone))
            | (What::Resume { .. }, Ok(Reply::Resumed | Reply::Gone))
            | (What::Announce, Ok(Reply::Announced)) => task.done(),
            (What::Watch, Ok(Reply::Watching | Reply::Changed)) => {
                self.watch = Some(task.asked());
                task.done();
            }
            (What::List, Ok(Reply::Page { items, more })) => match self.page(now, &items, more) {
                Ok(()) => {}
                Err(reason) => {
                    self.refuse(reason);
                    self.tasks[place].again(number, retry);
                }
            },
            (What::Claim { key, policy, .. }, Ok(Reply::Claimed)) => {
                let (key, policy) = (key.clone(), *policy);
                self.resume(now, place, key, policy);
            }
            (What::Claim { key, from, policy }, Ok(Reply::Owned(owner))) => {
                let (key, from, policy) = (key.clone(), *from, *policy);
                self.owned(now, place, (number, key, from, policy), owner);
            }
            (What::Drain(_), Ok(Reply::Stopped)) => {
                self.works = false;
                self.resign(now, Because::HandedOver);
            }
            (What::Drain(_), Ok(Reply::Refused(_) | Reply::Failed)) => {
                task.again(number, retry);
                self.refuse(Refusal::WrongAnswer);
            }
            // A watch that was told to be there may be gone since, with the one that took its place.
            (What::Watch, Ok(Reply::NotDone) | Err(Unknown)) => task.becomes(What::Watch, retry),
            (_, Ok(Reply::Refused(refused))) => self.refused(now, refused),
            (_, Ok(Reply::Failed)) => self.resign(now, Because::Failed),
            (_, Ok(Reply::NotDone) | Err(Unknown)) => task.again(number, retry),
            (_, Ok(_)) => {
                task.again(number, retry);
                self.refuse(Refusal::WrongAnswer);
            }
        }
    }

    /// Work was listed.
    fn page(&mut self, now: Instant, items: &[Item<K>], more: bool) -> Result<(), Refusal> {
        if items.len() > self.config.page as usize {
            return Err(Refusal::PageTooLong);
        }
        let rises = items.is_sorted_by(|one, next| one.key < next.key);
        let first = items.first().map(|item| &item.key);
        if !rises
            || first.is_some_and(|first| self.after.as_ref().is_some_and(|after| first <= after))
        {
            return Err(Refusal::PageOutOfOrder);
        }
        if more && items.is_empty() {
            return Err(Refusal::WrongAnswer);
        }
        let own = self.tenure.map_or(Token::NONE, |tenure| tenure.token);
        if items.iter().any(|item| item.owner > own) {
            self.resign(now, Because::Overtaken);
            return Ok(());
        }
        self.more = more;
        if let Some(last) = items.last() {
            self.after = Some(last.key.clone());
        }
        self.tasks.clear();
        for item in items {
            if item.owner == own && self.keeps(Rule::OnlyOthers) {
                continue;
            }
            let (key, policy) = (item.key.clone(), item.policy);
            let claim = What::Claim {
                key: key.clone(),
                from: item.owner,
                policy,
            };
            self.tasks.push(Task::new(claim, now));
            if !self.keeps(Rule::CompareAndSwapOwner) {
                self.resume(now, self.tasks.len() - 1, key, policy);
            }
        }
        Ok(())
    }

    /// An item that was to be claimed has this owner.
    fn owned(
        &mut self,
        now: Instant,
        place: usize,
        (number, key, from, policy): (u64, K, Token, Policy),
        owner: Token,
    ) {
        let own = self.tenure.map_or(Token::NONE, |tenure| tenure.token);
        let task = &mut self.tasks[place];
        if owner == own {
            // By an earlier ask, whose answer was lost or is late.
            self.resume(now, place, key, policy);
        } else if owner > own {
            self.resign(now, Because::Overtaken);
        } else if owner == from {
            self.refusals.add(Refusal::WrongAnswer);
            task.again(number, now + self.config.timing.retry);
        } else {
            let claim = What::Claim {
                key,
                from: owner,
                policy,
            };
            task.becomes(claim, now);
        }
    }

    /// An item is its own: what is done about it.
    fn resume(&mut self, now: Instant, place: usize, key: K, policy: Policy) {
        let doubt = policy == Policy::AtMostOnce && self.keeps(Rule::IdempotentTakeover);
        let how = if doubt { How::Doubt } else { How::Redo };
        self.works |= how == How::Redo;
        self.tasks[place].becomes(What::Resume { key, how }, now);
    }
}
