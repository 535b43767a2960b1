//! A candidate that lacks entries: it takes them from the best of those that refuse it, and wins.
//!
//! raft.md 2a (an answer about another term establishes nobody) is `leases.rs`'s; 2b is here.

mod cluster;

use cluster::{Cluster, target, voters};
use std::hash::{DefaultHasher, Hasher};
use std::sync::Arc;
use tenure::log::{Position, Shape};
use tenure::membership::{Member, Membership, Part};
use tenure::raft::{
    Better, Entries, LogWrite, Message, Record, Refusal, Role, Rule, Rules, Stored, Timing, Write,
};
use tenure::random::Random;
use tenure::{Duration, Election, Input, NodeId};

/// What a disk holds after `term`, with the given runs of entries.
fn stored(term: u64, runs: &[(u64, u64)]) -> Stored {
    let record = Record {
        term,
        promise: Duration::from_millis(150),
        ..Record::default()
    };
    Stored {
        record,
        log: Shape::from_runs(runs.iter().copied()).unwrap(),
        ..Stored::default()
    }
}

/// A cluster whose disks hold these terms and logs.
fn begun<R: Rules>(mut cluster: Cluster<R>, disks: &[Stored]) -> Cluster<R> {
    for (node, disk) in cluster.nodes.iter_mut().zip(disks) {
        node.disk = disk.clone();
    }
    cluster.seeded(1)
}

/// Everybody reaches `hub` alone, and 0 is gone.
fn around<R: Rules>(cluster: &mut Cluster<R>, hub: usize) {
    let n = cluster.nodes.len();
    cluster.isolate(0);
    for one in 0..n {
        for other in 0..n {
            if one != hub && other != hub && one != other {
                cluster.cuts.insert((one, other));
            }
        }
    }
}

fn asked<R: Rules>(cluster: &Cluster<R>) -> Vec<(usize, usize, Position)> {
    let fetch = |(from, to, message): &(usize, usize, Message)| match message {
        Message::Fetch { after, .. } => Some((*from, *to, *after)),
        _ => None,
    };
    cluster.said.iter().filter_map(fetch).collect()
}

/// Ticks of a millisecond: heartbeat 1, election timeout drawn from 10–20, disks that take no time.
const TICKS: Timing = Timing {
    election_min: Duration::from_millis(10),
    election_max: Duration::from_millis(20),
    heartbeat: Duration::from_millis(1),
    rate_bound: 0,
    grain: Duration::ZERO,
};

/// How many ticks after the leader is gone the hub, which lacks `runs` of entries, has committed an entry of its own term.
fn constrained(seed: u64, missing: u32) -> u64 {
    let mut cluster = Cluster::new(5);
    for node in &mut cluster.nodes {
        node.config.timing = TICKS;
    }
    let mut cluster = cluster.seeded(seed);
    cluster.elect(0);
    cluster.run(10);
    cluster.loses = |_, to, message| to == 1 && matches!(message, Message::Append { .. });
    let last = cluster.propose(0, missing);
    cluster.run(10);
    let phase = Random::from_seed(seed).below(1_000);
    cluster.now += phase;
    assert_eq!(
        (cluster.commit(2), cluster.machine(1).last().index),
        (last, last - u64::from(missing))
    );
    cluster.loses = |_, _, _| false;
    around(&mut cluster, 1);
    let begun = cluster.now;
    cluster.until("committed again", |cluster| cluster.commit(1) > last);
    cluster.assert_agreement();
    assert_eq!(cluster.leading().last(), Some(&1));
    (cluster.now - begun).div_ceil(1_000)
}

/// The constrained election of OmniPaxos. DESIGN §8: p50 ≤ 25, p99 ≤ 32 ticks.
#[test]
fn the_only_connected_node_wins_soon_though_it_lacks_an_entry() {
    let trials = 3_000;
    let mut ticks: Vec<u64> = (0..trials).map(|seed| constrained(seed, 1)).collect();
    ticks.sort_unstable();
    let at = |percent: usize| ticks[ticks.len() * percent / 100];
    println!(
        "constrained: p50 {} p99 {} max {}",
        at(50),
        at(99),
        ticks.last().unwrap()
    );
    assert!(at(50) <= 25 && at(99) <= 32);
}

