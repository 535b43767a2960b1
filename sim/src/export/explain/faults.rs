//! What each action of the plan did, or that it did nothing.

use super::Entry;
use crate::app::RESOURCES;
use crate::export::plan;
use crate::export::recording::{Recording, Strike};
use crate::export::words::{count, ms, span};
#[cfg(feature = "peers")]
use crate::fault::Who;
use crate::fault::{Action, Damage};
use crate::physics::trace::{Event, Kind, Loss, Lost};

/// How many links are named one by one.
const LINKS_NAMED: usize = 6;

/// How many quiet actions in a row are named one by one.
const QUIET_NAMED: usize = 12;

/// An action that came, in words.
#[derive(Clone, Debug)]
pub(super) struct Told {
    /// Its place in the plan.
    place: usize,
    at: u64,
    effect: bool,
    /// What it was, in a few words, if that is all there is to say.
    quiet: Option<String>,
    /// What it was and did.
    full: String,
}

/// Every action that came.
pub(super) fn entries(recording: &Recording) -> Vec<Entry> {
    let total = recording.strikes.len();
    recording
        .strikes
        .iter()
        .enumerate()
        .map(|(place, strike)| {
            let asked = plan::asked(recording, place);
            let (quiet, did) = if strike.effect {
                let quiet = strike.disk.map(|_| asked.clone());
                (quiet, did(recording, place, strike))
            } else {
                let why = plan::why_not(recording, place);
                (
                    Some(format!("{asked} (no effect: {why})")),
                    format!("No effect: {why}."),
                )
            };
            let full = format!("Fault {} of {total}, {asked}. {did}", place + 1);
            Entry {
                at: strike.at,
                text: full.clone(),
                fault: Some(Told {
                    place,
                    at: strike.at,
                    effect: strike.effect,
                    quiet,
                    full,
                }),
            }
        })
        .collect()
}

/// Tells several quiet actions in a row in one paragraph.
pub(super) fn told_together(entries: Vec<Entry>) -> Vec<Entry> {
    let mut out: Vec<Entry> = Vec::new();
    let mut row: Vec<Told> = Vec::new();
    for entry in entries {
        match &entry.fault {
            Some(told) if told.quiet.is_some() => row.push(told.clone()),
            _ => {
                out.extend(in_a_row(std::mem::take(&mut row)));
                out.push(entry);
            }
        }
    }
    out.extend(in_a_row(row));
    out
}

fn in_a_row(row: Vec<Told>) -> Option<Entry> {
    let (first, last) = (row.first()?, row.last()?);
    let text = if row.len() == 1 {
        first.full.clone()
    } else {
        let mut named: Vec<String> = row
            .iter()
            .take(QUIET_NAMED)
            .filter_map(|told| told.quiet.clone())
            .collect();
        let rest = row.get(QUIET_NAMED..).unwrap_or_default();
        if !rest.is_empty() {
            let idle = rest.iter().filter(|told| !told.effect).count();
            named.push(format!(
                "and {} more, {idle} of them without effect",
                rest.len()
            ));
        }
        let when = if last.at > first.at {
            format!(" ({})", span(first.at, last.at))
        } else {
            String::new()
        };
        format!(
            "Faults {} to {}{when}: {}.",
            first.place + 1,
            last.place + 1,
            named.join("; ")
        )
    };
    Some(Entry::new(first.at, text))
}

