//! One node of a Raft group.

use super::error::Refused;
use super::output::Given;
use super::{config, output, read};
use crate::object::text;
use tenure::raft::{
    ChangeRefused, CompactError, ProposeError, Raft as Machine, ReadError, TransferError,
};
use tenure::{Election, Input, Ticket, Unknown};
use wasm_bindgen::prelude::*;

/// One node: leader election with a lease, and a replicated log where it is configured with one.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Raft {
    machine: Machine,
    /// Where messages and writes are encoded.
    buffer: Vec<u8>,
}

#[wasm_bindgen]
impl Raft {
    /// A node, at the instant `now` of its clock. With something stored it first waits out what it may have promised.
    ///
    /// # Errors
    /// Parameters that are no such, or that are unsafe together; stored bytes that are damaged, or cannot be this node's.
    #[wasm_bindgen(constructor)]
    pub fn new(
        #[wasm_bindgen(unchecked_param_type = "RaftConfig")] config: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "Boot")] boot: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "number")] now: &JsValue,
    ) -> Result<Raft, JsValue> {
        let (config, boot) = (config::config(config)?, config::boot(boot)?);
        let machine = Machine::new(config, boot, read::now(now)?)
            .map_err(|error| config::unsafe_together(&error))?;
        let buffer = Vec::new();
        Ok(Self { machine, buffer })
    }

    /// The deadline came. Early, late or repeated calls are harmless.
    ///
    /// # Errors
    /// A time that is none.
    #[wasm_bindgen(js_name = handleTimeout)]
    pub fn handle_timeout(
        &mut self,
        #[wasm_bindgen(unchecked_param_type = "number")] now: &JsValue,
    ) -> Result<(), JsValue> {
        self.machine.handle(read::now(now)?, Input::Timeout);
        Ok(())
    }

    /// A message arrived. Bytes that are refused change nothing: to the protocol the message was lost. A message that is
    /// intact and cannot be true is counted among the `refusals`.
    ///
    /// # Errors
    /// Bytes that were cut, altered or written for something else; a time or a node that is none.
    #[wasm_bindgen(js_name = handlePeer)]
    pub fn handle_peer(
        &mut self,
        #[wasm_bindgen(unchecked_param_type = "number")] now: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "number")] from: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "Uint8Array")] message: &JsValue,
    ) -> Result<(), JsValue> {
        let (now, from) = (read::now(now)?, read::node("from", from)?);
        let message = read::coded("message", message)?;
        self.machine.handle(now, Input::Peer(from, message));
        Ok(())
    }

    /// The disk answered a request: `true` when the write, and all before it, are there to stay; `false` when that is not
    /// certain. The machine then acts no more, and a new one is started from what the disk turns out to hold.
    ///
    /// # Errors
    /// A time or a ticket that is none. A ticket of a former life is counted among the `refusals`.
    pub fn reply(
        &mut self,
        #[wasm_bindgen(unchecked_param_type = "number")] now: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "Ticket")] ticket: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "boolean")] durable: &JsValue,
    ) -> Result<(), JsValue> {
        let now = read::now(now)?;
        let fields = read::Fields::of("ticket", ticket, &["incarnation", "number"])?;
        let any = |place: &str, value: &JsValue| read::whole(place, value, u64::MAX);
        let ticket = Ticket {
            incarnation: fields.need("incarnation", any)?,
            number: fields.need("number", any)?,
        };
        let result = if read::flag("durable", durable)? {
            Ok(())
        } else {
            Err(Unknown)
        };
        self.machine.handle(now, Input::Reply(ticket, result));
        Ok(())
    }

    /// Leave no gap: campaign now rather than at the election timeout. A live leader is not disturbed.
    ///
    /// # Errors
    /// A time that is none.
    pub fn campaign(
        &mut self,
        #[wasm_bindgen(unchecked_param_type = "number")] now: &JsValue,
    ) -> Result<(), JsValue> {
        self.machine.handle(read::now(now)?, Input::Campaign);
        Ok(())
    }

    /// Stop leading and free the followers at once; `to` names who should campaign without waiting. No effect on a node that
    /// does not lead.
    ///
    /// # Errors
    /// A time or a node that is none.
    pub fn resign(
        &mut self,
        #[wasm_bindgen(unchecked_param_type = "number")] now: &JsValue,
        #[wasm_bindgen(unchecked_optional_param_type = "number")] to: &JsValue,
    ) -> Result<(), JsValue> {
        let now = read::now(now)?;
        let to = (!to.is_undefined()).then(|| read::node("to", to));
        self.machine.handle(
            now,
            Input::Resign {
                to: to.transpose()?,
            },
        );
        Ok(())
    }

