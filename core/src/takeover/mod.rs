//! Taking over from a leader that is gone, and handing over to one that comes.
//!
//! To be elected is not to be ready: work of the predecessor may be half done, and the predecessor may still write. What a
//! new leader does about it is the same for every scheme, and in this order:
//!
//! 1. It is established, and its keep-alive runs. (Before that [`Election::standing`](crate::Election::standing) shows nothing.)
//! 2. It **fences** every resource, all of them before anything is read: from then on nothing of the predecessor gets in
//!    (LS-F5).
//! 3. It **watches, then reads**, so that no change falls between.
//! 4. It **lists** the work that was begun by other terms and not finished, page by page.
//! 5. It takes each item by **compare-and-swap** of its owner.
//! 6. It **resumes** each item as the item's [`Policy`] says: what may be repeated is redone, what must not be is marked as
//!    doubtful.
//! 7. It **announces** that it is ready. Any error that does not go away, a refusal of a guard, or a step that would lie
//!    beyond the tenure: it **resigns**, rather than lead by halves.
//!
//! [`Takeover`] is this as a machine like the elections are: it does no I/O, reads no clock, and keeps the laws `C1` … `C8` of
//! [`Election`](crate::Election). It is made once for a life of a node, and is shown the standing with every input; what comes
//! of a tenure that ended meanwhile is dropped, whatever it was at. Requests are answered, not answered, or
//! [`Unknown`](crate::Unknown), in any order and late: each of them is harmless when it is done twice, and is asked again.
//!
//! # Work has a hard deadline
//! [`may_begin`](Takeover::may_begin) says what new work may do, [`may_go_on`](Takeover::may_go_on) what may be done by work
//! that runs: until an instant that lies before the end of the tenure, and rises as it is renewed. When it comes, or the tenure
//! ends, what runs has to [stop](Request::Stop), and nothing is taken over or served in this process until it has (LS-11).
//!
//! # Handing over
//! [`Input::HandOver`]: no new work is taken, what runs is finished, until a deadline before the tenure's end, and *then* the
//! node resigns: whoever resigns first works without a tenure, and its successor's guard refuses the rest. The successor
//! finds no work of others. After a crash it finds what was cut off, and waits for the lease before.
//!
//! # Example
//! A service with one table, whose every statement is guarded, and jobs in it. Here the host answers at once; one that waits
//! for a database hands the answers in when they come.
//!
//! ```
//! use std::collections::BTreeMap;
//! use tenure::fence::{ElectionId, Fence, Holder, Pass};
//! use tenure::takeover::{Config, Event, How, Input, Item, Output, Policy, Reply, Request, Takeover};
//! use tenure::{Instant, NodeId, Standing, Tenure, Token};
//!
//! /// The table: who owns each job that is not done, behind a guard.
//! struct Table { guard: Fence, jobs: BTreeMap<u64, Token> }
//!
//! impl Table {
//!     fn carry_out(&mut self, pass: &Pass, request: Request<u64>) -> Reply<u64> {
//!         // In a database: in the transaction of the statement, which stores the guard's record too.
//!         if let Err(refused) = self.guard.admit(pass) {
//!             return Reply::Refused(refused);
//!         }
//!         match request {
//!             Request::Fence(_) => Reply::Fenced,
//!             Request::Watch => Reply::Watching,           // only leaders begin jobs: there is nothing to watch
//!             Request::Read(_) => Reply::Read,
//!             Request::List { after, limit } => {
//!                 let rest = self.jobs.iter().filter(|(key, _)| after.is_none_or(|after| **key > after));
//!                 let mut items: Vec<_> = rest
//!                     .map(|(key, owner)| Item { key: *key, owner: *owner, policy: Policy::Idempotent })
//!                     .take(limit as usize + 1)
//!                     .collect();
//!                 let more = items.len() > limit as usize;
//!                 items.truncate(limit as usize);
//!                 Reply::Page { items, more }
//!             }
//!             Request::Claim { key, from } => match self.jobs.get_mut(&key) {
//!                 None => Reply::Gone,
//!                 Some(owner) if *owner == from => { *owner = pass.token; Reply::Claimed }
//!                 Some(owner) => Reply::Owned(*owner),
//!             },
//!             Request::Resume { key, how } => {
//!                 assert_eq!(how, How::Redo);              // all jobs here are idempotent
//!                 println!("job {key} is begun again");    // handed to the workers, with the pass
//!                 Reply::Resumed
//!             }
//!             Request::Announce => Reply::Announced,
//!             // The workers finish what they are at, or drop it.
//!             Request::Drain(_) | Request::Stop => Reply::Stopped,
//!         }
//!     }
//! }
//!
//! let jobs = ElectionId(1);
//! let mut table = Table { guard: Fence::unused(jobs), jobs: BTreeMap::new() };
//! table.jobs.insert(7, Token::new(0, 33));                 // the predecessor died in the middle of it
//!
//! let me = Holder { node: NodeId(2), incarnation: 1 };
//! let mut takeover = Takeover::new(Config::new(jobs, me, 1))?;
//!
//! // After every input of the election: let (now, standing) = (clock.now(), election.standing(now));
//! let now = Instant::from_millis(5);
//! let tenure = Tenure { token: Token::new(0, 34), until: Instant::from_millis(9_000) };
//! let standing = Standing::Leading(tenure);
//! takeover.handle(now, standing, Input::Look);
//! while let Some(output) = takeover.poll() {
//!     match output {
//!         Output::Request(ticket, pass, request) => {
//!             let reply = table.carry_out(&pass, request);
//!             takeover.handle(now, standing, Input::Reply(ticket, Ok(reply)));
//!         }
//!         Output::Resign(_) => {}                          // election.handle(now, tenure::Input::Resign { to: None })
//!         Output::Event(event) => assert_eq!(event, Event::Ready(tenure)),
//!     }
//! }
//! assert_eq!(table.jobs[&7], tenure.token);
//! let permit = takeover.may_begin(now, standing).expect("it has taken over");
//! assert_eq!(permit.until, tenure.until);
//! # Ok::<(), tenure::takeover::ConfigError>(())
//! ```

mod config;
mod machine;
mod refuse;
mod rules;
mod steps;
mod task;
mod words;

pub use config::{Config, ConfigError, MAX_PAGE, MAX_RESOURCES, Timing};
pub use machine::Takeover;
pub use refuse::{Refusal, Refusals};
pub use rules::{Faithful, Invariant, Rule, Rules, Switched};
pub use words::{Because, Event, How, Input, Item, Output, Permit, Policy, Reply, Request};
