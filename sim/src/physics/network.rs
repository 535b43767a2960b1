//! The network: latency, loss, duplication, and links that can be cut one direction at a time.
//!
//! Every message draws its own latency, so later messages between nodes overtake earlier ones. To and from a client or a
//! resource there is one connection a node, which keeps the order, as a stream does. What is in flight can be looked at,
//! together with its fate.

use tenure::Duration;
use tenure::random::Random;

/// A million: the unit of probabilities.
pub const PPM: u32 = 1_000_000;

/// How the network behaves. Probabilities are in parts per million.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weather {
    /// The shortest latency, in microseconds.
    pub latency_min: u64,
    /// The longest latency.
    pub latency_max: u64,
    /// How often a message between nodes is lost.
    pub loss: u32,
    /// How often a message between nodes arrives twice.
    pub duplicate: u32,
}

/// What becomes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Fate {
    /// It will arrive.
    Arrives = 0,
    /// It will be lost on the way.
    Lost = 1,
    /// Its link is cut.
    Cut = 2,
}

/// A message on its way.
#[derive(Clone, Copy, Debug)]
pub struct Flight<P> {
    /// Its number in the run.
    pub id: u64,
    /// Who sent it.
    pub from: u16,
    /// To whom.
    pub to: u16,
    /// When it was sent.
    pub sent: u64,
    /// When it arrives, or is noticed to be lost.
    pub arrives: u64,
    /// What becomes of it.
    pub fate: Fate,
    /// The event of its sending.
    pub cause: i64,
    /// What it says.
    pub payload: P,
}

/// A place in the record of messages in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot(u32);

/// The network among `nodes` nodes, and from them to clients and resources.
#[derive(Clone, Debug)]
pub struct Network<P> {
    nodes: usize,
    /// `cut[from * nodes + to]`.
    cut: Vec<bool>,
    cuts: usize,
    /// By how much more than its latency a message takes, as `cut`; empty while no link is slow.
    delays: Vec<u64>,
    slow: usize,
    /// How it behaves now.
    pub weather: Weather,
    random: Random,
    flights: Vec<Option<Flight<P>>>,
    free: Vec<u32>,
    sent: u64,
    /// When the newest message of each way of each connection arrives.
    newest: Vec<u64>,
}

impl<P: Copy> Network<P> {
    /// A network with every link whole.
    #[must_use]
    pub fn new(nodes: usize, weather: Weather, random: Random) -> Self {
        let cut = vec![false; nodes * nodes];
        Self {
            nodes,
            cut,
            cuts: 0,
            delays: Vec::new(),
            slow: 0,
            weather,
            random,
            flights: Vec::new(),
            free: Vec::new(),
            newest: Vec::new(),
            sent: 0,
        }
    }

    /// Sends from node to node. The first slot is the message, the second its duplicate.
    pub fn send(
        &mut self,
        now: u64,
        from: usize,
        to: usize,
        cause: i64,
        payload: P,
    ) -> (Slot, Option<Slot>) {
        let fate = if self.is_cut(from, to) {
            Fate::Cut
        } else if self.chance(self.weather.loss) {
            Fate::Lost
        } else {
            Fate::Arrives
        };
        let delay = self.delay(from, to);
        let arrives = self.arrival(now).saturating_add(delay);
        let first = self.fly(now, from, to, arrives, fate, cause, payload);
        let again = fate == Fate::Arrives && self.chance(self.weather.duplicate);
        let second = again.then(|| {
            let arrives = self.arrival(now).saturating_add(delay);
            self.fly(now, from, to, arrives, Fate::Arrives, cause, payload)
        });
        (first, second)
    }

    /// Sends between a node and a client or resource, behind what went the same way before. Cuts and losses are of links between nodes: these paths always
    /// carry, `extra` microseconds later than the latency alone.
    pub fn send_outside(
        &mut self,
        now: u64,
        from: usize,
        to: usize,
        extra: u64,
        cause: i64,
        payload: P,
    ) -> Slot {
        let way = 2 * (from.max(to).saturating_sub(self.nodes) * self.nodes + from.min(to))
            + usize::from(from < to);
        if self.newest.len() <= way {
            self.newest.resize(way + 1, 0);
        }
        let arrives = self
            .arrival(now)
            .saturating_add(extra)
            .max(self.newest[way]);
        self.newest[way] = arrives;
        self.fly(now, from, to, arrives, Fate::Arrives, cause, payload)
    }

