//! What can be done to a world: faults, repairs, and wishes to its nodes.

use crate::physics::disk::Takes;
use crate::physics::weather::Weather;
use crate::scenario::Refusal;
use std::ops::Deref;
use std::sync::Arc;

/// The most actions a run may have.
pub const MAX_FAULTS: usize = 10_000;

/// An action and when it happens. Among things that happen at one instant, actions come last, in the order they are
/// listed: an intervention made by hand at the cursor is thus exactly an action of the scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// True time.
    pub at: u64,
    /// What is done.
    pub action: Action,
}

/// What is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// The process dies: memory, queues and writes on their way are lost.
    Crash(Who),
    /// A crashed process starts again from its durable record.
    Restart(Who),
    /// The process freezes: timers and queues stand still, the world does not.
    Pause(Who),
    /// A frozen process goes on; what arrived meanwhile arrives at once.
    Resume(Who),
    /// The link from the first to the second carries nothing, in this direction.
    Cut(Who, Who),
    /// The link from the first to the second carries again.
    Heal(Who, Who),
    /// Every link carries again, and none flaps or is delayed.
    HealAll,
    /// Links between different groups are cut both ways; links within a group carry. Each node with the number of its
    /// group, in order of the groups.
    Partition(Vec<(u16, Who)>),
    /// The node is asked to stop leading.
    Resign(Who),
    /// The node is asked to campaign.
    Campaign(Who),
    /// The network behaves like this from now on.
    Network(Weather),
    /// The node's disk takes this long for a write from now on.
    Disk(Who, Takes),
    /// The node's clock runs at another pace from now on, if one is named, and jumps by so many microseconds.
    Clock(Who, Option<u32>, i64),
    /// The node's disk is damaged.
    Damage(Who, Damage),
    /// Both directions of the link between the two are cut and heal by turns, until they are healed.
    Flap(Who, Who, Flap),
    /// The connection between the two breaks, where there are connections.
    Disconnect(Who, Who),
    /// The process takes so long for each message, reply and deadline from now on, one after another.
    Slow(Who, u64),
    /// What is sent from the first to the second takes so much longer from now on. What is on its way does not.
    Delay(Who, Who, u64),
    /// Who leads is asked to change who takes part: who votes, and who gets the log without a vote.
    Change(Vec<u16>, Vec<u16>),
    /// Who leads is asked to hand over to this node.
    Transfer(Who),
    /// The primary of a store is lost, and its asynchronous replica takes its place, with what has reached it. The server is
    /// back then, whatever became of it before.
    Failover(Who),
    /// A server of a store loses the record of the election, and nobody who takes part deleted it: it was evicted, or by hand.
    Evict(Who),
    /// What a server of a store keeps is copied.
    BackUp(Who),
    /// What was copied of a server of a store last takes the place of all it keeps.
    Restore(Who),
    /// The machine loses its power: a crash that takes with it what a server of a store had written and not synced.
    PowerCut(Who),
}

/// The rhythm of a link that flaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flap {
    /// How long it is cut at a time, in microseconds; it begins with that.
    pub down: u64,
    /// How long it carries at a time.
    pub up: u64,
}

/// What is done to a disk, besides making it slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// The process dies, and the disk is empty: under its old name the node starts again without a memory.
    Wipe,
    /// It answers before it has written, from now on; a crash takes what it only said to have written.
    Lie,
    /// Its next write fails.
    Fail,
    /// Its next write is answered as done and never reaches the medium: a lost write.
    Drop,
}

/// Makes an action of a node and no more.
pub(crate) type Bare = fn(Who) -> Action;

/// Which node, named or by what it is when the action happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// This node.
    Node(u16),
    /// The node that leads: established first, else elected.
    Leader,
    /// The running node of the lowest id that does not lead; in a partition, the lowest not yet named.
    Follower,
    /// The crashed node of the lowest id.
    Crashed,
    /// The paused node of the lowest id.
    Paused,
    /// In a partition: all nodes, and servers, not named elsewhere.
    Rest,
    /// This server of the store by which they elect.
    Server(u16),
}

impl Action {
    /// How many kinds of actions there are.
    pub const KINDS: usize = 28;

    /// The names of the kinds, in order of [`kind`](Self::kind).
    pub const NAMES: [&str; Self::KINDS] = [
        "crash",
        "restart",
        "pause",
        "resume",
        "cut",
        "heal",
        "heal-all",
        "partition",
        "resign",
        "campaign",
        "network",
        "disk",
        "clock",
        "wipe",
        "lie",
        "fail",
        "drop",
        "flap",
        "disconnect",
        "slow",
        "delay",
        "change",
        "transfer",
        "failover",
        "evict",
        "back-up",
        "restore",
        "power-cut",
    ];

    /// The actions that say no more than which node, by the names they have in files.
    pub(crate) const BARE: [(&str, Bare); 16] = [
        ("crash", Self::Crash),
        ("restart", Self::Restart),
        ("pause", Self::Pause),
        ("resume", Self::Resume),
        ("resign", Self::Resign),
        ("campaign", Self::Campaign),
        ("wipe", |who| Self::Damage(who, Damage::Wipe)),
        ("lie", |who| Self::Damage(who, Damage::Lie)),
        ("fail", |who| Self::Damage(who, Damage::Fail)),
        ("drop", |who| Self::Damage(who, Damage::Drop)),
        ("transfer", Self::Transfer),
        ("failover", Self::Failover),
        ("evict", Self::Evict),
        ("back-up", Self::BackUp),
        ("restore", Self::Restore),
        ("power-cut", Self::PowerCut),
    ];

