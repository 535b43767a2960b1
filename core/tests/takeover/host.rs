//! A host by hand: time, standing, and one answer at a time.

use tenure::fence::{ElectionId, Holder, Pass};
use tenure::takeover::{
    Because, Config, Event, Input, Item, Output, Policy, Reply, Request, Takeover,
};
use tenure::{Duration, Instant, NodeId, Standing, Tenure, Ticket, Token, Unknown};

pub(crate) type Asked = (Ticket, Request<u64>);

pub(crate) struct Host {
    pub(crate) takeover: Takeover<u64>,
    pub(crate) now: Instant,
    pub(crate) standing: Standing,
}

pub(crate) fn ms(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

pub(crate) fn token(counter: u64) -> Token {
    Token::new(0, counter)
}

pub(crate) fn item(key: u64, owner: u64) -> Item<u64> {
    Item {
        key,
        owner: token(owner),
        policy: Policy::Idempotent,
    }
}

/// Two resources, pages of two; an answer may take 100 ms, what fails is asked again after 10, and all must be done
/// within 1,000. Work stops within 20 ms, and has 500 when the node hands over.
pub(crate) fn config() -> Config {
    let holder = Holder {
        node: NodeId(1),
        incarnation: 7,
    };
    let mut config = Config::new(ElectionId(1), holder, 2);
    config.page = 2;
    config.timing.patience = Duration::from_millis(100);
    config.timing.retry = Duration::from_millis(10);
    config.timing.limit = Duration::from_millis(1_000);
    config.timing.stop = Duration::from_millis(20);
    config.timing.drain = Duration::from_millis(500);
    config
}

/// What is answered when all is well and there is no work of others.
pub(crate) fn good(request: &Request<u64>) -> Reply<u64> {
    match request {
        Request::Fence(_) => Reply::Fenced,
        Request::Watch => Reply::Watching,
        Request::Read(_) => Reply::Read,
        Request::List { .. } => Reply::Page {
            items: Vec::new(),
            more: false,
        },
        Request::Claim { .. } => Reply::Claimed,
        Request::Resume { .. } => Reply::Resumed,
        Request::Announce => Reply::Announced,
        Request::Drain(_) | Request::Stop => Reply::Stopped,
    }
}

impl Host {
    pub(crate) fn new() -> Self {
        Self::with(config())
    }

    pub(crate) fn with(config: Config) -> Self {
        Self {
            takeover: Takeover::new(config).unwrap(),
            now: Instant::ZERO,
            standing: Standing::Unknown,
        }
    }

    /// Leads, with this token and until then.
    pub(crate) fn led(counter: u64, until: u64) -> Self {
        let mut host = Self::new();
        host.lead(counter, until);
        host
    }

    pub(crate) fn lead(&mut self, counter: u64, until: u64) {
        self.standing = Standing::Leading(Tenure {
            token: token(counter),
            until: ms(until),
        });
        self.look();
    }

    pub(crate) fn lose(&mut self) {
        self.standing = Standing::Unknown;
        self.look();
    }

    pub(crate) fn hand(&mut self, input: Input<u64>) {
        self.takeover.handle(self.now, self.standing, input);
    }

    pub(crate) fn look(&mut self) {
        self.hand(Input::Look);
    }

    pub(crate) fn at(&mut self, millis: u64) {
        self.now = ms(millis);
        self.look();
    }

    pub(crate) fn says(&mut self) -> Vec<Output<u64>> {
        std::iter::from_fn(|| self.takeover.poll()).collect()
    }

    /// What it asks; it says nothing else.
    pub(crate) fn asks(&mut self) -> Vec<Asked> {
        let says = self.says().into_iter();
        let asked = says.map(|output| match output {
            Output::Request(ticket, _, request) => (ticket, request),
            other => panic!("{other:?}"),
        });
        asked.collect()
    }

    /// The one thing it asks.
    pub(crate) fn ask(&mut self) -> Asked {
        let asked = self.asks();
        assert_eq!(asked.len(), 1, "{asked:?}");
        asked.into_iter().next().unwrap()
    }

    /// What it asks, without the tickets.
    pub(crate) fn wants(&mut self) -> Vec<Request<u64>> {
        self.asks()
            .into_iter()
            .map(|(_, request)| request)
            .collect()
    }

    pub(crate) fn answer(&mut self, ticket: Ticket, reply: Reply<u64>) {
        self.hand(Input::Reply(ticket, Ok(reply)));
    }

    pub(crate) fn unknown(&mut self, ticket: Ticket) {
        self.hand(Input::Reply(ticket, Err(Unknown)));
    }

    /// Answers what it asks as all is well, until it asks something like this; which is returned and not answered.
    pub(crate) fn until(&mut self, stops: fn(&Request<u64>) -> bool) -> Vec<Asked> {
        loop {
            let mut asked = self.asks();
            if asked.iter().any(|(_, request)| stops(request)) {
                asked.retain(|(_, request)| stops(request));
                return asked;
            }
            assert!(!asked.is_empty(), "nothing is asked any more");
            for (ticket, request) in asked {
                let reply = good(&request);
                self.answer(ticket, reply);
            }
        }
    }

    /// Takes over; all is well, and there is no work of others.
    pub(crate) fn serve(&mut self) {
        let (ticket, _) = self.until(|request| *request == Request::Announce)[0];
        self.answer(ticket, Reply::Announced);
        let says = self.says();
        assert!(
            matches!(says[..], [Output::Event(Event::Ready(_))]),
            "{says:?}"
        );
    }

    /// The reason for which it wants to resign, if it does.
    pub(crate) fn resigns(&mut self) -> Option<Because> {
        self.says().into_iter().find_map(|output| match output {
            Output::Resign(because) => Some(because),
            _ => None,
        })
    }

    pub(crate) fn pass(&self) -> Pass {
        self.takeover.pass().expect("it leads")
    }

    pub(crate) fn may_begin(&self) -> Option<Instant> {
        let permit = self.takeover.may_begin(self.now, self.standing);
        permit.map(|permit| permit.until)
    }

    pub(crate) fn may_go_on(&self) -> Option<Instant> {
        let permit = self.takeover.may_go_on(self.now, self.standing);
        permit.map(|permit| permit.until)
    }
}
