//! Each step by hand: what is asked when, what each answer means, and what ends it.

use crate::host::{Host, config, good, item, ms, token};
use tenure::fence::Refused;
use tenure::takeover::{
    Because, Event, How, Input, Item, Output, Policy, Refusal, Reply, Request, Rule, Switched,
    Takeover,
};
use tenure::{Instant, Standing, Tenure, Ticket, Token};

fn page(items: &[Item<u64>], more: bool) -> Reply<u64> {
    Reply::Page {
        items: items.to_vec(),
        more,
    }
}

const fn list(after: Option<u64>) -> Request<u64> {
    Request::List { after, limit: 2 }
}

const fn claim(key: u64, from: u64) -> Request<u64> {
    let from = Token::new(0, from);
    Request::Claim { key, from }
}

const fn redo(key: u64) -> Request<u64> {
    let how = How::Redo;
    Request::Resume { key, how }
}

/// Up to the list, which is answered with this page.
fn listed(items: &[Item<u64>], more: bool) -> Host {
    let mut host = Host::led(34, 9_000);
    let (ticket, _) = host.until(|request| matches!(request, Request::List { .. }))[0];
    host.answer(ticket, page(items, more));
    host
}

#[test]
fn the_steps_come_in_their_order_and_each_waits_for_all_of_the_last() {
    let mut host = Host::led(34, 9_000);
    let fences = host.asks();
    let wants: Vec<_> = fences.iter().map(|(_, request)| request.clone()).collect();
    assert_eq!(wants, [Request::Fence(0), Request::Fence(1)]);
    host.answer(fences[1].0, Reply::Fenced);
    assert_eq!(host.asks(), [], "nothing before all are fenced");
    host.answer(fences[0].0, Reply::Fenced);
    let (watch, request) = host.ask();
    assert_eq!(request, Request::Watch);
    host.answer(watch, Reply::Watching);
    let reads = host.asks();
    assert_eq!(
        (&reads[0].1, &reads[1].1),
        (&Request::Read(0), &Request::Read(1))
    );
    host.answer(reads[0].0, Reply::Read);
    assert_eq!(host.asks(), []);
    host.answer(reads[1].0, Reply::Read);
    let (first, request) = host.ask();
    assert_eq!(request, list(None));
    host.answer(first, page(&[item(3, 33), item(5, 30)], true));
    let claims = host.asks();
    assert_eq!((&claims[0].1, &claims[1].1), (&claim(3, 33), &claim(5, 30)));
    host.answer(claims[1].0, Reply::Claimed);
    let (second, request) = host.ask();
    assert_eq!(request, redo(5));
    host.answer(second, Reply::Resumed);
    assert_eq!(host.asks(), [], "the page is not over");
    host.answer(claims[0].0, Reply::Claimed);
    let (third, _) = host.ask();
    host.answer(third, Reply::Resumed);
    let (next, request) = host.ask();
    assert_eq!(request, list(Some(5)));
    host.answer(next, page(&[], false));
    let (announce, request) = host.ask();
    assert_eq!((request, host.may_begin()), (Request::Announce, None));
    host.answer(announce, Reply::Announced);
    let Standing::Leading(tenure) = host.standing else {
        panic!()
    };
    assert_eq!(host.says(), [Output::Event(Event::Ready(tenure))]);
    assert_eq!(host.may_begin(), Some(ms(8_980)));
    assert_eq!(host.takeover.deadline(), Some(ms(8_980)));
    assert_eq!(host.takeover.refusals().total(), 0);
}

#[test]
fn every_request_shows_the_pass_of_the_tenure() {
    let mut host = Host::led(34, 9_000);
    let says = host.says();
    let pass = host.pass();
    assert_eq!(
        (pass.token, pass.holder, pass.election),
        (token(34), config().holder, config().election)
    );
    for output in says {
        assert!(matches!(output, Output::Request(_, shown, _) if shown == pass));
    }
}

