//! The simulated stores beside the real ones: the same random commands to both, every reply compared; and takeovers of servers
//! that elect their own leader beside simulated ones.
//!
//!     npm run test:stores -- --commands 20000 --only redis --seed 1
//!
//! A store is a file beside this one that implements [`compare::Store`] and has a [`Report`], with a line in [`KINDS`]. How a
//! server is started is in `server/`, one file each. Exit codes: 0, all replies are equal but for what `DIFFERENCES.md` lists; 1, they are not;
//! 2, bad usage; 3, a server is missing here, and everything else is equal.

#![forbid(unsafe_code)]

mod clock;
mod compare;
mod etcd;
mod options;
mod postgres;
mod redis;
mod report;
mod server;
mod shrink;
mod takeover;
mod trouble;
mod zookeeper;

use compare::{Verdict, compare};
use options::Options;
use report::Report;
use std::process::ExitCode;
use trouble::Trouble;

fn main() -> ExitCode {
    let options = match Options::from_args() {
        Ok(options) => options,
        Err(usage) => {
            eprintln!("{usage}");
            return ExitCode::from(2);
        }
    };
    let mut worst = 0;
    for kind in KINDS.iter().filter(|kind| options.wants(kind.report.name)) {
        worst = worse(worst, one(kind.report.name, kind.run, &options));
    }
    for kind in TAKEOVERS
        .iter()
        .filter(|kind| options.wants(kind.report.name))
    {
        worst = worse(worst, one(kind.report.name, kind.run, &options));
    }
    let reports: Vec<&Report> = KINDS.iter().map(|kind| kind.report).collect();
    if let Err(stale) = report::check(&reports, TAKEOVERS) {
        eprintln!("{stale}");
        worst = 1;
    }
    ExitCode::from(worst)
}

/// A kind of store.
struct Kind {
    report: &'static Report,
    run: Run,
}

/// What compares.
type Run = fn(&Options) -> Result<Verdict, Trouble>;

/// All that are compared.
const KINDS: &[Kind] = &[
    Kind {
        report: &redis::REPORT,
        run: |options| compare(&mut redis::Pair::start()?, &redis::REPORT, options),
    },
    Kind {
        report: &postgres::REPORT,
        run: |options| compare(&mut postgres::Pair::start()?, &postgres::REPORT, options),
    },
    Kind {
        report: &etcd::REPORT,
        run: |options| compare(&mut etcd::Pair::start()?, &etcd::REPORT, options),
    },
    Kind {
        report: &zookeeper::REPORT,
        run: |options| compare(&mut zookeeper::Pair::start()?, &zookeeper::REPORT, options),
    },
];

/// A kind of servers that elect their own leader.
pub(crate) struct Takeovers {
    pub(crate) report: &'static takeover::Report,
    run: Run,
}

/// All whose takeovers are compared.
const TAKEOVERS: &[Takeovers] = &[
    Takeovers {
        report: &takeover::zookeeper::REPORT,
        run: takeover::zookeeper::compare,
    },
    Takeovers {
        report: &takeover::sentinel::REPORT,
        run: takeover::sentinel::compare,
    },
];

/// The exit code of one comparison, once it is told.
fn one(name: &str, run: Run, options: &Options) -> u8 {
    println!("\n{name}");
    match run(options) {
        Ok(Verdict::Equal) => 0,
        Ok(Verdict::Different) => 1,
        Err(Trouble::Missing(what)) => {
            eprintln!("{name}: NOT COMPARED: {what}");
            3
        }
        Err(Trouble::Failed(what)) => {
            eprintln!("{name}: {what}");
            1
        }
    }
}

/// A difference counts more than what is missing.
const fn worse(one: u8, other: u8) -> u8 {
    match (one, other) {
        (1, _) | (_, 1) => 1,
        (3, _) | (_, 3) => 3,
        _ => 0,
    }
}
