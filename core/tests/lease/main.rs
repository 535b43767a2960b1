//! Elections over stores: each scheme by hand, and under a hostile host and network, with the invariants judged from outside.

mod etcd;
mod kubernetes;
mod redis;
mod redlock;
mod sql;
mod sceptic;
mod storm;
mod zookeeper;
