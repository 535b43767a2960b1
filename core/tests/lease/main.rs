//! Elections over stores: each scheme by hand, and under a hostile host and network, with the invariants judged from outside.

mod desk;
mod etcd;
mod kubernetes;
mod redis;
mod redlock;
mod rules;
mod sceptic;
mod sql;
mod storm;
mod zookeeper;
