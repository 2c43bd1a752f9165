//! Peer: one server as its client sees it: sent requests, open requests, and received messages.

use crate::draft::Draft;
use crate::ledger::{Entry, Ledger};
use crate::planted;
use crate::random::Random;
use crate::revision::{Revision, stateless_meta};
use crate::run::Run;
use crate::violations::Kind;
use crate::word::Word;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) run: Arc<Run>,
    pub(crate) number: u32,
    pub(crate) revision: Revision,
    /// The client's capabilities.
    pub(crate) capabilities: Value,
    pub(crate) pid: u32,
    /// The project that it serves.
    pub(crate) project: usize,
    ledger: Mutex<Ledger>,
    outgoing: Sender<Outgoing>,
    pub(crate) later: Mutex<Vec<(Instant, Later)>>,
    paused_until: Mutex<Option<Instant>>,
    /// When the current write started.
    pub(crate) writing_since: Mutex<Option<Instant>>,
    /// The end of its standard error.
    pub(crate) errors: Mutex<Vec<u8>>,
    /// The client should close its end of standard output.
    pub(crate) closes_output: AtomicBool,
    pub(crate) output_ended: AtomicBool,
    /// The server reads nothing more, not even an answer to a question.
    pub(crate) is_deaf: AtomicBool,
    /// The last line may be cut off: the server is being killed.
    pub(crate) is_forced: AtomicBool,
    /// It hung, was reported, and was killed.
    pub(crate) is_condemned: AtomicBool,
    /// The cursors of the next pages, from the server.
    pub(crate) cursors: Mutex<HashMap<&'static str, String>>,
    last_id: AtomicU32,
    last_call: AtomicU32,
}

/// Data for standard input.
#[derive(Debug)]
pub(crate) enum Outgoing {
    Line(Vec<u8>),
    /// The end of input.
    Close,
}

/// Something to send at a later time.
#[derive(Debug)]
pub(crate) enum Later {
    Cancel(String),
    Message(Value),
    /// A request that continues an earlier one.
    Continue(Draft),
}

/// How to send a request.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Manner {
    pub(crate) stateless: bool,
    pub(crate) token: Option<TokenKind>,
    /// In the stateless era a request itself says whether it wants logs.
    pub(crate) logs: bool,
    pub(crate) batch: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Number,
    Text,
}

/// How much of the end of standard error to keep.
const ERRORS_KEPT: usize = 4000;

impl Peer {
    pub(crate) fn new(
        run: Arc<Run>,
        number: u32,
        revision: Revision,
        capabilities: Value,
        project: usize,
        pid: u32,
        outgoing: Sender<Outgoing>,
    ) -> Self {
        Self {
            run,
            number,
            revision,
            capabilities,
            pid,
            project,
            ledger: Mutex::new(Ledger::new(number)),
            outgoing,
            later: Mutex::default(),
            paused_until: Mutex::default(),
            writing_since: Mutex::default(),
            errors: Mutex::default(),
            closes_output: AtomicBool::new(false),
            output_ended: AtomicBool::new(false),
            is_deaf: AtomicBool::new(false),
            is_forced: AtomicBool::new(false),
            is_condemned: AtomicBool::new(false),
            cursors: Mutex::default(),
            last_id: AtomicU32::new(0),
            last_call: AtomicU32::new(0),
        }
    }

    /// A random generator for one kind of choice.
    pub(crate) fn random(&self, part: &str) -> Random {
        Random::of_part(self.run.seed, &format!("server {} {part}", self.number))
    }

    pub(crate) fn new_word(&self) -> Word {
        Word { server: self.number, call: self.last_call.fetch_add(1, Ordering::Relaxed) + 1 }
    }

    /// An unused id: a number or a text.
    pub(crate) fn new_id(&self) -> Value {
        let number = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        if number.is_multiple_of(3) { json!(format!("r{number}")) } else { json!(number) }
    }

    pub(crate) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a request, and returns its id as text.
    pub(crate) fn request(&self, draft: Draft, manner: Manner) -> String {
        let id = self.new_id();
        self.request_as(&id, draft, manner);
        id.to_string()
    }

    pub(crate) fn request_as(&self, id: &Value, draft: Draft, manner: Manner) {
        let mut ledger = self.ledger();
        if self.is_deaf.load(Ordering::Acquire) {
            return;
        }
        let message = self.enter(&mut ledger, id, draft, manner);
        self.push(message.to_string().into_bytes());
    }

    /// Sends several requests and other messages as one array.
    pub(crate) fn batch(&self, drafts: Vec<(Draft, Manner)>, others: Vec<Value>) {
        let mut ledger = self.ledger();
        let mut messages = others;
        for (draft, manner) in drafts {
            let id = self.new_id();
            messages.push(self.enter(&mut ledger, &id, draft, manner));
        }
        self.push(Value::Array(messages).to_string().into_bytes());
    }

