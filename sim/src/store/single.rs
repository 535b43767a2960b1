//! A store on one server: what every other kind is compared with. It answers at once, and keeps the time of its leases
//! itself.

use super::{Answer, Done, Kv, Lessor, Range, Refused, Request, Said, Server};
use std::collections::VecDeque;

/// A server that is the whole store.
#[derive(Clone, Debug, Default)]
pub struct Single {
    kv: Kv,
    lessor: Lessor,
    watchers: Vec<Watcher>,
    said: VecDeque<(u16, Said)>,
}

/// Who is told of changes of which keys, and from which revision on.
#[derive(Clone, Debug)]
struct Watcher {
    client: u16,
    range: Range,
    from: u64,
}

impl Single {
    /// What it holds.
    #[must_use]
    pub const fn kv(&self) -> &Kv {
        &self.kv
    }

    /// Lets leases end that are over at `now`.
    pub fn look_at_the_time(&mut self, now: u64) {
        while let Some(lease) = self.lessor.over(now, u64::MAX) {
            // It is known: only what was granted and not revoked has a time.
            let _ = self.carry_out(now, &Request::Revoke { lease });
        }
    }

    fn carry_out(&mut self, now: u64, request: &Request) -> Result<Answer, Refused> {
        let answer = self.kv.apply(request)?;
        match (request, &answer.done) {
            (Request::Grant { lease, .. } | Request::KeepAlive { lease }, Done::Lease(ttl)) => {
                self.lessor.begin(now, *lease, *ttl);
            }
            (Request::Revoke { lease }, _) => self.lessor.end(*lease),
            _ => {}
        }
        self.tell_watchers();
        Ok(answer)
    }

    fn tell_watchers(&mut self) {
        let next = self.kv.revision() + 1;
        for watcher in &mut self.watchers {
            // Told after every change, it never falls behind what is remembered.
            let Ok(changes) = self.kv.changes(&watcher.range, watcher.from) else {
                continue;
            };
            let changes: Vec<_> = changes.cloned().collect();
            watcher.from = next;
            if !changes.is_empty() {
                self.said
                    .push_back((watcher.client, Said::Changed(changes)));
            }
        }
    }
}

impl Server for Single {
    type Client = u16;

    fn ask(&mut self, now: u64, client: u16, request: Request) {
        self.look_at_the_time(now);
        let answer = self.carry_out(now, &request);
        self.said.push_back((client, Said::Answered(answer)));
    }

    fn watch(&mut self, client: u16, range: Range, from: u64) -> Result<(), Refused> {
        self.kv.changes(&range, from).map(drop)?;
        self.watchers.push(Watcher {
            client,
            range,
            from,
        });
        self.tell_watchers();
        Ok(())
    }

    fn poll(&mut self) -> Option<(u16, Said)> {
        self.said.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Change, Operation};
    use super::*;

    fn put(key: &str, lease: u64) -> Request {
        Request::Do(Operation::Put {
            key: key.into(),
            value: "x".into(),
            lease,
        })
    }

    /// What is said to a client next: the revisions of changes, or of an answer.
    fn said(server: &mut Single) -> Option<(u16, Vec<u64>)> {
        Some(match server.poll()? {
            (client, Said::Answered(answer)) => (client, vec![answer.unwrap().revision]),
            (client, Said::Changed(changes)) => {
                (client, changes.iter().map(Change::revision).collect())
            }
            (_, Said::Elsewhere(_)) => panic!("there is no other server"),
        })
    }

    #[test]
    fn a_lease_that_is_not_kept_alive_takes_its_key_and_watchers_see_it_go() {
        let mut server = Single::default();
        server.watch(9, Range::Prefix("e/".into()), 1).unwrap();
        server.ask(0, 1, Request::Grant { lease: 7, ttl: 100 });
        server.ask(10, 1, put("e/1", 7));
        server.ask(90, 1, Request::KeepAlive { lease: 7 });
        server.ask(150, 2, put("other", 0));
        let told: Vec<_> = std::iter::from_fn(|| said(&mut server)).collect();
        assert_eq!(
            told,
            [
                (1, vec![0]),
                (9, vec![1]),
                (1, vec![1]),
                (1, vec![1]),
                (2, vec![2])
            ]
        );
        server.look_at_the_time(189);
        assert_eq!(said(&mut server), None);
        server.look_at_the_time(190);
        assert_eq!(said(&mut server), Some((9, vec![3])));
        assert!(server.kv().get(&Range::Prefix("e/".into())).is_empty());
    }

    #[test]
    fn a_watch_from_the_past_is_told_what_it_missed() {
        let mut server = Single::default();
        for key in ["a", "b", "a"] {
            server.ask(0, 1, put(key, 0));
            said(&mut server);
        }
        server.watch(5, Range::Key("a".into()), 2).unwrap();
        assert_eq!(said(&mut server), Some((5, vec![3])));
        server.ask(1, 1, put("a", 0));
        assert_eq!(said(&mut server), Some((5, vec![4])));
    }
}