#[test]
fn what_is_unknown_or_not_done_is_asked_again_and_a_late_answer_counts() {
    let mut host = Host::led(34, 9_000);
    let fences = host.asks();
    host.unknown(fences[0].0);
    host.answer(fences[1].0, Reply::NotDone);
    assert_eq!(
        (host.asks(), host.takeover.deadline()),
        (vec![], Some(ms(10)))
    );
    host.at(10);
    let again = host.asks();
    assert_eq!(
        (&again[0].1, &again[1].1),
        (&Request::Fence(0), &Request::Fence(1))
    );
    // One that says nothing is asked again when patience ends.
    host.answer(again[0].0, Reply::Fenced);
    host.at(109);
    assert_eq!(host.asks(), []);
    host.at(110);
    let (third, request) = host.ask();
    assert_eq!(request, Request::Fence(1));
    // What an earlier ask is answered is as good; and once answered, no answer counts.
    host.answer(fences[1].0, Reply::Fenced);
    assert_eq!(host.wants(), [Request::Watch]);
    for late in [third, again[1].0, fences[0].0] {
        host.answer(late, Reply::Fenced);
    }
    assert_eq!(host.takeover.refusals().count(Refusal::UnknownTicket), 3);
    assert_eq!(host.asks(), []);
}

/// What takes many times as long as it is waited for comes through, and so does a drain that its host answers once.
#[test]
fn the_first_ask_is_not_forgotten_however_often_it_is_repeated() {
    let mut host = Host::led(34, 9_000);
    let fences = host.asks();
    for millis in (100..=700).step_by(100) {
        host.at(millis);
        assert_eq!(host.asks().len(), fences.len());
    }
    for (ticket, request) in fences {
        host.answer(ticket, good(&request));
    }
    host.serve();
    host.at(1_000);
    host.hand(Input::HandOver);
    let (drain, _) = host.ask();
    for millis in (1_100..1_500).step_by(100) {
        host.at(millis);
        host.ask();
    }
    host.at(1_490);
    host.answer(drain, Reply::Stopped);
    assert_eq!(host.says(), [Output::Resign(Because::HandedOver)]);
    assert_eq!(host.takeover.refusals().total(), 0);
}

#[test]
fn who_owns_an_item_decides_what_a_claim_that_failed_means() {
    // The own token: an earlier ask came through (LS-R4).
    let mut host = listed(&[item(3, 33)], false);
    let (ticket, _) = host.ask();
    host.answer(ticket, Reply::Owned(token(34)));
    assert_eq!(host.wants(), [redo(3)]);
    // An older one, that took it meanwhile: it is taken from that.
    let mut host = listed(&[item(3, 31)], false);
    let (ticket, _) = host.ask();
    host.answer(ticket, Reply::Owned(token(33)));
    let (ticket, request) = host.ask();
    assert_eq!(request, claim(3, 33));
    // It is finished: no matter.
    host.answer(ticket, Reply::Gone);
    assert_eq!(host.wants(), [Request::Announce]);
    // A newer one: this leader was overtaken.
    let mut host = listed(&[item(3, 31)], false);
    let (ticket, _) = host.ask();
    host.answer(ticket, Reply::Owned(token(35)));
    assert_eq!(host.resigns(), Some(Because::Overtaken));
    // The one that was named: that is no answer.
    let mut host = listed(&[item(3, 31)], false);
    let (ticket, _) = host.ask();
    host.answer(ticket, Reply::Owned(token(31)));
    assert_eq!(host.takeover.refusals().count(Refusal::WrongAnswer), 1);
    host.at(10);
    assert_eq!(host.wants(), [claim(3, 31)]);
}

#[test]
fn work_of_a_later_term_in_the_list_says_that_another_leads() {
    let mut host = listed(&[item(3, 33), item(4, 35)], false);
    assert_eq!(host.resigns(), Some(Because::Overtaken));
}

#[test]
fn the_work_says_whether_it_is_redone() {
    for (policy, how) in [
        (Policy::Idempotent, How::Redo),
        (Policy::AtLeastOnce, How::Redo),
        (Policy::AtMostOnce, How::Doubt),
    ] {
        let mut host = listed(
            &[Item {
                policy,
                ..item(3, 33)
            }],
            false,
        );
        let (ticket, _) = host.ask();
        host.answer(ticket, Reply::Claimed);
        assert_eq!(host.wants(), [Request::Resume { key: 3, how }]);
        // What is marked does not run.
        assert_eq!(host.may_go_on().is_some(), how == How::Redo);
        assert_eq!(host.may_begin(), None);
    }
}

