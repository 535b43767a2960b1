//! A process whose tenures come and go at the worst of times: lost and won again in the middle of a hand-over, with a clock that
//! jumps both ways, standings that are stale, tokens that fall back, are missing, or are another generation's.
//!
//! What is looked at is the process itself: what runs in it, under which token, and what it was permitted.

use crate::host::{config, good, item};
use std::collections::VecDeque;
use tenure::fence::Refused;
use tenure::random::Random;
use tenure::takeover::{Because, Event, How, Input, Output, Reply, Request, Takeover};
use tenure::{Duration, Instant, Standing, Tenure, Ticket, Token, Unknown};

#[derive(Default)]
struct Figures {
    began: u64,
    stops: u64,
    handed_over: u64,
    cut_off: u64,
    revived: u64,
    overtaken: u64,
}

impl Figures {
    const fn all(&self) -> [u64; 6] {
        [
            self.began,
            self.stops,
            self.handed_over,
            self.cut_off,
            self.revived,
            self.overtaken,
        ]
    }
}

struct Office {
    takeover: Takeover<u64>,
    random: Random,
    now: Instant,
    /// The latest time it was ever told.
    latest: Instant,
    standing: Standing,
    /// The highest token of a tenure that it was shown, and of one that is over.
    highest: Token,
    over: Option<Token>,
    /// What runs in the process: the token of each piece of work.
    runs: Vec<Token>,
    /// What was asked and is not answered, or is answered again.
    open: VecDeque<(Ticket, Token, Request<u64>)>,
    /// Whether the host wished to hand over in this tenure; until when what runs may go on then, and since when it has to stop.
    wished: bool,
    drains: Option<Instant>,
    stops: Option<Instant>,
    figures: Figures,
}

impl Office {
    fn new(seed: u64) -> Self {
        let mut random = Random::from_seed(seed);
        let mut config = config();
        config.timing.stop = Duration::from_millis(20 * random.below(2));
        Self {
            takeover: Takeover::new(config).unwrap(),
            random,
            now: Instant::from_millis(1_000),
            latest: Instant::ZERO,
            standing: Standing::Unknown,
            highest: Token::NONE,
            over: None,
            runs: Vec::new(),
            open: VecDeque::new(),
            wished: false,
            drains: None,
            stops: None,
            figures: Figures::default(),
        }
    }

    fn hand(&mut self, input: Input<u64>) {
        self.latest = self.latest.max(self.now);
        let due = self.takeover.deadline();
        self.takeover.handle(self.now, self.standing, input);
        while let Some(output) = self.takeover.poll() {
            self.said(output);
        }
        if due.is_some_and(|due| due <= self.latest) {
            let next = self.takeover.deadline();
            assert!(next.is_none_or(|next| next > self.latest), "C2: {next:?}");
        }
        if self.takeover.may_leave() {
            assert_eq!(self.runs, [], "it may leave, and something runs");
        }
        let [begin, go_on] = [
            self.takeover.may_begin(self.now, self.standing),
            self.takeover.may_go_on(self.now, self.standing),
        ];
        assert!(begin.is_none() || go_on.is_some());
        if let Some(permit) = go_on {
            let Standing::Leading(tenure) = self.standing else {
                panic!("it may work, and does not lead")
            };
            assert!(self.latest < permit.until && permit.until <= tenure.until);
            assert_eq!(permit.pass.token, tenure.token);
            assert!(self.over.is_none_or(|over| over < tenure.token), "C4");
            let other = |token: &Token| *token != tenure.token;
            assert!(!self.runs.iter().any(other), "LS-11: {:?}", self.runs);
        }
    }

    fn said(&mut self, output: Output<u64>) {
        match output {
            Output::Request(ticket, pass, request) => {
                if let Request::Resume { how: How::Redo, .. } = request {
                    self.begins(pass.token);
                }
                if let Request::Drain(until) = request {
                    self.drains = Some(until);
                }
                if request == Request::Stop {
                    self.figures.stops += 1;
                    self.stops.get_or_insert(self.latest);
                } else {
                    assert!(
                        self.over.is_none_or(|over| over < pass.token),
                        "{request:?}"
                    );
                }
                self.open.push_back((ticket, pass.token, request));
            }
            Output::Event(Event::Over(token)) => {
                if token.is_issued() {
                    assert!(self.over.is_none_or(|over| over < token), "C7");
                    self.over = Some(token);
                }
                (self.wished, self.drains, self.stops) = (false, None, None);
            }
            Output::Event(_) => {}
            Output::Resign(Because::HandedOver) => {
                self.figures.handed_over += 1;
                assert!(self.wished, "somebody wished it");
                // What runs was told how long it may, and then to stop, and has had the time to.
                let stop = self.takeover.config().timing.stop;
                let Standing::Leading(tenure) = self.standing else {
                    panic!("it resigns, and does not lead")
                };
                let end = self.drains.map(|until| until.min(tenure.until - stop));
                let mut ends = [self.stops, end].into_iter().flatten();
                let over = ends.any(|end| end + stop <= self.latest);
                let runs = self.runs.contains(&tenure.token);
                assert!(!runs || over, "it left work running");
            }
            Output::Resign(Because::CutShort) => self.figures.cut_off += 1,
            Output::Resign(Because::Revived) => self.figures.revived += 1,
            Output::Resign(Because::Overtaken) => self.figures.overtaken += 1,
            Output::Resign(_) => {}
        }
    }

