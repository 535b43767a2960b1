//! Raft beside its peers: each line is measured for all of them in one run, in turn, in safe mode where they have one
//! (PreVote and CheckQuorum), and judged as a ratio.
//!
//!     cargo bench -p tenure-tests --bench raft

mod cluster;
mod counting;
mod election;
mod heartbeat;
mod memory;
mod race;
#[path = "../drivers/raft_rs.rs"]
mod raft_rs;
mod reads;
mod replicate;
mod rest;
mod table;

fn main() {
    table::heading();
    let verdicts = [
        heartbeat::measure(),
        replicate::measure(1),
        replicate::measure(64),
        reads::measure(1),
        reads::measure(64),
        election::measure(3),
        election::measure(5),
        memory::measure(),
        rest::measure(),
    ];
    let judged: Vec<bool> = verdicts.into_iter().flatten().flatten().collect();
    let met = judged.iter().filter(|met| **met).count();
    println!(
        "wall time, the best of many slices, the contestants in turn; {met} of {} targets met",
        judged.len()
    );
}
