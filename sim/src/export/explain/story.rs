//! Elections in words.

use super::Entry;
use super::elections::{Attempt, Elections, End, Office, Poll, Why};
use crate::app::Through;
use crate::export::recording::Recording;
use crate::export::words::{count, ms, nodes, span};
use crate::physics::trace::Ended;
use crate::scenario::{Elects, Scenario};

/// How a leader comes to lead, as far as the words for it go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// By votes, and heartbeats that a majority answers: Raft.
    Votes,
    /// A store grants a lease.
    Store,
    /// By the votes and acknowledgements of another scheme, which are told as messages alone.
    Other,
}

impl Way {
    const fn of(scenario: &Scenario) -> Self {
        match scenario.elects {
            Elects::Raft => Self::Votes,
            Elects::ByStore(_) => Self::Store,
            #[cfg(feature = "peers")]
            _ => Self::Other,
        }
    }
}

/// What is told of elections, in order of time.
pub(super) fn entries(recording: &Recording, elections: &Elections) -> Vec<Entry> {
    let mut entries = vec![Entry::new(
        0,
        match recording.scenario.nodes {
            1 => "The node starts.".to_owned(),
            nodes => format!("All {nodes} nodes start. Nobody leads."),
        },
    )];
    let way = Way::of(&recording.scenario);
    for office in &elections.offices {
        match way {
            Way::Votes => entries.extend(won(elections, office)),
            Way::Store => entries.push(granted(office)),
            Way::Other => entries.extend(office.established.map(|_| chosen(office))),
        }
        entries.push(held(recording, way, office));
        entries.extend(office.ended.map(|_| ended(office, way)));
    }
    if way == Way::Votes {
        entries.extend(lost(elections));
        entries.extend(split_votes(elections));
    }
    if let Some(office) = elections
        .offices
        .iter()
        .rev()
        .find(|office| office.ended.is_none())
    {
        entries.push(Entry::new(
            recording.scenario.duration,
            format!(
                "The run is over. {} leads in term {}: {}.",
                name(office),
                office.term,
                work(office, way)
            ),
        ));
    } else {
        entries.push(Entry::new(
            recording.scenario.duration,
            "The run is over. Nobody leads.".to_owned(),
        ));
    }
    entries
}

/// The attempt that won an office.
fn won(elections: &Elections, office: &Office) -> Option<Entry> {
    let attempt = elections.attempts.iter().find(|attempt| {
        attempt.end == End::Elected
            && attempt.node == office.node
            && attempt.until == office.elected
    })?;
    let mut text = reason(attempt);
    if let Some(pre) = attempt.pre.as_ref().filter(|pre| pre.rounds > 0) {
        let asked = asks(pre.rounds);
        let stood = attempt.stood.map_or(String::new(), |(at, _)| {
            format!(", and stands in term {} at {}", office.term, ms(at))
        });
        text += &format!(" It {asked}, gets those of {}{stood}.", nodes(&pre.granted));
    } else {
        text += &format!(" It stands in term {} at once.", office.term);
    }
    text += &match &attempt.votes.granted[..] {
        [] => " Its own vote elects it".to_owned(),
        granted => format!(
            " With its own vote and those of {} it is elected",
            nodes(granted)
        ),
    };
    text += &format!(" at {}.", ms(office.elected));
    Some(Entry::new(attempt.from, text))
}

/// What the store said.
fn granted(office: &Office) -> Entry {
    let text = format!(
        "The store grants {} the lease, with token {}.",
        name(office),
        office.term
    );
    Entry::new(office.elected, text)
}

/// What its peers made of it.
fn chosen(office: &Office) -> Entry {
    let text = format!("{} is elected in term {}.", name(office), office.term);
    Entry::new(office.elected, text)
}

/// Why a node tried.
fn reason(attempt: &Attempt) -> String {
    let node = nodes(&[attempt.node]);
    match attempt.why {
        Why::NeverHeard(booted) => format!(
            "{node} has heard no leader since it started at {}: its election timeout runs out.",
            ms(booted)
        ),
        Why::Silence(leader, heard) => format!(
            "{node} last heard {} at {}: its election timeout runs out.",
            nodes(&[leader]),
            ms(heard)
        ),
        Why::Released(leader, at) => format!(
            "{node} heard at {} that {} stopped leading, and from nobody else since.",
            ms(at),
            nodes(&[leader])
        ),
        Why::HandedOver(leader) => {
            format!("{node} is named by {} to succeed it.", nodes(&[leader]))
        }
        Why::Stepped(at) => format!(
            "{node} led until {} and has heard no leader since: its election timeout runs out.",
            ms(at)
        ),
        Why::Asked => format!("{node} is asked to campaign."),
    }
}

