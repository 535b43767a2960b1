//! What a takeover asks of its host, what it is answered, and what it says.

use crate::fence::{Pass, Refused};
use crate::listed::listed;
use crate::{Instant, Tenure, Ticket, Token};
use alloc::vec::Vec;

/// How often the effect of some work may be there, as whoever made the work declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Policy {
    /// As often as one likes: a second time changes nothing. It is redone.
    Idempotent,
    /// A second time is a nuisance and better than none: a notice that is sent again. It is redone.
    AtLeastOnce,
    /// None is better than two: a payment. What was begun and not finished is doubtful, and marked so for somebody who can
    /// find out.
    AtMostOnce,
}

/// Work that was begun and not finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Item<K> {
    /// Its name, by which pages are ordered.
    pub key: K,
    /// The token of the tenure that it belongs to; [`Token::NONE`] when to none.
    pub owner: Token,
    /// How often its effect may be there.
    pub policy: Policy,
}

/// What to do about an item that was taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum How {
    /// Begin it again.
    Redo,
    /// Mark it as doubtful, and do not touch it: it may have been done, wholly or in part.
    Doubt,
}

/// Something for the host to do. All of it is harmless when it is done twice, and is asked again when its result is
/// [`Unknown`](crate::Unknown) or does not come.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Request<K> {
    /// Raise the guard of this resource: [`Fence::fence`](crate::fence::Fence::fence). Answered by [`Reply::Fenced`].
    Fence(u32),
    /// Be told from now on when work appears that somebody else began. Answered by [`Reply::Watching`], and by
    /// [`Reply::Changed`] whenever it does, both under this ticket or a later one of the same; by
    /// [`Unknown`](crate::Unknown), at any time, when the watch is lost. A host that has nothing to watch answers at once.
    Watch,
    /// Read what is needed of this resource to write it: nobody else does from now on. Answered by [`Reply::Read`]; what was
    /// read is the host's.
    Read(u32),
    /// List work that is begun and not finished: at most `limit` items, those after `after`, in rising order of their keys.
    /// Answered by [`Reply::Page`].
    List {
        /// The key of the last item that was listed.
        after: Option<K>,
        /// How many at most.
        limit: u32,
    },
    /// Make the pass's token the owner of an item that is not finished, if its owner is `from`; in one step.
    /// Answered by [`Reply::Claimed`], [`Reply::Owned`] or [`Reply::Gone`].
    ///
    /// ```sql
    /// UPDATE work SET owner = :token WHERE key = :key AND owner = :from AND state = 'begun'
    /// ```
    Claim {
        /// Which.
        key: K,
        /// The owner as is known.
        from: Token,
    },
    /// Go on with an item that was taken over. Answered by [`Reply::Resumed`] when it was begun, or marked; not when it is
    /// done. Begun again for the same token while it runs, it goes on as it is; and when it was finished meanwhile, it is not
    /// begun once more, but answered by [`Reply::Gone`].
    Resume {
        /// Which.
        key: K,
        /// How.
        how: How,
    },
    /// Tell whom it concerns that this node leads and has taken over. Answered by [`Reply::Announced`].
    Announce,
    /// Take no new work; what runs may go on until then, or until its [permit](super::Takeover::may_go_on) ends, if that is
    /// earlier. Answered by [`Reply::Stopped`] when nothing runs any more.
    Drain(Instant),
    /// Stop what runs under the pass's token or a lower one, now, and write nothing more of it: no state is saved, for by now
    /// it may be older than what is there (LS-55). Answered by [`Reply::Stopped`] when nothing of it runs.
    Stop,
}

/// What the host answers. An error after which something may or may not have been done is no reply but
/// [`Unknown`](crate::Unknown).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reply<K> {
    /// The guard is raised, and has stored it.
    Fenced,
    /// It is told of changes from now on.
    Watching,
    /// Something changed.
    Changed,
    /// It was read.
    Read,
    /// Items in rising order of their keys.
    Page {
        /// As many as were asked for at most.
        items: Vec<Item<K>>,
        /// Whether there are more after them. Not, when there are none.
        more: bool,
    },
    /// It has a new owner.
    Claimed,
    /// It has this owner, and was left alone.
    Owned(Token),
    /// It is finished, or not there.
    Gone,
    /// It was begun, or marked.
    Resumed,
    /// It was told.
    Announced,
    /// Nothing runs any more.
    Stopped,
    /// The guard of a resource, or of the table of the work, refuses the pass.
    Refused(Refused),
    /// Nothing was done, for certain, and it may come through when it is asked again.
    NotDone,
    /// It cannot be done, as often as it is asked.
    Failed,
}

/// What a takeover says to its host.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Output<K> {
    /// News. Authorises nothing.
    Event(Event),
    /// Do this, show the pass with it, and answer with [`Input::Reply`].
    Request(Ticket, Pass, Request<K>),
    /// Have the election [resign](crate::Input::Resign): this node does not lead as it should. Said again, as long as the
    /// tenure goes on.
    Resign(Because),
}

/// News about the takeover. For one tenure: ready at most once, and over once, if it was begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Event {
    /// It has taken over, everywhere: new work may begin, as [`may_begin`](super::Takeover::may_begin) says.
    Ready(Tenure),
    /// The tenure of this token is over for the work.
    Over(Token),
}

listed! {
    /// Why a leader resigns.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum Because {
        /// Something that is needed cannot be done.
        Failed,
        /// A guard refused, or work belongs to a later term: another leads, or the store of the election fell back.
        Overtaken,
        /// It took longer than its limit.
        TooLong,
        /// Its work had to stop, as the end of the tenure was near.
        CutShort,
        /// The host wished it, and nothing runs any more, or may any more.
        HandedOver,
        /// The tenure has no token, as those of Redlock: nobody could tell its work from that of another.
        NoToken,
        /// The tenure was over for its work before, which was stopped, and shows again: the host looked at a standing of one
        /// time with the clock of another. It leads and nobody would work. Or its token is below one that this process had: the
        /// store of the election fell back, and an operator has to raise the generation.
        Revived,
    }
}

/// What can happen to a takeover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input<K> {
    /// The standing may have changed, or the deadline came. Early or repeated calls are harmless.
    Look,
    /// A request was answered.
    Reply(Ticket, Result<Reply<K>, crate::Unknown>),
    /// The guard of a resource refused an effect of the work, which showed this token. No effect when that is not of the
    /// present tenure.
    Refused(Token, Refused),
    /// Finish what runs, and leave office. No effect on a node that does not lead.
    HandOver,
}

/// What work may do now. Ask again before each effect, with a fresh standing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Permit {
    /// What to show with every effect.
    pub pass: Pass,
    /// The hard deadline: nothing of the work may run at this instant or later, unless a later permit says so.
    pub until: Instant,
}