    /// Appends `count` entries to the leader's log, and answers the position of the first. Payloads are the program's, kept
    /// under the entries' names; an entry is committed once `commit` has reached it *and*
    /// `termAt` of its index is still its term. The log has entries beside them that are the machine's own and have no
    /// payload: a program passes over those when it applies what is committed.
    ///
    /// # Errors
    /// When this node does not lead, or has no log; when `count` is 0.
    #[wasm_bindgen(unchecked_return_type = "Position")]
    pub fn propose(
        &mut self,
        #[wasm_bindgen(unchecked_param_type = "number")] now: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "number")] count: &JsValue,
    ) -> Result<JsValue, JsValue> {
        let count = read::small("count", count)?;
        let proposed = self.machine.propose(read::now(now)?, count);
        let first = proposed
            .map_err(|error| Refused::told(not_proposed(&error), "propose", &error, LATER))?;
        Ok(output::position(first))
    }

    /// Begins a change of who takes part, and answers the position of its entry. The change is over when `membership` is the
    /// target and `commit` has reached its entry.
    ///
    /// # Errors
    /// When this node may not propose, another change is under way, or the target cannot be reached.
    #[wasm_bindgen(unchecked_return_type = "Position")]
    pub fn change(
        &mut self,
        #[wasm_bindgen(unchecked_param_type = "number")] now: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "Target")] target: &JsValue,
    ) -> Result<JsValue, JsValue> {
        let target = config::target(target)?;
        let begun = self.machine.change(read::now(now)?, &target);
        let at = begun.map_err(|error| {
            let code = match &error {
                ChangeRefused::Propose(why) => not_proposed(why),
                ChangeRefused::Uncommitted(_) => "uncommitted",
                ChangeRefused::NewLeader => "new-leader",
                ChangeRefused::Target(_) => "bad-target",
                ChangeRefused::Behind(_) => "behind",
                _ => "not-changed",
            };
            Refused::told(code, "change", &error, LATER)
        })?;
        Ok(output::position(at))
    }

    /// Hands leadership over to a voter, once it has the whole log; until then, at most an election timeout, this node leads
    /// on and takes no proposals.
    ///
    /// # Errors
    /// When this node does not lead, the other cannot be elected, or a transfer is under way.
    pub fn transfer(
        &mut self,
        #[wasm_bindgen(unchecked_param_type = "number")] now: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "number")] to: &JsValue,
    ) -> Result<(), JsValue> {
        let to = read::node("to", to)?;
        let begun = self.machine.transfer(read::now(now)?, to);
        begun.map_err(|error| {
            let code = match error {
                TransferError::NotLeader(_) => "not-leader",
                TransferError::ToItself => "to-itself",
                TransferError::NotAVoter(_) => "not-a-voter",
                TransferError::UnderWay(_) => "under-way",
                _ => "not-transferred",
            };
            Refused::told(code, "transfer", &error, LATER).into()
        })
    }

    /// Asks for a read that a quorum confirms, on the leader or any node that follows one. Answers its number, counted from 1;
    /// what becomes of it comes out of `poll`, once for each read, in order.
    ///
    /// # Errors
    /// When there is no log, or no leader that could confirm it.
    pub fn read(
        &mut self,
        #[wasm_bindgen(unchecked_param_type = "number")] now: &JsValue,
    ) -> Result<u64, JsValue> {
        let asked = self.machine.read(read::now(now)?);
        asked.map_err(|error| not_read(&error).into())
    }

    /// Asks for a read that the leader answers from its lease. The order matters: ask, wait until the state has applied
    /// `index`, read it, and *then* see that `standing` with a fresh `now` still shows the same token; drop what was read
    /// otherwise.
    ///
    /// # Errors
    /// When this node holds no lease.
    #[wasm_bindgen(js_name = readLeased, unchecked_return_type = "Leased")]
    pub fn read_leased(
        &mut self,
        #[wasm_bindgen(unchecked_param_type = "number")] now: &JsValue,
    ) -> Result<JsValue, JsValue> {
        let leased = self.machine.read_leased(read::now(now)?);
        Ok(output::leased(leased.map_err(|error| not_read(&error))?))
    }

