//! KRaft, under a hostile host, network and disk, with every invariant of the scheme judged from outside.

mod by_hand;
mod desk;
mod judge;
mod mutants;
mod reports;
mod rest;
mod storms;
mod timelines;
mod wild;
