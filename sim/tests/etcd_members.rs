//! The members of a cluster of etcd, spoken to directly: what any of them answers, and what one does that was left behind.

use tenure::Ticket;
use tenure_sim::store::etcd::{
    Command, Error, Member, Operation, Order, Peer, Reply, Said, Select,
};
use tenure_sim::store::{Change, Range};

const MILLI: u64 = 1_000;
const SECOND: u64 = 1_000 * MILLI;
/// How long a message is under way.
const WAY: u64 = 2 * MILLI;
const CLIENT: u16 = 9;

/// Three members and the messages between them.
struct Group {
    now: u64,
    members: Vec<Member>,
    flights: Vec<(u64, usize, usize, Peer)>,
    away: Option<usize>,
    asked: u64,
    said: Vec<(usize, Ticket, Said)>,
}

impl Group {
    fn new(seed: u64) -> Self {
        let mut group = Self {
            now: 1,
            members: (0..3).map(|place| Member::new(place, 3, seed)).collect(),
            flights: Vec::new(),
            away: None,
            asked: 0,
            said: Vec::new(),
        };
        group.wait(6 * SECOND);
        group
    }

    fn wait(&mut self, span: u64) {
        let until = self.now + span;
        while self.now < until {
            self.now += MILLI;
            let now = self.now;
            let (due, rest) = std::mem::take(&mut self.flights)
                .into_iter()
                .partition(|(at, ..)| *at <= now);
            self.flights = rest;
            for (_, from, to, peer) in due {
                if ![Some(from), Some(to)].contains(&self.away) {
                    self.members[to].hear(now, from as u16, &peer);
                }
            }
            for place in 0..3 {
                if self.members[place].due().is_some_and(|due| due <= now) {
                    self.members[place].wake(now);
                }
                self.drain(place);
            }
        }
    }

    fn drain(&mut self, place: usize) {
        let member = &mut self.members[place];
        while let Some((to, peer)) = member.poll_peer() {
            self.flights
                .push((self.now + WAY, place, usize::from(to), peer));
        }
        while let Some((client, ticket, said)) = member.poll() {
            assert_eq!(client, CLIENT);
            self.said.push((place, ticket, said));
        }
    }

    fn leader(&self) -> usize {
        let leads = |place: &usize| Some(*place) != self.away && self.members[*place].leads();
        (0..3).find(leads).expect("somebody leads")
    }

    /// Asks a member, and waits a moment for its answer.
    fn ask(&mut self, place: usize, command: Command) -> Option<Result<Reply, Error>> {
        self.asked += 1;
        let ticket = Ticket {
            incarnation: 1,
            number: self.asked,
        };
        self.members[place].ask(self.now, CLIENT, ticket, command);
        self.drain(place);
        self.wait(20 * MILLI);
        let answer = self.said.iter().find(|(_, of, _)| *of == ticket)?;
        match &answer.2 {
            Said::Answer { result, .. } => Some(result.clone()),
            _ => None,
        }
    }

    fn put(&mut self, place: usize, key: &str, lease: u64) {
        let put = Operation::Put {
            key: key.into(),
            value: "x".into(),
            lease,
        };
        assert_eq!(self.ask(place, Command::Do(put)), Some(Ok(Reply::Put)));
    }

    fn keys(&mut self, place: usize) -> Option<Result<usize, Error>> {
        let all = Command::Do(Operation::Range(Select {
            keys: Range::Prefix("".into()),
            max_create_revision: 0,
            order: Order::Key,
            limit: 0,
        }));
        Some(self.ask(place, all)?.map(|reply| match reply {
            Reply::Range { found, .. } => found.len(),
            other => panic!("{other:?}"),
        }))
    }
}

#[test]
fn whoever_is_asked_answers_for_all_of_them() {
    for seed in 0..20 {
        let mut group = Group::new(seed);
        for place in 0..3 {
            let lease = place as u64 + 7;
            let granted = group.ask(place, Command::LeaseGrant { lease, ttl: 3 });
            assert_eq!(granted, Some(Ok(Reply::Granted(3))));
            group.put((place + 1) % 3, &format!("e/{place}"), lease);
            assert_eq!(group.keys((place + 2) % 3), Some(Ok(place + 1)));
        }
        for place in 0..3 {
            let alive = group.ask(place, Command::LeaseKeepAlive(7));
            assert_eq!(alive, Some(Ok(Reply::Alive(3))));
        }
        group.wait(2 * SECOND);
        assert_eq!(
            group.ask(0, Command::LeaseKeepAlive(7)),
            Some(Ok(Reply::Alive(3)))
        );
        group.wait(SECOND + SECOND / 2);
        // Those that nobody kept alive are over.
        assert_eq!(group.keys(1), Some(Ok(1)));
        let over = group.ask(1, Command::LeaseKeepAlive(8));
        assert_eq!(over, Some(Ok(Reply::Alive(0))));
    }
}

