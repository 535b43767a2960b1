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