/// Five nodes with these logs, 0 gone and 1 the hub, until 1 leads with an entry of its own committed.
fn elected(disks: [Stored; 5]) -> Cluster {
    let mut cluster = begun(Cluster::new(5), &disks);
    around(&mut cluster, 1);
    cluster.until("the hub leads", |cluster| cluster.leading() == [1]);
    cluster.run(50);
    cluster.assert_agreement();
    cluster
}

#[test]
fn entries_of_several_terms_come_one_after_another() {
    let full = || stored(4, &[(1, 1), (2, 300), (4, 2)]);
    let cluster = elected([full(), stored(4, &[(1, 1)]), full(), full(), full()]);
    // 256 entries to a message, as in replication.
    let after = [(1, 1), (2, 257), (2, 301)].map(|(term, index)| Position::new(term, index));
    let of: Vec<_> = asked(&cluster)
        .into_iter()
        .map(|(_, _, after)| after)
        .collect();
    assert_eq!(of, after);
    assert_eq!(cluster.commit(3), 304);
    assert_eq!(cluster.terms(1)[300..], [2, 4, 4, 5]);
}

/// The first run alone makes the hub's log end in an earlier term than before. That it goes on to a later one is what counts.
#[test]
fn a_stale_tail_of_a_later_term_gives_way_to_older_entries() {
    let full = || stored(4, &[(1, 2), (2, 2), (4, 1)]);
    let stale = stored(4, &[(1, 2), (3, 2)]);
    let cluster = elected([full(), stale, full(), full(), stored(4, &[(1, 2)])]);
    assert_eq!(cluster.terms(1), [1, 1, 2, 2, 4, 5]);
    // Entry 4 of term 3 is nowhere; entry 2 of term 1 is the latest that both can have.
    let of: Vec<_> = asked(&cluster)
        .into_iter()
        .map(|(_, _, after)| (after.term, after.index))
        .collect();
    assert_eq!(of, [(3, 4), (1, 2), (2, 4)]);
}

#[test]
fn what_is_compacted_away_comes_as_a_snapshot() {
    let mut full = stored(4, &[(1, 3), (4, 3)]);
    full.log.compact(5);
    let full = || full.clone();
    let cluster = elected([full(), stored(4, &[(1, 2), (2, 9)]), full(), full(), full()]);
    assert_eq!(cluster.machine(1).log().base(), Position::new(4, 5));
    assert_eq!((cluster.terms(1), cluster.commit(1)), (vec![4, 5], 7));
    assert_eq!(cluster.nodes[1].disk.log.base(), Position::new(4, 5));
}

/// raft.md 2b. 0 has the entries that an unfinished catch-up left, and knows them to be committed; 1 ends later, without
/// the last of them; the best of the quorum has them all.
#[test]
fn the_best_of_the_quorum_is_asked_and_not_just_a_better_one() {
    let disks = [
        stored(8, &[(6, 3)]),
        stored(8, &[(6, 2), (7, 2)]),
        stored(8, &[(6, 3), (8, 1)]),
    ];
    for (rules, of) in [(&[][..], 2), (&[Rule::SuffixFromBest][..], 1)] {
        let mut cluster = begun(Cluster::without(5, rules), &disks);
        for place in [3, 4] {
            cluster.isolate(place);
        }
        cluster.cut(1, 2);
        cluster.run(152);
        cluster.input(0, Input::Campaign);
        cluster.until("asked", |cluster| !asked(cluster).is_empty());
        assert_eq!(asked(&cluster), [(0, of, Position::new(6, 3))]);
        cluster.run(4);
        let kept = cluster.machine(0).log().contains(Position::new(6, 3));
        assert_eq!(kept, rules.is_empty());
    }
}

