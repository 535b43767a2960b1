//! Failover by stage: the stages add up, each moves with what it must move with and not with what it must not, and no scheme is
//! left out.

use tenure::Duration;
use tenure_sim::Scenario;
use tenure_sim::World;
use tenure_sim::fault::{Action, Fault, Who};
use tenure_sim::measure::stages::{Loss, Meaning, Measured, Pace, Row, Stages, Table, stages};
use tenure_sim::scenario::Elects;
use tenure_sim::scheme::lease::Kind;

const SEEDS: u64 = 10;

fn all(setting: &Scenario, loss: Loss) -> Vec<Stages> {
    let one = |seed| stages(setting, loss, seed).unwrap().expect("another leads");
    (0..SEEDS).map(one).collect()
}

/// The median of one of them, in milliseconds.
fn median(runs: &[Stages], of: impl Fn(&Stages) -> u64) -> u64 {
    let mut times: Vec<u64> = runs.iter().map(of).collect();
    times.sort_unstable();
    times[times.len() / 2] / 1_000
}

#[test]
fn every_scheme_that_a_file_can_name_has_a_row() {
    let schema: serde_json::Value = serde_json::from_str(&Scenario::json_schema()).unwrap();
    let names = schema["properties"]["scheme"]["enum"].as_array().unwrap();
    assert!(names.len() >= 13);
    for name in names {
        let name = name.as_str().unwrap();
        assert!(
            Row::all().any(|row| row.scenario(Pace::Shipped).scheme() == name),
            "{name} has no row in measure::stages"
        );
    }
}

#[test]
fn the_stages_of_every_scheme_add_up_and_one_that_is_none_takes_no_time() {
    for row in Row::all() {
        for pace in Pace::ALL {
            for loss in Loss::ALL {
                for run in all(&row.scenario(pace), loss) {
                    let sum = run.detection + run.election + run.synchronisation;
                    assert_eq!(sum, run.whole, "{row:?} {pace:?} {loss:?}");
                    let exists = Meaning::of(row).synchronisation.is_ok();
                    assert_eq!(run.synchronisation > 0, exists, "{row:?} {run:?}");
                }
            }
        }
    }
}

/// Who judges beliefs knows nothing of stages.
#[test]
fn the_sum_is_the_time_in_which_nobody_believed_to_lead() {
    for row in Row::all().filter(|row| *row != Row::Sentinel) {
        let setting = row.scenario(Pace::Shipped);
        for seed in 0..3 {
            let run = stages(&setting, Loss::Process, seed).unwrap().unwrap();
            let at = 20_000_000 + tenure::random::Random::from_seed(seed).below(20_000_000);
            let mut scenario = Scenario {
                seed,
                duration: at + run.whole + 1_000,
                faults: vec![Fault {
                    at,
                    action: Action::Crash(Who::Leader),
                }],
                ..setting.clone()
            };
            scenario.clients.every = 10_000;
            let mut world = World::new(&scenario);
            world.run_until(at - 1);
            world.ask_around();
            let before = world.judges().belief().without_leader;
            world.run();
            let without = world.judges().belief().without_leader - before;
            assert_eq!(without, run.whole, "{row:?} {seed}");
        }
    }
}

#[test]
fn a_run_is_the_same_again() {
    for row in [Row::RaftLog, Row::Sentinel, Row::Lease(Kind::Etcd)] {
        let setting = row.scenario(Pace::Shipped);
        assert_eq!(all(&setting, Loss::Machine), all(&setting, Loss::Machine));
    }
}

#[test]
fn detection_goes_by_what_bounds_the_silence() {
    let detection = |setting: &Scenario| median(&all(setting, Loss::Machine), |run| run.detection);
    let ms = Duration::from_millis;
    for row in Row::all() {
        let usual = row.scenario(Pace::Shipped);
        let mut longer = usual.clone();
        match &mut longer.elects {
            Elects::Raft => {
                let (min, max) = (usual.timing.election_min, usual.timing.election_max);
                longer.timing.election_min = min.scaled_up(2, 1);
                longer.timing.election_max = max.scaled_up(2, 1);
            }
            Elects::Zab(params) => params.timing.sync_limit *= 2,
            Elects::Kraft(params) => params.timing.fetch_timeout = ms(4_000),
            Elects::Sentinel(params) => params.down_after = ms(60_000),
            Elects::ByStore(lease) => {
                let ttl = lease.timing.ttl.scaled_up(2, 1);
                lease.timing = lease.kind.timing(Some(ttl));
                lease.renew_deadline = lease.kind.renew_deadline(ttl);
            }
        }
        let (short, long) = (detection(&usual), detection(&longer));
        assert!(
            (short * 3 / 2..short * 3).contains(&long),
            "{row:?}: {short} ms and {long} ms"
        );
    }
}