    /// Takes a message that has arrived, or was noticed to be lost, off the record.
    pub fn land(&mut self, slot: Slot) -> Option<Flight<P>> {
        let place = self.flights.get_mut(slot.0 as usize)?;
        let Flight {
            id,
            from,
            to,
            sent,
            arrives,
            fate,
            cause,
            payload,
        } = *place.as_ref()?;
        *place = None;
        self.free.push(slot.0);
        // Part by part: in WASM, moving so large a value as a whole is a call.
        Some(Flight {
            id,
            from,
            to,
            sent,
            arrives,
            fate,
            cause,
            payload,
        })
    }

    /// What is in flight, in no meaningful order.
    pub fn flights(&self) -> impl Iterator<Item = &Flight<P>> {
        self.flights.iter().flatten()
    }

    /// The message in a slot.
    #[must_use]
    pub fn flight(&self, slot: Slot) -> Option<&Flight<P>> {
        self.flights.get(slot.0 as usize)?.as_ref()
    }

    /// How many messages were sent.
    #[must_use]
    pub const fn sent(&self) -> u64 {
        self.sent
    }

    /// Cuts the link in one direction, with all that is in flight on it. False when it was cut, or is none.
    pub fn sever(&mut self, from: usize, to: usize) -> bool {
        if from == to || from >= self.nodes || to >= self.nodes || self.is_cut(from, to) {
            return false;
        }
        self.cut[from * self.nodes + to] = true;
        self.cuts += 1;
        for flight in self.flights.iter_mut().flatten() {
            if flight.from as usize == from
                && flight.to as usize == to
                && flight.fate == Fate::Arrives
            {
                flight.fate = Fate::Cut;
            }
        }
        true
    }

    /// Heals the link in one direction. False when it was not cut.
    pub fn heal(&mut self, from: usize, to: usize) -> bool {
        if !self.is_cut(from, to) {
            return false;
        }
        self.cut[from * self.nodes + to] = false;
        self.cuts -= 1;
        true
    }

    /// Whether the link is cut in this direction.
    #[must_use]
    pub fn is_cut(&self, from: usize, to: usize) -> bool {
        from < self.nodes && to < self.nodes && self.cut[from * self.nodes + to]
    }

    /// Whatever is sent on the link in one direction from now on takes so much longer. False when it did, or there is no
    /// such link.
    #[cfg_attr(target_family = "wasm", inline(never))]
    pub fn slow(&mut self, from: usize, to: usize, delay: u64) -> bool {
        if from == to || from >= self.nodes || to >= self.nodes || self.delay(from, to) == delay {
            return false;
        }
        self.delays.resize(self.nodes * self.nodes, 0);
        let former = std::mem::replace(&mut self.delays[from * self.nodes + to], delay);
        self.slow = self.slow + usize::from(delay > 0) - usize::from(former > 0);
        true
    }

    /// By how much more than its latency a message between nodes takes.
    #[must_use]
    pub fn delay(&self, from: usize, to: usize) -> u64 {
        self.delays
            .get(from * self.nodes + to)
            .copied()
            .unwrap_or(0)
    }

    /// Whether any link is slow.
    #[must_use]
    pub const fn has_slow(&self) -> bool {
        self.slow > 0
    }

    /// How many directions of links are cut.
    #[must_use]
    pub const fn cuts(&self) -> usize {
        self.cuts
    }

    /// Row: from, column: to.
    #[must_use]
    pub fn cut_matrix(&self) -> &[bool] {
        &self.cut
    }

    #[allow(clippy::too_many_arguments, reason = "the fields of a flight")]
    fn fly(
        &mut self,
        now: u64,
        from: usize,
        to: usize,
        arrives: u64,
        fate: Fate,
        cause: i64,
        payload: P,
    ) -> Slot {
        let flight = Flight {
            id: self.sent,
            from: from as u16,
            to: to as u16,
            sent: now,
            arrives,
            fate,
            cause,
            payload,
        };
        self.sent += 1;
        match self.free.pop() {
            Some(place) => {
                self.flights[place as usize] = Some(flight);
                Slot(place)
            }
            None => {
                self.flights.push(Some(flight));
                Slot(self.flights.len() as u32 - 1)
            }
        }
    }

    fn arrival(&mut self, now: u64) -> u64 {
        let Weather {
            latency_min,
            latency_max,
            ..
        } = self.weather;
        let latency = self.random.duration(
            Duration::from_micros(latency_min),
            Duration::from_micros(latency_max),
        );
        now.saturating_add(latency.as_micros())
    }

