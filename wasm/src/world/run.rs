//! The world for JavaScript: a run with time travel, and the buffers to draw it from.

use super::convert;
use super::error::WorldError;
use super::types::{JsAction, JsActors, JsBudget, JsInspection, JsNames, JsRecords, JsVerdicts};
use crate::object::object;
use js_sys::Array;
use tenure_sim::Scenario;
use tenure_sim::history::History;
use tenure_sim::scenario::{VERSION, parse_seed};
use tenure_sim::world::view::{EVENT, write_spans};
use wasm_bindgen::prelude::*;

/// A run with time travel.
#[wasm_bindgen]
#[derive(Debug)]
pub struct World {
    history: History,
    nodes: Vec<f64>,
    flights: Vec<f64>,
    resources: Vec<f64>,
    servers: Vec<f64>,
    links: Vec<u8>,
    summary: Vec<f64>,
    overlaps: Vec<f64>,
    leaderless: Vec<f64>,
    logs: Vec<f64>,
    clients: Vec<f64>,
    particulars: Vec<f64>,
}

#[wasm_bindgen]
impl World {
    /// A run of the scenario (JSON text), at its first instant; `seed` (decimal text) goes before the scenario's own.
    ///
    /// # Errors
    /// What is wrong with the scenario or the seed.
    #[wasm_bindgen(constructor)]
    pub fn new(scenario: &str, seed: Option<String>) -> Result<World, JsValue> {
        let mut scenario = Scenario::parse(scenario).map_err(WorldError::from)?;
        if let Some(seed) = seed {
            let remedy = "pass a whole number below 2^64 as text";
            let seed = parse_seed(&seed)
                .ok_or_else(|| WorldError::new("bad-seed", "seed", "this is not a seed", remedy))?;
            scenario = scenario.with_seed(seed);
        }
        let mut world = Self {
            history: History::new(scenario).map_err(WorldError::from)?,
            nodes: Vec::new(),
            flights: Vec::new(),
            resources: Vec::new(),
            servers: Vec::new(),
            links: Vec::new(),
            summary: Vec::new(),
            overlaps: Vec::new(),
            leaderless: Vec::new(),
            logs: Vec::new(),
            clients: Vec::new(),
            particulars: Vec::new(),
        };
        world.frame();
        Ok(world)
    }

    /// The version of the scenario format.
    #[wasm_bindgen(js_name = formatVersion)]
    #[must_use]
    pub fn format_version() -> u32 {
        VERSION
    }

