//! One server: its keys, its clocks, its memory, its file, and clients that wait for replicas.

use super::command::{Command, Error, Reply};
use super::execute::Execution;
use super::keyspace::{Effect, Held, Keyspace};
use crate::sorted::Sorted;
use crate::store::{Key, Value};
use std::collections::VecDeque;

/// How often what is over is looked for.
const CYCLE: u64 = 100_000;
/// How often the file is synced.
const SYNC: u64 = 1_000_000;

/// What of the commands is on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Persistence {
    /// Nothing (`appendonly no`): a restart begins empty.
    Never,
    /// All, synced once a second (`appendfsync everysec`).
    EverySecond,
    /// All, synced before the answer (`appendfsync always`).
    Always,
}

/// How a server ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tail {
    /// The process alone: the system keeps what was written.
    Kept,
    /// The machine: what was not synced is lost.
    Lost,
}

/// Whether memory is left (`maxmemory`, `maxmemory-policy`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Memory {
    /// Yes.
    Free,
    /// No, and nothing is evicted (`noeviction`).
    Full,
    /// No, until keys with an end are evicted (`volatile-…`); nor when all are.
    EvictsEnding,
    /// No, until keys are evicted (`allkeys-…`); nor when all are.
    EvictsAny,
}

/// A Redis server.
#[derive(Clone, Debug)]
pub struct Server {
    keys: Keyspace,
    /// What the wall clock is ahead of the other, in microseconds.
    ahead: i64,
    active_expiry: bool,
    memory: Memory,
    disk: Disk,
    master: bool,
    /// How many effects there were.
    offset: u64,
    /// Whether replicas are sent what happens.
    feeds: bool,
    /// What they were not sent yet.
    fresh: VecDeque<Effect>,
    /// How far each client has seen.
    seen: Sorted<u16, u64>,
    /// How far each replica has confirmed.
    confirmed: Vec<u64>,
    waiting: Vec<Waiting>,
    said: VecDeque<(u16, Reply)>,
}

/// The file of commands, as what loading it gives.
#[derive(Clone, Debug)]
struct Disk {
    persistence: Persistence,
    synced: Keyspace,
    synced_at: u64,
    unsynced: Vec<Effect>,
}

/// A client that waits for replicas.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    client: u16,
    replicas: i64,
    offset: u64,
    /// By the wall clock: the last millisecond of its time.
    until: Option<i64>,
}

impl Server {
    /// An empty master, whose wall clock shows so many microseconds when the other shows none.
    #[must_use]
    pub fn new(persistence: Persistence, ahead: i64) -> Self {
        Self {
            keys: Keyspace::default(),
            ahead,
            active_expiry: true,
            memory: Memory::Free,
            disk: Disk {
                persistence,
                synced: Keyspace::default(),
                synced_at: 0,
                unsynced: Vec::new(),
            },
            master: true,
            offset: 0,
            feeds: false,
            fresh: VecDeque::new(),
            seen: Sorted::default(),
            confirmed: Vec::new(),
            waiting: Vec::new(),
            said: VecDeque::new(),
        }
    }

    /// A client sends a command; it has no other that is not answered.
    pub fn ask(&mut self, now: u64, client: u16, command: &Command) {
        self.sync(now);
        let full = self.make_room();
        if let Command::Wait { replicas, ms } = command {
            return self.wait(now, client, *replicas, *ms);
        }
        let reply = self.execute(now, full, command);
        self.seen.insert(client, self.offset);
        self.said.push_back((client, reply));
    }

    /// The next thing to be said to a client.
    pub fn poll(&mut self) -> Option<(u16, Reply)> {
        self.said.pop_front()
    }

    /// When to be woken.
    #[must_use]
    pub fn due(&self) -> Option<u64> {
        let waits = self.waiting.iter().filter_map(|waiting| waiting.until);
        let over = waits.map(|until| self.past(until));
        over.chain(self.next_cycle()).min()
    }

