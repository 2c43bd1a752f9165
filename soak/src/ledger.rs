//! Ledger: the account of one server: which requests are open, which are settled, and which call everything
//! else belongs to.

use crate::draft::{Draft, Expect};
use crate::project::{LAST_PROGRESS, LOGS};
use crate::violations::Kind;
use crate::word::Word;
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

/// The kind of error, and its details.
pub(crate) type Wrong = (Kind, String);

#[derive(Debug, Default)]
pub(crate) struct Ledger {
    server: u32,
    /// By id. Several if an id was reused while it was in use.
    open: HashMap<String, Vec<Asked>>,
    settled: HashMap<String, Settled>,
    calls: HashMap<u32, Call>,
    tokens: HashMap<String, Token>,
    /// How many requests and cancellations were sent.
    sent: u64,
    /// Messages that can only be refused without an id.
    refusals_owed: u64,
    refusals: u64,
    /// The resources that a session has subscribed to.
    subscriptions: HashMap<String, Subscription>,
    updates: HashMap<String, u64>,
    /// The ids and methods of requests that are definitely cancelled, until they are counted.
    cancelled: Vec<(String, &'static str)>,
}

/// A request that was sent.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) draft: Draft,
    entry: Entry,
    since: Instant,
    /// Its id was already in use.
    is_duplicate: bool,
    order: u64,
    /// When it was cancelled, as a position in the order of sending.
    cancelled: Option<u64>,
    acknowledged: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Settled {
    Answered,
    Cancelled,
}

/// A call, identified by its word: one request, or several if it was continued.
#[derive(Debug, Default)]
struct Call {
    open: u32,
    logs: u32,
    over: Option<Over>,
}

/// A call that is over: no more messages may belong to it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Over {
    pub(crate) since: Instant,
    pub(crate) was_cancelled: bool,
}

#[derive(Debug, Default)]
struct Subscription {
    /// How many requests to subscribe or unsubscribe have no answer yet.
    open: u32,
    /// No more updates may be sent for it.
    is_over: bool,
    /// A request to subscribe was cancelled, and may still have taken effect.
    is_unclear: bool,
}

#[derive(Debug)]
struct Token {
    id: String,
    word: Option<Word>,
    last: Option<f64>,
}

/// How to enter a request.
#[derive(Debug, Default, Clone)]
pub(crate) struct Entry {
    pub(crate) batch: Option<u32>,
    /// It is answered before the next message is read.
    pub(crate) is_fence: bool,
    pub(crate) token: Option<Value>,
    pub(crate) wants_logs: bool,
}

impl Ledger {
    pub(crate) fn new(server: u32) -> Self {
        Self { server, ..Self::default() }
    }

    pub(crate) fn enter(&mut self, id: &Value, draft: Draft, entry: Entry) {
        self.sent += 1;
        let id = id.to_string();
        if let Some(word) = draft.word {
            let call = self.calls.entry(word.call).or_default();
            (call.open, call.over) = (call.open + 1, None);
        }
        if let Some(token) = &entry.token {
            self.tokens.insert(token.to_string(), Token { id: id.clone(), word: draft.word, last: None });
        }
        if let Some(uri) = subscription_of(&draft) {
            let subscription = self.subscriptions.entry(uri.to_owned()).or_default();
            subscription.open += 1;
            subscription.is_over &= draft.method != "resources/subscribe";
        }
        let others = self.open.entry(id).or_default();
        others.push(Asked {
            draft,
            entry,
            since: Instant::now(),
            is_duplicate: !others.is_empty(),
            order: self.sent,
            cancelled: None,
            acknowledged: false,
        });
    }

    /// Records a sent message without an id for its refusal.
    pub(crate) fn owe_refusal(&mut self) {
        self.refusals_owed += 1;
    }

    pub(crate) fn take_refusal(&mut self) -> Result<(), Wrong> {
        self.refusals += 1;
        if self.refusals > self.refusals_owed {
            return Err((Kind::AnsweredNothing, "an error without an id".to_owned()));
        }
        Ok(())
    }

    /// Records the cancellation of a request. False if there is nothing to cancel.
    pub(crate) fn cancel(&mut self, id: &str) -> bool {
        let Some([asked]) = self.open.get_mut(id).map(Vec::as_mut_slice) else { return false };
        if asked.cancelled.is_some() {
            return false;
        }
        self.sent += 1;
        asked.cancelled = Some(self.sent);
        if let Some(call) = asked.draft.word.and_then(|word| self.calls.get_mut(&word.call)) {
            call.over = Some(Over { since: Instant::now(), was_cancelled: true });
        }
        true
    }

