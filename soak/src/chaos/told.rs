//! Told: what a client receives of a call, and whether it is right.

use super::account::{Account, Fate};
use super::project::STEPS;
use super::vandal::Damage;
use crate::audit::Due;
use crate::http::{Event, Head};
use crate::tally::Outcome;
use serde_json::Value;

pub(super) type Asked = Result<Fate, String>;

/// A call: its id, which its answer repeats, and its message.
pub(super) struct Call {
    pub(super) id: String,
    pub(super) tool: &'static str,
    pub(super) message: Value,
    /// The amount of damage before the call.
    pub(super) damage: u64,
}

/// The messages of a call so far.
pub(super) struct Told<'a> {
    steps: u64,
    answer: Option<Value>,
    account: &'a Account,
    damage: &'a Damage,
}

impl<'a> Told<'a> {
    pub(super) fn nothing(account: &'a Account, damage: &'a Damage) -> Self {
        Self { steps: 0, answer: None, account, damage }
    }

    pub(super) fn take(&mut self, event: Event, call: &Call) -> Result<(), String> {
        let Some(message) = event.message else { return Ok(()) };
        if self.answer.is_some() {
            return Err(format!("the answer is followed by {message}"));
        }
        if message.get("id").is_some() {
            self.answer = Some(message);
            return Ok(());
        }
        let params = &message["params"];
        // Messages of the server to all clients.
        if message["method"] != "notifications/progress" {
            return Ok(());
        }
        if params["progressToken"] != *call.id {
            return Err(format!("{message} belongs to another"));
        }
        self.steps += 1;
        if params["progress"].as_u64() != Some(self.steps) && !self.damage_concerns(call) {
            return Err(format!("step {} is {message}", self.steps));
        }
        Ok(())
    }

    /// Whether something was removed while it ran: then its steps may be missing.
    fn damage_concerns(&self, call: &Call) -> bool {
        self.damage.count() != call.damage
    }

    pub(super) fn judge(self, head: &Head, call: &Call) -> Asked {
        let answer = self.answer.as_ref().ok_or("the stream ended without an answer")?;
        let fate = judge(self.account, head, answer, call)?;
        let is_short = call.tool == "steps"
            && fate == Fate::Answered
            && ![0, STEPS].contains(&self.steps)
            && !self.damage_concerns(call);
        if is_short { Err(format!("only {} steps were told", self.steps)) } else { Ok(fate) }
    }
}

/// The outcome of a request, from its answer. The audit log has to fit it.
pub(super) fn judge(account: &Account, head: &Head, answer: &Value, call: &Call) -> Asked {
    if answer["id"] != *call.id {
        return Err(format!("status {} and the answer of another: {answer}", head.status));
    }
    match head.status {
        // Its session was gone before the message was read: the line about that does not name it.
        404 => account.owe_nothing(&call.id),
        _ => account.owe(&call.id, Due::Answered(Outcome::of(answer))),
    }
    if let Some(error) = answer.get("error") {
        let is_refused =
            head.status != 200 || error["message"].as_str().is_some_and(|why| why.contains("busy"));
        return Ok(if is_refused { Fate::Refused } else { Fate::Failed });
    }
    if answer["result"]["isError"] == true {
        return Ok(Fate::Failed);
    }
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
    if text.contains(&call.id) { Ok(Fate::Answered) } else { Err(format!("the result of another: {answer}")) }
}
