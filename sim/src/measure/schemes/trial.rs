//! What is done to a scheme: the same to all of them, at the same instants of the same seeds.

use crate::fault::{Action, Fault, Who};
use crate::physics::clock::TRUE_PACE;

/// A fault, with all that belongs to it: how long it lasts, and what makes it matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trial {
    /// Nothing is wrong.
    None,
    /// The leader's process dies.
    Crash,
    /// It freezes for one and a half leases.
    Pause,
    /// It is cut off from the store and from the other nodes, for as long.
    Partition,
    /// The leader's process dies and is there again half a lease later, and the store goes over to its asynchronous replica just
    /// when it has granted the claim of the next: before the replica can have heard of that. Of a cluster the leading server
    /// dies then.
    Failover,
    /// A clock jumps ahead by two leases: that of a server of the store, or of a waiter.
    ClockJump,
    /// The leader is cut off while its clock is as slow, and all others are as fast, as they may be.
    RateWithin,
    /// The same with clocks far beyond that.
    RateBeyond,
    /// Requests come through and answers do not, for half a lease; in every other seed the leader resigns meanwhile.
    LostReplies,
    /// A server of the store dies and comes back after a while, with its disk.
    StoreRestart,
}

/// Whose clock jumps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jumped {
    /// That of a server of the store, which counts leases by it.
    Server,
    /// That of a node that waits.
    Waiter,
}

/// A clock beyond the bound runs so much slower or faster than true time, in parts per million.
pub const BEYOND: u32 = 300_000;

/// How long a server of the store is away, in microseconds.
const AWAY: u64 = 2_000_000;

/// Who is there when it begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cast {
    pub(super) leader: u16,
    pub(super) nodes: u16,
    pub(super) servers: u16,
    /// Which of them leads, where they are a cluster.
    pub(super) leading: Option<u16>,
    /// When it begins.
    pub(super) at: u64,
    /// How long a lease is.
    pub(super) ttl: u64,
    /// How far clocks may be from true pace, in parts per million.
    pub(super) rate: u32,
    pub(super) jumped: Jumped,
    /// Whether the leader resigns where that is not always so.
    pub(super) resigns: bool,
    /// When the claim of the next is granted after the leader's process has died, which is back half a lease later.
    pub(super) granted: Option<u64>,
}

impl Trial {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::None,
        Self::Crash,
        Self::Pause,
        Self::Partition,
        Self::Failover,
        Self::ClockJump,
        Self::RateWithin,
        Self::RateBeyond,
        Self::LostReplies,
        Self::StoreRestart,
    ];

    /// Its name in reports and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Crash => "crash",
            Self::Pause => "pause",
            Self::Partition => "partition",
            Self::Failover => "store-failover",
            Self::ClockJump => "clock-jump",
            Self::RateWithin => "rate-within",
            Self::RateBeyond => "rate-beyond",
            Self::LostReplies => "lost-replies",
            Self::StoreRestart => "store-restart",
        }
    }

    /// Whether an action is what this is about, and not what has to be done besides.
    pub(super) const fn is(self, action: &Action) -> bool {
        match self {
            Self::None => false,
            Self::Crash | Self::StoreRestart => matches!(action, Action::Crash(_)),
            Self::Pause => matches!(action, Action::Pause(_)),
            Self::Partition => matches!(action, Action::Partition(_)),
            Self::Failover => matches!(action, Action::Failover(_)),
            Self::ClockJump | Self::RateWithin | Self::RateBeyond => {
                matches!(action, Action::Clock(..))
            }
            Self::LostReplies => matches!(action, Action::Cut(..)),
        }
    }

    /// What is done, and undone. Everything is as it was two leases before the end of a run of [`SPAN`](super::SPAN) leases.
    pub(super) fn plan(self, cast: &Cast) -> Vec<Fault> {
        let Cast {
            leader, at, ttl, ..
        } = *cast;
        let who = Who::Node(leader);
        let long = ttl + ttl / 2;
        let fault = |after: u64, action| Fault {
            at: at + after,
            action,
        };
        match self {
            Self::None => Vec::new(),
            Self::Crash => vec![
                fault(0, Action::Crash(who)),
                fault(2 * ttl, Action::Restart(who)),
            ],
            Self::Pause => vec![
                fault(0, Action::Pause(who)),
                fault(long, Action::Resume(who)),
            ],
            Self::Partition => vec![
                fault(0, Action::Partition(vec![(0, who), (1, Who::Rest)])),
                fault(long, Action::HealAll),
            ],
            Self::Failover => {
                let place = cast.leading.unwrap_or(0).into();
                match (cast.stores().nth(place), cast.granted) {
                    (Some(server), Some(granted)) => {
                        let mut plan = vec![
                            fault(0, Action::Crash(who)),
                            fault(ttl / 2, Action::Restart(who)),
                            fault(granted - at, Action::Failover(server)),
                        ];
                        if cast.leading.is_some() {
                            plan.push(fault(2 * ttl, Action::Restart(server)));
                        }
                        plan
                    }
                    _ => Vec::new(),
                }
            }
            Self::ClockJump => cast.jump(),
            Self::RateWithin => cast.apart(cast.rate),
            Self::RateBeyond => cast.apart(BEYOND),
            Self::LostReplies => cast.unheard(),
            Self::StoreRestart => match cast.stores().next() {
                Some(server) => vec![
                    fault(0, Action::Crash(server)),
                    fault(AWAY, Action::Restart(server)),
                ],
                None => Vec::new(),
            },
        }
    }
}

