//! What is printed: a line for each peer with its ratio to this library's figure, and where there is a target, the verdict.

/// Which way is better.
#[derive(Clone, Copy)]
pub(crate) enum Better {
    Higher,
    Lower,
}

/// What is asked of this library's figure.
#[derive(Clone, Copy)]
pub(crate) enum Target {
    /// No more than this, whatever the peers need.
    AtMost(f64),
    /// At least so many times as good as the best of the peers.
    Best(f64),
    /// At least so many times as good as the peers of each name.
    Each(&'static [(&'static str, f64)]),
}

/// One thing that was measured. A figure without a target explains one that has one.
pub(crate) struct Line<'a> {
    pub(crate) what: &'a str,
    pub(crate) unit: &'a str,
    pub(crate) better: Better,
    pub(crate) own: f64,
    pub(crate) peers: Vec<(&'a str, f64)>,
    pub(crate) target: Option<Target>,
}

pub(crate) fn heading() {
    println!(
        "{:<48}{:>8}  {:<26}{:>8}{:>8}",
        "", "Tenure", "peer", "", "ratio"
    );
}

impl Line<'_> {
    /// Prints it; whether the target is met, if there is one.
    pub(crate) fn print(&self) -> Option<bool> {
        let (verdict, met) = match self.target {
            None => (String::new(), None),
            Some(target) => {
                let met = self.meets(target);
                let verdict = if met { "met" } else { "MISSED" };
                (format!("   {}: {verdict}", self.asked(target)), Some(met))
            }
        };
        let what = format!("{}, {}", self.what, self.unit);
        print!("{what:<48}{:>8}", figure(self.own));
        if self.peers.is_empty() {
            println!("{:>44}{verdict}", "");
        }
        for (at, (name, peer)) in self.peers.iter().enumerate() {
            if at > 0 {
                print!("{:56}", "");
            }
            let last = at + 1 == self.peers.len();
            let (of, verdict) = (figure(*peer), if last { verdict.as_str() } else { "" });
            println!(
                "  {name:<26}{of:>8}{:>8}{verdict}",
                times(self.ratio(*peer))
            );
        }
        met
    }

    /// How many times as good as the peer's figure the own one is.
    fn ratio(&self, peer: f64) -> f64 {
        match self.better {
            Better::Higher => self.own / peer,
            Better::Lower => peer / self.own,
        }
    }

    fn meets(&self, target: Target) -> bool {
        match target {
            Target::AtMost(most) => self.own <= most,
            Target::Best(ratio) => self
                .peers
                .iter()
                .all(|(_, peer)| self.ratio(*peer) >= ratio),
            Target::Each(asked) => self.peers.iter().all(|(name, peer)| {
                let mut asked = asked.iter().filter(|(of, _)| name.starts_with(of));
                asked.all(|(_, ratio)| self.ratio(*peer) >= *ratio)
            }),
        }
    }

    fn asked(&self, target: Target) -> String {
        match target {
            Target::AtMost(most) => format!("at most {most}"),
            Target::Best(ratio) => format!("at least {ratio:.1} x the best"),
            Target::Each(asked) => {
                let each = asked.iter().map(|(of, ratio)| format!("{ratio:.1} x {of}"));
                format!("at least {}", each.collect::<Vec<_>>().join(", "))
            }
        }
    }
}

/// A ratio says something while both sides are more than nothing.
fn times(ratio: f64) -> String {
    if ratio.is_finite() && ratio < 1e6 {
        format!("{ratio:.1} x")
    } else {
        "-".to_owned()
    }
}

/// Three digits that count.
fn figure(value: f64) -> String {
    match value {
        value if value >= 100.0 || value == 0.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}
