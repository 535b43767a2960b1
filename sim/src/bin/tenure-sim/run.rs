//! `run`: one scenario file.

use crate::Done;
use crate::args::refusal;
use std::io::Read;
use std::path::Path;
use tenure_sim::report::Report;
use tenure_sim::{Refusal, Scenario};

/// What is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Text,
    Json,
    Hash,
}

pub(crate) fn run(file: &Path, seed: Option<u64>, form: Form) -> Done {
    let name = file.display().to_string();
    let json = read(file).map_err(|error| {
        refusal(
            "unreadable",
            &name,
            &error.to_string(),
            "name a scenario file that can be read",
        )
    })?;
    let scenario = Scenario::parse(&json).map_err(|refusal| Refusal {
        place: format!("{name}: {}", refusal.place),
        ..refusal
    })?;
    let scenario = match seed {
        Some(seed) => scenario.with_seed(seed),
        None => scenario,
    };
    let report = Report::of(scenario);
    match form {
        Form::Text => print!("{}", report.to_text()),
        Form::Json => println!("{}", report.to_json()),
        Form::Hash => println!("{}", report.hash()),
    }
    Ok(report.as_expected())
}

fn read(file: &Path) -> std::io::Result<String> {
    if file.as_os_str() == "-" {
        let mut json = String::new();
        std::io::stdin().read_to_string(&mut json)?;
        return Ok(json);
    }
    std::fs::read_to_string(file)
}
