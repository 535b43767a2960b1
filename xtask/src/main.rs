//! Build tasks that need a Rust library.
//!
//! `cargo run -p xtask -- bindgen <input.wasm> <target> <outdir>` writes the JavaScript bindings of a module, as the
//! `wasm-bindgen` command would. It is built from the lock file instead of being installed, so that its version always
//! fits that of the crate.

#![forbid(unsafe_code)]

mod bindgen;

use std::process::ExitCode;

const USAGE: &str = "usage: cargo run -p xtask -- bindgen <input.wasm> <target> <outdir>";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match args.as_slice() {
        ["bindgen", input, target, outdir] => {
            bindgen::generate(input.as_ref(), target, outdir.as_ref())
        }
        ["bindgen", ..] => Err(format!(
            "bindgen takes an input, a target and a folder\n{USAGE}"
        )),
        [task, ..] => Err(format!("there is no task named {task:?}\n{USAGE}")),
        [] => Err(format!("no task was named\n{USAGE}")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("xtask: {reason}");
            ExitCode::from(2)
        }
    }
}
