//! What the literature says: every statement is as the documents go by, in few seeds; and no verdict holds whatever the figures.

use tenure_sim::claims::{Claim, Figures, Table, Verdict, all};

const SEEDS: u64 = 6;

fn measured(claim: &Claim) -> Vec<Figures> {
    let figures = claim.parts.iter().map(|part| {
        let mut figures = Figures::default();
        (0..SEEDS).for_each(|seed| figures.add((part.run)(seed)));
        figures
    });
    figures.collect()
}

#[test]
fn every_statement_is_as_the_documents_go_by() {
    let mut wrong = String::new();
    for claim in all() {
        let figures = measured(&claim);
        if !claim.is_as_expected(&figures) {
            wrong += &claim.to_text(&figures);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn the_slips_of_the_literature_are_all_here() {
    let names: Vec<&str> = all().iter().map(|claim| claim.name).collect();
    for name in [
        "one-vote-a-term",
        "vote-of-a-term",
        "failover-time",
        "fencing-token",
        "renew-every-third",
        "redis-failover",
        "etcd-one-leader",
        "etcd-serializable",
        "session-id",
        "sentinel-is-raft",
        "kafka-controller-store",
        "kafka-controller-epoch",
    ] {
        assert!(names.contains(&name), "{name}");
    }
    let mut unique = names.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), names.len());
}

/// Figures of nothing, of nothing that occurs, and of something in every run.
#[test]
fn no_verdict_is_there_whatever_the_figures_say() {
    for claim in all() {
        let of = |figure: Option<u64>| -> Vec<Figures> {
            let mut figures = Figures::default();
            figure.into_iter().for_each(|figure| figures.add(figure));
            claim.parts.iter().map(|_| figures.clone()).collect()
        };
        let verdicts = [None, Some(0), Some(1 << 40)].map(|figure| (claim.judge)(&of(figure)));
        assert_ne!(verdicts[0], claim.expected, "{} without a run", claim.name);
        assert!(
            verdicts[1..]
                .iter()
                .any(|verdict| *verdict != claim.expected),
            "{} whatever occurs",
            claim.name
        );
    }
}

#[test]
fn what_runs_do_not_show_is_said_and_fails() {
    let claim = all()
        .into_iter()
        .find(|claim| claim.name == "one-vote-a-term");
    let claim = claim.unwrap();
    let mut nothing = Figures::default();
    nothing.add(0);
    let figures = vec![nothing; claim.parts.len()];
    let text = claim.to_text(&figures);
    assert!(text.contains("NOT AS EXPECTED"), "{text}");
    assert!(text.contains("never in 1 runs"), "{text}");
    assert_eq!((claim.judge)(&figures), Verdict::Holds);
    let table = Table {
        claims: vec![(claim, figures)],
    };
    assert!(!table.is_as_expected());
    assert!(
        table
            .summary()
            .contains("one-vote-a-term is holds and not corrected"),
        "{}",
        table.summary()
    );
    let json: serde_json::Value = serde_json::from_str(&table.to_json()).unwrap();
    assert_eq!(json["asExpected"], false);
    assert_eq!(json["claims"][0]["figures"][0]["runs"], 1);
}

#[test]
fn the_runs_that_are_named_are_in_the_gallery() {
    let gallery = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios");
    for claim in all() {
        if let Some(name) = claim.gallery {
            assert!(gallery.join(format!("{name}.json")).exists(), "{name}");
        }
    }
}