/// A hub that has asked the best of a quorum, 2, at the time it returns; nothing was answered yet.
fn asking<R: Rules>(cluster: Cluster<R>) -> Cluster<R> {
    let full = || stored(4, &[(1, 1), (4, 2)]);
    let disks = [full(), stored(4, &[(1, 1), (3, 1)]), full(), full(), full()];
    let mut cluster = begun(cluster, &disks);
    around(&mut cluster, 1);
    cluster.loses = |_, _, message| matches!(message, Message::Suffix { .. });
    cluster.until("asked", |cluster| !asked(cluster).is_empty());
    cluster
}

/// What the voter that was asked answers, if its term is `term` by then.
fn answer<R: Rules>(cluster: &Cluster<R>, term: u64) -> (NodeId, Message) {
    let fetch = |said: &(usize, usize, Message)| match said {
        (_, of, Message::Fetch { sent, .. }) => Some((*of, *sent)),
        _ => None,
    };
    let (of, sent) = cluster.said.iter().rev().find_map(fetch).unwrap();
    let suffix = Message::Suffix {
        term,
        sent,
        prev: Position::new(1, 1),
        entries: Entries::Run { term: 4, count: 2 },
        last: Position::new(4, 3),
    };
    (NodeId(of as u64), suffix)
}

/// RL-5. A crash can come between no two writes, for there is one.
/// In VSR Revisited a node that hears of a later view cuts its log off before what takes its place is there, and may win so.
#[test]
fn the_term_comes_in_the_same_write_as_the_entries() {
    for (rules, adopted) in [(&[][..], true), (&[Rule::SuffixAdoptsTerm][..], false)] {
        let mut cluster = asking(Cluster::without(5, rules));
        // Since it refused, the voter followed a leader of term 6, which wrote entry 4.
        let (of, message) = answer(&cluster, 6);
        let Message::Suffix { sent, prev, .. } = message else {
            unreachable!()
        };
        let entries = Entries::Run { term: 6, count: 2 };
        let last = Position::new(6, 4);
        let message = Message::Suffix {
            term: 6,
            sent,
            prev,
            entries,
            last,
        };
        cluster.nodes[1].write_takes = u64::MAX;
        cluster.input(1, Input::Peer(of, message));
        let [(_, _, Write { record, log })] = &cluster.nodes[1].writes[..] else {
            panic!("{:?}", cluster.nodes[1].writes)
        };
        assert!(matches!(log, LogWrite::Append { after, .. } if *after == prev));
        assert_eq!((record.term == 6, record.vote), (adopted, None));
        assert_eq!(cluster.machine(1).term() == 6, adopted);
    }
}

/// RL-6: late, twice, from another, to another life.
#[test]
fn what_nobody_waits_for_any_more_is_not_taken() {
    let mut cluster = asking(Cluster::new(5));
    let (of, message) = answer(&cluster, 4);
    let before = cluster.machine(1).log().clone();
    for other in [0, 3, 4]
        .map(NodeId)
        .into_iter()
        .filter(|other| *other != of)
    {
        cluster.input(1, Input::Peer(other, message.clone()));
    }
    assert_eq!(*cluster.machine(1).log(), before);
    cluster.restart(1);
    cluster.input(1, Input::Peer(of, message.clone()));
    assert_eq!(*cluster.machine(1).log(), before);

    let mut cluster = asking(Cluster::new(5));
    let (of, message) = answer(&cluster, 4);
    cluster.input(1, Input::Peer(of, message.clone()));
    assert_eq!(cluster.terms(1), [1, 4, 4]);
    cluster.until("the hub leads", |cluster| cluster.leading() == [1]);
    let pending = cluster.machine(1).pending();
    cluster.input(1, Input::Peer(of, message));
    assert_eq!((cluster.terms(1), pending), (vec![1, 4, 4, 5], 0));
}

