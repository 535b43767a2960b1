//! Members at a desk: what they say arrives at once and in order, unless a member is down or a link is cut.

use super::super::sessions::password;
use super::*;
use crate::store::zookeeper::{Command, Connect, Error, Event, Mode, Reply};

const TICK: u64 = 100_000;
const MEMBERS: u16 = 3;
/// How long a session lasts without a sign of life, in microseconds.
const SESSION: u64 = 4 * TICK;

struct Desk {
    now: u64,
    members: Vec<Member>,
    up: Vec<bool>,
    /// Links in one direction that carry nothing.
    cut: Vec<(u16, u16)>,
    mail: VecDeque<(u16, u16, Peer)>,
    /// What clients were told, at which member.
    told: Vec<(u16, u16, Said)>,
    /// What each client calls its newest connection.
    names: Sorted<u16, Ticket>,
    connections: u64,
}

impl Desk {
    fn new() -> Self {
        let timing = timing(Duration::from_micros(TICK), Duration::from_secs(1));
        let member = |place| Member::new(place, MEMBERS, timing, 7);
        let mut desk = Self {
            now: 0,
            members: (0..MEMBERS).map(member).collect(),
            up: vec![true; MEMBERS.into()],
            cut: Vec::new(),
            mail: VecDeque::new(),
            told: Vec::new(),
            names: Sorted::default(),
            connections: 0,
        };
        desk.settle();
        desk
    }

    fn member(&mut self, place: u16) -> &mut Member {
        &mut self.members[usize::from(place)]
    }

    fn held(&self, place: u16) -> &Image {
        self.members[usize::from(place)].held()
    }

    fn leads(&self, place: u16) -> bool {
        self.up[usize::from(place)] && self.members[usize::from(place)].leads()
    }

    fn leader(&self) -> u16 {
        let leaders: Vec<u16> = (0..MEMBERS).filter(|place| self.leads(*place)).collect();
        assert_eq!(leaders.len(), 1, "{leaders:?} lead");
        leaders[0]
    }

    fn followers(&self) -> [u16; 2] {
        let leader = self.leader();
        [(leader + 1) % MEMBERS, (leader + 2) % MEMBERS]
    }

    fn serves(&self, place: u16) -> bool {
        self.members[usize::from(place)].serves.is_some()
    }

    /// Everything that is said arrives.
    fn deliver(&mut self) {
        loop {
            for (place, member) in (0..).zip(&mut self.members) {
                while let Some((to, said)) = member.poll_peer() {
                    if !self.cut.contains(&(place, to)) {
                        self.mail.push_back((place, to, said));
                    }
                }
                while let Some((client, _, said)) = member.poll() {
                    self.told.push((place, client, said));
                }
            }
            let Some((from, to, said)) = self.mail.pop_front() else {
                return;
            };
            if self.up[usize::from(to)] {
                let now = self.now;
                self.member(to).hear(now, from, &said);
            }
        }
    }

    fn run(&mut self, span: u64) {
        let until = self.now + span;
        while self.now <= until {
            for place in (0..usize::from(MEMBERS)).filter(|place| self.up[*place]) {
                self.members[place].wake(self.now);
            }
            self.deliver();
            self.now += TICK / 20;
        }
    }

    /// Long enough for anything that goes well.
    fn settle(&mut self) {
        self.run(30 * TICK);
    }

    fn crash(&mut self, place: u16) {
        self.up[usize::from(place)] = false;
        self.tell_ends(place, false);
    }

    fn restart(&mut self, place: u16) {
        let now = self.now;
        self.up[usize::from(place)] = true;
        self.member(place).restart(now);
        self.tell_ends(place, true);
    }

    fn tell_ends(&mut self, place: u16, stands: bool) {
        let now = self.now;
        for other in (0..MEMBERS).filter(|other| *other != place) {
            for (one, other) in [(place, other), (other, place)] {
                if self.up[usize::from(one)] {
                    self.member(one).connection(now, other, stands);
                }
            }
        }
    }

    /// Nothing goes to a member or comes from it, and nobody is told.
    fn isolate(&mut self, place: u16) {
        for other in (0..MEMBERS).filter(|other| *other != place) {
            self.cut.extend([(place, other), (other, place)]);
        }
    }

    fn heal(&mut self, place: u16) {
        self.cut.clear();
        self.tell_ends(place, false);
        self.tell_ends(place, true);
    }

    fn call(&mut self, place: u16, client: u16, call: &Call) {
        let (now, name) = (self.now, self.names.get(&client).copied());
        let name = name.expect("it has a connection");
        self.member(place).ask(now, client, name, call);
    }

    fn begin(&mut self, place: u16, client: u16, connect: Connect) {
        self.connections += 1;
        let name = Ticket {
            incarnation: 1,
            number: self.connections,
        };
        self.names.insert(client, name);
        self.call(place, client, &Call::Connect(connect));
    }

