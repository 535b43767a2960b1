//! A `Lease` object of Kubernetes, as client-go's `leaderelection` uses it.
//!
//! Who leads updates the object over and over, each time only if its `resourceVersion` is still the one it knows; who waits
//! looks, and takes it over when it saw no change for a lease. Times in the object are for people: nobody acts on them.
//!
//! # Where it is safer than client-go
//! - A tenure counts from the send of an acknowledged update, not from its answer (LS-4). It ends by the clock, before a
//!   release is tried and with a call hanging (LS-3, LS-7), and at once when another holder, or no object, is read (LS-1).
//!   So the renew deadline is what it says: with 15, 10 and 2 seconds and answers that take *d*, client-go stops up to
//!   12 s + *d* after its last update was done, which leaves 3 s − *d* of the lease; this machine stops after 10 s.
//! - A record is the own one by a nonce, kept in an annotation, and not by the name alone: two of one name wait for each
//!   other, and a process that comes back waits out its former self.
//! - The `leaseDurationSeconds` of others can only make a waiter wait longer, and at most [`LONGEST`] own leases (LS-8).
//! - An object that is deleted while somebody held it is not created anew before the record seen last was waited out, and
//!   what was meant for it does not touch its successor: updates name the `uid`.
//! - An update that the API server answers without having written is none: it leaves out what changes nothing, such as a
//!   renewal of a host whose calendar stands still, and waiters would see no change.
//!
//! # The token
//! It is the `resourceVersion` of the write that acquired the lease, kept in an annotation from the first renewal on. The
//! versions of all `Lease` objects come from one counter, which rises with every write, also when the object is deleted and
//! created again; since version 1.35 the API promises that they can be compared as numbers (KEP-5504), and before it they
//! could. `leaseTransitions` cannot serve: it has 31 bits, begins anew with a new object, does not change when a holder of the
//! same name comes back, and clients have reset it, or raised it, with every renewal (LS-10). It is kept up for those who
//! look at it.
//!
//! # At a glance
//! **Who leads, who takes over, what stops the old leader.** Whoever the object names, by the one update that its version
//! let through. Whoever looks first after a lease without a change; at once after a release. Its own clock, a renew deadline
//! after the send of its last update; after that, the token at the resource.
//!
//! **What it costs.** A holder updates once a `renew` period, and a waiter gets the object once in one to 2.2 `retry` periods:
//! with client-go's defaults half a write and a third of a read a second, each write replicated by the cluster's etcd. A
//! takeover takes up to 25 seconds, a hand-over up to 5.
//!
//! **When it suffices.** For the processes of a cluster that has nothing else to ask, where seconds without a leader do not
//! hurt, and where what the leader does is guarded by the token or harmless when done twice.
//!
//! **What breaks it.** Deleting or editing the object by hand while it is held: a holder learns of it with its next update,
//! and until then, at most a renew deadline, two may believe. Clocks beyond the bound of their pace. A cluster restored from a
//! backup, where versions fall back (LS-53): raise the generation then. Clients in the same election that are less careful:
//! client-go counts from the answer (LS-4), and takes a record of its own name for its own.

mod api;
mod config;
mod machine;

pub use api::{Lease, Record, Reply, Request, Uid, annotation};
pub use config::{Config, LONGEST};
pub use machine::{Kubernetes, MAX_TRANSITIONS};
