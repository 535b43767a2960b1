//! Keys in etcd.

mod desk;
mod reports;
mod rest;
mod store;
mod storms;

use tenure::lease::etcd::{Config, Mode};
use tenure::lease::{Claimant, Config as Common, Identity};

pub(crate) fn common(name: &str) -> Common {
    Common::new(Claimant::new(Identity::new(name).unwrap()))
}

pub(crate) fn queue(common: Common) -> Config {
    let mode = Mode::queue("elect");
    Config { common, mode }
}

pub(crate) fn single(common: Common) -> Config {
    let mode = Mode::Single("leader".into());
    Config { common, mode }
}

/// Both ways.
pub(crate) const WAYS: [fn(Common) -> Config; 2] = [queue, single];