fn did(recording: &Recording, place: usize, strike: &Strike) -> String {
    let own = &recording.events[strike.events.clone()];
    let later = &recording.events[strike.events.end..];
    let of = |kind: Kind| own.iter().filter(move |event| event.kind == kind);
    let mut said: Vec<String> = Vec::new();
    said.extend(of(Kind::Crash).map(|crash| crashed(recording, crash, own, later)));
    said.extend(own.iter().filter_map(|event| kept(recording, event)));
    said.extend(of(Kind::Boot).map(|boot| {
        let who = recording.name(boot.actor);
        match boot.a {
            // A server of a store has no lives to count.
            ..0 => format!("{who} is there again."),
            life => format!("{who} starts again, life {life}, from what its disk holds."),
        }
    }));
    said.extend(of(Kind::Pause).map(|pause| paused(recording, pause, later)));
    said.extend(of(Kind::Resume).map(|resume| resumed(recording, strike, resume)));
    let flaps = recording.scenario.faults.get(place);
    let flaps = flaps.is_some_and(|fault| matches!(fault.action, Action::Flap(..)));
    if !flaps && of(Kind::Cut).next().is_some() {
        said.push(cut(recording, strike));
    }
    said.extend(healed(own));
    if let Some(node) = strike.disk {
        let before = strike.before.disks.get(usize::from(node)).copied();
        said.push(format!(
            "{}'s disk took {} before.",
            recording.name(node),
            plan::takes(before.unwrap_or_default())
        ));
    }
    let action = recording.scenario.faults.get(place);
    match action.map(|fault| &fault.action) {
        Some(Action::Network(_)) => said.extend(weather(recording, place, later)),
        Some(Action::Disconnect(..)) => said.extend(disconnected(own, later)),
        Some(Action::Flap(..)) => {
            said.push("It begins with being cut, and goes on until it is healed.".to_owned());
        }
        Some(Action::Damage(_, damage)) => said.push(damaged(*damage).to_owned()),
        #[cfg(feature = "peers")]
        Some(Action::Resign(Who::Server(server))) => said.push(goes(recording, *server, later)),
        Some(Action::Clock(..) | Action::Slow(..) | Action::Delay(..)) => {
            said.push("From now on.".to_owned())
        }
        _ => {}
    }
    if said.is_empty() {
        // A wish: what comes of it is told where it comes.
        said.push(match own.first() {
            Some(event) => format!("{} does so.", recording.name(event.actor)),
            None => "From now on.".to_owned(),
        });
    }
    said.join(" ")
}

/// A broker is told to go: when it does.
#[cfg(feature = "peers")]
fn goes(recording: &Recording, server: u16, later: &[Event]) -> String {
    let actor = recording.scenario.nodes + usize::from(server);
    let mut of = later
        .iter()
        .filter(|event| usize::from(event.actor) == actor);
    let ended = of.find(|event| {
        matches!(event.kind, Kind::Crash | Kind::Boot)
            || (event.kind == Kind::News && event.a == crate::brokers::code::STOPPED)
    });
    let name = recording.name(actor as u16);
    match ended {
        Some(event) if event.kind == Kind::News => {
            format!("{name} dies once nothing rests on it, at {}.", ms(event.at))
        }
        _ => format!("{name} is about to go."),
    }
}

fn crashed(recording: &Recording, crash: &Event, own: &[Event], later: &[Event]) -> String {
    let node = crash.actor;
    let mut said = format!("{} dies", recording.name(node));
    let lost = |how: Lost| {
        let lost = |event: &&Event| event.kind == Kind::PersistLost && event.b == how as i64;
        own.iter().filter(lost).count()
    };
    let undone = own
        .iter()
        .filter(|event| event.kind == Kind::PersistLost)
        .count()
        - lost(Lost::Answered)
        - lost(Lost::Wiped);
    if undone > 0 {
        said += &format!(", and {} not done yet", undo(undone));
    }
    if lost(Lost::Answered) > 0 {
        said += ", and a record that its disk had answered is gone";
    }
    if own.iter().any(|event| event.kind == Kind::Persisted) {
        said += ", and a record is on its disk of which nobody had heard";
    }
    let back = |event: &&Event| event.kind == Kind::Boot && event.actor == node;
    let down = later
        .iter()
        .position(|event| back(&event))
        .map_or(later, |place| &later[..place]);
    let lost = own.iter().chain(down).filter(|event| {
        event.kind == Kind::Lose
            && event.other == i32::from(node)
            && event.b == Loss::ReceiverDown as i64
    });
    said + &format!(
        "; {} to it lost {}.",
        count(lost.count() as u64, "message"),
        if down.len() < later.len() {
            "until it is back"
        } else {
            "until the end"
        }
    )
}

/// What became of what a server of a store keeps.
fn kept(recording: &Recording, event: &Event) -> Option<String> {
    let server = recording.name(event.actor);
    Some(match event.kind {
        // A disk that lies had said that it had.
        Kind::TailLost if recording.scenario.server_letter() == 'b' => {
            format!("What had not come to the medium of {server}'s disk is lost.")
        }
        Kind::TailLost => format!("What {server} had not synced is lost."),
        Kind::Failover => format!("The replica of {server} takes over, with what has reached it."),
        Kind::Evict => format!("{server} has no record of the election any more."),
        Kind::BackUp => format!("What {server} keeps is copied."),
        Kind::Restore => format!("{server} has what was copied of it, and nothing else."),
        _ => return None,
    })
}

