//! The links of a desk: what is sent waits in its slot, travels in order or not, is held back, lost, or arrives once more; and
//! links break.

use super::desk::{Desk, Flight, Weather};
use tenure::zab::{Message, Rules};

impl<R: Rules> Desk<R> {
    pub(super) fn link_up(&mut self, a: usize, b: usize) {
        let open = |desk: &Self, x: usize, y: usize| desk.cuts[x][y] <= desk.now;
        if a == b || !open(self, a, b) || !open(self, b, a) {
            return;
        }
        for (x, y) in [(a, b), (b, a)] {
            if self.nodes[x].machine.is_some() && self.nodes[y].machine.is_some() {
                let (now, peer) = (self.clock(), self.ensemble.members()[y].id);
                self.act(x, |machine| machine.connected(now, peer));
            }
        }
    }

    /// What was under way between two nodes is lost; they are told, or are not.
    pub(crate) fn break_link(&mut self, a: usize, b: usize, told: bool) {
        let between = |flight: &Flight| {
            (flight.from, flight.to) == (a, b) || (flight.from, flight.to) == (b, a)
        };
        self.flights.retain(|_, flight| !between(flight));
        for (x, y) in [(a, b), (b, a)] {
            if let Some(held) = &mut self.holds[x][y] {
                held.clear();
            }
            if told {
                self.ends.push((self.now + 500, x, y));
            }
        }
    }

    /// Nothing passes between two nodes until then.
    pub(crate) fn cut(&mut self, a: usize, b: usize, until: u64) {
        self.break_link(a, b, true);
        (self.cuts[a][b], self.cuts[b][a]) = (until, until);
    }

    pub(crate) fn isolate(&mut self, place: usize) {
        for other in (0..self.nodes.len()).filter(|other| *other != place) {
            self.cut(place, other, u64::MAX);
        }
    }

    pub(crate) fn join(&mut self, a: usize, b: usize) {
        (self.cuts[a][b], self.cuts[b][a]) = (0, 0);
        self.link_up(a, b);
    }

    pub(crate) fn join_all(&mut self) {
        for a in 0..self.nodes.len() {
            for b in a + 1..self.nodes.len() {
                self.join(a, b);
            }
        }
    }

    /// What one says to another waits.
    pub(crate) fn hold(&mut self, from: usize, to: usize) {
        self.holds[from][to].get_or_insert_default();
    }

    /// And goes on.
    pub(crate) fn release(&mut self, from: usize, to: usize) {
        for message in self.holds[from][to].take().unwrap_or_default() {
            self.launch(from, to, message);
        }
    }

    /// The first `count` of what waits go on.
    pub(crate) fn pass(&mut self, from: usize, to: usize, count: usize) {
        let held = self.holds[from][to]
            .as_mut()
            .map(|held| held.drain(..count).collect());
        let held: Vec<_> = held.unwrap_or_default();
        for message in held {
            self.launch(from, to, message);
        }
    }

    /// The first `count` of what waits are lost, and nobody is told.
    pub(crate) fn lose(&mut self, from: usize, to: usize, count: usize) {
        if let Some(held) = &mut self.holds[from][to] {
            held.drain(..count);
        }
    }

    /// What waits and is a packet is lost.
    pub(crate) fn lose_packets(&mut self, from: usize, to: usize) {
        if let Some(held) = &mut self.holds[from][to] {
            held.retain(|message| matches!(message, Message::Notification(_)));
        }
    }

    /// The process dies, and nobody is told.
    pub(crate) fn crash_in_silence(&mut self, place: usize) {
        let ends = self.ends.len();
        self.crash(place, 0);
        self.ends.truncate(ends);
    }

    pub(crate) fn disconnect(&mut self, at: usize, from: usize) {
        let (now, peer) = (self.clock(), self.ensemble.members()[from].id);
        self.act(at, |machine| machine.disconnected(now, peer));
    }

    pub(crate) fn held(&self, from: usize, to: usize) -> &[Message] {
        self.holds[from][to].as_deref().unwrap_or_default()
    }

    pub(super) fn launch(&mut self, from: usize, to: usize, message: Message) {
        if matches!(message, Message::Notification(_)) && self.slot > 0 {
            let at = self.now + 1 + self.random.below(self.slot);
            match &mut self.slots[from][to] {
                Some((_, unsent)) => {
                    *unsent = message;
                    self.judge.mark("overwrote");
                }
                empty => *empty = Some((at, message)),
            }
            return;
        }
        self.transmit(from, to, message);
    }

    pub(super) fn transmit(&mut self, from: usize, to: usize, message: Message) {
        if self.cuts[from][to] > self.now || self.nodes[to].machine.is_none() {
            return self.bounce(from, to, &message);
        }
        let kind = usize::from(matches!(message, Message::Notification(_)));
        let mut at = self.now + self.within(self.weather.latency);
        let Weather {
            loss,
            repeat,
            overtake,
            old,
            ..
        } = self.weather;
        if self.chance(loss) {
            return;
        }
        let flight = Flight { from, to, message };
        if self.chance(repeat) {
            let at = self.now + self.random.below(50_000);
            self.fly(at, flight.clone());
        }
        if self.chance(old) {
            self.old.push(flight.clone());
            if self.old.len() > 32 {
                let place = self.random.below(32) as usize;
                self.old.swap_remove(place);
            }
        }
        if self.chance(overtake) {
            at += self.random.below(50_000);
        } else {
            at = at.max(self.arrival[from][to][kind]);
            self.arrival[from][to][kind] = at;
        }
        self.fly(at, flight);
    }

    /// Nobody is there: whoever wanted to connect is told.
    pub(super) fn bounce(&mut self, from: usize, to: usize, message: &Message) {
        if matches!(message, Message::Packet { .. }) {
            self.ends.push((self.now + 500, from, to));
        }
    }

    pub(super) fn fly(&mut self, at: u64, flight: Flight) {
        self.launched += 1;
        self.flights.insert((at, self.launched), flight);
    }

    /// A message that is long gone arrives once more.
    pub(crate) fn replay_old(&mut self) {
        if !self.old.is_empty() {
            let place = self.random.below(self.old.len() as u64) as usize;
            let flight = self.old[place].clone();
            self.judge.mark("old message");
            self.fly(self.now + 1, flight);
        }
    }

    /// Something that was sent, from whomever to whomever.
    pub(crate) fn any_old(&mut self) -> Option<Message> {
        let place = self.random.below(self.old.len().max(1) as u64) as usize;
        self.old.get(place).map(|flight| flight.message.clone())
    }

    /// Nothing that is under way arrives, and nothing old comes back.
    pub(crate) fn forget_old(&mut self) {
        self.old.clear();
    }
}