fn held(recording: &Recording, way: Way, office: &Office) -> Entry {
    let (who, term) = (name(office), office.term);
    let Some(established) = office.established else {
        let why = match way {
            Way::Votes => ": no majority answered its heartbeats in time",
            Way::Store | Way::Other => "",
        };
        let text = format!("{who} is elected in term {term} but never established{why}.");
        return Entry::new(office.elected, text);
    };
    let mut text = format!("{who} is established in term {term}");
    if way == Way::Votes && recording.scenario.nodes > 1 {
        text += ": a majority answered its heartbeat";
    }
    text += &match office.first_write {
        Some(at) => format!(
            ". It takes over, and the fenced resource takes its first write at {}.",
            ms(at)
        ),
        None if recording.scenario.clients.through == Through::Anyone => {
            ". Nobody asks it: clients write as if nobody led.".to_owned()
        }
        None => ". None of its writes reaches the fenced resource in time.".to_owned(),
    };
    Entry::new(established, text)
}

const LAPSED: i64 = Ended::Lapsed as i64;
const HIGHER_TERM: i64 = Ended::HigherTerm as i64;
const RESIGNED: i64 = Ended::Resigned as i64;
const DISK_FAILED: i64 = Ended::DiskFailed as i64;
const CRASHED: i64 = Ended::Crashed as i64;
const REMOVED: i64 = Ended::Removed as i64;
const TAKEN: i64 = Ended::Taken as i64;
const TRANSFERRED: i64 = Ended::Transferred as i64;

fn ended(office: &Office, way: Way) -> Entry {
    let (at, why, by) = office.ended.unwrap_or((office.elected, 0, None));
    let who = name(office);
    let term = office.term;
    let by = by.map_or_else(|| "a peer".to_owned(), |by| nodes(&[by]));
    let lapsed_before = office
        .believed
        .filter(|(until, _)| *until < at)
        .map(|(until, _)| ms(until));
    let mut text = match (why, lapsed_before) {
        (HIGHER_TERM, None) => {
            format!("{who} learns of a higher term from {by}: its term {term} is over.")
        }
        (RESIGNED, _) => format!("{who} resigns: its term {term} is over."),
        (DISK_FAILED, _) => {
            format!("{who}'s disk failed it: its term {term} is over, and it halts.")
        }
        (CRASHED, _) => format!("{who}'s term {term} is over with it."),
        (REMOVED, _) => format!("{who} has no vote any more: its term {term} is over."),
        (TAKEN, _) => {
            format!("the store says that {who} does not hold it any more: its term {term} is over.")
        }
        (TRANSFERRED, _) => {
            format!("{who} hands over to one that has its whole log: its term {term} is over.")
        }
        (LAPSED, None) if office.established.is_none() => {
            format!("{who} gives term {term} up: it was never established.")
        }
        (LAPSED, None) => match way {
            Way::Votes => format!(
                "{who}'s lease of term {term} lapses, no majority having answered since: it stops leading."
            ),
            Way::Store => format!(
                "{who}'s lease of term {term} lapses, the store having answered nothing since: it stops leading."
            ),
            Way::Other => {
                format!("{who} has no majority any more: its term {term} is over.")
            }
        },
        (LAPSED | HIGHER_TERM, Some(until)) => match way {
            Way::Votes | Way::Store => format!(
                "{who} notices that its lease of term {term} lapsed at {until}: its term is over."
            ),
            Way::Other => {
                format!(
                    "{who} notices that it has led no more since {until}: its term {term} is over."
                )
            }
        },
        _ => format!("{who}'s term {term} is over."),
    };
    text += &format!(" In office: {}.", work(office, way));
    Entry::new(at, text)
}

fn work(office: &Office, way: Way) -> String {
    let mut said = Vec::new();
    if way == Way::Votes {
        said.push(count(office.heartbeats, "heartbeat"));
    }
    let renewed = office.believed.filter(|(_, renewed)| *renewed > 0);
    if let Some((_, renewed)) = renewed.filter(|_| way != Way::Other) {
        said.push(format!("lease renewed {}", count(renewed, "time")));
    }
    let writes = count(office.writes, "write");
    said.push(format!("{writes} taken by the fenced resource"));
    said.join(", ")
}

