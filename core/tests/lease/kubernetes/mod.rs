//! The `Lease` object of Kubernetes.

pub(crate) mod api;
mod desk;
mod order;
mod reports;
mod rest;
mod storms;

use tenure::lease::kubernetes::Config;
use tenure::lease::{Claimant, Identity};

pub(crate) fn config(name: &str) -> Config {
    Config::new(Claimant::new(Identity::new(name).unwrap()))
}