    fn chance(&mut self, ppm: u32) -> bool {
        // No draw where there is no chance: a calm network costs one draw a message.
        ppm != 0 && self.random.below(u64::from(PPM)) < u64::from(ppm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(loss: u32, duplicate: u32) -> Network<u8> {
        let weather = Weather {
            latency_min: 5,
            latency_max: 10,
            loss,
            duplicate,
        };
        Network::new(3, weather, Random::from_seed(1))
    }

    #[test]
    fn a_connection_keeps_the_order_and_no_other_waits_for_it() {
        let mut network = network(0, 0);
        let (mut out, mut back) = (0, 0);
        for now in 0..200 {
            let mut arrives = |from, to, extra| {
                let slot = network.send_outside(now, from, to, extra, -1, 0);
                network.flight(slot).unwrap().arrives
            };
            let slow = arrives(0, 4, if now == 0 { 1_000_000 } else { 0 });
            assert!(slow >= out.max(1_000_000));
            out = slow;
            let quick = arrives(4, 0, 0);
            assert!(quick >= back && quick < 500_000);
            back = quick;
            assert!(arrives(1, 4, 0) < 500_000 && arrives(0, 5, 0) < 500_000);
        }
    }

    #[test]
    fn latencies_fill_their_range_and_reorder() {
        let mut network = network(0, 0);
        let mut last = 0;
        let mut overtaken = 0;
        for now in 0..200 {
            let (slot, second) = network.send(now, 0, 1, -1, 7);
            let flight = *network.flight(slot).unwrap();
            assert!((5..=10).contains(&(flight.arrives - now)) && second.is_none());
            overtaken += usize::from(flight.arrives < last);
            last = flight.arrives;
            network.land(slot);
        }
        assert!(overtaken > 20, "{overtaken}");
    }

    #[test]
    fn loss_and_duplication_keep_to_their_odds() {
        let mut network = network(PPM / 4, PPM / 2);
        let (mut lost, mut twice) = (0, 0);
        for now in 0..4000 {
            let (slot, second) = network.send(now, 0, 1, -1, 7);
            lost += usize::from(network.land(slot).unwrap().fate == Fate::Lost);
            twice += usize::from(second.and_then(|slot| network.land(slot)).is_some());
        }
        assert!((900..1100).contains(&lost), "{lost}");
        assert!((1400..1600).contains(&twice), "{twice}");
    }

    #[test]
    fn a_cut_takes_what_is_in_flight_one_way_only() {
        let mut network = network(0, 0);
        let (there, _) = network.send(0, 0, 1, -1, 1);
        let (back, _) = network.send(0, 1, 0, -1, 2);
        assert!(network.sever(0, 1) && !network.sever(0, 1));
        let (later, _) = network.send(1, 0, 1, -1, 3);
        assert_eq!(network.land(there).unwrap().fate, Fate::Cut);
        assert_eq!(network.land(back).unwrap().fate, Fate::Arrives);
        assert!(network.heal(0, 1) && !network.heal(0, 1));
        assert_eq!(
            network.land(later).unwrap().fate,
            Fate::Cut,
            "healed too late for what was sent before"
        );
        assert_eq!(network.cuts(), 0);
        assert!(
            !network.sever(1, 1) && !network.sever(0, 3),
            "there is no such link"
        );
    }

    #[test]
    fn a_slow_link_is_late_one_way_and_from_then_on() {
        let mut network = network(0, PPM);
        let before = network.send(0, 0, 1, -1, 1).0;
        assert!(network.slow(0, 1, 1_000) && !network.slow(0, 1, 1_000));
        assert!(!network.slow(1, 1, 5) && !network.slow(0, 3, 5));
        let (late, twice) = network.send(0, 0, 1, -1, 2);
        let back = network.send(0, 1, 0, -1, 3).0;
        let arrives = |slot| network.flight(slot).unwrap().arrives;
        assert!(arrives(before) <= 10 && arrives(back) <= 10);
        assert!((1_005..=1_010).contains(&arrives(late)));
        assert!((1_005..=1_010).contains(&arrives(twice.unwrap())));
        assert!(network.has_slow() && network.slow(0, 1, 0) && !network.has_slow());
    }

    #[test]
    fn places_are_used_again() {
        let mut network = network(0, 0);
        for now in 0..100 {
            let slot = network.send_outside(now, 0, 5, 40, -1, 1);
            assert!((45..=50).contains(&(network.flight(slot).unwrap().arrives - now)));
            network.land(slot);
            assert!(network.land(slot).is_none());
        }
        assert_eq!((network.flights.len(), network.sent()), (1, 100));
    }
}
