//! A request whose answer takes time: what its handler may ask and tell while it works.

use crate::call::Pace;
use crate::context::RequestContext;
use crate::in_flight::InFlightCall;
use crate::log::{data_of, message_notification};
use crate::server::Server;
use crate::shape::Members;
use mcp_bash_wire::{Era, Limits, LogLevel, Object, Raw, Revision, RpcError, Scanner, write};
use serde_json::Value;
use std::sync::Arc;

pub(crate) struct Work {
    server: Arc<Server>,
    context: RequestContext,
    in_flight: InFlightCall,
}

impl Work {
    pub(crate) fn new(server: Arc<Server>, context: RequestContext, in_flight: InFlightCall) -> Self {
        Self { server, context, in_flight }
    }

    pub(crate) fn server(&self) -> &Server {
        &self.server
    }

    /// For work that goes on after the answer.
    pub(crate) fn shared_server(&self) -> &Arc<Server> {
        &self.server
    }

    pub(crate) fn revision(&self) -> Revision {
        self.context.revision
    }

    pub(crate) fn answer(&self, answer: Result<String, RpcError>) {
        self.in_flight.answer(answer);
    }

    /// The request's `_meta` as JSON text.
    pub(crate) fn meta(&self) -> &str {
        self.context.meta.as_deref().unwrap_or("{}")
    }

    /// The progress token as a script writes it: the text of a string, the digits of an integer.
    pub(crate) fn progress_token_text(&self) -> String {
        let Some(token) = self.context.progress_token.as_deref() else { return String::new() };
        serde_json::from_str::<String>(token).unwrap_or_else(|_| token.to_owned())
    }

    /// Whether the client would hear anything that is said before the answer.
    pub(crate) fn wants_notifications(&self) -> bool {
        self.context.progress_token.is_some() || self.context.log_level.is_some()
    }

    /// Completes when the client cancels the request.
    pub(crate) async fn cancelled(&self) {
        self.in_flight.call().cancelled().await;
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.in_flight.call().is_cancelled()
    }

    /// Tells about this request on standard error and, if it wants to know, its client.
    pub(crate) fn log(&self, level: LogLevel, logger: &str, message: &str, details: &Value) {
        self.server.log().event(level, logger, message, details);
        // A session hears of it as one of the log's listeners; a stateless client only ever by its own request.
        if self.context.era() == Era::Stateless && self.wants(level) {
            let notification = message_notification(level, logger, &data_of(message, details));
            self.in_flight.call().log(notification, self.pace());
        }
    }

    fn wants(&self, level: LogLevel) -> bool {
        self.context.log_level.is_some_and(|least| level >= least)
    }

    /// Passes on what a running script says about itself: a notification as JSON, one a line.
    pub(crate) fn relay(&self, line: &[u8]) {
        let Ok(text) = std::str::from_utf8(line) else { return };
        let Ok(whole) = Scanner::new(text, Limits::default()).whole_value() else { return };
        let Ok(message) = Object::read(whole, "a line", &["method", "params"]) else { return };
        let Some(params) = message.get("params") else { return };
        match message.get("method").and_then(Raw::string).as_deref() {
            Some("notifications/progress") => self.relay_progress(params),
            Some("notifications/message") => self.relay_log(params),
            _ => {}
        }
    }

    fn relay_progress(&self, params: Raw<'_>) {
        let Some(token) = &self.context.progress_token else { return };
        let Ok(params) = Object::read(params, "params", &["progress", "total", "message"]) else { return };
        let number =
            |name| params.get(name).filter(|raw| raw.text().parse::<f64>().is_ok_and(f64::is_finite));
        let Some(progress) = number("progress") else { return };
        // Whatever token the script wrote: the request's own is the only one its client knows.
        let mut shown = Members::default();
        shown.raw("progressToken", token);
        shown.raw("progress", progress.text());
        shown.optional_raw("total", number("total").map(Raw::text));
        if self.context.revision.has_progress_message() {
            shown.string("message", params.get("message").and_then(Raw::string).as_deref());
        }
        let notification = write::notification("notifications/progress", &shown.object());
        let value = progress.text().parse().unwrap_or_default();
        self.in_flight.call().progress(value, notification, self.pace());
    }

    fn relay_log(&self, params: Raw<'_>) {
        let Ok(params) = Object::read(params, "params", &["level", "logger", "data"]) else { return };
        let text = |name| params.get(name).and_then(Raw::string);
        let level = text("level").and_then(|name| LogLevel::parse(&name)).unwrap_or(LogLevel::Info);
        if !self.wants(level) {
            return;
        }
        let Some(data) = params.get("data") else { return };
        let logger = text("logger").unwrap_or_default();
        self.in_flight.call().log(message_notification(level, &logger, data.text()), self.pace());
    }

    fn pace(&self) -> Pace {
        self.server.pace()
    }
}