/// RL-6. It follows a leader since, which has given it other entries; what comes late would take them back.
#[test]
fn an_answer_that_comes_under_a_leader_is_not_taken() {
    for (rules, kept) in [(&[][..], true), (&[Rule::SuffixRechecked][..], false)] {
        let mut cluster = asking(Cluster::without(5, rules));
        let (of, message) = answer(&cluster, 4);
        let append = Message::Append {
            term: 5,
            sent: cluster.clock(),
            prev: Position::new(3, 2),
            entries: Entries::Run { term: 5, count: 1 },
            commit: 0,
        };
        cluster.said.clear();
        cluster.input(1, Input::Peer(NodeId(3), append));
        let acknowledged = |said: &(usize, usize, Message)| {
            matches!(said.2, Message::AppendAck { matched: 3, .. })
        };
        assert!(cluster.said.iter().any(acknowledged));
        cluster.input(1, Input::Peer(of, message));
        assert_eq!(cluster.terms(1) == [1, 3, 5], kept);
    }
}

/// A voter whose log lacks what is known to be committed cannot help, and is told apart.
#[test]
fn what_contradicts_the_own_commit_is_refused_by_name() {
    let mut cluster = asking(Cluster::new(5));
    let (of, message) = answer(&cluster, 4);
    let Message::Suffix { term, sent, .. } = message else {
        unreachable!()
    };
    // Up to entry 2 of term 3: told by a leader that was heard before.
    let append = Message::Append {
        term: 4,
        sent: cluster.clock(),
        prev: Position::new(3, 2),
        entries: Entries::NONE,
        commit: 2,
    };
    cluster.input(1, Input::Peer(NodeId(0), append));
    assert_eq!(cluster.commit(1), 2);
    cluster.said.clear();
    cluster.until("asked again", |cluster| !asked(cluster).is_empty());
    let _ = (of, term, sent);
    let (of, message) = answer(&cluster, 4);
    cluster.input(1, Input::Peer(of, message));
    assert_eq!(cluster.terms(1), [1, 3]);
    let refused = cluster
        .machine(1)
        .refusals()
        .count(Refusal::ContradictsCommitted);
    assert_eq!(refused, 1);
}

/// The configuration in the suffix counts as soon as it is in the log, and the candidacy begins anew under it.
#[test]
fn a_configuration_that_comes_with_the_suffix_counts_at_once() {
    let group = Membership::new(&voters(&[0, 1, 2, 3, 4]));
    for (ids, learners, leads) in [
        (&[1, 2, 3, 4], &[][..], true),
        (&[0, 2, 3, 4], &[1][..], false),
    ] {
        let to = Arc::new(group.change_to(&target(ids, learners)).unwrap());
        let mut full = stored(4, &[(1, 2)]);

        let entries = Entries::Change {
            term: 4,
            to: to.clone(),
        };
        let log = LogWrite::Append {
            after: full.log.last(),
            entries,
        };
        let write = Write {
            record: full.record,
            log,
        };
        full.apply(&write).unwrap();
        let disks = [
            full.clone(),
            stored(4, &[(1, 2)]),
            full.clone(),
            full.clone(),
            full.clone(),
        ];
        let mut cluster = begun(Cluster::new(5), &disks);
        around(&mut cluster, 1);
        cluster.until("asked", |cluster| cluster.machine(1).membership() == &*to);
        cluster.run(1_000);
        assert_eq!(cluster.leading() == [1], leads);
        assert_eq!(cluster.machine(1).role() == Role::Leader, leads);
    }
}

/// What would be adopted under the own promise deposes a leader that counts on it; so it asks when that is over.
#[test]
fn nothing_is_fetched_under_a_promise() {
    let mut cluster = Cluster::new(3);
    cluster.elect(0);
    cluster.run(20);
    // Its last heartbeat came so long ago that it asks early, and both others refuse for their logs.
    cluster.isolate(1);
    stands_under_a_promise(&mut cluster);
    let promised = cluster.machine(1).promise().unwrap().until;
    let (term, sent) = (cluster.machine(1).term(), cluster.clock());
    let better = Some(Better {
        last: Position::new(1, 9),
        remainder: Duration::ZERO,
        sent,
    });
    let refused = Message::PreVoteRefused {
        asked: term + 1,
        term,
        better,
    };
    cluster.input(1, Input::Peer(NodeId(2), refused));
    cluster.until("asked", |cluster| !asked(cluster).is_empty());
    assert!(cluster.clock() >= promised);
}

