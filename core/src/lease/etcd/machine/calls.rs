//! The calls: how each thing that is asked for is asked of etcd.

use super::{Etcd, Kind, Watch};
use crate::lease::etcd::api::{Compare, Key, Keys, Operation, Order, Range, Request, Txn};
use crate::lease::etcd::config::Mode;
use crate::lease::{Rule, Rules, value};

impl<R: Rules> Etcd<R> {
    /// The call that something is asked for with.
    pub(super) fn call(&self, kind: Kind) -> Request {
        let lease = self.session.lease();
        let compare = |create_revision| Compare {
            key: self.own_key(),
            create_revision,
        };
        let put = || Operation::Put {
            key: self.own_key(),
            value: value::of(&self.config.common.claimant),
            lease,
        };
        match kind {
            Kind::Grant => Request::LeaseGrant {
                lease,
                ttl: self.config.common.timing.ttl,
            },
            Kind::KeepAlive => Request::LeaseKeepAlive { lease },
            Kind::Revoke => Request::LeaseRevoke { lease },
            Kind::Create => Request::Txn(Txn {
                when: Some(compare(0)),
                then: put(),
                otherwise: Some(self.own_key()),
            }),
            Kind::Proclaim => Request::Txn(Txn {
                when: Some(compare(self.revision)),
                then: put(),
                otherwise: None,
            }),
            Kind::Delete => Request::Txn(Txn {
                when: self
                    .rules
                    .keeps(Rule::CompareAndDelete)
                    .then(|| compare(self.revision)),
                then: Operation::Delete(self.own_key()),
                otherwise: None,
            }),
            Kind::Look | Kind::Head => Request::Range(self.range(kind == Kind::Look)),
        }
    }

    /// Which keys are looked at: the own one and the one before it, or the first of all.
    fn range(&self, own: bool) -> Range {
        match &self.config.mode {
            Mode::Queue(prefix) if own => Range {
                keys: Keys::Prefix(prefix.clone()),
                max_create_revision: self.revision,
                order: Order::LastCreated,
                limit: 2,
            },
            Mode::Queue(prefix) => Range {
                keys: Keys::Prefix(prefix.clone()),
                max_create_revision: 0,
                order: Order::FirstCreated,
                limit: 1,
            },
            Mode::Single(key) => Range {
                keys: Keys::One(key.clone()),
                max_create_revision: 0,
                order: Order::FirstCreated,
                limit: 1,
            },
        }
    }

    pub(super) fn watch_own(&mut self) {
        let (mode, lease) = (&self.config.mode, self.session.lease());
        let watch = self.watch.as_ref();
        if !watch.is_some_and(|watch| mode.is_own(&watch.key, lease)) {
            let own = self.own_key();
            self.watch(&own, self.revision.saturating_add(1));
        }
    }

    /// Is told of changes of a key, from a revision on.
    pub(super) fn watch(&mut self, key: &Key, from: u64) {
        if self.watch.as_ref().is_some_and(|watch| watch.key == *key) {
            return;
        }
        self.unwatch();
        let keys = if self.is_queue() && key == self.config.mode.key() {
            Keys::Prefix(key.clone())
        } else {
            Keys::One(key.clone())
        };
        let ticket = self.requests.ticket();
        self.office.request(ticket, Request::Watch { keys, from });
        self.watch = Some(Watch {
            number: ticket.number,
            key: key.clone(),
        });
    }

    pub(super) fn unwatch(&mut self) {
        if let Some(Watch { number, .. }) = self.watch.take() {
            let watch = self.requests.numbered(number);
            let ticket = self.requests.ticket();
            self.office.request(ticket, Request::WatchCancel { watch });
        }
    }
}
