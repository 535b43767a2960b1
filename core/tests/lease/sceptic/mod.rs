//! What a sceptic tried: schedules at the very bounds, one for each doubt, and what the budgets say against what they measure.

mod budgets;
mod doubles;
mod sessions;
mod wire;