#[test]
fn a_leader_that_was_left_behind_renews_and_revokes_nothing() {
    for seed in 0..20 {
        let mut group = Group::new(seed);
        let before = group.leader();
        let grant = Command::LeaseGrant { lease: 7, ttl: 4 };
        assert!(group.ask(before, grant).is_some());
        group.put(before, "e/7", 7);
        group.away = Some(before);
        let alive = group.ask(before, Command::LeaseKeepAlive(7));
        assert_eq!(alive, None, "seed {seed}: it has not noticed");
        group.wait(3 * SECOND);
        let lost = Some(Err(Error::NoLeader));
        assert_eq!(group.ask(before, Command::LeaseKeepAlive(7)), lost);
        assert_eq!(group.keys(before), Some(Err(Error::NoLeader)));
        let next = group.leader();
        assert_ne!(next, before);
        // By its own clock the lease is over, and by that of the next it is not.
        group.wait(SECOND);
        let alive = group.ask(next, Command::LeaseKeepAlive(7));
        assert_eq!(alive, Some(Ok(Reply::Alive(4))), "seed {seed}");
        group.away = None;
        group.wait(3 * SECOND);
        assert_eq!(group.keys(before), Some(Ok(1)), "seed {seed}");
        group.wait(SECOND + SECOND / 2);
        assert_eq!(group.keys(before), Some(Ok(0)), "seed {seed}");
    }
}

#[test]
fn a_member_that_was_away_for_long_takes_over_the_state() {
    for seed in 0..5 {
        let mut group = Group::new(seed);
        let leader = group.leader();
        let away = (leader + 1) % 3;
        group.away = Some(away);
        for number in 0..150 {
            group.put(leader, &format!("k/{number}"), 0);
        }
        group.away = None;
        group.wait(4 * SECOND);
        assert_eq!(group.keys(away), Some(Ok(150)), "seed {seed}");
        let kv = group.members[leader].etcd().kv();
        assert_eq!(group.members[away].etcd().kv(), kv, "seed {seed}");
    }
}

#[test]
fn who_watches_a_member_without_a_leader_is_told_so() {
    let mut group = Group::new(1);
    let away = (group.leader() + 1) % 3;
    let keys = Range::Prefix("".into());
    assert_eq!(group.ask(away, Command::Watch { keys, from: 0 }), None);
    let watch = group.asked;
    group.put(group.leader(), "a", 0);
    let told = |group: &Group| -> Vec<Said> {
        let of = group.said.iter().filter(|(_, of, _)| of.number == watch);
        of.map(|(_, _, said)| said.clone()).collect()
    };
    assert!(matches!(told(&group)[..], [Said::Watched(_)]));
    group.away = Some(away);
    group.wait(8 * SECOND);
    let ended = Err(Error::NoLeader);
    assert!(matches!(&told(&group)[..], [_, Said::Answer { result, .. }] if *result == ended));
}

/// A client moves its watch from the revision after the last that it knows of, to a member that does not know that one yet.
#[test]
fn a_watch_that_moves_to_a_member_that_lags_tells_everything_once() {
    for seed in 0..20 {
        let mut group = Group::new(seed);
        let leader = group.leader();
        let lags = (leader + 1) % 3;
        group.put(leader, "a", 0);
        let known = group.members[leader].etcd().kv().revision();
        group.away = Some(lags);
        for key in ["b", "c"] {
            group.put(leader, key, 0);
        }
        // It has not noticed yet that it is away, and is asked before it hears of anything.
        let keys = Range::Prefix("".into());
        let from = known + 1;
        group.away = None;
        assert_eq!(group.ask(lags, Command::Watch { keys, from }), None);
        let watch = group.asked;
        let all = group.keys(lags);
        group.wait(4 * SECOND);
        assert!(matches!(all, None | Some(Ok(3))), "seed {seed}: {all:?}");
        group.put(lags, "d", 0);
        let of = group.said.iter().filter(|(_, of, _)| of.number == watch);
        let told: Vec<String> = of
            .flat_map(|(_, _, said)| match said {
                Said::Watched(changes) => changes.clone(),
                other => panic!("{other:?}"),
            })
            .map(|change| match change {
                Change::Put(record) => record.key.to_string(),
                Change::Gone(key, _) => format!("no {key}"),
            })
            .collect();
        assert_eq!(told, ["b", "c", "d"], "seed {seed}");
    }
}

/// The leading member dies when a lease is about to end, and with it when that was. No other ends it before its time and an
/// election timeout are over, and the first that leads then does.
#[test]
fn a_lease_that_is_about_to_end_when_the_leader_dies_lasts_its_time_and_an_election_timeout() {
    for seed in 0..20 {
        let mut group = Group::new(seed);
        let before = group.leader();
        let grant = Command::LeaseGrant { lease: 7, ttl: 3 };
        assert!(group.ask(before, grant).is_some());
        group.put(before, "e/7", 7);
        group.wait(2_900 * MILLI);
        group.away = Some(before);
        let follower = (before + 1) % 3;
        while !(0..3).any(|place| place != before && group.members[place].leads()) {
            group.wait(MILLI);
        }
        group.wait(3_900 * MILLI);
        assert_eq!(group.keys(follower), Some(Ok(1)), "seed {seed}");
        group.wait(200 * MILLI);
        assert_eq!(group.keys(follower), Some(Ok(0)), "seed {seed}");
    }
}