/// The best of a quorum is the best of those that answered since a leader was last heard.
#[test]
fn a_refusal_of_an_earlier_candidacy_does_not_count() {
    let mut cluster = Cluster::new(3);
    cluster.elect(0);
    cluster.run(20);
    cluster.isolate(1);
    stands_under_a_promise(&mut cluster);
    let (term, first) = (cluster.machine(1).term(), cluster.clock());
    let heartbeat = Message::Heartbeat {
        term,
        sent: first,
        round: 9,
        commit: 0,
    };
    cluster.input(1, Input::Peer(NodeId(0), heartbeat));
    assert_eq!(cluster.machine(1).role(), Role::Follower);
    stands_under_a_promise(&mut cluster);
    let second = cluster.clock();
    for (sent, fetches) in [(first, 0), (second, 1)] {
        let better = Better {
            last: Position::new(1, 9),
            remainder: Duration::ZERO,
            sent,
        };
        let refused = Message::PreVoteRefused {
            asked: term + 1,
            term,
            better: Some(better),
        };
        cluster.input(1, Input::Peer(NodeId(2), refused));
        // It asks when its own promise is over, if ever.
        cluster.run(31);
        assert_eq!(asked(&cluster).len(), fetches);
    }
}

const BETTER: Position = Position { term: 4, index: 9 };

/// Node 1 of three and a learner, cut off from the others, in term 4 and with entries of terms 1 and 3, of which it knows
/// the first `commit` to be committed; it asks to be elected, and waits for an answer.
fn asks(commit: u64) -> Cluster {
    let members = (0..4).map(|id| Member {
        id: NodeId(id),
        part: if id == 3 { Part::Learner } else { Part::Voter },
    });
    let membership = Arc::new(Membership::from_members(members).unwrap());
    let mut disk = stored(4, &[(1, 1)]);
    let to = membership.clone();
    for (after, entries) in [
        ((1, 1), Entries::Change { term: 1, to }),
        ((1, 2), Entries::Run { term: 1, count: 2 }),
        ((1, 4), Entries::Run { term: 3, count: 2 }),
    ] {
        let after = Position::new(after.0, after.1);
        let log = LogWrite::Append { after, entries };
        let record = disk.record;
        disk.apply(&Write { record, log }).unwrap();
    }
    let mut cluster = begun(Cluster::new(3), &[stored(4, &[]), disk]);
    cluster.isolate(1);
    let append = Message::Append {
        term: 4,
        sent: cluster.clock(),
        prev: Position::new(3, 6),
        entries: Entries::NONE,
        commit,
    };
    cluster.input(1, Input::Peer(NodeId(0), append));
    cluster.run(152);
    cluster.said.clear();
    cluster.input(1, Input::Campaign);
    assert_eq!(cluster.machine(1).role(), Role::PreCandidate);
    assert_eq!(cluster.commit(1), commit);
    cluster
}

/// Tells node 1 that `of` would vote for it if its log did not end at `last`.
fn refuse(cluster: &mut Cluster, of: u64, asked: u64, last: Position, remainder: Duration) {
    let sent = cluster.clock();
    let better = Some(Better {
        last,
        remainder,
        sent,
    });
    let term = 4;
    let refused = Message::PreVoteRefused {
        asked,
        term,
        better,
    };
    cluster.input(1, Input::Peer(NodeId(of), refused));
}

