//! What is shown of brokers: how they stand in the metadata, and what each knows of the partition that clients use first.

use super::World;
use super::view::{Field, Fields, status_name};
use crate::brokers::{BrokerServer, shown::Standing};
use crate::server::{Server, Serves};
use tenure::isr::Image;

impl World {
    /// How a server stands in the metadata: whether it may lead, its broker epoch, what it is to the partition, and the leader
    /// epoch of that.
    pub(super) fn standing_numbers(&self, server: usize) -> [f64; 4] {
        let or_none = |number: Option<u64>| number.map_or(-1.0, |number| number as f64);
        let standing = self.standing(self.env.server_actor(server));
        [
            f64::from(standing.registered as u8),
            or_none(standing.epoch),
            f64::from(standing.place as u8),
            or_none(standing.leader_epoch),
        ]
    }

    fn standing(&self, broker: usize) -> Standing {
        let metadata = self.metadata();
        metadata.map_or_else(Standing::default, |image| {
            Standing::of(image, broker as u16)
        })
    }

    /// The metadata of whoever has applied most of it, a node or a broker: what is committed. It is there while no node is.
    fn metadata(&self) -> Option<&Image> {
        let nodes = self.rafts().filter_map(|(_, node)| node.metadata());
        let brokers = self
            .servers()
            .filter_map(|server| server.broker()?.metadata());
        let all = nodes.chain(brokers);
        all.max_by_key(|(next, _)| *next).map(|(_, image)| image)
    }

    /// Everything about a broker, by name: what the metadata says of it, and what it knows itself.
    pub(super) fn inspect_broker(
        &self,
        actor: usize,
        server: &Server,
        broker: &BrokerServer,
        serves: Serves,
    ) -> Vec<(&'static str, Field)> {
        let mut fields = self.fields(*server.clock());
        let known = broker.known();
        fields.actor("name", Some(actor as u16));
        fields.word("status", status_name(server.status()));
        fields.word("registration", self.standing(actor).registered.name());
        fields.count("brokerEpoch", known.epoch);
        fields.word("part", serves.part.name());
        fields.actor("copies", serves.follows);
        fields.count("leaderEpoch", known.leader_epoch);
        all(&mut fields, "isr", &known.isr);
        all(&mut fields, "elr", &known.elr);
        fields.count("logEnd", Some(serves.end));
        fields.count("highWatermark", serves.committed);
        fields.add("writable", Field::Flag(serves.writable));
        fields.number("queuedWhilePaused", server.late() as u64);
        fields.list
    }
}

/// Several servers.
fn all(fields: &mut Fields, name: &'static str, servers: &[u16]) {
    let named: Vec<String> = servers.iter().map(|actor| fields.called(*actor)).collect();
    let field = match named.is_empty() {
        true => Field::Nothing,
        false => Field::Text(named.join(", ")),
    };
    fields.add(name, field);
}