    /// Handles the answer to a request. `words` are all words in it.
    pub(crate) fn settle(
        &mut self,
        id: &str,
        message: &Value,
        words: &BTreeSet<Word>,
        batch: Option<&mut Option<u32>>,
    ) -> Result<Asked, Wrong> {
        let Some(candidates) = self.open.get_mut(id) else {
            return Err(match self.settled.get(id) {
                Some(Settled::Answered) => (Kind::AnsweredTwice, format!("a second answer to {id}")),
                Some(Settled::Cancelled) => {
                    (Kind::AnsweredTwice, format!("an answer to {id} after its cancellation was heard"))
                }
                None => (Kind::AnsweredNothing, format!("an answer to {id}")),
            });
        };
        let asked = candidates.remove(choose(candidates, message, words));
        if candidates.is_empty() {
            self.open.remove(id);
        }
        self.settled.insert(id.to_owned(), Settled::Answered);
        let is_final = message["result"]["resultType"] != "input_required";
        self.close_call(&asked, is_final, false);
        if asked.entry.is_fence {
            self.pass_fence(asked.order);
        }
        if let Some(subscription) =
            subscription_of(&asked.draft).and_then(|uri| self.subscriptions.get_mut(uri))
        {
            subscription.open -= 1;
            subscription.is_over |= asked.draft.method == "resources/unsubscribe";
        }
        let foreign: Vec<_> =
            words.iter().filter(|word| asked.draft.word != Some(**word)).map(Word::to_string).collect();
        if !foreign.is_empty() {
            let what = format!("the answer to {} holds {}", describe(id, &asked), foreign.join(", "));
            return Err((Kind::ForeignWord, what));
        }
        match (batch, asked.entry.batch) {
            (None, None) => {}
            (Some(common), Some(own)) if common.is_none_or(|common| common == own) => *common = Some(own),
            _ => {
                let what = format!("{} is not answered in the array of its batch", describe(id, &asked));
                return Err((Kind::WrongAnswer, what));
            }
        }
        Ok(asked)
    }

    /// All messages of an honest call's script must have arrived before its answer.
    pub(crate) fn check_notifications(&self, asked: &Asked) -> Result<(), Wrong> {
        let last = asked
            .entry
            .token
            .as_ref()
            .and_then(|token| self.tokens.get(&token.to_string()))
            .map(|token| token.last);
        if let Some(last) = last
            && last != Some(LAST_PROGRESS)
        {
            return Err((Kind::Unheard, format!("its last progress was {last:?}, not {LAST_PROGRESS}")));
        }
        let logs = asked.draft.word.and_then(|word| self.calls.get(&word.call)).map_or(0, |call| call.logs);
        if asked.entry.wants_logs && logs != LOGS {
            return Err((Kind::Unheard, format!("{logs} of its {LOGS} log messages were told")));
        }
        Ok(())
    }

    fn close_call(&mut self, asked: &Asked, is_final: bool, was_cancelled: bool) {
        let Some(call) = asked.draft.word.and_then(|word| self.calls.get_mut(&word.call)) else { return };
        call.open -= 1;
        // A question keeps the process waiting, even if the request was cancelled too late.
        let now_over = Over { since: Instant::now(), was_cancelled };
        call.over = (call.open == 0 && is_final).then_some(now_over);
    }

    /// Requests that were cancelled before an answered message are definitely cancelled. A request of a batch
    /// may already be answered, and wait for the others of its array.
    fn pass_fence(&mut self, order: u64) {
        let is_cancelled = |asked: &Asked| asked.cancelled.is_some_and(|at| at < order);
        let others = self.open.values().flatten().filter(|asked| !is_cancelled(asked));
        let waiting: BTreeSet<u32> = others.filter_map(|asked| asked.entry.batch).collect();
        let mut gone = Vec::new();
        self.open.retain(|id, asked| {
            let waits = |asked: &Asked| asked.entry.batch.is_some_and(|batch| waiting.contains(&batch));
            let is_over = asked.iter().all(|asked| is_cancelled(asked) && !waits(asked));
            if is_over {
                gone.extend(std::mem::take(asked).into_iter().map(|asked| (id.clone(), asked)));
                self.settled.insert(id.clone(), Settled::Cancelled);
            }
            !is_over
        });
        for (id, asked) in gone {
            if let Some(subscription) =
                subscription_of(&asked.draft).and_then(|uri| self.subscriptions.get_mut(uri))
            {
                subscription.open -= 1;
                subscription.is_unclear = true;
            }
            self.close_call(&asked, true, true);
            self.cancelled.push((id, asked.draft.method));
        }
    }

