//! The timelines of the reports, each with the takeover and a guard; and what becomes of it without.

use crate::host::{Host, config, good, item, ms, token};
use tenure::fence::{ElectionId, Fence, Holder, Pass, Refused};
use tenure::takeover::{Because, Event, Input, Output, Reply, Request, Rule, Switched, Takeover};
use tenure::{NodeId, Standing, Tenure, Token};

const ELECTION: ElectionId = ElectionId(1);

fn pass(node: u64, counter: u64) -> Pass {
    Pass {
        election: ELECTION,
        token: token(counter),
        holder: Holder {
            node: NodeId(node),
            incarnation: 7,
        },
    }
}

fn stale(highest: u64) -> Refused {
    Refused::Stale {
        highest: token(highest),
    }
}

/// LS-F1, in seconds. The first leader, with token 33, freezes at 1; its lease ends at 10; the second, with 34, writes at 12; the first
/// wakes at 20 and writes: refused, whatever it believes. Told of it, it stops.
#[test]
fn a_leader_that_slept_does_not_write_over_its_successor() {
    let mut guard = Fence::unused(ELECTION);
    let mut first = Host::led(33, 10_000);
    first.serve();
    let shown = first.pass();
    let _ = guard.admit(&shown).unwrap();
    let _ = guard.fence(&pass(2, 34)).unwrap();
    let _ = guard.admit(&pass(2, 34)).unwrap();
    let refused = guard.admit(&shown).unwrap_err();
    assert_eq!(refused, stale(34));
    // And by its own clock, before it writes at all.
    first.now = ms(20_000);
    assert_eq!(first.may_go_on(), None);
    first.hand(Input::Refused(shown.token, refused));
    let says = first.says();
    assert_eq!(
        says[0],
        Output::Event(Event::Over(token(33))),
        "the clock was first: {says:?}"
    );
    let mut off = Fence::with_rules(ELECTION, Switched::without(&[Rule::FenceAtResource]));
    let _ = off.admit(&pass(2, 34)).unwrap();
    assert!(off.admit(&shown).is_ok(), "without the rule it gets in");
}

/// LS-F2. The first need not sleep: it writes at 2 with a permit, and the packet arrives at 20.
#[test]
fn a_write_that_was_allowed_and_is_late_is_refused_where_it_arrives() {
    let mut guard = Fence::unused(ELECTION);
    let mut first = Host::led(33, 10_000);
    first.serve();
    let permit = first.takeover.may_go_on(ms(2_000), first.standing).unwrap();
    let _ = guard.fence(&pass(2, 34)).unwrap();
    assert_eq!(guard.admit(&permit.pass), Err(stale(34)));
}

/// A counter behind a guard, and what a leader does with it: reads, and writes one more.
struct Counter {
    guard: Fence,
    value: u64,
}

impl Counter {
    fn write(&mut self, pass: &Pass, value: u64) -> Result<(), Refused> {
        let _ = self.guard.admit(pass)?;
        self.value = value;
        Ok(())
    }
}

/// Takes over with these rules; at the instant after each read the predecessor's write arrives. The counter at the end, and
/// whether that write was accepted.
fn race(rules: Switched) -> (u64, bool) {
    let guard = Fence::unused(ELECTION);
    let mut counter = Counter { guard, value: 10 };
    let old = pass(1, 33);
    counter.write(&old, 10).unwrap();
    let mut config = config();
    config.holder.node = NodeId(2);
    config.resources = 1;
    let standing = Standing::Leading(Tenure {
        token: token(34),
        until: ms(9_000),
    });
    let mut takeover = Takeover::<u64, _>::with_rules(config, rules).unwrap();
    takeover.handle(ms(0), standing, Input::Look);
    let (mut read, mut accepted) = (0, false);
    while let Some(output) = takeover.poll() {
        let Output::Request(ticket, pass, request) = output else {
            continue;
        };
        let reply = match request {
            Request::Fence(_) => counter
                .guard
                .fence(&pass)
                .map_or_else(Reply::Refused, |_| Reply::Fenced),
            Request::Read(_) => {
                read = counter.value;
                accepted = counter.write(&old, 11).is_ok();
                Reply::Read
            }
            other => good(&other),
        };
        takeover.handle(ms(0), standing, Input::Reply(ticket, Ok(reply)));
    }
    let permit = takeover.may_begin(ms(0), standing).unwrap();
    counter.write(&permit.pass, read + 1).unwrap();
    (counter.value, accepted)
}

