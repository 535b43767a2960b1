//! Files that go by the parameters of a system.

use tenure::Duration;
use tenure::lease::Preset;
use tenure_sim::Scenario;
use tenure_sim::scenario::Lease;
use tenure_sim::scheme::lease::Kind;

fn read(kind: Kind, lease: &str) -> Scenario {
    let scheme = kind.name();
    let json = format!(r#"{{"tenure": 1, "scheme": "{scheme}", "lease": {{{lease}}}}}"#);
    Scenario::parse(&json).unwrap_or_else(|refusal| panic!("{json}: {refusal}"))
}

fn lease(kind: Kind, text: &str) -> Lease {
    *read(kind, text).lease().expect("it elects by a store")
}

/// The schemes with the systems that elect by them.
fn all() -> impl Iterator<Item = (Kind, Preset)> {
    (Kind::ALL.into_iter()).flat_map(|kind| kind.presets().map(move |preset| (kind, preset)))
}

#[test]
fn every_system_elects_by_one_scheme() {
    for preset in Preset::ALL {
        assert_eq!(
            all().filter(|(_, other)| *other == preset).count(),
            1,
            "{preset:?}"
        );
    }
    for kind in Kind::ALL {
        let none = kind.presets().next().is_none();
        let without = matches!(kind, Kind::SqlSession | Kind::Controller);
        assert_eq!(none, without, "{kind:?}");
    }
}

#[test]
fn a_file_that_names_a_system_goes_by_its_parameters_and_is_written_so() {
    let mut refused = 0;
    for (kind, preset) in all() {
        let (scheme, name) = (kind.name(), preset.name());
        let json =
            format!(r#"{{"tenure": 1, "scheme": "{scheme}", "lease": {{"preset": "{name}"}}}}"#);
        let scenario = match Scenario::parse(&json) {
            Ok(scenario) => scenario,
            Err(refusal) => {
                assert!(refusal.place.starts_with("lease.preset"), "{refusal}");
                refused += 1;
                continue;
            }
        };
        let lease = *scenario.lease().unwrap();
        assert_eq!(lease.preset, Some(preset), "{name}");
        assert_eq!(lease.timing, preset.timing(), "{name}");
        assert_eq!(lease.renew_deadline, preset.renew_deadline(), "{name}");
        let again = Scenario::parse(&scenario.to_json()).unwrap();
        assert_eq!(again.lease(), Some(&lease), "{name}");
    }
    assert_eq!(refused, 3);
}

#[test]
fn a_field_beside_a_system_goes_before_it() {
    let curator = Preset::Curator.timing();
    let own = lease(Kind::ZooKeeper, r#""preset": "curator", "patience": "4s""#);
    assert_eq!(own.timing.patience, Duration::from_secs(4));
    assert_eq!(
        (own.timing.ttl, own.timing.renew),
        (curator.ttl, curator.renew)
    );
    let longer = lease(Kind::ZooKeeper, r#""preset": "curator", "ttl": "90s""#);
    assert_eq!(
        (longer.timing.ttl, longer.timing.renew),
        (Duration::from_secs(90), curator.renew)
    );
    // And mends what a system ships with.
    let flink = lease(
        Kind::Kubernetes,
        r#""preset": "flink", "renewDeadline": "12s""#,
    );
    assert_eq!(flink.renew_deadline, Some(Duration::from_secs(12)));
}

#[test]
fn a_holder_believes_no_longer_than_its_deadline() {
    let believes = |text| {
        let budget = read(Kind::Kubernetes, text).setup().budget();
        budget.expect("it elects by a store").belief
    };
    assert_eq!(
        believes(r#""preset": "openshift""#),
        Duration::from_secs(107)
    );
    assert_eq!(believes(r#""ttl": "15s""#), Duration::from_secs(10));
    assert_eq!(
        believes(r#""ttl": "15s", "renewDeadline": "7s""#),
        Duration::from_secs(7)
    );
}
