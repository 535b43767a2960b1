//! What a machine costs while nothing happens.

use super::{common, config};
use allocation_counter::measure;
use tenure::lease::Boot;
use tenure::lease::zookeeper::{Config, Data, Path, Reply, Request, SessionId, Stat, ZooKeeper};
use tenure::{Duration, Election, Input, Instant, Output, Standing};

const SEED: Boot = Boot {
    incarnation: 1,
    seed: 1,
};
const SESSION: SessionId = SessionId(7);

/// A store that grants everything, with so many nodes before that of the machine.
struct Obliging {
    before: Vec<Path>,
    other: Data,
    own: Option<(Path, Data)>,
    version: i32,
    looked: u64,
}

impl Obliging {
    fn new(before: usize) -> Self {
        let name = |place: usize| format!("{place:032x}-n_{place:010}").into();
        Self {
            before: (0..before).map(name).collect(),
            other: "zoe".into(),
            own: None,
            version: 0,
            looked: 0,
        }
    }

    fn stat(&self, czxid: u64, owner: SessionId) -> Stat {
        Stat {
            czxid,
            version: self.version,
            owner,
        }
    }

    fn answer(&mut self, request: Request) -> Reply {
        let own = |path: &Path| self.own.as_ref().filter(|(own, _)| own == path);
        match request {
            Request::Connect { timeout } => Reply::Connected {
                session: SESSION,
                timeout,
            },
            Request::Create { path, data, .. } => {
                let path: Path = format!("{path}{:010}", self.before.len()).into();
                self.own = Some((path.clone(), data.to_string().into()));
                Reply::Created(path)
            }
            Request::Children { path, .. } => {
                let own = self
                    .own
                    .as_ref()
                    .map(|(own, _)| own[path.len() + 1..].into());
                Reply::Children(self.before.iter().cloned().chain(own).collect())
            }
            Request::Data { path, .. } => {
                self.looked += 1;
                match own(&path) {
                    Some((_, data)) => Reply::Data(data.clone(), self.stat(9, SESSION)),
                    None => Reply::Data(self.other.clone(), self.stat(2, SessionId(1))),
                }
            }
            Request::SetData { version, .. } => {
                assert_eq!(version, self.version);
                self.version += 1;
                Reply::Set(self.stat(9, SESSION))
            }
            Request::CreateParent { .. } | Request::Delete { .. } | Request::Close { .. } => {
                panic!("nothing is to be given up")
            }
        }
    }
}

/// From one deadline to the next.
fn run(machine: &mut ZooKeeper, store: &mut Obliging, now: &mut Instant, times: u64) {
    for _ in 0..times {
        machine.handle(*now, Input::Timeout);
        while let Some(output) = machine.poll() {
            if let Output::Request(ticket, request) = output {
                let reply = store.answer(request);
                machine.handle(*now, Input::Reply(ticket, Ok(reply)));
            }
        }
        *now = machine.deadline().expect("it always has one");
    }
}

fn settled(config: Config, store: &mut Obliging) -> (ZooKeeper, Instant) {
    let mut now = Instant::ZERO;
    let mut machine = ZooKeeper::new(config, SEED, now).unwrap();
    run(&mut machine, store, &mut now, 100);
    (machine, now)
}

/// A holder, the next, and one further back.
#[test]
fn nothing_allocates_in_the_steady_state() {
    for before in 0..3 {
        let mut store = Obliging::new(before);
        let (mut machine, mut now) = settled(config(common("anna")), &mut store);
        store.looked = 0;
        let counted = measure(|| run(&mut machine, &mut store, &mut now, 10_000));
        assert_eq!(counted.count_total, 0, "before: {before}");
        assert!(store.looked > 3_000, "it looked");
        let standing = machine.standing(now - Duration::from_micros(1));
        let leads = matches!(standing, Standing::Leading(_));
        assert_eq!(leads, before == 0);
        assert_eq!(machine.refusals().total(), 0);
    }
}

/// What a text takes on the heap, with its counts.
fn shared(text: &str) -> i64 {
    let word = size_of::<usize>();
    (text.len() + 2 * word).next_multiple_of(word) as i64
}

/// Struct and heap, keys and names aside.
#[test]
fn a_machine_at_rest_is_small() {
    for before in 0..3 {
        let config = config(common("anna"));
        let parent = config.parent.clone();
        let mut store = Obliging::new(before);
        let mut kept = None;
        let counted = measure(|| {
            kept = Some(settled(config, &mut store).0);
        });
        // Its data is its name here. Its own path, of the one before it, and of the first.
        let path = shared(&format!("{parent}/{}-n_{:010}", "0".repeat(32), 0));
        let paths = 1 + before.min(2) as i64;
        let heap = counted.bytes_current - paths * path - shared("anna");
        let all = size_of::<ZooKeeper>() as i64 + heap;
        assert!(
            all <= 512 && heap > 0,
            "{} + {heap}, {before} before it",
            size_of::<ZooKeeper>()
        );
    }
}
