//! The network: latency, loss, duplication, and links that can be cut one direction at a time.
//!
//! Between nodes, messages are datagrams, and each draws its own latency, so that later ones overtake earlier ones; or
//! there is a connection for each pair that keeps the order ([`stream`](super::stream)). To and from a client or a
//! resource there is always one connection a node, which never breaks. What is in flight can be looked at, together with
//! its fate.

use super::links::Links;
use super::stream::{Streams, Turn};
use super::weather::{PPM, Weather};
use super::{Blame, NEVER, NOBODY};
use tenure::Duration;
use tenure::random::Random;

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
    /// Its connection broke.
    Broken = 3,
    /// It is kept somewhere and arrives once more, if its link carries then.
    Replayed = 4,
}

/// A message on its way.
#[derive(Clone, Debug)]
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

/// What was sent: the message, and what arrives of it besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The message.
    pub first: Slot,
    /// Its duplicate.
    pub again: Option<Slot>,
    /// Its replay.
    pub later: Option<Slot>,
}

/// The network among `nodes` nodes, and from them to clients and resources.
#[derive(Clone, Debug)]
pub struct Network<P> {
    nodes: usize,
    /// The links between nodes. They are cut and healed through the network, which knows what is on them.
    pub(crate) links: Links,
    weather: Weather,
    /// What made the weather as it is.
    weather_by: Blame,
    random: Random,
    flights: Vec<Option<Flight<P>>>,
    free: Vec<u32>,
    sent: u64,
    /// When the newest message of each way of each connection to a client or resource arrives.
    newest: Vec<u64>,
    /// The connections between nodes, while there are any.
    streams: Option<Box<Streams>>,
    /// The nodes whose process is not there.
    away: Vec<bool>,
    /// Connections that broke or will stand again, until somebody asks, the first last.
    turns: Vec<Turn>,
}

impl<P: Clone> Network<P> {
    /// A network with every link whole.
    #[must_use]
    pub fn new(nodes: usize, weather: Weather, random: Random) -> Self {
        let mut network = Self {
            nodes,
            links: Links::new(nodes),
            weather,
            weather_by: NOBODY,
            random,
            flights: Vec::new(),
            free: Vec::new(),
            newest: Vec::new(),
            sent: 0,
            streams: None,
            away: vec![false; nodes],
            turns: Vec::new(),
        };
        network.connect();
        network
    }

    /// How it behaves now.
    #[must_use]
    pub const fn weather(&self) -> Weather {
        self.weather
    }

    /// It behaves like this from now on. False when it did. Connections that are new stand at once.
    pub(crate) fn change(&mut self, weather: Weather, by: Blame) -> bool {
        let former = std::mem::replace(&mut self.weather, weather);
        if former == weather {
            return false;
        }
        self.weather_by = by;
        if former.fifo != weather.fifo {
            self.connect();
        }
        true
    }

    /// Sends from node to node.
    pub fn send(&mut self, now: u64, from: usize, to: usize, cause: i64, payload: P) -> Sent {
        let fate = if self.links.is_cut(from, to) {
            Fate::Cut
        } else if self.weather.fifo && self.breaker(now, from, to).is_some() {
            Fate::Broken
        } else if self.chance(self.weather.loss) {
            Fate::Lost
        } else {
            Fate::Arrives
        };
        let (delay, _) = self.links.delay(from, to);
        let mut arrives = self.arrival(now).saturating_add(delay);
        if let Some(streams) = &mut self.streams {
            if fate == Fate::Arrives {
                arrives = streams.behind(from, to, arrives);
            }
            let first = self.fly(now, from, to, arrives, fate, cause, payload);
            if fate == Fate::Lost {
                self.disconnect(now, from, to, self.weather_by);
            }
            return Sent {
                first,
                again: None,
                later: None,
            };
        }
        // Copied only where it arrives more than once.
        let spare = fate == Fate::Arrives && self.weather.duplicate | self.weather.replay != 0;
        let copy = spare.then(|| payload.clone());
        let first = self.fly(now, from, to, arrives, fate, cause, payload);
        let mut more = Sent {
            first,
            again: None,
            later: None,
        };
        let Some(copy) = copy else { return more };
        if self.chance(self.weather.duplicate) {
            let arrives = self.arrival(now).saturating_add(delay);
            let copy = copy.clone();
            more.again = Some(self.fly(now, from, to, arrives, Fate::Arrives, cause, copy));
        }
        if self.chance(self.weather.replay) {
            let (low, high) = (self.weather.replay_min, self.weather.replay_max);
            let arrives = self.after(now, low, high);
            more.later = Some(self.fly(now, from, to, arrives, Fate::Replayed, cause, copy));
        }
        more
    }