    /// A client has a session by a member: a new one, or the one that it had.
    fn connect(&mut self, place: u16, client: u16, session: SessionId) -> Option<SessionId> {
        self.begin(place, client, coming_back(session, 0));
        self.deliver();
        self.heard(client).into_iter().find_map(|said| match said {
            Said::Connected { session, .. } => Some(session),
            _ => None,
        })
    }

    /// What a client was told since it was asked for last.
    fn heard(&mut self, client: u16) -> Vec<Said> {
        let its = |(_, to, _): &mut (u16, u16, Said)| *to == client;
        let heard = self.told.extract_if(.., its);
        heard.map(|(_, _, said)| said).collect()
    }

    fn ask(&mut self, place: u16, client: u16, command: Command) -> Option<Result<Reply, Error>> {
        self.call(place, client, &Call::Ask(1, command));
        self.deliver();
        self.answer(client)
    }

    fn answer(&mut self, client: u16) -> Option<Result<Reply, Error>> {
        self.heard(client).into_iter().find_map(|said| match said {
            Said::Answer { result, .. } => Some(result),
            _ => None,
        })
    }

    fn create(&mut self, place: u16, client: u16, path: &str) -> Option<Result<Reply, Error>> {
        self.ask(place, client, create(path, Mode::Ephemeral))
    }

    /// What outlasts the session of whoever creates it.
    fn keep(&mut self, place: u16, client: u16, path: &str) {
        let kept = self.ask(place, client, create(path, Mode::Persistent));
        assert!(kept.is_some_and(|kept| kept.is_ok()));
    }

    fn has(&self, place: u16, path: &str) -> bool {
        self.held(place).stat(&path.into()).is_some()
    }
}

fn coming_back(session: SessionId, seen: i64) -> Connect {
    Connect {
        seen,
        timeout: (SESSION / 1_000) as i32,
        session,
        password: password(session),
    }
}

fn create(path: &str, mode: Mode) -> Command {
    Command::Do(Operation::Create {
        path: path.into(),
        data: "".into(),
        mode,
    })
}

fn exists(path: &str, watch: bool) -> Command {
    let path = path.into();
    Command::Exists { path, watch }
}

#[test]
fn what_is_asked_of_any_member_is_carried_out_by_all_with_the_zxid_of_an_epoch() {
    let mut desk = Desk::new();
    let [one, other] = desk.followers();
    for (client, place) in [(1, one), (2, other), (3, desk.leader())] {
        assert!(desk.connect(place, client, 0).is_some());
        let path = format!("/{client}");
        assert!(desk.create(place, client, &path).unwrap().is_ok());
        let again = desk.create(place, client, &path).unwrap();
        assert_eq!(again, Err(Error::NodeExists));
    }
    desk.run(TICK);
    let held = desk.held(one);
    // Each has a session, and a second attempt that came to nothing.
    assert_eq!(held.zxid(), 1 << 32 | 9);
    assert_eq!(
        held.stat(&"/2".into()).map(|stat| stat.czxid),
        Some(1 << 32 | 5)
    );
    assert!((0..MEMBERS).all(|place| desk.held(place) == desk.held(one)));
}

#[test]
fn who_watches_at_one_member_is_told_of_what_is_done_at_another_and_its_own_answers_come_in_order()
{
    let mut desk = Desk::new();
    let [one, other] = desk.followers();
    desk.connect(one, 1, 0);
    desk.connect(other, 2, 0);
    desk.ask(one, 1, exists("/a", true));
    for (xid, command) in [
        (1, create("/b", Mode::Ephemeral)),
        (2, exists("/b", false)),
        (3, Command::Sync("/".into())),
        (4, Command::Close),
    ] {
        desk.call(one, 1, &Call::Ask(xid, command));
    }
    desk.create(other, 2, "/a");
    let heard = desk.heard(1);
    let xids = heard.iter().filter_map(|said| match said {
        Said::Answer { xid, result, .. } => Some((*xid, result.is_ok())),
        _ => None,
    });
    let xids: Vec<_> = xids.collect();
    assert_eq!(xids, [(1, true), (2, true), (3, true), (4, true)]);
    assert_eq!(heard.last(), Some(&Said::Closed));
    assert!(!desk.has(other, "/b"), "it went with its session");
    desk.connect(one, 3, 0);
    desk.ask(one, 3, exists("/c", true));
    desk.create(other, 2, "/c");
    let event = Said::Event(Event::Created("/c".into()));
    assert!(desk.heard(3).contains(&event));
}