    /// The program holds a durable snapshot of its state as of the entry at `index`: what is before is dropped. Answers
    /// where the log begins.
    ///
    /// # Errors
    /// When the entry may still be taken back, or there is no log.
    #[wasm_bindgen(unchecked_return_type = "Position")]
    pub fn compact(
        &mut self,
        #[wasm_bindgen(unchecked_param_type = "number")] now: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "bigint | number")] index: &JsValue,
    ) -> Result<JsValue, JsValue> {
        let index = read::whole("index", index, u64::MAX)?;
        let compacted = self.machine.compact(read::now(now)?, index);
        let base = compacted.map_err(|error| {
            let code = match error {
                CompactError::NotFinal(_) => "not-final",
                CompactError::NoLog => "no-log",
                _ => "not-compacted",
            };
            Refused::told(code, "compact", &error, "compact less")
        })?;
        Ok(output::position(base))
    }

    /// The next thing to do, until `undefined`. Drain after every input.
    #[wasm_bindgen(unchecked_return_type = "Output | undefined")]
    pub fn poll(&mut self) -> Given {
        Ok(match self.machine.poll() {
            Some(next) => output::output(&next, &mut self.buffer),
            // Reads are settled when the rest is said.
            None => self
                .machine
                .poll_read()
                .map_or(JsValue::UNDEFINED, output::served),
        })
    }

    /// When to call `handleTimeout` at the latest; `undefined` when nothing is due.
    #[must_use]
    pub fn deadline(&self) -> Option<f64> {
        self.machine.deadline().and_then(output::counted)
    }

    /// What the node may believe at `now`. This alone authorises; events are news. Ask again before each effect.
    ///
    /// # Errors
    /// A time that is none.
    #[wasm_bindgen(unchecked_return_type = "Standing")]
    pub fn standing(
        &self,
        #[wasm_bindgen(unchecked_param_type = "number")] now: &JsValue,
    ) -> Result<JsValue, JsValue> {
        Ok(output::standing(self.machine.standing(read::now(now)?)))
    }
}

/// What there is to be read.
#[wasm_bindgen]
impl Raft {
    /// What the node is doing.
    #[wasm_bindgen(getter, unchecked_return_type = "Role")]
    pub fn role(&self) -> Given {
        Ok(text(output::role(self.machine.role())))
    }

    /// Its term; rises only.
    #[must_use]
    #[wasm_bindgen(getter)]
    pub fn term(&self) -> u64 {
        self.machine.term()
    }

    /// Up to where the log is committed; rises only, and begins anew with each life.
    #[must_use]
    #[wasm_bindgen(getter)]
    pub fn commit(&self) -> u64 {
        self.machine.commit()
    }

    /// The end of the log.
    #[wasm_bindgen(getter, unchecked_return_type = "Position")]
    pub fn last(&self) -> Given {
        Ok(output::position(self.machine.last()))
    }

    /// Whether a write ended in doubt, so that this machine acts no more.
    #[must_use]
    #[wasm_bindgen(getter)]
    pub fn halted(&self) -> bool {
        self.machine.halted()
    }

    /// The term that wrote the entry at `index`; `undefined` beyond the log and below where it begins.
    ///
    /// # Errors
    /// An index that is none.
    #[wasm_bindgen(js_name = termAt)]
    pub fn term_at(
        &self,
        #[wasm_bindgen(unchecked_param_type = "bigint | number")] index: &JsValue,
    ) -> Result<Option<u64>, JsValue> {
        let index = read::whole("index", index, u64::MAX)?;
        Ok(self.machine.log().term_at(index))
    }

    /// Who takes part, as far as this node knows: the newest configuration in its log, committed or not.
    #[wasm_bindgen(getter, unchecked_return_type = "Membership")]
    pub fn membership(&self) -> Given {
        Ok(output::membership(self.machine.membership()))
    }

    /// What was refused so far, by reason: how often.
    #[wasm_bindgen(unchecked_return_type = "Refusals")]
    pub fn refusals(&self) -> Given {
        Ok(output::refusals(self.machine.refusals()))
    }
}

/// What to do where the core's text names nothing.
const LATER: &str = "ask again later";

fn not_proposed(error: &ProposeError) -> &'static str {
    match error {
        ProposeError::NotLeader(_) => "not-leader",
        ProposeError::NoLog => "no-log",
        ProposeError::TooLong => "log-full",
        ProposeError::Transferring => "transferring",
        ProposeError::NoEntries => "no-entries",
        _ => "not-proposed",
    }
}

fn not_read(error: &ReadError) -> Refused {
    let code = match error {
        ReadError::NoLog => "no-log",
        ReadError::NoLeader => "no-leader",
        ReadError::NotLeader(_) => "not-leader",
        ReadError::NotEstablished => "not-established",
        ReadError::NoLeases => "no-leases",
        _ => "not-read",
    };
    Refused::told(code, "read", error, LATER)
}
