//! Judge: checks every message of a server: whether it is valid, whether it was owed, and whether it belongs to its
//! call.

use crate::audit::Due;
use crate::draft::{Expect, Plan};
use crate::ledger::{Asked, Wrong};
use crate::peer::Peer;
use crate::planted;
use crate::tally::Outcome;
use crate::violations::{Kind, excerpt};
use crate::word::Word;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

impl Peer {
    /// Handles one line of standard output.
    pub(crate) fn take_line(&self, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        if planted::is_in(line) {
            self.violation(Kind::Secret, &excerpt(&text));
        }
        match serde_json::from_slice::<Value>(line) {
            Err(error) => self.report(Err((Kind::NotJson, error.to_string())), &text),
            Ok(Value::Array(messages)) => {
                // All answers of an array belong to one batch.
                let mut batch = None;
                for message in &messages {
                    let text = message.to_string();
                    let words = Word::all_in(text.as_bytes());
                    self.report(self.take_message(message, &words, Some(&mut batch)), &text);
                }
            }
            Ok(message) => self.report(self.take_message(&message, &Word::all_in(line), None), &text),
        }
    }

    fn report(&self, judged: Result<(), Wrong>, message: &str) {
        if let Err((kind, what)) = judged {
            self.violation(kind, &format!("{what}\nmessage: {}", excerpt(message)));
        }
    }

    fn take_message(
        &self,
        message: &Value,
        words: &BTreeSet<Word>,
        batch: Option<&mut Option<u32>>,
    ) -> Result<(), Wrong> {
        if message["jsonrpc"] != "2.0" {
            return Err((Kind::NotJson, "not a message of JSON-RPC 2.0".to_owned()));
        }
        match (message.get("id"), message["method"].as_str()) {
            (None, Some(method)) => self.take_notification(method, &message["params"], words),
            (Some(_), Some(method)) => self.take_question(method, message, words),
            (Some(Value::Null), None) => {
                self.run.tally.with(|counts| counts.refusals += 1);
                self.ledger().take_refusal()
            }
            (Some(id), None) => self.take_answer(&id.to_string(), message, words, batch),
            (None, None) => Err((Kind::NotJson, "neither an answer nor a notification".to_owned())),
        }
    }

    fn take_answer(
        &self,
        id: &str,
        message: &Value,
        words: &BTreeSet<Word>,
        batch: Option<&mut Option<u32>>,
    ) -> Result<(), Wrong> {
        let mut ledger = self.ledger();
        let settled = ledger.settle(id, message, words, batch);
        for (id, method) in ledger.take_cancelled() {
            self.run.tally.request(method, Outcome::Cancelled);
            self.run.audit.owe(self.pid, &id, method, Due::Cancelled);
        }
        let mut asked = settled?;
        self.run.audit.owe(self.pid, id, asked.draft.method, Due::Answered(Outcome::of(message)));
        if matches!(asked.draft.expect, Expect::Told(_)) && self.is_deaf.load(Ordering::Acquire) {
            // Its question may have arrived too late to be answered.
            asked.draft.expect = Expect::Word;
        }
        self.run.tally.request(asked.draft.method, Outcome::of(message));
        // After the end of input the server writes only answers.
        let is_owed_news = !self.is_deaf.load(Ordering::Acquire);
        let is_honest = asked.draft.expect == Expect::Honest && Outcome::of(message) == Outcome::Result;
        let heard = if is_honest && is_owed_news { ledger.check_notifications(&asked) } else { Ok(()) };
        drop(ledger);
        if let Some(next) = message["result"]["nextCursor"].as_str() {
            let mut cursors = self.cursors.lock().unwrap_or_else(PoisonError::into_inner);
            cursors.insert(asked.draft.method, next.to_owned());
        }
        if Outcome::of(message) == Outcome::InputRequired {
            return self.take_input_required(asked, message);
        }
        heard?;
        check_answer(&asked, message, words)
            .map_err(|what| (Kind::WrongAnswer, format!("{what}: {}", asked.draft.params)))
    }

