//! The balancer of a client of etcd: which member of the cluster it asks. It goes to the next one when one does not answer
//! in time, or answers that it knows of no leader, and its watch goes with it: the stream is lost.

use super::{StoreAsk, StoreSaid};
use crate::scheme::{Answer, Ask, PeerSaid, Write};
use std::collections::VecDeque;
use tenure::lease::etcd::{Reply, Request};
use tenure::{Duration, Input, Instant, Output, Ticket, Unknown};

/// Which member is asked, and what of.
#[derive(Clone, Debug)]
pub(super) struct Balancer {
    members: usize,
    /// Who is asked at present.
    member: usize,
    /// How long an answer is waited for.
    patience: Duration,
    now: Instant,
    /// What the present one was asked and did not answer yet.
    asked: Vec<(Ticket, Instant)>,
    /// The watch that is open there.
    watch: Option<Ticket>,
    /// The watch whose stream was lost, until the machine has heard of that.
    lost: Option<Ticket>,
    /// Watches that are to be closed where they were opened.
    closing: VecDeque<(usize, Ticket)>,
}

impl Balancer {
    /// Of so many members it asks this one first.
    pub(super) const fn new(
        members: usize,
        member: usize,
        patience: Duration,
        now: Instant,
    ) -> Self {
        Self {
            members,
            member,
            patience,
            now,
            asked: Vec::new(),
            watch: None,
            lost: None,
            closing: VecDeque::new(),
        }
    }

    /// What the machine is about to hear.
    pub(super) fn hears(&mut self, now: Instant, input: &Input<PeerSaid, Answer>) {
        self.now = now;
        let Input::Reply(ticket, result) = input else {
            return;
        };
        let watched = self.watch == Some(*ticket);
        let place = self.asked.iter().position(|(asked, _)| asked == ticket);
        let Some(reply) = of_etcd(result) else {
            return;
        };
        if let Some(place) = place {
            self.asked.swap_remove(place);
        }
        if watched && matches!(reply, Reply::WatchEnded | Reply::NotDone) {
            self.watch = None;
        }
        if (place.is_some() || watched) && *reply == Reply::NotDone {
            self.go_on();
        }
    }

    /// After the machine has heard it: the watch whose stream is lost, of which the machine is to hear.
    pub(super) fn look(&mut self) -> Option<Input<PeerSaid, Answer>> {
        let overdue = |(_, sent): &(Ticket, Instant)| *sent + self.patience <= self.now;
        if self.asked.iter().any(overdue) {
            self.go_on();
        }
        Some(Input::Reply(self.lost.take()?, Err(Unknown)))
    }

    /// The next one is asked from now on.
    fn go_on(&mut self) {
        self.asked.clear();
        if let Some(watch) = self.watch.take() {
            self.lost = Some(watch);
            self.closing.push_back((self.member, watch));
        }
        self.member = (self.member + 1) % self.members;
    }

    /// What is still to be said before anything else.
    pub(super) fn poll(&mut self) -> Option<Output<PeerSaid, Ask<Write>>> {
        let (member, watch) = self.closing.pop_front()?;
        let cancel = StoreAsk::Etcd(Request::WatchCancel { watch });
        Some(Output::Request(watch, Ask::Store(member, cancel)))
    }

    /// What the machine says, to whom it goes.
    pub(super) fn routed(
        &mut self,
        output: Output<PeerSaid, Ask<Write>>,
    ) -> Output<PeerSaid, Ask<Write>> {
        let Output::Request(ticket, Ask::Store(_, ask)) = output else {
            return output;
        };
        match &ask {
            StoreAsk::Etcd(Request::Watch { .. }) => self.watch = Some(ticket),
            StoreAsk::Etcd(Request::WatchCancel { .. }) => self.watch = None,
            _ => self.asked.push((ticket, self.now)),
        }
        Output::Request(ticket, Ask::Store(self.member, ask))
    }
}

const fn of_etcd(result: &Result<Answer, Unknown>) -> Option<&Reply> {
    match result {
        Ok(Answer::Store(StoreSaid::Etcd(reply))) => Some(reply),
        _ => None,
    }
}
