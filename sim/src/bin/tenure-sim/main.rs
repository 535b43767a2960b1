//! The `tenure-sim` command: run a scenario, sweep many seeds, explore every schedule of a small group, and measure. The
//! usage below names them all.
//!
//! Exit codes: 0 as expected, 1 an expectation or a safety check is broken, 2 the input is refused (with place, reason
//! and remedy on the standard error).

#![forbid(unsafe_code)]

#[macro_use]
mod out;

mod args;
mod bench;
mod claims;
mod classics;
mod explore;
mod measure;
mod minimise;
mod mutants;
mod parallel;
mod run;
mod scale;
mod schemes;
mod stages;
mod sweep;
mod trace;
mod ttl;

use std::process::ExitCode;
use tenure_sim::Refusal;

const USAGE: &str = "\
tenure-sim: leader elections in a deterministic world

  tenure-sim run FILE [--seed N] [--explain | --json | --hash]
                                                     run a scenario file (- for the standard input); --explain
                                                     tells what happened and why
  tenure-sim trace FILE [--seed N] [--format jsonl|perfetto|shiviz]
                                                     print every event of a run: as JSON lines, for
                                                     ui.perfetto.dev, or for ShiViz
  tenure-sim sweep [--seeds N] [--from N] [--threads N] [--scheme NAME [--store-loses] [--servers N]]
                   [--off RULE]... [--twice] [--minimise FILE]
                                                     fault schedules, judged for safety and liveness; --scheme takes
                                                     zab, sentinel, kraft, kafka (kraft with brokers), or one
                                                     that elects over a store, which with --store-loses loses
                                                     what it had acknowledged, and with --servers is a
                                                     cluster, if it is etcd or ZooKeeper; --twice runs every seed again to
                                                     compare; --minimise writes the smallest scenario of those that
                                                     fail; holds where every check held, was put to the test and
                                                     could decide, and exits with 1 otherwise
  tenure-sim minimise FILE [--seed N] [--out FILE]   a small scenario that fails as this one does
  tenure-sim mutants [--seeds N] [--from N] [--threads N]
                                                     each rule switched off: what explorer and sweep make of it
  tenure-sim explore election|lease [--nodes N] [--terms N] [--crashes N] [--whims N] [--ticks N] [--promise N]
                     [--off RULE]... [--states N] [--whole] [--liveness N] [--coverage SEEDS]
                     [--scenario FILE]
                                                     every schedule of a small group, within bounds; --whole without
                                                     leaving out what is the same; --liveness asks of one state in N
                                                     whether one leads once nothing fails any more; --coverage tells
                                                     which share of the node states random schedules reach; a
                                                     counterexample is written to FILE as a scenario
                                                     usual: election, 3 nodes, 2 terms, no crash, no whim (a host
                                                     that campaigns or resigns out of nowhere), 20,000,000 states;
                                                     of a lease a promise of 2 ticks, and ticks without end
  tenure-sim explore --hunt RULE [--scenario FILE]   the same where the absence of a rule is found
  tenure-sim schedule SEED [--scheme NAME [--store-loses] [--servers N]] [--off RULE]...
                                                     print the schedule of a seed as a scenario file
  tenure-sim schema                                  print the JSON Schema of scenario files
  tenure-sim measure WHAT [--seeds N] [--from N] [--threads N] [--nodes N] [--timeout MIN..MAX] [--no-safe-mode]
                     [--log]
        WHAT: failover     the leader crashes: the time to the next one, by stage; --log: with a log and a store on it
              cold-start   all nodes start at once
              minority     the leader is cut off with a minority
              stale        an old leader writes late, in three timelines
              jitter       elections that nothing but slow messages started
              reads        how many, how quick and how old, by the way they are answered
                                                     usual: 10,000 seeds for the first two, 1,000 for the next two,
                                                     100 for jitter, 10 for reads; 3 nodes, 5 for minority; timeouts
                                                     150ms..300ms
  tenure-sim schemes [--seeds N] [--from N] [--threads N] [--scheme A,B] [--fault A,B] [--json]
                                                     what each scheme of election makes of each fault: two leaders,
                                                     stale writes, no leader, requests; held against what is expected
                                                     usual: 1,000 seeds a cell, all schemes, all faults
  tenure-sim stages [--seeds N] [--from N] [--threads N] [--scheme A,B] [--json]
                                                     failover by stage, every scheme under the same loss of its leader:
                                                     detection (until somebody acts on it), election (until it is decided
                                                     who is next), synchronisation (until that one may act), the sum of
                                                     them, and the first write; as shipped, and as quick as it may be set;
                                                     below the table what ends each stage of each scheme
                                                     usual: 200 seeds, all schemes
  tenure-sim claims [--seeds N] [--from N] [--threads N] [--claim A,B] [--json]
                                                     what the literature says of leader election, each statement beside the
                                                     runs that show or correct it; fails where a run shows it no more
                                                     usual: 20 seeds, all statements
  tenure-sim ttl [--seeds N] [--from N] [--threads N] [--scheme A,B] [--json]
                                                     leases of 1 s to 60 s under three levels of jitter: how soon a crash
                                                     is noticed, how often a leader that lives is taken for dead
                                                     usual: 1,000 seeds, etcd and sql
  tenure-sim classics [--seeds N] [--from N] [--threads N]
                                                     the textbook elections, for teaching only: bully, ring and ballot
                                                     leader election, with Raft beside them, under crashes, cuts, slow
                                                     nodes, in chains and stars; held against what is expected
                                                     usual: 200 seeds
  tenure-sim bench [--seeds N]                       speed of the simulator, and every figure above
  tenure-sim scale [--nodes N --minutes M]           what an event costs and how much memory a run takes, up to 1,001
                                                     nodes and 10 hours; or one such run

usual: seeds from 0, 10,000 of them for sweep, mutants and bench, on 2 threads; the seed of the file; --format jsonl
exit codes: 0 as expected, 1 not as expected, 2 bad input
";

/// How a command ends.
type Done = Result<bool, Refusal>;

fn main() -> ExitCode {
    match args::dispatch() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(refusal) => {
            eprintln!("tenure-sim: {refusal} ({})", refusal.code);
            ExitCode::from(2)
        }
    }
}