    fn take_notification(&self, method: &str, params: &Value, words: &BTreeSet<Word>) -> Result<(), Wrong> {
        self.run.tally.notification(method);
        let mut ledger = self.ledger();
        let subscription = params["_meta"].get(SUBSCRIPTION);
        if let Some(id) = subscription
            && method != "notifications/cancelled"
        {
            ledger.heard_by(id, method == "notifications/subscriptions/acknowledged")?;
        }
        match method {
            "notifications/progress" => ledger.progress(params, words),
            "notifications/message" => {
                ledger.speaks_of("a log message", words)?;
                ledger.count_log(words);
                Ok(())
            }
            "notifications/resources/updated" => {
                ledger.updated(params["uri"].as_str().unwrap_or_default(), subscription.is_none())
            }
            "notifications/tools/list_changed"
            | "notifications/resources/list_changed"
            | "notifications/prompts/list_changed"
                if self.revision.is_stateless() && subscription.is_none() =>
            {
                Err((Kind::AnsweredNothing, "it is for no listening request".to_owned()))
            }
            "notifications/tools/list_changed"
            | "notifications/resources/list_changed"
            | "notifications/prompts/list_changed"
            | "notifications/subscriptions/acknowledged" => Ok(()),
            "notifications/cancelled" => {
                if subscription.is_none() {
                    self.run.tally.question("withdrawn by the server");
                }
                Ok(())
            }
            _ => Err((Kind::AnsweredNothing, "there is no such notification".to_owned())),
        }
    }
}

/// Whether the answer is the expected one.
fn check_answer(asked: &Asked, message: &Value, words: &BTreeSet<Word>) -> Result<(), String> {
    let outcome = Outcome::of(message);
    let must_be = |wanted: Outcome| {
        if outcome == wanted { Ok(()) } else { Err(format!("{wanted:?} was due, and {outcome:?} came")) }
    };
    match asked.draft.expect {
        Expect::Anything => Ok(()),
        Expect::Error => must_be(Outcome::Error),
        Expect::Result | Expect::End => must_be(Outcome::Result),
        Expect::Word | Expect::Honest | Expect::Told(_) => {
            must_be(Outcome::Result)?;
            let Some(word) = asked.draft.word else { return Ok(()) };
            if !words.contains(&word) {
                return Err("the answer does not say the word of its call".to_owned());
            }
            match asked.draft.expect {
                Expect::Told(plan) => check_told(plan, word, message),
                _ => Ok(()),
            }
        }
    }
}