#[test]
fn a_member_that_is_behind_answers_from_the_past_until_a_sync_and_turns_away_who_has_seen_more() {
    let mut desk = Desk::new();
    let [behind, other] = desk.followers();
    desk.connect(behind, 1, 0);
    let session = desk.connect(other, 2, 0).unwrap();
    // Nothing comes to it for less than it takes for either end to notice.
    desk.cut.push((desk.leader(), behind));
    desk.create(other, 2, "/a").unwrap().unwrap();
    let old = desk.ask(behind, 1, exists("/a", false)).unwrap();
    assert_eq!(old, Err(Error::NoNode));
    assert_eq!(desk.ask(behind, 1, Command::Sync("/".into())), None);
    let seen = desk.held(other).zxid();
    desk.begin(behind, 2, coming_back(session, seen));
    desk.deliver();
    assert_eq!(desk.heard(2), [Said::Closed]);
    desk.heal(behind);
    desk.run(3 * TICK);
    desk.begin(behind, 2, coming_back(session, seen));
    desk.deliver();
    assert!(matches!(desk.heard(2)[..], [Said::Connected { .. }]));
    assert!(desk.ask(behind, 2, Command::Sync("/".into())).is_some());
    let new = desk.ask(behind, 2, exists("/a", false)).unwrap();
    assert!(new.is_ok());
}

#[test]
fn an_old_leader_gives_up_what_only_it_has() {
    let mut desk = Desk::new();
    let old = desk.leader();
    let [one, other] = desk.followers();
    desk.connect(old, 1, 0);
    desk.connect(one, 2, 0);
    desk.isolate(old);
    assert_eq!(desk.create(old, 1, "/lost"), None, "nobody acknowledges it");
    let logged = desk.member(old).stored.clone().unwrap().log.last();
    desk.settle();
    // It closed all connections when it stepped down, and whoever asked was answered nothing.
    assert_eq!(desk.heard(1), [Said::Closed]);
    let next = (0..MEMBERS).find(|place| *place != old && desk.leads(*place));
    let next = next.expect("two of three elect");
    desk.connect(next, 2, 0);
    desk.keep(next, 2, "/kept");
    assert!(
        desk.member(old)
            .stored
            .clone()
            .unwrap()
            .log
            .contains(logged)
    );
    desk.heal(old);
    desk.settle();
    for place in [old, one, other] {
        assert!(desk.has(place, "/kept") && !desk.has(place, "/lost"));
        assert!(desk.serves(place));
        let log = &desk.member(place).stored.clone().unwrap().log;
        assert!(!log.contains(logged), "member {place}");
    }
    assert!(desk.held(old).zxid() > 2 << 32);
}

#[test]
fn a_member_that_dies_while_it_is_synchronised_is_synchronised_again() {
    // After how many more messages it dies.
    for after in 0..40 {
        let mut desk = Desk::new();
        let old = desk.leader();
        desk.connect(old, 1, 0);
        desk.isolate(old);
        desk.create(old, 1, "/lost");
        desk.settle();
        let next = (0..MEMBERS).find(|place| *place != old && desk.leads(*place));
        let next = next.unwrap();
        desk.connect(next, 2, 0);
        desk.keep(next, 2, "/kept");
        desk.cut.clear();
        desk.tell_ends(old, false);
        desk.tell_ends(old, true);
        let mut delivered = 0;
        while delivered < after {
            for (place, member) in (0..).zip(&mut desk.members) {
                while let Some((to, said)) = member.poll_peer() {
                    desk.mail.push_back((place, to, said));
                }
            }
            match desk.mail.pop_front() {
                Some((from, to, said)) => {
                    let now = desk.now;
                    delivered += u32::from(to == old);
                    desk.member(to).hear(now, from, &said);
                }
                None => {
                    desk.now += TICK / 20;
                    let now = desk.now;
                    desk.members.iter_mut().for_each(|member| member.wake(now));
                }
            }
        }
        desk.mail.retain(|(from, to, _)| *from != old && *to != old);
        desk.crash(old);
        desk.restart(old);
        desk.settle();
        assert!(desk.serves(old), "after {after}");
        assert!(
            desk.has(old, "/kept") && !desk.has(old, "/lost"),
            "after {after}"
        );
        assert_eq!(desk.held(old), desk.held(next), "after {after}");
    }
}

#[test]
fn who_was_away_for_long_gets_the_state() {
    let mut desk = Desk::new();
    let [away, other] = desk.followers();
    desk.crash(away);
    desk.connect(other, 1, 0);
    for count in 0..200 {
        desk.create(other, 1, &format!("/{count}"))
            .unwrap()
            .unwrap();
    }
    desk.restart(away);
    desk.settle();
    assert_eq!(desk.held(away), desk.held(other));
    let log = &desk.member(away).stored.clone().unwrap().log;
    assert!(log.base().index > 100, "{:?}", log.base());
    // And has it after the next crash of all.
    let held = desk.held(away).clone();
    for place in 0..MEMBERS {
        desk.crash(place);
        desk.restart(place);
    }
    desk.run(5 * TICK);
    assert!((0..MEMBERS).all(|place| *desk.held(place) == held));
}

