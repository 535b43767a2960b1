//! Failover, stage by stage: from the loss of a leader to the first write the next one gets in.

use tenure::Token;

/// One change of leader, or the cold start. True times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failover {
    /// When the leader was lost; the start of the run for a cold start.
    pub lost_at: u64,
    /// When another node first stood, asked whether it could, or looked for a leader.
    pub detected_at: Option<u64>,
    /// When the next leader was elected.
    pub elected_at: Option<u64>,
    /// When it was allowed to act.
    pub established_at: Option<u64>,
    /// When its state had come up to the first entry of its term, where there is a log.
    pub synchronised_at: Option<u64>,
    /// When the fenced resource took its first write.
    pub written_at: Option<u64>,
    /// When a client of the store first heard from it that something was changed, where there is a log.
    pub acknowledged_at: Option<u64>,
    /// When somebody first held the leader to be down by itself, where that is another thing than to stand: SDOWN.
    pub suspected_at: Option<u64>,
    /// In how many terms somebody stood. More than one: the vote was split, or a candidate failed.
    pub terms: u32,
}

/// Follows failovers.
#[derive(Clone, Debug)]
pub struct Stages {
    open: Option<Failover>,
    /// The highest token of the leaders before.
    before: Token,
    /// Who has that one.
    heir: Option<usize>,
    newest_term: u64,
    done: Vec<Failover>,
}

impl Failover {
    const fn beginning(lost_at: u64) -> Self {
        Self {
            lost_at,
            detected_at: None,
            elected_at: None,
            established_at: None,
            synchronised_at: None,
            written_at: None,
            acknowledged_at: None,
            suspected_at: None,
            terms: 0,
        }
    }
}

impl Default for Stages {
    fn default() -> Self {
        Self {
            open: Some(Failover::beginning(0)),
            before: Token::NONE,
            heir: None,
            newest_term: 0,
            done: Vec::new(),
        }
    }
}

impl Stages {
    /// The leader was lost. A failover that is under way is given up: its leader never wrote.
    pub fn lost(&mut self, now: u64) {
        self.open = Some(Failover::beginning(now));
    }

    /// A node holds the leader to be down, by itself.
    pub fn suspected(&mut self, now: u64) {
        if let Some(open) = &mut self.open {
            open.suspected_at.get_or_insert(now);
        }
    }

    /// A node stood, asked whether it could, or looks for a leader.
    pub fn stood(&mut self, now: u64) {
        if let Some(open) = &mut self.open {
            open.detected_at.get_or_insert(now);
        }
    }

    /// A node voted for itself in a term.
    pub fn candidacy(&mut self, term: u64) {
        if term > self.newest_term {
            self.newest_term = term;
            if let Some(open) = &mut self.open {
                open.terms += 1;
            }
        }
    }

    /// A node was elected. When it fails to be established, the next election counts.
    pub fn elected(&mut self, now: u64, token: Token) {
        let next = self.is_next(token);
        let open = self.open.as_mut();
        if let Some(open) = open.filter(|open| next && open.established_at.is_none()) {
            (open.elected_at, open.synchronised_at) = (Some(now), None);
        }
    }

    /// The state of who was elected last has come up to the first entry of its term.
    pub fn synchronised(&mut self, now: u64) {
        if let Some(open) = self.open.as_mut().filter(|open| open.elected_at.is_some()) {
            open.synchronised_at.get_or_insert(now);
        }
    }

    /// A leader was allowed to act.
    pub fn established(&mut self, now: u64, node: usize, token: Token) {
        if !self.is_next(token) {
            return;
        }
        (self.before, self.heir) = (token, Some(node));
        if let Some(open) = &mut self.open {
            open.established_at = Some(now);
        }
    }

    /// Whether a token is of a tenure after those before: without one, it is by the time.
    fn is_next(&self, token: Token) -> bool {
        token > self.before || !token.is_issued()
    }

    /// The resource took a write that speaks for all.
    pub fn wrote(&mut self, now: u64, token: Token) {
        if token == self.before
            && let Some(mut open) = self.open.take_if(|open| open.established_at.is_some())
        {
            open.written_at = Some(now);
            self.done.push(open);
        }
    }

    /// A client of the store heard from a node that something was changed.
    pub fn acknowledged(&mut self, now: u64, node: usize) {
        let open = self.open.as_mut();
        let newest = open.filter(|open| open.established_at.is_some());
        if let Some(newest) = newest.or(self.done.last_mut())
            && self.heir == Some(node)
        {
            newest.acknowledged_at.get_or_insert(now);
        }
    }

    /// Failovers that are complete, in order.
    #[must_use]
    pub fn done(&self) -> &[Failover] {
        &self.done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_told_apart() {
        let mut stages = Stages::default();
        let (old, new) = (Token::new(0, 1), Token::new(0, 3));
        stages.established(5, 0, old);
        stages.wrote(6, old);
        stages.lost(100);
        stages.wrote(110, old);
        stages.stood(200);
        stages.candidacy(2);
        stages.candidacy(3);
        stages.candidacy(3);
        stages.elected(230, new);
        stages.synchronised(235);
        stages.established(240, 1, new);
        stages.synchronised(250);
        stages.wrote(260, new);
        stages.acknowledged(270, 0);
        stages.acknowledged(280, 1);
        stages.acknowledged(290, 1);
        let expected = Failover {
            lost_at: 100,
            detected_at: Some(200),
            elected_at: Some(230),
            established_at: Some(240),
            synchronised_at: Some(235),
            written_at: Some(260),
            acknowledged_at: Some(280),
            suspected_at: None,
            terms: 2,
        };
        assert_eq!(stages.done().last(), Some(&expected));
        assert_eq!(stages.done().len(), 2, "the cold start is one");
    }

    #[test]
    fn a_leader_lost_again_breaks_it_off() {
        let mut stages = Stages::default();
        stages.lost(10);
        stages.lost(20);
        let token = Token::new(0, 1);
        stages.elected(30, token);
        stages.established(40, 0, token);
        stages.wrote(50, token);
        let begun: Vec<u64> = stages.done().iter().map(|done| done.lost_at).collect();
        assert_eq!(begun, [20], "what began before it is given up");
    }
}
