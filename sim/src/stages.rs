//! Failover, stage by stage: from the loss of a leader to the first write the next one gets in.

use tenure::Token;

/// One change of leader, or the cold start. True times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failover {
    /// When the leader was lost; the start of the run for a cold start.
    pub lost_at: u64,
    /// When another node first stood, or asked whether it could.
    pub detected_at: Option<u64>,
    /// When the next leader was elected.
    pub elected_at: Option<u64>,
    /// When it was allowed to act.
    pub established_at: Option<u64>,
    /// When the fenced resource took its first write.
    pub written_at: Option<u64>,
    /// In how many terms somebody stood. More than one: the vote was split, or a candidate failed.
    pub terms: u32,
}

/// Follows failovers.
#[derive(Clone, Debug)]
pub struct Stages {
    open: Option<Failover>,
    /// The highest token of the leaders before.
    before: Token,
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
            written_at: None,
            terms: 0,
        }
    }
}

impl Default for Stages {
    fn default() -> Self {
        Self {
            open: Some(Failover::beginning(0)),
            before: Token::NONE,
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

    /// A node stood, or asked whether it could.
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
        if let Some(open) = self
            .open
            .as_mut()
            .filter(|open| token > self.before && open.established_at.is_none())
        {
            open.elected_at = Some(now);
        }
    }

    /// A leader was allowed to act.
    pub fn established(&mut self, now: u64, token: Token) {
        if token <= self.before {
            return;
        }
        self.before = token;
        if let Some(open) = &mut self.open {
            open.established_at = Some(now);
        }
    }

    /// The fenced resource took a write.
    pub fn wrote(&mut self, now: u64, token: Token) {
        if token == self.before
            && let Some(mut open) = self.open.take_if(|open| open.established_at.is_some())
        {
            open.written_at = Some(now);
            self.done.push(open);
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
        stages.established(5, old);
        stages.wrote(6, old);
        stages.lost(100);
        stages.wrote(110, old);
        stages.stood(200);
        stages.candidacy(2);
        stages.candidacy(3);
        stages.candidacy(3);
        stages.elected(230, new);
        stages.established(240, new);
        stages.wrote(260, new);
        let expected = Failover {
            lost_at: 100,
            detected_at: Some(200),
            elected_at: Some(230),
            established_at: Some(240),
            written_at: Some(260),
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
        stages.established(40, token);
        stages.wrote(50, token);
        let begun: Vec<u64> = stages.done().iter().map(|done| done.lost_at).collect();
        assert_eq!(begun, [20], "what began before it is given up");
    }
}
