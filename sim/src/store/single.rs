//! A store on one server: what every other kind is compared with. It answers at once, and keeps the time of its leases
//! itself.

use super::watches::Watches;
use super::{Answer, Call, Done, Kv, Lessor, Refused, Request, Said, Server, Told, Want};
use std::collections::VecDeque;

/// A server that is the whole store.
#[derive(Clone, Debug, Default)]
pub struct Single {
    kv: Kv,
    lessor: Lessor,
    watches: Watches,
    said: VecDeque<Told>,
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
            self.watches.tell(&self.kv, &mut self.said);
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
        Ok(answer)
    }
}

impl Server for Single {
    fn hear(&mut self, now: u64, client: u16, call: &Call) {
        self.look_at_the_time(now);
        let who = (client, call.number);
        match &call.want {
            // However a get is to be read, here it is the newest.
            Want::Do(request, _) => {
                let answer = self.carry_out(now, request);
                let said = Said::Answered(answer);
                self.said.push_back((client, call.number, said));
            }
            Want::Watch(watch) => self.watches.hear(who, watch, &mut self.said),
        }
        self.watches.tell(&self.kv, &mut self.said);
    }

    fn poll(&mut self) -> Option<Told> {
        self.said.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Change, Operation, Range, Reading, Watch};
    use super::*;

    fn ask(server: &mut Single, now: u64, client: u16, request: Request) {
        let want = Want::Do(request.into(), Reading::Log);
        server.hear(now, client, &Call { number: 1, want });
    }

    fn watch(server: &mut Single, client: u16, range: Range, from: u64) {
        let want = Want::Watch(Watch::From(range, from));
        server.hear(0, client, &Call { number: 1, want });
    }

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
            (client, _, Said::Answered(answer)) => (client, vec![answer.unwrap().revision]),
            (client, _, Said::Changed(changes, _)) => {
                (client, changes.iter().map(Change::revision).collect())
            }
            (_, _, Said::Elsewhere(_)) => panic!("there is no other server"),
        })
    }

    #[test]
    fn a_lease_that_is_not_kept_alive_takes_its_key_and_watchers_see_it_go() {
        let mut server = Single::default();
        watch(&mut server, 9, Range::Prefix("e/".into()), 1);
        ask(&mut server, 0, 1, Request::Grant { lease: 7, ttl: 100 });
        ask(&mut server, 10, 1, put("e/1", 7));
        ask(&mut server, 90, 1, Request::KeepAlive { lease: 7 });
        ask(&mut server, 150, 2, put("other", 0));
        let told: Vec<_> = std::iter::from_fn(|| said(&mut server)).collect();
        assert_eq!(
            told,
            [
                (1, vec![0]),
                (1, vec![1]),
                (9, vec![1]),
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
            ask(&mut server, 0, 1, put(key, 0));
            said(&mut server);
        }
        watch(&mut server, 5, Range::Key("a".into()), 2);
        assert_eq!(said(&mut server), Some((5, vec![3])));
        ask(&mut server, 1, 1, put("a", 0));
        assert_eq!(said(&mut server), Some((1, vec![4])));
        assert_eq!(said(&mut server), Some((5, vec![4])));
    }
}
