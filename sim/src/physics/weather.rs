//! How messages travel between nodes: how long, how surely, how often, in what order.

/// A million: the unit of probabilities.
pub const PPM: u32 = 1_000_000;

/// How the network behaves. Probabilities are in parts per million.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weather {
    /// The shortest latency, in microseconds.
    pub latency_min: u64,
    /// The longest latency.
    pub latency_max: u64,
    /// How often a message between nodes is lost; a connection breaks by it.
    pub loss: u32,
    /// How often a datagram between nodes arrives twice.
    pub duplicate: u32,
    /// Whether there is a connection for each pair of nodes that keeps the order. Then nothing is doubled or replayed.
    pub fifo: bool,
    /// How often a datagram between nodes arrives once more, much later.
    pub replay: u32,
    /// The shortest time from the sending to that, in microseconds.
    pub replay_min: u64,
    /// The longest.
    pub replay_max: u64,
}

impl Weather {
    /// Datagrams that all arrive once.
    #[must_use]
    pub const fn calm(latency_min: u64, latency_max: u64) -> Self {
        Self {
            latency_min,
            latency_max,
            loss: 0,
            duplicate: 0,
            fifo: false,
            replay: 0,
            replay_min: 100_000,
            replay_max: 2_000_000,
        }
    }
}
