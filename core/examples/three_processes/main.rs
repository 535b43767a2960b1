//! Three processes elect a leader, the leader is killed, another takes over, and the killed one comes back:
//!
//! ```sh
//! cargo run --example three_processes -p tenure
//! ```
//!
//! [`node`] is what a program that embeds Tenure consists of: a clock, a socket, a [`disk`], and `drive`. [`group`] starts
//! the processes, which are this program with arguments, and listens to what they say.

#[cfg(unix)]
mod disk;
#[cfg(unix)]
mod group;
#[cfg(unix)]
mod node;

use std::process::ExitCode;

#[cfg(unix)]
fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = if args.is_empty() {
        group::watch()
    } else {
        node::run(&args)
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(not(unix))]
fn main() -> ExitCode {
    eprintln!(
        "this example hands sockets to processes, locks files and reads clocks as Unix does: run it on Linux or macOS"
    );
    ExitCode::FAILURE
}