#[test]
fn a_page_that_cannot_be_is_refused_and_asked_again() {
    let bad = [
        (
            page(&[item(1, 1), item(2, 1), item(3, 1)], false),
            Refusal::PageTooLong,
        ),
        (
            page(&[item(2, 1), item(1, 1)], false),
            Refusal::PageOutOfOrder,
        ),
        (
            page(&[item(2, 1), item(2, 1)], false),
            Refusal::PageOutOfOrder,
        ),
        (page(&[], true), Refusal::WrongAnswer),
        (Reply::Fenced, Refusal::WrongAnswer),
    ];
    for (reply, reason) in bad {
        let mut host = Host::led(34, 9_000);
        let (ticket, _) = host.until(|request| matches!(request, Request::List { .. }))[0];
        host.answer(ticket, reply);
        assert_eq!(
            (host.asks(), host.takeover.refusals().count(reason)),
            (vec![], 1)
        );
        host.at(10);
        assert_eq!(host.wants(), [list(None)]);
    }
    // Nor may a page begin with what was listed before.
    let mut host = listed(&[item(3, 34)], true);
    let (ticket, request) = host.ask();
    assert_eq!(request, list(Some(3)));
    host.answer(ticket, page(&[item(3, 33)], false));
    assert_eq!(host.takeover.refusals().count(Refusal::PageOutOfOrder), 1);
}

/// Each request of a takeover, as the only one that is not answered yet.
fn each_step() -> Vec<(Host, Ticket, Request<u64>)> {
    let stops: [fn(&Request<u64>) -> bool; 7] = [
        |request| matches!(request, Request::Fence(1)),
        |request| *request == Request::Watch,
        |request| matches!(request, Request::Read(1)),
        |request| matches!(request, Request::List { .. }),
        |request| matches!(request, Request::Claim { .. }),
        |request| matches!(request, Request::Resume { .. }),
        |request| *request == Request::Announce,
    ];
    let step = |stop: &fn(&Request<u64>) -> bool| {
        let mut host = Host::led(34, 9_000);
        loop {
            for (ticket, request) in host.asks() {
                if stop(&request) {
                    return (host, ticket, request);
                }
                let reply = match request {
                    Request::List { .. } => page(&[item(3, 33)], false),
                    other => good(&other),
                };
                host.answer(ticket, reply);
            }
        }
    };
    stops.iter().map(step).collect()
}

#[test]
fn whatever_cannot_be_done_or_is_refused_makes_it_resign() {
    let stale = Refused::Stale { highest: token(35) };
    for (reply, because) in [
        (Reply::Failed, Because::Failed),
        (Reply::Refused(stale), Because::Overtaken),
        (Reply::Refused(Refused::Closed), Because::Failed),
    ] {
        for (mut host, ticket, request) in each_step() {
            let works = host.may_go_on().is_some();
            assert_eq!(
                works,
                matches!(request, Request::Resume { .. } | Request::Announce)
            );
            host.answer(ticket, reply.clone());
            let says = host.says();
            assert!(
                matches!(says.last(), Some(Output::Resign(why)) if *why == because),
                "{request:?}: {says:?}"
            );
            // What runs already is stopped first, and nothing else is asked.
            assert_eq!(says.len(), 1 + usize::from(works), "{says:?}");
            assert_eq!((host.may_go_on(), host.may_begin()), (None, None));
            // Until the election is rid of the tenure, it says so.
            host.at(9);
            assert_eq!(host.resigns(), None);
            host.at(10);
            assert_eq!(host.resigns(), Some(because));
            host.lose();
            assert!(host.says().contains(&Output::Event(Event::Over(token(34)))));
        }
    }
}