fn check_told(plan: Plan, word: Word, message: &Value) -> Result<(), String> {
    let text = message["result"].to_string();
    match plan.told(word) {
        Some(told) if !text.contains(&told) => Err(format!("the script was not told '{told}'")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draft::Draft;
    use crate::peer::{Manner, Outgoing, TokenKind};
    use crate::revision::Revision;
    use serde_json::json;
    use std::sync::mpsc::Receiver;

    fn plain(peer: &Peer, expect: Expect) -> (Draft, Word) {
        let word = peer.new_word();
        let params = json!({ "name": "plain", "arguments": { "word": word.to_string() } });
        (Draft { method: "tools/call", params, word: Some(word), expect }, word)
    }

    fn answer(id: &str, text: &str) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#)
    }

    fn progress(token: &Value, value: u32, text: &str) -> String {
        let params = json!({ "progressToken": token, "progress": value, "message": text });
        json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params }).to_string()
    }

    /// The token of the last request.
    fn token(sent: &Receiver<Outgoing>) -> Value {
        let Ok(Outgoing::Line(line)) = sent.try_recv() else { panic!("nothing was sent") };
        let message: Value = serde_json::from_slice(&line).unwrap();
        message["params"]["_meta"]["progressToken"].clone()
    }

    fn found(peer: &Peer) -> Vec<Kind> {
        peer.run.violations.counts().into_keys().collect()
    }

    #[test]
    fn a_correct_answer_is_accepted_and_a_second_one_is_not() {
        let (peer, _sent) = Peer::without_server(Revision::V2025_11_25);
        let (draft, word) = plain(&peer, Expect::Word);
        let id = peer.request(draft, Manner::default());
        peer.take_line(answer(&id, &word.to_string()).as_bytes());
        assert_eq!(found(&peer), []);
        assert!(peer.ledger().is_quiet() && peer.ledger().debts(|_| true).is_empty());
        peer.take_line(answer(&id, &word.to_string()).as_bytes());
        assert_eq!(found(&peer), [Kind::AnsweredTwice]);
    }

    #[test]
    fn invalid_and_unrequested_messages_are_violations() {
        let (peer, _sent) = Peer::without_server(Revision::V2025_11_25);
        peer.take_line(b"hello");
        assert_eq!(found(&peer), [Kind::NotJson]);
        peer.take_line(answer("77", "").as_bytes());
        peer.take_line(br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":""}}"#);
        assert_eq!(peer.run.violations.counts()[&Kind::AnsweredNothing], 2);
    }

    #[test]
    fn an_answer_with_the_word_of_another_call_is_a_violation() {
        let (peer, _sent) = Peer::without_server(Revision::V2025_11_25);
        let ((one, _), (other, word)) = (plain(&peer, Expect::Word), plain(&peer, Expect::Word));
        let id = peer.request(one, Manner::default());
        peer.request(other, Manner::default());
        peer.take_line(answer(&id, &word.to_string()).as_bytes());
        assert_eq!(found(&peer), [Kind::ForeignWord]);
    }

    #[test]
    fn progress_belongs_to_its_token_and_ends_with_the_answer() {
        let (peer, sent) = Peer::without_server(Revision::V2025_11_25);
        let (draft, word) = plain(&peer, Expect::Word);
        let manner = Manner { token: Some(TokenKind::Text), ..Manner::default() };
        let id = peer.request(draft, manner);
        let own = token(&sent);
        peer.take_line(progress(&own, 1, &word.to_string()).as_bytes());
        assert_eq!(found(&peer), []);
        let stranger = Word { server: 1, call: 99 };
        peer.take_line(progress(&own, 2, &stranger.to_string()).as_bytes());
        assert_eq!(found(&peer), [Kind::ForeignWord]);
        peer.take_line(answer(&id, &word.to_string()).as_bytes());
        peer.take_line(progress(&own, 3, &word.to_string()).as_bytes());
        assert_eq!(found(&peer), [Kind::ForeignWord, Kind::LateMessage]);
    }

    #[test]
    fn an_honest_call_receives_its_last_progress_before_its_answer() {
        for (last, expected) in [(3, vec![]), (2, vec![Kind::Unheard])] {
            let (peer, sent) = Peer::without_server(Revision::V2025_11_25);
            let (draft, word) = plain(&peer, Expect::Honest);
            let id = peer.request(draft, Manner { token: Some(TokenKind::Number), ..Manner::default() });
            let own = token(&sent);
            peer.take_line(progress(&own, last, &word.to_string()).as_bytes());
            peer.take_line(answer(&id, &word.to_string()).as_bytes());
            assert_eq!(found(&peer), expected);
        }
    }

    #[test]
    fn a_cancelled_request_may_be_answered_until_the_cancellation_was_read() {
        for was_heard in [false, true] {
            let (peer, _sent) = Peer::without_server(Revision::V2025_11_25);
            let (draft, word) = plain(&peer, Expect::Word);
            let id = peer.request(draft, Manner::default());
            peer.cancel(&id);
            let ping = peer.request(crate::traffic::drafts::ping(false), Manner::default());
            if was_heard {
                peer.take_line(format!(r#"{{"jsonrpc":"2.0","id":{ping},"result":{{}}}}"#).as_bytes());
            }
            peer.take_line(answer(&id, &word.to_string()).as_bytes());
            let expected = if was_heard { vec![Kind::AnsweredTwice] } else { vec![] };
            assert_eq!(found(&peer), expected);
        }
    }

    #[test]
    fn a_batch_is_answered_in_one_array() {
        let (peer, _sent) = Peer::without_server(Revision::V2025_03_26);
        let batch = |number| Manner { batch: Some(number), ..Manner::default() };
        let ping = || crate::traffic::drafts::ping(false);
        peer.batch(vec![(ping(), batch(1)), (ping(), batch(1))], Vec::new());
        let answered = |id: u32| json!({ "jsonrpc": "2.0", "id": id, "result": {} });
        peer.take_line(json!([answered(2), answered(1)]).to_string().as_bytes());
        assert_eq!(found(&peer), []);
        peer.batch(vec![(ping(), batch(2))], Vec::new());
        peer.take_line(json!({ "jsonrpc": "2.0", "id": "r3", "result": {} }).to_string().as_bytes());
        assert_eq!(found(&peer), [Kind::WrongAnswer]);
    }

    #[test]
    fn open_requests_are_known_at_the_end() {
        let (peer, _sent) = Peer::without_server(Revision::V2025_11_25);
        let (draft, _) = plain(&peer, Expect::Word);
        peer.request(draft, Manner::default());
        peer.provoke(b"{".to_vec(), None);
        assert_eq!(peer.ledger().debts(|_| true).len(), 2);
        assert_eq!(peer.ledger().waiting(), 1);
    }
}
