//! By hand: answers that come late, out of order or to a former attempt, and a host that is not quick either.

use super::api::Api;
use super::config;
use super::desk::{Desk, at, by_ben, taken_by_ben};
use tenure::lease::kubernetes::{Lease, Record, Reply, Request, Uid};
use tenure::{Duration, Election, Input, Output, Token, Unknown, Why};

fn frees(request: &Request) -> bool {
    matches!(request, Request::Update { record, .. } if record.holder.is_none())
}

/// An old look that is answered late is no news of the object, and does not begin the wait anew.
#[test]
fn a_late_look_is_no_news() {
    let mut api = Api::default();
    let mut anna = Desk::new("anna", 1);
    taken_by_ben(&mut api);
    anna.silence(1);
    let (hangs, _) = anna.take();
    let old = api.carry_out(0, Request::Get);
    api.write(2, Uid(9), by_ben(15));
    anna.run(14_000, |now, request| api.carry_out(now, request));
    // The first look was given up on after 2 seconds, and the next came soon.
    anna.tell(14_000, hangs, Ok(old));
    anna.run(26_000, |now, request| api.carry_out(now, request));
    assert!(anna.leads(26_000));
    assert_eq!(anna.machine.refusals().total(), 0);
}

/// The answer to a look that comes after that to a later write says how the object was before it.
#[test]
fn a_look_from_before_the_own_write_deposes_nobody() {
    let mut api = Api::default();
    taken_by_ben(&mut api);
    let held = api.object.clone().unwrap();
    let freed = Record {
        holder: None,
        ..held.record.clone()
    };
    api.write(3, held.uid, freed);
    let mut anna = Desk::new("anna", 1);
    anna.answer(0, &mut api);
    // The update takes its time, and is looked after.
    let (update, request) = anna.take();
    anna.silence(4_000);
    let (look, _) = anna.take();
    let before = Reply::Object(Lease {
        uid: held.uid,
        version: held.version,
        record: held.record,
        age: Duration::ZERO,
    });
    let done = api.carry_out(3_900_000, request);
    anna.tell(4_000, update, Ok(done));
    assert!(anna.leads(4_000));
    let token = anna.machine.tenure().unwrap().token;
    anna.tell(4_001, look, Ok(before));
    assert!(anna.leads(4_001) && anna.deposed().is_empty());
    anna.run(20_000, |now, request| api.carry_out(now, request));
    assert_eq!(anna.machine.tenure().unwrap().token, token);
    assert_eq!(token, Token::new(0, 3));
}

/// An acquisition is answered after somebody else wrote over it, which was seen: nobody leads by it.
#[test]
fn an_acquisition_that_was_written_over_elects_nobody() {
    let mut api = Api::default();
    let mut anna = Desk::new("anna", 1);
    anna.answer(0, &mut api);
    let (create, request) = anna.take();
    let done = api.carry_out(0, request);
    taken_by_ben(&mut api);
    anna.silence(4_000);
    anna.answer(4_000, &mut api);
    anna.tell(4_001, create, Ok(done));
    assert!(!anna.leads(4_001) && anna.machine.tenure().is_none());
    assert_eq!(anna.machine.refusals().total(), 0);
}

/// Who resigned in two tenures has not released the second with the first.
#[test]
fn the_answer_to_a_former_release_ends_no_other() {
    let mut api = Api::default();
    let mut anna = Desk::leading(&mut api);
    anna.feed(1000, Input::Resign { to: None });
    let (former, request) = anna.take();
    let done = api.carry_out(1_000_000, request);
    // It is not heard of, and what was tried after it neither.
    anna.silence(20_000);
    anna.asked.clear();
    anna.run(45_000, |now, request| api.carry_out(now, request));
    assert!(anna.leads(45_000));
    anna.feed(45_000, Input::Resign { to: None });
    let (present, request) = anna.take();
    assert!(frees(&request));
    anna.tell(45_001, former, Ok(done));
    assert!(anna.machine.releasing());
    let done = api.carry_out(45_002_000, request);
    anna.tell(45_002, present, Ok(done));
    assert!(!anna.machine.releasing());
    assert_eq!(anna.deposed(), [Why::Resigned, Why::Resigned]);
}

/// Who resigned and was released stands back for a lease, and comes again when nobody else wanted it.
#[test]
fn who_resigned_stands_back_for_a_lease() {
    let mut api = Api::default();
    let mut anna = Desk::leading(&mut api);
    anna.feed(1000, Input::Resign { to: None });
    anna.answer(1000, &mut api);
    assert!(!anna.machine.releasing());
    anna.run(15_999, |now, request| api.carry_out(now, request));
    assert!(!anna.leads(15_999));
    anna.run(21_000, |now, request| api.carry_out(now, request));
    assert!(anna.leads(21_000));
    // Unless it is told to campaign.
    anna.feed(22_000, Input::Resign { to: None });
    anna.answer(22_000, &mut api);
    anna.feed(22_001, Input::Campaign);
    anna.answer(22_001, &mut api);
    anna.answer(22_001, &mut api);
    assert!(anna.leads(22_001));
}

/// A host that does not ask for outputs has not missed what is not wanted any more: a renewal that was due before the
/// resignation is not made after it.
#[test]
fn what_is_not_wanted_any_more_is_not_asked() {
    let mut api = Api::default();
    let mut anna = Desk::leading(&mut api);
    let machine = &mut anna.machine;
    machine.handle(at(2_000), Input::Timeout);
    machine.handle(at(2_001), Input::Resign { to: None });
    let mut asked = Vec::new();
    while let Some(output) = machine.poll() {
        if let Output::Request(ticket, request) = output {
            asked.push((ticket, request));
        }
    }
    assert!(asked.len() == 1 && frees(&asked[0].1));
    for (ticket, request) in asked {
        let reply = api.carry_out(2_001_000, request);
        anna.tell(2_001, ticket, Ok(reply));
    }
    assert!(!anna.machine.releasing());
    assert_eq!(anna.machine.refusals().total(), 0);
}

/// Who waits looks once in one to 2.2 periods, as client-go's `acquire` does, and not in step with others.
#[test]
fn a_waiter_looks_with_the_jitter_of_client_go() {
    let mut api = Api::default();
    taken_by_ben(&mut api);
    let mut looks = Vec::new();
    for seed in 0..200 {
        let mut anna = Desk::with(config("anna"), seed, 0);
        anna.answer(0, &mut api);
        anna.run(4_400, |now, request| {
            if looks.len() <= seed as usize {
                looks.push(now);
            }
            api.carry_out(now, request)
        });
    }
    looks.sort_unstable();
    assert_eq!(looks.len(), 200);
    assert!((2_000_000..2_100_000).contains(&looks[0]));
    assert!((4_300_000..=4_400_000).contains(looks.last().unwrap()));
}

/// Answers that no such request has are refused and counted, and change nothing for who leads.
#[test]
fn what_cannot_be_an_answer_is_refused() {
    let mut api = Api::default();
    let mut anna = Desk::leading(&mut api);
    let until = anna.machine.tenure().unwrap().until;
    anna.silence(2_000);
    let (ticket, _) = anna.take();
    // Of another's record, as if it were the own one.
    taken_by_ben(&mut api);
    let other = api.carry_out(0, Request::Get);
    anna.tell(2_000, ticket, Ok(other));
    anna.tell(2_000, ticket, Err(Unknown));
    assert_eq!(anna.machine.refusals().total(), 2);
    assert_eq!(anna.machine.tenure().unwrap().until, until);
}