/// RL-4: what counts is said by a voter, to a node that asks now, about what it asks.
#[test]
fn only_a_voter_that_refuses_the_present_candidacy_is_asked() {
    let none = Duration::ZERO;
    let mut cluster = asks(0);
    refuse(&mut cluster, 2, 4, BETTER, none);
    refuse(&mut cluster, 3, 5, BETTER, none);
    assert_eq!(asked(&cluster), []);
    refuse(&mut cluster, 2, 5, BETTER, none);
    assert_eq!(asked(&cluster), [(1, 2, Position::new(3, 6))]);

    let mut cluster = asks(0);
    cluster.restart(1);
    assert_eq!(cluster.machine(1).role(), Role::Follower);
    refuse(&mut cluster, 2, 5, BETTER, none);
    assert_eq!(asked(&cluster), []);

    let mut cluster = asks(0);
    for node in &mut cluster.nodes {
        node.config.replication = None;
        node.disk = Stored::from(node.disk.record);
    }
    let mut cluster = cluster.seeded(1);
    cluster.run(152);
    cluster.input(1, Input::Campaign);
    cluster.said.clear();
    refuse(&mut cluster, 2, 5, BETTER, none);
    assert_eq!((asked(&cluster), cluster.machine(1).grants()), (vec![], 1));
}

/// A voter cannot have promised for longer than it may.
#[test]
fn a_refusal_with_an_impossible_promise_is_refused_by_name() {
    let longest = Duration::from_millis(150);
    let mut cluster = asks(0);
    refuse(
        &mut cluster,
        2,
        5,
        BETTER,
        longest + Duration::from_micros(1),
    );
    let count = |cluster: &Cluster| {
        let refusals = cluster.machine(1).refusals();
        refusals.count(Refusal::ImpossiblePromise)
    };
    assert_eq!((asked(&cluster), count(&cluster)), (vec![], 1));
    refuse(&mut cluster, 2, 5, BETTER, longest);
    assert_eq!((asked(&cluster).len(), count(&cluster)), (1, 1));
}

/// Once the entries are there, those that refused for them alone count as if they had granted, when they are free; a
/// refusal for a log that is no better any more counts at once, and everybody once.
#[test]
fn who_refused_for_its_log_alone_grants_when_it_is_free() {
    let none = Duration::ZERO;
    let mut cluster = asks(0);
    let free = Duration::from_millis(20);
    refuse(&mut cluster, 2, 5, BETTER, free);
    let (_, message) = suffix(&cluster, Position::new(3, 6), 4, 3, BETTER);
    cluster.input(1, Input::Peer(NodeId(2), message));
    assert_eq!(cluster.machine(1).last(), BETTER);
    assert_eq!(cluster.machine(1).grants(), 2);
    assert_eq!(cluster.machine(1).role(), Role::PreCandidate);
    cluster.run(20);
    assert_eq!(cluster.machine(1).role(), Role::PreCandidate);
    cluster.run(1);
    assert_eq!(cluster.machine(1).role(), Role::Candidate);

    let mut cluster = asks(0);
    let worse = Position::new(3, 5);
    let long = Duration::from_millis(100);
    for _ in 0..2 {
        refuse(&mut cluster, 2, 5, worse, long);
        assert_eq!(cluster.machine(1).grants(), 2);
    }
    refuse(&mut cluster, 0, 5, worse, none);
    assert_eq!(cluster.machine(1).role(), Role::Candidate);
}

/// The answer of the one that was asked: `count` entries of `of` after `prev`, of a log that ends at `last`.
fn suffix(
    cluster: &Cluster,
    prev: Position,
    of: u64,
    count: u64,
    last: Position,
) -> (NodeId, Message) {
    let (whom, answer) = answer(cluster, 4);
    let Message::Suffix { term, sent, .. } = answer else {
        unreachable!()
    };
    let entries = Entries::Run { term: of, count };
    let suffix = Message::Suffix {
        term,
        sent,
        prev,
        entries,
        last,
    };
    (whom, suffix)
}

/// RL-6: an answer from a log that ends where this one does brings nothing, and leaves the question open.
#[test]
fn an_answer_that_is_no_better_is_not_taken() {
    let mut cluster = asks(0);
    refuse(&mut cluster, 2, 5, BETTER, Duration::ZERO);
    let end = Position::new(3, 6);
    let (whom, none) = suffix(&cluster, end, 3, 0, end);
    cluster.input(1, Input::Peer(whom, none));
    let (whom, some) = suffix(&cluster, end, 4, 3, BETTER);
    cluster.input(1, Input::Peer(whom, some));
    assert_eq!(cluster.machine(1).last(), BETTER);
}

