//! By hand: what people reported of elections by a row, and what becomes of a row that others touch.

use super::desk::{Desk, Fate, SECOND};
use super::{Table, config};
use tenure::lease::sql::{MAX_EPOCH, Reply, Request, Sql, text};
use tenure::lease::{Boot, Refusal};
use tenure::{Election, Input, Instant, Output, Token, Why};

fn desk(names: &[&str]) -> Desk<Sql, Table> {
    let configs: Vec<_> = names.iter().map(|name| config(name)).collect();
    let boot = |config, boot, now| Sql::new(config, boot, now).unwrap();
    Desk::new(Table::default(), boot, &configs)
}

fn renews(request: &Request) -> bool {
    matches!(request, Request::Renew { .. })
}

fn releases(request: &Request) -> bool {
    matches!(request, Request::Release { .. })
}

const NOTHING: fn(&Request) -> Fate = |_| Fate::Lost;
const EVERYTHING: fn(&Request) -> Fate = |_| Fate::Answered;

/// LS-49, lukas-krecan/ShedLock#231: clocks of applications are minutes apart, and both run. Here they are an hour apart.
#[test]
fn clocks_of_nodes_say_nothing_of_the_row() {
    let mut desk = desk(&["anna", "ben", "cleo"]);
    for _ in 0..60 {
        desk.run(1);
        assert_eq!(desk.leaders(), [0]);
    }
    desk.feed(0, Input::Resign { to: None });
    desk.run(2);
    assert_eq!(desk.leaders().len(), 1);
    assert_ne!(desk.leaders(), [0]);
}

/// LS-49, lukas-krecan/ShedLock#132: the time is read, then six seconds pass, then the update lands, and both run. Here the
/// database reads its clock when the statement lands, and whoever sent it counts from before the pause.
#[test]
fn a_pause_before_the_statement_costs_its_sender_alone() {
    for (pause, leads) in [(6, true), (9, false)] {
        let boot = Boot {
            incarnation: 1,
            seed: 1,
        };
        let mut machine = Sql::new(config("anna"), boot, Instant::ZERO).unwrap();
        let Some(Output::Request(ticket, request)) = machine.poll() else {
            panic!("it wants the row");
        };
        let mut table = Table::default();
        let landed = pause * SECOND;
        let reply = table.carry_out(landed, request);
        let now = Instant::from_micros(landed);
        machine.handle(now, Input::Reply(ticket, Ok(reply)));
        let until = machine.tenure().map(|tenure| tenure.until.as_micros());
        assert_eq!(until.is_some(), leads, "after {pause} s");
        assert!(until.is_none_or(|until| until < 9 * SECOND));
        assert_eq!(table.row.as_ref().unwrap().expires, landed + 9 * SECOND);
        // Who comes too late does not keep others out.
        assert_eq!(machine.releasing(), !leads);
    }
}

/// The same within the database, and of every text: a statement that waits for the row reads the clock when it has it.
/// What reads it before is compared with a real server in `tests/stores`.
#[test]
fn no_text_of_the_row_reads_the_clock_of_the_transaction() {
    for text in [text::TAKE, text::RENEW, text::RELEASE, text::READ] {
        assert!(text.contains("clock_timestamp()"), "{text}");
        for early in ["now()", "current_timestamp", "statement_timestamp"] {
            assert!(!text.contains(early), "{text}");
        }
    }
}

/// LS-49, lukas-krecan/ShedLock#74: an unlock that comes late overwrites the successor's row.
#[test]
fn a_late_release_leaves_the_successor_alone() {
    let mut desk = desk(&["anna", "ben"]);
    desk.nodes[0].fate = |request| match request {
        Request::Release { .. } => Fate::Lost,
        _ => Fate::Answered,
    };
    desk.feed(0, Input::Resign { to: None });
    let late = desk.asked(0).into_iter().find(releases).unwrap();
    desk.run(11);
    assert_eq!(desk.leaders(), [1]);
    desk.store.carry_out(desk.now, late);
    let token = desk.tenure(1).unwrap().token;
    desk.run(30);
    assert_eq!((desk.leaders(), desk.ends(1)), (vec![1], vec![]));
    assert_eq!(desk.tenure(1).unwrap().token, token);
}

