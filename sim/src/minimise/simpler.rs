//! What can be simpler about a scenario besides having fewer actions: each is a scenario to try in its place.

use crate::fault::{Action, Fault, Who};
use crate::physics::disk::Takes;
use crate::physics::weather::Weather;
use crate::scenario::{Clients, Scenario};

/// The least latency and the most are this where nothing hangs on them.
const STILL: u64 = 5_000;

/// Surroundings that are plainer: all of them at once, then one by one.
pub(super) fn plainer(scenario: &Scenario) -> Vec<Scenario> {
    let usual = Scenario::usual();
    let calm = calm(scenario);
    let true_clocks = |scenario: &mut Scenario| scenario.clocks.clear();
    let prompt_clients = |scenario: &mut Scenario| {
        scenario.clients = Clients {
            think: 0,
            write_delay: 0,
            ..scenario.clients
        };
    };
    let idle = |scenario: &mut Scenario| scenario.jobs = None;
    let blind = |scenario: &mut Scenario| scenario.clients.watches = false;
    let prompt_disks = |scenario: &mut Scenario| become_disk(scenario, usual.disk);
    let still = |scenario: &mut Scenario| {
        let weather = Weather {
            latency_min: STILL,
            latency_max: STILL,
            ..calm
        };
        become_base(scenario, weather);
    };
    let one = |change: &dyn Fn(&mut Scenario)| {
        let mut plainer = scenario.clone();
        change(&mut plainer);
        plainer
    };
    let mut all = vec![
        one(&|scenario| {
            true_clocks(scenario);
            prompt_clients(scenario);
            idle(scenario);
            blind(scenario);
            prompt_disks(scenario);
            still(scenario);
        }),
        one(&true_clocks),
        one(&prompt_clients),
        one(&idle),
        one(&blind),
        one(&prompt_disks),
        one(&still),
        one(&|scenario| become_base(scenario, calm)),
    ];
    all.retain(|plainer| !same_surroundings(plainer, scenario));
    // Both kinds of plain weather are as good: the one it has stays.
    let still = Weather {
        latency_min: STILL,
        latency_max: STILL,
        ..calm
    };
    if [calm, still].contains(&scenario.weather) {
        all.retain(|plainer| plainer.weather == scenario.weather);
    }
    all
}

/// The usual weather. Nodes that speak over connections have them there, too.
fn calm(scenario: &Scenario) -> Weather {
    Weather {
        fifo: scenario.setup().is_connected(),
        ..Scenario::usual().weather
    }
}

/// Every disk is usually like this, also where it comes back to it.
fn become_disk(scenario: &mut Scenario, disk: Takes) {
    let former = std::mem::replace(&mut scenario.disk, disk);
    for fault in &mut scenario.faults {
        if let Action::Disk(_, takes) = &mut fault.action
            && *takes == former
        {
            *takes = disk;
        }
    }
}

/// The network's usual behaviour is this one, also where it comes back to it.
fn become_base(scenario: &mut Scenario, weather: Weather) {
    let former = std::mem::replace(&mut scenario.weather, weather);
    for fault in &mut scenario.faults {
        if let Action::Network(now) = &mut fault.action
            && *now == former
        {
            *now = weather;
        }
    }
}

fn same_surroundings(one: &Scenario, other: &Scenario) -> bool {
    (one.weather, one.clients, one.jobs, one.disk, &one.clocks)
        == (
            other.weather,
            other.clients,
            other.jobs,
            other.disk,
            &other.clocks,
        )
}

/// Only the last actions, at their times and soon after the beginning: what fails mostly hangs on little of its past but
/// much of its noise. From few to many.
pub(super) fn endings(scenario: &Scenario) -> Vec<Scenario> {
    let faults = &scenario.faults;
    let counts = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48];
    let shorter = counts.into_iter().filter(|count| *count < faults.len());
    shorter
        .flat_map(|count| {
            let mut late = scenario.clone();
            late.faults.drain(..faults.len() - count);
            let first = late.faults.first().map_or(0, |fault| fault.at);
            let mut soon = late.clone();
            let by = first.saturating_sub(SOON) / BEAT * BEAT;
            shift(&mut soon, by);
            [soon, late]
        })
        .collect()
}

/// By when there is a leader, mostly.
const SOON: u64 = 800_000;
/// The usual time between two heartbeats: shifted by so much, times keep their place between them.
const BEAT: u64 = 50_000;

