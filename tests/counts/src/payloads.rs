//! What a host carries beside the machines' messages (law C9): 16 bytes an entry, written once by the leader's host and
//! copied once to each follower's.

const SIZE: usize = 16;
/// How many each node keeps: more than are on the way at any time. Older ones give their places to newer ones.
const KEPT: usize = 1 << 9;

/// The payloads that each node keeps, by its place.
pub struct Payloads(Vec<Box<[[u8; SIZE]; KEPT]>>);

impl Payloads {
    /// Room for the payloads of so many nodes.
    #[must_use]
    pub fn new(nodes: usize) -> Self {
        Self(vec![Box::new([[0; SIZE]; KEPT]); nodes])
    }

    /// A client's entry comes to the host of `at`, which keeps it under its index.
    pub fn keep(&mut self, at: usize, index: u64) {
        let mut payload = [7; SIZE];
        payload[..8].copy_from_slice(&index.to_le_bytes());
        self.0[at][place(index)] = payload;
    }

    /// The `count` entries after `index` travel with a message, and are kept where it arrives.
    pub fn carry(&mut self, from: usize, to: usize, index: u64, count: u64) {
        let Ok([source, target]) = self.0.get_disjoint_mut([from, to]) else {
            return;
        };
        for place in (index..index + count).map(|before| place(before + 1)) {
            target[place] = source[place];
        }
    }

    /// Whether every node has what the first kept under `index`.
    #[must_use]
    pub fn everywhere(&self, index: u64) -> bool {
        let kept = &self.0[0][place(index)];
        kept[..8] == index.to_le_bytes() && self.0.iter().all(|all| all[place(index)] == *kept)
    }
}

fn place(index: u64) -> usize {
    index as usize % KEPT
}
