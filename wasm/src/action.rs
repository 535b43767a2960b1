//! Interventions as JavaScript writes them.

use crate::error::WorldError;
use js_sys::{Array, Reflect};
use tenure_sim::fault::{Action, Who};
use wasm_bindgen::{JsCast, JsValue};

/// Reads an intervention in a world of `nodes` nodes.
pub(crate) fn read(action: &JsValue, nodes: usize) -> Result<Action, WorldError> {
    let Some(what) = field(action, "do").and_then(|what| what.as_string()) else {
        let remedy = "pass an object as { do: \"crash\", node: 0 }";
        return Err(WorldError::new("bad-action", "act", "this is no action", remedy));
    };
    Ok(match what.as_str() {
        "partition" => Action::Partition(partition(action, nodes)?),
        "healAll" => Action::HealAll,
        "cut" | "heal" => {
            let (from, to) = (node(action, "from", nodes)?, node(action, "to", nodes)?);
            if from == to {
                return Err(WorldError::new("no-link", "act.to", "a node has no link to itself", "name two nodes"));
            }
            if what == "cut" { Action::Cut(from, to) } else { Action::Heal(from, to) }
        }
        _ => {
            let Some((_, make)) = ON_ONE_NODE.iter().find(|(name, _)| *name == what) else {
                let remedy = "use crash, restart, pause, resume, resign, campaign, cut, heal, healAll or partition";
                return Err(WorldError::new("unknown-name", "act.do", "there is no such action", remedy));
            };
            make(node(action, "node", nodes)?)
        }
    })
}

/// An action on one node, made from that node.
type Make = fn(Who) -> Action;

const ON_ONE_NODE: [(&str, Make); 6] = [
    ("crash", Action::Crash),
    ("restart", Action::Restart),
    ("pause", Action::Pause),
    ("resume", Action::Resume),
    ("resign", Action::Resign),
    ("campaign", Action::Campaign),
];

fn node(action: &JsValue, name: &str, nodes: usize) -> Result<Who, WorldError> {
    match field(action, name) {
        Some(value) => known_node(&value, nodes).map(Who::Node).ok_or_else(|| unknown_node(name)),
        None => Err(WorldError::new("missing-field", &place(name), "the action needs a node here", "add it")),
    }
}

fn partition(action: &JsValue, nodes: usize) -> Result<Vec<(u16, Who)>, WorldError> {
    let list = |value: &JsValue| {
        let remedy = "pass a list of lists of nodes";
        let wrong = || WorldError::new("wrong-type", "act.groups", "this is not what is expected here", remedy);
        value.dyn_ref::<Array>().cloned().ok_or_else(wrong)
    };
    let mut named = vec![false; nodes];
    let mut members = Vec::new();
    for (place, group) in (0..).zip(list(&field(action, "groups").unwrap_or(JsValue::UNDEFINED))?.iter()) {
        for value in list(&group)?.iter() {
            let node = known_node(&value, nodes).ok_or_else(|| unknown_node("groups"))?;
            if std::mem::replace(&mut named[usize::from(node)], true) {
                return Err(WorldError::new("named-twice", "act.groups", "a node is in two groups", "name each node once"));
            }
            members.push((place, Who::Node(node)));
        }
    }
    if named.contains(&false) {
        return Err(WorldError::new("incomplete", "act.groups", "the groups do not hold every node", "name every node once"));
    }
    Ok(members)
}

/// A field that is there; reading one of what is no object, or through a getter that throws, finds nothing.
fn field(object: &JsValue, name: &str) -> Option<JsValue> {
    Reflect::get(object, &name.into()).ok().filter(|value| !value.is_undefined())
}

fn known_node(value: &JsValue, nodes: usize) -> Option<u16> {
    let number = value.as_f64()?;
    // The conversion saturates: what is no whole number in range does not come back equal.
    let node = number as u16;
    (f64::from(node) == number && usize::from(node) < nodes).then_some(node)
}

fn unknown_node(field: &str) -> WorldError {
    WorldError::new("unknown-node", &place(field), "there is no such node", "use 0 to the number of nodes less one")
}

fn place(field: &str) -> String {
    "act.".to_owned() + field
}
