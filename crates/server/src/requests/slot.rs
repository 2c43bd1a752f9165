//! Slot: the request that a handler currently answers. It is the request that started the handler or, in the stateless era, the
//! retry that brought the answers to a script's questions.

use super::in_flight::InFlightRequest;
use super::task_questions::TaskQuestions;
use crate::callers::RequestContext;
use crate::logging::log::message_notification;
use crate::replies::Members;
use mcp_bash_wire::{LogLevel, Object, Raw, write};
use std::sync::Arc;
use tokio::sync::watch;

/// Holds the request that a handler answers. A retry replaces it.
pub(crate) type Slot = Arc<watch::Sender<Occupant>>;

pub(crate) enum Occupant {
    Request(Arc<Current>),
    /// The last request was answered with `input_required`, and its retry may come.
    Awaited,
    /// No retry will come, so the result is not needed.
    Abandoned,
}

impl Occupant {
    pub(crate) fn request(&self) -> Option<Arc<Current>> {
        match self {
            Self::Request(current) => Some(Arc::clone(current)),
            Self::Awaited | Self::Abandoned => None,
        }
    }
}

/// A request and its context.
pub(crate) struct Current {
    pub(crate) context: RequestContext,
    pub(crate) in_flight: InFlightRequest,
    /// The questions of the task, if this is the inner request of a task.
    pub(crate) task: Option<Arc<TaskQuestions>>,
}

impl Current {
    /// Whether the client wants log events of this level.
    pub(crate) fn wants(&self, level: LogLevel) -> bool {
        self.context.log_level.is_some_and(|least| level >= least)
    }

    /// Relays a progress notification from a script.
    pub(crate) fn relay_progress(&self, params: Raw<'_>) {
        let Some(token) = &self.context.progress_token else { return };
        let Ok(params) = Object::read(params, "params", &["progress", "total", "message"]) else { return };
        let number =
            |name| params.get(name).filter(|raw| raw.text().parse::<f64>().is_ok_and(f64::is_finite));
        let Some(progress) = number("progress") else { return };
        // The script's token is ignored: the client knows only the token of its own request.
        let mut shown = Members::default();
        shown.raw("progressToken", token);
        shown.raw("progress", progress.text());
        shown.optional_raw("total", number("total").map(Raw::text));
        if self.context.revision.has_progress_message() {
            shown.string("message", params.get("message").and_then(Raw::string).as_deref());
        }
        let notification = write::notification("notifications/progress", &shown.object());
        let value = progress.text().parse().unwrap_or_default();
        self.in_flight.request().progress(value, notification);
    }

    /// Relays a log event from a script.
    pub(crate) fn relay_log(&self, params: Raw<'_>) {
        let Ok(params) = Object::read(params, "params", &["level", "logger", "data"]) else { return };
        let text = |name| params.get(name).and_then(Raw::string);
        let level = text("level").and_then(|name| LogLevel::parse(&name)).unwrap_or(LogLevel::Info);
        if !self.wants(level) {
            return;
        }
        let Some(data) = params.get("data") else { return };
        let logger = text("logger").unwrap_or_default();
        self.in_flight.request().log(message_notification(level, &logger, data.text()));
    }
}
