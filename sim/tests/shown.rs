//! What is particular to a scheme, as it is drawn and as it is inspected.

use tenure_sim::scheme::Scheme;
use tenure_sim::scheme::particulars::width;
use tenure_sim::world::view::{Field, SERVER};
use tenure_sim::{Scenario, World};

fn world(scheme: &str, rest: &str, until: u64) -> World {
    let text =
        format!(r#"{{"tenure": 1, "scheme": "{scheme}", "nodes": 3, "duration": "60s"{rest}}}"#);
    let mut world = World::new(&Scenario::parse(&text).unwrap());
    world.run_until(until);
    world
}

fn shown(world: &World) -> Vec<f64> {
    let mut out = Vec::new();
    world.write_particulars(&mut out);
    out
}

fn field(world: &World, actor: usize, name: &str) -> Field {
    let fields = world.inspect(actor);
    let found = fields.into_iter().find(|(field, _)| *field == name);
    found.unwrap_or_else(|| panic!("no field {name}")).1
}

fn text(world: &World, actor: usize, name: &str) -> String {
    match field(world, actor, name) {
        Field::Text(text) => text,
        other => panic!("{name} is {other:?}"),
    }
}

#[test]
fn rows_are_as_wide_as_their_fields_and_say_what_is_inspected() {
    for (scheme, wide, until) in [
        ("zab", 11, 2_000_000),
        ("sentinel", 13, 2_000_000),
        ("kraft", 8, 5_000_000),
    ] {
        let world = world(scheme, "", until);
        let particulars = world.node(1).unwrap().machine().unwrap().particulars();
        assert_eq!(width(particulars.fields), wide, "{scheme}");
        let rows = shown(&world);
        assert_eq!(rows.len(), 3 * (wide + 1), "{scheme}");
        for (node, row) in rows.chunks(wide + 1).enumerate() {
            assert_eq!(row[0], node as f64);
        }
        assert_eq!(rows[wide + 2..2 * (wide + 1)], particulars.rows);
        let names: Vec<_> = world.inspect(1).into_iter().map(|(name, _)| name).collect();
        let own: Vec<_> = particulars.fields.iter().map(|(name, _)| *name).collect();
        assert!(names.ends_with(&own), "{scheme}: {names:?}");
    }
    assert!(shown(&world("raft", "", 2_000_000)).is_empty());
    assert!(shown(&world("etcd", "", 2_000_000)).is_empty());
}

#[test]
fn a_sentinel_has_a_row_for_each_master_and_a_process_that_is_down_has_none() {
    let two = world("sentinel", r#", "sentinel": {"masters": 2}"#, 1_000_000);
    assert_eq!(shown(&two).len(), 2 * 3 * 14);
    let crashed = world(
        "zab",
        r#", "faults": [{"at": "1s", "crash": "n1"}]"#,
        2_000_000,
    );
    let rows = shown(&crashed);
    assert_eq!((rows.len(), rows[0]), (2 * 12, 1.0));
}

#[test]
fn elected_and_established_are_told_apart_by_the_phase() {
    let mut world = world("zab", "", 0);
    let mut phases = Vec::new();
    for at in (0..600_000).step_by(1_000) {
        world.run_until(at);
        phases.push(text(&world, 2, "phase"));
    }
    phases.dedup();
    assert_eq!(
        phases,
        ["election", "discovery", "synchronisation", "broadcast"]
    );
    assert_eq!(text(&world, 2, "state"), "LEADING");
    assert_eq!(text(&world, 0, "proposes"), "n3");
}

#[test]
fn a_server_with_data_of_its_own_is_shown_by_its_part() {
    let world = world("sentinel", "", 3_000_000);
    let mut rows = Vec::new();
    world.write_servers(&mut rows);
    let rows: Vec<_> = rows.chunks(SERVER).collect();
    assert_eq!(rows.len(), 3);
    let (master, replica) = (rows[0], rows[1]);
    // It takes writes, and follows nobody.
    assert_eq!((master[2], master[9], master[10]), (1.0, 1.0, -1.0));
    assert_eq!((replica[2], replica[9], replica[10]), (0.0, 2.0, 3.0));
    assert!(master[11] > 50.0 && replica[11] > 50.0 && replica[12] == 1.0);
    assert_eq!(text(&world, 3, "part"), "master");
    assert_eq!(text(&world, 4, "copies"), "s1");
    assert_eq!(field(&world, 4, "writable"), Field::Flag(false));
    // What sentinels say of servers is named as those are.
    assert_eq!(text(&world, 0, "leader"), "s1");
    assert_eq!(text(&world, 0, "master"), "s1");
    assert!(world.records(3).is_empty());
    let mut summary = Vec::new();
    world.write_summary(&mut summary);
    assert_eq!((summary[11], summary[12]), (3.0, 0.0));
}

/// Kafka's brokers, of whose partition b2 is the first leader.
fn brokers(more: &str, until: u64) -> World {
    let part = format!(r#", "seed": "1", "brokers": {{}}, "client": {{"every": "100ms"}}{more}"#);
    world("kraft", &part, until)
}

fn server_rows(world: &World) -> Vec<Vec<f64>> {
    let mut rows = Vec::new();
    world.write_servers(&mut rows);
    rows.chunks(SERVER).map(<[f64]>::to_vec).collect()
}

#[test]
fn a_broker_is_shown_by_its_part_and_by_what_the_metadata_says_of_it() {
    let world = brokers("", 8_000_000);
    let rows = server_rows(&world);
    let leader = rows.iter().position(|row| row[9] == 3.0).unwrap();
    for (broker, row) in rows.iter().enumerate() {
        let leads = broker == leader;
        // It takes what is produced, or follows who does; it has some of it, and most of that is committed.
        assert_eq!(row[2], f64::from(u8::from(leads)));
        assert_eq!(row[10], if leads { -1.0 } else { 3.0 + leader as f64 });
        assert!(row[11] > 10.0 && row[13] > 10.0 && row[13] <= row[11]);
        // Unfenced, by a registration of its own, in sync, in the first leader epoch.
        assert_eq!((row[14], row[17]), (2.0, 1.0));
        assert!(row[15] > 0.0);
        assert_eq!(row[16], if leads { 4.0 } else { 3.0 });
        assert_eq!(text(&world, 3 + broker, "registration"), "unfenced");
        assert_eq!(text(&world, 3 + broker, "isr").split(", ").count(), 3);
    }
    assert_eq!(field(&world, 3, "elr"), Field::Nothing);
    assert!(world.records(3).is_empty());
}

#[test]
fn what_the_metadata_says_of_a_broker_that_is_down_is_another_thing_than_what_it_knows() {
    let down = r#", "faults": [{"at": "10s", "crash": "b1"}, {"at": "10s", "pause": "b2"}]"#;
    let (before, after) = (brokers(down, 12_000_000), brokers(down, 26_000_000));
    let (rows, later) = (server_rows(&before), server_rows(&after));
    // Nothing is decided of who is silent for less than a session.
    assert_eq!((rows[0][14], rows[1][14]), (2.0, 2.0));
    assert_eq!((later[0][14], later[1][14], later[2][14]), (1.0, 1.0, 2.0));
    assert_eq!(text(&after, 3, "registration"), "fenced");
    // Whoever is left alone leads, and takes nothing: there are to be two in sync.
    assert_eq!((later[2][16], later[2][2], later[2][9]), (4.0, 0.0, 3.0));
    // One of the others was in sync when there were still enough of them.
    let places = [later[0][16], later[1][16]];
    assert!(places.contains(&2.0), "{places:?}");
    // Who is down knows nothing, and has what its disk has; who is frozen knows what it knew.
    assert_eq!(field(&after, 3, "isr"), Field::Nothing);
    assert!(later[0][9] == 5.0 && later[0][11] > 10.0);
    assert_eq!(text(&after, 4, "isr").split(", ").count(), 3);
}

#[test]
fn what_was_decided_of_brokers_stands_while_no_controller_runs() {
    let down = r#", "faults": [{"at": "8s", "crash": "n1"}, {"at": "8s", "crash": "n2"}, {"at": "8s", "crash": "n3"}]"#;
    for row in server_rows(&brokers(down, 12_000_000)) {
        assert!(row[14] == 2.0 && row[16] >= 3.0 && row[17] == 1.0);
    }
}
