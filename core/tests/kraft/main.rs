//! KRaft, under a hostile host, network and disk, with every invariant of the scheme judged from outside.

mod desk;
mod explore;
mod fetches;
mod hand;
mod judge;
mod mutants;
mod offices;
mod reports;
mod rest;
mod storms;
mod timelines;
mod votes;
mod wild;