/// LS-F5. The new leader reads, the old one's write arrives, the new one writes from what it read: a write that was accepted
/// is lost, guard or not, unless it fenced before it read.
#[test]
fn who_reads_before_it_fences_loses_a_write_that_was_accepted() {
    assert_eq!(race(Switched::default()), (11, false));
    let off = Switched::without(&[Rule::FenceBeforeRead]);
    assert_eq!(
        race(off),
        (11, true),
        "two writes were accepted, and one is there"
    );
}

/// LS-F6. A random token that is installed and then compared: the first leader installs it late, over its successor's.
/// Tokens that have an order are installed upwards only.
#[test]
fn a_token_that_is_installed_late_does_not_shut_out_its_successor() {
    // The alternative: the owner is whoever installed itself last, and writes are compared with that.
    let mut owner = 0;
    let mut install = |random: u64| owner = random;
    install(0x5eed); // the second leader works
    install(0xa11); // the first wakes in the middle of its election, and goes on with that
    assert_eq!(owner, 0xa11, "nothing tells that this one is older");
    let mut guard = Fence::unused(ELECTION);
    let _ = guard.fence(&pass(2, 34)).unwrap();
    assert_eq!(guard.fence(&pass(1, 33)), Err(stale(34)));
    // What a takeover makes of that: it resigns, and has read nothing.
    let mut first = Host::led(33, 9_000);
    let (fence, _) = first.asks()[0];
    first.answer(fence, Reply::Refused(stale(34)));
    assert_eq!(first.says(), [Output::Resign(Because::Overtaken)]);
}

/// LS-55, evolution-gaming/kafka-flow PR 828 (issue 732). On losing a partition the old owner wrote its state once more, over
/// the newer one of its successor. Here the loss of a tenure asks to stop and not to drain; and what is written all the
/// same does not get in.
#[test]
fn who_loses_the_tenure_saves_nothing() {
    let mut guard = Fence::unused(ELECTION);
    let mut old = Host::led(33, 9_000);
    old.serve();
    let shown = old.pass();
    let _ = guard.admit(&shown).unwrap();
    let _ = guard.fence(&pass(2, 34)).unwrap();
    let _ = guard.admit(&pass(2, 34)).unwrap();
    old.lose();
    let says = old.says();
    let [
        Output::Event(Event::Over(_)),
        Output::Request(_, _, Request::Stop),
    ] = says[..]
    else {
        panic!("{says:?}")
    };
    assert_eq!(old.may_go_on(), None);
    assert_eq!(guard.admit(&shown), Err(stale(34)));
    // Who hands over in time writes its state while it may.
    let mut going = Host::led(35, 9_000);
    going.serve();
    going.hand(Input::HandOver);
    assert!(matches!(going.wants()[..], [Request::Drain(_)]));
    assert!(going.may_go_on().is_some());
}

/// LS-11, cilium/cilium PR 42920, kyverno/kyverno PR 14984, elastic/beats#38543: work outlived the leadership it belonged to.
/// Here a process that leads again takes over nothing, and serves nobody, until what it ran before has stopped.
#[test]
fn work_of_the_last_tenure_has_stopped_before_any_of_the_next_begins() {
    let mut host = Host::led(34, 9_000);
    host.serve();
    host.lose();
    let says = host.says();
    let [_, Output::Request(stop, _, Request::Stop)] = says[..] else {
        panic!("{says:?}")
    };
    assert!(!host.takeover.may_leave());
    host.lead(36, 9_900);
    // It fences at once, for that shuts the old work out; it reads, and there it waits.
    let reads = host.until(|request| matches!(request, Request::Read(_)));
    for (ticket, _) in reads {
        host.answer(ticket, Reply::Read);
    }
    assert_eq!((host.wants(), host.may_go_on()), (vec![], None));
    // Asked again, as long as nobody says that it has.
    host.at(100);
    assert_eq!(host.wants(), [Request::Stop]);
    let mut stuck = Host {
        takeover: host.takeover.clone(),
        ..host
    };
    host.answer(stop, Reply::Stopped);
    let (list, _) = host.ask();
    let items = vec![item(3, 34)];
    host.answer(list, Reply::Page { items, more: false });
    // What it was cut off at itself is another term's work like any other.
    assert!(matches!(host.wants()[..], [Request::Claim { key: 3, from }] if from == token(34)));
    // What never stops keeps the process from leading, and others lead.
    stuck.at(1_000);
    assert_eq!(stuck.resigns(), Some(Because::TooLong));
}

