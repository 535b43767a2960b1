//! What hosts tell of brokers: to their judges, and to each other.

#[cfg(not(target_family = "wasm"))]
use super::World;
use super::env::Env;
use crate::brokers::{News, Said, code};
use crate::check::Broken;
use crate::check::brokers::BrokerJudges;
#[cfg(not(target_family = "wasm"))]
use crate::fault::Who;
use crate::packet::Packet;
use crate::physics::trace::{Event, Kind};
use tenure::isr::{BrokerEvent, ReplicaEvent};

impl Env {
    /// Tells the judges of brokers, and shows what they find broken.
    pub(crate) fn judge_brokers(
        &mut self,
        actor: usize,
        tell: impl FnOnce(&mut BrokerJudges, u64) -> Broken,
    ) {
        let now = self.now;
        if let Some(judges) = self.judges.brokers() {
            let broken = tell(judges, now);
            self.violated(broken, actor);
        }
    }

    /// One of a broker, a controller or a client says something to another.
    pub(crate) fn say_of_brokers(&mut self, me: usize, to: u16, said: Said) {
        let (to, packet) = (usize::from(to), Packet::Brokers(Box::new(said)));
        if me < self.members() && to < self.members() {
            self.send(me, to, packet);
        } else {
            self.send_outside(me, to, 0, packet);
        }
    }

    /// Something happened at a broker.
    pub(crate) fn hear_of_broker(&mut self, me: usize, news: &News) {
        let told = match news {
            News::Broker(event) => {
                let (code, epoch) = match *event {
                    BrokerEvent::Registered(epoch) => (0, Some(epoch)),
                    BrokerEvent::Unfenced => (1, None),
                    BrokerEvent::Fenced => (2, None),
                    BrokerEvent::Stopped(epoch) => (3, Some(epoch)),
                    _ => (4, None),
                };
                Some((code, epoch, None))
            }
            News::Replica(_, event, epoch) => match *event {
                ReplicaEvent::Leads(epoch) => Some((5, Some(epoch), None)),
                ReplicaEvent::Follows(epoch, leader) => Some((6, Some(epoch), Some(leader))),
                ReplicaEvent::Waits => Some((7, Some(*epoch), None)),
                ReplicaEvent::Truncated(_) => Some((8, Some(*epoch), None)),
                _ => None,
            },
            _ => None,
        };
        if let Some((code, epoch, other)) = told {
            let mut event = Event::new(Kind::News, me).a(code::FIRST_NEWS + code);
            event = epoch.map_or(event, |epoch| event.term(epoch));
            self.emit(other.map_or(event, |other| event.with(other.0 as usize)));
        }
        self.judge_brokers(me, |judges, now| judges.news(now, me, news));
    }
}

#[cfg(not(target_family = "wasm"))]
impl World {
    /// What becomes of brokers and partitions is kept from now on, if there are any.
    pub(crate) fn keep_annals(&mut self) {
        if let Some(judges) = self.env.judges.brokers() {
            judges.keep_annals();
        }
    }

    /// The brokers that were told to go, and have not gone.
    pub(crate) fn leaving(&self) -> Vec<Who> {
        let servers = (0..).zip(self.servers());
        let leaving = servers.filter(|(_, server)| {
            (server.broker()).is_some_and(crate::brokers::BrokerServer::is_leaving)
        });
        leaving.map(|(server, _)| Who::Server(server)).collect()
    }
}
