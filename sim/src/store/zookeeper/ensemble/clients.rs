//! A member's clients: their connections, and what is asked and answered on them.

use super::super::command::{Command, Connect, Error, Said};
use super::super::image::Step;
use super::super::server::ms;
use super::super::sessions::{SessionId, agreed, password};
use super::line::{Line, Turn};
use super::{Member, Told};
use crate::sorted::Sorted;
use crate::store::backlog::Whose;
use crate::store::zookeeper::front::Front;
use tenure::zab::Served;
use tenure::{Instant, Ticket};

impl Member {
    pub(super) fn line(&mut self, client: u16, name: Ticket) -> Option<&mut Line> {
        let line = self.lines.get_mut(&client);
        line.filter(|line| line.name == name)
    }

    pub(super) fn whose(&self, client: u16, ticket: Ticket) -> Whose {
        Whose {
            member: self.place,
            life: self.life,
            client,
            ticket,
        }
    }

    pub(super) fn connect(&mut self, now: u64, client: u16, name: Ticket, connect: &Connect) {
        self.drop_line(client);
        if self.serves.is_none() || connect.seen > self.image.zxid() {
            // What it has seen would be undone.
            return self.said.push_back((client, name, Said::Closed));
        }
        let timeout = agreed(connect.timeout, self.tick());
        let begins = connect.session == 0;
        let session = match begins {
            true => self.names.next(),
            false => connect.session,
        };
        self.lines.insert(client, Line::new(name, session, timeout));
        let whose = self.whose(client, name);
        if begins {
            let step = Step::Begin(timeout);
            self.pass_on(now, whose, session, step);
        } else {
            self.leave(session);
            if connect.password == password(session) {
                self.tell_leader(now, Told::Validate(whose, session, timeout));
            } else {
                self.validated(whose, false);
            }
        }
    }

    /// The leader has said whether a session goes on here.
    pub(super) fn validated(&mut self, whose: Whose, lives: bool) {
        if whose.life != self.life {
            return;
        }
        let Some((session, timeout)) = self
            .line(whose.client, whose.ticket)
            .and_then(|line| line.opening.take())
        else {
            return;
        };
        if lives {
            self.front.open(whose.client, session, timeout);
        } else {
            self.front.expire(whose.client);
        }
        self.speak();
        if !lives {
            self.drop_line(whose.client);
        }
    }

    pub(super) fn request(
        &mut self,
        now: u64,
        client: u16,
        name: Ticket,
        xid: i32,
        command: &Command,
    ) {
        let connection = self.front.connection(client);
        let serves = self.line(client, name).is_some();
        let Some(connection) = connection.filter(|_| serves) else {
            return self.said.push_back((client, name, Said::Closed));
        };
        let session = connection.session;
        match &mut self.tracker {
            Some(tracker) => {
                tracker.touch(ms(now), session, connection.timeout);
            }
            None => self.touched.insert(session, connection.timeout),
        }
        let step = command.step();
        let barrier = match (command, &mut self.machine) {
            (Command::Sync(_), Some(machine)) => machine.sync(Instant::from_micros(now)).ok(),
            _ => None,
        };
        if let Some(line) = self.line(client, name) {
            match (&step, barrier) {
                (Some(_), _) => line.writes(xid, command.clone()),
                (None, Some(barrier)) => line.syncs(xid, command.clone(), barrier),
                (None, None) => line.looks(xid, command.clone()),
            }
        }
        match step {
            Some(step) => self.pass_on(now, self.whose(client, name), session, step),
            None => self.advance(client),
        }
    }

    /// Answers on a connection what can be.
    pub(super) fn advance(&mut self, client: u16) {
        let applied = self.backlog.applied();
        while let Some(line) = self.lines.get_mut(&client)
            && let Some(turn) = line.turn(applied)
        {
            let (xid, result) = match turn {
                Turn::Look(xid, command) => (xid, self.front.look(&self.image, client, &command)),
                Turn::Answer(_, Err(Error::SessionMoved)) => {
                    // A request to move it may have come late, and its client may have gone on from there: it comes back, and
                    // has it again (ZOOKEEPER-710).
                    self.front.say(client, Said::Closed);
                    return self.drop_line(client);
                }
                Turn::Answer(xid, result) => (xid, result),
            };
            let zxid = self.image.zxid();
            self.front.say(client, Said::Answer { xid, zxid, result });
        }
    }

    /// Answers what waited for a barrier that is passed.
    pub(super) fn pass_barriers(&mut self) {
        while let Some(served) = (self.machine.as_mut()).and_then(|machine| machine.poll_sync()) {
            // One that is lost is so with the leader, and with it the connection.
            if let Served::Ready { upto, index } = served {
                for (_, line) in self.lines.iter_mut() {
                    line.passed(upto, index);
                }
            }
        }
        let clients: Vec<u16> = self.lines.iter().map(|(client, _)| *client).collect();
        for client in clients {
            self.advance(client);
        }
    }

    /// The connection of a session is closed, if it has one here.
    pub(super) fn leave(&mut self, session: SessionId) {
        if let Some(client) = self.front.leave(session) {
            self.speak();
            self.lines.remove(&client);
        }
    }

    /// A connection is gone. What is to be said on it is said.
    pub(super) fn drop_line(&mut self, client: u16) {
        self.speak();
        self.front.disconnect(client);
        self.lines.remove(&client);
    }

    /// All connections are closed.
    pub(super) fn close_all(&mut self) {
        self.speak();
        let lines = std::mem::take(&mut self.lines);
        for (client, line) in lines.iter() {
            self.said.push_back((*client, line.name, Said::Closed));
        }
        self.front = Front::default();
        self.touched = Sorted::default();
    }

    /// What is to be said goes out on the connections that there are.
    pub(super) fn speak(&mut self) {
        while let Some((client, said)) = self.front.poll() {
            if let Some(line) = self.lines.get(&client) {
                self.said.push_back((client, line.name, said));
            }
        }
    }
}