/// What a damaged disk will do.
const fn damaged(damage: Damage) -> &'static str {
    match damage {
        Damage::Wipe => "Its disk is empty.",
        Damage::Lie => "From now on its disk answers before it has written.",
        Damage::Fail => "The next write of its disk fails.",
        Damage::Drop => "The next write of its disk is answered and never done.",
    }
}

/// How much a connection takes with it, and when it stands again.
fn disconnected(own: &[Event], later: &[Event]) -> Option<String> {
    let broke = own.iter().find(|event| event.kind == Kind::Disconnect)?;
    let (one, other) = (broke.actor, broke.other);
    let back = later.iter().position(|event| {
        event.kind == Kind::Reconnect && (event.actor, event.other) == (one, other)
    });
    let between = |event: &&Event| {
        let ends = (i32::from(event.actor), event.other);
        ends == (i32::from(one), other) || ends == (other, i32::from(one))
    };
    let lost = later[..back.unwrap_or(later.len())]
        .iter()
        .filter(|event| event.kind == Kind::Lose && event.b == Loss::Disconnected as i64)
        .filter(between)
        .count();
    Some(format!(
        "{} lost {}.",
        count(lost as u64, "message"),
        match back {
            Some(place) => format!("until it stands again at {}", ms(later[place].at)),
            None => "until the end".to_owned(),
        }
    ))
}

/// How much the network loses until it changes again, if it loses anything.
fn weather(recording: &Recording, place: usize, later: &[Event]) -> Option<String> {
    let next = (place + 1..recording.strikes.len()).find(|next| {
        recording.strikes[*next].effect
            && matches!(recording.scenario.faults[*next].action, Action::Network(_))
    });
    let until = next.map_or(u64::MAX, |next| recording.strikes[next].at);
    let lost = later
        .iter()
        .take_while(|event| event.at <= until)
        .filter(|event| event.kind == Kind::Lose && event.b == Loss::Network as i64)
        .count();
    let end = match next {
        Some(_) => format!("until it changes at {}", ms(until)),
        None => "until the end".to_owned(),
    };
    (lost > 0).then(|| format!("It loses {} {end}.", count(lost as u64, "message")))
}

fn undo(writes: usize) -> String {
    match writes {
        1 => "a write to its disk is".to_owned(),
        _ => format!("{writes} writes to its disk are"),
    }
}

fn paused(recording: &Recording, pause: &Event, later: &[Event]) -> String {
    let node = pause.actor;
    let ends = later
        .iter()
        .find(|event| event.actor == node && matches!(event.kind, Kind::Resume | Kind::Crash));
    let until = ends.map_or(recording.scenario.duration, |event| event.at);
    let mut said = format!(
        "{} freezes for {}",
        recording.name(node),
        ms(until.saturating_sub(pause.at))
    );
    let belief = recording
        .beliefs
        .iter()
        .find(|belief| belief.node == node && belief.from <= pause.at && belief.until > pause.at);
    if let Some(belief) = belief {
        said += &format!(
            ", believing to lead term {} until {}",
            belief.token.counter,
            ms(belief.until)
        );
    }
    said + "."
}

fn resumed(recording: &Recording, strike: &Strike, resume: &Event) -> String {
    let node = resume.actor;
    let own = &recording.events[strike.events.clone()];
    let at_it = |kind: Kind| {
        own.iter()
            .filter(move |event| event.kind == kind && event.actor == node)
            .count() as u64
    };
    let mut said = format!("{} goes on", recording.name(node));
    // Every write goes to both resources.
    let issued = at_it(Kind::WriteIssued).div_ceil(RESOURCES as u64);
    if issued > 0 {
        said += &format!(
            ", first sending {} it had checked before it froze",
            count(issued, "write")
        );
    }
    let waited = at_it(Kind::Deliver);
    match waited {
        0 => said + "; nothing had come for it.",
        _ => said + &format!("; {} had waited for it.", count(waited, "message")),
    }
}

