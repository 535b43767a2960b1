//! The rules of elections over a store, each switched off in turn: in a whole world what it protects breaks, and nothing but
//! what is declared to follow.

use tenure::lease::{Invariant, Rule, Switched};
use tenure_sim::check::{Check, Outcome};
use tenure_sim::failure::Failure;
use tenure_sim::schedule::{self, ByStore, Setting};
use tenure_sim::scheme::lease::Kind;
use tenure_sim::{Scenario, World};

/// Checks that nothing excuses, broken by a run.
fn broken(scenario: &Scenario) -> Vec<Check> {
    let mut world = World::new(scenario);
    world.run();
    let failures = Failure::all(&world);
    failures.iter().map(|failure| failure.check).collect()
}

fn checks_of(invariant: Invariant) -> &'static [Check] {
    match invariant {
        // Who leads works; and the term is the token, which two that lead by one record share.
        Invariant::BelievedLeaders => &[Check::BelievedLeaders, Check::JobsConcurrent],
        Invariant::TokenRises => &[
            Check::TokenRises,
            Check::OneLeaderPerTerm,
            Check::TokenHolder,
            Check::NeverRevives,
        ],
        Invariant::NoStaleWrite => &[Check::ControllerNoStaleWrite],
        _ => &[],
    }
}

/// Searches seeds until what the rule protects breaks, or else what follows; on the way nothing else may.
fn is_killed(rule: Rule, wanted: Check, seeds: u64, scenario: impl Fn(u64) -> Scenario) {
    let scheme = scenario(0).lease().unwrap().kind.scheme();
    let follows = rule.follows(scheme).iter().copied();
    let declared: Vec<Check> = [rule.protects()]
        .into_iter()
        .chain(follows)
        .flat_map(|invariant| checks_of(invariant).iter().copied())
        .collect();
    assert!(declared.contains(&wanted));
    for seed in 0..seeds {
        let mut scenario = scenario(seed);
        if let Some(lease) = scenario.lease_mut() {
            lease.rules = Switched::without(&[rule]);
        }
        let broken = broken(&scenario);
        for check in &broken {
            let name = check.name();
            assert!(
                declared.contains(check),
                "{rule:?} off, seed {seed}: {name}"
            );
        }
        if broken.contains(&wanted) {
            return;
        }
    }
    panic!(
        "{rule:?} off: {} never broke in {seeds} seeds of {}",
        wanted.name(),
        scenario(0).scheme()
    );
}

/// The schedule of a seed, made without the rule.
fn stormy(kind: Kind, rule: Rule) -> impl Fn(u64) -> Scenario {
    let setting = Setting {
        by_store: Some(ByStore {
            off: vec![rule],
            ..ByStore::of(kind)
        }),
        ..Setting::default()
    };
    move |seed| schedule::make(seed, &setting, |_| ()).unwrap().scenario
}

/// What is written down, under the seed.
fn written(kind: Kind, rest: &str) -> impl Fn(u64) -> Scenario + use<> {
    let json = format!(
        r#"{{"tenure": 1, "scheme": "{}", "nodes": 3, "lease": {{"ttl": "3s", "latency": "20ms"}}, "duration": "20s", {rest}}}"#,
        kind.name()
    );
    let scenario = Scenario::parse(&json).unwrap();
    move |seed| scenario.clone().with_seed(seed)
}

