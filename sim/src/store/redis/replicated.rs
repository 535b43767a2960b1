//! A master and asynchronous replicas: what was answered before a replica has heard is lost with the master.

use super::command::{Command, Reply};
use super::keyspace::{Effect, Keyspace};
use super::server::{Persistence, Server, Tail};
use std::collections::VecDeque;

/// Servers, and the streams from masters to those that follow them. That a server is down, and who is to be master, is the
/// business of whoever holds them: a server that is down is asked nothing.
#[derive(Clone, Debug)]
pub struct Replicated {
    servers: Vec<Server>,
    /// What each follows; a master follows nobody.
    links: Vec<Option<Link>>,
    lag: u64,
    /// What was copied last, of whichever server.
    copied: Option<Keyspace>,
}

/// What is on its way from a master to a replica, and back.
#[derive(Clone, Debug)]
struct Link {
    master: usize,
    cut: bool,
    /// When it arrives, which effect of the master's it is, and what.
    stream: VecDeque<(u64, u64, Item)>,
    /// When the master hears how far the replica has come.
    confirmations: VecDeque<(u64, u64)>,
    confirmed: Option<u64>,
}

#[derive(Clone, Debug)]
enum Item {
    Image(Keyspace),
    Effect(Effect),
}

impl Replicated {
    /// So many empty servers, of which the first is the master of all others; `lag` microseconds lie between them each way.
    #[must_use]
    pub fn new(count: usize, persistence: Persistence, ahead: i64, lag: u64) -> Self {
        let mut all = Self {
            servers: vec![Server::new(persistence, ahead); count],
            links: vec![None; count],
            lag,
            copied: None,
        };
        for replica in 1..count {
            all.follow(0, replica, 0);
        }
        // They are equal: nothing has to be copied.
        for link in all.links.iter_mut().flatten() {
            link.stream.clear();
            link.confirmed = Some(0);
        }
        all
    }

