//! Audit log of a server: which requests are recorded, and what is recorded of them.

use super::log::Log;
use super::refusal_lines::{MINUTE, RefusalKind, RefusalLines, Turn, Unwritten};
use crate::callers::Principal;
use crate::callers::identity::bare_address;
use mcp_bash_audit::{AuditError, Cause, ChainStore, Counts, Event, Outcome, Reason, Record, Trail};
use mcp_bash_secrets::KnownSecrets;
use mcp_bash_settings::{AuditSettings, RecordedArguments};
use mcp_bash_wire::{Id, LogLevel, Object, Raw, RpcError};
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep};

pub struct AuditLog {
    trail: Arc<Trail>,
    arguments: RecordedArguments,
    /// The arguments that are recorded as they are, by tool.
    selected: BTreeMap<String, Vec<String>>,
    is_durable: bool,
    /// What no record may have.
    known_secrets: Arc<KnownSecrets>,
    /// The refusals of this minute that need no credential.
    refusals: Mutex<RefusalLines>,
    runtime: Handle,
}

impl AuditLog {
    /// The audit log that the settings ask for. `service` is the name and version of the project, `store` the database that
    /// servers share.
    pub(crate) fn new(
        settings: &AuditSettings,
        store: Option<Arc<dyn ChainStore>>,
        service: [&str; 2],
        log: &Arc<Log>,
        known_secrets: &Arc<KnownSecrets>,
        runtime: Handle,
    ) -> Option<Arc<Self>> {
        let options = settings.options()?;
        let is_durable = settings.durable && options.destination.can_be_durable();
        let mut start = Record::new(Event::ServerStart, SystemTime::now());
        start.text("service.name", service[0]).text("service.version", service[1]);
        start.number("process.pid", std::process::id().into());
        let trail = Trail::new(options, store, start);
        let log = Arc::clone(log);
        trail.on_change(move |problem| match problem {
            Some(problem) => {
                let details = json!({ "error": problem.to_string() });
                log.event(LogLevel::Error, "mcp.audit", "the audit log cannot be written", &details);
            }
            None => {
                log.event(LogLevel::Notice, "mcp.audit", "the audit log can be written again", &json!({}));
            }
        });
        Some(Arc::new(Self {
            trail,
            arguments: settings.arguments,
            selected: settings.selected.clone(),
            is_durable,
            known_secrets: Arc::clone(known_secrets),
            refusals: Mutex::default(),
            runtime,
        }))
    }

    /// Whether answers wait until their lines are on the disk.
    pub(crate) fn is_durable(&self) -> bool {
        self.is_durable
    }

    pub(super) fn trail(&self) -> &Trail {
        &self.trail
    }

    /// The error of a call that must not run, because it could not be recorded.
    pub(crate) fn refusal(&self) -> Option<RpcError> {
        self.trail.refusal().map(|problem| refusal(&problem))
    }

    /// Why the server is not ready: calls would be refused.
    pub(crate) fn unready(&self) -> Option<String> {
        let problem = if self.trail.refuses() { self.trail.problem() } else { None };
        problem.map(|problem| format!("the audit log cannot be written: {problem}"))
    }

    /// A caller was not let in, for this reason.
    pub fn login_failed(self: &Arc<Self>, address: &str, reason: Reason) {
        self.peer_refused(Event::LoginFailed, address, reason);
    }

    /// A request was refused for its host or origin, before its caller was determined.
    pub fn access_refused(self: &Arc<Self>, address: &str, reason: Reason) {
        self.peer_refused(Event::Refused, address, reason);
    }

    fn peer_refused(self: &Arc<Self>, event: Event, address: &str, reason: Reason) {
        let address = Some(bare_address(address).into());
        self.refuse(&RefusalKind { event, reason, address, caller: None });
    }

    /// A request of a known caller was refused before its message was read.
    pub fn request_refused(self: &Arc<Self>, principal: &Principal, reason: Reason) {
        let identity = &principal.identity;
        self.refuse(&RefusalKind {
            event: Event::Refused,
            reason,
            address: principal.bare_address().map(Into::into),
            caller: Some(((&*identity.name).into(), identity.known_by.word())),
        });
    }

    /// Records a refusal, unless there were too many of its kind within this minute.
    fn refuse(self: &Arc<Self>, kind: &RefusalKind) {
        if self.has_line(kind) {
            self.append(self.refusal_record(kind));
        }
    }

