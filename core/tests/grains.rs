//! INV-S1 for clocks that are read with grains of their own, unknown to the others: whatever the grains, the rates within the
//! bound, and how far behind each reading happens to be, belief ends before a voter is free.

mod bench;

use bench::handled;
use proptest::prelude::*;
use tenure::log::Position;
use tenure::quorum::Voters;
use tenure::raft::{Boot, Config, Message, PPM, Raft, Stored, Timing};
use tenure::{Duration, Election, Input, Instant, NodeId, Output, Standing};

const RHO: u32 = 10_000;
const MOST: u64 = 20_000;

/// A clock: its rate in parts per million, the grain that its host was configured with, and how far behind it is read.
#[derive(Clone, Debug)]
struct Clock {
    rate: u64,
    grain: u64,
    behind: u64,
}

fn clock() -> impl Strategy<Value = Clock> {
    let exactly = u64::from(PPM);
    let rho = u64::from(RHO);
    let rate = prop_oneof![
        Just(exactly - rho),
        Just(exactly + rho),
        exactly - rho..=exactly + rho
    ];
    let grain = prop_oneof![0..=10u64, 0..=MOST];
    (rate, grain).prop_flat_map(|(rate, grain)| {
        let behind = prop_oneof![Just(0), Just(grain), 0..=grain];
        behind.prop_map(move |behind| Clock {
            rate,
            grain,
            behind,
        })
    })
}

fn machine(id: u64, clock: &Clock, stored: Option<Stored>, now: u64) -> Raft {
    let voters = Voters::new((0..3).map(NodeId)).unwrap();
    let timing = Timing {
        rate_bound: RHO,
        grain: Duration::from_micros(clock.grain),
        ..Timing::default()
    };
    let config = Config {
        timing,
        ..Config::new(NodeId(id), voters)
    };
    let boot = Boot {
        stored,
        incarnation: 1,
        seed: 1,
    };
    Raft::new(config, boot, Instant::from_micros(now)).unwrap()
}

/// Hands over an input at `now`, with a disk that writes at once: what is said, and what the disk then holds.
fn input(raft: &mut Raft, now: u64, input: Input<Message, ()>) -> (Vec<(u64, Message)>, Stored) {
    let (mut said, mut disk) = (Vec::new(), Stored::default());
    let mut inputs = vec![input];
    while let Some(input) = inputs.pop() {
        for output in handled(raft, Instant::from_micros(now), input) {
            match output {
                Output::Send(to, message) => said.push((to.0, message)),
                Output::Request(ticket, write) => {
                    disk.apply(&write).unwrap();
                    inputs.push(Input::Reply(ticket, Ok(())));
                }
                Output::Event(_) => {}
            }
        }
    }
    (said, disk)
}

fn hear(raft: &mut Raft, now: u64, from: u64, message: Message) -> (Vec<(u64, Message)>, Stored) {
    input(raft, now, Input::Peer(NodeId(from), message))
}

/// Node 0 is elected at `now`; the heartbeat that it sends to node 1.
fn elected(raft: &mut Raft, now: u64) -> Message {
    input(raft, now, Input::Campaign);
    let (remainder, sent) = (Duration::ZERO, Instant::from_micros(now));
    let granted = Message::PreVoteGranted {
        term: 1,
        remainder,
        sent,
    };
    hear(raft, now, 1, granted);
    let (said, _) = hear(raft, now, 1, Message::VoteGranted { term: 1 });
    let heartbeat = said.into_iter().find(|(to, _)| *to == 1);
    heartbeat.expect("a round").1
}

/// Whether a follower in term 1 gives its vote of term 2 at `now`.
fn votes(raft: &Raft, now: u64) -> bool {
    let ask = Message::RequestVote {
        term: 2,
        last: Position::START,
        released: 0,
    };
    let (said, _) = hear(&mut raft.clone(), now, 2, ask);
    said == [(2, Message::VoteGranted { term: 2 })]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn belief_ends_before_a_voter_is_free(
        leaders in clock(),
        voters in clock(),
        // The same voter's clock, after a restart on another machine.
        restarted in clock(),
        sent in 1_000_000u64..1 << 40,
        flight in prop_oneof![Just(0), 0u64..50_000],
        restart in prop_oneof![Just(None), Just(Some(0)), (0u64..50_000).prop_map(Some)],
    ) {
        // What the leader's clock shows when it sends, and the least that the voter's can show when that is there: both
        // began at once.
        let read = sent - leaders.behind;
        let heard = (u128::from(sent) * u128::from(voters.rate)).div_ceil(leaders.rate.into());
        let heard = heard as u64 + flight;
        let mut leader = machine(0, &leaders, None, read);
        let heartbeat = elected(&mut leader, read);
        let mut voter = machine(1, &voters, None, heard - voters.behind);
        let (said, disk) = hear(&mut voter, heard - voters.behind, 0, heartbeat);
        hear(&mut leader, read, 1, said[0].1.clone());
        let lease = leader.lease().expect("established").until.as_micros();
        let leads = |at| matches!(leader.standing(Instant::from_micros(at)), Standing::Leading(_));
        prop_assert!(leads(lease - 1) && !leads(lease));

        // Its clock goes on where it was, at the same rate, whatever its grain is now.
        let again = Clock { rate: voters.rate, ..restarted };
        let (clock, voter) = match restart {
            None => (&voters, voter),
            Some(later) => {
                let began = heard + later - again.behind;
                (&again, machine(1, &again, Some(disk), began))
            }
        };
        let free = voter.promise().unwrap().until.as_micros();
        prop_assert!(votes(&voter, free) && !votes(&voter, free - 1));

        // At the worst the leader reads a whole grain behind at the end, and the voter the very instant.
        let (end, free) = (u128::from(lease + leaders.grain), u128::from(free));
        prop_assert!(
            end * u128::from(clock.rate) <= free * u128::from(leaders.rate),
            "a leader believes up to {end} at {leaders:?}, a voter is free at {free} at {clock:?}"
        );
    }
}
