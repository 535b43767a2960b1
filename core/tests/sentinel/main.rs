//! Failovers by sentinels: each rule by hand, the public reports, and random schedules, with the invariants judged from outside.

mod by_hand;
mod desk;
mod faults;
mod judge;
mod laws;
mod operator;
mod plan;
mod reports;
mod sceptic;
mod servers;
mod storm;
mod votes;