/// What is done at these times, on the links from or to every server of the store.
fn links(kind: Kind, actions: &[(&str, &str)]) -> String {
    let mut faults = Vec::new();
    for (at, action) in actions {
        for server in 1..=kind.servers() {
            let action = action.replace("STORE", &format!("s{server}"));
            faults.push(format!(r#"{{"at": "{at}", {action}}}"#));
        }
    }
    format!(r#""faults": [{}]"#, faults.join(","))
}

/// What the store answers comes late, and then it is asked no more.
fn late_answers(kind: Kind) -> String {
    let late = r#""delay": {"link": ["STORE", "leader"], "by": "1500ms"}"#;
    links(
        kind,
        &[("5s", late), ("7s", r#""cut": ["leader", "STORE"]"#)],
    )
}

/// Who leads resigns, and the first that it asks of the store is on its way until another leads, which hears nothing of the
/// store for a moment.
fn late_release(kind: Kind) -> String {
    let late = r#""delay": {"link": ["leader", "STORE"], "by": "4s"}"#;
    let prompt = ["n1", "n2", "n3"]
        .map(|node| format!(r#""delay": {{"link": ["{node}", "STORE"], "by": "0ms"}}"#));
    let mut actions = vec![("5s", late), ("5s", r#""resign": "leader""#)];
    actions.extend(prompt.iter().map(|action| ("5100ms", action.as_str())));
    actions.push(("8900ms", r#""cut": ["STORE", "leader"]"#));
    links(kind, &actions)
}

/// Who leads hears nothing of the store, and the store nothing of it.
fn cut_off(_: Kind) -> String {
    r#""faults": [{"at": "5s", "partition": [["leader"], ["rest"]]}, {"at": "15s", "heal": "all"}]"#
        .to_owned()
}

#[test]
fn validity_from_send_off_breaks_believed_leaders() {
    let (rule, wanted) = (Rule::ValidityFromSend, Check::BelievedLeaders);
    for kind in Kind::ALL {
        match kind {
            // Of several servers an answer that is late is not waited for.
            Kind::Redlock => is_killed(rule, wanted, 300, stormy(kind, rule)),
            // A holder of a Lease object stops by its own deadline, long before others may take it; and who takes a session's
            // lock waits for as long as its former holder may believe. The storms of the core break both.
            Kind::Kubernetes | Kind::SqlSession => {}
            _ => is_killed(rule, wanted, 20, written(kind, &late_answers(kind))),
        }
    }
}

#[test]
fn demote_by_timer_off_breaks_believed_leaders() {
    for kind in Kind::ALL {
        let scenario = written(kind, &cut_off(kind));
        is_killed(Rule::DemoteByTimer, Check::BelievedLeaders, 20, scenario);
    }
}

/// In one world each node has a name of its own: by its name it takes for its own what a former life of it held, and leads
/// with a token that it had.
#[test]
fn nonce_off_lets_a_process_take_what_its_former_life_held() {
    is_killed(
        Rule::Nonce,
        Check::TokenRises,
        40,
        stormy(Kind::Sql, Rule::Nonce),
    );
}

/// Neither a row whose release names its epoch, nor a key that bears the number of the own lease can be another's.
#[test]
fn compare_and_delete_off_breaks_believed_leaders() {
    for kind in [Kind::Redis, Kind::Redlock, Kind::EtcdSingle, Kind::Milvus] {
        let scenario = written(kind, &late_release(kind));
        is_killed(
            Rule::CompareAndDelete,
            Check::BelievedLeaders,
            100,
            scenario,
        );
    }
}

#[test]
fn recheck_own_record_off_breaks_believed_leaders() {
    is_killed(
        Rule::RecheckOwnRecord,
        Check::BelievedLeaders,
        600,
        stormy(Kind::Etcd, Rule::RecheckOwnRecord),
    );
}

/// The calendar of every other host is an hour ahead: who believes it takes what is held for long over.
#[test]
fn own_clock_only_off_breaks_believed_leaders() {
    let scenario = written(Kind::Kubernetes, r#""faults": []"#);
    is_killed(Rule::OwnClockOnly, Check::BelievedLeaders, 20, scenario);
}

/// The server ends the session of a leader that is not told.
#[test]
fn outwait_former_off_breaks_believed_leaders() {
    let gone = r#""faults": [
        {"at": "5s", "partition": [["leader"], ["rest"]]},
        {"at": "5050ms", "crash": "s1"}, {"at": "5100ms", "restart": "s1"},
        {"at": "12s", "heal": "all"}]"#;
    is_killed(
        Rule::OutwaitFormer,
        Check::BelievedLeaders,
        20,
        written(Kind::SqlSession, gone),
    );
}

/// A controller had still to write when it was overtaken (KAFKA-6082).
#[test]
fn guarded_writes_off_breaks_no_stale_write() {
    let rule = Rule::GuardedWrites;
    is_killed(
        rule,
        Check::ControllerNoStaleWrite,
        20,
        stormy(Kind::Controller, rule),
    );
}

/// A controller comes back within its session, and leads in the epoch of its former life until that is over (KAFKA-1029).
#[test]
fn own_session_off_lets_a_process_take_what_its_former_life_held() {
    let back =
        r#""faults": [{"at": "5s", "crash": "leader"}, {"at": "5200ms", "restart": "crashed"}]"#;
    let rule = Rule::OwnSession;
    let scenario = written(Kind::Controller, back);
    is_killed(rule, Check::TokenRises, 20, scenario);
    is_killed(
        rule,
        Check::BelievedLeaders,
        600,
        stormy(Kind::Controller, rule),
    );
}

#[test]
fn majority_of_configured_off_breaks_believed_leaders() {
    let wanted = Check::BelievedLeaders;
    is_killed(
        Rule::MajorityOfConfigured,
        wanted,
        40,
        stormy(Kind::Redlock, Rule::MajorityOfConfigured),
    );
}

#[test]
fn with_every_rule_on_nothing_breaks_there() {
    for kind in Kind::ALL {
        for rest in [late_answers(kind), late_release(kind), cut_off(kind)] {
            let scenario = written(kind, &rest);
            for seed in 0..20 {
                assert_eq!(broken(&scenario(seed)), [], "{kind:?} {seed}: {rest}");
            }
        }
    }
}

/// What breaks after the store lost the record breaks by design, but at the resource that keeps a fence nothing does; and
/// what broke before is broken all the same.
#[test]
fn what_a_store_loses_excuses_what_breaks_after_it_and_nothing_before() {
    let outcomes = |rest: &str, off: &[Rule], seed| {
        let mut scenario = written(Kind::Redis, rest)(seed);
        if let Some(lease) = scenario.lease_mut() {
            lease.rules = Switched::without(off);
        }
        let mut world = World::new(&scenario);
        world.record_histories();
        world.run();
        let checks = [
            Check::BelievedLeaders,
            Check::StaleWriteFenced,
            Check::LinearizableFenced,
        ];
        checks.map(|check| world.verdict(check).outcome)
    };
    let lost = r#""faults": [{"at": "300ms", "failover": "s1"}]"#;
    let late = r#""faults": [{"at": "5s", "partition": [["leader"], ["rest"]]}, {"at": "15s", "failover": "s1"}]"#;
    for seed in 0..10 {
        let [believed, stale, linearizable] = outcomes(lost, &[], seed);
        assert_eq!(believed, Outcome::BrokenByDesign, "{seed}");
        assert_ne!(stale, Outcome::Broken, "{seed}");
        assert_eq!(linearizable, Outcome::Holds, "{seed}");
        let [believed, ..] = outcomes(late, &[Rule::DemoteByTimer], seed);
        assert_eq!(believed, Outcome::Broken, "{seed}");
    }
}