#[test]
fn what_is_not_settled_within_the_limit_makes_it_resign() {
    for (mut host, _, request) in each_step() {
        host.at(999);
        assert_eq!(host.resigns(), None, "{request:?}");
        host.at(1_000);
        assert_eq!(host.resigns(), Some(Because::TooLong), "{request:?}");
    }
}

#[test]
fn a_deposition_at_any_instant_ends_it_and_the_next_tenure_begins_from_the_fence() {
    for (mut host, ticket, request) in each_step() {
        let works = host.may_go_on().is_some();
        host.lose();
        let says = host.says();
        assert_eq!(
            says[0],
            Output::Event(Event::Over(token(34))),
            "{request:?}"
        );
        let stops = matches!(says[..], [_, Output::Request(_, pass, Request::Stop)] if pass.token == token(34));
        assert_eq!((stops, says.len()), (works, 1 + usize::from(works)));
        // What comes late is of no tenure.
        host.answer(ticket, good(&request));
        assert_eq!((host.asks(), host.takeover.refusals().total()), (vec![], 1));
        // The same token does not come back (C4), a higher one begins anew.
        host.lead(34, 9_500);
        let says = host.says();
        assert_eq!(says, [Output::Resign(Because::Revived)]);
        assert_eq!((host.may_begin(), host.may_go_on()), (None, None));
        host.lose();
        assert_eq!(host.says(), [], "it was over before");
        host.lead(36, 9_500);
        let fences = host.wants();
        assert_eq!(fences, [Request::Fence(0), Request::Fence(1)]);
    }
}

#[test]
fn lost_and_won_again_between_two_looks_is_two_tenures() {
    let mut host = Host::led(34, 9_000);
    host.serve();
    host.lead(36, 9_900);
    let says = host.says();
    assert_eq!(says[0], Output::Event(Event::Over(token(34))));
    let [
        _,
        Output::Request(_, stop, Request::Stop),
        Output::Request(_, fence, Request::Fence(0)),
        ..,
    ] = says[..]
    else {
        panic!("{says:?}")
    };
    assert_eq!((stop.token, fence.token), (token(34), token(36)));
}

#[test]
fn a_tenure_lapses_by_the_clock_alone_with_every_answer_missing() {
    for (mut host, ticket, request) in each_step() {
        host.now = ms(9_000);
        host.answer(ticket, good(&request));
        let says = host.says();
        assert_eq!(
            says[0],
            Output::Event(Event::Over(token(34))),
            "{request:?}: {says:?}"
        );
    }
}

#[test]
fn the_hard_deadline_of_work_lies_before_the_end_and_rises_with_it() {
    let mut host = Host::led(34, 9_000);
    host.serve();
    host.lead(34, 9_500);
    assert_eq!(
        (host.may_begin(), host.may_go_on()),
        (Some(ms(9_480)), Some(ms(9_480)))
    );
    host.now = ms(9_480);
    assert_eq!((host.may_begin(), host.may_go_on()), (None, None));
    // The clock goes back: it is read as the latest it was.
    host.look();
    assert_eq!(host.resigns(), Some(Because::CutShort));
    host.now = ms(9_000);
    assert_eq!(host.may_go_on(), None);
}

#[test]
fn a_permit_is_for_the_standing_that_is_shown_now() {
    let mut host = Host::led(34, 9_000);
    host.serve();
    for standing in [
        Standing::Unknown,
        Standing::Leading(Tenure {
            token: token(35),
            until: ms(9_000),
        }),
    ] {
        assert_eq!(host.takeover.may_begin(host.now, standing), None);
        assert_eq!(host.takeover.may_go_on(host.now, standing), None);
    }
}

#[test]
fn a_leader_without_a_lease_has_no_hard_deadline() {
    let mut host = Host::new();
    host.standing = Standing::Leading(Tenure {
        token: token(3),
        until: Instant::FOREVER,
    });
    host.look();
    host.serve();
    assert_eq!(
        (host.may_begin(), host.takeover.deadline()),
        (Some(Instant::FOREVER), None)
    );
}