/// A voter that has less than what is known to be committed here cannot help; one that has just that can.
#[test]
fn the_question_leads_back_to_the_commit_and_no_further() {
    for (commit, further) in [(4, true), (5, false), (3, true)] {
        let mut cluster = asks(commit);
        refuse(&mut cluster, 2, 5, BETTER, Duration::ZERO);
        cluster.said.clear();
        // The latest entry that both can have is 4 of term 1.
        let (whom, back) = (NodeId(2), Position::new(2, 6));
        let first = Message::Suffix {
            term: 4,
            sent: cluster.clock(),
            prev: back,
            entries: Entries::NONE,
            last: BETTER,
        };
        cluster.input(1, Input::Peer(whom, first));
        let expected = further.then_some((1, 2, Position::new(1, 4)));
        assert_eq!(asked(&cluster), expected.into_iter().collect::<Vec<_>>());
        let refusals = cluster.machine(1).refusals();
        let refused = refusals.count(Refusal::ContradictsCommitted);
        assert_eq!(refused, u32::from(!further), "{commit}");
    }
}

/// INV-L5: a snapshot takes the place of a log that it goes beyond, and of nothing that is committed or there already; and
/// the candidacy goes on at once under the membership that came with it.
#[test]
fn a_snapshot_that_was_not_needed_is_not_taken() {
    for (base, taken) in [
        ((3, 5), false),
        ((2, 3), false),
        ((1, 3), false),
        ((2, 6), true),
        ((4, 8), true),
    ] {
        let mut cluster = asks(4);
        refuse(&mut cluster, 2, 5, BETTER, Duration::ZERO);
        let before = cluster.machine(1).log().clone();
        let base = Position::new(base.0, base.1);
        let snapshot = Message::SuffixSnapshot {
            term: 4,
            sent: cluster.clock(),
            base,
            membership: Arc::new(cluster.machine(1).membership().clone()),
            last: BETTER,
        };
        cluster.said.clear();
        cluster.input(1, Input::Peer(NodeId(2), snapshot));
        let log = cluster.machine(1).log();
        assert_eq!(log.base() == base && log.is_empty(), taken, "{base:?}");
        assert_eq!(*log == before, !taken, "{base:?}");
        let unasked = cluster.machine(1).refusals().count(Refusal::Unasked);
        assert_eq!(unasked, u32::from(!taken), "{base:?}");
        assert_eq!(cluster.commit(1), if taken { base.index } else { 4 });
        let stands = |(_, _, message): &(usize, usize, Message)| {
            matches!(message, Message::RequestPreVote { .. })
        };
        assert_eq!(cluster.said.iter().any(stands), taken);
    }
}

/// C10: what a candidate knows of better logs is state.
#[test]
fn what_is_known_of_better_logs_shows_in_the_fingerprint() {
    let look = |of, last| {
        let mut cluster = asks(0);
        refuse(&mut cluster, of, 5, last, Duration::ZERO);
        let mut hasher = DefaultHasher::new();
        let now = cluster.clock();
        cluster.machine(1).fingerprint(now, &mut hasher);
        hasher.finish()
    };
    assert_eq!(look(2, BETTER), look(2, BETTER));
    assert_ne!(look(2, BETTER), look(0, BETTER));
    assert_ne!(look(2, BETTER), look(2, Position::new(4, 8)));
}

/// Makes 1, cut off, stand as early as it may.
fn stands_under_a_promise(cluster: &mut Cluster) {
    let promised = cluster.machine(1).promise().unwrap().until;
    cluster.run(promised.since(cluster.clock()).as_micros() / 1_000 - 29);
    cluster.input(1, Input::Campaign);
    assert_eq!(cluster.machine(1).role(), Role::PreCandidate);
    assert!(promised > cluster.clock());
}
