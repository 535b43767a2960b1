//! Ephemeral nodes in ZooKeeper.

mod controller;
mod desk;
mod reports;
mod rest;
mod store;
mod storms;

use tenure::lease::zookeeper::Config;
use tenure::lease::{Claimant, Config as Common, Identity};

pub(crate) fn common(name: &str) -> Common {
    Common::new(Claimant::new(Identity::new(name).unwrap()))
}

pub(crate) fn config(common: Common) -> Config {
    Config {
        common: common.clone(),
        ..Config::new("/tenure/elect", common.claimant)
    }
}
