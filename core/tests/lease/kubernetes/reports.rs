//! By hand: what people reported of elections by a `Lease`, and what is told of objects that others touch.

use super::api::Api;
use super::config;
use super::desk::{Desk, at, by_ben, taken_by_ben};
use tenure::lease::kubernetes::{Config, LONGEST, Record, Reply, Request, Uid};
use tenure::lease::{Budget, BudgetError, Claimant, Identity, Refusal};
use tenure::{Duration, Election, Event, Input, Token, Unknown, Why};

fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// LS-1, kubernetes/kubernetes#23731, kubernetes-retired/contrib#690: whose writes are refused stops at its own deadline,
/// before another can begin, though it can read all the while.
#[test]
fn whose_writes_are_forbidden_stops_in_time() {
    let mut api = Api::default();
    let mut anna = Desk::leading(&mut api);
    anna.run(9_999, |now, request| match request {
        Request::Get => api.carry_out(now, request),
        _ => Reply::NotDone,
    });
    assert!(anna.leads(9_999) && !anna.leads(10_000));
    anna.run(20_000, |now, request| match request {
        Request::Get => api.carry_out(now, request),
        _ => Reply::NotDone,
    });
    assert_eq!(anna.deposed(), [Why::Lapsed]);
    assert!(!anna.leads(20_000));
}

/// LS-1, kubernetes/kubernetes#23731: who reads that another holds it stops at once, and says so once.
#[test]
fn reading_another_holder_ends_it_at_once() {
    let mut api = Api::default();
    let mut anna = Desk::leading(&mut api);
    taken_by_ben(&mut api);
    anna.silence(2000);
    // The conflict leads to a look.
    anna.answer(2000, &mut api);
    assert!(anna.leads(2000));
    anna.answer(2001, &mut api);
    assert!(!anna.leads(2001));
    assert_eq!(anna.machine.holder(), by_ben(15).holder);
    anna.silence(12_000);
    assert_eq!(anna.deposed(), [Why::Taken]);
}

/// LS-3, kubernetes/client-go#728, kubernetes/kubernetes#139504, kubernetes/kubernetes#139991: where nothing is answered
/// it stops by the clock, and only then tries to release.
#[test]
fn it_stops_by_the_clock_before_it_releases() {
    let mut api = Api::default();
    let mut anna = Desk::leading(&mut api);
    anna.silence(9_999);
    assert!(anna.leads(9_999) && !anna.machine.releasing());
    assert!(anna.asked.iter().all(|(_, asked)| match asked {
        Request::Update { record, .. } => record.holder.is_some(),
        _ => true,
    }));
    anna.silence(10_000);
    assert!(!anna.leads(10_000) && anna.machine.releasing());
    assert_eq!(anna.deposed(), [Why::Lapsed]);
    // The release is an attempt, and nobody waits for it longer than for the lease.
    anna.silence(30_000);
    assert!(!anna.machine.releasing());
}

/// LS-7, kubernetes/kubernetes#65094, kubernetes/kubernetes#65090, kubernetes/kubernetes#65257: one call that hangs neither
/// keeps others from being made nor moves the end.
#[test]
fn a_call_that_hangs_keeps_nothing_up() {
    let mut api = Api::default();
    let mut anna = Desk::leading(&mut api);
    anna.silence(2000);
    let (hangs, request) = anna.take();
    assert!(matches!(request, Request::Update { .. }));
    // It waited long enough: it is looked whether it came through, and tried again.
    anna.silence(4000);
    assert_eq!(anna.asked.last().unwrap().1, Request::Get);
    anna.answer(4000, &mut api);
    anna.answer(4000, &mut api);
    anna.run(9_000, |now, request| api.carry_out(now, request));
    assert!(anna.leads(15_000));
    let until = anna.machine.tenure().unwrap().until;
    anna.tell(9_000, hangs, Err(Unknown));
    assert_eq!(anna.machine.tenure().unwrap().until, until);
}