    /// Whose node, disk or clock it is about; nobody's when it is about links.
    #[must_use]
    pub const fn who(&self) -> Option<Who> {
        match self {
            Self::Crash(who)
            | Self::Restart(who)
            | Self::Pause(who)
            | Self::Resume(who)
            | Self::Resign(who)
            | Self::Campaign(who)
            | Self::Damage(who, _)
            | Self::Disk(who, _)
            | Self::Slow(who, _)
            | Self::Transfer(who)
            | Self::Failover(who)
            | Self::Evict(who)
            | Self::BackUp(who)
            | Self::Restore(who)
            | Self::PowerCut(who)
            | Self::Clock(who, ..) => Some(*who),
            _ => None,
        }
    }

    /// The first kind of damage to a disk; the others follow.
    const DAMAGE: usize = 13;

    /// Whether a kind is damage to a disk, which breaks what schemes rest on.
    #[must_use]
    pub const fn is_damage(kind: usize) -> bool {
        kind >= Self::DAMAGE && kind <= Self::DAMAGE + Damage::Drop as usize
    }

    /// Whether a kind is of Raft alone: it is about disks, or about who votes.
    #[must_use]
    pub const fn is_of_peers(kind: usize) -> bool {
        kind == Self::DISK || Self::is_damage(kind) || Self::is_of_raft(kind)
    }

    /// Whether an action is about what Raft alone has: members that change, and a successor by name.
    #[must_use]
    pub const fn is_of_raft(kind: usize) -> bool {
        kind == Self::CHANGE || kind == Self::TRANSFER
    }

    const DISK: usize = 11;
    const CHANGE: usize = 21;
    const TRANSFER: usize = 22;

    /// The first kind of what is done to a store; the others follow.
    const STORE: usize = 23;

    /// Whether a kind is of servers of a store.
    #[must_use]
    pub const fn is_of_store(kind: usize) -> bool {
        kind >= Self::STORE
    }

    /// Whether it breaks something that has to be shown to somebody before it mattered. Repairs and wishes do not: having
    /// an effect is all there is to them.
    #[must_use]
    pub const fn is_fault(&self) -> bool {
        !matches!(
            self,
            Self::Restart(_)
                | Self::Resume(_)
                | Self::Heal(..)
                | Self::HealAll
                | Self::Resign(_)
                | Self::Campaign(_)
                | Self::Change(..)
                | Self::Transfer(_)
                | Self::BackUp(_)
        )
    }

    /// The kind of this action, to count by.
    #[must_use]
    pub const fn kind(&self) -> usize {
        match self {
            Self::Crash(_) => 0,
            Self::Restart(_) => 1,
            Self::Pause(_) => 2,
            Self::Resume(_) => 3,
            Self::Cut(..) => 4,
            Self::Heal(..) => 5,
            Self::HealAll => 6,
            Self::Partition(_) => 7,
            Self::Resign(_) => 8,
            Self::Campaign(_) => 9,
            Self::Network(_) => 10,
            Self::Disk(..) => Self::DISK,
            Self::Clock(..) => 12,
            Self::Damage(_, damage) => Self::DAMAGE + *damage as usize,
            Self::Flap(..) => 17,
            Self::Disconnect(..) => 18,
            Self::Slow(..) => 19,
            Self::Delay(..) => 20,
            Self::Change(..) => Self::CHANGE,
            Self::Transfer(_) => Self::TRANSFER,
            Self::Failover(_) => Self::STORE,
            Self::Evict(_) => 24,
            Self::BackUp(_) => 25,
            Self::Restore(_) => 26,
            Self::PowerCut(_) => 27,
        }
    }
}

/// The actions of a run, in order of time. Clones share them.
#[derive(Clone, Debug)]
pub struct Plan(Arc<Vec<Fault>>);

impl Plan {
    /// A plan of these, which are in order of time.
    #[must_use]
    pub fn new(faults: Vec<Fault>) -> Self {
        Self(Arc::new(faults))
    }

    /// Adds an action, after all others of its instant.
    ///
    /// # Errors
    /// When there are as many as may be.
    pub fn insert(&mut self, at: u64, action: Action) -> Result<(), Refusal> {
        if self.len() >= MAX_FAULTS {
            return Err(Refusal::new(
                "too-many",
                "act",
                "the run has as many actions as it may have",
                "take one back first",
            ));
        }
        let place = self.partition_point(|fault| fault.at <= at);
        Arc::make_mut(&mut self.0).insert(place, Fault { at, action });
        Ok(())
    }
}

impl Deref for Plan {
    type Target = [Fault];

    fn deref(&self) -> &[Fault] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_action_comes_last_of_its_instant_and_clones_keep_theirs() {
        let mut plan = Plan::new(Vec::new());
        for (at, action) in [
            (5, Action::HealAll),
            (3, Action::Crash(Who::Leader)),
            (5, Action::Resign(Who::Leader)),
        ] {
            plan.insert(at, action).unwrap();
        }
        let former = plan.clone();
        plan.insert(4, Action::HealAll).unwrap();
        let kinds = |plan: &Plan| {
            plan.iter()
                .map(|fault| fault.action.kind())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            (kinds(&former), kinds(&plan)),
            (vec![0, 6, 8], vec![0, 6, 6, 8])
        );
    }
}