    /// Does what time asks for.
    pub fn wake(&mut self, now: u64) {
        self.sync(now);
        let wall = self.wall(now);
        if self.master && self.active_expiry {
            self.expire(wall);
        }
        let confirmed = &self.confirmed;
        let said = &mut self.said;
        self.waiting.retain(|waiting| {
            let count = waiting.count(confirmed);
            let over = waiting.until.is_some_and(|until| until < wall);
            let done = over || count >= waiting.replicas;
            if done {
                said.push_back((waiting.client, Reply::Int(count)));
            }
            !done
        });
    }

    /// The wall clock, in milliseconds.
    #[must_use]
    pub fn wall(&self, now: u64) -> i64 {
        now.saturating_add_signed(self.ahead) as i64 / 1_000
    }

    /// The wall clock jumps by so many microseconds.
    pub const fn jump(&mut self, by: i64) {
        self.ahead = self.ahead.saturating_add(by);
    }

    /// Whether what is over is looked for (`DEBUG SET-ACTIVE-EXPIRE`), or only found when it is asked for.
    pub const fn set_active_expiry(&mut self, on: bool) {
        self.active_expiry = on;
    }

    /// Memory runs full, or is free again. What may be evicted then goes at once, or before the next command.
    pub fn set_memory(&mut self, memory: Memory) {
        self.memory = memory;
        self.make_room();
    }

    /// A key is evicted; whether it was there. A replica evicts nothing.
    pub fn evict(&mut self, key: &Key) -> bool {
        let there = self.master && self.keys.get(key).is_some();
        if there {
            self.effect(Effect::Gone(key.clone()));
        }
        there
    }

    /// The machine loses its power: what was not synced will not be there when the server is. False when that is nothing.
    pub fn cut_power(&mut self, now: u64) -> bool {
        self.sync(now);
        !std::mem::take(&mut self.disk.unsynced).is_empty()
    }

    /// Ends and starts anew, with what is on disk. Whoever is owed an answer gets none.
    pub fn restart(&mut self, now: u64, tail: Tail) {
        match tail {
            Tail::Kept => self.disk.sync(now),
            Tail::Lost => {
                self.cut_power(now);
            }
        }
        self.keys = self.disk.synced.clone();
        self.disk.synced_at = now;
        self.fresh.clear();
        self.seen = Sorted::default();
        self.confirmed.clear();
        self.waiting.clear();
        self.said.clear();
    }

    /// All it has is replaced.
    pub(super) fn replace(&mut self, image: &Keyspace) {
        self.effect(Effect::Flushed);
        for (key, held) in image.iter() {
            self.effect(Effect::Put(key.clone(), held.clone()));
        }
    }

    /// What it has.
    pub(super) const fn keys(&self) -> &Keyspace {
        &self.keys
    }

    /// How many keys there are, those that are over and not found yet included (`DBSIZE`).
    #[must_use]
    pub const fn size(&self) -> usize {
        self.keys.len()
    }

    /// What is kept there, whether over or not.
    #[must_use]
    pub fn held(&self, key: &Key) -> Option<&Value> {
        Some(&self.keys.get(key)?.value)
    }

    /// The last millisecond of the wall clock in which a key is there; `None` when it has no end, or is not there.
    #[must_use]
    pub fn ends(&self, key: &Key) -> Option<i64> {
        self.keys.get(key)?.until
    }

    /// When the file was synced last.
    #[must_use]
    pub const fn synced_at(&self) -> u64 {
        self.disk.synced_at
    }

    /// Whether it takes writes.
    #[must_use]
    pub const fn is_master(&self) -> bool {
        self.master
    }

    /// How many effects there were.
    pub(super) const fn offset(&self) -> u64 {
        self.offset
    }

    /// What all replicas are to be sent next.
    pub(super) fn fresh(&mut self) -> Option<Effect> {
        self.fresh.pop_front()
    }

