//! Small ensembles, step by step.

use super::desk::Desk;
use tenure::zab::{Faithful, Phase, Role};
use tenure::{Election, NodeId, Standing};

#[test]
fn the_highest_id_of_equals_leads() {
    let mut desk = Desk::voters(3, Faithful);
    desk.start_all();
    let took = desk.run_whole(1_000);
    assert_eq!(desk.judge.broken, None);
    assert!(took.is_some_and(|took| took < 100), "{took:?}");
    assert_eq!(desk.leader(), Some(2));
    let leading = desk.machine(2);
    assert_eq!(
        (leading.phase(), leading.epoch()),
        (Some(Phase::Broadcasting), Some(1))
    );
    assert!(matches!(
        leading.standing(desk.clock()),
        Standing::Leading(_)
    ));
    assert_eq!(desk.role(0), Some(Role::Following));
    assert_eq!(desk.machine(0).leader(), Some(NodeId(2)));
    desk.propose(2, 3);
    assert!(desk.run_till(100, Desk::is_even));
    assert_eq!(desk.machine(0).committed(), 3);
}
