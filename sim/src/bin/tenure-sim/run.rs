//! `run`: one scenario file.

use crate::Done;
use crate::args::refusal;
use std::io::Read;
use std::path::Path;
use tenure_sim::export::{Recording, explain};
use tenure_sim::report::Report;
use tenure_sim::{Refusal, Scenario};

/// What is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Text,
    Story,
    Json,
    Hash,
}

pub(crate) fn run(file: &Path, seed: Option<u64>, form: Form) -> Done {
    let scenario = scenario(file, seed)?;
    if form == Form::Story {
        print!("{}", explain(&Recording::of(scenario.clone())?));
        return Ok(Report::of(scenario).as_expected());
    }
    let report = Report::of(scenario);
    match form {
        Form::Json => println!("{}", report.to_json()),
        Form::Hash => println!("{}", report.hash()),
        Form::Text | Form::Story => print!("{}", report.to_text()),
    }
    Ok(report.as_expected())
}

/// The scenario of a file, under another seed if one is given.
pub(crate) fn scenario(file: &Path, seed: Option<u64>) -> Result<Scenario, Refusal> {
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
    Ok(match seed {
        Some(seed) => scenario.with_seed(seed),
        None => scenario,
    })
}

fn read(file: &Path) -> std::io::Result<String> {
    if file.as_os_str() == "-" {
        let mut json = String::new();
        std::io::stdin().read_to_string(&mut json)?;
        return Ok(json);
    }
    std::fs::read_to_string(file)
}