    /// How many effects they were not sent.
    pub(super) fn unsent(&self) -> u64 {
        self.fresh.len() as u64
    }

    /// What a replica is sent first, and as how many effects that counts; all others follow.
    pub(super) fn feed(&mut self) -> (Keyspace, u64) {
        self.feeds = true;
        (self.keys.clone(), self.offset)
    }

    /// How far the replicas have confirmed; whoever waited for that is told.
    pub(super) fn confirmed(&mut self, now: u64, confirmed: Vec<u64>) {
        self.confirmed = confirmed;
        if !self.waiting.is_empty() {
            self.wake(now);
        }
    }

    /// Becomes a replica (`REPLICAOF host port`).
    pub(super) fn obey(&mut self) {
        self.master = false;
        self.feeds = false;
        self.fresh.clear();
        for waiting in self.waiting.drain(..) {
            let unblocked = Reply::Error(Error::Unblocked);
            self.said.push_back((waiting.client, unblocked));
        }
    }

    /// Becomes a master (`REPLICAOF NO ONE`).
    pub(super) fn lead(&mut self) {
        self.master = true;
        self.confirmed.clear();
    }

    /// The master's keys arrive, in place of the own ones.
    pub(super) fn load(&mut self, now: u64, image: &Keyspace, offset: u64) {
        self.receive(now, Effect::Flushed, offset);
        for (key, held) in image.iter() {
            self.receive(now, Effect::Put(key.clone(), held.clone()), offset);
        }
    }

    /// An effect arrives from the master, as the one of this number.
    pub(super) fn receive(&mut self, now: u64, effect: Effect, offset: u64) {
        self.sync(now);
        self.offset = offset;
        self.keys.apply(effect.clone());
        self.disk.write(effect);
    }

    fn execute(&mut self, now: u64, full: bool, command: &Command) -> Reply {
        let mut effects = Vec::new();
        let done = Execution {
            wall: self.wall(now),
            keys: &mut self.keys,
            effects: &mut effects,
            master: self.master,
            full,
        }
        .run(command);
        for effect in effects {
            self.record(effect);
        }
        done.unwrap_or_else(Reply::Error)
    }

    fn wait(&mut self, now: u64, client: u16, replicas: i64, ms: i64) {
        let offset = self.seen.get(&client).copied().unwrap_or(0);
        let waiting = Waiting {
            client,
            replicas,
            offset,
            until: (ms > 0).then(|| self.wall(now).saturating_add(ms)),
        };
        let count = waiting.count(&self.confirmed);
        let reply = if !self.master {
            Reply::Error(Error::WaitOnReplica)
        } else if ms < 0 {
            Reply::Error(Error::NegativeTimeout)
        } else if count >= replicas {
            Reply::Int(count)
        } else {
            return self.waiting.push(waiting);
        };
        self.said.push_back((client, reply));
    }

    /// Evicts what may be evicted; whether memory is full all the same.
    fn make_room(&mut self) -> bool {
        let may: fn(&Held) -> bool = match self.memory {
            // A replica leaves it to its master.
            _ if !self.master => return false,
            Memory::Free => return false,
            Memory::Full => return true,
            Memory::EvictsEnding => |held| held.until.is_some(),
            Memory::EvictsAny => |_| true,
        };
        self.remove(may);
        true
    }

    /// Deletes what is over.
    fn expire(&mut self, wall: i64) {
        self.remove(|held| held.is_over(wall));
    }

    fn remove(&mut self, which: impl Fn(&Held) -> bool) {
        let all = self.keys.iter().filter(|(_, held)| which(held));
        let gone: Vec<Key> = all.map(|(key, _)| key.clone()).collect();
        for key in gone {
            self.effect(Effect::Gone(key));
        }
    }

    fn effect(&mut self, effect: Effect) {
        self.keys.apply(effect.clone());
        self.record(effect);
    }

