//! The names and limits of the file format that its reader and its writer share.

use crate::app::Takeover;
use tenure::raft::Rule;

/// The most nodes a scenario may have.
pub(super) const MAX_NODES: usize = 200;
/// The longest run: one hour.
pub(super) const MAX_DURATION: u64 = 3_600_000_000;
/// The most actions a scenario may have.
pub(super) const MAX_FAULTS: usize = 10_000;
/// The finest rhythm of heartbeats and clients.
pub(super) const MIN_PERIOD: u64 = 1_000;

pub(super) const TAKEOVERS: [(&str, Takeover); 2] = [
    ("fence-first", Takeover::FenceFirst),
    ("read-first", Takeover::ReadFirst),
];

/// The names of the rules, in their order: their names in the core, in kebab case.
pub(super) fn rule_names() -> Vec<String> {
    Rule::ALL.into_iter().map(rule_name).collect()
}

pub(super) fn rule_name(rule: Rule) -> String {
    let mut name = String::new();
    for letter in format!("{rule:?}").chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('-');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_have_kebab_names() {
        assert_eq!(rule_name(Rule::OneVoteATerm), "one-vote-a-term");
        assert_eq!(rule_name(Rule::PreVote), "pre-vote");
        assert_eq!(rule_names().len(), Rule::ALL.len());
    }
}
