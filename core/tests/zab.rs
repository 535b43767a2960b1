//! ZooKeeper's election and broadcast: its invariants under schedules by the thousand, its public bug reports, its rules one by
//! one, and what every scheme keeps.

#[path = "zab/by_hand.rs"]
mod by_hand;
#[path = "zab/desk.rs"]
mod desk;
#[path = "zab/explore.rs"]
mod explore;
#[path = "zab/hand.rs"]
mod hand;
#[path = "zab/histories.rs"]
mod histories;
#[path = "zab/judge.rs"]
mod judge;
#[path = "zab/laws.rs"]
mod laws;
#[path = "zab/links.rs"]
mod links;
#[path = "zab/lost.rs"]
mod lost;
#[path = "zab/reports.rs"]
mod reports;
#[path = "zab/storms.rs"]
mod storms;
