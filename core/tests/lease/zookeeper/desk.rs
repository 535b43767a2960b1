//! ZooKeeper on the desk.

use super::store::{Faults, Model};
use crate::desk::Subject;
pub(crate) use crate::desk::{Fate, SECOND};
use tenure::Instant;
use tenure::lease::Boot;
use tenure::lease::zookeeper::{Config, Path, Reply, Request, ZooKeeper};

pub(crate) type Desk = crate::desk::Desk<ZooKeeper>;

impl Subject for ZooKeeper {
    type Config = Config;
    type Model = Model;
    const NOT_DONE: Reply = Reply::NotDone;

    fn model() -> Model {
        Model::new(0, Faults::None)
    }

    fn boot(config: Config, boot: Boot, now: Instant) -> Self {
        Self::new(config, boot, now).unwrap()
    }

    fn is_told(reply: &Reply, asked: Option<&Request>) -> bool {
        match reply {
            Reply::Connected { .. } => false,
            Reply::Changed(_) => true,
            _ => matches!(asked, Some(Request::Connect { .. })),
        }
    }
}

impl Desk {
    /// The own node of a node.
    pub(crate) fn own(&self, me: usize) -> Path {
        self.nodes[me].machine.node().expect("it has one").clone()
    }
}
