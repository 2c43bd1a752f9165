//! Relaying: sends log events and a script's notifications to the client of the request.

use super::work::Work;
use crate::logging::Facts;
use mcp_bash_policy::Redactions;
use mcp_bash_wire::{Limits, LogLevel, Object, Raw, Scanner, surrogates};
use serde_json::Value;

impl Work {
    /// Logs an event about this request for the operator and, if it wants log events, for its client.
    pub(crate) fn log(
        &self,
        level: LogLevel,
        logger: &str,
        kind: &'static str,
        facts: impl FnOnce() -> Facts,
    ) {
        let current = self.current().filter(|current| current.wants(level));
        let log = self.server().log();
        if current.is_none() && !log.is_heard(level) {
            return;
        }
        let details = facts().into_value();
        log.project_event(level, logger, kind, &details);
        if let Some(current) = current {
            current.in_flight.request().log(log.notification(level, logger, kind, &details));
        }
    }

    /// Logs an event only for the client of this request, if it wants log events.
    pub(crate) fn log_to_client(&self, level: LogLevel, logger: &str, message: &str) {
        if let Some(current) = self.current().filter(|current| current.wants(level)) {
            let log = self.server().log();
            current.in_flight.request().log(log.notification(level, logger, message, &Value::Null));
        }
    }

    /// Relays a notification of a running script: one line of JSON.
    pub(crate) fn relay(&self, line: &[u8]) {
        let Some(current) = self.current() else { return };
        let Ok(text) = std::str::from_utf8(line) else { return };
        let text = surrogates::repaired(text);
        let Ok(whole) = Scanner::new(&text, Limits::default()).whole_value() else { return };
        let Ok(message) = Object::read(whole, "a line", &["method", "params"]) else { return };
        let Some(params) = message.get("params") else { return };
        match message.get("method").and_then(Raw::string).as_deref() {
            Some("notifications/progress") => current.relay_progress(params),
            Some("notifications/message") => current.relay_log(params),
            Some("session/state") => self.keep_state(params),
            _ => {}
        }
    }

    /// Relays a notification after applying the patterns of a policy. JSON pointers apply only to the result.
    pub(crate) fn relay_redacted(&self, line: &[u8], redactions: &Redactions) {
        if redactions.is_empty() {
            return self.relay(line);
        }
        let text = String::from_utf8_lossy(line);
        let Ok(mut message) = serde_json::from_str::<Value>(&surrogates::repaired(&text)) else { return };
        // The session state never leaves this process.
        if message["method"] != "session/state" {
            for name in ["message", "data", "logger"] {
                if let Some(told) = message.get_mut("params").and_then(|params| params.get_mut(name)) {
                    redactions.patterns_in(told);
                }
            }
        }
        self.relay(message.to_string().as_bytes());
    }

    /// Applies the changes of a function to the state of its session.
    fn keep_state(&self, changes: Raw<'_>) {
        let Some(session) = self.session() else { return };
        if let Err(why) = session.state.change(changes.text(), self.budget()) {
            let facts = || Facts::none().words("problem", why);
            self.log(LogLevel::Warning, "mcp.session", "the state of the session was not kept", facts);
        }
    }
}
