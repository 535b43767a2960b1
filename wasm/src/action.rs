//! Interventions as JavaScript writes them.

use crate::error::WorldError;
use serde::Deserialize;
use tenure_sim::fault::{Action, Who};
use wasm_bindgen::JsValue;

#[derive(Deserialize)]
struct Written {
    #[serde(rename = "do")]
    what: String,
    node: Option<u16>,
    from: Option<u16>,
    to: Option<u16>,
    groups: Option<Vec<Vec<u16>>>,
}

/// Reads an intervention in a world of `nodes` nodes.
pub(crate) fn read(value: JsValue, nodes: usize) -> Result<Action, WorldError> {
    let written: Written = serde_wasm_bindgen::from_value(value).map_err(|_| {
        let remedy = "pass { do, node }, { do, from, to }, or { do: \"partition\", groups }, with whole numbers for nodes";
        WorldError::new("bad-action", "act", "this is not an action", remedy)
    })?;
    let known = |node: Option<u16>, field: &str| match node {
        Some(node) if usize::from(node) < nodes => Ok(Who::Node(node)),
        Some(_) => Err(WorldError::new("unknown-node", field, "there is no such node", "use 0 to the number of nodes less one")),
        None => Err(WorldError::new("missing-field", field, "the action needs a node here", "add it")),
    };
    let node = || known(written.node, "act.node");
    let link = || {
        let (from, to) = (known(written.from, "act.from")?, known(written.to, "act.to")?);
        if from == to {
            return Err(WorldError::new("no-link", "act.to", "a node has no link to itself", "name two nodes"));
        }
        Ok((from, to))
    };
    Ok(match written.what.as_str() {
        "crash" => Action::Crash(node()?),
        "restart" => Action::Restart(node()?),
        "pause" => Action::Pause(node()?),
        "resume" => Action::Resume(node()?),
        "resign" => Action::Resign(node()?),
        "campaign" => Action::Campaign(node()?),
        "cut" => link().map(|(from, to)| Action::Cut(from, to))?,
        "heal" => link().map(|(from, to)| Action::Heal(from, to))?,
        "healAll" => Action::HealAll,
        "partition" => Action::Partition(partition(written.groups.unwrap_or_default(), nodes)?),
        _ => {
            let remedy = "use crash, restart, pause, resume, resign, campaign, cut, heal, healAll or partition";
            return Err(WorldError::new("unknown-name", "act.do", "there is no such action", remedy));
        }
    })
}

fn partition(groups: Vec<Vec<u16>>, nodes: usize) -> Result<Vec<Vec<Who>>, WorldError> {
    let mut named = vec![false; nodes];
    for node in groups.iter().flatten() {
        match named.get_mut(usize::from(*node)) {
            Some(named) if !*named => *named = true,
            Some(_) => return Err(WorldError::new("named-twice", "act.groups", "a node is in two groups", "name each node once")),
            None => return Err(WorldError::new("unknown-node", "act.groups", "there is no such node", "use 0 to the number of nodes less one")),
        }
    }
    if named.contains(&false) {
        return Err(WorldError::new("incomplete", "act.groups", "the groups do not hold every node", "name every node once"));
    }
    Ok(groups.into_iter().map(|group| group.into_iter().map(Who::Node).collect()).collect())
}