impl Cast {
    fn stores(&self) -> impl Iterator<Item = Who> + use<> {
        (self.nodes..self.nodes + self.servers).map(Who::Node)
    }

    fn others(&self) -> impl Iterator<Item = u16> + use<> {
        let leader = self.leader;
        (0..self.nodes).filter(move |node| *node != leader)
    }

    fn fault(&self, after: u64, action: Action) -> Fault {
        Fault {
            at: self.at + after,
            action,
        }
    }

    /// The clock of a server jumps. Where there are several, the leader holds just more than half of them then (LS-F3).
    fn jump(&self) -> Vec<Fault> {
        let (leader, later) = (Who::Node(self.leader), self.ttl + self.ttl / 3);
        let ahead = 2 * self.ttl as i64;
        let (whose, lost) = match self.jumped {
            Jumped::Server => (self.stores().next(), self.servers.saturating_sub(1) / 2),
            Jumped::Waiter => (self.others().next().map(Who::Node), 0),
        };
        let beyond = usize::from(self.servers - lost);
        let cuts = self.stores().skip(beyond).flat_map(|server| {
            [Action::Cut(leader, server), Action::Cut(server, leader)]
                .map(|action| self.fault(0, action))
        });
        let mut plan: Vec<Fault> = cuts.collect();
        plan.extend(whose.map(|who| self.fault(later, Action::Clock(who, None, ahead))));
        if lost > 0 {
            plan.push(self.fault(2 * self.ttl, Action::HealAll));
        }
        plan
    }

    /// The leader's clock is slow and all others are fast, each by so many parts per million; a while later the leader is
    /// cut off.
    fn apart(&self, rate: u32) -> Vec<Fault> {
        let leader = Who::Node(self.leader);
        let pace = |who, pace| self.fault(0, Action::Clock(who, Some(pace), 0));
        let others = self.others().map(Who::Node).chain(self.stores());
        let mut plan: Vec<Fault> = others.map(|who| pace(who, TRUE_PACE + rate)).collect();
        plan.push(pace(leader, TRUE_PACE - rate));
        let cut = Action::Partition(vec![(0, leader), (1, Who::Rest)]);
        plan.push(self.fault(self.ttl / 2, cut));
        plan.push(self.fault(2 * self.ttl, Action::HealAll));
        plan
    }

    /// What the store answers does not arrive; where there is none, what the others answer the leader.
    fn unheard(&self) -> Vec<Fault> {
        let leader = Who::Node(self.leader);
        let cut = |from, to| self.fault(0, Action::Cut(from, to));
        let mut plan: Vec<Fault> = if self.servers > 0 {
            let nodes = (0..self.nodes).map(Who::Node);
            nodes
                .flat_map(|node| self.stores().map(move |server| cut(server, node)))
                .collect()
        } else {
            self.others()
                .map(|node| cut(Who::Node(node), leader))
                .collect()
        };
        if self.resigns {
            plan.push(self.fault(self.ttl / 9, Action::Resign(leader)));
        }
        plan.push(self.fault(self.ttl / 2, Action::HealAll));
        plan
    }
}
