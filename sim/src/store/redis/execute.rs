//! Carrying out a command: on a keyspace, at one instant, with all its effects.

use super::command::{Command, Error, Only, Reply, Script, Ttl, When};
use super::keyspace::{Effect, Held, Keyspace};
use crate::store::{Key, Value};

/// One command being carried out.
pub(super) struct Execution<'a> {
    pub(super) keys: &'a mut Keyspace,
    /// What was done, in order.
    pub(super) effects: &'a mut Vec<Effect>,
    /// The wall clock, in milliseconds; it stands still meanwhile, in a script too.
    pub(super) wall: i64,
    /// Whether it may change anything.
    pub(super) master: bool,
    /// Whether there is no memory for what needs some.
    pub(super) full: bool,
}

type Done = Result<Reply, Error>;

impl Execution<'_> {
    /// Carries out a command; `WAIT` is the server's.
    pub(super) fn run(&mut self, command: &Command) -> Done {
        self.admit(command)?;
        match command {
            Command::Get(key) => Ok(self.get(key)),
            Command::Set {
                key,
                value,
                when,
                ttl,
                get,
            } => self.set(key, value, *when, *ttl, *get),
            Command::Del(keys) => Ok(self.del(keys)),
            Command::Exists(keys) => {
                let there = keys.iter().filter(|key| self.look(key).is_some());
                Ok(count(there.count()))
            }
            Command::PExpire { key, ms, only } => self.pexpire(key, *ms, *only),
            Command::PTtl(key) => Ok(self.pttl(key)),
            Command::Incr(key) => self.incr(key),
            Command::FlushAll => {
                self.effect(Effect::Flushed);
                Ok(Reply::Ok)
            }
            Command::Eval(script) => self.eval(script).map(through_lua),
            Command::Wait { .. } => Ok(Reply::Nil),
        }
    }

    /// Whether the command may be begun: asked of each that a script calls, too, and of the script itself never, which may
    /// do no more than read.
    fn admit(&self, command: &Command) -> Result<(), Error> {
        let (writes, grows) = match command {
            Command::Set { .. } | Command::Incr(_) => (true, true),
            Command::Del(_) | Command::PExpire { .. } | Command::FlushAll => (true, false),
            _ => (false, false),
        };
        if grows && self.full {
            return Err(Error::OutOfMemory);
        }
        if writes && !self.master {
            return Err(Error::ReadOnly);
        }
        Ok(())
    }

    fn eval(&mut self, script: &Script) -> Done {
        match script {
            Script::Take {
                lock,
                counter,
                value,
                ms,
            } => {
                if !self.set_absent(lock, value, *ms)? {
                    return Ok(self.read(lock, counter));
                }
                // Memory is not asked for again by a script that has written.
                self.full = false;
                self.run(&Command::Incr(counter.clone()))
            }
            Script::Renew {
                lock,
                counter,
                value,
                ms,
                token,
            } => {
                if !self.holds(lock, value) || !self.holds(counter, token) {
                    return Ok(self.read(lock, counter));
                }
                self.extend(lock, *ms)
            }
            Script::Read { lock, counter } => Ok(self.read(lock, counter)),
            Script::Release { lock, value } => {
                if !self.holds(lock, value) {
                    return Ok(Reply::Int(0));
                }
                self.run(&Command::Del(vec![lock.clone()]))
            }
            Script::Delete { lock } => self.run(&Command::Del(vec![lock.clone()])),
            Script::Set { lock, value, ms } => {
                if self.set_absent(lock, value, *ms)? {
                    return Ok(Reply::Int(1));
                }
                Ok(self.get(lock))
            }
            Script::Extend { lock, value, ms } => {
                if !self.holds(lock, value) {
                    return Ok(self.get(lock));
                }
                self.extend(lock, *ms)
            }
            Script::Look { lock } => Ok(self.get(lock)),
        }
    }

    /// `SET … NX PX`: whether it was set.
    fn set_absent(&mut self, lock: &Key, value: &Value, ms: i64) -> Result<bool, Error> {
        let set = Command::Set {
            key: lock.clone(),
            value: value.clone(),
            when: When::Absent,
            ttl: Ttl::Ms(ms),
            get: false,
        };
        Ok(self.run(&set)? == Reply::Ok)
    }

    fn extend(&mut self, lock: &Key, ms: i64) -> Done {
        self.run(&Command::PExpire {
            key: lock.clone(),
            ms,
            only: None,
        })
    }

    fn read(&mut self, lock: &Key, counter: &Key) -> Reply {
        Reply::Array(vec![self.get(lock), self.get(counter), self.pttl(lock)])
    }

    fn set(&mut self, key: &Key, value: &Value, when: When, ttl: Ttl, get: bool) -> Done {
        let until = self.until(ttl)?;
        let old = if get { self.get(key) } else { Reply::Ok };
        let before = self.look(key);
        let refused = match when {
            When::Always => false,
            When::Absent => before.is_some(),
            When::Present => before.is_none(),
        };
        if refused {
            return Ok(if get { old } else { Reply::Nil });
        }
        let until = match ttl {
            Ttl::Keep => before.and_then(|held| held.until),
            _ => until,
        };
        self.put(key, value.clone(), until);
        Ok(old)
    }

    /// When a key ends that is set now.
    fn until(&self, ttl: Ttl) -> Result<Option<i64>, Error> {
        let (ms, base) = match ttl {
            Ttl::Forever | Ttl::Keep => return Ok(None),
            Ttl::Seconds(seconds) => (seconds.checked_mul(1_000), self.wall),
            Ttl::Ms(ms) => (Some(ms), self.wall),
            Ttl::AtMs(ms) => (Some(ms), 0),
        };
        ms.filter(|ms| *ms > 0)
            .and_then(|ms| ms.checked_add(base))
            .map(Some)
            .ok_or(Error::InvalidExpire("set"))
    }

    fn get(&mut self, key: &Key) -> Reply {
        self.look(key)
            .map_or(Reply::Nil, |held| Reply::Bulk(held.value))
    }

    fn del(&mut self, keys: &[Key]) -> Reply {
        let mut gone = 0;
        for key in keys {
            if self.look(key).is_some() {
                self.effect(Effect::Gone(key.clone()));
                gone += 1;
            }
        }
        count(gone)
    }

    fn pexpire(&mut self, key: &Key, ms: i64, only: Option<Only>) -> Done {
        // Refused before the key is looked at. What is below zero is in the past, however far.
        if ms > i64::MAX - self.wall {
            return Err(Error::InvalidExpire("pexpire"));
        }
        let until = ms.saturating_add(self.wall);
        let Some(held) = self.look(key) else {
            return Ok(Reply::Int(0));
        };
        let allowed = match (only, held.until) {
            (None, _)
            | (Some(Only::Endless | Only::Earlier), None)
            | (Some(Only::Ending), Some(_)) => true,
            (Some(Only::Endless), Some(_)) | (Some(Only::Ending | Only::Later), None) => false,
            (Some(Only::Later), Some(before)) => until > before,
            (Some(Only::Earlier), Some(before)) => until < before,
        };
        if !allowed {
            return Ok(Reply::Int(0));
        }
        // An end that is now is over, though a key is there in its last millisecond.
        if until <= self.wall {
            self.effect(Effect::Gone(key.clone()));
        } else {
            self.put(key, held.value, Some(until));
        }
        Ok(Reply::Int(1))
    }

    fn pttl(&mut self, key: &Key) -> Reply {
        Reply::Int(match self.look(key) {
            None => -2,
            Some(Held { until: None, .. }) => -1,
            Some(Held {
                until: Some(until), ..
            }) => until.saturating_sub(self.wall),
        })
    }

    fn incr(&mut self, key: &Key) -> Done {
        let held = self.look(key);
        let (now, until) = match &held {
            None => (0, None),
            Some(held) => (number(&held.value).ok_or(Error::NotAnInteger)?, held.until),
        };
        let next = now.checked_add(1).ok_or(Error::Overflow)?;
        self.put(key, next.to_string().into(), until);
        Ok(Reply::Int(next))
    }

    fn holds(&mut self, key: &Key, value: &Value) -> bool {
        self.look(key).is_some_and(|held| held.value == *value)
    }

    /// What is there. What is over is not; a master deletes it.
    fn look(&mut self, key: &Key) -> Option<Held> {
        let held = self.keys.get(key)?.clone();
        if !held.is_over(self.wall) {
            return Some(held);
        }
        if self.master {
            self.effect(Effect::Gone(key.clone()));
        }
        None
    }

    fn put(&mut self, key: &Key, value: Value, until: Option<i64>) {
        self.effect(Effect::Put(key.clone(), Held { value, until }));
    }

    fn effect(&mut self, effect: Effect) {
        self.keys.apply(effect.clone());
        self.effects.push(effect);
    }
}

fn count(number: usize) -> Reply {
    Reply::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

/// What a script gives back: its numbers are floats, so that one above 2⁵³ may lose its last digits, and the highest falls
/// out at the other end (as on x86, where the language leaves it open).
fn through_lua(reply: Reply) -> Reply {
    const END: f64 = 9_223_372_036_854_775_808.0;
    match reply {
        Reply::Int(number) => {
            let float = number as f64;
            Reply::Int(if float < END { float as i64 } else { i64::MIN })
        }
        Reply::Array(replies) => Reply::Array(replies.into_iter().map(through_lua).collect()),
        reply => reply,
    }
}

/// A value as a number: written as the server itself would, without a sign of plus, a leading zero or a space.
fn number(value: &str) -> Option<i64> {
    let number: i64 = value.parse().ok()?;
    (number.to_string() == value).then_some(number)
}