/// LS-4 (derived from `renew` and `acquire` of client-go): an answer that comes late extends from its send, or elects
/// nobody.
#[test]
fn a_late_answer_counts_from_its_send() {
    let mut api = Api::default();
    let mut anna = Desk::new("anna", 1);
    anna.answer(0, &mut api);
    let (ticket, request) = anna.take();
    let reply = api.carry_out(0, request);
    anna.tell(9_000, ticket, Ok(reply.clone()));
    assert!(anna.leads(9_999) && !anna.leads(10_000));

    let mut twin = Desk::new("anna", 1);
    twin.answer(0, &mut Api::default());
    let (ticket, _) = twin.take();
    twin.tell(20_000, ticket, Ok(reply));
    assert!(!twin.leads(20_000) && twin.deposed().is_empty());
    assert!(twin.machine.releasing());
}

/// LS-6, kubernetes/kubernetes#91966: a released record passes the validation of the API; one that is refused all the same
/// is tried again, until it is not worth it.
#[test]
fn a_release_is_valid_and_tried_until_it_is_done() {
    let mut api = Api::default();
    let mut anna = Desk::leading(&mut api);
    anna.feed(1000, Input::Resign { to: None });
    assert_eq!(anna.deposed(), [Why::Resigned]);
    for _ in 0..3 {
        let (ticket, request) = anna.take();
        assert!(matches!(&request, Request::Update { record, .. }
            if record.holder.is_none() && record.seconds == 1));
        anna.tell(1000, ticket, Ok(Reply::NotDone));
        assert!(anna.machine.releasing());
        let due = anna.machine.deadline().unwrap();
        anna.silence(due.since(at(0)).as_micros() / 1000 + 1);
    }
    anna.answer(9_000, &mut api);
    assert!(!anna.machine.releasing());
    assert_eq!(api.object.as_ref().unwrap().record.holder, None);
    // The next one need not wait.
    let mut ben = Desk::new("ben", 2);
    ben.answer(0, &mut api);
    ben.answer(0, &mut api);
    assert!(ben.leads(0));
    assert_eq!(api.object.as_ref().unwrap().record.transitions, 1);
}

/// A release that nobody answered, and that the API server gets when the next one leads, or the one after: it is in vain
/// (LS-39r, abelaska/jedis-lock#2, as it would be here; client-go's `release` updates what it has just read).
#[test]
fn a_ghost_of_a_release_frees_nobody_elses_lease() {
    let mut api = Api::default();
    let mut anna = Desk::leading(&mut api);
    anna.feed(1000, Input::Resign { to: None });
    let (_, ghost) = anna.take();
    // Nothing is heard of it until the lease is over, and ben takes it.
    let mut ben = Desk::with(config("ben"), 2, 1000);
    ben.answer(1000, &mut api);
    ben.run(40_000, |now, request| api.carry_out(now, request));
    assert!(ben.leads(40_000));
    let held = api.object.clone();
    let reply = api.carry_out(40_000_000, ghost.clone());
    assert_eq!((reply, &api.object), (Reply::Conflict, &held));
    // Nor when the object is deleted and created again, whatever its version: it is another.
    api.object = None;
    let Request::Update {
        version, record, ..
    } = ghost.clone()
    else {
        panic!("it is an update")
    };
    api.revision = version - 1;
    let by_cleo = Request::Create(Record {
        holder: by_ben(15).holder,
        ..record
    });
    api.carry_out(50_000_000, by_cleo);
    assert_eq!(api.object.as_ref().unwrap().version, version);
    assert_eq!(api.carry_out(51_000_000, ghost), Reply::Conflict);
    assert!(api.object.as_ref().unwrap().record.holder.is_some());
}

