//! Who looks on from outside and knows everything: what the rules of a takeover protect, each by its invariant.

use super::stores::{State, Table};
use tenure::Token;
use tenure::takeover::{Invariant, Policy};

/// What is broken, and the figures.
#[derive(Debug, Default)]
pub(crate) struct Judge {
    /// The first that was broken.
    pub(crate) broken: Option<Invariant>,
    /// The highest token that each resource was shown.
    highest: Vec<Token>,
    /// How often each job had an effect, whether it was done, and the last token under which one was admitted.
    effects: Vec<(u8, bool, Token)>,
}

/// What became of the jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fates {
    pub(crate) done: u64,
    pub(crate) doubtful: u64,
    /// Neither, or done without an effect.
    pub(crate) lost: u64,
    /// Had their effect more than once, by policy: idempotent, at least once, at most once.
    pub(crate) repeated: [u64; 3],
}

impl Judge {
    fn breaks(&mut self, invariant: Invariant) {
        self.broken.get_or_insert(invariant);
    }

    /// A resource admits this token, for an effect or to fence.
    pub(crate) fn shown(&mut self, resource: u64, token: Token) {
        let place = resource as usize;
        if self.highest.len() <= place {
            self.highest.resize(place + 1, Token::NONE);
        }
        if token < self.highest[place] {
            self.breaks(Invariant::NoStaleEffect);
        }
        self.highest[place] = self.highest[place].max(token);
    }

    /// It admits the effect of a job.
    pub(crate) fn admitted(&mut self, resource: u64, token: Token, job: u64) {
        self.shown(resource, token);
        let (_, done, last) = self.job(job);
        let anew = *done && *last < token;
        *last = token.max(*last);
        if anew {
            self.breaks(Invariant::EffectOnce);
        }
    }

    /// It changes something.
    pub(crate) fn takes_effect(&mut self, job: u64, before: u64, after: u64) {
        let (times, ..) = self.job(job);
        *times = times.saturating_add(1);
        if after != before + 1 {
            self.breaks(Invariant::NoLostUpdate);
        }
    }

    /// A run of a job begins, while so many others of it may go on.
    pub(crate) fn begins(&mut self, others: usize) {
        if others > 0 {
            self.breaks(Invariant::NoneConcurrent);
        }
    }

    /// The table says how a job is.
    pub(crate) fn settled(&mut self, job: u64, state: State) {
        self.job(job).1 |= state == State::Done;
    }

    fn job(&mut self, job: u64) -> &mut (u8, bool, Token) {
        let place = job as usize;
        if self.effects.len() <= place {
            self.effects.resize(place + 1, (0, false, Token::NONE));
        }
        &mut self.effects[place]
    }

    /// All is calm: what became of the jobs.
    pub(crate) fn fates(&mut self, table: &Table) -> Fates {
        let mut fates = Fates::default();
        for (key, job) in table.jobs.iter().enumerate() {
            let times = self.job(key as u64).0;
            match job.state {
                State::Done if times > 0 => fates.done += 1,
                State::Doubtful if job.policy == Policy::AtMostOnce => fates.doubtful += 1,
                _ => fates.lost += 1,
            }
            if times > 1 {
                fates.repeated[job.policy as usize] += 1;
                if job.policy == Policy::AtMostOnce {
                    self.breaks(Invariant::EffectOnce);
                }
            }
        }
        fates
    }
}
