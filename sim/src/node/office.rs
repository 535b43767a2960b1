//! A node as one of Kafka's controllers: what it decides of brokers goes into the log, and what the log commits is applied.

use super::{Node, Status};
use crate::brokers::{Away, Office, Said};
use crate::scheme::{Hosted, RoleCode};
use crate::store::Request;
use crate::world::env::Env;
use std::sync::Arc;
use tenure::isr::Image;
use tenure::{Input, Instant};

impl<M: Hosted> Node<M> {
    /// The process begins: nothing is applied yet.
    pub(super) fn open_office(&mut self, env: &Env) {
        self.office = env.brokers.and_then(Office::new).map(Box::new);
    }

    /// The metadata, as far as it was applied here, and how far that is.
    pub(crate) fn metadata(&self) -> Option<(u64, &Image)> {
        let office = self.office.as_ref()?;
        Some((office.next(), office.image()))
    }

    /// A broker or one of its clients says something.
    pub(super) fn hear_brokers(&mut self, env: &mut Env, me: usize, from: u16, said: &Said) {
        let now = self.clock.reads(env.now);
        let Some(office) = &mut self.office else {
            return;
        };
        match said {
            Said::FetchMetadata { .. } => office.fetch(now, from, said),
            Said::Ask {
                asker,
                ticket,
                request,
            } => office.request(now, (from, *asker, *ticket), request),
            _ => return,
        }
        self.settle(env, me);
    }

    /// Decides what is to be decided, and answers whom there is something to say to. Whether the machine has more to say since.
    pub(super) fn keep_office(&mut self, env: &mut Env, me: usize) -> bool {
        let now = self.clock.reads(env.now);
        let (Some(office), Some(machine), Some(replica)) =
            (&mut self.office, &mut self.machine, &mut self.replica)
        else {
            return false;
        };
        let look = machine.look();
        let established = (look.role == RoleCode::Established).then_some(look.term);
        let end = machine.log().map_or(0, |log| log.last().index);
        office.look(now, established, end);
        let (mut said, mut moved): (Vec<Away>, bool) = (Vec::new(), false);
        while let Some(output) = office.poll(look.leader) {
            let (first, records) = match output {
                Ok(decided) => decided,
                Err(away) => {
                    said.push(away);
                    continue;
                }
            };
            moved = true;
            for (index, record) in (first..).zip(records) {
                let number = replica.own_number(self.lives);
                match machine.propose(now).filter(|at| at.index == index) {
                    Some(at) => {
                        let request = Arc::new(Request::Metadata(Box::new(record)));
                        replica.proposed_own(at, (me as u16, number), request);
                    }
                    // KC-3: what the log does not take is taken back, and its leader resigns with the controller.
                    None => {
                        office.renounce();
                        machine.handle(now, Input::Resign { to: None });
                        break;
                    }
                }
            }
        }
        let leads = look.role.leads().then_some(look.term);
        if let Some(log) = machine.log() {
            said.extend(office.answers(now, leads, look.leader, log, replica));
        }
        for (to, said) in said {
            env.say_of_brokers(me, to, said);
        }
        moved
    }

    /// When the controller has something to do by itself.
    pub(super) fn office_due(&self) -> Option<Instant> {
        self.office.as_ref()?.deadline()
    }

    /// The time has come for it.
    pub(super) fn look_at_office(&mut self, env: &mut Env, me: usize) {
        let now = self.clock.reads(env.now);
        if self.status == Status::Up
            && self.office_due().is_some_and(|due| due <= now)
            && let Some(office) = &mut self.office
        {
            office.timeout(now);
            self.settle(env, me);
        }
    }
}