/// The store of the election is restored from a backup, and its counter falls back: every resource refuses whoever it elects,
/// until an operator raises the generation. Then a low counter is above every one of before, at the guards and in the table
/// of the work.
#[test]
fn a_store_that_fell_back_leads_nobody_until_the_generation_is_raised() {
    let mut guard = Fence::unused(ELECTION);
    let _ = guard.admit(&pass(2, 34)).unwrap();
    let mut fallen = Host::led(20, 9_000);
    let (fence, _) = fallen.asks()[0];
    let refused = guard.fence(&fallen.pass()).unwrap_err();
    fallen.answer(fence, Reply::Refused(refused));
    assert_eq!(fallen.says(), [Output::Resign(Because::Overtaken)]);
    let mut raised = Host::new();
    let own = Token::new(1, 20);
    raised.standing = Standing::Leading(Tenure {
        token: own,
        until: ms(9_000),
    });
    raised.look();
    assert!(guard.fence(&raised.pass()).is_ok());
    assert_eq!(
        guard.admit(&pass(2, 35)),
        Err(Refused::Stale { highest: own })
    );
    let (list, _) = raised.until(|request| matches!(request, Request::List { .. }))[0];
    let (items, more) = (vec![item(3, 34)], false);
    raised.answer(list, Reply::Page { items, more });
    let (claim, request) = raised.ask();
    assert!(matches!(request, Request::Claim { key: 3, from } if from == token(34)));
    // Whoever still leads by the store of before has it now: that is no later term.
    raised.answer(claim, Reply::Owned(token(35)));
    assert!(matches!(raised.wants()[..], [Request::Claim { key: 3, from }] if from == token(35)));
}

/// A resource is restored from a backup that was made before its guard was raised. With the record of the backup it lets the
/// old leader in; without one nobody gets in, and the leader of the day resigns, until the guard is opened with its token.
#[test]
fn a_resource_that_is_restored_does_not_let_the_old_leader_in() {
    let mut guard = Fence::unused(ELECTION);
    let backup = guard.admit(&pass(1, 33)).unwrap();
    let _ = guard.fence(&pass(2, 34)).unwrap();
    let mut believed = Fence::restore(ELECTION, Some(backup));
    assert!(
        believed.admit(&pass(1, 33)).is_ok(),
        "it does not know of 34"
    );
    let mut closed = Fence::restore(ELECTION, None);
    for shown in [pass(1, 33), pass(2, 34)] {
        assert_eq!(closed.admit(&shown), Err(Refused::Closed));
    }
    let mut leader = Host::led(34, 9_000);
    leader.serve();
    leader.hand(Input::Refused(token(34), Refused::Closed));
    assert_eq!(leader.resigns(), Some(Because::Failed));
    let _ = closed.reopen(&pass(3, 35)).unwrap();
    assert_eq!(closed.admit(&pass(1, 33)), Err(stale(35)));
    assert_eq!(closed.admit(&pass(2, 34)), Err(stale(35)));
}

/// Two that were elected with one token, by a store that fell back, take over at once. Whichever fences a resource first has
/// it: with several resources both may be refused, and neither reads.
#[test]
fn of_two_with_one_token_none_reads_what_the_other_has_fenced() {
    for order in [
        [(0, 0), (0, 1), (1, 0), (1, 1)],
        [(0, 0), (1, 1), (0, 1), (1, 0)],
    ] {
        let mut guards = [Fence::unused(ELECTION), Fence::unused(ELECTION)];
        let mut hosts = [1, 2].map(|node| {
            let mut config = config();
            config.holder.node = NodeId(node);
            let mut host = Host::with(config);
            host.lead(34, 9_000);
            host
        });
        let asked = [hosts[0].asks(), hosts[1].asks()];
        let passes = [hosts[0].pass(), hosts[1].pass()];
        let mut resigned = [false; 2];
        for (who, resource) in order {
            let fenced = guards[resource].fence(&passes[who]);
            let reply = fenced.map_or_else(Reply::Refused, |_| Reply::Fenced);
            hosts[who].answer(asked[who][resource].0, reply);
            for said in hosts[who].says() {
                match said {
                    Output::Resign(Because::Overtaken) => resigned[who] = true,
                    Output::Request(_, _, Request::Watch) => {}
                    other => panic!("{other:?}"),
                }
            }
        }
        let both = order[1] == (1, 1);
        assert_eq!(resigned, [both, true]);
    }
}
