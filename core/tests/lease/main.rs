//! Elections over stores: each scheme by hand, and under a hostile host and network, with the invariants judged from outside.

mod etcd;
mod sql;
mod storm;
mod zookeeper;
