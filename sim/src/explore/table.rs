//! Every node state and every message once, under a number; and every step of a node once.
//!
//! A group has millions of states but its nodes few: a state becomes a handful of numbers, and a step that was taken before
//! is looked up. What stands for a node state is the first machine that was found in it: states that look alike answer alike
//! (law C10), which the comparison with the plain [`super::Model`] puts to the test.

use super::hash::Table;
use super::law::Law;
use super::model::{Mail, Model};
use super::node::{Node, Stir};
use super::setting::MAX_VOTERS;

/// A node state.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) node: Node,
    pub(super) place: usize,
    /// What of it does not change with the names.
    pub(super) key: u64,
    pub(super) may_time_out: bool,
    pub(super) believes: bool,
}

/// A step of one node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    /// The node state after it.
    pub(super) node: u32,
    /// Where what it said begins and ends in [`Tables::said`].
    said: (u32, u32),
    pub(super) elected: u8,
    pub(super) established: u8,
    pub(super) broken: Option<Law>,
    /// It leads to a term beyond the bound.
    pub(super) beyond: bool,
}

/// All that was met so far.
#[derive(Debug)]
pub(super) struct Tables {
    /// The ways to name the nodes: `order[k]` is the place of the node named `k`. The first keeps the names.
    pub(super) orders: Vec<Vec<usize>>,
    pub(super) nodes: Vec<Entry>,
    node_by_print: Table<u32>,
    /// The fingerprint of each node state under each order.
    node_prints: Vec<u64>,
    /// The same without what waits for the disk; empty when nothing is projected.
    bare_prints: Vec<u64>,
    projects: bool,
    pub(super) mails: Vec<Mail>,
    mail_by_print: Table<u32>,
    mail_prints: Vec<u64>,
    /// A message after its clock moved on, by message and distance; 0 is "not yet known".
    aged: Vec<[u32; 3]>,
    taken: Vec<Taken>,
    taken_by: Table<u32>,
    said: Vec<u32>,
}

impl Tables {
    pub(super) fn new(voters: usize, renamed: bool, projects: bool) -> Self {
        let mut orders = Vec::new();
        permutations(&mut (0..voters).collect(), 0, &mut orders);
        orders.sort_unstable();
        if !renamed {
            orders.truncate(1);
        }
        Self {
            orders,
            nodes: Vec::new(),
            node_by_print: Table::default(),
            node_prints: Vec::new(),
            bare_prints: Vec::new(),
            projects,
            mails: Vec::new(),
            mail_by_print: Table::default(),
            mail_prints: Vec::new(),
            aged: Vec::new(),
            taken: Vec::new(),
            taken_by: Table::default(),
            said: Vec::new(),
        }
    }

    /// The number of a node state.
    pub(super) fn node(&mut self, model: &Model, place: usize, node: Node) -> u32 {
        let timed = model.group.timed;
        let print = node.print(place, &self.orders[0], timed);
        if let Some(known) = self.node_by_print.get(&print) {
            return *known;
        }
        let number = self.nodes.len() as u32;
        self.node_by_print.insert(print, number);
        for order in &self.orders {
            self.node_prints.push(node.print(place, order, timed));
            if self.projects {
                self.bare_prints.push(node.print_bare(place, order, timed));
            }
        }
        self.nodes.push(Entry {
            place,
            key: node.key(place),
            may_time_out: model.group.may_time_out(&node),
            believes: node.believes().is_some(),
            node,
        });
        number
    }

    /// The number of a message.
    pub(super) fn mail(&mut self, mail: Mail) -> u32 {
        let print = mail.print(&self.orders[0]);
        if let Some(known) = self.mail_by_print.get(&print) {
            return *known;
        }
        let number = self.mails.len() as u32;
        self.mail_by_print.insert(print, number);
        for order in &self.orders {
            self.mail_prints.push(mail.print(order));
        }
        self.mails.push(mail);
        self.aged.push([number + 1, 0, 0]);
        number
    }