/// ShedLock knows who holds a row by the name of the host: a second process there renews and releases what is the first
/// one's.
#[test]
fn a_process_of_the_same_name_is_another() {
    let mut desk = desk(&["anna", "anna", "ben"]);
    desk.run(30);
    assert_eq!(desk.leaders(), [0]);
    let asked = desk.asked(1);
    assert!(
        !asked
            .iter()
            .any(|request| renews(request) || releases(request))
    );
    desk.nodes[0].fate = NOTHING;
    desk.nodes[2].fate = NOTHING;
    desk.run(11);
    assert_eq!(desk.leaders(), [1]);
    // The first is back, and gives up what it had: that is over.
    desk.nodes[0].fate = EVERYTHING;
    desk.run(20);
    assert_eq!((desk.leaders(), desk.ends(1)), (vec![1], vec![]));
}

/// LS-50, spring-projects/spring-integration PR 2098 (INT-4246): a leader that cannot lock the row again stays leader.
#[test]
fn who_cannot_renew_stops_before_the_row_expires() {
    let mut desk = desk(&["anna", "ben"]);
    desk.run(4);
    desk.nodes[0].fate = NOTHING;
    let until = desk.until(0);
    let expires = desk.store.row.as_ref().unwrap().expires;
    assert!(until < expires - SECOND / 2, "{until} {expires}");
    desk.run_until(until);
    assert_eq!(desk.leaders(), [] as [usize; 0]);
    assert_eq!(desk.ends(0), [(Token::new(0, 1), Why::Lapsed)]);
    desk.run_until(expires + 2 * SECOND);
    assert_eq!(desk.leaders(), [1]);
    assert_eq!(desk.tenure(1).unwrap().token, Token::new(0, 2));
}

/// LS-50, spring-projects/spring-integration PR 2121, PR 2116: the unlock of a lock that was never held.
#[test]
fn who_does_not_hold_it_gives_nothing_up() {
    let mut desk = desk(&["anna", "ben"]);
    desk.feed(1, Input::Resign { to: None });
    desk.run(20);
    assert!(!desk.asked(1).iter().any(releases));
    assert_eq!(desk.leaders(), [0]);
}

/// `INSERT … ON CONFLICT … WHERE` locks the row that it may not change, which is a write: who waits reads.
#[test]
fn who_waits_writes_nothing() {
    let mut desk = desk(&["anna", "ben"]);
    assert!(matches!(desk.asked(1)[..], [Request::Take { .. }]));
    desk.run(30);
    let asked = desk.asked(1);
    assert!(asked.len() > 30 && asked.iter().all(|request| *request == Request::Read));
    let per_second = desk.asked(0).len() as f64 / 30.0;
    assert!((0.3..0.45).contains(&per_second), "{per_second}");
}

/// LS-4, of a store that answers late: the row was taken, and the answer is there when it may have expired.
#[test]
fn an_answer_after_the_lease_elects_nobody() {
    let mut desk = desk(&["anna"]);
    desk.feed(0, Input::Resign { to: None });
    desk.nodes[0].fate = |request| match request {
        Request::Take { .. } => Fate::Unanswered,
        _ => Fate::Lost,
    };
    desk.asked(0);
    desk.run(10);
    let (ticket, _) = desk.nodes[0]
        .asked
        .iter()
        .find(|(_, asked)| matches!(asked, Request::Take { .. }))
        .cloned()
        .unwrap();
    let epoch = desk.store.row.as_ref().unwrap().epoch;
    desk.run(9);
    desk.feed(0, Input::Reply(ticket, Ok(Reply::Taken(epoch))));
    assert_eq!(desk.leaders(), [] as [usize; 0]);
}

