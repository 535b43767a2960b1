//! The library of a client of an ensemble: it holds one session, asks one member at a time, and goes to the next with the same
//! session when that one is gone, closes the connection, or does not answer.
//!
//! **As the real one** (3.8): an attempt to connect may take the session's time divided by the number of members, and an answer
//! two thirds of it. What was asked on a connection that is gone may or may not be done; what was not sent is not. A member
//! that has seen less than this client has turns it away. Whether a session is over, a member says. After a round of vain
//! attempts it pauses. **Left out**: pings, for a candidate asks often enough; and leaving watches again, which it does itself.

use super::super::{StoreAsk, StoreSaid};
use super::calls::{command, reply};
use super::handle::Handle;
use crate::scheme::{Answer, Ask, PeerSaid, Write};
use crate::store::zookeeper::{Call, Connect, Password, Said, password};
use std::collections::VecDeque;
use tenure::lease::zookeeper::{Reply, Request};
use tenure::random::Random;
use tenure::{Duration, Input, Instant, Output, Ticket, Unknown};

/// The library.
#[derive(Clone, Debug)]
pub(in super::super) struct Library {
    members: usize,
    /// Which one is asked, or will be next.
    member: usize,
    /// The longest pause between vain attempts.
    pause: Duration,
    random: Random,
    now: Instant,
    /// The session that is to begin: under which ticket that is told, and for how many milliseconds it is asked for.
    wanted: Option<(Ticket, i32)>,
    handle: Option<Handle>,
    line: Line,
    /// The name of the newest connection.
    name: Ticket,
    /// How often nobody let it in since it had a connection.
    vain: usize,
    /// The highest zxid it has seen.
    seen: i64,
    /// The number of the last request.
    xid: i32,
    asked: VecDeque<Asked>,
    tells: VecDeque<(Ticket, Result<Reply, Unknown>)>,
    says: VecDeque<(usize, Ticket, Call)>,
}

/// Its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    /// None; when to try again, if there is any need.
    None(Instant),
    /// Asked for, then.
    Opening(Instant),
    Open,
}

/// What it was asked for.
#[derive(Clone, Debug)]
struct Asked {
    ticket: Ticket,
    request: Request,
    /// Under which number it was sent, and when.
    sent: Option<(i32, Instant)>,
}

impl Library {
    /// Of so many members it asks this one first.
    pub(in super::super) fn new(
        members: usize,
        member: usize,
        pause: Duration,
        (random, life): (Random, u64),
        now: Instant,
    ) -> Self {
        Self {
            members,
            member,
            pause,
            random,
            now,
            wanted: None,
            handle: None,
            line: Line::None(now),
            name: Ticket {
                incarnation: life,
                number: 0,
            },
            vain: 0,
            seen: 0,
            xid: 0,
            asked: VecDeque::new(),
            tells: VecDeque::new(),
            says: VecDeque::new(),
        }
    }

    /// Something comes: what the machine hears of it itself.
    pub(in super::super) fn hears(
        &mut self,
        now: Instant,
        input: Input<PeerSaid, Answer>,
    ) -> Option<Input<PeerSaid, Answer>> {
        self.now = self.now.max(now);
        let input = match input {
            Input::Reply(name, Ok(Answer::Store(StoreSaid::Ensemble(said)))) => {
                // Of an earlier connection nothing is wanted any more.
                if name == self.name && !matches!(self.line, Line::None(_)) {
                    self.told(said);
                }
                None
            }
            input => Some(input),
        };
        self.look();
        input
    }

    /// What the machine is to hear besides.
    pub(in super::super) fn tells(&mut self) -> Option<Input<PeerSaid, Answer>> {
        let (ticket, reply) = self.tells.pop_front()?;
        let reply = reply.map(|reply| Answer::Store(StoreSaid::ZooKeeper(reply)));
        Some(Input::Reply(ticket, reply))
    }

    /// What is to be said, and to which member.
    pub(in super::super) fn poll(&mut self) -> Option<Output<PeerSaid, Ask<Write>>> {
        let (member, name, call) = self.says.pop_front()?;
        let ask = Ask::Store(member, StoreAsk::Ensemble(call));
        Some(Output::Request(name, ask))
    }

    /// What the machine says: its requests are taken care of here.
    pub(in super::super) fn routed(
        &mut self,
        output: Output<PeerSaid, Ask<Write>>,
    ) -> Option<Output<PeerSaid, Ask<Write>>> {
        let Output::Request(ticket, Ask::Store(_, StoreAsk::ZooKeeper(request))) = output else {
            return Some(output);
        };
        if let Request::Connect { timeout } = request {
            self.begin(ticket, timeout);
        } else {
            self.take(ticket, request);
        }
        self.look();
        None
    }

    /// When something happens by itself.
    pub(in super::super) fn deadline(&self) -> Option<Instant> {
        match self.line {
            Line::None(until) => (self.wanted.is_some() || self.handle.is_some()).then_some(until),
            Line::Opening(since) => Some(since + self.patience().0),
            Line::Open => Some(self.unanswered()? + self.patience().1),
        }
    }

    /// The connection to a member ended.
    pub(in super::super) fn disconnected(&mut self, now: Instant, member: usize) {
        self.now = self.now.max(now);
        if member == self.member && !matches!(self.line, Line::None(_)) {
            self.fail();
        }
        self.look();
    }

    /// How long an attempt to connect may take, and an answer.
    fn patience(&self) -> (Duration, Duration) {
        let wanted = self.wanted.map(|(_, timeout)| timeout);
        let timeout = wanted.or(self.handle.as_ref().map(|handle| handle.timeout));
        let session = Duration::from_millis(timeout.unwrap_or(0).unsigned_abs().max(1).into());
        let attempt = session.scaled_down(1, self.members as u64);
        (attempt, session.scaled_down(2, 3))
    }