    /// An effect is written to the file, and kept for replicas.
    fn record(&mut self, effect: Effect) {
        self.offset += 1;
        self.disk.write(effect.clone());
        if self.feeds {
            self.fresh.push_back(effect);
        }
    }

    fn sync(&mut self, now: u64) {
        if self.disk.synced_at.saturating_add(SYNC) <= now {
            self.disk.sync(now);
        }
    }

    /// The first cycle that finds something.
    fn next_cycle(&self) -> Option<u64> {
        if !self.master || !self.active_expiry {
            return None;
        }
        let until = self.keys.iter().filter_map(|(_, held)| held.until).min()?;
        Some(self.past(until).div_ceil(CYCLE).saturating_mul(CYCLE))
    }

    /// When the wall clock is past a millisecond, unless it jumps.
    fn past(&self, until: i64) -> u64 {
        let over = until.saturating_add(1).saturating_mul(1_000);
        over.saturating_sub(self.ahead).max(0).unsigned_abs()
    }
}

impl Disk {
    fn write(&mut self, effect: Effect) {
        match self.persistence {
            Persistence::Never => {}
            Persistence::EverySecond => self.unsynced.push(effect),
            Persistence::Always => self.synced.apply(effect),
        }
    }

    fn sync(&mut self, now: u64) {
        for effect in self.unsynced.drain(..) {
            self.synced.apply(effect);
        }
        self.synced_at = now;
    }
}

