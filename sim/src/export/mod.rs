//! What a run was, for other tools and for people: JSON lines, Perfetto, ShiViz, and an account in words.
//!
//! Everything here is told from a [`Recording`]: the events of the trace, and what the world showed between them. Nothing
//! here decides anything, and nothing of it rides in the WASM module.

mod explain;
mod jsonl;
mod lanes;
mod perfetto;
mod plan;
mod recording;
mod shiviz;
mod words;

pub use explain::explain;
pub use recording::{Before, Believed, Recording, Strike};

/// The actions that were carried out, each as in its file, and when.
#[must_use]
pub fn actions(recording: &Recording) -> Vec<String> {
    let strikes = recording.strikes.iter().enumerate();
    let told = |(place, strike): (usize, &Strike)| {
        format!(
            "{} at {}",
            plan::asked(recording, place),
            words::ms(strike.at)
        )
    };
    strikes.map(told).collect()
}

/// How a trace is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// One event a line, after a line that the run can be derived from again.
    #[default]
    Jsonl,
    /// Chrome's trace events, for ui.perfetto.dev.
    Perfetto,
    /// A log with vector clocks, for ShiViz.
    Shiviz,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Jsonl, Self::Perfetto, Self::Shiviz];

    /// Its name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            Self::Perfetto => "perfetto",
            Self::Shiviz => "shiviz",
        }
    }

    /// The format of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Writes a run.
    #[must_use]
    pub fn write(self, recording: &Recording) -> String {
        match self {
            Self::Jsonl => jsonl::write(recording),
            Self::Perfetto => perfetto::write(recording),
            Self::Shiviz => shiviz::write(recording),
        }
    }
}
