//! What a node does for its clients when it leads: take over, then write to both resources.
//!
//! It keeps the two rules a leader has to keep. It asks `standing` before every effect, and it shows its token with
//! every effect. What it cannot keep is that no time passes between the two: the process may freeze there, and the
//! message may be slow. That is what the fence is for.

use crate::packet::{Done, Outcome, Packet};
use tenure::Token;
use tenure::fence::Pass;

/// How a new leader takes over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takeover {
    /// Fence both resources, read them, then write: right.
    FenceFirst,
    /// Read, and fence by the first write: what its predecessor still writes is lost (LS-F5).
    ReadFirst,
}

/// The two resources, in the order of their actors.
pub const RESOURCES: usize = 2;

/// The application on one node; volatile.
#[derive(Clone, Debug, Default)]
pub struct App {
    office: Option<Office>,
    /// Writes that were checked and wait for the node to have thought about them, oldest first.
    thinking: Vec<Thought>,
}

/// What a leader keeps for one tenure.
#[derive(Clone, Copy, Debug)]
struct Office {
    pass: Pass,
    stage: Stage,
    /// Answers still missing before the next stage.
    missing: usize,
    /// The values last written: the leader is the only writer, so it reads once and counts from there.
    next: [u64; RESOURCES],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Fencing,
    Reading,
    Serving,
}

#[derive(Clone, Copy, Debug)]
struct Thought {
    due: u64,
    request: u64,
    pass: Pass,
    /// What it writes: read, modified, and about to be written.
    values: [u64; RESOURCES],
}

impl App {
    /// The node was established: what to ask of every resource first.
    pub fn established(&mut self, pass: Pass, takeover: Takeover) -> Packet {
        let stage = match takeover {
            Takeover::FenceFirst => Stage::Fencing,
            Takeover::ReadFirst => Stage::Reading,
        };
        self.office = Some(Office {
            pass,
            stage,
            missing: RESOURCES,
            next: [0; RESOURCES],
        });
        match stage {
            Stage::Fencing => Packet::Fence { pass },
            _ => Packet::Read { pass },
        }
    }

    /// The node's term is over. Writes already thought about are not taken back: nobody told the thought.
    pub fn deposed(&mut self) {
        self.office = None;
    }

    /// A client asks; `leading` is the token of the tenure that `standing` shows right now, if any. Either the answer to
    /// the client, or `None`: the write was checked and is thought about until `due`.
    pub fn asked(
        &mut self,
        request: u64,
        leading: Option<Token>,
        leader: Option<u16>,
        due: u64,
    ) -> Option<Outcome> {
        let Some(token) = leading else {
            return Some(Outcome::Redirected(leader));
        };
        match &mut self.office {
            Some(office) if office.pass.token == token && office.stage == Stage::Serving => {
                for value in &mut office.next {
                    *value += 1;
                }
                self.thinking.push(Thought {
                    due,
                    request,
                    pass: office.pass,
                    values: office.next,
                });
                None
            }
            _ => Some(Outcome::NotYet),
        }
    }

    /// The next write that has been thought about by `now`, for each resource. The standing is *not* asked again: this is
    /// the gap between check and effect.
    pub fn thought(&mut self, now: u64) -> Option<[Packet; RESOURCES]> {
        let Thought {
            request,
            pass,
            values,
            ..
        } = *self.thinking.first().filter(|thought| thought.due <= now)?;
        self.thinking.remove(0);
        Some(values.map(|value| Packet::Write {
            pass,
            request,
            value,
        }))
    }

    /// A resource answered: what to ask of every resource next, if a stage of the takeover is complete.
    pub fn answered(&mut self, resource: usize, pass: Pass, done: Done) -> Option<Packet> {
        let office = self.office.as_mut().filter(|office| office.pass == pass)?;
        match (office.stage, done) {
            (Stage::Fencing, Done::Fenced) => office.missing -= 1,
            (Stage::Reading, Done::Read(value)) => {
                if let Some(next) = office.next.get_mut(resource) {
                    *next = value;
                }
                office.missing -= 1;
            }
            _ => return None,
        }
        if office.missing > 0 {
            return None;
        }
        if office.stage == Stage::Fencing {
            office.stage = Stage::Reading;
            office.missing = RESOURCES;
            return Some(Packet::Read { pass });
        }
        office.stage = Stage::Serving;
        None
    }

    /// Whether it has taken over and serves clients.
    #[must_use]
    pub fn serving(&self) -> bool {
        self.office
            .is_some_and(|office| office.stage == Stage::Serving)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::ELECTION;
    use tenure::NodeId;
    use tenure::fence::Holder;

    fn pass(counter: u64) -> Pass {
        Pass {
            election: ELECTION,
            token: Token::new(0, counter),
            holder: Holder {
                node: NodeId(1),
                incarnation: 1,
            },
        }
    }

    fn serving(pass: Pass) -> App {
        let mut app = App::default();
        app.established(pass, Takeover::ReadFirst);
        app.answered(0, pass, Done::Read(10));
        app.answered(1, pass, Done::Read(20));
        app
    }

    #[test]
    fn fence_then_read_then_write() {
        let mut app = App::default();
        let pass = pass(3);
        assert!(matches!(
            app.established(pass, Takeover::FenceFirst),
            Packet::Fence { .. }
        ));
        assert!(app.answered(0, pass, Done::Fenced).is_none());
        assert!(matches!(
            app.answered(1, pass, Done::Fenced),
            Some(Packet::Read { .. })
        ));
        assert!(app.answered(0, pass, Done::Read(10)).is_none() && !app.serving());
        assert_eq!(
            app.asked(1, Some(pass.token), None, 5),
            Some(Outcome::NotYet)
        );
        assert!(app.answered(1, pass, Done::Read(20)).is_none() && app.serving());
        assert_eq!(app.asked(1, Some(pass.token), None, 5), None);
        assert!(app.thought(4).is_none());
        let Some(
            [
                Packet::Write { value: first, .. },
                Packet::Write { value: second, .. },
            ],
        ) = app.thought(5)
        else {
            panic!()
        };
        assert_eq!((first, second), (11, 21));
    }

    #[test]
    fn a_node_that_does_not_lead_says_who_does() {
        let mut app = serving(pass(3));
        assert_eq!(
            app.asked(1, None, Some(2), 5),
            Some(Outcome::Redirected(Some(2)))
        );
        assert_eq!(
            app.asked(1, Some(pass(4).token), None, 5),
            Some(Outcome::NotYet),
            "a newer tenure is not taken over yet"
        );
    }

    #[test]
    fn a_thought_outlives_the_office() {
        let mut app = serving(pass(3));
        app.asked(1, Some(pass(3).token), None, 5);
        app.deposed();
        assert!(app.thought(5).is_some() && !app.serving());
    }

    #[test]
    fn answers_to_an_earlier_tenure_do_not_count() {
        let mut app = App::default();
        app.established(pass(4), Takeover::FenceFirst);
        for resource in 0..RESOURCES {
            assert!(app.answered(resource, pass(3), Done::Fenced).is_none());
        }
    }
}