/// LS-R4: a take of which nothing is known. The row is recognised by its nonce and renewed before it counts.
#[test]
fn a_doubtful_take_is_confirmed_by_a_renewal() {
    let mut desk = desk(&["ben", "anna"]);
    desk.nodes[1].fate = |request| match request {
        Request::Take { .. } => Fate::Doubtful,
        _ => Fate::Answered,
    };
    desk.nodes[0].fate = NOTHING;
    desk.run(9);
    desk.nodes[1].asked.clear();
    desk.run(2);
    assert_eq!(
        desk.leaders(),
        [] as [usize; 0],
        "every answer to a take is lost"
    );
    desk.nodes[1].fate = EVERYTHING;
    desk.run(2);
    assert_eq!(desk.leaders(), [1]);
    let asked = desk.asked(1);
    let renewed = asked.iter().position(renews).unwrap();
    assert!(matches!(asked[renewed - 1], Request::Take { .. }));
    let before = desk.ends(0);
    assert_eq!(before, [(Token::new(0, 1), Why::Lapsed)]);
}

/// LS-52, milvus-io/milvus#30100, #28834: a node lives on after its record is gone. Here somebody deletes the row, and its
/// epoch begins anew.
#[test]
fn a_row_that_is_deleted_ends_the_term_and_no_token_comes_twice() {
    let mut desk = desk(&["anna"]);
    for _ in 0..3 {
        desk.feed(0, Input::Resign { to: None });
        desk.run(10);
    }
    let highest = desk.tenure(0).unwrap().token;
    assert_eq!(highest, Token::new(0, 7));
    desk.store.row = None;
    desk.run(4);
    assert_eq!(desk.ends(0).last(), Some(&(highest, Why::Taken)));
    assert!(desk.leaders().is_empty());
    desk.run(10);
    assert!(
        desk.nodes[0]
            .machine
            .refusals()
            .count(Refusal::TokenFellBack)
            >= 3
    );
    assert!(desk.tenure(0).unwrap().token > highest);
}

/// LS-53: a standby without the last commits is promoted. Two hold one epoch, which no guard can order: the generation does.
#[test]
fn a_standby_that_lacks_the_last_commit_gives_one_epoch_twice() {
    let mut desk = desk(&["anna", "ben"]);
    // As it was before anna took it.
    desk.store.row = None;
    desk.run(1);
    assert_eq!(desk.leaders(), [0, 1], "broken by design");
    assert_eq!(desk.tenure(0).unwrap().token, desk.tenure(1).unwrap().token);
    desk.run(3);
    assert_eq!(desk.leaders(), [1]);
    let raised = Boot {
        incarnation: 2,
        seed: 0,
    };
    let mut config = config("anna");
    config.generation = 1;
    let mut table = Table::default();
    let mut machine = Sql::new(config, raised, Instant::ZERO).unwrap();
    if let Some(Output::Request(ticket, request)) = machine.poll() {
        let reply = table.carry_out(0, request);
        machine.handle(Instant::ZERO, Input::Reply(ticket, Ok(reply)));
    }
    assert!(machine.tenure().unwrap().token > desk.tenure(1).unwrap().token);
}

#[test]
fn after_the_last_epoch_nobody_leads_and_nothing_wraps() {
    let mut desk = desk(&["anna"]);
    desk.store.row.as_mut().unwrap().epoch = MAX_EPOCH - 1;
    desk.run(4);
    desk.run(10);
    assert_eq!(
        desk.tenure(0).map(|tenure| tenure.token.counter),
        Some(MAX_EPOCH)
    );
    desk.feed(0, Input::Resign { to: None });
    desk.run(30);
    assert_eq!(desk.leaders(), [] as [usize; 0]);
    assert_eq!(desk.store.row.as_ref().unwrap().epoch, MAX_EPOCH);
    assert!(text::RELEASE.contains("(epoch < 9223372036854775807)::int"));
}