    fn begins(&mut self, token: Token) {
        let older = |other: &Token| *other != token;
        assert!(!self.runs.iter().any(older), "LS-11: {:?}", self.runs);
        self.runs.push(token);
        self.figures.began += 1;
    }

    /// Carries out what was asked first, or last; or answers it once more, and keeps it.
    fn answer(&mut self) {
        let place = match self.random.below(3) {
            0 => self.open.len().saturating_sub(1),
            _ => 0,
        };
        let Some((ticket, of, request)) = self.open.get(place).cloned() else {
            return;
        };
        if self.random.below(5) > 0 {
            self.open.remove(place);
        }
        let reply = match request {
            Request::List { after, .. } if self.random.below(2) == 0 => {
                let key = after.map_or(1, |after| after + 1);
                let (items, more) = (vec![item(key, self.random.below(3))], false);
                Ok(Reply::Page { items, more })
            }
            // It stops at once, and says so now.
            Request::Stop => {
                self.runs.retain(|token| *token > of);
                Ok(Reply::Stopped)
            }
            Request::Drain(_) if !self.runs.is_empty() => Ok(Reply::NotDone),
            _ if self.random.below(9) == 0 => Err(Unknown),
            _ if self.random.below(60) == 0 => Ok(Reply::Refused(Refused::Closed)),
            other => Ok(good(&other)),
        };
        self.hand(Input::Reply(ticket, reply));
    }

    fn step(&mut self) {
        match self.random.below(48) {
            0..28 => self.answer(),
            28..31 => {
                let span = Duration::from_millis(1 + self.random.below(80));
                self.now = self.now + span;
                self.hand(Input::Look);
            }
            31 => {
                self.now = self.takeover.deadline().unwrap_or(self.now).max(self.now);
                self.hand(Input::Look);
            }
            // It jumps: forward beyond any lease, or back.
            32 if self.random.below(4) == 0 => {
                let span = Duration::from_millis(self.random.below(2_000));
                let back = self.random.below(2) == 0;
                self.now = if back {
                    self.now - span
                } else {
                    self.now + span
                };
                self.hand(Input::Look);
            }
            33 if self.random.below(2) == 0 => {
                self.standing = Standing::Unknown;
                self.hand(Input::Look);
            }
            32..35 => {
                let leads =
                    matches!(self.standing, Standing::Leading(tenure) if self.now < tenure.until);
                if !leads || self.random.below(6) == 0 {
                    self.wins();
                }
            }
            35..39 => self.renews(),
            39 => {
                let own = self.takeover.pass().map(|pass| pass.token);
                let old = self.random.below(4) > 0;
                let token = own.filter(|_| !old).unwrap_or(Token::new(0, 1));
                self.hand(Input::Refused(
                    token,
                    Refused::Stale {
                        highest: self.highest,
                    },
                ));
            }
            40 => {
                self.wished |= self.takeover.pass().is_some();
                self.hand(Input::HandOver);
            }
            41..45 => {
                if let Some(permit) = self.takeover.may_begin(self.now, self.standing) {
                    self.begins(permit.pass.token);
                }
            }
            _ => {
                self.runs.pop();
            }
        }
    }

    /// Another tenure: with the next token, or with one that was there before, none, or another generation.
    fn wins(&mut self) {
        let Token {
            generation,
            counter,
        } = self.highest;
        let token = match self.random.below(24) {
            0 => self.highest,
            1 => Token::new(generation, counter.saturating_sub(1)),
            2 => Token::NONE,
            3 => Token::new(generation + 1, 1),
            4 => Token::new(generation, u64::MAX),
            _ => Token::new(generation, counter + 1),
        };
        if token.is_issued() {
            self.highest = token.max(self.highest);
        }
        let until = match self.random.below(9) {
            0 => Instant::FOREVER,
            _ => self.now + Duration::from_millis(1 + self.random.below(900)),
        };
        self.standing = Standing::Leading(Tenure { token, until });
        self.hand(Input::Look);
    }

    fn renews(&mut self) {
        if let Standing::Leading(tenure) = &mut self.standing {
            // Never backwards, but for a host that looks at an old standing.
            let until = self.now + Duration::from_millis(1 + self.random.below(900));
            let stale = self.random.below(9) == 0;
            tenure.until = if stale {
                until
            } else {
                until.max(tenure.until)
            };
        }
        self.hand(Input::Look);
    }
}

#[test]
fn what_runs_is_of_the_present_tenure_alone_whatever_becomes_of_tenures_and_clocks() {
    let mut all = [0; 6];
    for seed in 0..4_000 {
        let mut office = Office::new(seed);
        for _ in 0..400 {
            office.step();
        }
        for (all, one) in all.iter_mut().zip(office.figures.all()) {
            *all += one;
        }
    }
    println!("{all:?}");
    assert!(all.iter().all(|times| *times > 1_000), "{all:?}");
}
