//! The library of a client of an ensemble: it holds one session, asks one member at a time, and goes to the next with the same
//! session when that one is gone, closes the connection, or does not answer.
//!
//! **As the real one** (3.8): an attempt to connect may take the session's time divided by the number of members, and an answer
//! two thirds of it. What was asked on a connection that is gone may or may not be done; what was not sent is not. A member
//! that has seen less than this client has turns it away. Whether a session is over, a member says. After a round of vain
//! attempts it pauses. **Left out**: pings, for a candidate asks often enough; and leaving watches again, which it does itself.

use super::super::{StoreAsk, StoreSaid};
use super::calls::{command, connects, reply};
use super::handle::Handle;
use crate::scheme::{Answer, Ask, PeerSaid, Write};
use crate::store::zookeeper::{Call, Connect, Password, Said, password};
use std::collections::VecDeque;
use tenure::lease::zookeeper::Reply;
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
    ask: StoreAsk,
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
        let Output::Request(ticket, Ask::Store(_, ask)) = output else {
            return Some(output);
        };
        match connects(&ask) {
            Some(timeout) => self.begin(ticket, timeout),
            None => self.take(ticket, ask),
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

    fn take(&mut self, ticket: Ticket, ask: StoreAsk) {
        let session = command(&ask).map(|(session, _)| session.0);
        let handle = self.handle.as_ref();
        if handle.is_none_or(|handle| Some(handle.session) != session) {
            return self.tells.push_back((ticket, Ok(Reply::Expired)));
        }
        self.asked.push_back(Asked {
            ticket,
            ask,
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
                && let Some((_, command)) = command(&asked.ask)
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
                let first = self.asked.front().and_then(|asked| asked.sent);
                if first.is_none_or(|(sent, _)| sent != xid) {
                    return;
                }
                let Some(asked) = self.asked.pop_front() else {
                    return;
                };
                let reply = reply(&asked.ask, result);
                if let Some(handle) = &mut self.handle {
                    handle.leaves(asked.ticket, &asked.ask, &reply);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::zookeeper::{self as store, Command};
    use tenure::NodeId;
    use tenure::lease::zookeeper::{Request, SessionId};

    const SESSION: i64 = 7;
    const TIMEOUT: i32 = 900;

    fn at(millis: u64) -> Instant {
        Instant::from_micros(millis * 1_000)
    }

    fn ticket(number: u64) -> Ticket {
        Ticket {
            incarnation: 1,
            number,
        }
    }

    fn asks(library: &mut Library, now: u64, number: u64, request: Request) {
        library.now = at(now);
        let ask = Ask::Store(0, StoreAsk::ZooKeeper(request));
        assert!(
            library
                .routed(Output::Request(ticket(number), ask))
                .is_none()
        );
    }

    fn said(library: &mut Library, now: u64, said: Said) {
        let reply = Answer::Store(StoreSaid::Ensemble(said));
        let name = library.name;
        let heard = library.hears(at(now), Input::Reply(name, Ok(reply)));
        assert!(heard.is_none());
    }

    fn looks(library: &mut Library, now: u64) {
        assert!(library.hears(at(now), Input::Timeout).is_some());
    }

    /// What it said since, and to which member.
    fn calls(library: &mut Library) -> Vec<(usize, Call)> {
        let all = std::mem::take(&mut library.says).into_iter();
        all.map(|(member, _, call)| (member, call)).collect()
    }

    fn told(library: &mut Library) -> Vec<(u64, Result<Reply, Unknown>)> {
        let all = std::mem::take(&mut library.tells).into_iter();
        all.map(|(ticket, reply)| (ticket.number, reply)).collect()
    }

    fn look_at(path: &str) -> Request {
        Request::Data {
            session: SessionId(SESSION),
            path: path.into(),
            watch: true,
        }
    }

    const fn connected() -> Said {
        Said::Connected {
            session: SESSION,
            password: [0; 16],
            timeout: TIMEOUT,
        }
    }

    fn answer(xid: i32, zxid: i64) -> Said {
        let result = Ok(store::Reply::Data {
            data: "x".into(),
            stat: store::Stat::default(),
        });
        Said::Answer { xid, zxid, result }
    }

    /// One that has a session since 10 ms, by member 1.
    fn library() -> Library {
        let random = Random::new(1, NodeId(1), 1);
        let pause = Duration::from_millis(100);
        let mut library = Library::new(3, 1, pause, (random, 1), Instant::ZERO);
        let timeout = Duration::from_millis(TIMEOUT as u64);
        asks(&mut library, 0, 1, Request::Connect { timeout });
        let begins = Connect {
            seen: 0,
            timeout: TIMEOUT,
            session: 0,
            password: Password::default(),
        };
        assert_eq!(calls(&mut library), [(1, Call::Connect(begins))]);
        said(&mut library, 10, connected());
        let [(1, Ok(Reply::Connected { .. }))] = told(&mut library)[..] else {
            panic!("it is told under the ticket of the handle")
        };
        library
    }

    /// The session that a client comes back with, and what it has seen.
    fn comes_back(calls: &[(usize, Call)], to: usize) -> Option<(i64, i64)> {
        calls.iter().find_map(|(member, call)| match call {
            Call::Connect(connect) if *member == to => Some((connect.session, connect.seen)),
            _ => None,
        })
    }

    #[test]
    fn what_was_asked_on_a_connection_that_is_gone_is_in_doubt_and_its_client_comes_back_elsewhere()
    {
        let mut library = library();
        asks(&mut library, 20, 2, look_at("/a"));
        said(&mut library, 30, answer(1, 5));
        asks(&mut library, 40, 3, look_at("/b"));
        told(&mut library);
        calls(&mut library);
        let old = library.name;
        library.disconnected(at(50), 1);
        assert_eq!(
            told(&mut library),
            [(3, Err(Unknown)), (1, Ok(Reply::Suspended))]
        );
        let said_since = calls(&mut library);
        assert_eq!(comes_back(&said_since, 2), Some((SESSION, 5)));
        // What is asked meanwhile is not sent, and is not done when it comes to nothing again.
        asks(&mut library, 60, 4, look_at("/c"));
        assert_eq!(calls(&mut library), []);
        said(&mut library, 70, Said::Closed);
        assert_eq!(told(&mut library), [(4, Ok(Reply::NotDone))]);
        assert!(comes_back(&calls(&mut library), 0).is_some());
        asks(&mut library, 80, 5, look_at("/d"));
        said(&mut library, 90, connected());
        let look = Command::GetData {
            path: "/d".into(),
            watch: true,
        };
        assert_eq!(calls(&mut library), [(0, Call::Ask(3, look))]);
        // Nothing of an earlier connection is wanted.
        told(&mut library);
        let late = Answer::Store(StoreSaid::Ensemble(Said::Expired));
        assert!(library.hears(at(95), Input::Reply(old, Ok(late))).is_none());
        assert_eq!(told(&mut library), []);
    }

    #[test]
    fn a_silent_member_is_left_after_two_thirds_of_the_session_and_one_that_lets_nobody_in_sooner()
    {
        let mut library = library();
        assert_eq!(library.deadline(), None);
        asks(&mut library, 100, 2, look_at("/a"));
        assert_eq!(library.deadline(), Some(at(700)));
        calls(&mut library);
        looks(&mut library, 699);
        assert_eq!(calls(&mut library), []);
        looks(&mut library, 700);
        let said_since = calls(&mut library);
        assert_eq!(said_since[0], (1, Call::HangUp));
        assert!(comes_back(&said_since, 2).is_some());
        // A third of it for each of three.
        assert_eq!(library.deadline(), Some(at(1_000)));
        looks(&mut library, 1_000);
        looks(&mut library, 1_300);
        assert!(comes_back(&calls(&mut library), 0).is_some());
        looks(&mut library, 1_600);
        // All were tried in vain: it pauses.
        let pause = library.deadline().unwrap();
        assert!(pause > at(1_600) && pause <= at(1_700));
        calls(&mut library);
        looks(&mut library, 1_700);
        assert!(comes_back(&calls(&mut library), 2).is_some());
    }

    #[test]
    fn a_session_is_over_when_a_member_says_so_and_the_next_is_another() {
        let mut library = library();
        library.disconnected(at(50), 1);
        told(&mut library);
        said(&mut library, 60, Said::Expired);
        said(&mut library, 60, Said::Closed);
        assert_eq!(told(&mut library), [(1, Ok(Reply::Expired))]);
        assert_eq!(library.deadline(), None);
        asks(&mut library, 70, 2, look_at("/a"));
        assert_eq!(told(&mut library), [(2, Ok(Reply::Expired))]);
        calls(&mut library);
        let timeout = Duration::from_millis(TIMEOUT as u64);
        asks(&mut library, 80, 3, Request::Connect { timeout });
        assert_eq!(comes_back(&calls(&mut library), 2), Some((0, 0)));
        // Asked for once more before it has one, it tells that under the newer ticket.
        asks(&mut library, 90, 4, Request::Connect { timeout });
        assert_eq!(calls(&mut library), []);
        said(&mut library, 95, connected());
        assert!(matches!(
            told(&mut library)[..],
            [(4, Ok(Reply::Connected { .. }))]
        ));
    }

    #[test]
    fn a_watch_tells_under_the_ticket_that_left_it_and_not_after_its_connection() {
        let mut library = library();
        for (number, xid) in [(2, 1), (3, 2)] {
            asks(&mut library, 20, number, look_at(&format!("/{number}")));
            said(&mut library, 30, answer(xid, 5));
        }
        told(&mut library);
        said(
            &mut library,
            40,
            Said::Event(store::Event::Deleted("/2".into())),
        );
        let changed = Reply::Changed(tenure::lease::zookeeper::Change::Deleted);
        assert_eq!(told(&mut library), [(2, Ok(changed))]);
        library.disconnected(at(50), 1);
        said(&mut library, 60, connected());
        told(&mut library);
        said(
            &mut library,
            70,
            Said::Event(store::Event::Deleted("/3".into())),
        );
        assert_eq!(told(&mut library), []);
    }
}
