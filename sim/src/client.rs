//! A client that wants to write all the time, through whoever leads or through everybody in turn.

use crate::app::Through;
use crate::packet::Outcome;

/// How long a client waits in silence before it tries another node, in client periods.
const PATIENCE: u64 = 4;

/// An open loop: a new write every period, whatever became of the last.
#[derive(Clone, Debug)]
pub struct Client {
    /// Who can be asked who leads.
    nodes: u16,
    /// Who can be named: beyond the nodes, servers that nodes lead to.
    known: u16,
    through: Through,
    /// Microseconds between writes.
    every: u64,
    /// Whom it takes for the leader.
    target: u16,
    /// Whom it turned to last of its own accord.
    turn: u16,
    /// Whether it goes on from there when whoever it was sent to is silent, and not from that one: see
    /// [`asking_around`](Self::asking_around).
    around: bool,
    issued: u64,
    acknowledged: u64,
    /// When it last heard from its target, or chose it.
    heard_at: u64,
    /// The newest write that followed a redirection: each follows at most one, or two nodes that point at each other
    /// would keep it going round.
    redirected: u64,
}

impl Client {
    /// A client of `nodes` nodes.
    #[must_use]
    pub const fn new(nodes: u16, every: u64, through: Through) -> Self {
        Self {
            nodes,
            known: nodes,
            through,
            every,
            target: 0,
            turn: 0,
            around: false,
            issued: 0,
            acknowledged: 0,
            heard_at: 0,
            redirected: 0,
        }
    }

    /// The same, which follows nodes to servers beyond them: so many of both.
    #[cfg(feature = "peers")]
    #[must_use]
    pub const fn knowing(mut self, known: u16) -> Self {
        self.known = known;
        self
    }

    /// From now on, one that is sent to a leader that is gone asks a third. By itself it goes on after that leader, with the same
    /// follower perhaps, for as long as that one hears nothing of the next leader: whoever measures when the next can be found
    /// would measure that.
    #[cfg(all(feature = "stores", feature = "peers", not(target_family = "wasm")))]
    pub(crate) const fn asking_around(&mut self) {
        (self.around, self.turn) = (true, self.target);
    }

    /// A new write is due: whom to ask, and its number.
    pub fn tick(&mut self, now: u64) -> (u16, u64) {
        let silent = now.saturating_sub(self.heard_at) > PATIENCE.saturating_mul(self.every);
        if silent || self.through == Through::Anyone {
            self.try_next(now);
        }
        self.issued += 1;
        (self.target, self.issued)
    }

    /// An answer came. Names whom to ask instead, if the client follows a redirection.
    pub fn answered(&mut self, now: u64, by: u16, request: u64, outcome: Outcome) -> Option<u16> {
        match outcome {
            Outcome::Acknowledged(_) => {
                self.acknowledged += 1;
                if self.through == Through::Leader {
                    (self.target, self.turn) = (by, by);
                }
                self.heard_at = now;
            }
            Outcome::NotYet if by == self.target => self.heard_at = now,
            Outcome::Redirected(Some(leader)) if by == self.target && leader < self.known => {
                self.target = leader;
                self.heard_at = now;
                if request > self.redirected {
                    self.redirected = request;
                    return Some(leader);
                }
            }
            Outcome::Redirected(None) | Outcome::Refused if by == self.target => self.try_next(now),
            _ => {}
        }
        None
    }

    /// When the next write is due, after one at `now`.
    #[must_use]
    pub const fn next_at(&self, now: u64) -> u64 {
        now.saturating_add(self.every)
    }

    /// How many writes were acknowledged.
    #[must_use]
    pub const fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    fn try_next(&mut self, now: u64) {
        let after = if self.around { self.turn } else { self.target };
        self.turn = (after + 1) % self.nodes;
        (self.target, self.heard_at) = (self.turn, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_and_refusals_move_it_on() {
        let mut client = Client::new(3, 10, Through::Leader);
        assert_eq!(client.tick(0), (0, 1));
        assert_eq!(client.tick(40), (0, 2));
        assert_eq!(client.tick(41), (1, 3), "silent for more than four periods");
        client.answered(42, 1, 3, Outcome::Redirected(None));
        assert_eq!(client.tick(43).0, 2);
        client.answered(44, 0, 1, Outcome::Refused);
        assert_eq!(
            client.tick(45).0,
            2,
            "an answer of a node it no longer asks moves nothing"
        );
    }

    #[test]
    fn who_asks_around_and_is_sent_to_one_that_is_gone_asks_a_third() {
        for around in [false, true] {
            let mut client = Client::new(3, 10, Through::Leader);
            client.around = around;
            client.answered(0, 0, 1, Outcome::Acknowledged(1));
            let asked: Vec<u16> = (1..20)
                .map(|tick| {
                    let (node, request) = client.tick(tick * 10);
                    if node == 1 {
                        let elsewhere = Outcome::Redirected(Some(0));
                        client.answered(tick * 10 + 1, 1, request, elsewhere);
                    }
                    node
                })
                .collect();
            assert_eq!(asked.contains(&2), around, "{asked:?}");
        }
    }

    #[test]
    fn anyone_is_asked_in_turn() {
        let mut client = Client::new(3, 10, Through::Anyone);
        let asked = [(); 4].map(|()| {
            let (node, request) = client.tick(0);
            client.answered(5, 0, request, Outcome::Acknowledged(1));
            node
        });
        assert_eq!((asked, client.acknowledged()), ([1, 2, 0, 1], 4));
    }

    #[test]
    fn a_write_follows_one_redirection() {
        let mut client = Client::new(3, 10, Through::Leader);
        client.tick(0);
        assert_eq!(
            client.answered(1, 0, 1, Outcome::Redirected(Some(2))),
            Some(2)
        );
        assert_eq!(client.answered(2, 2, 1, Outcome::Redirected(Some(0))), None);
        assert_eq!(
            client.answered(3, 0, 1, Outcome::Redirected(Some(9))),
            None,
            "there is no such node"
        );
        assert_eq!(client.tick(4), (0, 2));
    }

    #[test]
    fn whoever_acknowledges_is_asked_again() {
        let mut client = Client::new(3, 10, Through::Leader);
        client.tick(0);
        client.answered(5, 2, 1, Outcome::Acknowledged(1));
        assert_eq!((client.acknowledged(), client.tick(6).0), (1, 2));
    }
}