    /// Since when an answer is waited for.
    fn unanswered(&self) -> Option<Instant> {
        self.asked.front()?.sent.map(|(_, sent)| sent)
    }

    /// A handle of its own. One that is not connected yet is kept.
    fn begin(&mut self, ticket: Ticket, timeout: Duration) {
        let millis = timeout.as_micros().div_ceil(1_000).min(i32::MAX as u64) as i32;
        if self.wanted.is_none() {
            self.hang_up();
            (self.handle, self.seen) = (None, 0);
            self.line = Line::None(self.now);
        }
        self.wanted = Some((ticket, millis));
    }

    fn take(&mut self, ticket: Ticket, request: Request) {
        let session = command(&request).map(|(session, _)| session.0);
        let handle = self.handle.as_ref();
        if handle.is_none_or(|handle| Some(handle.session) != session) {
            return self.tells.push_back((ticket, Ok(Reply::Expired)));
        }
        self.asked.push_back(Asked {
            ticket,
            request,
            sent: None,
        });
        self.send();
    }

    /// Sends what was not.
    fn send(&mut self) {
        if self.line != Line::Open {
            return;
        }
        for asked in &mut self.asked {
            if asked.sent.is_none()
                && let Some((_, command)) = command(&asked.request)
            {
                self.xid = self.xid.wrapping_add(1);
                asked.sent = Some((self.xid, self.now));
                let call = Call::Ask(self.xid, command);
                self.says.push_back((self.member, self.name, call));
            }
        }
    }

    /// Does what is due.
    fn look(&mut self) {
        if self.deadline().is_none_or(|deadline| deadline > self.now) {
            return;
        }
        match self.line {
            Line::None(_) => self.open(),
            Line::Opening(_) | Line::Open => {
                self.says.push_back((self.member, self.name, Call::HangUp));
                self.fail();
            }
        }
    }

    fn open(&mut self) {
        let session = self.handle.as_ref().filter(|_| self.wanted.is_none());
        let connect = match (session, self.wanted) {
            (Some(handle), _) => Connect {
                seen: self.seen,
                timeout: handle.timeout,
                session: handle.session,
                password: password(handle.session),
            },
            (None, wanted) => Connect {
                seen: self.seen,
                timeout: wanted.map_or(0, |(_, timeout)| timeout),
                session: 0,
                password: Password::default(),
            },
        };
        self.name.number += 1;
        self.line = Line::Opening(self.now);
        self.says
            .push_back((self.member, self.name, Call::Connect(connect)));
    }

    /// The connection is of no use, or gone: the next member is tried, at once if this one was.
    fn fail(&mut self) {
        let was_open = self.line == Line::Open;
        self.lose();
        self.vain = if was_open { 0 } else { self.vain + 1 };
        self.member = (self.member + 1) % self.members;
        let mut pause = Duration::ZERO;
        if self.vain >= self.members {
            self.vain = 0;
            let least = Duration::from_micros(1);
            pause = self.random.duration(least, self.pause.max(least));
        }
        self.line = Line::None(self.now + pause);
        if let Some(handle) = self.handle.as_mut().filter(|handle| handle.connected) {
            handle.disconnected();
            self.tells.push_back((handle.ticket, Ok(Reply::Suspended)));
        }
        if pause == Duration::ZERO {
            self.look();
        }
    }

    /// What was asked on the connection is in doubt; what was not sent is not done.
    fn lose(&mut self) {
        for asked in std::mem::take(&mut self.asked) {
            let reply = match asked.sent {
                Some(_) => Err(Unknown),
                None => Ok(Reply::NotDone),
            };
            self.tells.push_back((asked.ticket, reply));
        }
    }

    /// The connection is closed from here, if there is one.
    fn hang_up(&mut self) {
        self.lose();
        if !matches!(self.line, Line::None(_)) {
            self.says.push_back((self.member, self.name, Call::HangUp));
        }
    }

    /// What a member says.
    fn told(&mut self, said: Said) {
        match said {
            Said::Connected {
                session, timeout, ..
            } => {
                (self.line, self.vain) = (Line::Open, 0);
                if let Some((ticket, _)) = self.wanted.take() {
                    self.handle = Some(Handle::new(ticket, session, timeout));
                }
                if let Some(handle) = &mut self.handle {
                    (handle.connected, handle.timeout) = (true, timeout);
                    self.tells.push_back((handle.ticket, Ok(handle.told())));
                }
                self.send();
            }
            Said::Expired => {
                self.lose();
                self.line = Line::None(self.now);
                if let Some(handle) = self.handle.take() {
                    self.tells.push_back((handle.ticket, Ok(Reply::Expired)));
                }
            }
            Said::Closed => self.fail(),
            Said::Answer { xid, zxid, result } => {
                self.seen = self.seen.max(zxid);
                let is_this = |asked: &mut Asked| asked.sent.is_some_and(|(sent, _)| sent == xid);
                let Some(asked) = self.asked.pop_front_if(is_this) else {
                    return;
                };
                let reply = reply(&asked.request, result);
                if let Some(handle) = &mut self.handle {
                    handle.leaves(asked.ticket, &asked.request, &reply);
                }
                if reply == Reply::Closed {
                    self.lose();
                    (self.handle, self.line) = (None, Line::None(self.now));
                }
                self.tells.push_back((asked.ticket, Ok(reply)));
            }
            Said::Event(event) => {
                if let Some(handle) = &mut self.handle {
                    let fired = handle.fires(event);
                    let fired = fired.map(|(ticket, reply)| (ticket, Ok(reply)));
                    self.tells.extend(fired);
                }
            }
        }
    }
}