/// The same of one that led again by then, in its own record.
#[test]
fn a_ghost_of_a_release_does_not_end_the_next_tenure_of_the_same_node() {
    let mut api = Api::default();
    let mut anna = Desk::leading(&mut api);
    anna.feed(1000, Input::Resign { to: None });
    let (_, ghost) = anna.take();
    anna.run(60_000, |now, request| api.carry_out(now, request));
    assert!(anna.leads(60_000));
    let held = api.object.clone();
    assert_eq!(api.carry_out(60_000_000, ghost), Reply::Conflict);
    assert_eq!(api.object, held);
}

/// LS-8, kubernetes/client-go#448, kubernetes/kubernetes#120824, ray-project/ray#63773, pathosDev/actor-ts#598: what the
/// record says of times never shortens the wait, and lengthens it within bounds.
#[test]
fn a_record_is_waited_out_on_the_own_clock() {
    for (seconds, waits) in [(0, 15_000), (15, 15_000), (1 << 31, LONGEST * 15_000)] {
        let mut api = Api::default();
        taken_by_ben(&mut api);
        api.object.as_mut().unwrap().record.seconds = seconds;
        let first = 3_600_000;
        let mut anna = Desk::with(config("anna"), 1, first);
        anna.answer(first, &mut api);
        anna.run(first + waits - 1, |now, request| {
            api.carry_out(now, request)
        });
        assert!(!anna.leads(first + waits - 1), "{seconds}");
        anna.run(first + waits + 4_400, |now, request| {
            api.carry_out(now, request)
        });
        assert!(anna.leads(first + waits + 4_400), "{seconds}");
        assert_eq!(api.object.as_ref().unwrap().record.seconds, 15);
    }
}

/// LS-10, kubernetes/kubernetes#41956, fabric8io/kubernetes-client#4320, fabric8io/kubernetes-client#4616: the token stays
/// with every renewal, and `leaseTransitions` and `acquireTime` too; and rises with a new tenure of the same name.
#[test]
fn a_renewal_keeps_the_token_and_a_new_tenure_raises_it() {
    let mut api = Api::default();
    let mut anna = Desk::leading(&mut api);
    let token = anna.machine.tenure().unwrap().token;
    assert_eq!(token, Token::new(0, 1));
    for now in [2000, 4000, 6000] {
        anna.silence(now);
        anna.answer(now, &mut api);
    }
    assert_eq!(anna.machine.tenure().unwrap().token, token);
    let object = api.object.clone().unwrap();
    let record = &object.record;
    assert_eq!(
        (object.version, record.transitions, record.since),
        (4, 0, Some(1))
    );
    assert_eq!(record.acquired, Some(0));
    anna.feed(7_000, Input::Resign { to: None });
    anna.serve(60_000, &mut api);
    assert!(anna.machine.tenure().unwrap().token > token);
    assert!(api.object.as_ref().unwrap().record.acquired > Some(0));
}

/// LS-10: the token of an object that was deleted and created again is above all before it, where `leaseTransitions` begins
/// anew.
#[test]
fn a_new_object_has_a_higher_token_and_counts_its_transitions_anew() {
    let mut api = Api::default();
    taken_by_ben(&mut api);
    let version = api.object.take().unwrap().version;
    let anna = Desk::leading(&mut api);
    assert!(anna.machine.tenure().unwrap().token > Token::new(0, version));
    assert_eq!(api.object.unwrap().record.transitions, 0);
}

/// LS-11, cilium/cilium#42920, kyverno/kyverno#14984, elastic/beats#38543: the end of a tenure is known before it comes, and
/// is a hard one: a renewal in flight does not move it, and there is less of it than of the lease by the whole slack.
#[test]
fn the_end_is_known_beforehand() {
    let mut api = Api::default();
    let mut anna = Desk::leading(&mut api);
    let tenure = anna.machine.tenure().unwrap();
    assert!(anna.events.contains(&Event::Established(tenure)));
    assert_eq!(tenure.until, at(10_000));
    anna.silence(9_999);
    assert_eq!(anna.machine.tenure(), Some(tenure));
    assert!(anna.machine.deadline().unwrap() <= at(10_000));
}

