//! The calls: how each thing that is asked for is asked of ZooKeeper.

use super::Controller;
use super::aim::Kind;
use super::api::{Guard, Request};
use crate::lease::Rules;
use crate::lease::zookeeper::api::Path;
use crate::lease::zookeeper::queue;

impl<R: Rules> Controller<R> {
    /// The call that something is asked for with; `None` when there is nothing to ask it of.
    pub(super) fn call(&self, kind: Kind) -> Option<Request> {
        let session = self.client.session.id();
        let data = |path: &Path, watch| Request::Data {
            session,
            path: path.clone(),
            watch,
        };
        Some(match kind {
            Kind::Connect => Request::Connect {
                timeout: self.client.config.common.timing.ttl,
            },
            Kind::Close => Request::Close { session },
            Kind::Renew => Request::Renew {
                session,
                path: self.path.clone(),
                data: self.client.config.common.claimant.clone(),
                guard: self.its_guard(),
            },
            Kind::Parent(parts) => Request::CreateParent {
                session,
                path: queue::ancestor(&self.client.config.parent, parts)?.into(),
            },
            Kind::Start => Request::CreateEpoch {
                session,
                path: self.epoch_path.clone(),
            },
            Kind::Look(watch) => data(&self.path, watch),
            Kind::Epoch => data(&self.epoch_path, false),
            Kind::Claim => Request::Claim {
                session,
                path: self.path.clone(),
                data: self.client.config.common.claimant.clone(),
                epoch: self.claimed,
                guard: Guard {
                    path: self.epoch_path.clone(),
                    version: self.version,
                },
            },
            Kind::Delete => Request::Delete {
                session,
                path: self.path.clone(),
                guard: self.its_guard(),
            },
        })
    }
}
