//! A trace as a sequence diagram: time runs down, each node has a lane, and what happens is told at the right.
//!
//! `├───▶` a message that arrives, `├───✕` one that is lost, `●` what becomes of a node by it, `□` a record that its disk is
//! asked for, `■` the disk's answer, `┆` the lane of a node that is down.

use super::words::time;

/// Columns from one lane to the next.
const WIDTH: usize = 5;

/// What a line shows, nodes by their place.
pub(crate) enum Mark {
    /// A message between two nodes; a sender that is no node of the group has no place.
    Arrow {
        from: Option<usize>,
        to: usize,
        lost: bool,
    },
    /// Something at a node.
    At(usize, char),
}

#[derive(Default)]
pub(crate) struct Lanes {
    pub(crate) lines: Vec<String>,
    /// The time that was written last: it is written when it changes.
    told: Option<u64>,
}

impl Lanes {
    pub(crate) fn head(&mut self, nodes: usize) {
        let names: String = (1..=nodes)
            .map(|id| format!("{:<WIDTH$}", format!("n{id}")))
            .collect();
        self.lines.push(format!("{:12}{}", "", names.trim_end()));
    }

    pub(crate) fn line(&mut self, now: u64, up: &[bool], mark: &Mark, text: &str) {
        let mut row: Vec<char> = vec![' '; up.len() * WIDTH];
        for (place, up) in up.iter().enumerate() {
            row[place * WIDTH] = if *up { '│' } else { '┆' };
        }
        match *mark {
            Mark::At(place, sign) => row[place * WIDTH] = sign,
            Mark::Arrow { from, to, lost } => arrow(&mut row, from, to, lost),
        }
        let stamp = if self.told == Some(now) {
            String::new()
        } else {
            time(now)
        };
        self.told = Some(now);
        let row: String = row.into_iter().collect();
        self.lines.push(format!("{stamp:>10}  {row} {text}"));
    }
}

fn arrow(row: &mut [char], from: Option<usize>, to: usize, lost: bool) {
    let to = to * WIDTH;
    let Some(from) = from.map(|from| from * WIDTH) else {
        // From outside the group: a short arrow from the right.
        row[to + 1] = '◀';
        row[to + 2] = '─';
        row[to + 3] = '╴';
        return;
    };
    let rightward = from < to;
    for sign in &mut row[from.min(to) + 1..from.max(to)] {
        *sign = if *sign == ' ' { '─' } else { '┼' };
    }
    row[from] = if rightward { '├' } else { '┤' };
    row[if rightward { to - 1 } else { to + 1 }] = match (lost, rightward) {
        (true, _) => '✕',
        (false, true) => '▶',
        (false, false) => '◀',
    };
}
