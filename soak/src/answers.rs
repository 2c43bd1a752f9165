//! Answers: the client answers each question as its text says, at once, late or never.

use crate::draft::{Draft, Expect, Plan, answer_to};
use crate::ledger::{Asked, Wrong};
use crate::peer::{Later, Manner, Peer, TokenKind};
use crate::violations::Kind;
use crate::word::Word;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

impl Peer {
    /// A request of the server, which only the handshake era has.
    pub(crate) fn take_question(
        &self,
        method: &str,
        message: &Value,
        words: &BTreeSet<Word>,
    ) -> Result<(), Wrong> {
        if self.revision.is_stateless() {
            return Err((Kind::AnsweredNothing, "a server of the stateless era asks nothing".to_owned()));
        }
        self.ledger().speaks_of("a question", words)?;
        let answer = |result: Value| json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
        if method == "roots/list" {
            self.run.tally.question("roots/list");
            let root = format!("file://{}", self.run.projects[self.project].root().display());
            // Some clients do not answer this one, and calls continue without it.
            if self.number % 4 != 1 {
                self.send(&answer(json!({ "roots": [{ "uri": root }] })));
            }
            return Ok(());
        }
        let (Some(word), Some(plan)) = (words.first(), Plan::of_question(&message["params"].to_string()))
        else {
            return Err((Kind::WrongAnswer, "a question that no script has asked".to_owned()));
        };
        self.run.tally.question(&format!("{method}, {}", plan.name()));
        let error =
            json!({ "jsonrpc": "2.0", "id": message["id"], "error": { "code": -1, "message": "no" } });
        match plan {
            Plan::Accept | Plan::Again | Plan::Decline | Plan::Cancel => {
                self.send(&answer(reply(method, plan, *word)));
            }
            Plan::Fail => self.send(&error),
            Plan::Late | Plan::Tardy => {
                self.do_later(delay(plan, *word), Later::Message(answer(reply(method, plan, *word))));
            }
            Plan::Never => {}
        }
        Ok(())
    }

    /// The answer to a request is a question: another request brings the answer.
    pub(crate) fn take_input_required(&self, asked: Asked, message: &Value) -> Result<(), Wrong> {
        let Some((key, question)) =
            message["result"]["inputRequests"].as_object().and_then(|questions| questions.iter().next())
        else {
            return Err((Kind::WrongAnswer, "it asks nothing".to_owned()));
        };
        let method = question["method"].as_str().unwrap_or_default();
        let (Some(word), Some(plan)) = (asked.draft.word, Plan::of_question(&question["params"].to_string()))
        else {
            return Err((Kind::WrongAnswer, "a question that no script has asked".to_owned()));
        };
        self.run.tally.question(&format!("{method}, {}", plan.name()));
        let was_repeated = asked.draft.params.get("requestState").is_some();
        let mut draft = Draft { ..asked.draft };
        draft.params["requestState"] = message["result"]["requestState"].clone();
        draft.params["inputResponses"] = match plan {
            Plan::Again if !was_repeated => json!({}),
            // An error cannot be sent here.
            _ => json!({ key: reply(method, plan, word) }),
        };
        match plan {
            Plan::Never | Plan::Fail => {}
            Plan::Late | Plan::Tardy => {
                if plan == Plan::Tardy {
                    // The script may have continued, or have exited long ago.
                    draft.expect = Expect::Anything;
                }
                self.do_later(delay(plan, word), Later::Continue(draft));
            }
            _ => {
                let manner = Manner { stateless: true, token: Some(TokenKind::Text), ..Manner::default() };
                self.request(draft, manner);
            }
        }
        Ok(())
    }
}

/// The client's delay: shorter or longer than the script waits.
fn delay(plan: Plan, word: Word) -> Duration {
    let varied = Duration::from_millis(u64::from(word.call % 10) * 60);
    varied + Duration::from_millis(if plan == Plan::Tardy { 1300 } else { 50 })
}

fn reply(method: &str, plan: Plan, word: Word) -> Value {
    let text = answer_to(word);
    match (method, plan) {
        ("sampling/createMessage", _) => {
            json!({ "role": "assistant", "model": "soak", "content": { "type": "text", "text": text } })
        }
        (_, Plan::Decline) => json!({ "action": "decline" }),
        (_, Plan::Cancel) => json!({ "action": "cancel" }),
        _ => json!({ "action": "accept", "content": { "value": text } }),
    }
}
