//! A network that counts in ticks: what is said in one arrives in a later one, over links that are up when it arrives.

use tenure::random::Random;

/// Whether the link from one place to another is up.
pub type Links = dyn Fn(usize, usize) -> bool;

/// Something on its way.
struct Mail<M> {
    arrives: u64,
    from: usize,
    to: usize,
    what: M,
}

/// Everything that is on its way, whatever it is.
pub struct Network<M> {
    now: u64,
    /// The fewest and the most ticks of a hop.
    hop: (u64, u64),
    random: Random,
    flight: Vec<Mail<M>>,
}

impl<M> Network<M> {
    /// A network in which a hop takes from so many ticks to so many.
    #[must_use]
    pub fn new(hop: (u64, u64), seed: u64) -> Self {
        Self {
            now: 0,
            hop,
            random: Random::from_seed(seed),
            flight: Vec::new(),
        }
    }

    /// The present tick.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Says something. Between two nodes nothing overtakes what was said before: some libraries count on it.
    pub fn send(&mut self, from: usize, to: usize, what: M) {
        let (fewest, most) = self.hop;
        let earliest = self.now + fewest + self.random.below(most - fewest + 1);
        let before = self.flight.iter().rev();
        let before = before.filter(|mail| (mail.from, mail.to) == (from, to));
        let arrives = before.map(|mail| mail.arrives).next().unwrap_or(0);
        let arrives = arrives.max(earliest);
        self.flight.push(Mail {
            arrives,
            from,
            to,
            what,
        });
    }

    /// The next tick: what arrives in it, as (from, to, what), in the order it was said.
    pub fn tick(&mut self, links: &Links) -> Vec<(usize, usize, M)> {
        self.now += 1;
        let now = self.now;
        self.flight
            .extract_if(.., |mail| mail.arrives <= now)
            .filter(|mail| links(mail.from, mail.to))
            .map(|mail| (mail.from, mail.to, mail.what))
            .collect()
    }
}