    /// Sends between a node and a client or resource, behind what went the same way before. Cuts and losses are of links
    /// between nodes: these paths always carry, `extra` microseconds later than the latency alone.
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
        } = place.take()?;
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

    /// How many messages of some kind are to arrive over a link.
    #[cfg(feature = "peers")]
    pub(crate) fn on_link(&self, from: usize, to: usize, is: fn(&P) -> bool) -> usize {
        let ends = (from as u16, to as u16);
        let on = |flight: &&Flight<P>| {
            (flight.from, flight.to) == ends && flight.fate == Fate::Arrives && is(&flight.payload)
        };
        self.flights().filter(on).count()
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

    /// Cuts the link in one direction, for what is sent from now on; [`strand`](Self::strand) takes what is in flight. False
    /// when it was cut, or is none.
    pub(crate) fn sever(&mut self, from: usize, to: usize, by: Blame) -> bool {
        self.links.sever(from, to, by)
    }

    /// What is in flight on links that were just cut will not arrive, and their connections break. Once for all links that
    /// are cut at an instant. Answers whether that was anything.
    pub(crate) fn strand(&mut self, now: u64, links: &[(usize, usize)], by: Blame) -> bool {
        let cut = &self.links;
        let mut hit = take(&mut self.flights, Fate::Cut, |(from, to)| {
            cut.is_cut(from, to)
        });
        for (from, to) in links {
            hit |= self.breaks(now, *from, *to, by) == Some(true);
        }
        hit
    }

    /// Heals the link in one direction. False when it was not cut.
    pub fn heal(&mut self, now: u64, from: usize, to: usize) -> bool {
        let healed = self.links.heal(from, to);
        if healed {
            self.returns(now, from, to);
        }
        healed
    }

    /// Breaks the connection of two nodes. False when it does not stand, or there is none.
    pub(crate) fn disconnect(&mut self, now: u64, one: usize, other: usize, by: Blame) -> bool {
        one != other
            && self.breaker(now, one, other).is_none()
            && self.breaks(now, one, other, by).is_some()
    }

    /// The process of a node is not there any more: its connections break.
    pub(crate) fn leave(&mut self, now: u64, node: usize, by: Blame) {
        self.away[node] = true;
        if self.streams.is_some() {
            for other in (0..self.nodes).rev().filter(|other| *other != node) {
                self.breaks(now, node, other, by);
            }
        }
    }

    /// The process of a node is there.
    pub(crate) fn join(&mut self, now: u64, node: usize) {
        self.away[node] = false;
        if self.streams.is_some() {
            for other in (0..self.nodes).rev().filter(|other| *other != node) {
                self.returns(now, node, other);
            }
        }
    }

    /// A connection that broke or will stand again, of which nobody was told.
    pub(crate) fn turn(&mut self) -> Option<Turn> {
        self.turns.pop()
    }

    /// Whether the connection of two nodes stands again just now.
    pub(crate) fn is_back(&self, now: u64, one: usize, other: usize) -> bool {
        let streams = self.streams.as_ref();
        streams.is_some_and(|streams| streams.is_back(now, one, other))
    }

    /// What broke the connection of two nodes, while it does not stand.
    pub(crate) fn breaker(&self, now: u64, one: usize, other: usize) -> Option<Blame> {
        self.streams.as_ref()?.broken(now, one, other)
    }

    /// Begins anew with connections that stand wherever they can, or without any.
    fn connect(&mut self) {
        let (nodes, fifo) = (self.nodes, self.weather.fifo);
        let streams =
            fifo.then(|| Box::new(Streams::new(nodes, |one, other| self.can(one, other))));
        self.streams = streams;
    }

    /// Whether the connection of two nodes can stand: both directions carry, and both processes are there.
    fn can(&self, one: usize, other: usize) -> bool {
        !self.links.is_cut(one, other)
            && !self.links.is_cut(other, one)
            && !self.away[one]
            && !self.away[other]
    }

    /// Breaks a connection with all that is in flight on it. Answers whether that was anything; `None` when it did not
    /// stand, or there is none.
    fn breaks(&mut self, now: u64, one: usize, other: usize, by: Blame) -> Option<bool> {
        self.streams.as_ref()?;
        let back = if self.can(one, other) {
            now.saturating_add(self.round_trip())
        } else {
            NEVER
        };
        let broke = self.streams.as_mut()?.breaks(now, (one, other), back, by);
        let hit = broke
            && take(&mut self.flights, Fate::Broken, |ends| {
                ends == (one, other) || ends == (other, one)
            });
        self.turned(one, other, broke, hit, back, by);
        broke.then_some(hit)
    }

    fn returns(&mut self, now: u64, one: usize, other: usize) {
        let back = now.saturating_add(self.round_trip());
        let can = self.can(one, other);
        let streams = self.streams.as_mut().filter(|_| can);
        if streams.is_some_and(|streams| streams.returns(one, other, back)) {
            self.turned(one, other, false, false, back, NOBODY);
        }
    }

    fn turned(&mut self, one: usize, other: usize, broke: bool, hit: bool, back: u64, by: Blame) {
        let ends = (one.min(other) as u16, one.max(other) as u16);
        self.turns.push(Turn {
            ends,
            broke,
            hit,
            back,
            by,
        });
    }

    const fn round_trip(&self) -> u64 {
        self.weather.latency_max.saturating_mul(2)
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
        self.after(now, self.weather.latency_min, self.weather.latency_max)
    }

    fn after(&mut self, now: u64, low: u64, high: u64) -> u64 {
        let (low, high) = (Duration::from_micros(low), Duration::from_micros(high));
        let latency = self.random.duration(low, high);
        now.saturating_add(latency.as_micros())
    }

    fn chance(&mut self, ppm: u32) -> bool {
        // No draw where there is no chance: a calm network costs one draw a message.
        ppm != 0 && self.random.below(u64::from(PPM)) < u64::from(ppm)
    }
}