#[test]
fn what_changes_is_listed_again_and_the_own_work_is_left_alone() {
    let mut host = Host::led(34, 9_000);
    let (watch, _) = host.until(|request| *request == Request::Watch)[0];
    host.answer(watch, Reply::Watching);
    let (listing, _) = host.until(|request| matches!(request, Request::List { .. }))[0];
    // While it takes over: it is looked again when that is done.
    host.answer(watch, Reply::Changed);
    host.answer(listing, page(&[], false));
    let (announce, request) = host.ask();
    assert_eq!(request, Request::Announce);
    host.answer(announce, Reply::Announced);
    let says = host.says();
    let [
        Output::Event(Event::Ready(_)),
        Output::Request(ticket, _, Request::List { after: None, .. }),
    ] = says[..]
    else {
        panic!("{says:?}")
    };
    host.answer(ticket, page(&[item(3, 34), item(4, 0)], false));
    let (ticket, request) = host.ask();
    assert_eq!(request, claim(4, 0));
    assert!(host.may_begin().is_some(), "it serves meanwhile");
    host.answer(ticket, Reply::Claimed);
    let (ticket, _) = host.ask();
    host.answer(ticket, Reply::Resumed);
    assert_eq!(host.says(), [], "ready once");
    // And whenever it is told.
    host.answer(watch, Reply::Changed);
    assert_eq!(host.wants(), [list(None)]);
}

#[test]
fn a_watch_that_is_lost_is_made_anew_before_it_is_listed() {
    let mut host = Host::led(34, 9_000);
    let (watch, _) = host.until(|request| *request == Request::Watch)[0];
    host.answer(watch, Reply::Watching);
    host.serve();
    host.unknown(watch);
    assert_eq!(host.asks(), [], "not in the same breath");
    host.at(10);
    let (anew, request) = host.ask();
    assert_eq!(request, Request::Watch);
    host.answer(anew, Reply::Watching);
    let (listing, request) = host.ask();
    assert_eq!(request, list(None), "what it has read is its own");
    host.answer(listing, page(&[], false));
    assert_eq!(host.asks(), []);
    // Whoever was told it too late is told it all the same.
    host.answer(watch, Reply::Changed);
    assert_eq!(host.wants(), [list(None)]);
    assert_eq!(host.takeover.refusals().total(), 0);
}

/// A host keeps one registration, the first or the last: it tells under the ticket of that.
#[test]
fn of_a_watch_that_was_asked_twice_every_ticket_tells() {
    for answered in [0, 1] {
        let mut host = Host::led(34, 9_000);
        let (first, _) = host.until(|request| *request == Request::Watch)[0];
        host.at(100);
        let (second, _) = host.ask();
        let tickets = [first, second];
        host.answer(tickets[answered], Reply::Watching);
        host.serve();
        for ticket in tickets {
            host.answer(ticket, Reply::Changed);
            let (listing, request) = host.ask();
            assert_eq!(request, list(None));
            host.answer(listing, page(&[], false));
        }
        assert_eq!(host.takeover.refusals().total(), 0);
    }
}

#[test]
fn a_watch_that_is_lost_before_the_list_is_made_anew_after_it() {
    let stops: [fn(&Request<u64>) -> bool; 2] = [
        |request| matches!(request, Request::Read(_)),
        |request| matches!(request, Request::List { .. }),
    ];
    for stop in stops {
        let mut host = Host::led(34, 9_000);
        let (watch, _) = host.until(|request| *request == Request::Watch)[0];
        host.answer(watch, Reply::Watching);
        let open = host.until(stop);
        host.unknown(watch);
        for (ticket, request) in open {
            host.answer(ticket, good(&request));
        }
        let (announce, _) = host.until(|request| *request == Request::Announce)[0];
        host.answer(announce, Reply::Announced);
        let says = host.says();
        assert!(
            matches!(says[..], [Output::Event(Event::Ready(_))]),
            "{says:?}"
        );
        host.at(10);
        assert_eq!(host.wants(), [Request::Watch]);
    }
}