impl Waiting {
    fn count(&self, confirmed: &[u64]) -> i64 {
        let enough = confirmed.iter().filter(|offset| **offset >= self.offset);
        i64::try_from(enough.count()).unwrap_or(i64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::super::command::{Script, Ttl, When};
    use super::*;

    /// What is answered at once.
    fn ask(server: &mut Server, now: u64, command: &Command) -> String {
        server.ask(now, 1, command);
        let (client, reply) = server.poll().unwrap();
        assert_eq!(client, 1);
        reply.to_string()
    }

    fn set(value: &str, when: When, ttl: Ttl) -> Command {
        Command::Set {
            key: "lock".into(),
            value: value.into(),
            when,
            ttl,
            get: false,
        }
    }

    fn get() -> Command {
        Command::Get("lock".into())
    }

    fn extend(value: &str, ms: i64) -> Command {
        let (lock, value) = ("lock".into(), value.into());
        Command::Eval(Script::Extend { lock, value, ms })
    }

    fn release(value: &str) -> Command {
        let (lock, value) = ("lock".into(), value.into());
        Command::Eval(Script::Release { lock, value })
    }

    #[test]
    fn a_lock_is_one_holders_until_its_last_millisecond_is_past() {
        let mut server = Server::new(Persistence::Never, 0);
        let take = |value| set(value, When::Absent, Ttl::Ms(10));
        assert_eq!(ask(&mut server, 0, &take("a")), "OK");
        assert_eq!(ask(&mut server, 5_000, &take("b")), "nil");
        assert_eq!(ask(&mut server, 5_000, &extend("b", 10)), "\"a\"");
        assert_eq!(ask(&mut server, 5_000, &extend("a", 10)), "1");
        assert_eq!(ask(&mut server, 15_999, &take("b")), "nil");
        assert_eq!(ask(&mut server, 16_000, &take("b")), "OK");
        assert_eq!(ask(&mut server, 16_000, &release("a")), "0");
        assert_eq!(ask(&mut server, 16_000, &release("b")), "1");
        assert_eq!(ask(&mut server, 16_000, &get()), "nil");
    }

    #[test]
    fn a_lock_is_renewed_with_its_own_counter_alone() {
        let mut server = Server::new(Persistence::Never, 0);
        let (lock, counter): (Key, Key) = ("lock".into(), "token".into());
        let renew = |token: &str| {
            Command::Eval(Script::Renew {
                lock: lock.clone(),
                counter: counter.clone(),
                value: "a".into(),
                ms: 20,
                token: token.into(),
            })
        };
        let take = Command::Eval(Script::Take {
            lock: lock.clone(),
            counter: counter.clone(),
            value: "a".into(),
            ms: 10,
        });
        assert_eq!(ask(&mut server, 0, &renew("1")), "[nil, nil, -2]");
        assert_eq!(ask(&mut server, 0, &take), "1");
        assert_eq!(ask(&mut server, 0, &take), "[\"a\", \"1\", 10]");
        assert_eq!(ask(&mut server, 5_000, &renew("1")), "1");
        assert_eq!(
            ask(&mut server, 5_000, &Command::Incr(counter.clone())),
            "2"
        );
        assert_eq!(ask(&mut server, 6_000, &renew("1")), "[\"a\", \"2\", 19]");
    }

    #[test]
    fn the_wall_clock_ends_keys_and_what_nobody_looked_at_comes_back_with_it() {
        let mut server = Server::new(Persistence::Never, 0);
        ask(&mut server, 0, &set("a", When::Always, Ttl::Ms(50)));
        server.jump(60_000);
        server.jump(-60_000);
        assert_eq!(ask(&mut server, 0, &get()), "\"a\"");
        server.jump(60_000);
        assert_eq!(server.due(), Some(0));
        server.wake(0);
        server.jump(-60_000);
        assert_eq!(
            (ask(&mut server, 0, &get()), server.size()),
            ("nil".into(), 0)
        );
    }

    #[test]
    fn a_machine_that_ends_loses_what_was_not_synced_a_process_does_not() {
        let ends = |persistence, tail| {
            let mut server = Server::new(persistence, 0);
            ask(&mut server, 0, &set("a", When::Always, Ttl::Forever));
            ask(
                &mut server,
                1_200_000,
                &set("b", When::Always, Ttl::Forever),
            );
            server.restart(1_300_000, tail);
            ask(&mut server, 1_300_000, &get())
        };
        assert_eq!(ends(Persistence::EverySecond, Tail::Kept), "\"b\"");
        assert_eq!(ends(Persistence::EverySecond, Tail::Lost), "\"a\"");
        assert_eq!(ends(Persistence::Always, Tail::Lost), "\"b\"");
        assert_eq!(ends(Persistence::Never, Tail::Kept), "nil");
    }

    #[test]
    fn where_memory_is_full_a_lock_may_go_and_none_is_taken() {
        let mut server = Server::new(Persistence::Never, 0);
        ask(&mut server, 0, &set("a", When::Always, Ttl::Ms(50)));
        server.set_memory(Memory::Full);
        assert!(ask(&mut server, 0, &set("b", When::Always, Ttl::Keep)).starts_with("error OOM"));
        assert_eq!(ask(&mut server, 0, &extend("a", 70)), "1");
        server.set_memory(Memory::EvictsEnding);
        assert_eq!(ask(&mut server, 0, &get()), "nil");
    }

    #[test]
    fn a_script_that_fails_leaves_what_it_did_and_a_high_token_its_last_digits() {
        let mut server = Server::new(Persistence::Never, 0);
        let acquire = |token: &str| {
            Command::Eval(Script::Take {
                lock: "lock".into(),
                counter: token.into(),
                value: "a".into(),
                ms: 50,
            })
        };
        let count = |key: &str, value: &str| Command::Set {
            key: key.into(),
            value: value.into(),
            when: When::Always,
            ttl: Ttl::Forever,
            get: false,
        };
        ask(&mut server, 0, &count("word", "x"));
        assert!(ask(&mut server, 0, &acquire("word")).starts_with("error ERR value"));
        assert_eq!(ask(&mut server, 0, &release("a")), "1");
        // 2⁵³, and one.
        ask(&mut server, 0, &count("high", "9007199254740992"));
        assert_eq!(ask(&mut server, 0, &acquire("high")), "9007199254740992");
        let high = Command::Get("high".into());
        assert_eq!(ask(&mut server, 0, &high), "\"9007199254740993\"");
    }
}
