//! What an operator does: failovers by hand, and configurations that cannot be.

use super::desk::Desk;
use super::plan::{Plan, SEC, server};
use tenure::sentinel::{
    Boot, Config, ConfigError, FailoverRefused, File, Invariant, Kept, MasterName, Monitor,
    Sentinel,
};
use tenure::{Duration, Election, Input, Instant, NodeId};

const A: MasterName = MasterName(0);
const ME: NodeId = NodeId(1);

#[test]
fn a_failover_by_hand_asks_nobody() {
    // SEN-F9: the master is well, and the others are gone.
    let mut desk = Desk::calm();
    desk.crash(NodeId(2));
    desk.crash(NodeId(3));
    assert!(desk.failover(ME, 0));
    assert!(!desk.failover(ME, 0));
    desk.run_for(5 * SEC);
    assert_eq!(desk.told("+switch-master").len(), 1);
    assert!(desk.told("+odown").is_empty());
    // The old master takes writes, too, until it is found to be one (SEN-R1): nobody fences it.
    assert_eq!(desk.writable(0).len(), 2);
    assert!(Invariant::SingleWritableMaster.broken_by_design().is_some());
    desk.run_for(30 * SEC);
    assert_eq!(desk.writable(0).len(), 1);
    assert_eq!(desk.told("+convert-to-slave").len(), 1);
    assert_eq!(desk.judge.broken(), []);
}

#[test]
fn two_failovers_by_hand_may_take_one_epoch() {
    let mut desk = Desk::calm();
    let (here, there) = (
        [NodeId(2), server(0, 1)],
        [ME, NodeId(3), server(0, 0), server(0, 2)],
    );
    desk.part(&here, &there);
    desk.run_for(14 * SEC);
    assert!(desk.failover(ME, 0) && desk.failover(NodeId(2), 0));
    desk.run_for(8 * SEC);
    let held = |desk: &Desk, id| desk.machine(id).leader_of(A).unwrap();
    assert_eq!(held(&desk, ME).token, held(&desk, NodeId(2)).token);
    assert_ne!(held(&desk, ME).node, held(&desk, NodeId(2)).node);
    assert!(desk.judge.clashed.contains(&A));
    assert_eq!(desk.judge.broken(), []);
    // Each side orders the other's master about, until one of them is held to be down for calling itself a replica, and is
    // replaced in an epoch of its own.
    let clash = held(&desk, ME).token;
    desk.heal();
    desk.run_for(90 * SEC);
    assert_eq!(held(&desk, ME), held(&desk, NodeId(2)));
    assert!(held(&desk, ME).token > clash);
}

#[test]
fn an_operator_is_refused_by_name() {
    let mut desk = Desk::calm();
    let at = Instant::from_micros(desk.now);
    let other = MasterName(9);
    let mut machine = desk.machine(ME).clone();
    assert_eq!(
        machine.failover(at, other),
        Err(FailoverRefused::UnknownMaster(other))
    );
    assert!(!machine.reset(at, other));
    assert_eq!(machine.failover(at, A), Ok(()));
    assert_eq!(machine.failover(at, A), Err(FailoverRefused::InProgress));
    for place in [1, 2] {
        desk.crash(server(0, place));
    }
    desk.run_for(10 * SEC);
    let at = Instant::from_micros(desk.now);
    let refused = desk.machine(ME).clone().failover(at, A);
    assert_eq!(refused, Err(FailoverRefused::NoGoodReplica));
    assert!(
        refused
            .unwrap_err()
            .to_string()
            .contains("wait until one follows")
    );
}

#[test]
fn a_host_can_give_up_what_promoted_nobody() {
    let mut desk = Desk::calm();
    assert!(desk.failover(ME, 0));
    let at = Instant::from_micros(desk.now);
    let mut machine = desk.machine(ME).clone();
    machine.handle(at, Input::Resign { to: None });
    assert_eq!(machine.master(A).unwrap().failover(), None);
    // To campaign is not the host's.
    let mut machine = desk.machine(NodeId(2)).clone();
    machine.handle(at, Input::Campaign);
    assert_eq!(machine.master(A).unwrap().failover(), None);
    assert_eq!(machine.poll(), None);
}

#[test]
fn what_cannot_be_configured_is_refused_with_the_remedy() {
    let monitor = Monitor::new(A, server(0, 0), 2);
    let good = Config::new(ME, monitor.clone());
    let boot = |stored| Boot {
        stored,
        incarnation: 1,
        seed: 1,
    };
    let refused = |config: Config, boot: Boot| {
        let error = Sentinel::new(config, boot, Instant::ZERO).err();
        if let Some(error) = error {
            let text = error.to_string();
            assert!(
                text.ends_with(error.remedy()) && text.contains("; "),
                "{text}"
            );
            assert!(!error.code().is_empty());
        }
        error
    };
    assert_eq!(refused(good.clone(), boot(None)), None);
    let with = |change: fn(&mut Config)| {
        let mut config = good.clone();
        change(&mut config);
        refused(config, boot(None))
    };
    assert_eq!(
        with(|config| config.masters.clear()),
        Some(ConfigError::NoMasters)
    );
    let twice = with(|config| config.masters.push(config.masters[0].clone()));
    assert_eq!(twice, Some(ConfigError::RepeatedName(A)));
    let same = with(|config| {
        let mut other = config.masters[0].clone();
        other.name = MasterName(1);
        config.masters.push(other);
    });
    assert_eq!(same, Some(ConfigError::RepeatedAddress(server(0, 0))));
    let none = with(|config| config.masters[0].quorum = 0);
    assert_eq!(none, Some(ConfigError::QuorumZero(A)));
    let none = with(|config| config.masters[0].parallel_syncs = 0);
    assert_eq!(none, Some(ConfigError::NoSyncs(A)));
    let zero = with(|config| config.masters[0].down_after = Duration::ZERO);
    assert_eq!(zero, Some(ConfigError::Span(A, Duration::ZERO)));
    let many = with(|config| {
        let monitor = |name| Monitor::new(MasterName(name), NodeId(1_000 + u64::from(name)), 1);
        config.masters = (0..300).map(monitor).collect();
    });
    assert_eq!(many, Some(ConfigError::TooManyMasters));
    let unborn = Boot {
        incarnation: 0,
        ..boot(None)
    };
    assert_eq!(
        refused(good.clone(), unborn),
        Some(ConfigError::IncarnationZero)
    );
    let file = |change: fn(&mut File)| {
        let mut file = Plan::default().file(ME);
        change(&mut file);
        refused(good.clone(), boot(Some(file)))
    };
    let beyond = file(|file| file.masters[0].leader_epoch = 3);
    assert_eq!(beyond, Some(ConfigError::FileEpoch(3)));
    assert_eq!(
        file(|file| file.current_epoch = u64::MAX),
        Some(ConfigError::FileEpoch(u64::MAX))
    );
    let fell = file(|file| file.generation = 4);
    let expected = ConfigError::GenerationFell {
        recorded: 4,
        configured: 0,
    };
    assert_eq!(fell, Some(expected));
    let long = file(|file| file.masters[0].replicas = (0..300).map(NodeId).collect());
    assert_eq!(long, Some(ConfigError::FileTooLong(A)));
    // What the file says of others is forgotten.
    let other = Kept {
        name: MasterName(7),
        ..Plan::default().file(ME).masters.remove(0)
    };
    let mut kept = Plan::default().file(ME);
    kept.masters.push(other);
    let machine = Sentinel::new(good, boot(Some(kept)), Instant::ZERO).unwrap();
    assert_eq!(machine.masters().len(), 1);
}