#[test]
fn a_watch_that_the_guard_refuses_says_that_another_leads() {
    let mut host = Host::led(34, 9_000);
    let (watch, _) = host.until(|request| *request == Request::Watch)[0];
    host.answer(watch, Reply::Watching);
    host.serve();
    let stale = Refused::Stale { highest: token(35) };
    host.answer(watch, Reply::Refused(stale));
    assert_eq!(host.resigns(), Some(Because::Overtaken));
}

#[test]
fn a_tenure_without_a_token_is_none_to_take_over_with() {
    let mut host = Host::led(0, 9_000);
    assert_eq!(host.resigns(), Some(Because::NoToken));
    host.lose();
    assert_eq!(host.says(), [Output::Event(Event::Over(Token::NONE))]);
}

#[test]
fn with_nothing_to_fence_the_watch_is_first() {
    let mut config = config();
    config.resources = 0;
    let mut host = Host::with(config);
    host.lead(34, 9_000);
    assert_eq!(host.wants(), [Request::Watch]);
    host.at(100);
    let (watch, _) = host.ask();
    host.answer(watch, Reply::Watching);
    assert_eq!(host.wants(), [list(None)]);
}

#[test]
fn with_a_rule_off_the_step_is_as_it_says() {
    let lead = Standing::Leading(Tenure {
        token: token(34),
        until: ms(9_000),
    });
    let asked = |takeover: &mut Takeover<u64, Switched>| {
        let mut asked = Vec::new();
        while let Some(output) = takeover.poll() {
            let Output::Request(ticket, _, request) = output else {
                continue;
            };
            let reply = match request {
                Request::List { .. } => {
                    let policy = Policy::AtMostOnce;
                    page(
                        &[
                            Item {
                                policy,
                                ..item(3, 33)
                            },
                            item(5, 34),
                        ],
                        false,
                    )
                }
                ref other => good(other),
            };
            asked.push(request);
            takeover.handle(ms(0), lead, Input::Reply(ticket, Ok(reply)));
        }
        asked
    };
    let without = |rule| {
        let mut takeover = Takeover::with_rules(config(), Switched::without(&[rule])).unwrap();
        takeover.handle(ms(0), lead, Input::Look);
        asked(&mut takeover)
    };
    let doubt = Request::Resume {
        key: 3,
        how: How::Doubt,
    };
    let fenced = |asked: &[Request<u64>]| asked.contains(&Request::Fence(0));
    let asked = without(Rule::FenceBeforeRead);
    assert!(!fenced(&asked) && asked.contains(&doubt));
    let asked = without(Rule::CompareAndSwapOwner);
    assert!(fenced(&asked) && asked.contains(&doubt) && !asked.contains(&claim(3, 33)));
    let asked = without(Rule::IdempotentTakeover);
    assert!(asked.contains(&claim(3, 33)) && asked.contains(&redo(3)));
    let asked = without(Rule::OnlyOthers);
    assert!(asked.contains(&claim(5, 34)) && asked.contains(&redo(5)));
    let asked = without(Rule::FenceAtResource);
    assert!(fenced(&asked) && !asked.contains(&claim(5, 34)));
}

#[test]
fn a_hand_over_finishes_what_runs_and_then_resigns() {
    let mut host = Host::led(34, 9_000);
    host.serve();
    host.hand(Input::HandOver);
    let (drain, request) = host.ask();
    assert_eq!(request, Request::Drain(ms(500)));
    // No new work; what runs goes on.
    assert_eq!((host.may_begin(), host.may_go_on()), (None, Some(ms(500))));
    host.hand(Input::HandOver);
    assert_eq!(host.asks(), []);
    host.at(300);
    host.asks();
    host.answer(drain, Reply::Stopped);
    assert_eq!(host.says(), [Output::Resign(Because::HandedOver)]);
    assert_eq!((host.may_go_on(), host.takeover.may_leave()), (None, false));
    host.lose();
    assert_eq!(host.says(), [Output::Event(Event::Over(token(34)))]);
    assert!(host.takeover.may_leave());
}