    /// Whether the request of a peer without the shared secret has a line of its own. If not, it is counted.
    pub(super) fn has_line_without_secret(self: &Arc<Self>, address: Option<&str>) -> bool {
        let address = address.map(Into::into);
        self.has_line(&RefusalKind { event: Event::Refused, reason: Reason::Secret, address, caller: None })
    }

    /// Counts a refusal: whether it has a line of its own.
    fn has_line(self: &Arc<Self>, kind: &RefusalKind) -> bool {
        self.write_counts();
        match self.refusals.lock().take(kind.clone(), Instant::now()) {
            Turn::Written => return true,
            Turn::Counted => return false,
            Turn::FirstCounted => {}
        }
        // The next refusal may come much later, or never.
        let audit = Arc::downgrade(self);
        self.runtime.spawn(async move {
            sleep(MINUTE).await;
            if let Some(audit) = audit.upgrade() {
                audit.write_counts();
            }
        });
        false
    }

    /// Writes how many refusals have no lines, if their minute is over.
    fn write_counts(&self) {
        let unwritten = self.refusals.lock().end_minute(Instant::now());
        self.append_counts(&unwritten);
    }

    fn append_counts(&self, unwritten: &[Unwritten]) {
        for Unwritten { kind, count } in unwritten {
            let mut record = self.refusal_record(kind);
            record.number("event.count", *count);
            self.append(record);
        }
    }

    fn refusal_record(&self, kind: &RefusalKind) -> Record {
        let mut record = Record::new(kind.event, SystemTime::now());
        record.text("event.id", &self.trail.event_id());
        if let Some((name, known_by)) = &kind.caller {
            record.text("caller.name", name).text("caller.known_by", known_by);
        }
        record.text_if("client.address", kind.address.as_deref());
        record.text("outcome", Outcome::Refused.name()).error(kind.reason);
        record
    }

    /// A message that is no request, or a batch that is not allowed, was refused with this error.
    pub(crate) fn message_refused(&self, principal: &Principal, id: Option<&Id>, code: i32) {
        let mut record = Record::new(Event::Refused, SystemTime::now());
        record.text("event.id", &self.trail.event_id());
        record.text_if("jsonrpc.request.id", id.map(Id::as_json));
        let identity = &principal.identity;
        record.text("caller.name", &identity.name).text("caller.known_by", identity.known_by.word());
        record.text_if("client.address", principal.bare_address());
        record.text("outcome", Outcome::Refused.name()).error(Cause::Code(code));
        self.append(record);
    }

    /// Adds the content of a question or an answer, if arguments are recorded.
    pub(super) fn add_content(&self, record: &mut Record, content: &str) {
        if self.arguments == RecordedArguments::Full && !content.is_empty() {
            record.json("content", &self.shown(content));
        }
    }

    fn append(&self, record: Record) {
        // A problem is reported by the trail, and kept records are written later.
        let _ = self.trail.append(record);
    }

    /// The hash of a secret id, by which its uses can be compared.
    pub(crate) fn hashed(&self, id: &str) -> Option<String> {
        self.trail.key().ok().map(|key| key.hash(id))
    }

    /// Opens the file again, under the name that it has now.
    pub fn reopen(&self) {
        self.trail.reopen();
    }

    pub fn counts(&self) -> Counts {
        self.trail.counts()
    }

    /// The server ends. Returns when all answers have been sent that wait for their lines.
    pub(crate) fn close(&self) {
        let unwritten = self.refusals.lock().end();
        self.append_counts(&unwritten);
        self.trail.close(|| {
            let mut end = Record::new(Event::ServerEnd, SystemTime::now());
            end.text("event.id", &self.trail.event_id());
            end.number("process.pid", std::process::id().into());
            end
        });
    }

    /// Begins the record of a request. Returns the id of the event too.
    pub(super) fn begin(
        &self,
        event: Event,
        method: &str,
        id: &Id,
        params: Option<Raw<'_>>,
        principal: &Principal,
    ) -> (Record, String) {
        let mut record = Record::new(event, SystemTime::now());
        let event_id = self.trail.event_id();
        record.text("event.id", &event_id).text("mcp.method.name", method);
        record.text("jsonrpc.request.id", id.as_json());
        let identity = &principal.identity;
        record.text("caller.name", &identity.name).text("caller.known_by", identity.known_by.word());
        record.list("caller.groups", identity.groups.iter().map(AsRef::as_ref));
        record.text_if("client.address", principal.bare_address());
        self.add_subject(&mut record, event, params);
        (record, event_id)
    }

