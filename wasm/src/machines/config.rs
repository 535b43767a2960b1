//! Parameters, and what a machine starts from, as objects.

use super::error::Refused;
use super::read::{self, Fields};
use tenure::Duration;
use tenure::membership::Target;
use tenure::quorum::{MAX_VOTERS, Voters, VotersError};
use tenure::raft::{Boot, Config, ConfigError, Priority, Replication, Timing};
use wasm_bindgen::JsValue;

/// A configuration, of valid parts; whether they fit each other is checked when the machine is built.
pub(crate) fn config(value: &JsValue) -> Result<Config, JsValue> {
    let known = [
        "id",
        "voters",
        "timing",
        "safeMode",
        "priority",
        "generation",
        "replication",
    ];
    let fields = Fields::of("config", value, &known)?;
    let id = fields.need("id", read::node)?;
    let voters = fields.need("voters", voters)?;
    let mut config = Config::new(id, voters);
    if let Some(given) = fields.read("timing", timing)? {
        config.timing = given;
    }
    if let Some(given) = fields.read("safeMode", read::flag)? {
        config.safe_mode = given;
    }
    if let Some(given) = fields.read("priority", priority)? {
        config.priority = given;
    }
    if let Some(given) = fields.read("generation", read::small)? {
        config.generation = given;
    }
    config.replication = fields.read("replication", replication)?;
    Ok(config)
}

/// What the machine starts from.
pub(crate) fn boot(value: &JsValue) -> Result<Boot, JsValue> {
    let fields = Fields::of("boot", value, &["stored", "incarnation", "seed"])?;
    let any = |place: &str, value: &JsValue| read::whole(place, value, u64::MAX);
    Ok(Boot {
        stored: fields.read("stored", read::coded)?,
        incarnation: fields.need("incarnation", any)?,
        seed: fields.need("seed", any)?,
    })
}

/// What a change of membership is to end in.
pub(crate) fn target(value: &JsValue) -> Result<Target, JsValue> {
    let fields = Fields::of("target", value, &["voters", "learners"])?;
    let ids = |place: &str, value: &JsValue| read::list(place, value, MAX_VOTERS, read::node);
    Ok(Target {
        voters: fields.need("voters", voters)?,
        learners: fields.read("learners", ids)?.unwrap_or_default(),
    })
}

/// Parameters that are unsafe together, or a record that cannot be this node's.
pub(crate) fn unsafe_together(error: &ConfigError) -> Refused {
    let place = match error {
        ConfigError::IncarnationZero => "boot.incarnation",
        ConfigError::RecordTerm(_)
        | ConfigError::RecordVote(_)
        | ConfigError::RecordPromise(_)
        | ConfigError::LogBeyondRecord { .. }
        | ConfigError::MembersBeyondLog { .. }
        | ConfigError::LogTooLong(_) => "boot.stored",
        ConfigError::GenerationFell { .. } => "config.generation",
        ConfigError::NotAVoter(_) => "config.voters",
        ConfigError::NothingToSend => "config.replication",
        _ => "config.timing",
    };
    Refused::told(error.code(), place, error, error.remedy())
}

fn voters(place: &str, value: &JsValue) -> Result<Voters, Refused> {
    let ids = read::list(place, value, MAX_VOTERS, read::node)?;
    Voters::new(ids).map_err(|error| {
        let code = match error {
            VotersError::Empty => "no-voters",
            VotersError::Repeated(_) => "repeated-voter",
            VotersError::TooMany => "too-many-voters",
            _ => "not-voters",
        };
        Refused::told(code, place, &error, "name at least one, or fewer")
    })
}

fn timing(place: &str, value: &JsValue) -> Result<Timing, JsValue> {
    let known = [
        "electionMin",
        "electionMax",
        "heartbeat",
        "rateBound",
        "grain",
    ];
    let fields = Fields::of(place, value, &known)?;
    let mut timing = Timing::default();
    for (name, part) in [
        ("electionMin", &mut timing.election_min),
        ("electionMax", &mut timing.election_max),
        ("heartbeat", &mut timing.heartbeat),
        ("grain", &mut timing.grain),
    ] {
        if let Some(given) = fields.read(name, read::micros)? {
            *part = Duration::from_micros(given);
        }
    }
    if let Some(given) = fields.read("rateBound", read::small)? {
        timing.rate_bound = given;
    }
    Ok(timing)
}

fn replication(place: &str, value: &JsValue) -> Result<Replication, JsValue> {
    let fields = Fields::of(place, value, &["batch", "window"])?;
    let mut replication = Replication::default();
    for (name, part) in [
        ("batch", &mut replication.batch),
        ("window", &mut replication.window),
    ] {
        let given = fields.read(name, |place, value| {
            read::whole(place, value, read::MAX_SAFE)
        })?;
        *part = given.unwrap_or(*part);
    }
    Ok(replication)
}

fn priority(place: &str, value: &JsValue) -> Result<Priority, Refused> {
    match value.as_string().as_deref() {
        Some("reluctant") => Ok(Priority::Reluctant),
        Some("ordinary") => Ok(Priority::Ordinary),
        Some("preferred") => Ok(Priority::Preferred),
        _ => {
            let remedy = "give 'reluctant', 'ordinary' or 'preferred'";
            Err(Refused::new(
                "not-a-priority",
                place,
                &read::not_taken(value),
                remedy,
            ))
        }
    }
}