#[test]
fn the_leader_ends_sessions_that_no_member_hears_of() {
    let mut desk = Desk::new();
    let [one, other] = desk.followers();
    let (quiet, loud) = (
        desk.connect(one, 1, 0).unwrap(),
        desk.connect(one, 2, 0).unwrap(),
    );
    desk.create(one, 1, "/quiet").unwrap().unwrap();
    desk.create(one, 2, "/loud").unwrap().unwrap();
    for _ in 0..10 {
        desk.call(one, 2, &Call::Ask(9, Command::Ping));
        desk.run(TICK);
    }
    assert!(desk.has(other, "/loud") && !desk.has(other, "/quiet"));
    assert!(desk.heard(1).contains(&Said::Closed));
    assert!(desk.held(other).knows(loud) && !desk.held(other).knows(quiet));
    desk.begin(other, 1, coming_back(quiet, 0));
    desk.deliver();
    assert_eq!(desk.heard(1), [Said::Expired, Said::Closed]);
}

#[test]
fn a_new_leader_gives_every_session_its_whole_time() {
    let mut desk = Desk::new();
    let old = desk.leader();
    let [one, other] = desk.followers();
    let session = desk.connect(one, 1, 0).unwrap();
    desk.create(one, 1, "/a").unwrap().unwrap();
    // Most of its time is over.
    desk.run(SESSION - TICK);
    desk.crash(old);
    while !desk.leads(one) && !desk.leads(other) {
        desk.run(0);
    }
    let next = desk.leader();
    let ends = desk.member(next).ends(session).unwrap();
    assert!((SESSION..=SESSION + 2 * TICK).contains(&(ends - desk.now)));
    desk.run(SESSION - TICK);
    assert!(desk.has(next, "/a"));
    desk.run(4 * TICK);
    assert!(!desk.has(next, "/a"));
    assert!(desk.held(next).zxid() > 2 << 32);
}

#[test]
fn a_session_that_moves_is_refused_where_it_was_and_comes_back_from_there() {
    let mut desk = Desk::new();
    let [one, other] = desk.followers();
    let session = desk.connect(one, 1, 0).unwrap();
    assert_eq!(desk.connect(other, 2, session), Some(session));
    assert_eq!(desk.create(one, 1, "/old"), None);
    assert!(!desk.has(one, "/old"));
    assert!(desk.create(other, 2, "/new").is_some());
    // A request to move it comes late: its client is at another member by then, and takes it back (ZOOKEEPER-710).
    assert_eq!(desk.connect(one, 1, session), Some(session));
    assert_eq!(desk.create(other, 2, "/late"), None);
    assert_eq!(desk.connect(other, 2, session), Some(session));
    assert!(desk.create(other, 2, "/late").unwrap().is_ok());
}

#[test]
fn a_session_whose_end_is_under_way_goes_on_nowhere() {
    let mut desk = Desk::new();
    let (leader, [one, other]) = (desk.leader(), desk.followers());
    let session = desk.connect(one, 1, 0).unwrap();
    desk.create(one, 1, "/a").unwrap().unwrap();
    // The leader proposes the end, and no acknowledgement of that comes to it.
    desk.cut.extend([(one, leader), (other, leader)]);
    let asked = Asked {
        whose: Some(Whose {
            member: one,
            life: 1,
            client: 1,
            ticket: *desk.names.get(&1).unwrap(),
        }),
        session,
        step: Step::End,
    };
    let now = desk.now;
    let told = Told::Asked(Arc::new(asked));
    desk.member(leader).hear(now, one, &Peer::Learner(1, told));
    desk.begin(leader, 3, coming_back(session, 0));
    desk.deliver();
    assert_eq!(desk.heard(3), [Said::Expired, Said::Closed]);
    desk.heal(leader);
    desk.settle();
    assert!((0..MEMBERS).all(|place| !desk.has(place, "/a")));
}

#[test]
fn nobody_is_served_without_a_majority() {
    let mut desk = Desk::new();
    let leader = desk.leader();
    let [one, other] = desk.followers();
    let session = desk.connect(leader, 1, 0).unwrap();
    desk.crash(one);
    desk.crash(other);
    desk.run(10 * TICK);
    assert!(!desk.serves(leader));
    desk.heard(1);
    assert_eq!(desk.connect(leader, 1, session), None);
    assert_eq!(desk.told, []);
    desk.restart(one);
    desk.settle();
    // Its time began anew with the epoch, and was over since.
    assert!(desk.serves(leader) && desk.serves(one));
    assert!(!desk.held(one).knows(session));
}