    /// The cursor: what [`frame`](Self::frame) shows.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn now(&self) -> f64 {
        self.history.now() as f64
    }

    /// The furthest instant that was computed in the present future.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn horizon(&self) -> f64 {
        self.history.horizon() as f64
    }

    /// The end of the run.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn duration(&self) -> f64 {
        self.history.head().duration() as f64
    }

    /// Whether so much happened that no more can be kept: the horizon stays where it is.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn full(&self) -> bool {
        self.history.is_full()
    }

    /// Whether there is an intervention to take back.
    #[wasm_bindgen(getter, js_name = canUndo)]
    #[must_use]
    pub fn can_undo(&self) -> bool {
        self.history.can_undo()
    }

    /// Whether there is one to make again.
    #[wasm_bindgen(getter, js_name = canRedo)]
    #[must_use]
    pub fn can_redo(&self) -> bool {
        self.history.can_redo()
    }

    /// Moves the cursor, forward or back; what is outside the run is moved to its nearer end.
    pub fn seek(&mut self, to: f64) {
        // The conversion saturates, and makes 0 of what is no number.
        self.history.seek(to as u64);
    }

    /// Moves the cursor to the next event whose kind is in the mask (bit `k` for kind `k`). False when there is none: the
    /// cursor is then at the end.
    #[wasm_bindgen(js_name = seekNext)]
    pub fn seek_next(&mut self, mask_lo: u32, mask_hi: u32) -> bool {
        self.history
            .seek_next(u64::from(mask_hi) << 32 | u64::from(mask_lo))
    }

    /// Fills the buffers from the cursor; spans go up to the horizon, as events do.
    #[inline(never)]
    pub fn frame(&mut self) {
        let world = self.history.world();
        world.write_nodes(&mut self.nodes);
        world.write_flights(&mut self.flights);
        world.write_resources(&mut self.resources);
        world.write_servers(&mut self.servers);
        world.write_links(&mut self.links);
        world.write_summary(&mut self.summary);
        world.write_logs(&mut self.logs);
        world.write_clients(&mut self.clients);
        world.write_particulars(&mut self.particulars);
        let judges = self.history.head().judges();
        write_spans(judges.overlaps(), &mut self.overlaps);
        write_spans(judges.leaderless(), &mut self.leaderless);
    }

    /// Intervenes at the cursor; the future after it is computed anew. The action is what may stand in the faults of a
    /// scenario file, without its time.
    ///
    /// # Errors
    /// What is wrong with the action.
    pub fn act(&mut self, action: JsAction) -> Result<(), JsValue> {
        // What has no JSON, or throws on the way there, is no action: nothing is not one either.
        let json = js_sys::JSON::stringify(&action).map(String::from);
        let action = self.history.parse_action(&json.unwrap_or_default());
        let action = action.map_err(WorldError::from)?;
        self.history.act(action).map_err(WorldError::from)?;
        self.frame();
        Ok(())
    }

    /// Takes the last intervention back; false when there is none. The cursor stays.
    pub fn undo(&mut self) -> bool {
        let undone = self.history.undo();
        self.frame();
        undone
    }

    /// Makes the intervention that was taken back again; false when there is none.
    pub fn redo(&mut self) -> bool {
        let redone = self.history.redo();
        self.frame();
        redone
    }

    /// Everything about one node, or a server with data of its own; an empty object when there is no such.
    #[must_use]
    pub fn inspect(&self, node: u32) -> JsInspection {
        let fields = self.history.world().inspect(node as usize);
        let fields: Vec<_> = fields
            .into_iter()
            .map(|(name, field)| (name, convert::field(field)))
            .collect();
        object(&fields).unchecked_into()
    }

    /// The records of the election as a server of the store has them: who holds comes first, then who waits, in order.
    #[must_use]
    pub fn records(&self, server: u32) -> JsRecords {
        let records = self.history.world().records(server as usize);
        records
            .into_iter()
            .map(convert::record)
            .collect::<Array>()
            .unchecked_into()
    }

    /// What each checker has to say, at the horizon.
    #[must_use]
    pub fn verdicts(&self) -> JsVerdicts {
        self.history
            .head()
            .verdicts()
            .iter()
            .map(convert::verdict)
            .collect::<Array>()
            .unchecked_into()
    }

    /// The scenario with its seed and every intervention: it reproduces this run.
    #[must_use]
    pub fn scenario(&self) -> String {
        self.history.scenario().to_json()
    }

    /// The rules of its scheme, by the names under which a scenario switches them off.
    #[must_use]
    pub fn rules(&self) -> JsNames {
        convert::names(&self.history.scenario().rules()).unchecked_into()
    }

    /// What follows from the timing of an election by a store; nothing where the nodes elect among themselves.
    #[must_use]
    pub fn budget(&self) -> Option<JsBudget> {
        let budget = self.history.scenario().setup().budget()?;
        Some(convert::budget(&budget).unchecked_into())
    }

    /// Who is in the world.
    #[must_use]
    pub fn actors(&self) -> JsActors {
        let actors = self.history.head().actors();
        actors
            .into_iter()
            .enumerate()
            .map(|(id, actor)| convert::actor(id, actor))
            .collect::<Array>()
            .unchecked_into()
    }

    /// The hash of the trace up to the horizon, 16 hexadecimal digits.
    #[wasm_bindgen(js_name = traceHash)]
    #[must_use]
    pub fn trace_hash(&self) -> String {
        self.history.head().trace().digest()
    }
}

/// What elections over a store have, and Raft has not.
#[cfg(feature = "stores")]
#[wasm_bindgen]
impl World {
    /// The systems by whose parameters its scheme can go, by the names that a scenario gives them.
    #[must_use]
    pub fn presets(&self) -> JsNames {
        convert::names(&self.history.scenario().presets()).unchecked_into()
    }
}

/// The address and the length, in elements, of each buffer.
#[wasm_bindgen]
impl World {
    /// The nodes.
    #[wasm_bindgen(js_name = nodesPtr)]
    #[must_use]
    pub fn nodes_ptr(&self) -> usize {
        self.nodes.as_ptr() as usize
    }

    /// The nodes.
    #[wasm_bindgen(js_name = nodesLen)]
    #[must_use]
    pub fn nodes_len(&self) -> usize {
        self.nodes.len()
    }

    /// The messages in flight.
    #[wasm_bindgen(js_name = flightsPtr)]
    #[must_use]
    pub fn flights_ptr(&self) -> usize {
        self.flights.as_ptr() as usize
    }