    /// How many servers there are.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.servers.len()
    }

    /// A server.
    #[must_use]
    pub fn server(&self, server: usize) -> Option<&Server> {
        self.servers.get(server)
    }

    /// Does something to a server, such as a fault; what comes of it goes to its replicas.
    pub fn fault(&mut self, now: u64, server: usize, fault: impl FnOnce(&mut Server)) {
        if let Some(server) = self.servers.get_mut(server) {
            fault(server);
        }
        self.ship(now);
    }

    /// The wall clocks of all of them jump by so many microseconds.
    pub fn jump(&mut self, by: i64) {
        self.servers.iter_mut().for_each(|server| server.jump(by));
    }

    /// The machine of a server loses its power, and what was not synced. False when that is nothing.
    pub fn cut_power(&mut self, now: u64, server: usize) -> bool {
        let server = self.servers.get_mut(server);
        server.is_some_and(|server| server.cut_power(now))
    }

    /// What a server has is copied. False when it has nothing.
    pub fn back_up(&mut self, now: u64, server: usize) -> bool {
        self.deliver(now);
        let keys = self.servers.get(server).map(Server::keys);
        let keys = keys.filter(|keys| keys.len() > 0);
        if let Some(keys) = keys {
            self.copied = Some(keys.clone());
        }
        keys.is_some()
    }

    /// What was copied last takes the place of all that a server has, and of what its replicas have. False when nothing was.
    pub fn restore(&mut self, now: u64, server: usize) -> bool {
        let Some(copied) = self.copied.clone() else {
            return false;
        };
        self.fault(now, server, |server| server.replace(&copied));
        true
    }

    /// A client asks a server.
    pub fn ask(&mut self, now: u64, server: usize, client: u16, command: &Command) {
        self.deliver(now);
        if let Some(server) = self.servers.get_mut(server) {
            server.ask(now, client, command);
        }
        self.ship(now);
    }

    /// The next thing to be said, by which server, and to which of its clients.
    pub fn poll(&mut self) -> Option<(usize, u16, Reply)> {
        let mut servers = self.servers.iter_mut().enumerate();
        servers.find_map(|(place, server)| {
            let (client, reply) = server.poll()?;
            Some((place, client, reply))
        })
    }

    /// When to be woken.
    #[must_use]
    pub fn due(&self) -> Option<u64> {
        let servers = self.servers.iter().filter_map(Server::due);
        let links = self.links.iter().flatten().filter(|link| !link.cut);
        let arrivals = links.flat_map(|link| {
            let item = link.stream.front().map(|(at, ..)| *at);
            item.into_iter()
                .chain(link.confirmations.front().map(|(at, _)| *at))
        });
        servers.chain(arrivals).min()
    }

    /// Does what time asks for.
    pub fn wake(&mut self, now: u64) {
        self.deliver(now);
        for server in &mut self.servers {
            if server.due().is_some_and(|due| due <= now) {
                server.wake(now);
            }
        }
        self.ship(now);
    }

    /// The connection of a replica to its master is cut, or there again: what was on its way arrives then.
    pub fn cut(&mut self, replica: usize, cut: bool) {
        if let Some(Some(link)) = self.links.get_mut(replica) {
            link.cut = cut;
        }
    }

    /// How long what is sent from now on is on its way, each way.
    pub const fn set_lag(&mut self, lag: u64) {
        self.lag = lag;
    }

    /// A server becomes a master with what has reached it (`REPLICAOF NO ONE`); who followed another follows it still.
    pub fn promote(&mut self, now: u64, server: usize) {
        self.deliver(now);
        if let Some(link) = self.links.get_mut(server) {
            *link = None;
            self.servers[server].lead();
        }
    }

    /// A server follows another (`REPLICAOF host port`): it takes no writes from now on, answers from what it has until a
    /// copy of the master arrives, and has that then.
    pub fn follow(&mut self, now: u64, server: usize, master: usize) {
        self.deliver(now);
        self.ship(now);
        let known = self.servers.len();
        if server == master || server >= known || master >= known {
            return;
        }
        self.servers[server].obey();
        let copied = self.servers[master].feed();
        self.links[server] = Some(Link {
            master,
            cut: false,
            stream: VecDeque::from([(
                now.saturating_add(self.lag),
                copied.1,
                Item::Image(copied.0),
            )]),
            confirmations: VecDeque::new(),
            confirmed: None,
        });
    }

    /// A server ends and starts anew, as what it was. Connections to it are new, too: a replica copies its master anew, and
    /// with it what the master has lost.
    pub fn restart(&mut self, now: u64, server: usize, tail: Tail) {
        self.deliver(now);
        let Some(restarted) = self.servers.get_mut(server) else {
            return;
        };
        restarted.restart(now, tail);
        for replica in 0..self.links.len() {
            if let Some(link) = &self.links[replica]
                && (replica == server || link.master == server)
            {
                let (master, cut) = (link.master, link.cut);
                self.follow(now, replica, master);
                self.cut(replica, cut);
            }
        }
    }

    /// What masters have done goes on its way.
    fn ship(&mut self, now: u64) {
        let arrives = now.saturating_add(self.lag);
        for (place, server) in self.servers.iter_mut().enumerate() {
            let mut number = server.offset() - server.unsent();
            while let Some(effect) = server.fresh() {
                number += 1;
                let followers = self.links.iter_mut().flatten();
                for link in followers.filter(|link| link.master == place) {
                    let item = Item::Effect(effect.clone());
                    link.stream.push_back((arrives, number, item));
                }
            }
        }
    }

    /// What has arrived is taken in.
    fn deliver(&mut self, now: u64) {
        for (replica, link) in self.links.iter_mut().enumerate() {
            let Some(link) = link.as_mut().filter(|link| !link.cut) else {
                continue;
            };
            while let Some((at, number, item)) = take_before(&mut link.stream, now, |item| item.0) {
                match item {
                    Item::Image(image) => self.servers[replica].load(now, &image, number),
                    Item::Effect(effect) => self.servers[replica].receive(now, effect, number),
                }
                let heard = at.saturating_add(self.lag);
                link.confirmations.push_back((heard, number));
            }
            while let Some((_, number)) =
                take_before(&mut link.confirmations, now, |confirmation| confirmation.0)
            {
                link.confirmed = Some(number);
            }
        }
        for place in 0..self.servers.len() {
            let links = self.links.iter().flatten();
            let followers = links.filter(|link| link.master == place);
            let confirmed = followers.filter_map(|link| link.confirmed).collect();
            self.servers[place].confirmed(now, confirmed);
        }
    }
}

/// The first of a queue, when its time has come.
fn take_before<T>(queue: &mut VecDeque<T>, now: u64, at: impl Fn(&T) -> u64) -> Option<T> {
    let come = queue.front().is_some_and(|first| at(first) <= now);
    if come { queue.pop_front() } else { None }
}

