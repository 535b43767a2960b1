//! The calls: how each thing that is asked for is asked of ZooKeeper.

use super::ZooKeeper;
use super::aim::{Aim, Kind};
use crate::lease::Rules;
use crate::lease::zookeeper::api::{Path, Request};
use crate::lease::zookeeper::queue;

impl<R: Rules> ZooKeeper<R> {
    /// The call that something is asked for with; `None` when there is nothing to ask it of any more.
    pub(super) fn call(&self, kind: Kind) -> Option<Request> {
        let session = self.client.session.id();
        let data = |path: &Option<Path>, watch| {
            let path = path.clone()?;
            Some(Request::Data {
                session,
                path,
                watch,
            })
        };
        match kind {
            Kind::Connect => Some(Request::Connect {
                timeout: self.client.config.common.timing.ttl,
            }),
            Kind::Close => Some(Request::Close { session }),
            Kind::KeepAlive => Some(Request::SetData {
                session,
                path: self.own.clone()?,
                data: self.client.config.common.claimant.clone(),
                version: self.version,
            }),
            Kind::Parent(parts) => Some(Request::CreateParent {
                session,
                path: queue::ancestor(&self.client.config.parent, parts)?.into(),
            }),
            Kind::Create => Some(Request::Create {
                session,
                path: queue::asked(&self.client.config.parent, self.guid()),
                data: self.client.config.common.claimant.clone(),
            }),
            Kind::List(watch) => Some(Request::Children {
                session,
                path: self.client.config.parent.clone(),
                watch,
            }),
            Kind::Own(watch) => data(&self.own, watch),
            Kind::Before(watch) => data(&self.before, watch),
            Kind::Head(watch) => data(&self.head, watch),
            Kind::Delete => {
                let path = match self.aim {
                    Aim::Wait(_) => self.before.clone()?,
                    _ => self.own.clone()?,
                };
                Some(Request::Delete { session, path })
            }
        }
    }
}