/// Attempts that came to nothing, told together for each node between one election and the next.
fn lost(elections: &Elections) -> Vec<Entry> {
    let era = |attempt: &Attempt| {
        elections
            .offices
            .iter()
            .filter(|office| office.elected <= attempt.from)
            .count()
    };
    let mut groups: Vec<(u16, usize, Vec<&Attempt>)> = Vec::new();
    for attempt in elections
        .attempts
        .iter()
        .filter(|attempt| attempt.end != End::Elected)
    {
        let key = (attempt.node, era(attempt));
        match groups
            .iter_mut()
            .find(|(node, era, _)| (*node, *era) == key)
        {
            Some((_, _, group)) => group.push(attempt),
            None => groups.push((key.0, key.1, vec![attempt])),
        }
    }
    groups
        .iter()
        .filter_map(|(_, _, group)| in_vain(group))
        .collect()
}

fn in_vain(group: &[&Attempt]) -> Option<Entry> {
    let (first, last) = (*group.first()?, *group.last()?);
    let terms: Vec<u64> = group
        .iter()
        .filter_map(|attempt| attempt.stood.map(|(_, term)| term))
        .collect();
    let asked: u32 = group
        .iter()
        .filter_map(|attempt| attempt.pre.as_ref())
        .map(|pre| pre.rounds)
        .sum();
    let mut text = reason(first);
    text += &match &terms[..] {
        [] => format!(" It {}", asks(asked)),
        [term] => format!(" It stands in term {term}"),
        [low, .., high] => format!(" It stands {} times, in terms {low}–{high}", terms.len()),
    };
    if group.len() > 1 || asked > 1 {
        text += &format!(" ({})", span(first.from, last.until));
    }
    text += &format!(", {}", answers(group));
    text += &match last.end {
        End::Leader(leader) => format!(
            ". At {} it hears {} and follows it",
            ms(last.until),
            nodes(&[leader])
        ),
        End::Rival(rival) => format!(
            ". At {} it makes way for {}",
            ms(last.until),
            nodes(&[rival])
        ),
        End::HigherTerm(by) => format!(
            ". At {} it learns of a higher term from {}",
            ms(last.until),
            nodes(&[by])
        ),
        End::Crashed => format!(". At {} it dies", ms(last.until)),
        End::Open => ", until the run is over".to_owned(),
        End::NoMajority | End::Elected => String::new(),
    };
    text += if terms.is_empty() {
        "; it has raised no term."
    } else {
        "."
    };
    Some(Entry::new(first.from, text))
}

fn asks(rounds: u32) -> String {
    match rounds {
        0 | 1 => "asks for pre-votes".to_owned(),
        _ => format!("asks for pre-votes {rounds} times"),
    }
}

/// What voters answered over all attempts of a group: to those that stood, or else to what was asked before.
fn answers(group: &[&Attempt]) -> String {
    let stood = group.iter().any(|attempt| attempt.stood.is_some());
    let polls = group.iter().filter_map(|attempt| match attempt.stood {
        Some(_) => Some(&attempt.votes),
        None => attempt.pre.as_ref().filter(|_| !stood),
    });
    let mut all = Poll::default();
    for poll in polls {
        all.granted.extend(&poll.granted);
        all.refused.extend(&poll.refused);
    }
    for list in [&mut all.granted, &mut all.refused] {
        list.sort_unstable();
        list.dedup();
    }
    match (&all.granted[..], &all.refused[..]) {
        ([], []) => "unanswered".to_owned(),
        (granted, []) => format!("only {} consenting", nodes(granted)),
        ([], refused) => format!("{} refusing", nodes(refused)),
        (granted, refused) => format!(
            "{} consenting and {} refusing",
            nodes(granted),
            nodes(refused)
        ),
    }
}

/// Terms in which several stood at once and nobody won.
fn split_votes(elections: &Elections) -> Vec<Entry> {
    let mut stood: Vec<(u64, u64, u64, u16)> = elections
        .attempts
        .iter()
        .filter_map(|attempt| {
            let (at, term) = attempt.stood?;
            Some((term, at, attempt.until, attempt.node))
        })
        .collect();
    stood.sort_unstable();
    stood
        .chunk_by(|one, other| one.0 == other.0)
        .filter_map(|group| {
            let term = group[0].0;
            let won = elections.offices.iter().any(|office| office.term == term);
            // The last that stood, and those that were still standing by then.
            let at = group.iter().map(|(_, at, _, _)| *at).max()?;
            let mut names: Vec<u16> = group
                .iter()
                .filter(|(_, _, until, _)| *until >= at)
                .map(|(_, _, _, node)| *node)
                .collect();
            names.sort_unstable();
            (names.len() > 1 && !won).then(|| {
                Entry::new(
                    at,
                    format!(
                        "The vote of term {term} is split between {}: nobody wins it.",
                        nodes(&names)
                    ),
                )
            })
        })
        .collect()
}

fn name(office: &Office) -> String {
    nodes(&[office.node])
}
