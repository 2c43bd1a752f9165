//! Audit log of a server: which requests are recorded, and what is recorded of them.

use super::log::Log;
use crate::callers::identity::bare_address;
use crate::callers::{Identity, Principal};
use mcp_bash_audit::{Counts, Event, Outcome, Record, Trail};
use mcp_bash_secrets::KnownSecrets;
use mcp_bash_settings::{AuditSettings, RecordedArguments};
use mcp_bash_wire::{Id, LogLevel, Object, Raw, RpcError};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

pub struct AuditLog {
    trail: Arc<Trail>,
    arguments: RecordedArguments,
    /// The arguments that are recorded as they are, by tool.
    selected: BTreeMap<String, Vec<String>>,
    is_durable: bool,
    /// What no record may have.
    known_secrets: Arc<KnownSecrets>,
}

impl AuditLog {
    /// The audit log that the settings ask for. `service` is the name and version of the project.
    pub(crate) fn new(
        settings: &AuditSettings,
        service: [&str; 2],
        log: &Arc<Log>,
        known_secrets: &Arc<KnownSecrets>,
    ) -> Option<Arc<Self>> {
        let options = settings.options()?;
        let is_file = options.destination.file().is_some();
        let mut start = Record::new(Event::ServerStart, SystemTime::now());
        start.text("service.name", service[0]).text("service.version", service[1]);
        start.number("process.pid", std::process::id().into());
        let trail = Trail::new(options, start);
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
            is_durable: settings.durable && is_file,
            known_secrets: Arc::clone(known_secrets),
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
    pub fn login_failed(&self, address: &str, reason: &str) {
        self.peer_refused(Event::LoginFailed, None, Some(address), None, reason);
    }

    /// A request was refused for its host or origin, before its caller was determined.
    pub fn access_refused(&self, address: &str, reason: &str) {
        self.peer_refused(Event::Refused, None, Some(address), None, reason);
    }

    /// A request of a known caller was refused before its message was read.
    pub fn request_refused(&self, principal: &Principal, reason: &str) {
        let (identity, address) = (Some(&*principal.identity), principal.address.as_deref());
        self.peer_refused(Event::Refused, identity, address, None, reason);
    }

    /// A message that is no request, or a batch that is not allowed, was refused with this error.
    pub(crate) fn message_refused(&self, principal: &Principal, id: Option<&Id>, code: i32) {
        let (identity, address) = (Some(&*principal.identity), principal.address.as_deref());
        self.peer_refused(Event::Refused, identity, address, id, &code.to_string());
    }

    fn peer_refused(
        &self,
        event: Event,
        identity: Option<&Identity>,
        address: Option<&str>,
        id: Option<&Id>,
        reason: &str,
    ) {
        let mut record = Record::new(event, SystemTime::now());
        record.text("event.id", &self.trail.event_id());
        record.text_if("jsonrpc.request.id", id.map(Id::as_json));
        if let Some(identity) = identity {
            record.text("caller.name", &identity.name).text("caller.known_by", identity.known_by.word());
        }
        record.text_if("client.address", address.map(bare_address));
        record.text("outcome", Outcome::Refused.name()).text("error.type", reason);
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

/// The error of a call that could not be recorded.
pub(super) fn refusal(problem: &mcp_bash_audit::AuditError) -> RpcError {
    RpcError::internal(format!(
        "Refused: the audit log cannot be written: {problem}; calls go on when it can, or with \
         MCPBASH_AUDIT_ON_ERROR=continue"
    ))
}