    /// The ids and methods of requests that were definitely cancelled since the last call.
    pub(crate) fn take_cancelled(&mut self) -> Vec<(String, &'static str)> {
        std::mem::take(&mut self.cancelled)
    }

    pub(crate) fn progress(&mut self, params: &Value, words: &BTreeSet<Word>) -> Result<(), Wrong> {
        let name = params["progressToken"].to_string();
        let Some(token) = self.tokens.get_mut(&name) else {
            return Err((Kind::ForeignWord, format!("progress under {name}, which no request has")));
        };
        if let Some(foreign) = words.iter().find(|word| token.word != Some(**word)) {
            let own = token.word.map(|word| word.to_string());
            return Err((Kind::ForeignWord, format!("progress of {foreign} under the token of {own:?}")));
        }
        if !self.open.contains_key(&token.id) {
            return Err((Kind::LateMessage, format!("progress for {}, which is over", token.id)));
        }
        let value = params["progress"].as_f64();
        if value.is_none() || value <= token.last {
            let what = format!("progress {value:?} after {:?} for {}", token.last, token.id);
            return Err((Kind::WrongAnswer, what));
        }
        token.last = value;
        Ok(())
    }

    /// A message that names calls only by their words, which must be running.
    pub(crate) fn speaks_of(&self, what: &str, words: &BTreeSet<Word>) -> Result<(), Wrong> {
        for word in words {
            let call = self.calls.get(&word.call).filter(|_| word.server == self.server);
            match call {
                None => return Err((Kind::ForeignWord, format!("{what} of {word}, which is not ours"))),
                Some(call) if call.open == 0 => {
                    return Err((Kind::LateMessage, format!("{what} of {word}, which is over")));
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    pub(crate) fn count_log(&mut self, words: &BTreeSet<Word>) {
        for word in words {
            if let Some(call) = self.calls.get_mut(&word.call) {
                call.logs += 1;
            }
        }
    }

    /// A message for a listening request.
    pub(crate) fn heard_by(&mut self, subscription: &Value, is_acknowledgement: bool) -> Result<(), Wrong> {
        let id = subscription.to_string();
        let listen = self.open.get_mut(&id).and_then(|asked| asked.first_mut());
        let Some(listen) = listen.filter(|asked| asked.draft.method == "subscriptions/listen") else {
            let kind = if self.settled.contains_key(&id) { Kind::LateMessage } else { Kind::AnsweredNothing };
            return Err((kind, format!("a message for {id}, which does not listen")));
        };
        if listen.acknowledged == is_acknowledgement {
            return Err((Kind::WrongAnswer, format!("{id}: the acknowledgement comes once, and first")));
        }
        listen.acknowledged = true;
        Ok(())
    }

    pub(crate) fn updated(&mut self, uri: &str, is_session: bool) -> Result<(), Wrong> {
        *self.updates.entry(uri.to_owned()).or_default() += 1;
        match self.subscriptions.get(uri) {
            _ if !is_session => Ok(()),
            Some(known) if known.is_over && !known.is_unclear => {
                Err((Kind::LateMessage, format!("{uri} has changed, and nobody wants to know any more")))
            }
            Some(_) => Ok(()),
            None => Err((Kind::AnsweredNothing, format!("{uri} has changed, and nobody wanted to know"))),
        }
    }

    /// How often an update of a resource was sent.
    pub(crate) fn updates(&self, uri: &str) -> u64 {
        self.updates.get(uri).copied().unwrap_or_default()
    }

    /// The resources to unsubscribe from. A subscription takes effect with its answer, so the request to
    /// unsubscribe must not overtake it.
    pub(crate) fn subscribed(&self) -> Vec<String> {
        let is_settled = |known: &Subscription| known.open == 0 && !known.is_over;
        let settled = self.subscriptions.iter().filter(|(_, known)| is_settled(known));
        let mut uris: Vec<_> = settled.map(|(uri, _)| uri.clone()).collect();
        uris.sort();
        uris
    }

    /// Whether a request about this resource is unanswered.
    pub(crate) fn is_being_subscribed(&self, uri: &str) -> bool {
        self.subscriptions.get(uri).is_some_and(|known| known.open > 0)
    }

    /// Whether a listening request has been acknowledged.
    pub(crate) fn is_acknowledged(&self, id: &str) -> bool {
        self.open.get(id).is_some_and(|asked| asked.iter().any(|asked| asked.acknowledged))
    }

    /// The ids of requests that can be cancelled.
    pub(crate) fn cancellable(&self, listens: bool) -> Vec<String> {
        self.single(|asked| asked.draft.is_lengthy() && (asked.draft.expect == Expect::End) == listens)
    }

    /// Open requests that name their call in every answer.
    pub(crate) fn telling(&self) -> Vec<String> {
        let is_telling = |asked: &Asked| matches!(asked.draft.expect, Expect::Word | Expect::Honest);
        self.single(|asked| is_telling(asked) && asked.entry.batch.is_none())
    }

    /// The ids of open requests that were not cancelled and have unique ids.
    fn single(&self, is_meant: impl Fn(&Asked) -> bool) -> Vec<String> {
        let is_meant = |asked: &[Asked]| match asked {
            [asked] => asked.cancelled.is_none() && is_meant(asked),
            _ => false,
        };
        let meant = self.open.iter().filter(|(_, asked)| is_meant(asked));
        let mut ids: Vec<_> = meant.map(|(id, _)| id.clone()).collect();
        ids.sort();
        ids
    }

    /// The number of requests that wait for an answer.
    pub(crate) fn waiting(&self) -> usize {
        self.owed().count()
    }

    /// Whether only listening requests are open, so that every cancellation was read, and every refusal has
    /// arrived.
    pub(crate) fn is_quiet(&self) -> bool {
        self.open.values().flatten().all(|asked| asked.draft.expect == Expect::End)
            && self.refusals >= self.refusals_owed
    }

    /// Open requests that were not cancelled.
    fn kept(&self) -> impl Iterator<Item = (&String, &Asked)> {
        let all = self.open.iter().flat_map(|(id, asked)| asked.iter().map(move |asked| (id, asked)));
        all.filter(|(_, asked)| asked.cancelled.is_none())
    }

    /// The same, without those that are answered only at the shutdown.
    fn owed(&self) -> impl Iterator<Item = (&String, &Asked)> {
        self.kept().filter(|(_, asked)| asked.draft.expect != Expect::End)
    }

    /// The request that has waited longest for its answer.
    pub(crate) fn oldest(&self) -> Option<(Duration, String)> {
        let (id, asked) = self.owed().min_by_key(|(_, asked)| asked.since)?;
        Some((asked.since.elapsed(), describe(id, asked)))
    }

    /// The open debts, for the selected methods; messages without an id have an empty method.
    pub(crate) fn debts(&self, is_meant: impl Fn(&str) -> bool) -> Vec<String> {
        let meant = self.kept().filter(|(_, asked)| is_meant(asked.draft.method));
        let mut debts: Vec<_> = meant.map(|(id, asked)| describe(id, asked)).collect();
        if self.refusals < self.refusals_owed && is_meant("") {
            debts.push(format!("{} errors without an id", self.refusals_owed - self.refusals));
        }
        debts.sort();
        debts
    }

    /// The ids and methods of unanswered requests, and whether each was cancelled, when no more messages arrive.
    pub(crate) fn unanswered(&self) -> Vec<(String, &'static str, bool)> {
        let all = self.open.iter().flat_map(|(id, all)| all.iter().map(move |asked| (id, asked)));
        all.map(|(id, asked)| (id.clone(), asked.draft.method, asked.cancelled.is_some())).collect()
    }

    /// When a call ended.
    pub(crate) fn over(&self, call: u32) -> Option<Over> {
        self.calls.get(&call).and_then(|call| call.over)
    }
}

/// Which of the requests with the same id an answer belongs to.
fn choose(candidates: &[Asked], message: &Value, words: &BTreeSet<Word>) -> usize {
    let is_named = |asked: &Asked| asked.draft.word.is_some_and(|word| words.contains(&word));
    let refused = message["error"]["code"] == -32600;
    let place = if refused && candidates.len() > 1 {
        candidates.iter().rposition(|asked| asked.is_duplicate)
    } else {
        candidates
            .iter()
            .position(is_named)
            .or_else(|| candidates.iter().position(|asked| asked.draft.word.is_none()))
    };
    place.unwrap_or(0)
}

/// The resource that a request subscribes to or unsubscribes from.
fn subscription_of(draft: &Draft) -> Option<&str> {
    let is_meant = matches!(draft.method, "resources/subscribe" | "resources/unsubscribe");
    draft.params["uri"].as_str().filter(|_| is_meant)
}

fn describe(id: &str, asked: &Asked) -> String {
    let what = asked.draft.params["name"].as_str().or(asked.draft.params["uri"].as_str()).unwrap_or_default();
    let word = asked.draft.word.map(|word| word.to_string()).unwrap_or_default();
    format!("request {id} ({} {what} {word})", asked.draft.method)
}