    /// The message after its clock moved on by `by`, at most two.
    pub(super) fn aged(&mut self, model: &Model, mail: u32, by: u64) -> u32 {
        let known = self.aged[mail as usize][by as usize];
        if known > 0 {
            return known - 1;
        }
        let Mail {
            from,
            to,
            ref message,
        } = self.mails[mail as usize];
        let message = model.group.aged(message, by);
        let number = self.mail(Mail { from, to, message });
        self.aged[mail as usize][by as usize] = number + 1;
        number
    }

    /// A step of one node, `code` naming what happens to it.
    pub(super) fn step(&mut self, model: &Model, node: u32, code: u32, stir: Stir<'_>) -> Taken {
        let by = u64::from(node) << 32 | u64::from(code);
        if let Some(known) = self.taken_by.get(&by) {
            return self.taken[*known as usize];
        }
        let entry = &self.nodes[node as usize];
        let place = entry.place;
        let stirred = model.group.stir(place, &entry.node, stir);
        let beyond = model.group.beyond(&stirred.node);
        let begins = self.said.len() as u32;
        for (to, message) in stirred.sent {
            let number = self.mail(Mail {
                from: place as u8,
                to: to as u8,
                message,
            });
            self.said.push(number);
        }
        let taken = Taken {
            node: self.node(model, place, stirred.node),
            said: (begins, self.said.len() as u32),
            elected: stirred.elected.unwrap_or(0) as u8,
            established: stirred.established.unwrap_or(0) as u8,
            broken: stirred.broken,
            beyond,
        };
        self.taken_by.insert(by, self.taken.len() as u32);
        self.taken.push(taken);
        taken
    }

    pub(super) fn said(&self, taken: &Taken) -> &[u32] {
        &self.said[taken.said.0 as usize..taken.said.1 as usize]
    }

    pub(super) fn inert(&self, model: &Model, nodes: &[u32], mail: u32) -> bool {
        let mail = &self.mails[mail as usize];
        let node = |place: u8| &self.nodes[nodes[usize::from(place)] as usize].node;
        model
            .group
            .inert(node(mail.to), node(mail.from), &mail.message)
    }

    /// How many steps of one node were taken.
    pub(super) fn steps(&self) -> usize {
        self.taken.len()
    }

    /// The fingerprint of the given nodes and messages: the least one over all names when `renamed`.
    #[inline]
    pub(super) fn print(&self, nodes: &[u32], mails: &[u32], renamed: bool) -> u64 {
        let of = |prints: &[u64], number: u32, order| {
            prints[number as usize * self.orders.len() + order]
        };
        self.least(nodes, renamed, |order| {
            let nodes = nodes.iter().map(|node| of(&self.node_prints, *node, order));
            let mails = mails.iter().map(|mail| of(&self.mail_prints, *mail, order));
            nodes.chain(mails).fold(0, u64::wrapping_add)
        })
    }

    /// The fingerprint of the nodes alone, under all names there are.
    pub(super) fn projected(&self, nodes: &[u32]) -> u64 {
        self.least(nodes, true, |order| {
            let prints = nodes.iter();
            let prints =
                prints.map(|node| self.bare_prints[*node as usize * self.orders.len() + order]);
            prints.fold(0, u64::wrapping_add)
        })
    }

    /// The least of `under` over the orders that put the nodes in the order of their keys.
    #[inline]
    fn least(&self, nodes: &[u32], renamed: bool, under: impl Fn(usize) -> u64) -> u64 {
        if !renamed || self.orders.len() == 1 {
            return under(0);
        }
        let mut keys = [0; MAX_VOTERS];
        for (key, node) in keys.iter_mut().zip(nodes) {
            *key = self.nodes[*node as usize].key;
        }
        let sorted = |order: &(usize, &Vec<usize>)| {
            order
                .1
                .windows(2)
                .all(|pair| keys[pair[0]] <= keys[pair[1]])
        };
        let orders = self.orders.iter().enumerate();
        let prints = orders.filter(sorted).map(|(at, _)| under(at));
        prints.min().unwrap_or(0)
    }
}

fn permutations(order: &mut Vec<usize>, from: usize, all: &mut Vec<Vec<usize>>) {
    if from == order.len() {
        all.push(order.clone());
    }
    for at in from..order.len() {
        order.swap(from, at);
        permutations(order, from + 1, all);
        order.swap(from, at);
    }
}