#[test]
fn a_hand_over_has_a_hard_deadline_before_the_tenure_ends() {
    // The tenure is not renewed: what runs has until its hard deadline, not as long as was meant.
    let mut host = Host::led(34, 300);
    host.serve();
    host.hand(Input::HandOver);
    assert_eq!(host.wants(), [Request::Drain(ms(500))]);
    assert_eq!(
        (host.may_go_on(), host.takeover.deadline()),
        (Some(ms(280)), Some(ms(100)))
    );
    host.at(280);
    assert_eq!(
        (host.may_go_on(), host.wants()),
        (None, vec![Request::Stop])
    );
    // It has said how long it takes to stop: that is until the end of the tenure, and the guard has the rest.
    host.at(300);
    assert_eq!(host.says(), [Output::Event(Event::Over(token(34)))]);
    assert!(!host.takeover.may_leave(), "not before it has stopped");
}

#[test]
fn a_tenure_that_is_renewed_while_it_hands_over_lets_work_finish() {
    let mut host = Host::led(34, 300);
    host.serve();
    host.hand(Input::HandOver);
    host.asks();
    host.lead(34, 600);
    assert_eq!(host.may_go_on(), Some(ms(500)));
    host.at(280);
    assert!(!host.wants().contains(&Request::Stop));
    host.at(500);
    assert_eq!(host.wants().last(), Some(&Request::Stop));
    // A renewal that comes after the hard deadline brings no work back.
    let mut late = Host::led(34, 300);
    late.serve();
    late.hand(Input::HandOver);
    late.at(280);
    let (stop, _) = late.asks().pop().unwrap();
    late.lead(34, 9_000);
    assert_eq!((late.says(), late.may_go_on()), (vec![], None));
    late.answer(stop, Reply::Stopped);
    assert_eq!(late.says(), [Output::Resign(Because::HandedOver)]);
}

#[test]
fn work_that_does_not_drain_is_stopped_and_work_that_does_not_stop_is_left_to_the_guard() {
    let mut host = Host::led(34, 9_000);
    host.serve();
    host.hand(Input::HandOver);
    host.at(500);
    let says = host.asks();
    let (stop, request) = &says[says.len() - 1];
    assert_eq!(*request, Request::Stop);
    let stop = *stop;
    assert_eq!(host.takeover.deadline(), Some(ms(520)));
    let mut slow = Host {
        takeover: host.takeover.clone(),
        ..host
    };
    host.at(510);
    host.answer(stop, Reply::Stopped);
    assert_eq!(host.resigns(), Some(Because::HandedOver));
    slow.at(520);
    assert_eq!(slow.resigns(), Some(Because::HandedOver));
}

#[test]
fn without_work_that_runs_a_hand_over_is_to_resign() {
    let mut host = Host::led(34, 9_000);
    host.asks();
    host.hand(Input::HandOver);
    assert_eq!(host.says(), [Output::Resign(Because::HandedOver)]);
    let mut idle = Host::new();
    idle.hand(Input::HandOver);
    assert_eq!(idle.says(), []);
    assert!(idle.takeover.may_leave());
}

#[test]
fn an_effect_that_the_guard_refuses_ends_the_leading_of_who_was_overtaken() {
    let mut host = Host::led(34, 9_000);
    host.serve();
    let stale = Refused::Stale { highest: token(36) };
    host.hand(Input::Refused(token(34), stale));
    let says = host.says();
    let [
        Output::Request(_, _, Request::Stop),
        Output::Resign(Because::Overtaken),
    ] = says[..]
    else {
        panic!("{says:?}")
    };
    assert_eq!(host.may_go_on(), None);
}

/// The node leads again, with a higher token, and has fenced with it: an effect of its former tenure arrives after that.
#[test]
fn what_is_refused_of_a_former_tenure_is_no_matter_to_the_next() {
    let mut host = Host::led(34, 9_000);
    host.serve();
    host.lose();
    host.says();
    let stale = Refused::Stale { highest: token(36) };
    host.hand(Input::Refused(token(34), stale));
    host.lead(36, 9_900);
    host.says();
    host.hand(Input::Refused(token(34), stale));
    assert_eq!(host.says(), []);
    host.hand(Input::Refused(token(36), Refused::Closed));
    assert_eq!(host.resigns(), Some(Because::Failed));
}
