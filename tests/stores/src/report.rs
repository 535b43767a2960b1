//! `DIFFERENCES.md`: what is compared of each store, and every difference that remains, with its reason. It is made of what
//! stands beside the code that compares, so that the two cannot part.

use crate::compare::Replies;
use crate::{Takeovers, takeover};
use std::fmt::Write as _;
use std::path::PathBuf;

/// What is to be said of a store.
pub(crate) struct Report {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    /// What it is compared with.
    pub(crate) real: &'static str,
    /// What is compared, and how, a paragraph each.
    pub(crate) compared: &'static [&'static str],
    /// Replies that must be seen, each kind of command with its kinds of reply: else the comparison shows nothing of them.
    pub(crate) must_see: &'static [(&'static str, &'static [&'static str])],
    /// Differences of replies.
    pub(crate) differences: &'static [Difference],
    /// Differences that no comparison of replies can show: what is otherwise, and why.
    pub(crate) beyond: &'static [(&'static str, &'static str)],
}

/// A difference that remains.
pub(crate) struct Difference {
    /// What it is called.
    pub(crate) name: &'static str,
    /// What the real one does.
    pub(crate) real: &'static str,
    /// What the simulated one does.
    pub(crate) simulated: &'static str,
    /// Why it is left.
    pub(crate) why: &'static str,
    /// Whether replies differ in just this.
    pub(crate) is: fn(&Replies) -> bool,
}

impl Report {
    /// The difference that these replies show.
    pub(crate) fn known(&self, replies: &Replies) -> Option<&Difference> {
        self.differences.iter().find(|known| (known.is)(replies))
    }

    fn page(&self) -> String {
        let mut page = format!("\n## {}\n\nBeside {}.\n", self.name, self.real);
        for paragraph in self.compared {
            let _ = write!(page, "\n{paragraph}\n");
        }
        if !self.differences.is_empty() {
            page += "\nIn replies:\n\n| difference | real | simulated | why it is left |\n|---|---|---|---|\n";
            for Difference {
                name,
                real,
                simulated,
                why,
                ..
            } in self.differences
            {
                let _ = writeln!(page, "| {name} | {real} | {simulated} | {why} |");
            }
        }
        if !self.beyond.is_empty() {
            page += "\nBeyond replies:\n";
            page += &reasons(self.beyond);
        }
        page
    }
}

impl takeover::Report {
    fn page(&self) -> String {
        let mut page = format!("\n## {}\n\nBeside {}.\n", self.name, self.real);
        for paragraph in self.compared {
            let _ = write!(page, "\n{paragraph}\n");
        }
        page + &reasons(self.beyond)
    }
}

/// What is otherwise, and why.
fn reasons(differences: &[(&str, &str)]) -> String {
    let mut table = "\n| difference | why it is left |\n|---|---|\n".to_owned();
    for (what, why) in differences {
        let _ = writeln!(table, "| {what} | {why} |");
    }
    table
}

const HEAD: &str = "# Simulated stores and real ones: the differences that remain

Made by `npm run test:stores`, which fails when a reply differs otherwise than listed here, when a listed difference is not
seen, or when this page is not what the code says (`UPDATE_DIFFERENCES=1 npm run test:stores` writes it).
";

/// Whether the page says what the code does.
///
/// # Errors
/// What to do when it does not.
pub(crate) fn check(reports: &[&Report], takeovers: &[Takeovers]) -> Result<(), String> {
    let mut page = HEAD.to_owned();
    for report in reports {
        page += &report.page();
    }
    for takeover in takeovers {
        page += &takeover.report.page();
    }
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("DIFFERENCES.md");
    if std::env::var_os("UPDATE_DIFFERENCES").is_some() {
        return std::fs::write(&path, page).map_err(|why| format!("{}: {why}", path.display()));
    }
    if std::fs::read_to_string(&path).is_ok_and(|there| there == page) {
        return Ok(());
    }
    Err("tests/stores/DIFFERENCES.md is not what the code says: \
         write it with `UPDATE_DIFFERENCES=1 npm run test:stores` and read what changed."
        .to_owned())
}
