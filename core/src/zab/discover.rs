//! Discovery, the leader's side: a new epoch, promised by a quorum (ZAB-D1 to ZAB-D7).
//!
//! **Why one epoch has one leader (ZK-Leadership1).** A node promises an epoch once, and writes that before it says so: one that
//! promised it before answers that it must not be counted (ZAB-D9). The leader promises its own epoch itself, in the same file.
//! Two leaders of one epoch would need two quorums of such promises, and these share a voter.

use super::ensemble::Ensemble;
use super::lead::{Handler, Leading, Phase, Stage};
use super::message::Packet;
use super::record::Request;
use super::{MAX_EPOCH, Refusal, Role, Rule, Rules, Zab};
use crate::log::Position;
use crate::{Event, Instant, NodeId, Why};
use alloc::boxed::Box;

impl<R: Rules> Zab<R> {
    /// Whether the members of whom `said` is true are a quorum.
    pub(super) fn is_quorum(&self, said: impl Fn(usize) -> bool) -> bool {
        let ensemble: &Ensemble = &self.config.ensemble;
        if self.keeps(Rule::VotersOnly) {
            return ensemble.is_quorum(said);
        }
        // Z-2959: whoever is there counts, as long as they are as many as a majority of the voters.
        let all = (0..ensemble.members().len()).filter(|place| said(*place));
        2 * all.count() > ensemble.voters()
    }

    /// It was elected (FLE-4, FLE-6): takes learners, and looks for an epoch above all that they promised (ZAB-D1).
    pub(super) fn begin_to_lead(&mut self, made: Box<[bool]>) {
        self.role = Role::Leading;
        let own = (self.current, self.told_end());
        let members = self.config.ensemble.members().len();
        let mut leading = Leading::new(members, made, own, self.now, &self.config.timing);
        // ZAB-D2, of its own promise.
        leading.epoch = self.accepted + 1;
        leading.sets[self.place].connected = true;
        self.leading = Some(Box::new(leading));
        self.fix_epoch();
    }

    /// FOLLOWERINFO or OBSERVERINFO: a learner is there (ZAB-D2).
    pub(super) fn on_learner(&mut self, place: usize, accepted: u64) {
        let Some(leading) = &mut self.leading else {
            return;
        };
        if leading.phase == Phase::Connecting {
            // At least as high, not only higher: this epoch was promised to somebody already.
            leading.epoch = leading.epoch.max(accepted + 1);
            leading.sets[place].connected = true;
            self.fix_epoch();
        } else if leading.told {
            self.tell_epoch(place);
        }
    }

    /// ZAB-D3: a quorum is there, this node in it. The epoch is written before anybody is told.
    fn fix_epoch(&mut self) {
        let Some(leading) = &self.leading else {
            return;
        };
        let (epoch, sets) = (leading.epoch, &leading.sets);
        if !self.is_quorum(|place| sets[place].connected) {
            return;
        }
        if epoch > MAX_EPOCH {
            self.refusals.add(Refusal::EpochsExhausted);
            return self.look_again(Why::Lapsed);
        }
        self.accepted = epoch;
        let ticket = self.request(Request::Accepted(epoch));
        let limit = self.now + self.config.timing.init();
        if let Some(leading) = &mut self.leading {
            (leading.phase, leading.ticket, leading.limit) = (Phase::Promising, ticket, limit);
        }
        if !self.keeps(Rule::AcceptedDurable) {
            self.tell_everybody();
        }
    }

    /// The disk answered.
    pub(super) fn leader_is_durable(&mut self) {
        let Some(leading) = &self.leading else {
            return;
        };
        let done = self.durable.requests.is_done(leading.ticket);
        match leading.phase {
            Phase::Promising if done && !leading.told => self.tell_everybody(),
            Phase::Recording if done => self.elected(),
            Phase::Broadcasting => self.advance_commit(),
            _ => {}
        }
    }

    /// Z-1291: only now is the epoch told (ZAB-D4), and the own promise counted.
    fn tell_everybody(&mut self) {
        if let Some(leading) = &mut self.leading {
            leading.told = true;
            leading.sets[self.place].promised = true;
        }
        for place in 0..self.config.ensemble.members().len() {
            self.tell_epoch(place);
        }
        self.record_epoch();
    }