/// LS-R4: an acquisition whose result is unknown is recognised by its nonce, and leads only once a write of its own came
/// through.
#[test]
fn an_unknown_acquisition_is_confirmed() {
    let mut api = Api::default();
    let mut anna = Desk::new("anna", 1);
    anna.answer(0, &mut api);
    let (ticket, request) = anna.take();
    api.carry_out(0, request);
    anna.tell(1000, ticket, Err(Unknown));
    anna.silence(3000);
    anna.answer(3000, &mut api);
    assert!(!anna.leads(3000));
    anna.answer(3000, &mut api);
    assert!(anna.leads(3000));
    assert_eq!(anna.machine.tenure().unwrap().token, Token::new(0, 2));
}

/// LS-R4: a renewal whose result is unknown extends nothing; the next look finds it to be the own one.
#[test]
fn an_unknown_renewal_is_looked_at() {
    for carried_out in [false, true] {
        let mut api = Api::default();
        let mut anna = Desk::leading(&mut api);
        anna.silence(2000);
        let (ticket, request) = anna.take();
        if carried_out {
            api.carry_out(2_000_000, request);
        }
        anna.tell(2000, ticket, Err(Unknown));
        assert_eq!(anna.machine.tenure().unwrap().until, at(10_000));
        anna.silence(4000);
        assert_eq!(anna.asked.last().unwrap().1, Request::Get);
        anna.answer(4000, &mut api);
        anna.answer(4000, &mut api);
        anna.run(6000, |now, request| api.carry_out(now, request));
        assert!(anna.leads(12_000));
        assert_eq!(anna.machine.refusals().total(), 0);
    }
}

/// Somebody deletes the object: who holds it stops as soon as it hears of it, and lets others come first; who waits waits
/// the record out that it saw last.
#[test]
fn a_deleted_object_is_waited_out() {
    let mut api = Api::default();
    let mut anna = Desk::leading(&mut api);
    let mut ben = Desk::new("ben", 2);
    ben.answer(1000, &mut api);
    api.object = None;
    anna.silence(2000);
    anna.answer(2000, &mut api);
    anna.answer(2000, &mut api);
    assert_eq!(anna.deposed(), [Why::Taken]);
    ben.run(15_999, |now, request| api.carry_out(now, request));
    assert!(!ben.leads(15_999));
    ben.run(21_000, |now, request| api.carry_out(now, request));
    assert!(ben.leads(21_000));
}

/// Somebody restores the object from a file, with the record of who holds it: it is another object, and the holder does not
/// hold that one.
#[test]
fn the_own_record_in_another_object_is_not_held() {
    let mut api = Api::default();
    let mut anna = Desk::leading(&mut api);
    let object = api.object.as_mut().unwrap();
    (object.uid, object.version) = (Uid(99), 2);
    anna.silence(2000);
    anna.answer(2000, &mut api);
    anna.answer(2000, &mut api);
    assert_eq!(anna.deposed(), [Why::Taken]);
}

/// Another client takes the object over, and leaves the annotations it finds: the nonce alone makes no record the own one.
#[test]
fn the_own_nonce_beside_another_name_is_not_the_own_record() {
    let mut api = Api::default();
    let mut anna = Desk::leading(&mut api);
    let object = api.object.clone().unwrap();
    let by_client_go = Record {
        holder: by_ben(15).holder,
        ..object.record
    };
    api.write(1, object.uid, by_client_go);
    anna.silence(2000);
    anna.answer(2000, &mut api);
    anna.answer(2000, &mut api);
    assert_eq!(anna.deposed(), [Why::Taken]);
}

/// Where the host's calendar stands still a renewal changes nothing, is answered and not written: waiters see no change, so
/// it does not count.
#[test]
fn an_update_that_was_not_written_extends_nothing() {
    let mut api = Api::default();
    let mut anna = Desk::leading(&mut api);
    // The first renewal adds where the token comes from.
    anna.run(9_000, |_, request| api.carry_out(0, request));
    let until = anna.machine.tenure().unwrap().until;
    assert!(at(11_000) < until && until <= at(12_000));
    assert!(anna.machine.refusals().count(Refusal::WrongAnswer) > 0);
    anna.run(20_000, |_, request| api.carry_out(0, request));
    assert_eq!(anna.deposed(), [Why::Lapsed]);
}

