//! etcd on the desk.

use super::store::{Faults, Model};
use crate::desk::Subject;
pub(crate) use crate::desk::{Fate, SECOND};
use tenure::Instant;
use tenure::lease::Boot;
use tenure::lease::etcd::{Config, Etcd, Reply, Request};

pub(crate) type Desk = crate::desk::Desk<Etcd>;

impl Subject for Etcd {
    type Config = Config;
    type Model = Model;
    const NOT_DONE: Reply = Reply::NotDone;

    fn model() -> Model {
        Model::new(0, Faults::None)
    }

    fn boot(config: Config, boot: Boot, now: Instant) -> Self {
        Self::new(config, boot, now).unwrap()
    }

    fn is_told(reply: &Reply, _: Option<&Request>) -> bool {
        matches!(reply, Reply::Watched(_) | Reply::WatchEnded)
    }
}