/// Everything happens earlier, the end too.
fn shift(scenario: &mut Scenario, by: u64) {
    for fault in &mut scenario.faults {
        fault.at = fault.at.saturating_sub(by);
    }
    scenario.duration = scenario.duration.saturating_sub(by);
}

/// The scenario without one of its nodes, for each of them; what was done to that node is left out.
pub(super) fn smaller(scenario: &Scenario) -> Vec<Scenario> {
    let nodes = scenario.nodes as u16;
    if nodes < 2 {
        return Vec::new();
    }
    (0..nodes)
        .rev()
        .map(|gone| {
            let mut smaller = scenario.clone();
            if usize::from(gone) >= smaller.nodes - smaller.outside {
                smaller.outside -= 1;
            }
            smaller.nodes -= 1;
            smaller.outside = smaller.outside.min(smaller.nodes - 1);
            if smaller.clocks.len() > usize::from(gone) {
                smaller.clocks.remove(usize::from(gone));
            }
            smaller.faults.retain_mut(|fault| leave_out(fault, gone));
            smaller
        })
        .collect()
}

/// Renames what is done after a node is gone; false when nothing is left of it.
fn leave_out(fault: &mut Fault, gone: u16) -> bool {
    let renamed = |who: &mut Who| match who {
        Who::Node(node) if *node == gone => false,
        Who::Node(node) => {
            *node -= u16::from(*node > gone);
            true
        }
        _ => true,
    };
    match &mut fault.action {
        Action::Cut(from, to)
        | Action::Heal(from, to)
        | Action::Flap(from, to, _)
        | Action::Delay(from, to, _)
        | Action::Disconnect(from, to) => renamed(from) && renamed(to),
        Action::Partition(members) => {
            members.retain_mut(|(_, who)| renamed(who));
            // Groups are counted from 0, without a gap.
            let mut last = None;
            let mut count = 0;
            for (group, _) in members.iter_mut() {
                count += u16::from(last.is_some_and(|last| last != *group));
                last = Some(*group);
                *group = count;
            }
            !members.is_empty()
        }
        Action::Crash(who)
        | Action::Restart(who)
        | Action::Pause(who)
        | Action::Resume(who)
        | Action::Resign(who)
        | Action::Campaign(who)
        | Action::Transfer(who)
        | Action::Failover(who)
        | Action::Evict(who)
        | Action::BackUp(who)
        | Action::Restore(who)
        | Action::PowerCut(who)
        | Action::Disk(who, _)
        | Action::Clock(who, ..)
        | Action::Damage(who, _)
        | Action::Slow(who, _) => renamed(who),
        Action::Change(voters, learners) => {
            for nodes in [&mut *voters, learners] {
                nodes.retain(|node| *node != gone);
                nodes
                    .iter_mut()
                    .for_each(|node| *node -= u16::from(*node > gone));
            }
            !voters.is_empty()
        }
        Action::HealAll | Action::Network(_) => true,
    }
}

/// Actions that do less or say it in fewer words: each with one action changed.
pub(super) fn milder(scenario: &Scenario) -> Vec<Scenario> {
    let mut all = Vec::new();
    for (place, fault) in scenario.faults.iter().enumerate() {
        for action in instead_of(&fault.action, scenario.weather) {
            let mut milder = scenario.clone();
            milder.faults[place].action = action;
            all.push(milder);
        }
    }
    all
}

fn instead_of(action: &Action, base: Weather) -> Vec<Action> {
    match action {
        Action::Network(weather) if *weather != base => {
            let mut milder = vec![
                Weather {
                    loss: base.loss,
                    ..*weather
                },
                Weather {
                    duplicate: base.duplicate,
                    ..*weather
                },
                Weather {
                    replay: base.replay,
                    ..*weather
                },
            ];
            // As late as it gets, without a draw.
            if weather.duplicate == 0 && weather.replay == 0 {
                milder.push(Weather {
                    latency_min: weather.latency_max,
                    ..*weather
                });
            }
            milder.retain(|milder| milder != weather);
            milder.into_iter().map(Action::Network).collect()
        }
        Action::Partition(members) if !members.iter().any(|(_, who)| *who == Who::Rest) => {
            // The second group by what it is.
            let first = members.iter().take_while(|(group, _)| *group == 0);
            let mut named: Vec<(u16, Who)> = first.copied().collect();
            named.push((1, Who::Rest));
            vec![Action::Partition(named)]
        }
        _ => Vec::new(),
    }
}