/// Who does not want it says who holds it, and never takes it.
#[test]
fn who_is_no_candidate_follows() {
    let mut api = Api::default();
    let mut zoe = config("zoe");
    zoe.common.candidate = false;
    let mut zoe = Desk::with(zoe, 3, 0);
    let mut anna = Desk::leading(&mut api);
    anna.silence(2000);
    anna.answer(2000, &mut api);
    zoe.run(30_000, |now, request| api.carry_out(now, request));
    let leader = zoe.events.iter().find_map(|event| match event {
        Event::Following(leader) => *leader,
        _ => None,
    });
    let leader = leader.expect("it looked");
    assert_eq!(leader.node, Identity::new("anna").unwrap().node());
    assert_eq!(leader.token, anna.machine.tenure().unwrap().token);
    assert_eq!(api.object.unwrap().version, 2);
}

#[test]
fn what_client_go_refuses_is_refused() {
    let with = |deadline: u64, period: u64, ttl: u64| {
        let mut config = config("anna");
        config.renew_deadline = millis(deadline);
        config.common.timing.retry = millis(period);
        config.common.timing.ttl = millis(ttl);
        config.budget().map(drop)
    };
    assert_eq!(with(10_000, 2000, 15_000), Ok(()));
    let refused = [
        (with(15_000, 2000, 15_000), "deadline-too-long"),
        (with(10_000, 8_400, 15_000), "deadline-too-short"),
        (with(10_000, 2000, 15_500), "not-seconds"),
        (with(3_000, 2000, 15_000), "no-slack"),
    ];
    for (result, code) in refused {
        assert_eq!(result.as_ref().map_err(BudgetError::code), Err(code));
    }
}

/// What client-go's numbers come to, with answers within 50 ms each way and clocks within 1 %. Its own slack is 3 s less the
/// time an answer takes (LS-4: it goes on for a retry period and a renew deadline after that answer).
#[test]
fn the_budgets_of_the_presets() {
    let claimant = || Claimant::new(Identity::new("anna").unwrap());
    let exact = |config: Config| {
        let budget = config.budget().unwrap();
        let Budget {
            belief,
            takeover,
            outage,
            slack,
        } = budget;
        [belief, takeover, outage, slack].map(|time| time.as_micros() / 1000)
    };
    assert_eq!(
        exact(Config::new(claimant())),
        [10_000, 24_440, 5_742, 4_750]
    );
    assert_eq!(
        exact(Config::openshift(claimant())),
        [107_000, 254_339, 54_257, 27_562]
    );
    let config = Config::new(claimant());
    assert_eq!(Config::of(config.common.clone()), config);
    assert_eq!(config.belief(), secs(10));
}

/// The longest outage that the budget names, whenever it begins and whether calls hang or are refused, ends no tenure.
#[test]
fn an_outage_within_the_budget_is_survived() {
    let outage = config("anna").budget().unwrap().outage.as_micros() / 1000;
    for begins in (0..2_100).step_by(50) {
        for seed in 0..20 {
            for hang in [false, true] {
                let mut api = Api::default();
                let mut anna = Desk::with(config("anna"), seed, 0);
                anna.answer(0, &mut api);
                anna.answer(0, &mut api);
                anna.run(10_000 + begins, |now, request| api.carry_out(now, request));
                if hang {
                    anna.silence(10_000 + begins + outage);
                    anna.asked.clear();
                } else {
                    anna.run(10_000 + begins + outage, |_, _| Reply::NotDone);
                }
                anna.run(30_000, |now, request| api.carry_out(now, request));
                assert_eq!(anna.deposed(), [], "{begins} {seed} {hang}");
                assert!(anna.leads(30_000));
            }
        }
    }
}