fn cut(recording: &Recording, strike: &Strike) -> String {
    let size = recording.members();
    let link =
        |event: &Event| usize::from(event.actor) * size + usize::try_from(event.other).unwrap_or(0);
    let mut carries = vec![true; size * size];
    for event in &recording.events[..strike.events.end] {
        if matches!(event.kind, Kind::Cut | Kind::Heal) {
            carries[link(event)] = event.kind == Kind::Heal;
        }
    }
    let mut own: Vec<usize> = recording.events[strike.events.clone()]
        .iter()
        .filter(|event| event.kind == Kind::Cut)
        .map(link)
        .collect();
    let (mut lost, mut until) = (0, "until the end".to_owned());
    for event in &recording.events[strike.events.start..] {
        match event.kind {
            Kind::Lose if event.b == Loss::Cut as i64 && own.contains(&link(event)) => lost += 1,
            Kind::Heal => {
                own.retain(|other| *other != link(event));
                if own.is_empty() {
                    until = format!("until healed at {}", ms(event.at));
                    break;
                }
            }
            _ => {}
        }
    }
    format!(
        "{}; {} lost there {until}.",
        shape(recording, &carries).unwrap_or_else(|| named(recording, strike)),
        count(lost, "message")
    )
}

/// The groups that the links leave, when that tells all: links carry both ways within, and neither way between.
fn shape(recording: &Recording, carries: &[bool]) -> Option<String> {
    let size = recording.members();
    let mut groups: Vec<Vec<u16>> = Vec::new();
    for node in 0..size {
        let with = groups
            .iter_mut()
            .find(|group| carries[node * size + usize::from(group[0])]);
        match with {
            Some(group) => group.push(node as u16),
            None => groups.push(vec![node as u16]),
        }
    }
    let group_of = |node: usize| {
        groups
            .iter()
            .position(|group| group.contains(&(node as u16)))
    };
    let tells_all = (0..size).all(|from| {
        (0..size)
            .all(|to| from == to || carries[from * size + to] == (group_of(from) == group_of(to)))
    });
    let names: Vec<String> = groups.iter().map(|group| recording.names(group)).collect();
    (tells_all && names.len() > 1).then(|| format!("The nodes fall apart: {}", names.join(" | ")))
}

fn named(recording: &Recording, strike: &Strike) -> String {
    let links: Vec<String> = recording.events[strike.events.clone()]
        .iter()
        .filter(|event| event.kind == Kind::Cut)
        .map(|event| {
            let to = u16::try_from(event.other).unwrap_or_default();
            format!("{} → {}", recording.name(event.actor), recording.name(to))
        })
        .collect();
    let mut said = links[..links.len().min(LINKS_NAMED)].join(", ");
    if links.len() > LINKS_NAMED {
        said += &format!(" and {} more", links.len() - LINKS_NAMED);
    }
    format!("Nothing comes through from {said}")
}