    fn tell_epoch(&mut self, place: usize) {
        if let Some(leading) = &mut self.leading
            && let Some(handler) = &mut leading.handlers[place]
            && handler.stage == Stage::Greeted
        {
            handler.stage = Stage::Informed;
            let epoch = leading.epoch;
            self.say_to_learner(place, Packet::LeaderInfo { epoch });
        }
    }

    /// ACKEPOCH: a promise (ZAB-D5).
    pub(super) fn on_promise(&mut self, place: usize, current: Option<u64>, last: Position) {
        let Some(leading) = &mut self.leading else {
            return;
        };
        // Once the epoch is promised by a quorum, whoever knows more knows nothing that was acknowledged: it gets a snapshot.
        let open = leading.phase == Phase::Promising;
        let ahead = current.is_some_and(|current| (current, last) > leading.own);
        if open && ahead && self.rules.keeps(Rule::MostRecentLeads) {
            self.refusals.add(Refusal::MoreRecent);
            return self.close_learner(place);
        }
        if let Some(handler) = &mut leading.handlers[place] {
            (handler.stage, handler.last) = (Stage::Promised, last);
        }
        if open && (current.is_some() || !self.rules.keeps(Rule::PromiseOnce)) {
            leading.sets[place].promised = true;
            self.record_epoch();
        }
        self.feed_learners();
    }

    /// ZAB-D6: a quorum promised. The leader's history is now the initial one of its epoch.
    fn record_epoch(&mut self) {
        let Some(leading) = &self.leading else {
            return;
        };
        let (epoch, sets) = (leading.epoch, &leading.sets);
        let own = sets[self.place].promised;
        if leading.phase != Phase::Promising
            || !own
            || !self.is_quorum(|place| sets[place].promised)
        {
            return;
        }
        self.current = epoch;
        let ticket = self.request(Request::Current(epoch));
        if let Some(leading) = &mut self.leading {
            (leading.phase, leading.ticket) = (Phase::Recording, ticket);
        }
    }

    /// It leads the epoch that a quorum promised, and may not act yet: *elected*.
    fn elected(&mut self) {
        let history = self.log.last().index;
        let limit = self.now + self.config.timing.init();
        if let Some(leading) = &mut self.leading {
            leading.phase = Phase::Synchronising;
            (leading.history, leading.limit) = (history, limit);
            leading.sets[self.place].synced = true;
            let token = self.token_of_own_epoch();
            self.event(Event::Elected(token));
        }
        self.feed_learners();
        self.establish();
    }

    /// ZAB-D7: somebody who looks again had voted for this leader.
    pub(super) fn is_deserted_by(&mut self, place: usize) {
        if let Some(leading) = &mut self.leading
            && leading.phase == Phase::Connecting
            && leading.made[place]
        {
            leading.deserted = true;
            self.give_up_if_deserted();
        }
    }

    pub(super) fn give_up_if_deserted(&mut self) {
        if self.deserted_at().is_some_and(|at| at <= self.now) {
            self.look_again(Why::Lapsed);
        }
    }

    /// When it gives up waiting for promises because a voter deserted it.
    pub(super) fn deserted_at(&self) -> Option<Instant> {
        let leading = self.leading.as_ref()?;
        let waits = leading.phase == Phase::Connecting && leading.deserted;
        let patience = self.config.timing.epoch_patience.filter(|_| waits)?;
        Some(leading.began + patience)
    }

    /// A learner connects: what it had before is over.
    pub(super) fn greet(&mut self, place: usize, from: NodeId, learner: u64, accepted: u64) {
        if !self.epoch_is_near(accepted) {
            return self.refusals.add(Refusal::EpochLeap);
        }
        let drawn = self.nonce();
        let deadline = self.now + self.config.timing.init() + self.config.timing.sync();
        let Some(leading) = &mut self.leading else {
            return self.refuse_link(from, learner);
        };
        if let Some(handler) = &leading.handlers[place]
            && handler.link.learner == learner
        {
            // A repetition of what opened this connection.
            return self.refusals.add(Refusal::OutOfOrder);
        }
        leading.handlers[place] = Some(Handler::new(learner, drawn, deadline));
        self.on_learner(place, accepted);
    }
}