    /// Adds what a request is about, and its arguments.
    fn add_subject(&self, record: &mut Record, event: Event, params: Option<Raw<'_>>) {
        record.number("bytes.in", params.map_or(0, |params| params.text().len()) as u64);
        let names = ["name", "uri", "arguments", "ref", "argument"];
        let Some(params) = params.and_then(|params| Object::read(params, "params", &names).ok()) else {
            return;
        };
        let text = |name: &str| params.get(name).and_then(Raw::string);
        let arguments = params.get("arguments").map(Raw::text);
        match event {
            Event::ToolCall => {
                let tool = text("name");
                record.text_if("gen_ai.tool.name", tool.as_deref());
                self.add_arguments(record, tool.as_deref(), arguments.unwrap_or("{}"));
            }
            Event::PromptGet => {
                record.text_if("gen_ai.prompt.name", text("name").as_deref());
                self.add_arguments(record, None, arguments.unwrap_or("{}"));
            }
            Event::ResourceRead | Event::ResourceSubscribe | Event::ResourceUnsubscribe => {
                record.text_if("mcp.resource.uri", text("uri").map(|uri| self.shown(&uri)).as_deref());
            }
            Event::Completion => {
                let of = params.get("ref").map(Raw::text);
                if let Some(of) = of {
                    record.json("mcp.completion.ref", of);
                }
                self.add_arguments(record, None, params.get("argument").map_or("{}", Raw::text));
            }
            _ => {}
        }
    }

    /// A text of a client, without secrets.
    pub(super) fn shown(&self, text: &str) -> String {
        self.known_secrets.redacted_text(text.to_owned())
    }

    fn add_arguments(&self, record: &mut Record, tool: Option<&str>, arguments: &str) {
        if self.arguments == RecordedArguments::Full {
            record.json("arguments", &self.shown(arguments));
            return;
        }
        if let Some(keys) = tool.and_then(|tool| self.selected.get(tool)) {
            let given = serde_json::from_str::<Map<String, Value>>(arguments).unwrap_or_default();
            let selected = given.into_iter().filter(|(key, _)| keys.contains(key));
            record.json("arguments", &self.shown(&Value::Object(selected.collect()).to_string()));
        }
        if self.arguments == RecordedArguments::Hash {
            match self.trail.key() {
                Ok(key) => record.text("arguments.hash", &key.hash(arguments)),
                Err(problem) => record.text("arguments.problem", &problem.to_string()),
            };
        }
    }
}

/// The error of a call that could not be recorded. Where the store is, is for the operator.
pub(super) fn refusal(problem: &AuditError) -> RpcError {
    let problem = match problem {
        AuditError::Store(_) => "the shared store does not take its lines".to_owned(),
        problem => problem.to_string(),
    };
    RpcError::internal(format!(
        "Refused: the audit log cannot be written: {problem}; calls go on when it can, or with \
         MCPBASH_AUDIT_ON_ERROR=continue"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcp_bash_audit::{Destination, OnError, Options, Rotation};
    use std::time::Duration;

    // The clock stands still, and moves on when everything waits.
    #[tokio::test(start_paused = true)]
    async fn the_refusals_of_a_minute_are_counted_when_it_is_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        let rotation = Rotation { max_bytes: 1 << 20, max_age: None, keep: 1 };
        let destination = Destination::File(path.clone());
        let options = Options { destination, rotation, on_error: OnError::Continue };
        let start = Record::new(Event::ServerStart, SystemTime::now());
        let audit = Arc::new(AuditLog {
            trail: Trail::new(options, None, start),
            arguments: RecordedArguments::Nothing,
            selected: BTreeMap::new(),
            is_durable: false,
            known_secrets: Arc::default(),
            refusals: Mutex::default(),
            runtime: Handle::current(),
        });
        let counts = || {
            let text = std::fs::read_to_string(&path).unwrap();
            let records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
            records.filter_map(|record| record["event.count"].as_u64()).collect::<Vec<_>>()
        };
        for _ in 0..17 {
            audit.login_failed("address 10.0.0.1", Reason::Throttled);
        }
        assert!(counts().is_empty());
        sleep(MINUTE + Duration::from_secs(1)).await;
        assert_eq!(counts(), [7], "no other refusal was needed for that");
        for _ in 0..12 {
            audit.login_failed("address 10.0.0.1", Reason::Throttled);
        }
        audit.close();
        assert_eq!(counts(), [7, 2]);
    }
}
