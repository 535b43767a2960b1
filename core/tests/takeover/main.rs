//! Taking over and handing over: by hand, by the timelines of the reports, and by thousands of leaders that die in the middle
//! of their work.

mod by_hand;
mod host;
mod laws;
mod sceptic;
mod sceptic_office;
mod storm;
mod storms;
mod timelines;
