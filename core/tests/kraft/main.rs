//! KRaft, under a hostile host, network and disk, with every invariant of the scheme judged from outside.

mod desk;
mod judge;
mod mutants;
mod reports;
mod storms;
mod timelines;