/// The same actions earlier, all by as much: whole seconds first.
pub(super) fn earlier(scenario: &Scenario) -> Vec<Scenario> {
    let Some(first) = scenario.faults.first().map(|fault| fault.at) else {
        return Vec::new();
    };
    let mut all = Vec::new();
    for step in [1_000_000, 500_000, 100_000, BEAT] {
        let by = first / step * step;
        let shifts = (1..=by / step).rev().take(6).map(|times| times * step);
        for by in shifts.filter(|by| *by < first) {
            let mut earlier = scenario.clone();
            shift(&mut earlier, by);
            all.push(earlier);
        }
    }
    all
}

/// The units that times are rounded to, the coarsest first.
pub(super) const UNITS: [u64; 6] = [1_000_000, 500_000, 100_000, 50_000, 10_000, 1_000];

/// The scenario with one of its instants rounded to a unit, and all that happens at it; nothing when it is round, or would
/// come before or after another.
pub(super) fn rounded(scenario: &Scenario, at: u64, to: u64) -> Option<Scenario> {
    let mut rounded = scenario.clone();
    for fault in rounded.faults.iter_mut().filter(|fault| fault.at == at) {
        fault.at = to;
    }
    let in_order = rounded.faults.is_sorted_by_key(|fault| fault.at);
    (at != to && in_order && to <= rounded.duration).then_some(rounded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(rest: &str) -> Scenario {
        let json = format!(r#"{{"tenure": 1, "scheme": "raft", "duration": "9s", {rest}}}"#);
        Scenario::parse(&json).unwrap()
    }

    #[test]
    fn plainer_surroundings_are_tried_until_they_are_plain() {
        let windy = scenario(
            r#""nodes": 3, "clocks": ["+1%"], "client": {"think": "3ms"}, "network": {"latency": ["1ms", "9ms"]},
               "faults": [{"at": "1s", "network": {"loss": "5%"}}, {"at": "2s", "network": {}}]"#,
        );
        let all = plainer(&windy);
        assert_eq!(all.len(), 5);
        assert!(plainer(&all[0]).is_empty());
        // Where the network comes back to what it was, it still does.
        assert_eq!(all[0].faults[1].action, Action::Network(all[0].weather));
        assert_ne!(all[0].faults[0].action, Action::Network(all[0].weather));
    }

    #[test]
    fn a_node_that_is_left_out_is_named_nowhere_and_the_others_move_up() {
        let four = scenario(
            r#""nodes": 4, "faults": [{"at": "1s", "crash": "n2"}, {"at": "2s", "cut": ["n1", "n4"]},
               {"at": "3s", "partition": [["n2"], ["n1", "n3"], ["n4"]]}, {"at": "4s", "pause": "leader"}]"#,
        );
        let without_second = &smaller(&four)[2];
        let expected = scenario(
            r#""nodes": 3, "faults": [{"at": "2s", "cut": ["n1", "n3"]},
               {"at": "3s", "partition": [["n1", "n2"], ["n3"]]}, {"at": "4s", "pause": "leader"}]"#,
        );
        assert_eq!(without_second.faults, expected.faults);
        for smaller in smaller(&four) {
            assert_eq!(smaller.nodes, 3);
            assert!(Scenario::parse(&smaller.to_json()).is_ok());
        }
    }

    #[test]
    fn all_that_happens_at_an_instant_is_rounded_together_and_nothing_changes_places() {
        let three = scenario(
            r#""faults": [{"at": "1234ms", "crash": "n2"}, {"at": "1234ms", "restart": "n2"}, {"at": "1300ms", "heal": "all"}]"#,
        );
        let at = |scenario: &Scenario| -> Vec<u64> {
            scenario.faults.iter().map(|fault| fault.at).collect()
        };
        let whole = rounded(&three, 1_234_000, 1_200_000).unwrap();
        assert_eq!(at(&whole), [1_200_000, 1_200_000, 1_300_000]);
        assert!(rounded(&three, 1_234_000, 1_400_000).is_none());
        assert!(rounded(&three, 1_300_000, 1_300_000).is_none());
    }
}