#[test]
fn election_and_synchronisation_go_by_the_network_and_not_by_what_bounds_the_silence() {
    let medians = |setting: &Scenario| {
        let runs = all(setting, Loss::Process);
        [
            median(&runs, |run| run.election),
            median(&runs, |run| run.synchronisation),
        ]
    };
    for row in Row::all() {
        let usual = row.scenario(Pace::Shipped);
        let mut slow = usual.clone();
        slow.weather.latency_min *= 2;
        slow.weather.latency_max *= 2;
        let ([election, synchronisation], [slower, later]) = (medians(&usual), medians(&slow));
        // Kafka's controllers wait far longer for each other, once they were refused, and sentinels look ten times a second.
        let waits = matches!(row, Row::Kraft | Row::Sentinel);
        assert!(
            slower >= election + 7 || waits,
            "{row:?}: {election} ms and {slower} ms"
        );
        if Meaning::of(row).synchronisation.is_ok() {
            assert!(
                later >= synchronisation + 7 || waits,
                "{row:?}: {synchronisation} ms and {later} ms"
            );
        }
    }
}

#[test]
fn each_stage_goes_by_its_own_knobs() {
    let ms = Duration::from_millis;
    let medians = |setting: &Scenario| {
        let runs = all(setting, Loss::Process);
        [
            median(&runs, |run| run.detection),
            median(&runs, |run| run.election),
            median(&runs, |run| run.synchronisation),
        ]
    };
    // ZooKeeper waits for a better vote, and notices a closed connection however long its ticks are.
    let mut zab = Row::Zab.scenario(Pace::Shipped);
    let usual = medians(&zab);
    assert!(usual[0] < 20, "{usual:?}");
    let Elects::Zab(params) = &mut zab.elects else {
        panic!()
    };
    params.timing.finalize_wait = ms(700);
    params.timing.tick = ms(4_000);
    let patient = medians(&zab);
    assert!(
        (450..700).contains(&(patient[1] - usual[1])),
        "{usual:?} {patient:?}"
    );
    assert!(
        patient[0] < 20 && patient[2] < usual[2] + 10,
        "{usual:?} {patient:?}"
    );

    // A controller that was refused waits for an election timeout before it asks again.
    let mut kraft = Row::Kraft.scenario(Pace::Shipped);
    let usual = medians(&kraft);
    let Elects::Kraft(params) = &mut kraft.elects else {
        panic!()
    };
    params.timing.election_timeout = ms(3_000);
    let patient = medians(&kraft);
    assert!(patient[1] > usual[1] * 2, "{usual:?} {patient:?}");
    assert!(patient[2] < usual[2] + 20, "{usual:?} {patient:?}");

    // A disk is written to before a vote is given and before an entry is acknowledged.
    let mut raft = Row::RaftLog.scenario(Pace::Shipped);
    let usual = medians(&raft);
    raft.disk = tenure_sim::physics::disk::Takes::write(20_000);
    let slow = medians(&raft);
    assert!(slow[1] > usual[1] + 15, "{usual:?} {slow:?}");
    assert!(slow[2] > usual[2] + 15, "{usual:?} {slow:?}");
}

#[test]
fn the_table_has_every_row_twice_and_says_what_is_none() {
    let measured = |setting: &Scenario| {
        Loss::ALL.map(|loss| {
            let mut measured = Measured::default();
            measured.run(setting, loss, 1).unwrap();
            measured
        })
    };
    let rows = [Row::Raft, Row::Lease(Kind::Redis)];
    let lines = Pace::ALL
        .into_iter()
        .flat_map(|pace| rows.map(|row| (row, pace, measured(&row.scenario(pace)))));
    let mut table = Table {
        lines: lines.collect(),
    };
    assert!(table.is_complete());
    let text = table.to_text();
    let of = |start: &str| text.lines().filter(|line| line.starts_with(start)).count();
    assert_eq!((of("raft "), of("redis ")), (2, 2), "{text}");
    let redis: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("redis"))
        .collect();
    assert!(
        redis.iter().all(|line| line.matches('–').count() == 2),
        "{text}"
    );
    assert!(text.contains("none: the record is in the store"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&table.to_json()).unwrap();
    assert_eq!(json["rows"].as_array().unwrap().len(), 8);
    assert!(json["rows"][2]["synchronisation"].is_null());

    table.lines[0].2[1].unfinished = 1;
    assert!(!table.is_complete());
    assert!(
        table
            .to_text()
            .contains("machine: 1 runs without a next leader")
    );
}

/// The machine of a process that died closes its connections, and with it the session that held the lock: what is left to wait for
/// is what its holder may still believe. And as quick as it may be set, nothing is slower than as shipped.
#[test]
fn a_dead_process_has_no_session_and_quick_is_not_slow() {
    let whole = |row: Row, pace, loss| median(&all(&row.scenario(pace), loss), |run| run.whole);
    let row = Row::Lease(Kind::SqlSession);
    let [process, machine] = Loss::ALL.map(|loss| whole(row, Pace::Shipped, loss));
    assert!(
        (5_000..11_000).contains(&process) && machine > process + 5_000,
        "{process} ms and {machine} ms of leases of 9 s"
    );
    for row in Row::all() {
        for loss in Loss::ALL {
            let [shipped, quick] = Pace::ALL.map(|pace| whole(row, pace, loss));
            assert!(
                quick <= shipped + 20,
                "{row:?}: {shipped} ms and {quick} ms"
            );
        }
    }
}