    /// The messages in flight.
    #[wasm_bindgen(js_name = flightsLen)]
    #[must_use]
    pub fn flights_len(&self) -> usize {
        self.flights.len()
    }

    /// The resources.
    #[wasm_bindgen(js_name = resourcesPtr)]
    #[must_use]
    pub fn resources_ptr(&self) -> usize {
        self.resources.as_ptr() as usize
    }

    /// The resources.
    #[wasm_bindgen(js_name = resourcesLen)]
    #[must_use]
    pub fn resources_len(&self) -> usize {
        self.resources.len()
    }

    /// The servers of the store by which the nodes elect; none where they elect among themselves.
    #[wasm_bindgen(js_name = serversPtr)]
    #[must_use]
    pub fn servers_ptr(&self) -> usize {
        self.servers.as_ptr() as usize
    }

    /// The servers of the store.
    #[wasm_bindgen(js_name = serversLen)]
    #[must_use]
    pub fn servers_len(&self) -> usize {
        self.servers.len()
    }

    /// The links.
    #[wasm_bindgen(js_name = linksPtr)]
    #[must_use]
    pub fn links_ptr(&self) -> usize {
        self.links.as_ptr() as usize
    }

    /// The links.
    #[wasm_bindgen(js_name = linksLen)]
    #[must_use]
    pub fn links_len(&self) -> usize {
        self.links.len()
    }

    /// The summary.
    #[wasm_bindgen(js_name = summaryPtr)]
    #[must_use]
    pub fn summary_ptr(&self) -> usize {
        self.summary.as_ptr() as usize
    }

    /// The summary.
    #[wasm_bindgen(js_name = summaryLen)]
    #[must_use]
    pub fn summary_len(&self) -> usize {
        self.summary.len()
    }

    /// The events up to the horizon.
    #[wasm_bindgen(js_name = eventsPtr)]
    #[must_use]
    pub fn events_ptr(&self) -> usize {
        self.history.events().as_ptr() as usize
    }

    /// The events up to the horizon.
    #[wasm_bindgen(js_name = eventsLen)]
    #[must_use]
    pub fn events_len(&self) -> usize {
        self.history.events().len() * EVENT
    }

    /// When two or more nodes believed to lead, up to the horizon: pairs of beginning and end, −1 while it goes on.
    #[wasm_bindgen(js_name = overlapsPtr)]
    #[must_use]
    pub fn overlaps_ptr(&self) -> usize {
        self.overlaps.as_ptr() as usize
    }

    /// When two or more nodes believed to lead, up to the horizon: pairs of beginning and end, −1 while it goes on.
    #[wasm_bindgen(js_name = overlapsLen)]
    #[must_use]
    pub fn overlaps_len(&self) -> usize {
        self.overlaps.len()
    }

    /// When no running node led; as the overlaps.
    #[wasm_bindgen(js_name = leaderlessPtr)]
    #[must_use]
    pub fn leaderless_ptr(&self) -> usize {
        self.leaderless.as_ptr() as usize
    }

    /// When no running node led; as the overlaps.
    #[wasm_bindgen(js_name = leaderlessLen)]
    #[must_use]
    pub fn leaderless_len(&self) -> usize {
        self.leaderless.len()
    }

    /// The replicated logs, of different lengths; empty where there is none.
    #[wasm_bindgen(js_name = logsPtr)]
    #[must_use]
    pub fn logs_ptr(&self) -> usize {
        self.logs.as_ptr() as usize
    }

    /// The replicated logs.
    #[wasm_bindgen(js_name = logsLen)]
    #[must_use]
    pub fn logs_len(&self) -> usize {
        self.logs.len()
    }

    /// The clients of the store.
    #[wasm_bindgen(js_name = clientsPtr)]
    #[must_use]
    pub fn clients_ptr(&self) -> usize {
        self.clients.as_ptr() as usize
    }

    /// The clients of the store.
    #[wasm_bindgen(js_name = clientsLen)]
    #[must_use]
    pub fn clients_len(&self) -> usize {
        self.clients.len()
    }

    /// What is particular to the scheme, in rows; empty where there is nothing.
    #[wasm_bindgen(js_name = particularsPtr)]
    #[must_use]
    pub fn particulars_ptr(&self) -> usize {
        self.particulars.as_ptr() as usize
    }

    /// What is particular to the scheme.
    #[wasm_bindgen(js_name = particularsLen)]
    #[must_use]
    pub fn particulars_len(&self) -> usize {
        self.particulars.len()
    }
}