fn healed(own: &[Event]) -> Option<String> {
    let links = own.iter().filter(|event| event.kind == Kind::Heal).count();
    if own.iter().any(|event| event.kind == Kind::Healed) {
        return Some(format!(
            "All links carry again; {} cut.",
            match links {
                1 => "one direction was".to_owned(),
                _ => format!("{links} directions were"),
            }
        ));
    }
    match links {
        0 => None,
        1 => Some("One direction carries again.".to_owned()),
        _ => Some(format!("{links} directions carry again.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;

    fn told(faults: &str) -> (Recording, Vec<String>) {
        let json = format!(
            r#"{{"tenure": 1, "scheme": "raft", "nodes": 3, "duration": "5s", "faults": [{faults}]}}"#
        );
        let recording = Recording::of(Scenario::parse(&json).unwrap()).unwrap();
        let told = entries(&recording).into_iter().map(|entry| entry.text);
        let told = told.collect();
        (recording, told)
    }

    #[test]
    fn a_cut_counts_what_is_lost_on_its_own_links_until_the_last_is_healed() {
        let (recording, told) = told(
            r#"{"at": "1s", "partition": [["n1", "n2"], ["n3"]]}, {"at": "2s", "heal": ["n1", "n3"]},
               {"at": "2s", "heal": ["n2", "n3"]}, {"at": "2500ms", "cut": ["n1", "n2"]},
               {"at": "3s", "heal": ["n3", "n1"]}, {"at": "3500ms", "heal": ["n3", "n2"]}"#,
        );
        let lost = |from: u16, to: i32, until: u64| {
            let events = recording.events.iter().filter(|event| {
                event.kind == Kind::Lose && (event.actor, event.other) == (from, to)
            });
            events.filter(|event| event.at <= until).count()
        };
        let parted = lost(0, 2, 2_000_000)
            + lost(1, 2, 2_000_000)
            + lost(2, 0, 3_000_000)
            + lost(2, 1, 3_500_000);
        for (place, expected) in [
            (0, "The nodes fall apart: n1 and n2 | n3".to_owned()),
            (
                0,
                format!("{parted} messages lost there until healed at 3500 ms."),
            ),
            (3, "Nothing comes through from n1 → n2".to_owned()),
            (
                3,
                format!(
                    "{} messages lost there until the end.",
                    lost(0, 1, u64::MAX)
                ),
            ),
            (4, "One direction carries again.".to_owned()),
        ] {
            assert!(told[place].contains(&expected), "{expected}: {told:#?}");
        }
    }

    #[test]
    fn damage_and_slowness_say_what_they_will_do() {
        let (_, told) = told(
            r#"{"at": "1s", "lie": "n1"}, {"at": "1s", "fail": "n2"}, {"at": "1s", "drop": "n3"},
               {"at": "2s", "wipe": "n1"}, {"at": "3s", "slow": {"node": "n2", "by": "20ms"}},
               {"at": "3s", "clock": {"node": "n2", "rate": "-1%", "jump": "-7ms"}},
               {"at": "3s", "flap": {"between": ["n2", "n3"], "down": "5ms", "up": "7ms"}}"#,
        );
        for (told, expected) in told.iter().zip([
            "lie n1. From now on its disk answers before it has written.",
            "fail n2. The next write of its disk fails.",
            "drop n3. The next write of its disk is answered and never done.",
            "wipe n1. n1 dies; ",
            "slow n2: 20 ms for all that comes. From now on.",
            "clock of n2: 1 % slow and 7 ms back. From now on.",
            "flap n2 – n3: cut for 5 ms, whole for 7 ms. It begins with being cut, and goes on until it is healed.",
        ]) {
            assert!(told.contains(expected), "{told}");
        }
        assert!(told[3].contains("Its disk is empty."), "{}", told[3]);
    }

    #[test]
    fn a_broken_connection_counts_what_it_took_until_it_stands_again() {
        let json = r#"{"tenure": 1, "scheme": "raft", "nodes": 3, "duration": "5s", "network": {"order": "fifo"},
            "faults": [{"at": "2s", "disconnect": ["n2", "n1"]}]}"#;
        let recording = Recording::of(Scenario::parse(json).unwrap()).unwrap();
        let lost = recording.events.iter();
        let lost = lost.filter(|event| event.kind == Kind::Lose).count();
        let told = &entries(&recording)[0].text;
        let count = count(lost as u64, "message");
        assert!(
            told.contains(&format!("{count} lost until it stands again at 2020 ms.")),
            "{told}"
        );
    }

    #[test]
    fn a_crash_tells_what_it_left_on_the_disk() {
        let left = |seed: u64, at: u64| {
            let json = format!(
                r#"{{"tenure": 1, "scheme": "raft", "nodes": 3, "duration": "1s", "seed": "{seed}",
                    "disk": {{"write": "10ms", "rename": "80ms"}},
                    "faults": [{{"at": "0ms", "campaign": "n1"}}, {{"at": "{at}ms", "crash": "n1"}}]}}"#
            );
            let recording = Recording::of(Scenario::parse(&json).unwrap()).unwrap();
            entries(&recording)[1].text.clone()
        };
        let told: Vec<String> = (0..20).map(|seed| left(seed, 80)).collect();
        for part in ["of which nobody had heard", "is not done yet"] {
            assert!(
                told.iter().any(|told| told.contains(part)),
                "{part}: {told:#?}"
            );
        }
    }

    #[test]
    fn quiet_faults_in_a_row_are_told_together() {
        let (recording, _) = told(
            r#"{"at": "1s", "restart": "n1"}, {"at": "1s", "disk": {"node": "n1", "write": "9ms"}},
               {"at": "2s", "crash": "n1"}, {"at": "3s", "pause": "n1"}"#,
        );
        let told: Vec<String> = told_together(entries(&recording))
            .into_iter()
            .map(|entry| entry.text)
            .collect();
        assert_eq!(told.len(), 3);
        assert_eq!(
            told[0],
            "Faults 1 to 2: restart n1 (no effect: n1 was running already); disk of n1: 9 ms a write."
        );
        assert!(told[1].starts_with("Fault 3 of 4, crash n1. n1 dies"));
        assert_eq!(told[2], "Fault 4 of 4, pause n1. No effect: n1 was down.");
    }
}
