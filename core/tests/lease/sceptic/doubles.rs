//! One attempt that is carried out twice, and a release of it that comes late.

use super::wire::{Clock, Way, Wire};
use crate::redis::{Faults, Server};
use crate::sql::Table;
use tenure::lease::{Claimant, Config, Identity, redis, sql};

const SECOND: u64 = 1_000_000;
const SOON: Way = (Some(10_000), Some(10_000));
const LOST: Way = (None, None);

fn config(name: &str) -> Config {
    Config::new(Claimant::new(Identity::new(name).unwrap()))
}

/// What becomes of what the first node asks: of its takes in turn, and of its releases.
fn ways(
    mut takes: impl Iterator<Item = Way>,
    mut others: impl FnMut(u64) -> Way,
    release: Way,
) -> impl FnMut(u64, bool, bool) -> Way {
    move |now, is_take, is_release| {
        if is_take {
            takes.next().unwrap_or(SOON)
        } else if is_release {
            release
        } else {
            others(now)
        }
    }
}

/// The first take is carried out at once and answered after eleven seconds; the second is carried out when the lease of the
/// first has ended; nothing else comes through until then. The answer to the first is then of a lock that it had before.
#[test]
fn a_late_answer_of_a_lock_that_ended_gives_up_no_lock_that_is_held() {
    let takes = [
        (Some(10_000), Some(11 * SECOND)),
        (Some(15 * SECOND / 2), Some(10_000)),
        LOST,
        LOST,
        LOST,
        LOST,
    ];
    let redis = |seed| {
        let mut way = ways(takes.into_iter(), |_| SOON, SOON);
        let fate = move |me, now, asked: &redis::Request| match (me, asked) {
            (0, redis::Request::Take { .. }) => way(now, true, false),
            (0, redis::Request::Release { .. }) => way(now, false, true),
            _ => SOON,
        };
        let mut wire = Wire::new(Server::new(1, Faults::None), Clock::TRUE, Box::new(fate));
        wire.join(seed, Clock::TRUE, |boot, now| {
            redis::Redis::new(config("anna"), boot, now).unwrap()
        });
        wire.run(9 * SECOND);
        // The other comes too late for what there was to take.
        wire.run_until(12 * SECOND, |wire| wire.leads(0));
        wire.run(wire.now + SECOND / 2);
        wire.join(seed, Clock::TRUE, |boot, now| {
            redis::Redis::new(config("ben"), boot, now).unwrap()
        });
        wire.run(20 * SECOND);
        assert_eq!(wire.two, None, "seed {seed}: {:?}", wire.elected);
        wire.elected.first().is_some_and(|(_, who)| *who == 0)
    };
    let led = (0..200).filter(|seed| redis(*seed)).count();
    assert!(led > 20, "{led}");
}

/// Found to be its own by a take whose answer never came, the lock ends before it is confirmed, and another take of the same
/// attempt is carried out after all. The release of the one must not come after the confirmation of the other.
#[test]
fn what_was_taken_anew_while_it_was_confirmed_is_not_given_up_and_led_by() {
    let takes = [(Some(10_000), None), (Some(8 * SECOND), Some(10_000))];
    let late = (Some(2 * SECOND), Some(10_000));
    let (mut led, mut first) = ([0; 2], None);
    for seed in 0..200 {
        let others = |now| if now < 9_600_000 { LOST } else { SOON };
        let mut way = ways(takes.into_iter(), others, late);
        let fate = move |me, now, asked: &redis::Request| match (me, asked) {
            (0, redis::Request::Take { .. }) => way(now, true, false),
            (0, redis::Request::Release { .. }) => way(now, false, true),
            (0, _) => way(now, false, false),
            _ => SOON,
        };
        let mut wire = Wire::new(Server::new(1, Faults::None), Clock::TRUE, Box::new(fate));
        wire.join(seed, Clock::TRUE, |boot, now| {
            redis::Redis::new(config("anna"), boot, now).unwrap()
        });
        wire.run_until(20 * SECOND, |wire| wire.leads(0));
        wire.join(seed, Clock::TRUE, |boot, now| {
            redis::Redis::new(config("ben"), boot, now).unwrap()
        });
        led[0] += u32::from(wire.leads(0));
        wire.run(wire.now + 9 * SECOND);
        if let Some(two) = wire.two {
            first.get_or_insert(("redis", seed, two));
        }

        let mut way = ways(takes.into_iter(), others, late);
        let fate = move |me, now, asked: &sql::Request| match (me, asked) {
            (0, sql::Request::Take { .. }) => way(now, true, false),
            (0, sql::Request::Release { .. }) => way(now, false, true),
            (0, _) => way(now, false, false),
            _ => SOON,
        };
        let mut wire = Wire::new(Table::default(), Clock::TRUE, Box::new(fate));
        wire.join(seed, Clock::TRUE, |boot, now| {
            sql::Sql::new(config("anna"), boot, now).unwrap()
        });
        wire.run_until(20 * SECOND, |wire| wire.leads(0));
        wire.join(seed, Clock::TRUE, |boot, now| {
            sql::Sql::new(config("ben"), boot, now).unwrap()
        });
        led[1] += u32::from(wire.leads(0));
        wire.run(wire.now + 9 * SECOND);
        if let Some(two) = wire.two {
            first.get_or_insert(("sql", seed, two));
        }
    }
    assert_eq!(first, None, "{led:?}");
    assert!(led.iter().all(|led| *led > 100), "{led:?}");
}
