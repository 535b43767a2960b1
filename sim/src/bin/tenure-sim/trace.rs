//! `trace`: every event of a run, for other tools.

use crate::Done;
use crate::args::refusal;
use crate::run::scenario;
use std::io::Write;
use std::path::Path;
use tenure_sim::export::{Format, Recording};

pub(crate) fn trace(file: &Path, seed: Option<u64>, format: Format) -> Done {
    let written = format.write(&Recording::of(scenario(file, seed)?)?);
    // A reader that has seen enough, such as `head`, is no failure of the trace.
    match std::io::stdout().write_all(written.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(refusal(
            "unwritable",
            "standard output",
            &error.to_string(),
            "make room where the trace is written to",
        )),
        _ => Ok(true),
    }
}