/// What is in flight between some ends, and would have arrived, has this fate. Answers whether there was any.
fn take<P>(
    flights: &mut [Option<Flight<P>>],
    fate: Fate,
    between: impl Fn((usize, usize)) -> bool,
) -> bool {
    let mut any = false;
    for flight in flights.iter_mut().flatten() {
        if flight.fate == Fate::Arrives && between((flight.from as usize, flight.to as usize)) {
            flight.fate = fate;
            any = true;
        }
    }
    any
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(loss: u32, duplicate: u32) -> Network<u8> {
        let weather = Weather {
            loss,
            duplicate,
            ..Weather::calm(5, 10)
        };
        Network::new(3, weather, Random::from_seed(1))
    }

    fn streams() -> Network<u8> {
        let weather = Weather {
            fifo: true,
            ..Weather::calm(5, 10)
        };
        Network::new(3, weather, Random::from_seed(1))
    }

    fn fate(network: &Network<u8>, slot: Slot) -> Fate {
        network.flight(slot).unwrap().fate
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
            let sent = network.send(now, 0, 1, -1, 7);
            let flight = network.flight(sent.first).unwrap();
            assert!((5..=10).contains(&(flight.arrives - now)));
            assert_eq!((sent.again, sent.later), (None, None));
            overtaken += usize::from(flight.arrives < last);
            last = flight.arrives;
            network.land(sent.first);
        }
        assert!(overtaken > 20, "{overtaken}");
    }

    #[test]
    fn loss_and_duplication_keep_to_their_odds() {
        let mut network = network(PPM / 4, PPM / 2);
        let (mut lost, mut twice) = (0, 0);
        for now in 0..4000 {
            let sent = network.send(now, 0, 1, -1, 7);
            lost += usize::from(network.land(sent.first).unwrap().fate == Fate::Lost);
            twice += usize::from(sent.again.and_then(|slot| network.land(slot)).is_some());
        }
        assert!((900..1100).contains(&lost), "{lost}");
        assert!((1400..1600).contains(&twice), "{twice}");
    }

    #[test]
    fn a_replay_comes_much_later_whatever_was_cut_meanwhile_if_the_link_carries_then() {
        let mut network = network(0, 0);
        let replay = Weather {
            replay: PPM / 4,
            ..network.weather()
        };
        assert!(network.change(replay, 3) && !network.change(replay, 4));
        let later: Vec<u64> = (0..2000)
            .filter_map(|now| {
                let sent = network.send(now, 0, 1, -1, 7);
                network.land(sent.first);
                let flight = network.flight(sent.later?).unwrap();
                Some(flight.arrives - now)
            })
            .collect();
        assert!((430..570).contains(&later.len()), "{}", later.len());
        assert!(
            later
                .iter()
                .all(|after| (100_000..=2_000_000).contains(after))
        );
        assert!(network.sever(0, 1, 0) && !network.strand(2_000, &[(0, 1)], 0));
        let all = network
            .flights()
            .all(|flight| flight.fate == Fate::Replayed);
        assert!(all, "they are not on the link");
    }

    #[test]
    fn a_cut_takes_what_is_in_flight_one_way_only() {
        let mut network = network(0, 0);
        let there = network.send(0, 0, 1, -1, 1).first;
        let back = network.send(0, 1, 0, -1, 2).first;
        assert!(network.sever(0, 1, 7) && network.strand(0, &[(0, 1)], 7));
        assert!(!network.sever(0, 1, 8));
        assert_eq!(network.links.cutter(0, 1), 7);
        let later = network.send(1, 0, 1, -1, 3).first;
        assert_eq!(network.land(there).unwrap().fate, Fate::Cut);
        assert_eq!(network.land(back).unwrap().fate, Fate::Arrives);
        assert!(network.heal(1, 0, 1) && !network.heal(1, 0, 1));
        assert_eq!(
            network.land(later).unwrap().fate,
            Fate::Cut,
            "healed too late for what was sent before"
        );
        assert_eq!(network.links.cuts(), 0);
        assert!(network.sever(0, 1, 7));
        assert!(!network.strand(1, &[(0, 1)], 7), "nothing was in flight");
        for (from, to) in [(1, 1), (0, 3)] {
            assert!(!network.sever(from, to, 7), "there is no such link");
        }
    }

    #[test]
    fn between_connected_nodes_nothing_is_overtaken() {
        let mut network = streams();
        let mut last = 0;
        for now in 0..200 {
            let sent = network.send(now, 0, 1, -1, 7);
            let arrives = network.flight(sent.first).unwrap().arrives;
            assert!(arrives >= last);
            last = arrives;
        }
    }

    #[test]
    fn a_loss_breaks_the_connection_with_all_that_is_on_it_for_a_round_trip() {
        let mut network = streams();
        let earlier = network.send(0, 0, 1, -1, 1).first;
        let back = network.send(0, 1, 0, -1, 1).first;
        let elsewhere = network.send(0, 0, 2, -1, 1).first;
        let lossy = Weather {
            loss: PPM,
            ..network.weather()
        };
        network.change(lossy, 3);
        let lost = network.send(1, 0, 1, -1, 2).first;
        network.change(Weather { loss: 0, ..lossy }, 4);
        for (slot, expected) in [
            (earlier, Fate::Broken),
            (back, Fate::Broken),
            (elsewhere, Fate::Arrives),
            (lost, Fate::Lost),
        ] {
            assert_eq!(fate(&network, slot), expected);
        }
        let turn = network.turn().unwrap();
        assert_eq!((turn.ends, turn.broke, turn.hit), ((0, 1), true, true));
        assert_eq!((turn.back, turn.by, network.turn()), (21, 3, None));
        for (now, expected) in [(20, Fate::Broken), (21, Fate::Arrives)] {
            let sent = network.send(now, 1, 0, -1, 3).first;
            assert_eq!(fate(&network, sent), expected, "{now}");
        }
        assert!(network.is_back(21, 0, 1) && !network.is_back(22, 0, 1));
    }

    #[test]
    fn a_connection_waits_for_both_directions_and_both_processes() {
        let mut network = streams();
        let stands = |network: &Network<u8>, now| network.breaker(now, 0, 1).is_none();
        network.sever(0, 1, 0);
        network.strand(0, &[(0, 1)], 0);
        network.leave(0, 1, 1);
        network.sever(1, 0, 2);
        network.strand(0, &[(1, 0)], 2);
        for (now, mend) in [(100, 0), (200, 1), (300, 2)] {
            assert!(!stands(&network, now - 1));
            match mend {
                0 => assert!(network.heal(now, 0, 1)),
                1 => network.join(now, 1),
                _ => assert!(network.heal(now, 1, 0)),
            }
        }
        assert!(!stands(&network, 319) && stands(&network, 320));
        assert!(network.disconnect(400, 0, 1, 5) && !network.disconnect(401, 1, 0, 6));
        assert!(stands(&network, 420), "the second was no effect");
        assert!(!network.disconnect(500, 1, 1, 7), "no connection to itself");
    }

    #[test]
    fn without_connections_there_is_nothing_to_break() {
        let mut network = network(0, 0);
        assert!(!network.disconnect(0, 0, 1, 0));
        network.leave(0, 1, 0);
        assert_eq!((network.turn(), network.breaker(0, 0, 1)), (None, None));
        let connected = Weather {
            fifo: true,
            ..network.weather()
        };
        network.change(connected, 0);
        assert!(network.breaker(0, 0, 1).is_some() && network.breaker(0, 0, 2).is_none());
    }

    #[test]
    fn a_delayed_link_is_late_one_way_and_from_then_on() {
        let mut network = network(0, PPM);
        let before = network.send(0, 0, 1, -1, 1).first;
        assert!(
            network.links.set_delay(0, 1, 1_000, 7) && !network.links.set_delay(0, 1, 1_000, 8)
        );
        assert!(!network.links.set_delay(1, 1, 5, 9) && !network.links.set_delay(0, 3, 5, 9));
        assert_eq!(network.links.delay(0, 1), (1_000, 7));
        let Sent {
            first: late,
            again: twice,
            ..
        } = network.send(0, 0, 1, -1, 2);
        let back = network.send(0, 1, 0, -1, 3).first;
        let arrives = |slot| network.flight(slot).unwrap().arrives;
        assert!(arrives(before) <= 10 && arrives(back) <= 10);
        assert!((1_005..=1_010).contains(&arrives(late)));
        assert!((1_005..=1_010).contains(&arrives(twice.unwrap())));
        assert!(
            network.links.has_delays()
                && network.links.set_delay(0, 1, 0, 9)
                && !network.links.has_delays()
        );
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
