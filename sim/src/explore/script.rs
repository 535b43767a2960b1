//! What a counterexample needs of its surroundings: which message arrives when, and which write is done when.
//!
//! The model delivers a message and does a write at an instant of its choice. A world decides both when they begin: a
//! message knows at its send when it arrives. So the actions are played once, to see what each begins and what ends it.

use super::model::{Action, Mail, Model, Spent};
use super::node::{Node, Stir};
use tenure::raft::{Message, Role};

/// The actions of a counterexample but for the passing of time, and what goes on between them.
#[derive(Clone, Debug, Default)]
pub(super) struct Script {
    pub(super) acts: Vec<Act>,
    pub(super) posts: Vec<Post>,
    pub(super) writes: Vec<Write>,
    /// The rates of the clocks.
    pub(super) rates: Vec<u64>,
}

/// Something that happens to a node.
#[derive(Clone, Debug)]
pub(super) struct Act {
    /// How many microseconds of the model had passed.
    pub(super) tick: u64,
    pub(super) place: usize,
    pub(super) action: Action,
    /// What the node was before.
    pub(super) role: Role,
}

/// A message: sent in one act, to arrive in others.
#[derive(Clone, Debug)]
pub(super) struct Post {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) sent: usize,
    pub(super) arrives: Vec<usize>,
    /// As it is in flight now.
    message: Message,
}

/// A write: asked for in one act, done in another, or lost in a crash.
#[derive(Clone, Copy, Debug)]
pub(super) struct Write {
    pub(super) place: usize,
    pub(super) asked: usize,
    pub(super) done: Option<usize>,
    open: bool,
}

impl Script {
    /// Plays the actions from an initial state of the model.
    pub(super) fn of(model: &Model, initial: usize, actions: &[Action]) -> Self {
        let mut script = Self::default();
        let Some(mut nodes) = model.first_nodes().into_iter().nth(initial) else {
            return script;
        };
        script.rates = nodes.iter().map(|node| node.rate).collect();
        let (mut tick, mut spent) = (0, Spent::default());
        for action in actions {
            let Some(place) = action.place() else {
                tick += 1;
                script.tick(model, &mut nodes, spent.phase);
                spent = model.spend_tick(spent).unwrap_or(spent);
                continue;
            };
            let act = script.acts.len();
            script.acts.push(Act {
                tick,
                place,
                action: action.clone(),
                role: nodes[place].machine.role(),
            });
            script.act(model, &mut nodes, act);
        }
        script
    }

    fn tick(&mut self, model: &Model, nodes: &mut [Node], phase: u8) {
        let moved: Vec<u64> = nodes
            .iter()
            .map(|node| model.moves(phase, node.rate))
            .collect();
        for (place, node) in nodes.iter_mut().enumerate() {
            *node = model.group.stir(place, node, Stir::Tick(&moved)).node;
        }
        for post in &mut self.posts {
            let by = post.mail().clock().map_or(0, |place| moved[place]);
            post.message = model.group.aged(&post.message, by);
        }
    }

    fn act(&mut self, model: &Model, nodes: &mut [Node], at: usize) {
        let Act {
            place, ref action, ..
        } = self.acts[at];
        let Some(stir) = action.stir() else { return };
        let over = match action {
            Action::Deliver(mail) => {
                // Of equal ones, one that has not arrived yet.
                let same = |post: &&mut Post| post.mail() == *mail;
                let arrived = |post: &&mut Post| post.arrives.len();
                if let Some(post) = self.posts.iter_mut().filter(same).min_by_key(arrived) {
                    post.arrives.push(at);
                }
                0
            }
            Action::Written(_) => 1,
            Action::Crash(_, done) => *done,
            _ => 0,
        };
        let crashes = matches!(action, Action::Crash(..));
        let open = self.writes.iter_mut();
        for (count, write) in open
            .filter(|write| write.open && write.place == place)
            .enumerate()
        {
            if count < over {
                write.done = Some(at);
            }
            write.open &= !crashes && count >= over;
        }
        let before = nodes[place].writes();
        let stirred = model.group.stir(place, &nodes[place], stir);
        let left = if crashes {
            0
        } else {
            before - over.min(before)
        };
        for _ in left..stirred.node.writes() {
            self.writes.push(Write {
                place,
                asked: at,
                done: None,
                open: true,
            });
        }
        for (to, message) in stirred.sent {
            self.posts.push(Post {
                from: place,
                to,
                sent: at,
                arrives: Vec::new(),
                message,
            });
        }
        nodes[place] = stirred.node;
    }
}

impl Post {
    fn mail(&self) -> Mail {
        Mail {
            from: self.from as u8,
            to: self.to as u8,
            message: self.message.clone(),
        }
    }
}