    /// Enters a request into the ledger, and returns its message, which must be sent before the ledger is
    /// unlocked: the ledger is in the order of sending.
    fn enter(&self, ledger: &mut Ledger, id: &Value, draft: Draft, manner: Manner) -> Value {
        let mut params = draft.params.clone();
        let token = manner.token.map(|kind| match kind {
            TokenKind::Number => json!(1_000_000 + self.last_id.fetch_add(1, Ordering::Relaxed)),
            TokenKind::Text => json!(format!("token-{}", self.last_id.fetch_add(1, Ordering::Relaxed))),
        });
        let mut meta = if manner.stateless { stateless_meta(&self.capabilities) } else { json!({}) };
        if let Some(token) = &token {
            meta["progressToken"] = token.clone();
        }
        if manner.stateless && manner.logs {
            meta["io.modelcontextprotocol/logLevel"] = json!("debug");
        }
        if meta != json!({}) {
            params["_meta"] = meta;
        }
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": draft.method, "params": params });
        let is_fence = manner.batch.is_none()
            && matches!(draft.method, "ping" | "server/discover" | "tools/list" | "prompts/list");
        let wants_logs = manner.stateless && manner.logs;
        ledger.enter(id, draft, Entry { batch: manner.batch, is_fence, token, wants_logs });
        message
    }

    /// Sends a line that must be refused: with its id if it has one, otherwise without.
    pub(crate) fn provoke(&self, line: Vec<u8>, id: Option<(&Value, Draft)>) {
        let mut ledger = self.ledger();
        if self.is_deaf.load(Ordering::Acquire) {
            return;
        }
        match id {
            Some((id, draft)) => ledger.enter(id, draft, Entry::default()),
            None => ledger.owe_refusal(),
        }
        self.push(line);
    }

    /// Sends a message that is not a request.
    pub(crate) fn send(&self, message: &Value) {
        self.push(message.to_string().into_bytes());
    }

    pub(crate) fn notify(&self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends bytes and a newline.
    pub(crate) fn push(&self, mut line: Vec<u8>) {
        line.push(b'\n');
        // The thread that waits for the server detects its exit.
        let _ = self.outgoing.send(Outgoing::Line(line));
    }

    pub(crate) fn close_input(&self) {
        let _ledger = self.make_deaf();
        let _ = self.outgoing.send(Outgoing::Close);
    }

    /// From now on, sends nothing that needs an answer.
    pub(crate) fn make_deaf(&self) -> MutexGuard<'_, Ledger> {
        let ledger = self.ledger();
        self.is_deaf.store(true, Ordering::Release);
        ledger
    }

    /// Cancels a request, if it is open.
    pub(crate) fn cancel(&self, id: &str) {
        let mut ledger = self.ledger();
        if ledger.cancel(id) {
            self.run.tally.with(|counts| counts.cancellations += 1);
            let id: Value = serde_json::from_str(id).unwrap_or_default();
            self.notify("notifications/cancelled", &json!({ "requestId": id, "reason": "soak" }));
        }
    }

    pub(crate) fn do_later(&self, delay: Duration, what: Later) {
        self.later.lock().unwrap_or_else(PoisonError::into_inner).push((Instant::now() + delay, what));
    }

    /// Sends delayed messages that are due.
    pub(crate) fn do_due(&self) {
        let mut due = Vec::new();
        let mut later = self.later.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        while let Some(place) = later.iter().position(|(at, _)| *at <= now) {
            due.push(later.swap_remove(place).1);
        }
        drop(later);
        for what in due {
            match what {
                Later::Cancel(id) => self.cancel(&id),
                Later::Message(message) => self.send(&message),
                Later::Continue(draft) => {
                    self.request(
                        draft,
                        Manner { stateless: true, token: Some(TokenKind::Text), ..Manner::default() },
                    );
                }
            }
        }
    }

    pub(crate) fn has_later(&self) -> bool {
        !self.later.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Stops reading for a while.
    pub(crate) fn pause(&self, length: Duration) {
        *self.paused_until.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now() + length);
    }

    pub(crate) fn is_paused(&self) -> bool {
        let until = *self.paused_until.lock().unwrap_or_else(PoisonError::into_inner);
        until.is_some_and(|until| Instant::now() < until)
    }

    pub(crate) fn note_errors(&self, bytes: &[u8]) {
        let mut errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        errors.extend_from_slice(bytes);
        if planted::is_in(&errors) {
            self.violation(Kind::Secret, "standard error");
        }
        let surplus = errors.len().saturating_sub(ERRORS_KEPT);
        errors.drain(..surplus);
    }

    pub(crate) fn last_errors(&self) -> String {
        let errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&errors).into_owned()
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.output_ended.load(Ordering::Acquire)
    }

    pub(crate) fn violation(&self, kind: Kind, what: &str) {
        let Self { number, pid, project, run, .. } = self;
        let (revision, after) = (self.revision.name(), run.begun.elapsed().as_secs_f32());
        let server = format!(
            "server {number} ({revision}, project {project}, pid {pid}), seed {}, after {after:.1} s",
            run.seed
        );
        run.violations.add(kind, &server, what);
    }
}

#[cfg(test)]
impl Peer {
    /// A client whose server's messages come from the test, and its sent messages.
    pub(crate) fn without_server(revision: Revision) -> (Self, std::sync::mpsc::Receiver<Outgoing>) {
        let run = Run::new(1, std::path::Path::new(""), Vec::new(), Duration::ZERO);
        let (sender, sent) = std::sync::mpsc::channel();
        (Self::new(Arc::new(run), 1, revision, json!({}), 0, 0, sender), sent)
    }
}