#[cfg(test)]
mod tests {
    use super::super::command::{Script, Ttl, When};
    use super::*;

    const LAG: u64 = 500;

    fn acquire(value: &str) -> Command {
        Command::Eval(Script::Take {
            lock: "lock".into(),
            counter: "token".into(),
            value: value.into(),
            ms: 1_000,
        })
    }

    fn get() -> Command {
        Command::Get("lock".into())
    }

    fn ask(all: &mut Replicated, now: u64, server: usize, command: &Command) -> String {
        all.ask(now, server, 1, command);
        let (from, _, reply) = all.poll().unwrap();
        assert_eq!(from, server);
        reply.to_string()
    }

    fn three() -> Replicated {
        Replicated::new(3, Persistence::Never, 0, LAG)
    }

    #[test]
    fn what_did_not_reach_the_replica_is_lost_and_two_hold_the_same_token() {
        let mut all = three();
        assert_eq!(ask(&mut all, 0, 0, &acquire("a")), "1");
        assert_eq!(ask(&mut all, LAG - 1, 1, &get()), "nil");
        all.promote(LAG - 1, 1);
        assert_eq!(ask(&mut all, LAG, 1, &acquire("b")), "1");
        // The old master returns: it answers from what it has, refuses to change it, and then has what the new one has.
        all.follow(LAG, 0, 1);
        assert_eq!(ask(&mut all, LAG, 0, &get()), "\"a\"");
        assert!(ask(&mut all, LAG, 0, &acquire("c")).starts_with("error READONLY"));
        assert_eq!(ask(&mut all, 2 * LAG, 0, &get()), "\"b\"");
    }

    #[test]
    fn what_was_confirmed_survives_the_master() {
        let mut all = three();
        ask(&mut all, 0, 0, &acquire("a"));
        all.cut(2, true);
        let wait = |replicas, ms| Command::Wait { replicas, ms };
        all.ask(0, 0, 1, &wait(1, 0));
        assert_eq!(all.poll(), None);
        all.wake(LAG);
        assert_eq!((all.poll(), all.due()), (None, Some(2 * LAG)));
        all.wake(2 * LAG);
        assert_eq!(all.poll(), Some((0, 1, Reply::Int(1))));
        // The other one is cut off: after its time, whoever waits for both is told that it is one.
        all.ask(2 * LAG, 0, 1, &wait(2, 3));
        all.wake(4_999);
        assert_eq!(all.poll(), None);
        all.wake(5_000);
        assert_eq!(all.poll(), Some((0, 1, Reply::Int(1))));
        all.promote(5_000, 1);
        assert_eq!(
            ask(&mut all, 5_000, 1, &acquire("b")),
            "[\"a\", \"1\", 995]"
        );
        assert_eq!(ask(&mut all, 5_000, 2, &get()), "nil");
    }

    #[test]
    fn a_master_that_restarts_empty_empties_its_replicas() {
        let mut all = three();
        ask(&mut all, 0, 0, &acquire("a"));
        assert_eq!(ask(&mut all, LAG, 1, &get()), "\"a\"");
        all.restart(LAG, 0, Tail::Kept);
        assert_eq!(ask(&mut all, LAG, 1, &get()), "\"a\"");
        assert_eq!(ask(&mut all, 2 * LAG, 1, &get()), "nil");
    }

    #[test]
    fn a_replica_hides_what_is_over_by_its_own_clock_and_keeps_it() {
        let mut all = three();
        let set = Command::Set {
            key: "lock".into(),
            value: "a".into(),
            when: When::Always,
            ttl: Ttl::Ms(10),
            get: false,
        };
        ask(&mut all, 0, 0, &set);
        all.wake(LAG);
        all.fault(LAG, 1, |replica| replica.jump(11_000));
        assert_eq!(ask(&mut all, LAG, 1, &get()), "nil");
        assert_eq!(ask(&mut all, LAG, 0, &get()), "\"a\"");
        all.fault(LAG, 1, |replica| replica.jump(-11_000));
        assert_eq!(ask(&mut all, LAG, 1, &get()), "\"a\"");
        // What the master evicts goes there, too.
        all.fault(LAG, 0, |master| assert!(master.evict(&"lock".into())));
        assert_eq!(ask(&mut all, 2 * LAG, 1, &get()), "nil");
    }
}
